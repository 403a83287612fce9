"""Sparse logistic regression on 0/1 columns: an L1 path, its strength chosen by cross-validation.

The path goes from the penalty at which no column has a weight down to a small one, each solution
from the one before. Columns that cannot get a weight are left out by the sequential strong rule
(Tibshirani and others 2012), and every solution is checked against the conditions of optimality of
all columns. The strength is the largest penalty whose error in the validation is within one
standard error of the least, where the standard error is that of the difference to the least.

A penalty draws weights to zero, and probabilities to those of the classes. So all weights and
intercepts are multiplied by the number that makes the sequences that are held out most likely;
which class is predicted does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from relynx.features import _logistic_kernels as lk

N_PENALTIES, SMALLEST = 30, 1e-4  # of the largest penalty
PARTS = 5  # of the cross-validation
MOST_REPEATS, ENOUGH_ROWS = 3, 1000  # small data are divided several times
ENOUGH = 1e-6  # of the deviance without columns: a sweep that gains less is the last
LOOKS = 1e10  # at ones, in the validation: a part that has used its share goes no further
NOTHING = 1e-12  # a penalty as small as rounding errors
ROUNDED = 1 + 1e-9  # times a gradient: it is not exceeded by the same one in another order
FITTED = 1e-2  # of that deviance: where no more is left the path ends
MOST_SWEEPS = 100
SCALES = np.geomspace(0.5, 32, 25)  # of the scores, for the probabilities
SLACK = 1 + 1e-3  # of the penalty: by how much a gradient may exceed it

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Columns:
    """A 0/1 matrix as the rows of each column."""

    offset: Longs
    rows: NDArray[np.int32]
    n_rows: int

    @classmethod
    def of(cls, matrix: Any) -> Columns:
        """Those of a matrix of shape (n_rows, n_columns), dense or sparse."""
        columns = sparse.csc_array(matrix)
        columns.sort_indices()
        offset, rows = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        return cls(offset, rows, columns.shape[0])

    def __len__(self) -> int:
        return len(self.offset) - 1


@dataclass(frozen=True, slots=True)
class Solution:
    """The model at one penalty: one row for two classes (the second), else one for each class."""

    columns: Longs  # that have a weight
    weights: Floats  # (n_scores, n_columns)
    intercept: Floats


class Problem:
    """Logistic regression of the classes 0 to n - 1 on columns, with weights of rows."""

    def __init__(
        self, columns: Columns, y: Longs, n_classes: int, sample: Floats, most_looks: float = np.inf
    ) -> None:
        self.most_looks, self.looks = most_looks, 0
        self.columns, self.n_classes = columns, n_classes
        self.sample = sample / sample.sum()
        self.has_base = n_classes == 2  # whose score is 0
        wanted = np.arange(1 if self.has_base else 0, n_classes)
        self.target = (y[None, :] == wanted[:, None]).astype(float)
        shares = np.clip(self.target @ self.sample, 1e-6, 1 - 1e-6)
        self.intercept = np.log(shares / (1 - shares)) if self.has_base else np.log(shares)
        self.scores = np.repeat(self.intercept[:, None], len(y), axis=1)
        self.weights = np.zeros((len(wanted), len(columns)))
        self.sums, self.gradient = np.empty(len(y)), np.empty_like(self.weights)
        self._update()
        self.deviance_without = self.deviance()

    def largest_penalty(self) -> float:
        """The penalty from which on no column has a weight, while none has one."""
        return float(np.abs(self.gradient).max(initial=0.0)) * ROUNDED

    def deviance(self) -> float:
        """The mean logarithmic loss."""
        return float(self.sample @ (self.sums - (self.target * self.scores).sum(axis=0)))

    def _update(self) -> None:
        lk.log_sums(self.scores, self.has_base, self.sums)
        offset, rows = self.columns.offset, self.columns.rows
        for score, target, out in zip(self.scores, self.target, self.gradient, strict=True):
            residual = self.sample * (np.exp(score - self.sums) - target)
            lk.column_sums(offset, rows, residual, out)

    def path(self, penalties: Floats) -> Iterator[Solution]:
        """The solution at each of some falling penalties; `scores` are those of all rows."""
        before, is_fitted = self.largest_penalty(), False
        for penalty in penalties:
            if not is_fitted:
                self._solve(penalty, before)
                is_fitted = self.deviance() < FITTED * self.deviance_without
                is_fitted |= self.looks > self.most_looks
            before = penalty
            yield self.solution()

    def solution(self) -> Solution:
        used = np.flatnonzero((self.weights != 0).any(axis=0))
        return Solution(used, self.weights[:, used], self.intercept.copy())

    def _solve(self, penalty: float, before: float) -> None:
        least = 2 * penalty - before
        active = [
            np.flatnonzero((np.abs(slope) >= least) | (weights != 0))
            for slope, weights in zip(self.gradient, self.weights, strict=True)
        ]
        while True:
            self._descend(penalty, active)
            self._update()
            is_done = True
            for c, (slope, some) in enumerate(zip(self.gradient, active, strict=True)):
                wrong = np.abs(slope) > SLACK * penalty
                wrong[some] = False
                if wrong.any():
                    active[c], is_done = np.union1d(some, np.flatnonzero(wrong)), False
            if is_done or self.looks > self.most_looks:
                return

    def _descend(self, penalty: float, active: list[Longs]) -> None:
        """Newton steps for one class after the other, most of all for those that gain by them."""
        enough = ENOUGH * self.deviance_without
        everyone = np.arange(len(active))
        wanted = everyone
        for _ in range(MOST_SWEEPS):
            lk.log_sums(self.scores, self.has_base, self.sums)
            gains = np.array([self._step(c, penalty, active[c], enough) for c in wanted.tolist()])
            if len(wanted) == len(everyone) and gains.sum() <= enough:
                return
            wanted = wanted[gains > enough / len(everyone)]
            wanted = wanted if len(wanted) else everyone
            if self.looks > self.most_looks:
                return

    def _step(self, c: int, penalty: float, active: Longs, enough: float) -> float:
        """A Newton step for a class; what it gains."""
        gain, shift, looked = lk.newton_step(
            self.columns.offset,
            self.columns.rows,
            self.target[c],
            self.sample,
            penalty,
            active,
            self.weights[c],
            self.scores[c],
            self.sums,
            0.01 * enough,
        )
        self.intercept[c] += shift
        self.looks += int(looked)
        return float(gain)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and how it was chosen: the error at each penalty, which was taken, and the scale."""

    solution: Solution
    penalties: Floats
    errors: Floats
    chosen: int
    scale: float


