"""`GraspSelector` against plain twins: every cost by fitting and predicting anew."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from relynx import GraspSelector, PatternNB
from relynx.errors import InputError
from relynx.features import _grasp_kernels as kernels
from relynx.features import grasp, grasp_tables
from relynx.features.grasp import MOVES, TIE_DRAWS, play_round
from relynx.features.grasp_tables import cost_of, count_errors, log_likelihood, task_of
from relynx.features.naive_bayes import TIE, class_prior, score_terms

ALL = np.array([True, True, True])
NONE = np.array([False, False, False])


def random_data(n=60, n_features=12, n_classes=3, seed=0):
    """Features of which some depend on the class a little."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    share = np.clip(rng.beta(1, 2, n_features) + rng.normal(0, 0.15, (n_classes, n_features)), 0, 1)
    return (rng.random((n, n_features)) < share[y]).astype(np.uint8), y


@st.composite
def problems(draw, most_classes=4, most_rows=24, most_features=7):
    """A matrix and labels, and the settings of an objective."""
    n_classes = draw(st.integers(1, most_classes))
    n = draw(st.integers(max(n_classes, 2), most_rows))
    X, y = random_data(n, draw(st.integers(1, most_features)), n_classes, draw(st.integers(0, 999)))
    return X, y, draw(settings_of_an_objective())


@st.composite
def settings_of_an_objective(draw):
    return {
        "smoothing": draw(st.sampled_from([0.1, 0.0, 1.0, 5e-324, 1e308])),
        "prior": draw(st.sampled_from(["empirical", "uniform"])),
        "balanced": draw(st.booleans()),
    }


def predicted(X, y, chosen, smoothing, prior):
    """The classes that naive Bayes gives; without features those of the prior."""
    chosen = list(chosen)
    if chosen:
        return PatternNB(smoothing, prior=prior).fit(X[:, chosen], y).predict(X[:, chosen])
    priors = class_prior(prior, np.bincount(y).astype(float))
    return np.full(len(y), np.argmax(priors))


def value(X, y, chosen, smoothing, prior, balanced):
    """The objective of a set of features, exactly."""
    wrong = predicted(X, y, chosen, smoothing, prior) != y
    if not balanced:
        return Fraction(int(wrong.sum()))
    sizes = np.bincount(y).tolist()
    errors = np.bincount(y, wrong, len(sizes)).astype(int).tolist()
    shares = [Fraction(k, n) for k, n in zip(errors, sizes, strict=True)]
    return sum(shares, Fraction(0)) / len(sizes)


def margins_of(task, chosen):
    margins = task.prior_margins.copy()
    for j in chosen:
        kernels.add_feature(task.tables, j, 1, margins)
    return margins


def neighbours(chosen, n_features, moves):
    chosen = set(chosen)
    others = set(range(n_features)) - chosen
    if "add" in moves:
        yield from (chosen | {j} for j in others)
    if "drop" in moves:
        yield from (chosen - {i} for i in chosen)
    if "swap" in moves:
        yield from (chosen - {i} | {j} for i in chosen for j in others)


@pytest.mark.kernels
@given(problems(), st.data())
def test_a_sweep_gives_the_cost_of_every_added_feature(problem, data):
    X, y, how = problem
    n = X.shape[1]
    task = task_of(X, y, **how)
    chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    used = np.isin(np.arange(n), chosen)
    out = np.empty(n, np.int64)
    margins = margins_of(task, chosen)
    kernels.sweep(task.tables, margins, used, kernels.NEVER, out)
    expected = [value(X, y, [*chosen, j], **how) for j in range(n) if not used[j]]
    assert (out[~used] * task.unit) == pytest.approx([float(one) for one in expected])
    assert (out[used] == kernels.NEVER).all()
    assert margins.tolist() == margins_of(task, chosen).tolist()

    limit = data.draw(st.sampled_from([0, *out.tolist()]))
    cut = np.empty(n, np.int64)
    kernels.sweep(task.tables, margins, used, limit, cut)
    assert cut[out < limit].tolist() == out[out < limit].tolist()
    assert (cut[out >= limit] >= limit).all()


