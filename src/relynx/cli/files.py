"""`relynx check` and `relynx mine`: files of data, background knowledge and biases."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relynx.cli import options as opt
from relynx.errors import BiasError, DataError, InputError, Problem, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relynx.bias import Bias
    from relynx.data.parquet import Partitions
    from relynx.data.sequences import Sequences
    from relynx.logic.datalog import Background
    from relynx.mining.patterns.pattern_set import PatternSet

DATA, BACKGROUND, BIAS = (".m", ".val"), (".bk", ".pl"), (".l", ".b")
ENDINGS = (
    "data end in .m or .val, tables of events in .csv or .parquet, event logs in .xes, "
    "background knowledge in .bk or .pl, a bias in .l"
)


@click.command()
@click.argument("files", nargs=-1, required=True)
@opt.table_options
@opt.event_option
def check(files: tuple[str, ...], columns: opt.Columns, event_type: str | None) -> int:
    """Report all problems of FILES at once, and run nothing.

    Data end in .m or .val, tables of events in .csv or .parquet, event logs in .xes, background
    knowledge in .bk or .pl, a bias in .l. Of a table or a log it says how it is read and what is
    left out.
    """
    errors: list[InputError] = []
    found: dict[str, list[Any]] = {"data": [], "background": [], "bias": []}
    for path in files:
        try:
            kind, read, line = _checked(path, columns, event_type)
            found[kind].append(read)
            click.echo(line)
        except InputError as error:
            errors.append(error)
    data, backgrounds = found["data"], found["background"]
    arities = (list(_arity_problems(background, data)) for background in backgrounds)
    missing = (_missing_predicates(bias, data, backgrounds) for bias in found["bias"])
    errors += [*map(DataError, filter(None, arities)), *map(BiasError, filter(None, missing))]
    for wrong in errors:
        click.echo(str(wrong), err=True)
    return 2 if errors else 0


@click.command()
@click.argument("train")
@opt.table_options
@opt.mining_options
@click.option("-o", "--output", required=True, help=opt.OUTPUT)
@click.option(
    "--max-support",
    multiple=True,
    metavar="CLASS=MOST",
    help="Largest part of a class covered: a proportion, no=0.05, or a number of sequences, no=2.",
)
@click.option(
    "--closed", is_flag=True, help="Drop patterns with a more specific one of equal supports."
)
@click.option("--top-k", type=opt.COUNT, help="Keep the k best patterns.")
@click.option(
    "--measure",
    metavar="NAME",
    default="confidence",
    help="By which --top-k and mincover of the bias choose.  [confidence]",
)
@click.option(
    "--time-limit", type=click.FloatRange(min=0), help="Seconds; then the result is partial."
)
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Memory of the process, 4GB or 500MB; then the result is partial.  [4/5 of free memory]",
)
@opt.jobs_option
@opt.checkpoint_option
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on the workers of a Dask scheduler, tcp://host:8786; TRAIN is a folder.",
)
def mine(
    train: str,
    columns: opt.Columns,
    bias_file: str | None,
    event_type: str | None,
    background: str | None,
    output: str,
    scheduler: str | None,
    **options: Any,
) -> int:
    """Find all frequent patterns of TRAIN and write them to a file.

    TRAIN is a .m file, a .csv or .parquet table with a row for each event, a .xes log, or a folder
    of partitions, which is read one partition at a time. A setting that is not given is that of the
    bias, else the one in brackets.
    """
    ending, checkpoint = opt.table_ending(output), options["checkpoint"]
    most = [_class_and_most(text) for text in options.pop("max_support")]
    if options["memory_limit"] is not None:
        options["memory_limit"] = _n_bytes(options["memory_limit"])
    from relynx.console import mining_progress, plain_warnings
    from relynx.mining.search import mine as search

    with opt.writing(output, checkpoint):
        bias = opt.read_language(bias_file, event_type)
        opt.show_notes(() if bias is None else bias.notes)
        X, y, classes = _to_mine(train, background, columns, scheduler)
        opt.show_reading(X)
        named = {str(c): c for c in classes}
        options["max_support"] = {named.get(c, c): n for c, n in most} or None
        with plain_warnings(), mining_progress() as progress, _workers(scheduler) as client:
            warnings.filterwarnings("ignore", "stopped by ")  # said below
            patterns = search(X, y, bias, **options, progress=progress, client=client)
        getattr(patterns, f"to_{ending[1:]}")(output)
    _show_patterns(patterns, checkpoint, stopped=progress.stopped)
    click.echo(f"{output}: {counted(len(patterns), 'pattern')} of {opt.described(X)}")
    return opt.INTERRUPTED if progress.stopped and patterns.partial else 0


def _show_patterns(patterns: PatternSet, checkpoint: str | None, *, stopped: bool) -> None:
    """What the search saw, and how far it is complete."""
    from relynx.console import show_search

    show_search(patterns)
    if patterns.partial:
        how_far = f"complete up to length {patterns.complete_up_to}{opt.going_on(checkpoint)}"
        click.echo(f"{patterns.partial}; {how_far}", err=True)
        for line in () if stopped else patterns.report.advice:
            click.echo(line, err=True)


def _to_mine(
    train: str, background: str | None, columns: opt.Columns, scheduler: str | None
) -> tuple[Sequences | Partitions, NDArray[Any] | None, list[object]]:
    """Sequences, or a folder of them, with their labels, and the classes. Raises InputError."""
    if Path(train).is_dir():
        parts = opt.open_folder(train, columns, background=background)
        return parts, None, list(parts.class_sizes or ())
    if scheduler is not None:
        hint = "write one by X.to_parquet(folder); see the page on partitions"
        raise InputError("workers share a folder of partitions, and this is none", train, hint=hint)
    X, y = opt.read_train(train, background, columns)
    return X, y, [] if y is None else y.tolist()


def _workers(scheduler: str | None) -> AbstractContextManager[Any]:
    """A client of a scheduler; None where none is asked for."""
    if scheduler is None:
        return nullcontext()
    from relynx.scale.dask import connected

    return connected(scheduler)


def _n_bytes(text: str) -> int:
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([kmgt]?)b?", text.strip().lower())
    if parts is None:
        what = f"--memory-limit is {text!r}"
        raise click.UsageError(f"{what}: give a size, 4GB or 500MB, or a number of bytes")
    return int(float(parts[1]) * 1000 ** " kmgt".index(parts[2] or " "))


def _class_and_most(text: str) -> tuple[str, float]:
    """A class, and the largest proportion or number of its sequences that may be covered."""
    parts = re.fullmatch(r"(.+)=([0-9]*\.?[0-9]+)", text)
    if parts is None:
        raise click.UsageError(
            f"--max-support is {text!r}: give a class and a proportion, no=0.05, or a class and a "
            "number of sequences, no=2"
        )
    name, most = parts.groups()
    return name, int(most) if most.isdecimal() else float(most)


def _checked(path: str, columns: opt.Columns, event_type: str | None) -> tuple[str, object, str]:
    """Of a good file its kind, what was read, and one line about it. Raises InputError."""
    from relynx.bias import read_bias
    from relynx.bias.foreign import dialect
    from relynx.data.lynx import read_lynx
    from relynx.data.tables.inputs import is_table
    from relynx.data.xes import is_xes
    from relynx.logic.datalog import read_background
    from relynx.logic.source_files import read_source

    if is_table(path) or is_xes(path):
        X, _ = opt.read_train(path, None, columns)
        return "data", X, f"{path}: {opt.described(X)}\n{X.reading}"
    ending = Path(path).suffix
    kind = ending.lower()
    if kind in DATA:
        X, _ = read_lynx(path)
        return "data", X, f"{path}: {opt.described(X)}"
    if kind in BACKGROUND and dialect(read_source(path)) is None:  # a bias of Popper ends in .pl
        background = read_background(path)
        facts = len(background.facts)
        rules = len(background.rules) - facts
        what = f"{path}: {counted(rules, 'rule')}, {counted(facts, 'fact')}"
        return "background", background, what
    if kind in BACKGROUND + BIAS:
        bias = read_bias(path, event=event_type)
        dimensions = counted(len(bias.dimensions), "dimension")
        what = f"{path}: {counted(len(bias.modes), 'predicate')}, {dimensions}"
        return "bias", bias, "\n".join([what, *(f"note: {note}" for note in bias.notes)])
    what = f"unknown kind of file '{ending}'" if ending else "a file without an ending"
    raise InputError(what, path, hint=ENDINGS)


def _missing_predicates(
    bias: Bias, data: list[Sequences], backgrounds: list[Background]
) -> list[Problem]:
    """Predicates of a bias that no file of data or of background knowledge has."""
    from relynx.bias.checks import data_problems

    keys = [key for X in data for key in X.tables]
    keys += [key for background in backgrounds for key in background.heads]
    return data_problems(bias, bias.source_spans, keys) if data else []


def _arity_problems(background: Background, data: list[Sequences]) -> Iterator[Problem]:
    """Atoms of the rules that have another number of arguments than the data."""
    from relynx.logic.terms import quoted

    arities = {name: arity for X in data for name, arity in X.tables}
    for rule in background.rules:
        for atom in rule.atoms():
            name, arity = atom.key
            if arities.get(name, arity) != arity:
                here = counted(arity, "argument")
                what = f"{quoted(name)} has {here} here and {arities[name]} in the data"
                hint = "give it the same number of arguments in both, or another name"
                yield Problem(what, background.source, atom.offset, len(name), hint)
