"""Pattern growth over lists of matches: the general engine of the miner.

Level by level, one pass over the matches of a pattern counts all its refinements that occur. The
matches themselves are made again when a level is worked on, from those of the parent: memory holds
the matches of one pattern and its ancestors. Siblings are refined some at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relynx.errors import BiasError
from relynx.mining.engines.base import STATS, Counted, Engine, Longs, Siblings
from relynx.mining.engines.general import _general_kernels as gk
from relynx.mining.engines.general import _refinement_kernels as rk
from relynx.mining.engines.general import _sibling_kernels as sk
from relynx.mining.patterns.trie import ARGUMENTS
from relynx.mining.report import SearchLevel

# What is looked at before the search asks whether to go on: matches, and events from them.
ROWS_AT_ONCE = 1 << 14
EVENTS_AT_ONCE = 1 << 17
LINKS_AT_ONCE = 1 << 22  # to events that need no look any more
LISTED = 8  # stretches of matches, from which those of a child are listed without asking
FORMS_AT_ONCE = 1 << 12  # of refinements, which are written down without asking
# What is looked at for siblings that are refined at once, and how many refinements they may have.
FACTS_AT_ONCE = 1 << 17
REFINEMENTS_AT_ONCE = 1 << 15
LOOKS_A_MATCH = 4  # of the parent, where nothing but links between old events is looked for

_TOO_MANY = (
    "the bias admits too many constants for patterns of this length: "
    "name those that matter with values(type,[...]), or make the others variables"
)

Ints = NDArray[np.int32]
Matches = tuple[Ints, Ints]  # a row a variable; the sequences
_NO_MATCHES: Matches = np.empty((0, 0), np.int32), np.empty(0, np.int32)


@dataclass(slots=True)
class Buffers:
    """Counters, room for a child's matches and for what is frequent, and matches of ancestors."""

    counts: gk.Counts
    columns: Matches
    frequent: sk.Frequent
    matches: list[tuple[Ints, Matches]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Refinements:
    """What some siblings become."""

    steps: Ints
    longer: NDArray[np.bool_]  # by an atom; else by a link between old events
    closable: NDArray[np.bool_]  # whether such a link can be added
    forms: list[bytes | None]  # None where an atom comes twice
    atoms: Longs  # all rows, where the bias asks for them
    offset: list[int]


class General(Engine[Buffers, "Refinements | None"]):
    """Searches every language."""

    def _prepare(self) -> None:
        compiled, conditions = self.compiled, self.conditions
        self.data = compiled.data()
        self.language = compiled.language(first=False, injective=self.object_identity)
        sizes = [len(codes) for codes in compiled.constants]
        self.rules = rk.Rules(
            labels=self.labels,
            class_sizes=np.maximum(self.class_sizes, 1),
            least=conditions.least,
            min_frequency=conditions.min_frequency,
            max_length=conditions.max_length,
            dimensions=np.array(compiled.dimensions, np.int64),
            acyclic=np.array([not d.has_graphs for d in compiled.dimension_paths], np.bool_),
            steps=np.array(conditions.steps, np.int64),
            constants=np.concatenate([np.empty(0, np.int64), *compiled.constants]),
            constant_off=np.cumsum([0, *sizes]),
            n_nodes=compiled.index.n_nodes,
            width=self.width,
            bases=compiled.bases(4 * self.width),
        )
        self.longest = max(compiled.index.longest, 1)
        self.rows_at_once = max(min(ROWS_AT_ONCE, EVENTS_AT_ONCE // self.longest), 1)
        self.most_at_once = max(min(ROWS_AT_ONCE, LINKS_AT_ONCE // self.longest), 1)
        self.nothing = np.empty((0, ARGUMENTS + self.width - 1), np.int32)
        self.at_once = np.array([EVENTS_AT_ONCE, self.rows_at_once, self.most_at_once])

    def _buffers(self) -> Buffers:
        return Buffers(self._table(1 << 12), _NO_MATCHES, self._frequent(1 << 10))

    # Counting

    def _begin(self) -> list[Siblings]:
        buffers = self._buffers()
        no_step = np.zeros((1, self.nothing.shape[1]), np.int32)
        root = Siblings(0, self.nothing, np.array([-1]), no_step)
        first = (
            self.compiled.first_facts(self.data),
            self.compiled.language(first=True, injective=self.object_identity),
        )
        what = sk.COUNT | sk.COLLECT
        while self._grow(what, root, 0, buffers, columns=self._everywhere(), first=first)[0]:
            pass
        # As if each link led from each fact to all events of its sequence.
        n_links = len(self.rules.dimensions) * len(self.rules.steps)
        n_facts = int(self.data.size.sum()) // max(int(buffers.frequent.n[0]), 1)
        looks = n_facts * self.longest * (1 + n_links)
        counted = self._taken(buffers, np.array([[looks, 0]]))
        self._idle.append(buffers)
        return self._keep(root, counted, self._decode(root, counted))

    def _count(self, unit: Siblings, buffers: Buffers) -> Counted:
        """Tallies of refinements and of closings; of those that are frequent, in order, the child
        that they are of, their keys and supports; for each child its efforts: how much was looked
        at, and its matches."""
        matches, sequence = self._matches(unit.chain, buffers)
        is_small = len(_stretches(len(sequence), self.rows_at_once)) <= LISTED
        self._widen(buffers, len(matches) + self.width, 0)
        efforts = np.zeros((len(unit.steps), 2), np.int64)
        done = 0
        while done < len(unit.steps):
            self._pulse()
            why = sk.LARGE
            if is_small:
                why, done = self._grow(
                    sk.ALL, unit, done, buffers, matches=(matches, sequence), efforts=efforts
                )
            if why == sk.LARGE:
                efforts[done] = self._refine(unit, done, (matches, sequence), buffers)
                done += 1
        return self._taken(buffers, efforts)

    def _grow(
        self,
        what: int,
        unit: Siblings,
        done: int,
        buffers: Buffers,
        *,
        matches: Matches | None = None,
        columns: Matches | None = None,
        span: tuple[int, int] | None = None,
        efforts: Longs | None = None,
        first: tuple[gk.Facts, gk.Language] | None = None,
    ) -> tuple[int, int]:
        """Call the kernel, and make the room that it wants; why it ended, and what is done."""
        matches = _NO_MATCHES if matches is None else matches
        given = buffers.columns if columns is None else columns
        data, language = (self.data, self.language) if first is None else first
        rows = (given if matches is _NO_MATCHES else matches)[1]
        efforts = np.zeros((done + 1, 2), np.int64) if efforts is None else efforts
        known = data, language, self._rules(len(unit.chain) + 1)
        steps = unit.chain, unit.steps[:0] if first else unit.steps
        room = *given, buffers.counts, buffers.frequent, efforts
        begin, end = span or (0, len(rows))
        why, done = sk.grow(*known, *matches, begin, end, *steps, done, self.at_once, *room, what)
        if why == sk.TOO_MANY_CODES:
            raise BiasError(_TOO_MANY)
        if why == sk.MORE_COLUMNS and columns is None:
            self._widen(buffers, len(matches[0]) + self.width, int(buffers.frequent.n[1]))
        elif why == sk.MORE_COUNTERS:
            self._enlarge(buffers)
        elif why == sk.MORE_ROWS:
            self._lengthen(buffers)
        return why, done

    def _refine(
        self, unit: Siblings, child: int, matches_before: Matches, buffers: Buffers
    ) -> list[int]:
        """Count the refinements of one child, some matches at a time; its efforts."""
        columns, at_once = self._extended(unit, child, matches_before, buffers)
        stretches = _stretches(len(columns[1]), at_once)
        efforts = np.zeros((child + 1, 2), np.int64)
        i, looks = 0, len(matches_before[1])
        while i < len(stretches):
            self._pulse()
            why, _ = self._grow(
                sk.COUNT, unit, child, buffers, columns=columns, span=stretches[i], efforts=efforts
            )
            looks += int(efforts[child, 0])
            i += 1
            if why == sk.MORE_COUNTERS:
                i, looks = 0, len(matches_before[1])
        while self._grow(sk.COLLECT, unit, child, buffers)[0]:
            pass
        return [looks, len(columns[1])]

    def _taken(self, buffers: Buffers, efforts: Longs) -> Counted:
        """What `_count` gives, of all that was noted since the last time."""
        stats, _, owner, keys, supports, n = buffers.frequent
        end = int(n[0])
        counted = stats.copy(), owner[:end].copy(), keys[:end].copy(), supports[:end].copy()
        n[:], stats[:] = 0, 0
        return *counted, efforts

    # Decoding

    def _decode(self, unit: Siblings, counted: Counted) -> Refinements | None:
        _, owner, keys, _, _ = counted
        n = len(keys)
        if not n:
            return None
        n_atoms = int((unit.chain[:, [0, 4]] >= 0).sum()) + 4  # at most: two a step
        self.budget.take(n * (12 * n_atoms * self.width + 4 * self.nothing.shape[1]))
        steps = np.empty((n, self.nothing.shape[1]), np.int32)
        atoms = np.empty((n * n_atoms, self.width), np.int64)
        forms = np.empty((n * n_atoms, self.width), np.int32)
        offset = np.zeros(n + 1, np.int64)
        distinct, longer, closable = np.zeros((3, n), np.bool_)
        siblings = unit.chain, unit.steps, unit.makes == 0
        given = self.language, self._rules(len(unit.chain) + 1), *siblings, owner, keys
        written = steps, atoms, forms, offset, distinct, longer, closable
        for begin in range(0, n, FORMS_AT_ONCE):
            self._pulse()
            rk.decode(*given, begin, min(begin + FORMS_AT_ONCE, n), *written)
        text = forms[: offset[-1]].tobytes()
        starts, size = offset.tolist(), 4 * self.width
        texts = [
            text[size * begin : size * end] if alone else None
            for (begin, end), alone in zip(pairwise(starts), distinct.tolist(), strict=True)
        ]
        if not self.has_checks:
            atoms = atoms[:0]
        return Refinements(steps, longer, closable, texts, atoms, starts)

    # What is kept

    def _keep(
        self, unit: Siblings, counted: Counted, decoded: Refinements | None
    ) -> list[Siblings]:
        stats, owner, _, supports, efforts = counted
        kept: list[int] = []
        forbidden: list[int] = []  # lengths
        if decoded is not None:
            offset, all_atoms = decoded.offset, decoded.atoms
            kept, against = self._admitted(
                decoded.forms, lambda i: all_atoms[offset[i] : offset[i + 1]], first=not unit.makes
            )
            forbidden = [unit.makes + int(decoded.longer[i]) for i in against]
        for length, some in zip((unit.makes + 1, unit.makes), stats, strict=True):
            if some[0]:
                self.tallies.setdefault(length, SearchLevel(length)).add(some)
        for length in forbidden:
            self.tallies[length].forbidden += 1
        if decoded is not None and kept and self.is_known is not None:
            known = self.is_known(self._covered(supports[kept]))
            is_open = decoded.closable | (unit.makes + decoded.longer < self.conditions.max_length)
            kept = [
                i for i, flag in zip(kept, known.tolist(), strict=True) if is_open[i] or not flag
            ]
        if decoded is None or not kept:
            return []
        start, most = self.found.n_rows, self.conditions.max_length
        owner, steps, longer = owner[kept], decoded.steps[kept], decoded.longer[kept]
        self.found.add(unit.rows[owner], steps, supports[kept, : self.n_classes])
        if self.n_covered:
            self.found.covered.append(self._covered(supports[kept]))
        lengths = unit.makes + longer
        for length, n in enumerate(np.bincount(lengths).tolist()):
            if n:
                self.tallies[length].kept += n
        is_open = decoded.closable[kept] | (lengths < most)
        made: list[Siblings] = []
        ends = np.searchsorted(owner, np.arange(len(unit.steps) + 1)).tolist()
        for child, (begin, end) in enumerate(pairwise(ends)):
            if not is_open[begin:end].any():
                continue
            chain = np.concatenate([unit.chain, unit.steps[child : child + 1]])
            if not unit.makes:
                chain = self.nothing
            for length in (unit.makes + 1, unit.makes):
                here = is_open[begin:end] & (lengths[begin:end] == length)
                places = begin + np.flatnonzero(here)
                looks, n_matches = efforts[child].tolist()
                effort = looks if length < most else LOOKS_A_MATCH * n_matches
                at_once = min(FACTS_AT_ONCE // max(effort, 1), REFINEMENTS_AT_ONCE // (end - begin))
                at_once = max(at_once, 1)
                for i in range(0, len(places), at_once):
                    some = places[i : i + at_once]
                    made.append(Siblings(length, chain, start + some, steps[some]))
        return made

    def _covered(self, supports: Ints) -> NDArray[np.uint64]:
        """The bits of patterns, which stand behind their supports."""
        covered = np.ascontiguousarray(supports[:, self.n_classes :]).astype("<i4", copy=False)
        return covered.view("<u8")

    # Matches

    def _matches(self, chain: Ints, buffers: Buffers) -> Matches:
        """The matches of a pattern; those of others than its beginnings are let go."""
        at_hand = buffers.matches
        while at_hand and not np.array_equal(at_hand[-1][0], chain[: len(at_hand[-1][0])]):
            at_hand.pop()
        if not at_hand:
            at_hand.append((self.nothing, self._everywhere()))
        while len(at_hand[-1][0]) < len(chain):
            done, matches = at_hand[-1]
            n = len(done)
            step = Siblings(0, done, np.array([-1]), chain[n : n + 1])
            at_hand.append((chain[: n + 1], self._extended(step, 0, matches, buffers)[0]))
        return at_hand[-1][1]

    def _everywhere(self) -> Matches:
        """The matches of no atom: each sequence once."""
        n = len(self.labels)
        return np.empty((0, n), np.int32), np.arange(n, dtype=np.int32)

    def _extended(
        self, unit: Siblings, child: int, matches_before: Matches, buffers: Buffers
    ) -> tuple[Matches, int]:
        """The matches of a child from those of its parent, and how many to look at at once."""
        matches, sequence = matches_before
        n_variables = len(matches) + self.width - 1  # at most
        efforts = np.zeros((child + 1, 2), np.int64)
        parts = []
        for begin, end in _stretches(len(sequence), self.rows_at_once):
            self._pulse()
            size = max(2 * (end - begin), 64)
            while True:
                self.budget.take(4 * (n_variables + 1) * size)
                out = np.empty((n_variables, size), np.int32), np.empty(size, np.int32)
                self._grow(
                    sk.LIST,
                    unit,
                    child,
                    buffers,
                    matches=matches_before,
                    columns=out,
                    span=(begin, end),
                    efforts=efforts,
                )
                total = int(buffers.frequent.n[1])
                if total <= size:
                    break
                size = total
            n_variables = int(efforts[child, 0])
            parts.append((out[0][:n_variables, :total].copy(), out[1][:total].copy()))
        if len(parts) == 1:
            return parts[0], int(efforts[child, 1])
        self.budget.take(sum(4 * (len(one) + 1) * one.shape[1] for one, _ in parts))
        whole = (
            np.concatenate([one for one, _ in parts], axis=1),
            np.concatenate([one for _, one in parts]),
        )
        return whole, int(efforts[child, 1])

    def _rules(self, n_steps: int) -> rk.Rules:
        """With the codes that the refinements of so many steps may need."""
        n_rows = n_steps * (self.width - 1) + 2  # a step brings no more variables than this
        if len(self.rules.bases) < n_rows:
            self.rules = self.rules._replace(bases=self.compiled.bases(2 * n_rows))
        return self.rules

    # Room

    def _table(self, size: int) -> gk.Counts:
        return gk.Counts(
            self._room((size,), np.int64, -1),
            self._room((size,), np.int32, -1),
            self._room((size, self.n_classes + 2 * self.n_covered), np.int32),
            self._room((size,), np.int64),
            np.array([0, self.n_classes]),
        )

    def _enlarge(self, buffers: Buffers) -> None:
        buffers.counts = self._table(4 * len(buffers.counts.keys))

    def _widen(self, buffers: Buffers, n_variables: int, size: int) -> None:
        """Make room for matches of so many variables."""
        columns = buffers.columns[0]
        if len(columns) < n_variables or columns.shape[1] < size:
            size = max(columns.shape[1], 1 << max(size - 1, 1023).bit_length())
            n_variables = max(len(columns), n_variables)
            buffers.columns = (
                self._room((n_variables, size), np.int32),
                self._room((size,), np.int32),
            )

    def _frequent(self, size: int) -> sk.Frequent:
        return sk.Frequent(
            np.zeros((2, STATS)),
            np.zeros((2, STATS)),
            self._room((size,), np.int32),
            self._room((size,), np.int64),
            self._room((size, self.n_classes + 2 * self.n_covered), np.int32),
            np.zeros(2, np.int64),
        )

    def _lengthen(self, buffers: Buffers) -> None:
        """Make room for as much as was wanted; what was noted stays."""
        old = buffers.frequent
        n, wanted = old.n.tolist()
        buffers.frequent = more = self._frequent(1 << wanted.bit_length())
        more.stats[:], more.n[:] = old.stats, old.n
        for name in ("owner", "keys", "supports"):
            getattr(more, name)[:n] = getattr(old, name)[:n]


def _stretches(n_rows: int, at_once: int) -> list[tuple[int, int]]:
    """Where to cut matches so that few are looked at before the search asks whether to go on. A
    sequence may be cut: its counters know that it was counted."""
    return [*pairwise([*range(0, n_rows, at_once), n_rows])] or [(0, 0)]
