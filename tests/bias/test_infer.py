"""What `Bias.infer` makes of constants of many values, and how it keeps the language small."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from languages import make_language

import relynx as rx
from relynx.bias import size_estimate as sizes
from relynx.bias.infer import COMMON, MAX_CONSTANTS, MOST_ARGUMENTS, MOST_MODES, SHARED, _modes
from relynx.bias.size_estimate import CHOICES, LINKS, MOST, _masks, _patterns, fitting_size
from relynx.mining.engines import compiled as language


def symbols(n_sequences, n_values, *, length=30, seed=0):
    """Sequences of events that have one of some values each, with a class."""
    rng = np.random.default_rng(seed)
    lists = [
        [[("on", f"v{v}")] for v in rng.integers(n_values, size=length)] for _ in range(n_sequences)
    ]
    return rx.from_lists(lists, rng.choice(["p", "q"], n_sequences).tolist())


def test_common_values_of_many_are_constants_with_a_note():
    X, _ = symbols(20, MAX_CONSTANTS + 5)
    bias = rx.Bias.infer(X)
    n = len(bias.values["on_2"])
    assert n > MAX_CONSTANTS
    assert bias.modes["on"][0][1] in "*#"
    assert bias.notes[0] == (f"on/2: argument 2 has 45 values: the {n} most common may be constant")


def test_values_of_two_sequences_are_constants_if_one_is_common():
    X, _ = symbols(60, 400, length=20)
    column = X.tables["on", 2]
    counts = [len(np.unique(column[0, column[2] == code])) for code in range(len(X.vocabulary))]
    listed = [X.vocabulary.code(value) for value in rx.Bias.infer(X).values["on_2"]]
    assert sorted(listed) == [code for code, count in enumerate(counts) if count >= SHARED]
    of_listed = [counts[code] for code in listed]
    assert of_listed == sorted(of_listed, reverse=True)
    assert of_listed[0] >= COMMON * len(X)
    assert len(listed) > 200


def test_without_a_common_value_none_is_a_constant():
    n = 2 * (MAX_CONSTANTS + 1)  # sequences, of which two have each value
    lists = [[[("on", f"v{i // 2}")], [("on", f"v{i // 2}")]] for i in range(n)]
    assert n * COMMON > SHARED
    assert rx.Bias.infer(rx.from_lists(lists)[0]).values == {}


def test_values_of_one_sequence_each_are_no_constants():
    lists = [[[("on", f"v{i}_{j // 2}")] for j in range(30)] for i in range(5)]
    bias = rx.Bias.infer(rx.from_lists(lists)[0])
    assert bias.values == {}
    assert bias.modes == {"on": (("+", "+"), ("+", "-"))}


def test_measured_numbers_join_nothing():
    lists = [[[("on", "a", round(i + j / 70, 3))] for j in range(30)] * 2 for i in range(5)]
    bias = rx.Bias.infer(rx.from_lists(lists)[0])
    assert bias.modes == {"on": (("+", "*", "-"),)}
    assert bias.notes == (
        "on/3: argument 3 has 150 values, more than 40: it does not recur and is no constant",
    )


def molecules(*more):
    """Chains of three bonds, whose facts all have the name of their molecule."""
    texts = ("bond(m{i},a{i}_1,a{i}_2,x)", "bond(m{i},a{i}_2,a{i}_3,y)", "mol(m{i})", *more)
    numbers = range(MAX_CONSTANTS + 1)
    return rx.Sequences.from_atoms(
        [[rx.parse_atom(text.replace("{i}", str(i))) for text in texts] for i in numbers]
    )


def test_the_name_of_the_sequence_is_one_variable():
    bias = rx.Bias.infer(molecules())
    assert bias.modes == {
        "bond": (("+", "+", "+", "*"), ("+", "+", "-", "*"), ("+", "-", "+", "*"))
    }
    assert bias.notes[0] == (
        "bond/4: argument 1 has 41 values, the names of the sequences: one variable in all atoms"
    )
    assert bias.notes[-1] == (
        "mol/1: argument 1 has 41 values, none of which is frequent or recurs: left out"
    )


def test_facts_that_share_the_name_of_the_sequence_make_a_pattern():
    X = molecules()
    found = rx.mine(X, bias=rx.Bias.infer(X), max_length=2)
    wanted = rx.parse_pattern("bond(M,A,B,x), bond(M,B,C,y)").canonical()
    assert wanted in [pattern.canonical() for pattern in found.patterns()]


def test_where_a_predicate_lacks_the_name_of_the_sequence_it_joins_nothing():
    bias = rx.Bias.infer(molecules("kind(a{i}_1,c)"))
    assert bias.modes["bond"][0] == ("-", "+", "+", "*")


def dense_intervals(n_events):
    """Sequences in which every interval shares time with every other."""
    rows = [(i, j, 100 - j, f"s{j % 5}") for i in range(12) for j in range(n_events)]
    sequence, start, end, symbol = zip(*rows, strict=True)
    table = {"id": sequence, "from": start, "to": end, "on": symbol}
    return rx.from_intervals(table, sequence="id", start="from", end="to", symbol="on")[0]


def test_relations_that_match_in_millions_of_ways_are_left_out(monkeypatch):
    X = dense_intervals(8)
    kept = rx.Bias.infer(X)
    monkeypatch.setattr(sizes, "MOST_MATCHES", 100)
    left = rx.Bias.infer(X)
    assert {"during", "on"} <= kept.types.keys()
    assert left.types.keys() == {"on"}
    assert left.notes[-3:] == (
        "facts of several events match in too many ways: equal values of on in two facts are left"
        " out; a bias with mode(on(+,*)) searches those of on",
        "facts of several events are left out, as dimensions link events already",
        "by the same estimate, maxsize is 2",
    )


def test_a_predicate_that_the_miner_cannot_take_is_left_out_with_a_note():
    wide = ("wide", *range(12))
    X, y = rx.from_lists([["a", wide], ["b", wide]], ["p", "q"])
    bias = rx.Bias.infer(X)
    assert [*bias.types] == ["a", "b"]
    assert bias.notes == ("wide/13: the miner takes no more than 12 arguments: left out",)
    assert len(rx.mine(X, y, bias)) == 2


def test_where_all_predicates_are_too_wide_nothing_can_be_inferred():
    with pytest.raises(rx.BiasError) as caught:
        rx.Bias.infer(rx.from_lists([[("wide", *range(12))]])[0])
    assert str(caught.value) == (
        "wide/13: the miner takes no more than 12 arguments: left out, and there are no others\n"
        "hint: give fewer values to a predicate, or several predicates"
    )


def test_what_the_miner_takes_is_known():
    assert MOST_ARGUMENTS == language.MOST_ARGUMENTS
    assert len(_modes(["event"] * 4 + ["many"] * 4, "*")) <= MOST_MODES
    assert len(_modes(["event"] * 6 + ["many"] * 6, "*")) <= MOST_MODES


def test_in_long_sequences_arguments_of_few_values_are_constants():
    X, y = symbols(20, 5, length=200)
    bias = rx.Bias.infer(X, y)
    assert bias.modes == {"on": (("+", "#"),)}
    assert bias.max_length is None
    assert bias.notes == (
        "variables match in too many ways where a sequence has more than 64 events: equal values of"
        " on in two facts are left out; a bias with mode(on(+,*)) searches those of on",
    )
    assert rx.parse_bias(str(bias)) == bias


def test_in_long_sequences_patterns_with_variables_are_short():
    lists = [[[("at", "k", float(i * 200 + j))] for j in range(200)] for i in range(20)]
    bias = rx.Bias.infer(rx.from_lists(lists)[0])
    assert bias.modes == {"at": (("+", "#", "-"),)}
    assert bias.max_length == 2
    assert bias.min_support is None


def test_short_sequences_and_long_ones_without_values_keep_the_wide_language():
    short, y = symbols(20, 5, length=60)
    assert rx.Bias.infer(short, y).modes == {"on": (("+", "*"),)}
    plain, _ = rx.from_lists([["a", "b"] * 100 for _ in range(20)])
    assert rx.Bias.infer(plain).notes == ()


def test_a_language_of_too_many_patterns_is_narrowed_with_a_note():
    rng = np.random.default_rng(0)
    lists = [
        [[(f"p{k}", f"v{rng.integers(8)}") for k in range(12)] for _ in range(40)]
        for _ in range(30)
    ]
    bias = rx.Bias.infer(rx.from_lists(lists)[0])
    assert bias.max_length == 2
    assert bias.notes == (
        "some 1 million patterns are too many: equal values of p0, p1, p2, p3 and 8 more in two"
        " facts are left out; a bias with mode(p0(+,*)) searches those of p0",
        "by the same estimate, maxsize is 2",
    )


def test_the_order_of_the_sequences_changes_nothing():
    X, _ = symbols(60, 45, length=60)
    order = np.random.default_rng(1).permutation(60)
    classes = np.arange(60) % 9
    assert rx.Bias.infer(X, classes) == rx.Bias.infer(X[order].compact(), classes[order])


def test_the_classes_change_the_size_only():
    X, y = symbols(40, 38, length=60)
    wide, narrow = rx.Bias.infer(X, ["one"] * 40), rx.Bias.infer(X, list(range(40)))
    assert wide.types == narrow.types
    assert wide.max_length is None
    assert narrow.max_length == 2
    assert rx.Bias.infer(X, y) == rx.Bias.infer(X)


@pytest.mark.parametrize("seed", range(8))
def test_the_text_of_an_inferred_bias_mines_the_same_patterns(seed):
    X = make_language(seed).X
    bias = rx.Bias.infer(X)
    found = [[*rx.mine(X, None, b, max_length=2).texts()] for b in (bias, rx.parse_bias(str(bias)))]
    assert found[0] == found[1]


ODD = st.sampled_from(["a", "It's", "% b\n", "event", "e", "type", "", "\\", "1", "SA 1"])
ODD_FACTS = st.tuples(ODD, st.one_of(ODD, st.integers(-2, 2), st.sampled_from([0.5, 1.0, 1e300])))


@given(st.lists(st.lists(ODD_FACTS, min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_text_of_an_inferred_bias_reads_back_as_an_equal_one(lists):
    for X in (rx.from_lists(lists)[0], rx.from_lists(lists, predicate="modeb")[0]):
        bias = rx.Bias.infer(X)
        assert rx.parse_bias(str(bias)) == bias


def test_the_text_of_a_narrowed_bias_mines_the_same_patterns():
    X, y = symbols(40, 45, length=60)
    bias = rx.Bias.infer(X, list(range(40)))
    assert bias.max_length == 2
    assert bias.values
    found = [[*rx.mine(X, y, b, max_length=1).texts()] for b in (bias, rx.parse_bias(str(bias)))]
    assert found[0] == found[1] != []


BITS = st.lists(st.lists(st.booleans(), min_size=6, max_size=6), max_size=8)


@given(BITS, st.sampled_from([0.1, 0.2, 0.4]), st.integers(0, 2))
def test_pairs_of_facts_are_counted_as_the_slow_twin_counts_them(rows, support, n_dimensions):
    facts = np.array(rows, np.float32).reshape(len(rows), 6)
    least = max(support * 6, 1)
    often = [row for row in rows if sum(row) >= least]
    pairs = sum(
        sum(a and b for a, b in zip(one, two, strict=True)) >= least
        for one, two in combinations(often, 2)
    )
    wanted = len(often) + (pairs + len(often) / 2) * (1 + LINKS * n_dimensions)
    links = np.zeros(len(rows), np.int64)
    assert _patterns(facts, links, support, 2, n_dimensions) == pytest.approx(wanted)


@given(BITS, st.integers(1, 2))
def test_longer_patterns_and_less_support_are_never_fewer(rows, n_dimensions):
    facts = np.array(rows, np.float32).reshape(len(rows), 6)
    links = np.zeros(len(rows), np.int64)
    two, three = (_patterns(facts, links, 0.2, length, n_dimensions) for length in (2, 3))
    assert two <= three
    assert _patterns(facts, links, 0.4, 2, n_dimensions) <= two


def test_of_many_arguments_not_every_choice_of_constants_is_counted():
    assert len(_masks(range(4))) == 16
    assert _masks(range(6)) == [(), *((i,) for i in range(6)), tuple(range(6))]


def test_choices_go_from_wide_to_narrow():
    X, _ = symbols(30, 30, length=40)
    facts = X.facts().tables
    classes = np.zeros(len(X), np.int64)
    sizes = [
        fitting_size(facts, {("on", 2): ["event", "few"]}, {}, classes, dimensions)
        for dimensions in (1, 9, 99, 9999)
    ]
    rank = {choice[:3]: i for i, choice in enumerate(CHOICES)}
    ranks = [
        rank[s.mode_sign, s.settings.get("min_support", 0.1), s.settings.get("max_length", 3)]
        for s in sizes
    ]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0
    assert ranks[-1] > 0
    assert MOST > 0


def test_relations_of_events_are_left_out_where_dimensions_link_them_in_too_many_ways():
    rng = np.random.default_rng(0)
    names = [f"e{i + 1}" for i in range(12)]
    atoms = []
    for _ in range(12):
        text = [f"p({e},v{rng.integers(6)})" for e in names]
        for dimension in "abcd":
            order = rng.permutation(names)
            text += [f"next_{dimension}({a},{b})" for a, b in pairwise(order)]
            text += [f"near({a},{b},k{rng.integers(5)})" for a, b in zip(names, order, strict=True)]
        atoms.append([rx.parse_atom(one) for one in text])
    bias = rx.Bias.infer(rx.Sequences.from_atoms(atoms))
    assert [*bias.modes] == ["p"]
    assert bias.dimensions == ("a", "b", "c", "d")
    assert "facts of several events are left out, as dimensions link events already" in bias.notes


def test_sequences_without_useful_facts_have_a_size():
    assert fitting_size({}, {}, {}, np.zeros(3, np.int64), 1).mode_sign == "*"
