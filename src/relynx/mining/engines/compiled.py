"""The bias in numbers: what the kernels of the miner need to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.errors import BiasError, DataError
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.mining.engines._general_kernels import Language
from relynx.mining.engines._listing_kernels import MOST_ARGUMENTS
from relynx.mining.matching._backtracking_kernels import LINE, Data
from relynx.mining.matching.index import Index

EVENT = "event"
MOST_CODES = 1 << 61


@dataclass(frozen=True)
class Compiled:
    """The relations that a bias allows in some data, and the numbers of its types and constants."""

    index: Index
    relations: tuple[Key, ...]
    types: tuple[tuple[int, ...], ...]  # of the arguments of each relation
    constants: tuple[NDArray[np.int64], ...]  # codes that each type admits
    modes: tuple[tuple[tuple[str, ...], ...], ...]
    event_type: int
    dimensions: tuple[int, ...]  # numbers of the bias' dimensions in the index

    @property
    def is_line(self) -> bool:
        """Is there one dimension, along which each sequence is a line of events, or none?"""
        shapes = [self.index.dimensions[d].shape for d in self.dimensions]
        return len(shapes) < 2 and all(bool((shape == LINE).all()) for shape in shapes)

    def language(self, *, first: bool, injective: bool) -> Language:
        """As the kernels take it; in the first atom of a pattern `+` stands for a new variable."""
        arity = np.array([len(types) for types in self.types], np.int64)
        types = np.array([t for types in self.types for t in types], np.int64)
        admits = np.zeros((len(types), 3), np.int64)
        a = 0
        for relation, modes in enumerate(self.modes):
            for j in range(arity[relation]):
                for m, mode in enumerate(modes):
                    for kind in _kinds(mode[j], first):
                        admits[a + j, kind] |= 1 << m
            a += int(arity[relation])
        n_codes = self.index.n_constants
        digits = np.full((len(self.constants), n_codes), -1, np.int32)
        for t, codes in enumerate(self.constants):
            digits[t, codes] = np.arange(len(codes))
        anchors = [
            (int(types[a]), relation, j)
            for relation, a0 in enumerate(np.cumsum(arity) - arity)
            for j in range(arity[relation])
            for a in [a0 + j]
            if admits[a, 0]
        ]
        anchors.sort()
        by_type = np.array([t for t, _, _ in anchors], np.int64)
        return Language(
            arity=arity,
            argument0=np.cumsum(arity) - arity,
            types=types,
            look_up=np.arange(len(types)),
            admits=admits,
            digit0=types * n_codes,
            digits=digits.ravel(),
            n_constants=np.array([len(self.constants[t]) for t in types], np.int64),
            anchor_off=np.searchsorted(by_type, np.arange(len(self.constants) + 1)),
            anchors=np.array([pair[1:] for pair in anchors], np.int64).reshape(-1, 2),
            event_type=self.event_type,
            one_event=all(types.count(self.event_type) <= 1 for types in self.types),
            injective=injective,
        )

    def data(self) -> Data:
        """The facts of the relations, with a look-up for each argument."""
        look_ups = tuple((key, j) for key in self.relations for j in range(key[1]))
        return self.index.data(self.relations, look_ups)

    def sizes(self, n_old: int) -> list[int]:
        """For each relation how many ways there are to write its atom after n_old variables."""
        return [
            prod(n_old + 1 + len(types) + len(self.constants[t]) for t in types)
            for types in self.types
        ]


def _kinds(sign: str, first: bool) -> tuple[int, ...]:
    """What an argument may be: 0 an old variable, 1 a new one, 2 a constant."""
    return {"+": (0, 1) if first else (0,), "-": (1,), "#": (2,), "*": (0, 1, 2)}[sign]


def compile_bias(bias: Bias, index: Index) -> Compiled:
    """Number what a bias says, as far as the data have it."""
    chosen = [
        (name, len(types))
        for name, types in bias.types.items()
        if (name, len(types)) in index.facts.tables and bias.modes.get(name)
    ]
    for name, arity in chosen:
        if arity > MOST_ARGUMENTS or len(bias.modes[name]) > 62:
            raise BiasError(
                f"{name}/{arity} has more than {MOST_ARGUMENTS} arguments or 62 modes: "
                "the miner does not take that many"
            )
    _check_values(bias, index, chosen)
    names = [EVENT, *dict.fromkeys(t for name, _ in chosen for t in bias.types[name] if t != EVENT)]
    number = {name: i for i, name in enumerate(names)}
    return Compiled(
        index=index,
        relations=tuple(chosen),
        types=tuple(tuple(number[t] for t in bias.types[name]) for name, _ in chosen),
        constants=tuple(_constants(bias, index, chosen, name) for name in names),
        modes=tuple(tuple(bias.modes[name]) for name, _ in chosen),
        event_type=number[EVENT],
        dimensions=tuple(
            index.dimension_names.index(name)
            for name in bias.dimensions
            if name in index.dimension_names
        ),
    )


def _check_values(bias: Bias, index: Index, relations: list[Key]) -> None:
    """An argument that the bias declares to hold values must not hold events."""
    for key in relations:
        for j, (type_, column) in enumerate(
            zip(bias.types[key[0]], index.relation(key).cells, strict=True)
        ):
            if type_ == EVENT or int(column.min(initial=index.n_nodes)) >= index.n_nodes:
                continue
            events = column[column < index.n_nodes]
            if len(events):
                raise DataError(
                    f"argument {j + 1} of {key[0]}/{key[1]} has the type '{type_}' in the bias, "
                    f"but holds events such as {index.constants_of(events[:1])[0]}: declare it "
                    "as event, or give the values other names than the events"
                )


def _constants(bias: Bias, index: Index, relations: list[Key], type_: str) -> NDArray[np.int64]:
    """The codes of the constants that a `#` of some type may be."""
    if type_ == EVENT:
        return np.empty(0, np.int64)
    if type_ in bias.values:
        codes = (index.facts.vocabulary.code(constant) for constant in bias.values[type_])
        return tb.distinct(np.array([code for code in codes if code >= 0], np.int64))
    places = [
        (key, j) for key in relations for j, name in enumerate(bias.types[key[0]]) if name == type_
    ]
    if not any(mode[j] in "#*" for key, j in places for mode in bias.modes[key[0]]):
        return np.empty(0, np.int64)
    is_there = np.zeros(index.n_constants, bool)
    for key, j in places:
        is_there[index.facts.tables[key][1 + j]] = True
    return np.flatnonzero(is_there)
