"""The sparse model: logistic regression over all patterns that a budget finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.features.candidates import lean, united
from relynx.features.sparse_logistic import Columns, Solution, as_learner, fit_sparse
from relynx.mining.levels import LEAST, Level, mine_at, mine_levels, sequence_sizes
from relynx.mining.workers import n_threads
from relynx.models.lynx.checkpoint import MINING, inside
from relynx.models.lynx.pair_model import Floats, PairModel, warning_of
from relynx.search_settings import SearchSettings, default
from relynx.version import __version__

Longs = NDArray[np.int64]


def learn_sparse(
    X: Sequences,
    codes: Longs,
    prior: Floats,
    model: Any,
    sample: Floats,
    seed: int,
    memory: Any,
    checkpoint: str | None,
) -> tuple[PairModel, list[Level], str | None]:
    """One model of all classes; the levels that were searched, and a warning, or None.

    `model` is a `LynxClassifier` with its `classes_` and `bias_`. Its minimum support, or that of
    the bias that it was given, is used as it is; without any the budget decides, above its minimum
    frequency.
    """
    classes, n_classes = model.classes_, len(model.classes_)
    settings = SearchSettings.of_estimator(model.bias_, model)
    levels = _levels(X, codes, model, settings, memory, checkpoint)
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
    fitted = fit_sparse(
        columns,
        codes,
        n_classes,
        sample,
        seed=seed,
        n_threads=n_threads(model.n_jobs),
        sizes=sequence_sizes(X, settings.object_identity),
    )
    solution = by_importance(fitted.solution, columns)
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
    rows = selected.rows[np.argsort(np.concatenate(order))]
    selected = levels[-1].found.with_rows(rows, trie=selected.trie)  # complete up to that length
    learner = as_learner(solution, n_classes) if len(selected) else None
    which, n_candidates = np.arange(len(selected)), len(columns)
    how: dict[str, Any] = {"n_candidates": n_candidates, "growth": fitted.growth}
    return PairModel(classes, selected, which, learner, prior, **how), levels, None


def _levels(
    X: Sequences,
    codes: Longs,
    model: Any,
    settings: SearchSettings,
    memory: Any,
    checkpoint: str | None,
) -> list[Level]:
    """What is searched: by the given minimum support, or by the budget."""
    kept = memory.cache(_searched, ignore=["n_jobs", "checkpoint"])
    support, frequency = (
        given if given is not None else getattr(model.bias, name, None)
        for name in ("min_support", "min_frequency")
        for given in (getattr(model, name),)
    )
    if model.bias is None and model.max_length is None:  # the budget, and no estimate, decides
        settings = replace(settings, max_length=default("max_length"))
    levels: list[Level] = kept(
        __version__,
        X,
        codes,
        model.bias_,
        settings,
        None if support is not None else max(frequency or 0, LEAST),
        model.budget,
        len(model.classes_) if len(model.classes_) > 2 else 1,
        model.bias is None and model.max_gap is None,
        n_jobs=model.n_jobs,
        checkpoint=inside(checkpoint, MINING),
    )
    return levels


# Cached by `memory`; the version is part of the key, so that versions do not share results.
def _searched(
    version: str,
    X: Sequences,
    codes: Longs,
    bias: Bias,
    settings: SearchSettings,
    least: int | None,
    budget: float,
    n_scores: int,
    any_gap: bool,
    n_jobs: int | None,
    checkpoint: str | None,
) -> list[Level]:
    how: dict[str, Any] = {"n_jobs": n_jobs, "checkpoint": checkpoint}
    if least is None:
        return mine_at(X, codes, bias, settings, **how)
    limits: dict[str, Any] = {"least": least, "budget": budget, "n_scores": n_scores}
    return mine_levels(X, bias, settings, any_gap=any_gap, **limits, **how)


def _starts(levels: list[Level]) -> list[tuple[Level, int]]:
    """Each level with the number of ones before it."""
    ends = np.cumsum([len(one.rows) for one in levels])
    return list(zip(levels, [0, *ends[:-1].tolist()], strict=True))


def by_importance(solution: Solution, columns: Columns) -> Solution:
    """The columns in falling order of how much their terms vary over the training sequences."""
    share = np.diff(columns.offset)[solution.columns] / columns.n_rows
    spread = np.abs(solution.weights).max(axis=0, initial=0.0) * np.sqrt(share * (1 - share))
    order = np.lexsort((solution.columns, -spread.round(12)))
    return Solution(solution.columns[order], solution.weights[:, order], solution.intercept)
