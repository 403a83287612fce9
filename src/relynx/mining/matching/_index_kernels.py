"""Compiled loops that arrange events and facts before a search, one sequence after the other."""

import numpy as np
from numba import njit

from relynx.mining.matching._backtracking_kernels import GRAPH, LINE, PATHS

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def walk_paths(before, after, edge_off, node_off, shape, order, rank, first, last):
    """The paths that links make in each sequence.

    Link e leads from node before[e] to node after[e]. `order` gets the nodes path by path, by
    their beginnings; of each node `rank` is its place there, `first` and `last` are those of its
    path. In a sequence that is no set of paths every node is a path by itself.
    """
    most = 0
    for s in range(len(node_off) - 1):
        most = max(most, node_off[s + 1] - node_off[s])
    previous = np.empty(most, np.int32)
    following = np.empty(most, np.int32)
    for s in range(len(node_off) - 1):
        base = node_off[s]
        n = node_off[s + 1] - base
        for i in range(n):
            previous[i] = -1
            following[i] = -1
        is_graph = False
        for e in range(edge_off[s], edge_off[s + 1]):
            x, y = before[e] - base, after[e] - base
            if x == y or following[x] >= 0 or previous[y] >= 0:
                is_graph = True
                break
            following[x], previous[y] = y, x
        at, n_paths = base, 0
        if not is_graph:
            for head in range(n):
                if previous[head] >= 0:
                    continue
                n_paths += 1
                begin, node = at, np.int64(head)
                while node >= 0:
                    order[at] = base + node
                    rank[base + node] = at
                    first[base + node] = begin
                    at += 1
                    node = np.int64(following[node])
                for place in range(begin, at):
                    last[order[place]] = at - 1
        shape[s] = LINE if n_paths <= 1 else PATHS
        if is_graph or at < base + n:  # what no path reaches is a circle
            shape[s] = GRAPH
            for i in range(base, base + n):
                order[i], rank[i], first[i], last[i] = i, i, i, i


@njit(cache=True, nogil=True)
def group_facts(kind, node, starts, node_off, offset, kinds, words, everywhere):
    """The distinct facts of each sequence and the events that they hold for, as words of bits.

    Fact f is of kind[f] and about node[f]; those of relation r in sequence s begin at starts[r, s].
    `kinds` and `words` get those of sequence s from offset[s] on, words falling; `everywhere` gets
    the word of each kind in each sequence. Returns how many there are in all, and whether some
    event has several facts.
    """
    n_sequences = len(node_off) - 1
    most = 0
    for s in range(n_sequences):
        n = 0
        for r in range(len(starts)):
            n += starts[r, s + 1] - starts[r, s]
        most = max(most, n)
    here = np.empty(most, np.int64)
    of_kind = np.zeros(len(everywhere), np.uint64)
    at, crowded = 0, False
    for s in range(n_sequences):
        offset[s] = at
        n, taken = 0, np.uint64(0)
        for r in range(len(starts)):
            for f in range(starts[r, s], starts[r, s + 1]):
                k, bit = np.int64(kind[f]), ONE << np.uint64(node[f] - node_off[s])
                if of_kind[k] == np.uint64(0):
                    here[n] = k
                    n += 1
                of_kind[k] |= bit
                crowded = crowded or taken & bit != np.uint64(0)
                taken |= bit
        gap = 1
        while gap < n // 3:
            gap = 3 * gap + 1
        while gap > 0:  # a Shell sort by falling words, equal ones by kind
            for i in range(gap, n):
                k, j = here[i], i
                w = of_kind[k]
                while j >= gap:
                    other = here[j - gap]
                    if of_kind[other] > w or (of_kind[other] == w and other < k):
                        break
                    here[j] = other
                    j -= gap
                here[j] = k
            gap //= 3
        for i in range(n):
            k = here[i]
            kinds[at + i] = k
            words[at + i] = everywhere[k, s] = of_kind[k]
            of_kind[k] = np.uint64(0)
        at += n
    offset[n_sequences] = at
    return at, crowded
