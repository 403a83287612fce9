"""Predictions as a table: one row per sequence, with class probabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from relynx.data.sequences import Sequences
from relynx.data.tables.frames import write_csv, write_jsonl, write_parquet
from relynx.logic.dimensions import link_name
from relynx.mining.wording import names_of


@dataclass(frozen=True, slots=True)
class Summary:
    """How many predictions there are, and the accuracy, None without labels; `unknown` counts the
    sequences with a label that the model has never seen."""

    n: int
    accuracy: float | None
    unknown: int


def write_predictions(
    model: Any, parts: Iterable[Sequences], path: str | os.PathLike[str]
) -> Summary:
    """Write the predictions of a classifier, one part of the sequences in memory at a time. The
    table is CSV, JSON Lines or Parquet, by the ending of the path."""
    written: list[Summary] = []

    def columns() -> Iterator[dict[str, list[Any]]]:
        for X in parts:
            table, summary = predictions(model, X)
            written.append(summary)
            yield table

    chunks = columns()
    first = next(chunks)
    _write(path, chain([first], chunks), first)
    known = [(one.n, one.accuracy) for one in written if one.accuracy is not None]
    right = sum(n * accuracy for n, accuracy in known)
    n, unknown = sum(one.n for one in written), sum(one.unknown for one in written)
    return Summary(n, right / n if known else None, unknown)


def _write(
    path: str | os.PathLike[str], chunks: Iterable[dict[str, list[Any]]], names: Iterable[str]
) -> None:
    ending = Path(path).suffix.lower()
    if ending == ".jsonl":
        rows = (
            dict(zip(columns, row, strict=True))
            for columns in chunks
            for row in zip(*columns.values(), strict=True)
        )
        write_jsonl(path, rows)
        return
    schema = {name: float if name.startswith("probability_") else str for name in names}
    write = write_parquet if ending == ".parquet" else write_csv
    write(path, chunks, schema)


def predictions(model: Any, X: Sequences) -> tuple[dict[str, list[Any]], Summary]:
    """Predictions of a classifier as columns, and their summary. The columns are `id`, `label`
    where the sequences have one, `predicted`, and `probability_NAME` for each class, where the
    model gives one."""
    predicted = model.predict(X)
    probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    classes = model.classes_.tolist()
    names = names_of(classes, str)
    columns: dict[str, list[Any]] = {"id": [str(name) for name in X.ids.tolist()]}
    accuracy, unknown = None, 0
    if X.labels is not None:
        labels = X.labels.tolist()
        columns["label"] = [str(label) for label in labels]
        hits = [label == given for label, given in zip(labels, predicted.tolist(), strict=True)]
        accuracy = float(np.mean(hits)) if hits else None
        unknown = sum(label not in classes for label in labels)
    columns["predicted"] = [str(given) for given in predicted.tolist()]
    if probabilities is not None:
        columns |= {
            f"probability_{name}": probabilities[:, i].tolist() for i, name in enumerate(names)
        }
    return columns, Summary(len(X), accuracy, unknown)


def unknown_predicates(model: Any, X: Sequences) -> list[str]:
    """Predicates that the model uses and that the sequences can never have: `helix/3`."""
    heads = X.background.heads if X.background is not None else ()
    here = {*X.tables, *heads}
    entries = getattr(model, "selected_", ())  # other models have no patterns
    used = {atom.key for entry in entries for atom in entry.pattern.atoms}
    plain = (key for key in used if link_name(key[0]) is None)
    return sorted(f"{name}/{arity}" for name, arity in plain if (name, arity) not in here)
