"""The values of tables: times, numbers, ids, and their order."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from event_cases import atoms, order_of

from relynx import InputError, from_events
from relynx.data.sequences import shown
from relynx.data.tables.columns import LARGEST

try:
    import pyarrow as pa
except ImportError:  # a run without it is reported as skipped
    pa = None


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


def test_times_of_the_day_are_texts():
    frame = pl.DataFrame({"case": [1, 1], "at": [dt.time(9), dt.time(10, 30)]})
    X, _ = from_events(frame, sequence="case", attributes=[])
    assert {"at(e1,'09:00:00')", "at(e2,'10:30:00')"} <= atoms(X)


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
        ([Decimal("0.30000000000000000001"), Decimal("0.3")], ["0.30000000000000000001", "0.3"]),
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
