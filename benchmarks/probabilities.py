"""How good are the probabilities of `predict_proba`? Log loss and Brier score on public data sets.

    python benchmarks/probabilities.py --data FOLDER [--sets NAME ...] [--folds N]

It has no bar. `LynxClassifier` by default, which scales its scores by what its validation holds
out; the same model with a scale of 1; and the proportions of the classes in the training part.
Smaller is better.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from questions.bars import print_table
from questions.public_sets import FOLDS, SOURCES, PublicSet

from relynx import LynxClassifier
from relynx.features.sparse_logistic import Fitted, fit_sparse
from relynx.models.lynx import sparse_model

DEFAULT, UNSCALED, SHARES = "default", "scale 1", "proportions of the classes"
LEAST = 1e-6  # probability, so that one error is not infinitely bad

Probabilities = dict[str, NDArray[np.float64]]  # by row


def held_out(
    data: PublicSet, folds: int
) -> tuple[Probabilities, NDArray[np.int64], NDArray[np.int64], list[float]]:
    """The probabilities of all that is held out, by row; the number of the class of each sequence,
    which were held out, and the scale of each fold."""
    classes, codes = np.unique(data.y, return_inverse=True)
    rows = {name: np.zeros((len(codes), len(classes))) for name in (DEFAULT, UNSCALED, SHARES)}
    scales, tested = [], []
    for train, test in data.splits(folds):
        model, scale = fitted_with_scale(data, train)
        among = np.searchsorted(classes, model.classes_)
        X = data.X[test]
        rows[SHARES][test] = np.bincount(codes[train], minlength=len(classes)) / len(train)
        rows[DEFAULT][np.ix_(test, among)] = model.predict_proba(X)
        learner = model.estimators_[0].estimator
        if scale != 1:
            learner.coef_, learner.intercept_ = learner.coef_ / scale, learner.intercept_ / scale
        rows[UNSCALED][np.ix_(test, among)] = model.predict_proba(X)
        scales.append(scale)
        tested.append(test)
    return rows, codes, np.concatenate(tested), scales


def fitted_with_scale(data: PublicSet, train: NDArray[np.int64]) -> tuple[LynxClassifier, float]:
    """The default model of some sequences, and the scale that its scores have."""
    found: list[Fitted] = []

    def recorded(*given: object, **named: object) -> Fitted:
        found.append(fit_sparse(*given, **named))  # type: ignore[arg-type]
        return found[-1]

    with patch.object(sparse_model, "fit_sparse", recorded):
        model = LynxClassifier(random_state=0).fit(data.X[train], data.y[train])
    return model, found[0].scale if found else 1.0


def losses(shares: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[float, float, float]:
    """Accuracy, log loss and Brier score (summed over the classes)."""
    own = shares[np.arange(len(codes)), codes]
    truth = np.eye(shares.shape[1])[codes]
    return (
        float((shares.argmax(axis=1) == codes).mean()),
        float(-np.log(np.maximum(own, LEAST)).mean()),
        float(((shares - truth) ** 2).sum(axis=1).mean()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with intervals/, flat/, ...")
    parser.add_argument("--sets", nargs="+", choices=[*SOURCES], help="only these sets")
    parser.add_argument("--folds", type=int, default=FOLDS, help="where a set has no parts")
    given = parser.parse_args()
    if given.data is None and not given.sets:
        print("skipped: this takes an hour; --data FOLDER or --sets protein_folds runs it")
        return 0
    warnings.simplefilter("ignore", UserWarning)  # where no pattern is found, the prior decides
    lines = []
    for name in given.sets or SOURCES:
        try:
            data = SOURCES[name].read(given.data or Path())
        except FileNotFoundError as error:
            print(f"skipped: {name}, for there is no {error.filename or error}")
            continue
        rows, codes, tested, scales = held_out(data, given.folds)
        middle = f"{np.median(scales):.2f}"
        for row, shares in rows.items():
            figures = [f"{value:.3f}" for value in losses(shares[tested], codes[tested])]
            lines.append([name, row, *figures, middle if row == DEFAULT else "-"])
            print(", ".join(lines[-1]), flush=True)
    print_table(["set", "probabilities", "accuracy", "log loss", "Brier", "scale"], lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
