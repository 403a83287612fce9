"""`relynx explain`: what it prints, and how it ends."""

import pytest

import relynx as rx
from relynx import cli

BIAS = "type(do(event,action,object)). mode(do(+,#,*)). dimension(next_s). maxsize(2).\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a model and data that is the current one, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    X, y = rx.planted_rule(40, random_state=0)
    rx.write_lynx(rx.planted_rule(20, random_state=1)[0], "test.m")
    model = rx.LynxClassifier(rx.parse_bias(BIAS), max_iter=3, n_features=2, random_state=0)
    rx.save(model.fit(X, y), "m.relynx")
    return tmp_path


def run(capsys, *args):
    """Exit code, standard output and standard error of a command."""
    code = cli.main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_explain_prints_the_explanation_of_the_sequence(capsys):
    X, _ = rx.read_lynx("test.m")
    told = rx.explain(rx.load("m.relynx"), X[6])
    assert told.id == "s7"
    assert run(capsys, "explain", "m.relynx", "test.m", "--id", "s7") == (0, f"{told}\n", "")


def test_ids_that_are_numbers_are_found(capsys, here):
    (here / "n.m").write_text("begin(7,yes).\ndo(e1,a0,o1).\nend.\n")
    code, out, _ = run(capsys, "explain", "m.relynx", "n.m", "--id", "7")
    assert code == 0
    assert out.startswith("7 is predicted as ")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("s77", "did you mean 's7'?"), ("d1a04a2", "its ids are s1, s2, s3, s4, s5, ...")],
)
def test_an_id_that_is_not_there_is_refused(capsys, name, hint):
    assert run(capsys, "explain", "m.relynx", "test.m", "--id", name) == (
        2,
        "",
        f"test.m: no sequence has the id '{name}'\nhint: {hint}\n",
    )


def test_a_file_without_a_classifier_is_refused(capsys):
    rx.save(rx.load("m.relynx").selected_, "patterns.relynx")
    assert run(capsys, "explain", "patterns.relynx", "test.m", "--id", "s1") == (
        2,
        "",
        "patterns.relynx: the file holds a PatternSet, which predicts no classes\n"
        "hint: relynx fit writes a model\n",
    )


def test_the_background_knowledge_of_the_model_is_used(capsys, here):
    (here / "rules.bk").write_text("start(E) :- do(E,a0,_).\n")
    background = rx.read_background("rules.bk")
    X, y = rx.from_lists([[("do", "a0", "o1")], [("do", "a1", "o1")]] * 3, ["x", "y"] * 3)
    bias = rx.parse_bias("type(start(event)). mode(start(+)).")
    model = rx.LynxClassifier(bias, max_length=1, selection=None)
    rx.save(model.fit(X.with_background(background), y), "start.relynx")
    code, out, err = run(capsys, "explain", "start.relynx", "test.m", "--id", "s1")
    assert (code, err) == (0, "")
    assert out.startswith("s1 is predicted as ")
    args = ("explain", "start.relynx", "test.m", "--id", "s1", "-k", "rules.bk")
    code, out, err = run(capsys, *args)
    assert (code, err) == (0, "")
    assert out.startswith("s1 is predicted as ")


def test_the_id_must_be_given(capsys):
    code, _, err = run(capsys, "explain", "m.relynx", "test.m")
    assert code == 2
    assert "Missing option '--id'" in err
