"""Borders, what lies between them, and inductive queries against plain enumeration.

The properties are those of SeqLog (Lee and De Raedt) and of features from version spaces (Kramer
and De Raedt). In SeqLog's notation `a . b` is a directly before b, `a < b` somewhere before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from enumerate_patterns import Conditions, Found, Variants, enumerate_patterns
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from tries import random_rows, trie_of

import relynx as rx
from relynx.logic.canonical import subsumes
from relynx.logic.terms import Atom, Var
from relynx.mining.matching.match import covers
from relynx.mining.patterns import borders as borders_module
from relynx.mining.patterns.borders import Borders, frozen
from relynx.mining.patterns.pattern_set import PatternSet

CONSTANTS = rx.parse_bias("type(p(event,t)). mode(p(+,#)). dimension(next_s).")
TERMS = rx.parse_bias("type(p(event,t)). mode(p(+,*)). dimension(next_s).")
TEXTS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=5)
FEW = settings(max_examples=settings.default.max_examples // 2)
FLAGS = pytest.mark.parametrize("object_identity", [True, False])


def sequences(texts):
    """One event a letter: p(E,letter)."""
    return rx.from_lists([list(text) for text in texts], predicate="p")[0]


@st.composite
def queries(draw):
    """Sequences of two classes, and how often a pattern is to be in one and in the other."""
    texts = draw(TEXTS)
    rest = st.lists(st.sampled_from(["act", "inact"]), min_size=len(texts), max_size=len(texts))
    y = ["act", "inact", *draw(rest)[2:]]
    return texts, y, draw(st.sampled_from([0.3, 0.5, 1.0])), draw(st.sampled_from([0, 1, 0.5]))


def mined(texts, y, bias=CONSTANTS, **settings):
    """All patterns of up to three atoms and one step, unless said otherwise."""
    options = {"min_support": 0.0, "max_length": 3, "max_gap": 1} | settings
    return rx.mine(sequences(texts), y, bias, **options)


def solved(texts, y, least, most, bias=CONSTANTS, **settings):
    """The patterns in at least this share of `act` and at most so much of `inact`."""
    everything = mined(texts, y, bias, **settings)
    return everything.filter(
        min_support=least, classes=["act"], max_support={"inact": most}
    ), everything


def enumerated(texts, y, least, most, bias, object_identity) -> list[Found]:
    """The same by generating every pattern of the language and testing it."""
    conditions = Conditions(
        min_support=0.0, max_length=2, max_gap=1, object_identity=object_identity
    )
    X, sizes = sequences(texts), Counter(y)
    found = enumerate_patterns([s.atoms for s in X], y, bias, conditions)
    limit = most if isinstance(most, int) else most * sizes["inact"]
    return [
        one
        for one in found
        if one.support["act"] >= least * sizes["act"] and one.support["inact"] <= limit
    ]


def forms(patterns) -> set[str]:
    return {str(one.canonical()) for one in patterns.patterns()}


def counted(patterns) -> dict[str, dict]:
    return {str(one.pattern.canonical()): dict(one.support) for one in patterns}


def generality(patterns, object_identity):
    """Entry i, j: pattern i is more general than pattern j, or equivalent."""
    rows = [[subsumes(p, q, object_identity=object_identity) for q in patterns] for p in patterns]
    return np.array(rows, bool).reshape(len(patterns), len(patterns))


def atoms(text):
    return rx.parse_pattern(text).atoms


# The order


@given(random_rows(), st.booleans())
def test_generality_is_reflexive_and_transitive(rows, object_identity):
    above = generality([p.atoms for p in PatternSet(trie_of(rows)).patterns()], object_identity)
    assert above.diagonal().all()
    assert not ((above.astype(int) @ above.astype(int) > 0) & ~above).any()


def without_names(pattern):
    """The pattern with `_` for every variable that occurs once."""
    counts = Counter(var.name for atom in pattern for var in atom.variables())
    blank = {name for name, n in counts.items() if n == 1}
    return tuple(
        Atom(
            atom.predicate,
            tuple(Var("_") if isinstance(a, Var) and a.name in blank else a for a in atom.args),
        )
        for atom in pattern
    )


@given(random_rows())
def test_without_object_identity_it_is_so_for_anonymous_variables_too(rows):
    named = [p.atoms for p in PatternSet(trie_of(rows)).patterns()]
    patterns = [*named, *map(without_names, named)]
    above = generality(patterns, False)
    assert above.diagonal().all()
    assert not ((above.astype(int) @ above.astype(int) > 0) & ~above).any()


def test_object_identity_exempts_anonymous_variables_and_they_break_the_order():
    named, blank, equal = atoms("p(X,Y)"), atoms("p(_,_)"), atoms("p(X,X)")
    assert subsumes(named, blank)
    assert subsumes(blank, equal)
    assert not subsumes(named, equal)


@FLAGS
@FEW
@given(queries())
def test_a_more_general_pattern_covers_no_less_of_any_class(object_identity, query):
    texts, y, _, _ = query
    found = mined(texts, y, TERMS, max_length=2, object_identity=object_identity)
    above = generality([p.atoms for p in found.patterns()], object_identity)
    general, specific = np.nonzero(above)
    assert (found.supports[general] >= found.supports[specific]).all()


# The borders of a query


@FLAGS
@FEW
@given(queries(), st.sampled_from([CONSTANTS, TERMS]))
def test_the_borders_are_the_extremes_of_the_solutions(object_identity, query, bias):
    texts, y, least, most = query
    expected = enumerated(texts, y, least, most, bias, object_identity)
    above = generality([one.atoms for one in expected], object_identity)
    strictly = above & ~above.T
    options = {"max_length": 2, "object_identity": object_identity}
    borders = solved(texts, y, least, most, bias, **options)[0].borders()
    for side, dominated in (
        (borders.general, strictly.any(axis=0)),
        (borders.specific, strictly.any(axis=1)),
    ):
        extremes = Variants()
        for one, is_inside in zip(expected, dominated, strict=True):
            if not is_inside:
                extremes.add(one.atoms, one.support)
        assert len(side) == len(list(extremes))
        for entry in side:
            assert extremes.get(entry.pattern.atoms)[1] == entry.support


@FLAGS
@FEW
@given(queries(), st.sampled_from([CONSTANTS, TERMS]))
def test_the_space_between_the_borders_is_the_set_of_solutions(object_identity, query, bias):
    texts, y, least, most = query
    options = {"max_length": 2, "object_identity": object_identity}
    solutions, everything = solved(texts, y, least, most, bias, **options)
    borders = solutions.borders()
    assert borders.within(everything) == solutions
    assert [p in borders for p in everything.patterns()] == [
        str(p) in set(solutions.texts()) for p in everything.patterns()
    ]


@FEW
@given(queries())
def test_every_solution_meets_both_thresholds(query):
    texts, y, least, most = query
    solutions, _ = solved(texts, y, least, most)
    sizes, labels = Counter(y), np.array(y)
    limit = most if isinstance(most, int) else most * sizes["inact"]
    for pattern in solutions.patterns():
        hits = rx.covers(pattern, sequences(texts))
        assert hits[labels == "act"].sum() >= least * sizes["act"]
        assert hits[labels == "inact"].sum() <= limit


@FEW
@given(queries(), st.text("abc", min_size=1, max_size=4))
def test_one_more_negative_example_never_adds_a_solution(query, negative):
    texts, y, least, most = query
    assume(isinstance(most, int))  # a share grows with the class: `inact` may then allow more
    before, _ = solved(texts, y, least, most)
    after, _ = solved([*texts, negative], [*y, "inact"], least, most)
    assert forms(after) <= forms(before)


def test_of_a_share_a_negative_example_that_is_not_covered_may_add_solutions():
    texts, y = ["ab", "a", "b"], ["act", "inact", "inact"]
    before, _ = solved(texts, y, 1.0, 0.4)
    after, _ = solved([*texts, "c"], [*y, "inact"], 1.0, 0.4)
    assert "p(A,a)" not in forms(before)
    assert "p(A,a)" in forms(after)


@FEW
@given(queries())
def test_conditions_one_at_a_time_are_the_conjunction(query):
    texts, y, least, most = query
    at_once = mined(texts, y, min_support=least, max_support={"inact": most}, min_frequency=2)
    everything = mined(texts, y)
    steps = [{"min_support": least}, {"max_support": {"inact": most}}, {"min_frequency": 2}]
    for order in (steps, steps[::-1]):
        left = everything
        for condition in order:
            left = left.filter(**condition)
        assert counted(left) == counted(at_once)
    alone = [mined(texts, y, **condition) for condition in steps]
    assert counted(alone[0]).keys() & counted(alone[1]).keys() & counted(alone[2]).keys() == (
        counted(at_once).keys()
    )


@FEW
@given(queries())
def test_borders_found_one_query_at_a_time_enclose_the_conjunction(query):
    texts, y, least, most = query
    at_once = mined(texts, y, min_support=least, max_support={"inact": most})
    frequent = mined(texts, y, min_support=least).borders()
    rare = mined(texts, y, max_support={"inact": most}).borders()
    everything = mined(texts, y)
    assert counted(rare.within(frequent.within(everything))) == counted(at_once)
    assert counted(frequent.within(rare.within(everything))) == counted(at_once)


# Links by what they imply


def with_implied_links(pattern):
    """The atoms and every link of dimension s that holds wherever they do, `followat` up to 3."""
    steps, reached = {}, set()
    for atom in pattern:
        operator, _, dimension = atom.predicate.partition("_")
        if operator in ("next", "follow", "followat"):
            pair = (dimension, *atom.args[-2:])
            reached.add(pair)
            if operator != "follow":
                steps.setdefault(1 if operator == "next" else atom.args[0], set()).add(pair)
    for n in (2, 3):
        walks = {
            (d, x, z)
            for k in range(1, n)
            for d, x, y in steps.get(k, ())
            for e, y2, z in steps.get(n - k, ())
            if (d, y) == (e, y2)
        }
        steps[n] = steps.get(n, set()) | walks
    while (
        more := {(d, x, z) for d, x, y in reached for e, y2, z in reached if (d, y) == (e, y2)}
        - reached
    ):
        reached |= more
    links = [Atom(f"follow_{d}", pair) for d, *pair in reached]
    links += [Atom(f"followat_{d}", (n, *pair)) for n in (2, 3) for d, *pair in steps[n]]
    return [*pattern, *(Atom(a.predicate, tuple(a.args)) for a in links)]


def implied_generality(patterns, object_identity):
    closed = [with_implied_links(pattern) for pattern in patterns]
    rows = [[subsumes(p, q, object_identity=object_identity) for q in closed] for p in patterns]
    return np.array(rows, bool).reshape(len(patterns), len(patterns))


@given(random_rows(), st.booleans())
def test_implied_borders_are_those_of_all_pairs(rows, object_identity):
    patterns = PatternSet(trie_of(rows), object_identity=object_identity)
    above = implied_generality([p.atoms for p in patterns.patterns()], object_identity)
    borders = patterns.borders(implied=True)
    assert borders.general == patterns[~(above & ~above.T).any(axis=0)]
    assert borders.specific == patterns[~(above & ~above.T).any(axis=1)]


@given(random_rows(most=8), random_rows(most=8), st.booleans())
def test_within_implied_borders_is_membership_one_by_one(rows, others, object_identity):
    borders = PatternSet(trie_of(rows), object_identity=object_identity).borders(implied=True)
    patterns = PatternSet(trie_of(others), object_identity=object_identity)
    mask = []
    for pattern in patterns.patterns():
        ends = [p.atoms for side in (borders.general, borders.specific) for p in side.patterns()]
        above = implied_generality([pattern.atoms, *ends], object_identity)
        n = len(borders.general)
        mask.append(bool(above[1 : 1 + n, 0].any() and above[0, 1 + n :].any()))
    assert borders.within(patterns) == patterns[mask]
    assert [pattern in borders for pattern in patterns.patterns()] == mask


@FLAGS
@FEW
@given(queries(), st.sampled_from([CONSTANTS, TERMS]))
def test_the_space_between_implied_borders_is_the_set_of_solutions(object_identity, query, bias):
    texts, y, least, most = query
    options = {"max_length": 2, "max_gap": 3, "object_identity": object_identity}
    solutions, everything = solved(texts, y, least, most, bias, **options)
    assert solutions.borders(implied=True).within(everything) == solutions


def test_implied_borders_do_not_list_a_case_of_another():
    found = mined(["ab", "acb", "ba"], ["act", "act", "inact"], max_support={"inact": 0})
    written, implied = found.borders(), found.borders(implied=True)
    assert [*map(shown, implied.general.patterns())] == ["c", "a < b"]
    assert {*map(shown, written.general.patterns())} == {"c", "a < b", "a . b"}
    assert [*map(shown, implied.specific.patterns())] == ["a . b", "a . c . b"]


def test_names_of_variables_and_constants_stay_apart_in_implied_borders():
    rows = [(-1, "p(A,'?B')", (1, 1)), (-1, "p(A,B)", (2, 2))]
    borders = PatternSet(trie_of(rows)).borders(implied=True)
    assert [*borders.general.texts()] == ["p(A,B)"]
    assert "p(X,'?X')" not in borders


def test_more_patterns_than_are_compared_at_once_have_the_same_implied_borders(monkeypatch):
    found = mined(["abc", "acb", "bac"], ["act", "act", "inact"])
    whole = found.borders(implied=True)
    monkeypatch.setattr(borders_module, "AT_ONCE", 7)
    assert found.borders(implied=True) == whole


# SeqLog


def seqlog_generality(p, q):
    """Whether the places of q hold p: letters equal, `.` on `.`, and `<` on any way onward."""

    def fits(k, i):
        if k == len(p.letters):
            return True
        return any(
            p.letters[k] == q.letters[j]
            and (k == 0 or p.operators[k - 1] == "<" or (j == i + 1 and q.operators[i] == "."))
            and fits(k + 1, j)
            for j in range(i + 1, len(q.letters))
        )

    return fits(0, -1)


class Notation:
    """A pattern along a line: its letters and what stands between them."""

    def __init__(self, text):
        self.letters, self.operators = text[::4], text[2::4]


@FEW
@given(TEXTS)
def test_seqlogs_order_is_that_of_implied_links(texts):
    found = mined(texts, None)
    patterns = [*found.patterns()]
    notations = [Notation(shown(pattern)) for pattern in patterns]
    above = covers(patterns, frozen(patterns, longest=1)).T
    assert above.tolist() == [[seqlog_generality(p, q) for q in notations] for p in notations]


def shown(pattern) -> str:
    """A pattern along a line in SeqLog's notation."""
    letters = {a.args[0].name: a.args[1] for a in pattern.atoms if a.predicate == "p"}
    links = [a for a in pattern.atoms if a.predicate != "p"]
    after = {a.args[0].name: (a.args[1].name, a.predicate) for a in links}
    (name,) = set(letters) - {a.args[1].name for a in links}
    text = letters[name]
    while name in after:
        name, link = after[name]
        text += (" . " if link == "next_s" else " < ") + letters[name]
    return text


