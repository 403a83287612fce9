"""The compiled loop over the intervals of each sequence."""

import numpy as np

from relynx._kernels import kernel

MEETS, OVERLAPS, STARTS, FINISHED_BY, CONTAINS, EQUALS = range(6)


@kernel
def contacts(offsets, starts, ends, out_first, out_second, out_relation):
    """All pairs of intervals of a sequence, sorted by start, then end, that share time, the earlier
    first; returns their number. Those that may still share time are kept in a list: each look at it
    finds a pair, or drops one."""
    open_ones = np.empty(len(starts), np.int32)
    n_pairs = 0
    for sequence in range(len(offsets) - 1):
        n_open = 0
        for second in range(offsets[sequence], offsets[sequence + 1]):
            kept = 0
            for k in range(n_open):
                first = open_ones[k]
                if ends[first] < starts[second]:
                    continue
                open_ones[kept] = first
                kept += 1
                if starts[first] == starts[second]:
                    relation = EQUALS if ends[first] == ends[second] else STARTS
                elif ends[first] == ends[second]:
                    relation = FINISHED_BY
                elif ends[first] > ends[second]:
                    relation = CONTAINS
                elif ends[first] == starts[second]:
                    relation = MEETS
                else:
                    relation = OVERLAPS
                out_first[n_pairs] = first
                out_second[n_pairs] = second
                out_relation[n_pairs] = relation
                n_pairs += 1
            open_ones[kept] = second
            n_open = kept + 1
    return n_pairs
