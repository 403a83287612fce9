"""A pattern with its supports, coverage of many, and what tables and borders ask of a set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Sequences
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.patterns.trie import Rows, Trie


@dataclass(frozen=True, slots=True)
class Entry:
    """A pattern of a set, and how many sequences of each class it covers."""

    pattern: Pattern
    length: int
    support: Mapping[object, int]

    @property
    def frequency(self) -> int:
        return sum(self.support.values())

    @property
    def confidence(self) -> dict[object, float]:
        """The share of each class in what the pattern covers."""
        n = self.frequency
        return {c: count / n if n else 0.0 for c, count in self.support.items()}

    def __str__(self) -> str:
        return str(self.pattern)


@dataclass(frozen=True, eq=False, slots=True)
class KeptCoverage:
    """Which sequences of the search each pattern covers, as bits."""

    bits: NDArray[np.uint64]  # shape (n_patterns, n_words): 64 sequences a word, the first lowest
    index: NDArray[np.int64]  # for each row of the trie that row of `bits`, -1 for none
    n_sequences: int

    @classmethod
    def of(
        cls, parts: Sequence[NDArray[np.uint64]], shown: NDArray[np.bool_], n_sequences: int
    ) -> KeptCoverage:
        """From what a search kept of the patterns that it shows, part by part."""
        index = np.where(shown, np.cumsum(shown) - 1, -1)
        none = np.empty((0, -(-n_sequences // 64)), np.uint64)
        return cls(np.concatenate([none, *parts]), index, n_sequences)

    @classmethod
    def of_rows(
        cls, bits: NDArray[np.uint64], rows: NDArray[np.int64], n_rows: int, n_sequences: int
    ) -> KeptCoverage:
        """From the bits of some of so many rows of a trie."""
        index = np.full(n_rows, -1)
        index[rows] = np.arange(len(rows))
        return cls(bits, index, n_sequences)

    def words(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The bits of some rows of the trie."""
        return self.bits[self.index[rows]]

    def matrix(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The coverage of some rows of the trie: an array of shape (n_sequences, n_patterns)."""
        octets = self.words(rows).astype("<u8", copy=False).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, count=self.n_sequences, bitorder="little")
        return bits.T.astype(bool)


class Entries(Protocol):
    """Patterns with their supports, as columns: what is asked of a `PatternSet`."""

    trie: Trie
    rows: Rows
    complete_up_to: int
    partial: str | None
    object_identity: bool

    @property
    def classes(self) -> tuple[object, ...]: ...
    @property
    def class_sizes(self) -> NDArray[np.int64]: ...
    @property
    def supports(self) -> NDArray[np.int32]: ...
    @property
    def frequencies(self) -> NDArray[np.int64]: ...
    @property
    def lengths(self) -> NDArray[np.int32]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Entry]: ...
    def __getitem__(self, index: slice | NDArray[np.bool_]) -> Self: ...
    def with_rows(self, rows: Rows, *, object_identity: bool | None = None) -> Self: ...
    def patterns(self) -> Iterator[Pattern]: ...
    def texts(self) -> Iterator[str]: ...
    def measure(self, name: str) -> NDArray[np.float64]: ...
    def coverage(self, X: Sequences) -> NDArray[Any]: ...
