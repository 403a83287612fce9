"""Checks of what estimators are given: parameters, sequences and their classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats, Longs
from relynx.data.class_cuts import cut_by_class, cut_like
from relynx.data.schema import Schema
from relynx.data.sequences import Sequences, counted, is_missing
from relynx.errors import InputError, Problem, did_you_mean, raise_all
from relynx.features.vectorizer import as_sequences

Rule: TypeAlias = tuple[Callable[[Any], bool], str]  # whether a value is right, and what to give


def is_count(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number from `least` on; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def is_amount(value: Any) -> bool:
    """Whether a value is a finite number from 0 on."""
    return not isinstance(value, bool) and isinstance(value, Real) and 0 <= float(value) < np.inf


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return is_amount(value) and float(value) > 0


def count_from(least: int) -> Rule:
    """A whole number."""
    return lambda value: is_count(value, least), f"give a whole number from {least} on"


def one_of(known: Sequence[object], more: str = "") -> Rule:
    """One of the known values; of True and 1 only the one that is known."""
    hint = f"give {' or '.join(map(repr, known))}{', ' + more if more else ''}"
    return lambda value: any(isinstance(value, type(k)) and value == k for k in known), hint


def none_or_a(kind: Any, hint: str) -> Rule:
    """None, or an instance of a class."""
    return lambda value: value is None or isinstance(value, kind), hint


def words_or_weights(*words: str | None) -> Rule:
    """One of the words, or a mapping from classes to weights."""
    is_word, hint = one_of(words, "or a weight for each class")
    return lambda value: isinstance(value, Mapping) or is_word(value), hint


AMOUNT: Rule = is_amount, "give a number from 0 on"
PRIOR = words_or_weights("empirical", "uniform")
SWITCH: Rule = lambda value: isinstance(value, bool | np.bool_), "give True or False"


def parameter_problems(estimator: object, rules: Mapping[str, Rule]) -> list[Problem]:
    """A problem for each parameter whose value breaks its rule."""
    given = [(name, getattr(estimator, name), *rule) for name, rule in rules.items()]
    return [
        Problem(f"{name} is {value!r}", hint=hint)
        for name, value, is_right, hint in given
        if not is_right(value)
    ]


def check_parameters(estimator: object, rules: Mapping[str, Rule]) -> None:
    """Raises InputError with all parameters whose values break their rules."""
    raise_all(parameter_problems(estimator, rules))


def class_weights(prior: str | Mapping[object, Any], classes: list[Any], codes: Any) -> Floats:
    """The weight of each class by a prior, given the class of each sequence as a number."""
    if isinstance(prior, Mapping):
        return weights_in("prior", prior, classes)
    counts = np.bincount(codes, minlength=len(classes)).astype(float)
    return counts if prior == "empirical" else np.ones(len(classes))


def weights_in(
    name: str, given: Mapping[object, Any], classes: list[Any], other: float | None = None
) -> Floats:
    """The weight of each class by a parameter that maps classes to weights, else `other`. Raises
    InputError where a class has no weight, or a weight no class."""
    for c in classes:
        if not is_positive(given.get(c, other)):
            hint = "give one" + (" for each class" if other is None else ", or leave the class out")
            raise InputError(f"{name} has no weight above 0 for the class {c!r}", hint=hint)
    for c in given:
        if c not in classes:
            near = did_you_mean(str(c), [str(one) for one in classes])
            hint = near or f"the classes are {', '.join(map(repr, classes))}"
            raise InputError(f"{name} has a weight for {c!r}, which is no class", hint=hint)
    return np.array([given.get(c, other) for c in classes], float)


def sequences_for(model: Any, X: object) -> Sequences:
    """Sequences for a fitted model, cut as its training sequences were. Sequences of two tables
    mean the same only if both tables were read in one way."""
    check_is_fitted(model)
    fitted: Schema | None = model.reading_
    found = cut_like(as_sequences(X), fitted)
    if fitted is None or fitted.is_of_facts or found.reading is None:
        return found
    if (wrong := found.reading.difference(fitted)) is not None:
        what = f"this table was read in another way than that of the model: {wrong}"
        hint = f"read it as that one: rx.{fitted.reader}(frame, reading=model.reading_)"
        raise InputError(what, hint=hint)
    return found


def checked_labels(X: Sequences, y: Iterable[object] | None) -> NDArray[Any]:
    """The classes to learn from, one for each sequence. Raises InputError where they are not."""
    if not len(X):
        raise InputError("there are no sequences", hint="give some of each class")
    labels = given_labels(X, y)
    if labels is None:
        raise InputError("y is missing", hint="give the class of each sequence")
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
) -> tuple[Sequences, NDArray[Any], NDArray[Any], Longs]:
    """Sequences to learn from, cut by class; their labels, the classes, the class of each."""
    X = as_sequences(X)
    labels = checked_labels(X, y)
    X = cut_by_class(X, labels).compact()
    return X, labels, *coded_classes(labels)


def coded_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], Longs]:
    """The classes in order, and the number of the class of each sequence. Raises for one class."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        what = f"all sequences are of one class, {classes.tolist()[0]!r}"
        raise InputError(what, hint="give sequences of at least two classes")
    return classes, codes


def given_labels(X: Sequences, y: Iterable[object] | None) -> NDArray[Any] | None:
    """The labels of `y`, or of X, if any; one for each sequence, or InputError is raised."""
    given: Any = X.labels if y is None else y
    if given is None:
        return None
    labels = np.asarray(given if hasattr(given, "shape") else [*given])
    labels = labels.ravel() if labels.shape[1:] == (1,) else labels  # a column, as of a data frame
    if labels.shape != X.shape:
        n = counted(len(labels), "label") if labels.ndim == 1 else f"labels of shape {labels.shape}"
        what = f"{n} in y for {counted(len(X), 'sequence')} in X"
        raise InputError(what, hint="give one label for each sequence")
    for i, value in enumerate(labels.tolist()):
        if is_missing(value):
            hint = "give the class of each sequence, or leave out those that have none"
            raise InputError(f"the label of sequence {X.ids[i]} is missing", hint=hint)
    return labels
