"""Compiled loops over what patterns cover, as bits."""

import numpy as np

from relynx._kernels import kernel

ONE, NONE = np.uint64(1), np.uint64(0)


@kernel
def rows_of_bits(words, out):
    """The places of the bits of one pattern after the other."""
    n = 0
    for i in range(len(words)):
        for w in range(words.shape[1]):
            left, place = words[i, w], w << 6
            while left != NONE:
                if left & ONE:
                    out[n] = place
                    n += 1
                left >>= ONE
                place += 1
    return out


@kernel
def hashes(words, multipliers, out):
    """A number for each pattern, the same for those of equal bits."""
    for i in range(len(words)):
        total = NONE
        for w in range(words.shape[1]):
            mixed = words[i, w] * multipliers[w]
            mixed = (mixed ^ (mixed >> np.uint64(31))) * multipliers[w]
            total += mixed ^ (mixed >> np.uint64(29))
        out[i] = total
    return out


@kernel
def masses(offset, rows, values, begin, end, sums, bounds):
    """For columns, lists of the rows that have a 1, the sum of each value over the rows, and the
    most that the sum of one over some of these rows is in absolute value: each extension of the
    pattern covers some of them."""
    n_values = values.shape[1]
    total, rise = np.empty(n_values), np.empty(n_values)
    for j in range(begin, end):
        total[:], rise[:] = 0.0, 0.0
        for q in range(offset[j], offset[j + 1]):
            i = np.uint64(rows[np.uint64(q)])
            for c in range(n_values):
                value = values[i, c]
                total[c] += value
                rise[c] += max(value, 0.0)
        bounds[j] = 0.0
        for c in range(n_values):
            sums[j, c] = total[c]
            bounds[j] = max(bounds[j], rise[c], rise[c] - total[c])
