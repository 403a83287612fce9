"""Compiled loops over pairs of events and the tests that they pass, as bits."""

import numpy as np

from relynx._kernels import kernel
from relynx.mining.engines.bits._event_fact_kernels import lowest_place

NONE, ALL = np.uint64(0), ~np.uint64(0)


@kernel
def sums_of(bits, tests, sequence, ends, values, out, covered):
    """For each conjunction of tests the sums of values over the sequences that have a pair of
    events which passes all of them, and which sequences these are. `bits` has for each test the
    pairs that pass it, those of a sequence in a row; `ends` says for each sequence where its pairs
    end. A row of `tests` ends with -1 where it has fewer."""
    n_pairs = len(sequence)
    for q in range(len(tests)):
        out[q] = 0.0
        place = 0
        while place < n_pairs:
            w = place >> 6
            word = ALL << np.uint64(place & 63)
            for test in tests[q]:
                if test >= 0:
                    word &= bits[test, w]
            if word == NONE:
                place = (w + 1) << 6
                continue
            owner = sequence[(w << 6) + lowest_place(word)]
            for k in range(values.shape[1]):
                out[q, k] += values[owner, k]
            if q < len(covered):
                covered[q, owner] = True
            place = ends[owner]  # one pair is enough