def occurs(symbols, operators, text, start=0) -> bool:
    """Whether the symbols are in a text from some place on, each operator kept."""
    places = range(start, len(text))
    return not symbols or any(
        text[i] == symbols[0]
        and (
            len(symbols) == 1
            or (operators[0] == "<" and occurs(symbols[1:], operators[1:], text, i + 1))
            or (operators[0] == "." and at(symbols[1:], operators[1:], text, i + 1))
        )
        for i in places
    )


def at(symbols, operators, text, i) -> bool:
    """Whether the symbols are in a text from exactly this place on."""
    if i >= len(text) or text[i] != symbols[0]:
        return False
    if len(symbols) == 1:
        return True
    further = occurs if operators[0] == "<" else at
    return further(symbols[1:], operators[1:], text, i + 1)


@FEW
@given(TEXTS)
def test_every_seqlog_pattern_of_constants_is_found_once_with_its_count(texts):
    expected = {}
    for n in (1, 2, 3):
        for symbols in product("abc", repeat=n):
            for operators in product(".<", repeat=n - 1):
                count = sum(occurs(symbols, operators, text) for text in texts)
                links = [f" {operator} " for operator in operators]
                if count:
                    name = "".join(s + link for s, link in zip(symbols, [*links, ""], strict=True))
                    expected[name] = count
    found = mined(texts, None)
    assert len(found) == len(expected)
    assert {shown(entry.pattern): entry.frequency for entry in found} == expected


