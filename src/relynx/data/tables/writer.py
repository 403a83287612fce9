"""`to_events`: sequences that were read from a table of events, as a table again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from relynx.arrays import Bools, Longs
from relynx.data.discretise import Cuts, bin_names
from relynx.data.event_arguments import packed_pairs
from relynx.data.schema import Column, Schema
from relynx.data.sequences import Sequences
from relynx.data.tables.frames import frame
from relynx.data.times import Times
from relynx.errors import DataError
from relynx.logic import tables as tb
from relynx.logic.tables import Table
from relynx.logic.terms import Constant

EXACT = 2**53  # below which floats hold all integers
SOME_DAY = "2000-01-01"


def to_events(X: Sequences, *, backend: str = "pandas") -> Any:
    """Convert sequences that `from_events` or `from_intervals` read back to a table of events.

    The table has one row per event and the columns that became facts. Numbers that were cut into
    ranges are given as the names of the ranges. Order columns count from 1; an order column that
    also became a fact has its original values, or some number in the range. Intervals keep their
    starts and ends; dates are texts, in UTC if they had a time zone. Facts of further tables and of
    background rules are not included. `from_events(table, reading=X.reading)` gives the same
    sequences; with three or more dimensions, up to the names of events.

    Parameters
    ----------
    X
        Sequences with a `reading`.
    backend
        `pandas`, `polars` or `pyarrow`.

    Examples
    --------
    >>> import relynx as rx
    >>> table = {"case": ["a", "a", "b"], "at": [2, 1, 1], "step": ["in", "out", "in"]}
    >>> X, y = rx.from_events(table, sequence="case", order="at")
    >>> rx.to_events(X, backend="polars").to_dict(as_series=False)
    {'case': ['a', 'a', 'b'], 'at': [1, 2, 1], 'step': ['out', 'in', 'in']}
    """
    schema = X.reading if isinstance(X, Sequences) else None
    if schema is None or (schema.intervals is not None and X.times is None):
        what = "only sequences that from_events read can become a table of events"
        raise DataError(what, hint="rx.write_lynx writes any sequences to a file")
    times = X.times
    # Packed: sequence * n + code
    pairs = _events(X, schema) if times is None else _intervals(X, schema, times)
    n = len(X.vocabulary) + 1  # the last code is that of no event
    sequences = pairs // n
    columns: dict[str, tuple[list[Any], type]] = {}
    columns[schema.sequence] = _column([X.ids[i] for i in sequences.tolist()])
    facts = _facts(X, schema, pairs)
    for (_, name), coordinates in zip(schema.order, _coordinates(X, schema, pairs), strict=True):
        fact = facts.pop(name, None)
        columns[name] = (
            (coordinates.tolist(), int) if fact is None else _both(coordinates, sequences, *fact)
        )
    if schema.intervals is not None and times is not None:
        columns[schema.intervals.start] = _column(times.starts.tolist())
        columns[schema.intervals.end] = _column(times.ends.tolist())
    for name, (column, values) in facts.items():
        columns.setdefault(name, _typed(values, column, backend))
    for name in () if schema.intervals is None else schema.intervals.made:
        columns.pop(name, None)
    if schema.label is not None and X.labels is not None:
        labels = X.labels.tolist()
        columns[schema.label.name] = _column([labels[i] for i in sequences.tolist()])
    chunk = {name: values for name, (values, _) in columns.items()}
    types: Mapping[str, type] = {name: python_type for name, (_, python_type) in columns.items()}
    return frame([chunk], types, backend=backend)


def event_rows(X: Sequences, schema: Schema) -> tuple[Longs, Bools, dict[str, list[Any]]]:
    """The sequence of each row, whether it is an event (a sequence without any has a row that is
    none), and the columns of the order and the facts."""
    pairs = _events(X, schema)  # packed: sequence * n + code
    n = len(X.vocabulary) + 1  # the last code is that of no event
    facts = _facts(X, schema, pairs)
    columns = {name: values for name, (_, values) in facts.items()}
    for (_, name), coordinates in zip(schema.order, _coordinates(X, schema, pairs), strict=True):
        columns[name] = coordinates.tolist()
        if name in facts:
            columns[name], _ = _both(coordinates, pairs // n, *facts[name])
    return pairs // n, pairs % n < n - 1, columns


def _facts(X: Sequences, schema: Schema, pairs: Longs) -> dict[str, tuple[Column, list[Any]]]:
    """The columns that became facts. A column of several predicates has the first known value."""
    n = len(X.vocabulary) + 1
    out: dict[str, tuple[Column, list[Any]]] = {}
    groups = [(group, 1, pairs) for group in schema.fluents]
    groups += [(group, 0, pairs // n * n) for group in schema.attributes]
    for group, n_events, rows in groups:
        table = X.tables.get((group.predicate, n_events + len(group.columns)))
        for i, column in enumerate(group.columns):
            values = _values(X, table, 1 + n_events + i, rows, n)
            if column.name in out:
                known = out[column.name][1]
                if not n_events:  # where events have the value, the others must stay without it
                    without = np.array([value is None for value in known])
                    here = np.isin(pairs // n, pairs[~without] // n)
                    values = [None if at else v for v, at in zip(values, here, strict=True)]
                values = [
                    two if one is None else one for one, two in zip(known, values, strict=True)
                ]
            out[column.name] = column, values
    return out


def _both(
    coordinates: Longs, sequences: Longs, column: Column, values: list[Any]
) -> tuple[list[Any], type]:
    """A column of the order that became facts, too."""
    if column.cuts is None:
        values, python_type = _typed(values, column, "")
    else:  # ranges would order nothing: numbers in them do
        values, python_type = _in_ranges(values, column.cuts, coordinates), float
    # Without a fact, any value will do that keeps the row in its position.
    default: Any = {str: SOME_DAY, bool: False}.get(python_type, 0)
    rows = list(zip(sequences.tolist(), values, strict=True))
    latest = {sequence: value for sequence, value in reversed(rows) if value is not None}
    out = []
    for sequence, value in rows:
        if value is not None:
            latest[sequence] = value
        out.append(latest.get(sequence, default))
    return out, python_type


def _in_ranges(values: list[Any], cuts: Cuts, coordinates: Longs) -> list[float | None]:
    """Numbers inside ranges, given by their names, that rise with the coordinates."""
    low, high = (cuts[0], cuts[-1]) if cuts else (0, 1)
    edges = [low - max(1, abs(low)), *cuts, high + max(1, abs(high))]
    out: list[float | None] = [None] * len(values)
    for i, name in enumerate(bin_names(cuts)):
        rows = [row for row, value in enumerate(values) if value == name]
        own, rank = np.unique(coordinates[rows], return_inverse=True)
        for row, k in zip(rows, rank.tolist(), strict=True):
            out[row] = edges[i] + (edges[i + 1] - edges[i]) * (k / len(own))
    return out


def _events(X: Sequences, schema: Schema) -> Longs:
    """The events in order, packed with their sequences; an empty one where a sequence has none."""
    n = len(X.vocabulary) + 1
    pairs = _stated_events(X, schema)
    without = np.setdiff1d(np.arange(len(X)), pairs // n)
    pairs = np.concatenate([pairs, without * n + n - 1])
    number = np.array([*(_number(name) for name in X.vocabulary), 0])
    return np.asarray(pairs[np.lexsort((number[pairs % n], pairs // n))])


def _stated_events(X: Sequences, schema: Schema) -> Longs:
    """The events that occur in facts, packed with their sequences."""
    n = len(X.vocabulary) + 1
    held = [((f"next_{dimension}", 2), i) for dimension in schema.dimensions for i in (0, 1)]
    held += [((group.predicate, 1 + len(group.columns)), 0) for group in schema.fluents]
    found = [packed_pairs(X.tables[key], i, n) for key, i in held if key in X.tables]
    return np.asarray(tb.distinct(np.concatenate([np.empty(0, np.int64), *found])))


def _intervals(X: Sequences, schema: Schema, times: Times) -> Longs:
    """The intervals in order, packed with their sequences; there is a time for each of them."""
    n = len(X.vocabulary) + 1
    lengths = np.diff(times.offsets)
    code_of = np.full(int(lengths.max(initial=0)) + 1, n - 1)  # by number; n - 1 for no event
    for code in tb.distinct(_stated_events(X, schema) % n).tolist():
        code_of[_number(X.vocabulary[code])] = code
    numbers = np.arange(len(times.starts)) - np.repeat(times.offsets[:-1], lengths) + 1
    return np.asarray(np.repeat(np.arange(len(X)), lengths) * n + code_of[numbers])


def _number(name: Constant) -> int:
    """The number at the end of an event's name."""
    text = str(name)
    digits = text[len(text.rstrip("0123456789")) :]
    return int(digits[-18:]) if digits else 0


