"""Compiled loops that follow the matches of a pattern from one step to the next.

All that later steps can see of the matches of a pattern in a sequence are the values of its
variables, the events that may still be linked to, and where its newest event may be. A row is
(block, word of the newest event, other events, values). Along one dimension whose sequences are
lines no event but the newest can ever be linked again, so no other is kept, and a step shifts the
word. Along several dimensions every event is kept, and the links of events are looked up.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.engines.bits._event_fact_kernels import (
    DIMENSION,
    FROM,
    N_STEPS,
    NONE,
    ONE,
    TO,
    agrees,
    constants_are_free,
    lowest_place,
    reading,
)

ALL_ROWS = 1 << 62  # no limit on the rows of a pattern
ROWS_AT_ONCE = 1 << 12  # that short loops go through


class Rows(NamedTuple):
    block: NDArray[np.int32]
    joins: NDArray[np.uint8]  # 1: of the sequence and the values of the row before
    word: NDArray[np.uint64]  # of the newest event, in that block
    events: NDArray[np.uint8]  # a row for each other event that is kept: its position
    values: NDArray[np.int32]  # a row for each variable that stands for a value


@by_reference
class Graph(NamedTuple):
    """How events are linked. D dimensions, T kinds of steps, K = D x T kinds of links."""

    is_line: bool  # one dimension, along which every sequence is a line of events
    dimensions: NDArray[np.int64]  # D
    steps: NDArray[np.int64]  # T: 0 is follow, 1 next
    words: NDArray[np.uint64]  # 2K x events: where a link leads, along and against; none for lines
    node_off: NDArray[np.int64]  # S+1
    most_blocks: int  # of a sequence


@inner_kernel
def room_for(n, n_events, n_values):
    """Rows that are to be filled in."""
    return Rows(
        np.empty(n, np.int32),
        np.zeros(n, np.uint8),
        np.empty(n, np.uint64),
        np.empty((n_events, n), np.uint8),
        np.empty((n_values, n), np.int32),
    )


@inner_kernel
def resized(rows, n, room):
    """The first n of some rows, with room for so many."""
    out = room_for(room, len(rows.events), len(rows.values))
    for i in range(n):
        out.block[i], out.joins[i], out.word[i] = rows.block[i], rows.joins[i], rows.word[i]
    for e in range(len(rows.events)):
        for i in range(n):
            out.events[e, i] = rows.events[e, i]
    for v in range(len(rows.values)):
        for i in range(n):
            out.values[v, i] = rows.values[v, i]
    return out


@kernel
def link_words(order, rank, first, last, node_off, steps, out):
    """For each kind of link the events that it leads to from an event, along and against.

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
                    low, high = (at + n, at + n + 1) if n else (at + 1, last[d, node] + 1)
                    for other in range(low, min(high, last[d, node] + 1)):
                        out[row, node] |= ONE << np.uint64(order[d, other] - node_off[s])
                    low, high = (at - n, at - n + 1) if n else (first[d, node], at)
                    for other in range(max(low, first[d, node]), high):
                        bit = ONE << np.uint64(order[d, other] - node_off[s])
                        out[n_kinds + row, node] |= bit


@kernel
def links_of(graph, before, step, extra):
    """The links of a step to the events of the pattern before it, as (kind, event).

    None where the step is about the newest event, or the first of a pattern. `extra` are further
    links of its new event: dimension, steps, from, to; a negative dimension ends them.
    """
    n_kinds = len(graph.dimensions) * len(graph.steps)
    out = np.empty((1 + len(extra), 2), np.int64)
    n, new = 0, step[TO]
    for i in range(1 + len(extra)):
        if i == 0:
            d, n_steps, start, to = step[DIMENSION], step[N_STEPS], step[FROM], step[TO]
        else:
            link = extra[i - 1]
            d, n_steps, start, to = link[0], link[1], link[2], link[3]
        if d < 0:
            break
        kind, k, e = 0, 0, 0
        while graph.dimensions[kind] != d:
            kind += 1
        while graph.steps[k] != n_steps:
            k += 1
        kind = kind * len(graph.steps) + k
        other = start if to == new else to
        while before.events[e] != other:
            e += 1
        out[n, 0], out[n, 1] = kind if to == new else n_kinds + kind, e
        n += 1
    return out[:n]