@pytest.mark.kernels
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_sweep_with_a_limit_finds_the_few_below_it(n_classes, smoothing):
    """So few that each is counted by itself."""
    X, y = random_data(300, 90, n_classes, seed=3)
    task = task_of(X, y, smoothing=smoothing, prior="empirical", balanced=False)
    chosen = [1, 40, 80]
    used = np.isin(np.arange(90), chosen)
    margins = margins_of(task, chosen)
    exact, cut = np.empty(90, np.int64), np.empty(90, np.int64)
    kernels.sweep(task.tables, margins, used, kernels.NEVER, exact)
    for limit in np.unique(exact)[:4]:
        kernels.sweep(task.tables, margins, used, limit, cut)
        assert cut[exact < limit].tolist() == exact[exact < limit].tolist()
        assert (cut[exact >= limit] >= limit).all()


@pytest.mark.kernels
@given(problems(), st.data())
def test_costs_of_a_set_and_of_dropping_are_those_computed_anew(problem, data):
    X, y, how = problem
    task = task_of(X, y, **how)
    chosen = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True, min_size=1))
    margins = margins_of(task, chosen)
    cost = cost_of(task, margins)
    assert cost * task.unit == pytest.approx(float(value(X, y, chosen, **how)))
    without = kernels.cost_with(task.tables, margins, chosen[0], -1, kernels.NEVER)
    assert without * task.unit == pytest.approx(float(value(X, y, chosen[1:], **how)))
    assert (
        count_errors(task, np.array(chosen))
        == (predicted(X, y, chosen, how["smoothing"], how["prior"]) != y).sum()
    )


@given(problems(), st.data())
def test_scores_kept_step_by_step_are_those_computed_anew(problem, data):
    X, y, how = problem
    task = task_of(X, y, **how)
    steps = data.draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=30))
    margins, chosen = task.prior_margins.copy(), set()
    for j in steps:
        kernels.add_feature(task.tables, j, -1 if j in chosen else 1, margins)
        chosen ^= {j}
    assert margins.tolist() == margins_of(task, sorted(chosen)).tolist()


@given(problems(), st.data())
def test_the_log_likelihood_is_that_of_naive_bayes(problem, data):
    X, y, how = problem
    task = task_of(X, y, **how)
    chosen = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True, min_size=1))
    model = PatternNB(how["smoothing"], prior=how["prior"]).fit(X[:, chosen], y)
    with np.errstate(divide="ignore"):
        expected = model.predict_log_proba(X[:, chosen])[np.arange(len(y)), y].sum()
    assert log_likelihood(task, margins_of(task, chosen)) == pytest.approx(expected, abs=1e-6)


def plain_round(X, y, how, draws, most, moves):
    """A round as one would write it down, every cost computed anew."""
    n = X.shape[1]
    alpha, steps, luck = Fraction(draws[0]), draws[1 : n + 1], draws[n + 1 :]

    def cost_of(chosen):
        return value(X, y, chosen, **how)

    def best_of(sets, draw):
        costs = [cost_of(one) for one in sets]
        equal = [one for one, c in zip(sets, costs, strict=True) if c == min(costs)]
        return (min(costs), equal[int(draw * len(equal))]) if sets else (math.inf, [])

    chosen, cost = [], math.inf
    while len(chosen) < min(most, n):
        costs = {j: cost_of([*chosen, j]) for j in range(n) if j not in chosen}
        low, high = min(costs.values()), max(costs.values())
        good = [j for j, one in costs.items() if one <= low + alpha * (high - low)]
        j = good[int(steps[len(chosen)] * len(good))]
        if costs[j] > cost:
            break
        chosen, cost = [*chosen, j], costs[j]
    built = len(chosen), cost
    turn = int(luck[0] * len(chosen))
    step = 0
    while True:
        step += 1
        draw = luck[step % len(luck)]
        others = [j for j in range(n) if j not in chosen]
        drops = [chosen[:i] + chosen[i + 1 :] for i in range(len(chosen))] if moves[1] else []
        adds = [[*chosen, j] for j in others] if moves[0] and len(chosen) < most else []
        best = min(best_of(drops, draw), best_of(adds, draw), key=lambda one: one[0])
        for i in range(len(chosen)) if moves[2] else ():
            if best[0] < cost:
                break
            i = (turn + i) % len(chosen)
            swaps = [[*chosen[:i], j, *chosen[i + 1 :]] for j in others]
            best = best_of(swaps, draw)
            if best[0] < cost:
                turn = i + 1
        if best[0] >= cost:
            return built, cost, sorted(chosen)
        cost, chosen = best


