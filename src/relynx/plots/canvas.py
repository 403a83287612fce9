"""What all plots share: axes, colours, and texts drawn literally.

The only module that uses matplotlib. Its configuration is not changed, and nothing is shown: a
notebook does that, or `ax.figure.savefig`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from relynx.errors import InputError
from relynx.mining.wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point: TypeAlias = tuple[float, float]

# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
PALETTE = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#CC79A7",  # purple
    "#56B4E9",  # sky blue
    "#D55E00",  # vermilion
    "#F0E442",  # yellow
    "#000000",
)
ACCENT = "#D55E00"
QUIET = "#999999"  # readable on white and on black
FONT, SMALL = 9.0, 7.5  # points
LINE = 0.16  # inches that a line of text takes
CHARACTER = 0.072  # and a character, about
NAME, NAME_LINES = 34, 3  # characters of a line of the name of a class, and lines
# Data are not formulas: a `$` is a dollar, whatever the user has configured.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
# Where a legend stands.
ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}


def new_axes(ax: Axes | None, width: float, height: float) -> tuple[Axes, float]:
    """The axes given, or new ones of a size in inches, and the scale of texts there."""
    if ax is None:
        _, made = _pyplot().subplots(figsize=(width, height), layout="constrained")
        return made, 1.0
    extent = ax.get_window_extent()
    scale = min(extent.width / width, extent.height / height) / ax.figure.dpi
    return ax, min(max(scale, 0.55), 1.0)


def _pyplot() -> ModuleType:
    try:
        from matplotlib import pyplot
    except ImportError:
        what = "plots need matplotlib, which is not installed"
        raise InputError(what, hint="pip install 'relynx[plots]'") from None
    return pyplot


def box(ax: Axes, x: float, y: float, width: float, height: float, **style: Any) -> None:
    """Draw a box with round corners, by its lower left corner."""
    from matplotlib.patches import FancyBboxPatch

    corners = "round,pad=0,rounding_size=0.05"
    ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=corners, **style))


def legend(
    ax: Axes, handles: Sequence[Any], names: Iterable[str], size: float, **style: Any
) -> None:
    """A legend in which every name is shown, also one that begins with `_`."""
    made = ax.legend(handles, [*map(str, range(len(handles)))], fontsize=SMALL * size, **style)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set(text=name, **PLAIN)


def note(ax: Axes, text: str, at: Point, by: Point, **style: Any) -> None:
    """Write a text beside a point of the data, at a distance in points."""
    style = {"textcoords": "offset points", "annotation_clip": False, **PLAIN, **style}
    ax.annotate(text, at, xytext=by, **style)


def in_lines(name: str, end: str = "", most: int = NAME_LINES) -> str:
    """A name on as many lines as it needs, up to a number, and what stands behind it."""
    return "\n".join(wrapped(name, NAME, most)) + end


def text_size(texts: Iterable[str], size: float = SMALL) -> tuple[float, float]:
    """The width of the longest line in inches, and the height of all lines together."""
    lines = [line for text in texts for line in text.split("\n")]
    scale = size / FONT
    return max(map(len, lines), default=0) * CHARACTER * scale, len(lines) * LINE * scale


def wrapped(text: str, width: int, most: int) -> list[str]:
    """A text on lines of a width in characters; the end is left out after `most` lines."""
    return textwrap.wrap(visible(text), width, max_lines=most, placeholder=" ...") or [""]
