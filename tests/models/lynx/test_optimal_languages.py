"""The optimal model against a slow solver that has every pattern, on random small languages.

The patterns are those of the plain enumeration. RELYNX_LANGUAGES says on how many languages, 12
unless set; a slow test takes the others up to 200.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from enumerate_patterns import Conditions, TooLarge, enumerate_patterns
from event_languages import event_language
from languages import make_language
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax, xlogy

from relynx import LynxClassifier

N_LANGUAGES, ALL = min(int(os.environ.get("RELYNX_LANGUAGES", "12")), 200), 200
LIMIT, FEW = 60_000, 4
EXACT = 1e-6


def all_patterns(seed: int) -> tuple[Any, Any, dict[str, Any], Any]:
    """Sequences, a bias, settings of the search, and what the patterns cover, each once."""
    for attempt in range(20):
        length = 3
        if seed % 2:
            shape = ("lines", "paths", "long lines")[seed % 3]
            events = event_language(1000 * attempt + seed, shape, small=seed % 3 < 2)
            X, bias, settings = events.X, events.bias, dict(events.settings)
            facts, length = events.sequences, 2
            given = {name: settings[name] for name in ("max_gap", "object_identity")}
        else:
            one = make_language(seed, attempt)
            X, facts, length = one.X, one.closures(), min(one.conditions.max_length, length)
            unlimited = dict.fromkeys(("min_support", "min_frequency", "max_length"))
            bias = replace(one.bias, **unlimited)
            conditions = one.conditions
            given = {"max_gap": conditions.max_gap, "object_identity": conditions.object_identity}
        while length and len(X) > 2:
            given |= {"max_length": length}
            wanted = Conditions(min_support=0.0, min_frequency=1, **given)
            try:
                found = enumerate_patterns(facts, ["all"] * len(X), bias, wanted, limit=LIMIT)
            except TooLarge:
                length -= 1
                continue
            covered = {one.covered for one in found if len(one.covered) < len(X)}
            if len(covered) >= FEW:
                M = np.array([[i in one for one in covered] for i in range(len(X))], float)
                return X, bias, given, M
            break
    raise AssertionError(f"language {seed}: every attempt has too few patterns, or too many")


class Exhaustive:
    """The problem with all columns, written down: scores are of all classes, of two the second."""

    def __init__(self, M: Any, y: Any, n_classes: int, sample: Any, penalty: float) -> None:
        self.M, self.y, self.sample, self.penalty = M, y, sample / sample.sum(), penalty
        self.n_scores = 1 if n_classes == 2 else n_classes
        self.target = np.eye(n_classes)[y]

    def scores(self, weights: Any, intercept: Any) -> Any:
        scores = self.M @ weights.T + intercept
        return np.hstack([np.zeros((len(scores), 1)), scores]) if self.n_scores == 1 else scores

    def objective(self, weights: Any, intercept: Any) -> float:
        scores = self.scores(weights, intercept)
        losses = logsumexp(scores, axis=1) - (self.target * scores).sum(axis=1)
        return float(self.sample @ losses + self.penalty * np.abs(weights).sum())

    def residual(self, weights: Any, intercept: Any) -> Any:
        return self.sample[:, None] * (
            softmax(self.scores(weights, intercept), axis=1) - self.target
        )

    def gap(self, weights: Any, intercept: Any) -> float:
        """The duality gap by its definition."""
        residual = self.residual(weights, intercept)
        steepest = np.abs(self.M.T @ residual).max()
        scale = min(1.0, self.penalty / steepest) if steepest else 1.0
        shares = softmax(self.scores(weights, intercept), axis=1)
        shares = np.clip(scale * shares + (1 - scale) * self.target, 0, 1)
        return self.objective(weights, intercept) + float(
            self.sample @ xlogy(shares, shares).sum(axis=1)
        )

    def least(self) -> float:
        """The least objective, by a solver for bounded problems, where weights are differences."""
        m = self.M.shape[1] * self.n_scores

        def parts(point: Any) -> tuple[Any, Any]:
            weights = (point[:m] - point[m : 2 * m]).reshape(self.n_scores, -1)
            return weights, point[2 * m :]

        def value(point: Any) -> tuple[float, Any]:
            weights, intercept = parts(point)
            residual = self.residual(weights, intercept)[:, -self.n_scores :]
            slope = (residual.T @ self.M).ravel()
            gradient = np.concatenate(
                [self.penalty + slope, self.penalty - slope, residual.sum(axis=0)]
            )
            loss = self.objective(weights, intercept) - self.penalty * np.abs(weights).sum()
            return loss + self.penalty * point[: 2 * m].sum(), gradient

        bounds = [(0, None)] * (2 * m) + [(None, None)] * self.n_scores
        options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
        point, before = np.zeros(2 * m + self.n_scores), np.inf
        while True:  # it may get stuck, and goes on when it begins again
            solved = minimize(
                value, point, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            point = solved.x
            if solved.fun > before - 1e-10:
                return self.objective(*parts(point))
            before = solved.fun


def check(seed: int) -> None:
    X, bias, settings, M = all_patterns(seed)
    random = Random(f"optimal/{seed}")
    n_classes = random.choice([n for n in (2, 2, 3, 4) if n <= len(X)])
    y = np.array([*range(n_classes), *random.choices(range(n_classes), k=len(X) - n_classes)])
    sample = np.array([random.choice([0.5, 1, 1, 2]) for _ in y])
    penalty = random.choice([0.6, 0.3, 0.1, 0.03])
    model = LynxClassifier(bias, method="optimal", penalty=penalty, **settings)
    model.fit(X, y, sample)
    found, learner = model.certificate_, model.estimators_[0].estimator
    problem = Exhaustive(M, y, n_classes, sample, found.penalty)
    shares = np.bincount(y, weights=sample)
    shares = np.log(shares[1:] / shares[0] if n_classes == 2 else shares)
    start = problem.residual(np.zeros((problem.n_scores, M.shape[1])), shares)
    largest = np.abs(M.T @ start).max()
    assert found.largest_penalty == pytest.approx(largest, rel=1e-6, abs=1e-12)
    if learner is None:
        assert largest < 1e-9
        return
    columns = model.selected_.coverage(X).T.astype(float)
    places = [np.flatnonzero((column == M.T).all(axis=1)) for column in columns]
    assert all(len(one) == 1 for one in places)  # each is a pattern of the language
    weights = np.zeros((problem.n_scores, M.shape[1]))
    for column, [place] in zip(learner.coef_.T, places, strict=True):
        weights[:, place] = column
    reached = problem.objective(weights, learner.intercept_)
    assert found.objective == pytest.approx(reached, abs=1e-9)
    assert abs(reached - problem.least()) < EXACT
    assert problem.gap(weights, learner.intercept_) <= found.gap + 1e-12
    assert found.gap < EXACT


@pytest.mark.parametrize("seed", range(N_LANGUAGES))
def test_no_model_of_all_patterns_is_better_and_the_certificate_is_true(seed):
    check(seed)


@pytest.mark.slow
def test_no_model_is_better_on_200_languages():
    for seed in range(N_LANGUAGES, ALL):
        check(seed)
