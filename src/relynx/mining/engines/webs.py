"""Pattern growth along several dimensions, in sequences of at most 64 events.

It takes facts as `alphabet` says, and dimensions that are paths. An event enters a pattern together
with all its links to those that are there, and with a fact; more facts may be added to any event.
The same pattern comes up once for each order of its events: variants are told by canonical form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.mining.budget import OverBudget
from relynx.mining.engines import _alphabet_kernels as ak
from relynx.mining.engines import _web_family_kernels as wf
from relynx.mining.engines import _web_kernels as wk
from relynx.mining.engines.alphabet import alphabet_of, is_simple, most_variables, n_codes, scratch
from relynx.mining.engines.base import (
    STATS,
    UNUSED,
    Conditions,
    Counted,
    Engine,
    Level,
    Longs,
)
from relynx.mining.engines.compiled import Compiled
from relynx.mining.matching import _web_match_kernels as wm
from relynx.mining.matching._backtracking_kernels import GRAPH
from relynx.mining.patterns.trie import ARGUMENTS, RELATION

MOST_COUNTERS = 1 << 26  # that are worth holding
MOST_LANES = 1 << 20  # ways to link one new event
LOOKS_AT_ONCE = 1 << 23  # at matches, before the search asks whether to go on
LOOKS_A_UNIT = 1 << 22  # for siblings that make one unit of work, by what was looked at before
FEW_PLACES = 1 << 14  # of matches: a pattern with more is counted by itself
FEW_LANES = 1 << 12
MANY_FOUND = 1 << 14  # refinements of a unit


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


@dataclass(frozen=True, slots=True)
class Siblings:
    """Some refinements of a pattern, to be refined in their turn."""

    makes: int
    parent: Node | None  # None for those of the pattern of no atoms, and for that itself
    rows: Longs  # of the trie
    family: wf.Family


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A pattern: one of some siblings. It is equal to itself only."""

    siblings: Siblings
    number: int

    @property
    def parent(self) -> Node | None:
        return self.siblings.parent

    @property
    def atoms(self) -> Longs:
        family = self.siblings.family
        return family.atoms[self.number, : family.n_atoms[self.number]]

    @property
    def events(self) -> Longs:
        family = self.siblings.family
        return family.events[self.number, : family.n_events[self.number]]


@dataclass(slots=True)
class Buffers:
    """Counters, and the matches of a pattern and its ancestors."""

    counts: wk.Counts
    scratch: ak.Scratch
    rows: list[tuple[Node, wm.Rows]] = field(default_factory=list)


