"""Folders of partitions keep everything, and mining them gives what one search gives."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import random
import socket
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from languages import make_language

import relynx as rx
from relynx.data.parquet import partitions as partition_files
from relynx.data.parquet.partitions import Partitions
from relynx.logic.terms import Atom
from relynx.mining.engines.base import Engine
from relynx.mining.engines.choose import choose
from relynx.mining.engines.general.engine import General
from relynx.mining.partitioned import passes as partition_tasks

BIAS = rx.parse_bias(
    "type(do(event,action,thing)). mode(do(+,#,*)). dimension(next_s). maxsize(3)."
)
SMALL = "ignore:in .* partitions a pattern is frequent:UserWarning"
KINDS = ("min_support", "min_frequency", "max_length", "max_gap", "object_identity")

constants = st.one_of(
    st.text("abe' \n\u00e9\u4e2d", max_size=3),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
)
atoms = st.one_of(
    st.builds(Atom, st.just("p"), st.tuples(constants, constants)),
    st.builds(Atom, st.just("q r"), st.tuples(constants)),
    st.just(Atom("rain", ())),
    st.builds(Atom, st.just("next_s"), st.tuples(constants, constants)),
)


@st.composite
def sequences(draw):
    facts = draw(st.lists(st.lists(atoms, max_size=5), min_size=1, max_size=6))
    ids = draw(
        st.lists(constants, min_size=len(facts), max_size=len(facts), unique_by=lambda c: repr(c))
    )
    labels = draw(st.none() | st.lists(constants, min_size=len(facts), max_size=len(facts)))
    return rx.Sequences.from_atoms(facts, ids=ids, labels=labels)


def assert_identical(X, Y):
    """Equal, and the same columns in memory."""
    assert X == Y
    assert X.vocabulary == Y.vocabulary
    assert list(X.tables) == list(Y.tables)
    for key in X.tables:
        assert np.array_equal(X.tables[key], Y.tables[key])
    assert [repr(i) for i in X.ids] == [repr(i) for i in Y.ids]
    if X.labels is not None:
        assert X.labels.dtype == Y.labels.dtype
        assert [repr(i) for i in X.labels.tolist()] == [repr(i) for i in Y.labels.tolist()]
    assert X.reading == Y.reading


def written(X, folder, edges):
    partition_files.write_parquet((X[a:b] for a, b in pairwise(edges)), folder)
    return rx.scan_parquet(folder)


# Round trips


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequences(), st.data())
def test_what_is_loaded_is_what_was_written(tmp_path_factory, X, data):
    folder = tmp_path_factory.mktemp("round") / "x"
    X.to_parquet(folder, partitions=data.draw(st.integers(1, len(X))))
    parts = rx.scan_parquet(folder)
    assert_identical(X, parts.load())
    start = 0
    for part in parts.partitions():
        assert_identical_part(X[start : start + len(part)], part)
        start += len(part)
    assert start == len(X) == len(parts)


def assert_identical_part(X, part):
    """A partition has the codes of the whole."""
    assert part == X
    assert X.vocabulary == part.vocabulary
    for key in X.tables:
        assert np.array_equal(X.tables[key], part.tables[key])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(sequences(), min_size=1, max_size=4))
def test_chunks_with_vocabularies_of_their_own_are_written_as_they_concatenate(
    tmp_path_factory, chunks
):
    labelled = [chunk.labels is not None for chunk in chunks]
    if any(labelled) and not all(labelled):
        chunks = [chunk.with_labels(None) for chunk in chunks]
    folder = tmp_path_factory.mktemp("chunks") / "x"
    rx.write_parquet(chunks, folder)
    assert_identical(rx.Sequences.concatenate(chunks), rx.scan_parquet(folder).load())


def test_background_reading_and_times_are_kept(tmp_path):
    table = {"case": [1, 1, 2], "from": [0, 2, 1], "to": [1.5, 3.0, 4.0], "step": ["a", "b", "a"]}
    X, _ = rx.from_intervals(table, sequence="case", start="from", end="to", symbol="step")
    X = X.with_background(rx.parse_background("twice(E) :- step(E,a), step(F,a), E \\== F."))
    X.to_parquet(tmp_path / "x", partitions=2)
    Y = rx.scan_parquet(tmp_path / "x").load()
    assert_identical(X, Y)
    assert Y.background == X.background
    for name in ("offsets", "starts", "ends"):
        mine, theirs = getattr(X.times, name), getattr(Y.times, name)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs)


def test_dates_of_intervals_are_kept(tmp_path):
    table = {
        "case": [1, 2],
        "from": ["2024-01-01", "2024-02-01"],
        "to": ["2024-01-03", "2024-03-01"],
    }
    X, _ = rx.from_intervals(table, sequence="case", start="from", end="to")
    X.to_parquet(tmp_path / "x", partitions=2)
    Y = rx.scan_parquet(tmp_path / "x").load()
    assert Y.times.starts.tolist() == X.times.starts.tolist()


def test_labels_may_be_given_when_the_folder_is_written(tmp_path):
    X, _ = rx.from_lists([["a"], ["b"], ["a"]])
    X.to_parquet(tmp_path / "x", y=["up", "down", "up"], rows_per_partition=2)
    parts = rx.scan_parquet(tmp_path / "x")
    assert parts.labels.tolist() == ["up", "down", "up"]
    assert parts.class_sizes == {"up": 2, "down": 1}
    assert parts.sizes == (1, 2)
    assert parts.shape == (3,)


def test_a_folder_without_labels_says_so(tmp_path):
    rx.from_lists([["a"]])[0].to_parquet(tmp_path / "x")
    parts = rx.scan_parquet(tmp_path / "x")
    assert parts.labels is None
    assert parts.class_sizes is None


def test_a_folder_prints_what_it_holds(tmp_path):
    X, _ = rx.from_lists([["a", "b"], ["b"], ["a", "a"], ["b"]], ["up", "up", "down", "up"])
    X.to_parquet(tmp_path / "x", partitions=3)
    assert repr(rx.scan_parquet(tmp_path / "x")) == (
        "Partitions\n"
        "  sequences   4 in 3 partitions, of 1 to 2\n"
        "  facts       8\n"
        "  classes     up (3), down (1)\n"
        "  dimensions  s\n"
        "  predicates  next_s/2, a/1, b/1"
    )


def test_a_partition_beyond_the_last_is_no_partition(tmp_path):
    rx.from_lists([["a"]])[0].to_parquet(tmp_path / "x")
    with pytest.raises(IndexError, match=r"^partition 1 of 1$"):
        rx.scan_parquet(tmp_path / "x").partition(1)


def test_a_folder_stays_open_when_the_process_goes_elsewhere(tmp_path, monkeypatch):
    X, _ = rx.from_lists([["a"]])
    X.to_parquet(tmp_path / "x")
    monkeypatch.chdir(tmp_path)
    parts = rx.scan_parquet("x")
    monkeypatch.chdir("/")
    assert parts.load() == X
    assert pickle.loads(pickle.dumps(parts)).load() == X


# Written whole or not at all


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    def chunks():
        yield rx.from_lists([["a"]])[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        rx.write_parquet(chunks(), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    X, _ = rx.from_lists([["a"]])

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(partition_files.os, "fsync", full)
    with pytest.raises(rx.InputError) as error:
        X.to_parquet(tmp_path / "x")
    assert str(error.value) == (
        f"{tmp_path / 'x'}: this folder cannot be written (No space left on device)\n"
        "hint: the disk is full: make room, or write to another one"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_chunks_are_read_from_is_not_taken_for_the_folder(tmp_path):
    def chunks():
        yield rx.from_lists([["a"]])[0]
        open(tmp_path / "no such file").close()

    with pytest.raises(FileNotFoundError):
        rx.write_parquet(chunks(), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_of_two_writers_of_one_folder_the_first_to_end_wins(tmp_path):
    X, Y = (rx.from_lists([[letter]])[0] for letter in "ab")

    def chunks():
        yield X
        Y.to_parquet(tmp_path / "x")

    with pytest.raises(rx.InputError) as error:
        rx.write_parquet(chunks(), tmp_path / "x")
    assert str(error.value) == (
        f"{tmp_path / 'x'}: this folder cannot be written (Directory not empty)"
    )
    assert rx.scan_parquet(tmp_path / "x").load() == Y
    assert os.listdir(tmp_path) == ["x"]


KILLED = """
import os, signal, sys
import relynx as rx

