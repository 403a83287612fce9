"""Patterns matched along their trie cover what they cover one by one."""

from __future__ import annotations

import numpy as np
import pytest
from languages import make_language
from test_webs import BIAS, data

from relynx import Sequences, covers, from_lists, load_protein_folds
from relynx.bias import parse_bias
from relynx.logic.terms import Atom
from relynx.mining.matching import trie_coverage
from relynx.mining.matching.trie_coverage import TrieMatcher
from relynx.mining.patterns import pattern_set
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine


def along_the_trie(found: PatternSet, X: Sequences) -> np.ndarray | None:
    facts = X.facts(found.object_identity)
    matcher = TrieMatcher.of(found.trie, found.rows, facts, found.object_identity)
    return None if matcher is None else matcher.coverage(found.rows).T


def one_by_one(found: PatternSet, X: Sequences) -> np.ndarray:
    return covers(list(found.patterns()), X, found.object_identity)


@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("facts_of_event", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_covers_on_the_mined_sequences_and_on_others(
    seed, facts_of_event, object_identity
):
    X, y = data(seed, facts_of_event)
    found = mine(X, y, parse_bias(BIAS), min_support=0.15, object_identity=object_identity)
    some = np.arange(0, len(found), len(found) // 300 + 1)
    for Z in (X, data(seed + 50, facts_of_event)[0]):
        assert np.array_equal(along_the_trie(found, Z)[:, some], one_by_one(found[some], Z))


def test_it_equals_covers_on_random_languages_or_declines():
    taken = 0
    for seed in range(24):
        language = make_language(seed)
        settings = {**language.parameters, "max_length": 2}
        found = mine(language.X, bias=language.bias, **settings)
        covered = along_the_trie(found, language.X)
        if covered is not None:
            taken += 1
            assert np.array_equal(covered, one_by_one(found, language.X)), seed
    assert taken >= 6


def test_constants_predicates_and_dimensions_that_new_sequences_lack_cover_nothing():
    X, y = data(3)
    found = mine(X, y, parse_bias(BIAS), min_support=0.1)
    line = [Atom("next_s", ("e1", "e2")), Atom("q", ("e1", "new")), Atom("q", ("e2", "a"))]
    others = Sequences.from_atoms([line, [*line, Atom("q", ("e2", "c"))]])
    covered = along_the_trie(found, others)
    assert covered is not None
    assert np.array_equal(covered, one_by_one(found, others))
    assert 0 < covered.sum() < covered.size


def test_branches_long_sequences_and_relations_between_events_are_declined():
    lists = [["a"] * 70, ["b"] * 3]
    X, _ = from_lists(lists)
    assert along_the_trie(mine(X, max_length=2, min_support=0.5), X) is None
    folds = load_protein_folds()
    bias = parse_bias("type(ladder(event,event,sense)). mode(ladder(+,-,#)).")
    found = mine(folds.X[:40], folds.y[:40], bias, max_length=1)
    assert len(found)
    assert along_the_trie(found, folds.X[:40]) is None


def test_coverage_takes_the_trie_when_there_are_many_patterns(monkeypatch):
    X, y = data(1)
    found = mine(X, y, parse_bias(BIAS), min_support=0.1)
    whole, packed = found.coverage(X), found.coverage(X, packed=True)
    assert np.array_equal(np.unpackbits(packed, axis=0, count=len(X)), whole)
    monkeypatch.setattr(pattern_set, "MANY", 10**9)
    assert np.array_equal(found.coverage(X), whole)
    assert np.array_equal(found.coverage(X, packed=True), packed)


def test_patterns_of_the_folds_in_another_order_keep_their_columns():
    folds = load_protein_folds()
    bias = parse_bias(
        "type(strand(event)). mode(strand(+)). type(sense(event,sense)). mode(sense(+,#)). "
        "dimension(next_b). dimension(next_h)."
    )
    found = mine(folds.X[::9], folds.y[::9], bias, min_support=0.3)
    some = found[np.random.default_rng(0).permutation(len(found))[:300]]
    assert np.array_equal(along_the_trie(some, folds.X[:200]), one_by_one(some, folds.X[:200]))


# Threads


@pytest.fixture
def shared_out(monkeypatch) -> list[tuple[int, list]]:
    """By how many threads each coverage so far was made, and their tasks."""
    noted: list[tuple[int, list]] = []
    in_order = trie_coverage.in_order
    monkeypatch.setattr(
        trie_coverage,
        "in_order",
        lambda work, tasks, n: (noted.append((n, tasks)), in_order(work, tasks, n=n))[1],
    )
    return noted


def small_trie() -> tuple[TrieMatcher, np.ndarray]:
    """A matcher of patterns of two atoms of three letters, and its rows."""
    X, _ = from_lists([[*"abcabc"], [*"cbacba"], [*"aabbcc"]], predicate="q")
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s). maxfollowat(3).")
    found = mine(X, None, bias, min_support=0.3, max_length=2)
    matcher = TrieMatcher.of(found.trie, found.rows, X.facts(True), True)
    assert matcher is not None
    return matcher, found.rows


def test_a_small_trie_is_shared_out_between_threads(monkeypatch, shared_out):
    monkeypatch.setattr(trie_coverage, "LEAST_SHARED", 1)
    matcher, rows = small_trie()
    alone, by_two = (matcher.coverage(rows, n_threads=n) for n in (1, 2))
    assert np.array_equal(by_two, alone)
    (_, whole), (n_threads, parts) = shared_out
    assert n_threads == 2
    assert len(whole) == 3, "one thread takes all that extend a letter at once"
    assert len(parts) >= 16, "each thread has something to do to the end"
    done, again = ([row for _, below in tasks for row in below] for tasks in (whole, parts))
    assert again == done


def test_few_sequences_are_not_shared_out_between_threads(shared_out):
    matcher, rows = small_trie()
    matcher.coverage(rows, n_threads=2)
    ((n_threads, tasks),) = shared_out
    assert (n_threads, len(tasks)) == (1, 3)
