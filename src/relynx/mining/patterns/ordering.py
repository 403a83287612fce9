"""The one order of patterns, by length and canonical form, and the order in which atoms are read.

Neither depends on the search that found a pattern. The *shape* of an atom is all of it but for the
identity of its variables. Shapes are numbered in the order that `relynx.logic.canonical` compares
them in, whatever the codes of constants; on these numbers compiled loops do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Ints, Longs
from relynx.bias.constraints import matched
from relynx.logic import tables as tb
from relynx.logic.canonical import canonical_numbering, reading_order, typed_constant
from relynx.logic.terms import Atom, Term, Var, numbered_variable
from relynx.mining.patterns import trie as tr
from relynx.mining.patterns._numbering_kernels import write
from relynx.mining.patterns.trie import Rows, Trie

Shorts: TypeAlias = NDArray[np.int16]
T = TypeVar("T")
AT_ONCE = 1 << 13  # patterns that are written together


def canonical_order(trie: Trie, rows: Rows) -> Rows:
    """The rows by length, then by the canonical forms of their patterns. Forms are compared as
    their atoms are sorted: atom by atom, first by predicate, number of arguments and arguments,
    where a variable is its place among those of its atom and comes after integers, floats and
    texts; then by the numbers of the variables in the canonical form."""
    if len(rows) < 2:
        return rows
    columns = [trie.lengths(rows), *_form_columns(trie, rows)]
    return rows[np.argsort(tb.packed(columns), kind="stable")]


def pattern_numbers(trie: Trie, rows: Rows) -> Ints:
    """A number for each row: two rows have the same one if they are variants of one pattern."""
    if not len(rows):
        return np.empty(0, np.int32)
    return tb.numbered(tb.packed(_form_columns(trie, rows)))[0]


def _form_columns(trie: Trie, rows: Rows) -> list[Ints]:
    """Columns of numbers that compare as the canonical forms of the rows do."""
    smaller, own = trie.restricted(rows)
    atoms, variables = Shapes.of(smaller).written(own, for_reading=False)
    columns = []
    for j in range(atoms.shape[1]):
        columns += [atoms[:, j] + 1, *(variables[:, j].T + 1)]
    return columns


def written(trie: Trie, rows: Rows, render: Callable[[Atom], T]) -> Iterator[list[T]]:
    """For each row what `render` makes of the atoms of its pattern, one after the other. Atoms that
    are written alike are rendered once for a call."""
    known: dict[Atom, T] = {}
    for start in range(0, len(rows), AT_ONCE):
        smaller, own = trie.restricted(rows[start : start + AT_ONCE])
        shapes = Shapes.of(smaller)
        atoms, variables = shapes.written(own, for_reading=True)
        flat = variables.reshape(atoms.size, -1)
        kind, example = tb.numbered(tb.packed([atoms.ravel() + 1, *(flat.T + 1)]))
        rendered: list[T | None] = []
        for i in example.tolist():
            shape = int(atoms.flat[i])
            if shape < 0:
                rendered.append(None)
                continue
            atom = shapes.atom(shape, flat[i].tolist())
            if atom not in known:
                known[atom] = render(atom)
            rendered.append(known[atom])
        lines: list[list[int]] = kind.reshape(len(own), -1).tolist()
        for line in lines:
            yield [one for i in line if (one := rendered[i]) is not None]


@dataclass(frozen=True, slots=True)
class Shapes:
    """The atoms that the steps of a trie add: at 2i the link of step i, at 2i + 1 its fact."""

    trie: Trie
    step: Ints  # of each row, where equal ones have the same number
    number: Ints  # of each atom's shape, -1 where there is no such atom
    variables: Ints  # of each atom in order of first occurrence, then -1
    example: list[tuple[int, bool]]  # for each shape a row that adds it, and whether as its fact
    may_begin: Bools  # a pattern with this shape: all, or the instances of the key

    @classmethod
    def of(cls, trie: Trie) -> Shapes:
        step, row = _distinct_steps(trie.steps)
        steps = trie.steps[row].astype(np.int64)
        there = (steps[:, [tr.DIMENSION, tr.RELATION]] >= 0).ravel()
        places = np.flatnonzero(there)
        terms = _terms(trie, steps)[there]
        local, found = _variables(terms[:, 1:])
        n_constants = int(terms[:, 1:].max(initial=0))
        args = np.where(terms[:, 1:] < 0, 1 + n_constants + local, terms[:, 1:])
        numbers, example = tb.numbered(tb.packed([terms[:, 0], *args.T]))
        number = np.full(len(there), -1, np.int32)
        variables = np.full((len(there), found.shape[1]), -1, np.int32)
        number[places], variables[places] = numbers, found
        examples = [(int(row[i // 2]), bool(i % 2)) for i in places[example].tolist()]
        return cls(trie, step, number, variables, examples, _may_begin(trie, examples))

    def atom(self, shape: int, numbers: Sequence[int]) -> Atom:
        """The atom of a shape whose variables have these numbers."""
        row, is_fact = self.example[shape]
        atom = self.trie.atoms_of_step(row)[-1 if is_fact else 0]
        new = dict(zip(dict.fromkeys(atom.variables()), numbers, strict=False))
        args: list[Term] = [
            numbered_variable(new[arg]) if isinstance(arg, Var) else arg for arg in atom.args
        ]
        return Atom(atom.predicate, tuple(args))

    def written(self, rows: Rows, *, for_reading: bool) -> tuple[Ints, Shorts]:
        """The atoms of patterns in the order of reading, or else in that of the canonical form. For
        each row the shapes of its atoms, then -1; and for each atom its variables, numbered as they
        come, then -1."""
        most = 2 * sum(1 for _ in self.trie.generations(rows))
        atoms = np.full((len(rows), most), -1, np.int32)
        variables = np.full((len(rows), most, self.variables.shape[1]), -1, np.int16)
        done = np.zeros(len(rows), bool)
        of_trie = self.trie.parent, self.step, self.number, self.variables
        write(rows, *of_trie, for_reading, self.may_begin, atoms, variables, done)
        for i in np.flatnonzero(~done).tolist():
            self._write_slowly(atoms[i], variables[i], for_reading)
        most = int((atoms >= 0).any(axis=0).sum())
        return atoms[:, :most], variables[:, :most]

    def _write_slowly(self, atoms: Ints, variables: Shorts, for_reading: bool) -> None:
        """Write a pattern that is too large for the compiled loops, in place."""
        n = int((atoms >= 0).sum())
        edges = [
            (shape, *(v for v in own if v >= 0))
            for shape, own in zip(atoms[:n].tolist(), variables[:n].tolist(), strict=True)
        ]
        order = canonical_numbering(edges, int(variables.max(initial=-1)) + 1)[0]
        if for_reading:
            is_link = [not self.example[edge[0]][1] for edge in edges]
            may_begin = [bool(self.may_begin[edge[0]]) for edge in edges]
            order = reading_order(edges, is_link, order, may_begin)
        number = {v: i for i, v in enumerate(dict.fromkeys(v for i in order for v in edges[i][1:]))}
        number[-1] = -1
        atoms[:n] = atoms[order]
        variables[:n] = [[number[v] for v in own] for own in variables[order].tolist()]


def _may_begin(trie: Trie, examples: Sequence[tuple[int, bool]]) -> Bools:
    """Which atoms are instances of the key; all, where there is none."""
    if not trie.key:
        return np.ones(len(examples), bool)
    atoms = (trie.atoms_of_step(row)[-1 if is_fact else 0] for row, is_fact in examples)
    return np.array([is_instance(atom, trie.key) for atom in atoms], bool)


def is_instance(atom: Atom, keys: Sequence[Atom]) -> bool:
    """Has an atom the predicate, the constants and the repeated variables of one of the keys?"""
    return any(matched(key, atom, {}) is not None for key in keys)


def _distinct_steps(steps: Ints) -> tuple[Ints, Longs]:
    """The number of each row's step among the different ones, and where each of these is."""
    if not len(steps):
        return np.empty(0, np.int32), np.empty(0, np.int64)
    return tb.numbered(tb.packed([column - column.min() for column in steps.T]))


