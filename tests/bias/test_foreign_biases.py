"""Biases of Aleph and Popper: what they come to, what is noted, and what is refused.

Beside every file of golden/foreign_bias stands the bias that it comes to, its notes first; beside
every file of golden/bad_foreign_bias its whole message.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner
from golden_texts import compare, refusals
from hypothesis import given
from hypothesis import strategies as st
from paths import GOLDEN

import relynx as rx
from relynx.bias.foreign.systems import dialect
from relynx.cli import relynx
from relynx.errors import BiasError, InputError, Source

GOOD = GOLDEN / "foreign_bias"
NAMES = sorted(path.name for path in GOOD.iterdir() if path.suffix != ".txt")


def text_beside(name):
    return GOOD / f"{name.replace('.', '_')}.txt"


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_bias_comes_to_the_one_beside_it(name):
    compare(f"{rx.read_bias(GOOD / name)}\n", text_beside(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_foreign_bias_is_a_bias_of_ours(name):
    bias = rx.read_bias(GOOD / name)
    assert dialect(Source(str(bias))) is None
    assert rx.parse_bias(str(bias)) == bias


test_a_wrong_foreign_bias_gets_its_whole_message = refusals("bad_foreign_bias", rx.read_bias)


def test_every_text_has_its_file():
    assert {text_beside(name) for name in NAMES} == {*GOOD.glob("*.txt")}


def test_a_type_is_that_of_events_when_it_is_named_so():
    text = ":- modeb(*,step(+state,#kind))."
    assert rx.parse_bias(text).types == {"step": ("state", "kind")}
    assert rx.parse_bias(text, event="state").types == {"step": ("event", "kind")}


def test_the_type_of_events_may_have_another_name_in_our_own_language():
    bias = rx.parse_bias("type(step(state,kind)). mode(step(+,#)).", event="state")
    assert bias.types == {"step": ("event", "kind")}


@pytest.mark.parametrize("text", [":- modeb(*,p(+stat)).", "type(p(stat)). mode(p(+))."])
def test_a_type_of_events_that_no_argument_has_is_refused(text):
    with pytest.raises(BiasError) as caught:
        rx.parse_bias(text, "rules.b", event="state")
    assert str(caught.value) == (
        "rules.b: no argument is of the type 'state'\nhint: did you mean 'stat'?"
    )


def test_a_type_of_events_that_is_like_no_other_is_told_the_types():
    with pytest.raises(BiasError) as caught:
        rx.parse_bias("body_pred(p,2). type(p,(cat,dog)).", event="state")
    assert str(caught.value) == ("no argument is of the type 'state'\nhint: the types are cat, dog")


@pytest.mark.parametrize("text", [":- modeb(*,p(+e,#t)).", "type(p(e,t)). mode(p(+,#))."])
def test_a_type_of_events_that_is_missing_is_refused_beside_one_that_is_called_so(text):
    with pytest.raises(BiasError) as caught:
        rx.parse_bias(text, event="state")
    assert str(caught.value) == ("no argument is of the type 'state'\nhint: the types are event, t")


@pytest.mark.parametrize("event", [3, ["state"], True])
def test_a_type_of_events_that_is_no_text_is_refused(event):
    with pytest.raises(BiasError) as caught:
        rx.parse_bias(":- modeb(*,p(+state)).", event=event)
    assert str(caught.value) == (
        f"event is {event!r}\nhint: give the name of the type of events, such as 'car'"
    )


def test_the_type_of_events_may_be_named_by_its_own_name():
    for name in ("e", "event"):
        bias = rx.parse_bias(f":- modeb(*,p(+{name},#t)).", event=name)
        assert bias.types == {"p": ("event", "t")}


def test_lines_of_notes_are_those_of_the_file():
    facts = [f"q(a{i})." for i in range(5)]
    text = "\n".join(["", ":- modeb(*,p(+e)). q(a).", "", *facts, ":- set(i,2)."])
    assert rx.parse_bias(text).notes == (
        "lines 2, 4, 5, 6, 7 and 1 more: background knowledge is not read here: put it into a .bk"
        " file",
        "line 9: the setting i is of Aleph's search, and not used here",
    )


def test_a_comment_about_modes_makes_no_file_foreign():
    text = "% :- modeb(*,p(+t)). body_pred(p,1).\ntype(p(t)). mode(p(+)).\n"
    assert rx.parse_bias(text).types == {"p": ("t",)}


def test_notes_of_many_lines_name_the_first():
    text = "\n".join(f":- modeb(1,p{i}(+t))." for i in range(9))
    assert rx.parse_bias(text).notes[0].startswith("lines 1, 2, 3, 4, 5 and 4 more: a recall")


def test_a_foreign_bias_mines_what_ours_mines():
    X, y = rx.from_lists([[("p", "a"), ("q", "b")], [("q", "b"), ("p", "c")]], ["up", "down"])
    ours = "type(p(event,t)). type(q(event,t)). mode(p(+,#)). mode(q(+,#)). dimension(next_s)."
    aleph = ":- modeb(*,p(+e,#t)). :- modeb(*,q(+e,#t)). :- modeb(*,next_s(+e,-e))."
    found = [[*rx.mine(X, y, rx.parse_bias(text)).texts()] for text in (ours, aleph)]
    assert found[0] == found[1] != []


def read_or_refused(text):
    """The predicates of a bias, or the words of its problems."""
    try:
        return [*rx.parse_bias(text).types]
    except InputError as error:
        return str(error).split()


@given(st.text(alphabet=":-modebhar(*,+#)t/12 .'%\n_X", max_size=60))
def test_any_text_after_a_mode_is_read_or_refused_in_words(tail):
    assert read_or_refused(f":- modeb(*,p(+t)).\n{tail}")


@given(st.text(alphabet="bodypretinu_(),12 .:-#X\n", max_size=60))
def test_any_text_after_a_body_pred_is_read_or_refused_in_words(tail):
    assert read_or_refused(f"body_pred(p,1).\n{tail}")


@pytest.mark.parametrize("name", ["trains.b", "trains.pl"])
def test_check_prints_the_notes_of_a_foreign_bias(name):
    result = CliRunner().invoke(relynx, ["check", str(GOOD / name)], standalone_mode=False)
    bias = rx.read_bias(GOOD / name)
    assert result.return_value == 0
    assert result.output.splitlines() == [
        f"{GOOD / name}: {len(bias.modes)} predicates, 0 dimensions",
        *(f"note: {note}" for note in bias.notes),
    ]


ALEPH = ":- modeb(*,on(+state,#kind)).\n:- set(i,2).\n"
DATA = """\
begin(s1,up). on(e1,x). next_s(e1,e2). on(e2,y). end.
begin(s2,down). on(e1,y). next_s(e1,e2). on(e2,x). end.
begin(s3,up). on(e1,x). next_s(e1,e2). on(e2,y). end.
begin(s4,down). on(e1,y). next_s(e1,e2). on(e2,x). end.
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data and a bias of Aleph that is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.m").write_text(DATA)
    (tmp_path / "rules.b").write_text(ALEPH + "dimension(next_s).\n")


