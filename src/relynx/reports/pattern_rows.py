"""The patterns of a model as rows: text, wording, supports, odds, and the models that use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.mining.patterns.measures import chi2
from relynx.mining.wording import in_words, visible
from relynx.models.lynx.classifier import LynxClassifier

BEST = 5  # patterns shown for each class
HALF = 0.5  # added to every count, so that odds are finite (Haldane 1956)


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern that the model uses.

    `class_` is the number of the class of which it covers the largest proportion, and `odds` how
    many times larger the odds of that class are with the pattern than without. `supports` and
    `proportions` are of the training sequences, by class; `pairs` numbers the models that use it.
    """

    number: int
    text: str
    words: str
    length: int
    class_: int
    supports: tuple[int, ...]
    proportions: tuple[float, ...]
    odds: float
    chi2: float
    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClassPatterns:
    """The patterns that characterise a class best."""

    name: str
    rows: tuple[PatternRow, ...]


def pattern_rows(model: LynxClassifier) -> tuple[PatternRow, ...]:
    """A row for each pattern of the model, in the order of `selected_`."""
    selected = model.selected_
    proportions = selected.supports / np.maximum(selected.class_sizes, 1)
    owner = proportions.argmax(axis=1)
    odds = odds_ratios(selected.supports, selected.class_sizes, owner)
    values = selected.measure("chi2")
    identity = selected.object_identity
    users: list[list[int]] = [[] for _ in range(len(selected))]
    for k, columns in enumerate(model.columns_):
        for column in columns.tolist():
            users[column].append(k)
    return tuple(
        PatternRow(
            number=i,
            text=str(entry.pattern),
            words=visible(in_words(entry.pattern, model.bias_, object_identity=identity)),
            length=entry.length,
            class_=int(owner[i]),
            supports=tuple(entry.support.values()),
            proportions=tuple(proportions[i].tolist()),
            odds=float(odds[i]),
            chi2=float(values[i]),
            pairs=tuple(users[i]),
        )
        for i, entry in enumerate(selected)
    )


def odds_ratios(
    supports: NDArray[np.int32], sizes: NDArray[np.int64], class_: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The odds of a class among the sequences with the pattern, over those among the others."""
    rows = np.arange(len(supports))
    own, all_own = supports[rows, class_] + HALF, sizes[class_] + 2 * HALF
    other = supports.sum(axis=1) - supports[rows, class_] + HALF
    all_other = sizes.sum() - sizes[class_] + 2 * HALF
    ratios: NDArray[np.float64] = own * (all_other - other) / (other * (all_own - own))
    return ratios


def best_of_classes(
    model: LynxClassifier, rows: tuple[PatternRow, ...], names: tuple[str, ...]
) -> tuple[ClassPatterns, ...]:
    """For each class the patterns that belong to it, ordered by chi-square."""
    out = []
    table = chi2(model.selected_.supports, model.selected_.class_sizes)
    for c, name in enumerate(names):
        values = table[:, c]
        own = sorted(
            (row for row in rows if row.class_ == c),
            key=lambda row: (-round(float(values[row.number]), 9), row.length, row.number),
        )
        out.append(ClassPatterns(name, tuple(own[:BEST])))
    return tuple(out)
