"""Progress and report of a search: how far it is, what it counted and what it dropped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from relynx.errors import counted


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a running search, as `mine(progress=...)` reports it."""

    length: int
    patterns: int
    seconds: float
    memory: int  # resident set of the process, in bytes


@dataclass(slots=True)
class SearchLevel:
    """Candidates of one length by outcome; each is counted under the first that applies.

    `nearest_support` and `nearest_frequency` are the largest values among candidates dropped for
    that alone, so the thresholds that would have kept some; None if none was dropped. `n_nearest_*`
    candidates had just these values, repeated ones included.
    """

    length: int
    occurred: int = 0
    infrequent: int = 0
    unsupported: int = 0
    forbidden: int = 0
    kept: int = 0
    nearest_support: float | None = None
    nearest_frequency: int | None = None
    n_nearest_support: int = 0
    n_nearest_frequency: int = 0

    @property
    def repeated(self) -> int:
        """Duplicates: candidates reached before by adding the same atoms in another order."""
        others = self.infrequent + self.unsupported + self.forbidden + self.kept
        return max(self.occurred - others, 0)

    def add(self, stats: Sequence[float]) -> None:
        """What a compiled loop tallied: the first three counts, then what came nearest."""
        occurred, infrequent, unsupported, frequency, n_frequency, support, n_support = stats
        self.occurred += int(occurred)
        self.infrequent += int(infrequent)
        self.unsupported += int(unsupported)
        self._note("nearest_frequency", int(frequency), int(n_frequency))
        self._note("nearest_support", float(support), int(n_support))

    def _note(self, name: str, most: float, n: int) -> None:
        before = getattr(self, name) or 0
        if most >= before and most:
            setattr(self, name, most)
            setattr(self, f"n_{name}", n + (getattr(self, f"n_{name}") if most == before else 0))


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The levels of a search, and how many patterns each filter of the result removed.

    `advice`: for a search that stopped early, what made it large, one line each.
    """

    levels: tuple[SearchLevel, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    advice: tuple[str, ...] = ()


def explained(report: SearchReport, *, complete_up_to: int, partial: str | None) -> str:
    """The report as text: what occurred, what was removed and why, and the nearest thresholds."""
    lines = [line for level in report.levels for line in _level_lines(level)]
    for condition, n in report.removed.items():
        if n:
            lines.append(f"{condition} removed {counted(n, 'pattern')} from the result")
    if not report.levels:
        lines.append("nothing was searched")
    if partial:
        lines.append(f"the search stopped early: {partial}")
    lines.append(f"the result is complete up to length {complete_up_to}")
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
    parts = [f"{counted(level.occurred, 'candidate')} occurred", *removed, f"{level.kept:,} kept"]
    yield f"length {level.length}: {', '.join(parts)}"
    if level.nearest_frequency is not None:
        yield _would_be("min_frequency", level.nearest_frequency, level.n_nearest_frequency)
    if level.nearest_support is not None:
        # Rounded down, so that the printed threshold keeps the pattern.
        nearest = math.floor(level.nearest_support * 10_000) / 10_000
        yield _would_be("min_support", nearest, level.n_nearest_support)


def _would_be(name: str, nearest: float, n: int) -> str:
    return f"    {name}={nearest:g} would keep more: {counted(n, 'candidate')} reached it"
