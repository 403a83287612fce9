"""The starts and ends of intervals as positions on one time scale, and which of them are related.

The related ones are found without comparing all pairs of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Longs
from relynx.data.allen import BEFORE, END, INVERSE, SHARE_TIME, START
from relynx.data.tables.columns import (
    MICROSECOND,
    MIDNIGHT,
    ONE_ZONE,
    Values,
    WrongColumn,
    nanoseconds,
)
from relynx.data.tables.inputs import Cells
from relynx.logic.tables import ranges
from relynx.logic.terms import constant_text

Pairs = tuple[NDArray[np.integer], NDArray[np.integer]]

EXACT = 2**53  # below which floats hold all integers
SAFE = 2**62  # below which a difference of integers fits in 64 bits
MICROSECONDS, NANOSECONDS = 10**6, 10**9  # in a second
TYPES: dict[str, Any] = {"integer": np.int64, "number": np.float64}
NUMBERS = ("integer", "number")


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """The times of all rows as positions on one scale."""

    moments: NDArray[Any]  # the different times, rising
    starts: Longs  # for each row the position of its start among them
    ends: Longs
    unit: int  # the difference of two moments that counts as 1: a second, where they are dates

    def between(self, first: Longs, second: Longs, known: Bools | None = None) -> Values:
        """The time from one position to another, in the known rows."""
        with np.errstate(over="ignore"):  # of floats; a length is then the largest there is
            lengths = self.moments[second] - self.moments[first]
        if self.unit > 1 or lengths.dtype == object:
            lengths = np.asarray(lengths / self.unit, np.float64)
        if lengths.dtype.kind == "f":
            lengths = np.minimum(lengths, np.finfo(np.float64).max)
        return Values.of_numbers(lengths, None if known is None else ~known)

    def spans(self, order: Longs, offsets: Longs) -> Floats:
        """When the first interval of each sequence starts and the last one ends; see `Numbers`."""
        first = np.minimum.reduceat(self.starts[order], offsets[:-1])
        last = np.maximum.reduceat(self.ends[order], offsets[:-1])
        return np.stack([self.moments[at].astype(np.float64) / self.unit for at in (first, last)])


def read_times(cells: Cells, start: str, end: str) -> Scale:
    """The starts and ends of a table that lacks none. Raises DataError with all that is wrong."""
    columns = {name: cells.values(name) for name in (start, end)}
    moments: dict[str, Sequence[datetime]] = {}
    for name, values in columns.items():
        try:
            if values.type == "boolean":
                raise WrongColumn("holds true and false", "give numbers or dates")
            columns[name] = times = cells.times(name)
            moments[name] = times.moments() if times.type == "text" else ()
        except WrongColumn as error:
            cells.wrong_column(name, error)
    cells.check()
    numbers = [name for name, values in columns.items() if values.type in NUMBERS]
    if len(numbers) == 1:
        other = end if numbers[0] == start else start
        what = f"column {numbers[0]!r} holds numbers, and column {other!r} dates"
        cells.wrong(what, "give both as numbers, or both as dates")
    zones = {
        name: columns[name].zoned or (len(some) > 0 and some[0].tzinfo is not None)
        for name, some in moments.items()
    }
    if len(set(zones.values())) > 1:
        with_zone, without = sorted(zones, key=lambda name: not zones[name])
        what = f"the times of column {with_zone!r} have a time zone, those of {without!r} have none"
        cells.wrong(what, ONE_ZONE)
    cells.check()
    scale = _one_scale(columns[start], columns[end], moments[start], moments[end])
    early = scale.ends < scale.starts
    if early.any():
        row = int(early.argmax())
        one, two = (constant_text(v.constants[v.codes[row]]) for v in columns.values())
        what = f"the interval ends before it starts in {cells.rows_text(early)}"
        hint = "exchange the two times, or leave these rows out"
        cells.wrong(f"{what}: it is from {one} to {two} in {cells.row_name(row)}", hint)
    cells.check()
    return scale


def given_times(values: Values) -> NDArray[Any]:
    """The times of all rows as the table has them: integers, floats, or texts of dates."""
    constants: NDArray[Any] = np.empty(len(values.constants), TYPES.get(values.type, object))
    constants[:] = values.constants
    if values.zoned:  # dates in UTC, and texts that say so
        dates = map(str, values.constants)
        constants[:] = [f"{date}{'' if 'T' in date else MIDNIGHT}+00:00" for date in dates]
    return constants[values.codes]


def _one_scale(
    starts: Values, ends: Values, first: Sequence[datetime], second: Sequence[datetime]
) -> Scale:
    """Two columns on one scale; texts come with the moments that they name."""
    unit = 1
    if starts.type in NUMBERS:
        mixed = starts.type != ends.type
        numbers = [_numbers(values, mixed) for values in (starts, ends)]
        if any(array.dtype == object for array in numbers):
            numbers = [array.astype(object) for array in numbers]
    else:
        ticks = [list(map(nanoseconds, some)) for some in (first, second)]
        fine = any(_is_fine(values) for values in (starts, ends))
        fine = fine or any(tick % MICROSECOND for some in ticks for tick in some)
        unit = NANOSECONDS if fine else MICROSECONDS
        pairs = zip((starts, ends), ticks, strict=True)
        numbers = [_ticks(values, some, fine) for values, some in pairs]
    moments, positions = np.unique(np.concatenate(numbers), return_inverse=True)
    split = len(numbers[0])
    return Scale(moments, positions[:split][starts.codes], positions[split:][ends.codes], unit)


def _numbers(values: Values, mixed: bool) -> NDArray[Any]:
    """The different numbers of a column, as Python's own where those of numpy would not do."""
    constants: Any = values.constants
    if values.type == "number":
        return np.array(constants, np.float64)
    largest = max(map(abs, constants), default=0)
    return np.array(constants, np.int64 if largest < (EXACT if mixed else SAFE) else object)


