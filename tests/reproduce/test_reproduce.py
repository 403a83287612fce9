"""The reproduction: what was published, what is run, kept and drawn."""

import csv
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import relynx as rx
from relynx import cli
from relynx.models.evaluation import cross_validation as evaluation
from relynx.reproduce import runs
from relynx.reproduce.results import comparison, figure, summary, table_1, write_summary
from relynx.reproduce.runs import (
    BIASES,
    CHOSEN,
    EXPERIMENTS,
    MEANING,
    OWN_ROW,
    PAPER_ROWS,
    SYSTEMS,
    TABLE_1,
    TABLE_2,
    Experiment,
    Record,
    carried_out,
    done_before,
    experiments,
    planned,
    resumed,
    write_records,
)

QUICK = Experiment("quick", "chain", {"max_length": 1, "max_iter": 2, "n_features": 2})


@pytest.fixture(scope="module")
def data():
    """A tenth of the folds, so that a run takes a second."""
    folds = rx.load_protein_folds()
    some = np.flatnonzero(np.arange(len(folds.y)) % 10 == 0)
    return replace(folds, X=folds.X[some], y=folds.y[some], groups=folds.groups[some])


def record(name, protocol="random", bias="", fold=1, accuracy=0.5, seed=0):
    return Record(protocol, bias, name, seed, fold, 10, 5, accuracy, 0.1, f"{name}{seed}")


# What was published, and what is run


def test_published_means_are_those_of_their_folds_but_where_the_paper_errs():
    off = {name: round(float(np.mean(folds)) - mean, 3) for name, (folds, mean) in TABLE_1.items()}
    assert off == {
        "confidence 0.95, all patterns": 0.001,
        "confidence 0.95, GRASP": 0.014,
        "confidence 1.0, all patterns": 0.0,
        "confidence 1.0, GRASP": -0.001,
    }
    assert all(len(folds) == 10 for folds, _ in TABLE_1.values())


def test_the_lynx_row_of_table_2_is_the_best_of_table_1():
    assert TABLE_2["Lynx"] == pytest.approx(TABLE_1[OWN_ROW][1], abs=0.001)
    assert TABLE_1.keys() == PAPER_ROWS.keys()


def test_every_row_of_table_1_is_run_along_the_chain_and_in_all_dimensions():
    for bias in ("chain", "all"):
        assert {s.name for s in EXPERIMENTS if s.bias == bias} >= set(TABLE_1)
    assert all(experiment.bias in MEANING for experiment in EXPERIMENTS)


@pytest.mark.filterwarnings("ignore:no pattern was found")
@pytest.mark.parametrize(
    "experiment", [s for s in EXPERIMENTS if s.bias in BIASES], ids=lambda s: f"{s.name}, {s.bias}"
)
def test_each_experiment_is_one_that_the_classifier_takes(experiment):
    bias = experiment.language or rx.parse_bias(BIASES[experiment.bias])
    model = rx.LynxClassifier(bias, **experiment.parameters).set_params(max_length=1)
    if experiment.parameters:
        model.set_params(max_iter=1)
    X, y = rx.load_protein_folds().X[:40], rx.load_protein_folds().y[:40]
    keep = np.isin(y, ["c.1", "c.2"])
    assert len(model.fit(X[keep], y[keep]).classes_) == 2


def test_every_system_of_table_2_is_run_with_its_defaults(data):
    rows = [run for run in planned(data, folds=2) if run.experiment.bias == SYSTEMS]
    models = {run.experiment.name: run.model(data) for run in rows if run.protocol == "random"}
    assert list(map(repr, models.values())) == [
        "LoHMMClassifier()",
        "FisherKernelClassifier()",
        "TildeCRFClassifier()",
        "TildeCRFClassifier(learning_rate=1.0, max_iter=100, training='chain')",
    ]
    assert models.keys() - {"TildeCRF, all paths"} == TABLE_2.keys() - {"Lynx"}


def test_a_language_and_bounds_are_of_the_papers_rows_in_three_dimensions():
    ours, bounded = experiments(), experiments(max_gap=3, min_support=None)
    changed = [(one, other) for one, other in zip(ours, bounded, strict=True) if one != other]
    assert {(one.name, one.bias) for one, _ in changed} == {(name, "all") for name in TABLE_1}
    lines = ("maxsize(2).", "maxfollowat(7).", "minsupport(0.05).")
    assert all(line in str(one.language).splitlines() for one, _ in changed for line in lines)
    assert {other.language.max_gap for _, other in changed} == {3}
    own = rx.parse_bias(BIASES["chain"] + "maxsize(3).")
    languages = {str(one.language) for one in experiments(own, min_support=0.2) if one.language}
    assert languages == {f"{own}\nminsupport(0.2)."}


