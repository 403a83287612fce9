"""The command line: what it prints, and how it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import relynx
from relynx import __version__, cli

COMMANDS = ("check", "demo", "evaluate", "explain", "fit", "mine", "predict", "reproduce", "warmup")
DATA = """\
begin(s1,up). a(e1,x). next_s(e1,e2). b(e2). end.
begin(s2,down). a(e1,y). end.
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder that is the current one, so that messages hold short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *args):
    """Exit code, standard output and standard error of a command."""
    code = cli.main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_version_is_printed(capsys):
    assert run(capsys, "--version") == (0, f"relynx {__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_command_in_a_whole_sentence(capsys, option):
    code, out, err = run(capsys, option)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: relynx [OPTIONS] COMMAND [ARGS]...")
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert "..." not in out.split("Commands:")[1]


def test_an_unknown_command_is_the_users_error(capsys):
    code, out, err = run(capsys, "chekc")
    assert (code, out) == (2, "")
    assert "No such command 'chekc'" in err


def test_check_without_files_is_the_users_error(capsys):
    code, _, err = run(capsys, "check")
    assert code == 2
    assert "Missing argument 'FILES...'" in err


def test_check_says_what_is_in_good_files(capsys, here):
    (here / "toy.m").write_text(DATA)
    (here / "toy.bk").write_text("c(X) :- a(X,_).\nc(z).\n")
    (here / "toy.l").write_text("type(a(event,t)).\nmode(a(+,#)).\ndimension(next_s).\n")
    assert run(capsys, "check", "toy.m", "toy.bk", "toy.l") == (
        0,
        "toy.m: 2 sequences, 2 classes, 4 facts, dimensions s\n"
        "toy.bk: 1 rule, 1 fact\n"
        "toy.l: 1 predicate, 1 dimension\n",
        "",
    )


def test_check_leaves_out_classes_and_dimensions_where_there_are_none(capsys, here):
    (here / "toy.val").write_text("begin(s1). a(x). end.\n")
    assert run(capsys, "check", "toy.val") == (0, "toy.val: 1 sequence, 1 fact\n", "")


def test_check_reports_every_problem_of_all_files(capsys, here):
    (here / "bad.m").write_text("begin(s1,up). a(X). end.\nbegin(s1,up). a(x). end.\n")
    (here / "bad.bk").write_text("c(Y) :- a(X).\n")
    (here / "bad.l").write_text("mode(a(+)\n")
    (here / "good.m").write_text(DATA)
    code, out, err = run(capsys, "check", "bad.m", "bad.bk", "bad.l", "good.m")
    assert code == 2
    assert out == "good.m: 2 sequences, 2 classes, 4 facts, dimensions s\n"
    places = [line.split(" ")[0] for line in err.splitlines() if line.startswith("bad.")]
    assert [place.split(":")[0] for place in places] == ["bad.m", "bad.m", "bad.bk", "bad.l"]
    assert "Traceback" not in err


def test_check_compares_a_bias_with_data_and_background(capsys, here):
    (here / "toy.m").write_text(DATA)
    (here / "toy.bk").write_text("long(X) :- a(X,_).\n")
    (here / "toy.l").write_text(
        "type(a(event,t)). mode(a(+,#)).\ntype(lung(event)). mode(lung(+)).\n"
        "type(long(event)). mode(long(+)).\n"
    )
    assert run(capsys, "check", "toy.l", "toy.m", "toy.bk")[::2] == (
        2,
        "toy.l:2:6: lung is in neither the data nor the background knowledge\n"
        "    type(lung(event)). mode(lung(+)).\n"
        "         ^~~~~~~~~~~\n"
        "hint: did you mean 'long'?\n",
    )


def test_check_takes_a_bias_without_data(capsys, here):
    (here / "toy.l").write_text("type(a(event,t)). mode(a(+,#)).\n")
    assert run(capsys, "check", "toy.l") == (0, "toy.l: 1 predicate, 0 dimensions\n", "")


def test_check_compares_background_and_data(capsys, here):
    (here / "toy.m").write_text(DATA)
    (here / "toy.bk").write_text("c(X) :- a(X), \\+ b(X,_).\n")
    assert run(capsys, "check", "toy.bk", "toy.m")[::2] == (
        2,
        "toy.bk:1:9: a has 1 argument here and 2 in the data\n"
        "    c(X) :- a(X), \\+ b(X,_).\n"
        "            ^\n"
        "hint: give it the same number of arguments in both, or another name\n"
        "toy.bk:1:18: b has 2 arguments here and 1 in the data\n"
        "    c(X) :- a(X), \\+ b(X,_).\n"
        "                     ^\n"
        "hint: give it the same number of arguments in both, or another name\n",
    )


@pytest.mark.parametrize(
    ("name", "what"),
    [("toy.txt", "unknown kind of file '.txt'"), ("toy", "a file without an ending")],
)
def test_check_refuses_an_ending_that_it_does_not_know(capsys, here, name, what):
    (here / name).write_text("a,b\n")
    assert run(capsys, "check", name) == (
        2,
        "",
        f"{name}: {what}\n"
        "hint: data end in .m or .val, tables of events in .csv or .parquet, event logs in .xes, "
        "background knowledge in .bk or .pl, a bias in .l\n",
    )


def test_check_takes_endings_in_capitals(capsys, here):
    (here / "OK.M").write_text("begin(s1). a(x). end.\n")
    (here / "OK.BK").write_text("c(z).\n")
    assert run(capsys, "check", "OK.M", "OK.BK") == (
        0,
        "OK.M: 1 sequence, 1 fact\nOK.BK: 0 rules, 1 fact\n",
        "",
    )


def test_check_names_a_file_that_is_not_there(capsys, here):
    assert run(capsys, "check", "no.m") == (2, "", "no.m: there is no such file\n")


def test_warmup_says_when_it_is_ready(capsys):
    code, out, err = run(capsys, "warmup")
    assert (code, err) == (0, "")
    assert out.startswith("ready after ")
    assert out.endswith(" s\n")


def test_an_interrupt_ends_with_130(capsys, here, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("relynx.demo.show", interrupted)
    assert run(capsys, "demo") == (130, "", "\nstopped\n")


def test_a_fault_of_ours_ends_with_1_and_a_traceback(capsys, here, monkeypatch):
    def broken(*args):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("relynx.demo.show", broken)
    code, out, err = run(capsys, "demo")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(
        "ZeroDivisionError: boom\nthis is a fault of relynx, not of your input: please report it\n"
    )


SOURCE = str(Path(relynx.__file__).parents[1])  # wherever it was imported from
ENVIRONMENT = os.environ | {"PYTHONPATH": SOURCE}


def command(*args):
    return [sys.executable, "-m", "relynx", *args]


def test_the_exit_code_reaches_the_shell(here):
    done = subprocess.run(
        command("check", "no.m"), capture_output=True, text=True, timeout=60, env=ENVIRONMENT
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no.m: there is no such file\n")


def test_the_package_runs_as_the_command(here):
    done = subprocess.run(
        command("--version"), capture_output=True, text=True, timeout=60, env=ENVIRONMENT
    )
    assert (done.returncode, done.stdout) == (0, f"relynx {__version__}\n")


def test_ctrl_c_stops_a_running_command(here):
    code = """
import signal, sys
import relynx.demo
from relynx.cli import main

def wait(*args):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored outside
    print("begun", flush=True)
    signal.pause()

relynx.demo.show = wait
sys.exit(main(["demo"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "\nstopped\n")


def test_a_reader_that_leaves_early_gets_no_traceback(here):
    (here / "toy.m").write_text(DATA)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command("check", "toy.m"),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
    )
    os.close(writer)
    assert done.stderr == ""
