"""The sparse logistic regression against plain twins: sums row by row, and a slow solver."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from relynx.features import _logistic_kernels as kernels
from relynx.features import sparse_logistic
from relynx.features.sparse_logistic import (
    FORMS,
    SCALES,
    SLACK,
    STEADY,
    Columns,
    Growth,
    Problem,
    Solution,
    as_learner,
    best_scale,
    divisions,
    fit_sparse,
    growth_of,
    penalties_from,
    simplest,
)

SHARES = 0.5, 0.2, 0.1, 0.03, 0.01  # of the largest penalty
ON_WEIGHTS = 1.0, 0.3, 0.03  # shares of a penalty


def random_data(n=60, n_columns=12, n_classes=2, seed=0):
    """Columns of which some depend on the class a little, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    share = np.clip(
        rng.beta(1, 2, n_columns) + rng.normal(0, 0.2, (n_classes, n_columns)), 0.02, 0.98
    )
    return (rng.random((n, n_columns)) < share[y]).astype(float), y


def random_scales(M, seed=0):
    """The columns of a matrix with a scale for each row and each column."""
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.2, 3, len(M)), rng.uniform(1, 10, M.shape[1])
    return replace(Columns.of(M), row_scale=scales[0], column_scale=scales[1])


@st.composite
def steps(draw):
    """A problem, and somewhere to take a step from."""
    n_classes = draw(st.integers(2, 4))
    seed = draw(st.integers(0, 9999))
    M, y = random_data(draw(st.integers(n_classes, 20)), draw(st.integers(1, 6)), n_classes, seed)
    rng = np.random.default_rng(seed)
    sample = np.where(rng.random(len(y)) < 0.2, 0.0, rng.random(len(y)))
    sample[0] = 1.0
    columns = draw(st.sampled_from([Columns.of(M), random_scales(M, seed)]))
    problem = Problem(columns, y, n_classes, sample, draw(st.sampled_from(ON_WEIGHTS)))
    far = draw(st.sampled_from([0.0, 0.1, 1.0]))
    problem.weights[:] = rng.normal(0, far, problem.weights.shape)
    problem.intercept[:] = rng.normal(0, far, problem.intercept.shape)
    problem.scores[:] = scores_of(problem, M)
    problem._update()
    penalty = draw(st.sampled_from([0.0, 1e-6, 1e-3, 0.03, 1.0]))
    return M, problem, penalty


def scores_of(problem, M):
    values = problem.row_scale[:, None] * M
    return problem.weights @ values.T + problem.intercept[:, None]


def take_step(problem, c, penalty, active=None, enough=1e-9):
    """A Newton step of the kernel for a class: the gain."""
    gain, shift, _ = kernels.newton_step(
        problem.columns.offset,
        problem.columns.rows,
        problem.row_scale,
        problem.target[c],
        problem.sample,
        problem.share * penalty / problem.column_scale,
        (1 - problem.share) * penalty / problem.column_scale**2,
        np.arange(len(problem.columns)) if active is None else active,
        problem.weights[c],
        problem.scores[c],
        problem.sums,
        enough,
        problem.close,
    )
    problem.intercept[c] += shift
    return gain


def plain_step(problem, M, c, penalty, active, enough):
    """The same, from the definition: its model is computed anew for each weight.

    The weights, the intercept and the gain.
    """
    A, target, sample = problem.row_scale[:, None] * M, problem.target[c], problem.sample
    old, start = problem.weights[c].copy(), problem.intercept[c]
    on_weights = problem.share * penalty / problem.column_scale
    on_squares = (1 - problem.share) * penalty / problem.column_scale**2
    share = np.exp(problem.scores[c] - problem.sums)
    slope = sample * (share - target)
    curvature = sample * np.maximum(share * (1 - share), kernels.LEAST_CURVATURE)
    new, shift, first = old.copy(), 0.0, 0.0
    for turn in range(kernels.MOST_ROUNDS):
        step = -(slope + curvature * (A @ (new - old) + shift)).sum() / curvature.sum()
        shift += step
        largest = curvature.sum() * step**2
        for j in active:
            if turn % kernels.EVERY and new[j] == 0:
                continue
            bend = 1e-12 + on_squares[j] + curvature @ A[:, j] ** 2
            gradient = A[:, j] @ (slope + curvature * (A @ (new - old) + shift))
            wanted = (bend - on_squares[j]) * new[j] - gradient
            value = np.sign(wanted) * max(abs(wanted) - on_weights[j], 0) / bend
            largest = max(largest, bend * (value - new[j]) ** 2)
            new[j] = value
        first = largest if turn == 0 else first
        if turn % kernels.EVERY == 0 and largest <= max(enough, Problem.close * first):
            break

    def worth(weights, intercept):
        moved = A @ (weights - old) + intercept - start
        rise = [kernels.log_rise(s, m) for s, m in zip(share, moved, strict=True)]
        costs = on_weights @ np.abs(weights) + on_squares @ weights**2 / 2
        return sample @ (target * moved - rise) - costs

    length = 1.0
    while True:
        end = old + length * (new - old), start + length * shift
        gain = worth(*end) - worth(old, start)
        if gain >= -1e-15 or length == 0:
            return *end, gain
        length = length / 2 if length > 1e-5 else 0.0


