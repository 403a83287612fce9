"""Pattern growth along several dimensions, in sequences of at most 64 events.

It takes facts as `alphabet` says, and dimensions that are paths. An event enters a pattern together
with all its links to those that are there, and with a fact; more facts may be added to any event.
The same pattern comes up once for each order of its events: variants are told by canonical form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.errors import BiasError
from relynx.mining import _alphabet_kernels as ak
from relynx.mining import _web_kernels as wk
from relynx.mining import _web_match_kernels as wm
from relynx.mining._growth_kernels import canonical_all
from relynx.mining._kernels import GRAPH
from relynx.mining.alphabet import alphabet_of, is_simple, most_variables, n_codes, scratch
from relynx.mining.engine import STATS, UNUSED, Conditions, Engine, Level, Longs
from relynx.mining.language import Compiled
from relynx.mining.trie import ARGUMENTS, DIMENSION, FROM, N_STEPS, RELATION, TO

MOST_COUNTERS = 1 << 26  # that are worth holding
MOST_LANES = 1 << 20  # ways to link one new event


def fits(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Can this engine search this language in these data?"""
    if not compiled.dimensions or not is_simple(
        compiled, conditions, object_identity=object_identity
    ):
        return False
    shapes = [compiled.index.dimensions[d].shape for d in compiled.dimensions]
    if any(bool((shape == GRAPH).any()) for shape in shapes):
        return False
    size = n_codes(compiled, most_variables(compiled, conditions))
    n_classes = len(conditions.least)
    return size * n_classes * len(compiled.dimensions) * len(conditions.steps) <= MOST_COUNTERS


@dataclass(frozen=True, slots=True)
class Node:
    """A pattern that can be refined."""

    row: int
    length: int
    atoms: Longs  # a predicate and its arguments a row
    now: ak.Context
    events: Longs  # their variables, in the order of their coming
    parent: Node | None
    lane: Longs  # by which it came from its parent
    links: Longs  # that the lane speaks of
    step: Longs


