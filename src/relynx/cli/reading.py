"""The one way in which commands read sequences: .m files, and CSV or Parquet tables of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import click

from relynx.cli.options import Function, with_options
from relynx.errors import InputError, Problem, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relynx.data.sequences import Sequences

    Read = tuple[Sequences, NDArray[Any] | None]

TABLES = (".csv", ".csv.gz", ".parquet")
NEEDS = "say which column names the sequence, --sequence, and which orders its events, --order"


@dataclass(frozen=True, slots=True)
class Columns:
    """The options about the columns of a table of events."""

    sequence: str | None = None
    order: tuple[str, ...] = ()
    label: str | None = None
    fluents: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        return self != Columns()

    def dimensions(self) -> str | Mapping[str, str] | None:
        """`time` for one column, or what day=date and bed=number say."""
        if len(self.order) < 2 and not any("=" in one for one in self.order):
            return self.order[0] if self.order else None
        pairs = [one.partition("=") for one in self.order]
        wrong = next(
            (one for one, pair in zip(self.order, pairs, strict=True) if not pair[2]), None
        )
        if wrong is not None:
            hint = (
                "give one column, or each as dimension=column: --order day=date --order bed=number"
            )
            raise InputError(Problem(f"--order {wrong} names no dimension", hint=hint))
        return {dimension: column for dimension, _, column in pairs}

    def facts(self) -> list[str] | Mapping[str, list[str]] | None:
        """Columns, or where some are joined by did=step,who, the predicates with their columns."""
        from relynx.data.event_plans import clean_name

        groups: dict[str, list[str]] = {}
        for given in self.fluents:
            predicate, joined, columns = given.rpartition("=")
            names = [name for name in columns.split(",") if name]
            groups |= {predicate: names} if joined else {name: [name] for name in names}
        if not any("=" in given for given in self.fluents):
            return list(groups) or None
        return {
            name if name != columns[0] else clean_name(name): columns
            for name, columns in groups.items()
        }


def table_options(function: Function) -> Function:
    """The options about columns, which the command gets as one argument, `columns`."""

    @wraps(function)
    def with_columns(
        *args: Any,
        sequence: str | None,
        order: tuple[str, ...],
        label: str | None,
        fluents: tuple[str, ...],
        **others: Any,
    ) -> Any:
        return function(*args, columns=Columns(sequence, order, label, fluents), **others)

    several = "or day=date for each of several dimensions"
    return with_options(
        cast(Function, with_columns),
        click.option("--sequence", help="Of a table: the column that names the sequence."),
        click.option("--order", multiple=True, help=f"The column of the order, {several}."),
        click.option("--label", help="The column of the class."),
        click.option(
            "--fluents",
            multiple=True,
            help="The columns to use, as a,b, or as did=a,b for one predicate.  [all others]",
        ),
    )


def read_train(path: str, background: str | None, columns: Columns) -> Read:
    """Sequences and labels of a file to learn from, by its ending. Raises InputError."""
    # Imported here so that `relynx --help` loads neither numpy nor the readers.
    from relynx.data.events import columns_of, from_events
    from relynx.data.lynx_files import read_lynx

    if not path.lower().endswith(TABLES):
        if columns.given:
            what = "this is no table: it has no columns to choose"
            hint = f"tables end in {', '.join(TABLES)}; leave out --sequence, --order, --label"
            raise InputError(Problem(what, Source("", path), hint=hint))
        return read_lynx(path, background)
    if columns.sequence is None:
        what = f"the columns of this table are {', '.join(columns_of(path))}"
        raise InputError(Problem(what, Source("", path), hint=NEEDS))
    X, y = from_events(
        path,
        sequence=columns.sequence,
        order=columns.dimensions(),
        label=columns.label,
        fluents=columns.facts(),
    )
    return _with_rules(X, background), y


def read_test(path: str, background: str | None, model: Any) -> Read:
    """Sequences and labels to ask a model about; a table is read as the one of the training was."""
    from relynx.data.events import from_events
    from relynx.data.lynx_files import read_lynx

    if not path.lower().endswith(TABLES):
        return read_lynx(path, background)
    reading = getattr(model, "reading_", None)
    if reading is None:
        what = "the model was not learnt from a table, so it does not say how to read this one"
        hint = "give a .m file, or learn a model from a table"
        raise InputError(Problem(what, Source("", path), hint=hint))
    X, y = from_events(path, reading=reading)
    return _with_rules(X, background), y


def show_reading(X: Sequences) -> None:
    """Print how a table was read."""
    if X.reading is not None:
        click.echo(str(X.reading), err=True)


def _with_rules(X: Sequences, background: str | None) -> Sequences:
    from relynx.logic.datalog import read_background

    return X if background is None else X.with_background(read_background(background))
