"""Sparse logistic regression on patterns, its form and its strength chosen by cross-validation.

The columns are 0/1. There are three forms of the model, the simplest first: an L1 penalty, which
leaves most columns out; an elastic net, of which a share of 0.3 is on absolute weights and the rest
on half their squares, so that columns that say nearly the same divide a weight; and one of a share
of 0.03, which has thousands of columns, each penalised the less the rarer it is. In the last two,
the values of a row are a power of the size of its sequence, because long sequences have more
patterns: of what makes rows grow with sequences, the columns tell the exponent; and columns are
penalised the more the longer the links of their patterns are, because such patterns are many.

For each form a path of solutions goes from the penalty at which no column has a weight down to a
small one, each solution from the one before. Columns that cannot get a weight are left out by the
sequential strong rule (Tibshirani and others 2012), and every solution is checked against the
conditions of optimality of all columns.

What is taken is the simplest that predicts the sequences held out nearly as well as the best. Of
the first form, which is made to be read, it is the largest penalty whose logarithmic loss is
within one standard error of the least, where the standard error is that of the difference to the
least; of the others it is that of the least loss. Then the first of the forms is taken whose loss
is within half a standard error of that of the best form.

A penalty draws weights to zero, and probabilities to those of the classes. So all weights and
intercepts are multiplied by the number that makes the sequences that are held out most likely;
which class is predicted does not depend on it, and losses are compared after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from relynx.arrays import Bools, Floats, Longs
from relynx.features import _logistic_kernels as lk

CLEARLY = 0.5  # of a standard error: by so much the loss of a less simple form must be less
MOST_WORSE = 5  # penalties in turn with a larger loss, after which a path of the validation ends
N_PENALTIES, SMALLEST = 36, 1.5e-5  # of the largest penalty: each 0.73 of the one before
PARTS = 5  # of the cross-validation
MOST_REPEATS, ENOUGH_ROWS = 3, 1000  # small data are divided several times
ENOUGH = 1e-6  # of the deviance without columns: a sweep that gains less is the last
LOOKS = 2e10  # at ones, in the validation: a part that has used its share goes no further
NOTHING = 1e-12  # a penalty as small as rounding errors
ROUNDED = 1 + 1e-9  # times a gradient: it is not exceeded by the same one in another order
FITTED = 1e-2  # of that deviance: where no more is left the path ends
MOST_SWEEPS = 100
SCALES = np.geomspace(0.5, 32, 13)  # of the scores, for the probabilities
SMALLEST_SHARE = 1e-9  # of rows that have a column
STEEPEST = 0.5  # with the size: the values of a row fall no faster
SLACK = 1 + 1e-3  # of the penalty: by how much a gradient may exceed it


@dataclass(frozen=True, slots=True)
class Columns:
    """A 0/1 matrix as the rows of each column, with a scale for each row and each column."""

    offset: Longs
    rows: NDArray[np.int32]
    n_rows: int
    row_scale: Floats | None = None
    column_scale: Floats | None = None

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

    def scaled(self, scale: float) -> Solution:
        """With scores that are so many times as large."""
        return Solution(self.columns, scale * self.weights, scale * self.intercept)


class Problem:
    """Logistic regression of the classes 0 to n - 1 on columns, with weights of rows.

    `share` of a penalty is on the absolute weights, the rest on half their squares.
    """

    close = 1e-3  # of its first improvement: how exactly the quadratic model of a step is solved

    def __init__(
        self,
        columns: Columns,
        y: Longs,
        n_classes: int,
        sample: Floats,
        share: float = 1.0,
        most_looks: float = np.inf,
    ) -> None:
        self.most_looks, self.looks, self.share = most_looks, 0, share
        self.columns, self.n_classes = columns, n_classes
        ones = np.ones(max(len(columns), columns.n_rows))
        self.row_scale = ones[: columns.n_rows] if columns.row_scale is None else columns.row_scale
        self.column_scale = (
            ones[: len(columns)] if columns.column_scale is None else columns.column_scale
        )
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
        return float(np.abs(self.gradient).max(initial=0.0)) * ROUNDED / self.share

    def deviance(self) -> float:
        """The mean logarithmic loss."""
        return float(self.sample @ (self.sums - (self.target * self.scores).sum(axis=0)))

    def residual(self) -> Floats:
        """The gradient in the score of each row, times its value."""
        left = np.exp(self.scores - self.sums) - self.target
        residual: Floats = self.row_scale * self.sample * left
        return residual

    def _update(self) -> None:
        lk.log_sums(self.scores, self.has_base, self.sums)
        offset, rows = self.columns.offset, self.columns.rows
        for residual, out in zip(self.residual(), self.gradient, strict=True):
            lk.column_sums(offset, rows, residual, out)
            out *= self.column_scale

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
        least = self.share * (2 * penalty - before)
        active = [
            np.flatnonzero((np.abs(slope) >= least) | (weights != 0))
            for slope, weights in zip(self.gradient, self.weights, strict=True)
        ]
        while True:
            self._descend(penalty, active)
            self._update()
            is_done = True
            for c, (slope, some) in enumerate(zip(self.gradient, active, strict=True)):
                wrong = np.abs(slope) > SLACK * self.share * penalty
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
            self.row_scale,
            self.target[c],
            self.sample,
            self.share * penalty / self.column_scale,
            (1 - self.share) * penalty / self.column_scale**2,
            active,
            self.weights[c],
            self.scores[c],
            self.sums,
            0.01 * enough,
            self.close,
        )
        self.intercept[c] += shift
        self.looks += int(looked)
        return float(gain)


@dataclass(frozen=True, slots=True)
class Growth:
    """How the values of a row fall with the size of its sequence, as a power; 1 at `typical`."""

    typical: float = 1.0
    exponent: float = 0.0

    def values(self, sizes: Floats) -> Floats:
        """Those of the rows."""
        values: Floats = (np.maximum(sizes, 1.0) / self.typical) ** -self.exponent
        return values


STEADY = Growth()


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the model: its name, the share of the penalty on absolute weights, how many
    standard errors of loss a larger penalty may cost, and what is scaled."""

    name: str
    share: float
    n_errors: float = 0.0
    by_size: bool = False
    by_rarity: bool = False
    by_span: bool = False
    by_length: bool = False


