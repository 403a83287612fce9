"""A column of a table as codes and distinct values, independent of the library of the table."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.data.sequences import is_missing, shown
from relynx.data.tables.formats import read_date
from relynx.errors import DataError, Problem, Source
from relynx.logic.terms import SURROGATE, Constant

LARGEST = 2**63
MOST_DIGITS = 400  # of a decimal number that is written out
FEW = 3  # texts that may be markers of missing numbers
KEY = "key"  # what names a sequence or an event: an integer, or a text
DAY = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?=[T ]|\Z)")
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?=[T ]|\Z)")
SHORT_HOUR = re.compile(r"[T ](\d:)")
UTC_NAME = re.compile(r"(?<=\d) ?UTC\Z")
FINE = re.compile(r"[.,]\d{6}(\d{1,3})")  # parts of a microsecond
TOO_FINE = re.compile(r"[.,]\d{9}\d*[1-9]")
WHOLE = re.compile(r"-?[0-9]{1,19}\Z")
MIDNIGHT = "T00:00:00"
FIRST_DAY = date(1970, 1, 1).toordinal()
DAY_SECONDS = 24 * 3600
STEP = timedelta(microseconds=1)
MOMENT = "datetime64[us]"
SHORT = len("2024-01-31T13:05:00.123456")
SECOND, MICROSECOND = 10**9, 1000  # in nanoseconds
TRUTHS = ("false", "true")
ZONES = "holds times with a time zone and times without one"
ONE_ZONE = "give all of them a time zone, or none"
OR_LEAVE_OUT = "or leave it out: fluents names the columns to use"


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column; distinct constants, numbers and dates (ISO text) ascending, texts as
    they appear."""

    type: str  # text, integer, number, boolean or date
    codes: Ints  # for each row the index of its value in `constants`, -1 where it is missing
    constants: Sequence[Constant]
    zoned: bool = False  # whether the dates had a time zone; they are in UTC then

    def counts(self) -> Longs:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.constants))

    def row_of(self, code: int) -> int:
        return int((self.codes == code).argmax())

    @staticmethod
    def of_texts(texts: Sequence[Any]) -> Values:
        """A column of texts, None where one is missing. Raises WrongColumn for no Unicode."""
        distinct = [text for text in dict.fromkeys(texts) if text is not None]
        number = {text: i for i, text in enumerate(distinct)} | {None: -1}
        codes = np.fromiter(map(number.__getitem__, texts), np.int32, len(texts))
        for i, text in enumerate(distinct):
            if isinstance(text, str) and not text.isascii() and SURROGATE.search(text):
                what = f"holds {text!a}, which is no Unicode text"
                raise WrongColumn(what, "give whole characters", int((codes == i).argmax()))
        return Values("text", codes, distinct)

    @staticmethod
    def of_numbers(numbers: NDArray[Any], missing: Bools | None = None) -> Values:
        """A column of integers or floats; NaN is missing too, and whole floats become integers."""
        missing = np.zeros(len(numbers), bool) if missing is None else missing
        if numbers.dtype.kind == "f":
            missing = missing | np.isnan(numbers)
            infinite = np.flatnonzero(np.isinf(numbers) & ~missing)
            if len(infinite):
                hint = "put a large number or a missing value in its place"
                raise WrongColumn("holds an infinite number", hint, int(infinite[0]))
        distinct, codes = np.unique(numbers[~missing], return_inverse=True)
        column_type = "integer"
        if distinct.dtype.kind == "f":
            if np.all(distinct == np.floor(distinct)) and np.all(np.abs(distinct) < 2**53):
                distinct = distinct.astype(np.int64)
            else:
                column_type, distinct = "number", distinct + 0.0  # -0.0 becomes 0.0
        return Values(column_type, _spread(codes, ~missing), distinct.tolist())

    @staticmethod
    def of_truths(truths: Bools, missing: Bools) -> Values:
        codes = np.where(missing, -1, truths.astype(np.int32)).astype(np.int32)
        return Values("boolean", codes, list(TRUTHS))

    @staticmethod
    def of_dates(moments: NDArray[np.datetime64], *, zoned: bool = False) -> Values:
        """A column of moments in time, NaT where one is missing."""
        missing = np.isnat(moments)
        distinct, codes = np.unique(moments[~missing], return_inverse=True)
        seconds = distinct.astype("datetime64[s]")
        if np.array_equal(seconds, distinct):
            whole = np.datetime_as_string(seconds).tolist()
            texts = [text.removesuffix(MIDNIGHT) for text in whole]
        else:
            texts = [_iso(*str(moment).split(".")) for moment in distinct]
        return Values("date", _spread(codes, ~missing), texts, zoned)

    @staticmethod
    def of_objects(values: Sequence[Any], wanted: str | None = None) -> Values:
        """A column of Python values of one type; raises WrongColumn where there are several."""
        kept = [None if is_missing(value) else value for value in values]
        first: dict[str, int] = {}
        for row, value in enumerate(kept):
            if value is not None:
                first.setdefault(_python_type(value), row)
        types = list(first)
        if not types:
            return Values("text", np.full(len(kept), -1, np.int32), [])
        if len(types) > 1:
            said = (f"{shown(kept[first[one]])} is {one}" for one in types[:2])
            what = f"holds values of different types: {', '.join(said)}"
            hint = f"make all its values of one type, {OR_LEAVE_OUT}"
            texts = sorted({value for value in kept if isinstance(value, str)})
            if "a number" in types and 0 < len(texts) <= FEW and not any(map(read_moment, texts)):
                hint = f"na_values={texts} says that such cells are missing; or {hint}"
            raise WrongColumn(what, hint, first[types[1]])
        column_type = types[0]
        if column_type == "text":
            return Values.of_texts([None if value is None else str(value) for value in kept])
        missing = np.array([value is None for value in kept])
        if column_type == "true or false":
            return Values.of_truths(np.array([bool(value) for value in kept]), missing)
        if column_type == "a number":
            if wanted == KEY and not all(map(_is_whole, kept)):
                names = Values.of_texts(kept)
                return Values("text", names.codes, list(map(str, names.constants)))
            return _object_numbers(kept, missing)
        if column_type == "a date":
            return _object_dates(kept)
        if column_type == "a duration":
            return Values.of_numbers(np.array(list(map(_seconds, kept))), missing)
        what = f"holds {shown(kept[first[column_type]])}, which is no value of a cell"
        hint = f"give text, numbers, truth values or dates, {OR_LEAVE_OUT}"
        raise WrongColumn(what, hint, first[column_type])

    def as_keys(self) -> Values:
        """Values as keys: integers are kept, all others become text."""
        if self.type in ("integer", "text"):
            return self
        return Values("text", self.codes, list(map(str, self.constants)))

    def ranks(self) -> Longs:
        """For each row its rank in the order of the values. Texts must be dates, or WrongColumn
        is raised: texts sorted as texts put 10 before 9."""
        if self.type != "text":
            return self.codes.astype(np.int64)
        ticks = list(map(nanoseconds, self.moments()))
        distinct = {tick: i for i, tick in enumerate(sorted(set(ticks)))}
        return np.array([distinct[tick] for tick in ticks], np.int64)[self.codes]

    def moments(self) -> list[datetime]:
        """The moments that the different texts of a column name. Raises WrongColumn."""
        moments = []
        for code, text in enumerate(self.constants):
            moment = read_moment(str(text))
            if moment is None:
                what = f"holds {shown(text)}, and it is not sure what comes before what"
                hint = "give numbers, dates, texts such as 2024-01-31 or 2024-01-31 13:05:00, "
                hint += "or the format of these: date_format='%d/%m/%Y'"
                raise WrongColumn(what, hint, self.row_of(code))
            if len(str(text)) > SHORT and TOO_FINE.search(str(text)):
                what = f"holds {shown(text)}, a second with more than nine digits after the point"
                hint = "leave out the digits after the ninth, or give a column of numbers"
                raise WrongColumn(what, hint, self.row_of(code))
            moments.append(moment)
        if len({moment.tzinfo is None for moment in moments}) > 1:
            raise WrongColumn(ZONES, ONE_ZONE)
        return moments

    def dated(self, date_format: str | None) -> Values:
        """Texts or integers that are all dates of a format, as dates; other values as they are."""
        if date_format is None or self.type not in ("text", "integer") or not len(self.constants):
            return self
        moments = []
        for text in map(str, self.constants):
            moments.append(read_date(text, date_format))
            if moments[-1] is None:
                return self
        return self.spelled(_object_dates(moments))

    def spelled(self, distinct: Values) -> Values:
        """The column in which other values stand for the different ones of this."""
        codes = np.append(distinct.codes, np.int32(-1))[self.codes]
        return Values(distinct.type, codes, distinct.constants, distinct.zoned)

    def without(self, is_marker: Callable[[Any], bool]) -> Values:
        """The column in which some of its values are missing."""
        marked = np.array([*map(is_marker, self.constants), False], bool)
        if not marked.any():
            return self
        into = np.where(marked, -1, np.cumsum(~marked) - 1).astype(np.int32)
        into[-1] = -1
        kept = [one for one, left_out in zip(self.constants, marked, strict=False) if not left_out]
        return Values(self.type, into[self.codes], kept, self.zoned)

    def amounts(self, rows: Longs) -> Floats:
        """The numbers of some rows, of dates the seconds from 1970; NaN for none."""
        codes, into = np.unique(self.codes[rows], return_inverse=True)
        some = replace(self, constants=[self.constants[code] for code in codes[codes >= 0]])
        if self.type == "text":
            some = replace(some, constants=[nanoseconds(one) / SECOND for one in some.moments()])
        elif self.type == "date":  # maybe of years that Python does not have
            texts = [str(one)[:SHORT] for one in some.constants]
            some = replace(
                some, constants=(np.array(texts, MOMENT).astype(np.int64) / 1e6).tolist()
            )
        elif self.type == "boolean":
            some = replace(some, constants=[TRUTHS.index(str(one)) for one in some.constants])
        numbers = [float(one) for one in some.constants]
        return np.array([math.nan] * (len(codes) - len(numbers)) + numbers)[into]

    def as_type(self, column_type: str) -> Values:
        """A column converted to the type that it had when the schema was made."""
        if self.type == column_type or not len(self.constants):
            return Values(column_type, self.codes, self.constants)
        if self.type == "integer" and column_type in ("number", "text"):
            change = float if column_type == "number" else str
            return Values(column_type, self.codes, list(map(change, self.constants)))
        if self.type == "number" and column_type == "integer":
            whole = [int(n) if float(n).is_integer() else n for n in self.constants]
            return Values(column_type, self.codes, whole)
        if self.type == "text" and (spelled := _spelled(self.constants, column_type)) is not None:
            return replace(self.spelled(spelled), type=column_type, zoned=False)
        names = {"text": "text", "boolean": "true and false", "date": "dates"}
        names |= dict.fromkeys(("integer", "number"), "numbers")
        what = f"holds {names[self.type]}, and {names[column_type]} where it was first read"
        raise WrongColumn(what, f"give {names[column_type]}")


