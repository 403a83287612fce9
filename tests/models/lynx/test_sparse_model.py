"""The sparse model of the Lynx classifier: what it takes, learns, stores and says."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.utils.class_weight import compute_sample_weight

import relynx as rx
from relynx import InputError, LynxClassifier, cli, from_lists, parse_bias, planted_rule
from relynx.features.sparse_logistic import Columns, Solution
from relynx.mining.levels import mine_levels
from relynx.models.lynx import sparse_model
from relynx.models.lynx.sparse_model import spans_of
from relynx.search_settings import SearchSettings

HINT = "leave out {0}, or give method='grasp'"


def letters(n=90, seed=0):
    """Three classes: `ab` in a row, else `c` somewhere, else neither."""
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abcd"), size=5, p=[0.35, 0.3, 0.1, 0.25]).tolist() for _ in range(n)]
    kinds = ["x" if "ab" in "".join(s) else "y" if "c" in s else "z" for s in lists]
    return from_lists(lists, kinds)


def only(X, y, *kinds):
    some = np.isin(y, kinds)
    return X[some], y[some]


def small(**settings):
    return LynxClassifier(**{"max_length": 2, "random_state": 0} | settings)


@pytest.fixture(scope="module")
def data():
    return letters()


@pytest.fixture(scope="module")
def three(data):
    return small().fit(*data)


@pytest.fixture(scope="module")
def two(data):
    return small().fit(*only(*data, "x", "z"))


@pytest.fixture(scope="module", params=["two", "three"])
def model(request):
    return request.getfixturevalue(request.param)


def same(one, other):
    """Whether two models have the same patterns and weights."""
    if [*one.selected_.texts()] != [*other.selected_.texts()]:
        return False
    left, right = one.estimators_[0].estimator, other.estimators_[0].estimator
    if left is None or right is None:
        return left is right
    return left.coef_.tolist() == right.coef_.tolist()


# Which method


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "sparse"),
        ({"budget": 2.0, "max_length": 2, "min_support": 0.2}, "sparse"),
        ({"max_features": 1000, "moves": ("add", "drop", "swap")}, "sparse"),  # the defaults
        ({"max_iter": 5}, "grasp"),
        ({"min_confidence": 1.0}, "grasp"),
        ({"prior": "empirical"}, "grasp"),
        ({"method": "sparse"}, "sparse"),
        ({"method": "grasp"}, "grasp"),
        ({"method": "paper"}, "paper"),
        ({"method": "paper", "max_iter": 5}, "paper"),
    ],
)
def test_auto_is_sparse_unless_a_parameter_is_of_another_method(settings, expected):
    assert LynxClassifier(**settings).chosen_method() == expected


def test_auto_is_grasp_where_the_bias_has_a_prior():
    bias = parse_bias("type(a(event)). mode(a(+)). prior(uniform).")
    assert LynxClassifier(bias).chosen_method() == "grasp"


def test_a_bias_with_a_prior_is_refused_by_the_sparse_method(data):
    bias = parse_bias("type(a(event)). mode(a(+)). prior(uniform).")
    with pytest.raises(InputError) as caught:
        LynxClassifier(bias, method="sparse").fit(*data)
    assert str(caught.value) == (
        "the prior of the bias is for naive Bayes, which method='sparse' does not use\n"
        "hint: leave it out of the bias, or give method='grasp'"
    )


@pytest.mark.parametrize(
    ("settings", "what", "hint"),
    [
        (
            {"method": "sparse", "max_iter": 5},
            "max_iter is no parameter of method='sparse'",
            HINT.format("max_iter"),
        ),
        (
            {"method": "sparse", "min_confidence": 0.5, "measure": "growth"},
            "min_confidence is no parameter of method='sparse'",
            HINT.format("min_confidence"),
        ),
        (
            {"method": "paper", "n_features": 3},
            "n_features is fixed by method='paper'",
            HINT.format("n_features"),
        ),
        (
            {"method": "lasso"},
            "method is 'lasso'",
            "give 'auto' or 'sparse' or 'optimal' or 'grasp' or 'paper'",
        ),
        (
            {"budget": 0},
            "budget is 0",
            "a number above 0: how many times the default amount of work",
        ),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(data, settings, what, hint):
    with pytest.raises(InputError) as caught:
        LynxClassifier(**settings).fit(*data)
    assert str(caught.value) == f"{what}\nhint: {hint}"


def test_the_method_of_the_paper_has_a_model_for_each_pair_and_no_limit(data):
    model = small(method="paper", max_iter=2).fit(*data)
    assert len(model.estimators_) == 3
    assert model.n_features == "validated"  # parameters stay as they were given
    assert all(one.selector.n_features is None for one in model.estimators_)


# Weights of sequences


@pytest.mark.parametrize(
    ("weights", "what", "hint"),
    [
        (
            [1, 2],
            "sample_weight has 2 weights for 4 sequences",
            "give one weight for each sequence",
        ),
        (
            [[1], [2], [1], [1]],
            "sample_weight has the shape (4, 1) for 4 sequences",
            "give one weight for each sequence",
        ),
        (["x"] * 4, "sample_weight holds what is no number", "give one weight for each sequence"),
        (
            [None, 1, 1, "x"],
            "sample_weight holds what is no number",
            "give one weight for each sequence",
        ),
        (
            [1, 2, -1, 1],
            "sample_weight holds a negative or infinite weight",
            "give numbers from 0 on",
        ),
        (
            [1, 2, np.nan, 1],
            "sample_weight holds a negative or infinite weight",
            "give numbers from 0 on",
        ),
        (
            [1, 2, 0, 0],
            "sample_weight leaves a class without weight",
            "give each class a sequence that counts, or leave the class out",
        ),
    ],
)
def test_wrong_weights_are_refused(weights, what, hint):
    X, y = from_lists([["a"], ["a", "b"], ["b"], ["c"]], ["u", "u", "v", "v"])
    with pytest.raises(InputError) as caught:
        LynxClassifier().fit(X, y, weights)
    assert str(caught.value) == f"{what}\nhint: {hint}"


@pytest.mark.parametrize(("settings", "method"), [({"max_iter": 5}, "grasp"), ({}, "paper")])
def test_weights_are_refused_by_the_other_methods(data, settings, method):
    if method == "paper":
        settings = {"method": "paper"}
    with pytest.raises(InputError) as caught:
        LynxClassifier(**settings).fit(*data, sample_weight=np.ones(90))
    assert str(caught.value) == (
        f"sample_weight is no parameter of method={method!r}\n"
        "hint: leave it out, or give method='sparse'"
    )


def test_equal_weights_change_nothing(data, three):
    again = small().fit(*data, sample_weight=np.full(90, 2.0))
    assert [*again.selected_.texts()] == [*three.selected_.texts()]
    coefficients = three.estimators_[0].estimator.coef_
    assert again.estimators_[0].estimator.coef_ == pytest.approx(coefficients, abs=1e-9)


def test_a_class_of_more_weight_is_predicted_more_often(data):
    X, y = only(*data, "y", "z")
    heavy = small(max_length=1, budget=1e-9)
    with pytest.warns(UserWarning, match="the prior decides"):
        heavy.fit(X, y, sample_weight=np.where(y == "z", 9.0, 1e-3))
    assert set(heavy.predict(X)) == {"z"}
    with pytest.warns(UserWarning, match="the prior decides"):
        heavy.fit(X, y, sample_weight=np.where(y == "z", 1e-3, 9.0))
    assert set(heavy.predict(X)) == {"y"}


# Weights of classes


def alike(one, other):
    """Whether two models are the same to the last bit."""
    left, right = one.estimators_[0].estimator, other.estimators_[0].estimator
    return same(one, other) and left.intercept_.tolist() == right.intercept_.tolist()


@pytest.mark.parametrize("method", ["sparse", "optimal"])
@pytest.mark.parametrize("weight", ["balanced", {"x": 3, "z": 0.5}])
def test_weights_of_classes_are_weights_of_their_sequences(data, method, weight):
    X, y = data
    one = small(method=method, class_weight=weight).fit(X, y)
    other = small(method=method).fit(X, y, compute_sample_weight(weight, y))
    assert alike(one, other)
    assert one.class_prior_.tolist() == other.class_prior_.tolist()
    if weight == "balanced":
        assert one.class_prior_ == pytest.approx(np.full(3, 1 / 3))


def test_weights_of_classes_and_of_sequences_are_multiplied(data):
    X, y = data
    own = np.random.default_rng(0).uniform(0.5, 2, len(y))
    one = small(class_weight={"y": 2.5}).fit(X, y, own)
    assert alike(one, small().fit(X, y, own * np.where(y == "y", 2.5, 1)))
    balanced = small(class_weight="balanced").fit(X, y, own)
    assert balanced.class_prior_ == pytest.approx(np.full(3, 1 / 3))


def test_balanced_weights_raise_the_recall_of_a_rare_class():
    rng = np.random.default_rng(0)

    def drawn(n):
        y = np.where(rng.random(n) < 0.1, "rare", "usual")
        shares = [[0.3, 0.4, 0.3] if kind == "rare" else [0.5, 0.2, 0.3] for kind in y]
        return from_lists([rng.choice(list("abc"), size=6, p=p).tolist() for p in shares], y)

    (X, y), (X_new, y_new) = drawn(400), drawn(400)
    found = [
        recall_score(y_new, small(class_weight=weight).fit(X, y).predict(X_new), pos_label="rare")
        for weight in (None, "balanced")
    ]
    assert found[0] < 0.3
    assert found[1] > 0.6


def test_weights_of_classes_are_cloned_and_saved(data, tmp_path):
    model = small(class_weight={"x": 2.0}).fit(*data)
    assert clone(model).class_weight == {"x": 2.0}
    rx.save(model, tmp_path / "m.relynx")
    loaded = rx.load(tmp_path / "m.relynx")
    assert loaded.get_params()["class_weight"] == {"x": 2.0}
    assert alike(loaded, model)


WORDS = "give 'balanced' or None, or a weight for each class"
ABOVE = "class_weight has no weight above 0 for the class 'x'"


@pytest.mark.parametrize(
    ("weight", "what", "hint"),
    [
        ("even", "class_weight is 'even'", WORDS),
        ([1, 2, 3], "class_weight is [1, 2, 3]", WORDS),
        (2.0, "class_weight is 2.0", WORDS),
        ({"x": -1}, ABOVE, "give one, or leave the class out"),
        ({"x": 0, "y": 1}, ABOVE, "give one, or leave the class out"),
        ({"x": "a"}, ABOVE, "give one, or leave the class out"),
        ({"x": np.inf}, ABOVE, "give one, or leave the class out"),
        (
            {"x": 1, "w": 2},
            "class_weight has a weight for 'w', which is no class",
            "the classes are 'x', 'y', 'z'",
        ),
    ],
    ids=str,
)
def test_wrong_weights_of_classes_are_refused(data, weight, what, hint):
    with pytest.raises(InputError) as caught:
        LynxClassifier(class_weight=weight).fit(*data)
    assert str(caught.value) == f"{what}\nhint: {hint}"


@pytest.mark.parametrize("method", ["grasp", "paper"])
def test_weights_of_classes_are_refused_by_the_other_methods(data, method):
    with pytest.raises(InputError) as caught:
        LynxClassifier(method=method, class_weight="balanced").fit(*data)
    assert str(caught.value) == (
        f"class_weight is no parameter of method={method!r}\n"
        "hint: leave it out, or give method='sparse'"
    )


def test_the_command_balances_the_classes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rx.write_lynx(planted_rule(60, random_state=0)[0], "train.m")
    how = ["--class-weight", "balanced", "--max-length", "1", "-o", "m.relynx"]
    assert cli.main(["fit", "train.m", *how]) == 0
    assert rx.load("m.relynx").class_weight == "balanced"


# What is learnt


def test_the_planted_rule_is_found():
    X, y = planted_rule(80, random_state=0)
    model = small().fit(X, y)
    X_new, y_new = planted_rule(100, random_state=1)
    assert model.score(X_new, y_new) > 0.97
    assert "do(A,a0,B), follow_s(A,C), do(C,a1,B)" in model.selected_.texts()


def test_patterns_of_two_atoms_are_found_where_single_ones_tell_nothing():
    X, y = from_lists([["a", "b"], ["b", "a"]] * 10, ["u", "v"] * 10)
    model = small().fit(X, y)
    assert model.score(X, y) == 1.0
    assert set(model.selected_.lengths.tolist()) == {2}


def test_patterns_are_in_the_order_of_how_much_their_terms_vary(three, data):
    terms = three.selected_.coverage(data[0])[:, None, :] * three.estimators_[0].estimator.coef_
    spread = terms.std(axis=0).max(axis=0)
    assert len(spread) > 1
    assert (np.diff(spread) <= 1e-9).all()


def test_equal_importance_leaves_the_order_of_the_search():
    columns = Columns.of(np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 0]]))
    found = Solution(np.arange(3), np.array([[1.0, -1.0, 9.0]]), np.zeros(1))
    ordered = sparse_model.by_importance(found, columns)
    assert ordered.columns.tolist() == [2, 0, 1]
    assert ordered.weights.tolist() == [[9.0, 1.0, -1.0]]


def test_supports_are_those_in_the_training_sequences(model, data):
    X, y = data if len(model.classes_) == 3 else only(*data, "x", "z")
    covered = model.selected_.coverage(X)
    counts = np.array([covered[y == c].sum(axis=0) for c in model.classes_]).T
    assert model.selected_.supports.tolist() == counts.tolist()


def test_the_decision_is_that_of_the_weights_on_unseen_data(model):
    X, _ = letters(40, seed=9)
    learner = model.estimators_[0].estimator
    covered = np.array(
        [[rx.covers(p, X[i].sequences)[0] for p in model.selected_.patterns()] for i in range(40)],
        float,
    )
    scores = covered @ learner.coef_.T + learner.intercept_
    expected = scores[:, 0] if len(model.classes_) == 2 else scores
    assert model.decision_function(X) == pytest.approx(expected)


def test_the_prediction_has_the_largest_probability(model):
    X, _ = letters(60, seed=5)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert model.predict(X).tolist() == model.classes_[probabilities.argmax(axis=1)].tolist()


def test_a_fit_again_gives_the_same_model(data, three):
    assert same(three, small().fit(*data))


def test_threads_change_nothing(data, three):
    assert same(three, small(n_jobs=2).fit(*data))


def test_the_names_of_classes_change_nothing(data, three):
    X, y = data
    other = small().fit(X, np.char.upper(y.astype(str)))
    assert same(three, other)
    assert other.classes_.tolist() == ["X", "Y", "Z"]


def test_one_model_serves_all_classes(model):
    assert len(model.estimators_) == 1
    assert model.estimators_[0].classes.tolist() == model.classes_.tolist()
    assert model.columns_[0].tolist() == [*range(len(model.selected_))]


def test_sixty_classes_of_four_sequences_are_learnt():
    names = [f"p{i}" for i in range(60)]
    lists = [[name, "q", f"n{i % 7}"] for name in names for i in range(4)]
    X, y = from_lists(lists, np.repeat(names, 4))
    model = small(max_length=1).fit(X, y)
    assert model.predict_proba(X).shape == (240, 60)
    assert model.score(X, y) > 0.9


def test_a_class_of_one_sequence_is_learnt(data):
    X, y = data
    y = y.astype(object)
    y[0] = "w"
    model = small().fit(X, y)
    assert model.classes_.tolist() == ["w", "x", "y", "z"]
    assert np.isfinite(model.predict_proba(X)).all()


def test_classes_of_one_sequence_each_are_learnt():
    X, y = from_lists([["a", "c"], ["b", "a"], ["c", "b"]], ["u", "v", "w"])
    model = small().fit(X, y)
    assert model.predict(X).tolist() == ["u", "v", "w"]


# The prior alone


def test_equal_sequences_leave_the_prior_to_decide():
    X, y = from_lists([["a", "b"]] * 6, ["u", "u", "v", "v", "v", "v"])
    told = "every pattern found for u and v covers all sequences or none: the prior decides"
    with pytest.warns(UserWarning, match=f"^{told}$"):
        model = small().fit(X, y)
    assert len(model.selected_) == len(model.estimators_[0].patterns.trie) == 0
    assert model.estimators_[0].patterns.kept_coverage is None
    assert model.predict(X).tolist() == ["v"] * 6
    assert model.predict_proba(X)[0] == pytest.approx([1 / 3, 2 / 3])


def test_sequences_without_a_pattern_leave_the_prior_to_decide():
    X, y = from_lists([["a"], ["b"], ["c"], ["d"]], ["u", "v", "v", "v"])
    with pytest.warns(UserWarning, match="no pattern was found for u and v"):
        model = small().fit(X, y)
    assert model.predict(X).tolist() == ["v"] * 4


def test_patterns_that_tell_nothing_leave_the_prior_to_decide():
    X, y = from_lists([["a"], ["b"]] * 10, ["u", "u", "v", "v"] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small(max_length=1).fit(X, y)
    assert len(model.selected_) == 0
    assert model.predict_proba(X)[0] == pytest.approx([0.5, 0.5])


# Thresholds, and how far steps reach


def test_the_least_supports_are_those_of_the_lengths(three):
    assert three.min_support_.tolist() == [2 / 90, 2 / 90]


def test_a_small_budget_leaves_short_patterns(data):
    model = small(budget=1e-4).fit(*data)
    assert model.min_support_.tolist() == [2 / 90]
    longer = [str(one.pattern) for one in model.selected_ if one.length > 1]
    assert not any("follow" in text for text in longer)  # only stretches have room


def test_spans_count_in_one_dimension_alone(data):
    bias = rx.Bias.infer(data[0])
    levels = mine_levels(data[0], bias, SearchSettings.of(bias, max_length=2))
    spans = spans_of(levels, bias)
    assert spans is not None
    assert len(spans) == sum(len(one.patterns) for one in levels)
    assert spans.max() > 0
    assert spans_of(levels, parse_bias(f"{bias} dimension(next_other).")) is None


def test_a_given_minimum_support_is_used(data):
    model = small(min_support=0.5).fit(*data)
    found = rx.mine(*data, max_length=2, min_support=0.5)
    assert set(model.selected_.texts()) <= set(found.texts())
    assert model.min_support_.tolist() == [0.5]


def test_a_minimum_frequency_is_the_least_that_the_budget_goes_down_to(data):
    model = small(min_frequency=40).fit(*data)
    assert model.min_support_.tolist() == [40 / 90, 40 / 90]
    assert (model.selected_.frequencies >= 40).all()


def test_the_thresholds_of_a_given_bias_are_used(data):
    X, y = data
    kinds = " ".join(f"type({c}(event)). mode({c}(+))." for c in "abcd")
    language = f"{kinds} dimension(next_s). maxsize(2)."
    free = small(bias=parse_bias(language)).fit(X, y)
    bound = small(bias=parse_bias(f"{language} minsupport(0.6).")).fit(X, y)
    found = rx.mine(X, y, bound.bias_)
    assert len(free.min_support_) == 2
    assert len(bound.min_support_) == 1
    assert set(bound.selected_.texts()) <= set(found.texts())
    assert (bound.selected_.supports / bound.selected_.class_sizes).max(axis=1).min() >= 0.6


def test_an_inferred_bias_says_how_far_steps_reach(data, three):
    assert three.bias_.max_gap == 10
    assert small(max_gap=3).fit(*data).bias_.max_gap == 3
    assert small(min_support=0.4).fit(*data).bias_.max_gap == 2


# What is stored and said


def test_a_model_that_was_stored_predicts_the_same(model, tmp_path):
    X, _ = letters(30, seed=3)
    rx.save(model, tmp_path / "model.relynx")
    again = rx.load(tmp_path / "model.relynx")
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert [*again.selected_.texts()] == [*model.selected_.texts()]
    assert again.min_support_.tolist() == model.min_support_.tolist()
    assert (again.method, again.budget) == (model.method, model.budget)


def test_a_model_without_patterns_can_be_stored(tmp_path):
    X, y = from_lists([["a"], ["b"]] * 10, ["u", "u", "v", "v"] * 5)
    model = small(max_length=1).fit(X, y)
    rx.save(model, tmp_path / "model.relynx")
    again = rx.load(tmp_path / "model.relynx")
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()


def test_prior_and_contributions_sum_to_the_decision(model):
    X, _ = letters(20, seed=8)
    values = model.decision_function(X)
    for i in range(5):
        (part,) = rx.explain(model, X[i]).models
        for c in part.classes:
            total = part.prior[c] + sum(one.contributions[c] for one in part.patterns)
            assert part.scores[c] == pytest.approx(total)
        scores = np.array([*part.scores.values()])
        decided = values[i] - np.mean(values[i])
        if len(part.classes) == 2:
            decided = np.array([-values[i] / 2, values[i] / 2])
        assert scores - scores.mean() == pytest.approx(decided)
