"""The two borders of a set of patterns, and what lies between them.

The answer to an inductive query, often in one class and seldom in another, is a version space:
with two patterns it has every pattern of the language between them. So its most general and its
most specific patterns say all of it (Lee and De Raedt's SeqLog; Kramer and De Raedt's features).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.logic.canonical import subsumes
from relynx.logic.terms import Atom, Constant, Term, Var
from relynx.mining.matching.match import covers
from relynx.mining.patterns import borders
from relynx.mining.patterns.pattern import Pattern, as_pattern, link_of
from relynx.mining.patterns.tables import Entries, html_table

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
        mask = borders.between(
            (self.general.trie, self.general.rows),
            (self.specific.trie, self.specific.rows),
            (patterns.trie, patterns.rows),
            object_identity=self.general.object_identity,
        )
        return patterns[mask]

    def _implied_contains(self, pattern: Pattern) -> bool:
        flag = self.general.object_identity
        general, specific = [*self.general.patterns()], [*self.specific.patterns()]
        longest = longest_step(chain([pattern], general))
        return bool(general) and bool(
            covers(general, frozen([pattern], longest=longest), flag).any()
            and covers(pattern, frozen(specific, longest=longest), flag).any()
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
            f"<p>most general</p>{html_table(self.general)}"
            f"<p>most specific</p>{html_table(self.specific)}"
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
