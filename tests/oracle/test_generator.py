"""The generator asks what it should: both answers are common, and every construct matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from reference import background_closure, brute_force_covers

from relynx.logic.terms import (
    ARITHMETIC,
    COMPARISONS,
    Atom,
    Comparison,
    Not,
    Rule,
    Struct,
    Term,
    Var,
)

from .generator import TRIPLES_IN_A_GROUP, Answers, Group, features, make_group, reference_answers
from .programs import depends_on

N_GROUPS = 50  # what `make test` asks
N_ALL = 1000  # what `make oracle` asks


@cache
def group(number: int) -> Group:
    return make_group(number)


@cache
def answers(number: int) -> Answers:
    return reference_answers([group(number)])


def test_the_same_number_gives_the_same_group():
    assert make_group(17) == make_group(17) != make_group(24)


def test_no_triple_is_asked_twice():
    triples = {
        (made.rules, frozenset(atoms), pattern)
        for made in map(group, range(N_GROUPS))
        for atoms in made.sequences
        for pattern in made.patterns
    }
    assert len(triples) == N_GROUPS * TRIPLES_IN_A_GROUP


def test_between_30_and_70_percent_are_covered_with_and_without_identity_and_background():
    asked: Counter[tuple[bool, bool]] = Counter()
    covered: Counter[tuple[bool, bool]] = Counter()
    for number in range(N_GROUPS):
        has_rules = bool(group(number).rules)
        for flag in (True, False):
            asked[flag, has_rules] += TRIPLES_IN_A_GROUP
        for *_, flag in answers(number):
            covered[flag, has_rules] += 1
    shares = {cell: covered[cell] / asked[cell] for cell in asked}
    assert len(shares) == 4
    assert all(0.3 <= share <= 0.7 for share in shares.values()), shares


def test_every_construct_of_the_language_is_asked():
    wanted = {"is", "negation", "recursion", "background fact", "derived dimension"}
    wanted |= {*COMPARISONS, *ARITHMETIC}
    wanted |= {f"{where} {what}" for where in ("rule", "pattern") for what in OPERATORS}
    wanted |= {f"pattern of {n}" for n in range(1, 7)} | {f"{n} dimensions" for n in range(4)}
    wanted |= {"anonymous", "repeated variable", "shared variable", "disconnected", "no arguments"}
    found = Counter(feature for number in range(N_GROUPS) for feature in features(group(number)))
    assert all(found[feature] >= 3 for feature in wanted), found


OPERATORS = ("atom", "next", "follow", "followat")


def comparison(old: str, new: str) -> Callable[[Group], Group]:
    """A change of meaning: one comparison of plain operands read as another."""

    def literal(x: object) -> object:
        if not isinstance(x, Comparison) or x.operator != old:
            return x
        plain = not isinstance(x.left, Struct) and not isinstance(x.right, Struct)
        return replace(x, operator=new) if plain else x

    return lambda group: _with_literals(group, literal)


def arithmetic(functor: str, meaning: Callable[..., Term]) -> Callable[[Group], Group]:
    """A change of meaning: one arithmetic function computed in another way."""

    def term(x: Term) -> Term:
        if not isinstance(x, Struct):
            return x
        args = tuple(map(term, x.args))
        if x.functor in ("//", "mod"):  # a divisor stays what it is, never zero
            args = (args[0], x.args[1])
        return meaning(*args) if x.functor == functor else Struct(x.functor, args)

    def literal(x: object) -> object:
        if not isinstance(x, Comparison):
            return x
        return replace(x, left=term(x.left), right=term(x.right))

    return lambda group: _with_literals(group, literal)


def in_atoms(meaning: Callable[[Atom], Atom], *, of: str) -> Callable[[Group], Group]:
    """A change of meaning of the atoms, of patterns or of rules."""

    def literal(x: object) -> object:
        if isinstance(x, Not):
            return Not(meaning(x.atom))
        return meaning(x) if isinstance(x, Atom) else x

    def change(group: Group) -> Group:
        if of == "patterns":
            return replace(group, patterns=tuple(tuple(map(meaning, p)) for p in group.patterns))
        return _with_literals(group, literal)

    return change


def _with_literals(group: Group, literal: Callable[[object], object]) -> Group:
    rules = tuple(
        Rule(rule.head, tuple(map(literal, rule.body)))  # type: ignore[arg-type]
        for rule in group.rules
    )
    return replace(group, rules=rules)


def one_step_more(atom: Atom) -> Atom:
    if not atom.predicate.startswith("followat_"):
        return atom
    return Atom(atom.predicate, (atom.args[0] + 1, *atom.args[1:]))  # type: ignore[operator]


def next_for_follow(atom: Atom) -> Atom:
    return Atom(atom.predicate.replace("follow_", "next_"), atom.args)


def integers_for_floats(atom: Atom) -> Atom:
    return Atom(
        atom.predicate,
        tuple(int(t) if isinstance(t, float) and t.is_integer() else t for t in atom.args),
    )


def named_for_anonymous(atom: Atom) -> Atom:
    """Each `_` a name of its own, so that Object Identity binds it too."""
    args = tuple(
        Var(f"Anonymous{i}{atom.predicate.title().replace(' ', '')}") if t == Var("_") else t
        for i, t in enumerate(atom.args)
    )
    return Atom(atom.predicate, args)


def without_negation(group: Group) -> Group:
    rules = tuple(
        Rule(rule.head, tuple(x for x in rule.body if not isinstance(x, Not)))
        for rule in group.rules
    )
    return replace(group, rules=rules)


def without_recursion(group: Group) -> Group:
    reach = depends_on(group.rules)
    rules = tuple(
        rule
        for rule in group.rules
        if not any(
            rule.head.key in reach.get(x.key, set()) for x in rule.body if isinstance(x, Atom)
        )
    )
    return replace(group, rules=rules)


def with_objects(constants: Callable[[object], list[Term]]) -> Callable[[Group], Group]:
    """Some operands of each rule become objects: arguments of an atom that is never true."""

    def change(group: Group) -> Group:
        rules = []
        for rule in group.rules:
            extra = [Not(Atom("nowhere", (c,))) for x in rule.body for c in constants(x)]
            rules.append(Rule(rule.head, (*rule.body, *extra)))
        return replace(group, rules=tuple(rules))

    return change


def operands(literal: object) -> list[Term]:
    if not isinstance(literal, Comparison):
        return []
    return [t for t in (literal.left, literal.right) if not isinstance(t, Var | Struct)]


def steps(literal: object) -> list[Term]:
    if not isinstance(literal, Atom) or not literal.predicate.startswith("followat_"):
        return []
    return [literal.args[0]]


def without_background(group: Group) -> Group:
    return replace(group, rules=())


def floored(a: Term, b: Term) -> Term:
    return Struct("//", (Struct("-", (a, Struct("mod", (a, b)))), b))


def remainder(a: Term, b: Term) -> Term:
    return Struct("-", (a, Struct("*", (Struct("//", (a, b)), b))))


WRONG_MEANINGS = {
    "< read as =<": comparison("<", "=<"),
    "=< read as <": comparison("=<", "<"),
    "> read as >=": comparison(">", ">="),
    ">= read as >": comparison(">=", ">"),
    "=:= read as ==": comparison("=:=", "=="),
    "=\\= read as \\==": comparison("=\\=", "\\=="),
    "== read as \\==": comparison("==", "\\=="),
    "\\== read as ==": comparison("\\==", "=="),
    "// rounds down": arithmetic("//", floored),
    "mod has the sign of the dividend": arithmetic("mod", remainder),
    "abs does nothing": arithmetic("abs", lambda a: a),
    "min is max": arithmetic("min", lambda a, b: Struct("max", (a, b))),
    "max is min": arithmetic("max", lambda a, b: Struct("min", (a, b))),
    "+ is -": arithmetic("+", lambda a, b: Struct("-", (a, b))),
    "- is +": arithmetic("-", lambda a, b: Struct("+", (a, b))),
    "* is +": arithmetic("*", lambda a, b: Struct("+", (a, b))),
    "no negation": without_negation,
    "no recursion": without_recursion,
    "no background": without_background,
    "followat one step further in rules": in_atoms(one_step_more, of="rules"),
    "followat one step further in patterns": in_atoms(one_step_more, of="patterns"),
    "follow is next in rules": in_atoms(next_for_follow, of="rules"),
    "follow is next in patterns": in_atoms(next_for_follow, of="patterns"),
    "1.0 is 1": in_atoms(integers_for_floats, of="patterns"),
    "operands are objects": with_objects(operands),
    "the n of followat is an object": with_objects(steps),
    "Object Identity binds _": in_atoms(named_for_anonymous, of="patterns"),
}


# The first group that notices it, where the many before take seconds.
NOTICED_BY = {"follow is next in rules": [139], "=\\= read as \\==": [174]}


@pytest.mark.parametrize("name", WRONG_MEANINGS)
def test_a_wrong_meaning_changes_some_answer(name):
    def is_noticed(number: int) -> bool:
        changed = WRONG_MEANINGS[name](group(number))
        if changed == group(number):
            return False
        return reference_answers([changed]) != answers(number)

    assert any(map(is_noticed, (*NOTICED_BY.get(name, ()), *range(N_ALL))))


def test_object_identity_inside_rules_changes_some_answer():
    def is_noticed(number: int) -> bool:
        made = group(number)
        return any(
            brute_force_covers(pattern, background_closure(made.rules, atoms, True), True)
            != brute_force_covers(pattern, background_closure(made.rules, atoms, False), True)
            for pattern in made.patterns
            for atoms in made.sequences
        )

    assert any(map(is_noticed, range(N_GROUPS)))
