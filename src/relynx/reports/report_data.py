"""What a report shows, as plain data: no part of it knows about HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.data.event_arguments import dimension_names, event_keys
from relynx.data.sequences import Facts, Sequences
from relynx.errors import InputError
from relynx.features.grasp import GraspRound
from relynx.logic.dimensions import link_name
from relynx.logic.tables import Key
from relynx.logic.terms import quoted
from relynx.mining.patterns.measures import chi2
from relynx.mining.wording import in_words, names_of, visible
from relynx.models.checks import given_labels, sequences_for
from relynx.models.lynx.classifier import OF_ONE_MODEL, LynxClassifier
from relynx.models.lynx.contributions import learner_name
from relynx.reports.scores import Scores, scores

BEST = 5  # patterns shown for each class
HISTOGRAM = 24  # bins at most
HALF = 0.5  # added to every count, so that odds are finite (Haldane 1956)


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern that the model uses. `class_` is the number of the class of which it covers the
    largest proportion, and `odds` how many times larger the odds of that class are with the pattern
    than without. `supports` and `proportions` are of the training sequences, by class; `pairs`
    numbers the models that use it."""

    number: int
    text: str
    words: str
    length: int
    class_: int
    supports: tuple[int, ...]
    proportions: tuple[float, ...]
    odds: float
    chi2: float
    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClassPatterns:
    """The patterns that characterise a class best."""

    name: str
    rows: tuple[PatternRow, ...]


def pattern_rows(model: LynxClassifier) -> tuple[PatternRow, ...]:
    """A row for each pattern of the model, in the order of `selected_`."""
    selected = model.selected_
    proportions = selected.supports / np.maximum(selected.class_sizes, 1)
    owner = proportions.argmax(axis=1)
    odds = odds_ratios(selected.supports, selected.class_sizes, owner)
    values = selected.measure("chi2")
    told: dict[str, Any] = {"reading": model.reading_}
    told["object_identity"] = selected.object_identity
    users: list[list[int]] = [[] for _ in range(len(selected))]
    for k, columns in enumerate(model.columns_):
        for column in columns.tolist():
            users[column].append(k)
    return tuple(
        PatternRow(
            number=i,
            text=str(entry.pattern),
            words=visible(in_words(entry.pattern, model.bias_, **told)),
            length=entry.length,
            class_=int(owner[i]),
            supports=tuple(entry.support.values()),
            proportions=tuple(proportions[i].tolist()),
            odds=float(odds[i]),
            chi2=float(values[i]),
            pairs=tuple(users[i]),
        )
        for i, entry in enumerate(selected)
    )


def odds_ratios(supports: Ints, sizes: Longs, class_: Longs) -> Floats:
    """The odds of a class among the sequences with the pattern, over those among the others."""
    rows = np.arange(len(supports))
    own, all_own = supports[rows, class_] + HALF, sizes[class_] + 2 * HALF
    other = supports.sum(axis=1) - supports[rows, class_] + HALF
    all_other = sizes.sum() - sizes[class_] + 2 * HALF
    return np.asarray(own * (all_other - other) / (other * (all_own - own)))


def best_of_classes(
    model: LynxClassifier, rows: tuple[PatternRow, ...], names: tuple[str, ...]
) -> tuple[ClassPatterns, ...]:
    """For each class the patterns that belong to it, ordered by chi-square."""
    out = []
    table = chi2(model.selected_.supports, model.selected_.class_sizes)
    for c, name in enumerate(names):
        values = table[:, c]
        own = sorted(
            (row for row in rows if row.class_ == c),
            key=lambda row: (-round(float(values[row.number]), 9), row.length, row.number),
        )
        out.append(ClassPatterns(name, tuple(own[:BEST])))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class: number of sequences with it, number predicted, and their median length."""

    name: str
    n: int | None
    predicted: int
    learnt_from: int
    median_length: float | None


@dataclass(frozen=True, slots=True)
class PredicateRow:
    """A predicate: how many facts it has, in which proportion of sequences, and its patterns."""

    name: str
    role: str
    n_facts: int
    of_sequences: float
    n_patterns: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many events (or facts, where there are none) the sequences have."""

    unit: str
    least: int
    median: float
    most: int
    columns: tuple[tuple[int, int, int], ...]  # from, to, how many


