"""`LoHMMClassifier`: a logical hidden Markov model for each class, and the more likely one wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats
from relynx.bias.model_file import KNOWLEDGE
from relynx.models import checks as ck
from relynx.models.lohmm.estimator import READER, RULES, LoHMMEstimator, learn, models
from relynx.models.lohmm.inference.expectations import expected_counts
from relynx.storage.fields import Field, Fields, array, labels
from relynx.storage.parts import Part, plain

SHOWN = 5  # clauses of a class that are printed
LEAST = 1e-12  # of a probability of which the logarithm is taken
IMPOSSIBLE = -1e9  # stands for a log-likelihood of -inf


def _positive_shares(part: Part, key: str, model: Any) -> Floats:
    shares = part.array(key, np.float64, (len(model.classes_),))
    if (shares <= 0).any() or not np.isclose(shares.sum(), 1):
        raise part.wrong(key, "are no shares that sum to 1")
    return shares


@dataclass(eq=False, repr=False, kw_only=True)
class LoHMMClassifier(ClassifierMixin, LoHMMEstimator):  # type: ignore[misc]
    """Classify sequences by the likelihood of a logical hidden Markov model for each class.

    The facts of each single event are its observation (see `observations`). All classes share one
    structure; Baum-Welch fits its probabilities to the sequences of each class. A sequence is of
    the class with the largest product of likelihood and prior.

    Parameters
    ----------
    structure
        A `LoHMM`, or its text, whose observations are those of the sequences, and whose
        probabilities Baum-Welch begins with. None makes one from the training sequences: a state
        for each kind of observation, and transitions between all. Kinds and values that only
        other sequences have are then unlikely, and never impossible.
    bias
        Take only facts of the predicates that have a mode, derived ones too. Arguments that no mode
        has a constant for (`#` or `*`) do not make kinds. Its first dimension is the order to
        follow. None takes all stored facts.
    dimension
        The order to follow; None takes the one with the most links.
    n_hidden
        Hidden copies of each state. With 1 the states can be told from the observations.
    blocks
        Blocks of steps with their own transition probabilities: a number, for blocks with about
        the same number of training steps, or the first step of each, (1, 8, 20).
    max_kinds
        A kind is a predicate with the values of those arguments that have few; there are at most so
        many kinds.
    selection
        `argument` or `type`: what has a distribution of its values; see `LoHMM`.
    end
        Whether the end of a sequence is part of the model, so that lengths matter.
    max_iter, tol, pseudo_count, selection_pseudo_count
        Of Baum-Welch; see `LoHMM.fit`. A structure that is given has its own kinds, blocks and end.
    prior
        `empirical` for the class frequencies, `uniform`, or a weight for each class,
        `{"a": 2, "b": 1}`.
    n_jobs
        Classes fitted at a time. The models are the same for every value.
    random_state
        Seed of the parameters with which Baum-Welch begins, for more than one hidden copy.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    class_prior_ : ndarray
        The prior of each class.
    models_ : list of LoHMM
        The model of each class. `print(classifier)` shows what is special about each.
    uses_ : ndarray
        How often each parameter is used in the training sequences of each class, as expected.
    reader_ : Reader
        How sequences become observations.
    background_ : Background or None
        The background rules of the training sequences, which others get that have none.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X, with all cuts.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "a"], ["a", "a", "b"]] * 9, ["up", "down"] * 9)
    >>> model = rx.LoHMMClassifier().fit(X, y)
    >>> model.predict([["a", "b", "a"], ["a", "a", "b"]]).tolist()
    ['up', 'down']
    """

    STORED: ClassVar[Fields] = {  # in a model file
        "classes_": labels("LoHMMClassifier"),
        "class_prior_": Field(plain, _positive_shares),
        "models_": models(lambda model: len(model.classes_)),
        "uses_": array(
            np.float64, lambda model: (len(model.classes_), len(model.models_[0].parameters))
        ),
        "reader_": READER,
        **KNOWLEDGE,
    }

    prior: str | Mapping[object, float] = "empirical"

    def fit(self, X: object, y: Iterable[object] | None = None) -> LoHMMClassifier:
        """Learn the models.

        Parameters
        ----------
        X
            `Sequences`, or lists as `from_lists` takes them.
        y
            The classes; without them those of X.
        """
        ck.check_parameters(self, {**RULES, "prior": ck.PRIOR})
        X, _, self.classes_, codes = ck.training_data(X, y)
        weights = ck.class_weights(self.prior, self.classes_.tolist(), codes)
        self.class_prior_ = weights / weights.sum()
        seeds = check_random_state(self.random_state)
        self.reader_, self.models_, grounding = learn(self, X, codes, seeds)
        self.background_, self.reading_ = X.background, X.reading
        self.uses_ = np.concatenate(
            [
                expected_counts(grounding, model.parameters.values, (codes == c).astype(float))[0]
                for c, model in enumerate(self.models_)
            ]
        )
        return self

    def log_likelihood(self, X: object) -> Floats:
        """Log-likelihoods, array of shape (n_sequences, n_classes).

        It is -inf if a given structure cannot emit the sequence.
        """
        X = ck.sequences_for(self, X)
        grounding = self.models_[0].ground(self.reader_.rows(X, self.models_[0]))
        return np.stack([model.log_probability(grounding) for model in self.models_], axis=1)

    def predict(self, X: object) -> NDArray[Any]:
        """The class of each sequence; of equal ones the first in order."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._joint(X).argmax(axis=1)])

    def predict_proba(self, X: object) -> Floats:
        """Class probabilities, array of shape (n_sequences, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: object) -> Floats:
        """The logarithm of `predict_proba`."""
        scores = self._joint(X)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))

    def decision_function(self, X: object) -> Floats:
        """Log-likelihood plus log prior, array of shape (n_sequences, n_classes).

        For two classes the second minus the first. A class that cannot emit a sequence gets a
        billion less; if none can, the prior decides.
        """
        scores = self._joint(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _joint(self, X: object) -> Floats:
        """Log-likelihoods and prior together, finite: an impossible class is far below the others.
        Where no class can show a sequence, the prior is all that is left."""
        scores = self.log_likelihood(X)
        impossible = scores == -np.inf
        scores[impossible] = IMPOSSIBLE
        scores[impossible.all(axis=1)] = 0.0
        return np.asarray(scores + np.log(self.class_prior_))

    def to_text(self, top: int = SHOWN) -> str:
        """What is special about the model of each class.

        For each class the `top` clauses and values that its sequences use most in excess of what
        the other classes, on average, would make of the same bodies: with their probability, that
        of the others, and how often they are used.
        """
        check_is_fitted(self)
        models, parameters = self.models_, self.models_[0].parameters
        values = np.stack([model.parameters.values for model in models])
        n_bodies = len({(t.body, t.block) for t in models[0].transitions})
        lines = [
            f"{len(models)} models of {len(models[0].transitions):,} transitions from "
            f"{n_bodies:,} bodies, {len(parameters):,} parameters"
        ]
        for c, name in enumerate(self.classes_.tolist()):
            own, uses = values[c], self.uses_[c]
            others = values[[k for k in range(len(models)) if k != c] or [c]].mean(axis=0)
            gain = uses * np.log(np.maximum(own, LEAST) / np.maximum(others, LEAST))
            lines += ["", f"class {name}, prior {self.class_prior_[c]:.3f}"]
            best = [i for i in np.argsort(-gain, kind="stable")[:top].tolist() if gain[i] > 0]
            lines += [
                f"  {own[i]:.3f} : {parameters.names[i]}.  % others {others[i]:.3f}, "
                f"used {uses[i]:,.1f} times"
                for i in best
            ] or ["  nothing that the others do not have"]
        return "\n".join(lines)
