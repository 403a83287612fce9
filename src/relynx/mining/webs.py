"""Pattern growth along several dimensions, in sequences of at most 64 events.

It takes facts as `alphabet` says, and dimensions that are paths. An event enters a pattern together
with all its links to those that are there, and with a fact; more facts may be added to any event.
The same pattern comes up once for each order of its events: variants are told by canonical form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relynx.mining import _alphabet_kernels as ak
from relynx.mining import _web_kernels as wk
from relynx.mining import _web_match_kernels as wm
from relynx.mining._growth_kernels import canonical_all
from relynx.mining._kernels import GRAPH
from relynx.mining.alphabet import alphabet_of, is_simple, most_variables, n_codes, scratch
from relynx.mining.budget import OverBudget
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
from relynx.mining.language import Compiled
from relynx.mining.trie import ARGUMENTS, DIMENSION, FROM, N_STEPS, RELATION, TO

MOST_COUNTERS = 1 << 26  # that are worth holding
MOST_LANES = 1 << 20  # ways to link one new event
LOOKS_AT_ONCE = 1 << 23  # at matches, before the search asks whether to go on


def fits(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Can this engine search this language in these data?"""
    if not compiled.dimensions or not is_simple(
        compiled, conditions, object_identity=object_identity
    ):
        return False
    shapes = [compiled.index.dimensions[d].shape for d in compiled.dimensions]
    if any(bool((shape == GRAPH).any()) for shape in shapes):
        return False
    return has_room(compiled, conditions)


def has_room(compiled: Compiled, conditions: Conditions) -> bool:
    """Are there few enough counters to hold?"""
    size = n_codes(compiled, most_variables(compiled, conditions))
    n_classes = len(conditions.least)
    return size * n_classes * len(compiled.dimensions) * len(conditions.steps) <= MOST_COUNTERS


@dataclass(slots=True)
class Node:
    """A pattern that can be refined."""

    row: int
    length: int
    atoms: Longs  # a predicate and its arguments a row
    events: Longs  # their variables, in the order of their coming
    parent: Node | None
    lane: Longs  # by which it came from its parent
    links: Longs  # that the lane speaks of
    step: Longs
    context: ak.Context | None = None  # what it is made of, once that was asked for

    @property
    def makes(self) -> int:
        return self.length + 1