def fit_sparse(
    columns: Columns, y: Longs, n_classes: int, sample: Floats, *, seed: int, n_threads: int = 1
) -> Fitted:
    """The sparse model of the classes 0 to n - 1, its strength found by cross-validation."""
    whole = Problem(columns, y, n_classes, sample)
    penalties = whole.largest_penalty() * np.geomspace(1.0, SMALLEST, N_PENALTIES)
    if penalties[0] < NOTHING:  # what is left of zero after rounding: no column tells anything
        alone = Solution(np.empty(0, np.int64), whole.weights[:, :0], whole.intercept)
        return Fitted(alone, penalties, np.full(len(penalties), np.nan), 0, 1.0)
    counts = np.flatnonzero(sample > 0)
    parts = []
    for held in divisions(y[counts], seed):
        parts.append(np.zeros(len(y), bool))
        parts[-1][counts] = held
    chosen, scale, means = len(penalties) - 1, 1.0, np.full(len(penalties), np.nan)
    if parts and len(columns):
        jobs = (
            delayed(_held_out)(columns, y, n_classes, sample, held, penalties, LOOKS / len(parts))
            for held in parts
        )
        wrong, losses = zip(*Parallel(n_threads, prefer="threads")(jobs), strict=True)
        validated = np.any(parts, axis=0)
        errors = (sum(wrong) / np.maximum(np.sum(parts, axis=0), 1))[:, validated]
        chosen = simplest(errors, sample[validated])
        means = np.average(errors, axis=1, weights=sample[validated])
        scale = float(SCALES[int(sum(losses)[chosen].argmin())])
    *_, solution = whole.path(penalties[: chosen + 1])
    if not len(solution.columns):
        scale = 1.0
    scaled = Solution(solution.columns, scale * solution.weights, scale * solution.intercept)
    return Fitted(scaled, penalties, means, chosen, scale)


