"""Patterns compared by their canonical forms: whether they are variants, and which comes first."""

from __future__ import annotations

from collections.abc import Iterable

from relynx.logic.canonical import canonical, typed_constant
from relynx.logic.terms import Atom, Var


def are_variants(first: Iterable[Atom], second: Iterable[Atom]) -> bool:
    """Whether two patterns are equal up to renaming of variables."""
    return canonical(first) == canonical(second)


def canonical_key(atoms: Iterable[Atom]) -> tuple[object, ...]:
    """What orders patterns: equal for variants only, and comparable with that of any other."""
    numbers: dict[str, int] = {}
    key: list[object] = []
    for atom in canonical(atoms):
        local: dict[str, int] = {}
        args: list[object] = []
        for arg in atom.args:
            if not isinstance(arg, Var):
                args.append(typed_constant(arg))
            elif arg.anonymous:
                args.append((4, 0))
            else:
                args.append((3, local.setdefault(arg.name, len(local))))
        variables = tuple(numbers.setdefault(name, len(numbers)) for name in local)
        key.append(((atom.predicate, len(args), *args), variables))
    return tuple(key)