def _values(X: Sequences, table: Table | None, argument: int, pairs: Longs, n: int) -> list[Any]:
    """The value of an argument for each event (or sequence), None where there is none."""
    values: list[Any] = [None] * len(pairs)
    if table is None:
        return values
    keys = packed_pairs(table, 0, n) if argument > 1 else table[0].astype(np.int64) * n
    at = np.searchsorted(keys, pairs)
    found = np.flatnonzero(np.append(keys, -1)[at] == pairs)
    for row, code in zip(found.tolist(), table[argument, at[found]].tolist(), strict=True):
        values[row] = X.vocabulary[code]
    return values


def _coordinates(X: Sequences, schema: Schema, pairs: Longs) -> list[Longs]:
    """For each dimension the coordinate of each event: one belongs to a set of events that are
    connected without its dimension, and coordinates are in an order that the links of their
    dimension allow."""
    n = len(X.vocabulary) + 1  # the last code is that of no event
    order = np.argsort(pairs)
    links = {}
    for dimension, _ in schema.order:
        table = X.tables.get((f"next_{dimension}", 2), tb.empty(2))
        links[dimension] = [
            order[np.searchsorted(pairs, packed_pairs(table, i, n), sorter=order)] for i in (0, 1)
        ]
    if len(links) == 1:
        starts = np.flatnonzero(np.diff(pairs // n, prepend=-1))
        return [np.arange(len(pairs)) - np.repeat(starts, np.diff(starts, append=len(pairs))) + 1]
    return [_coordinate(dimension, links, len(pairs)) for dimension in links]


def _coordinate(dimension: str, links: Mapping[str, list[Longs]], n_events: int) -> Longs:
    others = [pair for name, pair in links.items() if name != dimension]
    before, after = (np.concatenate([pair[i] for pair in others]) for i in (0, 1))
    graph = sparse.coo_array((np.ones(len(before)), (before, after)), (n_events, n_events))
    n_components, component = csgraph.connected_components(graph, directed=False)
    low, high = (component[rows] for rows in links[dimension])
    level = np.zeros(n_components, np.int64)
    if dimension == next(iter(links)):  # by it events are numbered first of all
        level[component[::-1]] = np.arange(n_events)[::-1]
    apart = low != high  # rows of the same component keep their order
    for _ in range(n_components):
        raised = level.copy()
        np.maximum.at(raised, high[apart], level[low[apart]] + 1)
        if np.array_equal(raised, level):
            break
        level = raised
    rank = np.empty(n_components, np.int64)
    rank[np.lexsort((np.arange(n_components), level))] = np.arange(1, n_components + 1)
    return np.asarray(rank[component])


def _typed(values: list[Any], column: Column, backend: str) -> tuple[list[Any], type]:
    """The values of a column, and the type that the frame should give them."""
    missing = None in values
    if column.cuts is not None or column.type in ("text", "date"):
        return values, str
    if column.type == "boolean":
        if missing and backend == "pandas":  # which has no truth values with gaps
            return values, str
        return [None if value is None else value == "true" for value in values], bool
    if column.type == "integer" and missing and backend == "pandas":  # nor integers
        exact = all(value is None or abs(value) < EXACT for value in values)
        texts = [None if value is None else str(value) for value in values]
        return (values, float) if exact else (texts, str)
    return values, int if column.type == "integer" else float


def _column(values: list[Any]) -> tuple[list[Any], type]:
    """Values of one type as they are, of several types as text."""
    types = {type(value) for value in values}
    python_type = types.pop() if len(types) == 1 else str
    return (values if python_type in (int, float) else list(map(str, values))), python_type
