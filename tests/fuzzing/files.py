"""Files of others: tables, event logs, protein structures, and the folds."""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
import zlib
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
from structure_texts import as_bcif, as_cif, as_pdb

from fuzzing.targets import Mutator, Target, golden
from relynx.bias.protein_folds import load_protein_folds
from relynx.cli.options import Columns, read_train
from relynx.data.intervals.reader import from_intervals
from relynx.data.structures.reader import read_structures
from relynx.data.tables.reader import from_events
from relynx.data.tables.writer import to_events
from relynx.data.xes.reader import read_xes

TABLES = [
    b"case,time,step,cost,ok\n1,1,a,1.5,y\n1,2,b,2.5,y\n2,1,a,9.0,n\n",
    b"case;time;step\ns1;2024-01-01;in\ns1;2024-01-02T10:00;out\ns2;2024-01-01T08:00;in\n",
    b'case\ttime\tstep\n"a b"\t1\t"x\ty"\n"a b"\t2\ttrue\nc\t1\tfalse\n',
    b"case,time,step,n\n1,3,a,\n1,2,b,NA\n2,1,c,007\n2,1,c,1e5\n",
]
INTERVALS = [
    b"case,start,end,what,ok\n1,0,5,a,y\n1,3,8,b,y\n2,1,2,a,n\n2,2,4,c,n\n",
    b"case,start,end,what\nx,2024-01-01,2024-01-03,a\nx,2024-01-02,2024-01-03,b\ny,2024-05-01,2024-05-01,a\n",
    b"case;start;end;what\n1;0,5;1,5;a\n1;1,5;2;b\n2;-1;1e3;a\n",
]
CELLS = [
    *(b",", b";", b"\n", b'"', b'""', b"2024-01-01", b"2024-13-45", b"0001-01-01T00:00:00Z", b"NA"),
    *(b"true", b"False", b"null", b"1.000,5", b"12:30", b"9999-12-31T23:59:59.999999999+14:00"),
    *(
        b"case",
        b"begin",
        b"next_s",
        b"e1",
        b"1677-09-21",
        b"2262-04-12",
        b"-1-01-01",
        b"31/12/2024",
    ),
]
LOGS = [
    b"<log><trace><string key='concept:name' value='t1'/><event><string key='concept:name'"
    b" value='a'/><int key='n' value='3'/></event></trace></log>",
    b"<?xml version='1.0' encoding='UTF-8'?><log xes.version='1.0'><classifier name='c' keys='k'/>"
    b"<global scope='event'><string key='k' value=''/></global><trace><event><date key='time:t'"
    b" value='2024-01-01T10:00:00Z'/><string key='k' value='x'/></event></trace></log>",
    b"<log><trace><boolean key='b' value='true'/><event><list key='l'><values><float key='f'"
    b" value='1.5'/><float key='f' value='2'/></values></list></event><event/></trace></log>",
]
MARKS = [
    *(b"<event>", b"</event>", b"</trace><trace>", b"<int key='k' value='1'/>", b"<trace>"),
    *(b"<list key='l'><values>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&#1;", b"&b;", b"&lt;"),
    *(b"<![CDATA[", b"<!--", b"value='nan'", b"<date key='d' value='2024'/>", b"<id key='i'>"),
    *(b"encoding='UTF-16'", b"xmlns:x='y'", b"<container key='c'>", b"<?x?>", b"concept:name"),
]
PROTEIN = {
    "chains": {"A": range(1, 13), "B": ["1", "2", "2A", "3"]},
    "helices": [("A:2", "A:5", 1)],
    "sheets": {"S": [("A:6", "A:8", 0), ("A:9", "A:11", -1)]},
}
STRUCTURE_PIECES = [
    *(b"HELIX ", b"SHEET ", b"ATOM  ", b"MODEL ", b"ENDMDL", b"END", b"TER", b"loop_", b"data_x"),
    *(b"_struct_conf.id", b"?", b".", b";", b"STRN", b"HELX_P", b"9999", b"-999", b"*****"),
]
DOMAIN = {
    "id": "d1",
    "fold": "f",
    "family": "g",
    "nr40": True,
    "elements": [
        {"type": "he", "hand": "right", "cls": "alpha", "len": 7},
        *(
            {
                "type": "st",
                "sense": "plus",
                "sense_prev": "none",
                "sheet": "A",
                "sheet_ord": i,
                "partners": [[1 - i, "minus"]],
                "len": 4,
            }
            for i in range(2)
        ),
    ],
}
ARGUMENTS: list[dict[str, Any]] = [
    {"sequence": "case", "order": "time"},
    {"sequence": "case", "order": "time", "label": "ok"},
    {"sequence": "case"},
    {"sequence": "case", "order": {"day": "time", "bed": "step"}, "bins": None},
    {"sequence": "case", "fluents": {"did": ["step", "time"]}, "bins": ("width", 2)},
    {"sequence": "case", "order": "time", "event": "step"},
    {"sequence": "case", "order": "time", "na_values": ["a", 9, ""], "date_format": "%Y-%m-%d"},
]


