"""Source positions of declarations, for error messages, and what all who read them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from relynx.errors import Problem, Source
from relynx.logic.nodes import Node

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


class DeclarationReader:
    """Reads the declarations of a text: keeps what is wrong with them, and where each part is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.spans: dict[Where, Span] = {}

    def _keep_span(self, where: Where, node: Node) -> None:
        self.spans[where] = node.start, node.end

    def _keep_spans(self, where: Where, nodes: Iterable[Node]) -> None:
        for i, node in enumerate(nodes):
            self._keep_span((*where, i), node)

    def _text(self, node: Node) -> str:
        return self.source.text[node.start : node.end]

    def _wrong(
        self, node: Node, message: str, hint: str | None = None, *, length: int | None = None
    ) -> None:
        span = node.end - node.start if length is None else length
        self.problems.append(Problem(message, self.source, node.start, span, hint))
