"""Random background programs: safe, stratified and terminating by construction or by check."""

from __future__ import annotations

from collections.abc import Sequence

from reference import body_atoms, operator_of, stored_key, strata

from relynx.logic.terms import Atom, Comparison, Literal, Not, Rule, Struct, Term, Var

from .schema import Schema

NUMERIC = ("integer", "float", "number")
BY_VALUE = ("<", "=<", ">", ">=", "=:=", "=\\=")
X, Y, Z, M, N = (Var(name) for name in "XYZMN")


def make_background(schema: Schema) -> list[Rule]:
    """A program for the schema, in random order; its new predicates are added to the schema."""
    rng = schema.rng
    makers = [_free_rule] * 6 + [_measure] * 8 + [_recursion] * 2 + [_negation] * 2 + [_facts]
    if schema.dimensions:
        makers += [_counter, _parity, _dimension, _dimension]
    if schema.measuring:
        makers = [_measure]
    rules: list[Rule] = []
    for maker in rng.choices(makers, k=rng.randint(3, 5) + 3 * schema.measuring):
        proposed = maker(schema)
        if _is_sound([*rules, *proposed]):
            rules += proposed
    rng.shuffle(rules)
    return [Rule(rule.head, tuple(rng.sample(rule.body, len(rule.body)))) for rule in rules]


def depends_on(rules: Sequence[Rule]) -> dict[tuple[str, int], set[tuple[str, int]]]:
    """For each head the predicates it depends on, directly or not."""
    reach: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for rule in rules:
        reach.setdefault(rule.head.key, set()).update(map(stored_key, body_atoms(rule)))
    changed = True
    while changed:
        changed = False
        for targets in reach.values():
            further = set().union(*(reach.get(key, set()) for key in targets)) - targets
            targets |= further
            changed = changed or bool(further)
    return reach


def _is_sound(rules: Sequence[Rule]) -> bool:
    """Stratified, and no recursive rule makes numbers without a bound on them.

    An operator needs all steps of its dimension, so no rule may make steps out of it in a circle.
    """
    try:
        strata(rules)
    except ValueError:
        return False
    reach = depends_on(rules)
    for rule in rules:
        for key in (stored_key(atom) for atom in body_atoms(rule) if operator_of(atom)):
            if rule.head.key in {key, *reach.get(key, set())}:
                return False
    return not any(
        rule.head.key in reach[rule.head.key] and _makes_numbers(rule) and not _is_bounded(rule)
        for rule in rules
    )


def _makes_numbers(rule: Rule) -> bool:
    return any(
        isinstance(literal, Comparison) and literal.operator == "is" for literal in rule.body
    )


def _is_bounded(rule: Rule) -> bool:
    guards = {
        literal.operator
        for literal in rule.body
        if isinstance(literal, Comparison) and literal.left == N and isinstance(literal.right, int)
    }
    return {"=<", ">="} <= guards


# -- templates -------------------------------------------------------------------------------------


def _recursion(schema: Schema) -> list[Rule]:
    """A transitive closure in one of its three forms, sometimes with a condition inside."""
    rng = schema.rng
    name = schema.new_predicate(("event", "event"))
    steps = [p for p in (*schema.predicates, *schema.derived) if _links(schema, p)]
    if schema.dimensions and (not steps or rng.random() < 0.4):
        step = _operator(schema)
    elif steps:
        step = Atom(rng.choice(steps), (X, Y))
    else:
        return []
    first, second = Atom(name, (X, Y)), _renamed(step, {X: Y, Y: Z})
    form = rng.choice(["left", "right", "double"])
    if form == "right":
        first, second = step, Atom(name, (Y, Z))
    elif form == "double":
        second = Atom(name, (Y, Z))
    extra = _builtins(schema, {"X": "event", "Z": "event"}, 1) if rng.random() < 0.2 else []
    return [Rule(Atom(name, (X, Y)), (step,)), Rule(Atom(name, (X, Z)), (first, second, *extra))]


