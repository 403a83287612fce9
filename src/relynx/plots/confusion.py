"""Which classes were taken for which, as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import counted
from relynx.errors import InputError, Problem
from relynx.models.evaluation.cross_validation import CrossValidation
from relynx.plots.canvas import (
    ACCENT,
    FONT,
    PLAIN,
    SMALL,
    names_of,
    new_axes,
    text_size,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL, SMALL_CELL = 0.55, 0.3  # inches
MANY = 15  # classes whose cells are small
LONGEST = 60  # characters of a name


def plot_confusion(
    y_true: CrossValidation | Iterable[object],
    y_pred: Iterable[object] | None = None,
    *,
    normalize: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many sequences of each class were given each class.

    A row is a class, a column what was predicted, and the colour of a cell is its share of the row;
    what is right has a frame.

    Parameters
    ----------
    y_true
        The classes; or what `cross_validate` returned, which has both.
    y_pred
        The classes predicted, in the same order.
    normalize
        Write shares of the row in percent instead of counts.
    ax
        Where to draw; None makes a figure.

    Returns
    -------
    Axes
        Of matplotlib.

    Examples
    --------
    >>> import relynx as rx
    >>> ax = rx.plot_confusion(["a", "a", "b"], ["a", "b", "b"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '0', '1']
    """
    classes, counts = _counts(y_true, y_pred)
    names, n = [wrapped(name, LONGEST, 1)[0] for name in names_of(classes)], len(classes)
    cell = CELL if n <= MANY else SMALL_CELL
    longest = text_size(names, FONT)[0]
    side = n * cell + longest + 0.6
    ax, size = new_axes(ax, max(side, 2.6), max(side, 2.4))
    sums = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    font = (FONT if n <= MANY else 5.5) * size
    for i, j in np.ndindex(n, n):
        if counts[i, j] == 0 and i != j and n > MANY:
            continue  # noughts everywhere hide the others
        _cell(ax, i, j, _text(int(counts[i, j]), shares[i, j], normalize), shares[i, j], font)
    for i in range(n):
        x = np.array([-0.5, 0.5, 0.5, -0.5, -0.5])
        ax.plot(x + i, x[[0, 0, 1, 1, 0]] + i, color=ACCENT, linewidth=1.2, zorder=3)
    font = (FONT if n <= MANY else SMALL) * size
    slanted = longest > cell
    turned: dict[str, Any] = {"rotation_mode": "anchor", "ha": "right"} if slanted else {}
    if slanted:
        turned |= {"rotation": 90, "va": "center"} if n > MANY else {"rotation": 40, "va": "top"}
    ax.set_xticks(range(n), names, fontsize=font, **turned, **PLAIN)
    ax.set_yticks(range(n), names, fontsize=font, **PLAIN)
    ax.set_xlabel("predicted")
    ax.set_ylabel("class")
    ax.set_xlim(-0.6, n - 0.4)  # the frames need room at the edges
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _cell(ax: Axes, i: int, j: int, text: str, share: float, font: float) -> None:
    """The text of a cell, dark on light or light on dark."""
    style: dict[str, Any] = {"fontweight": "bold"} if i == j else {}
    colour = "white" if share > 0.5 else "#222222"
    ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=font, **style, **PLAIN)


def _text(count: int, share: float, normalize: bool) -> str:
    return f"{share:.0%}" if normalize else f"{count:,}"


def _counts(y_true: Any, y_pred: Any) -> tuple[list[object], NDArray[np.int64]]:
    """The classes in order, and the matrix."""
    if isinstance(y_true, CrossValidation):
        if y_pred is not None:
            hint = "give the CrossValidation alone, or two lists"
            raise InputError(Problem("y_pred is given besides a CrossValidation", hint=hint))
        return y_true.classes.tolist(), y_true.confusion
    if y_pred is None:
        hint = "give the classes predicted, or a CrossValidation alone"
        raise InputError(Problem("y_pred is missing", hint=hint))
    true, predicted = _values(y_true), _values(y_pred)
    if len(true) != len(predicted):
        what = f"{counted(len(true), 'label')} in y_true, {len(predicted):,} in y_pred"
        raise InputError(Problem(what, hint="give one of each for every sequence"))
    if not true:
        raise InputError(Problem("y_true is empty", hint="give at least one class"))
    classes = _in_order({*true, *predicted})
    place = {c: i for i, c in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), np.int64)
    for one, other in zip(true, predicted, strict=True):
        counts[place[one], place[other]] += 1
    return classes, counts


def _values(y: Iterable[object]) -> list[object]:
    return [value.item() if isinstance(value, np.generic) else value for value in y]


def _in_order(classes: set[object]) -> list[object]:
    """Numbers, then texts, then others by their text: Python has no order for all of them."""

    def key(c: object) -> tuple[int, Any]:
        if isinstance(c, int | float):
            return 0, c
        return (1, c) if isinstance(c, str) else (2, str(c))

    return sorted(classes, key=key)
