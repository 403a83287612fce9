"""CSV files and dicts of lists as tables of events, without a data frame library.

A file is always read here, whatever is installed, so that it always means the same.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

import numpy as np

from relynx.arrays import Ints, Longs
from relynx.data.sequences import counted, shown
from relynx.data.tables.columns import KEY, LARGEST, LoadedTable, Values, WrongColumn
from relynx.data.tables.formats import NUMBER, marker_test
from relynx.errors import MOST_PROBLEMS, DataError, Problem, Source, raise_first
from relynx.logic.source_files import decoded, read_unpacked
from relynx.logic.terms import Constant

SEPARATORS = (",", ";", "\t", "|")
CHUNK = 50_000  # rows
MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL"))  # where texts are no values
INTEGER = re.compile(r"[-+]?(0|[1-9]\d*)\Z")
PLAIN_INTEGER = re.compile(r"(0|-?[1-9]\d*)\Z")  # one text for each number
DIGITS = 20  # an integer of more digits has more than 64 bits
COMMA = re.compile(r"([-+]?\d*),(\d+)\Z")
QUOTES = 'a field with quotes in it is written "with ""quotes"" in it"'
NUMBERS = ("integer", "number")
TRUTHS = {"true": True, "false": False}


@dataclass(slots=True)
class _Texts:
    """One column while it is read: the different texts, and the code of each row."""

    number: dict[str, int] = field(default_factory=dict)
    codes: list[Ints] = field(default_factory=list)

    def add(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self.number]
        self.number.update(zip(new, count(len(self.number)), strict=False))
        codes = np.fromiter(map(self.number.__getitem__, texts), np.int32, len(texts))
        self.codes.append(codes)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """An opened CSV file. `text` is all of it."""

    names: Sequence[str]
    separator: str
    text: str
    source: Source
    markers: Sequence[Constant] = ()

    def loaded(self, names: Sequence[str]) -> LoadedTable:
        """Read some columns. Raises DataError with every line that has too few or many fields."""
        wanted = {name: self.names.index(name) for name in names}
        columns = {name: _Texts() for name in names}
        lines: list[Longs] = []
        problems: list[Problem] = []
        for first, end, rows in self._chunks():
            numbers = _line_numbers(first, end, rows)
            lengths = np.fromiter(map(len, rows), np.int64, len(rows))
            for i in np.flatnonzero(lengths == 1).tolist():
                if not rows[i][0].strip():  # a line of blanks
                    lengths[i], rows[i] = 0, []
            wrong = np.flatnonzero((lengths != len(self.names)) & (lengths > 0))
            for i in wrong[: MOST_PROBLEMS + 1].tolist():
                what = f"line {numbers[i]} has {counted(len(rows[i]), 'field')}"
                hint = f"the first line names {counted(len(self.names), 'column')}"
                problems.append(Problem(what, self.source, hint=hint))
            if len(problems) > MOST_PROBLEMS:
                break
            if problems:
                continue
            if not lengths.all():  # empty lines
                numbers, rows = numbers[lengths > 0], [row for row in rows if row]
            lines.append(numbers)
            fields = list(zip(*rows, strict=True))
            for name, at in wanted.items() if fields else ():
                columns[name].add(fields[at])
        raise_first(problems, DataError)
        empty = np.empty(0, np.int64)
        return _LoadedCsv(np.concatenate([empty, *lines]), columns, self.separator, self.markers)

    def _chunks(self) -> Iterator[tuple[int, int, list[list[str]]]]:
        """Some rows at a time, and the lines before which they begin and end."""
        reader = _reader(self.text, self.separator)
        try:
            next(filter(_says_something, reader))
            first = reader.line_num + 1
            while rows := _some(reader, len(self.text)):
                yield first, reader.line_num + 1, rows
                first = reader.line_num + 1
        except csv.Error as error:
            raise _wrong_quotes(self.text, self.separator, self.source, error) from None


def _reader(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _some(reader: Any, n_characters: int) -> list[list[str]]:
    """Some rows, with fields of any length."""
    with _any_length(n_characters):
        return list(islice(reader, CHUNK))


@contextmanager
def _any_length(n_characters: int) -> Iterator[None]:
    """Lift the limit that the csv module has for the length of a field."""
    limit = csv.field_size_limit()
    csv.field_size_limit(max(n_characters, limit))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _says_something(row: list[str]) -> bool:
    return any(field.strip() for field in row)


def _wrong_quotes(text: str, separator: str, source: Source, error: csv.Error) -> DataError:
    """What is wrong with the quotes of a file, and on which line."""
    reader, last = _reader(text, separator), 0
    with suppress(csv.Error), _any_length(len(text)):
        for _ in reader:
            last = reader.line_num
    what = f"line {reader.line_num}: {error}"
    if "end of data" in str(error):
        what = f"line {last + 1}: a quote that opens in this row is never closed"
    elif reader.line_num > last + 1:
        what += f"; the row begins in line {last + 1}"
    return DataError(what, source, hint=QUOTES)


def _line_numbers(first: int, end: int, rows: list[list[str]]) -> Longs:
    """The line on which each row begins; a quoted field may go over several."""
    lengths = np.ones(len(rows), np.int64)
    if end - first > len(rows):
        lengths += [sum(field.count("\n") for field in row) for row in rows]
    return first + np.cumsum(lengths) - lengths


@dataclass(frozen=True, slots=True)
class _LoadedCsv:
    lines: Longs
    columns: Mapping[str, _Texts]
    separator: str
    markers: Sequence[Constant]

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    def row_name(self, row: int) -> str:
        return f"line {self.lines[row]}"

    def values(self, name: str, column_type: str | None = None) -> Values:
        column = self.columns[name]
        codes = np.concatenate([np.empty(0, np.int32), *column.codes])
        texts = [text.strip() for text in column.number]
        if self.markers:
            is_marker = marker_test(self.markers)
            plain = texts if self.separator == "," else map(_with_point, texts)
            both = zip(texts, plain, strict=True)
            texts = ["" if is_marker(one) or is_marker(text) else text for text, one in both]
        return _typed(texts, codes, column_type, self.separator)


def open_csv(path: str | os.PathLike[str], markers: Sequence[Constant] = ()) -> CsvTable:
    """Open a CSV file; `.gz` is unpacked. The first line determines the separator: , ; tab or |."""
    name = os.fsdecode(path)
    text = decoded(read_unpacked(path), name)
    source = Source("", name)
    first = next((line for line in io.StringIO(text) if line.strip()), None)
    if first is None:
        hint = "the first line names the columns, each further line is an event"
        raise DataError("this file is empty", source, hint=hint)
    bare = re.sub(r'"[^"]*"', "", first)  # a separator in quotes is none
    separator = "\t" if name.lower().endswith(".tsv") else max(SEPARATORS, key=bare.count)
    try:
        with _any_length(len(text)):
            row: list[str] = next(filter(_says_something, _reader(text, separator)), [])
    except csv.Error as error:
        raise _wrong_quotes(text, separator, source, error) from None
    return CsvTable([column.strip() for column in row], separator, text, source, markers)


def without_markers(
    values: Values, is_marker: Callable[[Any], bool], column_type: str | None
) -> Values:
    """A column of a data frame without the markers of missing values."""
    left = values.without(is_marker)
    return (
        left if left is values and column_type not in NUMBERS else as_in_a_file(left, column_type)
    )


def as_in_a_file(values: Values, column_type: str | None) -> Values:
    """A column of texts as a file with these fields has it: numbers, where all of them are."""
    if values.type != "text":
        return values
    texts, codes = [*map(str, values.constants), ""], values.codes
    return _typed(texts, np.where(codes < 0, len(texts) - 1, codes), column_type, ",")


def is_number(text: str, separator: str) -> bool:
    """Whether a text is a number in a file with such a separator."""
    return NUMBER.match(text if separator == "," else _with_point(text)) is not None


def _typed(texts: list[str], codes: Ints, column_type: str | None, separator: str) -> Values:
    """A column of texts as what all its texts are: numbers, truth values, or texts."""
    readers = _READERS.get(column_type, ())
    if column_type == KEY and all(text in MISSING or PLAIN_INTEGER.match(text) for text in texts):
        readers = (_numbers,)  # 1.10 and 1.1 are one number, but two names
    for read in readers:
        values = read(texts, codes, separator)
        if values is not None:
            return values
    if column_type is not None and column_type in _READERS and not MISSING.issuperset(texts):
        truths = column_type == "boolean"
        good = {
            text
            for text in texts
            if text in MISSING or (text.lower() in TRUTHS if truths else is_number(text, separator))
        }
        large = max(range(len(texts)), key=lambda i: len(texts[i]))
        bad = next((i for i, text in enumerate(texts) if text not in good), large)
        wanted = "true and false" if truths else "numbers"
        what = f"holds {shown(texts[bad])}, and {wanted} where it was first read"
        if texts[bad] in good:
            what, wanted = f"holds {texts[bad]}, which has more than 64 bits", "smaller numbers"
        hint = f"give {wanted}, or leave the field empty"
        raise WrongColumn(what, hint, int((codes == bad).argmax()))
    names = {text: i for i, text in enumerate(dict.fromkeys(text for text in texts if text))}
    new = np.array([names.get(text, -1) for text in texts] or [-1], np.int32)
    return Values("text", new[codes], list(names))


def _numbers(texts: list[str], codes: Ints, separator: str) -> Values | None:
    """The numbers that all the texts are, or None. 007 and 1_000 are no numbers."""
    missing = np.array([text in MISSING for text in texts], bool)
    known = [text for text in texts if text not in MISSING]
    if separator != ",":
        known = [_with_point(text) for text in known]
    numbers: Any = None
    if known and all(map(INTEGER.match, known)):
        short = max(map(len, known)) <= DIGITS
        whole = list(map(int, known)) if short else []
        if short and -LARGEST <= min(whole) <= max(whole) < LARGEST:
            numbers = np.zeros(len(texts), np.int64)
            numbers[~missing] = whole
    elif known and all(map(NUMBER.match, known)):
        numbers = np.zeros(len(texts), float)
        numbers[~missing] = list(map(float, known))
    return None if numbers is None else Values.of_numbers(numbers[codes], missing[codes])


def _with_point(text: str) -> str:
    """3,5 as 3.5: where something else separates fields, a comma is a decimal point."""
    comma = COMMA.match(text)
    return f"{comma[1]}.{comma[2]}" if comma else text


def _truths(texts: list[str], codes: Ints, separator: str) -> Values | None:
    truths = [TRUTHS.get(text.lower()) for text in texts]
    missing = np.array([truth is None for truth in truths], bool)
    if missing.all() or not MISSING.issuperset(np.array(texts, object)[missing]):
        return None
    return Values.of_truths(np.array(truths, bool)[codes], missing[codes])


# By the type that a column had when it was first read.
_READERS: dict[str | None, tuple[Callable[..., Values | None], ...]] = {
    None: (_numbers, _truths),
    "integer": (_numbers,),
    "number": (_numbers,),
    "boolean": (_truths,),
}


@dataclass(frozen=True, slots=True)
class DictTable:
    """A dict of lists, one a column."""

    columns: Mapping[str, Sequence[Any]]
    n_rows: int
    source: None = None
    markers: Sequence[Constant] = ()

    @property
    def names(self) -> Sequence[str]:
        return list(self.columns)

    def loaded(self, names: Sequence[str]) -> LoadedTable:
        return self

    def row_name(self, row: int) -> str:
        return f"row {row + 1}"

    def values(self, name: str, column_type: str | None = None) -> Values:
        if not self.markers:
            return Values.of_objects(self.columns[name], column_type)
        return objects_without(self.columns[name], marker_test(self.markers), column_type)


def objects_without(
    cells: Sequence[Any], is_marker: Callable[[Any], bool], column_type: str | None
) -> Values:
    """A column of Python values without the markers of missing values."""
    marked = [is_marker(cell) for cell in cells]
    kept = [None if left_out else cell for cell, left_out in zip(cells, marked, strict=True)]
    values = Values.of_objects(kept, column_type)
    return as_in_a_file(values, column_type) if any(marked) or column_type in NUMBERS else values


def open_dict(columns: Mapping[str, Any], markers: Sequence[Constant] = ()) -> DictTable:
    """Open a dict of lists. Raises DataError where they are not of one length."""
    lists = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__iter__"):
            what = f"the column {name!r} is {type(column).__name__}, not a list"
            raise DataError(what, hint="give a list of values for each column")
        lists[name] = list(column)
    lengths = {name: len(column) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
        what = f"the columns have different numbers of rows: {each}"
        raise DataError(what, hint="give each column a value in each row; None is missing")
    return DictTable(lists, max(lengths.values(), default=0), markers=markers)
