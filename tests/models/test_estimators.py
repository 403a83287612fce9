"""What every estimator of sequences must do: our own list, where scikit-learn's checks stop."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from relynx import (
    FisherKernelClassifier,
    FisherScores,
    LoHMMClassifier,
    LynxClassifier,
    PatternVectorizer,
    TildeCRFClassifier,
    from_lists,
    planted_rule,
)

QUICK = {"max_length": 2, "max_iter": 3, "max_features": 50, "n_features": 5, "random_state": 0}
ESTIMATORS = {
    "vectorizer": PatternVectorizer(max_length=2, min_support=0.3),
    "lynx": LynxClassifier(**QUICK | {"n_features": "validated"}),
    "lynx, all patterns": LynxClassifier(selection=None, **QUICK),
    "lynx, another learner": LynxClassifier(final_estimator=LogisticRegression(), **QUICK),
    "lynx, one model": LynxClassifier(multiclass="single", **QUICK),
    "lynx, optimal": LynxClassifier(method="optimal", max_length=2, random_state=0),
    "tildecrf": TildeCRFClassifier(max_iter=15, window=3),
    "tildecrf, held out": TildeCRFClassifier(max_iter=15, n_iter_no_change=5, random_state=0),
    "lohmm": LoHMMClassifier(blocks=1),
    "lohmm, hidden copies": LoHMMClassifier(n_hidden=2, blocks=2, max_iter=3, random_state=0),
    "fisher scores": FisherScores(n_hidden=2, max_iter=3, random_state=0),
    "fisher": FisherKernelClassifier(blocks=1, C=4.0),
    "fisher, rbf": FisherKernelClassifier(blocks=1, kernel="rbf", C=4.0, coordinates="raw"),
}
GRIDS = {
    LynxClassifier: ("max_length", [1, 2]),
    TildeCRFClassifier: ("max_iter", [0, 15]),
    LoHMMClassifier: ("pseudo_count", [1e9, 0.5]),
    FisherKernelClassifier: ("C", [1e-9, 4.0]),
}
CLASSIFIERS = [name for name, estimator in ESTIMATORS.items() if is_classifier(estimator)]
ONE_OF_A_KIND = ["lynx", "lynx, another learner", "tildecrf", "lohmm", "fisher"]


@pytest.fixture(scope="module")
def data():
    return rule_or_first()


@cache
def rule_or_first():
    """Three classes: the rule, else a0 at the beginning, else neither."""
    X, y = planted_rule(60, n_actions=3, n_objects=2, n_events=4, random_state=0)
    first = [one.atoms[3].args[1] for one in X]
    return X, np.where(y == "yes", "rule", np.where(np.array(first) == "a0", "a0", "none"))


@pytest.fixture(params=ESTIMATORS)
def name(request):
    return request.param


@cache
def learnt(name):
    return clone(ESTIMATORS[name]).fit(*rule_or_first())


@pytest.fixture
def fitted(name):
    """One for all tests, in whatever order they come: nobody may change it."""
    return learnt(name)


def answers(estimator, X):
    """All that an estimator says of some sequences, as dense arrays."""
    if not is_classifier(estimator):
        scores = estimator.transform(X)
        return [np.asarray(scores.todense() if sparse.issparse(scores) else scores)]
    said = ("predict", "predict_proba", "decision_function")
    return [getattr(estimator, method)(X) for method in said if hasattr(estimator, method)]


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other)


def test_init_stores_its_arguments_untouched(name):
    params = ESTIMATORS[name].get_params(deep=False)
    made = type(ESTIMATORS[name])(**params)
    assert all(made.get_params(deep=False)[key] is value for key, value in params.items())
    assert vars(made).keys() == params.keys()


def test_a_clone_has_the_same_parameters_and_learnt_nothing(fitted):
    copied = clone(fitted)
    assert repr(copied.get_params()) == repr(fitted.get_params())
    assert not [key for key in vars(copied) if key.endswith("_")]


def test_fit_returns_the_estimator_and_changes_neither_its_parameters_nor_its_input(name, data):
    X, y = copy.deepcopy(data[0][:30]), data[1][:30].copy()
    estimator = clone(ESTIMATORS[name])
    before = repr(estimator.get_params())
    assert estimator.fit(X, y) is estimator
    assert repr(estimator.get_params()) == before
    answers(estimator, X)
    assert data[0][:30] == X
    assert np.array_equal(data[1][:30], y)


def test_fitting_on_other_data_forgets_the_first(fitted, name, data):
    X, y = data
    again = clone(ESTIMATORS[name]).fit(X[:30], y[:30]).fit(X, y)
    assert_same(answers(again, X), answers(fitted, X))


def test_answers_do_not_depend_on_the_other_sequences(fitted, data):
    X, _ = data
    part = [7, 3, 3, 40, 0]
    for whole, some in zip(answers(fitted, X), answers(fitted, X[part]), strict=True):
        assert (
            np.allclose(whole[part], some)
            if whole.dtype.kind == "f"
            else (whole[part].tolist() == some.tolist())
        )


def test_answers_come_in_the_order_of_the_sequences(fitted, data):
    X, _ = data
    order = np.random.default_rng(0).permutation(len(X))
    for whole, mixed in zip(answers(fitted, X), answers(fitted, X[order]), strict=True):
        assert np.array_equal(whole[order], mixed)


def test_one_sequence_is_answered(fitted, data):
    X, _ = data
    for whole, one in zip(answers(fitted, X), answers(fitted, X[5]), strict=True):
        assert np.array_equal(whole[5:6], one)


def test_a_pickle_answers_the_same(fitted, data):
    again = pickle.loads(pickle.dumps(fitted))
    assert_same(answers(again, data[0]), answers(fitted, data[0]))


def test_an_estimator_that_is_not_fitted_says_so(name, data):
    methods = ("transform", "predict", "predict_proba", "decision_function", "patterns_")
    for method in (m for m in methods if hasattr(type(ESTIMATORS[name]), m)):
        with pytest.raises(NotFittedError, match="instance is not fitted yet"):
            getattr(clone(ESTIMATORS[name]), method)(data[0])


def test_two_workers_learn_the_same(fitted, name, data):
    other = clone(ESTIMATORS[name]).set_params(n_jobs=2).fit(*data)
    assert_same(answers(other, data[0]), answers(fitted, data[0]))
    if isinstance(fitted, TildeCRFClassifier | LoHMMClassifier):
        assert str(other) == str(fitted)
    elif isinstance(fitted, LynxClassifier):
        assert other.selected_ == fitted.selected_
        for one, twin in zip(other.estimators_, fitted.estimators_, strict=True):
            assert one.patterns == twin.patterns
            assert np.array_equal(one.selected, twin.selected)


def test_tags_say_that_sequences_are_no_two_dimensional_array(name):
    tags = get_tags(ESTIMATORS[name])
    assert not tags.input_tags.two_d_array
    assert tags.requires_fit
    assert tags.estimator_type == ("classifier" if name in CLASSIFIERS else None)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_are_sorted_and_predicted(name, data):
    X, y = data
    model = learnt(name)
    assert model.classes_.tolist() == ["a0", "none", "rule"]
    assert set(model.predict(X)) <= set(y)


@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_cross_validation_and_its_predictions_agree(name, data):
    X, y = data
    cv = StratifiedKFold(2, shuffle=True, random_state=0)
    scores = cross_val_score(ESTIMATORS[name], X, y, cv=cv)
    predicted = cross_val_predict(ESTIMATORS[name], X, y, cv=cv)
    parts = [np.mean(predicted[test] == y[test]) for _, test in cv.split(np.zeros(len(y)), y)]
    assert scores.tolist() == pytest.approx(parts)
    assert scores.mean() > 0.6


@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_grid_search_and_pipelines_take_it(name, data):
    X, y = data
    model = make_pipeline(clone(ESTIMATORS[name]))
    parameter, values = GRIDS[type(ESTIMATORS[name])]
    step = f"{type(ESTIMATORS[name]).__name__.lower()}__{parameter}"
    search = GridSearchCV(model, {step: values}, cv=2).fit(X, y)
    assert search.best_params_ == {step: values[-1]}
    assert search.predict(X).shape == (len(X),)


def test_the_vectorizer_stands_in_a_pipeline(data):
    X, y = data
    model = make_pipeline(ESTIMATORS["vectorizer"], LogisticRegression())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    assert sparse.issparse(model.fit(X, y)[:-1].transform(X))


LISTS = [["a", ("go", "x"), "b"], ["b", "c", ("go", "y"), "c"], [{"a", "c"}, "b", "b"]] * 4


def test_lists_are_taken_as_they_are(name):
    """Symbols, tuples and sets of them; no Sequences is needed."""
    y = ["up", "down", "up"] * 4
    X, _ = from_lists(LISTS)
    plain = clone(ESTIMATORS[name]).fit(LISTS, y)
    made = clone(ESTIMATORS[name]).fit(X, y)
    assert_same(answers(plain, LISTS), answers(made, X))
