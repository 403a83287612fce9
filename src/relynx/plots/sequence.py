"""A sequence drawn as a strip of events, with the match of a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relynx.data.sequences import Sequence, Sequences, counted
from relynx.errors import InputError
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.wording import visible
from relynx.plots import canvas as cv
from relynx.plots.layout import ARC, GAP, TRACK, Arc, Layout, Link, Match, match_of, strip_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FACT_COLOURS = tuple(cv.PALETTE[i] for i in (4, 1, 2, 3, 0, 6))
TRACK_COLOURS = tuple(cv.PALETTE[i] for i in (0, 2, 3, 1, 4))


def plot_sequence(
    sequence: Sequence,
    pattern: Pattern | str | None = None,
    *,
    dimensions: Iterable[str] | None = None,
    match: int = 0,
    object_identity: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a sequence as a strip: a box for each event, and a row of arcs for each dimension.

    A box holds the facts of its event alone. Events are in the order of the first dimension, whose
    links are the arrows between neighbours; the links of each other dimension are arcs below. Long
    strips continue in a new row; a link between two rows names its other end. Of more than 30 rows
    those with the match are drawn, and the first.

    Parameters
    ----------
    sequence
        One sequence: `X[0]`.
    pattern
        A pattern, or its text. The events of its match are marked with their variables, and arcs
        above them show its links and relations.
    dimensions
        Dimensions to draw, the first for the order. None draws all, ordered by the one with the
        most links.
    match
        Number of the match, in the order of `relynx.match`; 0 for the first.
    object_identity
        False matches by plain theta-subsumption.
    ax
        Axes to draw on; None makes a figure of the size needed.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b", "c"]])
    >>> ax = rx.plot_sequence(X[0], "a(A), follow_s(A,B), c(B)")
    >>> print(ax.get_title(loc="left"))
    s1
    a(A), follow_s(A,B), c(B)
    match 1 of 1: A = e1, B = e3
    """
    one = _one(sequence)
    strip = strip_of(one, dimensions, object_identity)
    found = None if pattern is None else match_of(one, pattern, match, object_identity)
    layout = Layout(strip, found)
    width = int(layout.width / cv.CHARACTER)
    title = [line for text in _title(one, found) for line in cv.wrapped(text, width, 5)]
    ax, size = cv.new_axes(ax, layout.width, layout.height + 0.2 + cv.LINE * len(title))
    ax.set_title("\n".join(title), loc="left", fontsize=cv.FONT * size, **cv.PLAIN)
    _Pen(ax, layout, size).draw()
    return ax


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws the parts of a layout. `size` is that of texts, 1 for full size."""

    ax: Axes
    layout: Layout
    size: float

    def draw(self) -> None:
        self.ax.set_xlim(0, self.layout.width)
        self.ax.set_ylim(-self.layout.height, 0)
        self.ax.axis("off")
        self.boxes()
        for k, name in enumerate(self.layout.tracks):
            self.track(k, name)
        self.arcs()

    def boxes(self) -> None:
        """The events, the arrows between neighbours, and where events are left out."""
        layout, predicates = self.layout, self.layout.strip.predicates
        few = predicates if len(predicates) <= len(FACT_COLOURS) else ()
        colours = dict(zip(few, FACT_COLOURS, strict=False))
        for i, facts in enumerate(layout.strip.facts):
            if layout.drawn(i):
                self._box(i, colours.get(facts[0].predicate if facts else "", cv.QUIET))
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": cv.QUIET, "linewidth": 0.8}
        style |= {"shrinkA": 0, "shrinkB": 0}
        for i, _ in layout.order:
            if layout.drawn(i):
                x = layout.x(i) + layout.box_width / 2 + 0.02
                y = layout.top(i) - layout.box_height / 2
                self.ax.annotate("", (x + GAP - 0.04, y), (x, y), arrowprops=style)
        for row, n in layout.notes.items():
            text = f"... {counted(n, 'event')} not drawn ..."
            self._text(layout.left + 0.1, layout.bottom(row) - cv.LINE, text, "left", "center")

    def _box(self, i: int, colour: str) -> None:
        layout, marked = self.layout, i in self.layout.marked
        faded = bool(layout.marked) and not marked
        x, top = layout.x(i), layout.top(i)
        cv.box(
            self.ax,
            x - layout.box_width / 2,
            top - layout.box_height,
            layout.box_width,
            layout.box_height,
            facecolor=_pale(colour, 0.12 if faded else 0.3),
            edgecolor=cv.ACCENT if marked else _pale(colour, 0.5 if faded else 0.9),
            linewidth=2.2 if marked else 0.8,
            gid=f"{'match' if marked else 'event'} {i}",
        )
        lines = layout.labels[i]
        y = top - layout.box_height / 2 + cv.LINE * (len(lines) - 1) / 2
        inside: dict[str, Any] = {"fontsize": 8 * self.size, "color": "#111111"}
        if faded:
            inside["color"] = "#777777"
        for j, (line, heading) in enumerate(lines):
            weight = "bold" if heading else "normal"
            self._text(x, y - cv.LINE * j, line, "center", "center", fontweight=weight, **inside)
        below: dict[str, Any] = {"alpha": 0.6} if faded else {}
        if marked:
            below = {"color": cv.ACCENT, "fontweight": "bold"}
        self._text(x, top - layout.box_height - 0.03, layout.names[i], "center", "top", **below)

    def track(self, k: int, name: str) -> None:
        """The links of a dimension, as arcs that hang below the boxes."""
        layout, colour = self.layout, TRACK_COLOURS[k % len(TRACK_COLOURS)]
        for row in layout.rows:
            y = layout.track(row * layout.per_row, k) - 0.08
            style = {"fontsize": cv.FONT * self.size, "fontweight": "bold", "color": colour}
            self._text(layout.left - 0.02, y, visible(name), "right", "center", **style)
        links = layout.tracks[name]
        longest = max([abs(x - y) for x, y in links if layout.same_row(x, y)], default=0) or 1
        cut: list[tuple[Link, str]] = []
        for x, y in links:
            if not layout.same_row(x, y):
                cut.append(((x, y), ""))
            elif layout.drawn(x):
                depth = (TRACK - 0.12) * (0.4 + 0.6 * abs(x - y) / longest)
                ends = [(layout.x(i), layout.track(i, k)) for i in (x, y)]
                self._curve(ends[0], ends[1], -depth, colour, f"link {name} {x} {y}")
        starts = {i: layout.track(i, k) for link, _ in cut for i in link if layout.drawn(i)}
        self._stubs(cut, starts, -0.16, colour)

    def arcs(self) -> None:
        """The links and relations of the match, above the boxes."""
        layout = self.layout
        cut = [arc for arc in layout.arcs if not layout.same_row(*arc.ends)]
        for arc in layout.arcs:
            if arc not in cut and layout.drawn(arc.ends[0]):
                self._relation(arc)
        starts = {i: layout.top(i) + 0.03 for arc in cut for i in arc.ends if layout.drawn(i)}
        self._stubs([(arc.ends, f"{arc.text} ") for arc in cut], starts, 0.16, cv.ACCENT)

    def _relation(self, arc: Arc) -> None:
        ends = [(self.layout.x(i), self.layout.top(i) + 0.03) for i in arc.ends]
        height = ARC * arc.level - 0.06
        self._curve(ends[0], ends[1], height, cv.ACCENT, f"relation {arc.ends[0]} {arc.ends[1]}")
        x, y = (ends[0][0] + ends[1][0]) / 2, ends[0][1] + height + 0.01
        self._text(x, y, arc.text, "center", "bottom", color=cv.ACCENT)

    def _curve(self, start: cv.Point, end: cv.Point, height: float, colour: str, gid: str) -> None:
        """A flat arc with a dot where it begins and a head where it ends."""
        t = np.linspace(0, np.pi, 40)
        x = (start[0] + end[0]) / 2 - (end[0] - start[0]) / 2 * np.cos(t)
        y = start[1] + height * np.sin(t) ** 0.6
        self.ax.plot(x, y, color=colour, linewidth=1.2, gid=gid)
        self._dot(*start, colour)
        self._head(*end, height, colour)

    def _stubs(
        self, cut: list[tuple[Link, str]], starts: dict[int, float], height: float, colour: str
    ) -> None:
        """The two ends of links between rows, each with the name of the other."""
        texts: dict[int, list[str]] = {}
        names = [visible(str(event)) for event in self.layout.strip.events]
        for (x, y), text in cut:
            if x in starts:
                texts.setdefault(x, []).append(f"{text}to {names[y]}")
                self._dot(self.layout.x(x), starts[x], colour)
            if y in starts:
                texts.setdefault(y, []).append(f"{text}from {names[x]}")
                self._head(self.layout.x(y), starts[y], height, colour)
        for i, lines in texts.items():
            middle, start = self.layout.x(i), starts[i]
            ends = [start, start + height]
            self.ax.plot([middle, middle], ends, color=colour, linewidth=1.2, gid=f"stub {i}")
            under = {"facecolor": self.ax.get_facecolor(), "alpha": 0.8, "pad": 0.5, "linewidth": 0}
            side = "bottom" if height > 0 else "top"
            self._text(middle, ends[1], "\n".join(lines), "center", side, color=colour, bbox=under)

    def _dot(self, x: float, y: float, colour: str) -> None:
        self.ax.plot(x, y, "o", color=colour, markersize=3)

    def _head(self, x: float, y: float, height: float, colour: str) -> None:
        self.ax.plot(x, y, "^" if height < 0 else "v", color=colour, markersize=5)

    def _text(self, x: float, y: float, text: str, ha: Any, va: Any, **style: Any) -> None:
        style = {"fontsize": cv.SMALL * self.size, **cv.PLAIN, **style}
        self.ax.text(x, y, text, ha=ha, va=va, **style)


def _one(sequence: Any) -> Sequence:
    if isinstance(sequence, Sequences) and len(sequence) == 1:
        return sequence[0]
    if isinstance(sequence, Sequences):
        raise InputError(f"sequence is {len(sequence):,} sequences", hint="give one of them: X[i]")
    if not isinstance(sequence, Sequence):
        raise TypeError(f"sequence is a {type(sequence).__name__}: give one sequence, X[i]")
    return sequence


def _title(sequence: Sequence, found: Match | None) -> Iterator[str]:
    label = "" if sequence.label is None else f", class {sequence.label}"
    yield f"{sequence.id}{label}"
    if found is not None:
        yield str(found.pattern)
        yield found.text


def _pale(colour: str, strength: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * strength):02x}" for part in parts)
