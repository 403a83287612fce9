"""The enumeration that the miner is compared with is itself checked, by hand and by brute force."""

from __future__ import annotations

import pytest
from canonical_keys import are_variants
from enumerate_patterns import (
    Conditions,
    TooLarge,
    Variants,
    enumerate_patterns,
    equal_up_to_renaming,
    subsumed_by,
    violates,
)
from languages import make_language, solved_language
from reference import brute_force_covers

from relynx.bias import Bias
from relynx.logic.canonical import canonical
from relynx.logic.parser import parse_atom, parse_atoms
from relynx.logic.terms import Comparison, Var

EVERYTHING = Conditions(min_support=0.0)


def answer(bias, *texts, **conditions):
    """The patterns found in sequences of one class, in canonical form, with their frequencies."""
    sequences = [set(parse_atoms(text)) for text in texts]
    found = enumerate_patterns(
        sequences, ["all"] * len(texts), bias, Conditions(min_support=0.0, **conditions)
    )
    return {", ".join(map(str, canonical(f.atoms))): f.frequency for f in found}


def one_fluent(*modes, **declarations):
    declarations.setdefault("dimensions", ("s",))
    return Bias(types={"p": ("event", "t")}, modes={"p": tuple(map(tuple, modes))}, **declarations)


def test_a_constant_and_a_variable_stand_where_a_star_does():
    assert answer(one_fluent("+*"), "p(e,a)", "p(e,b)", max_length=1) == {
        "p(A,B)": 2,
        "p(A,a)": 1,
        "p(A,b)": 1,
    }


def test_two_events_are_linked_by_every_operator():
    chain = "p(e,a), next_s(e,f), p(f,a)"
    assert answer(one_fluent("+#"), chain, max_length=2) == {
        "p(A,a)": 1,
        "next_s(A,B), p(A,a), p(B,a)": 1,
        "follow_s(A,B), p(A,a), p(B,a)": 1,
    }


def test_steps_are_counted_from_two_to_the_largest_gap():
    ring = "p(e,a), next_s(e,e)"
    texts = answer(one_fluent("+#"), ring, max_length=1, max_gap=3)
    assert texts == {
        "p(A,a)": 1,
        "next_s(A,A), p(A,a)": 1,
        "follow_s(A,A), p(A,a)": 1,
        "followat_s(2,A,A), p(A,a)": 1,
        "followat_s(3,A,A), p(A,a)": 1,
    }


def test_an_event_has_one_link_out_and_one_in_of_a_dimension():
    fork = "p(e,a), next_s(e,f), p(f,b), next_s(e,g), p(g,c)"
    texts = answer(one_fluent("+#"), fork, max_length=3, max_gap=1)
    assert "next_s(A,B), p(A,a), p(B,b)" in texts
    assert not any(text.count("p(") == 3 for text in texts)


def test_a_plus_is_fed_by_a_minus_of_another_atom():
    bias = Bias(
        types={"p": ("event", "t"), "q": ("t",)},
        modes={"p": (("+", "-"),), "q": (("+",),)},
        key=(parse_atom("p(_,_)"),),
    )
    assert answer(bias, "p(e,a), q(a)", "p(e,a), q(b)", max_length=2) == {
        "p(A,B)": 2,
        "p(A,B), q(B)": 1,
    }


def test_a_later_argument_may_repeat_a_variable_of_the_same_atom():
    bias = Bias(types={"p": ("t", "t")}, modes={"p": (("-", "+"),)})
    assert answer(bias, "p(a,a)", "p(a,b)", max_length=1) == {"p(A,A)": 1, "p(A,B)": 1}


def test_a_minus_is_a_variable_that_occurs_nowhere_yet():
    bias = Bias(types={"p": ("t", "t")}, modes={"p": (("+", "-"),)})
    assert answer(bias, "p(a,a)", "p(a,b)", max_length=1) == {"p(A,B)": 1}


def test_modes_of_one_predicate_add_up():
    texts = answer(one_fluent("+#", "+-"), "p(e,a)", max_length=1)
    assert texts == {"p(A,B)": 1, "p(A,a)": 1}


