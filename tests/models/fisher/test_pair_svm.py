"""Machines for pairs of classes, as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from relynx.models.fisher.pair_svm import GRID, kernel, learn_pairs, scaled_gamma, validated_C


def clouds(n_classes, seed=0, n=60):
    """Points around a centre for each class."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n_classes, 4))[codes] + 0.8 * rng.normal(size=(n, 4)), codes


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_the_arrays_answer_as_scikit_learn(n_classes, gamma):
    U, codes = clouds(n_classes)
    new, _ = clouds(n_classes, seed=1)
    machine = learn_pairs(U, kernel(U, gamma), codes, C=2.0, gamma=gamma)
    name = "linear" if gamma is None else "rbf"
    options = {} if gamma is None else {"gamma": gamma}
    twin = SVC(kernel=name, C=2.0, decision_function_shape="ovo", **options).fit(U, codes)
    theirs = twin.decision_function(new).reshape(len(new), -1)
    # Theirs is positive for the first class of a pair, but with two classes for the second.
    ours = machine.values(new) * (1 if n_classes == 2 else -1)
    assert ours == pytest.approx(theirs, abs=5e-3)
    decisions = machine.decisions(new)
    best = decisions.argmax(axis=1) if n_classes > 2 else (decisions > 0).astype(int)
    sure = np.abs(theirs).min(axis=1) > 0.01
    votes = np.sort(decisions, axis=1) if n_classes > 2 else None
    if votes is not None:  # of equal votes theirs takes the first class
        sure &= votes[:, -1] - votes[:, -2] > 0.7
    assert (best == twin.predict(new))[sure].all()
    assert sure.sum() > 30


def test_of_many_classes_the_support_vectors_are_kept_and_answer_the_same():
    U, codes = clouds(9, n=27)
    machine = learn_pairs(U, kernel(U, None), codes, C=2.0, gamma=None)
    assert machine.vectors.shape[0] <= 27 < len(machine.intercepts) == 36
    assert machine.weights is not None
    directions = np.stack([machine.direction(pair) for pair in range(36)])
    assert machine.values(U) == pytest.approx(U @ directions.T + machine.intercepts, abs=1e-8)
    twin = SVC(kernel="linear", C=2.0, decision_function_shape="ovo").fit(U, codes)
    assert machine.values(U) == pytest.approx(-twin.decision_function(U), abs=5e-3)
    few, of_few = clouds(3)
    assert learn_pairs(few, kernel(few, None), of_few, C=2.0, gamma=None).vectors.shape == (3, 4)


def test_a_row_is_answered_alone_as_among_others():
    U, codes = clouds(3)
    for gamma in (None, 0.5):
        machine = learn_pairs(U, kernel(U, gamma), codes, C=1.0, gamma=gamma)
        whole = machine.decisions(U)
        assert all(np.array_equal(whole[[i]], machine.decisions(U[[i]])) for i in range(len(U)))


def test_the_decision_of_a_class_is_its_votes_and_less_than_half_a_vote():
    U, codes = clouds(4)
    decisions = learn_pairs(U, kernel(U, None), codes, C=1.0, gamma=None).decisions(U)
    assert (np.abs(decisions - decisions.round()) < 0.5).all()
    assert decisions.round().sum(axis=1).tolist() == [6] * len(U)


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.lists(
            st.lists(st.floats(-5, 5), min_size=d, max_size=d), min_size=1, max_size=6
        )
    ),
    st.sampled_from([None, 0.1, 2.0]),
)
def test_a_kernel_is_symmetric_and_has_no_negative_eigenvalue(rows, gamma):
    K = kernel(np.array(rows), gamma)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-9
    if gamma is not None:
        assert np.diag(K).tolist() == [1.0] * len(rows)


def test_gamma_is_that_of_scikit_learn():
    U, codes = clouds(2)
    assert scaled_gamma(U) == pytest.approx(SVC(gamma="scale").fit(U, codes)._gamma)
    assert scaled_gamma(np.ones((3, 2))) == scaled_gamma(np.empty((3, 0))) == 1.0


def test_the_cost_is_one_of_the_grid_and_the_same_for_a_seed():
    U, codes = clouds(3)
    found = [validated_C(kernel(U, None), codes, np.random.RandomState(7)) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] in GRID


def test_of_equal_costs_the_smallest_is_taken():
    U = np.array([[-1.0], [1.0]] * 10)
    assert validated_C(kernel(U, None), np.array([0, 1] * 10), np.random.RandomState(0)) == GRID[0]


def test_a_class_of_one_gets_the_middle_cost_and_small_ones_fewer_folds():
    U, _ = clouds(2, n=7)
    K = kernel(U, None)
    assert validated_C(K, np.array([0, 0, 0, 0, 0, 0, 1]), np.random.RandomState(0)) == 1.0
    assert validated_C(K, np.array([0, 0, 0, 0, 0, 1, 1]), np.random.RandomState(0)) in GRID
