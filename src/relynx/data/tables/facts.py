"""Longs of a table become events, and columns facts about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.data.discretise import bin_names, binned
from relynx.data.numbers import Numbers
from relynx.data.schema import Column, Group, Schema
from relynx.data.sequences import Sequences, counted
from relynx.data.tables.columns import Values, WrongColumn
from relynx.data.tables.inputs import Cells
from relynx.data.tables.plans import changes
from relynx.data.times import Times, offsets_of
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.arithmetic import Constants
from relynx.logic.tables import Key, Table
from relynx.logic.terms import Constant, constant_text

SHOWN_CHANGES = 5
NUMERIC = ("integer", "number")


@dataclass(frozen=True, slots=True)
class EventLayout:
    """The sequence of each row, its position there, and the links between rows. `links` has for
    each dimension the pairs of rows that directly follow each other; `related` has for each
    relation of intervals the pairs of rows for which it holds, and `times` their starts and
    ends."""

    ids: list[Constant]
    sequences: Longs  # of each row
    numbers: Longs  # of each row among those of its sequence, from 0
    order: Longs  # the rows in the order of sequences and numbers
    links: dict[str, tuple[Longs, Longs]]
    ties: int
    related: dict[str, tuple[Longs, Longs]] = field(default_factory=dict)
    times: Times | None = None
    spans: Floats | None = None  # see `Numbers`


def sequence_numbers(
    cells: Cells, column: str, order: Iterable[str], tasks: Iterable[str] = repeat("order")
) -> tuple[list[Constant], Longs]:
    """The ids in the order in which they appear, and the number of each row's id. Raises DataError
    where a row lacks it, or a value in an order column, which `tasks` name."""
    for name, what in ((column, "sequence"), *zip(order, tasks, strict=False)):
        known = len(cells.problems)
        missing = (cells.keys(name) if what == "sequence" else cells.values(name)).codes < 0
        if missing.any() and len(cells.problems) == known:
            text = f"column {name!r} does not say the {what} in {cells.rows_text(missing)}"
            cells.wrong(text, "fill it in, or leave these rows out")
    cells.check()
    values = cells.keys(column)
    codes, first = np.unique(values.codes, return_index=True)
    appearing = np.argsort(first)
    number = np.argsort(appearing)
    ids = [values.constants[code] for code in codes[appearing]]
    return ids, number[np.searchsorted(codes, values.codes)]


def event_layout(
    schema: Schema, cells: Cells, further: Iterable[Cells], ids: list[Constant], sequences: Longs
) -> EventLayout:
    """Order the rows along each dimension, after all columns have been checked."""
    if schema.event is not None:
        _check_keys(cells, schema.event, sequences)
    along = {}
    for dimension, column in schema.order:
        try:
            along[dimension] = cells.times(column).ranks()
        except WrongColumn as error:
            cells.wrong_column(column, error)
    for one in (cells, *further):
        one.check()
    keys = list(along.values())
    order = np.lexsort([*reversed(keys), sequences])
    starts = _starts([sequences], order)
    begin = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - begin
    ties = int((~_starts([sequences, *keys], order)).sum()) if keys else 0
    links = {}
    for dimension in schema.dimensions:
        others = [key for name, key in along.items() if name != dimension]
        own = [along[dimension]] if dimension in along else []
        by = np.lexsort([numbers, *own, *others, sequences])
        linked = np.flatnonzero(~_starts([sequences, *others], by))
        links[dimension] = by[linked - 1], by[linked]
    layout = EventLayout(ids, sequences, numbers, order, links, ties)
    if schema.order:
        ends = np.append(np.flatnonzero(starts), len(order))
        first, last = order[ends[:-1]], order[ends[1:] - 1]
        times = cells.times(schema.order[0][1])
        layout = replace(layout, spans=np.stack([times.amounts(first), times.amounts(last)]))
    return layout


def _starts(keys: Sequence[Longs], order: Longs) -> Bools:
    """Where the rows, in some order, differ from the one before in any of the keys."""
    out = np.zeros(len(order), bool)
    out[:1] = True
    for key in keys:
        ordered = key[order]
        out[1:] |= ordered[1:] != ordered[:-1]
    return out


@dataclass(slots=True)
class Encoder:
    """Collects facts as tables under one vocabulary."""

    n_events: int
    constants: Constants = field(default_factory=Constants)
    tables: dict[Key, Table] = field(default_factory=dict)

    def argument(self, values: Values, column: Column) -> Ints:
        """For each row the code of its value, -1 for none; numbers are cut as the column says."""
        constants, into = values.constants, np.arange(len(values.constants))
        if column.cuts is not None and len(constants) and values.type != "text":
            used, into = np.unique(binned(np.asarray(constants), column.cuts), return_inverse=True)
            constants = np.array(bin_names(column.cuts))[used].tolist()
        codes = [self.constants.add(one) + self.n_events for one in constants]  # after the events
        known = np.array(codes, np.int32)[into]
        return np.append(known, np.int32(-1))[values.codes]  # the last is that of no value

    def add(self, predicate: str, args: Sequence[NDArray[np.integer]], sequences: Longs) -> None:
        """Add the facts of a predicate, one per row; a row that lacks an argument makes none."""
        complete = np.ones(len(sequences), bool)
        for arg in args:
            complete &= arg >= 0
        rows = [row[complete].astype(np.int32) for row in (sequences, *args)]
        if complete.any():
            self.tables[predicate, len(args)] = tb.in_order(np.stack(rows))

    def vocabulary(self) -> Vocabulary:
        """The constants; events are named e1, e2, ..., or as no value is."""
        prefix = "e"
        texts = [text for text in self.constants.values if isinstance(text, str)]
        while any(re.match(rf"{prefix}[1-9]\d*\Z", text) for text in texts):
            prefix = {"e": "event", "event": "event_"}.get(prefix, prefix + "_")
        events = [f"{prefix}{i + 1}" for i in range(self.n_events)]
        return Vocabulary([*events, *self.constants.values])


def encoded(
    schema: Schema, cells: Cells, at: EventLayout, others: Mapping[str, Cells], *, labelled: bool
) -> Sequences:
    """The sequences, with notes on the rows. Raises DataError where an attribute or label changes;
    unless `labelled`, wrong labels are ignored."""
    encoder = Encoder(int(at.numbers.max()) + 1)
    notes = _tie_notes(at, schema.order)
    sequences, numbers = at.sequences[at.order], at.numbers[at.order]
    for dimension, (before, after) in at.links.items():
        pair = [at.numbers[before], at.numbers[after]]
        encoder.add(f"next_{dimension}", pair, at.sequences[before])
    for relation, (first, second) in at.related.items():
        encoder.add(relation, [at.numbers[first], at.numbers[second]], at.sequences[first])
    for group in schema.fluents:
        args = [encoder.argument(cells.argument(c), c) for c in group.columns]
        notes += _gap_notes(group, cells, args)
        encoder.add(group.predicate, [numbers, *(arg[at.order] for arg in args)], sequences)
    for group in schema.attributes:
        for column in group.columns:
            values = cells.argument(column)
            first = _single(cells, at, values, column.name, "an attribute")
            codes = encoder.argument(values, column)[np.maximum(first, 0)]
            codes = np.where(first < 0, np.int32(-1), codes)
            encoder.add(group.predicate, [codes], np.arange(len(at.ids)))
    labels, said = _labels(schema, cells, at, needed=labelled)
    cells.check()
    for group in schema.relations:
        notes += _relate(group, schema, cells, others[group.predicate], at, encoder)
    schema = replace(schema, notes=(*schema.notes, *notes, *said))
    vocabulary = encoder.vocabulary()
    kept: Any = {"reading": schema, "times": at.times, "numbers": _numbers(schema, cells, at)}
    return Sequences(vocabulary, encoder.tables, at.ids, labels, **kept)


def _numbers(schema: Schema, cells: Cells, at: EventLayout) -> Numbers | None:
    """The numbers of the columns that are cut, where the cells are no names of ranges, and the
    times of sequences; None where there are neither."""
    columns = [column for group in schema.fluents + schema.attributes for column in group.columns]
    read = {column.name: cells.argument(column) for column in columns if column.cuts is not None}
    rows = {
        name: values.amounts(at.order) for name, values in read.items() if values.type in NUMERIC
    }
    if not rows and at.spans is None:
        return None
    values = np.array([*rows.values()]).reshape(len(rows), len(at.order))
    return Numbers(tuple(rows), offsets_of(np.bincount(at.sequences)), values, at.spans)


def _gap_notes(group: Group, cells: Cells, args: Sequence[NDArray[np.integer]]) -> list[str]:
    """A note on rows that have some of the arguments of a predicate, but not all."""
    known = [arg >= 0 for arg in args]
    gaps = np.logical_or.reduce(known) & ~np.logical_and.reduce(known)
    if not gaps.any():
        return []
    names = " or ".join(repr(column.name) for column in group.columns)
    return [f"no {group.predicate!r} is made of {cells.rows_text(gaps)}, where {names} is missing"]


def _single(cells: Cells, at: EventLayout, values: Values, name: str, role: str) -> Longs:
    """For each sequence the first row with a value; it must be the only value."""
    first, changed = changes(values.codes, at.sequences)
    wrong, rows = np.unique(at.sequences[changed], return_index=True)
    shown = list(zip(wrong.tolist(), changed[rows].tolist(), strict=True))[:SHOWN_CHANGES]
    for i, row in shown:
        one, two = (
            f"{constant_text(values.constants[values.codes[r]])} in {cells.row_name(r)}"
            for r in (int(first[i]), row)
        )
        where = f"inside sequence {constant_text(at.ids[i])}"
        last, n_more = (i, row) == shown[-1], len(wrong) - len(shown)
        more = f"; so in {n_more:,} more" if last and n_more else ""
        hint = f"give it one value in all rows of a sequence, or do not name it as {role}"
        what = f"column {name!r}, {role}, changes {where}: {one}, {two}{more}"
        cells.wrong(what, hint if last else None)
    return first


def _labels(
    schema: Schema, cells: Cells, at: EventLayout, *, needed: bool
) -> tuple[list[Constant] | None, list[str]]:
    """The class of each sequence, None where there are none; and why there are none."""
    if schema.label is None:
        return None, []
    name, known = schema.label.name, len(cells.problems)
    values = cells.values(name, schema.label.type)
    if not len(values.constants) and len(cells.problems) == known:
        return None, [f"column {name!r} holds no label"]
    first = _single(cells, at, values, name, "the label")
    without = [constant_text(at.ids[i]) for i in np.flatnonzero(first < 0)]
    if without:
        shown = ", ".join(without[:3]) + (", ..." if len(without) > 3 else "")
        n = counted(len(without), "sequence")
        hint = "give every sequence its class, or leave these sequences out"
        cells.wrong(f"column {name!r} has no label for {n} ({shown})", hint)
    if not needed and len(cells.problems) > known:
        why = cells.problems[known].message
        del cells.problems[known:]
        return None, [f"no labels are read: {why}"]
    return [values.constants[values.codes[row]] for row in first.tolist()], []


def _relate(
    group: Group, schema: Schema, cells: Cells, other: Cells, at: EventLayout, encoder: Encoder
) -> list[str]:
    """Add the facts of a further table; notes on rows that make none."""
    sequences = _translated(other.keys(schema.sequence), at.ids)
    here = sequences >= 0  # the table may have rows of other sequences, too
    args: list[NDArray[np.integer]] = []
    if group.events and schema.event is not None:
        keys = cells.keys(schema.event)
        packed = at.sequences * len(keys.constants) + keys.codes
        by = np.argsort(packed)
        for column in group.events:
            codes = _translated(other.keys(column), keys.constants)
            wanted = sequences * len(keys.constants) + codes
            found = by[np.minimum(np.searchsorted(packed, wanted, sorter=by), len(by) - 1)]
            lost = here & ((codes < 0) | (packed[found] != wanted))
            if lost.any():
                what = f"column {column!r} of {group.predicate!r} names no event of the sequence"
                hint = f"its values are those of {schema.event!r} in the table of events"
                other.wrong(f"{what} in {other.rows_text(lost)}", hint)
            args.append(at.numbers[found])
    args += [encoder.argument(other.argument(c), c) for c in group.columns]
    other.check()
    encoder.add(group.predicate, [arg[here] for arg in args], sequences[here])
    notes = _gap_notes(group, other, [np.where(here, arg, -1) for arg in args])
    what = f"the table of {group.predicate!r} has"
    if not here.any():
        return [f"{what} no row of a sequence that has events: it makes no fact"]
    if not here.all():
        lost = other.rows_text(~here)
        notes.append(f"{what} {lost} of sequences that have no events: they are ignored")
    return notes


def _translated(values: Values, names: Iterable[Constant]) -> Longs:
    """For each row the number of the name that it holds, or -1; by text, as one table may have read
    7 as an integer, another as a text."""
    numbers = {str(name): i for i, name in enumerate(names)}
    known = [numbers.get(str(constant), -1) for constant in values.constants]
    into: Longs = np.array([*known, -1], np.int64)
    return into[values.codes]


def _check_keys(cells: Cells, column: str, sequences: Longs) -> None:
    """Add a problem where a column that names events is empty or names two of a sequence alike."""
    values = cells.keys(column)
    missing = values.codes < 0
    if missing.any() and len(values.constants):
        what = f"column {column!r} does not name the event in {cells.rows_text(missing)}"
        cells.wrong(what, "name every event")
    packed = sequences * max(len(values.constants), 1) + values.codes
    _, first = np.unique(packed, return_index=True)
    again = np.ones(len(packed), bool)
    again[first] = False
    again &= ~missing
    if again.any():
        what = f"column {column!r} names an event of the same sequence again"
        cells.wrong(f"{what} in {cells.rows_text(again)}", "give each event a name of its own")


def _tie_notes(at: EventLayout, order: Iterable[tuple[str, str]]) -> list[str]:
    if not at.ties:
        return []
    columns = " and ".join(repr(column) for _, column in order)
    rows = "1 row has" if at.ties == 1 else f"{at.ties:,} rows have"
    what = f"{rows} the same {columns} as the one before"
    return [f"{what}: such rows keep their order in the table"]
