"""The patterns of several partitions: joined, bounded, counted, and in the order of one search.

A search finds a pattern by the first way that leads to it, and all that stands on the way is more
general, so frequent where the pattern is. So the way is the same in every partition that finds the
pattern, and rows of two tries are the same pattern when their ways are equal. See docs/partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import text_order
from relynx.logic.terms import Constant, constant_key
from relynx.mining.patterns.trie import ARGUMENTS, DIMENSION, FROM, N_STEPS, RELATION, TO

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

OLD, NEW, AGAIN, CONSTANT = range(4)  # what an argument is, in the order of the engines


@dataclass(frozen=True, slots=True)
class Patterns:
    """Rows of a trie, and what is known of their supports.

    Attributes
    ----------
    parent, steps, shown
        As the search leaves them; see `Trie` and `Found`. A row comes after the one it extends.
    supports
        How many sequences of each class a pattern covers, in the partitions where it was counted.
    counted
        Where it was counted: one column a partition.
    made
        The constants that background rules made, which come after those of the vocabulary.
    """

    parent: Ints
    steps: Ints
    shown: Bools
    supports: Longs
    counted: Bools
    made: tuple[Constant, ...]

    def __len__(self) -> int:
        return len(self.parent)

    def taken(self, rows: Bools) -> Patterns:
        """Some rows, and with each the one that it extends."""
        place = np.cumsum(rows) - 1
        parent = self.parent[rows]
        return Patterns(
            np.where(parent < 0, -1, place[parent]).astype(np.int32),
            self.steps[rows],
            self.shown[rows],
            self.supports[rows],
            self.counted[rows],
            self.made,
        )

    def with_ancestors(self, rows: Bools) -> Bools:
        """The rows, and all that they extend."""
        wanted = rows.copy()
        above: Ints = self.parent[rows]
        while len(above):
            above = np.unique(above[above >= 0])
            above = above[~wanted[above]]
            wanted[above] = True
            above = self.parent[above]
        return wanted


def union(parts: Sequence[Patterns], n_known: int) -> Patterns:
    """The rows of all parts, each once, with the sums of what was counted.

    `n_known` is the size of the vocabulary that the partitions share. Rows come level by level.
    """
    made = ordered_constants(c for part in parts for c in part.made)
    parts = [replace(part, steps=_recoded(part, made, n_known)) for part in parts]
    depths = [depth_of(part.parent) for part in parts]
    place = [np.full(len(part), -1, np.int64) for part in parts]
    parents, steps, start = [np.empty(0, np.int32)], [parts[0].steps[:0]], 0
    for level in range(max((int(d.max(initial=-1)) for d in depths), default=-1) + 1):
        here = [np.flatnonzero(depth == level) for depth in depths]
        above = [
            np.where(part.parent[at] < 0, -1, place[i][part.parent[at]])
            for i, (part, at) in enumerate(zip(parts, here, strict=True))
        ]
        ways = np.column_stack(
            [
                np.concatenate(above).astype(np.int32),
                np.concatenate([part.steps[at] for part, at in zip(parts, here, strict=True)]),
            ]
        )
        _, first, number = np.unique(_as_bytes(ways), return_index=True, return_inverse=True)
        ends = np.cumsum([len(at) for at in here])[:-1]
        for i, numbers in enumerate(np.split(number.ravel(), ends)):
            place[i][here[i]] = start + numbers
        parents.append(ways[first, 0])
        steps.append(ways[first, 1:])
        start += len(first)
    supports = np.zeros((start, parts[0].supports.shape[1]), np.int64)
    counted = np.zeros((start, parts[0].counted.shape[1]), bool)
    shown = np.zeros(start, bool)
    for at, part in zip(place, parts, strict=True):
        supports[at] += part.supports
        counted[at] |= part.counted
        shown[at] |= part.shown
    return Patterns(np.concatenate(parents), np.concatenate(steps), shown, supports, counted, made)


def ordered_constants(constants: Iterable[Constant]) -> tuple[Constant, ...]:
    """Constants that rules made, each once, in the order that `Sequences.facts` gives them."""
    each = {constant_key(c): c for c in constants}
    return tuple(sorted(each.values(), key=text_order))


def recoding(own: Sequence[Constant], all_: Sequence[Constant], n_known: int) -> Ints:
    """The code among all constants of each own code."""
    number = {constant_key(c): n_known + i for i, c in enumerate(all_)}
    new = [number[constant_key(c)] for c in own]
    return np.concatenate([np.arange(n_known), new]).astype(np.int32)


def _recoded(part: Patterns, made: tuple[Constant, ...], n_known: int) -> Ints:
    if part.made == made or not part.made:
        return part.steps
    codes = recoding(part.made, made, n_known)
    steps = part.steps.copy()
    args = steps[:, ARGUMENTS:]
    constant = args < 0
    args[constant] = ~codes[~args[constant]]
    return steps


def _as_bytes(rows: Ints) -> NDArray[np.void]:
    """One value a row, equal where the rows are."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()


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

    def met(self, supports: Longs) -> Bools:
        enough = (supports >= self.least).any(axis=1)
        return np.asarray(enough & (supports.sum(axis=1) >= self.min_frequency))


