"""The classes of sequences, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from relynx.data.class_cuts import cut_by_class
from relynx.data.sequences import Sequences, counted
from relynx.errors import InputError
from relynx.features.vectorizer import as_sequences


def checked_labels(X: Sequences, y: Iterable[object] | None) -> NDArray[Any]:
    """The classes of the sequences, one for each. Raises InputError where they are not."""
    if not len(X):
        raise InputError("there are no sequences", hint="give some of each class")
    if y is None and X.labels is None:
        raise InputError("y is missing", hint="give the class of each sequence")
    given: Any = X.labels if y is None else y
    labels = np.asarray(column_or_1d(given if hasattr(given, "shape") else [*given]))
    if len(labels) != len(X):
        what = f"{counted(len(labels), 'label')} in y for {counted(len(X), 'sequence')} in X"
        raise InputError(what, hint="give one label for each sequence")
    check_no_label_is_missing(X, labels)
    values = labels.tolist()
    for i, value in enumerate(values):
        if isinstance(value, str) != isinstance(values[0], str):
            what = f"some labels are text and some are not: {values[0]!r}, and {value!r} for"
            hint = "give all as text or all as numbers"
            raise InputError(f"{what} sequence {X.ids[i]}", hint=hint)
    check_classification_targets(labels)
    return labels


def training_data(
    X: object, y: Iterable[object] | None
) -> tuple[Sequences, NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Sequences to learn from, cut by class; their labels, the classes, the class of each."""
    X = as_sequences(X)
    labels = checked_labels(X, y)
    X = cut_by_class(X, labels).compact()
    return X, labels, *coded_classes(labels)


def coded_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in order, and the number of the class of each sequence. Raises for one class."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        what = f"all sequences are of one class, {classes.tolist()[0]!r}"
        raise InputError(what, hint="give sequences of at least two classes")
    return classes, codes


def check_no_label_is_missing(X: Sequences, labels: NDArray[Any]) -> None:
    """Raises InputError for None, NaN, and the NA of pandas."""
    for i, value in enumerate(labels.tolist()):
        if is_missing(value):
            hint = "give the class of each sequence, or leave out those that have none"
            raise InputError(f"the label of sequence {X.ids[i]} is missing", hint=hint)


def is_missing(value: Any) -> bool:
    """Whether a label is None, NaN, or the NA of pandas."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA equals nothing, and differs from nothing
        return True
