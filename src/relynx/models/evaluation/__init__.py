"""How good a classifier is: cross-validation, baselines, and tables of predictions."""