@FEW
@given(TEXTS)
def test_patterns_of_direct_steps_are_the_substrings(texts):
    bias = replace(CONSTANTS, negconstraints=(atoms("follow_s(_,_)"),))
    expected = Counter(
        piece
        for text in texts
        for piece in {text[i:j] for i in range(4) for j in range(i + 1, i + 4) if j <= len(text)}
    )
    found = mined(texts, None, bias)
    assert {shown(e.pattern).replace(" . ", ""): e.frequency for e in found} == expected


@FEW
@given(TEXTS)
def test_patterns_of_later_steps_are_the_subsequences(texts):
    bias = replace(CONSTANTS, negconstraints=(atoms("next_s(_,_)"),))
    expected = Counter(
        piece
        for text in texts
        for piece in {"".join(c) for n in (1, 2, 3) for c in combinations(text, n)}
    )
    found = mined(texts, None, bias)
    assert {shown(e.pattern).replace(" < ", ""): e.frequency for e in found} == expected


def unified(term, value, binding):
    """The binding with which a term is a value, or None."""
    if not isinstance(term, Var):
        return binding if term == value else None
    if binding.get(term.name, value) != value:
        return None
    return binding | {term.name: value}


def holds(steps, commands, i, binding) -> bool:
    """Whether SeqLog's pattern matches from step 0 on, the first at place i or later."""
    if not steps:
        return True
    (operator, name, term), *rest = steps
    places = range(i, len(commands)) if operator == "<" else range(i, min(i + 1, len(commands)))
    for k in places:
        if commands[k][0] != name:
            continue
        longer = unified(term, commands[k][1], binding)
        if longer is not None and holds(rest, commands, k + 1, longer):
            return True
    return False


