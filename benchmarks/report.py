"""`report` of 2,000 sequences: the time that it takes and the size of the page; and `explain`.

The bundled folds, each domain twice, and a model with 200 patterns for each pair of folds, more
than selection leaves. Then texts of 20 to 60 words, each word a predicate, and a default model, in
which thousands of patterns have a weight: one sequence explained, and a report on a hundred.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from questions.bars import Bar, report

import relynx as rx

N = 2_000
N_TEXTS, N_WORDS, N_TESTED, N_EXPLAINED = 1_000, 3_000, 100, 5


def texts() -> tuple[rx.Sequences, np.ndarray]:
    """Words by Zipf's law, of which each class likes some a little more."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, N_WORDS + 1) * np.exp(rng.normal(0, 0.5, (2, N_WORDS)))
    weights /= weights.sum(axis=1, keepdims=True)
    y = rng.integers(0, 2, N_TEXTS)
    sizes = rng.integers(20, 61, N_TEXTS)
    lists = [
        [f"w{i}" for i in rng.choice(N_WORDS, size=n, p=weights[c])]
        for n, c in zip(sizes, y, strict=True)
    ]
    return rx.from_lists(lists)[0], np.array(["u", "v"])[y]


def of_texts() -> list[Bar]:
    """`explain` and `report` with a model in which thousands of patterns have a weight."""
    X, y = texts()
    model = rx.LynxClassifier(random_state=0).fit(X[N_TESTED:], y[N_TESTED:])
    rx.explain(model, X[N_TESTED])
    start = time.perf_counter()
    for i in range(N_EXPLAINED):
        str(rx.explain(model, X[i]))
    one = (time.perf_counter() - start) / N_EXPLAINED
    start = time.perf_counter()
    page = rx.report(model, X[:N_TESTED], y[:N_TESTED])
    seconds = time.perf_counter() - start
    n = f"{len(model.selected_):,} patterns"
    return [
        Bar(f"explain of a text, {n}", one, 1.0, "s"),
        Bar(f"report of {N_TESTED} texts, {n}", seconds, 10.0, "s"),
        Bar("the page of the texts", len(page.html.encode()) / 1e6, 3.0, "MB"),
    ]


def main() -> int:
    folds = rx.load_protein_folds()
    model = rx.LynxClassifier(folds.bias, selection=None, max_features=200, random_state=0)
    model.fit(folds.X, folds.y)
    rx.report(model, folds.X[:50], folds.y[:50])  # kernels compile here
    which = np.arange(N) % len(folds.X)
    X, y = folds.X[which], folds.y[which]
    start = time.perf_counter()
    page = rx.report(model, X, y)
    seconds = time.perf_counter() - start
    size = len(page.html.encode())
    print(f"{len(model.selected_):,} patterns, {len(model.estimators_)} models")
    print(f"{seconds:.1f} s, {size:,} bytes\n")
    return report(
        [
            Bar(f"report of {N:,} sequences", seconds, 20.0, "s"),
            Bar("the page", size / 1e6, 3.0, "MB"),
            *of_texts(),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
