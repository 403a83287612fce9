"""Plain lists as sequences."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relynx import Atom, DataError, covers, from_lists, parse_pattern
from relynx.logic.terms import Struct, Var

SYMBOLS = st.text("abcxyz", min_size=1, max_size=2)
LISTS = st.lists(st.lists(SYMBOLS, max_size=6), min_size=1, max_size=5)


def atoms(X, i=0):
    return {str(atom) for atom in X[i].atoms}


def message(*args, **kwargs):
    with pytest.raises(DataError) as caught:
        from_lists(*args, **kwargs)
    return str(caught.value)


@given(LISTS)
def test_a_sequence_has_one_fluent_a_position_and_one_link_between_two(lists):
    X, y = from_lists(lists)
    assert y is None
    assert len(X) == len(lists)
    for i, symbols in enumerate(lists):
        fluents = {f"{symbol}(e{j})" for j, symbol in enumerate(symbols, 1)}
        links = {f"next_s(e{j},e{j + 1})" for j in range(1, len(symbols))}
        assert atoms(X, i) == fluents | links


@given(LISTS)
def test_symbols_under_a_predicate_are_its_values(lists):
    X, _ = from_lists(lists, predicate="symbol")
    for i, symbols in enumerate(lists):
        fluents = {f"symbol(e{j},{symbol})" for j, symbol in enumerate(symbols, 1)}
        assert {text for text in atoms(X, i) if not text.startswith("next_s")} == fluents


@given(LISTS)
def test_the_first_symbol_of_every_list_is_found_where_it_stands(lists):
    X, _ = from_lists(lists)
    for symbol in {symbols[0] for symbols in lists if symbols}:
        hits = covers(parse_pattern(f"{symbol}(X)"), X)
        assert hits.tolist() == [symbol in symbols for symbols in lists]


def test_a_tuple_is_a_predicate_with_its_values():
    X, _ = from_lists([[("he", "alpha", "short"), ("st", 7, 0.5)]])
    assert atoms(X) == {"he(e1,alpha,short)", "st(e2,7,0.5)", "next_s(e1,e2)"}


def test_the_event_becomes_the_first_argument_of_an_atom():
    X, _ = from_lists([[Atom("he", ("alpha",)), Atom("stop")]])
    assert atoms(X) == {"he(e1,alpha)", "stop(e2)", "next_s(e1,e2)"}


def test_a_nested_atom_is_flattened():
    X, _ = from_lists([[Atom("he", (Struct("h", ("right", "alpha")), "long"))]])
    assert atoms(X) == {"he(e1,right,alpha,long)"}


@pytest.mark.parametrize("kind", [list, set, frozenset])
def test_a_position_may_hold_several_atoms(kind):
    X, _ = from_lists([[kind(["a", ("b", 1)]), "c"]])
    assert atoms(X) == {"a(e1)", "b(e1,1)", "c(e2)", "next_s(e1,e2)"}


def test_an_empty_position_is_an_event_without_fluents():
    X, _ = from_lists([["a", [], "b"]])
    assert atoms(X) == {"a(e1)", "b(e3)", "next_s(e1,e2)", "next_s(e2,e3)"}


def test_an_empty_list_is_a_sequence_without_events():
    X, _ = from_lists([[], ["a"]])
    assert X[0].atoms == ()


def test_no_event_has_the_name_of_a_value():
    X, _ = from_lists([["e1", "e3"]], predicate="symbol")
    assert atoms(X) == {"symbol(e2,e1)", "symbol(e4,e3)", "next_s(e2,e4)"}


def test_numbers_are_symbols_under_a_predicate():
    X, _ = from_lists([[1, 2.5, np.int64(3), True]], predicate="value")
    fluents = {"value(e1,1)", "value(e2,2.5)", "value(e3,3)", "value(e4,true)"}
    assert fluents <= atoms(X)


def test_a_tuple_means_the_same_under_a_predicate():
    X, _ = from_lists([["a", ("b", "c")]], predicate="symbol")
    assert {"symbol(e1,a)", "b(e2,c)"} <= atoms(X)


def test_a_symbol_may_be_any_text():
    X, _ = from_lists([["SA 1", "it's"]])
    assert atoms(X) == {"'SA 1'(e1)", "'it\\'s'(e2)", "next_s(e1,e2)"}


def test_arrays_series_and_generators_are_lists_too():
    X, y = from_lists((row for row in np.array([["a", "b"], ["b", "a"]])), pd.Series([1, 0]))
    assert atoms(X) == {"a(e1)", "b(e2)", "next_s(e1,e2)"}
    assert y.tolist() == [1, 0]


def test_the_order_of_a_set_does_not_show():
    symbols = [f"s{i}" for i in range(20)]
    X, _ = from_lists([[set(symbols)]], predicate="symbol")
    assert list(X.vocabulary) == ["e1", *sorted(symbols)]


def test_labels_and_ids_are_kept():
    X, y = from_lists([["a"], ["b"]], ["up", "down"], ids=["first", 2])
    assert X.ids.tolist() == ["first", 2]
    assert y.tolist() == X.labels.tolist() == ["up", "down"]


def test_the_lists_are_not_changed():
    lists = [[["a", ("b", 1)], "c"]]
    from_lists(lists, predicate="symbol")
    assert lists == [[["a", ("b", 1)], "c"]]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (
            [["a"], ["b", 3]],
            "lists[1][1]: the value 3 is no symbol\n"
            "hint: give predicate='value' to read it as value(E,3)",
        ),
        (
            [["a", None]],
            "lists[0][1]: None is a missing value\nhint: leave it out, or name it: 'unknown'",
        ),
        (
            [[("he", float("nan"))]],
            "lists[0][0]: nan is a missing value\nhint: leave it out, or name it: 'unknown'",
        ),
        (
            [["a", [["b"]]]],
            "lists[0][1][0]: ['b'] is no symbol\n"
            "hint: a position holds text, a tuple, an atom, or a list or set of these",
        ),
        (
            [[("he", ["alpha"])]],
            "lists[0][0]: ['alpha'] is no constant\nhint: give text or a number",
        ),
        (
            [[Atom("he", (Var("X"),))]],
            "lists[0][0]: Var(name='X') is no constant\nhint: give text or a number",
        ),
        (
            [[np.zeros(2)]],
            "lists[0][0]: array([0., 0.]) is no symbol\n"
            "hint: a position holds text, a tuple, an atom, or a list or set of these",
        ),
        (
            [[(1, "alpha")]],
            "lists[0][0]: the tuple (1, 'alpha') does not begin with a predicate\n"
            "hint: write (predicate, value, ...), such as ('he', 'alpha', 7)",
        ),
        (
            ["abc"],
            "lists[0] is the text 'abc', not a list\n"
            "hint: give list(text) for its characters, or text.split() for its words",
        ),
        (
            [{"a", "b"}.intersection({"a"})],
            "lists[0] is {'a'}, not a list\n"
            "hint: give the positions of each sequence in order, as a list",
        ),
        (
            [7],
            "lists[0] is 7, not a list\n"
            "hint: give the positions of each sequence in order, as a list",
        ),
        ("abc", "a text is no list of lists\nhint: give [list(text)] for one text"),
        (
            {"s1": ["a"]},
            "dict is no list of lists\nhint: give one list for each sequence, all in one list",
        ),
        (
            None,
            "NoneType is no list of lists\nhint: give one list for each sequence, all in one list",
        ),
        ([], "there is no sequence: the list of lists is empty\nhint: give at least one list"),
        (
            [["a"], [("a", 1)]],
            "lists[1][0]: a has 2 arguments here, the event included\n"
            "hint: it has 1 at lists[0][0]",
        ),
        (
            [["next_s"]],
            "lists[0][0]: next_s links events and cannot be a fluent\n"
            "hint: rename it, or give predicate='symbol' to read symbols as values",
        ),
        (
            [["next_up"]],
            "lists[0][0]: next_up links events and cannot be a fluent\n"
            "hint: rename it, or give predicate='symbol' to read symbols as values",
        ),
        (
            [[("next_day", "monday")]],
            "lists[0][0]: next_day links events and cannot be a fluent\n"
            "hint: rename it, or give predicate='symbol' to read symbols as values",
        ),
    ],
)
def test_what_is_no_list_of_symbols_is_named_with_its_place(lists, expected):
    assert message(lists) == expected


def test_one_list_is_counted_as_one():
    assert message([["a"]], ids=["x", "y"]) == (
        "2 ids for 1 sequence\nhint: give one id for each list"
    )
    assert message([["a"]], labels="up") == (
        "labels is 'up', not a list\nhint: give a list of 1 label"
    )


def test_all_problems_are_reported_together():
    assert message([["a", 1], [None]], ["x"]) == (
        "lists[0][1]: the value 1 is no symbol\n"
        "hint: give predicate='value' to read it as value(E,1)\n"
        "lists[1][0]: None is a missing value\n"
        "hint: leave it out, or name it: 'unknown'\n"
        "1 label for 2 sequences\n"
        "hint: give one label for each list"
    )


def test_a_long_value_is_cut_in_the_message():
    text = message([["a", [list(range(100))]]])
    assert text.splitlines()[0] == (
        "lists[0][1][0]: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16... is no symbol"
    )


def test_a_wrong_number_of_labels_is_reported():
    assert message([["a"], ["b"]], ["x", "y", "z"]) == (
        "3 labels for 2 sequences\nhint: give one label for each list"
    )


def test_a_wrong_number_of_ids_is_reported():
    assert message([["a"], ["b"]], ids=["x"]) == (
        "1 id for 2 sequences\nhint: give one id for each list"
    )


def test_labels_given_as_one_text_are_reported():
    assert message([["a"], ["b"]], "ab") == (
        "labels is 'ab', not a list\nhint: give a list of 2 labels"
    )


def test_a_missing_label_is_reported():
    assert message([["a"], ["b"]], ["x", None]) == "labels[1] is None\nhint: give text or a number"


def test_an_id_given_twice_is_reported():
    assert message([["a"], ["b"]], ids=["x", "x"]) == (
        "ids[1] is 'x', as is ids[0]\nhint: give each its own"
    )


@given(
    st.one_of(
        st.lists(st.lists(st.sampled_from(["a", "b", "It's", "e9"]), max_size=5), min_size=1),
        st.lists(st.lists(st.integers(-3, 3), max_size=5), min_size=1),
    ),
    st.sampled_from([None, "symbol"]),
)
def test_plain_lists_and_lists_read_position_by_position_are_the_same(lists, predicate):
    assume(predicate or not any(isinstance(x, int) for one in lists for x in one))
    X, _ = from_lists(lists, predicate=predicate)
    one_by_one, _ = from_lists([tuple(one) for one in lists], predicate=predicate)
    assert one_by_one == X
    assert [X[i] for i in range(len(X))] == [one_by_one[i] for i in range(len(X))]
