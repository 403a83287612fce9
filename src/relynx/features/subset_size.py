"""How many patterns to select: the number that does best on sequences left out of the selection.

And whether another learner does better with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from relynx.features.candidates import best_columns
from relynx.features.grasp import GraspSelector
from relynx.features.naive_bayes import PatternNB, class_prior
from relynx.storage import Journal

SIZES = (1, 2, 4, 8, 16, 32, 64, None)
FOLDS = 5
ROUNDS = 10


def best_size(
    selector: GraspSelector,
    M: NDArray[Any],
    y: NDArray[np.int64],
    *,
    seed: int,
    measure: str = "chi2",
    most: int | None = None,
    journal: Journal | None = None,
) -> int | None:
    """The `n_features` that does best in cross-validation of naive Bayes; None is no limit.

    Five stratified folds, at most ten rounds each. The columns to choose from are picked anew in
    each fold, at most `most`, the best by `measure`: labels that are left out must not have had a
    say in it. It is the smallest number whose error, in the sense of the selector's objective, is
    within a standard error of the least. A class of one sequence cannot be left out: no limit then.
    A journal keeps the errors of the parts.
    """
    parts = _parts(selector, M, y, seed=seed, measure=measure, most=most)
    if not parts:
        return None
    n_columns = M.shape[1] if most is None else min(most, M.shape[1])
    sizes = [size for size in SIZES if size is None or size < n_columns]
    errors = np.zeros(len(sizes))
    for part in parts:
        for i, size in enumerate(sizes):
            errors[i] += _cached(journal, partial(_selected_error, part, selector, size, seed))
    least = errors.min()
    return sizes[int(np.argmax(errors <= least + _slack(least, len(y)) + 1e-9))]


def better_on_all(
    learner: Any,
    selector: GraspSelector,
    M: NDArray[Any],
    y: NDArray[np.int64],
    *,
    seed: int,
    measure: str = "chi2",
    most: int | None = None,
    journal: Journal | None = None,
) -> bool:
    """Whether a learner with all columns is clearly better than naive Bayes with those selected.

    Its error is less by more than a standard error, in the folds of `best_size`; the selector has
    the size found by that.
    """
    parts = _parts(selector, M, y, seed=seed, measure=measure, most=most)
    size = selector.n_features
    selected = sum(
        _cached(journal, partial(_selected_error, part, selector, size, seed)) for part in parts
    )
    limit = selected - _slack(selected, len(y)) - 1e-9
    if limit <= 0:
        return False
    on_all = 0.0
    for part in parts:
        if not part.columns[0].shape[1]:
            return False
        on_all += _cached(journal, partial(_error_on_all, part, learner))
        if on_all >= limit:
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Part:
    """Known rows with their labels, unknown ones with theirs, and what an error in them weighs."""

    columns: tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]

    def error(self, predicted: NDArray[np.int64]) -> float:
        return float(self.weights @ (predicted != self.labels))


def _parts(
    selector: GraspSelector,
    M: NDArray[Any],
    y: NDArray[np.int64],
    *,
    seed: int,
    measure: str,
    most: int | None,
) -> list[_Part]:
    """The folds; none where a class has one sequence only."""
    counts = np.bincount(y)
    n_folds = min(FOLDS, int(counts.min()))
    if n_folds < 2:
        return []
    weights = 1 / counts[y] if selector.objective == "balanced" else np.ones(len(y))
    weights /= weights.sum()
    found = []
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for train, test in splits.split(M, y):
        columns = best_columns(M[train], y[train], measure, most)
        rows = M[np.ix_(train, columns)], y[train], M[np.ix_(test, columns)]
        found.append(_Part(rows, y[test], weights[test]))
    return found


def _cached(journal: Journal | None, compute: Callable[[], float]) -> float:
    """A number: from before where a journal has it, else computed."""
    if journal is None:
        return compute()
    return float(journal.once(lambda: (np.array([compute()]),))[0][0])


def _selected_error(part: _Part, selector: GraspSelector, size: int | None, seed: int) -> float:
    return part.error(_predicted(selector, size, seed, *part.columns))


def _error_on_all(part: _Part, learner: Any) -> float:
    known, labels, unknown = part.columns
    fitted = clone(learner).fit(known.astype(float), labels)
    return part.error(fitted.predict(unknown.astype(float)))


def _slack(error: float, n: int) -> float:
    """The standard error of an error."""
    return float(np.sqrt(max(error * (1 - error), 0) / n))


def _predicted(
    selector: GraspSelector,
    size: int | None,
    seed: int,
    M: NDArray[Any],
    y: NDArray[np.int64],
    M_new: NDArray[Any],
) -> NDArray[np.int64]:
    """What naive Bayes predicts with at most `size` columns, selected in a few rounds."""
    quick = clone(selector)
    quick.set_params(
        n_features=size, max_iter=min(selector.max_iter, ROUNDS), n_jobs=None, random_state=seed
    )
    columns = quick.fit(M, y).get_support() if M.shape[1] else np.zeros(0, bool)
    if not columns.any():
        priors = class_prior(selector.prior, np.bincount(y).astype(float))
        return np.full(len(M_new), priors.argmax())
    model = PatternNB(selector.smoothing, prior=selector.prior)
    return np.asarray(model.fit(M[:, columns], y).predict(M_new[:, columns]))
