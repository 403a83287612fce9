"""One model of all classes: sparse logistic regression over all patterns that a budget finds, or
over all of the language, with a certificate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats, Longs
from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.features.candidates import lean, united
from relynx.features.exact_logistic import Certificate, fit_exact
from relynx.features.sparse_logistic import FORMS, Columns, Solution, as_learner, fit_sparse
from relynx.mining.bounded import Language
from relynx.mining.levels import LEAST, Level, mine_at, mine_levels, sequence_sizes, spans
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.views import View, mine_views
from relynx.mining.workers import n_threads
from relynx.models.lynx.checkpoint import MINING, inside
from relynx.models.lynx.pair_model import PairModel, warning_of
from relynx.models.lynx.widening import evidence
from relynx.search_settings import SearchSettings, default
from relynx.version import __version__

# What keeps patterns out by how many sequences they cover, and what goes with a budget.
LIMITS = ("min_support", "min_frequency", "min_cover")
NOT_OURS = (*LIMITS[:2], "budget", "memory", "checkpoint")


def learn_sparse(
    X: Sequences,
    codes: Longs,
    prior: Floats,
    model: Any,
    sample: Floats,
    seed: int,
    memory: Any,
    checkpoint: str | None,
) -> tuple[PairModel, list[Level], list[View], str | None]:
    """One model of all classes; the levels that were searched, the views among them, and a warning,
    or None. `model` is a `LynxClassifier` with its `classes_` and `bias_`. Its minimum support, or
    that of the bias that it was given, is used as it is; without any the budget decides, above its
    minimum frequency."""
    classes, n_classes = model.classes_, len(model.classes_)
    views: list[View] = []
    if model.bias is None:  # the inferred one is widened where the classes ask for it
        counts = sample > 0
        views = evidence(X[counts], codes[counts], model.bias_, seed)
    levels = levels_of(X, codes, model, memory, checkpoint, views)
    columns = Columns(
        np.cumsum(np.concatenate([[0], *(np.diff(one.offset) for one in levels)])),
        np.concatenate([one.rows for one in levels]),
        len(X),
    )
    if not len(columns):
        nothing = without_patterns(levels[0].patterns[:0], classes, prior)
        return nothing, levels, views, warning_of(levels[0].found, classes)
    fitted = fit_sparse(
        columns,
        codes,
        n_classes,
        sample,
        seed=seed,
        n_threads=n_threads(model.n_jobs),
        sizes=sequence_sizes(X, levels[0].found.object_identity),
        spans=spans_of(levels, model.bias_),
        lengths=np.concatenate([one.patterns.lengths for one in levels]),
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
    selected, _ = united(sets, X, codes, tuple(classes.tolist()))
    rows = selected.rows[np.argsort(np.concatenate(order))]
    longest = [one for one in levels if not one.is_apart][-1]  # complete up to that length
    selected = longest.found.with_rows(rows, trie=selected.trie)
    learner = as_learner(solution, n_classes) if len(selected) else None
    which, form = np.arange(len(selected)), FORMS[fitted.chosen[0]].name
    how: dict[str, Any] = {"n_candidates": len(columns), "growth": fitted.growth, "form": form}
    return PairModel(classes, selected, which, learner, prior, **how), levels, views, None


def spans_of(levels: list[Level], bias: Bias) -> Longs | None:
    """The spans of all patterns; None in several dimensions, where few events are far away."""
    if len(bias.dimensions) > 1:
        return None
    return np.concatenate([spans(one.patterns) for one in levels])


def levels_of(
    X: Sequences,
    codes: Longs,
    model: Any,
    memory: Any,
    checkpoint: str | None,
    views: Iterable[View] = (),
) -> list[Level]:
    """What is searched: by the given minimum support, or by the budget."""
    settings = SearchSettings.of_estimator(model.bias_, model)
    declared = None if model.bias is None else model.bias_
    kept = memory.cache(_searched, ignore=["n_jobs", "checkpoint"])
    support, frequency = (
        getattr(declared, name, None) if given is None else given
        for name in ("min_support", "min_frequency")
        for given in (getattr(model, name),)
    )
    any_length = model.bias is None and model.max_length is None
    if any_length:  # the budget, and no estimate, decides
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
        {"any_gap": model.bias is None and model.max_gap is None, "any_length": any_length},
        tuple(views),
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
    may_be: dict[str, Any],
    views: tuple[View, ...],
    n_jobs: int | None,
    checkpoint: str | None,
) -> list[Level]:
    def search(X: Sequences, bias: Bias, settings: SearchSettings, **how: Any) -> list[Level]:
        if least is None:
            return mine_at(X, codes, bias, settings, n_jobs, how.get("checkpoint"))
        limits: dict[str, Any] = {"least": least, "n_scores": n_scores, "n_jobs": n_jobs}
        return mine_levels(X, bias, settings, **limits, **{"budget": budget} | how)

    levels = search(X, bias, settings, **may_be, checkpoint=checkpoint)
    settings = replace(settings, max_gap=levels[0].max_gap)
    share = budget / max(len(views), 1)
    of_view = partial(search, settings=settings, budget=share)
    return levels + mine_views(X, bias, views, levels, of_view, settings.object_identity)


def check_optimal(model: Any) -> None:
    """Raises InputError for parameters, and statements of the bias, of other methods."""
    for name in NOT_OURS:
        if getattr(model, name) not in (None, 1.0 if name == "budget" else None):
            what = f"{name} is no parameter of method='optimal'"
            raise InputError(what, hint=f"leave out {name}, or give method='sparse'")
    for name in LIMITS:
        if model.bias is not None and getattr(model.bias_, name) is not None:
            what = f"the bias has a {name}, and method='optimal' is about all patterns"
            raise InputError(what, hint="leave it out of the bias, or give method='sparse'")


def learn_optimal(
    X: Sequences, codes: Longs, prior: Floats, model: Any, sample: Floats, seed: int
) -> tuple[PairModel, Certificate, str | None]:
    """One model of all classes, its certificate, and a warning, or None. `model` is a
    `LynxClassifier` with its `classes_` and `bias_`."""
    classes, n_classes = model.classes_, len(model.classes_)
    settings = SearchSettings.of_estimator(model.bias_, model)
    language = Language(X, model.bias_, settings, n_threads=n_threads(model.n_jobs))
    how: dict[str, Any] = {"seed": seed, "penalty": model.penalty}
    solution, certificate = fit_exact(language, codes, n_classes, sample, **how)
    found, order = language.patterns(solution.columns)
    if not len(found):
        nothing = without_patterns(found, classes, prior)
        return nothing, certificate, _stopped(language) or warning_of(found, classes)
    columns = Columns(*language.columns(solution.columns[order]), len(X))
    ordered = Solution(np.arange(len(found)), solution.weights[:, order], solution.intercept)
    ordered = by_importance(ordered, columns)
    selected, _ = united([found[ordered.columns]], X, codes, tuple(classes.tolist()))
    every = np.arange(len(selected))
    learner, n = as_learner(ordered, n_classes), int(language.usable.sum())
    learnt = PairModel(classes, selected, every, learner, prior, n_candidates=n)
    return learnt, certificate, _stopped(language)


def _stopped(language: Language) -> str | None:
    if language.reason is None:
        return None
    return f"{language.reason}\nthe gap of the certificate allows for all that was not counted"


def without_patterns(found: PatternSet, classes: NDArray[Any], prior: Floats) -> PairModel:
    """The model without a pattern, of those found."""
    return PairModel(classes, lean(found), np.empty(0, np.int64), None, prior)


def by_importance(solution: Solution, columns: Columns) -> Solution:
    """The columns in falling order of how much their terms vary over the training sequences."""
    share = np.diff(columns.offset)[solution.columns] / columns.n_rows
    spread = np.abs(solution.weights).max(axis=0, initial=0.0) * np.sqrt(share * (1 - share))
    order = np.lexsort((solution.columns, -spread.round(12)))
    return Solution(solution.columns[order], solution.weights[:, order], solution.intercept)
