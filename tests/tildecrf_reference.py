"""Slow and obvious twins of the conditional random field: paths enumerated, trees by definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import exp, inf, log

from relynx.bias import Bias
from relynx.data.event_order import ordered_events
from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom, Constant, Var, constant_text
from relynx.models.tildecrf.trees import Leaf, Split, Tree

TIED = 1e-9


# Chains of labels, by enumeration of all paths. `F` is a list with a table for each event.


def score(F, path) -> float:
    """The sum of the potentials on a path; the first event has its potentials at label 0."""
    return sum(F[t][path[t - 1] if t else 0][k] for t, k in enumerate(path))


def paths(F) -> list[tuple[int, ...]]:
    return list(product(range(len(F[0][0])), repeat=len(F))) if len(F) else [()]


def log_z(F) -> float:
    scores = [score(F, path) for path in paths(F)]
    top = max(scores)
    return top + log(sum(exp(s - top) for s in scores))


def pair_share(F, t: int, before: int, label: int) -> float:
    """The probability that event t has a label and the one before it another."""
    whole = log_z(F)
    return sum(
        exp(score(F, path) - whole)
        for path in paths(F)
        if path[t] == label and (path[t - 1] if t else 0) == before
    )


def best_path(F) -> tuple[int, ...]:
    return max(paths(F), key=lambda path: score(F, path))


# Literals, by backtracking over the facts of one sequence.


@dataclass(frozen=True)
class Example:
    """An event of a sequence, by its place, and the number of the label before; None for none."""

    sequence: int
    place: int
    label: int | None


@dataclass(frozen=True)
class World:
    """Sequences as plain facts: for each its events in order, and all that holds in it."""

    events: list[list[Constant]]
    facts: list[list[Atom]]
    bias: Bias
    half: int

    @classmethod
    def of(cls, X: Sequences, bias: Bias, half: int, dimension: str) -> World:
        known = X.facts()
        rows = ordered_events(X, dimension)
        events = [[known.vocabulary[code] for code in row] for row in rows]
        facts = []
        for i, named in enumerate(events):
            here = [
                Atom(name, tuple(known.vocabulary[c] for c in column[1:]))
                for (name, _), table in known.tables.items()
                for column in table.T.tolist()
                if column[0] == i
            ]
            here += [Atom("event", (e,)) for e in named]
            here += [Atom("first", (named[0],)), Atom("last", (named[-1],))] if named else []
            facts.append(here)
        return cls(events, facts, bias, half)

    def window(self, example: Example) -> dict[str, Constant]:
        """The events around an example, by the names of their variables."""
        events = self.events[example.sequence]
        out = {}
        for j in range(-self.half, self.half + 1):
            if 0 <= example.place + j < len(events):
                out[f"E{j}" if j >= 0 else f"E_{-j}"] = events[example.place + j]
        return out

    def hold(self, literals: tuple[Atom | int, ...], example: Example) -> bool:
        """Whether some binding makes all literals true."""
        if any(isinstance(one, int) and one != example.label for one in literals):
            return False
        atoms = [one for one in literals if isinstance(one, Atom)]
        return self._bind(atoms, example.sequence, self.window(example))

    def _bind(self, atoms: list[Atom], sequence: int, known: dict[str, Constant]) -> bool:
        if not atoms:
            return True
        first, rest = atoms[0], atoms[1:]
        if first.predicate == "==":
            left, right = (known[a.name] if isinstance(a, Var) else a for a in first.args)
            return left == right and self._bind(rest, sequence, known)
        for fact in self.facts[sequence]:
            if fact.key != first.key:
                continue
            more = dict(known)
            matched = [_matches(a, c, more) for a, c in zip(first.args, fact.args, strict=True)]
            if all(matched) and self._bind(rest, sequence, more):
                return True
        return False


def _matches(arg, value, known) -> bool:
    if not isinstance(arg, Var):
        return arg == value
    if arg.name == "_":
        return True
    if arg.name.startswith("E") and arg.name not in known:  # an event beyond the ends
        return False
    return known.setdefault(arg.name, value) == value


# Trees, by trying every literal of the language on every example.


@dataclass(frozen=True)
class Given:
    """What a tree is grown from: for each example its residual; and the limits."""

    world: World
    residuals: dict[Example, float]
    labels: list[str]
    max_depth: int
    max_leaves: int
    min_samples_leaf: int
    look_ahead: bool = False


def values_of(tree: Tree, world: World, examples: list[Example]) -> list[float]:
    """What a tree says of examples."""
    return [_value(tree, world, example, ()) for example in examples]


def listed(test) -> tuple[Atom | int, ...]:
    return (test,) if isinstance(test, int) else test


def _value(tree: Tree, world: World, example: Example, above: tuple[Atom | int, ...]) -> float:
    if isinstance(tree, Leaf):
        return tree.value
    more = (*above, *listed(tree.test))
    if world.hold(more, example):
        return _value(tree.yes, world, example, more)
    return _value(tree.no, world, example, above)


class Growing:
    """A node of a tree that grows."""

    def __init__(self, given: Given, examples: list[Example], above: tuple, depth: int) -> None:
        self.examples, self.above, self.depth = examples, above, depth
        residuals = [given.residuals[e] for e in examples]
        self.value = sum(residuals) / len(residuals) if residuals else 0.0
        self.gain, self.test = -inf, None
        self.branches: tuple[Growing, Growing] | None = None
        if depth < given.max_depth:
            self.gain, self.test = best(given, examples, above)

    def tree(self) -> Tree:
        if self.branches is None:
            return Leaf(self.value, len(self.examples))
        yes, no = self.branches
        return Split(self.test, yes.tree(), no.tree())


def grow(given: Given) -> Tree:
    """The node that gains most is divided first."""
    root = Growing(given, list(given.residuals), (), 0)
    nodes, n_leaves = [root], 1
    while n_leaves < given.max_leaves:
        free = [node for node in nodes if node.branches is None and node.test is not None]
        if not free:
            break
        node = max(free, key=lambda one: float(f"{one.gain:.9g}"))  # the first of equal ones
        above = (*node.above, *listed(node.test))
        passed = [e for e in node.examples if given.world.hold(above, e)]
        failed = [e for e in node.examples if e not in passed]
        node.branches = (
            Growing(given, passed, above, node.depth + 1),
            Growing(given, failed, node.above, node.depth + 1),
        )
        nodes += node.branches
        n_leaves += 1
    return root.tree()


def best(given: Given, examples: list[Example], above: tuple) -> tuple[float, Atom | int | None]:
    """The gain of the best test, and the test; of equal ones the simplest, then by its text."""
    total = sum(given.residuals[e] for e in examples)
    squares = _squares(given, examples)
    found = []
    single = [test if isinstance(test, int) else (test,) for test in tests(given, above)]
    for test in [*single, *(pairs(given, examples, above) if given.look_ahead else ())]:
        passed = [e for e in examples if given.world.hold((*above, *listed(test)), e)]
        n_yes, n_no = len(passed), len(examples) - len(passed)
        if min(n_yes, n_no) < given.min_samples_leaf:
            continue
        yes = sum(given.residuals[e] for e in passed)
        gain = yes**2 / n_yes + (total - yes) ** 2 / n_no - total**2 / len(examples)
        found.append((gain, test))
    top = max((gain for gain, _ in found), default=-inf)
    if not top > TIED * squares:
        return -inf, None
    tied = [test for gain, test in found if gain >= top - TIED * squares]
    return top, min(tied, key=lambda test: _order(test, given, above))


def pairs(given: Given, examples: list[Example], above: tuple) -> Iterator[tuple[Atom, Atom]]:
    """A literal without constants that brings in variables, and one that speaks of these."""
    known = scope(given, above)
    for first in tests(given, above):
        if isinstance(first, int) or first.predicate == "==":
            continue
        new = {v.name for v in first.variables()} - {*known}
        old = [v for v in first.variables() if v.name in known]
        held = sum(given.world.hold((*above, first), e) for e in examples)
        general = all(isinstance(arg, Var) for arg in first.args) and len(old) == 1
        if not new or not general or held < given.min_samples_leaf:
            continue
        for second in tests(given, (*above, first)):
            if isinstance(second, Atom) and new & {v.name for v in second.variables()}:
                yield first, second


def _squares(given: Given, examples: list[Example]) -> float:
    """The sum over the events of the squares of their residuals."""
    sums: dict[tuple[int, int], float] = {}
    for e in examples:
        sums[e.sequence, e.place] = sums.get((e.sequence, e.place), 0.0) + given.residuals[e]
    return sum(value**2 for value in sums.values())


def _order(test, given: Given, above: tuple) -> tuple[int, str]:
    if isinstance(test, int):
        return 0, f"prev({given.labels[test]})"
    new = {v.name for atom in test for v in atom.variables()} - {*scope(given, above)}
    return len(new), ", ".join(map(_text, test))


def _text(atom: Atom) -> str:
    if atom.predicate != "==":
        return str(atom)
    left, right = (str(a) if isinstance(a, Var) else constant_text(a) for a in atom.args)
    return f"{left} == {right}"


def scope(given: Given, above: tuple) -> dict[str, str]:
    """The variables that are known after some tests, and their types."""
    half = given.world.half
    out = {(f"E{j}" if j >= 0 else f"E_{-j}"): "event" for j in range(-half, half + 1)}
    for atom in above:
        if isinstance(atom, Atom) and atom.predicate != "==":
            kinds = types(given.world.bias)[atom.predicate]
            for arg, kind in zip(atom.args, kinds, strict=True):
                if isinstance(arg, Var) and arg.name != "_":
                    out.setdefault(arg.name, kind)
    return out


def types(bias: Bias) -> dict[str, tuple[str, ...]]:
    links = {f"next_{name}": ("event", "event") for name in bias.dimensions}
    return {**bias.types, **links, "first": ("event",), "last": ("event",), "event": ("event",)}


def tests(given: Given, above: tuple) -> Iterator[Atom | int]:
    """Every test that a node may have."""
    yield from range(len(given.labels))
    bias, known = given.world.bias, scope(given, above)
    modes = {**bias.modes, **dict.fromkeys(("first", "last", "event"), (("+",),))}
    modes |= {f"next_{name}": (("+", "-"), ("-", "+"), ("+", "+")) for name in bias.dimensions}
    constants = _constants(given.world)
    for name, kinds in types(bias).items():
        options = [
            [*(v for v, k in known.items() if k == kind), *constants.get(kind, ()), None]
            for kind in kinds
        ]
        for choice in product(*options):
            old = [c for c in choice if c in known]
            is_attribute = "event" not in kinds and not old and None not in choice
            if not (is_attribute or 1 <= len(old) <= 2) or len(set(old)) < len(old):
                continue
            signs = ["-" if c is None else "+" if c in known else "#" for c in choice]
            if _allowed(signs, modes[name]):
                yield Atom(name, _named(choice, kinds, known))
    values = [v for v, kind in known.items() if kind != "event"]
    for v in values:
        yield from (Atom("==", (Var(v), c)) for c in constants.get(known[v], ()))
        yield from (Atom("==", (Var(v), Var(u))) for u in values if u != v and known[u] == known[v])


def _allowed(signs: list[str], modes) -> bool:
    return any(all(s in (m, m.replace("*", s)) for s, m in zip(signs, mode)) for mode in modes)  # noqa: B905


def _named(choice, kinds, known) -> tuple:
    args, count = [], {True: 0, False: 0}
    for kind in known.values():
        count[kind == "event"] += 1
    count[True] -= sum(name.startswith("E") for name in known)
    for c, kind in zip(choice, kinds, strict=True):
        if c is None:
            count[kind == "event"] += 1
            args.append(Var(f"{'F' if kind == 'event' else 'V'}{count[kind == 'event']}"))
        else:
            args.append(Var(c) if c in known else c)
    return tuple(args)


def _constants(world: World) -> dict[str, list[Constant]]:
    """The constants of each type of values in the data."""
    out: dict[str, list[Constant]] = {}
    for fact in (fact for facts in world.facts for fact in facts):
        for arg, kind in zip(fact.args, types(world.bias).get(fact.predicate, ()), strict=False):
            if kind != "event" and arg not in out.setdefault(kind, []):
                out[kind].append(arg)
    return out
