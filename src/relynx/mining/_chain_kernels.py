"""Compiled loops of the miner where every sequence is a line of at most 64 events.

A pattern is a path of events with facts about their values. All that later steps can see of its
matches in a sequence is which values its variables have and where its last event may be: a row is
(sequence, values, word of bits). A step along the dimension shifts the word.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining._alphabet_kernels import (
    DIMENSION,
    MOST,
    N_STEPS,
    NONE,
    ONE,
    agrees,
    bases,
    constants_are_free,
    context,
    reading,
    ways,
    write_step,
)

PAIR = np.array([0, 1, 1 << 32, 1 + (1 << 32)], np.uint64)  # what two lanes' bits add to a word
SAME = -1  # the lane of facts about the last event; lane n >= 0 are links of n steps, 0 for any
MOST_STATES = 1 << 20  # of the holders of a fact's values


class Rows(NamedTuple):
    sequence: NDArray[np.int64]
    word: NDArray[np.uint64]
    values: NDArray[np.int64]  # one row a variable


class Limits(NamedTuple):
    lanes: NDArray[np.int64]
    least: NDArray[np.int64]  # smallest support of a class that suffices
    min_frequency: int
    dimension: int


class Counts(NamedTuple):
    """Counters of atoms, by their codes, for all lanes at once."""

    last: NDArray[np.int32]  # the last sequence in which a code was seen, -1 for none
    shown: NDArray[np.int64]  # the lanes in which it was seen there, as bits
    supports: NDArray[np.uint64]  # codes x classes x lanes, two lanes in a word
    touched: NDArray[np.int64]


@njit(inline="always")
def supports_width(n_lanes):
    return (n_lanes + 1) // 2


@njit(inline="always")
def support_of(counts, code, c, lane):
    word = counts.supports[code, c, lane >> 1]
    return np.int64((word >> np.uint64(32 * (lane & 1))) & np.uint64(0xFFFFFFFF))


@njit(inline="always")
def shifted(word, lane):
    if lane == SAME:
        return word
    if lane == 0:
        return word ^ (~word + ONE) if word != NONE else NONE
    return word << np.uint64(lane) if lane < 64 else NONE


@njit(cache=True, nogil=True)
def advance(alphabet, rows, before, step, first):
    """The rows of a pattern after one more step."""
    n_old = len(before.number)
    lane = SAME if first or step[DIMENSION] < 0 else step[N_STEPS]
    kind, what, n_new, able = reading(alphabet, before, step)
    fresh = np.zeros(MOST, np.int64)
    everywhere, ground_values = alphabet.everywhere, alphabet.ground_values
    old_sequence, old_word, old_values = rows.sequence, rows.word, rows.values
    injective = alphabet.injective
    room = max(64, len(old_sequence))
    sequence = np.empty(room, np.int64)
    word = np.empty(room, np.uint64)
    values = np.empty((n_old + n_new, room), np.int64)
    n = 0
    for i in range(len(old_sequence)):
        s = old_sequence[i]
        to = shifted(old_word[i], lane)
        if to == NONE:
            continue
        if injective and not constants_are_free(kind, what, old_values, i, n_old):
            continue
        for g in able:
            bits = everywhere[g, s] & to
            if bits == NONE:
                continue
            if not agrees(kind, what, ground_values, g, old_values, i, n_old, injective, fresh):
                continue
            if n == room:
                sequence = np.concatenate((sequence, np.empty(room, np.int64)))
                word = np.concatenate((word, np.empty(room, np.uint64)))
                wider = np.empty((n_old + n_new, 2 * room), np.int64)
                wider[:, :room] = values
                values = wider
                room *= 2
            sequence[n], word[n] = s, bits
            for v in range(n_old):
                values[v, n] = old_values[v, i]
            for q in range(n_new):
                values[n_old + q, n] = fresh[q]
            n += 1
    return Rows(sequence[:n].copy(), word[:n].copy(), values[:, :n].copy())


@njit(cache=True, nogil=True)
def count_steps(alphabet, rows, now, lanes, counts, scratch):
    """Count all steps that lead on from a pattern; how many codes were touched.

    Under Object Identity a fact can be written in ways that depend only on which variables hold its
    values; these are worked out once for a pattern and kept.
    """
    n_old = len(now.number)
    starts = bases(alphabet, n_old)
    holders, holder, taboo = scratch.holders, scratch.holder, scratch.taboo
    options, n_options, codes = scratch.options, scratch.n_options, scratch.codes
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 1
    n_facts = len(alphabet.ground_relation)
    widest = 0
    for r in range(len(alphabet.arity)):
        widest = max(widest, alphabet.arity[r])
    n_states = n_facts * (n_old + 1) ** widest
    if not alphabet.injective or n_states > MOST_STATES:
        n_states = 0
    kept = np.full(n_states, -1, np.int32)  # where the ways of a state begin, their number first
    pool = scratch.pool
    n_pairs = supports_width(len(lanes))
    n_pool = 0
    n_lanes = len(lanes)
    words = np.zeros(max(n_lanes, 4), np.uint64)
    offset, fact_bits, ground = alphabet.offset, alphabet.bits, alphabet.ground
    ground_relation, ground_values = alphabet.ground_relation, alphabet.ground_values
    labels, arity = alphabet.labels, alphabet.arity
    sequence, row_words, row_values = rows.sequence, rows.word, rows.values
    last, shown, supports = counts.last, counts.shown, counts.supports
    # Where all values are constants a fact is written in one way.
    plain = True
    for a in range(len(alphabet.types)):
        plain = plain and not alphabet.old[a] and not alphabet.new[a]
    only = np.full(n_facts if plain else 0, -1, np.int64)
    for g in range(len(only)):
        if ways(alphabet, g, now, holders, taboo, starts, options, n_options, codes):
            only[g] = codes[0]
    touched = counts.touched
    flat = supports.reshape(-1)
    stride = np.uint64(supports.shape[1] * supports.shape[2])
    n = 0
    for i in range(len(sequence)):
        s = sequence[i]
        here = np.uint64(labels[s] * supports.shape[2])
        any_word = NONE
        for lane in range(n_lanes):
            words[lane] = shifted(row_words[i], lanes[lane])
            any_word |= words[lane]
        if any_word == NONE:
            continue
        word0, word1, word2, word3 = words[0], words[1], words[2], words[3]
        lowest = any_word & (~any_word + ONE)
        for v in range(n_old):
            holders[row_values[v, i]] |= ONE << np.uint64(v)
            holder[row_values[v, i]] = v + 1
        for at in range(offset[s], offset[s + 1]):
            bits = fact_bits[at]
            if bits < lowest:
                break  # facts come in falling order of their bits
            if bits & any_word == NONE:
                continue
            hits = np.int64(word0 & bits != NONE)  # the first lanes are in registers
            hits |= np.int64(word1 & bits != NONE) << 1
            hits |= np.int64(word2 & bits != NONE) << 2
            hits |= np.int64(word3 & bits != NONE) << 3
            for lane in range(4, n_lanes):
                hits |= np.int64(words[lane] & bits != NONE) << lane
            g = ground[at]
            if plain:  # one way to write a fact, one match a sequence: nothing is seen twice
                code = only[g]
                if code >= 0:
                    if last[code] < 0:
                        touched[n] = code
                        n += 1
                        last[code] = s
                    place = np.uint64(code) * stride + here
                    for w in range(n_pairs):
                        flat[place + np.uint64(w)] += PAIR[np.uint64((hits >> (2 * w)) & 3)]
                continue
            if n_states:
                state = g
                if n_old:
                    for j in range(arity[ground_relation[g]]):
                        state = state * (n_old + 1) + holder[ground_values[j, g]]
                    for _ in range(arity[ground_relation[g]], widest):
                        state *= n_old + 1
                if kept[state] < 0:
                    m = ways(alphabet, g, now, holders, taboo, starts, options, n_options, codes)
                    while n_pool + m + 1 > len(pool):
                        pool = np.concatenate((pool, np.empty(len(pool), np.uint32)))
                    kept[state] = n_pool
                    pool[n_pool] = m
                    for c in range(m):
                        pool[n_pool + 1 + c] = codes[c]
                    n_pool += m + 1
                begin = kept[state] + 1
                n_codes = pool[begin - 1]
            else:
                begin = 0
                n_codes = ways(alphabet, g, now, holders, taboo, starts, options, n_options, codes)
                for c in range(n_codes):
                    pool[c] = codes[c]
            for c in range(np.uint64(begin), np.uint64(begin + n_codes)):
                code = np.uint64(pool[c])
                fresh = hits
                if last[code] == s:
                    fresh &= ~shown[code]
                    if fresh == 0:
                        continue
                    shown[code] |= fresh
                else:
                    if last[code] < 0:
                        touched[n] = code
                        n += 1
                    last[code] = s
                    shown[code] = fresh
                place = code * stride + here
                for w in range(n_pairs):
                    flat[place + np.uint64(w)] += PAIR[np.uint64((fresh >> (2 * w)) & 3)]
        for v in range(n_old):
            holders[row_values[v, i]] = NONE
            holder[row_values[v, i]] = 0
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 0
    return n


@njit(cache=True, nogil=True)
def collect(alphabet, now, limits, first, n_touched, constants, counts, stats, out, supports, n):
    """Append the frequent steps among those counted, in order of lanes and codes; how many in all.

    When there is no room it returns the number needed and keeps the counts.
    """
    lanes = np.array([SAME]) if first else limits.lanes
    touched = np.sort(counts.touched[:n_touched])
    n_classes, n_lanes = counts.supports.shape[1], len(lanes)
    good = np.zeros((n_lanes * n_touched, 2), np.int64)
    n_good, occurred = 0, 0
    rare, weak, nearest_frequency, nearest_share = 0, 0, 0, 0.0
    for lane in range(n_lanes):
        for t in range(n_touched):
            code = touched[t]
            frequency, enough = 0, False
            for c in range(n_classes):
                support = support_of(counts, code, c, lane)
                frequency += support
                enough = enough or support >= limits.least[c]
            if frequency == 0:
                continue
            occurred += 1
            if frequency < limits.min_frequency:
                rare += 1
                nearest_frequency = max(nearest_frequency, frequency)
            elif not enough:
                weak += 1
                for c in range(n_classes):
                    share = support_of(counts, code, c, lane) / stats[5 + c]
                    nearest_share = max(nearest_share, share)
            else:
                good[n_good, 0], good[n_good, 1] = lane, code
                n_good += 1
    if n + n_good > len(out):
        return n + n_good
    starts = bases(alphabet, len(now.number))
    digit = np.zeros(MOST, np.int64)
    place = np.zeros(MOST, np.int64)
    for i in range(n_good):
        lane, code = good[i, 0], good[i, 1]
        dimension = -1 if lanes[lane] == SAME else limits.dimension
        write_step(
            alphabet,
            now,
            first,
            dimension,
            lanes[lane],
            now.event,
            code,
            starts,
            constants,
            digit,
            place,
            out,
            n + i,
        )
        for c in range(n_classes):
            supports[n + i, c] = support_of(counts, code, c, lane)
    stats[0] += occurred
    stats[1] += rare
    stats[2] += weak
    stats[3] = max(stats[3], nearest_frequency)
    stats[4] = max(stats[4], nearest_share)
    forget(counts, n_touched)
    return n + n_good


@njit(cache=True, nogil=True)
def forget(counts, n_touched):
    """Make the counters ready for another pattern."""
    for t in range(n_touched):
        code = counts.touched[t]
        counts.last[code] = -1
        for c in range(counts.supports.shape[1]):
            for w in range(counts.supports.shape[2]):
                counts.supports[code, c, w] = NONE


@njit(cache=True, nogil=True)
def grow(
    alphabet,
    rows,
    chain,
    children,
    limits,
    constants,
    counts,
    scratch,
    stats,
    out,
    supports,
    owner,
):
    """Refine each child of a pattern; how many refinements there are.

    `chain` are the steps of the pattern and `children` the steps of its children; refinement i is
    step out[i] from child owner[i]. When `out` is too small the children from owner[-1] on are
    left to another call: the number of children that were done is stats[-1].
    """
    before = context(alphabet, chain)
    longer = np.empty((len(chain) + 1, chain.shape[1]), np.int64)
    longer[: len(chain)] = chain
    n = 0
    for c in range(len(children)):
        longer[len(chain)] = children[c]
        now = context(alphabet, longer)
        child_rows = advance(alphabet, rows, before, children[c], len(chain) == 0)
        n_touched = count_steps(alphabet, child_rows, now, limits.lanes, counts, scratch)
        total = collect(
            alphabet, now, limits, False, n_touched, constants, counts, stats, out, supports, n
        )
        if total > len(out):
            forget(counts, n_touched)
            stats[-1] = c
            return n if n else -total
        for i in range(n, total):
            owner[i] = c
        n = total
    stats[-1] = len(children)
    return n
