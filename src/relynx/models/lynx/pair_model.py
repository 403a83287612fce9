"""One model of the Lynx classifier: patterns mined for some classes, and a learner on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from relynx.arrays import Floats
from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.features.candidates import Validation, by_class_in_turn, distinct, lean, significant
from relynx.features.grasp import GraspSelector
from relynx.features.sparse_logistic import STEADY, Growth
from relynx.features.vectorizer import fitted_of, fitted_state, nothing_found
from relynx.mining.patterns.model_file import PATTERNS
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import KeptCoverage
from relynx.mining.search import Filters, answer, mine
from relynx.models.lynx.checkpoint import MINING, SELECTION, inside, size_journal
from relynx.models.lynx.final_estimators import estimator_of, estimator_state, n_columns
from relynx.search_settings import SearchSettings, as_share
from relynx.storage.fields import COUNT, TEXT, Field, Fields, finished, labels, none_or
from relynx.storage.parts import Part, plain
from relynx.version import __version__

Matrix: TypeAlias = Any  # a dense array or a sparse matrix

GROWTH = Field(
    lambda value, name: plain(np.array([value.typical, value.exponent]), name),
    lambda part, key, _: _growth(part, key),
    optional=True,
)

POOL = 4  # times `max_features`: of what the parts of a validation choose their own candidates


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is learnt: the classifier for its parameters, and the estimators on columns."""

    model: Any  # a `LynxClassifier` with its `bias_`
    selector: Any  # None without selection
    learner: Any
    rival: Any  # taken, with all patterns, where it is clearly better in the validation; or None
    memory: Any  # a `joblib.Memory`, which may keep nothing
    checkpoint: str | None = None  # a folder for intermediate results
    n_jobs: int | None = None  # threads of the search

    @property
    def validated(self) -> bool:
        """Whether the number of patterns is found by cross-validation."""
        return self.selector is not None and self.model.n_features == "validated"


def _estimator(part: Part, key: str, model: Any) -> Any:
    """The learner of a model file; its target is the number of the class."""
    learner = part.part_or_none(key)
    if learner is None:
        if len(model.selected):
            raise part.wrong(key, "is missing")
        return None
    estimator = estimator_of(learner)
    numbers = getattr(estimator, "classes_", np.empty(0)).tolist()
    if n_columns(estimator) != len(model.selected) or numbers != [*range(len(model.classes))]:
        raise part.wrong(key, "does not fit the classes and patterns of its model")
    return estimator


def _growth(part: Part, key: str) -> Growth:
    typical, exponent = part.array(key, np.float64, (2,)).tolist()
    if not (0 < typical < np.inf and 0 <= exponent <= 1):
        raise part.wrong(key, "is no size and an exponent from 0 to 1")
    return Growth(typical, exponent)


def _selector(part: Part, key: str, model: Any) -> Any:
    selector = finished(part.part(key), partial(fitted_of, GraspSelector))
    if selector.n_features_in_ != len(model.patterns):
        raise part.wrong(key, "does not fit the patterns of its model")
    return selector


@dataclass(frozen=True, slots=True)
class PairModel:
    """A model of two classes, or of all of them."""

    STORED: ClassVar[Fields] = {  # in a model file
        "classes": labels("LynxClassifier"),
        "patterns": PATTERNS,
        "selected": Field(
            lambda value, name: plain(value.astype(np.int64), name),
            lambda part, key, model: part.numbers(key, (None,), 0, len(model.patterns) - 1),
        ),
        "estimator": Field(
            lambda value, _: None if value is None else estimator_state(value), _estimator
        ),
        "prior": Field(plain, lambda part, key, model: part.shares(key, len(model.classes))),
        "selector": none_or(Field(lambda value, _: fitted_state(value), _selector)),
        "n_candidates": replace(COUNT, optional=True),
        "growth": GROWTH,
        "form": replace(TEXT, optional=True),
    }

    classes: NDArray[Any]
    patterns: PatternSet  # what could be selected, with supports in the sequences of these classes
    selected: NDArray[np.int64]  # which of them were, as numbers
    estimator: Any  # on their columns; None where there are none, and the prior decides alone
    prior: Floats
    selector: Any = None  # a fitted `GraspSelector`; None without selection
    n_candidates: int = 0  # patterns that could be selected, where `patterns` are those that were
    growth: Growth = STEADY  # how the values of the columns fall with the size of a sequence
    form: str = ""  # of the method `sparse`: which of its forms cross-validation took

    def votes(self, M: Matrix) -> NDArray[np.int64]:
        """The index of the predicted class of each row, among those of the model."""
        if self.estimator is None or not M.shape[0]:
            return np.full(M.shape[0], self.prior.argmax(), np.int64)
        return np.asarray(self.estimator.predict(accepted(self.estimator, M)), np.int64)

    def posteriors(self, M: Matrix) -> Floats:
        """Class probabilities, array of shape (n_rows, n_classes of the model). From
        `predict_proba` of the learner; else the softmax of its decision values; else 1 for the
        predicted class."""
        if self.estimator is None or not M.shape[0]:
            return np.tile(self.prior, (M.shape[0], 1))
        if hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(accepted(self.estimator, M)), float)
        values = self._values(M)
        return np.eye(len(self.classes))[self.votes(M)] if values is None else softmax(values)

    def decisions(self, M: Matrix) -> Floats:
        """What the learner decides by: one value a row for two classes, else one for each class.
        Its decision function if it has one of this form, else the logarithms of the
        probabilities."""
        values = self._values(M)
        if values is not None:
            return values
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.posteriors(M))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def _values(self, M: Matrix) -> Floats | None:
        """The learner's decision function, where it has one with a value for each class. Of a
        support vector machine it may have one for each pair."""
        if not hasattr(self.estimator, "decision_function") or not M.shape[0]:
            return None
        shape = _named(self.estimator, "decision_function_shape").values()
        if len(self.classes) > 2 and "ovo" in shape:
            return None
        return np.asarray(self.estimator.decision_function(accepted(self.estimator, M)), float)


