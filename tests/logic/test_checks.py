"""Background files that make no sense: every message, whole."""

from __future__ import annotations

import pytest
from golden_texts import refusals

from relynx.errors import DataError, ParseError
from relynx.logic.datalog import Background, parse_background, read_background
from relynx.logic.terms import Atom, Comparison, Not, Rule, Struct, Var

test_a_bad_background_file_gets_its_whole_message = refusals("bad_background", read_background)


def test_syntax_makes_it_a_parse_error_that_lists_the_other_problems_too():
    with pytest.raises(ParseError) as caught:
        parse_background("p(X) :- q(Y).\np(a b).\n")
    assert [
        problem.source.line_and_column(problem.offset)[0] for problem in caught.value.problems
    ] == [1, 2]


def test_rules_that_make_no_sense_are_a_data_error():
    with pytest.raises(DataError):
        parse_background("p(X) :- q(Y).")


def test_a_rule_made_in_python_is_checked_without_a_place():
    with pytest.raises(DataError) as caught:
        Background((Rule(Atom("p", (Var("X"),)), (Atom("q", (Var("Y"),)),)),))
    assert str(caught.value) == (
        "unsafe variable X: it is in the head, but nothing in the body binds it\n"
        "hint: add an atom with X to the body"
    )


def test_a_nested_term_of_a_rule_made_in_python_is_refused():
    with pytest.raises(DataError, match="the nested term f\\(a\\) cannot be an argument"):
        Background((Rule(Atom("p", (Struct("f", ("a",)),))),))


def test_one_variable_object_on_both_sides_of_is_is_unsafe():
    n = Var("N")
    test = Comparison("is", n, Struct("+", (n, 1)))
    with pytest.raises(DataError, match="unsafe variable N: it has no value in 'N is N \\+ 1'"):
        Background((Rule(Atom("p", (n,)), (Atom("q", ("a",)), test)),))


def test_mixed_arity_without_a_text_names_the_other_atom():
    with pytest.raises(DataError) as caught:
        Background((Rule(Atom("p", ("a",))), Rule(Atom("p", ("a", "b")))))
    assert str(caught.value) == "p has 2 arguments here, 1 elsewhere\nhint: the other is p(a)"


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- q(X), \\+ r(X,_).",
        "p(N) :- q(X), N is X + 1.",
        "p(N) :- q(X), M is X + 1, N is M * 2.",
        "p(N) :- N is M * 2, M is X + 1, q(X).",
        "p(X) :- q(X), 3 is X + 1.",
        "p(X) :- q(X), _ is X + 1.",
        "p(X) :- q(X), X == a, a \\== b.",
        "p :- 1 < 2.",
        "p(a) :- \\+ q(_).",
        "even(X) :- zero(X). even(X) :- succ(Y,X), odd(Y). odd(X) :- succ(Y,X), even(Y).",
        "next_b(X,Y) :- follow_s(X,Y). far(X,Y) :- \\+ follow_b(Y,X), e(X), e(Y).",
        "follow_up(P) :- visit(P).",
    ],
)
def test_sensible_rules_are_accepted(text):
    assert parse_background(text).rules


def test_rules_may_negate_what_is_complete_before():
    background = parse_background("a(X) :- e(X), \\+ b(X). b(X) :- e(X), \\+ c(X).")
    assert isinstance(background.rules[0].body[1], Not)


def test_a_thousand_levels_of_predicates_are_no_problem():
    text = "p0(X) :- e(X).\n" + "\n".join(f"p{i}(X) :- p{i - 1}(X)." for i in range(1, 3000))
    assert len(parse_background(text).heads) == 3000
