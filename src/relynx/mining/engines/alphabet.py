"""Sequences of at most 64 events whose facts speak of one event each, as words of bits.

What both fast engines of the miner work on. It takes predicates with one event argument and modes
that do not depend on the order in which atoms are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.mining.engines import _alphabet_kernels as ak
from relynx.mining.engines.base import Conditions, Longs
from relynx.mining.engines.compiled import Compiled
from relynx.mining.matching._index_kernels import group_facts
from relynx.mining.matching.index import Index

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
        cells = index.relation(key).cells
        for j, (t, sign) in enumerate(zip(types, modes[0], strict=True)):
            if j == events[0]:
                if sign != "+" or int(cells[j].max(initial=-1)) >= index.n_nodes:
                    return False
            elif int(cells[j].min(initial=index.n_nodes)) < index.n_nodes:
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
            codes = [
                column
                for column, keys in zip(index.facts.tables[key][1:], cells, strict=True)
                if int(keys.min(initial=index.n_nodes)) >= index.n_nodes
            ]
            sizes.append((n, _n_distinct(codes, index.n_constants) if codes else 1))
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
    events = [types.index(compiled.event_type) for types in compiled.types]
    places = [
        [j for j in range(len(types)) if j != event]
        for types, event in zip(compiled.types, events, strict=True)
    ]
    relations = [index.relation(key) for key in compiled.relations]
    columns = [
        [index.facts.tables[key][1 + j] for j in here]
        for key, here in zip(compiled.relations, places, strict=True)
    ]
    is_used = np.zeros(index.n_constants, bool)
    for codes in [*compiled.constants, *chain.from_iterable(columns)]:
        is_used[codes] = True
    all_codes = np.flatnonzero(is_used)
    value = np.full(index.n_constants, -1, np.int64)
    value[all_codes] = np.arange(len(all_codes))
    sizes = [r.cells.shape[1] for r in relations]
    kind, relation_of, values = _kinds(columns, sizes, value, len(all_codes))
    node = relations[0].cells[events[0]]
    if len(relations) > 1:
        node = np.concatenate([r.cells[j] for r, j in zip(relations, events, strict=True)])
    begin = np.cumsum([0, *sizes])[:-1]
    offset = np.zeros(len(labels) + 1, np.int64)
    ground, bits = np.empty(len(kind), np.int32), np.empty(len(kind), np.uint64)
    everywhere = np.zeros((len(relation_of), len(labels)), np.uint64)
    n, many = group_facts(
        kind,
        node,
        np.stack([r.seq_off for r in relations]) + begin[:, None],
        index.node_off,
        offset,
        ground,
        bits,
        everywhere,
    )
    ground, bits = ground[:n], bits[:n]
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
    return alphabet, constants, not injective or bool(many)


def _kinds(
    columns: Sequence[Sequence[NDArray[np.int32]]], sizes: Sequence[int], value: Longs, n: int
) -> tuple[NDArray[np.int32], Longs, Longs]:
    """Facts that differ in their events only are of one kind: that of each fact, and of each kind
    the relation and the values.

    The columns of each relation hold codes, which `value` turns into numbers below n.
    """
    widest = max([1, *map(len, columns)])
    kind = np.empty(sum(sizes), np.int32)
    relation_of, values = [], []
    at, n_kinds = 0, 0
    for r, (codes, size) in enumerate(zip(columns, sizes, strict=True)):
        block = _numbered(codes, value, n, kind[at : at + size])
        kind[at : at + size] += np.int32(n_kinds)
        relation_of.append(np.full(block.shape[1], r))
        values.append(np.zeros((widest, block.shape[1]), np.int64))
        values[-1][: len(block)] = block
        at, n_kinds = at + size, n_kinds + block.shape[1]
    return kind, np.concatenate(relation_of), np.concatenate(values, axis=1)


def _numbered(
    codes: Sequence[NDArray[np.int32]], value: Longs, n: int, kind: NDArray[np.int32]
) -> Longs:
    """The distinct facts of a relation in order of their values, which are returned, a column each;
    `kind` gets the number of each fact."""
    size = n ** len(codes)
    if size > _longest_table(len(kind)):
        rows = [value[column] for column in codes]
        kind[:], example = tb.numbered(tb.packed(rows))
        return np.stack(rows)[:, example]
    is_there = np.zeros(size, bool)
    for here, number in _numbers(codes, len(kind), value, n):
        kind[here] = number
        is_there[number] = True
    present = np.flatnonzero(is_there)
    place = np.empty(size, np.int32)
    place[present] = np.arange(len(present))
    for start in range(0, len(kind), tb.PIECE):
        here = slice(start, start + tb.PIECE)
        kind[here] = place[kind[here]]
    digits = [present // n ** (len(codes) - 1 - j) % n for j in range(len(codes))]
    return np.array(digits, np.int64).reshape(len(codes), len(present))


def _n_distinct(codes: Sequence[NDArray[np.int32]], n: int) -> int:
    """How many columns differ in these rows of codes below n."""
    size, n_facts = n ** len(codes), len(codes[0])
    if size > _longest_table(n_facts):
        return len(tb.distinct(tb.packed(codes)))
    is_there = np.zeros(size, bool)
    for _, number in _numbers(codes, n_facts, np.arange(n), n):
        is_there[number] = True
    return int(np.count_nonzero(is_there))


def _numbers(
    codes: Sequence[NDArray[np.int32]], n_facts: int, value: Longs, n: int
) -> Iterator[tuple[slice, Longs]]:
    """Some facts after the other, and the number that the values of each make to the base n."""
    for start in range(0, n_facts, tb.PIECE):
        here = slice(start, min(start + tb.PIECE, n_facts))
        number = np.zeros(here.stop - start, np.int64)
        for column in codes:
            number = number * n + value[column[here]]
        yield here, number


def _longest_table(n_facts: int) -> int:
    """How long a table may be that spares to sort so many facts."""
    return min(8 * n_facts + (1 << 16), (1 << 31) - 1)
