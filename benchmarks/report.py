"""`report` of 2,000 sequences: the time that it takes and the size of the page.

The bundled folds, each domain twice, and a model with 200 patterns for each pair of folds, more
than selection leaves.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from questions.bars import Bar, report

import relynx as rx

N = 2_000


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
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
