"""Fisher kernels of logical hidden Markov models.

`classifier` has the doors: `FisherScores` turns sequences into gradients of their log-likelihood,
`FisherKernelClassifier` learns support vector machines on them (`pair_svm`). `model_file` is their
state in a model file.
"""
