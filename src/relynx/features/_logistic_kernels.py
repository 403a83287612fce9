"""Compiled loops of logistic regression on scaled 0/1 columns with an elastic-net penalty: Newton
steps for one class after the other, by coordinate descent over the columns that may have a weight.

Columns are the lists of rows that have a value: `rows[offset[j] : offset[j + 1]]` of column j. It
is the scale of the row; that of a column is in its penalties.
"""

import numpy as np

from relynx._kernels import inner_kernel, kernel

LEAST_CURVATURE = 1e-5  # of a row in a Newton step: one that is fitted perfectly has none
MOST_ROUNDS, EVERY = 200, 8  # of coordinate descent; in one of so many zero weights are tried, too


@kernel
def column_sums(offset, rows, values, out):
    """For each column the sum of some values over the rows that have a 1."""
    for j in range(len(out)):
        total = 0.0
        for q in range(offset[j], offset[j + 1]):
            total += values[np.uint64(rows[np.uint64(q)])]
        out[j] = total


@kernel
def log_sums(scores, has_base, out):
    """The logarithm of the sum of the exponentials of each row's scores; with a base 0 is one."""
    n_classes, n = scores.shape
    for i in range(n):
        most = 0.0 if has_base else scores[0, i]
        for c in range(n_classes):
            most = max(most, scores[c, i])
        total = np.exp(-most) if has_base else 0.0
        for c in range(n_classes):
            total += np.exp(scores[c, i] - most)
        out[i] = most + np.log(total)


@kernel
def newton_step(
    offset,
    rows,
    scale,
    target,
    sample,
    penalty,
    ridge,
    active,
    weights,
    scores,
    sums,
    enough,
    close,
):
    """A Newton step for the weights of a class, in place: the gain, the step of the intercept, and
    how much was looked at.

    `target` is 1 where a row is of the class, `sample` the weight of each row, 0 for rows that are
    held out: their scores follow all the same. `penalty` is for each column that of its absolute
    weight, `ridge` that of half its square. `scores` are those of the class, and `sums` the
    logarithms of the sums over all classes. The quadratic model is solved until a round improves it
    by `enough` at most, or by the part `close` of the first round.
    """
    n, n_active = len(sample), len(active)
    # Residuals, curvatures and moves of scores are divided by the scale of the row, or multiplied,
    # so that the loops over the values of a column need none.
    share, residual, curvature, moved = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    bend = 0.0
    for i in range(n):
        share[i] = np.exp(scores[i] - sums[i])
        residual[i] = scale[i] * sample[i] * (share[i] - target[i])
        curvature[i] = sample[i] * max(share[i] * (1 - share[i]), LEAST_CURVATURE)
        bend += curvature[i]
        curvature[i] *= scale[i] * scale[i]
    bends, new = np.empty(n_active), np.empty(n_active)
    for a in range(n_active):
        total = 1e-12 + ridge[active[a]]
        for q in range(offset[active[a]], offset[active[a] + 1]):
            total += curvature[np.uint64(rows[np.uint64(q)])]
        bends[a], new[a] = total, weights[active[a]]
    shift, first, looked = 0.0, 0.0, 0
    for turn in range(MOST_ROUNDS):
        # `residual` is kept at the gradient of the quadratic model in the scores.
        total = 0.0
        for i in range(n):
            total += residual[i] / scale[i]
        step = -total / bend
        shift += step
        for i in range(n):
            moved[i] += step / scale[i]
            residual[i] += curvature[i] * (step / scale[i])
        largest = bend * step * step
        for a in range(n_active):
            if turn % EVERY and new[a] == 0.0:
                continue
            begin, end = offset[active[a]], offset[active[a] + 1]
            looked += end - begin
            total = 0.0
            for q in range(begin, end):
                total += residual[np.uint64(rows[np.uint64(q)])]
            wanted = (bends[a] - ridge[active[a]]) * new[a] - total
            value = max(abs(wanted) - penalty[active[a]], 0.0) / bends[a]
            step = (value if wanted > 0 else -value) - new[a]
            if step != 0.0:
                new[a] += step
                for q in range(begin, end):
                    i = np.uint64(rows[np.uint64(q)])
                    moved[i] += step
                    residual[i] += curvature[i] * step
                largest = max(largest, bends[a] * step * step)
        first = largest if turn == 0 else first
        if turn % EVERY == 0 and largest <= max(enough, close * first):
            break
    length, gain = 1.0, 0.0
    while True:  # halved until the objective does not rise
        gain = 0.0
        for a in range(n_active):
            old = weights[active[a]]
            now = old + length * (new[a] - old)
            gain += penalty[active[a]] * (abs(old) - abs(now))
            gain += 0.5 * ridge[active[a]] * (old * old - now * now)
        for i in range(n):
            if sample[i] > 0:
                move = length * moved[i] * scale[i]
                gain += sample[i] * (target[i] * move - log_rise(share[i], move))
        if gain >= -1e-15:
            break
        length = 0.5 * length if length > 1e-5 else 0.0
    for a in range(n_active):
        weights[active[a]] += length * (new[a] - weights[active[a]])
    for i in range(n):
        sums[i] += log_rise(share[i], length * moved[i] * scale[i])
        scores[i] += length * moved[i] * scale[i]
    return gain, length * shift, looked


@inner_kernel
def log_rise(share, step):
    """How the logarithm of a sum rises when a part that has this share of it grows by e^step."""
    if step > 30.0:  # where the share may be too small for its product to be exact
        return np.logaddexp(np.log1p(-min(share, 1 - 1e-16)), np.log(max(share, 1e-300)) + step)
    return np.log1p(max(share * np.expm1(step), -1 + 1e-15))
