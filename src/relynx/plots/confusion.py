"""The confusion matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from relynx.arrays import Longs
from relynx.data.sequences import counted
from relynx.errors import InputError
from relynx.mining.wording import names_of
from relynx.models.evaluation.cross_validation import CrossValidation
from relynx.plots.canvas import ACCENT, FONT, PLAIN, SMALL, new_axes, text_size, wrapped

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
    """Draw the confusion matrix.

    A row is a class, a column a predicted class, and the colour of a cell is its proportion of the
    row; correct predictions have a frame.

    Parameters
    ----------
    y_true
        The classes; or what `cross_validate` returned, which has both.
    y_pred
        The classes predicted, in the same order.
    normalize
        Write percentages of the row instead of counts.
    ax
        Where to draw; None makes a figure.

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
    _draw_matrix(ax, counts, normalize, size)
    _draw_names(ax, names, size, turned=longest > cell)
    ax.set_xlabel("predicted")
    ax.set_ylabel("class")
    ax.set_xlim(-0.6, n - 0.4)  # the frames need space at the edges
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _draw_matrix(ax: Axes, counts: Longs, normalize: bool, size: float) -> None:
    """The cells with their numbers, and frames around the diagonal."""
    n = len(counts)
    sums = counts.sum(axis=1, keepdims=True)
    proportions = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
    ax.imshow(proportions, cmap="Blues", vmin=0, vmax=1)
    font = (FONT if n <= MANY else 5.5) * size
    for i, j in np.ndindex(n, n):
        if counts[i, j] == 0 and i != j and n > MANY:
            continue  # zeros everywhere hide the others
        value = float(proportions[i, j])
        text = f"{value:.0%}" if normalize else f"{counts[i, j]:,}"
        colour = "white" if value > 0.5 else "#222222"  # light on dark, or dark on light
        style: dict[str, Any] = {"fontweight": "bold"} if i == j else {}
        style |= {"ha": "center", "va": "center", "color": colour, "fontsize": font}
        ax.text(j, i, text, **style, **PLAIN)
    for i in range(n):
        x = np.array([-0.5, 0.5, 0.5, -0.5, -0.5])
        ax.plot(x + i, x[[0, 0, 1, 1, 0]] + i, color=ACCENT, linewidth=1.2, zorder=3)


def _draw_names(ax: Axes, names: list[str], size: float, *, turned: bool) -> None:
    """The classes at both axes; below the columns they are turned if they are wide."""
    n = len(names)
    font = (FONT if n <= MANY else SMALL) * size
    style: dict[str, Any] = {"rotation_mode": "anchor", "ha": "right"} if turned else {}
    if turned:
        style |= {"rotation": 90, "va": "center"} if n > MANY else {"rotation": 40, "va": "top"}
    ax.set_xticks(range(n), names, fontsize=font, **style, **PLAIN)
    ax.set_yticks(range(n), names, fontsize=font, **PLAIN)


def _counts(y_true: Any, y_pred: Any) -> tuple[list[object], Longs]:
    if isinstance(y_true, CrossValidation):
        if y_pred is not None:
            hint = "give the CrossValidation alone, or two lists"
            raise InputError("y_pred is given besides a CrossValidation", hint=hint)
        return y_true.classes.tolist(), y_true.confusion
    if y_pred is None:
        hint = "give the classes predicted, or a CrossValidation alone"
        raise InputError("y_pred is missing", hint=hint)
    true, predicted = _values(y_true), _values(y_pred)
    if len(true) != len(predicted):
        what = f"{counted(len(true), 'label')} in y_true, {len(predicted):,} in y_pred"
        raise InputError(what, hint="give one of each for every sequence")
    if not true:
        raise InputError("y_true is empty", hint="give at least one class")
    classes = sorted({*true, *predicted}, key=_order)
    number = {c: i for i, c in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(counts, ([number[c] for c in true], [number[c] for c in predicted]), 1)
    return classes, counts


def _values(y: Iterable[object]) -> list[object]:
    return [value.item() if isinstance(value, np.generic) else value for value in y]


def _order(c: object) -> tuple[int, Any]:
    """Numbers, then texts, then others by their text: Python has no order for all of them."""
    if isinstance(c, int | float):
        return 0, c
    return (1, c) if isinstance(c, str) else (2, str(c))
