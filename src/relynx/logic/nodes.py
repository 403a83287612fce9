"""Syntax trees of Prolog text, and the terms, atoms and rules that they denote.

A converter raises ParseError, with every problem of its tree, where the tree is no such value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeVar

from relynx.errors import ParseError, Problem, Source, raise_all
from relynx.logic.terms import COMPARISONS, Atom, Comparison, Literal, Not, Rule, Struct, Term, Var

T = TypeVar("T")
_ARITHMETIC = ("+", "-", "*", "//", "mod")
_SIGN_HINTS = {
    "-": "only a number takes a minus sign; write 0 - X for -X",
    "+": "leave out the '+'",
    "\\+": "\\+ negates an atom of a rule's body",
}
_NOUNS = {
    "variable": "the variable {}",
    "number": "the number {}",
    **dict.fromkeys(("atom", "call"), "the atom {}"),
    **dict.fromkeys(("infix", "prefix"), "an expression with '{}'"),
    "list": "a list",
    "and": "a conjunction",
    "chain": "a chain of comparisons",
}


class Node(NamedTuple):
    """A piece of text understood as a term, with the offsets it spans. `kind` is atom, variable,
    number, list, call (`f(a)`), prefix (`\\+ a`), infix (`a < b`), chain (`a < b < c`) or and (`a,
    b, c`); `value` is the name, the number or the operator."""

    kind: str
    value: str | int | float
    args: tuple[Node, ...]
    start: int
    end: int
    depth: int = 1

    def problem(self, message: str, source: Source | None, hint: str | None = None) -> Problem:
        return Problem(message, source, self.start, self.end - self.start, hint)

    def leaves(self, whole: Collection[str | int | float] = ()) -> Iterator[Node]:
        """Its arguments, those of nested terms in their place but for terms named in `whole`."""
        for arg in self.args:
            if arg.kind == "call" and arg.value not in whole:
                yield from arg.leaves(whole)
            else:
                yield arg


class Clause(NamedTuple):
    """One clause: its tree, and the offsets from its first character to behind its dot."""

    node: Node
    start: int
    end: int

    @property
    def is_directive(self) -> bool:
        return self.node.kind == "prefix" and self.node.value == ":-"

    @property
    def is_rule(self) -> bool:
        return self.node.kind == "infix" and self.node.value == ":-"


def node_term(node: Node, source: Source) -> Term:
    """The term that a tree denotes; arithmetic gives a `Struct` with the operator's name."""
    match node.kind:
        case "atom" | "number":
            return node.value
        case "variable":
            return Var(str(node.value), node.start)
        case "list":
            return _converted(node.args, source, node_term)
        case "call" | "infix" if node.kind == "call" or node.value in _ARITHMETIC:
            return Struct(str(node.value), _converted(node.args, source, node_term))
        case _:
            hint = _SIGN_HINTS.get(str(node.value)) if node.kind == "prefix" else None
            raise _error(node, source, "a term", hint)


def node_atom(node: Node, source: Source) -> Atom:
    """The atom that a tree denotes, `p` or `p(t1,...,tn)`."""
    if node.kind == "atom":
        return Atom(str(node.value), (), node.start)
    if node.kind == "call":
        return Atom(str(node.value), _converted(node.args, source, node_term), node.start)
    hint = None
    if node.kind == "variable":
        hint = "a name that begins with a capital letter goes between quotes"
    elif node.kind == "number":
        hint = "a predicate is a name, as in p(1)"
    elif node.kind == "prefix" and node.value == "\\+":
        hint = "a negated atom can stand in a rule's body only"
    elif node.kind == "infix" and node.value in (*COMPARISONS, "is"):
        hint = "a comparison can stand in a rule's body only"
    elif node.kind == "and":
        hint = "give one atom"
    raise _error(node, source, "an atom", hint)


def node_atoms(node: Node, source: Source) -> tuple[Atom, ...]:
    """The atoms of a conjunction `p, q`, or of a list `[p, q]`."""
    return _converted(node.args if node.kind == "list" else conjuncts(node), source, node_atom)


def node_literal(node: Node, source: Source) -> Literal:
    """The literal of a rule's body: an atom, a negated atom, or a comparison."""
    if node.kind == "prefix" and node.value == "\\+":
        inner = node.args[0]
        if inner.kind in ("atom", "call"):
            return Not(node_atom(inner, source))
        hint = "\\+ negates one atom; make a rule for what you mean, and negate its head"
        raise _error(inner, source, "an atom", hint)
    if node.kind == "infix" and node.value in (*COMPARISONS, "is"):
        left, right = _converted(node.args, source, node_term)
        return Comparison(str(node.value), left, right, node.start)
    if node.kind == "chain":
        hint = "write a < b < c as two comparisons: a < b, b < c"
        raise _error(node, source, "an atom or a comparison", hint)
    return node_atom(node, source)


def node_literals(node: Node, source: Source) -> tuple[Literal, ...]:
    return _converted(conjuncts(node), source, node_literal)


def node_rule(node: Node, source: Source) -> Rule:
    """The rule `head :- body` or the fact `head` that a tree denotes."""
    if node.kind == "prefix" and node.value == ":-":
        hint = "remove it, or write the head of the rule before ':-'"
        raise ParseError(Problem("a directive among the rules", source, node.start, 2, hint))
    if node.kind == "infix" and node.value == ":-":
        problems: list[Problem] = []
        head = _kept(problems, node_atom, node.args[0], source)
        body = _kept(problems, node_literals, node.args[1], source)
        if head is None or body is None:
            raise ParseError(problems)
        return Rule(head, body, node.start)
    return Rule(node_atom(node, source), (), node.start)


def node_text(node: Node) -> str:
    """What a tree is, in the words of a message."""
    return _NOUNS[node.kind].format(node.value)


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a conjunction, from left to right."""
    if node.kind == "and":
        for arg in node.args:
            yield from conjuncts(arg)
    else:
        yield node


def _converted(
    nodes: Iterable[Node], source: Source, convert: Callable[[Node, Source], T]
) -> tuple[T, ...]:
    """All the nodes converted, or all their problems raised together."""
    problems: list[Problem] = []
    values = [_kept(problems, convert, node, source) for node in nodes]
    raise_all(problems, ParseError)
    return tuple(value for value in values if value is not None)


def _kept(
    problems: list[Problem], convert: Callable[[Node, Source], T], node: Node, source: Source
) -> T | None:
    """The converted node, or None when it has problems, which join the others."""
    try:
        return convert(node, source)
    except ParseError as error:
        problems.extend(error.problems)
        return None


def _error(node: Node, source: Source, wanted: str, hint: str | None = None) -> ParseError:
    return ParseError(node.problem(f"expected {wanted}, found {node_text(node)}", source, hint))