def plain_sums(scores, has_base):
    scores = np.vstack([np.zeros(scores.shape[1]), scores]) if has_base else scores
    return np.logaddexp.reduce(scores, axis=0)


def objective(M, y, n_classes, sample, penalty, weights, intercept, share=1.0, column_scale=1.0):
    """The mean loss and the penalty, from the weights alone."""
    scores = weights @ M.T + intercept[:, None]
    if n_classes == 2:
        scores = np.vstack([np.zeros(len(y)), scores])
    losses = np.logaddexp.reduce(scores, axis=0) - scores[y, np.arange(len(y))]
    costs = penalised(weights / column_scale, penalty, share)
    return sample @ losses / sample.sum() + costs


def penalised(weights, penalty, share):
    return penalty * (share * np.abs(weights).sum() + (1 - share) / 2 * (weights**2).sum())


def of_solution(found, n_columns):
    weights = np.zeros((len(found.intercept), n_columns))
    weights[:, found.columns] = found.weights
    return weights, found.intercept


def slow(M, y, n_classes, penalty, share=1.0):
    """The least objective, by a solver of smooth problems: weights are differences of two."""
    n, n_columns = M.shape
    k = 1 if n_classes == 2 else n_classes
    target = (y[None] == (np.arange(n_classes)[-k:])[:, None]).astype(float)
    wide = k * n_columns

    def value(x):
        weights = (x[:wide] - x[wide : 2 * wide]).reshape(k, n_columns)
        scores = weights @ M.T + x[2 * wide :, None]
        sums = plain_sums(scores, n_classes == 2)
        residual = (np.exp(scores - sums) - target) / n
        slope = (residual @ M).ravel() + (1 - share) * penalty * weights.ravel()
        loss = (sums - (target * scores).sum(axis=0)).mean()
        parts = [slope + share * penalty, share * penalty - slope, residual.sum(axis=1)]
        costs = (1 - share) * penalty / 2 * (weights**2).sum()
        return loss + costs + share * penalty * x[: 2 * wide].sum(), np.concatenate(parts)

    bounds = [(0, None)] * (2 * wide) + [(None, None)] * k
    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-14, "gtol": 1e-10}
    start = np.zeros(len(bounds))
    return minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


def solved(M, y, n_classes, shares=SHARES, sample=None):
    problem = Problem(
        Columns.of(M), y, n_classes, np.ones(len(y)) if sample is None else np.asarray(sample)
    )
    penalties = problem.largest_penalty() * np.array(shares)
    return penalties, [*problem.path(penalties)]


def fitted(M, y, n_classes=2, sample=None, **how):
    sample = np.ones(len(y)) if sample is None else np.asarray(sample, float)
    return fit_sparse(Columns.of(M), y, n_classes, sample, seed=0, **how)


def scale_of(found, M, y, n_classes=2):
    """The number by which all weights of a model were multiplied."""
    form, last = found.chosen
    columns = sparse_logistic._scaled(
        Columns.of(M), FORMS[form], STEADY, None, *[np.zeros(M.shape[1], int)] * 2
    )
    problem = Problem(columns, y, n_classes, np.ones(len(y)), FORMS[form].share)
    *_, plain = problem.path(penalties_from(problem.largest_penalty())[: last + 1])
    assert found.solution.columns.tolist() == plain.columns.tolist()
    scale = found.solution.intercept[-1] / plain.intercept[-1]
    assert found.solution.weights == pytest.approx(scale * plain.weights)
    assert found.solution.intercept == pytest.approx(scale * plain.intercept)
    assert found.scale == pytest.approx(scale)
    return scale


def probabilities(found, M, n_classes):
    some = M[:, found.solution.columns]
    if not len(found.solution.columns):
        some, only = np.zeros((len(M), 1)), found.solution
        width = np.zeros((len(only.intercept), 1))
        return as_learner(
            Solution(np.zeros(1, int), width, only.intercept), n_classes
        ).predict_proba(some)
    return as_learner(found.solution, n_classes).predict_proba(some)


