"""Patterns that are paths along one dimension, matched on words of bits.

Most mined patterns are of this kind: events linked one after the other, each with facts about its
values. Under Object Identity the variables for values are few and their domains small, so their
values are enumerated once for all sequences; what remains is shifting and anding words. Whatever
does not fit (other shapes, large domains, branching sequences) is left to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Ints, Longs
from relynx.data.sequences import Facts
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Struct, Var, constant_key
from relynx.mining.matching._backtracking_kernels import LINE
from relynx.mining.matching._line_kernels import Paths, Places, cover_paths, expand_all, fill_rows
from relynx.mining.matching.index import Index
from relynx.mining.matching.plan import is_number_of_steps
from relynx.mining.workers import in_order

MOST_VALUES = 5  # value arguments of a fact
MOST_ASSIGNMENTS = 1024
DENSE = 1 << 22
ROW_BYTES = 1 << 28
LEAST_SHARED = 1 << 10  # words that a thread takes at a time at least
WORD = 64  # bits
IS_EVENT = 0  # the number of a fact that holds for every event


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that holds values: their digits, and where its digit table starts."""

    digit: dict[object, int]
    values: frozenset[int]
    domain: int  # arguments of different domains have no value in common
    table: int
    stride: int
    free: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate with one event argument and values elsewhere; its facts are numbers."""

    key: Key
    event: int
    arguments: tuple[Argument | None, ...]  # None for the event
    start: int
    size: int


class LineMatcher:
    """Matches paths along one dimension against the sequences that are lines in it."""

    def __init__(self, index: Index, dimension: int) -> None:
        self.index = index
        fits = index.dimensions[dimension].shape == LINE
        self.others = np.flatnonzero(~fits)
        # Each has as many words as its events need, and one at least; those with few come first,
        # for the kernels take sequences of as many words faster.
        n_words = np.maximum(-(-np.diff(index.node_off) // WORD), 1)
        self.sequences = np.flatnonzero(fits)
        self.sequences = self.sequences[np.argsort(n_words[self.sequences], kind="stable")]
        self.words = np.concatenate([[0], np.cumsum(n_words[self.sequences])])
        self.column = np.full(index.n_sequences, -1)
        self.column[self.sequences] = np.arange(len(self.sequences))
        self.prefix = index.dimension_names[dimension]
        self.relations: dict[Key, Relation] = {}
        self._read_relations()

    @classmethod
    def each(cls, facts: Facts) -> Iterator[LineMatcher]:
        """One for each dimension along which some sequence is a line of events."""
        index, cache = Index.of(facts), facts.cache.setdefault("paths", {})
        for d, dimension in enumerate(index.dimensions):
            if d not in cache and (dimension.shape == LINE).any():
                cache[d] = cls(index, d)
            if d in cache and len(cache[d].sequences):
                yield cache[d]

    def _read_relations(self) -> None:
        index = self.index
        chosen: list[tuple[Key, int, dict[int, Ints]]] = []
        for key in index.facts.tables:
            events = [arg for arg in range(key[1]) if (key, arg) in index.event_arguments]
            if len(events) != 1 or key[1] - 1 > MOST_VALUES or key[0].startswith("next_"):
                continue
            relation = index.relation(key)
            values = {
                arg: relation.values(arg) - np.int32(index.n_nodes)
                for arg in range(key[1])
                if arg != events[0]
            }
            if all(v[0] >= 0 for v in values.values() if len(v)) and (
                prod(len(v) + 1 for v in values.values()) < 1 << 60
            ):
                chosen.append((key, events[0], values))
        every = [v for _, _, values in chosen for v in values.values()]
        # Values are numbered over all relations; `domain` tells which arguments can share some.
        self.codes = tb.distinct(np.concatenate(every)) if every else np.empty(0, np.int32)
        parent = _domains(every, len(self.codes), self.codes)
        constants = index.facts.vocabulary.constants
        keys = [constant_key(constants[code]) for code in self.codes.tolist()]
        tables: list[Longs] = []
        start = IS_EVENT + 1
        for key, event, values in chosen:
            stride = 1
            arguments: list[Argument | None] = [None] * key[1]
            for arg, codes in values.items():
                ids = np.searchsorted(self.codes, codes)
                table = np.full(len(self.codes), -1)
                table[ids] = np.arange(len(ids))
                arguments[arg] = Argument(
                    {keys[i]: digit for digit, i in enumerate(ids.tolist())},
                    frozenset(ids.tolist()),
                    int(parent[ids[0]]) if len(ids) else -1,
                    len(tables) * len(self.codes),
                    stride,
                    len(ids),
                )
                tables.append(table)
                stride *= len(ids) + 1
            self.relations[key] = Relation(key, event, tuple(arguments), start, stride)
            start += stride
            if start > 1 << 60:
                break
        self.digits = np.concatenate(tables) if tables else np.empty(0, np.int64)
        self.value_of = {key: i for i, key in enumerate(keys)}

    def cover(
        self,
        patterns: list[tuple[Atom, ...]],
        object_identity: bool,
        rows: Longs,
        out: Bools,
        n_threads: int = 1,
    ) -> Bools:
        """Fill the rows of `out` for those of the patterns that are paths; which these are. Only
        the columns of `sequences` are filled."""
        collector = _Collector(self, object_identity)
        done = np.array([collector.add(atoms) for atoms in patterns], bool)
        taken = np.flatnonzero(done)
        if len(taken):
            kept = self._run(collector.paths(), rows[taken], out, n_threads)
            done[:] = False
            done[taken[kept]] = True
        return done

    def _run(self, paths: Paths, taken: Longs, out: Bools, n_threads: int) -> Longs:
        counts = np.empty(len(paths.fact_off) - 1, np.int64)
        assigned = expand_all(paths, MOST_ASSIGNMENTS, counts)
        kept = np.flatnonzero(counts > -2)
        off = np.concatenate([[0], np.cumsum(np.maximum(counts, 0) * np.diff(paths.fact_off))])
        wanted, where = np.unique(np.concatenate([paths.relaxed, assigned]), return_inverse=True)
        relaxed_row, assigned_row = where[: len(paths.relaxed)], where[len(paths.relaxed) :]
        # The patterns in an order that brings equal beginnings together.
        pairs, offs = np.stack([paths.moves, relaxed_row], axis=1).tolist(), paths.fact_off.tolist()
        order = np.array(
            sorted(kept.tolist(), key=lambda p: pairs[offs[p] : offs[p + 1]]), np.int64
        )
        n_words = int(self.words[-1])
        most = max(64, ROW_BYTES // (8 * len(wanted)))
        if n_threads > 1:
            most = min(most, max(LEAST_SHARED, -(-n_words // (4 * n_threads))))

        def fill(piece: tuple[int, int]) -> None:
            begin, end = piece
            rows = self._rows(wanted, begin, end)
            places = Places(taken, self.sequences[begin:end], self.words[begin : end + 1])
            cover_paths(order, paths, relaxed_row, counts, off, assigned_row, rows, places, out)

        for _ in in_order(fill, self._pieces(most), n=n_threads):
            pass
        return kept

    def _pieces(self, most: int) -> list[tuple[int, int]]:
        """Ranges of the sequences with at most so many words, or one sequence."""
        cuts = [0]
        while cuts[-1] < len(self.sequences):
            end = np.searchsorted(self.words, self.words[cuts[-1]] + most, side="right") - 1
            cuts.append(max(int(end), cuts[-1] + 1))
        return [*pairwise(cuts)]

    def _rows(self, wanted: Longs, begin: int, end: int) -> NDArray[np.uint64]:
        """The events for which each wanted fact holds, in the words of some sequences."""
        words = self.words[begin : end + 1] - self.words[begin]
        rows = np.zeros((len(wanted), int(words[-1])), np.uint64)
        index = self.index
        if len(wanted) and wanted[0] == IS_EVENT:
            sizes = np.diff(index.node_off)[self.sequences[begin:end]]
            rows[0] = ~np.uint64(0)
            rest = (sizes - 1) % WORD + 1  # events in the last word
            full = ~np.uint64(0) >> np.minimum(WORD - rest, WORD - 1).astype(np.uint64)
            rows[0, words[1:] - 1] = np.where(sizes > 0, full, np.uint64(0))
        for relation in self.relations.values():
            lo, hi = np.searchsorted(wanted, [relation.start, relation.start + relation.size])
            if lo == hi:
                continue
            data = index.relation(relation.key)
            column = self.column[data.sequence]
            here = np.flatnonzero((column >= begin) & (column < end))
            at = data.cells[relation.event, here] - index.node_off[data.sequence[here]]
            places = np.stack([words[column[here] - begin] + at // WORD, at % WORD])
            arguments = [(i, a) for i, a in enumerate(relation.arguments) if a is not None]
            digits = np.empty((len(arguments), len(here)), np.int64)
            for j, (i, argument) in enumerate(arguments):
                ids = np.searchsorted(self.codes, data.cells[i, here] - index.n_nodes)
                digits[j] = self.digits[argument.table + ids]
            row_of = np.empty(0, np.int32)
            if relation.size <= DENSE:
                row_of = np.full(relation.size, -1, np.int32)
                row_of[wanted[lo:hi] - relation.start] = np.arange(lo, hi)
            radix = [[a.stride for _, a in arguments], [a.free for _, a in arguments]]
            strides, free = np.array(radix, np.int64)
            fill_rows(digits, strides, free, relation.start, places, wanted, row_of, rows)
        return rows


def _domains(parts: list[Ints], n: int, codes: Ints) -> Longs:
    """A number for each value, equal for values that some chain of arguments connects."""
    parent = np.arange(n)
    changed = True
    while changed:
        before = parent.copy()
        for part in parts:
            ids = np.searchsorted(codes, part)
            if len(ids):
                parent[ids] = parent[ids].min()
        changed = bool((parent != before).any())
    return parent


class _Collector:
    """Reads patterns one by one into the flat arrays of `Paths`."""

    def __init__(self, owner: LineMatcher, object_identity: bool) -> None:
        self.owner = owner
        self.injective = object_identity
        self.links = {(f"next_{owner.prefix}", 2): 1, (f"follow_{owner.prefix}", 2): 0}
        self.exactly = (f"followat_{owner.prefix}", 3)
        self.fact_off = [0]
        self.moves: list[int] = []
        self.base: list[int] = []
        self.relaxed: list[int] = []
        self.variable_off = [0]
        self.choice_off: list[tuple[int, int]] = []
        self.choices: list[int] = []
        self.known_ranges: dict[frozenset[int], tuple[int, int]] = {}
        self.use_off = [0]
        self.uses: list[tuple[int, int, int]] = []
        self.taboo_off = [0]
        self.taboo: list[int] = []

    def paths(self) -> Paths:
        shapes = {"choice_off": (-1, 2), "uses": (-1, 3)}
        columns = {
            name: np.array(getattr(self, name), np.int64).reshape(shapes.get(name, -1))
            for name in Paths._fields
            if name not in ("digits", "injective")
        }
        return Paths(**columns, digits=self.owner.digits, injective=self.injective)

    def add(self, atoms: tuple[Atom, ...]) -> bool:
        """Take a pattern if it is a path of known predicates and constants."""
        relations = self.owner.relations
        following: dict[str, tuple[str, int]] = {}
        reached: set[str] = set()
        facts: dict[str, list[tuple[Relation, Atom]]] = {}
        for atom in atoms:
            relation = relations.get(atom.key)
            if relation is not None:
                event = atom.args[relation.event]
                if type(event) is not Var or event.name == "_":
                    return False
                facts.setdefault(event.name, []).append((relation, atom))
                continue
            link = self._link(atom)
            if link is None:
                return False
            x, n, y = link
            if x in following or y in reached or x == y:
                return False
            following[x] = y, n
            reached.add(y)
            facts.setdefault(x, [])
            facts.setdefault(y, [])
        starts = [event for event in facts if event not in reached]
        if len(starts) != 1 or len(following) != len(facts) - 1:
            return False
        event, n, way = starts[0], -1, []
        while True:
            way.append((n, facts[event]))
            if event not in following:
                break
            event, n = following[event]
        return len(way) == len(facts) and self._add_way(way, set(facts))

    def _link(self, atom: Atom) -> tuple[str, int, str] | None:
        n = self.links.get(atom.key)
        ends = atom.args
        if n is None:
            if atom.key != self.exactly or not is_number_of_steps(ends[0]):
                return None
            n, ends = cast(int, ends[0]), ends[1:]
        x, y = ends
        if type(x) is not Var or type(y) is not Var or x.name == "_" or y.name == "_":
            return None
        return x.name, n, y.name

    def _add_way(
        self, way: list[tuple[int, list[tuple[Relation, Atom]]]], events: set[str]
    ) -> bool:
        """Add the events of a path in their order. Nothing is changed when it returns False."""
        numbers: list[int] = []
        variables: dict[str, list[tuple[int, Argument]]] = {}
        constants: dict[int, int] = {}  # value -> domain
        for _, facts in way:
            if not facts:
                numbers.append(IS_EVENT)
            for relation, atom in facts:
                number = relation.start
                for argument, term in zip(relation.arguments, atom.args, strict=True):
                    if argument is None:
                        continue
                    if type(term) is Var:
                        number += argument.free * argument.stride
                        if term.name in events:
                            return False
                        if term.name != "_":
                            variables.setdefault(term.name, []).append((len(numbers), argument))
                        continue
                    if isinstance(term, Struct | tuple | Var):
                        return False
                    key = constant_key(term)
                    digit = argument.digit.get(key)
                    if digit is None:
                        return False  # perhaps an event, or nothing at all: the search will tell
                    number += digit * argument.stride
                    constants[self.owner.value_of[key]] = argument.domain
                numbers.append(number)
        base = list(numbers)
        bound = self._bound(variables, constants)
        for name in bound:
            values = frozenset.intersection(*(a.values for _, a in variables[name]))
            self.choice_off.append(self._range(values))
            for fact, argument in variables[name]:
                base[fact] -= argument.free * argument.stride
                self.uses.append((fact, argument.table, argument.stride))
            self.use_off.append(len(self.uses))
        if bound and self.injective:
            self.taboo += constants
        self.taboo_off.append(len(self.taboo))
        self.variable_off.append(len(self.choice_off))
        self.base += base
        self.relaxed += numbers
        for n, facts in way:
            self.moves.append(n)
            self.moves += [-1] * (len(facts) - 1)
        self.fact_off.append(len(self.moves))
        return True

    def _range(self, values: frozenset[int]) -> tuple[int, int]:
        """The range of the choices that holds these values."""
        if values not in self.known_ranges:
            begin = len(self.choices)
            self.choices += sorted(values)
            self.known_ranges[values] = begin, len(self.choices)
        return self.known_ranges[values]

    def _bound(
        self, variables: dict[str, list[tuple[int, Argument]]], constants: dict[int, int]
    ) -> list[str]:
        """The variables whose values matter: shared ones, and those that must differ."""
        if not self.injective:
            return [name for name, uses in variables.items() if len(uses) > 1]
        domains = [uses[0][1].domain for uses in variables.values()]
        taken = set(constants.values())
        return [
            name
            for (name, uses), domain in zip(variables.items(), domains, strict=True)
            if len(uses) > 1 or domain in taken or domains.count(domain) > 1
        ]