@inner_kernel
def shift_line(row_word, row_block, i, j, first_block, n_blocks, n, out):
    """Where n steps (0: any number) lead on a line, from rows i to j, into the words of `out`.

    Returns the first and the last block that may be reached, the latter plus one.
    """
    low = row_block[i] - first_block
    if n == 0:
        word = row_word[i]
        out[low] = word ^ (~word + ONE)
        for b in range(low + 1, n_blocks):
            out[b] = ~NONE
        return low, n_blocks
    far, near = n >> 6, np.uint64(n & 63)
    high = low
    for k in range(i, j):
        b = row_block[k] - first_block + far
        if b < n_blocks:
            out[b] |= row_word[k] << near
            high = max(high, b + 1)
        if near != NONE and b + 1 < n_blocks:
            out[b + 1] |= row_word[k] >> (np.uint64(64) - near)
            high = max(high, b + 2)
    return min(low + far, n_blocks), min(high, n_blocks)


@inner_kernel
def shifted(word, n):
    """Where n steps lead on a line of one block: 0 stands for any number, -1 for none."""
    if n > 0:
        return word << np.uint64(n) if n < 64 else NONE
    return word ^ (~word + ONE) if n == 0 and word != NONE else (word if n < 0 else NONE)


@inner_kernel
def facts_of(everywhere, admitted, row_block, places, words, n_places, hit_row, hit_fact, hit_word):
    """Which admitted facts hold at some places of rows, into the last three arrays; how many.

    A loop of its own: inside a longer one numba counts the users of its arrays at each turn.
    """
    m = np.int64(0)
    for k in range(n_places):
        i, to = places[k], words[k]
        b = np.uint64(row_block[i])
        for x in range(len(admitted)):
            at, g = np.uint64(m), np.uint64(admitted[x])
            hit_row[at], hit_fact[at] = i, g
            hit_word[at] = everywhere[g, b] & to
            m += hit_word[at] != NONE
    return m


@inner_kernel
def advance_table(facts, rows, begin, end, n_old, read, n_steps, most):
    """`advance` along lines of one block, where there is a table of the events of all facts.

    Rows are gone through several times, some at a time: short loops without branches, as it cannot
    be foretold which rows go on.
    """
    old, new, constants, admitted = read.old, read.new, read.constants, read.admitted
    n_new, single = len(new), len(admitted) == 1
    everywhere, fact_values = facts.everywhere, facts.values
    row_block, row_word, row_values = rows.block, rows.word, rows.values
    # The events of any admitted fact, in each block from the first to the last of the rows.
    low = np.int64(row_block[begin]) if begin < end else np.int64(0)
    high = np.int64(row_block[end - 1]) + 1 if begin < end else np.int64(0)
    somewhere = everywhere[admitted[0], low:high] if single else np.zeros(high - low, np.uint64)
    if not single:
        for g in admitted:
            one = everywhere[g, low:high]
            for i in range(len(one)):
                somewhere[i] |= one[i]
    size = min(end - begin, ROWS_AT_ONCE)
    places, words = np.empty(size, np.uint64), np.empty(size, np.uint64)
    hit_row, hit_word, hit_fact = places, words, np.empty(size if single else 0, np.uint64)
    for k in range(len(hit_fact)):
        hit_fact[k] = admitted[0]
    room, n = np.int64(0), np.int64(0)  # literals would be compiled apart
    block, joins, word, events, values = room_for(room, 0, n_old + n_new)
    while begin < end and n <= most:
        # Which rows have one of these events next.
        m = np.int64(0)
        stop = min(begin + ROWS_AT_ONCE, end)
        for i in range(np.uint64(begin), np.uint64(stop)):
            to = shifted(row_word[i], n_steps) & somewhere[np.uint64(row_block[i] - low)]
            places[np.uint64(m)], words[np.uint64(m)] = i, to
            m += to != NONE
        begin = stop
        if not single:  # which facts these are
            size = 1 + m * min(len(admitted), facts.most_entries)
            if size > len(hit_fact):
                hit_row, hit_word = np.empty(size, np.uint64), np.empty(size, np.uint64)
                hit_fact = np.empty(size, np.uint64)
            m = facts_of(
                everywhere, admitted, row_block, places, words, m, hit_row, hit_fact, hit_word
            )
        if n_old:  # those that agree with the values of the row, as `agrees` has it
            n_hits, m = m, np.int64(0)
            for x in range(n_hits):
                i, g, good = hit_row[x], hit_fact[x], True
                for p in range(len(old)):
                    good &= row_values[old[p, 1], i] == fact_values[old[p, 0], g]
                if facts.injective:
                    for v in range(n_old):
                        value = row_values[v, i]
                        for q in range(n_new):
                            good &= value != fact_values[new[q], g]
                        for c in range(len(constants)):
                            good &= value != constants[c]
                at = np.uint64(m)
                hit_row[at], hit_fact[at], hit_word[at] = i, g, hit_word[x]
                m += good
        if n + m > room:
            room = max(2 * room, n + m)
            made = resized(Rows(block, joins, word, events, values), n, room)
            block, joins, word, events, values = made
        for x in range(m):
            block[n + x], word[n + x] = row_block[hit_row[x]], hit_word[x]
        for v in range(n_old):
            for x in range(m):
                values[v, n + x] = row_values[v, hit_row[x]]
        for q in range(n_new):
            for x in range(m):
                values[n_old + q, n + x] = fact_values[new[q], hit_fact[x]]
        n += m
    made = Rows(block, joins, word, events, values)
    return resized(made, n, n) if n < room else made


