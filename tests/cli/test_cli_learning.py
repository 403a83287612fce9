"""`relynx fit`, `relynx predict` and `relynx evaluate`: what they write and show, how they end."""

import csv
import io
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import relynx as rx
from relynx import cli
from relynx.cli import evaluation as testing
from relynx.cli import learning
from relynx.console import plain_warnings, show_table, steps, working
from relynx.mining.english import n_cells
from relynx.models.evaluation import comparison
from relynx.models.evaluation import cross_validation as evaluation
from relynx.models.lynx.classifier import METHODS, MULTICLASS
from relynx.models.lynx.final_estimators import NAMES

BIAS = "type(do(event,action,object)). mode(do(+,#,*)). dimension(next_s). maxsize(2).\n"
BACKGROUND = "first(E) :- do(E,a0,_).\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with data and a bias that is the current one, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    for name, seed, n in (("train.m", 0, 60), ("test.m", 1, 20)):
        rx.write_lynx(rx.planted_rule(n, random_state=seed)[0], name)
    (tmp_path / "rule.l").write_text(BIAS)
    return tmp_path


def run(capsys, *args):
    """Exit code, standard output and standard error of a command."""
    code = cli.main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


QUICK = ("-b", "rule.l", "--max-iter", "5")

# fit


def test_fit_writes_a_model_and_shows_what_was_selected(capsys, here):
    code, out, err = run(capsys, "fit", "train.m", *QUICK, "-o", "m.relynx")
    model = rx.load("m.relynx")
    X, y = rx.read_lynx("train.m")
    assert code == 0
    assert err == "learning from 60 sequences, 2 classes, 900 facts, dimensions s\n"
    header, pair, accuracy, advice, last = out.splitlines()
    assert header.split() == ["classes", "patterns", "selected"]
    one = model.estimators_[0]
    assert pair.split() == ["no", "/", "yes", str(len(one.patterns)), str(len(one.selected))]
    assert accuracy == (f"training accuracy {model.score(X, y):.3f};")
    assert advice == "relynx evaluate estimates it for new sequences"
    patterns = "1 pattern" if len(model.selected_) == 1 else f"{len(model.selected_)} patterns"
    assert last == f"m.relynx: {patterns} for 60 sequences, 2 classes, 900 facts, dimensions s"


def test_fit_learns_what_the_classifier_learns(capsys):
    run(capsys, "fit", "train.m", *QUICK, "--seed", "3", "-o", "m.relynx")
    X, y = rx.read_lynx("train.m")
    given = {"max_iter": 5, "random_state": 3, "method": "grasp"}
    model = rx.LynxClassifier(rx.read_bias("rule.l"), **given).fit(X, y)
    rx.save(model, "wanted.relynx")
    with open("m.relynx", "rb") as one, open("wanted.relynx", "rb") as two:
        assert one.read() == two.read()


