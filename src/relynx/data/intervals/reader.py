"""`from_intervals`: sequences from tables of intervals, with one row per interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Longs
from relynx.data import allen as al
from relynx.data.intervals.endpoints import SortedIntervals, given_times, read_times
from relynx.data.schema import Intervals, Schema
from relynx.data.sequences import Sequences, shown
from relynx.data.tables.columns import Table, Values
from relynx.data.tables.facts import EventLayout, encoded, sequence_numbers
from relynx.data.tables.formats import AllBins, Columns, Fluents, Markers
from relynx.data.tables.inputs import Cells, name_problems, unknown_column
from relynx.data.tables.plans import DEFAULT_BINS, SUPERVISED, Request, planned
from relynx.data.tables.reader import READ, checked_columns, opened_table
from relynx.data.times import Times, offsets_of
from relynx.errors import DataError, InputError, Problem, did_you_mean, raise_all
from relynx.logic.terms import Constant, constant_text

MOST_FACTS = 100_000_000  # of relations
WORDS = {"contact": al.CONTACT, "all": (*al.CONTACT, al.BEFORE)}


def from_intervals(
    frame: Any, *, sequence: str | None = None, start: str | None = None, end: str | None = None,
    label: str | None = None, symbol: str | None = None,
    fluents: Fluents = None,
    attributes: Columns = None,
    relations: str | Sequence[str] | None = "contact",
    dimensions: str | Sequence[str] = (al.START,),
    duration: bool | None = None, gap: bool = False,
    bins: AllBins = DEFAULT_BINS, na_values: Markers | None = None,
    date_format: str | None = None, reading: Schema | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:  # fmt: skip
    """Make sequences from a table with one row per interval.

    The events are the intervals, in the order of their starts, then of their ends, then of their
    symbols. Allen's relations say how two of them lie to each other: `overlaps(E,F)`, ... They are
    closed, and may be points; rows that are all the same are different intervals. Raises InputError
    with all that is wrong with the arguments, or with the table.

    Parameters
    ----------
    frame, sequence, label, fluents, attributes, bins, na_values, date_format
        As in `from_events`.
    start, end
        The columns of the times of an interval: both numbers, or both dates or texts of dates.
    symbol
        The column that says what holds during an interval, `symbol(E,Value)`. Its numbers are
        names, and never cut into ranges.
    relations
        The relations that become predicates: `"contact"` for those of intervals that share time,
        meets, overlaps, starts, during, finishes and equals; `"all"` for these and before; a list
        of names, inverses such as contains or met_by among them; or None. `before` becomes a
        dimension, where `follow_before(E,F)` says that E ends before F starts.
    dimensions
        What links intervals: `start`, each to the one that starts next; `end`, to the one that
        ends next; `before`, to those after it with none between; or another relation.
    duration, gap
        Whether `duration(E,Value)` says how long an interval is, in the unit of the numbers, or in
        seconds where the times are dates; and `gap(E,Value)` how long nothing held before it began:
        0 where one that started before had not ended. The first has none. `bins` cuts both. With
        None, durations are made where there is a label to cut them by, as `bins="supervised"` does,
        unless all are equal or the table has a column of that name.
    reading
        `X.reading` of intervals read before, or `reading_` of a model: read this table in the same
        way, with the same cuts. No other argument is given with it.

    Returns
    -------
    X, labels
        The sequences in order of appearance, and their labels (None without any).
        `print(X.reading)` says how the table was read and what was left out.

    Examples
    --------
    >>> import relynx as rx
    >>> table = {"day": [1, 1], "from": [9, 8], "to": [12, 10], "what": ["rain", "wind"]}
    >>> X, y = rx.from_intervals(table, sequence="day", start="from", end="to", symbol="what")
    >>> print(X[0])
    begin(1). next_start(e1,e2). overlaps(e1,e2). what(e1,wind). what(e2,rain). end.
    """
    made = tuple(name for name, wanted in zip(al.MADE, (duration, gap), strict=True) if wanted)
    asked = Request(frame, sequence, None, fluents, attributes, label, None, bins, symbol=symbol)
    asked.na_values, asked.date_format = na_values, date_format
    asked = opened_table(asked, reading)
    table = asked.table
    by_label = duration is None and label is not None and al.DURATION not in table.names
    if by_label and reading is None:
        made = (al.DURATION, *made)
        if isinstance(bins, Mapping):
            asked.bins = {al.DURATION: SUPERVISED, **bins}
        elif not asked.says_bins():
            asked.bins = {al.DURATION: SUPERVISED}
    return _read(asked, (start, end), relations, dimensions, made, reading, may_drop=by_label)


def _read(
    asked: Request,
    ends: tuple[str | None, str | None],
    relations: str | Sequence[str] | None,
    dimensions: str | Sequence[str],
    made: tuple[str, ...],
    reading: Schema | None,
    *,
    may_drop: bool,
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read a table as requested, or as another one was read. With `may_drop` the durations were not
    asked for: they are left out where all are equal."""
    table, sequence, symbol = asked.table, asked.sequence, asked.symbol
    raise_all(name_problems(table), DataError)
    if reading is not None:
        usual = (("contact", relations), ((al.START,), dimensions))
        same = all(type(one) is type(two) and one == two for one, two in usual)
        if asked.arguments() or ends != (None, None) or not same or made:
            what = "reading says how to read the table, and so do other arguments"
            raise InputError(what, hint="give reading alone")
        return _read_again(table, reading)
    problems, links, related = _named(table, relations, dimensions, made)
    tasks = {"sequence": sequence, "label": asked.label}
    _check_times(asked, *ends, {**tasks, "symbol": symbol})
    n_wrong = len(asked.problems)
    if symbol is not None:
        _check_role(asked, symbol, "symbol", tasks)
    unclear = len(asked.problems) > n_wrong
    request = replace(
        asked,
        made=made,
        order=None if n_wrong else dict(zip(("start", "end"), ends, strict=True)),
        always=made if symbol is None or unclear else (symbol, *made),
        taken=related,
        problems=[*asked.problems, *problems],
    )
    names = [name for name in checked_columns(request, {}) if name not in made]
    cells = Cells(table, names, date_format=request.date_format)
    intervals = Intervals(cast(str, ends[0]), cast(str, ends[1]), symbol, links, related, made)
    layout, notes = _interval_layout(cells, cast(str, sequence), intervals)
    if may_drop and len(cells.values(al.DURATION).constants) < 2:
        made = tuple(name for name in made if name != al.DURATION)
        always = tuple(name for name in request.always if name != al.DURATION)
        request = replace(request, made=made, always=always)
        intervals = replace(intervals, made=made)
    new = planned(request, cells, layout.sequences)
    new = replace(new, order=(), intervals=intervals, notes=(*new.notes, *notes))
    X = encoded(new, cells, layout, {}, labelled=True)
    return X, X.labels


