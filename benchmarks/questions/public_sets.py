"""Public data as a user would give them: read by the door for their form, and no bias.

The protein folds are bundled. The others come from a folder that has them as they are published.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from questions.real_sets import molecule_files
from relynx import Sequences, from_events, from_intervals, from_lists, load_protein_folds, read_lynx
from relynx.models.evaluation.cross_validation import Split, splits

FOLDS = 10
MISSING = ["-999", "-999.0"]


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Sequences with their classes, and which of them are held out together.

    `parts` has for each sequence the number of its part, from 1 on, where the parts are given; 0
    is never held out. Without them they are drawn by class, ten if no number is given. `plain` are
    the sequences for n-grams, where a number that hardly occurs twice would make each event one of
    its own.
    """

    X: Sequences
    y: NDArray[Any]
    parts: NDArray[np.int64] | None = None
    plain: Sequences | None = None

    def splits(self, folds: int = FOLDS, seed: int = 0) -> list[Split]:
        """The training and the test part of each fold, as numbers of sequences."""
        if self.parts is None:
            return [*splits(self.y, folds=folds, seed=seed)]
        numbers = range(1, int(self.parts.max()) + 1)
        return [(np.flatnonzero(self.parts != i), np.flatnonzero(self.parts == i)) for i in numbers]


@dataclass(frozen=True, slots=True)
class Source:
    """A set that can be read, and the accuracies of others on it, in percent.

    `readable` are those of methods whose models a person can read, `closed` those of the rest;
    `simple` are our own runs of well-known learners on features made by hand for the set.
    """

    read: Callable[[Path], PublicSet]
    readable: Mapping[str, float] = field(default_factory=dict)
    closed: Mapping[str, float] = field(default_factory=dict)
    simple: Mapping[str, float] = field(default_factory=dict)


def protein_folds(folder: Path) -> PublicSet:
    """The bundled domains, in random folds, as they are published."""
    data = load_protein_folds()
    return PublicSet(data.X, data.y)


def intervals(name: str) -> Callable[[Path], PublicSet]:
    """A reader of one of the sets of intervals, with all its classes."""

    def read(folder: Path) -> PublicSet:
        here = folder / "intervals" / name
        lines = (here / "data.txt").read_text().splitlines()
        classes = (here / "classes.txt").read_text().split()
        sequence, symbol, start, end = np.array([line.split() for line in lines], int).T
        table = {"sequence": sequence, "symbol": symbol, "start": start, "end": end}
        table["class"] = np.array([f"c{label}" for label in classes])[sequence]
        columns = {name: column.tolist() for name, column in table.items()}
        roles = {"sequence": "sequence", "start": "start", "end": "end", "symbol": "symbol"}
        X, y = from_intervals(columns, **roles, label="class")
        plain, _ = from_intervals(columns, **roles, label="class", duration=False)
        assert y is not None
        return PublicSet(X, y, plain=plain)

    return read


def trajectories(folder: Path) -> PublicSet:
    """Where 193 people went in a week, as the table has it; the split is the published one."""
    parts = ("train", "test")
    paths = [folder / "trajectories" / f"foursquare_{part}.csv.gz" for part in parts]
    train, test = (pd.read_csv(path, na_values=MISSING, dtype={"label": str}) for path in paths)
    X_train, y_train = from_events(train, sequence="tid", label="label")
    X_test, y_test = from_events(test, reading=X_train.reading)
    assert y_train is not None
    assert y_test is not None
    X = Sequences.concatenate([X_train, X_test])
    return PublicSet(X, np.append(y_train, y_test), np.repeat([0, 1], [len(y_train), len(y_test)]))


def production(folder: Path) -> PublicSet:
    """A log of a factory, all its columns."""
    table = pd.read_csv(folder / "production" / "production.csv.gz", sep=";")
    X, y = from_events(table, sequence="Case ID", order="event_nr", label="label")
    assert y is not None
    return PublicSet(X, y)


def promoters(folder: Path) -> PublicSet:
    """DNA as plain lists of bases."""
    lines = (folder / "promoters" / "promoters.data").read_text().splitlines()
    rows = [[part.strip() for part in line.split(",")] for line in lines]
    X, y = from_lists([list(bases) for _, _, bases in rows], [mark for mark, _, _ in rows])
    assert y is not None
    return PublicSet(X, y)


def flat(name: str) -> Callable[[Path], PublicSet]:
    """A reader of one of the sets of plain lists: a class, a tab, symbols between blanks."""

    def read(folder: Path) -> PublicSet:
        with gzip.open(folder / "flat" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        X, y = from_lists([symbols.split() for _, symbols in rows], [label for label, _ in rows])
        assert y is not None
        return PublicSet(X, y)

    return read


def mutagenesis(folder: Path) -> PublicSet:
    """Molecules, as their files have them; each of the ten files is held out in turn."""
    read = [read_lynx(file)[0] for file in molecule_files(folder)]
    X = Sequences.concatenate(read)
    parts = np.repeat(np.arange(1, len(read) + 1), [len(one) for one in read])
    return PublicSet(X, np.array(X.labels), parts)


def _of_106(errors: int) -> float:
    """An accuracy from the errors in 106 sequences, each left out in turn."""
    return 100 * (1 - errors / 106)


def _svm(symbols: float, pairs: float) -> Mapping[str, float]:
    """Linear SVMs: on which symbols a sequence has, and also on pairs and how they stand."""
    return {"SVM of symbols": symbols, "SVM of related pairs": pairs}


# Readable are methods that tell by what they decide: STIFE by durations, symbols and related pairs
# of intervals (its forest of trees is hard to follow, its features are not), MOVELETS by stretches
# of trajectories, O'Neill by a consensus that an expert wrote, ID3 by a tree. The others are
# distances to neighbours (IBSM, 3-NN), thousands of random kernels (COSTI) and neural networks.
SOURCES: Mapping[str, Source] = {
    "protein_folds": Source(protein_folds),
    "blocks": Source(
        intervals("blocks"), {"STIFE": 100}, {"IBSM": 100, "COSTI": 100}, _svm(48.6, 99.0)
    ),
    "skating": Source(
        intervals("skating"), {"STIFE": 97.0}, {"IBSM": 97.0, "COSTI": 99.3}, _svm(89.4, 98.9)
    ),
    "context": Source(
        intervals("context"), {"STIFE": 99.6}, {"IBSM": 96.7, "COSTI": 99.5}, _svm(93.3, 93.8)
    ),
    "pioneer": Source(
        intervals("pioneer"), {"STIFE": 98.1}, {"IBSM": 94.4, "COSTI": 100}, _svm(100, 100)
    ),
    "trajectories": Source(
        trajectories,
        {"MOVELETS": 41.6},
        {"Bi-TULER": 33.5, "TULVAE": 32.8, "MARC-C": 74.9},
        {"naive Bayes of values": 73.0, "naive Bayes of pairs of values": 79.0},
    ),
    "production": Source(production, simple={"SVM of values": 76.4}),
    "promoters": Source(
        promoters,
        {"O'Neill": _of_106(12), "ID3": _of_106(19)},
        {"KBANN": _of_106(4), "backpropagation": _of_106(8), "3-NN": _of_106(13)},
        {"SVM": _of_106(6)},
    ),
    "mutagenesis": Source(mutagenesis),
    **{name: Source(flat(name)) for name in ("unix", "reuters", "gene", "webkb", "activity")},
}
