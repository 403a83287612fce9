"""`LynxClassifier`: mine, filter, select, classify; one model for each pair of classes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from itertools import combinations
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, check_memory

from relynx.arrays import Floats
from relynx.bias import Bias, as_bias
from relynx.bias.model_file import BIAS, KNOWLEDGE
from relynx.bias.size_estimate import ESTIMATED, LEFT_OUT
from relynx.data.class_cuts import cut_measured
from relynx.data.parquet import Partitions
from relynx.data.sequences import Sequences
from relynx.data.tables.formats import AllBins, Columns, Fluents, Markers, Order
from relynx.data.tables.plans import DEFAULT_BINS, Request
from relynx.errors import InputError
from relynx.features.candidates import united
from relynx.features.exact_logistic import CERTIFICATE
from relynx.features.grasp import GraspSelector
from relynx.features.naive_bayes import PatternNB, checked_weights
from relynx.features.sparse_logistic import STEADY
from relynx.features.tables import read_training
from relynx.features.vectorizer import MISSING, PatternEstimator, check_predicates, coverage
from relynx.mining.levels import sequence_sizes
from relynx.mining.patterns.model_file import PATTERNS
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.workers import n_threads
from relynx.models.checks import (
    Rule,
    check_parameters,
    checked_labels,
    class_weights,
    is_count,
    one_of,
    sequences_for,
    training_data,
    weights_in,
    words_or_weights,
)
from relynx.models.lynx.checkpoint import fit_journal, model_folder
from relynx.models.lynx.final_estimators import LEARNER
from relynx.models.lynx.pair_model import PairModel, Recipe, learn
from relynx.models.lynx.round_robin import NUDGE, Ballot, agreeing, coupled, in_order_of, tally
from relynx.models.lynx.sparse_model import check_optimal, learn_optimal, learn_sparse
from relynx.search_settings import SearchSettings, default, is_number
from relynx.storage.fields import (
    CLASS_PRIOR,
    Field,
    Fields,
    array,
    labels,
    none_or,
    restored,
    stored_state,
)
from relynx.storage.journal import Journal, Result
from relynx.storage.parts import Part, plain

# Parameters of the method of the paper: no limit but the errors on the training sequences, and
# nothing dropped before the selection.
PAPER: Mapping[str, Any] = {"n_features": None, "max_features": None, "multiclass": "round_robin"}
MULTICLASS = ("auto", "round_robin", "single")
OF_ONE_MODEL = ("sparse", "optimal")  # which is sparse, and of all classes
# Of a model for each pair of classes: the parameters of GRASP that each stands for.
OF_PAIRS: Mapping[str, Mapping[str, Any]] = {"grasp": {}, "paper": PAPER}
METHODS = ("auto", *OF_ONE_MODEL, *OF_PAIRS)
# Parameters of the other methods: where one of these is given, `auto` is `grasp`.
OF_GRASP = (
    "min_confidence",
    "significance",
    "max_features",
    "measure",
    "selection",
    "n_features",
    "multiclass",
    "smoothing",
    "prior",
    "final_estimator",
    "max_iter",
    "moves",
    "objective",
)
MOST_PAIRED = 20  # classes, of which `auto` learns a model for each pair


def _is_level(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and 0 < float(value) <= 1)


def _is_learner(value: Any) -> bool:
    return value is None or (hasattr(value, "get_params") and is_classifier(value))


RULES: Mapping[str, Rule] = {
    "method": one_of(METHODS),
    "budget": (
        lambda value: is_number(value) and 0 < float(value) < float("inf"),
        "a number above 0: how many times the default amount of work",
    ),
    "penalty": (
        lambda value: value is None or (is_number(value) and 0 < float(value) <= 1),
        "a share of the largest penalty, above 0 and up to 1, or None to find it",
    ),
    "class_weight": words_or_weights("balanced", None),
    "selection": one_of(("auto", "grasp", None)),
    "multiclass": one_of(MULTICLASS),
    "prior": words_or_weights("empirical", "uniform", None),
    "n_features": (
        lambda value: value in (None, "validated") or is_count(value),
        "a number of patterns from 1 on, 'validated', or None for no limit",
    ),
    "significance": (_is_level, "a level above 0 and up to 1, or None to keep all patterns"),
    "max_features": (
        lambda value: value is None or is_count(value),
        "a number of patterns from 1 on, or None for all",
    ),
    "missing_predicates": one_of(MISSING),
    "final_estimator": (
        _is_learner,
        "a classifier of scikit-learn, LogisticRegression() say, or None for naive Bayes",
    ),
}


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _read_pairs(part: Part, key: str, model: Any) -> list[PairModel]:
    """The models of a file: one for all classes, or one for each pair in order."""
    classes, n = model.classes_, len(model.classes_)
    models = [PairModel(**restored(one, PairModel.STORED)) for one in part.parts(key)]
    wanted = [classes]
    if len(models) != 1 and len(models) == n * (n - 1) // 2:
        wanted = [classes[list(pair)] for pair in combinations(range(n), 2)]
    right = n >= 2 and len(models) == len(wanted)
    for one, among in zip(models, wanted, strict=False):
        right &= one.classes.dtype.kind == classes.dtype.kind
        right &= np.array_equal(one.classes, among)
    if not right:
        raise part.wrong(key, "are not one for each pair of classes")
    return models


def _read_columns(part: Part, key: str, model: Any) -> list[NDArray[np.int64]]:
    """Where the patterns of each model stand in `selected_`, from a file."""
    columns, n = part.listed(key), len(model.selected_)
    if len(columns) != len(model.estimators_):
        raise part.wrong(key, "are not as many as the models")
    for one, pair in zip(columns, model.estimators_, strict=True):
        right = isinstance(one, np.ndarray) and one.dtype == np.int64
        if not right or one.shape != pair.selected.shape or ((one < 0) | (one >= n)).any():
            raise part.wrong(key, "hold a number that is no selected pattern")
    if len(columns) == 1 and not np.array_equal(columns[0], np.arange(n)):
        raise part.wrong(key, "are not the selected patterns in order")
    return columns


@dataclass(eq=False, repr=False, kw_only=True)
class LynxClassifier(ClassifierMixin, PatternEstimator):  # type: ignore[misc]
    """Classify sequences by the patterns that cover them.

    By default, method `sparse`, `fit` finds all patterns for which a budget of work has room, short
    ones in as few as two sequences and longer ones in more, and learns logistic regression on them.
    It has one of three forms: an L1 penalty, which leaves most patterns out; an elastic net (0.3 of
    the penalty on absolute weights, the rest on squares), which leaves fewer out; and nearly ridge
    (0.03), with less of a penalty on rare patterns; thousands may be left. Cross-validation finds
    the penalty of the least loss, of the first form the largest within one standard error of
    it, and takes the first form within half a standard error of the best. In the last two a pattern
    counts for less in a longer sequence (`pattern_values`). One model serves all classes, and its
    probabilities are scaled to what is held out.

    Method `optimal` learns the same kind of model on every pattern up to `max_length`, however
    rare, without counting them all: what cannot have a weight at the minimum is left out by a
    bound, and `certificate_` proves how close to the best the model is.

    Method `grasp` mines the sequences of each pair of classes, keeps the patterns that meet
    `min_confidence` and `significance`, selects some of them by GRASP and fits naive Bayes on what
    they cover; the models of all pairs vote. Method `paper` is the same without a limit on the
    number of patterns, as published: selection sees every pattern and its errors on the training
    sequences only. Of patterns that cover the same training sequences the shortest is kept.

    Every setting of the search that is None is that of the bias, else the default in brackets.

    Parameters
    ----------
    bias
        The language of patterns: a `Bias`, its text, or the path of its file; None infers a simple
        one from the training sequences. `sparse` searches columns of events together, too, where
        the classes depend on them together.
    min_support
        Minimum proportion of one of the classes that a pattern covers (0.1). With `sparse`, where
        it is neither given nor in a given bias, the budget decides.
    min_frequency
        Minimum number of covered sequences over all classes (1); with `sparse` the least that the
        budget goes down to (2).
    max_length
        The largest number of atoms, links not counted (3; with `sparse` and an inferred bias up to
        5, where the budget has room for all patterns).
    max_gap
        The largest n of `followat` (2; with `sparse` and an inferred bias up to 10, by the budget).
    min_confidence
        Minimum confidence for one of the classes; 1.0 keeps the patterns that cover one class
        only. None keeps all.
    object_identity
        Whether different variables stand for different constants (True).
    missing_predicates
        What is done where no sequence has any fact of a predicate of the patterns, and so many
        training sequences had some that chance is no reason: `error`, `warn`, or `ignore`, which
        takes it as absent.
    method
        `sparse` (its form is found by cross-validation), `optimal`, `grasp` or `paper`; `auto` is
        `sparse` up to 20 classes, unless one of the parameters that belong to `grasp` is given, or
        the bias has a prior.
    budget
        How many times the default amount of work the search of `sparse` may take. Work is counted,
        no time is measured: the same data give the same model on every machine. It bounds how many
        patterns may have a weight, too, and so the size of a model of the third form.
    penalty
        Of `optimal`: the penalty as a share of the largest one that gives a pattern a weight, from
        0 to 1; probabilities are not scaled then. None finds it by cross-validation.
    class_weight
        Of `sparse` and `optimal`, as in scikit-learn: `balanced` gives all classes the same weight
        in sum, `{"a": 2}` some of them another one than 1. It multiplies that of the sequences.
    significance
        Of `grasp`, as all that follows but `n_jobs` and `random_state`. Level of a chi-square test,
        with Bonferroni correction for the number of patterns found: patterns that discriminate no
        better than chance are dropped. If none passes, all are kept. None keeps all.
    max_features, measure
        Largest number of candidates for selection per pair, and the measure that ranks them; see
        `PatternSet.measure`.
    selection
        `grasp`, which `auto` is too, or None to take them all.
    multiclass
        `round_robin` learns a model for each pair of classes, `single` one for all classes; `auto`
        is `round_robin` up to 20 classes, of which there are 190 pairs. Beyond it is one for all,
        without selection, and logistic regression instead of naive Bayes.
    smoothing
        Of the probabilities of naive Bayes, in the selection too.
    prior
        `empirical` for the class frequencies, `uniform`, or a weight for each class,
        `{"a": 2, "b": 1}`; None takes that of the bias, else `empirical`.
    final_estimator
        Another scikit-learn classifier instead of naive Bayes on the selected columns. It has its
        own prior, class weights and smoothing.
    n_features
        How many patterns of a pair are selected at most: a number, None for no limit, or
        `validated` for the number (1, 2, 4, ..., 64, no limit) with the least error of naive Bayes
        in five-fold cross-validation on the training sequences of the pair. Where logistic
        regression on all patterns is clearly better in that, by more than a standard error, it
        takes the place of both; not with a `final_estimator`, a `prior` or another `objective`.
    max_iter, moves, objective
        Of GRASP; see `GraspSelector`.
    memory
        A folder, or a `joblib.Memory`, that caches mined patterns and their coverage, for fits of
        the same sequences with another selection or learner, as in a grid search.
    checkpoint
        A folder for intermediate results, from which an interrupted `fit` resumes. Each set of
        training sequences and parameters has its own subfolder, so that the folds of a
        cross-validation can share one. It stays; a later identical `fit` reads its result there.
    n_jobs
        Pairs learnt at a time; with one model, threads of its search, validation and selection.
        Threads of `predict`, too. The model is the same for every value.
    random_state
        Seed of the selection, and of a `final_estimator` that takes one.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    class_prior_ : ndarray
        The prior of each class; of `sparse` and `optimal` its share of the weights.
    estimators_ : list of PairModel
        Of `grasp` one for each pair, in the order (1st, 2nd), (1st, 3rd), ...; one in all for two
        classes, `multiclass="single"`, `sparse` and `optimal`. Each has `classes`, `patterns`,
        `selected`, `estimator`, `selector`.
    selected_ : PatternSet
        The patterns that the models use, each once, with supports in all training sequences; those
        of `sparse` and `optimal` are those with a weight, by importance: first the one whose term
        varies most.
    min_support_ : ndarray
        The minimum proportion of sequences that patterns of 1, 2, ... atoms cover, as the budget
        allowed; one value for all lengths where it was given. Patterns in which each event is next
        to the one before may be rarer.
    columns_ : list of ndarray
        For each of `estimators_` the positions in `selected_` of the patterns that it uses.
    patterns_ : tuple of Pattern
        The patterns that GRASP chose from, each once; those of `sparse` and
        `optimal` are the selected ones.
    certificate_ : Certificate
        Of `optimal`: the `gap` above the least `objective`, the `penalty` and the
        `largest_penalty`, how many `nodes` were counted, `max_length`, the `scale` of the weights.
    bias_ : Bias
        The bias that was used.
    background_ : Background or None
        The background rules of the training sequences, which others get that have none.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X; with the cuts that were
        learnt, where it left them to `fit`. Of facts that come from no table, the cuts of measured
        numbers, where the bias was inferred.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.planted_rule(60, random_state=0)
    >>> model = rx.LynxClassifier(max_length=2, random_state=0).fit(X, y)
    >>> X_new, y_new = rx.planted_rule(100, random_state=1)
    >>> model.score(X_new, y_new)
    1.0
    """

    STORED: ClassVar[Fields] = {  # in a model file
        "classes_": labels("LynxClassifier"),
        "class_prior_": CLASS_PRIOR,
        "bias_": BIAS,
        "estimators_": Field(
            lambda models, _: [stored_state(one, PairModel.STORED) for one in models], _read_pairs
        ),
        "selected_": PATTERNS,
        "columns_": Field(
            lambda columns, name: [plain(one.astype(np.int64), name) for one in columns],
            _read_columns,
            key="_columns",
        ),
        "min_support_": replace(array(np.float64, (None,)), optional=True),
        "certificate_": CERTIFICATE,
        **KNOWLEDGE,
    }
    STORED_PARAMS: ClassVar[Fields] = {"bias": none_or(BIAS), "final_estimator": none_or(LEARNER)}

    method: str = "auto"
    budget: float = 1.0
    penalty: float | None = None
    class_weight: str | Mapping[object, float] | None = None
    significance: float | None = None
    max_features: int | None = 1000
    measure: str = "chi2"
    selection: str | None = "auto"
    n_features: int | str | None = "validated"
    multiclass: str = "auto"
    smoothing: float = 0.1
    prior: str | Mapping[object, float] | None = None
    final_estimator: Any = None
    max_iter: int = 200
    moves: tuple[str, ...] = ("add", "drop", "swap")
    objective: str = "errors"
    memory: Any = None
    checkpoint: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    def fit(
        self, X: Any, y: Iterable[object] | None = None,
        sample_weight: Iterable[float] | None = None, *,
        sequence: str | None = None, order: Order = None, label: str | None = None,
        fluents: Fluents = None, attributes: Columns = None, bins: AllBins = DEFAULT_BINS,
        na_values: Markers | None = None, date_format: str | None = None,
    ) -> LynxClassifier:  # fmt: skip
        """Learn the model, or models.

        Parameters
        ----------
        X
            `Sequences`, or a table as `from_events` takes it, or lists as `from_lists` takes them.
        y
            The classes, of a table in the order in which its sequences appear; without them those
            of X.
        sample_weight
            A weight for each sequence, of the methods `sparse` and `optimal`; without them all
            count the same. `class_weight` multiplies it.
        sequence, order, label, fluents, attributes, bins, na_values, date_format
            Of a table: how it is read, as in `from_events`.
        """
        check_parameters(self, RULES)  # the search, GRASP and naive Bayes check the rest
        asked = Request(X, sequence, order, fluents, attributes, label, None, bins)
        asked.na_values, asked.date_format = na_values, date_format
        X, y = read_training(asked, y)
        X, labels, self.classes_, codes = training_data(X, y)
        self.background_, self.reading_ = X.background, X.reading
        if self.bias is None and X.reading is None:
            X, self.reading_ = cut_measured(X, labels)
        self.bias_ = as_bias(self.bias) or Bias.infer(X, codes)
        method = self.chosen_method(len(self.classes_))
        named = copy(self)  # with the parameters that its method stands for
        named.__dict__.update(OF_PAIRS.get(method, {}))
        self.class_prior_ = named._prior(codes, np.arange(len(self.classes_)))
        self.__dict__.pop("certificate_", None)
        if method in OF_ONE_MODEL:
            self._learn_one(X, labels, codes, sample_weight, method)
        else:
            weights = {"sample_weight": sample_weight, "class_weight": self.class_weight}
            for name in (name for name, given in weights.items() if given is not None):
                what = f"{name} is no parameter of method={method!r}"
                raise InputError(what, hint="leave it out, or give method='sparse'")
            settings = SearchSettings.of_estimator(self.bias_, self)
            self.estimators_ = named._learn(X, labels, codes)
            self.min_support_ = np.array([settings.min_support])
        used = [model.patterns[model.selected] for model in self.estimators_]
        names = tuple(self.classes_.tolist())
        self.selected_, self.columns_ = united(used, X, codes, names)
        left_out = [one for one in self.bias_.notes if LEFT_OUT in one and self.bias is None]
        if left_out:
            warnings.warn("\n".join(left_out), UserWarning, stacklevel=2)
        return self

    def chosen_method(self, n_classes: int = 2) -> str:
        """The method, but `auto`. Raises InputError where a parameter is of another one."""
        default = {one.name: one.default for one in fields(self) if one.name in OF_GRASP}
        given = [name for name in OF_GRASP if not _same(getattr(self, name), default[name])]
        prior = getattr(getattr(self, "bias_", self.bias), "prior", None)
        if self.method != "optimal" and self.penalty is not None:
            what = f"penalty is no parameter of method={self.method!r}"
            raise InputError(what, hint="leave out penalty, or give method='optimal'")
        if self.method == "auto":
            return "grasp" if given or prior or n_classes > MOST_PAIRED else "sparse"
        if self.method == "optimal":
            check_optimal(self)
        if self.method in OF_ONE_MODEL and given:
            what = f"{given[0]} is no parameter of method={self.method!r}"
            raise InputError(what, hint=f"leave out {given[0]}, or give method='grasp'")
        if self.method in OF_ONE_MODEL and prior:
            what = "the prior of the bias is for naive Bayes, "
            what += f"which method={self.method!r} does not use"
            raise InputError(what, hint="leave it out of the bias, or give method='grasp'")
        if twice := [name for name in given if name in OF_PAIRS.get(self.method, {})]:
            what = f"{twice[0]} is fixed by method={self.method!r}"
            raise InputError(what, hint=f"leave out {twice[0]}, or give method='grasp'")
        return self.method

    def _learn_one(
        self,
        X: Sequences,
        labels: NDArray[Any],
        codes: NDArray[np.int64],
        sample_weight: Iterable[float] | None,
        method: str,
    ) -> None:
        """One sparse model of all classes, by a budget or exactly."""
        sample = self._weights(sample_weight, codes)
        self.class_prior_ = np.bincount(codes, weights=sample) / sample.sum()
        searched: dict[str, Any]  # what was searched, not what was estimated
        with fit_journal(self, self.bias_, X, labels) as journal:
            [seed] = self._seeds(1, journal)
            given = X, codes, self.class_prior_, self, sample, seed
            if method == "optimal":
                learnt, self.certificate_, warning = learn_optimal(*given)
                self.min_support_ = np.zeros(1)
                searched = {"max_length": self.certificate_.max_length}
            else:
                where = self._memory(), model_folder(journal, 1)
                learnt, levels, views, warning = learn_sparse(*given, *where)
                whole = [one for one in levels if not one.is_apart]
                self.min_support_ = np.array([one.min_support for one in whole])
                longest = default("max_length") if self.max_length is None else self.max_length
                searched = {"max_length": max(longest, len(whole)), "max_gap": levels[0].max_gap}
                # The budget decides instead of what was estimated.
                notes = [one for one in self.bias_.notes if not one.startswith(ESTIMATED)]
                notes += [f"events with {view} together: searched, too" for view in views]
                searched["notes"] = tuple(notes)
            if journal is not None:
                journal.finish()
        if warning is not None:
            warnings.warn(warning, UserWarning, stacklevel=3)
        self.estimators_ = [learnt]
        if self.bias is None:
            self.bias_ = replace(self.bias_, min_support=None, **searched)

    def _weights(self, given: Iterable[float] | None, codes: NDArray[np.int64]) -> Floats:
        """The weights of the sequences, times those of their classes. Raises InputError."""
        weights, classes = checked_weights(given, len(codes)), self.classes_.tolist()
        sums = np.bincount(codes, weights=weights)
        if not sums.all():
            what = "sample_weight leaves a class without weight"
            hint = "give each class a sequence that counts, or leave the class out"
            raise InputError(what, hint=hint)
        if isinstance(self.class_weight, Mapping):
            return weights * weights_in("class_weight", self.class_weight, classes, 1.0)[codes]
        is_balanced = self.class_weight is not None
        return weights * (sums.sum() / (len(sums) * sums))[codes] if is_balanced else weights

    def _prior(self, codes: NDArray[np.int64], among: NDArray[np.int64]) -> Floats:
        """The prior of some of the classes."""
        prior = self.bias_.prior or "empirical" if self.prior is None else self.prior
        weights = class_weights(prior, self.classes_.tolist(), codes)[among]
        return np.asarray(weights / weights.sum())

    def _learn(
        self, X: Sequences, labels: NDArray[Any], codes: NDArray[np.int64]
    ) -> list[PairModel]:
        search = SearchSettings.of_estimator(self.bias_, self)
        X.facts(search.object_identity)  # derived once, not for every pair
        everything = np.arange(len(self.classes_))
        tasks = [everything]
        if self._in_pairs():
            tasks = [np.array(pair) for pair in combinations(everything, 2)]
        alone = len(tasks) == 1
        jobs = []
        with fit_journal(self, self.bias_, X, labels) as journal:
            seeds = self._seeds(len(tasks), journal)
            for number, (among, seed) in enumerate(zip(tasks, seeds, strict=True), 1):
                where = np.flatnonzero(np.isin(codes, among))
                prior = self._prior(codes, among)
                folder = model_folder(journal, number)
                recipe = self._recipe(prior, self.n_jobs if alone else None, folder)
                jobs.append(delayed(learn)(X[where], labels[where], prior, recipe, seed))
            learnt = Parallel(1 if alone else n_threads(self.n_jobs), prefer="threads")(jobs)
            if journal is not None:
                journal.finish()
        for _, warning in learnt:
            if warning is not None:
                warnings.warn(warning, UserWarning, stacklevel=3)
        return [model for model, _ in learnt]

    def _seeds(self, n: int, journal: Journal | None) -> list[int]:
        """A seed for each model; those of a checkpoint, where it has them."""
        drawn: Result = (check_random_state(self.random_state).randint(2**31 - 1, size=n),)
        if journal is not None:
            drawn = journal.once(lambda: drawn)
            journal.flush()  # what the models keep depends on them
        seeds: list[int] = drawn[0].tolist()
        return seeds

    def _in_pairs(self) -> bool:
        is_auto = self.multiclass == "auto" and len(self.classes_) <= MOST_PAIRED
        return is_auto or self.multiclass == "round_robin"

    def _rival(self) -> Any:
        """What may take the place of naive Bayes; None where its settings say what is wanted."""
        prior = self.bias_.prior if self.prior is None else self.prior
        if self.final_estimator is None and prior in (None, "empirical"):
            return LogisticRegression(max_iter=1000) if self.objective == "errors" else None
        return None

    def _recipe(self, prior: Floats, n_jobs: int | None, checkpoint: str | None) -> Recipe:
        selector, limit = None, self.n_features
        rival, many = self._rival(), self.multiclass == "auto" and not self._in_pairs()
        if self.selection is not None and not many:
            selector = GraspSelector(
                max_iter=self.max_iter,
                moves=self.moves,
                objective=self.objective,
                n_features=None if isinstance(limit, str) else limit,
                smoothing=self.smoothing,
                prior=prior,
                n_jobs=n_jobs,
            )
        learner = self.final_estimator
        if learner is None:
            learner = PatternNB(smoothing=self.smoothing, prior=prior)
        if many and rival is not None:
            learner = rival
        return Recipe(self, selector, learner, rival, self._memory(), checkpoint, n_jobs)

    def _memory(self) -> Any:
        folder = os.fspath(self.memory) if isinstance(self.memory, os.PathLike) else self.memory
        return check_memory(folder)

    @property
    def patterns_(self) -> tuple[Pattern, ...]:
        """The patterns that selection chose from, each once."""
        check_is_fitted(self)
        return tuple(dict.fromkeys(p for m in self.estimators_ for p in m.patterns.patterns()))

    def predict(self, X: object) -> NDArray[Any]:
        """The class of each sequence.

        A table is read as that of `fit`; its sequences are in the order in which they appear, for a
        data frame of pandas that of `X["case"].unique()`.

        With one model that of the largest score. With a model for each pair the one with the most
        votes; ties go to the largest sum of probabilities, then to the larger prior, then to the
        first in order.
        """
        codes = self.codes(self.matrix(X))
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy; without y by the classes of X, of a table those in its label column."""
        if y is None:
            X = sequences_for(self, X)
            y = checked_labels(X, None)
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: object) -> Floats:
        """Class probabilities, array of shape (n_sequences, n_classes).

        The largest is that of the predicted class. With one model they are its own: for naive
        Bayes the posterior. With a model for each pair, their posteriors `r_jk` of class j against
        k are coupled by

            p_j = 1 / (sum over k of 1/r_jk - (c - 2))

        and scaled to sum 1 (Price and others 1994; exact if the models are consistent). If their
        order differs from that of `decision_function`, they are permuted.
        """
        return self.probabilities(self.matrix(X))

    def decision_function(self, X: object) -> Floats:
        """What `predict` decides by. With one model, the value of its learner: for two classes one
        a row, positive for the second class. With a model for each pair, for each of the c classes
        its votes plus 1/c of the sum of its probabilities (below 1, so it decides ties only), and a
        tiny term for its rank by the prior."""
        M = self.matrix(X)
        if len(self.estimators_) > 1:
            return self.tallied(M)
        values, voted = self.estimators_[0].decisions(M), self.estimators_[0].votes(M)
        if values.ndim > 1:
            return values
        # Of a tie the learner may be on one side and its value, by rounding, on the other.
        side = np.where(voted == 1, 1.0, -1.0)
        return np.where((values > 0) == (voted == 1), values, NUDGE * side)

    def matrix(self, X: object) -> sparse.csr_array:
        """The values of the patterns of `selected_` in each sequence, 0 where one is absent."""
        check_is_fitted(self)
        if isinstance(X, Partitions):
            parts = [self._values(sequences_for(self, part)) for part in X.partitions()]
            return sparse.vstack(parts, format="csr")
        X = sequences_for(self, X)
        check_predicates(self.missing_predicates, self.selected_, X)
        return self._values(X)

    def _values(self, X: Sequences) -> sparse.csr_array:
        M = coverage(self.selected_, X, n_jobs=self.n_jobs)
        if not self.estimators_[0].growth.exponent:
            return M
        return sparse.csr_array(sparse.diags_array(self.pattern_values(X)) @ M)

    def codes(self, M: Any) -> NDArray[np.int64]:
        """The numbers of the predicted classes, for rows of such a matrix."""
        if len(self.estimators_) == 1:
            return self.estimators_[0].votes(M)
        return np.asarray(self.tallied(M).argmax(axis=1), np.int64)

    def probabilities(self, M: Any) -> Floats:
        """The class probabilities, for rows of such a matrix."""
        if len(self.estimators_) == 1:
            return agreeing(self.estimators_[0].posteriors(M), self.estimators_[0].votes(M))
        probabilities = coupled(self._ballots(M), M.shape[0], len(self.classes_))
        return in_order_of(probabilities, self.tallied(M))

    def pattern_values(self, X: Sequences) -> Floats:
        """The value of a pattern that is present in a sequence, for each sequence. It is 1, unless
        a sparse model divides what its patterns add by a power of the number of facts, because
        longer sequences have more patterns; then it is 1 for a typical number."""
        growth = self.estimators_[0].growth if len(self.estimators_) == 1 else STEADY
        if not growth.exponent:
            return np.ones(len(X))
        return growth.values(sequence_sizes(X, self.selected_.object_identity))

    def tallied(self, M: Any) -> Floats:
        """The votes and probabilities of the models, for rows of such a matrix."""
        return tally(self._ballots(M), self.class_prior_, M.shape[0])

    def _ballots(self, M: sparse.csr_array) -> Iterator[Ballot]:
        for model, columns in zip(self.estimators_, self.columns_, strict=True):
            among = np.searchsorted(self.classes_, model.classes)
            yield Ballot(among, model.votes(M[:, columns]), model.posteriors(M[:, columns]))
