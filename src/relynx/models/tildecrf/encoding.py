"""The language of the trees, and sequences encoded in it.

`Language` says which literals a tree may test. `Encoding` has entities, facts indexed by them, and
the order of events. An entity is a constant of one type in one sequence. The events are the first
entities, in their order, so that the event j positions after event p is p + j in the sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Ints, Longs
from relynx.bias import Bias
from relynx.bias.modes import EVENT, operators
from relynx.data.event_arguments import Argument
from relynx.data.event_order import ordered_events
from relynx.data.sequences import Facts, Sequences
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.models.observations import with_dimension
from relynx.models.tildecrf._crf_kernels import Data

EQUAL: Key = ("==", 2)
ENDS: tuple[Key, ...] = (("first", 1), ("last", 1), ("event", 1))
ANY = "*"  # the type of both sides of an equality: whatever type, but the same


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate as literals may use it."""

    key: Key
    types: tuple[str, ...]
    modes: tuple[tuple[str, ...], ...]

    @property
    def of_sequence(self) -> bool:
        """Whether its facts are about no event: they are about the sequence as a whole."""
        return EVENT not in self.types and ANY not in self.types

    def allows(self, old: tuple[int, ...], constants: tuple[int, ...]) -> bool:
        """Is there a mode for variables of the node here, constants there, and else new ones?"""
        wanted = ["-*"] * self.key[1]
        for i in old:
            wanted[i] = "+*"
        for i in constants:
            wanted[i] = "#*"
        return any(
            all(sign in w for sign, w in zip(mode, wanted, strict=True)) for mode in self.modes
        )


@dataclass(frozen=True)
class Language:
    """The relations of the trees, the order of the events, and what `#` may be. `event_arguments`
    are the arguments that hold events of the order, as `observed_arguments` found them in the
    training sequences. `types` has all types, events first."""

    relations: tuple[Relation, ...]
    types: tuple[str, ...]
    dimension: str
    event_arguments: frozenset[Argument]
    bias: Bias

    @classmethod
    def of(cls, bias: Bias, dimension: str, event_arguments: Iterable[Argument]) -> Language:
        """The language of a bias."""
        links = operators(bias.dimensions)
        relations = [
            Relation((name, len(types)), types, bias.modes.get(name, ()))
            for name, types in bias.types.items()
            if name not in links
        ]
        steps = tuple(map(tuple, ("+-", "-+", "++")))
        relations += [
            Relation((f"next_{name}", 2), (EVENT, EVENT), steps) for name in bias.dimensions
        ]
        taken = {relation.key[0] for relation in relations}
        relations += [Relation(key, (EVENT,), (("+",),)) for key in ENDS if key[0] not in taken]
        relations.append(Relation(EQUAL, (ANY, ANY), (("+", "#"), ("+", "+"))))
        relations.sort(key=lambda relation: relation.key)
        types = dict.fromkeys([EVENT, *(t for r in relations for t in r.types if t != ANY)])
        return cls(tuple(relations), (*types,), dimension, frozenset(event_arguments), bias)

    def types_with(self, signs: str) -> set[str]:
        """The types of the arguments that some mode has with one of these signs."""
        return {
            type_
            for relation in self.relations
            for mode in relation.modes
            for type_, sign in zip(relation.types, mode, strict=True)
            if sign in signs
        }


@dataclass(frozen=True, eq=False)
class Encoding:
    """Some sequences in a language.

    The events of sequence i are the entities from offsets[i] to offsets[i + 1]; `first` and `end`
    say for each event where its sequence begins and ends. `code` and `type_` are the constant of
    each entity, and the number of its type in the language. `relation` has the number of each
    fact's relation, and `cells` its entities, -1 beyond its arguments. A fact about no event has
    one more: the first event of its sequence, -1 where there is none.
    """

    language: Language
    vocabulary: Vocabulary
    offsets: Longs
    first: Ints
    end: Ints
    code: Ints
    type_: Ints
    cells: Ints
    relation: Ints = field(repr=False)

    @property
    def n_events(self) -> int:
        return len(self.first)

    @property
    def is_first(self) -> Bools:
        """Which events begin a sequence."""
        return np.asarray(np.arange(self.n_events) == self.first)

    @cached_property
    def data(self) -> Data:
        """What the kernels read: also where the entries of each entity begin, and its facts."""
        n_facts, width = self.cells.shape
        entities = self.cells.T.ravel()
        arguments = np.repeat(np.arange(width, dtype=np.int32), n_facts)
        facts = np.tile(np.arange(n_facts, dtype=np.int32), width)
        kept = entities >= 0
        entities, arguments, facts = entities[kept], arguments[kept], facts[kept]
        order = np.argsort(entities, kind="stable")
        starts = np.searchsorted(entities[order], np.arange(len(self.code) + 1))
        entries = starts.astype(np.int32), arguments[order], facts[order]
        return Data(self.first, self.end, *entries, self.cells, self.relation, self.code)


