"""Naive Bayes on coverage by patterns: the discriminant function of the paper.

`p_ij = (supp_j(p_i) + a) / (n_j + 2a)` estimates the probability that pattern i covers a sequence
of class j. With a = 0 it may be 0 or 1 and its logarithm infinite. Such terms are counted
separately from the finite sum, so that every result is the limit for a towards 0.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from relynx.arrays import Bools, Floats
from relynx.errors import DataError, InputError, counted
from relynx.storage.fields import FEATURES_IN, Fields, array, labels

Labels: TypeAlias = NDArray[Any]
Matrix: TypeAlias = Any  # a dense array or a sparse matrix

TIE = 2e-9  # scores nearer than this are equal: the noise of sums of logarithms is below it
PRIORS = ("empirical", "uniform")


class Terms(NamedTuple):
    """What a pattern adds to the score of each class when present and when absent. `*_infinite`
    marks the terms that go to minus infinity with a towards 0. They behave as ln(a) - ln(n_j): the
    finite part is then -ln(n_j), and ln(a) is what is counted."""

    present: Floats
    absent: Floats
    present_infinite: Bools
    absent_infinite: Bools


def score_terms(supports: Floats, sizes: Floats, smoothing: float) -> Terms:
    """The terms of all patterns (columns) for all classes (rows), from how many are covered."""
    half = sizes[:, None] / 2 + smoothing  # twice this may be above all floats
    empty = half == 0  # no sequence and no smoothing: one half, the limit of a / 2a
    half = np.where(empty, 0.5, half)
    has = np.where(empty, 0.5, supports + smoothing)
    lacks = np.where(empty, 0.5, sizes[:, None] - supports + smoothing)
    # A sum of weights may miss the size of its class by a rounding error.
    lacks[lacks < 2e-12 * half] = 0 if smoothing == 0 else smoothing
    never, always = has == 0, lacks == 0
    # The logarithm of a quotient would be infinite where a small smoothing makes the quotient 0.
    log_total = np.log(half) + np.log(2.0)
    return Terms(
        np.log(np.where(never, 1.0, has)) - log_total,
        np.log(np.where(always, 1.0, lacks)) - log_total,
        never,
        always,
    )


def class_prior(prior: str | ArrayLike, sizes: Floats) -> Floats:
    """The prior of each class: its relative frequency, uniform, or as given."""
    if isinstance(prior, str):
        if prior == "empirical":
            return np.asarray(sizes / sizes.sum())
        if prior == "uniform":
            return np.full(len(sizes), 1 / len(sizes))
        hint = f"one of {', '.join(PRIORS)}, or an array"
        raise InputError(f"unknown prior '{prior}'", hint=hint)
    given = np.asarray(prior, dtype=np.float64)
    if given.shape != sizes.shape:
        what = f"the prior has shape {given.shape}, but there are {len(sizes)} classes"
        raise InputError(what, hint="give one number for each class, in the order of classes_")
    if not (given > 0).all() or not np.isclose(given.sum(), 1.0):
        what = f"the prior {given.tolist()} is no distribution over the classes"
        raise InputError(what, hint="all must be above 0, and their sum 1")
    return np.asarray(given / given.sum())


def check_smoothing(smoothing: Any) -> float:
    """The smoothing, if it is a number that is not below 0."""
    if not isinstance(smoothing, float | int | np.number) or not 0 <= smoothing < np.inf:
        hint = "a number not below 0; 0 leaves the raw frequencies of the paper"
        raise InputError(f"smoothing is {smoothing!r}", hint=hint)
    return float(smoothing)


def present(X: Matrix, threshold: float | None) -> Matrix:
    """Where a pattern is present, as 0/1: float64 if sparse, uint8 if dense. With no threshold
    every value must be 0 or 1."""
    if threshold is None:
        _check_binary(X)
        threshold = 0.0
    if not sp.issparse(X):
        return np.greater(X, threshold).astype(np.uint8)
    if threshold < 0:
        what = f"threshold {threshold} would make every zero of a sparse matrix present"
        raise InputError(what, hint="use a threshold not below 0, or a dense matrix")
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.data = (X.data > threshold).astype(np.float64)
    X.eliminate_zeros()
    return X


def _check_binary(X: Matrix) -> None:
    values = X.tocoo() if sp.issparse(X) else X
    wrong = values.data if sp.issparse(X) else values
    at = np.argwhere((wrong != 0) & (wrong != 1))
    if len(at):
        first = tuple(at[0])
        row, column = (values.row[first], values.col[first]) if sp.issparse(X) else first
        what = f"row {row}, column {column} is {wrong[first].item()!r}, neither 0 nor 1"
        hint = "give 0/1 columns, or a threshold above which a value counts as present"
        raise DataError(what, hint=hint)


def _shape(model: Any) -> tuple[int, int]:
    return len(model.classes_), model.n_features_in_


_ROW = array(np.float64, lambda model: (len(model.classes_),))
_TABLE = array(np.float64, _shape)


@dataclass(eq=False, repr=False)
class PatternNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes on 0/1 columns, one for each pattern, with weights that can be read.

    The score of class j is `g_j(x) = sum_i x_i alpha_ij + beta_0j`, where `alpha_ij` is
    `ln(p_ij / (1 - p_ij))` and `beta_0j` is `sum_i ln(1 - p_ij) + ln(prior_j)`. For a smoothing
    above 0 it is scikit-learn's BernoulliNB. Ties (scores nearer than 2e-9) go to the larger prior,
    then to the first class.

    Parameters
    ----------
    smoothing
        The `a` of `p_ij = (supp_ij + a) / (n_j + 2a)`. 0 gives the raw frequencies: a class with
        fewer terms of minus infinity wins, and the finite parts decide among equals. All answers
        are those of a smoothing that goes to 0; none is NaN.
    prior
        `"empirical"` (class frequencies), `"uniform"`, or one number for each class.
    threshold
        A value counts as present when it is greater. `None` wants 0 and 1 only, and says where
        there is something else.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        How many sequences, or how much weight, each class has.
    feature_count_ : array of shape (n_classes, n_features)
        How many of them have each pattern.
    class_prior_ : array of shape (n_classes,)
    feature_probability_ : array of shape (n_classes, n_features)
        The probabilities `p_ij`.
    alpha_ : array of shape (n_classes, n_features)
        What a present pattern adds; infinite for probabilities 0 and 1.
    beta_0_ : array of shape (n_classes,)
        The score of a sequence without any pattern.

    Examples
    --------
    >>> from relynx import PatternNB
    >>> model = PatternNB().fit([[1, 0], [1, 1], [0, 1]], ["yes", "yes", "no"])
    >>> model.predict([[1, 0]])
    array(['yes'], dtype='<U3')
    >>> model.alpha_.round(2)
    array([[-2.4 ,  2.4 ],
           [ 3.04,  0.  ]])
    """

    STORED: ClassVar[Fields] = {  # in a model file
        **FEATURES_IN,
        "classes_": labels("PatternNB"),
        "class_count_": _ROW,
        "class_prior_": _ROW,
        "beta_0_": array(np.float64, lambda model: (len(model.classes_),), infinite=True),
        "_start": _ROW,
        "_infinite_start": _ROW,
        "feature_count_": _TABLE,
        "feature_probability_": _TABLE,
        "alpha_": array(np.float64, _shape, infinite=True),
        "_slope": _TABLE,
        "_infinite_slope": _TABLE,
    }

    smoothing: float = 0.1
    _: KW_ONLY
    prior: str | ArrayLike = "empirical"
    threshold: float | None = 0.0

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PatternNB:
        """Count how many sequences of each class have each pattern.

        Parameters
        ----------
        X
            0/1 matrix of shape (n_sequences, n_patterns); dense or sparse.
        y
            The class of each sequence.
        sample_weight
            How often each sequence counts; 1 if not given.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        smoothing = check_smoothing(self.smoothing)
        X = present(X, self.threshold)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = checked_weights(sample_weight, len(codes), "row")
        if not weight.any():
            what = "sample_weight is zero for every row"
            raise InputError(what, hint="give some row a weight above 0")
        members = sp.csr_matrix(
            (weight, (codes, np.arange(len(codes)))), (len(self.classes_), len(codes))
        )
        counts = members @ X
        self.feature_count_ = np.asarray(counts.todense() if sp.issparse(counts) else counts, float)
        self.class_count_ = np.bincount(codes, weight, len(self.classes_)).astype(np.float64)
        self.class_prior_ = class_prior(self.prior, self.class_count_)
        self._set_weights(smoothing)
        return self

    def _set_weights(self, smoothing: float) -> None:
        """The finite parts and the counts of infinite terms, and the weights as they are read."""
        terms = score_terms(self.feature_count_, self.class_count_, smoothing)
        excluded = self.class_prior_ == 0  # its weight was 0: worse than any infinite terms
        log_prior = np.log(np.where(excluded, 1.0, self.class_prior_))
        self._slope = terms.present - terms.absent
        self._start = terms.absent.sum(axis=1) + log_prior
        infinite = terms.present_infinite.astype(float), terms.absent_infinite.astype(float)
        self._infinite_slope = infinite[0] - infinite[1]
        self._infinite_start = infinite[1].sum(axis=1) + excluded * (self._slope.shape[1] + 1)
        self.feature_probability_ = np.where(terms.present_infinite, 0.0, np.exp(terms.present))
        self.feature_probability_[terms.absent_infinite] = 1.0
        self.alpha_ = self._slope.copy()
        self.alpha_[terms.present_infinite] = -np.inf
        self.alpha_[terms.absent_infinite] = np.inf
        self.beta_0_ = np.where(self._infinite_start > 0, -np.inf, self._start)

    def _scores(self, X: Matrix) -> Floats:
        """The scores less the infinite terms that all classes have; -inf where a class has more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        X = present(X, self.threshold)
        if not sp.issparse(X):
            X = X.astype(np.float64)
        finite: Floats = np.asarray(X @ self._slope.T) + self._start
        if not self._infinite_slope.any() and not self._infinite_start.any():
            return finite
        infinite = np.rint(np.asarray(X @ self._infinite_slope.T) + self._infinite_start)
        finite[infinite > infinite.min(axis=1, keepdims=True)] = -np.inf
        return finite

    def decision_function(self, X: Matrix) -> Floats:
        """The scores `g_j`, shape (n_sequences, n_classes); for two classes second minus first.

        With smoothing 0 the infinite terms that every class has are left out.
        """
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Matrix) -> Labels:
        """The class of the highest score; ties go to the larger prior, then to the first class."""
        scores = self._scores(X)
        order = np.argsort(-self.class_prior_, kind="stable")
        best = scores[:, order] >= scores.max(axis=1, keepdims=True) - TIE
        return np.asarray(self.classes_[order[best.argmax(axis=1)]])

    def predict_log_proba(self, X: Matrix) -> Floats:
        """The log class probabilities, array of shape (n_sequences, n_classes)."""
        scores = self._scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Matrix) -> Floats:
        """The class probabilities, array of shape (n_sequences, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def checked_weights(given: Any, n: int, one: str = "sequence") -> Floats:
    """The weights of n sequences, or rows, 1 where none are given. Raises InputError."""
    if given is None:
        return np.ones(n)
    try:
        weights = np.asarray(given if hasattr(given, "__array__") else [*given], float)
    except (TypeError, ValueError):
        what = "sample_weight holds what is no number"
        raise InputError(what, hint=f"give one weight for each {one}") from None
    if weights.shape != (n,):
        is_flat = weights.ndim == 1
        many = counted(len(weights), "weight") if is_flat else f"the shape {weights.shape}"
        what = f"sample_weight has {many} for {counted(n, one)}"
        raise InputError(what, hint=f"give one weight for each {one}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        what = "sample_weight holds a negative or infinite weight"
        raise InputError(what, hint="give numbers from 0 on")
    return weights
