"""From a bias and settings to the engine that searches some data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from relynx.arrays import Longs
from relynx.bias import Bias
from relynx.logic.terms import Atom, Term, Var
from relynx.mining.engines.base import Conditions, Engine
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.compiled import Compiled
from relynx.mining.engines.general.engine import General
from relynx.mining.patterns.ordering import is_instance
from relynx.search_settings import SearchSettings

SLACK = 1e-9  # shares are compared with thresholds up to this


def choose(
    compiled: Compiled, conditions: Conditions, *, object_identity: bool
) -> type[Engine[Any, Any]]:
    """The fastest engine that can search a language."""
    if bits.fits(compiled, conditions, object_identity=object_identity):
        return bits.Bits
    return General


def engine_of(
    compiled: Compiled,
    labels: Longs,
    n_classes: int,
    bias: Bias,
    settings: SearchSettings,
    least: Longs,
    min_frequency: int,
    steps: tuple[int, ...],
    *,
    keep_coverage: bool = False,
) -> Engine[Any, Any]:
    """The engine for some data, with what a pattern must satisfy to be kept and refined."""
    _, rest = _operators_off(bias)
    conditions = Conditions(
        least=least,
        min_frequency=min_frequency,
        max_length=settings.max_length,
        steps=steps,
        is_key=partial(is_instance, keys=bias.key) if bias.key else None,
        forbids=rest.forbids if rest.constrained else None,
        admits=bias.admits if bias.allowed else None,
    )
    how = {"object_identity": settings.object_identity}
    kind = choose(compiled, conditions, **how)
    return kind(compiled, labels, n_classes, conditions, keep_coverage=keep_coverage, **how)


def least_supports(settings: SearchSettings, class_sizes: Longs) -> Longs:
    """For each class the smallest number of sequences that is support enough."""
    least: Longs = np.ceil(settings.min_support * class_sizes - SLACK).astype(np.int64)
    return np.maximum(least, 1)


def steps_of(
    bias: Bias, settings: SearchSettings, longest: int, *, graphs: bool
) -> tuple[int, ...]:
    """The operators to try, as numbers of steps: none longer than a line of the data. `longest` is
    the largest number of events of a sequence; with `graphs`, some are no lines."""
    off, _ = _operators_off(bias)
    most = settings.max_gap if graphs else min(settings.max_gap, max(longest - 1, 1))
    return tuple(n for n in range(most + 1) if n not in off)


def _operators_off(bias: Bias) -> tuple[set[int], Bias]:
    """Operators that a negconstraint of one link rules out, as numbers of steps, and the rest. Only
    in a bias of one dimension: then no link of that kind need ever be tried."""
    off: set[int] = set()
    rest = []
    names = {
        f"{op}_{name}": n for name in bias.dimensions for op, n in (("follow", 0), ("next", 1))
    }
    for constraint in bias.negconstraints:
        link = constraint[0] if len(constraint) == len(bias.dimensions) == 1 else None
        if isinstance(link, Atom) and link.predicate in names and _all_different(link.args):
            off.add(names[link.predicate])
        else:
            rest.append(constraint)
    return off, replace(bias, negconstraints=tuple(rest)) if off else bias


def _all_different(args: tuple[Term, ...]) -> bool:
    names = [arg.name for arg in args if isinstance(arg, Var) and not arg.anonymous]
    return all(isinstance(arg, Var) for arg in args) and len(set(names)) == len(names)
