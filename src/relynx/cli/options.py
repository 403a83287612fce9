"""What several commands share: options, file endings, and how they read sequences.

These are .m files, tables of events, event logs and folders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from relynx.errors import DataError, InputError, counted
from relynx.search_settings import NAMED, PRIORS, default

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relynx.bias import Bias
    from relynx.data.parquet import Partitions
    from relynx.data.sequences import Sequences
    from relynx.models.lynx.classifier import LynxClassifier

    Read = tuple[Sequences, NDArray[Any] | None]
    ModelRead = tuple[LynxClassifier, Sequences, NDArray[Any] | None]

INTERRUPTED = 130
WIDTH, NO_BREAK = 80, "\N{NO-BREAK SPACE}"
OUTPUTS = (".csv", ".jsonl", ".parquet")
OUTPUT = f"A {', '.join(OUTPUTS[:-1])} or {OUTPUTS[-1]} file."
NEEDS = "say which column names the sequence, --sequence, and which orders its events, --order"
SHARE, COUNT, SEED = click.FloatRange(0, 1), click.IntRange(min=1), click.IntRange(0, 2**32 - 1)

Function = TypeVar("Function", bound=Callable[..., Any])

jobs_option = click.option("--jobs", "n_jobs", type=COUNT, default=1, help="Cores to use.  [1]")
checkpoint_option = click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Save intermediate results there; the same command resumes from them.",
)
event_option = click.option(
    "--event-type",
    metavar="NAME",
    help="The type of events in the bias, where it is called neither event nor e.",
)


def mining_options(function: Function) -> Function:
    """The bias, the background knowledge, and the search settings."""
    return with_options(
        function,
        click.option(
            "-b", "--bias", "bias_file", help="The language of the patterns; else inferred."
        ),
        event_option,
        click.option("-k", "--background", help="Rules that hold in every sequence."),
        *map(setting_option, ("min_support", "min_frequency", "max_length", "max_gap")),
        click.option("--min-confidence", type=SHARE, help="Minimum confidence for some class."),
        click.option(
            "--no-object-identity",
            "object_identity",
            is_flag=True,
            callback=lambda _, option, off: False if off else None,
            help="Different variables may stand for one constant.",
        ),
    )


def setting_option(name: str, value: object = None) -> Callable[[Function], Function]:
    """The option of a setting of the search, by its name in Python; `value` is where no default
    of mining holds."""
    setting = NAMED[name]
    kind = SHARE if setting.kind == "share" else COUNT
    shown = f"{setting.help}  [{default(name) if value is None else value}]"
    return click.option(f"--{name.replace('_', '-')}", type=kind, help=shown)


def _of_grasp(name: str, kind: Any, help: str) -> Callable[[Function], Function]:
    return click.option(f"--{name}", type=kind, help=f"Of GRASP: {help}")


def model_options(function: Function) -> Function:
    """The parameters of the classifier, by their names in `LynxClassifier`."""
    return with_options(
        function,
        click.option(
            "--method",
            type=click.Choice(["auto", "sparse", "optimal", "grasp", "paper"]),
            help="How patterns are found and selected.  [auto]",
        ),
        click.option(
            "--budget",
            type=click.FloatRange(min=0, min_open=True),
            help="Of the method sparse: times the default amount of work.  [1]",
        ),
        click.option(
            "--penalty",
            type=click.FloatRange(0, 1, min_open=True),
            help="Of the method optimal: share of the largest penalty.  [validated]",
        ),
        click.option(
            "--class-weight",
            type=click.Choice(["balanced"]),
            help="Of the methods sparse and optimal: rare classes count as much as others.",
        ),
        click.option("--paper", is_flag=True, help="The method of the paper, without additions."),
        click.option(
            "--all-patterns", is_flag=True, help="Of GRASP: use all patterns, without selection."
        ),
        _of_grasp("n-features", COUNT, "most patterns selected per pair of classes.  [validated]"),
        _of_grasp("max-features", COUNT, "most patterns to select from.  [1000]"),
        _of_grasp("max-iter", COUNT, "rounds.  [200]"),
        _of_grasp(
            "multiclass",
            click.Choice(["auto", "round_robin", "single"]),
            "a model for each pair of classes, or a single one.  [auto]",
        ),
        _of_grasp("smoothing", click.FloatRange(min=0), "smoothing of naive Bayes.  [0.1]"),
        _of_grasp("prior", click.Choice(PRIORS), "prior of the classes.  [empirical]"),
        _of_grasp(
            "learner",
            click.Choice(["naive_bayes", "logistic", "svm"]),
            "final classifier on the selected patterns.  [naive_bayes]",
        ),
        click.option("--seed", "random_state", type=SEED, default=0, help="[0]"),
        jobs_option,
        checkpoint_option,
    )


def test_options(function: Function) -> Function:
    """The options of commands that use a model."""
    return with_options(
        function,
        click.option("-k", "--background", help="Other rules than those of the model."),
        click.option(
            "--allow-missing", is_flag=True, help="Take predicates without facts as absent."
        ),
    )


def with_options(function: Function, *options: Callable[[Function], Function]) -> Function:
    for option in reversed(options):  # the last one applied is shown first
        function = option(function)
    return function


@contextmanager
def writing(output: str, checkpoint: str | None = None) -> Iterator[None]:
    """Check that a file can be written before the work on it; Ctrl-C ends that cleanly."""
    from relynx.data.tables.frames import parquet_library
    from relynx.storage.whole_files import check_writable

    try:
        check_writable(output)  # not after an hour of work
        if output.lower().endswith(".parquet"):
            parquet_library()
        yield
    except KeyboardInterrupt:
        click.echo(f"stopped; nothing was written to {output}{going_on(checkpoint)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def show_notes(notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"note: {note}", err=True)


def going_on(checkpoint: str | None) -> str:
    """The end of a message about an interrupted run."""
    if checkpoint is None:
        return ""
    return f"; {checkpoint} has the results so far; the same command resumes from there"


def table_ending(output: str) -> str:
    """The ending of a table to write. Raises UsageError for an unknown one."""
    ending = Path(output).suffix.lower()
    if ending not in OUTPUTS:
        raise click.UsageError(f"{output} ends in none of {', '.join(OUTPUTS)}")
    return ending


def described(X: Sequences | Partitions) -> str:
    parts = [counted(len(X), "sequence")]
    if not hasattr(X, "tables"):
        return f"{parts[0]} in {counted(X.n_partitions, 'partition')}"
    if X.labels is not None:
        parts.append(counted(len(set(X.labels.tolist())), "class"))
    parts.append(counted(sum(table.shape[1] for table in X.tables.values()), "fact"))
    if X.dimensions:
        parts.append(f"dimensions {', '.join(X.dimensions)}")
    return ", ".join(parts)


# Reading


@dataclass(frozen=True, slots=True)
class Columns:
    """The options about the columns of a table of events."""

    sequence: str | None = None
    order: tuple[str, ...] = ()
    label: str | None = None
    fluents: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    na_values: tuple[str, ...] = ()
    date_format: str | None = None

    def arguments(self) -> dict[str, Any]:
        """What `from_events` and `read_xes` are given, but for the sequence."""
        return {
            "order": self.dimensions(),
            "label": self.label,
            "fluents": self.facts(),
            "attributes": self.described(),
            "bins": self.ranges(),
        }

    def cells(self) -> dict[str, Any]:
        """What `from_events` is given about the cells of a file; a log says that itself."""
        markers = [one for given in self.na_values for one in given.split(",") if one]
        return {"na_values": markers, "date_format": self.date_format}

    def dimensions(self) -> str | Mapping[str, str] | None:
        """`time` for one column, or what day=date and bed=number say."""
        if len(self.order) < 2 and not any("=" in one for one in self.order):
            return self.order[0] if self.order else None
        pairs = [one.partition("=") for one in self.order]
        for one, (dimension, _, column) in zip(self.order, pairs, strict=True):
            if not dimension or not column:
                hint = "give one column, or each as dimension=column: --order day=date --order"
                lacking = "column" if "=" in one and dimension else "dimension"
                raise InputError(f"--order {one} names no {lacking}", hint=f"{hint} bed=number")
        _refuse_repeated("--order", [dimension for dimension, _, _ in pairs])
        return {dimension: column for dimension, _, column in pairs}

    def facts(self) -> list[str] | Mapping[str, list[str]] | None:
        """Columns, or where some are joined by did=step,who, the predicates with their columns."""
        from relynx.data.tables.plans import clean_name

        groups: list[tuple[str, list[str]]] = []
        joins = any("=" in given for given in self.fluents)
        for given in self.fluents:
            predicate, joined, columns = given.rpartition("=")
            names = [name for name in columns.split(",") if name]
            if not names or (joined and not predicate):
                hint = "give columns, as a,b, or a predicate with its columns, as did=a,b"
                what = f"--fluents {given} names no {'column' if predicate else 'predicate'}"
                raise InputError(what, hint=hint)
            if joined:
                groups.append((predicate, names))
            else:
                groups += [(clean_name(name) if joins else name, [name]) for name in names]
        _refuse_repeated("--fluents", [predicate for predicate, _ in groups])
        if not joins:
            return [name for name, _ in groups] or None
        return dict(groups)

    def described(self) -> list[str] | None:
        """The columns that describe the sequence."""
        names = [name for given in self.attributes for name in given.split(",") if name]
        return names if self.attributes else None

    def ranges(self) -> Any:
        """What --bins says, in the form of `from_events`."""
        from relynx.data.tables.plans import DEFAULT_BINS

        pairs = [given.rpartition("=") for given in self.bins]
        _refuse_repeated("--bins", [column for column, _, _ in pairs])
        by_column = {column: _recipe(recipe) for column, _, recipe in pairs}
        general = by_column.pop("", DEFAULT_BINS)
        if not by_column:
            return general
        if general != DEFAULT_BINS:
            hint = "give it for each column: --bins cost=5 --bins age=20,60"
            raise InputError("--bins is given for all columns and for some", hint=hint)
        return by_column


def _recipe(text: str) -> Any:
    """4, width:5, 10,100 or none. Raises InputError for anything else."""
    method, _, value = text.rpartition(":")
    try:
        if text in ("none", "supervised"):
            return None if text == "none" else text
        if method == "width":
            return ("width", int(value))
        return [_number(cut) for cut in text.split(",") if cut] if "," in text else int(text)
    except ValueError:
        hint = (
            "give a number of ranges, width:5, cuts such as 10,100 (one cut: 10,), supervised, "
            "or none"
        )
        raise InputError(f"--bins {text} is not understood", hint=hint) from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _refuse_repeated(option: str, names: list[str]) -> None:
    """Raises InputError where an option names something twice."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        what = f"{option} gives {twice!r} twice" if twice else f"{option} is given twice"
        raise InputError(what, hint="give each name once")