def read_all(path: Path) -> list[Target]:
    """The targets that read files; their names begin with that of `path`."""

    def file(ending: str) -> Path:
        return path.with_name(path.name + ending)

    def events(ending: str) -> Callable[[bytes], bool]:
        where = file(ending)

        def check(data: bytes) -> bool:
            where.write_bytes(data)
            chosen = zlib.crc32(data) % (len(ARGUMENTS) + 1)
            if chosen == len(ARGUMENTS):
                found, _ = read_train(str(where), None, Columns(sequence="case", order=("time",)))
            else:
                found, _ = from_events(where, **ARGUMENTS[chosen])
            str(found[0])
            str(found.reading)
            if chosen == 0:
                from_events(where, reading=found.reading)
                to_events(found, backend="polars")
            return True

        return check

    def intervals(data: bytes) -> bool:
        where = file(".csv")
        where.write_bytes(data)
        chosen = zlib.crc32(data) % 3
        more: dict[str, Any] = [{}, {"symbol": "what", "relations": "all"}, {"label": "ok"}][chosen]
        found, _ = from_intervals(where, sequence="case", start="start", end="end", **more)
        str(found[0])
        str(found.reading)
        return True

    def xes(ending: str) -> Callable[[bytes], bool]:
        where = file(ending)

        def check(data: bytes) -> bool:
            where.write_bytes(data)
            chosen = zlib.crc32(data) % 3
            more: dict[str, Any] = [{}, {"label": "b"}, {"order": "time:t"}][chosen]
            found, _ = read_xes(where, **more)
            str(found[0])
            str(found.reading)
            return True

        return check

    def structures(ending: str) -> Callable[[bytes], bool]:
        where = file(ending)

        def check(data: bytes) -> bool:
            where.write_bytes(data)
            missing = "compute" if zlib.crc32(data) % 4 == 0 else "error"
            found, _ = read_structures(where, missing=missing)
            str(found[0])
            return True

        return check

    def folds(data: bytes) -> bool:
        where = file(".jsonl")
        where.write_bytes(data)
        str(load_protein_folds(path=where).X[0])
        return True

    pdb, cif = as_pdb(PROTEIN).encode(), as_cif(PROTEIN).encode()
    domain = json.dumps(DOMAIN).encode()
    table, log = Mutator(TABLES, CELLS), Mutator(LOGS * 4 + golden("xes/*.xes"), MARKS)
    return [
        Target("events, csv", 7, table, events(".csv")),
        Target("events, csv.gz", 1.5, _packed(table), events(".csv.gz")),
        Target("events, parquet", 1, _parquet, events(".parquet")),
        Target("events, xlsx", 0.5, _flipped([_xlsx()]), events(".xlsx")),
        Target("intervals", 2.5, Mutator(INTERVALS, CELLS), intervals),
        Target("XES", 5, log, xes(".xes")),
        Target("XES, gz", 1.5, _packed(log), xes(".xes.gz")),
        Target("PDB", 1.5, Mutator([pdb], STRUCTURE_PIECES), structures(".pdb")),
        Target("PDB, gz", 0.5, _packed(Mutator([pdb], STRUCTURE_PIECES)), structures(".pdb.gz")),
        Target("mmCIF", 1, Mutator([cif], STRUCTURE_PIECES), structures(".cif")),
        Target("BinaryCIF", 1, _flipped([_bcif()]), structures(".bcif")),
        Target("folds", 3, Mutator([domain, domain + b"\n" + domain], [b"he", b"{", b"}"]), folds),
    ]