@given(problems(most_rows=20, most_features=6), st.integers(0, 99), st.data())
def test_a_round_does_what_the_plain_algorithm_does(problem, seed, data):
    X, y, how = problem
    task = task_of(X, y, **how)
    alpha = data.draw(st.sampled_from([None, 0.0, 0.5, 1.0]))
    moves = np.array(data.draw(st.tuples(*[st.booleans()] * 3)))
    most = data.draw(st.integers(1, 8))
    draws = np.random.default_rng(SeedSequence(seed)).random(1 + X.shape[1] + TIE_DRAWS)
    found = play_round(task, 0, SeedSequence(seed), alpha=alpha, most=most, moves=moves)
    draws[0] = found.alpha
    built, cost, chosen = plain_round(X, y, how, draws, most, moves)
    assert found.chosen.tolist() == chosen
    assert (found.size_built, found.cost_built * task.unit) == (
        built[0],
        pytest.approx(float(built[1])),
    )
    assert found.cost * task.unit == pytest.approx(float(cost))


def forward_selections(X, y, how, chosen=(), errors=None):
    """The sets at which forward selection may end: where candidates tie, all are followed."""
    errors = math.inf if errors is None else errors
    costs = {j: value(X, y, [*chosen, j], **how) for j in range(X.shape[1]) if j not in chosen}
    low = min(costs.values(), default=math.inf)
    if low > errors:
        return {tuple(sorted(chosen))}
    ends = (forward_selections(X, y, how, (*chosen, j), low) for j in costs if costs[j] == low)
    return set().union(*ends)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_0_without_local_search_is_forward_selection(seed):
    X, y = random_data(90, 7, 3, seed=seed)
    ends = forward_selections(X, y, {"smoothing": 0.1, "prior": "empirical", "balanced": False})
    for state in range(5):
        selector = GraspSelector(1, alpha=0.0, moves=(), random_state=state).fit(X, y)
        assert tuple(np.flatnonzero(selector.support_).tolist()) in ends


def exhaustive_optimum(X, y, prior="empirical"):
    """The fewest errors of all sets of features, all at once."""
    n = X.shape[1]
    sizes = np.bincount(y)
    supports = np.array([X[y == c].sum(axis=0) for c in range(len(sizes))], float)
    terms = score_terms(supports, sizes.astype(float), 0.1)
    each = np.where(X[:, None, :], terms.present, terms.absent)  # sequence, class, feature
    sets = np.array(list(itertools.product([0, 1], repeat=n)))
    priors = class_prior(prior, sizes.astype(float))
    scores = np.einsum("scf,tf->tsc", each, sets) + np.log(priors)
    order = np.argsort(-priors, kind="stable")
    near = scores[..., order] >= scores.max(axis=2, keepdims=True) - TIE
    return (order[near.argmax(axis=2)] != y).sum(axis=1).min()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_features", "n_classes"), [(8, 2), (10, 3), (12, 4)])
def test_the_optimum_of_few_features_is_found(n_features, n_classes, seed):
    X, y = random_data(50, n_features, n_classes, seed=100 + seed)
    # An optimum that no other set leads to is met by about one round in a hundred.
    found = GraspSelector(1_000, random_state=seed).fit(X, y)
    assert found.errors_ == exhaustive_optimum(X, y)


@pytest.mark.parametrize("prior", ["empirical", "uniform"])
@pytest.mark.parametrize("shares", [(0.7, 0.3), (0.6, 0.25, 0.15), (0.5, 0.5)])
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_found_among_features_that_say_nothing_of_uneven_classes(
    shares, prior, seed
):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(5, 11))
    y = np.concatenate([np.arange(len(shares)), rng.choice(len(shares), 37, p=shares)])
    X = (rng.random((len(y), n_features)) < rng.random(n_features)).astype(np.uint8)
    found = GraspSelector(1_000, prior=prior, random_state=seed).fit(X, y)
    assert found.errors_ == exhaustive_optimum(X, y, prior)


