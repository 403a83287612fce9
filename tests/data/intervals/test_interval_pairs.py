"""The relations of intervals, against all pairs one by one."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interval_reference import BACKWARD, FORWARD, closure, gaps, holds, pairs, related

from relynx.data.allen import CONTACT, INVERSE, SHARE_TIME
from relynx.data.intervals.endpoints import SortedIntervals
from relynx.data.times import offsets_of

GRID = [(a, b) for a in range(6) for b in range(a, 6)]  # three intervals have six ends at most
PROPER = [(a, b) for a, b in GRID if a < b]

intervals = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda pair: tuple(sorted(pair)))
sequences = st.lists(st.lists(intervals, min_size=1, max_size=8).map(sorted), max_size=4)


def sorted_intervals(some):
    flat = np.array([one for sequence in some for one in sequence], np.int64).reshape(-1, 2)
    lengths = np.array([len(sequence) for sequence in some], np.int64)
    numbers = np.repeat(np.arange(len(some)), lengths)
    return SortedIntervals(
        numbers,
        np.ascontiguousarray(flat[:, 0]),
        np.ascontiguousarray(flat[:, 1]),
        offsets_of(lengths),
    )


def as_set(pair):
    found = list(zip(*(side.tolist() for side in pair), strict=True))
    assert len(set(found)) == len(found)
    return set(found)


# What the relations are


def test_exactly_one_of_the_thirteen_holds_of_any_two_intervals():
    assert len({*FORWARD, *BACKWARD}) == 13
    assert {len(related(one, two)) for one, two in product(GRID, repeat=2)} == {1}


def test_each_of_the_thirteen_holds_of_some_two():
    assert {related(one, two)[0] for one, two in product(PROPER, repeat=2)} == set(INVERSE)


def test_the_inverse_holds_the_other_way_round():
    for one, two in product(GRID, repeat=2):
        assert related(two, one) == [INVERSE[related(one, two)[0]]]


def test_what_shares_time_is_neither_before_nor_after():
    for one, two in product(GRID, repeat=2):
        shared = max(one[0], two[0]) <= min(one[1], two[1])
        assert (related(one, two)[0] in SHARE_TIME) == shared


def test_of_two_inverses_one_is_in_contact():
    assert {frozenset((name, INVERSE[name])) for name in CONTACT} == {
        frozenset((name, INVERSE[name])) for name in SHARE_TIME
    }


@cache
def composition():
    """What can hold of the first and the third, by what holds of the first and the second, ..."""
    table = {}
    for one, two, three in product(PROPER, repeat=3):
        key = related(one, two)[0], related(two, three)[0]
        table.setdefault(key, set()).add(related(one, three)[0])
    return table


def test_relations_compose_as_they_do_in_allens_table():
    table = composition()
    assert len(table) == 169
    assert sum(map(len, table.values())) == 409
    assert table["before", "before"] == {"before"}
    assert table["during", "meets"] == {"before"}
    assert table["overlaps", "overlaps"] == {"before", "meets", "overlaps"}
    assert table["starts", "finishes"] == {"during"}
    assert table["meets", "met_by"] == {"equals", "finishes", "finished_by"}
    assert table["before", "after"] == set(INVERSE)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(1, 50)), min_size=3, max_size=3))
def test_the_relations_that_are_found_of_three_intervals_compose(some):
    three = sorted((start, start + length) for start, length in some)
    places = sorted({time for one in three for time in one})
    ranked = [tuple(map(places.index, one)) for one in three]
    found = sorted_intervals([ranked])
    names = {
        pair: name for name, both in found.contacts(SHARE_TIME).items() for pair in as_set(both)
    }
    for pair in closure(as_set(found.links("before"))):
        names[pair], names[pair[::-1]] = "before", "after"
    assert len(names) == 6
    assert names[0, 2] in composition()[names[0, 1], names[1, 2]]


# What is found of it


@given(sequences)
def test_contacts_are_those_of_all_pairs(some):
    found = sorted_intervals(some)
    contacts = found.contacts(SHARE_TIME)
    assert list(contacts) == list(SHARE_TIME)
    for name, both in contacts.items():
        assert as_set(both) == pairs(name, some), name


@given(sequences, st.lists(st.sampled_from([*SHARE_TIME, "start", "before"]), unique=True))
def test_only_the_relations_that_are_asked_for_are_found(some, names):
    found = sorted_intervals(some).contacts(names)
    assert list(found) == [name for name in names if name in SHARE_TIME]


@given(sequences)
def test_contacts_are_counted_before_they_are_found(some):
    counts = sorted_intervals(some).n_contacts().tolist()
    expected = [
        sum(one[0] <= sequence[i][1] for one in sequence[i + 1 :])
        for sequence in some
        for i in range(len(sequence))
    ]
    assert counts == expected


@given(sequences)
def test_steps_along_before_lead_to_all_that_is_after(some):
    found = sorted_intervals(some)
    links = as_set(found.links("before"))
    assert closure(links) == pairs("before", some)
    assert found.just_after()[1].tolist() == [
        sum(first == i for first, _ in links) for i in range(len(found.starts))
    ]


@given(sequences)
def test_no_step_along_before_can_be_left_out(some):
    links = as_set(sorted_intervals(some).links("before"))
    before = pairs("before", some)
    assert not any((a, c) in before and (c, b) in before for a, b in links for _, c in before)


@given(sequences)
def test_start_and_end_are_chains(some):
    found = sorted_intervals(some)
    begin = 0
    expected = {"start": set(), "end": set()}
    for sequence in some:
        rows = range(len(sequence))
        by_end = sorted(rows, key=lambda i, now=sequence: now[i][1])
        for name, order in (("start", list(rows)), ("end", by_end)):
            linked = pairwise(order)
            expected[name] |= {(begin + i, begin + j) for i, j in linked}
        begin += len(sequence)
    for name, links in expected.items():
        assert as_set(found.links(name)) == links


@given(sequences)
def test_a_gap_is_from_the_latest_end_before(some):
    found = sorted_intervals(some)
    latest, known = found.gaps()
    lengths = (found.starts - latest).tolist()
    assert [
        length if one else None for length, one in zip(lengths, known.tolist(), strict=True)
    ] == [gap for sequence in some for gap in gaps(sequence)]


def test_a_million_intervals_side_by_side_are_not_compared_with_each_other():
    n = 1_000_000
    starts = 2 * np.arange(n)
    found = SortedIntervals(np.zeros(n, np.int64), starts, starts + 2, np.array([0, n]))
    (first, second) = found.contacts(["meets"])["meets"]
    assert len(first) == n - 1
    assert np.array_equal(second - first, np.ones(n - 1))
    first, second = found.links("before")
    assert len(first) == 2 * n - 5
    assert set((second - first).tolist()) == {2, 3}  # the second of these meets the third


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ((1, 1), (1, 3), "starts"),
        ((3, 3), (1, 3), "finishes"),
        ((2, 2), (1, 3), "during"),
        ((2, 2), (2, 2), "equals"),
        ((1, 1), (2, 2), "before"),
    ],
)
def test_points_are_intervals_too(first, second, name):
    assert holds(name, first, second)
