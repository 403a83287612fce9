"""Fisher kernels of logical hidden Markov models: scores, and a classifier on them."""
