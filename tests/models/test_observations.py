"""What is said of each event alone becomes one atom."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx import (
    Atom,
    InputError,
    Sequences,
    from_lists,
    load_protein_folds,
    parse_atom,
    parse_background,
)
from relynx.models.observations import observations, observed, observed_arguments


def sequences(*texts, background=None):
    atoms = [[parse_atom(a) for a in text.split()] for text in texts]
    return Sequences.from_atoms(atoms, background=background)


def texts(X, dimension=None, places=None):
    return [[str(atom) for atom in row] for row in observations(X, dimension, places)]


def test_the_facts_about_an_event_are_one_atom_without_it():
    X = sequences("next_s(e1,e2) he(e1,right,alpha,long) st(e2,plus,short) sense_prev(e2,null)")
    assert texts(X) == [["he(right,alpha,long)", "sense_prev_st(null,plus,short)"]]


def test_several_facts_of_one_predicate_are_joined_in_order_of_their_values():
    X = sequences("next_s(e1,e2) p(e1,b) p(e1,a) p(e2,a)")
    assert texts(X) == [["p_p(a,b)", "p(a)"]]


def test_the_event_may_be_any_argument():
    X = sequences("next_s(e1,e2) by(ann,e1,home) by(bob,e2,home)")
    assert texts(X) == [["by(ann,home)", "by(bob,home)"]]


def test_an_event_of_which_nothing_is_said_is_plain():
    X = sequences("next_s(e1,e2) p(e1)", "next_s(e1,e2) p(e1)", "next_s(e1,e2) p(e1)")
    assert texts(X)[0] == ["p", "event"]


def test_relations_of_events_and_links_of_other_dimensions_are_left_out():
    X = sequences("next_s(e1,e2) next_s(e2,e3) next_b(e1,e3) near(e1,e3,far) p(e1) q(e2) p(e3)")
    assert texts(X) == [["p", "q", "p"]]
    assert texts(X, "b") == [["p", "p"]]


def test_relations_of_events_that_the_dimension_does_not_link_are_left_out_too():
    X = sequences(
        "p(e1) p(e2) p(e3) next_a(e1,e2) next_a(e2,e3) next_b(e2,e3) near(e1,e3)",
        "p(e4) p(e5) p(e6) next_a(e4,e5) next_a(e5,e6) next_b(e5,e6) near(e4,e6)",
    )
    assert texts(X, "b") == [["p", "p", "p"]] * 2


def test_a_predicate_of_which_no_place_is_known_tells_of_the_events_of_its_sequence():
    training = sequences("next_s(e1,e2) p(e1,a) p(e2,b)")
    X = sequences("next_s(e1,e2) p(e1,a) q(e1,new) q(e2,new) near(e1,e2) r(new)")
    assert texts(X, places=observed_arguments(training)) == [["p_q(a,new)", "q(new)"]]


def test_a_value_that_is_named_like_an_event_is_a_value_where_the_place_is_known():
    X = sequences("next_s(1,2) next_s(2,3) p(1,2) p(2,7) p(3,8)")
    assert texts(X) == [["p(2)", "p(7)", "p(8)"]]


def test_derived_facts_are_left_out_unless_asked_for():
    rules = parse_background("big(E) :- size(E,9).")
    X = sequences("next_s(e1,e2) size(e1,9) size(e2,1)", background=rules)
    assert texts(X) == [["size(9)", "size(1)"]]
    assert observed(X, among={"big"}).rows == [(Atom("big"), Atom("event"))]


def test_sources_say_which_argument_of_which_predicate_a_value_was():
    X = sequences("next_s(e1,e2) b(e1,x) a(y,e1,z) b(e2,x)")
    sources = observed(X).sources
    assert sources["a_b", 3] == ((("a", 3), 0), (("a", 3), 2), (("b", 2), 1))
    assert sources["b", 1] == ((("b", 2), 1),)


def test_one_sequence_is_read_as_among_many():
    X = sequences("next_s(e1,e2) p(e1,a) p(e2,b)", "p(e1,a)", "r(a)")
    places = observed_arguments(X)
    assert texts(X) == [["p(a)", "p(b)"], ["p(a)"], []]
    assert [texts(X[[i]], places=places)[0] for i in range(3)] == texts(X)


def test_a_predicate_that_only_lone_events_have_is_read_by_the_names_of_the_events():
    X = sequences("next_s(e1,e2) p(e1) p(e2)", "q(e1,a)", "r(a)", "near(e1,e2)")
    assert observed_arguments(X) == {
        (("p", 1), 0),
        (("q", 2), 0),
        (("next_s", 2), 0),
        (("next_s", 2), 1),
    }
    assert texts(X) == [["p", "p"], ["q(a)"], [], []]


def test_a_domain_has_an_atom_for_each_element():
    X = load_protein_folds().X[:30]
    for row, sequence in zip(observations(X), X, strict=True):
        kinds = [a.predicate for a in sequence.atoms]
        assert [a.predicate for a in row].count("he") == kinds.count("he")
        assert [a.predicate for a in row].count("sense_prev_st") == kinds.count("st")
        assert len(row) == kinds.count("he") + kinds.count("st")


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1), st.randoms())
def test_nothing_depends_on_the_order_of_facts_or_sequences(lists, shuffle: random.Random):
    lists = [[(c, c) for c in row] for row in [["a", "b"], *lists]]
    X, _ = from_lists(lists)
    order = shuffle.sample(range(len(X)), len(X))
    atoms = [shuffle.sample(X[i].atoms, len(X[i].atoms)) for i in order]
    rows = observations(X)
    assert observations(Sequences.from_atoms(atoms)) == [rows[i] for i in order]


def test_what_has_no_order_is_refused():
    with pytest.raises(InputError) as error:
        observations(sequences("p(e1)"))
    assert str(error.value) == (
        "the sequences have no dimension: no event follows another\n"
        "hint: link the events by facts such as next_s(e1,e2)"
    )
