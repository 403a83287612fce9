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
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel

NEVER = np.int64(2**62)  # a cost above all costs
ADD, NONE, DROP = np.int64(1), np.int64(0), np.int64(-1)  # what is done with a feature's shifts
FLUSH = 32_000  # sequences that a 16-bit count can hold
FEW = 24  # with fewer than one candidate in so many, each is counted by itself
CHUNK = 256  # sequences after which one is given up that cannot win


@by_reference
class Tables(NamedTuple):
    """What a search needs to know of the sequences, which are sorted by class.

    `starts` has the first sequence of each class and the end; `weights` the cost of an error;
    `shift[c, k, x, j]` what feature j adds to the margin against rival k, absent (x = 0) and
    present; `levels[c, k]` all shifts, sorted, of which `slots[c, k, t]` are below the t-th of
    equal steps, which begin at `grid[c, k, 0]` and are 2 ** `grid[c, k, 1]` wide; `columns[j, s]`
    whether sequence s has feature j.

    The others have the candidates in the order of the reach of their shifts, class by class, in two
    orders: [0] those that can mend a wrong sequence from afar come first, [1] those that can break
    a right one. `order[o, c, i]` is the i-th candidate; `rank[o, c, k, x, i]` the place of its
    shift in `levels[c, k]`; where places do not fit in 16 bits it is empty, and `wide` has them;
    `rows[o, s, i]` whether sequence s has it; `reach[o, c, k, p]` how many candidates are to be
    asked when a margin has place p.
    """

    starts: NDArray[np.int64]
    weights: NDArray[np.int64]
    shift: NDArray[np.int64]
    levels: NDArray[np.int64]
    slots: NDArray[np.int32]
    grid: NDArray[np.int64]
    columns: NDArray[np.uint8]
    order: NDArray[np.int64]
    rank: NDArray[np.int16]
    wide: NDArray[np.int32]
    rows: NDArray[np.uint8]
    reach: NDArray[np.int32]


@kernel
def add_feature(tables, j, sign, margins):
    """Add the shifts of feature j to the margins, or take them away with sign -1."""
    starts, shift, columns = tables.starts, tables.shift, tables.columns
    for c in range(len(starts) - 1):
        bits = columns[j, starts[c] : starts[c + 1]]
        for k in range(len(margins)):
            row = margins[k, starts[c] : starts[c + 1]]
            absent, present = sign * shift[c, k, 0, j], sign * shift[c, k, 1, j]
            for i in range(len(row)):
                row[i] += present if bits[i] else absent


@kernel
def cost_with(tables, margins, j, sign, limit):
    """The cost of the sequences that have a margin below 0, with feature j added (taken away with
    sign -1, left alone with 0): exact below `limit`. Where the limit is reached the rest is not
    looked at."""
    starts, weights, shift, columns = tables.starts, tables.weights, tables.shift, tables.columns
    wrong = np.empty(CHUNK, np.int64)
    cost = np.int64(0)
    for c in range(len(starts) - 1):
        for first in range(starts[c], starts[c + 1], CHUNK):
            n = min(CHUNK, starts[c + 1] - first)
            for i in range(n):
                wrong[i] = 0
            bits = columns[j, first : first + n]
            for k in range(len(margins)):
                row = margins[k, first : first + n]
                absent, present = sign * shift[c, k, 0, j], sign * shift[c, k, 1, j]
                for i in range(n):
                    wrong[i] |= row[i] + (present if bits[i] else absent) < 0
            n_wrong = np.int64(0)
            for i in range(n):
                n_wrong += wrong[i]
            cost += weights[c] * n_wrong
            if cost >= limit:
                return cost
    return cost


