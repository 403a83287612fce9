"""A pattern with its supports, and what tables and borders ask of a set of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
