"""Keys, indexes and growing relations against plain Python sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx.logic.arithmetic import Constants
from relynx.logic.dimensions import Chains
from relynx.logic.tables import Index, Packing, Relation, distinct, in_order, member, ranges

# How many sequences there are decides whether three codes fit into an int64 or not.
packings = st.sampled_from([3, 2**40]).map(lambda n: Packing(n, Constants(range(2**10))))
rows = st.lists(st.tuples(st.integers(0, 2), *[st.integers(0, 1023)] * 3), max_size=12)


def table(tuples, n_rows=4):
    return np.array(tuples, np.int32).reshape(-1, n_rows).T


@given(packings, rows)
def test_keys_read_back_as_the_rows_and_sort_as_they_do(packing, tuples):
    keys = distinct(packing.pack(table(tuples)))
    assert list(map(tuple, packing.unpack(keys, 4).T.tolist())) == sorted(set(tuples))


@given(packings, st.lists(rows, max_size=6))
def test_a_relation_grows_as_a_set_does(packing, additions):
    relation, known = Relation(4, packing), set()
    for tuples in additions:
        new = relation.add(relation.fresh(table(tuples)))
        assert set(map(tuple, new.T.tolist())) == set(tuples) - known
        known |= set(tuples)
        assert len(relation) == len(known)
    assert list(map(tuple, relation.table().T.tolist())) == sorted(known)


@given(packings, rows, rows)
def test_an_index_finds_every_row_of_a_key(packing, tuples, asked):
    index = Index.of(packing.pack(table(tuples)))
    starts, lengths = index.find(packing.pack(table(asked)))
    found = index.order[ranges(starts, lengths)].tolist()
    assert found == [i for key in asked for i, row in enumerate(tuples) if row == key]


@given(packings, rows, rows)
def test_member_tells_which_keys_are_in_a_pool(packing, tuples, asked):
    pool = distinct(packing.pack(table(tuples)))
    expected = [row in set(tuples) for row in asked]
    assert member(packing.pack(table(asked)), pool).tolist() == expected


def chains(links):
    packing = Packing(2, Constants(range(50)))
    return Chains.of(in_order(table(links, 3)), packing), packing


@pytest.mark.parametrize(
    "links",
    [
        [(0, 1, 1)],
        [(0, 1, 2), (0, 2, 1)],
        [(0, 1, 2), (0, 2, 3), (0, 3, 1)],
        [(0, 1, 2), (0, 1, 3)],
        [(0, 1, 3), (0, 2, 3)],
        [(0, 1, 2), (0, 3, 4), (0, 4, 5), (0, 5, 6), (0, 6, 3)],
    ],
)
def test_branches_and_cycles_are_no_chains(links):
    assert chains(links)[0] is None


def test_the_same_events_in_two_sequences_are_two_chains():
    found, packing = chains([(0, 1, 2), (0, 2, 3), (1, 3, 2), (1, 2, 1)])
    x, y = np.array([1, 1, 3, 3], np.int32), np.array([3, 3, 1, 1], np.int32)
    sequence = np.array([0, 1, 0, 1], np.int32)
    holds = found.holds(packing.pack([sequence, x]), packing.pack([sequence, y]))
    assert holds.tolist() == [True, False, False, True]


@given(st.permutations(range(12)), st.sets(st.integers(1, 10)))
def test_chains_reach_what_comes_later_in_their_piece(events, cuts):
    pieces = np.split(np.array(events), sorted(cuts))
    links = [(0, int(a), int(b)) for p in pieces for a, b in itertools.pairwise(p)]
    found, packing = chains(links)
    for piece in pieces:
        for i, event in enumerate(piece):
            key = packing.pack([np.zeros(1, np.int32), np.array([event], np.int32)])
            for backward, expected in ((False, piece[i + 1 :]), (True, piece[:i])):
                starts, lengths = found.reached(key, backward=backward)
                assert found.events[ranges(starts, lengths)].tolist() == expected.tolist()
