"""A language for data that come without a bias."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from relynx.bias.signs import EVENT, operators
from relynx.data.roles import dimension_names, event_keys
from relynx.data.sequences import Sequences
from relynx.errors import BiasError
from relynx.logic.tables import Key

MAX_CONSTANTS = 40  # an argument of more values than this is never a constant
MAX_FREE = 4  # so many variables of an atom may each be old or new; of more, one or all are old

Types = dict[str, tuple[str, ...]]
Modes = dict[str, tuple[tuple[str, ...], ...]]


def infer_language(X: Sequences) -> tuple[Types, Modes, tuple[str, ...]]:
    """Types, modes and dimensions for all the predicates of some data."""
    facts = X.facts()
    tables = {key: table for key, table in facts.tables.items() if table.shape[1]}
    dimensions = dimension_names(tables)
    _, events = event_keys(tables, max(len(facts.vocabulary), 1))
    of_dimensions = operators(dimensions)
    keys = [key for key in tables if key[0] not in of_dimensions]
    if not keys:
        what = "only links between events" if tables else "no facts"
        raise BiasError(f"the sequences hold {what}: there is nothing to make patterns of")
    used = {
        (key, i): np.unique(tables[key][1 + i])
        for key in keys
        for i in range(key[1])
        if (key, i) not in events
    }
    names = _type_names(used, len(facts.vocabulary))
    types = {
        key[0]: tuple(
            EVENT if (key, i) in events else _type_name(names[key, i]) for i in range(key[1])
        )
        for key in keys
    }
    modes = {}
    for key in keys:
        roles = [
            "event" if (key, i) in events else "few" if len(used[key, i]) <= MAX_CONSTANTS else ""
            for i in range(key[1])
        ]
        modes[key[0]] = _modes(roles)
    has_fluents = any(EVENT in kinds for kinds in types.values())
    return types, modes, dimensions if has_fluents else ()


def _type_names(
    used: dict[tuple[Key, int], NDArray[np.int32]], n_constants: int
) -> dict[tuple[Key, int], tuple[Key, int]]:
    """For each argument the first one that it shares values with, directly or through others."""
    places = list(used)
    leader = list(range(len(places)))
    owner = np.full(n_constants, -1)
    for i, place in enumerate(places):
        codes = used[place]
        for j in np.unique(owner[codes]).tolist():
            if j >= 0:
                first, second = sorted((_root(leader, i), _root(leader, j)))
                leader[second] = first
        owner[codes] = i
    return {place: places[_root(leader, i)] for i, place in enumerate(places)}


def _root(leader: list[int], i: int) -> int:
    while leader[i] != i:
        i = leader[i]
    return i


def _type_name(place: tuple[Key, int]) -> str:
    (name, _), i = place
    return f"{name}_{i + 1}"


def _modes(roles: list[str]) -> tuple[tuple[str, ...], ...]:
    """The modes of a predicate whose arguments are events, have few values, or many.

    An atom joins the pattern by one of its events, or by an argument of many values where it has
    no event.
    """
    events = [i for i, role in enumerate(roles) if role == "event"]
    many = [i for i, role in enumerate(roles) if role == ""]
    choices = list(product("+-", repeat=len(many)))
    if len(many) > MAX_FREE:
        choices = [("+",) * len(many)] + [
            tuple("+" if i == j else "-" for j in range(len(many))) for i in range(len(many))
        ]
    if many and not events:
        choices = [choice for choice in choices if "+" in choice]
    modes = []
    for old in events or [-1]:
        for choice in choices:
            signs = ["*"] * len(roles)
            if old >= 0:
                signs[old] = "+"
            for i, sign in zip(many, choice, strict=True):
                signs[i] = sign
            modes.append(tuple(signs))
    return tuple(modes)
