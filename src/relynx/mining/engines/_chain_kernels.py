"""Compiled loops of the miner where every sequence is a line of at most 64 events.

A pattern is a path of events with facts about their values. All that later steps can see of its
matches in a sequence is which values its variables have and where its last event may be: a row is
(sequence, values, word of bits). A step along the dimension shifts the word.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._alphabet_kernels import (
    DIMENSION,
    MOST,
    N_STEPS,
    NONE,
    ONE,
    agrees,
    bases,
    constants_are_free,
    context,
    longer,
    reading,
    tallied,
    ways,
    wider,
    write_step,
)

SAME = -1  # the lane of facts about the last event; lane n >= 0 are links of n steps, 0 for any
MOST_STATES = 1 << 20  # of the holders of a fact's values
LANE_BITS = 24  # of the mark of a code: the most lanes
TOO_MANY = -(1 << 62)  # rows
NO_WAY, UNKNOWN = -1, -2


class Rows(NamedTuple):
    sequence: NDArray[np.int32]
    word: NDArray[np.uint64]
    values: NDArray[np.int32]  # one row a variable


class Limits(NamedTuple):
    lanes: NDArray[np.int64]
    least: NDArray[np.int64]  # smallest support of a class that suffices
    min_frequency: int
    dimension: int


class Counts(NamedTuple):
    """Counters of atoms, by their codes, for all lanes at once, and of several patterns.

    A word of `supports` holds those of several lanes; a row of their bits in `added` says what to
    add to it.
    """

    seen: NDArray[np.int64]  # the last sequence with a code, shifted, and its lanes; -1 for none
    supports: NDArray[np.uint64]  # patterns x codes x classes x words
    touched: NDArray[np.int64]  # codes that are not zero, and how many they are
    n_touched: NDArray[np.int64]
    added: NDArray[np.uint64]


class Ways(NamedTuple):
    """How facts can be written beside a match, of several patterns.

    Under Object Identity this depends only on which variables hold its values: its *state*. Where
    all values are constants a fact can be written in one way.
    """

    kept: NDArray[np.int32]  # where the ways of a state begin, their number first; -1: not known
    only: NDArray[np.int64]  # the only way of a fact; NO_WAY or UNKNOWN
    met: NDArray[np.int64]  # the lanes in which a sequence meets a state
    states: NDArray[np.int64]  # that it meets


def lanes_per_word(most: int) -> int:
    """How many lanes share a word when no support is larger than `most`."""
    return 4 if most < 1 << 16 else 2


def added(per_word: int) -> NDArray[np.uint64]:
    """For each set of a word's lanes, as bits, what counts one more sequence in each."""
    width = 64 // per_word
    sets = range(1 << per_word)
    return np.array([sum((b >> i & 1) << width * i for i in range(per_word)) for b in sets], "u8")


