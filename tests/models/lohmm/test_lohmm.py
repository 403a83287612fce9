"""`LoHMM` against its plain twin, full enumeration, and numbers that are known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lohmm_cases import (
    SHOWN,
    STOPPING,
    TEXTBOOK_MOVES,
    TEXTBOOK_SHOWS,
    TYPES,
    UNIX,
    VALUES,
    drawn_sequences,
    flat_model,
    models,
    probabilities,
    sequence,
    shown_atoms,
)
from lohmm_reference import Twin

from relynx import LoHMM
from relynx.logic.terms import Atom, Var
from relynx.models.lohmm.clauses import Transition
from relynx.models.lohmm.inference.expectations import best_instance


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("emacs(f1) latex(f1)", 0.0825),
        ("emacs(f1) latex(f2)", 0.0),
        ("ls emacs(f2) emacs(f1)", 0.0135),
        ("emacs(f1) latex(f1) emacs(f1) ls", 0.017325),
    ],
)
def test_the_example_of_the_paper_has_its_probabilities(text, expected):
    (found,) = probabilities(LoHMM.parse(UNIX), [sequence(text)])
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_sequence_that_ends_has_the_probability_of_ending_there():
    model = LoHMM.parse(STOPPING)
    found = probabilities(model, [sequence("emacs(f1) stop"), sequence("emacs(f1)"), []])
    assert found == pytest.approx([0.02024775, 0.0, 0.0], abs=1e-12)


def test_the_textbook_model_has_its_probability():
    model = flat_model([0.6, 0.4], TEXTBOOK_MOVES, TEXTBOOK_SHOWS)
    (found,) = probabilities(model, [[Atom(f"o{i}") for i in (0, 1, 2, 1)]])
    assert found == pytest.approx(0.01229928, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5))
@settings(max_examples=10)
def test_a_flat_model_scores_as_hmmlearn(seed, n_states, n_shown):
    hmm = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed")
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_states))
    moves = rng.dirichlet(np.ones(n_states), n_states)
    shows = rng.dirichlet(np.ones(n_shown), n_states)
    other = hmm.CategoricalHMM(n_components=n_states, n_features=n_shown)
    other.startprob_, other.transmat_, other.emissionprob_ = start, moves, shows
    numbers = rng.integers(0, n_shown, 40)
    model = flat_model(start, moves, shows)
    (found,) = model.log_probability([[Atom(f"o{i}") for i in numbers]])
    assert found == pytest.approx(other.score(numbers[:, None]), abs=1e-9)


# The sum over all sequences


@pytest.mark.parametrize("length", range(5))
def test_all_sequences_of_a_length_sum_to_one(length):
    everything = list(itertools.product(SHOWN, repeat=length))
    assert probabilities(LoHMM.parse(UNIX), everything).sum() == pytest.approx(1, abs=1e-12)


@given(models(ends=False), st.integers(0, 2))
def test_all_sequences_of_a_length_sum_to_one_in_any_model(model, length):
    everything = list(itertools.product(shown_atoms(), repeat=length))
    assert probabilities(model, everything).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.kernels
@given(models(), st.integers(0, 2))
def test_a_probability_is_the_sum_over_all_paths(model, length):
    expected = Twin(model).all_sequences(length)
    found = probabilities(model, list(expected))
    assert found == pytest.approx(list(expected.values()), abs=1e-12)


# The twin


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
def test_probabilities_are_those_of_the_twin(model, seed):
    sequences = drawn_sequences(model, seed)
    expected = [Twin(model).probability(s) for s in sequences]
    found = model.log_probability(sequences)
    assert not np.isnan(found).any()
    assert np.exp(found) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
def test_columns_are_those_of_the_twin_where_they_matter(model, seed):
    for shown in drawn_sequences(model, seed, n=1, length=3)[:1]:
        twin = Twin(model)
        columns = twin.forward(shown)
        after = twin.backward(shown, columns)
        forward, backward = model.forward(shown), model.backward(shown)
        assert len(forward) == len(backward) == len(shown) + 1
        for t, column in enumerate(columns):
            for state, p in column.items():
                if p > 0 and after[t][state] > 0:
                    assert math.exp(forward[t][state]) == pytest.approx(p, rel=1e-9)
                    assert math.exp(backward[t][state]) == pytest.approx(after[t][state], rel=1e-9)
            assert set(forward[t]) <= {state for state, p in column.items() if p > 0}


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
def test_forward_and_backward_agree_at_every_step(model, seed):
    shown = drawn_sequences(model, seed, n=1)[0]
    (expected,) = model.log_probability([shown])
    assume(expected > -np.inf)
    for ahead, behind in zip(model.forward(shown), model.backward(shown), strict=True):
        whole = sum(math.exp(ahead[state] + behind[state]) for state in ahead if state in behind)
        assert math.log(whole) == pytest.approx(expected, abs=1e-9)


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
def test_expected_counts_are_those_of_the_twin(model, seed):
    sequences = drawn_sequences(model, seed)
    counts, scores = model.expected_counts(sequences)
    assert counts.shape == (len(sequences), len(model.parameters))
    assert scores.tolist() == model.log_probability(sequences).tolist()
    for row, shown in zip(counts, sequences, strict=True):
        assert row == pytest.approx(Twin(model).counts(shown)[0], abs=1e-9)


@given(models(), st.integers(0, 99))
def test_every_step_uses_one_transition(model, seed):
    sequences = drawn_sequences(model, seed)
    counts, scores = model.expected_counts(sequences)
    n_start, n = len(model.start), len(model.start) + len(model.transitions)
    possible = scores > -np.inf
    lengths = np.array([len(s) for s in sequences])
    assert counts[possible, :n_start].sum(axis=1) == pytest.approx(1)
    assert counts[possible, n_start:n].sum(axis=1) == pytest.approx(lengths[possible])
    assert not counts[~possible].any()


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
def test_the_best_states_are_the_most_probable_of_all(model, seed):
    for shown in drawn_sequences(model, seed, n=1, length=3):
        expected = Twin(model, remember=True).state_sequences(shown)
        states, score = model.viterbi(shown)
        best = max(expected.values(), default=0.0)
        assert math.exp(score) == pytest.approx(best, rel=1e-9, abs=1e-300)
        assert expected.get(tuple(states), 0.0) == pytest.approx(best, rel=1e-9)
        assert len(states) == (len(shown) + 1 if best else 0)
        assert score <= model.log_probability([shown])[0] + 1e-9


def test_derivations_of_the_same_states_add_up():
    model = LoHMM.parse(
        "type(s(t)). values(t,[a,b]). 1.0 : s(a) <- start. "
        "0.35 : s(a) <- o - s(X). 0.25 : s(X) <- o - s(X). 0.4 : s(b) <- o - s(X)."
    )
    for text, expected in (("o", 0.6), ("o o", 0.36)):
        states, score = model.viterbi(sequence(text))
        assert list(map(str, states)) == ["s(a)"] * (1 + len(text.split()))
        assert math.exp(score) == pytest.approx(expected)


ARGUMENTS = st.tuples(*[st.sampled_from([0, 1, 2, -1, -2, -3, -4])] * 3)  # below 0: variables


@given(st.lists(st.tuples(st.floats(-3, 0), ARGUMENTS), min_size=1), st.integers(0, 99))
def test_the_best_values_of_open_arguments_are_found_among_all(heads, seed):
    draws = list(np.log(np.random.default_rng(seed).dirichlet(np.ones(4), 3)))

    def weight(values):
        total = 0.0
        for log, args in heads:
            drawn = {}
            pairs = enumerate(zip(args, values, strict=True))
            if all(
                a == v if a >= 0 else drawn.setdefault(a, (i, v))[1] == v for i, (a, v) in pairs
            ):
                total += math.exp(log + sum(draws[i][v] for i, v in drawn.values()))
        return total

    found, values = best_instance(heads, draws)
    best = max(map(weight, itertools.product(range(4), repeat=3)))
    assert weight(values) == pytest.approx(best)
    assert math.exp(found) == pytest.approx(best)


def test_of_equal_paths_the_first_states_are_taken():
    model = LoHMM.parse("type(s(t)). values(t,[b,a]). 1.0 : s(X) <- start. 1.0 : s(Y) <- o - s(X).")
    states, _ = model.viterbi(sequence("o o"))
    assert list(map(str, states)) == ["s(b)", "s(b)", "s(b)"]


# What must not matter


@given(models(), st.integers(0, 99))
def test_a_model_reads_back_from_its_text(model, seed):
    again = LoHMM.parse(str(model))
    assert again == model
    assert str(again) == str(model)
    assert again.parameters.names == model.parameters.names
    sequences = drawn_sequences(model, seed)
    assert again.log_probability(sequences).tolist() == model.log_probability(sequences).tolist()


@given(models(), st.integers(0, 99))
def test_renaming_variables_changes_nothing(model, seed):
    def renamed(atom):
        return Atom(
            atom.predicate,
            tuple(
                Var(f"Z{a.name}") if isinstance(a, Var) and not a.anonymous else a
                for a in atom.args
            ),
        )

    clauses = [
        Transition(t.probability, renamed(t.head), renamed(t.observation), renamed(t.body), t.block)
        for t in model.transitions
    ]
    other = LoHMM(
        clauses,
        start=[(p, renamed(head)) for p, head in model.start],
        types=TYPES,
        values=VALUES,
        selection=model.selection,
        selections=model.selections,
        blocks=model.blocks,
    )
    sequences = drawn_sequences(model, seed)
    assert probabilities(other, sequences) == pytest.approx(probabilities(model, sequences))


@given(models(), st.integers(0, 99))
def test_renaming_constants_with_their_probabilities_changes_nothing(model, seed):
    names = {"a": "b", "b": 3, 3: "a", "c": "e", "e": "c"}

    def renamed(atom):
        return Atom(atom.predicate, tuple(a if isinstance(a, Var) else names[a] for a in atom.args))

    def moved(slot, shares):
        kind = slot if isinstance(slot, str) else TYPES[slot[:2]][slot[2] - 1]
        by_name = dict(zip((names[v] for v in VALUES[kind]), shares, strict=True))
        return tuple(by_name[v] for v in VALUES[kind])

    clauses = [
        Transition(t.probability, renamed(t.head), renamed(t.observation), renamed(t.body), t.block)
        for t in model.transitions
    ]
    other = LoHMM(
        clauses,
        start=[(p, renamed(head)) for p, head in model.start],
        types=TYPES,
        values=VALUES,
        selection=model.selection,
        selections={slot: moved(slot, shares) for slot, shares in model.selections.items()},
        blocks=model.blocks,
    )
    sequences = drawn_sequences(model, seed)
    turned = [[renamed(atom) for atom in s] for s in sequences]
    assert probabilities(other, turned) == pytest.approx(probabilities(model, sequences))


def test_splitting_a_transition_into_its_instances_changes_nothing():
    whole = LoHMM.parse(UNIX)
    split = LoHMM.parse(
        UNIX.replace(
            "0.6 : emacs(F,V) <- ls - ls(U).",
            "0.1 : emacs(f1,V) <- ls - ls(U). 0.1 : emacs(f2,V) <- ls - ls(U). "
            "0.2 : emacs(F,tex) <- ls - ls(U). 0.2 : emacs(F,other) <- ls - ls(U).",
        )
    )
    everything = list(itertools.product(SHOWN, repeat=3))
    assert probabilities(split, everything) == pytest.approx(
        probabilities(whole, everything), abs=1e-15
    )


def test_a_special_body_with_the_same_transitions_changes_nothing():
    plain = LoHMM.parse(UNIX)
    more = UNIX + "0.4 : ls(tex) <- ls - ls(tex). 0.6 : emacs(F,V) <- ls - ls(tex)."
    everything = list(itertools.product(SHOWN, repeat=3))
    assert probabilities(LoHMM.parse(more), everything) == pytest.approx(
        probabilities(plain, everything), abs=1e-15
    )


def test_other_sequences_do_not_change_a_probability():
    model = LoHMM.parse(UNIX)
    sequences = model.sample(20, length=6, random_state=0)
    together = model.log_probability(sequences)
    alone = [model.log_probability([s])[0] for s in sequences]
    assert together == pytest.approx(alone, abs=1e-12)


def test_one_block_of_all_steps_is_no_block():
    text = "type(s(t)). type(o(t)). values(t,[a,b]). 1.0 : s(X) <- start. "
    plain = LoHMM.parse(text + "0.9 : s(X) <- o(X) - s(X). 0.1 : s(Y) <- o(X) - s(X).")
    blocks = LoHMM.parse(
        text + "blocks([1,3]). "
        "0.9 : s(X) <- o(X) - s(X), block(1). 0.1 : s(Y) <- o(X) - s(X), block(1). "
        "0.9 : s(X) <- o(X) - s(X), block(2). 0.1 : s(Y) <- o(X) - s(X), block(2)."
    )
    everything = list(itertools.product(sequence("o(a) o(b)"), repeat=5))
    assert blocks.log_probability(everything) == pytest.approx(plain.log_probability(everything))
    assert len(blocks.parameters) == len(plain.parameters) + 2


def test_a_block_begins_with_its_step():
    model = LoHMM.parse(
        "blocks([1,3]). 1.0 : s <- start. 1.0 : s <- a - s, block(1). 1.0 : s <- b - s, block(2)."
    )
    found = probabilities(model, [sequence("a a b b"), sequence("a b b b"), sequence("a a a b")])
    assert found.tolist() == [1.0, 0.0, 0.0]
