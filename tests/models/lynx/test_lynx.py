"""The Lynx classifier."""

import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from relynx import (
    Bias,
    InputError,
    LynxClassifier,
    PatternNB,
    Sequences,
    covers,
    from_lists,
    mine,
    parse_bias,
    parse_pattern,
    planted_rule,
)
from relynx.models.lynx import pair_model
from relynx.models.lynx.classifier import PAPER
from relynx.models.lynx.pair_model import PairModel, softmax

RULE = parse_pattern("do(X,a0,O), follow_s(X,Y), do(Y,a1,O)").canonical()
QUICK = {"max_length": 2, "max_iter": 5, "random_state": 0}


def letters(n=90, seed=0):
    """Three classes: `ab` in a row, else `c` somewhere, else neither; and a little noise."""
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abcd"), size=5, p=[0.35, 0.3, 0.1, 0.25]).tolist() for _ in range(n)]
    kinds = ["x" if "ab" in "".join(s) else "y" if "c" in s else "z" for s in lists]
    return from_lists(lists, kinds)


@pytest.fixture(scope="module")
def data():
    return letters()


@pytest.fixture(scope="module")
def model(data):
    return LynxClassifier(**QUICK).fit(*data)


@pytest.fixture(scope="module")
def single(data):
    return LynxClassifier(multiclass="single", **QUICK).fit(*data)


@pytest.fixture(scope="module")
def planted():
    return planted_rule(80, random_state=0)


def pure(**changes):
    """The method of the paper, quick."""
    return LynxClassifier(**QUICK | PAPER | changes)


# What is learnt


@pytest.mark.parametrize(
    ("flip", "seed"), [(0.0, 0), pytest.param(0.05, 1, marks=pytest.mark.slow), (0.05, 14)]
)
def test_the_planted_rule_is_found_and_nothing_else_is_needed(flip, seed):
    X, y = planted_rule(200, flip=flip, random_state=seed)
    X_test, y_test = planted_rule(400, random_state=100 + seed)
    model = LynxClassifier(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) == 1.0
    assert RULE in [pattern.canonical() for pattern in model.selected_.patterns()]


def test_there_is_a_model_for_each_pair_and_it_saw_only_the_two(data, monkeypatch):
    X, y = data
    seen = []
    real = pair_model.mine

    def spy(X, y, *args, **options):
        seen.append((sorted(set(y.tolist())), len(X)))
        return real(X, y, *args, **options)

    monkeypatch.setattr(pair_model, "mine", spy)
    model = LynxClassifier(**QUICK).fit(X, y)
    pairs = [*combinations("xyz", 2)]
    assert [tuple(one.classes.tolist()) for one in model.estimators_] == pairs
    assert seen == [(list(pair), int(np.isin(y, pair).sum())) for pair in pairs]


def test_the_columns_of_a_model_are_what_its_patterns_cover(data, model):
    X, y = data
    for one in model.estimators_:
        here = X[np.isin(y, one.classes)]
        chosen = one.patterns[one.selected]
        nb = one.estimator
        counts = chosen.supports.T
        assert np.allclose(
            nb.feature_probability_, (counts + 0.1) / (nb.class_count_[:, None] + 0.2)
        )
        assert np.array_equal(chosen.coverage(here).sum(axis=0), counts.sum(axis=0))


def test_selected_patterns_have_supports_in_all_classes(data, model):
    X, y = data
    used = {text for one in model.estimators_ for text in one.patterns[one.selected].texts()}
    assert {str(entry) for entry in model.selected_} == used
    for entry in model.selected_:
        hits = covers(entry.pattern, X)
        assert entry.support == {c: int(hits[y == c].sum()) for c in "xyz"}


def test_patterns_are_all_that_selection_chose_from(model):
    texts = [str(pattern) for pattern in model.patterns_]
    assert len(set(texts)) == len(texts)
    assert set(texts) == {t for one in model.estimators_ for t in one.patterns.texts()}
    assert {str(entry) for entry in model.selected_} <= set(texts)


