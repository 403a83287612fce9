"""The demonstration: three patterns asked of the bundled protein folds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from relynx.bias import Bias
from relynx.bias.folds import load_protein_folds
from relynx.data.lists import from_lists
from relynx.data.sequences import Sequences
from relynx.mining.match import covers
from relynx.mining.patterns import Pattern, parse_pattern
from relynx.mining.search import mine

FOLDS = {
    "c.1": "TIM barrel",
    "c.2": "Rossmann",
    "c.23": "flavodoxin-like",
    "c.37": "P-loop hydrolases",
    "c.55": "ribonuclease H-like",
}
QUESTIONS = {
    "A strand is bonded to the one seven further along the chain: a barrel closes.": (
        "ladder(X,Y,plus), followat_b(7,X,Y)"
    ),
    "Across the sheet, one strand back along the chain, then three on.": (
        "next_h(X,Y), next_b(Y,X), ladder(X,Y,plus), "
        "next_h(Y,Z), followat_b(3,Y,Z), ladder(Y,Z,plus)"
    ),
    "The same, but two on instead of three: one number, another fold.": (
        "next_h(X,Y), next_b(Y,X), ladder(X,Y,plus), "
        "next_h(Y,Z), followat_b(2,Y,Z), ladder(Y,Z,plus)"
    ),
}
BAR = 24


@dataclass(frozen=True, slots=True)
class Answer:
    """Which part of each class a pattern covers, and the class that it marks.

    `confidence` is the share of the marked class among the sequences covered; `lift` is that share
    divided by the one in all sequences.
    """

    pattern: Pattern
    covered: dict[str, float]
    marks: str
    confidence: float
    lift: float


def ask(pattern: Pattern, X: Sequences, y: NDArray[np.str_]) -> Answer:
    """How a pattern covers each class."""
    hits = covers(pattern, X)
    support = {str(c): int(hits[y == c].sum()) for c in np.unique(y)}
    size = {c: int((y == c).sum()) for c in support}
    covered = {c: support[c] / size[c] for c in support}
    marks = max(covered, key=lambda c: covered[c])
    confidence = support[marks] / max(int(hits.sum()), 1)
    return Answer(pattern, covered, marks, confidence, confidence * len(y) / size[marks])


def show(console: Console | None = None) -> None:
    """Ask the three patterns and print the answers."""
    console = console or Console(highlight=False)
    start = time.perf_counter()
    folds = load_protein_folds()
    console.print(f"{len(folds.X)} protein domains of {len(FOLDS)} folds, in three dimensions:")
    console.print("s along the chain, b its strands sheet by sheet, h across the sheet\n")
    for number, (words, text) in enumerate(QUESTIONS.items(), 1):
        console.print(f"[bold]{number}. {words}[/]")
        _print_answer(console, ask(parse_pattern(text), folds.X, folds.y))
    console.print(f"Read, matched and printed in {time.perf_counter() - start:.1f} s.")
    console.print("Next: [bold]relynx check FILES[/] on files of yours; README.md; docs/start.md")


def _print_answer(console: Console, answer: Answer) -> None:
    full, empty = "█·" if console.encoding.lower().startswith("utf") else "#."
    for line in wrap(str(answer.pattern), max(console.width - 4, 40)):
        console.print(Text(f"   {line}", "cyan"))
    for fold, name in FOLDS.items():
        share = answer.covered[fold]
        bar = (full * round(share * BAR)).ljust(BAR, empty)
        style = "bold green" if fold == answer.marks else ""
        console.print(Text(f"   {fold:5} {name:20} {bar} {share:4.0%}", style))
    console.print(
        f"   marks [bold green]{answer.marks} {FOLDS[answer.marks]}[/]: "
        f"{answer.confidence:.0%} of what it covers, lift {answer.lift:.1f}\n"
    )


def warm_up() -> float:
    """Ask a little of everything, so that every kernel is compiled; returns the seconds taken."""
    start = time.perf_counter()
    chain, _ = from_lists([[("a", "x"), ("a", "y"), ("b", "x")], [("b", "y"), ("a", "y")]])
    folds = load_protein_folds().X[:20]
    questions = [
        (chain, "a(X,U), next_s(X,Y), a(Y,V)"),
        (chain, "a(X,U), follow_s(X,Y), b(Y,U)"),
        (chain, "a(X,_), followat_s(2,X,Y), b(Y,x)"),
        *((folds, text) for text in QUESTIONS.values()),
    ]
    for X, text in questions:
        for object_identity in (True, False):
            covers(parse_pattern(text), X, object_identity=object_identity)
    types, modes = {"a": ("event", "t"), "b": ("event", "t")}, {"a": (("+", "*"),)}
    for dimensions in (("s",), ()):  # the engine for lines, and the general one
        mine(chain, bias=Bias(types, modes, dimensions=dimensions), max_length=2).closed()
    sheet = Bias(
        {"st": ("event", "sense", "length")}, {"st": (("+", "*", "*"),)}, dimensions=("s", "h")
    )
    mine(folds, bias=sheet, min_support=0.5, max_length=2)  # that for several dimensions
    return time.perf_counter() - start
