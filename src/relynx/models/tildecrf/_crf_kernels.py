"""Kernels of the conditional random field: inference over labels, and counts at tree nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import kernel

# F[p, k', k] is the potential of label k at event p after label k'. The first event of a sequence
# has no label before it; its potentials are those of k' = 0.


@kernel
def _log_sum(values):
    """The logarithm of the sum of exponentials."""
    top = values[0]
    for i in range(1, len(values)):
        top = max(top, values[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(len(values)):
        total += np.exp(values[i] - top)
    return top + np.log(total)


@kernel
def forward_backward(F, starts, ends, alpha, beta, out):
    """Fill alpha and beta, in log space, and log Z of each sequence in `out`."""
    n_labels = F.shape[2]
    terms = np.empty(n_labels)
    for s in range(len(starts)):
        a, b = starts[s], ends[s]
        out[s] = 0.0  # an empty sequence has one labelling, the empty one
        if a == b:
            continue
        for k in range(n_labels):
            alpha[a, k] = F[a, 0, k]
            beta[b - 1, k] = 0.0
        for p in range(a + 1, b):
            for k in range(n_labels):
                for j in range(n_labels):
                    terms[j] = alpha[p - 1, j] + F[p, j, k]
                alpha[p, k] = _log_sum(terms)
        for p in range(b - 2, a - 1, -1):
            for j in range(n_labels):
                for k in range(n_labels):
                    terms[k] = F[p + 1, j, k] + beta[p + 1, k]
                beta[p, j] = _log_sum(terms)
        for k in range(n_labels):
            terms[k] = alpha[b - 1, k]
        out[s] = _log_sum(terms)


@kernel
def pair_probabilities(F, starts, ends, alpha, beta, log_z, out):
    """The probability of each pair of labels (k', k) at each event, in `out`."""
    n_labels = F.shape[2]
    for s in range(len(starts)):
        for p in range(starts[s], ends[s]):
            for j in range(n_labels):
                for k in range(n_labels):
                    # Subtract log Z before exponentiating: alpha and beta alone would overflow.
                    value = F[p, j, k] + beta[p, k] - log_z[s]
                    if p > starts[s]:
                        out[p, j, k] = np.exp(value + alpha[p - 1, j])
                    else:
                        out[p, j, k] = np.exp(value) if j == 0 else 0.0


@kernel
def best_paths(F, starts, ends, out):
    """The most probable labels of each sequence (Viterbi), in `out`; ties go to the first label."""
    n_labels = F.shape[2]
    longest = 1
    for s in range(len(starts)):
        longest = max(longest, ends[s] - starts[s])
    back = np.zeros((longest, n_labels), np.int32)
    score = np.zeros(n_labels)
    new = np.zeros(n_labels)
    for s in range(len(starts)):
        a, b = starts[s], ends[s]
        if a == b:
            continue
        for k in range(n_labels):
            score[k] = F[a, 0, k]
        for p in range(a + 1, b):
            for k in range(n_labels):
                best = 0
                for j in range(1, n_labels):
                    if score[j] + F[p, j, k] > score[best] + F[p, best, k]:
                        best = j
                back[p - a, k] = best  # the label before, on the best path to label k
                new[k] = score[best] + F[p, best, k]
            for k in range(n_labels):
                score[k] = new[k]
        label = 0
        for k in range(1, n_labels):
            if score[k] > score[label]:
                label = k
        for p in range(b - 1, a - 1, -1):
            out[p] = label
            label = back[p - a, label]


class Data(NamedTuple):
    """The arrays of an `Encoding` that the kernels read. An entity is a constant of one type in one
    sequence; events are the first entities, in their order. Entity i occurs in the entries
    `starts[i] : starts[i + 1]`: as argument `arguments[e]` of fact `facts[e]`. `cells[f]` has the
    entities of fact f, `relation[f]` its predicate."""

    first: NDArray[np.int32]
    end: NDArray[np.int32]
    starts: NDArray[np.int32]
    arguments: NDArray[np.int32]
    facts: NDArray[np.int32]
    cells: NDArray[np.int32]
    relation: NDArray[np.int32]
    code: NDArray[np.int32]


class Examples(NamedTuple):
    """The examples of a node: one row for each binding of its variables, the event first. The rows
    of an event are adjacent. `residual` and `weight` are, by event, sums over the previous labels
    that reach the node; the event is one example for each of them."""

    rows: NDArray[np.int32]
    residual: NDArray[np.float64]
    weight: NDArray[np.float64]


@kernel
def _entity(first, end, rows, i, v, half):
    """The entity of a variable in a row, -1 for an event beyond the ends of the sequence. The first
    2 * half + 1 variables are the events of the window and need no column; the others are read from
    the row. Variable -1 is the first event of the sequence, which carries its attributes."""
    if v < 0:
        return first[rows[i, 0]]
    if v > 2 * half:
        return rows[i, v - 2 * half]
    p = rows[i, 0]
    t = p + v - half
    if t < first[p] or t >= end[p]:
        return np.int32(-1)
    return np.int32(t)


@kernel
def divide(data, rows, half, literal, codes, new, out):
    """Write the rows in which a literal holds, extended by its new variables; returns their number.

    `literal` is its relation, the variable and the argument of its anchor, the argument and
    variable of a join, and whether several facts may bind the new variables alike: not if every
    argument is known, new or a constant. With an empty `out` rows are only counted, as an upper
    bound for its size: duplicates are counted, too.
    """
    first, end, starts, arguments = data.first, data.end, data.starts, data.arguments
    facts, cells, relation, code = data.facts, data.cells, data.relation, data.code
    r, v, a, b, u = literal[0], literal[1], literal[2], literal[3], literal[4]
    n_old = rows.shape[1]
    write = len(out) > 0
    repeats = literal[5] > 0
    n = 0
    for i in range(len(rows)):
        entity = _entity(first, end, rows, i, v, half)
        if entity < 0:
            continue
        other = _entity(first, end, rows, i, u, half) if b >= 0 else np.int32(-1)
        begin = n
        for e in range(starts[entity], starts[entity + 1]):
            fact = facts[e]
            # The entries of an entity mix all relations and arguments.
            if arguments[e] != a or relation[fact] != r:
                continue
            if b >= 0 and cells[fact, b] != other:
                continue
            holds = True
            for c in range(len(codes)):
                if codes[c] >= 0 and code[cells[fact, c]] != codes[c]:
                    holds = False
                    break
            if not holds:
                continue
            # An anonymous variable may make several facts bind alike. Duplicates of a row are
            # adjacent (from `begin` on), so that a linear scan finds them.
            if write and repeats and len(new):
                for m in range(begin, n):
                    same = True
                    for c in range(len(new)):
                        if out[m, n_old + c] != cells[fact, new[c]]:
                            same = False
                            break
                    if same:
                        holds = False
                        break
                if not holds:
                    continue
            if write:
                for c in range(n_old):
                    out[n, c] = rows[i, c]
                for c in range(len(new)):
                    out[n, n_old + c] = cells[fact, new[c]]
            n += 1
            if not len(new):
                break  # without new variables one fact is enough
    return n


@kernel
def count_features(data, examples, half, since, starts, numbers, sums, weights):
    """For each variable and feature, the residual and the weight of the examples that have it. Each
    example counts once, however many of its rows have the feature. Only features of the variables
    from `since` on are counted."""
    first, end = data.first, data.end
    rows, residual, weight = examples.rows, examples.residual, examples.weight
    n_window = 2 * half + 1
    n_columns = rows.shape[1] - 1
    # last[c, f] is 1 + the last event counted for this variable and feature. Rows are sorted by
    # event, so that this marks an event as counted without clearing anything between events.
    last = np.zeros((n_columns, sums.shape[1]), np.int32)
    before = -1
    for i in range(len(rows)):
        p = rows[i, 0]
        # Variables of the window are the same in all rows of an event: count them once.
        if p != before and since == 0:
            before = p
            for t in range(max(p - half, first[p]), min(p + half + 1, end[p])):
                v = t - p + half
                for e in range(starts[t], starts[t + 1]):
                    sums[v, numbers[e]] += residual[p]
                    weights[v, numbers[e]] += weight[p]
        for c in range(max(since - n_window, 0), n_columns):
            entity = rows[i, 1 + c]
            for e in range(starts[entity], starts[entity + 1]):
                f = numbers[e]
                if last[c, f] != p + 1:
                    last[c, f] = p + 1
                    sums[n_window + c, f] += residual[p]
                    weights[n_window + c, f] += weight[p]


@kernel
def count_joins(data, examples, half, since, joins, shift, sums, weights):
    """As `count_features`, for joins: by anchor, join and second variable, less the shift. Joins
    are all to events, with shift 0, or all to values, which are never in the window: then the shift
    leaves out its variables."""
    first, end = data.first, data.end
    rows, residual, weight = examples.rows, examples.residual, examples.weight
    starts, numbers, other = joins
    n_window = 2 * half + 1
    n_columns = rows.shape[1] - 1
    last = np.zeros(sums.shape, np.int32)  # as in `count_features`
    for i in range(len(rows)):
        p = rows[i, 0]
        for v in range(n_window + n_columns):
            anchor = _entity(first, end, rows, i, v, half)
            if anchor < 0:
                continue
            for e in range(starts[anchor], starts[anchor + 1]):
                h, cell = numbers[e], other[e]
                # The second variable: an event of the window by its distance, or a column.
                u = cell - p + half
                in_window = 0 <= u < n_window and first[p] <= cell < end[p]
                if in_window and u != v and v >= since and last[v, h, u] != p + 1:
                    last[v, h, u] = p + 1
                    sums[v, h, u] += residual[p]
                    weights[v, h, u] += weight[p]
                for c in range(n_columns):
                    u = n_window + c
                    if rows[i, 1 + c] != cell or u == v or max(u, v) < since:
                        continue
                    if last[v, h, u - shift] != p + 1:
                        last[v, h, u - shift] = p + 1
                        sums[v, h, u - shift] += residual[p]
                        weights[v, h, u - shift] += weight[p]
