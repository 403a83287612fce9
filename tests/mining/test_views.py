"""Searches of several columns at once: wide facts, and the same patterns in single columns."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import relynx as rx
from relynx import Bias, covers, parse_bias
from relynx.mining.levels import mine_levels
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.views import View, columns_of, expanded, mine_view, mine_views
from relynx.search_settings import SearchSettings

SETTINGS = SearchSettings(max_length=2, max_gap=3)
VIEW = View((("what", "who"), ("what",)), frozenset({"what"}), frozenset({"who"}))


def table(n=40, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    rows = {"case": [], "what": [], "who": [], "place": []}
    for case in range(n):
        for _ in range(rng.integers(2, 6)):
            for name, values in {
                "case": [case],
                "what": "abc",
                "who": "xyzw",
                "place": "pq",
            }.items():
                missing = gaps and name != "case" and rng.random() < 0.2
                rows[name].append(None if missing else values[rng.integers(len(values))])
    return rx.from_events(rows, sequence="case")[0]


@pytest.fixture(params=[False, True])
def X(request):
    return table(gaps=request.param)


def coverage_of(levels):
    """The sequences that each pattern covers."""
    return [
        tuple(np.sort(one.rows[begin:end]).tolist())
        for one in levels
        for begin, end in pairwise(one.offset.tolist())
    ]


def wide_sequences(X):
    """The same sequences with a fact `what&who(E,A,B)` for each event that has both."""
    texts = []
    for sequence in X:
        held = {}
        for atom in sequence.atoms:
            if atom.predicate in ("what", "who"):
                held.setdefault(atom.args[0], {})[atom.predicate] = atom.args[1]
        facts = [f"'what&who'({e},{v['what']},{v['who']})" for e, v in held.items() if len(v) == 2]
        texts.append([*sequence.atoms, *map(rx.parse_atom, facts)])
    return rx.Sequences.from_atoms(texts)


def test_columns_are_predicates_with_an_event_and_one_value(X):
    columns = columns_of(X.facts(), Bias.infer(X))
    assert columns.names == ("what", "who", "place")
    assert columns.codes.shape == (3, len(columns.events))
    facts = {
        (name, int(event) // columns.n_constants, X.vocabulary[code])
        for name, row in zip(columns.names, columns.codes, strict=True)
        for event, code in zip(columns.events, row.tolist(), strict=True)
        if code >= 0
    }
    wanted = {
        (atom.predicate, i, atom.args[1])
        for i, sequence in enumerate(X)
        for atom in sequence.atoms
        if atom.predicate in columns.names
    }
    assert facts == wanted


def test_a_predicate_with_two_values_of_an_event_is_no_column():
    X = rx.Sequences.from_atoms(
        [[*map(rx.parse_atom, ["next_s(e1,e2)", "a(e1,x)", "a(e1,y)", "b(e2,x)", "b(e1,y)"])]]
    )
    bias = parse_bias(
        "type(a(event,v)). type(b(event,v)). mode(a(+,#)). mode(b(+,#)). dimension(next_s)."
    )
    assert columns_of(X.facts(), bias).names == ("b",)


@pytest.mark.parametrize("object_identity", [True, False])
def test_a_view_finds_what_a_search_of_wide_facts_finds(X, object_identity):
    settings = SearchSettings(max_length=2, max_gap=3, object_identity=object_identity)
    search = partial(mine_levels, settings=settings)
    found = mine_view(X, Bias.infer(X), VIEW, search, object_identity)
    for level in found:
        assert level.is_apart
        patterns = [*level.patterns.patterns()]
        covered = covers(patterns, X, object_identity)
        for i in range(len(patterns)):
            rows = level.rows[level.offset[i] : level.offset[i + 1]]
            assert np.flatnonzero(covered[:, i]).tolist() == sorted(rows.tolist())
    wide = wide_sequences(X)
    modes = "mode('what&who'(+,#,+)). mode('what&who'(+,#,-)). mode(what(+,#))."
    types = "type('what&who'(event,what,who)). type(what(event,what))."
    bias = parse_bias(f"{types} {modes} dimension(next_s).")
    wanted = mine_levels(wide, bias, settings)
    ours, theirs = (sorted(coverage_of(levels)) for levels in (found, wanted))
    assert ours == theirs


def test_single_columns_cover_what_the_wide_facts_do(X):
    wide = wide_sequences(X)
    bias = parse_bias(
        "type('what&who'(event,what,who)). mode('what&who'(+,#,+)). mode('what&who'(+,#,-)). "
        "mode('what&who'(+,-,+)). mode('what&who'(+,+,-)). dimension(next_s)."
    )
    found = rx.mine(wide, None, bias, max_length=3, min_frequency=4, min_support=0)
    trie, rows = expanded(found.trie, found.rows, {"what&who": ("what", "who")})
    single = PatternSet(trie, rows)
    assert len(single) == len(found) > 40
    assert (single.supports == found.supports).all()
    assert (single.lengths == 2 * found.lengths).all()
    covered = covers([*single.patterns()], X)
    assert (covered == found.coverage(wide)).all()
    assert (single.coverage(X) == covered).all()


def test_views_leave_out_what_is_known(X):
    bias = Bias.infer(X)
    levels = mine_levels(X, bias, SETTINGS)
    search = partial(mine_levels, settings=SETTINGS)
    found = mine_views(X, bias, [VIEW, VIEW], levels, search, True)
    known, new = coverage_of(levels), coverage_of(found)
    assert len({*known, *new}) == len({*known}) + len(new)
    assert new
