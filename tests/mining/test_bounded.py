"""A language that is searched by a bound: its columns are what the patterns of `mine` cover."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import solved_language

import relynx as rx
from relynx import InputError
from relynx.bias import Bias
from relynx.mining import _level_kernels as kernels
from relynx.mining import bounded
from relynx.mining.bounded import Language
from relynx.mining.budget import Budget
from relynx.mining.search import mine
from relynx.search_settings import SearchSettings

SETTINGS = SearchSettings(max_length=3)


def letters(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rx.from_lists([rng.choice(list("abcd"), size=4).tolist() for _ in range(n)])[0]


@pytest.fixture(scope="module")
def data():
    X = letters()
    return X, Bias.infer(X)


def mined(X, bias, settings):
    """The patterns of a language, and what each covers."""
    how = settings.arguments() | {"min_support": 0.0, "min_frequency": 1, "min_cover": None}
    found = mine(X, [0] * len(X), bias, **how, keep_coverage=True)
    return found, [frozenset(np.flatnonzero(c).tolist()) for c in found.training_coverage().T]


def columns_of(language):
    offset, rows = language.columns(np.arange(len(language)))
    return [frozenset(part.tolist()) for part in np.split(rows, offset[1:-1])]


def whole(X, bias, settings=SETTINGS, **how):
    language = Language(X, bias, settings, **how)
    while language.grow(np.ones(len(language), bool)):
        pass
    return language


def some_values(X, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, len(X))) * rng.integers(0, 2, len(X))


@pytest.mark.kernels
@given(st.integers(0, 9999), st.integers(1, 9), st.integers(0, 6), st.integers(1, 3))
def test_masses_are_sums_and_the_largest_of_any_part(seed, n, n_columns, n_values):
    rng = np.random.default_rng(seed)
    matrix, values = rng.random((n, n_columns)) < 0.5, rng.integers(-4, 5, (n, n_values)) / 4
    offset = np.append(0, np.cumsum(matrix.sum(axis=0))).astype(np.int64)
    rows = np.concatenate([np.flatnonzero(c) for c in matrix.T] + [[]]).astype(np.int32)
    sums, bounds = np.empty((n_columns, n_values)), np.empty(n_columns)
    kernels.masses(offset, rows, values, 0, n_columns, sums, bounds)
    for column, total, bound in zip(matrix.T, sums, bounds, strict=True):
        assert total.tolist() == values[column].sum(axis=0).tolist()
        up, down = np.maximum(values[column], 0), np.maximum(-values[column], 0)
        assert bound == max(up.sum(axis=0).max(), down.sum(axis=0).max())


def test_all_that_waits_leads_to_what_mine_finds(data):
    X, bias = data
    language, (_, covered) = whole(X, bias), mined(X, bias, SETTINGS)
    assert {c for c in covered if len(c) < len(X)} == {
        c for c, flag in zip(columns_of(language), language.usable, strict=True) if flag
    }
    assert len(set(columns_of(language))) == len(language)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_beyond_the_bound_is_left_out(seed):
    language, _ = solved_language(seed)
    X, bias = language.X, language.bias
    keys = ("max_length", "max_gap", "object_identity")
    settings = SearchSettings.of(bias, **{k: language.parameters.get(k) for k in keys})
    _, covered = mined(X, bias, settings)
    values = some_values(X, seed)
    every = [np.abs(values[:, sorted(c)].sum(axis=1)).max() for c in covered if len(c) < len(X)]
    least = np.quantile(every, 0.7)
    part = Language(X, bias, settings)
    while part.grow(part.sums(values)[1] > least):
        pass
    sums, bounds = part.sums(values)
    found = np.abs(sums[part.usable]).max(axis=1)
    assert part.open_bound(bounds) <= least
    assert part.nodes <= whole(X, bias, settings).nodes
    beyond = {round(value, 9) for value in every if value > least}
    assert beyond == {round(value, 9) for value in found.tolist() if value > least}


def test_what_was_counted_is_not_counted_again(data):
    language = whole(*data)
    n = language.nodes
    assert not language.grow(np.ones(len(language), bool))
    assert language.nodes == n


def test_threads_change_nothing(data, monkeypatch):
    monkeypatch.setattr(bounded, "FEW_COLUMNS", 1)
    one, two = (whole(*data, n_threads=n) for n in (1, 2))
    values = some_values(data[0], 1)
    assert columns_of(one) == columns_of(two)
    assert all((a == b).all() for a, b in zip(one.sums(values), two.sums(values), strict=True))


@pytest.mark.parametrize("constraint", ["", "posconstraint([a(A)]).", "posconstraint([b(A)])."])
def test_of_each_column_the_first_pattern_is_given(constraint):
    kinds = " ".join(f"type({c}(event)). mode({c}(+))." for c in "abcd")
    X, bias = letters(), rx.parse_bias(f"{kinds} dimension(next_s). {constraint}")
    found, covered = mined(X, bias, SETTINGS)
    language = whole(X, bias)
    first = dict(zip(covered[::-1], [*found.texts()][::-1], strict=True))
    first.pop(frozenset(range(len(X))), None)
    usable = [columns_of(language)[i] for i in np.flatnonzero(language.usable)]
    assert set(usable) == set(first)
    chosen = Random(0).sample(np.flatnonzero(language.usable).tolist(), 12)
    columns = columns_of(language)
    patterns, order = language.patterns(np.array(chosen))
    assert [*patterns.texts()] == [first[columns[chosen[i]]] for i in order.tolist()]
    places = [[*found.texts()].index(text) for text in patterns.texts()]
    assert places == sorted(places)


def test_where_memory_ends_what_waits_is_still_bounded(data):
    X, bias = data
    language, values = Language(X, bias, SETTINGS), some_values(data[0], 2)
    language.budget.memory_limit = 0
    language.budget._measured_at = 0.0
    assert not language.grow(np.ones(len(language), bool))
    assert "the memory of the machine" in language.reason
    _, covered = mined(X, bias, SETTINGS)
    most = max(np.abs(values[:, sorted(c)].sum(axis=1)).max() for c in covered)
    sums, bounds = language.sums(values)
    assert max(np.abs(sums).max(), language.open_bound(bounds)) >= most
    assert not language.grow(np.ones(len(language), bool))


def test_a_language_without_room_for_its_first_atoms_is_refused(data, monkeypatch):
    def full(self, n_bytes):
        raise bounded.OverBudget

    monkeypatch.setattr(Budget, "take", full)
    with pytest.raises(InputError, match=r"^the search of the language stopped by the memory of"):
        Language(*data, SETTINGS)
