"""Parsing Prolog text: a syntax tree for each clause, and all errors of a file at once.

Reading has two steps. `parse_clauses` turns text into trees of `Node`, which know nothing of what
a clause is for; the converters of `relynx.logic.nodes` turn a tree into a term, an atom or a rule.
`parse_atom` and `parse_atoms` do both for a short text.
"""

from __future__ import annotations

import re

from relynx.errors import MOST_PROBLEMS, ParseError, Problem, Source
from relynx.logic.nodes import Clause, Node, node_atom, node_atoms
from relynx.logic.terms import COMPARISONS, Atom
from relynx.logic.tokens import Failure, Lexer, short

MAX_DEPTH = 100

# Infix operators: priority, then the most that the left and the right side may have.
_INFIX = {
    ":-": (1200, 1199, 1199),
    ",": (1000, 999, 999),
    **dict.fromkeys((*COMPARISONS, "is"), (700, 699, 699)),
    **dict.fromkeys(("+", "-"), (500, 500, 499)),
    **dict.fromkeys(("*", "//", "mod"), (400, 400, 399)),
}
_FOREIGN = {
    "=": "use one variable in both places, or == to compare",
    **dict.fromkeys(("\\=", "!=", "<>"), "write \\== for 'is different from'"),
    "<=": "write =< for 'at most'",
    "=>": "write >= for 'at least'",
    **dict.fromkeys((";", "||", "|"), "write one rule for each alternative"),
    "->": "write one rule for each case",
    "-->": "write the rule with :-",
    "?-": "write :- before a directive",
    "!": "write \\+ in the other rules instead of a cut",
    "/": "write // for the division of whole numbers",
    **dict.fromkeys(("&", "&&"), "write , between the atoms of a body"),
    **dict.fromkeys(("**", "^"), "write a product"),
    **dict.fromkeys(("{", "}"), "use round brackets"),
    **dict.fromkeys(("=..", "?"), None),
    "*/": "this closes no comment",
    "=@=": "write == to compare",
    **{sign: f"put a name that holds '{sign}' between single quotes" for sign in ":$@"},
    **dict.fromkeys(("~", "\\"), "write \\+ for negation"),
    **{f"@{sign}": f"write {sign} to compare numbers" for sign in ("<", "=<", ">", ">=")},
}
_CLAUSE_GOES_ON = "',' or '.'"
_NOTHING = "there is nothing between these brackets"
_CLOSING = {"(": ")", "[": "]"}


