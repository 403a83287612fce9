"""Compiled loops that count the refinements of a pattern along several dimensions.

Its matches are rows, as in `_web_match_kernels`. A *lane* is a way to refine: a fact about an old
event, or a new event with all its links to old ones, so that links between two old events need
never be looked for later.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._alphabet_kernels import NONE, ONE, bases, longer, tallied, ways
from relynx.mining.matching._web_match_kernels import lowest_place

MOST_LANES = 62  # that are counted at a time
MOST_STATES = 1 << 20  # of the holders of a fact's values


class Counts(NamedTuple):
    """Counters of atoms by their codes, for some lanes at once."""

    last: NDArray[np.int32]  # the last sequence in which a code was seen, -1 for none
    shown: NDArray[np.uint64]  # the lanes in which it was seen there, as bits
    ever: NDArray[np.uint64]  # the lanes in which it was seen at all
    supports: NDArray[np.int32]  # codes x lanes x classes
    touched: NDArray[np.int64]


@njit(cache=True, nogil=True)
def groups(rows):
    """The rows in an order in which those of a sequence with the same values stand together, and
    where each group begins."""
    sequence, values = rows.sequence, rows.values
    n, n_values = len(sequence), len(values)
    order = np.arange(n)
    starts = np.empty(n + 1, np.int64)
    n_groups = 0
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and sequence[end] == sequence[begin]:
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
        for i in range(begin, end):
            fresh = i == begin
            if not fresh:
                for v in range(n_values):
                    if values[v, order[i]] != values[v, order[i - 1]]:
                        fresh = True
                        break
            if fresh:
                starts[n_groups] = i
                n_groups += 1
        begin = end
    starts[n_groups] = n
    return order, starts[: n_groups + 1].copy()


class LaneSearch(NamedTuple):
    """A search for ways to link a new event, which goes on where it was left.

    Its columns are matches with one place for each event.
    """

    nodes: NDArray[np.int32]  # a row for each event
    owner: NDArray[np.int32]  # sequence
    active: NDArray[np.int32]  # for each number of links the matches that have them
    room: NDArray[np.uint64]  # and the places that these leave for the new event
    n_active: NDArray[np.int64]
    chosen: NDArray[np.int64]  # links
    at: NDArray[np.int64]  # how many are chosen, the next to try or -1 at the end, lanes found


def lane_bytes(n_events: int, depth_most: int) -> int:
    """What a match with one place for each event takes in a search for lanes."""
    return 4 * (n_events + 1) + 12 * (depth_most + 1)


@njit(cache=True, nogil=True)
def lane_search(web, rows, depth_most, total):
    """The beginning of a search; `total` are the places of the newest event in all rows."""
    sequence, events, word = rows.sequence, rows.events, rows.word
    n_old = len(events)  # number of the newest event
    nodes = np.empty((n_old + 1, total), np.int32)
    owner = np.empty(total, np.int32)
    active = np.empty((depth_most + 1, total), np.int32)
    room = np.empty((depth_most + 1, total), np.uint64)
    n_active = np.zeros(depth_most + 1, np.int64)
    n = 0
    for i in range(len(sequence)):
        s = sequence[i]
        base = web.node_off[s]
        free = web.spoken_of[s]
        if web.injective:
            for e in range(n_old):
                free &= ~(ONE << np.uint64(events[e, i]))
        w = word[i]
        while w != NONE:
            place = lowest_place(w)
            w &= w - ONE
            for e in range(n_old):
                nodes[e, n] = base + events[e, i]
            nodes[n_old, n] = base + place
            owner[n] = s
            here = free & ~(ONE << np.uint64(place)) if web.injective else free
            if here != NONE:
                active[0, n_active[0]] = n
                room[0, n_active[0]] = here
                n_active[0] += 1
            n += 1
    chosen = np.full(depth_most + 1, -1, np.int64)
    return LaneSearch(nodes, owner, active, room, n_active, chosen, np.zeros(3, np.int64))


@njit(cache=True, nogil=True)
def find_lanes(web, search, links, lanes, most, looks):
    """Ways to link a new event, as rows of numbers of `links` (-1 for none), and how many so far.

    `links` are (kind, event, slot, leads here): slots are the places of a new event's links, at
    most one for each dimension and direction, in rising order; links that lead to the new event
    come first. Kept are all single links that occur, and those sets of which some class has
    enough sequences, whatever the facts of the new event are. Each comes after the set without
    its last link.

    It stops after so many looks at matches; where there are more than `most` lanes the number
    is -1.
    """
    nodes, owner, active, room = search.nodes, search.owner, search.active, search.room
    n_active, chosen = search.n_active, search.chosen
    labels, words = web.labels, web.words
    n_classes = len(web.least)
    supports = np.zeros(n_classes, np.int64)
    depth, p, n_lanes = search.at
    looked = 0
    while looked < looks:
        if p == len(links) or (depth == 0 and not links[p, 3]):
            if depth == 0:
                p = -1
                break
            depth -= 1
            p = chosen[depth] + 1
            continue
        if depth > 0 and links[p, 2] <= links[chosen[depth - 1], 2]:
            p += 1
            continue
        along, at = words[links[p, 0]], nodes[links[p, 1]]
        for c in range(n_classes):
            supports[c] = 0
        frequency = 0
        last = -1
        m = 0
        before, before_room = active[depth], room[depth]
        after, after_room = active[depth + 1], room[depth + 1]
        looked += n_active[depth]
        for a in range(n_active[depth]):
            x = before[a]
            here = before_room[a] & along[at[x]]
            if here != NONE:
                after[m] = x
                after_room[m] = here
                m += 1
                if owner[x] != last:
                    last = owner[x]
                    supports[labels[last]] += 1
                    frequency += 1
        good = depth == 0 and frequency > 0
        if not good and frequency >= web.min_frequency:
            for c in range(n_classes):
                good = good or supports[c] >= web.least[c]
        if not good:
            p += 1
            continue
        n_active[depth + 1] = m
        chosen[depth] = p
        if n_lanes == len(lanes):
            if n_lanes >= most:
                return lanes, -1
            more = np.full((2 * n_lanes, lanes.shape[1]), -1, np.int64)
            for i in range(n_lanes):
                for d in range(lanes.shape[1]):
                    more[i, d] = lanes[i, d]
            lanes = more
        for d in range(depth + 1):
            lanes[n_lanes, d] = chosen[d]
        n_lanes += 1
        depth += 1
        p += 1
    search.at[0], search.at[1], search.at[2] = depth, p, n_lanes
    return lanes, n_lanes


@njit(cache=True, nogil=True)
def count_lanes(alphabet, web, rows, order, starts, now, links, lanes, counts, scratch, n):
    """Count the facts that each lane admits, in some groups; how many codes were touched so far.

    A lane is a row of numbers of `links`, or (-1, event) for facts about an old event. Before it
    were `n`; when all groups are done, `last` of those that were touched is to be set to -1.
    """
    n_old = len(now.number)
    bases_ = bases(alphabet, n_old)
    holders, holder, taboo = scratch.holders, scratch.holder, scratch.taboo
    options, n_options, codes, pool = (
        scratch.options,
        scratch.n_options,
        scratch.codes,
        scratch.pool,
    )
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 1
    n_facts = len(alphabet.ground_relation)
    widest = 0
    for r in range(len(alphabet.arity)):
        widest = max(widest, alphabet.arity[r])
    n_states = n_facts * (n_old + 1) ** widest
    if not alphabet.injective or n_states > MOST_STATES:
        n_states = 0
    kept = np.full(n_states, -1, np.int32)
    n_pool = 0
    offset, fact_bits, ground = alphabet.offset, alphabet.bits, alphabet.ground
    ground_relation, ground_values, arity = (
        alphabet.ground_relation,
        alphabet.ground_values,
        alphabet.arity,
    )
    sequence, events, word, values = rows.sequence, rows.events, rows.word, rows.values
    newest = len(events)
    labels, words, node_off = web.labels, web.words, web.node_off
    spoken_of, injective = web.spoken_of, web.injective
    last, shown, ever = counts.last, counts.shown, counts.ever
    supports, touched = counts.supports, counts.touched
    n_lanes = len(lanes)
    reached = np.zeros(n_lanes, np.uint64)
    here = np.zeros(newest + 1, np.int64)
    ways_in = np.zeros(64, np.uint64)  # place -> the lanes that lead there
    for group in range(len(starts) - 1):
        first = order[starts[group]]
        s = sequence[first]
        label = labels[s]
        base = node_off[s]
        for lane in range(n_lanes):
            reached[lane] = NONE
        for at in range(starts[group], starts[group + 1]):
            i = order[at]
            free = spoken_of[s]
            for e in range(newest):
                here[e] = base + events[e, i]
                if injective:
                    free &= ~(ONE << np.uint64(events[e, i]))
            w = word[i]
            while w != NONE:
                place = lowest_place(w)
                w &= w - ONE
                here[newest] = base + place
                mine = free & ~(ONE << np.uint64(place)) if injective else free
                for lane in range(n_lanes):
                    if lanes[lane, 0] < 0:
                        reached[lane] |= ONE << np.uint64(here[lanes[lane, 1]] - base)
                        continue
                    to = mine
                    for q in range(lanes.shape[1]):
                        p = lanes[lane, q]
                        if p < 0 or to == NONE:
                            break
                        to &= words[links[p, 0], here[links[p, 1]]]
                    reached[lane] |= to
        any_word = NONE
        for lane in range(n_lanes):
            w = reached[lane]
            any_word |= w
            while w != NONE:
                ways_in[lowest_place(w)] |= ONE << np.uint64(lane)
                w &= w - ONE
        if any_word == NONE:
            continue
        for v in range(n_old):
            holders[values[v, first]] |= ONE << np.uint64(v)
            holder[values[v, first]] = v + 1
        for at in range(offset[s], offset[s + 1]):
            w = fact_bits[at] & any_word
            hits = NONE
            while w != NONE:
                hits |= ways_in[lowest_place(w)]
                w &= w - ONE
            if hits == NONE:
                continue
            g = ground[at]
            if n_states:
                state = g
                for j in range(arity[ground_relation[g]]):
                    state = state * (n_old + 1) + holder[ground_values[j, g]]
                for _ in range(arity[ground_relation[g]], widest):
                    state *= n_old + 1
                if kept[state] < 0:
                    m = ways(alphabet, g, now, holders, taboo, bases_, options, n_options, codes)
                    while n_pool + m + 1 > len(pool):
                        pool = longer(pool)
                    kept[state] = n_pool
                    pool[n_pool] = m
                    for c in range(m):
                        pool[n_pool + 1 + c] = codes[c]
                    n_pool += m + 1
                begin = kept[state] + 1
                n_codes = np.int64(pool[begin - 1])
            else:
                begin = 0
                n_codes = ways(alphabet, g, now, holders, taboo, bases_, options, n_options, codes)
                for c in range(n_codes):
                    pool[c] = codes[c]
            for c in range(begin, begin + n_codes):
                code = np.int64(pool[c])
                fresh = hits
                if last[code] == s:
                    fresh &= ~shown[code]
                    if fresh == NONE:
                        continue
                    shown[code] |= fresh
                else:
                    if last[code] < 0:
                        touched[n] = code
                        n += 1
                        ever[code] = NONE
                    last[code] = s
                    shown[code] = fresh
                unseen = fresh & ~ever[code]
                while unseen != NONE:
                    lane = lowest_place(unseen)
                    unseen &= unseen - ONE
                    for k in range(supports.shape[2]):
                        supports[code, lane, k] = 0
                ever[code] |= fresh
                while fresh != NONE:
                    lane = lowest_place(fresh)
                    fresh &= fresh - ONE
                    supports[code, lane, label] += 1
        for v in range(n_old):
            holders[values[v, first]] = NONE
            holder[values[v, first]] = 0
        while any_word != NONE:
            ways_in[lowest_place(any_word)] = NONE
            any_word &= any_word - ONE
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 0
    return n


@njit(cache=True, nogil=True)
def frequent(web, counts, touched, n_lanes, sizes, stats):
    """The (lane, code) that are frequent, in order, and their supports; `stats` gets tallies.

    `touched` are codes in rising order.
    """
    n_touched = len(touched)
    supports, ever = counts.supports, counts.ever
    n_classes = supports.shape[2]
    keep = np.zeros(n_touched, np.uint64)
    total = np.zeros(n_lanes + 1, np.int64)
    for t in range(n_touched):
        code = touched[t]
        w = ever[code]
        while w != NONE:
            lane = lowest_place(w)
            w &= w - ONE
            counted = supports[code, lane]
            if tallied(counted, sizes, web.least, web.min_frequency, stats):
                keep[t] |= ONE << np.uint64(lane)
                total[lane + 1] += 1
    for lane in range(n_lanes):
        total[lane + 1] += total[lane]
    found = np.empty((total[n_lanes], 2), np.int64)
    found_supports = np.empty((total[n_lanes], n_classes), np.int32)
    at = total[:n_lanes].copy()
    for t in range(n_touched):
        w = keep[t]
        while w != NONE:
            lane = lowest_place(w)
            w &= w - ONE
            found[at[lane], 0], found[at[lane], 1] = lane, touched[t]
            for c in range(n_classes):
                found_supports[at[lane], c] = supports[touched[t], lane, c]
            at[lane] += 1
    return found, found_supports
