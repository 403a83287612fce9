"""Patterns as columns."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from relynx import (
    DataError,
    PatternVectorizer,
    Sequences,
    covers,
    from_lists,
    mine,
    parse_atom,
    parse_bias,
    planted_rule,
)
from relynx.features import vectorizer as module

LISTS = [["a", "b"], ["a", "c", "b"], ["b", "a"], ["c"]]
Y = ["up", "up", "down", "down"]
symbols = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@pytest.fixture
def fitted():
    return PatternVectorizer(min_support=0.5, max_length=2).fit(LISTS, Y)


@given(st.lists(symbols, min_size=1, max_size=6), st.booleans())
def test_every_cell_says_whether_the_pattern_covers_the_sequence(new, object_identity):
    vectorizer = PatternVectorizer(max_length=2, object_identity=object_identity).fit(LISTS, Y)
    X, _ = from_lists(new)
    matrix = vectorizer.transform(X).toarray()
    assert matrix.shape == (len(new), len(vectorizer.patterns_))
    for column, pattern in zip(matrix.T, vectorizer.patterns_.patterns(), strict=True):
        assert column.tolist() == covers(pattern, X, object_identity).tolist()


def test_the_patterns_are_those_of_the_search():
    X, y = planted_rule(60, random_state=0)
    options = {"min_support": 0.3, "min_frequency": 5, "max_length": 2, "max_gap": 3}
    options |= {"min_confidence": 0.6, "object_identity": False, "top_k": 20, "measure": "chi2"}
    assert PatternVectorizer(**options).fit(X, y).patterns_ == mine(X, y, **options)


def test_what_is_fitted_and_transformed_at_once_is_the_same(fitted):
    both = clone(fitted).fit_transform(LISTS, Y)
    assert (both != fitted.transform(LISTS)).nnz == 0


def test_the_matrix_is_sparse_and_of_floats(fitted):
    matrix = fitted.transform(LISTS)
    assert sparse.issparse(matrix)
    assert matrix.format == "csr"
    assert matrix.dtype == np.float64
    assert set(matrix.data.tolist()) == {1.0}


def test_many_patterns_are_matched_some_at_a_time(fitted, monkeypatch):
    whole = fitted.transform(LISTS).toarray()
    monkeypatch.setattr(module, "CELLS", 3 * len(LISTS))
    assert np.array_equal(fitted.transform(LISTS).toarray(), whole)


def test_names_are_the_patterns_as_text(fitted):
    assert fitted.get_feature_names_out().tolist() == [str(e) for e in fitted.patterns_]


def test_sequences_with_unseen_predicates_constants_and_events_are_transformed():
    X, y = from_lists([[("do", "a")], [("do", "b")]], ["yes", "no"])
    vectorizer = PatternVectorizer(max_length=1).fit(X, y)
    new = Sequences.from_atoms(
        [[parse_atom("do(z9,a)"), parse_atom("is(z9,7)")], [parse_atom("is(e1,c)")], []]
    )
    names = vectorizer.get_feature_names_out().tolist()
    rows = vectorizer.transform(new).toarray()
    assert rows[:, names.index("do(A,a)")].tolist() == [1, 0, 0]
    assert not rows[1:].any()


def test_classes_are_optional():
    assert len(PatternVectorizer(max_length=1).fit(LISTS).patterns_) == 3


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_come_on_demand(fitted, library):
    frame = fitted.set_output(transform=library).transform(LISTS)
    assert type(frame).__module__.split(".")[0] == library
    assert list(frame.columns) == fitted.get_feature_names_out().tolist()
    fitted.set_output(transform="default")
    assert np.array_equal(frame.to_numpy(), fitted.transform(LISTS).toarray())


def test_a_clone_gives_the_same_kind_of_output(fitted):
    copy = clone(fitted.set_output(transform="pandas")).fit(LISTS, Y)
    assert hasattr(copy.transform(LISTS), "columns")


def test_the_setting_of_scikit_learn_as_a_whole_is_heard(fitted):
    with sklearn.config_context(transform_output="pandas"):
        assert hasattr(fitted.transform(LISTS), "columns")
        fitted.set_output(transform="default")
        assert sparse.issparse(fitted.transform(LISTS))


def test_nothing_found_is_a_warning_that_says_what_to_loosen():
    X, y = from_lists([["a"], ["b"], ["c"]], ["yes", "yes", "yes"])
    with pytest.warns(UserWarning, match="no pattern was found") as caught:
        vectorizer = PatternVectorizer(min_support=0.5, max_length=1).fit(X, y)
    seen = vectorizer.patterns_.explain_search()
    assert "min_support=0.3333 would keep more" in seen
    assert str(caught[0].message) == f"no pattern was found; this is what the search saw:\n{seen}"
    assert caught[0].filename == __file__
    assert vectorizer.transform(X).shape == (3, 0)
    assert vectorizer.get_feature_names_out().tolist() == []


def test_a_search_that_finds_something_does_not_warn(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(fitted).fit(LISTS, Y)


def test_the_bias_and_its_settings_are_used():
    bias = parse_bias("type(a(event)). mode(a(+)). dimension(next_s). maxsize(1).")
    vectorizer = PatternVectorizer(bias).fit(LISTS, Y)
    assert vectorizer.get_feature_names_out().tolist() == ["a(A)"]
    assert vectorizer.bias_ == bias


def test_a_pipeline_mines_inside_each_training_part():
    X, y = planted_rule(80, random_state=0)
    seen = []

    class Spy(PatternVectorizer):
        def fit(self, X, y=None):
            seen.append(sorted(X.ids))
            return super().fit(X, y)

    model = make_pipeline(Spy(max_length=2, min_confidence=0.9, min_support=0.5), BernoulliNB())
    assert cross_val_score(model, X, y, cv=4).mean() > 0.9
    assert [len(ids) for ids in seen] == [60] * 4
    assert len(set(map(tuple, seen))) == 4


def test_grid_search_sets_the_parameters_of_the_search():
    X, y = planted_rule(60, random_state=0)
    model = make_pipeline(PatternVectorizer(min_confidence=0.9, min_support=0.5), BernoulliNB())
    grid = {"patternvectorizer__max_length": [1, 2]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no pattern of length 1 tells anything
        search = GridSearchCV(model, grid, cv=3, error_score=0.0).fit(X, y)
    assert search.best_params_ == {"patternvectorizer__max_length": 2}


def test_what_is_no_list_of_lists_is_refused():
    with pytest.raises(DataError) as caught:
        PatternVectorizer().fit(b"abc")
    assert str(caught.value) == "a text is no list of lists\nhint: give [list(text)] for one text"
