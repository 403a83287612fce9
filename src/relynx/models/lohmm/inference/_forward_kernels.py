"""Forward, backward, expected counts and best paths over ground tables, in log space.

A sequence is a row of steps; the first goes from the one start state to the states of the first
column, the last to one final state. A step is of a kind, which has the edges between the states of
two columns: where a state can go while the model shows one observation, and still show the next.
Columns lie one after the other in one array, that of the start first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Tables(NamedTuple):
    """The ground edges of all kinds of steps, and the kinds of the steps of each sequence.

    The steps of sequence i are `kinds[sequences[i] : sequences[i + 1]]`. A step of kind k has
    `n_sources[k]` states before and `n_targets[k]` after; the edges from state s are those from
    `bounds[rows[k] + s]` to the next. Edge e goes from state `sources[e]` to `targets[e]` by clause
    `clauses[e]`, and draws the parameters `draws[draw_bounds[e] : draw_bounds[e + 1]]`. The last
    step sums over what is drawn and never shown: `opens`, from `open_bounds[e]` on, has the
    distributions of an edge that are left open.
    """

    sequences: NDArray[np.int64]
    kinds: NDArray[np.int64]
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


@njit(cache=True, nogil=True)
def weigh(tables, logs, open_logs, out):
    """The log probability of each edge; `open_logs` has what an open distribution adds."""
    clauses, draw_bounds, draws = tables.clauses, tables.draw_bounds, tables.draws
    open_bounds, opens = tables.open_bounds, tables.opens
    for e in range(len(clauses)):
        total = logs[clauses[e]]
        for d in range(draw_bounds[e], draw_bounds[e + 1]):
            total += logs[draws[d]]
        for d in range(open_bounds[e], open_bounds[e + 1]):
            total += open_logs[opens[d]]
        out[e] = total


@njit(cache=True, nogil=True)
def forward(tables, weights, i, top, out):
    """The log forward probabilities of sequence i, column by column; returns the last one."""
    sequences, kinds, rows, bounds = tables.sequences, tables.kinds, tables.rows, tables.bounds
    n_sources, n_targets, targets = tables.n_sources, tables.n_targets, tables.targets
    here = 0
    out[0] = 0.0
    for step in range(sequences[i], sequences[i + 1]):
        k = kinds[step]
        row, there = rows[k], here + n_sources[k]
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


@njit(cache=True, nogil=True)
def backward(tables, weights, i, size, out):
    """The log backward probabilities of sequence i, whose columns take `size` places in all."""
    sequences, kinds, rows, bounds = tables.sequences, tables.kinds, tables.rows, tables.bounds
    n_sources, targets = tables.n_sources, tables.targets
    there = size - 1
    out[there] = 0.0
    for step in range(sequences[i + 1] - 1, sequences[i] - 1, -1):
        k = kinds[step]
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


@njit(cache=True, nogil=True)
def add_counts(tables, weights, i, factor, before, after, out):
    """Add the expected uses of each parameter in sequence i, times a factor.

    `before` and `after` are its forward and backward columns. Behind the parameters `out` has one
    place for each distribution, for the draws from it that are left open.
    """
    sequences, kinds, rows, bounds = tables.sequences, tables.kinds, tables.rows, tables.bounds
    n_sources, targets, clauses = tables.n_sources, tables.targets, tables.clauses
    draw_bounds, draws = tables.draw_bounds, tables.draws
    open_bounds, opens = tables.open_bounds, tables.opens
    here, whole = 0, after[0]
    for step in range(sequences[i], sequences[i + 1]):
        k = kinds[step]
        row, there = rows[k], here + n_sources[k]
        for s in range(n_sources[k]):
            reached = before[here + s] - whole
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


@njit(cache=True, nogil=True)
def score_all(tables, weights, top, columns, out):
    """The log probability of every sequence."""
    for i in range(len(out)):
        out[i] = forward(tables, weights, i, top, columns)


@njit(cache=True, nogil=True)
def count_all(tables, weights, factors, sizes, top, columns, scores, out):
    """The log probability of every sequence, and its expected counts in its row of `out`.

    Where `out` has one row, that is of all. A sequence of probability 0 adds nothing.
    """
    for i in range(len(scores)):
        scores[i] = forward(tables, weights, i, top, columns[0])
        if scores[i] > -np.inf and factors[i] > 0:
            backward(tables, weights, i, sizes[i], columns[1])
            row = out[i if len(out) > 1 else 0]
            add_counts(tables, weights, i, factors[i], columns[0], columns[1], row)


@njit(cache=True, nogil=True)
def best_path(tables, weights, i, scores, back, out):
    """The edges of the most probable path of sequence i; returns its log probability.

    Of paths of one probability, the one whose last states come first is taken. `scores` and `back`
    have a place for each state of each column.
    """
    sequences, kinds, rows, bounds = tables.sequences, tables.kinds, tables.rows, tables.bounds
    n_sources, n_targets = tables.n_sources, tables.n_targets
    sources, targets = tables.sources, tables.targets
    first, last = sequences[i], sequences[i + 1]
    here = 0
    scores[0] = 0.0
    for step in range(first, last):
        k = kinds[step]
        row, there = rows[k], here + n_sources[k]
        for j in range(n_targets[k]):
            scores[there + j] = -np.inf
            back[there + j] = -1
        for s in range(n_sources[k]):
            for e in range(bounds[row + s], bounds[row + s + 1]):
                score = scores[here + s] + weights[e]
                if score > scores[there + targets[e]]:
                    scores[there + targets[e]] = score
                    back[there + targets[e]] = e
        here = there
    best, state = scores[here], 0
    if best > -np.inf:
        for step in range(last - 1, first - 1, -1):
            e = back[here + state]
            out[step - first] = e
            state = sources[e]
            here -= n_sources[kinds[step]]
    return best
