"""Terms, atoms and rules: immutable values whose text is Prolog and reads back.

A constant is a plain Python value: `str` for a Prolog atom, `int`, `float`. A list is a tuple of
terms. `1` and `1.0` are different constants, as in Prolog; equality here respects that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Constant: TypeAlias = str | int | float
Term: TypeAlias = "Var | str | int | float | Struct | tuple[Term, ...]"

PLAIN_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a pair: no file can be written with it
COMPARISONS = ("<", "=<", ">", ">=", "=:=", "=\\=", "==", "\\==")
ARITHMETIC = {"+": 2, "-": 2, "*": 2, "//": 2, "mod": 2, "abs": 1, "min": 2, "max": 2}
_PRIORITY = {"+": 500, "-": 500, "*": 400, "//": 400, "mod": 400}


@dataclass(frozen=True, slots=True)
class Var:
    """A variable. Each `_` is a variable of its own, exempt from Object Identity."""

    name: str
    offset: int = field(default=-1, compare=False, repr=False)

    @property
    def anonymous(self) -> bool:
        return self.name == "_"

    def __str__(self) -> str:
        return self.name


def numbered_variable(number: int) -> Var:
    """The variable of a number: A, B, ..., Z, A1, B1, ..."""
    return Var(f"{chr(ord('A') + number % 26)}{number // 26 or ''}")


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """A compound term: a nested term that a reader flattens, or an arithmetic expression."""

    functor: str
    args: tuple[Term, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self.functor == other.functor and same_terms(self.args, other.args)

    def __hash__(self) -> int:
        return hash((self.functor, self.args))

    def __str__(self) -> str:
        return term_text(self)


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A predicate with its arguments, `he(E,alpha,long)`. `offset` is its position in the text."""

    predicate: str
    args: tuple[Term, ...] = ()
    offset: int = field(default=-1, repr=False)

    @property
    def key(self) -> tuple[str, int]:
        """Name and number of arguments: what makes a predicate."""
        return self.predicate, len(self.args)

    def variables(self) -> Iterator[Var]:
        """Every occurrence of a variable, from left to right."""
        for arg in self.args:
            yield from term_variables(arg)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Atom):
            return NotImplemented
        return self.predicate == other.predicate and same_terms(self.args, other.args)

    def __hash__(self) -> int:
        return hash((self.predicate, self.args))

    def __str__(self) -> str:
        if not self.args:
            return quoted(self.predicate)
        return f"{quoted(self.predicate)}({','.join(map(term_text, self.args))})"


@dataclass(frozen=True, slots=True)
class Not:
    """A negated atom of a rule's body, `\\+ p(X)`."""

    atom: Atom

    @property
    def offset(self) -> int:
        return self.atom.offset

    def variables(self) -> Iterator[Var]:
        return self.atom.variables()

    def __str__(self) -> str:
        return f"\\+ {self.atom}"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A built-in of a rule's body: `operator` is one of COMPARISONS or `is`."""

    operator: str
    left: Term
    right: Term
    offset: int = field(default=-1, repr=False)

    def variables(self) -> Iterator[Var]:
        yield from term_variables(self.left)
        yield from term_variables(self.right)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self.operator == other.operator and same_terms(
            (self.left, self.right), (other.left, other.right)
        )

    def __hash__(self) -> int:
        return hash((self.operator, self.left, self.right))

    def __str__(self) -> str:
        return f"{term_text(self.left)} {self.operator} {term_text(self.right)}"


Literal: TypeAlias = Atom | Not | Comparison


def atom_of(literal: Literal) -> Atom:
    """The atom of a literal that is no comparison."""
    assert not isinstance(literal, Comparison)
    return literal.atom if isinstance(literal, Not) else literal


@dataclass(frozen=True, slots=True)
class Rule:
    """`head :- body.`; a fact is a rule with an empty body."""

    head: Atom
    body: tuple[Literal, ...] = ()
    offset: int = field(default=-1, compare=False, repr=False)

    def atoms(self) -> Iterator[Atom]:
        """The head and the atoms of the body, negated ones included."""
        yield self.head
        yield from (atom_of(x) for x in self.body if not isinstance(x, Comparison))

    def assignments(self) -> list[Comparison]:
        return [x for x in self.body if isinstance(x, Comparison) and x.operator == "is"]

    def __str__(self) -> str:
        if not self.body:
            return f"{self.head}."
        return f"{self.head} :- {', '.join(map(str, self.body))}."


def same_terms(left: tuple[Term, ...], right: tuple[Term, ...]) -> bool:
    """Equality that distinguishes 1 from 1.0 at any depth."""
    return len(left) == len(right) and all(map(_same_term, left, right))


def _same_term(left: Term, right: Term) -> bool:
    if isinstance(left, tuple):
        return isinstance(right, tuple) and same_terms(left, right)
    return type(left) is type(right) and left == right


def term_variables(term: Term) -> Iterator[Var]:
    """Every occurrence of a variable in a term, from left to right."""
    if isinstance(term, Var):
        yield term
    elif isinstance(term, Struct | tuple):
        for arg in term.args if isinstance(term, Struct) else term:
            yield from term_variables(arg)


def as_constant(value: object) -> Constant:
    """The constant for a Python or numpy value; `True` becomes the atom `true`. Raises TypeError
    for others, also for NaN and infinities."""
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "ndim", None) == 0:
        value = item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is no constant: a number must be finite")
        return float(value) + 0.0  # -0.0 becomes 0.0
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{value!r} is no constant: give text or a number")


def is_constant(value: object) -> bool:
    """Whether `as_constant` takes a value."""
    try:
        as_constant(value)
    except TypeError:
        return False
    return True


def constant_key(constant: Constant) -> object:
    """A dictionary key that distinguishes 1 from 1.0, which Python considers equal."""
    return (constant,) if type(constant) is float else constant


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(name: str) -> str:
    """A Prolog atom as it is written: bare where it may be, else between quotes."""
    if PLAIN_ATOM.match(name):
        return name
    escaped = (_ESCAPES.get(c) or (c if c.isprintable() else f"\\x{ord(c):x}\\") for c in name)
    return f"'{''.join(escaped)}'"


def constant_text(value: Constant) -> str:
    """A constant as Prolog text that reads back as the same constant."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        text = repr(value)
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text
    return str(value)


def term_text(term: Term, limit: int = 1200) -> str:
    """A term as Prolog text, with brackets where an operator binds less than `limit` allows."""
    if isinstance(term, Var):
        return term.name
    if isinstance(term, tuple):
        return "[" + ",".join(map(term_text, term)) + "]"
    if not isinstance(term, Struct):
        return constant_text(term)
    priority = _PRIORITY.get(term.functor)
    if priority is not None and len(term.args) == 2:
        left, right = term.args
        text = f"{term_text(left, priority)} {term.functor} {term_text(right, priority - 1)}"
        return f"({text})" if priority > limit else text
    return f"{quoted(term.functor)}({','.join(map(term_text, term.args))})"


def flatten(atom: Atom) -> Atom:
    """The atom with the arguments of nested terms in place of the terms (SPEC: no functions)."""
    if not any(isinstance(arg, Struct) for arg in atom.args):
        return atom
    return Atom(atom.predicate, tuple(_leaves(atom.args)), atom.offset)


def _leaves(args: tuple[Term, ...]) -> Iterator[Term]:
    for arg in args:
        if isinstance(arg, Struct):
            yield from _leaves(arg.args)
        else:
            yield arg
