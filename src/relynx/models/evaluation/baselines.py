"""Classifiers to compare with: simple ones, and the systems that the paper compares Lynx with.

A relational method has to beat those that ignore relations: the largest class, a Markov chain for
each class, and n-grams of the events with naive Bayes or a linear support vector machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Floats
from relynx.data.event_arguments import dimension_names, event_keys
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import InputError, did_you_mean
from relynx.features.vectorizer import SequenceEstimator, as_sequences
from relynx.logic.terms import constant_text, quoted
from relynx.models.fisher.classifier import FisherKernelClassifier
from relynx.models.lohmm.classifier import LoHMMClassifier
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.tildecrf.classifier import TildeCRFClassifier

LONGEST = 3  # events of an n-gram
PLAIN = "event"  # the token of an event without facts

# By what is typed on the command line: the name in a table, and the classifier.
SYSTEMS: Mapping[str, tuple[str, Any]] = {
    "lohmm": ("LoHMM", LoHMMClassifier),
    "fisher": ("Fisher kernel", FisherKernelClassifier),
    "tildecrf": ("TildeCRF", TildeCRFClassifier),
}

# All that give a sequence its class.
CLASSIFIERS = (LynxClassifier, *(kind for _, kind in SYSTEMS.values()))

Steps: TypeAlias = list[tuple[str, str]]
Links: TypeAlias = list[tuple[int, int]]
EventFacts: TypeAlias = dict[int, list[tuple[str, str]]]  # predicate and text of an event's facts


@dataclass(eq=False, repr=False)
class MarkovChainClassifier(ClassifierMixin, SequenceEstimator):  # type: ignore[misc]
    """A first-order Markov chain for each class, over the tokens of the events. The score of a
    class is its prior times the probability of the first token and of every step from an event to
    the next under its chain."""

    dimension: str | None = None  # the order to follow; None takes the one with the most links
    _: KW_ONLY
    smoothing: float = 0.1

    def fit(self, X: object, y: Iterable[object]) -> MarkovChainClassifier:
        """Count the steps of every class."""
        if not self.smoothing > 0:
            raise InputError(f"smoothing is {self.smoothing!r}", hint="give a number above 0")
        steps = _steps(as_sequences(X), self.dimension)
        self.classes_, codes = np.unique([*y], return_inverse=True)
        counts: list[Counter[tuple[str, str]]] = [Counter() for _ in self.classes_]
        for c, row in zip(codes.tolist(), steps, strict=True):
            counts[c].update(row)
        after = {second for row in steps for _, second in row}
        n_tokens = len(after) + 1  # and one for all unseen tokens
        a = self.smoothing
        self.log_prior_ = np.log(np.bincount(codes) / len(codes))
        self.steps_: list[dict[tuple[str, str], float]] = []
        self.unseen_: list[dict[str, float]] = []
        self.unknown_ = -np.log(n_tokens)
        for count in counts:
            total: Counter[str] = Counter()
            for (first, _), n in count.items():
                total[first] += n
            least = {first: float(np.log(n + a * n_tokens)) for first, n in total.items()}
            self.steps_.append({s: float(np.log(n + a)) - least[s[0]] for s, n in count.items()})
            self.unseen_.append({first: float(np.log(a)) - least[first] for first in least})
        return self

    def predict(self, X: object) -> NDArray[Any]:
        """The class with the largest score; of equal ones the first in order."""
        best = self.decision_function(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def decision_function(self, X: object) -> Floats:
        """The log scores, array of shape (n_sequences, n_classes)."""
        check_is_fitted(self)
        scores = np.tile(self.log_prior_, (len(as_sequences(X)), 1))
        for i, row in enumerate(_steps(as_sequences(X), self.dimension)):
            for c, (seen, unseen) in enumerate(zip(self.steps_, self.unseen_, strict=True)):
                scores[i, c] += sum(
                    seen[step] if step in seen else unseen.get(step[0], self.unknown_)
                    for step in row
                )
        return np.asarray(scores)


def baselines(X: Sequences) -> dict[str, Any]:
    """The simple classifiers for such sequences, by the names of their rows.

    Parameters
    ----------
    X
        The sequences. Where no event follows another, the largest class is all there is.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.models.evaluation.baselines import baselines
    >>> X, y = rx.from_lists([["a", "b"], ["b", "a"]] * 5, ["up", "down"] * 5)
    >>> {name: float(model.fit(X, y).score(X, y)) for name, model in baselines(X).items()}
    {'largest class': 0.5, 'Markov chain': 1.0, 'n-gram naive Bayes, counts': 1.0,
     'n-gram naive Bayes, presence': 1.0, 'n-gram linear SVM': 1.0}
    """
    rows: dict[str, Any] = {"largest class": DummyClassifier(strategy="most_frequent")}
    tables = X.facts().tables
    if any(tables[f"next_{name}", 2].size for name in dimension_names(tables)):
        dimension = link_of(X)[0].removeprefix("next_")  # of any part of X, too
        rows["Markov chain"] = MarkovChainClassifier(dimension)
        rows["n-gram naive Bayes, counts"] = on_ngrams(MultinomialNB(), dimension=dimension)
        rows["n-gram naive Bayes, presence"] = on_ngrams(BernoulliNB(), dimension=dimension)
        rows["n-gram linear SVM"] = on_ngrams(linear_svm(), dimension=dimension)
    return rows


def systems(names: str) -> dict[str, Any]:
    """New classifiers with their default settings, by the names of their rows.

    Parameters
    ----------
    names
        Some of `lohmm`, `fisher` and `tildecrf`, with commas between them, in letters of any case.
    """
    given = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in given:
        if name not in SYSTEMS:
            hint = did_you_mean(name, [*SYSTEMS]) or f"give some of {','.join(SYSTEMS)}"
            raise InputError(f"there is no system {name!r} to compare with", hint=hint)
    return {SYSTEMS[name][0]: SYSTEMS[name][1]() for name in given}


def system(title: str) -> Any:
    """A new classifier with its default settings, by the name of its row."""
    return dict(SYSTEMS.values())[title]()


def linear_svm() -> Any:
    return LinearSVC(dual="auto", max_iter=10_000, random_state=0)


def on_ngrams(*steps: Any, dimension: str | None = None, per_predicate: bool = False) -> Any:
    """A pipeline that counts the n-grams for the steps given; see `ngrams`."""
    how = {"dimension": dimension, "per_predicate": per_predicate}
    texts = FunctionTransformer(ngrams, kw_args=how)
    return make_pipeline(texts, CountVectorizer(analyzer=list), *steps)


def ngrams(
    X: object, dimension: str | None = None, longest: int = LONGEST, *, per_predicate: bool = False
) -> list[list[str]]:
    """The n-grams of each sequence: the tokens of up to `longest` events, each next to the last. A
    token is all facts of one event: their predicates and values. With `per_predicate` each
    predicate has its own n-grams. Where the order branches, every path counts."""
    X = as_sequences(X)
    out: list[list[str]] = []
    for facts_of, links in _events(X, dimension):
        after: dict[int, list[int]] = {}
        for first, second in links:
            after.setdefault(first, []).append(second)
        views = [_tokens(facts_of)]
        if per_predicate:
            names = sorted({name for facts in facts_of.values() for name, _ in facts})
            views = [_tokens(facts_of, name) for name in names]
        paths: list[tuple[int, ...]] = [(event,) for event in facts_of]
        out.append([])
        for _ in range(longest):
            for tokens in views:
                chosen = [p for p in paths if not per_predicate or tokens.keys() >= {*p}]
                out[-1] += [" < ".join([tokens[event] for event in path]) for path in chosen]
            paths = [(*path, event) for path in paths for event in after.get(path[-1], ())]
    return out


def _tokens(facts_of: EventFacts, name: str | None = None) -> dict[int, str]:
    """The token of each event; with a name, of the events that have the predicate."""
    some = {e: sorted(f for n, f in facts if name in (None, n)) for e, facts in facts_of.items()}
    default = PLAIN if name is None else ""
    return {e: text for e, facts in some.items() if (text := " & ".join(facts) or default)}


def _steps(X: Sequences, dimension: str | None) -> list[Steps]:
    """The steps of each sequence; the events that nothing comes before are reached from ''."""
    out = []
    for facts_of, links in _events(X, dimension):
        tokens = _tokens(facts_of)
        reached = {second for _, second in links}
        begins = [("", token) for event, token in tokens.items() if event not in reached]
        out.append([*begins, *((tokens[first], tokens[second]) for first, second in links)])
    return out


def _events(X: Sequences, dimension: str | None) -> list[tuple[EventFacts, Links]]:
    """The events of each sequence with their facts, and the links between them."""
    link, facts = link_of(X, dimension), X.facts()
    n_constants = max(len(facts.vocabulary), 1)
    texts = [constant_text(constant) for constant in facts.vocabulary]
    events, places = event_keys(facts.tables, n_constants)
    linked = np.unique(events % n_constants)
    facts_of: list[EventFacts] = [{} for _ in range(len(X))]
    for key in events.tolist():
        facts_of[key // n_constants][key % n_constants] = []
    dimensions = {(f"next_{name}", 2) for name in dimension_names(facts.tables)}
    for (name, arity), table in X.tables.items():
        at = [i for i in range(arity) if ((name, arity), i) in places]
        if not at:  # it may occur in sequences of one event only, which no link gives away
            at = [i for i in range(arity) if np.isin(table[1 + i], linked).all()]
        if len(at) != 1 or (name, arity) in dimensions:
            continue
        for row, *codes in table.T.tolist():
            event = codes.pop(at[0])
            values = ",".join([texts[code] for code in codes])
            fact = f"{quoted(name)}({values})" if codes else quoted(name)
            facts_of[row].setdefault(event, []).append((name, fact))
    links: list[Links] = [[] for _ in range(len(X))]
    for row, first, second in facts.tables[link].T.tolist() if link in facts.tables else ():
        links[row].append((first, second))
    return [*zip(facts_of, links, strict=True)]
