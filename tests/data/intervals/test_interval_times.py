"""Starts and ends of many kinds as places on one scale."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx import InputError, from_intervals, to_events
from relynx.data.intervals.endpoints import given_times, read_times
from relynx.data.tables.inputs import Cells, open_table

INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(-1e300, 1e300, allow_subnormal=False)
MOMENTS = st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(9999, 1, 1))


def cells_of(starts, ends, make=dict):
    return Cells(open_table(make({"a": starts, "b": ends})), ["a", "b"])


def scale_of(starts, ends, make=dict):
    return read_times(cells_of(starts, ends, make), "a", "b")


def lengths(scale):
    values = scale.between(scale.starts, scale.ends)
    return [values.constants[code] for code in values.codes.tolist()]


@pytest.mark.parametrize(
    ("one", "two"), [(INTEGERS, INTEGERS), (INTEGERS, FLOATS), (FLOATS, FLOATS)]
)
@given(data=st.data())
def test_numbers_keep_their_order_to_the_last_digit(data, one, two):
    rows = data.draw(st.lists(st.tuples(one, two), min_size=1, max_size=6))
    rows = [(first, second) for first, second in rows if first <= second] or [(0, 1)]
    scale = scale_of(*map(list, zip(*rows, strict=True)))
    # A column of floats that are all whole and small is one of integers; their order is the same.
    times = sorted({time for row in rows for time in row})
    assert scale.starts.tolist() == [times.index(first) for first, _ in rows]
    assert scale.ends.tolist() == [times.index(second) for _, second in rows]
    assert lengths(scale) == pytest.approx([float(two - one) for one, two in rows])


@given(st.lists(st.tuples(MOMENTS, MOMENTS).map(sorted), min_size=1, max_size=6))
def test_dates_keep_their_order_and_lengths_are_seconds(rows):
    starts, ends = map(list, zip(*rows, strict=True))
    times = sorted({*starts, *ends})
    texts = [[str(time) for time in column] for column in (starts, ends)]
    for columns in ((starts, ends), texts, (starts, texts[1])):
        scale = scale_of(*columns)
        assert scale.starts.tolist() == [times.index(time) for time in starts]
        assert scale.ends.tolist() == [times.index(time) for time in ends]
        wanted = [(end - start).total_seconds() for start, end in rows]
        assert lengths(scale) == pytest.approx(wanted)


def test_a_nanosecond_counts_beside_a_date_of_another_age():
    starts = np.array(["2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00.000000003"])
    ends = ["2024-01-01T00:00:00", "9999-12-31"]
    frame = {"a": pd.to_datetime(starts), "b": ends}
    scale = read_times(Cells(open_table(pd.DataFrame(frame)[1:]), ["a", "b"]), "a", "b")
    assert (scale.starts.tolist(), scale.ends.tolist()) == ([0], [1])
    assert scale.unit == 10**9
    fine = pl.DataFrame(
        {"a": starts.astype("datetime64[ns]"), "b": starts.astype("datetime64[ns]")}
    )
    shifted = fine.with_columns(b=pl.col("b") + pl.duration(nanoseconds=2))
    assert lengths(read_times(Cells(open_table(shifted), ["a", "b"]), "a", "b")) == [2e-9, 2e-9]


def test_a_zone_may_lead_beyond_the_last_year():
    scale = scale_of(["0001-01-01T00:00+05:00"], ["9999-12-31T23:59:59-05:00"])
    assert lengths(scale) == [(dt.datetime.max - dt.datetime.min).days * 86400 + 86399 + 36000]


def test_a_length_is_never_infinite():
    assert lengths(scale_of([-1.7e308, 0.5], [1.7e308, 1.5])) == [np.finfo(float).max, 1.0]
    assert lengths(scale_of([-(2**63)], [2**63 - 1])) == [2.0**64]


def _early(moment):
    return dt.datetime(2, 1, 1, tzinfo=dt.UTC) < moment


KINDS = (
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.datetimes(),
    st.dates(),
    st.sampled_from(["2024-01-31", "31.1.2024 9:05", "2024-01-31 10:00", "2025/1/1"]),
    st.sampled_from(["2024-01-31T10:00Z", "2024-01-31T10:00:00.000000001+02:00"]),
    st.datetimes(timezones=st.just(dt.timezone(dt.timedelta(hours=9)))).filter(_early),
)

ODD = st.one_of(st.none(), st.booleans(), st.just("x"), *KINDS)


@given(st.sampled_from([*KINDS, ODD]), st.data())
def test_any_times_make_intervals_or_a_message(kind, data):
    pairs = st.tuples(kind, kind)
    if kind is not ODD:
        pairs = pairs.map(lambda pair: tuple(sorted(pair)))
    rows = data.draw(st.lists(pairs, min_size=1, max_size=4))
    starts, ends = map(list, zip(*rows, strict=True))
    table = {"c": [1] * len(rows), "a": starts, "b": ends}
    arguments = {"sequence": "c", "start": "a", "end": "b", "duration": True, "gap": True}
    try:
        X, _ = from_intervals(table, **arguments)
    except InputError:
        return
    assert from_intervals(to_events(X), reading=X.reading)[0] == X


def test_parts_of_a_microsecond_count_in_texts():
    scale = scale_of(["2024-01-01T00:00:00.000000001"], ["2024-01-01T00:00:00.0000000250"])
    assert (scale.unit, lengths(scale)) == (10**9, [24e-9])
    scale = scale_of([dt.date(1, 1, 1), dt.date(2024, 1, 1)], ["1.1.2024 0:00:00,0000001"] * 2)
    assert lengths(scale)[1] == 1e-7


def test_times_with_a_zone_are_moments():
    scale = scale_of(["2024-01-01T10:00+02:00"], ["2024-01-01T09:00Z"])
    assert lengths(scale) == [3600]


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ([1, 2], [1, 2]),
        ([0.5, 2.0], [0.5, 2.0]),
        (["2024-01-31", "1.2.2024"], ["2024-01-31", "1.2.2024"]),
        ([dt.date(2024, 1, 31), dt.date(2024, 2, 1)], ["2024-01-31", "2024-02-01"]),
        (
            [
                dt.datetime(2024, 1, 31, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
                dt.datetime(2024, 1, 31, 2, tzinfo=dt.UTC),
            ],
            ["2024-01-31T00:00:00+00:00", "2024-01-31T02:00:00+00:00"],
        ),
    ],
)
def test_times_are_kept_as_they_are_given(times, kept):
    cells = cells_of(times, times)
    found = given_times(cells.values("a")).tolist()
    assert (found, list(map(type, found))) == (kept, list(map(type, kept)))
