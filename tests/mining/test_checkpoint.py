"""Checkpoints of mining, GRASP and fit: what was stopped goes on, and its answer is the same."""

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random

import numpy as np
import pytest
from languages import make_language
from paths import TESTS
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import relynx as rx
from relynx import cli
from relynx.errors import InputError
from relynx.features import candidates, grasp
from relynx.mining import budget, search
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.bits.engine import Bits
from relynx.mining.engines.general import engine as general
from relynx.mining.engines.general.engine import General
from relynx.mining.search import KEPT_FORM
from relynx.storage import journal as jn

OTHER = "hint: give another folder, or remove this one to start afresh"


@pytest.fixture
def written_at_once(monkeypatch):
    """Every result is on the disk before the next one begins."""
    monkeypatch.setattr(jn, "FLUSH_SECONDS", -1.0)


class Killed(BaseException):
    """Stands for a signal."""


def killed_after(monkeypatch, module, name, n):
    """A function that works n times, and then no more."""
    whole, calls = getattr(module, name), count(1)

    def some(*args, **named):
        if next(calls) > n:
            raise Killed
        return whole(*args, **named)

    monkeypatch.setattr(module, name, some)


def message_of(call, *args, **named):
    with pytest.raises(InputError) as caught:
        call(*args, **named)
    return str(caught.value)


# Mining


def mined(found):
    """All that a search found."""
    trie = found.trie
    return (
        [str(entry.pattern) for entry in found],
        *(array.tolist() for array in (trie.parent, trie.steps, trie.supports, found.rows)),
        found.report,
        found.complete_up_to,
        found.partial,
    )


LINES = "type(p(event,t)). mode(p(+,#)). dimension(next_s)."
PATHS = "type(p(event,t)). mode(p(+,*)). dimension(next_s). dimension(next_d)."
TWO_MODES = "type(p(event,t)). mode(p(+,*)). mode(p(+,#)). dimension(next_s)."


