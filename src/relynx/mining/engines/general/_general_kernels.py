"""Compiled loops of the miner: count all refinements of a pattern over its matches.

The argument of a new atom is written as a digit: an old variable is its number v < V, a
new variable is V, one that repeats the new variable of argument q is V+1+q, a constant is
V+1+arity+i, where i is its place among the constants that the bias admits there. V counts the
event that a link introduces, which is variable V-1 then.

The digits of an atom are one number, its code. `bases[V, r]` of `Rules` says how many codes the
relations before r have. A refinement's key: codes of atoms without a link come first, then those
after each link, then the closings. So keys follow from what occurs, and no table of them is needed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel
from relynx.mining.engines.general._listing_kernels import (
    MOST_ARGUMENTS,
    entries_of,
    is_taken,
    targets,
)
from relynx.mining.matching._backtracking_kernels import GRAPH, walk

OLD, NEW, CONSTANT = 0, 1, 2  # what an argument of a new atom may be


@by_reference
class Facts(NamedTuple):
    """What the engine reads. R relations, A arguments over all relations, N nodes, S sequences.

    An entry says that a fact holds a key in an argument that an old variable may stand in. Those of
    nodes come first, node by node; then those of values, sequence by sequence and key by key; equal
    keys are sorted by argument. So all facts around a match are found without asking each relation
    that there is, and nothing has the size of R x N or R x S.
    """

    n_nodes: int
    most_nodes: int  # of any sequence
    has_graphs: bool  # whether some dimension is a graph in some sequence
    node_off: NDArray[np.int64]  # S+1: the nodes of each sequence
    cells: NDArray[np.int32]  # keys, relation after relation, argument after argument
    places: NDArray[np.int32]  # of the cells among the constants that the bias admits there, or -1
    cell_off: NDArray[np.int64]  # R
    size: NDArray[np.int64]  # R: number of facts
    fact_off: NDArray[np.int64]  # R+1
    fact_sequence: NDArray[np.int32]  # facts of a relation are sorted by sequence
    entry_off: NDArray[np.int64]  # N+1
    value_off: NDArray[np.int64]  # S+1
    entry_keys: NDArray[np.int32]
    entry_arguments: NDArray[np.int32]  # numbers of arguments over all relations
    entry_facts: NDArray[np.int32]
    shape: NDArray[np.uint8]  # this and the following: as in `_backtracking_kernels.Data`
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    next_off: NDArray[np.int64]
    neighbours: NDArray[np.int32]


@by_reference
class Language(NamedTuple):
    """The bias in numbers. R relations, A arguments over all relations."""

    arity: NDArray[np.int64]  # R
    argument0: NDArray[np.int64]  # R: the first argument of a relation
    relation: NDArray[np.int64]  # A
    types: NDArray[np.int64]  # A
    admits: NDArray[np.int64]  # A x 3: bit m says that mode m admits an old, new, constant argument
    n_constants: NDArray[np.int64]  # A
    event_type: int
    one_event: bool  # no relation has more than one event
    injective: bool


@by_reference
class Counts(NamedTuple):
    """A hash table from refinements to supports. `used` lists the slots that are taken."""

    keys: NDArray[np.int64]
    last: NDArray[np.int32]  # the last sequence that was counted
    # Slots x classes; behind them, where coverage is kept, the sequences as bits, 32 to a column.
    supports: NDArray[np.int32]
    used: NDArray[np.int64]
    n_used: NDArray[np.int64]  # that number, and that of the classes


class Pattern(NamedTuple):
    """What is to be known of a pattern to refine it."""

    length: int
    is_last: bool  # no atom is to be added, but closings are
    atoms: NDArray[np.int64]  # a predicate and its arguments a row; n_atoms are in use
    n_atoms: int
    types: NDArray[np.int64]  # of the variables, and that of one more event
    n_types: int  # variables
    n_old: int  # those before the last step
    taboo: NDArray[np.int64]  # the keys of its constants
    n_taboo: int
    n_old_taboo: int  # those before the last step
    links: NDArray[np.int64]  # (dimension, n, x): steps to a new event
    n_links: int
    closings: NDArray[np.int64]  # (dimension, n, x, y): steps to an old one
    n_closings: int
    first_closing: int  # the key of the first closing; -1 for too many keys


@inner_kernel
def count(counts, key, s, label):
    """Count a sequence for a refinement; False when the table is full."""
    keys, last, supports = counts.keys, counts.last, counts.supports
    used, n_used = counts.used, counts.n_used
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
        if supports.shape[1] > n_used[1]:
            supports[slot, n_used[1] + (s >> 5)] |= np.int32(1) << np.int32(s & 31)
    return good


@inlined
def emit(
    data,
    language,
    pattern,
    relation,
    fact,
    fixed_at,
    fixed,
    values,
    n_old,
    family,
    s,
    label,
    counts,
    choice,
    code,
    modes,
):
    """Count every atom that a fact gives: one for each way to write its arguments. Argument
    `fixed_at` (if any) is the old variable `fixed`. `values` are those of the n_old old variables.
    A refinement's key is `family` plus the digits of the arguments as one number. `choice`, `code`
    and `modes` say how far it is, a number an argument."""
    cells, argument_types, admits = data.cells, language.types, language.admits
    injective, full = language.injective, False
    types, taboo, n_taboo = pattern.types, pattern.taboo, pattern.n_taboo
    k, a0 = language.arity[relation], language.argument0[relation]
    base, m = data.cell_off[relation] + fact, data.size[relation]  # its cells are m apart
    choice[0] = -1
    j = 0
    while j >= 0:
        if j == k:
            key = family + code[k]
            if not count(counts, key, s, label):
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
                    if is_taken(values, n_old, key) or is_taken(taboo, n_taboo, key):
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
            elif key >= data.n_nodes:
                place = np.int64(data.places[base + j * m])
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
                code[j + 1] = code[j] * (n_old + 1 + k + language.n_constants[a]) + digit
                taken = True
        if taken:
            j += 1
            if j < k:
                choice[j] = -1
        else:
            j -= 1
    return not full


@inlined
def is_alone(language, types, n_types):
    """Does what an event adds not depend on the rest of a match? So it is where no value is at
    stake and facts speak of one event each."""
    alone = language.one_event
    for v in range(n_types):
        alone = alone and types[v] == language.event_type
    return alone


@inner_kernel
def count_refinements(
    data, language, rules, matches, sequence, begin, end, pattern, marks, near, counts
):
    """Count every refinement of a pattern over some of its matches. How many events and facts were
    looked at; -1 when the table is full. The matches of a pattern without atoms are the sequences;
    then entries say (relation, fact) of all facts of a sequence."""
    n_nodes, node_off, shape = data.n_nodes, data.node_off, data.shape
    rank, first, value_off, labels = data.rank, data.first, data.value_off, rules.labels
    entry_arguments, entry_facts = data.entry_arguments, data.entry_facts
    argument0, relations, argument_types = language.argument0, language.relation, language.types
    links, closings, n_links = pattern.links, pattern.closings, pattern.n_links
    types, n_old = pattern.types, pattern.n_types
    n_closings, first_closing = pattern.n_closings, pattern.first_closing
    n_relations, is_last = len(language.arity), pattern.is_last
    bases, injective = rules.bases, language.injective
    root = pattern.n_atoms == 0
    values = np.zeros(n_old + 1, np.int64)
    two = np.zeros(2, np.int64)
    choice, code = np.zeros(MOST_ARGUMENTS + 1, np.int64), np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes = np.zeros(MOST_ARGUMENTS + 1, np.int64)
    modes[0] = -1
    # Where an event adds the same whatever the rest of the match is, one look a sequence is enough:
    # `seen` has the last sequence for which the facts of an event were counted, as a variable or
    # after a link, and `left` that for which a link was followed from it; from 1 on, 0 for none.
    alone = is_alone(language, types, n_old) and not root
    seen = np.zeros((n_old + n_links if alone else 0, data.most_nodes), np.int64)
    left = np.zeros((n_links if alone else 0, data.most_nodes), np.int64)
    closed = np.zeros(pattern.n_closings, np.int64)
    looks, full = np.int64(0), False
    for i in range(begin, end):
        s = np.int64(sequence[i])
        label, node0, mark = labels[s], node_off[s], s + 1
        for v in range(n_old):
            values[v] = matches[v, i]
        for link in range(n_links if is_last else -1, n_links):
            many = np.int64(1)
            n_known, start, family = n_old, 0, np.int64(0)
            if link >= 0:
                x = links[link, 2]
                known = alone and values[x] < n_nodes
                if known and left[link, values[x] - node0] == mark:
                    continue
                d, n = links[link, 0], links[link, 1]
                many = targets(data, s, d, n, values[x], marks, near)
                n_known, start = n_old + 1, n_old
                family = bases[n_old, n_relations] + link * bases[n_known, n_relations]
                if known:
                    left[link, values[x] - node0] = mark
            looks += many
            for t in range(many):
                if link >= 0:
                    if injective and is_taken(values, n_old, near[t]):
                        if alone:
                            left[link, values[links[link, 2]] - node0] = 0  # another match may
                        continue
                    values[n_old] = near[t]
                for v in range(start, 1 if root else n_known):
                    if alone and values[v] < n_nodes:
                        way = v if link < 0 else n_old + link
                        if seen[way, values[v] - node0] == mark:
                            continue
                        seen[way, values[v] - node0] = mark
                    if root:
                        two[0], two[1] = value_off[s], value_off[s + 1]
                    else:
                        entries_of(data, s, values[v], two)
                    looks += two[1] - two[0]
                    for e in range(two[0], two[1]):
                        relation, arg = np.int64(entry_arguments[e]), np.int64(-1)
                        if not root:
                            if argument_types[relation] != types[v]:
                                continue
                            arg = relation
                            relation = relations[arg]
                            arg -= argument0[relation]
                        if not emit(
                            data,
                            language,
                            pattern,
                            relation,
                            entry_facts[e],
                            arg,
                            v,
                            values,
                            n_known,
                            family + bases[n_known, relation],
                            s,
                            label,
                            counts,
                            choice,
                            code,
                            modes,
                        ):
                            full = True
                            break
                    if full:
                        return -1
        for c in range(n_closings):
            if closed[c] == mark:
                continue
            d, n = closings[c, 0], closings[c, 1]
            x, y = values[closings[c, 2]], values[closings[c, 3]]
            if x >= n_nodes or y >= n_nodes:
                continue
            looks += 1
            if shape[d, s] == GRAPH:
                n_here = node_off[s + 1] - node0
                many = walk(data.next_off[d, 0], data.neighbours, x, n, node0, n_here, marks, near)
                looks += many
                if not is_taken(near, many, y):
                    continue
            else:
                steps = rank[d, y] - rank[d, x]
                if first[d, x] != first[d, y] or (steps != n if n else steps <= 0):
                    continue
            closed[c] = mark
            if not count(counts, first_closing + c, s, label):
                return -1
    return looks + end - begin
