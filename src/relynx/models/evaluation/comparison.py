"""`compare`: a classifier beside what a user would try first, on the same held-out sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from relynx.arrays import Floats, Longs
from relynx.data.event_arguments import dimension_names
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.data.tables.frames import frame
from relynx.errors import InputError
from relynx.features.vectorizer import as_sequences
from relynx.logic.dimensions import link_name
from relynx.models.checks import checked_labels
from relynx.models.evaluation.aggregates import aggregate_boosting, aggregate_logistic, notes_on
from relynx.models.evaluation.baselines import SYSTEMS, linear_svm, on_ngrams
from relynx.models.evaluation.cross_validation import (
    CrossValidation,
    Fold,
    Split,
    cross_validate,
    held_out,
    split_by_time,
    splits,
)
from relynx.models.evaluation.measures import (
    MEASURES,
    Answers,
    Estimate,
    class_measures,
    draws,
    measures_named,
    over_draws,
    over_folds,
    value_of,
)
from relynx.models.lynx.classifier import LynxClassifier

LOGISTIC, BOOSTING, NGRAMS, LARGEST = (
    "aggregates, logistic",
    "aggregates, boosting",
    "n-grams",
    "largest class",
)
# What the rows are called in a sentence.
SPELLED = {
    LOGISTIC: "logistic regression on aggregates",
    BOOSTING: "gradient boosting on aggregates",
    NGRAMS: "a linear SVM on n-grams",
    LARGEST: "the largest class",
}
Progress = Callable[[str, Fold], object]


def compare(
    model: Any, X: object, y: Iterable[object] | None = None, *,
    scoring: str | Iterable[str] = tuple(MEASURES), others: Mapping[str, Any] | None = None,
    folds: int = 10, groups: Iterable[object] | None = None, holdout: float | None = None,
    time_split: float | None = None, seed: int = 0, n_jobs: int | None = None,
    per_class: bool = False, backend: str = "pandas",
) -> Any:  # fmt: skip
    """Compare a classifier with what a user would try first, on sequences that none has seen.

    The others are logistic regression and gradient boosting on aggregates of each sequence (counts
    of values; mean, least, largest, last and sum of numbers; length and duration), a linear support
    vector machine on the n-grams of each column, and the largest class.

    Parameters
    ----------
    model
        A classifier of sequences.
    X, y
        The sequences and their classes; default those of X.
    scoring
        Some of `accuracy`, `balanced_accuracy`, `auc` (one class against the rest, the mean over
        classes), `f1` (the mean over classes) and `log_loss`, as a list or with commas between
        them. The first one decides who is better.
    others
        Further classifiers of sequences, by name.
    folds, groups, seed, n_jobs
        As in `cross_validate`; all methods have the same folds.
    holdout
        Hold out this share of each class once, instead of folds.
    time_split
        Hold out this share of the sequences, those that begin last, instead of folds. X must be of
        a table whose order is a time or a number, or of intervals.
    per_class
        Return precision, recall and F1 of each class, over all test sequences.
    backend
        `pandas`, `polars` or `pyarrow`; the library must be installed.

    Returns
    -------
    DataFrame
        A row for each method, the model first. Each measure has three columns: its mean over the
        folds, and a 95 % interval, `_low` and `_high`. `difference` is that of the first measure to
        the model; `better` says where it is clear, `yes` or `no`, whose interval is without 0.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.planted_rule(60, random_state=0)
    >>> table = rx.compare(rx.LynxClassifier(max_length=2), X, y, scoring="accuracy", folds=3)
    >>> print(table[["method", "accuracy"]].head(1).to_string(index=False))
    method  accuracy
      Lynx       1.0
    """
    X, measures = as_sequences(X), measures_named(scoring)
    labels = checked_labels(X, y)
    rows = {title(model): model, **(others or {})}
    rows |= {name: one for name, one in simple_methods(X).items() if name not in rows}
    parts = parts_of(
        X, labels, folds=folds, groups=groups, holdout=holdout, time_split=time_split, seed=seed
    )
    found = compared(rows, X, labels, parts, measures, groups=groups, seed=seed, n_jobs=n_jobs)
    return found.class_frame(backend) if per_class else found.to_frame(backend)


def title(model: Any) -> str:
    """The name of a classifier in a table."""
    names = {kind: name for name, kind in SYSTEMS.values()} | {LynxClassifier: "Lynx"}
    return names.get(type(model), type(model).__name__)


def simple_methods(X: Sequences) -> dict[str, Any]:
    """What a user would try first on such sequences, by the names of the rows."""
    rows = {LOGISTIC: aggregate_logistic(), BOOSTING: aggregate_boosting()}
    tables = X.facts().tables
    if any(tables[f"next_{name}", 2].size for name in dimension_names(tables)):
        dimension = link_of(X)[0].removeprefix("next_")  # of any part of X, too
        by_column = any(arity > 1 for name, arity in tables if link_name(name) is None)
        # Plain lists have no columns.
        how: dict[str, Any] = {"dimension": dimension, "per_predicate": by_column}
        rows[NGRAMS] = on_ngrams(linear_svm(), **how)
    return rows | {LARGEST: DummyClassifier(strategy="prior")}


def parts_of(
    X: Sequences, y: NDArray[Any], *, folds: int, groups: Iterable[object] | None,
    holdout: float | None, time_split: float | None, seed: int,
) -> list[Split]:  # fmt: skip
    """The training and test sequences of each part. Raises InputError."""
    for name, share in (("holdout", holdout), ("time_split", time_split)):
        if share is not None and not 0 < share < 1:
            raise InputError(f"{name} is {share!r}", hint="give a share between 0 and 1, as 0.2")
    if holdout is not None and time_split is not None:
        what = "holdout and time_split both say what is held out"
        raise InputError(what, hint="give one of them")
    if time_split is not None:
        if groups is not None:
            what = "a split by time may split groups"
            raise InputError(what, hint="leave out groups, or give holdout")
        return [split_by_time(X, y, time_split)]
    if holdout is not None:
        return [held_out(y, holdout, groups=groups, seed=seed)]
    return [*splits(y, folds=folds, groups=groups, seed=seed)]


def compared(
    rows: Mapping[str, Any], X: Sequences, y: NDArray[Any], parts: list[Split],
    scoring: str | Iterable[str] = tuple(MEASURES), *, groups: Iterable[object] | None = None,
    seed: int = 0, n_jobs: int | None = None, keep_model: bool = False,
    progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Fit and test each method on the same parts; the first one is the one to compare with."""
    measures = measures_named(scoring)
    results = {}
    for i, (name, model) in enumerate(rows.items()):
        tell = None if progress is None else lambda fold, name=name: progress(name, fold)
        how: dict[str, Any] = {"scores": True, "keep_models": keep_model and not i}
        results[name] = cross_validate(
            model, X, y, parts=parts, seeds=(seed,), n_jobs=n_jobs, progress=tell, **how
        )
    units = np.arange(len(X))
    if groups is not None:
        units = np.unique([str(one) for one in groups], return_inverse=True)[1]
    ratio = float(np.mean([len(test) / len(train) for train, test in parts]))
    return Comparison(results, y, measures, ratio, units, notes_on(X) if LOGISTIC in rows else ())


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of several methods on the same test parts; the first is the one to judge."""

    results: Mapping[str, CrossValidation]
    labels: NDArray[Any]
    measures: tuple[str, ...]
    ratio: float  # of test to training sequences
    units: Longs  # the group of each sequence
    notes: tuple[str, ...]

    @property
    def model(self) -> str:
        return next(iter(self.results))

    @cached_property
    def answers(self) -> dict[str, list[Answers]]:
        """The predictions of each method, part by part."""
        out: dict[str, list[Answers]] = {}
        for name, result in self.results.items():
            n = len(result.classes)
            for fold in result.folds:
                true, predicted = (
                    np.asarray(np.searchsorted(result.classes, some), np.int64)
                    for some in (self.labels[fold.test], fold.predicted)
                )
                told = Answers(true, predicted, n, fold.scores, fold.probabilities)
                out.setdefault(name, []).append(told)
        return out

    @cached_property
    def _draws(self) -> Floats | None:
        """The weights of a bootstrap of the test part, where there is one only."""
        tests = [fold.test for fold in self.results[self.model].folds]
        if len(tests) > 1:
            return None
        return draws(np.unique(self.units[tests[0]], return_inverse=True)[1])

    def estimate(self, name: str, measure: str, to: str | None = None) -> Estimate:
        """A measure of a method, or its difference to another method, with an interval."""
        told, other = self.answers[name], self.answers.get(to or "", [])
        values = np.array([value_of(measure, one) for one in told])
        most = MEASURES[measure].most
        if to is not None:
            values = values - np.array([value_of(measure, one) for one in other])
        if self._draws is None:
            return over_folds(values, self.ratio, 0 if to is None else -most, most)
        drawn = MEASURES[measure].compute(told[0], self._draws)
        if to is not None:
            drawn = drawn - MEASURES[measure].compute(other[0], self._draws)
        return over_draws(float(values[0]), drawn)

    def better(self, name: str) -> str:
        """Whether a method is better than the model: `yes` or `no` where the interval of the
        difference is without 0, else `unclear`."""
        found = self.estimate(name, self.measures[0], self.model)
        if not (found.low > 0 or found.high < 0):
            return "unclear"
        return "yes" if (found.low > 0) != MEASURES[self.measures[0]].less_is_better else "no"

    def sentences(self) -> list[str]:
        """Which methods do better than the model on the first measure, in words."""
        first = MEASURES[self.measures[0]]
        sign = -1 if first.less_is_better else 1
        means = {name: self.estimate(name, self.measures[0]).value for name in self.results}
        mine = means.pop(self.model)
        others = {name: value for name, value in means.items() if not np.isnan(value)}
        if not others or np.isnan(mine):
            return []
        lines = []
        for name in sorted(others, key=lambda name: -sign * others[name]):
            gain = self.estimate(name, self.measures[0], self.model)
            if sign * gain.value > 0:
                sure = "is" if self.better(name) == "yes" else "seems"
                spelled, what = SPELLED.get(name, name), f"{others[name]:.3f} against {mine:.3f}"
                between = f"a difference of {gain.low:.3f} to {gain.high:.3f}"
                lines.append(f"{spelled} {sure} better here: {what}, {between}")
        return lines or [f"no other method here has a better {first.title} than {self.model}"]

    def to_frame(self, backend: str = "pandas") -> Any:
        """A row for each method; see `compare`."""
        columns: dict[str, list[Any]] = {"method": [*self.results]}
        for measure in self.measures:
            found = [self.estimate(name, measure) for name in self.results]
            columns |= _columns(measure, found)
        found = [self.estimate(name, self.measures[0], self.model) for name in self.results]
        columns |= _columns("difference", found)
        others = [name for name in self.results if name != self.model]
        columns["better"] = ["", *(self.better(name) for name in others)]
        columns["seconds"] = [result.seconds for result in self.results.values()]
        note = "; ".join(self.notes)
        columns["note"] = [note if name in (LOGISTIC, BOOSTING) else "" for name in self.results]
        text = dict.fromkeys(("method", "better", "note"), str)
        return frame([columns], {name: text.get(name, float) for name in columns}, backend=backend)

    def class_rows(self, name: str) -> list[tuple[Any, int, float, float, float]]:
        """Each class with its test sequences and precision, recall and F1 over all of them."""
        told = self.answers[name]
        true, predicted = (
            np.concatenate([getattr(one, what) for one in told]) for what in ("true", "predicted")
        )
        pooled = Answers(true, predicted, told[0].n_classes)
        found = class_measures(pooled, np.ones((1, len(true))))
        sizes = np.bincount(true, minlength=pooled.n_classes).tolist()
        columns = [found[what][0].tolist() for what in ("precision", "recall", "F1")]
        return [*zip(self.results[name].classes.tolist(), sizes, *columns, strict=True)]

    def class_frame(self, backend: str = "pandas") -> Any:
        """A row for each method and class."""
        rows = [(name, *row) for name in self.results for row in self.class_rows(name)]
        names = ("method", "class", "sequences", "precision", "recall", "f1")
        columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        columns["class"] = [str(one) for one in columns["class"]]
        types: dict[str, type] = {"method": str, "class": str, "sequences": int}
        return frame([columns], {name: types.get(name, float) for name in names}, backend=backend)


def _columns(name: str, found: list[Estimate]) -> dict[str, list[Any]]:
    return {
        name: [one.value for one in found],
        f"{name}_low": [one.low for one in found],
        f"{name}_high": [one.high for one in found],
    }
