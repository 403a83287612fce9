"""Whether every state of a model has one body that is the most specific."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from relynx.bias.modes import SourceSpans, Where
from relynx.errors import Problem
from relynx.logic.terms import Atom, Term, Var
from relynx.models.lohmm.inference import program as pg

MOST_COMPARISONS = 10_000_000  # of a state with a body: seconds


def coverage_problems(
    program: pg.Program, where: Sequence[Where], at: SourceSpans
) -> Iterator[Problem]:
    """States without a body, and pairs of bodies of which none is the most specific. `where` has
    the place of each clause."""
    for bodies in program.bodies.values():
        yield from _closure_problems(program, bodies, where, at)
    search, known = _Search(program), set[pg.Coded]()
    pairs: list[tuple[pg.Clause, pg.Body | None]] = [(clause, None) for clause in program.start]
    for bodies in program.bodies.values():
        pairs += [(clause, body) for body in bodies for of in body.blocks for clause in of]
    for clause, body in sorted(pairs, key=lambda pair: pair[0].number):
        if clause.ends:
            continue
        try:
            lost = search.lost_by(clause, body)
        except _TooManyError:
            what = "it cannot be checked in time whether every state of this model has a body"
            hint = "give fewer bodies, or add for each predicate a body with variables only"
            yield at.problem((*where[clause.number], "head"), what, hint=hint)
            return
        if lost is not None and (clause.head[0], _canonical(lost)) not in known:
            known.add((clause.head[0], _canonical(lost)))
            atom = _shown(program, (clause.head[0], lost))
            more = ", or a more general one" if atom.args else ""
            hint = f"add transitions with the body {atom}{more}"
            here = (*where[clause.number], "head")
            yield at.problem(here, f"no body fits the state {atom}", hint)


def _closure_problems(
    program: pg.Program, bodies: Sequence[pg.Body], where: Sequence[Where], at: SourceSpans
) -> Iterator[Problem]:
    """Two bodies that fit one state need a third that fits what both fit."""
    known = {_canonical(body.pattern[1]) for body in bodies}
    for first, second in combinations(bodies, 2):
        left, right = first.pattern[1], pg.apart(second.pattern[1], first.n_variables)
        found = pg.unified(left, right)
        if found is None or pg.subsumes(left, right) or pg.subsumes(right, left):
            continue
        common = _canonical(tuple(pg.walked(arg, found) for arg in left))
        if common in known:
            continue
        known.add(common)
        one, other, both = (
            _shown(program, (first.pattern[0], _canonical(args))) for args in (left, right, common)
        )
        number = min(c.number for body in (first, second) for of in body.blocks for c in of)
        what = f"the bodies {one} and {other} both fit {both}, and neither is more specific"
        yield at.problem((*where[number], "body"), what, f"add transitions with the body {both}")


class _TooManyError(Exception):
    """The search takes too long; in the worst case it would take exponential time."""


class _Search:
    """Looks for states that a clause leads to and that no body fits. Constants that no body
    mentions, nor the head, are all alike: one of them stands for the rest."""

    def __init__(self, program: pg.Program) -> None:
        self.program = program
        self.comparisons = 0  # of all clauses together
        self.mentioned: list[set[int]] = [set() for _ in program.constants]  # by some body
        for predicate, bodies in program.bodies.items():
            types = program.argument_types[predicate]
            for body in bodies:
                for arg, type_ in zip(body.pattern[1], types, strict=True):
                    if arg >= 0:
                        self.mentioned[type_].add(arg)

    def lost_by(self, clause: pg.Clause, body: pg.Body | None) -> pg.Args | None:
        """A head of the clause that no body fits; None if there is none."""
        program, self.clause = self.program, clause
        self.targets = [b.pattern[1] for b in program.bodies.get(clause.head[0], ())]
        self.ground = {target for target in self.targets if min(target, default=0) >= 0}
        types = program.argument_types[clause.head[0]]
        self.in_head = {
            (type_, arg) for arg, type_ in zip(clause.head[1], types, strict=True) if arg >= 0
        }
        self.source: pg.Args | None = None
        self.exceptions: list[pg.Args] = []
        if body is not None:
            self.source = body.pattern[1]
            self.exceptions = [
                b.pattern[1]
                for b in program.bodies[body.pattern[0]]
                if b is not body and pg.subsumes(self.source, b.pattern[1])
            ]
        return self._lost([-1] * len(clause.types))

    def _count(self, n: int) -> None:
        self.comparisons += n
        if self.comparisons > MOST_COMPARISONS:
            raise _TooManyError

    def _lost(self, binding: list[int]) -> pg.Args | None:
        """The same with these and perhaps more values."""
        head = pg.bound(self.clause.head[1], binding)
        self._count(1)
        if head in self.ground:
            return None
        self._count(2 * (len(self.targets) + len(self.exceptions)))
        if any(pg.subsumes(target, head) for target in self.targets):
            return None
        deciding = self._deciding(self.targets, self.clause.head[1], binding)
        if self.source is not None:
            before = pg.bound(self.source, binding)
            if any(pg.subsumes(exception, before) for exception in self.exceptions):
                return None
            deciding += self._deciding(self.exceptions, self.source, binding)
        if not deciding:
            return head
        variable = deciding[0]
        for value in self._values(variable, binding):
            binding[variable] = value
            found = self._lost(binding)
            binding[variable] = -1
            if found is not None:
                return found
        return None

    def _deciding(
        self, patterns: Sequence[pg.Args], atom: pg.Args, binding: list[int]
    ) -> list[int]:
        """The free variables of an atom on which it depends whether a pattern fits."""
        here = pg.bound(atom, binding)
        found: list[int] = []
        for pattern in patterns:
            if pg.unified(here, pg.apart(pattern, len(self.clause.types))) is not None:
                found += [
                    -arg - 1
                    for arg, of in zip(here, pattern, strict=True)
                    if arg < 0 and (of >= 0 or pattern.count(of) > 1)
                ]
        return found

    def _values(self, variable: int, binding: list[int]) -> list[int]:
        """The values to be told apart, and one other."""
        type_ = self.clause.types[variable]
        bound_before = zip(self.clause.types, binding, strict=True)
        distinguished = self.mentioned[type_] | {
            code for of, code in (*self.in_head, *bound_before) if code >= 0 and of == type_
        }
        others = (c for c in range(len(self.program.constants[type_])) if c not in distinguished)
        return sorted(distinguished) + list(islice(others, 1))


def _canonical(args: pg.Args) -> pg.Args:
    """The pattern with its variables numbered in order."""
    numbers: dict[int, int] = {}
    return tuple(arg if arg >= 0 else numbers.setdefault(arg, -len(numbers) - 1) for arg in args)


def _shown(program: pg.Program, coded: pg.Coded) -> Atom:
    """A pattern as an atom with variables A, B, ..."""
    predicate, pattern = coded
    terms: list[Term] = []
    for arg, type_ in zip(_canonical(pattern), program.argument_types[predicate], strict=True):
        if arg >= 0:
            terms.append(program.constants[type_][arg])
        else:
            terms.append(Var(chr(ord("A") - arg - 1) if arg >= -26 else f"V{-arg}"))
    return Atom(program.keys[predicate][0], tuple(terms))
