"""The optimal model: L1 logistic regression over all patterns of a language, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from relynx.arrays import Floats, Longs
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.features.candidates import lean, united
from relynx.features.exact_logistic import Certificate, fit_exact
from relynx.features.sparse_logistic import Columns, Solution, as_learner
from relynx.mining.bounded import Language
from relynx.mining.workers import n_threads
from relynx.models.lynx.pair_model import PairModel, warning_of
from relynx.models.lynx.sparse_model import by_importance
from relynx.search_settings import SearchSettings

# What keeps patterns out by how many sequences they cover, and what goes with a budget.
LIMITS = ("min_support", "min_frequency", "min_cover")
NOT_OURS = (*LIMITS[:2], "budget", "memory", "checkpoint")


def check_optimal(model: Any) -> None:
    """Raises InputError for parameters, and statements of the bias, of other methods."""
    for name in NOT_OURS:
        if getattr(model, name) not in (None, 1.0 if name == "budget" else None):
            what = f"{name} is no parameter of method='optimal'"
            raise InputError(what, hint=f"leave out {name}, or give method='sparse'")
    for name in LIMITS:
        if getattr(model.bias, name, None) is not None:
            what = f"the bias has a {name}, and method='optimal' is about all patterns"
            raise InputError(what, hint="leave it out of the bias, or give method='sparse'")


def learn_optimal(
    X: Sequences, codes: Longs, prior: Floats, model: Any, sample: Floats, seed: int
) -> tuple[PairModel, Certificate, str | None]:
    """One model of all classes, its certificate, and a warning, or None.

    `model` is a `LynxClassifier` with its `classes_` and `bias_`.
    """
    classes, n_classes = model.classes_, len(model.classes_)
    settings = SearchSettings.of_estimator(model.bias_, model)
    language = Language(X, model.bias_, settings, n_threads=n_threads(model.n_jobs))
    how: dict[str, Any] = {"seed": seed, "penalty": model.penalty}
    solution, certificate = fit_exact(language, codes, n_classes, sample, **how)
    found, order = language.patterns(solution.columns)
    if not len(found):
        empty = PairModel(classes, lean(found), np.empty(0, np.int64), None, prior)
        return empty, certificate, _stopped(language) or warning_of(found, classes)
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
