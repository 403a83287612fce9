"""Compiled loops of the miner: count all refinements of a pattern, and list its matches.

A match is a column of keys, one for each variable of the pattern (see `_kernels`), with its
sequence. The argument of a new atom is written as a digit: an old variable is its number v < V, a
new variable is V, one that repeats the new variable of argument q is V+1+q, a constant is
V+1+arity+i, where i is its place among the constants that the bias admits there. V counts the
event that a link introduces, which is variable V-1 then.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining._kernels import GRAPH, lower_bound, walk

OLD, NEW, CONSTANT = 0, 1, 2  # what an argument of a new atom may be
MOST_ARGUMENTS = 12


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


@njit(inline="always")
def count(counts, key, s, label):
    """Count a sequence for a refinement; False when the table is full."""
    mask = len(counts.keys) - 1
    slot = (key * np.int64(-7046029254386353131) >> 20) & mask
    while counts.keys[slot] != key and counts.keys[slot] >= 0:
        slot = (slot + 1) & mask
    good = True
    if counts.keys[slot] < 0:
        n = counts.n_used[0]
        if 2 * n >= mask:
            good = False
        else:
            counts.keys[slot] = key
            counts.last[slot] = -1
            for c in range(counts.supports.shape[1]):
                counts.supports[slot, c] = 0
            counts.used[n] = slot
            counts.n_used[0] = n + 1
    if good and counts.last[slot] != s:
        counts.last[slot] = s
        counts.supports[slot, label] += 1
    return good


@njit(inline="always")
def targets(
    s, d, n, node, n_nodes, node_off, shape, order, rank, last, next_off, neighbours, marks, out
):
    """The events n steps (0: one or more) after an event, into `out`; how many."""
    many = 0
    if node < n_nodes:
        if shape[d, s] == GRAPH:
            n_here = node_off[s + 1] - node_off[s]
            many = walk(next_off[d, 0], neighbours, node, n, node_off[s], n_here, marks, out)
        elif n:
            if rank[d, node] + n <= last[d, node]:
                out[0] = order[d, rank[d, node] + n]
                many = 1
        else:
            many = last[d, node] - rank[d, node]
            for i in range(many):
                out[i] = order[d, rank[d, node] + 1 + i]
    return many


@njit(inline="always")
def is_taken(values, n, key):
    taken = False
    for i in range(n):
        if values[i] == key:
            taken = True
            break
    return taken


@njit(inline="always")
def emit(
    data, language, relation, fact, fixed, values, types, n_old, taboo, family, s, label, counts
):
    """Count every atom that a fact gives: one for each way to write its arguments.

    Argument fixed[0] (if any) is the old variable fixed[1]. `values` and `types` are those of the
    n_old old variables; `taboo` are the constants of the pattern. A refinement's key is `family`
    plus the digits of the arguments as one number.
    """
    k = language.arity[relation]
    a0 = language.argument0[relation]
    base, m = data.cell_off[relation] + fact, data.size[relation]
    choice = np.full(MOST_ARGUMENTS + 1, -1, np.int64)
    code = np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes = np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes[0] = -1
    j = 0
    while j >= 0:
        if j == k:
            if not count(counts, family + code[k], s, label):
                return False
            j -= 1
            continue
        a = a0 + j
        key = data.cells[base + j * m]
        last = n_old + 1 + j  # the choices: old variables, new, repetitions, a constant
        taken = False
        while choice[j] < last and not taken:
            choice[j] += 1
            c = choice[j]
            digit = c
            allowed = np.int64(0)
            if j == fixed[0]:
                c = fixed[1]
                choice[j] = last
                digit = c
                allowed = modes[j] & language.admits[a, OLD]
            elif c < n_old:
                if values[c] == key and types[c] == language.types[a]:
                    allowed = modes[j] & language.admits[a, OLD]
            elif c == n_old:
                allowed = modes[j] & language.admits[a, NEW]
                if allowed and language.injective:
                    if is_taken(values, n_old, key) or is_taken(taboo, len(taboo), key):
                        allowed = np.int64(0)
                    for q in range(j):
                        other = choice[q] >= n_old and q != fixed[0]
                        if other and data.cells[base + q * m] == key:
                            allowed = np.int64(0)
            elif c < last:
                q = c - n_old - 1
                same = choice[q] == n_old and q != fixed[0]
                same = same and data.cells[base + q * m] == key
                if same and language.types[a0 + q] == language.types[a]:
                    allowed = modes[j] & language.admits[a, OLD]
            elif key >= data.n_nodes:
                place = language.digits[language.digit0[a] + key - data.n_nodes]
                if place >= 0:
                    digit = n_old + 1 + k + place
                    allowed = modes[j] & language.admits[a, CONSTANT]
                    if allowed and language.injective:
                        if is_taken(values, n_old, key):
                            allowed = np.int64(0)
                        for q in range(j):
                            new = choice[q] == n_old and q != fixed[0]
                            if new and data.cells[base + q * m] == key:
                                allowed = np.int64(0)
            if allowed:
                modes[j + 1] = allowed
                code[j + 1] = code[j] * (n_old + 1 + k + language.n_constants[a]) + digit
                taken = True
        if taken:
            j += 1
            if j < k:
                choice[j] = -1
        else:
            j -= 1
    return True


@njit(inline="always")
def facts_with(relation, look_up, s, key, n_nodes, lo, hi, index_off, seq_off, keys, out):
    """The range of an index with the facts that hold a key in the indexed argument."""
    if key < n_nodes:
        out[0], out[1] = lo[look_up, key], hi[look_up, key]
    else:
        base = index_off[look_up]
        end = base + seq_off[relation, s + 1]
        at = lower_bound(keys, base + seq_off[relation, s], end, key)
        out[0] = at - base
        while at < end and keys[at] == key:
            at += 1
        out[1] = at - base


@njit(cache=True, nogil=True)
def count_first(data, language, labels, families, counts):
    """Count every first atom."""
    none = np.zeros(0, np.int64)
    fixed = np.array([-1, -1])
    for relation in range(len(language.arity)):
        for s in range(len(labels)):
            for fact in range(data.seq_off[relation, s], data.seq_off[relation, s + 1]):
                if not emit(
                    data,
                    language,
                    relation,
                    fact,
                    fixed,
                    none,
                    none,
                    0,
                    none,
                    families[0, relation],
                    s,
                    labels[s],
                    counts,
                ):
                    return False
    return True


@njit(cache=True, nogil=True)
def count_refinements(
    data, language, matches, sequence, labels, types, taboo, links, closings, families, counts
):
    """Count every refinement of a pattern over its matches; False when the table is full.

    `links` are (dimension, n, x): steps to a new event; `closings` (dimension, n, x, y) steps to an
    old one. Family 0 are new atoms, 1.. those after a link, the last the closings.
    """
    n_nodes, node_off, shape = data.n_nodes, data.node_off, data.shape
    order, rank, first, last = data.order, data.rank, data.first, data.last
    next_off, neighbours = data.next_off, data.neighbours
    lo, hi, index_off, seq_off = data.lo, data.hi, data.index_off, data.seq_off
    index_keys, perm = data.keys, data.perm
    anchor_off, anchors = language.anchor_off, language.anchors
    argument_look_up, argument0 = language.look_up, language.argument0
    n_old = matches.shape[0]
    values = np.zeros(n_old + 1, np.int64)
    fixed = np.zeros(2, np.int64)
    two = np.zeros(2, np.int64)
    marks = np.zeros(max(data.most_nodes, 1), np.uint8)
    near = np.zeros(max(data.most_nodes, 1), np.int64)
    # Where no value is at stake and facts speak of one event each, what an event adds does not
    # depend on the rest of the match: once a sequence is enough.
    alone = language.one_event
    for v in range(n_old):
        alone = alone and types[v] == language.event_type
    n_ways = n_old + len(links)
    seen = np.full((n_ways if alone else 0, max(data.most_nodes, 1)), -1, np.int32)
    left = np.full((len(links) if alone else 0, max(data.most_nodes, 1)), -1, np.int32)
    closed = np.full(len(closings), -1, np.int32)
    for i in range(matches.shape[1]):
        s = sequence[i]
        label = labels[s]
        node0 = node_off[s]
        for v in range(n_old):
            values[v] = matches[v, i]
        for link in range(-1, len(links)):
            many = 1
            n_known, begin = n_old, 0
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
                n_known, begin = n_old + 1, n_old
                if known:
                    left[link, values[x] - node0] = s
            for t in range(many):
                if link >= 0:
                    if language.injective and is_taken(values, n_old, near[t]):
                        if alone:
                            left[link, values[links[link, 2]] - node0] = -1  # another match may
                        continue
                    values[n_old] = near[t]
                for v in range(begin, n_known):
                    if alone and values[v] < n_nodes:
                        way = v if link < 0 else n_old + link
                        if seen[way, values[v] - node0] == s:
                            continue
                        seen[way, values[v] - node0] = s
                    for at in range(anchor_off[types[v]], anchor_off[types[v] + 1]):
                        relation, arg = anchors[at, 0], anchors[at, 1]
                        look_up = argument_look_up[argument0[relation] + arg]
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
                        fixed[0], fixed[1] = arg, v
                        for f in range(two[0], two[1]):
                            if not emit(
                                data,
                                language,
                                relation,
                                perm[index_off[look_up] + f],
                                fixed,
                                values,
                                types,
                                n_known,
                                taboo,
                                families[link + 1, relation],
                                s,
                                label,
                                counts,
                            ):
                                return False
        for c in range(len(closings)):
            if closed[c] == s:
                continue
            d, n = closings[c, 0], closings[c, 1]
            x, y = values[closings[c, 2]], values[closings[c, 3]]
            if x >= n_nodes or y >= n_nodes:
                continue
            if shape[d, s] == GRAPH:
                n_here = node_off[s + 1] - node0
                many = walk(next_off[d, 0], neighbours, x, n, node0, n_here, marks, near)
                if not is_taken(near, many, y):
                    continue
            else:
                steps = rank[d, y] - rank[d, x]
                if first[d, x] != first[d, y] or (steps != n if n else steps <= 0):
                    continue
            closed[c] = s
            if not count(counts, families[len(links) + 1, 0] + c, s, label):
                return False
    return True


@njit(cache=True, nogil=True)
def list_matches(
    data, language, matches, sequence, taboo, link, relation, digits, constants, out, out_sequence
):
    """The matches of a refinement, as columns of `out`; how many, also beyond its size.

    `link` is (dimension, n, x, y): dimension -1 for none, y -1 for a new event. `digits` are the
    arguments of the new atom of a relation (-1 for none), as in the module's heading, and
    `constants` the keys of those that are constants.
    """
    n_nodes, node_off, shape = data.n_nodes, data.node_off, data.shape
    order, rank, last = data.order, data.rank, data.last
    next_off, neighbours = data.next_off, data.neighbours
    lo, hi, index_off, seq_off = data.lo, data.hi, data.index_off, data.seq_off
    index_keys, perm = data.keys, data.perm
    n_old = matches.shape[0]
    k = language.arity[relation] if relation >= 0 else 0
    values = np.zeros(n_old + 1 + MOST_ARGUMENTS, np.int64)
    two = np.zeros(2, np.int64)
    marks = np.zeros(max(data.most_nodes, 1), np.uint8)
    near = np.zeros(max(data.most_nodes, 1), np.int64)
    n_known = n_old
    if link[0] >= 0 and link[3] < 0:
        n_known += 1
    anchor = -1
    for j in range(k):
        if digits[j] < n_known and (n_known == n_old or digits[j] == n_old):
            anchor = j
    total = 0
    for i in range(len(sequence)):
        s = sequence[i]
        for v in range(n_old):
            values[v] = matches[v, i]
        many = 1
        if link[0] >= 0:
            many = targets(
                s,
                link[0],
                link[1],
                values[link[2]],
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
        for t in range(many):
            if link[0] >= 0:
                if link[3] >= 0:
                    if near[t] != values[link[3]]:
                        continue
                else:
                    if language.injective and is_taken(values, n_old, near[t]):
                        continue
                    values[n_old] = near[t]
            if relation < 0:
                if total < out.shape[1]:
                    for v in range(n_known):
                        out[v, total] = values[v]
                    out_sequence[total] = s
                total += 1
                continue
            look_up = -1
            if anchor >= 0:
                look_up = language.look_up[language.argument0[relation] + anchor]
                facts_with(
                    relation,
                    look_up,
                    s,
                    values[digits[anchor]],
                    n_nodes,
                    lo,
                    hi,
                    index_off,
                    seq_off,
                    index_keys,
                    two,
                )
            else:
                two[0], two[1] = data.seq_off[relation, s], data.seq_off[relation, s + 1]
            for f in range(two[0], two[1]):
                fact = np.int64(f)
                if anchor >= 0:
                    fact = np.int64(perm[index_off[look_up] + f])
                base, m = data.cell_off[relation] + fact, data.size[relation]
                n_now = n_known
                good = True
                for j in range(k):
                    key = np.int64(data.cells[base + j * m])
                    digit = digits[j]
                    if digit < n_known:
                        good = values[digit] == key
                    elif digit == n_known:
                        if language.injective:
                            good = not is_taken(values, n_now, key)
                            good = good and not is_taken(taboo, len(taboo), key)
                            good = good and not is_taken(constants, k, key)
                        values[n_now] = key
                        n_now += 1
                    elif digit < n_known + 1 + k:
                        good = data.cells[base + (digit - n_known - 1) * m] == key
                    else:
                        good = constants[j] == key
                        if language.injective:
                            good = good and not is_taken(values, n_now, key)
                    if not good:
                        break
                if good:
                    if total < out.shape[1]:
                        for v in range(n_now):
                            out[v, total] = values[v]
                        out_sequence[total] = s
                    total += 1
    return total


@njit(inline="always")
def mix(x):
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


@njit(cache=True, nogil=True)
def canonical_atoms(atoms, n_variables, out):
    """The same rows for all variants of a pattern, and for no other, into `out`.

    Rows of `atoms` are a predicate and its arguments: a variable v >= 0, or a constant < 0.
    Variables are told apart by where they occur; those that cannot be are tried in every order.
    """
    n, width = atoms.shape
    colour = np.ones(n_variables, np.uint64)
    fresh = np.zeros(n_variables, np.uint64)
    for _ in range(3):
        for v in range(n_variables):
            fresh[v] = mix(colour[v])
        for i in range(n):
            whole = mix(np.uint64(atoms[i, 0] + 2))
            for j in range(1, width):
                x = atoms[i, j]
                term = colour[x] if x >= 0 else mix(np.uint64(-x))
                whole = mix(whole + term + np.uint64(j))
            for j in range(1, width):
                if atoms[i, j] >= 0:
                    fresh[atoms[i, j]] += mix(whole + np.uint64(j))
        for v in range(n_variables):
            colour[v] = fresh[v]
    ranked = np.arange(n_variables)
    for i in range(1, n_variables):  # by colour
        v, k = ranked[i], i
        while k > 0 and colour[ranked[k - 1]] > colour[v]:
            ranked[k] = ranked[k - 1]
            k -= 1
        ranked[k] = v
    number = np.full(n_variables, -1, np.int64)
    place = np.full(n_variables + 1, -1, np.int64)
    rows = np.zeros((n, width), np.int64)
    best = False
    depth = 0
    while depth >= 0:
        if depth == n_variables:
            for i in range(n):
                for j in range(width):
                    x = atoms[i, j]
                    rows[i, j] = number[x] if j and x >= 0 else x
            for i in range(1, n):  # sort the rows
                k = i
                while k > 0:
                    order = 0
                    for j in range(width):
                        if rows[k, j] != rows[k - 1, j]:
                            order = -1 if rows[k, j] < rows[k - 1, j] else 1
                            break
                    if order >= 0:
                        break
                    for j in range(width):
                        rows[k, j], rows[k - 1, j] = rows[k - 1, j], rows[k, j]
                    k -= 1
            less = not best
            if best:
                for at in range(n * width):
                    x, y = rows[at // width, at % width], out[at // width, at % width]
                    if x != y:
                        less = x < y
                        break
            if less:
                for at in range(n * width):
                    out[at // width, at % width] = rows[at // width, at % width]
                best = True
            depth -= 1
            continue
        if place[depth] >= 0:
            number[ranked[place[depth]]] = -1
        taken = False
        c = place[depth] + 1 if place[depth] >= 0 else 0
        while c < n_variables and not taken:
            v = ranked[c]
            if number[v] < 0 and colour[v] == colour[ranked[depth]]:
                place[depth] = c
                number[v] = depth
                taken = True
            c += 1
        if taken:
            depth += 1
            if depth <= n_variables:
                place[depth] = -1
        else:
            place[depth] = -1
            depth -= 1


@njit(cache=True, nogil=True)
def canonical_all(patterns, n_variables, out, distinct):
    """`canonical_atoms` of several patterns; `distinct` says which hold no atom twice."""
    for p in range(len(patterns)):
        canonical_atoms(patterns[p], n_variables[p], out[p])
        distinct[p] = True
        for i in range(1, patterns.shape[1]):
            same = out[p, i, 0] >= 0  # rows that are not used have a negative predicate
            for j in range(patterns.shape[2]):
                same = same and out[p, i, j] == out[p, i - 1, j]
            if same:
                distinct[p] = False
