"""Compiled loops that match patterns along several dimensions.

A sequence has at most 64 events, each dimension is a set of paths. A row stands for the matches of
a pattern that agree in the sequence, the values and all events but the newest; a word of bits says
where that may be.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._alphabet_kernels import (
    NONE,
    ONE,
    agrees,
    constants_are_free,
    facts_here,
    longer,
    reading,
    wider,
)


class Web(NamedTuple):
    """How events are linked, and what is asked for. K kinds of link, each along and against."""

    words: NDArray[np.uint64]  # 2K x N: the events that a link of a kind leads to from a node
    node_off: NDArray[np.int64]  # S+1
    spoken_of: NDArray[np.uint64]  # S: the events that have facts
    labels: NDArray[np.int64]
    least: NDArray[np.int64]  # smallest support of a class that suffices
    min_frequency: int
    injective: bool


class Rows(NamedTuple):
    sequence: NDArray[np.int64]
    events: NDArray[np.uint8]  # a row for each event but the newest: its place in the sequence
    word: NDArray[np.uint64]  # of the newest
    values: NDArray[np.int64]  # a row for each variable that stands for a value


@njit(inline="always")
def lowest_place(word):
    """The place of the lowest bit of a word that is not zero."""
    low = word & (~word + ONE)
    place = 0
    if low & np.uint64(0xFFFFFFFF) == NONE:
        place += 32
    if low & np.uint64(0x0000FFFF0000FFFF) == NONE:
        place += 16
    if low & np.uint64(0x00FF00FF00FF00FF) == NONE:
        place += 8
    if low & np.uint64(0x0F0F0F0F0F0F0F0F) == NONE:
        place += 4
    if low & np.uint64(0x3333333333333333) == NONE:
        place += 2
    if low & np.uint64(0x5555555555555555) == NONE:
        place += 1
    return place


@njit(cache=True, nogil=True)
def n_places(rows):
    """The places of the newest event in all rows."""
    n = 0
    for word in rows.word:
        while word != NONE:
            word &= word - ONE
            n += 1
    return n


@njit(cache=True, nogil=True)
def advance(alphabet, web, rows, before, lane, links, step, most):
    """The rows of a pattern after one more step, by a lane; of more than `most` only some."""
    n_old = len(before.number)
    read = reading(alphabet, before, step)
    old, new, constants = read.old, read.new, read.constants
    able, marks, n_new = read.able, read.marks, len(new)
    everywhere, ground_values = alphabet.everywhere, alphabet.ground_values
    offset, fact_bits, ground = alphabet.offset, alphabet.bits, alphabet.ground
    facts = np.empty(len(alphabet.ground_relation), np.int64)
    places = np.empty(len(alphabet.ground_relation), np.uint64)
    old_sequence, old_events, old_word, old_values = (
        rows.sequence,
        rows.events,
        rows.word,
        rows.values,
    )
    newest = len(old_events)
    about = lane[0] < 0
    n_events = newest if about else newest + 1
    injective = web.injective
    words, node_off = web.words, web.node_off
    here = np.zeros(newest + 1, np.int64)
    size = max(64, 2 * len(old_sequence))
    sequence = np.empty(size, np.int64)
    events = np.empty((n_events, size), np.uint8)
    word = np.empty(size, np.uint64)
    values = np.empty((n_old + n_new, size), np.int64)
    n = 0
    for i in range(len(old_sequence)):
        s = old_sequence[i]
        if n > most:
            break
        if injective and not constants_are_free(constants, old_values, i):
            continue
        base = node_off[s]
        free = web.spoken_of[s]
        for e in range(newest):
            here[e] = base + old_events[e, i]
            if injective:
                free &= ~(ONE << np.uint64(old_events[e, i]))
        rest = old_word[i]
        while rest != NONE:
            low = rest & (~rest + ONE)
            if about:
                # Facts about the newest event narrow its word; others leave it.
                to = rest if lane[1] == newest else ONE << np.uint64(old_events[lane[1], i])
            else:
                here[newest] = base + lowest_place(rest)
                to = free & ~low if injective else free
                for q in range(len(lane)):
                    p = lane[q]
                    if p < 0:
                        break
                    to &= words[links[p, 0], here[links[p, 1]]]
            if to != NONE:
                m = facts_here(
                    to, s, able, marks, offset, fact_bits, ground, everywhere, facts, places
                )
                for a in range(m):
                    g = facts[a]
                    if not agrees(old, new, ground_values, g, old_values, i, injective):
                        continue
                    if n == size:
                        sequence, word = longer(sequence), longer(word)
                        events, values = wider(events), wider(values)
                        size *= 2
                    sequence[n] = s
                    word[n] = places[a]
                    for e in range(newest):
                        events[e, n] = old_events[e, i]
                    if not about:
                        events[newest, n] = lowest_place(low)
                    elif lane[1] != newest:
                        word[n] = rest
                    for v in range(n_old):
                        values[v, n] = old_values[v, i]
                    for q in range(n_new):
                        values[n_old + q, n] = ground_values[new[q], g]
                    n += 1
            if about:
                break
            rest &= ~low
    return Rows(sequence[:n].copy(), events[:, :n].copy(), word[:n].copy(), values[:, :n].copy())


@njit(cache=True, nogil=True)
def mark_covered(alphabet, web, rows, before, lanes, links, steps, places, out):
    """Mark the sequences in which a pattern has a match after one more step, as by `advance`.

    There are several steps from the same pattern, by a lane each; what is covered by one is marked
    in its row of `out`.
    """
    for k in range(len(steps)):
        mark_step(alphabet, web, rows, before, lanes[k], links, steps[k], out[places[k]])


@njit(cache=True, nogil=True)
def mark_step(alphabet, web, rows, before, lane, links, step, out):
    """`mark_covered` for one step."""
    read = reading(alphabet, before, step)
    old, new, constants, able = read.old, read.new, read.constants, read.able
    everywhere, ground_values = alphabet.everywhere, alphabet.ground_values
    sequence, events, word, values = rows.sequence, rows.events, rows.word, rows.values
    newest, about, injective = len(events), lane[0] < 0, web.injective
    words, node_off, spoken_of = web.words, web.node_off, web.spoken_of
    for i in range(len(sequence)):
        s = sequence[i]
        if out[s] or (injective and not constants_are_free(constants, values, i)):
            continue
        base = node_off[s]
        free = spoken_of[s]
        if injective:
            for e in range(newest):
                free &= ~(ONE << np.uint64(events[e, i]))
        rest = word[i]
        while rest != NONE and not out[s]:
            low = rest & (~rest + ONE)
            if about:
                to = rest if lane[1] == newest else ONE << np.uint64(events[lane[1], i])
                rest = NONE
            else:
                rest &= ~low
                to = free & ~low if injective else free
                for q in range(len(lane)):
                    p = lane[q]
                    if p < 0:
                        break
                    e = links[p, 1]
                    place = lowest_place(low) if e == newest else np.int64(events[e, i])
                    to &= words[links[p, 0], base + place]
            if to == NONE:
                continue
            for g in able:
                if everywhere[g, s] & to != NONE and agrees(
                    old, new, ground_values, g, values, i, injective
                ):
                    out[s] = True
                    break


@njit(cache=True, nogil=True)
def close(web, rows, kind, n_kinds, x, y):
    """The rows of a pattern after one more link, from event x to event y of those it has."""
    sequence, events, word, values = rows.sequence, rows.events, rows.word, rows.values
    newest = len(events)
    kept = np.empty(len(sequence), np.int64)
    narrowed = np.empty(len(sequence), np.uint64)
    n = 0
    for i in range(len(sequence)):
        base = web.node_off[sequence[i]]
        to = word[i]
        if x == y:
            to = NONE  # no path leads back to an event
        elif y == newest:
            to &= web.words[kind, base + events[x, i]]
        elif x == newest:
            to &= web.words[n_kinds + kind, base + events[y, i]]
        elif (web.words[kind, base + events[x, i]] >> np.uint64(events[y, i])) & ONE == NONE:
            to = NONE
        if to != NONE:
            kept[n], narrowed[n] = i, to
            n += 1
    new_events = np.empty((newest, n), np.uint8)
    new_values = np.empty((len(values), n), np.int64)
    new_sequence = np.empty(n, np.int64)
    for i in range(n):
        new_sequence[i] = sequence[kept[i]]
        for e in range(newest):
            new_events[e, i] = events[e, kept[i]]
        for v in range(len(values)):
            new_values[v, i] = values[v, kept[i]]
    return Rows(new_sequence, new_events, narrowed[:n].copy(), new_values)


@njit(cache=True, nogil=True)
def link_words(order, rank, first, last, node_off, steps, out):
    """For each kind of link the events that it leads to from a node, along and against.

    `order`, `rank`, `first` and `last` are the paths of each dimension, as for the matcher; row
    (dimension, step) of `out` is along, that plus half of the rows against.
    """
    n_dimensions, n_kinds = len(order), len(order) * len(steps)
    for s in range(len(node_off) - 1):
        for node in range(node_off[s], node_off[s + 1]):
            for d in range(n_dimensions):
                at = rank[d, node]
                for k in range(len(steps)):
                    row, n = d * len(steps) + k, steps[k]
                    if n:
                        if at + n <= last[d, node]:
                            out[row, node] |= ONE << np.uint64(order[d, at + n] - node_off[s])
                        if at - n >= first[d, node]:
                            bit = ONE << np.uint64(order[d, at - n] - node_off[s])
                            out[n_kinds + row, node] |= bit
                        continue
                    for other in range(at + 1, last[d, node] + 1):
                        out[row, node] |= ONE << np.uint64(order[d, other] - node_off[s])
                    for other in range(first[d, node], at):
                        bit = ONE << np.uint64(order[d, other] - node_off[s])
                        out[n_kinds + row, node] |= bit