def encode(X: Sequences, language: Language) -> Encoding:
    """The sequences in a language. Raises InputError where links run in a circle."""
    X = with_dimension(X, language.dimension)
    facts = X.facts()
    rows = ordered_events(X, language.dimension, language.event_arguments)
    lengths = np.array([len(row) for row in rows], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    first = np.repeat(offsets[:-1], lengths).astype(np.int32)
    end = np.repeat(offsets[1:], lengths).astype(np.int32)
    pool = _Pool(max(len(facts.vocabulary), 1), max(len(X), 1))
    codes = np.array([code for row in rows for code in row], np.int64)
    ordered = pool.keys(0, np.repeat(np.arange(len(X)), lengths), codes)
    columns = _columns(facts, language, pool)
    keys, tables = _numbered(ordered, [(number, keys) for number, keys, _ in columns])
    begins = np.where(lengths > 0, offsets[:-1], -1)
    for i, (number, _, sequence) in enumerate(columns):
        if language.relations[number].of_sequence:
            tables[i] = number, np.vstack([tables[i][1], begins[sequence]])
    type_, code = keys // (pool.n_constants * pool.n_sequences), keys % pool.n_constants
    for number, key in enumerate(relation.key for relation in language.relations):
        if key == EQUAL or (key in ENDS and key[0] not in language.bias.types):
            tables.append((number, _made(key, type_, first, end)))
    width = max(len(relation.types) + relation.of_sequence for relation in language.relations)
    n_facts = [table.shape[1] for _, table in tables]
    cells = np.full((sum(n_facts), width), -1, np.int32)
    for start, (_, table) in zip(np.cumsum([0, *n_facts]).tolist(), tables, strict=False):
        cells[start : start + table.shape[1], : len(table)] = table.T
    relation = np.repeat([number for number, _ in tables], n_facts).astype(np.int32)
    entities = first, end, code.astype(np.int32), type_.astype(np.int32)
    return Encoding(language, facts.vocabulary, offsets, *entities, cells, relation)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Numbers for entities: type, sequence and constant in one."""

    n_constants: int
    n_sequences: int

    def keys(self, type_: int, sequence: NDArray[np.integer], codes: NDArray[np.integer]) -> Longs:
        at = np.int64(type_) * self.n_sequences + sequence.astype(np.int64)
        return np.asarray(at * self.n_constants + codes, np.int64)


def _numbered(
    ordered: Longs, columns: list[tuple[int, Longs]]
) -> tuple[Longs, list[tuple[int, Longs]]]:
    """The key of each entity, ordered events first; and the facts as numbers of entities."""
    found = tb.distinct(np.concatenate([ordered, *(keys.ravel() for _, keys in columns)]))
    entities = np.concatenate([ordered, np.setdiff1d(found, ordered, assume_unique=True)])
    order = np.argsort(entities)
    rising = entities[order]
    return entities, [(number, order[np.searchsorted(rising, keys)]) for number, keys in columns]


def _columns(facts: Facts, language: Language, pool: _Pool) -> list[tuple[int, Longs, Ints]]:
    """For each relation with facts its number, the keys of its arguments, and the sequences."""
    types = {type_: i for i, type_ in enumerate(language.types)}
    out = []
    for number, relation in enumerate(language.relations):
        table: Table | None = facts.tables.get(relation.key)
        if table is not None and ANY not in relation.types and relation.key[1]:
            rows = [
                pool.keys(types[t], table[0], table[1 + i]) for i, t in enumerate(relation.types)
            ]
            out.append((number, np.array(rows, np.int64), table[0]))
    return out


def _made(key: Key, type_: Longs, first: Ints, end: Ints) -> Longs:
    """The facts of an end test, for events; of the equality, for all that are no events."""
    events = np.arange(len(first))
    if key == EQUAL:
        chosen = np.flatnonzero(type_ > 0)
    elif key[0] == "event":
        chosen = events
    else:
        chosen = np.flatnonzero(events == first if key[0] == "first" else events == end - 1)
    return np.tile(chosen, (key[1], 1))
