"""The time and the memory of a search: what is measured, asked and said."""

import mmap
import random
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from relynx import Sequences, from_lists, load_protein_folds, mine, parse_bias
from relynx.logic.terms import Atom
from relynx.mining import budget as bd
from relynx.mining.budget import Budget, OverBudget, default_memory_limit, resident
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.bits.engine import Bits
from relynx.mining.engines.general.engine import General


@pytest.fixture
def held(monkeypatch):
    """Sets how many bytes the process is taken to hold."""
    monkeypatch.setattr(bd, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(bd, "PROGRESS_EVERY", 0.0)
    return lambda n: monkeypatch.setattr(bd, "resident", lambda: n)


def test_resident_memory_grows_by_what_is_written_to():
    before = resident()
    with mmap.mmap(-1, 50_000_000) as pages:  # not bytes, which may reuse what was freed
        pages.write(b"x" * len(pages))
        assert 45_000_000 < resident() - before < 140_000_000


def test_without_limits_the_search_goes_on():
    assert Budget().goes_on(1, 10)


def test_time_that_is_used_up_ends_the_search(monkeypatch):
    budget = Budget(time_limit=2.5)
    now = budget.start
    monkeypatch.setattr(bd.time, "monotonic", lambda: now + 2.4)
    assert budget.goes_on(3, 10)
    monkeypatch.setattr(bd.time, "monotonic", lambda: now + 2.6)
    assert not budget.goes_on(3, 10)
    assert budget.reason == "stopped by time_limit=2.5 at length 3"


def test_memory_that_is_used_up_ends_the_search(held):
    held(900)
    budget = Budget(memory_limit=1000)
    assert budget.goes_on(2, 10)
    held(1001)
    assert not budget.goes_on(2, 10)
    assert budget.reason == "stopped by memory_limit=1,000 at length 2"


def test_what_handing_over_takes_is_part_of_the_memory(held):
    held(900)
    assert Budget(memory_limit=1000).goes_on(2, 10, more=100)
    assert not Budget(memory_limit=1000).goes_on(2, 10, more=101)


def test_the_caller_may_end_the_search(held):
    held(7)
    told = []
    budget = Budget(progress=lambda p: told.append(p) or len(told) < 2)
    assert budget.goes_on(1, 5)
    assert not budget.goes_on(2, 6)
    assert budget.reason == "stopped by the caller at length 2"
    assert [(p.length, p.patterns, p.memory) for p in told] == [(1, 5, 7), (2, 6, 7)]


def test_room_is_refused_where_there_is_none(held):
    held(0)
    budget = Budget(memory_limit=10 * bd.SMALL)
    budget.take(10 * bd.SMALL)
    with pytest.raises(OverBudget):
        budget.take(10 * bd.SMALL + 1)
    held(20 * bd.SMALL)
    budget.take(bd.SMALL)  # a little is never refused
    budget.over(4)
    assert budget.reason == f"stopped by memory_limit={10 * bd.SMALL:,} at length 4"


def test_the_first_reason_stays(held):
    held(2000)
    budget = Budget(memory_limit=1000)
    assert not budget.goes_on(2, 1)
    budget.over(9)
    assert budget.reason == "stopped by memory_limit=1,000 at length 2"


def test_by_default_four_fifths_of_what_is_free_are_taken(monkeypatch, held):
    held(100)
    monkeypatch.setattr(bd, "_machine_free", lambda: 1000)
    monkeypatch.setattr(bd, "_container_free", lambda: 500)
    assert default_memory_limit() == 100 + 400
    budget = Budget()
    held(501)
    assert not budget.goes_on(1, 1)
    assert budget.reason == (
        "stopped by the memory of the machine, of which 500 bytes may be used, at length 1"
    )


def a_group(folder, most, used, stat=None):
    """What a system of the second kind says of a group of processes."""
    folder.mkdir(exist_ok=True)
    (folder / "memory.max").write_text(most)
    (folder / "memory.current").write_text(used)
    if stat is not None:
        (folder / "memory.stat").write_text(stat)


def rooted(groups, root):
    """Control groups of which the files are in another folder."""
    return groups[0], str(root), *groups[2:]


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A folder of groups; the process is in the group `job`."""
    own = tmp_path / "own"
    own.write_text("1:name=systemd:/\n0::/job\n")
    monkeypatch.setattr(bd, "OWN_GROUPS", str(own))
    root = tmp_path / "root"
    root.mkdir()
    second, first = bd.GROUPS
    first = rooted(first, tmp_path / "none")
    monkeypatch.setattr(bd, "GROUPS", (rooted(second, root), first))
    return root


@pytest.mark.parametrize(
    ("most", "used", "free"),
    [("1000\n", "400\n", 600), ("max\n", "400\n", float("inf")), ("100\n", "400\n", 0)],
)
def test_a_container_tells_how_much_is_free(groups, most, used, free):
    a_group(groups, most, used)
    assert bd._container_free() == free


def test_the_group_of_the_process_and_those_around_it_count(groups):
    a_group(groups, "max", "10000")
    a_group(groups / "job", "1000", "300")
    assert bd._container_free() == 700
    a_group(groups, "5000", "4900")
    assert bd._container_free() == 100


def test_files_that_the_system_remembers_are_no_memory_in_use(groups):
    a_group(groups, "1000", "900", "anon 100\ninactive_file 600\nactive_file 200\n")
    assert bd._container_free() == 700


def test_groups_of_the_first_kind_count(groups, tmp_path, monkeypatch):
    folder = tmp_path / "first" / "job"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text("1000\n")
    (folder / "memory.usage_in_bytes").write_text("900\n")
    (folder / "memory.stat").write_text("inactive_file 5\ntotal_inactive_file 50\n")
    (tmp_path / "own").write_text("4:cpu,memory:/job\n")
    second, first = bd.GROUPS
    monkeypatch.setattr(bd, "GROUPS", (second, rooted(first, tmp_path / "first")))
    assert bd._container_free() == 150


def test_where_no_container_tells_nothing_is_known(groups, monkeypatch):
    assert bd._container_free() == float("inf")
    monkeypatch.setattr(bd, "OWN_GROUPS", "/no/such/file")
    assert bd._container_free() == float("inf")


# Searches that end by their memory


LETTERS = [random.Random(i).choices("abcdefgh", k=20) for i in range(60)]
Y = ["u", "v"] * 30


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("engine", [Bits, General])
def test_matches_that_do_not_fit_end_the_search(engine, monkeypatch, n_jobs):
    monkeypatch.setattr("relynx.mining.engines.choose.choose", lambda *_, **__: engine)
    bias = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")
    letters = from_lists(LETTERS, Y, predicate="q")[0]
    whole = mine(letters, Y, bias, min_support=0.9)
    ended = set()
    for n_bytes in (300, 3_000, 30_000, 300_000, 3_000_000):
        with monkeypatch.context() as patch:
            patch.setattr(bd, "SMALL", 0)
            patch.setattr(bits, "FEW_ROWS", 1)
            patch.setattr(Budget, "left", lambda _, n=n_bytes: n)
            found = mine(letters, Y, bias, min_support=0.9, memory_limit=10**15, n_jobs=n_jobs)
        ended.add(found.complete_up_to)
        length = found.complete_up_to + 1
        if found.partial is not None:
            assert found.partial == f"stopped by memory_limit={10**15:,} at length {length}"
        short = whole.lengths <= found.complete_up_to
        complete = found[found.lengths <= found.complete_up_to]
        assert [*complete.texts()] == [*whole[short].texts()]
    assert len(ended) > 1


@pytest.mark.parametrize("left", [3_000, 30_000, 300_000])
def test_ways_to_link_an_event_are_looked_for_only_where_there_is_room(monkeypatch, left):
    whole, taken = bits.ak.start_search, []

    def spied(facts, graph, rows, depth, n_places):
        taken.append(n_places * bits.ak.search_bytes(len(rows.events) + 1, depth))
        search = whole(facts, graph, rows, depth, n_places)
        columns = search.nodes, search.owner, search.active, search.room
        assert taken[-1] == sum(column.nbytes for column in columns)
        return search

    monkeypatch.setattr(bits, "PLACES_A_CALL", 0)  # each pattern by itself
    monkeypatch.setattr(bits.ak, "start_search", spied)
    monkeypatch.setattr(bd, "SMALL", 0)
    monkeypatch.setattr(Budget, "left", lambda _: left)
    events = [f"e{i}" for i in range(20)]
    atoms = [Atom("q", (event, "a")) for event in events]
    atoms += [Atom(name, pair) for pair in pairwise(events) for name in ("next_s", "next_h")]
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s). dimension(next_h).")
    found = mine(Sequences.from_atoms([atoms] * 10), None, bias, max_length=4, memory_limit=10**15)
    assert found.partial is not None
    assert found.partial.startswith(f"stopped by memory_limit={10**15:,} at length ")
    assert max(taken, default=0) <= left


def test_matches_that_are_made_again_ask_for_room_too(monkeypatch):
    whole, allowed = bits.rk.advance, []
    monkeypatch.setattr(
        bits.rk, "advance", lambda *args: (allowed.append(args[-1]), whole(*args))[1]
    )
    monkeypatch.setattr(bits, "FEW_ROWS", 1)
    monkeypatch.setattr(Budget, "left", lambda _: 10**7)
    bias = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")
    mine(from_lists(LETTERS, Y, predicate="q")[0], Y, bias, min_support=0.9)
    assert {*allowed} == {10**7 // (3 * (13 + 4 * 3))}


# The peak is asked of the process itself: `ru_maxrss` may be that of the one that started it.
EXPLODING = """
import re
from pathlib import Path
import relynx as rx
from relynx.mining.budget import resident
folds = rx.load_protein_folds()
bias = rx.parse_bias('''
    type(he(event,hand,class,length)). mode(he(+,*,*,*)).
    type(st(event,sense,length)). mode(st(+,*,*)). dimension(next_s).
''')
rx.mine(folds.X[::40], folds.y[::40], bias, max_length=2, min_support=0.5)
limit = resident() + 60_000_000
found = rx.mine(folds.X, folds.y, bias, max_length=8, min_support=0.05, memory_limit=limit)
assert found.partial.startswith(f"stopped by memory_limit={limit:,} at length "), found.partial
peak = re.search(r"VmHWM:\\s*([0-9]+) kB", Path("/proc/self/status").read_text())
print(int(peak[1]) * 1024 / limit)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system how large the process is")
def test_the_process_is_not_larger_than_its_limit():
    told = subprocess.run(
        [sys.executable, "-c", EXPLODING], capture_output=True, text=True, check=True, timeout=300
    )
    assert 0.9 < float(told.stdout) < 1.1


def test_a_bias_that_explodes_ends_in_time_and_says_what_made_it_large():
    folds = load_protein_folds()
    bias = parse_bias("""
        type(he(event,hand,class,length)). mode(he(*,*,*,*)). type(st(event,sense,length)).
        mode(st(*,*,*)). type(ladder(event,event,sense)). mode(ladder(*,*,*)).
        dimension(next_s). dimension(next_b). dimension(next_h).
    """)
    mine(folds.X[::100], folds.y[::100], bias, max_length=1)  # compiles
    begun = time.process_time()
    found = mine(folds.X, folds.y, bias, max_length=8, min_support=0.02, time_limit=1)
    assert time.process_time() - begun < 6
    assert found.partial is not None
    said = found.explain_search()
    for line in bias.mode_lines("he"), bias.mode_lines("st"), ["dimension(next_s)"]:
        assert line[0] in said
