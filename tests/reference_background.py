"""The slow, obvious twin of `relynx.logic.datalog.evaluate`: sets of ground atoms, one sequence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from relynx.logic.terms import Atom, Comparison, Constant, Not, Rule, Struct, Term, Var

Binding = dict[str, Constant]


def background_closure(
    rules: Sequence[Rule], atoms: Iterable[Atom], object_identity: bool
) -> set[Atom]:
    """The given atoms of one sequence and all that the rules derive from them."""
    facts = set(atoms)
    levels = _levels(rules)
    for level in sorted(set(levels.values())):
        grew = True
        while grew:
            derived = {
                _ground(rule.head, binding)
                for rule in rules
                if levels[rule.head.key] == level
                for binding in _bindings(rule, facts, object_identity)
            }
            grew = not derived <= facts
            facts |= derived
    return facts


def _levels(rules: Sequence[Rule]) -> dict[tuple[str, int], int]:
    """A number for each defined predicate, above those of all that it negates."""
    levels = {rule.head.key: 0 for rule in rules}
    for _ in range(len(rules) ** 2 + 1):
        for rule in rules:
            for literal in rule.body:
                if isinstance(literal, Comparison):
                    continue
                atom = literal.atom if isinstance(literal, Not) else literal
                operator = atom.predicate.startswith(("follow_", "followat_"))
                key = (f"next_{atom.predicate.split('_', 1)[1]}", 2) if operator else atom.key
                above = 1 if operator or isinstance(literal, Not) else 0
                if key in levels:
                    levels[rule.head.key] = max(levels[rule.head.key], levels[key] + above)
    return levels


def _bindings(rule: Rule, facts: set[Atom], object_identity: bool) -> Iterator[Binding]:
    positive = [x for x in rule.body if isinstance(x, Atom)]
    tests = [x for x in rule.body if not isinstance(x, Atom)]
    pools = [_instances(atom, facts) for atom in positive]

    def extend(i: int, binding: Binding) -> Iterator[Binding]:
        if i < len(positive):
            for args in pools[i]:
                new = _matched(_objects(positive[i]), args, binding)
                if new is not None:
                    yield from extend(i + 1, new)
            return
        new = _passed(tests, binding, facts)
        if new is not None and not (object_identity and _identified(rule, new)):
            yield new

    yield from extend(0, {})


def _instances(atom: Atom, facts: set[Atom]) -> list[tuple[Term, ...]]:
    """The argument tuples for which an atom's predicate or operator holds."""
    kind, _, dimension = atom.predicate.partition("_")
    if kind not in ("follow", "followat"):
        return [fact.args for fact in facts if fact.key == atom.key]
    step = {fact.args for fact in facts if fact.key == (f"next_{dimension}", 2)}
    reached, walks = set(step), set(step)
    for _ in range((atom.args[0] if kind == "followat" else len(step) + 1) - 1):
        walks = {(x, z) for x, y in walks for y2, z in step if same(y, y2)}
        reached |= walks
    return list(walks if kind == "followat" else reached)


def _objects(atom: Atom) -> tuple[Term, ...]:
    return atom.args[1:] if atom.predicate.startswith("followat_") else atom.args


def _matched(args: tuple[Term, ...], values: tuple[Term, ...], binding: Binding) -> Binding | None:
    new = dict(binding)
    for arg, constant in zip(args, values, strict=True):
        if not isinstance(arg, Var):
            if not same(arg, constant):
                return None
        elif not arg.anonymous and not same(new.setdefault(arg.name, constant), constant):
            return None
    return new


def _passed(tests: list[object], binding: Binding, facts: set[Atom]) -> Binding | None:
    """The binding, with what `is` adds to it, if every test is true."""
    binding, waiting = dict(binding), list(tests)
    while waiting:
        test = next(t for t in waiting if _ready(t, binding))
        waiting.remove(test)
        if isinstance(test, Not):
            args = _objects(test.atom)
            if any(_matched(args, v, binding) is not None for v in _instances(test.atom, facts)):
                return None
        elif not _holds(test, binding):
            return None
    return binding


def _ready(test: object, binding: Binding) -> bool:
    terms = test.atom.args if isinstance(test, Not) else (test.right,)
    if isinstance(test, Comparison) and test.operator != "is":
        terms = (test.left, test.right)
    return all(v.name in binding or v.anonymous for v in Atom("t", terms).variables())


def _holds(test: Comparison, binding: Binding) -> bool:
    if test.operator in ("==", "\\=="):
        left, right = (
            binding[side.name] if isinstance(side, Var) else side
            for side in (test.left, test.right)
        )
        return same(left, right) == (test.operator == "==")
    right = number(test.right, binding)
    if test.operator == "is":
        if right is None:
            return False
        if not isinstance(test.left, Var):
            return same(test.left, right)
        return test.left.anonymous or same(binding.setdefault(test.left.name, right), right)
    left = number(test.left, binding)
    if left is None or right is None:
        return False
    return {
        "<": left < right,
        "=<": left <= right,
        ">": left > right,
        ">=": left >= right,
        "=:=": left == right,
        "=\\=": left != right,
    }[test.operator]


def number(term: Term, binding: Binding) -> int | float | None:
    """The value of an expression, None where it has none."""
    if isinstance(term, Var):
        return number(binding[term.name], {})
    if not isinstance(term, Struct):
        return None if isinstance(term, str) else term
    values = [number(arg, binding) for arg in term.args]
    if None in values:
        return None
    x, y = values[0], values[-1]
    exact = isinstance(x, int) and isinstance(y, int)
    try:
        match term.functor:
            case "+":
                result = x + y
            case "-":
                result = x - y
            case "*":
                result = x * y
            case "abs":
                result = abs(x)
            case "//" | "mod" if not exact or y == 0:
                return None
            case "//":
                result = x // y if (x < 0) == (y < 0) else -(-x // y)
            case "mod":
                result = x - y * (x // y)
            case "min" | "max" if x == y:
                result = x if isinstance(x, float) else y
            case "min":
                result = x if x < y else y
            case "max":
                result = x if x > y else y
    except OverflowError:
        return None
    if isinstance(result, float):
        return result + 0.0 if math.isfinite(result) else None
    return result


def _identified(rule: Rule, binding: Binding) -> bool:
    """Whether two variables, or a variable and a constant of the rule's atoms, are the same."""
    constants: list[Term] = []
    for literal in (rule.head, *rule.body):
        if not isinstance(literal, Comparison):
            atom = literal.atom if isinstance(literal, Not) else literal
            constants += [arg for arg in _objects(atom) if not isinstance(arg, Var)]
    values = list(binding.values())
    pairs = [(x, y) for i, x in enumerate(values) for y in values[i + 1 :]]
    pairs += [(x, y) for x in values for y in constants]
    return any(same(x, y) for x, y in pairs)


def _ground(atom: Atom, binding: Binding) -> Atom:
    args = (binding[arg.name] if isinstance(arg, Var) else arg for arg in atom.args)
    return Atom(atom.predicate, tuple(args))


def same(x: Term, y: Term) -> bool:
    return type(x) is type(y) and x == y
