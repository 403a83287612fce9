"""Patterns matched along their trie by words of bits cover what they cover one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from event_languages import event_language
from languages import make_language

from relynx import Sequences, covers, from_lists, load_protein_folds
from relynx.bias import parse_bias
from relynx.logic.terms import Atom
from relynx.mining.matching import tries
from relynx.mining.matching.lines import LineMatcher
from relynx.mining.matching.tries import TrieMatcher
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine

LETTERS = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s). maxfollowat(3).")


def along_the_trie(found: PatternSet, X: Sequences) -> np.ndarray | None:
    facts = X.facts(found.object_identity)
    matcher = TrieMatcher.of(found.trie, found.rows, facts, found.object_identity)
    return None if matcher is None else matcher.coverage(found.rows).T


def one_by_one(found: PatternSet, X: Sequences) -> np.ndarray:
    return covers(list(found.patterns()), X, found.object_identity)


def line(letters: str, *more: Atom) -> list[Atom]:
    """A sequence q(e0,letter), next_s(e0,e1), q(e1,letter), ..."""
    events = [f"e{i}" for i in range(len(letters))]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    return [*links, *(Atom("q", pair) for pair in zip(events, letters, strict=True)), *more]


@pytest.mark.parametrize("seed", range(12))
def test_it_equals_covers_on_the_mined_sequences_and_on_others(seed):
    language = event_language(seed)
    found = mine(language.X, bias=language.bias, **language.settings)
    some = found[:: len(found) // 100 + 1]
    others = [atoms[::2] + atoms[1::4] for atoms in language.sequences]  # without some links
    others.append(tuple(a for a in language.sequences[0] if a.predicate != "p"))
    for X in (language.X, Sequences.from_atoms(others)):
        covered = along_the_trie(some, X)
        if covered is not None:
            assert np.array_equal(covered, one_by_one(some, X)), str(language)
    assert not len(some) or along_the_trie(some, language.X) is not None


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
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,*)). type(p(event)). mode(p(+)). "
        "dimension(next_s). dimension(next_h)."
    )
    more = [Atom("next_h", ("e2", "e0")), Atom("p", ("e1",))]
    found = mine(Sequences.from_atoms([line("abc", *more), line("acb", *more)]), bias=bias)
    others = Sequences.from_atoms([line("xa"), line("acx", Atom("q", ("e0", "c")))])
    covered = along_the_trie(found, others)
    assert covered is not None
    assert np.array_equal(covered, one_by_one(found, others))
    assert 0 < covered.sum() < covered.size


def test_branches_long_paths_and_relations_between_events_are_declined():
    X, _ = from_lists([["a"] * 70, ["b"] * 3], predicate="q")
    found = mine(X, bias=LETTERS, max_length=2, min_support=0.5)
    assert np.array_equal(along_the_trie(found, X), one_by_one(found, X))
    branch = Sequences.from_atoms([line("aaa", Atom("next_s", ("e0", "e2")))])
    pieces = Sequences.from_atoms([[a for a in line("a" * 70) if a.args != ("e7", "e8")]])
    assert along_the_trie(found, branch) is None
    assert along_the_trie(found, pieces) is None
    folds = load_protein_folds()
    bias = parse_bias("type(ladder(event,event,sense)). mode(ladder(+,-,#)).")
    found = mine(folds.X[:40], folds.y[:40], bias, max_length=1)
    assert len(found)
    assert along_the_trie(found, folds.X[:40]) is None


@pytest.mark.parametrize("object_identity", [True, False])
def test_links_of_an_event_to_itself_cover_no_line(object_identity):
    ring = line("aaa", Atom("next_s", ("e2", "e0")))
    loop = line("a", Atom("next_s", ("e0", "e0")))
    found = mine(Sequences.from_atoms([ring, loop]), bias=LETTERS, object_identity=object_identity)
    assert "q(A,a), next_s(A,A)" in [*found.texts()]
    lines = Sequences.from_atoms([line("a" * n) for n in (1, 2, 5, 64, 65)])
    assert np.array_equal(found.coverage(lines), one_by_one(found, lines))


@pytest.mark.parametrize(
    "pairs", [[("e0", "x"), ("e1", "y")], [("x", "e1"), ("y", "e1")], [("e0", "e2"), ("e1", "e2")]]
)
def test_patterns_of_relations_between_events_on_data_where_one_side_holds_values(pairs):
    related = line("abab", Atom("r", ("e0", "e2")), Atom("r", ("e1", "e2")))
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,#)). type(r(event,event)). mode(r(+,+)). "
        "key([q(_,_)]). dimension(next_s)."
    )
    found = mine(Sequences.from_atoms([related]), bias=bias)
    assert any("r(" in text for text in found.texts())
    others = Sequences.from_atoms([line("abab", *(Atom("r", pair) for pair in pairs))])
    assert np.array_equal(found.coverage(others), one_by_one(found, others))


def test_coverage_takes_the_trie_when_there_are_many_patterns(monkeypatch):
    X = Sequences.from_atoms([line("abcabc"), line("cbacba"), line("aabbcc")])
    found = mine(X, bias=LETTERS)
    whole, packed = found.coverage(X), found.coverage(X, packed=True)
    assert np.array_equal(np.unpackbits(packed, axis=0, count=len(X)), whole)
    monkeypatch.setattr(LineMatcher, "each", lambda facts: [])
    asked = []
    of = TrieMatcher.of
    monkeypatch.setattr(TrieMatcher, "of", lambda *args: asked.append(1) or of(*args))
    assert np.array_equal(found.coverage(X), whole)
    assert asked
    monkeypatch.setattr("relynx.mining.matching.match.MANY", 10**9)
    assert np.array_equal(found.coverage(X, packed=True), packed)
    assert len(asked) == 1


def test_patterns_of_the_folds_in_another_order_keep_their_columns():
    folds = load_protein_folds()
    bias = parse_bias(
        "type(strand(event)). mode(strand(+)). type(sense(event,sense)). mode(sense(+,#)). "
        "dimension(next_b). dimension(next_h)."
    )
    found = mine(folds.X[::9], folds.y[::9], bias, min_support=0.3)
    some = found[np.random.default_rng(0).permutation(len(found))[:300]]
    assert np.array_equal(along_the_trie(some, folds.X[:200]), one_by_one(some, folds.X[:200]))


@pytest.mark.parametrize("object_identity", [True, False])
def test_the_trie_serves_a_sequence_that_lacks_most_predicates(object_identity):
    X, _ = from_lists([list("abcde"), list("edcba"), list("aabcd")])
    found = mine(X, object_identity=object_identity)
    for i in range(3):
        one = X[i : i + 1]
        assert np.array_equal(along_the_trie(found, one), one_by_one(found, one))
    without = Sequences.concatenate([X, from_lists([list("fg")])[0]])[3:]
    assert not found.coverage(without).any()


# Threads


@pytest.fixture
def shared_out(monkeypatch) -> list[tuple[int, list]]:
    """By how many threads each coverage so far was made, and their tasks."""
    noted: list[tuple[int, list]] = []
    in_order = tries.in_order
    monkeypatch.setattr(
        tries,
        "in_order",
        lambda work, tasks, n: (noted.append((n, tasks)), in_order(work, tasks, n=n))[1],
    )
    return noted


def small_trie() -> tuple[TrieMatcher, np.ndarray]:
    """A matcher of patterns of two atoms of three letters, and its rows."""
    X = Sequences.from_atoms([line("abcabc"), line("cbacba"), line("aabbcc")])
    found = mine(X, bias=LETTERS, min_support=0.3, max_length=2)
    matcher = TrieMatcher.of(found.trie, found.rows, X.facts(True), True)
    assert matcher is not None
    return matcher, found.rows


def test_a_small_trie_is_shared_out_between_threads(monkeypatch, shared_out):
    monkeypatch.setattr(tries, "LEAST_SHARED", 1)
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
