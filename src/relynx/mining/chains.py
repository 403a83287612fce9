"""Pattern growth where every sequence is a line of at most 64 events: the fast engine of the miner.

It takes a bias with one dimension and facts as `alphabet` says. Patterns grow from left to right,
facts are added to the last event only, and each pattern comes up once, except where an event has
several facts: there variants are told by their canonical form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relynx.mining import _alphabet_kernels as ak
from relynx.mining import _chain_kernels as ck
from relynx.mining._growth_kernels import canonical_all
from relynx.mining._kernels import LINE
from relynx.mining.alphabet import alphabet_of, is_simple, most_variables, n_codes, scratch
from relynx.mining.engine import STATS, UNUSED, Conditions, Engine, Level, Longs
from relynx.mining.language import Compiled
from relynx.mining.trie import ARGUMENTS

MOST_COUNTERS = 1 << 26  # that are worth holding
FACTS_AT_ONCE = 1 << 19  # that are looked at before the search asks whether to go on


def fits(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Can this engine search this language in these data?"""
    if len(compiled.dimensions) != 1 or len(conditions.steps) >= ck.LANE_BITS:
        return False
    if bool((compiled.index.dimensions[compiled.dimensions[0]].shape != LINE).any()):
        return False
    if not is_simple(compiled, conditions, object_identity=object_identity):
        return False
    size = n_codes(compiled, most_variables(compiled, conditions))
    return size * len(conditions.least) * (len(conditions.steps) + 1) <= MOST_COUNTERS


