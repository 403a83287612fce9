"""A table goes straight into an estimator: `fit` reads it, and `predict` in the same way."""

import copy
import inspect
import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from golden_texts import refusals, written
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

import relynx as rx


def visits(n=40, seed=0, first=0):
    """Cases in which `a` right before `b` decides, their rows mixed."""
    draw = random.Random(seed)
    rows = []
    for case in range(first, first + n):
        steps = [draw.choice("abcd") for _ in range(5)]
        churned = "yes" if "ab" in "".join(steps) else "no"
        name = f"c{case * 7 % n}"
        rows += [(name, day, step, draw.random(), churned) for day, step in enumerate(steps)]
    draw.shuffle(rows)
    return pd.DataFrame(rows, columns=["case", "day", "step", "cost", "churned"])


FRAME = visits()
NEW = visits(30, seed=1).drop(columns="churned")
COLUMNS = {"sequence": "case", "order": "day"}
LABELLED = COLUMNS | {"label": "churned"}
X, Y = rx.from_events(FRAME, **LABELLED)
MODEL = rx.LynxClassifier(max_length=2, random_state=0).fit(FRAME, **LABELLED)
BY_HAND = rx.LynxClassifier(max_length=2, random_state=0).fit(X, Y)
VECTORIZER = rx.PatternVectorizer(max_length=2, min_support=0.3)


def as_file(frame, path):
    frame.to_csv(path / "visits.csv", index=False)
    return path / "visits.csv"