def test_fit_says_that_it_infers_a_bias(capsys):
    _, _, err = run(capsys, "fit", "train.m", "--max-length", "1", "-o", "m.relynx")
    assert err.splitlines()[0] == "no bias was given: one is inferred from the sequences"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--paper",), {"n_features": None, "max_features": None}),
        (("--paper", "--n-features", "2"), {"n_features": 2, "max_features": None}),
        (("--all-patterns",), {"selection": None}),
        (("--no-object-identity",), {"object_identity": False}),
        (("--multiclass", "single"), {"multiclass": "single"}),
        (("--prior", "uniform", "--smoothing", "1"), {"prior": "uniform", "smoothing": 1.0}),
        (("--max-features", "7"), {"max_features": 7}),
        (
            ("--min-support", "0.2", "--min-frequency", "3", "--max-length", "1"),
            {"min_support": 0.2, "min_frequency": 3, "max_length": 1},
        ),
        (("--max-gap", "3", "--min-confidence", "0.6"), {"max_gap": 3, "min_confidence": 0.6}),
    ],
)
def test_options_are_the_parameters_of_the_classifier(capsys, options, wanted):
    assert run(capsys, "fit", "train.m", *QUICK, *options, "-o", "m.relynx")[0] == 0
    params = rx.load("m.relynx").get_params(deep=False)
    assert {name: params[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("option", "known"), [("method", METHODS), ("multiclass", MULTICLASS), ("learner", NAMES)]
)
@pytest.mark.parametrize("command", [learning.fit, testing.evaluate])
def test_the_choices_of_an_option_are_those_of_the_classifier(command, option, known):
    [choices] = [one.type.choices for one in command.params if one.name == option]
    assert tuple(choices) == known


def test_another_learner_may_decide(capsys):
    run(capsys, "fit", "train.m", *QUICK, "--learner", "logistic", "-o", "m.relynx")
    assert type(rx.load("m.relynx").final_estimator).__name__ == "LogisticRegression"


def test_fit_prints_warnings_plainly(capsys, here):
    (here / "rule.l").write_text("type(do(event,a,o)). mode(do(+,#,*)). values(a,[z]).\n")
    code, _, err = run(capsys, "fit", "train.m", *QUICK, "-o", "m.relynx")
    assert code == 0
    assert "warning: no pattern was found for no and yes; this is what the search saw:" in err
    assert "UserWarning" not in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "m.zip"), "Error: m.zip does not end in .relynx\n"),
        (
            ("-o", "none/m.relynx"),
            "none/m.relynx: this file cannot be written (No such file or directory)\n",
        ),
        (("-o", "m.relynx", "-b", "none.l"), "none.l: there is no such file\n"),
        (
            ("-o", "m.relynx", "--learner", "magic"),
            "Error: Invalid value for '--learner': 'magic' is not one of"
            " 'naive_bayes', 'logistic', 'svm'.\n",
        ),
    ],
)
def test_a_wrong_argument_of_fit_ends_with_2_and_a_message(capsys, args, message):
    code, out, err = run(capsys, "fit", "train.m", *args)
    assert (code, out) == (2, "")
    assert err.endswith(message)


@pytest.mark.parametrize("command", [("fit", "-o", "m.relynx"), ("evaluate",)])
def test_sequences_without_classes_teach_nothing(capsys, here, command):
    (here / "bare.m").write_text("begin(s1). a(e1). end.\n")
    assert run(capsys, *command, "bare.m") == (
        2,
        "",
        "bare.m: the sequences have no classes\n"
        "hint: give every sequence its class: begin(s1,up).\n",
    )


def test_one_class_alone_teaches_nothing(capsys, here):
    (here / "one.m").write_text("begin(s1,up). a(e1). end.\nbegin(s2,up). b(e1). end.\n")
    code, _, err = run(capsys, "fit", "one.m", *QUICK, "-o", "m.relynx")
    assert code == 2
    assert err.endswith(
        "all sequences are of one class, 'up'\nhint: give sequences of at least two classes\n"
    )
    assert not (here / "m.relynx").exists()