def _read_again(table: Table, schema: Schema) -> tuple[Sequences, NDArray[Any] | None]:
    intervals = getattr(schema, "intervals", None)
    if not isinstance(cast(object, schema), Schema) or intervals is None:
        what = f"reading is a {type(schema).__name__}"
        if isinstance(cast(object, schema), Schema):
            what = "the reading is one of events that are no intervals"
        raise InputError(what, hint="give X.reading of intervals that were read before")
    if schema.label is not None and schema.label.name not in table.names:
        schema = replace(schema, label=None)
    facts = [column for group in schema.groups for column in group.columns]
    names = [schema.sequence, intervals.start, intervals.end]
    names += [] if intervals.symbol is None else [intervals.symbol]
    names += [column.name for column in facts if column.name not in intervals.made]
    raise_all((unknown_column(table, name, READ) for name in dict.fromkeys(names)), DataError)
    label = [] if schema.label is None else [schema.label.name]
    cells = Cells(table, [*names, *label], date_format=schema.date_format)
    layout, notes = _interval_layout(cells, schema.sequence, intervals)
    for column in facts:
        cells.argument(column)
    cells.check()
    X = encoded(replace(schema, notes=notes), cells, layout, {}, labelled=False)
    return X, X.labels


def _named(
    table: Table, relations: object, dimensions: object, made: Iterable[str]
) -> tuple[list[Problem], tuple[str, ...], tuple[str, ...]]:
    """The requested dimensions and relations, and what is wrong with them."""
    problems: list[Problem] = []
    if relations is None:
        related: list[str] = []
    elif isinstance(relations, str) and relations in WORDS:
        related = [*WORDS[relations]]
    else:
        known = (al.BEFORE, *al.SHARE_TIME)
        related = _listed("relations", relations, known, (*WORDS, *known), problems)
    links = _listed("dimensions", dimensions, al.DIMENSIONS, al.DIMENSIONS, problems)
    if not links and not problems:
        problems.append(Problem("dimensions is empty", hint="give at least one, such as 'start'"))
    for name in made:
        if name in table.names:
            what = f"the table has a column {name!r}, and {name} asks for one that is made"
            hint = f"rename the column, or leave out {name}=True"
            problems.append(Problem(what, table.source, hint=hint))
    if al.BEFORE in related:
        links.append(al.BEFORE)
    related = [name for name in related if name != al.BEFORE]
    return problems, tuple(dict.fromkeys(links)), tuple(dict.fromkeys(related))


def _listed(
    role: str, given: object, known: Sequence[str], near: Sequence[str], problems: list[Problem]
) -> list[str]:
    """Names that were given as one or as a list; those that are not known are problems."""
    names = [given] if isinstance(given, str) else given
    if isinstance(names, Mapping | bytes) or not isinstance(names, Iterable):
        words = "'contact', 'all', None or " if role == "relations" else ""
        hint = f"give {words}a list of names, such as {list(known[1:3])}"
        problems.append(Problem(f"{role} is {shown(given)}", hint=hint))
        return []
    out = []
    for name in names:
        if not isinstance(name, str):
            hint = f"give some of {', '.join(known)}"
            problems.append(Problem(f"{role} names {shown(name)}", hint=hint))
        elif name == al.AFTER:
            hint = "give 'before': follow_before(E,F) says that F is after E"
            problems.append(Problem(f"{role} names 'after'", hint=hint))
        elif name not in known:
            hint = did_you_mean(name, near) or f"give some of {', '.join(known)}"
            problems.append(Problem(f"{role} names {name!r}", hint=hint))
        else:
            out.append(str(name))
    return out