class ClauseParser:
    """Reads clause after clause, the latest from `start` on; `problems` collects the errors. After
    a wrong clause, reading goes on behind the next dot, or at a line that `resume` matches. Without
    `directives`, one is a node without arguments, whatever it holds, so that a reader can refuse
    it."""

    def __init__(
        self, source: Source, *, resume: re.Pattern[str] | None = None, directives: bool = True
    ) -> None:
        self.source = source
        self.resume = resume
        self.directives = directives
        self.lexer = Lexer(source)
        self.problems: list[Problem] = []
        self.finished = False
        self.start = 0

    def next_clause(self, position: int) -> tuple[Clause | None, int]:
        """The clause that begins at or after an offset, and the offset to continue from; None where
        it is wrong, and at the end of the text, where `finished` is true."""
        lexer = self.lexer
        lexer.move(position)
        self.start = position
        try:
            lexer.advance()
            if lexer.kind == "eof":
                self.finished = True
                return None, lexer.end
            self.start = lexer.start
            if lexer.token in ("#", "//") or lexer.text.startswith("--", lexer.start):
                raise lexer.failure("no clause can begin like this", "a comment begins with %")
            if lexer.token == ":-" and not self.directives:
                directive = Node("prefix", ":-", (), lexer.start, lexer.end)
                lexer.skip_clause(self.start, self.resume)
                return Clause(directive, directive.start, directive.end), lexer.end
            node = self.expression(1200, 0)
            return Clause(node, self.start, lexer.last_end), self._end_of_clause()
        except Failure as failure:
            self.problems.append(failure.problem)
            lexer.skip_clause(self.start, self.resume)
            return None, lexer.end

    def whole(self) -> Node | None:
        """The one term that makes up the whole text; a dot may follow it."""
        lexer = self.lexer
        try:
            lexer.advance()
            if lexer.kind == "eof":
                raise lexer.failure("there is nothing to read in this text")
            node = self.expression(1200, 0)
            if lexer.kind == "end":
                lexer.advance()
            if lexer.kind != "eof":
                raise self._unexpected("an operator or the end of the text")
            return node
        except Failure as failure:
            self.problems.append(failure.problem)
            return None

    def _end_of_clause(self) -> int:
        """Check that a clause ends here; a dot that was only forgotten is reported and supplied."""
        lexer = self.lexer
        if lexer.kind == "end":
            return lexer.end
        if lexer.kind == "dot" and lexer.text[lexer.end] not in ".)],([":
            what = "the '.' after a clause must be followed by a space or a line break"
            hint = "put each clause on a line of its own"
            self.problems.append(lexer.failure(what, hint).problem)
            return lexer.end
        if lexer.kind == "eof" or (lexer.on_new_line() and lexer.kind in ("name", "quoted")):
            more = "" if lexer.kind == "eof" else "; if it goes on, write ',' or an operator"
            what, hint = "a '.' is missing at the end of this clause", "every clause ends with '.'"
            self.problems.append(Problem(what, self.source, lexer.last_end, hint=hint + more))
            return lexer.last_end
        raise self._unexpected(_CLAUSE_GOES_ON)

    def expression(self, limit: int, depth: int) -> Node:
        """A term whose outermost operator has at most this priority."""
        lexer = self.lexer
        left = self._primary(limit, depth)
        priority = _INFIX[":-"][0] if left.kind == "prefix" and left.value == ":-" else 0
        while True:
            kind = lexer.kind
            if kind not in ("symbol", "punctuation", "name"):
                return left
            operator = lexer.token
            known = _INFIX.get(operator)
            if known is None or known[0] > limit:
                if operator in _FOREIGN and (operator != "|" or limit > 999):
                    raise self._foreign(operator)
                return left
            if known[1] < priority:
                left = self._chained(left, operator, depth)
                continue
            if operator == ",":
                left = self._flat("and", [left], operator, known[2], depth)
            else:
                right = self._operand(known[2], depth)
                left = self._node("infix", operator, (left, right), left.start, right.end)
            priority = known[0]

    def _operand(self, limit: int, depth: int) -> Node:
        """What follows the current token, an operator."""
        operator, at = self.lexer.token, (self.lexer.start, self.lexer.end)
        self.lexer.advance()
        self._need_operand(operator, at)
        return self.expression(limit, depth + 1)

    def _flat(self, kind: str, parts: list[Node], operator: str, limit: int, depth: int) -> Node:
        """All the parts of `a, b, c` as one flat node, given the first ones."""
        parts = [*parts]
        while self.lexer.token == operator and self.lexer.kind in ("symbol", "punctuation"):
            parts.append(self._operand(limit, depth))
        return self._node(kind, operator, tuple(parts), parts[0].start, parts[-1].end)

    def _chained(self, left: Node, operator: str, depth: int) -> Node:
        """All the positions of `a < b < c` as one flat node; other comparisons do not chain."""
        lexer = self.lexer
        if left.kind != "infix" or left.value != "<" or operator != "<":
            hint = "write each comparison on its own, with ',' between them"
            if operator == ":-":
                hint = "a clause has one ':-'; is a '.' missing before it?"
            what = f"'{operator}' cannot follow another operator of its kind here"
            raise lexer.failure(what, hint)
        return self._flat("chain", [*left.args], operator, 699, depth)

    def _need_operand(self, operator: str, at: tuple[int, int]) -> None:
        """Say so at the operator when nothing follows it."""
        lexer = self.lexer
        if lexer.kind in ("end", "eof") or lexer.token in (")", "]", ","):
            hint = None if operator != "," else "remove the ',' or write what comes after it"
            raise lexer.failure(f"something is missing after '{operator}'", hint, at=at)

    def _node(self, kind: str, value: str, args: tuple[Node, ...], start: int, end: int) -> Node:
        depth = 1 + max((arg.depth for arg in args), default=0)
        if depth > MAX_DEPTH:
            raise self._too_deep(start)
        return Node(kind, value, args, start, end, depth)

    def _too_deep(self, start: int) -> Failure:
        hint = f"at most {MAX_DEPTH} levels are read"
        return self.lexer.failure("this is nested too deeply", hint, at=(start, start))

    def _primary(self, limit: int, depth: int) -> Node:
        """A term without an infix operator at its top."""
        lexer = self.lexer
        kind, start, end = lexer.kind, lexer.start, lexer.end
        if depth > MAX_DEPTH:
            raise self._too_deep(start)
        node: Node
        if kind in ("name", "quoted"):
            name = lexer.name()
            lexer.advance()
            if lexer.start == end and lexer.token == "(":
                return self._call(name, start, depth)
            if name == "not" and kind == "name" and self._at_operand():
                hint = "write \\+ for negation"
                raise lexer.failure("'not' is not of this language", hint, at=(start, end))
            node = Node("atom", name, (), start, end)
        elif kind == "variable":
            node = Node("variable", lexer.token, (), start, end)
            lexer.advance()
        elif kind == "number":
            node = Node("number", lexer.number() + 0, (), start, end)
            lexer.advance()
        elif kind == "symbol":
            return self._symbol(limit, depth)
        elif kind == "punctuation" and lexer.token in ("(", "["):
            return self._bracketed(depth)
        else:
            raise self._unexpected("a term")
        if lexer.kind == "punctuation" and lexer.token == "(":
            raise self._not_a_predicate(node)
        return node

    def _at_operand(self) -> bool:
        """Whether an atom or a bracket follows on the same line."""
        lexer = self.lexer
        known = lexer.kind in ("name", "quoted", "variable") and lexer.token not in _INFIX
        return (known or lexer.token == "(") and not lexer.on_new_line()

    def _call(self, name: str, start: int, depth: int) -> Node:
        opened = self.lexer.start
        args, end = self._elements(opened, depth)
        if not args:
            hint = "write a predicate without arguments without brackets"
            raise self.lexer.failure(_NOTHING, hint, at=(opened, end))
        return self._node("call", name, args, start, end)

    def _bracketed(self, depth: int) -> Node:
        lexer = self.lexer
        start, bracket = lexer.start, lexer.token
        if bracket == "[":
            args, end = self._elements(start, depth)
            return self._node("list", "[]", args, start, end)
        lexer.advance()
        if lexer.token == ")":
            raise lexer.failure(_NOTHING, at=(start, lexer.end))
        node = self.expression(1200, depth + 1)
        self._close(start)
        return node._replace(depth=node.depth + 1)

    def _elements(self, opened: int, depth: int) -> tuple[tuple[Node, ...], int]:
        """The terms between an opening bracket, the current token, and its closing one."""
        lexer = self.lexer
        closing = _CLOSING[lexer.token]
        args: list[Node] = []
        lexer.advance()
        if lexer.token == closing:
            end = lexer.end
            lexer.advance()
            return (), end
        while True:
            if lexer.kind == "punctuation" and lexer.token in (",", closing):
                what = "an argument" if closing == ")" else "an element"
                hint = "remove the ',' or write what belongs there"
                raise lexer.failure(f"{what} is missing before '{lexer.token}'", hint)
            args.append(self.expression(999, depth + 1))
            if lexer.token != "," or lexer.kind != "punctuation":
                return tuple(args), self._close(opened)
            lexer.advance()

    def _close(self, opened: int) -> int:
        """Step over the bracket that closes the one at `opened`, and return its end."""
        lexer = self.lexer
        bracket = lexer.text[opened]
        closing = _CLOSING[bracket]
        if lexer.token == closing and lexer.kind == "punctuation":
            end = lexer.end
            lexer.advance()
            return end
        if lexer.kind in ("end", "eof"):
            hint = f"write '{closing}' before the end of the clause"
            at = opened, opened + 1
            raise lexer.failure(f"this '{bracket}' is never closed", hint, at=at)
        if lexer.token == "|" and bracket == "[":
            hint = "write all the elements of the list"
            raise lexer.failure("a list with a tail is not of this language", hint)
        raise self._unexpected(f"',' or '{closing}'", opened=opened)

    def _symbol(self, limit: int, depth: int) -> Node:
        """A symbol at the start of a term: a sign, a negation, a mode, or a name of its own."""
        lexer = self.lexer
        operator, start, end = lexer.token, lexer.start, lexer.end
        directive = operator == ":-" and limit == 1200 and depth == 0
        if directive or (operator == "\\+" and limit >= 900):
            arg = self._operand(1199 if directive else 900, depth)
            return self._node("prefix", operator, (arg,), start, arg.end)
        lexer.advance()
        if limit == 999 and lexer.kind == "punctuation" and lexer.token in (",", ")", "]"):
            return Node("atom", operator, (), start, end)
        if operator in ("+", "-", "*", "#"):
            if operator == "-" and lexer.kind == "number":
                value, end = -lexer.number() + 0, lexer.end
                lexer.advance()
                return Node("number", value, (), start, end)
            if lexer.start == end and lexer.token == "(":
                return self._call(operator, start, depth)
            self._need_operand(operator, (start, end))
            arg = self._primary(limit, depth + 1)
            return self._node("prefix", operator, (arg,), start, arg.end)
        at = start, end
        if operator == "\\+":
            hint = "\\+ negates an atom of a rule's body"
            raise lexer.failure("'\\+' cannot stand here", hint, at=at)
        if operator in _FOREIGN:
            raise self._foreign(operator, at)
        raise lexer.failure(f"something is missing before '{operator}'", at=at)

    def _foreign(self, operator: str, at: tuple[int, int] | None = None) -> Failure:
        what = f"'{operator}' is not of this language"
        return self.lexer.failure(what, _FOREIGN[operator], at=at)

    def _not_a_predicate(self, node: Node) -> Failure:
        """An opening bracket follows something that is no name."""
        lexer = self.lexer
        text = lexer.text[node.start : node.end]
        if lexer.start > node.end and node.kind == "atom":
            return lexer.failure("no space may stand between a name and its '('")
        if lexer.start > node.end:
            return lexer.failure("a ',' or an operator is missing before '('")
        hint = f"put it between quotes: '{text}'(...)"
        if node.kind == "number":
            hint = f"a predicate is a name; {hint}"
        small = text.lstrip("_")
        if small and small[0].lower() != small[0]:
            hint = f"write {small[0].lower()}{small[1:]}(...) or '{text}'(...)"
        what = f"the {node.kind} {text} is used as a predicate"
        return lexer.failure(what, hint, at=(node.start, node.end))

    def _unexpected(self, wanted: str, *, opened: int | None = None) -> Failure:
        """The current token cannot stand here."""
        lexer = self.lexer
        token = lexer.token
        hint = None
        if lexer.kind == "eof":
            message = f"expected {wanted}, found the end of the text"
        elif lexer.kind == "end":
            message = f"expected {wanted}, found the end of the clause"
        elif token in (")", "]") and opened is None:
            message = f"this '{token}' closes nothing"
        else:
            if token in _FOREIGN:
                return self._foreign(token)
            shown = short(token)
            message = f"expected {wanted}, found {shown if lexer.kind == 'quoted' else repr(shown)}"
            if lexer.kind == "dot":
                message = "this '.' cannot stand here"
                if lexer.last_end == lexer.start and lexer.text[lexer.start - 1].isdigit():
                    hint = "a number has digits on both sides of one point"
                elif lexer.text[lexer.end : lexer.end + 1].isdigit():
                    hint = "write a digit before the point: 0.5"
            elif wanted == _CLAUSE_GOES_ON:
                hint = "is a '.' or a ',' missing before it?"
            elif opened is not None:
                hint = f"the '{lexer.text[opened]}' of line {lexer.line(opened)} is still open"
                if lexer.kind in ("name", "variable", "number") and not lexer.on_new_line():
                    hint = "write ',' between arguments; a name with spaces goes between quotes"
        return lexer.failure(message, hint)


def parse_clauses(source: Source, *, directives: bool = True) -> tuple[list[Clause], list[Problem]]:
    """The clauses of a text, and what is wrong with others, up to about `MOST_PROBLEMS`."""
    parser = ClauseParser(source, directives=directives)
    clauses: list[Clause] = []
    position = 0
    while not parser.finished and len(parser.problems) <= MOST_PROBLEMS:
        clause, position = parser.next_clause(position)
        if clause is not None:
            clauses.append(clause)
    return clauses, parser.problems


def parse_whole(text: str) -> tuple[Node, Source]:
    """The tree of a short text, and its source."""
    source = Source(text)
    parser = ClauseParser(source)
    node = parser.whole()
    if node is None:
        raise ParseError(parser.problems)
    return node, source


def parse_atom(text: str) -> Atom:
    """Read one atom, as in `parse_atom("he(E, alpha, L)")`."""
    return node_atom(*parse_whole(text))


def parse_atoms(text: str) -> tuple[Atom, ...]:
    """Read a conjunction of atoms, `p(X), q(X,Y)`, which may stand between `[` and `]`."""
    return node_atoms(*parse_whole(text))