# The simplest first.
FORMS = (
    Form("L1", 1.0, n_errors=1.0),
    Form("elastic net", 0.3, by_size=True, by_span=True),
    Form("nearly ridge", 0.03, by_size=True, by_rarity=True, by_span=True, by_length=True),
)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and how it was chosen: the logarithmic loss with each form and penalty, an array of
    shape (n_forms, n_penalties), and which of these was taken."""

    solution: Solution
    losses: Floats
    chosen: tuple[int, int]
    scale: float = 1.0  # of the scores
    growth: Growth = STEADY


def fit_sparse(
    columns: Columns,
    y: Longs,
    n_classes: int,
    sample: Floats,
    *,
    seed: int,
    n_threads: int = 1,
    sizes: Floats | None = None,
    spans: Longs | None = None,
    lengths: NDArray[np.integer] | None = None,
) -> Fitted:
    """The sparse model of the classes 0 to n - 1, its form and strength found by cross-validation.

    `sizes` are those of the sequences; without them rows are not scaled. `spans` say how many steps
    the patterns of columns go beyond the next event, `lengths` how many atoms they have.
    """
    growth = growth_of(columns, sizes)
    spans = np.zeros(len(columns), np.int64) if spans is None else spans
    lengths = np.zeros(len(columns), np.int64) if lengths is None else lengths
    how = growth, sizes, spans, lengths
    problems = [
        Problem(_scaled(columns, form, *how), y, n_classes, sample, form.share) for form in FORMS
    ]
    losses = np.full((len(FORMS), N_PENALTIES), np.nan)
    if problems[0].largest_penalty() < NOTHING:  # what is left of zero: no column tells anything
        return Fitted(problems[0].solution(), losses, (0, 0))
    parts = divisions(y, sample, seed)
    (which, last), scale = (0, N_PENALTIES - 1), 1.0
    if parts:
        losses, (which, last), scale = _validated(problems, y, parts, n_threads)
    problem = problems[which]
    *_, solution = problem.path(penalties_from(problem.largest_penalty())[: last + 1])
    scale = scale if len(solution.columns) else 1.0
    growth = growth if FORMS[which].by_size else STEADY
    return Fitted(solution.scaled(scale), losses, (which, last), scale, growth)


def growth_of(columns: Columns, sizes: Floats | None) -> Growth:
    """How the length of a row, the square root of its number of ones, grows with the size."""
    ones = np.bincount(columns.rows, minlength=columns.n_rows)
    logs = np.empty(0) if sizes is None else np.log(np.maximum(sizes[ones > 0], 1.0))
    if len(np.unique(logs)) < 2:
        return STEADY
    slope = float(np.polyfit(logs - logs.mean(), 0.5 * np.log(ones[ones > 0]), 1)[0])
    return Growth(float(np.exp(logs.mean())), min(max(slope, 0.0), STEEPEST))


def _scaled(
    columns: Columns,
    form: Form,
    growth: Growth,
    sizes: Floats | None,
    spans: Longs,
    lengths: NDArray[np.integer],
) -> Columns:
    scale = np.ones(len(columns))
    if form.by_span:
        scale /= np.sqrt(1 + spans)
    if form.by_rarity:
        share = np.diff(columns.offset) / columns.n_rows
        scale *= 1 - np.log(np.maximum(share, SMALLEST_SHARE))
    if form.by_length:
        scale *= _evened(scale**2 * np.diff(columns.offset), lengths)
    values = growth.values(sizes) if form.by_size and sizes is not None else None
    return replace(columns, row_scale=values, column_scale=scale)


def _evened(squares: Floats, lengths: NDArray[np.integer]) -> Floats:
    """Factors of columns by which lengths with many patterns do not outweigh the shortest one.
    `squares` are the sums of squares of the columns, before. A factor is the fourth root of the
    ratio of the sums over lengths, so that half of a difference, as a power, stays."""
    _, length = np.unique(lengths, return_inverse=True)
    sums = np.bincount(length, squares)
    factors: Floats = np.minimum(1.0, (sums[:1] / sums) ** 0.25)[length]
    return factors


def _validated(
    problems: list[Problem], y: Longs, parts: list[Bools], n_threads: int
) -> tuple[Floats, tuple[int, int], float]:
    """The loss with each form and penalty, which to take, and its scale."""
    sample, n_forms = problems[0].sample, len(problems)
    number = np.maximum(np.sum(parts, axis=0), 1)
    weights = sample * np.any(parts, axis=0)
    weights /= weights.sum()
    jobs = (
        delayed(_held_out)(problem, y, held, LOOKS / len(parts) / n_forms)
        for problem in problems
        for held in parts
    )
    scores = Parallel(n_threads, prefer="threads")(jobs)
    losses = np.empty((n_forms, N_PENALTIES, len(y)))
    scales = np.empty((n_forms, N_PENALTIES))
    for i, j in np.ndindex(scales.shape):
        of_form = zip(parts, scores[i * len(parts) :], strict=False)
        scores_at = [(held, one[j].astype(float)) for held, one in of_form]
        scales[i, j], losses[i, j] = best_scale(scores_at, y, weights / number)
    losses /= number
    each = [simplest(one, weights, form.n_errors) for form, one in zip(FORMS, losses, strict=True)]
    which = simplest(losses[np.arange(n_forms), each], weights, CLEARLY)
    return losses @ weights, (which, each[which]), float(scales[which, each[which]])


def penalties_from(largest: float) -> Floats:
    """Those of a path."""
    return largest * np.geomspace(1.0, SMALLEST, N_PENALTIES)


def divisions(y: Longs, sample: Floats, seed: int) -> list[Bools]:
    """Which rows are held out in turn: parts drawn by class, small data several times. Of a class
    that has one row only this is never held out, nor is a row without weight."""
    random, rows = np.random.default_rng(seed), np.flatnonzero(sample > 0)
    counts = np.bincount(y[rows])
    n_parts = min(PARTS, int(counts.max(initial=0)))
    if n_parts < 2:
        return []
    found = []
    for _ in range(min(max(ENOUGH_ROWS // len(rows), 1), MOST_REPEATS)):
        part, n_before = np.full(len(y), -1), 0
        for c in np.flatnonzero(counts > 1):
            members = rows[random.permutation(np.flatnonzero(y[rows] == c))]
            part[members] = (n_before + np.arange(len(members))) % n_parts
            n_before += len(members)
        found += [part == number for number in range(n_parts)]
    return found


def _held_out(whole: Problem, y: Longs, held: Bools, most_looks: float) -> NDArray[np.float32]:
    """The scores of rows that are held out: an array of shape (n_penalties, n_scores, n_held). The
    path ends where their loss has risen several times; the last scores stand for the others."""
    sample = np.where(held, 0.0, whole.sample)
    problem = Problem(whole.columns, y, whole.n_classes, sample, whole.share, most_looks)
    # At the first no column has a weight, as it is in the model of all rows.
    penalties = penalties_from(whole.largest_penalty())
    penalties[0] = max(penalties[0], problem.largest_penalty())
    scores, least, n_worse = [], np.inf, 0
    for _ in problem.path(penalties):
        scores.append(problem.scores[:, held])
        _, losses = best_scale([(held, scores[-1])], y, whole.sample)
        loss = float(losses @ whole.sample)
        n_worse = 0 if loss < least else n_worse + 1
        least = min(least, loss)
        if n_worse == MOST_WORSE:
            break
    scores += [scores[-1]] * (len(penalties) - len(scores))
    return np.array(scores, np.float32)


def best_scale(
    parts: list[tuple[Bools, Floats]], y: Longs, weights: Floats
) -> tuple[float, Floats]:
    """The best scale of the scores of parts, and the sum of the losses of each row with it."""
    rest = 1 / (len(y) + 2)  # of the other classes, so that no scale is large without end
    losses = np.zeros((len(SCALES), len(y)))
    for held, scores in parts:
        scores = with_base(scores)
        above = scores - scores.max(axis=0)
        own = above[y[held], np.arange(above.shape[1])]
        meant = (1 - rest) * own + rest * (above.sum(axis=0) - own) / (len(above) - 1)
        for out, scale in zip(losses, SCALES, strict=True):
            out[held] += np.log(np.exp(scale * above).sum(axis=0)) - scale * meant
    best = int((losses @ weights).argmin())
    return float(SCALES[best]), losses[best]


def with_base(scores: Floats) -> Floats:
    """A row for each class, of two classes too, where the score of the first is 0."""
    return np.vstack([np.zeros(scores.shape[1]), scores]) if len(scores) == 1 else scores


def simplest(losses: Floats, weights: Floats, n_errors: float = 1.0) -> int:
    """The first row of losses, an array of shape (n, n_rows), that is within some standard errors
    of the least; `weights` of the rows sum to 1."""
    means = losses @ weights
    best = int(means.argmin())
    extra = (losses - losses[best]) @ weights
    spread = ((losses - losses[best] - extra[:, None]) ** 2) @ weights**2
    return int(np.flatnonzero(extra <= n_errors * np.sqrt(spread) + 1e-12)[0])


def as_learner(solution: Solution, n_classes: int) -> LogisticRegression:
    """A solution as scikit-learn's estimator on the columns that have a weight."""
    learner = LogisticRegression()
    learner.classes_ = np.arange(n_classes)
    learner.coef_, learner.intercept_ = solution.weights, solution.intercept
    learner.n_features_in_ = len(solution.columns)
    learner.n_iter_ = np.zeros(1, np.int32)
    return learner
