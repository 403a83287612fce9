"""The parameters that TildeCRF and its classifier have in common, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.bias.infer import infer_language
from relynx.bias.model_file import BIAS
from relynx.bias.modes import EVENT
from relynx.bias.size_estimate import Size
from relynx.data.event_arguments import Argument
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.features.vectorizer import SequenceEstimator
from relynx.models.checks import SWITCH, Rule, is_count, is_positive, none_or_a
from relynx.models.observations import observed_arguments
from relynx.models.tildecrf.boosting import BoostingParameters
from relynx.models.tildecrf.growing import Limits
from relynx.models.tildecrf.literal_language import Language
from relynx.storage.fields import Fields, none_or

WIDEST = 10_000  # the largest window
DEEPEST = 200  # the most tests on a path from the root of a tree


def _number_of(what: str, least: int, most: int | None = None) -> Rule:
    until = "on" if most is None else f"to {most:,}"
    return (
        lambda value: is_count(value, least) and (most is None or value <= most),
        f"give a number of {what} from {least} {until}",
    )


RULES: Mapping[str, Rule] = {
    "window": _number_of("events", 0, WIDEST),
    "max_iter": _number_of("rounds", 0),
    "max_depth": _number_of("tests", 1, DEEPEST),
    "max_leaves": _number_of("leaves", 2),
    "min_samples_leaf": _number_of("examples", 1),
    "dimension": none_or_a(str, "give the name of a dimension, or None"),
    "learning_rate": (
        lambda value: is_positive(value) and value <= 1,
        "give a number above 0 and up to 1",
    ),
    "look_ahead": SWITCH,
    "n_iter_no_change": (
        lambda value: value is None or is_count(value),
        "give a number of rounds from 1 on, or None to hold nothing out",
    ),
    "validation_fraction": (
        lambda value: is_positive(value) and value < 1,
        "give a number between 0 and 1",
    ),
    "bias": none_or_a(Bias, "a Bias, which read_bias and parse_bias make, or None to infer one"),
}


@dataclass(eq=False, repr=False)
class BoostedEstimator(SequenceEstimator):
    """The parameters of an estimator that boosts trees."""

    STORED_PARAMS: ClassVar[Fields] = {"bias": none_or(BIAS)}

    bias: Bias | None = None
    _: KW_ONLY
    dimension: str | None = None
    window: int = 3
    max_iter: int = 100
    learning_rate: float = 1.0
    max_depth: int = 4
    max_leaves: int = 8
    min_samples_leaf: int = 5
    look_ahead: bool = False
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1


def boosting_parameters(model: Any, *, constant: bool = False) -> BoostingParameters:
    """The boosting parameters of an estimator."""
    return BoostingParameters(
        window=int(model.window),
        max_iter=int(model.max_iter),
        learning_rate=float(model.learning_rate),
        limits=Limits(
            int(model.max_depth),
            int(model.max_leaves),
            int(model.min_samples_leaf),
            bool(model.look_ahead),
        ),
        patience=model.n_iter_no_change,
        constant=constant,
    )


def language_of(X: Sequences, bias: Bias | None, dimension: str | None) -> Language:
    """The language of the training sequences; without a bias, one is inferred.

    Raises InputError for an unknown dimension, BiasError for unknown predicates.
    """
    name = link_of(X, dimension)[0].removeprefix("next_")
    event_arguments = observed_arguments(X, dimension)
    known = wide_bias(X, event_arguments) if bias is None else bias
    known.check(X)
    return Language.of(known, name, event_arguments)


def wide_bias(X: Sequences, event_arguments: frozenset[Argument]) -> Bias:
    """A bias inferred from the data that leaves nothing out: trees do not enumerate patterns.

    Arguments of few values may be constants and variables, and facts of several events are kept.
    `event_arguments` may be unknown to `infer_language`, in sequences of one event.
    """
    found, _ = infer_language(X, size=Size("*"))
    types: dict[str, tuple[str, ...]] = {}
    modes = {}
    for name, given in found.types.items():
        new = [
            type_ != EVENT and ((name, len(given)), i) in event_arguments
            for i, type_ in enumerate(given)
        ]
        types[name] = tuple(EVENT if n else type_ for n, type_ in zip(new, given, strict=True))
        modes[name] = tuple(
            tuple("+" if n else sign for n, sign in zip(new, mode, strict=True))
            for mode in found.modes[name]
        )
    return Bias(types, modes, found.values, dimensions=found.dimensions)


def held_out(
    groups: NDArray[np.int64], model: Any, random_state: np.random.RandomState
) -> NDArray[np.bool_]:
    """The validation sequences, which decide when to stop: a fraction of each group, never all."""
    chosen = np.zeros(len(groups), bool)
    if model.n_iter_no_change is None:
        return chosen
    for group in np.unique(groups):
        members = random_state.permutation(np.flatnonzero(groups == group))
        n = min(max(round(model.validation_fraction * len(members)), 1), len(members) - 1)
        chosen[members[:n]] = True
    return chosen