class Table(Protocol):
    """A table that was opened: the names of its columns are known, its values are not yet read."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def source(self) -> Source | None: ...
    def loaded(self, names: Sequence[str]) -> LoadedTable: ...


class LoadedTable(Protocol):
    """Some columns of a table, loaded."""

    @property
    def n_rows(self) -> int: ...
    def values(self, name: str, column_type: str | None = None) -> Values: ...
    def row_name(self, row: int) -> str: ...


class WrongColumn(DataError):
    """A column that cannot be read. `row` is where."""

    def __init__(self, message: str, hint: str, row: int | None = None) -> None:
        super().__init__(Problem(message, hint=hint))
        self.row = row


def _iso(whole: str, fraction: str) -> str:
    """2024-01-31T13:05:00.250000: the fraction is left out where it is zero, midnight too."""
    if fraction.strip("0"):
        return f"{whole}.{fraction[:6]}{fraction[6:].rstrip('0')}"
    return whole.removesuffix(MIDNIGHT)


def _object_numbers(values: Sequence[Any], missing: Bools) -> Values:
    plain: list[Any] = [0 if value is None else value for value in values]
    if all(map(_is_whole, plain)):
        whole = list(map(int, plain))
        if all(-LARGEST <= n < LARGEST for n in whole):
            return Values.of_numbers(np.array(whole, np.int64), missing)
        with suppress(ValueError):  # thousands of digits
            texts = [None if m else str(n) for n, m in zip(whole, missing, strict=True)]
            return Values.of_texts(texts)
    try:
        return Values.of_numbers(np.array(plain, float), missing)
    except OverflowError:
        row = next(i for i, value in enumerate(plain) if abs(value) > sys.float_info.max)
        hint = f"give it as text, {OR_LEAVE_OUT}"
        raise WrongColumn("holds a number that is too large", hint, row) from None


def _is_whole(value: Any) -> bool:
    if value is None or isinstance(value, int | np.integer):
        return True
    if isinstance(value, float | np.floating):
        return float(value).is_integer() and abs(float(value)) < 2**53
    if not isinstance(value, Decimal) or not value.is_finite() or value.adjusted() > MOST_DIGITS:
        return False
    return value == value.to_integral_value()


def _object_dates(values: Sequence[Any]) -> Values:
    zones = {getattr(value, "tzinfo", None) is None for value in values if value is not None}
    if len(zones) > 1:
        raise WrongColumn(ZONES, ONE_ZONE)
    ticks = [None if value is None else nanoseconds(value) for value in values]
    distinct = sorted({tick for tick in ticks if tick is not None})
    codes = {tick: code for code, tick in enumerate(distinct)} | {None: -1}
    seconds = np.array([tick // SECOND for tick in distinct], "datetime64[s]")
    whole = np.datetime_as_string(seconds).tolist()
    texts = [_iso(one, f"{tick % SECOND:09}") for one, tick in zip(whole, distinct, strict=True)]
    known = np.array([codes[tick] for tick in ticks], np.int32)
    return Values("date", known, texts, zoned=False in zones)


def nanoseconds(value: Any) -> int:
    """The time from 1970 to a moment, in UTC where it has a zone, as an integer of Python: those of
    64 bits end in 2262, and many tables have a date of 9999."""
    if isinstance(value, np.datetime64):
        whole = value.astype("datetime64[us]")
        rest = int((value - whole) / np.timedelta64(1, "ns")) if value != whole else 0
        return int(whole.astype(np.int64)) * MICROSECOND + rest
    seconds: int = (value.toordinal() - FIRST_DAY) * DAY_SECONDS
    if not isinstance(value, datetime):
        return seconds * SECOND
    seconds += value.hour * 3600 + value.minute * 60 + value.second
    fine: int = getattr(value, "nanosecond", 0)  # of this module's Moment, and of pandas
    fine += value.microsecond * MICROSECOND
    zone = value.utcoffset()
    if zone is not None:
        fine -= zone // STEP * MICROSECOND
    return seconds * SECOND + fine


def _seconds(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    return float(value.total_seconds())


def _python_type(value: object) -> str:
    if isinstance(value, str | time):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "true or false"
    if isinstance(value, timedelta | np.timedelta64):
        return "a duration"
    if isinstance(value, int | float | np.integer | np.floating | Decimal):
        return "a number"
    return "a date" if isinstance(value, date | np.datetime64) else "something else"


def _spread(codes: NDArray[Any], known: Bools) -> Ints:
    """The codes of the known rows among all rows."""
    out = np.full(len(known), -1, np.int32)
    out[known] = codes
    return out


class Moment(datetime):
    """A moment with parts of a microsecond, in `nanosecond` as in pandas."""

    nanosecond = 0


def moment_of(text: str) -> datetime:
    """The moment that a text of ISO 8601 names, down to a nanosecond. Raises ValueError."""
    fine = FINE.search(text) if len(text) > SHORT else None
    if fine is None or not fine[1].strip("0"):
        return datetime.fromisoformat(text)
    moment = Moment.fromisoformat(text)
    moment.nanosecond = int(fine[1].ljust(3, "0"))
    return moment


def read_moment(text: str) -> datetime | None:
    """The moment that a text names: ISO 8601, with slashes too, or day.month.year, without zeros
    before a day, month or hour, or with `UTC` at the end; None for others."""
    plain = text.strip()
    if match := DAY.match(plain):
        year, _, month, day = match.groups()
    elif match := DOTTED.match(plain):
        day, month, year = match.groups()
    else:
        return None
    rest = UTC_NAME.sub("+00:00", SHORT_HOUR.sub(r"T0\1", plain[match.end() :], count=1))
    try:
        return moment_of(f"{year}-{month:0>2}-{day:0>2}{rest}")
    except ValueError:
        return None


def _spelled(texts: Sequence[Constant], column_type: str) -> Values | None:
    """The values of a type that distinct texts denote; None where one of them denotes none."""
    plain = list(map(str, texts))
    if column_type == "boolean" and set(plain) <= set(TRUTHS):
        return Values.of_texts(plain)
    if column_type == "integer" and all(map(WHOLE.match, plain)):
        whole = list(map(int, plain))
        if all(-LARGEST <= n < LARGEST for n in whole):
            return Values.of_numbers(np.array(whole, np.int64))
    moments = list(map(read_moment, plain)) if column_type == "date" else [None]
    return None if None in moments else _object_dates(moments)
