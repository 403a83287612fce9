"""Seeded inputs that the benchmarks share: protein-like sequences and three-event patterns."""

from __future__ import annotations

import random
from itertools import pairwise

from relynx.logic.terms import Atom, Term, Var

TYPES = ("alpha", "pi", "three_ten")
ORIENTATIONS = ("plus", "minus", "zero")
LENGTHS = ("short", "medium", "long", "very_long")
FLUENTS = {"he": (TYPES, LENGTHS), "st": (ORIENTATIONS, LENGTHS)}
OPERATORS = ("next_s", "follow_s", "followat_s")


def random_sequences(n_sequences: int, *, n_events: int = 20, seed: int = 0) -> list[list[Atom]]:
    """Chains of events with one fluent each: `he(e1,alpha,long), next_s(e1,e2), ...`."""
    draw = random.Random(seed)
    names = [f"e{i}" for i in range(n_events)]
    chain = [Atom("next_s", (a, b)) for a, b in pairwise(names)]
    fluents = {
        (predicate, event, first, second): Atom(predicate, (event, first, second))
        for predicate, (firsts, seconds) in FLUENTS.items()
        for event in names
        for first in firsts
        for second in seconds
    }
    kinds = [(predicate, *domains) for predicate, domains in FLUENTS.items()]
    sequences = []
    for _ in range(n_sequences):
        events = []
        for event in names:
            predicate, firsts, seconds = draw.choice(kinds)
            events.append(fluents[predicate, event, draw.choice(firsts), draw.choice(seconds)])
        sequences.append(events + chain)
    return sequences


def random_patterns(n_patterns: int, *, seed: int = 1) -> list[tuple[Atom, ...]]:
    """Patterns of three events; every second one shares a variable between two of its events."""
    draw = random.Random(seed)
    patterns: list[tuple[Atom, ...]] = []
    while len(patterns) < n_patterns:
        wants_sharing = len(patterns) % 2 == 0
        pattern = _random_pattern(draw, sharing=wants_sharing)
        if shares_a_value(pattern) == wants_sharing:
            patterns.append(pattern)
    return patterns


def shares_a_value(pattern: tuple[Atom, ...]) -> bool:
    """Whether a variable that is no event occurs twice."""
    values = [v for atom in pattern if atom.predicate in FLUENTS for v in atom.args[1:]]
    variables = [v for v in values if isinstance(v, Var)]
    return len(set(variables)) < len(variables)


def _random_pattern(draw: random.Random, *, sharing: bool) -> tuple[Atom, ...]:
    variables: dict[tuple[str, ...], list[Var]] = {}
    fresh = iter("ABCDEF")

    def value(domain: tuple[str, ...]) -> Term:
        known = variables.setdefault(domain, [])
        if draw.random() < 0.4:
            return draw.choice(domain)
        if sharing and known and draw.random() < 0.6:
            return draw.choice(known)
        known.append(Var(next(fresh)))
        return known[-1]

    def fluent(event: Var) -> Atom:
        predicate = draw.choice(tuple(FLUENTS))
        return Atom(predicate, (event, *(value(domain) for domain in FLUENTS[predicate])))

    def step(left: Var, right: Var) -> Atom:
        operator = draw.choice(OPERATORS)
        gap = (draw.choice((2, 3)),) if operator == "followat_s" else ()
        return Atom(operator, (*gap, left, right))

    x, y, z = Var("X"), Var("Y"), Var("Z")
    return fluent(x), step(x, y), fluent(y), step(y, z), fluent(z)
