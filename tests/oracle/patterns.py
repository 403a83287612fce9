"""Random patterns: half-true ones, grown from a sequence and then disturbed, and blind ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reference import transitive_closure, walks

from relynx.logic.terms import Atom, Term, Var

from .schema import Schema

VARIABLES = ("X", "Y", "Z", "E1", "E2", "Long_name", "_A", "_9", "U", "V", "W", "T", "S", "R")


def make_pattern(schema: Schema, closures: tuple[set[Atom], set[Atom]]) -> list[Atom]:
    rng = schema.rng
    truth = _with_operators(sorted(rng.choice(closures), key=str))
    size = rng.choices(range(1, 7), [2, 4, 5, 5, 3, 2])[0]
    if schema.long:  # what is enumerated must stay small
        size = min(size, 3)
    derived = [atom for atom in truth if atom.predicate in schema.derived and atom.args]
    draw = rng.random()
    if derived and draw < (0.85 if schema.measuring else 0.3):
        pattern = [_probe(schema, rng.choice(derived))]
    elif not truth or (draw < 0.45 and not schema.long):
        pattern = [_random_atom(schema) for _ in range(min(size, 4))]
    else:
        pattern = _generalised(schema, _grown(schema, truth, size))
        for _ in range(rng.choices([0, 1, 2], [5, 3, 2])[0] + schema.long):
            pattern = _perturbed(schema, pattern)
    rng.shuffle(pattern)
    return pattern


def _probe(schema: Schema, atom: Atom) -> Atom:
    """One derived atom, sometimes slightly off: what a wrong built-in shows in first."""
    rng = schema.rng
    args: list[Term] = list(atom.args)
    if rng.random() < 0.4:
        i = rng.randrange(len(args))
        old = args[i]
        new = schema.constant(schema.signature(atom.predicate)[i])
        args[i] = old + rng.choice([-1, 1]) if isinstance(old, int) else new
    for i in range(len(args)):
        if rng.random() < (0.35 if schema.measuring else 0.6):
            args[i] = Var(rng.choice(["_", f"P{i}", f"P{i}", "P"]))
    return Atom(atom.predicate, tuple(args))


def _with_operators(atoms: list[Atom]) -> list[Atom]:
    """The atoms together with what the operators say of their dimensions."""
    found = list(atoms)
    for name in sorted(
        {a.predicate.removeprefix("next_") for a in atoms if a.predicate.startswith("next_")}
    ):
        steps = {
            tuple((type(c), c) for c in a.args if isinstance(c, str | int | float))
            for a in atoms
            if a.predicate == f"next_{name}"
        }
        for row in sorted(transitive_closure(steps), key=str):
            found.append(Atom(f"follow_{name}", tuple(c for _, c in row)))
        for n in (1, 2, 3, 4, 7):
            for row in sorted(walks(steps, n), key=str):
                found.append(Atom(f"followat_{name}", (n, *(c for _, c in row))))
    return found


def _grown(schema: Schema, truth: list[Atom], size: int) -> list[Atom]:
    """Some true atoms, mostly connected, operators and other predicates in turn."""
    rng = schema.rng
    predicates = sorted({atom.predicate for atom in truth})
    predicates += [name for name in predicates if name in schema.derived] * 2
    chosen: list[Atom] = []
    for _ in range(size):
        known = {term for atom in chosen for term in _objects(atom)}
        name = rng.choice(predicates)
        near = [a for a in truth if a.predicate == name and a not in chosen]
        linked = [a for a in near if known & set(_objects(a))]
        pool = linked if linked and rng.random() < 0.9 else near
        if pool and (linked or not chosen or not pool[0].args or rng.random() < 0.15):
            chosen.append(rng.choice(pool))
    return chosen or [rng.choice(truth)]


def _objects(atom: Atom) -> tuple[Term, ...]:
    return atom.args[1:] if atom.predicate.startswith("followat_") else atom.args


def _with_objects(atom: Atom, objects: Sequence[Term]) -> Atom:
    return replace(atom, args=(*atom.args[: len(atom.args) - len(objects)], *objects))


def _generalised(schema: Schema, atoms: list[Atom]) -> list[Atom]:
    """Constants become variables, the same one mostly the same; some stay, some become `_`."""
    rng = schema.rng
    names = list(VARIABLES)
    rng.shuffle(names)
    plan: dict[tuple[type, Term], str] = {}
    pattern = []
    for atom in atoms:
        objects: list[Term] = []
        for constant in _objects(atom):
            key = (type(constant), constant)
            if key not in plan:
                keep = 0.3
                if constant in schema.domains["event"]:
                    keep = 0.4 if schema.long else 0.06
                plan[key] = "" if rng.random() < keep else names.pop()
            if rng.random() < 0.08:
                objects.append(Var("_"))
            elif rng.random() < 0.03 and names:
                objects.append(Var(names.pop()))
            else:
                objects.append(Var(plan[key]) if plan[key] else constant)
            if not names:
                names = [f"N{len(plan)}{i}" for i in range(20)]
        pattern.append(_with_objects(atom, objects))
    return pattern


def _perturbed(schema: Schema, pattern: list[Atom]) -> list[Atom]:
    """One small change that often, not always, makes a covering pattern fail."""
    rng = schema.rng
    i = rng.randrange(len(pattern))
    atom, objects = pattern[i], list(_objects(pattern[i]))
    change = rng.choice(["argument", "merge", "swap", "operator", "more", "again"])
    if change == "argument" and objects:
        kinds = schema.signature(atom.predicate) or ("event",) * len(objects)
        j = rng.randrange(len(objects))
        objects[j] = rng.choice([schema.constant(kinds[j]), Var("Q"), Var("Q")])
    elif change == "merge" and objects:
        named = [v for a in pattern for v in a.variables() if not v.anonymous]
        objects[rng.randrange(len(objects))] = rng.choice(named) if named else Var("Q")
    elif change == "swap" and len(objects) > 1:
        objects.reverse()
    elif change == "operator" and schema.dimensions:
        atom = _operator_atom(schema, Var("X"), Var("Y"))
        if len(objects) != 2:
            objects = list(_objects(atom))
    elif change == "more":
        return [*pattern, _random_atom(schema)] if len(pattern) < 6 else pattern
    elif change == "again":
        return [*pattern, atom] if len(pattern) < 6 else pattern
    return [*pattern[:i], _with_objects(atom, objects), *pattern[i + 1 :]]


def _operator_atom(schema: Schema, x: Term, y: Term) -> Atom:
    rng = schema.rng
    name = rng.choice(schema.dimensions)
    operator = rng.choice(["next", "follow", "followat"])
    return Atom(
        f"{operator}_{name}", (rng.randint(1, 4), x, y) if operator == "followat" else (x, y)
    )


def _random_atom(schema: Schema) -> Atom:
    """An atom of the schema with arguments drawn blindly, sometimes of a kind that cannot match."""
    rng = schema.rng
    choices = [*schema.predicates, *schema.derived] + ["ghost"] * (rng.random() < 0.1)
    name = rng.choice([*choices, *(["operator"] * (2 if schema.dimensions else 0))])
    kinds = ("event", "event") if name == "operator" else schema.signature(name)
    if name == "ghost":
        kinds = ("event", "symbol")
    args: list[Term] = []
    for kind in kinds:
        draw = rng.random()
        if draw < 0.15:
            args.append(Var("_"))
        elif draw < (0.2 if kind == "event" else 0.45):
            args.append(schema.constant(kind))
        else:
            pool = ("X", "Y", "Z") if kind == "event" else (f"{kind.title()}1", f"{kind.title()}2")
            args.append(Var(rng.choice(pool)))
    return _operator_atom(schema, *args) if name == "operator" else Atom(name, tuple(args))
