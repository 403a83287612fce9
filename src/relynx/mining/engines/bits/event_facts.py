"""Facts about one event each, as the bit-parallel engine and matcher read them.

It takes predicates with one event argument and modes that do not depend on the order in which atoms
are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from relynx.logic import tables as tb
from relynx.mining.engines.base import Conditions, Longs
from relynx.mining.engines.bits import _event_fact_kernels as ek
from relynx.mining.engines.bits import _row_kernels as rk
from relynx.mining.engines.compiled import Compiled, places_among

MOST_ARGUMENTS = 8
MOST_CODES = 1 << 61
MOST_WORDS = 1 << 22  # for each fact and each block one: 32 megabytes


def speaks_of_events(compiled: Compiled, conditions: Conditions, *, object_identity: bool) -> bool:
    """Do the facts speak of one event each, and may atoms be added in any order?"""
    index = compiled.index
    if not compiled.relations:
        return False
    signs: dict[int, set[str]] = {}
    for key, types, modes in zip(compiled.relations, compiled.types, compiled.modes, strict=True):
        events = [j for j, t in enumerate(types) if t == compiled.event_type]
        if len(events) != 1 or len(modes) != 1 or len(types) > MOST_ARGUMENTS:
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
    most_old = most_variables(compiled, conditions)
    # A value is written as a constant, a new variable, one that it repeats, or an old one that has
    # it, of which there is at most one under Object Identity.
    written = 2 if object_identity else most_old + 2
    ways = max(prod(written + j for j in range(len(types) - 1)) for types in compiled.types)
    few = most_old < ek.MOST_VARIABLES - 2 and ways <= ek.MOST_WAYS
    return few and _n_codes(compiled, most_old) < MOST_CODES


def most_variables(compiled: Compiled, conditions: Conditions) -> int:
    """No pattern has more variables that stand for values."""
    return conditions.max_length * max(len(types) - 1 for types in compiled.types)


def _n_codes(compiled: Compiled, n_old: int) -> int:
    """How many ways there are to write an atom after n_old variables that stand for values."""
    return sum(
        prod(
            n_old + len(types) + len(compiled.constants[t])
            for t in types
            if t != compiled.event_type
        )
        for types in compiled.types
    )


def event_facts(
    compiled: Compiled, labels: NDArray[np.int64], n_classes: int, most_old: int, *, injective: bool
) -> ek.EventFacts:
    """The facts of all sequences.

    `most_old` is the largest number of variables for values that a pattern may have.
    """
    index = compiled.index
    events = [types.index(compiled.event_type) for types in compiled.types]
    columns = [
        [index.facts.tables[key][1 + j] for j in range(key[1]) if j != event]
        for key, event in zip(compiled.relations, events, strict=True)
    ]
    is_used = np.zeros(index.n_constants, bool)
    for codes in [*compiled.constants, *chain.from_iterable(columns)]:
        is_used[codes] = True
    all_codes = np.flatnonzero(is_used)
    value = np.full(index.n_constants, -1, np.int64)
    value[all_codes] = np.arange(len(all_codes))
    sizes = [index.facts.tables[key].shape[1] for key in compiled.relations]
    fact, fact_off, values = _distinct(columns, sizes, value, len(all_codes))
    n_facts = int(fact_off[-1])
    relation = np.repeat(np.arange(len(sizes)), np.diff(fact_off))
    entries, several = _entries(compiled, events, fact, n_facts)
    arity, types, signs = _arguments(compiled, events)
    n_constants = np.array(
        [
            len(compiled.constants[t]) if sign in "#*" else 0
            for t, sign in zip(types.tolist(), signs, strict=True)
        ],
        np.int64,
    )
    argument0 = np.cumsum(arity) - arity
    # The values of each fact side by side, and one that is none where it has fewer.
    padded = np.where(np.arange(len(values))[:, None] < arity[relation], values, len(all_codes))
    return ek.EventFacts(
        **entries,
        sequence=np.repeat(np.arange(len(labels), dtype=np.int32), np.diff(entries["block_off"])),
        labels=labels,
        fact_off=fact_off,
        relation=relation,
        values=values,
        padded=np.ascontiguousarray(padded.T, np.uint64).ravel(),
        digit=_digits(compiled, relation, values, all_codes, arity, argument0, types, n_constants),
        arity=arity,
        argument0=argument0,
        event=np.array(events, np.int64),
        types=types,
        old=np.array([sign == "*" for sign in signs], np.uint8),
        new=np.array([sign in "*-" for sign in signs], np.uint8),
        n_constants=n_constants,
        constants=np.concatenate([np.empty(0, np.int64), *compiled.constants]),
        constant_off=np.cumsum([0, *map(len, compiled.constants)]),
        code=all_codes.astype(np.int64),
        value=value,
        starts=_starts(arity, n_constants, most_old),
        n_classes=n_classes,
        about_newest=not injective or several,
        is_plain=all(sign == "#" for sign in signs),
        injective=injective,
    )


def link_graph(compiled: Compiled, facts: ek.EventFacts, steps: Longs) -> rk.Graph:
    """The links between events by so many steps, in the dimensions of a bias."""
    index = compiled.index
    is_line, chosen = compiled.is_line, compiled.dimension_paths
    words = np.zeros(
        (0, 0) if is_line else (2 * len(chosen) * len(steps), index.n_nodes), np.uint64
    )
    if not is_line:
        order, rank, first, last = (
            np.stack([getattr(d, name) for d in chosen])
            for name in ("order", "rank", "first", "last")
        )
        rk.link_words(order, rank, first, last, index.node_off, steps, words)
    return rk.Graph(
        is_line=is_line,
        dimensions=np.array(compiled.dimensions, np.int64),
        steps=steps,
        words=words,
        node_off=index.node_off,
        most_blocks=int(np.diff(facts.block_off).max(initial=1)),
    )


def has_room(compiled: Compiled, n_steps: int, most_words: int) -> bool:
    """Are there lines, or paths that are short enough for words of links?"""
    index, n_links = compiled.index, 2 * len(compiled.dimensions) * n_steps
    is_short = index.longest <= 64 and n_links * index.n_nodes <= most_words
    return compiled.is_line or (is_short and not compiled.has_graphs)


def everywhere(facts: ek.EventFacts) -> rk.Rows:
    """The pattern of no atoms: its newest event may be any that facts speak of."""
    n = len(facts.sequence)
    joins = np.zeros(n, np.uint8)
    joins[1:] = np.diff(facts.sequence) == 0
    return rk.Rows(
        np.arange(n, dtype=np.int32),
        joins,
        facts.spoken_of,
        np.empty((0, n), np.uint8),
        np.empty((0, n), np.int32),
    )


def scratch(facts: ek.EventFacts) -> ek.Scratch:
    """Room for the loops of one thread."""
    n_values, n_facts = len(facts.code) + 1, len(facts.relation)
    return ek.Scratch(
        np.zeros(n_values, np.uint64),
        np.zeros(n_values, np.uint64),
        np.zeros(n_values, np.uint8),
        np.zeros(n_facts, np.uint8),
        np.zeros(len(facts.sequence), np.uint64),
        np.zeros((ek.MOST_VARIABLES, ek.MOST_VARIABLES + 2), np.int64),
        np.zeros(ek.MOST_VARIABLES, np.int64),
        np.zeros(ek.MOST_WAYS, np.int64),
        np.zeros(ek.MOST_VARIABLES, np.int64),
        np.zeros(ek.MOST_VARIABLES, np.int64),
    )


def _entries(
    compiled: Compiled, events: Sequence[int], fact: NDArray[np.int32], n_facts: int
) -> tuple[dict[str, Any], bool]:
    """Where facts hold, indexed both ways, as fields of `EventFacts`; whether an event has several.

    `fact` is the number of each fact."""
    index = compiled.index
    block_off = np.cumsum([0, *np.maximum(-(-np.diff(index.node_off) // 64), 1)])
    n_blocks = int(block_off[-1])
    offset, spoken_of = np.zeros(n_blocks + 1, np.int64), np.zeros(n_blocks, np.uint64)
    entry, bits = np.empty(len(fact), np.int32), np.empty(len(fact), np.uint64)
    keys = compiled.relations
    nodes = [index.relation(key).cells[e] for key, e in zip(keys, events, strict=True)]
    sequences = [index.facts.tables[key][0] for key in keys]
    facts = fact, np.concatenate(nodes), np.concatenate(sequences)
    n, several, most_entries = ek.sort_entries(
        *facts, index.node_off, block_off, offset, entry, bits, spoken_of
    )
    entry, bits = entry[:n].copy(), bits[:n].copy()
    postings = csr_array((bits, entry, offset), (n_blocks, n_facts)).tocsc()
    posting_off = postings.indptr.astype(np.int64)
    posting_block, posting_bits = postings.indices.astype(np.int32), postings.data
    everywhere = np.empty((0, 0), np.uint64)  # the postings as a table, unless that is too large
    if n_facts * n_blocks <= MOST_WORDS:
        everywhere = np.zeros((n_facts, n_blocks), np.uint64)
        rows = np.repeat(np.arange(n_facts), np.diff(posting_off))
        everywhere[rows, posting_block] = posting_bits
    fields = {
        "block_off": block_off,
        "spoken_of": spoken_of,
        "offset": offset,
        "bits": bits,
        "fact": entry,
        "posting_off": posting_off,
        "posting_block": posting_block,
        "posting_bits": posting_bits,
        "everywhere": everywhere,
        "most_entries": int(most_entries),
    }
    return fields, bool(several)


def _arguments(compiled: Compiled, events: Sequence[int]) -> tuple[Longs, Longs, list[str]]:
    """The number of values of each relation, and the types and modes of all of them."""
    arity = np.array([len(types) - 1 for types in compiled.types], np.int64)
    types, signs = [], []
    for event, own, modes in zip(events, compiled.types, compiled.modes, strict=True):
        types += [t for j, t in enumerate(own) if j != event]
        signs += [sign for j, sign in enumerate(modes[0]) if j != event]
    return arity, np.array(types, np.int64), signs


def _starts(arity: Longs, n_constants: Longs, most_old: int) -> Longs:
    """Where the codes of each relation start, for each number of variables for values."""
    ways = np.split(1 + np.repeat(arity, arity) + n_constants, np.cumsum(arity)[:-1])
    sizes = [[0, *(prod((n + way).tolist()) for way in ways)] for n in range(most_old + 1)]
    return np.cumsum(np.array(sizes, np.int64), axis=1)


def _digits(
    compiled: Compiled,
    relation: Longs,
    values: Longs,
    codes: Longs,
    arity: Longs,
    argument0: Longs,
    types: Longs,
    n_constants: Longs,
) -> Longs:
    """Of each value of each fact the position among the constants that the bias admits, or -1."""
    digit = np.full(values.shape, -1, np.int64)
    for j in range(len(values)):
        has = np.flatnonzero(arity[relation] > j)
        argument = argument0[relation[has]] + j
        for t in np.unique(types[argument]).tolist():
            here = has[(types[argument] == t) & (n_constants[argument] > 0)]
            digit[j, here] = places_among(compiled.constants[t], codes[values[j, here]])
    return digit


def _distinct(
    columns: Sequence[Sequence[NDArray[np.int32]]], sizes: Sequence[int], value: Longs, n: int
) -> tuple[NDArray[np.int32], Longs, Longs]:
    """Facts that differ in their events only are one: the number of each, where those of each
    relation start, and their values.

    The columns of each relation hold codes, which `value` turns into numbers below n.
    """
    widest = max([1, *map(len, columns)])
    fact = np.empty(sum(sizes), np.int32)
    fact_off, values = [0], []
    at = 0
    for codes, size in zip(columns, sizes, strict=True):
        here = fact[at : at + size]
        if codes:
            block = _numbered(codes, value, n, here)
            here += np.int32(fact_off[-1])
            values.append(np.zeros((widest, block.shape[1]), np.int64))
            values[-1][: len(block)] = block
        else:
            here[:] = fact_off[-1]
            values.append(np.zeros((widest, int(size > 0)), np.int64))
        at += size
        fact_off.append(fact_off[-1] + values[-1].shape[1])
    return fact, np.array(fact_off, np.int64), np.concatenate(values, axis=1)


def _numbered(
    codes: Sequence[NDArray[np.int32]], value: Longs, n: int, number: NDArray[np.int32]
) -> Longs:
    """The distinct facts of a relation in order of their values, which are returned, a column each;
    `number` gets that of each fact."""
    size = n ** len(codes)
    if size > _longest_table(len(number)):
        rows = [value[column] for column in codes]
        number[:], example = tb.numbered(tb.packed(rows))
        return np.stack(rows)[:, example]
    is_there = np.zeros(size, bool)
    pieces = [slice(i, i + tb.PIECE) for i in range(0, len(number), tb.PIECE)]
    for here in pieces:
        packed = value[codes[0][here]]
        for column in codes[1:]:
            packed = packed * n + value[column[here]]
        number[here] = packed
        is_there[packed] = True
    present = np.flatnonzero(is_there)
    place = np.empty(size, np.int32)
    place[present] = np.arange(len(present))
    for here in pieces:
        number[here] = place[number[here]]
    digits = [present // n ** (len(codes) - 1 - j) % n for j in range(len(codes))]
    return np.array(digits, np.int64).reshape(len(codes), len(present))


def _longest_table(n_facts: int) -> int:
    """How long a table may be that spares to sort so many facts."""
    return min(8 * n_facts + (1 << 16), (1 << 31) - 1)
