"""What notebooks show of values: readable, and everything of the user's escaped."""

import numpy as np
import pytest

import relynx as rx
from relynx.models.evaluation.cross_validation import CrossValidation, Fold

HOSTILE = "<script>alert(1)</script>&\"'"


def test_a_pattern_is_its_text():
    pattern = rx.parse_pattern("p(A,'<b>'), next_s(A,B)")
    assert pattern._repr_html_() == "<code>p(A,&#x27;&lt;b&gt;&#x27;), next_s(A,B)</code>"


def test_a_bias_is_its_declarations():
    bias = rx.parse_bias("type(p(event,'<b>')). mode(p(+,#)). dimension(next_s).")
    assert bias._repr_html_() == (
        "<pre>type(p(event,&#x27;&lt;b&gt;&#x27;)).\nmode(p(+,#)).\ndimension(next_s).</pre>"
    )


def test_a_cross_validation_is_its_accuracy_and_its_matrix():
    folds = tuple(
        Fold(0, number, np.arange(2), np.array(["<i>", "b"]), accuracy, 1.0)
        for number, accuracy in ((1, 1.0), (2, 0.5))
    )
    outcome = CrossValidation(np.array(["<i>", "b"]), folds, np.array([[2, 0], [1, 1000]]))
    assert outcome._repr_html_() == (
        "<p>accuracy 0.750, the mean of 2 folds of 1 seed; predictions by class:</p>"
        "<table><thead><tr><th>class</th><th>&lt;i&gt;</th><th>b</th></tr></thead><tbody>"
        "<tr><th>&lt;i&gt;</th><td>2</td><td>0</td></tr>"
        "<tr><th>b</th><td>1</td><td>1,000</td></tr></tbody></table>"
    )


def values():
    """One of each kind, with hostile names wherever a user may write one."""
    atoms = [rx.Atom(HOSTILE, ("e1", HOSTILE)), rx.Atom("next_s", ("e1", "e2"))]
    X = rx.Sequences.from_atoms([atoms], ids=[HOSTILE], labels=[HOSTILE])
    found = rx.mine(X, max_length=1)
    fold = Fold(0, 1, np.arange(1), np.array([HOSTILE]), 1.0, 0.0)
    outcome = CrossValidation(np.array([HOSTILE]), (fold,), np.array([[1]]))
    return [X, X[0], found, found[0].pattern, rx.Bias.infer(X), outcome]


@pytest.mark.parametrize("number", range(6))
def test_nothing_of_the_user_comes_out_as_markup(number):
    value = values()[number]
    shown = value._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
