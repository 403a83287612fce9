"""The parameters that TildeCRF and its classifier have in common, checked."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.bias.infer import infer_language
from relynx.bias.modes import EVENT
from relynx.bias.size_estimate import Size
from relynx.data.event_arguments import Argument
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import Problem
from relynx.models.checks import is_count, not_true_or_false
from relynx.models.observations import observed_arguments
from relynx.models.tildecrf.boosting import BoostingParameters
from relynx.models.tildecrf.growing import Limits
from relynx.models.tildecrf.literal_language import Language

WIDEST = 10_000  # the largest window
DEEPEST = 200  # the most tests on a path from the root of a tree
COUNTS: dict[str, tuple[int, int | None, str]] = {  # from, to, and what it counts
    "window": (0, WIDEST, "events"),
    "max_iter": (0, None, "rounds"),
    "max_depth": (1, DEEPEST, "tests"),
    "max_leaves": (2, None, "leaves"),
    "min_samples_leaf": (1, None, "examples"),
}


def parameter_problems(model: Any) -> Iterator[Problem]:
    """A problem for each parameter that has an invalid value."""
    for name, (least, most, what) in COUNTS.items():
        value = getattr(model, name)
        if not is_count(value, least) or (most is not None and value > most):
            until = "on" if most is None else f"to {most:,}"
            hint = f"give a number of {what} from {least} {until}"
            yield Problem(f"{name} is {value!r}", hint=hint)
    if model.dimension is not None and not isinstance(model.dimension, str):
        hint = "give the name of a dimension, or None"
        yield Problem(f"dimension is {model.dimension!r}", hint=hint)
    rate = model.learning_rate
    if not (_is_number(rate) and 0 < rate <= 1):
        yield Problem(f"learning_rate is {rate!r}", hint="give a number above 0 and up to 1")
    yield from not_true_or_false("look_ahead", model.look_ahead)
    patience = model.n_iter_no_change
    if patience is not None and not is_count(patience):
        hint = "give a number of rounds from 1 on, or None to hold nothing out"
        yield Problem(f"n_iter_no_change is {patience!r}", hint=hint)
    fraction = model.validation_fraction
    if not (_is_number(fraction) and 0 < fraction < 1):
        yield Problem(f"validation_fraction is {fraction!r}", hint="give a number between 0 and 1")
    if model.bias is not None and not isinstance(model.bias, Bias):
        hint = "a Bias, which read_bias and parse_bias make, or None to infer one"
        yield Problem(f"bias is {model.bias!r}", hint=hint)


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


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real)
