"""The slow, obvious twin of the engine: everything by enumeration, nothing shared with it.

Only the values of `relynx.logic.terms` are used (what an atom is), none of the code that
evaluates them. A constant is tagged with its type here, because `1 == 1.0` in Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from relynx.logic.terms import Atom, Comparison, Constant, Not, Rule, Struct, Term, Var

Tagged = tuple[type, Constant]
Tuples = set[tuple[Tagged, ...]]
Facts = dict[tuple[str, int], Tuples]
Binding = dict[str, Tagged]


def brute_force_covers(
    pattern: Sequence[Atom], atoms: Iterable[Atom], object_identity: bool = True
) -> bool:
    """Whether some substitution makes every atom of the pattern true."""
    found = _substitutions(pattern, _facts(atoms), _forbidden(pattern, object_identity))
    return next(found, None) is not None


def brute_force_matches(
    pattern: Sequence[Atom], atoms: Iterable[Atom], object_identity: bool = True
) -> list[dict[str, Constant]]:
    """All substitutions of the named variables that make the pattern true, each once."""
    found = _substitutions(pattern, _facts(atoms), _forbidden(pattern, object_identity))
    return [{name: constant for name, (_, constant) in binding.items()} for binding in found]


def background_closure(
    rules: Sequence[Rule], atoms: Iterable[Atom], object_identity: bool = True
) -> set[Atom]:
    """The atoms of a sequence and all that the rules derive from them, stratum by stratum."""
    facts = _facts(atoms)
    levels = strata(rules)
    for level in sorted({levels[rule.head.key] for rule in rules}):
        stratum = [rule for rule in rules if levels[rule.head.key] == level]
        grown = True
        while grown:
            new = [
                (rule.head.key, row)
                for rule in stratum
                for row in set(_consequences(rule, facts, object_identity))
                if row not in facts.get(rule.head.key, set())
            ]
            for key, row in new:
                facts.setdefault(key, set()).add(row)
            grown = bool(new)
    return {
        Atom(name, tuple(constant for _, constant in row))
        for (name, _), rows in facts.items()
        for row in rows
    }


def strata(rules: Sequence[Rule]) -> dict[tuple[str, int], int]:
    """The stratum of each predicate; ValueError where negation goes round in a circle."""
    keys = {rule.head.key for rule in rules}
    keys |= {stored_key(literal) for rule in rules for literal in body_atoms(rule)}
    levels = dict.fromkeys(keys, 0)
    for _ in range(len(keys) + 1):
        before = dict(levels)
        for rule in rules:
            for literal in rule.body:
                if isinstance(literal, Comparison):
                    continue
                atom = literal.atom if isinstance(literal, Not) else literal
                least = levels[stored_key(atom)] + isinstance(literal, Not)
                levels[rule.head.key] = max(levels[rule.head.key], least)
        if levels == before:
            return levels
    raise ValueError("negation through recursion")


def body_atoms(rule: Rule) -> list[Atom]:
    """The ordinary atoms of a rule's body, negated ones included."""
    return [
        literal.atom if isinstance(literal, Not) else literal
        for literal in rule.body
        if not isinstance(literal, Comparison)
    ]


def stored_key(atom: Atom) -> tuple[str, int]:
    """The predicate whose facts decide an atom: `next_s` for the operators of dimension s."""
    name = operator_of(atom)
    return (f"next_{atom.predicate.removeprefix(name + '_')}", 2) if name else atom.key


def operator_of(atom: Atom) -> str | None:
    """`follow` or `followat` for an atom of these operators, else None."""
    if atom.predicate.startswith("follow_") and len(atom.args) == 2:
        return "follow"
    if atom.predicate.startswith("followat_") and len(atom.args) == 3:
        return "followat"
    return None


def object_terms(atom: Atom) -> tuple[Term, ...]:
    """The arguments of an atom that stand for objects: all but the n of followat."""
    return atom.args[1:] if operator_of(atom) == "followat" else atom.args


def walks(steps: Tuples, n: int) -> Tuples:
    """The pairs joined by exactly n steps."""
    reached = steps
    for _ in range(n - 1):
        reached = _one_step_further(reached, steps)
    return reached


def transitive_closure(steps: Tuples) -> Tuples:
    """The pairs joined by one step or more."""
    reached, further = set(steps), steps
    while further:
        further = _one_step_further(further, steps) - reached
        reached |= further
    return reached


def _one_step_further(pairs: Tuples, steps: Tuples) -> Tuples:
    after: dict[Tagged, list[Tagged]] = {}
    for a, b in steps:
        after.setdefault(a, []).append(b)
    return {(a, c) for a, b in pairs for c in after.get(b, [])}


def _tag(constant: Term) -> Tagged:
    assert isinstance(constant, (str, int, float))
    return type(constant), constant


def _facts(atoms: Iterable[Atom]) -> Facts:
    facts: Facts = {}
    for atom in atoms:
        facts.setdefault(atom.key, set()).add(tuple(map(_tag, atom.args)))
    return facts


def _forbidden(atoms: Iterable[Atom], object_identity: bool) -> set[Tagged] | None:
    """The constants no variable may take under Object Identity; None without it."""
    if not object_identity:
        return None
    return {_tag(t) for atom in atoms for t in object_terms(atom) if not isinstance(t, Var)}


