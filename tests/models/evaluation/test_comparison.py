"""`compare`: the same parts for all, intervals, and what it says where the model loses."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score

from relynx import InputError, compare, from_events, from_lists, planted_rule
from relynx.models.evaluation.comparison import compared, parts_of, simple_methods
from relynx.models.evaluation.cross_validation import held_out, split_by_time

NAMES = ["aggregates, logistic", "aggregates, boosting", "n-grams", "largest class"]


class First(ClassifierMixin, BaseEstimator):
    """Predicts by the first symbol of a list; it keeps what it was fitted on."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = X.ids.tolist()
        return self

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def decision_function(self, X):
        alone = [[atom for atom in one.atoms if len(atom.args) == 1] for one in X]
        first = np.array([min(some, key=lambda atom: atom.args).predicate for some in alone])
        return np.stack([(first != "b") * 1.0, (first == "b") * 1.0], axis=1)


def letters(n=60, seed=0):
    """Lists whose class is the more frequent letter."""
    rng = np.random.default_rng(seed)
    lists = [[*rng.choice(list("ab"), 9)] for _ in range(n)]
    return from_lists(lists, ["u" if row.count("a") > 4 else "v" for row in lists])


def visits(n=40):
    """A table of events whose class is the mean of a column that is cut into ranges."""
    rng = np.random.default_rng(0)
    table = {"case": np.repeat(np.arange(n), 5), "day": np.arange(5 * n)}
    cost = rng.normal(10, 3, (n, 5))
    label = np.where(cost.mean(axis=1) > 10, "dear", "cheap")
    table |= {"cost": cost.ravel(), "label": np.repeat(label, 5)}
    columns = {name: column.tolist() for name, column in table.items()}
    return from_events(columns, sequence="case", order="day", label="label")


def test_the_frame_has_a_row_for_each_method_the_model_first():
    X, y = letters()
    found = compare(First(), X, y, folds=3)
    assert found["method"].tolist() == ["First", *NAMES]
    measures = ["accuracy", "balanced_accuracy", "auc", "f1", "log_loss", "difference"]
    three = [f"{name}{end}" for name in measures for end in ("", "_low", "_high")]
    assert list(found.columns) == ["method", *three, "better", "seconds", "note"]
    wanted = (found["accuracy"] - found["accuracy"][0]).tolist()
    assert found["difference"].tolist() == pytest.approx(wanted)
    assert found["log_loss"].isna().tolist() == [True, False, False, True, False]
    assert found["auc"].notna().all()
    known = found[found["accuracy_low"].notna()]
    assert (known["accuracy_low"] <= known["accuracy"]).all()
    assert (known["accuracy"] <= known["accuracy_high"]).all()


def test_where_the_model_loses_the_frame_and_the_sentence_say_so():
    X, y = letters(200)
    parts = parts_of(X, y, folds=5, groups=None, holdout=None, time_split=None, seed=0)
    found = compared({"First": First(), **simple_methods(X)}, X, y, parts)
    assert [found.better(name) for name in NAMES] == ["yes", "yes", "yes", "no"]
    assert re.fullmatch(
        r"logistic regression on aggregates is better here: [01]\.\d{3} against 0\.\d{3}, "
        r"a difference of 0\.\d{3} to 0\.\d{3}",
        next(line for line in found.sentences() if line.startswith("logistic")),
    )


def test_where_nothing_is_better_the_sentence_says_that():
    X, y = letters()
    rows = {"largest": DummyClassifier(strategy="prior"), "same": DummyClassifier()}
    parts = parts_of(X, y, folds=3, groups=None, holdout=None, time_split=None, seed=0)
    found = compared(rows, X, y, parts)
    assert found.sentences() == ["no other method here has a better accuracy than largest"]
    assert found.better("same") == "unclear"
    assert compared({"one": rows["same"]}, X, y, parts).sentences() == []


def test_by_log_loss_less_is_better():
    X, y = letters(200)
    found = compare(DummyClassifier(strategy="prior"), X, y, scoring="log_loss", folds=3)
    assert found["better"].tolist()[1:3] == ["yes", "yes"]
    assert (found["difference"][1:3] < 0).all()


def test_aggregates_have_the_numbers_that_the_facts_have_as_ranges():
    X, y = visits()
    found = compare(DummyClassifier(), X, y, scoring="accuracy", folds=4).set_index("method")
    assert found["accuracy"]["aggregates, logistic"] > 0.85
    assert set(found["note"]) == {""}
    less = compare(DummyClassifier(), X.replaced(numbers=None), y, scoring="accuracy", folds=4)
    assert less["note"].tolist() == [
        "",
        *["of 'cost' ranges are counted: the numbers were not kept"] * 2,
        "",
        "",
    ]


def test_all_methods_have_the_same_parts_and_learn_from_the_training_part_alone():
    X, y = letters()
    parts = parts_of(X, y, folds=3, groups=None, holdout=None, time_split=None, seed=0)
    found = compared({"First": First(), **simple_methods(X)}, X, y, parts, keep_model=True)
    for number, (train, test) in enumerate(parts):
        for result in found.results.values():
            assert result.folds[number].test.tolist() == test.tolist()
        assert found.results["First"].folds[number].model.seen_ == X.ids[train].tolist()