COMMANDS = st.tuples(st.sampled_from(["cd", "ls", "vi"]), st.sampled_from(["x", "y"]))
STEPS = st.tuples(
    st.sampled_from([".", "<"]),
    st.sampled_from(["cd", "ls", "vi"]),
    st.sampled_from([Var("X"), Var("Y"), "x", "y"]),
)


@given(
    st.lists(STEPS, min_size=1, max_size=4),
    st.lists(st.lists(COMMANDS, min_size=1, max_size=6), min_size=1, max_size=4),
)
def test_seqlogs_patterns_with_variables_match_as_ours_without_object_identity(steps, logs):
    steps = [("<", *steps[0][1:]), *steps[1:]]
    body = [Atom(name, (Var(f"E{i}"), term)) for i, (_, name, term) in enumerate(steps)]
    for i, (operator, _, _) in enumerate(steps[1:]):
        link = "next_s" if operator == "." else "follow_s"
        body.append(Atom(link, (Var(f"E{i}"), Var(f"E{i + 1}"))))
    X, _ = rx.from_lists(logs)
    hits = rx.covers(rx.Pattern(tuple(body)), X, object_identity=False)
    assert hits.tolist() == [holds(steps, log, 0, {}) for log in logs]


# Features


@FEW
@given(queries())
def test_a_tree_fits_no_worse_on_all_solutions_than_on_the_borders(query):
    texts, y, least, most = query
    solutions, _ = solved(texts, y, least, most)
    assume(len(solutions))
    X, scores = sequences(texts), []
    for features in (solutions, solutions.borders().patterns):
        columns = features.coverage(X)
        tree = DecisionTreeClassifier(random_state=0).fit(columns, y)
        scores.append(tree.score(columns, y))
    assert scores[0] >= scores[1]


