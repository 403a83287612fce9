"""The tables of the GRASP search: a 0/1 matrix and its labels as the kernels want them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relynx.arrays import Floats, Longs
from relynx.errors import InputError
from relynx.features import _grasp_kernels as kernels
from relynx.features.naive_bayes import TIE, class_prior, score_terms

PRECISION = 34  # bits of the scores after the point, where there is room
SLACK = round(TIE * 2**PRECISION)  # nearer margins are a tie: more than what rounding adds up to
LARGEST = 1 << 33  # bytes of the tables that each two classes have of their own


@dataclass(frozen=True, slots=True)
class Task:
    """The training data as the kernels want them."""

    tables: kernels.Tables
    prior_margins: Longs
    first: Longs  # the cost with each single feature
    scale: float  # what 1 is in the whole numbers of the scores
    infinite: int  # what minus infinity is; 0 where there is none
    tie: Longs  # what was added to the margins to decide ties, for each class and rival
    unit: float  # what a cost of 1 is in the objective


def task_of(
    bits: NDArray[np.uint8],
    y: NDArray[Any],
    *,
    smoothing: float,
    prior: str | ArrayLike,
    balanced: bool,
) -> Task:
    """The tables of a 0/1 matrix, one row a sequence, and the margins of the empty set."""
    _, codes = np.unique(y, return_inverse=True)
    sizes = np.bincount(codes)
    bits = bits[np.argsort(codes, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    supports = np.add.reduceat(bits, starts[:-1], axis=0, dtype=np.int64).astype(float)
    priors = class_prior(prior, sizes.astype(float))
    _check_size(len(sizes), bits.shape[1])
    scores, log_prior, scale, infinite = _whole_scores(supports, sizes, priors, smoothing)
    n = len(sizes)
    rivals = np.broadcast_to(np.arange(n), (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    # class, rival, absent or present, feature
    shift = np.ascontiguousarray(scores[:, None] - scores[rivals])
    # A tie is lost to a class of larger prior, or of equal prior and before it.
    own, other = priors[:, None], priors[rivals]
    behind = (other > own) | ((other == own) & (rivals < np.arange(len(sizes))[:, None]))
    tie = np.where(behind, -SLACK - 1, SLACK).astype(np.int64)
    start = (log_prior[:, None] - log_prior[rivals] + tie).reshape(rivals.shape)
    margins = np.ascontiguousarray(np.repeat(start, sizes, axis=0).T)
    weights, unit = _weights(sizes, balanced)
    tables = _tables(bits, starts, weights, shift)
    first = np.empty(bits.shape[1], np.int64)
    kernels.sweep(tables, margins, np.zeros(bits.shape[1], bool), kernels.NEVER, first)
    return Task(tables, margins, first, scale, infinite, tie, unit)


def log_likelihood(task: Task, margins: Longs) -> float:
    """The sum of the logarithms of the posteriors of the true classes."""
    lead = margins - np.repeat(task.tie, np.diff(task.tables.starts), axis=0).T
    if task.infinite and (lead < -task.infinite // 2).any():
        return -math.inf
    behind = np.concatenate([np.zeros((1, lead.shape[1])), lead / -task.scale])
    return -float(np.logaddexp.reduce(behind, axis=0).sum())


def cost_of(task: Task, margins: Longs) -> int:
    """The cost of the sequences that have a margin below 0."""
    return int(kernels.cost_with(task.tables, margins, 0, 0, int(kernels.NEVER)))


def count_errors(task: Task, chosen: Longs) -> int:
    """How many sequences get a wrong class with the chosen features."""
    margins = task.prior_margins.copy()
    for j in chosen.tolist():
        kernels.add_feature(task.tables, j, 1, margins)
    return int((margins < 0).any(axis=0).sum())


def _whole_scores(
    supports: Floats, sizes: Longs, priors: Floats, smoothing: float
) -> tuple[Longs, Longs, float, int]:
    """Scores of absent and present features as whole numbers, and what 1 and infinity are there.
    Infinity is larger than all finite terms together, and all features together do not overflow."""
    terms = score_terms(supports, sizes.astype(float), smoothing)
    finite = np.stack([terms.absent, terms.present], axis=1)  # class, absent or present, feature
    endless = np.stack([terms.absent_infinite, terms.present_infinite], axis=1)
    log_prior = np.log(priors)
    # No margin is farther from 0 than this, infinite terms aside; then there is one of those more.
    farthest = 2 * (np.abs(finite).max(axis=(0, 1)).sum() + np.abs(log_prior).max() + 1)
    n_endless = int(endless.any(axis=(0, 1)).sum())
    room = 61 - (n_endless + 1).bit_length()
    infinite = 2**room if n_endless else 0
    scale = 2.0 ** min(PRECISION, room - 2 - math.ceil(math.log2(farthest)))
    whole = np.rint(finite * scale).astype(np.int64)
    whole[endless] -= infinite
    return whole, np.rint(log_prior * scale).astype(np.int64), scale, infinite


def _check_size(n_classes: int, n_features: int) -> None:
    """Refuse what would not fit into memory."""
    # The shifts, their sorted copy, twice the ranks and the reach, and the slots.
    size = n_classes * (n_classes - 1) * (64 * n_features + (4 << _slot_bits(n_features)))
    if size > LARGEST:
        columns = f"{n_features:,} columns with {n_classes:,} classes"
        most = f"{LARGEST / 2**20:,.0f}"
        hint = f"it may have {most}: give fewer columns, or two classes at a time"
        raise InputError(f"the search among {columns} needs {size / 2**20:,.0f} MiB", hint=hint)


def _slot_bits(n_features: int) -> int:
    """The range of the shifts is cut into 2 to the power of this slots, for the search in it."""
    return (4 * n_features).bit_length()


def _weights(sizes: Longs, balanced: bool) -> tuple[Longs, float]:
    """What an error of each class costs, in whole numbers, and what a cost of 1 is worth."""
    if not balanced:
        return np.ones(len(sizes), np.int64), 1.0
    # Where the classes have no small common multiple, 40 bits are near enough.
    common = min(math.lcm(*sizes.tolist()), 2**40)
    weights = np.array([round(common / n) for n in sizes.tolist()], np.int64)
    return weights, 1 / (common * len(sizes))


def _tables(bits: NDArray[np.uint8], starts: Longs, weights: Longs, shift: Longs) -> kernels.Tables:
    """The shifts sorted and ranked, and the matrix in the orders in which it is asked."""
    n_classes, n_rivals, _, n_features = shift.shape
    levels = np.sort(shift.reshape(n_classes, n_rivals, 2 * n_features), axis=2)
    rank = np.empty(shift.shape, np.int16 if 2 * n_features < 2**15 else np.int32)
    slot_bits = _slot_bits(n_features)
    steps = np.arange(2**slot_bits + 1)
    slots = np.empty((n_classes, n_rivals, len(steps)), np.int32)
    grid = np.empty((n_classes, n_rivals, 2), np.int64)
    for c, k in np.ndindex(n_classes, n_rivals):
        rank[c, k] = np.searchsorted(levels[c, k], shift[c, k])
        low, high = levels[c, k, [0, -1]].tolist()
        width = max((high - low).bit_length() - slot_bits, 0)
        grid[c, k] = low, width
        slots[c, k] = np.searchsorted(levels[c, k], low + (steps << width))
    # Only the values that a feature has inside a class count for how far it reaches there.
    has = np.add.reduceat(bits, starts[:-1], axis=0, dtype=np.int64)
    occurs = np.stack([has < np.diff(starts)[:, None], has > 0], axis=1)[:, None]
    best = np.where(occurs, shift, -kernels.NEVER).max(axis=(1, 2), initial=-kernels.NEVER)
    worst = np.where(occurs, shift, kernels.NEVER).min(axis=(1, 2), initial=kernels.NEVER)
    sides = [_side(bits, starts, rank, by) for by in (-best, worst)]
    order, rank, rows = (np.stack(part) for part in zip(*sides, strict=True))
    reach = np.empty((2, n_classes, n_rivals, 2 * n_features + 1), np.int32)
    for c, k in np.ndindex(n_classes, n_rivals):
        # A margin m of place p has levels[p - 1] < -m <= levels[p]. It is mended by what reaches -m
        # at least, and broken by what goes below -m.
        reach[0, c, k, 0] = n_features
        reach[0, c, k, 1:] = np.searchsorted(np.sort(-best[c]), -levels[c, k])
        reach[1, c, k, -1] = n_features
        reach[1, c, k, :-1] = np.searchsorted(np.sort(worst[c]), levels[c, k])
    fits = rank.dtype == np.int16
    none: NDArray[Any] = np.empty((0,) * 5, np.int32 if fits else np.int16)
    short, wide = (rank, none) if fits else (none, rank)
    margins = starts, weights, shift, levels, slots, grid
    return kernels.Tables(*margins, np.ascontiguousarray(bits.T), order, short, wide, rows, reach)


def _side(
    bits: NDArray[np.uint8], starts: Longs, rank: NDArray[Any], by: Longs
) -> tuple[Longs, NDArray[Any], NDArray[np.uint8]]:
    """The candidates of each class in a rising order, their ranks and which sequences have them."""
    order = np.argsort(by, axis=1, kind="stable")
    rows = np.empty_like(bits)
    sorted_rank = np.empty_like(rank)
    for c, one in enumerate(order):
        part = slice(starts[c], starts[c + 1])
        rows[part] = bits[part][:, one]
        sorted_rank[c] = rank[c][..., one]
    return order, sorted_rank, rows
