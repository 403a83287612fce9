"""A language for data that come without a bias."""

from __future__ import annotations

import re
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from relynx.bias.signs import EVENT, operators
from relynx.data.readings import Reading
from relynx.data.roles import Tables, dimension_names, event_keys
from relynx.data.sequences import Sequences
from relynx.data.vocabulary import Vocabulary
from relynx.errors import BiasError
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.logic.terms import quoted

MAX_CONSTANTS = 40  # an argument of more values than this is never a constant
OVERLAP = 0.5  # columns of texts that share so many of the values of the smaller have one type
EMPTY = np.empty(0, np.int32)
EVENT_NAME = re.compile(r"e[1-9]\d*\Z")
MAX_FREE = 4  # so many variables of an atom may each be old or new; of more, one or all are old

Types = dict[str, tuple[str, ...]]
Modes = dict[str, tuple[tuple[str, ...], ...]]
Place = tuple[Key, int]
Used = dict[Place, NDArray[np.int32]]  # the different values of each argument


def infer_language(X: Sequences) -> tuple[Types, Modes, tuple[str, ...], tuple[str, ...]]:
    """Types, modes and dimensions for all the predicates of some data, and notes on the choices."""
    facts = X.facts()
    tables = {key: table for key, table in facts.tables.items() if table.shape[1]}
    dimensions = dimension_names(tables)
    events = _event_places(X, tables, facts.vocabulary)
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
    kinds = {} if X.reading is None else _column_kinds(X.reading)
    names = _column_types(used, kinds) if kinds else _type_names(used, len(facts.vocabulary))
    many = {place for place, values in used.items() if len(values) > MAX_CONSTANTS}
    loose = {place for place in many if not _recurs(place, names, tables)}
    dropped = _says_nothing(keys, events, loose)
    keys = [key for key in keys if key not in dropped]
    types = {
        key[0]: tuple(
            EVENT if (key, i) in events else _type_name(names[key, i]) for i in range(key[1])
        )
        for key in keys
    }
    modes = {}
    for key in keys:
        modes[key[0]] = _modes([_role((key, i), events, many, loose) for i in range(key[1])])
    has_fluents = any(EVENT in signature for signature in types.values())
    notes = _notes(used, many, dropped)
    return types, modes, dimensions if has_fluents else (), notes


def _event_places(X: Sequences, tables: Tables, vocabulary: Vocabulary) -> set[Place]:
    """The arguments that hold events, also where few events or none are linked.

    A reading says which they are. Without one and without any link, facts that all begin with an
    event as `from_lists` names it, e1, e2, ..., tell of events.
    """
    places = event_keys(tables, max(len(vocabulary), 1))[1]
    if X.reading is not None:
        n_events = X.reading.n_events
        places |= {(key, i) for key in tables for i in range(n_events.get(key[0], 0))}
        others = [key for key in tables if key[0] not in n_events]  # links, and what rules derive
        codes = np.unique(np.concatenate([EMPTY, *(tables[key][1 + i] for key, i in places)]))
    elif dimension_names(tables):
        return places
    else:
        named = [code for code, name in enumerate(vocabulary) if EVENT_NAME.match(str(name))]
        others, codes = list(tables), np.array(named, np.int32)
        if not all(key[1] and np.isin(tables[key][1], codes).all() for key in tables):
            return places
    holds = {(key, i) for key in others for i in range(key[1])}
    return places | {
        place for place in holds if np.isin(tables[place[0]][1 + place[1]], codes).all()
    }


def _role(place: Place, events: set[Place], many: set[Place], loose: set[Place]) -> str:
    if place in events:
        return "event"
    if place not in many:
        return "few"
    has_event = any((place[0], i) in events for i in range(place[0][1]))
    return "loose" if place in loose and has_event else "many"


def _recurs(place: Place, names: dict[Place, Place], tables: Tables) -> bool:
    """Whether a sequence holds a value of an argument in two facts, so that it can join them."""
    peers = [peer for peer, first in names.items() if first == names[place]]
    pairs = np.concatenate([tb.packed(tables[key][[0, 1 + i]]) for key, i in peers])
    return len(tb.distinct(pairs)) < len(pairs)


def _says_nothing(keys: list[Key], events: set[Place], loose: set[Place]) -> set[Key]:
    """Predicates that could only say that an event has some value; unless there are no others."""
    found = set()
    for key in keys:
        values = [(key, i) for i in range(key[1]) if (key, i) not in events]
        if 0 < len(values) < key[1] and loose.issuperset(values):
            found.add(key)
    return found if len(found) < len(keys) else set()


def _notes(used: Used, many: set[Place], dropped: set[Key]) -> tuple[str, ...]:
    notes = []
    for (key, i), values in used.items():
        what = f"{quoted(key[0])}/{key[1]}: argument {i + 1} has {len(values):,} values"
        if key in dropped:
            notes.append(f"{what}, none twice in a sequence: left out")
        elif (key, i) in many:
            notes.append(f"{what}, more than {MAX_CONSTANTS}: it is a variable, never a constant")
    return tuple(notes)


def _column_kinds(reading: Reading) -> dict[str, tuple[bool, ...]]:
    """For each predicate of a table whether its last arguments are texts."""
    return {
        group.predicate: tuple(column.kind == "text" for column in group.columns)
        for group in reading.groups
    }


def _column_types(used: Used, kinds: dict[str, tuple[bool, ...]]) -> dict[Place, Place]:
    """For each argument the first one of its type, where arguments are columns of a table.

    Only texts of different columns can mean the same, and only where many of them are the same:
    months, marks and numbers of beds have values in common that no pattern should join.
    """
    places = list(used)
    leader = list(range(len(places)))
    for i, j in combinations(range(len(places)), 2):
        if _one_type(places[i], places[j], used, kinds):
            first, second = sorted((_root(leader, i), _root(leader, j)))
            leader[second] = first
    return {place: places[_root(leader, i)] for i, place in enumerate(places)}


def _one_type(a: Place, b: Place, used: Used, kinds: dict[str, tuple[bool, ...]]) -> bool:
    shared = len(np.intersect1d(used[a], used[b], assume_unique=True))
    texts = [_is_text(place, kinds) for place in (a, b)]
    if None in texts:  # derived by a rule
        return shared > 0
    return all(texts) and shared > OVERLAP * min(len(used[a]), len(used[b]))


def _is_text(place: Place, kinds: dict[str, tuple[bool, ...]]) -> bool | None:
    (name, arity), i = place
    texts = kinds.get(name)
    return None if texts is None else texts[i - arity]


def _type_names(used: Used, n_constants: int) -> dict[Place, Place]:
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


def _type_name(place: Place) -> str:
    (name, _), i = place
    return f"{name}_{i + 1}"


def _modes(roles: list[str]) -> tuple[tuple[str, ...], ...]:
    """The modes of a predicate whose arguments are events, have few values, or many.

    An atom joins the pattern by one of its events, or by an argument of many values where it has
    no event. A loose argument, of many values that never recur, joins nothing.
    """
    events = [i for i, role in enumerate(roles) if role == "event"]
    many = [i for i, role in enumerate(roles) if role == "many"]
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
            signs = ["-" if role == "loose" else "*" for role in roles]
            if old >= 0:
                signs[old] = "+"
            for i, sign in zip(many, choice, strict=True):
                signs[i] = sign
            modes.append(tuple(signs))
    return tuple(modes)
