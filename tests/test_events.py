"""Tables of events as sequences, and back."""

import csv
import datetime as dt
import pickle
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import DataError, InputError, from_events, to_events
from relynx.bias.infer import MAX_CONSTANTS
from relynx.data.event_columns import LARGEST
from relynx.data.event_plans import clean_name
from relynx.data.sequences import shown

try:
    import pyarrow as pa
except ImportError:  # a run without it is reported as skipped, below
    pa = None

TEXTS = st.sampled_from(["a", "b", "c d", "e1", "Z", "it's", "ü,;|"])
CUT = ("cost",)


def atoms(X, i=0):
    return {str(atom) for atom in X[i].atoms}


def message(*args, **kwargs):
    with pytest.raises(InputError) as caught:
        from_events(*args, **kwargs)
    return str(caught.value)


@st.composite
def tables(draw, *, min_rows=1):
    """A dict of lists with a column of each kind, with gaps."""
    n = draw(st.integers(min_rows, 12))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    return {
        "case": column(st.sampled_from(["p", "q", "r s"])),
        "time": column(st.integers(0, 5)),
        "step": column(st.none() | TEXTS),
        "count": column(st.none() | st.integers(-3, 3)),
        "cost": column(st.none() | st.integers(-400, 400).map(lambda i: i / 8)),
        "done": column(st.none() | st.booleans()),
    }


def libraries(table, folder):
    """The same table in each library and kind of file that is at hand."""
    frames = {
        "pandas": pd.DataFrame(table),
        "pandas, nullable": pd.DataFrame(table).convert_dtypes(),
        "pandas, objects": pd.DataFrame(table, dtype=object),
        "polars": pl.DataFrame(table),
        "polars, lazy": pl.LazyFrame(table),
        "polars, categories": pl.DataFrame(table).with_columns(
            pl.col("step").cast(pl.String).cast(pl.Categorical)
        ),
    }
    if pa is not None:
        frames["pyarrow"] = pa.table(table)
    path = folder / "events.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    frames["csv"] = path
    pl.DataFrame(table).write_parquet(folder / "events.parquet")
    frames["parquet"] = str(folder / "events.parquet")
    return frames


@given(table=tables(), named=st.booleans())
def test_all_libraries_give_equal_sequences(tmp_path_factory, table, named):
    arguments = {"sequence": "case", "order": "time"}
    if named:
        arguments |= {"fluents": ["step", "count", "cost", "done"]}
    X, _ = from_events(table, **arguments)
    for name, frame in libraries(table, tmp_path_factory.getbasetemp()).items():
        other, _ = from_events(frame, **arguments)
        if named and any(values == [None] * len(values) for values in table.values()):
            assert other.tables.keys() == X.tables.keys(), name  # an empty column has no kind
        else:
            assert str(other.reading) == str(X.reading), name
        assert other == X, name
        assert other.vocabulary == X.vocabulary, name


def test_pyarrow_is_among_the_libraries():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: its tables were not compared")


# What a table means, in plain loops


def plain_facts(table, columns):
    """The facts of a table with one order, as text, for each sequence."""
    ids = list(dict.fromkeys(table["case"]))
    out = []
    for name in ids:
        rows = [i for i, case in enumerate(table["case"]) if case == name]
        rows.sort(key=lambda i: table["time"][i])  # a stable sort
        facts = {f"next_s(e{k},e{k + 1})" for k in range(1, len(rows))}
        for k, i in enumerate(rows, 1):
            for column in columns:
                value = table[column][i]
                if value is not None:
                    text = str(rx.Atom("v", (value,)))[2:-1]
                    facts.add(f"{column}(e{k},{text})")
        out.append(facts)
    return ids, out


@given(tables())
def test_rows_become_events_in_order_and_cells_become_facts(table):
    table["step"] = [None if text == "e1" else text for text in table["step"]]
    X, y = from_events(table, sequence="case", order="time", fluents=["step", "count"])
    ids, facts = plain_facts(table, ["step", "count"])
    assert y is None
    assert X.ids.tolist() == ids
    assert [atoms(X, i) for i in range(len(X))] == facts


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter_where_times_differ(table, random):
    n = len(table["case"])
    table["time"] = random.sample(range(-n, n), n)
    table["case"] = sorted(table["case"])  # sequences appear in the same order
    X, _ = from_events(table, sequence="case", order="time", fluents=["step", "cost"])
    rows = sorted(range(n), key=lambda i: (table["case"][i], random.random()))
    mixed = {name: [values[i] for i in rows] for name, values in table.items()}
    assert from_events(mixed, sequence="case", order="time", fluents=["step", "cost"])[0] == X


@given(tables(), st.data())
def test_along_each_dimension_those_that_agree_in_the_others_follow_each_other(table, data):
    n = len(table["case"])
    table["bed"] = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    order = {"day": "time", "bed": "bed"}
    X, _ = from_events(table, sequence="case", order=order, fluents=["step"])
    for i, name in enumerate(X.ids):
        rows = [j for j in range(n) if table["case"][j] == name]
        rows.sort(key=lambda j: (table["time"][j], table["bed"][j]))
        links = set()
        for dimension, along, other in (("day", "time", "bed"), ("bed", "bed", "time")):
            for place in set(table[other]):
                here = [j for j in rows if table[other][j] == place]
                here.sort(key=lambda j: table[along][j])
                links |= {
                    f"next_{dimension}(e{rows.index(a) + 1},e{rows.index(b) + 1})"
                    for a, b in pairwise(here)
                }
        prefix = {str(a.args[0])[:-1].rstrip("0123456789") for a in X[i].atoms} or {"e"}
        found = {text for text in atoms(X, i) if text.startswith("next_")}
        assert found == {
            text.replace("(e", f"({min(prefix)}").replace(",e", f",{min(prefix)}") for text in links
        }


