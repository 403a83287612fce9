"""Groups of sequences from a file: which ones belong together, such as proteins of a family."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable

from relynx.data.sequences import counted
from relynx.errors import DataError, Problem, Source, raise_all
from relynx.logic.source_files import read_source

HEADER = ["id", "group"]
SHOWN = 3


def read_groups(path: str | os.PathLike[str], ids: Iterable[object]) -> list[str]:
    """The group of each sequence, from a CSV file with the columns `id` and `group`."""
    source = read_source(path)
    here = Source("", source.path)
    rows = [row for row in csv.reader(io.StringIO(source.text, newline="")) if row]
    if not rows or [name.strip() for name in rows[0]] != HEADER:
        hint = "begin the file with the line id,group"
        raise DataError("the first line must name two columns", here, hint=hint)
    problems: list[Problem] = []
    groups: dict[str, str] = {}
    for row in rows[1:]:
        fields = [field.strip() for field in row]
        if len(fields) != 2:
            what = f"{','.join(row)} has {counted(len(fields), 'field')}, not two"
            problems.append(Problem(what, here))
        elif groups.setdefault(*fields) != fields[1]:
            what = f"{fields[0]} is in two groups, {groups[fields[0]]} and {fields[1]}"
            problems.append(Problem(what, here))
    names = [str(name) for name in ids]
    missing = [name for name in names if name not in groups]
    if missing and not problems:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        what = f"no group for {', '.join(missing[:SHOWN])}{more}"
        problems.append(Problem(what, here, hint="give every sequence a group"))
    raise_all(problems, DataError)
    return [groups[name] for name in names]