def _packed(make: Callable[[random.Random], bytes]) -> Callable[[random.Random], bytes]:
    """What `make` makes, packed by gzip, sometimes with a byte changed or the end cut off."""

    def packed(rng: random.Random) -> bytes:
        data = gzip.compress(make(rng), 1, mtime=0)
        return data if rng.random() < 0.6 else broken(data, rng)

    return packed


def _flipped(pool: list[bytes]) -> Callable[[random.Random], bytes]:
    return lambda rng: broken(rng.choice(pool), rng)


def broken(data: bytes, rng: random.Random) -> bytes:
    """Binary data with some bytes changed, inserted, or with the end cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(8):
            case 0:
                del out[at:]
            case 1:
                del out[at : at + rng.choice((1, 2, 4, 20))]
            case 2:
                out[at:at] = rng.randbytes(rng.choice((1, 4, 20)))
            case 3:
                out[at : at + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f"))
            case 4:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case _ if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


def _xlsx() -> bytes:
    """An Excel file; of a few bytes that are none, where no library writes one."""
    if find_spec("openpyxl") is None:
        return b"PK\x03\x04 no sheet, but as many bytes as it takes to flip some of them"
    file = io.BytesIO()
    pd.read_csv(io.BytesIO(TABLES[0])).to_excel(file, index=False)
    return file.getvalue()


def _bcif() -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_bcif(PROTEIN)


def _columns() -> dict[str, list[Any]]:
    """Columns of every type that Parquet has, three rows each."""
    moment = datetime(2024, 1, 1, 10)
    return {
        "text": ["a", "b", None],
        "integer": [1, 2, 3],
        "large": [2**62, -(2**62), None],
        "number": [1.5, float("nan"), float("inf")],
        "truth": [True, None, False],
        "date": [date(2024, 1, 1), date(1, 1, 1), None],
        "moment": [moment, None, moment + timedelta(microseconds=1)],
        "duration": [timedelta(seconds=1), timedelta(days=-1), None],
        "time": [moment.time(), None, moment.time()],
        "bytes": [b"a", b"\xff", None],
        "decimal": [Decimal("1.50"), Decimal("2.25"), None],
        "list": [[1], [], None],
        "struct": [{"a": 1}, {"a": None}, None],
        "nothing": [None, None, None],
    }


def _parquet_pool() -> list[bytes]:
    """Good files, and files with a column of each type in the place of each task."""
    columns = _columns()
    good: dict[str, list[Any]] = {"case": [1, 1, 2], "time": [1, 2, 1], "step": ["a", "b", "a"]}
    tables = [good, good | {"ok": ["y", "y", "n"]}]
    tables += [good | {task: column} for task in good for column in columns.values()]
    tables += [good | {"case": [1, 1, 1], "ok": column} for column in columns.values()]
    out = []
    for table in tables:
        file = io.BytesIO()
        pl.DataFrame(table, strict=False).write_parquet(file, compression="uncompressed")
        out.append(file.getvalue())
    return out


_POOL: list[bytes] = []


def _parquet(rng: random.Random) -> bytes:
    if not _POOL:
        _POOL.extend(_parquet_pool())
    data = rng.choice(_POOL)
    return data if rng.random() < 0.1 else broken(data, rng)
