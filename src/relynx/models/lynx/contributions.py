"""What every pattern adds to the score of every class, for additive learners.

Naive Bayes and linear learners score a class by a sum with one term for each pattern, so that their
decisions can be decomposed exactly. Other learners cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from relynx.arrays import Floats
from relynx.features.naive_bayes import PatternNB, score_terms
from relynx.models.lynx.pair_model import PairModel, accepted

SCALERS = (MaxAbsScaler, MinMaxScaler, StandardScaler)  # each column by itself
CLOSE = 1e-9
MOST_PROBES = 200


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of the scores of a model: one row a selected pattern, one column a class.

    The score of class j is `prior[j]` plus, for every pattern i, `present[i, j]` where it covers
    the sequence and `absent[i, j]` where it does not. For naive Bayes these are `ln p_ij`,
    `ln(1 - p_ij)` and `ln prior_j`; for a linear learner the coefficient, 0 and the intercept, for
    two classes half of each with either sign, so that the difference of the two scores is the
    decision value. Minus infinity, of naive Bayes without smoothing, rules a class out; `*_part`
    have `-ln(n_j)` there, which decides between classes that are ruled out equally often.
    """

    classes: NDArray[Any]
    prior: Floats
    present: Floats
    absent: Floats
    present_part: Floats
    absent_part: Floats

    def terms(self, covered: NDArray[np.bool_]) -> Floats:
        """What each pattern adds for one sequence, given which patterns cover it."""
        return np.where(covered[:, None], self.present, self.absent)

    def parts(self, covered: NDArray[np.bool_]) -> Floats:
        """The same with the finite part of what is infinite."""
        return np.where(covered[:, None], self.present_part, self.absent_part)

    def scaled(self, value: float) -> Weights:
        """The weights for a sequence in which a pattern that is present has this value."""
        if value == 1:
            return self
        return replace(self, present=value * self.present, present_part=value * self.present_part)

    def scores(self, covered: NDArray[np.bool_]) -> Floats:
        """The scores of the classes for one sequence; minus infinity for those ruled out. Where
        every class is ruled out, those that are so least often keep the finite part."""
        terms = self.terms(covered)
        infinite = np.isinf(terms).sum(axis=0)
        scores: Floats = self.parts(covered).sum(axis=0) + self.prior
        scores[infinite > infinite.min(initial=len(terms))] = -np.inf
        return scores


def weights(model: PairModel) -> Weights | None:
    """The weights of a model; None if its learner is not additive."""
    learner, classes = model.estimator, model.classes
    n = len(model.selected)
    if learner is None:
        nothing = np.empty((0, len(classes)))
        return Weights(classes, np.log(model.prior), nothing, nothing, nothing, nothing)
    off, on = np.zeros((1, n)), np.ones((1, n))  # a pattern that is absent, and one that is present
    if isinstance(learner, Pipeline):
        for _, step in learner.steps[:-1]:
            if step not in (None, "passthrough"):
                if type(step) not in SCALERS:
                    return None
                off, on = step.transform(off), step.transform(on)
        learner = learner.steps[-1][1]
    if type(learner) is PatternNB:
        return _of_pattern_nb(learner, classes, off[0], on[0])
    if type(learner) is BernoulliNB:
        return _of_bernoulli(learner, classes, off[0], on[0])
    return _of_linear(learner, classes, off[0], on[0])


def _of_pattern_nb(learner: PatternNB, classes: NDArray[Any], off: Floats, on: Floats) -> Weights:
    found = score_terms(learner.feature_count_, learner.class_count_, float(learner.smoothing))
    threshold = learner.threshold or 0.0
    parts = found.present.T, found.absent.T
    terms = (
        np.where(found.present_infinite.T, -np.inf, parts[0]),
        np.where(found.absent_infinite.T, -np.inf, parts[1]),
    )
    with np.errstate(divide="ignore"):
        prior = np.log(learner.class_prior_)
    has = [(values > threshold)[:, None] for values in (on, off)]
    return Weights(
        classes,
        prior,
        *(np.where(one, *terms) for one in has),
        *(np.where(one, *parts) for one in has),
    )


def _of_bernoulli(
    learner: BernoulliNB, classes: NDArray[Any], off: Floats, on: Floats
) -> Weights | None:
    if learner.binarize is not None:
        on, off = (np.where(values > learner.binarize, 1.0, 0.0) for values in (on, off))
    present = learner.feature_log_prob_.T
    with np.errstate(divide="ignore"):
        absent = np.log(1 - np.exp(present))
    if not np.isfinite(present).all() or not np.isfinite(absent).all():
        return None  # the learner itself says NaN then
    terms = [absent + values[:, None] * (present - absent) for values in (on, off)]
    return Weights(classes, learner.class_log_prior_, *terms, *terms)


def _of_linear(learner: Any, classes: NDArray[Any], off: Floats, on: Floats) -> Weights | None:
    """Those of a learner with coefficients, if its decision values are what they say."""
    if not all(hasattr(learner, name) for name in ("coef_", "intercept_", "decision_function")):
        return None
    coef = learner.coef_
    coef = np.atleast_2d(coef.toarray() if sparse.issparse(coef) else np.asarray(coef, float))
    intercept = np.atleast_1d(np.asarray(learner.intercept_, float))
    n_rows = 1 if len(classes) == 2 else len(classes)
    if coef.shape != (n_rows, len(on)) or intercept.shape not in ((n_rows,), (1,)):
        return None
    intercept = np.broadcast_to(intercept, n_rows)
    # The first columns one by one, and all of them at once.
    probes = np.vstack([off, on, np.where(np.eye(min(len(on), MOST_PROBES), len(on)), on, off)])
    decided = np.asarray(learner.decision_function(accepted(learner, probes)), float)
    meant = probes @ coef.T + intercept
    if not np.allclose(decided.reshape(meant.shape), meant, rtol=CLOSE, atol=CLOSE):
        return None  # the coefficients of something else, as of the pairs of an SVC
    present, prior = (coef * (on - off)).T, coef @ off + intercept
    if n_rows == 1:
        halves = np.array([-0.5, 0.5])
        present, prior = present * halves, prior * halves
    absent = np.zeros_like(present)
    return Weights(classes, prior, present, absent, present, absent)


def learner_name(model: PairModel) -> str | None:
    """The class of the learner, in a pipeline of its last step; None where the prior decides."""
    learner = model.estimator
    if isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    return None if learner is None else type(learner).__name__


def is_softmax(model: PairModel) -> bool:
    """Whether the class probabilities of a model are the softmax of its scores."""
    own = ("PatternNB", "BernoulliNB", "LogisticRegression", None)
    return learner_name(model) in own or not hasattr(model.estimator, "predict_proba")
