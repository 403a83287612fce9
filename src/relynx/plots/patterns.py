"""The proportion of each class that patterns cover, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from relynx.arrays import Floats
from relynx.bias import Bias
from relynx.data.schema import Schema
from relynx.errors import InputError
from relynx.features.candidates import by_class_in_turn
from relynx.mining.patterns.measures import support
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.wording import in_words, names_of
from relynx.plots import canvas as cv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 46  # characters of a line of a pattern
MOST_LINES = 8
BAR, GAP = 0.13, 0.16  # inches: the height of a bar, and the space between two patterns
PLOT = 4.5  # inches: the width of the bars
KEY = 0.55  # inches: what a name in the legend needs besides its text
SHORT = 24  # characters of a name beside a bar


def plot_patterns(
    patterns: PatternSet,
    *,
    n: int = 15,
    measure: str = "chi2",
    words: bool | Bias = False,
    reading: Schema | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the proportion of each class that patterns cover, a group of bars for each pattern.

    The classes take turns, each with its best remaining pattern by the measure; a pattern belongs
    to the class of which it covers the largest proportion. With more than eight classes only the
    two largest proportions are drawn, with the names of their classes.

    Parameters
    ----------
    patterns
        As `mine` returns them, or `selected_` of a model.
    n
        Largest number of patterns.
    measure
        The measure that ranks patterns; see `PatternSet.measure`.
    words
        Write the patterns in English instead of Prolog; a bias may give the wording.
    reading
        With words: how the table was read, `X.reading` or `model.reading_`. Values are called by
        its columns.
    ax
        Axes to draw on; None makes a figure of the size needed.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["a"], ["b"]], ["yes", "yes", "no"])
    >>> ax = rx.plot_patterns(rx.mine(X, y, max_length=1))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b(A)', 'a(A)']
    """
    _check(patterns, n, words, reading)
    best = by_class_in_turn(patterns, measure)[:n]
    lines = [cv.wrapped(text, WIDTH, MOST_LINES) for text in _texts(best, words, reading)]
    n_bars = len(best.classes) if len(best.classes) <= len(cv.PALETTE) else 2
    heights = np.array([max(len(text) * cv.LINE, n_bars * BAR) + GAP for text in lines])
    middles = heights.cumsum() - heights / 2
    width = PLOT + max(len(line) for text in lines for line in text) * cv.CHARACTER
    titles = []
    if 1 < n_bars == len(best.classes):
        sizes = zip(names_of(best.classes), best.class_sizes.tolist(), strict=True)
        titles = [cv.in_lines(c, f" ({n:,})") for c, n in sizes]
    above = max(cv.text_size(titles)[1] / _n_columns(titles), 0.2)
    ax, size = cv.new_axes(ax, width, float(heights.sum()) + 0.7 + above)
    labels = map("\n".join, lines)
    ax.set_yticks(middles, [*labels], fontsize=cv.FONT * size, multialignment="left", **cv.PLAIN)
    if n_bars == len(best.classes):
        bars = _bars_of_classes(ax, best, middles, size)
        if titles:
            cv.legend(ax, bars, titles, size, ncols=_n_columns(titles), **cv.ABOVE)
    else:
        _two_bars(ax, best, middles, size)
    _draw_axes(ax, heights)
    return ax


def _draw_axes(ax: Axes, heights: Floats) -> None:
    ticks = np.linspace(0, 1, 6)
    ax.set_ylim(float(heights.sum()), 0)
    ax.set_xlim(0, 1)
    ax.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks], **cv.PLAIN)
    ax.set_xlabel("proportion of the class that is covered")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right"]].set_visible(False)
    for end in heights.cumsum()[:-1]:
        ax.axhline(float(end), color=cv.QUIET, linewidth=0.4, alpha=0.5)


def _n_columns(titles: list[str]) -> int:
    """How many titles stand side by side above the bars."""
    return max(1, min(len(titles), 4, int(PLOT / (cv.text_size(titles)[0] + KEY))))


def _bars_of_classes(ax: Axes, best: PatternSet, middles: Floats, size: float) -> list[Any]:
    """A bar for each class; the longest has the counts beside it."""
    names, proportions = names_of(best.classes), support(best.supports, best.class_sizes)
    first = middles - BAR * len(names) / 2
    bars = [
        ax.barh(first + BAR * (c + 0.5), proportions[:, c], BAR * 0.88, color=cv.PALETTE[c])
        for c in range(len(names))
    ]
    for i, c in enumerate(proportions.argmax(axis=1).tolist()):
        text = f"{best.supports[i, c]:,} of {best.class_sizes[c]:,}"
        at = proportions[i, c], first[i] + BAR * (c + 0.5)
        cv.note(ax, text, at, (3, 0), va="center_baseline", fontsize=7 * size)
    return bars


def _two_bars(ax: Axes, best: PatternSet, middles: Floats, size: float) -> None:
    """Bars for the two classes of which most is covered, with their names."""
    names, proportions = names_of(best.classes), support(best.supports, best.class_sizes)
    order = np.argsort(-proportions, axis=1, kind="stable")
    for rank, colour in enumerate((cv.PALETTE[0], cv.QUIET)):
        classes = order[:, rank]
        lengths = np.take_along_axis(proportions, classes[:, None], axis=1)[:, 0]
        y = middles + BAR * (rank - 0.5)
        ax.barh(y, lengths, BAR * 0.88, color=colour)
        for i, c in enumerate(classes.tolist()):
            [name] = cv.wrapped(names[c], SHORT, 1)
            text = f"{name}: {best.supports[i, c]:,} of {best.class_sizes[c]:,}"
            at = lengths[i], y[i]
            cv.note(ax, text, at, (3, 0), va="center_baseline", fontsize=7 * size)


def _texts(best: PatternSet, words: bool | Bias, reading: Schema | None) -> list[str]:
    if words is False:
        return list(best.texts())
    bias = None if words is True else words
    how: dict[str, Any] = {"reading": reading, "object_identity": best.object_identity}
    return [in_words(one, bias, **how) for one in best.patterns()]


def _check(patterns: object, n: object, words: object, reading: object) -> None:
    if not isinstance(patterns, PatternSet):
        name = type(patterns).__name__
        raise TypeError(f"patterns is a {name}: give a PatternSet, as mine returns it")
    if not len(patterns):
        hint = "explain_search() of the set says why"
        raise InputError("there are no patterns to draw", hint=hint)
    if not isinstance(n, int | np.integer) or n is True or n < 1:
        raise InputError(f"n is {n!r}", hint="give a number of patterns, 1 or more")
    if not isinstance(words, bool | Bias):
        raise InputError(f"words is {words!r}", hint="give True, False or a Bias")
    if not isinstance(reading, Schema | None):
        hint = "give X.reading, or reading_ of a model"
        raise InputError(f"reading is a {type(reading).__name__}", hint=hint)
