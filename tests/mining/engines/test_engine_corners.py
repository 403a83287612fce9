"""Corners of the engines: what a key repeats, links of an event to itself, many values, limits."""

from __future__ import annotations

import gc
import itertools
import weakref
from random import Random

import numpy as np
import pytest
from enumerate_patterns import Conditions, enumerate_patterns
from languages import make_language
from test_mine_engines import by_each_engine
from test_trie_coverage import along_the_trie, one_by_one

from relynx import Sequences, covers, from_lists
from relynx.bias import parse_bias
from relynx.logic.canonical import canonical
from relynx.logic.terms import Atom
from relynx.mining import budget, search
from relynx.mining.engines import alphabet, chains, webs
from relynx.mining.engines import general as growth
from relynx.mining.matching.index import Index
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine


def line(letters: str, *more: Atom) -> list[Atom]:
    """A sequence q(e0,letter), next_s(e0,e1), q(e1,letter), ..."""
    events = [f"e{i}" for i in range(len(letters))]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    return [*links, *(Atom("q", pair) for pair in zip(events, letters, strict=True)), *more]


def texts(found: PatternSet) -> list[str]:
    return sorted(str(entry.pattern) for entry in found)


# Keys


@pytest.mark.parametrize("object_identity", [True, False])
def test_a_key_that_repeats_a_variable_wants_equal_arguments(monkeypatch, object_identity):
    facts = [Atom("p", ("e1", "a", "a")), Atom("p", ("e2", "a", "b")), Atom("next_s", ("e1", "e2"))]
    bias = parse_bias(
        "type(p(event,t,t)). mode(p(+,*,*)). dimension(next_s). key([p(_,X,X)]). maxsize(2)."
    )
    conditions = Conditions(max_length=2, object_identity=object_identity)
    expected = enumerate_patterns([set(facts)], ["all"], bias, conditions)
    X = Sequences.from_atoms([facts])
    answers = by_each_engine(monkeypatch, X, bias=bias, object_identity=object_identity)
    assert len(answers) == 3
    for name, found in answers.items():
        forms = {canonical(tuple(entry.pattern)) for entry in found}
        assert forms == {canonical(each.atoms) for each in expected}, name
        assert len(forms) == len(found), name


# Patterns of one kind of data on another


@pytest.mark.parametrize("object_identity", [True, False])
def test_a_link_of_an_event_to_itself_covers_no_line(object_identity):
    ring = [*line("aaa"), Atom("next_s", ("e2", "e0"))]
    loop = [*line("a"), Atom("next_s", ("e0", "e0"))]
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s).")
    found = mine(
        Sequences.from_atoms([ring, loop]),
        bias=bias,
        object_identity=object_identity,
    )
    assert "q(A,a), next_s(A,A)" in texts(found)
    lines = Sequences.from_atoms([line("a" * n) for n in (1, 2, 5, 64)])
    covered = along_the_trie(found, lines)
    assert covered is not None
    assert np.array_equal(covered, one_by_one(found, lines))


@pytest.mark.parametrize(
    "pairs",
    [[("e0", "x"), ("e1", "y")], [("x", "e1"), ("y", "e1")], [("e0", "e2"), ("e1", "e2")]],
)
def test_patterns_of_relations_between_events_on_data_where_one_side_holds_values(pairs):
    related = line("abab", Atom("r", ("e0", "e2")), Atom("r", ("e1", "e2")))
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,#)). type(r(event,event)). mode(r(+,+)). "
        "key([q(_,_)]). dimension(next_s)."
    )
    found = mine(Sequences.from_atoms([related]), bias=bias)
    assert any("r(" in text for text in texts(found))
    others = Sequences.from_atoms([line("abab", *(Atom("r", pair) for pair in pairs))])
    assert np.array_equal(found.coverage(others), one_by_one(found, others))


# Limits


def measured(n_sequences: int) -> Sequences:
    """Events whose values are hardly ever the same."""
    random = Random(0)
    atoms = []
    for _ in range(n_sequences):
        events = [f"e{i}" for i in range(4)]
        links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
        atoms.append([*links, *(Atom("p", (event, random.random())) for event in events)])
    return Sequences.from_atoms(atoms)


