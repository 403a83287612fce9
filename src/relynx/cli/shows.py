"""`relynx demo`, `relynx reproduce` and `relynx warmup`: commands that need no files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relynx.cli.options import COUNT, INTERRUPTED, read_language, setting_option
from relynx.errors import counted

if TYPE_CHECKING:
    from relynx.bias.protein_folds import ProteinFolds
    from relynx.models.evaluation.cross_validation import Fold
    from relynx.reproduce.results import Row
    from relynx.reproduce.runs import Run


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
@click.option("--rows", multiple=True, metavar="TEXT", help="Only such, as 'GRASP, all, random'.")
@click.option("-b", "--bias", "bias_file", help="Of the paper's rows in three dimensions.")
@setting_option("max_length", 2)
@setting_option("max_gap", 7)
@setting_option("min_support", 0.05)
def reproduce(
    output: str,
    seeds: int,
    folds: int,
    jobs: int | None,
    rows: tuple[str, ...],
    bias_file: str | None,
    **bounds: float | None,
) -> int:
    """Reproduce the paper's experiments on the bundled protein folds.

    Prints its Tables 1 and 2 with our figures beside the published ones, and writes folds.csv,
    summary.csv and accuracy.svg to a folder. Results are saved there: the same command resumes an
    interrupted run. The bias of the paper's rows in three dimensions, which a file and bounds may
    replace, and how long all takes are printed first.
    """
    from relynx.bias.protein_folds import load_protein_folds
    from relynx.console import plain_warnings, steps
    from relynx.reproduce.results import summary, write_figure, write_summary
    from relynx.reproduce.runs import RECORDS, done_before, experiments, planned, resumed

    chosen = experiments(read_language(bias_file, None), **bounds)
    folder, data, n_jobs = _folder(output), load_protein_folds(), jobs or os.cpu_count() or 1
    runs = planned(data, folds=folds, seeds=range(seeds), experiments=chosen, rows=rows)
    try:
        left = _announced(folder, runs, data, n_jobs)
        with plain_warnings(), steps("folds", left) as step:

            def show(run: Run, fold: Fold) -> None:
                step(
                    f"{run.title()}, fold {fold.number}: {fold.accuracy:.3f}, {fold.seconds:.1f} s"
                )

            records = resumed(folder, runs, data, n_jobs=n_jobs, progress=show)
    except KeyboardInterrupt:
        kept = len(done_before(folder, runs, data))
        what = f"{folder / RECORDS} has {kept} of {counted(len(runs) * folds, 'fold')}"
        click.echo(f"stopped; {what}; the same command resumes from there", err=True)
        return INTERRUPTED
    found = summary(records)
    write_summary(folder, found)
    write_figure(folder, found)
    _show_tables(found, seeds)
    for path in sorted(folder.glob("*.csv")) + sorted(folder.glob("*.svg")):
        click.echo(str(path))
    return 0


@click.command()
def warmup() -> None:
    """Compile and cache all kernels now instead of on first use."""
    from relynx.demo import warm_up

    click.echo(f"ready after {warm_up():.1f} s")


def _announced(folder: Path, runs: list[Run], data: ProteinFolds, n_jobs: int) -> int:
    """Print the language of the paper's rows, and how long all takes; returns the folds left."""
    from relynx.reproduce.runs import CHOSEN, MEANING, missing

    language = next((run.experiment.language for run in runs if run.experiment.language), None)
    if language is not None:
        click.echo(f"The bias of the paper's rows in {MEANING['all']}:\n\n{language}\n\n{CHOSEN}")
    left = [(run.experiment.seconds, len(numbers)) for run, numbers in missing(folder, runs, data)]
    minutes = math.ceil(sum(seconds * n for seconds, n in left) / 60 / n_jobs)
    n, cores = sum(n for _, n in left), counted(n_jobs, "core")
    click.echo(f"{counted(n, 'fold')} to do, about {counted(minutes, 'minute')} on {cores}")
    return n


def _show_tables(rows: list[Row], seeds: int) -> None:
    from relynx.console import show_table
    from relynx.reproduce.results import comparison, table_1
    from relynx.reproduce.runs import MEANING

    shown = ((row.bias, row.protocol) for row in rows if row.bias in ("chain", "all"))
    for bias, protocol in dict.fromkeys(shown):
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
