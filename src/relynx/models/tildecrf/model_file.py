"""What labellers and classifiers of trees learnt, as fields of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from relynx.bias.model_file import BIAS
from relynx.data.event_arguments import arguments_of, arguments_state
from relynx.data.schema import SCHEMA
from relynx.models.checks import Rule, parameter_problems
from relynx.models.tildecrf.literal_language import Language
from relynx.models.tildecrf.parameters import WIDEST
from relynx.models.tildecrf.tree_model_file import Rounds, trees_of, trees_state
from relynx.storage import Part
from relynx.storage.fields import TEXT, Field, Fields, array, labels


def _read_trees(part: Part, key: str, model: Any) -> Rounds:
    trees, window = part.part(key), model.window
    if type(window) is not int or not 0 <= window <= WIDEST:
        raise part.wrong(key, f"have no window from 0 to {WIDEST}")
    language = Language.of(model.bias_, model.dimension_, model.places_)
    rounds = trees_of(trees, len(model.classes_), language, window)
    trees.end()
    return rounds


# What trees are made of, which all labellers of a classifier share.
LANGUAGE: Fields = {
    "bias_": BIAS,
    "dimension_": TEXT,
    "places_": Field(
        lambda places, _: arguments_state(places),
        lambda part, key, _: tuple(sorted(arguments_of(part, key))),
    ),
    "reading_": SCHEMA,
}
LEARNT: Fields = {
    "classes_": labels("TildeCRF"),
    "trees_": Field(lambda trees, _: trees_state(trees), _read_trees),
    "history_": array(np.float64, (None,)),
    "held_out_": array(np.float64, (None,)),
}


def check_stored_parameters(part: Part, model: object, rules: Mapping[str, Rule]) -> None:
    """Refuse what `fit` refuses, for `predict` goes by the same parameters."""
    for problem in parameter_problems(model, rules):
        raise part.wrong("params", f"hold what fit refuses: {problem.message}")
