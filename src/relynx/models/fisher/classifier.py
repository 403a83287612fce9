"""Fisher scores of logical hidden Markov models, and a classifier on them.

The score of a sequence is the gradient of its log probability by the parameters of a model
(Jaakkola and Haussler 1999; for logical sequences Kersting and Gärtner, ECML 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats, Longs
from relynx.bias.model_file import KNOWLEDGE
from relynx.data.class_cuts import cut_by_class
from relynx.data.schema import Schema
from relynx.data.sequences import Sequences, counted
from relynx.errors import InputError
from relynx.features.vectorizer import as_sequences
from relynx.logic.datalog import Background
from relynx.models import checks as ck
from relynx.models.fisher import pair_svm as svm
from relynx.models.lohmm.estimator import READER, RULES, LoHMMEstimator, learn, models
from relynx.models.lohmm.inference.ground import Grounding
from relynx.models.lohmm.model import LoHMM
from relynx.storage import fields as fd
from relynx.storage.parts import Part, plain

MOST_PAIRS = 45  # that are printed: those of ten classes
SHOWN = 3  # weights of either side of a pair that are printed
STILL = 1e-9  # a column that varies by less is dropped: what is left of it is rounding
VALIDATED = "validated"


def _positive_or(word: str) -> ck.Rule:
    hint = f"give a number above 0, or {word!r}"
    return lambda value: ck.is_positive(value) or (isinstance(value, str) and value == word), hint


SCORE_RULES: Mapping[str, ck.Rule] = {
    **RULES,
    "models": ck.one_of(("per_class", "single")),
    "coordinates": ck.one_of(("softmax", "raw")),
}
SVM_RULES: Mapping[str, ck.Rule] = {
    **SCORE_RULES,
    "kernel": ck.one_of(("linear", "rbf")),
    "standardise": ck.SWITCH,
    "normalise": ck.SWITCH,
    "gamma": _positive_or("scale"),
    "C": _positive_or(VALIDATED),
}


def fisher_scores(model: LoHMM, sequences: Any, coordinates: str = "softmax") -> Floats:
    """The gradient of the log probability of each sequence, one column a parameter.

    `raw` is the gradient by the probabilities themselves, expected uses divided by the probability.
    `softmax` is that by the logits of each distribution, what the uses are above those that the
    model would have at the same places; the columns of a distribution sum to 0. A sequence that the
    model cannot show has zeros. Sequences are lists of ground atoms, or what `model.ground` made of
    them.
    """
    counts, _ = model.expected_counts(sequences)
    parameters = model.parameters
    values, groups = parameters.values, parameters.groups
    if coordinates == "raw":
        return np.asarray(np.divide(counts, values, out=np.zeros_like(counts), where=values > 0))
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    totals = np.add.reduceat(counts[:, order], starts, axis=1)
    return np.asarray(counts - values * totals[:, groups])


@dataclass(eq=False, repr=False, kw_only=True)
class FisherScores(TransformerMixin, LoHMMEstimator):  # type: ignore[misc]
    """Turn sequences into gradients of their log probability under fitted models.

    `fit` learns a logical hidden Markov model for each class, as `LoHMMClassifier` does, or one for
    all sequences. A row has one column for each parameter of each model.

    Parameters
    ----------
    structure, bias, dimension, n_hidden, blocks, max_kinds, selection, end, max_iter, tol
        Of the models; see `LoHMMClassifier`. So are `pseudo_count`, `selection_pseudo_count`,
        `n_jobs` and `random_state`.
    models
        `per_class` for a model of each class, `single` for one of all sequences, without y.
    coordinates
        `softmax` or `raw`; see `fisher_scores`.

    Attributes
    ----------
    models_ : list of LoHMM
        The models.
    classes_ : ndarray or None
        Their classes; None with a single model.
    reader_ : Reader
        How sequences become observations.
    background_ : Background or None
        The background rules of the training sequences, which others get that have none.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X, with all cuts.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["b", "b"]], ["up", "down"])
    >>> scores = rx.FisherScores(blocks=1, end=False).fit(X, y)
    >>> scores.transform(X).shape
    (2, 24)
    >>> scores.get_feature_names_out()[0]
    'down: in_a <- start'
    """

    STORED: ClassVar[fd.Fields] = {  # in a model file
        "classes_": fd.none_or(fd.labels("FisherScores")),
        "models_": models(lambda model: 1 if model.classes_ is None else len(model.classes_)),
        "reader_": READER,
        **KNOWLEDGE,
    }

    models: str = "per_class"
    coordinates: str = "softmax"

    def fit(self, X: object, y: Iterable[object] | None = None) -> FisherScores:
        """Learn the models.

        Parameters
        ----------
        X
            `Sequences`, or lists as `from_lists` takes them.
        y
            The classes; without them those of X. A single model needs none.
        """
        self._fit(as_sequences(X), y)
        return self

    def transform(self, X: object) -> Floats:
        """The scores, one row a sequence, dense."""
        X = ck.sequences_for(self, X)
        return self._scores(self.models_[0].ground(self.reader_.rows(X, self.models_[0])))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The parameters, after the class of their model; `input_features` is ignored."""
        check_is_fitted(self)
        names = self.models_[0].parameters.names
        if self.classes_ is None:
            return np.array(names, dtype=object)
        classes = self.classes_.tolist()
        return np.array([f"{c}: {name}" for c in classes for name in names], dtype=object)

    def _fit(self, X: Sequences, y: Iterable[object] | None) -> Grounding:
        """Learn the models; the ground tables of the training sequences."""
        ck.check_parameters(self, SCORE_RULES)
        if not len(X):
            raise InputError("there are no sequences", hint="give some to learn from")
        per_class = self.models == "per_class"
        labels = ck.checked_labels(X, y) if per_class or y is not None else None
        X = cut_by_class(X, labels).compact()
        self.background_, self.reading_ = X.background, X.reading
        self.classes_, codes = None, np.zeros(len(X), np.int64)
        if labels is not None and per_class:
            self.classes_, codes = np.unique(labels, return_inverse=True)
        seeds = check_random_state(self.random_state)
        self.reader_, self.models_, grounding = learn(self, X, codes, seeds)
        return grounding

    def _scores(self, grounding: Grounding) -> Floats:
        n = len(self.models_[0].parameters)
        out = np.empty((len(grounding.sizes), len(self.models_) * n))
        for c, model in enumerate(self.models_):
            out[:, c * n : (c + 1) * n] = fisher_scores(model, grounding, self.coordinates)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _scores_for(model: Any, random_state: Any) -> FisherScores:
    """What makes scores with the parameters of a classifier."""
    given = {name: getattr(model, name) for name in FisherScores().get_params(deep=False)}
    return FisherScores(**given | {"random_state": random_state})