class Webs(Engine):
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
        self.scratch = scratch(self.alphabet)
        self.web = self._web(labels, object_identity)
        self.meaning = self._meaning()
        self._rows: list[tuple[Node, wm.Rows]] = []
        self._links: dict[bytes, Longs] = {}
        size = n_codes(compiled, most_variables(compiled, conditions))
        self.lanes_at_once = max(1, min(wk.MOST_LANES, MOST_COUNTERS // (size * n_classes)))
        self.counts = wk.Counts(
            np.full(size, -1, np.int32),
            np.zeros(size, np.uint64),
            np.zeros(size, np.uint64),
            np.zeros((size, self.lanes_at_once, n_classes), np.int32),
            np.zeros(size, np.int64),
        )

    def run(self, on_pattern: Callable[[int], bool]) -> int:
        """Search until done or `on_pattern(length)` says stop; the length that is complete."""
        nothing = np.empty(0, np.int64)
        root = Node(
            -1,
            0,
            np.empty((0, self.width), np.int64),
            self._context(np.empty((0, self.width), np.int64)),
            nothing,
            None,
            nothing,
            np.empty((0, 4), np.int64),
            nothing,
        )
        level = [root]
        for length in range(1, self.conditions.max_length + 1):
            following: list[Node] = []
            for node in level:
                if not on_pattern(length):
                    return length - 1
                following += self._refine(node)
            level = following
            if not level:
                break
        return self.conditions.max_length

    # Refinements

    def _refine(self, node: Node) -> list[Node]:
        """Count and keep the refinements of a pattern; those that can be refined again."""
        rows = self._rows_of(node)
        order, starts = wk.groups(rows)
        links, lanes = self._lanes(node, rows)
        blocks, supports = [], []
        stats = np.zeros(STATS)
        sizes = np.maximum(self.class_sizes, 1)
        for begin in range(0, len(lanes), self.lanes_at_once):
            some = lanes[begin : begin + self.lanes_at_once]
            touched = wk.count_lanes(
                self.alphabet,
                self.web,
                rows,
                order,
                starts,
                node.now,
                links,
                some,
                self.counts,
                self.scratch,
            )
            codes = np.sort(self.counts.touched[:touched])
            found, counted = wk.frequent(self.web, self.counts, codes, len(some), sizes, stats)
            found[:, 0] += begin
            blocks.append(found)
            supports.append(counted)
        self.tallies.setdefault(node.length + 1, Level()).add(stats)
        if not blocks or not any(map(len, blocks)):
            return []
        return self._keep(node, links, lanes, np.concatenate(blocks), np.concatenate(supports))

    def _lanes(self, node: Node, rows: wm.Rows) -> tuple[Longs, Longs]:
        """The links that a new event may have, and the ways to refine a pattern."""
        if node.parent is None and node.row < 0:
            return np.empty((0, 4), np.int64), np.array([[-1, 0]])
        links = self._possible_links(node)
        lanes, n = wk.find_lanes(self.web, rows, links, MOST_LANES)
        if n < 0:
            raise BiasError(
                "the dimensions allow too many ways to link events: declare fewer of them, "
                "or search with a smaller max_length or a larger min_support"
            )
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

    # What is kept

    def _keep(
        self, node: Node, links: Longs, lanes: Longs, found: Longs, supports: NDArray[np.int32]
    ) -> list[Node]:
        """Record the refinements that are new and allowed; those that can be refined again."""
        n = len(found)
        first = node.row < 0
        n_atoms = len(node.atoms) + lanes.shape[1] + 1
        steps = np.zeros((n, ARGUMENTS + self.width - 1), np.int64)
        atoms = np.full((n, n_atoms, self.width), UNUSED, np.int64)
        n_variables = np.zeros(n, np.int64)
        wk.write_refinements(
            self.alphabet,
            node.now,
            first,
            node.events,
            links,
            self.meaning,
            lanes,
            found,
            self.constants,
            node.atoms,
            steps,
            atoms,
            n_variables,
        )
        forms, distinct = np.zeros_like(atoms), np.zeros(n, bool)
        canonical_all(atoms, n_variables, forms, distinct)
        n_used = (atoms[:, :, 0] != wk.PAD).sum(axis=1)
        keep = self._new(forms, n_used) & distinct
        self._forbid(node, atoms, n_used, keep)
        self.tallies[node.length + 1].kept += int(keep.sum())
        rows = self._record(node, links, lanes, found, steps, supports, keep)
        if node.length + 1 == self.conditions.max_length:
            return []
        return [
            self._node(
                node, int(rows[i]), atoms[i, : n_used[i]], lanes[found[i, 0]], links, steps[i]
            )
            for i in np.flatnonzero(keep).tolist()
        ]

    def _node(
        self, parent: Node, row: int, atoms: Longs, lane: Longs, links: Longs, step: Longs
    ) -> Node:
        event = int(step[ARGUMENTS + self.alphabet.event[step[RELATION]]])
        events = parent.events
        if parent.row < 0 or lane[0] >= 0:
            events = np.append(events, event)
        known = parent if parent.row >= 0 else None
        atoms = atoms.copy()
        return Node(
            row, parent.length + 1, atoms, self._context(atoms), events, known, lane, links, step
        )

    def _new(self, forms: Longs, n_used: Longs) -> NDArray[np.bool_]:
        """Which patterns have not been seen before; rows that are not used stand first."""
        small = forms.astype(np.int32)
        small[forms == UNUSED] = np.iinfo(np.int32).min
        size = forms.shape[2] * 4
        whole, stride = small.tobytes(), forms.shape[1] * size
        new = np.zeros(len(forms), bool)
        seen = self._seen
        for i, used in enumerate(n_used.tolist()):
            form = whole[(i + 1) * stride - used * size : (i + 1) * stride]
            if form not in seen:
                seen.add(form)
                new[i] = True
        return new

    def _forbid(self, node: Node, atoms: Longs, n_used: Longs, keep: NDArray[np.bool_]) -> None:
        """Drop what is against the bias."""
        checks = self.conditions
        if not (checks.is_key or checks.admits or checks.forbids):
            return
        for i in np.flatnonzero(keep).tolist():
            if self._is_forbidden(atoms[i, : n_used[i]], first=node.row < 0):
                keep[i] = False
                self.tallies[node.length + 1].forbidden += 1

    def _record(
        self,
        node: Node,
        links: Longs,
        lanes: Longs,
        found: Longs,
        steps: Longs,
        supports: NDArray[np.int32],
        keep: NDArray[np.bool_],
    ) -> Longs:
        """Append rows to the trie: one for a fact with its first link, one for each further link.

        A refinement by several links extends that without the last of them, which is frequent too;
        where that is no new pattern it stays in the trie unseen. Returns the row of each that is
        needed.
        """
        size = int(found[:, 1].max()) + 1
        depth = (lanes >= 0).sum(axis=1)
        depth[lanes[:, 0] < 0] = 1
        lane = found[:, 0]
        further = depth[lane] > 1
        number = {row.tobytes(): i for i, row in enumerate(lanes)}
        shorter = np.arange(len(lanes))
        for i in np.flatnonzero(depth > 1).tolist():
            rest = lanes[i].copy()
            rest[depth[i] - 1] = -1
            shorter[i] = number[rest.tobytes()]
        keys = lane * size + found[:, 1]
        extends = np.searchsorted(keys, shorter[lane] * size + found[:, 1])
        needed = keep.copy()
        for d in range(int(depth.max(initial=1)), 1, -1):
            here = needed & (depth[lane] == d)
            needed[extends[here]] = True
        place = np.cumsum(needed) - 1 + self.found.n_rows
        parent = np.where(further, place[extends], node.row)
        last = links[lanes[lane[further], depth[lane[further]] - 1]]
        steps = self._with_last_link(node, last, steps, further)
        self.found.add(parent[needed], steps[needed], supports[needed], keep[needed])
        return place

    def _with_last_link(
        self, node: Node, last: Longs, steps: Longs, further: NDArray[np.bool_]
    ) -> Longs:
        """The steps, where those that are `further` add only a link, the last of theirs."""
        steps = steps.copy()
        here = np.flatnonzero(further)
        event_argument = ARGUMENTS + self.alphabet.event[steps[here, RELATION]]
        new, old = steps[here, event_argument], node.events[last[:, 1]]
        kind = self.meaning[last[:, 0] % len(self.meaning)]
        steps[here] = 0
        steps[here, DIMENSION], steps[here, N_STEPS] = kind[:, 1], kind[:, 2]
        steps[here, FROM] = np.where(last[:, 3], old, new)
        steps[here, TO] = np.where(last[:, 3], new, old)
        steps[here, RELATION] = -1
        return steps

    # Matches

    def _rows_of(self, node: Node) -> wm.Rows:
        """The rows of a pattern, from those of its nearest ancestor that is still at hand."""
        chain = [node]
        while chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        chain.reverse()
        while self._rows and not (
            len(self._rows) <= len(chain) and self._rows[-1][0] is chain[len(self._rows) - 1]
        ):
            self._rows.pop()
        for step in chain[len(self._rows) :]:
            if step.row < 0:
                return self._everywhere()
            before = self._rows[-1][1] if self._rows else self._everywhere()
            now = step.parent.now if step.parent else self._context(step.atoms[:0])
            rows = wm.advance(
                self.alphabet, self.web, before, now, step.lane, step.links, step.step
            )
            self._rows.append((step, rows))
        return self._rows[-1][1]

    def _everywhere(self) -> wm.Rows:
        n = len(self.alphabet.labels)
        return wm.Rows(
            np.arange(n),
            np.empty((0, n), np.uint8),
            self.web.spoken_of,
            np.empty((0, n), np.int64),
        )

    # The language in numbers

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
