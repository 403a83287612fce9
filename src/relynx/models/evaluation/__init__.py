"""How good a classifier is.

`cross_validation.cross_validate` holds out each fold in turn, `baselines` has what to compare with,
simple classifiers and the systems of the paper by name, and `predictions.write_predictions` writes
predictions with class probabilities to a file.
"""
