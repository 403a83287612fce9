"""Tables of events that estimators take as they are: `fit` reads them, `predict` reads them again.

The keywords of `fit` about columns are those of `from_events`, together a `Request`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from relynx.data.intervals.reader import from_intervals
from relynx.data.parquet import Partitions
from relynx.data.schema import Schema
from relynx.data.sequences import Sequence, Sequences, shown
from relynx.data.tables.frames import open_frame
from relynx.data.tables.plans import Request
from relynx.data.tables.reader import from_events, read_events
from relynx.data.xes import is_xes, read_xes
from relynx.errors import InputError, counted

Labels = Iterable[object] | None


def is_table(X: object) -> bool:
    """Whether X is the path of a file, a dict of lists, or a data frame."""
    if isinstance(X, Sequences | Sequence | Partitions | list):
        return False
    return isinstance(X, str | os.PathLike | Mapping) or open_frame(X) is not None


def read_training(asked: Request, y: Labels) -> tuple[Any, Labels]:
    """What `fit` is given, a table as sequences. Raises InputError with all that is wrong."""
    X = asked.table
    if not is_table(X):
        if said := asked.arguments():
            what = f"X is a {type(X).__name__}, and only a table has {', '.join(said)}"
            hint = "leave that out, or give a table with a row for each event"
            raise InputError(what, hint=hint)
        return X, y
    if y is not None and asked.label is not None:
        hint = "give y, one class for each sequence, or label, the column of the class"
        raise InputError("the classes are given twice, as y and as label", hint=hint)
    found = read_events(asked, {}, None)
    if y is not None:
        y = y if hasattr(y, "__len__") else [*y]
        _check_order(y, found, str(asked.sequence))
        _check_leak(y, found)
    return found, y


def _check_order(y: Any, X: Sequences, sequence: str) -> None:
    """Raises InputError where classes are not those of the sequences of a table, in their order."""
    ids, column = X.ids.tolist(), "give label='...', the column of the class"
    if len(y) != len(ids):
        what = f"{counted(len(y), 'label')} in y for {counted(len(ids), 'sequence')} in the table"
        hint = f"{column}, or one label for each sequence, in the order in which they appear"
        raise InputError(what, hint=hint)
    names: Any = getattr(y, "index", None)  # of a Series; a list has a method of that name
    named = names.tolist() if hasattr(names, "tolist") else ids
    if named != ids and set(named) == set(ids):
        first = f"{shown(named[0])} is first in y, {shown(ids[0])} in the table"
        hint = f"{column}, or y.loc[X[{sequence!r}].unique()]"
        raise InputError(f"y has the sequences in another order: {first}", hint=hint)


def _check_leak(y: Any, X: Sequences) -> None:
    """Raises InputError where a column of a table, left in, says what is to be learnt."""
    classes = [str(one).casefold() for one in y]
    for group in X.reading.attributes if X.reading is not None else ():
        codes = X.tables[group.predicate, 1][1].tolist()
        if [str(X.vocabulary[code]).casefold() for code in codes] == classes:
            name = group.columns[0].name
            what = f"column {name!r} of the table is y: patterns would know the class by it"
            raise InputError(what, hint=f"give label={name!r} in place of y, or leave it out")


def read_again(X: Any, reading: Schema | None) -> Any:
    """What `predict` is given, a table or a log read as that of `fit` was. Raises InputError."""
    if not is_table(X):
        return X
    path = os.fsdecode(X) if isinstance(X, str | os.PathLike) else None
    if reading is None or reading.is_of_facts:
        what = "the model was not learnt from a table, so it does not say how to read this one"
        hint = "give sequences as those of fit, or learn the model from a table"
        raise InputError(what, path, hint=hint)
    if reading.relations:
        tables = ", ".join(repr(group.predicate) for group in reading.relations)
        what = f"the model was learnt with further tables: {tables}"
        hint = "in Python: X, y = rx.from_events(table, reading=model.reading_, relations={...})"
        raise InputError(what, path, hint=hint)
    if path is not None and is_xes(path):
        return read_xes(path, reading=reading)[0]
    return (from_events if reading.intervals is None else from_intervals)(X, reading=reading)[0]
