"""The parameters that both estimators have, checked."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.bias.infer import infer_language
from relynx.bias.sizes import Size
from relynx.data.event_order import event_places, link_of
from relynx.data.sequences import Sequences
from relynx.errors import Problem
from relynx.models.tildecrf.boosting import Settings
from relynx.models.tildecrf.growing import Limits
from relynx.models.tildecrf.language import Language

COUNTS = {  # the least value of each, and what it counts
    "window": (0, "events"),
    "max_iter": (0, "rounds"),
    "max_depth": (1, "tests"),
    "max_leaves": (2, "leaves"),
    "min_samples_leaf": (1, "examples"),
}


def wrong_settings(model: Any) -> Iterator[Problem]:
    """A problem for each parameter that has no value it may have."""
    for name, (least, what) in COUNTS.items():
        value = getattr(model, name)
        if not _is_count(value, least):
            hint = f"give a number of {what} from {least} on"
            yield Problem(f"{name} is {value!r}", hint=hint)
    rate = model.learning_rate
    if not (_is_number(rate) and 0 < rate <= 1):
        yield Problem(f"learning_rate is {rate!r}", hint="give a number above 0 and up to 1")
    if not isinstance(model.look_ahead, bool | np.bool_):
        yield Problem(f"look_ahead is {model.look_ahead!r}", hint="give True or False")
    patience = model.n_iter_no_change
    if patience is not None and not _is_count(patience, 1):
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
    known = wide_bias(X) if bias is None else bias
    known.check(X)
    return Language.of(known, name, event_places(X, dimension))


def wide_bias(X: Sequences) -> Bias:
    """The bias of some data that leaves nothing out to keep a search small: trees need no search.

    Arguments of few values may be constants and variables, and facts of several events are kept.
    """
    found = infer_language(X, size=Size("*"))
    return Bias(found.types, found.modes, found.values, dimensions=found.dimensions)


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


def _is_count(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real)
