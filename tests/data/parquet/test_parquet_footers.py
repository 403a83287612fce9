"""The number of values that a Parquet file speaks of, and footers that are damaged."""

import io
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx.data.parquet.codec import n_values

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(columns, **options):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def told_by_pyarrow(data):
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return sum(one.column(c).num_values for one in groups for c in range(metadata.num_columns))


COLUMNS = {
    "a": [1, 2, None, 4],
    "b": [[1, 2], [], None, [3]],
    "c": ["x", "yy", "", None],
    "d": [True, False, None, True],
    "e": [[{"x": 1, "y": 2.5}], [], [{"x": 3, "y": None}] * 3, None],
}


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize("statistics", [True, False])
def test_the_values_are_counted_as_pyarrow_counts_them(rows, statistics):
    data = written(COLUMNS, row_group_size=rows, write_statistics=statistics)
    assert n_values(data) == told_by_pyarrow(data)


def test_the_values_of_a_file_of_polars_are_counted():
    out = io.BytesIO()
    pl.DataFrame({"a": [1, 2, 3], "b": [["x"], [], ["y", "z"]]}).write_parquet(out)
    assert n_values(out.getvalue()) == told_by_pyarrow(out.getvalue())


@given(st.lists(st.lists(st.integers(-5, 5), max_size=5), max_size=30), st.integers(1, 10))
def test_lists_of_any_lengths_are_counted(lists, rows):
    data = written({"a": pa.array(lists, pa.list_(pa.int32()))}, row_group_size=rows)
    assert n_values(data) == told_by_pyarrow(data)


def test_many_columns_are_counted():
    data = written({f"c{i}": [i] * 3 for i in range(40)})
    assert n_values(data) == 120


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 3, b"x" * 100, b"PAR1\0\0\0\0\xffPAR1"])
def test_what_is_no_parquet_file_is_refused(data):
    with pytest.raises(ValueError, match=r"no Parquet file|the footer is cut"):
        n_values(data)


def footer(content):
    return b"PAR1" + content + len(content).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x4c" * 100, "nested too deeply"),
        (b"\x49" + b"\x19" * 100, "nested too deeply"),
        (b"\x49\xf6\xff\xff\xff\xff\x7f", "longer than the footer"),
        (b"\x46" + b"\xff" * 12, "more than 64 bits"),
        (b"\x48\xff\xff\x01", "the footer is cut"),
        (b"\x4e\x00", "an unknown kind of value"),
        (b"\x4b\x01", "the footer is cut"),
        (b"\x49\x1c\x19\x1c\x3c\x56\x01\x00\x00\x00\x00", "a number of values below 0"),
    ],
)
def test_a_damaged_footer_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        n_values(footer(content))


def test_a_footer_of_one_number_is_counted():
    assert n_values(footer(b"\x49\x1c\x19\x1c\x3c\x56\x0e\x00\x00\x00\x00")) == 7


def test_a_map_is_passed_over():
    assert n_values(footer(b"\x1b\x02\x85\x01a\x02\x01b\x04\x00")) == 0


def test_noise_in_a_footer_gives_a_number_or_a_value_error():
    data, rng = written(COLUMNS), random.Random(0)
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(rng.choice((1, 2, 5))):
            broken[-rng.randrange(9, 1200)] = rng.randrange(256)
        try:
            assert n_values(bytes(broken)) >= 0
        except ValueError:
            continue
