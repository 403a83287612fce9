"""The events of each sequence in the order of a dimension."""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from relynx.data.roles import Place, dimension_names, event_keys
from relynx.data.sequences import Facts, Sequences
from relynx.errors import InputError, Problem, did_you_mean
from relynx.logic.tables import Key
from relynx.logic.terms import Constant, constant_text

Link: TypeAlias = tuple[int, int]

_DIGITS = re.compile(r"(\d+)")


def link_of(X: Sequences, dimension: str | None = None) -> Key:
    """The predicate that links the events of a dimension; None takes the first dimension."""
    known = X.dimensions
    if not known:
        what = "the sequences have no dimension: no event follows another"
        raise InputError(Problem(what, hint="link the events by facts such as next_s(e1,e2)"))
    if dimension is not None and dimension not in known:
        hint = did_you_mean(dimension, known) or f"give one of {', '.join(known)}"
        raise InputError(Problem(f"there is no dimension {dimension!r}", hint=hint))
    return f"next_{dimension or known[0]}", 2


def event_places(X: Sequences, dimension: str | None = None) -> frozenset[Place]:
    """The arguments that hold events of the dimension, in at least half of their facts.

    A sequence of one event has no link that would give the event away. Learn the places from the
    training sequences, and give them to `ordered_events` for others.
    """
    link, facts = link_of(X, dimension), X.facts()
    others = {(f"next_{name}", 2) for name in dimension_names(facts.tables)} - {link}
    tables = {key: table for key, table in facts.tables.items() if key not in others}
    if link not in tables:
        return frozenset()
    return frozenset(event_keys(tables, max(len(facts.vocabulary), 1))[1])


def ordered_events(
    X: Sequences, dimension: str | None = None, places: Iterable[Place] | None = None
) -> list[list[int]]:
    """The events of each sequence, as codes of `X.facts().vocabulary`.

    An event comes after all that it follows; those that the order leaves open go by their names,
    `e2` before `e10`.

    Parameters
    ----------
    X
        The sequences.
    dimension
        The order to follow; None takes the first.
    places
        What `event_places` found in the training sequences; None finds it in X.

    Raises
    ------
    InputError
        Where there is no such dimension, or the links of a sequence run in a circle.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.data.event_order import ordered_events
    >>> X, y = rx.from_lists([["a", "b", "a"]])
    >>> [[X.vocabulary[code] for code in row] for row in ordered_events(X)]
    [['e1', 'e2', 'e3']]
    """
    link, facts = link_of(X, dimension), X.facts()
    places = event_places(X, dimension) if places is None else places
    events: list[set[int]] = [set() for _ in range(len(X))]
    links: list[set[Link]] = [set() for _ in range(len(X))]
    for key, argument in {*places, (link, 0), (link, 1)}:
        if key in facts.tables:
            table = facts.tables[key]
            for row, code in zip(table[0].tolist(), table[1 + argument].tolist(), strict=True):
                events[row].add(code)
    if link in facts.tables:
        for row, first, second in facts.tables[link].T.tolist():
            links[row].add((first, second))
    rank = _ranks(facts)
    out = []
    for i, (mine, linked) in enumerate(zip(events, links, strict=True)):
        ordered = _in_order(mine, linked, rank)
        if len(ordered) < len(mine):
            left = sorted(mine - set(ordered), key=lambda code: rank[code])
            name = constant_text(facts.vocabulary[left[0]])
            what = f"sequence {X.ids[i]}: the links of {link[0]} run in a circle through {name}"
            hint = "take another dimension, or leave out one of the links"
            raise InputError(Problem(what, hint=hint))
        out.append(ordered)
    return out


def _in_order(events: set[int], links: set[Link], rank: list[int]) -> list[int]:
    """The events that no circle holds back, each after those before it."""
    waits = dict.fromkeys(events, 0)
    after: dict[int, list[int]] = {}
    for first, second in links:
        waits[second] += 1
        after.setdefault(first, []).append(second)
    free = [(rank[event], event) for event, n in waits.items() if not n]
    heapify(free)
    ordered = []
    while free:
        _, event = heappop(free)
        ordered.append(event)
        for later in after.get(event, ()):
            waits[later] -= 1
            if not waits[later]:
                heappush(free, (rank[later], later))
    return ordered


def _ranks(facts: Facts) -> list[int]:
    """The place of each constant in the order of their names."""
    ordered = sorted(range(len(facts.vocabulary)), key=lambda code: _name(facts.vocabulary[code]))
    rank = [0] * len(ordered)
    for place, code in enumerate(ordered):
        rank[code] = place
    return rank


def _name(constant: Constant) -> tuple[bool, float, list[tuple[int, int | str]], str]:
    """Numbers by size before text; in text, runs of digits count as numbers."""
    text = str(constant)
    if not isinstance(constant, str):
        return False, float(constant), [], text
    parts = [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(text) if p]
    return True, 0.0, parts, text
