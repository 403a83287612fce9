"""Numbers as SWI-Prolog works them out, in whole columns."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing import parse_term
from reference import number

from relynx.logic.arithmetic import MAX_BITS, Constants, NumberTooLarge, assign, compare
from relynx.logic.terms import COMPARISONS, Comparison, Struct, Var, as_constant, term_text

FUNCTIONS = ["+", "-", "*", "//", "mod", "min", "max"]
SIGNS = [sign for sign in COMPARISONS if sign not in ("==", "\\==")]
integers = st.integers(-9, 9) | st.sampled_from(
    [2**53, 2**53 + 1, 2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 10**30, 10**400]
)
integers = integers | integers.map(lambda x: -x)
floats = st.floats(allow_nan=False, allow_infinity=False).map(as_constant) | st.sampled_from(
    [0.5, 1.0, -2.0, 2.0**53, 2.0**62, 1.0e308, 5.0e-324]
)
numbers = integers | floats
X, Y = Var("X"), Var("Y")


def columns(rows):
    """Constants and columns of codes for rows of values of X and Y."""
    constants = Constants([])
    codes = np.array([[constants.add(value) for value in row] for row in rows], np.int32)
    return constants, {"X": codes[:, 0], "Y": codes[:, 1]}


def values(term, rows):
    constants, frame = columns(rows)
    codes, unknown = assign(term, frame, len(rows), constants)
    assert np.array_equal(unknown, codes < 0)
    return [constants.values[code] if code >= 0 else None for code in codes]


def identical(xs, ys) -> bool:
    return [(type(x), x) for x in xs] == [(type(y), y) for y in ys]


@given(
    st.sampled_from(FUNCTIONS),
    st.lists(st.tuples(numbers | st.just("word"), numbers), min_size=1, max_size=8),
)
def test_a_column_of_results_equals_the_results_one_by_one(functor, rows):
    term = Struct(functor, (X, Y))
    assert identical(values(term, rows), [number(term, {"X": x, "Y": y}) for x, y in rows])


@given(
    st.sampled_from(FUNCTIONS),
    st.sampled_from(FUNCTIONS),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8),
)
def test_nested_expressions_equal_the_results_one_by_one(outer, inner, rows):
    term = Struct(outer, (Struct("abs", (Struct(inner, (X, Y)),)), X))
    assert identical(values(term, rows), [number(term, {"X": x, "Y": y}) for x, y in rows])


@given(st.lists(st.tuples(numbers, numbers | st.just("word")), min_size=1, max_size=8))
def test_comparisons_are_exact_between_integers_and_floats(rows):
    constants, frame = columns(rows)
    python = {
        "<": lambda x, y: x < y,
        "=<": lambda x, y: x <= y,
        ">": lambda x, y: x > y,
        ">=": lambda x, y: x >= y,
        "=:=": lambda x, y: x == y,
        "=\\=": lambda x, y: x != y,
    }
    for sign in SIGNS:
        true, unknown = compare(Comparison(sign, X, Y), frame, len(rows), constants)
        assert unknown.tolist() == [y == "word" for _, y in rows]
        assert true.tolist() == [y != "word" and python[sign](x, y) for x, y in rows]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("-7 // 2", -3),
        ("7 // -2", -3),
        ("-7 mod 2", 1),
        ("7 mod -2", -1),
        ("min(1,1.0)", 1.0),
        ("max(1,1.0)", 1.0),
        ("min(2,1.5)", 1.5),
        ("2 * 3.0", 6.0),
        ("0.0 * -1", 0.0),
        ("4611686018427387904 * 2", 2**63),
        ("9223372036854775807 + 1", 2**63),
        ("1.0e308 * 10", None),
        ("5 // 0", None),
        ("5 mod 0", None),
        ("7.0 // 2", None),
        ("abs(-3)", 3),
    ],
)
def test_single_results(text, result):
    assert identical(values(parse_term(text), [(0, 0)]), [result])
    assert str(values(parse_term(text), [(0, 0)])[0]) == str(result)  # no -0.0


def test_an_integer_beyond_all_use_is_refused():
    with pytest.raises(NumberTooLarge):
        values(Struct("*", (X, X)), [(2**MAX_BITS, 0)])


def test_a_column_of_many_numbers_keeps_each_value():
    rows = [(i, 3) for i in range(-500, 500)]
    assert values(Struct("*", (X, Y)), rows) == [3 * i for i in range(-500, 500)]


@pytest.mark.oracle
@pytest.mark.skipif(
    shutil.which("swipl") is None,
    reason="SWI-Prolog is not installed: apt-get install swi-prolog-nox",
)
def test_arithmetic_equals_swi_prolog(tmp_path):
    rng = np.random.default_rng(20)
    pool = [*range(-12, 13), *(n / 4 for n in range(-20, 21)), 2**61, 2**62, -(2**63), 10**30]
    cases = []
    for _ in range(1500):
        x, y, z = (pool[i] for i in rng.integers(0, len(pool), 3))
        f, g = (FUNCTIONS[i] for i in rng.integers(0, len(FUNCTIONS), 2))
        cases.append(Struct(f, (Struct("abs", (Struct(g, (x, y)),)), z)))
        cases.append(Struct(f, (x, Struct(g, (z, y)))))
    ours = [values(term, [(0, 0)])[0] for term in cases]
    assert sum(result is not None for result in ours) > 1000
    assert identical(ours, _swi_prolog(cases, tmp_path / "cases.pl"))


def _swi_prolog(terms, path):
    """What SWI-Prolog makes of some expressions; None where it raises an error."""
    asked = "\n".join(f"c({term_text(term, 0)})." for term in terms)
    program = (
        f"{asked}\n:- forall(c(T), (catch(V is T, _, V = none), "
        "(V == none -> writeln(none) ; V =:= 0, float(V) -> writeln(0.0) ; print(V), nl))).\n"
    )
    path.write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["swipl", "-q", "-g", "halt", str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines = done.stdout.split()
    return [None if x == "none" else float(x) if "." in x else int(x) for x in lines]