@FEW
@given(queries())
def test_the_borders_of_what_no_negative_has_are_those_of_the_jumping_patterns(query):
    texts, y, least, _ = query
    jumping = mined(texts, y).filter(min_confidence=1.0, min_support=least, classes=["act"])
    never, _ = solved(texts, y, least, 0)
    assert never.borders() == jumping.borders()


# The value


@pytest.mark.kernels
@given(random_rows(most=8), random_rows(most=8), st.booleans())
def test_within_another_set_is_membership_one_by_one(rows, others, object_identity):
    borders = PatternSet(trie_of(rows), object_identity=object_identity).borders()
    patterns = PatternSet(trie_of(others), object_identity=object_identity)
    mask = [pattern in borders for pattern in patterns.patterns()]
    assert borders.within(patterns) == patterns[mask]


def three():
    """p(A) above p(A), q(A) above p(A), q(A), r(A,x); and s(A) beside them."""
    rows = [(-1, "p(A)", (9, 9)), (0, "q(A)", (5, 8)), (1, "r(A,x)", (0, 7)), (-1, "s(A)", (0, 3))]
    return PatternSet(trie_of(rows))


def test_a_pattern_between_the_borders_is_in_them():
    borders = three().borders()
    assert [*borders.general.texts()] == ["p(A)", "s(A)"]
    assert [*borders.specific.texts()] == ["p(A), q(A), r(A,x)", "s(A)"]
    inside = ["p(X)", "q(X), p(X)", "r(B,x), p(B)", "r(B,C), p(B)", "s(X)"]
    outside = ["q(X)", "p(X), r(X,y)", "p(X), q(X), r(X,x), r(X,Y)", "p(X), s(X)", "next_s(X,Y)"]
    assert [text in borders for text in inside] == [True] * len(inside)
    assert [text in borders for text in outside] == [False] * len(outside)
    assert rx.parse_pattern("p(X)") in borders


