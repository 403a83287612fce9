"""The coverage of the sequences of a search, kept with the patterns that it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
