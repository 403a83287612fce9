"""Checks of parameters that several estimators share; what is wrong comes with what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from relynx.data.class_cuts import cut_like
from relynx.data.schema import Schema
from relynx.data.sequences import Sequences
from relynx.errors import InputError, Problem, did_you_mean, raise_all
from relynx.features.vectorizer import as_sequences

Floats: TypeAlias = NDArray[np.float64]
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


AMOUNT: Rule = is_amount, "give a number from 0 on"
_IS_PRIOR, _PRIOR_HINT = one_of(("empirical", "uniform"), "or a weight for each class")
PRIOR: Rule = lambda value: isinstance(value, Mapping) or _IS_PRIOR(value), _PRIOR_HINT
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
    """The weight of each class by a prior, given the class of each sequence as a number.

    Raises InputError where a class has no weight, or a weight no class.
    """
    if not isinstance(prior, Mapping):
        counts = np.bincount(codes, minlength=len(classes)).astype(float)
        return counts if prior == "empirical" else np.ones(len(classes))
    for name in classes:
        weight = prior.get(name)
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            what = f"prior has no weight above 0 for the class {name!r}"
            raise InputError(what, hint="give one for each class")
    for name in prior:
        if name not in classes:
            near = did_you_mean(str(name), [str(c) for c in classes])
            known = f"the classes are {', '.join(map(repr, classes))}"
            what = f"prior has a weight for {name!r}, which is no class"
            raise InputError(what, hint=near or known)
    return np.array([prior[name] for name in classes], float)


def sequences_for(model: Any, X: object) -> Sequences:
    """Sequences for a fitted model, cut as its training sequences were.

    Sequences of two tables mean the same only if both tables were read in one way.
    """
    check_is_fitted(model)
    fitted: Schema | None = model.reading_
    found = cut_like(as_sequences(X), fitted)
    if fitted is None or found.reading is None:
        return found
    if (wrong := found.reading.difference(fitted)) is not None:
        what = f"this table was read in another way than that of the model: {wrong}"
        hint = f"read it as that one: rx.{fitted.reader}(frame, reading=model.reading_)"
        raise InputError(what, hint=hint)
    return found