class Chains(Engine):
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
        self._rows: list[tuple[Longs, ck.Rows]] = []
        most_old = conditions.max_length * int(self.alphabet.arity.max(initial=0))
        size = max(int(ak.bases(self.alphabet, n)[-1]) for n in range(most_old + 1))
        per_word = ck.lanes_per_word(int(self.class_sizes.max(initial=0)))
        n_words = max(1, -(-len(lanes) // per_word))
        self.counts = ck.Counts(
            np.full(size, -1, np.int64),
            np.zeros((size, n_classes, n_words), np.uint64),
            np.zeros(size, np.int64),
            ck.added(per_word),
        )
        self.scratch = scratch(self.alphabet)
        self._room(1 << 12)

    def _room(self, size: int) -> None:
        n_classes = len(self.class_sizes)
        self.out = np.empty((size, ARGUMENTS + self.width - 1), np.int64)
        self.supports = np.empty((size, n_classes), np.int64)
        self.owner = np.empty(size, np.int64)

    def run(self, on_pattern: Callable[[int], bool]) -> int:
        """Search until done or `on_pattern(length)` says stop; the length that is complete."""
        nothing = np.empty((0, self.out.shape[1]), np.int64)
        groups = [(-1, nothing, *self._first_atoms())]
        for length in range(1, self.conditions.max_length):
            following = []
            for row, chain, start, steps in groups:
                more = self._refine(row, chain, start, steps, length + 1, on_pattern)
                if more is None:
                    return length
                following += more
            groups = following
            if not groups:
                break
        return self.conditions.max_length

    def _first_atoms(self) -> tuple[int, Longs]:
        n_seq = len(self.alphabet.labels)
        rows = _everywhere(n_seq)
        start = ak.context(self.alphabet, np.empty((0, self.out.shape[1]), np.int64))
        same = np.array([ck.SAME])
        touched = ck.count_steps(self.alphabet, rows, start, same, self.counts, self.scratch)
        stats = np.zeros(STATS + 1)
        while True:
            n = ck.collect(
                self.alphabet,
                start,
                self.limits,
                True,
                touched,
                self.constants,
                self.counts,
                self.sizes,
                stats,
                self.out,
                self.supports,
                0,
            )
            if n <= len(self.out):
                break
            self._room(2 * n)
        self.tallies.setdefault(1, Level()).add(stats)
        chain = np.empty((0, self.out.shape[1]), np.int64)
        steps = self.out[:n].copy()
        good = self._allowed(chain, steps, 1)
        first = self.found.n_rows
        self.found.add(-1, steps[good], self.supports[:n][good].astype(np.int32))
        self.tallies[1].kept += len(good)
        return first, steps[good]

    def _refine(
        self,
        row: int,
        chain: Longs,
        start: int,
        children: Longs,
        length: int,
        on_pattern: Callable[[int], bool],
    ) -> list[tuple[int, Longs, int, Longs]] | None:
        """Refine the children of a pattern; the groups of siblings that this makes.

        None when `on_pattern` says stop.
        """
        rows = self._rows_of(chain)
        facts = len(self.alphabet.bits) * len(rows.sequence) // max(len(self.alphabet.labels), 1)
        at_once = max(1, FACTS_AT_ONCE // max(facts, 1))
        groups = []
        done = 0
        while done < len(children):
            if not on_pattern(length):
                return None
            stats = np.zeros(STATS + 1)
            n = ck.grow(
                self.alphabet,
                rows,
                chain,
                children[done : done + at_once],
                self.limits,
                self.constants,
                self.counts,
                self.scratch,
                self.sizes,
                stats,
                self.out,
                self.supports,
                self.owner,
            )
            if n < 0:
                self._room(2 * -n)
                continue
            self.tallies.setdefault(length, Level()).add(stats)
            ends = np.searchsorted(self.owner[:n], np.arange(int(stats[-1]) + 1))
            for c in range(int(stats[-1])):
                steps = self.out[ends[c] : ends[c + 1]]
                if not len(steps):
                    continue
                longer = np.concatenate([chain, children[done + c][None, :]])
                good = self._allowed(longer, steps, length)
                first = self.found.n_rows
                supports = self.supports[ends[c] : ends[c + 1]][good]
                steps = steps[good]
                self.found.add(start + done + c, steps, supports.astype(np.int32))
                self.tallies[length].kept += len(steps)
                if len(steps) and length < self.conditions.max_length:
                    groups.append((start + done + c, longer, first, steps))
            done += int(stats[-1])
        return groups

    def _rows_of(self, chain: Longs) -> ck.Rows:
        """The rows of a pattern, from those of its longest beginning that is still at hand."""
        while self._rows and not (
            self._rows[-1][0].shape[0] <= len(chain)
            and np.array_equal(self._rows[-1][0], chain[: len(self._rows[-1][0])])
        ):
            self._rows.pop()
        if not self._rows:
            self._rows.append((chain[:0], _everywhere(len(self.alphabet.labels))))
        while len(self._rows[-1][0]) < len(chain):
            done, rows = self._rows[-1]
            k = len(done)
            before = ak.context(self.alphabet, done)
            rows = ck.advance(self.alphabet, rows, before, chain[k], k == 0)
            self._rows.append((chain[: k + 1], rows))
        return self._rows[-1][1]

    def _allowed(self, chain: Longs, steps: Longs, length: int) -> Longs:
        """Which refinements are new and not forbidden."""
        good = np.arange(len(steps))
        crowded = steps[:, 0] < 0 if len(chain) else np.zeros(len(steps), bool)
        if len(chain) > 1 and bool((chain[1:, 0] < 0).any()):
            crowded[:] = True
        checks = self.conditions
        if not (checks.is_key or checks.admits or checks.forbids or crowded.any()):
            return good
        keep = np.ones(len(steps), bool)
        for linked in (True, False):
            here = np.flatnonzero(crowded & ((steps[:, 0] >= 0) == linked))
            if not len(here):
                continue
            atoms = np.stack([self._atoms(chain, steps[i]) for i in here])
            out, distinct = np.zeros_like(atoms), np.zeros(len(here), bool)
            n_variables = np.maximum(atoms[:, :, 1:].max(axis=(1, 2)) + 1, 0)
            canonical_all(atoms, n_variables, out, distinct)
            for place, i in enumerate(here.tolist()):
                form = out[place].tobytes()
                keep[i] = distinct[place] and form not in self._seen
                self._seen.add(form)
        if checks.is_key or checks.admits or checks.forbids:
            for i in np.flatnonzero(keep).tolist():
                if self._is_forbidden(self._atoms(chain, steps[i]), first=not len(chain)):
                    keep[i] = False
                    self.tallies[length].forbidden += 1
        return np.flatnonzero(keep)

    def _atoms(self, chain: Longs, step: Longs) -> Longs:
        """The atoms of a pattern as rows of numbers; links are numbered after the relations."""
        n_relations = len(self.compiled.relations)
        rows = []
        for link in [*chain, step]:
            if link[0] >= 0:
                rows.append([n_relations + int(link[1]), *link[2:4]])
            k = len(self.compiled.types[int(link[4])])
            rows.append([int(link[4]), *link[ARGUMENTS : ARGUMENTS + k]])
        return np.array([[*row, *[UNUSED] * (self.width - len(row))] for row in rows], np.int64)


def _everywhere(n_sequences: int) -> ck.Rows:
    return ck.Rows(
        np.arange(n_sequences),
        np.full(n_sequences, ~np.uint64(0)),
        np.empty((0, n_sequences), np.int64),
    )
