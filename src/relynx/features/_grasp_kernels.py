"""The search for a set of features: errors of all neighbours of a set at once.

A sequence of class c is misclassified if its margin against some rival class is below 0. A feature
shifts the margin by one of two fixed numbers, for the feature present or absent. So "does this
feature make it wrong" compares a number known beforehand with the margin, and the rank of that
number among all shifts does as well: 16 bits instead of 64, so that 32 fit into a vector register.

Features are sorted by how far they can move a margin, so that a sequence far from the decision
boundary is compared only with the few that reach it. All scores are integers: adding and removing
a feature is exact, and margins never drift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEVER = np.int64(2**62)  # larger than any cost
FLUSH = 32_000  # sequences counted before 16-bit counters would overflow
FEW = 24  # if fewer than one in so many candidates is left, each is evaluated by itself
CHUNK = 256  # sequences after which a candidate is checked against the limit


class Side(NamedTuple):
    """Candidates in the order of the reach of their shifts, class by class.

    First come those with the largest positive shifts (`mend`: they can correct a misclassified
    sequence), or the largest negative ones (`keep`: they can break a correct one).
    `rank[c, k, x, i]` is the level of the i-th candidate's shift against rival k, for the feature
    absent and present; if levels do not fit into 16 bits it is empty, and `wide` has them.
    `rows[s, i]` is whether sequence s has the feature; `reach[c, k, p]` is how many candidates can
    change the sign of a margin of level p: a prefix, thanks to the order.
    """

    order: NDArray[np.int64]
    rank: NDArray[np.int16]
    wide: NDArray[np.int32]
    rows: NDArray[np.uint8]
    reach: NDArray[np.int32]


class Tables(NamedTuple):
    """The training data; sequences are sorted by class.

    `starts` has the first sequence of each class and the end; `weights` the cost of an error;
    `shift[c, k, x, j]` what feature j adds to the margin against rival k, absent and present;
    `levels[c, k]` all shifts, sorted; `slots[c, k, t]` how many of them are below the t-th step of
    a grid that starts at `grid[c, k, 0]` with steps of 2 ** `grid[c, k, 1]`; `columns[j, s]`
    whether sequence s has feature j.
    """

    starts: NDArray[np.int64]
    weights: NDArray[np.int64]
    shift: NDArray[np.int64]
    levels: NDArray[np.int64]
    slots: NDArray[np.int32]
    grid: NDArray[np.int64]
    columns: NDArray[np.uint8]
    mend: Side
    keep: Side


@njit(cache=True, nogil=True)
def add_feature(tables, j, sign, margins):
    """Add the shifts of feature j to the margins, or subtract them with sign -1."""
    starts, shift, column = tables.starts, tables.shift, tables.columns[j]
    for c in range(len(starts) - 1):
        bits = column[starts[c] : starts[c + 1]]
        for k in range(len(margins)):
            row = margins[k, starts[c] : starts[c + 1]]
            absent, present = sign * shift[c, k, 0, j], sign * shift[c, k, 1, j]
            for s in range(len(row)):
                row[s] += present if bits[s] else absent


@njit(cache=True, nogil=True)
def cost_of(tables, margins):
    """The cost of the sequences with a margin below 0."""
    starts, weights = tables.starts, tables.weights
    wrong = np.empty(CHUNK, np.int64)
    cost = np.int64(0)
    for c in range(len(starts) - 1):
        for first in range(starts[c], starts[c + 1], CHUNK):
            n = min(CHUNK, starts[c + 1] - first)
            wrong[:n] = 0
            for k in range(len(margins)):
                row = margins[k, first : first + n]
                for i in range(n):
                    wrong[i] |= row[i] < 0
            cost += weights[c] * wrong[:n].sum()
    return cost


@njit(cache=True, nogil=True)
def cost_with(tables, margins, j, sign, limit):
    """The cost with feature j added (removed with sign -1): exact below `limit`.

    Costs only grow from chunk to chunk, so that counting stops when the limit is reached.
    """
    starts, weights, shift, column = tables.starts, tables.weights, tables.shift, tables.columns[j]
    wrong = np.empty(CHUNK, np.int64)
    cost = np.int64(0)
    for c in range(len(starts) - 1):
        for first in range(starts[c], starts[c + 1], CHUNK):
            n = min(CHUNK, starts[c + 1] - first)
            bits = column[first : first + n]
            wrong[:n] = 0
            for k in range(len(margins)):
                row = margins[k, first : first + n]
                absent, present = sign * shift[c, k, 0, j], sign * shift[c, k, 1, j]
                for i in range(n):
                    wrong[i] |= row[i] + (present if bits[i] else absent) < 0
            cost += weights[c] * wrong[:n].sum()
            if cost >= limit:
                return cost
    return cost


@njit(cache=True, nogil=True)
def sweep(tables, margins, used, limit, out):
    """The cost with each unused feature added: exact below `limit`, else any value >= limit.

    Used features get NEVER. Misclassified sequences come first: those that a candidate corrects
    give a lower bound of its cost, and only candidates whose bound is below the limit are compared
    with the correct sequences.
    """
    out[:] = cost_of(tables, margins)
    _count_changes(tables, margins, True, out)
    alive = 0
    for j in range(len(out)):
        alive += not used[j] and out[j] < limit
    if alive * FEW > len(out):
        _count_changes(tables, margins, False, out)
    elif alive > 0:
        for j in range(len(out)):
            if not used[j] and out[j] < limit:
                out[j] = cost_with(tables, margins, j, 1, limit)
    for j in range(len(out)):
        if used[j]:
            out[j] = NEVER


@njit(cache=True, nogil=True)
def _count_changes(tables, margins, mend, out):
    """Subtract from the costs the sequences that candidates correct, or add those they break."""
    starts, weights = tables.starts, tables.weights
    order, rank, wide, rows, reach = tables.mend if mend else tables.keep
    n_rivals = len(margins)
    count = np.zeros(len(out), np.int16)  # sequences wrong with the i-th candidate added
    hit = np.zeros(len(out), np.int16)  # whether this sequence is wrong with it
    n_compared = np.zeros(len(out) + 1, np.int64)  # sequences by number of candidates compared
    level = np.zeros(n_rivals, np.int64)
    reached = np.zeros(n_rivals, np.int64)
    near = np.zeros(n_rivals + 1, np.int64)  # rivals that may win, the farthest reach first
    for c in range(len(starts) - 1):
        for first in range(starts[c], starts[c + 1], FLUSH):
            longest = 0
            for s in range(first, min(first + FLUSH, starts[c + 1])):
                worst = 0
                for k in range(1, n_rivals):
                    if margins[k, s] < margins[worst, s]:
                        worst = k
                if n_rivals == 0 or (margins[worst, s] < 0) != mend:
                    continue  # the other side handles it
                for k in range(n_rivals):
                    level[k] = _level_of(tables, c, k, -margins[k, s])
                n, n_near = _near_rivals(reach, c, worst, mend, level, reached, near)
                if n == 0:
                    continue
                longest = max(longest, n)
                n_compared[n] += 1
                x = rows[s]
                if n_near == 1:
                    k = near[0]
                    if len(rank):
                        _add_wrong(rank[c, k, 0], rank[c, k, 1], level[k], x, n, count)
                    else:
                        _add_wrong(wide[c, k, 0], wide[c, k, 1], level[k], x, n, count)
                elif n_near > 1:
                    # A sequence is wrong if any rival wins: OR over the rivals, two per pass over
                    # the candidates; the last rival is doubled if their number is odd.
                    hit[:n] = 0
                    near[n_near] = near[n_near - 1]
                    for i in range(0, n_near, 2):
                        k, other = near[i], near[i + 1]
                        a, b = level[k], level[other]
                        if len(rank):
                            _mark_wrong(rank[c, k], a, rank[c, other], b, x, reached[k], hit)
                        else:
                            _mark_wrong(wide[c, k], a, wide[c, other], b, x, reached[k], hit)
                    for i in range(n):
                        count[i] += hit[i]
            # Candidate i was compared with the sequences whose prefix is longer than i: a running
            # sum from the end. With `mend`, those not wrong any more are subtracted.
            so_far = 0
            for i in range(longest - 1, -1, -1):
                so_far += n_compared[i + 1]
                n_compared[i + 1] = 0
                out[order[c, i]] += weights[c] * (count[i] - so_far * mend)
                count[i] = 0


@njit(cache=True, nogil=True, inline="always")
def _near_rivals(reach, c, worst, mend, level, reached, near):
    """How many candidates to compare, and how many rivals may win: these go into `near`.

    A sequence is corrected if it beats all rivals, so that the worst one bounds the candidates. It
    is broken by any rival, and each has its own candidates; the rival with the most comes first.
    """
    n_near = 0
    n = reach[c, worst, level[worst]] if mend else 0
    for k in range(len(level)):
        reached[k] = n if mend else reach[c, k, level[k]]
        if level[k] > 0 and reached[k] > 0:
            i = n_near
            while i > 0 and reached[near[i - 1]] < reached[k]:
                near[i] = near[i - 1]
                i -= 1
            near[i] = k
            n_near += 1
    if n_near > 0:
        n = reached[near[0]]
    return n, n_near


@njit(cache=True, nogil=True)
def _level_of(tables, c, k, value):
    """How many shifts of class c against rival k are below a value.

    The grid narrows the binary search to a few shifts.
    """
    levels = tables.levels[c, k]
    if value <= levels[0]:
        return 0
    if value > levels[-1]:
        return len(levels)
    t = (value - tables.grid[c, k, 0]) >> tables.grid[c, k, 1]
    low, high = tables.slots[c, k, t], tables.slots[c, k, t + 1]
    while low < high:
        middle = (low + high) >> 1
        if levels[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _add_wrong(absent, present, level, x, n, count):
    """Count the candidates whose shift is below the level of a margin."""
    level = absent.dtype.type(level)
    for i in range(n):
        zero, one = absent[i], present[i]
        count[i] += (one if x[i] else zero) < level


@njit(cache=True, nogil=True)
def _mark_wrong(rank, level, other_rank, other_level, x, n, hit):
    """Mark the candidates whose shift is below the level of a margin, for two rivals."""
    absent, present = rank[0], rank[1]
    other_absent, other_present = other_rank[0], other_rank[1]
    level, other_level = absent.dtype.type(level), absent.dtype.type(other_level)
    for i in range(n):
        zero, one, other_zero, other_one = absent[i], present[i], other_absent[i], other_present[i]
        wrong = (one if x[i] else zero) < level
        hit[i] |= wrong | ((other_one if x[i] else other_zero) < other_level)


@njit(cache=True, nogil=True)
def play_round(tables, margins, first, draws, most, moves, chosen):
    """One round: randomised greedy construction, then local search.

    `margins` are those of the empty set and become those of the result; `first` is the sweep of
    the empty set. `draws` holds alpha, then a number in [0, 1) for each feature that may be added;
    the rest, used cyclically, break ties. `moves` says whether to add, drop and swap. The features
    of the result go into `chosen`; returned are the number of features and the cost after the
    construction, and both at the end.
    """
    used = np.zeros(len(chosen), np.bool_)
    costs = np.empty(len(chosen), np.int64)
    n, cost = _build(tables, margins, first, draws, most, used, costs, chosen)
    n_built, cost_built = n, cost
    n, cost = improve(tables, margins, draws, most, moves, n, cost, chosen)
    return n_built, cost_built, n, cost


@njit(cache=True, nogil=True)
def improve(tables, margins, draws, most, moves, n, cost, chosen):
    """Local search from the first n features of `chosen`, while a neighbour is better."""
    used = np.zeros(len(chosen), np.bool_)
    used[chosen[:n]] = True
    costs = np.empty(len(chosen), np.int64)
    ties = draws[len(chosen) + 1 :]
    turn = int(ties[0] * n)
    step = 0
    while cost > 0:
        n_now, cost_now = n, cost
        step += 1
        draw = ties[step % len(ties)]
        if moves[0] or moves[1]:
            n, cost = _add_or_drop(tables, margins, most, moves, draw, used, costs, n, cost, chosen)
        if cost == cost_now and moves[2]:
            turn, cost = _swap(tables, margins, turn, draw, used, costs, n, cost, chosen)
        if n == n_now and cost == cost_now:
            break
    return n, cost


@njit(cache=True, nogil=True, inline="always")
def _build(tables, margins, first, draws, most, used, costs, chosen):
    """Add candidates drawn from the best ones, until the one drawn increases the cost.

    The first one is always added: two may be better than none where each alone is worse.
    """
    alpha = draws[0]
    n, cost = 0, NEVER
    while n < most:
        if n == 0:
            costs[:] = first
        else:
            sweep(tables, margins, used, NEVER, costs)
        low, high = NEVER, np.int64(-1)
        for j in range(len(costs)):
            if not used[j]:
                low, high = min(low, costs[j]), max(high, costs[j])
        j = _draw(costs, used, low + alpha * (high - low), draws[n + 1])
        if costs[j] > cost:
            break
        add_feature(tables, j, 1, margins)
        used[j] = True
        chosen[n] = j
        n += 1
        cost = costs[j]
    return n, cost


@njit(cache=True, nogil=True)
def _draw(costs, used, bound, draw):
    """One of the unused features of cost at most the bound, uniformly drawn."""
    n_good = 0
    for j in range(len(costs)):
        n_good += not used[j] and costs[j] <= bound
    left = min(int(draw * n_good), n_good - 1)
    for j in range(len(costs)):
        if not used[j] and costs[j] <= bound:
            if left == 0:
                return j
            left -= 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def _add_or_drop(tables, margins, most, moves, draw, used, costs, n, cost, chosen):
    """Make the move of lowest cost if it improves the set; a drop is preferred among equal ones."""
    best = cost
    n_equal = 0
    if moves[1]:
        for i in range(n):
            costs[i] = cost_with(tables, margins, chosen[i], -1, best + 1)
            if costs[i] < best:
                best, n_equal = costs[i], 0
            n_equal += costs[i] == best
        left = int(draw * n_equal)
        dropped = -1
        for i in range(n):
            if costs[i] == best:
                if left == 0:
                    dropped = i
                left -= 1
    if moves[0] and n < most:
        # `best` is the limit: an addition that does not beat the best drop need not be exact.
        sweep(tables, margins, used, best, costs)
        low = costs.min()
        if low < best:
            j = _draw(costs, used, low, draw)
            add_feature(tables, j, 1, margins)
            used[j] = True
            chosen[n] = j
            return n + 1, low
    if best < cost:
        add_feature(tables, chosen[dropped], -1, margins)
        used[chosen[dropped]] = False
        for i in range(dropped, n - 1):  # keep the order, in which `_swap` takes turns
            chosen[i] = chosen[i + 1]
        return n - 1, best
    return n, cost


@njit(cache=True, nogil=True, inline="always")
def _swap(tables, margins, turn, draw, used, costs, n, cost, chosen):
    """Replace features in turn, from index `turn` on, until a replacement improves the set."""
    for step in range(n):
        i = (turn + step) % n
        add_feature(tables, chosen[i], -1, margins)
        sweep(tables, margins, used, cost, costs)
        low = costs.min()
        if low < cost:
            j = _draw(costs, used, low, draw)
            add_feature(tables, j, 1, margins)
            used[chosen[i]] = False
            used[j] = True
            chosen[i] = j
            return i + 1, low
        add_feature(tables, chosen[i], 1, margins)
    return turn, cost
