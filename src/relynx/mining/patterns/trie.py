"""The columns in which the search leaves its patterns: each row adds a step to an earlier row.

A step is a link between two events, a fact, or a link and the fact that its new event needs. A
million patterns are a few arrays; atoms and text are made when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Ints, Longs
from relynx.data.vocabulary import Vocabulary
from relynx.logic.terms import Atom, Term, numbered_variable

Rows: TypeAlias = NDArray[np.int64]

# The columns of `steps` before the arguments.
DIMENSION, N_STEPS, FROM, TO, RELATION, ARGUMENTS = range(6)


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """Patterns as steps from other patterns, with their supports. A row of `steps` is a pattern:
    the number of a dimension or -1, the steps of the link (1 is next, 0 is follow), the variables
    that it links, the number of a relation or -1, its arguments. Variables are numbered from 0 in
    order of introduction; a constant is ~code. Unused places hold 0."""

    parent: Ints  # the row that a row extends, always an earlier one; -1 for a first atom
    steps: Ints
    supports: Ints  # how many sequences of each class a pattern covers
    relations: tuple[tuple[str, int], ...]  # predicates with their arities, by their numbers
    dimensions: tuple[str, ...]
    vocabulary: Vocabulary  # of the constants
    classes: tuple[object, ...]
    class_sizes: Longs  # in sequences
    key: tuple[Atom, ...] = ()  # of the bias: patterns are written with an instance of one first

    @classmethod
    def unlabelled(
        cls,
        parent: Ints,
        steps: Ints,
        relations: Sequence[tuple[str, int]] = (),
        dimensions: Sequence[str] = (),
        vocabulary: Vocabulary | None = None,
        key: Sequence[Atom] = (),
    ) -> Trie:
        """Patterns of which no supports are known."""
        supports, sizes = np.zeros((len(parent), 0), np.int32), np.zeros(0, np.int64)
        names = tuple(relations), tuple(dimensions), vocabulary or Vocabulary()
        return cls(parent, steps, supports, *names, (), sizes, tuple(key))

    def __len__(self) -> int:
        return len(self.parent)

    def lengths(self, rows: Rows) -> Ints:
        """How many atoms other than links the patterns have."""
        has_fact = self.steps[:, RELATION] >= 0
        lengths = np.zeros(len(rows), np.int32)
        for ancestors in self.generations(rows):
            lengths += has_fact[ancestors] & (ancestors >= 0)
        return lengths

    def atoms_of_step(self, row: int) -> tuple[Atom, ...]:
        """The link, the fact, or both that a row adds to its parent."""
        dimension, n, x, y, relation, *args = self.steps[row].tolist()
        atoms = []
        if dimension >= 0:
            ends = numbered_variable(x), numbered_variable(y)
            atoms.append(link_atom(self.dimensions[dimension], n, ends))
        if relation >= 0:
            name, arity = self.relations[relation]
            atoms.append(Atom(name, tuple(map(self._term, args[:arity]))))
        return tuple(atoms)

    def restricted(self, rows: Rows) -> tuple[Trie, Rows]:
        """The trie of these rows and what they extend, and where the rows are in it."""
        kept = self.with_ancestors(rows)
        if len(kept) == len(self):
            return self, rows
        parent = self.parent[kept]
        place = np.searchsorted(kept, parent).astype(np.int32)
        smaller = replace(
            self,
            parent=np.where(parent < 0, np.int32(-1), place),
            steps=self.steps[kept],
            supports=self.supports[kept],
        )
        return smaller, np.searchsorted(kept, rows)

    def with_ancestors(self, rows: Rows) -> Rows:
        """The rows and all that they extend, each once, in rising order."""
        wanted = np.zeros(len(self), bool)
        for ancestors in self.generations(rows):
            wanted[ancestors[ancestors >= 0]] = True
        return np.flatnonzero(wanted)

    def generations(self, rows: Rows) -> Iterator[Rows]:
        """The rows, what they extend, what that extends, and so on; -1 above a first atom."""
        current = rows
        while (current >= 0).any():
            yield current
            current = np.where(current >= 0, self.parent[current], -1)

    def _term(self, arg: int) -> Term:
        return self.vocabulary[~arg] if arg < 0 else numbered_variable(arg)


@dataclass(frozen=True, eq=False, slots=True)
class KeptCoverage:
    """Which sequences of the search each pattern covers, as bits."""

    bits: NDArray[np.uint64]  # shape (n_patterns, n_words): 64 sequences a word, the first lowest
    index: Longs  # for each row of the trie that row of `bits`, -1 for none
    n_sequences: int

    @classmethod
    def of_rows(
        cls, bits: NDArray[np.uint64], rows: Longs, n_rows: int, n_sequences: int
    ) -> KeptCoverage:
        """From the bits of some of so many rows of a trie."""
        index = np.full(n_rows, -1)
        index[rows] = np.arange(len(rows))
        return cls(bits, index, n_sequences)

    def words(self, rows: Longs) -> NDArray[np.uint64]:
        """The bits of some rows of the trie."""
        return self.bits[self.index[rows]]

    def matrix(self, rows: Longs) -> Bools:
        """The coverage of some rows of the trie: an array of shape (n_sequences, n_patterns)."""
        octets = self.words(rows).astype("<u8", copy=False).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, count=self.n_sequences, bitorder="little")
        return bits.T.astype(bool)


def link_atom(dimension: str, n: int, ends: Sequence[Term]) -> Atom:
    """The link of n steps, any number of them where n is 0."""
    if n > 1:
        return Atom(f"followat_{dimension}", (n, *ends))
    return Atom(f"{'next' if n else 'follow'}_{dimension}", tuple(ends))


def joined(parts: Sequence[tuple[Trie, Rows]]) -> tuple[Trie, Rows]:
    """One trie for rows of several, and where these are in it, one part after another. It has no
    classes, since those of the parts may differ."""
    tries = list({id(trie): trie for trie, _ in parts}.values())
    relations = tuple(dict.fromkeys(key for trie in tries for key in trie.relations))
    dimensions = tuple(dict.fromkeys(name for trie in tries for name in trie.dimensions))
    vocabulary = tries[0].vocabulary
    width = max(trie.steps.shape[1] for trie in tries)
    starts: dict[int, int] = {}
    parents, steps, start = [], [], 0
    for trie in tries:
        starts[id(trie)] = start
        vocabulary, codes = vocabulary.merged(trie.vocabulary)
        parents.append(np.where(trie.parent < 0, -1, trie.parent + start).astype(np.int32))
        steps.append(np.zeros((len(trie), width), np.int32))
        steps[-1][:, : trie.steps.shape[1]] = _recoded(trie, relations, dimensions, codes)
        start += len(trie)
    key = dict.fromkeys(atom for trie in tries for atom in trie.key)
    whole = Trie.unlabelled(
        np.concatenate(parents), np.concatenate(steps), relations, dimensions, vocabulary, [*key]
    )
    return whole, np.concatenate([rows + starts[id(trie)] for trie, rows in parts])


def _recoded(
    trie: Trie, relations: tuple[tuple[str, int], ...], dimensions: tuple[str, ...], codes: Ints
) -> Ints:
    """The steps of a trie with other numbers for relations, dimensions and constants."""
    steps = with_codes(trie.steps, codes)
    for column, own, numbers in (
        (RELATION, trie.relations, {key: i for i, key in enumerate(relations)}),
        (DIMENSION, trie.dimensions, {name: i for i, name in enumerate(dimensions)}),
    ):
        # The last one is for -1, which stays.
        new = np.array([*(numbers[one] for one in own), -1], np.int32)  # type: ignore[index]
        steps[:, column] = new[steps[:, column]]
    return steps


def with_codes(steps: Ints, codes: NDArray[np.integer]) -> Ints:
    """Steps with other codes for their constants."""
    steps = np.array(steps, np.int32, order="C")
    args = steps[:, ARGUMENTS:]
    constant = args < 0
    args[constant] = ~codes[~args[constant]]
    return steps


def with_fewest_codes(steps: Ints) -> tuple[Ints, list[int]]:
    """Steps with the codes of a dictionary of what they use, and what that has of the old one."""
    args = steps[:, ARGUMENTS:]
    used = np.unique(~args[args < 0])
    codes = np.zeros(int(used.max(initial=0)) + 1, np.int32)
    codes[used] = np.arange(len(used))
    return with_codes(steps, codes), used.tolist()
