"""How interesting a pattern is for a class: measures of all rows of a table of supports at once.

Each takes `supports` (one row a pattern, one column a class, how many sequences are covered) and
`sizes` (how many sequences each class has), and returns one value a pattern and class. Where a
quotient is 0/0 the measure is 0: a pattern that covers nothing tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats
from relynx.errors import InputError, did_you_mean

Counts: TypeAlias = NDArray[Any]


def support(supports: Counts, sizes: Counts) -> Floats:
    """The share of each class that is covered, `supp_c / n_c`."""
    return _quotient(supports, np.broadcast_to(sizes, supports.shape))


def confidence(supports: Counts, sizes: Counts) -> Floats:
    """The share of each class in what is covered, `supp_c / freq`."""
    return _quotient(supports, supports.sum(axis=1, keepdims=True))


def growth_rate(supports: Counts, sizes: Counts) -> Floats:
    """The share of a class over the largest share of another one (emerging patterns). Infinite for
    what covers sequences of one class only. With one class there is nothing to compare with, and
    the rate is 1."""
    shares = support(supports, sizes)
    if shares.shape[1] < 2:
        return np.ones_like(shares)
    ordered = np.sort(shares, axis=1)
    is_largest = np.arange(shares.shape[1]) == shares.argmax(axis=1)[:, None]
    elsewhere = np.where(is_largest, ordered[:, -2:-1], ordered[:, -1:])
    rate = _quotient(shares, elsewhere)
    rate[(elsewhere == 0) & (shares > 0)] = np.inf
    return rate


def wracc(supports: Counts, sizes: Counts) -> Floats:
    """Weighted relative accuracy: `freq/n * (conf_c - n_c/n)`."""
    n = sizes.sum()
    covered = supports.sum(axis=1, keepdims=True)
    expected = covered * (sizes / n) if n else np.zeros(supports.shape)
    return (supports - expected) / n if n else expected


def chi2(supports: Counts, sizes: Counts) -> Floats:
    """Pearson's chi-square of covered or not against the class or another, without correction."""
    n = float(sizes.sum())
    covered = supports.sum(axis=1, keepdims=True).astype(float)
    determinant = supports * n - covered * sizes
    return _quotient(determinant**2 * n, covered * (n - covered) * (sizes * (n - sizes)))


def chi2_of_all(supports: Counts, sizes: Counts) -> Floats:
    """Pearson's chi-square of covered or not against all classes; one column."""
    n = float(sizes.sum())
    covered = supports.sum(axis=1, keepdims=True).astype(float)
    expected = covered * sizes / n if n else np.zeros(supports.shape)
    # Covered and uncovered differ from what is expected by the same amount.
    terms = _quotient((supports - expected) ** 2, expected).sum(axis=1, keepdims=True)
    return _quotient(terms * n, n - covered)


def information_gain(supports: Counts, sizes: Counts) -> Floats:
    """Bits that covered or not tells about the class or another."""
    columns = [
        information_gain_of_all(
            _one_against_rest(supports, c), _one_against_rest(sizes[None], c)[0]
        )
        for c in range(supports.shape[1])
    ]
    return np.concatenate(columns, axis=1)


def information_gain_of_all(supports: Counts, sizes: Counts) -> Floats:
    """Bits that covered or not tells about the classes; one column."""
    n = float(sizes.sum())
    covered = supports.sum(axis=1, keepdims=True).astype(float)
    rest = sizes - supports
    inside = _quotient(covered, np.full_like(covered, n)) * _entropy(supports)
    outside = _quotient(n - covered, np.full_like(covered, n)) * _entropy(rest)
    return np.maximum(_entropy(sizes[None]) - inside - outside, 0.0)


Measure: TypeAlias = Callable[[Counts, Counts], Floats]

# By name: the measure of each class, and that of all classes at once where it is not the largest.
MEASURES: dict[str, tuple[Measure, Measure | None]] = {
    "support": (support, None),
    "confidence": (confidence, None),
    "growth_rate": (growth_rate, None),
    "wracc": (wracc, None),
    "chi2": (chi2, chi2_of_all),
    "information_gain": (information_gain, information_gain_of_all),
}


def of_all_classes(name: str, supports: Counts, sizes: Counts) -> Floats:
    """One value a pattern: of all classes together where the measure has that, else the largest."""
    of_class, of_all = MEASURES[name]
    if of_all is not None:
        return of_all(supports, sizes)[:, 0]
    return np.asarray(of_class(supports, sizes).max(axis=1, initial=-np.inf))


# Of a pattern, whatever the classes.
OF_PATTERNS = ("frequency", "length")


def checked_measure(name: object) -> str:
    """The name of a measure. Raises InputError for another."""
    known = (*OF_PATTERNS, *MEASURES)
    if isinstance(name, str) and name in known:
        return name
    near = did_you_mean(name, known) if isinstance(name, str) else None
    hint = near or f"give one of {', '.join(known)}"
    raise InputError(f"unknown measure {name!r}: {hint}")


def class_column(name: object, classes: Sequence[object]) -> int:
    """The column of a class; as labels, True and False are `true` and `false`."""
    if isinstance(name, bool | np.bool_):
        name = "true" if name else "false"
    if name not in classes:
        known = ", ".join(map(repr, classes))
        raise InputError(f"unknown class {name!r}: the classes are {known}")
    return classes.index(name)


def _quotient(numerator: Counts, denominator: Counts) -> Floats:
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator != 0)


def _one_against_rest(counts: Counts, column: int) -> Counts:
    one = counts[:, column]
    return np.stack([one, counts.sum(axis=1) - one], axis=1)


def _entropy(counts: Counts) -> Floats:
    """The entropy of each row of counts in bits; one column."""
    shares = _quotient(counts, counts.sum(axis=1, keepdims=True))
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1, keepdims=True))