def _counter(schema: Schema) -> list[Rule]:
    """Numbers made by recursion, kept within bounds."""
    rng = schema.rng
    name = schema.new_predicate(("event", "integer"))
    operator = _operator(schema)
    start = [Atom(operator.predicate, (*operator.args[:-1], Var("_")))]
    if rng.random() < 0.5:
        start.append(Not(_renamed(operator, {X: Var("_"), Y: X})))  # type: ignore[arg-type]
    step = Comparison("is", N, Struct(rng.choice(["+", "-"]), (M, rng.randint(1, 2))))
    return [
        Rule(Atom(name, (X, rng.randint(-1, 1))), tuple(start)),
        Rule(
            Atom(name, (Y, N)),
            (
                Atom(name, (X, M)),
                operator,
                step,
                Comparison("=<", N, rng.randint(1, 4)),
                Comparison(">=", N, -rng.randint(1, 4)),
            ),
        ),
    ]


def _parity(schema: Schema) -> list[Rule]:
    """Mutual recursion along a dimension."""
    operator = _operator(schema)
    even, odd = schema.new_predicate(("event",)), schema.new_predicate(("event",))
    first = Atom(operator.predicate, (*operator.args[:-1], Var("_")))
    return [
        Rule(Atom(even, (X,)), (first, Not(_renamed(operator, {X: Var("_"), Y: X})))),
        Rule(Atom(odd, (Y,)), (Atom(even, (X,)), operator)),
        Rule(Atom(even, (Y,)), (Atom(odd, (X,)), operator)),
    ]


def _negation(schema: Schema) -> list[Rule]:
    """What holds of no event, or of all: negation with and without arguments."""
    rng = schema.rng
    name = rng.choice([*schema.predicates, *schema.derived, *schema.derived])
    kinds = schema.signature(name)
    blank = Atom(name, (Var("_"),) * len(kinds))
    if rng.random() < 0.4:
        return [Rule(Atom(schema.new_predicate(()), ()), (Not(blank),))]
    variables: dict[str, str] = {}
    body: list[Literal] = [_body_atom(schema, variables)]
    body.append(Not(_filled(schema, name, variables)))
    return [Rule(_new_head(schema, variables), tuple(body))]


def _facts(schema: Schema) -> list[Rule]:
    """Facts that hold in every sequence, of a new predicate or of one of the data."""
    rng = schema.rng
    values = [p for p, kinds in schema.predicates.items() if kinds]
    if rng.random() < 0.3:
        name = rng.choice(values)
    else:
        name = schema.new_predicate(rng.choice([("symbol", "symbol"), ("symbol", "integer")]))
    kinds = schema.signature(name)
    return [Rule(Atom(name, tuple(map(schema.constant, kinds)))) for _ in range(rng.randint(1, 3))]


def _dimension(schema: Schema) -> list[Rule]:
    """Steps of a dimension given by rules, of a new one or of one that the data has too."""
    rng = schema.rng
    variables = {"X": "event", "Y": "event"}
    body: list[Literal] = [_operator(schema)]
    if rng.random() < 0.5:
        body.append(_body_atom(schema, variables))
    body += _builtins(schema, variables, rng.randint(0, 1))
    dimension = "b"
    if rng.random() < 0.3:
        dimension = rng.choice(schema.dimensions)
    elif dimension not in schema.dimensions:
        schema.dimensions.append(dimension)
    if any(isinstance(v, Var) and v.name == "_" for v in body[0].variables()):
        return []
    head = Atom(f"next_{dimension}", rng.choice([(X, Y), (X, Y), (Y, X)]))
    return [Rule(head, tuple(body))]