@kernel
def advance(facts, graph, rows, begin, end, before, links, step, scratch, most):
    """What becomes of some rows of a pattern by one more step; of more than `most`, some.

    `links` are those of the step's new event to the events of the pattern, as `links_of` has them.
    """
    n_old = len(before.number)
    read = reading(facts, before, step)
    old, new, constants, admitted = read.old, read.new, read.constants, read.admitted
    n_new, injective = len(new), facts.injective
    single, is_line = len(admitted) == 1, graph.is_line
    about = len(links) == 0  # the newest event, or a first one
    somewhere, is_admitted, fact_values = scratch.somewhere, scratch.admitted, facts.values
    offset, fact_bits, fact_of = facts.offset, facts.bits, facts.fact
    block_off, words, node_off = facts.block_off, graph.words, graph.node_off
    row_block, row_word, row_joins = rows.block, rows.word, rows.joins
    row_events, row_values = rows.events, rows.values
    n_kept = len(row_events)
    keeps = not is_line and not about
    n_steps = graph.steps[links[0, 0]] if is_line and not about else 0
    if is_line and graph.most_blocks == 1 and len(facts.everywhere):
        n = np.int64(-1) if about else n_steps
        return advance_table(facts, rows, begin, end, n_old, read, n, most)
    one = admitted[0] if single else 0
    is_tabled = len(facts.everywhere) > 0
    if single and is_tabled:
        somewhere = facts.everywhere[one]
    elif single:
        for at in range(facts.posting_off[one], facts.posting_off[one + 1]):
            somewhere[facts.posting_block[at]] = facts.posting_bits[at]
    else:
        for g in admitted:
            is_admitted[g] = 1
    reached = np.zeros(graph.most_blocks + 1, np.uint64)
    hit_fact = np.empty(facts.most_entries + 1, np.int32)
    hit_block = np.empty(facts.most_entries + 1, np.int32)
    hit_bits = np.empty(facts.most_entries + 1, np.uint64)
    room = max(64, end - begin)
    block, joins, word, events, values = room_for(room, n_kept + keeps, n_old + n_new)
    n = np.int64(0)
    i = begin
    while i < end and n <= most and len(admitted):
        j = i + 1
        if is_line:
            while j < end and row_joins[j]:
                j += 1
        if injective and not constants_are_free(constants, row_values, i):
            i = j
            continue
        s = facts.sequence[row_block[i]]
        first_block = block_off[s]
        n_blocks = block_off[s + 1] - first_block
        rest = row_word[i] if keeps else ONE
        free = ~NONE
        if keeps and injective:
            for e in range(n_kept):
                free &= ~(ONE << np.uint64(row_events[e, i]))
        while rest != NONE:
            place = lowest_place(rest)
            rest &= rest - ONE
            low, high = 0, 1
            if keeps:
                to = free & ~(ONE << np.uint64(place)) if injective else free
                for q in range(len(links)):
                    e = links[q, 1]
                    other = np.int64(place) if e == n_kept else np.int64(row_events[e, i])
                    to &= words[links[q, 0], node_off[s] + other]
                reached[0] = to
            elif about:
                low, high = row_block[i] - first_block, row_block[j - 1] - first_block + 1
                for k in range(i, j):
                    reached[row_block[k] - first_block] = row_word[k]
            else:
                low, high = shift_line(
                    row_word, row_block, i, j, first_block, n_blocks, n_steps, reached
                )
            m = np.int64(0)  # a literal would be compiled apart
            for b in range(low, high):
                to = reached[b]
                reached[b] = NONE
                if to == NONE:
                    continue
                if single:
                    bits = somewhere[first_block + b] & to
                    if bits != NONE:
                        hit_fact[m], hit_block[m], hit_bits[m] = one, first_block + b, bits
                        m += 1
                    continue
                lowest = to & (~to + ONE)
                for at in range(offset[first_block + b], offset[first_block + b + 1]):
                    if fact_bits[at] < lowest:
                        break  # entries come in falling order of their words
                    bits = fact_bits[at] & to
                    if bits != NONE and is_admitted[fact_of[at]]:
                        hit_fact[m], hit_block[m], hit_bits[m] = fact_of[at], first_block + b, bits
                        m += 1
            if high - low > 1 and not single:
                sort_hits(hit_fact, hit_block, hit_bits, m)
            previous, good = np.int64(-1), True
            for h in range(m):
                g = np.int64(hit_fact[h])
                if g != previous:
                    good = agrees(old, new, fact_values, g, row_values, i, injective)
                if not good:
                    previous = g
                    continue
                if n == room:
                    room *= 2
                    made = resized(Rows(block, joins, word, events, values), n, room)
                    block, joins, word, events, values = made
                block[n], joins[n], word[n] = hit_block[h], g == previous, hit_bits[h]
                previous = g
                for e in range(n_kept):
                    events[e, n] = row_events[e, i]
                if keeps:
                    events[n_kept, n] = place
                for v in range(n_old):
                    values[v, n] = row_values[v, i]
                for q in range(n_new):
                    values[n_old + q, n] = fact_values[new[q], g]
                n += 1
        i = j
    if single and not is_tabled:
        for at in range(facts.posting_off[one], facts.posting_off[one + 1]):
            somewhere[facts.posting_block[at]] = NONE
    elif not single:
        for g in admitted:
            is_admitted[g] = 0
    made = Rows(block, joins, word, events, values)
    return resized(made, n, n) if is_line else together(made, n)


