"""The operators of a dimension: `follow_s` and `followat_s`, and how rules name them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.logic import tables as tb
from relynx.logic.tables import SEQUENCE, Index, Key, Keys, Packing, Relation, Table
from relynx.logic.terms import Atom

OPERATORS = {"next": 2, "follow": 2, "followat": 3}  # with their numbers of arguments


def link_name(predicate: str) -> tuple[str, str] | None:
    """Operator and dimension that a predicate is named after: `next` and `s` for `next_s`."""
    operator, _, dimension = predicate.partition("_")
    return (operator, dimension) if operator in OPERATORS and dimension else None


def operator_dimension(key: Key) -> str | None:
    """The dimension `s` of `follow_s/2` or `followat_s/3`, None for another predicate."""
    name, arity = key
    operator, dimension = link_name(name) or ("next", "")
    return dimension if operator != "next" and arity == OPERATORS[operator] else None


def steps(atom: Atom) -> int | None:
    """The number of steps of a `followat` atom; None for the closure, `follow`."""
    first = atom.args[0]
    return first if len(atom.args) == 3 and isinstance(first, int) else None


@dataclass(frozen=True, slots=True)
class Chains:
    """A dimension that is a set of chains, concatenated: `follow` is then arithmetic on positions.
    `nodes` are the sorted keys of (sequence, event), `position` their indexes, `first` and `last`
    those of the ends of their chain, `events` the event at each position."""

    nodes: Keys
    position: Longs
    first: Longs
    last: Longs
    events: Ints
    sequences: Ints

    @classmethod
    def of(cls, table: Table, packing: Packing) -> Chains | None:
        """The chains of a `next` table, or None where it branches or has a cycle."""
        left, right = packing.pack(table[[0, 1]]), packing.pack(table[[0, 2]])
        if not tb.in_strict_order(left) or len(tb.distinct(right)) != len(right):
            return None
        nodes = tb.distinct(np.concatenate([left, right]))
        n = len(nodes)
        before = np.arange(n)  # of each node the one before it, itself where there is none
        before[np.searchsorted(nodes, right)] = np.searchsorted(nodes, left)
        if np.any(table[1] == table[2]):
            return None
        root, distance = before, (before != np.arange(n)).astype(np.int64)
        for _ in range(n.bit_length()):  # each round doubles the steps taken towards the root
            distance = distance + distance[root]
            root = root[root]
        if np.any(before[root] != root):
            return None
        order = np.lexsort((distance, root))
        position = np.empty(n, np.int64)
        position[order] = np.arange(n)
        sizes = np.bincount(root, minlength=n)
        first = position - distance
        rows = packing.unpack(nodes[order], 2)
        return cls(nodes, position, first, first + sizes[root] - 1, rows[1], rows[0])

    def holds(self, x: Keys, y: Keys) -> Bools:
        """Where the event y follows the event x."""
        if not len(self.nodes):
            return np.zeros(len(x), bool)
        i, j = self._node(x), self._node(y)
        known = tb.member(x, self.nodes) & tb.member(y, self.nodes)
        same = self.first[i] == self.first[j]
        return np.asarray(known & same & (self.position[i] < self.position[j]))

    def reached(self, keys: Keys, *, backward: bool) -> tuple[Longs, Longs]:
        """For each event the positions after it (or before it), as start and length."""
        if not len(self.nodes):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        i = self._node(keys)
        known = tb.member(keys, self.nodes)
        if backward:
            return self.first[i], np.where(known, self.position[i] - self.first[i], 0)
        return self.position[i] + 1, np.where(known, self.last[i] - self.position[i], 0)

    def _node(self, keys: Keys) -> Longs:
        return np.minimum(np.searchsorted(self.nodes, keys), len(self.nodes) - 1)


def closure(step: Table, packing: Packing, limit: Callable[[int], None]) -> Table:
    """The transitive closure of a `next` table; `limit` is called before rows are made."""
    relation = Relation(3, packing)
    new = relation.add(relation.fresh(step))
    index = Index.of(packing.pack(step[[0, 1]]))
    while new.shape[1]:
        fresh = relation.fresh(_composed(new, step, index, packing, limit))
        limit(len(relation) + len(fresh))
        new = relation.add(fresh)
    return relation.table()


def power(step: Table, n: int, packing: Packing, limit: Callable[[int], None]) -> Table:
    """The pairs that are exactly n steps apart, by repeated squaring."""
    result: Table | None = None
    while True:
        index = Index.of(packing.pack(step[[0, 1]]))
        if n % 2:
            result = step if result is None else _composed(result, step, index, packing, limit)
        n //= 2
        if not step.shape[1]:
            return step
        if not n:
            assert result is not None
            return result
        step = _composed(step, step, index, packing, limit)


def _composed(
    left: Table, right: Table, index: Index, packing: Packing, limit: Callable[[int], None]
) -> Table:
    """Pairs (X,Z) with (X,Y) in left and (Y,Z) in right, which is indexed by Y."""
    starts, lengths = index.find(packing.pack(left[[0, 2]]))
    limit(int(lengths.sum()))
    rows = np.repeat(np.arange(left.shape[1]), lengths)
    found = index.order[tb.ranges(starts, lengths)]
    pairs = {SEQUENCE: left[0][rows], "X": left[1][rows], "Z": right[2][found]}
    return np.vstack(list(packing.distinct_rows(pairs).values()))
