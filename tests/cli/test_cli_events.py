"""Commands that read tables of events."""

import csv

import polars as pl
import pytest

import relynx as rx
from relynx import cli
from relynx.cli.learning import INFERRED
from relynx.mining.english import n_cells

COLUMNS = ("--sequence", "case", "--order", "at", "--label", "class")
QUICK = ("--max-length", "2", "--max-iter", "3", "--n-features", "2")


def write(path, table):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def events(X):
    """Sequences of the planted rule as a table."""
    table = {"case": [], "at": [], "action": [], "object": [], "class": []}
    for sequence in X:
        steps = [atom.args for atom in sequence.atoms if atom.predicate == "do"]
        for at, (_, action, thing) in enumerate(sorted(steps, key=lambda args: int(args[0][1:]))):
            row = (sequence.id, at, action, thing, sequence.label)
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
    return table


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n in (("train.csv", 40), ("test.csv", 10)):
        write(name, events(rx.planted_rule(n, random_state=n)[0]))
    return tmp_path


def run(capsys, *args):
    code = cli.main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


READING = [
    "sequence  case, by at",
    "label     class (text)",
    "fluent    action(E,V): action (text)",
    "fluent    object(E,V): object (text)",
]


def test_check_says_how_a_table_is_read(capsys):
    code, out, err = run(capsys, "check", "train.csv", *COLUMNS)
    first, *reading = out.splitlines()
    assert (code, err, reading) == (0, "", READING)
    assert first.startswith("train.csv: 40 sequences, 2 classes, ")


def test_check_without_options_names_the_columns(capsys):
    assert run(capsys, "check", "train.csv") == (
        2,
        "",
        "train.csv: the columns of this table are case, at, action, object, class\n"
        "hint: say which column names the sequence, --sequence, and which orders its events, "
        "--order\n",
    )


def test_check_reports_the_problems_of_a_table_and_of_a_bias_together(capsys, here):
    (here / "b.l").write_text("type(do(event,a)). mode(do(+,#)). dimension(next_s).")
    code, _, err = run(capsys, "check", "train.csv", "b.l", *COLUMNS)
    assert code == 2
    assert err.startswith("b.l:1:6: ")


def test_mine_reads_a_table(capsys, here):
    args = ("mine", "train.csv", *COLUMNS, "--max-length", "1", "-o", "p.csv")
    code, _, err = run(capsys, *args)
    assert code == 0
    assert err.splitlines()[:4] == READING
    X, y = rx.from_events("train.csv", sequence="case", order="at", label="class")
    rx.mine(X, y, max_length=1).to_csv("wanted.csv")
    assert (here / "p.csv").read_text() == (here / "wanted.csv").read_text()


def test_a_model_reads_a_later_table_as_the_first(capsys, here):
    code, _, err = run(capsys, "fit", "train.csv", *COLUMNS, *QUICK, "-o", "m.relynx")
    assert code == 0
    assert err.splitlines()[:5] == [*READING, INFERRED]
    code, out, _ = run(capsys, "predict", "m.relynx", "test.csv", "-o", "p.csv")
    assert code == 0
    assert out.splitlines()[0].startswith("accuracy ")
    model = rx.load("m.relynx")
    X, _ = rx.from_events("test.csv", reading=model.reading_)
    with open("p.csv", newline="") as file:
        assert [row["predicted"] for row in csv.DictReader(file)] == model.predict(X).tolist()


def test_tables_may_be_parquet_and_need_no_class_to_predict(capsys):
    pl.read_csv("train.csv").write_parquet("train.parquet")
    pl.read_csv("test.csv").drop("class").write_parquet("test.parquet")
    assert run(capsys, "fit", "train.parquet", *COLUMNS, *QUICK, "-o", "m.relynx")[0] == 0
    code, out, _ = run(capsys, "predict", "m.relynx", "test.parquet", "-o", "p.csv")
    assert (code, out) == (0, "p.csv: 10 predictions\n")


def test_evaluate_reads_a_table(capsys):
    args = ("evaluate", "train.csv", *COLUMNS, *QUICK, "--folds", "2", "--no-baselines")
    code, out, _ = run(capsys, *args)
    assert code == 0
    assert out.startswith("train.csv: 40 sequences, 2 classes, ")


def test_background_rules_go_with_a_table(capsys, here):
    (here / "r.bk").write_text("start(E) :- action(E,a0).")
    args = ("mine", "train.csv", *COLUMNS, "-k", "r.bk", "--max-length", "1", "-o", "p.csv")
    assert run(capsys, *args)[0] == 0
    assert "start(A)" in (here / "p.csv").read_text()
    assert run(capsys, "fit", "train.csv", *COLUMNS, *QUICK, "-k", "r.bk", "-o", "m.relynx")[0] == 0
    assert run(capsys, "predict", "m.relynx", "test.csv", "-k", "r.bk", "-o", "q.csv")[0] == 0


