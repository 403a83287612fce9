"""Background knowledge evaluated over tables, against the slow twin and by hand."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import background_closure

from relynx import Sequences, covers
from relynx.errors import DataError
from relynx.logic import datalog
from relynx.logic.datalog import Background, Evaluation, parse_background, read_background
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


def evaluate(*of_all, object_identity):
    """What rules derive, and the constants of all codes."""
    evaluation = Evaluation(*of_all, object_identity=object_identity)
    return evaluation.run(), evaluation.constants.values


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
def test_evaluation_equals_the_slow_twin_in_every_sequence(rules, sequences, object_identity):
    _check(rules, sequences, object_identity)


@given(programs(), st.lists(st.integers(0, 3), min_size=1, max_size=3), facts(), st.booleans())
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


@given(programs())
def test_the_text_of_a_background_reads_back(rules):
    background = Background(tuple(rules))
    assert parse_background(str(background)) == background


@given(programs(), st.lists(facts(), min_size=2, max_size=2), st.booleans())
def test_sequences_do_not_see_each_other(rules, sequences, object_identity):
    background = Background(tuple(rules))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        together = derived(background, sequences, object_identity)
        alone = [derived(background, [atoms], object_identity)[0] for atoms in sequences]
    assert together == alone


# What rules mean


def test_recursion_reaches_the_whole_closure():
    rules = "path(X,Y) :- edge(X,Y). path(X,Z) :- path(X,Y), edge(Y,Z)."
    assert texts(rules, "edge(a,b), edge(b,c), edge(c,d)") == [
        "path(a,b)",
        "path(a,c)",
        "path(a,d)",
        "path(b,c)",
        "path(b,d)",
        "path(c,d)",
    ]


def test_predicates_may_recur_through_each_other():
    rules = """even(0). even(Y) :- odd(X), succ(X,Y). odd(Y) :- even(X), succ(X,Y)."""
    found = texts(rules, "succ(0,1), succ(1,2), succ(2,3)", object_identity=False)
    assert found == ["even(0)", "even(2)", "odd(1)", "odd(3)"]


def test_facts_of_the_data_and_derived_ones_are_one_predicate():
    rules = "bond(X,Y) :- bond(Y,X)."
    assert texts(rules, "bond(a,b)") == ["bond(a,b)", "bond(b,a)"]


def test_facts_of_the_background_hold_in_every_sequence():
    answers = derived("near(a,b).", [parse_atoms("p(e1)"), (), parse_atoms("near(c,d)")])
    near = Atom("near", ("a", "b"))
    assert answers == [{near}, {near}, {near, Atom("near", ("c", "d"))}]


def test_a_rule_without_atoms_holds_in_every_sequence():
    assert derived("p(N) :- N is 2 * 3. here :- 1 < 2. gone :- 2 < 1.", [(), ()]) == [
        {Atom("p", (6,)), Atom("here")},
        {Atom("p", (6,)), Atom("here")},
    ]


def test_no_sequences_give_empty_tables():
    found, constants = evaluate(
        parse_background("p(a). q(X,Y) :- p(X), p(Y). here."), {}, [], 0, object_identity=True
    )
    assert {key: table.shape for key, table in found.items()} == {
        ("p", 1): (2, 0),
        ("q", 2): (3, 0),
        ("here", 0): (1, 0),
    }
    assert constants == ["a"]


def test_variables_of_a_rule_differ_under_object_identity():
    rules = "pair(X,Y) :- p(X), p(Y)."
    assert texts(rules, "p(a), p(b)") == ["pair(a,b)", "pair(b,a)"]
    assert len(texts(rules, "p(a), p(b)", object_identity=False)) == 4


def test_a_variable_differs_from_the_constants_of_the_rules_atoms():
    rules = "other(X) :- p(X), \\+ q(a)."
    assert texts(rules, "p(a), p(b)") == ["other(b)"]
    assert texts(rules, "p(a), p(b)", object_identity=False) == ["other(a)", "other(b)"]


def test_a_constant_of_the_head_is_an_object_too():
    assert texts("mark(X,a) :- p(X).", "p(a), p(b)") == ["mark(b,a)"]


def test_numbers_of_comparisons_are_operands_not_objects():
    assert texts("long(E) :- st(E,L), L >= 7.", "st(e1,7), st(e2,6)") == ["long(e1)"]


def test_steps_of_followat_are_no_object():
    assert texts("two(X,Y) :- followat_s(2,X,Y).", "next_s(1,2), next_s(2,3), next_s(3,4)") == [
        "two(1,3)",
        "two(2,4)",
    ]


def test_steps_of_a_followat_without_its_dimension_are_no_object_either():
    assert texts("p(X) :- q(X), \\+ followat_z(2,X,_).", "q(2)") == ["p(2)"]


def test_the_result_of_is_is_a_variable_like_others():
    rules = "same(E,N) :- st(E,L), N is L * 1."
    assert texts(rules, "st(e1,4)") == []
    assert texts(rules, "st(e1,4)", object_identity=False) == ["same(e1,4)"]


def test_anonymous_variables_are_free_of_object_identity():
    assert texts("p(X) :- t(X,_,_).", "t(a,b,b), t(c,c,c)") == ["p(a)", "p(c)"]


def test_anonymous_under_negation_means_for_no_value():
    facts = "event(e1), event(e2), next_s(e1,e2)"
    assert texts("final(X) :- event(X), \\+ next_s(X,_).", facts) == ["final(e2)"]


def test_a_variable_twice_in_an_atom_asks_for_equal_arguments():
    assert texts("loop(X) :- edge(X,X).", "edge(a,a), edge(a,b)") == ["loop(a)"]


def test_absent_predicates_are_empty():
    assert texts("p(X) :- q(X), \\+ unheard(X). r(X) :- unheard(X).", "q(a)") == ["p(a)"]


def test_is_with_a_bound_left_side_tests_the_constant():
    facts = "q(a,2,3), q(b,2,3.0), q(c,2,4)"
    assert texts("p(X) :- q(X,M,N), N is M + 1.", facts) == ["p(a)"]


def test_is_with_a_number_on_the_left_tests_it():
    assert texts("p(X) :- q(X,M), 3 is M + 1.", "q(a,2), q(b,3), q(c,2.0)") == ["p(a)"]


def test_identity_tells_one_from_one_point_zero_and_value_does_not():
    facts = "q(a,1), q(b,1.0)"
    assert texts("p(X) :- q(X,N), N == 1.", facts) == ["p(a)"]
    assert texts("p(X) :- q(X,N), N \\== 1.", facts) == ["p(b)"]
    assert texts("p(X) :- q(X,N), N =:= 1.", facts) == ["p(a)", "p(b)"]


def test_identity_with_a_constant_that_occurs_nowhere_is_false():
    assert texts("p(X) :- q(X), X == z. r(X) :- q(X), X \\== z.", "q(a)") == ["r(a)"]


def test_identity_of_two_constants_is_decided_without_data():
    assert texts("p(X) :- q(X), z == z, y \\== z. r(X) :- q(X), y == z.", "q(a)") == ["p(a)"]


def test_numbers_made_by_rules_are_added_behind_the_given_constants():
    _, constants = evaluate(
        parse_background("n(N) :- q(M), N is M + 1."),
        {("q", 1): np.array([[0], [0]], np.int32)},
        [41],
        1,
        object_identity=True,
    )
    assert constants == [41, 42]


def test_counting_along_a_chain_ends_by_itself():
    rules = "at(X,0) :- first(X). at(Y,N) :- at(X,M), next_s(X,Y), N is M + 1."
    found = texts(rules, "first(a), next_s(a,b), next_s(b,c)")
    assert found == ["at(a,0)", "at(b,1)", "at(c,2)"]


# The operators of dimensions


def test_follow_is_the_closure_on_chains_branches_and_cycles():
    rules = "f(X,Y) :- follow_s(X,Y)."
    assert texts(rules, "next_s(a,b), next_s(b,c)") == ["f(a,b)", "f(a,c)", "f(b,c)"]
    assert texts(rules, "next_s(a,b), next_s(a,c)") == ["f(a,b)", "f(a,c)"]
    cycle = texts(rules, "next_s(a,b), next_s(b,a)", object_identity=False)
    assert cycle == ["f(a,a)", "f(a,b)", "f(b,a)", "f(b,b)"]


def test_events_of_two_chains_do_not_follow_each_other():
    facts = "next_s(a,b), next_s(c,d), p(a), p(d), p(b)"
    assert texts("f(X,Y) :- p(X), p(Y), follow_s(X,Y).", facts) == ["f(a,b)"]
    found = texts("f(X,Y) :- p(X), p(Y), \\+ follow_s(X,Y).", facts)
    assert found == ["f(a,d)", "f(b,a)", "f(b,d)", "f(d,a)", "f(d,b)"]


def test_follow_with_one_side_known_goes_either_way():
    facts = "next_s(a,b), next_s(b,c), next_s(c,d), p(c)"
    assert texts("after(Y) :- p(X), follow_s(X,Y).", facts) == ["after(d)"]
    assert texts("before(Y) :- p(X), follow_s(Y,X).", facts) == ["before(a)", "before(b)"]
    assert texts("after(Y) :- follow_s(b,Y).", facts) == ["after(c)", "after(d)"]
    assert texts("yes :- follow_s(a,d). no :- follow_s(d,a).", facts) == ["yes"]


def test_follow_of_an_event_by_itself_needs_a_cycle():
    rules = "back(X) :- follow_s(X,X)."
    assert texts(rules, "next_s(a,b), next_s(b,c)") == []
    assert texts(rules, "next_s(a,b), next_s(b,a), next_s(b,c)") == ["back(a)", "back(b)"]


def test_followat_counts_steps_of_a_walk():
    rules = "f(X,Y) :- followat_s(3,X,Y)."
    assert texts(rules, "next_s(a,b), next_s(b,c), next_s(c,d), next_s(d,e)") == [
        "f(a,d)",
        "f(b,e)",
    ]
    assert texts("g(X) :- followat_s(1000000001,X,_).", "next_s(a,b), next_s(b,a)") == [
        "g(a)",
        "g(b)",
    ]


def test_a_dimension_may_be_defined_by_a_rule():
    rules = "next_b(X,Y) :- bond(X,Y). near(X,Y) :- follow_b(X,Y), \\+ next_b(X,Y)."
    assert texts(rules, "bond(a,b), bond(b,c)") == ["near(a,c)", "next_b(a,b)", "next_b(b,c)"]


def test_follow_without_its_dimension_is_an_ordinary_predicate():
    assert texts("f(X) :- follow_up(X,Y).", "follow_up(a,b)") == ["f(a)"]


def test_follow_on_a_long_chain_makes_no_table_of_pairs(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROWS", 2000)
    facts = [Atom("next_s", (i, i + 1)) for i in range(1000)]
    facts += [Atom("p", (10,)), Atom("p", (900,))]
    rules = "f(X,Y) :- p(X), p(Y), follow_s(X,Y). g(X) :- p(X), follow_s(X,_)."
    (found,) = derived(rules, [facts])
    assert sorted(map(str, found)) == ["f(10,900)", "g(10)", "g(900)"]


# What cannot be evaluated


def test_wide_facts_that_no_integer_key_holds_are_kept_apart():
    rng = np.random.default_rng(3)
    constants = [f"c{i}" for i in range(2000)]
    rows = np.vstack([rng.integers(0, 50, 300), rng.integers(0, 2000, (6, 300))])
    table = in_order(rows.astype(np.int32))
    rules = "w(B,A,C,D,E,F) :- w(A,B,C,D,E,F)."
    found, _ = evaluate(
        parse_background(rules), {("w", 6): table}, constants, 50, object_identity=False
    )
    both = np.hstack([table, table[[0, 2, 1, 3, 4, 5, 6]]])
    assert sorted(map(tuple, found["w", 6].T)) == sorted(set(map(tuple, both.T)))


def test_keys_become_wide_when_new_numbers_outgrow_their_bits():
    # A million sequences leave 14 bits for each of three codes: enough for 10,000 constants only.
    rules = "w(M,M,M) :- m(M). w(N,N,N) :- w(M,_,_), M < 12000, N is M + 10000."
    m = np.vstack([np.zeros(10_000), np.arange(10_000)]).astype(np.int32)
    found, constants = evaluate(
        parse_background(rules), {("m", 1): m}, range(10_000), 2**20, object_identity=False
    )
    table = found["w", 3]
    assert np.array_equal(table, in_order(table))
    assert {constants[code] for code in table[1]} == set(range(22_000))
    assert np.array_equal(table[1], table[3])


def test_an_index_made_before_keys_became_wide_is_made_anew():
    rules = """w(M,M,M) :- m(M).
        w(N,N,N) :- w(M,A,B), s(M,A,B), N is M + 1000.
        w(N,N,N) :- w(M,_,_), M < 1000, N is 0 - M."""
    all_16_000 = np.vstack([np.zeros(16_000), np.arange(16_000)]).astype(np.int32)
    tables = {("m", 1): all_16_000[:, :1000], ("s", 3): all_16_000[[0, 1, 1, 1]]}
    found, constants = evaluate(
        parse_background(rules), tables, range(16_000), 2**20, object_identity=False
    )
    assert {constants[code] for code in found["w", 3][1]} == set(range(-999, 17_000))


def message(background: str, facts: str) -> str:
    with pytest.raises(DataError) as caught:
        texts(background, facts)
    return str(caught.value)


@pytest.mark.parametrize(
    ("step", "made"),
    [
        ("M + 1", "new numbers in more than 100 rounds"),
        ("M + 0.5", "new numbers in more than 100 rounds"),
        ("M * M + 2", "a number of more than 4,096 bits"),
    ],
)
def test_numbers_that_may_never_end_are_an_error(step, made, monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROUNDS", 100)
    rules = f"n(0).\nn(N) :- n(M), N is {step}."
    assert message(rules, "p(a)") == (
        f"<text>:2:1: this rule for n/1 made {made}; it may never end\n"
        f"    n(N) :- n(M), N is {step}.\n"
        "    ^\n"
        "hint: bound the numbers by a comparison in its body, such as N < 100, "
        "or write those that you need as facts"
    )


def test_numbers_that_end_too_late_are_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROUNDS", 50)
    rules = "n(0). n(Y) :- n(X), X < {}, Y is X + 1."
    (found,) = derived(rules.format(40), [[]], object_identity=False)
    assert len(found) == 41
    with pytest.raises(DataError, match="new numbers in more than 50 rounds; it may never end"):
        derived(rules.format(60), [[]], object_identity=False)


def test_the_rounds_that_may_make_numbers_grow_with_the_longest_sequence(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROUNDS", 10)
    rules = "pos(F,N) :- pos(E,M), next_s(E,F), N is M + 1."
    links = [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(120)]
    short, long = derived(rules, [links[:1], [Atom("pos", ("e0", 0)), *links]])
    assert short == set()
    assert Atom("pos", ("e120", 120)) in long
    with pytest.raises(DataError, match="in more than 242 rounds"):
        derived(f"n(0). n(N) :- n(M), N is M + 1. {rules}", [[Atom("pos", ("e0", 0)), *links]])


@pytest.mark.parametrize("ask", [Sequences.facts, lambda X: covers("p(X)", X)])
def test_a_warning_points_at_the_code_that_asks(ask):
    background = parse_background("p(X) :- q(X,N), N < 3.")
    X = Sequences.from_atoms([parse_atoms("q(a,b)")], background=background)
    with pytest.warns(UserWarning, match="counts as false") as caught:
        ask(X)
    assert [warning.filename for warning in caught] == [__file__]


def test_rounds_without_new_numbers_are_not_counted(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROUNDS", 3)
    rules = "r(X) :- p(X). r(Y) :- r(X), next_s(X,Y). r(N) :- r(X), X > 10, N is 100 + X mod 2."
    atoms = [Atom("next_s", (i, i + 1)) for i in range(20)]
    (found,) = derived(rules, [[Atom("p", (0,)), *atoms]], object_identity=False)
    assert {atom.args[0] for atom in found} == {*range(21), 100, 101}


def test_too_many_rows_are_an_error_that_names_the_rule(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROWS", 8)
    facts = "p(a), p(b), p(c)"
    expected = (
        "<text>:1:1: this rule for pair/2 makes 9 rows, more than the 8 that are allowed\n"
        "    pair(X,Y) :- p(X), p(Y).\n"
        "    ^\n"
        "hint: let the atoms of its body share more variables, or split the data"
    )
    assert message("pair(X,Y) :- p(X), p(Y).", facts) == expected


def test_too_many_facts_are_an_error(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROWS", 3)
    with pytest.raises(DataError, match="this rule for p/1 makes 4 rows"):
        derived("p(a). p(b).", [(), ()])


def test_a_closure_that_is_too_large_names_the_rule_that_asks_for_it(monkeypatch):
    monkeypatch.setattr(datalog, "MAX_ROWS", 20)
    facts = ", ".join(f"next_s({i},{(i + 1) % 9})" for i in range(9))
    assert message("f(X,Y) :- follow_s(X,Y).", facts).startswith(
        "<text>:1:1: this rule for f/2 makes 27 rows"
    )


def test_an_atom_with_another_arity_than_the_data_is_an_error_at_its_place():
    assert message("p(X) :- q(X),\n  r(X,Y).", "q(a,b), r(a)") == (
        "<text>:1:9: q has 1 argument here, 2 in the data\n"
        "    p(X) :- q(X),\n"
        "            ^\n"
        "hint: give q 2 arguments, or use another name\n"
        "<text>:2:3: r has 2 arguments here, 1 in the data\n"
        "      r(X,Y).\n"
        "      ^\n"
        "hint: give r 1 argument, or use another name"
    )


def test_follow_with_another_number_of_arguments_is_an_error_where_there_is_its_dimension():
    assert message("p(X) :- follow_s(X).", "next_s(a,b)") == (
        "<text>:1:9: follow_s takes 2 arguments, found 1\n"
        "    p(X) :- follow_s(X).\n"
        "            ^~~~~~~~\n"
        "hint: write follow_s(X,Y)"
    )


@pytest.mark.parametrize(
    ("rule", "facts", "said"),
    [
        ("p(X) :- q(X,N), N < 3.", "q(a,b), q(b,c), q(c,1)", "N < 3 does not apply in 2 cases"),
        ("p(X) :- q(X,N), 1 is N // 0.", "q(a,1)", "1 is N // 0 does not apply in 1 case"),
        ("p(X) :- q(X,N), 1 is N // 2.", "q(a,2.0)", "1 is N // 2 does not apply in 1 case"),
        ("p(X) :- q(X,N), 1 is N mod 2.", "q(a,2.0)", "1 is N mod 2 does not apply in 1 case"),
    ],
)
def test_a_literal_that_does_not_apply_warns_once_and_is_false(rule, facts, said):
    with pytest.warns(UserWarning, match="counts as false") as caught:
        found = texts(rule, facts)
    assert found == (["p(c)"] if "c,1" in facts else [])
    assert [str(w.message).splitlines()[0].split(": ", 1)[1].split(",")[0] for w in caught] == [
        said
    ]


def test_the_warning_says_where_how_often_and_shows_a_value():
    with pytest.warns(UserWarning, match="counts as false") as caught:
        texts("% rules\nlong(E) :- st(E,L), L >= 7.", "st(e1,short), st(e2,8), st(e3,short)")
    assert str(caught[0].message) == (
        "<text>:2:21: L >= 7 does not apply in 1 case, for example L = short; "
        "there it counts as false\n"
        "    long(E) :- st(E,L), L >= 7.\n"
        "                        ^"
    )


def test_the_warning_without_variables_has_no_example():
    with pytest.warns(UserWarning, match="counts as false") as caught:
        texts("p :- 1 < 2 mod 0.", "q(a)")
    assert str(caught[0].message).splitlines()[0] == (
        "<text>:1:6: 1 < 2 mod 0 does not apply; there it counts as false"
    )


def test_a_recursive_rule_warns_once():
    rules = "r(X) :- p(X). r(Y) :- r(X), next_s(X,Y), \\+ gone(X), X < 9."
    with pytest.warns(UserWarning, match="counts as false") as caught:
        texts(rules, "p(a), p(b), next_s(a,b), next_s(b,c)")
    assert len(caught) == 1
    assert "does not apply in 2 cases, for example X = a;" in str(caught[0].message)


# The value


def test_a_background_tells_facts_from_rules():
    background = parse_background("near(a,b). long(E) :- st(E,L), L >= 7. near(b,c).")
    assert background.facts == (Atom("near", ("a", "b")), Atom("near", ("b", "c")))
    assert background.heads == {("near", 2), ("long", 1)}


def test_a_background_equals_another_with_the_same_rules_from_elsewhere(tmp_path):
    path = tmp_path / "toy.bk"
    path.write_text("% a comment\nnear(a , b).\n", encoding="utf-8")
    assert read_background(path) == parse_background("near(a,b).")


def test_a_background_pickles_with_its_source():
    background = parse_background("long(E) :- st(E,L), L >= 7.", "toy.bk")
    copy = pickle.loads(pickle.dumps(background))
    assert copy == background
    assert copy.source.path == "toy.bk"


def test_inputs_are_left_unchanged():
    tables, constants = encoded([parse_atoms("n(1), q(2)")])
    before = {key: table.copy() for key, table in tables.items()}
    for table in tables.values():
        table.flags.writeable = False
    evaluate(
        parse_background("n(N) :- q(M), N is M + 1. n(z)."),
        tables,
        constants,
        1,
        object_identity=True,
    )
    assert constants == [1, 2]
    assert all(np.array_equal(tables[key], table) for key, table in before.items())