def test_ctrl_c_in_fit_keeps_an_old_model(capsys, here, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(rx.LynxClassifier, "fit", interrupted)
    (here / "m.relynx").write_text("old")
    code, out, err = run(capsys, "fit", "train.m", *QUICK, "-o", "m.relynx")
    assert (code, out) == (130, "")
    assert err.endswith("stopped; nothing was written to m.relynx\n")
    assert (here / "m.relynx").read_text() == "old"


# predict


@pytest.fixture
def fitted(capsys):
    run(capsys, "fit", "train.m", *QUICK, "-o", "m.relynx")
    return rx.load("m.relynx")


def test_predict_writes_a_row_for_each_sequence(capsys, here, fitted):
    X, y = rx.read_lynx("test.m")
    assert run(capsys, "predict", "m.relynx", "test.m", "-o", "p.csv") == (
        0,
        f"accuracy {fitted.score(X, y):.3f}, by the classes in test.m\np.csv: 20 predictions\n",
        "predicting 20 sequences, 2 classes, 300 facts, dimensions s\n",
    )
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == X.ids.tolist()
    assert [row["predicted"] for row in rows] == fitted.predict(X).tolist()
    shares = [float(row["probability_yes"]) for row in rows]
    assert shares == fitted.predict_proba(X)[:, 1].tolist()


def test_predict_needs_no_classes(capsys, here, fitted):
    X, _ = rx.read_lynx("test.m")
    rx.write_lynx(X.with_labels(None), "bare.m")
    code, out, _ = run(capsys, "predict", "m.relynx", "bare.m", "-o", "p.csv")
    assert (code, out) == (0, "p.csv: 20 predictions\n")
    assert (here / "p.csv").read_text().startswith("id,predicted,probability_no,probability_yes\n")


def test_predict_counts_classes_that_the_model_does_not_know(capsys, fitted):
    X, y = rx.read_lynx("test.m")
    rx.write_lynx(X, "odd.m", labels=["maybe", *y[1:].tolist()])
    _, _, err = run(capsys, "predict", "m.relynx", "odd.m", "-o", "p.csv")
    assert err.splitlines()[-1] == (
        "warning: odd.m has 1 sequence of a class that the model does not know"
    )


def forgetting(path):
    """A model file without the rules of its training sequences, as the first ones were."""
    model = rx.load(path)
    model.background_ = None
    rx.save(model, path)


def test_predict_has_the_background_knowledge_of_the_model(capsys, here):
    (here / "rules.bk").write_text(BACKGROUND)
    (here / "rule.l").write_text("type(first(event)). mode(first(+)). dimension(next_s).\n")
    run(capsys, "fit", "train.m", *QUICK, "-k", "rules.bk", "-o", "m.relynx", "--all-patterns")
    assert len(rx.load("m.relynx").selected_) > 0
    _, _, err = run(capsys, "predict", "m.relynx", "test.m", "-o", "p.csv")
    assert "warning" not in err
    _, _, err = run(capsys, "predict", "m.relynx", "test.m", "-k", "rules.bk", "-o", "q.csv")
    assert "warning" not in err
    assert (here / "p.csv").read_bytes() == (here / "q.csv").read_bytes()


def test_predict_asks_for_predicates_that_the_facts_lack(capsys, here):
    (here / "rules.bk").write_text("zero(E) :- do(E,a0,_).\n")
    (here / "zero.l").write_text("type(zero(event)). mode(zero(+)). dimension(next_s).\n")
    bias = ("-b", "zero.l", "-k", "rules.bk", "--max-length", "2", "--all-patterns")
    run(capsys, "fit", "train.m", *bias, "-o", "m.relynx")
    forgetting("m.relynx")
    warning = (
        "warning: the model uses zero/1, which test.m does not have\n"
        "hint: its facts are none of those that the model was learnt from; check their names, "
        "or give the background rules of an older model, with -k\n"
    )
    code, _, err = run(capsys, "predict", "m.relynx", "test.m", "-o", "p.csv")
    first = [line for line in err.splitlines(keepends=True) if "predicting" not in line]
    assert (code, "".join(first)) == (
        2,
        f"{warning}no sequence has a fact zero/1, which at least 53 of the 60 training sequences "
        "had\nhint: check the names of the facts; missing_predicates='ignore', or --allow-missing, "
        "takes it as absent\n",
    )
    code, _, err = run(capsys, "predict", "m.relynx", "test.m", "-o", "p.csv", "--allow-missing")
    assert code == 0
    assert err.startswith(warning)


def test_predict_refuses_a_file_that_holds_no_classifier(capsys):
    X, y = rx.read_lynx("train.m")
    rx.save(rx.mine(X, y, max_length=1), "found.relynx")
    assert run(capsys, "predict", "found.relynx", "test.m", "-o", "p.csv") == (
        2,
        "",
        "found.relynx: the file holds a PatternSet, which predicts no classes\n"
        "hint: relynx fit writes a model\n",
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("none.relynx", "test.m", "-o", "p.csv"), "none.relynx: there is no such file\n"),
        (("m.relynx", "none.m", "-o", "p.csv"), "none.m: there is no such file\n"),
        (
            ("m.relynx", "test.m", "-o", "p.xls"),
            "Error: p.xls ends in none of .csv, .jsonl, .parquet\n",
        ),
    ],
)
def test_a_wrong_argument_of_predict_ends_with_2_and_a_message(capsys, fitted, args, message):
    code, out, err = run(capsys, "predict", *args)
    assert (code, out) == (2, "")
    assert err.endswith(message)