# Back to a table


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


# Order


def order_of(times, **more):
    """The rows, named by letters, in the order that some times give them."""
    table = {"case": [1] * len(times), "time": times, "v": list("abcdef"[: len(times)])}
    X, _ = from_events(table | more, sequence="case", order="time", fluents=["v"])
    names = {atom.args[0]: atom.args[1] for atom in X[0].atoms if atom.predicate == "v"}
    return "".join(names[f"e{i + 1}"] for i in range(len(times)))


@pytest.mark.parametrize(
    "times",
    [
        [10, 9, 100],
        [0.5, -1.0, 2.5],
        [True, False, True],
        [dt.date(2024, 2, 1), dt.date(2024, 1, 30), dt.date(2024, 10, 1)],
        [dt.datetime(2024, 1, 1, 10), dt.datetime(2024, 1, 1, 9), dt.datetime(2024, 1, 2)],
        ["2024-02-01", "2024-01-30", "2024-10-01"],
        ["2024-01-01 10:00", "2024-01-01T09:59:59.5", "2024-01-02"],
        ["2024/01/02 10:00:00", "2024/01/01 11:00:00", "2024/01/02 10:00:01"],
        ["1.2.2024 05:00", "30.01.2024", "01.10.2024"],
        ["31.1.2024 19:05", "31.1.2024 9:05", "1.2.2024"],
        ["2024-1-10", "2024-1-9", "2024/2/1"],
        ["2024-01-05 10:00 UTC", "2024-01-05 9:00:00UTC", "2024-01-05T12:00:00+01:00"],
        ["2024-01-05 10:00:00.500000000", "2024-01-05 10:00:00.4999990", "2024-01-06"],
        ["2024-01-01T10:00+02:00", "2024-01-01T07:00Z", "2024-01-01T10:00+00:00"],
    ],
)
def test_numbers_and_dates_are_ordered_as_what_they_are(times):
    assert order_of(times) == "bac"


def test_times_with_a_zone_are_compared_as_moments():
    east, west = dt.timezone(dt.timedelta(hours=9)), dt.timezone(dt.timedelta(hours=-9))
    times = [dt.datetime(2024, 1, 1, 1, tzinfo=west), dt.datetime(2024, 1, 1, 9, tzinfo=east)]
    assert order_of(times) == "ba"
    frame = pd.DataFrame({"case": [1, 1], "v": ["a", "b"], "time": pd.to_datetime(times, utc=True)})
    for one in (frame, pl.DataFrame({"case": [1, 1], "v": ["a", "b"], "time": times})):
        X, _ = from_events(one, sequence="case", order="time")
        assert atoms(X) == {"next_s(e1,e2)", "v(e1,b)", "v(e2,a)"}


def test_parts_of_a_microsecond_count():
    times = pd.to_datetime(["2024-01-01T00:00:00.000000900", "2024-01-01T00:00:00.000000100"])
    table = {"case": [1, 1], "time": times.to_numpy(), "v": ["late", "early"]}
    objects = table | {"time": list(times)}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), table, objects):
        X, _ = from_events(frame, sequence="case", order="time", fluents=["v", "time"])
        assert atoms(X) >= {"v(e1,early)", "v(e2,late)", "time(e2,'2024-01-01T00:00:00.0000009')"}


def test_parts_of_a_microsecond_count_in_texts(tmp_path):
    texts = ["2024-01-01 00:00:00.0000009", "1.1.2024 0:00:00,000000100", "2024-01-01"]
    assert order_of(texts) == "cba"
    assert order_of([text + "Z" if ":" in text else text + "T00Z" for text in texts]) == "cba"


def test_parts_of_a_microsecond_count_beside_a_date_of_another_age():
    fine = [pd.Timestamp("2024-01-01 00:00:00.000000002"), np.datetime64("2024-01-01", "ns")]
    assert order_of([dt.datetime(9999, 12, 31), *fine, dt.date(1, 1, 1)]) == "dcba"


def test_a_zone_may_lead_beyond_the_years_that_python_has():
    zones = [dt.timezone(dt.timedelta(hours=hours)) for hours in (1, -1)]
    first = dt.datetime(1, 1, 1, tzinfo=zones[0])
    last = dt.datetime(9999, 12, 31, 23, 59, tzinfo=zones[1])
    assert order_of([last, dt.datetime(2024, 1, 1, tzinfo=dt.UTC), first]) == "cba"
    X, _ = from_events({"case": [1], "t": [first]}, sequence="case", fluents=["t"])
    assert atoms(X) == {"t(e1,'0000-12-31T23:00:00')"}


def test_a_year_of_five_digits_is_a_year():
    days = np.array(["20000-01-01", "2000-01-01"], "datetime64[s]")
    frame = pd.DataFrame({"case": [1, 1], "time": days, "v": ["late", "early"]})
    X, _ = from_events(frame, sequence="case", order="time", fluents=["v", "time"])
    assert atoms(X) >= {"v(e1,early)", "v(e2,late)", "time(e2,'20000-01-01')"}


@pytest.mark.skipif(pa is None, reason="pyarrow is not installed")
def test_days_may_be_further_away_than_microseconds_reach():
    days = pa.array([106751992, None, -106751992], pa.int32()).cast(pa.date32())
    table = pa.table({"case": [1, 1, 1], "n": [1, 2, 3], "day": days})
    pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    for frame in (table, pandas, pl.DataFrame(table)):
        X, _ = from_events(frame, sequence="case", order="n", fluents=["day"])
        assert atoms(X) >= {"day(e1,'294247-01-11')", "day(e3,'-290308-12-21')"}


