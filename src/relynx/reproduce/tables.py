"""The tables of the reproduction: our figures beside the published ones, and as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relynx.data.tables.frames import write_csv
from relynx.reproduce.rows import (
    BIASES,
    OWN_ROW,
    PUBLISHED_LARGEST_CLASS,
    SYSTEMS,
    TABLE_1,
    TABLE_2,
)
from relynx.reproduce.runs import Record

SUMMARY = "summary.csv"


@dataclass(frozen=True, slots=True)
class Row:
    """The accuracy of a method: mean of all folds, mean by fold, spread over the seeds."""

    protocol: str
    bias: str
    name: str
    mean: float
    spread: float
    folds: tuple[float, ...]
    published: float | None


def summary(records: Sequence[Record]) -> list[Row]:
    """A row for each method, bias and protocol, in the order in which they were run."""
    by_row: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        by_row.setdefault((record.protocol, record.bias, record.name), []).append(record)
    rows = []
    for (protocol, bias, name), mine in by_row.items():
        seeds = sorted({record.seed for record in mine})
        numbers = sorted({record.fold for record in mine})
        means = [np.mean([r.accuracy for r in mine if r.seed == seed]) for seed in seeds]
        folds = [float(np.mean([r.accuracy for r in mine if r.fold == n])) for n in numbers]
        spread = float(np.std(means, ddof=1)) if len(means) > 1 else 0.0
        mean = float(np.mean([record.accuracy for record in mine]))
        rows.append(Row(protocol, bias, name, mean, spread, tuple(folds), _published(name, bias)))
    return rows


def _published(name: str, bias: str) -> float | None:
    if name == "largest class":
        return PUBLISHED_LARGEST_CLASS
    if bias == SYSTEMS:
        return TABLE_2.get(name)
    return TABLE_1[name][1] if bias and name in TABLE_1 else None


def table_1(rows: Sequence[Row], protocol: str, bias: str) -> tuple[list[str], list[list[str]]]:
    """The paper's Table 1, two lines a row: what was published, and what came out here."""
    ours = {row.name: row for row in rows if (row.protocol, row.bias) == (protocol, bias)}
    n_folds = max((len(row.folds) for row in ours.values()), default=10)
    header = ["", *(str(i + 1) for i in range(n_folds)), "mean"]
    out = []
    for name, (folds, mean) in TABLE_1.items():
        shown = map(_two, folds) if n_folds == len(folds) else [""] * n_folds
        out.append([f"{name}: published", *shown, f"{mean:.3f}"])
        if name in ours:
            row = ours[name]
            out.append([f"{' ' * len(name)}  here", *map(_two, row.folds), f"{row.mean:.3f}"])
    return header, out


def comparison(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """All methods: the means of random folds and of folds by family, and what was published."""
    header = ["method", "bias", "random", "by family", "published"]
    out = []
    order = [SYSTEMS, *BIASES, ""]
    inside = sorted(rows, key=lambda row: order.index(row.bias))
    for bias, name in dict.fromkeys((row.bias, row.name) for row in inside):
        found = {row.protocol: row for row in rows if (row.bias, row.name) == (bias, name)}
        published = _published(name, bias)
        label = f"Lynx, {name}" if bias in BIASES else name
        value = "" if published is None else f"{published:.3f}"
        if bias and name == OWN_ROW:
            value = f"{TABLE_2['Lynx']:.3f}"
        cells = [_with_spread(found.get(protocol)) for protocol in ("random", "by family")]
        out.append([label, bias if bias in BIASES else "", *cells, value])
    return header, out


def write_summary(folder: Path, rows: Sequence[Row]) -> None:
    """The rows as CSV; a published figure that is not known is empty."""
    columns: dict[str, list[Any]] = {
        "protocol": [row.protocol for row in rows],
        "bias": [row.bias for row in rows],
        "method": [row.name for row in rows],
        "mean": [round(row.mean, 4) for row in rows],
        "spread": [round(row.spread, 4) for row in rows],
        "published": ["" if row.published is None else str(row.published) for row in rows],
    }
    schema = {name: float if name in ("mean", "spread") else str for name in columns}
    write_csv(folder / SUMMARY, [columns], schema)


def _with_spread(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.mean:.3f}" + (f" ± {row.spread:.3f}" if row.spread else "")


def _two(value: float) -> str:
    """.94, as the paper prints it; 1.0 for all."""
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0") else text[:3]
