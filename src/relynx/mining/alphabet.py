"""Sequences of at most 64 events whose facts speak of one event each, as words of bits.

What both fast engines of the miner work on. It takes predicates with one event argument and modes
that do not depend on the order in which atoms are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.mining import _alphabet_kernels as ak
from relynx.mining._index_kernels import group_facts
from relynx.mining.engine import Conditions, Longs
from relynx.mining.index import Index, Relation
from relynx.mining.language import Compiled

MOST_EVENTS = 64
MOST_VALUE_ARGUMENTS = 8
MOST_WORDS = 1 << 26  # for each distinct fact and each sequence one: half a gigabyte


def is_simple(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Do the facts speak of one event each, in sequences that fit a word, in any order?"""
    index = compiled.index
    if not compiled.relations or bool((np.diff(index.node_off) > MOST_EVENTS).any()):
        return False
    signs: dict[int, set[str]] = {}
    for key, types, modes in zip(compiled.relations, compiled.types, compiled.modes, strict=True):
        events = [j for j, t in enumerate(types) if t == compiled.event_type]
        if len(events) != 1 or len(modes) != 1 or len(types) > MOST_VALUE_ARGUMENTS:
            return False
        for j, (t, sign) in enumerate(zip(types, modes[0], strict=True)):
            if j == events[0]:
                if sign != "+" or bool((index.relation(key).cells[j] >= index.n_nodes).any()):
                    return False
            elif bool((index.relation(key).cells[j] < index.n_nodes).any()):
                return False
            elif sign != "#":
                signs.setdefault(t, set()).add(sign)
    if any(len(s) > 1 or "+" in s for s in signs.values()):
        return False
    if not has_few_facts(index, compiled.relations):
        return False
    most_old = most_variables(compiled, conditions)
    # A value is written as a constant, a new variable, one that it repeats, or an old one that has
    # it, of which there is at most one under Object Identity.
    written = 2 if object_identity else most_old + 2
    ways = max(prod(written + j for j in range(len(types) - 1)) for types in compiled.types)
    return most_old < ak.MOST - 2 and ways <= ak.MOST_CODES


def has_few_facts(index: Index, relations: Sequence[Key]) -> bool:
    """Is there room for a word for each fact, the event left out, in each sequence?

    Not where hardly any value occurs twice, such as measured numbers.
    """
    sizes = []
    for key in relations:
        cells = index.relation(key).cells
        n = cells.shape[1]
        if n * index.n_sequences > MOST_WORDS // max(len(relations), 1):
            values = [column for column in cells if not bool((column < index.n_nodes).any())]
            sizes.append((n, len(tb.distinct(tb.packed(values))) if values else 1))
        else:
            sizes.append((n, n))  # at most
    return room_for_facts(sizes, index.n_sequences)


def room_for_facts(sizes: Sequence[tuple[int, int]], n_sequences: int) -> bool:
    """`has_few_facts`, by the number of facts of each relation and of those that differ."""
    few = MOST_WORDS // max(len(sizes), 1)
    n_facts = sum(n if n * n_sequences <= few else distinct for n, distinct in sizes)
    return n_facts * n_sequences <= MOST_WORDS


def most_variables(compiled: Compiled, conditions: Conditions) -> int:
    """No pattern has more variables that stand for values."""
    return conditions.max_length * max(len(types) - 1 for types in compiled.types)


def n_codes(compiled: Compiled, n_old: int) -> int:
    """How many ways there are to write an atom after n_old variables that stand for values."""
    return sum(
        prod(
            n_old + len(types) + len(compiled.constants[t])
            for t in types
            if t != compiled.event_type
        )
        for types in compiled.types
    )


def scratch(alphabet: ak.Alphabet) -> ak.Scratch:
    """Room for the loops that count."""
    n_values = len(alphabet.code) + 1
    return ak.Scratch(
        np.zeros(n_values, np.uint64),
        np.zeros(n_values, np.int64),
        np.zeros(n_values, np.uint8),
        np.zeros((ak.MOST, ak.MOST + 2), np.int64),
        np.zeros(ak.MOST, np.int64),
        np.zeros(ak.MOST_CODES, np.int64),
        np.zeros(ak.MOST_CODES, np.uint32),
    )


