"""The bit-parallel engine finds what the general one finds, however its work is cut.

RELYNX_LANGUAGES says on how many random searches they are compared, 20 unless set.
"""

from __future__ import annotations

import itertools
import os
from random import Random

import numpy as np
import pytest
from enumerate_patterns import Conditions, enumerate_patterns
from event_languages import EventLanguage, event_language
from reference import brute_force_matches

from relynx import Sequences, covers, load_protein_folds
from relynx.bias import Bias, parse_bias
from relynx.logic.canonical import canonical
from relynx.logic.terms import Atom, numbered_variable
from relynx.mining.engines import choose as choosing
from relynx.mining.engines.bits import _attachment_kernels as ak
from relynx.mining.engines.bits import _event_fact_kernels as ek
from relynx.mining.engines.bits import _row_kernels as rk
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.bits import event_facts
from relynx.mining.engines.bits.engine import Bits
from relynx.mining.engines.choose import choose
from relynx.mining.engines.general.engine import General
from relynx.mining.patterns.pattern_set import Entry, PatternSet
from relynx.mining.patterns.trie import Trie
from relynx.mining.search import mine

N_LANGUAGES = int(os.environ.get("RELYNX_LANGUAGES", "20"))
BIAS = parse_bias("""
    type(p(event,t,u)). mode(p(+,*,#)). type(q(event,t)). mode(q(+,*)).
    dimension(next_s). dimension(next_h).
""")
LETTERS = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s).")


def by(engine: type, language: EventLanguage) -> PatternSet:
    """What an engine finds that must be able to search a language."""

    def chosen(compiled, conditions, *, object_identity):
        fits = bits.fits(compiled, conditions, object_identity=object_identity)
        if not fits and engine is not General:
            assert has_unlinked_events(compiled)
            pytest.skip("no link has the events of a predicate: it is for the general engine")
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "choose", chosen)
        return mine(language.X, bias=language.bias, **language.settings)


def has_unlinked_events(compiled) -> bool:
    """Whether a predicate has an event that no link has, which the index takes for a value."""
    return any(
        int(compiled.index.relation(key).cells[j].max(initial=-1)) >= compiled.index.n_nodes
        for key, types in zip(compiled.relations, compiled.types, strict=True)
        for j, one in enumerate(types)
        if one == compiled.event_type
    )


def line(letters: str, *more: Atom) -> list[Atom]:
    """A sequence q(e0,letter), next_s(e0,e1), q(e1,letter), ..."""
    events = [f"e{i}" for i in range(len(letters))]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    return [*links, *(Atom("q", pair) for pair in zip(events, letters, strict=True)), *more]


# The same answer


@pytest.mark.parametrize("seed", range(N_LANGUAGES))
def test_it_finds_what_the_general_engine_finds(seed):
    language = event_language(seed)
    found, other = by(Bits, language), by(General, language)
    assert found == other, str(language)
    covered = found.coverage(language.X)
    for number, label in enumerate(found.trie.classes):
        of_class = np.array([one == label for one in language.labels])
        expected = found.supports[:, number]
        assert np.array_equal(covered[of_class].sum(axis=0), expected), str(language)


CUTS = [
    {"MOST_TOGETHER": 1},
    {"ROWS_A_CALL": 3},
    {"ROWS_A_CALL": 3, "MOST_TOGETHER": 3},
    {"ROWS_A_CALL": 3, "MOST_STATES": 1},
    {"PLACES_A_CALL": 4},
    {"PLACES_A_CALL": 40, "LOOKS_A_CALL": 50},
    {"LOOKS_A_CALL": 1},
    {"EFFORT_A_UNIT": 1},
    {"MOST_FOUND": 3},
    {"FORMS_A_CALL": 2},
]


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("shape", ["lines", "long lines", "paths"])
def test_the_answer_does_not_depend_on_how_the_work_is_cut(shape, cut, monkeypatch):
    for seed in (2, 3, 5):
        language = event_language(seed, shape)
        whole = by(Bits, language)
        with monkeypatch.context() as patch:
            for name, value in cut.items():
                patch.setattr(bits, name, value)
            found = by(Bits, language)
        assert found == whole
        assert found.explain_search() == whole.explain_search()


