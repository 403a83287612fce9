"""Compiled loop of L1-penalised logistic regression to high precision, on columns that are lists of
the rows that have a 1: `rows[offset[j] : offset[j + 1]]` of column j."""

import numpy as np

from relynx._kernels import kernel
from relynx.features._logistic_kernels import log_rise, log_sums

LEAST_CURVATURE = 1e-5  # of a row: one that is fitted perfectly has none
MOST_ROUNDS, EVERY = 500, 8  # of coordinate descent; in one of so many zero weights are tried, too
CLOSE = 0.1  # a step is solved to this part of its first improvement


@kernel
def sweep(offset, rows, target, sample, penalty, weights, intercept, scores, has_base):
    """A Newton step for each class in turn, in place, by coordinate descent on its quadratic model.

    `scores` are those of all rows, `target` is 1 where a row is of the class, `sample` the weight
    of each row.
    """
    n_scores, n = scores.shape
    m = len(offset) - 1
    share, residual, curvature = np.empty(n), np.empty(n), np.empty(n)
    moved, sums, bends, new = np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    for c in range(n_scores):
        log_sums(scores, has_base, sums)
        bend = 1e-300
        for i in range(n):
            share[i], moved[i] = np.exp(scores[c, i] - sums[i]), 0.0
            residual[i] = sample[i] * (share[i] - target[c, i])
            curvature[i] = sample[i] * max(share[i] * (1 - share[i]), LEAST_CURVATURE)
            bend += curvature[i]
        for j in range(m):
            new[j], bends[j] = weights[c, j], 1e-300
            for q in range(offset[j], offset[j + 1]):
                bends[j] += curvature[np.uint64(rows[np.uint64(q)])]
        shift, first = 0.0, 0.0
        for turn in range(MOST_ROUNDS):
            # `residual` is kept at the gradient of the quadratic model in the scores.
            step = -residual.sum() / bend
            shift += step
            for i in range(n):
                moved[i] += step
                residual[i] += curvature[i] * step
            largest = bend * step * step
            for j in range(m):
                if turn % EVERY and new[j] == 0.0:
                    continue
                total = 0.0
                for q in range(offset[j], offset[j + 1]):
                    total += residual[np.uint64(rows[np.uint64(q)])]
                wanted = bends[j] * new[j] - total
                value = max(abs(wanted) - penalty, 0.0) / bends[j]
                step = (value if wanted > 0 else -value) - new[j]
                if step != 0.0:
                    new[j] = value if wanted > 0 else -value
                    for q in range(offset[j], offset[j + 1]):
                        i = np.uint64(rows[np.uint64(q)])
                        moved[i] += step
                        residual[i] += curvature[i] * step
                    largest = max(largest, bends[j] * step * step)
            first = largest if turn == 0 else first
            if turn % EVERY == 0 and largest <= CLOSE * first:
                break
        length = 1.0
        while length > 0.0:  # halved until the objective does not rise
            gain = 0.0
            for j in range(m):
                old = weights[c, j]
                gain += penalty * (abs(old) - abs(old + length * (new[j] - old)))
            for i in range(n):
                if sample[i] > 0:
                    rise = log_rise(share[i], length * moved[i])
                    gain += sample[i] * (target[c, i] * length * moved[i] - rise)
            if gain >= -1e-15:
                break
            length = 0.5 * length if length > 1e-5 else 0.0
        intercept[c] += length * shift
        for j in range(m):
            weights[c, j] = (
                new[j] if length == 1.0 else weights[c, j] + length * (new[j] - weights[c, j])
            )
        for i in range(n):
            scores[c, i] += length * moved[i]
