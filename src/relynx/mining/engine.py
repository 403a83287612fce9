"""What the engines of the miner share: conditions, tallies, what is found and what is forbidden."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relynx.logic.terms import Atom, Var
from relynx.mining.language import Compiled

Longs = NDArray[np.int64]
UNUSED = -(1 << 40)  # where an atom has fewer arguments than there is room for


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a pattern must satisfy to be kept, and refined."""

    least: Longs  # for each class the smallest support that suffices by itself
    min_frequency: int
    max_length: int
    steps: tuple[int, ...]  # of links: 0 is follow, 1 next
    is_key: Callable[[Atom], bool] | None = None
    forbids: Callable[[Sequence[Atom]], bool] | None = None
    admits: Callable[[Atom], bool] | None = None


@dataclass(slots=True)
class Level:
    """Tallies of one length.

    What came nearest to a threshold, and how many came as near; for `min_frequency` among those
    that have enough support.
    """

    occurred: int = 0
    infrequent: int = 0
    unsupported: int = 0
    forbidden: int = 0
    kept: int = 0
    nearest_share: float = 0.0
    n_nearest_share: int = 0
    nearest_frequency: int = 0
    n_nearest_frequency: int = 0

    def note_frequency(self, frequencies: NDArray[np.int64]) -> None:
        """Candidates that were too rare."""
        most = int(frequencies.max(initial=0))
        self.note_nearest_frequency(most, int((frequencies == most).sum()))

    def note_share(self, shares: NDArray[np.float64]) -> None:
        """Candidates that had too little support."""
        most = float(shares.max(initial=0.0))
        self.note_nearest_share(most, int((shares == most).sum()))

    def note_nearest_frequency(self, most: int, n: int) -> None:
        if most > self.nearest_frequency:
            self.nearest_frequency, self.n_nearest_frequency = most, 0
        if most and most == self.nearest_frequency:
            self.n_nearest_frequency += n

    def note_nearest_share(self, most: float, n: int) -> None:
        if most > self.nearest_share:
            self.nearest_share, self.n_nearest_share = most, 0
        if most and most == self.nearest_share:
            self.n_nearest_share += n

    def add(self, stats: NDArray[np.float64]) -> None:
        """The tallies of a compiled loop, in the order of `STATS`."""
        self.occurred += int(stats[0])
        self.infrequent += int(stats[1])
        self.unsupported += int(stats[2])
        self.note_nearest_frequency(int(stats[3]), int(stats[4]))
        self.note_nearest_share(float(stats[5]), int(stats[6]))


STATS = 7  # numbers that a compiled loop tallies: see `Level.add`


@dataclass(slots=True)
class Found:
    """Patterns in the order of their discovery, as the columns of a trie.

    Some rows may be there only because others extend them.
    """

    parent: list[NDArray[np.int32]] = field(default_factory=list)
    steps: list[NDArray[np.int32]] = field(default_factory=list)
    supports: list[NDArray[np.int32]] = field(default_factory=list)
    shown: list[NDArray[np.bool_]] = field(default_factory=list)
    n_rows: int = 0
    n_patterns: int = 0

    def add(
        self,
        parent: int | Longs,
        steps: Longs,
        supports: NDArray[np.int32],
        shown: NDArray[np.bool_] | None = None,
    ) -> None:
        shown = np.ones(len(steps), bool) if shown is None else shown
        self.parent.append(np.broadcast_to(np.asarray(parent, np.int32), len(steps)))
        self.steps.append(steps.astype(np.int32))
        self.supports.append(supports)
        self.shown.append(shown)
        self.n_rows += len(steps)
        self.n_patterns += int(shown.sum())


class Engine(ABC):
    """One search of a language in some data."""

    def __init__(
        self,
        compiled: Compiled,
        labels: NDArray[np.int64],
        n_classes: int,
        conditions: Conditions,
        *,
        object_identity: bool,
    ) -> None:
        self.compiled, self.conditions = compiled, conditions
        self.labels, self.n_classes = labels, n_classes
        self.object_identity = object_identity
        self.class_sizes = np.bincount(labels, minlength=n_classes)
        self.width = 1 + max([2, *(len(types) for types in compiled.types)])
        self.found = Found()
        self.tallies: dict[int, Level] = {}
        self._seen: set[bytes] = set()

    @abstractmethod
    def run(self, on_pattern: Callable[[int], bool]) -> int:
        """Search until done or `on_pattern(length)` says stop; the length that is complete."""

    def _is_forbidden(self, atoms: Longs, *, first: bool) -> bool:
        """Is a pattern, of rows of numbers, against the bias? `first`: it has one atom."""
        conditions = self.conditions
        if first and conditions.is_key and not conditions.is_key(self._atom(atoms[-1])):
            return True
        if conditions.admits and not conditions.admits(self._atom(atoms[-1])):
            return True
        return bool(conditions.forbids and conditions.forbids([self._atom(atom) for atom in atoms]))

    def _atom(self, atom: Longs) -> Atom:
        """The atom that a row of numbers stands for; links are numbered after the relations."""
        vocabulary = self.compiled.index.facts.vocabulary
        predicate, *args = atom.tolist()
        n_relations = len(self.compiled.relations)
        terms = [Var(f"V{a}") if a >= 0 else vocabulary[~a] for a in args if a > UNUSED]
        if predicate < n_relations:
            return Atom(self.compiled.relations[predicate][0], tuple(terms))
        n, i = divmod(predicate - n_relations, len(self.compiled.dimensions))
        name = self.compiled.index.dimension_names[self.compiled.dimensions[i]]
        if n > 1:
            return Atom(f"followat_{name}", (n, *terms))
        return Atom(f"{'next' if n else 'follow'}_{name}", tuple(terms))