def test_rows_are_chosen_by_parts_of_their_titles(data):
    plan = planned(data, folds=2, rows=["GRASP, all, random", "Markov chain, by family"])
    assert [run.title() for run in plan] == [
        "Markov chain, by family, seed 0",
        "confidence 0.95, GRASP, all, random, seed 0",
        "confidence 1.0, GRASP, all, random, seed 0",
    ]
    with pytest.raises(rx.InputError) as caught:
        planned(data, rows=["grasp", "HMM of old"])
    assert str(caught.value) == (
        "no row has 'grasp' or 'HMM of old' in its title\n"
        "hint: titles are like 'largest class, random, seed 0' or "
        "'defaults of LynxClassifier, all, by family, seed 0'"
    )


def test_runs_are_planned_for_every_seed_and_protocol(data):
    plan = planned(data, folds=2, seeds=(0, 1), experiments=(QUICK,))
    mine = [run for run in plan if run.experiment == QUICK]
    assert [(run.protocol, run.seed) for run in mine] == [
        ("random", 0),
        ("random", 1),
        ("by family", 0),
        ("by family", 1),
    ]
    assert mine[0].title() == "quick, chain, random, seed 0"
    assert {run.experiment.name for run in plan} > {"largest class", "n-gram linear SVM"}


def test_a_run_is_a_cross_validation_in_its_folds(data):
    run = planned(data, folds=2, experiments=(QUICK,))[-1]
    records = carried_out(run, data)
    model = rx.LynxClassifier(rx.parse_bias(BIASES["chain"]), **QUICK.parameters)
    wanted = evaluation.cross_validate(model, data.X, data.y, folds=2, groups=data.groups)
    assert run.protocol == "by family"
    assert [one.accuracy for one in records] == pytest.approx(wanted.accuracies[0], abs=1e-6)
    assert [one.right / one.sequences for one in records] == pytest.approx(wanted.accuracies[0])


# What is kept


def test_a_run_that_was_done_is_not_done_again(data, tmp_path, monkeypatch):
    plan = planned(data, folds=2, experiments=(QUICK,))[:3]
    first = resumed(tmp_path, plan, data)

    def no_run(*args, **experiments):
        raise AssertionError("this was done before")

    monkeypatch.setattr(runs, "carried_out", no_run)
    assert resumed(tmp_path, plan, data) == first
    assert len(done_before(tmp_path, plan, data)) == 6


def test_a_run_with_other_parameters_is_done_again(data, tmp_path):
    run = planned(data, folds=2, experiments=(QUICK,))[-1]
    records = carried_out(run, data)
    write_records(tmp_path, records)
    assert done_before(tmp_path, [run], data) == records
    other = replace(run, experiment=replace(QUICK, parameters={**QUICK.parameters, "max_iter": 3}))
    assert done_before(tmp_path, [other], data) == []


def test_of_half_a_run_the_other_half_is_done(data, tmp_path, monkeypatch):
    run = planned(data, folds=2, experiments=(QUICK,))[-1]
    whole = resumed(tmp_path, [run], data)
    write_records(tmp_path, whole[1:])
    described = []
    again = resumed(tmp_path, [run], data, progress=lambda _, fold: described.append(fold.number))
    assert described == [1]
    assert [replace(one, seconds=0) for one in again] == [replace(r, seconds=0) for r in whole]


def test_what_a_killed_reproduction_left_is_removed(data, tmp_path):
    run = planned(data, folds=2, experiments=())[0]
    (tmp_path / "folds.csv.77.part").write_text("half")
    (tmp_path / "mine.77.part").write_text("not ours")
    resumed(tmp_path, [run], data)
    assert sorted(os.listdir(tmp_path)) == ["folds.csv", "lock", "mine.77.part"]


def test_a_run_is_done_again_when_a_default_or_a_bound_changes(data, monkeypatch):
    run = planned(data, folds=2, rows=["confidence 1.0, GRASP, all"])[0]
    key = run.key(data)
    assert key == run.key(data)
    (other,) = [one for one in experiments(max_gap=3) if one.name == OWN_ROW and one.language]
    assert replace(run, experiment=other).key(data) != key
    given = run.model(data).set_params(max_iter=7)
    monkeypatch.setattr(runs.Run, "model", lambda self, data: given)
    assert run.key(data) != key


def test_a_run_is_done_again_when_the_data_change(data):
    run = planned(data, folds=2, experiments=())[0]
    order = np.arange(len(data.y))[::-1]
    renamed = rx.Sequences(
        data.X.vocabulary,
        data.X.tables,
        [f"other {i}" for i in range(len(data.y))],
        background=data.X.background,
    )
    others = [
        replace(data, y=data.y[order]),
        replace(data, groups=data.groups[order]),
        replace(data, X=data.X[order]),
        replace(data, X=data.X.with_background(None)),
        replace(data, X=renamed),
    ]
    assert len({run.key(data), *(run.key(other) for other in others)}) == 6


