"""The patterns of several partitions: joined, bounded, counted.

Two searches may come to a pattern by different paths: rows of their tries are the same pattern when
they are variants of each other. Each path is kept, since others extend it; one of them is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.data.sequences import text_order
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import Constant, constant_key
from relynx.mining.patterns.ordering import pattern_numbers
from relynx.mining.patterns.trie import Trie, with_codes, with_fewest_codes


@dataclass(frozen=True, slots=True)
class Patterns:
    """Rows of a trie, and what is known of their supports; see `Trie` and `Found`."""

    parent: Ints
    steps: Ints
    shown: Bools
    supports: Longs  # of each class, in the partitions where a pattern was counted
    counted: Bools  # where that was: one column a partition
    made: tuple[Constant, ...]  # by background rules: they come after those of the vocabulary

    def __len__(self) -> int:
        return len(self.parent)

    def taken(self, rows: Bools) -> Patterns:
        """Some rows, and with each the one that it extends."""
        place = np.cumsum(rows) - 1
        parent = self.parent[rows]
        return replace(
            self,
            parent=np.where(parent < 0, -1, place[parent]).astype(np.int32),
            steps=self.steps[rows],
            shown=self.shown[rows],
            supports=self.supports[rows],
            counted=self.counted[rows],
        )

    def with_ancestors(self, rows: Bools) -> Bools:
        """The rows, and all that they extend."""
        wanted = np.zeros(len(self), bool)
        wanted[Trie.unlabelled(self.parent, self.steps).with_ancestors(np.flatnonzero(rows))] = True
        return wanted


def union(
    parts: Sequence[Patterns], n_known: int, relations: Sequence[Key], n_dimensions: int
) -> Patterns:
    """The patterns of all parts, each shown once, with the sums of what was counted. `n_known` is
    the size of the vocabulary that the partitions share. Rows come level by level."""
    # What rules made, each once, in the order that `Sequences.facts` gives it.
    each = {constant_key(c): c for part in parts for c in part.made}
    made = tuple(sorted(each.values(), key=text_order))
    parts = [replace(part, steps=_recoded(part, made, n_known)) for part in parts]
    parent, steps, place = _paths(parts)
    number = _pattern_numbers(parent, steps, relations, n_dimensions)
    n_patterns = int(number.max(initial=-1)) + 1
    supports = np.zeros((n_patterns, parts[0].supports.shape[1]), np.int64)
    counted = np.zeros((n_patterns, parts[0].counted.shape[1]), bool)
    is_shown = np.zeros(len(parent), bool)
    for at, part in zip(place, parts, strict=True):
        own, first = np.unique(number[at], return_index=True)
        supports[own] += part.supports[first]
        counted[own] |= part.counted[first]
        is_shown[at] |= part.shown
    candidates = np.flatnonzero(is_shown)
    shown = np.zeros(len(parent), bool)
    shown[candidates[np.unique(number[candidates], return_index=True)[1]]] = True
    return Patterns(parent, steps, shown, supports[number], counted[number], made)


def _paths(parts: Sequence[Patterns]) -> tuple[Ints, Ints, list[Longs]]:
    """One trie with the paths of all parts, and for each part where its rows are in it."""
    depths = [depth_of(part.parent) for part in parts]
    place = [np.full(len(part), -1, np.int64) for part in parts]
    parents, steps, start = [np.empty(0, np.int32)], [parts[0].steps[:0]], 0
    for level in range(max((int(d.max(initial=-1)) for d in depths), default=-1) + 1):
        here = [np.flatnonzero(depth == level) for depth in depths]
        above = [
            np.where(part.parent[at] < 0, -1, place[i][part.parent[at]])
            for i, (part, at) in enumerate(zip(parts, here, strict=True))
        ]
        paths = np.column_stack(
            [
                np.concatenate(above).astype(np.int32),
                np.concatenate([part.steps[at] for part, at in zip(parts, here, strict=True)]),
            ]
        )
        number, first = tb.numbered(tb.packed([column - column.min() for column in paths.T]))
        ends = np.cumsum([len(at) for at in here])[:-1]
        for i, numbers in enumerate(np.split(number, ends)):
            place[i][here[i]] = start + numbers
        parents.append(paths[first, 0])
        steps.append(paths[first, 1:])
        start += len(first)
    return np.concatenate(parents), np.concatenate(steps), place


def _pattern_numbers(
    parent: Ints, steps: Ints, relations: Sequence[Key], n_dimensions: int
) -> Ints:
    """The same number for rows that are the same pattern; codes stand for constants here."""
    steps, used = with_fewest_codes(steps)
    dimensions, vocabulary = [*map(str, range(n_dimensions))], Vocabulary(range(len(used)))
    trie = Trie.unlabelled(parent, steps, relations, dimensions, vocabulary)
    return pattern_numbers(trie, np.arange(len(parent)))


def _recoded(part: Patterns, made: tuple[Constant, ...], n_known: int) -> Ints:
    if part.made == made or not part.made:
        return part.steps
    number = {constant_key(c): n_known + i for i, c in enumerate(made)}
    own = [number[constant_key(c)] for c in part.made]
    return with_codes(part.steps, np.array([*range(n_known), *own]))


def depth_of(parent: Ints) -> Longs:
    """How many rows a row extends, one after the other."""
    depth = np.zeros(len(parent), np.int64)
    current = parent
    while bool((current >= 0).any()):
        depth += current >= 0
        current = np.where(current >= 0, parent[current], -1)
    return depth


# What can be frequent, and what is


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a pattern needs in all partitions together."""

    least: Longs  # for each class the smallest support that suffices
    min_frequency: int

    def met(self, supports: Longs, total: Longs) -> Bools:
        enough = (supports >= self.least).any(axis=1)
        return np.asarray(enough & (total >= self.min_frequency))


@dataclass(frozen=True, slots=True)
class Unseen:
    """The most that a pattern can cover of a partition that did not find it."""

    of_class: Longs  # one row a partition, one column a class
    of_all: Longs


def possible(patterns: Patterns, threshold: Threshold, unseen: Unseen) -> Patterns:
    """Without the patterns that cannot be frequent, whatever they cover where they were not found.
    A pattern covers no more than what it extends, so what is left extends what is left."""
    missing = ~patterns.counted
    most = patterns.supports + missing @ unseen.of_class
    total = patterns.supports.sum(axis=1) + missing @ unseen.of_all
    depth = depth_of(patterns.parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        above = patterns.parent[here]
        most[here] = np.minimum(most[here], most[above])
        total[here] = np.minimum(total[here], total[above])
    return patterns.taken(threshold.met(most, total))


def lengths_of(patterns: Patterns) -> Longs:
    """How many atoms other than links the rows have."""
    trie = Trie.unlabelled(patterns.parent, patterns.steps)
    return trie.lengths(np.arange(len(trie))).astype(np.int64)
