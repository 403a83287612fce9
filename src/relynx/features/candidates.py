"""Which of the patterns found may become features: significant, distinct, and the best.

And how many to select: the number that does best on sequences left out of the selection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from relynx.arrays import Bools, Floats, Longs
from relynx.data.sequences import Sequences
from relynx.features.grasp import GraspSelector
from relynx.features.naive_bayes import PatternNB, class_prior
from relynx.mining.patterns.measures import MEASURES, of_all_classes
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import joined
from relynx.storage import Journal

LEAST_AT_ONCE, MOST_AT_ONCE = 250, 2_000  # patterns matched together
SIZES = (1, 2, 4, 8, 16, 32, 64, None)  # of selections that are compared
FOLDS = 5
ROUNDS = 10


def significant(found: PatternSet, level: float) -> PatternSet:
    """The patterns that discriminate significantly between the classes. Pearson's chi-square test
    at `level` divided by the number of patterns that the search found (Bonferroni): among thousands
    some fit the labels by chance. If no pattern passes, there are too few sequences to decide, and
    all are kept."""
    if len(found.classes) < 2 or not len(found):
        return found
    least = chdtri(len(found.classes) - 1, level / len(found.trie))
    passed = found.filter(at_least={"chi2": least})
    return passed if len(passed) else found


def by_class_in_turn(patterns: PatternSet, measure: str) -> PatternSet:
    """The patterns in an order of which every prefix serves all classes. A pattern belongs to the
    class of which it covers the largest proportion. The classes take turns, each with its best
    remaining pattern by the measure."""
    ordered = patterns.sort(measure)
    return ordered[turns(ordered.supports, ordered.class_sizes)]


def turns(supports: NDArray[Any], sizes: NDArray[Any]) -> Longs:
    """The order in which the classes take patterns that are sorted, the best first."""
    owner = (supports / np.maximum(sizes, 1)).argmax(axis=1)
    rank = np.zeros(len(owner), np.int64)
    for c in range(len(sizes)):
        mine = np.flatnonzero(owner == c)
        rank[mine] = np.arange(len(mine))
    return np.lexsort((owner, rank))


def best_columns(M: NDArray[Any], y: Longs, measure: str, most: int | None) -> Longs:
    """The columns of a 0/1 matrix that `by_class_in_turn` and `distinct` would take of its rows."""
    sizes = np.bincount(y)
    supports = np.stack([M[y == c].sum(axis=0, dtype=np.int64) for c in range(len(sizes))], axis=1)
    frequencies = supports.sum(axis=1)
    order = np.arange(M.shape[1])  # frequency and length know no classes: the order is right
    if measure in MEASURES:
        values = of_all_classes(measure, supports, sizes).round(12)
        order = np.lexsort((-frequencies, -values))
    order = order[turns(supports[order], sizes)]
    order = order[(frequencies[order] > 0) & (frequencies[order] < len(y))]
    keys = np.packbits(M[:, order].astype(bool), axis=0).T
    first = np.unique(keys, axis=0, return_index=True)[1] if len(order) else order
    return np.asarray(order[np.sort(first)][:most])


def distinct(patterns: PatternSet, X: Sequences, most: int | None) -> tuple[PatternSet, Bools]:
    """The first patterns of which no two cover the same sequences, and what they cover. Of patterns
    that cover the same the first is kept; what covers all sequences or none is left out, for it
    tells nothing. `most` is how many are kept at most. Coverage that is kept is that of X: nothing
    is matched then."""
    wanted = len(patterns) if most is None else most
    seen = {np.packbits(np.full(len(X), flag)).tobytes() for flag in (False, True)}
    kept: list[int] = []
    columns: list[NDArray[np.uint8]] = []
    start = 0
    while start < len(patterns) and len(kept) < wanted:
        n = min(max(wanted - len(kept), LEAST_AT_ONCE), MOST_AT_ONCE)
        some = patterns[start : start + n]
        known = some.kept_coverage is not None
        packed = some.training_coverage(packed=True) if known else some.coverage(X, packed=True)
        for i, bits in enumerate(np.ascontiguousarray(packed.T), start):
            key = bits.tobytes()
            if key not in seen and len(kept) < wanted:
                seen.add(key)
                kept.append(i)
                columns.append(bits)
        start += n
    if not kept:
        return lean(patterns[:0]), np.zeros((len(X), 0), bool)
    matrix = np.unpackbits(np.stack(columns), axis=1, count=len(X)).T
    return lean(patterns[kept]), matrix.astype(bool)


def lean(patterns: PatternSet) -> PatternSet:
    """The same set without what the search found besides."""
    trie, rows = patterns.trie.restricted(patterns.rows)
    return patterns.with_rows(rows, trie=trie)


def united(
    sets: Sequence[PatternSet], X: Sequences, y: Longs, classes: tuple[object, ...]
) -> tuple[PatternSet, list[Longs]]:
    """All patterns of some sets, each once, with their supports in X; and where each set's are. The
    sets come from searches with the same bias. `y` is the number of each sequence's class."""
    trie, rows = joined([one.trie.restricted(one.rows) for one in sets])
    texts = [*sets[0].with_rows(rows, trie=trie).texts()]
    number_of: dict[str, int] = {}
    first: list[int] = []
    for text, row in zip(texts, rows.tolist(), strict=True):
        if text not in number_of:
            number_of[text] = len(first)
            first.append(row)
    numbers = np.array([number_of[text] for text in texts], np.int64)
    chosen = np.array(first, np.int64)
    covered = sets[0].with_rows(chosen, trie=trie).coverage(X)
    supports = np.zeros((len(trie), len(classes)), np.int32)
    for c in range(len(classes)):
        supports[chosen, c] = covered[y == c].sum(axis=0)
    sizes = np.bincount(y, minlength=len(classes))
    counted = replace(trie, supports=supports, classes=classes, class_sizes=sizes)
    ends = np.cumsum([len(one) for one in sets])
    return sets[0].with_rows(chosen, trie=counted), np.split(numbers, ends[:-1])