def columns(*texts):
    return np.array([[int(one) for one in text] for text in texts], np.uint8).T


def test_two_features_are_found_that_are_better_than_none_where_each_is_worse():
    X, y = columns("01110110", "00010101"), np.repeat([0, 1], [7, 1])
    how = {"smoothing": 0.1, "prior": "uniform", "balanced": False}
    assert [value(X, y, chosen, **how) for chosen in ([], [0], [1], [0, 1])] == [1, 2, 2, 0]
    assert GraspSelector(3, prior="uniform", random_state=0).fit(X, y).errors_ == 0


def test_where_all_rounds_are_worse_than_no_feature_the_search_begins_there():
    X, y = columns("110100011", "111111101"), np.repeat([0, 1], [7, 2])
    how = {"smoothing": 0.1, "prior": "uniform", "balanced": False}
    assert [value(X, y, chosen, **how) for chosen in ([], [0], [1])] == [2, 3, 1]
    found = GraspSelector(1, alpha=1.0, moves=("add",), prior="uniform", random_state=0).fit(X, y)
    assert found.history_[0].error == 3
    assert found.errors_ == 1
    assert found.support_.tolist() == [False, True]


def test_an_optimum_is_found_that_needs_the_worst_candidate_first():
    X = columns("100101110", "000000011", "011101110", "000000010")
    y = np.repeat([0, 1], [4, 5])
    assert exhaustive_optimum(X, y) == 2
    assert GraspSelector(300, alpha=0.999, random_state=0).fit(X, y).errors_ > 2
    assert GraspSelector(300, random_state=0).fit(X, y).errors_ == 2


@given(
    problems(most_features=5),
    st.integers(0, 9),
    st.sets(st.sampled_from(MOVES)),
    st.sampled_from([None, 1]),
)
def test_the_answer_is_a_local_optimum_and_no_worse_than_no_feature(problem, seed, moves, most):
    X, y, how = problem
    found = GraspSelector(
        1,
        moves=tuple(moves),
        n_features=most,
        objective="balanced" if how["balanced"] else "errors",
        smoothing=how["smoothing"],
        prior=how["prior"],
        random_state=seed,
    ).fit(X, y)
    chosen = np.flatnonzero(found.support_).tolist()
    best = value(X, y, chosen, **how)
    assert best <= value(X, y, [], **how)
    for near in neighbours(chosen, X.shape[1], moves):
        assert len(near) > (most or len(near)) or value(X, y, sorted(near), **how) >= best


@pytest.mark.parametrize("moves", [MOVES, ("add", "swap"), ("add", "drop"), ("swap",), ("drop",)])
@pytest.mark.parametrize("objective", ["errors", "balanced"])
def test_the_answer_is_a_local_optimum_under_its_moves(moves, objective):
    X, y = random_data(80, 15, 3, seed=7)
    how = {"smoothing": 0.1, "prior": "empirical", "balanced": objective == "balanced"}
    found = GraspSelector(2, moves=moves, objective=objective, random_state=1).fit(X, y)
    chosen = np.flatnonzero(found.support_).tolist()
    best = value(X, y, chosen, **how)
    assert found.objective_ == pytest.approx(float(best))
    assert all(value(X, y, sorted(s), **how) >= best for s in neighbours(chosen, 15, moves))


@given(problems(most_features=10), st.integers(0, 9))
def test_errors_are_those_of_the_classifier_on_the_chosen_columns(problem, seed):
    X, y, how = problem
    objective = "balanced" if how["balanced"] else "errors"
    found = GraspSelector(
        4, objective=objective, smoothing=how["smoothing"], prior=how["prior"], random_state=seed
    ).fit(X, y)
    chosen = np.flatnonzero(found.support_)
    assert found.errors_ == (predicted(X, y, chosen, how["smoothing"], how["prior"]) != y).sum()
    assert found.objective_ == pytest.approx(float(value(X, y, chosen, **how)))


