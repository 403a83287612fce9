"""Are the shares of `predict_proba` to be believed? Log loss and Brier score by cross-validation.

    python benchmarks/probabilities.py [--data FOLDER] [--sets NAME ...]

It has no bar. The classifier as it is against the same one inside scikit-learn's
`CalibratedClassifierCV`, and against logistic regression on all patterns. Smaller is better.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from questions.bars import print_table
from questions.real_sets import READERS, RealSet, protein_folds
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from relynx import LynxClassifier
from relynx.models.evaluation.cross_validation import splits


def models(data: RealSet) -> dict[str, Any]:
    """What is compared."""
    plain = LynxClassifier(data.bias, max_iter=data.rounds, random_state=0)
    logistic = LynxClassifier(
        data.bias, selection=None, final_estimator=LogisticRegression(C=0.1, max_iter=1000)
    )
    return {
        "as it is": plain,
        "calibrated, sigmoid": CalibratedClassifierCV(plain, cv=3),
        "calibrated, isotonic": CalibratedClassifierCV(plain, method="isotonic", cv=3),
        "logistic on all": logistic,
    }


def measured(model: Any, data: RealSet) -> tuple[float, float, float]:
    """Accuracy, log loss and Brier score (summed over the classes) on what was left out."""
    classes = np.unique(data.y)
    shares = np.zeros((len(data.y), len(classes)))
    for train, test in splits(data.y, folds=data.folds, groups=data.groups):
        shares[test] = model.fit(data.X[train], data.y[train]).predict_proba(data.X[test])
    right = classes[shares.argmax(axis=1)] == data.y
    truth = data.y[:, None] == classes
    return (
        float(right.mean()),
        float(log_loss(data.y, np.clip(shares, 1e-6, 1), labels=classes)),
        float(((shares - truth) ** 2).sum(axis=1).mean()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with promoters/, production/, ...")
    parser.add_argument("--sets", nargs="+", help="only these sets")
    given = parser.parse_args()
    if given.data is None and not given.sets:
        print("skipped: this takes minutes; --data FOLDER or --sets folds runs it")
        return 0
    warnings.simplefilter("ignore", UserWarning)  # where no pattern is found, the prior decides
    sets: dict[str, Any] = {"folds": protein_folds}
    if given.data is not None:
        sets |= {one.__name__: partial(one, given.data) for one in READERS}
    rows = []
    for name, load in sets.items():
        if given.sets and name not in given.sets:
            continue
        data = load()
        for title, model in models(data).items():
            rows.append([name, title, *(f"{value:.3f}" for value in measured(model, data))])
            print(", ".join(rows[-1]), flush=True)
    print_table(["set", "classifier", "accuracy", "log loss", "Brier"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
