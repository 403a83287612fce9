"""The numbers and times of a table that its facts have as ranges only."""

import pickle
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx import Sequences, from_events, from_intervals, from_lists

ROWS = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(-5, 30), st.none() | st.floats(-9, 9).map(lambda x: x / 4)
    ),
    min_size=1,
    max_size=25,
)


def table_of(rows):
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return dict(zip(("case", "at", "cost"), map(list, columns), strict=True))


@given(ROWS)
def test_numbers_and_times_are_those_of_the_rows_in_order(rows):
    X, _ = from_events(
        table_of(rows),
        sequence="case",
        order="at",
        bins={"cost": [0]} if any(row[2] is not None for row in rows) else 4,
        fluents=["cost"],
    )
    numbers = X.numbers
    for i, name in enumerate(X.ids.tolist()):
        mine = sorted((row for row in rows if row[0] == name), key=lambda row: row[1])
        assert numbers.spans[:, i].tolist() == [mine[0][1], mine[-1][1]]
        if numbers.names:
            found = numbers.values[0, numbers.offsets[i] : numbers.offsets[i + 1]]
            wanted = [np.nan if row[2] is None else row[2] for row in mine]
            np.testing.assert_array_equal(found, wanted)


@given(ROWS, st.lists(st.integers(0, 4), max_size=6))
def test_a_part_has_the_numbers_of_its_sequences(rows, chosen):
    rows = [*rows, *((case, 0, 1.5) for case in range(5))]
    X, _ = from_events(
        table_of(rows), sequence="case", order="at", bins={"cost": [0]}, fluents=["cost"]
    )
    part = X[np.array(chosen, int)].numbers
    whole = [X[[i]].numbers for i in chosen]
    assert np.array_equal(part.spans, np.hstack([np.empty((2, 0)), *(w.spans for w in whole)]))
    values = [np.empty((1, 0)), *(w.values for w in whole)]
    np.testing.assert_array_equal(part.values, np.hstack(values))


def test_they_survive_pickling_and_concatenation():
    table = table_of([(1, 1, 0.5), (1, 3, 2.5), (2, 2, 7.0)])
    X, _ = from_events(table, sequence="case", order="at", bins={"cost": [1]})
    again = pickle.loads(pickle.dumps(X)).numbers
    assert again.names == ("cost",)
    assert again.values.tolist() == [[0.5, 2.5, 7.0]]
    both = Sequences.concatenate([X[[0]], X[[1]]]).numbers
    assert both.values.tolist() == X.numbers.values.tolist()
    assert both.spans.tolist() == X.numbers.spans.tolist()
    lists, _ = from_lists([["a"]])
    assert lists.numbers is None
    assert Sequences.concatenate([X, lists]).numbers is None


@pytest.mark.parametrize(
    "times",
    [
        ["2024-01-31 00:00:00", "2024-02-01 12:30:00.5"],
        pd.to_datetime(["2024-01-31", "2024-02-01 12:30:00.5"], format="mixed"),
        pd.to_datetime(["2024-01-31", "2024-02-01 12:30:00.5"], format="mixed", utc=True),
    ],
)
def test_times_are_seconds_from_1970(times):
    X, _ = from_events(
        pd.DataFrame({"case": [1, 1], "at": times, "what": ["a", "b"]}), sequence="case", order="at"
    )
    first = datetime(2024, 1, 31, tzinfo=UTC).timestamp()
    assert X.numbers.spans.tolist() == [[first], [first + 36.5 * 3600 + 0.5]]


def test_of_several_orders_the_first_one_tells_the_times():
    table = {"w": [1, 1, 1], "day": [2, 1, 3], "bed": [9, 8, 7], "what": list("aba")}
    X, _ = from_events(table, sequence="w", order={"day": "day", "bed": "bed"})
    assert X.numbers.spans.tolist() == [[1], [3]]


def test_an_order_of_truth_values_is_0_and_1():
    table = {"w": [1, 1], "late": [True, False], "what": list("ab")}
    X, _ = from_events(table, sequence="w", order="late")
    assert X.numbers.spans.tolist() == [[0], [1]]


def test_without_an_order_and_without_cuts_there_are_none():
    assert from_events({"w": [1, 1], "what": list("ab")}, sequence="w")[0].numbers is None


def test_intervals_begin_with_the_first_start_and_end_with_the_last_end():
    table = {"day": [1, 2, 1], "from": [9, 1, 8], "to": [10, 2, 12], "what": list("abc")}
    X, _ = from_intervals(table, sequence="day", start="from", end="to", symbol="what")
    assert X.numbers.spans.tolist() == [[8, 1], [12, 2]]
