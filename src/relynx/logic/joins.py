"""Sets of rows and joins between them, vectorised.

Rows of codes are packed into keys that sort as the rows do: one int64 where the bits suffice,
else bytes. A key array is all that sorting, searching and merging need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.logic.arithmetic import Codes, Constants, Mask
from relynx.logic.tables import Table, distinct

Keys: TypeAlias = NDArray[Any]
Positions: TypeAlias = NDArray[np.int64]
Frame: TypeAlias = dict[str, Codes]
"""Bindings: a column for each variable, and the column SEQUENCE."""

SEQUENCE = ""


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

    def pack(self, rows: Sequence[Codes] | Table) -> Keys:
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


def taken(frame: Frame, rows: Positions) -> Frame:
    return {name: column[rows] for name, column in frame.items()}


def in_strict_order(keys: Keys) -> bool:
    return bool(np.all(keys[1:] > keys[:-1]))


def first_of_each(keys: Keys) -> Mask:
    """Where, in sorted keys, a new value begins."""
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def member(keys: Keys, pool: Keys) -> Mask:
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
    starts: Positions
    order: Positions

    @classmethod
    def of(cls, keys: Keys) -> Index:
        order = np.arange(len(keys))
        if len(keys) > 1 and not np.all(keys[1:] >= keys[:-1]):
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        starts = np.flatnonzero(first_of_each(keys))
        return cls(keys[starts], np.append(starts, len(keys)), order)

    def find(self, keys: Keys) -> tuple[Positions, Positions]:
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
            return np.empty((self.n_rows, 0), np.int32)
        while len(self.runs) > 1:
            self._merge_last()
        return self.packing.unpack(self.runs[0], self.n_rows)
