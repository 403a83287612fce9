"""A sequence as a strip: its events in order, the facts of each, and the links between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relynx.data.event_arguments import Argument, dimension_names, event_keys
from relynx.data.sequences import Facts, counted
from relynx.data.sequences import Sequence as OneSequence
from relynx.errors import InputError, did_you_mean
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Constant, Var, constant_key, constant_text
from relynx.mining.matching.match import match
from relynx.mining.patterns.pattern import Pattern, parse_pattern

Link: TypeAlias = tuple[int, int]  # the positions of two events in the strip

COUNTED = 1000  # matches that are counted at most


@dataclass(frozen=True, slots=True)
class Strip:
    """A sequence, ready to be drawn."""

    events: tuple[Constant, ...]  # in the order of the first dimension
    facts: tuple[tuple[Atom, ...], ...]  # of each of them alone, as they were read
    links: Mapping[str, tuple[Link, ...]]  # of each dimension, in the order asked for
    predicates: tuple[str, ...]  # of the data, links left out: the same for all sequences of a set
    _numbers: Mapping[object, int]
    _places: frozenset[Argument]

    def position(self, constant: Constant) -> int | None:
        """The position of an event; None for what is no event."""
        return self._numbers.get(constant_key(constant))

    def events_of(self, atom: Atom) -> list[int]:
        arguments = _event_arguments(atom, self._places)
        return [self._numbers[constant_key(arg)] for _, arg in arguments]

    def values_of(self, atom: Atom) -> list[Constant]:
        events = {i for i, _ in _event_arguments(atom, self._places)}
        return [arg for i, arg in enumerate(atom.args) if i not in events]  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Match:
    """One match of a pattern: its bindings, its atoms, and the number of matches counted."""

    pattern: Pattern
    number: int
    bindings: Mapping[str, Constant]
    atoms: tuple[Atom, ...]
    n_matches: int

    @property
    def text(self) -> str:
        """Which match it is, and the bindings."""
        more = " or more" if self.n_matches >= COUNTED else ""
        pairs = [f"{name} = {constant_text(value)}" for name, value in self.bindings.items()]
        which = f"match {self.number + 1:,} of {self.n_matches:,}{more}"
        return f"{which}: {', '.join(pairs)}" if pairs else which


def strip_of(
    sequence: OneSequence, dimensions: Iterable[str] | None, object_identity: bool
) -> Strip:
    X = sequence.sequences
    facts = X.facts(object_identity)
    codes, places = _events(facts)
    if not codes:
        what = f"the sequence {constant_text(sequence.id)} has no events to draw"
        raise InputError(what, hint="print it to see its facts")
    known = dimension_names(facts.tables)
    pairs = {
        name: facts.tables[f"next_{name}", 2][1:].T.tolist() for name in _chosen(dimensions, known)
    }
    if dimensions is None:  # the one that links the most gives the order
        ordered = sorted(pairs, key=lambda name: -len(pairs[name]))
        pairs = {name: pairs[name] for name in [*ordered[:1], *pairs]}
    codes = in_order(codes, next(iter(pairs.values()), []))
    position = {code: i for i, code in enumerate(codes)}
    own: list[list[Atom]] = [[] for _ in codes]
    numbers = {constant_key(facts.vocabulary[code]): i for code, i in position.items()}
    for atom in sequence.atoms:
        among = _event_arguments(atom, places)
        if len(among) == 1 and not _is_link(atom.key):
            own[numbers[constant_key(among[0][1])]].append(atom)
    return Strip(
        tuple(facts.vocabulary[code] for code in codes),
        tuple(map(tuple, own)),
        {name: tuple((position[x], position[y]) for x, y in rows) for name, rows in pairs.items()},
        tuple(dict.fromkeys(key[0] for key in X.tables if not _is_link(key))),
        numbers,
        frozenset(places),
    )


def match_of(
    sequence: OneSequence, pattern: Pattern | str, number: int, object_identity: bool
) -> Match:
    """A match of a pattern by its number, from 0."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise InputError(f"match is {number!r}", hint="give the number of a match, 0 for the first")
    found = match(pattern, sequence, max(COUNTED, number + 1), object_identity)
    read = parse_pattern(pattern) if isinstance(pattern, str) else pattern
    name = constant_text(sequence.id)
    if not found:
        what = f"the pattern does not cover the sequence {name}: {read}"
        raise InputError(what, hint="relynx.covers(pattern, X) says which sequences it covers")
    if number >= len(found):
        matches = counted(len(found), "match")
        what = f"match is {number}: the pattern has {matches} in the sequence {name}"
        hint = f"give a number from 0 to {len(found) - 1}" if len(found) > 1 else "give 0"
        raise InputError(what, hint=hint)
    bindings, ground = found[number], []
    for atom in read.atoms:
        args = [bindings.get(a.name, a) if isinstance(a, Var) else a for a in atom.args]
        if not any(isinstance(a, Var) for a in args):
            ground.append(Atom(atom.predicate, tuple(args)))
    return Match(read, number, bindings, tuple(ground), len(found))


def in_order(events: Sequence[int], links: Sequence[Sequence[int]]) -> list[int]:
    """The events, each after those it follows, chain by chain; a circle begins with the first."""
    after: dict[int, list[int]] = {event: [] for event in events}
    waits_for = dict.fromkeys(events, 0)
    for x, y in links:
        after[x].append(y)
        waits_for[y] += 1
    linked = {event for link in links for event in link}
    rest = [*(e for e in events if e in linked), *(e for e in events if e not in linked)]
    ready = [event for event in reversed(rest) if not waits_for[event]]
    out: dict[int, None] = {}
    while len(out) < len(rest):
        event = ready.pop() if ready else next(event for event in rest if event not in out)
        if event in out:
            continue
        out[event] = None
        for follower in reversed(after[event]):
            waits_for[follower] -= 1
            if waits_for[follower] == 0:
                ready.append(follower)
    return list(out)


def _events(facts: Facts) -> tuple[list[int], set[Argument]]:
    """The codes of the events, without links the first arguments, and where facts hold them."""
    n = max(len(facts.vocabulary), 1)
    keys, places = event_keys(facts.tables, n)
    codes = (keys % n).tolist()
    if not codes:
        named = [key for key, table in facts.tables.items() if key[1] and table.shape[1]]
        places = {(key, 0) for key in named}
        codes = sorted({code for key in named for code in facts.tables[key][1].tolist()})
    return codes, places


def _chosen(dimensions: Iterable[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if dimensions is None:
        return known
    if isinstance(dimensions, str):
        raise InputError(f"dimensions is {dimensions!r}", hint="give a list of names")
    chosen = tuple(dict.fromkeys(dimensions))
    for name in chosen:
        if name not in known:
            there = f"give some of {', '.join(known)}" if known else "the sequence has none"
            hint = did_you_mean(str(name), known) or there
            raise InputError(f"unknown dimension {name!r}", hint=hint)
    return chosen


def _event_arguments(atom: Atom, places: Iterable[Argument]) -> list[tuple[int, Constant]]:
    """Those arguments of a ground atom that are events, with their numbers."""
    first = len(atom.args) - 2 if _is_link(atom.key) else len(atom.args)
    return [
        (i, arg)  # type: ignore[misc]
        for i, arg in enumerate(atom.args)
        if (atom.key, i) in places or i >= first
    ]


def _is_link(key: Key) -> bool:
    found = link_name(key[0])
    return found is not None and key[1] == OPERATORS[found[0]]