def _read_scores(part: Part, key: str, model: Any) -> FisherScores:
    scores, inner = _scores_for(model, model.random_state), part.part(key)
    fd.restore(scores, inner, FisherScores.STORED)
    inner.end()
    return scores


def _read_columns(part: Part, key: str, model: Any) -> Longs:
    fitted = model.scores_.models_
    return part.numbers(key, (None,), 0, len(fitted) * len(fitted[0].parameters) - 1)


def _read_scale(part: Part, key: str, model: Any) -> Floats:
    scale = part.array(key, np.float64, model.columns_.shape)
    if (scale <= 0).any():
        raise part.wrong(key, "holds a number that is not above 0")
    return scale


def _read_machine(part: Part, key: str, model: Any) -> svm.PairSVM:
    linear, n_columns = model.kernel == "linear", len(model.columns_)
    return svm.machine_of(part.part(key), len(model.classes_), n_columns, linear=linear)


@dataclass(eq=False, repr=False, kw_only=True)
class FisherKernelClassifier(ClassifierMixin, LoHMMEstimator):  # type: ignore[misc]
    """Classify sequences by support vector machines on their Fisher scores.

    The scores are those of `FisherScores`; a machine for each pair of classes learns from them, and
    the machines vote.

    Parameters
    ----------
    structure, bias, dimension, n_hidden, blocks, max_kinds, selection, end, max_iter, tol
        Of the models; see `LoHMMClassifier`. So are `pseudo_count`, `selection_pseudo_count` and
        `n_jobs`.
    models, coordinates
        Of the scores; see `FisherScores`.
    standardise
        Whether each column of the scores is brought to mean 0 and deviation 1 on the training
        sequences. Rare parameters then weigh as much as frequent ones.
    normalise
        Whether each row of the scores is divided by its length, so that long sequences weigh no
        more than short ones.
    kernel, gamma
        `linear`, or `rbf` with a gamma, which may be `scale` as in scikit-learn.
    C
        The cost of an error: a number, or `validated` for the best of 2^-5, ..., 2^10 in five-fold
        cross-validation on the scores of the training sequences.
    random_state
        Seed of the cross-validation, and of the models where they need one.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    scores_ : FisherScores
        What turns sequences into scores, with its `models_`.
    columns_ : ndarray
        The numbers of the columns that vary; the others are not used.
    mean_, scale_ : ndarray
        What is taken from each of them, and what it is then divided by.
    C_ : float
        The cost that was used.
    machine_ : PairSVM
        The machines. `print(classifier)` shows their largest weights.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "a"], ["a", "a", "b"]] * 9, ["up", "down"] * 9)
    >>> model = rx.FisherKernelClassifier(random_state=0).fit(X, y)
    >>> model.predict([["a", "b", "a"], ["a", "a", "b"]]).tolist()
    ['up', 'down']
    """

    STORED: ClassVar[fd.Fields] = {  # in a model file
        "classes_": fd.labels("FisherKernelClassifier", least=2),
        "scores_": fd.Field(
            lambda scores, _: fd.stored_state(scores, FisherScores.STORED), _read_scores
        ),
        "columns_": fd.Field(
            lambda columns, name: plain(columns.astype(np.int64), name), _read_columns
        ),
        "mean_": fd.array(np.float64, lambda model: model.columns_.shape),
        "scale_": fd.Field(plain, _read_scale),
        "C_": fd.NUMBER,
        "machine_": fd.Field(lambda machine, _: svm.machine_state(machine), _read_machine),
    }

    models: str = "per_class"
    coordinates: str = "softmax"
    standardise: bool = False
    normalise: bool = True
    kernel: str = "linear"
    gamma: float | str = "scale"
    C: float | str = VALIDATED

    def fit(self, X: object, y: Iterable[object] | None = None) -> FisherKernelClassifier:
        """Learn the models, then the machines on their scores.

        Parameters
        ----------
        X
            `Sequences`, or lists as `from_lists` takes them.
        y
            The classes; without them those of X.
        """
        ck.check_parameters(self, SVM_RULES)
        X = as_sequences(X)
        labels = ck.checked_labels(X, y)
        self.classes_, codes = ck.coded_classes(labels)
        seeds = check_random_state(self.random_state)
        self.scores_ = _scores_for(self, seeds)
        scores = self.scores_._scores(self.scores_._fit(X, labels))
        self.scores_.random_state = self.random_state
        self._learn_columns(scores)
        U = self._rows(scores)
        del scores  # they may be large
        gamma = None
        if self.kernel == "rbf":
            gamma = svm.scaled_gamma(U) if self.gamma == "scale" else float(self.gamma)
        K = svm.kernel(U, gamma)
        self.C_ = svm.validated_C(K, codes, seeds) if self.C == VALIDATED else float(self.C)
        self.machine_: svm.PairSVM = svm.learn_pairs(U, K, codes, C=self.C_, gamma=gamma)
        return self

    def _learn_columns(self, scores: Floats) -> None:
        deviation = scores.std(axis=0)
        self.columns_ = np.flatnonzero(deviation > STILL)
        n = len(self.columns_)
        self.mean_, self.scale_ = np.zeros(n), np.ones(n)
        if self.standardise:
            self.mean_ = scores.mean(axis=0)[self.columns_]
            self.scale_ = deviation[self.columns_]

    def _rows(self, scores: Floats) -> Floats:
        """The scores as the machines see them."""
        U = scores[:, self.columns_]
        U -= self.mean_
        U /= self.scale_
        if self.normalise:
            lengths = np.sqrt((U * U).sum(axis=1, keepdims=True))
            U /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray(U)

    @property
    def background_(self) -> Background | None:
        """The background rules of the training sequences."""
        return self.scores_.background_

    @property
    def reading_(self) -> Schema | None:
        """How the table of events was read, where `from_events` made X, with all cuts."""
        check_is_fitted(self)
        return self.scores_.reading_

    def predict(self, X: object) -> NDArray[Any]:
        """The class of each sequence: the most votes, then the larger values behind them."""
        decisions = self.decision_function(X)
        best = decisions.argmax(axis=1) if decisions.ndim > 1 else (decisions > 0).astype(int)
        return np.asarray(self.classes_[best])

    def decision_function(self, X: object) -> Floats:
        """For each class its votes, and less than half a vote for the values behind them.

        For two classes the value of their machine, positive for the second.
        """
        check_is_fitted(self)
        return self.machine_.decisions(self._rows(self.scores_.transform(X)))

    def to_text(self, top: int = SHOWN) -> str:
        """The scores that tell each pair of classes apart: the `top` largest weights each way.

        Of more than ten classes the first pairs are shown. The machines of the RBF kernel have no
        weights; of them only the size is told.
        """
        check_is_fitted(self)
        machine, model = self.machine_, self.scores_.models_[0]
        n_models, n_parameters = len(self.scores_.models_), len(model.parameters)
        lines = [
            f"Fisher scores: {counted(n_models, 'model')} of {n_parameters:,} parameters each, "
            f"{len(self.columns_):,} columns that vary; {self.kernel} kernel, C = {self.C_:g}"
        ]
        if machine.gamma is not None:
            lines.append(f"{len(machine.vectors):,} support vectors, gamma = {machine.gamma:g}")
            return "\n".join(lines)
        names = self.scores_.get_feature_names_out()[self.columns_]
        pairs = [*combinations(self.classes_.tolist(), 2)]
        for pair, (first, second) in enumerate(pairs[:MOST_PAIRS]):
            weights = machine.direction(pair)
            for name, toward in ((first, -weights), (second, weights)):
                lines += ["", f"{name}, and not {second if name is first else first}"]
                best = [i for i in np.argsort(-toward, kind="stable")[:top] if toward[i] > 0]
                lines += [f"  {toward[i]:.3f} * {names[i]}" for i in best]
        if len(pairs) > MOST_PAIRS:
            lines += ["", f"and {counted(len(pairs) - MOST_PAIRS, 'more pair')}"]
        return "\n".join(lines)
