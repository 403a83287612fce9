"""Cuts of numbers that separate the classes, learnt inside `fit` from the training data alone.

`from_events(..., bins="supervised")` leaves a column's numbers as they are and marks the column in
the schema. `cut_by_class` learns the cuts and stores them in the schema; `cut_like` applies them to
other sequences. Facts of files have no schema: `cut_measured` finds the arguments that hold
measured numbers and makes one.

A cut is taken where the classes are purest on both sides, as long as a description of the classes
with it is shorter than one without: the criterion of Fayyad and Irani (1993), "Multi-interval
discretization of continuous-valued attributes for classification learning". The cut that gains most
comes first, and there are no more than `MOST_CUTS`. Every fact counts, with the class of its
sequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats, Ints
from relynx.data.discretise import Cuts, bin_names, binned, short_between
from relynx.data.schema import TITLES, Column, Group, Schema
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table

Counts = NDArray[np.int64]  # values, rising, by classes
MOST_CUTS = 5
FEW = 40  # of so many different values each may be a constant


class Split(NamedTuple):
    """A range of values, from number `low` up to, not including, `high`, and its best cut."""

    gain: float  # of all facts in the range together, in bits
    cut: int  # the first value above it
    low: int
    high: int


def class_cuts(numbers: NDArray[Any], counts: Counts) -> Cuts:
    """Cuts of different values, rising, that separate the classes, by their counts in each."""
    found: list[int] = []
    splits = [*_best(counts, 0, len(numbers))]
    while splits and len(found) < MOST_CUTS:
        best = max(splits, key=lambda split: (split.gain, -split.low))
        splits.remove(best)
        found.append(best.cut)
        splits += [*_best(counts, best.low, best.cut), *_best(counts, best.cut, best.high)]
    ends = ((numbers[cut - 1], numbers[cut]) for cut in sorted(found))
    return tuple(short_between(a, b, near=float(a) / 2 + float(b) / 2) for a, b in ends)


def _best(counts: Counts, low: int, high: int) -> Iterator[Split]:
    """The best cut of a range of values, if it is worth its description."""
    part = counts[low:high]
    if len(part) < 2:
        return
    left = np.cumsum(part, axis=0)[:-1]
    total = part.sum(axis=0)
    right = total - left
    n = int(total.sum())
    whole = float(_entropy(total))
    inside = (left.sum(axis=1) * _entropy(left) + right.sum(axis=1) * _entropy(right)) / n
    at = int(inside.argmin())
    gain = whole - float(inside[at])
    n_classes = [int((side > 0).sum()) for side in (total, left[at], right[at])]
    sides = [whole, float(_entropy(left[at])), float(_entropy(right[at]))]
    entropies = n_classes[0] * sides[0] - n_classes[1] * sides[1] - n_classes[2] * sides[2]
    cost = math.log2(n - 1) + math.log2(3 ** n_classes[0] - 2) - entropies
    if n * gain > cost:
        yield Split(n * gain, low + at + 1, low, high)


def _entropy(counts: Counts) -> Floats:
    """Of the classes, in bits, row by row."""
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1))


def columns_to_cut(X: Sequences) -> list[str]:
    """The columns whose numbers wait for classes to be cut by."""
    return [column.name for _, _, column in _waiting(X.reading)]


def cut_by_class(X: Sequences, labels: NDArray[Any] | None) -> Sequences:
    """The sequences, waiting numbers cut. Raises InputError where there are no classes."""
    waiting = columns_to_cut(X)
    if not waiting:
        return X
    if labels is None:
        what = f"column {waiting[0]!r} is to be cut by class, and there are no classes"
        raise InputError(what, hint="give y, or read the table with other bins")
    assert X.reading is not None
    return _cut(X, X.reading, _learner(X, labels))


def cut_measured(X: Sequences, labels: NDArray[Any]) -> tuple[Sequences, Schema | None]:
    """Facts that are of no table, with the measured numbers that tell classes apart cut by class,
    and a schema of the cuts, or None.

    Measured numbers are many and of any size, so that two are equal by chance. Those that
    background rules compute with stay.
    """
    rules = X.background.rules if X.background is not None else ()
    used = {atom.key for rule in rules for atom in rule.atoms()}
    groups = []
    for key in X.tables.keys() - used if X.reading is None else ():
        measured = [_is_measured(X, codes) for codes in X.tables[key][1:]]
        names = (f"argument {i} of {key[1]}" for i in range(1, key[1] + 1))
        columns = (
            Column(name, "number" if cut else "text", supervised=cut)
            for name, cut in zip(names, measured, strict=True)
        )
        groups += [Group(key[0], tuple(columns))] if any(measured) else []
    if not groups:
        return X, None
    learn = _learner(X, labels)

    def learnt(column: Column, key: Key, argument: int) -> Column:
        found = learn(column, key, argument)
        return found if found.cuts else column

    own = Schema("", (), (), relations=tuple(sorted(groups, key=str)))
    cut = _cut(X, own, learnt)
    return cut.replaced(reading=None), cut.reading


def _is_measured(X: Sequences, codes: Ints) -> bool:
    values = [X.vocabulary[code] for code in np.unique(codes).tolist()]
    numbers = all(type(value) in (int, float) for value in values)
    return numbers and len(values) > FEW and any(type(value) is float for value in values)


def _learner(X: Sequences, labels: NDArray[Any]) -> Callable[[Column, Key, int], Column]:
    """What learns the cuts of a column by class."""
    _, classes = np.unique(labels, return_inverse=True)

    def learnt(column: Column, key: Key, argument: int) -> Column:
        table = X.tables.get(key, tb.empty(key[1]))
        codes, number = np.unique(table[argument], return_inverse=True)
        values = _numbers(X, codes)
        order = np.argsort(values, kind="stable")
        counts = np.zeros((len(values), int(classes.max(initial=0)) + 1), np.int64)
        np.add.at(counts, (number, classes[table[0]]), 1)
        return replace(column, cuts=class_cuts(values[order], counts[order]))

    return learnt


def cut_like(X: Sequences, schema: Schema | None) -> Sequences:
    """The sequences with the numbers that wait for it cut as another schema says."""
    if schema is None:
        return X
    known = {
        (title, group.predicate, column.name): column
        for title in TITLES
        for group in getattr(schema, title)
        for column in group.columns
        if column.supervised and column.cuts is not None
    }
    own = X.reading
    if schema.is_of_facts and own is None:
        own = _with_columns(schema, {key: replace(c, cuts=None) for key, c in known.items()})
    if own is None or not any(_waiting(own)):
        return X
    title_of = {group.predicate: title for title in TITLES for group in getattr(own, title)}
    found = _cut(
        X, own, lambda column, key, _: known.get((title_of[key[0]], key[0], column.name), column)
    )
    return found if X.reading is not None else found.replaced(reading=None)


def _waiting(schema: Schema | None) -> Iterator[tuple[str, Group, Column]]:
    """The columns of numbers that are to be cut by class and are not yet."""
    for title in TITLES if schema is not None else ():
        for group in getattr(schema, title):
            for column in group.columns:
                if column.supervised and column.cuts is None:
                    yield title, group, column


def _cut(X: Sequences, own: Schema, choose: Callable[[Column, Key, int], Column]) -> Sequences:
    """The sequences with the waiting columns of a schema cut, in the facts and the schema, as
    `choose` says, given a column, its predicate, and the row of its values in the facts."""
    vocabulary, tables, changed = X.vocabulary, dict(X.tables), {}
    for title, group, column in _waiting(own):
        before = (title == "fluents") + len(group.events)
        key = (group.predicate, before + len(group.columns))
        argument = 1 + before + group.columns.index(column)
        cut = choose(column, key, argument)
        changed[title, group.predicate, column.name] = cut
        table = tables.get(key)
        if cut.cuts is None or table is None:
            continue
        names = bin_names(cut.cuts)
        vocabulary = vocabulary.extended(names)
        known = np.array([vocabulary.code(name) for name in names], np.int32)
        codes, number = np.unique(table[argument], return_inverse=True)
        is_number = np.array([type(X.vocabulary[c]) in (int, float) for c in codes.tolist()], bool)
        numbers = _numbers(X, codes[is_number])  # of files any other constant may stand there
        codes[is_number] = known[binned(numbers, cut.cuts)]
        new: Table = table.copy()
        new[argument] = codes[number]
        tables[key] = tb.in_order(new)
    schema = _with_columns(own, changed)
    return X.replaced(vocabulary=vocabulary, tables=tables, reading=schema, origin=None)


def _numbers(X: Sequences, codes: Ints) -> NDArray[Any]:
    values = [X.vocabulary[code] for code in codes.tolist()]
    whole = all(isinstance(value, int) for value in values)
    return np.array(values, np.int64 if whole else np.float64)


def _with_columns(schema: Schema, changed: Mapping[tuple[str, str, str], Column]) -> Schema:
    def new(title: str, group: Group) -> Group:
        names = [(title, group.predicate, column.name) for column in group.columns]
        return replace(group, columns=tuple(map(changed.get, names, group.columns)))

    groups: Any = {one: tuple(new(one, group) for group in getattr(schema, one)) for one in TITLES}
    return replace(schema, **groups)
