"""The twin that everything is compared with is itself checked by hand."""

from __future__ import annotations

import pytest
from reference import (
    background_closure,
    brute_force_covers,
    brute_force_matches,
    strata,
    transitive_closure,
    walks,
)

from relynx.logic.terms import Atom, Comparison, Not, Rule, Struct, Var

E, F, L, M, N, X, Y = (Var(name) for name in "EFLMNXY")
BLANK = Var("_")


def p(*args):
    return Atom("p", args)


def q(*args):
    return Atom("q", args)


def derived(rule, *atoms, object_identity=True):
    """The atoms that one rule adds."""
    return background_closure([rule], atoms, object_identity) - set(atoms)


def computed(expression):
    """The constant that an expression of L has where L is -7."""
    rule = Rule(q(M), (p(L), Comparison("is", M, expression)))
    ((value,),) = [atom.args for atom in derived(rule, p(-7), object_identity=False)]
    return value


@pytest.mark.parametrize(("object_identity", "count"), [(True, 2), (False, 4)])
def test_identity_makes_substitutions_injective(object_identity, count):
    assert len(brute_force_matches([p(X), p(Y)], [p("a"), p("b")], object_identity)) == count


def test_a_variable_never_takes_a_constant_of_the_pattern_under_identity():
    assert not brute_force_covers([p("a"), q(X)], [p("a"), q("a")], True)
    assert brute_force_covers([p("a"), q(X)], [p("a"), q("a")], False)


def test_the_anonymous_variable_may_take_any_constant():
    assert brute_force_covers([p("a"), q(BLANK)], [p("a"), q("a")], True)


def test_a_match_binds_the_named_variables_only():
    assert brute_force_matches([p(X, BLANK)], [p("a", 1), p("a", 2)]) == [{"X": "a"}]


def test_one_and_one_point_zero_are_different_constants():
    assert not brute_force_covers([p(1)], [p(1.0)], False)
    assert brute_force_covers([p(X), q(Y)], [p(1), q(1.0)], True)


def test_the_steps_of_followat_are_no_object():
    step = Atom("next_s", (1, 2))
    assert brute_force_covers([Atom("followat_s", (1, X, Y))], [step], True)


def test_a_walk_may_repeat_nodes_and_a_closure_needs_a_step():
    circle = {("a", "b"), ("b", "a")}
    assert walks(circle, 4) == {("a", "a"), ("b", "b")}
    assert transitive_closure(circle) == {(x, y) for x in "ab" for y in "ab"}
    assert transitive_closure({("a", "b")}) == {("a", "b")}


def test_identity_holds_between_the_variables_of_a_rule():
    rule = Rule(q(E, F), (p(E), p(F)))
    assert derived(rule, p("a")) == set()
    assert derived(rule, p("a"), object_identity=False) == {q("a", "a")}


def test_identity_holds_between_variables_and_constants_of_the_head():
    assert derived(Rule(q(E, "a"), (p(E),)), p("a"), p("b")) == {q("b", "a")}


def test_identity_holds_for_the_result_of_is():
    rule = Rule(q(L, M), (p(L), Comparison("is", M, Struct("*", (L, L)))))
    assert derived(rule, p(1), p(2)) == {q(2, 4)}


def test_the_operands_of_a_comparison_are_no_objects():
    rule = Rule(q(E), (p(E, L), Comparison(">=", L, 7)))
    assert derived(rule, p("e", 7)) == {q("e")}


def test_negation_sees_what_lower_strata_derive():
    rules = [
        Rule(q(X), (p(X), Not(Atom("r", (X,))))),
        Rule(Atom("r", (X,)), (p(X), Comparison("==", X, "a"))),
    ]
    assert background_closure(rules, [p("a"), p("b")]) >= {q("b")}
    assert q("a") not in background_closure(rules, [p("a"), p("b")])


def test_a_blank_in_a_negation_stands_for_any_value():
    assert derived(Rule(q(X), (p(X, BLANK), Not(p(BLANK, X)))), p("a", "b"), p("b", "c")) == {
        q("a")
    }


def test_recursion_reaches_its_end():
    rules = [Rule(q(X, Y), (p(X, Y),)), Rule(q(X, Y), (p(X, E), q(E, Y)))]
    chain = [p(i, i + 1) for i in range(5)]
    assert len(background_closure(rules, chain) - set(chain)) == 15


def test_negation_in_a_circle_is_refused():
    with pytest.raises(ValueError, match="negation through recursion"):
        strata([Rule(q(X), (p(X), Not(q(X))))])


@pytest.mark.parametrize(
    ("functor", "right", "value"),
    [
        ("+", 2, -5),
        ("-", 2, -9),
        ("*", 2, -14),
        ("//", 2, -3),
        ("//", -2, 3),
        ("mod", 2, 1),
        ("mod", -2, -1),
        ("min", 2, -7),
        ("max", 2, 2),
        ("*", 0.5, -3.5),
        ("+", 0.0, -7.0),
    ],
)
def test_arithmetic_is_that_of_prolog(functor, right, value):
    result = computed(Struct(functor, (L, right)))
    assert (result, type(result)) == (value, type(value))


def test_abs_drops_the_sign():
    assert computed(Struct("abs", (L,))) == 7


@pytest.mark.parametrize(
    ("operator", "true_for"),
    [
        ("<", [0, 1]),
        ("=<", [0, 1, 2, 2.0]),
        (">", [3]),
        (">=", [2, 2.0, 3]),
        ("=:=", [2, 2.0]),
        ("=\\=", [0, 1, 3]),
        ("==", [2]),
        ("\\==", [0, 1, 2.0, 3]),
    ],
)
def test_comparisons_are_those_of_prolog(operator, true_for):
    rule = Rule(q(L), (p(L), Comparison(operator, L, 2)))
    assert derived(rule, *map(p, [0, 1, 2, 2.0, 3])) == set(map(q, true_for))