# Terms as numbers


def _terms(trie: Trie, steps: Longs) -> Longs:
    """The links and facts of steps: the rank of the predicate, then terms. A variable v is -1 - v,
    a constant one more than its rank, and 0 stands for no term."""
    arity = np.array([*(arity for _, arity in trie.relations), 0])[steps[:, tr.RELATION]]
    used = np.arange(steps.shape[1] - tr.ARGUMENTS) < arity[:, None]
    args = np.where(used, steps[:, tr.ARGUMENTS :], 0)
    has_gap = (steps[:, tr.DIMENSION] >= 0) & (steps[:, tr.N_STEPS] > 1)
    of_code, of_gap = _constant_ranks(trie, ~args[args < 0], steps[has_gap, tr.N_STEPS])
    of_relation, of_link = _predicate_ranks(trie)
    width = max(args.shape[1], 3)
    terms = np.zeros((len(steps), 2, 1 + width), np.int64)
    terms[:, 1, 0] = of_relation[steps[:, tr.RELATION]]
    known = np.where(args < 0, 1 + of_code[~np.minimum(args, -1)], -1 - args)
    terms[:, 1, 1 : 1 + args.shape[1]] = np.where(used, known, 0)
    n = np.minimum(steps[:, tr.N_STEPS], 2)
    terms[:, 0, 0] = of_link[np.maximum(steps[:, tr.DIMENSION], 0), n]
    ends = -1 - steps[:, [tr.FROM, tr.TO]]
    terms[:, 0, 1:3] = ends
    terms[has_gap, 0, 1] = 1 + of_gap[steps[has_gap, tr.N_STEPS]]
    terms[has_gap, 0, 2:4] = ends[has_gap]
    return terms.reshape(2 * len(steps), -1)


