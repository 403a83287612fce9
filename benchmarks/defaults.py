"""The defaults of the method GRASP against other settings, by cross-validation on real data.

    python benchmarks/defaults.py --out FOLDER [--data FOLDER] [--sets NAME ...]

It has no bar. Without a folder of data the bundled folds are the only set. Each set has a file with
all its folds in the output folder; what is there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from questions.bars import print_table
from questions.real_sets import READERS, RealSet, protein_folds
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from relynx import LynxClassifier
from relynx.models.evaluation.baselines import baselines
from relynx.models.evaluation.cross_validation import cross_validate
from relynx.models.lynx.classifier import PAPER

HELD_BACK = "*"  # after the name of a set by which nothing was chosen

BASE = {"significance": None, "n_features": "validated", "max_features": 1000}
ALL = {**BASE, "selection": None}

# Written out in full, so that a row means the same whatever the defaults are.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "defaults": BASE,
    "paper": {**BASE, **PAPER},
    "n_features=None": {**BASE, "n_features": None},
    "max_features=None": {**BASE, "max_features": None},
    "significance=0.05": {**BASE, "significance": 0.05},
    "objective='balanced'": {**BASE, "objective": "balanced"},
    "multiclass='single'": {**BASE, "multiclass": "single"},
    "logistic regression on all": {
        **ALL,
        "final_estimator": LogisticRegression(C=0.1, max_iter=1000),
    },
    "linear SVM on all": {**ALL, "final_estimator": LinearSVC(dual=False)},
    "boosted stumps on all": {**ALL, "final_estimator": AdaBoostClassifier(n_estimators=200)},
}
COLUMNS = ("set", "held_back", "setting", "fold", "accuracy", "seconds")

Row = dict[str, str]
Results = dict[str, dict[str, list[Row]]]  # by set and setting, the folds


def run(data: RealSet, path: Path, done: Mapping[str, list[Row]]) -> None:
    """Every setting that is not done on a set; the folds are the same for all."""
    models = {
        name: LynxClassifier(data.bias, method="grasp", max_iter=data.rounds, **settings)
        for name, settings in SETTINGS.items()
        if len(set(data.y)) > 2 or settings.get("multiclass") != "single"
    }
    for name, model in {**models, **baselines(data.X)}.items():
        if name in done:
            continue
        found = cross_validate(model, data.X, data.y, folds=data.folds, groups=data.groups)
        print(f"{data.name}: {name} {found.mean:.3f}, {found.seconds:.0f} s", flush=True)
        mark = HELD_BACK if data.held_back else ""
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            for fold in found.folds:
                cells = (f"{fold.accuracy:.6f}", f"{fold.seconds:.2f}")
                writer.writerow((data.name, mark, name, fold.number, *cells))


def read(path: Path) -> dict[str, list[Row]]:
    """The folds of each setting in the file of a set, in the order of the tables."""
    if not path.exists():
        return {}
    rows: dict[str, list[Row]] = {name: [] for name in SETTINGS}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["setting"], []).append(row)
    return {name: folds for name, folds in rows.items() if folds}


def results_of(out: Path, folder: Path | None, wanted: list[str] | None) -> Results:
    """What the sets gave: those of the folder that can be read, and the bundled one."""
    sets = {"folds": protein_folds}
    if folder is not None:
        sets |= {one.__name__: partial(one, folder) for one in READERS}
    else:
        print("skipped: all sets but the bundled folds; --data names the folder that has them")
    results: Results = {}
    for name, load in sets.items():
        if wanted and name not in wanted:
            continue
        path = out / f"{name}.csv"
        try:
            data = load()
        except FileNotFoundError as error:
            print(f"skipped: {name}, for there is no {error.filename or error}")
            continue
        run(data, path, read(path))
        results[name] = read(path)
    return results


def accuracies(folds: list[Row]) -> NDArray[np.float64]:
    """The accuracy of each fold."""
    return np.array([float(row["accuracy"]) for row in folds])


def table(results: Results) -> list[list[str]]:
    """A line a setting: the mean of its folds and their spread for each set, and the time."""
    lines = [["setting", *(_heading(name, rows) for name, rows in results.items()), "seconds"]]
    names = dict.fromkeys([*SETTINGS, *(name for rows in results.values() for name in rows)])
    for name in names:
        if not any(name in rows for rows in results.values()):
            continue
        cells, seconds = [], 0.0
        for rows in results.values():
            if name in rows:
                found = accuracies(rows[name])
                cells.append(f"{found.mean():.3f} ± {found.std(ddof=1):.3f}")
                seconds += sum(float(row["seconds"]) for row in rows[name])
            else:
                cells.append("-")
        lines.append([name, *cells, f"{seconds:.0f}"])
    return lines


def differences(results: Results, default: str) -> list[list[str]]:
    """A line a setting: how much better it is than the default, in points, the mean of the sets."""
    lines = [
        ["better than the default by", "not held back", "held back", "all sets", "sets won, lost"]
    ]
    for name in SETTINGS:
        gains: dict[str, list[float]] = {"": [], HELD_BACK: []}
        for rows in results.values():
            if name in rows and name != default:
                gain = accuracies(rows[name]).mean() - accuracies(rows[default]).mean()
                gains[rows[name][0]["held_back"]].append(100 * gain)
        every = np.array(gains[""] + gains[HELD_BACK])
        if len(every):
            cells = [_mean(gains[""]), _mean(gains[HELD_BACK]), _mean(every)]
            won, lost = int((every > 0.05).sum()), int((every < -0.05).sum())
            lines.append([name, *cells, f"{won}, {lost}"])
    return lines


def default_row() -> str:
    """The row that has the defaults of GRASP in `LynxClassifier`."""
    standard = LynxClassifier().get_params()
    for name, settings in SETTINGS.items():
        if {**standard, **settings} == standard:
            return name
    raise LookupError("no row of SETTINGS has the defaults of LynxClassifier")


def _heading(name: str, rows: dict[str, list[Row]]) -> str:
    return name + next(iter(rows.values()))[0]["held_back"]


def _mean(values: Any) -> str:
    return f"{np.mean(values):+.1f}" if len(values) else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with promoters/, production/, ...")
    parser.add_argument("--out", type=Path, help="folder for the files; nothing runs without it")
    parser.add_argument("--sets", nargs="+", help="only these sets")
    given = parser.parse_args()
    out = given.out
    if out is None:
        print("skipped: this takes half an hour; --out FOLDER runs it")
        return 0
    out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", UserWarning)  # where no pattern is found, the prior decides
    results = results_of(out, given.data, given.sets)
    if not results:
        return 0
    lines = table(results)
    print_table(lines[0], lines[1:])
    with (out / "table.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    default = default_row()
    header, *rest = differences(results, default)
    print(f"default: {default}; {HELD_BACK} nothing was chosen by this set")
    print_table(header, rest)
    print(f"written: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
