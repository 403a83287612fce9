"""The facts of a table of events: rows become events, columns their properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relynx.data.discretise import bin_names, binned
from relynx.data.event_columns import Values, WrongColumn, ranks
from relynx.data.event_plans import changes
from relynx.data.event_tables import Cells
from relynx.data.readings import Column, Group, Reading
from relynx.data.sequences import Sequences, counted
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.logic.terms import Constant, constant_key, constant_text

Rows = NDArray[np.int64]
SHOWN_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Places:
    """Where the rows stand: the sequence of each row, its number there, and the links.

    `links` has for each dimension the rows that directly follow each other, as pairs.
    """

    ids: list[Constant]
    sequences: Rows  # of each row
    numbers: Rows  # of each row among those of its sequence, from 0
    order: Rows  # the rows in the order of sequences and numbers
    links: dict[str, tuple[Rows, Rows]]
    ties: int


def sequence_numbers(
    cells: Cells, column: str, order: Iterable[str]
) -> tuple[list[Constant], Rows]:
    """The ids, in the order in which they appear, and the number of each row's id.

    Raises DataError where a row does not say its sequence or its place in the order.
    """
    for name, what in ((column, "sequence"), *((one, "order") for one in order)):
        known = len(cells.problems)
        missing = cells.values(name).codes < 0
        if missing.any() and len(cells.problems) == known:
            text = f"column {name!r} does not say the {what} in {cells.places(missing)}"
            cells.wrong(text, "fill it in, or leave these rows out")
    cells.check()
    values = cells.values(column)
    codes, first = np.unique(values.codes, return_index=True)
    appearing = np.argsort(first)
    number = np.empty(len(codes), np.int64)
    number[appearing] = np.arange(len(codes))
    return [values.constants[code] for code in codes[appearing]], number[
        np.searchsorted(codes, values.codes)
    ]


def places(reading: Reading, cells: Cells, ids: list[Constant], sequences: Rows) -> Places:
    """Rows along each dimension; what is wrong with a column of the order joins the problems."""
    along = {}
    for dimension, column in reading.order:
        try:
            along[dimension] = ranks(cells.values(column))
        except WrongColumn as error:
            cells.wrong_column(column, error)
    cells.check()
    keys = list(along.values())
    order = np.lexsort([*reversed(keys), sequences])
    starts = _starts([sequences], order)
    begin = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - begin
    ties = int((~_starts([sequences, *keys], order)).sum()) if keys else 0
    links = {}
    for dimension in reading.dimensions:
        others = [key for name, key in along.items() if name != dimension]
        own = [along[dimension]] if dimension in along else []
        by = np.lexsort([numbers, *own, *others, sequences])
        linked = np.flatnonzero(~_starts([sequences, *others], by))
        links[dimension] = by[linked - 1], by[linked]
    return Places(ids, sequences, numbers, order, links, ties)


def _starts(keys: Sequence[Rows], order: Rows) -> NDArray[np.bool_]:
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
    codes: dict[object, int] = field(default_factory=dict)
    constants: list[Constant] = field(default_factory=list)
    tables: dict[Key, Table] = field(default_factory=dict)

    def argument(self, values: Values, column: Column) -> NDArray[np.int32]:
        """For each row the code of its value, -1 for none; numbers are cut as the column says."""
        constants, into = list(values.constants), np.arange(len(values.constants))
        if column.cuts is not None and constants:
            into = binned(np.asarray(constants), column.cuts)
            constants = [*bin_names(column.cuts)]
            used = np.zeros(len(constants), bool)
            used[into] = True
            constants = [c if used[i] else None for i, c in enumerate(constants)]  # type: ignore[misc]
        known = np.array([-1 if c is None else self.code(c) for c in constants], np.int32)
        if not len(known):
            return np.full(len(values.codes), -1, np.int32)
        return np.where(values.codes < 0, np.int32(-1), known[into][values.codes])

    def code(self, constant: Constant) -> int:
        """The code of a constant; those of the events come first."""
        code = self.codes.setdefault(constant_key(constant), len(self.constants))
        if code == len(self.constants):
            self.constants.append(constant)
        return code + self.n_events

    def add(self, predicate: str, args: Sequence[NDArray[np.integer]], sequences: Rows) -> None:
        """Facts of a predicate, one a row; rows that lack an argument make none."""
        complete = np.ones(len(sequences), bool)
        for arg in args:
            complete &= arg >= 0
        rows = [row[complete].astype(np.int32) for row in (sequences, *args)]
        if complete.any():
            self.tables[predicate, len(args)] = tb.in_order(np.stack(rows))

    def vocabulary(self) -> Vocabulary:
        """The constants; events are named e1, e2, ..., or as no value is."""
        prefix = "e"
        texts = [text for text in self.constants if isinstance(text, str)]
        while any(re.match(rf"{prefix}[1-9]\d*\Z", text) for text in texts):
            prefix = {"e": "event", "event": "event_"}.get(prefix, prefix + "_")
        events = [f"{prefix}{i + 1}" for i in range(self.n_events)]
        return Vocabulary([*events, *self.constants])


def encoded(reading: Reading, cells: Cells, at: Places, others: Mapping[str, Cells]) -> Sequences:
    """The sequences. Raises DataError with what changes inside a sequence and may not."""
    encoder = Encoder(int(at.numbers.max()) + 1)
    sequences, numbers = at.sequences[at.order], at.numbers[at.order]
    for dimension, (before, after) in at.links.items():
        pair = [at.numbers[before], at.numbers[after]]
        encoder.add(f"next_{dimension}", pair, at.sequences[before])
    for group in reading.fluents:
        args = [encoder.argument(cells.values(c.name, c.kind), c)[at.order] for c in group.columns]
        encoder.add(group.predicate, [numbers, *args], sequences)
    for group in reading.attributes:
        for column in group.columns:
            values = cells.values(column.name, column.kind)
            first = _single(cells, at, values, column.name, "an attribute")
            codes = encoder.argument(values, column)[np.maximum(first, 0)]
            codes = np.where(first < 0, np.int32(-1), codes)
            encoder.add(group.predicate, [codes], np.arange(len(at.ids)))
    labels = _labels(reading, cells, at)
    cells.check()
    for group in reading.relations:
        _relate(group, reading, cells, others[group.predicate], at, encoder)
    return Sequences(encoder.vocabulary(), encoder.tables, at.ids, labels, reading=reading)


def _single(cells: Cells, at: Places, values: Values, name: str, role: str) -> Rows:
    """For each sequence the first row with a value; it must be the only value."""
    first, changed = changes(values.codes, at.sequences)
    wrong, rows = np.unique(at.sequences[changed], return_index=True)
    shown = list(zip(wrong.tolist(), changed[rows].tolist(), strict=True))[:SHOWN_CHANGES]
    for i, row in shown:
        one, two = (
            f"{constant_text(values.constants[values.codes[r]])} in {cells.place(r)}"
            for r in (int(first[i]), row)
        )
        where = f"inside sequence {constant_text(at.ids[i])}"
        last = (i, row) == shown[-1]
        more = (
            f"; so in {len(wrong) - len(shown):,} more" if last and len(wrong) > len(shown) else ""
        )
        hint = f"give it one value in all rows of a sequence, or do not name it as {role}"
        what = f"column {name!r}, {role}, changes {where}: {one}, {two}{more}"
        cells.wrong(what, hint if last else None)
    return first


def _labels(reading: Reading, cells: Cells, at: Places) -> list[Constant] | None:
    """The class of each sequence, None where there are none."""
    if reading.label is None:
        return None
    name = reading.label.name
    values = cells.values(name, reading.label.kind)
    if not len(values.constants):
        return None
    first = _single(cells, at, values, name, "the label")
    without = [constant_text(at.ids[i]) for i in np.flatnonzero(first < 0)]
    if without:
        shown = ", ".join(without[:3]) + (", ..." if len(without) > 3 else "")
        n = counted(len(without), "sequence")
        hint = "give every sequence its class, or leave these sequences out"
        cells.wrong(f"column {name!r} has no label for {n} ({shown})", hint)
    return [values.constants[values.codes[row]] for row in first.tolist()]


def _relate(
    group: Group, reading: Reading, cells: Cells, other: Cells, at: Places, encoder: Encoder
) -> None:
    """The facts of a further table."""
    ids = {constant_key(name): i for i, name in enumerate(at.ids)}
    kind = cells.values(reading.sequence).kind
    sequences = _translated(other.values(reading.sequence, kind), ids)
    here = sequences >= 0  # the table may tell of other sequences, too
    args: list[NDArray[np.integer]] = []
    if group.events and reading.event is not None:
        keys = cells.values(reading.event)
        known = {constant_key(key): i for i, key in enumerate(keys.constants)}
        place = at.sequences * len(known) + keys.codes
        by = np.argsort(place)
        for column in group.events:
            codes = _translated(other.values(column, keys.kind), known)
            wanted = sequences * len(known) + codes
            found = by[np.minimum(np.searchsorted(place, wanted, sorter=by), len(by) - 1)]
            lost = here & ((codes < 0) | (place[found] != wanted))
            if lost.any():
                what = f"column {column!r} of {group.predicate!r} names no event of the sequence"
                hint = f"its values are those of {reading.event!r} in the table of events"
                other.wrong(f"{what} in {other.places(lost)}", hint)
            args.append(at.numbers[found])
    args += [encoder.argument(other.values(c.name, c.kind), c) for c in group.columns]
    other.check()
    encoder.add(group.predicate, [arg[here] for arg in args], sequences[here])


def _translated(values: Values, numbers: Mapping[object, int]) -> Rows:
    """For each row the number of its value, -1 where it has none or the value is unknown."""
    known = [numbers.get(constant_key(constant), -1) for constant in values.constants]
    into: Rows = np.array([*known, -1], np.int64)
    return into[values.codes]


def repeated_keys(cells: Cells, column: str, sequences: Rows) -> None:
    """Add a problem where a column that names events is empty or names two of a sequence alike."""
    values = cells.values(column)
    missing = values.codes < 0
    if missing.any() and len(values.constants):
        what = f"column {column!r} does not name the event in {cells.places(missing)}"
        cells.wrong(what, "name every event")
    place = sequences * max(len(values.constants), 1) + values.codes
    _, first = np.unique(place, return_index=True)
    again = np.ones(len(place), bool)
    again[first] = False
    again &= ~missing
    if again.any():
        what = f"column {column!r} names an event of the same sequence again"
        cells.wrong(f"{what} in {cells.places(again)}", "give each event a name of its own")


def passed_over(
    reading: Reading, cells: Cells, others: Mapping[str, Cells], ids: list[Constant]
) -> list[str]:
    """Notes on rows of further tables that are of no sequence of the events."""
    known = {constant_key(name): i for i, name in enumerate(ids)}
    kind = cells.values(reading.sequence).kind
    notes = []
    for group in reading.relations:
        other = others[group.predicate]
        lost = _translated(other.values(reading.sequence, kind), known) < 0
        if lost.any():
            what = f"the table of {group.predicate!r} has {other.places(lost)}"
            notes.append(f"{what} of sequences that have no events: they are passed over")
    return notes


def tie_notes(at: Places, order: Iterable[tuple[str, str]]) -> list[str]:
    if not at.ties:
        return []
    columns = " and ".join(repr(column) for _, column in order)
    rows = "1 row has" if at.ties == 1 else f"{at.ties:,} rows have"
    what = f"{rows} the same {columns} as the one before"
    return [f"{what}: such rows follow each other as they stand in the table"]
