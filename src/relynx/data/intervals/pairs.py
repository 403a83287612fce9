"""Which intervals of a sequence are related, found without comparing all pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.data.allen import BEFORE, END, INVERSE, SHARE_TIME, START
from relynx.data.intervals import _pair_kernels as kernels
from relynx.logic.tables import ranges

Rows = NDArray[np.int64]
Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]

# The relations that the kernel finds; their inverses hold the other way round.
_NUMBERS = {
    "meets": kernels.MEETS,
    "overlaps": kernels.OVERLAPS,
    "starts": kernels.STARTS,
    "finished_by": kernels.FINISHED_BY,
    "contains": kernels.CONTAINS,
    "equals": kernels.EQUALS,
}


@dataclass(frozen=True, slots=True, eq=False)
class SortedIntervals:
    """Intervals in order of sequence, start and end; all numbers are from 0 on."""

    sequences: Rows  # of each interval
    starts: Rows
    ends: Rows
    offsets: Rows  # where those of each sequence begin

    def n_contacts(self) -> Rows:
        """For each interval how many before it in the order share time with it."""
        starts, ends = self._packed(self.starts), np.sort(self._packed(self.ends))
        over = np.searchsorted(ends, starts)  # of all sequences up to this
        return np.arange(len(starts)) - over

    def contacts(self, names: Iterable[str]) -> dict[str, Pairs]:
        """For each relation the pairs for which it holds; they share time."""
        wanted = [name for name in names if name in SHARE_TIME]
        if not wanted:
            return {}
        n = int(self.n_contacts().sum())
        first, second = np.empty(n, np.int32), np.empty(n, np.int32)
        relation = np.empty(n, np.int8)
        kernels.contacts(self.offsets, self.starts, self.ends, first, second, relation)
        out = {}
        for name in wanted:
            at = relation == _NUMBERS[name if name in _NUMBERS else INVERSE[name]]
            pair = (first[at], second[at]) if name in _NUMBERS else (second[at], first[at])
            if name == INVERSE[name]:  # equals, which holds both ways
                pair = np.concatenate(pair), np.concatenate(pair[::-1])
            out[name] = pair
        return out

    def links(self, dimension: str) -> Pairs:
        """The pairs that a dimension links: by start, by end, or as one before the other."""
        if dimension == BEFORE:
            starts, lengths = self.just_after()
            return np.repeat(np.arange(len(starts)), lengths), ranges(starts, lengths)
        assert dimension in (START, END)
        by = np.arange(len(self.starts))  # they are in the order of their starts
        if dimension == END:
            by = np.lexsort([self.ends, self.sequences])
        linked = 1 + np.flatnonzero(np.diff(self.sequences) == 0)
        return by[linked - 1], by[linked]

    def just_after(self) -> tuple[Rows, Rows]:
        """For each interval those directly after it, as a start and a length: all that start after
        it ends, but not after the first of them that ends. So steps lead to all after it, and none
        can be left out."""
        starts, ends = self._packed(self.starts), self._packed(self.ends)
        first = np.searchsorted(starts, ends, "right")
        least = np.minimum.accumulate(ends[::-1])[::-1]  # of this and all later ones
        last = np.searchsorted(starts, np.append(least, 0)[first], "right")
        here = first < self.offsets[self.sequences + 1]
        return first, np.where(here, last - first, 0)

    def gaps(self) -> tuple[Rows, NDArray[np.bool_]]:
        """For each interval the latest end of those before it, or its start if that is earlier, and
        which have one before them."""
        latest = np.maximum.accumulate(self._packed(self.ends)) - self.sequences * self._width()
        known = np.ones(len(latest), bool)
        known[self.offsets[:-1]] = False
        return np.minimum(np.roll(latest, 1), self.starts), known

    def _width(self) -> int:
        return int(self.ends.max(initial=0)) + 1

    def _packed(self, positions: Rows) -> Rows:
        """Times that rise from sequence to sequence."""
        return positions + self.sequences * self._width()
