"""Coverage that comes out of the search is the coverage that matching finds."""

import pickle

import numpy as np
import pytest
from languages import solved_language

import relynx as rx
from relynx.errors import InputError
from relynx.mining.search import mine


@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_kept_coverage_is_that_of_matching(seed):
    language, _ = solved_language(seed)
    found = mine(language.X, bias=language.bias, **language.parameters, keep_coverage=True)
    kept = found.training_coverage()
    assert kept.shape == (len(language.X), len(found))
    assert np.array_equal(kept, found.coverage(language.X))


def letters():
    return rx.from_lists([["a", "b"], ["a", "c", "b"], ["b", "a"]] * 30, ["up", "up", "down"] * 30)


def test_filters_keep_the_coverage_of_what_they_leave():
    X, y = letters()
    found = mine(X, y, max_length=2, keep_coverage=True, top_k=3)
    some = found[[2, 0]]
    assert np.array_equal(some.training_coverage(), some.coverage(X))
    assert np.array_equal(some.training_coverage(packed=True), some.coverage(X, packed=True))


def test_threads_and_a_checkpoint_change_nothing(tmp_path):
    X, y = letters()
    plain = mine(X, y, max_length=2, keep_coverage=True).training_coverage()
    for _ in range(2):
        again = mine(X, y, max_length=2, keep_coverage=True, n_jobs=2, checkpoint=tmp_path / "c")
        assert np.array_equal(again.training_coverage(), plain)


def test_a_set_without_kept_coverage_says_how_to_get_it():
    X, y = letters()
    found = mine(X, y, max_length=1)
    with pytest.raises(InputError) as caught:
        found.training_coverage()
    assert str(caught.value) == (
        "these patterns were mined without keep_coverage=True\n"
        "hint: give it to mine, or ask for coverage(X)"
    )


def test_kept_coverage_is_not_pickled():
    X, y = letters()
    found = mine(X, y, max_length=1, keep_coverage=True)
    assert pickle.loads(pickle.dumps(found)).kept_coverage is None


def test_partitions_refuse_to_keep_coverage(tmp_path):
    X, _ = letters()
    X.to_parquet(tmp_path / "parts")
    bias = rx.Bias.infer(X)
    with pytest.raises(InputError) as caught:
        mine(rx.scan_parquet(tmp_path / "parts"), bias=bias, keep_coverage=True)
    assert str(caught.value) == (
        "keep_coverage is for sequences in memory, not for partitions\n"
        "hint: leave it out, or give parts.load()"
    )