@dataclass(frozen=True, slots=True)
class Unseen:
    """The most that a pattern can cover of a partition that did not find it."""

    of_class: Longs  # one row a partition, one column a class
    of_all: Longs


def possible(patterns: Patterns, threshold: Threshold, unseen: Unseen) -> Patterns:
    """Without the patterns that cannot be frequent, whatever they cover where they were not found.

    A pattern covers no more than what it extends, so what is left extends what is left.
    """
    missing = ~patterns.counted
    most = patterns.supports + missing @ unseen.of_class
    total = patterns.supports.sum(axis=1) + missing @ unseen.of_all
    depth = depth_of(patterns.parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        above = patterns.parent[here]
        most[here] = np.minimum(most[here], most[above])
        total[here] = np.minimum(total[here], total[above])
    may_be = (most >= threshold.least).any(axis=1) & (total >= threshold.min_frequency)
    return patterns.taken(may_be)


# The order of one search


def search_order(
    patterns: Patterns, dimensions: Sequence[int], events: Sequence[int] | None = None
) -> Longs:
    """The rows in the order in which one search of all sequences comes to them.

    A search refines patterns level by level, and the refinements of a pattern come in the order of
    their links, predicates and arguments.

    Parameters
    ----------
    patterns
        All rows that the search keeps.
    dimensions
        The numbers of the dimensions in the order of the bias.
    events
        Where the search is that of several dimensions, which links a new event to several others at
        once: the event argument of each predicate. Its rows add the links one by one.
    """
    n = len(patterns)
    if events is None:
        node, links = _plain(patterns, dimensions)
    else:
        node, links = _lanes(patterns, dimensions, events)
    keys = np.column_stack([links, _fact_keys(patterns)])
    length = lengths_of(patterns)
    order = np.empty(n, np.int64)
    turn = np.full(n + 1, -1, np.int64)  # when a row is refined; the last is for the empty pattern
    turn[n] = 0
    n_turns, n_placed = 1, 0
    children = np.flatnonzero(node < 0)
    while len(children):
        ranked = np.lexsort((*keys[children].T[::-1], turn[node[children]]))
        children = children[ranked]
        order[n_placed : n_placed + len(children)] = children
        n_placed += len(children)
        above = node[children]
        shorter = np.where(above < 0, 0, length[above])
        level = children[length[children] > shorter]
        refined = []
        while len(level):  # closing a pattern makes another of the same length
            turn[level] = np.arange(n_turns, n_turns + len(level))
            n_turns += len(level)
            refined.append(level)
            level = _closed(node, length, keys, turn, level)
        every = np.concatenate([np.empty(0, np.int64), *refined])
        children = np.flatnonzero(np.isin(node, every))
    return order


def _closed(node: Longs, length: Longs, keys: Longs, turn: Longs, level: Longs) -> Longs:
    """The rows of the same length that rows of a level are refined to, in order."""
    here = np.flatnonzero(np.isin(node, level))
    here = here[length[here] == length[node[here]]]
    order: Longs = np.lexsort((*keys[here].T[::-1], turn[node[here]]))
    return np.asarray(here[order])


def lengths_of(patterns: Patterns) -> Longs:
    """How many atoms other than links the rows have."""
    length: Longs = (patterns.steps[:, RELATION] >= 0).astype(np.int64)
    depth = depth_of(patterns.parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        length[here] += length[patterns.parent[here]]
    return length


def _n_variables(patterns: Patterns) -> Longs:
    """How many variables the rows have, those that they extend included."""
    steps = patterns.steps
    n: Longs = steps[:, ARGUMENTS:].max(axis=1, initial=-1).astype(np.int64) + 1
    linked = steps[:, DIMENSION] >= 0
    n[linked] = np.maximum(n[linked], steps[linked][:, [FROM, TO]].max(axis=1, initial=0) + 1)
    depth = depth_of(patterns.parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        n[here] = np.maximum(n[here], n[patterns.parent[here]])
    return n


def _plain(patterns: Patterns, dimensions: Sequence[int]) -> tuple[Longs, Longs]:
    """What each row refines, and its link: none, one to a new event, one between old ones."""
    steps = patterns.steps.astype(np.int64)
    linked, fact = steps[:, DIMENSION] >= 0, steps[:, RELATION] >= 0
    keys = np.zeros((len(steps), 5), np.int64)
    keys[:, 0] = np.where(linked, np.where(fact, 1, 2), 0)
    keys[linked, 1] = _numbers(dimensions)[steps[linked, DIMENSION]]
    keys[:, 2] = np.where(fact, steps[:, FROM], steps[:, TO]) * linked
    keys[:, 3] = np.where(fact, 0, steps[:, FROM]) * linked
    keys[:, 4] = steps[:, N_STEPS] * linked
    return patterns.parent.astype(np.int64), keys


def _lanes(
    patterns: Patterns, dimensions: Sequence[int], events: Sequence[int]
) -> tuple[Longs, Longs]:
    """What each row refines, and all links of the event that it brings.

    A row that only adds a link is a refinement of what the row with the fact refines.
    """
    steps = patterns.steps.astype(np.int64)
    linked, fact = steps[:, DIMENSION] >= 0, steps[:, RELATION] >= 0
    parent = patterns.parent.astype(np.int64)
    depth = depth_of(patterns.parent)
    node, newest, n_links = parent.copy(), steps[:, TO].copy(), linked.astype(np.int64)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero((depth == level) & ~fact)
        node[here], newest[here] = node[parent[here]], newest[parent[here]]
        n_links[here] += n_links[parent[here]]
    keys = np.full((len(steps), 2 + 4 * int(n_links.max(initial=0))), -1, np.int64)
    keys[:, 0] = n_links > 0
    about = steps[np.arange(len(steps)), ARGUMENTS + np.array([*events, 0])[steps[:, RELATION]]]
    keys[:, 1] = np.where((n_links > 0) | (parent < 0), 0, about)
    number = _numbers(dimensions)
    for level in range(int(depth.max(initial=0)) + 1):
        here = np.flatnonzero((depth == level) & linked)
        further = here[~fact[here]]
        keys[further, 2:] = keys[parent[further], 2:]
        against = steps[here, FROM] == newest[here]
        at = 4 * (n_links[here] - 1) + 2
        for j, column in enumerate(
            (
                against,
                number[steps[here, DIMENSION]],
                steps[here, N_STEPS],
                np.where(against, steps[here, TO], steps[here, FROM]),
            )
        ):
            keys[here, at + j] = column
    return node, keys


def _before(patterns: Patterns) -> Longs:
    """How many variables there are before the fact of a row: its link may bring one."""
    n = np.append(_n_variables(patterns), 0)[patterns.parent]
    steps = patterns.steps
    brings = (steps[:, DIMENSION] >= 0) & (steps[:, RELATION] >= 0)
    return n + brings


def _numbers(dimensions: Sequence[int]) -> Longs:
    """The place of each dimension in the order of the bias."""
    out = np.zeros(max(dimensions, default=0) + 1, np.int64)
    out[list(dimensions)] = np.arange(len(dimensions))
    return out


def _fact_keys(patterns: Patterns) -> Longs:
    """The predicate and the arguments of each row's fact as numbers that sort alike.

    Old variables come before a new one, then one that came before in the same atom, then constants.
    A row without a fact has the keys of the one that it extends.
    """
    steps = patterns.steps.astype(np.int64)
    before = _before(patterns)
    args = steps[:, ARGUMENTS:]
    width = args.shape[1]
    keys = np.zeros((len(steps), 1 + 2 * width), np.int64)
    keys[:, 0] = steps[:, RELATION]
    for j in range(width):
        arg = args[:, j]
        kind = np.where(arg < 0, CONSTANT, np.where(arg < before, OLD, NEW))
        value = np.where(arg < 0, ~arg, np.where(arg < before, arg, 0))
        for q in range(j - 1, -1, -1):
            again = np.isin(kind, (NEW, AGAIN)) & (args[:, q] == arg)
            kind[again], value[again] = AGAIN, q
        keys[:, 1 + 2 * j], keys[:, 2 + 2 * j] = kind, value
    depth = depth_of(patterns.parent)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero((depth == level) & (steps[:, RELATION] < 0))
        keys[here] = keys[patterns.parent[here]]
    return keys