def test_no_local_search_makes_a_round_worse_and_the_best_is_kept():
    X, y = random_data(150, 30, 3, seed=2)
    found = GraspSelector(25, random_state=0).fit(X, y)
    assert [one.round for one in found.history_] == list(range(25))
    assert found.n_iter_ == 25
    assert found.partial_ is None
    assert all(one.error <= one.error_built for one in found.history_)
    keys = [(one.error, -one.log_likelihood, one.size) for one in found.history_]
    assert (found.errors_, -found.log_likelihood_, found.support_.sum()) == min(keys)
    firsts = [i for i, key in enumerate(keys) if key < min(keys[:i], default=(math.inf,))]
    assert [one.round for one in found.history_ if one.best] == firsts


def test_alpha_is_drawn_anew_for_each_round_or_given():
    X, y = random_data()
    drawn = [one.alpha for one in GraspSelector(400, random_state=0).fit(X, y).history_]
    below = [alpha for alpha in drawn if alpha < 1]
    assert 400 - 50 < len(below) < 400 - 10
    assert len(set(below)) == len(below)
    assert 0 <= min(drawn) < 0.02
    assert 0.98 < max(below) < max(drawn) == 1
    assert np.mean(below) == pytest.approx(0.5, abs=0.05)
    fixed = GraspSelector(3, alpha=0.25, random_state=0).fit(X, y)
    assert [one.alpha for one in fixed.history_] == [0.25] * 3


def test_the_answer_does_not_depend_on_the_number_of_workers():
    X, y = random_data(150, 40, 4, seed=3)
    one, two = (GraspSelector(16, n_jobs=n, random_state=5).fit(X, y) for n in (1, 2))
    assert one.history_ == two.history_
    assert one.support_.tolist() == two.support_.tolist()


def test_the_first_rounds_do_not_depend_on_how_many_follow():
    X, y = random_data(100, 20, 3, seed=4)
    few, many = (GraspSelector(n, random_state=5).fit(X, y).history_ for n in (4, 9))
    assert few == many[:4]


def test_each_round_has_the_seed_that_one_spawns_for_it():
    X, y = random_data(100, 20, 3, seed=4)
    history = GraspSelector(4, random_state=5).fit(X, y).history_
    entropy = np.random.RandomState(5).randint(2**31 - 1, size=4).tolist()
    task = task_of(X, y, smoothing=0.1, prior="empirical", balanced=False)
    found = [
        play_round(task, i, seed, alpha=None, most=20, moves=ALL)
        for i, seed in enumerate(SeedSequence(entropy).spawn(4))
    ]
    assert [(one.alpha, one.cost) for one in found] == [(one.alpha, one.error) for one in history]


def test_seeds_differ():
    X, y = random_data(100, 20, 3, seed=4)
    histories = [GraspSelector(4, random_state=seed).fit(X, y).history_ for seed in (0, 1)]
    assert histories[0] != histories[1]


@pytest.mark.parametrize("n_features", [1, 3])
def test_n_features_is_the_most_that_is_chosen(n_features):
    X, y = random_data(200, 30, 4, seed=6)
    free = GraspSelector(5, random_state=0).fit(X, y)
    bound = GraspSelector(5, n_features=n_features, random_state=0).fit(X, y)
    assert free.support_.sum() > 3
    assert bound.support_.sum() == n_features
    assert all(one.size_built <= n_features for one in bound.history_)


def test_the_objectives_differ_where_classes_are_of_unlike_size():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [190, 10])
    X = (rng.random((200, 20)) < 0.3 + 0.25 * y[:, None]).astype(int)
    errors, balanced = (
        GraspSelector(20, objective=name, prior="uniform", random_state=0).fit(X, y)
        for name in ("errors", "balanced")
    )
    assert errors.errors_ < balanced.errors_
    assert balanced.objective_ < 0.5
    assert errors.objective_ == errors.errors_


