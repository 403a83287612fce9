"""`LynxClassifier` on public data sets, against n-grams and what others have measured.

    python benchmarks/accuracy.py --data FOLDER --out FOLDER [--sets NAME ...] [--rows NAME ...]

Sequences are given as a user would give them, without a bias. Each set has a file with all its
folds in the output folder; what is there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from defaults import Row, accuracies
from questions.bars import Bar, print_table, report
from questions.public_sets import SOURCES, PublicSet, Source
from questions.quantities import quantity_forest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from relynx import LynxClassifier, Sequences
from relynx.data.event_arguments import dimension_names
from relynx.models.evaluation.baselines import baselines, linear_svm, on_ngrams

DEFAULT, TUNED = "default", "tuned"
NGRAMS, APART = "n-gram SVM", "n-gram SVM, columns apart"
TFIDF, BAYES, FOREST = "tf-idf SVM", "n-gram naive Bayes", "forest of quantities"
SIMPLE = (NGRAMS, APART, TFIDF, BAYES, FOREST)
ROWS = (DEFAULT, TUNED, *SIMPLE)
INNER = 3  # parts of the training part, by which a setting is chosen
COLUMNS = ("set", "setting", "fold", "accuracy", "seconds", "patterns")
MOST_SECONDS = 300  # of a fit

# All patterns and a linear machine: how many patterns, one model or pairs, and how tame.
SVM = LinearSVC(dual="auto", max_iter=10_000)
GRID: list[dict[str, list[Any]]] = [
    {"multiclass": ["auto"], "final_estimator": [SVM]},
    {
        "multiclass": ["single"],
        "final_estimator": [SVM, LinearSVC(C=0.01, dual="auto", max_iter=10_000)],
        "max_features": [1000, 4000],
    },
]

Results = dict[str, dict[str, list[Row]]]  # by set and row, the folds


def models(X: Sequences, memory: str) -> Mapping[str, Any]:
    """The classifier of each row. Where no event follows another, there are no n-grams."""
    on_all = LynxClassifier(selection=None, memory=memory, random_state=0)
    tuned = GridSearchCV(on_all, GRID, cv=INNER)
    rows: dict[str, Any] = {DEFAULT: LynxClassifier(random_state=0), TUNED: tuned}
    largest = DummyClassifier(strategy="most_frequent")
    ordered = any(X.facts().tables[f"next_{name}", 2].size for name in dimension_names(X.tables))
    if not ordered:
        return rows | dict.fromkeys(SIMPLE, largest)
    return rows | {
        NGRAMS: on_ngrams(linear_svm()),
        APART: on_ngrams(linear_svm(), per_predicate=True),
        TFIDF: on_ngrams(TfidfTransformer(sublinear_tf=True), linear_svm()),
        BAYES: baselines(X)["n-gram naive Bayes, counts"],
        FOREST: quantity_forest(),
    }


def run(name: str, data: PublicSet, path: Path, wanted: list[str], seed: int = 0) -> None:
    """The rows that are wanted and not done, on the same folds."""
    done = read(path)
    with tempfile.TemporaryDirectory() as memory:
        for row, model in models(data.X, memory).items():
            if row in done or row not in wanted:
                continue
            lines = []
            X = data.plain if row in SIMPLE and data.plain is not None else data.X
            for number, (train, test) in enumerate(data.splits(seed=seed), 1):
                start = time.perf_counter()
                fitted = clone(model).fit(X[train], data.y[train])
                seconds = time.perf_counter() - start
                accuracy = float(np.mean(fitted.predict(X[test]) == data.y[test]))
                n_patterns = len(getattr(fitted, "selected_", ()))
                lines.append((name, row, number, f"{accuracy:.6f}", f"{seconds:.2f}", n_patterns))
            with path.open("a", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if not file.tell():
                    writer.writerow(COLUMNS)
                writer.writerows(lines)
            mean = np.mean([float(line[3]) for line in lines])
            print(f"{name}: {row} {mean:.3f}", flush=True)


def read(path: Path) -> dict[str, list[Row]]:
    """The folds of each row in the file of a set."""
    rows: dict[str, list[Row]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["setting"], []).append(row)
    return rows


def results_of(
    out: Path,
    folder: Path,
    sets: list[str] | None = None,
    rows: list[str] | None = None,
    seed: int = 0,
) -> Results:
    """What the sets gave; one that cannot be read is skipped, and said to be."""
    results: Results = {}
    for name, source in SOURCES.items():
        if sets and name not in sets:
            continue
        path = out / f"{name}.csv"
        try:
            data = source.read(folder)
        except FileNotFoundError as error:
            print(f"skipped: {name}, for there is no {error.filename or error}")
            continue
        run(name, data, path, rows or [*ROWS], seed)
        found = read(path)
        if DEFAULT in found:
            results[name] = found
    return results


def table(results: Results, sources: Mapping[str, Source] = SOURCES) -> list[list[str]]:
    """A line a set: our rows, in percent, what others reached, and of the default fits the longest
    and the median number of patterns."""
    lines = [["set", "folds", *ROWS, "readable", "others", "simple", "seconds", "patterns"]]
    for name, rows in results.items():
        ours = [f"{100 * accuracies(rows[row]).mean():.1f}" if row in rows else "-" for row in ROWS]
        told = sources[name]
        theirs = [_listed(one) for one in (told.readable, told.closed, told.simple)]
        folds = str(len(rows[DEFAULT]))
        n_patterns = np.median([int(row.get("patterns") or 0) for row in rows[DEFAULT]])
        cost = f"{_longest(rows[DEFAULT]):.0f}", f"{n_patterns:,.0f}"
        lines.append([name, folds, *ours, *theirs, *cost])
    return lines


def bars(results: Results, sources: Mapping[str, Source] = SOURCES) -> list[Bar]:
    """How long a default fit may take, and on how many sets it must be as good as others."""
    means = {
        name: {row: accuracies(folds).mean() for row, folds in rows.items()}
        for name, rows in results.items()
    }
    against = [(rows[DEFAULT], rows[NGRAMS]) for rows in means.values() if NGRAMS in rows]
    readable = [
        (100 * rows[DEFAULT], max(sources[name].readable.values()))
        for name, rows in means.items()
        if sources[name].readable
    ]
    longest = max(_longest(rows[DEFAULT]) for rows in results.values())
    found = [Bar("the longest default fit", longest, MOST_SECONDS, "s")]
    for what, pairs, share in (
        ("sets where the default is as good as the n-gram SVM", against, 2 / 3),
        ("sets where it is as good as a readable method", readable, 1 / 2),
    ):
        held = sum(ours >= theirs - 1e-9 for ours, theirs in pairs)
        if pairs:
            what = f"{what}, of {len(pairs)}"
            found.append(Bar(what, held, float(np.ceil(share * len(pairs))), at_least=True))
    return found


def markdown(lines: list[list[str]]) -> str:
    """A table as Markdown."""
    header, *rest = (f"| {' | '.join(line)} |\n" for line in lines)
    return "".join([header, "|---" * len(lines[0]), "|\n", *rest])


def _longest(folds: list[Row]) -> float:
    return max(float(row["seconds"]) for row in folds)


def _listed(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in figures.items()) or "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with intervals/, trajectories/, ...")
    parser.add_argument("--out", type=Path, help="folder for the files; nothing runs without it")
    parser.add_argument("--sets", nargs="+", choices=[*SOURCES], help="only these sets")
    parser.add_argument("--rows", nargs="+", choices=ROWS, help="only these rows")
    parser.add_argument("--seed", type=int, default=0, help="of the folds, where none are given")
    given = parser.parse_args()
    if given.out is None or given.data is None:
        print("skipped: this takes an hour; --data FOLDER --out FOLDER run it")
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", UserWarning)  # where no pattern is found, the prior decides
    results = results_of(given.out, given.data, given.sets, given.rows, given.seed)
    if not results:
        return 0
    lines = table(results)
    print_table(lines[0], lines[1:])
    with (given.out / "table.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    (given.out / "table.md").write_text(markdown(lines), encoding="utf-8")
    print(f"written: {given.out}\n")
    return report(bars(results))


if __name__ == "__main__":
    sys.exit(main())