@njit(inline="always")
def support_of(counts, slot, code, c, lane):
    per_word = 4 if len(counts.added) == 16 else 2
    width = 64 // per_word
    word = counts.supports[slot, code, c, lane // per_word]
    mask = (ONE << np.uint64(width)) - ONE
    return np.int64((word >> np.uint64(width * (lane % per_word))) & mask)


@njit(inline="always")
def shifted(word, lane):
    if lane == SAME:
        return word
    if lane == 0:
        return word ^ (~word + ONE) if word != NONE else NONE
    return word << np.uint64(lane) if lane < 64 else NONE


@njit(cache=True, nogil=True)
def advance(alphabet, rows, begin, end, before, step, first, most):
    """What becomes of some rows of a pattern by one more step; of more than `most`, some."""
    n_old = len(before.number)
    lane = SAME if first or step[DIMENSION] < 0 else step[N_STEPS]
    read = reading(alphabet, before, step)
    old, new, constants, able = read.old, read.new, read.constants, read.able
    n_new = len(new)
    everywhere, ground_values = alphabet.everywhere, alphabet.ground_values
    old_sequence, old_word, old_values = rows.sequence, rows.word, rows.values
    some_sequence, some_word = old_sequence[begin:end], old_word[begin:end]
    injective = alphabet.injective
    # The events of any admitted fact, in each sequence from the first to the last of the rows.
    s0 = np.int64(old_sequence[begin]) if begin < end else np.int64(0)
    s1 = np.int64(old_sequence[end - 1]) + 1 if begin < end else np.int64(0)
    somewhere = everywhere[able[0], s0:s1] if len(able) == 1 else np.zeros(s1 - s0, np.uint64)
    if len(able) > 1:
        for g in able:
            one = everywhere[g, s0:s1]
            for i in range(len(one)):
                somewhere[i] |= one[i]
    # Which rows have one of these events next: without a branch, as most have not.
    places = np.empty(end - begin, np.int32)
    words = np.empty(end - begin, np.uint64)
    n_places = 0
    for k in range(len(some_sequence)):
        to = shifted(some_word[k], lane) & somewhere[np.uint64(some_sequence[k] - s0)]
        places[np.uint64(n_places)], words[np.uint64(n_places)] = k, to
        n_places += to != NONE
    room = max(64, n_places)
    sequence = np.empty(room, np.int32)
    word = np.empty(room, np.uint64)
    values = np.empty((n_old + n_new, room), np.int32)
    n = 0
    for k in range(n_places):
        i, to = begin + places[k], words[k]
        s = np.int64(old_sequence[i])
        if injective and not constants_are_free(constants, old_values, i):
            continue
        if n > most:
            break
        for g in able:
            bits = everywhere[g, s] & to
            if bits == NONE:
                continue
            if n_old and not agrees(old, new, ground_values, g, old_values, i, injective):
                continue
            if n == room:
                sequence, word, values = longer(sequence), longer(word), wider(values)
                room *= 2
            sequence[n], word[n] = s, bits
            for v in range(n_old):
                values[v, n] = old_values[v, i]
            for q in range(n_new):
                values[n_old + q, n] = ground_values[new[q], g]
            n += 1
    return Rows(sequence[:n].copy(), word[:n].copy(), values[:, :n].copy())


@njit(inline="always")
def count_codes(
    pool, begin, n_codes, hits, s, place0, stride, n_words, seen, flat, touched, n, added
):
    """Count a sequence for some codes in some lanes; how many codes were touched so far."""
    per_word = 4 if len(added) == 16 else 2
    lane_mask = len(added) - 1
    mark = s << LANE_BITS
    for c in range(np.uint64(begin), np.uint64(begin + n_codes)):
        code = np.uint64(pool[c])
        before = seen[code]
        if before < 0:
            touched[n] = code
            n += 1
        # Without a branch: what was seen in this sequence; a fresh mark has no lanes set.
        known = before if before > mark else mark
        fresh = hits & ~known
        seen[code] = known | hits
        place = code * stride + place0
        flat[place] += added[np.uint64(fresh & lane_mask)]
        for w in range(1, n_words):
            more = np.uint64((fresh >> (per_word * w)) & lane_mask)
            flat[place + np.uint64(w)] += added[more]
    return n


@njit(cache=True, nogil=True)
def n_states(alphabet, n_old):
    """How many states facts can be in beside a match of so many variables; 0 for too many."""
    if not alphabet.injective:
        return 0
    size = len(alphabet.ground_relation)
    for _ in range(len(alphabet.ground_values)):
        size *= n_old + 1
        if size > MOST_STATES:
            return 0
    return size


@njit(cache=True, nogil=True)
def no_ways(alphabet, n_patterns, n_old):
    """Nothing is known of patterns of so many variables."""
    plain = True
    for a in range(len(alphabet.types)):
        plain = plain and not alphabet.old[a] and not alphabet.new[a]
    size = 0 if plain else n_states(alphabet, n_old)
    n_facts = len(alphabet.ground_relation) if plain else 0
    return Ways(
        np.full((n_patterns, size), -1, np.int32),
        np.full((n_patterns, n_facts), UNKNOWN, np.int64),
        np.zeros(size, np.int64),
        np.empty(size, np.int64),
    )


@njit(cache=True, nogil=True)
def count_steps(alphabet, rows, now, lanes, counts, slot, known, pool, n_pool, scratch):
    """Count all steps that lead on from a pattern, for some of its rows.

    `known` are the ways to write facts, and the first n_pool numbers of `pool` what it refers to.
    They are worked out once for a state, and a sequence is counted for them once, after all its
    rows. Returns the pool, which may have grown.
    """
    n_old = len(now.number)
    starts = bases(alphabet, n_old)
    holders, holder, taboo = scratch.holders, scratch.holder, scratch.taboo
    options, n_options, codes = scratch.options, scratch.n_options, scratch.codes
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 1
    widest = len(alphabet.ground_values)
    kept, only, met, states = known.kept[slot], known.only[slot], known.met, known.states
    plain, by_states = len(only) > 0, len(kept) > 0
    n_lanes = len(lanes)
    words = np.zeros(max(n_lanes, 4), np.uint64)
    offset, fact_bits, ground = alphabet.offset, alphabet.bits, alphabet.ground
    ground_relation, ground_values = alphabet.ground_relation, alphabet.ground_values
    labels, arity = alphabet.labels, alphabet.arity
    sequence, row_words, row_values = rows.sequence, rows.word, rows.values
    seen, supports, added = counts.seen[slot], counts.supports[slot], counts.added
    touched = counts.touched[slot]
    per_word = 4 if len(added) == 16 else 2
    lane_mask = len(added) - 1
    n_words = (n_lanes + per_word - 1) // per_word
    flat = supports.reshape(-1)
    stride = np.uint64(supports.shape[1] * supports.shape[2])
    n, n_met = counts.n_touched[slot], 0
    for i in range(len(sequence)):
        s = np.int64(sequence[i])
        here = np.uint64(labels[s] * supports.shape[2])
        any_word = NONE
        for lane in range(n_lanes):
            words[lane] = shifted(row_words[i], lanes[lane])
            any_word |= words[lane]
        if any_word != NONE:
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
                if plain:  # one match a sequence, and no code twice
                    code = only[g]
                    if code == UNKNOWN:
                        m = ways(
                            alphabet, g, now, holders, taboo, starts, options, n_options, codes
                        )
                        code = only[g] = codes[0] if m else NO_WAY
                    if code >= 0:
                        if seen[code] < 0:
                            touched[n] = code
                            n += 1
                            seen[code] = s
                        place = np.uint64(code) * stride + here
                        for w in range(n_words):
                            more = np.uint64((hits >> (per_word * w)) & lane_mask)
                            flat[place + np.uint64(w)] += added[more]
                    continue
                if not by_states:
                    m = ways(alphabet, g, now, holders, taboo, starts, options, n_options, codes)
                    n = count_codes(
                        codes, 0, m, hits, s, here, stride, n_words, seen, flat, touched, n, added
                    )
                    continue
                state = g
                if n_old:
                    for j in range(arity[ground_relation[g]]):
                        state = state * (n_old + 1) + holder[ground_values[j, g]]
                    for _ in range(arity[ground_relation[g]], widest):
                        state *= n_old + 1
                if met[state] == 0:
                    states[n_met] = state
                    n_met += 1
                    if kept[state] < 0:
                        m = ways(
                            alphabet, g, now, holders, taboo, starts, options, n_options, codes
                        )
                        while n_pool + m + 1 > len(pool):
                            pool = longer(pool)
                        kept[state] = n_pool
                        pool[n_pool] = m
                        for c in range(m):
                            pool[n_pool + 1 + c] = codes[c]
                        n_pool += m + 1
                met[state] |= hits
            for v in range(n_old):
                holders[row_values[v, i]] = NONE
                holder[row_values[v, i]] = 0
        if i + 1 == len(sequence) or sequence[i + 1] != s:
            for k in range(n_met):
                begin, hits = kept[states[k]] + 1, met[states[k]]
                met[states[k]] = 0
                m = pool[begin - 1]
                n = count_codes(
                    pool, begin, m, hits, s, here, stride, n_words, seen, flat, touched, n, added
                )
            n_met = 0
    for t in range(len(now.taboo)):
        taboo[now.taboo[t]] = 0
    counts.n_touched[slot] = n
    return pool, n_pool


@njit(cache=True, nogil=True)
def collect(alphabet, now, limits, first, constants, counts, slot, sizes, stats, out, supports, n):
    """Append the frequent steps among those counted, in order of lanes and codes; how many in all.

    When there is no room it returns the number needed and keeps the counts.
    """
    lanes = np.array([SAME]) if first else limits.lanes
    n_touched = counts.n_touched[slot]
    touched = np.sort(counts.touched[slot, :n_touched])
    n_classes, n_lanes = counts.supports.shape[2], len(lanes)
    good = np.zeros((n_lanes * n_touched, 2), np.int64)
    n_good = 0
    now_stats = np.zeros_like(stats)
    counted = np.zeros(n_classes, np.int64)
    for lane in range(n_lanes):
        for t in range(n_touched):
            some = 0
            for c in range(n_classes):
                counted[c] = support_of(counts, slot, touched[t], c, lane)
                some += counted[c]
            if some and tallied(counted, sizes, limits.least, limits.min_frequency, now_stats):
                good[n_good, 0], good[n_good, 1] = lane, touched[t]
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
            supports[n + i, c] = support_of(counts, slot, code, c, lane)
    for i in range(3):
        stats[i] += now_stats[i]
    for i in (3, 5):
        if now_stats[i] > stats[i]:
            stats[i], stats[i + 1] = now_stats[i], 0
        if now_stats[i] == stats[i]:
            stats[i + 1] += now_stats[i + 1]
    forget(counts, slot)
    return n + n_good


@njit(cache=True, nogil=True)
def forget(counts, slot):
    """Make counters ready for another pattern."""
    for t in range(counts.n_touched[slot]):
        code = counts.touched[slot, t]
        counts.seen[slot, code] = -1
        for c in range(counts.supports.shape[2]):
            for w in range(counts.supports.shape[3]):
                counts.supports[slot, code, c, w] = NONE
    counts.n_touched[slot] = 0


@njit(cache=True, nogil=True)
def followed_by(chain, step):
    """A chain of one more step."""
    out = np.empty((len(chain) + 1, len(step)), np.int64)
    for q in range(len(step)):
        for i in range(len(chain)):
            out[i, q] = chain[i, q]
        out[len(chain), q] = step[q]
    return out


@njit(cache=True, nogil=True)
def count_children(
    alphabet, rows, begin, end, block, chain, children, most, limits, counts, scratch
):
    """Count what refines some children of a pattern, for some of its rows; are they too many?

    Each child has counters of its own. What a block of rows reads stays in the caches of the
    machine until all children have read it.
    """
    before = context(alphabet, chain)
    n_old = np.int64(0)  # a literal would be compiled apart
    for c in range(len(children)):
        n_values = len(context(alphabet, followed_by(chain, children[c])).number)
        n_old = max(n_old, np.int64(n_values))
    known = no_ways(alphabet, len(children), n_old)
    pool, n_pool = scratch.pool, np.int64(0)
    while begin < end:
        to = min(begin + block, end)
        for c in range(len(children)):
            now = context(alphabet, followed_by(chain, children[c]))
            made = advance(alphabet, rows, begin, to, before, children[c], len(chain) == 0, most)
            if len(made.sequence) > most:
                return True
            pool, n_pool = count_steps(
                alphabet,
                made,
                now,
                limits.lanes,
                counts,
                c,
                known,
                pool,
                n_pool,
                scratch,
            )
        begin = to
    return False


@njit(cache=True, nogil=True)
def grow(
    alphabet,
    rows,
    chain,
    children,
    done,
    counted,
    most,
    limits,
    constants,
    counts,
    scratch,
    sizes,
    stats,
    out,
    supports,
    owner,
):
    """Refine the children of a pattern from the done-th on; how many refinements there are.

    `chain` are the steps of the pattern and `children` the steps of its children; refinement i is
    step out[i] from child owner[i]. `counted`: `count_children` has been called for all rows.
    When `out` is too small some children are left to another call: it is to begin at stats[-1].
    Where they are still to be counted, a child of more than `most` rows is TOO_MANY.
    """
    first = len(chain) < 0  # never; a literal would be compiled apart
    n, n_rows = np.int64(0), len(rows.sequence)
    for c in range(done, len(children)):
        slot = c if counted else 0
        if not counted and count_children(
            alphabet,
            rows,
            np.int64(0),
            n_rows,
            n_rows,
            chain,
            children[c : c + 1],
            most,
            limits,
            counts,
            scratch,
        ):
            return TOO_MANY
        now = context(alphabet, followed_by(chain, children[c]))
        total = collect(
            alphabet,
            now,
            limits,
            first,
            constants,
            counts,
            slot,
            sizes,
            stats,
            out,
            supports,
            n,
        )
        if total > len(out):
            if not counted:
                forget(counts, slot)
            stats[-1] = c
            return n if n else -total
        for i in range(n, total):
            owner[i] = c
        n = total
    stats[-1] = len(children)
    return n