def test_a_time_limit_ends_the_search_between_rounds_and_says_so():
    X, y = random_data()
    found = GraspSelector(50, time_limit=0, random_state=0).fit(X, y)
    assert found.n_iter_ == len(found.history_) == 1
    assert found.partial_ == "time_limit=0 ended the search after 1 of 50 rounds"
    assert found.history_ == GraspSelector(1, random_state=0).fit(X, y).history_


def test_a_time_limit_counts_rounds_and_not_their_preparation():
    X, y = random_data(20, 4, 2)
    GraspSelector(1, random_state=0).fit(X, y)
    found = GraspSelector(10**9, time_limit=0.2, random_state=0).fit(X, y)
    assert 1 < found.n_iter_ < 10**9
    assert [one.round for one in found.history_] == list(range(found.n_iter_))


@pytest.mark.parametrize("moves", [(), ("add",), ("swap",), MOVES])
def test_a_feature_that_is_worse_than_the_prior_alone_is_not_chosen(moves):
    X = np.array([[1], [1], [1], [0], [0], [0], [1], [1]])
    y = np.repeat([0, 1], [6, 2])
    assert (PatternNB(prior="uniform").fit(X, y).predict(X) != y).sum() == 3
    found = GraspSelector(3, prior="uniform", moves=moves, random_state=0).fit(X, y)
    assert found.errors_ == 2
    assert not found.support_.any()
    assert found.log_likelihood_ == pytest.approx(8 * math.log(0.5))


def test_more_sequences_of_a_class_than_16_bits_count():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [70_000, 40_000])
    X = (rng.random((110_000, 3)) < np.array([0.5, 0.4, 0.1])).astype(np.uint8)
    X[:, 2] |= (y == 1) & (rng.random(110_000) < 0.4)
    how = {"smoothing": 0.1, "prior": "uniform", "balanced": False}
    task = task_of(X, y, **how)
    assert task.first.tolist() == [value(X, y, [j], **how) for j in range(3)]


def test_more_features_than_16_bits_rank():
    X, y = random_data(8, 17_000, 2, seed=1)
    how = {"smoothing": 0.1, "prior": "empirical", "balanced": False}
    task = task_of(X, y, **how)
    assert task.tables.rank.size == 0
    assert task.first[::500].tolist() == [value(X, y, [j], **how) for j in range(0, 17_000, 500)]


def test_the_kernels_of_few_features_serve_many():
    kinds = []
    for n_features in (3, 17_000):
        X, y = random_data(8, n_features, 2, seed=1)
        tables = task_of(X, y, smoothing=0.1, prior="empirical", balanced=False).tables
        kinds.append([(one.dtype, one.ndim, one.flags.c_contiguous) for one in tables])
    assert kinds[0] == kinds[1]


def test_ties_of_smoothing_0_are_ties_among_20_000_columns():
    """a/50 * b/50 and c/50 * d/50 are equal, and the sums of their logarithms all but equal."""
    here, y = np.arange(50), np.repeat([0, 1], 50)
    equal = [
        (a, b, c, d)
        for a, b, c, d in itertools.product(range(1, 25), repeat=4)
        if a * b == c * d and a < c <= d < b
    ]
    X = np.zeros((100, 20_000), np.uint8)
    X[0] = 1
    for j, (a, b, c, d) in enumerate(equal):
        X[:, 2 * j] = np.concatenate([here < a, here < c])
        X[:, 2 * j + 1] = np.concatenate([here < b, here < d])
    how = {"smoothing": 0.0, "prior": "uniform"}
    task = task_of(X, y, balanced=False, **how)
    pairs = [[2 * j, 2 * j + 1] for j in range(len(equal))]
    assert [count_errors(task, np.array(pair)) for pair in pairs] == [
        (predicted(X, y, pair, **how) != y).sum() for pair in pairs
    ]


def test_the_tables_of_many_classes_follow_the_number_of_features():
    X, y = random_data(240, 5, 120)
    slots = task_of(X, y, smoothing=0.1, prior="empirical", balanced=False).tables.slots
    assert slots.shape[:2] == (120, 119)
    assert slots.shape[2] <= 8 * 5 + 1


