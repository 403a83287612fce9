"""What is said of a table: columns, ranges, markers of missing values, the format of dates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from relynx.data.sequences import shown
from relynx.errors import InputError
from relynx.logic.terms import Constant

# The types of arguments of `from_events`.
Bins: TypeAlias = "int | str | tuple[str, int] | Sequence[float] | None"
AllBins: TypeAlias = "Bins | Mapping[str, Bins]"
Columns: TypeAlias = "str | Sequence[str] | None"
Fluents: TypeAlias = "Columns | Mapping[str, str | Sequence[str]]"
Order: TypeAlias = "str | Mapping[str, str] | None"
Markers: TypeAlias = "str | float | Iterable[str | float]"
NUMBER = re.compile(r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?\Z")


def checked_markers(given: object) -> tuple[Constant, ...]:
    """Markers of missing values, given as one or as several. Raises InputError."""
    if given is None:
        return ()
    many = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    listed = list(given) if many else [given]  # type: ignore[call-overload]
    plain: list[Any] = [one.item() if isinstance(one, np.generic) else one for one in listed]
    for one in plain:
        real = isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
        if not real and not isinstance(one, str):
            hint = "give texts and numbers: na_values=[-999, 'unknown']"
            raise InputError(f"na_values is {shown(given)}", hint=hint)
    return tuple(plain)


def checked_date_format(given: object) -> str | None:
    """A format as `strptime` takes it, or None. Raises InputError."""
    hint = "give one as '%d/%m/%Y', '%m/%d/%y %H:%M' or '%d %b %Y'"
    if given is not None and (not isinstance(given, str) or "%" not in given):
        raise InputError(f"date_format is {shown(given)}", hint=hint)
    if isinstance(given, str):
        try:
            datetime.strptime("", given)
        except (ValueError, re.error) as error:
            if "does not match" not in str(error):
                raise InputError(f"date_format is {shown(given)}: {error}", hint=hint) from None
        return str(given)
    return None


def marker_test(markers: Iterable[Constant]) -> Callable[[Any], bool]:
    """Whether a value is one of the markers; numbers are equal however they are written."""
    listed = list(markers)
    texts = {one.strip() for one in listed if isinstance(one, str)}
    numbers = {float(one) for one in listed if not isinstance(one, str) or NUMBER.match(one)}

    def is_marker(value: Any) -> bool:
        if isinstance(value, str):
            text = value.strip()
            number = bool(numbers) and NUMBER.match(text) is not None and float(text) in numbers
            return number or text in texts
        if isinstance(value, Decimal) and not value.is_finite():
            return False
        plain = isinstance(value, int | float | np.number | Decimal)
        return plain and not isinstance(value, bool) and value in numbers

    return is_marker


def read_date(text: str, date_format: str) -> datetime | None:
    """The moment that a text of a format names, or None."""
    try:
        return datetime.strptime(text.strip(), date_format)
    except (ValueError, re.error):  # the latter of a format that no one checked
        return None