def test_selection_and_naive_bayes_agree_on_the_errors(data):
    X, y = data
    for one in pure(max_iter=3).fit(X, y).estimators_:
        here = np.isin(y, one.classes)
        predicted = one.votes(one.patterns[one.selected].coverage(X[here]))
        assert (one.classes[predicted] != y[here]).sum() == one.selector.errors_


def test_without_selection_it_is_naive_bayes_on_all_distinct_columns(planted):
    X, y = planted
    model = pure(selection=None, min_confidence=0.8).fit(X, y)
    found = mine(X, y, max_length=2, min_confidence=0.8)
    columns = np.unique(found.coverage(X), axis=1)
    columns = columns[:, columns.any(axis=0) & ~columns.all(axis=0)]
    assert len(model.selected_) == columns.shape[1]
    twin = BernoulliNB(alpha=0.1).fit(columns, y)
    assert np.allclose(model.predict_proba(X), twin.predict_proba(columns))


def test_the_settings_of_the_search_reach_it(planted, monkeypatch):
    seen = {}
    real = pair_model.mine

    def spy(X, y, bias, **options):
        seen.update(options)
        return real(X, y, bias, **options)

    monkeypatch.setattr(pair_model, "mine", spy)
    options = {"min_support": 0.2, "min_frequency": 3, "max_length": 1, "max_gap": 1}
    options |= {"object_identity": False}
    model = LynxClassifier(max_iter=2, random_state=0, min_confidence=0.7, **options).fit(*planted)
    machine = {"n_jobs": None, "checkpoint": None, "keep_coverage": True}
    later = {"min_confidence": None, "min_cover": None}  # what the answer is asked for
    assert seen == options | machine | later
    patterns = model.estimators_[0].patterns
    assert (patterns.measure("confidence") >= 0.7 - 1e-9).all()


def test_what_covers_enough_is_chosen_from_what_is_confident(planted, monkeypatch):
    seen = {}
    real = pair_model.mine
    monkeypatch.setattr(pair_model, "mine", lambda *a, **k: seen.update(k) or real(*a, **k))
    X, y = planted
    bias = parse_bias(f"{Bias.infer(X)}\nmincover(1).")
    LynxClassifier(bias, max_length=1, max_iter=2, min_confidence=0.5).fit(X, y)
    assert seen["min_confidence"] == 0.5


def test_confidence_one_keeps_patterns_of_one_class_only(planted):
    model = pure(min_confidence=1.0).fit(*planted)
    supports = model.estimators_[0].patterns.supports
    assert ((supports == 0).sum(axis=1) == 1).all()


def test_at_most_so_many_patterns_are_handed_to_the_selection(planted):
    assert len(pure(max_features=7).fit(*planted).patterns_) == 7


def test_at_most_so_many_patterns_are_selected(planted):
    assert len(pure(n_features=2).fit(*planted).selected_) <= 2


def test_only_significant_patterns_are_handed_to_the_selection(planted):
    some = pure(significance=0.05).fit(*planted)
    assert 0 < len(some.patterns_) < len(pure().fit(*planted).patterns_)
    assert RULE in [pattern.canonical() for pattern in some.patterns_]


def test_classes_and_labels_of_any_kind_are_given_back(planted):
    X, y = planted
    expected = LynxClassifier(**QUICK).fit(X, y).predict(X) == "yes"
    for labels in (y == "yes", np.where(y == "yes", 7, -1), np.where(y == "yes", 2.0, 1.0)):
        model = LynxClassifier(**QUICK).fit(X, labels)
        assert model.classes_.tolist() == np.unique(labels).tolist()
        assert np.array_equal(model.predict(X), np.where(expected, *model.classes_[::-1]))


def test_the_labels_of_the_sequences_serve_where_y_is_not_given(data, model):
    X, _ = data
    assert np.array_equal(LynxClassifier(**QUICK).fit(X).predict(X), model.predict(X))


