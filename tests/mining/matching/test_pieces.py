"""What is arranged before a search does not depend on how many facts are looked at together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import make_language

from relynx import Sequences
from relynx.data.event_arguments import argument_counts, event_keys
from relynx.logic import tables as tb
from relynx.logic.terms import Atom
from relynx.mining.engines.bits import event_facts
from relynx.mining.matching.index import Index


def arrays_of(X: Sequences) -> dict[str, np.ndarray]:
    """All that an index holds."""
    facts = X[:].facts()
    index = Index(facts)
    found = {"nodes": index.node_off, "words": index.word_off, "codes": index.event_code}
    found["is_event"] = index.is_event
    for name, dimension in zip(index.dimension_names, index.dimensions, strict=True):
        for field in dimension.__slots__:
            found[f"{name} {field}"] = getattr(dimension, field)
    return found | {str(key): index.relation(key).cells for key in facts.tables}


@pytest.mark.parametrize("piece", [1, 2, 7])
@pytest.mark.parametrize("seed", range(12))
def test_an_index_is_the_same_however_many_facts_are_taken_at_a_time(seed, piece, monkeypatch):
    X = make_language(seed).X
    whole = arrays_of(X)
    monkeypatch.setattr(tb, "PIECE", piece)
    again = arrays_of(X)
    assert whole.keys() == again.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(again[name], array, err_msg=name)
        assert (again[name].dtype, again[name].shape) == (array.dtype, array.shape)


@pytest.mark.parametrize("piece", [1, 3])
def test_sequences_that_say_nothing_take_part(piece, monkeypatch):
    some = [Atom("next_s", ("a", "b")), Atom("p", ("a", "x"))]
    X = Sequences.from_atoms([[], some, [], [], [Atom("p", ("c", "x"))], some, []])
    n = len(X.vocabulary)
    whole, counts = event_keys(X.tables, n), argument_counts(X.tables, n)
    monkeypatch.setattr(tb, "PIECE", piece)
    events, places = event_keys(X.tables, n)
    assert (events.tolist(), places) == (whole[0].tolist(), whole[1])
    assert argument_counts(X.tables, n) == counts
    named = [(key // n, X.vocabulary[key % n]) for key in events.tolist()]
    assert named == [(1, "a"), (1, "b"), (4, "c"), (5, "a"), (5, "b")]
    assert arrays_of(X)["nodes"].tolist() == [0, 0, 2, 2, 2, 3, 5, 5]


@given(st.lists(st.integers(0, 5)), st.integers(1, 9))
def test_pieces_hold_all_sequences_once_and_few_facts(sizes, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tb, "PIECE", piece)
        starts = np.cumsum([0, *sizes])
        found = tb.pieces(starts)
    assert [s for first, end in found for s in range(first, end)] == [*range(len(sizes))]
    for first, end in found:
        assert first < end
        assert starts[end] - starts[first] < piece + max(sizes, default=0) + 1 or end - first == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1),
    st.sampled_from([1, 4, 1 << 16]),
    st.booleans(),
)
def test_facts_of_one_kind_have_one_number(facts, piece, by_sorting):
    codes = [np.array(column, np.int32) for column in zip(*facts, strict=True)]
    value = np.array([2, 0, 3, 1])  # the order of the values is not that of the codes
    kind = np.full(len(facts), -1, np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tb, "PIECE", piece)
        if by_sorting:
            patch.setattr(event_facts, "_longest_table", lambda _: 1)
        values = event_facts._numbered(codes, value, 4, kind)
    kinds = sorted({(int(value[x]), int(value[y])) for x, y in facts})
    assert [*zip(*values.tolist(), strict=True)] == kinds
    assert [kinds[k] for k in kind] == [(value[x], value[y]) for x, y in facts]
