"""Arithmetic and comparison of whole columns of constants, exact as SWI-Prolog's is.

A column of numbers is worked out in int64 and float64; the rows where that would not be exact
(integers of 62 bits or more, and large integers beside floats) are worked out one by one in
Python. Where an operation does not apply to a row (an atom, a division by zero, `//` on floats,
a float that overflows) the row has no value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Ints, Longs
from relynx.logic.terms import Comparison, Constant, Struct, Term, Var, constant_key

MAX_BITS = 4096

Number: TypeAlias = int | float

_INT, _FLOAT, _EXACT, _NONE = range(4)  # ascending: the larger state of two operands wins
_LARGE = 2.0**62
_EXACT_FLOAT = 2**53

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "=<": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=:=": operator.eq,
    "=\\=": operator.ne,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class NumberTooLarge(ArithmeticError):
    """An integer grew beyond MAX_BITS."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of values: `ints` where the state is int, `floats` where it is float."""

    state: NDArray[np.uint8]
    ints: Longs
    floats: Floats

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.state, self.ints, self.floats

    def as_floats(self) -> Floats:
        return np.where(self.state == _INT, self.ints.astype(np.float64), self.floats)


class Constants:
    """Constants and their codes, old codes kept and new ones added at the end."""

    def __init__(self, constants: Iterable[Constant] = ()) -> None:
        self.values: list[Constant] = list(constants)
        self._codes = {constant_key(value): code for code, value in enumerate(self.values)}
        self._numbers = _numbers([])

    def __len__(self) -> int:
        return len(self.values)

    def find(self, constant: Constant) -> int:
        """The code of a constant, or -1."""
        return self._codes.get(constant_key(constant), -1)

    def add(self, constant: Constant) -> int:
        """The code of a constant, a new one where it had none."""
        key = constant_key(constant)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self.values)
            self.values.append(constant)
        return code

    def numbers(self, codes: Ints) -> Numbers:
        known = len(self._numbers.state)
        if known < len(self.values):
            new = _numbers(self.values[known:])
            both = zip(self._numbers.columns(), new.columns(), strict=True)
            self._numbers = Numbers(*map(np.concatenate, both))
        return Numbers(*(column[codes] for column in self._numbers.columns()))

    def add_all(self, values: Longs | Floats) -> Ints:
        """The codes of a column of numbers of one type."""
        distinct, inverse = np.unique(values, return_inverse=True)
        return np.fromiter(map(self.add, distinct.tolist()), np.int32, len(distinct))[inverse]


def _numbers(constants: list[Constant]) -> Numbers:
    n = len(constants)
    state = np.fromiter(map(_state, constants), np.uint8, n)
    ints, floats = np.zeros(n, np.int64), np.zeros(n)
    is_int, is_float = state == _INT, state == _FLOAT
    ints[is_int] = list(compress(constants, is_int.tolist()))
    floats[is_float] = list(compress(constants, is_float.tolist()))
    return Numbers(state, ints, floats)


def _state(constant: Constant) -> int:
    if isinstance(constant, int):
        return _INT if abs(constant) < _LARGE else _EXACT
    return _FLOAT if isinstance(constant, float) else _NONE


def compare(
    test: Comparison, columns: Mapping[str, Ints], n: int, constants: Constants
) -> tuple[Bools, Bools]:
    """Where, in `n` rows, a comparison by value is true, and where it does not apply."""
    compared = _COMPARE[test.operator]
    a, b = (_column(side, columns, n, constants) for side in (test.left, test.right))
    state = np.maximum(np.maximum(a.state, b.state), _mixed_large(a, b))
    both_int = (a.state == _INT) & (b.state == _INT)
    true = np.where(both_int, compared(a.ints, b.ints), compared(a.as_floats(), b.as_floats()))
    true &= state < _EXACT
    unknown = state == _NONE
    for row in np.flatnonzero(state == _EXACT).tolist():
        binding = _row(columns, row, constants)
        x, y = value(test.left, binding), value(test.right, binding)
        if x is None or y is None:
            unknown[row] = True
        else:
            true[row] = compared(x, y)
    return true, unknown


def assign(
    right: Term, columns: Mapping[str, Ints], n: int, constants: Constants
) -> tuple[Ints, Bools]:
    """The codes of an expression's values, and where it has none (the code there is -1)."""
    column = _column(right, columns, n, constants)
    codes = np.full(len(column.state), -1, np.int32)
    is_int, is_float = column.state == _INT, column.state == _FLOAT
    codes[is_int] = constants.add_all(column.ints[is_int])
    codes[is_float] = constants.add_all(column.floats[is_float])
    for row in np.flatnonzero(column.state == _EXACT).tolist():
        number = value(right, _row(columns, row, constants))
        if number is not None:
            codes[row] = constants.add(number)
    return codes, codes < 0