def test_durations_are_numbers_of_seconds():
    waits = [dt.timedelta(minutes=2), dt.timedelta(seconds=1.5), None]
    units = [np.timedelta64(2, "m"), np.timedelta64(1500, "ms"), np.timedelta64("NaT")]
    for make in (pd.DataFrame, pl.DataFrame, dict, lambda table: table | {"wait": units}):
        X, _ = from_events(make({"case": [1, 1, 1], "wait": waits}), sequence="case")
        assert atoms(X) >= {"wait(e1,120.0)", "wait(e2,1.5)"}
    fine = pd.DataFrame({"case": [1, 1], "wait": pd.to_timedelta([900, 100], unit="ns")})
    assert atoms(from_events(fine, sequence="case")[0]) >= {"wait(e1,9.0e-07)", "wait(e2,1.0e-07)"}


def test_rows_at_one_time_follow_each_other_as_they_stand_and_it_is_said():
    assert order_of([2, 1, 2, 1]) == "bdac"
    X, _ = from_events({"c": [1, 1, 1], "t": [5, 5, 4], "v": [1, 2, 3]}, sequence="c", order="t")
    assert X.reading.notes == (
        "1 row has the same 't' as the one before: such rows follow each other as they stand in "
        "the table",
    )


# What becomes of columns


def test_columns_that_cannot_help_are_left_out_and_it_is_said():
    n = 100
    table = {
        "case": [i // 5 for i in range(n)],
        "empty": [None] * n,
        "same": ["x"] * n,
        "remark": [f"text {i}" for i in range(n)],
        "day": [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(n)],
        "step": [str(i % 7) for i in range(n)],
        "": list(range(n)),
        "written": [f"{1 + i % 28}.2.2024 9:{i % 60:02}" for i in range(n)],
        "true": [True] * n,
    }
    X, _ = from_events(table, sequence="case")
    assert set(X.tables) == {("next_s", 2), ("step", 2)}
    assert X.reading.notes == (
        "column 'empty' is left out: it holds no value",
        "column 'same' is left out: it has the same value in every row",
        "column 'remark' is left out: it has 100 different texts in 100 rows",
        "column 'day' is left out: it is a date; a weekday, an hour or a duration made of it would "
        "be read",
        "a column without a name is left out",
        "column 'written' is left out: it is a date; a weekday, an hour or a duration made of it "
        "would be read",
        "column 'true' is left out: it has the same value in every row",
    )


def test_columns_that_are_not_asked_for_are_named():
    table = {"case": [1, 1], "age": [3, 3], "do": ["a", "b"]}
    X, _ = from_events(table, sequence="case", fluents=["do"])
    assert X.reading.notes == ("'age' is not used: neither fluents nor attributes names it",)
    table |= {f"c{i}": [1, 2] for i in range(13)}
    X, _ = from_events(table, sequence="case", fluents=["do"], attributes=["age"])
    assert X.reading.notes == (
        "'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11' and 1 more are "
        "not used: neither fluents nor attributes names them",
    )


def test_columns_that_are_asked_for_are_never_left_out():
    days = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12, 30)]
    table = {"case": [1, 1], "same": ["x", "x"], "day": days}
    X, _ = from_events(table, sequence="case", fluents=["same", "day"])
    assert atoms(X) >= {"same(e1,x)", "day(e1,'2024-01-01')", "day(e2,'2024-01-01T12:30:00')"}
    assert X.reading.notes == ()


def test_columns_that_never_change_inside_a_sequence_become_attributes():
    table = {"case": [1, 1, 2, 2], "sex": list("ffmm"), "age": [3, 3, None, None]}
    X, _ = from_events(table | {"do": list("abab")}, sequence="case")
    assert atoms(X, 0) == {"next_s(e1,e2)", "do(e1,a)", "do(e2,b)", "sex(f)", "age(3)"}
    assert atoms(X, 1) == {"next_s(e1,e2)", "do(e1,a)", "do(e2,b)", "sex(m)"}
    assert X.reading.notes == ("'sex', 'age' never change inside a sequence: attributes",)


def test_a_column_with_gaps_inside_a_sequence_describes_events():
    table = {"case": [1, 1, 1, 2, 2, 2], "diag": [None, "flu", None, None, None, "cold"]}
    X, _ = from_events(table, sequence="case")
    assert "diag(e2,flu)" in atoms(X, 0)
    assert "diag(e3,cold)" in atoms(X, 1)


def test_attributes_may_be_named_or_denied():
    table = {"case": [1, 1, 2, 2], "sex": list("ffmm"), "do": list("abab")}
    X, _ = from_events(table, sequence="case", attributes="sex")
    assert (X.reading.notes, ("sex", 1) in X.tables) == ((), True)
    X, _ = from_events(table, sequence="case", attributes=[])
    assert ("sex", 2) in X.tables


def test_of_sequences_of_one_event_nothing_is_taken_for_an_attribute():
    X, _ = from_events({"case": [1, 2, 3, 3], "do": list("abcc")}, sequence="case")
    assert ("do", 2) in X.tables


def test_columns_of_a_group_are_the_arguments_of_one_predicate():
    table = {"case": [1, 1], "from": ["a", None], "to": ["b", "c"]}
    X, _ = from_events(table, sequence="case", fluents={"move": ["from", "to"], "to": "to"})
    assert atoms(X) == {"next_s(e1,e2)", "move(e1,a,b)", "to(e1,b)", "to(e2,c)"}
    assert X.reading.notes == (
        "no 'move' is made of 1 row (row 2), where 'from' or 'to' is missing",
    )


def test_a_group_keeps_its_name_and_an_attribute_gives_way():
    table = {"case": [1, 1], "age": [3, 3], "do": ["a", "b"]}
    X, _ = from_events(table, sequence="case", fluents={"age": "do"}, attributes=["age"])
    assert atoms(X) == {"next_s(e1,e2)", "age(e1,a)", "age(e2,b)", "age_2(3)"}


