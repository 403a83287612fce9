"""GRASP: select the patterns with which naive Bayes makes the fewest errors.

Feo and Resende, J. Global Optimization 6 (1995); the paper's algorithm GRASP^FS. The search itself
is in `_grasp_kernels` and its tables in `grasp_tables`; here rounds are dealt out and compared.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, fields
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from relynx.arrays import Bools, Longs
from relynx.errors import Problem, did_you_mean, raise_all
from relynx.features import _grasp_kernels as kernels
from relynx.features.grasp_tables import Task, cost_of, count_errors, log_likelihood, task_of
from relynx.features.naive_bayes import Matrix, check_smoothing, present
from relynx.mining.workers import n_threads
from relynx.storage.fields import COUNT, FEATURES_IN, NUMBER, Field, Fields, array
from relynx.storage.journal import Journal, Result, Work, digest
from relynx.storage.parts import Part, plain

MOVES = ("add", "drop", "swap")
OBJECTIVES = ("errors", "balanced")
TIE_DRAWS = 512  # numbers that a local search draws before it uses them again
KEPT_FORM = 1  # of the results in a checkpoint: change it when they, or the draws, change
RANDOM = 1 / 16  # of the rounds have alpha 1: below it the worst column could never be drawn


@dataclass(frozen=True, slots=True)
class GraspRound:
    """What one round did. `alpha` is how random it was, `size_built` and `error_built` describe the
    set before the local search, the others the set after it; `error` is in the unit of the
    objective. `best` says whether it was better than all rounds before it."""

    round: int
    alpha: float
    size_built: int
    error_built: float
    size: int
    error: float
    log_likelihood: float
    best: bool


_PLAIN_TYPES = {"int": (int,), "float": (int, float), "bool": (bool,)}


def _history_state(history: Sequence[GraspRound], _: str) -> dict[str, list[Any]]:
    """A list for each field of the rounds."""
    return {
        field.name: [plain(getattr(one, field.name), field.name) for one in history]
        for field in fields(GraspRound)
    }


def _history(part: Part, key: str, _: object) -> list[GraspRound]:
    """Undo `_history_state`."""
    columns = part.part(key)
    rounds: dict[str, list[Any]] = {}
    for field in fields(GraspRound):
        rounds[field.name] = columns.listed(field.name)
        types = _PLAIN_TYPES[str(field.type)]
        if not all(type(one) in types and one == one for one in rounds[field.name]):
            raise columns.wrong(field.name, "holds what no round has")
    columns.end()
    if len({len(values) for values in rounds.values()}) > 1:
        raise part.wrong(key, "has lists of different lengths")
    return [GraspRound(*row) for row in zip(*rounds.values(), strict=True)]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of a round, before it is compared with others."""

    round: int
    alpha: float
    size_built: int
    cost_built: int
    chosen: Longs
    cost: int
    log_likelihood: float

    @property
    def key(self) -> tuple[int, float, int]:
        return self.cost, -self.log_likelihood, len(self.chosen)

    def kept(self) -> Result:
        """The result as arrays for a checkpoint."""
        numbers = np.array([self.round, self.size_built, self.cost_built, self.cost], np.int64)
        return numbers, np.array([self.alpha, self.log_likelihood]), self.chosen

    @classmethod
    def of(cls, kept: Result) -> RoundResult:
        (i, size_built, cost_built, cost), (alpha, likelihood) = kept[0].tolist(), kept[1].tolist()
        return cls(i, alpha, size_built, cost_built, kept[2], cost, likelihood)


