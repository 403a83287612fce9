"""The schema of a table of events: which columns make which facts, and where numbers are cut.

`from_events` and `from_intervals` keep the schema with the sequences, as `X.reading`. A classifier
keeps it as `reading_`, and so does a model file, so that later tables are read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from relynx.data.allen import DIMENSIONS, MADE, SHARE_TIME
from relynx.data.discretise import Cuts, bin_names
from relynx.data.event_arguments import Argument
from relynx.logic.terms import Constant, quoted
from relynx.storage import Part
from relynx.storage.fields import Field, finished
from relynx.storage.parts import is_label

T = TypeVar("T")

COLUMN_TYPES = ("text", "integer", "number", "boolean", "date")
TITLES = ("fluents", "attributes", "relations")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type and cuts; `supervised` ones are learnt from the classes, inside `fit`."""

    name: str
    type: str
    cuts: Cuts | None = None
    supervised: bool = False

    def __str__(self) -> str:
        if self.cuts is None:
            by_class = ", to be cut by class" if self.supervised else ""
            return f"{self.name} ({self.type}{by_class})"
        return f"{self.name} ({', '.join(bin_names(self.cuts))})"


@dataclass(frozen=True, slots=True)
class Group:
    """A predicate and its columns, in a relation those of events first."""

    predicate: str
    columns: tuple[Column, ...]
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """What makes intervals of the rows of a table: the columns of their order, and more."""

    start: str
    end: str
    symbol: str | None
    dimensions: tuple[str, ...]  # the names of what links them
    relations: tuple[str, ...]  # and of what else relates two of them
    made: tuple[str, ...] = ()  # the columns that are made of the times: `duration`, `gap`


@dataclass(frozen=True, slots=True)
class Schema:
    """How a table was read; pass it as `reading` to read another one in the same way."""

    sequence: str  # its column; "" where it only says how numbers of facts of files are cut
    order: tuple[tuple[str, str], ...]  # dimensions and their columns; none: rows in order
    fluents: tuple[Group, ...]  # what is said of an event,
    attributes: tuple[Group, ...] = ()  # of a sequence,
    relations: tuple[Group, ...] = ()  # and in further tables
    label: Column | None = None
    event: str | None = None  # the column of its key
    notes: tuple[str, ...] = field(default=(), compare=False)  # on what was left out or decided
    intervals: Intervals | None = None  # how the rows are intervals
    na_values: tuple[Constant, ...] = ()  # what stands in a cell that has no value
    date_format: str | None = None  # of texts of dates

    @property
    def groups(self) -> tuple[Group, ...]:
        """All predicates but the links."""
        return self.fluents + self.attributes + self.relations

    @property
    def is_of_facts(self) -> bool:
        """Whether it only says how numbers are cut, of facts that were not read from a table."""
        return not self.sequence

    @property
    def dimensions(self) -> tuple[str, ...]:
        if self.intervals is not None:
            return self.intervals.dimensions
        return tuple(dimension for dimension, _ in self.order) or ("s",)

    @property
    def reader(self) -> str:
        """The function that reads a table in this way."""
        return "from_events" if self.intervals is None else "from_intervals"

    @property
    def interval_relations(self) -> tuple[str, ...]:
        """The predicates that relate two intervals; none where the events are no intervals."""
        return () if self.intervals is None else self.intervals.relations

    @property
    def n_events(self) -> dict[str, int]:
        """How many of the first arguments of each predicate are events."""
        return (
            {group.predicate: 1 for group in self.fluents}
            | {group.predicate: len(group.events) for group in self.attributes + self.relations}
            | dict.fromkeys(self.interval_relations, 2)
        )

    @property
    def arguments(self) -> dict[Argument, Column]:
        """The arguments that are columns of a table."""
        n_events = self.n_events
        return {
            ((group.predicate, n_events[group.predicate] + len(group.columns)), i): column
            for group in self.groups
            for i, column in enumerate(group.columns, n_events[group.predicate])
        }

    def difference(self, other: Schema) -> str | None:
        """The first difference between the facts of two schemas, None where there is none."""
        if self.dimensions != other.dimensions:
            mine, theirs = ", ".join(self.dimensions), ", ".join(other.dimensions)
            return f"the dimensions are {mine}, not {theirs}"
        if set(self.interval_relations) != set(other.interval_relations):
            mine, theirs = (", ".join(one.interval_relations) or "none" for one in (self, other))
            return f"the relations of its intervals are {mine}, not {theirs}"
        for title in TITLES:
            mine_of = {group.predicate: group for group in getattr(self, title)}
            theirs_of = {group.predicate: group for group in getattr(other, title)}
            for name in {**mine_of, **theirs_of}:
                if name not in mine_of or name not in theirs_of:
                    which = "has no" if name in theirs_of else "has a new"
                    return f"it {which} predicate {quoted(name)} among its {title}"
                if mine_of[name] != theirs_of[name]:
                    one, two = _columns(mine_of[name]), _columns(theirs_of[name])
                    return f"{quoted(name)} is made of {one}, not of {two}"
        return None

    def __str__(self) -> str:
        return "\n".join(f"{title:<9} {text}" for title, text in self.rows())

    def rows(self) -> Iterator[tuple[str, str]]:
        """The lines of the text: a title and its content."""
        ordered = ", then ".join(
            column if dimension == "s" else f"{column} (dimension {dimension})"
            for dimension, column in self.order
        )
        how = f"by {ordered}" if ordered else "rows in order"
        if self.intervals is not None:
            how = f"intervals from {self.intervals.start} to {self.intervals.end}"
        if not self.is_of_facts:
            yield "sequence", f"{self.sequence}, {how}"
        if self.label is not None:
            yield "label", str(self.label)
        if self.intervals is not None:
            yield "dimension", ", ".join(f"next_{name}" for name in self.dimensions)
        for title, groups, first in (
            ("fluent", self.fluents, ["E"]),
            ("attribute", self.attributes, []),
            ("relation", self.relations, []),
        ):
            for group in groups:
                n = len(group.columns)
                values = ["V"] if n == 1 else [f"V{i + 1}" for i in range(n)]
                events = [f"E{i + 1}" for i in range(len(group.events))]
                args = ",".join([*first, *events, *values])
                yield title, f"{quoted(group.predicate)}({args}): {_columns(group)}"
        if self.na_values:
            yield "missing", ", ".join(map(str, self.na_values))
        if self.date_format is not None:
            yield "dates", self.date_format
        if self.interval_relations:
            yield "relation", ", ".join(f"{name}(E1,E2)" for name in self.interval_relations)
        for note in self.notes:
            yield "note", note