def _check_times(asked: Request, start: object, end: object, tasks: Mapping[str, object]) -> None:
    for name, role in ((start, "start"), (end, "end")):
        if name is None:
            names = ", ".join(map(str, asked.table.names[:12]))
            hint = f"give {role}='...'; the columns are {names}"
            asked.problem(f"the column of the {role} is not given", hint)
        else:
            _check_role(asked, name, role, tasks)
    if isinstance(start, str) and start == end:
        hint = "give two columns; rx.from_events reads events that take no time"
        asked.problem(f"column {start!r} is given as start and as end", hint)


def _check_role(asked: Request, name: object, role: str, tasks: Mapping[str, object]) -> None:
    """A column that is given a role must be there, and may have no other task."""
    asked.column(name, f"given as {role}")
    for task, other in tasks.items():
        if isinstance(name, str) and name == other:
            what = f"column {name!r} is given as {task} and as {role}"
            asked.problem(what, "give it one of these tasks")


def _interval_layout(
    cells: Cells, sequence: str, intervals: Intervals
) -> tuple[EventLayout, tuple[str, ...]]:
    """The rows in order, and notes; the columns that are made of their times join the cells."""
    columns = (intervals.start, intervals.end)
    ids, sequences = sequence_numbers(cells, sequence, columns, ("start", "end"))
    scale = read_times(cells, *columns)
    symbols = np.zeros(len(sequences), np.int64)
    if intervals.symbol is not None:
        symbols = _in_order(cells.values(intervals.symbol))
    keys = [symbols, scale.ends, scale.starts, sequences]
    order = np.lexsort(keys)
    offsets = offsets_of(np.bincount(sequences))
    ordered = SortedIntervals(sequences[order], scale.starts[order], scale.ends[order], offsets)
    if al.DURATION in intervals.made:
        cells.add(al.DURATION, scale.between(scale.starts, scale.ends))
    if al.GAP in intervals.made:
        before, known = ordered.gaps()
        rows = np.argsort(order)
        cells.add(al.GAP, scale.between(before[rows], scale.starts, known[rows]))
    _check_size(ordered, ids, intervals)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - offsets[ordered.sequences]
    found = ordered.contacts(dict.fromkeys((*intervals.relations, *intervals.dimensions)))
    links = {
        name: found[name] if name in found else ordered.links(name) for name in intervals.dimensions
    }
    starts, ends = (given_times(cells.times(column))[order] for column in columns)
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    layout = EventLayout(
        ids,
        sequences,
        numbers,
        order,
        {name: (order[first], order[second]) for name, (first, second) in links.items()},
        0,
        {name: (order[found[name][0]], order[found[name][1]]) for name in intervals.relations},
        Times(offsets, starts, ends),
        scale.spans(order, offsets),
    )
    return layout, _same_notes(int(same.sum()), intervals)


def _in_order(values: Values) -> Longs:
    """For each row the rank of its value among the distinct ones, by number or text."""
    constants = values.constants
    by = sorted(range(len(constants)), key=constants.__getitem__)
    rank: Longs = np.append(np.argsort(by), -1)  # the last is that of rows without a value
    return rank[values.codes]


def _same_notes(n: int, intervals: Intervals) -> tuple[str, ...]:
    if not n:
        return ()
    columns = [intervals.start, intervals.end]
    columns += [] if intervals.symbol is None else [intervals.symbol]
    names = ", ".join(map(repr, columns[:-1])) + f" and {columns[-1]!r}"
    rows = "1 row has" if n == 1 else f"{n:,} rows have"
    what = f"{rows} the same {names} as another of the sequence"
    return (f"{what}: each is an interval of its own, in the order of the table",)


def _check_size(ordered: SortedIntervals, ids: list[Constant], intervals: Intervals) -> None:
    """Raise where the intervals are too many, and too close together, to relate them all."""
    wanted = {*intervals.relations, *intervals.dimensions}
    counts = []
    if not wanted.isdisjoint(al.SHARE_TIME):
        counts.append((ordered.n_contacts(), "share time", "give relations=None"))
    if al.BEFORE in wanted:
        counts.append(
            (ordered.just_after()[1], "come directly after each other", "leave out 'before'")
        )
    for n, how, way_out in counts:
        if (total := int(n.sum())) > MOST_FACTS:
            worst = int(np.bincount(ordered.sequences, n).argmax())
            here = int(n[ordered.sequences == worst].sum())
            what = f"{total:,} pairs of intervals {how}, more than {MOST_FACTS:,}"
            where = f"{here:,} of them in sequence {constant_text(ids[worst])}"
            raise InputError(f"{what}; {where}", hint=f"{way_out}, or make shorter sequences")