@dataclass(eq=False, repr=False)
class GraspSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose the columns with which naive Bayes makes the fewest errors, by GRASP.

    Each round draws alpha and builds a set from nothing: of all columns whose error is at most
    `low + alpha * (high - low)` one is drawn and added, until the one drawn makes the error worse.
    A local search follows, while a neighbour has fewer errors. The best round is kept: by error,
    then by the log-likelihood of the labels, then by size. Where all have more errors than the
    prior alone, the answer is what the local search makes of no column. Errors are those of
    `PatternNB(smoothing, prior=prior)` on the training data. One seed gives one answer, whatever
    `n_jobs` is.

    Parameters
    ----------
    max_iter
        The number of rounds.
    moves
        The neighbours of a set: `"add"`, `"drop"`, `"swap"`. The paper has add and swap, the
        original program add and drop; `()` leaves out the local search.
    objective
        `"errors"` counts the misclassified sequences, `"balanced"` is the mean error rate over the
        classes.
    n_features
        The most columns to choose; no limit if None.
    smoothing, prior
        As of `PatternNB`.
    alpha
        0 (greedy) to 1 (random); drawn anew for each round if None, evenly, and 1 in one round of
        16.
    threshold
        A value counts as present when it is greater. `None` wants 0 and 1 only.
    time_limit
        Seconds after which no new round begins. The first one always runs.
    n_jobs
        Rounds that run at the same time.
    random_state
        The seed.
    checkpoint
        A folder for finished rounds, from which an interrupted search, or one stopped by
        `time_limit`, resumes, also with a larger `max_iter`; its result is that of an uninterrupted
        one. Other data or parameters are refused.

    Attributes
    ----------
    support_ : ndarray of bool
        Which columns are chosen. It may be none, where all sets are worse than the prior alone.
    errors_ : int
        The errors of the chosen columns on the training data.
    objective_ : float
        Their value of the objective; the same number for `objective="errors"`.
    log_likelihood_ : float
        The sum over the sequences of the logarithm of the posterior of their class.
    history_ : list of GraspRound
        One record a round: `round`, `alpha`, `size_built`, `error_built`, `size`, `error`,
        `log_likelihood`, `best`.
    n_iter_ : int
        Number of rounds.
    partial_ : str or None
        What ended the search early.

    Notes
    -----
    The local search takes the best neighbour that adds or drops a column, if it is better; else it
    gives up the chosen columns one after the other, going round from a place that is drawn, and
    takes the best replacement of the first that has a better one. Among equally good ones it draws.
    Scores are whole numbers with 34 bits after the point; two that differ by less than 2e-9 are a
    tie, as in `PatternNB`. With smoothing 0 and thousands of columns there are fewer bits, and what
    is a tie grows with it: to 5e-7 for 20,000 columns.

    Building stops only when the error gets worse. Columns that tell the training data apart without
    error are followed by all others that keep it so; `n_features` bounds such sets.

    Examples
    --------
    >>> from relynx import GraspSelector
    >>> X = [[1, 0, 1], [1, 1, 1], [0, 0, 1], [0, 1, 1]]
    >>> selector = GraspSelector(max_iter=5, n_features=1, random_state=0)
    >>> selector.fit(X, ["yes", "yes", "no", "no"]).get_support()
    array([ True, False, False])
    """

    STORED: ClassVar[Fields] = {  # in a model file
        **FEATURES_IN,
        "support_": array(np.bool_, lambda model: (model.n_features_in_,)),
        "errors_": COUNT,
        "objective_": NUMBER,
        "log_likelihood_": NUMBER,
        "history_": Field(_history_state, _history),
        "n_iter_": Field(plain, lambda part, key, _: part.count(key, least=1)),
        "partial_": Field(plain, lambda part, key, _: part.text_or_none(key)),
    }

    max_iter: int = 200
    _: KW_ONLY
    moves: Sequence[str] = MOVES
    objective: str = "errors"
    n_features: int | None = None
    smoothing: float = 0.1
    prior: str | ArrayLike = "empirical"
    alpha: float | None = None
    threshold: float | None = 0.0
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Any = None
    checkpoint: Any = None

    def fit(self, X: Matrix, y: ArrayLike) -> GraspSelector:
        """Search for the columns of a 0/1 matrix, dense or sparse, that tell the classes apart."""
        begun = time.monotonic()
        self._check()
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        X = present(X, self.threshold)
        bits = X.toarray().astype(np.uint8) if sp.issparse(X) else X
        task = task_of(
            bits,
            np.asarray(y),
            smoothing=float(self.smoothing),
            prior=self.prior,
            balanced=self.objective == "balanced",
        )
        with self._journal(bits, np.asarray(y)) as journal:
            best = self._search(task, begun, journal)
        self.support_ = np.zeros(bits.shape[1], bool)
        self.support_[best.chosen] = True
        self.errors_ = count_errors(task, best.chosen)
        self.objective_ = best.cost * task.unit
        self.log_likelihood_ = best.log_likelihood
        return self

    def _journal(
        self, bits: NDArray[np.uint8], y: NDArray[Any]
    ) -> AbstractContextManager[Journal | None]:
        if self.checkpoint is None:
            return nullcontext()
        prior = self.prior if isinstance(self.prior, str) else np.asarray(self.prior, float)
        parameters = {
            "moves": [move for move in MOVES if move in self.moves],
            "objective": self.objective,
            "n_features": self.n_features,
            "smoothing": float(self.smoothing),
            "prior": prior,
            "alpha": self.alpha,
            "random_state": seed_text(self.random_state),
        }
        data = digest([bits, y if y.dtype.kind in "biuf" else y.tolist()])
        about = f"GRASP on {bits.shape[0]:,} rows and {bits.shape[1]:,} columns"
        work = Work("GRASP", KEPT_FORM, about, {"the data": data}, parameters)
        return Journal(self.checkpoint, work)

    def _search(self, task: Task, begun: float, journal: Journal | None) -> RoundResult:
        """The best of all rounds, or what begins with the empty set, where they are worse."""
        drawn: Result = (check_random_state(self.random_state).randint(2**31 - 1, size=4),)
        if journal is not None:  # it has its own numbers, where they were drawn without a seed
            drawn = journal.once(lambda: drawn)
        entropy = drawn[0].tolist()
        moves = np.array([move in self.moves for move in MOVES])
        most = len(task.first) if self.n_features is None else self.n_features

        def play(i: int) -> RoundResult:
            seed = SeedSequence(entropy, spawn_key=(i,) if i >= 0 else ())
            return play_round(task, i, seed, alpha=self.alpha, most=most, moves=moves)

        found = [] if journal is None else [RoundResult.of(kept) for kept in journal.kept()]
        found = found[: self.max_iter]
        for one in self._played(play, begun, len(found)):
            found.append(one)
            if journal is not None:
                journal.add(one.kept())
        best = self._record(found, task)
        if journal is not None and self.partial_ is None:
            journal.finish()
        return best if best.cost <= cost_of(task, task.prior_margins) else play(-1)

    def _played(
        self, play: Callable[[int], RoundResult], begun: float, first: int
    ) -> Iterator[RoundResult]:
        """The rounds from `first` on, while there is time."""
        end = math.inf if self.time_limit is None else begun + self.time_limit
        left = False

        def in_time(i: int) -> bool:
            return not left and (i == 0 or time.monotonic() < end)

        # Kernels let other threads run, and threads share the tables.
        results = Parallel(n_threads(self.n_jobs), prefer="threads", return_as="generator")(
            delayed(lambda i: play(i) if in_time(i) else None)(i)
            for i in takewhile(in_time, range(first, self.max_iter))
        )
        try:
            yield from takewhile(lambda one: one is not None, results)
        finally:
            left = True
            deque(results, maxlen=0)  # those under way end; no other begins

    def _record(self, found: list[RoundResult], task: Task) -> RoundResult:
        """The best round; the history of all."""
        best: RoundResult | None = None
        self.history_ = []
        for one in found:
            better = best is None or one.key < best.key
            best = one if better else best
            self.history_.append(
                GraspRound(
                    round=one.round,
                    alpha=one.alpha,
                    size_built=one.size_built,
                    error_built=one.cost_built * task.unit,
                    size=len(one.chosen),
                    error=one.cost * task.unit,
                    log_likelihood=one.log_likelihood,
                    best=better,
                )
            )
        assert best is not None  # the first round always runs
        self.n_iter_ = len(found)
        self.partial_ = None
        if len(found) < self.max_iter:
            rounds = f"{len(found)} of {self.max_iter} rounds"
            self.partial_ = f"time_limit={self.time_limit} ended the search after {rounds}"
        return best

    def _check(self) -> None:
        """All parameters at once."""
        problems = (
            *_not_a_count("max_iter", self.max_iter),
            *_not_a_count("n_features", self.n_features, none="None for no limit"),
            *_unknown_names("move", self.moves, MOVES),
            *_unknown_names("objective", [self.objective], OBJECTIVES),
            *_outside(
                "alpha", self.alpha, 1.0, "from 0 (greedy) to 1 (random), or None to draw it"
            ),
            *_outside("time_limit", self.time_limit, math.inf, "seconds, or None for no limit"),
        )
        raise_all(problems)
        check_smoothing(self.smoothing)

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def play_round(
    task: Task, i: int, seed: SeedSequence, *, alpha: float | None, most: int, moves: Bools
) -> RoundResult:
    """Round i: the kernel's answer for what a generator of its own draws. Round -1 builds nothing:
    it is what the local search makes of the empty set."""
    n = len(task.first)
    draws = np.random.default_rng(seed).random(1 + n + TIE_DRAWS)
    begin = -1, 0
    if i < 0:
        alpha, begin = 0.0, (0, cost_of(task, task.prior_margins))
    draws[0] = min(draws[0] / (1 - RANDOM), 1.0) if alpha is None else alpha
    chosen = np.empty(n, np.int64)
    margins = task.prior_margins.copy()
    n_built, cost_built, size, cost = kernels.play_round(
        task.tables, margins, task.first, draws, min(most, n), moves, *begin, chosen
    )
    built, found = (int(n_built), int(cost_built)), (np.sort(chosen[:size]), int(cost))
    return RoundResult(i, float(draws[0]), *built, *found, log_likelihood(task, margins))


def seed_text(random_state: Any) -> object:
    """What a seed is called in a checkpoint."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state
    _, numbers, *rest = check_random_state(random_state).get_state()
    return f"a generator in the state {digest([numbers, rest])[:12]}"


def _not_a_count(name: str, value: Any, none: str | None = None) -> list[Problem]:
    is_count = isinstance(value, int | np.integer) and value >= 1 and value is not True
    if is_count or (value is None and none):
        return []
    hint = "a whole number from 1 on" + (f", or {none}" if none else "")
    return [Problem(f"{name} is {value!r}", hint=hint)]


def _unknown_names(what: str, names: Any, known: Sequence[str]) -> list[Problem]:
    if not isinstance(names, Sequence) or isinstance(names, str):
        return [Problem(f"{what}s is {names!r}", hint=f"a tuple of {', '.join(known)}")]
    return [
        Problem(
            f"unknown {what} {name!r}",
            hint=did_you_mean(str(name), known) or f"one of {', '.join(known)}",
        )
        for name in names
        if name not in known
    ]


def _outside(name: str, value: Any, most: float, hint: str) -> list[Problem]:
    """A problem unless the value is None or a number from 0 to the most."""
    if value is None or (isinstance(value, float | int | np.number) and 0 <= value <= most):
        return []
    return [Problem(f"{name} is {value!r}", hint=hint)]
