"""The rounds of GRASP, the search for a set of patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from relynx.arrays import Floats
from relynx.errors import InputError, counted
from relynx.features.grasp import GraspRound, GraspSelector
from relynx.mining.wording import names_of
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.pair_model import PairModel
from relynx.plots import canvas as cv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

History: TypeAlias = tuple[tuple[str, ...], Sequence[GraspRound]]  # the classes, and the rounds

WIDTH, HEIGHT = 7.0, 3.6  # inches
PLOT = 5.2  # inches: the width without the names of a legend
TITLE = 80  # characters of a line of the title
LABELLED = 7  # pairs that have a colour of their own
SMALLEST, LARGEST = 14.0, 110.0  # areas of points, in square points


def plot_grasp(
    selector_or_model: GraspSelector | LynxClassifier,
    *,
    pair: tuple[object, object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the rounds of GRASP: the errors of each, and the fewest so far.

    A round is a point, its colour is alpha and its area the number of patterns; a line leads to it
    from the errors that the set had before the local search. For a model of several pairs of
    classes only the fewest errors so far are drawn, a line for each pair, unless one is chosen;
    pairs with few errors left are grey when there are many.

    Parameters
    ----------
    selector_or_model
        A fitted `GraspSelector`, or a fitted `LynxClassifier`.
    pair
        The two classes of a pair, in any order.
    ax
        Axes to draw on; None makes a figure.

    Examples
    --------
    >>> import relynx as rx
    >>> X = [[1, 0], [1, 1], [0, 0], [0, 1]]
    >>> selector = rx.GraspSelector(max_iter=5, random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> ax = rx.plot_grasp(selector)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('round', 'errors on the training sequences')
    """
    histories, objective = _histories(selector_or_model, pair)
    if len(histories) == 1:
        [(names, history)] = histories
        title = "\n".join(cv.wrapped(" and ".join(names), TITLE, 3))
        ax, size = cv.new_axes(ax, WIDTH, HEIGHT + cv.text_size([title], cv.FONT)[1])
        top = _rounds(ax, history, size)
        ax.set_title(title, loc="left", fontsize=(cv.FONT + 1) * size, pad=20 * size, **cv.PLAIN)
    else:
        lines = _lines(histories)
        width, height = cv.text_size([line.name for line in lines])
        ax, size = cv.new_axes(ax, PLOT + width, max(HEIGHT, height + 1.0))
        top = _pairs(ax, lines, size)
    balanced = objective == "balanced"
    what = "mean error of the classes" if balanced else "errors"
    ax.set_ylabel(f"{what} on the training sequences")
    ax.set_xlabel("round")
    ax.set_ylim(-0.08 * (top or 1), 1.05 * (top or 1))
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="x", integer=True)
    if not balanced:
        ax.locator_params(axis="y", integer=True)
    return ax


def _rounds(ax: Axes, history: Sequence[GraspRound], size: float) -> float:
    """Every round of one search. Returns the largest error drawn."""
    points_of = [(one.round + 1, one.error_built, one.error, one.size) for one in history]
    rounds, built, error, sizes = np.array(points_of).T
    gains = ax.vlines(rounds, error, built, color=cv.QUIET, linewidth=0.8, zorder=1)
    best = ax.step(
        rounds, np.minimum.accumulate(error), where="post", color=cv.ACCENT, linewidth=1.6, zorder=2
    )
    areas = SMALLEST + (LARGEST - SMALLEST) * sizes / max(sizes.max(), 1)
    edge: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.5, "zorder": 3}
    colours: dict[str, Any] = {"c": [one.alpha for one in history], "cmap": "cividis"}
    points = ax.scatter(rounds, error, s=areas * size, vmin=0, vmax=1, **colours, **edge)
    bar = ax.figure.colorbar(points, ax=ax, pad=0.01, fraction=0.05)
    bar.set_label("alpha: 0 greedy, 1 random", fontsize=cv.SMALL * size)
    bar.ax.tick_params(labelsize=cv.SMALL * size)
    smallest, largest = int(sizes.min()), int(sizes.max())
    spread = str(smallest) if smallest == largest else f"{smallest} to {largest}"
    names = ["fewest so far", f"after the local search ({spread} patterns)", "gain by it"]
    cv.legend(ax, [best[0], points, gains], names, size, ncols=3, **cv.ABOVE)
    last = [one for one in history if one.best][-1]
    style: dict[str, Any] = {"ha": "center", "fontsize": cv.SMALL * size, "color": cv.ACCENT}
    at = last.round + 1, last.error
    cv.note(ax, counted(last.size, "pattern"), at, (0, -12 * size), **style)
    return float(max(built.max(), error.max()))


