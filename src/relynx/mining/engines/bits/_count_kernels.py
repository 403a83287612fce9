"""Compiled loops that count the refinements of patterns: all of a pattern in one pass over rows.

A refinement is an *attachment*, a fact about the newest event or a new event with its links to the
events of the pattern, and the code of an atom (see `_event_fact_kernels`). Codes that occur get a
*slot*, a record of counters, in the order in which they are met: what does not occur costs nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.engines._canonical_kernels import is_frequent
from relynx.mining.engines.bits._attachment_kernels import (
    every_attachment,
    find_attachments,
    n_places,
    no_links,
    possible_links,
    start_search,
    with_newest,
)
from relynx.mining.engines.bits._event_fact_kernels import (
    NONE,
    ONE,
    atom_codes,
    context,
    lowest_place,
    write_step,
)
from relynx.mining.engines.bits._row_kernels import advance, links_of, shift_line, shifted

MOST_ATTACHMENTS = 62  # that are counted at a time
MOST_ADDS = 1 << 12  # to counters, that are collected first
FEW_CODES = 4  # ways to write a fact: most have no more
UNKNOWN = -1
LAST, SEEN, SUPPORTS = range(3)  # of a record: the last sequence, its attachments, and counters
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@by_reference
class Counters(NamedTuple):
    """Counters of several patterns at once, with room for so many slots, states and codes.

    Under Object Identity the ways to write a fact depend only on which variables hold its values:
    the *state* of the fact. They are worked out once for each state that is met.
    """

    keys: NDArray[np.int64]  # patterns x table: the codes, hashed; -1 for none
    slots: NDArray[np.int32]  # patterns x table
    codes: NDArray[np.int64]  # patterns x slots
    n_slots: NDArray[np.int64]  # patterns
    records: NDArray[np.int64]  # patterns x room
    state_at: NDArray[np.int32]  # patterns x states: where the slots of a state are in `pool`
    used: NDArray[np.int32]  # patterns x states: those that are known
    n_used: NDArray[np.int64]  # patterns
    met: NDArray[np.int64]  # states: the attachments in which a sequence meets a state
    met_states: NDArray[np.int32]  # those that it meets, and one place more
    met_rows: NDArray[np.int64]  # in which row it meets each of them first
    to_add: NDArray[np.int32]  # the slots to be counted next
    hits_of: NDArray[np.int64]  # and for which attachments
    pool: NDArray[np.int32]  # a number of slots, and these; and so on
    n_pool: NDArray[np.int64]  # one number
    added: NDArray[np.int64]  # what a set of attachments adds to a counter
    # What was counted: where its slots are in the pool, or ~ its place in `records`; the sequence,
    # and the attachments. Empty for no log.
    log: NDArray[np.int64]
    n_log: NDArray[np.int64]  # one number


def attachments_per_word(most: int) -> int:
    """How many attachments share a counter when no support is larger than `most`."""
    return 4 if most < 1 << 15 else 2


def added(per_word: int) -> NDArray[np.int64]:
    """For each set of attachments that share a counter, as bits, what counts one more sequence."""
    width = 64 // per_word
    sets = range(1 << per_word)
    return np.array([sum((b >> i & 1) << width * i for i in range(per_word)) for b in sets], "i8")


@inner_kernel
def slot_of(code, counters, c, stride):
    """The slot of a code, a new one if need be; -1 where there is no room."""
    keys, slots, codes = counters.keys[c], counters.slots[c], counters.codes[c]
    records, slot = counters.records[c], counters.n_slots[c]
    mask = np.int64(len(keys) - 1)
    at = np.int64((np.uint64(code) * GOLDEN) >> np.uint64(33)) & mask
    while keys[at] >= 0 and keys[at] != code:
        at = (at + 1) & mask
    if keys[at] == code:
        return np.int64(slots[at])
    if slot >= len(codes) or (slot + 1) * stride > len(records):
        return np.int64(-1)
    keys[at], slots[at], codes[slot] = code, slot, code
    counters.n_slots[c] = slot + 1
    for q in range(slot * stride, (slot + 1) * stride):
        records[q] = 0
    records[slot * stride + LAST] = -1
    return slot


# Indices of the innermost loops are unsigned: numba looks at the sign of others first.


@inlined
def add_to(records, base, place, n_words, hits, s, added):
    """Count a sequence in the record at `base`, for some attachments.

    `place` is where in a record the counters of its class are.
    """
    mask = np.int64(len(added) - 1)
    at = base + place
    if n_words == 1:  # the mark of a sequence and its attachments share a number
        mark = s << 4
        known = records[base] if records[base] > mark else mark
        fresh = hits & ~known
        records[base] = known | hits
        records[at] += added[np.uint64(fresh)]
    else:
        known = records[base + np.uint64(SEEN)] if records[base] == s else np.int64(0)
        fresh = hits & ~known
        records[base] = s
        records[base + np.uint64(SEEN)] = known | hits
        left, width = fresh, 4 if mask == 15 else 2
        while left:
            records[at] += added[np.uint64(left & mask)]
            left >>= width
            at += np.uint64(1)


@inner_kernel
def link_tree(links, attachments):
    """Of each attachment which is without its last link, and the kind and event of that link.

    Each comes behind that which it extends. The first may extend some that are not there: they are
    put before it. Numbers are counted from 1; 0 is without links.
    """
    n_above = np.int64(0)
    while n_above + 1 < attachments.shape[1] and attachments[0, n_above + 1] >= 0:
        n_above += 1
    out = np.zeros((n_above + len(attachments), 3), np.uint64)
    last = np.zeros(attachments.shape[1] + 1, np.uint64)
    for x in range(len(out)):
        a, depth = max(x - n_above, 0), 0
        most = x + 1 if x < n_above else attachments.shape[1]
        while depth < most and attachments[a, depth] >= 0:
            depth += 1
        if depth:
            p = attachments[a, depth - 1]
            out[x, 0], out[x, 1], out[x, 2] = last[depth - 1], links[p, 0], links[p, 1]
            last[depth] = x + 1
    return out


@inlined
def reach_links(facts, graph, rows, i, j, tree, first, here, to, reached):
    """Where each attachment leads from rows i to j, along several dimensions.

    The attachments before the first are facts about the newest event.
    """
    s, words, events, injective = rows.block[i], graph.words, rows.events, facts.injective
    base, n_kept, n_ways = graph.node_off[s], len(events), len(tree)
    for k in range(i, j):
        free = facts.spoken_of[s]
        for e in range(n_kept):
            here[e] = base + events[e, k]
            if injective:
                free &= ~(ONE << np.uint64(events[e, k]))
        rest = rows.word[k]
        if first:
            reached[0, 0] |= rest
        while rest != NONE:
            place = lowest_place(rest)
            rest &= rest - ONE
            here[n_kept] = base + place
            to[0] = free & ~(ONE << np.uint64(place)) if injective else free
            for x in range(np.uint64(first), np.uint64(n_ways)):
                word = to[tree[x, 0]] & words[tree[x, 1], np.uint64(here[tree[x, 2]])]
                to[x + ONE] = word
                reached[x, 0] |= word


@inner_kernel
def write_codes(facts, g, n_old, stride, counters, c, scratch):
    """Put the slots of the ways to write a fact behind the pool; where they are.

    It is seen from the row whose values are in `scratch`. Negative where there is no room. Without
    `keep_state` the next ones take the same place.
    """
    holders, seen, pool = scratch.holders, scratch.seen, counters.pool
    for v in range(n_old):
        holders[seen[v]] |= ONE << np.uint64(v)
    m = atom_codes(facts, g, n_old, scratch)
    for v in range(n_old):
        holders[seen[v]] = NONE
    first = counters.n_pool[0]
    if first + m + FEW_CODES >= len(pool):
        return np.int64(UNKNOWN)
    pool[first] = m
    for x in range(m):
        slot = slot_of(scratch.codes[x], counters, c, stride)
        if slot < 0:
            return np.int64(UNKNOWN)
        pool[first + 1 + x] = slot * stride
    return first


@inlined
def keep_state(counters, c, state, first):
    """Remember where the slots of a state are."""
    counters.state_at[c, state] = first
    counters.used[c, counters.n_used[c]] = state
    counters.n_used[c] += 1
    counters.n_pool[0] = first + 1 + counters.pool[first]


@kernel
def count(facts, graph, rows, begin, end, now, links, attachments, counters, c, scratch):
    """Count all refinements of a pattern, for some of its rows; was there room for them?

    `links` are (kind, event, slot, leads to the new event), and attachments rows of their numbers
    that end with -1; one that begins with it stands for facts about the newest event.
    """
    n_old, n_ways = len(now.number), len(attachments)
    holder, excluded, seen = scratch.holder, scratch.excluded, scratch.seen
    for t in range(len(now.excluded)):
        excluded[now.excluded[t]] = 1
    for v in range(n_old):
        scratch.types[v] = now.types[v]
    records, state_at, met = counters.records[c], counters.state_at[c], counters.met
    met_states, met_rows = counters.met_states, counters.met_rows
    to_add, hits_of = counters.to_add, counters.hits_of
    pool, added = counters.pool, counters.added
    log, n_log = counters.log, counters.n_log[0]
    is_logged = len(log) > 0
    per_word = 4 if len(added) == 16 else 2
    n_words = (n_ways + per_word - 1) // per_word
    stride = SUPPORTS + facts.n_classes * n_words
    widest, padded = len(facts.values), facts.padded
    n_holders = np.uint64(n_old + 1)
    n_states = len(facts.relation)
    for _ in range(len(facts.values)):
        n_states = min(n_states * (n_old + 1), 1 << 40)
    by_states = facts.injective and n_states <= len(state_at)
    plain = by_states and not n_old and graph.most_blocks == 1 and facts.is_plain
    is_line = graph.is_line
    # Of lines: -1 for facts about the newest event, 64 for none.
    steps = np.zeros(max(n_ways, 4), np.int64)
    for a in range(len(steps)):
        steps[a] = 64
        if is_line and a < n_ways:
            p = attachments[a, 0]
            steps[a] = graph.steps[links[p, 0]] if p >= 0 else -1
    tree = np.zeros((0, 3), np.uint64) if is_line else link_tree(links, attachments)
    n_above = np.int64(0) if is_line else len(tree) - n_ways
    leads_to = np.zeros(len(tree) + 1, np.uint64)
    from_newest = np.int64(attachments[0, 0] < 0)
    all_reached = np.zeros((max(n_ways, 4) + n_above, graph.most_blocks + 1), np.uint64)
    reached = all_reached[n_above:]
    here = np.zeros(len(rows.events) + 1, np.int64)
    ways_in = np.zeros(64, np.int64)  # position in a block -> the attachments that lead there
    few = n_ways <= 4
    is_short = is_line and graph.most_blocks == 1
    block_off, sequence, labels = facts.block_off, facts.sequence, facts.labels
    offset, fact_bits, fact_of = facts.offset, facts.bits, facts.fact
    row_block, row_joins = rows.block, rows.joins
    row_word, row_values = rows.word, rows.values
    n_met, full = np.uint64(0), False
    i = begin
    while i < end and not full:
        j = i + 1
        while j < end and row_joins[j]:
            j += 1
        s = np.int64(sequence[row_block[i]])
        first_block = block_off[s]
        place = np.uint64(SUPPORTS + labels[s] * n_words)
        low, high = block_off[s + 1] - first_block, np.int64(0)
        if is_short:
            low, high = np.int64(0), np.int64(1)
            word = row_word[i]
            for a in range(4, n_ways):
                reached[a, 0] = shifted(word, steps[a])
        elif not is_line:
            low, high = np.int64(0), np.int64(1)
            reach_links(facts, graph, rows, i, j, tree, from_newest, here, leads_to, all_reached)
        else:
            n_blocks = low
            for a in range(n_ways):
                if steps[a] < 0:
                    for k in range(i, j):
                        reached[a, row_block[k] - first_block] = row_word[k]
                    first, last = row_block[i] - first_block, row_block[j - 1] - first_block + 1
                else:
                    first, last = shift_line(
                        row_word, row_block, i, j, first_block, n_blocks, steps[a], reached[a]
                    )
                low, high = min(low, first), max(high, last)
        for v in range(n_old):
            holder[np.uint64(row_values[v, i])] = np.uint64(v + 1)
        for b in range(low, high):
            word0, word1, word2, word3 = reached[0, b], reached[1, b], reached[2, b], reached[3, b]
            if is_short:
                word0, word1 = shifted(word, steps[0]), shifted(word, steps[1])
                word2, word3 = shifted(word, steps[2]), shifted(word, steps[3])
            any_word = word0 | word1 | word2 | word3
            for a in range(4, n_ways):
                any_word |= reached[a, b]
            if any_word == NONE:
                continue
            if not is_line and not few:
                for a in range(n_ways):
                    w = reached[a, b]
                    while w != NONE:
                        ways_in[lowest_place(w)] |= np.int64(1) << a
                        w &= w - ONE
            lowest = any_word & (~any_word + ONE)
            for at in range(offset[first_block + b], offset[first_block + b + 1]):
                bits = fact_bits[np.uint64(at)]
                if bits < lowest:
                    break  # entries come in falling order of their words
                common = bits & any_word
                if common == NONE:
                    continue
                if few or is_line:
                    hits = np.int64(word0 & bits != NONE)  # the first of them are in registers
                    hits |= np.int64(word1 & bits != NONE) << 1
                    hits |= np.int64(word2 & bits != NONE) << 2
                    hits |= np.int64(word3 & bits != NONE) << 3
                    for a in range(4, n_ways):
                        hits |= np.int64(reached[a, b] & bits != NONE) << a
                else:
                    hits = np.int64(0)
                    while common != NONE:
                        hits |= ways_in[lowest_place(common)]
                        common &= common - ONE
                g = np.uint64(fact_of[np.uint64(at)])
                if by_states and not plain:
                    state = g
                    if n_old:
                        q = g * np.uint64(widest)
                        state = state * n_holders + holder[padded[q]]
                        if widest > 1:  # most facts have one value or two
                            state = state * n_holders + holder[padded[q + ONE]]
                        for x in range(2, widest):
                            state = state * n_holders + holder[padded[q + np.uint64(x)]]
                    # Without a branch: whether the sequence has met it cannot be foretold.
                    known = met[state]
                    met[state] = known | hits
                    met_states[n_met], met_rows[n_met] = state, i
                    n_met += np.uint64(known == 0)
                    continue
                first = np.int64(state_at[g]) if plain else np.int64(UNKNOWN)
                if first == UNKNOWN:
                    for v in range(n_old):
                        seen[v] = row_values[v, i]
                    first = write_codes(facts, np.int64(g), n_old, stride, counters, c, scratch)
                    full = first < 0
                    if full:
                        break
                    if plain:  # else the same room is used again
                        keep_state(counters, c, np.int64(g), first)
                for y in range(np.uint64(first + 1), np.uint64(first + 1 + pool[first])):
                    add_to(records, np.uint64(pool[y]), place, n_words, hits, s, added)
                    if is_logged and not by_states:
                        if n_log < len(log):
                            log[n_log, 0], log[n_log, 1], log[n_log, 2] = ~pool[y], s, hits
                        n_log += 1
                if is_logged and by_states:
                    if n_log < len(log):
                        log[n_log, 0], log[n_log, 1], log[n_log, 2] = first, s, hits
                    n_log += 1
            if not is_line and not few:
                while any_word != NONE:
                    ways_in[lowest_place(any_word)] = 0
                    any_word &= any_word - ONE
        if not is_short:
            for a in range(n_ways):
                for b in range(low, high):
                    reached[a, b] = NONE
        for v in range(n_old):
            holder[np.uint64(row_values[v, i])] = NONE
        if j == end or sequence[row_block[j]] != s or full:
            x = np.uint64(0)
            while x < n_met:
                n_adds = np.int64(0)
                while x < n_met and n_adds < MOST_ADDS:
                    state, row = np.uint64(met_states[x]), met_rows[x]
                    hits = met[state]
                    met[state] = 0
                    x += ONE
                    first = np.int64(state_at[state])
                    if first == UNKNOWN and not full:
                        g = np.int64(state)
                        for _ in range(widest if n_old else 0):
                            g //= n_old + 1
                        for v in range(n_old):
                            seen[v] = row_values[v, row]
                        first = write_codes(facts, g, n_old, stride, counters, c, scratch)
                        full = first < 0
                        if not full:
                            keep_state(counters, c, np.int64(state), first)
                    if full:
                        continue
                    # A few are copied whether they are there or not: it cannot be foretold.
                    start, at = np.uint64(first + 1), np.uint64(n_adds)
                    for y in range(FEW_CODES):
                        to_add[at + np.uint64(y)] = pool[start + np.uint64(y)]
                        hits_of[at + np.uint64(y)] = hits
                    for y in range(FEW_CODES, pool[np.uint64(first)]):
                        to_add[at + np.uint64(y)] = pool[start + np.uint64(y)]
                        hits_of[at + np.uint64(y)] = hits
                    n_adds += pool[np.uint64(first)]
                    if is_logged:
                        if n_log < len(log):
                            log[n_log, 0], log[n_log, 1], log[n_log, 2] = first, s, hits
                        n_log += 1
                for y in range(np.uint64(n_adds)):
                    add_to(records, np.uint64(to_add[y]), place, n_words, hits_of[y], s, added)
            n_met = np.uint64(0)
        i = j
    for t in range(len(now.excluded)):
        excluded[now.excluded[t]] = 0
    counters.n_log[0] = n_log
    return not full and n_log <= max(len(log), 0)


@by_reference
class Refinements(NamedTuple):
    """Frequent refinements of some siblings, in the order in which they were found."""

    owner: NDArray[np.int32]  # which sibling one refines
    codes: NDArray[np.int64]
    steps: NDArray[np.int32]  # the fact, with the first link of its event
    extra: NDArray[np.int32]  # further links: dimension, steps, from, to; -1 for none
    extends: NDArray[np.int32]  # the refinement without the last of these, itself where none is
    supports: NDArray[np.int32]
    covered: NDArray[np.uint64]  # the sequences as bits; of no columns where there is no log
    n: NDArray[np.int64]  # one number
    stats: NDArray[np.float64]  # tallies, as `SearchLevel.add` takes them
    counted: NDArray[np.int64]  # the supports of one that is looked at


@kernel
def collect(
    facts, graph, thresholds, now, links, attachments, n_before, trail, counters, c, child, out
):
    """Append the frequent refinements among those counted; was there room?

    It keeps the counts. Where there is no room, the tallies are to be put back as they were.

    `n_before` attachments of the pattern were collected before. `trail` remembers where the
    refinements of each attachment begin, and behind them the last attachment of each depth.
    """
    per_word = 4 if len(counters.added) == 16 else 2
    width = 64 // per_word
    mask = (np.int64(1) << width) - 1
    n_ways, n_classes, n_slots = len(attachments), facts.n_classes, counters.n_slots[c]
    n_words = (n_ways + per_word - 1) // per_word
    stride = SUPPORTS + n_classes * n_words
    records = counters.records[c]
    n_steps = len(graph.steps)
    n_kinds = len(graph.dimensions) * n_steps
    counted, stats = out.counted, out.stats  # without owners, whose users numba would count
    step = np.zeros(out.steps.shape[1], np.int64)
    is_logged = len(counters.log) > 0
    first = len(now.events) == 0  # no atom comes before
    row_of = np.zeros((n_ways, n_slots) if is_logged else (0, 0), np.int64)  # plus one
    start = out.n[0]
    n = start
    for a in range(n_ways):
        depth = 0
        while depth < attachments.shape[1] and attachments[a, depth] >= 0:
            depth += 1
        way, at_depth = n_before + a, len(trail) - attachments.shape[1] - 1
        shorter = trail[at_depth + depth - 1]
        trail[at_depth + depth] = way
        trail[way] = n
        dimension, n_along, event = -1, 0, now.events[-1] if len(now.events) else 0
        if depth:
            kind, e = links[attachments[a, 0], 0], links[attachments[a, 0], 1]
            dimension, n_along = graph.dimensions[kind // n_steps], graph.steps[kind % n_steps]
            event = now.events[e]
        for slot in range(n_slots):
            some = 0
            for k in range(n_classes):
                word = records[slot * stride + SUPPORTS + k * n_words + a // per_word]
                counted[k] = (word >> (width * (a % per_word))) & mask
                some += counted[k]
            if not some or not is_frequent(counted, thresholds, stats):
                continue
            if is_logged:
                row_of[a, slot] = n + 1
            if n < len(out.owner):
                code = counters.codes[c, slot]
                new = write_step(facts, now, first, dimension, n_along, event, code, step)
                for q in range(len(step)):
                    out.steps[n, q] = step[q]
                for q in range(out.extra.shape[1]):
                    out.extra[n, q, 0] = -1
                    if q + 1 < depth:
                        kind, e = links[attachments[a, q + 1], 0], links[attachments[a, q + 1], 1]
                        out.extra[n, q, 0] = graph.dimensions[kind % n_kinds // n_steps]
                        out.extra[n, q, 1] = graph.steps[kind % n_steps]
                        out.extra[n, q, 2] = now.events[e] if kind < n_kinds else new
                        out.extra[n, q, 3] = new if kind < n_kinds else now.events[e]
                out.owner[n], out.codes[n], out.extends[n] = child, code, n
                if depth > 1:  # the same fact with one link less is frequent, too
                    at = trail[shorter]
                    while out.codes[at] != code:
                        at += 1
                    out.extends[n] = at
                for k in range(n_classes):
                    out.supports[n, k] = counted[k]
            n += 1
    out.n[0] = n
    if n > len(out.owner):
        return False
    if out.covered.shape[1]:
        mark_covered(counters, row_of, stride, out.covered, start, n)
    return True


@inlined
def mark_covered(counters, row_of, stride, covered, start, end):
    """Mark the sequences of each refinement that was found, from the log of what was counted."""
    for row in range(start, end):
        for w in range(covered.shape[1]):
            covered[row, w] = NONE
    for x in range(counters.n_log[0]):
        first, s = counters.log[x, 0], counters.log[x, 1]
        n = counters.pool[first] if first >= 0 else 1
        for y in range(n):
            place = counters.pool[first + 1 + y] if first >= 0 else ~first
            left, a = counters.log[x, 2], 0
            while left:
                row = row_of[a, place // stride] - 1
                if left & 1 and row >= 0:
                    covered[row, s >> 6] |= ONE << np.uint64(s & 63)
                left >>= 1
                a += 1


@kernel
def forget(counters):
    """Make counters ready for other patterns."""
    for c in range(len(counters.n_slots)):
        keys = counters.keys[c]
        mask = np.int64(len(keys) - 1)
        for slot in range(counters.n_slots[c]):
            at = np.int64((np.uint64(counters.codes[c, slot]) * GOLDEN) >> np.uint64(33)) & mask
            while keys[at] >= 0:  # all that stand in a row behind it go, too: none is to stay
                keys[at] = -1
                at = (at + 1) & mask
        for x in range(counters.n_used[c]):
            counters.state_at[c, counters.used[c, x]] = UNKNOWN
        counters.n_slots[c] = counters.n_used[c] = 0
    counters.n_pool[0] = counters.n_log[0] = 0


DONE, MORE_COUNTERS, MORE_ROOM, LARGE = range(4)  # why a call ends


class Work(NamedTuple):
    """How much one call does."""

    piece: int  # rows of the parent that are counted for one child after the other, along lines
    rows: int  # of a child: one with more is left to the caller
    places: int  # likewise, of the newest event in all rows, along several dimensions
    looks: int  # when so many are done the call ends


@kernel
def followed_by(chain, step, extra):
    """A chain of one more step and its further links."""
    n = len(chain) + 1
    for q in range(len(extra)):
        n += extra[q, 0] >= 0
    out = np.zeros((n, chain.shape[1]), np.int64)
    for q in range(chain.shape[1]):
        for i in range(len(chain)):
            out[i, q] = chain[i, q]
        out[len(chain), q] = step[q]
    for i in range(n - len(chain) - 1):
        for q in range(4):
            out[len(chain) + 1 + i, q] = extra[i, q]
        out[len(chain) + 1 + i, 4] = -1
    return out


@kernel
def refine(
    facts,
    graph,
    thresholds,
    rows,
    chain,
    steps,
    extra,
    done,
    begin,
    work,
    counters,
    scratch,
    efforts,
    out,
):
    """Refine the children of a pattern from the done-th on; why it ends, how many are done, and how
    many rows of the pattern are counted for those that are next.

    `chain` are the steps of the pattern, with its rows; `steps` and `extra` those of its children.
    `efforts` gets how much was looked at for each child. Where the pattern has many rows, along
    lines, several children are counted together, each by counters of its own: what some rows read
    stays in the caches of the machine until all these children have read it.
    """
    before = context(facts, chain)
    n_rows, looked = len(rows.block), 0
    is_split = graph.is_line and n_rows > work.piece
    effort_a_row, about_newest = 1 + facts.most_entries // 4, facts.about_newest
    while done < len(steps):
        if looked >= work.looks:
            return DONE, done, begin
        last = min(done + len(counters.n_slots), len(steps)) if is_split else done + 1
        end = min(begin + work.piece, n_rows) if is_split else n_rows
        while end < n_rows and rows.joins[end]:  # those of one sequence and values stay together
            end += 1
        for child in range(done, last):
            n_done = child if end == n_rows else done
            into = links_of(graph, before, steps[child], extra[child])
            made = advance(
                facts, graph, rows, begin, end, before, into, steps[child], scratch, work.rows
            )
            n_made = len(made.block)
            if n_made > work.rows:
                forget(counters)
                return LARGE, n_done, np.int64(0)
            now = context(facts, followed_by(chain, steps[child], extra[child]))
            links = possible_links(graph, now)
            ways = every_attachment(graph, links, about_newest)
            effort = end - begin + n_made * effort_a_row
            if not graph.is_line:
                places = n_places(made)
                deepest = np.int64(0)
                for p in range(len(links)):
                    deepest = max(deepest, links[p, 2] + 1)
                if places > work.places:
                    return LARGE, child, np.int64(0)
                search = start_search(facts, graph, made, deepest, places)
                none = no_links(64, ways.shape[1])
                found, n = find_attachments(
                    facts, graph, thresholds, search, links, none, 1 << 12, work.looks
                )
                if n < 0 or search.at[1] >= 0 or places * n > work.looks:
                    return LARGE, child, np.int64(0)
                ways = with_newest(found, n, about_newest)
                effort = places * len(ways) + 64 * (n_rows + n_made)
            efforts[child] = effort + (efforts[child] if begin else 0)
            looked += effort
            start, stats_before = out.n[0], out.stats.copy()
            trail = np.zeros(len(ways) + ways.shape[1] + 1, np.int64)
            for at in range(0, len(ways), MOST_ATTACHMENTS):  # along lines there are fewer
                some, c = ways[at : at + MOST_ATTACHMENTS], child - done
                good = count(
                    facts, graph, made, np.int64(0), n_made, now, links, some, counters, c, scratch
                )
                if good and end < n_rows:
                    continue
                room = good and collect(
                    facts, graph, thresholds, now, links, some, at, trail, counters, c, child, out
                )
                if not room or child + 1 == last:
                    forget(counters)
                if not room:  # the child is refined again, from its first attachment on
                    out.n[0] = start
                    for i in range(len(out.stats)):
                        out.stats[i] = stats_before[i]
                    return MORE_ROOM if good else MORE_COUNTERS, n_done, np.int64(0)
        begin = end if end < n_rows else np.int64(0)
        done = done if end < n_rows else last
    return DONE, done, begin
