"""Where numbers are cut, and what the ranges are called."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx.data.discretise import bin_names, binned, quantile_cuts, short_between, width_cuts

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-(10**6), 10**6)
MANY = st.lists(NUMBERS, min_size=1, max_size=40)


@given(NUMBERS, NUMBERS)
def test_a_short_number_lies_above_the_lower_and_up_to_the_higher(a, b):
    low, high = sorted((float(a), float(b)))
    short = short_between(low, high)
    assert low < short <= high or low == high == short


@pytest.mark.parametrize(
    ("low", "high", "short"),
    [
        (37, 52, 50),
        (3, 4, 4),
        (0.12345, 0.12389, 0.1235),
        (99.5, 130.25, 100),
        (-52, -37, -50),
        (-0.5, 0.5, 0),
        (1234.5, 1234.75, 1234.7),
        (1.0, 1.0000000000000002, 1.0000000000000002),
    ],
)
def test_a_short_number_has_few_digits(low, high, short):
    assert short_between(low, high) == short


@given(MANY, st.integers(2, 6))
def test_quantile_cuts_rise_and_leave_no_range_empty(values, n):
    numbers, counts = np.unique(np.array(values, float), return_counts=True)
    cuts = quantile_cuts(numbers, counts, n)
    assert list(cuts) == sorted(set(cuts))
    assert len(cuts) < n
    held = np.bincount(binned(numbers, cuts), minlength=len(cuts) + 1)
    assert (held > 0).all()


def test_a_cut_moves_a_little_to_be_short():
    numbers = np.linspace(0.123, 99.987, 1001)
    assert quantile_cuts(numbers, np.ones(1001, np.int64), 4) == (25, 50, 75)


@given(st.sets(st.integers(-(10**6), 10**6), min_size=2, max_size=60), st.integers(2, 6))
def test_different_values_are_shared_out_evenly(values, n):
    numbers = np.array(sorted(values))
    cuts = quantile_cuts(numbers, np.ones(len(numbers), np.int64), n)
    held = np.bincount(binned(numbers, cuts), minlength=len(cuts) + 1)
    if len(numbers) >= n:
        assert held.max() - held.min() <= 2


@given(MANY, st.integers(2, 6))
def test_ranges_of_one_width_are_nearly_so(values, n):
    numbers = np.unique(np.array(values, float))
    cuts = width_cuts(numbers, n)
    if len(numbers) < 2:
        assert cuts == ()
        return
    width = (numbers[-1] - numbers[0]) / n
    exact = numbers[0] + width * np.arange(1, n)
    assert list(cuts) == sorted(set(cuts))
    if width > 1e-3:  # else cuts of different ranges may be one float
        assert np.allclose(cuts, exact, rtol=0, atol=width / 90)


def test_a_value_on_a_cut_is_in_the_range_above():
    assert binned(np.array([1.9, 2, 4.9, 5, 6]), (2, 5)).tolist() == [0, 1, 1, 2, 2]


EDGES = [*range(2**53 - 2, 2**53 + 3), *range(2**60 - 2, 2**60 + 3), 2**63 - 1, 2**63, 1e30]
LARGE = st.sampled_from(EDGES) | st.integers(-(2**63), 2**63 - 1) | st.floats(-1e20, 1e20)


@given(
    st.lists(LARGE, min_size=1, max_size=6, unique=True), st.lists(LARGE, max_size=6), st.booleans()
)
def test_large_numbers_are_compared_to_the_last_digit(cuts, values, whole):
    cuts = tuple(sorted(cuts))
    if whole:
        numbers = np.array([n for n in values if isinstance(n, int) and n < 2**63], np.int64)
    else:
        numbers = np.array(values, float)
    expected = [sum(cut <= n for cut in cuts) for n in numbers.tolist()]  # as Python compares
    assert binned(numbers, cuts).tolist() == expected


def test_cuts_of_large_integers_lie_between_them():
    numbers = np.array([2**60 + i for i in range(12)])
    cuts = quantile_cuts(numbers, np.ones(12, np.int64), 4)
    assert cuts == (2**60 + 3, 2**60 + 6, 2**60 + 9)
    assert binned(numbers, cuts).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


@pytest.mark.parametrize(
    ("cuts", "names"),
    [((), ["any"]), ((2,), ["<2", ">=2"]), ((-1.5, 0, 10), ["<-1.5", "-1.5..0", "0..10", ">=10"])],
)
def test_names_say_what_is_in_a_range(cuts, names):
    assert bin_names(cuts) == names
