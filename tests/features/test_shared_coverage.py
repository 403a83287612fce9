"""What patterns cover, remembered over searches of parts of the same sequences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relynx import from_intervals, from_lists, mine
from relynx.features.shared_coverage import SharedCoverage
from relynx.mining.patterns.pattern_set import PatternSet

lists = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=2, max_size=9)


def intervals(seed=0, n=12):
    """Sequences of six intervals, whose relations are matched pattern by pattern."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 20, 6 * n)
    table = {
        "id": np.repeat(np.arange(n), 6).tolist(),
        "from": start.tolist(),
        "to": (start + rng.integers(1, 9, 6 * n)).tolist(),
        "on": rng.choice(list("abc"), 6 * n).tolist(),
    }
    return from_intervals(table, sequence="id", start="from", end="to", symbol="on")[0]


@given(lists, st.data())
def test_a_part_has_the_rows_of_the_whole(rows, data):
    X, _ = from_lists(rows)
    part = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, unique=True)))
    patterns = mine(X, max_length=2)
    shared = SharedCoverage(X)
    for _ in range(2):  # the second time from what is remembered
        assert np.array_equal(shared.of(part)(patterns), patterns.coverage(X[part], packed=True))


def test_a_pattern_is_matched_once_for_all_parts(monkeypatch):
    X = intervals()
    patterns = mine(X, max_length=2, min_support=0.5)
    assert len(patterns) > 20
    assert not patterns.matched_along_trie(X)
    asked = []
    real = PatternSet.coverage
    monkeypatch.setattr(
        PatternSet, "coverage", lambda self, *a, **k: asked.append(len(self)) or real(self, *a, **k)
    )
    shared = SharedCoverage(X)
    shared.of(np.arange(6))(patterns[:15])
    found = shared.of(np.arange(4, 12))(patterns)
    assert asked == [15, len(patterns) - 15]
    assert np.array_equal(found, real(patterns, X[4:], packed=True))


def test_what_is_matched_all_at_once_is_not_kept():
    X, _ = from_lists([["a", "b", "c", "a"], ["b", "c", "a", "b"]] * 3)
    patterns = mine(X, max_length=3)
    assert patterns.matched_along_trie(X)
    shared = SharedCoverage(X)
    assert np.array_equal(shared.of(np.arange(3))(patterns), patterns.coverage(X[:3], packed=True))
    assert not shared._known


def test_no_patterns_have_no_columns():
    X = intervals()
    assert SharedCoverage(X).of(np.arange(9))(mine(X)[:0]).shape == (2, 0)
