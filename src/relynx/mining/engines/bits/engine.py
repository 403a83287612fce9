"""The bit-parallel engine: patterns of events along paths, where sets of events are words of bits.

It takes facts about one event each. Along one dimension sequences are lines of any length; along
several they are sets of paths of at most 64 events. Facts are added to the newest event only, and a
new event comes with all its links, so that a pattern is made from its events in some order; where
several orders make the same pattern, variants are recognised by their canonical form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx.mining.budget import OverBudget
from relynx.mining.engines._canonical_kernels import Thresholds
from relynx.mining.engines.base import STATS, Conditions, Counted, Engine, Longs, Siblings
from relynx.mining.engines.bits import _attachment_kernels as ak
from relynx.mining.engines.bits import _count_kernels as ck
from relynx.mining.engines.bits import _event_fact_kernels as ek
from relynx.mining.engines.bits import _row_kernels as rk
from relynx.mining.engines.bits.event_facts import (
    event_facts,
    everywhere,
    has_room,
    link_graph,
    most_variables,
    scratch,
    speaks_of_events,
)
from relynx.mining.engines.compiled import Compiled
from relynx.mining.patterns.trie import ARGUMENTS, RELATION
from relynx.mining.report import SearchLevel

MOST_STATES = 1 << 20
MOST_LINK_WORDS = 1 << 26  # for each kind of link and each event one: half a gigabyte
MOST_ATTACHMENTS = 1 << 20  # ways to link one new event
# What makes units: another number is another form of what checkpoints keep.
EFFORT_A_UNIT = 1 << 20  # for siblings that make one unit of work, by what was looked at before
MOST_FOUND = 1 << 14  # refinements of a unit
FEW_ROWS = 1 << 14  # of matches, which are made without asking: that takes longer than to make them
# How much is done before the search asks whether to go on.
ROWS_A_CALL = 1 << 13
ROWS_A_PIECE = 1 << 12  # that are counted for one sibling after the other
PLACES_A_CALL = 1 << 14  # along several dimensions
LOOKS_A_CALL = 1 << 22
FORMS_A_CALL = 1 << 12
MOST_TOGETHER = 8  # siblings that are counted together where they have many rows


def fits(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Can this engine search this language in these data?"""
    n_steps = len(conditions.steps)
    return (
        bool(compiled.dimensions)
        and speaks_of_events(compiled, conditions, object_identity=object_identity)
        and n_steps < ck.MOST_ATTACHMENTS
        and has_room(compiled, n_steps, MOST_LINK_WORDS)
    )


@dataclass(slots=True)
class Buffers:
    """What one thread needs for itself."""

    counters: ck.Counters
    scratch: ek.Scratch
    out: ck.Refinements
    rows: list[tuple[Longs, rk.Rows]] = field(default_factory=list)  # of a pattern's beginnings


class Growing(NamedTuple):
    """A pattern whose refinements are counted."""

    child: int  # which of its siblings it is
    now: ek.Context
    links: Longs
    ways: Longs  # to link a new event


