"""Which columns of events a search should take together, because the classes depend on them.

The language that is inferred for a table has a predicate for each column, with constants. A rule
such as "the same product returned twice" takes four of them, and a variable for the product. There
are too many such patterns to search them all, so `evidence` looks at pairs of events first: which
tests (the same value of a column in both events, different ones, a given value in one or both)
does a pair pass in sequences of one class more than the single events there explain?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.bias import Bias
from relynx.bias.modes import EVENT
from relynx.data.event_arguments import packed_pairs
from relynx.data.sequences import Facts, Sequences
from relynx.mining.views import Columns, View, columns_of
from relynx.models.lynx import _pair_kernels as pk

LEAST_SEQUENCES, MOST_SEQUENCES = 400, 3_000  # that are looked at, if there are so many
MOST_EVENTS, MOST_PAIRS = 40_000, 200_000  # of them, about
MOST_VALUES, RARE = 12, 0.02  # constants of a column, and the share of events with it
MOST_SYMMETRIC = 70  # tests of both events alike, of which all triples are tried
MOST_TESTS = 250  # of which all pairs are tried: half of them the first, half those that tell most
MOST_LOOKED_AT = 2_000  # tests
MOST_FEATURES = 200  # of single events
BEAM, LONGEST = 150, 6  # conjunctions that are extended, and their most tests
MOST_SEARCHED = 3  # tests of values, which patterns of single columns have anyway
MOST_VIEWS = 4
LEVEL, NEEDED = 1e-3, 1e-4  # of significance: of a conjunction, of each of its tests
ENOUGH = 10  # sequences: of fewer a statistic is no chi-square
FOLDS = 5
SAME, OTHER, FIRST, SECOND, BOTH = range(5)  # kinds of tests


class PairTest(NamedTuple):
    """Of a pair of events: `SAME` or `OTHER` values in columns a and b, or the value of column a in
    the first event, the second, or both."""

    kind: int
    a: int
    b: int
    value: int = -1

    @property
    def is_symmetric(self) -> bool:
        return self.kind in (SAME, OTHER, BOTH)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of events in the order of sequences, and the tests that they pass, as bits."""

    sequence: Longs  # of each pair
    ends: Longs  # of each sequence
    tests: list[PairTest]
    bits: NDArray[np.uint64]

    def sums(self, tests: Longs, values: Floats, covered: Bools) -> Floats:
        out = np.empty((len(tests), values.shape[1]))
        pk.sums_of(self.bits, tests, self.sequence, self.ends, values, out, covered)
        return out


def evidence(X: Sequences, y: Longs, bias: Bias, seed: int) -> list[View]:
    """The columns that patterns should have together, the most telling first."""
    if not bias.dimensions or len(np.unique(y)) < 2:
        return []
    facts = X.facts()
    n_links = sum(facts.tables[f"next_{one}", 2].shape[1] for one in bias.dimensions)
    n = MOST_EVENTS * len(X) // (n_links + len(X))
    n = min(max(n, LEAST_SEQUENCES), MOST_SEQUENCES, len(X))
    if n < len(X):
        some = np.linspace(0, len(X) - 1, n).astype(np.int64)
        facts, y = X[some].facts(), y[some]
    columns = columns_of(facts, bias)
    if not columns.names:
        return []
    pairs = _pairs(facts, columns, bias.dimensions)
    if not len(pairs.tests):
        return []
    known, views = _single_events(facts, bias), []
    for _ in range(MOST_VIEWS):
        found = _best(pairs, *_residuals(known, y, seed))
        if found is None:
            break
        tests, covered = found
        view = _view([pairs.tests[i] for i in tests], columns)
        known = np.column_stack([known, covered])
        if view not in views:
            views.append(view)
    return views


