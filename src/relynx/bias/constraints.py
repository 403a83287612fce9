"""Constraints on patterns: conjunctions and lists of atoms that a pattern's atoms may match.

A constraint's variables are bound to terms of the pattern, whose own variables are treated as
constants. Two of a constraint's variables may be bound to the same term; each `_` is
a variable of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Comparison, Literal, Term, Var

Binding: TypeAlias = Mapping[str, Term]


class Conjunction:
    """A conjunction of atoms and `\\==` tests, ready to be matched with many patterns."""

    __slots__ = ("atoms", "needed", "tests")

    def __init__(self, literals: Sequence[Literal]) -> None:
        self.atoms = [literal for literal in literals if isinstance(literal, Atom)]
        self.tests = [literal for literal in literals if isinstance(literal, Comparison)]
        self.needed = list(Counter(atom.key for atom in self.atoms).items())

    def matches(self, grouped: Mapping[Key, Sequence[Atom]]) -> bool:
        """Whether its atoms match distinct atoms of a pattern so that its tests hold."""
        return all(len(grouped.get(key, ())) >= n for key, n in self.needed) and any(
            all(_differ(test, binding) for test in self.tests)
            for binding in self._bindings(0, grouped, (), {})
        )

    def _bindings(
        self,
        i: int,
        grouped: Mapping[Key, Sequence[Atom]],
        used: tuple[Atom, ...],
        binding: Binding,
    ) -> Iterator[Binding]:
        if i == len(self.atoms):
            yield binding
            return
        for atom in grouped[self.atoms[i].key]:
            if any(atom is other for other in used):
                continue
            extended = matched(self.atoms[i], atom, binding)
            if extended is not None:
                yield from self._bindings(i + 1, grouped, (*used, atom), extended)


def by_predicate(atoms: Sequence[Atom]) -> dict[Key, list[Atom]]:
    """Some atoms, by name and number of arguments."""
    grouped: dict[Key, list[Atom]] = {}
    for atom in atoms:
        grouped.setdefault(atom.key, []).append(atom)
    return grouped


def more_than_one(listed: Sequence[Atom], atoms: Sequence[Atom], *, same: bool) -> bool:
    """Whether two atoms match the list, with `same` one element, under one binding."""
    for i, one in enumerate(atoms):
        for j, element in enumerate(listed):
            first = matched(element, one, {})
            if first is None:
                continue
            others = listed[j : j + 1] if same else listed
            if any(
                matched(other, atom, first) is not None
                for other in others
                for atom in atoms[i + 1 :]
            ):
                return True
    return False


def matched(general: Atom, atom: Atom, binding: Binding) -> Binding | None:
    """The binding extended so that `general` becomes `atom`, or None where it cannot."""
    if general.predicate != atom.predicate or len(general.args) != len(atom.args):
        return None
    extended = dict(binding)
    for wanted, found in zip(general.args, atom.args, strict=True):
        if isinstance(wanted, Var):
            if wanted.name == "_":
                continue
            wanted = extended.setdefault(wanted.name, found)
        if type(wanted) is not type(found) or wanted != found:
            return None
    return extended


def unifiable(left: Atom, right: Atom) -> bool:
    """Whether some substitution makes two atoms equal; a name they share is not one variable."""
    if left.key != right.key:
        return False
    bound: dict[str, Term] = {}
    for one, other in zip(left.args, right.args, strict=True):
        if any(isinstance(term, Var) and term.anonymous for term in (one, other)):
            continue
        one = _value(one, bound)
        other = _value(Var(f"{other.name} right") if isinstance(other, Var) else other, bound)
        if type(one) is type(other) and one == other:
            continue
        if isinstance(one, Var):
            bound[one.name] = other
        elif isinstance(other, Var):
            bound[other.name] = one
        else:
            return False
    return True


def _value(term: Term, bound: Binding) -> Term:
    """The current value of a term: a constant, or an unbound variable."""
    while isinstance(term, Var) and term.name in bound:
        term = bound[term.name]
    return term


def _differ(test: Comparison, binding: Binding) -> bool:
    left, right = (
        binding[side.name] if isinstance(side, Var) else side for side in (test.left, test.right)
    )
    return type(left) is not type(right) or left != right
