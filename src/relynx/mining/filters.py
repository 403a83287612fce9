"""What of the patterns found becomes the answer: filters that the search does not depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.mining.patterns.measures import checked_measure, class_column
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.search_settings import as_count, as_share, as_truth, is_number


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of `mine` that the search does not depend on, by their names there.

    `min_cover` and then `top_k` choose best first by `measure`. A `min_cover` of 0 is none.
    """

    min_confidence: float | None = None
    max_support: Mapping[object, float] | None = None
    closed: bool = False
    min_cover: int | None = None
    top_k: int | None = None
    measure: str = "confidence"

    def check(self, classes: tuple[object, ...]) -> None:
        """Raise for a filter that has no meaning, before anything is searched."""
        most: Any = self.max_support
        if self.min_confidence is not None:
            as_share("min_confidence", self.min_confidence)
        if most is not None:
            if not isinstance(most, Mapping):
                raise InputError(
                    f"max_support is {most!r}: give a share for each class that it is about, "
                    f"as in {{{classes[0]!r}: 0.1}}"
                )
            for name, value in most.items():
                class_column(name, classes)
                _check_most(f"max_support of {name!r}", value)
        as_truth("closed", self.closed)
        if self.top_k is not None:
            as_count("top_k", self.top_k, 0)
        checked_measure(self.measure)


def answer(
    found: PatternSet,
    X: Sequences,
    asked: Filters,
    *,
    wants: Callable[[Sequence[Atom]], bool] | None = None,
) -> PatternSet:
    """The patterns that pass every filter; the report of the set tells what each removed.

    A pattern that passes the first three is dropped by `closed` only for one that passes them too:
    what is more specific and covers the same is wanted, confident and supported alike. So their
    order does not matter; `min_cover` and then `top_k` choose from what is left. `wants` tells
    whether a pattern satisfies the positive constraints of the bias, None if it has none.
    """
    filters: dict[str, Callable[[PatternSet], PatternSet]] = {}
    if asked.min_confidence is not None:
        filters["min_confidence"] = lambda left: left.filter(min_confidence=asked.min_confidence)
    if asked.max_support is not None:
        filters["max_support"] = lambda left: left.filter(max_support=asked.max_support)
    if wants is not None:
        filters["posconstraint"] = lambda left: left[[wants(p.atoms) for p in left.patterns()]]
    if asked.closed:
        filters["closed"] = PatternSet.closed
    if min_cover := asked.min_cover:
        filters["min_cover"] = lambda left: left.covering(X, min_cover, asked.measure)
    if (top_k := asked.top_k) is not None:
        filters["top_k"] = lambda left: left.top_k(top_k, asked.measure)
    removed: dict[str, int] = {}
    left = found
    for name, apply in filters.items():
        smaller = apply(left)
        removed[name] = len(left) - len(smaller)
        left = smaller
    report = replace(found.report, removed={**found.report.removed, **removed})
    return found.with_rows(left.rows, report=report)


def _check_most(name: str, value: Any) -> None:
    """Raise for what is neither a share nor a number of sequences."""
    is_count = isinstance(value, int | np.integer)
    if not is_number(value) or value < 0 or (value > 1 and not is_count):
        raise InputError(
            f"{name} is {value!r}: give a share from 0.0 to 1.0, or a number of sequences, "
            "an integer of at least 0"
        )