@kernel
def sweep(tables, margins, used, limit, out):
    """The cost with each unused feature added: exact below `limit`, else anything not below it.
    Used features get NEVER. Wrong sequences come first: what they can bring down bounds each
    candidate, and only those that may get below the limit are asked of the right ones."""
    starts, weights = tables.starts, tables.weights
    order, rank, wide = tables.order, tables.rank, tables.wide
    rows, reach = tables.rows, tables.reach
    levels, slots, grid = tables.levels, tables.slots, tables.grid
    n_rivals, n_levels, n_all = len(margins), levels.shape[2], len(out)
    count = np.zeros(n_all, np.int16)  # sequences that are wrong with the i-th candidate
    hit = np.zeros(n_all, np.int16)  # whether this sequence is
    asked = np.zeros(n_all + 1, np.int64)  # sequences by the number of candidates asked
    place = np.zeros(n_rivals, np.int64)  # of the sequence's margins among the levels
    reached = np.zeros(n_rivals, np.int64)
    near = np.zeros(n_rivals + 1, np.int64)  # rivals that may win, the farthest reach first
    cost = cost_with(tables, margins, NONE, NONE, NEVER)
    for j in range(n_all):
        out[j] = cost
    for side in range(2):  # take away the wrong sequences that are mended; add those that break
        if side == 1:
            alive = 0
            for j in range(n_all):
                alive += not used[j] and out[j] < limit
            if alive * FEW <= n_all:
                # So few may still get below the limit that each is counted by itself.
                for j in range(n_all):
                    if not used[j] and out[j] < limit:
                        out[j] = cost_with(tables, margins, j, ADD, limit)
                break
        for c in range(len(starts) - 1):
            for first in range(starts[c], starts[c + 1], FLUSH):
                longest = np.int64(0)
                for s in range(first, min(first + FLUSH, starts[c + 1])):
                    worst = 0
                    for k in range(1, n_rivals):
                        if margins[k, s] < margins[worst, s]:
                            worst = k
                    if n_rivals == 0 or (margins[worst, s] < 0) != (side == 0):
                        continue
                    # The place of a margin m: how many levels are below -m. The slot of -m bounds
                    # a binary search.
                    for k in range(n_rivals):
                        value = -margins[k, s]
                        low, high = np.int64(0), np.int64(0)
                        if value > levels[c, k, n_levels - 1]:
                            low = high = np.int64(n_levels)
                        elif value > levels[c, k, 0]:
                            t = (value - grid[c, k, 0]) >> grid[c, k, 1]
                            low, high = np.int64(slots[c, k, t]), np.int64(slots[c, k, t + 1])
                        while low < high:
                            middle = (low + high) >> 1
                            if levels[c, k, middle] < value:
                                low = middle + 1
                            else:
                                high = middle
                        place[k] = low
                    # To mend a sequence is to leave all rivals behind, so that those are asked
                    # that reach the worst one. To break it one rival is enough, and each has
                    # candidates of its own; the rival with the most comes first.
                    n_near = 0
                    n = np.int64(reach[0, c, worst, place[worst]] if side == 0 else 0)
                    for k in range(n_rivals):
                        reached[k] = n if side == 0 else reach[1, c, k, place[k]]
                        if place[k] > 0 and reached[k] > 0:
                            i = n_near
                            while i > 0 and reached[near[i - 1]] < reached[k]:
                                near[i] = near[i - 1]
                                i -= 1
                            near[i] = k
                            n_near += 1
                    if n_near > 0:
                        n = reached[near[0]]
                    if n == 0:
                        continue
                    longest = max(longest, n)
                    asked[n] += 1
                    # A candidate leaves the sequence wrong where the place of its shift is below
                    # that of a margin. Two rivals at a time: their loads overlap.
                    x = rows[side, s]
                    if n_near == 1:
                        k = near[0]
                        if rank.size > 0:
                            _add_wrong(rank[side, c, k], place[k], x, n, count)
                        else:
                            _add_wrong(wide[side, c, k], place[k], x, n, count)
                    elif n_near > 1:
                        for i in range(n):
                            hit[i] = 0
                        near[n_near] = near[n_near - 1]
                        for i in range(0, n_near, 2):
                            k, other = near[i], near[i + 1]
                            a, b = place[k], place[other]
                            if rank.size > 0:
                                one, two = rank[side, c, k], rank[side, c, other]
                                _mark_wrong(one, a, two, b, x, reached[k], hit)
                            else:
                                far, off = wide[side, c, k], wide[side, c, other]
                                _mark_wrong(far, a, off, b, x, reached[k], hit)
                        for i in range(n):
                            count[i] += hit[i]
                so_far = 0  # sequences that asked this candidate: of those were wrong before
                for i in range(longest - 1, -1, -1):
                    so_far += asked[i + 1]
                    asked[i + 1] = 0
                    before = so_far if side == 0 else 0
                    out[order[side, c, i]] += weights[c] * (count[i] - before)
                    count[i] = 0
    for j in range(n_all):
        if used[j]:
            out[j] = NEVER


@inner_kernel
def _add_wrong(rank, place, x, n, count):
    """Count the candidates whose shift is below the place of a margin."""
    absent, present = rank[0], rank[1]
    place = rank.dtype.type(place)
    for i in range(n):
        zero, one = absent[i], present[i]
        count[i] += (one if x[i] else zero) < place


@inner_kernel
def _mark_wrong(rank, place, other_rank, other_place, x, n, hit):
    """Mark the candidates whose shift is below the place of a margin, for two rivals."""
    absent, present = rank[0], rank[1]
    other_absent, other_present = other_rank[0], other_rank[1]
    place, other_place = rank.dtype.type(place), rank.dtype.type(other_place)
    for i in range(n):
        zero, one, other_zero, other_one = absent[i], present[i], other_absent[i], other_present[i]
        wrong = (one if x[i] else zero) < place
        hit[i] |= wrong | ((other_one if x[i] else other_zero) < other_place)


