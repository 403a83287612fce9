"""Compiled loops of the miner: count all refinements of a pattern over its matches.

The argument of a new atom is written as a digit: an old variable is its number v < V, a
new variable is V, one that repeats the new variable of argument q is V+1+q, a constant is
V+1+arity+i, where i is its place among the constants that the bias admits there. V counts the
event that a link introduces, which is variable V-1 then.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._canonical_kernels import canonical_all as canonical_all
from relynx.mining.engines._canonical_kernels import canonical_atoms as canonical_atoms
from relynx.mining.engines._listing_kernels import MOST_ARGUMENTS, facts_with, is_taken, targets
from relynx.mining.matching._backtracking_kernels import GRAPH, walk

OLD, NEW, CONSTANT = 0, 1, 2  # what an argument of a new atom may be


class Language(NamedTuple):
    """The bias in numbers. R relations, A arguments over all relations, T types."""

    arity: NDArray[np.int64]  # R
    argument0: NDArray[np.int64]  # R: the first argument of a relation
    types: NDArray[np.int64]  # A
    look_up: NDArray[np.int64]  # A: the index of an argument
    admits: NDArray[np.int64]  # A x 3: bit m says that mode m admits an old, new, constant argument
    digit0: NDArray[np.int64]  # A: where the digits of an argument's constants begin
    digits: NDArray[np.int32]  # code -> place among the constants, -1 for none
    n_constants: NDArray[np.int64]  # A
    anchor_off: NDArray[np.int64]  # T+1: arguments by type that an old variable may stand in
    anchors: NDArray[np.int64]  # (relation, argument)
    event_type: int
    one_event: bool  # no relation has more than one event
    injective: bool


class Counts(NamedTuple):
    """A hash table from refinements to supports. `used` lists the slots that are taken."""

    keys: NDArray[np.int64]
    last: NDArray[np.int32]  # the last sequence that was counted
    supports: NDArray[np.int32]  # slots x classes
    used: NDArray[np.int64]
    n_used: NDArray[np.int64]  # one number


class Pattern(NamedTuple):
    """What is to be known of a pattern to refine it."""

    length: int
    is_last: bool  # no atom is to be added, but closings are
    atoms: NDArray[np.int64]  # a predicate and its arguments a row
    types: NDArray[np.int64]  # of the variables, and that of one more event
    taboo: NDArray[np.int64]  # the keys of its constants
    links: NDArray[np.int64]  # (dimension, n, x): steps to a new event
    closings: NDArray[np.int64]  # (dimension, n, x, y): steps to an old one
    bases: NDArray[np.int64]  # where the keys of each family begin, and end; empty for too many
    families: NDArray[np.int64]  # those of new atoms, of each link, of closings: a row a relation


@njit(inline="always")
def count(keys, last, supports, used, n_used, key, s, label):
    """Count a sequence for a refinement; False when the table is full."""
    mask = len(keys) - 1
    slot = (key * np.int64(-7046029254386353131) >> 20) & mask
    while keys[slot] != key and keys[slot] >= 0:
        slot = (slot + 1) & mask
    good = True
    if keys[slot] < 0:
        n = n_used[0]
        if 2 * n >= mask:
            good = False
        else:
            keys[slot] = key
            last[slot] = -1
            for c in range(supports.shape[1]):
                supports[slot, c] = 0
            used[n] = slot
            n_used[0] = n + 1
    if good and last[slot] != s:
        last[slot] = s
        supports[slot, label] += 1
    return good


@njit(inline="always")
def room_for_arguments():
    """Where `emit` writes down how far it is, one number an argument: choices, codes and modes."""
    choice, code = np.zeros(MOST_ARGUMENTS + 1, np.int64), np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes = np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes[0] = -1
    return choice, code, modes


@njit(inline="always")
def emit(
    cells,
    base,
    m,
    n_nodes,
    k,
    a0,
    argument_types,
    admits,
    digit0,
    digits,
    n_constants,
    injective,
    fixed_at,
    fixed,
    values,
    types,
    n_old,
    taboo,
    family,
    s,
    label,
    keys,
    last_counted,
    supports,
    used,
    n_used,
    choice,
    code,
    modes,
):
    """Count every atom that a fact gives: one for each way to write its arguments.

    The fact's cells are m apart from `base` on. Argument `fixed_at` (if any) is the old variable
    `fixed`. `values` and `types` are those of the n_old old variables; `taboo` are the constants
    of the pattern. A refinement's key is `family` plus the digits of the arguments as one number.
    """
    full = False
    choice[0] = -1
    j = 0
    while j >= 0:
        if j == k:
            key = family + code[k]
            if not count(keys, last_counted, supports, used, n_used, key, s, label):
                full = True
                break
            j -= 1
            continue
        a = a0 + j
        key = np.int64(cells[base + j * m])
        last = n_old + 1 + j  # the choices: old variables, new, repetitions, a constant
        old = modes[j] & admits[a, OLD]
        taken = False
        while choice[j] < last and not taken:
            c = choice[j] + 1
            if not old and j != fixed_at:
                if c < n_old:
                    c = n_old
                elif n_old < c < last:
                    c = last
            choice[j] = c
            digit = c
            allowed = np.int64(0)
            if j == fixed_at:
                c = fixed
                choice[j] = last
                digit = c
                allowed = old
            elif c < n_old:
                if values[c] == key and types[c] == argument_types[a]:
                    allowed = old
            elif c == n_old:
                allowed = modes[j] & admits[a, NEW]
                if allowed and injective:
                    if is_taken(values, n_old, key) or is_taken(taboo, len(taboo), key):
                        allowed = np.int64(0)
                    for q in range(j):
                        other = choice[q] >= n_old and q != fixed_at
                        if other and cells[base + q * m] == key:
                            allowed = np.int64(0)
            elif c < last:
                q = c - n_old - 1
                same = choice[q] == n_old and q != fixed_at
                same = same and cells[base + q * m] == key
                if same and argument_types[a0 + q] == argument_types[a]:
                    allowed = old
            elif key >= n_nodes:
                place = digits[digit0[a] + key - n_nodes]
                if place >= 0:
                    digit = n_old + 1 + k + place
                    allowed = modes[j] & admits[a, CONSTANT]
                    if allowed and injective:
                        if is_taken(values, n_old, key):
                            allowed = np.int64(0)
                        for q in range(j):
                            new = choice[q] == n_old and q != fixed_at
                            if new and cells[base + q * m] == key:
                                allowed = np.int64(0)
            if allowed:
                modes[j + 1] = allowed
                code[j + 1] = code[j] * (n_old + 1 + k + n_constants[a]) + digit
                taken = True
        if taken:
            j += 1
            if j < k:
                choice[j] = -1
        else:
            j -= 1
    return not full


@njit(cache=True, nogil=True)
def count_first(data, language, labels, families, counts):
    """Count every first atom; False when the table is full."""
    none = np.zeros(0, np.int64)
    choice, code, modes = room_for_arguments()
    for relation in range(len(language.arity)):
        for s in range(len(labels)):
            for fact in range(data.seq_off[relation, s], data.seq_off[relation, s + 1]):
                if not emit(
                    data.cells,
                    data.cell_off[relation] + fact,
                    data.size[relation],
                    data.n_nodes,
                    language.arity[relation],
                    language.argument0[relation],
                    language.types,
                    language.admits,
                    language.digit0,
                    language.digits,
                    language.n_constants,
                    language.injective,
                    -1,
                    -1,
                    none,
                    none,
                    0,
                    none,
                    families[0, relation],
                    s,
                    labels[s],
                    counts.keys,
                    counts.last,
                    counts.supports,
                    counts.used,
                    counts.n_used,
                    choice,
                    code,
                    modes,
                ):
                    return False
    return True


@njit(inline="always")
def is_alone(language, types):
    """Does what an event adds not depend on the rest of a match?

    So it is where no value is at stake and facts speak of one event each.
    """
    alone = language.one_event
    for v in range(len(types)):
        alone = alone and types[v] == language.event_type
    return alone


@njit(cache=True, nogil=True)
def count_refinements(data, language, matches, sequence, begin, end, labels, pattern, counts):
    """Count every refinement of a pattern over some of its matches.

    How many events and facts were looked at; -1 when the table is full. Family 0 are new atoms,
    1.. those after a link, the last the closings.
    """
    n_nodes, node_off, shape = data.n_nodes, data.node_off, data.shape
    order, rank, first, last = data.order, data.rank, data.first, data.last
    next_off, neighbours = data.next_off, data.neighbours
    lo, hi, index_off, seq_off = data.lo, data.hi, data.index_off, data.seq_off
    index_keys, perm = data.keys, data.perm
    cells, cell_off, size = data.cells, data.cell_off, data.size
    anchor_off, anchors = language.anchor_off, language.anchors
    look_ups, argument0, arity = language.look_up, language.argument0, language.arity
    argument_types, admits, injective = language.types, language.admits, language.injective
    digit0, digits, n_constants = language.digit0, language.digits, language.n_constants
    keys, last_counted, supports = counts.keys, counts.last, counts.supports
    used, n_used = counts.used, counts.n_used
    links, closings, families = pattern.links, pattern.closings, pattern.families
    types, taboo = pattern.types, pattern.taboo
    n_links = len(links)
    n_old = len(types) - 1
    values = np.zeros(n_old + 1, np.int64)
    two = np.zeros(2, np.int64)
    choice, code, modes = room_for_arguments()
    most_nodes = max(data.most_nodes, 1)
    marks = np.zeros(most_nodes, np.uint8)
    near = np.zeros(most_nodes, np.int64)
    alone = is_alone(language, types)  # then once a sequence is enough
    seen = np.full((n_old + n_links if alone else 0, most_nodes), -1, np.int32)
    left = np.full((n_links if alone else 0, most_nodes), -1, np.int32)
    closed = np.full(len(closings), -1, np.int32)
    looks = 0
    for i in range(begin, end):
        s = sequence[i]
        label = labels[s]
        node0 = node_off[s]
        for v in range(n_old):
            values[v] = matches[v, i]
        for link in range(n_links if pattern.is_last else -1, n_links):
            many = 1
            n_known, start = n_old, 0
            if link >= 0:
                d, n, x = links[link, 0], links[link, 1], links[link, 2]
                known = alone and values[x] < n_nodes
                if known and left[link, values[x] - node0] == s:
                    continue
                many = targets(
                    s,
                    d,
                    n,
                    values[x],
                    n_nodes,
                    node_off,
                    shape,
                    order,
                    rank,
                    last,
                    next_off,
                    neighbours,
                    marks,
                    near,
                )
                n_known, start = n_old + 1, n_old
                if known:
                    left[link, values[x] - node0] = s
            looks += many
            for t in range(many):
                if link >= 0:
                    if injective and is_taken(values, n_old, near[t]):
                        if alone:
                            left[link, values[links[link, 2]] - node0] = -1  # another match may
                        continue
                    values[n_old] = near[t]
                for v in range(start, n_known):
                    if alone and values[v] < n_nodes:
                        way = v if link < 0 else n_old + link
                        if seen[way, values[v] - node0] == s:
                            continue
                        seen[way, values[v] - node0] = s
                    for at in range(anchor_off[types[v]], anchor_off[types[v] + 1]):
                        relation, arg = anchors[at, 0], anchors[at, 1]
                        a0 = argument0[relation]
                        look_up = look_ups[a0 + arg]
                        facts_with(
                            relation,
                            look_up,
                            s,
                            values[v],
                            n_nodes,
                            lo,
                            hi,
                            index_off,
                            seq_off,
                            index_keys,
                            two,
                        )
                        looks += two[1] - two[0]
                        for f in range(two[0], two[1]):
                            if not emit(
                                cells,
                                cell_off[relation] + perm[index_off[look_up] + f],
                                size[relation],
                                n_nodes,
                                arity[relation],
                                a0,
                                argument_types,
                                admits,
                                digit0,
                                digits,
                                n_constants,
                                injective,
                                arg,
                                v,
                                values,
                                types,
                                n_known,
                                taboo,
                                families[link + 1, relation],
                                s,
                                label,
                                keys,
                                last_counted,
                                supports,
                                used,
                                n_used,
                                choice,
                                code,
                                modes,
                            ):
                                return -1
        for c in range(len(closings)):
            if closed[c] == s:
                continue
            d, n = closings[c, 0], closings[c, 1]
            x, y = values[closings[c, 2]], values[closings[c, 3]]
            if x >= n_nodes or y >= n_nodes:
                continue
            looks += 1
            if shape[d, s] == GRAPH:
                n_here = node_off[s + 1] - node0
                many = walk(next_off[d, 0], neighbours, x, n, node0, n_here, marks, near)
                looks += many
                if not is_taken(near, many, y):
                    continue
            else:
                steps = rank[d, y] - rank[d, x]
                if first[d, x] != first[d, y] or (steps != n if n else steps <= 0):
                    continue
            closed[c] = s
            key = families[n_links + 1, 0] + c
            if not count(keys, last_counted, supports, used, n_used, key, s, label):
                return -1
    return looks + end - begin
