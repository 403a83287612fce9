"""Exact sparse logistic regression on a language: its solver, and how a penalty is chosen."""

import numpy as np
import pytest
from test_sparse_logistic import slow

import relynx as rx
from relynx.bias import Bias
from relynx.features.exact_logistic import Descent, fit_exact, validated
from relynx.features.sparse_logistic import divisions
from relynx.mining.bounded import Language
from relynx.search_settings import SearchSettings


def letters(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abcd"), size=5).tolist() for _ in range(n)]
    kinds = np.array([0 if "ab" in "".join(s) else 1 if "c" in s else 2 for s in lists])
    kinds[rng.random(n) < 0.1] = 1
    return rx.from_lists(lists)[0], np.minimum(kinds, n_classes - 1)


def language_of(X, length=2):
    return Language(X, Bias.infer(X), SearchSettings(max_length=length))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_descent_ends_at_the_minimum_of_all_columns(n_classes):
    X, y = letters(n_classes=n_classes)
    language = language_of(X)
    while language.grow(np.ones(len(language), bool)):
        pass
    offset, rows = language.columns(np.flatnonzero(language.usable))
    M = np.zeros((len(y), len(offset) - 1))
    M[rows, np.repeat(np.arange(M.shape[1]), np.diff(offset))] = 1
    descent = Descent(language_of(X), y, n_classes, np.ones(60))
    assert descent.go_to(0.02, 1e-10) < 1e-10
    assert descent.objective(0.02) == pytest.approx(slow(M, y, n_classes, 0.02), abs=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_penalty_as_large_as_the_largest_leaves_no_weight(n_classes):
    X, y = letters(n_classes=n_classes)
    given = y, n_classes, np.ones(60)
    found, certificate = fit_exact(language_of(X), *given, seed=0, penalty=1.0)
    shares = np.bincount(y) / 60
    assert not len(found.columns)
    assert certificate.objective == pytest.approx(-(shares * np.log(shares)).sum())
    assert certificate.gap < 1e-12
    assert len(fit_exact(language_of(X), *given, seed=0, penalty=0.99)[0].columns)


def test_rows_without_weight_are_as_if_they_were_not_there():
    X, y = letters()
    counts = np.arange(60) % 3 > 0
    bias = Bias.infer(X)
    settings = SearchSettings(max_length=2)
    sample = np.where(counts, 1.0, 0.0)
    how = {"seed": 0, "penalty": 0.1}
    _, one = fit_exact(Language(X, bias, settings), y, 3, sample, **how)
    _, other = fit_exact(Language(X[counts], bias, settings), y[counts], 3, np.ones(40), **how)
    assert one.objective == pytest.approx(other.objective, abs=1e-7)
    assert one.largest_penalty == pytest.approx(other.largest_penalty)


def test_what_is_held_out_changes_nothing_in_a_part():
    X, y = letters()
    held = divisions(y, np.ones(60), 0)[0]
    sample = np.where(held, 0.0, 1.0)
    changed = np.where(held, (y + 1) % 3, y)
    paths = []
    for labels in (y, changed):
        descent = Descent(language_of(X), labels, 3, sample)
        descent.go_to(0.02, 1e-8)
        paths.append(descent.solution())
    assert paths[0].columns.tolist() == paths[1].columns.tolist()
    assert (paths[0].weights == paths[1].weights).all()


def test_the_validation_does_not_depend_on_what_was_counted_before():
    X, y = letters()
    fresh, grown = language_of(X), language_of(X)
    while grown.grow(np.ones(len(grown), bool)):
        pass
    one, other = (fit_exact(some, y, 3, np.ones(60), seed=0) for some in (fresh, grown))
    assert one[1].penalty == other[1].penalty
    assert one[1].objective == pytest.approx(other[1].objective, abs=1e-7)
    assert one[1].scale == other[1].scale


def test_without_two_rows_of_a_class_the_smallest_penalty_is_taken():
    X, _ = rx.from_lists([["a", "c"], ["b", "a"], ["c", "b"]])
    given = np.array([1.0, 0.1]), 0
    assert validated(language_of(X), np.arange(3), 3, np.ones(3), *given) == (1, 1.0)


@pytest.mark.parametrize("penalty", [1e-2, 1e-5])
def test_classes_that_can_be_told_apart_have_a_minimum_at_a_small_penalty(penalty):
    X, y = rx.from_lists([["a", "b"], ["b", "a"]] * 10, [0, 1] * 10)
    _, certificate = fit_exact(language_of(X), y, 2, np.ones(20), seed=0, penalty=penalty)
    # By symmetry the sum of the weights is w, the intercept -w/2: ln(1 + exp(-w/2)) + penalty w.
    w = 2 * np.log(1 / (2 * certificate.penalty) - 1)
    assert certificate.objective == pytest.approx(
        np.log1p(np.exp(-w / 2)) + certificate.penalty * w, abs=1e-8
    )
    assert certificate.gap < 1e-8