def _row(columns: Mapping[str, Ints], row: int, constants: Constants) -> dict[str, Constant]:
    return {name: constants.values[codes[row]] for name, codes in columns.items()}


def _column(term: Term, columns: Mapping[str, Ints], n: int, constants: Constants) -> Numbers:
    """The values of an expression in each of `n` rows."""
    if isinstance(term, Var):
        return constants.numbers(columns[term.name])
    if isinstance(term, Struct):
        operands = [_column(arg, columns, n, constants) for arg in term.args]
        with np.errstate(all="ignore"):
            return _apply(term.functor, *operands)
    assert not isinstance(term, tuple), "checked before: no lists in arithmetic"
    return Numbers(*(np.repeat(column, n) for column in _numbers([term]).columns()))


def _apply(functor: str, a: Numbers, *more: Numbers) -> Numbers:
    if functor == "abs":
        return Numbers(a.state, np.abs(a.ints), np.abs(a.floats))
    (b,) = more
    if functor in ("min", "max"):
        return _extreme(functor, a, b)
    state = np.maximum(a.state, b.state)
    if functor in _SUMS:
        ints = np.asarray(_SUMS[functor](a.ints, b.ints))
        floats = np.asarray(_SUMS[functor](a.as_floats(), b.as_floats())) + 0.0  # no -0.0
        state[(state == _INT) & (np.abs(floats) >= _LARGE)] = _EXACT
        state[(state == _FLOAT) & ~np.isfinite(floats)] = _NONE
        return Numbers(state, ints, floats)
    zero = (b.state == _INT) & (b.ints == 0)
    state[(a.state == _FLOAT) | (b.state == _FLOAT) | zero] = _NONE
    divisor = np.where(b.ints == 0, 1, b.ints)
    if functor == "mod":
        return Numbers(state, np.mod(a.ints, divisor), a.floats)
    quotient = a.ints // divisor  # rounds down; Prolog's // rounds toward zero
    quotient += (quotient < 0) & (quotient * divisor != a.ints)
    return Numbers(state, quotient, a.floats)


def _extreme(functor: str, a: Numbers, b: Numbers) -> Numbers:
    """min or max; of two equal numbers of different type the float, as in SWI-Prolog."""
    both_int = (a.state == _INT) & (b.state == _INT)
    x, y = (a, b) if functor == "max" else (b, a)
    take_b = np.where(both_int, x.ints < y.ints, x.as_floats() < y.as_floats())
    take_b |= (b.state == _FLOAT) & (a.as_floats() == b.as_floats())
    state = np.where(take_b, b.state, a.state)
    worst = np.maximum(np.maximum(a.state, b.state), _mixed_large(a, b))
    return Numbers(
        np.where(worst >= _EXACT, worst, state),
        np.where(take_b, b.ints, a.ints),
        np.where(take_b, b.floats, a.floats),
    )


def _mixed_large(a: Numbers, b: Numbers) -> NDArray[np.uint8]:
    """EXACT where an int beside a float is too large to become a float without loss."""
    mixed = (np.minimum(a.state, b.state) == _INT) & (np.maximum(a.state, b.state) == _FLOAT)
    large = (np.abs(a.ints) > _EXACT_FLOAT) | (np.abs(b.ints) > _EXACT_FLOAT)
    return np.where(mixed & large, np.uint8(_EXACT), np.uint8(0))


def value(term: Term, binding: Mapping[str, Constant]) -> Number | None:
    """The value of an expression, or None where it has none."""
    if isinstance(term, Var):
        term = binding[term.name]
    if isinstance(term, Struct):
        numbers = [value(arg, binding) for arg in term.args]
        operands = [number for number in numbers if number is not None]
        return _apply_one(term.functor, *operands) if len(operands) == len(numbers) else None
    return term if isinstance(term, int | float) else None


def _apply_one(functor: str, x: Number, y: Number = 0) -> Number | None:
    if functor == "abs":
        return abs(x)
    if functor in ("min", "max"):
        if x == y:
            return y if isinstance(y, float) else x
        return max(x, y) if functor == "max" else min(x, y)
    try:
        if functor in _SUMS:
            result: Number = _SUMS[functor](x, y)
        elif isinstance(x, float) or isinstance(y, float) or y == 0:
            return None
        else:
            result = x % y if functor == "mod" else abs(x) // abs(y) * (1 if x * y > 0 else -1)
    except OverflowError:  # an int too large to become a float
        return None
    if isinstance(result, int) and result.bit_length() > MAX_BITS:
        raise NumberTooLarge
    return result + 0 if isinstance(result, int) or math.isfinite(result) else None
