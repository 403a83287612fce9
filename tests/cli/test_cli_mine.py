"""`relynx mine`: what it writes, what it shows, and how it ends."""

import io
import json
import re
import signal
import subprocess
import sys
import threading

import pytest
from rich.console import Console

import relynx as rx
from relynx import cli
from relynx.cli import files
from relynx.console import mining_progress, progress_text
from relynx.data.tables import frames
from relynx.mining import budget, search
from relynx.mining.report import Progress

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


def test_jobs_change_nothing_in_the_file(capsys, here, monkeypatch):
    assert run(capsys, "-b", "train.l", "-o", "one.csv")[0] == 0
    asked, whole = [], search.mine

    def mine(*args, n_jobs, **settings):
        asked.append(n_jobs)
        return whole(*args, n_jobs=n_jobs, **settings)

    monkeypatch.setattr(search, "mine", mine)
    assert run(capsys, "-b", "train.l", "-o", "two.csv", "--jobs", "2")[0] == 0
    assert asked == [2]
    assert (here / "one.csv").read_bytes() == (here / "two.csv").read_bytes()


def test_json_lines_and_parquet_go_by_the_ending(capsys, here, found):
    polars = pytest.importorskip("polars")
    assert run(capsys, "-b", "train.l", "-o", "found.jsonl")[0] == 0
    assert run(capsys, "-b", "train.l", "-o", "found.parquet")[0] == 0
    lines = (here / "found.jsonl").read_text().splitlines()
    assert [json.loads(line)["pattern"] for line in lines] == list(found.texts())
    assert polars.read_parquet("found.parquet")["pattern"].to_list() == list(found.texts())


@pytest.mark.parametrize(
    ("given", "most"),
    [
        (["down=0.5"], {"down": 0.5}),
        (["down=0"], {"down": 0}),
        (["up=1", "down=.5"], {"up": 1, "down": 0.5}),
    ],
)
def test_max_support_of_a_class_is_a_share_or_a_number_of_sequences(capsys, here, given, most):
    options = [part for one in given for part in ("--max-support", one)]
    assert run(capsys, "-b", "train.l", "-o", "found.csv", *options)[0] == 0
    X, y = rx.read_lynx("train.m")
    everything = rx.mine(X, y, rx.read_bias("train.l"))
    found = rx.mine(X, y, rx.read_bias("train.l"), max_support=most)
    found.to_csv("wanted.csv")
    assert 0 < len(found) < len(everything)
    assert (here / "found.csv").read_text() == (here / "wanted.csv").read_text()


@pytest.mark.parametrize("measure", [None, "support", "length"])
def test_the_best_patterns_are_chosen_by_a_measure(capsys, here, found, measure):
    asked = () if measure is None else ("--measure", measure)
    assert run(capsys, "-b", "train.l", "-o", "found.csv", "--top-k", "2", *asked)[0] == 0
    found.top_k(2, measure or "confidence").to_csv("wanted.csv")
    assert (here / "found.csv").read_text() == (here / "wanted.csv").read_text()


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
    assert "min_frequency=2 would keep more" in out
    assert out.splitlines()[-1].startswith("found.csv: 0 patterns of 3 sequences")


def test_a_time_limit_keeps_what_is_found_and_says_so(capsys, here):
    code, _, err = run(capsys, "-b", "train.l", "-o", "found.csv", "--time-limit", "0")
    assert code == 0
    assert re.search(r"^stopped by time_limit=0 .*; complete up to length \d+$", err, re.MULTILINE)
    assert (here / "found.csv").exists()


def test_a_memory_limit_keeps_what_is_found_and_says_what_made_it_large(capsys, here, monkeypatch):
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    options = ("--memory-limit", "0.5 kB", "--max-length", "2")
    code, _, err = run(capsys, "-b", "train.l", "-o", "found.csv", *options)
    assert code == 0
    ended = "stopped by memory_limit=500 at length 1; complete up to length 0\nwhat made it large, "
    assert ended in err
    assert (here / "found.csv").exists()


def test_where_the_memory_of_the_machine_ends_a_search_that_is_said_once(capsys, monkeypatch):
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(budget, "default_memory_limit", lambda: 1000)
    code, _, err = run(capsys, "-b", "train.l", "-o", "found.csv", "--max-length", "2")
    assert code == 0
    assert err.count("stopped by the memory of the machine, of which 1,000 bytes may be used") == 1
    assert err.count("what made it large") == 1


