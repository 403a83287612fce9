"""A XES log in columns, and as a table of events.

A `Log` has all that a file says: what becomes facts is taken from it, and what does not is there
when the log is written again. A `XesTable` has a row for each event, a column for each attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.data.sequences import shown
from relynx.data.tables.columns import LoadedTable, Values, WrongColumn, moment_of, read_moment
from relynx.errors import Source
from relynx.logic.terms import Constant

Shape: TypeAlias = tuple[int, ...]
Occurrence: TypeAlias = tuple[int, int]  # an attribute, and which of its occurrences in an element

OPEN, CLOSE = -1, -2  # in a shape, around what is nested in the attribute before
VALUES = "values"  # the element that holds the entries of a list
NUMBERS = ("int", "float")
TYPES = ("string", "date", *NUMBERS, "boolean", "id", "list", "container")
WITHOUT_VALUE = ("list", "container", VALUES)
MOST_ENTRIES = 20  # of a list become columns
CASE = "case:"  # before the key of an attribute of traces
EVENT = "event:"  # before that of an attribute of events that looks like one of traces
NAME = "concept:name"
SEQUENCE = CASE + NAME
INTEGER = re.compile(r"\s*[-+]?[0-9]{1,400}\s*\Z")
PLAIN_INTEGER = re.compile(r"(0|-?[1-9][0-9]{0,17})\Z")
FLOAT = re.compile(
    r"\s*([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|-?inf(inity)?|nan)\s*\Z", re.IGNORECASE
)
TRUTHS = {"true": True, "false": False, "1": True, "0": False}
MEANINGS = {
    "int": "an integer",
    "float": "a number",
    "boolean": "true or false",
    "date": "a date such as 2024-01-31T13:05:00+01:00",
}


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the head of a log, as it was written."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of events or of traces: the path that names it and what it is nested in, and its
    different values."""

    path: str
    tag: str
    key: str
    parent: int  # the number of what it is nested in, -1 for none
    texts: Sequence[str]  # as they are written


