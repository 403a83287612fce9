"""Which predicates of a program depend on which, and in what order they can be completed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

import numpy as np

from relynx.logic.dimensions import operator_dimension
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Comparison, Not, Rule, atom_of


@dataclass(frozen=True, slots=True)
class Dependency:
    """`head` needs `body`. A strict one needs all of it first: under `\\+`, or by an operator."""

    head: Key
    body: Key
    atom: Atom
    negated: bool
    strict: bool


def dependencies(rules: Sequence[Rule]) -> Iterator[Dependency]:
    """What each rule's head needs among the predicates that rules define."""
    heads = {rule.head.key for rule in rules}
    for rule in rules:
        for literal in rule.body:
            if isinstance(literal, Comparison):
                continue
            atom, negated = atom_of(literal), isinstance(literal, Not)
            dimension = operator_dimension(atom.key)
            body = atom.key if dimension is None else (f"next_{dimension}", 2)
            if body in heads:
                strict = negated or dimension is not None
                yield Dependency(rule.head.key, body, atom, negated, strict)


def _needs(rules: Sequence[Rule]) -> dict[Key, dict[Key, None]]:
    needs: dict[Key, dict[Key, None]] = {rule.head.key: {} for rule in rules}
    for edge in dependencies(rules):
        needs[edge.head][edge.body] = None
    return needs


def components(rules: Sequence[Rule]) -> list[list[Key]]:
    """The defined predicates in groups that depend on each other, each after what it needs."""
    # Imported here: only background knowledge needs it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    needs = _needs(rules)
    number = {key: i for i, key in enumerate(needs)}
    pairs = [(number[key], number[other]) for key, others in needs.items() for other in others]
    heads, bodies = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(heads)), (heads, bodies)), shape=[len(needs)] * 2)
    _, group_of = connected_components(graph, connection="strong")
    groups: dict[int, list[Key]] = {}
    for key, group in zip(needs, group_of.tolist(), strict=True):
        groups.setdefault(group, []).append(key)
    order = TopologicalSorter(dict.fromkeys(groups, ()))
    for head, body in zip(group_of[heads].tolist(), group_of[bodies].tolist(), strict=True):
        if head != body:
            order.add(head, body)
    return [groups[group] for group in order.static_order()]


def bad_cycles(rules: Sequence[Rule]) -> list[tuple[Dependency, list[Key]]]:
    """Every strict dependency inside a component, with the shortest path back to its head."""
    group_of = {key: i for i, group in enumerate(components(rules)) for key in group}
    needs = _needs(rules)
    return [
        (edge, _path(needs, edge.body, edge.head))
        for edge in dependencies(rules)
        if edge.strict and group_of[edge.head] == group_of[edge.body]
    ]


def _path(needs: dict[Key, dict[Key, None]], start: Key, end: Key) -> list[Key]:
    """The shortest chain of needs from one predicate to another, both included."""
    before: dict[Key, Key | None] = {start: None}
    queue = deque([start])
    while end not in before:
        key = queue.popleft()
        for other in needs[key]:
            if other not in before:
                before[other] = key
                queue.append(other)
    path: list[Key] = []
    at: Key | None = end
    while at is not None:
        path.append(at)
        at = before[at]
    return path[::-1]
