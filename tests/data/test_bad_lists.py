"""Every input here is wrong, and its whole message is a text of golden/bad_lists."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from golden_texts import compare, refusals, told
from paths import GOLDEN

from relynx import Atom, DataError, LynxClassifier, from_lists
from relynx.logic.terms import Var

NAN, INFINITE = float("nan"), float("inf")
TWO = [["a"], ["b"]]
VALUES = {"predicate": "value"}

# A name, the lists, and what else is given.
CASES = {
    # no list of lists
    "a_text": ("abc", {}),
    "bytes": (b"abc", {}),
    "a_number": (7, {}),
    "nothing": (None, {}),
    "a_dict": ({"s1": ["a"]}, {}),
    "a_set": ({("a", "b")}, {}),
    "a_frame": (pd.DataFrame({"case": [1], "step": ["a"]}), {}),
    "an_array_of_one_number": (np.array(5), {}),
    "sequences": (from_lists(TWO)[0], {}),
    "no_lists": ([], {}),
    # a sequence that is no list
    "one_list_of_symbols": (["a", "b"], {}),
    "one_array_of_numbers": (np.array([1, 2]), {}),
    "a_sequence_that_is_a_set": ([["a"], {"b"}], {}),
    "a_sequence_that_is_a_dict": ([{"a": 1}], {}),
    "a_sequence_that_is_missing": (pd.Series([["a"], NAN, None]), {}),
    "a_sequence_that_is_bytes": ([b"ab"], {}),
    # a position that is no symbol
    "a_number_without_a_predicate": ([["a"], ["b", 3]], {}),
    "a_truth_without_a_predicate": ([[True]], {}),
    "a_matrix": (np.zeros((2, 2)), {}),
    "a_missing_symbol": ([["a", None]], {}),
    "missing_values_of_all_kinds": (
        [[NAN, np.float32(NAN), pd.NA, pd.NaT, ("he", None), {None}, [NAN]]],
        VALUES,
    ),
    "a_list_in_a_list_in_a_list": ([["a", [["b"]]]], {}),
    "a_set_in_a_set": ([[frozenset({frozenset({"a"})})]], {}),
    "an_array_at_a_position": ([[np.zeros(2)]], {}),
    "a_series_at_a_position": ([[pd.Series([1, 2], name="v")]], {}),
    "a_dict_at_a_position": ([[{"a": 1}]], {}),
    "bytes_at_a_position": ([[b"a"]], {}),
    "a_long_value": ([["a", [list(range(100))]]], {}),
    # constants
    "an_infinite_number": ([[INFINITE, ("he", -INFINITE)]], VALUES),
    "a_date": ([[dt.date(2024, 1, 31)]], VALUES),
    "a_decimal_number": ([[Decimal("1.5")]], VALUES),
    "a_complex_number": ([[1j]], VALUES),
    "a_number_of_too_many_digits": ([[10**5000, ("he", -(10**5000))], [{10**5000}]], VALUES),
    "a_number_of_too_many_digits_in_a_list": ([[("he", [10**5000])]], {}),
    "an_argument_that_is_a_list": ([[("he", ["alpha"])]], {}),
    "an_argument_that_is_a_tuple": ([[("he", ("alpha", "short"))]], {}),
    "a_variable": ([[Atom("he", (Var("X"),))]], {}),
    # predicates
    "an_empty_tuple": ([[()]], {}),
    "a_tuple_of_values": ([[(1, "alpha"), (None, 2)]], {}),
    "two_arities": ([["a"], [("a", 1)]], {}),
    "two_arities_in_a_set": ([[{("a", 1), "a", ("a", 1, 2)}]], {}),
    "two_arities_with_a_predicate": ([["a", ("value", 1, 2)]], VALUES),
    "symbols_named_as_links": ([["next_s", "follow_s"], [("next_day", "monday")]], {}),
    "a_predicate_named_as_a_link": (TWO, {"predicate": "next_s"}),
    "a_predicate_without_a_name": (TWO, {"predicate": ""}),
    "a_predicate_that_is_a_number": (TWO, {"predicate": 3}),
    "a_predicate_that_is_a_list": (TWO, {"predicate": ["value"]}),
    # labels and ids
    "too_many_labels": (TWO, {"labels": ["x", "y", "z"]}),
    "no_labels": (TWO, {"labels": []}),
    "one_label_for_all": (TWO, {"labels": "up"}),
    "labels_that_are_a_number": (TWO, {"labels": 1}),
    "labels_that_are_an_array_of_one_number": (TWO, {"labels": np.array(1)}),
    "labels_without_an_order": (TWO, {"labels": frozenset({"up"})}),
    "labels_that_are_a_dict": ([["a"]], {"labels": {"s1": "up"}}),
    "labels_that_are_a_frame": ([["a"]], {"labels": pd.DataFrame({"y": ["up"]})}),
    "labels_in_columns": (TWO, {"labels": np.array([["up"], ["down"]])}),
    "labels_that_are_missing": ([*TWO, ["c"]], {"labels": [None, NAN, pd.NA]}),
    "a_label_of_too_many_digits": (TWO, {"labels": [1, 10**5000]}),
    "too_few_ids": (TWO, {"ids": ["x"]}),
    "too_many_ids_for_one": ([["a"]], {"ids": ["x", "y"]}),
    "ids_that_are_a_text": (TWO, {"ids": "ab"}),
    "an_id_given_twice": (TWO, {"ids": ["x", "x"]}),
    "an_id_that_is_missing": (TWO, {"ids": ["x", None]}),
    # several
    "all_problems_together": ([["a", 1], [None]], {"labels": ["x"], "ids": [1, 1]}),
    "more_problems_than_are_told": ([[None] * 60], {"labels": ["x", "y"]}),
}


def read(lists, arguments):
    from_lists(lists, **arguments)


test_a_wrong_input_gets_its_whole_message = refusals("bad_lists", read, CASES)


@pytest.mark.parametrize("name", ["a_matrix", "one_list_of_symbols", "a_missing_symbol"])
def test_an_estimator_says_the_same_of_wrong_lists(name):
    lists, _ = CASES[name]
    with pytest.raises(DataError) as caught:
        LynxClassifier().fit(lists, ["up", "down"])
    compare(told(caught.value), GOLDEN / "bad_lists" / f"{name}.txt")