@dataclass(slots=True)
class Part:
    """The attributes of all events, or of all traces. `shapes` are the different lists of
    attributes that elements have, in the order of the file: numbers of attributes, with OPEN and
    CLOSE around nested ones. `codes` are the values, element by element: numbers among the texts of
    the attribute, -1 for none."""

    attributes: tuple[Attribute, ...]  # what there is in any of them
    shapes: tuple[Shape, ...]
    shape: Ints  # for each element the number of its shape
    codes: Ints
    _starts: Longs = field(init=False)
    _by_shape: Longs = field(init=False)  # the elements, those of one shape together
    _bounds: Longs = field(init=False)  # where those of each shape begin
    _found: dict[Occurrence, list[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        n_values = np.array([sum(i >= 0 for i in shape) for shape in self.shapes] or [0])
        self._starts = np.concatenate([[0], np.cumsum(n_values[self.shape])])
        self._found = {}
        for number, shape in enumerate(self.shapes):
            seen: dict[int, int] = {}
            for position, i in enumerate(i for i in shape if i >= 0):
                seen[i] = seen.get(i, 0) + 1
                if seen[i] <= MOST_ENTRIES:
                    self._found.setdefault((i, seen[i] - 1), []).append((number, position))
        self._by_shape = np.argsort(self.shape, kind="stable")
        ordered = self.shape[self._by_shape]
        self._bounds = np.searchsorted(ordered, np.arange(len(self.shapes) + 1))

    def __len__(self) -> int:
        return len(self.shape)

    def columns(self) -> dict[str, list[Occurrence]]:
        """The attributes that have values, by name; further entries of a list are numbered."""
        out: dict[str, list[Occurrence]] = {}
        for i, entry in sorted(self._found):
            one = self.attributes[i]
            if one.tag not in WITHOUT_VALUE:
                out.setdefault(one.path + (f"_{entry + 1}" if entry else ""), []).append((i, entry))
        return out

    def column(self, occurrence: Occurrence) -> Ints:
        """For each element the number of the attribute's value, -1 for none."""
        out = np.full(len(self), -1, np.int32)
        for number, position in self._found[occurrence]:
            here = self._by_shape[self._bounds[number] : self._bounds[number + 1]]
            out[here] = self.codes[self._starts[here] + position]
        return out

    def element(self, i: int) -> tuple[Shape, list[int]]:
        start, end = self._starts[i], self._starts[i + 1]
        return self.shapes[self.shape[i]], self.codes[start:end].tolist()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Log:
    """A XES log. The events of trace i are those from `first[i]` to `first[i + 1]`."""

    root: Node  # the element `log`, with everything in it before and between the traces
    traces: Part
    events: Part
    first: Longs
    lines: Longs  # of the file, on which each event begins
    trace_lines: Longs
    classifiers: Mapping[str, tuple[str, ...]]  # the keys of events that each joins, by its name
    declared: Mapping[str, tuple[str, ...]]  # the keys that all events or traces have, by scope
    notes: tuple[str, ...] = ()  # what was ignored, in sentences

    def __repr__(self) -> str:
        return f"<Log: {len(self.traces):,} traces, {len(self.events):,} events>"


class XesTable:
    """A log, opened. A trace without events has one row, in which only the columns of the `order`
    have some value. `also` are other names of columns, `extra` columns without any value."""

    def __init__(
        self,
        log: Log,
        path: str,
        *,
        also: Mapping[str, str] | None = None,
        extra: Sequence[str] = (),
        order: Iterable[str] = (),
    ) -> None:
        self.log = log
        self.source = Source("", path)
        self.also = dict(also or {})
        self.extra = tuple(extra)
        self.order = frozenset(order)
        n_events = np.diff(log.first)
        n_rows = np.maximum(n_events, 1)
        self._trace = np.repeat(np.arange(len(n_events)), n_rows)
        begin = np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        event = log.first[self._trace] + np.arange(len(self._trace)) - begin
        self._event: Longs = np.where(n_events[self._trace] > 0, event, -1)
        self._columns: dict[str, tuple[Part, list[Occurrence]]] = {}
        for name, occurrences in log.events.columns().items():
            own = EVENT + name if name.startswith(CASE) else name
            self._columns[own] = log.events, occurrences
        for name, occurrences in log.traces.columns().items():
            self._columns[CASE + name] = log.traces, occurrences
        self.trace_names, self.unnamed = _names(log)

    @property
    def attributes(self) -> list[str]:
        own = [name for name, (part, _) in self._columns.items() if part is self.log.traces]
        return [*own, *(name for name in self.extra if name.startswith(CASE))]

    @property
    def names(self) -> list[str]:
        first = [name for name in self._columns if name != SEQUENCE]
        return [SEQUENCE, *first, *self.also, *self.extra]

    @property
    def n_rows(self) -> int:
        return len(self._trace)

    def loaded(self, names: Sequence[str]) -> LoadedTable:
        return self

    def row_name(self, row: int) -> str:
        event = self._event[row]
        return f"line {self._trace_line(row) if event < 0 else self.log.lines[event]}"

    def _trace_line(self, row: int) -> int:
        return int(self.log.trace_lines[self._trace[row]])

    def types(self, name: str) -> list[str]:
        part, occurrences = self._columns.get(name, (self.log.events, []))
        found = [part.attributes[i] for i, _ in occurrences]
        telling = [one for one in found if not _is_gap(one)]  # not only that something is missing
        return list(dict.fromkeys(one.tag for one in telling or found))

    def values(self, name: str, column_type: str | None = None) -> Values:
        """A column, by the types of the file; where these differ and are no numbers, as texts."""
        name = self.also.get(name, name)
        if name == SEQUENCE:
            names = self.trace_names
            column_type = "integer" if isinstance(names[0], int) else "text"
            return Values(column_type, self._trace.astype(np.int32), names)
        if name in self.extra:
            return Values(column_type or "text", np.full(self.n_rows, -1, np.int32), [])
        part, occurrences = self._columns[name]
        types = self.types(name)
        texts = len(types) > 1 and not set(types) <= set(NUMBERS)
        rows = self._trace if part is self.log.traces else self._event
        codes = np.full(len(part) + 1, -1, np.int64)  # the last is that of no event
        distinct: list[Any] = []
        for occurrence in occurrences:
            own = part.column(occurrence)
            attribute = part.attributes[occurrence[0]]
            codes[:-1] = np.where((codes[:-1] < 0) & (own >= 0), own + len(distinct), codes[:-1])
            read = READERS[attribute.tag if not texts or _is_gap(attribute) else "string"]
            for code, text in enumerate(attribute.texts):
                try:
                    distinct.append(read(text))
                except (ValueError, KeyError):
                    self._wrong(name, own[rows] == code, text, attribute.tag)
                    distinct.append(None)
        values = self._spread(distinct, codes[rows], column_type, part)
        if name in self.order and len(values.constants):
            values.codes[self._event < 0] = 0
        return values

    def _wrong(self, name: str, rows: Bools, text: str, tag: str) -> None:
        if not rows.any():  # another entry of the list
            return
        row = int(rows.argmax())
        what, hint = f"holds {shown(text)}, which is no {tag}", f"give {MEANINGS[tag]}"
        if self._columns[name][0] is self.log.events:
            raise WrongColumn(what, hint, row)
        raise WrongColumn(f"{what}, in the trace of line {self._trace_line(row)}", hint)

    def _spread(
        self, distinct: list[Any], codes: Longs, column_type: str | None, part: Part
    ) -> Values:
        """The values of the rows, given the different values and which of them each row has."""
        used = np.unique(codes[codes >= 0])
        into = np.full(len(distinct) + 1, -1, np.int32)
        kept = [distinct[code] for code in used.tolist()]
        plain = all(isinstance(value, str) for value in kept)
        try:
            values = Values.of_texts(kept) if plain else Values.of_objects(kept, column_type)
        except WrongColumn as error:
            row = None if error.row is None else int((codes == used[error.row]).argmax())
            problem = error.problems[0]
            if row is None or part is self.log.events:
                raise WrongColumn(problem.message, problem.hint or "", row) from None
            where = f"in the trace of line {self._trace_line(row)}"
            raise WrongColumn(f"{problem.message}, {where}", problem.hint or "") from None
        into[used] = values.codes
        return Values(values.type, into[codes], values.constants)


def _names(log: Log) -> tuple[list[Constant], list[int]]:
    """A name for each trace, and the traces that have none or that of another."""
    codes = np.full(len(log.traces), -1, np.int64)
    texts: list[str] = []
    tags = set()
    for i, attribute in enumerate(log.traces.attributes):
        if attribute.key == NAME and attribute.parent < 0:
            own = log.traces.column((i, 0))
            codes = np.where((codes < 0) & (own >= 0), own + len(texts), codes)
            texts += attribute.texts
            tags.add(attribute.tag)
    given = [texts[code] if code >= 0 else "" for code in codes.tolist()]
    taken, unnamed = set(given), []
    seen: set[str] = set()
    for i, name in enumerate(given):
        if not name or name in seen:
            unnamed.append(i)
            name = f"trace_{i + 1}"
            while name in taken:
                name += "_"
            taken.add(name)
            given[i] = name
        seen.add(name)
    if tags == {"int"} and all(map(PLAIN_INTEGER.match, given)):
        return list(map(int, given)), unnamed
    return list(given), unnamed


def _is_gap(attribute: Attribute) -> bool:
    """Whether an attribute is never a number: so some programs write a text that is missing."""
    return attribute.tag == "float" and all(text.lower() == "nan" for text in attribute.texts)


def _number(text: str, form: re.Pattern[str], python_type: type) -> Any:
    if not form.match(text):
        raise ValueError(text)
    return python_type(text)


def _moment(text: str) -> datetime:
    try:
        return moment_of(text)
    except ValueError:
        moment = read_moment(text)
        if moment is None:
            raise
        return moment


READERS: dict[str, Callable[[str], Any]] = {
    "string": lambda text: text or None,
    "id": lambda text: text or None,
    "int": lambda text: _number(text, INTEGER, int),
    "float": lambda text: _number(text, FLOAT, float),
    "boolean": lambda text: TRUTHS[text.strip().lower()],
    "date": _moment,
}
