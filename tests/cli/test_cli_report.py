"""`relynx report`: what it writes and says, and how it ends."""

import pytest

import relynx as rx
from relynx import cli
from relynx.reports import html


@pytest.fixture(scope="module")
def model():
    X, y = rx.planted_rule(60, random_state=0)
    return rx.LynxClassifier(max_length=2, max_iter=3, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, model):
    """A folder with a model and data that is the current one, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    rx.save(model, "m.relynx")
    rx.write_lynx(rx.planted_rule(20, random_state=1)[0], "test.m")
    return tmp_path


def run(capsys, *args):
    """Exit code, standard output and standard error of a command."""
    code = cli.main(["report", *args])
    out, err = capsys.readouterr()
    return code, out, err


def test_it_writes_the_page_of_report(capsys, here):
    code, out, err = run(capsys, "m.relynx", "test.m", "-o", "r.html")
    wanted = rx.report(rx.load("m.relynx"), *rx.read_lynx("test.m"))
    assert code == 0
    assert (here / "r.html").read_text(encoding="utf-8") == wanted.html
    assert out == f"{wanted}\nr.html: open it in a browser\n"
    assert err == "reporting on 20 sequences, 2 classes, 300 facts, dimensions s\n"


def test_sequences_without_classes_have_a_report(capsys, here):
    X, _ = rx.planted_rule(5, random_state=1)
    rx.write_lynx(X.with_labels(None), "plain.m")
    code, out, _ = run(capsys, "m.relynx", "plain.m", "-o", "r.html")
    assert code == 0
    assert out.splitlines()[1] == "no classes are given, so accuracy is unknown"


def test_rules_are_those_of_the_background(capsys, here):
    (here / "rules.bk").write_text("start(E) :- do(E,a0,_).\n")
    X, y = rx.read_lynx("test.m", "rules.bk")
    bias = rx.parse_bias("type(start(event)). mode(start(+)). dimension(next_s).")
    model = rx.LynxClassifier(bias, max_length=2, selection=None).fit(X, y)
    rx.save(model, "start.relynx")
    code, _, err = run(capsys, "start.relynx", "test.m", "-k", "rules.bk", "-o", "r.html")
    assert code == 0
    assert "start(" in (here / "r.html").read_text(encoding="utf-8")
    code, _, err = run(capsys, "start.relynx", "test.m", "-o", "r.html")
    assert code == 0
    assert "warning" not in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("m.relynx", "test.m", "-o", "r.txt"), "Error: r.txt does not end in .html\n"),
        (
            ("m.relynx", "test.m", "-o", "none/r.html"),
            "none/r.html: this file cannot be written (No such file or directory)\n",
        ),
        (
            ("set.relynx", "test.m", "-o", "r.html"),
            "set.relynx: the file holds a PatternSet, which predicts no classes\n"
            "hint: relynx fit writes a model\n",
        ),
    ],
)
def test_wrong_input_gets_a_message_and_exit_2(capsys, here, args, message):
    rx.save(rx.load("m.relynx").selected_, "set.relynx")
    code, out, err = run(capsys, *args)
    assert (code, out) == (2, "")
    assert err.endswith(message)
    assert not (here / "r.html").exists()


def test_an_interrupt_leaves_nothing_behind(capsys, here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(html, "report", interrupted)
    code, _, err = run(capsys, "m.relynx", "test.m", "-o", "r.html")
    assert code == 130
    assert err.endswith("stopped; nothing was written to r.html\n")
    assert not (here / "r.html").exists()
