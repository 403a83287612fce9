"""Growing a tree: the best test of a node is the one that explains most of its residuals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relynx.arrays import Floats, Ints
from relynx.bias.modes import EVENT
from relynx.logic.terms import Atom, Term, Var
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.candidates import FREE, Candidates, Literals
from relynx.models.tildecrf.encoding import Encoding
from relynx.models.tildecrf.trees import Leaf, Part, Scope, Split, Test, Tree, text_of, yes_rows

TIED = 1e-9  # gains that differ by less, as a share of the sum of squares, are equal
MOST_ROWS = 16  # for each event of the tree: a node with more binds no variable


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a tree may grow."""

    max_depth: int
    max_leaves: int
    min_samples_leaf: int
    look_ahead: bool = False

    @classmethod
    def of(cls, estimator: Any) -> Limits:
        """Those that the parameters of an estimator set."""
        depth, leaves = int(estimator.max_depth), int(estimator.max_leaves)
        return cls(depth, leaves, int(estimator.min_samples_leaf), bool(estimator.look_ahead))


@dataclass(frozen=True, slots=True)
class Targets:
    """What a tree is to explain, by event and label before: residuals and weights. `before` says
    whether the label before may be tested."""

    residual: Floats
    weight: Floats
    before: bool = True


@dataclass(frozen=True, slots=True)
class Totals:
    """The targets of a node summed by event; their sum, weight, and sum of squares."""

    residual: Floats
    weight: Floats
    total: float
    n: float
    squares: float


@dataclass(slots=True, eq=False)
class _Node:
    """A node while the tree grows; a leaf until it gets a test."""

    part: Part
    depth: int
    value: float
    n_examples: float
    gain: float = 0.0
    test: Test | None = None
    branches: tuple[_Node, _Node] | None = None

    def tree(self) -> Tree:
        if self.branches is None or self.test is None:
            return Leaf(self.value, round(self.n_examples))
        return Split(self.test, self.branches[0].tree(), self.branches[1].tree())


