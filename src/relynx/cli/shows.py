"""`relynx demo`, `relynx reproduce` and `relynx warmup`: commands that need no files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relynx.cli.options import COUNT, INTERRUPTED
from relynx.errors import counted

if TYPE_CHECKING:
    from relynx.models.evaluation.cross_validation import Fold
    from relynx.reproduce.runs import Run
    from relynx.reproduce.tables import Row


@click.command()
@click.option("-o", "--output", default="relynx-demo", help="A folder.  [relynx-demo]")
@click.option("--jobs", type=COUNT, help="Cores to use.  [all]")
def demo(output: str, jobs: int | None) -> None:
    """Learn to classify protein folds, and explain how.

    Mines the bundled protein folds, selects patterns, tests the classifier on families not in its
    training set, and shows the best patterns. About a minute on two cores.
    """
    from relynx.demo import show

    show(_folder(output), jobs or os.cpu_count() or 1)


@click.command()
@click.option("-o", "--output", default="relynx-reproduce", help="A folder.  [relynx-reproduce]")
@click.option("--seeds", type=COUNT, default=1, help="Number of repetitions.  [1]")
@click.option("--folds", type=click.IntRange(min=2), default=10, help="[10]")
@click.option("--jobs", type=COUNT, help="Cores to use.  [all]")
def reproduce(output: str, seeds: int, folds: int, jobs: int | None) -> int:
    """Reproduce the paper's experiments on the bundled protein folds.

    Prints its Tables 1 and 2 with our figures beside the published ones, and writes folds.csv,
    summary.csv and accuracy.svg to a folder. Results are saved there: the same command resumes an
    interrupted run. About twenty minutes on two cores for each seed.
    """
    from relynx.bias.protein_folds import load_protein_folds
    from relynx.console import plain_warnings, steps
    from relynx.reproduce.figure import write_figure
    from relynx.reproduce.runs import RECORDS, done_before, planned, resumed
    from relynx.reproduce.tables import summary, write_summary

    folder = _folder(output)
    data = load_protein_folds()
    runs = planned(data, folds=folds, seeds=range(seeds))
    try:
        left = len(runs) * folds - len(done_before(folder, runs, data))
        with plain_warnings(), steps("folds", left) as step:

            def show(run: Run, fold: Fold) -> None:
                step(
                    f"{run.title()}, fold {fold.number}: {fold.accuracy:.3f}, {fold.seconds:.1f} s"
                )

            n_jobs = jobs or os.cpu_count()
            records = resumed(folder, runs, data, n_jobs=n_jobs, progress=show)
    except KeyboardInterrupt:
        kept = len(done_before(folder, runs, data))
        what = f"{folder / RECORDS} has {kept} of {counted(len(runs) * folds, 'fold')}"
        click.echo(f"stopped; {what}; the same command resumes from there", err=True)
        return INTERRUPTED
    rows = summary(records)
    write_summary(folder, rows)
    write_figure(folder, rows)
    _show_tables(rows, seeds)
    for path in sorted(folder.glob("*.csv")) + sorted(folder.glob("*.svg")):
        click.echo(str(path))
    return 0


@click.command()
def warmup() -> None:
    """Compile and cache all kernels now instead of on first use."""
    from relynx.demo import warm_up

    click.echo(f"ready after {warm_up():.1f} s")


def _show_tables(rows: list[Row], seeds: int) -> None:
    from relynx.console import show_table
    from relynx.reproduce.rows import MEANING, PROTOCOLS
    from relynx.reproduce.tables import comparison, table_1

    for bias in dict.fromkeys(row.bias for row in rows if row.bias in ("chain", "all")):
        for protocol in PROTOCOLS:
            click.echo(f"Table 1, {MEANING[bias]}; folds {protocol}")
            show_table(*table_1(rows, protocol, bias))
            click.echo("")
    click.echo(f"Table 2, with other parameters and baselines; {counted(seeds, 'seed')}")
    show_table(*comparison(rows))
    click.echo("\nPublished figures are of 2,086 domains of the same five folds, ours of 966.")


def _folder(output: str) -> Path:
    """The folder, made where it is missing. Raises InputError where it cannot be."""
    from relynx.storage.whole_files import named

    with named(output, "this folder cannot be made"):
        Path(output).mkdir(parents=True, exist_ok=True)
    return Path(output)
