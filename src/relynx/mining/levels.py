"""Searches that go as far down as a budget of work allows: rare patterns if they are short.

Each length has a minimum frequency of its own. A search for one atom more looks, for each pattern
that it refines, at the facts of the sequences which this covers: so much is known before it begins,
from the patterns of the length before. Work is counted and no time measured, so the same data give
the same patterns on every machine. Classes are not looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.mining import _level_kernels as lk
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine
from relynx.search_settings import SearchSettings

LEAST = 2  # sequences that a pattern covers
LOOKS = 20_000_000  # at facts, in the search of one length
MOST_PATTERNS, MOST_ONES = 200_000, 10_000_000  # that are kept of a length, and what they cover
MOST_BITS = 1 << 31  # of what these cover, a bit for each sequence
TOO_MANY = 4  # times `MOST_PATTERNS`: a search that finds more is given up
# Where no bias says it, the largest n of `followat`: the first for which so many links are tried
# from what patterns of one atom cover.
GAPS, MOST_LINKS = (10, 7, 5, 3, 2), 2_000_000

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Level:
    """Patterns of which no two cover the same sequences, and what they cover."""

    patterns: PatternSet
    found: PatternSet  # all of the search, for what it reports
    min_frequency: int
    min_support: float  # of all sequences; where it was given, of a class
    max_gap: int
    offset: Longs  # the sequences that pattern i covers are rows[offset[i] : offset[i + 1]]
    rows: NDArray[np.int32]


def mine_levels(
    X: Sequences,
    bias: Bias,
    settings: SearchSettings,
    *,
    least: int = LEAST,
    budget: float = 1.0,
    n_scores: int = 1,
    any_gap: bool = False,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
) -> list[Level]:
    """The patterns of each length that the budget has room for; at least one level.

    `budget` multiplies the default amount of work. What may be kept is divided by the number of
    scores that a learner computes from each column. With `any_gap` the data say how large the n of
    `followat` may be.
    """
    most = int(budget * min(MOST_PATTERNS, MOST_BITS // max(len(X), 1))) // max(n_scores // 20, 1)
    most_ones = int(budget * MOST_ONES) // max(n_scores // 4, 1)
    sizes = sequence_sizes(X, settings.object_identity)
    # Of these a length may have no pattern and the next one some.
    may_follow = bool(bias.posconstraints) or settings.min_cover is not None
    levels: list[Level] = []
    seen: set[int] = set()
    work = np.zeros(0)
    frequencies: Longs = np.empty(0, np.int64)
    for length in range(1, settings.max_length + 1):
        while work[frequencies >= least].sum() > budget * LOOKS:
            least *= 2
        found = None
        while found is None:
            folder = checkpoint and os.path.join(checkpoint, f"length-{length}-from-{least}")
            how = {"n_jobs": n_jobs, "checkpoint": folder}
            found = _of_length(X, bias, settings, length, least, TOO_MANY * most, **how)
            least = least if found is not None else 2 * least
        frequencies = found.frequencies
        least = _least_kept(frequencies, least, most, most_ones)
        found = found[frequencies >= least]
        frequencies = found.frequencies
        if not len(found) and length > 1 and not may_follow:
            break
        if length == 1 and any_gap:
            links = frequencies.sum() * max(len(bias.dimensions), 1)
            gaps = (gap for gap in GAPS if links * gap <= budget * MOST_LINKS)
            settings = replace(settings, max_gap=next(gaps, GAPS[-1]))
        offset, rows = _ones(found)
        levels.append(_level(found, least, least / len(X), settings.max_gap, seen))
        if not len(found) and not may_follow:
            break
        work = np.add.reduceat(sizes[rows], offset[:-1])
    return levels


def mine_at(
    X: Sequences,
    y: NDArray[np.int64],
    bias: Bias,
    settings: SearchSettings,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
) -> list[Level]:
    """All patterns of a search with given thresholds, as one level."""
    how: dict[str, Any] = {"n_jobs": n_jobs, "checkpoint": checkpoint}
    found = mine(X, y, bias, **settings.arguments(), keep_coverage=True, **how)
    least = int(found.frequencies.min(initial=len(X)))
    return [_level(found, least, settings.min_support, settings.max_gap, set())]


def sequence_sizes(X: Sequences, object_identity: bool) -> NDArray[np.float64]:
    """How many facts each sequence has."""
    sizes = np.zeros(len(X))
    for table in X.facts(object_identity).tables.values():
        sizes += np.bincount(table[0], minlength=len(X))
    return sizes


def _of_length(
    X: Sequences,
    bias: Bias,
    settings: SearchSettings,
    length: int,
    least: int,
    most: int,
    **how: Any,
) -> PatternSet | None:
    """The patterns of a length; None where there are too many of all lengths up to it."""
    wanted = replace(settings, max_length=length, min_frequency=least, min_support=0.0)
    found: PatternSet = mine(
        X,
        np.zeros(len(X), np.int64),
        bias,
        **wanted.arguments(),
        keep_coverage=True,
        **how,
        progress=lambda state: state.patterns <= most,
    )
    if found.partial is not None or len(found) > most:
        return None
    one: PatternSet = found[found.lengths == length]
    return one


def _least_kept(frequencies: Longs, least: int, most: int, most_ones: int) -> int:
    """The least frequency from `least` on at which what is kept is little enough."""
    falling = np.sort(frequencies)[::-1]
    n = min(int(np.searchsorted(np.cumsum(falling), most_ones, side="right")), most)
    return least if n == len(falling) else max(int(falling[n]) + 1, least)


def _ones(found: PatternSet) -> tuple[Longs, NDArray[np.int32]]:
    assert found.kept_coverage is not None
    offset = np.concatenate([[0], np.cumsum(found.frequencies)]).astype(np.int64)
    words = found.kept_coverage.words(found.rows)
    return offset, lk.rows_of_bits(words, np.empty(int(offset[-1]), np.int32))


def _level(found: PatternSet, least: int, support: float, gap: int, seen: set[int]) -> Level:
    """Those that cover some sequences but not all, and not those of one that was seen before."""
    assert found.kept_coverage is not None
    words = found.kept_coverage.words(found.rows)
    random = np.random.default_rng(0)
    multipliers = random.integers(1 << 62, 1 << 63, words.shape[1], np.uint64) | np.uint64(1)
    numbers = lk.hashes(words, multipliers, np.empty(len(words), np.uint64))
    is_new = np.zeros(len(found), bool)
    is_new[np.unique(numbers, return_index=True)[1]] = True
    is_new &= found.frequencies < found.kept_coverage.n_sequences
    for i in np.flatnonzero(is_new).tolist() if seen else ():
        is_new[i] = int(numbers[i]) not in seen
    seen.update(numbers[is_new].tolist())
    kept = found[is_new]
    offset, rows = _ones(kept)
    kept, found = (one.with_rows(one.rows, trie=one.trie) for one in (kept, found))  # without bits
    return Level(kept, found, least, support, gap, offset, rows)
