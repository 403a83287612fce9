"""Cross-validation: what is held out, what is learnt from, and what is counted."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from relynx import InputError, LynxClassifier, from_lists, planted_rule
from relynx.models.evaluation.baselines import baselines
from relynx.models.evaluation.cross_validation import cross_validate, splits


class Echo(ClassifierMixin, BaseEstimator):
    """Predicts the class of a sequence that it has seen, and 'new' for others."""

    def __init__(self, random_state=None, warn=False):
        self.random_state = random_state
        self.warn = warn

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = dict(zip(X.ids.tolist(), y.tolist(), strict=True))
        if self.warn:
            warnings.warn("odd data", UserWarning, stacklevel=2)
        return self

    def predict(self, X):
        fallback = "u" if self.random_state is None else f"seed{self.random_state}"
        return np.array([self.known_.get(name, fallback) for name in X.ids.tolist()])


def data(n=12):
    return from_lists([["a"]] * n, ["u", "v"] * (n // 2))


@given(st.integers(2, 5), st.integers(0, 9), st.integers(10, 40))
def test_every_sequence_is_held_out_once_and_each_fold_has_its_share_of_each_class(folds, seed, n):
    y = np.array(["u", "v"] * n)
    parts = list(splits(y, folds=folds, seed=seed))
    assert len(parts) == folds
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(2 * n))
    for train, test in parts:
        assert not set(train.tolist()) & set(test.tolist())
        assert len(train) + len(test) == 2 * n
        assert abs((y[test] == "u").sum() - n / folds) < 1


@given(st.integers(2, 4), st.integers(0, 9))
def test_no_group_is_split(folds, seed):
    y, groups = np.array(["u", "v"] * 20), np.arange(40) // 4
    for train, test in splits(y, folds=folds, groups=groups, seed=seed):
        assert len(test)
        assert not set(groups[train].tolist()) & set(groups[test].tolist())


def test_another_seed_makes_other_folds_and_the_same_seed_the_same():
    y = np.array(["u", "v"] * 20)
    first, again, other = (
        [test.tolist() for _, test in splits(y, folds=4, seed=seed)] for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_nothing_is_learnt_from_the_part_that_is_held_out():
    X, y = data()
    result = cross_validate(Echo(random_state=7), X, y, folds=3)
    assert {name for fold in result.folds for name in fold.predicted.tolist()} == {"seed7"}
    assert result.mean == 0


def test_an_estimator_without_a_seed_gets_that_of_the_folds():
    X, y = data()
    result = cross_validate(Echo(), X, y, folds=2, seeds=(3, 4))
    assert [fold.predicted[0] for fold in result.folds] == ["seed3", "seed3", "seed4", "seed4"]


def test_the_confusion_matrix_counts_classes_against_predictions():
    X, y = from_lists([["a"], ["b"], ["b"]] * 6, ["u", "v", "u"] * 6)
    result = cross_validate(baselines(X)["largest class"], X, y, folds=3, seeds=(0, 1))
    assert result.classes.tolist() == ["u", "v"]
    assert result.confusion.tolist() == [[24, 0], [12, 0]]


def test_mean_and_spread_are_those_of_the_seeds():
    X, y = planted_rule(40, random_state=3)
    result = cross_validate(baselines(X)["Markov chain"], X, y, folds=4, seeds=(0, 1, 2))
    assert result.accuracies.shape == (3, 4)
    means = result.accuracies.mean(axis=1)
    assert result.mean == pytest.approx(means.mean())
    assert result.spread == pytest.approx(np.std(means, ddof=1))
    assert result.spread > 0
    assert result.seconds == pytest.approx(sum(fold.seconds for fold in result.folds))
    one = cross_validate(baselines(X)["Markov chain"], X, y, folds=4)
    assert one.spread == 0


def test_the_answer_is_the_same_for_two_processes():
    X, y = planted_rule(30, random_state=0)
    model = LynxClassifier(max_length=1, max_iter=2)
    one, two = (cross_validate(model, X, y, folds=3, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.confusion, two.confusion)
    assert all(
        np.array_equal(a.predicted, b.predicted) for a, b in zip(one.folds, two.folds, strict=True)
    )


def test_some_folds_alone_are_what_they_are_among_all():
    X, y = data()
    whole = cross_validate(Echo(), X, y, folds=4)
    some = cross_validate(Echo(), X, y, folds=4, only=[2, 4])
    assert [fold.number for fold in some.folds] == [2, 4]
    for fold in some.folds:
        assert fold.test.tolist() == whole.folds[fold.number - 1].test.tolist()
        assert fold.predicted.tolist() == whole.folds[fold.number - 1].predicted.tolist()


def test_progress_is_told_of_each_fold_in_order():
    X, y = data()
    seen = []
    cross_validate(Echo(), X, y, folds=3, progress=lambda fold: seen.append(fold.number))
    assert seen == [1, 2, 3]


def test_what_the_folds_warn_of_is_said_once():
    X, y = data()
    with pytest.warns(UserWarning, match="odd") as caught:
        cross_validate(Echo(warn=True), X, y, folds=3)
    assert [str(one.message) for one in caught] == ["in 3 of 3 folds: odd data"]


@pytest.mark.parametrize(
    ("labels", "folds", "groups", "message"),
    [
        ("uuvv", 1, None, "folds is 1\nhint: give 2 or more"),
        (
            "uuuu",
            2,
            None,
            "all sequences are of one class, 'u'\nhint: give sequences of at least two classes",
        ),
        (
            "uuuv",
            2,
            None,
            "the class v has 1 sequence, too few for 2 folds\n"
            "hint: give fewer folds, or leave out the class",
        ),
        ("uuvv", 2, "abc", "3 groups for 4 sequences\nhint: give one group for each sequence"),
        ("uuvv", 2, "aaaa", "1 group cannot make 2 folds\nhint: give fewer folds"),
    ],
)
def test_folds_that_cannot_be_made_are_refused(labels, folds, groups, message):
    with pytest.raises(InputError) as caught:
        list(splits(np.array([*labels]), folds=folds, groups=groups))
    assert str(caught.value) == message


def test_a_class_that_is_all_in_one_group_is_told():
    y = np.array(["a", "b"] * 6 + ["c"] * 4)
    groups = [*range(12), *["all"] * 4]
    with pytest.raises(InputError) as caught:
        list(splits(y, folds=3, groups=groups))
    said = str(caught.value)
    number = next(n for n in "123" if f"fold {n}" in said)
    assert said == (
        f"all sequences of the class c are in groups of fold {number}\n"
        "hint: it cannot be learnt then: give fewer folds or smaller groups, or leave it out"
    )


def test_there_must_be_a_label_for_each_sequence():
    X, y = planted_rule(20, random_state=0)
    with pytest.raises(InputError) as caught:
        cross_validate(baselines(X)["Markov chain"], X, y[:10], folds=2)
    assert str(caught.value) == (
        "10 labels in y for 20 sequences in X\nhint: give one label for each sequence"
    )
