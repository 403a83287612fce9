"""Events are put in the order of a dimension."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx import Atom, InputError, Sequences, load_protein_folds, parse_atom
from relynx.data.event_order import learn_event_arguments, ordered_events


def sequences(*texts):
    return Sequences.from_atoms([[parse_atom(a) for a in text.split()] for text in texts])


def names(X, dimension=None, places=None):
    vocabulary = X.facts().vocabulary
    return [[vocabulary[c] for c in row] for row in ordered_events(X, dimension, places)]


def test_an_event_comes_after_what_it_follows():
    X = sequences("next_s(b,a) next_s(a,c)", "next_s(e10,e2) next_s(e2,e1)")
    assert names(X) == [["b", "a", "c"], ["e10", "e2", "e1"]]


def test_what_the_order_leaves_open_goes_by_name_with_numbers_as_numbers():
    X = sequences("next_s(e1,e10) next_s(e1,e2) next_s(e1,e9)", "next_s(2,10) next_s(2,9)")
    assert names(X) == [["e1", "e2", "e9", "e10"], [2, 9, 10]]


def test_events_that_only_another_dimension_links_are_left_out():
    X = sequences("next_s(e1,e2) next_s(e2,e3) next_b(e1,e3) p(e1) p(e3) q(e2)")
    assert names(X, "b") == [["e1", "e3"]]
    assert names(X, "s") == [["e1", "e2", "e3"]]


def test_a_sequence_of_one_event_has_it_by_the_places_of_others():
    X = sequences("next_s(e1,e2) p(e1,a) p(e2,b)", "p(e1,a)", "r(a)")
    places = learn_event_arguments(X)
    assert names(X) == [["e1", "e2"], ["e1"], []]
    assert names(X[[1]], places=places) == [["e1"]]


def test_the_elements_of_a_domain_are_in_chain_order():
    X = load_protein_folds().X[:20]
    for row, sequence in zip(names(X), X, strict=True):
        assert row == [f"e{i + 1}" for i in range(len(row))]
        assert len(row) == sum(a.predicate in ("he", "st") for a in sequence.atoms)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.randoms())
def test_any_order_without_circles_is_kept(pairs, shuffle: random.Random):
    names_of = shuffle.sample(["a", "b2", "b10", "c", 3, 10], 6)
    links = [(min(p), max(p)) for p in pairs if p[0] != p[1]]
    atoms = [parse_atom(f"next_s({names_of[i]},{names_of[j]})") for i, j in links]
    if not atoms:
        return
    X = Sequences.from_atoms([atoms])
    (row,) = names(X)
    assert sorted(map(str, row)) == sorted({str(names_of[i]) for link in links for i in link})
    assert all(row.index(names_of[i]) < row.index(names_of[j]) for i, j in links)


@pytest.mark.parametrize(
    ("texts", "dimension", "message"),
    [
        (
            ["p(e1)"],
            None,
            "the sequences have no dimension: no event follows another\n"
            "hint: link the events by facts such as next_s(e1,e2)",
        ),
        (["next_s(e1,e2)"], "time", "there is no dimension 'time'\nhint: give one of s"),
        (
            ["next_s(e1,e2)", "next_s(e0,e1) next_s(e1,e2) next_s(e2,e1)"],
            None,
            "sequence s2: the links of next_s run in a circle through e1\n"
            "hint: take another dimension, or leave out one of the links",
        ),
    ],
)
def test_what_has_no_order_is_refused(texts, dimension, message):
    with pytest.raises(InputError) as error:
        ordered_events(sequences(*texts), dimension)
    assert str(error.value) == message


def test_names_with_very_many_digits_are_ordered():
    many = ["9" * 4999, "1" + "0" * 5000]
    X = Sequences.from_atoms([[Atom("next_s", (f"e{n}", "z")) for n in many[::-1]]])
    assert names(X) == [[f"e{many[0]}", f"e{many[1]}", "z"]]
    X = Sequences.from_atoms([[Atom("next_s", (n, "z")) for n in (10**400, 2, 0.5)]])
    assert names(X) == [[0.5, 2, 10**400, "z"]]


def test_without_a_name_the_dimension_with_the_most_links_is_followed():
    X = sequences("next_b(e2,e1) next_s(e1,e2) next_s(e2,e3) next_t(e3,e2) next_t(e2,e1)")
    assert names(X) == [["e1", "e2", "e3"]]  # s and t have two each
    assert names(X, "t") == [["e3", "e2", "e1"]]