def alphabet_of(
    compiled: Compiled, labels: NDArray[np.int64], injective: bool
) -> tuple[ak.Alphabet, Longs, bool]:
    """The facts of each sequence, the constants of each argument, and whether an event may have
    several facts."""
    index = compiled.index
    n_nodes = index.n_nodes
    events = [types.index(compiled.event_type) for types in compiled.types]
    places = [
        [j for j in range(len(types)) if j != event]
        for types, event in zip(compiled.types, events, strict=True)
    ]
    relations = [index.relation(key) for key in compiled.relations]
    is_used = np.zeros(index.n_constants, bool)
    for codes in compiled.constants:
        is_used[codes] = True
    for relation, here in zip(relations, places, strict=True):
        for j in here:
            is_used[relation.cells[j] - n_nodes] = True
    all_codes = np.flatnonzero(is_used)
    value = np.full(index.n_constants, -1, np.int64)
    value[all_codes] = np.arange(len(all_codes))
    kind, relation_of, values = _kinds(relations, places, value, n_nodes)
    node = np.concatenate([r.cells[j] for r, j in zip(relations, events, strict=True)])
    begin = np.cumsum([0, *(r.cells.shape[1] for r in relations)])[:-1]
    offset = np.zeros(len(labels) + 1, np.int64)
    ground, bits = np.empty(len(kind), np.int32), np.empty(len(kind), np.uint64)
    everywhere = np.zeros((len(relation_of), len(labels)), np.uint64)
    n = group_facts(
        kind,
        node,
        np.stack([r.seq_off for r in relations]) + begin[:, None],
        index.node_off,
        offset,
        ground,
        bits,
        everywhere,
    )
    if n < len(kind):
        ground, bits = ground[:n].copy(), bits[:n].copy()
    arguments = [(r, j) for r in range(len(places)) for j in places[r]]
    types = np.array([compiled.types[r][j] for r, j in arguments], np.int64)
    signs = [compiled.modes[r][0][j] for r, j in arguments]
    most = max([1, *(len(compiled.constants[t]) for t in types.tolist())])
    digits = np.full((max(len(arguments), 1), len(all_codes) + 1), -1, np.int64)
    constants = np.zeros((max(len(arguments), 1), most), np.int64)
    n_constants = np.zeros(len(arguments), np.int64)
    for a, (t, sign) in enumerate(zip(types.tolist(), signs, strict=True)):
        if sign in "#*":
            admitted_here = compiled.constants[t]
            digits[a, value[admitted_here]] = np.arange(len(admitted_here))
            constants[a, : len(admitted_here)] = admitted_here
            n_constants[a] = len(admitted_here)
    arity = np.array([len(p) for p in places], np.int64)
    alphabet = ak.Alphabet(
        offset=offset,
        bits=bits,
        ground=ground,
        ground_relation=relation_of,
        ground_values=values,
        everywhere=everywhere,
        labels=labels,
        arity=arity,
        argument0=np.cumsum(arity) - arity,
        event=np.array(events, np.int64),
        types=types,
        old=np.array([sign == "*" for sign in signs], np.uint8),
        new=np.array([sign in "*-" for sign in signs], np.uint8),
        digits=digits,
        n_constants=n_constants,
        code=all_codes.astype(np.int64),
        value=value,
        injective=injective,
    )
    crowded = not injective or bool((np.bincount(node, minlength=1) > 1).any())
    return alphabet, constants, crowded


def _kinds(
    relations: list[Relation], places: list[list[int]], value: Longs, n_nodes: int
) -> tuple[NDArray[np.int32], Longs, Longs]:
    """Facts that differ in their events only are of one kind: that of each fact, and of each kind
    the relation and the values."""
    widest = max([1, *map(len, places)])
    kinds, relation_of, values = [], [], []
    n = 0
    for r, (relation, here) in enumerate(zip(relations, places, strict=True)):
        rows = [value[relation.cells[j] - n_nodes] for j in here]
        kind, example = tb.numbered(
            tb.packed(rows) if rows else np.zeros(relation.cells.shape[1], np.int64)
        )
        block = np.zeros((widest, len(example)), np.int64)
        for j, row in enumerate(rows):
            block[j] = row[example]
        kinds.append(kind + np.int32(n))
        relation_of.append(np.full(len(example), r))
        values.append(block)
        n += len(example)
    return np.concatenate(kinds), np.concatenate(relation_of), np.concatenate(values, axis=1)
