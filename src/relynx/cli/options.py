"""What several commands share: options, file endings, and summaries of what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relynx.errors import counted
from relynx.search_settings import NAMED, PRIORS, default

if TYPE_CHECKING:
    from relynx.data.parquet import Partitions
    from relynx.data.sequences import Sequences

INTERRUPTED = 130
TABLES = (".csv", ".jsonl", ".parquet")
SHARE, COUNT = click.FloatRange(0, 1), click.IntRange(min=1)

Function = TypeVar("Function", bound=Callable[..., Any])

jobs_option = click.option("--jobs", type=COUNT, default=1, help="Cores to use.  [1]")
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
            is_flag=True,
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
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="[0]"),
        jobs_option,
        checkpoint_option,
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
    """The ending of a table file. Raises UsageError for an unknown one."""
    ending = Path(output).suffix.lower()
    if ending not in TABLES:
        raise click.UsageError(f"{output} ends in none of {', '.join(TABLES)}")
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
