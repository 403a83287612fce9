"""Predictions as a table: a row a sequence, with the share of each class."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relynx.data.frames import write_csv, write_jsonl, write_parquet
from relynx.data.sequences import Sequences
from relynx.logic.dimensions import link_name


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says of some sequences.

    Attributes
    ----------
    columns
        `id`, `label` where the sequences have one, `predicted`, and `probability_NAME` for each
        class, where the model gives one.
    accuracy
        The share of labels that were predicted; None without labels.
    unknown
        How many sequences have a label that the model has never seen.
    """

    columns: dict[str, list[Any]]
    accuracy: float | None
    unknown: int

    def __len__(self) -> int:
        return len(self.columns["id"])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV, JSON Lines or Parquet, by the ending of the path."""
        ending = Path(path).suffix.lower()
        if ending == ".jsonl":
            rows = zip(*self.columns.values(), strict=True)
            write_jsonl(path, (dict(zip(self.columns, row, strict=True)) for row in rows))
            return
        schema = {name: float if name.startswith("probability_") else str for name in self.columns}
        write = write_parquet if ending == ".parquet" else write_csv
        write(path, [self.columns], schema)


def predictions(model: Any, X: Sequences) -> Predictions:
    """What a classifier says of the sequences, beside their labels where they have some."""
    predicted = model.predict(X)
    shares = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    classes = model.classes_.tolist()
    names = [str(c) for c in classes]
    if len(set(names)) < len(names):  # 1 and '1'
        names = [repr(c) for c in classes]
    columns: dict[str, list[Any]] = {"id": [str(name) for name in X.ids.tolist()]}
    accuracy, unknown = None, 0
    if X.labels is not None:
        labels = X.labels.tolist()
        columns["label"] = [str(label) for label in labels]
        hits = [label == given for label, given in zip(labels, predicted.tolist(), strict=True)]
        accuracy = float(np.mean(hits)) if hits else None
        unknown = sum(label not in classes for label in labels)
    columns["predicted"] = [str(given) for given in predicted.tolist()]
    if shares is not None:
        columns |= {f"probability_{name}": shares[:, i].tolist() for i, name in enumerate(names)}
    return Predictions(columns, accuracy, unknown)


def unheard_of(model: Any, X: Sequences) -> list[str]:
    """Predicates that the model asks for and that the sequences can never have: `helix/3`."""
    heads = X.background.heads if X.background is not None else ()
    here = {*X.tables, *heads}
    entries = getattr(model, "selected_", ())  # other models than of patterns ask for nothing
    asked = {atom.key for entry in entries for atom in entry.pattern.atoms}
    plain = (key for key in asked if link_name(key[0]) is None)
    return sorted(f"{name}/{arity}" for name, arity in plain if (name, arity) not in here)
