"""`relynx mine`: what it writes, what it shows, and how it ends."""

import io
import json
import re

import pytest
from rich.console import Console

import relynx as rx
from relynx import cli
from relynx.console import mining_progress, progress_text
from relynx.mining import search
from relynx.mining.search_report import Progress

DATA = """\
begin(s1,up). a(e1,x). next_s(e1,e2). b(e2). end.
begin(s2,down). a(e1,y). end.
begin(s3,up). a(e1,x). next_s(e1,e2). b(e2). next_s(e2,e3). a(e3,y). end.
"""
BIAS = """\
type(a(event,t)). mode(a(-,#)). mode(a(+,#)).
type(b(event)). mode(b(-)). mode(b(+)).
dimension(next_s).
maxsize(2).
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with data and a bias that is the current one, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.m").write_text(DATA)
    (tmp_path / "train.l").write_text(BIAS)
    return tmp_path


def run(capsys, *args):
    """Exit code, standard output and standard error of `relynx mine train.m`."""
    code = cli.main(["mine", "train.m", *args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def found():
    X, y = rx.read_lynx("train.m")
    return rx.mine(X, y, rx.read_bias("train.l"))


def test_csv_holds_what_mine_finds(capsys, here, found):
    code, out, _ = run(capsys, "-b", "train.l", "-o", "found.csv")
    found.to_csv("wanted.csv")
    assert code == 0
    assert len(found) > 3
    assert (here / "found.csv").read_text() == (here / "wanted.csv").read_text()
    last = out.splitlines()[-1]
    assert last == (
        f"found.csv: {len(found)} patterns of 3 sequences, 2 classes, 9 facts, dimensions s"
    )


def test_json_lines_and_parquet_go_by_the_ending(capsys, here, found):
    polars = pytest.importorskip("polars")
    assert run(capsys, "-b", "train.l", "-o", "found.jsonl")[0] == 0
    assert run(capsys, "-b", "train.l", "-o", "found.parquet")[0] == 0
    lines = (here / "found.jsonl").read_text().splitlines()
    assert [json.loads(line)["pattern"] for line in lines] == list(found.texts())
    assert polars.read_parquet("found.parquet")["pattern"].to_list() == list(found.texts())


def test_the_table_has_a_row_for_each_length(capsys, found):
    _, out, _ = run(capsys, "-b", "train.l", "-o", "found.csv")
    header, *rows = out.splitlines()[:-1]
    assert header.split() == [
        "length",
        "occurred",
        "min_frequency",
        "min_support",
        "constraints",
        "repeated",
        "kept",
        "answer",
    ]
    answers = [(int(row.split()[0]), int(row.split()[-1])) for row in rows]
    assert answers == [(n, int((found.lengths == n).sum())) for n in (1, 2)]


def test_options_win_over_the_bias(capsys, here):
    options = ("--max-length", "1", "--min-support", "1", "--min-frequency", "2")
    assert run(capsys, "-b", "train.l", "-o", "found.jsonl", *options)[0] == 0
    lines = (here / "found.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["pattern"] for line in lines) == ["a(A,x)", "a(A,y)", "b(A)"]


def test_without_a_bias_one_is_inferred(capsys, here):
    assert run(capsys, "-o", "found.csv", "--max-length", "1")[0] == 0
    assert "b(A)" in (here / "found.csv").read_text()


def test_background_rules_make_predicates(capsys, here):
    (here / "rules.bk").write_text("c(E) :- a(E,x).\n")
    (here / "train.l").write_text(BIAS + "type(c(event)). mode(c(-)).\n")
    assert run(capsys, "-b", "train.l", "-k", "rules.bk", "-o", "found.csv")[0] == 0
    assert "c(A),1,2,0,2,0.0,1.0\n" in (here / "found.csv").read_text()


def test_when_nothing_is_found_the_search_is_explained(capsys):
    code, out, _ = run(capsys, "-b", "train.l", "-o", "found.csv", "--min-frequency", "3")
    assert code == 0
    assert "with min_frequency=2 there would be more" in out
    assert out.splitlines()[-1].startswith("found.csv: 0 patterns of 3 sequences")


def test_a_time_limit_keeps_what_is_found_and_says_so(capsys, here):
    code, _, err = run(capsys, "-b", "train.l", "-o", "found.csv", "--time-limit", "0")
    assert code == 0
    assert re.search(r"^stopped by time_limit=0 .*; complete up to length \d+$", err, re.MULTILINE)
    assert (here / "found.csv").exists()


def test_ctrl_c_says_that_nothing_was_written(capsys, here, monkeypatch):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "mine", interrupted)
    (here / "found.csv").write_text("old")
    code, out, err = run(capsys, "-b", "train.l", "-o", "found.csv")
    assert (code, out, err) == (130, "", "stopped; nothing was written to found.csv\n")
    assert (here / "found.csv").read_text() == "old"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "found.xls"), "Error: found.xls ends in none of .csv, .jsonl, .parquet\n"),
        (
            ("-o", "found.csv", "--min-support", "2"),
            "Error: Invalid value for '--min-support': 2.0 is not in the range 0<=x<=1.\n",
        ),
        (("-b", "none.l", "-o", "found.csv"), "none.l: there is no such file\n"),
        (
            ("-b", "train.l", "-o", "none/found.csv"),
            "none/found.csv: this file cannot be written (No such file or directory)\n",
        ),
    ],
)
def test_a_wrong_argument_ends_with_2_and_a_message(capsys, args, message):
    code, out, err = run(capsys, *args)
    assert (code, out) == (2, "")
    assert err.endswith(message)
    assert "Traceback" not in err


# Progress


def test_progress_tells_length_patterns_rate_memory_and_time():
    assert progress_text(Progress(3, 12_000, 4.0, 312_400_000)) == (
        "length 3: 12,000 patterns, 3,000/s, 312 MB, 4.0 s"
    )
    assert progress_text(Progress(1, 0, 0.0, 0)) == "length 1: 0 patterns, 0/s, 0 MB, 0.0 s"


def test_without_a_terminal_there_is_a_line_a_length_and_one_now_and_then():
    out = io.StringIO()
    with mining_progress(Console(file=out, width=200)) as progress:
        for length, seconds in ((1, 0.5), (1, 1.0), (2, 1.5), (2, 3.0), (2, 6.6), (2, 6.8)):
            progress(Progress(length, 10, seconds, 0))
    assert [line.split(", ")[-1] for line in out.getvalue().splitlines()] == [
        "0.5 s",
        "1.5 s",
        "6.6 s",
    ]


def test_on_a_terminal_one_line_is_kept_up_to_date():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with mining_progress(console) as progress:
        progress(Progress(2, 500, 1.0, 0))
    shown = out.getvalue()
    assert "length 2: 500 patterns" in shown
    assert shown.endswith("\r\x1b[1A\x1b[2K")  # and taken away at the end
