"""Relational regression trees: their tests, what they say of events, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Ints
from relynx.bias.modes import EVENT
from relynx.logic import tables as tb
from relynx.logic.terms import Atom, Var, constant_text
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.candidates import FREE
from relynx.models.tildecrf.encoding import EQUAL, Encoding

Test: TypeAlias = tuple[Atom, ...] | int

UNKNOWN = np.iinfo(np.int32).max  # the code of a constant that the sequences do not have


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of a node: the events of the window, then those that literals brought in.
    `types` are the types of the latter, in the order of their columns."""

    half: int
    names: tuple[str, ...]
    types: tuple[str, ...] = ()

    @classmethod
    def of_window(cls, half: int) -> Scope:
        """`E0` is the event itself, `E1` the next one, `E_1` the one before."""
        names = (f"E{j}" if j >= 0 else f"E_{-j}" for j in range(-half, half + 1))
        return cls(half, tuple(names))

    def type_(self, v: int) -> str:
        """The type of a variable."""
        return EVENT if v < len(self.names) - len(self.types) else self.types[v - 2 * self.half - 1]

    def fresh(self, types: list[str]) -> list[str]:
        """Names for new variables: `F1`, `F2` for events, `V1`, `V2` for values."""
        names, known = [], list(self.types)
        for type_ in types:
            known.append(type_)
            same = sum((k == EVENT) == (type_ == EVENT) for k in known)
            names.append(f"{'F' if type_ == EVENT else 'V'}{same}")
        return names

    def extended(self, names: list[str], types: list[str]) -> Scope:
        return Scope(self.half, (*self.names, *names), (*self.types, *types))


def yes_rows(encoding: Encoding, scope: Scope, rows: Ints, atom: Atom) -> tuple[Ints, Scope]:
    """The rows in which a literal holds, with its new variables; and the variables then."""
    number, relation = next(
        (i, r) for i, r in enumerate(encoding.language.relations) if r.key == atom.key
    )
    codes = np.full(encoding.cells.shape[1], FREE, np.int32)
    old, new = [], []
    for i, arg in enumerate(atom.args):
        if isinstance(arg, Var):
            if arg.name in scope.names:
                old.append((i, scope.names.index(arg.name)))
            elif not arg.anonymous:
                new.append(i)
        else:
            assert not isinstance(arg, tuple)
            code = encoding.vocabulary.code(arg)  # type: ignore[arg-type]
            codes[i] = UNKNOWN if code < 0 else code
    if len(old) > 1 and scope.type_(old[1][1]) == EVENT != scope.type_(old[0][1]):
        old.reverse()
    anchor = old[0] if old else (len(atom.args), -1)
    joined = old[1] if len(old) > 1 else (-1, 0)
    repeats = any(isinstance(arg, Var) and arg.anonymous for arg in atom.args)
    literal = np.array([number, anchor[1], anchor[0], *joined, repeats], np.int64)
    arguments = np.array(new, np.int64)
    nothing = np.empty((0, rows.shape[1] + len(new)), np.int32)
    data, n = encoding.data, len(rows)
    if new:
        n = kernels.divide(data, rows, scope.half, literal, codes, arguments, nothing)
    out = np.empty((n, nothing.shape[1]), np.int32)
    n = kernels.divide(data, rows, scope.half, literal, codes, arguments, out) if n else 0
    names = [str(atom.args[i]) for i in new]
    return out[:n], scope.extended(names, [relation.types[i] for i in new])


def literal_text(atom: Atom) -> str:
    """The literal as Prolog writes it."""
    if atom.key == EQUAL:
        left, right = (str(a) if isinstance(a, Var) else constant_text(a) for a in atom.args)  # type: ignore[arg-type]
        return f"{left} == {right}"
    return str(atom)


@dataclass(frozen=True, slots=True)
class Leaf:
    """An end of a tree: its value, and how many training examples came to it."""

    value: float
    n_examples: int


@dataclass(frozen=True, slots=True)
class Split:
    """A test and the trees of the examples that pass it and that do not. The test is a conjunction
    of literals, or that the label before is the one with a number. The variables of the literals
    are known in `yes`, and not in `no`."""

    test: Test
    yes: Tree
    no: Tree


Tree: TypeAlias = Leaf | Split


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The examples that came to a place of a tree. An example is an event and a label before it.
    `labels` says which labels before are still there, `start` whether the events that begin a
    sequence are; `rows` are the events, each as often as there are ways to bind the variables."""

    rows: Ints
    scope: Scope
    labels: Bools
    start: bool

    @classmethod
    def whole(cls, events: NDArray[np.integer], half: int, n_labels: int) -> Part:
        """All examples of some events."""
        rows = np.ascontiguousarray(events, np.int32)[:, None]
        return cls(rows, Scope.of_window(half), np.ones(n_labels, bool), True)

    def events(self) -> Ints:
        """The events, each once."""
        return tb.distinct(self.rows[:, 0])

    def divided(self, encoding: Encoding, test: Test) -> tuple[Part, Part]:
        """The examples that pass a test, and the others."""
        if isinstance(test, int):
            only = np.zeros_like(self.labels)
            only[test] = self.labels[test]
            rows = self.rows
            inside = encoding.first[rows[:, 0]] != rows[:, 0]
            yes = Part(rows[inside], self.scope, only, False)
            left = self.labels & ~only
            kept = inside & left.any() | ~inside & self.start
            return yes, Part(rows[kept], self.scope, left, self.start)
        found, scope = self.rows, self.scope
        for atom in test:
            found, scope = yes_rows(encoding, scope, found, atom)
        passed = np.zeros(encoding.n_events, bool)
        passed[found[:, 0]] = True
        others = self.rows[~passed[self.rows[:, 0]]]
        return (
            Part(found, scope, self.labels, self.start),
            Part(others, self.scope, self.labels, self.start),
        )

    def add(self, encoding: Encoding, value: float, out: Floats) -> None:
        """Add a value to all examples, in an array by event and label before."""
        events = self.events()
        begins = encoding.first[events] == events
        if self.start:
            out[events[begins], 0] += value
        out[np.ix_(events[~begins], self.labels)] += value


def add_values(tree: Tree, encoding: Encoding, part: Part, factor: float, out: Floats) -> None:
    """Add what a tree says of each example, times a factor, by event and label before."""
    if isinstance(tree, Leaf):
        part.add(encoding, factor * tree.value, out)
        return
    yes, no = part.divided(encoding, tree.test)
    for branch, examples in ((tree.yes, yes), (tree.no, no)):
        if len(examples.rows):
            add_values(branch, encoding, examples, factor, out)


def text_of(test: Test, labels: list[str]) -> str:
    """The test as Prolog writes it."""
    if isinstance(test, int):
        return f"prev({labels[test]})"
    return ", ".join(map(literal_text, test))


def tree_text(tree: Tree, labels: list[str]) -> str:
    """The tree as nested rules, one line a leaf or a test."""
    return "\n".join(_lines(tree, labels))


def _lines(tree: Tree, labels: list[str]) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield f"{round(tree.value, 12) + 0.0:+.3g}"  # what rounding left of 0 is 0
        return
    yield from _branch(f"if {text_of(tree.test, labels)}", tree.yes, labels)
    yield from _branch("else", tree.no, labels)


def _branch(head: str, tree: Tree, labels: list[str]) -> Iterator[str]:
    lines = list(_lines(tree, labels))
    if isinstance(tree, Leaf):
        yield f"{head}: {lines[0]}"
        return
    yield head
    yield from (f"    {line}" for line in lines)
