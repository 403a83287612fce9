"""Fisher kernels of logical hidden Markov models.

`classifier` has the doors: `FisherScores` turns sequences into gradients of their log-likelihood,
`FisherKernelClassifier` learns support vector machines on them (`pair_svm`). What
a model file holds of them is declared there, in `STORED`.
"""
