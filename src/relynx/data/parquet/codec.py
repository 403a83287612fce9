"""Partitions as Parquet: sequences to bytes and back. The only module that uses pyarrow.

A partition has one row per sequence. A predicate is a column of lists, one list per sequence, with
one entry per fact, its arguments as codes; a predicate without arguments is a boolean column. The
compression ratio is limited, so that a small file cannot unpack to more than memory holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Ints, Longs
from relynx.data.sequences import Sequences
from relynx.data.times import Times, offsets_of
from relynx.errors import DataError, InputError
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.logic.terms import SURROGATE, Constant, constant_text

Arrow: TypeAlias = Any  # pyarrow has no types

INSTALL = "pip install 'relynx[dask]'"
ID, ID_TYPE, LABEL, START, END = "id", "id_type", "label", "start", "end"
TEXT, INTEGER, NUMBER = range(3)  # types of constants
VALUES_PER_BYTE, FREE = 256, 1 << 24  # a file unpacks to at most so many values, and FREE more

# The footer of a Parquet file, a struct in the compact protocol of Thrift.
MAGIC = b"PAR1"
DEEPEST = 20
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
# The fields that lead to the values of a column: row groups, columns, metadata, number of values.
ROW_GROUPS, COLUMNS, METADATA, N_VALUES = 4, 1, 3, 5
PATH = (ROW_GROUPS, COLUMNS, METADATA, N_VALUES)


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a partition are: the predicates, and whether there is more."""

    relations: tuple[Key, ...]
    labelled: bool
    times: tuple[str, ...] | None  # what starts and ends are: integer, number or text


