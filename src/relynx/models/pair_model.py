"""One model of the Lynx classifier: patterns mined for some classes, and a learner on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.features.candidates import by_class_in_turn, distinct, significant
from relynx.features.subset_size import best_size
from relynx.features.vectorizer import nothing_found
from relynx.mining.pattern_set import PatternSet
from relynx.mining.search import mine

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array or a sparse matrix


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is learnt: settings of the search, and the two estimators on its columns.

    `selector` is None without selection; `validated` says that the number of patterns is found by
    cross-validation.
    """

    bias: Bias
    search: Mapping[str, Any]
    significance: float | None
    max_features: int | None
    measure: str
    selector: Any
    validated: bool
    learner: Any


@dataclass(frozen=True, slots=True)
class PairModel:
    """A model of two classes, or of all of them.

    Attributes
    ----------
    classes
        The classes that it tells apart.
    patterns
        What was mined and could be selected, with supports in the sequences of these classes.
    selected
        Which of the patterns were selected, as numbers.
    estimator
        The learner on the columns of the selected patterns; None where there are none, and the
        prior decides alone.
    prior
        The share of each class.
    selector
        The fitted `GraspSelector`; None without selection.
    """

    classes: NDArray[Any]
    patterns: PatternSet
    selected: NDArray[np.int64]
    estimator: Any
    prior: Floats
    selector: Any = None

    def votes(self, M: Matrix) -> NDArray[np.int64]:
        """The number of the class that each row goes to, among those of the model."""
        if self.estimator is None:
            return np.full(M.shape[0], self.prior.argmax(), np.int64)
        predicted = self.estimator.predict(accepted(self.estimator, M))
        return np.asarray(predicted, np.int64)

    def posteriors(self, M: Matrix) -> Floats:
        """The share that the model gives each of its classes, row by row.

        From `predict_proba` of the learner; where it has none, its decision values squashed into
        shares; where it has neither, all to the class that it predicts.
        """
        if self.estimator is None:
            return np.tile(self.prior, (M.shape[0], 1))
        if hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(accepted(self.estimator, M)), float)
        if hasattr(self.estimator, "decision_function"):
            return shares(self.decisions(M))
        return np.eye(len(self.classes))[self.votes(M)]

    def decisions(self, M: Matrix) -> Floats:
        """What the learner decides by: one value a row for two classes, else one for each class."""
        if hasattr(self.estimator, "decision_function"):
            return np.asarray(self.estimator.decision_function(accepted(self.estimator, M)), float)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.posteriors(M))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs


def learn(
    X: Sequences, y: NDArray[Any], prior: Floats, recipe: Recipe, seed: int
) -> tuple[PairModel, str | None]:
    """Mine the sequences, select, and fit the learner; and what there is to warn of.

    `prior` is that of the classes in order; the learner's target is their numbers.
    """
    classes, codes = np.unique(y, return_inverse=True)
    found = mine(X, y, recipe.bias, **recipe.search)
    kept = found if recipe.significance is None else significant(found, recipe.significance)
    patterns, columns = distinct(by_class_in_turn(kept, recipe.measure), X, recipe.max_features)
    if not len(patterns):
        nothing = np.empty(0, np.int64)
        return PairModel(classes, patterns, nothing, None, prior), _warning(found, classes)
    selector, selected = None, np.arange(len(patterns))
    if recipe.selector is not None:
        selector = _select(recipe, columns.astype(np.uint8), codes, seed)
        selected = np.flatnonzero(selector.get_support())
    if not len(selected):
        return PairModel(classes, patterns, selected, None, prior, selector), None
    learner = clone(recipe.learner)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=seed)
    learner.fit(accepted(learner, columns[:, selected]), codes)
    return PairModel(classes, patterns, selected, learner, prior, selector), None


def _select(recipe: Recipe, M: NDArray[np.uint8], y: NDArray[np.int64], seed: int) -> Any:
    """The selector, fitted."""
    selector = clone(recipe.selector).set_params(random_state=seed)
    if recipe.validated:
        selector.set_params(n_features=best_size(selector, M, y, seed=seed))
    return selector.fit(M, y)


def accepted(learner: Any, M: Matrix) -> Matrix:
    """The matrix as float64, sparse where the learner takes that."""
    if get_tags(learner).input_tags.sparse:
        return sparse.csr_array(M, dtype=np.float64)
    return M.toarray() if sparse.issparse(M) else np.asarray(M, np.float64)


def shares(decisions: Floats) -> Floats:
    """Decision values as shares that sum to 1: the logistic function, or softmax."""
    scores = np.column_stack([np.zeros(len(decisions)), decisions])
    if decisions.ndim > 1:
        scores = decisions
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    quotient: Floats = powers / powers.sum(axis=1, keepdims=True)
    return quotient


def _warning(found: PatternSet, classes: NDArray[Any]) -> str:
    names = " and ".join(map(str, classes.tolist())) if len(classes) == 2 else "all classes"
    if len(found):
        return f"every pattern found for {names} covers all sequences or none: the prior decides"
    return f"{nothing_found(found, f' for {names}')}\nthe prior decides"
