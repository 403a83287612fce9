"""The demonstration: learn to classify protein folds, test it, and show what was learnt."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from relynx.bias import Bias
from relynx.bias.protein_folds import ProteinFolds, load_protein_folds
from relynx.console import steps, working
from relynx.data.lists import from_lists
from relynx.data.tables.frames import write_csv
from relynx.features.candidates import by_class_in_turn
from relynx.mining.matching.match import covers
from relynx.mining.patterns.pattern import Entry, parse_pattern
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine
from relynx.mining.wording import in_words
from relynx.models.evaluation.baselines import baselines
from relynx.models.evaluation.cross_validation import CrossValidation, Fold, cross_validate
from relynx.models.lynx.classifier import LynxClassifier
from relynx.reports.html import Report, report
from relynx.store import save

FOLDS = {
    "c.1": "TIM barrel",
    "c.2": "Rossmann",
    "c.23": "flavodoxin-like",
    "c.37": "P-loop hydrolases",
    "c.55": "ribonuclease H-like",
}
N_FOLDS = 3  # of the cross-validation
N_SHOWN = 10
SIMPLE = ("n-gram linear SVM", "largest class")
SEED = 0
REPORT = "report.html"


def show(folder: Path, n_jobs: int = 1, console: Console | None = None) -> None:
    """Test the classifier, train it on all domains, print and write what it found."""
    console = console or Console(highlight=False)
    start = time.perf_counter()
    with working("compiling what is compiled on first use; later runs have it"):
        warm_up()
    folds = load_protein_folds()
    _print_data(console, folds)
    with TemporaryDirectory() as memory:  # the report needs what was mined for the test
        tested = _tested(folds, n_jobs, memory)
        _print_accuracy(console, tested)
        with working("learning from all domains"):
            model = LynxClassifier(folds.bias, random_state=SEED, n_jobs=n_jobs)
            model.fit(folds.X, folds.y)
        best = best_patterns(model.selected_)
        n = len(model.selected_)
        console.print(f"[bold]The {len(best)} patterns that tell most[/], of {n}:")
        for number, entry in enumerate(best, 1):
            _print_pattern(console, number, entry, model)
        with working("learning without the families of part 1, for a report on them"):
            page = _report(folds, tested["Lynx"], n_jobs, memory)
    page.save(folder / REPORT)
    console.print("\n[bold]Written[/]")
    for path, what in _written(folder, folds, model, tested["Lynx"]).items():
        console.print(Text(f"   {path}  {what}"))
    console.print(f"\nDone in {time.perf_counter() - start:.0f} s. Next, on files of your own:")
    console.print("   relynx check FILES; relynx fit TRAIN -o model.relynx; docs/classify.md")


def best_patterns(patterns: PatternSet) -> PatternSet:
    """The patterns of largest chi-square, each class in turn."""
    return by_class_in_turn(patterns, "chi2")[:N_SHOWN]


def _print_data(console: Console, folds: ProteinFolds) -> None:
    families = len(set(folds.groups.tolist()))
    console.print(f"[bold]{len(folds.X)} protein domains[/] of {families} families in five folds:")
    for fold, name in FOLDS.items():
        console.print(f"   {fold:5} {name:20} {int((folds.y == fold).sum()):4}")
    console.print("Their strands have two orders: b along the chain, h across the sheet.\n")


def _tested(folds: ProteinFolds, n_jobs: int, memory: str) -> dict[str, CrossValidation]:
    """Our classifier and two simple ones, each tested on families not in its training set."""
    rows: dict[str, Any] = {"Lynx": LynxClassifier(folds.bias, memory=memory)}
    rows |= {name: baselines(folds.X)[name] for name in SIMPLE}
    how: dict[str, Any] = {"folds": N_FOLDS, "groups": folds.groups, "seeds": (SEED,)}
    out = {}
    with steps("testing", N_FOLDS * len(rows)) as step:
        for name, estimator in rows.items():

            def show(fold: Fold, name: str = name) -> None:
                step(f"{name}, part {fold.number}: {fold.accuracy:.3f} in {fold.seconds:.0f} s")

            how["n_jobs"] = n_jobs if name == "Lynx" else 1
            out[name] = cross_validate(estimator, folds.X, folds.y, progress=show, **how)
    return out


def _print_accuracy(console: Console, tested: dict[str, CrossValidation]) -> None:
    console.print("[bold]Accuracy on families that were never seen[/]")
    console.print(f"(cross-validation in {N_FOLDS} parts, no family in two of them)")
    for name, result in tested.items():
        parts = "  ".join(f"{value:.3f}" for value in result.accuracies.ravel())
        style = "bold green" if name == "Lynx" else ""
        console.print(Text(f"   {name:18} {result.mean:.3f}   parts {parts}", style))
    console.print("")


def _print_pattern(console: Console, number: int, entry: Entry, model: LynxClassifier) -> None:
    """The pattern in English, and which proportion of each fold it covers."""
    patterns = model.selected_
    sizes = dict(zip(patterns.classes, patterns.class_sizes.tolist(), strict=True))
    proportions = {str(c): n / sizes[c] for c, n in entry.support.items()}
    marked = max(proportions, key=lambda c: proportions[c])
    text = Text("    covers ")
    for c, proportion in proportions.items():
        text.append(f" {c} {proportion:4.0%} ", "bold green" if c == marked else "")
    lines = wrap(in_words(entry.pattern, model.bias_), max(console.width - 4, 40))
    console.print(Text(f"{number:2}. ", "bold") + Text(lines[0], "cyan"))
    for line in lines[1:]:
        console.print(Text(f"    {line}", "cyan"))
    console.print(text)


def _written(
    folder: Path, folds: ProteinFolds, model: LynxClassifier, tested: CrossValidation
) -> dict[Path, str]:
    """Write the model, its patterns and the predictions; what each file holds."""
    model_path, patterns, predicted = (
        folder / name for name in ("model.relynx", "patterns.csv", "predictions.csv")
    )
    save(model, model_path)
    model.selected_.to_csv(patterns, measures=["chi2"])
    order = np.concatenate([part.test for part in tested.folds])
    given = np.concatenate([part.predicted for part in tested.folds])
    columns = {
        "id": folds.X.ids[order].tolist(),
        "family": folds.groups[order].tolist(),
        "label": folds.y[order].tolist(),
        "predicted": given.tolist(),
    }
    write_csv(predicted, [columns], dict.fromkeys(columns, str))
    return {
        model_path: "learnt from all domains; rx.load reads it",
        patterns: f"the {len(model.selected_)} patterns, and what they cover",
        predicted: "by the model that had not seen the family",
        folder / REPORT: "part 1 as a page: choose a domain, see why",
    }


def _report(folds: ProteinFolds, tested: CrossValidation, n_jobs: int, memory: str) -> Report:
    """On the domains of the first part, by a model of the others."""
    test = tested.folds[0].test
    train = np.setdiff1d(np.arange(len(folds.y)), test)
    model = LynxClassifier(folds.bias, random_state=SEED, n_jobs=n_jobs, memory=memory)
    return report(model.fit(folds.X[train], folds.y[train]), folds.X[test], folds.y[test])


def warm_up() -> float:
    """Use every kernel once, so that all are compiled; returns the seconds taken."""
    start = time.perf_counter()
    collects = gc.isenabled()
    gc.disable()  # it would look through the millions of objects that the compiler makes
    try:
        _use_kernels()
    finally:
        gc.freeze()  # nor does it need to later: what is compiled stays
        if collects:
            gc.enable()
    return time.perf_counter() - start


def _use_kernels() -> None:
    chain, _ = from_lists([[("a", "x"), ("a", "y"), ("b", "x")], [("b", "y"), ("a", "y")]])
    folds = load_protein_folds().X[:20]
    questions = [
        (chain, "a(X,U), next_s(X,Y), a(Y,V)"),
        (chain, "a(X,U), follow_s(X,Y), b(Y,U)"),
        (chain, "a(X,_), followat_s(2,X,Y), b(Y,x)"),
        (folds, "ladder(X,Y,plus), followat_b(7,X,Y)"),
        (folds, "next_h(X,Y), next_b(Y,X), ladder(X,Y,plus), next_h(Y,Z), followat_b(3,Y,Z)"),
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
    # The engine for several dimensions, the selection, and the match of what was selected.
    model = LynxClassifier(sheet, max_length=2, max_iter=2, multiclass="single", random_state=0)
    model.fit(folds).predict(folds)
    # The default method needs patterns that cover two of the sequences, and not all of them.
    LynxClassifier(max_length=1, random_state=0).fit(*from_lists([["a"], ["b"]] * 2, [*"pqpq"]))