def test_the_columns_to_use_and_several_orders_may_be_given(capsys, here):
    write(
        "ward.csv", {"w": [1, 1], "day": [1, 2], "bed": [1, 1], "Is Ill": ["y", "n"], "x": [1, 2]}
    )
    order = ("--order", "day=day", "--order", "bed=bed")
    code, out, _ = run(
        capsys, "check", "ward.csv", "--sequence", "w", *order, "--fluents", "Is Ill,x"
    )
    assert code == 0
    assert out.splitlines() == [
        "ward.csv: 1 sequence, 5 facts, dimensions day",
        "sequence  w, by day (dimension day), then bed (dimension bed)",
        "fluent    is_ill(E,V): Is Ill (text)",
        "fluent    x(E,V): x (integer)",
    ]


def test_columns_may_be_joined_in_one_predicate(capsys):
    fluents = ("--fluents", "did=action,object", "--fluents", "class,action")
    code, out, _ = run(capsys, "check", "train.csv", "--sequence", "case", *fluents)
    assert code == 0
    assert out.splitlines()[2:] == [
        "fluent    did(E,V1,V2): action (text), object (text)",
        "fluent    class(E,V): class (text)",
        "fluent    action(E,V): action (text)",
        "note      'at' is not used: neither fluents nor attributes names it",
    ]


BINS = {"case": [i // 6 for i in range(24)], "n": list(range(24)), "m": list(range(0, 48, 2))}


@pytest.mark.parametrize(
    ("options", "n", "m"),
    [
        ((), "(<6, 6..12, 12..18, >=18)", "(<12, 12..24, 24..35, >=35)"),
        (("--bins", "2"), "(<12, >=12)", "(<24, >=24)"),
        (("--bins", "width:2"), "(<11.5, >=11.5)", "(<23, >=23)"),
        (("--bins", "none"), "(integer)", "(integer)"),
        (("--bins", "5,7.5"), "(<5, 5..7.5, >=7.5)", "(<5, 5..7.5, >=7.5)"),
        (("--bins", "n=5,", "--bins", "m=none"), "(<5, >=5)", "(integer)"),
    ],
)
def test_bins_may_be_given(capsys, options, n, m):
    write("n.csv", BINS)
    code, out, err = run(capsys, "check", "n.csv", "--sequence", "case", *options)
    assert (code, err) == (0, "")
    assert out.splitlines()[2:] == [f"fluent    n(E,V): n {n}", f"fluent    m(E,V): m {m}"]


def test_attributes_may_be_given(capsys):
    write("n.csv", {"case": [1, 1], "age": [3, 3], "sex": ["f", "f"], "do": ["a", "b"]})
    rules = ("check", "n.csv", "--sequence", "case", "--fluents", "do")
    _, out, _ = run(capsys, *rules, "--attributes", "age,sex")
    assert out.splitlines()[3:] == [
        "attribute age(V): age (integer)",
        "attribute sex(V): sex (text)",
    ]
    _, out, _ = run(capsys, *rules, "--attributes", "age", "--attributes", "sex")
    assert len(out.splitlines()) == 5
    _, out, _ = run(capsys, *rules[:-2], "--attributes", "")
    assert "fluent    age(E,V): age (integer)" not in out.splitlines()
    assert "column 'age' is left out: it has the same value in every row" in out


def test_predict_passes_over_labels_with_gaps_and_says_so(capsys):
    table = events(rx.planted_rule(10, random_state=10)[0])
    first = table["case"][0]
    table["class"] = [
        "" if case == first else mark
        for case, mark in zip(table["case"], table["class"], strict=True)
    ]
    write("half.csv", table)
    assert run(capsys, "fit", "train.csv", *COLUMNS, *QUICK, "-o", "m.relynx")[0] == 0
    code, out, err = run(capsys, "predict", "m.relynx", "half.csv", "-o", "p.csv")
    assert (code, out) == (0, "p.csv: 10 predictions\n")
    assert err.splitlines()[0] == (
        f"note: no labels are read: column 'class' has no label for 1 sequence ({first})"
    )


def test_no_command_reads_the_further_tables_of_a_model(capsys):
    table = {"m": [1, 2, 3, 4] * 2, "el": list("coco") * 2, "y": list("abab") * 2}
    X, y = rx.from_events(
        table, sequence="m", label="y", relations={"w": {"m": [1, 2], "kg": ["x", "y"]}}
    )
    rx.save(rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, y), "m.relynx")
    assert run(capsys, "predict", "m.relynx", "test.csv", "-o", "p.csv") == (
        2,
        "",
        "test.csv: the model was learnt with further tables: 'w'\n"
        "hint: in Python: X, y = rx.from_events(table, reading=model.reading_, relations={...})\n",
    )


ORDERS = "give one column, or each as dimension=column: --order day=date --order bed=number"
FLUENTS = "give columns, as a,b, or a predicate with its columns, as did=a,b"
CUTS = "give a number of ranges, width:5, cuts such as 10,100 (one cut: 10,), supervised, or none"


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("--fluents", "did="), "--fluents did= names no column", FLUENTS),
        (("--fluents", "=at"), "--fluents =at names no predicate", FLUENTS),
        (
            ("--fluents", "did=action", "--fluents", "did=object"),
            "--fluents gives 'did' twice",
            "give each name once",
        ),
        (
            ("--fluents", "object=action", "--fluents", "object"),
            "--fluents gives 'object' twice",
            "give each name once",
        ),
        (("--fluents", "at,at"), "--fluents gives 'at' twice", "give each name once"),
        (("--order", "d="), "--order d= names no column", ORDERS),
        (("--order", "=at"), "--order =at names no dimension", ORDERS),
        (
            ("--order", "d=at", "--order", "d=action"),
            "--order gives 'd' twice",
            "give each name once",
        ),
        (("--bins", "many"), "--bins many is not understood", CUTS),
        (("--bins", "at=1,x"), "--bins 1,x is not understood", CUTS),
        (("--bins", "2", "--bins", "3"), "--bins is given twice", "give each name once"),
        (("--bins", "at=2", "--bins", "at=3"), "--bins gives 'at' twice", "give each name once"),
        (
            ("--bins", "2", "--bins", "at=3"),
            "--bins is given for all columns and for some",
            "give it for each column: --bins cost=5 --bins age=20,60",
        ),
    ],
)
def test_options_that_say_nothing_or_two_things_are_refused(capsys, options, message, hint):
    args = ("check", "train.csv", "--sequence", "case", *options)
    assert run(capsys, *args) == (2, "", f"{message}\nhint: {hint}\n")