class _Part(NamedTuple):
    """Known rows with their labels, unknown ones with theirs, and what an error in them weighs."""

    known: NDArray[Any]
    y: Longs
    unknown: NDArray[Any]
    wanted: Longs
    weights: Floats


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
        y: Longs,
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
        """The `n_features` that does best; None is no limit. It is the smallest number whose error
        is within a standard error of the least."""
        if not self.parts:
            return None
        sizes = [size for size in SIZES if size is None or size < self.n_columns]
        errors = np.array([self._selected_error(size) for size in sizes])
        least = errors.min()
        return sizes[int(np.argmax(errors <= least + self._slack(least) + 1e-9))]

    def better_on_all(self, learner: Any, size: int | None) -> bool:
        """Whether a learner with all columns is clearly better than naive Bayes with so many. Its
        error is less by more than a standard error."""
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

    def _error(self, part: _Part, predict: Callable[[], Longs]) -> float:
        """The error in a fold: from before where a journal has it, else computed."""

        def compute() -> tuple[Floats]:
            return (np.array([part.weights @ (predict() != part.wanted)]),)

        return float((compute() if self.journal is None else self.journal.once(compute))[0][0])

    def _slack(self, error: float) -> float:
        """The standard error of an error."""
        return float(np.sqrt(max(error * (1 - error), 0) / self.n))


def _predicted(selector: GraspSelector, size: int | None, part: _Part) -> Longs:
    """What naive Bayes predicts with at most `size` columns, selected in a few rounds."""
    known, y, unknown = part[:3]
    quick = clone(selector).set_params(n_features=size)
    columns = quick.fit(known, y).get_support() if known.shape[1] else np.zeros(0, bool)
    if not columns.any():
        priors = class_prior(selector.prior, np.bincount(y).astype(float))
        return np.full(len(unknown), priors.argmax())
    model = PatternNB(selector.smoothing, prior=selector.prior)
    return np.asarray(model.fit(known[:, columns], y).predict(unknown[:, columns]))


def _predicted_on_all(learner: Any, part: _Part) -> Longs:
    fitted = clone(learner).fit(part.known.astype(float), part.y)
    return np.asarray(fitted.predict(part.unknown.astype(float)))
