"""All that a XES log says, in columns: what becomes facts is taken from here, and what does not
is here when the log is written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = tuple[int, ...]
Occurrence: TypeAlias = tuple[int, int]  # an attribute, and which of its occurrences in an element

OPEN, CLOSE = -1, -2  # in a shape, around what is nested in the attribute before
VALUES = "values"  # the element that holds the entries of a list
NUMBERS = ("int", "float")
TYPES = ("string", "date", *NUMBERS, "boolean", "id", "list", "container")
WITHOUT_VALUE = ("list", "container", VALUES)
MOST_ENTRIES = 20  # of a list become columns


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the head of a log, as it was written."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of events or of traces: the path that names it and what it is nested in, and its
    different values."""

    path: str
    tag: str
    key: str
    parent: int  # the number of what it is nested in, -1 for none
    texts: Sequence[str]  # as they are written


@dataclass(frozen=True, slots=True)
class Part:
    """The attributes of all events, or of all traces.

    `shapes` are the different lists of attributes that elements have, in the order of the file:
    numbers of attributes, with OPEN and CLOSE around nested ones. `codes` are the values, element
    by element: numbers among the texts of the attribute, -1 for none.
    """

    attributes: tuple[Attribute, ...]  # what there is in any of them
    shapes: tuple[Shape, ...]
    shape: NDArray[np.int32]  # for each element the number of its shape
    codes: NDArray[np.int32]
    _starts: NDArray[np.int64] = field(init=False)
    _by_shape: NDArray[np.int64] = field(init=False)  # the elements, those of one shape together
    _bounds: NDArray[np.int64] = field(init=False)  # where those of each shape begin
    _found: dict[Occurrence, list[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        n_values = np.array([sum(i >= 0 for i in shape) for shape in self.shapes] or [0])
        starts = np.concatenate([[0], np.cumsum(n_values[self.shape])])
        found: dict[Occurrence, list[tuple[int, int]]] = {}
        for number, shape in enumerate(self.shapes):
            seen: dict[int, int] = {}
            for position, i in enumerate(i for i in shape if i >= 0):
                seen[i] = seen.get(i, 0) + 1
                if seen[i] <= MOST_ENTRIES:
                    found.setdefault((i, seen[i] - 1), []).append((number, position))
        by_shape = np.argsort(self.shape, kind="stable")
        bounds = np.searchsorted(self.shape[by_shape], np.arange(len(self.shapes) + 1))
        made = {"_starts": starts, "_by_shape": by_shape, "_bounds": bounds, "_found": found}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.shape)

    def columns(self) -> dict[str, list[Occurrence]]:
        """The attributes that have values, by name; further entries of a list are numbered."""
        out: dict[str, list[Occurrence]] = {}
        for i, entry in sorted(self._found):
            one = self.attributes[i]
            if one.tag not in WITHOUT_VALUE:
                out.setdefault(one.path + (f"_{entry + 1}" if entry else ""), []).append((i, entry))
        return out

    def column(self, occurrence: Occurrence) -> NDArray[np.int32]:
        """For each element the number of the attribute's value, -1 for none."""
        out = np.full(len(self), -1, np.int32)
        for number, position in self._found[occurrence]:
            here = self._by_shape[self._bounds[number] : self._bounds[number + 1]]
            out[here] = self.codes[self._starts[here] + position]
        return out

    def element(self, i: int) -> tuple[Shape, list[int]]:
        start, end = self._starts[i], self._starts[i + 1]
        return self.shapes[self.shape[i]], self.codes[start:end].tolist()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Log:
    """A XES log. The events of trace i are those from `first[i]` to `first[i + 1]`."""

    root: Node  # the element `log`, with everything in it before and between the traces
    traces: Part
    events: Part
    first: NDArray[np.int64]
    lines: NDArray[np.int64]  # of the file, on which each event begins
    trace_lines: NDArray[np.int64]
    classifiers: Mapping[str, tuple[str, ...]]  # the keys of events that each joins, by its name
    declared: Mapping[str, tuple[str, ...]]  # the keys that all events or traces have, by scope
    notes: tuple[str, ...] = ()  # what was ignored, in sentences

    def __repr__(self) -> str:
        return f"<Log: {len(self.traces):,} traces, {len(self.events):,} events>"
