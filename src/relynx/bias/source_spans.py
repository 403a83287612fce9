"""Source positions of the declarations of a bias, for error messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from relynx.errors import Problem, Source

Where: TypeAlias = tuple[str | int, ...]
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SourceSpans:
    """The span of each part of a bias, `("mode", "he", 0, 2)` for a sign in a mode of `he`; none
    for one made in Python. Problems that only follow from a `broken` declaration are not reported.
    """

    source: Source | None = None
    spans: Mapping[Where, Span] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    def problem(self, where: Where, message: str, hint: str | None = None) -> Problem:
        """A problem at a part of the bias, or at the smallest known part around it."""
        span = self._span(where)
        if span is None:
            return Problem(message, self.source, hint=hint)
        return Problem(message, self.source, span[0], span[1] - span[0], hint)

    def on_line(self, where: Where) -> str:
        """` on line 3`, or nothing where there is no text."""
        span = self._span(where)
        if span is None or self.source is None:
            return ""
        return f" on line {self.source.line_and_column(span[0])[0]}"

    def _span(self, where: Where) -> Span | None:
        while where and where not in self.spans:
            where = where[:-1]
        return self.spans.get(where)