@pytest.fixture(scope="module")
def lines():
    """Sequences with two orders of their events."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(16):
        n = int(rng.integers(4, 7))
        letters, other = rng.choice(list("abc"), n), rng.permutation(n)
        facts = [f"p(e{j},{letters[j]})" for j in range(n)]
        facts += [f"next_s(e{j},e{j + 1})" for j in range(n - 1)]
        facts += [f"next_d(e{other[j]},e{other[j + 1]})" for j in range(n - 1)]
        rows.append([rx.parse_atom(fact) for fact in facts])
    return rx.Sequences.from_atoms(rows, labels=["up", "down"] * 8)


@pytest.mark.parametrize(
    ("engine", "text", "n_jobs"),
    [(Bits, LINES, 1), (Bits, PATHS, 1), (General, TWO_MODES, 1), (General, TWO_MODES, 2)],
)
def test_a_search_of_patterns_goes_on_where_it_was_killed(
    lines, engine, text, n_jobs, tmp_path, monkeypatch, written_at_once
):
    monkeypatch.setattr(bits, "EFFORT_A_UNIT", 1)  # many units
    monkeypatch.setattr(bits, "MOST_TOGETHER", 1)
    monkeypatch.setattr(general, "FACTS_AT_ONCE", 1)
    how = {"bias": rx.parse_bias(text), "max_length": 3, "n_jobs": n_jobs}
    calls = count()
    with monkeypatch.context() as patch:
        counted = engine._count
        patch.setattr(engine, "_count", lambda *args: (next(calls), counted(*args))[1])
        wanted = mined(rx.mine(lines, **how))
    n_units = next(calls)
    assert n_units > 20
    for n in (1, n_units // 2, n_units // 4):
        with monkeypatch.context() as patch:
            killed_after(patch, engine, "_count", n)
            with pytest.raises(Killed):
                rx.mine(lines, checkpoint=tmp_path / "c", **how)
    n_kept = len([*(tmp_path / "c").glob("segment-*")])
    assert n_kept > 10
    with monkeypatch.context() as patch:
        killed_after(patch, engine, "_count", n_units - n_kept)
        assert mined(rx.mine(lines, checkpoint=tmp_path / "c", **how)) == wanted
        assert mined(rx.mine(lines, checkpoint=tmp_path / "c", **how)) == wanted


SIZES = {
    Bits: (bits, ("EFFORT_A_UNIT", "MOST_FOUND", "MOST_TOGETHER", "MOST_STATES")),
    General: (general, ("FACTS_AT_ONCE", "REFINEMENTS_AT_ONCE", "LOOKS_A_MATCH")),
}


@pytest.mark.parametrize(
    ("engine", "text", "kept"),
    [
        (Bits, LINES, "b421a40f820d3deb"),
        (Bits, PATHS, "075839c36aaf0a38"),
        (General, TWO_MODES, "d555642df62c6b6f"),
    ],
)
def test_what_is_kept_of_a_search_has_a_form_with_a_number(lines, engine, text, kept, monkeypatch):
    """Where this fails checkpoints cannot be read any more: raise KEPT_FORM with what is here."""
    module, names = SIZES[engine]
    told = hashlib.sha256(repr([getattr(module, name) for name in names]).encode())
    whole = engine._count

    def counted(*args):
        arrays = whole(*args)
        told.update(repr([(a.dtype.str, a.shape, a.tolist()) for a in arrays]).encode())
        return arrays

    monkeypatch.setattr(engine, "_count", counted)
    for few in (False, True):
        if few:
            monkeypatch.setattr(module, names[0], 300)
        rx.mine(lines, bias=rx.parse_bias(text), max_length=3, min_support=0.5)
    assert (KEPT_FORM, told.hexdigest()[:16]) == (6, kept)


def test_a_checkpoint_of_an_older_form_is_refused(lines, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(search, "KEPT_FORM", 5)
        rx.mine(lines, max_length=1, checkpoint=tmp_path / "c")
    with pytest.raises(rx.InputError) as error:
        rx.mine(lines, max_length=1, checkpoint=tmp_path / "c")
    assert str(error.value) == (
        f"{tmp_path / 'c'}: this checkpoint is of other work: "
        f"the form of the results was 5 and is 6\n{OTHER}"
    )


@pytest.mark.parametrize("seed", range(20))
def test_any_language_goes_on_to_the_same_answer(seed, tmp_path, monkeypatch):
    language = make_language(seed)
    how = {"bias": language.bias, **language.parameters, "max_length": 2}
    wanted = mined(rx.mine(language.X, **how))
    stops = Random(seed)
    engines = [engine for engine in SIZES for _ in range(2)]
    for engine in engines:
        with monkeypatch.context() as patch, suppress(Killed):
            killed_after(patch, engine, "_count", stops.randint(0, 12))
            rx.mine(language.X, checkpoint=tmp_path / "c", **how)
    assert mined(rx.mine(language.X, checkpoint=tmp_path / "c", **how)) == wanted, str(language)


def test_a_search_that_a_limit_ended_goes_on(lines, tmp_path):
    bias = rx.parse_bias(TWO_MODES)
    folder = tmp_path / "c"
    wanted = mined(rx.mine(lines, bias=bias))
    assert rx.mine(lines, bias=bias, time_limit=0, checkpoint=folder).partial
    told = []

    def stop(progress):
        told.append(progress)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "MEASURE_EVERY", 0.0)
        patch.setattr(budget, "PROGRESS_EVERY", 0.0)
        assert rx.mine(lines, bias=bias, progress=stop, checkpoint=folder).partial
    assert told
    assert json.loads((folder / "manifest.json").read_text())["finished"] is False
    assert mined(rx.mine(lines, bias=bias, checkpoint=folder)) == wanted
    assert json.loads((folder / "manifest.json").read_text())["finished"] is True


def test_ctrl_c_keeps_what_was_counted(lines, tmp_path, monkeypatch):
    monkeypatch.setattr(jn, "FLUSH_SECONDS", 60.0)
    monkeypatch.setattr(general, "FACTS_AT_ONCE", 1)  # many units
    bias, calls = rx.parse_bias(TWO_MODES), count()
    counted = General._count

    def interrupted(*args):
        if next(calls) == 10:
            raise KeyboardInterrupt
        return counted(*args)

    with monkeypatch.context() as patch:
        patch.setattr(General, "_count", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rx.mine(lines, bias=bias, checkpoint=tmp_path / "c")
    killed_after(monkeypatch, General, "_count", 0)
    with pytest.raises(Killed):
        rx.mine(lines, bias=bias, checkpoint=tmp_path / "c", n_jobs=1)
    assert len([*(tmp_path / "c").glob("segment-*")]) == 1


def test_filters_of_the_answer_share_a_checkpoint(lines, tmp_path, monkeypatch):
    how = {"bias": rx.parse_bias(TWO_MODES)}
    wanted = mined(rx.mine(lines, min_confidence=0.6, top_k=5, **how))
    rx.mine(lines, checkpoint=tmp_path / "c", **how)
    killed_after(monkeypatch, General, "_count", 0)
    again = rx.mine(lines, min_confidence=0.6, top_k=5, checkpoint=tmp_path / "c", **how)
    assert mined(again) == wanted


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"min_support": 0.2}, "min_support was 0.1 and is 0.2"),
        ({"min_frequency": 2}, "min_frequency was 1 and is 2"),
        ({"max_length": 1}, "max_length was 2 and is 1"),
        ({"max_gap": 1}, "max_gap was 2 and is 1"),
        ({"object_identity": False}, "object_identity was True and is False"),
        ({"bias": rx.parse_bias(LINES)}, "the bias changed"),
        ({"y": ["up"] * 15 + ["down"]}, "the classes changed"),
        ({"y": ["up", "DOWN"] * 8, "max_gap": 1}, "the classes changed; max_gap was 2 and is 1"),
    ],
)
def test_another_search_is_refused(lines, tmp_path, monkeypatch, changed, said):
    monkeypatch.chdir(tmp_path)
    how = {"bias": rx.parse_bias(TWO_MODES), "max_length": 2, "checkpoint": "c"}
    rx.mine(lines, **how)
    message = message_of(rx.mine, lines, **{**how, **changed})
    assert message == f"c: this checkpoint is of other work: {said}\n{OTHER}"


def test_a_search_of_other_sequences_is_refused(lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = {"bias": rx.parse_bias(TWO_MODES), "max_length": 2, "checkpoint": "c"}
    rx.mine(lines, **how)
    assert message_of(rx.mine, lines[::-1], **how) == (
        f"c: this checkpoint is of other work: the data changed; the classes changed\n{OTHER}"
    )
    selector = rx.GraspSelector(checkpoint="c")
    assert message_of(selector.fit, *columns()) == (
        f"c: this checkpoint is of other work: it is of mining, this is GRASP\n{OTHER}"
    )


def test_a_full_disk_ends_a_search_of_patterns_and_keeps_what_was_counted(
    lines, tmp_path, monkeypatch, written_at_once
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(general, "FACTS_AT_ONCE", 1)  # many units
    how = {"bias": rx.parse_bias(TWO_MODES), "n_jobs": 2}
    wanted = mined(rx.mine(lines, **how))
    with monkeypatch.context() as patch:
        full_after(patch, 6)
        assert message_of(rx.mine, lines, checkpoint="c", **how) == (
            f"{os.path.join('c', 'segment-000005.bin')}: this file cannot be written (No space "
            "left on device)\nhint: the disk is full: make room, or write to another one; "
            "what was kept before stays, and the same call resumes from there"
        )
    assert mined(rx.mine(lines, checkpoint="c", **how)) == wanted


def test_what_is_no_folder_is_refused_by_mine(lines):
    said = "checkpoint is 5\nhint: give a folder to keep results in, or None"
    assert message_of(rx.mine, lines, checkpoint=5) == said


# GRASP


def columns(seed=0, n=60, width=12):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return (rng.random((n, width)) < 0.3 + 0.2 * (y[:, None] == rng.integers(0, 3, width))), y


def selected(selector):
    """All that a fit found."""
    return (
        selector.support_.tolist(),
        selector.errors_,
        selector.log_likelihood_,
        selector.history_,
        selector.partial_,
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_that_was_killed_goes_on_to_the_same_answer(
    tmp_path, monkeypatch, n_jobs, written_at_once
):
    X, y = columns()
    selector = rx.GraspSelector(max_iter=9, n_jobs=n_jobs, random_state=3)
    wanted = selected(clone(selector).fit(X, y))
    selector.set_params(checkpoint=tmp_path / "c")
    with monkeypatch.context() as patch:
        killed_after(patch, grasp, "play_round", 4)
        with pytest.raises(Killed):
            selector.fit(X, y)
    n_kept = len([*(tmp_path / "c").glob("segment-*")]) - 1  # the first one has the seed
    assert n_kept <= 4
    assert n_kept == 4 or n_jobs == 2  # joblib lets go of what another thread did
    with monkeypatch.context() as patch:
        killed_after(patch, grasp, "play_round", 9 - n_kept)
        assert selected(selector.fit(X, y)) == wanted


def test_a_finished_search_answers_again_without_a_round(tmp_path, monkeypatch):
    X, y = columns()
    selector = rx.GraspSelector(max_iter=5, random_state=1, checkpoint=str(tmp_path / "c"))
    wanted = selected(selector.fit(X, y))
    assert json.loads((tmp_path / "c" / "manifest.json").read_text())["finished"] is True
    killed_after(monkeypatch, grasp, "play_round", 0)
    assert selected(selector.fit(X, y)) == wanted
    assert len(clone(selector).set_params(max_iter=2).fit(X, y).history_) == 2


def test_more_rounds_go_on_from_those_that_are_kept(tmp_path, monkeypatch):
    X, y = columns()
    wanted = selected(rx.GraspSelector(max_iter=8, random_state=1).fit(X, y))
    rx.GraspSelector(max_iter=5, random_state=1, checkpoint=tmp_path / "c").fit(X, y)
    killed_after(monkeypatch, grasp, "play_round", 3)
    more = rx.GraspSelector(max_iter=8, random_state=1, checkpoint=tmp_path / "c")
    assert selected(more.fit(X, y)) == wanted


def test_rounds_that_a_time_limit_left_out_are_played_later(tmp_path):
    X, y = columns()
    wanted = selected(rx.GraspSelector(max_iter=6, random_state=1).fit(X, y))
    short = rx.GraspSelector(max_iter=6, random_state=1, time_limit=0, checkpoint=tmp_path / "c")
    assert short.fit(X, y).n_iter_ == 1
    assert json.loads((tmp_path / "c" / "manifest.json").read_text())["finished"] is False
    assert selected(clone(short).set_params(time_limit=None).fit(X, y)) == wanted


def test_without_a_seed_the_numbers_that_were_drawn_are_kept(tmp_path, monkeypatch):
    X, y = columns()
    selector = rx.GraspSelector(max_iter=4, checkpoint=tmp_path / "c")
    wanted = selected(selector.fit(X, y))
    killed_after(monkeypatch, grasp, "play_round", 0)
    assert selected(clone(selector).fit(X, y)) == wanted


def test_a_generator_is_known_by_its_state_and_moves_on_all_the_same(tmp_path):
    X, y = columns()
    states = []
    for _ in range(2):
        generator = np.random.RandomState(7)
        rx.GraspSelector(max_iter=2, random_state=generator, checkpoint=tmp_path / "c").fit(X, y)
        states.append(generator.randint(1000))
    assert states[0] == states[1]
    other = rx.GraspSelector(
        max_iter=2, random_state=np.random.RandomState(8), checkpoint=tmp_path / "c"
    )
    assert "random_state was 'a generator in the state " in message_of(other.fit, X, y)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"moves": ("add",)}, "moves was ['add', 'drop', 'swap'] and is ['add']"),
        ({"objective": "balanced"}, "objective was 'errors' and is 'balanced'"),
        ({"n_features": 3}, "n_features was None and is 3"),
        ({"smoothing": 1}, "smoothing was 0.1 and is 1.0"),
        ({"prior": "uniform"}, "prior was 'empirical' and is 'uniform'"),
        ({"prior": [0.25, 0.25, 0.5]}, "prior was 'empirical' and is [0.25, 0.25, 0.5]"),
        ({"alpha": 0.5}, "alpha was None and is 0.5"),
        ({"random_state": 2}, "random_state was 1 and is 2"),
    ],
)
def test_other_parameters_of_grasp_are_refused(tmp_path, monkeypatch, changed, said):
    monkeypatch.chdir(tmp_path)
    X, y = columns()
    selector = rx.GraspSelector(max_iter=2, random_state=1, checkpoint="c").fit(X, y)
    message = message_of(selector.set_params(**changed).fit, X, y)
    assert message == f"c: this checkpoint is of other work: {said}\n{OTHER}"


def test_other_data_of_grasp_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = columns()
    selector = rx.GraspSelector(max_iter=2, random_state=1, checkpoint="c").fit(X, y)
    for other in ((~X, y), (X, y[::-1]), (X, np.array(["a", "b", "c"])[y])):
        assert message_of(selector.fit, *other) == (
            f"c: this checkpoint is of other work: the data changed\n{OTHER}"
        )


def test_a_full_disk_ends_a_search_and_its_rounds_are_kept(tmp_path, monkeypatch, written_at_once):
    monkeypatch.chdir(tmp_path)
    X, y = columns()
    selector = rx.GraspSelector(max_iter=6, n_jobs=2, random_state=1)
    wanted = selected(clone(selector).fit(X, y))
    selector.set_params(checkpoint="c")
    with monkeypatch.context() as patch:
        full_after(patch, 3)
        assert message_of(selector.fit, X, y) == (
            f"{os.path.join('c', 'segment-000002.bin')}: this file cannot be written (No space "
            "left on device)\nhint: the disk is full: make room, or write to another one; "
            "what was kept before stays, and the same call resumes from there"
        )
    assert not [name for name in os.listdir("c") if name.endswith(".part")]
    assert selected(selector.fit(X, y)) == wanted


def full_after(monkeypatch, n):
    """A disk with room for n files."""
    replace, calls = os.replace, count(1)

    def some(*paths):
        if next(calls) > n:
            raise OSError(28, "No space left on device")
        replace(*paths)

    monkeypatch.setattr(os, "replace", some)


# LynxClassifier


def learnt(model, X):
    """All that a fit found."""
    return (
        [str(entry) for entry in model.selected_],
        [pair.selected.tolist() for pair in model.estimators_],
        [[str(p) for p in pair.patterns] for pair in model.estimators_],
        model.predict_proba(X).tolist(),
    )


@pytest.fixture(scope="module")
def three():
    """Three classes, so that there are three models."""
    rng = np.random.default_rng(0)
    lists = [rng.choice(list("abcd"), 6).tolist() + ["abc"[i % 3]] * (i % 2) for i in range(45)]
    return rx.from_lists(lists, [f"class {i % 3}" for i in range(45)])


def classifier(**more):
    how = {"max_length": 2, "max_iter": 3, "max_features": 20, "random_state": 0}
    return rx.LynxClassifier(**{**how, **more})


@pytest.mark.parametrize(
    ("module", "name", "n"), [(candidates, "_predicted", 50), (grasp, "play_round", 200)]
)
def test_a_fit_that_was_killed_goes_on_to_the_same_model(
    three, tmp_path, monkeypatch, module, name, n
):
    X, y = three
    wanted = learnt(classifier().fit(X, y), X)
    model = classifier(checkpoint=tmp_path / "c")
    with monkeypatch.context() as patch:
        killed_after(patch, module, name, n)
        with pytest.raises(Killed):
            model.fit(X, y)
    assert learnt(model.fit(X, y), X) == wanted
    assert not [*(tmp_path / "c").rglob("*.part")]


def test_a_finished_fit_answers_again_without_a_search(three, tmp_path, monkeypatch):
    X, y = three
    model = classifier(checkpoint=tmp_path / "c", random_state=None)
    wanted = learnt(model.fit(X, y), X)
    for module, name in ((grasp, "play_round"), (candidates, "_predicted_on_all")):
        killed_after(monkeypatch, module, name, 0)
    assert learnt(clone(model).fit(X, y), X) == wanted
    (folder,) = (tmp_path / "c").iterdir()
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [
        "model-1",
        "model-2",
        "model-3",
    ]


def test_the_parts_of_a_cross_validation_share_a_folder(three, tmp_path):
    X, y = three
    wanted = cross_val_score(classifier(n_features=3), X, y, cv=3)
    model = classifier(checkpoint=tmp_path / "c", n_jobs=2, n_features=3)
    assert cross_val_score(model, X, y, cv=3).tolist() == wanted.tolist()
    assert len([*(tmp_path / "c").iterdir()]) == 3


def test_each_parameter_that_matters_has_its_own_folder(three, tmp_path):
    X, y = three
    for more in ({}, {"n_features": 2}, {"n_jobs": 2}, {"random_state": 1}, {"memory": None}):
        more = {"n_features": 3, **more}
        classifier(checkpoint=tmp_path / "c", **more).fit(X, y)
    assert len([*(tmp_path / "c").iterdir()]) == 3


def test_a_model_file_does_not_name_the_folder(three, tmp_path):
    X, y = three
    for name, folder in (("a", None), ("b", tmp_path / "c")):
        model = classifier(checkpoint=folder, n_features=3)
        rx.save(model.fit(X, y), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert rx.load(tmp_path / "b").checkpoint is None


def test_what_is_no_folder_is_refused_by_the_estimators(three):
    X, y = three
    said = "checkpoint is 5\nhint: give a folder to keep results in, or None"
    assert message_of(classifier(checkpoint=5).fit, X, y) == said
    assert message_of(rx.GraspSelector(checkpoint=5).fit, *columns()) == said


# Commands


@pytest.fixture
def train(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = rx.planted_rule(40, random_state=0)
    rx.write_lynx(X, "train.m")


def test_the_command_mine_goes_on(train, capsys, monkeypatch):
    command = ["mine", "train.m", "--max-length", "2"]
    assert cli.main([*command, "-o", "wanted.csv"]) == 0
    kept = ["--checkpoint", "c", "-o", "found.csv"]
    assert cli.main([*command, *kept, "--time-limit", "0"]) == 0
    assert cli.main([*command, *kept]) == 0
    assert Path("found.csv").read_text() == Path("wanted.csv").read_text()
    capsys.readouterr()
    assert cli.main([*command, *kept, "--min-support", "0.5"]) == 2
    assert capsys.readouterr().err.endswith(
        f"c: this checkpoint is of other work: min_support was 0.1 and is 0.5\n{OTHER}\n"
    )


@pytest.mark.parametrize("command", [("fit", "-o", "m.relynx"), ("evaluate", "--folds", "2")])
def test_commands_say_that_the_same_one_goes_on(train, capsys, monkeypatch, command):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(rx.LynxClassifier, "fit", interrupted)
    assert cli.main([*command, "train.m", "--checkpoint", "c"]) == 130
    said = "; c has the results so far; the same command resumes from there\n"
    assert capsys.readouterr().err.endswith(said)


def test_the_command_fit_answers_from_its_checkpoint(train, monkeypatch):
    command = ["fit", "train.m", "--max-length", "2", "--max-iter", "2"]
    assert cli.main([*command, "-o", "wanted.relynx"]) == 0
    assert cli.main([*command, "--checkpoint", "c", "-o", "first.relynx"]) == 0
    killed_after(monkeypatch, grasp, "play_round", 0)
    assert cli.main([*command, "--checkpoint", "c", "-o", "again.relynx"]) == 0
    wanted = Path("wanted.relynx").read_bytes()
    assert wanted == Path("first.relynx").read_bytes() == Path("again.relynx").read_bytes()


# SIGKILL


@pytest.mark.slow
def test_work_that_is_killed_at_random_gives_the_same_answer():
    script = TESTS / "chaos.py"
    done = subprocess.run(
        [sys.executable, str(script), "--runs", "2"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("mining", "GRASP"):
        assert f"{kind}: 2 of 2 runs equal" in done.stdout
