"""Messages about many problems: some are shown, and where reading stopped is said."""

import time

import pytest

import relynx as rx
from relynx.errors import MOST_PROBLEMS, SHOWN_PROBLEMS, Problem, Source
from relynx.logic.parser import parse_clauses

READERS = {
    "declarations that are unknown": (rx.parse_bias, "colour(a)."),
    "declarations that are no Prolog": (rx.parse_bias, "type(a b)."),
    "atoms that nothing declares": (rx.parse_bias, "v(b)."),
    "rules that are no Prolog": (rx.parse_background, "p(X Y)."),
    "rules that mean nothing": (rx.parse_background, "p(X)."),
}


def error_of(read, text):
    with pytest.raises(rx.InputError) as caught:
        read(text)
    return caught.value


def test_problems_beyond_those_shown_are_counted():
    error = rx.InputError(Problem(f"wrong {i}") for i in range(SHOWN_PROBLEMS + 7))
    assert str(error).splitlines() == [
        *(f"wrong {i}" for i in range(SHOWN_PROBLEMS)),
        "... and 7 more problems",
    ]


@pytest.mark.parametrize("name", READERS)
def test_a_reader_stops_after_the_most_problems_and_says_where(name):
    read, line = READERS[name]
    error = error_of(read, f"{line}\n" * (MOST_PROBLEMS + 20))
    column = error.column
    assert len(error.problems) == MOST_PROBLEMS + 1
    assert str(error).splitlines()[-5:] == [
        "... and 50 more problems",
        f"<text>:101:{column}: reading stopped here, after 100 problems",
        f"    {line}",
        "    " + " " * (column - 1) + "^",
        "hint: mend these, and read it again",
    ]


@pytest.mark.parametrize("name", READERS)
def test_the_most_problems_are_all_there_where_no_more_follow(name):
    read, line = READERS[name]
    error = error_of(read, f"{line}\n" * MOST_PROBLEMS)
    assert len(error.problems) == MOST_PROBLEMS
    assert str(error).splitlines()[-1] == "... and 50 more problems"


@pytest.mark.parametrize("line", ["colour(a).", "type(a b).", "maxsize(x)."])
def test_a_hundred_thousand_broken_declarations_are_told_at_once(line):
    begun = time.process_time()
    error_of(rx.parse_bias, f"{line}\n" * 100_000)
    assert time.process_time() - begun < 1


def test_clauses_are_read_until_there_are_too_many_problems():
    clauses, problems = parse_clauses(Source("p(a).\nq(b c).\n" * 1_000))
    assert len(problems) == MOST_PROBLEMS + 1
    assert len(clauses) == MOST_PROBLEMS + 1


def test_problems_of_both_kinds_are_counted_together():
    error = error_of(rx.parse_bias, "colour(a).\ntype(a b).\n" * 100)
    assert isinstance(error, rx.ParseError)
    assert [problem.source.line_and_column(problem.offset)[0] for problem in error.problems] == [
        *range(1, MOST_PROBLEMS + 2)
    ]