def test_times_of_the_day_are_texts():
    frame = pl.DataFrame({"case": [1, 1], "at": [dt.time(9), dt.time(10, 30)]})
    X, _ = from_events(frame, sequence="case", attributes=[])
    assert {"at(e1,'09:00:00')", "at(e2,'10:30:00')"} <= atoms(X)


def test_one_fluent_may_be_given_by_its_name_alone():
    X, _ = from_events({"case": [1], "a": [1], "b": [2]}, sequence="case", fluents="b")
    assert atoms(X) == {"b(e1,2)"}


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("Part_Desc_", "part_desc"),
        ("Resource.1", "resource_1"),
        ("Größe (cm)", "große_cm"),
        ("2nd", "c_2nd"),
        ("next_s", "c_next_s"),
        ("followat_b", "c_followat_b"),
        ("End", "c_end"),
        ("!?", "column"),
        ("a b", "a_b_2"),
    ],
)
def test_names_of_columns_become_names_of_predicates(name, predicate):
    assert clean_name(name, ["a_b"]) == predicate


def test_columns_whose_names_would_be_one_get_numbers():
    X, _ = from_events({"c": [1, 1], "A b": list("xy"), "a_B": list("zw")}, sequence="c")
    assert {"a_b(e1,x)", "a_b_2(e1,z)"} <= atoms(X)


def test_no_event_has_the_name_of_a_value():
    X, _ = from_events({"case": [1, 1], "v": ["e1", "event12"]}, sequence="case")
    assert atoms(X) == {
        "next_s(event_1,event_2)",
        "v(event_1,e1)",
        "v(event_2,event12)",
    }


def test_whole_numbers_are_integers_whatever_holds_them():
    expected = {"next_s(e1,e2)", "v(e1,1)", "v(e2,-2)"}
    for values in ([1.0, -2.0], np.array([1, -2], np.int8), [Decimal(1), Decimal(-2)]):
        X, _ = from_events({"case": [1, 1], "v": values}, sequence="case")
        assert atoms(X) == expected


def test_categories_are_what_they_are_whatever_holds_them():
    table = {"case": [1, 1, 2], "n": [3, 1, 3], "ok": [True, None, False], "v": ["a", None, "b"]}
    X, _ = from_events(table, sequence="case")
    frames = [pd.DataFrame({name: pd.Categorical(column) for name, column in table.items()})]
    if pa is not None:
        coded = {name: pa.array(table[name]).dictionary_encode() for name in ("n", "v")}
        frames.append(pa.table(table | coded))
    for frame in frames:
        other, _ = from_events(frame, sequence="case")
        assert str(other.reading) == str(X.reading)
        assert other == X


def test_what_is_no_number_is_told():
    with pytest.raises(InputError) as caught:
        from_events({"case": [1], "v": [np.complex128(1)]}, sequence="case")
    assert str(caught.value) == (
        f"row 1: column 'v' holds {shown(np.complex128(1))}, which is no value of a cell\n"
        "hint: give text, numbers, truth values or dates, or leave it out: fluents names the "
        "columns to use"
    )
    table = {"case": [1, 1], "v": [Decimal("sNaN"), Decimal(2)]}
    assert atoms(from_events(table, sequence="case")[0]) == {"next_s(e1,e2)", "v(e2,2)"}


def test_columns_of_one_name_are_told_though_one_is_named_as_in_pyarrow():
    frame = pd.DataFrame([[1, 2, 3]], columns=["case", "column_names", "case"])
    with pytest.raises(InputError) as caught:
        from_events(frame, sequence="case")
    assert str(caught.value) == (
        "2 columns are named 'case'\nhint: give each column a name of its own"
    )


@pytest.mark.parametrize("big", [2**53 + 1, LARGEST - 1])
def test_large_integers_keep_their_digits(tmp_path, big):
    table = {"case": [1, 1], "v": [big, 3]}
    (tmp_path / "t.csv").write_text(f"case,v\n1,{big}\n1,3\n")
    for frame in (table, pd.DataFrame(table), pl.DataFrame(table), tmp_path / "t.csv"):
        assert f"v(e1,{big})" in atoms(from_events(frame, sequence="case")[0])


def ids_of(tmp_path, text):
    (tmp_path / "t.csv").write_text(f"case,v\n{text}")
    return from_events(tmp_path / "t.csv", sequence="case")[0].ids.tolist()


def test_ids_that_are_no_plain_integers_are_told_apart_by_their_texts(tmp_path):
    assert ids_of(tmp_path, "1.1,a\n1.10,b\n1.2,c\n") == ["1.1", "1.10", "1.2"]
    assert ids_of(tmp_path, "1,a\n+1,b\n") == ["1", "+1"]
    assert ids_of(tmp_path, "0,a\n-1,b\n12,c\n") == [0, -1, 12]
    assert ids_of(tmp_path, "1,a\nA,b\nNA,c\n") == ["1", "A", "NA"]
    assert ids_of(tmp_path, f"{LARGEST},a\n{LARGEST + 1},b\n") == [str(LARGEST), str(LARGEST + 1)]


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ([2.0, 1.0], [2, 1]),
        ([2.5, 1.0], ["2.5", "1.0"]),
        ([LARGEST, LARGEST + 1], [str(LARGEST), str(LARGEST + 1)]),
        ([Decimal(2**53), Decimal(2**53 + 1)], [2**53, 2**53 + 1]),
        (
            [Decimal("0.30000000000000000001"), Decimal("0.3")],
            ["0.30000000000000000001", "0.3"],
        ),
        ([True, False], ["true", "false"]),
        ([dt.date(2024, 2, 1), dt.date(2024, 1, 1)], ["2024-02-01", "2024-01-01"]),
    ],
)
def test_ids_never_go_through_floats(values, ids):
    table = {"case": values, "v": ["a", "b"]}
    for frame in (table, pd.DataFrame(table, dtype=object)):
        assert from_events(frame, sequence="case")[0].ids.tolist() == ids


