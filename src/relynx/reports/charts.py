"""What of a model the static charts of the page draw: of much, the part that tells most."""

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
class ShareBars:
    """The shares of a pattern that have a bar, and what is said of the others.

    Attributes
    ----------
    classes
        The numbers of the classes, in order.
    n_others
        How many classes have no bar.
    most_other
        The largest share of these.
    """

    classes: tuple[int, ...]
    n_others: int
    most_other: float


def share_bars(row: PatternRow) -> ShareBars:
    """The classes of which a pattern covers most; its own is one of them."""
    ranked = sorted(range(len(row.shares)), key=lambda c: (c != row.class_, -row.shares[c], c))
    others = ranked[MOST_BARS:]
    most = max((row.shares[c] for c in others), default=0.0)
    return ShareBars(tuple(sorted(ranked[:MOST_BARS])), len(others), most)


def charted(pairs: Sequence[PairRow]) -> tuple[PairRow, ...]:
    """The pairs whose rounds are drawn: of many, those with the largest error left."""
    played = [pair for pair in pairs if pair.history]
    ranked = sorted(played, key=lambda pair: -least_error(pair))
    kept = {pair.classes for pair in ranked[:MOST_CHARTS]}
    return tuple(pair for pair in played if pair.classes in kept)


def least_error(pair: PairRow) -> float:
    return min(one.error for one in pair.history or ())


def drawn_rounds(history: Sequence[GraspRound]) -> list[GraspRound]:
    """The rounds that have a point: all that were better than before, and of many others a part."""
    step = -(-len(history) // MOST_ROUNDS)
    return [one for i, one in enumerate(history) if one.best or i % step == 0]
