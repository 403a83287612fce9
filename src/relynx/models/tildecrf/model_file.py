"""Labellers and classifiers of trees, as the plain values and arrays of a model file."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.bias.model_file import bias_of, bias_text
from relynx.data.event_arguments import arguments_of, arguments_state
from relynx.data.schema import schema_or_none, schema_state
from relynx.errors import Problem
from relynx.models.tildecrf.boosting import Boosted
from relynx.models.tildecrf.classifier import TildeCRFClassifier, classifier_parameter_problems
from relynx.models.tildecrf.labeller import TildeCRF
from relynx.models.tildecrf.literal_language import Language
from relynx.models.tildecrf.parameters import WIDEST, parameter_problems
from relynx.models.tildecrf.tree_model_file import trees_of, trees_state
from relynx.storage.parts import Part, plain, plain_labels

State: TypeAlias = dict[str, Any]
Labels: TypeAlias = NDArray[Any]


def labeller_state(model: TildeCRF) -> State:
    """What a `TildeCRF` learnt."""
    return _language_state(model) | _learnt_state(model)


def restore_labeller(model: TildeCRF, part: Part) -> None:
    """Give a `TildeCRF`, its parameters set, what `labeller_state` wrote."""
    language, reading = _language(part), schema_or_none(part)
    model.take_learnt(*_learnt(part, language, model.window), reading)
    _check_parameters(part, parameter_problems(model))


def classifier_state(model: TildeCRFClassifier) -> State:
    """What a `TildeCRFClassifier` learnt; all its labellers have one language."""
    return _language_state(model.estimators_[0]) | {
        "classes_": plain_labels(model.classes_, "TildeCRFClassifier"),
        "class_prior_": plain(model.class_prior_, "class_prior_"),
        "estimators_": [_learnt_state(one) for one in model.estimators_],
    }


def restore_classifier(model: TildeCRFClassifier, part: Part) -> None:
    """Give a `TildeCRFClassifier`, its parameters set, what `classifier_state` wrote."""
    model.classes_ = part.labels("classes_")
    n = len(model.classes_)
    if n < 2:
        raise part.wrong("classes_", "are not at least two classes")
    model.class_prior_ = part.shares("class_prior_", n)
    language = _language(part)
    model.bias_, model.reading_ = language.bias, schema_or_none(part)
    model.estimators_ = []
    for one in part.parts("estimators_"):
        labeller = model.new_labeller()
        labeller.take_learnt(*_learnt(one, language, model.window), model.reading_)
        one.end()
        model.estimators_.append(labeller)
    found = [labeller.classes_.tolist() for labeller in model.estimators_]
    if found != [model.classes_[[*pair]].tolist() for pair in combinations(range(n), 2)]:
        raise part.wrong("estimators_", "are not one for each pair of classes")
    _check_parameters(part, classifier_parameter_problems(model))


def _check_parameters(part: Part, problems: Iterable[Problem]) -> None:
    """Refuse what `fit` refuses, for `predict` goes by the same parameters."""
    for problem in problems:
        raise part.wrong("params", f"hold what fit refuses: {problem.message}")


def _language_state(model: TildeCRF) -> State:
    return {
        "bias_": bias_text(model.bias_),
        "dimension_": model.dimension_,
        "places_": arguments_state(model.places_),
        "reading_": None if model.reading_ is None else schema_state(model.reading_),
    }


def _language(part: Part) -> Language:
    bias, dimension = bias_of(part, "bias_"), part.text("dimension_")
    return Language.of(bias, dimension, arguments_of(part, "places_"))


def _learnt_state(model: TildeCRF) -> State:
    return {
        "classes_": plain_labels(model.classes_, "TildeCRF"),
        "trees_": trees_state(model.trees_),
        "history_": plain(model.history_, "history_"),
        "held_out_": plain(model.held_out_, "held_out_"),
    }


def _learnt(part: Part, language: Language, window: object) -> tuple[Labels, Language, Boosted]:
    classes = part.labels("classes_")
    trees = part.part("trees_")
    if type(window) is not int or not 0 <= window <= WIDEST:
        raise part.wrong("trees_", f"have no window from 0 to {WIDEST}")
    rounds = trees_of(trees, len(classes), language, window)
    trees.end()
    history = part.array("history_", np.float64, (None,))
    held_out = part.array("held_out_", np.float64, (None,))
    return classes, language, Boosted(rounds, tuple(history.tolist()), tuple(held_out.tolist()))
