"""The borders of a set of patterns: its most specific, its most general, its closed ones.

The answer to an inductive query, often in one class and seldom in another, is a version space:
with two patterns it has every pattern of the language between them. So its most general and its
most specific patterns say all of it (Lee and De Raedt's SeqLog; Kramer and De Raedt's features).

More specific means subsumed, by a substitution that respects Object Identity where the set does.
Under Object Identity a more specific pattern covers less, has every predicate and every constant
at least as often, and something more; these conditions are checked before anything is searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.logic.canonical import subsumes
from relynx.logic.terms import Atom, Constant, Term, Var
from relynx.mining.matching.match import coverage_of
from relynx.mining.patterns import _border_kernels as kn
from relynx.mining.patterns import trie as tr
from relynx.mining.patterns.pattern import Pattern, as_pattern, link_of
from relynx.mining.patterns.tables import Entries, patterns_html
from relynx.mining.patterns.trie import Rows, Trie, joined

Mask = NDArray[np.bool_]
N_BITS = 256  # of a signature
AT_ONCE = 2_000  # patterns that are compared with all

Set = TypeVar("Set", bound=Entries)


@dataclass(frozen=True, slots=True, repr=False)
class Borders(Generic[Set]):
    """The most general and the most specific patterns of a set. `PatternSet.borders` makes one.

    `pattern in borders` tells whether a pattern, or its text, lies between them: one of `general`
    subsumes it, and it subsumes one of `specific`. Subsumption is that of the search, with Object
    Identity or without.

    Parameters
    ----------
    general, specific
        The borders; of one set.
    implied
        Whether links count by what they imply; else as they are written, and `next_s` is no case
        of `follow_s`.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "c"], ["a", "b"], ["c", "b"]], ["yes", "yes", "no"])
    >>> borders = rx.mine(X, y, max_support={"no": 0}, max_gap=1).borders()
    >>> [*borders.general.texts()][0], len(borders.specific)
    ('a(A)', 5)
    >>> "a(X), next_s(X,Y), b(Y)" in borders, "b(X)" in borders
    (True, False)
    """

    general: Set
    specific: Set
    implied: bool = False

    def __post_init__(self) -> None:
        if self.general.trie is not self.specific.trie:
            raise InputError("the borders are of two sets: take both of one, by PatternSet.borders")

    @property
    def patterns(self) -> Set:
        """The patterns of either border, each once: enough to make the borders again.

        Save this set to keep the borders; `borders()` of what is loaded gives them back.
        """
        general, rows = self.general, self.specific.rows
        more = rows[~np.isin(rows, general.rows)]
        return general.with_rows(np.sort(np.concatenate([general.rows, more])))

    def __contains__(self, pattern: Pattern | str) -> bool:
        pattern, flag = as_pattern(pattern), self.general.object_identity
        if self.implied:
            return self._implied_contains(pattern)
        return any(
            subsumes(one.atoms, pattern.atoms, object_identity=flag)
            for one in self.general.patterns()
        ) and any(
            subsumes(pattern.atoms, one.atoms, object_identity=flag)
            for one in self.specific.patterns()
        )

    def within(self, patterns: Set) -> Set:
        """Those of some patterns that lie between the borders, in the same order.

        If the borders are those of the answer to `min_support`, `min_frequency` and `max_support`,
        this gives that answer again from any larger one. Of the answer to another such query it
        gives the answer to both.

        Parameters
        ----------
        patterns
            The answer of this search or of another one.

        Examples
        --------
        >>> import relynx as rx
        >>> X, y = rx.from_lists([["a", "b", "c"], ["a", "b"], ["c", "b"]], ["yes", "yes", "no"])
        >>> found = rx.mine(X, y)
        >>> few = found.filter(max_support={"no": 0})
        >>> len(found), len(few), few.borders().within(found) == few
        (15, 11, True)
        """
        if self.implied:
            return patterns[self._implied_between(patterns)]
        return patterns[between(self.general, self.specific, patterns)]

    def _implied_contains(self, pattern: Pattern) -> bool:
        flag = self.general.object_identity
        general, specific = [*self.general.patterns()], [*self.specific.patterns()]
        longest = longest_step(chain([pattern], general))
        return bool(general) and bool(
            coverage_of(general, frozen([pattern], longest=longest), flag).any()
            and coverage_of([pattern], frozen(specific, longest=longest), flag).any()
        )

    def _implied_between(self, patterns: Set) -> NDArray[np.bool_]:
        flag = self.general.object_identity
        asked = patterns.with_rows(patterns.rows, object_identity=flag)
        if not (len(asked) and len(self.general)):
            return np.zeros(len(asked), bool)
        longest = longest_step(chain(asked.patterns(), self.general.patterns()))
        ends = frozen([*self.specific.patterns()], longest=longest)
        mask = np.asarray(asked.coverage(ends).any(axis=0))
        if mask.any():
            left = frozen([*asked[mask].patterns()], longest=longest)
            mask[mask] = self.general.coverage(left).any(axis=1)
        return mask

    def __repr__(self) -> str:
        return f"most general:\n{self.general!r}\nmost specific:\n{self.specific!r}"

    def _repr_html_(self) -> str:
        return (
            f"<p>most general</p>{patterns_html(self.general)}"
            f"<p>most specific</p>{patterns_html(self.specific)}"
        )


def implied_borders(patterns: Set) -> Borders[Set]:
    """The borders of a set where links count by what they imply."""
    every = [*patterns.patterns()]
    whole = frozen(every, longest=longest_step(every))
    general, specific = np.ones((2, len(every)), bool)
    for start in range(0, len(every), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        above = patterns.coverage(whole[part]).T  # each of all, above each of the part
        below = patterns[part].coverage(whole)
        general[part] = ~(above & ~below).any(axis=0)
        specific[part] = ~(below & ~above).any(axis=0)
    return Borders(patterns[general], patterns[specific], implied=True)


def frozen(patterns: Sequence[Pattern], *, longest: int) -> Sequences:
    """One sequence a pattern: a pattern covers it if it is more general than what is frozen.

    A variable becomes a constant of its own, `next_s` a step, `followat_s` so many steps over
    events of which nothing is said, and `follow_s` more of them than any pattern counts.

    Links count by what they imply: a step is a case of `follow_s`, and so are several in a row. No
    `followat` of the patterns that are asked about has a larger n than `longest`.
    """
    mark = "?"
    constants = {
        arg for p in patterns for atom in p.atoms for arg in atom.args if isinstance(arg, str)
    }
    while any(constant.startswith(mark) for constant in constants):
        mark += "?"
    return Sequences.from_atoms(list(_facts(p.atoms, mark, longest)) for p in patterns)


def longest_step(patterns: Iterable[Pattern]) -> int:
    """The largest n of a `followat`; 1 where there is none."""
    steps = [
        atom.args[0]
        for pattern in patterns
        for atom in pattern.atoms
        if (link_of(atom) or ("", ""))[0] == "followat"
    ]
    return max([1, *(n for n in steps if isinstance(n, int))])


def _facts(atoms: Sequence[Atom], mark: str, longest: int) -> Iterator[Atom]:
    for number, atom in enumerate(atoms):
        args = [
            _constant(arg, f"{mark}{number} {place}", mark) for place, arg in enumerate(atom.args)
        ]
        link = link_of(atom)
        if link is None:
            yield Atom(atom.predicate, tuple(args))
            continue
        operator, dimension = link
        first, last = args[-2:]
        n = {"next": 1, "follow": longest + 1}.get(operator, args[0])
        between = [f"{mark}{number} step {i}" for i in range(1, int(n))]
        for pair in pairwise([first, *between, last]):
            yield Atom(f"next_{dimension}", pair)


def _constant(term: Term, unnamed: str, mark: str) -> Constant:
    if isinstance(term, Var):
        return unnamed if term.anonymous else f"{mark}{term.name}"
    assert isinstance(term, str | int | float)  # patterns are flat
    return term


# Subsumption as written


def maximal(patterns: Entries, *, same_cover: bool = False) -> Mask:
    """Which patterns have no strictly more specific one among them, or none with `same_cover`. A
    more specific pattern covers a part of the same sequences: as many are the same ones."""
    marked, supports = np.zeros(len(patterns), bool), patterns.supports
    if patterns.object_identity:
        above = _nearest(patterns)
        counts = above >= 0
        if same_cover:
            counts &= (supports[above] == supports).all(axis=1)
        marked[above[counts]] = True
    groups = np.unique(supports, axis=0, return_inverse=True)[1].reshape(-1) if same_cover else None
    return _unmarked(patterns, marked, groups, general=True)


def most_general(patterns: Entries) -> Mask:
    """Which patterns have no strictly more general one among them."""
    n = len(patterns)
    marked = _nearest(patterns) >= 0 if patterns.object_identity else np.zeros(n, bool)
    return _unmarked(patterns, marked, None, general=False)


def between(general: Entries, specific: Entries, patterns: Entries) -> Mask:
    """Which patterns are subsumed by one of `general` and subsume one of `specific`."""
    first, last = len(general), len(general) + len(specific)
    out = np.zeros(last + len(patterns), bool)
    if first == 0 or last == first or last == len(out):
        return out[last:]
    object_identity = general.object_identity
    trie, rows = joined([(one.trie, one.rows) for one in (general, specific, patterns)])
    encoded, features = _encoded(trie, rows, object_identity)
    above, below = _buckets(features, np.arange(first)), np.arange(last, len(rows))
    kn.mark_dominated(encoded, above, below, object_identity, False, False, False, out)
    below_general = np.flatnonzero(out)
    out[:] = False
    if len(below_general):
        above, below = _buckets(features, below_general), np.arange(first, last)
        kn.mark_dominated(encoded, above, below, object_identity, True, False, False, out)
    return out[last:]


def _nearest(patterns: Entries) -> Rows:
    """The place in `rows` of the nearest row that each extends, or -1."""
    trie, rows = patterns.trie, patterns.rows
    place = np.full(len(trie), -1)
    place[rows] = np.arange(len(rows))
    ancestor = trie.parent[rows].astype(np.int64)
    found = np.full(len(rows), -1)
    while (ancestor >= 0).any():
        found = np.where(found < 0, np.where(ancestor >= 0, place[ancestor], -1), found)
        ancestor = np.where((ancestor >= 0) & (found < 0), trie.parent[ancestor], -1)
    return found


def _unmarked(patterns: Entries, marked: Mask, groups: Rows | None, *, general: bool) -> Mask:
    """What is left of the rows when all that are dominated are marked. Groups do not mix."""
    left, object_identity = np.flatnonzero(~marked), patterns.object_identity
    if len(left):
        encoded, features = _encoded(patterns.trie, patterns.rows[left], object_identity)
        buckets = _buckets(features if groups is None else groups[left][:, None])
        # The search is short where what dominates most comes first.
        order = np.argsort(-encoded.sizes if general else encoded.sizes, kind="stable")
        out = np.zeros(len(left), bool)
        same_cover = groups is not None
        kn.mark_dominated(encoded, buckets, order, object_identity, general, same_cover, True, out)
        marked[left[out]] = True
    return ~marked


def _atoms(trie: Trie, rows: Rows) -> Ints:
    """The atoms of the patterns: predicate and arguments, absent ones at the end, predicate -1."""
    n_arguments = max(trie.steps.shape[1] - tr.ARGUMENTS, 2)
    widest = int(trie.steps[:, tr.N_STEPS].max(initial=0)) + 1
    parts = []
    for current in trie.generations(rows):
        steps = trie.steps[current]
        there = current >= 0
        link = np.full((len(rows), 1 + n_arguments), kn.UNBOUND, np.int32)
        dimension = steps[:, tr.DIMENSION]
        number = len(trie.relations) + dimension * widest + steps[:, tr.N_STEPS]
        link[:, 0] = np.where(there & (dimension >= 0), number, -1)
        link[:, 1:3] = steps[:, [tr.FROM, tr.TO]]
        fact = np.full((len(rows), 1 + n_arguments), kn.UNBOUND, np.int32)
        fact[:, 0] = np.where(there, steps[:, tr.RELATION], -1)
        arities = np.array([arity for _, arity in trie.relations] or [0])
        used = np.arange(steps.shape[1] - tr.ARGUMENTS) < arities[steps[:, tr.RELATION]][:, None]
        fact[:, 1 : 1 + used.shape[1]] = np.where(used, steps[:, tr.ARGUMENTS :], kn.UNBOUND)
        parts += [fact, link]
    # From the first step to the last, so that an atom joins those before it.
    atoms = np.stack(parts[::-1], axis=1)
    absent_last = np.argsort(atoms[:, :, 0] < 0, axis=1, kind="stable")
    atoms = np.take_along_axis(atoms, absent_last[:, :, None], axis=1)
    return np.ascontiguousarray(atoms[:, : int((atoms[:, :, 0] >= 0).sum(axis=1).max())])


def _features(atoms: Ints, object_identity: bool) -> Rows:
    """What a more specific pattern has too: each predicate, each constant at its place. Numbered
    from 0, -1 for none. Under Object Identity the second of a kind is a feature of its own, since
    atoms stay apart; otherwise one atom may stand for several."""
    n, n_atoms, width = atoms.shape
    there = atoms[:, :, :1] >= 0
    constants = (atoms < 0) & (atoms != kn.UNBOUND)
    values = np.where(constants, -atoms.astype(np.int64), 0)
    values[:, :, 0] = 0
    counted = there & (constants | (np.arange(width) == 0))
    base = int(values.max()) + 1
    keys = (atoms[:, :, :1].astype(np.int64) * width + np.arange(width)) * base + values
    flat = np.sort(np.where(counted, keys, -1).reshape(n, n_atoms * width), axis=1)
    rank = np.zeros_like(flat)
    for k in range(1, flat.shape[1]):
        rank[:, k] = np.where(flat[:, k] == flat[:, k - 1], rank[:, k - 1] + 1, 0)
    if object_identity:
        numbered = np.where(flat >= 0, flat * flat.shape[1] + rank, -1)
    else:
        numbered = np.where(rank == 0, flat, -1)
    found, numbers = np.unique(numbered, return_inverse=True)
    return numbers.reshape(numbered.shape) - int(found[0] < 0)


def _encoded(trie: Trie, rows: Rows, object_identity: bool) -> tuple[kn.Encoded, Rows]:
    """The patterns as the loops compare them, and their features."""
    atoms, supports = _atoms(trie, rows), np.ascontiguousarray(trie.supports[rows])
    features = _features(atoms, object_identity)
    n_atoms = (atoms[:, :, 0] >= 0).sum(axis=1)
    arguments = atoms[:, :, 1:]
    there = atoms[:, :, :1] >= 0
    n_constants = (there & (arguments < 0) & (arguments != kn.UNBOUND)).sum(axis=(1, 2))
    bits = np.zeros((len(atoms), N_BITS // 64), np.uint64)
    every = np.arange(len(atoms))
    for column in features.T:
        word, bit = column % N_BITS // 64, (column % 64).astype(np.uint64)
        bits[every, word] |= np.where(column >= 0, np.uint64(1) << bit, np.uint64(0))
    return kn.Encoded(atoms, n_atoms, n_atoms + n_constants, bits, supports), features


def _buckets(features: Rows, rows: Rows | None = None) -> kn.Buckets:
    """Every pattern, or each of some, in the bucket of its two rarest features."""
    rows = np.arange(len(features)) if rows is None else rows
    counts = np.bincount(features[features >= 0])
    frequency = np.where(features >= 0, counts[features], len(features) + 1)
    rarest = np.argsort(frequency, axis=1, kind="stable")[:, :2]
    # One feature alone is taken twice.
    missing = np.take_along_axis(features, rarest[:, -1:], axis=1)[:, 0] < 0
    rarest[missing, -1] = rarest[missing, 0]
    pair = np.sort(np.take_along_axis(features, rarest, axis=1), axis=1)
    n_buckets = 4 * len(features) + 1
    homes = kn.bucket_of(pair[:, 0], pair[:, -1], n_buckets)[rows]
    ends = np.cumsum(np.bincount(homes, minlength=n_buckets))
    starts = np.concatenate([[0], ends[:-1]])
    rows = rows[np.argsort(homes, kind="stable")]
    return kn.Buckets(np.ascontiguousarray(features), starts, ends, rows)
