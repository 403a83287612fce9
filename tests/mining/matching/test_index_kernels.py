"""Events and facts in order before a search: compiled loops against plain ones."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx.logic.tables import distinct, numbered
from relynx.mining.matching._backtracking_kernels import GRAPH, LINE, PATHS, walk_paths

pytestmark = pytest.mark.kernels


def slow_paths(links: list[tuple[int, int]], nodes: range) -> tuple[int, list[list[int]]]:
    """The shape of a sequence, and its nodes path by path."""
    following, previous = dict(links), {y: x for x, y in links}
    alone = [[node] for node in nodes]
    if len(following) < len(links) or len(previous) < len(links) or any(x == y for x, y in links):
        return GRAPH, alone
    paths = []
    for node in nodes:
        if node not in previous:
            path = [node]
            while path[-1] in following:
                path.append(following[path[-1]])
            paths.append(path)
    if sum(map(len, paths)) < len(nodes):
        return GRAPH, alone
    return LINE if len(paths) <= 1 else PATHS, paths


def drawn_links(random: Random, nodes: range) -> list[tuple[int, int]]:
    """A line, some paths, circles, or anything."""
    order = random.sample(nodes, k=len(nodes))
    links = {pair for pair in pairwise(order) if random.random() < 0.8}
    if random.random() < 0.3 and nodes:
        links.add((random.choice(nodes), random.choice(nodes)))
    return sorted(links)


@given(st.integers(0, 10**6))
def test_paths_are_those_of_the_slow_way(seed):
    random = Random(seed)
    sizes = [random.choice([0, 1, 2, 3, 6]) for _ in range(random.randint(0, 5))]
    node_off = np.cumsum([0, *sizes])
    links = [drawn_links(random, range(*node_off[s : s + 2].tolist())) for s in range(len(sizes))]
    edge_off = np.cumsum([0, *map(len, links)])
    before, after = np.array([link for some in links for link in some], np.int64).reshape(-1, 2).T
    shape = np.full(len(sizes), 99, np.uint8)
    order, rank, first, last = np.full((4, node_off[-1]), -1, np.int32)
    walk_paths(before, after, edge_off, node_off, shape, order, rank, first, last)
    for s, some in enumerate(links):
        begin, end = node_off[s : s + 2].tolist()
        kind, paths = slow_paths(some, range(begin, end))
        assert shape[s] == kind
        assert order[begin:end].tolist() == [node for path in paths for node in path]
        at = begin
        for path in paths:
            for place, node in enumerate(path):
                ends = (at, at + len(path) - 1)
                assert (rank[node], first[node], last[node]) == (at + place, *ends)
            at += len(path)


@given(st.lists(st.integers(0, 9) | st.integers(0, 2**62)))
def test_values_are_numbered_in_their_order(values):
    column = np.array(values, np.int64)
    number, example = numbered(column)
    ordered = sorted(set(values))
    assert column[example].tolist() == ordered == distinct(column).tolist()
    assert [ordered[i] for i in number.tolist()] == values


@given(st.lists(st.integers(-5, 2**31 - 1)), st.booleans())
def test_distinct_values_keep_their_type(values, in_runs):
    column = np.array(values, np.int32)
    found = distinct(column, in_runs=in_runs)
    assert found.dtype == column.dtype
    assert found.tolist() == sorted(set(values))
