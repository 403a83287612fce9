"""What the matcher looks things up in: nodes, relations as keys, dimensions as paths.

An `Index` belongs to one `Facts` and is made once; relations and their look-up tables are added
when a pattern first asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints, Longs
from relynx.data.event_arguments import dimension_names, event_keys
from relynx.data.sequences import Facts
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.mining.matching import _backtracking_kernels as kn

Place: TypeAlias = "tuple[Key, int] | None"  # an argument of a predicate, or of a dimension
Template: TypeAlias = "tuple[Key, int, tuple[tuple[int, int, int], ...]]"

EVENTS: Ints = np.array([-1], np.int32)
TEMPLATE_BYTES = 1 << 28
FEW_FACTS = 16  # times as many events as a predicate has facts make these few


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension: paths where it is one in a sequence, neighbours where it is a graph."""

    shape: NDArray[np.uint8]
    order: Ints
    rank: Ints
    first: Ints
    last: Ints
    next_off: Longs  # 2 x N+1
    neighbours: Ints

    @property
    def has_graphs(self) -> bool:
        return bool((self.shape == kn.GRAPH).any())


class Relation:
    """The facts of a predicate as keys, with a sorted look-up for each argument on demand."""

    def __init__(self, cells: Ints, seq_off: Longs, n_nodes: int) -> None:
        self.cells = cells
        self.seq_off = seq_off
        self.n_nodes = n_nodes
        self._look_ups: dict[int, tuple[Ints, Ints, Ints, Ints]] = {}
        self._domains: dict[int, Ints] = {}
        self._fan_outs: dict[int, float] = {}

    @cached_property
    def sequence(self) -> Ints:
        return np.repeat(np.arange(len(self.seq_off) - 1, dtype=np.int32), np.diff(self.seq_off))

    def look_up(self, arg: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Facts in order of (sequence, key), those keys, and each node's range among them."""
        if arg not in self._look_ups:
            column = self.cells[arg]
            perm = np.lexsort((column, self.sequence)).astype(np.int32)
            keys = column[perm]
            lo = np.zeros(self.n_nodes, np.int32)
            hi = np.zeros(self.n_nodes, np.int32)
            places = np.flatnonzero(keys < self.n_nodes).astype(np.int32)
            nodes = keys[places]
            hi[nodes] = places + 1  # the last place of a node is assigned last
            lo[nodes[::-1]] = places[::-1]
            self._look_ups[arg] = perm, keys, lo, hi
        return self._look_ups[arg]

    def fan_out(self, arg: int) -> float:
        """How many facts of a sequence share one key of an argument, on average."""
        if arg not in self._fan_outs:
            keys = self.look_up(arg)[1]
            changes = (np.diff(keys) != 0) | (np.diff(self.sequence) != 0)
            self._fan_outs[arg] = len(keys) / (1 + np.count_nonzero(changes))
        return self._fan_outs[arg]

    def values(self, arg: int) -> Ints:
        """The keys of an argument; all its events count as one key, -1."""
        if arg not in self._domains:
            column = self.cells[arg]
            self._domains[arg] = tb.distinct(np.where(column < self.n_nodes, -1, column))
        return self._domains[arg]


class Index:
    """The look-up structures of some facts."""

    def __init__(self, facts: Facts) -> None:
        # Facts keep their index, so it must not refer to them: nothing would be let go in time.
        self.facts = replace(facts, cache={})
        self.n_sequences = facts.n_sequences
        self.n_constants = max(len(facts.vocabulary), 1)
        self.dimension_names = dimension_names(facts.tables)
        self.arities = dict(facts.tables.keys())
        events, self.event_arguments = event_keys(
            facts.tables, self.n_constants, facts.event_arguments
        )
        self.n_nodes = len(events)
        begins = np.arange(self.n_sequences + 1) * self.n_constants
        self.node_off: Longs = np.searchsorted(events, begins).astype(np.int64)
        counts = np.diff(self.node_off)
        self.longest = int(counts.max(initial=0))  # events of a sequence
        self.word_off: Longs = np.concatenate([[0], np.cumsum((counts + 63) // 64)])
        self._pieces = tb.pieces(self.node_off)
        self.event_code = np.empty(self.n_nodes, np.int32)
        self.is_event = np.zeros(self.n_constants, bool)
        for first, end in self._pieces:
            nodes = slice(self.node_off[first], self.node_off[end])
            self.event_code[nodes] = events[nodes] % self.n_constants
            self.is_event[self.event_code[nodes]] = True
        self._last_finder: tuple[tuple[int, int], tb.Finder] | None = None
        shapes = [self._paths(name) for name in self.dimension_names]
        # Nodes are numbered along the first dimension, so that its steps are steps of numbers.
        by_path = shapes[0][1] if shapes else np.arange(self.n_nodes)
        self._node = np.empty(self.n_nodes, np.int32)
        self._node[by_path] = np.arange(self.n_nodes, dtype=np.int32)
        self.dimensions = [
            self._dimension(name, *shape)
            for name, shape in zip(self.dimension_names, shapes, strict=True)
        ]
        self._relations: dict[Key, Relation] = {}
        self._templates: dict[Template, tuple[NDArray[np.uint64], float]] = {}
        self._overlaps: dict[tuple[Place, Place], bool] = {}

    @classmethod
    def of(cls, facts: Facts) -> Index:
        if "index" not in facts.cache:
            facts.cache["index"] = cls(facts)
        index: Index = facts.cache["index"]
        return index

    def relation(self, key: Key) -> Relation:
        if key not in self._relations:
            keys = np.add(self.facts.tables[key][1:], np.int32(self.n_nodes), order="C")
            for here, places in self._places(key):
                for row, at in zip(keys[:, here], places, strict=True):
                    if at is not None:
                        np.copyto(row, self._node[at], where=at >= 0)
            self._relations[key] = Relation(keys, self.facts.offsets(key), self.n_nodes)
        return self._relations[key]

    def template(self, template: Template) -> tuple[NDArray[np.uint64], float]:
        """The nodes that a template admits, as bits, and how many of them a sequence has."""
        found = self._templates.pop(template, None)
        if found is None:
            key, arg, rules = template
            relation = self.relation(key)
            bits = np.zeros(int(self.word_off[-1]), np.uint64)
            facts = relation.cells, relation.seq_off, self.node_off, self.word_off
            kn.mark_template(*facts, arg, np.array(rules, np.int32).reshape(-1, 3), bits)
            found = bits, float(np.bitwise_count(bits).sum()) / max(self.n_sequences, 1)
            n_most = TEMPLATE_BYTES // max(bits.nbytes, 1)
            for old in [*self._templates][: max(len(self._templates) - n_most, 0)]:
                self._templates.pop(old, None)  # another thread may have been faster
        self._templates[template] = found  # the last used is the last to go
        return found

    def population(self, template: Template) -> Longs:
        """How many events of each sequence a template admits."""
        bits = self.template(template)[0]
        total = np.concatenate([[0], np.cumsum(np.bitwise_count(bits), dtype=np.int64)])
        return np.diff(total[self.word_off])

    def available(self, place: tuple[Key, int], without: list[int]) -> Longs:
        """How many constants each sequence has in an argument, some of them left out."""
        key, arg = place
        relation = self.relation(key)
        keys = relation.look_up(arg)[1]
        new = np.ones(len(keys), bool)
        new[1:] = (np.diff(keys) != 0) | (np.diff(relation.sequence) != 0)
        for code in without:
            new &= keys != self.n_nodes + code
        return np.bincount(relation.sequence[new], minlength=self.n_sequences)

    def overlap(self, one: Place, other: Place) -> bool:
        """May an argument of one predicate hold the same constant as one of another?"""
        if (one, other) not in self._overlaps:
            common = np.intersect1d(self._values(one), self._values(other), assume_unique=True)
            self._overlaps[one, other] = self._overlaps[other, one] = bool(len(common))
        return self._overlaps[one, other]

    def _values(self, place: Place) -> Ints:
        return EVENTS if place is None else self.relation(place[0]).values(place[1])

    def may_hold(self, place: Place, code: int) -> bool:
        """May an argument of a predicate hold a constant?"""
        values = self._values(place)
        at = np.searchsorted(values, self.n_nodes + code)
        if at < len(values) and values[at] == self.n_nodes + code:
            return True
        return bool(self.is_event[code]) and len(values) > 0 and values[0] == -1

    def _places(self, key: Key) -> Iterator[tuple[slice, list[Ints | None]]]:
        """For some facts after the other, which they are, and for each argument the provisional
        nodes of its events (events in order of their code), -1 for a value; None: it has none."""
        table, starts = self.facts.tables[key], self.facts.offsets(key)
        # Where a predicate has few facts, all of them are found in one pool.
        is_small = FEW_FACTS * table.shape[1] < self.n_nodes
        for first, end in [(0, self.n_sequences)] if is_small else self._pieces:
            here = slice(starts[first], starts[end])
            nodes = slice(self.node_off[first], self.node_off[end])
            finder = self._finder(first, end)
            sequence = (table[0, here].astype(np.int64) - first) * self.n_constants
            found: list[Ints | None] = []
            for codes in table[1:, here]:
                at = None
                if self.is_event[codes].any() or not len(codes):
                    at = finder(sequence + codes)
                    at[at >= 0] += nodes.start
                found.append(at)
            yield here, found

    def _finder(self, first: int, end: int) -> tb.Finder:
        """What finds the events of some sequences; the last one that was made is kept."""
        kept = self._last_finder
        if kept is None or kept[0] != (first, end):
            nodes = slice(self.node_off[first], self.node_off[end])
            counts = np.diff(self.node_off[first : end + 1])
            events = np.repeat(np.arange(end - first) * self.n_constants, counts)
            events += self.event_code[nodes]
            kept = (first, end), tb.Finder(events, (end - first) * self.n_constants)
            self._last_finder = kept
        return kept[1]

    def constants_of(self, keys: NDArray[Any]) -> list[Any]:
        """The constants that keys stand for."""
        vocabulary = self.facts.vocabulary
        codes = np.empty(self.n_nodes, np.int64)
        codes[self._node] = self.event_code
        return [
            vocabulary[int(codes[key]) if key < self.n_nodes else int(key) - self.n_nodes]
            for key in keys.tolist()
        ]

    def _edges(self, name: str) -> tuple[Ints, Ints]:
        """The links of a dimension between provisional nodes."""
        key = (f"next_{name}", 2)
        before, after = np.empty((2, self.facts.tables[key].shape[1]), np.int32)
        for here, (x, y) in self._places(key):
            assert x is not None  # what is linked is an event
            assert y is not None
            before[here], after[here] = x, y
        return before, after

    def _paths(self, name: str) -> tuple[NDArray[np.uint8], Ints, Ints, Ints, Ints]:
        """The shape in each sequence, the nodes path by path, and of each node its rank and those
        of the ends of its path."""
        before, after = self._edges(name)
        shape = np.empty(self.n_sequences, np.uint8)
        order, rank, first, last = np.empty((4, self.n_nodes), np.int32)
        edge_off = self.facts.offsets((f"next_{name}", 2))
        kn.walk_paths(before, after, edge_off, self.node_off, shape, order, rank, first, last)
        return shape, order, rank, first, last

    def _dimension(
        self, name: str, shape: NDArray[np.uint8], order: Ints, rank: Ints, first: Ints, last: Ints
    ) -> Dimension:
        n = self.n_nodes
        # A line must also run along the numbers of the nodes.
        bent = np.flatnonzero(self._node != rank)
        sequence = np.searchsorted(self.node_off, bent, side="right") - 1
        shape[sequence[shape[sequence] == kn.LINE]] = kn.PATHS
        for begin, end in self._pieces:  # from provisional nodes to nodes of the same sequence
            here = slice(self.node_off[begin], self.node_off[end])
            old = np.empty(here.stop - here.start, np.int32)
            old[self._node[here] - here.start] = np.arange(here.start, here.stop)
            order[here] = self._node[order[here]]
            for column in (rank, first, last):
                column[here] = column[old]
        offsets, lists = np.zeros((2, n + 1), np.int64), [np.empty(0, np.int32)] * 2
        if (shape == kn.GRAPH).any():
            before, after = self._edges(name)
            loose = shape[self.facts.tables[(f"next_{name}", 2)][0]] == kn.GRAPH
            ends = self._node[before[loose]], self._node[after[loose]]
            for way, (near, far) in enumerate((ends, ends[::-1])):
                np.cumsum(np.bincount(near, minlength=n), out=offsets[way, 1:])
                lists[way] = far[np.lexsort((far, near))]
            offsets[1] += len(lists[0])
        return Dimension(shape, order, rank, first, last, offsets, np.concatenate(lists))

    def data(self, relations: tuple[Key, ...], look_ups: tuple[tuple[Key, int], ...]) -> kn.Data:
        """The arrays that the kernels read, for the relations and look-ups that plans use."""
        cache = self.facts.cache.setdefault("data", {})
        data: kn.Data | None = cache.get((relations, look_ups))
        if data is None:
            for old in [*cache][:-3]:
                cache.pop(old, None)  # another thread may have been faster
            data = cache[relations, look_ups] = self._data(relations, look_ups)
        return data

    def _data(self, relations: tuple[Key, ...], look_ups: tuple[tuple[Key, int], ...]) -> kn.Data:
        used = [self.relation(key) for key in relations]
        found = [self.relation(key).look_up(arg) for key, arg in look_ups]
        dims, n, n_seq = self.dimensions, self.n_nodes, self.n_sequences
        shift, offsets = 0, []
        for d in dims:
            offsets.append(d.next_off + shift)
            shift += len(d.neighbours)
        return kn.Data(
            n_nodes=n,
            most_nodes=max(self.longest, 1),
            most_words=int(np.diff(self.word_off).max(initial=1)),
            has_graphs=any(d.has_graphs for d in dims),
            node_off=self.node_off,
            word_off=self.word_off,
            event_code=self.event_code,
            event_node=self._node,
            cells=flat([r.cells.ravel() for r in used]),
            cell_off=np.cumsum([0, *(r.cells.size for r in used)], dtype=np.int64)[:-1],
            size=np.array([r.cells.shape[1] for r in used], np.int64),
            seq_off=_stack([r.seq_off for r in used], (0, n_seq + 1), np.int64),
            index_off=np.cumsum([0, *(len(perm) for perm, *_ in found)], dtype=np.int64)[:-1],
            perm=flat([look_up[0] for look_up in found]),
            keys=flat([look_up[1] for look_up in found]),
            lo=_stack([look_up[2] for look_up in found], (0, n), np.int32),
            hi=_stack([look_up[3] for look_up in found], (0, n), np.int32),
            shape=_stack([d.shape for d in dims], (0, n_seq), np.uint8),
            **{
                name: _stack([getattr(d, name) for d in dims], (0, n), np.int32)
                for name in ("order", "rank", "first", "last")
            },
            next_off=_stack(offsets, (0, 2, n + 1), np.int64),
            neighbours=flat([d.neighbours for d in dims]),
        )


def flat(parts: list[Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int32, copy=False)


def _stack(parts: list[NDArray[Any]], empty: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(np.stack(parts), dtype) if parts else np.empty(empty, dtype)
