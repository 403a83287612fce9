"""A few inputs of every target of `make fuzz`, and the counting of them."""

import json
import signal
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from fuzzing import running
from fuzzing.running import Run, SlowError, State, all_targets, checked, table
from fuzzing.targets import Mutator, Target

from relynx import InputError

N = 25


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return all_targets(tmp_path_factory.mktemp("fuzz"))


def test_every_reader_and_every_kind_of_model_is_a_target(targets):
    from relynx.store import KINDS

    assert len([name for name in targets if name.startswith("load, ")]) >= len(KINDS)
    for name in ("lynx", "background", "bias", "bias, original", "bias, Aleph", "bias, Popper"):
        assert name in targets
    for name in ("pattern", "atoms", "lists", "LoHMM", "events, csv", "events, parquet", "folds"):
        assert name in targets
    for name in ("events, xlsx", "intervals", "XES", "XES, gz", "PDB", "mmCIF", "BinaryCIF"):
        assert name in targets


def test_a_few_inputs_of_every_target_are_taken_or_refused(targets):
    taken = dict.fromkeys(targets, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, target in targets.items():
            for number in range(N):
                try:
                    taken[name] += target.check(target.input(0, number))
                except InputError:
                    continue
    assert sum(taken.values()) > 2 * len(taken)


def test_an_input_depends_on_its_number_only(targets):
    for target in targets.values():
        first = [target.input(5, number) for number in range(4)]
        assert [target.input(5, number) for number in reversed(range(4))] == first[::-1]
        assert len({*first, target.input(6, 0)}) > 1


def test_most_inputs_are_small(targets):
    texts = [name for name in targets if not name.startswith("load")]
    sizes = [len(targets[name].input(1, number)) for name in texts for number in range(50)]
    assert np.median(sizes) < 600
    assert max(sizes) <= 20_000


def of(check, name="one"):
    return Target(name, 1, Mutator([b"a(b)."]), check)


@pytest.fixture
def alarm():
    before = signal.signal(signal.SIGPROF, running._too_slow)
    yield
    signal.signal(signal.SIGPROF, before)


def test_an_input_that_is_refused_is_no_failure(alarm):
    def refuse(data):
        raise InputError("no")

    assert checked(of(refuse), b"") is False
    assert checked(of(lambda data: True), b"") is True


def test_another_error_is_a_failure(alarm):
    def fail(data):
        raise KeyError("x")

    with pytest.raises(KeyError):
        checked(of(fail), b"")


def test_an_input_that_takes_too_long_is_a_failure(alarm, monkeypatch):
    def hang(data):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                sum(range(1000))
            except Exception:
                return False
        return True

    monkeypatch.setattr(running, "SLOW", 0.05)
    with pytest.raises(SlowError, match="an input took more than 0 s"):
        checked(of(hang), b"")


def test_an_input_that_takes_long_only_once_is_no_failure(alarm, monkeypatch):
    asked = []

    def compile_first(data):
        asked.append(data)
        while len(asked) == 1:
            sum(range(1000))
        return True

    monkeypatch.setattr(running, "SLOW", 0.05)
    assert running._checked_twice(of(compile_first), b"a")
    assert asked == [b"a", b"a"]


def test_an_input_that_takes_much_memory_is_a_failure(alarm, monkeypatch):
    peaks = iter([1000, 1000 + (600 << 10)])  # kB

    def usage(_):
        return SimpleNamespace(ru_maxrss=next(peaks))

    monkeypatch.setattr(running.resource, "getrusage", usage)
    with pytest.raises(running.MemoryTakenError, match="an input of 3 bytes took 600 MB"):
        checked(of(lambda data: True), b"abc")


def test_each_target_has_its_share(tmp_path):
    run = Run({"a": 3, "b": 1}, State(0), path=None, kept=tmp_path)
    given = {"a": 0, "b": 0}
    while (batch := run.next_batch(8000)) is not None:
        name, first, n = batch
        assert first == given[name]
        given[name] += n
    assert given == {"a": 6000, "b": 2000}


def test_runs_add_up(tmp_path):
    path = tmp_path / "state.json"
    run = Run({"a": 1}, State.read(path, 7), path=path, kept=tmp_path)
    run._count("a", 200, 50, 1.0, [])
    run.state.write(path)
    again = State.read(path, 8)
    assert (again.seed, again.total) == (7, 200)
    assert Run({"a": 1}, again, path=path, kept=tmp_path).next_batch(1000) == ("a", 200, 200)
    assert "a                               200         50       0     5.00" in table(again)


def test_a_failure_is_kept_once_with_the_command_that_repeats_it(tmp_path):
    run = Run({"a, b": 1}, State(7), path=None, kept=tmp_path / "kept")
    for number in (3, 4):
        run._count("a, b", 10, 0, 1.0, [(number, b"bad", "KeyError", "KeyError at x.py:1")])
    command = "python tests/fuzz.py --only 'a, b' --seed 7 --number 3"
    assert [failure["command"] for failure in run.state.failures] == [command]
    assert run.state.of("a, b")["failed"] == 2
    assert (tmp_path / "kept" / "a__b-7-3.bin").read_bytes() == b"bad"
    assert (tmp_path / "kept" / "a__b-7-3.txt").read_text() == f"{command}\n\nKeyError\n"


def test_a_state_is_written_whole(tmp_path):
    path = tmp_path / "state.json"
    State(3, {"a": {"done": 1, "taken": 0, "failed": 0, "seconds": 0.5}}).write(path)
    assert json.loads(path.read_text())["counts"]["a"]["done"] == 1
    assert [one.name for one in tmp_path.iterdir()] == ["state.json"]


class Lost:
    """A worker that died in the middle of a batch."""

    def __init__(self, order, number):
        self.order, self.process = order, self
        self.at = self
        self.value = number
        self.exitcode = -6

    def is_alive(self):
        return False

    def stuck(self):
        return False

    def kill(self):
        pass

    def join(self):
        pass


def test_a_process_that_ends_fails_its_input_and_the_rest_of_the_batch_is_done(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(running, "_Worker", lambda seed: "another")
    run = Run({"a": 1}, State(7), path=None, kept=tmp_path)
    workers = [Lost(("a", 100, 50), 120)]
    run._replace_lost(workers)
    assert workers == ["another"]
    assert run.state.failures[0]["where"] == "a: Exit -6 at input 120"
    assert run.state.of("a")["done"] == 1
    assert sorted([run.next_batch(0), run.next_batch(0)]) == [("a", 100, 20), ("a", 121, 29)]
