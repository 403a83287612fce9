"""What an analyst would compute with a data frame: one row of numbers for each sequence.

How often each value occurs, the mean, least, largest, last and sum of numbers, the number of events
and the time from the first to the last. Two well-known learners take these columns. A method that
looks at relations should beat both, and often does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from relynx.arrays import Floats, Longs
from relynx.data.event_arguments import Argument, dimension_names, event_keys
from relynx.data.event_order import ordered_events
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.features.vectorizer import SequenceEstimator, as_sequences
from relynx.logic.tables import Key, distinct
from relynx.logic.terms import Constant, constant_text, quoted

FEW, MANY = 10, 100  # numbers, whole numbers, of no more different values are counted, too
ALONE = -1  # in place of an argument: the facts of a predicate are counted
SPARSE, DENSE = 20_000, 500  # most counts of values, in a matrix of either form
TREES = 3_000  # of a boosted model, for all classes together
SHOWN = 3
PARTS = 3
PENALTIES = (0.003, 0.03, 0.3, 3.0)  # of the logistic regression, as C; chosen among by log loss
USUAL = 0.3  # where it is not chosen,
CHEAP = 3_000_000  # as there are more stored numbers times classes
MANY_CLASSES = 10
STATISTICS = ("mean", "least", "largest", "last", "sum")

Series: TypeAlias = tuple[Longs, Floats]  # sequences, in order, and a number of each


@dataclass(eq=False, repr=False)
class Aggregates(TransformerMixin, SequenceEstimator):  # type: ignore[misc]
    """Sequences as rows of aggregates; which columns there are is learnt from the training part.

    A value is counted if two training sequences have it; of too many, those of the most sequences.

    Parameters
    ----------
    dense
        Whether the matrix is a dense one, NaN where a sequence has no number. Otherwise it is
        sparse and scaled: numbers are centred, and NaN is the mean.
    """

    _: KW_ONLY
    dense: bool = False

    def fit(self, X: object, y: object = None) -> Aggregates:
        X = as_sequences(X)
        self.events_ = _event_arguments(X)
        counts = sorted(_common(X, self.events_), key=lambda one: (-one[0], one[1:4]))
        self.counts_ = [one[1:3] + one[4:] for one in counts[: DENSE if self.dense else SPARSE]]
        numbers = _numbers(X, self.events_)
        self.numbers_ = ["length"]  # and what differs between sequences
        for name, column in numbers.items():
            what, _, whose = name.partition(" of ")
            low, high = (numbers.get(f"{end} of {whose}", column) for end in ("least", "largest"))
            known = what in STATISTICS[1:] and np.array_equal(low, high, equal_nan=True)
            if not known and name != "length" and len(np.unique(column[column == column])) > 1:
                self.numbers_.append(name)
        self.scaler_ = StandardScaler().fit(np.array([numbers[name] for name in self.numbers_]).T)
        square, mean = (self._counts(X).power(n).sum(axis=0) / max(len(X), 1) for n in (2, 1))
        spread = np.sqrt(np.maximum(square - mean**2, 0))
        self.count_scale_ = np.where(spread > 1e-6, spread, 1.0)  # 0 but for rounding
        return self

    def transform(self, X: object) -> Any:
        """Array or CSR matrix of shape (n_sequences, n_columns)."""
        X = as_sequences(X)
        found, nothing = _numbers(X, self.events_), np.full(len(X), np.nan)
        numbers = np.array([found.get(name, nothing) for name in self.numbers_]).T
        counts = self._counts(X)
        if self.dense:
            return np.hstack([numbers, counts.toarray()])
        scaled = np.nan_to_num(self.scaler_.transform(numbers))
        return sparse.hstack([scaled, counts.multiply(1 / self.count_scale_)], format="csr")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        names = [*self.numbers_]
        for key, i, constant in self.counts_:
            held = sum(one not in self.events_ for one in _places(key))
            value = constant_text(constant) if held == 1 else f"{i + 1}: {constant_text(constant)}"
            names.append(f"number of {quoted(key[0])}" + (f"({value})" if held else ""))
        return np.array(names, object)

    def _counts(self, X: Sequences) -> Any:
        """How often each value occurs in each sequence, as a CSR matrix."""
        rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        into: dict[Argument, Longs] = {}
        for j, (key, i, constant) in enumerate(self.counts_):
            if i == ALONE and key in X.tables:
                rows.append(X.tables[key][0])
                columns.append(np.full(X.tables[key].shape[1], j))
            elif key in X.tables and (code := X.vocabulary.code(constant)) >= 0:
                into.setdefault((key, i), np.full(len(X.vocabulary), -1))[code] = j
        for (key, i), column in into.items():
            found = column[X.tables[key][1 + i]]
            rows.append(X.tables[key][0][found >= 0])
            columns.append(found[found >= 0])
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = (len(X), len(self.counts_))
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)


class PenalisedRegression(LogisticRegression):  # type: ignore[misc]
    """Logistic regression whose penalty is chosen by the log loss of three parts, where that is
    cheap. It may end before it has converged, and takes one thread: small matrices need no more."""

    def fit(self, X: Any, y: NDArray[Any]) -> PenalisedRegression:
        y = np.asarray(y)
        classes, sizes = np.unique(y, return_counts=True)
        self.C = USUAL
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if X.nnz * len(classes) <= CHEAP and sizes.min() >= PARTS:
                losses = np.zeros(len(PENALTIES))
                parts = StratifiedKFold(PARTS, shuffle=True, random_state=0)
                for train, test in parts.split(X, y):
                    for i, C in enumerate(PENALTIES):
                        part = LogisticRegression(C=C, max_iter=self.max_iter, tol=self.tol).fit(
                            X[train], y[train]
                        )
                        losses[i] += log_loss(y[test], part.predict_proba(X[test]), labels=classes)
                self.C = PENALTIES[int(losses.argmin())]
            super().fit(X, y)
        return self


class BoostedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """Gradient boosting with fewer and larger steps where there are many classes, of which each
    needs a tree in each step. It takes one thread."""

    def fit(self, X: Any, y: NDArray[Any]) -> BoostedTrees:
        _, sizes = np.unique(np.asarray(y), return_counts=True)
        self.max_iter = int(np.clip(TREES // len(sizes), 10, 100))
        self.learning_rate = min(0.3, 10 / self.max_iter)
        self.l2_regularization = float(len(sizes) > MANY_CLASSES)  # else small classes overshoot
        self.min_samples_leaf = int(np.clip(sizes.min() // 2, 3, 20))
        with threadpool_limits(1):
            super().fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        with threadpool_limits(1):
            return np.asarray(super().predict_proba(X))


def aggregate_logistic() -> Any:
    """Logistic regression on the aggregates."""
    return make_pipeline(Aggregates(), PenalisedRegression(max_iter=200, tol=1e-6))


def aggregate_boosting() -> Any:
    """Gradient boosting on the aggregates."""
    return make_pipeline(Aggregates(dense=True), BoostedTrees(early_stopping=False, random_state=0))


def _places(key: Key) -> list[Argument]:
    return [(key, i) for i in range(key[1])]


def _is_link(key: Key) -> bool:
    return bool(dimension_names([key]))


def _event_arguments(X: Sequences) -> frozenset[Argument]:
    """The arguments that hold events: of a table its reading says, else the links tell."""
    if X.reading is not None and not X.reading.is_of_facts:
        known = X.reading.n_events
        return frozenset((key, i) for key in X.tables for i in range(known.get(key[0], 0)))
    facts = X.facts()
    return frozenset(event_keys(facts.tables, max(len(facts.vocabulary), 1))[1])


def _value_arguments(X: Sequences, events: frozenset[Argument]) -> list[Argument]:
    places = [one for key in sorted(X.tables) if not _is_link(key) for one in _places(key)]
    return [one for one in places if one not in events]


def _common(
    X: Sequences, events: frozenset[Argument]
) -> Iterator[tuple[int, Key, int, str, Constant]]:
    """The values that at least two sequences have, and in how many: those of an argument, or a
    predicate itself, where all of its arguments are events. Of numbers, these are few."""
    n = max(len(X.vocabulary), 1)
    for key, table in X.tables.items():
        values = [i for i in range(key[1]) if (key, i) not in events]
        if not _is_link(key) and not values and len(found := np.unique(table[0])) > 1:
            yield len(found), key, ALONE, "", ""
        for i in () if _is_link(key) else values:
            pairs = distinct(table[0].astype(np.int64) * n + table[1 + i])
            codes, counts = np.unique(pairs % n, return_counts=True)
            constants = [X.vocabulary[code] for code in codes.tolist()]
            whole = all(isinstance(one, int) for one in constants)
            if all(map(_is_number, constants)) and len(codes) > (MANY if whole else FEW):
                continue
            for constant, count in zip(constants, counts.tolist(), strict=True):
                if count > 1:
                    yield count, key, i, constant_text(constant), constant


def _numbers(X: Sequences, events: frozenset[Argument]) -> dict[str, Floats]:
    """Length, duration and the statistics of numbers, NaN where there are none."""
    out = {"length": _lengths(X, events)}
    if X.numbers is not None and X.numbers.spans is not None:
        out["duration"] = X.numbers.spans[1] - X.numbers.spans[0]
    for name, series in _series(X, events):
        columns = zip(STATISTICS, _statistics(series, len(X)), strict=True)
        out |= {f"{what} of {name}": column for what, column in columns}
    return out


def _lengths(X: Sequences, events: frozenset[Argument]) -> Floats:
    """The number of events of each sequence; of facts where there are no events."""
    n = max(len(X.vocabulary), 1)
    links = {one for key in X.tables if _is_link(key) for one in _places(key)}
    held = [one for one in sorted(events | links) if one[0] in X.tables]
    keys = [X.tables[key][0].astype(np.int64) * n + X.tables[key][1 + i] for key, i in held]
    if keys:
        rows = distinct(np.concatenate(keys)) // n
    else:
        rows = np.concatenate([np.empty(0, np.int64), *(t[0] for t in X.tables.values())])
    return np.bincount(rows, minlength=len(X)).astype(np.float64)


def _is_number(constant: Constant) -> bool:
    return isinstance(constant, int | float)


def _series(X: Sequences, events: frozenset[Argument]) -> Iterator[tuple[str, Series]]:
    """Every argument that holds numbers only, and every column whose facts are ranges: the numbers
    of the sequences, those of each in the order of its events."""
    order = None
    for key, i in _value_arguments(X, events):
        table = X.tables[key]
        codes, into = np.unique(table[1 + i], return_inverse=True)
        constants = [X.vocabulary[code] for code in codes.tolist()]
        if len(constants) > 2 and all(map(_is_number, constants)):
            numbers = np.array(constants, np.float64)[into]
            at = next((j for other, j in _places(key) if (other, j) in events), None)
            if at is not None:
                order = _positions(X) if order is None else order
                n = max(len(X.vocabulary), 1)
                by = order(table[0].astype(np.int64) * n + table[1 + at])
                numbers = numbers[np.lexsort((by, table[0]))]
            yield f"{quoted(key[0])}/{i + 1}", (table[0].astype(np.int64), numbers)
    if X.numbers is not None:
        rows = np.repeat(np.arange(len(X)), np.diff(X.numbers.offsets))
        for name, numbers in zip(X.numbers.names, X.numbers.values, strict=True):
            known = ~np.isnan(numbers)
            yield repr(name), (rows[known], numbers[known])


def _positions(X: Sequences) -> Any:
    """What tells the place of an event, given as sequence * n_constants + code, in its sequence.

    In tables and lists, and in most files, events are numbered in their order.
    """
    tables = X.facts().tables
    links = [table for key, table in tables.items() if _is_link(key)]
    if all((table[1] < table[2]).all() for table in links) or not links:
        return lambda keys: keys
    n = max(len(X.vocabulary), 1)
    try:
        ordered = ordered_events(X)
    except InputError:  # the order runs in a circle
        return lambda keys: keys
    place = {row * n + code: i for row, some in enumerate(ordered) for i, code in enumerate(some)}
    return lambda keys: np.array([place.get(key, -1) for key in keys.tolist()], np.int64)


def _statistics(series: Series, n: int) -> list[Floats]:
    """Mean, least, largest, last and sum for each of n sequences, NaN for none."""
    rows, numbers = series
    out = [np.full(n, np.nan) for _ in STATISTICS]
    if len(rows):
        starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        ends = np.append(starts[1:], len(rows))
        total = np.add.reduceat(numbers, starts)
        found: Iterable[Floats] = (
            total / (ends - starts),
            np.minimum.reduceat(numbers, starts),
            np.maximum.reduceat(numbers, starts),
            numbers[ends - 1],
            total,
        )
        for column, values in zip(out, found, strict=True):
            column[rows[starts]] = values
    return out


def notes_on(X: Sequences) -> tuple[str, ...]:
    """What the aggregates of such sequences lack."""
    notes = []
    schema, kept = X.reading, () if X.numbers is None else X.numbers.names
    groups = () if schema is None or schema.is_of_facts else schema.fluents + schema.attributes
    lost = [c.name for group in groups for c in group.columns if c.cuts and c.name not in kept]
    if lost:
        shown = ", ".join(map(repr, lost[:SHOWN])) + (", ..." if len(lost) > SHOWN else "")
        notes.append(f"of {shown} ranges are counted: the numbers were not kept")
    n_values = sum(1 for _ in _common(X, _event_arguments(X)))
    for n, what in ((DENSE, "boosting"), (SPARSE, "logistic regression")):
        if n_values > n:
            notes.append(f"{what} counts {n:,} of {n_values:,} values, those of most sequences")
    return tuple(notes)