@pytest.mark.parametrize(
    ("values", "kind"), [([LARGEST, LARGEST + 1], pl.UInt64), ([2**70, 2**70 + 1], pl.Int128)]
)
def test_integers_of_more_than_64_bits_are_texts(values, kind):
    frame = pl.DataFrame({"case": values, "v": values}, schema={"case": kind, "v": kind})
    X, _ = from_events(frame, sequence="case")
    assert X.ids.tolist() == list(map(str, values))
    assert atoms(X) == {f"v(e1,'{values[0]}')"}


def test_events_are_named_by_texts_too(tmp_path):
    (tmp_path / "t.csv").write_text("case,id,v\n1,1.1,a\n1,1.10,b\n")
    (tmp_path / "r.csv").write_text("case,id_1,id_2\n1,1.10,1.1\n")
    relations = {"on": tmp_path / "r.csv"}
    X, _ = from_events(tmp_path / "t.csv", sequence="case", event="id", relations=relations)
    assert "on(e2,e1)" in atoms(X)


def test_minus_zero_is_zero():
    X, _ = from_events({"case": [1, 1], "v": [-0.0, 0.5]}, sequence="case")
    assert "v(e1,0.0)" in atoms(X)


# Labels


def test_a_label_may_stand_in_one_row_of_its_sequence():
    table = {"case": [1, 1, 2], "y": [None, "up", "down"], "v": list("abc")}
    X, y = from_events(table, sequence="case", label="y")
    assert y.tolist() == ["up", "down"]
    assert y is X.labels


def test_labels_may_be_numbers_or_truth_values():
    assert from_events({"c": [1, 2], "y": [1.0, 0.0]}, sequence="c", label="y")[1].tolist() == [
        1,
        0,
    ]
    labels = from_events({"c": [1, 2], "y": [True, False]}, sequence="c", label="y")[1]
    assert labels.tolist() == ["true", "false"]


def test_an_empty_column_of_labels_is_no_label_and_it_is_said():
    X, y = from_events({"c": [1], "y": [None], "v": [2]}, sequence="c", label="y")
    assert y is None
    assert "column 'y' holds no label" in X.reading.notes


# Numbers in ranges


