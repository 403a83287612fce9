"""Relational regression trees: what they are, what they say of events, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.logic import tables as tb
from relynx.logic.terms import Atom
from relynx.models.tildecrf.encoding import Encoding, Ints
from relynx.models.tildecrf.literals import Scope, literal_text, yes_rows

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Test: TypeAlias = tuple[Atom, ...] | int


@dataclass(frozen=True, slots=True)
class Leaf:
    """An end of a tree: its value, and how many training examples came to it."""

    value: float
    n_examples: int


@dataclass(frozen=True, slots=True)
class Split:
    """A test and the trees of the examples that pass it and that do not.

    The test is a conjunction of literals, or that the label before is the one with a number. The
    variables of the literals are known in `yes`, and not in `no`.
    """

    test: Test
    yes: Tree
    no: Tree


Tree: TypeAlias = Leaf | Split


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The examples that came to a place of a tree.

    An example is an event and a label before it. `labels` says which labels before are still
    there, `start` whether the events that begin a sequence are; `rows` are the events, each as
    often as there are ways to bind the variables.
    """

    rows: Ints
    scope: Scope
    labels: Flags
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