@dataclass(frozen=True, slots=True)
class PairRow:
    """A model of two classes, or of all: its candidates, and the history of their selection.

    `form` is that of the method `sparse`, None of others.
    """

    name: str
    classes: tuple[int, ...]
    n_candidates: int
    n_selected: int
    history: tuple[GraspRound, ...] | None
    stopped: str | None
    form: str | None


@dataclass(frozen=True, slots=True)
class ReportData:
    """The content of the static parts of the page. `learner` is what classifies by the patterns.
    `seen` says whether labels and supports are exactly those of the training sequences; None
    without labels. `certificate` is that of the method `optimal`, as text."""

    n_sequences: int
    n_facts: int
    dimensions: tuple[str, ...]
    classes: tuple[str, ...]
    learner: str
    object_identity: bool
    class_rows: tuple[ClassRow, ...]
    predicates: tuple[PredicateRow, ...]
    lengths: Lengths
    scores: Scores | None
    seen: bool | None
    patterns: tuple[PatternRow, ...]
    best: tuple[ClassPatterns, ...]
    pairs: tuple[PairRow, ...]
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of a model for some sequences; classes are numbers."""

    X: Sequences
    labels: Longs | None
    label_names: tuple[str, ...]
    predicted: Longs
    probabilities: Floats
    covered: Bools
    values: Floats  # of a pattern that is present, in each sequence


def make_predictions(model: Any, X: object, y: Iterable[object] | None) -> Predictions:
    """Check a model and some sequences, and predict."""
    if not isinstance(model, LynxClassifier):
        what = f"a report is about a LynxClassifier, not about a {type(model).__name__}"
        raise InputError(what, hint="give the fitted model, the sequences, the classes")
    if not hasattr(model, "estimators_"):
        raise InputError("this LynxClassifier is not fitted", hint="call fit before report")
    X = sequences_for(model, X)
    if not len(X):
        raise InputError("there is no sequence to report on", hint="give at least one")
    labels = given_labels(X, y)
    classes = model.classes_.tolist()
    names = tuple(names_of(classes))
    number = {value: i for i, value in enumerate(classes)}
    codes = None
    if labels is not None:
        others = sorted({label for label in labels.tolist() if label not in number}, key=str)
        number |= {value: len(classes) + i for i, value in enumerate(others)}
        names = tuple(names_of(classes + others))
        codes = np.array([number[label] for label in labels.tolist()], np.int64)
    M = model.matrix(X)
    return Predictions(
        X=X,
        labels=codes,
        label_names=names,
        predicted=model.codes(M),
        probabilities=model.probabilities(M),
        covered=M.astype(bool).toarray(),
        values=model.pattern_values(X),
    )


def report_data(model: LynxClassifier, predictions: Predictions) -> ReportData:
    """Compute the content of the static parts of a report."""
    facts = predictions.X.facts(model.selected_.object_identity)
    n_classes = len(model.classes_)
    lengths, unit = _lengths(facts)
    labels, label_names = predictions.labels, predictions.label_names
    given = predictions.predicted, predictions.probabilities, label_names
    rows = pattern_rows(model)
    names = label_names[:n_classes]
    return ReportData(
        n_sequences=len(predictions.X),
        n_facts=sum(table.shape[1] for table in predictions.X.tables.values()),
        dimensions=tuple(map(visible, dimension_names(facts.tables))),
        classes=names,
        learner=_learner(model),
        object_identity=model.selected_.object_identity,
        class_rows=_class_rows(model, predictions, lengths),
        predicates=tuple(_predicate_rows(model, predictions.X, facts)),
        lengths=_length_columns(lengths, unit),
        scores=None if labels is None else scores(labels, *given),
        seen=_is_training_data(model, predictions),
        patterns=rows,
        best=best_of_classes(model, rows, names),
        pairs=tuple(_pair_row(one, model, names) for one in model.estimators_),
        certificate=str(model.certificate_) if hasattr(model, "certificate_") else None,
    )


def _learner(model: LynxClassifier) -> str:
    if model.final_estimator is not None:
        return type(model.final_estimator).__name__
    of_one = model.chosen_method(len(model.classes_)) in OF_ONE_MODEL
    nothing = "LogisticRegression" if of_one else "PatternNB"  # of no pattern
    own = {"PatternNB": "naive Bayes", "LogisticRegression": "logistic regression"}
    names = [learner_name(one) or nothing for one in model.estimators_]
    return " or ".join(sorted({own.get(name, name) for name in names}, reverse=True))


def _lengths(facts: Facts) -> tuple[Longs, str]:
    """The number of events of each sequence; of facts, if there are no events."""
    n_constants = max(len(facts.vocabulary), 1)
    events, _ = event_keys(facts.tables, n_constants)
    if len(events):
        return np.bincount(events // n_constants, minlength=facts.n_sequences), "events"
    total = np.zeros(facts.n_sequences, np.int64)
    for key in facts.tables:
        total += np.diff(facts.offsets(key))
    return total, "facts"


def _length_columns(lengths: Longs, unit: str) -> Lengths:
    least, most = int(lengths.min()), int(lengths.max())
    width = (most - least) // HISTOGRAM + 1
    counts = np.bincount((lengths - least) // width)
    columns = tuple(
        (least + i * width, min(least + (i + 1) * width - 1, most), n)
        for i, n in enumerate(counts.tolist())
    )
    return Lengths(unit, least, float(np.median(lengths)), most, columns)


def _class_rows(
    model: LynxClassifier, predictions: Predictions, lengths: Longs
) -> tuple[ClassRow, ...]:
    """The classes of the model, then labels unknown to it."""
    sizes = model.selected_.class_sizes.tolist()
    rows = []
    for c, name in enumerate(predictions.label_names):
        here = predictions.predicted == c if predictions.labels is None else predictions.labels == c
        rows.append(
            ClassRow(
                name=name,
                n=None if predictions.labels is None else int(here.sum()),
                predicted=int((predictions.predicted == c).sum()),
                learnt_from=sizes[c] if c < len(sizes) else 0,
                median_length=float(np.median(lengths[here])) if here.any() else None,
            )
        )
    return tuple(rows)


def _predicate_rows(model: LynxClassifier, X: Sequences, facts: Facts) -> Iterable[PredicateRow]:
    used: Counter[Key] = Counter()
    links = {name: (f"next_{name}", 2) for name in dimension_names(facts.tables)}
    for pattern in model.selected_.patterns():
        names = [(link_name(atom.predicate) or ("", ""))[1] for atom in pattern]
        used.update({links.get(name, atom.key) for name, atom in zip(names, pattern, strict=True)})
    for key, table in facts.tables.items():
        role = "dimension" if key in links.values() else "fact"
        has = np.count_nonzero(np.diff(facts.offsets(key)))
        yield PredicateRow(
            name=f"{visible(quoted(key[0]))}/{key[1]}",
            role=role if key in X.tables else f"{role}, by a rule",
            n_facts=table.shape[1],
            of_sequences=has / max(len(X), 1),
            n_patterns=used[key],
        )


def _is_training_data(model: LynxClassifier, predictions: Predictions) -> bool | None:
    """Whether class sizes and all supports equal those of the training sequences. That is very
    unlikely for new sequences. A subset or superset of the training sequences is not recognised."""
    if predictions.labels is None:
        return None
    n = len(model.classes_)
    sizes = np.bincount(predictions.labels, minlength=n)
    if len(sizes) > n or not np.array_equal(sizes, model.selected_.class_sizes):
        return False
    supports = [predictions.covered[predictions.labels == c].sum(axis=0) for c in range(n)]
    return bool(np.array_equal(np.stack(supports, axis=1), model.selected_.supports))


def _pair_row(one: Any, model: LynxClassifier, names: tuple[str, ...]) -> PairRow:
    among = tuple(np.searchsorted(model.classes_, one.classes).tolist())
    name = " / ".join(names[c] for c in among) if len(among) == 2 else "all classes"
    selector, method = one.selector, model.chosen_method(len(model.classes_))
    return PairRow(
        name=name,
        classes=among,
        n_candidates=one.n_candidates or len(one.patterns),
        n_selected=len(one.selected),
        history=None if selector is None else tuple(selector.history_),
        stopped=None if selector is None else selector.partial_,
        form=visible(one.form) if one.n_candidates and method == "sparse" else None,
    )
