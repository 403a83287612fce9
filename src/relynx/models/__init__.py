"""Classifiers of sequences, as scikit-learn estimators.

Each subpackage has one method; its `classifier` module has the estimator: `lynx` (LynxClassifier),
`lohmm` (LoHMMClassifier, and LoHMM in `model`), `fisher` (FisherKernelClassifier, FisherScores) and
`tildecrf` (TildeCRFClassifier, and TildeCRF in `labeller`). `evaluation` compares them. `checks`
checks what `fit` is given; `observations` turns sequences into lists of atoms for the models that
are not based on patterns. Nothing is imported here: loading one method must not load the others.
"""
