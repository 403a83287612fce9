"""Background knowledge: rules and facts that every sequence shares, read, checked and evaluated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relynx.errors import DataError, ParseError, Problem, Source, first_problems, raise_all
from relynx.logic.bottom_up import BottomUp
from relynx.logic.checks import check_rules
from relynx.logic.nodes import Node, node_rule
from relynx.logic.parser import parse_clauses
from relynx.logic.source_files import read_source
from relynx.logic.tables import Key, Table
from relynx.logic.terms import Atom, Constant, Rule


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
    raise_all(first_problems(problems), ParseError if syntax else DataError)
    return Background(tuple(rules), source)


def evaluate(
    background: Background,
    tables: Mapping[Key, Table],
    constants: Sequence[Constant],
    n_sequences: int,
    *,
    object_identity: bool,
) -> tuple[dict[Key, Table], list[Constant]]:
    """Complete tables of all the predicates that the background defines, and the constants of all
    codes. Raises DataError where a rule makes too many rows or rounds, or uses a predicate with
    another arity than the data; warns once for each literal that does not apply to some values."""
    rules, source = background.rules, background.source
    evaluation = BottomUp(rules, source, tables, constants, n_sequences, object_identity)
    return evaluation.run(), evaluation.constants.values