def test_ctrl_c_in_predict_says_that_nothing_was_written(capsys, fitted, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(rx.LynxClassifier, "predict", interrupted)
    code, out, err = run(capsys, "predict", "m.relynx", "test.m", "-o", "p.csv")
    assert (code, out) == (130, "")
    assert err.endswith("stopped; nothing was written to p.csv\n")


@pytest.mark.parametrize(
    ("model", "header"),
    [
        (rx.LoHMMClassifier(), "id,label,predicted,probability_no,probability_yes"),
        (rx.FisherKernelClassifier(C=1.0), "id,label,predicted"),
        (rx.TildeCRFClassifier(max_iter=2), "id,label,predicted,probability_no,probability_yes"),
    ],
)
def test_predict_takes_a_model_of_another_system(model, header, capsys, here):
    X, y = rx.read_lynx("train.m")
    rx.save(model.fit(X, y), "other.relynx")
    code, out, _ = run(capsys, "predict", "other.relynx", "train.m", "-o", "p.csv")
    assert code == 0
    assert out.splitlines()[0] == f"accuracy {model.score(X, y):.3f}, by the classes in train.m"
    assert (here / "p.csv").read_text().splitlines()[0] == header


# evaluate


def test_evaluate_shows_all_methods_the_classes_and_what_is_better(capsys):
    code, out, err = run(capsys, "evaluate", "train.m", *QUICK, "--folds", "3")
    X, y = rx.read_lynx("train.m")
    model = rx.LynxClassifier(rx.read_bias("rule.l"), max_iter=5, random_state=0)
    wanted = evaluation.cross_validate(model, X, y, folds=3)
    lines = out.splitlines()
    assert code == 0
    assert lines[:4] == [
        "train.m: 60 sequences, 2 classes, 900 facts, dimensions s",
        "3 folds, stratified, seed 0",
        "",
        "method                accuracy   95 % interval  balanced    AUC     F1  log loss",
    ]
    assert lines[4].split()[:2] == ["Lynx", f"{wanted.mean:.3f}"]
    assert [line[:22].strip() for line in lines[5:9]] == [
        "aggregates, logistic",
        "aggregates, boosting",
        "n-grams",
        "largest class",
    ]
    assert lines[10] == "no other method here has a better accuracy than Lynx"
    assert lines[12].split() == ["Lynx,", "class", "sequences", "precision", "recall", "F1"]
    assert [line.split()[:2] for line in lines[13:15]] == [["no", "30"], ["yes", "30"]]
    assert lines[16].split() == ["Lynx:", "class", "\\", "predicted", "no", "yes"]
    assert [list(map(int, line.split()[1:])) for line in lines[17:]] == wanted.confusion.tolist()
    assert max(map(len, lines)) <= 80
    assert re.search(r"^folds: 15 of 15, largest class, fold 3: ", err, re.MULTILINE)


def test_where_a_simple_method_is_better_a_sentence_says_so(capsys, tmp_path):
    lists = [["a"] * (1 + i % 7) + ["b"] for i in range(70)]
    X, _ = rx.from_lists(lists, [("short", "long")[i % 7 > 2] for i in range(70)])
    rx.write_lynx(X, tmp_path / "d.m")
    options = ("--folds", "2", "--max-length", "1", "--scoring", "accuracy")
    _, out, _ = run(capsys, "evaluate", str(tmp_path / "d.m"), *options)
    said = " ".join(out.partition("\n\n")[2].split())
    assert re.search(
        r"gradient boosting on aggregates (is|seems) better here: 1\.000 against 0\.\d{3}, "
        r"a difference of -?\d\.\d{3} to \d\.\d{3}",
        said,
    )


def test_with_many_classes_the_tables_stay_short_and_narrow(capsys, tmp_path):
    lists = [[f"a{i % 40}", "b"] for i in range(120)]
    X, _ = rx.from_lists(lists, [f"class_{i % 40}" for i in range(120)])
    rx.write_lynx(X, tmp_path / "d.m")
    options = ("--folds", "2", "--max-length", "1", "--no-baselines")
    code, out, _ = run(capsys, "evaluate", str(tmp_path / "d.m"), *options)
    lines = out.splitlines()
    assert code == 0
    assert "these are the 10 of 40 classes with the least F1; a page of --report has all" in lines
    assert not any("predicted  " in line for line in lines)
    assert len(lines) < 30
    assert max(map(len, lines[1:])) <= 80


def test_evaluate_measures_what_scoring_names(capsys):
    options = ("--folds", "2", "--scoring", "log_loss,auc", "--no-baselines")
    _, out, _ = run(capsys, "evaluate", "train.m", *QUICK, *options)
    assert out.splitlines()[3].split() == ["method", "log", "loss", "95", "%", "interval", "AUC"]


def test_evaluate_holds_out_a_part_and_reports_on_it(capsys, here):
    options = ("--holdout", "0.25", "--report", "r.html", "--no-baselines")
    code, out, _ = run(capsys, "evaluate", "train.m", *QUICK, *options)
    lines = out.splitlines()
    assert code == 0
    assert lines[1] == "16 sequences held out, stratified, seed 0"
    assert lines[-1] == "r.html: the model and the sequences held out; open it in a browser"
    page = (here / "r.html").read_text()
    X, y = rx.read_lynx("train.m")
    train, test = evaluation.held_out(y, 0.25)
    model = rx.LynxClassifier(rx.read_bias("rule.l"), max_iter=5, random_state=0)
    wanted = rx.report(model.fit(X[train], y[train]), X[test], y[test])
    assert page == wanted.html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scoring", "auk"), "there is no measure 'auk'\nhint: did you mean 'auc'?\n"),
        (("--holdout", "1.5"), "Invalid value for '--holdout': 1.5 is not in the range 0<x<1.\n"),
        (
            ("--time-split", "day"),
            "--time-split day is no share: give 0.2, or the column of the time, day=0.2\n",
        ),
        (
            ("--report", "r.html"),
            "--report shows one model and one test part: give --holdout 0.2 or --time-split 0.2\n",
        ),
        (("--report", "r.txt", "--holdout", "0.2"), "r.txt does not end in .html\n"),
        (
            ("--holdout", "0.2", "--time-split", "0.2"),
            "holdout and time_split both say what is held out\nhint: give one of them\n",
        ),
        (
            ("--time-split", "0.2"),
            "it is not known when the sequences begin\n"
            "hint: read a table with a column of times or numbers as its order\n",
        ),
        (
            ("--time-split", "day=0.2"),
            "--time-split day=... names a column, and train.m is no table\n"
            "hint: give the share alone\n",
        ),
    ],
)
def test_what_cannot_be_tested_is_refused(capsys, options, message):
    code, out, err = run(capsys, "evaluate", "train.m", *QUICK, *options)
    assert (code, out) == (2, "")
    assert err.endswith(message)


