"""The bias that is inferred for tables of events."""

import pytest

import relynx as rx
from relynx import from_events
from relynx.bias.infer import MAX_CONSTANTS


def test_events_are_events_though_none_are_linked():
    table = {"id": [1, 2, 3, 4], "a": list("xyxy"), "y": list("pqpq")}
    X, y = from_events(table, sequence="id", label="y")
    assert rx.Bias.infer(X).types == {"a": ("event", "a_2")}
    model = rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    rules = rx.parse_background("first(E) :- a(E,x).")
    assert rx.Bias.infer(X.with_background(rules)).types["first"] == ("event",)


def test_events_are_events_though_few_are_linked():
    grid = {"id": [1] * 7, "x": [1, 1, 2, 3, 4, 5, 6], "y": [1, 2, 3, 4, 5, 6, 7]}
    grid |= {"a": list("abababa"), "b": list("uuvvuuv")}
    near = {"id": [1], "n_1": [3], "n_2": [4], "how": ["far"]}
    X, _ = from_events(
        grid | {"n": list(range(7))},
        sequence="id",
        order={"p": "x", "q": "y"},
        event="n",
        relations={"near": near},
    )
    bias = rx.Bias.infer(X)
    assert bias.types == {
        "a": ("event", "a_2"),
        "b": ("event", "b_2"),
        "near": ("event", "event", "near_3"),
    }
    for found in rx.mine(X, bias=bias, max_length=2, min_frequency=1):
        assert rx.covers(found.pattern, X).sum() == found.frequency, found


@pytest.mark.parametrize("lists", [[["a"], ["b"]], [[("a", "x")], [("a", "y")]]])
def test_the_only_event_of_a_list_is_an_event(lists):
    types = rx.Bias.infer(rx.from_lists(lists)[0]).types
    assert {signature[0] for signature in types.values()} == {"event"}


def test_facts_that_tell_of_no_event_have_none():
    X = rx.Sequences.from_atoms([[rx.Atom("color", ("red",)), rx.Atom("has", ("e1", "e2"))]])
    assert rx.Bias.infer(X).types == {"color": ("color_1",), "has": ("has_1", "has_2")}


def test_columns_have_types_of_their_own_unless_they_share_texts():
    table = {
        "case": [1, 1, 1, 1],
        "month": [1, 2, 3, 4],
        "weekday": [1, 2, 3, 1],
        "from": ["a", "b", "c", "a"],
        "to": ["b", "c", "d", "b"],
        "who": ["x", "y", "z", "d"],
        "late": [True, False, True, False],
        "paid": [True, True, False, False],
    }
    X, _ = from_events(table, sequence="case", attributes=[])
    assert rx.Bias.infer(X).types == {
        "month": ("event", "month_2"),
        "weekday": ("event", "weekday_2"),
        "from": ("event", "from_2"),
        "to": ("event", "from_2"),
        "who": ("event", "who_2"),
        "late": ("event", "late_2"),
        "paid": ("event", "paid_2"),
    }


def test_texts_of_many_values_join_or_are_left_out_with_a_note():
    n = 4 * (MAX_CONSTANTS + 1)
    table = {
        "case": [i // 4 for i in range(n)],
        "step": [str(i % 3) for i in range(n)],
        "who": [f"w{i // 2}" for i in range(n)],
        "room": [f"r{i % (n // 2)}" for i in range(n)],
    }
    X, _ = from_events(table, sequence="case")
    bias = rx.Bias.infer(X)
    assert bias.modes == {"step": (("+", "*"),), "who": (("+", "+"), ("+", "-"))}
    assert bias.notes == (
        "who/2: argument 2 has 82 values, more than 40: it is a variable, never a constant",
        "room/2: argument 2 has 82 values, none of which is frequent or recurs: left out",
    )
    assert str(bias).splitlines()[:2] == [f"% {note}" for note in bias.notes]
    assert rx.parse_bias(str(bias)) == bias


def test_an_argument_that_joins_nothing_is_a_new_variable():
    n = MAX_CONSTANTS + 1
    table = {
        "case": [1] * n,
        "do": ["a", "b"] * (n // 2) + ["a"],
        "id": [f"i{k}" for k in range(n)],
    }
    X, _ = from_events(table, sequence="case", fluents={"did": ["do", "id"]})
    assert rx.Bias.infer(X).modes == {"did": (("+", "*", "-"),)}


def test_what_a_rule_derives_has_the_type_of_its_column():
    table = {"case": [1, 1], "who": ["a", "b"], "n": [1, 2]}
    X, _ = from_events(table, sequence="case")
    rules = rx.parse_background("met(E,W) :- who(E,W).")
    assert rx.Bias.infer(X.with_background(rules)).types["met"] == ("event", "who_2")
