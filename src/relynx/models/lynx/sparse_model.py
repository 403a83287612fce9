"""The sparse model: L1 logistic regression over all patterns that a budget finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Sequences
from relynx.features.candidates import lean, united
from relynx.features.sparse_logistic import Columns, Solution, as_learner, fit_sparse
from relynx.mining.levels import Level, mine_at, mine_levels
from relynx.mining.workers import n_threads
from relynx.models.lynx.pair_model import Floats, PairModel, warning_of
from relynx.search_settings import SearchSettings

Longs = NDArray[np.int64]
THRESHOLDS = ("min_support", "min_frequency")


def learn_sparse(
    X: Sequences, codes: Longs, prior: Floats, model: Any, sample: Floats, seed: int
) -> tuple[PairModel, list[Level], str | None]:
    """One model of all classes; the levels that were searched, and a warning, or None.

    `model` is a `LynxClassifier` with its `classes_` and `bias_`. Its thresholds, or those of the
    bias that it was given, are used as they are; without any the budget decides.
    """
    classes, n_classes = model.classes_, len(model.classes_)
    settings = SearchSettings.of_estimator(model.bias_, model)
    levels = _levels(X, codes, model, settings)
    columns = Columns(
        np.concatenate([[0], *(one.offset[1:] + start for one, start in _starts(levels))]),
        np.concatenate([one.rows for one in levels]),
        len(X),
    )
    names = tuple(classes.tolist())
    if not len(columns):
        nothing = lean(levels[0].patterns[:0])
        empty = PairModel(classes, nothing, np.empty(0, np.int64), None, prior)
        return empty, levels, warning_of(levels[0].found, classes)
    threads = n_threads(model.n_jobs)
    fitted = fit_sparse(columns, codes, n_classes, sample, seed=seed, n_threads=threads)
    solution = _by_importance(fitted.solution, columns)
    sets, order, start = [], [], 0
    for one in levels:
        places = np.flatnonzero(
            (solution.columns >= start) & (solution.columns < start + len(one.patterns))
        )
        rows = one.patterns.rows[solution.columns[places] - start]
        sets.append(one.patterns.with_rows(rows))
        order.append(places)
        start += len(one.patterns)
    selected, _ = united(sets, X, codes, names)
    selected = selected.with_rows(selected.rows[np.argsort(np.concatenate(order))])
    learner = as_learner(solution, n_classes) if len(selected) else None
    return (
        PairModel(classes, selected, np.arange(len(selected)), learner, prior),
        levels,
        None,
    )


def _levels(X: Sequences, codes: Longs, model: Any, settings: SearchSettings) -> list[Level]:
    stated = [getattr(model, name) for name in THRESHOLDS]
    if model.bias is not None:
        stated += [getattr(model.bias, name) for name in THRESHOLDS]
    if any(value is not None for value in stated):
        return mine_at(X, codes, model.bias_, settings, model.n_jobs)
    return mine_levels(
        X,
        model.bias_,
        settings,
        budget=model.budget,
        n_scores=len(model.classes_) if len(model.classes_) > 2 else 1,
        any_gap=model.bias is None and model.max_gap is None,
        n_jobs=model.n_jobs,
    )


def _starts(levels: list[Level]) -> list[tuple[Level, int]]:
    """Each level with the number of ones before it."""
    ends = np.cumsum([len(one.rows) for one in levels])
    return list(zip(levels, [0, *ends[:-1].tolist()], strict=True))


def _by_importance(solution: Solution, columns: Columns) -> Solution:
    """The columns in falling order of how much their terms vary over the training sequences."""
    share = np.diff(columns.offset)[solution.columns] / columns.n_rows
    spread = np.abs(solution.weights).max(axis=0, initial=0.0) * np.sqrt(share * (1 - share))
    order = np.lexsort((solution.columns, -spread.round(12)))
    return Solution(solution.columns[order], solution.weights[:, order], solution.intercept)