def test_membership_heeds_object_identity_as_the_search_did():
    trie = trie_of([(-1, "p(A,B)", (1, 1)), (0, "p(B,A)", (1, 1)), (-1, "p(A,A)", (1, 1))])
    strict, loose = (PatternSet(trie, object_identity=flag).borders() for flag in (True, False))
    text = "p(X,Y), p(Y,Z)"
    assert text not in strict
    assert text in loose


def test_what_is_no_pattern_is_refused():
    with pytest.raises(TypeError) as caught:
        3 in three().borders()  # noqa: B015
    assert str(caught.value) == (
        "a pattern is a Pattern or its text, not a int: make one with parse_pattern"
    )


def test_nothing_lies_between_the_borders_of_an_empty_set():
    for implied in (True, False):
        borders = three()[:0].borders(implied=implied)
        assert "p(A)" not in borders
        assert len(borders.within(three())) == len(borders.patterns) == 0
        assert len(three().borders(implied=implied).within(three()[:0])) == 0


def test_borders_of_two_sets_are_refused():
    with pytest.raises(rx.InputError) as caught:
        Borders(three().most_general(), three().maximal())
    assert str(caught.value) == (
        "the borders are of two sets: take both of one, by PatternSet.borders"
    )


def test_the_patterns_of_the_borders_are_those_of_either_once():
    found = three()
    assert found.borders().patterns == found[[0, 2, 3]]


def test_saved_patterns_give_the_same_borders_again(tmp_path):
    borders = three().borders()
    rx.save(borders.patterns, tmp_path / "borders.relynx")
    assert rx.load(tmp_path / "borders.relynx").borders() == borders


def test_borders_print_as_two_tables():
    assert repr(three().borders()) == (
        "most general:\n"
        "pattern  length  frequency  no  yes\n"
        "p(A)          1         18   9    9\n"
        "s(A)          1          3   0    3\n"
        "2 patterns; complete up to length 0\n"
        "most specific:\n"
        "pattern             length  frequency  no  yes\n"
        "p(A), q(A), r(A,x)       3          7   0    7\n"
        "s(A)                     1          3   0    3\n"
        "2 patterns; complete up to length 0"
    )
    page = three().borders()._repr_html_()
    assert page.count("<table>") == 2
    assert page.index("most general") < page.index("p(A)") < page.index("most specific")


# max_support as a count


def test_a_share_and_a_number_of_sequences_of_a_class_are_told_by_their_kind():
    found = three()
    assert [*found.filter(max_support={"no": 0.5}).rows] == [1, 2, 3]
    assert [*found.filter(max_support={"no": 5}).rows] == [1, 2, 3]
    assert [*found.filter(max_support={"no": np.int64(4)}).rows] == [2, 3]
    assert [*found.filter(max_support={"no": 1.0}).rows] == [0, 1, 2, 3]
    assert [*found.filter(max_support={"no": 1}).rows] == [2, 3]


def test_mine_takes_numbers_of_sequences_and_shares_of_several_classes():
    texts, y = ["ab", "ac", "a", "b", "b", "c"], ["up", "up", "down", "down", "down", "left"]
    found = mined(texts, y, max_length=1, max_support={"down": 1, "left": 0.0})
    assert counted(found) == {"p(A,a)": {"down": 1, "left": 0, "up": 2}}


@pytest.mark.parametrize("most", [1.5, -1, -0.1, True, "1"])
def test_what_is_neither_a_share_nor_a_number_of_sequences_is_refused(most):
    with pytest.raises(rx.InputError) as caught:
        mined(["a", "b"], ["up", "down"], max_support={"up": most})
    assert str(caught.value) == (
        f"max_support of 'up' is {most!r}: give a share from 0.0 to 1.0, or a number of "
        "sequences, an integer of at least 0"
    )
