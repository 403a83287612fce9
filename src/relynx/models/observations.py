"""The facts of each single event as one ground atom: the observations of a sequence model."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from relynx.data.event_arguments import Argument, dimension_names
from relynx.data.event_order import learn_event_arguments, link_of, ordered_events
from relynx.data.sequences import Facts, Sequences
from relynx.logic.tables import Key, empty
from relynx.logic.terms import Atom, Constant, constant_text

PLAIN = Atom("event")  # an event without facts
NONE = np.empty(0, np.int32)

Row: TypeAlias = tuple[Atom, ...]
Fact: TypeAlias = tuple[Key, tuple[tuple[int, int], ...]]  # a predicate, (argument, code) each
EventFacts: TypeAlias = dict[int, list[Fact]]


class Observed(NamedTuple):
    """The observations of each sequence, and the argument that each of their arguments was."""

    rows: list[Row]
    sources: dict[Key, tuple[Argument, ...]]


def observations(
    X: Sequences, dimension: str | None = None, event_arguments: Iterable[Argument] | None = None
) -> list[Row]:
    """One ground atom for each event, in the order of a dimension.

    The facts about one event alone become one atom without the event: the predicates in order of
    name, joined by `_`, and their values one after the other. Facts that rules derive and facts
    that relate events are left out. An event without facts is the atom `event`. `event_arguments`
    are what `observed_arguments` found in the training sequences; None finds them in X.
    """
    return observed(X, dimension, event_arguments).rows


def observed(
    X: Sequences,
    dimension: str | None = None,
    event_arguments: Iterable[Argument] | None = None,
    among: Container[str] | None = None,
) -> Observed:
    """The observations; where `among` names predicates, of their facts only, derived ones too."""
    event_arguments = frozenset(
        observed_arguments(X, dimension) if event_arguments is None else event_arguments
    )
    events = ordered_events(X, dimension, event_arguments)
    facts = X.facts()
    facts_of: list[EventFacts] = [{event: [] for event in row} for row in events]
    linked = _linked(facts)
    for key, table in (X.tables if among is None else facts.tables).items():
        at = [i for i in range(key[1]) if (key, i) in event_arguments]
        if len(at) > 1 or _is_link(key, X) or (among is not None and key[0] not in among):
            continue
        for row, *codes in table.T.tolist():
            event = at[0] if at else _only_event(codes, facts_of[row], linked[row])
            if event is not None and codes[event] in facts_of[row]:
                values = tuple((i, code) for i, code in enumerate(codes) if i != event)
                facts_of[row][codes[event]].append((key, values))
    constants, known = list(facts.vocabulary), dict[tuple[Fact, ...], Atom]()
    sources: dict[Key, tuple[Argument, ...]] = {}
    rows = [
        tuple([_joined(tuple(about[event]), constants, known, sources) for event in row])
        for row, about in zip(events, facts_of, strict=True)
    ]
    return Observed(rows, sources)


def observed_arguments(X: Sequences, dimension: str | None = None) -> frozenset[Argument]:
    """The arguments that hold events, including predicates that only isolated events have. No link
    identifies an isolated event. If exactly one argument of such a predicate always holds what is
    an event elsewhere, it is taken for an event argument."""
    event_arguments, facts = learn_event_arguments(X, dimension), X.facts()
    link, known = link_of(X, dimension), {key for key, _ in event_arguments}
    stored = [
        (key, i) for key, i in {*event_arguments, (link, 0), (link, 1)} if key in facts.tables
    ]
    events = np.unique(np.concatenate([NONE, *(facts.tables[key][1 + i] for key, i in stored)]))
    found = set(event_arguments)
    for key, table in facts.tables.items():
        if key not in known and table.shape[1] and not _is_link(key, X):
            at = [i for i in range(key[1]) if np.isin(table[1 + i], events).all()]
            found |= {(key, i) for i in at if len(at) == 1}
    return frozenset(found)


def with_dimension(X: Sequences, name: str) -> Sequences:
    """The sequences themselves, or where no two events are linked, with links of none."""
    if name in X.dimensions:
        return X
    tables = dict(X.tables) | {(f"next_{name}", 2): empty(2)}
    return Sequences(X.vocabulary, tables, X.ids, None, X.background)


def _is_link(key: Key, X: Sequences) -> bool:
    return key[1] == 2 and key[0] in {f"next_{name}" for name in X.dimensions}


def _linked(facts: Facts) -> list[set[int]]:
    """What any dimension links, sequence by sequence."""
    linked: list[set[int]] = [set() for _ in range(facts.n_sequences)]
    for name in dimension_names(facts.tables):
        for row, first, second in facts.tables[f"next_{name}", 2].T.tolist():
            linked[row] |= {first, second}
    return linked


def _only_event(codes: list[int], events: EventFacts, linked: set[int]) -> int | None:
    """The argument that is an event, for a predicate without known event arguments."""
    at = [i for i, code in enumerate(codes) if code in events or code in linked]
    return at[0] if len(at) == 1 and codes[at[0]] in events else None


def _joined(
    facts: tuple[Fact, ...],
    constants: list[Constant],
    known: dict[tuple[Fact, ...], Atom],
    sources: dict[Key, tuple[Argument, ...]],
) -> Atom:
    """The facts about an event as one atom, whatever their order."""
    if facts not in known:
        ordered = sorted(
            facts,
            key=lambda fact: (fact[0], [constant_text(constants[code]) for _, code in fact[1]]),
        )
        atom = PLAIN
        if ordered:
            name = "_".join(key[0] for key, _ in ordered)
            atom = Atom(name, tuple(constants[code] for _, values in ordered for _, code in values))
        sources.setdefault(atom.key, tuple((key, i) for key, values in ordered for i, _ in values))
        known[facts] = atom
    return known[facts]