# The kernels


@pytest.mark.kernels
@given(st.integers(0, 999))
def test_the_sums_of_columns_are_those_of_a_product(seed):
    rng = np.random.default_rng(seed)
    M = rng.random((rng.integers(1, 12), rng.integers(0, 6))) < rng.random()
    columns, values, out = Columns.of(M), rng.normal(size=len(M)), np.empty(M.shape[1])
    kernels.column_sums(columns.offset, columns.rows, values, out)
    assert out == pytest.approx(values @ M)


@pytest.mark.kernels
@pytest.mark.parametrize("has_base", [True, False])
@pytest.mark.parametrize("size", [1.0, 50.0, 2000.0])
def test_logarithms_of_sums_are_exact_for_large_scores(size, has_base):
    scores = np.random.default_rng(0).normal(0, size, (3, 20))
    out = np.empty(20)
    kernels.log_sums(scores, has_base, out)
    assert out == pytest.approx(plain_sums(scores, has_base), rel=1e-12, abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("share", [0.0, 1e-300, 1e-12, 1e-3, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("step", [-200.0, -30.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 29.9, 30.1, 300.0])
def test_the_rise_of_a_sum_is_that_of_its_logarithm(share, step):
    expected = np.logaddexp(np.log1p(-share), np.log(max(share, 1e-300)) + step)
    assert kernels.log_rise(share, step) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("step", [-700.0, -40.0, 40.0, 700.0])
def test_the_rise_is_finite_where_a_part_is_all_of_the_sum(step):
    assert np.isfinite(kernels.log_rise(1.0, step))
    assert kernels.log_rise(1.0, abs(step)) == pytest.approx(abs(step))


@pytest.mark.kernels
@given(steps())
def test_a_step_gains_what_it_says_and_never_loses(case):
    M, problem, penalty = case
    y = problem.target.argmax(axis=0) if not problem.has_base else problem.target[0].astype(int)
    about = problem.row_scale[:, None] * M, y, problem.n_classes, problem.sample, penalty
    how = problem.share, problem.column_scale
    for c in range(len(problem.scores)):
        before = objective(*about, problem.weights, problem.intercept, *how)
        gain = take_step(problem, c, penalty)
        after = objective(*about, problem.weights, problem.intercept, *how)
        assert gain >= -1e-14
        assert before - after == pytest.approx(gain, rel=1e-6, abs=1e-6)
        assert after <= before + 1e-9 * max(before, 1)


@pytest.mark.kernels
@given(steps())
def test_scores_and_sums_after_a_step_are_those_of_the_weights(case):
    M, problem, penalty = case
    for c in range(len(problem.scores)):
        take_step(problem, c, penalty)
    scores = scores_of(problem, M)
    assert problem.scores == pytest.approx(scores, abs=1e-6, rel=1e-9)
    assert problem.sums == pytest.approx(plain_sums(scores, problem.has_base), abs=1e-6)


@pytest.mark.kernels
@settings(max_examples=50)
@given(steps())
def test_a_step_is_that_of_its_definition(case):
    M, problem, penalty = case
    enough = 1e-9
    for c in range(len(problem.scores)):
        active = np.flatnonzero(np.arange(M.shape[1]) % 3 != c % 3)
        weights, intercept, gain = plain_step(problem, M, c, penalty, active, enough)
        others = np.setdiff1d(np.arange(M.shape[1]), active)
        before = problem.weights[c, others].tolist()
        assert take_step(problem, c, penalty, active, enough) == pytest.approx(gain, abs=1e-7)
        assert problem.weights[c] == pytest.approx(weights, rel=1e-5, abs=1e-5)
        assert problem.intercept[c] == pytest.approx(intercept, rel=1e-5, abs=1e-5)
        assert problem.weights[c, others].tolist() == before


@pytest.mark.kernels
def test_columns_that_may_have_no_weight_stay_as_they_are():
    M, y = random_data()
    problem = Problem(Columns.of(M), y, 2, np.ones(len(y)))
    problem._descend(1e-3, [np.array([1, 4])])
    assert np.flatnonzero(problem.weights[0]).tolist() == [1, 4]


# The path


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_objective_is_that_of_a_slow_solver(n_classes, seed):
    M, y = random_data(60, 12, n_classes, seed)
    for penalty, found in zip(*solved(M, y, n_classes), strict=True):
        mine = objective(M, y, n_classes, np.ones(60), penalty, *of_solution(found, 12))
        assert mine == pytest.approx(
            slow(M, y, n_classes, penalty), rel=1e-5 if n_classes == 2 else 1e-4
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_gradient_exceeds_the_penalty_and_those_of_weights_reach_it(n_classes):
    M, y = random_data(80, 30, n_classes, 3)
    problem = Problem(Columns.of(M), y, n_classes, np.ones(80))
    penalties = problem.largest_penalty() * np.array(SHARES)
    for penalty, found in zip(penalties, problem.path(penalties), strict=True):
        assert np.abs(problem.gradient).max() <= 1.03 * penalty  # as exact as its last sweep
        weights, _ = of_solution(found, 30)
        away = problem.gradient + penalty * np.sign(weights)
        assert np.abs(away[weights != 0]).max() < 0.03 * penalty


def test_a_column_without_a_weight_has_no_larger_gradient():
    M, y = random_data(80, 30, 2, 3)
    problem = Problem(Columns.of(M), y, 2, np.ones(80))
    (penalty,) = penalties = np.array([0.1 * problem.largest_penalty()])
    (found,) = problem.path(penalties)
    others = np.setdiff1d(np.arange(30), found.columns)
    assert 0 < len(found.columns) < 30
    assert np.abs(problem.gradient[:, others]).max() <= 1.03 * SLACK * penalty


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_largest_penalty_leaves_no_column_and_the_shares_of_classes(n_classes):
    M, y = random_data(50, 8, n_classes, 2)
    _, (found,) = solved(M, y, n_classes, [1.0])
    assert len(found.columns) == 0
    odds = np.exp(np.append(0.0, found.intercept) if n_classes == 2 else found.intercept)
    assert odds / odds.sum() == pytest.approx(np.bincount(y) / 50)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_of_a_row_is_so_many_rows(n_classes):
    M, y = random_data(30, 8, n_classes, 5)
    times = np.random.default_rng(0).integers(1, 4, 30)
    _, one = solved(M, y, n_classes, sample=times.astype(float))
    _, other = solved(np.repeat(M, times, axis=0), np.repeat(y, times), n_classes)
    for a, b in zip(one, other, strict=True):
        for left, right in zip(of_solution(a, 8), of_solution(b, 8), strict=True):
            assert left == pytest.approx(right, abs=1e-6)


def test_a_row_without_weight_has_a_score_and_changes_nothing():
    M, y = random_data(40, 8)
    problem = Problem(Columns.of(M), y, 2, np.repeat([1.0, 0.0], [30, 10]))
    penalties = problem.largest_penalty() * np.array([0.3, 0.1])
    *_, found = problem.path(penalties)
    _, (*_, without) = solved(M[:30], y[:30], 2, [0.3, 0.1])
    weights, intercept = of_solution(found, 8)
    assert weights == pytest.approx(of_solution(without, 8)[0], abs=1e-9)
    assert problem.scores == pytest.approx(weights @ M.T + intercept[:, None])


def test_columns_are_the_same_of_dense_and_sparse_matrices():
    M, _ = random_data()
    dense, thin = Columns.of(M), Columns.of(sparse.csr_array(M))
    assert len(dense) == 12
    assert dense.offset.tolist() == thin.offset.tolist()
    assert dense.rows.tolist() == thin.rows.tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("share", ON_WEIGHTS)
def test_each_form_is_solved_on_the_scaled_matrix(n_classes, share, monkeypatch):
    monkeypatch.setattr(sparse_logistic, "ENOUGH", 1e-11)
    M, y = random_data(60, 12, n_classes, 2)
    columns = random_scales(M)
    values = columns.row_scale[:, None] * M * columns.column_scale
    problem = Problem(columns, y, n_classes, np.ones(60), share)
    penalties = problem.largest_penalty() * np.array(SHARES)
    for penalty, found in zip(penalties, problem.path(penalties), strict=True):
        weights, intercept = of_solution(found, 12)
        about = values, y, n_classes, np.ones(60), penalty
        mine = objective(*about, weights / columns.column_scale, intercept, share)
        assert mine == pytest.approx(slow(values, y, n_classes, penalty, share), rel=1e-6)
        assert problem.scores == pytest.approx(scores_of(problem, M))


@pytest.mark.parametrize("share", ON_WEIGHTS)
def test_no_gradient_exceeds_its_share_of_the_penalty_and_those_of_weights_reach_it(
    share, monkeypatch
):
    monkeypatch.setattr(sparse_logistic, "ENOUGH", 1e-11)
    M, y = random_data(80, 30, 3, 3)
    columns = random_scales(M)
    problem = Problem(columns, y, 3, np.ones(80), share)
    penalties = problem.largest_penalty() * np.array(SHARES)
    for penalty, found in zip(penalties, problem.path(penalties), strict=True):
        weights = of_solution(found, 30)[0] / columns.column_scale
        assert np.abs(problem.gradient[weights == 0]).max(initial=0) <= 1.03 * share * penalty
        slopes = problem.gradient + penalty * (share * np.sign(weights) + (1 - share) * weights)
        assert np.abs(slopes[weights != 0]).max() < 0.03 * penalty


@pytest.mark.parametrize("share", ON_WEIGHTS)
def test_the_largest_penalty_of_a_form_leaves_no_column_and_a_smaller_one_does(share):
    M, y = random_data(50, 8, 2, 2)
    problem = Problem(random_scales(M), y, 2, np.ones(50), share)
    none, some = problem.path(problem.largest_penalty() * np.array([1.0, 0.98]))
    assert (len(none.columns), len(some.columns)) == (0, 1)


def test_equal_columns_divide_a_weight_unless_the_penalty_is_on_weights_alone(monkeypatch):
    monkeypatch.setattr(sparse_logistic, "ENOUGH", 1e-11)
    M, y = random_data(60, 3, seed=1)
    for share in ON_WEIGHTS[1:]:
        problem = Problem(Columns.of(np.column_stack([M, M])), y, 2, np.ones(60), share)
        *_, found = problem.path(problem.largest_penalty() * np.array(SHARES))
        weights, _ = of_solution(found, 6)
        assert weights.any()
        assert weights[:, :3] == pytest.approx(weights[:, 3:], abs=1e-2)


# Columns and classes of which one might not think


@pytest.mark.parametrize("n_classes", [2, 3])
def test_empty_and_full_columns_change_nothing(n_classes):
    M, y = random_data(40, 6, n_classes, 1)
    more = np.column_stack([np.zeros(40), M, np.ones(40)])
    _, plain = solved(M, y, n_classes)
    _, wide = solved(more, y, n_classes)
    for a, b in zip(plain, wide, strict=True):
        weights, _ = of_solution(b, 8)
        assert weights[:, 1:-1] == pytest.approx(of_solution(a, 6)[0], abs=1e-2)
        assert not weights[:, 0].any()


def test_a_column_twice_has_no_larger_sum_of_weights():
    M, y = random_data(40, 5, seed=1)
    penalties, plain = solved(M, y, 2)
    _, twice = solved(np.column_stack([M, M]), y, 2)
    for penalty, a, b in zip(penalties, plain, twice, strict=True):
        mine = objective(M, y, 2, np.ones(40), penalty, *of_solution(a, 5))
        weights, intercept = of_solution(b, 10)
        joined = weights[:, :5] + weights[:, 5:]
        assert np.abs(weights).sum() == pytest.approx(np.abs(joined).sum())
        other = objective(M, y, 2, np.ones(40), penalty, joined, intercept)
        assert other == pytest.approx(mine, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_columns_separate_are_learnt_without_infinities(n_classes):
    y = np.arange(60) % n_classes
    M = (y[:, None] == np.arange(n_classes)).astype(float)
    found = fitted(M, y, n_classes)
    assert np.isfinite(found.solution.weights).all()
    assert probabilities(found, M, n_classes).argmax(axis=1).tolist() == y.tolist()
    assert probabilities(found, M, n_classes).max(axis=1).min() > 0.9


def test_a_column_that_says_the_class_is_taken_though_parts_have_larger_gradients():
    """With the penalty at which all rows give it no weight, those of each part give it one."""
    y = np.arange(60) % 3
    M = (y[:, None] == np.arange(3)).astype(float)
    found = fitted(M, y, 3)
    assert found.chosen[1] > 0
    assert found.losses[0, 0] == pytest.approx(np.log(3), abs=0.1)


def test_a_class_of_one_row_is_learnt():
    M, y = random_data(40, 6, seed=1)
    M, y = np.vstack([M, np.zeros(6)]), np.append(y, 2)
    M = np.column_stack([M, y == 2])
    found = fitted(M, y, 3)
    assert np.isfinite(probabilities(found, M, 3)).all()


def test_without_columns_the_classes_have_their_shares():
    found = fitted(np.zeros((10, 0)), np.repeat([0, 1], [7, 3]))
    assert len(found.solution.columns) == 0
    assert probabilities(found, np.zeros((2, 0)), 2)[0] == pytest.approx([0.7, 0.3])


def test_columns_that_tell_nothing_alone_get_no_weight():
    """The gradients of both are rounding errors: a share of these is no penalty."""
    M = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, float)
    found = fitted(M, np.array([0, 1, 1, 0] * 10))
    assert len(found.solution.columns) == 0
    assert np.isnan(found.losses).all()


def test_classes_of_one_row_each_are_learnt_without_validation():
    found = fitted(np.eye(3), np.arange(3), 3)
    assert probabilities(found, np.eye(3), 3).argmax(axis=1).tolist() == [0, 1, 2]
    assert np.isnan(found.losses).all()


def test_rows_without_weight_are_no_part_of_the_validation():
    """Both rows that count could be held out together."""
    M = np.array([[0, 1], [0, 0], [1, 1], [1, 0]], float)
    found = fitted(M, np.array([0, 0, 1, 1]), sample=[1, 0, 1, 0])
    assert np.isfinite(found.solution.weights).all()
    without = fitted(M[::2], np.array([0, 1]))
    assert found.solution.weights == pytest.approx(without.solution.weights)


# How the strength is chosen


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 99))
def test_each_row_is_held_out_once_a_repeat_unless_its_class_has_no_other(y, seed):
    y = np.array(y)
    parts = divisions(y, np.ones(len(y)), seed)
    counts = np.bincount(y)
    repeats = 3 if counts.max() > 1 else 0
    n_parts = min(5, counts.max())
    assert len(parts) == repeats * n_parts
    expected = np.where(counts[y] > 1, repeats, 0)
    assert np.sum(parts, axis=0, initial=0).tolist() == expected.tolist() or not parts
    for held in parts:
        assert (np.bincount(y[~held], minlength=len(counts))[counts > 0] > 0).all()


def test_parts_have_their_share_of_each_class():
    y = np.repeat([0, 1, 2], [50, 23, 7])
    for held in divisions(y, np.ones(80), 0):
        inside = np.bincount(y[held], minlength=3)
        assert inside[0] == 10
        assert inside[1] in (4, 5)
        assert inside[2] in (1, 2)
        assert held.sum() == 16


@pytest.mark.parametrize(("n", "repeats"), [(40, 3), (334, 2), (500, 2), (501, 1), (2000, 1)])
def test_small_data_are_divided_several_times(n, repeats):
    assert len(divisions(np.arange(n) % 2, np.ones(n), 0)) == 5 * repeats


def test_the_losses_at_a_scale_are_those_of_doubtful_classes():
    scores, y, held = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([1, 1]), np.ones(2, bool)
    scale, found = best_scale([(held, scores)], y, np.array([1.0, 2.0]))
    powers = np.exp(SCALES[:, None, None] * scores)
    shares = powers / powers.sum(axis=1, keepdims=True)
    losses = -(0.75 * np.log(shares[:, 1]) + 0.25 * np.log(shares[:, 0]))
    best = (losses @ [1.0, 2.0]).argmin()
    assert scale == SCALES[best]
    assert found == pytest.approx(losses[best])


def test_parts_depend_on_the_seed_alone():
    y = np.arange(30) % 3
    one, same, other = (np.array(divisions(y, np.ones(len(y)), seed)) for seed in (4, 4, 5))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1111", "0000", "0000"], 1),  # the first of the best
        (["0000", "0000"], 0),
        (["1000000000", "0000000000"], 1),  # 0.1 more, with a standard error of 0.095
        (["1110000000", "0001100000"], 0),  # 0.1 more, with one of 0.22
        (["1111100000", "1110000000", "0001100000"], 1),
    ],
)
def test_the_largest_penalty_within_a_standard_error_is_taken(rows, expected):
    errors = np.array([[float(one) for one in row] for row in rows])
    assert simplest(errors, np.full(errors.shape[1], 1 / errors.shape[1])) == expected


