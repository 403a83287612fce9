"""Which parts of a large model the static charts of the page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relynx.features.grasp import GraspRound
from relynx.reports.pattern_rows import PatternRow
from relynx.reports.report_data import PairRow

MOST_CHARTS = 24  # pairs whose rounds are drawn
MOST_ROUNDS = 200  # points of a chart
MOST_BARS = 8  # classes of a pattern


@dataclass(frozen=True, slots=True)
class ClassBars:
    """The numbers of the classes of a pattern that have a bar, and a summary of the others.

    `most_other` is the largest proportion of one of the `n_others` that the pattern covers.
    """

    classes: tuple[int, ...]
    n_others: int
    most_other: float


def class_bars(row: PatternRow) -> ClassBars:
    """The classes of which a pattern covers the largest proportion, its own included."""
    covered = row.proportions
    ranked = sorted(range(len(covered)), key=lambda c: (c != row.class_, -covered[c], c))
    others = ranked[MOST_BARS:]
    most = max((covered[c] for c in others), default=0.0)
    return ClassBars(tuple(sorted(ranked[:MOST_BARS])), len(others), most)


def charted(pairs: Sequence[PairRow]) -> tuple[PairRow, ...]:
    """The pairs whose rounds are drawn: if there are many, those with the largest error."""
    searched = [pair for pair in pairs if pair.history]
    ranked = sorted(searched, key=lambda pair: -least_error(pair))
    kept = {pair.classes for pair in ranked[:MOST_CHARTS]}
    return tuple(pair for pair in searched if pair.classes in kept)


def least_error(pair: PairRow) -> float:
    return min(one.error for one in pair.history or ())


def drawn_rounds(history: Sequence[GraspRound]) -> list[GraspRound]:
    """The rounds that are drawn: all improvements, and a sample of the others if there are many."""
    step = -(-len(history) // MOST_ROUNDS)
    return [one for i, one in enumerate(history) if one.best or i % step == 0]
