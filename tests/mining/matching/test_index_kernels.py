"""Events and facts in order before a search: compiled loops against plain ones."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx.logic.tables import distinct, numbered
from relynx.mining.matching._backtracking_kernels import GRAPH, LINE, PATHS
from relynx.mining.matching._index_kernels import group_facts, walk_paths

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


@given(st.integers(0, 10**6))
def test_facts_are_grouped_as_in_the_slow_way(seed):
    random = Random(seed)
    n_kinds, n_relations = random.choice([1, 5, 80]), random.randint(1, 3)
    sizes = [random.choice([0, 1, 5, 64]) for _ in range(random.randint(1, 4))]
    node_off = np.cumsum([0, *sizes])
    facts, starts = [], []
    for _ in range(n_relations):
        begin = [len(facts)]
        for s, size in enumerate(sizes):
            some = {(random.randrange(n_kinds), random.randrange(size)) for _ in range(3 * size)}
            facts += [(kind, int(node_off[s]) + place) for kind, place in sorted(some)]
            begin.append(len(facts))
        starts.append(begin)
    kind, node = np.array(facts, np.int32).reshape(-1, 2).T
    offset, kinds = np.full(len(sizes) + 1, -1), np.full(len(facts), -1)
    words = np.zeros(len(facts), np.uint64)
    everywhere = np.zeros((n_kinds, len(sizes)), np.uint64)
    n, crowded = group_facts(
        kind, node, np.array(starts), node_off, offset, kinds, words, everywhere
    )
    assert n == offset[-1]
    assert crowded == (len(facts) > len({node for _, node in facts}))
    for s in range(len(sizes)):
        slow: dict[int, int] = {}
        for r in range(n_relations):
            for k, x in facts[starts[r][s] : starts[r][s + 1]]:
                slow[k] = slow.get(k, 0) | 1 << (x - int(node_off[s]))
        here = slice(offset[s], offset[s + 1])
        found = [*zip(kinds[here].tolist(), words[here].tolist(), strict=True)]
        assert found == sorted(slow.items(), key=lambda item: (-item[1], item[0]))
        assert everywhere[:, s].tolist() == [slow.get(k, 0) for k in range(n_kinds)]


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
