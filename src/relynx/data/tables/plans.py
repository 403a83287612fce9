"""Decides how the columns of a table are used when it is first read."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from relynx.arrays import Ints, Longs
from relynx.data.discretise import Cuts, quantile_cuts, width_cuts
from relynx.data.schema import Column, Group, Schema
from relynx.data.tables.columns import Values, read_moment
from relynx.data.tables.csv_tables import is_number
from relynx.data.tables.inputs import Cells, unknown_column
from relynx.errors import Problem, did_you_mean
from relynx.logic.dimensions import link_name

FEW = 10  # numbers of no more different values than this are left as they are
MANY = 40  # texts of more different values than this are left out if they hardly repeat,
RECUR = 0.05  # and if in fewer sequences than this share one occurs twice
# The last word of a column whose integers are names; `id` may be the first, too.
NAMES = (
    "id ids uid uuid guid key code no nr number ref sku ean isbn zip postcode phone account iban"
)
RESERVED = ("begin", "end")
DELIMITS = "begin and end delimit sequences in files: give it another name"
SHOWN_NAMES = 12
SHOWN = 3
GOOD_BINS = (
    "give a number from 2 on, ('width', 5), rising cuts such as [10, 100], 'supervised', or None"
)
WIDTH, SUPERVISED = "width", "supervised"


@dataclass(slots=True)
class Request:
    """The arguments of `from_events` about one table, which is opened and checked by them.

    `always` are columns that are facts whatever `fluents` says, `symbol` is one that is never cut,
    and `taken` are names that no predicate of a column may have.
    """

    table: Any
    sequence: Any
    order: Any
    fluents: Any
    attributes: Any
    label: Any
    event: Any
    bins: Any
    always: tuple[str, ...] = ()
    symbol: str | None = None
    taken: tuple[str, ...] = ()
    made: tuple[str, ...] = ()  # columns that are made of others
    na_values: Any = None
    date_format: Any = None
    problems: list[Problem] = field(default_factory=list)

    def arguments(self) -> list[str]:
        """The arguments that are not their defaults."""
        names = ["sequence", "order", "fluents", "attributes", "label", "event", "symbol"]
        names += ["na_values", "date_format"]
        given = [name for name in names if getattr(self, name) not in (None, ())]
        return [*given, *(["bins"] if self.says_bins() else [])]

    def says_bins(self) -> bool:
        return not isinstance(self.bins, int) or self.bins != DEFAULT_BINS

    def problem(self, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(message, self.table.source, hint=hint))

    def column(self, name: object, role: str) -> None:
        problem = unknown_column(self.table, name, role)
        if problem is not None and name not in self.made:
            self.problems.append(problem)

    def dimensions(self) -> tuple[tuple[str, str], ...]:
        if self.order is None:
            return ()
        if not isinstance(self.order, Mapping):
            self.column(self.order, "given as order")
            return (("s", self.order),)
        for dimension, column in self.order.items():
            if not isinstance(dimension, str) or not dimension:
                self.problem(f"a dimension is named {dimension!r}", "give it a name, as in 'day'")
            self.column(column, f"given as order of {dimension!r}")
        if not self.order:
            self.problem("order is empty", "give a column, or None for the order of the rows")
        for column, n in Counter(map(str, self.order.values())).items():
            if n > 1:
                what = f"column {column!r} is the order of {n} dimensions"
                self.problem(what, "give each dimension a column of its own")
        return tuple(self.order.items())

    def groups(self) -> dict[str, tuple[str, ...]] | None:
        """The requested predicates with their columns; None for all columns."""
        if self.fluents is None:
            return None
        if not isinstance(self.fluents, Mapping):
            return {name: (name,) for name in self.listed(self.fluents, "fluents")}
        out = {}
        for predicate, columns in self.fluents.items():
            if not isinstance(predicate, str) or not predicate or link_name(predicate):
                what = f"a predicate of fluents is named {predicate!r}"
                self.problem(what, "give it a name that does not begin with next_ or follow")
            elif predicate in RESERVED:
                self.problem(f"a predicate of fluents is named {predicate!r}", DELIMITS)
            elif predicate in self.taken:
                what = f"a predicate of fluents is named {predicate!r}, and so is a relation"
                self.problem(what, "give it another name")
            out[predicate] = self.listed(columns, f"fluents of {predicate!r}")
            if not out[predicate]:
                what = f"fluents of {predicate!r} names no column"
                self.problem(what, "give it a list of columns")
        return out

    def named_attributes(self) -> tuple[str, ...]:
        return () if self.attributes is None else self.listed(self.attributes, "attributes")

    def listed(self, columns: object, role: str) -> tuple[str, ...]:
        """Names of columns, given as one or as a list."""
        if isinstance(columns, str):
            columns = [columns]
        if isinstance(columns, Mapping | bytes) or not isinstance(columns, Iterable):
            self.problem(f"{role} is {columns!r}", "give a list of names of columns")
            return ()
        names = tuple(columns)
        for name in names:
            self.column(name, f"given as {role}")
        if len(set(map(repr, names))) < len(names):
            self.problem(f"{role} names a column twice", "name each once")
        return _texts(names)

    def others(self, attributes: Sequence[str]) -> list[str]:
        """The columns without a given role, in the order of the table."""
        columns = self.order.values() if isinstance(self.order, Mapping) else [self.order]
        tasks = _texts([self.sequence, self.label, self.event, *columns, *attributes])
        return [
            name for name in dict.fromkeys((*self.table.names, *self.made)) if name not in tasks
        ]

    def roles(self, facts: Iterable[str]) -> None:
        """The label may have no other task, patterns would know the class; nor the sequence."""
        order = self.order.values() if isinstance(self.order, Mapping) else [self.order]
        tasks = {
            "order": _texts(order),
            "sequence": _texts([self.sequence]),
            "event": _texts([self.event]),
            "a fact": tuple(facts),
        }
        for one, name in (("label", self.label), ("sequence", self.sequence)):
            for role, names in tasks.items():
                if isinstance(name, str) and role != one and name in names:
                    what = f"column {name!r} is given as {one} and as {role}"
                    self.problem(what, "give it one of these tasks")

    def recipe(self, name: str) -> tuple[str | None, Any]:
        """How the numbers of a column are cut: a method and its parameter; None for no cuts."""
        if name == self.symbol:
            return None, None
        by_column = isinstance(self.bins, Mapping)
        bins = _plain(self.bins.get(name, DEFAULT_BINS) if by_column else self.bins)
        if bins is None:
            return None, None
        if isinstance(bins, int):
            return "quantile", bins
        if bins == SUPERVISED:
            return SUPERVISED, None
        if isinstance(bins, tuple) and len(bins) == 2 and bins[0] == WIDTH:
            return WIDTH, bins[1]
        return "cuts", tuple(bins)

    def check_bins(self, known: Iterable[str]) -> None:
        names = list(known)
        bins = self.bins.items() if isinstance(self.bins, Mapping) else [(None, self.bins)]
        for name, value in bins:
            whose = "bins" if name is None else f"bins of {name!r}"
            if name is not None and name not in names:
                hint = did_you_mean(str(name), names) or "name columns that become facts"
                self.problem(f"{whose}: there is no such column among the facts", hint)
            elif not _good_bins(_plain(value)):
                self.problem(f"{whose} is {value!r}", GOOD_BINS)


DEFAULT_BINS = 4


def _texts(names: Iterable[object]) -> tuple[str, ...]:
    """The valid names among those given; others are reported elsewhere."""
    return tuple(name for name in names if isinstance(name, str))


def _plain(bins: Any) -> Any:
    if isinstance(bins, np.ndarray | np.generic):
        return bins.tolist()
    return type(bins)(map(_plain, bins)) if isinstance(bins, list | tuple) else bins


def _good_bins(value: object) -> bool:
    if value is None or (isinstance(value, str) and value == SUPERVISED):
        return True
    if isinstance(value, tuple) and len(value) == 2 and value[0] == WIDTH:
        value = value[1]
    if isinstance(value, int) and not isinstance(value, bool):
        return value >= 2
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return False
    listed = list(value)
    real = all(type(one) in (int, float) and abs(one) <= sys.float_info.max for one in listed)
    return bool(listed) and real and all(a < b for a, b in pairwise(listed))


def clean_name(name: str, taken: Iterable[str] = ()) -> str:
    """A column's name as a predicate that needs no quotes: `Part Desc.` becomes `part_desc`."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    clean = re.sub(r"\W+|_+", "_", plain.lower()).strip("_") or "column"
    if not clean[0].isalpha() or link_name(clean) or clean in RESERVED:
        clean = f"c_{clean}"
    known, i, first = set(taken), 2, clean
    while clean in known:
        clean, i = f"{first}_{i}", i + 1
    return clean