def test_lists_are_taken_for_sequences(data, model):
    X, y = data
    fluents = [[a for a in one.atoms if len(a.args) == 1] for one in X]
    ordered = [[a.predicate for a in sorted(one, key=lambda a: a.args)] for one in fluents]
    fitted = LynxClassifier(**QUICK).fit(ordered, y.tolist())
    assert np.array_equal(fitted.predict(ordered[:9]), model.predict(X[:9]))


def test_labels_may_be_permuted(data):
    """Other names in another order, and the same answers."""
    X, y = data
    other = {"x": "c", "y": "a", "z": "b"}
    options = {"selection": None, "max_length": 2}
    first = LynxClassifier(**options).fit(X, y)
    second = LynxClassifier(**options).fit(X, [other[c] for c in y])
    assert [other[c] for c in first.predict(X)] == second.predict(X).tolist()


# Votes


class Fixed:
    """A learner that has learnt nothing: its posteriors are the rows of the matrix."""

    def __sklearn_tags__(self):
        return BernoulliNB().__sklearn_tags__()

    def predict_proba(self, M):
        M = M.toarray()
        return np.column_stack([1 - M[:, 0], M[:, 0]])

    def predict(self, M):
        return (M.toarray()[:, 0] > 0.5).astype(int)


def voting(rows, prior):
    """A classifier whose k-th model gives `rows[:, k]` to the second class of its pair."""
    n = len(prior)
    model = LynxClassifier()
    model.classes_ = np.arange(n)
    model.class_prior_ = np.asarray(prior, float)
    model.estimators_ = [
        PairModel(np.array(pair), None, np.array([0]), Fixed(), np.array([0.5, 0.5]))
        for pair in combinations(range(n), 2)
    ]
    model.columns_ = [np.array([k]) for k in range(len(model.estimators_))]
    model.matrix = lambda X: csr_array(np.asarray(X, float))
    return model


def slow_winner(row, prior):
    """Votes, then the sum of posteriors, then the prior, then the order; in exact numbers."""
    n = len(prior)
    votes, sums = [0] * n, [Fraction(0)] * n
    for share, (i, j) in zip(row, combinations(range(n), 2), strict=True):
        votes[j if share > 0.5 else i] += 1
        sums[i] += 1 - Fraction(share)
        sums[j] += Fraction(share)
    return max(range(n), key=lambda c: (votes[c], sums[c], prior[c], -c)), votes


shares_ = st.sampled_from([0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0])