@pytest.mark.parametrize("seed", range(9))
def test_facts_are_found_by_their_postings_where_a_table_would_be_too_large(seed, monkeypatch):
    language = event_language(seed)
    whole = by(Bits, language)
    monkeypatch.setattr(event_facts, "MOST_WORDS", 0)
    assert by(Bits, language) == whole


def with_little_room(engine: Bits) -> bits.Buffers:
    room = event_facts.scratch(engine.facts)
    return bits.Buffers(engine._counters(1), room, engine._refinements(1))


@pytest.mark.parametrize("seed", range(9))
def test_room_that_is_too_small_grows(seed, monkeypatch):
    language = event_language(seed)
    whole, wanted = by(Bits, language), []
    for name in ("_more_counters", "_more_room"):
        more = getattr(Bits, name)
        monkeypatch.setattr(
            Bits, name, lambda *args, n=name, f=more: (wanted.append(n), f(*args))[1]
        )
    monkeypatch.setattr(Bits, "_buffers", with_little_room)
    found = by(Bits, language)
    assert found == whole
    assert found.explain_search() == whole.explain_search()
    if len(whole) > 20:
        assert {*wanted} == {"_more_counters", "_more_room"}


@pytest.mark.parametrize("n_events", [2, 63, 64, 65, 130])
@pytest.mark.parametrize("max_gap", [2, 60])
def test_the_length_of_a_line_makes_no_difference(n_events, max_gap):
    letters = ("abc" * n_events)[:n_events]
    lines = tuple(line(letters)), tuple(line(letters[:-1] + "z"))
    how = {"max_length": 2, "max_gap": max_gap}
    language = EventLanguage(lines, ("all",) * 2, str(LETTERS), how)
    found = by(Bits, language)
    assert found == by(General, language)
    assert found.coverage(language.X).sum(axis=0).tolist() == found.frequencies.tolist()


def test_what_is_counted_again_for_want_of_room_is_tallied_once(monkeypatch):
    folds = load_protein_folds()
    X, y = folds.X[:60], folds.y[:60]
    whole = mine(X, y, folds.bias, max_length=3, min_support=0.3)
    monkeypatch.setattr(Bits, "_buffers", with_little_room)
    assert mine(X, y, folds.bias, max_length=3, min_support=0.3).report == whole.report


# Which data it takes


def test_many_ways_to_link_an_event_go_on_where_room_was_made_for_them(monkeypatch):
    # More than are counted at a time, each pattern by itself.
    X = load_protein_folds().X[::60]
    settings = {"min_support": 0.0, "min_frequency": 2, "max_length": 2, "max_gap": 6}
    text = "type(he(event,hand,class,length)). mode(he(+,#,#,#)). type(st(event,sense,length)). "
    text += "mode(st(+,#,#)). dimension(next_s). dimension(next_b). dimension(next_h)."
    expected = mine(X, bias=parse_bias(text), **settings)
    monkeypatch.setattr(bits, "PLACES_A_CALL", 0)
    monkeypatch.setattr(Bits, "_buffers", with_little_room)
    found = mine(X, bias=parse_bias(text), **settings)
    assert found == expected
    assert np.array_equal(found.supports, expected.supports)


def test_branches_long_paths_and_relations_between_events_go_to_the_general_engine(monkeypatch):
    chosen = []
    monkeypatch.setattr(
        choosing, "choose", lambda *args, **how: chosen.append(choose(*args, **how)) or chosen[-1]
    )

    def of(atoms: list[Atom], bias: Bias, **settings: object) -> type:
        mine(Sequences.from_atoms([atoms]), bias=bias, max_length=1, **settings)
        return chosen[-1]

    turn = [Atom("next_h", ("e0", "e1"))]
    both = parse_bias("type(q(event,t)). mode(q(+,*)). dimension(next_s). dimension(next_h).")
    branch = line("aaa", Atom("next_s", ("e0", "e2")))
    related = parse_bias(
        "type(q(event,t)). mode(q(+,*)). type(r(event,event)). mode(r(+,+)). dimension(next_s)."
    )
    modes = parse_bias("type(q(event,t)). mode(q(+,-)). mode(q(+,#)). dimension(next_s).")

    assert of(line("abc"), LETTERS) is Bits
    assert of(line("abc" * 99), LETTERS, max_gap=60) is Bits
    assert of(line("abc" * 99), LETTERS, max_gap=61) is General
    assert of(branch, LETTERS) is General
    assert of(line("a" * 64, *turn), both) is Bits
    assert of(line("a" * 65, *turn), both) is General
    assert of(line("abc", Atom("r", ("e0", "e1"))), related) is General
    assert of(line("abc"), modes) is General


