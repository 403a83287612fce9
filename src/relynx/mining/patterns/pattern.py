"""Patterns: conjunctions of atoms with variables and constants; and one with its supports."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relynx.logic.canonical import canonical
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.parser import parse_atoms
from relynx.logic.terms import Atom, flatten


@dataclass(frozen=True, slots=True)
class Pattern:
    """A conjunction of atoms. Its text is Prolog and reads back as the same pattern.

    Two patterns are equal when they are written alike; `canonical()` is the same for all that
    differ only in the names of variables and the order of atoms.
    """

    atoms: tuple[Atom, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order of first occurrence; `_` is not among them."""
        names = (var.name for atom in self.atoms for var in atom.variables() if not var.anonymous)
        return tuple(dict.fromkeys(names))

    def canonical(self) -> Pattern:
        return Pattern(canonical(self.atoms))

    def __len__(self) -> int:
        return len(self.atoms)

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.atoms)

    def __str__(self) -> str:
        return ", ".join(map(str, self.atoms))

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"


@dataclass(frozen=True, slots=True)
class Entry:
    """A pattern of a set, and how many sequences of each class it covers."""

    pattern: Pattern
    length: int
    support: Mapping[object, int]

    @property
    def frequency(self) -> int:
        return sum(self.support.values())

    @property
    def confidence(self) -> dict[object, float]:
        """The share of each class in what the pattern covers."""
        n = self.frequency
        return {c: count / n if n else 0.0 for c, count in self.support.items()}

    def __str__(self) -> str:
        return str(self.pattern)


def link_of(atom: Atom) -> tuple[str, str] | None:
    """Operator and dimension of a link, None for another atom."""
    found = link_name(atom.predicate)
    return found if found is not None and len(atom.args) == OPERATORS[found[0]] else None


def as_pattern(pattern: Pattern | str) -> Pattern:
    """The pattern itself, or what its text says."""
    if isinstance(pattern, str):
        return parse_pattern(pattern)
    if not isinstance(pattern, Pattern):
        raise TypeError(
            f"a pattern is a Pattern or its text, not a {type(pattern).__name__}: "
            "make one with parse_pattern"
        )
    return pattern


def parse_pattern(text: str) -> Pattern:
    """Read a pattern from Prolog text.

    Parameters
    ----------
    text
        Atoms separated by commas; a full stop at the end or brackets around them are optional.
        Nested terms are flattened.

    Raises
    ------
    ParseError
        With every mistake of the text and its place.

    Examples
    --------
    >>> import relynx as rx
    >>> pattern = rx.parse_pattern("he(X,alpha,L), next_s(X,Y), st(Y,plus,L)")
    >>> print(pattern)
    he(X,alpha,L), next_s(X,Y), st(Y,plus,L)
    >>> pattern.variables
    ('X', 'L', 'Y')
    """
    return Pattern(tuple(map(flatten, parse_atoms(text))))
