"""Random triples (pattern, sequence, background) for the oracles: one seed, one group.

A group is one background program, a few sequences and a few patterns; each pattern is asked of
each sequence. Arguments are typed while generating, so that arithmetic only ever meets numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from reference import background_closure, body_atoms, brute_force_covers

from relynx.logic.terms import Atom, Comparison, Not, Rule, Term

from .patterns import make_pattern
from .programs import depends_on, make_background
from .schema import make_schema, make_sequence, mutated

TRIPLES_IN_A_GROUP = 20
LARGEST_CLOSURE = 200


Answers = set[tuple[int, int, int, bool]]  # the covered (group, pattern, sequence, flag)


@dataclass(frozen=True)
class Group:
    """One background, some sequences, some patterns."""

    rules: tuple[Rule, ...]
    sequences: tuple[tuple[Atom, ...], ...]
    patterns: tuple[tuple[Atom, ...], ...]


def make_groups(first: int, count: int) -> list[Group]:
    """`count` groups, the same ones for the same numbers on every machine."""
    return [make_group(number) for number in range(first, first + count)]


def make_group(number: int) -> Group:
    """The group of that number. A background that derives too much is drawn again."""
    long = number % 25 == 11
    n_sequences = 4 if long else (5, 4, 10, 2, 20, 5, 1)[number % 7]
    n_patterns = TRIPLES_IN_A_GROUP // n_sequences
    attempt = 0
    while True:
        rng = random.Random(f"relynx oracle {number} {attempt}")
        attempt += 1
        schema = make_schema(rng, long=long)
        schema.measuring = number % 4 == 2
        sequences: list[list[Atom]] = []
        for _ in range(n_sequences):
            if sequences and rng.random() < 0.65:
                sequences.append(mutated(schema, rng.choice(sequences)))
            else:
                sequences.append(make_sequence(schema))
        rules: list[Rule] = []
        if number % 4 and not long:  # enumeration needs small closures
            rules = make_background(schema)
        closures = [
            (background_closure(rules, atoms, True), background_closure(rules, atoms, False))
            for atoms in sequences
        ]
        largest = max(len(closure) for pair in closures for closure in pair)
        if len({frozenset(atoms) for atoms in sequences}) == n_sequences and (
            largest <= LARGEST_CLOSURE or long
        ):
            break
    for atoms in sequences:
        rng.shuffle(atoms)
    patterns: dict[tuple[Atom, ...], None] = {}
    while len(patterns) < n_patterns:
        patterns[tuple(make_pattern(schema, rng.choice(closures)))] = None
    return Group(tuple(rules), tuple(map(tuple, sequences)), tuple(patterns))


def reference_answers(groups: Sequence[Group]) -> Answers:
    """The covered (group, pattern, sequence, flag) of all groups, by enumeration."""
    answers: Answers = set()
    for g, group in enumerate(groups):
        for flag in (True, False):
            for s, atoms in enumerate(group.sequences):
                closure = background_closure(group.rules, atoms, flag)
                for p, pattern in enumerate(group.patterns):
                    if brute_force_covers(pattern, closure, flag):
                        answers.add((g, p, s, flag))
    return answers


def features(group: Group) -> set[str]:
    """What a group exercises: operators, built-ins, negation, recursion, shapes of patterns."""
    found: set[str] = set()
    for pattern in group.patterns:
        found |= {"pattern " + _operator_name(atom) for atom in pattern}
        found |= {f"pattern of {len(pattern)}"}
        found |= _pattern_shapes(pattern)
    reach = depends_on(group.rules)
    for rule in group.rules:
        found |= {"rule " + _operator_name(atom) for atom in body_atoms(rule)}
        found |= {"negation" for literal in rule.body if isinstance(literal, Not)}
        found |= {"background fact"} if not rule.body else set()
        found |= {"derived dimension"} if rule.head.predicate.startswith("next_") else set()
        if rule.head.key in reach.get(rule.head.key, set()):
            found.add("recursion")
        for literal in rule.body:
            if isinstance(literal, Comparison):
                found |= {literal.operator, *_functors(literal.left), *_functors(literal.right)}
    n_dimensions = len({a.predicate for s in group.sequences for a in s if _is_next(a)})
    return found | {f"{n_dimensions} dimensions"}


def _functors(term: Term) -> set[str]:
    functor = getattr(term, "functor", None)
    if functor is None:
        return set()
    return {functor}.union(*map(_functors, term.args))  # type: ignore[union-attr]


def _operator_name(atom: Atom) -> str:
    head = atom.predicate.split("_")[0]
    return head if head in ("next", "follow", "followat") else "atom"


def _is_next(atom: Atom) -> bool:
    return atom.predicate.startswith("next_")


def _pattern_shapes(pattern: tuple[Atom, ...]) -> set[str]:
    shapes = set()
    seen: list[str] = []
    for atom in pattern:
        names = [v.name for v in atom.variables() if not v.anonymous]
        shapes |= {"anonymous"} if any(v.anonymous for v in atom.variables()) else set()
        shapes |= {"repeated variable"} if len(set(names)) < len(names) else set()
        shapes |= {"shared variable"} if set(names) & set(seen) else set()
        shapes |= {"disconnected"} if seen and names and not set(names) & set(seen) else set()
        shapes |= {"no arguments"} if not atom.args else set()
        seen += names
    return shapes
