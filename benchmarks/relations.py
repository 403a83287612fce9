"""`LynxClassifier()` on tables whose classes depend on two events and the values that they share.

    python benchmarks/relations.py [--draws 10]

Four stories of `questions/tables.py` with 2,000 sequences, ten columns, and 7 % of the labels
wrong, written to CSV and read with defaults. The rule, or a pattern that covers the same new
sequences, must be among the first three patterns; accuracy is that on 2,000 new sequences, beside
the most that can be reached there. Beside it stands gradient boosting on counts of the values of
each column.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from questions.bars import Bar, print_table, report
from questions.tables import STORIES, Story, table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer

from relynx import LynxClassifier, Sequences, covers, from_events

N = 2000
NEAR = 0.01  # to the ceiling
FIRST = 3  # patterns


def written(story: Story, seed: int, path: Path) -> str:
    rows, _ = table(story, N, seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    return str(path)


def counted(X: Sequences) -> list[dict[str, int]]:
    """How often each column has each value."""
    return [
        Counter(f"{atom.predicate}={atom.args[1]}" for atom in one.atoms if len(atom.args) == 2)
        for one in X
    ]


def draw(story: Story, seed: int, folder: Path) -> tuple[bool, float, float, float, float]:
    """Whether the rule is found, the accuracy, its ceiling, that of boosting, and seconds."""
    how = {"sequence": "case", "order": "time", "label": story.label}
    X, y = from_events(written(story, seed, folder / "train.csv"), **how)
    start = time.perf_counter()
    model = LynxClassifier(random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    new = written(story, 1000 + seed, folder / "test.csv")
    X_new, y_new = from_events(new, reading=model.reading_)
    truth = covers(story.rule, X_new)
    found = any(
        np.array_equal(covers(entry.pattern, X_new), truth) for entry in model.selected_[:FIRST]
    )
    ceiling = float(np.mean(truth == (y_new == "yes")))
    vectors = DictVectorizer(sparse=False).fit(counted(X))
    boosting = HistGradientBoostingClassifier(random_state=0)
    boosting.fit(vectors.transform(counted(X)), y)
    other = float(boosting.score(vectors.transform(counted(X_new)), y_new))
    return found, model.score(X_new, y_new), ceiling, other, seconds


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draws", type=int, default=10)
    draws = arguments.parse_args().draws
    rows, bars = [], []
    for name, story in STORIES.items():
        with tempfile.TemporaryDirectory() as folder:
            results = [draw(story, seed, Path(folder)) for seed in range(draws)]
        found, ours, ceiling, other, seconds = map(np.array, zip(*results, strict=True))
        n_good = int((found & (ours >= ceiling - NEAR)).sum())
        means = [f"{np.mean(one):.3f}" for one in (ours, ceiling, other)]
        rows.append((name, str(n_good), *means, f"{seconds.max():.0f}"))
        bars.append(Bar(f"{name}: good draws", n_good, np.ceil(0.9 * draws), at_least=True))
        bars.append(Bar(f"{name}: the longest fit", float(seconds.max()), 60, "s"))
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    bars.append(Bar("peak memory", gigabytes, 1, "GB"))
    heads = ("table", "good draws", "accuracy", "ceiling", "boosting on counts", "seconds")
    print_table(heads, rows)
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
