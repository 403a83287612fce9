"""Which constants of a sequence are events: what the dimensions link, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.logic.terms import Atom

Tables: TypeAlias = Mapping[Key, Table]


def dimension_names(keys: Iterable[Key]) -> tuple[str, ...]:
    """The dimensions that a set of predicates makes: `s` for `next_s/2`."""
    names = (name[5:] for name, arity in keys if arity == 2 and name.startswith("next_"))
    return tuple(dict.fromkeys(name for name in names if name))


def event_keys(facts: Tables, n_constants: int) -> tuple[NDArray[np.int64], set[tuple[Key, int]]]:
    """Which constants are events, as sorted numbers sequence * n_constants + code.

    Events are what the dimensions link, and the constants in event arguments: arguments that hold
    linked constants in at least half of their facts (in sequences that have dimensions at all).
    Also returns the event arguments, as (predicate, argument).
    """
    dims = {(f"next_{name}", 2) for name in dimension_names(facts)}
    linked = [_pairs(facts[key], i, n_constants) for key in dims for i in (1, 2) if key in facts]
    events = tb.distinct(np.concatenate(linked)) if linked else np.empty(0, np.int64)
    if not len(events):
        return events, set()
    ordered = tb.distinct(events // n_constants)  # the sequences that have some dimension
    places, pairs = set(), [events]
    for key, table in facts.items():
        here = member(table[0].astype(np.int64), ordered)
        for i in range(1, 1 + key[1]):
            column = _pairs(table, i, n_constants)
            known = int(here.sum())
            if known and 2 * int(member(column[here], events).sum()) >= known:
                places.add((key, i - 1))
                pairs.append(column)
    return tb.distinct(np.concatenate(pairs)), places


def _pairs(table: Table, row: int, n_constants: int) -> NDArray[np.int64]:
    pairs: NDArray[np.int64] = table[0].astype(np.int64) * n_constants + table[row]
    return pairs


def member(values: NDArray[np.int64], pool: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which values are in a sorted pool."""
    if not len(pool):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(pool, values), len(pool) - 1)
    return np.asarray(pool[at] == values)


def event_conflicts(tables: Tables, vocabulary: Vocabulary) -> list[tuple[int, Atom, int]]:
    """Facts that hold an event where their predicate has values elsewhere, or the reverse.

    Each is (sequence, atom, argument), in the order of the sequences.
    """
    n = max(len(vocabulary), 1)
    events, places = event_keys(tables, n)
    if not len(events):
        return []
    value_args = [
        (key, i)
        for key, table in tables.items()
        for i in range(key[1])
        if (key, i) not in places and table.shape[1]
    ]
    linked_in = [
        _pairs(tables[("next_" + name, 2)], i, n)
        for name in dimension_names(tables)
        for i in (1, 2)
        if ("next_" + name, 2) in tables
    ]
    linked = tb.distinct(np.concatenate(linked_in))
    values = [_pairs(tables[key], i + 1, n) for key, i in value_args]
    used_as_value = tb.distinct(np.concatenate(values)) if values else np.empty(0, np.int64)
    found = []
    for key, table in tables.items():
        for i in range(key[1]):
            column = _pairs(table, i + 1, n)
            if (key, i) in places:
                wrong = member(column, used_as_value) & ~member(column, linked)
            else:
                wrong = member(column, linked)
            for at in np.flatnonzero(wrong):
                args = tuple(vocabulary[code] for code in table[1:, at])
                found.append((int(table[0, at]), Atom(key[0], args), i))
    return sorted(found, key=lambda conflict: conflict[0])