def test_data_with_very_many_different_facts_go_to_the_general_engine(monkeypatch):
    X = measured(30)
    bias = parse_bias("type(p(event,number)). mode(p(+,-)). dimension(next_s).")
    few = by_each_engine(monkeypatch, X, bias=bias, max_length=2)
    assert set(few) == {"Growth", "Chains", "Webs"}
    monkeypatch.setattr(alphabet, "MOST_WORDS", 4 * 30 * 30 - 1)
    assert set(by_each_engine(monkeypatch, X, bias=bias, max_length=2)) == {"Growth"}
    assert along_the_trie(few["Chains"], X) is None
    monkeypatch.setattr(alphabet, "MOST_WORDS", 4 * 30 * 30)
    again = by_each_engine(monkeypatch, X, bias=bias, max_length=2)
    assert set(again) == {"Growth", "Chains", "Webs"}
    assert along_the_trie(few["Chains"], X) is not None


def test_a_search_can_end_between_the_refinements_of_siblings(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd"), line("dcba")])
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s).")
    whole = mine(X, bias=bias, max_length=2)
    asked = []

    def goes_on(watch: budget.Budget, length: int, *_: int) -> bool:
        asked.append(length)
        watch.reason = "asked often enough" if len(asked) > 3 else None
        return len(asked) <= 3

    monkeypatch.setattr(chains, "FACTS_A_UNIT", 1)
    monkeypatch.setattr(chains, "MOST_TOGETHER", 1)
    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=bias, max_length=2)
    assert asked == [2, 2, 2, 2]
    assert (found.partial, found.complete_up_to) == ("asked often enough", 1)
    assert texts(found[found.lengths == 1]) == texts(whole[whole.lengths == 1])
    assert set(texts(found)) < set(texts(whole))
    assert 2 in found.lengths


def in_blocks(monkeypatch, together: int) -> None:
    """Lines are counted row by row, and every second row the search asks."""
    monkeypatch.setattr(chains, "FACTS_A_UNIT", 1)
    monkeypatch.setattr(chains, "FACTS_A_CALL", 1)
    monkeypatch.setattr(chains, "ROWS_A_STATE", 0)
    monkeypatch.setattr(chains, "MOST_TOGETHER", together)
    monkeypatch.setattr(chains, "BLOCK", 1)
    rows_a_call = chains.Chains._rows_a_call
    monkeypatch.setattr(chains.Chains, "_rows_a_call", lambda *args: rows_a_call(*args) + 1)


@pytest.mark.parametrize("together", [2, 8])
@pytest.mark.parametrize("seed", [4, 8, 9, 16, 21])
def test_the_answer_does_not_depend_on_blocks_of_rows(monkeypatch, seed, together):
    language = make_language(seed)
    how = {"bias": language.bias, **language.parameters}
    whole = by_each_engine(monkeypatch, language.X, **how)["Chains"]
    count, calls = chains.ck.count_children, []
    in_blocks(monkeypatch, together)
    monkeypatch.setattr(
        chains.ck, "count_children", lambda *args: (calls.append(args[2:5]), count(*args))[1]
    )
    found = by_each_engine(monkeypatch, language.X, **how)["Chains"]
    assert found == whole
    assert found.explain_search() == whole.explain_search()
    assert {end - begin for begin, end, _ in calls} >= {2}
    assert {begin for begin, *_ in calls} >= {0, 2}
    assert {block for *_, block in calls} == {1}


