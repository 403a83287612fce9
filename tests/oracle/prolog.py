"""The same questions asked of SWI-Prolog: one program, one process, tabled evaluation.

Each (group, flag) is a world of its own: its predicates carry a prefix, and their first argument is
the number of the sequence, always bound in a call. Object Identity is spelt out as `\\==` guards.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from relynx.logic.terms import Atom, Comparison, Not, Rule, Struct, Term, Var

from .generator import Answers, Group

HINT = "SWI-Prolog is not installed: apt-get install swi-prolog-nox"

MAIN = """
main :-
    forall(group(G),
           ( forall(( question(G,K), sequence(G,S), once(query(K,S)) ), format("~w ~w~n", [K,S])),
             abolish_all_tables )),
    writeln(done).
"""


def is_installed() -> bool:
    return shutil.which("swipl") is not None


def prolog_answers(groups: Sequence[Group]) -> Answers:
    """The covered (group, pattern, sequence, flag) of all groups, as SWI-Prolog sees them."""
    questions: list[tuple[int, int, bool]] = []
    parts = [":- encoding(utf8).", ":- style_check(-singleton).", ":- discontiguous query/2."]
    for g, group in enumerate(groups):
        for flag in (True, False):
            world = _World(f"g{g}{'i' if flag else 'p'}_", object_identity=flag)
            for s, atoms in enumerate(group.sequences):
                for atom in atoms:
                    world.add_fact(s, atom)
            for rule in group.rules:
                world.add_rule(rule)
            for p, pattern in enumerate(group.patterns):
                parts.append(world.query(len(questions), pattern))
                parts.append(f"question({g},{len(questions)}).")
                questions.append((g, p, flag))
            parts.append(world.text())
        parts.append(f"group({g}).")
        parts += [f"sequence({g},{s})." for s in range(len(group.sequences))]
    directives = [":- discontiguous group/1, question/2, sequence/2."]
    lines = _run("\n".join([*directives, *parts, MAIN])).splitlines()
    if not lines or lines.pop() != "done":
        raise RuntimeError("SWI-Prolog stopped before the last question")
    answers: Answers = set()
    for line in lines:
        k, s = map(int, line.split())
        g, p, flag = questions[k]
        answers.add((g, p, s, flag))
    return answers


def _run(program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "oracle.pl")
        path.write_text(program, encoding="utf-8")
        done = subprocess.run(
            ["swipl", "-q", "-g", "main", "-t", "halt", str(path)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
    if done.returncode or done.stderr:
        raise RuntimeError(f"SWI-Prolog failed ({done.returncode}):\n{done.stderr[:2000]}")
    return done.stdout


class _World:
    """The program of one group under one flag, clause by clause."""

    def __init__(self, prefix: str, *, object_identity: bool) -> None:
        self.prefix = prefix
        self.object_identity = object_identity
        self.clauses: dict[tuple[str, int], list[str]] = {}
        self.tabled: set[tuple[str, int]] = set()

    def add_fact(self, sequence: int, atom: Atom) -> None:
        self._clauses(atom.predicate, len(atom.args)).append(
            self._goal(atom, sequence=str(sequence)) + "."
        )

    def add_rule(self, rule: Rule) -> None:
        self.tabled.add(rule.head.key)
        head = self._goal(rule.head)
        positive = [literal for literal in rule.body if isinstance(literal, Atom)]
        negative = [literal.atom for literal in rule.body if isinstance(literal, Not)]
        builtins = [literal for literal in rule.body if isinstance(literal, Comparison)]
        goals = [self._goal(atom) for atom in positive]
        goals += [_builtin(literal) for literal in _in_order(builtins, positive)]
        goals += self._guards([*positive, *builtins], [rule.head, *positive, *negative])
        goals += [f"\\+ {self._goal(atom)}" for atom in negative]
        clause = f"{head} :- {', '.join(goals)}." if goals else f"{head}."
        self._clauses(rule.head.predicate, len(rule.head.args)).append(clause)

    def query(self, number: int, pattern: Sequence[Atom]) -> str:
        goals: list[str] = []
        given: set[str] = set()
        for i, atom in enumerate(pattern):
            goals.append(self._goal(atom))
            for guard in self._guards(pattern[: i + 1], pattern):
                if guard not in given:
                    goals.append(guard)
                    given.add(guard)
        return f"query({number},S) :- {', '.join(goals)}."

    def text(self) -> str:
        lines = []
        for (name, arity), clauses in self.clauses.items():
            kind = "table" if (name, arity) in self.tabled else "dynamic"
            lines.append(f":- {kind} {_atom(self.prefix + name)}/{arity + 1}.")
            lines += clauses
        return "\n".join(lines)

    def _clauses(self, name: str, arity: int) -> list[str]:
        return self.clauses.setdefault((name, arity), [])

    def _goal(self, atom: Atom, sequence: str = "S") -> str:
        """The atom in this world; what defines the operators is added where they are used."""
        name, arity = atom.key
        if name.startswith("follow_") and arity == 2:
            self._define_follow(name, name.replace("follow_", "next_", 1))
        elif name.startswith("followat_") and arity == 3:
            self._define_followat(name, name.replace("followat_", "next_", 1))
        else:
            self._clauses(name, arity)
        return self._call(name, sequence, *map(_term, atom.args))

    def _call(self, name: str, *args: str) -> str:
        return f"{_atom(self.prefix + name)}({','.join(args)})"

    def _define_follow(self, follow: str, step: str) -> None:
        self._clauses(step, 2)
        self.tabled.add((follow, 2))
        head, first = self._call(follow, "S", "X", "Z"), self._call(follow, "S", "X", "Y")
        self.clauses[follow, 2] = [
            f"{head} :- {self._call(step, 'S', 'X', 'Z')}.",
            f"{head} :- {first}, {self._call(step, 'S', 'Y', 'Z')}.",
        ]

    def _define_followat(self, walk: str, step: str) -> None:
        self._clauses(step, 2)
        first, rest = self._call(step, "S", "X", "Y"), self._call(walk, "S", "M", "Y", "Z")
        self.clauses[walk, 3] = [
            f"{self._call(walk, 'S', '1', 'X', 'Y')} :- {first}.",
            f"{self._call(walk, 'S', 'N', 'X', 'Z')} :- N > 1, M is N - 1, {first}, {rest}.",
        ]

    def _guards(self, binding: Iterable[Atom | Comparison], atoms: Iterable[Atom]) -> list[str]:
        """`\\==` between the variables bound so far, and between them and the constants."""
        if not self.object_identity:
            return []
        names = dict.fromkeys(
            _term(v) for literal in binding for v in literal.variables() if not v.anonymous
        )
        constants = dict.fromkeys(
            _term(t)
            for atom in atoms
            for t in atom.args[atom.predicate.startswith("followat_") :]
            if not isinstance(t, Var)
        )
        guards = [f"{a} \\== {b}" for a, b in combinations(names, 2)]
        return guards + [f"{a} \\== {c}" for a in names for c in constants]


def _in_order(builtins: list[Comparison], positive: list[Atom]) -> list[Comparison]:
    """The built-ins so that each variable is bound before it is read."""
    bound = {v.name for atom in positive for v in atom.variables()}
    ordered: list[Comparison] = []
    waiting = list(builtins)
    while waiting:
        for literal in waiting:
            needs = {v.name for v in literal.variables()}
            if literal.operator == "is" and isinstance(literal.left, Var):
                needs.discard(literal.left.name)
            if needs <= bound:
                break
        else:
            raise ValueError("a built-in whose variables are never bound")
        waiting.remove(literal)
        ordered.append(literal)
        bound |= {v.name for v in literal.variables()}
    return ordered


def _builtin(literal: Comparison) -> str:
    return f"{_term(literal.left)} {literal.operator} {_term(literal.right)}"


def _term(term: Term) -> str:
    if isinstance(term, Var):
        return "_" if term.name == "_" else f"V{term.name}"
    if isinstance(term, Struct):
        args = [_term(arg) for arg in term.args]
        if term.functor in ("abs", "min", "max"):
            return f"{term.functor}({','.join(args)})"
        return f"({args[0]} {term.functor} {args[1]})"
    if isinstance(term, str):
        return _atom(term)
    return f"({term!r})"


def _atom(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
