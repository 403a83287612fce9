"""A set of patterns as a table: columns for files and frames, and the first rows for people."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.data.sequences import Sequences
from relynx.errors import InputError, counted
from relynx.mining.english import aligned, n_cells
from relynx.mining.patterns.measures import confidence
from relynx.mining.patterns.pattern import Entry, Pattern
from relynx.mining.patterns.trie import Rows, Trie
from relynx.mining.wording import names_of

SHOWN = 10  # patterns that a printed set shows
MOST_CLASSES = 12  # of more, only the one of which a pattern covers most is shown
AT_ONCE = 50_000  # patterns that are Python values at a time


class Entries(Protocol):
    """Patterns with their supports, as columns: what is asked of a `PatternSet`."""

    trie: Trie
    rows: Rows
    complete_up_to: int
    partial: str | None
    object_identity: bool

    @property
    def classes(self) -> tuple[object, ...]: ...
    @property
    def class_sizes(self) -> Longs: ...
    @property
    def supports(self) -> Ints: ...
    @property
    def frequencies(self) -> Longs: ...
    @property
    def lengths(self) -> Ints: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Entry]: ...
    def __getitem__(self, index: slice | Bools) -> Self: ...
    def with_rows(self, rows: Rows, *, object_identity: bool | None = None) -> Self: ...
    def patterns(self) -> Iterator[Pattern]: ...
    def texts(self) -> Iterator[str]: ...
    def measure(self, name: str) -> Floats: ...
    def coverage(self, X: Sequences) -> NDArray[Any]: ...


def schema(patterns: Entries, measures: Sequence[str]) -> dict[str, type]:
    """The columns of a table and what they hold."""
    if isinstance(measures, str):
        raise InputError(f"measures is {measures!r}: give a list of names")
    names = class_names(patterns)
    fixed = {"pattern": str, "length": int, "frequency": int}
    counts = {f"support_{name}": int for name in names}
    shares = {f"confidence_{name}": float for name in names}
    return {**fixed, **counts, **shares, **dict.fromkeys(measures, float)}


def chunks(patterns: Entries, measures: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """The columns of a table, some rows at a time."""
    for start in range(0, len(patterns), AT_ONCE):
        yield _columns(patterns[start : start + AT_ONCE], measures)


def json_rows(patterns: Entries) -> Iterator[dict[str, object]]:
    """One object a pattern, with support and confidence by class."""
    names = class_names(patterns)
    for entry in patterns:
        yield {
            "pattern": str(entry.pattern),
            "length": entry.length,
            "frequency": entry.frequency,
            "support": dict(zip(names, entry.support.values(), strict=True)),
            "confidence": dict(zip(names, entry.confidence.values(), strict=True)),
        }


def class_names(patterns: Entries) -> list[str]:
    """The classes as text, told apart where 1 and '1' are both classes."""
    return names_of(patterns.classes, str)


def text_table(patterns: Entries) -> str:
    """The first patterns in aligned columns, and how many there are."""
    table = _cells(patterns)
    widths = [max(map(n_cells, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            aligned(cell, width, right=i > 0)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    return "\n".join([*(lines if len(patterns) else []), summary(patterns)])


def patterns_html(patterns: Entries) -> str:
    """The first patterns as an HTML table, and how many there are."""
    header, *rows = _cells(patterns)
    return f"{html_table(header, rows)}<p>{html.escape(summary(patterns))}</p>"


def html_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose cells are escaped."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def summary(patterns: Entries) -> str:
    """How many patterns there are, and whether all that there should be."""
    parts = [counted(len(patterns), "pattern")]
    if len(patterns) > SHOWN:
        parts[0] += f", {SHOWN} shown"
    parts.append(f"complete up to length {patterns.complete_up_to}")
    if patterns.partial:
        parts.append(f"partial: {patterns.partial}")
    return "; ".join(parts)


def _columns(patterns: Entries, measures: Sequence[str]) -> dict[str, list[Any]]:
    names, supports = class_names(patterns), patterns.supports
    shares = confidence(supports, patterns.class_sizes)
    return {
        "pattern": list(patterns.texts()),
        "length": patterns.lengths.tolist(),
        "frequency": patterns.frequencies.tolist(),
        **{f"support_{name}": supports[:, i].tolist() for i, name in enumerate(names)},
        **{f"confidence_{name}": shares[:, i].tolist() for i, name in enumerate(names)},
        **{name: patterns.measure(name).tolist() for name in measures},
    }


def _cells(patterns: Entries) -> list[list[str]]:
    """The first patterns as text: a header, then a row each."""
    names, shown = class_names(patterns), patterns[:SHOWN]
    few = len(names) <= MOST_CLASSES
    rows = [
        [
            str(entry.pattern),
            str(entry.length),
            f"{entry.frequency:,}",
            *(f"{count:,}" for count in entry.support.values() if few),
        ]
        for entry in shown
    ]
    header = ["pattern", "length", "frequency"]
    if few:
        return [[*header, *names], *rows]
    sizes = patterns.class_sizes
    covered = [(shown.supports / sizes.clip(1))[i].argmax() for i in range(len(shown))]
    for row, c, counts in zip(rows, covered, shown.supports.tolist(), strict=True):
        row.append(f"{names[c]}: {counts[c]:,} of {sizes[c]:,}")
    return [[*header, f"most of {len(names):,} classes"], *rows]
