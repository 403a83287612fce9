"""A sequence as a strip: its events in order, the facts of each, the links between them.

The layout of a strip is in inches: boxes in rows, arcs above them, tracks of links below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
from relynx.mining.wording import visible
from relynx.plots.canvas import CHARACTER, LINE, wrapped

Link: TypeAlias = tuple[int, int]  # the positions of two events in the strip

COUNTED = 1000  # matches that are counted at most
WIDEST = 12.0  # of a row of events
MOST_ROWS = 30
GAP = 0.2  # between two boxes
TRACK, ARC = 0.55, 0.3  # for a dimension, and for a level of arcs of a match
LONGEST, MOST_LINES = 14, 12  # characters of a line in a box, and lines


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
        return [self._numbers[constant_key(arg)] for _, arg in _event_arguments(atom, self._places)]

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


@dataclass(frozen=True, slots=True)
class Arc:
    """A link or relation of the match: two events, what it is called, and how high it goes."""

    ends: Link
    text: str
    level: int


class Layout:
    """The coordinates of everything; y goes down from 0."""

    def __init__(self, strip: Strip, found: Match | None) -> None:
        self.strip = strip
        n = len(strip.events)
        atoms = () if found is None else tuple(dict.fromkeys(found.atoms))
        self.marked = {i for atom in atoms for i in strip.events_of(atom)}
        self.labels = [self._label(i, atoms) for i in range(n)]  # lines in the box of each event
        self.names = [self._name(i, found) for i in range(n)]  # and below it
        # Links that are arrows between neighbours, and those that are arcs below the boxes.
        self.order, self.tracks = _tracks(strip)
        self.arcs = levels(self._relations(atoms))
        lines = [line for label in self.labels for line, _ in label]
        self.box_width = max(map(len, [*lines, *self.names, "four"])) * CHARACTER + 0.12
        self.box_height = max(max(map(len, self.labels)), 1) * LINE + 0.12
        self.left = 0.3 + CHARACTER * max(map(len, self.tracks), default=0)
        self._step = self.box_width + GAP
        self.per_row = min(n, max(3, int((WIDEST - self.left) / self._step)))
        self.width = max(self.left + self.per_row * self._step, 3.5)
        self.rows = self._rows()
        self.notes: dict[int, int] = {}  # after which rows how many events are left out
        self._tops, self.height = self._stacked()

    def x(self, i: int) -> float:
        """The middle of an event."""
        return self.left + (i % self.per_row + 0.5) * self._step

    def top(self, i: int) -> float:
        """The upper edge of the box of an event."""
        return self._tops[i // self.per_row]

    def track(self, i: int, k: int) -> float:
        """The upper edge of a track below an event."""
        return self.top(i) - self.box_height - LINE - 0.1 - TRACK * k

    def bottom(self, row: int) -> float:
        return self._tops[row] - self.box_height - LINE - 0.1 - TRACK * len(self.tracks)

    def drawn(self, i: int) -> bool:
        return i // self.per_row in self._tops

    def same_row(self, x: int, y: int) -> bool:
        return x // self.per_row == y // self.per_row

    def _rows(self) -> list[int]:
        """All rows; of too many those with a match, and the first."""
        rows = range(-(-len(self.strip.events) // self.per_row))
        matched = {i // self.per_row for i in self.marked}
        return sorted(sorted(rows, key=lambda row: row not in matched)[:MOST_ROWS])

    def _stacked(self) -> tuple[dict[int, float], float]:
        """The upper edge of the boxes of each row, and the height of all."""
        tops: dict[int, float] = {}
        y, n = 0.0, len(self.strip.events)
        ends = [*self.rows[1:], -(-n // self.per_row)]
        for row, following in zip(self.rows, ends, strict=True):
            tops[row] = y - self._above(row)
            y = tops[row] - self.box_height - LINE - 0.2 - TRACK * len(self.tracks)
            missing = min(following * self.per_row, n) - min((row + 1) * self.per_row, n)
            if missing:
                self.notes[row] = missing
                y -= 2 * LINE
        return tops, -y

    def _above(self, row: int) -> float:
        """The height of the arcs over a row."""
        here = [arc for arc in self.arcs if row in {i // self.per_row for i in arc.ends}]
        return ARC * max(arc.level for arc in here) + 0.25 if here else 0.1

    def _label(self, i: int, atoms: Iterable[Atom]) -> list[tuple[str, bool]]:
        """The facts of an event; those that rules derive and the pattern uses come last."""
        given = self.strip.facts[i]
        derived = [a for a in atoms if a not in given and self.strip.events_of(a) == [i]]
        lines = []
        for atom in [*given, *derived]:
            lines += [(line, True) for line in wrapped(atom.predicate, LONGEST, 2)]
            for value in self.strip.values_of(atom):
                lines += [(line, False) for line in wrapped(str(value), LONGEST, 3)]
        return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], ("...", False)]

    def _name(self, i: int, found: Match | None) -> str:
        """An event, after the variables bound to it."""
        bindings = {} if found is None or i not in self.marked else found.bindings
        variables = [name for name, value in bindings.items() if self.strip.position(value) == i]
        [name] = wrapped(str(self.strip.events[i]), LONGEST, 1)
        return " = ".join([*variables, name])

    def _relations(self, atoms: Iterable[Atom]) -> Iterator[tuple[Link, str]]:
        for atom in atoms:
            ends = self.strip.events_of(atom)
            values = map(str, self.strip.values_of(atom))
            for link in pairwise(ends):
                yield link, visible(" ".join([atom.predicate, *values]))


def levels(relations: Iterable[tuple[Link, str]]) -> list[Arc]:
    """Arcs, each above the shorter ones that it spans; what joins the same events is one."""
    texts: dict[Link, list[str]] = {}
    for ends, text in relations:
        texts.setdefault(ends, []).append(text)
    arcs: list[Arc] = []
    for ends in sorted(texts, key=lambda link: abs(link[0] - link[1])):
        low, high = sorted(ends)
        below = [arc.level for arc in arcs if min(arc.ends) < high and low < max(arc.ends)]
        arcs.append(Arc(ends, ", ".join(texts[ends]), max(below, default=0) + 1))
    return arcs


def _tracks(strip: Strip) -> tuple[list[Link], dict[str, list[Link]]]:
    """The links between neighbours in the first dimension, and all others by dimension."""
    order: list[Link] = []
    tracks: dict[str, list[Link]] = {}
    for k, (name, links) in enumerate(strip.links.items()):
        for link in links:
            if k == 0 and link[1] == link[0] + 1:
                order.append(link)
            else:
                tracks.setdefault(name, []).append(link)
    return order, tracks
