"""Relations as tables: int32 arrays of shape (1 + arity, m), one column for each fact.

Row 0 holds the sequence of a fact, the other rows the codes of its arguments. A table is in order
when its columns are sorted (by row 0, then row 1, ...) and no two are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = NDArray[np.int32]
Key: TypeAlias = tuple[str, int]

PIECE = 1 << 16  # of many facts that are worked on at a time: what is computed stays in the caches


def empty(arity: int) -> Table:
    return np.empty((1 + arity, 0), np.int32)


def packed(rows: Sequence[NDArray[np.integer]] | Table) -> NDArray[np.int64]:
    """One int64 per column, in the order of the columns: their rows, or ranks if bits run out."""
    key = rows[0].astype(np.int64)
    bits = _bits(rows[0])
    for row in rows[1:]:
        more = _bits(row)
        if bits + more > 62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            bits = int(key.max(initial=0)).bit_length()
        key = (key << more) | row
        bits += more
    return key


def _bits(row: NDArray[np.integer]) -> int:
    return int(row.max(initial=0)).bit_length()


def distinct(values: NDArray[Any], *, in_runs: bool = False) -> NDArray[Any]:
    """The values sorted, each once, faster than `numpy.unique`; `in_runs` if in rising runs."""
    if _are_small(values):
        is_there = np.zeros(int(values.max()) + 1, bool)
        is_there[values] = True
        return np.flatnonzero(is_there).astype(values.dtype)
    ordered = np.sort(values, axis=None, kind="stable" if in_runs else None)
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def _are_small(values: NDArray[Any]) -> bool:
    """Whether a lookup table up to the largest value pays off."""
    if values.dtype.kind != "i" or not values.size:
        return False
    return bool(values.max() < 8 * values.size + (1 << 16) and values.min() >= 0)


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Numbers for the distinct values in their order, and where each occurs; none is negative."""
    if not _are_small(values):
        _, example, number = np.unique(values, return_index=True, return_inverse=True)
        return number.astype(np.int32), example
    position = np.full(int(values.max()) + 1, -1, np.int64)
    position[values] = np.arange(len(values))
    present = np.flatnonzero(position >= 0)
    example = position[present]
    position[present] = np.arange(len(present))
    return position[values].astype(np.int32), example


def in_order(table: Table) -> Table:
    """The table sorted and without duplicates."""
    if table.shape[1] < 2:
        return np.ascontiguousarray(table)
    key = packed(table)
    if np.all(key[1:] > key[:-1]):
        return np.ascontiguousarray(table)
    return np.ascontiguousarray(table[:, np.unique(key, return_index=True)[1]])


def offsets(table: Table, n_sequences: int) -> NDArray[np.int64]:
    """Where each sequence's facts begin: those of sequence i are columns o[i] to o[i+1]."""
    return np.searchsorted(table[0], np.arange(n_sequences + 1)).astype(np.int64)


def pieces(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of sequences with about `PIECE` facts each, by their `offsets`."""
    total = int(starts[-1])
    bounds = np.searchsorted(starts, np.arange(PIECE, total, PIECE), side="right") - 1
    ends = np.unique(np.concatenate([[0], bounds, [len(starts) - 1]])).tolist()
    return [*pairwise(ends)]


class Finder:
    """The positions of numbers below `size` in a sorted pool, by a lookup table if that pays."""

    def __init__(self, pool: NDArray[np.int64], size: int) -> None:
        self._pool = pool
        self._table: NDArray[np.int32] | None = None
        if size <= 8 * len(pool):
            self._table = np.full(size, -1, np.int32)
            self._table[pool] = np.arange(len(pool), dtype=np.int32)

    def __call__(self, values: NDArray[np.integer]) -> NDArray[np.int32]:
        """The position of each value, -1 where it is not in the pool."""
        if self._table is not None:
            found: NDArray[np.int32] = self._table[values]
            return found
        if not len(self._pool):
            return np.full(values.shape, -1, np.int32)
        at = np.minimum(np.searchsorted(self._pool, values), len(self._pool) - 1)
        return np.where(self._pool[at] == values, at, -1).astype(np.int32)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers start, start+1, ... of every range, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    each: NDArray[np.int64] = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return each