def test_declared_values_are_the_only_constants():
    texts = answer(one_fluent("+#", values={"t": ("b", "z")}), "p(e,a), p(e,b)", max_length=1)
    assert texts == {"p(A,b)": 1}


def test_a_constraint_maps_to_distinct_atoms():
    pattern = parse_atoms("p(X,a), q(X)")
    assert not subsumed_by(parse_atoms("p(A,_), p(A,_)"), pattern)
    assert subsumed_by(parse_atoms("p(A,_), p(B,_)"), (*pattern, parse_atom("p(X,b)")))


def test_a_test_of_a_constraint_compares_frozen_terms():
    differ = Comparison("\\==", Var("A"), Var("B"))
    constraint = (*parse_atoms("p(A), q(B)"), differ)
    assert subsumed_by(constraint, parse_atoms("p(X), q(Y)"))
    assert not subsumed_by(constraint, parse_atoms("p(X), q(X)"))


def test_at_most_one_atom_of_a_list_holds_of_one_binding():
    declared = {"types": {"p": ("event",), "q": ("event",)}, "modes": {"p": ("+",), "q": ("+",)}}
    listed = tuple(parse_atoms("p(A), q(A)"))
    assert violates(parse_atoms("p(X), q(X)"), Bias(**declared, atmostone=(listed,)))
    assert not violates(parse_atoms("p(X), q(Y)"), Bias(**declared, atmostone=(listed,)))
    assert not violates(parse_atoms("p(X), q(X)"), Bias(**declared, sametype=(listed,)))


def test_the_same_element_of_a_list_matches_twice_by_its_blanks():
    bias = one_fluent("+*", sametype=(tuple(parse_atoms("p(A,_)")),))
    assert violates(parse_atoms("p(X,a), p(X,b)"), bias)
    assert not violates(parse_atoms("p(X,a), p(Y,b)"), bias)


def test_filters_of_the_answer_do_not_stop_refinement():
    bias = one_fluent("+#", posconstraints=(tuple(parse_atoms("p(_,b)")),))
    assert answer(bias, "p(e,a), p(e,b)", max_length=2) == {"p(A,b)": 1, "p(A,a), p(A,b)": 1}


def test_a_closed_answer_has_the_most_specific_of_equal_covers():
    texts = answer(one_fluent("+*"), "p(e,a)", "p(e,a)", max_length=1, closed=True)
    assert texts == {"p(A,a)": 2}


def test_too_many_candidates_are_refused():
    with pytest.raises(TooLarge):
        enumerate_patterns(
            [set(parse_atoms("p(e,a), p(e,b)"))], ["all"], one_fluent("+*"), EVERYTHING, limit=10
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p(X,Y), p(Y,X)", "p(B,A), p(A,B)"),
        ("p(X,Y), p(Y,Z), p(Z,X)", "p(A,B), p(C,A), p(B,C)"),
        ("p(X,Y), p(Y,X)", "p(X,Y), p(X,Z)"),
        ("p(X,1)", "p(X,1.0)"),
        ("p(X,X)", "p(X,Y)"),
        ("next_s(X,Y), p(X), p(Y)", "next_s(Y,X), p(X), p(Y)"),
    ],
)
def test_renaming_by_trying_agrees_with_the_canonical_form(one, other):
    first, second = parse_atoms(one), parse_atoms(other)
    assert equal_up_to_renaming(first, second) == are_variants(first, second)
    variants = Variants()
    variants.add(first)
    assert variants.add(second) == (not are_variants(first, second))


@pytest.mark.parametrize("seed", [1, 5, 14, 26])
def test_grown_matches_cover_what_brute_force_covers(seed):
    language, found = solved_language(seed)
    closures = language.closures()
    flag = language.conditions.object_identity
    for pattern in found[:: max(len(found) // 10, 1)]:
        covered = {i for i, c in enumerate(closures) if brute_force_covers(pattern.atoms, c, flag)}
        assert covered == pattern.covered, pattern


def test_a_language_is_the_same_for_the_same_seed():
    assert str(make_language(5)) == str(make_language(5))
    assert str(make_language(5)) != str(make_language(6))
