"""What of the patterns found becomes the answer: filters that the search does not depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom
from relynx.mining.patterns.pattern_set import PatternSet


def answer(
    found: PatternSet,
    X: Sequences,
    *,
    wants: Callable[[Sequence[Atom]], bool] | None = None,
    min_confidence: float | None = None,
    max_support: Mapping[object, float] | None = None,
    closed: bool = False,
    min_cover: int | None = None,
    top_k: int | None = None,
    measure: str = "confidence",
) -> PatternSet:
    """The patterns that pass every filter; the report of the set tells what each removed.

    A pattern that passes the first four is dropped by `closed` only for one that passes them too:
    what is more specific and covers the same is wanted, confident and supported alike. So their
    order does not matter; `min_cover` and then `top_k` choose from what is left.

    Parameters
    ----------
    found
        All patterns of the search.
    X
        The sequences of the search.
    wants
        Whether a pattern satisfies the positive constraints of the bias; None if it has none.
    min_confidence, max_support, closed, min_cover, top_k, measure
        As in `mine`; the last two choose best first by `measure`. A `min_cover` of 0 is none.
    """
    filters: dict[str, Callable[[PatternSet], PatternSet]] = {}
    if min_confidence is not None:
        filters["min_confidence"] = lambda left: left.filter(min_confidence=min_confidence)
    if max_support is not None:
        filters["max_support"] = lambda left: left.filter(max_support=max_support)
    if wants is not None:
        filters["posconstraint"] = lambda left: left[_wanted(left, wants)]
    if closed:
        filters["closed"] = PatternSet.closed
    if min_cover:
        filters["min_cover"] = lambda left: left.covering(X, min_cover, measure)
    if top_k is not None:
        filters["top_k"] = lambda left: left.top_k(top_k, measure)
    removed: dict[str, int] = {}
    left = found
    for name, apply in filters.items():
        smaller = apply(left)
        removed[name] = len(left) - len(smaller)
        left = smaller
    return PatternSet(
        found.trie,
        left.rows,
        complete_up_to=found.complete_up_to,
        partial=found.partial,
        report=replace(found.report, removed={**found.report.removed, **removed}),
        object_identity=found.object_identity,
    )


def _wanted(
    patterns: PatternSet, wants: Callable[[Sequence[Atom]], bool]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.fromiter((wants(p.atoms) for p in patterns.patterns()), bool, len(patterns))