def test_a_run_is_done_again_when_the_code_that_learns_changes(data, monkeypatch, tmp_path):
    run = planned(data, folds=2, experiments=())[0]
    for name in runs.LEARNS:
        (tmp_path / name).mkdir()
    source = tmp_path / "mining" / "search.py"
    keys = set()
    monkeypatch.setattr(runs, "__file__", str(tmp_path / "reproduce" / "runs.py"))
    for text in ("a = 1", "a = 2"):
        source.write_text(text)
        runs._code_key.cache_clear()
        keys |= {run.key(data)}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "html.py").write_text("b = 1")
    runs._code_key.cache_clear()
    keys |= {run.key(data)}
    runs._code_key.cache_clear()
    assert len(keys) == 2


def test_every_package_that_learns_is_there():
    root = Path(rx.__file__).parent
    assert all(any((root / name).glob("*.py")) for name in runs.LEARNS)


def test_records_of_other_plans_stay_in_the_folder(data, tmp_path):
    some, others = (planned(data, folds=n, experiments=())[:2] for n in (2, 3))
    first = resumed(tmp_path, some, data)
    assert {one.key for one in resumed(tmp_path, others, data)}.isdisjoint(r.key for r in first)
    assert done_before(tmp_path, some, data) == first
    assert len(done_before(tmp_path, others, data)) == 6


def test_what_another_process_adds_meanwhile_stays_in_the_folder(data, tmp_path):
    some, others = (planned(data, folds=n, experiments=())[:2] for n in (2, 3))
    described = []

    def meanwhile(run, fold):
        if not described:
            described.append(resumed(tmp_path, others, data))

    resumed(tmp_path, some, data, progress=meanwhile)
    assert done_before(tmp_path, others, data) == described[0]
    assert len(done_before(tmp_path, some, data)) == 4


def test_another_process_knows_a_run_by_the_same_key():
    code = (
        "import relynx as rx; from relynx.reproduce.runs import planned\n"
        "data = rx.load_protein_folds(); print(*(run.key(data) for run in planned(data)))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    )
    folds = rx.load_protein_folds()
    keys = [run.key(folds) for run in planned(folds)]
    assert done.stdout.split() == keys
    assert len(set(keys)) == len(keys)


def test_what_was_done_before_a_stop_is_kept(data, tmp_path):
    plan = planned(data, folds=2, experiments=())[:4]
    seen = []

    def stop(run, fold):
        seen.append(run)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resumed(tmp_path, plan, data, progress=stop)
    assert len(done_before(tmp_path, plan, data)) == 4


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "protocol,bias\nx", "\x00"])
def test_a_file_that_is_not_ours_is_written_anew(data, tmp_path, text):
    (tmp_path / "folds.csv").write_text(text)
    plan = planned(data, folds=2, experiments=())[:1]
    resumed(tmp_path, plan, data)
    assert len(done_before(tmp_path, plan, data)) == 2


# What is shown


def test_the_summary_takes_means_over_folds_and_seeds():
    records = [
        record("m", fold=1, accuracy=0.5),
        record("m", fold=2, accuracy=0.7),
        record("m", fold=1, accuracy=0.9, seed=1),
        record("m", fold=2, accuracy=0.9, seed=1),
    ]
    (row,) = summary(records)
    assert row.folds == pytest.approx((0.7, 0.8))
    assert row.mean == pytest.approx(0.75)
    assert row.spread == pytest.approx(np.std([0.6, 0.9], ddof=1))
    assert row.published is None


def ten(name, bias="chain", protocol="random"):
    return [record(name, protocol, bias, fold=i + 1, accuracy=0.8 + i / 100) for i in range(10)]


def test_table_1_has_the_published_line_above_ours():
    header, lines = table_1(summary(ten("confidence 1.0, GRASP")), "random", "chain")
    assert header == ["", *map(str, range(1, 11)), "mean"]
    assert lines[-2] == [
        "confidence 1.0, GRASP: published",
        *[".94", ".97", ".93", ".95", ".95", ".93", ".93", ".97", ".90", ".94"],
        "0.942",
    ]
    assert lines[-1][0].strip() == "here"
    assert lines[-1][1:] == [*(f".8{i}" for i in range(10)), "0.845"]
    assert len(lines) == 5  # the rows that were not run are there with the published line


def test_with_other_folds_the_published_ones_are_left_out():
    some = ten("confidence 1.0, GRASP")[:3]
    header, lines = table_1(summary(some), "random", "chain")
    assert header == ["", "1", "2", "3", "mean"]
    assert lines[-2] == ["confidence 1.0, GRASP: published", "", "", "", "0.942"]


