"""The order of patterns: by length, then by canonical form, whatever search found them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relynx.logic import tables as tb
from relynx.mining.ordering.shapes import Shapes
from relynx.mining.patterns.trie import Rows, Trie


def canonical_order(trie: Trie, rows: Rows) -> Rows:
    """The rows by length, then by the canonical forms of their patterns.

    Forms are compared as their atoms are sorted: atom by atom, first by predicate, number of
    arguments and arguments, where a variable is its place among those of its atom and comes after
    integers, floats and texts; then by the numbers of the variables in the canonical form.
    """
    if len(rows) < 2:
        return rows
    columns = [trie.lengths(rows), *_form_columns(trie, rows)]
    return rows[np.argsort(tb.packed(columns), kind="stable")]


def pattern_numbers(trie: Trie, rows: Rows) -> NDArray[np.int32]:
    """A number for each row: two rows have the same one if they are variants of one pattern."""
    if not len(rows):
        return np.empty(0, np.int32)
    return tb.numbered(tb.packed(_form_columns(trie, rows)))[0]


def _form_columns(trie: Trie, rows: Rows) -> list[NDArray[np.int32]]:
    """Columns of numbers that compare as the canonical forms of the rows do."""
    smaller, own = trie.restricted(rows)
    atoms, variables = Shapes.of(smaller).written(own, for_reading=False)
    columns = []
    for j in range(atoms.shape[1]):
        columns += [atoms[:, j] + 1, *(variables[:, j].T + 1)]
    return columns
