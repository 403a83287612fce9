"""Which intervals of a sequence are related, found without comparing all pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.data.allen import BEFORE, END, SHARE_TIME, START
from relynx.data.intervals import _pair_kernels as kernels
from relynx.logic.tables import ranges

Rows = NDArray[np.int64]
Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]

# The number of a relation in the kernel, and whether it holds the other way round.
_NUMBERS = {
    "meets": (kernels.MEETS, False),
    "met_by": (kernels.MEETS, True),
    "overlaps": (kernels.OVERLAPS, False),
    "overlapped_by": (kernels.OVERLAPS, True),
    "starts": (kernels.STARTS, False),
    "started_by": (kernels.STARTS, True),
    "finished_by": (kernels.FINISHED_BY, False),
    "finishes": (kernels.FINISHED_BY, True),
    "contains": (kernels.CONTAINS, False),
    "during": (kernels.CONTAINS, True),
}


@dataclass(frozen=True, slots=True, eq=False)
class SortedIntervals:
    """Intervals in order of sequence, start and end; all numbers are from 0 on.

    Attributes
    ----------
    sequences, starts, ends
        Of each interval.
    offsets
        Where those of each sequence begin.
    """

    sequences: Rows
    starts: Rows
    ends: Rows
    offsets: Rows

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
            number, turned = _NUMBERS.get(name, (kernels.EQUALS, False))
            at = relation == number
            pair = (second[at], first[at]) if turned else (first[at], second[at])
            if name not in _NUMBERS:  # equals, which holds both ways
                pair = np.concatenate(pair), np.concatenate(pair[::-1])
            out[name] = pair
        return out

    def links(self, dimension: str) -> Pairs:
        """The pairs that a dimension links: by start, by end, or as one before the other."""
        if dimension == BEFORE:
            starts, lengths = self._just_after()
            return np.repeat(np.arange(len(starts)), lengths), ranges(starts, lengths)
        by = np.arange(len(self.starts))
        if dimension == END:
            by = np.lexsort([self.ends, self.sequences])
        else:
            assert dimension == START
        linked = 1 + np.flatnonzero(np.diff(self.sequences) == 0)
        return by[linked - 1], by[linked]

    def n_before(self) -> Rows:
        """For each interval how many the dimension `before` links it to."""
        return self._just_after()[1]

    def _just_after(self) -> tuple[Rows, Rows]:
        """For each interval those directly after it, with none between: a start and a length.

        Those are all that start after it ends, but not after the first of them that ends. Steps
        from one to the next lead to all that come after it, and no step can be left out.
        """
        starts, ends = self._packed(self.starts), self._packed(self.ends)
        first = np.searchsorted(starts, ends, "right")
        least = np.minimum.accumulate(ends[::-1])[::-1]  # of this and all later ones
        last = np.searchsorted(starts, np.append(least, 0)[first], "right")
        here = first < self.offsets[self.sequences + 1]
        return first, np.where(here, last - first, 0)

    def gaps(self) -> tuple[Rows, NDArray[np.bool_]]:
        """For each interval the latest end of those before it, or its start if that is earlier.

        And which intervals have one before them.
        """
        latest = np.maximum.accumulate(self._packed(self.ends)) - self.sequences * self._width()
        known = np.ones(len(latest), bool)
        known[self.offsets[:-1]] = False
        return np.minimum(np.roll(latest, 1), self.starts), known

    def _width(self) -> int:
        return int(self.ends.max(initial=0)) + 1

    def _packed(self, positions: Rows) -> Rows:
        """Times that rise from sequence to sequence."""
        return positions + self.sequences * self._width()
