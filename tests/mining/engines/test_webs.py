"""Growth along several dimensions: the same answer as the general engine, whatever its batches."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from relynx import Sequences, covers, load_protein_folds
from relynx.bias import Bias, parse_bias
from relynx.logic.canonical import canonical
from relynx.logic.terms import Atom
from relynx.mining import search
from relynx.mining.engines import _web_family_kernels as wf
from relynx.mining.engines import _web_kernels as wk
from relynx.mining.engines import webs
from relynx.mining.engines.general import Growth
from relynx.mining.matching import _web_match_kernels as wm
from relynx.mining.patterns.pattern_set import Entry, PatternSet
from relynx.mining.search import mine

BIAS = """
type(p(event,t,u)). mode(p(+,*,#)).
type(q(event,t)). mode(q(+,*)).
dimension(next_s). dimension(next_h).
"""


def sequence(random: Random, n_events: int, facts_of_event: int) -> list[Atom]:
    """Events along a line `s` and, some of them, along paths of `h` in another order."""
    events = [f"e{i}" for i in range(n_events)]
    atoms = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    others = random.sample(events, k=random.randint(n_events // 2, n_events))
    cut = random.randint(0, len(others))
    for path in (others[:cut], others[cut:]):
        atoms += [Atom("next_h", pair) for pair in itertools.pairwise(path)]
    for event in events:
        for _ in range(random.randint(1, facts_of_event)):
            value = random.choice("abc")
            if random.random() < 0.6:
                atoms.append(Atom("p", (event, value, random.choice("xy"))))
            else:
                atoms.append(Atom("q", (event, value)))
    return atoms


def data(seed: int, facts_of_event: int = 1) -> tuple[Sequences, list[str]]:
    random = Random(seed)
    sequences = [sequence(random, random.randint(2, 6), facts_of_event) for _ in range(24)]
    return Sequences.from_atoms(sequences), [random.choice(["yes", "no"]) for _ in sequences]


def counted(found: PatternSet) -> dict[tuple[Atom, ...], dict]:
    answer = {canonical(tuple(entry.pattern)): dict(entry.support) for entry in found}
    assert len(answer) == len(found), "no pattern twice"
    return answer


def by_general_engine(monkeypatch: pytest.MonkeyPatch, *args: object, **settings: object):
    with monkeypatch.context() as patch:
        patch.setattr(search, "choose", lambda *_, **__: Growth)
        return mine(*args, **settings)


@pytest.mark.parametrize("object_identity", [True, False])
@pytest.mark.parametrize("facts_of_event", [1, 2])
@pytest.mark.parametrize("seed", [0, 2])
def test_it_finds_what_the_general_engine_finds(monkeypatch, seed, facts_of_event, object_identity):
    X, y = data(seed, facts_of_event)
    settings = {"min_support": 0.15, "max_length": 3, "object_identity": object_identity}
    found = mine(X, y, parse_bias(BIAS), **settings)
    other = by_general_engine(monkeypatch, X, y, parse_bias(BIAS), **settings)
    assert counted(found) == counted(other)
    assert len(found) > 50


def test_several_dimensions_of_short_sequences_are_searched_by_words_of_bits(monkeypatch):
    X, y = data(0)
    asked = []
    monkeypatch.setattr(webs.Webs, "run", lambda self, *_, **__: asked.append(self) or 0)
    mine(X, y, parse_bias(BIAS))
    assert len(asked) == 1


def test_branching_dimensions_go_to_the_general_engine(monkeypatch):
    atoms = [Atom("q", (e, "a")) for e in ("e1", "e2", "e3")]
    atoms += [Atom("next_s", ("e1", "e2")), Atom("next_s", ("e1", "e3"))]
    atoms += [Atom("next_h", ("e1", "e2"))]
    monkeypatch.setattr(webs.Webs, "run", lambda *_, **__: pytest.fail("no paths"))
    bias = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s). dimension(next_h).")
    found = mine(Sequences.from_atoms([atoms]), None, bias, max_length=2)
    assert any(len(entry.pattern) == 4 for entry in found)


@pytest.mark.parametrize("lanes", [1, 3])
def test_the_answer_does_not_depend_on_how_many_lanes_are_counted_at_once(monkeypatch, lanes):
    X, y = data(5, 2)
    whole = mine(X, y, parse_bias(BIAS), min_support=0.3)
    monkeypatch.setattr(wk, "MOST_LANES", lanes)
    assert mine(X, y, parse_bias(BIAS), min_support=0.3) == whole


@pytest.mark.parametrize(
    "bound",
    [
        {"FEW_PLACES": 0},
        {"FEW_PLACES": 30},
        {"LOOKS_A_UNIT": 1},
        {"MANY_FOUND": 1},
        {"MANY_FOUND": 40, "LOOKS_A_UNIT": 1 << 30},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_the_answer_does_not_depend_on_how_many_patterns_are_counted_in_one_go(
    monkeypatch, seed, bound
):
    X, y = data(seed, 2)
    settings = {"bias": parse_bias(BIAS), "min_support": 0.2, "max_length": 3}
    whole = mine(X, y, **settings)
    for name, value in bound.items():
        monkeypatch.setattr(webs, name, value)
    found = mine(X, y, **settings)
    assert found == whole
    assert found.explain_search() == whole.explain_search()


@pytest.mark.parametrize(("looks", "times"), [(1, 10), (200, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_does_not_depend_on_how_often_the_search_asks(monkeypatch, seed, looks, times):
    X, y = data(seed, 2)
    whole = mine(X, y, parse_bias(BIAS), min_support=0.3)
    asked = []
    monkeypatch.setattr(webs, "LOOKS_AT_ONCE", looks)
    monkeypatch.setattr(webs.Webs, "_pulse", lambda _: asked.append(1))
    found = mine(X, y, parse_bias(BIAS), min_support=0.3)
    assert found == whole
    assert found.explain_search() == whole.explain_search()
    assert len(asked) > times * (whole.lengths < 3).sum()


def test_a_closing_link_says_side_by_side_and_two_apart():
    line = ["e1", "e2", "e3"]
    atoms = [Atom("next_s", pair) for pair in itertools.pairwise(line)]
    atoms += [Atom("q", (e, "a")) for e in line]
    turned = [*atoms, Atom("next_h", ("e1", "e3"))]
    flat = [*atoms, Atom("next_h", ("e1", "e2"))]
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,#)). dimension(next_s). dimension(next_h). maxfollowat(2)."
    )
    found = mine(Sequences.from_atoms([turned, flat]), ["turned", "flat"], bias, max_length=2)
    texts = {str(e.pattern): dict(e.support) for e in found}
    assert texts["q(A,a), followat_s(2,A,B), q(B,a), next_h(A,B)"] == {"flat": 0, "turned": 1}


def test_every_pattern_of_the_folds_along_chain_and_sheet_recounts():
    folds = load_protein_folds()
    X, y = folds.X[::20], folds.y[::20]
    bias = parse_bias(
        "type(he(event,hand,class,length)). mode(he(+,*,#,*)). dimension(next_s). "
        "type(st(event,sense,length)). mode(st(+,#,*)). dimension(next_h)."
    )
    found = mine(X, y, bias, min_support=0.5, max_length=3)
    assert len(found) > 2_000
    some = found[:: len(found) // 500]
    frequencies = covers([entry.pattern for entry in some], X).sum(axis=0)
    assert frequencies.tolist() == some.frequencies.tolist()


def test_too_many_ways_to_link_an_event_end_the_search_with_a_warning(monkeypatch):
    X, y = data(1)
    monkeypatch.setattr(webs, "FEW_PLACES", 0)  # each pattern by itself
    monkeypatch.setattr(webs.wk, "find_lanes", lambda *_: (np.empty((0, 2), np.int64), -1))
    with pytest.warns(UserWarning, match="^stopped by too many ways to link") as warned:
        found = mine(X, y, parse_bias(BIAS))
    reason = "stopped by too many ways to link events by the dimensions at length 2"
    assert (found.partial, found.complete_up_to) == (reason, 1)
    assert str(warned[0].message) == "\n".join(
        [f"{reason}; complete up to length 1", *found.report.advice]
    )
    assert [*found.texts()] == [*mine(X, y, parse_bias(BIAS), max_length=1).texts()]


# Units of work


@pytest.fixture
def efforts(monkeypatch) -> dict[str, int]:
    """How much was looked at for each pattern of one atom, in the searches so far."""
    noted: dict[str, int] = {}
    keep = webs.Webs._keep

    def noting(engine: webs.Webs, unit: webs.Siblings, counted: tuple, *rest: object) -> list:
        if unit.parent is None and unit is not engine.root:
            for number, effort in enumerate(counted[1].tolist()):
                noted[letter_of(engine, webs.Node(unit, number))] = effort
        return keep(engine, unit, counted, *rest)

    monkeypatch.setattr(webs.Webs, "_keep", noting)
    return noted


@pytest.fixture
def sizes(monkeypatch) -> dict[str, list[int]]:
    """How many children of each pattern of one atom are in each unit, in the searches so far."""
    noted: dict[str, list[int]] = {}
    count = webs.Webs._count

    def noting(engine: webs.Webs, unit: webs.Siblings, *rest: object) -> tuple:
        if unit.parent is not None:
            noted.setdefault(letter_of(engine, unit.parent), []).append(len(unit.rows))
        return count(engine, unit, *rest)

    monkeypatch.setattr(webs.Webs, "_count", noting)
    return noted


def letter_of(engine: webs.Webs, node: webs.Node) -> str:
    (atom,) = node.atoms
    return str(engine._atom(atom).args[1])


def mine_letters(words: list[str]) -> None:
    """Search along a line `s`, and along `h` from each event to the one after the next."""
    sequences = []
    for word in words:
        events = [f"e{i}" for i in range(len(word))]
        atoms = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
        for path in (events[::2], events[1::2]):
            atoms += [Atom("next_h", pair) for pair in itertools.pairwise(path)]
        sequences.append([*atoms, *(Atom("q", pair) for pair in zip(events, word, strict=True))])
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,#)). dimension(next_s). dimension(next_h). maxfollowat(2)."
    )
    mine(Sequences.from_atoms(sequences), None, bias, min_support=0.2, max_length=3)


def test_children_are_units_by_themselves_where_much_is_looked_at_for_their_parent(
    monkeypatch, sizes, efforts
):
    monkeypatch.setattr(webs, "LOOKS_A_UNIT", 1_800)
    mine_letters(["aaab" * 16] * 3 + ["xyx"])
    assert efforts["a"] > 1_800 > 5 * efforts["x"]
    assert len(sizes["a"]) > 5
    assert {*sizes["a"]} == {1}
    assert sizes["x"] == [5, 5]


def test_as_many_children_share_a_unit_as_their_looks_allow(monkeypatch, sizes, efforts):
    words = ["abac" * 16] * 3
    mine_letters(words)
    (n_children,) = sizes.pop("a")  # few looks for all of them
    monkeypatch.setattr(webs, "LOOKS_A_UNIT", 3 * efforts["a"] + 1)
    mine_letters(words)
    assert n_children > 6
    assert sum(sizes["a"]) == n_children
    assert {*sizes["a"][:-1]} == {3}


def has_both(entry: Entry) -> bool:
    """Are two events of a pattern next to each other in both dimensions?"""
    links = {atom.predicate: set() for atom in entry.pattern}
    for atom in entry.pattern:
        links[atom.predicate].add(atom.args)
    return bool(links.get("next_s", set()) & links.get("next_h", set()))


def test_constraints_and_keys_hold():
    X, y = data(2)
    bias = parse_bias(BIAS + "key([q(_,_)]). negconstraint([next_h(A,B), next_s(A,B)]).")
    found = mine(X, y, bias, min_support=0.05, max_length=2)
    assert all(str(entry.pattern).startswith("q(") for entry in found)
    assert not any(map(has_both, found))
    assert any(map(has_both, mine(X, y, parse_bias(BIAS), min_support=0.05, max_length=2)))


def slow_links(
    atoms: np.ndarray, events: list[int], n_relations: int, n_dimensions: int, n_steps: int
) -> list[tuple[int, int, int, int]]:
    """The links that a pattern admits: an event has one of a dimension and direction at most."""
    old = [atom for atom in atoms.tolist() if atom[0] >= n_relations]
    links = []
    for against, d, k in itertools.product((0, 1), range(n_dimensions), range(n_steps)):
        taken = {a[1 + against] for a in old if (a[0] - n_relations) % n_dimensions == d}
        kind = (against * n_dimensions + d) * n_steps + k
        links += [
            (kind, i, against * n_dimensions + d, 1 - against)
            for i, event in enumerate(events)
            if event not in taken
        ]
    return links


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(6))
def test_the_links_that_a_pattern_admits_are_those_of_the_slow_way(seed):
    random = Random(seed)
    n_relations, n_dimensions, n_steps = 3, random.randint(1, 3), random.randint(1, 3)
    events = random.sample(range(9), k=random.randint(0, 4))
    atoms = [[random.randrange(n_relations), *random.choices(range(9), k=3)] for _ in range(3)]
    for x, y in itertools.permutations(events, 2):
        if random.random() < 0.3:
            step, d = random.randrange(n_steps), random.randrange(n_dimensions)
            atoms.append([n_relations + step * n_dimensions + d, x, y, 0])
    meaning = np.zeros((n_dimensions * n_steps, 3), np.int64)
    language = wf.Language(n_relations, n_dimensions, meaning, np.zeros((1, 1), np.int64), False)
    links = wf.possible_links(language, np.array(atoms), np.array(events, np.int64))
    slow = slow_links(np.array(atoms), events, n_relations, n_dimensions, n_steps)
    assert [tuple(link) for link in links.tolist()] == slow


@pytest.mark.kernels
def test_places_are_the_bits_of_words():
    words = np.array([0, 1, 0b1011, 2**64 - 1], np.uint64)
    no = np.empty((0, 4), np.int64)
    assert wm.n_places(wm.Rows(np.zeros(4, np.int64), no.astype(np.uint8), words, no)) == 68


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_rows_with_equal_values_of_a_sequence(seed):
    rng = np.random.default_rng(seed)
    n = 300 if seed % 2 else 40
    rows = wm.Rows(
        np.sort(rng.integers(0, 3, n)),
        np.zeros((1, n), np.uint8),
        np.ones(n, np.uint64),
        rng.integers(0, 3, (2, n)),
    )
    order, starts = wk.groups(rows)
    keys = list(zip(rows.sequence.tolist(), *rows.values.tolist(), strict=True))
    expected = sorted(range(n), key=lambda i: keys[i])
    assert sorted(order.tolist()) == list(range(n))
    assert [keys[i] for i in order.tolist()] == [keys[i] for i in expected]
    begins = [i for i in range(n) if i == 0 or keys[order[i]] != keys[order[i - 1]]]
    assert starts.tolist() == [*begins, n]


def test_the_lowest_place_of_each_single_bit():
    assert [wm.lowest_place(np.uint64(1 << i)) for i in range(64)] == list(range(64))
    assert wm.lowest_place(np.uint64(0b101000)) == 3


def test_settings_of_a_bias_are_read():
    bias = parse_bias(BIAS + "maxsize(1).")
    assert isinstance(bias, Bias)
    X, y = data(3)
    assert mine(X, y, bias).lengths.max() == 1
