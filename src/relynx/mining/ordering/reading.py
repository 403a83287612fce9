"""Patterns of a trie as atoms or text: how a pattern is written does not depend on its search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from relynx.logic import tables as tb
from relynx.logic.terms import Atom
from relynx.mining.ordering.shapes import Shapes
from relynx.mining.patterns.trie import Rows, Trie

T = TypeVar("T")
AT_ONCE = 1 << 13  # patterns


def written(trie: Trie, rows: Rows, render: Callable[[Atom], T]) -> Iterator[list[T]]:
    """For each row what `render` makes of the atoms of its pattern, one after the other.

    Atoms that are written alike are rendered once for a call.
    """
    known: dict[Atom, T] = {}
    for start in range(0, len(rows), AT_ONCE):
        smaller, own = trie.restricted(rows[start : start + AT_ONCE])
        shapes = Shapes.of(smaller)
        atoms, variables = shapes.written(own, for_reading=True)
        flat = variables.reshape(atoms.size, -1)
        kind, example = tb.numbered(tb.packed([atoms.ravel() + 1, *(flat.T + 1)]))
        rendered: list[T | None] = []
        for i in example.tolist():
            shape = int(atoms.flat[i])
            if shape < 0:
                rendered.append(None)
                continue
            atom = shapes.atom(shape, flat[i].tolist())
            if atom not in known:
                known[atom] = render(atom)
            rendered.append(known[atom])
        lines: list[list[int]] = kind.reshape(len(own), -1).tolist()
        for line in lines:
            yield [one for i in line if (one := rendered[i]) is not None]
