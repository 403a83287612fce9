"""The layout of a strip, in inches: boxes in rows, arcs above them, tracks of links below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from relynx.logic.terms import Atom
from relynx.mining.wording import visible
from relynx.plots.canvas import CHARACTER, LINE, wrapped
from relynx.plots.strip import Link, Match, Strip

WIDEST = 12.0  # of a row of events
MOST_ROWS = 30
GAP = 0.2  # between two boxes
TRACK, ARC = 0.55, 0.3  # for a dimension, and for a level of arcs of a match
LONGEST, MOST_LINES = 14, 12  # characters of a line in a box, and lines


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
        longest = max(map(len, [*lines, *self.names, "four"]))
        self.box_width = longest * CHARACTER + 0.12
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
        ordered = sorted(rows, key=lambda row: row not in matched)
        return sorted(ordered[:MOST_ROWS])

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
