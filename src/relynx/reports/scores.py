"""How well a model does on labelled sequences, in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats, Longs

Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
BINS = 10


@dataclass(frozen=True, slots=True)
class Proportion:
    """A proportion, `hits` of `n`, with its 95 % confidence interval."""

    hits: int
    n: int

    @property
    def value(self) -> float:
        return self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval (Wilson 1927): it stays within 0 and 1, and is valid for small n."""
        if not self.n:
            return 0.0, 1.0
        p, n, z2 = self.value, self.n, Z * Z
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one class; None where the denominator is 0."""

    name: str
    n: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The sequences whose predicted class has a probability from `low` to `high`."""

    low: float
    high: float
    n: int
    of_all: float
    expected: float
    right: Proportion


@dataclass(frozen=True, slots=True)
class Scores:
    """How well predictions agree with labels.

    `largest` is the proportion of the most frequent label: the accuracy of always predicting it.
    The rows of `confusion` are `labels`, the classes and then labels unknown to the model, its
    columns the predicted classes. `reliability` has the nonempty bins of the reliability diagram,
    and `gap` is the expected calibration error: the mean distance of probability and accuracy over
    the bins, weighted by their size.
    """

    accuracy: Proportion
    largest: float
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    classes: tuple[ClassScore, ...]
    reliability: tuple[ReliabilityBin, ...]
    gap: float


def scores(labels: Longs, predicted: Longs, probabilities: Floats, names: Sequence[str]) -> Scores:
    """Compare predictions with labels, both as numbers of `names`. These are the classes of the
    model, which have probabilities, then labels unknown to it."""
    n_classes = probabilities.shape[1]
    counts = np.zeros((len(names), n_classes), np.int64)
    np.add.at(counts, (labels, predicted), 1)
    hits = labels == predicted
    bins = _reliability(hits, probabilities.max(axis=1))
    return Scores(
        accuracy=Proportion(int(hits.sum()), len(hits)),
        largest=float(np.bincount(labels).max() / len(labels)),
        labels=tuple(names),
        confusion=tuple(tuple(row) for row in counts.tolist()),
        classes=tuple(_class_score(counts, c, names[c]) for c in range(n_classes)),
        reliability=bins,
        gap=sum(one.of_all * abs(one.expected - one.right.value) for one in bins),
    )


def _class_score(counts: Longs, c: int, name: str) -> ClassScore:
    right, n, given = int(counts[c, c]), int(counts[c].sum()), int(counts[:, c].sum())
    return ClassScore(
        name,
        n,
        given,
        right / given if given else None,
        right / n if n else None,
        2 * right / (n + given) if n + given else None,
    )


def _reliability(hits: NDArray[Any], confidence: Floats) -> tuple[ReliabilityBin, ...]:
    number = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    out = []
    for i in np.unique(number).tolist():
        here = number == i
        n = int(here.sum())
        right = Proportion(int(hits[here].sum()), n)
        expected = float(confidence[here].mean())
        out.append(ReliabilityBin(i / BINS, (i + 1) / BINS, n, n / len(hits), expected, right))
    return tuple(out)
