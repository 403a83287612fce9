"""`TildeCRFClassifier`: the class of a sequence, by a `TildeCRF` for each pair of classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats, Longs
from relynx.data.sequences import Sequences, counted
from relynx.mining.workers import n_threads
from relynx.models.checks import Rule, check_parameters, one_of, sequences_for, training_data
from relynx.models.lynx.round_robin import NUDGE, Ballot, agreeing, coupled, in_order_of, tally
from relynx.models.tildecrf import boosting as bs
from relynx.models.tildecrf import estimator as es
from relynx.models.tildecrf.candidates import Candidates
from relynx.models.tildecrf.encoding import Encoding, Language, encode
from relynx.models.tildecrf.labeller import SHOWN, TildeCRF
from relynx.models.tildecrf.trees import tree_text
from relynx.storage import Part
from relynx.storage.fields import CLASS_PRIOR, Field, Fields, labels, restore, stored_state


def _read_labellers(part: Part, key: str, model: Any) -> list[TildeCRF]:
    """The labellers of a file, one for each pair of classes in order."""
    labellers = []
    for one in part.parts(key):
        labeller = model.new_labeller()
        for name in es.LANGUAGE:
            setattr(labeller, name, getattr(model, name))
        restore(labeller, one, es.LEARNT)
        one.end()
        labellers.append(labeller)
    pairs = [list(pair) for pair in combinations(model.classes_.tolist(), 2)]
    if [one.classes_.tolist() for one in labellers] != pairs:
        raise part.wrong(key, "are not one for each pair of classes")
    return labellers


@dataclass(eq=False, repr=False, kw_only=True)
class TildeCRFClassifier(ClassifierMixin, es.BoostedEstimator):  # type: ignore[misc]
    """Classify sequences by conditional random fields of relational trees.

    Every event of a sequence has the class of the sequence as its label, and a `TildeCRF` of two
    labels is learnt for each pair of classes (Gutmann and Kersting 2006). All pairs then vote.
    What a tree is made of is told at `TildeCRF`.

    Parameters
    ----------
    bias, dimension, window
        See `TildeCRF`.
    max_iter, learning_rate
        See `TildeCRF`; rounds are fewer and count less, since what the trees say is summed over all
        events of a sequence.
    max_depth, max_leaves, min_samples_leaf, look_ahead, n_iter_no_change, validation_fraction
        See `TildeCRF`; the same fraction of each class is held out.
    training
        `constant` learns to tell the two paths apart that have one class at every event: boosted
        logistic regression on the sum of what the trees say of the events. `chain` learns the
        probability of the labels among all paths, as the paper does.
    readout
        How a pair decides. `constant` compares the probabilities of the two paths that have one
        class at every event, `viterbi` counts the labels of the most probable path, `marginals`
        sums the probabilities of the labels over the events.
    n_jobs
        Pairs learnt at a time. The model is the same for every value.
    random_state
        Seed of what is held out.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in order.
    class_prior_ : ndarray
        The relative frequency of each class in the training sequences; it decides ties.
    estimators_ : list of TildeCRF
        One for each pair, in the order (1st, 2nd), (1st, 3rd), ... `print(model)` shows trees.
    bias_, dimension_, places_
        The bias that was used, and what else `estimators_` read events by; see `TildeCRF`.
    background_ : Background or None
        The background rules of the training sequences, which others get that have none.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "a"], ["a", "a", "b"]] * 9, ["up", "down"] * 9)
    >>> model = rx.TildeCRFClassifier(max_iter=5).fit(X, y)
    >>> model.predict([["a", "b", "a"], ["a", "a", "b"]]).tolist()
    ['up', 'down']
    """

    RULES: ClassVar[Mapping[str, Rule]] = {
        **es.BoostedEstimator.RULES,
        "training": one_of(("constant", "chain")),
        "readout": one_of(("constant", "viterbi", "marginals")),
    }
    STORED: ClassVar[Fields] = {  # in a model file
        "classes_": labels("TildeCRFClassifier", least=2),
        "class_prior_": CLASS_PRIOR,
        **es.LANGUAGE,
        "estimators_": Field(
            lambda models, _: [stored_state(one, es.LEARNT) for one in models], _read_labellers
        ),
    }

    max_iter: int = 50
    learning_rate: float = 0.3
    training: str = "constant"
    readout: str = "constant"
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: object, y: Iterable[object] | None = None) -> TildeCRFClassifier:
        """Learn the models.

        Parameters
        ----------
        X
            `Sequences`, or lists as `from_lists` takes them.
        y
            The classes; without them those of X.
        """
        check_parameters(self, self.RULES)
        X, _, self.classes_, codes = training_data(X, y)
        self.class_prior_ = np.bincount(codes) / len(codes)
        self.estimators_ = self._learn(X, codes)
        for name in es.LANGUAGE:
            setattr(self, name, getattr(self.estimators_[0], name))
        return self

    def _learn(self, X: Sequences, codes: Longs) -> list[TildeCRF]:
        encoding = encode(X, es.language_of(X, self.bias, self.dimension))
        candidates = Candidates.of(encoding)
        pairs = list(combinations(range(len(self.classes_)), 2))
        random_state = check_random_state(self.random_state)
        lengths, jobs = np.diff(encoding.offsets), []
        for pair in pairs:
            sequences = np.flatnonzero(np.isin(codes, pair))
            task = bs.Task(
                encoding,
                candidates,
                [str(name) for name in self.classes_[list(pair)].tolist()],
                sequences,
                np.repeat(codes == pair[1], lengths).astype(np.int64),
                es.held_out(codes[sequences], self, random_state),
            )
            jobs.append(delayed(bs.boost)(task, self, constant=self.training == "constant"))
        learnt: list[bs.Boosted] = Parallel(n_threads(self.n_jobs), prefer="threads")(jobs)
        models = []
        for pair, boosted in zip(pairs, learnt, strict=True):
            model = self.new_labeller()
            model.take_learnt(self.classes_[list(pair)], encoding.language, boosted, X)
            models.append(model)
        return models

    def new_labeller(self) -> TildeCRF:
        """A labeller with the parameters of this classifier, not fitted."""
        return TildeCRF(**{name: getattr(self, name) for name in TildeCRF().get_params()})

    def predict(self, X: object) -> NDArray[Any]:
        """The class of each sequence.

        It is the one with the most votes; ties go to the largest sum of probabilities, then to the
        class with more training sequences, then to the first in order.
        """
        ballots = self._ballots(X)[1]
        if len(ballots) == 1:
            return np.asarray(self.classes_[ballots[0].votes])
        return np.asarray(self.classes_[self._tally(ballots).argmax(axis=1)])

    def predict_proba(self, X: object) -> Floats:
        """Class probabilities, array of shape (n_sequences, n_classes).

        The largest is that of the predicted class. For two classes they are those of the read-out;
        for more, the pairs are coupled as in `LynxClassifier.predict_proba`.
        """
        ballots = self._ballots(X)[1]
        if len(ballots) == 1:
            return agreeing(ballots[0].probabilities, ballots[0].votes)
        probabilities = coupled(ballots, len(ballots[0].votes), len(self.classes_))
        return in_order_of(probabilities, self._tally(ballots))

    def decision_function(self, X: object) -> Floats:
        """What `predict` decides by.

        For two classes one value a row, positive for the second class: the difference of what the
        read-out compares, in logarithms where it is `constant`. For c classes of each its votes
        plus 1/c of the sum of its probabilities, and a tiny term for its rank by the prior.
        """
        compared, ballots = self._ballots(X)
        if len(ballots) > 1:
            return self._tally(ballots)
        values = compared[0][:, 1] - compared[0][:, 0]
        is_second = ballots[0].votes == 1
        return np.where((values > 0) == is_second, values, np.where(is_second, NUDGE, -NUDGE))

    def _tally(self, ballots: list[Ballot]) -> Floats:
        return tally(ballots, self.class_prior_, len(ballots[0].votes))

    def _ballots(self, X: object) -> tuple[list[Floats], list[Ballot]]:
        """For every pair what it compares, sequence by sequence, and its ballot."""
        X = sequences_for(self, X)
        encoding = encode(X, Language.of(self.bias_, self.dimension_, self.places_))
        compared, ballots = [], []
        pairs = combinations(range(len(self.classes_)), 2)
        for pair, model in zip(pairs, self.estimators_, strict=True):
            values = self._compared(model, encoding)
            probabilities = softmax(values, axis=1) if self.readout == "constant" else values
            preferred = self.class_prior_[pair[1]] > self.class_prior_[pair[0]]
            tied = np.isclose(probabilities[:, 0], probabilities[:, 1], rtol=0, atol=NUDGE)
            second = np.where(tied, preferred, probabilities[:, 1] > probabilities[:, 0])
            compared.append(values)
            ballots.append(Ballot(np.array(pair), second.astype(np.int64), probabilities))
        return compared, ballots

    def _compared(self, model: TildeCRF, encoding: Encoding) -> Floats:
        """What the read-out compares of both classes of a pair: scores of paths, or shares."""
        F = bs.potentials(model.trees_, encoding, 2, self)
        starts, ends = encoding.offsets[:-1], encoding.offsets[1:]
        if self.readout == "constant":
            return bs.constant_scores(F, starts, ends)
        if self.readout == "viterbi":
            second = bs.best_paths(F, starts, ends).astype(float)
        else:
            second = bs.infer(F, starts, ends)[1].sum(axis=1)[:, 1]
        probability = bs.summed(second, starts, ends) / np.maximum(ends - starts, 1)
        probability[starts == ends] = 0.5
        return np.stack([1 - probability, probability], axis=1)

    def to_text(self, rounds: int | None = SHOWN) -> str:
        """The trees of the first rounds of each pair; positive values speak for its first class."""
        check_is_fitted(self)
        lines = []
        for model in self.estimators_:
            names = [str(name) for name in model.classes_.tolist()]
            if self.training == "chain":
                lines += [model.to_text(rounds), ""]
                continue
            n = counted(len(model.trees_), "round")
            lines.append(f"{names[0]} (+) against {names[1]} (-); {n}")
            for number, trees in enumerate(model.trees_[:rounds], 1):
                lines += ["", f"round {number}:", tree_text(trees[0], names)]
            lines.append("")
        return "\n".join(lines).rstrip()
