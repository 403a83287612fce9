"""Compiled loops on the facts of events: how a fact is written as an atom, and which fit a step.

The *facts* here are distinct: a relation and the values of its arguments, without the event. The
events of a sequence for which a fact holds are kept as words of 64 bits; a sequence has one *block*
for every 64 events. Facts are indexed both ways: the entries of a block, the postings of a fact.

An argument of a new atom is written as a digit: a variable v of the V that the pattern has is v, a
new variable is V, one that repeats the new variable of argument q is V+1+q, and a constant is
V+1+arity+i, where i is its position among those that the bias admits there. The *code* of an atom
is the number that its digits make, counted on from the start of its relation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.matching._backtracking_kernels import lower_bound

ONE = np.uint64(1)
NONE = np.uint64(0)
DIMENSION, N_STEPS, FROM, TO, RELATION, ARGUMENTS = range(6)  # columns of a step
MOST_VARIABLES = 48  # of a pattern, and arguments of a fact
MOST_WAYS = 1 << 12  # to write one fact


@by_reference
class EventFacts(NamedTuple):
    """The facts of all sequences. G facts, S sequences, B blocks, R relations, A arguments."""

    block_off: NDArray[np.int64]  # S+1: the blocks of a sequence
    sequence: NDArray[np.int32]  # B: the sequence of a block
    spoken_of: NDArray[np.uint64]  # B: the events that have facts
    labels: NDArray[np.int64]  # S: classes
    offset: NDArray[np.int64]  # B+1: the entries of a block
    bits: NDArray[np.uint64]  # of entries: the events, falling inside a block
    fact: NDArray[np.int32]  # of entries
    posting_off: NDArray[np.int64]  # G+1
    posting_block: NDArray[np.int32]  # rising inside a fact
    posting_bits: NDArray[np.uint64]
    fact_off: NDArray[np.int64]  # R+1: the facts of a relation, in order of their values
    relation: NDArray[np.int64]  # G
    everywhere: NDArray[np.uint64]  # G x B: the events of a fact in a block; empty if too large
    values: NDArray[np.int64]  # widest x G
    padded: NDArray[np.uint64]  # G * widest: the same, with a value that does not occur for none
    digit: NDArray[np.int64]  # widest x G: position among the constants of the bias, -1 for none
    arity: NDArray[np.int64]  # R: arguments that hold values
    argument0: NDArray[np.int64]  # R
    event: NDArray[np.int64]  # R: the position of the event among all arguments
    types: NDArray[np.int64]  # A
    old: NDArray[np.uint8]  # A: may be a variable that occurs elsewhere
    new: NDArray[np.uint8]  # A: may be a variable that does not
    n_constants: NDArray[np.int64]  # A
    constants: NDArray[np.int64]  # codes of the vocabulary, type after type
    constant_off: NDArray[np.int64]  # of each type
    code: NDArray[np.int64]  # value -> code of the vocabulary
    value: NDArray[np.int64]  # code of the vocabulary -> value, -1 for none
    starts: NDArray[np.int64]  # variables of a pattern x R+1: where the codes of a relation start
    n_classes: int
    most_entries: int  # of a sequence
    about_newest: bool  # patterns can have several facts about one event
    is_plain: bool  # no argument may be a variable
    injective: bool


class Context(NamedTuple):
    """What the steps of a pattern amount to."""

    number: NDArray[np.int64]  # of each value variable among all variables
    types: NDArray[np.int64]
    excluded: NDArray[np.int64]  # values that are constants of the pattern
    events: NDArray[np.int64]  # event variables in the order in which they were added
    links: NDArray[np.int64]  # dimension, steps, from, to
    n_all: int  # variables in all


@by_reference
class Scratch(NamedTuple):
    """Room for one thread. All but the last five are zero between calls."""

    holders: NDArray[np.uint64]  # value -> the variables that have it, as bits
    holder: NDArray[np.uint64]  # value -> one of them, counted from 1
    excluded: NDArray[np.uint8]  # value -> is a constant of the pattern
    admitted: NDArray[np.uint8]  # fact -> fits the step
    somewhere: NDArray[np.uint64]  # block -> the events of the fact that fits
    options: NDArray[np.int64]
    n_options: NDArray[np.int64]
    codes: NDArray[np.int64]
    seen: NDArray[np.int64]  # the values of the match that a fact is written beside
    types: NDArray[np.int64]  # of its variables


@kernel
def context(facts, chain):
    """What the pattern that a chain of steps makes is made of."""
    number = np.zeros(MOST_VARIABLES, np.int64)
    types = np.zeros(MOST_VARIABLES, np.int64)
    excluded = np.zeros(MOST_VARIABLES, np.int64)
    events = np.zeros(len(chain), np.int64)
    links = np.zeros((len(chain), 4), np.int64)
    n, n_excluded, n_all, n_events, n_links = 0, 0, 0, 0, 0
    for i in range(len(chain)):
        if chain[i, DIMENSION] >= 0:
            for q in range(4):
                links[n_links, q] = chain[i, q]
            n_links += 1
        relation = chain[i, RELATION]
        if relation < 0:
            continue
        a = facts.argument0[relation]
        for j in range(facts.arity[relation] + 1):
            term = chain[i, ARGUMENTS + j]
            n_all = max(n_all, term + 1)
            known = False
            if j == facts.event[relation]:
                for e in range(n_events):
                    known = known or events[e] == term
                if not known:
                    events[n_events] = term
                    n_events += 1
                continue
            if term < 0:
                excluded[n_excluded] = facts.value[~term]
                n_excluded += 1
            else:
                for v in range(n):
                    known = known or number[v] == term
                if not known:
                    number[n], types[n] = term, facts.types[a]
                    n += 1
            a += 1
    return Context(
        number[:n], types[:n], excluded[:n_excluded], events[:n_events], links[:n_links], n_all
    )


@inner_kernel
def equal_codes(facts, g, options, n_options, n_old, codes):
    """The codes of a fact in which some value occurs twice: its arguments are not independent.

    `codes[0]` is where those of the relation start. Returns how many there are.
    """
    r = facts.relation[g]
    k, a0 = facts.arity[r], facts.argument0[r]
    start = codes[0]
    at = np.zeros(k + 1, np.int64)
    digit = np.zeros(k + 1, np.int64)
    code = np.zeros(k + 1, np.int64)
    at[0] = -1
    n, j = 0, 0
    while j >= 0:
        if j == k:
            codes[n] = start + code[k]
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
            if facts.injective and digit[j] >= n_old:
                constant = digit[j] > n_old
                for q in range(j):
                    if facts.values[q, g] == facts.values[j, g]:
                        # Two equal values are two constants, or an old variable twice.
                        both = constant and digit[q] >= n_old + 1 + k
                        good = good and (both or digit[q] < n_old)
        else:
            q = at[j] - n_options[j]
            good = digit[q] == n_old and facts.values[q, g] == facts.values[j, g]
            good = good and facts.types[a0 + q] == facts.types[a0 + j]
            good = good and facts.old[a0 + j] != 0
            digit[j] = n_old + 1 + q
        if good:
            code[j + 1] = code[j] * (n_old + 1 + k + facts.n_constants[a0 + j]) + digit[j]
            j += 1
            if j < k:
                at[j] = -1
    return n


@inner_kernel
def atom_codes(facts, g, n_old, scratch):
    """The codes of all atoms that a fact may be written as beside a match; how many.

    `scratch.types` are those of the variables of the pattern; `scratch.holders` says which of them
    have a value in the match.
    """
    options, n_options, codes = scratch.options, scratch.n_options, scratch.codes
    types = scratch.types
    r = facts.relation[g]
    k, a0 = facts.arity[r], facts.argument0[r]
    start = facts.starts[n_old, r]
    equal = False
    for j in range(k):
        value = facts.values[j, g]
        held = scratch.holders[value]
        m = 0
        if held != NONE and facts.old[a0 + j]:
            for v in range(n_old):
                if (held >> np.uint64(v)) & ONE != NONE and types[v] == facts.types[a0 + j]:
                    options[j, m] = v
                    m += 1
        if not (facts.injective and held != NONE):
            if facts.new[a0 + j] and not (facts.injective and scratch.excluded[value]):
                options[j, m] = n_old
                m += 1
            if facts.digit[j, g] >= 0:
                options[j, m] = n_old + 1 + k + facts.digit[j, g]
                m += 1
        n_options[j] = m
        for q in range(j):
            equal = equal or facts.values[q, g] == value
    codes[0] = start
    if equal:
        return equal_codes(facts, g, options, n_options, n_old, codes)
    n_codes = 1
    for j in range(k):
        radix = n_old + 1 + k + facts.n_constants[a0 + j]
        m = n_options[j]
        for c in range(n_codes - 1, -1, -1):  # the codes so far, each with every option
            part = (codes[c] - start) * radix + start
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
    admitted: NDArray[np.int64]  # the facts that constants and repetitions admit


@inner_kernel
def reading(facts, before, step):
    """How a step reads facts beside a pattern."""
    n_old = len(before.number)
    relation = step[RELATION]
    k = facts.arity[relation]
    old = np.zeros((k, 2), np.int64)
    new = np.zeros(k, np.int64)
    constants = np.zeros(k, np.int64)
    term_of_new = np.zeros(k, np.int64)
    repeats = np.zeros(k, np.int64)  # argument -> the new variable that it repeats, or -1
    fixed = np.zeros(k, np.int64)  # argument -> its constant, or -1
    n_known, n_new, n_constants, j = 0, 0, 0, 0
    for p in range(k + 1):
        if p == facts.event[relation]:
            continue
        term = step[ARGUMENTS + p]
        repeats[j] = fixed[j] = -1
        if term < 0:
            fixed[j] = facts.value[~term]
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
    values = facts.values
    begin, end = facts.fact_off[relation], facts.fact_off[relation + 1]
    if k and fixed[0] >= 0:  # facts are in order of their first values
        begin = lower_bound(values[0], begin, end, fixed[0])
        end = lower_bound(values[0], begin, end, fixed[0] + 1)
    admitted = np.empty(end - begin, np.int64)
    n = 0
    for g in range(begin, end):
        good = True
        for j in range(k):
            good = good and (fixed[j] < 0 or values[j, g] == fixed[j])
            good = good and (repeats[j] < 0 or values[j, g] == values[new[repeats[j]], g])
        if good and facts.injective:
            for q in range(n_new):
                fresh = values[new[q], g]
                for t in range(len(before.excluded)):
                    good = good and before.excluded[t] != fresh
                for p in range(q):
                    good = good and values[new[p], g] != fresh
                for c in range(n_constants):
                    good = good and constants[c] != fresh
        if good:
            admitted[n] = g
            n += 1
    return Reading(old[:n_known], new[:n_new], constants[:n_constants], admitted[:n])


@inlined
def constants_are_free(constants, values, i):
    """Under Object Identity: no variable of match i has the value of a constant of the step."""
    good = True
    for c in range(len(constants)):
        for v in range(len(values)):
            good = good and values[v, i] != constants[c]
    return good


@inlined
def agrees(old, new, fact_values, g, values, i, injective):
    """Does fact g agree with match i?"""
    good = True
    for p in range(len(old)):
        good = good and values[old[p, 1], i] == fact_values[old[p, 0], g]
    if injective:
        for q in range(len(new)):
            fresh = fact_values[new[q], g]
            for v in range(len(values)):
                good = good and values[v, i] != fresh
    return good


@inner_kernel
def write_step(facts, now, first, dimension, n_steps, event, code, out):
    """Decode a code into a step of the trie.

    The step is a fact about an event, or a link from it (dimension >= 0) to a new event with a
    fact about that; in a first atom the event is new itself. Returns the event of the fact.
    """
    n_old = len(now.number)
    starts = facts.starts[n_old]
    r = lower_bound(starts, 0, len(starts) - 1, code + 1) - 1  # the last that begins by then
    code -= starts[r]
    k, a0 = facts.arity[r], facts.argument0[r]
    for q in range(len(out)):
        out[q] = 0
    out[DIMENSION] = -1
    out[RELATION] = r
    n_all = now.n_all
    if dimension >= 0:
        out[DIMENSION], out[N_STEPS] = dimension, n_steps
        out[FROM], out[TO] = event, n_all
        event = n_all
        n_all += 1
    at_event, p = facts.event[r], 0
    for i in range(k):  # first the digits, then what they stand for in their places
        j = k - 1 - i
        radix = n_old + 1 + k + facts.n_constants[a0 + j]
        out[ARGUMENTS + j + (j >= at_event)] = code % radix
        code //= radix
    # New variables are numbered in the order of the arguments; in a first atom the event is one.
    for q in range(k + 1):
        digit = out[ARGUMENTS + q]
        if q == at_event:
            if first:
                event = n_all
                n_all += 1
            out[ARGUMENTS + q] = event
            continue
        if digit < n_old:
            out[ARGUMENTS + q] = now.number[digit]
        elif digit == n_old:
            out[ARGUMENTS + q] = n_all
            n_all += 1
        elif digit < n_old + 1 + k:
            j = digit - n_old - 1
            out[ARGUMENTS + q] = out[ARGUMENTS + j + (j >= at_event)]
        else:
            at = facts.constant_off[facts.types[a0 + p]] + digit - n_old - 1 - k
            out[ARGUMENTS + q] = ~facts.constants[at]
        p += 1
    return event


@inner_kernel
def lowest_place(word):
    """The position of the lowest bit of a word that is not zero."""
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


@kernel
def sort_entries(fact, node, sequence, node_off, block_off, offset, out_fact, out_bits, spoken_of):
    """The distinct facts of each block and the events that they hold for, as words of bits.

    Fact i of all is fact[i], about node[i] of sequence[i]. `out_fact` and `out_bits` get those of
    block b from offset[b] on, by falling words. Returns how many there are in all, whether some
    event has several facts, and the most entries of a sequence.
    """
    n_blocks, n_facts = block_off[-1], np.int64(0)
    counts = np.zeros(n_blocks + 1, np.int64)
    for i in range(len(fact)):
        s = sequence[i]
        counts[block_off[s] + ((node[i] - node_off[s]) >> 6) + 1] += 1
        n_facts = max(n_facts, np.int64(fact[i]) + 1)
    for b in range(n_blocks):
        counts[b + 1] += counts[b]
    # The facts of each block, side by side.
    of_block = np.empty(len(fact), np.int32)
    place = np.empty(len(fact), np.uint8)
    at = counts[:-1].copy()
    for i in range(len(fact)):
        s = sequence[i]
        here = node[i] - node_off[s]
        b = block_off[s] + (here >> 6)
        of_block[at[b]], place[at[b]] = fact[i], here & 63
        at[b] += 1
    word_of = np.zeros(n_facts, np.uint64)
    n, several = 0, False
    most = 0
    for s in range(len(block_off) - 1):
        begin = n
        for b in range(block_off[s], block_off[s + 1]):
            offset[b] = n
            taken, m = NONE, 0
            for x in range(counts[b], counts[b + 1]):
                g, bit = of_block[x], ONE << np.uint64(place[x])
                if word_of[g] == NONE:
                    out_fact[n + m] = g
                    m += 1
                elif word_of[g] & bit != NONE:
                    continue
                word_of[g] |= bit
                several = several or taken & bit != NONE
                taken |= bit
            spoken_of[b] = taken
            gap = m // 2
            while gap > 0:  # a Shell sort by falling words, equal ones by fact
                for i in range(gap, m):
                    g, j = out_fact[n + i], i
                    w = word_of[g]
                    while j >= gap:
                        other = out_fact[n + j - gap]
                        if word_of[other] > w or (word_of[other] == w and other < g):
                            break
                        out_fact[n + j] = other
                        j -= gap
                    out_fact[n + j] = g
                gap //= 2
            for i in range(n, n + m):
                out_bits[i] = word_of[out_fact[i]]
                word_of[out_fact[i]] = NONE
            n += m
        most = max(most, n - begin)
    offset[n_blocks] = n
    return n, several, most
