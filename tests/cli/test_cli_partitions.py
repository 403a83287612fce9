"""`relynx mine` and `relynx predict` on folders of partitions."""

from __future__ import annotations

import csv

import pytest

import relynx as rx
from relynx.cli import main

BIAS = "type(do(event,action,thing)). mode(do(+,#,*)). dimension(next_s).\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    X, y = rx.planted_rule(120, n_events=5, random_state=3)
    monkeypatch.chdir(tmp_path)
    X.to_parquet("train", partitions=2, y=y)
    (tmp_path / "bias.l").write_text(BIAS)
    rx.write_lynx(X.with_labels(y), "train.m")
    return tmp_path


def mined(train, *more):
    options = ["--min-support", "0.3", "--max-length", "2", "-b", "bias.l", *more]
    return main(["mine", train, *options, "-o", f"{train}.csv"])


def test_a_folder_is_mined_as_a_file_is(here, capsys):
    assert mined("train") == 0
    assert capsys.readouterr().out.endswith(
        "train.csv: 23 patterns of 120 sequences in 2 partitions\n"
    )
    assert mined("train.m") == 0
    rows = [(here / name).read_text().splitlines() for name in ("train.csv", "train.m.csv")]
    assert sorted(rows[0]) == sorted(rows[1])  # the constants of the file have other codes


def test_partitions_that_are_too_small_are_warned_of_in_plain_words(here, capsys):
    rx.scan_parquet("train").load().to_parquet("small", partitions=20)
    assert mined("small") == 0
    assert capsys.readouterr().err.startswith("warning: in 20 of 20 partitions a pattern is ")


def test_classes_are_named_as_in_the_folder(here):
    assert mined("train", "--max-support", "no=0.2") == 0
    found = rx.mine(
        rx.scan_parquet("train").load(),
        None,
        rx.parse_bias(BIAS),
        min_support=0.3,
        max_length=2,
        max_support={"no": 0.2},
    )
    with open("train.csv", newline="") as file:
        assert [row["pattern"] for row in csv.DictReader(file)] == list(found.texts())


def test_predictions_of_a_folder_are_those_of_its_sequences(here, capsys):
    X = rx.scan_parquet("train").load()
    bias = rx.parse_bias(BIAS)
    model = rx.LynxClassifier(bias, max_length=1, max_iter=2, n_features=2, random_state=0)
    rx.save(model.fit(X, X.labels), "model.relynx")
    for name in ("folder.csv", "folder.jsonl", "folder.parquet"):
        assert main(["predict", "model.relynx", "train", "-o", name]) == 0
    out = capsys.readouterr().out
    accuracy = model.score(X, X.labels)
    assert f"accuracy {accuracy:.3f}, by the classes in train\nfolder.csv: 120 predictions" in out
    with open("folder.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["predicted"] for row in rows] == model.predict(X).tolist()
    assert [row["id"] for row in rows] == X.ids.tolist()


def test_a_model_is_fitted_to_a_folder_in_memory(here, capsys):
    options = ["-b", "bias.l", "--max-length", "1", "--max-iter", "2", "--n-features", "2"]
    assert main(["fit", "train", *options, "-o", "model.relynx"]) == 0
    assert "120 sequences" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["mine", "train", "-o", "p.csv"],
            "partitions are mined with a bias that is given\n"
            "hint: Bias.infer(parts.partition(0)) infers one from the first of them\n",
        ),
        (
            ["mine", "train.m", "--scheduler", "tcp://here:1", "-o", "p.csv"],
            "train.m: workers share a folder of partitions, and this is none\n"
            "hint: write one by X.to_parquet(folder); see the page on partitions\n",
        ),
        (
            ["mine", "train", "-k", "rules.bk", "-o", "p.csv"],
            "train: a folder of partitions has the rules that it was written with\n"
            "hint: leave out --background, or write the folder with other rules\n",
        ),
        (
            ["mine", "train", "--sequence", "case", "-o", "p.csv"],
            "train: this is a folder of partitions: it has no columns to choose\n"
            "hint: leave out --sequence, --order, --label\n",
        ),
    ],
)
def test_what_a_folder_cannot_have_is_refused(here, capsys, arguments, text):
    assert main(arguments) == 2
    assert capsys.readouterr().err == text


def test_a_folder_that_is_none_is_refused(here, capsys):
    (here / "empty").mkdir()
    assert main(["mine", "empty", "-b", "bias.l", "-o", "p.csv"]) == 2
    assert capsys.readouterr().err == (
        "empty: this is no folder of partitions: it has no manifest.json\n"
        "hint: the folder is damaged or no work of to_parquet: take another copy, or write it "
        "again\n"
    )
