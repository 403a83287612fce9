"""The start and end times of intervals, kept with the facts of their sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Longs
from relynx.logic import tables as tb


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Starts and ends of intervals; those of sequence i are at `offsets[i]` to `offsets[i + 1]`."""

    offsets: Longs
    starts: NDArray[Any]
    ends: NDArray[Any]

    def part(self, positions: Longs) -> Times:
        lengths = self.offsets[positions + 1] - self.offsets[positions]
        at = tb.ranges(self.offsets[positions], lengths)
        return Times(offsets_of(lengths), self.starts[at], self.ends[at])

    @classmethod
    def concatenated(cls, parts: Sequence[Times | None]) -> Times | None:
        """The times of all parts, one after the other; None where one has none."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return cls(
            offsets_of(np.concatenate([np.diff(part.offsets) for part in known])),
            np.concatenate([part.starts for part in known]),
            np.concatenate([part.ends for part in known]),
        )


def offsets_of(lengths: Longs) -> Longs:
    """The offsets of consecutive ranges of given lengths, and the end of the last."""
    out = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=out[1:])
    return out