KINDS = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "dict": lambda frame, _: frame.to_dict("list"),
    "csv": as_file,
    "a text": lambda frame, path: str(as_file(frame, path)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_gives_the_model_of_its_sequences(kind, tmp_path):
    table = KINDS[kind](FRAME, tmp_path)
    model = clone(MODEL).fit(table, **LABELLED)
    assert [*model.selected_.texts()] == [*BY_HAND.selected_.texts()]
    assert model.reading_ == X.reading
    assert (model.predict_proba(table) == BY_HAND.predict_proba(X)).all()
    assert (model.decision_function(table) == BY_HAND.decision_function(X)).all()


def test_predictions_are_in_the_order_of_first_appearance():
    found = pd.Series(MODEL.predict(NEW), index=NEW["case"].unique())
    sequences, _ = rx.from_events(NEW, reading=MODEL.reading_)
    assert found.index.tolist() == sequences.ids.tolist()
    assert found.tolist() == BY_HAND.predict(sequences).tolist()
    backwards = NEW.iloc[::-1]
    again = pd.Series(MODEL.predict(backwards), index=backwards["case"].unique())
    pd.testing.assert_series_equal(found.sort_index(), again.sort_index())


def test_the_score_needs_no_y_where_the_table_has_the_classes():
    assert MODEL.score(FRAME) == MODEL.score(X, Y) == MODEL.score(X) == MODEL.score(FRAME, Y)


def test_y_has_one_class_for_each_sequence_in_the_order_of_the_table():
    y = FRAME.groupby("case", sort=False)["churned"].first()
    frame = FRAME.drop(columns="churned")
    model = clone(MODEL).fit(frame, y, **COLUMNS)
    assert [*model.selected_.texts()] == [*BY_HAND.selected_.texts()]
    for given in (y.tolist(), y.to_numpy(), iter(y)):
        assert (clone(MODEL).fit(frame, given, **COLUMNS).predict(frame) == model.predict(X)).all()


def test_weights_are_of_the_sequences_of_the_table():
    weights = np.where(Y == "yes", 3.0, 1.0)
    found = clone(MODEL).fit(FRAME, sample_weight=weights, **LABELLED)
    wanted = clone(MODEL).fit(X, Y, weights)
    assert (found.predict_proba(X) == wanted.predict_proba(X)).all()


def test_explain_and_report_read_the_table_too():
    name = str(X.ids[0])
    rows = FRAME[FRAME["case"] == name]
    assert str(rx.explain(MODEL, rows)) == str(rx.explain(BY_HAND, X[0]))
    assert rx.report(MODEL, FRAME).data.scores == rx.report(BY_HAND, X, Y).data.scores
    assert rx.report(MODEL, NEW).data.n_sequences == 30


def test_all_that_is_said_of_a_table_is_kept_for_the_next_one():
    frame = FRAME.assign(day=[f"{1 + day}/02/2024" for day in FRAME["day"]])
    frame.loc[0, "cost"] = -999
    how = {"date_format": "%d/%m/%Y", "na_values": -999, "bins": {"cost": [0.5]}}
    how |= {"fluents": {"did": ["step", "cost"]}, "attributes": []}
    model = clone(MODEL).fit(frame, **LABELLED, **how)
    assert model.reading_ == rx.from_events(frame, **LABELLED, **how)[0].reading
    assert len(model.predict(frame)) == 40


def test_cuts_by_class_are_learnt_in_fit():
    frame = FRAME.assign(cost=FRAME["cost"] + 2 * (FRAME["churned"] == "yes"))
    model = clone(MODEL).fit(frame, **LABELLED, bins="supervised")
    assert model.reading_.fluents[1].columns[0].supervised
    assert model.score(frame) == 1.0


def test_a_model_of_a_table_is_saved_pickled_and_cloned(tmp_path):
    rx.save(MODEL, tmp_path / "m.relynx")
    copies = [rx.load(tmp_path / "m.relynx"), pickle.loads(pickle.dumps(MODEL)), copy.copy(MODEL)]
    for one in copies:
        assert (one.predict(NEW) == MODEL.predict(NEW)).all()
    assert clone(MODEL).get_params() == MODEL.get_params()


def test_the_inputs_are_not_changed():
    before = FRAME.copy()
    clone(MODEL).fit(FRAME, **LABELLED).predict(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)


def test_intervals_are_read_again_by_their_reading():
    table = {"case": [1, 1, 2, 2] * 5, "from": range(20), "to": range(3, 23)}
    table |= {"what": list("aabb") * 5, "label": ["x", "x", "y", "y"] * 5}
    table["case"] = [case + 2 * (i // 4) for i, case in enumerate(table["case"])]
    intervals, y = rx.from_intervals(
        table, sequence="case", start="from", end="to", symbol="what", label="label"
    )
    model = rx.LynxClassifier(max_length=1, random_state=0).fit(intervals, y)
    assert (model.predict(table) == model.predict(intervals)).all()


@pytest.mark.parametrize("kind", ["LoHMM", "TildeCRF"])
def test_every_classifier_predicts_a_table_like_that_of_its_sequences(kind):
    model = {"LoHMM": rx.LoHMMClassifier, "TildeCRF": rx.TildeCRFClassifier}[kind](max_iter=2)
    model.fit(X, Y)
    assert (model.predict(FRAME) == model.predict(X)).all()


def test_a_pipeline_starts_from_the_table():
    y = FRAME.groupby("case", sort=False)["churned"].first()
    pipeline = Pipeline([("patterns", clone(VECTORIZER)), ("model", LogisticRegression())])
    pipeline.fit(FRAME.drop(columns="churned"), y, patterns__sequence="case", patterns__order="day")
    by_hand = make_pipeline(clone(VECTORIZER), LogisticRegression()).fit(X, Y)
    assert (pipeline.predict(FRAME) == by_hand.predict(X)).all()
    assert pipeline.score(FRAME, y) > 0.9
    assert cross_val_score(by_hand, X, Y, cv=2).shape == (2,)


def test_a_pipeline_routes_the_columns_where_routing_is_on():
    with sklearn.config_context(enable_metadata_routing=True):
        reader = clone(VECTORIZER).set_fit_request(sequence=True, order=True)
        pipeline = make_pipeline(reader, LogisticRegression())
        pipeline.fit(FRAME.drop(columns="churned"), Y, **COLUMNS)
        assert len(pipeline.predict(NEW)) == 30


def test_the_matrix_is_sparse_or_not():
    found = clone(VECTORIZER).fit_transform(FRAME, **LABELLED)
    assert found.format == "csr"
    dense = clone(VECTORIZER).set_params(sparse_output=False).fit(X, Y)
    assert isinstance(dense.transform(FRAME), np.ndarray)
    assert (dense.transform(FRAME) == found.toarray()).all()


@pytest.mark.parametrize("sparse_output", [True, False])
def test_a_data_frame_of_patterns_has_a_row_for_each_sequence(sparse_output):
    vectorizer = clone(VECTORIZER).set_params(sparse_output=sparse_output)
    found = vectorizer.set_output(transform="pandas").fit(FRAME, **LABELLED).transform(FRAME)
    assert found.index.tolist() == FRAME["case"].unique().tolist()
    assert found.columns.tolist() == vectorizer.get_feature_names_out().tolist()
    other = vectorizer.set_output(transform="polars").transform(FRAME)
    assert (other.to_numpy() == found.to_numpy()).all()


def test_the_keywords_of_fit_are_those_of_from_events():
    known = inspect.signature(rx.from_events).parameters
    for estimator in (rx.LynxClassifier, rx.PatternVectorizer):
        given = inspect.signature(estimator.fit).parameters
        named = [one for one in given.values() if one.kind is one.KEYWORD_ONLY]
        assert [one.name for one in named] == [
            *("sequence", "order", "label", "fluents", "attributes"),
            *("bins", "na_values", "date_format"),
        ]
        assert all(one.default == known[one.name].default for one in named)
    assert set(known) - {one.name for one in named} == {"frame", "event", "relations", "reading"}


LISTS = [["a", "b"], ["b", "c"]] * 5
OF_FACTS = rx.LynxClassifier(max_length=1, random_state=0).fit(LISTS, list("xy") * 5)
SORTED = FRAME.groupby("case")["churned"].first()
BONDS = {"case": FRAME["case"].unique().tolist(), "weight": list(range(40))}
WITH_MORE = clone(MODEL).fit(*rx.from_events(FRAME, **LABELLED, relations={"bond": BONDS}))
CSV = "case,day,step,churned\nv1,1,a,yes\nv1,2,b,yes\nv2,1,c,no\n"


def fit(table, *args, **given):
    clone(MODEL).fit(table, *args, **given)


# A call with what is wrong; a pair is a file and its content.
WRONG = {
    "fit_without_a_sequence": (fit, FRAME),
    "fit_without_a_sequence_of_a_file": (fit, ("visits.csv", CSV)),
    "fit_without_classes": (fit, FRAME, COLUMNS),
    "fit_with_a_misspelt_column": (fit, FRAME, LABELLED | {"order": "dya", "sequence": "Case"}),
    "fit_with_a_label_that_is_not_there": (fit, NEW, LABELLED),
    "fit_with_a_label_that_changes": (fit, FRAME, COLUMNS | {"label": "step"}),
    "fit_with_a_label_among_the_fluents": (fit, FRAME, LABELLED | {"fluents": ["churned"]}),
    "fit_with_y_and_a_label": (fit, FRAME, LABELLED, Y),
    "fit_with_a_label_for_each_row": (fit, FRAME, COLUMNS, FRAME["churned"]),
    "fit_with_too_few_labels": (fit, FRAME, COLUMNS, Y[:-1]),
    "fit_with_labels_in_another_order": (fit, FRAME, COLUMNS, SORTED),
    "fit_with_the_column_of_the_class_left_in": (fit, FRAME, COLUMNS, Y),
    "fit_with_one_class": (fit, FRAME.assign(churned="no"), LABELLED),
    "fit_with_a_missing_class": (
        fit,
        FRAME.assign(churned=FRAME["churned"].where(FRAME["case"] != "c7")),
        LABELLED,
    ),
    "fit_with_columns_for_lists": (fit, LISTS, {"sequence": "case"}, list("xy") * 5),
    "fit_with_columns_for_sequences": (fit, X, LABELLED | {"bins": 3}, Y),
    "fit_with_a_file_that_is_not_there": (fit, "visits.csv", LABELLED),
    "fit_with_a_file_of_facts": (fit, "visits.m", LABELLED),
    "fit_with_a_log": (fit, "visits.xes", LABELLED),
    "fit_with_a_text_that_is_no_path": (fit, "abcab", LABELLED),
    "fit_with_an_order_of_words": (fit, FRAME, LABELLED | {"order": "step"}),
    "fit_with_weights_for_rows": (fit, FRAME, LABELLED | {"sample_weight": np.ones(len(FRAME))}),
    "fit_with_bad_markers_and_bins": (fit, FRAME, LABELLED | {"na_values": [[1]], "bins": 1}),
    "fit_with_bad_bins": (fit, FRAME, LABELLED | {"bins": {"cots": 3}}),
    "fit_with_no_rows": (fit, FRAME[:0], LABELLED),
    "predict_a_table_that_lacks_a_column": (MODEL.predict, FRAME.drop(columns=["step"])),
    "predict_a_table_with_other_names": (MODEL.predict, FRAME.rename(columns={"case": "Case"})),
    "predict_a_table_by_a_model_of_lists": (OF_FACTS.predict, FRAME),
    "predict_a_table_by_a_model_of_several": (WITH_MORE.predict, FRAME),
    "predict_a_table_with_text_for_numbers": (MODEL.predict, FRAME.assign(cost="much")),
    "predict_a_file_that_is_not_there": (MODEL.predict, "visits.csv"),
    "predict_no_rows": (MODEL.predict, FRAME[:0]),
    "score_a_table_without_classes": (MODEL.score, NEW),
    "transform_a_table_by_a_vectorizer_of_lists": (
        clone(VECTORIZER).fit(LISTS, list("xy") * 5).transform,
        FRAME,
    ),
    "explain_a_table_of_several_sequences": (lambda table: rx.explain(MODEL, table), FRAME),
    "report_on_a_table_that_lacks_a_column": (
        lambda table: rx.report(MODEL, table),
        FRAME.drop(columns=["day"]),
    ),
}


def call(function, table, given=None, *args):
    function(written(*table) if isinstance(table, tuple) else table, *args, **given or {})


test_a_wrong_table_or_argument_gets_its_whole_message = refusals(
    "tables_of_estimators", call, WRONG
)


def test_a_keyword_that_is_none_of_from_events_is_refused():
    with pytest.raises(TypeError, match="sequnce"):
        clone(MODEL).fit(FRAME, sequnce="case")
