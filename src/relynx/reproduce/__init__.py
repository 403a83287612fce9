"""The paper's experiments on the bundled protein folds, beside the published figures."""
