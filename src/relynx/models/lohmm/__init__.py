"""Logical hidden Markov models: HMMs whose states and observations are atoms with variables.

`model.LoHMM` is the model and `classifier.LoHMMClassifier` classifies by one model per class. A
model is read and printed by `text` and checked by `checks` and `coverage`; `structure` makes one
for sequences that come without. `estimator` learns the models of all classes and keeps them in a
model file, and `inference` computes probabilities.
"""
