"""L1-penalised logistic regression over all patterns of a language, with a certificate.

The patterns need not all be counted. From one penalty to the next a working set is solved; patterns
outside it whose gradient exceeds the penalty join it, and the language is refined where its bound
says that one may be there. When the duality gap over the whole language is small enough, this is
the minimum: what was not counted has no weight there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from relynx.arrays import Floats, Longs
from relynx.errors import counted
from relynx.features import _logistic_kernels as lk
from relynx.features import sparse_logistic as sl
from relynx.features.sparse_logistic import Columns, Problem, Solution
from relynx.mining.bounded import Language
from relynx.storage.fields import COUNT, NUMBER, Field, Fields, restored, stored_state

# Of the deviance without patterns: the gap at which a solution is the minimum, on the way to a
# penalty and there.
N_PENALTIES, SMALLEST = 30, 1e-4  # of the largest one: each asks the language again
ON_THE_WAY, CERTAIN = 1e-4, 1e-8
MOST_NEW = 500  # columns that join the working set at once
MOST_SWEEPS, FINEST = 1000, 1e-13
CENTRED = 1e-12  # the sum of the residuals of a class, with the best intercepts
PATIENCE = 8  # penalties without a smaller error, after which the validation ends


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of a model's distance from the best one of the whole language.

    Attributes
    ----------
    gap
        The duality gap: no model of the language has an objective below `objective` - `gap`.
    objective
        The mean logarithmic loss, plus the penalty times the sum of the absolute weights.
    penalty, largest_penalty
        Of that objective, and the least one at which no pattern has a weight.
    nodes
        How many candidates were counted, repeated ones included.
    max_length
        The largest number of atoms of a pattern of the language.
    scale
        By what the weights and intercepts of that minimum were multiplied for the probabilities.
    """

    gap: float
    objective: float
    penalty: float
    largest_penalty: float
    nodes: int
    max_length: int
    scale: float = 1.0

    STORED: ClassVar[Fields] = {  # in a model file
        **dict.fromkeys(("gap", "objective", "penalty", "largest_penalty"), NUMBER),
        **dict.fromkeys(("nodes", "max_length"), COUNT),
        "scale": NUMBER,
    }

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.6f}, at most {self.gap:.1e} above the least "
            f"with all patterns of up to {counted(self.max_length, 'atom')}; "
            f"penalty {self.penalty:.4g} of {self.largest_penalty:.4g}; "
            f"{counted(self.nodes, 'candidate')} counted"
        )


CERTIFICATE = Field(
    lambda value, _: stored_state(value, Certificate.STORED),
    lambda part, key, _: Certificate(**restored(part.part(key), Certificate.STORED)),
    optional=True,
)


class Descent(Problem):
    """Solutions of a problem whose columns are those of a language that may have a weight."""

    close = 0.1

    def __init__(self, language: Language, y: Longs, n_classes: int, sample: Floats) -> None:
        self.language, self.working = language, np.empty(0, np.int64)  # numbers of the columns
        none = Columns(*language.columns(self.working), len(y))
        super().__init__(none, y, n_classes, sample)
        self.steepest, self.before = np.zeros(0, np.float32), 0.0  # gradients at the penalty before

    def objective(self, penalty: float) -> float:
        return self.deviance() + penalty * float(np.abs(self.weights).sum())

    def solution(self) -> Solution:
        found = super().solution()
        return replace(found, columns=self.working[found.columns])

    def largest_penalty(self) -> float:
        """The penalty from which on no pattern has a weight, before any has one."""
        language = self.language
        while True:
            slopes, bounds = language.sums(self.residual())
            largest = float(np.abs(slopes[language.usable]).max(initial=0.0))
            if not language.grow(bounds > max(largest, sl.NOTHING)):
                return max(largest, language.open_bound(bounds)) * sl.ROUNDED

    def go_to(self, penalty: float, close: float) -> float:
        """Solve at a penalty until the gap is at most `close` of the deviance without patterns; the
        gap."""
        language, enough = self.language, max(close * self.deviance_without, FINEST)
        self._begin(penalty)
        inner = 0.5 * enough
        while True:
            self._descend_to(penalty, inner)
            slopes, bounds = language.sums(self.residual())
            steepest = np.where(language.usable, np.abs(slopes).max(axis=1), 0.0)
            self.steepest, self.before = steepest.astype(np.float32), penalty
            gap = self._gap(penalty, max(steepest.max(initial=0.0), language.open_bound(bounds)))
            steepest[self.working] = 0.0
            wrong = np.flatnonzero(steepest > penalty)
            if gap <= enough or (inner < FINEST and not len(wrong)):
                return gap
            if len(wrong):
                self._join(wrong[np.argsort(-steepest[wrong], kind="stable")[:MOST_NEW]])
            elif not language.grow(bounds > penalty):
                inner = 0.1 * inner

    def _begin(self, penalty: float) -> None:
        """Keep what has a weight, and take in what may get one by the sequential strong rule."""
        used = np.flatnonzero((self.weights != 0).any(axis=0))
        self.working, self.weights = self.working[used], self.weights[:, used]
        likely = np.flatnonzero(self.steepest > max(2 * penalty - self.before, sl.NOTHING))
        likely = likely[~np.isin(likely, self.working)]
        self._join(likely[np.argsort(-self.steepest[likely], kind="stable")[:MOST_NEW]])

    def _join(self, new: Longs) -> None:
        self.working = np.append(self.working, new)
        self.weights = np.hstack([self.weights, np.zeros((len(self.weights), len(new)))])
        self.gradient, self.column_scale = np.empty_like(self.weights), np.ones(len(self.working))
        self.columns = Columns(*self.language.columns(self.working), self.columns.n_rows)

    def _descend_to(self, penalty: float, enough: float) -> None:
        """Solve on the columns that may have a weight."""
        every = np.arange(len(self.working))
        for _ in range(MOST_SWEEPS):
            for c in range(len(self.weights)):
                lk.log_sums(self.scores, self.has_base, self.sums)
                self._step(c, penalty, every, 0.0)
            self._center()
            self._update()
            if self._gap(penalty, float(np.abs(self.gradient).max(initial=0.0))) <= enough:
                return

    def _center(self) -> None:
        """Intercepts for which the residuals of each class sum to zero: Newton's method."""
        for _ in range(20):
            lk.log_sums(self.scores, self.has_base, self.sums)
            shares = np.exp(self.scores - self.sums)
            slope = (shares - self.target) @ self.sample
            if np.abs(slope).max() < 1e-15:
                return
            curvature = np.diag(shares @ self.sample) - (shares * self.sample) @ shares.T
            step = -np.clip(np.linalg.lstsq(curvature, slope, rcond=None)[0], -1.0, 1.0)
            self.intercept += step
            self.scores += step[:, None]

    def _gap(self, penalty: float, largest: float) -> float:
        """The duality gap, where no pattern that is considered has a larger gradient than this. The
        residuals, scaled so that none exceeds the penalty, are feasible for the dual problem, whose
        objective is the entropy of the probabilities that they are of."""
        scale = min(1.0, penalty / largest) if largest > 0 else 1.0
        shares = np.exp(self.scores - self.sums)
        if np.abs((shares - self.target) @ self.sample).max() > CENTRED:
            return np.inf
        shares = np.clip(self.target + scale * (shares - self.target), 0.0, 1.0)
        entropy = -xlogy(shares, shares).sum(axis=0)
        if self.has_base:
            entropy -= xlogy(1 - shares[0], 1 - shares[0])
        return max(self.objective(penalty) - float(self.sample @ entropy), 0.0)