def test_numbers_of_many_values_become_ranges():
    table = {"case": [i // 10 for i in range(40)], "cost": [i / 2 for i in range(40)]}
    X, _ = from_events(table, sequence="case")
    assert str(X.reading.fluents[0].columns[0]) == "cost (<5, 5..10, 10..15, >=15)"
    assert {atom.args[1] for atom in X[0].atoms if atom.predicate == "cost"} == {"<5"}


def test_numbers_of_few_values_stay_numbers():
    table = {"case": [i // 10 for i in range(40)], "cost": [i % 10 for i in range(40)]}
    X, _ = from_events(table, sequence="case")
    assert "cost(e10,9)" in atoms(X)


@pytest.mark.parametrize(
    ("bins", "shown"),
    [
        (2, "n (<50, >=50)"),
        (("width", 4), "n (<25, 25..50, 50..75, >=75)"),
        (None, "n (integer)"),
        ({"n": [3, 7.5]}, "n (<3, 3..7.5, >=7.5)"),
        ({"n": ("width", 2)}, "n (<50, >=50)"),
        ([3, 7.5], "n (<3, 3..7.5, >=7.5)"),
        (np.array([3, 7.5]), "n (<3.0, 3.0..7.5, >=7.5)"),
        ({"n": np.array([3, 7])}, "n (<3, 3..7, >=7)"),
        ((np.str_("width"), np.int64(2)), "n (<50, >=50)"),
        ({}, "n (<25, 25..50, 50..75, >=75)"),
    ],
)
def test_bins_say_how_numbers_are_cut(bins, shown):
    table = {"case": [i // 10 for i in range(101)], "n": list(range(101))}
    X, _ = from_events(table, sequence="case", bins=bins)
    assert str(X.reading.fluents[0].columns[0]) == shown


def test_a_column_that_is_named_is_cut_though_its_values_are_few():
    X, _ = from_events({"case": [1, 1], "n": [1, 2]}, sequence="case", bins={"n": 2})
    assert {"n(e1,'<2')", "n(e2,'>=2')"} <= atoms(X)


def test_cuts_for_all_columns_hold_for_few_values_and_leave_texts_alone():
    X, _ = from_events({"case": [1, 1], "n": [1, 50], "v": ["a", "b"]}, sequence="case", bins=[10])
    assert {"n(e1,'<10')", "n(e2,'>=10')", "v(e1,a)"} <= atoms(X)


def test_the_cuts_of_an_attribute_count_sequences_not_rows():
    sizes = list(range(20))
    table = {
        "case": [case for case in sizes for _ in range(1 + 30 * (case > 15))] + sizes,
        "size": [case for case in sizes for _ in range(1 + 30 * (case > 15))] + sizes,
        "do": ["a", "b"] * 80,
    }
    table["do"] = table["do"][: len(table["case"])]
    X, _ = from_events(table, sequence="case", attributes=["size"], bins=2)
    assert X.reading.attributes[0].columns[0].cuts == (10,)


# Further tables


def test_further_tables_join_by_sequence_and_event():
    events = {"mol": [1, 1, 2], "id": ["a", "b", "a"], "element": ["c", "o", "c"]}
    bonds = {"mol": [1, 1, 9], "id_1": ["a", "b", "q"], "id_2": ["b", "a", "q"], "kind": [1, 2, 3]}
    X, _ = from_events(
        events,
        sequence="mol",
        event="id",
        relations={"bond": bonds, "weight": {"mol": [2, 1, 1], "w": [7, 5, 6]}},
    )
    assert atoms(X, 0) == {
        "next_s(e1,e2)",
        "element(e1,c)",
        "element(e2,o)",
        "bond(e1,e2,1)",
        "bond(e2,e1,2)",
        "weight(5)",
        "weight(6)",
    }
    assert atoms(X, 1) == {"element(e1,c)", "weight(7)"}
    assert str(X.reading).splitlines()[2:] == [
        "relation  bond(E1,E2,V): id_1, id_2, kind (integer)",
        "relation  weight(V): w (integer)",
        "note      the table of 'bond' has 1 row (row 3) of sequences that have no events: they "
        "are passed over",
    ]


def test_a_further_table_of_other_sequences_is_told():
    X, _ = from_events(
        {"c": [1, 1], "v": list("ab")}, sequence="c", relations={"m": {"c": [7, 8], "w": [1, 2]}}
    )
    assert X.reading.notes == (
        "the table of 'm' has no row of a sequence that has events: it makes no fact",
    )


def test_columns_that_look_like_events_are_told_where_event_is_not_given():
    events = {"m": [1, 1], "id": ["a", "b"]}
    bonds = {"m": [1], "id_1": ["a"], "id_2": ["b"], "kind": ["x"]}
    X, _ = from_events(events, sequence="m", relations={"bond": bonds})
    assert X.reading.notes == (
        "'id_1', 'id_2' of 'bond' are read as values; if they name events, give event='id'",
    )
    assert (
        from_events(events, sequence="m", event="id", relations={"bond": bonds})[0].reading.notes
        == ()
    )


def test_columns_of_events_come_in_the_order_of_their_numbers():
    events = {"m": [1, 1], "id": ["a", "b"], "v": ["x", "y"]}
    bonds = {"id_10": ["b"], "id_2": ["a"], "m": [1], "kind": ["k"], "id": ["b"]}
    X, _ = from_events(events, sequence="m", event="id", relations={"bond": bonds})
    assert "bond(e2,e1,e2,k)" in atoms(X)


def test_a_missing_value_of_a_further_table_is_told():
    events = {"m": [1, 1], "id": ["a", "b"], "v": ["x", "y"]}
    bonds = {"m": [1, 1], "id_1": ["a", "b"], "id_2": ["b", "a"], "kind": ["k", None]}
    X, _ = from_events(events, sequence="m", event="id", relations={"bond": bonds})
    assert X.reading.notes == ("no 'bond' is made of 1 row (row 2), where 'kind' is missing",)


def test_keys_are_joined_though_one_file_has_only_numbers(tmp_path):
    (tmp_path / "events.csv").write_text("case,step\n1,a\nA7,b\n")
    (tmp_path / "more.csv").write_text("case,age\n1,30\n")
    relations = {"patient": tmp_path / "more.csv"}
    X, _ = from_events(tmp_path / "events.csv", sequence="case", relations=relations)
    assert atoms(X, 0) == {"step(e1,a)", "patient(30)"}


def test_further_tables_are_read_again_with_their_cuts():
    table = {"c": [1, 2, 3], "v": list("aba")}
    ages = {"c": [1, 2, 3], "age": [10, 20, 30]}
    X, _ = from_events(table, sequence="c", relations={"p": ages}, bins={"age": [15]})
    again, _ = from_events(table, relations={"p": ages | {"age": [14, 16, 99]}}, reading=X.reading)
    assert again == X
    assert message(table, reading=X.reading) == (
        "there is no table for the relation 'p'\nhint: give relations={'p': ...}"
    )
    assert message(table, reading=X.reading, relations={"p": {"c": [1], "Age": [1]}}) == (
        "there is no column 'age', which the first table had\nhint: did you mean 'Age'?"
    )


# The same reading again


@given(tables(min_rows=4), st.data())
def test_part_of_a_table_read_again_is_that_part_of_the_sequences(table, data):
    X, _ = from_events(table, sequence="case", order="time")
    name = data.draw(st.sampled_from(X.ids.tolist()))
    rows = [i for i, case in enumerate(table["case"]) if case == name]
    part = {column: [values[i] for i in rows] for column, values in table.items()}
    again, _ = from_events(part, reading=X.reading)
    i = X.ids.tolist().index(name)
    events = {f"{prefix}{k}": f"e{k}" for prefix in ("event", "event_") for k in range(1, 13)}

    def plain(sequence):
        atoms = [(a.predicate, *(events.get(arg, arg) for arg in a.args)) for a in sequence.atoms]
        return {tuple((type(arg), arg) for arg in atom) for atom in atoms}

    if not any(value in events for values in table.values() for value in values):
        assert plain(again[0]) == plain(X[i])
    assert again.reading == X.reading


def test_a_later_table_has_the_cuts_of_the_first():
    numbers = list(range(40))
    X, _ = from_events({"case": [1] * 40, "n": numbers}, sequence="case")
    later, _ = from_events({"case": [1, 1], "n": [1000, 0.5]}, reading=X.reading)
    assert {"n(e1,'>=30')", "n(e2,'<10')"} <= atoms(later)


def test_a_later_table_has_the_kinds_of_the_first(tmp_path):
    (tmp_path / "train.csv").write_text("case,code,mass,y\n1,A,1.5,x\n1,7,2,x\n2,7,2,1\n")
    (tmp_path / "test.csv").write_text("case,code,mass,y\n1,7,2,1\n")
    X, _ = from_events(tmp_path / "train.csv", sequence="case", fluents=["code", "mass"], label="y")
    later, y = from_events(tmp_path / "test.csv", reading=X.reading)
    assert {(type(a), a) for atom in later[0].atoms for a in atom.args[1:]} == {
        (str, "7"),
        (float, 2.0),
    }
    assert y.tolist() == ["1"]
    frame = pd.DataFrame({"case": [1], "code": [7], "mass": [2], "y": [1]})
    assert from_events(frame, reading=X.reading)[0] == later


def test_a_fraction_among_integers_stays_one():
    X, _ = from_events({"case": [1, 1], "n": [1, 2]}, sequence="case", attributes=[])
    later, _ = from_events({"case": [1, 1], "n": [2.0, 2.5]}, reading=X.reading)
    assert {"n(e1,2)", "n(e2,2.5)"} <= atoms(later)


def test_a_later_table_needs_no_label():
    X, _ = from_events(
        {"case": [1, 2], "v": list("ab"), "y": list("uw")}, sequence="case", label="y"
    )
    later, y = from_events({"case": [1], "v": ["b"]}, reading=X.reading)
    assert (y, atoms(later)) == (None, {"v(e1,b)"})


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([0, 0, None], "no labels are read: column 'y' has no label for 1 sequence (2)"),
        (
            ["?", "?", "?"],
            "no labels are read: column 'y' holds text, and numbers where it was first read",
        ),
        (
            [0, 1, 1],
            "no labels are read: column 'y', the label, changes inside sequence 1: 0 in row 1, "
            "1 in row 2",
        ),
        ([None, None, None], "column 'y' holds no label"),
    ],
)
def test_labels_of_a_later_table_that_are_wrong_are_passed_over_with_a_note(labels, why):
    table = {"case": [1, 1, 2], "v": list("abb")}
    X, _ = from_events(table | {"y": [0, 0, 1]}, sequence="case", label="y")
    later, y = from_events(table | {"y": labels}, reading=X.reading)
    assert (y, later.reading.notes) == (None, (why,))
    assert [atoms(later, i) for i in (0, 1)] == [atoms(X, i) for i in (0, 1)]


def test_the_notes_of_a_later_table_are_its_own():
    first = {"c": [1, 1], "t": [1, 1], "v": ["a", "b"], "same": ["x", "x"]}
    X, _ = from_events(first, sequence="c", order="t")
    assert len(X.reading.notes) == 2
    later, _ = from_events(first | {"t": [1, 2]}, reading=X.reading)
    assert later.reading.notes == ()
    again, _ = from_events(first, reading=later.reading)
    assert again.reading.notes == X.reading.notes[1:]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_table_of_ranges_is_read_again_by_the_reading(backend, tmp_path):
    table = {"case": [1] * 12 + [2] * 3, "n": [*range(12), 3, None, 5], "v": ["a", "b", "c"] * 5}
    X, _ = from_events(table, sequence="case")
    assert X.reading.fluents[0].columns[0].cuts
    frame = to_events(X, backend=backend)
    assert from_events(frame, reading=X.reading)[0] == X
    if backend == "polars":
        frame.write_csv(tmp_path / "t.csv")
    else:
        frame.to_csv(tmp_path / "t.csv", index=False)
    assert from_events(tmp_path / "t.csv", reading=X.reading)[0] == X


def test_the_reading_stays_with_the_sequences():
    X, _ = from_events({"case": [1, 2], "v": list("ab")}, sequence="case")
    others = [X[[0]], X[0].sequences, X + X[1:], X.with_labels(["a", "b"]), X.with_background(None)]
    others += [X.recoded(X.vocabulary), pickle.loads(pickle.dumps(X))]
    assert all(other.reading == X.reading for other in others)
    Y, _ = from_events({"case": [3], "w": ["a"]}, sequence="case")
    assert (X + Y).reading is None


# Models


@pytest.fixture(scope="module")
def fitted():
    n = 60
    rng = np.random.default_rng(0)
    label = np.repeat(rng.integers(0, 2, n), 4)
    table = {
        "case": np.repeat(np.arange(n), 4).tolist(),
        "cost": (rng.uniform(0, 10, 4 * n) + 8 * label).tolist(),
        "step": rng.choice(list("abc"), 4 * n).tolist(),
        "y": [f"c{i}" for i in label],
    }
    X, y = from_events(table, sequence="case", label="y", attributes=[])
    return rx.LynxClassifier(max_length=1, max_iter=3, random_state=0).fit(X, y), X, table


def test_a_model_keeps_the_reading_and_so_does_its_file(fitted, tmp_path):
    model, X, table = fitted
    rx.save(model, tmp_path / "m.relynx")
    loaded = rx.load(tmp_path / "m.relynx")
    assert loaded.reading_ == model.reading_ == X.reading
    assert loaded.reading_.notes == X.reading.notes
    later, _ = from_events({name: v[:40] for name, v in table.items()}, reading=loaded.reading_)
    assert loaded.predict(later).tolist() == model.predict(X[:10]).tolist()


def test_a_model_refuses_a_table_with_other_cuts(fitted):
    model, X, table = fitted
    later, _ = from_events(
        {name: v[:40] for name, v in table.items()}, sequence="case", label="y", attributes=[]
    )
    with pytest.raises(InputError) as caught:
        model.predict(later)
    ours, theirs = (str(x.reading.fluents[0].columns[0]) for x in (later, X))
    assert str(caught.value) == (
        "this table was read in another way than that of the model: "
        f"cost is made of {ours}, not of {theirs}\n"
        "hint: read it as that one: rx.from_events(frame, reading=model.reading_)"
    )


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ({"order": {"t": "time"}}, "the dimensions are t, not s"),
        ({"fluents": ["step"]}, "it has no predicate cost among its fluents"),
        ({"attributes": ["kind"]}, "it has a new predicate kind among its attributes"),
        (
            {"fluents": {"cost": "step", "step": "step"}},
            "cost is made of step (text), not of cost (integer)",
        ),
    ],
)
def test_a_reading_says_how_it_differs(arguments, difference):
    table = {"case": [1, 1], "time": [1, 2], "cost": [1, 2], "step": ["a", "b"], "kind": [3, 3]}
    first = {"sequence": "case", "order": "time", "fluents": ["cost", "step"]}
    one, other = (from_events(table, **given)[0].reading for given in (first | arguments, first))
    assert one.difference(other) == difference
    assert other.difference(other) is None


# The bias of a table


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
        "room/2: argument 2 has 82 values, none of which tells or joins anything: left out",
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


# CSV files


def csv_atoms(tmp_path, text, **more):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    X, _ = from_events(path, **({"sequence": "c"} | more))
    return atoms(X)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_first_line_tells_the_separator(tmp_path, separator):
    text = "c,a b,n\n1,x,2\n1,y,3\n".replace(",", separator)
    found = csv_atoms(tmp_path, text)
    assert found == {"next_s(e1,e2)", "a_b(e1,x)", "a_b(e2,y)", "n(e1,2)", "n(e2,3)"}


def test_fields_may_be_quoted_and_go_over_lines(tmp_path):
    text = '\ufeffc,v\r\n1,"a, ""b"""\r\n\r\n1,"two\r\nlines"\r\n'
    found = csv_atoms(tmp_path, text)
    assert found == {"next_s(e1,e2)", "v(e1,'a, \"b\"')", "v(e2,'two\\r\\nlines')"}


def test_a_wrong_line_after_a_long_field_is_named_by_its_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('\nc,v\n1,"a\nb"\n\n1\n')
    assert message(path, sequence="c") == (
        f"{path}: line 6 has 1 field\nhint: the first line names 2 columns"
    )


@pytest.mark.parametrize("text", ['"Dose, mg";"a, b";c\n1;x;1\n', '"a;b",c\n1,1\n'])
def test_a_separator_in_quotes_is_none(tmp_path, text):
    assert len(csv_atoms(tmp_path, text, attributes=[], fluents=[])) == 0


def test_lines_of_blanks_do_not_count(tmp_path):
    assert csv_atoms(tmp_path, "  \n\nc,v\n1,x\n   \n1,y\n") == {
        "next_s(e1,e2)",
        "v(e1,x)",
        "v(e2,y)",
    }


def test_a_field_may_be_long_and_the_limit_of_the_csv_module_stays(tmp_path):
    limit = csv.field_size_limit()
    text = "z" * (limit + 1)
    assert f"v(e1,{text})" in csv_atoms(tmp_path, f"c,v\n1,{text}\n1,y\n")
    assert csv.field_size_limit() == limit


def test_a_file_of_tabs_is_separated_by_tabs(tmp_path):
    path = tmp_path / "t.TSV"
    path.write_text("c\ta,b,c\n1\tx\n1\ty\n")
    X, _ = from_events(path, sequence="c")
    assert atoms(X) == {"next_s(e1,e2)", "a_b_c(e1,x)", "a_b_c(e2,y)"}


def test_blanks_around_fields_and_empty_lines_do_not_count(tmp_path):
    assert csv_atoms(tmp_path, "\n c , v \n\n 1 , x \n1,x\n1,y \n") == {
        "next_s(e1,e2)",
        "next_s(e2,e3)",
        "v(e1,x)",
        "v(e2,x)",
        "v(e3,y)",
    }


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        (("1", "NA", "-2.55e1"), {"v(e1,1.0)", "v(e3,-25.5)"}),
        (("1", "", "+2"), {"v(e1,1)", "v(e3,2)"}),
        (("1,5", "2", "0,25"), {"v(e1,1.5)", "v(e2,2.0)", "v(e3,0.25)"}),
        (("007", "8", "9"), {"v(e1,'007')", "v(e2,'8')", "v(e3,'9')"}),
        (("1_000", "8", "9"), {"v(e1,'1_000')", "v(e2,'8')", "v(e3,'9')"}),
        ((str(LARGEST), "8", "9"), {f"v(e1,'{LARGEST}')", "v(e2,'8')", "v(e3,'9')"}),
        (("True", "FALSE", "null"), {"v(e1,true)", "v(e2,false)"}),
        (("NA", "b", ""), {"v(e1,'NA')", "v(e2,b)"}),
        (("true", "b", "1"), {"v(e1,true)", "v(e2,b)", "v(e3,'1')"}),
    ],
)
def test_the_fields_of_a_column_tell_its_kind(tmp_path, fields, facts):
    text = "c;v\n" + "".join(f"1;{field}\n" for field in fields)
    found = csv_atoms(tmp_path, text, attributes=[])
    assert found == facts | {"next_s(e1,e2)", "next_s(e2,e3)"}


def test_a_csv_file_needs_no_data_frame_library(tmp_path):
    (tmp_path / "t.csv").write_text("c,v\n1,x\n1,y\n")
    code = """if True:
        import sys
        for name in ("pandas", "polars", "pyarrow"):
            sys.modules[name] = None
        import relynx as rx
        print(rx.from_events("t.csv", sequence="c")[0][0])
        try:
            rx.from_events("t.parquet", sequence="c")
        except rx.InputError as error:
            print(error)
    """
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "begin(1). next_s(e1,e2). v(e1,x). v(e2,y). end.",
        "Parquet files need polars or pyarrow, and neither is installed",
        "hint: pip install polars, or give a .csv file",
    ]


def test_only_the_columns_that_are_needed_are_read_from_a_lazy_frame():
    def fail(series):
        raise AssertionError("read")

    lazy = pl.LazyFrame({"case": [1, 1], "v": ["a", "b"], "bad": [1, 2]}).with_columns(
        pl.col("bad").map_batches(fail, return_dtype=pl.Int64)
    )
    X, _ = from_events(lazy, sequence="case", fluents=["v"])
    assert len(X) == 1
