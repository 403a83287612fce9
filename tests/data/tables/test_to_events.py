"""Tables of events, and back."""

import datetime as dt

import pandas as pd
import polars as pl
import pytest
from event_cases import atoms, tables
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import DataError, from_events, to_events

try:
    import pyarrow as pa
except ImportError:  # a run without it is reported as skipped
    pa = None


def read_back(X, frame):
    """Read a table of `to_events` as X was read."""
    reading = X.reading
    order = dict(reading.order)
    return from_events(
        frame,
        sequence=reading.sequence,
        order=order.get("s", order) or None,
        fluents={g.predicate: [c.name for c in g.columns] for g in reading.fluents},
        attributes=[g.columns[0].name for g in reading.attributes],
        label=None if reading.label is None else reading.label.name,
        bins=None,
    )[0]


@given(tables(), st.sampled_from(["pandas", "polars"]), st.booleans())
def test_a_table_of_sequences_is_read_as_the_same_sequences(table, backend, ordered):
    table["class"] = [case.upper() for case in table["case"]]
    table["size"] = [{"p": 1, "q": 2, "r s": None}[case] for case in table["case"]]
    X, _ = from_events(
        table,
        sequence="case",
        order="time" if ordered else None,
        fluents={"step": "step", "pair": ["count", "done"], "cost": "cost"},
        attributes=["size"],
        label="class",
        bins={"cost": [0, 10.5]},
    )
    frame = to_events(X, backend=backend)
    assert read_back(X, frame) == X


@given(tables(), st.data())
def test_a_table_of_two_dimensions_is_read_back(table, data):
    n = len(table["case"])
    table["bed"] = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    table["step"] = [step or "none" for step in table["step"]]  # else a lone event is not there
    order = {"day": "time", "bed": "bed"}
    X, _ = from_events(table, sequence="case", order=order, fluents=["step", "count"])
    assert read_back(X, to_events(X, backend="polars")) == X


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_that_is_in_order_comes_back_as_it_was(make):
    table = make(
        {
            "case": ["a", "a", "b"],
            "at": [1, 2, 1],
            "step": ["in", None, "out"],
            "n": [7, 8, 9],
            "ok": [True, False, True],
            "share": [0.5, 1.25, 2.5],
            "class": [1, 1, 0],
        }
    )
    X, _ = from_events(table, sequence="case", order="at", label="class", attributes=[])
    frame = to_events(X, backend="pandas" if make is pd.DataFrame else "polars")
    assert frame.equals(table)


def test_three_dimensions_come_back_up_to_the_names_of_events():
    table = {
        "case": [1] * 5,
        "x": [1, 2, 1, 1, 2],
        "y": [1, 1, 2, 1, 2],
        "z": [1, 1, 1, 2, 2],
        "v": list("abcde"),
    }
    X, _ = from_events(table, sequence="case", order={d: d for d in "xyz"})
    Y = read_back(X, to_events(X))
    names = [
        {args[0]: args[1] for args in (a.args for a in Z[0].atoms if a.predicate == "v")}
        for Z in (X, Y)
    ]
    links = [
        {
            (atom.predicate, *(name[arg] for arg in atom.args))
            for atom in Z[0].atoms
            if atom.predicate != "v"
        }
        for Z, name in zip((X, Y), names, strict=True)
    ]
    assert links[0] == links[1] != set()


DAYS = [dt.datetime(1700, 1, 1), dt.datetime(2024, 2, 29, 12, 30, 0, 5), dt.datetime(2024, 2, 29)]
RICH = {
    "truth": [None, True, False],
    "date": [None, *DAYS],
    "large": [None, 0, -(2**63), 2**63 - 1, 2**53, 2**53 + 1],
    "real": [None, -0.0, 0.5, 1e300, 5e-324, float("nan")],
    "text": [None, "true", "1", "", " ", "\n", "2024-01-01", "\U0001f600"],
}
CLASSES = [[True, False], [0, 1], [0.5, 2.0], [dt.date(2024, 1, 1), dt.date(1, 1, 1)], ["a", "1"]]


@st.composite
def rich_tables(draw):
    """A table with a column of each kind, in which values may be missing, and its label."""
    values = [st.sampled_from(column) for column in RICH.values()]
    rows = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), *values), min_size=1, max_size=12)
    )
    cases, time, *columns = map(list, zip(*rows, strict=True))
    first, second = draw(st.sampled_from(CLASSES))
    more = {"case": cases, "time": time, "id": list(range(len(rows)))}
    more |= {"class": [first if case else second for case in cases]}
    return more | dict(zip(RICH, columns, strict=True))


@given(rich_tables(), st.sampled_from(["pandas", "polars", "pyarrow"]), st.data())
def test_columns_of_every_kind_come_back_with_gaps_labels_and_tasks(table, backend, data):
    if backend == "pyarrow" and pa is None:
        backend = "polars"
    fluents = data.draw(st.lists(st.sampled_from([*RICH, "time", "id"]), min_size=1, unique=True))
    groups = {"both": tuple(fluents), **{name: (name,) for name in fluents[1:]}}
    X, y = from_events(
        table,
        sequence="case",
        order="time",
        fluents=data.draw(st.sampled_from([fluents, groups])),
        label="class",
        event=data.draw(st.sampled_from([None, "id"])),
        bins=data.draw(st.sampled_from([None, 3, {fluents[0]: None}])),
    )
    again, labels = from_events(to_events(X, backend=backend), reading=X.reading)
    assert again == X
    assert labels.tolist() == y.tolist()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_ranges_of_a_column_that_orders_come_back_as_numbers_in_them(backend):
    table = {"case": [1] * 12 + [2] * 11, "n": [*range(30, 18, -1), *range(0, 33, 3)]}
    X, _ = from_events(table, sequence="case", order="n", fluents=["n"])
    frame = to_events(X, backend=backend)
    assert from_events(frame, reading=X.reading)[0] == X
    assert frame["n"].to_list()[:12] == sorted(frame["n"].to_list()[:12])


def test_names_of_events_to_which_nothing_refers_are_not_needed_again():
    table = {"case": [1, 1], "id": ["a", "b"], "v": ["x", "y"]}
    X, _ = from_events(table, sequence="case", event="id")
    assert to_events(X, backend="polars").columns == ["case", "v"]
    again, _ = from_events(to_events(X), reading=X.reading)
    assert again == X
    assert again.reading == X.reading


def test_a_column_of_two_predicates_comes_back_where_one_of_them_is_not_made():
    table = {"case": [1, 1, 1], "x": [1, 2, 3], "y": ["a", None, "b"]}
    X, _ = from_events(table, sequence="case", fluents={"p": "x", "q": ["x", "y"]})
    assert to_events(X, backend="polars").to_dict(as_series=False) == table
    X, _ = from_events(table | {"x": [1, None, 1]}, sequence="case", fluents="x", attributes="x")
    assert to_events(X, backend="polars")["x"].to_list() == [1, None, 1]


def test_only_what_was_a_table_becomes_one():
    for other in (rx.from_lists([["a"]])[0], 3):
        with pytest.raises(DataError) as caught:
            to_events(other)
        assert str(caught.value) == (
            "only sequences that from_events read can become a table of events\n"
            "hint: rx.write_lynx writes any sequences to a file"
        )


def test_a_row_with_nothing_to_say_still_is_a_row():
    X, _ = from_events({"case": [1, 2], "v": [None, "a"]}, sequence="case", fluents=["v"])
    assert [atoms(X, i) for i in (0, 1)] == [set(), {"v(e1,a)"}]
    assert read_back(X, to_events(X)) == X