def test_an_error_in_a_row_of_little_weight_counts_little():
    errors = np.zeros((2, 20))
    errors[0, :10] = 1
    sample = np.repeat([1e-6, 1.0], 10)
    assert simplest(errors, np.full(20, 0.05)) == 1
    assert simplest(errors[::-1], sample / sample.sum()) == 0
    assert np.average(errors, axis=1, weights=sample)[0] < 1e-5


# The scale and threads


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_the_scale_multiplies_weights_and_intercepts(seed):
    M, y = random_data(90, 10, 3, seed)
    scale = scale_of(fitted(M, y, 3), M, y, 3)
    assert np.abs(sparse_logistic.SCALES - scale).min() < 1e-9


def test_the_scale_makes_new_rows_more_likely():
    M, y = random_data(800, 25, 2, 7)
    found = fitted(M[:200], y[:200])
    columns, weights = found.solution.columns, found.solution.weights
    scores = (weights @ M[200:, columns].T)[0] + found.solution.intercept[0]

    def loss(scores):
        return np.mean(np.logaddexp(0, np.where(y[200:] == 1, -scores, scores)))

    scale = scale_of(found, M[:200], y[:200])
    assert scale > 1
    assert loss(scores) < loss(scores / scale)


@pytest.mark.parametrize("with_sizes", [False, True])
def test_threads_change_nothing(with_sizes):
    M, y = random_data(60, 10, 3, 4)
    sizes = M.sum(axis=1) + np.arange(60) % 7 if with_sizes else None
    one, *others = [fitted(M, y, 3, n_threads=n, sizes=sizes) for n in (1, 2, 3)]
    for other in others:
        assert one.solution.weights.tolist() == other.solution.weights.tolist()
        assert one.losses.tolist() == other.losses.tolist()
        assert (one.chosen, one.growth) == (other.chosen, other.growth)


