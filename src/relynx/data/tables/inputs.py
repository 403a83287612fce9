"""Tables opened, their names checked, their columns read once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relynx.arrays import Bools
from relynx.data.discretise import bin_names
from relynx.data.schema import Column
from relynx.data.sequences import shown
from relynx.data.tables.columns import KEY, Table, Values, WrongColumn, read_moment
from relynx.data.tables.csv_tables import open_csv, open_dict
from relynx.data.tables.formats import read_date
from relynx.data.tables.frames import open_excel, open_frame, open_parquet
from relynx.errors import DataError, InputError, Problem, did_you_mean, raise_all
from relynx.logic.terms import SURROGATE, Constant

ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx")
ROWS = "give a table with a row for each event"
SHOWN = 3
SHOWN_NAMES = 12


def open_table(data: Any, markers: Sequence[Constant] = ()) -> Table:
    """A data frame, a dict of lists, or a CSV, Parquet or Excel file. Raises InputError.

    A cell that holds one of the markers has no value.
    """
    if isinstance(data, str | os.PathLike):
        return _open_file(data, markers)
    table = open_dict(data, markers) if isinstance(data, Mapping) else open_frame(data, markers)
    if table is None:
        what = f"no table of events can be made of a value of the type {type(data).__name__}"
        frames = "a data frame (pandas, polars, pyarrow, ...)"
        raise InputError(what, hint=f"give {frames} or the path of a CSV, Parquet or Excel file")
    return table


def is_table(path: str | os.PathLike[str]) -> bool:
    return os.fsdecode(path).lower().endswith(ENDINGS)


def _open_file(path: str | os.PathLike[str], markers: Sequence[Constant]) -> Table:
    name = os.fsdecode(path)
    if not is_table(path):
        ending = Path(name).suffix
        what = f"{name} ends in '{ending}'" if ending else f"{name} has no ending"
        hint = f"a table of events is a {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file"
        if name.lower().endswith((".xes", ".xes.gz")):
            hint = "rx.read_xes reads event logs"
        elif name.lower().endswith((".m", ".pl")):
            hint = "rx.read_lynx reads files of facts"
        raise InputError(what, hint=hint)
    if name.lower().endswith(".parquet"):
        return open_parquet(path, markers)
    if name.lower().endswith(".xlsx"):
        return open_excel(path, markers)
    return open_csv(path, markers)


def name_problems(table: Table) -> list[Problem]:
    problems = []
    names: Sequence[object] = table.names
    if not names:
        problems.append(Problem("the table has no columns", table.source, hint=ROWS))
    for name in names:
        if not isinstance(name, str) or SURROGATE.search(name):
            what = f"a column is named {name!a}, which is no text"
            problems.append(Problem(what, table.source, hint="rename it"))
    for name, n in Counter(table.names).items():
        if n > 1 and name:
            what = f"{n} columns are named {name!r}"
            problems.append(Problem(what, table.source, hint="give each column a name of its own"))
    return problems


def unknown_column(table: Table, name: object, role: str) -> Problem | None:
    """A problem where a table has no column of a name."""
    if isinstance(name, str) and name in table.names:
        return None
    if not isinstance(name, str):
        what = f"{name!r}, {role}, is no name of a column"
        return Problem(what, table.source, hint="give the name as text")
    known = [known for known in table.names if isinstance(known, str)]
    hint = did_you_mean(name, known) or columns_text(known)
    return Problem(f"there is no column {name!r}, {role}", table.source, hint=hint)


def columns_text(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"the columns are {', '.join(names[:SHOWN_NAMES])}{more}"


class Cells:
    """Some columns of a table, each turned into codes once; `check` raises their `problems`."""

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        title: str = "the table",
        *,
        date_format: str | None = None,
    ) -> None:
        self.source, self.date_format = table.source, date_format
        self.problems: list[Problem] = []
        self._loaded = table.loaded(list(dict.fromkeys(names)))
        self._values: dict[tuple[str, str | None], Values] = {}
        self._made: dict[str, Values] = {}
        if not self.n_rows:
            hint = ROWS if title == "the table" else "give it rows, or leave it out"
            raise DataError(f"{title} has no rows", self.source, hint=hint)

    @property
    def n_rows(self) -> int:
        return self._loaded.n_rows

    def values(self, name: str, column_type: str | None = None) -> Values:
        """A column, converted to a type if one is given; an empty column where it is invalid."""
        plain = self._values.get((name, None))
        if plain is not None and plain.type == column_type:
            return plain
        if (name, column_type) not in self._values:
            try:
                values = self._made.get(name) or self._loaded.values(name, column_type)
                if column_type == KEY:
                    values = values.as_keys()
                elif column_type is not None:
                    values = values.as_type(column_type)
            except WrongColumn as error:
                self.wrong_column(name, error)
                values = Values(column_type or "text", np.full(self.n_rows, -1, np.int32), [])
            self._values[name, column_type] = values
        return self._values[name, column_type]

    def add(self, name: str, values: Values) -> None:
        """A column that is made of others."""
        self._made[name] = values

    def keys(self, name: str) -> Values:
        """A column of names: integers, or texts where one of them is no plain integer."""
        return self.values(name, KEY)

    def times(self, name: str) -> Values:
        """A column of times; those of the format of dates are dates. Raises WrongColumn."""
        values = self.values(name)
        if self.date_format is None or (name, "date") in self._values:
            return self._values.get((name, "date"), values)
        self._values[name, "date"] = dated = values.dated(self.date_format)
        for code, text in enumerate(dated.constants if dated.type == "text" else ()):
            if (read_date(str(text), self.date_format) or read_moment(str(text))) is None:
                what = f"holds {shown(text)}, which is no date of the format {self.date_format!r}"
                hint = "correct it, or give the format that all these dates have"
                raise WrongColumn(what, hint, dated.row_of(code))
        return dated

    def argument(self, column: Column) -> Values:
        """A column as the schema has it; in place of its numbers it may hold names of ranges."""
        known = len(self.problems)
        values = self.values(column.name, column.type)
        if column.cuts is not None and len(self.problems) > known:
            plain = self.values(column.name)
            ranges = set(bin_names(column.cuts)).issuperset(plain.constants)
            if plain.type == "text" and len(plain.constants) and ranges:
                values = self._values[column.name, column.type] = plain
            del self.problems[known + (values is not plain) :]
        return values

    def wrong_column(self, name: str, error: WrongColumn) -> None:
        first = error.problems[0]
        at = "" if error.row is None else f"{self.row_name(error.row)}: "
        self.wrong(f"{at}column {name!r} {first.message}", first.hint)

    def wrong(self, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(message, self.source, hint=hint))

    def row_name(self, row: int) -> str:
        return self._loaded.row_name(row)

    def rows_text(self, rows: Bools) -> str:
        """How many rows are meant, and which are the first."""
        at = np.flatnonzero(rows)
        shown = ", ".join(self.row_name(int(row)) for row in at[:SHOWN])
        more = ", ..." if len(at) > SHOWN else ""
        return f"{len(at):,} {'row' if len(at) == 1 else 'rows'} ({shown}{more})"

    def check(self) -> None:
        raise_all(self.problems, DataError)
