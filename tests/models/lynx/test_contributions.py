"""The weights of a model: a term for each pattern and class, whose sum is the score."""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import relynx as rx
from relynx.models.lynx.contributions import is_softmax, learner_name, weights

MULTICLASS = ("round_robin", "single")
ADDITIVE = {
    "naive Bayes": None,
    "BernoulliNB": BernoulliNB(),
    "LogisticRegression": LogisticRegression(),
    "LinearSVC": LinearSVC(),
    "RidgeClassifier": RidgeClassifier(),
    "Perceptron": Perceptron(),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "scaled twice": make_pipeline(MinMaxScaler((1, 3)), MaxAbsScaler(), LinearSVC()),
    "scaled Bayes": make_pipeline(StandardScaler(), BernoulliNB()),
    "not scaled": make_pipeline("passthrough", SGDClassifier(random_state=0)),
}


@cache
def folds():
    return rx.load_protein_folds()


@cache
def fitted(learner="naive Bayes", multiclass="round_robin", **settings):
    """A small model of the protein folds."""
    data = folds()
    some = np.arange(0, len(data.X), 12)
    final = ADDITIVE[learner] if isinstance(learner, str) else learner
    model = rx.LynxClassifier(
        data.bias,
        max_length=2,
        selection=None,
        max_features=12,
        multiclass=multiclass,
        final_estimator=final,
        random_state=0,
        **settings,
    )
    return model.fit(data.X[some], data.y[some])


@cache
def covered(model):
    return model.selected_.coverage(folds().X)


def sums(found, M):
    """The scores of all rows by the definition."""
    return found.prior + M @ found.present + ~M @ found.absent


@pytest.mark.parametrize("multiclass", MULTICLASS)
@pytest.mark.parametrize("learner", ADDITIVE)
def test_terms_and_prior_sum_to_the_score_on_every_fold_domain(learner, multiclass):
    model = fitted(learner, multiclass)
    M = covered(model)
    assert len(M) == 966
    for part, columns in zip(model.estimators_, model.columns_, strict=True):
        found = weights(part)
        scores = sums(found, M[:, columns])
        told = scores[:, 1] - scores[:, 0] if len(part.classes) == 2 else scores
        if learner == "BernoulliNB" or learner == "scaled Bayes":
            last = part.estimator[-1] if learner == "scaled Bayes" else part.estimator
            rows = M[:, columns].astype(float)
            if learner == "scaled Bayes":
                rows = part.estimator[:-1].transform(rows)
            assert np.allclose(scores, last.predict_joint_log_proba(rows), rtol=0, atol=1e-9)
        else:
            assert np.allclose(told, part.decisions(M[:, columns]), rtol=0, atol=1e-9)
        assert np.allclose(scores[:50], [*map(found.scores, M[:50, columns])], rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", ["naive Bayes", "LogisticRegression", "scaled"])
def test_the_softmax_of_the_scores_is_the_posterior(learner):
    model = fitted(learner)
    M = covered(model)
    for part, columns in zip(model.estimators_, model.columns_, strict=True):
        powers = np.exp(sums(weights(part), M[:, columns]))
        shares = powers / powers.sum(axis=1, keepdims=True)
        assert is_softmax(part)
        assert np.allclose(shares, part.posteriors(M[:, columns]), rtol=0, atol=1e-9)


def test_the_terms_of_naive_bayes_are_logarithms_of_shares():
    part = fitted().estimators_[0]
    found = weights(part)
    p = part.estimator.feature_probability_.T
    assert np.allclose(found.present, np.log(p), rtol=0, atol=1e-12)
    assert np.allclose(found.absent, np.log(1 - p), rtol=0, atol=1e-9)
    assert np.allclose(found.prior, np.log(part.prior), rtol=0, atol=1e-12)


def test_a_linear_learner_of_two_classes_gives_half_of_each_coefficient_to_either():
    part = fitted("LinearSVC").estimators_[0]
    found = weights(part)
    half = part.estimator.coef_[0] / 2
    assert np.array_equal(found.present, np.column_stack([-half, half]))
    assert not found.absent.any()
    assert np.array_equal(found.prior, part.estimator.intercept_ / 2 * [-1, 1])


def test_sparse_coefficients_are_read_as_well():
    part = fitted(SGDClassifier(random_state=0)).estimators_[0]
    dense = weights(part)
    part.estimator.sparsify()
    assert np.array_equal(weights(part).present, dense.present)
    part.estimator.densify()


@pytest.mark.parametrize("multiclass", MULTICLASS)
def test_without_smoothing_terms_are_infinite_and_the_scores_are_those_of_the_learner(multiclass):
    model = fitted(multiclass=multiclass, smoothing=0)
    M = covered(model)
    infinite = False
    for part, columns in zip(model.estimators_, model.columns_, strict=True):
        found = weights(part)
        infinite |= bool(np.isinf(found.present).any())
        scores = np.array([*map(found.scores, M[:200, columns])])
        assert not np.isnan(scores).any()
        assert np.allclose(
            scores, part.estimator._scores(M[:200, columns].astype(float)), rtol=0, atol=1e-9
        )
    assert infinite


def test_a_model_without_patterns_has_the_prior_only():
    X, y = rx.from_lists([["a"], ["a"], ["a"]], ["x", "x", "y"])
    with pytest.warns(UserWarning, match="the prior decides"):
        model = rx.LynxClassifier(max_length=1).fit(X, y)
    part = model.estimators_[0]
    found = weights(part)
    assert found.present.shape == found.absent.shape == (0, 2)
    assert np.allclose(found.scores(np.empty(0, bool)), np.log([2 / 3, 1 / 3]))
    assert learner_name(part) is None


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(5, random_state=0),
        SVC(),
        make_pipeline(Normalizer(), LinearSVC()),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
    ],
)
def test_other_learners_have_no_weights(learner):
    assert all(weights(part) is None for part in fitted(learner).estimators_)


