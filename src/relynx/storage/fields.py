"""What a model file holds of a class, declared once, beside the class.

`STORED` of a class maps what it learnt to fields, in the order in which they are read. A `Field`
makes plain values of an attribute, and checks and reads it back; it may go by the attributes that
were read before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from relynx.storage.parts import Part, Shape, plain, plain_labels

State: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """How an attribute is written, `write(value, name)`, and read, `read(part, key, model)`; `key`
    is its name in a file where that is another; an `optional` one may be missing in both."""

    write: Callable[[Any, str], Any]
    read: Callable[[Part, str, Any], Any]
    key: str | None = None
    optional: bool = False


Fields: TypeAlias = Mapping[str, Field]


def stored_state(model: object, fields: Fields) -> State:
    """The attributes of a model as plain values and arrays."""
    return {
        field.key or name: field.write(getattr(model, name), name)
        for name, field in fields.items()
        if hasattr(model, name) or not field.optional
    }


def restore(model: object, part: Part, fields: Fields) -> None:
    """Give a model the attributes that a part holds. Raises DataError where they are not right."""
    for name, field in fields.items():
        key = field.key or name
        if part.has(key) or not field.optional:
            setattr(model, name, field.read(part, key, model))


def restored(part: Part, fields: Fields) -> dict[str, Any]:
    """The attributes that a part holds, for the constructor of a class. Nothing may be left."""
    made = SimpleNamespace()
    restore(made, part, fields)
    part.end()
    return vars(made)


def finished(part: Part, make: Callable[[Part], Any]) -> Any:
    """What `make` makes of a part of which nothing may be left."""
    made = make(part)
    part.end()
    return made


def none_or(field: Field) -> Field:
    """A field whose attribute may be None."""
    return Field(
        lambda value, name: None if value is None else field.write(value, name),
        lambda part, key, model: None if part.none(key) else field.read(part, key, model),
        field.key,
        field.optional,
    )


def labels(owner: str, least: int = 1) -> Field:
    """Classes: different and in order; `owner` is named where they cannot be kept."""

    def read(part: Part, key: str, _: object) -> Any:
        classes = part.labels(key)
        if len(classes) < least:
            raise part.wrong(key, "are not at least two classes")
        return classes

    return Field(lambda value, _: plain_labels(value, owner), read)


def array(
    dtype: DTypeLike, shape: Callable[[Any], Shape] | Shape, *, infinite: bool = False
) -> Field:
    """An array of a type and a shape, which may depend on what was read before."""

    def read(part: Part, key: str, model: Any) -> Any:
        sizes = shape(model) if callable(shape) else shape
        return part.array(key, dtype, sizes, infinite=infinite)

    return Field(lambda value, name: plain(np.asarray(value, dtype), name), read)


TEXT = Field(plain, lambda part, key, _: part.text(key))
COUNT = Field(plain, lambda part, key, _: part.count(key))
NUMBER = Field(plain, lambda part, key, _: part.number(key))
CLASS_PRIOR = Field(plain, lambda part, key, model: part.shares(key, len(model.classes_)))


def _feature_names(part: Part, key: str, model: Any) -> Any:
    names = part.texts(key)
    if len(names) != model.n_features_in_:
        raise part.wrong(key, f"are not {model.n_features_in_} names")
    return np.array(names, dtype=object)


# How many columns an estimator was fitted on, and their names if they have some.
FEATURES_IN: Fields = {
    "n_features_in_": Field(plain, lambda part, key, _: part.count(key, least=1)),
    "feature_names_in_": Field(lambda value, _: value.tolist(), _feature_names, optional=True),
}
