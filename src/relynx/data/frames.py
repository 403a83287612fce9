"""Tables for others: data frames, CSV, JSON Lines and Parquet. The one place that uses narwhals.

A table comes as chunks, mappings from the names of columns to their values, so that a long one is
never in memory as Python values at once.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

import narwhals as nw

from relynx.data.whole_files import whole_file
from relynx.errors import InputError, Problem, did_you_mean

Schema: TypeAlias = Mapping[str, type]
Chunks: TypeAlias = Iterable[Mapping[str, Sequence[Any]]]

BACKENDS = ("pandas", "polars", "pyarrow")
_WRITE_PARQUET = ("polars", "pyarrow")
_TYPES: dict[type, Any] = {str: nw.String, int: nw.Int64, float: nw.Float64}


def frame(chunks: Chunks, schema: Schema, *, backend: str) -> Any:
    """A data frame of a library: `pandas`, `polars` or `pyarrow`.

    Parameters
    ----------
    chunks
        The rows, some at a time.
    schema
        The columns, and whether they hold `str`, `int` or `float`.
    backend
        The library. It must be installed; relynx itself needs none of them.
    """
    if backend not in BACKENDS:
        hint = did_you_mean(backend, BACKENDS) or f"give one of {', '.join(BACKENDS)}"
        raise ValueError(f"unknown backend {backend!r}: {hint}")
    if not _installed(backend):
        what = f"a {backend} frame needs {backend}, which is not installed"
        raise InputError(Problem(what, hint=f"pip install {backend}"))
    return _frame(chunks, schema, backend).to_native()


def write_parquet(path: str | os.PathLike[str], chunks: Chunks, schema: Schema) -> None:
    """Write a Parquet file, with polars or pyarrow, whichever is installed."""
    backend = parquet_library()
    with whole_file(path) as partial:
        _frame(chunks, schema, backend).write_parquet(partial)


def parquet_library() -> str:
    """The library that writes Parquet files. Raises InputError where none is installed."""
    backend = next(filter(_installed, _WRITE_PARQUET), None)
    if backend is None:
        what = "Parquet files need polars or pyarrow, and neither is installed"
        raise InputError(Problem(what, hint="pip install polars, or write .csv or .jsonl"))
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


def _installed(library: str) -> bool:
    return find_spec(library) is not None


def _frame(chunks: Chunks, schema: Schema, backend: Any) -> nw.DataFrame[Any]:
    types = {name: _TYPES[kind] for name, kind in schema.items()}
    empty: Mapping[str, Sequence[Any]] = {name: [] for name in schema}
    parts = [nw.from_dict(dict(chunk), types, backend=backend) for chunk in chunks]
    whole = nw.concat(parts or [nw.from_dict(dict(empty), types, backend=backend)])
    return nw.maybe_reset_index(whole)