def _true_tuples(atom: Atom, facts: Facts) -> Tuples:
    """The argument tuples (without followat's n) for which the atom's predicate is true."""
    stored = facts.get(stored_key(atom), set())
    operator = operator_of(atom)
    if operator == "follow":
        return transitive_closure(stored)
    if operator == "followat":
        n = atom.args[0]
        assert isinstance(n, int)
        return walks(stored, n)
    return stored


def _substitutions(
    atoms: Sequence[Atom], facts: Facts, forbidden: set[Tagged] | None
) -> Iterator[Binding]:
    """Every assignment of constants to the named variables that makes all atoms true.

    Anonymous arguments are projected away first: they only ask that some value exists.
    """
    checks: list[tuple[list[Term], Tuples]] = []
    for atom in atoms:
        terms = object_terms(atom)
        kept = [i for i, t in enumerate(terms) if not (isinstance(t, Var) and t.anonymous)]
        tuples = {tuple(row[i] for i in kept) for row in _true_tuples(atom, facts)}
        checks.append(([terms[i] for i in kept], tuples))

    names = list(dict.fromkeys(t.name for args, _ in checks for t in args if isinstance(t, Var)))
    domains: dict[str, set[Tagged]] = {}
    due: list[list[tuple[list[Term], Tuples]]] = [[] for _ in range(len(names) + 1)]
    for args, tuples in checks:
        for i, arg in enumerate(args):
            if isinstance(arg, Var):
                column = {row[i] for row in tuples}
                domains[arg.name] = domains.get(arg.name, column) & column
        last = max((names.index(t.name) + 1 for t in args if isinstance(t, Var)), default=0)
        due[last].append((args, tuples))

    def extend(bound: int, binding: Binding) -> Iterator[Binding]:
        for args, tuples in due[bound]:
            if _values(args, binding) not in tuples:
                return
        if bound == len(names):
            yield dict(binding)
            return
        for value in domains[names[bound]]:
            if forbidden is None or (value not in forbidden and value not in binding.values()):
                yield from extend(bound + 1, binding | {names[bound]: value})

    return extend(0, {})


def _values(terms: Iterable[Term], binding: Binding) -> tuple[Tagged, ...]:
    return tuple(binding[t.name] if isinstance(t, Var) else _tag(t) for t in terms)


def _consequences(rule: Rule, facts: Facts, object_identity: bool) -> Iterator[tuple[Tagged, ...]]:
    """The head's arguments for every substitution that makes the body true."""
    positive = [literal for literal in rule.body if isinstance(literal, Atom)]
    negative = [literal.atom for literal in rule.body if isinstance(literal, Not)]
    builtins = [literal for literal in rule.body if isinstance(literal, Comparison)]
    forbidden = _forbidden([rule.head, *body_atoms(rule)], object_identity)
    for found in _substitutions(positive, facts, forbidden):
        binding = _with_results(builtins, found)
        if binding is None:
            continue
        if forbidden is not None:
            values = list(binding.values())
            if len(set(values)) < len(values) or forbidden & set(values):
                continue
        if all(_holds(builtin, binding) for builtin in builtins) and not any(
            _exists(atom, facts, binding) for atom in negative
        ):
            yield _values(rule.head.args, binding)


def _with_results(builtins: Sequence[Comparison], binding: Binding) -> Binding | None:
    """The binding together with the variables that `is` computes, in whatever order needed.

    None where an expression has no value.
    """
    binding = dict(binding)
    for _ in builtins:
        for builtin in builtins:
            left = builtin.left
            if (
                builtin.operator == "is"
                and isinstance(left, Var)
                and left.name not in binding
                and all(v.name in binding for v in _variables(builtin.right))
            ):
                value = _number(builtin.right, binding)
                if value is None:
                    return None
                if not left.anonymous:
                    binding[left.name] = _tag(value)
    return binding


def _exists(atom: Atom, facts: Facts, binding: Binding) -> bool:
    ground = Atom(
        atom.predicate,
        tuple(
            binding[t.name][1] if isinstance(t, Var) and not t.anonymous else t for t in atom.args
        ),
    )
    return next(_substitutions([ground], facts, None), None) is not None


def _holds(builtin: Comparison, binding: Binding) -> bool:
    operator = builtin.operator
    if operator in ("==", "\\=="):
        one, other = _values((builtin.left, builtin.right), binding)
        return (one == other) == (operator == "==")
    right = _number(builtin.right, binding)
    if operator == "is":
        left_side = builtin.left
        if isinstance(left_side, Var) and left_side.anonymous:
            return right is not None
        return right is not None and _values((left_side,), binding)[0] == _tag(right)
    left = _number(builtin.left, binding)
    if left is None or right is None:
        return False
    return {
        "<": left < right,
        "=<": left <= right,
        ">": left > right,
        ">=": left >= right,
        "=:=": left == right,
        "=\\=": left != right,
    }[operator]


def _number(term: Term, binding: Binding) -> int | float | None:
    return number(term, {name: constant for name, (_, constant) in binding.items()})


def number(term: Term, binding: dict[str, Constant]) -> int | float | None:
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


def _variables(term: Term) -> Iterator[Var]:
    if isinstance(term, Var):
        yield term
    elif isinstance(term, Struct):
        for arg in term.args:
            yield from _variables(arg)
