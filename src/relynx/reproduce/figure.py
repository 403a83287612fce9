"""A figure of the reproduction: a line for each method, with the accuracies as points, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from relynx.reproduce.rows import MEANING, PROTOCOLS
from relynx.reproduce.tables import Row
from relynx.storage import whole_file

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
        parts.append(f'<text class="block" x="16" y="{y - 10}">{escape(MEANING[bias])}</text>')
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
    for protocol in PROTOCOLS:
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