@kernel
def play_round(tables, margins, first, draws, most, moves, n, cost, chosen):
    """One round: build a set of features at random, then change it while that helps.

    `margins` are those of the empty set and become those of the answer; `first` is the sweep of
    the empty set. `draws` holds alpha, then a number of [0, 1) for each feature that may be added;
    the rest, used over and over, choose among equal neighbours. `moves` says whether to add, drop
    and swap. The features of the answer are put into `chosen`; returned are the number of features
    and the cost after building, and both at the end.

    With n >= 0 nothing is built: the first n features of `chosen`, of this cost, are changed.
    """
    used = np.zeros(len(chosen), np.bool_)
    costs = np.empty(len(chosen), np.int64)
    if n < 0:
        n, cost = _build(tables, margins, first, draws, most, used, costs, chosen)
    else:
        for i in range(n):
            used[chosen[i]] = True
    n_built, cost_built = n, cost
    tie_draws = len(chosen) + 1
    turn = int(draws[tie_draws] * n)
    step = 0
    while cost > 0:
        n_now, cost_now = n, cost
        step += 1
        draw = draws[tie_draws + step % (len(draws) - tie_draws)]
        if moves[0] or moves[1]:
            n, cost = _add_or_drop(tables, margins, most, moves, draw, used, costs, n, cost, chosen)
        if cost == cost_now and moves[2]:
            turn, cost = _swap(tables, margins, turn, draw, used, costs, n, cost, chosen)
        if n == n_now and cost == cost_now:
            break
    return n_built, cost_built, n, cost


@inlined
def _build(tables, margins, first, draws, most, used, costs, chosen):
    """Add one of the good candidates after another, until the one drawn makes it worse. The first
    one is always added: two may be better than none where each by itself is worse."""
    n, cost = np.int64(0), NEVER
    while n < most:
        if n > 0:
            sweep(tables, margins, used, NEVER, costs)
        low, high = NEVER, np.int64(-1)
        for j in range(len(costs)):
            if n == 0:
                costs[j] = first[j]
            if not used[j]:
                low, high = min(low, costs[j]), max(high, costs[j])
        j = _draw(costs, used, np.int64(low + draws[0] * (high - low)), draws[n + 1])
        if costs[j] > cost:
            break
        add_feature(tables, j, ADD, margins)
        used[j] = True
        chosen[n] = j
        n += 1
        cost = costs[j]
    return n, cost


@inner_kernel
def _draw(costs, used, bound, draw):
    """One of the unused features that cost at most the bound, all equally likely."""
    n_good = 0
    for j in range(len(costs)):
        n_good += not used[j] and costs[j] <= bound
    left = min(int(draw * n_good), n_good - 1)
    for j in range(len(costs)):
        if not used[j] and costs[j] <= bound:
            if left == 0:
                return np.int64(j)
            left -= 1
    return np.int64(-1)


@inner_kernel
def _lowest(costs):
    low = NEVER
    for j in range(len(costs)):
        low = min(low, costs[j])
    return low


@inlined
def _add_or_drop(tables, margins, most, moves, draw, used, costs, n, cost, chosen):
    """Make the move of lowest cost if it is below the cost of the set; of equal ones, a drop."""
    best, dropped = cost, -1
    if moves[1]:
        n_equal = 0
        for i in range(n):
            costs[i] = cost_with(tables, margins, chosen[i], DROP, best + 1)
            if costs[i] < best:
                best, n_equal = costs[i], 0
            n_equal += costs[i] == best
        left = int(draw * n_equal)
        for i in range(n):
            if costs[i] == best:
                if left == 0:
                    dropped = i
                left -= 1
    low, j = NEVER, np.int64(-1)
    if moves[0] and n < most:
        sweep(tables, margins, used, best, costs)
        low = _lowest(costs)
    if low < best:
        j = _draw(costs, used, low, draw)
        used[j] = True
        chosen[n] = j
        n, cost = n + 1, low
        add_feature(tables, j, ADD, margins)
    elif best < cost:
        j = chosen[dropped]
        used[j] = False
        for i in range(dropped, n - 1):
            chosen[i] = chosen[i + 1]
        n, cost = n - 1, best
        add_feature(tables, j, DROP, margins)
    return n, cost


@inlined
def _swap(tables, margins, turn, draw, used, costs, n, cost, chosen):
    """Give up the features in turn, from place `turn` on, until another one in place is better."""
    for step in range(n):
        i = (turn + step) % n
        old = j = chosen[i]
        add_feature(tables, old, DROP, margins)
        sweep(tables, margins, used, cost, costs)
        low = _lowest(costs)
        better = low < cost
        if better:
            j = _draw(costs, used, low, draw)
            used[old] = False
            used[j] = True
            chosen[i] = j
            turn, cost = i + 1, low
        add_feature(tables, j, ADD, margins)
        if better:
            break
    return turn, cost