# Several dimensions


def paths(seed: int) -> tuple[Sequences, list[str]]:
    """Events along a line `s` and, some of them, along paths of `h` in another order."""
    random = Random(seed)
    sequences = []
    for _ in range(24):
        events = [f"e{i}" for i in range(random.randint(2, 6))]
        others = random.sample(events, k=random.randint(len(events) // 2, len(events)))
        cut = random.randint(0, len(others))
        atoms = [
            Atom(name, pair)
            for name, path in (
                ("next_s", events),
                ("next_h", others[:cut]),
                ("next_h", others[cut:]),
            )
            for pair in itertools.pairwise(path)
        ]
        for event in events:
            value = random.choice("abc")
            facts = [Atom("p", (event, value, random.choice("xy"))), Atom("q", (event, value))]
            atoms.append(random.choice(facts))
        sequences.append(atoms)
    return Sequences.from_atoms(sequences), [random.choice(["yes", "no"]) for _ in sequences]


def test_a_closing_link_says_side_by_side_and_two_apart():
    turned = line("aaa", Atom("next_h", ("e0", "e2")))
    flat = line("aaa", Atom("next_h", ("e0", "e1")))
    bias = parse_bias(
        "type(q(event,t)). mode(q(+,#)). dimension(next_s). dimension(next_h). maxfollowat(2)."
    )
    found = mine(Sequences.from_atoms([turned, flat]), ["turned", "flat"], bias, max_length=2)
    both = [e for e in found if "followat_s(2,A,B)" in str(e) and "next_h(A,B)" in str(e)]
    assert [dict(e.support) for e in both] == [{"flat": 0, "turned": 1}]


def test_a_pattern_without_the_last_link_of_an_event_is_no_beginning_of_that_with_it():
    """Units come one after the other; the second pattern's matches are made from the first's."""
    both = line("aaaa", *(Atom("next_h", (f"e{i}", f"e{i + 1}")) for i in range(3)))
    text = "type(q(event,t)). mode(q(+,#)). dimension(next_s). dimension(next_h)."
    how = {"max_length": 4, "max_gap": 1}
    language = EventLanguage((tuple(both),), ("all",), text, how)
    assert by(Bits, language) == by(General, language)


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
    X, y = paths(1)
    monkeypatch.setattr(bits, "PLACES_A_CALL", 0)  # each pattern by itself
    monkeypatch.setattr(bits.ak, "find_attachments", lambda *_: (np.empty((0, 4), np.int64), -1))
    with pytest.warns(UserWarning, match="^stopped by too many ways to link") as warned:
        found = mine(X, y, BIAS)
    reason = "stopped by too many ways to link events by the dimensions at length 2"
    assert (found.partial, found.complete_up_to) == (reason, 1)
    assert str(warned[0].message) == "\n".join(
        [f"{reason}; complete up to length 1", *found.report.advice]
    )
    assert [*found.texts()] == [*mine(X, y, BIAS, max_length=1).texts()]


def has_both(entry: Entry) -> bool:
    """Are two events of a pattern next to each other in both dimensions?"""
    links = {atom.predicate: set() for atom in entry.pattern}
    for atom in entry.pattern:
        links[atom.predicate].add(atom.args)
    return bool(links.get("next_s", set()) & links.get("next_h", set()))


def test_constraints_and_keys_hold():
    X, y = paths(2)
    bias = parse_bias(f"{BIAS} key([q(_,_)]). negconstraint([next_h(A,B), next_s(A,B)]).")
    found = mine(X, y, bias, min_support=0.05, max_length=2)
    assert all("q(" in str(entry.pattern) for entry in found)
    assert not any(map(has_both, found))
    assert any(map(has_both, mine(X, y, BIAS, min_support=0.05, max_length=2)))


# Units of work


def units_of(monkeypatch, X: Sequences, **how: object) -> tuple[list[bits.Siblings], PatternSet]:
    """The units of a search, and what it finds."""
    units: list[bits.Siblings] = []
    count = Bits._count
    with monkeypatch.context() as patch:
        patch.setattr(Bits, "_count", lambda *args: (units.append(args[1]), count(*args))[1])
        return units, mine(X, bias=LETTERS, **how)


def test_where_much_is_looked_at_for_a_pattern_fewer_of_its_children_share_a_unit(monkeypatch):
    X = Sequences.from_atoms([line("abcd" * 16)] * 3)
    few, found = units_of(monkeypatch, X, max_length=3)
    monkeypatch.setattr(bits, "EFFORT_A_UNIT", 1)
    monkeypatch.setattr(bits, "MOST_TOGETHER", 1)
    many, again = units_of(monkeypatch, X, max_length=3)
    assert again == found
    assert max(len(unit.rows) for unit in few) > 1
    assert {len(unit.rows) for unit in many} == {1}
    assert len(many) == (found.lengths < 3).sum()


# Kernels and their slow twins


def slow_links(now: ek.Context, graph: rk.Graph) -> list[tuple[int, int, int, int]]:
    """The links that a pattern admits: an event has one of a dimension and direction at most."""
    links = []
    n_dimensions, n_steps = len(graph.dimensions), len(graph.steps)
    for against, d, k in itertools.product((0, 1), range(n_dimensions), range(n_steps)):
        taken = {x[2 + against] for x in now.links.tolist() if x[0] == graph.dimensions[d]}
        kind = (against * n_dimensions + d) * n_steps + k
        links += [
            (kind, i, against * n_dimensions + d, 1 - against)
            for i, event in enumerate(now.events.tolist())
            if event not in taken
        ]
    return links


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(6))
def test_the_links_that_a_pattern_admits_are_those_of_the_slow_way(seed):
    random = Random(seed)
    n_dimensions, n_steps = random.randint(2, 3), random.randint(1, 3)
    events = random.sample(range(9), k=random.randint(0, 4))
    links = [
        [random.randrange(n_dimensions), random.randrange(n_steps), x, y]
        for x, y in itertools.permutations(events, 2)
        if random.random() < 0.3
    ]
    no = np.empty(0, np.int64)
    now = ek.Context(no, no, no, np.array(events, np.int64), np.array(links, np.int64), 9)
    now = now._replace(links=now.links.reshape(-1, 4))
    words, off = np.empty((0, 0), np.uint64), np.zeros(2, np.int64)
    graph = rk.Graph(False, np.arange(n_dimensions), np.arange(n_steps), words, off, 1)
    found = ak.possible_links(graph, now)
    assert [tuple(link) for link in found.tolist()] == slow_links(now, graph)


@pytest.mark.kernels
def test_places_are_the_bits_of_words():
    words = np.array([0, 1, 0b1011, 2**64 - 1], np.uint64)
    no = np.empty((0, 4), np.int32)
    rows = rk.Rows(np.zeros(4, np.int32), np.zeros(4, np.uint8), words, no.astype(np.uint8), no)
    assert ak.n_places(rows) == 68
    assert [ek.lowest_place(np.uint64(1 << i)) for i in range(64)] == list(range(64))
    assert ek.lowest_place(np.uint64(0b101000)) == 3


def events_reached(word: int, n: int, n_events: int) -> set[int]:
    """Where n steps lead on a line (0: any number, -1: none) from the events of a word."""
    starts = [i for i in range(n_events) if word >> i & 1]
    ends = {i + n for i in starts} if n else {j for i in starts for j in range(i + 1, n_events)}
    return {i for i in (set(starts) if n < 0 else ends) if i < n_events}


@pytest.mark.kernels
@pytest.mark.parametrize("n", [-1, 0, 1, 2, 63, 64, 70])
def test_steps_on_a_line_of_one_block_shift_its_word(n):
    random = Random(n)
    for _ in range(20):
        word = random.getrandbits(64) & random.getrandbits(64) & random.getrandbits(64)
        found = int(rk.shifted(np.uint64(word), n))
        assert {i for i in range(64) if found >> i & 1} == events_reached(word, n, 64)


@pytest.mark.kernels
@pytest.mark.parametrize("n", [0, 1, 5, 63, 64, 65, 127, 128, 200])
def test_steps_on_a_line_of_several_blocks_carry_over(n):
    random = Random(n)
    for n_blocks, _ in itertools.product((1, 2, 4), range(8)):
        words = [random.getrandbits(64) & random.getrandbits(64) for _ in range(n_blocks)]
        blocks = sorted(random.sample(range(n_blocks), random.randint(1, n_blocks)))
        row_word = np.array([words[b] or 1 for b in blocks], np.uint64)
        row_block = np.array(blocks, np.int32) + 7
        out = np.zeros(n_blocks + 1, np.uint64)
        with np.errstate(over="ignore"):  # of numbers that wrap, where loops are not compiled
            low, high = rk.shift_line(row_word, row_block, 0, len(blocks), 7, n_blocks, n, out)
        whole = sum(int(w) << 64 * b for w, b in zip(row_word, blocks, strict=True))
        found = sum(int(out[b]) << 64 * b for b in range(n_blocks))
        expected = events_reached(whole, n, 64 * n_blocks)
        assert {i for i in range(64 * n_blocks) if found >> i & 1} == expected
        assert all(low <= i // 64 < high for i in expected)


class Noted(Bits):
    """Remembers itself and its units."""

    made: list[Noted]

    def __init__(self, *args: object, **how: object) -> None:
        super().__init__(*args, **how)
        self.units: list[bits.Siblings] = []
        self.made.append(self)

    def _count(self, unit: bits.Siblings, buffers: bits.Buffers) -> tuple:
        self.units.append(unit)
        return super()._count(unit, buffers)


def path(trie: Trie, row: int) -> list[Atom]:
    atoms: list[Atom] = []
    while row >= 0:
        atoms[:0] = trie.atoms_of_step(row)
        row = int(trie.parent[row])
    return atoms


def matches(engine: Noted, chain: np.ndarray) -> set[tuple]:
    """The rows of a pattern: a sequence, its last event or all of them, and values."""
    facts, index = engine.facts, engine.compiled.index
    rows = engine._rows_of(chain, engine._buffers())
    found = set()
    for i, block in enumerate(rows.block.tolist()):
        s = int(facts.sequence[block])
        first = int(index.node_off[s]) + 64 * (block - int(facts.block_off[s]))
        values = index.facts.vocabulary
        held = tuple(values[int(facts.code[v])] for v in rows.values[:, i].tolist())
        word = int(rows.word[i])
        for place in range(64):
            if word >> place & 1:
                nodes = [int(index.node_off[s]) + e for e in rows.events[:, i].tolist()]
                events = index.constants_of(np.array([*nodes, first + place]))
                found.add((s, *events, *held))
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(18))
def test_rows_are_all_matches_of_a_pattern_and_counts_those_of_an_enumeration(seed):
    language = event_language(seed, small=True)
    Noted.made = []
    with np.errstate(over="ignore"):  # of numbers that wrap, where loops are not compiled
        found = by(Noted, language)
        (engine,) = Noted.made
        for unit, child in ((u, c) for u in engine.units for c in range(len(u.rows))):
            chain = bits._with_child(unit, child)
            now = ek.context(engine.facts, chain)
            events = now.events[-1:] if engine.graph.is_line else now.events
            names = [numbered_variable(v).name for v in [*events.tolist(), *now.number.tolist()]]
            atoms = path(found.trie, int(unit.rows[child]))
            expected = {
                (s, *(match[name] for name in names))
                for s, facts in enumerate(language.sequences)
                for match in brute_force_matches(atoms, facts, engine.facts.injective)
            }
            assert matches(engine, chain) == expected, f"{language}\n{atoms}"
        counted = {
            canonical(path(found.trie, row)): support
            for row, support in zip(found.rows.tolist(), found.supports.tolist(), strict=True)
        }
    slow = enumerate_patterns(
        [set(atoms) for atoms in language.sequences],
        language.labels,
        language.bias,
        Conditions(**language.settings),
    )
    classes = found.trie.classes
    supports = {canonical(one.atoms): [one.support[c] for c in classes] for one in slow}
    assert counted == supports