def test_the_losses_are_those_of_the_parts():
    M, y = random_data(60, 6, 2, 9)
    found = fitted(M, y)
    assert found.losses.shape == (len(FORMS), sparse_logistic.N_PENALTIES)
    shares = np.bincount(y) / 60
    assert found.losses[:, 0] == pytest.approx(-shares @ np.log(shares), abs=0.05)
    assert found.losses[found.chosen] <= found.losses[:, 0].min()


# How values fall with the size, and which form is taken


def rows_of(ones):
    """Columns of which each row has so many."""
    return Columns.of(np.arange(max(ones)) < np.array(ones)[:, None])


counts = st.lists(st.integers(1, 30), min_size=2, max_size=12)


@given(counts, st.floats(0.05, 0.5))
def test_the_exponent_of_a_power_law_is_recovered(ones, exponent):
    sizes = np.array(ones) ** (0.5 / exponent)
    growth = growth_of(rows_of(ones), sizes)
    if len(set(ones)) == 1:
        assert growth == STEADY
    else:
        assert growth.exponent == pytest.approx(exponent)
        lengths = np.sqrt(ones) * growth.values(sizes)  # of rows: as in the one of typical size
        assert lengths == pytest.approx(lengths[0])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 99)), min_size=1, max_size=12))
def test_the_exponent_is_from_0_to_1_and_a_value_of_the_typical_size_is_1(rows):
    ones, sizes = np.array(rows).T
    growth = growth_of(rows_of(ones), sizes.astype(float))
    assert 0 <= growth.exponent <= 1
    assert growth.values(np.array([growth.typical])).tolist() == [1.0]
    values = growth.values(np.arange(100.0))
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize(
    ("ones", "sizes", "exponent"),
    [
        ([1, 8, 27], [1, 2, 3], 0.5),  # as the third power: 1.5 would be more than a half
        ([9, 4, 1], [1, 2, 3], 0.0),
        ([5, 5, 5], [1, 2, 3], 0.0),
    ],
)
def test_an_exponent_is_cut_to_0_and_a_half(ones, sizes, exponent):
    assert growth_of(rows_of(ones), np.array(sizes, float)).exponent == pytest.approx(exponent)