@given(
    n=st.integers(3, 5),
    cells=st.lists(shares_, min_size=10, max_size=10),
    weights=st.lists(st.integers(1, 3), min_size=5, max_size=5),
)
def test_votes_win_then_posteriors_then_the_prior_then_the_order(n, cells, weights):
    row = cells[: n * (n - 1) // 2]
    prior = np.array(weights[:n]) / sum(weights[:n])
    model = voting([row], prior)
    winner, votes = slow_winner(row, [Fraction(w) for w in weights[:n]])
    assert model.predict([row]).tolist() == [winner]
    scores = model.decision_function([row])[0]
    assert scores.argmax() == winner
    assert np.floor(scores).astype(int).tolist() == votes
    assert sum(votes) == n * (n - 1) // 2
    assert max(votes) <= n - 1
    proba = model.predict_proba([row])[0]
    assert proba.argmax() == winner
    assert proba.sum() == pytest.approx(1)
    assert (proba >= 0).all()
    assert (np.diff(proba[np.argsort(-scores, kind="stable")]) <= 1e-12).all()


def test_models_that_agree_are_coupled_exactly():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    row = [p[j] / (p[i] + p[j]) for i, j in combinations(range(4), 2)]
    assert voting([row], p).predict_proba([row])[0] == pytest.approx(p, abs=1e-6)


def test_probabilities_sum_to_one_and_agree_with_the_prediction(data, model, single):
    X, _ = data
    for one in (model, single):
        proba = one.predict_proba(X)
        assert np.allclose(proba.sum(axis=1), 1)
        assert np.array_equal(one.classes_[proba.argmax(axis=1)], one.predict(X))
        assert one.decision_function(X).shape == (len(X), 3)


def test_two_classes_are_one_model_however_asked_for(planted):
    X, y = planted
    first, second = (
        LynxClassifier(multiclass=m, **QUICK).fit(X, y) for m in ("round_robin", "single")
    )
    assert len(first.estimators_) == len(second.estimators_) == 1
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_of_two_classes_the_second_has_positive_decisions(planted):
    X, y = planted
    model = LynxClassifier(**QUICK).fit(X, y)
    decisions = model.decision_function(X)
    assert decisions.shape == (len(X),)
    assert np.array_equal(model.predict(X), np.where(decisions > 0, "yes", "no"))


def test_a_single_model_tells_all_classes_apart(data, single):
    assert len(single.estimators_) == 1
    assert single.estimators_[0].classes.tolist() == ["x", "y", "z"]
    assert single.score(*data) > 0.9


# Other learners


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        HistGradientBoostingClassifier(max_iter=5),
        AdaBoostClassifier(n_estimators=10),
        RandomForestClassifier(10),
        KNeighborsClassifier(3),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("multiclass", ["round_robin", "single"])
def test_another_learner_may_be_last(data, learner, multiclass):
    X, y = data
    model = LynxClassifier(final_estimator=learner, multiclass=multiclass, selection=None, **QUICK)
    model.fit(X, y)
    assert not hasattr(learner, "classes_")
    assert model.score(X, y) > 0.8
    proba = model.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert model.decision_function(X).shape == (len(X), 3)


class Silent(ClassifierMixin, BaseEstimator):
    """It only predicts: whether the first column is there."""

    def fit(self, M, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, M):
        return (M[:, 0] > 0).astype(int)


def test_a_learner_that_only_predicts_gives_all_to_its_class(planted):
    X, y = planted
    model = LynxClassifier(final_estimator=Silent(), **QUICK).fit(X, y)
    proba = model.predict_proba(X)
    assert set(proba.ravel().tolist()) == {0.0, 1.0}
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


def test_the_parameters_of_another_learner_can_be_searched(planted):
    X, y = planted
    model = LynxClassifier(final_estimator=LogisticRegression(), selection=None, **QUICK)
    grid = {"final_estimator__C": [1e-6, 10.0], "max_length": [1, 2]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"final_estimator__C": 10.0, "max_length": 2}


def test_decisions_become_probabilities():
    assert softmax(np.array([0.0, 2.0])) == pytest.approx(
        np.array([[0.5, 0.5], [1 / (1 + np.e**2), 1 / (1 + np.e**-2)]])
    )
    assert softmax(np.array([[1000.0, 0.0, 1000.0]])) == pytest.approx(np.array([[0.5, 0, 0.5]]))


# Priors


def test_the_prior_may_be_uniform_or_given(data):
    X, y = data
    counts = np.unique(y, return_counts=True)[1]
    empirical = LynxClassifier(**QUICK).fit(X, y)
    assert empirical.class_prior_ == pytest.approx(counts / counts.sum())
    uniform = LynxClassifier(prior="uniform", **QUICK).fit(X, y)
    assert uniform.class_prior_ == pytest.approx([1 / 3] * 3)
    assert uniform.estimators_[0].estimator.class_prior_.tolist() == [0.5, 0.5]
    given_ = LynxClassifier(prior={"x": 1, "y": 2, "z": 1}, **QUICK).fit(X, y)
    assert given_.class_prior_.tolist() == [0.25, 0.5, 0.25]
    assert given_.estimators_[0].prior == pytest.approx([1 / 3, 2 / 3])


def test_the_prior_of_the_bias_is_used_unless_another_is_given(planted):
    X, y = planted
    bias = parse_bias(
        "type(do(event,action,thing)). mode(do(+,*,*)). dimension(next_s). prior(uniform)."
    )
    here = np.r_[np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")[:20]]
    assert LynxClassifier(bias, **QUICK).fit(X[here], y[here]).class_prior_.tolist() == [0.5, 0.5]
    other = LynxClassifier(bias, prior="empirical", **QUICK).fit(X[here], y[here])
    assert other.class_prior_ == pytest.approx([2 / 3, 1 / 3])


# Where there is little to learn from


def test_a_pair_without_patterns_falls_back_on_the_prior_with_a_warning():
    X, y = from_lists([["a"], ["b"], ["c"], ["d"], ["e"]], ["no", "no", "no", "yes", "yes"])
    with pytest.warns(UserWarning, match="no pattern was found") as caught:
        model = LynxClassifier(min_support=0.9).fit(X, y)
    seen = mine(X, y, min_support=0.9).explain_search()
    assert str(caught[0].message) == (
        f"no pattern was found for no and yes; this is what the search saw:\n{seen}\n"
        "the prior decides"
    )
    assert caught[0].filename == __file__
    assert model.predict(X).tolist() == ["no"] * 5
    assert model.predict_proba(X) == pytest.approx(np.tile([0.6, 0.4], (5, 1)))
    assert model.decision_function(X) == pytest.approx(np.full(5, np.log(0.4 / 0.6)))
    assert len(model.selected_) == len(model.patterns_) == 0


def test_patterns_that_cover_all_are_no_features():
    X, y = from_lists([["a"], ["a"]], ["no", "yes"])
    with pytest.warns(UserWarning, match="the prior decides") as caught:
        LynxClassifier().fit(X, y)
    assert str(caught[0].message) == (
        "every pattern found for no and yes covers all sequences or none: the prior decides"
    )


def test_one_pair_without_patterns_leaves_the_others_alone():
    lists = [["a"], ["a"], ["b"], ["b"], ["b"], ["b"]]
    X, y = from_lists(lists, ["x", "x", "y", "y", "z", "z"])
    with pytest.warns(UserWarning, match="for y and z covers all"):
        model = LynxClassifier(max_iter=3).fit(X, y)
    assert model.predict(X).tolist() == ["x", "x", "y", "y", "y", "y"]


def test_a_selection_of_nothing_leaves_the_prior():
    X, y = from_lists([["a"], ["b"], ["b"], ["b"], ["b"]], ["no", "no", "no", "yes", "no"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LynxClassifier(max_length=1, min_confidence=1.0, n_features=None).fit(X, y)
    assert set(model.predict(X)) == {"no"}


def test_one_class_is_refused():
    X, y = from_lists([["a"], ["b"]], ["no", "no"])
    with pytest.raises(InputError) as caught:
        LynxClassifier().fit(X, y)
    assert str(caught.value) == (
        "all sequences are of one class, 'no'\nhint: give sequences of at least two classes"
    )


def test_missing_labels_are_refused():
    with pytest.raises(InputError) as caught:
        LynxClassifier().fit([["a"], ["b"]])
    assert str(caught.value) == "y is missing\nhint: give the class of each sequence"


def test_a_wrong_number_of_labels_is_refused():
    with pytest.raises(InputError) as caught:
        LynxClassifier().fit([["a"], ["b"]], ["no"])
    assert str(caught.value) == (
        "1 label in y for 2 sequences in X\nhint: give one label for each sequence"
    )


def test_a_prior_without_a_class_is_refused(data):
    with pytest.raises(InputError) as caught:
        LynxClassifier(prior={"x": 1, "y": 0, "z": 1}).fit(*data)
    assert str(caught.value) == (
        "prior has no weight above 0 for the class 'y'\nhint: give one for each class"
    )


def test_choices_that_do_not_exist_are_refused_all_at_once(data):
    wrong = LynxClassifier(
        selection="greedy",
        multiclass="pairs",
        prior="flat",
        n_features="few",
        significance=0,
        max_features=0,
    )
    with pytest.raises(InputError) as caught:
        wrong.fit(*data)
    assert str(caught.value) == (
        "selection is 'greedy'\n"
        "hint: give 'auto' or 'grasp' or None\n"
        "multiclass is 'pairs'\n"
        "hint: give 'auto' or 'round_robin' or 'single'\n"
        "prior is 'flat'\n"
        "hint: give 'empirical' or 'uniform' or None, or a weight for each class\n"
        "n_features is 'few'\n"
        "hint: a number of patterns from 1 on, 'validated', or None for no limit\n"
        "significance is 0\n"
        "hint: a level above 0 and up to 1, or None to keep all patterns\n"
        "max_features is 0\n"
        "hint: a number of patterns from 1 on, or None for all"
    )


def test_sequences_without_anything_known_are_predicted(model):
    new = Sequences.from_atoms([[]])
    assert model.predict(new).tolist() == ["z"]


def test_cross_validation_is_not_fooled_by_labels_without_sense():
    """Mining, selection and all are inside the training part: chance stays chance."""
    X, y = planted_rule(120, random_state=0)
    y = np.random.default_rng(1).permutation(y)
    assert cross_val_score(LynxClassifier(n_features=4, **QUICK), X, y, cv=4).mean() < 0.65


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"max_features": 2.5},
            "max_features is 2.5\nhint: a number of patterns from 1 on, or None for all",
        ),
        (
            {"n_features": -1, "selection": None},
            "n_features is -1\n"
            "hint: a number of patterns from 1 on, 'validated', or None for no limit",
        ),
        (
            {"significance": "x"},
            "significance is 'x'\nhint: a level above 0 and up to 1, or None to keep all patterns",
        ),
        ({"bias": 3}, "bias is 3\nhint: give a Bias, its text, or the path of its file, or None"),
        (
            {"prior": [0.5, 0.5]},
            "prior is [0.5, 0.5]\n"
            "hint: give 'empirical' or 'uniform' or None, or a weight for each class",
        ),
        (
            {"final_estimator": LinearRegression()},
            "final_estimator is LinearRegression()\n"
            "hint: a classifier of scikit-learn, LogisticRegression() say, or None for naive Bayes",
        ),
        (
            {"final_estimator": "svm"},
            "final_estimator is 'svm'\n"
            "hint: a classifier of scikit-learn, LogisticRegression() say, or None for naive Bayes",
        ),
        (
            {"prior": {}},
            "prior has no weight above 0 for the class 'x'\nhint: give one for each class",
        ),
        (
            {"prior": {"x": "a", "y": 1, "z": 1}},
            "prior has no weight above 0 for the class 'x'\nhint: give one for each class",
        ),
        (
            {"prior": {"x": 1, "y": 1, "z": 1, "w": 3}},
            "prior has a weight for 'w', which is no class\nhint: the classes are 'x', 'y', 'z'",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_wrong_setting_is_refused_before_the_search(data, changes, said, monkeypatch):
    monkeypatch.setattr(pair_model, "mine", None)
    with pytest.raises(InputError) as caught:
        LynxClassifier(**QUICK | changes).fit(*data)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            ["a", 1] * 20,
            "some labels are text and some are not: 'a', and 1 for sequence s2\n"
            "hint: give all as text or all as numbers",
        ),
        (
            ["a", None] * 20,
            "the label of sequence s2 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
        (
            [0.0, 1.0, np.nan, 1.0] * 10,
            "the label of sequence s3 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
        (
            ["a", pd.NA] * 20,
            "the label of sequence s2 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
    ],
    ids=["two kinds", "none", "nan", "NA"],
)
def test_labels_that_cannot_be_classes_are_refused(labels, said):
    X, _ = from_lists([["a"], ["b"]] * 20, ids=[f"s{i}" for i in range(1, 41)])
    with pytest.raises(InputError) as caught:
        LynxClassifier(**QUICK).fit(X, np.array(labels, object))
    assert str(caught.value) == said


def test_no_sequences_are_refused_and_none_are_predicted(planted):
    X, y = planted
    with pytest.raises(InputError, match="there are no sequences"):
        LynxClassifier().fit(X[:0], [])
    model = LynxClassifier(**QUICK).fit(X, y)
    assert model.predict(X[:0]).shape == (0,)
    assert model.predict_proba(X[:0]).shape == (0, 2)
    assert model.decision_function(X[:0]).shape == (0,)


def test_sequences_that_are_not_learnt_from_change_nothing(planted):
    X, y = planted_rule(60, flip=0.1, random_state=0)
    others, _ = planted_rule(10, random_state=100)
    atoms = [[*sequence.atoms] for sequence in X]
    alone = Sequences.from_atoms(atoms)
    among = Sequences.from_atoms([*([*s.atoms] for s in others), *atoms])[10:]
    first, second = (pure(max_length=2).fit(part, y) for part in (alone, among))
    assert [*first.selected_.texts()] == [*second.selected_.texts()]
    assert np.array_equal(first.predict_proba(others), second.predict_proba(others))


@pytest.mark.parametrize(
    "learner",
    [
        SGDClassifier(loss="log_loss"),
        make_pipeline(StandardScaler(with_mean=False), SGDClassifier(loss="log_loss")),
    ],
    ids=["alone", "inside"],
)
def test_the_seed_reaches_a_learner_that_has_none(planted, learner):
    X, y = planted
    fits = [
        LynxClassifier(**QUICK | {"random_state": 0}, selection=None, final_estimator=learner)
        for _ in range(2)
    ]
    first, second = (model.fit(X, y).decision_function(X) for model in fits)
    assert np.array_equal(first, second)


def test_the_seed_of_a_learner_is_its_own(planted):
    X, y = planted
    learner = SGDClassifier(loss="log_loss", random_state=7)
    model = LynxClassifier(**QUICK, selection=None, final_estimator=learner).fit(X, y)
    assert model.estimators_[0].estimator.random_state == 7


@pytest.mark.parametrize("n_classes", [3, 60])
def test_ties_go_to_the_larger_prior_however_many_classes(n_classes):
    model = LynxClassifier()
    model.classes_ = np.arange(n_classes)
    sizes = np.ones(n_classes)
    sizes[n_classes // 2] = 1.01
    model.class_prior_ = sizes / sizes.sum()
    nothing = np.empty(0, np.int64)
    pairs = [*combinations(range(n_classes), 2)]
    # In a circle each class beats as many as beat it.
    model.estimators_ = [
        PairModel(
            np.array(pair), None, nothing, Even((pair[1] - pair[0]) % 2), np.array([0.5, 0.5])
        )
        for pair in pairs
    ]
    model.columns_ = [nothing] * len(pairs)
    tally = model.tallied(csr_array((2, 0)))
    votes = np.floor(tally).max()
    tied = np.flatnonzero(np.floor(tally[0]) == votes)
    wanted = n_classes // 2 if n_classes // 2 in tied else tied[0]
    assert tally.argmax(axis=1).tolist() == [wanted] * 2


class Even:
    """Votes for one class and gives both the same share."""

    def __init__(self, winner):
        self.winner = winner

    def predict(self, M):
        return np.full(M.shape[0], self.winner)

    def predict_proba(self, M):
        return np.full((M.shape[0], 2), 0.5)

    def __sklearn_tags__(self):
        return LogisticRegression().__sklearn_tags__()


def test_a_learner_with_a_value_for_each_pair_is_not_misread(data):
    X, y = data
    learner = SVC(kernel="linear", decision_function_shape="ovo")
    model = LynxClassifier(
        **QUICK, multiclass="single", selection=None, final_estimator=learner
    ).fit(X, y)
    predicted = model.predict(X)
    assert model.decision_function(X).shape == (len(X), 3)
    assert np.array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], predicted)
    assert np.array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], predicted)


