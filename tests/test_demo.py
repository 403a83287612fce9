"""The demonstration: what it works out, and how it looks."""

import io

import numpy as np
import pytest
from rich.console import Console

from relynx import demo, from_lists, parse_pattern


def printed(**options):
    """What the demonstration prints on a console of that kind."""
    console = Console(highlight=False, width=80, **options)
    with console.capture() as capture:
        demo.show(console)
    return capture.get()


def test_an_answer_holds_shares_confidence_and_lift():
    X, y = from_lists([["a"], ["a"], ["b"], ["a"], ["b"], ["b"], ["b"], ["b"]], list("uuuvvvvv"))
    answer = demo.ask(parse_pattern("a(X)"), X, y)
    assert answer.covered == {"u": 2 / 3, "v": 1 / 5}
    assert answer.marks == "u"
    assert answer.confidence == 2 / 3
    assert answer.lift == pytest.approx((2 / 3) / (3 / 8))


def test_a_pattern_that_covers_nothing_has_no_confidence():
    X, y = from_lists([["a"], ["b"]], ["u", "v"])
    answer = demo.ask(parse_pattern("a(X), next_s(X,Y)"), X, y)
    assert (answer.confidence, answer.lift) == (0, 0)


def test_each_pattern_of_the_demonstration_is_telling():
    folds = demo.load_protein_folds()
    answers = [demo.ask(parse_pattern(text), folds.X, folds.y) for text in demo.QUESTIONS.values()]
    assert [answer.marks for answer in answers] == ["c.1", "c.2", "c.23"]
    assert all(answer.lift > 2 for answer in answers)
    assert all(answer.covered[answer.marks] > 0.6 for answer in answers)
    assert set(demo.FOLDS) == set(np.unique(folds.y).tolist())


def test_no_line_is_wider_than_a_terminal():
    assert max(map(len, printed().splitlines())) <= 80


def test_a_terminal_shows_colours():
    assert "\x1b[" in printed(force_terminal=True, color_system="standard", no_color=False)


def test_a_console_without_unicode_shows_plain_bars():
    text = printed(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert text.isascii()
    assert "   c.1   TIM barrel           ###############.........  62%\n" in text
