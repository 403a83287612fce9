"""Relations as tables: int32 arrays of shape (1 + arity, m), one column for each fact.

Row 0 holds the sequence of a fact, the other rows the codes of its arguments. A table is in order
when its columns are sorted (by row 0, then row 1, ...) and no two are equal.

For joins, rows of codes are packed into keys that sort as the rows do: one int64 where the bits
suffice, else bytes. A key array is all that sorting, searching and merging need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Ints, Longs
from relynx.logic.arithmetic import Constants

Table: TypeAlias = NDArray[np.int32]
Key: TypeAlias = tuple[str, int]
Keys: TypeAlias = NDArray[Any]
Frame: TypeAlias = dict[str, Ints]
"""Bindings: a column for each variable, and the column SEQUENCE."""

SEQUENCE = ""

PIECE = 1 << 16  # of many facts that are worked on at a time: what is computed stays in the caches


def empty(arity: int) -> Table:
    return np.empty((1 + arity, 0), np.int32)


def packed(rows: Sequence[NDArray[np.integer]] | Table) -> Longs:
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
    return ordered[first_of_each(ordered)]


def _are_small(values: NDArray[Any]) -> bool:
    """Whether a lookup table up to the largest value pays off."""
    if values.dtype.kind != "i" or not values.size:
        return False
    return bool(values.max() < 8 * values.size + (1 << 16) and values.min() >= 0)


def numbered(values: Longs) -> tuple[Ints, Longs]:
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


def offsets(table: Table, n_sequences: int) -> Longs:
    """Where each sequence's facts begin: those of sequence i are columns o[i] to o[i+1]."""
    return np.searchsorted(table[0], np.arange(n_sequences + 1)).astype(np.int64)


def pieces(starts: Longs) -> list[tuple[int, int]]:
    """Ranges of sequences with about `PIECE` facts each, by their `offsets`."""
    total = int(starts[-1])
    bounds = np.searchsorted(starts, np.arange(PIECE, total, PIECE), side="right") - 1
    return [*pairwise(np.unique(np.concatenate([[0], bounds, [len(starts) - 1]])).tolist())]


class Finder:
    """The positions of numbers below `size` in a sorted pool, by a lookup table if that pays."""

    def __init__(self, pool: Longs, size: int) -> None:
        self._pool = pool
        self._table: Ints | None = None
        if size <= 8 * len(pool):
            self._table = np.full(size, -1, np.int32)
            self._table[pool] = np.arange(len(pool), dtype=np.int32)

    def __call__(self, values: NDArray[np.integer]) -> Ints:
        """The position of each value, -1 where it is not in the pool."""
        if self._table is not None:
            return np.asarray(self._table[values])
        if not len(self._pool):
            return np.full(values.shape, -1, np.int32)
        at = np.minimum(np.searchsorted(self._pool, values), len(self._pool) - 1)
        return np.where(self._pool[at] == values, at, -1).astype(np.int32)


