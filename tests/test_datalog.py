"""Background knowledge evaluated over tables, against the slow twin and by hand."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_background import background_closure

from relynx.errors import DataError
from relynx.logic import bottom_up
from relynx.logic.datalog import Background, evaluate, parse_background, read_background
from relynx.logic.parser import parse_atoms
from relynx.logic.tables import in_order
from relynx.logic.terms import Atom, Comparison, Constant, Not, Rule, Struct, Var

EVENTS = ("e1", "e2", "e3", "e4")
VALUES = ("a", "b", 0, 1, 2, -3, 1.0, 0.5)
ODD_NUMBERS = (2**53 + 1, float(2**53), 2**62, 2**63, -(2**63), 1.0e300)
BASE = {"p": "e", "q": "ev", "t": "evv", "next_s": "ee", "next_b": "ee", "here": ""}
DERIVED = {"d0": "e", "d1": "ee", "d2": "v", "d3": "ev", "d4": "", "next_c": "ee"}
OPERATORS = {"follow_s": "ee", "followat_s": "ee", "follow_b": "ee"}
LEVELS = {"d0": 0, "d1": 0, "next_c": 0, "d2": 1, "d3": 1, "d4": 2}


def encoded(sequences: Sequence[Sequence[Atom]]):
    """Tables and constants of some sequences."""
    constants: list[Constant] = []
    codes: dict[object, int] = {}
    columns: dict[tuple[str, int], list[list[int]]] = {}
    for i, atoms in enumerate(sequences):
        for atom in atoms:
            column = [i]
            for arg in atom.args:
                code = codes.setdefault((type(arg), arg), len(constants))
                if code == len(constants):
                    constants.append(arg)
                column.append(code)
            columns.setdefault(atom.key, []).append(column)
    tables = {key: in_order(np.array(c, np.int32).T) for key, c in columns.items()}
    return tables, constants


def derived(background, sequences, object_identity=True) -> list[set[Atom]]:
    """For each sequence the facts of the predicates that the background defines."""
    if isinstance(background, str):
        background = parse_background(background)
    tables, constants = encoded(sequences)
    found, constants = evaluate(
        background, tables, constants, len(sequences), object_identity=object_identity
    )
    assert set(found) == background.heads
    facts: list[set[Atom]] = [set() for _ in sequences]
    for (name, _), table in found.items():
        assert table.dtype == np.int32
        assert np.array_equal(table, in_order(table))
        for i, *codes in table.T.tolist():
            facts[i].add(Atom(name, tuple(constants[code] for code in codes)))
    return facts


def texts(background: str, facts: str, object_identity=True) -> list[str]:
    """What a background derives from one sequence, as sorted text."""
    (found,) = derived(background, [parse_atoms(facts)], object_identity)
    return sorted(map(str, found))


# Random programs


def pick(*weighted):
    """One of some strategies or values, each as often as its weight says."""
    return st.sampled_from([x for x, weight in weighted for _ in range(weight)])


@st.composite
def facts(draw) -> list[Atom]:
    pools = {"e": pick(("e1", 3), ("e2", 3), ("e3", 2), ("e4", 1)), "v": st.sampled_from(VALUES)}
    if draw(pick((True, 1), (False, 5))):
        pools["v"] = st.sampled_from(ODD_NUMBERS)
    kind = pick(("p", 2), ("q", 4), ("t", 2), ("next_s", 4), ("next_b", 2), ("here", 1))
    return [
        Atom(name, tuple(draw(pools[arg]) for arg in BASE[name]))
        for name in draw(st.lists(kind, min_size=8, max_size=20))
    ]


def chain(n: int) -> list[Atom]:
    return [Atom("next_s", (EVENTS[i], EVENTS[i + 1])) for i in range(n)]


EVENT_TERMS = ((Var("X"), 6), (Var("Y"), 6), (Var("Z"), 3), (Var("_"), 2), ("e1", 1))
VALUE_TERMS = ((Var("V"), 6), (Var("W"), 4), (Var("_"), 2), (Var("X"), 1), ("a", 1), (1, 1))
TERMS = {"e": pick(*EVENT_TERMS), "v": pick(*VALUE_TERMS)}


@st.composite
def body_atom(draw, names: Sequence[str]) -> Atom:
    name = draw(st.sampled_from([*names, *names, *OPERATORS]))
    args = tuple(draw(TERMS[arg]) for arg in {**BASE, **DERIVED, **OPERATORS}[name])
    return Atom(name, (draw(st.integers(1, 4)), *args) if name == "followat_s" else args)


def expressions(names: Sequence[str]):
    numbers = [name for name in names if name in "VWN"] or names
    leaf = st.sampled_from([*map(Var, numbers), *map(Var, numbers), 1, 2, -3, 0.5, 0, 2**62])
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda f, x, y: Struct(f, (x,) if f == "abs" else (x, y)),
            st.sampled_from(["+", "-", "*", "//", "mod", "abs", "min", "max"]),
            inner,
            inner,
        ),
        max_leaves=3,
    )


@st.composite
def rule(draw, head: str) -> Rule:
    level = LEVELS[head]
    known = [*BASE, *(name for name in DERIVED if LEVELS[name] <= level and head != "next_c")]
    lower = [*BASE, *(name for name in DERIVED if LEVELS[name] < level and head != "next_c")]
    if head == "next_c":
        known, lower = list(BASE), list(BASE)
    if level:
        lower.append("next_c")
    body: list = draw(st.lists(body_atom(known), min_size=0, max_size=3))
    recursive = any(LEVELS.get(atom.predicate) == level for atom in body)
    bound = sorted({v.name for atom in body for v in atom.variables() if not v.anonymous})
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["not", "compare", "same", "is"]))
        if kind == "not":
            atom = draw(body_atom(lower))
            args = [
                draw(st.sampled_from([*map(Var, bound), Var("_"), "a"]))
                if isinstance(arg, Var) and arg.name not in bound
                else arg
                for arg in atom.args
            ]
            body.append(Not(Atom(atom.predicate, tuple(args))))
        elif kind == "compare":
            sign = draw(st.sampled_from(["<", "=<", ">", ">=", "=:=", "=\\="]))
            body.append(Comparison(sign, draw(expressions(bound)), draw(expressions(bound))))
        elif kind == "same":
            side = st.sampled_from([*map(Var, bound), 1, 1.0, "a", "unheard"])
            body.append(Comparison(draw(st.sampled_from(["==", "\\=="])), draw(side), draw(side)))
        else:
            right = draw(expressions(bound))
            if recursive:  # or it might never end
                right = Struct("mod", (right, 3))
            left = draw(st.sampled_from([Var("N"), Var("X"), 1]))
            body.append(Comparison("is", left, right))
            if left == Var("N") or left == Var("X"):
                bound = sorted({*bound, left.name})
    body = draw(st.permutations(body))
    variables = [Var(name) for name in bound for _ in range(3)]
    args = tuple(
        draw(st.sampled_from([*variables, "e2" if arg == "e" else 1])) for arg in DERIVED[head]
    )
    return Rule(Atom(head, args), tuple(body))


@st.composite
def programs(draw) -> list[Rule]:
    heads = draw(st.lists(st.sampled_from(list(DERIVED)), min_size=1, max_size=6))
    return [draw(rule(head)) for head in heads]


@given(programs(), st.lists(facts(), min_size=1, max_size=3), st.booleans())
@settings(max_examples=400)
def test_evaluation_equals_the_slow_twin_in_every_sequence(rules, sequences, object_identity):
    _check(rules, sequences, object_identity)


@given(programs(), st.lists(st.integers(0, 3), min_size=1, max_size=3), facts(), st.booleans())
@settings(max_examples=200)
def test_evaluation_equals_the_slow_twin_on_chains(rules, lengths, extra, object_identity):
    plain = [atom for atom in extra if atom.predicate != "next_s"]
    _check(rules, [chain(n) + plain for n in lengths], object_identity)


def _check(rules, sequences, object_identity) -> None:
    background = Background(tuple(rules))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = derived(background, sequences, object_identity)
    for atoms, answer in zip(sequences, found, strict=True):
        expected = background_closure(rules, atoms, object_identity)
        assert answer == {atom for atom in expected if atom.key in background.heads}