@dataclass(slots=True)
class Plan:
    """The decisions about the columns of a table so far."""

    request: Request
    cells: Cells
    sequences: Longs  # of each row
    taken: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def column(self, name: str, rows: Longs | None = None) -> Column:
        """A column that becomes an argument; of some rows only, where others repeat them."""
        values = self.cells.values(name)
        self.note_cells(name)
        if rows is not None:
            values = replace(values, codes=values.codes[rows])
        method, wanted = self.request.recipe(name)
        named = isinstance(self.request.bins, Mapping) and name in self.request.bins
        cuts: Cuts | None = None
        if values.type not in ("integer", "number"):
            if named and method is not None and len(values.constants):
                what = f"bins of {name!r}: the column holds no numbers"
                self.cells.wrong(what, "bins are for numbers")
        elif method == "cuts":
            cuts = tuple(wanted)
        elif values.type == "integer" and not named and self.names_things(name):
            what = f"column {name!r} names things by numbers, which are not cut into ranges"
            self.notes.append(f"{what}; bins={{{name!r}: {DEFAULT_BINS}}} cuts them")
        elif len(values.constants) > FEW or named:
            numbers = np.asarray(values.constants)
            if method == SUPERVISED:
                return Column(name, values.type, supervised=True)
            if method == WIDTH:
                cuts = width_cuts(numbers, wanted)
            elif method is not None:
                cuts = quantile_cuts(numbers, values.counts(), wanted)
        return Column(name, values.type, cuts)

    def names_things(self, name: str) -> bool:
        """Whether a column is called like an identifier, and nothing says how numbers are cut."""
        words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
        called = bool(words) and (words[-1] in NAMES.split() or words[0] == "id")
        return called and (isinstance(self.request.bins, Mapping) or not self.request.says_bins())

    def fluent(self, name: str, columns: Sequence[str], *, clean: bool = True) -> Group:
        return Group(self._predicate(name, clean), tuple(map(self.column, columns)))

    def attribute(self, name: str) -> Group:
        first, _ = changes(self.cells.values(name).codes, self.sequences)
        return Group(self._predicate(name, True), (self.column(name, first[first >= 0]),))

    def _predicate(self, name: str, clean: bool) -> str:
        predicate = clean_name(name, self.taken) if clean else name
        self.taken.add(predicate)
        return predicate

    def useful(self, name: str) -> bool:
        """Whether a column that was not requested is informative; adds a note where it is not."""
        values = self.cells.values(name)
        n_known = int((values.codes >= 0).sum())
        why = None
        if not len(values.constants):
            why = "it holds no value"
        elif np.count_nonzero(values.counts()) == 1 and n_known == self.cells.n_rows:
            why = "it has the same value in every row"
        elif values.type == "date" or _are_dates(values, self.cells.date_format):
            why = "it is a date; a weekday, an hour or a duration made of it would be read"
        elif (
            values.type == "text"
            and MANY < len(values.constants) > n_known / 2
            and self.n_with_twice(values.codes) < RECUR * (int(self.sequences.max()) + 1)
        ):
            why = f"it has {len(values.constants):,} different texts in {n_known:,} rows"
        if why is not None:
            self.notes.append(f"column {name!r} is left out: {why}")
            self.note_cells(name)
        return why is None

    def n_with_twice(self, codes: Ints) -> int:
        """In how many sequences some value stands in two rows."""
        known, n = codes >= 0, int(codes.max(initial=0)) + 1
        pairs, counts = np.unique(self.sequences[known] * n + codes[known], return_counts=True)
        return len(np.unique(pairs[counts > 1] // n))

    def note_cells(self, name: str) -> None:
        """Add a note where few cells of a column of numbers are why it is text."""
        values = self.cells.values(name)
        if values.type != "text" or name == self.request.symbol:
            return
        separator = getattr(self.request.table, "separator", ",")
        bad = [i for i, one in enumerate(values.constants) if not is_number(str(one), separator)]
        counts = values.counts()
        n, n_known = int(counts[bad].sum()), int(counts.sum())
        if not 0 < len(bad) <= SHOWN or len(counts) - len(bad) <= FEW or n > max(1, n_known // 20):
            return
        markers = [str(values.constants[i]) for i in bad]
        rows = (self.cells.row_name(values.row_of(i)) for i in bad)
        where = ", ".join(f"{one!r} in {row}" for one, row in zip(markers, rows, strict=True))
        what = f"column {name!r} is text because of {n:,} of {n_known:,} cells, {where}"
        self.notes.append(f"{what}; na_values={markers} makes it numeric")

    def constant_in_sequences(self, name: str) -> bool:
        """Whether all rows of a sequence have one value, or none has any."""
        codes = self.cells.values(name).codes
        first, changed = changes(codes, self.sequences)
        gaps = (codes < 0) & (first[self.sequences] >= 0)
        return not len(changed) and not gaps.any()


def _are_dates(values: Values, date_format: str | None) -> bool:
    texts = values.constants if values.type == "text" else ()
    if len(texts) and values.dated(date_format) is not values:
        return True
    return len(texts) > 0 and all(read_moment(str(text)) is not None for text in texts)


def changes(codes: Ints, sequences: Longs) -> tuple[Longs, Longs]:
    """The first row with a value in each sequence (-1 for none), and the rows that differ."""
    n = int(sequences.max(initial=-1)) + 1
    known = np.flatnonzero(codes >= 0)
    first = np.full(n, -1, np.int64)
    first[sequences[known[::-1]]] = known[::-1]
    return first, known[codes[known] != codes[first[sequences[known]]]]


def planned(request: Request, cells: Cells, sequences: Longs) -> Schema:
    """The schema of a table: what was requested, and a choice about the other columns."""
    plan = Plan(request, cells, sequences, {*request.taken})
    order = request.dimensions()
    groups, asked, label = request.groups(), request.attributes, request.label
    fluents, attributes = [], []
    if groups is not None:  # their names are given, so they come first
        clean = not isinstance(request.fluents, Mapping)
        fluents = [plan.fluent(name, columns, clean=clean) for name, columns in groups.items()]
        named = [column for columns in groups.values() for column in columns]
        more = [name for name in request.always if name not in named]
        fluents += [plan.fluent(name, (name,)) for name in more]
        named += more
        unused = [name for name in request.others((*named, *request.named_attributes())) if name]
        if unused:
            shown = ", ".join(map(repr, unused[:SHOWN_NAMES]))
            rest = f" and {len(unused) - SHOWN_NAMES} more" if len(unused) > SHOWN_NAMES else ""
            verb, them = ("is", "it") if len(unused) == 1 else ("are", "them")
            why = f"neither fluents nor attributes names {them}"
            plan.notes.append(f"{shown}{rest} {verb} not used: {why}")
    if asked is not None:
        attributes = [plan.attribute(name) for name in request.named_attributes()]
    if groups is None:
        n_long = int((np.bincount(sequences) > 1).sum())
        known = getattr(request.table, "attributes", None)  # a log says which these are
        find = asked is None and known is None and 2 * n_long > int(sequences.max(initial=0))
        found = []
        for name in request.others(request.named_attributes()):
            if not name:
                plan.notes.append("a column without a name is left out")
            elif name in request.always:
                fluents.append(plan.fluent(name, (name,)))
            elif plan.useful(name):
                if known is not None and name in known:
                    if asked is None:
                        attributes.append(plan.attribute(name))
                    else:
                        plan.notes.append(f"{name!r} is not used: attributes does not name it")
                elif find and plan.constant_in_sequences(name):
                    attributes.append(plan.attribute(name))
                    found.append(repr(name))
                else:
                    fluents.append(plan.fluent(name, (name,)))
        if found:
            what = "never changes" if len(found) == 1 else "never change"
            plan.notes.append(f"{', '.join(found)} {what} inside a sequence: attributes")
    return Schema(
        request.sequence,
        order,
        tuple(fluents),
        tuple(attributes),
        label=None if label is None else Column(label, cells.values(label).type),
        event=request.event,
        notes=tuple(plan.notes),
        na_values=request.na_values,
        date_format=request.date_format,
    )