@given(st.integers(0, 10_000))
def test_of_two_classes_shares_and_decisions_agree_with_the_prediction(seed):
    rng = np.random.default_rng(seed)
    M = rng.integers(0, 2, (12, 3)).astype(float)
    codes = np.r_[0, 1, rng.integers(0, 2, 10)]
    learner = PatternNB(smoothing=float(rng.choice([0.1, 1.0]))).fit(M, codes)
    model = LynxClassifier()
    model.classes_ = np.array(["a", "b"])
    model.estimators_ = [
        PairModel(model.classes_, None, np.arange(3), learner, np.array([0.5, 0.5]))
    ]
    model.matrix = lambda X: csr_array(M)
    voted = model.predict(None)
    assert np.array_equal(model.classes_[model.predict_proba(None).argmax(axis=1)], voted)
    assert np.array_equal(np.where(model.decision_function(None) > 0, "b", "a"), voted)


def test_a_memory_spares_the_search_and_changes_nothing(planted, tmp_path, monkeypatch):
    X, y = planted
    plain = pure().fit(X, y)
    first = pure(memory=tmp_path).fit(X, y)
    monkeypatch.setattr(pair_model, "mine", None)
    other = LogisticRegression()
    second = pure(memory=tmp_path, selection=None, final_estimator=other).fit(X, y)
    assert np.array_equal(plain.predict_proba(X), first.predict_proba(X))
    assert len(second.selected_) == len(first.patterns_)
    with pytest.raises(TypeError):
        pure(memory=tmp_path).fit(X[::-1], y[::-1])