def test_blocks_of_rows_are_not_counted_again_where_there_is_little_room(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd"), line("dcba"), line("aabb")] * 3)
    bias = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")
    whole = mine(X, bias=bias)
    in_blocks(monkeypatch, 8)
    enlarge, count, sizes, begins = chains.Chains._enlarge, chains.ck.count_children, [], []

    def enlarged(engine: chains.Chains, buffers: chains.Buffers, size: int) -> None:
        sizes.append(1 if size == 1 << 12 else size)  # none at first
        enlarge(engine, buffers, sizes[-1])

    monkeypatch.setattr(chains.Chains, "_enlarge", enlarged)
    monkeypatch.setattr(
        chains.ck, "count_children", lambda *args: (begins.append(args[2]), count(*args))[1]
    )
    assert mine(X, bias=bias) == whole
    n_calls = len(begins)
    assert len(sizes) > 1
    monkeypatch.setattr(chains.Chains, "_enlarge", enlarge)
    mine(X, bias=bias)
    assert len(begins) == 2 * n_calls


def test_what_is_known_of_facts_asks_for_room(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd"), line("dcba"), line("aabb")] * 3)
    bias = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")
    in_blocks(monkeypatch, 2)
    asked = []
    monkeypatch.setattr(budget.Budget, "take", lambda _, n_bytes: asked.append(n_bytes))
    mine(X, bias=bias, max_length=2)
    n_states = 4 * (1 + 1)  # four letters, which a variable has or not
    assert n_states * (4 * 2 + 16) in asked


def test_a_search_can_end_between_blocks_of_rows(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd")] * 40)
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s).")
    in_blocks(monkeypatch, 8)
    count, calls = chains.ck.count_children, []

    def goes_on(watch: budget.Budget, *_: int) -> bool:
        watch.reason = "counted often enough" if len(calls) == 3 else None
        return len(calls) < 3

    monkeypatch.setattr(
        chains.ck, "count_children", lambda *args: (calls.append(args[2]), count(*args))[1]
    )
    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=bias, max_length=3)
    assert calls == [0, 2, 4]  # of 40 rows
    assert (found.partial, found.complete_up_to) == ("counted often enough", 1)


@pytest.mark.parametrize("at_once", [1, 7])
@pytest.mark.parametrize("mode", ["mode(q(+,*)).", "mode(q(+,#)). mode(q(+,-))."])
def test_the_answer_does_not_depend_on_where_matches_are_cut(monkeypatch, mode, at_once):
    more = [Atom("r", pair) for pair in [("e0", "e2"), ("e2", "e1"), ("e1", "e1")]]
    X = Sequences.from_atoms([line("abcdab", *more), line("dcba", *more), line("aabb", *more)])
    bias = parse_bias(
        f"type(q(event,t)). {mode} type(r(event,event)). mode(r(+,+)). dimension(next_s)."
    )
    whole = mine(X, bias=bias)
    asked = []
    monkeypatch.setattr(growth, "ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(growth, "FACTS_AT_ONCE", 1)  # each pattern by itself
    monkeypatch.setattr(growth.Growth, "_pulse", lambda _: asked.append(1))
    found = mine(X, bias=bias)
    assert found == whole
    assert found.explain_search() == whole.explain_search()
    assert len(asked) > 3 * (whole.lengths < 3).sum()


@pytest.mark.parametrize("engine", ["Chains", "Webs", "Growth"])
def test_what_a_search_held_is_let_go_with_the_sequences(monkeypatch, engine):
    made = {"Chains": chains.Chains, "Webs": webs.Webs, "Growth": growth.Growth}[engine]
    monkeypatch.setattr(search, "choose", lambda *_, **__: made)
    X = from_lists([["a", "b"], ["b", "a", "c"]], predicate="p")[0]
    bias = parse_bias("type(p(event,t)). mode(p(+,*)). dimension(next_s).")
    gc.collect()
    gc.disable()  # what is in no circle goes at once
    try:
        found = mine(X, bias=bias, max_length=2, n_jobs=2)
        found.coverage(X)
        covers("p(A,a), next_s(A,B), p(B,b)", X)
        index = weakref.ref(Index.of(X.facts()))
        del X
        assert index() is None
    finally:
        gc.enable()


def test_in_long_sequences_fewer_matches_are_looked_at_before_the_search_asks(monkeypatch):
    monkeypatch.setattr(webs, "fits", lambda *_, **__: False)
    monkeypatch.setattr(chains, "fits", lambda *_, **__: False)
    rows = []

    def stretches(n_rows: int, at_once: int) -> list[tuple[int, int]]:
        rows.append(at_once)
        return [(0, n_rows)]

    monkeypatch.setattr(growth, "_stretches", stretches)
    bias = parse_bias("type(q(event,t)). mode(q(+,-)). dimension(next_s).")
    monkeypatch.setattr(growth, "EVENTS_AT_ONCE", 1024)
    for n_events in (4, 40):
        mine(Sequences.from_atoms([line("a" * n_events)]), bias=bias, max_length=2)
    assert {*rows} == {1024 // 4, 1024 // 40}