def test_a_sparse_matrix_gives_what_a_dense_one_gives():
    X, y = random_data()
    dense = GraspSelector(5, random_state=0).fit(X, y)
    sparse = GraspSelector(5, random_state=0).fit(sp.csr_matrix(X), y)
    assert sparse.history_ == dense.history_
    assert sparse.transform(sp.csr_matrix(X)).toarray().tolist() == dense.transform(X).tolist()


def test_it_selects_in_a_pipeline_and_keeps_names():
    X, y = random_data(200, 15, 3)
    model = make_pipeline(GraspSelector(10, random_state=0), PatternNB()).fit(X, y)
    assert (model.predict(X) != y).sum() == model[0].errors_
    names = np.array([f"p{i}" for i in range(15)])
    assert model[0].get_feature_names_out(names).tolist() == names[model[0].support_].tolist()
    frame = model[0].set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == [f"x{i}" for i in np.flatnonzero(model[0].support_)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_the_checks_of_scikit_learn():
    check_estimator(GraspSelector(max_iter=3))


def message_of(X=((0, 1), (1, 0)), y=("a", "b"), **parameters):
    with pytest.raises(InputError) as caught:
        GraspSelector(**parameters).fit(X, y)
    return str(caught.value)


def test_all_wrong_parameters_are_named_at_once():
    found = message_of(
        max_iter=0, n_features=1.5, moves=("ad", 3), objective="error", alpha=2, time_limit=-1
    )
    assert found == (
        "max_iter is 0\n"
        "hint: a whole number from 1 on\n"
        "n_features is 1.5\n"
        "hint: a whole number from 1 on, or None for no limit\n"
        "unknown move 'ad'\n"
        "hint: did you mean 'add'?\n"
        "unknown move 3\n"
        "hint: one of add, drop, swap\n"
        "unknown objective 'error'\n"
        "hint: did you mean 'errors'?\n"
        "alpha is 2\n"
        "hint: from 0 (greedy) to 1 (random), or None to draw it\n"
        "time_limit is -1\n"
        "hint: seconds, or None for no limit"
    )


def test_moves_that_are_no_tuple_are_refused():
    assert message_of(moves="add") == "moves is 'add'\nhint: a tuple of add, drop, swap"
    assert message_of(moves=None) == "moves is None\nhint: a tuple of add, drop, swap"


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(grasp_tables, "LARGEST", 1 << 20)
    X, y = random_data(40, 50, 20)
    assert message_of(X, y) == (
        "the search among 50 columns with 20 classes needs 2 MiB\n"
        "hint: it may have 1: give fewer columns, or two classes at a time"
    )


def test_smoothing_prior_and_threshold_are_checked_as_by_naive_bayes():
    assert message_of(smoothing=-1) == (
        "smoothing is -1\nhint: a number not below 0; 0 leaves the raw frequencies of the paper"
    )
    assert message_of(prior="flat") == (
        "unknown prior 'flat'\nhint: one of empirical, uniform, or an array"
    )
    assert message_of(X=[[0, 2], [1, 0]], threshold=None) == (
        "row 0, column 1 is 2, neither 0 nor 1\n"
        "hint: give 0/1 columns, or a threshold above which a value counts as present"
    )


def test_a_number_of_jobs_that_has_no_meaning_is_refused():
    with pytest.raises(InputError) as caught:
        GraspSelector(4, n_jobs=0).fit(np.eye(4), [0, 0, 1, 1])
    assert str(caught.value) == (
        "n_jobs is 0: give a number of threads, -1 for all cores, or None for one"
    )


def test_inside_a_worker_of_joblib_rounds_run_one_after_another(monkeypatch):
    asked = []
    real = grasp.Parallel
    monkeypatch.setattr(grasp, "Parallel", lambda n, **more: asked.append(n) or real(n, **more))
    X, y = np.eye(4), [0, 0, 1, 1]
    fit = delayed(GraspSelector(4, n_jobs=3, random_state=0).fit)
    Parallel(n_jobs=2, prefer="threads")(fit(X, y) for _ in range(2))
    assert asked == [1, 1]
    GraspSelector(4, n_jobs=3, random_state=0).fit(X, y)
    assert asked == [1, 1, 3]
