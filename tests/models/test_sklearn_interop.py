"""scikit-learn's own tools take `Sequences` as X, as they are."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.multiclass import type_of_target

from relynx import covers, from_lists, parse_pattern


class Covered(ClassifierMixin, BaseEstimator):
    """Answers `yes` for what a pattern covers."""

    def __init__(self, pattern="a(X)"):
        self.pattern = pattern

    def fit(self, X, y):
        assert len(X) == len(y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(covers(parse_pattern(self.pattern), X), "yes", "no")


class Columns(TransformerMixin, BaseEstimator):
    """One 0/1 column for each pattern."""

    def __init__(self, patterns=("a(X)", "b(X)")):
        self.patterns = patterns

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        hits = [covers(parse_pattern(pattern), X) for pattern in self.patterns]
        return np.column_stack(hits).astype(int)


@pytest.fixture
def data():
    """Forty sequences; those with `a` right before `b` are of class yes."""
    rng = np.random.default_rng(0)
    lists = [rng.choice(list("abc"), size=5).tolist() for _ in range(40)]
    labels = ["yes" if "ab" in "".join(one) else "no" for one in lists]
    return from_lists(lists, labels)


def test_the_shape_is_the_number_of_sequences(data):
    X, y = data
    assert X.shape == (40,) == y.shape


def test_text_labels_are_a_target_that_scikit_learn_knows(data):
    assert type_of_target(data[1]) == "binary"


def test_integer_labels_are_a_target_that_scikit_learn_knows():
    _, y = from_lists([["a"], ["b"], ["a"]], [0, 1, 2])
    assert type_of_target(y) == "multiclass"


def test_train_test_split_keeps_sequences_and_labels_together(data):
    X, y = data
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=3, stratify=y)
    assert type(X_train) is type(X_test) is type(X)
    assert (len(X_train), len(X_test)) == (30, 10)
    assert X_train.labels.tolist() == y_train.tolist()
    assert X_test.labels.tolist() == y_test.tolist()
    assert sorted([*X_train.ids, *X_test.ids]) == sorted(X.ids)


def test_cross_val_score_asks_the_held_out_sequences(data):
    X, y = data
    rule = Covered("a(X), next_s(X,Y), b(Y)")
    assert cross_val_score(rule, X, y, cv=4).tolist() == [1.0] * 4


def test_cross_val_predict_returns_answers_in_the_order_of_x(data):
    X, y = data
    cv = StratifiedKFold(5, shuffle=True, random_state=1)
    rule = Covered("a(X), next_s(X,Y), b(Y)")
    assert cross_val_predict(rule, X, y, cv=cv).tolist() == y.tolist()


def test_groups_split_sequences(data):
    X, y = data
    groups = np.arange(40) % 4
    scores = cross_val_score(Covered("a(X)"), X, y, cv=GroupKFold(4), groups=groups)
    rule = covers(parse_pattern("a(X)"), X)
    expected = [np.mean((rule == (y == "yes"))[groups == g]) for g in range(4)]
    assert sorted(scores.tolist()) == pytest.approx(sorted(expected))


def test_grid_search_finds_the_pattern_that_decides(data):
    X, y = data
    patterns = ["a(X)", "b(X)", "a(X), next_s(X,Y), b(Y)"]
    search = GridSearchCV(Covered(), {"pattern": patterns}, cv=4).fit(X, y)
    assert search.best_params_ == {"pattern": patterns[2]}
    assert search.best_score_ == 1.0


def test_a_pipeline_turns_sequences_into_columns(data):
    X, y = data
    model = make_pipeline(Columns(("a(X), next_s(X,Y), b(Y)", "c(X)")), BernoulliNB())
    assert cross_val_score(model, X, y, cv=4).tolist() == [1.0] * 4


def test_scikit_learns_own_estimator_takes_sequences(data):
    X, y = data
    dummy = DummyClassifier(strategy="most_frequent").fit(X, y)
    assert dummy.predict(X).shape == (40,)
