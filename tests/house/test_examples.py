"""The examples of the gallery run, without a warning, and say what they found."""

import runpy

import pytest
from paths import ROOT

pytest.importorskip("matplotlib", reason="the examples draw with matplotlib")

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))


def test_there_are_at_least_eight_examples():
    assert len(SCRIPTS) >= 8


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(path, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(EXAMPLES)
    plt.switch_backend("agg")
    try:
        runpy.run_path(path.name, run_name="__main__")
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_ends_with_what_was_found(path):
    last = path.read_text(encoding="utf-8").rsplit("# %%", 1)[1]
    assert last.startswith("\n# **Found:**")
    assert all(line.startswith("#") for line in last.strip().splitlines())


def test_every_data_file_is_described():
    folder = EXAMPLES / "data"
    told = (folder / "PROVENANCE.md").read_text(encoding="utf-8")
    for path in folder.rglob("*.*"):
        if path.is_file() and path.name != "PROVENANCE.md":
            assert f"`{path.relative_to(folder)}`" in told
