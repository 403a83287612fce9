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
from relynx.mining.engine import Conditions, Longs
from relynx.mining.index import Index
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
    columns, seqs, relations, nodes = [], [], [], []
    widest = max([1, *map(len, places)])
    for r, key in enumerate(compiled.relations):
        relation = index.relation(key)
        block = np.zeros((widest, relation.cells.shape[1]), np.int64)
        block[: len(places[r])] = relation.cells[places[r]] - n_nodes
        columns.append(block)
        seqs.append(relation.sequence.astype(np.int64))
        relations.append(np.full(relation.cells.shape[1], r))
        nodes.append(relation.cells[events[r]].astype(np.int64))
    codes, sequence = np.concatenate(columns, axis=1), np.concatenate(seqs)
    relation_of, node = np.concatenate(relations), np.concatenate(nodes)
    used = [codes[: len(places[r]), relation_of == r].ravel() for r in range(len(places))]
    all_codes = tb.distinct(np.concatenate([*used, *compiled.constants]))
    value = np.full(index.n_constants, -1, np.int64)
    value[all_codes] = np.arange(len(all_codes))
    values = np.zeros_like(codes)
    for r in range(len(places)):
        here = relation_of == r
        values[: len(places[r]), here] = value[codes[: len(places[r]), here]]
    fact = tb.packed([relation_of, *values])
    kind = tb.distinct(fact)
    ground = np.searchsorted(kind, fact)
    order = np.argsort(sequence * len(kind) + ground, kind="stable")
    values, sequence, relation_of, node, ground = (
        values[:, order],
        sequence[order],
        relation_of[order],
        node[order],
        ground[order],
    )
    change = np.ones(len(order), bool)
    change[1:] = (np.diff(sequence) != 0) | (np.diff(ground) != 0)
    first = np.flatnonzero(change)
    bit = np.uint64(1) << (node - index.node_off[sequence]).astype(np.uint64)
    bits = np.bitwise_or.reduceat(bit, first) if len(first) else np.empty(0, np.uint64)
    falling = np.lexsort((~bits, sequence[first]))
    first, bits = first[falling], bits[falling]
    example = np.empty(len(kind), np.int64)
    example[ground] = np.arange(len(ground))
    everywhere = np.zeros((len(kind), len(labels)), np.uint64)
    everywhere[ground[first], sequence[first]] = bits
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
        offset=np.searchsorted(sequence[first], np.arange(len(labels) + 1)),
        bits=bits,
        ground=ground[first],
        ground_relation=relation_of[example],
        ground_values=np.ascontiguousarray(values[:, example]),
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
    crowded = not injective or len(tb.distinct(node)) < len(node)
    return alphabet, constants, crowded
