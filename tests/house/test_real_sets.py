"""The sets that the defaults are compared on hold what their files say."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import defaults
from questions import real_sets

from relynx import LynxClassifier, covers, parse_pattern


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def test_a_promoter_has_the_base_of_each_place(tmp_path: Path) -> None:
    write(tmp_path / "promoters" / "promoters.data", "+,S10,\t\tta\n-,12,\t\tcg\n")
    found = real_sets.promoters(tmp_path)
    assert found.y.tolist() == ["promoter", "none"]
    assert str(found.X[0]) == (
        "begin(s1,promoter). next_s(e1,e2). base(e1,t). base(e2,a). at(e1,t,1). at(e2,a,2). end."
    )


def test_an_order_of_the_factory_has_its_events_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = ["Case ID;label;Activity;Resource;Report_Type;Rework"]
    lines += ["C1;deviant;Turning;ID1;S;missing", "C2;regular;Lapping;ID2;D;missing"]
    lines += ["C1;deviant;Lapping;ID1;D;Y"]
    write(tmp_path / "production" / "production.csv.gz", "\n".join(lines) + "\n")
    found = real_sets.production(tmp_path)
    assert found.y.tolist() == ["deviant", "regular"]
    assert str(found.X[0]) == (
        "begin(s1,deviant). next_s(e1,e2). activity(e1,'Turning'). activity(e2,'Lapping')."
        " worker(e1,'ID1'). worker(e2,'ID1'). report(e1,'S'). report(e2,'D'). rework(e2). end."
    )


def test_intervals_follow_each_other_by_their_starts(tmp_path: Path) -> None:
    write(tmp_path / "intervals" / "blocks" / "data.txt", "0 7 5 9\n0 3 1 6\n1 3 1 2\n")
    write(tmp_path / "intervals" / "blocks" / "classes.txt", "2\n6\n")
    found = real_sets.blocks(tmp_path)
    assert found.y.tolist() == ["c2"]  # the sixth class is left out
    assert {str(atom) for atom in found.X[0].atoms} == {
        "on(e1,3)",
        "on(e2,7)",
        "next_start(e1,e2)",
        "overlaps(e1,e2)",
    }


def test_a_molecule_can_be_walked_along_its_bonds_both_ways(tmp_path: Path) -> None:
    molecule = "m(d1). atm(d1,d1_1,c,22,-0.1). atm(d1,d1_2,n,38,0.8). bond(d1,d1_1,d1_2,7)."
    text = f"begin(d1,positive).\n{molecule}\nend.\n"
    write(tmp_path / "mutagenesis" / "mut01.val", text)
    write(tmp_path / "mutagenesis" / "mut02.val", text.replace("d1", "d2"))
    found = real_sets.mutagenesis(tmp_path)
    assert found.y.tolist() == ["positive", "positive"]
    for text in (
        "atom(A,c,22), link(A,B,7), atom(B,n,38)",
        "atom(A,n,38), link(A,B,7), atom(B,c,22)",
    ):
        assert covers(parse_pattern(text), found.X).tolist() == [True, True]


def test_the_five_people_with_the_most_weeks_are_kept(tmp_path: Path) -> None:
    lines = ["tid,label,day,hour,poi,price,rating,weather"]
    weeks = [(f"{who}{week}", who) for who in range(1, 7) for week in range(who)]
    lines += [f"{tid},{who},Monday,13,Food,-999,8.2,Clouds" for tid, who in weeks]
    lines += ["65,6,Friday,3,Shop & Service,2,8.2,Clouds"]
    write(tmp_path / "trajectories" / "foursquare_train.csv.gz", "\n".join(lines) + "\n")
    found = real_sets.trajectories(tmp_path)
    names, counts = np.unique(found.y, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "p2": 2,
        "p3": 3,
        "p4": 4,
        "p5": 5,
        "p6": 6,
    }
    assert {str(atom) for atom in found.X[-1].atoms} == {
        "next_s(e1,e2)",
        "place(e1,'Food')",
        "day(e1,'Monday')",
        "time(e1,h12)",
        "place(e2,'Shop & Service')",
        "day(e2,'Friday')",
        "time(e2,h0)",
        "price(e2,2)",
    }


def test_a_set_that_is_not_there_is_skipped_visibly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [reader.__name__ for reader in real_sets.READERS]
    assert defaults.results_of(tmp_path, tmp_path / "none", names) == {}
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in printed] == [f"skipped: {name}" for name in names]
    assert printed[3] == (
        f"skipped: mutagenesis, for there is no {tmp_path / 'none' / 'mutagenesis' / '*.val'}"
    )


def test_one_of_the_rows_has_the_defaults() -> None:
    row = defaults.SETTINGS[defaults.default_row()]
    standard = LynxClassifier().get_params()
    assert all(standard[name] == value for name, value in row.items())


def test_the_table_gives_mean_and_spread_and_the_differences_go_by_set() -> None:
    def folds(setting: str, first: str, second: str, mark: str) -> list[dict[str, str]]:
        return [
            {"setting": setting, "held_back": mark, "accuracy": value, "seconds": "1.5"}
            for value in (first, second)
        ]

    default = defaults.default_row()
    other = next(name for name in defaults.SETTINGS if name != default)
    results = {
        "one": {default: folds(default, "0.8", "0.9", ""), other: folds(other, "0.9", "0.9", "")},
        "two": {default: folds(default, "0.6", "0.6", "*"), other: folds(other, "0.5", "0.6", "*")},
    }
    header, *lines = defaults.table(results)
    assert header == ["setting", "one", "two*", "seconds"]
    assert sorted(lines) == sorted(
        [
            [default, "0.850 ± 0.071", "0.600 ± 0.000", "6"],
            [other, "0.900 ± 0.000", "0.550 ± 0.071", "6"],
        ]
    )
    assert defaults.differences(results, default)[1:] == [[other, "+5.0", "-5.0", "+0.0", "1, 1"]]


def test_nothing_runs_without_a_folder_for_the_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["defaults.py"])
    assert defaults.main() == 0
    expected = "skipped: this takes half an hour; --out FOLDER runs it\n"
    assert capsys.readouterr().out == expected


def test_without_a_folder_of_data_the_other_sets_are_skipped_visibly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert defaults.results_of(tmp_path, None, ["promoters"]) == {}
    assert capsys.readouterr().out == (
        "skipped: all sets but the bundled folds; --data names the folder that has them\n"
    )