def test_coefficients_that_are_not_those_of_the_classes_are_not_taken_for_them():
    lists = [["a"], ["a"], ["b"], ["b"], ["a", "b"], ["a", "b"]]
    X, y = rx.from_lists(lists, [*"xxyyzz"])
    model = rx.LynxClassifier(
        max_length=1, selection=None, multiclass="single", final_estimator=SVC(kernel="linear")
    ).fit(X, y)
    assert model.estimators_[0].estimator.coef_.shape == (3, 2)
    assert weights(model.estimators_[0]) is None


def test_shares_of_zero_and_one_of_another_naive_bayes_have_no_weights():
    X, y = rx.from_lists([["a"], ["a"], ["b"], ["b"]], [*"xxyy"])
    model = rx.LynxClassifier(
        max_length=1, selection=None, final_estimator=BernoulliNB(alpha=1e-20)
    ).fit(X, y)
    assert weights(model.estimators_[0]) is None


def test_a_threshold_that_no_value_passes_makes_every_pattern_absent():
    model = fitted(rx.PatternNB(threshold=2.0))
    found = weights(model.estimators_[0])
    assert np.array_equal(found.present, found.absent)


@pytest.mark.parametrize("multiclass", MULTICLASS)
@pytest.mark.parametrize("learner", ["naive Bayes", "LinearSVC"])
def test_the_class_of_a_row_is_that_of_the_sequence(learner, multiclass):
    model = fitted(learner, multiclass)
    codes = model.codes(1.0 * covered(model))
    assert np.array_equal(model.classes_[codes], model.predict(folds().X))


def test_a_learner_goes_by_the_name_of_the_last_step():
    assert learner_name(fitted("scaled").estimators_[0]) == "LogisticRegression"
    assert learner_name(fitted().estimators_[0]) == "PatternNB"
