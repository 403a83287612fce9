"""The language of biases: its declarations as plain values, their types, and where each is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from relynx.errors import ParseError, Problem, Source
from relynx.logic.dimensions import OPERATORS
from relynx.logic.nodes import Node, node_text
from relynx.logic.terms import Atom, Comparison, Constant, Literal, Not, is_constant

Subject: TypeAlias = Atom | Constant
Test: TypeAlias = Callable[[object], bool]
Where: TypeAlias = tuple[str | int, ...]
Span: TypeAlias = tuple[int, int]

Read = TypeVar("Read")

EVENT = "event"
MODE_SIGNS = ("+", "-", "#", "*")
# The declarations of lists of atoms, or of literals, with the fields that hold them.
LISTS = {
    "negconstraint": "negconstraints",
    "posconstraint": "posconstraints",
    "atmostone": "atmostone",
    "sametype": "sametype",
}


@dataclass(frozen=True, eq=False)
class Language:
    """The declarations of a bias; `Bias` says what they mean."""

    types: Mapping[str, tuple[str, ...]]
    modes: Mapping[str, tuple[tuple[str, ...], ...]]
    values: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict)
    dimensions: tuple[str, ...] = ()
    key: tuple[Atom, ...] = ()
    negconstraints: tuple[tuple[Literal, ...], ...] = ()
    posconstraints: tuple[tuple[Literal, ...], ...] = ()
    atmostone: tuple[tuple[Atom, ...], ...] = ()
    sametype: tuple[tuple[Atom, ...], ...] = ()
    allowed: tuple[Atom, ...] = ()
    max_length: int | None = None
    max_gap: int | None = None
    min_frequency: int | None = None
    min_support: float | None = None
    min_cover: int | None = None
    object_identity: bool | None = None
    prior: str | None = None
    words: Mapping[Subject, str] = field(default_factory=dict)

    def type_names(self) -> list[str]:
        return list(dict.fromkeys(chain.from_iterable(self.types.values())))


def operators(dimensions: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """The predicates of some dimensions: name to dimension and number of arguments."""
    return {
        f"{operator}_{dimension}": (dimension, arity)
        for dimension in dimensions
        for operator, arity in OPERATORS.items()
    }


def wrong_types(bias: Any) -> Iterator[str]:
    """A message for each field of a bias that has a value of the wrong type."""
    parts: tuple[tuple[str, Test, Test, str], ...] = (
        ("types", _is_text, _all_of(_is_text), "a tuple of texts"),
        ("modes", _is_text, _all_of(_is_mode), "a tuple of modes, as in ('+#', '+-')"),
        ("values", _is_text, _all_of(is_constant), "a tuple of constants"),
        ("words", _is_subject, _is_text, "a text for an atom or a constant"),
    )
    for attribute, right_name, right, wanted in parts:
        given = getattr(bias, attribute)
        if not isinstance(given, Mapping):
            yield f"{attribute} is {given!r}: give a dict"
            continue
        for name, value in given.items():
            if not right_name(name) or not right(value):
                yield f"{attribute} of {name!r} is {value!r}: give {wanted}"
    lists: tuple[tuple[str, Test, str], ...] = (
        ("dimensions", _all_of(_is_text), "a tuple of names, as in ('s',)"),
        ("key", _all_of(_is_atom), "a tuple of atoms"),
        ("allowed", _all_of(_is_atom), "a tuple of atoms"),
        *(
            (attribute, _all_of(_all_of(_is_literal)), "a tuple of tuples of atoms")
            for attribute in LISTS.values()
        ),
    )
    for attribute, right, wanted in lists:
        given = getattr(bias, attribute)
        if not right(given):
            yield f"{attribute} is {given!r}: give {wanted}"


def _all_of(right: Test) -> Test:
    return lambda given: isinstance(given, tuple | list) and all(map(right, given))


def _is_a(*types: type) -> Test:
    return lambda value: isinstance(value, types)


_is_text, _is_atom, _is_literal = _is_a(str), _is_a(Atom), _is_a(Atom, Comparison, Not)


def _is_mode(value: object) -> bool:
    return _is_text(value) or _all_of(_is_text)(value)


def _is_subject(value: object) -> bool:
    return _is_atom(value) or is_constant(value)


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

    again = ""  # what to do where something is declared twice
    given = "given"  # what is done to a setting

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.spans: dict[Where, Span] = {}
        self.settings: dict[str, Any] = {}

    def _set(self, name: str, value: object, node: Node) -> None:
        if name in self.settings:
            self._again((name,), node, f"{name} is {self.given} twice")
        else:
            self.settings[name] = value
            self._keep_span((name,), node)

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

    def _expected(self, what: str, node: Node, hint: str | None = None) -> None:
        self._wrong(node, f"expected {what}, found {node_text(node)}", hint)

    def _again(self, where: Where, node: Node, message: str) -> None:
        line = self.source.line_and_column(self.spans[where][0])[0]
        self._wrong(node, message, f"the first is on line {line}{self.again}")

    def _read(self, read: Callable[[Node, Source], Read], node: Node) -> Read | None:
        """What a part comes to; None, and a problem, where it cannot be read."""
        try:
            return read(node, self.source)
        except ParseError as error:
            self.problems += error.problems
            return None
