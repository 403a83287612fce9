"""Evidence for columns that patterns should have together, and the model that comes of it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import Bias, LynxClassifier
from relynx.models.lynx import _pair_kernels as pk
from relynx.models.lynx import widening
from relynx.models.lynx.widening import BOTH, FIRST, OTHER, SAME, SECOND, PairTest, evidence


def table(n=300, seed=0, rule=True, wrong=0.05, length=6):
    """Cases of events with a kind, a thing, a place and a day; in class `yes` a thing comes back
    twice, if there is a rule."""
    rng = np.random.default_rng(seed)
    rows = {name: [] for name in ("case", "kind", "thing", "place", "day", "class")}
    for case in range(n):
        wanted = case % 2 == 0
        while True:
            kinds = rng.choice(["back", "out", "look"], length, p=[0.4, 0.4, 0.2]).tolist()
            things = rng.integers(0, 6, length).tolist()
            back = [thing for kind, thing in zip(kinds, things, strict=True) if kind == "back"]
            if not rule or (len(set(back)) < len(back)) == wanted:
                break
        label = "yes" if wanted != (rng.random() < wrong) else "no"
        rows["case"] += [f"c{case}"] * length
        rows["kind"] += kinds
        rows["thing"] += [f"t{thing}" for thing in things]
        rows["place"] += rng.choice(["n", "s", "e"], length).tolist()
        rows["day"] += rng.choice(["mon", "tue", "wed", "thu"], length).tolist()
        rows["class"] += [label] * length
    return rows


def read(**how):
    return rx.from_events(table(**how), sequence="case", label="class")


def found_in(X, y):
    codes = np.unique(y, return_inverse=True)[1]
    return evidence(X, codes, Bias.infer(X, codes), 0)


# What is found


def test_a_rule_about_a_value_that_comes_back_is_found():
    [view] = found_in(*read())
    assert view.facts == (("kind", "thing"),)
    assert (view.constant, view.shared) == ({"kind"}, {"thing"})


def test_many_columns_of_one_type_do_not_hide_the_rule():
    rows, rng = table(n=500), np.random.default_rng(1)
    for i in range(40):
        rows[f"answer {i}"] = rng.choice(["yes", "no", "perhaps"], len(rows["case"])).tolist()
    [view] = found_in(*rx.from_events(rows, sequence="case", label="class"))
    assert view.facts == (("kind", "thing"),)


@pytest.mark.parametrize("seed", range(5))
def test_where_classes_are_drawn_nothing_is_found(seed):
    X, y = read(seed=seed, rule=False)
    assert found_in(X, np.random.default_rng(seed).permutation(y)) == []


def test_the_model_says_the_rule_and_nothing_else():
    model = LynxClassifier(random_state=0).fit(*read())
    [text] = model.selected_.texts()
    assert text == "kind(A,back), thing(A,B), follow_s(A,C), kind(C,back), thing(C,B)"
    X, y = read(seed=1, wrong=0)
    assert model.score(X, y) == 1.0
    assert "events with kind, thing together: searched, too" in model.bias_.notes


def test_different_values_are_found_too():
    rows = table(n=400, seed=3, rule=False, length=5)
    kinds, places = (np.array(rows[name]).reshape(400, 5) for name in ("kind", "place"))
    wanted = [
        any(a[0] == b[0] == "back" and a[1] != b[1] for a, b in combinations(pairs, 2))
        for pairs in (list(zip(*one, strict=True)) for one in zip(kinds, places, strict=True))
    ]
    assert 0.2 < np.mean(wanted) < 0.8
    rows["class"] = np.repeat(np.where(wanted, "yes", "no"), 5).tolist()
    X, y = rx.from_events(rows, sequence="case", label="class")
    [view, *_] = found_in(X, y)
    assert view.facts == (("kind", "place"),)
    assert "place" in view.shared


def test_values_of_two_columns_are_compared_where_they_mean_the_same():
    rng = np.random.default_rng(0)
    rows = {"case": [], "sender": [], "receiver": [], "size": [], "class": []}
    for case in range(400):
        wanted = case % 2 == 0
        while True:
            a, b = rng.integers(0, 9, (2, 4))
            if any(b[i] == a[j] for i, j in combinations(range(4), 2)) == wanted:
                break
        rows["case"] += [case] * 4
        rows["sender"] += [f"p{i}" for i in a]
        rows["receiver"] += [f"p{i}" for i in b]
        rows["size"] += rng.choice(["small", "large"], 4).tolist()
        rows["class"] += ["relay" if wanted else "none"] * 4
    X, y = rx.from_events(rows, sequence="case", label="class")
    [view, *_] = found_in(X, y)
    assert view.shared == {"sender", "receiver"}


def test_sequences_of_symbols_have_no_columns():
    X, y = rx.from_lists([["a", "b"], ["b", "a"]] * 20, ["x", "y"] * 20)
    assert found_in(X, y) == []


def test_branching_events_make_no_pairs():
    X = rx.Sequences.from_atoms(
        [[*map(rx.parse_atom, ["next_s(e1,e2)", "next_s(e1,e3)", "a(e1,x)", "a(e2,x)"])]] * 20
    )
    assert found_in(X, np.array([0, 1] * 10)) == []


def test_a_given_bias_is_not_widened():
    X, y = read(n=120)
    model = LynxClassifier(Bias.infer(X), max_length=2, random_state=0).fit(X, y)
    assert not any("together" in note for note in model.bias_.notes)


def test_a_minimum_support_holds_for_what_is_added():
    X, y = read()
    model = LynxClassifier(min_support=0.3, random_state=0).fit(X, y)
    assert (model.selected_.measure("support") >= 0.3).all()
    assert any(len(entry.pattern.atoms) == 5 for entry in model.selected_)


# The pairs and their tests


def slow_sums(pairs, tests, values):
    """For each conjunction: the sequences with a pair that passes all, and their sums."""
    out, where = [], []
    for conjunction in tests:
        hit = {
            int(pairs["sequence"][p])
            for p in range(len(pairs["sequence"]))
            if all(pairs["passed"][test][p] for test in conjunction if test >= 0)
        }
        where.append([i in hit for i in range(len(values))])
        out.append(sum((values[i] for i in hit), np.zeros(values.shape[1])))
    return np.array(out), np.array(where)


@pytest.mark.kernels
@given(st.data())
def test_sums_over_pairs_are_those_of_the_slow_twin(data):
    n_sequences, n_tests = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(0, 90), min_size=n_sequences, max_size=n_sequences))
    sequence = np.repeat(np.arange(n_sequences), sizes)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    passed = rng.random((n_tests, len(sequence))) < data.draw(st.sampled_from([0.02, 0.3, 0.9]))
    words = -(-len(sequence) // 64)
    packed = np.zeros((n_tests, 8 * words), np.uint8)
    for row, one in zip(packed, passed, strict=True):
        bits = np.packbits(one, bitorder="little")
        row[: len(bits)] = bits
    tests = rng.integers(0, n_tests, (6, 3))
    tests[rng.random(tests.shape) < 0.3] = -1
    tests[:, 0] = np.maximum(tests[:, 0], 0)
    values = rng.normal(size=(n_sequences, 2))
    out, covered = np.empty((6, 2)), np.zeros((6, n_sequences), bool)
    ends = np.searchsorted(sequence, np.arange(n_sequences), side="right")
    bits = packed.view("<u8").astype(np.uint64).reshape(n_tests, words)
    pk.sums_of(bits, tests, sequence, ends, values, out, covered)
    wanted, where = slow_sums({"sequence": sequence, "passed": passed}, tests.tolist(), values)
    assert out == pytest.approx(wanted)
    assert (covered == where).all()


def test_tests_say_which_pairs_pass():
    codes = np.array([[1, 1, 2, -1], [5, 6, 5, 5]])
    a, b = np.array([0, 0, 0, 1, 2]), np.array([1, 2, 3, 2, 3])
    passed = {
        PairTest(SAME, 0, 0): [1, 0, 0, 0, 0],
        PairTest(OTHER, 0, 0): [0, 1, 0, 1, 0],
        PairTest(SAME, 1, 1): [0, 1, 1, 0, 1],
        PairTest(FIRST, 0, 0, 1): [1, 1, 1, 1, 0],
        PairTest(SECOND, 0, 0, 2): [0, 1, 0, 1, 0],
        PairTest(BOTH, 1, 1, 5): [0, 1, 1, 0, 1],
    }
    for test, wanted in passed.items():
        assert widening._passed(test, codes, a, b).astype(int).tolist() == wanted


def test_all_pairs_of_short_sequences_are_looked_at():
    X, _ = read(n=10)
    facts, bias = X.facts(), Bias.infer(X)
    pairs = widening._pairs(facts, widening.columns_of(facts, bias), bias.dimensions)
    assert np.bincount(pairs.sequence).tolist() == [15] * 10


def test_of_long_sequences_near_pairs_and_the_next_of_the_same_value_are_looked_at(monkeypatch):
    X, _ = read(n=5, length=40)
    monkeypatch.setattr(widening, "MOST_PAIRS", 500)
    facts, bias = X.facts(), Bias.infer(X)
    columns = widening.columns_of(facts, bias)
    pairs = widening._pairs(facts, columns, bias.dimensions)
    assert 500 <= len(pairs.sequence) < 1500
    again = pairs.tests.index(PairTest(SAME, 1, 1))  # things
    counts = [len({*one}) for one in np.array(table(n=5, length=40)["thing"]).reshape(5, 40)]
    passed = np.unpackbits(pairs.bits[again].view(np.uint8), bitorder="little")
    assert passed.sum() >= sum(40 - n for n in counts)


def test_sequences_without_weight_have_no_say():
    X, y = read(n=400)
    counts = np.arange(400) < 300
    wrong = np.where(counts, y, np.where(np.arange(400) % 4 < 2, "yes", "no"))
    model = LynxClassifier(random_state=0).fit(X, wrong, sample_weight=counts.astype(float))
    assert "thing(A,B)" in str(model.selected_[0].pattern)