class _Pyarrow:
    """The package, imported when it is first used."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.parquet

        return getattr(pyarrow, name)


pa = _Pyarrow()


class WrongFile(Exception):
    """What is wrong with the bytes of a file; it has no name here."""


def check_installed() -> None:
    if find_spec("pyarrow") is None:
        raise InputError("folders of partitions need pyarrow, which is not installed", hint=INSTALL)


def time_types(times: Times | None) -> tuple[str, ...] | None:
    """What the starts and the ends of intervals are."""
    if times is None:
        return None
    types = {"i": "integer", "u": "integer", "f": "number"}
    return tuple(types.get(values.dtype.kind, "text") for values in (times.starts, times.ends))


def part_bytes(X: Sequences, columns: Columns, labels: Ints | None) -> bytes:
    """A partition as Parquet; `labels` are the numbers of the classes of its sequences."""
    texts, types = _as_texts(X.ids.tolist(), "id")
    arrays = {ID: pa.array(texts, pa.string()), ID_TYPE: pa.array(types)}
    if labels is not None:
        arrays[LABEL] = pa.array(labels, pa.int32())
    if columns.times is not None:
        assert X.times is not None
        ends = ((START, X.times.starts), (END, X.times.ends))
        for (name, values), column_type in zip(ends, columns.times, strict=True):
            arrays[name] = _lists(X.times.offsets, _time_array(values, column_type))
    for key in columns.relations:
        arrays[_column(key)] = _facts(X.tables.get(key, tb.empty(key[1])), len(X))
    return _packed(pa.table(arrays, schema=_schema(columns)))


def vocabulary_bytes(constants: Sequence[Constant]) -> bytes:
    texts, types = _as_texts(constants, "constant")
    return _packed(pa.table({"text": pa.array(texts, pa.string()), "type": pa.array(types)}))


def _packed(table: Arrow) -> bytes:
    for compression in ("zstd", "none"):
        out = pa.BufferOutputStream()
        pa.parquet.write_table(
            table,
            out,
            row_group_size=max(table.num_rows, 1),
            compression=compression,
            use_dictionary=False,
            write_statistics=False,
        )
        data: bytes = out.getvalue().to_pybytes()
        if not _unpacks_too_far(data):
            break
    return data


def _as_texts(constants: Sequence[Constant], what: str) -> tuple[list[str], NDArray[np.int8]]:
    """Constants as texts, and what each was."""
    types = np.zeros(len(constants), np.int8)
    texts: list[str] = []
    for i, constant in enumerate(constants):
        if isinstance(constant, str):
            texts.append(constant)
        else:
            types[i] = NUMBER if isinstance(constant, float) else INTEGER
            texts.append(repr(constant))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(text for text in texts if SURROGATE.search(text))
        message = f"the {what} {constant_text(wrong)} is no Unicode text"
        raise DataError(message, hint="give it a name of whole characters") from None
    return texts, types


def _time_array(values: NDArray[Any], column_type: str) -> Arrow:
    if column_type == "text":
        return pa.array([str(value) for value in values.tolist()], pa.string())
    return pa.array(values.astype(np.int64 if column_type == "integer" else np.float64))


def _facts(table: Table, n_sequences: int) -> Arrow:
    starts = tb.offsets(table, n_sequences)
    if len(table) == 1:
        return pa.array(np.diff(starts) > 0)
    names = [str(j) for j in range(1, len(table))]
    fields = [pa.field(name, pa.int32(), nullable=False) for name in names]
    codes = [pa.array(np.ascontiguousarray(row)) for row in table[1:]]
    return _lists(starts, pa.StructArray.from_arrays(codes, fields=fields))


def _lists(starts: Longs, values: Arrow) -> Arrow:
    offsets = pa.array(starts.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values, type=_list_type(values.type))


def _list_type(of: Arrow) -> Arrow:
    return pa.list_(pa.field("element", of, nullable=False))


def _column(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def _schema(columns: Columns) -> Arrow:
    types = {ID: pa.string(), ID_TYPE: pa.int8()}
    if columns.labelled:
        types[LABEL] = pa.int32()
    if columns.times is not None:
        time_type = {"integer": pa.int64(), "number": pa.float64(), "text": pa.string()}
        for name, column_type in zip((START, END), columns.times, strict=True):
            types[name] = _list_type(time_type[column_type])
    for key in columns.relations:
        arguments = [pa.field(str(j), pa.int32(), nullable=False) for j in range(1, 1 + key[1])]
        types[_column(key)] = _list_type(pa.struct(arguments)) if arguments else pa.bool_()
    return pa.schema([pa.field(name, of, nullable=False) for name, of in types.items()])


def read_part(
    data: bytes, columns: Columns, n_sequences: int, n_constants: int
) -> tuple[dict[Key, Table], list[Constant], Ints | None, Times | None]:
    """The tables, ids, numbers of classes and times that `part_bytes` wrote. Raises WrongFile where
    it is something else."""
    table = _unpacked(data, _schema(columns), n_sequences)
    tables = {key: _read_facts(table, key, n_constants) for key in columns.relations}
    ids = _constants(table[ID], table[ID_TYPE], "an id")
    labels = _numbers(table[LABEL]).copy() if columns.labelled else None
    return tables, ids, labels, _read_times(table, columns.times)


def read_labels(data: bytes, columns: Columns, n_sequences: int) -> Ints:
    """The numbers of the classes of a partition, and nothing else of it."""
    return _numbers(_unpacked(data, _schema(columns), n_sequences, [LABEL])[LABEL]).copy()


def read_vocabulary(data: bytes, n_constants: int) -> list[Constant]:
    """What `vocabulary_bytes` wrote. Raises WrongFile where it is something else."""
    schema = pa.schema([("text", pa.string()), ("type", pa.int8())])
    table = _unpacked(data, schema, n_constants)
    return _constants(table["text"], table["type"], "a constant")


def _unpacked(
    data: bytes, schema: Arrow, n_rows: int, names: Sequence[str] | None = None
) -> Mapping[str, Arrow]:
    """The columns of a file that has just the columns and rows it should have."""
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(data))
        found = file.schema_arrow
        # What a field of a list is called does not matter.
        if found.names != schema.names or not all(
            map(pa.DataType.equals, found.types, schema.types)
        ):
            raise WrongFile("has not the columns that the manifest says")
        if file.metadata.num_rows != n_rows:
            raise WrongFile(f"has {file.metadata.num_rows:,} rows, not {n_rows:,}")
        if _unpacks_too_far(data):
            raise WrongFile("would unpack to more than its size allows")
        table = file.read(columns=names, use_threads=False)
        table.validate(full=True)
        arrays = {name: table.column(name).combine_chunks() for name in table.column_names}
        return {name: _whole(array) for name, array in arrays.items()}
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError):
        raise WrongFile("is no good Parquet file") from None


def _unpacks_too_far(data: bytes) -> bool:
    return n_values(data) > VALUES_PER_BYTE * len(data) + FREE


def _whole(array: Arrow) -> Arrow:
    """One array of a column, without a missing value on any level."""
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    inner = array
    while True:
        if inner.null_count:
            raise WrongFile("lacks a value")
        if not pa.types.is_list(inner.type):
            break
        inner = inner.flatten()
    if pa.types.is_struct(inner.type) and any(field.null_count for field in inner.flatten()):
        raise WrongFile("lacks a value")
    return array


def _numbers(array: Arrow) -> NDArray[Any]:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _constants(texts: Arrow, type_codes: Arrow, what: str) -> list[Constant]:
    values: list[Constant] = texts.to_pylist()
    types = _numbers(type_codes)
    if len(types) and (types.min() < TEXT or types.max() > NUMBER):
        raise WrongFile(f"has {what} of an unknown type")
    try:
        for i in np.flatnonzero(types).tolist():
            text = str(values[i])
            number = int(text) if types[i] == INTEGER else float(text)
            if repr(number) != text or number - number != 0:
                raise ValueError(text)
            values[i] = number
    except (ValueError, OverflowError):
        raise WrongFile(f"has {what} that is no number") from None
    return values


def _read_facts(columns: Mapping[str, Arrow], key: Key, n_constants: int) -> Table:
    name, column = _column(key), columns[_column(key)]
    if key[1] == 0:
        return np.flatnonzero(_numbers(column)).astype(np.int32)[None, :]
    lengths = _lengths(column)
    entries = column.flatten()
    table = np.empty((1 + key[1], len(entries)), np.int32)
    table[0] = np.repeat(np.arange(len(column), dtype=np.int32), lengths)
    for j, codes in enumerate(entries.flatten()):
        table[1 + j] = _numbers(codes)
    if table.size and (table[1:].min() < 0 or table[1:].max() >= n_constants):
        raise WrongFile(f"has a code in {name} that no constant has")
    keys = tb.packed(table)
    if not np.all(keys[1:] > keys[:-1]):
        raise WrongFile(f"has facts of {name} that are out of order, or twice")
    return table


def _lengths(column: Arrow) -> Longs:
    return np.diff(_numbers(column.offsets)).astype(np.int64)


def _read_times(columns: Mapping[str, Arrow], types: tuple[str, ...] | None) -> Times | None:
    if types is None:
        return None
    lengths = _lengths(columns[START])
    if not np.array_equal(lengths, _lengths(columns[END])):
        raise WrongFile("has not an end for every start")
    starts, ends = (
        _time_values(columns[name].flatten(), column_type)
        for name, column_type in zip((START, END), types, strict=True)
    )
    return Times(offsets_of(lengths), starts, ends)


def _time_values(array: Arrow, column_type: str) -> NDArray[Any]:
    if column_type == "text":
        return np.array(array.to_pylist(), object)
    values = _numbers(array).copy()
    if column_type == "number" and not np.isfinite(values).all():
        raise WrongFile("has a time that is no finite number")
    return values


def n_values(data: bytes) -> int:
    """The values of all columns together, by the footer of a Parquet file: pyarrow reports them,
    too, but a damaged footer may crash it. Raises ValueError where there is no good footer."""
    size = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[:4] != MAGIC or data[-4:] != MAGIC or size > len(data) - 12:
        raise ValueError("no Parquet file")
    reader = _Footer(data[-8 - size : -8])
    try:
        reader.struct(PATH)
    except IndexError:
        raise ValueError("the footer is cut") from None
    return reader.total


class _Footer:
    """Goes through a struct; adds up the integers at a path of fields."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.total = 0

    def struct(self, path: tuple[int, ...], depth: int = 0) -> None:
        """A struct; `path` are the fields, from here on, that are looked for."""
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
        field = 0
        while (head := self._byte()) != STOP:
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            found = path[1:] if path and field == path[0] else None
            self._value(head & 15, found, depth)

    def _value(self, type_code: int, path: tuple[int, ...] | None, depth: int) -> None:
        """A value of a field; `path` is what to look for inside, None for nothing."""
        if type_code in INTEGERS:
            number = self._zigzag()
            if path == ():
                if number < 0:
                    raise ValueError("a number of values below 0")
                self.total += number
        elif type_code == STRUCT:
            self.struct(path or (), depth + 1)
        elif type_code in (LIST, SET):
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._varint()
            self._several(n, (head & 15,), path, depth + 1)
        elif type_code == MAP:
            n = self._varint()
            head = self._byte() if n else 0
            self._several(n, (head >> 4, head & 15), None, depth + 1)
        elif type_code == BINARY:
            self._skip(self._varint())
        elif type_code in (BYTE, DOUBLE):
            self._skip(1 if type_code == BYTE else 8)
        elif type_code not in (TRUE, FALSE):
            raise ValueError("an unknown kind of value")

    def _several(
        self, n: int, type_codes: tuple[int, ...], path: tuple[int, ...] | None, depth: int
    ) -> None:
        """The values of a list, or the pairs of a map; a truth value is a byte there."""
        if n > len(self.data):  # each takes a byte at least
            raise ValueError("a list that is longer than the footer")
        if n and depth > DEEPEST:
            raise ValueError("nested too deeply")
        for type_code in type_codes * n:
            self._value(BYTE if type_code in (TRUE, FALSE) else type_code, path, depth)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, n: int) -> None:
        self.at += n
        if self.at > len(self.data):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 if not value & 1 else -(value >> 1) - 1
