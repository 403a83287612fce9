"""How many patterns to select: the number that does best on sequences left out of the selection.

And whether another learner does better with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

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


class _Part(NamedTuple):
    """Known rows with their labels, unknown ones with theirs, and what an error in them weighs."""

    known: NDArray[Any]
    y: NDArray[np.int64]
    unknown: NDArray[Any]
    wanted: NDArray[np.int64]
    weights: NDArray[np.float64]


class Validation:
    """Cross-validation of naive Bayes with selected columns: five stratified folds.

    The columns to choose from are picked anew in each fold, at most `most`, the best by `measure`:
    labels that are left out must not have had a say in it. Errors are in the sense of the
    selector's objective. A class of one sequence cannot be left out: there are no folds then. A
    journal keeps the errors of the folds.
    """

    def __init__(
        self,
        selector: GraspSelector,
        M: NDArray[Any],
        y: NDArray[np.int64],
        *,
        seed: int,
        measure: str = "chi2",
        most: int | None = None,
        journal: Journal | None = None,
    ) -> None:
        quick = {"max_iter": min(selector.max_iter, ROUNDS), "n_jobs": None, "random_state": seed}
        self.selector, self.journal = clone(selector).set_params(**quick), journal
        self.n, n_columns = M.shape
        self.n_columns = n_columns if most is None else min(most, n_columns)
        self.parts: list[_Part] = []
        self.errors: dict[int | None, float] = {}
        counts = np.bincount(y)
        n_folds = min(FOLDS, int(counts.min()))
        if n_folds < 2:
            return
        weights = 1 / counts[y] if selector.objective == "balanced" else np.ones(len(y))
        weights /= weights.sum()
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in folds.split(M, y):
            columns = best_columns(M[train], y[train], measure, most)
            known, unknown = M[np.ix_(train, columns)], M[np.ix_(test, columns)]
            self.parts.append(_Part(known, y[train], unknown, y[test], weights[test]))

    def best_size(self) -> int | None:
        """The `n_features` that does best; None is no limit.

        It is the smallest number whose error is within a standard error of the least.
        """
        if not self.parts:
            return None
        sizes = [size for size in SIZES if size is None or size < self.n_columns]
        errors = np.array([self._selected_error(size) for size in sizes])
        least = errors.min()
        return sizes[int(np.argmax(errors <= least + self._slack(least) + 1e-9))]

    def better_on_all(self, learner: Any, size: int | None) -> bool:
        """Whether a learner with all columns is clearly better than naive Bayes with so many.

        Its error is less by more than a standard error.
        """
        selected = self._selected_error(size)
        limit = selected - self._slack(selected) - 1e-9
        on_all = 0.0
        for part in self.parts:
            if on_all >= limit or not part.known.shape[1]:
                return False
            on_all += self._error(part, partial(_predicted_on_all, learner, part))
        return on_all < limit

    def _selected_error(self, size: int | None) -> float:
        if size not in self.errors:
            self.errors[size] = sum(
                self._error(part, partial(_predicted, self.selector, size, part))
                for part in self.parts
            )
        return self.errors[size]

    def _error(self, part: _Part, predict: Callable[[], NDArray[np.int64]]) -> float:
        """The error in a fold: from before where a journal has it, else computed."""

        def compute() -> tuple[NDArray[np.float64]]:
            return (np.array([part.weights @ (predict() != part.wanted)]),)

        return float((compute() if self.journal is None else self.journal.once(compute))[0][0])

    def _slack(self, error: float) -> float:
        """The standard error of an error."""
        return float(np.sqrt(max(error * (1 - error), 0) / self.n))


def _predicted(selector: GraspSelector, size: int | None, part: _Part) -> NDArray[np.int64]:
    """What naive Bayes predicts with at most `size` columns, selected in a few rounds."""
    known, y, unknown = part[:3]
    quick = clone(selector).set_params(n_features=size)
    columns = quick.fit(known, y).get_support() if known.shape[1] else np.zeros(0, bool)
    if not columns.any():
        priors = class_prior(selector.prior, np.bincount(y).astype(float))
        return np.full(len(unknown), priors.argmax())
    model = PatternNB(selector.smoothing, prior=selector.prior)
    return np.asarray(model.fit(known[:, columns], y).predict(unknown[:, columns]))


def _predicted_on_all(learner: Any, part: _Part) -> NDArray[np.int64]:
    fitted = clone(learner).fit(part.known.astype(float), part.y)
    return np.asarray(fitted.predict(part.unknown.astype(float)))