def _measure(schema: Schema) -> list[Rule]:
    """A number of some fact, compared or computed with, close enough to its bounds to matter."""
    rng = schema.rng
    known = {**schema.predicates, **schema.derived}
    numeric = [name for name, kinds in known.items() if set(kinds) & set(NUMERIC)]
    if not numeric:
        return []
    variables: dict[str, str] = {}
    body: list[Literal] = []
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice([*numeric, "level"])
        args = [_variable(schema, kind, variables, again=0.2) for kind in schema.signature(name)]
        body.append(Atom(name, tuple(args)))
    numbers = [v for v, kind in variables.items() if kind in NUMERIC]
    left = rng.choice(numbers)
    kind = variables[left]
    if kind != "number" and rng.random() < 0.5:
        body.append(Comparison("is", Var("R"), _operation(schema, Var(left), variables, kind)))
        variables["R"] = kind
    else:
        near: list[Term] = [schema.constant(kind), *(Var(v) for v in numbers if v != left)]
        if kind != "number":
            near.append(_operation(schema, Var(left), variables, kind))
        body.append(Comparison(rng.choice(BY_VALUE), Var(left), rng.choice(near)))
    return [Rule(_new_head(schema, variables), tuple(body))]


def _free_rule(schema: Schema) -> list[Rule]:
    """One to three atoms, then built-ins, then perhaps a negation; the head takes what is bound."""
    rng = schema.rng
    variables: dict[str, str] = {}
    body: list[Literal] = []
    for _ in range(rng.choices([0, 1, 2, 3], [1, 8, 10, 4])[0]):
        body.append(_body_atom(schema, variables))
    body += _builtins(schema, variables, rng.choices([0, 1, 2], [1, 4, 3])[0])
    if rng.random() < 0.3:
        name = rng.choice([*schema.predicates, *schema.derived, *schema.derived])
        body.append(Not(_filled(schema, name, variables)))
    if not body:
        return []
    if rng.random() < 0.25:
        name = rng.choice([*schema.predicates, *schema.derived])
        kinds = schema.signature(name)
        if all(kind in variables.values() or kind != "event" for kind in kinds):
            return [Rule(_filled(schema, name, variables, blank=0.0), tuple(body))]
    return [Rule(_new_head(schema, variables), tuple(body))]


# -- pieces ----------------------------------------------------------------------------------------


def _links(schema: Schema, name: str) -> bool:
    return schema.signature(name) == ("event", "event")


def _operator(schema: Schema) -> Atom:
    rng = schema.rng
    dimension = rng.choice(schema.dimensions)
    kind = rng.choice(["next", "next", "follow", "followat"])
    return Atom(f"{kind}_{dimension}", (rng.randint(1, 3), X, Y) if kind == "followat" else (X, Y))


def _renamed(atom: Atom, names: dict[Var, Var]) -> Atom:
    return Atom(
        atom.predicate, tuple(names.get(t, t) if isinstance(t, Var) else t for t in atom.args)
    )


def _body_atom(schema: Schema, variables: dict[str, str]) -> Atom:
    """An atom over old and new variables; the new ones are added to `variables`."""
    rng = schema.rng
    if schema.dimensions and rng.random() < 0.3:
        pair = [_variable(schema, "event", variables) for _ in range(2)]
        return _renamed(_operator(schema), dict(zip((X, Y), pair, strict=True)))
    name = rng.choice([*schema.predicates, *schema.derived])
    args: list[Term] = []
    for kind in schema.signature(name):
        draw = rng.random()
        if draw < 0.1:
            args.append(Var("_"))
        elif draw < (0.12 if kind == "event" else 0.2):
            args.append(schema.constant(kind))
        else:
            args.append(_variable(schema, kind, variables))
    return Atom(name, tuple(args))


def _variable(schema: Schema, kind: str, variables: dict[str, str], again: float = 0.55) -> Var:
    same = [name for name, known in variables.items() if known == kind]
    if same and schema.rng.random() < again:
        return Var(schema.rng.choice(same))
    name = f"{kind[0].upper()}{len(variables)}"
    variables[name] = kind
    return Var(name)


