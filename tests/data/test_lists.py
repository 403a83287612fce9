"""Plain lists as sequences."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relynx import Atom, covers, from_lists, parse_pattern
from relynx.logic.terms import Struct

SYMBOLS = st.text("abcxyz", min_size=1, max_size=2)
LISTS = st.lists(st.lists(SYMBOLS, max_size=6), min_size=1, max_size=5)


def atoms(X, i=0):
    return {str(atom) for atom in X[i].atoms}


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