def table_options(function: Function) -> Function:
    """The options about columns, which the command gets as one argument, `columns`."""

    @wraps(function)
    def with_columns(*args: Any, **options: Any) -> Any:
        columns = Columns(**{field.name: options.pop(field.name) for field in fields(Columns)})
        return function(*args, columns=columns, **options)

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
        click.option(
            "--attributes",
            multiple=True,
            help="The columns that describe a sequence, as a,b.  [those that never change in one]",
        ),
        click.option(
            "--bins",
            multiple=True,
            help="Ranges of numbers: 5, width:5, cuts 10,100, supervised, or none; of one column, "
            "cost=5.  [4]",
        ),
        click.option(
            "--na-values", multiple=True, help="What stands for a missing value, as -999,unknown."
        ),
        click.option("--date-format", help="How dates are written, as %d/%m/%Y."),
    )


def read_train(path: str, background: str | None, columns: Columns) -> Read:
    """Sequences and labels of a file to learn from, by its ending. Raises InputError."""
    from relynx.data.lynx import read_lynx
    from relynx.data.tables.inputs import ENDINGS, is_table, open_table
    from relynx.data.tables.reader import from_events
    from relynx.data.xes import is_xes, read_xes

    if os.path.isdir(path):
        parts = open_folder(path, columns)
        X = parts.load()
        y = X.labels
    elif is_xes(path):
        if columns.sequence is not None:
            what = "the sequences of an event log are its traces"
            raise InputError(what, path, hint="leave out --sequence")
        if columns.na_values or columns.date_format is not None:
            what = "an event log says itself what is missing and what a date is"
            raise InputError(what, path, hint="leave out --na-values and --date-format")
        X, y = read_xes(path, **columns.arguments())
    elif is_table(path):
        if columns.sequence is None:
            raise InputError(_columns_of(open_table(path).names), path, hint=NEEDS)
        X, y = from_events(
            path, sequence=columns.sequence, **columns.arguments(), **columns.cells()
        )
    elif columns != Columns():
        hint = f"tables end in {', '.join(ENDINGS)}; leave out --sequence, --order, --label"
        raise InputError("this is no table: it has no columns to choose", path, hint=hint)
    else:
        return read_lynx(path, background)
    return _with_rules(X, background), y


