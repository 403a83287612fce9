"""Tables of others: data frames, CSV, JSON Lines and Parquet. The only module that uses narwhals.

A table to write comes as chunks, mappings from the names of columns to their values, so that a long
one is never in memory as Python values at once.
"""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats
from relynx.data.tables.columns import LARGEST, LoadedTable, Values
from relynx.data.tables.csv_tables import objects_without, without_markers
from relynx.data.tables.formats import marker_test
from relynx.errors import InputError, Source, did_you_mean
from relynx.logic.source_files import most_unpacked, read_bytes, too_much
from relynx.logic.terms import Constant
from relynx.storage import whole_file

Schema: TypeAlias = Mapping[str, type]
Chunks: TypeAlias = Iterable[Mapping[str, Sequence[Any]]]

BACKENDS = ("pandas", "polars", "pyarrow")
PANIC = "PanicException"
_WRITE_PARQUET = ("polars", "pyarrow")
_READ_PARQUET = ("pyarrow", "polars")  # of damaged files the second may end the process
_TYPES: dict[type, Any] = {str: nw.String, int: nw.Int64, float: nw.Float64, bool: nw.Boolean}


def frame(chunks: Chunks, schema: Schema, *, backend: str) -> Any:
    """A data frame of `pandas`, `polars` or `pyarrow`, of chunks of rows."""
    if backend not in BACKENDS:
        hint = did_you_mean(backend, BACKENDS) or f"give one of {', '.join(BACKENDS)}"
        raise ValueError(f"unknown backend {backend!r}: {hint}")
    if find_spec(backend) is None:
        what = f"a {backend} frame needs {backend}, which is not installed"
        raise InputError(what, hint=f"pip install {backend}")
    return _frame(chunks, schema, backend).to_native()


def write_parquet(path: str | os.PathLike[str], chunks: Chunks, schema: Schema) -> None:
    """Write a Parquet file, with polars or pyarrow, whichever is installed."""
    backend = parquet_library()
    with whole_file(path) as partial:
        _frame(chunks, schema, backend).write_parquet(partial)


def parquet_library(
    instead: str = "write .csv or .jsonl", among: tuple[str, ...] = _WRITE_PARQUET
) -> str:
    """The library for Parquet files. Raises InputError where none is installed."""
    backend = next(filter(find_spec, among), None)
    if backend is None:
        what = "Parquet files need polars or pyarrow, and neither is installed"
        raise InputError(what, hint=f"pip install polars, or {instead}")
    return backend


def write_csv(path: str | os.PathLike[str], chunks: Chunks, schema: Schema) -> None:
    """Write a CSV file: UTF-8, a comma between fields, one line of names."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(schema)
        for chunk in chunks:
            writer.writerows(zip(*(chunk[name] for name in schema), strict=True))


def write_jsonl(path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON Lines: UTF-8, one object a line."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _frame(chunks: Chunks, schema: Schema, backend: Any) -> nw.DataFrame[Any]:
    types = {name: _TYPES[column_type] for name, column_type in schema.items()}
    nothing: dict[str, Sequence[Any]] = {name: [] for name in schema}
    parts = [nw.from_dict(dict(chunk), types, backend=backend) for chunk in chunks]
    whole = nw.concat(parts or [nw.from_dict(nothing, types, backend=backend)])
    return nw.maybe_reset_index(whole)


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A data frame, or a Parquet file, whose values are not read yet; or the sheet of a file."""

    names: Sequence[str]
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any]
    source: Source | None = None
    markers: Sequence[Constant] = ()
    sheet: bool = False  # whether it is one of an Excel file, which is in memory

    def loaded(self, names: Sequence[str]) -> LoadedTable:
        """Some columns, in memory. Raises InputError where a file cannot be read after all."""
        if self.source is None or self.sheet:
            chosen = self.frame.select(*names)
            chosen = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
            return _LoadedFrame(chosen, self.markers)
        with _no_parquet(self.source):
            frame = self.frame.lazy().select(*names).collect()
            if frame.implementation.is_pyarrow():
                # It reads texts that are none, and complains when they are used.
                frame.to_native().validate(full=True)
            return _LoadedFrame(frame, self.markers)