class Grower:
    """Grows trees on one encoding."""

    def __init__(
        self, encoding: Encoding, candidates: Candidates, limits: Limits, labels: list[str]
    ) -> None:
        self.encoding = encoding
        self.candidates = candidates
        self.limits = limits
        self.labels = labels
        self._begins = encoding.is_first
        # The types whose variables a later literal can speak of: not those that are only new.
        self._bindable = encoding.language.types_with("+#*")

    def grow(self, part: Part, targets: Targets) -> tuple[Tree, Floats]:
        """A tree for the residuals, and what it says of each event and label before. The node that
        gains most is divided first. Examples of weight 0 go down the tree with the others and do
        not count."""
        most_rows = MOST_ROWS * len(part.rows)
        root = self._node(part, 0, targets, most_rows)
        leaves = [root]  # in the order in which they came, which decides between equal gains
        while len(leaves) < self.limits.max_leaves:
            node = max(leaves, key=lambda leaf: leaf.gain)
            if node.test is None:
                break
            parts = node.part.divided(self.encoding, node.test)
            yes, no = (self._node(p, node.depth + 1, targets, most_rows) for p in parts)
            node.branches = yes, no
            leaves.remove(node)
            leaves += [yes, no]
        values = np.zeros_like(targets.residual)
        for leaf in leaves:
            leaf.part.add(self.encoding, leaf.value, values)
        return root.tree(), values

    def _node(self, part: Part, depth: int, targets: Targets, most_rows: int) -> _Node:
        residual = self._summed(part, targets.residual)
        weight = self._summed(part, targets.weight)
        events = part.events()
        total, n = float(residual[events].sum()), float(weight[events].sum())
        node = _Node(part, depth, total / n if n else 0.0, n)
        if depth < self.limits.max_depth and n >= 2 * self.limits.min_samples_leaf:
            squares = float((residual[events] ** 2).sum())
            totals = Totals(residual, weight, total, n, squares)
            bindable = self._bindable if len(part.rows) <= most_rows else set()
            found = self._found(part, targets, totals, bindable)
            gain, node.test = self._best(part, totals, found)
            node.gain = float(f"{gain:.9g}")  # what rounding leaves does not order nodes
        return node

    def _summed(self, part: Part, values: Floats) -> Floats:
        """Event by event the sum over the labels before that are in a part."""
        out = np.zeros(len(values))
        for k in np.flatnonzero(part.labels):
            out += values[:, k]
        out[self._begins] = values[self._begins, 0] if part.start else 0.0
        return out

    def _found(
        self, part: Part, targets: Targets, totals: Totals, bindable: set[str]
    ) -> list[tuple[float, Test]]:
        """The tests that gain most of their kind: labels, literals and pairs of literals."""
        tests = [*self._labels(part, targets, totals)] if targets.before else []
        pool = self._counted(part, totals)
        tests += self._literals(pool, part, totals, bindable)
        if self.limits.look_ahead:
            for atom in self._introducing(pool[0], part.scope, bindable):
                rows, scope = yes_rows(self.encoding, part.scope, part.rows, atom)
                yes = Part(rows, scope, part.labels, part.start)
                more = self._counted(yes, totals, since=len(part.scope.names))
                tests += self._literals(more, yes, totals, bindable, (atom,))
        return tests

    def _counted(self, part: Part, totals: Totals, since: int = 0) -> list[Counted]:
        """The literals on one variable, the joins, and the attributes, which have no variable. With
        `since`, only those with a variable from this one on."""
        candidates, data = self.candidates, self.encoding.data
        scope, half = part.scope, part.scope.half
        examples = kernels.Examples(part.rows, totals.residual, totals.weight)
        n_variables = len(scope.names)
        features = _empty(candidates.features, n_variables)
        starts, numbers = candidates.features.starts, candidates.features.numbers
        kernels.count_features(
            data, examples, half, since, starts, numbers, features.sums, features.weights
        )
        out = [features]
        has_value = any(type_ != EVENT for type_ in scope.types)
        for literals, n_seconds, shift in (
            (candidates.event_joins, n_variables, 0),
            (candidates.value_joins, len(scope.types) if has_value else 0, 2 * half + 1),
        ):
            if len(literals) and n_seconds:
                joins = _empty(literals, n_variables, n_seconds, shift=shift)
                arrays = literals.starts, literals.numbers, literals.other
                kernels.count_joins(
                    data, examples, half, since, arrays, shift, joins.sums, joins.weights
                )
                out.append(joins)
        if len(candidates.attributes) and not since:
            out.append(_attributes(candidates.attributes, data, part.events(), totals))
        return out

    def _labels(self, part: Part, targets: Targets, totals: Totals) -> Iterator[tuple[float, Test]]:
        events = part.events()
        events = events[~self._begins[events]]
        sums, weights = (
            values[events].sum(axis=0) * part.labels
            for values in (targets.residual, targets.weight)
        )
        gains = self._gain(sums, weights, totals)
        for (k,) in self._largest(gains, totals):
            yield float(gains[k]), int(k)

    def _literals(
        self,
        pool: list[Counted],
        part: Part,
        totals: Totals,
        bindable: set[str],
        above: tuple[Atom, ...] = (),
    ) -> Iterator[tuple[float, Test]]:
        for found in pool:
            gains = self._gain(found.sums, found.weights, totals)
            for at in self._largest(gains, totals):
                atom = self._atom_at(found, part.scope, at, bindable)
                yield float(gains[tuple(at)]), (*above, atom)

    def _introducing(self, features: Counted, scope: Scope, bindable: set[str]) -> Iterator[Atom]:
        """The most general literals with new variables that hold in enough examples."""
        literals = features.literals
        general = np.array([not form.constants for form in literals.forms], bool)
        many = features.weights >= self.limits.min_samples_leaf
        for at in np.argwhere(many & general[literals.form]).tolist():
            atom = self._atom_at(features, scope, at, bindable)
            if any(v.name not in scope.names and not v.anonymous for v in atom.variables()):
                yield atom

    def _atom_at(self, found: Counted, scope: Scope, at: list[int], bindable: set[str]) -> Atom:
        """The literal at a place of what was counted; its new variables have names if bindable."""
        form = found.literals.forms[found.literals.form[at[1]]]
        relation = self.encoding.language.relations[form.relation]
        args: list[Term] = []
        types = []
        for i, code in enumerate(found.literals.codes[at[1], : relation.key[1]].tolist()):
            if i == form.anchor:
                args.append(Var(scope.names[at[0]]))
            elif i == form.joined:
                args.append(Var(scope.names[at[2] + found.shift]))
            elif code != FREE:
                args.append(self.encoding.vocabulary[code])
            else:
                args.append(Var("_"))
                if relation.types[i] in bindable:
                    types.append(relation.types[i])
        names = iter(scope.fresh(types))
        for i, arg in enumerate(args):
            if isinstance(arg, Var) and arg.anonymous and relation.types[i] in bindable:
                args[i] = Var(next(names))
        return Atom(relation.key[0], tuple(args))

    def _largest(self, gains: Floats, totals: Totals) -> list[list[int]]:
        """Where the gain is the largest, as far as numbers tell."""
        top = gains.max(initial=-np.inf)
        if not top > TIED * totals.squares:
            return []
        positions: list[list[int]] = np.argwhere(gains >= top - TIED * totals.squares).tolist()
        return positions

    def _best(
        self, part: Part, totals: Totals, found: list[tuple[float, Test]]
    ) -> tuple[float, Test | None]:
        """The test that gains most; of equal ones the first in order."""
        if not found:
            return 0.0, None
        top = max(gain for gain, _ in found)
        tied = [test for gain, test in found if gain >= top - TIED * totals.squares]
        return top, min(tied, key=lambda test: self._order(part.scope, test))

    def _gain(self, sums: Floats, weights: Floats, totals: Totals) -> Floats:
        """How much smaller the sum of squares gets by a division."""
        least, total, n = self.limits.min_samples_leaf, totals.total, totals.n
        good = (weights >= least) & (n - weights >= least)
        yes, no = np.where(good, weights, 1.0), np.where(good, n - weights, 1.0)
        gain = sums**2 / yes + (total - sums) ** 2 / no - total**2 / n
        return np.where(good, gain, -np.inf)

    def _order(self, scope: Scope, test: Test) -> tuple[int, str]:
        """Of tests that gain the same: those with few new variables first, then by their text."""
        text = text_of(test, self.labels)
        if isinstance(test, int):
            return 0, text
        new = {v.name for atom in test for v in atom.variables()} - {*scope.names}
        return len(new), text


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Candidates with the sum of the residuals, and the weight, of the examples they hold in. The
    axes are the anchor, the literal and, of joins, the second variable. `shift` is added to the
    number of the latter."""

    literals: Literals
    sums: Floats
    weights: Floats
    shift: int = 0


def _attributes(literals: Literals, data: kernels.Data, events: Ints, totals: Totals) -> Counted:
    """A sequence has its attributes at every event."""
    found = _empty(literals, 1)
    n_entries = np.diff(literals.starts)
    for values, out in ((totals.residual, found.sums), (totals.weight, found.weights)):
        of_sequence = np.bincount(data.first[events], values[events], minlength=len(n_entries))
        out[0] = np.bincount(literals.numbers, np.repeat(of_sequence, n_entries), len(literals))
    return found


def _empty(literals: Literals, n_anchors: int, *n_seconds: int, shift: int = 0) -> Counted:
    shape = (n_anchors, len(literals), *n_seconds)
    return Counted(literals, np.zeros(shape), np.zeros(shape), shift)
