"""What the declarations of another system come to: types, modes, settings, and notes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, product

from relynx.bias.modes import EVENT
from relynx.errors import Problem, Source
from relynx.logic.dimensions import link_name
from relynx.logic.nodes import Node
from relynx.logic.terms import quoted

Mode = tuple[str, ...]

EVENT_NAMES = (EVENT, "e")
# Up to this number, each output may be old or new; of more, all are new or one is old.
MOST_FREE = 3
SHOWN_LINES = 5
HEAD = "a head is the class here: no pattern holds it"


@dataclass(slots=True)
class Translation:
    """Collects what was understood; `problems` is the list that what is wrong joins."""

    source: Source
    problems: list[Problem]
    broken: set[str] = field(default_factory=set)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    type_nodes: dict[str, Node] = field(default_factory=dict)
    modes: dict[str, list[Mode]] = field(default_factory=dict)
    mode_nodes: dict[tuple[str, Mode], tuple[Node, list[Node]]] = field(default_factory=dict)
    settings: dict[str, tuple[int, Node]] = field(default_factory=dict)  # ours; the last counts
    dimensions: dict[str, Node] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # notes on the whole
    has_event: bool = False  # whether the type that was named for events is there
    _notes: dict[str, list[int]] = field(default_factory=dict)
    _breaks: list[int] = field(init=False)  # the offsets at which lines end

    def __post_init__(self) -> None:
        self._breaks = [found.start() for found in re.finditer("\n", self.source.text)]

    def line(self, node: Node) -> int:
        return self.source.line_and_column(node.start)[0]

    def text(self, node: Node) -> str:
        return self.source.text[node.start : node.end]

    def note(self, offset: int, message: str) -> None:
        """Keep a note; a repeated one is kept once."""
        self._notes.setdefault(message, []).append(offset)

    def notes(self) -> tuple[str, ...]:
        """The notes in the order of the text, each with its lines."""
        ordered = sorted(self._notes.items(), key=lambda note: note[1][0])
        placed = (f"{self._lines(offsets)}: {message}" for message, offsets in ordered)
        return (*placed, *self.remarks)

    def _lines(self, offsets: Iterable[int]) -> str:
        lines = list(dict.fromkeys(bisect_left(self._breaks, offset) + 1 for offset in offsets))
        if len(lines) == 1:
            return f"line {lines[0]}"
        if len(lines) <= SHOWN_LINES:
            return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
        shown = ", ".join(map(str, lines[:SHOWN_LINES]))
        return f"lines {shown} and {len(lines) - SHOWN_LINES} more"

    def wrong(self, node: Node, message: str, hint: str | None = None) -> None:
        self.problems.append(node.problem(message, self.source, hint))

    def count(self, name: str, node: Node, value: Node, *, least: int = 1) -> int | None:
        """A whole number that a setting must have; a problem, and None, where it has not."""
        number = value.value
        if value.kind == "number" and isinstance(number, int) and number >= least:
            return number
        what = f"{name} must be a whole number of at least {least}, not {self.text(value)}"
        self.wrong(value, what)
        self.broken.add(name)
        return None

    def nothing(self, example: str) -> None:
        """A problem where there is no mode at all, unless other problems explain that."""
        if not self.modes and not self.problems:
            what = "there is no mode that a pattern could use"
            self.problems.append(Problem(what, self.source, hint=f"add {example}"))

    def add_type(self, name: str, types: Sequence[str], node: Node) -> None:
        self.types[name] = tuple(types)
        self.type_nodes[name] = node

    def add_modes(
        self, name: str, choices: Sequence[str], node: Node, args: Sequence[Node]
    ) -> None:
        """Modes of a predicate: for each argument the signs that it may have, the usual first."""
        free = [i for i, signs in enumerate(choices) if len(signs) > 1]
        if len(free) <= MOST_FREE:
            modes = list(product(*choices))
        else:
            usual = [signs[0] for signs in choices]
            modes = [tuple(usual)]
            modes += [(*usual[:i], choices[i][1], *usual[i + 1 :]) for i in free]
            what = "at most one of them is a variable that is there already"
            self.note(node.start, f"{quoted(name)} has {len(free)} outputs: {what}")
        if len(modes) > 1:  # an atom of new variables only joins nothing
            modes = [mode for mode in modes if set(mode) != {"-"}] or modes
        for mode in modes:
            if (name, mode) not in self.mode_nodes:
                self.modes.setdefault(name, []).append(mode)
                self.mode_nodes[name, mode] = node, [*args]

    def drop(self, name: str) -> None:
        """Forget the modes of a predicate that is not used."""
        self.types.pop(name, None)
        for mode in self.modes.pop(name, ()):
            del self.mode_nodes[name, mode]

    def find_links(self) -> set[str]:
        """Make dimensions of predicates such as next_s; the types of what they link are events."""
        found = set(EVENT_NAMES)
        for name in list(self.modes):
            link = link_name(name)
            types = self.types.get(name)
            if link is None or types is None:
                continue
            found |= set(types[-2:])
            node = self.type_nodes[name]
            if link[1] not in self.dimensions:
                self.dimensions[link[1]] = node
                what = f"{quoted(name)} links events: it is the dimension {link[1]}, without modes"
                self.note(node.start, what)
            self.drop(name)
        return found

    def name_events(self, event: str | None) -> None:
        """Give the types that hold events our name for them."""
        self.has_event = any(event in types for types in self.types.values())
        found = self.find_links() | ({event} if event is not None else set())
        self.types = {
            name: tuple(EVENT if type_name in found else type_name for type_name in types)
            for name, types in self.types.items()
        }
        known = list(dict.fromkeys(chain.from_iterable(self.types.values())))
        if known and EVENT not in known and event is None:
            what = f"none of the types ({', '.join(known)}) is that of events"
            self.remarks.append(f"{what}; if one is, name it as event when the bias is read")
