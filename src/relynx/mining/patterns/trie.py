"""The columns in which the search leaves its patterns: each row adds a step to an earlier row.

A step is a link between two events, a fact, or a link and the fact that its new event needs. A
million patterns are a few arrays; atoms and text are made when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.vocabulary import Vocabulary
from relynx.logic.terms import Atom, Term, Var, numbered_variable

Ints: TypeAlias = NDArray[np.int32]
Rows: TypeAlias = NDArray[np.int64]

# The columns of `steps` before the arguments.
DIMENSION, N_STEPS, FROM, TO, RELATION, ARGUMENTS = range(6)


@dataclass(frozen=True, eq=False, slots=True)
class Trie:
    """Patterns as steps from other patterns, with their supports.

    Attributes
    ----------
    parent
        The row that a row extends, always an earlier one; -1 for a first atom.
    steps
        One row a pattern: the number of a dimension or -1, the steps of the link (1 is next, 0 is
        follow), the variables that it links, the number of a relation or -1, its arguments.
        Variables are numbered from 0 in order of introduction; a constant is ~code. Unused
        places hold 0.
    supports
        How many sequences of each class a pattern covers.
    relations, dimensions
        What the numbers in `steps` stand for: predicates with their arities, and names.
    vocabulary
        The dictionary of the constants.
    classes, class_sizes
        The classes, and how many sequences each has.
    key
        The key of the bias: patterns are written with an instance of one of these first.
    """

    parent: Ints
    steps: Ints
    supports: Ints
    relations: tuple[tuple[str, int], ...]
    dimensions: tuple[str, ...]
    vocabulary: Vocabulary
    classes: tuple[object, ...]
    class_sizes: NDArray[np.int64]
    key: tuple[Atom, ...] = ()

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
            atoms.append(
                self._link(
                    self.dimensions[dimension], n, numbered_variable(x), numbered_variable(y)
                )
            )
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
        smaller = Trie(
            np.where(parent < 0, np.int32(-1), place),
            self.steps[kept],
            self.supports[kept],
            self.relations,
            self.dimensions,
            self.vocabulary,
            self.classes,
            self.class_sizes,
            self.key,
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

    @staticmethod
    def _link(dimension: str, n: int, x: Var, y: Var) -> Atom:
        if n == 0:
            return Atom(f"follow_{dimension}", (x, y))
        if n == 1:
            return Atom(f"next_{dimension}", (x, y))
        return Atom(f"followat_{dimension}", (n, x, y))


def joined(parts: Sequence[tuple[Trie, Rows]]) -> tuple[Trie, Rows]:
    """One trie for rows of several, and where these are in it, one part after another.

    It has no classes, since those of the parts may differ.
    """
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
    whole = Trie(
        np.concatenate(parents),
        np.concatenate(steps),
        np.zeros((start, 0), np.int32),
        relations,
        dimensions,
        vocabulary,
        (),
        np.zeros(0, np.int64),
        tuple(dict.fromkeys(atom for trie in tries for atom in trie.key)),
    )
    return whole, np.concatenate([rows + starts[id(trie)] for trie, rows in parts])


def _recoded(
    trie: Trie,
    relations: tuple[tuple[str, int], ...],
    dimensions: tuple[str, ...],
    codes: Ints,
) -> Ints:
    """The steps of a trie with other numbers for relations, dimensions and constants."""
    steps = trie.steps.copy()
    for column, own, numbers in (
        (RELATION, trie.relations, {key: i for i, key in enumerate(relations)}),
        (DIMENSION, trie.dimensions, {name: i for i, name in enumerate(dimensions)}),
    ):
        # The last one is for -1, which stays.
        new = np.array([*(numbers[one] for one in own), -1], np.int32)  # type: ignore[index]
        steps[:, column] = new[steps[:, column]]
    args = steps[:, ARGUMENTS:]
    constant = args < 0
    args[constant] = ~codes[~args[constant]]
    return steps