class _Line(NamedTuple):
    """The fewest errors so far of a search, its name in the legend, and whether that is its own."""

    fewest: Floats
    name: str
    named: bool


def _lines(histories: Sequence[History]) -> list[_Line]:
    """A line for each search; those with the most errors left come first and have a name."""
    found = [
        (names, np.minimum.accumulate([one.error for one in history]))
        for names, history in histories
    ]
    found.sort(key=lambda line: -line[1][-1])
    n_named = len(found) if len(found) <= LABELLED + 1 else LABELLED
    lines = []
    for i, (names, fewest) in enumerate(found):
        label = cv.in_lines(" and ".join(names), f": {fewest[-1]:g}", 2 * cv.NAME_LINES)
        if i >= n_named:
            label = f"{len(found) - n_named} other pairs" if i == n_named else ""
        lines.append(_Line(fewest, label, i < n_named))
    return lines


def _pairs(ax: Axes, lines: Sequence[_Line], size: float) -> float:
    """The fewest errors so far of each search. Returns the largest error drawn."""
    handles = []
    for i, (fewest, name, named) in enumerate(lines):
        style: dict[str, Any] = {"color": cv.QUIET, "linewidth": 0.8, "zorder": 2}
        if named:
            style = {"color": cv.PALETTE[i], "linewidth": 1.6, "zorder": 3}
        rounds = np.arange(1, len(fewest) + 1)
        [line] = ax.step(rounds, fewest, where="post", marker=".", markersize=3, **style)
        if name:
            handles.append(line)
    cv.legend(ax, handles, [line.name for line in lines if line.name], size, **cv.BESIDE)
    return float(max(line.fewest[0] for line in lines))


def _histories(chosen: object, pair: Any) -> tuple[list[History], str]:
    """The rounds of each search by the name of its classes, and the objective."""
    if isinstance(chosen, GraspSelector):
        if pair is not None:
            raise InputError(f"pair is {pair!r}", hint="a GraspSelector has no pairs")
        _check_fitted(chosen, "history_")
        return [((), chosen.history_)], chosen.objective
    if not isinstance(chosen, LynxClassifier):
        name = type(chosen).__name__
        raise TypeError(f"selector_or_model is a {name}: give a GraspSelector or a LynxClassifier")
    _check_fitted(chosen, "estimators_")
    if chosen.selection is None:
        what = "the model has selection=None: no patterns were selected"
        raise InputError(what, hint="fit one with selection='grasp'")
    models = chosen.estimators_ if pair is None else [_model(chosen.estimators_, pair)]
    found = [(_names(one), one.selector.history_) for one in models if one.selector is not None]
    if not found:
        names = " and ".join(_names(models[0])) if len(models) == 1 else "any pair"
        what = f"no pattern was found for {names}: there was nothing to select from"
        raise InputError(what, hint="fit a model with a smaller min_support")
    return found, chosen.objective


def _check_fitted(estimator: object, learnt: str) -> None:
    if not hasattr(estimator, learnt):
        raise InputError(f"the {type(estimator).__name__} is not fitted", hint="call fit first")


def _model(models: Sequence[PairModel], pair: Any) -> PairModel:
    known = [tuple(model.classes.tolist()) for model in models]
    if len(models) == 1 and len(known[0]) > 2:
        hint = "leave it out: the model has one selection for all classes"
        raise InputError(f"pair is {pair!r}", hint=hint)
    wanted = tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else ()
    for model, classes in zip(models, known, strict=True):
        if wanted in (classes, classes[::-1]):
            return model
    shown = ", ".join(map(repr, known[:6])) + (", ..." if len(known) > 6 else "")
    raise InputError(f"pair is {pair!r}", hint=f"give one of {shown}")


def _names(model: PairModel) -> tuple[str, ...]:
    names = names_of(model.classes.tolist())
    return tuple(names) if len(names) == 2 else (f"all {len(names)} classes",)
