"""`TildeCRF`: a label for every event, by a conditional random field of relational trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats
from relynx.data.class_cuts import columns_to_cut
from relynx.data.schema import Schema
from relynx.data.sequences import Sequences, counted, is_missing
from relynx.errors import InputError
from relynx.features.vectorizer import as_sequences
from relynx.models.checks import check_parameters, sequences_for
from relynx.models.tildecrf import boosting as bs
from relynx.models.tildecrf import estimator as es
from relynx.models.tildecrf.candidates import Candidates
from relynx.models.tildecrf.encoding import Encoding, Language, encode
from relynx.models.tildecrf.trees import tree_text
from relynx.storage.fields import Fields

SHOWN = 2  # rounds whose trees are printed


@dataclass(eq=False, repr=False, kw_only=True)
class TildeCRF(es.BoostedEstimator):
    """Label every event of a sequence by a conditional random field of relational trees.

    The probability of the labels y_1, ..., y_T of a sequence is

        exp(sum over t of F_{y_t}(y_{t-1}, event t and what is around it)) / Z

    and each F_k is a sum of regression trees that functional gradient boosting learns (Gutmann and
    Kersting 2006). A test of a tree is a literal: `prev(c)`, the label before is c; a fact of an
    event of the window, where `E0` is the event to label, `E1` the next one and `E_1` the one
    before; a relation to another event; a comparison; or a fact of the sequence as a whole, all of
    whose arguments are constants. Else arguments are constants, new variables and variables of the
    tests above, as the modes and types of the bias allow: the variables of a test are known where
    it holds, and not where it fails. Different variables may stand for the same thing: there is no
    Object Identity here. Constraints and the settings of a search that a bias may have are not
    used.

    There is a potential for each event and pair of labels: k labels and n events take some 24 k² n
    bytes.

    Parameters
    ----------
    bias
        The predicates of the trees with their types and modes; None infers them from the training
        sequences.
    dimension
        The order of the events; None takes the one with the most links.
    window
        How many events before and after the one to label are known as variables.
    max_iter
        Rounds of boosting; each adds a tree for every label.
    learning_rate
        The weight of a tree.
    max_depth, max_leaves
        The most tests on a way down a tree, and the most leaves of one.
    min_samples_leaf
        The least examples of a leaf; an event is an example for each label that may be before it.
    look_ahead
        Try pairs of literals too, where the first brings in variables and the second speaks of
        them. It finds events that share a value, whatever it is, and takes much longer.
    n_iter_no_change, validation_fraction
        Early stopping: hold out this fraction of the sequences, stop when their likelihood has not
        improved for so many rounds, and keep the rounds up to the best. None holds out nothing.
    random_state
        Seed of what is held out.

    Attributes
    ----------
    classes_ : ndarray
        The labels, in order.
    trees_ : tuple
        For each round a tuple with the tree of every label. `print(model)` shows the first.
    history_ : ndarray
        The mean log-likelihood of a training sequence before each round, and after the last.
    held_out_ : ndarray
        The same of the sequences that were held out; empty without any.
    bias_, dimension_, places_
        The bias and the dimension that were used, and the arguments that hold events.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X.

    Examples
    --------
    >>> import relynx as rx
    >>> X, _ = rx.from_lists([["a", "b", "c"], ["b", "a", "b"]] * 9)
    >>> y = [["low", "up", "up"], ["up", "low", "up"]] * 9
    >>> model = rx.TildeCRF(max_iter=5).fit(X, y)
    >>> [labels.tolist() for labels in model.predict([["c", "a"]])]
    [['up', 'low']]
    """

    STORED: ClassVar[Fields] = {**es.LANGUAGE, **es.LEARNT}  # in a model file

    random_state: Any = None

    def fit(self, X: object, y: Iterable[Iterable[object]] | None = None) -> TildeCRF:
        """Learn the trees.

        Parameters
        ----------
        X
            `Sequences`, or lists as `from_lists` takes them.
        y
            For each sequence the labels of its events, in the order of the dimension.
        """
        check_parameters(self, self.RULES)
        X = as_sequences(X)
        waiting = columns_to_cut(X)
        if waiting:
            what = f"column {waiting[0]!r} is to be cut by class, and labels of events are no class"
            raise InputError(what, hint="read the table with other bins")
        X = X.compact()
        if not len(X):
            raise InputError("there are no sequences", hint="give some with labels")
        encoding = encode(X, es.language_of(X, self.bias, self.dimension))
        labels = _event_labels(X, encoding, y)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            one = f"all events have one label, {classes.tolist()[0]!r}" if len(labels) else None
            what = one or "there are no events"
            raise InputError(what, hint="give events of at least two labels")
        chosen = es.held_out(
            np.zeros(len(X), np.int64), self, check_random_state(self.random_state)
        )
        task = bs.Task(
            encoding,
            Candidates.of(encoding),
            [str(name) for name in classes.tolist()],
            np.arange(len(X)),
            codes.astype(np.int64),
            chosen,
        )
        self.take_learnt(classes, encoding.language, bs.boost(task, self), X.reading)
        return self

    def take_learnt(
        self, classes: NDArray[Any], language: Language, boosted: bs.Boosted, reading: Schema | None
    ) -> None:
        """Store what was learnt."""
        self.classes_ = classes
        self.bias_, self.dimension_ = language.bias, language.dimension
        self.places_ = tuple(sorted(language.event_arguments))
        self.trees_ = boosted.trees
        self.history_ = np.array(boosted.history)
        self.held_out_ = np.array(boosted.held_out)
        self.reading_ = reading

    def predict(self, X: object) -> list[NDArray[Any]]:
        """For each sequence the most probable labels of its events together."""
        encoding, F = self._potentials(X)
        return _parts(self._best_labels(encoding, F), encoding)

    def predict_marginals(self, X: object) -> list[Floats]:
        """For each sequence the label probabilities, array of shape (n_events, n_labels)."""
        encoding, F = self._potentials(X)
        _, pairs = bs.infer(F, encoding.offsets[:-1], encoding.offsets[1:])
        return _parts(pairs.sum(axis=1), encoding)

    def log_likelihood(self, X: object, y: Iterable[Iterable[object]]) -> Floats:
        """For each sequence the log probability of its labels; -inf for a label never seen."""
        encoding, F = self._potentials(X)
        numbers = {label: k for k, label in enumerate(self.classes_.tolist())}
        given = _event_labels(as_sequences(X), encoding, y).tolist()
        codes = np.array([numbers.get(label, -1) for label in given], np.int64)
        starts, ends = encoding.offsets[:-1], encoding.offsets[1:]
        out = bs.log_likelihood(F, np.maximum(codes, 0), encoding.is_first, starts, ends)
        out[np.repeat(np.arange(len(starts)), ends - starts)[codes < 0]] = -np.inf
        return out

    def score(self, X: object, y: Iterable[Iterable[object]]) -> float:
        """The proportion of events that are labelled correctly."""
        encoding, F = self._potentials(X)
        given = _event_labels(as_sequences(X), encoding, y)
        if not len(given):
            raise InputError("there are no events to label", hint="give sequences with events")
        return float(np.mean(self._best_labels(encoding, F) == given))

    def _best_labels(self, encoding: Encoding, F: Floats) -> NDArray[Any]:
        paths = bs.best_paths(F, encoding.offsets[:-1], encoding.offsets[1:])
        return np.asarray(self.classes_[paths])

    def _potentials(self, X: object) -> tuple[Encoding, Floats]:
        X = sequences_for(self, X)
        encoding = encode(X, Language.of(self.bias_, self.dimension_, self.places_))
        return encoding, bs.potentials(self.trees_, encoding, len(self.classes_), self)

    def to_text(self, rounds: int | None = SHOWN) -> str:
        """The trees of the first rounds as nested rules; None shows all."""
        check_is_fitted(self)
        names = [str(name) for name in self.classes_.tolist()]
        lines = [f"labels {', '.join(names)}; {counted(len(self.trees_), 'round')}"]
        for number, trees in enumerate(self.trees_[:rounds], 1):
            for name, tree in zip(names, trees, strict=True):
                lines += ["", f"round {number}, {name}:"]
                lines.append(tree_text(tree, names))
        return "\n".join(lines)


def _parts(values: NDArray[Any], encoding: Encoding) -> list[NDArray[Any]]:
    return [values[a:b] for a, b in pairwise(encoding.offsets.tolist())]


def _event_labels(X: Sequences, encoding: Encoding, y: Any) -> NDArray[Any]:
    """The labels of all events, one after the other. Raises InputError where they do not fit."""
    if isinstance(y, str) or not isinstance(y, Iterable):
        what = "y is missing" if y is None else f"y is {y!r}"
        raise InputError(what, hint="give for each sequence the labels of its events")
    rows = [_listed(labels) for labels in y]
    if len(rows) != len(X):
        what = f"labels of {counted(len(rows), 'sequence')} in y for {len(X):,} in X"
        raise InputError(what, hint="give the labels of the events of each sequence")
    first: Any = None
    for i, (row, n) in enumerate(zip(rows, np.diff(encoding.offsets).tolist(), strict=True)):
        where = f"sequence {X.ids[i]}"
        if len(row) != n:
            what = f"{where}: {counted(len(row), 'label')} for {counted(n, 'event')}"
            hint = f"give one label for each event, in the order of {encoding.language.dimension}"
            raise InputError(what, hint=hint)
        for j, value in enumerate(row, 1):
            if isinstance(value, Iterable) and not isinstance(value, str | bytes):
                raise InputError(f"{where}: label {j} is {value!r}", hint="give a text or a number")
            if is_missing(value):
                hint = "give one label for each event"
                raise InputError(f"{where}: label {j} is missing", hint=hint)
            first = value if first is None else first
            if isinstance(value, str) != isinstance(first, str):
                what = f"some labels are text and some are not: {first!r}, and {value!r} in"
                raise InputError(f"{what} {where}", hint="give all as text or all as numbers")
    return np.array([value for row in rows for value in row])


def _listed(labels: Any) -> list[Any]:
    """The labels of a sequence as plain values."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        what = f"the labels of a sequence are {labels!r}"
        raise InputError(what, hint="give a list with one label for each event")
    return labels.tolist() if isinstance(labels, np.ndarray) else [*labels]