def _filled(schema: Schema, name: str, variables: dict[str, str], *, blank: float = 0.3) -> Atom:
    """An atom of bound variables, constants and `_` only: for negations and heads."""
    rng = schema.rng
    args: list[Term] = []
    for kind in schema.signature(name):
        same = [v for v, known in variables.items() if known == kind]
        if rng.random() < blank:
            args.append(Var("_"))
        elif same and rng.random() < 0.85:
            args.append(Var(rng.choice(same)))
        else:
            args.append(schema.constant(kind))
    return Atom(name, tuple(args))


def _new_head(schema: Schema, variables: dict[str, str]) -> Atom:
    rng = schema.rng
    results = [name for name in variables if name.startswith("R") and rng.random() < 0.85]
    others = [name for name in variables if name not in results]
    names = results + rng.sample(others, min(len(others), rng.choice([0, 1, 1, 2, 2, 3])))
    rng.shuffle(names)
    args: list[Term] = [Var(name) for name in names]
    kinds = [variables[name] for name in names]
    if rng.random() < 0.15:
        args.append(schema.constant("symbol"))
        kinds.append("symbol")
    return Atom(schema.new_predicate(tuple(kinds)), tuple(args))


def _builtins(schema: Schema, variables: dict[str, str], count: int) -> list[Literal]:
    """Comparisons and `is` over bound variables; new results are added to `variables`."""
    rng = schema.rng
    found: list[Literal] = []
    for _ in range(count):
        numeric = [v for v, kind in variables.items() if kind in NUMERIC]
        kind = rng.choice(["identity", "value", "value", "is"])
        if kind == "identity" or not (numeric or rng.random() < 0.1):
            if not variables:
                continue
            left = rng.choice([*variables])
            right: Term = schema.constant(variables[left])
            if rng.random() < 0.5:
                right = Var(rng.choice([*variables]))
            found.append(Comparison(rng.choice(["==", "\\==", "\\=="]), Var(left), right))
        elif kind == "value":
            a, b = (_expression(schema, variables, rng.choice(NUMERIC)) for _ in range(2))
            found.append(Comparison(rng.choice(BY_VALUE), a, b))
        else:
            result = rng.choice(["integer", "integer", "float"])
            expression = _expression(schema, variables, result)
            bound = [v for v, known in variables.items() if known == result]
            if bound and rng.random() < 0.25:
                target: Term = Var(rng.choice(bound))
            elif rng.random() < 0.05:
                target = schema.constant(result)
            else:
                target = Var(f"R{len(variables)}")
                variables[target.name] = result
            found.append(Comparison("is", target, expression))
    return found


def _expression(schema: Schema, variables: dict[str, str], kind: str, depth: int = 2) -> Term:
    """Arithmetic whose result is exact in every engine: integers, and halves for floats."""
    rng = schema.rng
    known: list[Term] = [Var(v) for v, other in variables.items() if other == kind]
    leaves = [*known * 3, schema.constant(kind)]
    if kind == "number" or depth == 0 or rng.random() < 0.3:
        return rng.choice(leaves)
    left = _expression(schema, variables, kind, depth - 1)
    return _operation(schema, left, variables, kind, depth - 1)


def _operation(
    schema: Schema, left: Term, variables: dict[str, str], kind: str, depth: int = 0
) -> Term:
    rng = schema.rng
    right = _expression(schema, variables, kind, depth)
    if right == left:
        right = schema.constant(kind)
    functor = rng.choice(["+", "-", "*", "//", "//", "mod", "mod", "abs", "min", "max"])
    if functor == "abs":
        return Struct("abs", (left,))
    if functor in ("//", "mod") and kind == "integer":
        divisors: list[Term] = [2, 3, -2, -3, Struct("max", (right, 1))]
        return Struct(functor, (left, rng.choice(divisors)))
    if functor in ("*", "//", "mod") and kind == "float":  # no -0.0, no division of floats
        return Struct("*", (left, rng.choice([2, 3])))
    if functor in ("+", "-") and kind == "float" and rng.random() < 0.3:
        right = _expression(schema, variables, "integer", 0)
    return Struct(functor, (left, right))
