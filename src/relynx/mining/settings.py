"""What a call of `mine` is given: sequences, classes and settings, checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.sequences import Sequences, label_array
from relynx.errors import DataError, InputError
from relynx.logic.terms import as_constant
from relynx.mining.patterns.measures import checked_measure, class_column

MANY = (1 << 31) - 1  # sequences
MOST = 10_000  # atoms or steps; to look for more would not end


class Settings(NamedTuple):
    """What a pattern must satisfy to be kept and refined, and the one filter a bias may state."""

    min_support: float
    min_frequency: int
    max_length: int
    max_gap: int
    object_identity: bool
    min_cover: int | None


def settings_of(
    bias: Bias,
    min_support: float | None,
    min_frequency: int | None,
    max_length: int | None,
    max_gap: int | None,
    object_identity: bool | None,
    min_cover: int | None,
) -> Settings:
    """The settings of a call, else of the bias, else the defaults; checked."""
    cover = bias.min_cover if min_cover is None else min_cover
    return Settings(
        as_share("min_support", _first_given(min_support, bias.min_support, 0.1)),
        min(_count("min_frequency", _first_given(min_frequency, bias.min_frequency, 1), 0), MANY),
        _size("max_length", _first_given(max_length, bias.max_length, 3)),
        _size("max_gap", _first_given(max_gap, bias.max_gap, 2)),
        _truth("object_identity", _first_given(object_identity, bias.object_identity, True)),
        None if cover is None else _count("min_cover", cover, 0),
    )


def check_filters(
    *,
    classes: tuple[object, ...],
    min_confidence: object,
    max_support: object,
    closed: object,
    top_k: object,
    measure: object,
) -> None:
    """Raise for a filter of the answer that has no meaning, before anything is searched."""
    if min_confidence is not None:
        as_share("min_confidence", min_confidence)
    if max_support is not None:
        if not isinstance(max_support, Mapping):
            raise InputError(
                f"max_support is {max_support!r}: give a share for each class that it is about, "
                f"as in {{{classes[0]!r}: 0.1}}"
            )
        for name, most in max_support.items():
            class_column(name, classes)
            _check_most(f"max_support of {name!r}", most)
    _truth("closed", closed)
    if top_k is not None:
        _count("top_k", top_k, 0)
    checked_measure(measure)


def check_limits(time_limit: object, memory_limit: object, progress: object) -> None:
    """Raise for a limit that is no number, and for what cannot be called."""
    for name, limit, unit in (
        ("time_limit", time_limit, "seconds"),
        ("memory_limit", memory_limit, "bytes"),
    ):
        if limit is not None and not (_is_number(limit) and limit >= 0):  # type: ignore[operator]
            raise InputError(f"{name} is {limit!r}: give {unit}, 0 or more, or None for no limit")
    if progress is not None and not isinstance(progress, Callable):  # type: ignore[arg-type]
        raise InputError(f"progress is {progress!r}: give a function of one argument")


def classes_of(
    X: Sequences, y: Iterable[object] | None
) -> tuple[NDArray[np.int64], tuple[object, ...]]:
    """The class of each sequence as a number, and the classes in order."""
    if not isinstance(X, Sequences):
        raise TypeError(f"X is a {type(X).__name__}: give Sequences")
    if not len(X):
        raise DataError("there are no sequences to mine")
    if y is None and X.labels is None:
        return np.zeros(len(X), np.int64), ("all",)
    if y is not None:
        return given_classes(y, len(X))
    assert X.labels is not None
    return _numbered(X.labels)


def given_classes(
    y: Iterable[object], n_sequences: int
) -> tuple[NDArray[np.int64], tuple[object, ...]]:
    """The class that `y` gives each of so many sequences as a number, and the classes in order."""
    given = label_array(_labels(y))
    if len(given) != n_sequences:
        labels = f"{len(given)} label{'s' if len(given) != 1 else ''}"
        sequences = f"{n_sequences} sequence{'s' if n_sequences != 1 else ''}"
        raise DataError(f"{labels} in y for {sequences} in X")
    return _numbered(given)


def ordered_classes(names: Iterable[Any]) -> tuple[object, ...]:
    """Classes, each once, in the order that the supports of patterns have."""
    return tuple(sorted(set(names), key=lambda name: (str(type(name)), name)))


def _numbered(given: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[object, ...]]:
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


def _first_given(given: Any, said: Any, default: Any) -> Any:
    return next(value for value in (given, said, default) if value is not None)


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and not math.isnan(value)  # type: ignore[arg-type]


def as_share(name: str, value: Any) -> float:
    """The value as a number from 0 to 1. Raises InputError for another."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}: give a share from 0 to 1")
    return float(value)


def _check_most(name: str, value: Any) -> None:
    """Raise for what is neither a share nor a number of sequences."""
    is_count = isinstance(value, int | np.integer)
    if not _is_number(value) or value < 0 or (value > 1 and not is_count):
        raise InputError(
            f"{name} is {value!r}: give a share from 0.0 to 1.0, or a number of sequences, "
            "an integer of at least 0"
        )


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}: give an integer of at least {least}")
    return int(value)


def _size(name: str, value: Any) -> int:
    if _count(name, value, 1) > MOST:
        raise InputError(f"{name} is {value!r}: give an integer of at most {MOST:,}")
    return int(value)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {value!r}: give True or False")
    return bool(value)
