"""The compiled test of a candidate's supports against the thresholds of a search."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined


@by_reference
class Thresholds(NamedTuple):
    class_sizes: NDArray[np.int64]  # at least 1
    least: NDArray[np.int64]  # for each class the smallest support that suffices
    min_frequency: int


@inlined
def is_frequent(counted, thresholds, stats):
    """Is a candidate frequent, by its supports? `stats` gets what `SearchLevel.add` takes."""
    frequency, enough, share = 0, False, 0.0
    for c in range(len(counted)):
        frequency += counted[c]
        enough = enough or counted[c] >= thresholds.least[c]
        share = max(share, counted[c] / thresholds.class_sizes[c])
    stats[0] += 1
    if frequency < thresholds.min_frequency:
        stats[1] += 1
        if enough and frequency > stats[3]:
            stats[3], stats[4] = frequency, 0
        if enough and frequency == stats[3]:
            stats[4] += 1
    elif not enough:
        stats[2] += 1
        if share > stats[5]:
            stats[5], stats[6] = share, 0
        if share == stats[5]:
            stats[6] += 1
    return enough and frequency >= thresholds.min_frequency
