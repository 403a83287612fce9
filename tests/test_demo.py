"""The demonstration: what it tests, shows and writes."""

import csv
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from rich.console import Console

import relynx as rx
from relynx import cli, demo


@pytest.fixture(scope="module")
def folds():
    """A fifth of the domains and a small language, so that it takes some seconds."""
    folds = rx.load_protein_folds()
    some = np.flatnonzero(np.arange(len(folds.y)) % 5 == 0)
    bias = rx.parse_bias(
        "type(strand(event)). mode(strand(+)). type(st(event,s,l)). mode(st(+,#,#)).\n"
        "dimension(next_b). maxsize(2)."
    )
    return replace(folds, X=folds.X[some], y=folds.y[some], groups=folds.groups[some], bias=bias)


@pytest.fixture(scope="module")
def small(folds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "load_protein_folds", lambda: folds)
        patch.setattr(demo, "warm_up", lambda: 0.0)
        patch.setattr(demo, "LynxClassifier", partial(rx.LynxClassifier, n_features=4, max_iter=5))
        yield folds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("d")


@pytest.fixture(scope="module")
def coloured(small, folder):
    """What a terminal with colours shows."""
    options = {"force_terminal": True, "color_system": "standard", "no_color": False}
    console = Console(highlight=False, width=80, **options)
    with console.capture() as capture:
        demo.show(folder, 1, console)
    return capture.get()


@pytest.fixture(scope="module")
def shown(coloured):
    return re.sub(r"\x1b\[[\d;]*m", "", coloured)


def test_it_tells_accuracy_patterns_and_paths(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "-o", "out", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "no family in two of them" in out
    assert [line.split()[0] for line in out.splitlines() if "   parts " in line] == [
        "Lynx",
        "n-gram",
        "largest",
    ]
    assert " 1. a st" in out
    assert "out/model.relynx" in out
    assert "testing: 9 of 9, " in err


def test_the_accuracy_is_that_of_the_predictions_it_writes(small, shown, folder):
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["id"] for row in rows) == sorted(small.X.ids.tolist())
    label = dict(zip(small.X.ids.tolist(), small.y.tolist(), strict=True))
    assert all(row["label"] == label[row["id"]] for row in rows)
    line = next(line for line in shown.splitlines() if line.startswith("   Lynx"))
    parts = [float(value) for value in line.split()[3:]]
    assert len(parts) == 3
    right = np.mean([row["predicted"] == row["label"] for row in rows])
    assert right == pytest.approx(np.mean(parts), abs=0.03)  # the parts differ in size


def test_the_model_and_the_patterns_can_be_read(small, shown, folder):
    model = rx.load(folder / "model.relynx")
    assert model.score(small.X, small.y) > 0.5
    with (folder / "patterns.csv").open(newline="") as file:
        assert [row["pattern"] for row in csv.DictReader(file)] == list(model.selected_.texts())
    assert f"of {len(model.selected_)}:" in shown


def test_the_most_telling_patterns_serve_every_class(small):
    found = rx.mine(small.X, small.y, small.bias)
    best = demo.best_patterns(found)
    assert len(best) == 10
    shares = best.supports / best.class_sizes
    assert len(set(shares.argmax(axis=1).tolist())) == 5


def test_no_line_is_wider_than_a_terminal(shown, folder):
    lines = shown.replace(str(folder), "relynx-demo").splitlines()
    assert max(map(len, lines)) <= 80


def test_a_terminal_shows_colours_and_nothing_but_ascii(coloured):
    assert "\x1b[" in coloured
    assert coloured.isascii()


def test_every_fold_has_a_name():
    assert set(demo.FOLDS) == set(np.unique(rx.load_protein_folds().y).tolist())


def test_the_report_is_on_domains_that_its_model_had_not_seen(small, shown, folder):
    page = (folder / "report.html").read_text()
    line = next(line for line in shown.splitlines() if line.startswith("   Lynx"))
    first = float(line.split()[3])
    percent = re.search(r"Accuracy ([\d.]+) %", page)
    assert float(percent[1]) == pytest.approx(100 * first, abs=0.06)
    assert "report.html" in shown


def test_after_warming_up_a_fit_compiles_nothing():
    """Each kernel that a new process uses has a file of its own in the cache by then."""
    code = """
import gc, sys, warnings
from numba.core.dispatcher import Dispatcher
import relynx as rx
from relynx.demo import warm_up

def compiled():
    gc.unfreeze()  # what is frozen is not among the objects
    every = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return {one.__name__: len(one.overloads) for one in every if one.overloads}

warm_up()
before = compiled()
X, y = rx.from_lists([["a", "b"], ["b", "a"], ["a", "c"]] * 5, ["u", "d", "e"] * 5)
for some in (slice(None), [i for i in range(15) if y[i] != "e"]):
    model = rx.LynxClassifier(random_state=0).fit(X[some], y[some])
    model.predict_proba(X)
after = compiled()
print(sorted(name for name in after if after[name] > before.get(name, 0)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout == "[]\n"
