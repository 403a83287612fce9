"""`relynx evaluate`: a classifier on what it has not seen, beside what one would try first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relynx.cli import options as opt
from relynx.cli.learning import PAGES, classifier_of, read_labelled
from relynx.errors import InputError, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relynx.data.sequences import Sequences
    from relynx.models.evaluation.comparison import Comparison
    from relynx.models.evaluation.cross_validation import Fold, Split

ALL = "accuracy,balanced_accuracy,auc,f1,log_loss"
SHOWN_CLASSES, SHOWN_PAIRS = 10, 5
WIDTH = 80  # of a screen
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("train")
@click.option("--folds", type=click.IntRange(min=2), default=10, help="[10]")
@click.option("--holdout", type=SHARE, help="Test once, on this share of each class, as 0.2.")
@click.option("--time-split", help="Test once, on this share, that begins last: 0.2, or day=0.2.")
@click.option("--groups", help="A .csv file, id,group: no group is split between folds.")
@click.option("--scoring", default=ALL, help=f"Measures, the first to judge by.  [{ALL}]")
@click.option("--compare", default="", help="Other systems to compare with: lohmm,fisher,tildecrf.")
@click.option("--no-baselines", is_flag=True, help="Leave out the simple methods.")
@click.option("--report", help="A .html file: the model and its predictions for the test part.")
@opt.table_options
@opt.mining_options
@opt.model_options
def evaluate(
    train: str,
    folds: int,
    holdout: float | None,
    time_split: str | None,
    groups: str | None,
    scoring: str,
    compare: str,
    no_baselines: bool,
    report: str | None,
    columns: opt.Columns,
    bias_file: str | None,
    background: str | None,
    **settings: Any,
) -> int:
    """Test a classifier, and compare it with simple methods.

    TRAIN is a .m file with classes, a .csv or .parquet table of events, or a .xes log. Sequences
    are divided into stratified folds. Each fold is predicted by a classifier trained on the others:
    nothing of it is used, not even for mining. --holdout and --time-split test once instead; the
    latter, day=0.2, may name the column of the time. Below stand what one would try first:
    logistic regression and boosting on aggregates of each sequence, a linear SVM on the n-grams of
    each column, the largest class, and the systems that --compare names: logical hidden Markov
    models, their Fisher kernel, and relational conditional random fields. They use all facts of an
    event, whatever the bias. If one of them is better, the last lines say so.
    """
    from relynx.data.event_order import ordered_events
    from relynx.models.evaluation.baselines import systems
    from relynx.models.evaluation.comparison import parts_of, simple_methods
    from relynx.models.evaluation.cross_validation import read_groups
    from relynx.models.evaluation.measures import measures_named

    accuracies: list[float] = []
    n_parts = 1 if holdout or time_split else folds
    try:
        others, measures = systems(compare), measures_named(scoring)  # before reading anything
        time_column, time_share = _time_split(time_split)
        _check_report(report, once=n_parts == 1)
        X, y = read_labelled(train, background, columns)
        if others:
            ordered_events(X)  # they need an order; reject sequences without one before any work
        if time_column is not None:
            X = _ordered_by(X, train, columns, time_column)
        by_id = None if groups is None else read_groups(groups, X.ids.tolist())
        seed = settings["random_state"]
        how: dict[str, Any] = {"holdout": holdout, "time_split": time_share, "seed": seed}
        parts = parts_of(X, y, folds=folds, groups=by_id, **how)
        lynx = classifier_of(bias_file, settings | {"n_jobs": 1})
        opt.show_notes(getattr(lynx.bias, "notes", ()))
        rows = {"Lynx": lynx, **others}
        rows |= {} if no_baselines else simple_methods(X)
        how = {"scoring": measures, "groups": by_id, "seed": seed, "n_jobs": settings["n_jobs"]}
        found = _compared(rows, X, y, parts, how | {"keep_model": report is not None}, accuracies)
    except KeyboardInterrupt:
        so_far = f"; mean so far {sum(accuracies) / len(accuracies):.3f}" if accuracies else ""
        so_far += opt.going_on(settings["checkpoint"])
        click.echo(f"stopped after {len(accuracies)} of {n_parts} folds{so_far}", err=True)
        return opt.INTERRUPTED
    kind = "stratified" if groups is None else f"stratified, no group of {groups} split"
    how_tested = f"{folds} folds, {kind}, seed {seed}"
    if n_parts == 1:
        which = "the last to begin" if time_share is not None else f"{kind}, seed {seed}"
        how_tested = f"{counted(len(parts[0][1]), 'sequence')} held out, {which}"
    click.echo(f"{train}: {opt.described(X)}\n{how_tested}\n")
    _show(found, X)
    if report is not None:
        _write_report(report, found, X, y)
    return 0


def _time_split(text: str | None) -> tuple[str | None, float | None]:
    """The column and the share of `0.2` or `day=0.2`. Raises UsageError."""
    if text is None:
        return None, None
    column, _, share = text.rpartition("=")
    try:
        value = float(share)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        what = f"--time-split {text} is no share: give 0.2, or the column of the time, day=0.2"
        raise click.UsageError(what)
    return column or None, value


def _check_report(path: str | None, *, once: bool) -> None:
    """Raises UsageError or InputError where no report can be written."""
    from relynx.storage.whole_files import check_writable

    if path is None:
        return
    if not once:
        what = "--report shows one model and one test part: give --holdout 0.2 or --time-split 0.2"
        raise click.UsageError(what)
    if Path(path).suffix.lower() not in PAGES:
        raise click.UsageError(f"{path} does not end in {PAGES[0]}")
    check_writable(path)


def _ordered_by(X: Sequences, train: str, columns: opt.Columns, time: str) -> Sequences:
    """The sequences with the times of a column of their table. Raises InputError."""
    if X.reading is None:
        what = f"--time-split {time}=... names a column, and {train} is no table"
        raise InputError(what, hint="give the share alone")
    again, _ = opt.read_train(train, None, replace(columns, order=(time,)))
    assert again.numbers is not None
    numbers = again.numbers if X.numbers is None else X.numbers
    return X.replaced(numbers=replace(numbers, spans=again.numbers.spans))


def _compared(
    rows: dict[str, Any],
    X: Sequences,
    y: NDArray[Any],
    parts: list[Split],
    how: dict[str, Any],
    accuracies: list[float],
) -> Comparison:
    """Test each method; `accuracies` gets those of the folds of Lynx as they come."""
    from relynx.console import plain_warnings, steps
    from relynx.models.evaluation.comparison import compared

    with plain_warnings(), steps("folds", len(parts) * len(rows)) as step:

        def show(name: str, fold: Fold) -> None:
            if name == "Lynx":
                accuracies.append(fold.accuracy)
            step(f"{name}, fold {fold.number}: {fold.accuracy:.3f}, {fold.seconds:.1f} s")

        return compared(rows, X, y, parts, progress=show, **how)


def _show(found: Comparison, X: Sequences) -> None:
    """All methods, what is better, the classes of the model, and what it takes for what."""
    from relynx.console import show_table
    from relynx.models.evaluation.measures import MEASURES

    first, *more = found.measures
    rows = []
    for name in found.results:
        one = found.estimate(name, first)
        cells = [_text(found.estimate(name, measure).value) for measure in more]
        interval = f"{_text(one.low)} to {_text(one.high)}" if one.low == one.low else "-"
        rows.append([name, _text(one.value), interval, *cells])
    titles = [MEASURES[name].title for name in found.measures]
    show_table(["method", titles[0], "95 % interval", *titles[1:]], rows)
    lines = [*found.sentences(), *(f"note: {note}" for note in found.notes)]
    click.echo("")
    for line in lines:
        click.echo(click.wrap_text(line, WIDTH, subsequent_indent="  "))
    click.echo("\n" * bool(lines), nl=False)
    _show_classes(found)
    click.echo("")
    _show_confusion(found)


def _show_classes(found: Comparison) -> None:
    """A row for each class; of many for those of the least F1, the largest first."""
    from relynx.console import show_table
    from relynx.mining.wording import names_of

    classes = found.class_rows(found.model)
    names = names_of(row[0] for row in classes)
    rows = [(name, *row[1:]) for name, row in zip(names, classes, strict=True)]
    worst = sorted(rows, key=lambda row: (row[-1] if row[-1] == row[-1] else 2, -row[1]))
    shown = rows if len(rows) <= SHOWN_CLASSES else worst[:SHOWN_CLASSES]
    header = [f"{found.model}, class", "sequences", "precision", "recall", "F1"]
    show_table(header, [[name, f"{n:,}", *map(_text, some)] for name, n, *some in shown])
    if len(shown) < len(rows):
        what = f"these are the {len(shown)} of {len(rows)} classes with the least F1"
        click.echo(f"{what}; a page of --report has all")


def _show_confusion(found: Comparison) -> None:
    """The confusion matrix, where it fits on the screen, else what is most often taken for what."""
    from relynx.console import fits, show_table
    from relynx.mining.wording import names_of

    result = found.results[found.model]
    names = names_of(result.classes.tolist())
    counts = result.confusion.tolist()
    header = [f"{found.model}: class \\ predicted", *names]
    table = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
    if fits(header, table):
        show_table(header, table)
        return
    pairs = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if n and i != j]
    pairs.sort(key=lambda pair: (-pair[0], pair[1:]))
    sizes = [sum(row) for row in counts]
    rows = [[names[i], names[j], f"{n:,}", f"{sizes[i]:,}"] for n, i, j in pairs[:SHOWN_PAIRS]]
    header = [f"{found.model}, class", "most often predicted as", "sequences", "of"]
    if rows:
        show_table(header, rows, texts=2)
    if len(rows) < len(pairs):
        more = sum(n for n, _, _ in pairs[SHOWN_PAIRS:])
        what = counted(len(pairs) - len(rows), "more pair")
        click.echo(f"and {what} of classes, {counted(more, 'sequence')}")


def _text(value: float) -> str:
    return f"{value:.3f}" if value == value else "-"


def _write_report(path: str, found: Comparison, X: Sequences, y: NDArray[Any]) -> None:
    """The model of the training part, and its predictions for the test part, as a page."""
    from relynx.reports.html import report

    (fold,) = found.results[found.model].folds
    page = report(fold.model, X[fold.test], y[fold.test])
    page.save(path)
    click.echo(f"\n{path}: the model and the sequences held out; open it in a browser")
