"""Which patterns are matched in which way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Facts
from relynx.logic.terms import Atom
from relynx.mining.matching.bits.lines import LineMatcher
from relynx.mining.matching.bits.tries import TrieMatcher
from relynx.mining.patterns.trie import Rows, Trie

Numbers: TypeAlias = NDArray[np.int64]
Left: TypeAlias = tuple[Numbers, Numbers]  # patterns, and the sequences for which they are open
AT_ONCE = 2_000  # patterns whose atoms are held at a time
MANY = 20  # patterns that are worth matching along their trie


@dataclass(frozen=True, slots=True)
class Asked:
    """Patterns by their numbers from 0 on."""

    n: int
    atoms: Callable[[Numbers], list[tuple[Atom, ...]]]
    trie: tuple[Trie, Rows] | None = None  # where they were mined

    def parts(self, which: Numbers) -> Iterator[tuple[Numbers, list[tuple[Atom, ...]]]]:
        """Some patterns at a time with their atoms."""
        for start in range(0, len(which), AT_ONCE):
            part = which[start : start + AT_ONCE]
            yield part, self.atoms(part)


def cover(
    asked: Asked, facts: Facts, object_identity: bool, out: NDArray[np.bool_], n_threads: int
) -> list[Left]:
    """Fill the rows of `out` (n_patterns, n_sequences) as far as bits can; what is left."""
    left, others = np.arange(asked.n), []
    trie = asked.trie if asked.n >= MANY else None
    for lines in LineMatcher.each(facts):
        if trie is not None and len(lines.others):
            continue
        open_ = [left[:0]]
        for part, atoms in asked.parts(left):
            done = lines.cover(atoms, object_identity, part, out, n_threads)
            open_.append(part[~done])
            others.append((part[done], lines.others))
        left = np.concatenate(open_)
    if trie is not None and len(left) >= MANY:
        matcher = TrieMatcher.of(trie[0], trie[1][left], facts, object_identity)
        if matcher is not None:
            out[left] = matcher.coverage(trie[1][left], n_threads=n_threads)
            return others
    return [(left, np.arange(facts.n_sequences)), *others]