def _is_fine(values: Values) -> bool:
    """Whether some date of a column has a fraction of a microsecond."""
    fractions = (str(constant).partition(".")[2] for constant in values.constants)
    return values.type == "date" and any(len(fraction) > 6 for fraction in fractions)


def _ticks(values: Values, nanoseconds: Sequence[int], fine: bool) -> NDArray[Any]:
    """Microseconds; of fine times nanoseconds, as integers of Python: those of 64 bits end in 2262,
    and many tables have a date of 9999."""
    if values.type == "text":
        ticks = nanoseconds if fine else [tick // MICROSECOND for tick in nanoseconds]
        return np.array(ticks, object if fine else np.int64)
    if not fine:
        return np.array(values.constants, "datetime64[us]").astype(np.int64)
    parts = [str(constant).partition(".") for constant in values.constants]
    seconds = np.array([whole for whole, _, _ in parts], "datetime64[s]").astype(np.int64)
    fractions = [int(fraction.ljust(9, "0")) for _, _, fraction in parts]
    return np.asarray(seconds.astype(object) * NANOSECONDS + np.array(fractions, object))


@dataclass(frozen=True, slots=True, eq=False)
class SortedIntervals:
    """Intervals in order of sequence, start and end; all numbers are from 0 on."""

    sequences: Longs  # of each interval
    starts: Longs
    ends: Longs
    offsets: Longs  # where those of each sequence begin

    def n_contacts(self) -> Longs:
        """For each interval how many behind it in the order share time with it."""
        starts, ends = self._packed(self.starts), self._packed(self.ends)
        return np.searchsorted(starts, ends, "right") - np.arange(1, len(starts) + 1)

    def contacts(self, names: Iterable[str]) -> dict[str, Pairs]:
        """For each relation the pairs for which it holds; they share time."""
        wanted = [name for name in names if name in SHARE_TIME]
        if not wanted:
            return {}
        lengths = self.n_contacts()
        first = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        second = ranges(np.arange(1, len(lengths) + 1), lengths).astype(np.int32)
        begins = self.starts[first] < self.starts[second]
        lasts = np.sign(self.ends[first] - self.ends[second])
        meets = begins & (lasts < 0) & (self.ends[first] == self.starts[second])
        holds = {
            "meets": meets,
            "overlaps": begins & (lasts < 0) & ~meets,
            "starts": ~begins & (lasts < 0),
            "finished_by": begins & (lasts == 0),
            "contains": begins & (lasts > 0),
            "equals": ~begins & (lasts == 0),
        }  # their inverses hold the other way round
        out = {}
        for name in wanted:
            at = holds[name if name in holds else INVERSE[name]]
            pair = (first[at], second[at]) if name in holds else (second[at], first[at])
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

    def just_after(self) -> tuple[Longs, Longs]:
        """For each interval those directly after it, as a start and a length: all that start after
        it ends, but not after the first of them that ends. So steps lead to all after it, and none
        can be left out."""
        starts, ends = self._packed(self.starts), self._packed(self.ends)
        first = np.searchsorted(starts, ends, "right")
        least = np.minimum.accumulate(ends[::-1])[::-1]  # of this and all later ones
        last = np.searchsorted(starts, np.append(least, 0)[first], "right")
        return first, np.where(first < self.offsets[self.sequences + 1], last - first, 0)

    def gaps(self) -> tuple[Longs, Bools]:
        """For each interval the latest end of those before it, or its start if that is earlier, and
        which have one before them."""
        latest = np.maximum.accumulate(self._packed(self.ends)) - self.sequences * self._width()
        known = np.ones(len(latest), bool)
        known[self.offsets[:-1]] = False
        return np.minimum(np.roll(latest, 1), self.starts), known

    def _width(self) -> int:
        return int(self.ends.max(initial=0)) + 1

    def _packed(self, positions: Longs) -> Longs:
        """Times that rise from sequence to sequence."""
        return positions + self.sequences * self._width()
