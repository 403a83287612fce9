"""GRASP on 2,000 sequences x 2,000 features, against the same algorithm as plain nested loops.

The plain twin is compiled by numba too: for each candidate and each sequence it adds up the scores
of all classes and takes the best. Both draw the same numbers and must choose the same features with
the same number of errors. Times are processor times of one core, without compilation.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from numba import njit
from questions.bars import Bar, print_table, report
from questions.drawn_features import SIZE, drawn_data

from relynx import GraspSelector, PatternNB
from relynx.features import _grasp_kernels as kernels
from relynx.features.grasp import TIE_DRAWS, play_round
from relynx.features.grasp_tables import Task, task_of

PLAIN_ROUNDS = 3
ROUNDS = 200
ALL_MOVES = np.array([True, True, True])


@njit(nogil=True)
def plain_cost(columns, y, terms, scores, j, sign):
    """The errors with feature j added or taken away; classes are in the order that wins ties."""
    errors = 0
    for s in range(len(y)):
        x = columns[j, s]
        best, best_class = -np.inf, 0
        for c in range(scores.shape[1]):
            score = scores[s, c] + sign * terms[j, x, c]
            if score > best:
                best, best_class = score, c
        errors += best_class != y[s]
    return errors


@njit(nogil=True)
def plain_move(columns, terms, scores, j, sign):
    for s in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            scores[s, c] += sign * terms[j, columns[j, s], c]


@njit(nogil=True)
def plain_lowest(columns, y, terms, scores, used, limit, draw):
    """The candidate of lowest cost at most the limit, drawn among equals, and its cost."""
    low, n_low = limit, 0
    costs = np.full(len(used), limit + 1)
    for j in range(len(used)):
        if not used[j]:
            costs[j] = plain_cost(columns, y, terms, scores, j, 1)
            low = min(low, costs[j])
    for j in range(len(used)):
        n_low += costs[j] == low
    left = int(draw * n_low)
    for j in range(len(used)):
        if costs[j] == low:
            if left == 0:
                return j, low
            left -= 1
    return -1, limit + 1


@njit(nogil=True)
def plain_round(columns, y, terms, prior, draws):
    """A round; returns the features, the errors and the number of sweeps."""
    n_features, n = columns.shape
    scores = np.empty((n, len(prior)))
    for s in range(n):
        scores[s] = prior
    used = np.zeros(n_features, np.bool_)
    chosen = [0 for _ in range(0)]
    errors = (y != 0).sum()
    sweeps = 0
    costs = np.zeros(n_features, np.int64)
    while len(chosen) < n_features:
        sweeps += 1
        low, high = n + 1, -1
        for j in range(n_features):
            if not used[j]:
                costs[j] = plain_cost(columns, y, terms, scores, j, 1)
                low, high = min(low, costs[j]), max(high, costs[j])
        good = [
            j
            for j in range(n_features)
            if not used[j] and costs[j] <= low + draws[0] * (high - low)
        ]
        j = good[int(draws[len(chosen) + 1] * len(good))]
        if len(chosen) > 0 and costs[j] > errors:
            break
        plain_move(columns, terms, scores, j, 1)
        used[j] = True
        chosen.append(j)
        errors = costs[j]
    luck = draws[n_features + 1 :]
    turn, step = int(luck[0] * len(chosen)), 0
    while errors > 0:
        step += 1
        draw = luck[step % len(luck)]
        fewest = errors
        without = np.empty(len(chosen), np.int64)
        for i in range(len(chosen)):
            without[i] = plain_cost(columns, y, terms, scores, chosen[i], -1)
            fewest = min(fewest, without[i])
        sweeps += 1
        j, cost = plain_lowest(columns, y, terms, scores, used, fewest - 1, draw)
        if j >= 0:
            plain_move(columns, terms, scores, j, 1)
            used[j] = True
            chosen.append(j)
            errors = cost
            continue
        if fewest < errors:
            equal = [i for i in range(len(chosen)) if without[i] == fewest]
            i = equal[int(draw * len(equal))]
            plain_move(columns, terms, scores, chosen[i], -1)
            used[chosen[i]] = False
            chosen.pop(i)
            errors = fewest
            continue
        swapped = False
        for place in range(len(chosen)):
            i = (turn + place) % len(chosen)
            plain_move(columns, terms, scores, chosen[i], -1)
            sweeps += 1
            j, cost = plain_lowest(columns, y, terms, scores, used, errors - 1, draw)
            if j >= 0:
                plain_move(columns, terms, scores, j, 1)
                used[chosen[i]] = False
                used[j] = True
                chosen[i] = j
                errors = cost
                turn = i + 1
                swapped = True
                break
            plain_move(columns, terms, scores, chosen[i], 1)
        if not swapped:
            break
    return sorted(chosen), errors, sweeps


@njit(nogil=True)
def compare_at_peak(shifts, place, count, times):
    """What the core can do: compare and count 16-bit numbers that lie beside each other."""
    for _ in range(times):
        for i in range(len(shifts)):
            count[i] += shifts[i] < place


def peak_per_second() -> float:
    shifts, count = np.arange(SIZE, dtype=np.int16), np.zeros(SIZE, np.int16)
    compare_at_peak(shifts, np.int16(1), count, 1)
    times = 100_000
    seconds = min(cpu(compare_at_peak, shifts, np.int16(900), count, times)[1] for _ in range(3))
    return SIZE * times / seconds


def cpu(function: Any, *arguments: Any, **keywords: Any) -> tuple[Any, float]:
    start = time.process_time()
    answer = function(*arguments, **keywords)
    return answer, time.process_time() - start


def plain_tables(X: Any, y: Any) -> tuple[Any, ...]:
    """What the plain twin wants: classes in the order in which they win ties."""
    model = PatternNB().fit(X, y)
    order = np.argsort(-model.class_prior_, kind="stable")
    p = model.feature_probability_[order].T
    terms = np.ascontiguousarray(np.log(np.stack([1 - p, p], axis=1)))
    return X.T.copy(), np.argsort(order)[y], terms, np.log(model.class_prior_[order])


def sweep_seconds(task: Task) -> float:
    """One sweep from the empty set, where nearly every comparison has to be made."""
    used, out = np.zeros(SIZE, bool), np.empty(SIZE, np.int64)

    def sweeps() -> None:
        for _ in range(50):
            kernels.sweep(task.tables, task.prior_margins, used, kernels.NEVER, out)

    return min(cpu(sweeps)[1] for _ in range(3)) / 50


def measure(n_classes: int, peak: float) -> list[Bar]:
    X, y = drawn_data(n_classes)
    task = task_of(X, y, smoothing=0.1, prior="empirical", balanced=False)
    tables = plain_tables(X, y)
    seeds = np.random.SeedSequence(0).spawn(PLAIN_ROUNDS)
    few = [table[:20] for table in tables[:1]] + [tables[1], tables[2][:20], tables[3]]
    plain_round(*few, np.zeros(21 + TIE_DRAWS))
    ours = plain = 0.0
    n_sweeps = 0
    for i, seed in enumerate(seeds):
        found, seconds = cpu(play_round, task, i, seed, alpha=None, most=SIZE, moves=ALL_MOVES)
        ours += seconds
        draws = np.random.default_rng(seed).random(1 + SIZE + TIE_DRAWS)
        draws[0] = found.alpha
        (chosen, errors, sweeps), seconds = cpu(plain_round, *tables, draws)
        plain += seconds
        n_sweeps += sweeps
        assert (found.chosen.tolist(), found.cost) == (chosen, errors)
    selector, total = cpu(GraspSelector(ROUNDS, random_state=0).fit, X, y)
    comparisons = SIZE * SIZE * (n_classes - 1)
    first = sweep_seconds(task)
    rows = [
        ("plain loops, a sweep", plain / n_sweeps, comparisons),
        ("relynx, the first sweep", first, comparisons),
        ("relynx, a sweep of a round", ours / n_sweeps, comparisons),
        ("the core, comparing only", comparisons / peak, comparisons),
    ]
    print_table(
        (f"{n_classes} classes", "time", "10^9 comparisons/s", "of the core"),
        [
            (what, f"{1e3 * s:.3f} ms", f"{n / s / 1e9:.2f}", f"{n / s / peak:.0%}")
            for what, s, n in rows
        ],
    )
    print(
        f"a round: {1e3 * ours / PLAIN_ROUNDS:.1f} ms, plain loops {plain / PLAIN_ROUNDS:.2f} s,"
        f" {n_sweeps / PLAIN_ROUNDS:.0f} sweeps; {ROUNDS} rounds: {total:.1f} s,"
        f" {selector.errors_} errors with {selector.support_.sum()} features\n"
    )
    what = f"GRASP, {n_classes} classes"
    return [
        Bar(f"{what}, a round against plain loops", plain / ours, 10.0, at_least=True),
        Bar(f"{what}, {ROUNDS} rounds on one core", total, 75.0, "s"),
    ]


def main() -> int:
    GraspSelector(1, random_state=0).fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    peak = peak_per_second()
    return report([bar for n_classes in (5, 2) for bar in measure(n_classes, peak)])


if __name__ == "__main__":
    sys.exit(main())
