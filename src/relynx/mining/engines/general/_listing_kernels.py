"""Compiled loops of the general engine: list the matches of a pattern.

A match is a column of keys, one for each variable of the pattern (see `_backtracking_kernels`),
with its sequence.
"""

import numpy as np

from relynx._kernels import inner_kernel
from relynx.mining.matching._backtracking_kernels import GRAPH, lower_bound, walk

MOST_ARGUMENTS = 12
ARGUMENTS = 5  # where those of a step begin: see `trie`


@inner_kernel
def targets(data, s, d, n, node, marks, out):
    """The events n steps (0: one or more) after an event, into `out`; how many."""
    many, order, rank, last = np.int64(0), data.order, data.rank, data.last
    if node < data.n_nodes:  # a value has no place in a dimension
        if data.shape[d, s] == GRAPH:
            node0, end = data.node_off[s], data.node_off[s + 1]
            ways = data.next_off[d, 0]
            many = walk(ways, data.neighbours, node, n, node0, end - node0, marks, out)
        elif n:
            if rank[d, node] + n <= last[d, node]:
                out[0] = order[d, rank[d, node] + n]
                many = np.int64(1)
        else:
            many = np.int64(last[d, node] - rank[d, node])
            for i in range(many):
                out[i] = order[d, rank[d, node] + 1 + i]
    return many


@inner_kernel
def is_taken(values, n, key):
    taken = False
    for i in range(n):
        if values[i] == key:
            taken = True
            break
    return taken


@inner_kernel
def entries_of(data, s, key, out):
    """The range of entries with a key: facts of sequence s that hold it in an argument."""
    if key < data.n_nodes:  # an event is of one sequence only
        out[0], out[1] = data.entry_off[key], data.entry_off[key + 1]
    else:
        entry_keys, end = data.entry_keys, data.value_off[s + 1]
        at = lower_bound(entry_keys, data.value_off[s], end, key)
        out[0] = at
        while at < end and entry_keys[at] == key:
            at += 1
        out[1] = at


@inner_kernel
def list_matches(
    data, language, matches, sequence, begin, end, pattern, step, most, marks, near, out, owner
):
    """The matches that a step makes of some matches, as columns of `out`, and their sequences.
    `step` is a row of the trie, the last one of the pattern. Returns how many there are, also
    beyond the size of `out`; more than `most` are not looked for."""
    cells, fact_off, fact_sequence = data.cells, data.fact_off, data.fact_sequence
    entry_arguments, entry_facts = data.entry_arguments, data.entry_facts
    injective, n_old = language.injective, pattern.n_old
    taboo, n_taboo = pattern.taboo, pattern.n_old_taboo  # the constants before the step
    dimension, n_steps = np.int64(step[0]), np.int64(step[1])  # one type: compiled once
    x, y, relation = step[2], step[3], np.int64(step[4])
    linked = dimension >= 0
    closing = linked and y < n_old
    n_known = n_old + (linked and not closing)
    root = n_old == 0  # then a row is a sequence, and the facts of the relation are all that is
    k, a0, base0, m, fact0 = 0, 0, 0, 0, 0
    if relation >= 0:
        k, a0 = language.arity[relation], language.argument0[relation]
        base0, m, fact0 = data.cell_off[relation], data.size[relation], fact_off[relation]
    # What each argument must be, as a digit: see `_general_kernels`. Any argument that is an old
    # variable may serve to find the facts; that of a new event must, as it alone changes.
    digits = np.zeros(MOST_ARGUMENTS, np.int64)
    constants = np.zeros(MOST_ARGUMENTS, np.int64)  # keys, -1 for none
    anchor = 0
    for j in range(k):
        arg = step[ARGUMENTS + j]
        constants[j] = -1
        if arg < 0:
            digits[j], constants[j] = n_known + 1 + k, data.n_nodes + ~arg
        elif arg < n_known:
            digits[j] = arg
            if n_known == n_old or arg == n_old:
                anchor = j
        else:
            digits[j] = n_known
            for q in range(j - 1, -1, -1):
                if step[ARGUMENTS + q] == arg:
                    digits[j] = n_known + 1 + q
    values = np.zeros(n_old + 1 + MOST_ARGUMENTS, np.int64)
    two = np.zeros(2, np.int64)
    total = 0
    for i in range(begin, begin + 1 if root else end):
        if total > most:
            break
        s = np.int64(sequence[i])
        many = np.int64(1)
        for v in range(n_old):
            values[v] = matches[v, i]
        if linked:
            many = targets(data, s, dimension, n_steps, values[x], marks, near)
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
                    owner[total] = s
                total += 1
                continue
            if root:  # facts are sorted by sequence
                stop = fact_off[relation + 1]
                two[0] = lower_bound(fact_sequence, fact0, stop, begin)
                two[1] = lower_bound(fact_sequence, fact0, stop, end)
            else:  # entries of a key are sorted by argument
                entries_of(data, s, values[digits[anchor]], two)
                two[0] = lower_bound(entry_arguments, two[0], two[1], a0 + anchor)
            for f in range(two[0], two[1]):
                if root:
                    s = np.int64(fact_sequence[f])
                    base = base0 + f - fact0
                else:
                    if entry_arguments[f] != a0 + anchor:
                        break
                    base = base0 + entry_facts[f]
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
                            good = good and not is_taken(taboo, n_taboo, key)
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
                        owner[total] = s
                    total += 1
    return total
