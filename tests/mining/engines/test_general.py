"""The general engine: siblings refined at once, room that grows, what a pattern can become."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from relynx import BiasError, Sequences
from relynx.bias import parse_bias
from relynx.logic.terms import Atom
from relynx.mining.engines import choose as choosing
from relynx.mining.engines.general import _refinement_kernels as rk
from relynx.mining.engines.general import _sibling_kernels as sk
from relynx.mining.engines.general import engine as general
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import Trie
from relynx.mining.search import mine

BIAS = """
type(q(event,t)). mode(q(+,*)).
type(r(event,event)). mode(r(+,+)).
dimension(next_s). dimension(next_h).
"""
TOO_MANY = (
    "the bias admits too many constants for patterns of this length: "
    "name those that matter with values(type,[...]), or make the others variables"
)


def sequence(random: Random) -> list[Atom]:
    """Events along a line `s` and along another one or a circle `h`, some of them related."""
    events = [f"e{i}" for i in range(random.randint(3, 6))]
    others = random.sample(events, k=len(events))
    if random.random() < 0.3:
        others.append(others[0])
    atoms = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    atoms += [Atom("next_h", pair) for pair in itertools.pairwise(others)]
    atoms += [Atom("q", (event, random.choice("ab"))) for event in events]
    return [*atoms, *(Atom("r", tuple(random.sample(events, k=2))) for _ in range(2))]


@pytest.fixture(scope="module")
def X() -> Sequences:
    random = Random(1)
    return Sequences.from_atoms([sequence(random) for _ in range(12)], labels=["u", "v"] * 6)


@pytest.fixture
def engines(monkeypatch) -> list[general.General]:
    """The engines of the searches so far, all of them general."""
    made: list[general.General] = []

    class Noted(general.General):
        def __init__(self, *args: object, **settings: object) -> None:
            super().__init__(*args, **settings)
            made.append(self)

    monkeypatch.setattr(choosing, "choose", lambda *_, **__: Noted)
    return made


def found(X: Sequences, n_jobs: int = 1, **settings: object) -> PatternSet:
    how = {"min_support": 0.6, "max_length": 2, "max_gap": 1, **settings}
    return mine(X, bias=parse_bias(BIAS), n_jobs=n_jobs, **how)


def written(patterns: PatternSet) -> tuple[object, ...]:
    """All that a search found, in its order."""
    trie = patterns.trie
    arrays = (trie.parent, trie.steps, trie.supports)
    return (*(array.tolist() for array in arrays), patterns.report)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "at_once"), [("FACTS_AT_ONCE", 1), ("FACTS_AT_ONCE", 500), ("REFINEMENTS_AT_ONCE", 1)]
)
def test_the_answer_does_not_depend_on_how_many_siblings_are_refined_at_once(
    X, engines, monkeypatch, name, at_once, n_jobs
):
    whole, units = found(X), []
    count = general.General._count
    monkeypatch.setattr(
        general.General, "_count", lambda *args: (units.append(args[1]), count(*args))[1]
    )
    assert written(found(X)) == written(whole)
    few = len(units)
    monkeypatch.setattr(general, name, at_once)
    units.clear()
    assert written(found(X, n_jobs)) == written(whole)
    assert len(units) > few


def test_siblings_have_one_length_and_come_in_the_order_of_their_rows(X, engines, monkeypatch):
    units: list[general.Siblings] = []
    keep = general.General._keep
    monkeypatch.setattr(
        general.General, "_keep", lambda *args: (units.append(args[1]), keep(*args))[1]
    )
    trie = found(X).trie
    lengths = np.zeros(len(trie.parent), int)
    for row, parent in enumerate(trie.parent.tolist()):
        lengths[row] = (lengths[parent] if parent >= 0 else 0) + (trie.steps[row, 4] >= 0)
    assert max(len(unit.rows) for unit in units) > 1
    for unit in units[1:]:  # the first is the empty pattern
        assert (lengths[unit.rows] == unit.makes).all()
        assert (np.diff(unit.rows) > 0).all()
        assert len({*trie.parent[unit.rows].tolist()}) == 1
        assert np.array_equal(trie.steps[unit.rows], unit.steps)
    by_length = [[u.rows for u in units[1:] if u.makes == n] for n in (1, 2)]
    assert np.array_equal(np.concatenate(by_length[0]), np.flatnonzero(lengths == 1))
    assert len({*np.concatenate(by_length[1]).tolist()}) == sum(map(len, by_length[1]))


def test_room_that_is_too_small_grows(X, engines, monkeypatch):
    whole = found(X)
    wanted = []
    for name in ("_widen", "_enlarge", "_lengthen"):
        more = getattr(general.General, name)
        monkeypatch.setattr(
            general.General, name, lambda *args, n=name, f=more: (wanted.append(n), f(*args))[1]
        )

    def buffers(engine: general.General) -> general.Buffers:
        nothing = np.empty((20, 1), np.int32), np.empty(1, np.int32)
        return general.Buffers(engine._table(4), nothing, engine._frequent(1))

    monkeypatch.setattr(general.General, "_buffers", buffers)
    assert written(found(X)) == written(whole)
    assert {*wanted} == {"_widen", "_enlarge", "_lengthen"}


def test_a_child_of_many_matches_is_refined_some_matches_at_a_time(X, engines, monkeypatch):
    whole, large, n_children = found(X), [], []
    refine, count = general.General._refine, general.General._count
    monkeypatch.setattr(
        general.General, "_refine", lambda *args: (large.append(args[2]), refine(*args))[1]
    )
    monkeypatch.setattr(
        general.General,
        "_count",
        lambda *args: (n_children.append(len(args[1].steps)), count(*args))[1],
    )
    assert written(found(X)) == written(whole)
    assert not large
    n_children.clear()
    monkeypatch.setattr(general, "ROWS_AT_ONCE", 12)
    assert written(found(X)) == written(whole)
    assert 0 < len(large) < sum(n_children)


def test_the_search_is_asked_after_so_many_looks(X, engines, monkeypatch):
    whole, done, asked = found(X), [], []
    grow = sk.grow

    def soon(*args: object) -> tuple[int, int]:
        if args[-1] == sk.ALL:
            args[10][0] = 0  # looks
            done.append(len(args[8]) - args[9])
        return grow(*args)

    monkeypatch.setattr(general.sk, "grow", soon)
    monkeypatch.setattr(general.General, "_pulse", lambda _: asked.append(1))
    assert written(found(X)) == written(whole)
    assert max(done) > 2
    assert all(left == 1 or after == left - 1 for left, after in itertools.pairwise(done))
    assert len(asked) >= len(done)


# What a pattern can become


def options(engine: general.General, steps: np.ndarray) -> tuple[list, list]:
    """The links to a new event and between old ones that a pattern may get, slowly."""
    compiled, rules = engine.compiled, engine.rules
    types: list[int] = []
    links_of: dict[int, dict[int, int]] = {d: {} for d in compiled.dimensions}
    length = 0
    for d, _, x, y, relation, *args in steps.tolist():
        if d >= 0:
            links_of[d][x] = y
            types += [compiled.event_type] * (y == len(types))
        length += relation >= 0
        of_arguments = compiled.types[relation] if relation >= 0 else ()
        for arg, type_ in zip(args, of_arguments, strict=False):
            types += [type_] * (arg == len(types))
    events = [v for v, type_ in enumerate(types) if type_ == compiled.event_type]
    links, closings = [], []
    for d, is_acyclic in zip(compiled.dimensions, rules.acyclic, strict=True):
        after = links_of[d]
        leaves = [x for x in events if x not in after]
        if length < rules.max_length:
            links += [[d, n, x] for x in leaves for n in rules.steps]
        for y in events:
            if y in after.values():
                continue
            tail = y
            while tail in after:
                tail = after[tail]
            for x in leaves:
                if not (is_acyclic and x == tail):
                    closings += [[d, n, x, y] for n in rules.steps]
    return links, closings


def steps_of(trie: Trie, row: int) -> np.ndarray:
    """The steps that make a pattern."""
    chain, at = [], row
    while at >= 0:
        chain.append(trie.steps[at])
        at = trie.parent[at]
    return np.array(chain[::-1], np.int32)


@pytest.mark.kernels
@pytest.mark.parametrize("max_gap", [1, 2])
def test_links_and_closings_of_every_pattern_are_those_of_a_slow_twin(X, engines, max_gap):
    with np.errstate(over="ignore"):  # of a hash, where loops are not compiled
        trie = found(X, max_gap=max_gap, min_support=0.9).trie
    (engine,) = engines
    assert [*engine.rules.acyclic] == [True, False]
    n_closings = 0
    for row in range(len(trie.parent)):
        steps = steps_of(trie, row)
        pattern = rk.read(engine._rules(len(steps)), engine.language, steps, len(steps))
        links, closings = options(engine, steps)
        assert pattern.links[: pattern.n_links].tolist() == links
        assert pattern.closings[: pattern.n_closings].tolist() == closings
        n_closings += len(closings)
    assert n_closings > 100


def of_letters(letters: str, *more: Atom) -> Sequences:
    """One line of letters, and more."""
    events = [f"e{i}" for i in range(len(letters))]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    facts = [Atom("q", pair) for pair in zip(events, letters, strict=True)]
    return Sequences.from_atoms([[*links, *facts, *more]])


@pytest.mark.parametrize(
    ("more", "mode", "of_short", "of_long"),
    [
        ([], "mode(q(+,-)).", False, True),
        ([Atom("next_s", ("e0", "e2"))], "mode(q(+,-)).", False, False),
        ([Atom("next_s", ("e2", "e0"))], "mode(q(+,-)).", False, False),
        ([Atom("next_s", ("e0", "e2"))], "mode(q(+,#)).", True, True),
    ],
    ids=["line", "branch", "ring", "branch, no values"],
)
def test_links_between_old_events_are_few_looks_but_in_graphs(
    engines, more, mode, of_short, of_long
):
    X = of_letters("aab", *more)
    bias = parse_bias(f"type(q(event,t)). {mode} dimension(next_s). dimension(next_h).")
    trie = mine(X, bias=bias, max_length=2, max_gap=1).trie
    (engine,) = engines
    told: dict[bool, set[bool]] = {False: set(), True: set()}
    for row in range(len(trie.parent)):
        steps = steps_of(trie, row)
        pattern = rk.read(engine._rules(len(steps)), engine.language, steps, len(steps))
        few = sk.has_few_looks(engine.data, engine.language, pattern)
        told[pattern.is_last].add(bool(few))
    assert told == {False: {of_short}, True: {of_long}}


# Too many codes


def many_constants(n: int) -> Sequences:
    """Facts of twelve arguments, eleven of them among n constants."""
    random = Random(0)
    values = [f"c{i}" for i in range(n)]
    facts = [
        Atom("p", (f"e{i}", *(random.choice(values) for _ in range(10)), value))
        for i, value in enumerate(values)
    ]
    return Sequences.from_atoms([facts])


@pytest.mark.parametrize(("n", "max_length"), [(40, 1), (23, 2)])
def test_a_bias_of_too_many_constants_is_refused(engines, n, max_length):
    kinds = ",".join(["t"] * 11)
    signs = ",".join(["#"] * 11)
    bias = parse_bias(f"type(p(event,{kinds})). mode(p(+,{signs})).")
    assert len(mine(many_constants(5), bias=bias, max_length=2, min_support=0.1)) == 5
    with pytest.raises(BiasError) as error:
        mine(many_constants(n), bias=bias, max_length=max_length, min_support=0.1)
    assert str(error.value) == TOO_MANY
    if n == 23:
        assert len(mine(many_constants(n), bias=bias, max_length=1, min_support=0.1)) == n