def chunks():
    yield rx.from_lists([["a"]])[0]
    os.kill(os.getpid(), signal.SIGKILL)

rx.write_parquet(chunks(), sys.argv[1])
"""


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "x"], check=False, timeout=60)
    (left,) = tmp_path.iterdir()
    assert os.listdir(left) == ["part-00000.parquet"]
    other = tmp_path / f"x.01234567.{os.getpid()}.part"  # of one that is still at work
    other.mkdir()
    with pytest.raises(rx.DataError, match=r"no folder of partitions: it has no manifest\.json"):
        rx.scan_parquet(left)
    X, _ = rx.from_lists([["a"]])
    X.to_parquet(tmp_path / "x")
    assert rx.scan_parquet(tmp_path / "x").load() == X
    assert sorted(tmp_path.iterdir()) == [tmp_path / "x", other]


def test_a_folder_that_is_there_is_not_written_over(tmp_path):
    X, _ = rx.from_lists([["a"]])
    X.to_parquet(tmp_path / "x")
    with pytest.raises(rx.InputError) as error:
        X.to_parquet(tmp_path / "x")
    assert str(error.value) == (
        f"{tmp_path / 'x'}: this is there already\nhint: give another name, or remove it first"
    )
    assert rx.scan_parquet(tmp_path / "x").load() == X


def test_what_a_killed_writer_leaves_is_no_folder_of_partitions(tmp_path):
    X, _ = rx.from_lists([["a"]])
    X.to_parquet(tmp_path / "x")
    (tmp_path / "x" / "manifest.json").unlink()  # it is written last
    with pytest.raises(rx.DataError, match=r"no folder of partitions: it has no manifest\.json"):
        rx.scan_parquet(tmp_path / "x")


# One search


def settled(language):
    """Short patterns, so that tiny partitions do not find too many."""
    known = {k: v for k, v in language.parameters.items() if k in KINDS}
    return known | {"max_length": 2}


def cut_at_random(n, seed):
    """Up to five partitions; some may be empty, and some lack a class."""
    rng = random.Random(seed)
    return [0, *sorted(rng.randint(0, n) for _ in range(rng.randint(0, 4))), n]


@pytest.mark.filterwarnings(SMALL)
@pytest.mark.parametrize("seed", range(20))
def test_partitions_give_the_patterns_of_one_search_in_its_order(tmp_path, seed):
    language = make_language(seed)
    X, labels = language.X, language.labels
    y = None if X.labels is not None or labels is None else list(labels)
    parts = written(X, tmp_path / "x", cut_at_random(len(X), seed))
    one = rx.mine(X, y, language.bias, **settled(language))
    many = rx.mine(parts, y, language.bias, **settled(language))
    assert list(many.texts()) == list(one.texts())
    assert many == one
    assert [level.kept for level in many.report.levels if level.kept] == [
        level.kept for level in one.report.levels if level.kept
    ]


FLAT = "type(st(event,sense,size)). mode(st(+,#,*)). type(he(event,hand,kind,size)). "
FLAT += "mode(he(+,#,#,*)). dimension(next_s). "


@pytest.mark.parametrize(
    "text",
    [
        FLAT,
        FLAT + "dimension(next_b). dimension(next_h).",
        FLAT.replace("st(+,#,*)", "st(+,#,-)). mode(st(+,#,#)"),
    ],
)
def test_partitions_may_be_searched_by_different_engines(tmp_path, monkeypatch, text):
    folds = rx.load_protein_folds()
    X, bias = folds.X[::4].with_labels(folds.y[::4]), rx.parse_bias(text)
    parts = written(X, tmp_path / "x", [0, 20, 100, 180, len(X)])
    whole = rx.mine(X, None, bias, min_support=0.2, max_length=2)
    used = []

    def in_turn(compiled, conditions, *, object_identity):
        best = choose(compiled, conditions, object_identity=object_identity)
        used.append(General if len(used) % 2 else best)
        return used[-1]

    monkeypatch.setattr("relynx.mining.engines.choose.choose", in_turn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = rx.mine(parts, None, bias, min_support=0.2, max_length=2)
    assert many == whole
    assert len(used) == 4


def test_what_rules_make_is_coded_alike_in_all_partitions(tmp_path):
    rules = "gap(E,N) :- at(E,T), next_s(E,F), at(F,U), N is U - T."
    lists = [[("at", 1), ("at", 9)], [("at", 2), ("at", 5)], [("at", 3), ("at", 11)]]
    lists += [[("at", 4), ("at", 7)], [("at", 0), ("at", 8)]]
    X = rx.from_lists(lists)[0].with_background(rx.parse_background(rules))
    bias = rx.parse_bias(
        "type(gap(event,gap)). mode(gap(+,#)). type(at(event,time)). mode(at(+,#)). "
        "dimension(next_s)."
    )
    parts = written(X, tmp_path / "x", [0, 2, 4, 5])
    with pytest.warns(UserWarning, match="in 3 of 3 partitions a pattern is frequent"):
        many = rx.mine(parts, None, bias, min_support=0.4)
    assert many == rx.mine(X, None, bias, min_support=0.4)
    assert "gap(A,8)" in list(many.texts())


def test_a_partition_of_single_events_takes_the_events_of_the_whole(tmp_path):
    X, _ = rx.from_lists([["a", "b"], ["b", "a"], ["a"], ["b"], ["a", "b", "a"], ["b"]])
    bias = rx.Bias.infer(X)
    parts = written(X, tmp_path / "x", [0, 2, 4, 5, 6])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = rx.mine(parts, None, bias, min_support=0.3)
    assert many == rx.mine(X, None, bias, min_support=0.3)


@pytest.mark.filterwarnings(SMALL)
@pytest.mark.parametrize(
    "limits",
    [
        {"min_support": 0.0, "min_frequency": 30},
        {"min_support": 0.05, "min_frequency": 3},
        {"min_support": 0.3, "min_frequency": 40},
    ],
)
def test_the_least_frequency_may_decide(tmp_path, limits):
    X, y = rx.planted_rule(60, n_events=5, random_state=3)
    parts = written(X.with_labels(y), tmp_path / "x", [0, 7, 30, 60])
    assert rx.mine(parts, None, BIAS, **limits) == rx.mine(X, y, BIAS, **limits)


def test_filters_of_the_answer_work_on_partitions(tmp_path):
    X, y = rx.planted_rule(200, random_state=3)
    X.to_parquet(tmp_path / "x", partitions=2, y=y)
    parts = rx.scan_parquet(tmp_path / "x")
    wanted = {
        "min_support": 0.3,
        "min_confidence": 0.6,
        "max_support": {"no": 0.2},
        "closed": True,
        "top_k": 20,
    }
    assert rx.mine(parts, None, BIAS, **wanted) == rx.mine(X, y, BIAS, **wanted)


def test_other_labels_may_be_given_to_the_search(tmp_path):
    X, _ = rx.planted_rule(100, random_state=3)
    X.to_parquet(tmp_path / "x", partitions=2)
    parts = rx.scan_parquet(tmp_path / "x")
    other = np.arange(100) % 3
    found = rx.mine(parts, other, BIAS, min_support=0.5, max_length=2)
    assert found == rx.mine(X, other, BIAS, min_support=0.5, max_length=2)


def test_a_search_that_ends_early_says_how_far_it_is_right(tmp_path):
    X, y = rx.planted_rule(300, random_state=3)
    X.to_parquet(tmp_path / "x", partitions=2)
    parts = rx.scan_parquet(tmp_path / "x")
    whole = rx.mine(X, y, BIAS, min_support=0.3)
    some = rx.mine(parts, y, BIAS, min_support=0.3, progress=lambda now: False, time_limit=0)
    assert some.partial == f"stopped by time_limit=0 at length {some.complete_up_to + 1}"
    short = whole.lengths <= some.complete_up_to
    assert list(some.texts()) == list(whole[short].texts())
    assert np.array_equal(some.supports, whole[short].supports)


def test_counting_that_takes_too_long_keeps_the_lengths_that_are_counted(tmp_path, monkeypatch):
    X, y = rx.planted_rule(300, random_state=3)
    parts = written(X.with_labels(y), tmp_path / "x", [0, 60, 300])
    whole = rx.mine(X, y, BIAS, min_support=0.3)
    clock = SimpleNamespace(monotonic=itertools.count(0, 100).__next__)
    monkeypatch.setattr(partition_tasks, "time", clock)
    some = rx.mine(parts, None, BIAS, min_support=0.3, time_limit=600)
    assert (some.complete_up_to, some.partial) == (1, "stopped by time_limit=600 at length 2")
    short = whole.lengths == 1
    assert list(some.texts()) == list(whole[short].texts())
    assert np.array_equal(some.supports, whole[short].supports)


def test_a_limit_that_nobody_set_is_warned_of_with_the_lines_to_tighten(tmp_path, monkeypatch):
    X, y = rx.planted_rule(300, random_state=3)
    parts = written(X.with_labels(y), tmp_path / "x", [0, 150, 300])

    def run(self, budget, **options):
        complete = run_(self, budget, **options)
        budget.over(3, "too much of something")
        return complete - 1

    run_ = Engine.run
    monkeypatch.setattr(Engine, "run", run)
    with pytest.warns(UserWarning, match="too much of something") as caught:
        found = rx.mine(parts, None, BIAS, min_support=0.3, max_length=3)
    lines = [
        "stopped by too much of something at length 3; complete up to length 2",
        *found.report.advice,
    ]
    assert str(caught[0].message) == "\n".join(lines)
    assert lines[1].startswith("what made it large, in what was found of length 2, ")
    assert caught[0].filename == __file__


# Models


@pytest.fixture
def halves(tmp_path):
    X, y = rx.planted_rule(120, n_events=5, random_state=3)
    X = X.with_labels(y)
    return X, written(X, tmp_path / "x", [0, 50, 120])


def test_a_vectorizer_is_fitted_to_partitions_and_transforms_them(halves):
    X, parts = halves
    whole = rx.PatternVectorizer(BIAS, min_support=0.3, max_length=2).fit(X)
    vectorizer = rx.PatternVectorizer(BIAS, min_support=0.3, max_length=2).fit(parts)
    assert vectorizer.patterns_ == whole.patterns_
    matrix = vectorizer.transform(parts)
    assert matrix.shape == (120, len(whole.patterns_))
    assert (matrix != whole.transform(X)).nnz == 0


def test_frames_of_partitions_are_stacked(halves):
    X, parts = halves
    vectorizer = rx.PatternVectorizer(BIAS, max_length=1).set_output(transform="pandas").fit(X)
    assert vectorizer.transform(parts).equals(vectorizer.transform(X))


def test_a_classifier_predicts_partitions(halves):
    X, parts = halves
    model = rx.LynxClassifier(BIAS, max_length=2, max_iter=2, n_features=2, random_state=0)
    model.fit(X, X.labels)
    assert np.array_equal(model.predict(parts), model.predict(X))
    assert np.array_equal(model.predict_proba(parts), model.predict_proba(X))


def test_a_classifier_learns_in_memory(halves):
    with pytest.raises(rx.InputError) as error:
        rx.LynxClassifier(BIAS).fit(halves[1])
    assert str(error.value) == (
        "X is a folder of partitions, and a model learns from sequences in memory\n"
        "hint: give X.load(), or some partitions: X.partition(0)"
    )


def test_numbers_to_be_cut_by_class_need_memory(tmp_path):
    table = {"case": [1, 2], "cost": [1.5, 2.5], "label": ["up", "down"]}
    X, _ = rx.from_events(table, sequence="case", label="label", bins={"cost": "supervised"})
    X.to_parquet(tmp_path / "x")
    with pytest.raises(rx.InputError) as error:
        rx.PatternVectorizer(BIAS).fit(rx.scan_parquet(tmp_path / "x"))
    assert str(error.value) == (
        "column 'cost' is to be cut by class, which needs all sequences in memory\n"
        "hint: read the table with other bins, or give X.load()"
    )


# What is refused


def test_small_partitions_are_warned_of(tmp_path):
    X, y = rx.planted_rule(40, n_events=3, random_state=3)
    X.to_parquet(tmp_path / "x", partitions=4, y=y)
    parts = rx.scan_parquet(tmp_path / "x")
    with pytest.warns(UserWarning, match="partitions") as caught:
        rx.mine(parts, None, BIAS, min_support=0.2, max_length=1)
    assert str(caught[0].message) == (
        "in 4 of 4 partitions a pattern is frequent that covers 1 of 4 sequences: the first pass "
        "finds far too many; write fewer, larger partitions, or give a larger min_support"
    )
    assert caught[0].filename == __file__


def refused(tmp_path, **settings):
    X, y = rx.planted_rule(20, n_events=3, random_state=3)
    X.to_parquet(tmp_path / "x", partitions=2, y=y)
    with pytest.raises(rx.InputError) as error:
        rx.mine(rx.scan_parquet(tmp_path / "x"), **{"bias": BIAS, **settings})
    return str(error.value)


def test_partitions_need_a_bias(tmp_path):
    assert refused(tmp_path, bias=None) == (
        "partitions are mined with a bias that is given\n"
        "hint: Bias.infer(parts.partition(0)) infers one from the first of them"
    )


def test_partitions_have_no_least_cover(tmp_path):
    assert refused(tmp_path, min_cover=2) == (
        "min_cover needs all sequences at once, which partitions are not\n"
        "hint: give min_cover=0, and choose by covering(X, 2) from the answer"
    )


def test_partitions_have_no_checkpoint(tmp_path):
    assert refused(tmp_path, checkpoint=tmp_path / "kept") == (
        "a checkpoint is of a search of sequences in memory, not of partitions\n"
        "hint: leave it out, or give parts.load()"
    )


def test_a_client_must_be_one(tmp_path):
    assert refused(tmp_path, client="tcp://here:8786") == (
        "client is a str, which has no submit\n"
        "hint: give a dask.distributed.Client, or None to work in this process"
    )


def test_sequences_in_memory_take_no_client():
    X, y = rx.planted_rule(10, n_events=3, random_state=3)
    with pytest.raises(rx.InputError) as error:
        rx.mine(X, y, BIAS, client=object())
    assert str(error.value) == (
        "a client works on partitions, and X is in memory\n"
        "hint: write it by X.to_parquet(folder), and give scan_parquet(folder)"
    )


def test_the_same_number_of_labels_is_asked_for(tmp_path):
    assert refused(tmp_path, y=["a"]) == "1 label in y for 20 sequences in X"


def test_a_folder_without_sequences_is_not_mined(tmp_path):
    X, _ = rx.from_lists([["a"]])
    X[:0].to_parquet(tmp_path / "x")
    with pytest.raises(rx.DataError, match=r"^there are no sequences to mine$"):
        rx.mine(rx.scan_parquet(tmp_path / "x"), bias=BIAS)


def test_a_bias_with_predicates_that_the_folder_lacks_is_refused(tmp_path):
    bias = rx.parse_bias("type(did(event)). mode(did(+)).")
    assert refused(tmp_path, bias=bias).startswith("<text>:1:6: did is in neither the data nor")


def test_a_worker_with_another_folder_or_version_refuses(tmp_path):
    X, y = rx.planted_rule(20, n_events=3, random_state=3)
    X.to_parquet(tmp_path / "x", y=y)
    parts = rx.scan_parquet(tmp_path / "x")
    right = partition_tasks.Where.of(parts)
    assert isinstance(partition_tasks.opened(right), Partitions)
    here = f"on {socket.gethostname()}"
    for wrong, text in (
        (
            {"version": "0.0.0"},
            f"relynx is {rx.__version__} {here}, and 0.0.0 where the work is given out\n"
            "hint: install the same version everywhere",
        ),
        (
            {"folder": "/nowhere"},
            f"/nowhere: this folder is not there {here}\n"
            "hint: put it where all workers see it under the same name, on a shared disk",
        ),
        (
            {"digest": "0"},
            f"{tmp_path / 'x'}: this folder holds something else {here} than where the work is "
            "given out\nhint: write it once, on a disk that all workers share",
        ),
    ):
        with pytest.raises(rx.InputError) as error:
            partition_tasks.opened(replace(right, **wrong))
        assert str(error.value) == text
