"""Background knowledge: rules and facts that every sequence shares, read, checked and evaluated.

Rules are evaluated bottom-up, over all sequences at once. Predicates are taken in the order of
their dependencies, those that depend on each other together (a component). Inside a component the
evaluation is semi-naive: each round joins only what the last round found.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from relynx.errors import DataError, ParseError, Problem, Source, counted, raise_all, raise_first
from relynx.logic.arithmetic import MAX_BITS, Constants, NumberTooLarge
from relynx.logic.bodies import Bodies, Plan, inputs
from relynx.logic.checks import check_rules, components
from relynx.logic.nodes import Node, node_rule
from relynx.logic.parser import parse_clauses
from relynx.logic.source_files import read_source
from relynx.logic.tables import SEQUENCE, Key, Packing, Relation, Table
from relynx.logic.terms import Atom, Constant, Rule, Var, constant_text, quoted

MAX_ROWS = 200_000_000
MAX_ROUNDS = 10_000
_PACKAGE = os.path.join(Path(__file__).parents[1], "")


@dataclass(frozen=True)
class Background:
    """Datalog rules `head :- body.`, and facts that hold in every sequence.

    Raises DataError, with all that is wrong, for rules that are unsafe, unstratified or use one
    predicate with different numbers of arguments.

    Examples
    --------
    >>> background = parse_background("long(E) :- st(E,L), L >= 7.  near(a,b).")
    >>> print(background)
    long(E) :- st(E,L), L >= 7.
    near(a,b).
    """

    rules: tuple[Rule, ...]
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        raise_all(check_rules(self.rules, self.source, [None] * len(self.rules)), DataError)

    @property
    def facts(self) -> tuple[Atom, ...]:
        """The atoms that hold in every sequence without a condition."""
        return tuple(rule.head for rule in self.rules if not rule.body)

    @property
    def heads(self) -> frozenset[Key]:
        """The predicates that the rules define, as (name, number of arguments)."""
        return frozenset(rule.head.key for rule in self.rules)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


def parse_background(text: str, path: str | None = None) -> Background:
    """Read background knowledge from a text; `path` is its name in messages.

    Raises ParseError for syntax errors, else DataError for invalid rules; both with all problems at
    once.

    Examples
    --------
    >>> parse_background("path(X,Y) :- edge(X,Y). path(X,Z) :- path(X,Y), edge(Y,Z).").heads
    frozenset({('path', 2)})
    """
    return _background(Source(text, path))


def read_background(path: str | os.PathLike[str]) -> Background:
    """Read background knowledge from a file; see `parse_background`."""
    return _background(read_source(path))


def _background(source: Source) -> Background:
    clauses, syntax = parse_clauses(source, directives=False)
    rules: list[Rule] = []
    nodes: list[Node | None] = []
    refused: list[Problem] = []
    for clause in clauses:
        if clause.is_directive:
            what = "a directive is not of this language"
            hint = "leave it out: background knowledge is rules and facts"
            refused.append(Problem(what, source, clause.start, 2, hint))
            continue
        try:
            rules.append(node_rule(clause.node, source))
            nodes.append(clause.node)
        except ParseError as error:
            syntax.extend(error.problems)
    problems = [*syntax, *refused, *check_rules(rules, source, nodes)]
    raise_first(problems, ParseError if syntax else DataError)
    return Background(tuple(rules), source)


class Evaluation:
    """One evaluation: `run` returns the complete table of every predicate that a rule defines, and
    `constants` then has those of all codes. Raises DataError where a rule makes too many rows or
    rounds, or uses a predicate with another arity than the data; warns once for each literal that
    does not apply to some values."""

    def __init__(
        self,
        background: Background,
        tables: Mapping[Key, Table],
        constants: Sequence[Constant],
        n_sequences: int,
        *,
        object_identity: bool,
    ) -> None:
        self._rules, self._source = background.rules, background.source
        self._tables = dict(tables)
        self._heads = dict.fromkeys(rule.head.key for rule in self._rules)
        self._n_sequences = n_sequences
        self.constants = Constants(constants)
        self._packing = Packing(n_sequences, self.constants)
        self._growing: dict[Key, Relation] = {}
        known = self._tables, self._growing, self._heads, self.constants, self._packing
        self._bodies = Bodies(*known, n_sequences, self._limit, object_identity)
        self._check_arities()

    def run(self) -> dict[Key, Table]:
        by_head: dict[Key, list[Rule]] = {key: [] for key in self._heads}
        for rule in self._rules:
            by_head[rule.head.key].append(rule)
        plans = []
        for component in components(self._rules):
            plans += self._complete(component, [rule for key in component for rule in by_head[key]])
        for plan in plans:
            self._warn(plan)
        return {key: self._tables[key] for key in self._heads}

    def _complete(self, component: Sequence[Key], rules: Sequence[Rule]) -> list[Plan]:
        plans = [self._bodies.plan(rule) for rule in rules if rule.body]
        for key in component:
            self._growing[key] = Relation(1 + key[1], self._packing)
            if key in self._tables:
                self._grow(key, self._tables[key], rules[0])
            self._add_facts(key, [rule for rule in rules if rule.head.key == key and not rule.body])
        found: dict[Key, list[Table]] = {}
        for plan in plans:
            self._derive(plan, None, None, found)
        recursive = [
            (plan, i, literal.key)
            for plan in plans
            for i, literal in enumerate(plan.rule.body)
            if isinstance(literal, Atom) and literal.key in self._growing
        ]
        most = MAX_ROUNDS
        rounds = 0  # in which an `is` made something new; without one the rounds end by themselves
        while found and recursive:
            last = {key: np.hstack(tables) for key, tables in found.items()}
            found = {}
            maker: Rule | None = None
            for plan, i, key in recursive:
                if key in last and self._derive(plan, i, last[key], found):
                    maker = plan.rule if plan.rule.assignments() else maker
            rounds += maker is not None
            if maker is not None and rounds > most:
                most = self._most_rounds()
                if rounds > most:
                    raise self._endless(maker, f"new numbers in more than {most:,} rounds")
        for key in component:
            self._tables[key] = self._growing.pop(key).table()
        return plans

    def _add_facts(self, key: Key, facts: Sequence[Rule]) -> None:
        if not facts:
            return
        self._limit(len(facts) * self._n_sequences, facts[0])
        codes = np.array([self._bodies.codes(fact.head.args) for fact in facts], np.int32)
        sequences = np.repeat(np.arange(self._n_sequences, dtype=np.int32), len(facts))
        table = np.vstack([sequences[None, :], np.tile(codes.T, self._n_sequences)])
        self._grow(key, table, facts[0])

    def _grow(self, key: Key, table: Table, rule: Rule) -> Table:
        """Add facts to a predicate; returns those that are new."""
        relation = self._growing[key]
        fresh = relation.fresh(table)
        self._limit(len(relation) + len(fresh), rule)
        return relation.add(fresh)

    def _derive(
        self, plan: Plan, at: int | None, delta: Table | None, found: dict[Key, list[Table]]
    ) -> bool:
        """Add what a rule derives, with atom `at` of its body read from `delta`, to `found`; says
        whether that was anything new."""
        try:
            frame = self._bodies.bindings(plan, at, delta)
        except NumberTooLarge:
            raise self._endless(plan.rule, f"a number of more than {MAX_BITS:,} bits") from None
        head, n = plan.rule.head, len(frame[SEQUENCE])
        if not n:
            return False
        table = np.empty((1 + len(head.args), n), np.int32)
        table[0] = frame[SEQUENCE]
        for i, arg in enumerate(head.args, 1):
            table[i] = frame[arg.name] if isinstance(arg, Var) else self._bodies.codes([arg])[0]
        new = self._grow(head.key, table, plan.rule)
        if new.shape[1]:
            found.setdefault(head.key, []).append(new)
        return bool(new.shape[1])

    def _warn(self, plan: Plan) -> None:
        for i, rows in sorted(plan.inapplicable.items()):
            literal = plan.rule.body[i]
            example = ", ".join(
                f"{name} = {constant_text(self.constants.values[code])}"
                for name, code in zip(sorted(inputs(literal)), rows[:, 0].tolist(), strict=False)
            )
            cases = counted(rows.shape[1], "case")
            where = f" in {cases}, for example {example};" if example else ";"
            what = f"{literal} does not apply{where} there it counts as false"
            problem = Problem(what, self._source, literal.offset)
            warnings.warn(str(problem), UserWarning, stacklevel=_level_of_caller())

    def _limit(self, n_rows: int, rule: Rule) -> None:
        if n_rows > MAX_ROWS:
            what = f"makes {n_rows:,} rows, more than the {MAX_ROWS:,} that are allowed"
            hint = "let the atoms of its body share more variables, or split the data"
            raise self._wrong(rule, what, hint)

    def _most_rounds(self) -> int:
        """In how many rounds a component may make numbers: counting along the data is allowed."""
        counts = np.zeros(self._n_sequences, np.int64)
        for table in self._tables.values():
            counts += np.bincount(table[0], minlength=self._n_sequences)
        return max(MAX_ROUNDS, 2 * int(counts.max(initial=0)))

    def _endless(self, rule: Rule, what: str) -> DataError:
        hint = "bound the numbers by a comparison in its body, such as N < 100"
        hint = f"{hint}, or write those that you need as facts"
        return self._wrong(rule, f"made {what}; it may never end", hint)

    def _wrong(self, rule: Rule, what: str, hint: str) -> DataError:
        name = f"{quoted(rule.head.predicate)}/{len(rule.head.args)}"
        what = f"this rule for {name} {what}"
        return DataError(Problem(what, self._source, rule.offset, hint=hint))

    def _check_arities(self) -> None:
        """Every atom has the number of arguments that the data has, or its operator."""
        arities = dict(self._tables.keys())
        keys = {*self._tables, *self._heads}
        operators = {
            f"follow_{name[5:]}": 2 for name, n in keys if n == 2 and name.startswith("next_")
        }
        problems = []
        for rule in self._rules:
            for atom in rule.atoms():
                name, n = quoted(atom.predicate), len(atom.args)
                wanted = arities.get(atom.predicate, n)
                message = f"{name} has {counted(n, 'argument')} here, {wanted} in the data"
                hint = f"give {name} {counted(wanted, 'argument')}, or use another name"
                if operators.get(atom.predicate, n) != n:
                    wanted = 2
                    message = f"{name} takes 2 arguments, found {n}"
                    hint = f"write {name}(X,Y)"
                if wanted != n:
                    problems.append(Problem(message, self._source, atom.offset, len(name), hint))
        raise_all(problems, DataError)


def _level_of_caller() -> int:
    """The stack level, as `warnings.warn` in our caller counts it, of the code that uses relynx."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
