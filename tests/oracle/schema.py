"""Random vocabularies and sequences: dimensions of every shape, fluents, non-fluents, values."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

from relynx.logic.terms import Atom, Constant

SYMBOLS = ("a", "b", "c", "alpha", "x_1", "SA 1", "it's", "Big", "back\\slash", "é", "next_s")
INTEGERS = (-3, -2, -1, 0, 1, 2, 3, 4, 5)
FLOATS = (-1.5, -0.5, 0.0, 0.5, 1.0, 2.5)
LONGEST = 140  # events: more than two machine words of them
SHAPES = ("chain", "chains", "tree", "cycle", "loop", "any", "none")
NUMBERS = (-1, 0, 3, 0.5)
TWINS = ((1, 1.0), (2, 2.0))  # different constants of equal value


@dataclass
class Schema:
    """What the generator knows while it makes a group."""

    rng: random.Random
    dimensions: list[str]
    shapes: dict[str, str]
    domains: dict[str, tuple[Constant, ...]]
    predicates: dict[str, tuple[str, ...]]
    absent: list[str]
    long: bool = False  # sequences of many events
    measuring: bool = False  # rules and patterns are about numbers above all
    derived: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def signature(self, name: str) -> tuple[str, ...]:
        if name in self.derived:
            return self.derived[name]
        return self.predicates.get(name, ())

    def new_predicate(self, kinds: tuple[str, ...]) -> str:
        name = f"d{len(self.derived)}"
        self.derived[name] = kinds
        return name

    def constant(self, kind: str) -> Constant:
        return self.rng.choice(self.domains[kind])


def make_schema(rng: random.Random, *, long: bool = False) -> Schema:
    dimensions = rng.sample(["s", "t", "up"], rng.choices([0, 1, 2, 3], [1, 4, 4, 2])[0])
    shapes = {d: rng.choice([*SHAPES[:-1], "chain", "chain", "mixed"]) for d in dimensions}
    names = rng.choices([("e%d",), ("o %d",), (None,)], [6, 1, 1])[0][0]
    events = tuple(names % i if names else i for i in range(1, LONGEST if long else 11))
    domains: dict[str, tuple[Constant, ...]] = {
        "event": events,
        "symbol": tuple(rng.sample(SYMBOLS, rng.randint(2, 4))),
        "integer": (rng.choice(INTEGERS[:3]), *rng.sample(INTEGERS[3:], rng.randint(1, 3))),
        "float": tuple(rng.sample(FLOATS, rng.randint(2, 3))),
        "number": (*rng.choice(TWINS), *rng.sample(NUMBERS, rng.randint(1, 2))),
    }
    values = ("symbol", "symbol", "integer", "integer", "number", "float")
    predicates: dict[str, tuple[str, ...]] = {}
    for name in rng.sample(["he", "st", "obs", "kind", "odd name"], rng.randint(1, 3)):
        kinds = ["event", *rng.choices([*values, "event"], k=rng.choice([0, 1, 1, 2, 2, 3]))]
        if rng.random() < 0.15:
            rng.shuffle(kinds)
        predicates[name] = tuple(kinds)
    predicates["level"] = ("event", rng.choice(["integer", "integer", "number", "number", "float"]))
    if rng.random() < 0.6:
        predicates[rng.choice(["link", "near"])] = ("event", "event")
    for name in rng.sample(["colour", "size", "owner"], rng.randint(0, 2)):
        predicates[name] = tuple(rng.choices(values, k=rng.choice([1, 1, 2, 3])))
    if rng.random() < 0.4:
        predicates["wet"] = ()
    absent = [rng.choice([*predicates])] if rng.random() < 0.15 else []
    return Schema(rng, dimensions, shapes, domains, predicates, absent, long)


def make_sequence(schema: Schema) -> list[Atom]:
    rng = schema.rng
    n_events = rng.choices([1, 2, 3, 4, 5, 6, 10], [1, 2, 4, 4, 3, 2, 1])[0]
    if schema.long:
        n_events = rng.randint(60, LONGEST)
    events = list(schema.domains["event"][:n_events])
    rng.shuffle(events)
    atoms: dict[Atom, None] = {}
    for dimension in schema.dimensions:
        for pair in _edges(rng, events, schema.shapes[dimension]):
            atoms[Atom(f"next_{dimension}", pair)] = None
    for name, kinds in schema.predicates.items():
        if name in schema.absent:
            continue
        if "event" not in kinds:
            for _ in range(rng.randint(0, 2)):
                atoms[Atom(name, tuple(map(schema.constant, kinds)))] = None
            continue
        place = kinds.index("event")
        for event in events:
            for _ in range(rng.choices([0, 1, 2], [3, 6, 1])[0]):
                args = [rng.choice(events) if k == "event" else schema.constant(k) for k in kinds]
                args[place] = event
                atoms[Atom(name, tuple(args))] = None
    return list(atoms)


def _edges(
    rng: random.Random, events: list[Constant], shape: str
) -> list[tuple[Constant, Constant]]:
    """The steps of one dimension of that shape, along the events as they are given or shuffled."""
    order = events if rng.random() < 0.4 else rng.sample(events, len(events))
    chain = list(pairwise(order))
    match rng.choice(SHAPES) if shape == "mixed" else shape:
        case "chain":
            return chain
        case "chains":
            return [pair for pair in chain if rng.random() < 0.7]
        case "tree":
            return [(order[rng.randrange(i)], order[i]) for i in range(1, len(order))]
        case "cycle":
            return [*chain, (order[-1], rng.choice(order))]
        case "loop":
            return [*chain, (order[0], order[0])]
        case "any":
            return [(rng.choice(order), rng.choice(order)) for _ in order]
    return []


def mutated(schema: Schema, atoms: list[Atom]) -> list[Atom]:
    """A near copy: a few facts lost, a few arguments changed."""
    rng = schema.rng
    copy = list(atoms)
    for _ in range(rng.randint(1, 3)):
        if not copy:
            break
        i = rng.randrange(len(copy))
        kinds = schema.signature(copy[i].predicate)
        if copy[i].predicate.startswith("next_") and "mixed" in schema.shapes.values():
            kinds = ("event", "event")
        if rng.random() < 0.4 or not kinds:  # a chain that loses a step is a chain still
            del copy[i]
        else:
            j = rng.randrange(len(kinds))
            args = list(copy[i].args)
            used = [a for atom in copy for a in atom.args if a in schema.domains["event"]]
            args[j] = rng.choice(used) if kinds[j] == "event" else schema.constant(kinds[j])
            copy[i] = Atom(copy[i].predicate, tuple(args))
    return list(dict.fromkeys(copy))
