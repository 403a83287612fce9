"""Searches for patterns whose events have several columns of a table at once.

A view is a few columns that are one wide fact in the search, so that a pattern of two such facts is
short where one of single columns is long. What is found is written in single columns again: an
event has at most one value in each, so both forms cover the same sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints, Longs
from relynx.bias import Bias
from relynx.bias.modes import EVENT
from relynx.data.event_arguments import packed_pairs
from relynx.data.sequences import Facts, Sequences
from relynx.logic.tables import Table, in_strict_order
from relynx.mining.levels import Level
from relynx.mining.patterns.trie import ARGUMENTS, DIMENSION, RELATION, Rows, Trie

Search: TypeAlias = Callable[[Sequences, Bias], list[Level]]


class Columns(NamedTuple):
    """Predicates that give events one value each, as columns: codes of constants, -1 for none."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    codes: Ints  # (n_columns, n_events)
    events: Longs  # sequence * n_constants + code, in order
    n_constants: int

    def together(self, names: tuple[str, ...]) -> Table:
        """The facts with these columns, of the events that have a value in each."""
        codes = self.codes[[self.names.index(name) for name in names]]
        complete = (codes >= 0).all(axis=0)
        sequences, events = np.divmod(self.events[complete], self.n_constants)
        return np.vstack([sequences, events, codes[:, complete]]).astype(np.int32)


@dataclass(frozen=True, slots=True)
class View:
    """Columns that events have in patterns, as predicates with an event and a value."""

    facts: tuple[tuple[str, ...], ...]  # each the columns of one wide fact
    constant: frozenset[str]  # columns with constants,
    shared: frozenset[str]  # and with variables

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys(name for columns in self.facts for name in columns))

    def modes(self, columns: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Those of a wide fact."""
        signs = [
            ("#",) if name not in self.shared else ("*",) if name in self.constant else ("+", "-")
            for name in columns
        ]
        return tuple(("+", *chosen) for chosen in product(*signs))


def mine_views(
    X: Sequences,
    bias: Bias,
    views: Iterable[View],
    levels: list[Level],
    search: Search,
    object_identity: bool,
) -> list[Level]:
    """The patterns of some views that cover other sequences than those of some levels do, and than
    each other."""
    random = np.random.default_rng(0).integers(1 << 63, size=len(X), dtype=np.uint64)
    seen = np.concatenate([_hashes(one, random) for one in levels])
    found = []
    for view in views:
        for one in mine_view(X, bias, view, search, object_identity):
            hashes = _hashes(one, random)
            is_new = ~np.isin(hashes, seen)
            seen = np.concatenate([seen, hashes[is_new]])
            found.append(one.only(np.flatnonzero(is_new)))
    return found


def mine_view(
    X: Sequences, bias: Bias, view: View, search: Search, object_identity: bool
) -> list[Level]:
    """The patterns of a view, in single columns."""
    facts = X.facts(object_identity)
    columns = columns_of(facts, bias)
    wide = {"&".join(names): names for names in view.facts}
    tables = {(f"next_{one}", 2): facts.tables[f"next_{one}", 2] for one in bias.dimensions}
    tables |= {(name, 1 + len(names)): columns.together(names) for name, names in wide.items()}
    types = {name: (EVENT, *(bias.types[one][1] for one in names)) for name, names in wide.items()}
    used = {one for listed in types.values() for one in listed}
    values = {name: listed for name, listed in bias.values.items() if name in used}
    modes = {name: view.modes(names) for name, names in wide.items()}
    language = Bias(types, modes, values, bias.dimensions)
    levels = search(Sequences(facts.vocabulary, tables, X.ids), language)
    return [_in_columns(one, wide) for one in levels]


def columns_of(facts: Facts, bias: Bias) -> Columns:
    """The columns of a table of events, or of facts that are like one."""
    n, keys = max(len(facts.vocabulary), 1), {}
    for name, types in bias.types.items():
        if len(types) == 2 and types[0] == EVENT != types[1] and (name, 2) in facts.tables:
            held = packed_pairs(facts.tables[name, 2], 0, n)
            if len(held) and in_strict_order(held):  # one value an event
                keys[name] = held
    linked = [
        packed_pairs(facts.tables[f"next_{one}", 2], end, n)
        for one in bias.dimensions
        if (f"next_{one}", 2) in facts.tables
        for end in (0, 1)
    ]
    events = np.unique(np.concatenate([np.empty(0, np.int64), *keys.values(), *linked]))
    codes = np.full((len(keys), len(events)), -1, np.int32)
    for row, (name, held) in zip(codes, keys.items(), strict=True):
        row[np.searchsorted(events, held)] = facts.tables[name, 2][2]
    return Columns(tuple(keys), tuple(bias.types[name][1] for name in keys), codes, events, n)


def _hashes(level: Level, random: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A number for each pattern, the same for those that cover the same sequences."""
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(random[level.rows], dtype=np.uint64)])
    return np.asarray(np.diff(sums[level.offset]))


def _in_columns(level: Level, wide: dict[str, tuple[str, ...]]) -> Level:
    """A level with patterns in single columns, beside the levels of other searches."""
    patterns = level.patterns
    trie, rows = expanded(*patterns.trie.restricted(patterns.rows), wide)
    patterns = patterns.with_rows(rows, trie=trie)
    return replace(level, patterns=patterns, found=patterns, is_apart=True)


def expanded(trie: Trie, rows: Rows, wide: dict[str, tuple[str, ...]]) -> tuple[Trie, Rows]:
    """A trie in which each fact named in `wide`, `p(E,a,b)`, is one for each column, `q(E,a)` and
    `r(E,b)`, and where its rows are there. Supports are those of these rows, and of what is on the
    way unknown."""
    columns = list(dict.fromkeys(one for names in wide.values() for one in names))
    parts = [[columns.index(one) for one in wide[name]] for name, _ in trie.relations]
    relation = trie.steps[:, RELATION]
    sizes = np.array([*map(len, parts), 1])[relation]  # the last is for a link alone
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    steps = np.zeros((int(sizes.sum()), ARGUMENTS + 2), np.int32)
    steps[:, DIMENSION], steps[:, RELATION] = -1, -1
    steps[first, :RELATION] = trie.steps[:, :RELATION]
    for i, numbers in enumerate(parts):
        of = np.flatnonzero(relation == i)
        for place, column in enumerate(numbers):
            at = first[of] + place
            steps[at, RELATION], steps[at, ARGUMENTS] = column, trie.steps[of, ARGUMENTS]
            steps[at, ARGUMENTS + 1] = trie.steps[of, ARGUMENTS + 1 + place]
    parent = np.arange(len(steps)) - 1
    parent[first] = np.where(trie.parent < 0, -1, last[trie.parent])
    supports = np.zeros((len(steps), trie.supports.shape[1]), np.int32)
    supports[last] = trie.supports
    new = replace(
        trie,
        parent=parent.astype(np.int32),
        steps=steps,
        supports=supports,
        relations=tuple((name, 2) for name in columns),
    )
    return new, last[rows]
