"""Which patterns may become features."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from relynx import covers, from_lists, mine, planted_rule
from relynx.features import candidates
from relynx.features.candidates import (
    best_columns,
    by_class_in_turn,
    distinct,
    lean,
    significant,
    united,
)


@pytest.fixture(scope="module")
def planted():
    return planted_rule(60, random_state=0)


@pytest.fixture(scope="module")
def found(planted):
    return mine(*planted, max_length=2, min_support=0.2)


symbols = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
labelled = st.lists(st.tuples(symbols, st.sampled_from(["x", "y", "z"])), min_size=2, max_size=8)


@given(labelled, st.one_of(st.none(), st.integers(1, 6)))
def test_distinct_keeps_the_first_pattern_of_each_column_that_varies(rows, most):
    X, y = from_lists(*zip(*rows, strict=True))
    patterns = mine(X, y, max_length=2)
    kept, matrix = distinct(patterns, X, most)
    seen, expected = set(), []
    for text, column in zip(patterns.texts(), patterns.coverage(X).T, strict=True):
        key = tuple(column.tolist())
        if key not in seen and 0 < sum(key) < len(X):
            seen.add(key)
            expected.append(text)
    assert [*kept.texts()] == expected[:most]
    assert np.array_equal(matrix, kept.coverage(X))


def test_distinct_looks_no_further_than_it_must(found, planted, monkeypatch):
    X, _ = planted
    whole, _ = distinct(found, X, 5)
    monkeypatch.setattr(candidates, "LEAST_AT_ONCE", 3)
    asked = []
    real = type(found).coverage
    monkeypatch.setattr(
        type(found),
        "coverage",
        lambda self, *a, **k: asked.append(len(self)) or real(self, *a, **k),
    )
    assert [*distinct(found, X, 5)[0].texts()] == [*whole.texts()]
    assert sum(asked) < len(found)


def test_of_patterns_that_cover_the_same_the_shortest_is_kept():
    X, y = from_lists([["a", "b"], ["a", "b"], ["b"]], ["yes", "yes", "no"])
    kept, _ = distinct(by_class_in_turn(mine(X, y, max_length=2), "chi2"), X, None)
    assert [*kept.texts()] == ["a(A)"]


def test_classes_choose_in_turn(found):
    ordered = by_class_in_turn(found, "chi2")
    assert sorted(ordered.texts()) == sorted(found.texts())
    owner = (ordered.supports / ordered.class_sizes).argmax(axis=1)
    turns = min(np.bincount(owner))
    assert owner[: 2 * turns].tolist() == [0, 1] * turns
    for c in (0, 1):
        values = ordered[owner == c].measure("chi2").round(9)
        assert (np.diff(values) <= 0).all()


def test_the_significant_patterns_pass_the_corrected_test(found):
    kept = {*significant(found, 0.05).texts()}
    for entry in found:
        table = np.array([*entry.support.values()])
        rest = found.class_sizes - table
        p = 1.0
        if rest.any():
            p = chi2_contingency([table, rest], correction=False).pvalue
        assert (str(entry) in kept) == (p <= 0.05 / len(found))
    assert 0 < len(kept) < len(found)


def test_where_no_pattern_is_significant_all_are_kept():
    X, y = from_lists([["a"], ["b"]], ["yes", "no"])
    found = mine(X, y)
    assert len(significant(found, 0.05)) == len(found) > 0


def test_a_search_that_found_nothing_or_one_class_is_left_as_it_is(found):
    assert len(significant(found[:0], 0.05)) == 0
    X, _ = from_lists([["a"], ["b"]])
    one = mine(X)
    assert significant(one, 0.05) is one


def test_a_lean_set_is_the_same_set(found):
    some = found[[5, 2, 9]]
    assert lean(some) == some
    assert len(lean(some).trie) < len(found.trie)


def test_united_sets_hold_each_pattern_once_with_supports_in_all_sequences(planted):
    X, _ = planted
    y = np.arange(len(X)) % 3
    sets = [mine(X[y != c], y[y != c], max_length=1, min_support=0.4) for c in range(3)]
    union, where = united(sets, X, y, (0, 1, 2))
    texts = [*union.texts()]
    assert len(set(texts)) == len(texts)
    assert union.classes == (0, 1, 2)
    assert union.class_sizes.tolist() == np.bincount(y).tolist()
    for one, columns in zip(sets, where, strict=True):
        assert [texts[i] for i in columns] == [*one.texts()]
    for entry in union:
        hits = covers(entry.pattern, X)
        assert entry.support == {c: int(hits[y == c].sum()) for c in range(3)}


def test_sets_of_other_vocabularies_are_united_by_their_constants():
    first, y = from_lists([[("do", "a")], [("do", "b")]], ["x", "y"])
    second, _ = from_lists([[("do", "c")], [("do", "b")]], ["x", "y"])
    options = {"max_length": 1, "min_support": 1.0}
    sets = [mine(X, y, **options) for X in (first, second)]
    union, where = united(sets, first, np.array([0, 1]), ("x", "y"))
    texts = [*union.texts()]
    assert [[texts[i] for i in columns] for columns in where] == [[*s.texts()] for s in sets]
    assert "do(A,c)" in texts
    assert union[texts.index("do(A,c)")].frequency == 0


def test_empty_sets_are_united_to_an_empty_one(found, planted):
    X, _ = planted
    union, where = united([found[:0], found[:0]], X, np.zeros(len(X), int), ("x",))
    assert len(union) == 0
    assert [len(columns) for columns in where] == [0, 0]


def test_a_united_set_survives_pickle(found, planted):
    X, y = planted
    union, _ = united([found[:4], found[2:6]], X, (y == "yes").astype(int), ("no", "yes"))
    assert pickle.loads(pickle.dumps(union)) == union


@pytest.mark.parametrize("measure", ["chi2", "confidence", "growth_rate", "frequency"])
@pytest.mark.parametrize("most", [None, 7])
def test_the_best_columns_are_those_of_the_patterns_in_turn(found, planted, measure, most):
    X, _ = planted
    ordered = by_class_in_turn(found, measure)
    kept, matrix = distinct(ordered, X, most)
    M = ordered.coverage(X)
    if measure != "frequency":  # what knows no classes keeps the order that it has
        M = M[:, np.lexsort((ordered.lengths,))]
    codes = np.unique(np.asarray(X.labels), return_inverse=True)[1]
    chosen = M[:, best_columns(M, codes, measure, most)]
    if measure == "frequency" or most is None:
        assert sorted(map(bytes, chosen.T)) == sorted(map(bytes, matrix.T))
    supports = np.stack([chosen[codes == c].sum(axis=0) for c in (0, 1)], axis=1)
    assert np.array_equal(supports, kept.supports)
