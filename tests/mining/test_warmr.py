"""WARMR's frequent queries are `mine` with a key and without Object Identity."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import prolog
from oracle.generator import Group
from reference import brute_force_covers, brute_force_matches
from tries import random_rows, trie_of

import relynx as rx
from relynx.logic.canonical import canonical, subsumes
from relynx.logic.terms import Atom
from relynx.mining.patterns.pattern_set import PatternSet

QUERIES = rx.parse_bias("""
    type(mol(m)).            mode(mol(+)).            key([mol(_)]).
    type(atom(m,a,element)). mode(atom(+,-,#)).       mode(atom(+,+,#)).
    type(bond(m,a,a)).       mode(bond(+,+,-)).       mode(bond(+,+,+)).
""")
SOME = settings(max_examples=settings.default.max_examples // 2)


@st.composite
def molecules(draw):
    """Each has a key, atoms with an element, and directed bonds between them."""
    return [_molecule(i, draw) for i in range(draw(st.integers(1, 4)))]


def _molecule(i, draw):
    names = [f"a{k}" for k in range(draw(st.integers(0, 3)))]
    facts = [Atom("mol", (f"m{i}",))]
    facts += [Atom("atom", (f"m{i}", a, draw(st.sampled_from("cno")))) for a in names]
    pairs = [(a, b) for a in names for b in names]
    if pairs:
        bonds = draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True))
        facts += [Atom("bond", (f"m{i}", a, b)) for a, b in bonds]
    return facts


# A molecule without atoms and bonds still has to know these predicates.
WHOLE = [Atom("mol", ("m9",)), Atom("atom", ("m9", "a0", "c")), Atom("bond", ("m9", "a0", "a0"))]


def queries(sequences, bias=QUERIES, *, min_frequency=1, max_length=3):
    """The frequent queries of the examples, each of them a sequence."""
    return rx.mine(
        rx.Sequences.from_atoms([*sequences, WHOLE]),
        bias=bias,
        min_frequency=min_frequency,
        min_support=0.0,
        max_length=max_length,
        object_identity=False,
    )


def counts(found):
    return {str(entry.pattern.canonical()): entry.frequency for entry in found}


@pytest.mark.parametrize("object_identity", [True, False])
@SOME
@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=8), st.integers(1, 3))
def test_on_baskets_of_items_they_are_aprioris_item_sets(object_identity, baskets, min_frequency):
    facts = [
        [Atom("basket", (f"k{i}",)), *(Atom(item, (f"k{i}",)) for item in sorted(items))]
        for i, items in enumerate(baskets)
    ]
    items = sorted(set().union(*baskets))
    bias = rx.Bias(
        types=dict.fromkeys(("basket", *items), ("k",)),
        modes=dict.fromkeys(("basket", *items), ("+",)),
        key=(rx.parse_atom("basket(_)"),),
    )
    found = rx.mine(
        rx.Sequences.from_atoms(facts),
        bias=bias,
        min_frequency=min_frequency,
        min_support=0.0,
        max_length=5,
        object_identity=object_identity,
    )
    expected = {}
    for n in range(5):
        for chosen in combinations(items, n):
            count = sum(set(chosen) <= basket for basket in baskets)
            if count >= min_frequency:
                expected[frozenset(chosen)] = count
    assert len(found) == len(expected)
    assert {
        frozenset(atom.predicate for atom in entry.pattern.atoms[1:]): entry.frequency
        for entry in found
    } == expected
    assert {entry.pattern.atoms[0].predicate for entry in found} <= {"basket"}


@SOME
@given(molecules())
def test_counts_are_those_of_trying_all_substitutions(sequences):
    for entry in queries(sequences):
        hits = [
            brute_force_covers(entry.pattern.atoms, facts, object_identity=False)
            for facts in [*sequences, WHOLE]
        ]
        assert entry.frequency == sum(hits)


@pytest.mark.oracle
@pytest.mark.skipif(not prolog.is_installed(), reason=prolog.HINT)
def test_counts_are_those_of_prolog():
    groups, expected = [], []
    for seed in range(4):
        random = Random(seed)
        sequences = [
            [
                Atom("mol", (f"m{i}",)),
                *(Atom("atom", (f"m{i}", f"a{k}", random.choice("cno"))) for k in range(4)),
                *(Atom("bond", (f"m{i}", *random.choices(["a0", "a1", "a2"], k=2))) for _ in "123"),
            ]
            for i in range(5)
        ]
        found = list(queries(sequences, max_length=4))
        patterns = tuple(entry.pattern.atoms for entry in found)
        groups.append(Group((), tuple(map(tuple, [*sequences, WHOLE])), patterns))
        expected += [((seed, p), entry.frequency) for p, entry in enumerate(found)]
    told = Counter((g, p) for g, p, _, flag in prolog.prolog_answers(groups) if not flag)
    assert len(expected) > 200
    assert sorted(told.items()) == sorted(expected)


@SOME
@given(molecules(), st.integers(1, 3))
def test_without_its_last_literal_a_query_is_still_in_the_answer(sequences, min_frequency):
    found = queries(sequences, min_frequency=min_frequency)
    known = {canonical(pattern) for pattern in found.patterns()}
    for pattern in found.patterns():
        assert len(pattern) == 1 or canonical(pattern.atoms[:-1]) in known


@SOME
@given(molecules())
def test_no_two_reduced_queries_are_equivalent_and_none_is_lost(sequences):
    found = queries(sequences)
    reduced = found.reduced()
    kept = [pattern.atoms for pattern in reduced.patterns()]
    groups = Counter()
    for pattern in found.patterns():
        same = [
            i
            for i, other in enumerate(kept)
            if subsumes(other, pattern, object_identity=False)
            and subsumes(pattern, other, object_identity=False)
        ]
        assert len(same) == 1
        assert len(kept[same[0]]) <= len(pattern)
        groups[same[0]] += 1
    assert len(groups) == len(kept)
    assert [*reduced.texts()] == [text for text in found.texts() if text in {*reduced.texts()}]


@given(random_rows())
def test_under_object_identity_a_set_is_reduced_as_it_is(rows):
    patterns = PatternSet(trie_of(rows))
    assert patterns.reduced() == patterns


def test_of_equivalent_queries_the_shortest_stays():
    rows = [(-1, "p(A)", (1, 1)), (0, "q(A,B)", (1, 1)), (1, "q(A,C)", (1, 1)), (2, "r(C)", (1, 1))]
    found = PatternSet(trie_of(rows), object_identity=False)
    assert [*found[[3, 2, 1, 0]].reduced().texts()] == [
        "p(A), q(A,B), q(A,C), r(B)",
        "p(A), q(A,B)",
        "p(A)",
    ]


@SOME
@given(molecules(), st.integers(0, 4))
def test_a_constant_that_no_query_can_use_changes_nothing(sequences, i):
    more = [list(facts) for facts in sequences]
    more[i % len(more)] += [Atom("unused", ("new", "c")), Atom("unused", ("other", "a0"))]
    assert counts(queries(more)) == counts(queries(sequences))


@SOME
@given(molecules())
def test_examples_are_counted_and_not_the_ways_to_match_them(sequences):
    """Every atom gets a twin with the same bonds, so there are more ways to match everything."""
    more = [
        facts
        + [Atom("atom", (m, f"{a}_", e)) for (m, a, e) in _rows(facts, "atom")]
        + [Atom("bond", (m, f"{a}_", f"{b}_")) for (m, a, b) in _rows(facts, "bond")]
        for facts in sequences
    ]
    assert counts(queries(more)) == counts(queries(sequences))


def _rows(facts, predicate):
    return [fact.args for fact in facts if fact.predicate == predicate]


def test_a_query_with_many_matches_in_one_example_counts_once():
    facts = [Atom("mol", ("m0",)), *(Atom("atom", ("m0", f"a{k}", "n")) for k in range(5))]
    found = {str(entry): entry for entry in queries([facts], max_length=2)}
    entry = found["mol(A), atom(A,B,n)"]
    assert len(brute_force_matches(entry.pattern.atoms, facts, object_identity=False)) == 5
    assert entry.frequency == 1


@SOME
@given(molecules())
def test_queries_are_the_columns_of_a_table(sequences):
    found = queries(sequences, max_length=2)
    X = rx.Sequences.from_atoms([*sequences, WHOLE])
    assert np.array_equal(found.coverage(X).sum(axis=0), found.frequencies)
