"""How many patterns to select."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

from relynx.features import candidates
from relynx.features.candidates import Validation, best_columns
from relynx.features.grasp import GraspSelector


def noisy(seed, n=120, features=40):
    """A column that is right in nine of ten rows, among columns of noise."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) % 2
    M = (rng.random((n, features)) < 0.3).astype(np.uint8)
    M[:, 0] = np.where(rng.random(n) < 0.9, y, 1 - y)
    return M, y


def test_one_column_is_enough_where_the_others_are_noise():
    for seed in range(5):
        M, y = noisy(seed)
        assert Validation(GraspSelector(), M, y, seed=0).best_size() == 1


def test_many_columns_are_taken_where_each_tells_a_little():
    rng = np.random.default_rng(0)
    y = rng.permutation(300) % 2
    M = (rng.random((300, 60)) < 0.35 + 0.3 * y[:, None]).astype(np.uint8)
    size = Validation(GraspSelector(), M, y, seed=0).best_size()
    assert size is None or size >= 8
    few = BernoulliNB().fit(M[:150, :1], y[:150]).score(M[150:, :1], y[150:])
    assert BernoulliNB().fit(M[:150], y[:150]).score(M[150:], y[150:]) > few + 0.2


def test_a_seed_gives_one_answer_and_the_selector_is_left_alone():
    M, y = noisy(1)
    selector = GraspSelector(max_iter=20, random_state=3)
    before = selector.get_params()
    assert (
        Validation(selector, M, y, seed=4).best_size()
        == Validation(selector, M, y, seed=4).best_size()
    )
    assert selector.get_params() == before
    assert not hasattr(selector, "support_")


def test_a_class_of_one_sequence_leaves_the_number_free():
    M, y = noisy(0)
    assert (
        Validation(GraspSelector(), M, np.r_[1, np.zeros(len(y) - 1, int)], seed=0).best_size()
        is None
    )


def test_balanced_errors_count_classes_alike():
    rng = np.random.default_rng(2)
    y = np.r_[np.zeros(100, int), np.ones(20, int)]
    M = (rng.random((120, 10)) < 0.5).astype(np.uint8)
    M[:, 3] = (rng.random(120) < np.where(y == 1, 0.9, 0.25)).astype(np.uint8)
    selector = GraspSelector(objective="balanced", prior="uniform")
    assert Validation(selector, M, y, seed=0).best_size() == 1


def test_the_number_is_below_that_of_the_columns_or_free():
    M, y = noisy(0, features=3)
    assert Validation(GraspSelector(), M, y, seed=0).best_size() in (1, 2, None)


def test_labels_that_are_left_out_have_no_say_in_the_columns(monkeypatch):
    seen = []
    real = candidates.best_columns

    def spy(M, y, measure, most):
        columns = real(M, y, measure, most)
        seen.append((M, y, columns))
        return columns

    monkeypatch.setattr(candidates, "best_columns", spy)
    M, y = noisy(0, features=30)
    Validation(GraspSelector(2), M, y, seed=0, most=5).best_size()
    assert len(seen) == 5
    for rows, labels, columns in seen:
        assert len(rows) == len(labels) == 96
        assert len(columns) == 5
    assert len({tuple(columns.tolist()) for _, _, columns in seen}) > 1


def test_chance_finds_of_all_labels_do_not_make_a_large_set_look_good():
    # Of 3,000 columns of noise the 300 that fit all labels best look good in every part.
    rng = np.random.default_rng(0)
    y = rng.permutation(100) % 2
    M = (rng.random((100, 3000)) < 0.3).astype(np.uint8)
    M[:, 0] = np.where(rng.random(100) < 0.9, y, 1 - y)
    M = M[:, best_columns(M, y, "chi2", 1200)]
    assert Validation(GraspSelector(10), M, y, seed=0, most=300).best_size() == 1


def many_weak(seed=0, n=200, features=150):
    """Columns of which each says a little, in pairs of copies that mislead naive Bayes."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=features // 3)
    base = (rng.random((n, features // 3)) < 0.5).astype(np.uint8)
    y = ((base - 0.5) @ w > 0).astype(np.int64)
    return np.hstack([base, base, base]), y


def test_a_learner_on_all_columns_is_taken_where_it_is_clearly_better():
    M, y = many_weak()
    learner = LogisticRegression(max_iter=1000)
    assert Validation(GraspSelector(), M, y, seed=0).better_on_all(learner, 1)


def test_a_learner_on_all_columns_is_not_taken_where_one_column_is_as_good():
    for seed in range(5):
        M, y = noisy(seed)
        learner = LogisticRegression(max_iter=1000)
        assert not Validation(GraspSelector(), M, y, seed=0).better_on_all(learner, 1)


def test_where_naive_bayes_makes_no_error_no_other_learner_is_asked():
    M, y = noisy(0)
    M[:, 1] = y
    assert not Validation(GraspSelector(), M, y, seed=0).better_on_all(None, 1)


def test_of_a_class_of_one_sequence_nothing_is_said_of_other_learners():
    M, y = noisy(0)
    y = np.r_[1, np.zeros(len(y) - 1, int)]
    assert not Validation(GraspSelector(), M, y, seed=0).better_on_all(None, None)
