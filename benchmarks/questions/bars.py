"""Bars: what a benchmark must reach, printed as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """A measured value and its limit: the most it may be, or the least if `at_least`."""

    what: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def held(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def cells(self) -> tuple[str, str, str, str]:
        sign = ">=" if self.at_least else "<="
        verdict = "ok" if self.held else "MISSED"
        return (
            self.what,
            _number(self.value, self.unit),
            _number(self.limit, self.unit, sign),
            verdict,
        )


def _number(value: float, unit: str, sign: str = "") -> str:
    return (
        f"{sign} {value:.3g} {unit}".strip()
        if value < 100
        else f"{sign} {value:,.0f} {unit}".strip()
    )


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        first, *others = line
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
    print()


def report(bars: Sequence[Bar]) -> int:
    """Print the bars and return the exit code: 1 if any is missed."""
    print_table(("bar", "measured", "limit", ""), [bar.cells() for bar in bars])
    return 0 if all(bar.held for bar in bars) else 1
