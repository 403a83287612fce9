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
