"""The answer of a search: patterns with their supports, as columns, decoded on demand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relynx.arrays import Floats
from relynx.data.sequences import Sequences, positions
from relynx.data.tables.frames import frame, write_csv, write_jsonl, write_parquet
from relynx.errors import InputError
from relynx.logic.canonical import canonical, core
from relynx.logic.terms import Atom
from relynx.mining.matching.match import Asked, covered
from relynx.mining.patterns import borders, tables
from relynx.mining.patterns import measures as ms
from relynx.mining.patterns.borders import Borders, implied_borders
from relynx.mining.patterns.ordering import canonical_order, written
from relynx.mining.patterns.pattern import Entry, Pattern
from relynx.mining.patterns.trie import KeptCoverage, Rows, Trie
from relynx.mining.report import SearchReport, explained
from relynx.mining.workers import n_threads

SLACK = 1e-9  # thresholds are met up to rounding
COVERED_AT_ONCE = 2_000


class PatternSet:
    """Patterns and their supports, in an order. `mine` makes one.

    `mine` orders patterns by length, and those of one length by their canonical forms, atom by
    atom: first by predicate, number of arguments and arguments, where integers come before floats,
    texts and then variables, which are all alike but for repetitions; then by the variables. How
    patterns are ordered and written does not depend on how they were found.

    Indexing by a number gives an `Entry`; by a slice, a mask or a list of numbers, a smaller set.
    Nothing is changed in place.

    Parameters
    ----------
    trie
        The columns of all patterns that the search kept.
    rows
        Which of them are in the set, in order; None for all.
    complete_up_to
        No pattern of this length or less is missing.
    partial
        Why the search ended early; None when it did not.
    report
        What the search saw and dropped.
    object_identity
        Whether the supports were counted under Object Identity.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["a", "c"], ["b"]], ["yes", "yes", "no"])
    >>> found = rx.mine(X, y, max_length=1)
    >>> for entry in found.sort("confidence"):
    ...     print(entry.pattern, entry.support)
    a(A) {'no': 0, 'yes': 2}
    c(A) {'no': 0, 'yes': 1}
    b(A) {'no': 1, 'yes': 1}
    """

    def __init__(
        self,
        trie: Trie,
        rows: ArrayLike | None = None,
        *,
        complete_up_to: int = 0,
        partial: str | None = None,
        report: SearchReport | None = None,
        object_identity: bool = True,
        kept_coverage: KeptCoverage | None = None,
    ) -> None:
        self.trie = trie
        self.rows: Rows = np.arange(len(trie)) if rows is None else np.asarray(rows, np.int64)
        self.complete_up_to = complete_up_to
        self.partial = partial
        self.report = SearchReport() if report is None else report
        self.object_identity = object_identity
        self.kept_coverage = kept_coverage

    # What is in the set

    @property
    def classes(self) -> tuple[object, ...]:
        return self.trie.classes

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many sequences each class has."""
        return self.trie.class_sizes

    @property
    def supports(self) -> NDArray[np.int32]:
        """How many sequences of each class the patterns cover: one row a pattern."""
        return self.trie.supports[self.rows]

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """How many sequences the patterns cover."""
        return np.asarray(self.supports.sum(axis=1, dtype=np.int64))

    @property
    def lengths(self) -> NDArray[np.int32]:
        """How many atoms other than links the patterns have."""
        return self.trie.lengths(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Entry]:
        supports, lengths = self.supports.tolist(), self.lengths.tolist()
        for pattern, length, counts in zip(self.patterns(), lengths, supports, strict=True):
            yield Entry(pattern, length, dict(zip(self.classes, counts, strict=True)))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice | ArrayLike) -> PatternSet: ...
    def __getitem__(self, index: Any) -> Entry | PatternSet:
        if isinstance(index, int | np.integer):
            if not -len(self) <= index < len(self):
                raise IndexError(f"pattern {index} of {len(self)}")
            return next(iter(self.with_rows(self.rows[[int(index)]])))
        return self.with_rows(self.rows[positions(index, len(self), "patterns")])

    def __eq__(self, other: object) -> bool:
        """The same patterns in the same order, written alike, with the same supports."""
        if not isinstance(other, PatternSet):
            return NotImplemented
        if self._origin() != other._origin() or not np.array_equal(self.supports, other.supports):
            return False
        same = self.trie is other.trie and np.array_equal(self.rows, other.rows)
        return same or all(a == b for a, b in zip(self.texts(), other.texts(), strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _origin(self) -> tuple[object, ...]:
        sizes = tuple(self.class_sizes.tolist())
        return self.classes, sizes, self.complete_up_to, self.partial, self.object_identity

    def __getstate__(self) -> dict[str, object]:
        """Only the part of the trie that the patterns need, for pickle."""
        trie, rows = self.trie.restricted(self.rows)
        return {**self.__dict__, "trie": trie, "rows": rows, "kept_coverage": None}

    def with_rows(
        self,
        rows: Rows,
        *,
        trie: Trie | None = None,
        object_identity: bool | None = None,
        report: SearchReport | None = None,
    ) -> PatternSet:
        """The set of other nodes of the same trie, or of another one, of the same search."""
        return PatternSet(
            self.trie if trie is None else trie,
            rows,
            complete_up_to=self.complete_up_to,
            partial=self.partial,
            report=self.report if report is None else report,
            object_identity=self.object_identity if object_identity is None else object_identity,
            kept_coverage=self.kept_coverage if trie is None else None,
        )

    def training_coverage(self, *, packed: bool = False) -> NDArray[Any]:
        """What the patterns cover of the sequences that they were mined from.

        Only for sets of `mine(..., keep_coverage=True)`; the same as `coverage` of those sequences,
        but nothing is matched again.
        """
        if self.kept_coverage is None:
            what = "these patterns were mined without keep_coverage=True"
            raise InputError(what, hint="give it to mine, or ask for coverage(X)")
        covered = self.kept_coverage.matrix(self.rows)
        return np.packbits(covered, axis=0) if packed else covered

    def patterns(self) -> Iterator[Pattern]:
        """The patterns alone, one by one."""
        for atoms in written(self.trie, self.rows, lambda atom: atom):
            yield Pattern(tuple(atoms))

    def texts(self) -> Iterator[str]:
        """The patterns as Prolog text, one by one."""
        yield from map(", ".join, written(self.trie, self.rows, str))

    # Measures

    def measure(self, name: str, class_: object = None) -> Floats:
        """A measure of every pattern.

        Parameters
        ----------
        name
            `frequency`, `length`, `support` (share of the class), `confidence`, `growth_rate`,
            `wracc`, `chi2` or `information_gain` (bits).
        class_
            Of this class against the others. None takes the largest value of any class; for
            `chi2` and `information_gain` it takes all classes together.
        """
        ms.checked_measure(name)
        if name == "frequency":
            return self.frequencies.astype(float)
        if name == "length":
            return self.lengths.astype(float)
        if class_ is None:
            return ms.of_all_classes(name, self.supports, self.class_sizes)
        column = ms.class_column(class_, self.classes)
        return ms.MEASURES[name][0](self.supports, self.class_sizes)[:, column]

    # Smaller sets

    def filter(
        self,
        *,
        min_confidence: float | None = None,
        min_support: float | None = None,
        max_support: Mapping[object, float] | None = None,
        min_frequency: int | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        classes: SequenceOf[object] | None = None,
        at_least: Mapping[str, float] | None = None,
    ) -> PatternSet:
        """The patterns that meet all conditions, in the same order.

        Parameters
        ----------
        min_confidence, min_support
            Reached by at least one of the classes. Support is the share of the class.
        max_support
            The most of given classes that may be covered: a share, `{"no": 0.05}`, or an integer,
            a number of sequences, `{"no": 2}`.
        min_frequency
            Sequences covered, of any class.
        min_length, max_length
            Atoms other than links.
        classes
            The classes that may reach a threshold; None means all.
        at_least
            Thresholds for other measures, `{"chi2": 3.84}`; see `measure`.

        Examples
        --------
        >>> import relynx as rx
        >>> X, y = rx.from_lists([["a"], ["a", "b"], ["b"]], ["yes", "yes", "no"])
        >>> found = rx.mine(X, y, max_length=1).filter(min_confidence=1.0)
        >>> [str(entry) for entry in found]
        ['a(A)']
        """
        for name, given in (("max_support", max_support), ("at_least", at_least)):
            if given is not None and not isinstance(given, Mapping):
                raise InputError(f"{name} is {given!r}: give a dict")
        thresholds = {
            "min_confidence": min_confidence,
            "min_support": min_support,
            "min_frequency": min_frequency,
            "min_length": min_length,
            "max_length": max_length,
        }
        if isinstance(classes, str):
            raise InputError(f"classes is {classes!r}: give a list of classes")
        _check_thresholds(thresholds, max_support or {}, at_least or {})
        for c in classes or ():
            ms.class_column(c, self.classes)
        kept = np.ones(len(self), bool) if max_length is None else self.lengths <= max_length
        for name in ("confidence", "support", "frequency", "length"):
            least = thresholds[f"min_{name}"]
            if least is not None:
                kept &= self._largest(name, classes) >= least - SLACK
        for name, least in (at_least or {}).items():
            kept &= self._largest(name, classes) >= least - SLACK
        for c, most in (max_support or {}).items():
            column = ms.class_column(c, self.classes)
            is_count = isinstance(most, int | np.integer)
            covered = self.supports[:, column] if is_count else self.measure("support", c)
            kept &= covered <= most + SLACK
        return self[kept]

    def _largest(self, name: str, classes: SequenceOf[object] | None) -> Floats:
        if classes is None or name in ms.OF_PATTERNS:
            return self.measure(name)
        values = [self.measure(name, c) for c in classes]
        return np.max(values, axis=0, initial=-np.inf) if values else np.full(len(self), -np.inf)

    def sort(
        self, by: str = "confidence", *, class_: object = None, descending: bool = True
    ) -> PatternSet:
        """The same patterns in the order of a measure.

        Ties go to the larger frequency, then to the shorter pattern, then stay as they are.
        """
        values = self._rounded(by, class_)
        keys = (self.lengths, -self.frequencies, -values if descending else values)
        return self[np.lexsort(keys)]

    def _rounded(self, by: str, class_: object) -> Floats:
        """A measure as far as it decides: what differs by rounding is a tie."""
        return self.measure(by, class_).round(12)

    def top_k(self, k: int, by: str = "confidence", *, class_: object = None) -> PatternSet:
        """The k best patterns by a measure, best first.

        Ties go to the larger frequency, then to the shorter pattern, then by canonical form, so
        that the choice does not depend on the order of the set.
        """
        if not _is_count(k) or k < 0:
            raise InputError(f"k is {k!r}: give a number of patterns, 0 or more")
        ordered = self.sort(by, class_=class_)
        if k < len(ordered) and k:
            values, frequencies = ordered._rounded(by, class_), ordered.frequencies
            last = k - 1
            tied = (values == values[last]) & (frequencies == frequencies[last])
            tied &= ordered.lengths == ordered.lengths[last]
            first = int(np.flatnonzero(tied)[0])
            best = canonical_order(ordered.trie, ordered.rows[tied])[: k - first]
            return ordered.with_rows(np.concatenate([ordered.rows[:first], best]))
        return ordered[:k]

    def maximal(self) -> PatternSet:
        """The patterns that no other of the set is more specific than."""
        return self[borders.maximal(self)]

    def most_general(self) -> PatternSet:
        """The patterns that no other of the set is more general than."""
        return self[borders.most_general(self)]

    def borders(self, *, implied: bool = False) -> Borders[PatternSet]:
        """The most general and the most specific patterns, and what lies between them.

        Parameters
        ----------
        implied
            Whether links count by what they imply: `next_s` is then a case of `follow_s`, and a c
            after a b after an a is a case of a c after an a. Else they count as written, as in
            `most_general` and `maximal`.

        Examples
        --------
        >>> import relynx as rx
        >>> X, y = rx.from_lists([["a", "b"], ["a"], ["b"]], ["yes", "yes", "no"])
        >>> rx.mine(X, y, max_support={"no": 0}, max_gap=1).borders()
        most general:
        pattern                    length  frequency  no  yes
        a(A)                            1          2   0    2
        1 pattern; complete up to length 3
        most specific:
        pattern                    length  frequency  no  yes
        a(A), follow_s(A,B), b(B)       2          1   0    1
        a(A), next_s(A,B), b(B)         2          1   0    1
        2 patterns; complete up to length 3
        """
        if implied:
            return implied_borders(self)
        return Borders(self.most_general(), self.maximal())

    def reduced(self) -> PatternSet:
        """One of each group of patterns that subsume each other, the shortest, in the same order.

        Under Object Identity that is the set itself. Without it, an atom may say no more than
        another one: `p(A), q(A,B), q(A,C)` and `p(A), q(A,B)` cover the same in all sequences.
        """
        if self.object_identity:
            return self
        patterns = list(self.patterns())
        first: dict[tuple[Atom, ...], int] = {}
        for i in sorted(range(len(self)), key=lambda i: len(patterns[i])):
            first.setdefault(canonical(core(patterns[i].atoms)), i)
        return self[sorted(first.values())]

    def closed(self) -> PatternSet:
        """Without the patterns for which a more specific one of the set covers the same sequences.

        More specific means subsumed as written: `next_s` does not count as a case of `follow_s`.
        """
        return self[borders.maximal(self, same_cover=True)]

    def covering(
        self, X: Sequences, times: int, by: str = "confidence", *, class_: object = None
    ) -> PatternSet:
        """The best patterns until every sequence is covered `times` times.

        Patterns are taken best first, as `sort` orders them; one is kept when it covers a sequence
        that fewer than `times` of the kept ones cover. A sequence that too few patterns cover at
        all keeps all of those.
        """
        if not _is_count(times) or times < 1:
            raise InputError(f"times is {times!r}: give a number of patterns, 1 or more")
        ordered = self.sort(by, class_=class_)
        count = np.zeros(len(X), np.int64)
        kept: list[int] = []
        for start in range(0, len(ordered), COVERED_AT_ONCE):
            open_ = np.flatnonzero(count < times)
            if not len(open_):
                break
            bits = ordered[start : start + COVERED_AT_ONCE].coverage(X[open_])
            still = count[open_]
            for i, column in enumerate(bits.T):
                if (column & (still < times)).any():
                    kept.append(start + i)
                    still += column
            count[open_] = still
        return ordered[kept]

    def coverage(
        self, X: Sequences, *, packed: bool = False, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Which sequences the patterns cover: one row a sequence, one column a pattern.

        Parameters
        ----------
        X
            Sequences, those of the search or others.
        packed
            Give eight sequences to a byte: `np.unpackbits(bits, axis=0, count=len(X))` is the
            whole matrix.
        n_jobs
            Threads; see `mine`.
        """
        threads = n_threads(n_jobs)
        facts = X.facts(self.object_identity)
        asked = Asked(len(self), self._atoms, (self.trie, self.rows))
        out = covered(asked, facts, self.object_identity, threads)
        return np.packbits(out, axis=1).T if packed else out.T

    def _atoms(self, which: Rows) -> list[tuple[Atom, ...]]:
        return [pattern.atoms for pattern in self[which].patterns()]

    # What people read

    def explain_search(self) -> str:
        """What the search saw at each length, what each condition removed, and what came near."""
        return explained(self.report, complete_up_to=self.complete_up_to, partial=self.partial)

    def to_frame(self, backend: str = "pandas", *, measures: SequenceOf[str] = ()) -> Any:
        """A data frame, one row a pattern.

        Parameters
        ----------
        backend
            `pandas`, `polars` or `pyarrow`; the library must be installed.
        measures
            More columns; see `measure`. Pattern, length, frequency, and the support (a count) and
            confidence of each class are always there.

        Examples
        --------
        >>> import relynx as rx
        >>> X, y = rx.from_lists([["a"], ["b"]], ["yes", "no"])
        >>> list(rx.mine(X, y, max_length=1).to_frame().columns)
        ['pattern', 'length', 'frequency', 'support_no', 'support_yes', 'confidence_no',
         'confidence_yes']
        """
        schema = tables.schema(self, measures)
        return frame(tables.chunks(self, measures), schema, backend=backend)

    def to_csv(self, path: str | os.PathLike[str], *, measures: SequenceOf[str] = ()) -> None:
        """Write the columns of `to_frame` as CSV. The file appears whole or not at all."""
        write_csv(path, tables.chunks(self, measures), tables.schema(self, measures))

    def to_parquet(self, path: str | os.PathLike[str], *, measures: SequenceOf[str] = ()) -> None:
        """Write the columns of `to_frame` as Parquet; polars or pyarrow must be installed."""
        write_parquet(path, tables.chunks(self, measures), tables.schema(self, measures))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object a line, support and confidence by class."""
        write_jsonl(path, tables.json_rows(self))

    def __repr__(self) -> str:
        return tables.text_table(self)

    def _repr_html_(self) -> str:
        return tables.patterns_html(self)


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and value == value


def _check_thresholds(
    thresholds: Mapping[str, Any], max_support: Mapping[Any, Any], at_least: Mapping[Any, Any]
) -> None:
    """Raise for a threshold of `filter` that is no number."""
    named = {name: value for name, value in thresholds.items() if value is not None}
    named |= {f"max_support of {c!r}": most for c, most in max_support.items()}
    named |= {f"{name} of at_least": least for name, least in at_least.items()}
    for name, value in named.items():
        if not _is_number(value):
            raise InputError(f"{name} is {value!r}: give a number")
