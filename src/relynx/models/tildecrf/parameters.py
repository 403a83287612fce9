"""The parameters that both estimators have, checked."""

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
from relynx.models.observations import observed_places
from relynx.models.tildecrf.boosting import Settings
from relynx.models.tildecrf.growing import Limits
from relynx.models.tildecrf.literal_language import Language

WIDEST = 10_000  # the largest window
DEEPEST = 200  # the most tests on a way down a tree
COUNTS: dict[str, tuple[int, int | None, str]] = {  # from, to, and what it counts
    "window": (0, WIDEST, "events"),
    "max_iter": (0, None, "rounds"),
    "max_depth": (1, DEEPEST, "tests"),
    "max_leaves": (2, None, "leaves"),
    "min_samples_leaf": (1, None, "examples"),
}


def wrong_settings(model: Any) -> Iterator[Problem]:
    """A problem for each parameter that has no value it may have."""
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
    share = model.validation_fraction
    if not (_is_number(share) and 0 < share < 1):
        yield Problem(f"validation_fraction is {share!r}", hint="give a number between 0 and 1")
    if model.bias is not None and not isinstance(model.bias, Bias):
        hint = "a Bias, which read_bias and parse_bias make, or None to infer one"
        yield Problem(f"bias is {model.bias!r}", hint=hint)


def settings_of(model: Any, *, constant: bool = False) -> Settings:
    """The parameters of an estimator for boosting."""
    return Settings(
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
    """The language of training sequences; without a bias one is inferred.

    Raises InputError where there is no such dimension, BiasError for unknown predicates.
    """
    name = link_of(X, dimension)[0].removeprefix("next_")
    places = observed_places(X, dimension)
    known = wide_bias(X, places) if bias is None else bias
    known.check(X)
    return Language.of(known, name, places)


def wide_bias(X: Sequences, places: frozenset[Argument]) -> Bias:
    """The bias of some data that leaves nothing out to keep a search small: trees need no search.

    Arguments of few values may be constants and variables, and facts of several events are kept.
    `places` holds events that `infer_language` may not know, of sequences of one event.
    """
    found = infer_language(X, size=Size("*"))
    types, modes = {}, {}
    for name, kinds in found.types.items():
        new = [kind != EVENT and ((name, len(kinds)), i) in places for i, kind in enumerate(kinds)]
        types[name] = tuple(EVENT if n else kind for n, kind in zip(new, kinds, strict=True))
        modes[name] = tuple(
            tuple("+" if n else sign for n, sign in zip(new, mode, strict=True))
            for mode in found.modes[name]
        )
    return Bias(types, modes, found.values, dimensions=found.dimensions)


def held_out(
    groups: NDArray[np.int64], model: Any, random_state: np.random.RandomState
) -> NDArray[np.bool_]:
    """The sequences that decide when to stop: a share of each group, and never all of it."""
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
