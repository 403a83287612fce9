"""`from_events`: sequences from tables with one row per event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relynx.data.schema import Group, Schema
from relynx.data.sequences import Sequences
from relynx.data.tables.columns import Table
from relynx.data.tables.facts import encoded, event_layout, sequence_numbers
from relynx.data.tables.formats import (
    AllBins,
    Columns,
    Fluents,
    Markers,
    Order,
    checked_date_format,
    checked_markers,
)
from relynx.data.tables.inputs import Cells, columns_text, name_problems, open_table, unknown_column
from relynx.data.tables.plans import DEFAULT_BINS, DELIMITS, RESERVED, Plan, Request, planned
from relynx.errors import DataError, InputError, Problem, did_you_mean, raise_all
from relynx.logic.dimensions import link_name

READ = "which the first table had"
GIVE_SEQUENCE = "give sequence='...', the column that says which sequence an event is of"


def from_events(
    frame: Any, *, sequence: str | None = None, order: Order = None,
    fluents: Fluents = None,
    label: str | None = None, attributes: Columns = None,
    event: str | None = None, relations: Mapping[str, Any] | None = None,
    bins: AllBins = DEFAULT_BINS, na_values: Markers | None = None,
    date_format: str | None = None, reading: Schema | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:  # fmt: skip
    """Make sequences from a table with one row per event.

    Raises InputError with all that is wrong with the arguments, or with the table.

    Parameters
    ----------
    frame
        A data frame (pandas, polars, pyarrow, modin, ...; lazy ones too), a dict of lists, or the
        path of a `.csv`, `.tsv`, `.csv.gz`, `.parquet` or `.xlsx` file.
    sequence, label
        The columns of the sequence and of its class, one value in all rows of a sequence.
    order
        The column that orders the events of a sequence: numbers, dates, or texts of dates. Rows
        with the same value, or without it all rows, keep their order in the table.
        A dict such as `{"day": "date", "bed": "bed_no"}` makes several dimensions: along each, the
        events that agree in the other columns follow each other.
    fluents
        The columns that describe an event, each as `column(E,Value)`; a dict such as
        `{"move": ["from", "to"]}` makes `move(E,From,To)`. By default, all columns without
        another role; uninformative ones are left out with a note.
    attributes
        Columns that describe the sequence, each as `column(Value)`. Without it and `fluents`,
        those that never change inside a sequence.
    event, relations
        The column that names the events, and further tables by predicate. Each has the column
        `sequence`; those named as `event`, or so with `_1`, `_2`, ..., hold events, others values.
    bins
        How numbers with more than ten distinct values become ranges: 4 for quartiles,
        `("width", 5)` for five ranges of equal width, `[10, 100]` for these cuts, also with few
        values, None for no cuts. `"supervised"` leaves them to `fit`, which learns cuts that
        separate the classes of its training data. A dict gives this by column. Unless it is
        given, whole numbers of a column called like an identifier, `product_id`, are not cut.
    na_values
        What stands in a cell without a value, in any column: a text or a number, or several,
        `[-999, "unknown"]`. A column that is numbers but for them is numeric.
    date_format
        How the texts of dates are written, as `strptime` of Python has it: `"%d/%m/%Y"`.
    reading
        `X.reading` of sequences read before, or `reading_` of a model: read this table in the same
        way, with the same cuts. No other argument but `relations` is given with it. The column of
        the class may be missing or have gaps; there are no labels then.

    Returns
    -------
    X, labels
        The sequences in order of appearance, and their labels (None without any).
        `print(X.reading)` says how the table was read and what was left out.

    Examples
    --------
    >>> import relynx as rx
    >>> table = {"case": [1, 1, 2], "at": [2, 1, 1], "step": ["b", "a", "c"], "ok": list("yyn")}
    >>> print(rx.from_events(table, sequence="case", order="at", label="ok")[0][0])
    begin(1,y). next_s(e1,e2). step(e1,a). step(e2,b). end.
    """
    asked = Request(frame, sequence, order, fluents, attributes, label, event, bins)
    asked.na_values, asked.date_format = na_values, date_format
    X = read_events(asked, relations, reading)
    return X, X.labels


def read_events(asked: Request, relations: object, schema: Schema | None) -> Sequences:
    """What `from_events` makes of its arguments, the first of them still a frame or a file."""
    opened = opened_table(asked, schema)
    further = {
        name: open_table(one, getattr(schema, "na_values", opened.na_values))
        for name, one in _relations(relations).items()
    }
    return read_request(opened, further, schema)


def opened_table(asked: Request, schema: Schema | None) -> Request:
    """The same arguments with the table opened; a schema has markers of its own."""
    markers, dates = checked_markers(asked.na_values), checked_date_format(asked.date_format)
    table = open_table(asked.table, getattr(schema, "na_values", markers))
    return replace(asked, table=table, na_values=markers, date_format=dates)


def read_request(
    request: Request, further: Mapping[str, Table], schema: Schema | None
) -> Sequences:
    """Read an opened table as requested, or by a schema; `further` are tables by predicate."""
    table = request.table
    opened = (table, *further.values())
    raise_all([problem for one in opened for problem in name_problems(one)], DataError)
    if schema is not None:
        if request.arguments():
            what = "reading says how to read the table, and so do other arguments"
            raise InputError(what, hint="give reading alone, or with relations")
        return _read_again(table, further, schema)
    cells = Cells(table, checked_columns(request, further), date_format=request.date_format)
    ids, numbers = sequence_numbers(
        cells, request.sequence, [column for _, column in request.dimensions()]
    )
    new = planned(request, cells, numbers)
    tables = {
        name: Cells(one, [c for c in one.names if c], f"the table of {name!r}")
        for name, one in further.items()
    }
    for name, one in further.items():
        group, notes = _relation(name, one, tables[name], request, new)
        new = replace(new, relations=(*new.relations, group), notes=(*new.notes, *notes))
    at = event_layout(new, cells, tables.values(), ids, numbers)
    return encoded(new, cells, at, tables, labelled=True)


def _read_again(table: Table, further: Mapping[str, Table], schema: Schema) -> Sequences:
    if not isinstance(cast(object, schema), Schema):
        what = f"reading is a {type(schema).__name__}"
        raise InputError(what, hint="give X.reading of sequences that were read before")
    if schema.intervals is not None:
        what = "the reading is one of intervals"
        raise InputError(what, hint="rx.from_intervals(frame, reading=...) reads them")
    if schema.label is not None and schema.label.name not in table.names:
        schema = replace(schema, label=None)
    facts = [column for group in schema.fluents + schema.attributes for column in group.columns]
    names = [schema.sequence, *(column for _, column in schema.order)]
    names += [column.name for column in facts]
    event = schema.event if schema.relations else None  # nothing else refers to it
    names += [] if event is None else [event]
    problems = [unknown_column(table, name, READ) for name in dict.fromkeys(names)]
    wanted = [group.predicate for group in schema.relations]
    for name in wanted:
        if name not in further:
            hint = f"give relations={{{name!r}: ...}}"
            problems.append(Problem(f"there is no table for the relation {name!r}", hint=hint))
    for name in further:
        if name not in wanted:
            hint = did_you_mean(name, wanted) or "leave it out"
            problems.append(Problem(f"the reading has no relation {name!r}", hint=hint))
    for group in schema.relations:
        if (one := further.get(group.predicate)) is not None:
            problems += [unknown_column(one, name, READ) for name in _columns(schema, group)]
    raise_all(problems, DataError)
    label = [] if schema.label is None else [schema.label.name]
    cells = Cells(table, [*names, *label], date_format=schema.date_format)
    ids, numbers = sequence_numbers(cells, schema.sequence, [column for _, column in schema.order])
    cells_of = {
        name: Cells(further[name], _columns(schema, group), f"the table of {name!r}")
        for group in schema.relations
        for name in [group.predicate]
    }
    for column in facts:
        cells.argument(column)
    at = event_layout(replace(schema, event=event), cells, cells_of.values(), ids, numbers)
    schema = replace(schema, notes=())  # those of the first table
    return encoded(schema, cells, at, cells_of, labelled=False)


def _columns(schema: Schema, group: Group) -> list[str]:
    return [schema.sequence, *group.events, *(column.name for column in group.columns)]


def _relations(relations: object) -> Mapping[str, Any]:
    if relations is None:
        return {}
    if not isinstance(relations, Mapping) or not all(isinstance(name, str) for name in relations):
        what = f"relations is a {type(relations).__name__}"
        raise InputError(what, hint="give a dict of tables: {'near': frame}")
    return relations


def checked_columns(request: Request, further: Mapping[str, Table]) -> list[str]:
    """The columns of events to read. Raises InputError with all that is wrong with arguments."""
    if request.sequence is None:
        hint = f"{GIVE_SEQUENCE}; {columns_text(list(map(str, request.table.names)))}"
        request.problem("the column of the sequence is not given", hint)
    else:
        request.column(request.sequence, "given as sequence")
    dimensions = request.dimensions()
    groups = request.groups()
    for name, role in ((request.label, "label"), (request.event, "event")):
        if name is not None:
            request.column(name, f"given as {role}")
    facts = [*request.named_attributes(), *request.always]
    if groups is None:
        facts += request.others(facts)
    else:
        facts += [column for columns in groups.values() for column in columns]
    request.roles(facts)
    of_relations = [name for one in further.values() for name in one.names]
    request.check_bins([*facts, *of_relations])
    for name, one in further.items():
        role = f"which {name!r} needs to name the sequence"
        problem = unknown_column(one, request.sequence, role)
        if request.sequence is not None and problem is not None:
            request.problems.append(problem)
        elif len(one.names) < 2:
            what = f"the table of {name!r} has no column but {request.sequence!r}"
            request.problem(what, "give it a column of events or values")
    raise_all(request.problems, DataError)
    roles = [request.sequence, request.label, request.event, *(column for _, column in dimensions)]
    return [name for name in (*roles, *facts) if name]


def _relation(
    name: str, table: Table, cells: Cells, request: Request, schema: Schema
) -> tuple[Group, list[str]]:
    """What a further table makes: columns named as the event hold events, the others values."""
    if link_name(name) is not None or name in [group.predicate for group in schema.groups]:
        what = f"the relation {name!r} has the name of a link or of another predicate"
        cells.wrong(what, "give it another name")
    elif name in RESERVED:
        cells.wrong(f"a relation is named {name!r}", DELIMITS)
    plan = Plan(request, cells, np.zeros(0, np.int64))
    numbers = {
        c: number for c in table.names if (number := _event_number(c, request.event)) is not None
    }
    events = sorted(numbers, key=numbers.__getitem__)
    values = [c for c in table.names if c and c not in (request.sequence, *events)]
    group = Group(name, tuple(map(plan.column, values)), tuple(events))
    return group, plan.notes + ([] if request.event else _unnamed_events(name, values, request))


def _event_number(column: str, event: str | None) -> int | None:
    """The number after the name of the event, 0 without one; None for other columns."""
    if not event or not column.startswith(event):
        return None
    rest = column.removeprefix(event)
    numbered = rest[:1] == "_" and rest[1:].isdecimal() and len(rest) < 10
    return 0 if not rest else int(rest[1:]) if numbered else None


def _unnamed_events(name: str, values: Sequence[str], request: Request) -> list[str]:
    """Notes on columns that would hold events, had `event` been given."""
    notes = []
    for event in request.table.names:
        held = [column for column in values if _event_number(column, event)]
        if held and event != request.sequence:
            columns = ", ".join(map(repr, held))
            what = f"{columns} of {name!r} are read as values"
            notes.append(f"{what}; if they name events, give event={event!r}")
    return notes
