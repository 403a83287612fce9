"""Pattern growth where every sequence is a line of at most 64 events: the fast engine of the miner.

It takes a bias with one dimension and facts as `alphabet` says. Patterns grow from left to right,
facts are added to the last event only, and each pattern comes up once, except where an event has
several facts: there variants are told by their canonical form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relynx.mining.budget import OverBudget
from relynx.mining.engines import _alphabet_kernels as ak
from relynx.mining.engines import _chain_kernels as ck
from relynx.mining.engines._general_kernels import canonical_all
from relynx.mining.engines.alphabet import alphabet_of, is_simple, most_variables, n_codes, scratch
from relynx.mining.engines.base import STATS, UNUSED, Conditions, Counted, Engine, Level, Longs
from relynx.mining.engines.compiled import Compiled
from relynx.mining.matching._backtracking_kernels import LINE
from relynx.mining.patterns.trie import ARGUMENTS

MOST_COUNTERS = 1 << 26  # that are worth holding
# What makes units: another number is another form of what checkpoints keep.
FACTS_A_UNIT = 1 << 19  # which as many siblings as have no more of them share
MOST_TOGETHER = 8  # siblings that share a unit, however many facts they have
COUNTERS_TOGETHER = 1 << 16  # that these may have
# How large units are counted.
BLOCK = 1 << 12  # rows that are counted for one sibling after the other
FACTS_A_CALL = 1 << 22  # that are looked at before the search asks whether to go on
ROWS_A_STATE = 4  # that a call counts at least, as it learns the ways of every state anew
LONGEST_CALL = 8  # times as many facts, for the sake of that


def fits(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Can this engine search this language in these data?"""
    if len(compiled.dimensions) != 1:
        return False
    if bool((compiled.index.dimensions[compiled.dimensions[0]].shape != LINE).any()):
        return False
    if not is_simple(compiled, conditions, object_identity=object_identity):
        return False
    return has_room(compiled, conditions)


def has_room(compiled: Compiled, conditions: Conditions) -> bool:
    """Are there few enough counters to hold, and lanes?"""
    size = n_codes(compiled, most_variables(compiled, conditions))
    few = size * len(conditions.least) * (len(conditions.steps) + 1) <= MOST_COUNTERS
    return few and len(conditions.steps) < ck.LANE_BITS


@dataclass(frozen=True, slots=True)
class Siblings:
    """Some children of a pattern, to be refined."""

    makes: int
    chain: Longs  # the steps of the pattern
    start: int  # the row of the first child
    children: Longs  # their steps


@dataclass(slots=True)
class Buffers:
    """Counters, room for what was counted, and the rows of a pattern and its beginnings."""

    counts: ck.Counts
    scratch: ak.Scratch
    out: Longs
    supports: Longs
    owner: Longs
    rows: list[tuple[Longs, ck.Rows]] = field(default_factory=list)


