"""Logical hidden Markov models: HMMs whose states and observations are atoms with variables.

`model.LoHMM` is the model and `classifier.LoHMMClassifier` classifies by one model per class. A
model is read by `text`, checked by `checks`, `coverage` and `arguments`, and printed by `printing`;
`structure` makes one for sequences that come without. `recipes` learns the models of all classes,
`inference` computes probabilities, and `model_file` is their state in a model file.
"""