def test_the_comparison_has_both_protocols_in_a_line():
    rows = summary(
        [
            *ten("confidence 1.0, GRASP", "all"),
            record("confidence 1.0, GRASP", "by family", "all", accuracy=0.75),
            record("largest class", accuracy=0.4),
            record("TildeCRF", bias="systems", accuracy=0.9),
        ]
    )
    header, lines = comparison(rows)
    assert header == ["method", "bias", "random", "by family", "published"]
    assert lines == [
        ["TildeCRF", "", "0.900", "", "0.930"],
        ["Lynx, confidence 1.0, GRASP", "all", "0.845", "0.750", "0.942"],
        ["largest class", "", "0.400", "", "0.346"],
    ]


def test_the_summary_is_written_as_csv(tmp_path):
    write_summary(tmp_path, summary([*ten("confidence 1.0, GRASP"), record("Markov chain")]))
    with (tmp_path / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "protocol": "random",
        "bias": "chain",
        "method": "confidence 1.0, GRASP",
        "mean": "0.845",
        "spread": "0.0",
        "published": "0.942",
    }
    assert rows[1]["published"] == ""


def test_the_figure_has_a_point_for_each_mean_at_its_place():
    rows = summary(
        [
            record("a <b> & c", accuracy=1.0),
            record("a <b> & c", "by family", accuracy=0.65),
            *ten("confidence 1.0, GRASP"),
        ]
    )
    root = ElementTree.fromstring(figure(rows))
    tag = "{http://www.w3.org/2000/svg}"
    points = {}
    for circle in root.iter(f"{tag}circle"):
        if (title := circle.find(f"{tag}title")) is not None:
            points[title.text] = float(circle.get("cx"))
    assert points == {
        "a <b> & c, random folds: 1.000": 662.0,
        "a <b> & c, folds by family: 0.650": 462.0,
        "confidence 1.0, GRASP, random folds: 0.845": 573.4,
    }
    assert [t.text for t in root.iter(f"{tag}title") if "published" in t.text] == [
        "confidence 1.0, GRASP, published: 0.942"
    ]
    height = float(root.get("height"))
    places = [float(text.get("y")) for text in root.iter(f"{tag}text")]
    assert max(places) < height


# The command


def test_reproduce_shows_tables_and_names_its_files(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("relynx.bias.protein_folds.load_protein_folds", lambda: data)
    plan = planned(data, folds=2, experiments=(replace(QUICK, name=OWN_ROW),))
    monkeypatch.setattr(runs, "planned", lambda *args, **options: plan)
    assert cli.main(["reproduce", "--folds", "2", "--jobs", "1", "-o", "here"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-3:] == [
        str(Path("here") / name) for name in ("folds.csv", "summary.csv", "accuracy.svg")
    ]
    assert out.startswith("24 folds to do, about 1 minute on 1 core\n")
    assert "Table 1, one dimension: along the chain; folds random" in out
    assert "Table 2, with other parameters and baselines; 1 seed" in out
    assert f"folds: 24 of 24, {OWN_ROW}, chain, by family, seed 0, fold 2: " in err
    assert all(Path("here", name).stat().st_size for name in ("folds.csv", "accuracy.svg"))


def test_reproduce_prints_the_bias_and_how_it_was_chosen(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("relynx.bias.protein_folds.load_protein_folds", lambda: data)
    Path("mine.l").write_text(BIASES["chain"])
    row = ("--rows", "1.0, all patterns, all, random", "--folds", "2", "--jobs", "1", "-o", "here")
    assert cli.main(["reproduce", *row, "--bias", "mine.l", "--max-length", "1"]) == 0
    out = capsys.readouterr().out
    assert "\n\ntype(helix(event,class,length)).\n" in out
    assert f"dimension(next_s).\nmaxsize(1).\n\n{CHOSEN}" in out
    assert "2 folds to do, about 1 minute on 1 core\n" in out


def test_reproduce_says_what_is_kept_when_it_is_stopped(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("relynx.bias.protein_folds.load_protein_folds", lambda: data)

    def stopped(folder, plan, *args, **experiments):
        resumed(folder, plan[:2], data)
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "resumed", stopped)
    assert cli.main(["reproduce", "--folds", "2", "-o", "here"]) == 130
    said = capsys.readouterr().err.splitlines()[-1]
    path = re.escape(str(Path("here") / "folds.csv"))
    assert re.fullmatch(
        rf"stopped; {path} has 4 of \d+ folds; the same command resumes from there", said
    )


@pytest.mark.parametrize("command", ["reproduce", "demo"])
def test_a_folder_that_cannot_be_made_is_the_users_error(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    assert cli.main([command, "-o", "taken"]) == 2
    assert capsys.readouterr().err == "taken: this folder cannot be made (File exists)\n"
