"""What a call of `mine` is given: sequences, classes and limits, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Longs
from relynx.data.sequences import Sequences, label_array
from relynx.errors import DataError, InputError, counted
from relynx.logic.terms import as_constant
from relynx.search_settings import is_number


def check_limits(time_limit: object, memory_limit: object, progress: object) -> None:
    """Raise for a limit that is no number, and for what cannot be called."""
    for name, limit, unit in (
        ("time_limit", time_limit, "seconds"),
        ("memory_limit", memory_limit, "bytes"),
    ):
        if limit is not None and not (is_number(limit) and limit >= 0):  # type: ignore[operator]
            raise InputError(f"{name} is {limit!r}: give {unit}, 0 or more, or None for no limit")
    if progress is not None and not isinstance(progress, Callable):  # type: ignore[arg-type]
        raise InputError(f"progress is {progress!r}: give a function of one argument")


def classes_of(X: Sequences, y: Iterable[object] | None) -> tuple[Longs, tuple[object, ...]]:
    """The class of each sequence as a number, and the classes in order."""
    if not isinstance(X, Sequences):
        raise TypeError(f"X is a {type(X).__name__}: give Sequences")
    if not len(X):
        raise DataError("there are no sequences to mine")
    if y is not None:
        return given_classes(y, len(X))
    if X.labels is None:
        return np.zeros(len(X), np.int64), ("all",)
    return _numbered(X.labels)


def given_classes(y: Iterable[object], n_sequences: int) -> tuple[Longs, tuple[object, ...]]:
    """The class that `y` gives each of so many sequences as a number, and the classes in order."""
    given = label_array(_labels(y))
    if len(given) != n_sequences:
        labels, sequences = counted(len(given), "label"), counted(n_sequences, "sequence")
        raise DataError(f"{labels} in y for {sequences} in X")
    return _numbered(given)


def ordered_classes(names: Iterable[Any]) -> tuple[object, ...]:
    """Classes, each once, in the order that the supports of patterns have."""
    return tuple(sorted(set(names), key=lambda name: (str(type(name)), name)))


def _numbered(given: NDArray[Any]) -> tuple[Longs, tuple[object, ...]]:
    if given.dtype == object:
        names = ordered_classes(given.tolist())
        number = {name: i for i, name in enumerate(names)}
        return np.array([number[name] for name in given.tolist()], np.int64), names
    values, numbers = np.unique(given, return_inverse=True)
    return numbers.astype(np.int64), tuple(values.tolist())


def _labels(y: Iterable[object]) -> list[Any]:
    if isinstance(y, str | bytes | Mapping | Set) or not isinstance(y, Iterable):
        raise DataError(f"y is a {type(y).__name__}: give a list or an array, a label a sequence")
    labels = []
    for i, label in enumerate(y):
        try:
            labels.append(as_constant(label))
        except TypeError:
            raise DataError(
                f"y[{i}] is {label!r}: give every sequence a label, text or a finite number"
            ) from None
    return labels
