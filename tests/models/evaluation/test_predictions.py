"""Predictions as a table."""

import json

import numpy as np
import pytest

from relynx import LynxClassifier, from_lists, parse_background, parse_bias, planted_rule
from relynx.models.evaluation.predictions import predictions, unknown_predicates, write_predictions


@pytest.fixture(scope="module")
def model():
    X, y = planted_rule(60, random_state=0)
    return LynxClassifier(max_length=2, max_iter=5, random_state=0).fit(X, y)


def test_the_table_holds_classes_and_shares(model):
    X, y = planted_rule(20, random_state=1)
    columns, told = predictions(model, X)
    assert list(columns) == ["id", "label", "predicted", "probability_no", "probability_yes"]
    assert columns["predicted"] == model.predict(X).tolist()
    assert columns["label"] == y.tolist()
    shares = np.column_stack([columns["probability_no"], columns["probability_yes"]])
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    assert (told.n, told.accuracy, told.unknown) == (20, model.score(X, y), 0)


def test_without_labels_there_is_no_accuracy(model):
    X, _ = planted_rule(5, random_state=1)
    columns, told = predictions(model, X.with_labels(None))
    assert "label" not in columns
    assert told.accuracy is None


def test_a_class_that_the_model_does_not_know_is_a_miss(model):
    X, _ = planted_rule(4, random_state=1)
    given = model.predict(X).tolist()
    _, told = predictions(model, X.with_labels(["maybe", *given[1:]]))
    assert (told.accuracy, told.unknown) == (0.75, 1)


def test_classes_that_read_alike_are_told_apart():
    X, _ = from_lists([["a"], ["b"]] * 4)
    y = np.array([1, "1"] * 4, object)

    class Both:
        classes_ = np.array([1, "1"], object)

        def predict(self, X):
            return y

        def predict_proba(self, X):
            return np.tile([0.25, 0.75], (8, 1))

    assert list(predictions(Both(), X)[0])[2:] == ["probability_1", "probability_'1'"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_each_kind_of_file_holds_the_same(model, tmp_path, ending):
    polars = pytest.importorskip("polars")
    X, _ = planted_rule(6, random_state=1)
    columns, _ = predictions(model, X)
    path = tmp_path / f"p.{ending}"
    write_predictions(model, [X], path)
    if ending == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert {name: [row[name] for row in rows] for name in rows[0]} == columns
    else:
        read = polars.read_csv if ending == "csv" else polars.read_parquet
        assert read(path).to_dict(as_series=False) == columns


def test_predicates_that_only_background_knowledge_gives_are_noticed():
    rules = parse_background("hot(E) :- a(E).")
    X, y = from_lists([["a", "b"], ["b", "b"]] * 5, ["up", "down"] * 5)
    bias = parse_bias("type(hot(event)). mode(hot(+)). dimension(next_s).")
    model = LynxClassifier(bias, max_length=1, random_state=0).fit(X.with_background(rules), y)
    assert unknown_predicates(model, X) == ["hot/1"]
    assert unknown_predicates(model, X.with_background(rules)) == []
