"""`read_xes`: sequences from XES event logs, the files of process mining."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.schema import Schema
from relynx.data.sequences import Sequences, counted
from relynx.data.tables.formats import AllBins, Columns, Fluents, Order
from relynx.data.tables.plans import DEFAULT_BINS, Request, clean_name
from relynx.data.tables.reader import read_request
from relynx.data.xes.event_table import CASE, EVENT, NUMBERS, SEQUENCE, XesTable
from relynx.data.xes.parser import read_log
from relynx.errors import InputError, did_you_mean

ENDINGS = (".xes", ".xes.gz")


def read_xes(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    order: Order = None,
    fluents: Fluents = None,
    attributes: Columns = None,
    classifier: str | None = None,
    bins: AllBins = DEFAULT_BINS,
    reading: Schema | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read an event log, a `.xes` or `.xes.gz` file: each trace becomes a sequence.

    The log is read as a table with a row for each event, by the rules of `from_events`. Its columns
    are the keys of the events' attributes (`concept:name`), those of the traces after `case:`
    (`case:amount`); a nested attribute is named `key/nested`, the second entry of a list
    `key/entry_2`. `concept:name` makes facts `concept_name(E,V)`, `case:amount` makes
    `case_amount(V)`, and the sequence is named by the `concept:name` of the trace.
    Raises InputError with what is wrong, and on which line.

    Parameters
    ----------
    path
        The file. It is read piece by piece.
    label
        The attribute of the class, of the trace or, where all of them agree, of its events.
    order, fluents, attributes, bins
        As in `from_events`. Without `order` events follow each other as in the file. Without
        `fluents` and `attributes`, all attributes are used that can help.
    classifier
        A classifier of the log: only its keys describe events, as one fact.
    reading
        `X.reading` of a log read before, or `reading_` of a model: read this one in the same way.

    Returns
    -------
    X, labels
        The sequences and their labels (None without any). `print(X.reading)` says what became of
        each attribute; `write_xes` writes all of them again, those without facts, too.

    Examples
    --------
    >>> import pathlib, tempfile, relynx as rx
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.xes")
    >>> event = "<event><string key='concept:name' value='{}'/></event>"
    >>> _ = path.write_text(f"<log><trace>{event.format('a')}{event.format('b')}</trace></log>")
    >>> print(rx.read_xes(path)[0][0])
    begin(trace_1). next_s(e1,e2). concept_name(e1,a). concept_name(e2,b). end.
    """
    columns = order.values() if isinstance(order, Mapping) else [order]
    ordered = [one for one in columns if isinstance(one, str)]
    table = XesTable(read_log(path), os.fsdecode(path), order=ordered)
    if classifier is not None:
        fluents = _classified(table, classifier, fluents)
    request = Request(table, None, order, fluents, attributes, label, None, bins, na_values=())
    return _read(table, request, reading)


def _read(
    table: XesTable, asked: Request, reading: Schema | None
) -> tuple[Sequences, NDArray[Any] | None]:
    """The sequences of a log, which is their origin; `asked` are the arguments of the call."""
    missing: list[str] = []
    if isinstance(reading, Schema):
        reading, also, missing = _fitted(reading, table)
        ordered = [column for _, column in reading.order]
        table = XesTable(table.log, str(table.source.path), also=also, extra=missing, order=ordered)
    attributes = asked.attributes
    if isinstance(attributes, list | tuple):
        attributes = [_of_trace(table, name) for name in attributes]
    request = replace(
        asked,
        table=table,
        sequence=None if reading is not None else SEQUENCE,
        attributes=_of_trace(table, attributes),
        label=_of_trace(table, asked.label),
    )
    X = read_request(request, {}, reading)
    assert X.reading is not None  # it is how the table was read
    notes = [*_notes(table, X.reading), *(f"the log has no {name!r}" for name in missing)]
    schema = replace(X.reading, notes=(*X.reading.notes, *notes))
    X = X.replaced(reading=schema, origin=table.log)
    return X, X.labels


def is_xes(path: str | os.PathLike[str]) -> bool:
    return os.fsdecode(path).lower().endswith(ENDINGS)


def _columns(schema: Schema) -> list[str]:
    groups = schema.fluents + schema.attributes
    return list(dict.fromkeys(column.name for group in groups for column in group.columns))


def _fitted(schema: Schema, table: XesTable) -> tuple[Schema, dict[str, str], list[str]]:
    """A schema, maybe of a table that `write_xes` made a log of, as it fits a log, other names that
    its columns have, and those that are not there."""
    names = table.names
    also = {} if schema.sequence in names else {schema.sequence: SEQUENCE}
    alone = len(schema.order) == 1 and schema.order[0][1] not in names
    if alone or not len(table.log.events):
        schema = replace(schema, order=())  # that of the file
    label = [] if schema.label is None else [schema.label.name]
    for name in (*_columns(schema), *label):
        for prefix in (CASE, EVENT):
            if name not in names and prefix + name in names:
                also[name] = prefix + name
    missing = [name for name in _columns(schema) if name not in names and name not in also]
    return schema, also, missing


def _classified(table: XesTable, name: object, fluents: object) -> dict[str, list[str]]:
    known = table.log.classifiers
    if fluents is not None:
        what = "classifier and fluents both say what describes an event"
        raise InputError(what, table.source, hint="give one of them")
    if not isinstance(name, str) or name not in known:
        some = f"it has {', '.join(map(repr, known))}" if known else "it has none"
        hint = did_you_mean(str(name), list(known)) or some
        raise InputError(f"the log has no classifier {name!r}", table.source, hint=hint)
    return {clean_name(name): _joined(known[name], table.names)}


def _joined(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The keys of a classifier; one with blanks in it may stand there without quotes."""
    keys, start = [], 0
    while start < len(words):
        ends = range(len(words), start, -1)
        end = next((e for e in ends if " ".join(words[start:e]) in names), start + 1)
        keys.append(" ".join(words[start:end]))
        start = end
    return keys


def _of_trace(table: XesTable, name: Any) -> Any:
    """The column of a key: that of the trace, where both have it."""
    return CASE + name if isinstance(name, str) and CASE + name in table.names else name


def _notes(table: XesTable, schema: Schema) -> list[str]:
    """What there is to say of a log beyond what there is to say of any table."""
    log, notes = table.log, list(table.log.notes)
    if n := len(table.unnamed):
        which = f"trace_{table.unnamed[0] + 1}" + (", ..." if n > 1 else "")
        what = f"{counted(n, 'trace')} without a name of {'its' if n == 1 else 'their'} own"
        notes.append(f"{what}: numbered, as {which}")
    if empty := int((np.diff(log.first) == 0).sum()):
        notes.append(f"{counted(empty, 'trace')} without events")
    used = _columns(schema)
    for name in used:
        types = table.types(name)
        if len(types) > 1 and not set(types) <= set(NUMBERS):
            notes.append(f"column {name!r} is of the types {' and '.join(types)}: read as text")
    for scope, part, before in (("trace", log.traces, CASE), ("event", log.events, "")):
        occurrences = part.columns()
        for key in log.declared.get(scope, ()):
            if before + key in used:
                has = np.zeros(len(part), bool)
                for occurrence in occurrences.get(key, ()):
                    has |= part.column(occurrence) >= 0
                if not has.all():
                    what = f"the log declares {key!r} for every {scope}"
                    gaps = counted(int((~has).sum()), scope)
                    notes.append(f"{what}, and {gaps} of {len(part):,} lack it")
    return notes
