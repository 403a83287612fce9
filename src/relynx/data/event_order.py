"""The events of each sequence in the order of a dimension."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np

from relynx.data.event_arguments import Argument, dimension_names, event_keys
from relynx.data.sequences import Sequences
from relynx.errors import InputError, did_you_mean
from relynx.logic.tables import Key
from relynx.logic.terms import Constant, constant_text

Link: TypeAlias = tuple[int, int]

_DIGITS = re.compile("([0-9]+)")


def link_of(X: Sequences, dimension: str | None = None) -> Key:
    """The predicate that links events; without a `dimension`, of the one with the most links."""
    known = X.dimensions
    if not known:
        what = "the sequences have no dimension: no event follows another"
        raise InputError(what, hint="link the events by facts such as next_s(e1,e2)")
    if dimension is not None and dimension not in known:
        hint = did_you_mean(dimension, known) or f"give one of {', '.join(known)}"
        raise InputError(f"there is no dimension {dimension!r}", hint=hint)
    links = {name: (f"next_{name}", 2) for name in sorted(known)}
    if dimension is not None:
        return links[dimension]
    tables = X.facts().tables
    return max(links.values(), key=lambda key: tables[key].shape[1] if key in tables else 0)


def learn_event_arguments(X: Sequences, dimension: str | None = None) -> frozenset[Argument]:
    """The arguments that hold events of the dimension, in at least half of their facts: a sequence
    of one event has no link to identify it."""
    link, facts = link_of(X, dimension), X.facts()
    others = {(f"next_{name}", 2) for name in dimension_names(facts.tables)} - {link}
    tables = {key: table for key, table in facts.tables.items() if key not in others}
    if link not in tables:
        return frozenset()
    n_constants = max(len(facts.vocabulary), 1)
    events, arguments = event_keys(tables, n_constants)
    # The arguments beside an event may hold events too, if not such as the dimension links.
    beside: set[Argument] = set()
    ordered = np.unique(events // n_constants)
    for key in {key for key, _ in arguments}:
        row, *columns = tables[key][:, np.isin(tables[key][0], ordered)].astype(np.int64)
        for i, column in enumerate(columns):
            known = np.isin(row * n_constants + column, events).sum()
            if len(row) and 2 * known >= len(row):
                beside.add((key, i))
    return frozenset(arguments | beside)


def ordered_events(
    X: Sequences, dimension: str | None = None, arguments: Iterable[Argument] | None = None
) -> list[list[int]]:
    """The events of each sequence, as codes of `X.facts().vocabulary`, each after all that it
    follows; those that the order leaves open go by their names, `e2` before `e10`. `arguments` are
    those that `learn_event_arguments` found in the training sequences."""
    link, facts = link_of(X, dimension), X.facts()
    arguments = learn_event_arguments(X, dimension) if arguments is None else arguments
    events: list[set[int]] = [set() for _ in range(len(X))]
    links: list[set[Link]] = [set() for _ in range(len(X))]
    for key, argument in {*arguments, (link, 0), (link, 1)}:
        if key in facts.tables:
            table = facts.tables[key]
            for row, code in zip(table[0].tolist(), table[1 + argument].tolist(), strict=True):
                events[row].add(code)
    if link in facts.tables:
        for row, first, second in facts.tables[link].T.tolist():
            links[row].add((first, second))
    names = facts.vocabulary
    by_name = sorted(range(len(names)), key=lambda code: _name(names[code]))
    rank: list[int] = np.argsort(by_name).tolist()
    out = []
    for i, (mine, linked) in enumerate(zip(events, links, strict=True)):
        ordered = _in_order(mine, linked, rank)
        if len(ordered) < len(mine):
            left = sorted(mine - set(ordered), key=lambda code: rank[code])
            name = constant_text(facts.vocabulary[left[0]])
            what = f"sequence {X.ids[i]}: the links of {link[0]} run in a circle through {name}"
            raise InputError(what, hint="take another dimension, or leave out one of the links")
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


def _name(constant: Constant) -> tuple[bool, float, list[tuple[int, str]], str]:
    """Numbers by size before text; in text, runs of digits count as numbers."""
    if not isinstance(constant, str):
        return False, constant, [], constant_text(constant)
    return True, 0, [_part(part) for part in _DIGITS.split(constant) if part], constant


def _part(text: str) -> tuple[int, str]:
    """Digits by their number before other text: the longer is the larger, if no 0 leads."""
    if not "0" <= text[0] <= "9":
        return sys.maxsize, text
    digits = text.lstrip("0")
    return len(digits), digits