class Chains(Engine[Siblings, Buffers, "list[bytes | None] | None"]):
    """Searches lines."""

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
        self.sizes = np.maximum(self.class_sizes, 1)
        self.alphabet, self.constants, crowded = alphabet_of(compiled, labels, object_identity)
        lanes = conditions.steps if not crowded else (ck.SAME, *conditions.steps)
        self.limits = ck.Limits(
            np.array(lanes, np.int64),
            conditions.least,
            conditions.min_frequency,
            compiled.dimensions[0],
        )
        self.crowded = crowded
        self.row_bytes = 12 + 4 * most_variables(compiled, conditions)
        self.nothing = np.empty((0, ARGUMENTS + self.width - 1), np.int64)
        self.arity = np.array([len(types) for types in compiled.types], np.int64)
        most_old = conditions.max_length * int(self.alphabet.arity.max(initial=0))
        self.n_codes = max(int(ak.bases(self.alphabet, n)[-1]) for n in range(most_old + 1))
        self.per_word = ck.lanes_per_word(int(self.class_sizes.max(initial=0)))
        self.n_words = max(1, -(-len(lanes) // self.per_word))
        counters = self.n_codes * (2 + n_classes * self.n_words)
        self.n_together = max(1, min(COUNTERS_TOGETHER // counters, MOST_TOGETHER))

    def _buffers(self) -> Buffers:
        n_classes, n = self.n_classes, self.n_together
        counts = ck.Counts(
            self._room((n, self.n_codes), np.int64, -1),
            self._room((n, self.n_codes, n_classes, self.n_words), np.uint64),
            self._room((n, self.n_codes), np.int64),
            np.zeros(n, np.int64),
            ck.added(self.per_word),
        )
        none = np.empty((0, n_classes), np.int64)
        buffers = Buffers(counts, scratch(self.alphabet), self.nothing, none, none[:, 0])
        self._enlarge(buffers, 1 << 12)
        return buffers

    def _enlarge(self, buffers: Buffers, size: int) -> None:
        buffers.out = self._room((size, buffers.out.shape[1]), np.int64)
        buffers.supports = self._room((size, buffers.supports.shape[1]), np.int64)
        buffers.owner = self._room((size,), np.int64)

    def _begin(self) -> list[Siblings]:
        buffers = self._buffers()
        start = ak.context(self.alphabet, self.nothing)
        rows, same = _everywhere(len(self.alphabet.labels)), np.array([ck.SAME])
        counts = buffers.counts
        known, pool = ck.no_ways(self.alphabet, 1, 0), buffers.scratch.pool
        ck.count_steps(self.alphabet, rows, start, same, counts, 0, known, pool, 0, buffers.scratch)
        stats = np.zeros(STATS + 1)
        while True:
            n = ck.collect(
                self.alphabet,
                start,
                self.limits,
                True,
                self.constants,
                counts,
                0,
                self.sizes,
                stats,
                buffers.out,
                buffers.supports,
                0,
            )
            if n <= len(buffers.out):
                break
            self._enlarge(buffers, 2 * n)
        self._idle.append(buffers)
        self.tallies.setdefault(1, Level()).add(stats)
        steps, supports = buffers.out[:n].copy(), buffers.supports[:n].astype(np.int32)
        good = self._allowed(self.nothing, steps, None, 1)
        self.found.add(-1, steps[good], supports[good])
        self.tallies[1].kept += len(good)
        return self._siblings(self.nothing, 0, steps[good], len(self.labels), 2)

    def _siblings(
        self, chain: Longs, start: int, steps: Longs, frequency: int, makes: int
    ) -> list[Siblings]:
        """The children of a pattern, some at a time: more where it covers few sequences."""
        if makes > self.conditions.max_length:
            return []
        facts = len(self.alphabet.bits) * frequency // max(len(self.labels), 1)
        at_once = max(self.n_together, FACTS_A_UNIT // max(facts, 1))
        return [
            Siblings(makes, chain, start + i, steps[i : i + at_once])
            for i in range(0, len(steps), at_once)
        ]

    def _count(self, unit: Siblings, buffers: Buffers) -> Counted:
        """Tallies; then for each refinement which child it is of, its step, and its supports."""
        rows = self._rows_of(unit.chain, buffers)
        counted = self._count_in_blocks(unit, rows, buffers)
        parts = []
        done = 0
        while done < len(unit.children):
            stats = np.zeros(STATS + 1)
            n = ck.grow(
                self.alphabet,
                rows,
                unit.chain,
                unit.children,
                done,
                counted,
                self._most_rows(self.row_bytes),
                self.limits,
                self.constants,
                buffers.counts,
                buffers.scratch,
                self.sizes,
                stats,
                buffers.out,
                buffers.supports,
                buffers.owner,
            )
            if n == ck.TOO_MANY:
                raise OverBudget
            if n < 0:
                self._enlarge(buffers, 2 * -n)
                continue
            parts.append(
                (
                    stats[None, :STATS],
                    buffers.owner[:n].astype(np.int32),
                    buffers.out[:n].astype(np.int32),
                    buffers.supports[:n].astype(np.int32),
                )
            )
            done = int(stats[-1])
        if len(parts) == 1:
            return parts[0]
        return tuple(map(np.concatenate, zip(*parts, strict=True)))

    def _count_in_blocks(self, unit: Siblings, rows: ck.Rows, buffers: Buffers) -> bool:
        """Count the children together, in one block of rows after the other, where it is worth it.

        What a block reads stays in the caches of the machine until all children have read it.
        """
        n_rows, n_children = len(rows.sequence), len(unit.children)
        if not 1 < n_children <= self.n_together or n_rows <= BLOCK:
            return False
        n_old = len(ak.context(self.alphabet, unit.chain).number) + int(self.alphabet.arity.max())
        n_states = int(ck.n_states(self.alphabet, n_old))
        self.budget.take(n_states * (4 * n_children + 16))  # for `Ways`
        a_call = self._rows_a_call(n_states, n_children)
        for begin in range(0, n_rows, a_call):
            self._pulse()
            if ck.count_children(
                self.alphabet,
                rows,
                begin,
                min(begin + a_call, n_rows),
                BLOCK,
                unit.chain,
                unit.children,
                self._most_rows(self.row_bytes),
                self.limits,
                buffers.counts,
                buffers.scratch,
            ):
                raise OverBudget
        return True

    def _rows_a_call(self, n_states: int, n_children: int) -> int:
        """How many rows to count before the search asks: more, where facts have many states."""
        facts = len(self.alphabet.bits) // max(len(self.labels), 1) + 1
        usual = FACTS_A_CALL // (facts * n_children)
        return max(usual, min(ROWS_A_STATE * n_states, LONGEST_CALL * usual), BLOCK)

    def _decode(self, unit: Siblings, counted: Counted) -> list[bytes | None] | None:
        """The canonical forms of refinements that may come up again; None for all, if none may.

        Of those that cannot the form is empty; of those that have an atom twice it is None.
        """
        if not self.crowded or not len(counted[1]):
            return None
        forms: list[bytes | None] = []
        _, owner, small, _ = counted
        steps = small.astype(np.int64)
        ends = np.searchsorted(owner, np.arange(len(unit.children) + 1))
        for c, child in enumerate(unit.children):
            chain = np.concatenate([unit.chain, child[None]])
            forms += self._forms(chain, steps[ends[c] : ends[c + 1]])
        return forms

    def _forms(self, chain: Longs, steps: Longs) -> list[bytes | None]:
        forms: list[bytes | None] = [b""] * len(steps)
        linked, again = steps[:, 0] >= 0, bool((chain[1:, 0] < 0).any())
        for here in (np.flatnonzero(linked & again), np.flatnonzero(~linked)):
            if not len(here):
                continue
            atoms = self._atoms(chain, steps[here])
            out, distinct = np.zeros_like(atoms), np.zeros(len(here), bool)
            n_variables = np.maximum(atoms[:, :, 1:].max(axis=(1, 2)) + 1, 0)
            canonical_all(atoms, n_variables, out, distinct)
            for place, i in enumerate(here.tolist()):
                forms[i] = out[place].tobytes() if distinct[place] else None
        return forms

    def _keep(
        self, unit: Siblings, counted: Counted, forms: list[bytes | None] | None
    ) -> list[Siblings]:
        stats, owner, small, supports = counted
        tally = self.tallies.setdefault(unit.makes, Level())
        for some in stats:
            tally.add(some)
        checks = self.conditions
        if checks.is_key or checks.admits or checks.forbids or forms is not None:
            good = self._allowed_of(unit, owner, small, forms)
            owner, small, supports = owner[good], small[good], supports[good]
        if not len(owner):
            return []
        start = self.found.n_rows
        self.found.add(unit.start + owner, small, supports)
        tally.kept += len(owner)
        if unit.makes == checks.max_length:
            return []
        steps, frequencies = small.astype(np.int64), supports.sum(axis=1)
        ends = np.searchsorted(owner, np.arange(len(unit.children) + 1)).tolist()
        made: list[Siblings] = []
        for c, child in enumerate(unit.children):
            begin, end = ends[c : c + 2]
            if begin < end:
                chain = np.concatenate([unit.chain, child[None]])
                most = int(frequencies[begin:end].max())
                made += self._siblings(chain, start + begin, steps[begin:end], most, unit.makes + 1)
        return made

    def _rows_of(self, chain: Longs, buffers: Buffers) -> ck.Rows:
        """The rows of a pattern, from those of its longest beginning that is still at hand."""
        at_hand = buffers.rows
        while at_hand and not (
            len(at_hand[-1][0]) <= len(chain)
            and np.array_equal(at_hand[-1][0], chain[: len(at_hand[-1][0])])
        ):
            at_hand.pop()
        if not at_hand:
            at_hand.append((chain[:0], _everywhere(len(self.alphabet.labels))))
        while len(at_hand[-1][0]) < len(chain):
            done, rows = at_hand[-1]
            k = len(done)
            before = ak.context(self.alphabet, done)
            most = self._most_rows(self.row_bytes)
            end = len(rows.sequence)
            rows = ck.advance(self.alphabet, rows, 0, end, before, chain[k], k == 0, most)
            if len(rows.sequence) > most:
                raise OverBudget
            at_hand.append((chain[: k + 1], rows))
        return at_hand[-1][1]

    def _allowed_of(
        self,
        unit: Siblings,
        owner: NDArray[np.int32],
        small: NDArray[np.int32],
        forms: list[bytes | None] | None,
    ) -> Longs:
        """Which refinements of some siblings are new and not forbidden."""
        steps = small.astype(np.int64)
        ends = np.searchsorted(owner, np.arange(len(unit.children) + 1)).tolist()
        good = [np.empty(0, np.int64)]
        for c, child in enumerate(unit.children):
            begin, end = ends[c : c + 2]
            if begin < end:
                chain = np.concatenate([unit.chain, child[None]])
                some = forms[begin:end] if forms is not None else None
                good.append(begin + self._allowed(chain, steps[begin:end], some, unit.makes))
        return np.concatenate(good)

    def _allowed(
        self, chain: Longs, steps: Longs, forms: list[bytes | None] | None, length: int
    ) -> Longs:
        """Which refinements of a pattern are new and not forbidden."""
        keep = np.ones(len(steps), bool)
        for i, form in enumerate(forms or ()):
            if form:
                keep[i] = form not in self._seen
                self._seen.add(form)
            elif form is None:
                keep[i] = False
        checks = self.conditions
        if checks.is_key or checks.admits or checks.forbids:
            linked = steps[:, 0] >= 0
            for here in (np.flatnonzero(keep & linked), np.flatnonzero(keep & ~linked)):
                for i, atoms in zip(here.tolist(), self._atoms(chain, steps[here]), strict=True):
                    if self._is_forbidden(atoms, first=not len(chain)):
                        keep[i] = False
                        self.tallies[length].forbidden += 1
        return np.flatnonzero(keep)

    def _atoms(self, chain: Longs, steps: Longs) -> Longs:
        """The atoms of refinements as rows of numbers; links are numbered after the relations.

        The steps are all of them with a link, or all without.
        """
        if not len(steps):
            return np.empty((0, 0, self.width), np.int64)
        every = [*(np.broadcast_to(step, steps.shape) for step in chain), steps]
        n_relations, rows = len(self.compiled.relations), []
        places = np.arange(self.width - 1)
        for step in every:
            if step[0, 0] >= 0:
                link = np.full((len(steps), self.width), UNUSED, np.int64)
                link[:, 0], link[:, 1:3] = n_relations + step[:, 1], step[:, 2:4]
                rows.append(link)
            used = places < self.arity[step[:, 4], None]
            fact = np.where(used, step[:, ARGUMENTS:], UNUSED)
            rows.append(np.concatenate([step[:, 4:5], fact], axis=1))
        return np.stack(rows, axis=1)


def _everywhere(n_sequences: int) -> ck.Rows:
    return ck.Rows(
        np.arange(n_sequences, dtype=np.int32),
        np.full(n_sequences, ~np.uint64(0)),
        np.empty((0, n_sequences), np.int32),
    )