def ranges(starts: Longs, lengths: Longs) -> Longs:
    """The numbers start, start+1, ... of every range, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - lengths), lengths))


class Packing:
    """How rows, of a sequence number and codes of `constants`, become keys. The layout depends on
    the number of rows alone, so keys stay comparable until codes outgrow their bits and keys change
    from int64 to bytes."""

    def __init__(self, n_sequences: int, constants: Constants) -> None:
        self._sequence_bits = max(n_sequences - 1, 1).bit_length()
        self._constants = constants

    def _bits(self, n_rows: int) -> int:
        """The bits of one code in an int64 key, or 0 where bytes are needed."""
        bits = (63 - self._sequence_bits) // max(n_rows - 1, 1)
        return bits if len(self._constants) <= 1 << bits else 0

    def pack(self, rows: Sequence[Ints] | Table) -> Keys:
        bits = self._bits(len(rows))
        if not bits:
            table = np.ascontiguousarray(np.stack(list(rows), axis=1).astype(">u4"))
            return table.view(f"S{4 * len(rows)}").ravel()
        keys = rows[0].astype(np.int64)
        for row in rows[1:]:
            keys <<= bits
            keys |= row
        return keys

    def unpack(self, keys: Keys, n_rows: int) -> Table:
        if keys.dtype != np.int64:
            rows = keys.view(">u4").reshape(-1, n_rows)
            return np.ascontiguousarray(rows.T.astype(np.int32))
        table = np.empty((n_rows, len(keys)), np.int32)
        bits = (63 - self._sequence_bits) // max(n_rows - 1, 1)
        for row in range(n_rows - 1, 0, -1):
            table[row] = keys & ((1 << bits) - 1)
            keys = keys >> bits
        table[0] = keys
        return table

    def repack(self, keys: Keys, n_rows: int) -> Keys:
        """The keys in the form that `pack` gives now."""
        if keys.dtype == np.int64 and not self._bits(n_rows):
            return self.pack(self.unpack(keys, n_rows))
        return keys

    def distinct_rows(self, frame: Frame) -> Frame:
        """The rows of a frame in order, each once; its first column is the sequence."""
        keys = self.pack(list(frame.values()))
        if in_strict_order(keys):
            return frame
        order = np.argsort(keys, kind="stable")
        return taken(frame, order[first_of_each(keys[order])])


def taken(frame: Frame, rows: Longs) -> Frame:
    return {name: column[rows] for name, column in frame.items()}


def in_strict_order(keys: Keys) -> bool:
    return bool(np.all(keys[1:] > keys[:-1]))


def first_of_each(keys: Keys) -> Bools:
    """Where, in sorted keys, a new value begins."""
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def member(keys: Keys, pool: Keys) -> Bools:
    """Which keys occur in a sorted pool."""
    if not len(pool):
        return np.zeros(len(keys), bool)
    at = np.searchsorted(pool, keys)
    at[at == len(pool)] = 0
    return np.asarray(pool[at] == keys)


@dataclass(frozen=True, slots=True)
class Index:
    """Rows grouped by key: group i holds `order[starts[i]:starts[i + 1]]`."""

    keys: Keys
    starts: Longs
    order: Longs

    @classmethod
    def of(cls, keys: Keys) -> Index:
        order = np.arange(len(keys))
        if len(keys) > 1 and not np.all(keys[1:] >= keys[:-1]):
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        starts = np.flatnonzero(first_of_each(keys))
        return cls(keys[starts], np.append(starts, len(keys)), order)

    def find(self, keys: Keys) -> tuple[Longs, Longs]:
        """For each key where its group starts in `order`, and how long it is."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        group = np.searchsorted(self.keys, keys)
        group[group == len(self.keys)] = 0
        lengths = self.starts[group + 1] - self.starts[group]
        return self.starts[group], np.where(self.keys[group] == keys, lengths, 0)


@dataclass(slots=True, eq=False)
class Relation:
    """A growing set of facts: sorted runs of keys, each at most half as long as the one before, so
    that a fact is merged a logarithmic number of times."""

    n_rows: int
    packing: Packing
    runs: list[Keys] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def fresh(self, table: Table) -> Keys:
        """The keys of those facts that the set lacks, in order."""
        keys = distinct(self.packing.pack(table))
        self.runs = [self.packing.repack(run, self.n_rows) for run in self.runs]
        for run in self.runs:
            keys = keys[~member(keys, run)]
        return keys

    def add(self, keys: Keys) -> Table:
        """Add what `fresh` gave; returns it as a table."""
        if len(keys):
            self.runs.append(keys)
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            self._merge_last()
        return self.packing.unpack(keys, self.n_rows)

    def _merge_last(self) -> None:
        both = np.concatenate([self.runs.pop(), self.runs.pop()])
        both.sort(kind="stable")  # merges two sorted runs in linear time
        self.runs.append(both)

    def table(self) -> Table:
        if not self.runs:
            return empty(self.n_rows - 1)
        while len(self.runs) > 1:
            self._merge_last()
        return self.packing.unpack(self.runs[0], self.n_rows)
