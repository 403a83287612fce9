"""The results of the reproduction: our figures beside the published ones, as tables and as SVG.

The picture has a line for each method, with the accuracies as points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from relynx.data.tables.frames import write_csv
from relynx.reproduce import runs as rn
from relynx.storage import whole_file

SUMMARY = "summary.csv"
FIGURE = "accuracy.svg"
LEFT, PLOT, RIGHT, TOP = 262, 400, 234, 84
LINE, GAP = 24, 34  # height of a row, and of the title of a block
LOWEST = 0.3
COLOURS = {"random": "#1b6ca8", "by family": "#c4571b"}
NAMES = {"random": "random folds", "by family": "folds by family"}
COLUMNS = {"random": 64, "by family": 140, "published": 218}  # right edges, from the plot
STYLE = (
    "text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#222}"
    ".title{font-size:16px;font-weight:600}.block{font-weight:600}.small{font-size:11px;fill:#555}"
    ".grid{stroke:#e3e3e3}.guide{stroke:#f0f0f0}"
)


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


def summary(records: Sequence[rn.Record]) -> list[Row]:
    """A row for each method, bias and protocol, in the order in which they were run."""
    by_row: dict[tuple[str, str, str], list[rn.Record]] = {}
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
        return rn.PUBLISHED_LARGEST_CLASS
    if bias == rn.SYSTEMS:
        return rn.TABLE_2.get(name)
    return rn.TABLE_1[name][1] if bias and name in rn.TABLE_1 else None


def table_1(rows: Sequence[Row], protocol: str, bias: str) -> tuple[list[str], list[list[str]]]:
    """The paper's Table 1, two lines a row: what was published, and what came out here."""
    ours = {row.name: row for row in rows if (row.protocol, row.bias) == (protocol, bias)}
    n_folds = max((len(row.folds) for row in ours.values()), default=10)
    header = ["", *(str(i + 1) for i in range(n_folds)), "mean"]
    out = []
    for name, (folds, mean) in rn.TABLE_1.items():
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
    order = [rn.SYSTEMS, *rn.BIASES, ""]
    inside = sorted(rows, key=lambda row: order.index(row.bias))
    for bias, name in dict.fromkeys((row.bias, row.name) for row in inside):
        found = {row.protocol: row for row in rows if (row.bias, row.name) == (bias, name)}
        published = _published(name, bias)
        label = f"Lynx, {name}" if bias in rn.BIASES else name
        value = "" if published is None else f"{published:.3f}"
        if bias and name == rn.OWN_ROW:
            value = f"{rn.TABLE_2['Lynx']:.3f}"
        cells = [_with_spread(found.get(protocol)) for protocol in ("random", "by family")]
        out.append([label, bias if bias in rn.BIASES else "", *cells, value])
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


# The picture


def write_figure(folder: Path, rows: Sequence[Row]) -> None:
    with whole_file(folder / FIGURE) as partial:
        Path(partial).write_text(figure(rows), encoding="utf-8")


def figure(rows: Sequence[Row]) -> str:
    """The figure as SVG text: it needs no other file, and reads in any browser."""
    blocks = {
        bias: list(dict.fromkeys(row.name for row in rows if row.bias == bias))
        for bias in dict.fromkeys(row.bias for row in rows)
    }
    height = TOP + sum(GAP + LINE * len(names) for names in blocks.values()) + 40
    width = LEFT + PLOT + RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Accuracy on protein folds">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text class="title" x="16" y="28">Accuracy on five protein folds</text>',
        *_legend(),
        *_axis(height),
    ]
    y = TOP
    for bias, names in blocks.items():
        y += GAP
        parts.append(f'<text class="block" x="16" y="{y - 10}">{escape(rn.MEANING[bias])}</text>')
        for name in names:
            mine = [row for row in rows if (row.bias, row.name) == (bias, name)]
            parts += _line(name, mine, y + LINE / 2)
            y += LINE
    return "\n".join([*parts, "</svg>\n"])


def _line(name: str, rows: Sequence[Row], y: float) -> Iterator[str]:
    """A method: its name, a point for each figure, and the figures as numbers on the right."""
    yield f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
    yield f'<line class="guide" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y}" y2="{y}"/>'
    published = next((row.published for row in rows if row.published is not None), None)
    if published is not None:
        x = _x(published)
        points = f"{x},{y - 6} {x + 6},{y} {x},{y + 6} {x - 6},{y}"
        tip = f"<title>{escape(name)}, published: {published:.3f}</title>"
        yield f'<polygon points="{points}" fill="none" stroke="#555">{tip}</polygon>'
        yield _number("published", f"{published:.3f}", y)
    for row in rows:
        x, colour = _x(row.mean), COLOURS[row.protocol]
        if row.spread:
            low, high = _x(row.mean - row.spread), _x(row.mean + row.spread)
            yield f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}"/>'
        tip = f"<title>{escape(name)}, {NAMES[row.protocol]}: {row.mean:.3f}</title>"
        yield f'<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}">{tip}</circle>'
        yield _number(row.protocol, f"{row.mean:.3f}", y)


def _number(column: str, text: str, y: float) -> str:
    x, colour = LEFT + PLOT + COLUMNS[column], COLOURS.get(column, "#555")
    return f'<text x="{x}" y="{y + 4}" text-anchor="end" style="fill:{colour}">{text}</text>'


def _legend() -> Iterator[str]:
    x = 16
    for protocol in rn.PROTOCOLS:
        yield f'<circle cx="{x + 5}" cy="52" r="4.5" fill="{COLOURS[protocol]}"/>'
        yield f'<text x="{x + 16}" y="56">{NAMES[protocol]}</text>'
        x += 140
    points = f"{x + 5},46 {x + 11},52 {x + 5},58 {x - 1},52"
    yield f'<polygon points="{points}" fill="none" stroke="#555"/>'
    yield f'<text x="{x + 18}" y="56">published, other domains of these folds</text>'


def _axis(height: int) -> Iterator[str]:
    bottom = height - 30
    for column in COLUMNS:
        yield _number(column, column, TOP - 8)
    for tenth in range(round(LOWEST * 10), 11):
        x = _x(tenth / 10)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        label = f"{tenth / 10:.1f}"
        yield f'<text class="small" x="{x}" y="{bottom + 16}" text-anchor="middle">{label}</text>'


def _x(share: float) -> float:
    inside = min(max(share, LOWEST), 1.0)
    return round(LEFT + (inside - LOWEST) / (1 - LOWEST) * PLOT, 1)