def _constant_ranks(trie: Trie, codes: Longs, gaps: Longs) -> tuple[Longs, Longs]:
    """The rank of each code and of each n of a `followat` among the constants that are used."""
    used, gaps = tb.distinct(codes), tb.distinct(gaps)
    keys = [typed_constant(trie.vocabulary[code]) for code in used.tolist()]
    more = [(0, n) for n in gaps.tolist()]
    rank = {key: i for i, key in enumerate(sorted({*keys, *more}))}
    of_code = np.zeros(int(used.max(initial=0)) + 1, np.int64)
    of_gap = np.zeros(int(gaps.max(initial=0)) + 1, np.int64)
    of_code[used], of_gap[gaps] = [rank[key] for key in keys], [rank[key] for key in more]
    return of_code, of_gap


def _predicate_ranks(trie: Trie) -> tuple[Longs, Longs]:
    """The rank of each relation, and of each dimension's `follow`, `next` and `followat`."""
    operators = ("follow", 2), ("next", 2), ("followat", 3)
    links = [[(f"{name}_{d}", arity) for name, arity in operators] for d in trie.dimensions]
    keys = sorted({*trie.relations, *(key for three in links for key in three)})
    rank = {key: i for i, key in enumerate(keys)}
    of_relation = np.array([*(rank[key] for key in trie.relations), 0], np.int64)
    of_link = np.array([[rank[key] for key in three] for three in links], np.int64).reshape(-1, 3)
    return of_relation, of_link if len(of_link) else np.zeros((1, 3), np.int64)


def _variables(terms: Longs) -> tuple[Longs, Ints]:
    """For each term that is a variable, its place among those of its atom; and these variables."""
    local = np.zeros(terms.shape, np.int64)
    found = np.full(terms.shape, -1, np.int32)
    count = np.zeros(len(terms), np.int64)
    for j, column in enumerate(terms.T):
        is_variable, variable = column < 0, -1 - column
        local[:, j] = count
        for q in range(j):
            local[is_variable & (found[:, q] == variable), j] = q
        new = np.flatnonzero(is_variable & (local[:, j] == count))
        found[new, count[new]] = variable[new]
        count[new] += 1
    return local, found[:, : int(count.max(initial=0))]