def people(n_classes, n_each=3):
    """Each class has a symbol of its own, and all have one in common."""
    lists = [["z", f"p{i % n_classes}", "z"] for i in range(n_classes * n_each)]
    return from_lists(lists, [row[1] for row in lists])


@pytest.mark.parametrize(("n_classes", "n_models"), [(3, 3), (5, 10)])
def test_few_classes_have_a_model_for_each_pair(n_classes, n_models):
    X, y = people(n_classes)
    model = LynxClassifier(**QUICK).fit(X, y)
    pairs = LynxClassifier(multiclass="round_robin", **QUICK).fit(X, y)
    assert len(model.estimators_) == len(pairs.estimators_) == n_models
    assert [*model.selected_.texts()] == [*pairs.selected_.texts()]


def test_many_classes_have_one_model_of_all_patterns():
    X, y = people(21)
    model = LynxClassifier(**QUICK).fit(X, y)
    (only,) = model.estimators_
    assert only.selector is None
    assert len(only.selected) == len(only.patterns) > 0
    assert type(only.estimator) is LogisticRegression
    assert model.score(X, y) == 1.0


def test_of_many_classes_the_given_learner_or_prior_counts():
    X, y = people(21)
    given = LynxClassifier(final_estimator=BernoulliNB(), **QUICK).fit(X, y)
    uniform = LynxClassifier(prior="uniform", **QUICK).fit(X, y)
    assert type(given.estimators_[0].estimator) is BernoulliNB
    assert type(uniform.estimators_[0].estimator) is PatternNB


