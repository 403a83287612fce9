"""How good a classifier is.

`cross_validation.cross_validate` holds out each fold in turn, `baselines.baselines` gives simple
classifiers to compare with, `systems.systems` those of the paper by name, and
`predictions.write_predictions` writes predictions with class probabilities to a file.
"""
