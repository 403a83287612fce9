"""Reading the declarations of Aleph and Popper, which our own grammar does not hold.

There are signs before types (`+car`, `-#size`), predicates with their arity (`near/2`), comparisons
(`+size >= #size`) and tuples that end in a comma (`(car,)`). Nothing else of a file is read here:
its clauses are skipped.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from relynx.errors import Source
from relynx.logic.nodes import Node
from relynx.logic.terms import COMPARISONS as OURS
from relynx.logic.tokens import Failure, Lexer

SIGNED = ("+", "-", "#")
COMPARISONS = ("=", "\\=", *OURS, "@<", "@>", "@=<", "@>=")
NEGATION = "\\+"
DEEPEST = 50


class Opening(NamedTuple):
    """How a clause begins: where, whether with `:-`, and its first name (or nothing) with place."""

    start: int
    directive: bool
    name: str
    at: int


class ForeignLexer:
    """The clauses of a text, one after the other: how each begins, and its term if it is wanted."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lexer = Lexer(source)
        self.start = 0

    def opening(self, position: int) -> Opening | None:
        """How the clause at or after an offset begins; None at the end of the text."""
        lexer = self.lexer
        lexer.move(position)
        self.start, directive = position, False
        try:
            lexer.advance()
            if lexer.kind == "eof":
                return None
            self.start = lexer.start
            if lexer.token == ":-":
                directive = True
                lexer.advance()
            name = lexer.name() if lexer.kind in ("name", "quoted") else ""
            return Opening(self.start, directive, name, lexer.start)
        except Failure:
            return None if lexer.kind == "eof" else Opening(lexer.start, directive, "", lexer.start)

    def skip(self) -> int:
        """The offset behind the clause that was opened, whatever it holds."""
        self.lexer.skip_clause(self.start, None)
        return self.lexer.end

    def declaration(self) -> Node:
        """The term of the clause that was opened. Raises Failure."""
        node = self._term(0)
        if self.lexer.kind == "eof":
            at = self.lexer.last_end, self.lexer.last_end
            what = "a '.' is missing at the end of this clause"
            raise self.lexer.failure(what, "every clause ends with '.'", at=at)
        if self.lexer.kind != "end":
            raise self._unexpected("the '.' that ends a declaration", "count its brackets")
        return node

    def is_rule(self) -> bool:
        """Whether `:-` stands after the head of the clause that was opened."""
        lexer = self.lexer
        while lexer.kind not in ("end", "eof") and lexer.token != ":-":
            with suppress(Failure):
                lexer.advance()
            if lexer.kind == "unclosed":
                return False
        return lexer.token == ":-"

    def _term(self, depth: int) -> Node:
        lexer = self.lexer
        node = self._primary(depth)
        operator = lexer.token
        if lexer.kind == "symbol" and operator in ("/", *COMPARISONS):
            lexer.advance()
            right = self._primary(depth + 1)
            node = Node("infix", operator, (node, right), node.start, right.end)
        return node

    def _primary(self, depth: int) -> Node:
        lexer = self.lexer
        if depth > DEEPEST:
            at = lexer.start, lexer.start
            hint = f"at most {DEEPEST} levels are read"
            raise lexer.failure("this is nested too deeply", hint, at=at)
        kind, token, start, end = lexer.kind, lexer.token, lexer.start, lexer.end
        operator = kind == "symbol" and token in (NEGATION, *COMPARISONS)
        if kind in ("name", "quoted") or operator:
            name = token if operator else lexer.name()
            lexer.advance()
            if lexer.start == end and lexer.token == "(":
                args, end, _ = self._elements(")", depth)
                return Node("call", name, args, start, end)
            if token == NEGATION and operator:
                arg = self._primary(depth + 1)
                return Node("call", name, (arg,), start, arg.end)
            return Node("atom", name, (), start, end)
        if kind in ("number", "variable"):
            value = lexer.number() if kind == "number" else token
            lexer.advance()
            return Node(kind, value, (), start, end)
        if kind == "punctuation" and token in ("(", "["):
            args, end, comma = self._elements(")" if token == "(" else "]", depth)
            if token == "(" and len(args) == 1 and not comma:
                return args[0]
            return Node("and" if token == "(" else "list", token, args, start, end)
        if token == "*" and kind == "symbol":
            lexer.advance()
            return Node("atom", "*", (), start, end)
        if token in SIGNED and kind == "symbol":
            lexer.advance()
            if token == "-" and lexer.kind == "number":
                number = Node("number", -lexer.number(), (), start, lexer.end)
                lexer.advance()
                return number
            arg = self._primary(depth + 1)
            return Node("prefix", token, (arg,), start, arg.end)
        raise self._unexpected("a term", "a name, a number, or a sign before a type stands here")

    def _elements(self, closing: str, depth: int) -> tuple[tuple[Node, ...], int, bool]:
        """The terms up to a closing bracket, where it ends, and whether a comma is the last."""
        lexer = self.lexer
        args: list[Node] = []
        lexer.advance()
        comma = False
        while lexer.token != closing or lexer.kind != "punctuation":
            args.append(self._term(depth + 1))
            bar = closing == "]" and lexer.token == "|"
            comma = bar or (lexer.token == "," and lexer.kind == "punctuation")
            if comma:
                lexer.advance()
            elif lexer.token != closing:
                raise self._unexpected(
                    f"',' or '{closing}'", "close the bracket, or put a comma between arguments"
                )
        end = lexer.end
        lexer.advance()
        return tuple(args), end, comma

    def _unexpected(self, wanted: str, hint: str) -> Failure:
        lexer = self.lexer
        found = "the end of the text" if lexer.kind == "eof" else f"'{lexer.token}'"
        return lexer.failure(f"expected {wanted}, found {found}", hint)