def learn(
    X: Sequences, y: NDArray[Any], prior: Floats, recipe: Recipe, seed: int
) -> tuple[PairModel, str | None]:
    """Mine the sequences, select, and fit the learner; also returns a warning, or None. `prior` is
    that of the classes in order; the learner's target is their numbers."""
    classes, codes = np.unique(y, return_inverse=True)
    model, most = recipe.model, recipe.model.max_features
    found = _found(X, y, recipe)
    kept = found if model.significance is None else significant(found, model.significance)
    ordered = by_class_in_turn(kept, model.measure)
    n_pool = POOL * most if most is not None and recipe.validated else most
    pool, bits = distinct(ordered, X, n_pool)
    patterns, columns = lean(pool[:most]), bits[:, :most]
    if not len(patterns):
        nothing = np.empty(0, np.int64)
        return PairModel(classes, patterns, nothing, None, prior), warning_of(found, classes)
    learner, selector, selected = recipe.learner, None, np.arange(len(patterns))
    if recipe.selector is not None:
        selector = _select(recipe, bits.astype(np.uint8), codes, seed)
        if selector is None:
            learner = recipe.rival
        else:
            selected = np.flatnonzero(selector.get_support())
    if not len(selected):
        return PairModel(classes, patterns, selected, None, prior, selector), None
    learner = seeded(clone(learner), seed)
    learner.fit(accepted(learner, columns[:, selected]), codes)
    return PairModel(classes, patterns, selected, learner, prior, selector), None


def _found(X: Sequences, y: NDArray[Any], recipe: Recipe) -> PatternSet:
    """What the search finds. A memory keeps it before the confidence is asked for."""
    model = recipe.model
    search, least = SearchSettings.of_estimator(model.bias_, model), model.min_confidence
    # `min_cover` chooses from what is confident.
    now = least if search.min_cover else None
    mined = recipe.memory.cache(_mined, ignore=["checkpoint", "n_jobs"])
    folder = inside(recipe.checkpoint, MINING)
    found: PatternSet
    found, bits = mined(__version__, X, y, model.bias_, search, now, folder, recipe.n_jobs)
    found.kept_coverage = KeptCoverage.of_rows(bits, found.rows, len(found.trie), len(X))
    if least == now:
        return found
    return answer(found, X, Filters(min_confidence=as_share("min_confidence", least)))


# Cached by `memory`; the version is part of the key, so that versions do not share results.
def _mined(
    version: str,
    X: Sequences,
    y: NDArray[Any],
    bias: Bias,
    search: SearchSettings,
    min_confidence: float | None,
    checkpoint: str | None,
    n_jobs: int | None,
) -> tuple[PatternSet, NDArray[np.uint64]]:
    """What is mined, and what it covers, which a pickled set has not."""
    settings = search.arguments() | {"min_confidence": min_confidence}
    how: dict[str, Any] = {"n_jobs": n_jobs, "checkpoint": checkpoint, "keep_coverage": True}
    found = mine(X, y, bias, **settings, **how)
    assert found.kept_coverage is not None
    return found, found.kept_coverage.words(found.rows)


def _select(recipe: Recipe, M: NDArray[np.uint8], y: NDArray[np.int64], seed: int) -> Any:
    """The selector, fitted; None where the rival is better with all columns."""
    selector = clone(recipe.selector).set_params(random_state=seed)
    most = recipe.model.max_features
    if recipe.validated:
        how = {"measure": recipe.model.measure, "most": most}
        with size_journal(recipe.checkpoint, selector, recipe.rival, M, y, how) as journal:
            validation = Validation(selector, M, y, seed=seed, journal=journal, **how)
            size = validation.best_size()
            selector.set_params(n_features=size)
            if recipe.rival is not None and validation.better_on_all(recipe.rival, size):
                return None
    folder = inside(recipe.checkpoint, SELECTION)
    selector.set_params(checkpoint=folder).fit(M[:, :most], y)
    return selector.set_params(checkpoint=None)


def seeded(learner: Any, seed: int) -> Any:
    """The learner with a seed wherever it or a part of it takes one and has none."""
    free = [name for name, value in _named(learner, "random_state").items() if value is None]
    return learner.set_params(**dict.fromkeys(free, seed)) if free else learner


def _named(learner: Any, name: str) -> dict[str, Any]:
    """The parameters of this name, those of its parts included."""
    if not hasattr(learner, "get_params"):
        return {}
    every = learner.get_params()
    return {key: value for key, value in every.items() if key.split("__")[-1] == name}


def accepted(learner: Any, M: Matrix) -> Matrix:
    """The matrix as float64, sparse where the learner takes that."""
    if get_tags(learner).input_tags.sparse:
        return sparse.csr_array(M, dtype=np.float64)
    return M.toarray() if sparse.issparse(M) else np.asarray(M, np.float64)


def softmax(decisions: Floats) -> Floats:
    """Decision values as probabilities: the logistic function for two classes, else softmax."""
    scores = np.column_stack([np.zeros(len(decisions)), decisions])
    if decisions.ndim > 1:
        scores = decisions
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def warning_of(found: PatternSet, classes: NDArray[Any]) -> str:
    """What to say where no pattern tells the classes apart."""
    names = " and ".join(map(str, classes.tolist())) if len(classes) == 2 else "all classes"
    if len(found):
        return f"every pattern found for {names} covers all sequences or none: the prior decides"
    return f"{nothing_found(found, f' for {names}')}\nthe prior decides"