@pytest.mark.parametrize(
    ("size", "n"), [("4GB", 4e9), ("500 mb", 5e8), ("1.5k", 1500), ("123", 123), ("2T", 2e12)]
)
def test_sizes_are_read_with_units_of_a_thousand(size, n):
    assert files._n_bytes(size) == n


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
        (
            ("-o", "found.csv", "--min-support", "nan"),
            "min_support is nan: give a share from 0 to 1\n",
        ),
        (
            ("-o", "found.csv", "--max-gap", "20000"),
            "max_gap is 20000: give an integer of at most 10,000\n",
        ),
        (
            ("-o", "found.csv", "--memory-limit", "much"),
            "Error: --memory-limit is 'much': give a size, 4GB or 500MB, or a number of bytes\n",
        ),
        (
            ("-o", "found.csv", "--max-support", "down"),
            "Error: --max-support is 'down': give a class and a proportion, no=0.05, or a class "
            "and a number of sequences, no=2\n",
        ),
        (
            ("-o", "found.csv", "--max-support", "left=0.1"),
            "unknown class 'left': the classes are 'down', 'up'\n",
        ),
        (("-o", "found.csv", "--measure", "chi"), "unknown measure 'chi': did you mean 'chi2'?\n"),
    ],
)
def test_a_wrong_argument_ends_with_2_and_a_message(capsys, args, message):
    code, out, err = run(capsys, *args)
    assert (code, out) == (2, "")
    assert err.endswith(message)
    assert "Traceback" not in err


def no_search(*args, **settings):
    raise AssertionError("this was to be found out before the search")


def test_a_file_that_cannot_be_written_is_told_before_the_search(capsys, here, monkeypatch):
    monkeypatch.setattr(search, "mine", no_search)
    (here / "folder.csv").mkdir()
    assert run(capsys, "-o", "folder.csv") == (
        2,
        "",
        "folder.csv: this file cannot be written (Is a directory)\n",
    )
    assert run(capsys, "-o", "none/found.csv")[0] == 2
    assert sorted(path.name for path in here.iterdir()) == ["folder.csv", "train.l", "train.m"]


def test_a_library_that_is_missing_is_told_before_the_search(capsys, monkeypatch):
    monkeypatch.setattr(search, "mine", no_search)
    monkeypatch.setattr(frames, "find_spec", lambda library: None)
    assert run(capsys, "-o", "found.parquet") == (
        2,
        "",
        "Parquet files need polars or pyarrow, and neither is installed\n"
        "hint: pip install polars, or write .csv or .jsonl\n",
    )


def test_the_ending_may_have_capitals_and_an_old_file_is_replaced(capsys, here):
    (here / "FOUND.CSV").write_text("old")
    assert run(capsys, "-b", "train.l", "-o", "FOUND.CSV")[0] == 0
    assert (here / "FOUND.CSV").read_text().startswith("pattern,length,")


def test_when_no_atom_occurs_the_search_says_so(capsys, here):
    (here / "train.l").write_text("type(a(event,t)). mode(a(+,#)). values(t,[z]).\n")
    code, out, _ = run(capsys, "-b", "train.l", "-o", "found.csv")
    assert code == 0
    assert "length 1: no candidate occurs in the sequences" in out


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


# Ctrl-C

EXPLODING = """
import os, signal, sys, threading
from random import Random
from relynx import cli, console

signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored outside

class Pressed(console.MiningProgress):
    def __call__(self, progress):
        for _ in range(int(sys.argv[1])):
            os.kill(os.getpid(), signal.SIGINT)
        return super().__call__(progress)

console.MiningProgress = Pressed
random = Random(3)
with open("long.m", "w") as file:
    for i in range(60):
        letters = random.choices("abcdefgh", k=40)
        file.write(f"begin(s{i},up). {' < '.join(letters)}. end.\\n")
sys.exit(cli.main(["mine", "long.m", "-o", "found.csv", "--max-length", "12",
                   "--min-support", "0.01", "--max-gap", "6"]))
"""
STOPPING = "\nstopping; what is found is kept, unless you press Ctrl-C again\n"


def interrupted(times):
    """Mine what would take days, with Ctrl-C so often at the first progress."""
    return subprocess.run(
        [sys.executable, "-c", EXPLODING, str(times)], capture_output=True, text=True, timeout=300
    )


def test_ctrl_c_keeps_what_is_found_and_says_so(here):
    ended = interrupted(1)
    assert ended.returncode == 130
    assert STOPPING in ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(r"stopped by the caller at length \d+; complete up to length \d+", last)
    lines = (here / "found.csv").read_text().splitlines()
    assert f"found.csv: {len(lines) - 1:,} patterns of 60 sequences" in ended.stdout
    assert "b(A),1,60,60,1.0" in lines
    assert "Traceback" not in ended.stderr


def test_a_second_ctrl_c_ends_at_once_and_writes_nothing(here):
    ended = interrupted(2)
    assert ended.returncode == 130
    assert ended.stderr.endswith(STOPPING + "stopped; nothing was written to found.csv\n")
    assert not (here / "found.csv").exists()
    assert "Traceback" not in ended.stderr


def test_in_a_thread_progress_leaves_ctrl_c_alone():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def show():
        with mining_progress(Console(file=io.StringIO())) as progress:
            seen.append((signal.getsignal(signal.SIGINT), progress(Progress(1, 0, 0.0, 0))))

    thread = threading.Thread(target=show)
    thread.start()
    thread.join()
    assert seen == [(before, True)]


def test_ctrl_c_is_as_before_when_the_search_is_over():
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored there
    try:
        with mining_progress(Console(file=io.StringIO())):
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, outside)
