"""The public sets are what their files say, and the table of accuracies is right."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import accuracy
from questions import public_sets
from questions.public_sets import SOURCES, PublicSet, Source
from questions.quantities import quantities

from relynx import from_lists

Folds = list[dict[str, str]]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def letters(folder: Path) -> PublicSet:
    """Ten lists of each class, told apart by one letter."""
    X, y = from_lists([["a", "b", "c"], ["b", "c", "c"]] * 10, ["with", "without"] * 10)
    assert y is not None
    return PublicSet(X, y, np.arange(20) // 2 % 2 + 1)


@pytest.fixture
def only_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(letters, {"tree": 90.0}, {"net": 100.0})
    monkeypatch.setattr(accuracy, "SOURCES", {"letters": source})


def test_promoters_are_plain_lists_of_bases(tmp_path: Path) -> None:
    write(tmp_path / "promoters" / "promoters.data", "+,S10,\t\tta\n-,12,\t\tcg\n")
    found = SOURCES["promoters"].read(tmp_path)
    assert found.y.tolist() == ["+", "-"]
    assert str(found.X[0]) == "begin(s1,'+'). next_s(e1,e2). t(e1). a(e2). end."


def test_intervals_have_all_their_classes(tmp_path: Path) -> None:
    write(tmp_path / "intervals" / "skating" / "data.txt", "0 7 5 9\n0 3 1 6\n1 3 1 2\n")
    write(tmp_path / "intervals" / "skating" / "classes.txt", "2\n6\n")
    found = SOURCES["skating"].read(tmp_path)
    assert found.y.tolist() == ["c2", "c6"]
    assert {str(atom) for atom in found.X[0].atoms} == {
        "symbol(e1,3)",
        "symbol(e2,7)",
        "next_start(e1,e2)",
        "overlaps(e1,e2)",
        "duration(e1,5)",
        "duration(e2,4)",
    }
    assert found.plain is not None
    assert "duration(e1,5)" not in {str(atom) for atom in found.plain[0].atoms}


def test_the_log_of_the_factory_is_in_the_order_of_its_events(tmp_path: Path) -> None:
    lines = ["Case ID;label;Activity;event_nr"]
    lines += ["C1;deviant;Lapping;2", "C2;regular;Turning;1", "C1;deviant;Turning;1"]
    write(tmp_path / "production" / "production.csv.gz", "\n".join(lines) + "\n")
    found = SOURCES["production"].read(tmp_path)
    assert found.y.tolist() == ["deviant", "regular"]
    assert str(found.X[0]) == (
        "begin('C1',deviant). next_s(e1,e2). activity(e1,'Turning'). activity(e2,'Lapping'). end."
    )


def test_trajectories_have_the_published_split_and_gaps(tmp_path: Path) -> None:
    head = "tid,label,poi,price\n"
    write(
        tmp_path / "trajectories" / "foursquare_train.csv.gz",
        f"{head}1,6,Food,1\n1,6,Shop,-999\n2,8,Food,2\n2,8,Shop,2\n",
    )
    write(
        tmp_path / "trajectories" / "foursquare_test.csv.gz", f"{head}3,8,Shop,1\n3,8,Food,-999\n"
    )
    found = SOURCES["trajectories"].read(tmp_path)
    assert found.y.tolist() == ["6", "8", "8"]
    ((train, test),) = found.splits()
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])
    assert {str(atom) for atom in found.X[2].atoms} == {
        "next_s(e1,e2)",
        "poi(e1,'Shop')",
        "poi(e2,'Food')",
        "price(e1,1)",
    }


def test_each_file_of_molecules_is_held_out_in_turn(tmp_path: Path) -> None:
    molecule = "begin(d1,positive).\nm(d1). atm(d1,d1_1,c,22,-0.1).\nend.\n"
    for i in (1, 2, 3):
        write(tmp_path / "mutagenesis" / f"mut0{i}.val", molecule.replace("d1", f"d{i}"))
    found = SOURCES["mutagenesis"].read(tmp_path)
    assert [test.tolist() for _, test in found.splits()] == [[0], [1], [2]]
    assert found.splits()[1][0].tolist() == [0, 2]


def test_without_given_parts_there_are_ten_by_class() -> None:
    X, y = from_lists([["a"], ["b"]] * 20, ["x", "y"] * 20)
    assert y is not None
    tests = [test for _, test in PublicSet(X, y).splits()]
    assert [len(test) for test in tests] == [4] * 10
    assert all(sorted(y[test]) == ["x", "x", "y", "y"] for test in tests)


def test_the_errors_of_106_are_a_share() -> None:
    assert public_sets._of_106(53) == 50


def test_rows_are_written_and_not_run_again(
    tmp_path: Path, only_letters: None, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [accuracy.DEFAULT, accuracy.TUNED]
    first = accuracy.results_of(tmp_path, tmp_path, None, rows)
    assert capsys.readouterr().out == "letters: default 1.000\nletters: tuned 1.000\n"
    assert [len(first["letters"][row]) for row in rows] == [2, 2]
    again = accuracy.results_of(tmp_path, tmp_path)
    assert capsys.readouterr().out == (
        "".join(f"letters: {row} 1.000\n" for row in (*accuracy.SIMPLE, *accuracy.AGGREGATES))
    )
    assert {row: again["letters"][row] for row in rows} == first["letters"]
    assert [*again["letters"]] == [*accuracy.ROWS]


def test_a_set_that_is_not_there_is_skipped_visibly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [name for name in SOURCES if name not in ("protein_folds", "stays")]
    assert accuracy.results_of(tmp_path, tmp_path / "none", names) == {}
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in printed] == [f"skipped: {name}" for name in names]
    assert printed[names.index("mutagenesis")] == (
        f"skipped: mutagenesis, for there is no {tmp_path / 'none' / 'mutagenesis' / '*.val'}"
    )


def test_without_an_order_the_largest_class_stands_for_the_ngrams() -> None:
    X, _ = from_lists([["a"], ["b"]])
    rows = accuracy.models(X, "memory")
    assert [type(rows[row]).__name__ for row in accuracy.SIMPLE] == ["DummyClassifier"] * len(
        accuracy.SIMPLE
    )


def test_the_default_row_is_given_nothing_but_a_seed() -> None:
    X, _ = from_lists([["a", "b"]])
    default = accuracy.models(X, "memory")[accuracy.DEFAULT]
    changed = {
        name: value
        for name, value in default.get_params().items()
        if value != type(default)().get_params()[name]
    }
    assert changed == {"random_state": 0}


def folds(*values: str, seconds: str = "1.0") -> Folds:
    row = {"seconds": seconds, "patterns": "1200"}
    return [{"accuracy": value, **row} for value in values]


RESULTS = {
    "one": {"default": folds("0.9", "1.0", seconds="2.4"), "n-gram SVM": folds("0.9", "0.9")},
    "two": {"default": folds("0.5", "0.6"), "n-gram SVM": folds("0.7", "0.7")},
}
TOLD = {
    "one": Source(letters, {"rules": 95.0, "tree": 60.0}, {"net": 99.0}, {"counts": 80.0}),
    "two": Source(letters),
}


def test_the_table_has_a_line_a_set() -> None:
    header, *lines = accuracy.table(RESULTS, TOLD)
    assert header == [
        *("set", "folds", "default", "tuned", *accuracy.SIMPLE, *accuracy.AGGREGATES),
        *("readable", "others", "simple", "seconds", "patterns"),
    ]
    assert lines == [
        [
            "one",
            "2",
            "95.0",
            "-",
            "90.0",
            *["-"] * 6,
            "rules 95.0, tree 60.0",
            "net 99.0",
            "counts 80.0",
            "2",
            "1,200",
        ],
        ["two", "2", "55.0", "-", "70.0", *["-"] * 6, "-", "-", "-", "1", "1,200"],
    ]


def test_the_bars_count_sets() -> None:
    slowest, ngrams, readable = accuracy.bars(RESULTS, TOLD)
    assert (slowest.value, slowest.limit, slowest.held) == (2.4, 300, True)
    assert (ngrams.value, ngrams.limit, ngrams.held) == (1, 2, False)
    assert (readable.value, readable.limit, readable.held) == (1, 1, True)
    assert readable.what == "sets where it is as good as a readable method, of 1"


def test_the_table_is_also_markdown() -> None:
    assert accuracy.markdown([["set", "default"], ["one", "95.0"]]) == (
        "| set | default |\n|---|---|\n| one | 95.0 |\n"
    )


def test_the_script_writes_the_tables_and_fails_where_a_bar_is_missed(
    tmp_path: Path,
    only_letters: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(accuracy, "MOST_SECONDS", 0)
    monkeypatch.setattr(accuracy.table, "__defaults__", (accuracy.SOURCES,))
    monkeypatch.setattr(accuracy.bars, "__defaults__", (accuracy.SOURCES,))
    monkeypatch.setattr(
        sys, "argv", ["accuracy.py", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    )
    assert accuracy.main() == 1
    assert "the longest default fit" in capsys.readouterr().out
    lines = (tmp_path / "out" / "table.md").read_text().splitlines()
    assert lines[2].startswith(f"| letters | 2 |{' 100.0 |' * 9} tree 90.0 | net 100.0 |")
    assert (tmp_path / "out" / "table.csv").read_text().startswith("set,folds,default,tuned,")


def test_nothing_runs_without_folders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["accuracy.py"])
    assert accuracy.main() == 0
    assert capsys.readouterr().out == (
        "skipped: this takes an hour; --data FOLDER --out FOLDER run it\n"
    )


def test_plain_lists_have_a_class_and_symbols(tmp_path: Path) -> None:
    write(tmp_path / "flat" / "unix.txt.gz", "0\tls cd ls\n1\tvi\n")
    found = SOURCES["unix"].read(tmp_path)
    assert found.y.tolist() == ["0", "1"]
    assert str(found.X[1]) == "begin(s2,'1'). vi(e1). end."


def test_quantities_are_numbers_and_shares() -> None:
    assert quantities([["a", "b", "a"], ["b"]]) == [
        {
            "length": 3.0,
            "number of a": 2.0,
            "share of a": 2 / 3,
            "number of b": 1.0,
            "share of b": 1 / 3,
        },
        {"length": 1.0, "number of b": 1.0, "share of b": 1.0},
    ]
