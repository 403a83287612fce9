"""What the search tells about itself: how far it is, what it saw and what it dropped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is; `mine(progress=...)` calls with one of these from time to time."""

    length: int
    patterns: int
    seconds: float
    memory: int  # bytes that the process holds


@dataclass(frozen=True, slots=True)
class SearchLevel:
    """What became of the candidates of one length. Each is counted under the first that applies.

    `nearest_support` and `nearest_frequency` are the largest values among those that were dropped
    for that alone, so the thresholds that would have kept some, None where none was dropped; so
    many candidates had just these values, repeated ones included.
    """

    length: int
    occurred: int
    infrequent: int
    unsupported: int
    forbidden: int
    kept: int
    nearest_support: float | None = None
    nearest_frequency: int | None = None
    n_nearest_support: int = 0
    n_nearest_frequency: int = 0

    @property
    def repeated(self) -> int:
        """Candidates that were found before, by adding the same atoms in another order."""
        others = self.infrequent + self.unsupported + self.forbidden + self.kept
        return max(self.occurred - others, 0)


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The levels of a search, and how many patterns each filter of the answer removed.

    `advice`: of a search that ended early, what made it large, a line each.
    """

    levels: tuple[SearchLevel, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    advice: tuple[str, ...] = ()


def explained(report: SearchReport, *, complete_up_to: int, partial: str | None) -> str:
    """The report as text: what occurred, what was removed and why, what came near."""
    lines = [line for level in report.levels for line in _level_lines(level)]
    for condition, n in report.removed.items():
        if n:
            lines.append(f"{condition} left out {_patterns(n)} of the answer")
    if not report.levels:
        lines.append("nothing was searched")
    if partial:
        lines.append(f"the search ended early: {partial}")
    lines.append(f"the answer is complete up to length {complete_up_to}")
    lines += report.advice
    return "\n".join(lines)


def _level_lines(level: SearchLevel) -> Iterator[str]:
    if not level.occurred:
        yield f"length {level.length}: no candidate occurs in the sequences"
        return
    removed = [
        f"{n:,} {what}"
        for n, what in (
            (level.infrequent, "below min_frequency"),
            (level.unsupported, "below min_support"),
            (level.forbidden, "against a constraint of the bias"),
            (level.repeated, "found before"),
        )
        if n
    ]
    parts = [_occurred(level), *removed, f"{level.kept:,} kept"]
    yield f"length {level.length}: {', '.join(parts)}"
    if level.nearest_frequency is not None:
        yield _would_be("min_frequency", level.nearest_frequency, level.n_nearest_frequency)
    if level.nearest_support is not None:
        # Rounded down, so that the threshold printed keeps the pattern it speaks of.
        nearest = math.floor(level.nearest_support * 10_000) / 10_000
        yield _would_be("min_support", nearest, level.n_nearest_support)


def _would_be(name: str, nearest: float, n: int) -> str:
    return f"    with {name}={nearest:g} there would be more: {_candidates(n)} came so near"


def _occurred(level: SearchLevel) -> str:
    return f"{_candidates(level.occurred)} occurred"


def _candidates(n: int) -> str:
    return f"{n:,} candidate{'s' if n != 1 else ''}"


def _patterns(n: int) -> str:
    return f"{n:,} pattern{'s' if n != 1 else ''}"
