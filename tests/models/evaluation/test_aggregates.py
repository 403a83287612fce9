"""Aggregates, against a twin that counts with dicts from the rows of the table."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from relynx import from_events, from_intervals, from_lists, parse_atom, planted_rule
from relynx.data.sequences import Sequences
from relynx.models.evaluation import aggregates
from relynx.models.evaluation.aggregates import (
    Aggregates,
    aggregate_boosting,
    aggregate_logistic,
    notes_on,
)

ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from("abc"),
        st.none() | st.integers(-40, 40).map(lambda x: x / 8),
        st.integers(0, 9),
    ),
    min_size=2,
    max_size=30,
)


def table_of(rows):
    return dict(
        zip(("case", "step", "cost", "at"), map(list, zip(*rows, strict=True)), strict=True)
    )


def twin(rows, case):
    """The aggregates of a case, by name, with plain Python."""
    mine = sorted((row for row in rows if row[0] == case), key=lambda row: row[3])
    out = {"length": len(mine), "duration": mine[-1][3] - mine[0][3]}
    for step, n in Counter(row[1] for row in mine).items():
        out[f"number of step({step})"] = n
    costs = [row[2] for row in mine if row[2] is not None]
    if costs:
        out |= {
            "mean of 'cost'": sum(costs) / len(costs),
            "least of 'cost'": min(costs),
            "largest of 'cost'": max(costs),
            "last of 'cost'": costs[-1],
            "sum of 'cost'": sum(costs),
        }
    return out


@given(ROWS, st.sampled_from([[0], None]))
def test_aggregates_are_those_of_plain_python_whether_numbers_are_cut_or_not(rows, bins):
    rows = [(0, "a", 1.0, 0), (1, "b", 2.0, 1), (1, "a", 3.5, 5), *rows]
    X, _ = from_events(
        table_of(rows), sequence="case", order="at", fluents=["step", "cost"], bins={"cost": bins}
    )
    model = Aggregates(dense=True).fit(X)
    found = pd.DataFrame(model.transform(X), columns=model.get_feature_names_out())
    for i, case in enumerate(X.ids.tolist()):
        wanted = {
            name.replace("'cost'", "cost/2") if bins is None else name: value
            for name, value in twin(rows, case).items()
        }
        for name in found.columns:
            if not name.startswith("number of cost"):
                missing = 0 if name.startswith("number") else np.nan
                np.testing.assert_allclose(found[name][i], wanted.get(name, missing), atol=1e-9)


def test_the_columns_are_named():
    table = {
        "case": [1, 1, 2, 2, 3],
        "at": [1, 4, 2, 9, 3],
        "step": list("ababa"),
        "age": [30, 30, 40, 40, 55],
        "cost": [1.5, 2.5, 3.0, 0.5, 7.0],
    }
    X, _ = from_events(table, sequence="case", order="at", bins={"cost": [2], "age": [35]})
    assert Aggregates().fit(X).get_feature_names_out().tolist() == [
        "length",
        "duration",
        *(f"{what} of 'cost'" for what in ("mean", "least", "largest", "last", "sum")),
        "mean of 'age'",
        "number of cost('>=2')",
        "number of step(a)",
        "number of age('>=35')",
        "number of cost('<2')",
        "number of step(b)",
    ]


def test_a_value_that_only_the_test_part_has_makes_no_column():
    X, _ = from_lists([["a", "b"], ["a"], ["a", "c"], ["c", "c"]])
    model = Aggregates(dense=True).fit(X[:3])
    assert model.get_feature_names_out().tolist() == ["length", "number of a"]
    assert model.transform(X[3:]).tolist() == [[2, 0]]


def test_symbols_of_intervals_that_are_numbers_are_counted():
    table = {"s": [1, 1, 2, 2], "from": [1, 2, 1, 5], "to": [3, 4, 2, 9], "what": [7, 8, 7, 8]}
    X, _ = from_intervals(table, sequence="s", start="from", end="to", symbol="what")
    names = Aggregates().fit(X).get_feature_names_out().tolist()
    assert {"duration", "number of what(7)", "number of what(8)"} <= {*names}


def test_facts_without_an_order_are_counted_by_their_constants():
    texts = ["atm(d1,c,0.5). atm(d2,o,0.1)", "atm(d1,c,0.25). atm(d9,c,0.3)"]
    atoms = [[parse_atom(part) for part in text.split(". ")] for text in texts]
    model = Aggregates(dense=True).fit(Sequences.from_atoms(atoms))
    names = model.get_feature_names_out().tolist()
    assert "mean of atm/3" in names
    assert "number of atm(2: c)" in names
    found = model.transform(Sequences.from_atoms(atoms))
    assert found[:, names.index("mean of atm/3")].tolist() == pytest.approx([0.3, 0.275])
    assert found[:, names.index("number of atm(2: c)")].tolist() == [1, 2]


def test_the_last_number_is_that_of_the_last_event_whatever_the_events_are_called():
    texts = ["next_s(z,y). next_s(y,a). cost(a,7). cost(y,2). cost(z,9)", "next_s(b,a). cost(a,1)"]
    atoms = [[parse_atom(part) for part in text.split(". ")] for text in texts]
    model = Aggregates(dense=True).fit(Sequences.from_atoms(atoms))
    last = model.get_feature_names_out().tolist().index("last of cost/2")
    assert model.transform(Sequences.from_atoms(atoms))[:, last].tolist() == [7, 1]


def test_of_too_many_values_those_of_most_sequences_are_counted(monkeypatch):
    monkeypatch.setattr(aggregates, "DENSE", 2)
    X, _ = from_lists([["a", "b", "c"], ["a", "b", "c"], ["a", "c"], ["c"]])
    model = Aggregates(dense=True).fit(X)
    assert model.get_feature_names_out().tolist()[1:] == ["number of c", "number of a"]
    assert notes_on(X) == ("boosting counts 2 of 3 values, those of most sequences",)


def test_where_the_numbers_are_not_kept_a_note_says_that_ranges_are_counted():
    table = {"case": [1, 1, 2], "cost": [1, 9, 3]}
    X, _ = from_events(table, sequence="case", bins={"cost": [5]})
    assert notes_on(X) == ()
    (note,) = notes_on(X.replaced(numbers=None))
    assert note == "of 'cost' ranges are counted: the numbers were not kept"


@pytest.mark.parametrize("make", [aggregate_logistic, aggregate_boosting])
def test_both_learn_what_a_count_tells_and_survive_clone(make):
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v", "w"], 30)
    p = {"u": [0.6, 0.2, 0.2], "v": [0.2, 0.6, 0.2], "w": [0.2, 0.2, 0.6]}
    X, _ = from_lists([[*rng.choice(list("abc"), 15, p=p[one])] for one in y])
    model = clone(make()).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.7
    assert model.predict_proba(X[1::2]).sum(axis=1) == pytest.approx(np.ones(45))


@pytest.mark.parametrize("make", [aggregate_logistic, aggregate_boosting])
def test_sequences_that_all_look_the_same_are_no_error(make):
    X, _ = from_lists([["a"]] * 12)
    assert make().fit(X, ["u", "v"] * 6).predict_proba(X) == pytest.approx(np.full((12, 2), 0.5))


def test_many_small_classes_are_learnt_by_boosting():
    lists = [[f"a{i % 20}", f"b{i % 20}", "c"] for i in range(160)]
    X, y = from_lists(lists, [f"p{i % 20:02}" for i in range(160)])
    assert aggregate_boosting().fit(X, y).score(X, y) > 0.9


def test_the_relation_of_the_planted_rule_is_not_among_them():
    X, y = planted_rule(200, random_state=0)
    model = aggregate_logistic().fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) < 0.75