def test_further_methods_and_classes_may_be_asked_for():
    X, y = letters()
    others = {"often": DummyClassifier(strategy="most_frequent")}
    rows = compare(First(), X, y, others=others, folds=3, per_class=True)
    assert list(rows.columns) == ["method", "class", "sequences", "precision", "recall", "f1"]
    assert rows["method"].drop_duplicates().tolist() == ["First", "often", *NAMES]
    often = rows[rows["method"] == "often"].set_index("class")
    largest = max(set(y), key=y.tolist().count)
    assert often["recall"].to_dict() == {c: float(c == largest) for c in ("u", "v")}
    assert often["sequences"].sum() == len(y)


def test_it_is_the_same_for_two_processes_and_in_polars():
    X, y = letters()
    one, two = (
        compare(First(), X, y, scoring="auc", folds=3, n_jobs=n, backend="polars") for n in (1, 2)
    )
    assert one.drop("seconds").equals(two.drop("seconds"))


def test_lists_may_be_given_as_they_are_and_events_need_no_order():
    lists = [["a"], ["b"]] * 6
    found = compare(DummyClassifier(), lists, ["u", "v"] * 6, scoring="accuracy", folds=2)
    assert found["method"].tolist() == ["DummyClassifier", *NAMES[:2], "largest class"]


def test_a_class_that_the_training_part_lacks_costs_log_loss_but_no_error():
    X, y = visits()
    y = np.where(np.arange(40) > 36, "late", y)
    found = compare(DummyClassifier(strategy="prior"), X, y, time_split=0.2).set_index("method")
    assert found["log_loss"]["largest class"] > 10
    assert found["accuracy"].notna().all()


# Parts


def test_held_out_is_a_share_of_each_class():
    y = np.array(["u"] * 30 + ["v"] * 10 + ["w"])
    train, test = held_out(y, 0.2, seed=3)
    assert sorted([*train, *test]) == list(range(41))
    assert np.unique(y[test], return_counts=True)[1].tolist() == [6, 2]
    assert held_out(y, 0.2, seed=3)[1].tolist() == test.tolist()
    assert held_out(y, 0.2, seed=4)[1].tolist() != test.tolist()


def test_held_out_groups_stay_whole():
    y, groups = np.array(["u", "v"] * 20), np.arange(40) // 4
    train, test = held_out(y, 0.2, groups=groups)
    assert not {*groups[train]} & {*groups[test]}
    assert 4 <= len(test) <= 12


def test_a_split_by_time_tests_what_begins_last():
    X, y = visits()
    train, test = split_by_time(X, y, 0.25)
    assert (train.tolist(), test.tolist()) == (list(range(30)), list(range(30, 40)))
    turned = X[::-1]
    train, test = split_by_time(turned, y[::-1], 0.25)
    assert test.tolist() == list(range(10))


def test_sequences_that_begin_together_are_not_split_by_time():
    table = {"case": [1, 2, 3, 4], "at": [1, 2, 2, 2], "label": list("uvuv"), "x": list("abab")}
    table = {name: column * 2 for name, column in table.items()}
    table["case"] = list(range(8))
    X, y = from_events(table, sequence="case", order="at", label="label")
    with pytest.raises(InputError, match="all of one class, 'u'"):
        split_by_time(X, y, 0.1)
    train, test = split_by_time(X, np.array(list("uvuvvvuv")), 0.1)
    assert (train.tolist(), len(test)) == ([0, 4], 6)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"holdout": 1.5}, "holdout is 1.5\nhint: give a share between 0 and 1, as 0.2"),
        ({"time_split": 0}, "time_split is 0\nhint: give a share between 0 and 1, as 0.2"),
        (
            {"holdout": 0.2, "time_split": 0.2},
            "holdout and time_split both say what is held out\nhint: give one of them",
        ),
        (
            {"time_split": 0.2, "groups": [1] * 12},
            "a split by time may split groups\nhint: leave out groups, or give holdout",
        ),
        (
            {"time_split": 0.2},
            "it is not known when the sequences begin\n"
            "hint: read a table with a column of times or numbers as its order",
        ),
        (
            {"holdout": 0.01},
            "0.01 of the sequences of each class are less than one\nhint: hold out more",
        ),
        ({"scoring": "auk"}, "there is no measure 'auk'\nhint: did you mean 'auc'?"),
    ],
)
def test_what_makes_no_sense_is_refused(how, message):
    X, y = letters(12)
    with pytest.raises(InputError) as caught:
        compare(First(), X, y, **how)
    assert str(caught.value) == message


def test_an_order_that_begins_anew_in_each_sequence_makes_no_split():
    table = {"case": [1, 1, 2, 2], "at": [1, 2, 1, 2], "label": list("uuvv"), "x": list("abab")}
    X, y = from_events(table, sequence="case", order="at", label="label")
    with pytest.raises(InputError) as caught:
        split_by_time(X, y, 0.5)
    assert str(caught.value) == (
        "all sequences begin at the same time, so none is later\n"
        "hint: order the events by a time that goes on between sequences"
    )


def test_scores_of_the_folds_are_those_of_the_models():
    X, y = planted_rule(60, random_state=0)
    parts = parts_of(X, y, folds=3, groups=None, holdout=None, time_split=None, seed=0)
    found = compared(simple_methods(X), X, y, parts, keep_model=True, scoring="auc")
    name = next(iter(found.results))
    areas = [
        roc_auc_score(y[fold.test], fold.model.predict_proba(X[fold.test])[:, 1])
        for fold in found.results[name].folds
    ]
    assert found.estimate(name, "auc").value == pytest.approx(np.mean(areas))
