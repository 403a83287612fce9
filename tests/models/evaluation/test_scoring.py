"""Measures against scikit-learn, and intervals against their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from relynx import InputError
from relynx.models.evaluation.measures import (
    MEASURES,
    Answers,
    class_measures,
    draws,
    measures_named,
    over_draws,
    over_folds,
    value_of,
)


@st.composite
def answers(draw):
    k, n = draw(st.integers(2, 4)), draw(st.integers(6, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    true = rng.permutation(np.append(np.arange(k), rng.integers(0, k, n - k)))
    chances = rng.integers(1, 5, (n, k)).astype(float)  # with ties
    chances /= chances.sum(axis=1, keepdims=True)
    weights = rng.integers(0, 3, n) + np.isin(
        np.arange(n), [np.flatnonzero(true == c)[0] for c in range(k)]
    )
    return Answers(true, rng.integers(0, k, n), k, chances, True), weights.astype(float)


def reference(told, weights):
    """The measures of scikit-learn, with weights."""
    how = {"sample_weight": weights}
    chances = told.scores[:, 1] if told.n_classes == 2 else told.scores
    areas = [
        metrics.roc_auc_score(told.true == c, told.scores[:, c], **how)
        for c in range(told.n_classes)
    ]
    if (weights == 1).all() and told.n_classes > 2:
        assert np.mean(areas) == pytest.approx(
            metrics.roc_auc_score(told.true, chances, multi_class="ovr")
        )
    return {
        "accuracy": metrics.accuracy_score(told.true, told.predicted, **how),
        "balanced_accuracy": metrics.balanced_accuracy_score(told.true, told.predicted, **how),
        "auc": np.mean(areas),
        "f1": metrics.f1_score(told.true, told.predicted, average="macro", zero_division=0, **how),
        "log_loss": metrics.log_loss(told.true, told.scores, **how),
    }


@given(answers())
def test_measures_are_those_of_scikit_learn_also_with_weights(case):
    told, weights = case
    for some in (weights, np.ones(len(weights))):
        wanted = reference(told, some)
        for name, measure in MEASURES.items():
            found = measure.compute(told, np.stack([some, 2 * some]))
            assert found == pytest.approx([wanted[name]] * 2), name


@given(answers())
def test_precision_recall_and_f1_of_each_class_are_those_of_scikit_learn(case):
    told, weights = case
    wanted = metrics.precision_recall_fscore_support(
        told.true,
        told.predicted,
        labels=range(told.n_classes),
        zero_division=0,
        sample_weight=weights,
    )
    found = class_measures(told, weights[None])
    for name, values in zip(("precision", "recall", "F1"), wanted, strict=False):
        assert found[name][0] == pytest.approx(values)


def test_without_scores_there_is_no_auc_and_without_probabilities_no_log_loss():
    true = np.array([0, 1, 0, 1])
    assert np.isnan(value_of("auc", Answers(true, true, 2)))
    scored = Answers(true, true, 2, np.stack([-true, true], axis=1).astype(float))
    assert value_of("auc", scored) == 1
    assert np.isnan(value_of("log_loss", scored))


def test_classes_that_do_not_occur_in_a_test_part_are_left_out_of_means():
    told = Answers(np.array([0, 0, 1]), np.array([0, 0, 1]), 3, np.eye(3)[[0, 0, 1]], True)
    for name in ("accuracy", "balanced_accuracy", "auc", "f1"):
        assert value_of(name, told) == 1
    one_class = Answers(np.array([0, 0]), np.array([0, 0]), 2, np.eye(2)[[0, 1]], True)
    assert np.isnan(value_of("auc", one_class))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10), st.floats(0.05, 1))
def test_the_interval_of_folds_is_that_of_nadeau_and_bengio(values, ratio):
    found = over_folds(np.array(values), ratio, -np.inf, np.inf)
    k = len(values)
    variance = (1 / k + ratio) * np.var(values, ddof=1)
    width = stats.t.ppf(0.975, k - 1) * np.sqrt(variance)
    mean = np.mean(values)
    assert [found.value, found.low, found.high] == pytest.approx([mean, mean - width, mean + width])
    inside = over_folds(np.array(values), ratio, 0, 1)
    assert 0 <= inside.low <= inside.high <= 1


def test_folds_without_a_value_are_left_out_and_one_value_has_no_interval():
    found = over_folds(np.array([0.5, np.nan]), 0.1, 0, 1)
    assert (found.value, np.isnan(found.low)) == (0.5, True)
    assert np.isnan(over_folds(np.array([np.nan]), 0.1, 0, 1).value)


def test_a_bootstrap_of_an_accuracy_has_the_interval_of_a_binomial():
    true = np.zeros(400, int)
    told = Answers(true, (np.arange(400) < 100).astype(int), 2)
    drawn = MEASURES["accuracy"].compute(told, draws(np.arange(400)))
    found = over_draws(0.75, drawn)
    low, high = stats.binom.interval(0.95, 400, 0.75)
    assert [found.low, found.high] == pytest.approx([low / 400, high / 400], abs=0.01)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_sequences_of_a_group_are_drawn_together(groups):
    units = np.unique(groups, return_inverse=True)[1]
    weights = draws(units)
    assert weights.shape[1] == len(groups)
    for unit in set(units.tolist()):
        mine = weights[:, units == unit]
        assert (mine == mine[:, :1]).all()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("accuracy,acuracy", "there is no measure 'acuracy'\nhint: did you mean 'accuracy'?"),
        (
            ["kappa"],
            "there is no measure 'kappa'\n"
            "hint: give some of accuracy,balanced_accuracy,auc,f1,log_loss",
        ),
        (
            " , ",
            "no measure is given\nhint: give some of accuracy,balanced_accuracy,auc,f1,log_loss",
        ),
    ],
)
def test_measures_that_are_none_are_refused(names, message):
    with pytest.raises(InputError) as caught:
        measures_named(names)
    assert str(caught.value) == message


def test_measures_are_named_with_commas_or_as_a_list():
    assert measures_named("auc, accuracy,auc") == ("auc", "accuracy")
    assert measures_named(["f1"]) == ("f1",)
