"""Patterns as sequences: what a pattern says is what it covers of another one.

A variable becomes a constant of its own, `next_s` a step, `followat_s` so many steps over events of
which nothing is said, and `follow_s` more of them than any pattern counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom, Constant, Term, Var
from relynx.mining.patterns.pattern import Pattern, link_of


def frozen(patterns: Sequence[Pattern], *, longest: int) -> Sequences:
    """One sequence a pattern: a pattern covers it if it is more general than what is frozen.

    Links count by what they imply: a step is a case of `follow_s`, and so are several in a row. No
    `followat` of the patterns that are asked about has a larger n than `longest`.
    """
    mark = "?"
    constants = {
        arg for p in patterns for atom in p.atoms for arg in atom.args if isinstance(arg, str)
    }
    while any(constant.startswith(mark) for constant in constants):
        mark += "?"
    return Sequences.from_atoms(list(_facts(p.atoms, mark, longest)) for p in patterns)


def longest_step(patterns: Iterable[Pattern]) -> int:
    """The largest n of a `followat`; 1 where there is none."""
    steps = [
        atom.args[0]
        for pattern in patterns
        for atom in pattern.atoms
        if (link_of(atom) or ("", ""))[0] == "followat"
    ]
    return max([1, *(n for n in steps if isinstance(n, int))])


def _facts(atoms: Sequence[Atom], mark: str, longest: int) -> Iterator[Atom]:
    for number, atom in enumerate(atoms):
        args = [
            _constant(arg, f"{mark}{number} {place}", mark) for place, arg in enumerate(atom.args)
        ]
        link = link_of(atom)
        if link is None:
            yield Atom(atom.predicate, tuple(args))
            continue
        operator, dimension = link
        first, last = args[-2:]
        n = {"next": 1, "follow": longest + 1}.get(operator, args[0])
        between = [f"{mark}{number} step {i}" for i in range(1, int(n))]
        for pair in pairwise([first, *between, last]):
            yield Atom(f"next_{dimension}", pair)


def _constant(term: Term, unnamed: str, mark: str) -> Constant:
    if isinstance(term, Var):
        return unnamed if term.anonymous else f"{mark}{term.name}"
    assert isinstance(term, str | int | float)  # patterns are flat
    return term
