"""How many patterns to select: the number that does best on sequences left out of the selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from relynx.features.candidates import best_columns
from relynx.features.grasp import GraspSelector
from relynx.features.naive_bayes import PatternNB, class_prior

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
) -> int | None:
    """The `n_features` that does best in cross-validation of naive Bayes; None is no limit.

    Five stratified folds, at most ten rounds each. The columns to choose from are picked anew in
    each fold, at most `most`, the best by `measure`: labels that are left out must not have had a
    say in it. It is the smallest number whose error, in the sense of the selector's objective, is
    within a standard error of the least. A class of one sequence cannot be left out: no limit then.
    """
    counts = np.bincount(y)
    n_folds = min(FOLDS, int(counts.min()))
    if n_folds < 2:
        return None
    n_columns = M.shape[1] if most is None else min(most, M.shape[1])
    sizes = [size for size in SIZES if size is None or size < n_columns]
    weights = 1 / counts[y] if selector.objective == "balanced" else np.ones(len(y))
    weights /= weights.sum()
    errors = np.zeros(len(sizes))
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for train, test in splits.split(M, y):
        columns = best_columns(M[train], y[train], measure, most)
        known, unknown = M[np.ix_(train, columns)], M[np.ix_(test, columns)]
        for i, size in enumerate(sizes):
            predicted = _predicted(selector, size, seed, known, y[train], unknown)
            errors[i] += weights[test] @ (predicted != y[test])
    least = errors.min()
    slack = np.sqrt(max(least * (1 - least), 0) / len(y))
    return sizes[int(np.argmax(errors <= least + slack + 1e-9))]


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
