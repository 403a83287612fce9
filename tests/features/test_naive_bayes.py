"""`PatternNB` against exact fractions and scikit-learn, and what it says to wrong input."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB
from sklearn.utils.estimator_checks import check_estimator

from relynx import PatternNB
from relynx.errors import InputError

TENTH = Fraction(1, 10)


@st.composite
def labelled(draw, most_rows=9, most_columns=3, most_classes=3):
    """A 0/1 matrix, labels of every class, and rows to ask about."""
    n_classes = draw(st.integers(2, most_classes))
    n_rows = draw(st.integers(n_classes, most_rows))
    n_columns = draw(st.integers(1, most_columns))
    rest = [draw(st.integers(0, n_classes - 1)) for _ in range(n_rows - n_classes)]
    bits = st.lists(st.integers(0, 1), min_size=n_columns, max_size=n_columns)
    X = draw(st.lists(bits, min_size=n_rows, max_size=n_rows))
    asked = draw(st.lists(bits, min_size=1, max_size=4))
    return np.array(X), np.array([*range(n_classes), *rest]), np.array(asked)


def exact(X, y, row, smoothing):
    """For each class the power of a vanishing smoothing and the factor, and the prior."""
    scores, priors = [], []
    for c in range(max(y) + 1):
        n = sum(label == c for label in y)
        power, factor = 0, Fraction(n, len(y))
        priors.append(factor)
        for i, x in enumerate(row):
            covered = sum(X[s][i] for s in range(len(y)) if y[s] == c)
            count = covered if x else n - covered
            if smoothing == 0 and count == 0:
                power, factor = power + 1, factor / n
            else:
                factor *= (count + smoothing) / (n + 2 * smoothing)
        scores.append((power, factor))
    return scores, priors


def exact_posterior(X, y, row, smoothing):
    scores, _ = exact(X, y, row, smoothing)
    least = min(power for power, _ in scores)
    kept = [factor if power == least else Fraction(0) for power, factor in scores]
    return [factor / sum(kept) for factor in kept]


def exact_class(X, y, row, smoothing):
    scores, priors = exact(X, y, row, smoothing)
    return min(range(len(scores)), key=lambda c: (scores[c][0], -scores[c][1], -priors[c], c))


@given(labelled(), st.sampled_from([TENTH, Fraction(0), Fraction(1), Fraction(1, 2)]))
def test_posteriors_are_those_of_exact_fractions(data, smoothing):
    X, y, asked = data
    posteriors = PatternNB(float(smoothing)).fit(X, y).predict_proba(asked)
    for row, posterior in zip(asked.tolist(), posteriors, strict=True):
        expected = exact_posterior(X.tolist(), y.tolist(), row, smoothing)
        assert posterior == pytest.approx([float(p) for p in expected], rel=1e-12)


@given(labelled(), st.sampled_from([TENTH, Fraction(0), Fraction(1), Fraction(1, 2)]))
def test_the_class_is_that_of_exact_fractions_ties_included(data, smoothing):
    X, y, asked = data
    classes = PatternNB(float(smoothing)).fit(X, y).predict(asked)
    expected = [exact_class(X.tolist(), y.tolist(), row, smoothing) for row in asked.tolist()]
    assert classes.tolist() == expected


@given(
    labelled(),
    st.sampled_from([5e-324, 1e-320, 1e-300, 1e-13, 1e13, 1e300, 1e308, sys.float_info.max]),
)
def test_a_smoothing_at_the_ends_of_all_numbers_gives_the_posteriors_of_fractions(data, smoothing):
    X, y, asked = data
    model = PatternNB(smoothing).fit(X, y)
    for row, posterior in zip(asked.tolist(), model.predict_proba(asked), strict=True):
        expected = exact_posterior(X.tolist(), y.tolist(), row, Fraction(smoothing))
        assert posterior == pytest.approx([float(p) for p in expected], rel=1e-9, abs=1e-300)
    assert np.isfinite(model.decision_function(asked)).all()
    assert np.isfinite(model.alpha_).all()
    assert np.isfinite(model.beta_0_).all()


@given(
    labelled(most_rows=30, most_columns=8, most_classes=4),
    st.sampled_from([1e-4, 0.01, 0.1, 1.0, 5.0]),
    st.booleans(),
)
def test_it_is_bernoulli_naive_bayes_for_a_smoothing_above_0(data, smoothing, uniform):
    X, y, asked = data
    ours = PatternNB(smoothing, prior="uniform" if uniform else "empirical").fit(X, y)
    theirs = BernoulliNB(alpha=smoothing, fit_prior=not uniform).fit(X, y)
    assert ours.predict_log_proba(asked) == pytest.approx(
        theirs.predict_log_proba(asked), rel=1e-9, abs=1e-9
    )
    assert np.log(ours.feature_probability_) == pytest.approx(theirs.feature_log_prob_)


@given(labelled(), st.lists(st.integers(1, 4), min_size=9, max_size=9))
def test_a_weight_is_a_number_of_copies(data, weights):
    X, y, asked = data
    weights = weights[: len(y)]
    weighted = PatternNB().fit(X, y, sample_weight=weights)
    copied = PatternNB().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.predict_proba(asked) == pytest.approx(copied.predict_proba(asked))


@given(labelled(most_rows=20, most_columns=6), st.sampled_from([0, 0.1]))
def test_a_sparse_matrix_gives_what_a_dense_one_gives(data, smoothing):
    X, y, asked = data
    dense = PatternNB(smoothing).fit(X, y)
    sparse = PatternNB(smoothing).fit(sp.csr_matrix(X), y)
    assert sparse.predict_proba(sp.csr_matrix(asked)) == pytest.approx(dense.predict_proba(asked))
    assert sparse.alpha_.tolist() == dense.alpha_.tolist()


@given(labelled(most_classes=4))
def test_the_scores_are_the_weights_of_what_is_present(data):
    X, y, asked = data
    model = PatternNB().fit(X, y)
    scores = asked @ model.alpha_.T + model.beta_0_
    if len(model.classes_) == 2:
        scores = scores[:, 1] - scores[:, 0]
    assert model.decision_function(asked) == pytest.approx(scores)


@given(labelled())
def test_smoothing_0_is_the_limit_of_small_smoothings(data):
    X, y, asked = data
    limit = PatternNB(0).fit(X, y).predict_proba(asked)
    assert limit == pytest.approx(PatternNB(1e-9).fit(X, y).predict_proba(asked), abs=1e-6)


def test_the_weights_of_shares_0_and_1_are_infinite_and_nothing_is_nan():
    model = PatternNB(0).fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    assert model.alpha_.tolist() == [[math.inf, 0.0], [-math.inf, math.inf]]
    assert model.beta_0_.tolist() == [-math.inf, -math.inf]
    assert model.feature_probability_.tolist() == [[1.0, 0.5], [0.0, 1.0]]
    assert model.decision_function([[1, 1], [0, 1]]).tolist() == [-math.inf, math.inf]


def test_ten_thousand_features_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.random((60, 10_000)) < 0.3 + 0.05 * y[:, None]
    for smoothing in (0, 0.1):
        model = PatternNB(smoothing).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))
        assert (model.predict(X) == y).all()


def test_a_tie_goes_to_the_larger_prior_and_then_to_the_first_class():
    X, y = [[1], [1], [1]], ["b", "a", "c"]
    assert PatternNB().fit(X, y).predict([[1]]).tolist() == ["a"]
    # Prior and likelihood cancel: 1/4 * 1 and 3/4 * 1/3.
    X, y = [[1], [1], [1], [0], [0]], ["a", "a", "b", "b", "b"]
    tied = PatternNB(0, prior=[0.25, 0.75]).fit(X, y)
    assert tied.predict_proba([[1]])[0] == pytest.approx([0.5, 0.5])
    assert tied.predict([[1]]).tolist() == ["b"]


def test_a_class_without_weight_is_never_predicted():
    model = PatternNB().fit([[1], [0], [1]], ["a", "b", "c"], sample_weight=[1, 1, 0])
    assert model.predict_proba([[1], [0]])[:, 2].tolist() == [0, 0]
    assert set(model.predict([[1], [0]])) == {"a", "b"}
    raw = PatternNB(0).fit([[1], [0], [1]], ["a", "b", "c"], sample_weight=[1, 1, 0])
    assert raw.predict([[1], [0]]).tolist() == ["a", "b"]


def test_the_prior_may_be_given():
    X, y = [[1], [0], [1], [0]], ["a", "a", "a", "b"]
    assert PatternNB().fit(X, y).class_prior_.tolist() == [0.75, 0.25]
    assert PatternNB(prior="uniform").fit(X, y).class_prior_.tolist() == [0.5, 0.5]
    assert PatternNB(prior=[0.1, 0.9]).fit(X, y).class_prior_.tolist() == [0.1, 0.9]


def test_a_value_above_the_threshold_is_present():
    X = np.array([[0.2, -1.0], [0.9, 3.0], [0.4, 0.0]])
    y = [0, 1, 0]
    for threshold in (0.0, 0.5):
        bits = np.greater(X, threshold)
        plain = PatternNB().fit(bits, y)
        ours = PatternNB(threshold=threshold).fit(X, y)
        sparse = PatternNB(threshold=threshold).fit(sp.csr_matrix(X), y)
        assert ours.feature_count_.tolist() == plain.feature_count_.tolist()
        assert sparse.feature_count_.tolist() == plain.feature_count_.tolist()
        assert ours.predict_proba(X).tolist() == plain.predict_proba(bits).tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_it_passes_the_checks_of_scikit_learn(smoothing):
    check_estimator(PatternNB(smoothing))


def message_of(model, X=((0, 1), (1, 0)), y=("a", "b"), **more):
    with pytest.raises(InputError) as caught:
        model.fit(X, y, **more)
    return str(caught.value)


def test_a_negative_smoothing_is_refused():
    hint = "\nhint: a number not below 0; 0 leaves the raw frequencies of the paper"
    assert message_of(PatternNB(-1)) == "smoothing is -1" + hint
    assert message_of(PatternNB("much")) == "smoothing is 'much'" + hint


def test_a_prior_that_is_none_is_refused():
    assert message_of(PatternNB(prior="flat")) == (
        "unknown prior 'flat'\nhint: one of empirical, uniform, or an array"
    )
    assert message_of(PatternNB(prior=[1.0])) == (
        "the prior has shape (1,), but there are 2 classes\n"
        "hint: give one number for each class, in the order of classes_"
    )
    assert message_of(PatternNB(prior=[0.0, 1.0])) == (
        "the prior [0.0, 1.0] is no distribution over the classes\n"
        "hint: all must be above 0, and their sum 1"
    )


@pytest.mark.parametrize("of", [np.asarray, sp.csr_matrix])
def test_without_threshold_the_first_value_that_is_neither_0_nor_1_is_named(of):
    X = of([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]])
    assert message_of(PatternNB(threshold=None), X, ["a", "b", "a"]) == (
        "row 1, column 1 is 0.5, neither 0 nor 1\n"
        "hint: give 0/1 columns, or a threshold above which a value counts as present"
    )
    model = PatternNB(threshold=None).fit(of([[0, 1], [1, 0]]), ["a", "b"])
    assert model.predict(of([[0, 1]])).tolist() == ["a"]


def test_a_threshold_that_fills_a_sparse_matrix_is_refused():
    X = sp.csr_matrix([[0, 1], [1, 0]])
    assert message_of(PatternNB(threshold=-1.0), X) == (
        "threshold -1.0 would make every zero of a sparse matrix present\n"
        "hint: use a threshold not below 0, or a dense matrix"
    )


def test_weights_that_do_not_fit_are_refused():
    assert message_of(PatternNB(), sample_weight=[1.0]) == (
        "sample_weight has 1 weight for 2 rows\nhint: give one weight for each row"
    )
    assert message_of(PatternNB(), sample_weight=[0, 0]) == (
        "sample_weight is zero for every row\nhint: give some row a weight above 0"
    )