def test_the_method_of_the_paper_learns_pairs_however_many():
    X, y = people(21)
    assert len(pure(max_iter=1, max_length=1).fit(X, y).estimators_) == 210


def test_logistic_regression_on_all_patterns_decides_where_it_is_clearly_better(
    planted, monkeypatch
):
    X, y = planted
    settings = {**QUICK, "n_features": "validated"}
    monkeypatch.setattr(pair_model.Validation, "better_on_all", lambda *a, **k: True)
    (pair,) = LynxClassifier(**settings).fit(X, y).estimators_
    assert type(pair.estimator) is LogisticRegression
    assert pair.selector is None
    assert len(pair.selected) == len(pair.patterns) > 1


@pytest.mark.parametrize(
    "wish",
    [
        {"final_estimator": PatternNB()},
        {"prior": "uniform"},
        {"objective": "balanced"},
        {"n_features": 3},
        {"n_features": None},
    ],
)
def test_what_is_asked_for_is_not_replaced(planted, monkeypatch, wish):
    X, y = planted
    monkeypatch.setattr(pair_model.Validation, "better_on_all", lambda *a, **k: True)
    (pair,) = LynxClassifier(**{**QUICK, "n_features": "validated"} | wish).fit(X, y).estimators_
    assert type(pair.estimator) is PatternNB