def test_that_events_have_no_order_to_compare_by_is_told_before_any_work(tmp_path, capsys):
    data = "".join(f"begin(s{i},{'uv'[i % 2]}).\np({'ab'[i % 2]}).\nend.\n" for i in range(8))
    (tmp_path / "d.m").write_text(data)
    code, out, err = run(
        capsys, "evaluate", str(tmp_path / "d.m"), "--folds", "2", "--compare", "TildeCRF"
    )
    assert (code, out) == (2, "")
    assert err == (
        "the sequences have no dimension: no event follows another\n"
        "hint: link the events by facts such as next_s(e1,e2)\n"
    )


def test_evaluate_compares_with_the_systems_that_are_named(capsys):
    options = ("--folds", "2", "--no-baselines", "--compare", "fisher, lohmm")
    code, out, _ = run(capsys, "evaluate", "train.m", *QUICK, *options)
    rows = [line.split("  ")[0] for line in out.splitlines()[3:7]]
    assert (code, rows) == (0, ["method", "Lynx", "Fisher kernel", "LoHMM"])


def test_a_system_that_is_none_is_refused_before_anything_is_read(capsys):
    code, _, err = run(capsys, "evaluate", "missing.m", "--compare", "lohmm,tildcrf")
    assert code == 2
    assert err == ("there is no system 'tildcrf' to compare with\nhint: did you mean 'tildecrf'?\n")


