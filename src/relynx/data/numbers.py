"""Numbers of a table that its facts have as ranges only, and when each sequence begins and ends.

Patterns do not need them; a method that computes means and durations does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relynx.arrays import Floats, Longs
from relynx.data.times import offsets_of
from relynx.logic import tables as tb


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of columns that were cut into ranges, and the times of sequences.

    Attributes
    ----------
    names
        The columns that were cut.
    offsets
        The events of sequence i are those from `offsets[i]` to `offsets[i + 1]`, in order.
    values
        The number of each event in each column, NaN for none; shape (n_names, n_events).
    spans
        When each sequence begins and ends by the order, as a number or in seconds from 1970; shape
        (2, n_sequences). None where there is no such order.
    """

    names: tuple[str, ...]
    offsets: Longs
    values: Floats
    spans: Floats | None

    def part(self, positions: Longs) -> Numbers:
        lengths = self.offsets[positions + 1] - self.offsets[positions]
        at = tb.ranges(self.offsets[positions], lengths)
        spans = None if self.spans is None else self.spans[:, positions]
        return Numbers(self.names, offsets_of(lengths), self.values[:, at], spans)

    @classmethod
    def concatenated(cls, parts: Sequence[Numbers | None]) -> Numbers | None:
        """The numbers of all parts, one after the other; None where they are not of one kind."""
        known = [part for part in parts if part is not None]
        kinds = {(part.names, part.spans is None) for part in known}
        if len(known) < len(parts) or len(kinds) > 1:
            return None
        spans = [part.spans for part in known if part.spans is not None]
        return cls(
            known[0].names,
            offsets_of(np.concatenate([np.diff(part.offsets) for part in known])),
            np.hstack([part.values for part in known]),
            np.hstack(spans) if spans else None,
        )
