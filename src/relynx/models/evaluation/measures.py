"""Measures of predictions, and intervals of them.

Each measure weighs the sequences, so that it serves a bootstrap as well: a row of weights says how
often each sequence was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from relynx.arrays import Floats, Longs
from relynx.errors import InputError, did_you_mean

LEVEL = 0.95
DRAWS, MOST_WEIGHTS = 1000, 5_000_000  # of a bootstrap; fewer draws where sequences are many


@dataclass(frozen=True, slots=True)
class Answers:
    """Classes and predicted classes of sequences as numbers, and scores for each class if any."""

    true: Longs
    predicted: Longs
    n_classes: int
    scores: Floats | None = None
    probabilities: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; all are NaN where a measure says nothing."""

    value: float
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its title in a table, its largest value, whether less is better, and a function of
    answers and weights, array of shape (n_draws, n_sequences)."""

    title: str
    most: float
    less_is_better: bool
    compute: Callable[[Answers, Floats], Floats]


def accuracy(told: Answers, weights: Floats) -> Floats:
    return np.asarray(weights @ (told.true == told.predicted) / weights.sum(axis=1))


def balanced_accuracy(told: Answers, weights: Floats) -> Floats:
    """The mean recall of the classes that occur."""
    return _mean(class_measures(told, weights)["recall"])


def f1(told: Answers, weights: Floats) -> Floats:
    """The mean F1 of the classes that occur or are predicted."""
    return _mean(class_measures(told, weights)["F1"])


def auc(told: Answers, weights: Floats) -> Floats:
    """The area under the ROC curve of each class against the rest, and the mean over classes."""
    if told.scores is None:
        return np.full(len(weights), np.nan)
    areas = []
    for c in np.unique(told.true).tolist():
        order = np.argsort(told.scores[:, c], kind="stable")
        ordered, drawn = told.scores[order, c], weights[:, order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        mine = told.true[order] == c
        ours = np.add.reduceat(drawn * mine, starts, axis=1)
        others = np.add.reduceat(drawn * ~mine, starts, axis=1)
        below = np.cumsum(others, axis=1) - others / 2  # of equal scores half are below
        areas.append(_ratio((ours * below).sum(axis=1), ours.sum(axis=1) * others.sum(axis=1)))
    return _mean(np.array(areas).T)


def log_loss(told: Answers, weights: Floats) -> Floats:
    """The mean of minus the logarithm of the probability of the right class."""
    if told.scores is None or not told.probabilities:
        return np.full(len(weights), np.nan)
    right = told.scores[np.arange(len(told.true)), told.true]
    losses = -np.log(np.maximum(right, np.finfo(float).eps))
    return np.asarray(weights @ losses / weights.sum(axis=1))


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("accuracy", 1, False, accuracy),
    "balanced_accuracy": Measure("balanced", 1, False, balanced_accuracy),
    "auc": Measure("AUC", 1, False, auc),
    "f1": Measure("F1", 1, False, f1),
    "log_loss": Measure("log loss", np.inf, True, log_loss),
}


def measures_named(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names of measures, given as a list or with commas between them. Raises InputError."""
    given = [*(names.split(",") if isinstance(names, str) else names)]
    found = tuple(dict.fromkeys(str(name).strip() for name in given if str(name).strip()))
    known = f"give some of {','.join(MEASURES)}"
    for name in found:
        if name not in MEASURES:
            hint = did_you_mean(name, [*MEASURES]) or known
            raise InputError(f"there is no measure {name!r}", hint=hint)
    if not found:
        raise InputError("no measure is given", hint=known)
    return found


def class_measures(told: Answers, weights: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 of each class, arrays of shape (n_draws, n_classes); NaN where a
    class neither occurs nor is predicted, and of recall where it does not occur."""
    eye = np.eye(told.n_classes)
    true, predicted = eye[told.true], eye[told.predicted]
    hits, occurs, given = weights @ (true * predicted), weights @ true, weights @ predicted
    recall = _ratio(hits, occurs)
    precision = np.where(given > 0, _ratio(hits, given), np.where(occurs > 0, 0.0, np.nan))
    return {"precision": precision, "recall": recall, "F1": _ratio(2 * hits, occurs + given)}


def value_of(name: str, told: Answers) -> float:
    return float(MEASURES[name].compute(told, np.ones((1, len(told.true))))[0])


def over_folds(values: Floats, ratio: float, least: float, most: float) -> Estimate:
    """The mean of the folds and its corrected resampled t interval (Nadeau and Bengio 2003): folds
    share training sequences, so that they vary less than new samples would. `ratio` is the number
    of test sequences by that of training sequences; the interval stays in `least` to `most`."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(np.nan)
    mean = float(known.mean())
    if len(known) < 2:
        return Estimate(mean)
    error = float(known.std(ddof=1)) * np.sqrt(1 / len(known) + ratio)
    width = float(stats.t.ppf((1 + LEVEL) / 2, len(known) - 1)) * error
    return Estimate(mean, max(mean - width, least), min(mean + width, most))


def draws(units: Longs) -> Floats:
    """How often a bootstrap draws each sequence; those of one unit, such as a group, together."""
    n_units = int(units.max()) + 1
    n_draws = int(np.clip(MOST_WEIGHTS // len(units), DRAWS // 5, DRAWS))
    drawn = np.random.default_rng(0).multinomial(n_units, [1 / n_units] * n_units, n_draws)
    return drawn[:, units].astype(np.float64)


def over_draws(value: float, drawn: Floats) -> Estimate:
    """A value of one test part, and the percentiles of those of a bootstrap."""
    if np.isnan(value) or np.isnan(drawn).all():
        return Estimate(value)
    low, high = np.nanpercentile(drawn, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Estimate(value, float(low), float(high))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _mean(values: Floats) -> Floats:
    """The mean over the last axis of what is known."""
    known = ~np.isnan(values)
    return _ratio(np.where(known, values, 0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))
