"""The language of biases: its words, and its declarations as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from relynx.logic.dimensions import OPERATORS
from relynx.logic.terms import Atom, Constant, Literal

Subject: TypeAlias = Atom | Constant

EVENT = "event"
MODE_SIGNS = ("+", "-", "#", "*")
# The declarations of lists of atoms, or of literals, with the fields that hold them.
LISTS = {
    "negconstraint": "negconstraints",
    "posconstraint": "posconstraints",
    "atmostone": "atmostone",
    "sametype": "sametype",
}


@dataclass(frozen=True, eq=False)
class Language:
    """The declarations of a bias; `Bias` says what they mean."""

    types: Mapping[str, tuple[str, ...]]
    modes: Mapping[str, tuple[tuple[str, ...], ...]]
    values: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict)
    dimensions: tuple[str, ...] = ()
    key: tuple[Atom, ...] = ()
    negconstraints: tuple[tuple[Literal, ...], ...] = ()
    posconstraints: tuple[tuple[Literal, ...], ...] = ()
    atmostone: tuple[tuple[Atom, ...], ...] = ()
    sametype: tuple[tuple[Atom, ...], ...] = ()
    allowed: tuple[Atom, ...] = ()
    max_length: int | None = None
    max_gap: int | None = None
    min_frequency: int | None = None
    min_support: float | None = None
    min_cover: int | None = None
    object_identity: bool | None = None
    prior: str | None = None
    words: Mapping[Subject, str] = field(default_factory=dict)

    def type_names(self) -> list[str]:
        """All types that arguments have."""
        return list(dict.fromkeys(chain.from_iterable(self.types.values())))


def operators(dimensions: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """The predicates of some dimensions: name to dimension and number of arguments."""
    return {
        f"{operator}_{dimension}": (dimension, arity)
        for dimension in dimensions
        for operator, arity in OPERATORS.items()
    }
