"""Checks of parameters that several estimators share; what is wrong comes with what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from relynx.data.schema import Schema
from relynx.errors import InputError, Problem, did_you_mean


def is_count(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number from `least` on; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def is_amount(value: Any) -> bool:
    """Whether a value is a finite number from 0 on."""
    return not isinstance(value, bool) and isinstance(value, Real) and 0 <= float(value) < np.inf


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return is_amount(value) and float(value) > 0


def not_among(name: str, value: object, known: Sequence[object], more: str = "") -> list[Problem]:
    """The problem of a parameter that has none of the known values, if it has none."""
    if any(isinstance(value, type(one)) and value == one for one in known):
        return []
    hint = " or ".join(map(repr, known))
    return [Problem(f"{name} is {value!r}", hint=f"give {hint}{', ' + more if more else ''}")]


def not_true_or_false(name: str, value: object) -> list[Problem]:
    """The problem of a switch that is neither on nor off, if it is not."""
    if isinstance(value, bool | np.bool_):
        return []
    return [Problem(f"{name} is {value!r}", hint="give True or False")]


def check_class_weights(prior: Mapping[object, Any], classes: list[object]) -> None:
    """Raises InputError where a class has no weight, or a weight no class."""
    for name in classes:
        weight = prior.get(name)
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            what = f"prior has no weight above 0 for the class {name!r}"
            raise InputError(Problem(what, hint="give one for each class"))
    for name in prior:
        if name not in classes:
            near = did_you_mean(str(name), [str(c) for c in classes])
            known = f"the classes are {', '.join(map(repr, classes))}"
            what = f"prior has a weight for {name!r}, which is no class"
            raise InputError(Problem(what, hint=near or known))


def check_reading(fitted: Schema | None, given: Schema | None) -> None:
    """Sequences of two tables mean the same only if both tables were read in one way."""
    if fitted is None or given is None:
        return
    wrong = given.difference(fitted)
    if wrong is not None:
        what = f"this table was read in another way than that of the model: {wrong}"
        hint = f"read it as that one: rx.{fitted.reader}(frame, reading=model.reading_)"
        raise InputError(Problem(what, hint=hint))