def divisions(y: Longs, seed: int) -> list[NDArray[np.bool_]]:
    """Which rows are held out in turn: parts drawn by class, small data several times.

    Of a class that has one row only this is never held out.
    """
    random = np.random.default_rng(seed)
    counts = np.bincount(y)
    n_parts = min(PARTS, int(counts.max(initial=0)))
    if n_parts < 2:
        return []
    found = []
    for _ in range(min(max(ENOUGH_ROWS // len(y), 1), MOST_REPEATS)):
        part, n_before = np.full(len(y), -1), 0
        for c in np.flatnonzero(counts > 1):
            members = random.permutation(np.flatnonzero(y == c))
            part[members] = (n_before + np.arange(len(members))) % n_parts
            n_before += len(members)
        found += [part == number for number in range(n_parts)]
    return found


def _held_out(
    columns: Columns,
    y: Longs,
    n_classes: int,
    sample: Floats,
    held: NDArray[np.bool_],
    penalties: Floats,
    most_looks: float,
) -> tuple[Floats, Floats]:
    """Of rows that are held out: which are wrong at each penalty, array of (n_penalties, n_rows),
    and the logarithmic loss with each scale, array of (n_penalties, n_scales)."""
    wrong, losses = np.zeros((len(penalties), len(y))), np.zeros((len(penalties), len(SCALES)))
    problem = Problem(columns, y, n_classes, np.where(held, 0.0, sample), most_looks)
    # At the first no column has a weight, as it is in the model of all rows.
    penalties = np.append(max(penalties[0], problem.largest_penalty()), penalties[1:])
    share = 1 / (len(y) + 2)  # of the other classes, so that no scale is large without end
    wanted = np.full((n_classes, int(held.sum())), share / (n_classes - 1))
    wanted[y[held], np.arange(wanted.shape[1])] = 1 - share
    for out, loss, _ in zip(wrong, losses, problem.path(penalties), strict=True):
        scores = problem.scores[:, held]
        if problem.has_base:
            scores = np.vstack([np.zeros(scores.shape[1]), scores])
        out[held] = scores.argmax(axis=0) != y[held]
        above = scores - scores.max(axis=0)
        meant = (wanted * above).sum(axis=0)
        for i, scale in enumerate(SCALES):
            loss[i] = sample[held] @ (np.log(np.exp(scale * above).sum(axis=0)) - scale * meant)
    return wrong, losses


def simplest(errors: Floats, sample: Floats) -> int:
    """The first of the penalties whose error is within a standard error of the least.

    `errors` is an array of shape (n_penalties, n_rows), the largest penalty first.
    """
    share = sample / sample.sum()
    means = errors @ share
    best = int(means.argmin())
    extra = (errors - errors[best]) @ share
    spread = ((errors - errors[best] - extra[:, None]) ** 2) @ share**2
    return int(np.flatnonzero(extra <= np.sqrt(spread) + 1e-12)[0])


def as_learner(solution: Solution, n_classes: int) -> LogisticRegression:
    """A solution as scikit-learn's estimator on the columns that have a weight."""
    learner = LogisticRegression()
    learner.classes_ = np.arange(n_classes)
    learner.coef_, learner.intercept_ = solution.weights, solution.intercept
    learner.n_features_in_ = len(solution.columns)
    learner.n_iter_ = np.zeros(1, np.int32)
    return learner
