"""Numbers as a few ranges: where to cut, and what the ranges are called.

With the cuts 2 and 5 the ranges are `<2`, `2..5` (from 2 up to, but not including, 5) and `>=5`. A
name says what its range is, so a name never means two ranges.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Longs

Cuts: TypeAlias = tuple[int | float, ...]
Numbers: TypeAlias = NDArray[Any]  # int64 or float64

SLACK = 0.01
DIGITS = 17  # enough to tell any two floats apart
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
LONG = re.compile(r"(?<![\d.])\d{5,}")  # digits before the point that are more than a year has
RANGE = re.compile(rf"<{_NUMBER}|{_NUMBER}\.\.{_NUMBER}|>={_NUMBER}")


def quantile_cuts(numbers: Numbers, counts: Longs, n: int) -> Cuts:
    """Cuts that leave about as many of the values, rising, with their counts, in each of `n`
    ranges, none of them empty. A cut may move past 1 % of the values to be a short number."""
    below = np.cumsum(counts)[:-1]  # if cut before the second value, before the third, ...
    if not len(below):
        return ()
    total = int(counts.sum())
    wanted = total * np.arange(1, n) / n
    at = sorted({int(np.abs(below - share).argmin()) for share in wanted})
    slack = SLACK * total
    cuts, free = [], 0  # free: the first value that may be below the next cut
    for i, following in zip(at, [*at[1:], len(below)], strict=True):
        low = max(free, int(np.searchsorted(below, below[i] - slack)))
        high = int(np.searchsorted(below, below[i] + slack, side="right"))
        high = max(i + 1, min(high, following))
        cuts.append(short_between(numbers[min(low, i)], numbers[high], numbers[i + 1]))
        free = high
    return tuple(cuts)


def width_cuts(numbers: Numbers, n: int) -> Cuts:
    """Cuts that make `n` ranges of one width between the least value and the largest."""
    if len(numbers) < 2:
        return ()
    edges = np.linspace(float(numbers[0]), float(numbers[-1]), n + 1)
    slack = float(edges[1] - edges[0]) / 100  # a cut may move so far to be short
    cuts = (short_between(edge - slack, edge + slack, edge) for edge in edges[1:-1].tolist())
    return tuple(dict.fromkeys(cuts))


def short_between(low: float, high: float, near: float | None = None) -> int | float:
    """A round number above `low` and up to `high`; of several as round, the nearest to `near`."""
    low, high = _plain(low), _plain(high)
    if low < 0 <= high:
        return 0
    least, most = Decimal(repr(low)), Decimal(repr(high))
    wanted = most if near is None else Decimal(repr(_plain(near)))
    first = max(abs(least), abs(most)).adjusted() + 1
    for exponent in range(first, first - DIGITS - 1, -1):
        for unit in (Decimal(1).scaleb(exponent), Decimal(5).scaleb(exponent - 1)):
            lowest = (least / unit).to_integral_value(ROUND_FLOOR) + 1
            highest = (most / unit).to_integral_value(ROUND_FLOOR)
            best = min(max((wanted / unit).to_integral_value(), lowest), highest)
            cut = best * unit
            whole = type(high) is int and cut == cut.to_integral_value()
            number = int(cut) if whole else _plain(float(cut))
            if lowest <= highest and low < number <= high:
                return number
    return high


def bin_names(cuts: Cuts) -> list[str]:
    """The names of the ranges, from the lowest to the highest."""
    if not cuts:
        return ["any"]
    texts = [str(cut) for cut in cuts]
    between = [f"{low}..{high}" for low, high in pairwise(texts)]
    return [f"<{texts[0]}", *between, f">={texts[-1]}"]


def bin_words(name: str) -> str | None:
    """What the name of a range says: `2 to under 5`; None for any other text."""
    found = RANGE.fullmatch(name)
    if found is None:
        return None
    below, low, high, least = (one and LONG.sub(_grouped, one) for one in found.groups())
    if below is not None:
        return f"below {below}"
    return f"{low} to under {high}" if least is None else f"{least} or more"


def _grouped(digits: re.Match[str]) -> str:
    return f"{int(digits[0]):,}"


def binned(numbers: Numbers, cuts: Cuts) -> Longs:
    """The number of the range that each value is in; large integers count to the last digit."""
    if numbers.dtype.kind == "i":
        least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        edges = [min(max(math.ceil(cut), least), most) for cut in cuts]
        over = sum(cut > most for cut in cuts)  # which no integer of 64 bits reaches
        return np.searchsorted(np.asarray(edges[: len(cuts) - over], np.int64), numbers, "right")
    return np.searchsorted(np.asarray(list(map(_float_from, cuts))), numbers, "right")


def _float_from(cut: int | float) -> float:
    """The least float that is not below a cut."""
    value = float(cut)
    return value if value >= cut else math.nextafter(value, math.inf)


def _plain(number: Any) -> int | float:
    """A whole number as int, any other as float."""
    value = float(number)
    if isinstance(number, int | np.integer):
        return int(number)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
