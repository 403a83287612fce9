"""Measures against their formulas in plain Python, and chi-square against scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from tries import trie_of

from relynx.mining.patterns import measures as ms
from relynx.mining.patterns.pattern_set import PatternSet


@st.composite
def tables(draw, least_classes=1):
    """Class sizes and supports of some patterns."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=least_classes, max_size=4))
    row = st.tuples(*(st.integers(0, n) for n in sizes))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return np.array(rows), np.array(sizes)


def entropy(counts):
    n = sum(counts)
    return -sum(k / n * math.log2(k / n) for k in counts if k)


def gain(counts, sizes):
    n, covered = sum(sizes), sum(counts)
    rest = [size - count for size, count in zip(sizes, counts, strict=True)]
    return entropy(sizes) - covered / n * entropy(counts) - (n - covered) / n * entropy(rest)


def pearson(counts, sizes):
    n, covered = sum(sizes), sum(counts)
    total = 0.0
    for count, size in zip(counts, sizes, strict=True):
        for seen, margin in ((count, covered), (size - count, n - covered)):
            expected = size * margin / n
            if expected:
                total += (seen - expected) ** 2 / expected
    return total


def against_rest(counts, c):
    return [counts[c], sum(counts) - counts[c]]


def growth(counts, sizes, c):
    shares = [count / size for count, size in zip(counts, sizes, strict=True)]
    if len(shares) == 1:
        return 1.0
    elsewhere = max(shares[:c] + shares[c + 1 :])
    if elsewhere:
        return shares[c] / elsewhere
    return math.inf if shares[c] else 0.0


PLAIN = {
    "support": lambda counts, sizes, c: counts[c] / sizes[c],
    "confidence": lambda counts, sizes, c: counts[c] / sum(counts) if sum(counts) else 0.0,
    "growth_rate": growth,
    "wracc": lambda counts, sizes, c: (
        sum(counts) / sum(sizes) * (counts[c] / sum(counts) - sizes[c] / sum(sizes))
        if sum(counts)
        else 0.0
    ),
    "chi2": lambda counts, sizes, c: pearson(against_rest(counts, c), against_rest(sizes, c)),
    "information_gain": lambda counts, sizes, c: gain(
        against_rest(counts, c), against_rest(sizes, c)
    ),
}


def test_every_measure_has_a_twin():
    assert set(PLAIN) == set(ms.MEASURES)


@pytest.mark.parametrize("name", PLAIN)
@given(table=tables())
def test_a_measure_equals_its_formula(name, table):
    supports, sizes = table
    wanted = [
        [PLAIN[name](counts, sizes.tolist(), c) for c in range(len(sizes))]
        for counts in supports.tolist()
    ]
    found = ms.MEASURES[name][0](supports, sizes)
    assert found == pytest.approx(np.array(wanted), abs=1e-9)


@given(tables())
def test_measures_of_all_classes_equal_their_formulas(table):
    supports, sizes = table
    rows = supports.tolist()
    chi2 = [pearson(counts, sizes.tolist()) for counts in rows]
    gains = [gain(counts, sizes.tolist()) for counts in rows]
    assert ms.chi2_of_all(supports, sizes)[:, 0] == pytest.approx(np.array(chi2), abs=1e-9)
    found = ms.information_gain_of_all(supports, sizes)[:, 0]
    assert found == pytest.approx(np.array(gains), abs=1e-9)


@given(tables(least_classes=2))
def test_chi_square_is_that_of_scipy(table):
    supports, sizes = table
    found = ms.chi2_of_all(supports, sizes)[:, 0]
    for counts, value in zip(supports, found, strict=True):
        if 0 < counts.sum() < sizes.sum():
            wanted = chi2_contingency([counts, sizes - counts], correction=False).statistic
            assert value == pytest.approx(wanted, abs=1e-9)
        else:
            assert value == 0


@given(tables(least_classes=2))
def test_confidence_1_means_infinite_growth(table):
    supports, sizes = table
    assert np.array_equal(
        ms.confidence(supports, sizes) == 1, np.isinf(ms.growth_rate(supports, sizes))
    )


@given(tables(least_classes=2))
def test_swapping_two_classes_inverts_the_growth_rate(table):
    supports, sizes = table[0][:, :2], table[1][:2]
    rate = ms.growth_rate(supports, sizes)
    finite = (rate > 0).all(axis=1) & np.isfinite(rate).all(axis=1)
    assert rate[finite, 0] == pytest.approx(1 / rate[finite, 1])


@pytest.mark.parametrize("name", ms.MEASURES)
def test_no_patterns_have_no_measures(name):
    patterns = PatternSet(trie_of([]))
    assert patterns.measure(name).shape == (0,)
    assert patterns.measure(name, "yes").shape == (0,)


def test_a_set_takes_the_class_the_largest_or_all_together():
    patterns = PatternSet(trie_of([(-1, "p(A)", (1, 6))]))
    assert patterns.measure("confidence").tolist() == [6 / 7]
    assert patterns.measure("confidence", "no").tolist() == [1 / 7]
    assert patterns.measure("frequency").tolist() == [7.0]
    assert patterns.measure("length").tolist() == [1.0]
    assert patterns.measure("chi2") == pytest.approx([pearson([1, 6], [10, 10])])
