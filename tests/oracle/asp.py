"""The same questions asked of clingo: one logic program whose only stable model has the answers.

clingo knows integers only. A float is the term `f(K)` with K four times its value; arithmetic and
comparisons run on these K, for integers too (`@scaled`), and `@number` turns them back.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from relynx.logic.terms import Atom, Comparison, Not, Rule, Struct, Term, Var

from .generator import Answers, Group

if TYPE_CHECKING:
    from clingo import Symbol

HINT = "clingo is not installed: pip install clingo"
SCALE = 4
RELATIONS = {"<": "<", "=<": "<=", ">": ">", ">=": ">=", "=:=": "=", "=\\=": "!="}


def is_installed() -> bool:
    return importlib.util.find_spec("clingo") is not None


def clingo_answers(groups: Sequence[Group]) -> Answers:
    """The covered (group, pattern, sequence, flag) of all groups, as clingo sees them."""
    questions: list[tuple[int, int, bool]] = []
    lines = ["#show covered/2."]
    for g, group in enumerate(groups):
        for flag in (True, False):
            world = _World(f"g{g}{'i' if flag else 'p'}", object_identity=flag)
            for s, atoms in enumerate(group.sequences):
                world.lines.append(f"{world.prefix}({s}).")
                world.lines += [f"{world.literal(atom, str(s))}." for atom in atoms]
            for rule in group.rules:
                world.add_rule(rule)
            for p, pattern in enumerate(group.patterns):
                world.add_query(len(questions), pattern)
                questions.append((g, p, flag))
            lines += world.lines + world.definitions()
    answers: Answers = set()
    for k, s in _solve("\n".join(lines)):
        g, p, flag = questions[k]
        answers.add((g, p, s, flag))
    return answers


def _solve(program: str) -> list[tuple[int, int]]:
    import clingo

    messages: list[str] = []
    control = clingo.Control(logger=lambda _, text: messages.append(text))
    control.add("base", [], program)
    control.ground([("base", [])], context=_Numbers())
    if messages:
        raise RuntimeError("clingo complains:\n" + "\n".join(messages[:5]))
    with control.solve(yield_=True) as handle:
        models = [model.symbols(shown=True) for model in handle]
    if len(models) != 1:
        raise RuntimeError(f"{len(models)} stable models instead of one")
    return [(symbol.arguments[0].number, symbol.arguments[1].number) for symbol in models[0]]


class _Numbers:
    """What clingo calls back for: between numbers and their scaled values."""

    def scaled(self, term: Symbol) -> Symbol | list[Symbol]:
        import clingo

        if term.type is clingo.SymbolType.Number:
            return clingo.Number(SCALE * term.number)
        if term.type is clingo.SymbolType.Function and term.name == "f":
            return term.arguments[0]
        return []

    def floats(self, term: Symbol) -> Symbol:
        import clingo

        return clingo.Number(int(term.type is clingo.SymbolType.Function))

    def number(self, scaled: Symbol, floats: Symbol) -> Symbol:
        import clingo

        if floats.number:
            return clingo.Function("f", [scaled])
        value, rest = divmod(scaled.number, SCALE)
        if rest:
            raise ValueError("an integer result that is no integer")
        return clingo.Number(value)


class _World:
    """The program of one group under one flag."""

    def __init__(self, prefix: str, *, object_identity: bool) -> None:
        self.prefix = prefix
        self.object_identity = object_identity
        self.lines: list[str] = []
        self.names: dict[tuple[str, int], str] = {}
        self.walks: dict[str, int] = {}

    def add_rule(self, rule: Rule) -> None:
        atoms = [literal for literal in rule.body if isinstance(literal, Atom)]
        negated = [literal.atom for literal in rule.body if isinstance(literal, Not)]
        builtins = [literal for literal in rule.body if isinstance(literal, Comparison)]
        goals = [f"{self.prefix}(S)", *map(self.literal, atoms)]
        goals += [f"not {self.literal(atom)}" for atom in negated]
        for literal in builtins:
            goals += _builtin(literal)
        goals += self._guards([*atoms, *builtins], [rule.head, *atoms, *negated])
        self.lines.append(f"{self.literal(rule.head)} :- {', '.join(dict.fromkeys(goals))}.")

    def add_query(self, number: int, pattern: Sequence[Atom]) -> None:
        goals = [*map(self.literal, pattern), *self._guards(pattern, pattern)]
        self.lines.append(f"covered({number},S) :- {', '.join(goals)}.")

    def definitions(self) -> list[str]:
        """What the operators mean, and which predicates may have no fact at all."""
        lines = []
        for (name, arity), alias in [*self.names.items()]:
            if name.startswith("follow_") and arity == 2:
                step = self._name(name.replace("follow_", "next_", 1), 2)
                lines.append(f"{alias}(S,X,Y) :- {step}(S,X,Y).")
                lines.append(f"{alias}(S,X,Z) :- {step}(S,X,Y), {alias}(S,Y,Z).")
        for name, longest in self.walks.items():
            alias, step = self._name(name, 3), self._name(name.replace("followat_", "next_", 1), 2)
            lines.append(f"{alias}(S,1,X,Y) :- {step}(S,X,Y).")
            for n in range(2, longest + 1):
                lines.append(f"{alias}(S,{n},X,Z) :- {alias}(S,{n - 1},X,Y), {step}(S,Y,Z).")
        lines += [f"#defined {alias}/{arity + 1}." for (_, arity), alias in self.names.items()]
        return lines

    def literal(self, atom: Atom, sequence: str = "S") -> str:
        if atom.predicate.startswith("followat_") and len(atom.args) == 3:
            n = atom.args[0]
            assert isinstance(n, int)
            self.walks[atom.predicate] = max(n, self.walks.get(atom.predicate, 1))
        args = [sequence, *map(_term, atom.args)]
        return f"{self._name(*atom.key)}({','.join(args)})"

    def _name(self, name: str, arity: int) -> str:
        return self.names.setdefault((name, arity), f"{self.prefix}_{len(self.names)}")

    def _guards(self, binding: Iterable[Atom | Comparison], atoms: Iterable[Atom]) -> list[str]:
        if not self.object_identity:
            return []
        names = {v.name: _term(v) for b in binding for v in b.variables() if v.name != "_"}
        constants = {
            _term(t)
            for atom in atoms
            for t in atom.args[atom.predicate.startswith("followat_") :]
            if not isinstance(t, Var)
        }
        pairs = [*combinations(names.values(), 2)]
        pairs += [(name, constant) for name in names.values() for constant in sorted(constants)]
        return [f"{a} != {b}" for a, b in pairs]


def _builtin(literal: Comparison) -> list[str]:
    """The goals of one built-in, together with the scaled values that they read."""
    operator, left, right = literal.operator, literal.left, literal.right
    if operator in ("==", "\\=="):
        return [f"{_term(left)} {'=' if operator == '==' else '!='} {_term(right)}"]
    read = [right] if operator == "is" else [left, right]
    leaves = [leaf for term in read for leaf in _leaves(term)]
    goals = [f"K{leaf.name} = @scaled({_term(leaf)})" for leaf in leaves if isinstance(leaf, Var)]
    if operator == "is":
        floats = "+".join(_is_float(leaf) for leaf in _leaves(right))
        return [*goals, f"{_term(left)} = @number({_scaled(right)},{floats})"]
    return [*goals, f"{_scaled(left)} {RELATIONS[operator]} {_scaled(right)}"]


def _leaves(term: Term) -> list[Term]:
    if isinstance(term, Struct):
        return [leaf for arg in term.args for leaf in _leaves(arg)]
    return [term]


def _is_float(leaf: Term) -> str:
    if isinstance(leaf, Var):
        return f"@floats({_term(leaf)})"
    return str(int(isinstance(leaf, float)))


def _scaled(term: Term) -> str:
    """An expression on scaled values, in clingo's own arithmetic (`/` and `\\` truncate)."""
    if isinstance(term, Var):
        return f"K{term.name}"
    if not isinstance(term, Struct):
        assert isinstance(term, (int, float))
        return f"({int(term * SCALE)})"
    args = [_scaled(arg) for arg in term.args]
    a, b = args[0], args[-1]
    match term.functor:
        case "abs":
            return f"|{a}|"
        case "*":
            return f"({a}*{b}/{SCALE})"
        case "//":
            return f"({a}/{b}*{SCALE})"
        case "mod":  # the sign of the divisor
            return f"(({a}\\{b}+{b})\\{b})"
        case "max":
            return f"(({a}+{b}+|{a}-{b}|)/2)"
        case "min":
            return f"(({a}+{b}-|{a}-{b}|)/2)"
    return f"({a}{term.functor}{b})"


def _term(term: Term) -> str:
    if isinstance(term, Var):
        return "_" if term.name == "_" else f"V{term.name}"
    if isinstance(term, str):
        return '"' + term.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(term, float):
        return f"f({int(term * SCALE)})"
    return f"({term})"