def _pairs(facts: Facts, columns: Columns, dimensions: tuple[str, ...]) -> _Pairs:
    """Pairs of events of which one follows the other, at most `MOST_PAIRS` or so."""
    n, found = columns.n_constants, [np.empty(0, np.int64)]
    for dimension in dimensions:
        table = facts.tables[f"next_{dimension}", 2]
        x, y = (np.searchsorted(columns.events, packed_pairs(table, i, n)) for i in (0, 1))
        found += [a * len(columns.events) + b for a, b in _along(x, y, columns)]
    a, b = np.divmod(np.unique(np.concatenate(found)), len(columns.events))
    sequence = columns.events[a] // n  # events are in the order of sequences
    tests = [*_tests(columns)][:MOST_LOOKED_AT]
    passed = [_passed(test, columns.codes, a, b) for test in tests]
    kept = [i for i, one in enumerate(passed) if one.any()]
    n_words = -(-len(a) // 64)
    bits = np.zeros((len(kept), 8 * n_words), np.uint8)
    for row, i in zip(bits, kept, strict=True):
        packed = np.packbits(passed[i], bitorder="little")
        row[: len(packed)] = packed
    ends = np.searchsorted(sequence, np.arange(facts.n_sequences), side="right")
    return _Pairs(sequence, ends, [tests[i] for i in kept], bits.view("<u8").astype(np.uint64))


def _along(x: Longs, y: Longs, columns: Columns) -> Iterator[tuple[Longs, Longs]]:
    """The pairs of a dimension, near ones first, and then the next event of the same value."""
    n = len(columns.events)
    if len(np.unique(x)) < len(x) or len(np.unique(y)) < len(y):
        return  # events branch
    after = np.full(n, -1)
    after[x] = y
    chain, place = np.full(n, -1), np.zeros(n, np.int64)
    front = np.setdiff1d(x, y)
    number, step = np.arange(len(front)), 0
    while len(front):
        chain[front], place[front] = number, step
        is_on = after[front] >= 0
        front, number, step = after[front[is_on]], number[is_on], step + 1
    order = np.lexsort([place, chain])
    order = order[chain[order] >= 0]
    total = 0
    for gap in range(1, step):
        a, b = order[:-gap], order[gap:]
        is_pair = chain[a] == chain[b]
        total += int(is_pair.sum())
        if total > MOST_PAIRS and gap > 1:
            break
        yield a[is_pair], b[is_pair]
    else:
        return
    for codes in columns.codes:
        by = order[np.lexsort([place[order], codes[order], chain[order]])]
        a, b = by[:-1], by[1:]
        is_pair = (chain[a] == chain[b]) & (codes[a] == codes[b]) & (codes[a] >= 0)
        yield a[is_pair], b[is_pair]


def _tests(columns: Columns) -> Iterator[PairTest]:
    """All tests: first those that compare the events in one column, then values, the frequent ones
    first, then comparisons of two columns, those of many values first."""
    several = [i for i, row in enumerate(columns.codes) if len(np.unique(row[row >= 0])) > 1]
    for c in several:
        yield PairTest(SAME, c, c)
        yield PairTest(OTHER, c, c)
    found, n_values = [], {}
    for c in several:
        values, counts = np.unique(columns.codes[c], return_counts=True)
        n_values[c] = len(values)
        counts[values < 0] = 0
        for i in np.argsort(-counts, kind="stable")[:MOST_VALUES].tolist():
            if counts[i] >= RARE * len(columns.events):
                found.append((-int(counts[i]), c, int(values[i])))
    for _, c, value in sorted(found):
        yield from (PairTest(kind, c, c, value) for kind in (BOTH, FIRST, SECOND))
    like = [pair for pair in combinations(several, 2) if len({columns.types[c] for c in pair}) == 1]
    for c, d in sorted(like, key=lambda pair: -min(n_values[c] for c in pair)):
        yield PairTest(SAME, c, d)
        yield PairTest(SAME, d, c)


def _passed(test: PairTest, codes: Ints, a: Longs, b: Longs) -> Bools:
    """Which pairs pass a test."""
    one, other = codes[test.a][a], codes[test.b][b]
    if test.kind == SAME:
        return np.asarray((one == other) & (one >= 0))
    if test.kind == OTHER:
        return np.asarray((one != other) & (one >= 0) & (other >= 0))
    first, second = one == test.value, other == test.value
    if test.kind == BOTH:
        return np.asarray(first & second)
    return np.asarray(first if test.kind == FIRST else second)


def _single_events(facts: Facts, bias: Bias) -> Floats:
    """How often which values occur in a sequence: an array of shape (n_sequences, n_features)."""
    found = []
    for name, types in bias.types.items():
        table = facts.tables.get((name, len(types)))
        if table is None or types.count(EVENT) > 1 or len(types) - types.count(EVENT) > 1:
            continue
        value = np.zeros(table.shape[1], np.int64) if types[-1] == EVENT else table[-1]
        codes, number = np.unique(value, return_inverse=True)
        most = np.argsort(-np.bincount(number), kind="stable")[:MOST_FEATURES]
        place = np.full(len(codes), -1)
        place[most] = np.arange(len(most))
        counts = np.zeros((facts.n_sequences, len(most)))
        is_one = place[number] >= 0
        np.add.at(counts, (table[0][is_one], place[number[is_one]]), 1)
        found += [np.log1p(counts), counts > 0]
    if not found:
        return np.zeros((facts.n_sequences, 0))
    features = np.hstack(found).astype(float)
    spread = features.std(axis=0)
    order = np.argsort(-spread, kind="stable")[:MOST_FEATURES]
    return features[:, np.sort(order[spread[order] > 0])]


def _residuals(known: Floats, y: Longs, seed: int) -> tuple[Floats, Floats]:
    """What known features leave open of each class, by cross-validation, and the variance that it
    should have: arrays of shape (n_sequences, n_classes), of two classes with one column."""
    counts = np.bincount(y)
    is_one = y[:, None] == np.arange(len(counts))
    is_one = is_one[:, 1:] if len(counts) == 2 else is_one
    shares = np.tile(is_one.mean(axis=0), (len(y), 1))
    n_folds = min(FOLDS, int(counts.min()))
    if known.shape[1] and n_folds > 1:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        learner = LogisticRegression(solver="newton-cholesky")  # fast for few features
        for k, wanted in enumerate(is_one.T):
            how: dict[str, Any] = {"cv": folds, "method": "predict_proba"}
            shares[:, k] = cross_val_predict(learner, known, wanted, **how)[:, 1]
    return is_one - shares, shares * (1 - shares)


def _best(pairs: _Pairs, left: Floats, variance: Floats) -> tuple[list[int], Floats] | None:
    """The tests of the conjunction that tells most, and the sequences that have such a pair; None
    where none tells more than chance does among so many."""
    judge = _Judge(pairs, left, variance)
    tried = [*_tried(pairs, judge)]
    n_tried = sum(len(tests) for tests, _ in tried)
    least = chdtri(judge.freedom, LEVEL / max(n_tried, 1))
    found = [
        (-float(values[i]), tests[i])
        for tests, values in tried
        for i in np.argsort(-values, kind="stable")[:BEAM].tolist()
        if values[i] >= least
    ]
    for _, tests in sorted(found, key=lambda one: one[0])[:BEAM]:
        pruned = judge.needed([int(test) for test in tests if test >= 0])
        [value], covered = judge.values(np.array([pruned]), covered=True)
        compares = any(pairs.tests[i].kind in (SAME, OTHER) for i in pruned)
        if value >= least and (compares or len(pruned) > MOST_SEARCHED):
            return pruned, covered[0].astype(float)
    return None


@dataclass(slots=True)
class _Judge:
    """How much more a conjunction tells about the classes than is known without it."""

    pairs: _Pairs
    left: Floats
    variance: Floats

    @property
    def freedom(self) -> int:
        return max(int(self.left.shape[1]) - 1, 1)

    def sums(self, tests: Longs, *, covered: bool = False) -> tuple[list[Floats], Bools]:
        """Of what conjunctions cover: how many sequences, what is left of them, its squares, and
        its variance, summed; and which sequences these are."""
        values = [np.ones((len(self.left), 1)), self.left, self.left**2, self.variance]
        where = np.zeros((len(tests) if covered else 0, len(self.left)), bool)
        sums = self.pairs.sums(tests, np.hstack(values), where)
        return [sums[:, :1], *np.hsplit(sums[:, 1:], 3)], where

    def values(self, tests: Longs, *, covered: bool = False) -> tuple[Floats, Bools]:
        """The statistic of each conjunction."""
        (n, left, squares, variance), where = self.sums(tests, covered=covered)
        return self._statistic(left, squares, variance) * (n[:, 0] >= ENOUGH), where

    def needed(self, tests: list[int]) -> list[int]:
        """Those tests without which the others tell less; the least needed go first."""
        while len(tests) > 1:
            fewer = [[one for one in tests if one != test] for test in tests]
            (n, left, squares, variance), _ = self.sums(np.array([tests]))
            (n_before, left_before, *_), _ = self.sums(np.array(fewer))
            mean, rest = left_before / n_before, np.maximum(1 - n / n_before, 1e-9)
            squares = squares - 2 * mean * left + mean**2 * n
            gains = self._statistic(left - mean * n, squares * rest, variance * rest)
            least = int(gains.argmin())
            if gains[least] >= chdtri(self.freedom, NEEDED):
                break
            tests = fewer[least]
        return tests

    def _statistic(self, left: Floats, squares: Floats, variance: Floats) -> Floats:
        """About a chi-square. What is left has the larger of both variances: the squares are small
        where no wrong label is among few, the other one where known features promise too much."""
        n = left.shape[1]
        found: Floats = (left**2 / np.maximum(np.maximum(squares, variance), 1e-12)).sum(axis=1)
        return found * ((n - 1) / n if n > 1 else 1)


def _tried(pairs: _Pairs, judge: _Judge) -> Iterator[tuple[Longs, Floats]]:
    """Conjunctions of tests with their statistics: all of two, all of three that are alike for both
    events, and longer ones of the best."""
    chosen = _chosen(judge)
    symmetric = [i for i in chosen if pairs.tests[i].is_symmetric][:MOST_SYMMETRIC]
    pool: list[tuple[float, tuple[int, ...]]] = []
    for tests in (
        np.array(chosen)[:, None],
        np.array([*combinations(chosen, 2)], np.int64).reshape(-1, 2),
        np.array([*combinations(symmetric, 3)], np.int64).reshape(-1, 3),
    ):
        values, _ = judge.values(tests)
        yield tests, values
        best = np.argsort(-values, kind="stable")[:BEAM]
        pool += [(-float(values[i]), tuple(tests[i].tolist())) for i in best.tolist()]
    beam = [tests for _, tests in sorted(pool)[:BEAM]]
    for _ in range(LONGEST - 2):
        longer = {tuple(sorted({*tests, i})) for tests in beam for i in chosen if i not in tests}
        wanted = sorted(tests for tests in longer if len(tests) <= LONGEST)
        if not wanted:
            return
        width = max(map(len, wanted))
        array = np.array([[*tests, *[-1] * (width - len(tests))] for tests in wanted], np.int64)
        values, _ = judge.values(array)
        yield array, values
        best = np.argsort(-values, kind="stable")[:BEAM]
        beam = [wanted[i] for i in best.tolist()]


def _chosen(judge: _Judge) -> list[int]:
    """The tests of which all pairs are tried: the first ones, and those that tell most alone."""
    every = np.arange(len(judge.pairs.tests))
    if len(every) <= MOST_TESTS:
        return every.tolist()
    alone, _ = judge.values(every[:, None])
    order = [*every[: MOST_TESTS // 2].tolist(), *np.argsort(-alone, kind="stable").tolist()]
    return sorted([*dict.fromkeys(order)][:MOST_TESTS])


def _view(tests: list[PairTest], columns: Columns) -> View:
    """What patterns need to say what some tests do."""
    sides: tuple[set[int], set[int]] = (set(), set())
    for test in tests:
        sides[0].update({test.a} if test.kind != SECOND else ())
        sides[1].update({test.b} if test.kind != FIRST else ())
    compared = [test for test in tests if test.kind in (SAME, OTHER)]
    shared = {column for test in compared for column in (test.a, test.b)}
    constant = {test.a for test in tests if test not in compared}
    named = [tuple(columns.names[i] for i in sorted(side)) for side in sides if side]
    return View(
        tuple(dict.fromkeys(named)),
        frozenset(columns.names[i] for i in constant),
        frozenset(columns.names[i] for i in shared),
    )
