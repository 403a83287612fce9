"""The search for a set of features: errors of all neighbours of a set at once.

A sequence of class c is wrong when its margin against some rival class is below 0. A feature
shifts the margin by one of two numbers, for the feature present or absent, and those never change.
So "does this feature make it wrong" compares a number that is known beforehand with the margin, and
the rank of that number among all of its kind does as well: 16 bits instead of 64, 32 at a time.

Features are sorted by how far they can move a margin, so that a sequence far from its limit is
compared with the few that reach it. All scores are whole numbers: what was added can be taken away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEVER = np.int64(2**62)  # a cost above all costs
FLUSH = 32_000  # sequences that a 16-bit count can hold
FEW = 24  # with fewer than one candidate in so many, each is counted by itself
CHUNK = 256  # sequences after which one is given up that cannot win


class Side(NamedTuple):
    """Candidates in the order of the reach of their shifts, class by class.

    Those that can mend a wrong sequence from afar come first, or those that can break a right one.
    `rank[c, k, x, i]` is the place of the i-th candidate's shift against rival k, for the feature
    absent and present; where places do not fit in 16 bits it is empty, and `wide` has them.
    `rows[s, i]` says which of the two; `reach[c, k, p]` how many candidates are to be asked when a
    margin has place p.
    """

    order: NDArray[np.int64]
    rank: NDArray[np.int16]
    wide: NDArray[np.int32]
    rows: NDArray[np.uint8]
    reach: NDArray[np.int32]


class Tables(NamedTuple):
    """What a search needs to know of the sequences, which are sorted by class.

    `starts` has the first sequence of each class and the end; `weights` the cost of an error;
    `shift[c, k, x, j]` what feature j adds to the margin against rival k; `levels[c, k]` all
    shifts, sorted, of which `slots[c, k, t]` are below the t-th of equal steps, which begin at
    `grid[c, k, 0]` and are 2 ** `grid[c, k, 1]` wide; `columns[j, s]` whether sequence s has
    feature j.
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
    """Add the shifts of feature j to the margins, or take them away with sign -1."""
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
    """The cost of the sequences that have a margin below 0."""
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
    """The cost with feature j added (taken away with sign -1): exact below `limit`.

    Where the limit is reached the rest is not looked at.
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
    """The cost with each unused feature added: exact below `limit`, else anything not below it.

    Used features get NEVER. Wrong sequences come first: what they can bring down bounds each
    candidate, and only those that may get below the limit are asked of the right ones.
    """
    out[:] = cost_of(tables, margins)
    _ask(tables, margins, True, out)
    alive = 0
    for j in range(len(out)):
        alive += not used[j] and out[j] < limit
    if alive * FEW > len(out):
        _ask(tables, margins, False, out)
    elif alive > 0:
        for j in range(len(out)):
            if not used[j] and out[j] < limit:
                out[j] = cost_with(tables, margins, j, 1, limit)
    for j in range(len(out)):
        if used[j]:
            out[j] = NEVER


@njit(cache=True, nogil=True)
def _ask(tables, margins, mend, out):
    """Take from the costs the wrong sequences that are mended, or add the right ones that break."""
    starts, weights = tables.starts, tables.weights
    order, rank, wide, rows, reach = tables.mend if mend else tables.keep
    n_rivals = len(margins)
    count = np.zeros(len(out), np.int16)  # sequences that are wrong with the i-th candidate
    hit = np.zeros(len(out), np.int16)  # whether this sequence is
    asked = np.zeros(len(out) + 1, np.int64)  # sequences by the number of candidates asked
    place = np.zeros(n_rivals, np.int64)
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
                    continue
                for k in range(n_rivals):
                    place[k] = _place(tables, c, k, -margins[k, s])
                n, n_near = _near_rivals(reach, c, worst, mend, place, reached, near)
                if n == 0:
                    continue
                longest = max(longest, n)
                asked[n] += 1
                x = rows[s]
                if n_near == 1:
                    k = near[0]
                    if len(rank):
                        _add_wrong(rank[c, k, 0], rank[c, k, 1], place[k], x, n, count)
                    else:
                        _add_wrong(wide[c, k, 0], wide[c, k, 1], place[k], x, n, count)
                elif n_near > 1:
                    hit[:n] = 0
                    near[n_near] = near[n_near - 1]
                    for i in range(0, n_near, 2):
                        k, other = near[i], near[i + 1]
                        a, b = place[k], place[other]
                        if len(rank):
                            _mark_wrong(rank[c, k], a, rank[c, other], b, x, reached[k], hit)
                        else:
                            _mark_wrong(wide[c, k], a, wide[c, other], b, x, reached[k], hit)
                    for i in range(n):
                        count[i] += hit[i]
            so_far = 0
            for i in range(longest - 1, -1, -1):
                so_far += asked[i + 1]
                asked[i + 1] = 0
                out[order[c, i]] += weights[c] * (count[i] - so_far * mend)
                count[i] = 0


@njit(cache=True, nogil=True, inline="always")
def _near_rivals(reach, c, worst, mend, place, reached, near):
    """How many candidates to ask, and how many rivals they may lose to: put into `near`.

    To mend a sequence is to leave all rivals behind. To break it one is enough, and each has
    candidates of its own; the rival with the most comes first.
    """
    n_near = 0
    n = reach[c, worst, place[worst]] if mend else 0
    for k in range(len(place)):
        reached[k] = n if mend else reach[c, k, place[k]]
        if place[k] > 0 and reached[k] > 0:
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
def _place(tables, c, k, value):
    """How many shifts of class c against rival k are below a value."""
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
def _add_wrong(absent, present, place, x, n, count):
    """Count the candidates whose shift is below the place of a margin."""
    place = absent.dtype.type(place)
    for i in range(n):
        zero, one = absent[i], present[i]
        count[i] += (one if x[i] else zero) < place


@njit(cache=True, nogil=True)
def _mark_wrong(rank, place, other_rank, other_place, x, n, hit):
    """Mark the candidates whose shift is below the place of a margin, for two rivals."""
    absent, present = rank[0], rank[1]
    other_absent, other_present = other_rank[0], other_rank[1]
    place, other_place = absent.dtype.type(place), absent.dtype.type(other_place)
    for i in range(n):
        zero, one, other_zero, other_one = absent[i], present[i], other_absent[i], other_present[i]
        wrong = (one if x[i] else zero) < place
        hit[i] |= wrong | ((other_one if x[i] else other_zero) < other_place)


@njit(cache=True, nogil=True)
def play_round(tables, margins, first, draws, most, moves, chosen):
    """One round: build a set of features at random, then change it while that helps.

    `margins` are those of the empty set and become those of the answer; `first` is the sweep of
    the empty set. `draws` holds alpha, then a number of [0, 1) for each feature that may be added;
    the rest, used over and over, choose among equal neighbours. `moves` says whether to add, drop
    and swap. The features of the answer are put into `chosen`; returned are the number of features
    and the cost after building, and both at the end.
    """
    used = np.zeros(len(chosen), np.bool_)
    costs = np.empty(len(chosen), np.int64)
    n, cost = _build(tables, margins, first, draws, most, used, costs, chosen)
    n_built, cost_built = n, cost
    n, cost = improve(tables, margins, draws, most, moves, n, cost, chosen)
    return n_built, cost_built, n, cost


@njit(cache=True, nogil=True)
def improve(tables, margins, draws, most, moves, n, cost, chosen):
    """Change the first n features of `chosen`, as in `play_round`, while that helps."""
    used = np.zeros(len(chosen), np.bool_)
    used[chosen[:n]] = True
    costs = np.empty(len(chosen), np.int64)
    luck = draws[len(chosen) + 1 :]
    turn = int(luck[0] * n)
    step = 0
    while cost > 0:
        n_now, cost_now = n, cost
        step += 1
        draw = luck[step % len(luck)]
        if moves[0] or moves[1]:
            n, cost = _add_or_drop(tables, margins, most, moves, draw, used, costs, n, cost, chosen)
        if cost == cost_now and moves[2]:
            turn, cost = _swap(tables, margins, turn, draw, used, costs, n, cost, chosen)
        if n == n_now and cost == cost_now:
            break
    return n, cost


@njit(cache=True, nogil=True, inline="always")
def _build(tables, margins, first, draws, most, used, costs, chosen):
    """Add one of the good candidates after another, until the one drawn makes it worse.

    The first one is always added: two may be better than none where each by itself is worse.
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
    """One of the unused features that cost at most the bound, all equally likely."""
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
    """Make the move of lowest cost if it is below the cost of the set; of equal ones, a drop."""
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
        for i in range(dropped, n - 1):
            chosen[i] = chosen[i + 1]
        return n - 1, best
    return n, cost


@njit(cache=True, nogil=True, inline="always")
def _swap(tables, margins, turn, draw, used, costs, n, cost, chosen):
    """Give up the features in turn, from place `turn` on, until another one in place is better."""
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