def test_values_do_not_fall_where_sizes_say_nothing():
    columns = rows_of([3, 1, 2])
    assert growth_of(columns, None) == STEADY
    assert growth_of(columns, np.full(3, 7.0)) == STEADY
    assert growth_of(columns, np.array([0.0, 1.0, 1.0])) == STEADY
    assert growth_of(Columns.of(np.zeros((3, 2))), np.arange(3.0)) == STEADY
    assert STEADY.values(np.array([0.0, 1.0, 50.0])).tolist() == [1, 1, 1]


def test_rows_without_a_one_do_not_count():
    sizes = np.array([0.0, 10.0, 20.0, 500.0])
    some = np.array([False, True, True, False])
    M = np.arange(9) < np.array([0, 4, 8, 0])[:, None]
    assert growth_of(Columns.of(M), sizes) == growth_of(Columns.of(M[some]), sizes[some])


def test_a_value_falls_as_the_power_of_the_size():
    growth = Growth(10.0, 0.5)
    assert growth.values(np.array([2.5, 10.0, 40.0])).tolist() == [2.0, 1.0, 0.5]
    assert growth.values(np.array([0.0, 1.0])) == pytest.approx([10**0.5] * 2)  # as if it had one


def weak_evidence(n=300, n_columns=200, seed=0):
    """Many columns, each of which says a little, and sizes with which they grow."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    sizes = np.exp(rng.uniform(np.log(5), np.log(80), n)).round()
    odds = rng.uniform(-2.5, -0.5, n_columns) + (2 * y[:, None] - 1) * rng.normal(
        0, 0.25, n_columns
    )
    share = 1 - (1 + np.exp(odds)) ** (-sizes[:, None] / 20)
    return (rng.random(share.shape) < share).astype(float), y, sizes


def test_many_weak_columns_make_a_form_of_many_columns_and_values_that_fall():
    M, y, sizes = weak_evidence()
    found = fitted(M, y, sizes=sizes)
    assert found.chosen[0] == 2
    assert found.losses[2].min() < 0.9 * found.losses[0].min()
    assert len(found.solution.columns) > 100
    assert found.growth == growth_of(Columns.of(M), sizes)
    assert 0.3 < found.growth.exponent < 0.6


def test_one_column_that_tells_makes_the_form_of_few():
    M, _, sizes = weak_evidence()
    rng = np.random.default_rng(2)
    M[:, 7] = rng.random(300) < 0.5
    y = np.where(rng.random(300) < 0.05, 1 - M[:, 7], M[:, 7]).astype(int)
    found = fitted(M, y, sizes=sizes)
    assert found.chosen[0] == 0
    assert found.solution.columns.tolist() == [7]
    assert found.growth == STEADY


def test_without_sizes_no_form_scales_rows():
    M, y, _ = weak_evidence(100, 40)
    assert fitted(M, y).growth == STEADY


@pytest.mark.parametrize("which", range(len(FORMS)))
def test_each_form_is_learnt_alone(which, monkeypatch):
    monkeypatch.setattr(sparse_logistic, "FORMS", FORMS[which : which + 1])
    M, y, sizes = weak_evidence(100, 40)
    found = fitted(M, y, sizes=sizes)
    growth = growth_of(Columns.of(M), sizes) if FORMS[which].by_size else STEADY
    assert (found.chosen[0], found.growth) == (0, growth)
    values = growth.values(sizes)[:, None] * M
    assert (probabilities(found, values, 2).argmax(axis=1) == y).mean() > 0.8


def test_columns_of_long_links_are_penalised_more_in_the_forms_that_ask_for_it(monkeypatch):
    M, y, _ = weak_evidence(100, 40)
    spans = np.repeat([0, 8], 20)
    for form in FORMS:
        monkeypatch.setattr(sparse_logistic, "FORMS", (form,))
        plain, other = (fitted(M, y, spans=one) for one in (None, spans))
        same = plain.solution.columns.tolist() == other.solution.columns.tolist()
        same = same and np.array_equal(plain.solution.weights, other.solution.weights)
        assert same == (not form.by_span)
    # A column of span 8 is one of a third of the scale.
    how = FORMS[1], STEADY, None, spans, np.zeros(40, int)
    columns = sparse_logistic._scaled(Columns.of(M), *how)
    assert columns.column_scale == pytest.approx(np.repeat([1, 1 / 3], 20))


@given(st.data())
def test_lengths_with_many_patterns_outweigh_the_shortest_by_half_as_much(data):
    n = data.draw(st.integers(1, 12))
    lengths = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    squares = np.array(data.draw(st.lists(st.floats(0.1, 50), min_size=n, max_size=n)))
    sums = {length: sum(squares[lengths == length]) for length in sorted(set(lengths.tolist()))}
    first, *_ = sums.values()
    factors = sparse_logistic._evened(squares, lengths)
    after = {length: sum((factors**2 * squares)[lengths == length]) for length in sums}
    for length, before in sums.items():
        assert after[length] == pytest.approx(min(before, np.sqrt(before * first)))


def test_lengths_matter_in_the_forms_that_ask_for_it(monkeypatch):
    M, y, _ = weak_evidence(100, 40)
    lengths = np.repeat([1, 2], [4, 36])
    for form in FORMS:
        monkeypatch.setattr(sparse_logistic, "FORMS", (form,))
        plain, other = (fitted(M, y, lengths=one) for one in (None, lengths))
        same = np.array_equal(plain.losses, other.losses, equal_nan=True)
        assert same == (not form.by_length)


# The learner


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_learner_computes_the_scores_of_the_solution(n_classes):
    M, y = random_data(80, 10, n_classes, 6)
    found = fitted(M, y, n_classes).solution
    some = M[:, found.columns]
    scores = some @ found.weights.T + found.intercept
    decided = as_learner(found, n_classes).decision_function(some)
    assert decided == pytest.approx(scores[:, 0] if n_classes == 2 else scores)
