"""Which of the patterns found may become features: significant, distinct, and the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from relynx.data.sequences import Sequences
from relynx.mining.patterns.measures import MEASURES, of_all_classes
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import joined

LEAST_AT_ONCE, MOST_AT_ONCE = 250, 2_000  # patterns matched together


def significant(found: PatternSet, level: float) -> PatternSet:
    """The patterns that discriminate significantly between the classes.

    Pearson's chi-square test at `level` divided by the number of patterns that the search found
    (Bonferroni): among thousands some fit the labels by chance. If no pattern passes, there are too
    few sequences to decide, and all are kept.
    """
    if len(found.classes) < 2 or not len(found):
        return found
    least = chdtri(len(found.classes) - 1, level / len(found.trie))
    passed = found.filter(at_least={"chi2": least})
    return passed if len(passed) else found


def by_class_in_turn(patterns: PatternSet, measure: str) -> PatternSet:
    """The patterns in an order of which every prefix serves all classes.

    A pattern belongs to the class of which it covers the largest proportion. The classes take
    turns, each with its best remaining pattern by the measure.
    """
    ordered = patterns.sort(measure)
    return ordered[turns(ordered.supports, ordered.class_sizes)]


def turns(supports: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.int64]:
    """The order in which the classes take patterns that are sorted, the best first."""
    owner = (supports / np.maximum(sizes, 1)).argmax(axis=1)
    rank = np.zeros(len(owner), np.int64)
    for c in range(len(sizes)):
        mine = np.flatnonzero(owner == c)
        rank[mine] = np.arange(len(mine))
    return np.lexsort((owner, rank))


def best_columns(
    M: NDArray[Any], y: NDArray[np.int64], measure: str, most: int | None
) -> NDArray[np.int64]:
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
    chosen: NDArray[np.int64] = order[np.sort(first)][:most]
    return chosen


def distinct(
    patterns: PatternSet, X: Sequences, most: int | None
) -> tuple[PatternSet, NDArray[np.bool_]]:
    """The first patterns of which no two cover the same sequences, and what they cover.

    Of patterns that cover the same the first is kept; what covers all sequences or none is left
    out, for it tells nothing. `most` is how many are kept at most. Coverage that is kept is that of
    X: nothing is matched then.
    """
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
    sets: Sequence[PatternSet], X: Sequences, y: NDArray[np.int64], classes: tuple[object, ...]
) -> tuple[PatternSet, list[NDArray[np.int64]]]:
    """All patterns of some sets, each once, with their supports in X; and where each set's are.

    The sets come from searches with the same bias. `y` is the number of each sequence's class.
    """
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
    counted = replace(
        trie, supports=supports, classes=classes, class_sizes=np.bincount(y, minlength=len(classes))
    )
    ends = np.cumsum([len(one) for one in sets])
    return sets[0].with_rows(chosen, trie=counted), np.split(numbers, ends[:-1])
