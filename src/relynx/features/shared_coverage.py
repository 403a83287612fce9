"""A cache of coverage for searches in subsets of the same sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Sequences
from relynx.mining.patterns.pattern_set import PatternSet

Bits: TypeAlias = NDArray[np.uint8]  # eight sequences to a byte, one column a pattern
Cover: TypeAlias = Callable[[PatternSet], Bits]


class SharedCoverage:
    """Covers of all sequences, each pattern matched once, for searches that find the same ones.

    The searches of the pairs of classes do: what is frequent in a class is found with every other
    class. Where patterns come with their coverage, or are matched along their trie, all at once,
    nothing is kept.
    """

    def __init__(self, X: Sequences) -> None:
        self.X = X
        self._known: dict[str, NDArray[np.uint8]] = {}

    def of(self, part: NDArray[np.int64]) -> Cover:
        """What gives the packed coverage of some of the sequences."""
        X = self.X[part]

        def cover(patterns: PatternSet) -> Bits:
            if patterns.kept_coverage is not None:
                return np.asarray(patterns.training_coverage(packed=True))
            if not len(patterns) or patterns.matched_along_trie(X):
                return np.asarray(patterns.coverage(X, packed=True))
            whole = np.unpackbits(self._whole(patterns), axis=1, count=len(self.X))
            return np.packbits(whole[:, part], axis=1).T

        return cover

    def _whole(self, patterns: PatternSet) -> NDArray[np.uint8]:
        """The packed coverage of all sequences, one row a pattern."""
        texts = [*patterns.texts()]
        new = [i for i, text in enumerate(texts) if text not in self._known]
        if new:
            covered = np.ascontiguousarray(patterns[new].coverage(self.X, packed=True).T)
            self._known |= {texts[i]: bits for i, bits in zip(new, covered, strict=True)}
        return np.stack([self._known[text] for text in texts])
