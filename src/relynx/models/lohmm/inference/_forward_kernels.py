"""Forward, backward, expected counts and best paths over ground tables, in log space.

A sequence is a list of steps. The first goes from the only start state to the states of the first
column, the last to a single final state. Steps between the same two columns are of one kind, which
has the edges between their states: where a state can go while the model emits one observation, and
still emit the next. Sequences share kinds, so that each is grounded once. The columns of a sequence
lie one after the other in one array, that of the start first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import kernel


class Tables(NamedTuple):
    """The ground edges of all kinds of steps, and the steps of each sequence.

    The kinds of the steps of sequence i are `steps[sequences[i] : sequences[i + 1]]`. A step of
    kind k has `n_sources[k]` states before and `n_targets[k]` after; the edges from state s are
    those from `bounds[rows[k] + s]` to the next. Edge e goes from state `sources[e]` to
    `targets[e]` by clause `clauses[e]`, and draws the parameters
    `draws[draw_bounds[e] : draw_bounds[e + 1]]`. The last step sums over values that are drawn but
    never observed: `opens`, from `open_bounds[e]` on, has the distributions of an edge that are
    summed out.
    """

    sequences: NDArray[np.int64]
    steps: NDArray[np.int64]
    n_sources: NDArray[np.int64]
    n_targets: NDArray[np.int64]
    rows: NDArray[np.int64]
    bounds: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    clauses: NDArray[np.int64]
    draw_bounds: NDArray[np.int64]
    draws: NDArray[np.int64]
    open_bounds: NDArray[np.int64]
    opens: NDArray[np.int64]


@kernel
def weigh(tables, logs, open_logs, out):
    """The log probability of each edge; `open_logs` has the log total of each open distribution."""
    clauses, draw_bounds, draws = tables.clauses, tables.draw_bounds, tables.draws
    open_bounds, opens = tables.open_bounds, tables.opens
    for e in range(len(clauses)):
        total = logs[clauses[e]]
        for d in range(draw_bounds[e], draw_bounds[e + 1]):
            total += logs[draws[d]]
        for d in range(open_bounds[e], open_bounds[e + 1]):
            total += open_logs[opens[d]]
        out[e] = total


@kernel
def forward(tables, weights, i, top, out):
    """The log forward probabilities of sequence i, column by column; returns the last one."""
    sequences, steps, rows, bounds = tables.sequences, tables.steps, tables.rows, tables.bounds
    n_sources, n_targets, targets = tables.n_sources, tables.n_targets, tables.targets
    here = 0
    out[0] = 0.0
    for step in range(sequences[i], sequences[i + 1]):
        k = steps[step]
        row, there = rows[k], here + n_sources[k]
        # Log-sum-exp for all targets at once: edges are grouped by source, not by target, so the
        # first pass finds the maximum of each target and the second one sums relative to it.
        for j in range(n_targets[k]):
            top[j] = -np.inf
            out[there + j] = 0.0
        for s in range(n_sources[k]):
            if out[here + s] == -np.inf:
                continue
            for e in range(bounds[row + s], bounds[row + s + 1]):
                top[targets[e]] = max(top[targets[e]], out[here + s] + weights[e])
        for s in range(n_sources[k]):
            if out[here + s] == -np.inf:
                continue
            for e in range(bounds[row + s], bounds[row + s + 1]):
                j = targets[e]
                if top[j] > -np.inf:
                    out[there + j] += np.exp(out[here + s] + weights[e] - top[j])
        for j in range(n_targets[k]):
            out[there + j] = top[j] + np.log(out[there + j]) if top[j] > -np.inf else -np.inf
        here = there
    return out[here]


@kernel
def backward(tables, weights, i, size, out):
    """The log backward probabilities of sequence i, whose columns have `size` states in all."""
    sequences, steps, rows, bounds = tables.sequences, tables.steps, tables.rows, tables.bounds
    n_sources, targets = tables.n_sources, tables.targets
    there = size - 1  # the last column is the final state
    out[there] = 0.0
    for step in range(sequences[i + 1] - 1, sequences[i] - 1, -1):
        k = steps[step]
        row, here = rows[k], there - n_sources[k]
        for s in range(n_sources[k]):
            high, total = -np.inf, 0.0
            for e in range(bounds[row + s], bounds[row + s + 1]):
                high = max(high, weights[e] + out[there + targets[e]])
            if high > -np.inf:
                for e in range(bounds[row + s], bounds[row + s + 1]):
                    total += np.exp(weights[e] + out[there + targets[e]] - high)
                high += np.log(total)
            out[here + s] = high
        there = here


@kernel
def add_counts(tables, weights, i, factor, before, after, out):
    """Add the expected uses of each parameter in sequence i, times a factor. `before` and `after`
    are its forward and backward columns. After the parameters, `out` has one entry for each
    distribution, from the end backwards: the draws from it that are summed out. The caller
    distributes them over the values."""
    sequences, steps, rows, bounds = tables.sequences, tables.steps, tables.rows, tables.bounds
    n_sources, targets, clauses = tables.n_sources, tables.targets, tables.clauses
    draw_bounds, draws = tables.draw_bounds, tables.draws
    open_bounds, opens = tables.open_bounds, tables.opens
    here, whole = 0, after[0]
    for step in range(sequences[i], sequences[i + 1]):
        k = steps[step]
        row, there = rows[k], here + n_sources[k]
        for s in range(n_sources[k]):
            reached = before[here + s] - whole  # posterior, not joint: divided by P(sequence)
            if reached == -np.inf:
                continue
            for e in range(bounds[row + s], bounds[row + s + 1]):
                count = factor * np.exp(reached + weights[e] + after[there + targets[e]])
                out[clauses[e]] += count
                for d in range(draw_bounds[e], draw_bounds[e + 1]):
                    out[draws[d]] += count
                for d in range(open_bounds[e], open_bounds[e + 1]):
                    out[len(out) - 1 - opens[d]] += count
        here = there


@kernel
def score_all(tables, weights, top, columns, out):
    """The log probability of every sequence."""
    for i in range(len(out)):
        out[i] = forward(tables, weights, i, top, columns)


@kernel
def count_all(tables, weights, factors, sizes, top, columns, scores, out):
    """The log probability of every sequence, and its expected counts in its row of `out`. Where
    `out` has one row, that is of all. A sequence of probability 0 adds nothing."""
    for i in range(len(scores)):
        scores[i] = forward(tables, weights, i, top, columns[0])
        if scores[i] > -np.inf and factors[i] > 0:
            backward(tables, weights, i, sizes[i], columns[1])
            row = out[i if len(out) > 1 else 0]
            add_counts(tables, weights, i, factors[i], columns[0], columns[1], row)


@kernel
def best_paths(tables, weights, i, scores, back):
    """The log probability of the best path to each state of sequence i, but for the final one.
    Edges between the same two states add up. Of equally probable paths the one whose last states
    come first is kept: another replaces it only if it is better. `scores` and `back` have an entry
    for each state of each column; `back` is the place of the state before in its column."""
    sequences, steps, rows, bounds = tables.sequences, tables.steps, tables.rows, tables.bounds
    n_sources, n_targets, targets = tables.n_sources, tables.n_targets, tables.targets
    here = 0
    scores[0] = 0.0
    for step in range(sequences[i], sequences[i + 1] - 1):
        k = steps[step]
        row, there = rows[k], here + n_sources[k]
        for j in range(n_targets[k]):
            scores[there + j] = -np.inf
            back[there + j] = -1
        for s in range(n_sources[k]):
            e, end = bounds[row + s], bounds[row + s + 1]
            while e < end:
                j, total = targets[e], weights[e]
                e += 1
                while e < end and targets[e] == j:  # edges of a state are in the order of targets
                    total = np.logaddexp(total, weights[e])
                    e += 1
                if scores[here + s] + total > scores[there + j]:
                    scores[there + j] = scores[here + s] + total
                    back[there + j] = s
        here = there