def test_evaluate_splits_no_group(capsys, here):
    ids = rx.read_lynx("train.m")[0].ids.tolist()
    (here / "g.csv").write_text(
        "id,group\n" + "".join(f"{name},{i // 5}\n" for i, name in enumerate(ids))
    )
    options = ("--folds", "2", "--no-baselines", "--groups", "g.csv", "--seed", "4")
    code, out, _ = run(capsys, "evaluate", "train.m", *QUICK, *options)
    assert code == 0
    assert out.splitlines()[1] == "2 folds, stratified, no group of g.csv split, seed 4"


def test_evaluate_uses_more_processes_for_the_same_answer(capsys):
    options = ("--folds", "2", "--no-baselines")
    one = run(capsys, "evaluate", "train.m", *QUICK, *options)
    two = run(capsys, "evaluate", "train.m", *QUICK, *options, "--jobs", "2")
    assert one[:2] == two[:2]


def test_too_many_folds_are_the_users_error(capsys):
    code, _, err = run(capsys, "evaluate", "train.m", *QUICK, "--folds", "40")
    assert code == 2
    assert err.endswith(
        "the class no has 30 sequences, too few for 40 folds\n"
        "hint: give fewer folds, or leave out the class\n"
    )


def test_ctrl_c_in_evaluate_tells_the_mean_so_far(capsys, monkeypatch):
    def interrupted(estimator, X, y, *, progress, **settings):
        progress(evaluation.Fold(0, 1, None, None, 0.75, 0.1))
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "cross_validate", interrupted)
    code, out, err = run(capsys, "evaluate", "train.m", *QUICK)
    assert (code, out) == (130, "")
    assert err.endswith("stopped after 1 of 10 folds; mean so far 0.750\n")