@inlined
def sort_hits(fact, block, bits, n):
    """Sort what was hit by facts, those of a fact by blocks, by ever smaller steps."""
    gap = n // 2
    while gap:
        for i in range(gap, n):
            f, b, w = fact[i], block[i], bits[i]
            k = i
            while k >= gap and (fact[k - gap] > f or (fact[k - gap] == f and block[k - gap] > b)):
                fact[k], block[k], bits[k] = fact[k - gap], block[k - gap], bits[k - gap]
                k -= gap
            fact[k], block[k], bits[k] = f, b, w
        gap //= 2


@inner_kernel
def together(rows, n):
    """The first n of some rows, so that those of a sequence with the same values come together."""
    block, word, events, values = rows.block, rows.word, rows.events, rows.values
    n_values = len(values)
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    out = room_for(n, len(events), n_values)
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and block[end] == block[begin]:
            end += 1
        gap = (end - begin) // 2 if n_values else 0
        while gap:  # sort, by ever smaller steps
            for i in range(begin + gap, end):
                row = order[i]
                k = i
                while k >= begin + gap:
                    other = order[k - gap]
                    less = False
                    for v in range(n_values):
                        if values[v, row] != values[v, other]:
                            less = values[v, row] < values[v, other]
                            break
                    if not less:
                        break
                    order[k] = other
                    k -= gap
                order[k] = row
            gap //= 2
        for i in range(begin + 1, end):
            out.joins[i] = 1
            for v in range(n_values):
                if values[v, order[i]] != values[v, order[i - 1]]:
                    out.joins[i] = 0
        begin = end
    for i in range(n):
        row = order[i]
        out.block[i], out.word[i] = block[row], word[row]
        for e in range(len(events)):
            out.events[e, i] = events[e, row]
        for v in range(n_values):
            out.values[v, i] = values[v, row]
    return out