def _columns_of(names: Iterable[str]) -> str:
    """The columns of a table, in lines of the screen that break between two names."""
    from relynx.mining.english import wrapped

    together = ", ".join(name.replace(" ", NO_BREAK) for name in names)
    lines = wrapped(together, WIDTH, rest="  ", breaks=" ")
    what = "the columns of this table are"
    told = "\n".join(lines).replace(NO_BREAK, " ")
    return f"{what} {told}" if len(lines) == 1 else f"{what}\n  {told}"


def open_folder(
    path: str, columns: Columns | None = None, *, background: str | None = None
) -> Partitions:
    """A folder of partitions. Raises InputError also where columns or rules are given."""
    from relynx.data.parquet import scan_parquet

    if background is not None:
        what = "a folder of partitions has the rules that it was written with"
        hint = "leave out --background, or write the folder with other rules"
        raise InputError(what, path, hint=hint)
    if columns not in (None, Columns()):
        what = "this is a folder of partitions: it has no columns to choose"
        raise InputError(what, path, hint="leave out --sequence, --order, --label")
    return scan_parquet(path)


def read_test(path: str, background: str | None, model: Any) -> Read:
    """Sequences and labels to predict; a table is read by the schema of the training table."""
    from relynx.data.lynx import read_lynx
    from relynx.data.tables.inputs import is_table
    from relynx.data.xes import is_xes
    from relynx.features.tables import read_again

    if not is_table(path) and not is_xes(path):
        return read_lynx(path, background)
    X = read_again(path, getattr(model, "reading_", None))
    show_notes(() if X.reading is None else X.reading.notes)
    return _with_rules(X, background), X.labels


