"""Compiled loops of the miner where every sequence is a line of at most 64 events.

A pattern is a path of events with facts about their values. All that later steps can see of its
matches in a sequence is which values its variables have and where its last event may be: a row is
(sequence, values, word of bits). A step along the dimension shifts the word; the facts of a
sequence are its *alphabet*: distinct facts with the word of the events that they hold for.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

ONE = np.uint64(1)
NONE = np.uint64(0)
PAIR = np.array([0, 1, 1 << 32, 1 + (1 << 32)], np.uint64)  # what two lanes' bits add to a word
SAME = -1  # the lane of facts about the last event; lane n >= 0 are links of n steps, 0 for any
DIMENSION, N_STEPS, FROM, TO, RELATION, ARGUMENTS = range(6)  # columns of a step
MOST = 48  # variables of a pattern, and arguments of a fact
MOST_CODES = 1 << 12  # ways to write one fact
MOST_STATES = 1 << 20  # of the holders of a fact's values


class Alphabet(NamedTuple):
    """The facts of all sequences. R relations, A arguments that hold values."""

    offset: NDArray[np.int64]  # S+1
    bits: NDArray[np.uint64]  # falling inside a sequence
    ground: NDArray[np.int64]  # which of the distinct facts of all sequences it is
    ground_relation: NDArray[np.int64]
    ground_values: NDArray[np.int64]
    everywhere: NDArray[np.uint64]  # distinct facts x sequences: the words of all
    labels: NDArray[np.int64]  # S: the class of a sequence
    arity: NDArray[np.int64]  # R: arguments that hold values
    argument0: NDArray[np.int64]  # R
    event: NDArray[np.int64]  # R: the place of the event among all arguments
    types: NDArray[np.int64]  # A
    old: NDArray[np.uint8]  # A: may be a variable that occurs elsewhere
    new: NDArray[np.uint8]  # A: may be a variable that does not
    digits: NDArray[np.int64]  # A x values: place among the constants, -1 for none
    n_constants: NDArray[np.int64]  # A
    code: NDArray[np.int64]  # value -> code of the vocabulary
    value: NDArray[np.int64]  # code -> value, -1 for none
    injective: bool


class Rows(NamedTuple):
    sequence: NDArray[np.int64]
    word: NDArray[np.uint64]
    values: NDArray[np.int64]  # one row a variable


class Context(NamedTuple):
    """What a pattern is made of."""

    number: NDArray[np.int64]  # of each value variable among all variables
    types: NDArray[np.int64]
    taboo: NDArray[np.int64]  # values that are constants of the pattern
    event: int  # number of the last event
    n_all: int  # variables in all


class Limits(NamedTuple):
    lanes: NDArray[np.int64]
    least: NDArray[np.int64]  # smallest support of a class that suffices
    min_frequency: int
    dimension: int


class Scratch(NamedTuple):
    """Room that every call needs; `holders`, `holder` and `taboo` are all zero between calls."""

    holders: NDArray[np.uint64]  # value -> the variables that have it, as bits
    holder: NDArray[np.int64]  # value -> one of them, counted from 1
    taboo: NDArray[np.uint8]
    options: NDArray[np.int64]
    n_options: NDArray[np.int64]
    codes: NDArray[np.int64]
    pool: NDArray[np.uint32]


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
def context(alphabet, chain):
    """The context of the pattern that a chain of steps makes."""
    number = np.zeros(MOST, np.int64)
    types = np.zeros(MOST, np.int64)
    taboo = np.zeros(MOST, np.int64)
    n, n_taboo, n_all, event = 0, 0, 0, 0
    for i in range(len(chain)):
        step = chain[i]
        relation = step[RELATION]
        if i == 0 or step[DIMENSION] >= 0:
            event = step[ARGUMENTS + alphabet.event[relation]]
        a = alphabet.argument0[relation]
        for j in range(alphabet.arity[relation] + 1):
            term = step[ARGUMENTS + j]
            n_all = max(n_all, term + 1)
            if j == alphabet.event[relation]:
                continue
            if term < 0:
                taboo[n_taboo] = alphabet.value[~term]
                n_taboo += 1
            else:
                known = False
                for v in range(n):
                    known = known or number[v] == term
                if not known:
                    number[n], types[n] = term, alphabet.types[a]
                    n += 1
            a += 1
    return Context(number[:n].copy(), types[:n].copy(), taboo[:n_taboo].copy(), event, n_all)


@njit(cache=True, nogil=True)
def advance(alphabet, rows, before, step, first):
    """The rows of a pattern after one more step."""
    n_old = len(before.number)
    relation = step[RELATION]
    k = alphabet.arity[relation]
    lane = SAME if first or step[DIMENSION] < 0 else step[N_STEPS]
    # Each argument: an old variable, the q-th new one, or a constant (kind 0, 1, 2).
    kind = np.zeros(MOST, np.int64)
    what = np.zeros(MOST, np.int64)
    new = np.zeros(MOST, np.int64)
    n_new, j = 0, 0
    for p in range(k + 1):
        if p == alphabet.event[relation]:
            continue
        term = step[ARGUMENTS + p]
        if term < 0:
            kind[j], what[j] = 2, alphabet.value[~term]
        else:
            kind[j], what[j] = 1, -1
            for v in range(n_old):
                if before.number[v] == term:
                    kind[j], what[j] = 0, v
            if kind[j] == 1:
                for q in range(n_new):
                    if new[q] == term:
                        what[j] = q
                if what[j] < 0:
                    new[n_new], what[j] = term, n_new
                    n_new += 1
        j += 1
    # The facts that the step's constants and repetitions admit.
    n_facts = len(alphabet.ground_relation)
    able = np.empty(n_facts, np.int64)
    n_able = 0
    fresh = np.zeros(MOST, np.int64)
    for g in range(n_facts):
        good = alphabet.ground_relation[g] == relation
        n_fresh = 0
        for j in range(k):
            value = alphabet.ground_values[j, g]
            if kind[j] == 2:
                good = good and what[j] == value
            elif kind[j] == 1 and what[j] < n_fresh:
                good = good and fresh[what[j]] == value
            elif kind[j] == 1:
                fresh[n_fresh] = value
                n_fresh += 1
        if good and alphabet.injective:
            for q in range(n_fresh):
                for t in range(len(before.taboo)):
                    good = good and before.taboo[t] != fresh[q]
                for p in range(q):
                    good = good and fresh[p] != fresh[q]
                for j in range(k):
                    good = good and not (kind[j] == 2 and what[j] == fresh[q])
        if good:
            able[n_able] = g
            n_able += 1
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
        if injective:
            good = True
            for j in range(k):
                if kind[j] == 2:
                    for v in range(n_old):
                        good = good and old_values[v, i] != what[j]
            if not good:
                continue
        for a in range(n_able):
            g = able[a]
            bits = everywhere[g, s] & to
            if bits == NONE:
                continue
            good = True
            n_fresh = 0
            for j in range(k):
                value = ground_values[j, g]
                if kind[j] == 0:
                    good = good and old_values[what[j], i] == value
                elif kind[j] == 1 and what[j] == n_fresh:
                    n_fresh += 1
                    fresh[what[j]] = value
                    if injective:
                        for v in range(n_old):
                            good = good and old_values[v, i] != value
            if not good:
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
def bases(alphabet, n_old):
    """Where the codes of each relation begin, for a lane; the last is the size of a lane."""
    n = len(alphabet.arity)
    out = np.zeros(n + 1, np.int64)
    for r in range(n):
        k, a0 = alphabet.arity[r], alphabet.argument0[r]
        size = 1
        for j in range(k):
            size *= n_old + 1 + k + alphabet.n_constants[a0 + j]
        out[r + 1] = out[r] + size
    return out


@njit(cache=True, nogil=True)
def equal_codes(alphabet, g, options, n_options, n_old, codes):
    """The codes of a fact in which some value occurs twice: its arguments are not independent.

    `codes[0]` is where those of the relation begin. Returns how many there are.
    """
    r = alphabet.ground_relation[g]
    k, a0 = alphabet.arity[r], alphabet.argument0[r]
    base = codes[0]
    at = np.full(k + 1, -1, np.int64)
    digit = np.zeros(k + 1, np.int64)
    code = np.zeros(k + 1, np.int64)
    n, j = 0, 0
    while j >= 0:
        if j == k:
            codes[n] = base + code[k]
            n += 1
            j -= 1
            continue
        at[j] += 1
        if at[j] >= n_options[j] + j:  # options, then repetitions of new variables
            at[j] = -1
            j -= 1
            continue
        good = True
        if at[j] < n_options[j]:
            digit[j] = options[j, at[j]]
            if alphabet.injective and digit[j] >= n_old:
                constant = digit[j] > n_old
                for q in range(j):
                    if alphabet.ground_values[q, g] == alphabet.ground_values[j, g]:
                        # Two equal values are two constants, or an old variable twice.
                        both = constant and digit[q] >= n_old + 1 + k
                        good = good and (both or digit[q] < n_old)
        else:
            q = at[j] - n_options[j]
            good = (
                digit[q] == n_old and alphabet.ground_values[q, g] == alphabet.ground_values[j, g]
            )
            good = good and alphabet.types[a0 + q] == alphabet.types[a0 + j]
            good = good and alphabet.old[a0 + j] != 0
            digit[j] = n_old + 1 + q
        if good:
            code[j + 1] = code[j] * (n_old + 1 + k + alphabet.n_constants[a0 + j]) + digit[j]
            j += 1
            if j < k:
                at[j] = -1
    return n


@njit(cache=True, nogil=True)
def ways(alphabet, g, now, holders, taboo, starts, options, n_options, codes):
    """The codes of all atoms that a fact may be written as beside a match; how many.

    `holders` tells which variables of the match have a value, as bits.
    """
    n_old = len(now.number)
    r = alphabet.ground_relation[g]
    k, a0 = alphabet.arity[r], alphabet.argument0[r]
    equal = False
    for j in range(k):
        value = alphabet.ground_values[j, g]
        held = holders[value]
        m = 0
        if held != NONE and alphabet.old[a0 + j]:
            for v in range(n_old):
                if (held >> np.uint64(v)) & ONE != NONE and now.types[v] == alphabet.types[a0 + j]:
                    options[j, m] = v
                    m += 1
        if not (alphabet.injective and held != NONE):
            if alphabet.new[a0 + j] and not (alphabet.injective and taboo[value]):
                options[j, m] = n_old
                m += 1
            if alphabet.digits[a0 + j, value] >= 0:
                options[j, m] = n_old + 1 + k + alphabet.digits[a0 + j, value]
                m += 1
        n_options[j] = m
        for q in range(j):
            equal = equal or alphabet.ground_values[q, g] == value
    codes[0] = starts[r]
    if equal:
        return equal_codes(alphabet, g, options, n_options, n_old, codes)
    n_codes = 1
    for j in range(k):
        radix = n_old + 1 + k + alphabet.n_constants[a0 + j]
        m = n_options[j]
        for c in range(n_codes - 1, -1, -1):  # the codes so far, each with every option
            part = (codes[c] - starts[r]) * radix + starts[r]
            for x in range(m - 1, -1, -1):
                codes[c * m + x] = part + options[j, x]
        n_codes *= m
        if n_codes == 0:
            break
    return n_codes


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


@njit(inline="always")
def write_step(
    alphabet, now, dimension, first, lane, code, starts, constants, digit, place, out, row
):
    """Decode a code into a step of the trie: a row of `out`. `digit` and `place` are scratch."""
    n_old = len(now.number)
    r = 0
    while code >= starts[r + 1]:
        r += 1
    code -= starts[r]
    k, a0 = alphabet.arity[r], alphabet.argument0[r]
    for q in range(out.shape[1]):
        out[row, q] = 0
    out[row, DIMENSION] = -1
    out[row, RELATION] = r
    event, n_all = now.event, now.n_all
    if lane != SAME:
        out[row, DIMENSION], out[row, N_STEPS] = dimension, lane
        out[row, FROM], out[row, TO] = event, n_all
    if first or lane != SAME:
        event = n_all
        n_all += 1
    for i in range(k):
        j = k - 1 - i
        radix = n_old + 1 + k + alphabet.n_constants[a0 + j]
        digit[j] = code % radix
        code //= radix
    p = 0
    # New variables are numbered in the order of the arguments; in a first atom an event that does
    # not stand first must be numbered among them.
    if first:
        n_all = 0
    for q in range(k + 1):
        if q == alphabet.event[r]:
            if first:
                event = n_all
                n_all += 1
            out[row, ARGUMENTS + q] = event
            continue
        place[p] = ARGUMENTS + q
        if digit[p] < n_old:
            out[row, ARGUMENTS + q] = now.number[digit[p]]
        elif digit[p] == n_old:
            out[row, ARGUMENTS + q] = n_all
            n_all += 1
        elif digit[p] < n_old + 1 + k:
            out[row, ARGUMENTS + q] = out[row, place[digit[p] - n_old - 1]]
        else:
            out[row, ARGUMENTS + q] = ~constants[a0 + p, digit[p] - n_old - 1 - k]
        p += 1


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
        write_step(
            alphabet,
            now,
            limits.dimension,
            first,
            lanes[lane],
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
