"""Sequences encoded for the trees: entities, facts indexed by them, and the order of events.

An entity is a constant of one type in one sequence. The events are the first entities, in their
order, so that the event j positions after event p is p + j within the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.event_order import ordered_events
from relynx.data.sequences import Facts, Sequences
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.models.observations import with_dimension
from relynx.models.tildecrf._crf_kernels import Data
from relynx.models.tildecrf.literal_language import ANY, ENDS, EQUAL, Language

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]


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
    def is_first(self) -> NDArray[np.bool_]:
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
        return Data(
            self.first,
            self.end,
            starts.astype(np.int32),
            arguments[order],
            facts[order],
            self.cells,
            self.relation,
            self.code,
        )


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
    for key, number in _numbers(language).items():
        tables.append((number, _made(key, type_, first, end)))
    width = max(len(relation.types) + relation.of_sequence for relation in language.relations)
    n_facts = [table.shape[1] for _, table in tables]
    cells = np.full((sum(n_facts), width), -1, np.int32)
    for start, (_, table) in zip(np.cumsum([0, *n_facts]).tolist(), tables, strict=False):
        cells[start : start + table.shape[1], : len(table)] = table.T
    relation = np.repeat([number for number, _ in tables], n_facts).astype(np.int32)
    return Encoding(
        language,
        facts.vocabulary,
        offsets,
        first,
        end,
        code.astype(np.int32),
        type_.astype(np.int32),
        cells,
        relation,
    )


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


def _numbers(language: Language) -> dict[Key, int]:
    """The relations whose facts are made here."""
    return {
        relation.key: number
        for number, relation in enumerate(language.relations)
        if relation.key == EQUAL
        or (relation.key in ENDS and relation.key[0] not in language.bias.types)
    }


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
