"""Maximal, most general and closed patterns against all pairs of a set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tries import random_rows, trie_of

from relynx import Sequences, covers
from relynx.logic.canonical import subsumes
from relynx.logic.parser import parse_atoms
from relynx.mining.patterns.pattern_set import PatternSet

pytestmark = pytest.mark.kernels

SEQUENCES = Sequences.from_atoms(
    [
        parse_atoms(text)
        for text in (
            "p(a,x), p(a,b), q(b,y), next_s(a,b), q1(b), p1(a), p(b,c), next_s(b,c), q1(c)",
            "p(a,1), q(b,1), next_s(a,b), next_t(a,b), q1(a), p1(b), q(b,a), p1(c), q(a,c)",
            "p(a,x), q(a,y), p(b,x), q(b,y), next_s(a,b), next_s(b,a), p1(a), q1(b), p(a,a)",
            "p(a,1.0), p(a,1), q(a,1), p1(a), q1(a), next_s(a,c), next_s(c,d), p(d,x), q1(d)",
            "p1(a), q1(b), p1(c), next_s(a,b), next_s(b,c), next_t(a,c), q(c,x), p(c,y)",
        )
    ]
)


def counted(rows, object_identity):
    """The set of the rows with the supports that they have in SEQUENCES, and its coverage."""
    patterns = PatternSet(trie_of(rows), object_identity=object_identity)
    covered = covers(list(patterns.patterns()), SEQUENCES, object_identity)
    counts = [(int(column[:2].sum()), int(column[2:].sum())) for column in covered.T]
    rows = [(parent, step, count) for (parent, step, _), count in zip(rows, counts, strict=True)]
    trie = trie_of(rows, class_sizes=(2, 3))
    return PatternSet(trie, object_identity=object_identity), covered


def strictly_above(patterns, object_identity):
    """Entry i, j: pattern i is strictly more general than pattern j."""
    atoms = [pattern.atoms for pattern in patterns.patterns()]
    general = np.array(
        [[subsumes(p, q, object_identity=object_identity) for q in atoms] for p in atoms], bool
    )
    return general & ~general.T


@given(random_rows(), st.booleans(), st.data())
def test_borders_are_those_of_all_pairs(rows, object_identity, data):
    patterns, covered = counted(rows, object_identity)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    patterns, covered = patterns[chosen], covered[:, chosen]
    above = strictly_above(patterns, object_identity).reshape(len(patterns), len(patterns))
    same = (covered[:, :, None] == covered[:, None, :]).all(axis=0)
    assert patterns.maximal() == patterns[~above.any(axis=1)]
    assert patterns.most_general() == patterns[~above.any(axis=0)]
    assert patterns.closed() == patterns[~(above & same).any(axis=1)]


def test_a_constant_in_place_of_a_variable_is_more_specific():
    rows = [(-1, "p(A,B)", (2, 2)), (-1, "p(A,x)", (2, 2)), (-1, "p(A,y)", (1, 2))]
    patterns = PatternSet(trie_of(rows))
    assert list(patterns.maximal().texts()) == ["p(A,x)", "p(A,y)"]
    assert list(patterns.most_general().texts()) == ["p(A,B)"]
    assert list(patterns.closed().texts()) == ["p(A,x)", "p(A,y)"]


def test_a_closed_pattern_covers_more_than_any_that_is_more_specific():
    rows = [(-1, "p(A)", (3, 2)), (0, "q(A)", (3, 2)), (1, "r(A)", (3, 1))]
    patterns = PatternSet(trie_of(rows))
    assert list(patterns.closed().texts()) == ["p(A), q(A)", "p(A), q(A), r(A)"]


def test_patterns_that_subsume_each_other_both_stay():
    rows = [(-1, "p(A,B)", (1, 1)), (0, "p(A,C)", (1, 1))]
    patterns = PatternSet(trie_of(rows), object_identity=False)
    for chosen in (patterns.maximal(), patterns.most_general(), patterns.closed()):
        assert chosen == patterns


def test_one_atom_may_stand_for_two_without_object_identity():
    rows = [(-1, "p(A,B)", (1, 1)), (0, "p(B,C)", (1, 1)), (-1, "p(A,A)", (1, 1))]
    loose = PatternSet(trie_of(rows), object_identity=False)
    assert list(loose.maximal().texts()) == ["p(A,A)"]
    assert list(PatternSet(trie_of(rows)).maximal().texts()) == ["p(A,B), p(B,C)", "p(A,A)"]


def test_an_empty_set_has_empty_borders():
    empty = PatternSet(trie_of([]))
    assert [len(empty.maximal()), len(empty.most_general()), len(empty.closed())] == [0, 0, 0]
