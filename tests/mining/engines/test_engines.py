"""What holds of both engines: the same answers in every process, and a search that can be ended."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import weakref
from random import Random

import pytest
from enumerate_patterns import Conditions, enumerate_patterns
from paths import TESTS

from relynx import Sequences, covers, from_lists
from relynx.bias import parse_bias
from relynx.logic.canonical import canonical
from relynx.logic.terms import Atom
from relynx.mining import budget
from relynx.mining.engines import choose as choosing
from relynx.mining.engines.base import CHECKS_AT_ONCE, Engine
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.bits.engine import Bits
from relynx.mining.engines.general import engine as general
from relynx.mining.engines.general.engine import General
from relynx.mining.matching.index import Index
from relynx.mining.search import mine

LETTERS = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")
ORDER = """
import hashlib
from languages import make_language
from relynx.mining.search import mine

told = hashlib.sha256()
for seed in range(0, 40, 4):
    language = make_language(seed)
    settings = {**language.parameters, "max_length": 2}
    found = mine(language.X, bias=language.bias, **settings)
    told.update(repr([(str(entry), entry.support) for entry in found]).encode())
    told.update(f"{found.explain_search()} {found.top_k(5)} {found.closed()}".encode())
print(told.hexdigest())
"""


def line(letters: str, *more: Atom) -> list[Atom]:
    """A sequence q(e0,letter), next_s(e0,e1), q(e1,letter), ..."""
    events = [f"e{i}" for i in range(len(letters))]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    return [*links, *(Atom("q", pair) for pair in zip(events, letters, strict=True)), *more]


@pytest.fixture(params=[Bits, General], ids=lambda engine: engine.__name__)
def engine(request, monkeypatch) -> type[Engine]:
    """The engine of all searches."""
    monkeypatch.setattr(choosing, "choose", lambda *_, **__: request.param)
    return request.param


@pytest.mark.parametrize("object_identity", [True, False])
def test_a_key_that_repeats_a_variable_wants_equal_arguments(engine, object_identity):
    facts = [Atom("p", ("e1", "a", "a")), Atom("p", ("e2", "a", "b")), Atom("next_s", ("e1", "e2"))]
    bias = parse_bias(
        "type(p(event,t,t)). mode(p(+,*,*)). dimension(next_s). key([p(_,X,X)]). maxsize(2)."
    )
    conditions = Conditions(max_length=2, object_identity=object_identity)
    expected = enumerate_patterns([set(facts)], ["all"], bias, conditions)
    found = mine(Sequences.from_atoms([facts]), bias=bias, object_identity=object_identity)
    forms = [canonical(tuple(entry.pattern)) for entry in found]
    assert sorted(forms, key=str) == sorted((canonical(one.atoms) for one in expected), key=str)


def test_the_answer_does_not_depend_on_the_process(capsys):
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    there = subprocess.run(
        [sys.executable, "-c", ORDER],
        env=os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    exec(ORDER, {})
    assert there == capsys.readouterr().out != ""


def test_what_a_search_held_is_let_go_with_the_sequences(engine):
    X = from_lists([["a", "b"], ["b", "a", "c"]], predicate="q")[0]
    gc.collect()
    gc.disable()  # what is in no circle goes at once
    try:
        found = mine(X, bias=LETTERS, max_length=2, n_jobs=2)
        found.coverage(X)
        covers("q(A,a), next_s(A,B), q(B,b)", X)
        index = weakref.ref(Index.of(X.facts()))
        del X
        assert index() is None
    finally:
        gc.enable()


# How a search is ended


def test_a_search_can_end_between_the_refinements_of_siblings(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd"), line("dcba")])
    bias = parse_bias("type(q(event,t)). mode(q(+,#)). dimension(next_s).")
    whole = mine(X, bias=bias, max_length=2)
    asked = []

    def goes_on(watch: budget.Budget, length: int, *_: int) -> bool:
        asked.append(length)
        watch.reason = "asked often enough" if len(asked) > 5 else None
        return len(asked) <= 5

    monkeypatch.setattr(bits, "EFFORT_A_UNIT", 1)
    monkeypatch.setattr(bits, "MOST_TOGETHER", 1)
    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=bias, max_length=2)
    assert len(asked) == 6
    assert (found.partial, found.complete_up_to) == ("asked often enough", 1)
    first = whole[whole.lengths == 1]
    assert [*found[found.lengths == 1].texts()] == [*first.texts()]
    assert {*found.texts()} < {*whole.texts()}
    assert 2 in found.lengths


def test_a_search_can_end_between_the_matches_of_a_pattern(monkeypatch):
    X = Sequences.from_atoms([line("abcdabcd")] * 40)
    refine, calls = bits.ck.refine, []

    def goes_on(watch: budget.Budget, *_: int) -> bool:
        watch.reason = "counted often enough" if len(calls) == 3 else None
        return len(calls) < 3

    def refined(*args: object) -> object:
        calls.append(args[7:9])
        return refine(*args)

    monkeypatch.setattr(bits, "ROWS_A_PIECE", 2)
    monkeypatch.setattr(bits, "LOOKS_A_CALL", 1)
    monkeypatch.setattr(bits, "MOST_TOGETHER", 1)
    monkeypatch.setattr(bits.ck, "refine", refined)
    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=LETTERS, max_length=3)
    assert calls == [(0, 0), (0, 2), (0, 4)]  # of the first child, after so many of 40 rows
    assert (found.partial, found.complete_up_to) == ("counted often enough", 1)


@pytest.mark.parametrize("at_once", [1, 7])
@pytest.mark.parametrize("mode", ["mode(q(+,*)).", "mode(q(+,#)). mode(q(+,-))."])
def test_the_answer_does_not_depend_on_where_matches_are_cut(monkeypatch, mode, at_once):
    more = [Atom("r", pair) for pair in [("e0", "e2"), ("e2", "e1"), ("e1", "e1")]]
    X = Sequences.from_atoms([line("abcdab", *more), line("dcba", *more), line("aabb", *more)])
    bias = parse_bias(
        f"type(q(event,t)). {mode} type(r(event,event)). mode(r(+,+)). dimension(next_s)."
    )
    whole = mine(X, bias=bias)
    asked = []
    monkeypatch.setattr(general, "ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(general, "FACTS_AT_ONCE", 1)  # each pattern by itself
    monkeypatch.setattr(General, "_pulse", lambda _: asked.append(1))
    found = mine(X, bias=bias)
    assert found == whole
    assert found.explain_search() == whole.explain_search()
    assert len(asked) > 3 * (whole.lengths < 3).sum()


def test_in_long_sequences_fewer_matches_are_looked_at_before_the_search_asks(monkeypatch):
    rows = []

    def stretches(n_rows: int, at_once: int) -> list[tuple[int, int]]:
        rows.append(at_once)
        return [(0, n_rows)]

    monkeypatch.setattr(choosing, "choose", lambda *_, **__: General)
    monkeypatch.setattr(general, "_stretches", stretches)
    monkeypatch.setattr(general, "EVENTS_AT_ONCE", 1024)
    for n_events in (4, 40):
        mine(Sequences.from_atoms([line("a" * n_events)]), bias=LETTERS, max_length=2)
    assert {*rows} == {1024 // 4, 1024 // 40}


# Constraints of a bias, which are checked pattern by pattern

CONSTRAINED = parse_bias(
    "type(q(event,t)). mode(q(+,#)). dimension(next_s). "
    "negconstraint([q(A,a), next_s(A,B), q(B,b)])."
)


@pytest.fixture(scope="module")
def X() -> Sequences:
    """Lines of twelve letters: a pattern of two atoms has a few hundred siblings."""
    random = Random(0)
    return Sequences.from_atoms(
        [line("".join(random.choices("abcdefghijkl", k=60))) for _ in range(6)]
    )


@pytest.fixture
def events(engine, monkeypatch) -> list[str]:
    """What an engine does: it checks a pattern, or asks whether to go on."""
    noted: list[str] = []
    for name, event in (("_is_forbidden", "check"), ("_pulse", "ask")):
        old = getattr(engine, name)
        monkeypatch.setattr(
            engine,
            name,
            lambda *args, old=old, event=event, **how: (noted.append(event), old(*args, **how))[1],
        )
    return noted


def test_the_search_asks_after_so_many_checks_of_constraints(X, events):
    found = mine(X, bias=CONSTRAINED, max_length=2)
    assert any(level.forbidden for level in found.report.levels)
    runs = [len([*run]) for event, run in itertools.groupby(events) if event == "check"]
    assert CHECKS_AT_ONCE // 2 < max(runs) <= CHECKS_AT_ONCE
    assert sum(run > CHECKS_AT_ONCE // 2 for run in runs) > 2


def test_a_search_can_end_between_checks_of_constraints(X, events, monkeypatch):
    first = mine(X, bias=CONSTRAINED, max_length=1)
    n_first = events.count("check")
    events.clear()
    mine(X, bias=CONSTRAINED, max_length=2)
    assert events.count("check") > n_first + 2 * CHECKS_AT_ONCE
    events.clear()

    def goes_on(watch: budget.Budget, *_: int) -> bool:
        enough = events.count("check") > n_first
        watch.reason = "checked often enough" if enough else None
        return not enough

    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=CONSTRAINED, max_length=2)
    assert n_first < events.count("check") <= n_first + CHECKS_AT_ONCE
    assert found.partial == "checked often enough"
    assert found.complete_up_to < 2
    assert [*found.texts()] == [*first.texts()]
