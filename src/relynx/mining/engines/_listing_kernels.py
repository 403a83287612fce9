"""Compiled loops of the miner: list the matches of a pattern.

A match is a column of keys, one for each variable of the pattern (see `_kernels`), with its
sequence.
"""

import numpy as np
from numba import njit

from relynx.mining.matching._backtracking_kernels import GRAPH, lower_bound, walk

MOST_ARGUMENTS = 12
ARGUMENTS = 5  # where those of a step begin: see `trie`


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
def list_matches(
    data, language, matches, sequence, begin, end, n_old, taboo, step, most, out, out_sequence
):
    """The matches that a step makes of some matches, as columns of `out`.

    `step` is a row of the trie, `taboo` are the constants of the pattern before it. Returns how
    many there are, also beyond the size of `out`; more than `most` are not looked for.
    """
    n_nodes, node_off, shape = data.n_nodes, data.node_off, data.shape
    order, rank, last = data.order, data.rank, data.last
    next_off, neighbours = data.next_off, data.neighbours
    lo, hi, index_off, seq_off = data.lo, data.hi, data.index_off, data.seq_off
    index_keys, perm, cells = data.keys, data.perm, data.cells
    injective = language.injective
    dimension, n_steps, x, y = step[0], step[1], step[2], step[3]
    linked = dimension >= 0
    closing = linked and y < n_old
    n_known = n_old + (linked and not closing)
    relation = step[4]
    k, a0, base0, m = 0, 0, 0, 0
    if relation >= 0:
        k, a0 = language.arity[relation], language.argument0[relation]
        base0, m = data.cell_off[relation], data.size[relation]
    digits = np.zeros(k, np.int64)
    constants = np.full(k, -1, np.int64)
    for j in range(k):
        arg = step[ARGUMENTS + j]
        if arg < 0:
            digits[j], constants[j] = n_known + 1 + k, n_nodes + ~arg
        elif arg < n_known:
            digits[j] = arg
        else:
            digits[j] = n_known
            for q in range(j - 1, -1, -1):
                if step[ARGUMENTS + q] == arg:
                    digits[j] = n_known + 1 + q
    anchor = -1
    for j in range(k):
        if digits[j] < n_known and (n_known == n_old or digits[j] == n_old):
            anchor = j
    values = np.zeros(n_old + 1 + MOST_ARGUMENTS, np.int64)
    two = np.zeros(2, np.int64)
    marks = np.zeros(max(data.most_nodes, 1), np.uint8)
    near = np.zeros(max(data.most_nodes, 1), np.int64)
    look_up = language.look_up[a0 + anchor] if anchor >= 0 else 0
    total = 0
    for i in range(begin, end):
        if total > most:
            break
        s = sequence[i]
        for v in range(n_old):
            values[v] = matches[v, i]
        many = 1
        if linked:
            many = targets(
                s,
                dimension,
                n_steps,
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
        for t in range(many):
            if closing:
                if near[t] != values[y]:
                    continue
            elif linked:
                if injective and is_taken(values, n_old, near[t]):
                    continue
                values[n_old] = near[t]
            if relation < 0:
                if total < out.shape[1]:
                    for v in range(n_known):
                        out[v, total] = values[v]
                    out_sequence[total] = s
                total += 1
                continue
            if anchor >= 0:
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
                two[0], two[1] = seq_off[relation, s], seq_off[relation, s + 1]
            for f in range(two[0], two[1]):
                fact = np.int64(f)
                if anchor >= 0:
                    fact = np.int64(perm[index_off[look_up] + f])
                base = base0 + fact
                n_now = n_known
                good = True
                for j in range(k):
                    key = np.int64(cells[base + j * m])
                    digit = digits[j]
                    if digit < n_known:
                        good = values[digit] == key
                    elif digit == n_known:
                        if injective:
                            good = not is_taken(values, n_now, key)
                            good = good and not is_taken(taboo, len(taboo), key)
                            good = good and not is_taken(constants, k, key)
                        values[n_now] = key
                        n_now += 1
                    elif digit < n_known + 1 + k:
                        good = cells[base + (digit - n_known - 1) * m] == key
                    else:
                        good = constants[j] == key
                        if injective:
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