def test_a_note_of_the_inferred_bias_is_printed(capsys):
    n = 120
    table = {
        "case": [i // 3 for i in range(n)],
        "at": list(range(n)),
        "step": [("a", "b")[i % 2] for i in range(n)],
        "room": [f"r{i % 60}" for i in range(n)],
        "class": [("u", "w")[i // 3 % 2] for i in range(n)],
    }
    write("rooms.csv", table)
    _, _, err = run(capsys, "fit", "rooms.csv", *COLUMNS, *QUICK, "-o", "m.relynx")
    assert "note: room/2: argument 2 has 60 values: the 60 most common may be constant" in err


def test_minutes_cut_by_class_go_with_the_model(capsys):
    n = 120
    table = {
        "case": [i // 3 for i in range(n)],
        "at": list(range(n)),
        "cost": [i % 3 + (40 if i // 3 % 2 else 0) + i / 1000 for i in range(n)],
        "class": [("u", "w")[i // 3 % 2] for i in range(n)],
    }
    write("costs.csv", table)
    options = (*COLUMNS, *QUICK, "--bins", "cost=supervised", "-o", "m.relynx")
    code, _, err = run(capsys, "fit", "costs.csv", *options)
    assert code == 0
    assert "cost (number, to be cut by class)" in err
    code, out, _ = run(capsys, "predict", "m.relynx", "costs.csv", "-o", "told.csv")
    assert code == 0
    assert "accuracy 1.000" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("mine", "train.csv", "--sequence", "case", "--order", "a", "--order", "b"),
            "--order a names no dimension\nhint: give one column, or each as dimension=column: "
            "--order day=date --order bed=number\n",
        ),
        (
            ("mine", "train.csv", "--sequence", "csae"),
            "train.csv: there is no column 'csae', given as sequence\nhint: did you mean 'case'?\n",
        ),
        (
            ("mine", "rule.m", "--sequence", "case"),
            "rule.m: this is no table: it has no columns to choose\nhint: tables end in .csv, "
            ".tsv, .csv.gz, .parquet, .xlsx; leave out --sequence, --order, --label\n",
        ),
        (
            ("fit", "train.csv", "--sequence", "case", "--fluents", "action"),
            "sequence  case, rows in order\nfluent    action(E,V): action (text)\n"
            "note      'at', 'object', 'class' are not used: neither fluents nor attributes names "
            "them\n"
            "train.csv: the sequences have no classes\nhint: say which column is the class, with "
            "--label\n",
        ),
    ],
)
def test_what_is_wrong_is_said(capsys, args, message):
    output = "m.relynx" if args[0] == "fit" else "p.csv"
    assert run(capsys, *args, "-o", output) == (2, "", message)


def test_a_model_of_other_files_does_not_know_how_to_read_a_table(capsys):
    X, y = rx.planted_rule(40, random_state=0)
    rx.save(rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, y), "m.relynx")
    assert run(capsys, "predict", "m.relynx", "test.csv", "-o", "p.csv") == (
        2,
        "",
        "test.csv: the model was not learnt from a table, so it does not say how to read this one\n"
        "hint: give sequences as those of fit, or learn the model from a table\n",
    )


def test_a_table_has_markers_of_missing_values_and_dates_of_a_format(capsys):
    days = [f"{i + 1}/02/2024" for i in range(12)]
    prices = [*range(10), "none", -999]
    write("days.csv", {"case": [1] * 12, "day": days, "price": prices})
    columns = ("--sequence", "case", "--order", "day", "--date-format", "%d/%m/%Y")
    code, out, _ = run(capsys, "check", "days.csv", *columns, "--na-values", "none,-999")
    assert (code, out.splitlines()[1:]) == (
        0,
        [
            "sequence  case, by day",
            "fluent    price(E,V): price (integer)",
            "missing   none, -999",
            "dates     %d/%m/%Y",
        ],
    )
    code, _, err = run(capsys, "check", "days.csv", *columns[:4])
    assert code == 2
    assert "or the format of these: date_format=" in err


def test_a_log_needs_no_markers(capsys):
    code, _, err = run(capsys, "fit", "log.xes", "-o", "m.relynx", "--na-values", "-999")
    assert (code, err) == (
        2,
        "log.xes: an event log says itself what is missing and what a date is\n"
        "hint: leave out --na-values and --date-format\n",
    )


def test_evaluate_tests_on_what_begins_last(capsys, here):
    table = events(rx.planted_rule(40, random_state=0)[0])
    numbers = {name: i for i, name in enumerate(dict.fromkeys(table["case"]))}
    table["day"] = [f"2024-01-{1 + numbers[case] % 28:02}" for case in table["case"]]
    table["when"] = [
        1000 * numbers[case] + at for case, at in zip(table["case"], table["at"], strict=True)
    ]
    write("timed.csv", table)
    columns = ("--sequence", "case", "--label", "class")
    options = (*QUICK, "--no-baselines", "--time-split")
    code, out, _ = run(
        capsys, "evaluate", "timed.csv", *columns, "--order", "when", *options, "0.25"
    )
    assert (code, out.splitlines()[1]) == (0, "10 sequences held out, the last to begin")
    code, again, _ = run(
        capsys, "evaluate", "timed.csv", *columns, "--order", "at", *options, "when=0.25"
    )
    assert (code, again.splitlines()[1]) == (0, out.splitlines()[1])
    assert again.splitlines()[-2:] == out.splitlines()[-2:]
    code, out, _ = run(
        capsys, "evaluate", "timed.csv", *columns, "--order", "at", *options, "day=0.25"
    )
    assert (code, out.splitlines()[1]) == (0, "10 sequences held out, the last to begin")


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (
            "0.2",
            "all sequences begin at the same time, so none is later\n"
            "hint: order the events by a time that goes on between sequences\n",
        ),
        (
            "att=0.2",
            "train.csv: there is no column 'att', given as order\nhint: did you mean 'at'?\n",
        ),
    ],
)
def test_a_split_by_time_needs_times(capsys, split, message):
    code, out, err = run(capsys, "evaluate", "train.csv", *COLUMNS, *QUICK, "--time-split", split)
    assert (code, out) == (2, "")
    assert err.endswith(message)


def test_many_columns_are_named_in_lines_that_fit_on_the_screen(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    names = [f"温度 number {i}" for i in range(60)]
    path.write_text(",".join(names) + "\n" + ",".join("1" * 60) + "\n", encoding="utf-8")
    assert cli.main(["check", str(path)]) == 2
    first, *lines = capsys.readouterr().err.splitlines()[:-1]
    assert first.endswith("the columns of this table are")
    assert max(map(n_cells, lines)) <= 80
    assert " ".join(line.strip() for line in lines) == ", ".join(names)
    assert all(line.strip().startswith("温度 number") for line in lines)
