"""Searches that go as far down as a budget of work allows: rare patterns if they are short.

Each length has a minimum frequency of its own. A search for one atom more looks, for each pattern
that it refines, at the facts of the sequences which this covers: so much is known before it begins,
from the patterns of the length before. Work is counted and no time measured, so the same data give
the same patterns on every machine. Classes are not looked at.

Events that follow each other immediately are few beside all pairs. So in one dimension patterns of
which each event is next to the one before, stretches, are searched apart, where the budget has room
for rarer ones.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats, Longs
from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.logic.tables import ranges
from relynx.logic.terms import Atom, Var
from relynx.mining import _level_kernels as lk
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import DIMENSION, N_STEPS
from relynx.mining.report import Progress
from relynx.mining.search import mine
from relynx.search_settings import SearchSettings

LEAST = 2  # sequences that a pattern covers
LOOKS = 20_000_000  # at facts, in the search of one length
LONGEST, FEW = 5, 10  # atoms, where all patterns have room in a tenth of the budget
FOLLOW = 3  # steps, so to say, of a link that may be as long as the sequence
MOST_PATTERNS, MOST_ONES = 200_000, 10_000_000  # that are kept of a length, and what they cover
MOST_BITS = 1 << 31  # of what these cover, a bit for each sequence
TOO_MANY = 4  # times `MOST_PATTERNS`: a search that finds more is given up
# Where no bias says it, the largest n of `followat`: the first for which so many links are tried
# from what patterns of one atom cover.
GAPS, MOST_LINKS = (10, 7, 5, 3, 2), 2_000_000


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
    is_apart: bool  # of a search beside that of all patterns of the length

    def only(self, which: Longs) -> Level:
        """The level with some of its patterns."""
        sizes = np.diff(self.offset)[which]
        rows = self.rows[ranges(self.offset[which], sizes)]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        return replace(self, patterns=self.patterns[which], offset=offset, rows=rows)


def mine_levels(
    X: Sequences,
    bias: Bias,
    settings: SearchSettings,
    *,
    least: int = LEAST,
    budget: float = 1.0,
    n_scores: int = 1,
    any_gap: bool = False,
    any_length: bool = False,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
) -> list[Level]:
    """The patterns of each length that the budget has room for; at least one level. `budget`
    multiplies the default amount of work. What may be kept is divided by the number of scores that
    a learner computes from each column. With `any_gap` the data say how large the n of `followat`
    may be, with `any_length` whether patterns are longer than the settings say."""
    most = int(budget * min(MOST_PATTERNS, MOST_BITS // max(len(X), 1))) // max(n_scores // 20, 1)
    most_ones = int(budget * MOST_ONES) // max(n_scores // 4, 1)
    search = _Search(X, bias, settings, most, most_ones, budget, n_jobs, checkpoint)
    first = search.level(1, least)
    if not len(first.found) and not search.may_follow:
        return [first]
    near: list[Level] = []
    if any_gap:
        links = first.found.frequencies.sum() * max(len(bias.dimensions), 1)
        gaps = (gap for gap in GAPS if links * gap <= budget * MOST_LINKS)
        first = replace(first, max_gap=next(gaps, GAPS[-1]))
        search.settings = replace(settings, max_gap=first.max_gap)
        if len(bias.dimensions) == 1:
            near = search.stretches(first).longer(first)
    longer = search.longer(first)
    if any_length and len(longer) == settings.max_length - 1:
        longer += search.further(longer[-1] if longer else first, least)
    return [first, *near, *longer]


class _TooManyError(Exception):
    """A search of a level has found more patterns than are of use."""


@dataclass(slots=True)
class _Search:
    """The searches of one call, each of a length."""

    X: Sequences
    bias: Bias
    settings: SearchSettings
    most: int
    most_ones: int
    budget: float
    n_jobs: int | None
    checkpoint: str | None
    # Of stretches: how much is looked at for each sequence that a pattern covers.
    looks_near: float | None = None
    seen: set[int] = field(default_factory=set)  # what patterns cover, as hashes
    work: Floats = field(default_factory=lambda: np.zeros(0))  # to refine the patterns found last

    @property
    def may_follow(self) -> bool:
        """Whether a length may have no pattern and the next one some."""
        return self.bias.selective or self.settings.min_cover is not None

    def stretches(self, first: Level) -> _Search:
        """The search of the patterns in which each event is next to the one before."""
        [dimension] = self.bias.dimensions
        link = Atom(f"follow_{dimension}", (Var("A"), Var("B")))
        bias = replace(self.bias, negconstraints=(*self.bias.negconstraints, (link,)))
        # After each match, as many as in each sequence on average, the facts of one event.
        tables = self.X.facts(self.settings.object_identity).tables
        n_facts = sum(table.shape[1] for table in tables.values())
        n_events = tables[f"next_{dimension}", 2].shape[1] + len(self.X)
        looks = n_facts / max(int(first.found.frequencies.sum()), 1) * n_facts / n_events
        near = replace(self, bias=bias, settings=replace(self.settings, max_gap=1))
        near.looks_near, near.work = looks, looks * first.found.frequencies.astype(float)
        return near

    def longer(self, level: Level) -> list[Level]:
        """The levels after that of one atom."""
        least, levels = level.min_frequency, []
        for length in range(2, self.settings.max_length + 1):
            while self.work[level.found.frequencies >= least].sum() > self.budget * LOOKS:
                least *= 2
            level = self.level(length, least)
            least = level.min_frequency
            if not len(level.found) and not self.may_follow:
                break
            levels.append(level)
        return levels

    def level(self, length: int, least: int) -> Level:
        """The patterns of a length that are frequent enough, and few enough to be kept."""
        found = None
        while found is None:
            found = self._found(length, least, self.most)
            least = least if found is not None else 2 * least
        return self._kept(found, least)

    def further(self, level: Level, least: int) -> list[Level]:
        """Longer levels, while few patterns are as frequent as `least`: in a part of the room."""
        levels: list[Level] = []
        for length in range(self.settings.max_length + 1, LONGEST + 1):
            is_full = level.min_frequency > least or self.work.sum() > self.budget * LOOKS
            found = None if is_full else self._found(length, least, self.most // FEW)
            if not found or self._least_kept(found, least) > least:
                break
            level = self._kept(found, least)
            levels.append(level)
        return levels

    def _kept(self, found: PatternSet, least: int) -> Level:
        least = self._least_kept(found, least)
        found = found[found.frequencies >= least]
        if self.looks_near is None:
            ones = _ones(found)
            sizes = sequence_sizes(self.X, self.settings.object_identity)
            self.work = np.add.reduceat(sizes[ones[1]], ones[0][:-1])
        else:
            self.work = self.looks_near * found.frequencies.astype(float)
        gap, is_apart = self.settings.max_gap, self.looks_near is not None
        return _level(found, least, least / len(self.X), gap, self.seen, is_apart)

    def _least_kept(self, found: PatternSet, least: int) -> int:
        """The least frequency from `least` on at which what is kept is little enough."""
        falling = np.sort(found.frequencies)[::-1]
        n = int(np.searchsorted(np.cumsum(falling), self.most_ones, side="right"))
        n = min(n, self.most)
        return least if n == len(falling) else max(int(falling[n]) + 1, least)

    def _found(self, length: int, least: int, most: int) -> PatternSet | None:
        """The patterns of a length; None where there are too many of all lengths up to it."""
        name = f"{'length' if self.looks_near is None else 'near'}-{length}-from-{least}"
        folder = self.checkpoint and os.path.join(self.checkpoint, name)
        most *= TOO_MANY
        wanted = replace(self.settings, max_length=length, min_frequency=least, min_support=0.0)

        def check(state: Progress) -> None:
            if state.patterns > most:  # nothing of such a search is needed, so it does not return
                raise _TooManyError

        classes = np.zeros(len(self.X), np.int64)
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "checkpoint": folder, "progress": check}
        try:
            found = mine(
                self.X, classes, self.bias, **wanted.arguments(), keep_coverage=True, **how
            )
        except _TooManyError:
            return None
        if found.partial is not None or len(found) > most:
            return None
        one: PatternSet = found[found.lengths == length]
        return one


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


def _ones(found: PatternSet) -> tuple[Longs, NDArray[np.int32]]:
    assert found.kept_coverage is not None
    offset = np.concatenate([[0], np.cumsum(found.frequencies)]).astype(np.int64)
    words = found.kept_coverage.words(found.rows)
    return offset, lk.rows_of_bits(words, np.empty(int(offset[-1]), np.int32))


def spans(patterns: PatternSet) -> Longs:
    """How many steps the links of each pattern go beyond the next event."""
    trie, total = patterns.trie, np.zeros(len(patterns), np.int64)
    steps = trie.steps[:, N_STEPS]
    beyond = np.where(trie.steps[:, DIMENSION] < 0, 1, np.where(steps == 0, FOLLOW, steps)) - 1
    for ancestors in trie.generations(patterns.rows):
        total += np.where(ancestors >= 0, beyond[ancestors], 0)
    return total


def _level(
    found: PatternSet, least: int, support: float, gap: int, seen: set[int], is_apart: bool = False
) -> Level:
    """Those that cover some sequences but not all, and not those of one that was seen before. Of
    several that cover the same sequences the one of the shortest links stays."""
    assert found.kept_coverage is not None
    words = found.kept_coverage.words(found.rows)
    random = np.random.default_rng(0)
    multipliers = random.integers(1 << 62, 1 << 63, words.shape[1], np.uint64) | np.uint64(1)
    numbers = lk.hashes(words, multipliers, np.empty(len(words), np.uint64))
    order = np.argsort(spans(found), kind="stable")
    is_new = np.zeros(len(found), bool)
    is_new[order[np.unique(numbers[order], return_index=True)[1]]] = True
    is_new &= found.frequencies < found.kept_coverage.n_sequences
    for i in np.flatnonzero(is_new).tolist() if seen else ():
        is_new[i] = int(numbers[i]) not in seen
    seen.update(numbers[is_new].tolist())
    offset, rows = _ones(found[is_new])
    trie, places = found.trie.restricted(found.rows)
    found = found.with_rows(places, trie=trie)  # without bits
    return Level(found[is_new], found, least, support, gap, offset, rows, is_apart)