class Bits(Engine[Buffers, "ak.Writing | None"]):
    """Searches patterns of events along paths."""

    def _prepare(self) -> None:
        compiled, conditions = self.compiled, self.conditions
        most_old = most_variables(compiled, conditions)
        self.facts = event_facts(
            compiled, self.labels, self.n_classes, most_old, injective=self.object_identity
        )
        self.graph = link_graph(compiled, self.facts, np.array(conditions.steps, np.int64))
        self.data = self.facts, self.graph
        self.thresholds = Thresholds(
            np.maximum(self.class_sizes, 1), conditions.least, conditions.min_frequency
        )
        n_dimensions = len(compiled.dimensions)
        self.width_of_step = ARGUMENTS + self.width - 1
        self.n_extra = 0 if self.graph.is_line else 2 * n_dimensions - 1
        self.nothing = np.empty((0, self.width_of_step), np.int64)
        self.needs_forms = self.facts.about_newest or not self.graph.is_line
        self.row_bytes = 13 + 4 * most_old + (0 if self.graph.is_line else conditions.max_length)
        n_states = len(self.facts.relation) * (most_old + 1) ** len(self.facts.values)
        self.n_states = min(n_states, MOST_STATES) if self.object_identity else 0
        few = MOST_STATES // max(self.n_states, 1)
        self.n_together = max(min(MOST_TOGETHER, few), 1) if not self.n_covered else 1

    # Room

    def _buffers(self) -> Buffers:
        return Buffers(self._counters(1 << 10), scratch(self.facts), self._refinements(1 << 10))

    def _counters(self, n_slots: int) -> ck.Counters:
        n, n_states = self.n_together, max(self.n_states, 1)
        per_word = ck.attachments_per_word(int(self.class_sizes.max(initial=0)))
        n_links = len(self.conditions.steps) + 1 if self.graph.is_line else ck.MOST_ATTACHMENTS
        stride = ck.SUPPORTS + self.n_classes * -(-n_links // per_word)
        return ck.Counters(
            keys=self._room((n, 4 * n_slots), np.int64, -1),
            slots=self._room((n, 4 * n_slots), np.int32),
            codes=self._room((n, n_slots), np.int64),
            n_slots=np.zeros(n, np.int64),
            records=self._room((n, n_slots * stride), np.int64),
            state_at=self._room((n, n_states), np.int32, ck.UNKNOWN),
            used=self._room((n, n_states), np.int32),
            n_used=np.zeros(n, np.int64),
            met=self._room((n_states,), np.int64),
            met_states=self._room((n_states + 1,), np.int32),
            met_rows=self._room((n_states + 1,), np.int64),
            to_add=np.zeros(ck.MOST_ADDS + ek.MOST_WAYS, np.int32),
            hits_of=np.zeros(ck.MOST_ADDS + ek.MOST_WAYS, np.int64),
            pool=self._room((8 * n * n_slots,), np.int32),
            n_pool=np.zeros(1, np.int64),
            added=ck.added(per_word),
            log=self._room((64 * n_slots if self.n_covered else 0, 3), np.int64),
            n_log=np.zeros(1, np.int64),
        )

    def _refinements(self, size: int) -> ck.Refinements:
        return ck.Refinements(
            owner=self._room((size,), np.int32),
            codes=self._room((size,), np.int64),
            steps=self._room((size, self.width_of_step), np.int32),
            extra=self._room((size, self.n_extra, 4), np.int32),
            extends=self._room((size,), np.int32),
            supports=self._room((size, self.n_classes), np.int32),
            covered=self._room((size, self.n_covered), np.uint64),
            n=np.zeros(1, np.int64),
            stats=np.zeros(STATS),
            counted=np.zeros(self.n_classes, np.int64),
        )

    def _more_counters(self, buffers: Buffers) -> None:
        buffers.counters = self._counters(2 * buffers.counters.codes.shape[1])

    def _more_room(self, buffers: Buffers) -> None:
        old = buffers.out
        n = min(int(old.n[0]), len(old.owner))
        buffers.out = self._refinements(2 * len(old.owner))
        for name in ck.Refinements._fields:
            getattr(buffers.out, name)[: len(getattr(old, name))] = getattr(old, name)
        buffers.out.n[0] = n

    # Counting

    def _begin(self) -> list[Siblings]:
        buffers = self._buffers()
        way = np.full((1, 2 * len(self.compiled.dimensions)), -1, np.int64)
        now, no_links = ek.context(self.facts, self.nothing), np.empty((0, 4), np.int64)
        one = Growing(0, now, no_links, way)
        self._count_and_collect(one, everywhere(self.facts), buffers)
        counted = self._taken(buffers, np.zeros(1, np.int64))
        self._idle.append(buffers)
        no_extra = np.empty((0, self.n_extra, 4), np.int64)
        root = Siblings(1, self.nothing, np.array([-1]), self.nothing, no_extra)
        return self._keep(root, counted, self._decode(root, counted))

    def _count(self, unit: Siblings, buffers: Buffers) -> Counted:
        """Tallies; how much was looked at for each child; and what `Refinements` holds."""
        rows = self._rows_of(unit.chain, buffers)
        siblings = unit.chain, unit.steps, unit.extra
        done, begin, efforts = 0, 0, np.zeros(len(unit.steps), np.int64)
        while done < len(unit.steps):
            self._pulse()
            work = ck.Work(ROWS_A_PIECE, self._most_made(rows), PLACES_A_CALL, LOOKS_A_CALL)
            at = done, begin, work
            room = buffers.counters, buffers.scratch, efforts, buffers.out
            why, done, begin = ck.refine(*self.data, self.thresholds, rows, *siblings, *at, *room)
            if why == ck.MORE_COUNTERS:
                self._more_counters(buffers)
            elif why == ck.MORE_ROOM:
                self._more_room(buffers)
            elif why == ck.LARGE:
                efforts[done] = self._refine_alone(unit, done, rows, buffers)
                done += 1
        return self._taken(buffers, efforts)

    def _refine_alone(self, unit: Siblings, child: int, rows: rk.Rows, buffers: Buffers) -> int:
        """Refine a child that has many matches, asking on the way; how much was looked at."""
        chain = _with_child(unit, child)
        now, made = ek.context(self.facts, chain), self._advanced(unit.chain, chain, rows, buffers)
        links = ak.possible_links(self.graph, now)
        if self.graph.is_line:
            ways = ak.every_attachment(self.graph, links, self.facts.about_newest)
        else:
            ways = self._attachments(now, made, links)
        self._count_and_collect(Growing(child, now, links, ways), made, buffers)
        return int(ak.n_places(made)) * len(ways) + len(rows.block)

    def _count_and_collect(self, one: Growing, rows: rk.Rows, buffers: Buffers) -> None:
        """Count and collect the refinements of a pattern, some rows at a time."""
        trail = np.zeros(len(one.ways) + one.ways.shape[1] + 1, np.int64)
        for at in range(0, len(one.ways), ck.MOST_ATTACHMENTS):
            some = one._replace(ways=one.ways[at : at + ck.MOST_ATTACHMENTS])
            while not all(self._counted(some, rows, piece, buffers) for piece in _pieces(rows)):
                ck.forget(buffers.counters)
                self._more_counters(buffers)
            self._collect(some, at, buffers, trail)
            ck.forget(buffers.counters)

    def _counted(
        self, one: Growing, rows: rk.Rows, piece: tuple[int, int], buffers: Buffers
    ) -> bool:
        """Count refinements; False where there are too few counters."""
        self._pulse()
        pattern, room = (one.now, one.links, one.ways), (buffers.counters, 0, buffers.scratch)
        return bool(ck.count(*self.data, rows, *piece, *pattern, *room))

    def _collect(self, one: Growing, n_before: int, buffers: Buffers, trail: Longs) -> None:
        start, tallied, trodden = int(buffers.out.n[0]), buffers.out.stats.copy(), trail.copy()
        pattern = one.now, one.links, one.ways
        counted = n_before, trail, buffers.counters, 0, one.child
        while not ck.collect(*self.data, self.thresholds, *pattern, *counted, buffers.out):
            self._more_room(buffers)
            buffers.out.n[0] = start
            buffers.out.stats[:], trail[:] = tallied, trodden

    def _attachments(self, now: ek.Context, rows: rk.Rows, links: Longs) -> Longs:
        """The ways to refine a pattern that has many matches along several dimensions."""
        deepest = int(links[:, 2].max(initial=-1)) + 1
        places = ak.n_places(rows)
        self.budget.take(places * ak.search_bytes(len(now.events), deepest))
        search = ak.start_search(self.facts, self.graph, rows, deepest, places)
        found, n = np.full((64, 2 * len(self.compiled.dimensions)), -1, np.int64), 0
        while search.at[1] >= 0:
            self._pulse()
            limits = MOST_ATTACHMENTS, LOOKS_A_CALL
            found, n = ak.find_attachments(
                *self.data, self.thresholds, search, links, found, *limits
            )
            if n < 0:
                raise OverBudget("too many ways to link events by the dimensions")
        return np.asarray(ak.with_newest(found, n, self.facts.about_newest))

    def _taken(self, buffers: Buffers, efforts: Longs) -> Counted:
        """What `_count` gives, of all that was collected since the last time."""
        out, n = buffers.out, int(buffers.out.n[0])
        columns = out.owner, out.steps, out.extra, out.extends, out.supports, out.covered
        stats, out.stats[:], out.n[0] = out.stats.copy(), 0, 0
        return stats[None], efforts, *(column[:n].copy() for column in columns)

    # Decoding

    def _decode(self, unit: Siblings, counted: Counted) -> ak.Writing | None:
        """Atoms and canonical forms, where they are needed."""
        _, _, owner, steps, extra, _, _, _ = counted
        n = len(owner)
        if not n or not (self.needs_forms or self.has_checks):
            return None
        siblings = unit.chain, unit.steps, unit.extra
        n_atoms = 2 * (len(unit.chain) + 2 + 2 * self.n_extra)
        writing = ak.Writing(
            self._room((n, n_atoms, self.width), np.int64),
            self._room((n, n_atoms, self.width), np.int32),
            np.zeros(n, np.int64),
            np.zeros(n, bool),
        )
        for begin in range(0, n, FORMS_A_CALL):
            self._pulse()
            end = min(begin + FORMS_A_CALL, n)
            ak.write_refinements(*self.data, *siblings, owner, steps, extra, begin, end, writing)
        return writing

    # What is kept

    def _keep(self, unit: Siblings, counted: Counted, decoded: ak.Writing | None) -> list[Siblings]:
        stats, _, owner, *_, covered = counted
        tally = self.tallies.setdefault(unit.makes, SearchLevel(unit.makes))
        for some in stats:
            tally.add(some)
        keep = np.ones(len(owner), bool)
        by_coverage = False
        if self.is_known is not None and unit.makes == self.conditions.max_length:
            by_coverage, keep = True, ~self.is_known(covered)
        if decoded is not None:
            atoms, sizes = decoded.atoms, decoded.n_atoms.tolist()
            forms, first = self._forms(decoded, sizes), not len(unit.steps)
            if by_coverage:
                forms = iter([b"" if one else None for one in (keep & decoded.distinct).tolist()])
            new, forbidden = self._admitted(forms, lambda i: atoms[i, : sizes[i]], first=first)
            keep[:] = False
            keep[new] = True
            tally.forbidden += len(forbidden)
        n_kept = int(keep.sum())
        tally.kept += n_kept
        if not n_kept:
            return []
        rows = self._record(unit, counted, keep)
        if unit.makes == self.conditions.max_length:
            return []
        kept = np.flatnonzero(keep)
        return list(self._units(unit, kept, rows[kept], counted))

    def _units(
        self, unit: Siblings, kept: Longs, rows: Longs, counted: Counted
    ) -> Iterator[Siblings]:
        """The refinements that are kept as units of the next length."""
        _, efforts, owner, steps, extra, _, _, _ = counted
        n_children = max(len(unit.steps), 1)
        ends = np.searchsorted(owner[kept], np.arange(n_children + 1)).tolist()
        n_found = np.bincount(owner, minlength=n_children).tolist()
        steps, extra = steps[kept].astype(np.int64), extra[kept].astype(np.int64)
        for child, (begin, end) in enumerate(pairwise(ends)):
            if begin == end:
                continue
            chain = _with_child(unit, child) if len(unit.steps) else self.nothing
            few = min(EFFORT_A_UNIT // max(int(efforts[child]), 1), MOST_FOUND // n_found[child])
            at_once = max(few, self.n_together if self.graph.is_line else 1)
            for i in range(begin, end, at_once):
                some = slice(i, min(i + at_once, end))
                yield Siblings(unit.makes + 1, chain, rows[some], steps[some], extra[some])

    def _forms(self, decoded: ak.Writing, sizes: list[int]) -> Iterator[bytes | None]:
        """The forms by which variants are known, where there can be some."""
        stride, size = decoded.forms[0].nbytes, decoded.forms[0, 0].nbytes
        whole = decoded.forms.tobytes() if self.needs_forms else b""
        for i, distinct in enumerate(decoded.distinct.tolist()):
            yield whole[i * stride : i * stride + sizes[i] * size] if distinct else None

    def _record(self, unit: Siblings, counted: Counted, keep: NDArray[np.bool_]) -> Longs:
        """Append rows to the trie: one for a fact with its first link, one for each further link.

        A refinement by several links extends that without the last of them, which is frequent too;
        where that is no new pattern it stays in the trie unseen. Returns the row of each that is
        needed.
        """
        _, _, owner, steps, extra, extends, supports, covered = counted
        if not self.n_extra:  # along lines no refinement has further links: this is faster
            rows = np.arange(self.found.n_rows, self.found.n_rows + len(owner))
            if not keep.all():
                rows = np.cumsum(keep) - 1 + self.found.n_rows
                columns = owner, steps, supports, covered
                owner, steps, supports, covered = (column[keep] for column in columns)
            self.found.add(unit.rows[owner], steps, supports)
            if self.n_covered:
                self.found.covered.append(covered)
            return rows
        n_extra = (extra[:, :, 0] >= 0).sum(axis=1)
        needed = keep.copy()
        for depth in range(int(n_extra.max(initial=0)), 0, -1):
            needed[extends[needed & (n_extra == depth)]] = True
        rows = np.cumsum(needed) - 1 + self.found.n_rows
        chosen = np.flatnonzero(needed)
        parent = np.where(n_extra[chosen] > 0, rows[extends[chosen]], unit.rows[owner[chosen]])
        recorded = steps[chosen]
        further = np.flatnonzero(n_extra[chosen])
        if len(further):
            recorded[further] = 0
            recorded[further, :RELATION] = extra[chosen[further], n_extra[chosen[further]] - 1]
            recorded[further, RELATION] = -1
        self.found.add(parent, recorded, supports[chosen], keep[chosen])
        if self.n_covered:
            self.found.covered.append(covered[keep])
        return rows

    # Matches

    def _rows_of(self, chain: Longs, buffers: Buffers) -> rk.Rows:
        """The rows of a pattern, from those of its longest beginning that is still at hand."""
        # A step goes with the further links of its event.
        ends = np.append(np.flatnonzero(chain[1:, RELATION] >= 0) + 1, len(chain)).tolist()
        at_hand = buffers.rows
        while at_hand and not (
            len(at_hand[-1][0]) in (0, *ends)
            and np.array_equal(at_hand[-1][0], chain[: len(at_hand[-1][0])])
        ):
            at_hand.pop()
        if not at_hand:
            at_hand.append((self.nothing, everywhere(self.facts)))
        for end in ends:
            done, rows = at_hand[-1]
            if len(done) < end:
                at_hand.append((chain[:end], self._advanced(done, chain[:end], rows, buffers)))
        return at_hand[-1][1]

    def _advanced(self, done: Longs, chain: Longs, rows: rk.Rows, buffers: Buffers) -> rk.Rows:
        """The rows of a pattern of one more event or fact, from those of its beginning."""
        before, step = ek.context(self.facts, done), chain[len(done)]
        extra = np.ascontiguousarray(chain[len(done) + 1 :, :4])
        into, most = rk.links_of(self.graph, before, step, extra), self._most_made(rows)
        some = rows, 0, len(rows.block)
        made: rk.Rows = rk.advance(*self.data, *some, before, into, step, buffers.scratch, most)
        if len(made.block) > most:
            raise OverBudget
        return made

    def _most_made(self, rows: rk.Rows) -> int:
        """How many rows may be made of some: of each one for each fact that a place leads to."""
        n_places = 1 if self.graph.is_line else 64
        if len(rows.block) * n_places * self.facts.most_entries <= FEW_ROWS:
            return FEW_ROWS
        # Columns that grow take twice as much.
        return max(self.budget.left() // (3 * self.row_bytes), FEW_ROWS)


def _with_child(unit: Siblings, child: int) -> Longs:
    """The steps of a child: those of the pattern, its own, and its further links."""
    return np.asarray(ck.followed_by(unit.chain, unit.steps[child], unit.extra[child]))


def _pieces(rows: rk.Rows) -> list[tuple[int, int]]:
    """Rows some at a time; those of one sequence and values stay together."""
    n = len(rows.block)
    cuts = [0]
    for at in range(ROWS_A_CALL, n, ROWS_A_CALL):
        while at < n and rows.joins[at]:
            at += 1
        if cuts[-1] < at < n:
            cuts.append(at)
    return list(pairwise([*cuts, n])) if n else []