def test_ctrl_c_before_the_first_fold_tells_no_mean(capsys, monkeypatch):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "cross_validate", interrupted)
    assert run(capsys, "evaluate", "train.m", *QUICK)[2] == "stopped after 0 of 10 folds\n"


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_real_ctrl_c_ends_evaluate_without_a_traceback(here, jobs):
    rx.write_lynx(rx.planted_rule(800, n_events=12, random_state=0)[0], "long.m")
    options = ["--folds", "10", "--max-length", "3", "--no-baselines", "--jobs", jobs]
    process = subprocess.Popen(
        [sys.executable, "-m", "relynx", "evaluate", "long.m", "-b", "rule.l", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr.readline().startswith("folds: 1 of 10, ")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    lines = [line for line in err.splitlines() if not line.startswith("folds: ")]
    assert len(lines) == 1
    assert re.fullmatch(r"stopped after \d of 10 folds; mean so far [01]\.\d+", lines[0])


# What they show with


def test_steps_without_a_terminal_print_some_lines_and_the_last(capsys):
    with steps("folds", 3) as step:
        for i in range(3):
            step(f"part {i}")
    assert capsys.readouterr().err.splitlines() == [
        "folds: 1 of 3, part 0",
        "folds: 3 of 3, part 2",
    ]


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_steps_on_a_terminal_are_a_bar_that_goes_away():
    console = terminal()
    with steps("folds", 2, console) as step:
        step("part 1")
        step("part 2")
    shown = console.file.getvalue()
    assert "folds: part 2" in shown
    assert "2/2" in shown
    assert shown.endswith("\x1b[1A\x1b[2K")


def test_working_shows_the_time_on_a_terminal():
    console = terminal()
    with working("learning", console):
        pass
    assert "learning" in console.file.getvalue()
    assert "0:00:00" in console.file.getvalue()


def test_warnings_are_printed_once_as_they_are(capsys):
    with plain_warnings():
        for text in ("[bold] and so", "[bold] and so", "and so"):
            warnings.warn(text, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: [bold] and so\nwarning: and so\n"


def test_what_a_search_leaves_out_is_told_once(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = ["case,day,label," + ",".join(f"p{k}" for k in range(12))]
    for case in range(30):
        for day in range(40):
            values = ",".join(f"v{v}" for v in rng.integers(8, size=12))
            rows.append(f"{case},{day},{'ab'[case % 2]},{values}")
    Path("table.csv").write_text("\n".join(rows))
    columns = ["table.csv", "--sequence", "case", "--order", "day", "--label", "label"]
    how = [*columns, "--max-length", "1", "--budget", "0.01"]
    for command in (["fit", *how, "-o", "model.relynx"], ["evaluate", *how, "--folds", "2"]):
        assert cli.main(command) == 0
        printed = capsys.readouterr().err
        assert printed.count("are left out; a bias with mode(p0(+,*))") == 1
        assert printed.count("warning: ") == 1, printed


def test_a_table_shows_text_as_it_is(capsys):
    show_table(["a", "b"], [["[red]x", "1"], ["y", "22"]])
    assert capsys.readouterr().out == "a        b\n[red]x   1\ny       22\n"


def test_long_names_in_a_table_are_shortened_to_the_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    names = ["北京" * 30, "beginning " + "x" * 60 + " end", "short"]
    show_table(["class", "n"], [[name, "1,234,567"] for name in names])
    lines = capsys.readouterr().out.splitlines()
    assert {n_cells(line) for line in lines} == {40}
    assert all(line.endswith("1,234,567") for line in lines[1:])
    assert lines[2].startswith("beginning xxx")
    assert "…xxxxx end" in lines[2]
    show_table(["class", "taken for", "n"], [[names[0], names[1], "5"]], texts=2)
    assert all(n_cells(line) <= 40 for line in capsys.readouterr().out.splitlines())


def test_a_table_of_many_numbers_loses_no_digits(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    show_table(["a", *"bcdefghi"], [["x" * 50, *["1,234,567"] * 8]])
    assert capsys.readouterr().out.count("1,234,567") == 8


def test_of_many_classes_fit_and_evaluate_show_a_few(capsys, tmp_path):
    names = [f"上海浦东新区 with a rather long name indeed {i}" for i in range(25)]
    X, _ = rx.from_lists(
        [[f"a{i % 5}", "b"] for i in range(75)], [names[i % 25] for i in range(75)]
    )
    rx.write_lynx(X, tmp_path / "d.m")
    options = ("--max-length", "1", "--method", "sparse")
    code, out, _ = run(
        capsys, "fit", str(tmp_path / "d.m"), "-o", str(tmp_path / "m.relynx"), *options
    )
    assert code == 0
    assert out.splitlines()[1].split()[:2] == ["25", "classes"]
    options += ("--folds", "3", "--no-baselines")
    code, out, _ = run(capsys, "evaluate", str(tmp_path / "d.m"), *options)
    lines = out.splitlines()
    [i] = [i for i, line in enumerate(lines) if "most often predicted as" in line]
    assert len(lines[i:]) == 7
    assert re.fullmatch(r"and \d+ more pairs of classes, \d+ sequences", lines[-1])
    assert max(map(n_cells, lines[1:])) <= 80
