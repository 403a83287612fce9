"""Pattern growth over lists of matches: the general engine of the miner.

Level by level, one pass over the matches of a pattern counts all its refinements that occur. The
matches themselves are made again when a level is worked on, from those of the parent, which is
kept while its children are: memory holds the matches of one pattern and its ancestors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relynx.errors import BiasError
from relynx.mining import _growth_kernels as gk
from relynx.mining._kernels import GRAPH
from relynx.mining.engine import (
    STATS,
    UNUSED,
    Conditions,
    Counted,
    Engine,
    Level,
    Longs,
    steps_left,
)
from relynx.mining.language import MOST_CODES, Compiled
from relynx.mining.trie import ARGUMENTS

# What is looked at before the search asks whether to go on: matches, and events from them.
ROWS_AT_ONCE = 1 << 14
EVENTS_AT_ONCE = 1 << 17

Ints = NDArray[np.int32]
Links = list[tuple[int, int, int]]
Closings = list[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Node:
    """A pattern that can be refined."""

    row: int
    length: int
    atoms: Longs  # a predicate and its arguments a row
    types: Longs  # of the variables
    parent: Node | None
    step: Longs

    @property
    def makes(self) -> int:
        return self.length  # closing a pattern makes another of the same length


@dataclass(slots=True)
class Buffers:
    """Counters, and the matches of a pattern and its ancestors."""

    counts: gk.Counts
    matches: list[tuple[Node, tuple[Ints, Ints]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Refinements:
    """What a pattern becomes by atoms of one predicate, after one link or none, or by a link."""

    length: int
    steps: Longs
    supports: Ints
    atoms: Longs
    forms: list[bytes | None]  # None where an atom comes twice


class Growth(Engine[Node, Buffers, list[Refinements]]):
    """Searches every language."""

    def __init__(
        self,
        compiled: Compiled,
        labels: NDArray[np.int64],
        n_classes: int,
        conditions: Conditions,
        *,
        object_identity: bool,
    ) -> None:
        super().__init__(compiled, labels, n_classes, conditions, object_identity=object_identity)
        self.data = compiled.data()
        self.first = compiled.language(first=True, injective=object_identity)
        self.later = compiled.language(first=False, injective=object_identity)
        shapes = [compiled.index.dimensions[d].shape for d in compiled.dimensions]
        self.acyclic = [not bool((shape == GRAPH).any()) for shape in shapes]
        longest = int(np.diff(compiled.index.node_off).max(initial=1))
        self.rows_at_once = max(min(ROWS_AT_ONCE, EVENTS_AT_ONCE // max(longest, 1)), 1)
        nothing = np.empty(0, np.int64)
        self.root = Node(-1, 0, np.empty((0, self.width), np.int64), nothing, None, nothing)

    def _buffers(self) -> Buffers:
        return Buffers(self._table(1 << 12))

    # Refinements

    def _begin(self) -> list[Node]:
        buffers = self._buffers()
        bases = np.concatenate([[0], np.cumsum(_checked(self.compiled.sizes(0)))])
        families = bases[None, :-1]
        while not gk.count_first(self.data, self.first, self.labels, families, buffers.counts):
            self._enlarge(buffers)
        counted = self._collect(buffers.counts, None)
        self._idle.append(buffers)
        _, keys, supports = counted
        parts = []
        relation = np.searchsorted(bases, keys, side="right") - 1
        for r in np.unique(relation).tolist():
            here = relation == r
            steps, n_variables = self._steps(r, keys[here] - bases[r], self.root, None)
            parts.append(self._refinements(self.root, 1, steps, n_variables, supports[here]))
        return self._keep(self.root, counted, parts)

    def _count(self, unit: Node, buffers: Buffers) -> Counted:
        """Tallies of refinements and of closings; the keys of those that are frequent, in order,
        and their supports. Nothing where there is nothing to add."""
        links, closings = self._options(unit)
        last = unit.length == self.conditions.max_length
        if last and not closings:
            return ()
        matches, sequence = self._matches(unit, buffers)
        bases, n_relations = self._bases(unit, links, closings)
        families = np.zeros((len(links) + 2, max(n_relations, 1)), np.int64)
        families[: len(links) + 1, :n_relations] = bases[: n_relations * (len(links) + 1)].reshape(
            -1, max(n_relations, 1)
        )
        families[len(links) + 1, 0] = bases[-2]
        language = self.later
        if last:
            language = language._replace(anchor_off=np.zeros_like(language.anchor_off))
        # As in the kernel: where no value is at stake, an event is looked at once a sequence.
        alone = language.one_event and bool((unit.types == self.compiled.event_type).all())
        stretches = _stretches(len(sequence), ROWS_AT_ONCE if alone else self.rows_at_once)
        arguments = (
            self.labels,
            np.append(unit.types, self.compiled.event_type),
            self._taboo(unit),
            np.array(links, np.int64).reshape(-1, 3),
            np.array(closings, np.int64).reshape(-1, 4),
            families,
        )
        i = 0
        while i < len(stretches):
            self._pulse()
            begin, end = stretches[i]
            some = np.ascontiguousarray(matches[:, begin:end]), sequence[begin:end]
            if gk.count_refinements(self.data, language, *some, *arguments, buffers.counts):
                i += 1
            else:
                self._enlarge(buffers)
                i = 0
        return self._collect(buffers.counts, int(bases[-2]))

    def _bases(self, node: Node, links: Links, closings: Closings) -> tuple[Longs, int]:
        """Where the keys of each family begin: atoms of each predicate without a link, then with
        each link, then closings; and the number of predicates."""
        n_old = len(node.types)
        plain, linked = self.compiled.sizes(n_old), self.compiled.sizes(n_old + 1)
        if node.length == self.conditions.max_length:
            plain = [1] * len(plain)
        sizes = _checked([*plain, *linked * len(links), len(closings) + 1])
        return np.concatenate([[0], np.cumsum(sizes)]), len(plain)

    def _decode(self, unit: Node, counted: Counted) -> list[Refinements]:
        if not counted or not len(counted[1]):
            return []
        _, keys, supports = counted
        links, closings = self._options(unit)
        bases, n_relations = self._bases(unit, links, closings)
        parts = []
        family = np.searchsorted(bases, keys, side="right") - 1
        for f in np.unique(family).tolist():
            here = family == f
            codes = keys[here] - bases[f]
            length = unit.length + 1
            if f == len(bases) - 2:
                steps = np.zeros((len(codes), ARGUMENTS + self.width - 1), np.int64)
                steps[:, :4] = np.array(closings, np.int64)[codes]
                steps[:, 4] = -1
                n_variables = np.full(len(codes), len(unit.types), np.int64)
                length = unit.length
            else:
                link, relation = divmod(f, n_relations)
                chosen = None if link == 0 else (*links[link - 1], len(unit.types))
                steps, n_variables = self._steps(relation, codes, unit, chosen)
            parts.append(self._refinements(unit, length, steps, n_variables, supports[here]))
        return parts

    def _refinements(
        self, node: Node, length: int, steps: Longs, n_variables: Longs, supports: Ints
    ) -> Refinements:
        atoms = self._atoms(node, steps)
        out, distinct = self._room(atoms.shape, np.int64), np.zeros(len(atoms), bool)
        gk.canonical_all(atoms, n_variables, out, distinct)
        forms = [
            form.tobytes() if alone else None
            for form, alone in zip(out, distinct.tolist(), strict=True)
        ]
        return Refinements(length, steps, supports, atoms, forms)

    def _options(self, node: Node) -> tuple[Links, Closings]:
        """The links to a new event and between old ones that a pattern may get."""
        n_relations = len(self.compiled.relations)
        events = np.flatnonzero(node.types == self.compiled.event_type).tolist()
        links: Links = []
        closings: Closings = []
        for i, d in enumerate(self.compiled.dimensions):
            predicates = node.atoms[:, 0] - n_relations
            mine = node.atoms[(predicates >= 0) & (predicates % len(self.acyclic) == i)]
            after = dict(zip(mine[:, 1].tolist(), mine[:, 2].tolist(), strict=True))
            leaves = [x for x in events if x not in after]
            enters = [y for y in events if y not in after.values()]
            if node.length < self.conditions.max_length:
                links += [(d, n, x) for x in leaves for n in self.conditions.steps]
            for y in enters:
                tail = y
                while tail in after:
                    tail = after[tail]
                for x in leaves:
                    if self.acyclic[i] and x == tail:
                        continue  # would close a circle
                    closings += [(d, n, x, y) for n in self.conditions.steps]
        return links, closings

    def _predicate(self, d: int, n: int) -> int:
        """A number for a link, after those of the relations."""
        i = self.compiled.dimensions.index(d)
        return len(self.compiled.relations) + n * len(self.acyclic) + i

    def _steps(
        self,
        relation: int,
        codes: Longs,
        node: Node,
        link: tuple[int, int, int, int] | None,
    ) -> tuple[Longs, Longs]:
        """Steps of the trie from codes of atoms, and the number of variables after each."""
        types = self.compiled.types[relation]
        k = len(types)
        n_old = len(node.types) + (link is not None)
        steps = np.zeros((len(codes), ARGUMENTS + self.width - 1), np.int64)
        steps[:, 0] = -1
        if link is not None:
            steps[:, :4] = link
        steps[:, 4] = relation
        digits = np.zeros((len(codes), k), np.int64)
        rest = codes
        for j in range(k - 1, -1, -1):
            rest, digits[:, j] = np.divmod(rest, n_old + 1 + k + len(self._admitted(types[j])))
        new = np.zeros(len(codes), np.int64)
        for j in range(k):
            digit = digits[:, j]
            column = digit.copy()
            column[digit == n_old] = n_old + new[digit == n_old]
            new += digit == n_old
            for q in range(j):
                again = digit == n_old + 1 + q
                column[again] = steps[again, ARGUMENTS + q]
            constant = digit >= n_old + 1 + k
            column[constant] = ~self._admitted(types[j])[digit[constant] - n_old - 1 - k]
            steps[:, ARGUMENTS + j] = column
        return steps, n_old + new

    def _admitted(self, type_: int) -> Longs:
        return self.compiled.constants[type_]

    # What is kept

    def _collect(self, counts: gk.Counts, closings: int | None) -> Counted:
        """What `_count` gives, of all that was counted since the last time.

        Keys from `closings` on are of patterns that are shorter by one.
        """
        slots = counts.used[: counts.n_used[0]]
        keys, supports = counts.keys[slots], counts.supports[slots]
        counts.keys[slots] = -1
        counts.n_used[0] = 0
        frequency = supports.sum(axis=1)
        share = (supports / np.maximum(self.class_sizes, 1)).max(axis=1, initial=0.0)
        rare = frequency < self.conditions.min_frequency
        enough = (supports >= self.conditions.least).any(axis=1)
        weak = ~rare & ~enough
        longer = np.ones(len(keys), bool) if closings is None else keys < closings
        stats = np.zeros((2, STATS))
        for part, row in zip((longer, ~longer), stats, strict=True):
            near = frequency[rare & enough & part]
            shares = share[weak & part]
            most, largest = near.max(initial=0), shares.max(initial=0.0)
            row[:] = (
                part.sum(),
                (rare & part).sum(),
                (weak & part).sum(),
                most,
                (near == most).sum(),
                largest,
                (shares == largest).sum(),
            )
        good = np.flatnonzero(~rare & ~weak)
        good = good[np.argsort(keys[good], kind="stable")]
        return stats, keys[good], supports[good]

    def _keep(self, unit: Node, counted: Counted, decoded: list[Refinements]) -> list[Node]:
        if not counted:
            return []
        for length, stats in zip((unit.length + 1, unit.length), counted[0], strict=True):
            if stats[0]:
                self.tallies.setdefault(length, Level()).add(stats)
        return [node for part in decoded for node in self._kept(unit, part)]

    def _kept(self, node: Node, part: Refinements) -> list[Node]:
        """Record those refinements that are new and not forbidden; those that can be refined."""
        tally = self.tallies.setdefault(part.length, Level())
        kept = []
        for i, form in enumerate(part.forms):
            if form is None or form in self._seen:
                continue
            self._seen.add(form)
            if self._is_forbidden(part.atoms[i], first=node.row < 0):
                tally.forbidden += 1
                continue
            kept.append(i)
        tally.kept += len(kept)
        start = self.found.n_rows
        self.found.add(node.row, part.steps[kept], part.supports[kept])
        if part.length == self.conditions.max_length and not self.compiled.dimensions:
            return []
        parent = node if node.row >= 0 else None
        return [
            Node(
                start + place,
                part.length,
                part.atoms[i].copy(),
                self._types(node, part.steps[i]),
                parent,
                part.steps[i].copy(),
            )
            for place, i in enumerate(kept)
        ]

    def _types(self, node: Node, step: Longs) -> Longs:
        """The types of the variables after a step."""
        types = node.types.tolist()
        if step[0] >= 0 and step[4] >= 0:
            types.append(self.compiled.event_type)
        if step[4] >= 0:
            of_arguments = self.compiled.types[int(step[4])]
            for argument, type_ in zip(step[ARGUMENTS:].tolist(), of_arguments, strict=False):
                if argument == len(types):
                    types.append(type_)
        return np.array(types, np.int64)

    def _atoms(self, node: Node, steps: Longs) -> Longs:
        """The atoms of each refinement, as rows of numbers."""
        links, facts = steps[0, 0] >= 0, steps[0, 4] >= 0
        n_old = len(node.atoms)
        atoms = self._room((len(steps), n_old + links + facts, self.width), np.int64, UNUSED)
        atoms[:, :n_old] = node.atoms
        if links:
            atoms[:, n_old, 0] = [self._predicate(d, n) for d, n in steps[:, :2].tolist()]
            atoms[:, n_old, 1:3] = steps[:, 2:4]
        if facts:
            k = len(self.compiled.types[int(steps[0, 4])])
            atoms[:, -1, 0] = steps[:, 4]
            atoms[:, -1, 1 : 1 + k] = steps[:, ARGUMENTS : ARGUMENTS + k]
        return atoms

    # Matches

    def _matches(self, node: Node, buffers: Buffers) -> tuple[Ints, Ints]:
        """The matches of a pattern; those of other patterns than its ancestors are let go."""
        at_hand = buffers.matches
        for step in steps_left(node, at_hand):
            before = at_hand[-1][1] if at_hand else None
            at_hand.append((step, self._extended(step, before)))
        return at_hand[-1][1]

    def _extended(self, node: Node, before: tuple[Ints, Ints] | None) -> tuple[Ints, Ints]:
        """The matches of a pattern from those of its parent."""
        if node.parent is None or before is None:
            matches = np.empty((0, 0), np.int32)
            sequence = np.arange(len(self.labels), dtype=np.int32)
            language, n_old, taboo = self.first, 0, np.empty(0, np.int64)
        else:
            matches, sequence = before
            language, n_old = self.later, len(node.parent.types)
            taboo = self._taboo(node.parent)
        link = np.array([-1, 0, 0, 0])
        n_known = n_old
        if node.step[0] >= 0:
            closing = node.step[3] < n_old
            link = np.array([*node.step[:3], node.step[3] if closing else -1])
            n_known += not closing
        relation = int(node.step[4])
        k = len(self.compiled.types[relation]) if relation >= 0 else 0
        digits, keys = np.zeros(k, np.int64), np.full(k, -1, np.int64)
        first_at: dict[int, int] = {}
        for j, arg in enumerate(node.step[ARGUMENTS : ARGUMENTS + k].tolist()):
            if arg < 0:
                digits[j] = n_known + 1 + k
                keys[j] = self.compiled.index.n_nodes + ~arg
            elif arg < n_known:
                digits[j] = arg
            else:
                digits[j] = n_known + 1 + first_at[arg] if arg in first_at else n_known
                first_at.setdefault(arg, j)
        found = []
        for begin, end in _stretches(len(sequence), self.rows_at_once):
            self._pulse()
            some = np.ascontiguousarray(matches[:, begin:end]), sequence[begin:end]
            size = max(2 * (end - begin), 64)
            while True:
                out = self._room((len(node.types), size), np.int32)
                out_sequence = self._room((size,), np.int32)
                total = gk.list_matches(
                    self.data,
                    language,
                    *some,
                    taboo,
                    link,
                    relation,
                    digits,
                    keys,
                    out,
                    out_sequence,
                )
                if total <= size:
                    break
                size = total
            found.append((out[:, :total].copy(), out_sequence[:total].copy()))
        if len(found) == 1:
            return found[0]
        self.budget.take(sum(4 * (len(one) + 1) * one.shape[1] for one, _ in found))
        return (
            np.concatenate([one for one, _ in found], axis=1),
            np.concatenate([one for _, one in found]),
        )

    def _taboo(self, node: Node) -> Longs:
        """The keys of the constants of a pattern."""
        args = node.atoms[:, 1:]
        codes = ~args[(args < 0) & (args > UNUSED)]
        return np.unique(codes) + self.compiled.index.n_nodes

    def _enlarge(self, buffers: Buffers) -> None:
        buffers.counts = self._table(4 * len(buffers.counts.keys))

    def _table(self, size: int) -> gk.Counts:
        return gk.Counts(
            self._room((size,), np.int64, -1),
            self._room((size,), np.int32, -1),
            self._room((size, self.n_classes), np.int32),
            self._room((size,), np.int64),
            np.zeros(1, np.int64),
        )


def _stretches(n_rows: int, at_once: int) -> list[tuple[int, int]]:
    """Where to cut matches so that few are looked at before the search asks whether to go on.

    A sequence may be cut: its counters know that it was counted.
    """
    cuts = [*range(0, n_rows, at_once), n_rows]
    return [*pairwise(cuts)] or [(0, 0)]


def _checked(sizes: list[int]) -> Longs:
    if sum(sizes) >= MOST_CODES:
        raise BiasError(
            "the bias admits too many constants for patterns of this length: "
            "name those that matter with values(type,[...]), or make the others variables"
        )
    return np.array(sizes, np.int64)
