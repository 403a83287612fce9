"""Compiled loops that arrange events before a search, one sequence after the other."""

import numpy as np

from relynx._kernels import kernel
from relynx.mining.matching._backtracking_kernels import GRAPH, LINE, PATHS


@kernel
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