def command(*args):
    return CliRunner().invoke(relynx, args, standalone_mode=False)


def test_mine_is_told_the_type_of_events(here):
    result = command("mine", "train.m", "-b", "rules.b", "--event-type", "state", "-o", "found.csv")
    assert result.return_value == 0
    assert "note: line 2: the setting i is of Aleph's search, and not used here" in result.stderr
    X, y = rx.read_lynx("train.m")
    rx.mine(X, y, rx.read_bias("rules.b", event="state")).to_csv("wanted.csv")
    found = Path("found.csv").read_text()
    assert found == Path("wanted.csv").read_text()
    assert "next_s" in found


def test_fit_is_told_the_type_of_events(here):
    args = ("--event-type", "state", "--max-length", "2", "-o", "model.relynx")
    assert command("fit", "train.m", "-b", "rules.b", *args).return_value == 0
    assert rx.load("model.relynx").bias_ == rx.read_bias("rules.b", event="state")


def test_evaluate_is_told_the_type_of_events_and_prints_the_notes(here):
    args = ("--event-type", "state", "--folds", "2", "--max-iter", "2", "--no-baselines")
    result = command("evaluate", "train.m", "-b", "rules.b", *args)
    assert result.return_value == 0
    assert "note: line 2: the setting i is of Aleph's search, and not used here" in result.stderr


def test_check_is_told_the_type_of_events(here):
    without = command("check", "rules.b")
    assert without.return_value == 2
    assert "the dimension s links events, but no predicate with a mode has an event" in (
        without.output
    )
    told = command("check", "rules.b", "train.m", "--event-type", "state")
    assert told.return_value == 0


def test_a_type_of_events_without_a_bias_is_refused(here):
    for what, output in (("mine", "found.csv"), ("fit", "model.relynx")):
        with pytest.raises(InputError) as caught:
            CliRunner().invoke(
                relynx,
                [what, "train.m", "--event-type", "state", "-o", output],
                standalone_mode=False,
                catch_exceptions=False,
            )
        assert str(caught.value) == (
            "--event-type is of a bias, and none is given\n"
            "hint: give the file with --bias, or leave it out"
        )
