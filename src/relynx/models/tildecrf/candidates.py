"""All literals that the facts of an encoding have instances of, each with a number.

A feature is a literal on one known variable, its anchor: `he(A,right,_,L)`. A join is a feature in
which one more argument is a variable that is known. What a thing has is found once, so that a node
counts all its candidates in one pass over its examples. An attribute is a fact about no event, with
constants alone; its anchor is the first event of the sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.bias.modes import EVENT
from relynx.logic import tables as tb
from relynx.logic.terms import Atom, Var, constant_key
from relynx.models.tildecrf.encoding import ANY, EQUAL, Encoding, Relation

FREE = -1  # a code: the argument is a variable
MANY_ARGUMENTS = 4  # with more, a literal has at most FEW_CONSTANTS of them, or all
FEW_CONSTANTS = 2


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of literal: its relation, its anchor, the arguments that are constants. The anchor of
    an attribute is the cell beyond its arguments. `joined` is the argument that is a second known
    variable, -1 for none."""

    relation: int
    anchor: int
    constants: tuple[int, ...]
    joined: int = -1


@dataclass(frozen=True, eq=False)
class Literals:
    """Literals with one number each: of every one its form, and the codes of its constants.
    `starts` and `numbers` are the literals that each thing has as anchor; of joins, `other` is the
    thing that the second variable must be."""

    forms: tuple[Form, ...]
    form: Longs
    codes: Ints
    starts: Longs
    numbers: Ints
    other: Ints

    def __len__(self) -> int:
        return len(self.form)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The literals of an encoding: on no variable, on one, and joins to an event and to a value."""

    attributes: Literals
    features: Literals
    event_joins: Literals
    value_joins: Literals

    @classmethod
    def of(cls, encoding: Encoding) -> Candidates:
        """All of them."""
        return cls(
            _literals(encoding, _attributes(encoding)),
            _literals(encoding, _features(encoding)),
            _literals(encoding, _joins(encoding, to_event=True)),
            _literals(encoding, _joins(encoding, to_event=False)),
        )


def _forms(number: int, relation: Relation, old: tuple[int, ...]) -> Iterator[Form]:
    # The name of an event says nothing beyond its sequence, so no event is a constant.
    others = [i for i, t in enumerate(relation.types) if i not in old and t != EVENT]
    n = len(others)
    sizes = [k for k in range(n + 1) if n <= MANY_ARGUMENTS or k <= FEW_CONSTANTS or k == n]
    for size in sizes:
        for constants in combinations(others, size):
            if relation.allows(old, constants):
                yield Form(number, old[0], constants, old[1] if len(old) > 1 else -1)


def _attributes(encoding: Encoding) -> list[Form]:
    return [
        Form(number, relation.key[1], (*range(relation.key[1]),))
        for number, relation in enumerate(encoding.language.relations)
        if relation.of_sequence and relation.allows((), (*range(relation.key[1]),))
    ]


def _features(encoding: Encoding) -> list[Form]:
    return [
        form
        for number, relation in enumerate(encoding.language.relations)
        for anchor in range(relation.key[1])
        for form in _forms(number, relation, (anchor,))
    ]


def _joins(encoding: Encoding, *, to_event: bool) -> list[Form]:
    """The anchor of a join is an event if one of the two is, else the first of them."""
    out: list[Form] = []
    for number, relation in enumerate(encoding.language.relations):
        for one, other in combinations(range(relation.key[1]), 2):
            types = relation.types[one], relation.types[other]
            pair = (other, one) if types[1] == EVENT and types[0] != EVENT else (one, other)
            if (relation.types[pair[1]] == EVENT) == to_event:
                out += _forms(number, relation, pair)
    return out


def _literals(encoding: Encoding, forms: list[Form]) -> Literals:
    width = encoding.cells.shape[1]
    entities, numbers, other, of_form, codes = [], [], [], [], []
    n = 0
    for f, form in enumerate(forms):
        cells = encoding.cells[encoding.relation == form.relation]
        cells = cells[_admitted(encoding, form, cells)]
        values = encoding.code[cells[:, list(form.constants)]]
        packed = tb.packed(values.T) if form.constants else np.zeros(len(cells), np.int64)
        _, example, number = np.unique(packed, return_index=True, return_inverse=True)
        named = np.full((len(example), width), FREE, np.int32)
        named[:, list(form.constants)] = values[example]
        allowed = _white_listed(encoding, form, named)
        rank = np.cumsum(allowed) - 1
        kept = allowed[number] & (cells[:, form.anchor] >= 0)
        entities.append(cells[kept, form.anchor])
        other.append(cells[kept, form.joined] if form.joined >= 0 else cells[kept, form.anchor])
        numbers.append(rank[number[kept]] + n)
        codes.append(named[allowed])
        of_form.append(np.full(int(allowed.sum()), f, np.int64))
        n += len(of_form[-1])
    none = np.empty(0, np.int64)
    found = [np.concatenate([none, *column]) for column in (entities, numbers, other)]
    entity, literal, second = tb.in_order(np.stack(found))
    return Literals(
        tuple(forms),
        np.concatenate([none, *of_form]),
        np.concatenate([np.empty((0, width), np.int32), *codes]),
        np.searchsorted(entity, np.arange(len(encoding.code) + 1)).astype(np.int64),
        literal.astype(np.int32),
        second.astype(np.int32),
    )


def _admitted(encoding: Encoding, form: Form, cells: Ints) -> Bools:
    """The facts whose constants the bias lets be constants."""
    language, kept = encoding.language, np.ones(len(cells), bool)
    relation = language.relations[form.relation]
    for i in form.constants:
        column = cells[:, i]
        if relation.key == EQUAL:
            named = language.types_with("#*") - {EVENT, ANY}
            may_be = np.array([type_ in named for type_ in language.types], bool)
            kept &= may_be[encoding.type_[column]]
        for type_ in np.unique(encoding.type_[column]).tolist():
            name = language.types[type_]
            if name in language.bias.values:
                listed = set(map(constant_key, language.bias.values[name]))
                codes = np.unique(encoding.code[column]).tolist()
                good = [c for c in codes if constant_key(encoding.vocabulary[c]) in listed]
                kept &= (encoding.type_[column] != type_) | np.isin(encoding.code[column], good)
    return kept


def _white_listed(encoding: Encoding, form: Form, named: Ints) -> Bools:
    """Which literals the white list of the bias admits."""
    bias, relation = encoding.language.bias, encoding.language.relations[form.relation]
    if not bias.allowed or relation.key == EQUAL:
        return np.ones(len(named), bool)
    out = np.zeros(len(named), bool)
    for i, codes in enumerate(named[:, : relation.key[1]].tolist()):
        args = tuple(
            Var(f"V{j}") if code == FREE else encoding.vocabulary[code]
            for j, code in enumerate(codes)
        )
        out[i] = bias.admits(Atom(relation.key[0], args))
    return out