class Webs(Engine[Siblings, Buffers, "wf.Writing | None"]):
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
        self.alphabet, constants, crowded = alphabet_of(compiled, labels, object_identity)
        self.web = self._web(labels, object_identity)
        n_relations, n_dimensions = len(compiled.relations), len(compiled.dimensions)
        self.language = wf.Language(
            n_relations, n_dimensions, self._meaning(), constants, bool(crowded)
        )
        self.sizes = np.maximum(self.class_sizes, 1)
        self.n_codes = n_codes(compiled, most_variables(compiled, conditions))
        most = MOST_COUNTERS // (self.n_codes * n_classes)
        self.lanes_at_once = max(1, min(wk.MOST_LANES, most))
        self.bounds = wf.Bounds(
            FEW_PLACES, FEW_LANES, self.lanes_at_once, LOOKS_AT_ONCE, MANY_FOUND
        )
        self.root = self._siblings_of_nothing()

    def _siblings_of_nothing(self) -> Siblings:
        """The pattern of no atoms."""
        family = wf.Family(
            np.zeros((1, ARGUMENTS + self.width - 1), np.int64),
            np.full((1, 2 * self.language.n_dimensions), -1, np.int64),
            np.empty((1, 0, self.width), np.int64),
            np.zeros(1, np.int64),
            np.zeros((1, self.conditions.max_length), np.int64),
            np.zeros(1, np.int64),
        )
        return Siblings(1, None, np.array([-1]), family)

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

    def _begin(self) -> list[Siblings]:
        return [self.root]

    # Refinements

    def _count(self, unit: Siblings, buffers: Buffers) -> Counted:
        """Tallies; how much was looked at for each pattern; lanes, and whose they are; the lane and
        the code of each refinement, and its supports."""
        stats, efforts = np.zeros(STATS), np.zeros(len(unit.rows), np.int64)
        if unit is self.root:
            lane = np.full((1, 2 * self.language.n_dimensions), -1, np.int64)
            lane[0, 1] = 0
            rows = self._everywhere()
            parts = [self._count_alone(Node(unit, 0), rows, lane, buffers, stats)]
            # As if all pairs of links led from each event.
            n_pairs = len(self.language.meaning) ** 2
            efforts[0] = wf.effort(wm.n_places(rows), n_pairs, len(self.labels))
        else:
            parts = []
            rows, atoms, events = self._of_parent(unit, buffers)
            at = 0
            while at < len(unit.rows):
                self._pulse()
                at, large, *some = wf.count_family(
                    self.alphabet,
                    self.web,
                    self.language,
                    rows,
                    atoms,
                    events,
                    unit.family,
                    at,
                    buffers.counts,
                    buffers.scratch,
                    self.sizes,
                    self.bounds,
                    stats,
                    efforts,
                )
                parts.append(tuple(some))
                if large:
                    node = Node(unit, at)
                    here = self._advanced(node, rows)
                    parts.append(self._count_alone(node, here, None, buffers, stats))
                    n_rows = len(rows.sequence) + len(here.sequence)
                    efforts[at] = wf.effort(wm.n_places(here), len(parts[-1][0]), n_rows)
                    at += 1
        return stats, efforts, *_joined(parts)

    def _of_parent(self, unit: Siblings, buffers: Buffers) -> tuple[wm.Rows, Longs, Longs]:
        """The rows, the atoms and the events of what some siblings refine."""
        if unit.parent is None:
            nothing = Node(self.root, 0)
            return self._everywhere(), nothing.atoms, nothing.events
        return self._rows_of(unit.parent, buffers), unit.parent.atoms, unit.parent.events

    def _count_alone(
        self, node: Node, rows: wm.Rows, lanes: Longs | None, buffers: Buffers, stats: Any
    ) -> tuple[NDArray[Any], ...]:
        """What `count_family` gives of one pattern that has many matches, asking on the way."""
        now = ak.context_of(self.alphabet, node.atoms, wf.NO_EVENT)
        links = wf.possible_links(self.language, node.atoms, node.events)
        if lanes is None:
            lanes = self._lanes(node, rows, links)
        order, starts = wk.groups(rows)
        cuts = _cuts(rows, order, starts, LOOKS_AT_ONCE // self.lanes_at_once)
        blocks, supports = [np.empty((0, 2), np.int64)], [np.empty((0, self.n_classes), np.int32)]
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
            found, counted = wk.frequent(self.web, counts, codes, len(some), self.sizes, stats)
            found[:, 0] += begin
            blocks.append(found)
            supports.append(counted)
        return (
            lanes.astype(np.int32),
            np.full(len(lanes), node.number, np.int32),
            np.concatenate(blocks).astype(np.int32),
            np.concatenate(supports),
        )

    def _lanes(self, node: Node, rows: wm.Rows, links: Longs) -> Longs:
        """The ways to refine a pattern."""
        deepest = int(links[:, 2].max(initial=-1)) + 1
        n_places = wm.n_places(rows)
        self.budget.take(n_places * wk.lane_bytes(len(node.events), deepest))
        search = wk.lane_search(self.web, rows, deepest, n_places)
        lanes, n = np.full((64, 2 * self.language.n_dimensions), -1, np.int64), 0
        while search.at[1] >= 0:
            self._pulse()
            lanes, n = wk.find_lanes(self.web, search, links, lanes, MOST_LANES, LOOKS_AT_ONCE)
            if n < 0:
                raise OverBudget("too many ways to link events by the dimensions")
        every: Longs = wf.all_lanes(self.language, len(node.events), lanes, n)
        return every

    def _decode(self, unit: Siblings, counted: Counted) -> wf.Writing | None:
        _, _, lanes, owner, found, _ = counted
        n = len(found)
        if not n:
            return None
        n_atoms = unit.family.atoms.shape[1] + lanes.shape[1] + 1
        width = ARGUMENTS + self.width - 1
        writing = wf.Writing(
            self._room((n, width), np.int64),
            self._room((n, width), np.int32),
            self._room((n, n_atoms, self.width), np.int64, UNUSED),
            self._room((n, n_atoms, self.width), np.int32),
            np.zeros(n, np.int64),
            np.zeros(n, bool),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )
        first = unit is self.root
        wf.write_family(
            self.alphabet, self.language, unit.family, first, lanes, owner, found, writing
        )
        return writing

    # What is kept

    def _keep(self, unit: Siblings, counted: Counted, decoded: wf.Writing | None) -> list[Siblings]:
        stats, efforts, lanes, owner, found, supports = counted
        keep, n_forbidden = np.zeros(0, bool), 0
        if decoded is not None:
            keep = self._new(decoded) & decoded.distinct
            n_forbidden = self._forbid(unit, decoded, keep)
        tally = self.tallies.setdefault(unit.makes, Level())
        tally.add(stats)
        if decoded is None:
            return []
        tally.forbidden += n_forbidden
        tally.kept += int(keep.sum())
        whose = owner[found[:, 0]]
        rows = self._record(unit.rows[whose], decoded, supports, keep)
        if unit.makes == self.conditions.max_length:
            return []
        kept = np.flatnonzero(keep)
        whose = whose[kept]
        family = self._family(unit, decoded, kept, whose, lanes[found[kept, 0]])
        rows = rows[kept]
        ends = np.searchsorted(whose, np.arange(len(unit.rows) + 1)).tolist()
        n_found = np.bincount(owner[found[:, 0]], minlength=len(unit.rows)).tolist()
        made: list[Siblings] = []
        for number, (begin, end) in enumerate(pairwise(ends)):
            if begin == end:
                continue
            parent = None if unit is self.root else Node(unit, number)
            few = min(LOOKS_A_UNIT // max(int(efforts[number]), 1), MANY_FOUND // n_found[number])
            at_once = max(few, 1)
            for i in range(begin, end, at_once):
                some = slice(i, min(i + at_once, end))
                part = wf.Family(*(column[some] for column in family))
                made.append(Siblings(unit.makes + 1, parent, rows[some], part))
        return made

    def _family(
        self,
        unit: Siblings,
        decoded: wf.Writing,
        kept: Longs,
        whose: NDArray[np.int32],
        lanes: NDArray[np.int32],
    ) -> wf.Family:
        """Those refinements that are kept."""
        steps, n_atoms = decoded.steps[kept], decoded.n_atoms[kept]
        events, n_events = unit.family.events[whose], unit.family.n_events[whose]
        come = np.flatnonzero((lanes[:, 0] >= 0) | (unit is self.root))
        place = ARGUMENTS + self.alphabet.event[steps[come, RELATION]]
        events[come, n_events[come]] = steps[come, place]
        n_events[come] += 1
        return wf.Family(
            steps,
            lanes.astype(np.int64),
            decoded.atoms[kept, : int(n_atoms.max(initial=0))],
            n_atoms,
            events,
            n_events,
        )

    def _new(self, decoded: wf.Writing) -> NDArray[np.bool_]:
        """Which patterns have not been seen before."""
        seen = self._seen
        new = np.zeros(len(decoded.forms), bool)
        stride, size = decoded.forms[0].nbytes, decoded.forms[0, 0].nbytes
        whole, begin = decoded.forms.tobytes(), 0
        for i, n_atoms in enumerate(decoded.n_atoms.tolist()):
            form = whole[begin : begin + n_atoms * size]
            begin += stride
            if form not in seen:
                seen.add(form)
                new[i] = True
        return new

    def _forbid(self, unit: Siblings, decoded: wf.Writing, keep: NDArray[np.bool_]) -> int:
        """Drop what is against the bias; how many."""
        checks = self.conditions
        if not (checks.is_key or checks.admits or checks.forbids):
            return 0
        n = 0
        for i in np.flatnonzero(keep).tolist():
            atoms = decoded.atoms[i, : decoded.n_atoms[i]]
            if self._is_forbidden(atoms, first=unit is self.root):
                keep[i] = False
                n += 1
        return n

    def _record(
        self,
        parents: Longs,
        decoded: wf.Writing,
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
        parent = np.where(depth[chosen] > 1, place[extends[chosen]], parents[chosen])
        self.found.add(parent, decoded.recorded[chosen], supports[chosen], keep[chosen])
        return place

    # Matches

    def _rows_of(self, node: Node, buffers: Buffers) -> wm.Rows:
        """The rows of a pattern, from those of its nearest ancestor that is still at hand."""
        at_hand = buffers.rows
        way = [node]
        while way[-1].parent is not None:
            way.append(way[-1].parent)
        way.reverse()
        while at_hand and at_hand[-1][0] not in way:
            at_hand.pop()
        for step in way[len(at_hand) :]:
            before = at_hand[-1][1] if at_hand else self._everywhere()
            at_hand.append((step, self._advanced(step, before)))
        return at_hand[-1][1]

    def _advanced(self, node: Node, before: wm.Rows) -> wm.Rows:
        """The rows of a pattern from those of its parent."""
        parent = node.parent or Node(self.root, 0)
        most = self._most_rows(17 + len(node.events) + 8 * len(before.values))
        rows: wm.Rows = wm.advance(
            self.alphabet,
            self.web,
            before,
            ak.context_of(self.alphabet, parent.atoms, wf.NO_EVENT),
            node.siblings.family.lanes[node.number],
            wf.possible_links(self.language, parent.atoms, parent.events),
            node.siblings.family.steps[node.number],
            most,
        )
        if len(rows.sequence) > most:
            raise OverBudget
        return rows

    def _everywhere(self) -> wm.Rows:
        n = len(self.alphabet.labels)
        return wm.Rows(
            np.arange(n),
            np.empty((0, n), np.uint8),
            self.web.spoken_of,
            np.empty((0, n), np.int64),
        )

    # The language in numbers

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


def _joined(parts: list[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Lanes, owners, refinements and supports, one after the other; lanes are numbered anew."""
    if len(parts) == 1:
        return parts[0]
    lanes, owner, found, supports = map(list, zip(*parts, strict=True))
    begin = np.cumsum([0, *map(len, lanes)], dtype=np.int32)
    for some, first in zip(found, begin, strict=False):
        some[:, 0] += first
    return tuple(map(np.concatenate, (lanes, owner, found, supports)))
