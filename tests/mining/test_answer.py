"""The filters of an answer, and what they tell about themselves."""

import numpy as np
import pytest
from tries import trie_of

import relynx as rx
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.report import SearchLevel, SearchReport
from relynx.mining.search import Filters, answer

SEQUENCES = [["a", "b"], ["b", "a"], ["a"], ["c"], ["a", "b", "c"]]
ROWS = [
    (-1, "a(A)", (3, 1)),
    (0, "next_s(A,B), b(B)", (1, 1)),
    (0, "follow_s(A,B), b(B)", (1, 1)),
    (2, "b(A)", (1, 1)),
    (-1, "c(A)", (1, 1)),
    (-1, "b(A)", (2, 1)),
]


@pytest.fixture
def X():
    return rx.from_lists(SEQUENCES)[0]


@pytest.fixture
def found():
    report = SearchReport((SearchLevel(1, 3, 0, 0, 0, 3),))
    trie = trie_of(ROWS, class_sizes=(4, 1))
    return PatternSet(trie, complete_up_to=2, partial="late", report=report)


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"min_confidence": 0.6}, [0, 5]),
        ({"max_support": {"no": 0.25}}, [1, 2, 3, 4]),
        ({"closed": True}, [0, 1, 3, 4, 5]),
        ({"wants": lambda atoms: len(atoms) > 1}, [1, 2, 3]),
        ({"wants": lambda atoms: len(atoms) < 4, "closed": True}, [0, 1, 4, 5]),
        ({"min_cover": 1}, [0, 4]),
        ({"top_k": 2}, [0, 5]),
        ({"top_k": 1, "measure": "wracc", "min_cover": 2}, [4]),
    ],
)
def test_a_filter_leaves_what_passes_it(found, X, settings, left):
    settings = dict(settings)
    wants = settings.pop("wants", None)
    assert answer(found, X, Filters(**settings), wants=wants).rows.tolist() == left


def test_the_report_tells_what_each_filter_removed(found, X):
    left = answer(found, X, Filters(max_support={"no": 0.25}, closed=True, top_k=1))
    assert left.report.removed == {"max_support": 2, "closed": 1, "top_k": 2}
    assert left.report.levels == found.report.levels
    assert (left.complete_up_to, left.partial) == (2, "late")


def test_closed_and_the_filters_before_it_can_change_places(found, X):
    settings = {"min_confidence": 0.5, "max_support": {"no": 0.5}}
    together = answer(found, X, Filters(closed=True, **settings))
    one_by_one = answer(answer(found, X, Filters(closed=True)), X, Filters(**settings))
    assert np.array_equal(together.rows, one_by_one.rows)