@dataclass(frozen=True, slots=True)
class _LoadedFrame:
    frame: nw.DataFrame[Any]
    markers: Sequence[Constant]

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def row_name(self, row: int) -> str:
        return f"row {row + 1}"

    def values(self, name: str, column_type: str | None = None) -> Values:
        """A column by its type. Raises WrongColumn for values that cannot be cells."""
        values = self._values(name)
        if not self.markers:
            return values if isinstance(values, Values) else Values.of_objects(values, column_type)
        without = without_markers if isinstance(values, Values) else objects_without
        return without(values, marker_test(self.markers), column_type)  # type: ignore[arg-type]

    def _values(self, name: str) -> Values | list[Any]:
        """A column by its type; Python values where the type does not say what they are."""
        column = self.frame.get_column(name)
        dtype = column.dtype
        missing = column.is_null().to_numpy()
        if dtype == nw.Boolean:
            return Values.of_truths(column.fill_null(False).to_numpy().astype(bool), missing)
        if dtype.is_integer():
            filled = column.fill_null(0) if missing.any() else column
            wide = dtype in (nw.UInt64, nw.Int128, nw.UInt128) and len(column) > 0
            if wide and not -LARGEST <= filled.min() <= filled.max() < LARGEST:
                return list(column.to_list())
            return Values.of_numbers(filled.cast(nw.Int64).to_numpy(), missing)
        if dtype.is_float():
            return Values.of_numbers(_floats(column), missing)
        if dtype == nw.Duration:
            if getattr(dtype, "time_unit", None) == "ns":
                return Values.of_numbers(_floats(column.dt.total_nanoseconds()) / 1e9, missing)
            return Values.of_numbers(_floats(column.dt.total_microseconds()) / 1e6, missing)
        if dtype == nw.Date or dtype == nw.Datetime:
            zoned = getattr(dtype, "time_zone", None) is not None
            return Values.of_dates(_moments(column), zoned=zoned)
        if dtype == nw.String or (dtype in (nw.Categorical, nw.Enum) and _of_texts(column)):
            texts = column.cast(nw.String).to_list()
            if missing.any():
                texts = [None if m else t for t, m in zip(texts, missing, strict=True)]
            return Values.of_texts(texts)
        return list(column.to_list())


def _of_texts(column: nw.Series[Any]) -> bool:
    """Whether the categories that occur are texts; pandas and pyarrow have others, too."""
    return all(one is None or isinstance(one, str) for one in column.drop_nulls().unique())


def open_frame(data: Any, markers: Sequence[Constant] = ()) -> FrameTable | None:
    """A data frame of a library that narwhals knows, opened; None for anything else."""
    try:
        frame = nw.from_native(data, pass_through=False)
        if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return None
        return FrameTable(frame.collect_schema().names(), frame, markers=markers)
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:  # the names tell which
        names = getattr(data, "column_names", None)  # in pandas, a column of that name
        return FrameTable(names if isinstance(names, list) else list(data.columns), data)


def open_parquet(path: str | os.PathLike[str], markers: Sequence[Constant] = ()) -> FrameTable:
    """Open a Parquet file, with pyarrow or polars, whichever is installed."""
    name = os.fsdecode(path)
    source = Source("", name)
    if not os.path.isfile(name):
        raise InputError("there is no such file", source)
    backend: Any = parquet_library("give a .csv file", _READ_PARQUET)
    with _no_parquet(source):
        frame = nw.scan_parquet(name, backend=backend)
        return FrameTable(frame.collect_schema().names(), frame, source, markers)


def open_excel(path: str | os.PathLike[str], markers: Sequence[Constant] = ()) -> FrameTable:
    """Open the first sheet of an Excel file, with pandas and openpyxl. Its cells have types: only
    an empty one is missing."""
    name = os.fsdecode(path)
    source, data = Source("", name), read_bytes(path)
    lacking = [library for library in ("pandas", "openpyxl") if find_spec(library) is None]
    if lacking:
        what = f"Excel files need pandas and openpyxl; {' and '.join(lacking)} is not installed"
        hint = "pip install pandas openpyxl, or save the sheet as a .csv file"
        raise InputError(what, source, hint=hint)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            too_large = sum(one.file_size for one in archive.infolist()) > most_unpacked(len(data))
        if too_large:
            raise InputError(too_much(len(data), name))
        pandas: Any = import_module("pandas")
        found = pandas.read_excel(io.BytesIO(data), keep_default_na=False, na_values=[""])
    except InputError:
        raise
    except Exception:  # openpyxl has many
        what = "this is no Excel file, or it is damaged"
        raise InputError(what, source, hint="save it again, as .xlsx or .csv") from None
    table = open_frame(found, markers)
    assert table is not None
    return replace(table, source=source, sheet=True)


@contextmanager
def _no_parquet(source: Source) -> Iterator[None]:
    """Whatever a library makes of a broken file becomes a message."""
    try:
        yield
    except BaseException as error:  # each has errors of its own; those of Rust are no Exception
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        what = "this is no Parquet file, or it is damaged"
        raise InputError(what, source, hint="write it again, or give a .csv file") from None


def _floats(column: nw.Series[Any]) -> Floats:
    """The numbers, NaN where one is missing; of large integers the nearest."""
    if column.dtype.is_integer():  # arrow casts none that a float does not hold
        numbers = np.asarray(column.fill_null(0).to_numpy(), np.float64)
        return np.where(np.asarray(column.is_null().to_numpy(), bool), np.nan, numbers)
    return np.asarray(column.cast(nw.Float64).to_numpy(), np.float64)


def _moments(column: nw.Series[Any]) -> NDArray[np.datetime64]:
    """The moments, in UTC where they have a time zone; parts of a microsecond count."""
    if column.dtype == nw.Date:  # days may be too far away for anything finer than seconds
        if column.implementation.is_pandas_like():  # which has days of arrow's only
            days = column.to_arrow().to_numpy(zero_copy_only=False)
        else:
            days = column.to_numpy()
        return np.asarray(days, "datetime64[s]")
    if getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    moments = np.asarray(column.to_numpy())
    fine = moments.dtype == np.dtype("datetime64[ns]")
    return moments if fine else moments.astype("datetime64[us]")
