"""The loops of the conditional random field: chains of labels, and counts at the nodes of trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

# The potentials of event p are F[p, k', k]: of label k after label k'. An event that begins a
# sequence has no label before it; its potentials are those of k' = 0.


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def forward_backward(F, starts, ends, alpha, beta, out):
    """Fill alpha and beta, in logarithms, and log Z of each sequence in `out`."""
    n_labels = F.shape[2]
    terms = np.empty(n_labels)
    for s in range(len(starts)):
        a, b = starts[s], ends[s]
        out[s] = 0.0
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


@njit(cache=True, nogil=True)
def pair_shares(F, starts, ends, alpha, beta, log_z, out):
    """The probability of each pair of labels (k', k) at each event, in `out`."""
    n_labels = F.shape[2]
    for s in range(len(starts)):
        for p in range(starts[s], ends[s]):
            for j in range(n_labels):
                for k in range(n_labels):
                    value = F[p, j, k] + beta[p, k] - log_z[s]
                    if p > starts[s]:
                        out[p, j, k] = np.exp(value + alpha[p - 1, j])
                    else:
                        out[p, j, k] = np.exp(value) if j == 0 else 0.0


@njit(cache=True, nogil=True)
def best_paths(F, starts, ends, out):
    """The most probable labels of each sequence, in `out`; of equal ones the first label."""
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
                back[p - a, k] = best
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
    """What an encoding is made of: see `Encoding`."""

    first: NDArray[np.int32]
    end: NDArray[np.int32]
    starts: NDArray[np.int32]  # of the entries of each thing
    arguments: NDArray[np.int32]
    facts: NDArray[np.int32]
    cells: NDArray[np.int32]
    relation: NDArray[np.int32]
    code: NDArray[np.int32]


class Examples(NamedTuple):
    """The examples of a node: for each way to bind its variables the event and their things.

    `residual` and `weight` are sums over the labels before it that the node is about; the event is
    one example for each of them.
    """

    rows: NDArray[np.int32]
    residual: NDArray[np.float64]
    weight: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _thing(first, end, rows, i, v, half):
    """The thing that a variable stands for in a row, -1 for an event beyond the ends.

    Variable -1 is the first event of the sequence.
    """
    if v < 0:
        return first[rows[i, 0]]
    if v > 2 * half:
        return rows[i, v - 2 * half]
    p = rows[i, 0]
    t = p + v - half
    if t < first[p] or t >= end[p]:
        return np.int32(-1)
    return np.int32(t)


@njit(cache=True, nogil=True)
def divide(data, rows, half, literal, codes, new, out):
    """The rows in which a literal holds, with the things of its new variables; how many they are.

    `literal` is its relation, the variable and the argument of its anchor, the argument and
    variable of a join, and whether several facts may bind the new variables alike: not where every
    argument is known, new or a constant. With no room in `out` they are only counted, some of them
    twice.
    """
    first, end, starts, arguments = data.first, data.end, data.starts, data.arguments
    facts, cells, relation, code = data.facts, data.cells, data.relation, data.code
    r, v, a, b, u = literal[0], literal[1], literal[2], literal[3], literal[4]
    n_old = rows.shape[1]
    write = len(out) > 0
    repeats = literal[5] > 0
    n = 0
    for i in range(len(rows)):
        thing = _thing(first, end, rows, i, v, half)
        if thing < 0:
            continue
        other = _thing(first, end, rows, i, u, half) if b >= 0 else np.int32(-1)
        begin = n
        for e in range(starts[thing], starts[thing + 1]):
            fact = facts[e]
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
                break
    return n


@njit(cache=True, nogil=True)
def count_features(data, examples, half, since, starts, numbers, sums, weights):
    """For each variable and feature the residual and the weight of the examples that have it.

    Each example counts once, however many of its rows have the feature. Only features of the
    variables from `since` on are counted, and joins with one of them.
    """
    first, end = data.first, data.end
    rows, residual, weight = examples.rows, examples.residual, examples.weight
    n_window = 2 * half + 1
    n_columns = rows.shape[1] - 1
    last = np.zeros((n_columns, sums.shape[1]), np.int32)
    before = -1
    for i in range(len(rows)):
        p = rows[i, 0]
        if p != before and since == 0:
            before = p
            for t in range(max(p - half, first[p]), min(p + half + 1, end[p])):
                v = t - p + half
                for e in range(starts[t], starts[t + 1]):
                    sums[v, numbers[e]] += residual[p]
                    weights[v, numbers[e]] += weight[p]
        for c in range(max(since - n_window, 0), n_columns):
            thing = rows[i, 1 + c]
            for e in range(starts[thing], starts[thing + 1]):
                f = numbers[e]
                if last[c, f] != p + 1:
                    last[c, f] = p + 1
                    sums[n_window + c, f] += residual[p]
                    weights[n_window + c, f] += weight[p]


@njit(cache=True, nogil=True)
def count_event_joins(data, examples, half, since, joins, is_event, sums, weights):
    """The same for joins to an event: by anchor, join and second variable."""
    first, end = data.first, data.end
    rows, residual, weight = examples.rows, examples.residual, examples.weight
    starts, numbers, other = joins
    n_window = 2 * half + 1
    n_columns = rows.shape[1] - 1
    n_variables = n_window + n_columns
    last = np.zeros(sums.shape, np.int32)
    before = -1
    for i in range(len(rows)):
        p = rows[i, 0]
        is_new = p != before
        before = p
        for v in range(n_variables):
            if v < n_window and not is_new and n_columns == 0:
                continue
            anchor = _thing(first, end, rows, i, v, half)
            if anchor < 0 or (v >= n_window and not is_event[v - n_window]):
                continue
            for e in range(starts[anchor], starts[anchor + 1]):
                h, cell = numbers[e], other[e]
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
                    if last[v, h, u] != p + 1:
                        last[v, h, u] = p + 1
                        sums[v, h, u] += residual[p]
                        weights[v, h, u] += weight[p]


@njit(cache=True, nogil=True)
def count_value_joins(data, examples, half, since, joins, is_event, sums, weights):
    """The same for joins to a value: the second variable is a column, numbered from 0."""
    first, end = data.first, data.end
    rows, residual, weight = examples.rows, examples.residual, examples.weight
    starts, numbers, other = joins
    n_window = 2 * half + 1
    n_columns = rows.shape[1] - 1
    last = np.zeros(sums.shape, np.int32)
    for i in range(len(rows)):
        p = rows[i, 0]
        for v in range(n_window + n_columns):
            anchor = _thing(first, end, rows, i, v, half)
            if anchor < 0:
                continue
            for e in range(starts[anchor], starts[anchor + 1]):
                h, cell = numbers[e], other[e]
                for c in range(n_columns):
                    u = n_window + c
                    if is_event[c] or rows[i, 1 + c] != cell or u == v or max(u, v) < since:
                        continue
                    if last[v, h, c] != p + 1:
                        last[v, h, c] = p + 1
                        sums[v, h, c] += residual[p]
                        weights[v, h, c] += weight[p]
