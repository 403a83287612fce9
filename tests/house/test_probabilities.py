"""The benchmark of probabilities measures what it says."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import probabilities
from questions.public_sets import PublicSet

from relynx import LynxClassifier, planted_rule


def test_losses_are_those_of_the_formulas() -> None:
    shares = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    accuracy, log_loss, brier = probabilities.losses(shares, np.array([0, 0]))
    assert accuracy == 0.5
    assert log_loss == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert brier == pytest.approx((0.25 + 0.25 + 0.75**2 * 2) / 2)
    assert probabilities.losses(shares, np.array([2, 0]))[1] < 10  # no infinite loss


def test_all_rows_are_of_the_same_folds_and_differ_by_the_scale() -> None:
    X, y = planted_rule(60, flip=0.1, random_state=0)
    rows, codes, tested, scales = probabilities.held_out(PublicSet(X, y), 2)
    assert sorted(tested.tolist()) == [*range(60)]
    assert len(scales) == 2
    assert (codes == (y == "yes")).all()
    names = probabilities.DEFAULT, probabilities.UNSCALED, probabilities.SHARES
    one, other, shares = map(rows.__getitem__, names)
    assert (one.argmax(axis=1) == other.argmax(axis=1)).all()
    assert shares == pytest.approx(np.full((60, 2), 0.5))
    train, test = PublicSet(X, y).splits(2)[0]
    model = LynxClassifier(random_state=0).fit(X[train], y[train])
    assert np.array_equal(one[test], model.predict_proba(X[test]))
    odds = np.log(one[test, 1] / one[test, 0]) / scales[0]
    assert np.log(other[test, 1] / other[test, 0]) == pytest.approx(odds)


def test_without_data_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["probabilities.py"])
    assert probabilities.main() == 0
    assert capsys.readouterr().out == (
        "skipped: this takes an hour; --data FOLDER or --sets protein_folds runs it\n"
    )
