"""Does a pattern cover a sequence, and by which bindings?"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Longs
from relynx.data.sequences import Facts, Sequence, Sequences
from relynx.errors import did_you_mean
from relynx.logic.dimensions import link_name
from relynx.logic.terms import Atom, Constant, Term, Var
from relynx.mining.matching._backtracking_kernels import Data, Plan, solve
from relynx.mining.matching.index import Index, Template
from relynx.mining.matching.lines import LineMatcher
from relynx.mining.matching.plan import Planner, Query, Registry
from relynx.mining.matching.tries import TrieMatcher
from relynx.mining.patterns.pattern import Pattern, as_pattern
from relynx.mining.patterns.trie import Rows, Trie
from relynx.mining.workers import n_threads

Bits = NDArray[np.uint64]
NOTHING = np.empty((0, 0), np.int64)
AT_ONCE = 256  # sequences
ATOMS_AT_ONCE = 2_000  # patterns whose atoms are held at a time
MANY = 20  # patterns that are worth matching along their trie
SHARED_BY = 4  # a beginning is matched on its own when so many patterns share it


@dataclass(frozen=True, slots=True)
class Asked:
    """Patterns by their numbers from 0 on."""

    n: int
    atoms: Callable[[Rows], list[tuple[Atom, ...]]]
    trie: tuple[Trie, Rows] | None = None  # where they were mined

    def parts(self, which: Rows) -> Iterator[tuple[Rows, list[tuple[Atom, ...]]]]:
        """Some patterns at a time with their atoms."""
        for start in range(0, len(which), ATOMS_AT_ONCE):
            part = which[start : start + ATOMS_AT_ONCE]
            yield part, self.atoms(part)


def covers(
    pattern: Pattern | str | Iterable[Pattern | str],
    X: Sequences | Sequence,
    object_identity: bool = True,
    *,
    n_jobs: int | None = None,
) -> Bools:
    """Which sequences a pattern covers.

    A pattern covers a sequence when some substitution makes all its atoms true there, derived
    facts included. Under Object Identity different variables stand for different constants, and
    for none that the pattern contains.

    Parameters
    ----------
    pattern
        A pattern or its text; or several, which are then matched together. A text with a predicate
        that no sequence has gets a warning.
    X
        Sequences, or one of them.
    object_identity
        False asks for plain theta-subsumption.
    n_jobs
        Threads for patterns that are paths along a dimension; see `mine`.

    Returns
    -------
    ndarray of bool
        Of shape (n_sequences,), for several patterns (n_sequences, n_patterns).

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "c"], ["b", "a"]])
    >>> rx.covers("a(X), follow_s(X,Y), c(Y)", X)
    array([ True, False])
    """
    single = isinstance(pattern, Pattern | str)
    wanted = [pattern] if isinstance(pattern, Pattern | str) else [*pattern]
    patterns = [as_pattern(p) for p in wanted]
    out = coverage_of(patterns, _sequences(X), object_identity, n_jobs=n_jobs)
    typed = [p for p, given in zip(patterns, wanted, strict=True) if isinstance(given, str)]
    _warn_of_unknown(typed, _sequences(X), object_identity)
    return out[:, 0] if single else out


def _warn_of_unknown(patterns: Iterable[Pattern], X: Sequences, object_identity: bool) -> None:
    known = {*X.facts(object_identity).tables, *(X.background.heads if X.background else ())}
    names = sorted({name for name, _ in known})
    for name, arity in sorted({atom.key for one in patterns for atom in one.atoms} - known):
        if link_name(name) is None and name not in names:
            near = did_you_mean(name, names)
            what = f"no sequence has a fact {name}/{arity}" + (f": {near}" if near else "")
            warnings.warn(what, UserWarning, stacklevel=3)


def coverage_of(
    patterns: list[Pattern], X: Sequences, object_identity: bool, *, n_jobs: int | None = None
) -> Bools:
    """Which sequences some patterns cover, array of shape (n_sequences, n_patterns)."""
    atoms = [one.atoms for one in patterns]
    asked = Asked(len(atoms), lambda which: [atoms[i] for i in which.tolist()])
    return covered(asked, X.facts(object_identity), object_identity, n_threads(n_jobs)).T


def covered(asked: Asked, facts: Facts, object_identity: bool, n_threads: int) -> Bools:
    """Which sequences the patterns cover, array of shape (n_patterns, n_sequences): by words of
    bits where these can tell, else by backtracking."""
    out = np.zeros((asked.n, facts.n_sequences), bool)
    for left, sequences in _cover_by_bits(asked, facts, object_identity, out, n_threads):
        for part, atoms in asked.parts(left if len(sequences) else left[:0]):
            out[np.ix_(part, sequences)] = _search(
                atoms, sequences, Index.of(facts), object_identity
            )
    return out


def _cover_by_bits(
    asked: Asked, facts: Facts, object_identity: bool, out: Bools, n_threads: int
) -> list[tuple[Rows, Longs]]:
    """Fill the rows of `out` (n_patterns, n_sequences) as far as bits can; what is left: patterns,
    and the sequences for which they are open."""
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


def match(
    pattern: Pattern | str,
    X: Sequence | Sequences,
    limit: int | None = None,
    object_identity: bool = True,
) -> list[dict[str, Constant]]:
    """The bindings by which a pattern covers a sequence.

    Parameters
    ----------
    pattern
        A pattern or its text.
    X
        One sequence: `X[0]`.
    limit
        Stop after so many; None finds all.
    object_identity
        False asks for plain theta-subsumption.

    Returns
    -------
    list of dict
        Each maps the names of the variables to constants. No two are equal.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "a"]])
    >>> rx.match("a(X), next_s(X,Y)", X[0])
    [{'X': 'e1', 'Y': 'e2'}]
    """
    one = _sequences(X)
    if len(one) != 1:
        raise ValueError(f"match looks into one sequence, not {len(one)}: give X[i]")
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}: give a positive number, or None for all matches")
    pattern = as_pattern(pattern)
    index = Index.of(one.facts(object_identity))
    rows = _Matcher(index, object_identity).matches(pattern.atoms, limit)
    names = pattern.variables
    constants = index.constants_of(np.unique(rows))
    known = dict(zip(np.unique(rows).tolist(), constants, strict=True))
    return [dict(zip(names, map(known.__getitem__, row), strict=True)) for row in rows.tolist()]


def _sequences(X: Sequences | Sequence) -> Sequences:
    if isinstance(X, Sequence):
        return X.sequences
    if isinstance(X, Sequences):
        return X
    raise TypeError(f"X is a {type(X).__name__}: give Sequences, or one sequence X[i]")


class Prepared(NamedTuple):
    """A plan, the templates whose bits it speaks of, and what a sequence must have enough of."""

    plan: Plan
    templates: list[Template]
    crowds: list[tuple[int, Longs]]


class _Matcher:
    """Plans and runs single patterns against one index."""

    def __init__(self, index: Index, object_identity: bool) -> None:
        self.index = index
        self.object_identity = object_identity
        self.registry = Registry()

    def compile(self, atoms: tuple[Atom, ...], *, existence: bool) -> Prepared | None:
        query = Query(atoms, self.index, self.object_identity)
        if not query.possible:
            return None
        planner = Planner(query, self.registry, existence=existence)
        return Prepared(*planner.plan(), planner.crowds())

    def data(self, templates: list[Template]) -> tuple[Data, Bits]:
        """What the kernel reads, and the nodes that the templates admit."""
        rows = [self.index.template(template)[0] for template in templates]
        data = self.index.data(tuple(self.registry.relations), tuple(self.registry.look_ups))
        return data, np.stack(rows) if rows else np.empty((0, 0), np.uint64)

    def covered(self, compiled: Prepared | None, among: Longs) -> Longs:
        """Those of some sequences that a pattern covers."""
        if compiled is None:
            return among[:0]
        for n_different, available in compiled.crowds:
            among = among[available[among] >= n_different]
        if not len(among):
            return among
        data, bits = self.data(compiled.templates)
        counts = np.zeros(len(among), np.int64)
        for start in range(0, len(among), AT_ONCE):  # between these Ctrl-C is heard
            part = slice(start, start + AT_ONCE)
            solve(compiled.plan, data, bits, among[part], 1, counts[part], NOTHING)
        return among[counts > 0]

    def matches(self, atoms: tuple[Atom, ...], limit: int | None) -> Longs:
        """Distinct keys of the named variables, one row a match, in the first sequence."""
        compiled = self.compile(atoms, existence=False)
        if compiled is None or limit == 0 or any(n > has[0] for n, has in compiled.crowds):
            return np.empty((0, 0), np.int64)
        plan = compiled.plan
        data, bits = self.data(compiled.templates)
        n_named = len(Pattern(atoms).variables)
        room = 64 if limit is None else limit
        while True:
            found = np.empty((room + 1, plan.n_variables), np.int64)
            counts = np.zeros(1, np.int64)
            solve(plan, data, bits, np.zeros(1, np.int64), room + 1, counts, found)
            count = int(counts[0])
            rows = found[: min(count, room), :n_named]
            _, first = np.unique(rows, axis=0, return_index=True)
            if count <= room or (limit is not None and len(first) >= limit):
                return rows[np.sort(first)][:limit]
            room *= 4


def _search(
    patterns: list[tuple[Atom, ...]], sequences: Longs, index: Index, object_identity: bool
) -> Bools:
    """Cover some patterns; beginnings that several share are matched once and narrow the rest."""
    matcher = _Matcher(index, object_identity)
    out = np.zeros((len(patterns), index.n_sequences), bool)
    forms = [_by_first_occurrence(atoms) for atoms in patterns]
    shared = Counter(form[:k] for form in forms for k in range(1, len(form)))
    order = sorted(range(len(forms)), key=lambda i: [str(atom) for atom in forms[i]])
    stages = [
        [*(k for k in range(1, len(form)) if shared[form[:k]] >= SHARED_BY), len(form)]
        for form in forms
    ]
    beginnings = {forms[i][:k]: patterns[i][:k] for i in order for k in stages[i]}
    compiled = {form: matcher.compile(atoms, existence=True) for form, atoms in beginnings.items()}
    trail: list[tuple[tuple[Atom, ...], Longs]] = []
    for i in order:
        form = forms[i]
        while trail and form[: len(trail[-1][0])] != trail[-1][0]:
            trail.pop()
        for k in stages[i]:
            if not trail or k > len(trail[-1][0]):
                among = trail[-1][1] if trail else sequences
                trail.append((form[:k], matcher.covered(compiled[form[:k]], among)))
        out[i, trail[-1][1]] = True
    return out[:, sequences]


def _by_first_occurrence(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The atoms with variables renamed in order of first occurrence, so that equal beginnings
    of patterns are equal tuples."""
    names: dict[str, Var] = {}

    def renamed(term: Term) -> Term:
        if isinstance(term, Var) and not term.anonymous:
            return names.setdefault(term.name, Var(f"V{len(names)}"))
        return term

    return tuple(Atom(atom.predicate, tuple(map(renamed, atom.args))) for atom in atoms)
