"""Compiled loops of the miner about the facts of sequences of at most 64 events.

The facts of a sequence are its *alphabet*: distinct facts with the word of bits of the events that
they hold for. An argument of a new atom is written as a digit: an old variable is its number v < V,
a new variable is V, one that repeats the new variable of argument q is V+1+q, a constant is
V+1+arity+i, where i is its place among those that the bias admits there. The code of an atom is the
number that its digits make.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

ONE = np.uint64(1)
ALL_ROWS = 1 << 62  # no limit on the rows of a pattern
NONE = np.uint64(0)
DIMENSION, N_STEPS, FROM, TO, RELATION, ARGUMENTS = range(6)  # columns of a step
MOST = 48  # variables of a pattern, and arguments of a fact
MOST_CODES = 1 << 12  # ways to write one fact
FEW = 6  # facts that are looked for one by one


class Alphabet(NamedTuple):
    """The facts of all sequences. R relations, A arguments that hold values."""

    offset: NDArray[np.int64]  # S+1
    bits: NDArray[np.uint64]  # falling inside a sequence
    ground: NDArray[np.int32]  # which of the distinct facts of all sequences it is
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


class Context(NamedTuple):
    """What a pattern is made of."""

    number: NDArray[np.int64]  # of each value variable among all variables
    types: NDArray[np.int64]
    taboo: NDArray[np.int64]  # values that are constants of the pattern
    event: int  # number of the last event
    n_all: int  # variables in all


class Scratch(NamedTuple):
    """Room that every call needs; `holders`, `holder` and `taboo` are all zero between calls."""

    holders: NDArray[np.uint64]  # value -> the variables that have it, as bits
    holder: NDArray[np.int64]  # value -> one of them, counted from 1
    taboo: NDArray[np.uint8]
    options: NDArray[np.int64]
    n_options: NDArray[np.int64]
    codes: NDArray[np.int64]
    pool: NDArray[np.uint32]


@njit(cache=True, nogil=True)
def longer(column):
    """The same numbers in a column of twice the room."""
    out = np.empty(2 * len(column), column.dtype)
    for i in range(len(column)):
        out[i] = column[i]
    return out


@njit(cache=True, nogil=True)
def wider(table):
    """The same rows in a table of twice the room."""
    out = np.empty((len(table), 2 * table.shape[1]), table.dtype)
    for r in range(len(table)):
        for i in range(table.shape[1]):
            out[r, i] = table[r, i]
    return out


@njit(cache=True, nogil=True)
def context_of(alphabet, atoms, event):
    """What a pattern is made of, and its last event.

    Rows of `atoms` are a relation and its arguments; links, which are numbered after the relations,
    add nothing.
    """
    number = np.zeros(MOST, np.int64)
    types = np.zeros(MOST, np.int64)
    taboo = np.zeros(MOST, np.int64)
    n, n_taboo, n_all = 0, 0, 0
    for i in range(len(atoms)):
        relation = atoms[i, 0]
        if relation >= len(alphabet.arity):
            continue
        a = alphabet.argument0[relation]
        for j in range(alphabet.arity[relation] + 1):
            term = atoms[i, 1 + j]
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
def context(alphabet, chain):
    """The context of the pattern that a chain of steps makes."""
    event = np.int64(0)
    for i in range(len(chain)):
        if i == 0 or chain[i, DIMENSION] >= 0:
            event = chain[i, ARGUMENTS + alphabet.event[chain[i, RELATION]]]
    return context_of(alphabet, np.ascontiguousarray(chain[:, RELATION:]), event)


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


class Reading(NamedTuple):
    """How a step reads facts."""

    old: NDArray[np.int64]  # (argument, variable): must be equal
    new: NDArray[np.int64]  # the argument that each new variable takes its value from
    constants: NDArray[np.int64]  # values
    able: NDArray[np.int64]  # the facts that constants and repetitions admit
    marks: NDArray[np.uint8]  # 1 at each of these


@njit(cache=True, nogil=True)
def reading(alphabet, before, step):
    """How a step reads facts beside a pattern."""
    n_old = len(before.number)
    relation = step[RELATION]
    k = alphabet.arity[relation]
    old = np.zeros((k, 2), np.int64)
    new = np.zeros(k, np.int64)
    constants = np.zeros(k, np.int64)
    term_of_new = np.zeros(k, np.int64)
    repeats = np.full(k, -1, np.int64)  # argument -> the new variable that it repeats
    fixed = np.full(k, -1, np.int64)  # argument -> its constant
    n_known, n_new, n_constants, j = 0, 0, 0, 0
    for p in range(k + 1):
        if p == alphabet.event[relation]:
            continue
        term = step[ARGUMENTS + p]
        if term < 0:
            fixed[j] = alphabet.value[~term]
            constants[n_constants] = fixed[j]
            n_constants += 1
        else:
            known = False
            for v in range(n_old):
                if before.number[v] == term:
                    old[n_known, 0], old[n_known, 1] = j, v
                    n_known += 1
                    known = True
            for q in range(n_new):
                if term_of_new[q] == term:
                    repeats[j] = q
            if not known and repeats[j] < 0:
                term_of_new[n_new], new[n_new] = term, j
                n_new += 1
        j += 1
    n_facts = len(alphabet.ground_relation)
    able = np.empty(n_facts, np.int64)
    marks = np.zeros(n_facts, np.uint8)
    n_able = 0
    values = alphabet.ground_values
    for g in range(n_facts):
        if alphabet.ground_relation[g] != relation:
            continue
        good = True
        for j in range(k):
            good = good and (fixed[j] < 0 or values[j, g] == fixed[j])
            good = good and (repeats[j] < 0 or values[j, g] == values[new[repeats[j]], g])
        if good and alphabet.injective:
            for q in range(n_new):
                fresh = values[new[q], g]
                for t in range(len(before.taboo)):
                    good = good and before.taboo[t] != fresh
                for p in range(q):
                    good = good and values[new[p], g] != fresh
                for c in range(n_constants):
                    good = good and constants[c] != fresh
        if good:
            able[n_able] = g
            marks[g] = 1
            n_able += 1
    return Reading(old[:n_known], new[:n_new], constants[:n_constants], able[:n_able].copy(), marks)


@njit(inline="always")
def facts_here(to, s, able, marks, offset, bits, ground, everywhere, out_facts, out_bits):
    """The admitted facts of a sequence about the events of a word, and about which; how many."""
    n = 0
    if len(able) <= FEW:
        for g in able:
            here = everywhere[g, s] & to
            if here != NONE:
                out_facts[n], out_bits[n] = g, here
                n += 1
    else:
        for at in range(offset[s], offset[s + 1]):
            here = bits[at] & to
            if here != NONE and marks[ground[at]]:
                out_facts[n], out_bits[n] = ground[at], here
                n += 1
    return n


@njit(inline="always")
def constants_are_free(constants, values, i):
    """Under Object Identity: no variable of match i has the value of a constant of the step."""
    good = True
    for c in range(len(constants)):
        for v in range(len(values)):
            good = good and values[v, i] != constants[c]
    return good


@njit(inline="always")
def agrees(old, new, ground_values, g, values, i, injective):
    """Does fact g agree with match i?"""
    good = True
    for p in range(len(old)):
        good = good and values[old[p, 1], i] == ground_values[old[p, 0], g]
    if injective:
        for q in range(len(new)):
            fresh = ground_values[new[q], g]
            for v in range(len(values)):
                good = good and values[v, i] != fresh
    return good


@njit(inline="always")
def write_step(
    alphabet, now, first, dimension, n_steps, event, code, starts, constants, digit, place, out, row
):
    """Decode a code into a step of the trie: a row of `out`. `digit` and `place` are scratch.

    The step is a fact about an event, or a link from it (dimension >= 0) to a new event with a
    fact about that; in a first atom the event is new itself. Returns the event of the fact.
    """
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
    n_all = now.n_all
    if dimension >= 0:
        out[row, DIMENSION], out[row, N_STEPS] = dimension, n_steps
        out[row, FROM], out[row, TO] = event, n_all
        event = n_all
        n_all += 1
    for i in range(k):
        j = k - 1 - i
        radix = n_old + 1 + k + alphabet.n_constants[a0 + j]
        digit[j] = code % radix
        code //= radix
    p = 0
    # New variables are numbered in the order of the arguments; in a first atom the event is one.
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
    return event


@njit(inline="always")
def tallied(counted, sizes, least, min_frequency, stats):
    """Is a candidate frequent, by its supports? `stats` gets what `Level.add` asks for."""
    frequency, enough, share = 0, False, 0.0
    for c in range(len(counted)):
        frequency += counted[c]
        enough = enough or counted[c] >= least[c]
        share = max(share, counted[c] / sizes[c])
    stats[0] += 1
    if frequency < min_frequency:
        stats[1] += 1
        if enough and frequency > stats[3]:
            stats[3], stats[4] = frequency, 0
        if enough and frequency == stats[3]:
            stats[4] += 1
    elif not enough:
        stats[2] += 1
        if share > stats[5]:
            stats[5], stats[6] = share, 0
        if share == stats[5]:
            stats[6] += 1
    return enough and frequency >= min_frequency
