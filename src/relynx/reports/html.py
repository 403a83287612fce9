"""`report`: a model and its predictions as one HTML file. The only module that uses jinja2."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from relynx.data.sequences import counted
from relynx.features.grasp import GraspRound
from relynx.models.lynx.classifier import LynxClassifier
from relynx.reports import report_data as rd
from relynx.reports.page_data import as_json, page_data, short
from relynx.reports.scores import Scores
from relynx.storage import whole_file
from relynx.version import __version__

SCRIPTS = (
    "matcher.js",
    "elements.js",
    "patterns.js",
    "strip.js",
    "why.js",
    "prediction.js",
    "detail.js",
    "sequences.js",
    "page.js",
)
STYLE = "report.css"
PAGE = "report.html"
LARGEST = 2_950_000  # bytes of a page
DATA = 'id="data-json">'  # marks where the data go; no text of a user can contain it
MOST_CHARTS = 24  # pairs whose rounds are drawn
MOST_ROUNDS = 200  # points of a chart
MOST_CONFUSED = 40  # pairs of a class and a predicted one
MOST_BARS = 8  # classes of a pattern


@dataclass(frozen=True, slots=True)
class Report:
    """A report that `report` made: `save` writes the page, `str` is a summary.

    Attributes
    ----------
    data
        The content of the page, as plain data.
    html
        The page.
    """

    data: rd.ReportData
    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page atomically."""
        with whole_file(path) as partial, open(partial, "wb") as file:
            file.write(self.html.encode())

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<Report: {self._lines()[0]}>"

    def _repr_html_(self) -> str:
        first, *more = self._lines()
        page = _environment().from_string(
            "<p><strong>{{ first }}</strong></p><ul>{% for line in more %}<li>{{ line }}</li>"
            "{% endfor %}</ul><p><code>.save('report.html')</code> writes the page.</p>"
        )
        return page.render(first=first, more=more)

    def _lines(self) -> list[str]:
        data = self.data
        lines = [f"{counted(data.n_sequences, 'sequence')}, {len(data.classes)} classes"]
        if data.scores is not None:
            right, (low, high) = data.scores.accuracy, data.scores.accuracy.interval
            interval = f"95 % interval {low:.3f} to {high:.3f}"
            how_many = f"{right.hits:,} of {right.n:,} right"
            lines.append(f"accuracy {right.value:.3f} ({interval}), {how_many}")
            if data.seen:
                lines.append("these are the training sequences: accuracy on new ones will be lower")
        else:
            lines.append("no classes are given, so accuracy is unknown")
        patterns = counted(len(data.patterns), "pattern")
        models = counted(len(data.pairs), "model")
        lines.append(f"{patterns} in {models}, {data.learner}")
        if data.certificate is not None:
            lines.append(data.certificate)
        lines.append(f"page of {len(self.html.encode()) / 1e6:.1f} MB")
        return lines


def report(model: LynxClassifier, X: object, y: Iterable[object] | None = None) -> Report:
    """Make a page that shows a model and its predictions for some sequences.

    The page is one file that needs no network: a summary of the data, accuracy, the patterns, how
    they were selected, and every sequence with the patterns that match it.

    Parameters
    ----------
    model
        A fitted `LynxClassifier`.
    X
        Sequences, preferably not those the model was trained on.
    y
        Their classes; default those of X. Without classes the page has no accuracy.

    Returns
    -------
    Report
        `save(path)` writes the page, `html` is its text, `data` its content as plain data.

    Raises
    ------
    InputError
        If the model is not a fitted LynxClassifier, or the number of classes differs from that
        of the sequences.

    Examples
    --------
    >>> import os, tempfile, relynx as rx
    >>> model = rx.LynxClassifier(max_length=2, random_state=0).fit(*rx.planted_rule(60))
    >>> report = rx.report(model, *rx.planted_rule(100, random_state=1))
    >>> report.save(os.path.join(tempfile.mkdtemp(), "report.html"))
    >>> print(str(report).splitlines()[1])
    accuracy 1.000 (95 % interval 0.963 to 1.000), 100 of 100 right
    """
    predictions = rd.make_predictions(model, X, y)
    data = rd.report_data(model, predictions)
    page = _page(data)
    room = LARGEST - len(page.encode())
    content = as_json(page_data(model, predictions, data, room))
    return Report(data, page.replace(DATA, DATA + content, 1))


def _page(data: rd.ReportData) -> str:
    """The page without its data: the template with style and scripts."""
    style = _asset(STYLE)
    script = "\n".join(["(function () {", '"use strict";', *map(_asset, SCRIPTS), "})();"])
    page = _environment().get_template(PAGE)
    hashes = {"style_hash": _hash(style), "script_hash": _hash(script)}
    return page.render(data=data, style=style, script=script, version=__version__, **hashes)


def _hash(text: str) -> str:
    """The hash by which the content security policy allows exactly this text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("relynx.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "percent": lambda value: f"{100 * value:.1f} %",
        "count": "{:,}".format,
        "short": short,
        "bars": class_bars,
        "drawn": drawn_rounds,
        "charted": charted,
        "confused": confused,
        "least_error": least_error,
    }
    return environment


@dataclass(frozen=True, slots=True)
class ClassBars:
    """The numbers of the classes of a pattern that have a bar, and a summary of the others.
    `most_other` is the largest proportion of one of the `n_others` that the pattern covers."""

    classes: tuple[int, ...]
    n_others: int
    most_other: float


def class_bars(row: rd.PatternRow) -> ClassBars:
    """The classes of which a pattern covers the largest proportion, its own included."""
    covered = row.proportions
    ranked = sorted(range(len(covered)), key=lambda c: (c != row.class_, -covered[c], c))
    others = ranked[MOST_BARS:]
    most = max((covered[c] for c in others), default=0.0)
    return ClassBars(tuple(sorted(ranked[:MOST_BARS])), len(others), most)


@dataclass(frozen=True, slots=True)
class Confused:
    """Classes that are taken for others, by their numbers and with how many sequences: those of
    most sequences, and how many pairs and sequences are left out."""

    shown: tuple[tuple[int, int, int], ...]
    n_more: int
    n_rest: int


def confused(found: Scores) -> Confused:
    """The pairs of class and predicted class with the most sequences."""
    pairs = [
        (i, j, n)
        for i, row in enumerate(found.confusion)
        for j, n in enumerate(row)
        if n and i != j
    ]
    pairs.sort(key=lambda pair: (-pair[2], pair[:2]))
    rest = pairs[MOST_CONFUSED:]
    return Confused(tuple(pairs[:MOST_CONFUSED]), len(rest), sum(n for _, _, n in rest))


def charted(pairs: Sequence[rd.PairRow]) -> tuple[rd.PairRow, ...]:
    """The pairs whose rounds are drawn: if there are many, those with the largest error."""
    searched = [pair for pair in pairs if pair.history]
    ranked = sorted(searched, key=lambda pair: -least_error(pair))
    kept = {pair.classes for pair in ranked[:MOST_CHARTS]}
    return tuple(pair for pair in searched if pair.classes in kept)


def least_error(pair: rd.PairRow) -> float:
    return min(one.error for one in pair.history or ())


def drawn_rounds(history: Sequence[GraspRound]) -> list[GraspRound]:
    """The rounds that are drawn: all improvements, and a sample of the others if there are many."""
    step = -(-len(history) // MOST_ROUNDS)
    return [one for i, one in enumerate(history) if one.best or i % step == 0]