@dataclass(slots=True)
class Buffers:
    """Counters, and the matches of a pattern and its ancestors."""

    counts: wk.Counts
    scratch: ak.Scratch
    rows: list[tuple[Node, wm.Rows]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Refinements:
    """What a pattern becomes, in order of lanes and codes."""

    links: Longs  # that a new event may have
    steps: Longs
    recorded: NDArray[np.int32]  # the steps as the trie has them
    atoms: Longs
    n_used: Longs  # rows of the atoms
    forms: list[bytes]
    distinct: NDArray[np.bool_]  # has no atom twice
    depth: Longs  # number of links
    extends: Longs  # the refinement without the last link


class Webs(Engine[Node, Buffers, "Refinements | None"]):
    """Searches along several dimensions."""

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
        self.alphabet, self.constants, self.crowded = alphabet_of(compiled, labels, object_identity)
        self.web = self._web(labels, object_identity)
        self.meaning = self._meaning()
        self._links: dict[bytes, Longs] = {}
        self.n_codes = n_codes(compiled, most_variables(compiled, conditions))
        most = MOST_COUNTERS // (self.n_codes * n_classes)
        self.lanes_at_once = max(1, min(wk.MOST_LANES, most))

    def _buffers(self) -> Buffers:
        size = self.n_codes
        counts = wk.Counts(
            self._room((size,), np.int32, -1),
            self._room((size,), np.uint64),
            self._room((size,), np.uint64),
            self._room((size, self.lanes_at_once, self.n_classes), np.int32),
            self._room((size,), np.int64),
        )
        return Buffers(counts, scratch(self.alphabet))

    def _begin(self) -> list[Node]:
        nothing, no_atoms = np.empty(0, np.int64), np.empty((0, self.width), np.int64)
        no_links = np.empty((0, 4), np.int64)
        return [Node(-1, 0, no_atoms, nothing, None, nothing, no_links, nothing)]

    # Refinements

    def _count(self, unit: Node, buffers: Buffers) -> Counted:
        """Tallies, lanes, the lane and the code of each refinement, and its supports."""
        rows, now = self._rows_of(unit, buffers), self._now(unit)
        order, starts = wk.groups(rows)
        links, lanes = self._lanes(unit, rows)
        cuts = _cuts(rows, order, starts, LOOKS_AT_ONCE // self.lanes_at_once)
        blocks, supports = [np.empty((0, 2), np.int64)], [np.empty((0, self.n_classes), np.int32)]
        stats = np.zeros(STATS)
        sizes = np.maximum(self.class_sizes, 1)
        counts = buffers.counts
        for begin in range(0, len(lanes), self.lanes_at_once):
            some = lanes[begin : begin + self.lanes_at_once]
            touched = 0
            for start, end in pairwise(cuts):
                self._pulse()
                touched = wk.count_lanes(
                    self.alphabet,
                    self.web,
                    rows,
                    order,
                    starts[start : end + 1],
                    now,
                    links,
                    some,
                    counts,
                    buffers.scratch,
                    touched,
                )
            codes = np.sort(counts.touched[:touched])
            counts.last[codes] = -1
            found, counted = wk.frequent(self.web, counts, codes, len(some), sizes, stats)
            found[:, 0] += begin
            blocks.append(found)
            supports.append(counted)
        found, counted = np.concatenate(blocks), np.concatenate(supports)
        return stats, lanes.astype(np.int32), found.astype(np.int32), counted

    def _lanes(self, node: Node, rows: wm.Rows) -> tuple[Longs, Longs]:
        """The links that a new event may have, and the ways to refine a pattern."""
        links = self._possible_links(node)
        if node.row < 0:
            return links, np.array([[-1, 0]])
        depth_most = int(links[:, 2].max(initial=-1)) + 1
        n_places = int(np.bitwise_count(rows.word).sum(dtype=np.int64))
        self.budget.take(n_places * wk.lane_bytes(len(node.events), depth_most))
        search = wk.lane_search(self.web, rows, depth_most, n_places)
        lanes, n = np.full((64, max(depth_most, 1)), -1, np.int64), 0
        while search.at[1] >= 0:
            self._pulse()
            lanes, n = wk.find_lanes(self.web, search, links, lanes, MOST_LANES, LOOKS_AT_ONCE)
            if n < 0:
                raise OverBudget("too many ways to link events by the dimensions")
        width = max(lanes.shape[1], 2)
        about = [[-1, i] + [-1] * (width - 2) for i in range(len(node.events) * self.crowded)]
        table = np.full((n, width), -1, np.int64)
        table[:, : lanes.shape[1]] = lanes[:n]
        return links, np.concatenate([np.array(about, np.int64).reshape(-1, width), table])

    def _possible_links(self, node: Node) -> Longs:
        """(kind, event, slot, leads to the new event) of each link that the language allows."""
        n_relations, n_dimensions = len(self.compiled.relations), len(self.compiled.dimensions)
        predicates = node.atoms[:, 0] - n_relations
        old = node.atoms[predicates >= 0]
        key = np.append(old[:, :3].ravel(), node.events).tobytes()
        if key in self._links:
            return self._links[key]
        n_steps = len(self.conditions.steps)
        n_kinds = n_dimensions * n_steps
        dimension = (old[:, 0] - n_relations) % n_dimensions
        links = []
        for against in (0, 1):
            for d in range(n_dimensions):
                taken = set(old[dimension == d, 1 + against].tolist())
                links += [
                    (
                        against * n_kinds + d * n_steps + k,
                        i,
                        against * n_dimensions + d,
                        1 - against,
                    )
                    for k in range(n_steps)
                    for i, event in enumerate(node.events.tolist())
                    if event not in taken
                ]
        self._links[key] = np.array(links, np.int64).reshape(-1, 4)
        return self._links[key]

    def _decode(self, unit: Node, counted: Counted) -> Refinements | None:
        _, small_lanes, small_found, _ = counted
        n = len(small_found)
        if not n:
            return None
        lanes, found = small_lanes.astype(np.int64), small_found.astype(np.int64)
        links = self._possible_links(unit)
        n_atoms = len(unit.atoms) + lanes.shape[1] + 1
        steps = self._room((n, ARGUMENTS + self.width - 1), np.int64)
        atoms = self._room((n, n_atoms, self.width), np.int64, UNUSED)
        n_variables = np.zeros(n, np.int64)
        wk.write_refinements(
            self.alphabet,
            self._now(unit),
            unit.row < 0,
            unit.events,
            links,
            self.meaning,
            lanes,
            found,
            self.constants,
            unit.atoms,
            steps,
            atoms,
            n_variables,
        )
        forms, distinct = self._room(atoms.shape, np.int64), np.zeros(n, bool)
        canonical_all(atoms, n_variables, forms, distinct)
        n_used = (atoms[:, :, 0] != wk.PAD).sum(axis=1)
        depth = (lanes >= 0).sum(axis=1)
        depth[lanes[:, 0] < 0] = 1
        extends = _without_last_link(lanes, depth, found)
        depth = depth[found[:, 0]]
        further = np.flatnonzero(depth > 1)
        last = links[lanes[found[further, 0], depth[further] - 1]]
        return Refinements(
            links,
            steps,
            self._with_last_link(unit, last, steps, further).astype(np.int32),
            atoms,
            n_used,
            _as_bytes(forms, n_used),
            distinct,
            depth,
            extends,
        )

    def _with_last_link(self, node: Node, last: Longs, steps: Longs, here: Longs) -> Longs:
        """The steps, of which some (`here`) add only a link, the last of theirs."""
        steps = steps.copy()
        event_argument = ARGUMENTS + self.alphabet.event[steps[here, RELATION]]
        new, old = steps[here, event_argument], node.events[last[:, 1]]
        kind = self.meaning[last[:, 0] % len(self.meaning)]
        steps[here] = 0
        steps[here, DIMENSION], steps[here, N_STEPS] = kind[:, 1], kind[:, 2]
        steps[here, FROM] = np.where(last[:, 3], old, new)
        steps[here, TO] = np.where(last[:, 3], new, old)
        steps[here, RELATION] = -1
        return steps

    # What is kept

    def _keep(self, unit: Node, counted: Counted, decoded: Refinements | None) -> list[Node]:
        stats, lanes, found, supports = counted
        tally = self.tallies.setdefault(unit.makes, Level())
        tally.add(stats)
        if decoded is None:
            return []
        keep = self._new(decoded.forms) & decoded.distinct
        self._forbid(unit, decoded, keep)
        tally.kept += int(keep.sum())
        rows = self._record(unit, decoded, supports, keep)
        if unit.makes == self.conditions.max_length:
            return []
        return [
            self._node(unit, int(rows[i]), decoded, i, lanes[found[i, 0]].astype(np.int64))
            for i in np.flatnonzero(keep).tolist()
        ]

    def _node(self, parent: Node, row: int, decoded: Refinements, i: int, lane: Longs) -> Node:
        step = decoded.steps[i]
        atoms = decoded.atoms[i, : decoded.n_used[i]].copy()
        event = int(step[ARGUMENTS + self.alphabet.event[step[RELATION]]])
        events = parent.events
        if parent.row < 0 or lane[0] >= 0:
            events = np.append(events, event)
        known = parent if parent.row >= 0 else None
        return Node(row, parent.makes, atoms, events, known, lane, decoded.links, step.copy())

    def _new(self, forms: list[bytes]) -> NDArray[np.bool_]:
        """Which patterns have not been seen before."""
        seen = self._seen
        new = np.zeros(len(forms), bool)
        for i, form in enumerate(forms):
            if form not in seen:
                seen.add(form)
                new[i] = True
        return new

    def _forbid(self, node: Node, decoded: Refinements, keep: NDArray[np.bool_]) -> None:
        """Drop what is against the bias."""
        checks = self.conditions
        if not (checks.is_key or checks.admits or checks.forbids):
            return
        for i in np.flatnonzero(keep).tolist():
            if self._is_forbidden(decoded.atoms[i, : decoded.n_used[i]], first=node.row < 0):
                keep[i] = False
                self.tallies[node.makes].forbidden += 1

    def _record(
        self,
        node: Node,
        decoded: Refinements,
        supports: NDArray[np.int32],
        keep: NDArray[np.bool_],
    ) -> Longs:
        """Append rows to the trie: one for a fact with its first link, one for each further link.

        A refinement by several links extends that without the last of them, which is frequent too;
        where that is no new pattern it stays in the trie unseen. Returns the row of each that is
        needed.
        """
        depth, extends = decoded.depth, decoded.extends
        needed = keep.copy()
        for d in range(int(depth.max()), 1, -1):
            needed[extends[needed & (depth == d)]] = True
        place = np.cumsum(needed) - 1 + self.found.n_rows
        chosen = np.flatnonzero(needed)
        parent = np.where(depth[chosen] > 1, place[extends[chosen]], node.row)
        self.found.add(parent, decoded.recorded[chosen], supports[chosen], keep[chosen])
        return place

    # Matches

    def _rows_of(self, node: Node, buffers: Buffers) -> wm.Rows:
        """The rows of a pattern, from those of its nearest ancestor that is still at hand."""
        at_hand = buffers.rows
        for step in steps_left(node, at_hand):
            if step.row < 0:
                return self._everywhere()
            before = at_hand[-1][1] if at_hand else self._everywhere()
            now = self._now(step.parent) if step.parent else self._context(step.atoms[:0])
            most = self._most_rows(17 + len(step.events) + 8 * len(before.values))
            rows = wm.advance(
                self.alphabet, self.web, before, now, step.lane, step.links, step.step, most
            )
            if len(rows.sequence) > most:
                raise OverBudget
            at_hand.append((step, rows))
        return at_hand[-1][1]

    def _everywhere(self) -> wm.Rows:
        n = len(self.alphabet.labels)
        return wm.Rows(
            np.arange(n),
            np.empty((0, n), np.uint8),
            self.web.spoken_of,
            np.empty((0, n), np.int64),
        )

    # The language in numbers

    def _now(self, node: Node) -> ak.Context:
        if node.context is None:
            node.context = self._context(node.atoms)
        return node.context

    def _context(self, atoms: Longs) -> ak.Context:
        """What a pattern is made of."""
        types: dict[int, int] = {}
        taboo: list[int] = []
        n_all = 0
        for atom in atoms.tolist():
            relation = atom[0]
            if relation >= len(self.compiled.relations):
                continue
            a = int(self.alphabet.argument0[relation])
            for j in range(len(self.compiled.types[relation])):
                term = atom[1 + j]
                n_all = max(n_all, term + 1)
                if j == self.alphabet.event[relation]:
                    continue
                if term < 0:
                    taboo.append(int(self.alphabet.value[~term]))
                else:
                    types.setdefault(term, int(self.alphabet.types[a]))
                a += 1
        return ak.Context(
            np.array(list(types), np.int64),
            np.array(list(types.values()), np.int64),
            np.array(taboo, np.int64),
            0,
            n_all,
        )

    def _meaning(self) -> Longs:
        """Predicate, dimension and n of each kind of link."""
        n_relations, n_dimensions = len(self.compiled.relations), len(self.compiled.dimensions)
        return np.array(
            [
                (n_relations + n * n_dimensions + i, d, n)
                for i, d in enumerate(self.compiled.dimensions)
                for n in self.conditions.steps
            ],
            np.int64,
        ).reshape(-1, 3)

    def _web(self, labels: NDArray[np.int64], injective: bool) -> wm.Web:
        index = self.compiled.index
        chosen = [index.dimensions[d] for d in self.compiled.dimensions]
        steps = np.array(self.conditions.steps, np.int64)
        words = np.zeros((2 * len(chosen) * len(steps), index.n_nodes), np.uint64)
        wm.link_words(
            np.stack([d.order for d in chosen]),
            np.stack([d.rank for d in chosen]),
            np.stack([d.first for d in chosen]),
            np.stack([d.last for d in chosen]),
            index.node_off,
            steps,
            words,
        )
        spoken_of = np.bitwise_or.reduce(self.alphabet.everywhere, axis=0)
        return wm.Web(
            words,
            index.node_off,
            spoken_of,
            labels,
            self.conditions.least,
            self.conditions.min_frequency,
            injective,
        )


def _cuts(rows: wm.Rows, order: Longs, starts: Longs, places: int) -> list[int]:
    """Where to cut groups of rows so that few places are looked at before the search asks."""
    if 64 * len(order) <= places:
        return [0, len(starts) - 1]
    sizes = np.bitwise_count(rows.word[order])
    before = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[starts]
    steps = np.arange(0, before[-1], max(places, 1))
    cuts: list[int] = np.unique([*np.searchsorted(before, steps), len(starts) - 1]).tolist()
    return cuts


def _as_bytes(forms: Longs, n_used: Longs) -> list[bytes]:
    """Each form alone; rows that are not used stand first."""
    small = forms.astype(np.int32)
    small[forms == UNUSED] = np.iinfo(np.int32).min
    size = forms.shape[2] * 4
    whole, stride = small.tobytes(), forms.shape[1] * size
    ends = range(stride, stride * (len(forms) + 1), stride)
    begins = (np.array(ends) - n_used * size).tolist()
    return [whole[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _without_last_link(lanes: Longs, depth: Longs, found: Longs) -> Longs:
    """For each refinement the one that has the same but the last link of its lane; itself where
    there is only one."""
    number = {row.tobytes(): i for i, row in enumerate(lanes)}
    shorter = np.arange(len(lanes))
    for i in np.flatnonzero(depth > 1).tolist():
        rest = lanes[i].copy()
        rest[depth[i] - 1] = -1
        shorter[i] = number[rest.tobytes()]
    lane, code = found[:, 0], found[:, 1]
    size = int(code.max()) + 1
    return np.searchsorted(lane * size + code, shorter[lane] * size + code)