def read_model_and_test(
    model: str, test: str, background: str | None, allow_missing: bool
) -> ModelRead:
    """A classifier, and the test sequences and labels; warns of predicates that these lack."""
    loaded = read_classifier(model, allow_missing)
    X, y = read_test(test, background, loaded)
    warn_of_unknown_predicates(loaded, X, test)
    return loaded, X, y


def read_classifier(model: str, allow_missing: bool) -> LynxClassifier:
    from relynx.models.evaluation.baselines import CLASSIFIERS
    from relynx.store import load

    loaded = load(model)
    if not isinstance(loaded, CLASSIFIERS):
        what = f"the file holds a {type(loaded).__name__}, which predicts no classes"
        raise DataError(what, model, hint="relynx fit writes a model")
    if allow_missing and hasattr(loaded, "missing_predicates"):
        loaded.missing_predicates = "ignore"
    return cast("LynxClassifier", loaded)


def warn_of_unknown_predicates(model: LynxClassifier, X: Sequences, test: str) -> None:
    """Warn of predicates that the model uses and the sequences can never have."""
    from relynx.features.vectorizer import known_sequences
    from relynx.models.evaluation.predictions import unknown_predicates

    hint = "hint: its facts are none of those that the model was learnt from; check their names"
    if model.background_ is None:
        hint += ", or give the background rules of an older model, with -k"
    for name in unknown_predicates(model, known_sequences(model, X)):
        what = f"warning: the model uses {name}, which {test} does not have"
        click.echo(f"{what}\n{hint}", err=True)


def read_language(bias_file: str | None, event_type: str | None) -> Bias | None:
    """The bias of a file; None where none is given. Raises InputError."""
    from relynx.bias import read_bias

    if bias_file is not None:
        return read_bias(bias_file, event=event_type)
    if event_type is not None:
        hint = "give the file with --bias, or leave it out"
        raise InputError("--event-type is of a bias, and none is given", hint=hint)
    return None


def show_reading(X: Sequences | Partitions) -> None:
    if X.reading is not None:
        click.echo(str(X.reading), err=True)


def _with_rules(X: Sequences, background: str | None) -> Sequences:
    from relynx.logic.datalog import read_background

    return X if background is None else X.with_background(read_background(background))