def fit_exact(
    language: Language,
    y: Longs,
    n_classes: int,
    sample: Floats,
    *,
    seed: int,
    penalty: float | None = None,
) -> tuple[Solution, Certificate]:
    """The model at a share of the largest penalty, else at the one that cross-validation takes."""
    whole, scale, gap = Descent(language, y, n_classes, sample), 1.0, 0.0
    largest = whole.largest_penalty()
    penalties = np.array([largest])
    if largest > sl.NOTHING and penalty is not None:
        n_steps = int(np.ceil(np.log(penalty) / np.log(SMALLEST) * N_PENALTIES))
        penalties = largest * np.geomspace(1.0, penalty, n_steps + 1)
    elif largest > sl.NOTHING:
        penalties = largest * np.geomspace(1.0, SMALLEST, N_PENALTIES)
        chosen, scale = validated(language, y, n_classes, sample, penalties, seed)
        penalties = penalties[: chosen + 1]
    for step in penalties[:-1].tolist():
        whole.go_to(step, ON_THE_WAY)
    last = float(penalties[-1])
    if largest > sl.NOTHING:
        gap = whole.go_to(last, CERTAIN)
    found = whole.solution()
    scale = scale if len(found.columns) else 1.0
    known = last, largest, language.nodes, language.settings.max_length, scale
    return found.scaled(scale), Certificate(gap, whole.objective(last), *known)


def validated(
    language: Language, y: Longs, n_classes: int, sample: Floats, penalties: Floats, seed: int
) -> tuple[int, float]:
    """Which penalty to take, and the scale of the scores there, as `fit_sparse` finds them.

    All parts go down together, each with its own search, as far as errors fall.
    """
    parts = sl.divisions(y, sample, seed)
    if not parts:
        return len(penalties) - 1, 1.0
    times = np.sum(parts, axis=0)
    wrong, scales = np.zeros((len(penalties), len(y))), []
    descents = [Descent(language, y, n_classes, np.where(held, 0.0, sample)) for held in parts]
    share = sample * (times > 0) / sample[times > 0].sum()
    means: list[float] = []
    for k, penalty in enumerate(penalties.tolist()):
        is_done = True
        for held, descent in zip(parts, descents, strict=True):
            if descent.deviance() > sl.FITTED * descent.deviance_without:
                is_done = False
                if k:  # at the first no pattern has a weight, as in the model of all rows
                    descent.go_to(penalty, ON_THE_WAY)
            scores = sl.with_base(descent.scores[:, held])
            wrong[k, held] += (scores.argmax(axis=0) != y[held]) / times[held]
        held_out = [(held, one.scores[:, held]) for held, one in zip(parts, descents, strict=True)]
        scales.append(sl.best_scale(held_out, y, sample)[0])
        means.append(float(wrong[k] @ share))
        if is_done or k - int(np.argmin(means)) >= PATIENCE:
            break
    chosen = sl.simplest(wrong[: len(means), times > 0], share[times > 0])
    return chosen, scales[chosen]