def _columns(group: Group) -> str:
    return ", ".join([*group.events, *map(str, group.columns)])


def schema_state(schema: Schema) -> dict[str, Any]:
    return asdict(schema, dict_factory=_state)


def _state(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a part of a schema; what the first files did not have is left out if unused."""
    unused: list[tuple[str, Any]] = [("supervised", False), ("intervals", None)]
    unused += [("na_values", ()), ("date_format", None)]
    names = {"type": "kind"}  # in files
    return {
        names.get(name, name): _lists(value)
        for name, value in fields
        if (name, value) not in unused
    }


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value


def schema_of(part: Part) -> Schema:
    """The schema that `schema_state` stored in a part. Raises DataError where it is invalid."""
    pairs = part.listed("order")
    for pair in pairs:
        if not isinstance(pair, list) or list(map(type, pair)) != [str, str]:
            raise part.wrong("order", "holds what is no pair of dimension and column")
    schema = Schema(
        part.text("sequence"),
        tuple((dimension, column) for dimension, column in pairs),
        fluents=_all_of(part, "fluents", _group_of),
        attributes=_all_of(part, "attributes", _group_of),
        relations=_all_of(part, "relations", _group_of),
        label=None if part.none("label") else finished(part.part("label"), _column_of),
        event=part.text_or_none("event"),
        notes=part.texts("notes"),
        intervals=_intervals_of(part.part("intervals")) if part.has("intervals") else None,
        na_values=_constants(part, "na_values") if part.has("na_values") else (),
        date_format=part.text_or_none("date_format") if part.has("date_format") else None,
    )
    part.end()
    return schema


def _all_of(part: Part, name: str, make: Callable[[Part], T]) -> tuple[T, ...]:
    return tuple(finished(one, make) for one in part.parts(name))


def _constants(part: Part, name: str) -> tuple[Constant, ...]:
    found = part.listed(name)
    if not all(is_label(one) and not isinstance(one, bool) for one in found):
        raise part.wrong(name, "is no list of texts and finite numbers")
    return tuple(found)


def _intervals_of(part: Part) -> Intervals:
    intervals = Intervals(
        part.text("start"),
        part.text("end"),
        part.text_or_none("symbol"),
        part.texts("dimensions"),
        part.texts("relations"),
        part.texts("made"),
    )
    for name, known in (("dimensions", DIMENSIONS), ("relations", SHARE_TIME), ("made", MADE)):
        if not set(getattr(intervals, name)) <= set(known):
            raise part.wrong(name, f"holds what is none of {', '.join(known)}")
    part.end()
    return intervals


def _group_of(part: Part) -> Group:
    columns = _all_of(part, "columns", _column_of)
    return Group(part.text("predicate"), columns, part.texts("events"))


def _column_of(part: Part) -> Column:
    name, column_type = part.text("name"), part.text("kind")
    if column_type not in COLUMN_TYPES:
        raise part.wrong("kind", f"is none of {', '.join(COLUMN_TYPES)}")
    cuts = None
    if not part.none("cuts"):
        cuts = tuple(part.listed("cuts"))
        real = all(type(cut) in (int, float) and abs(cut) < float("inf") for cut in cuts)
        if not real or any(a >= b for a, b in pairwise(cuts)):
            raise part.wrong("cuts", "are no rising numbers")
    supervised = part.has("supervised") and part.truth("supervised")  # older files have none
    return Column(name, column_type, cuts, supervised)


def _schema_or_none(part: Part, key: str, _: object) -> Schema | None:
    """The schema in a field of a part; older files have none."""
    return schema_of(part.part(key)) if part.has(key) and not part.none(key) else None


SCHEMA = Field(lambda schema, _: None if schema is None else schema_state(schema), _schema_or_none)
