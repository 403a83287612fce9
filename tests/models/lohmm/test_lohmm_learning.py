"""Learning the parameters of logical hidden Markov models, and what parameters are."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lohmm_cases import (
    UNIX,
    drawn_sequences,
    models,
    probabilities,
    sequence,
    with_random_parameters,
)
from lohmm_reference import Twin

from relynx import LoHMM
from relynx.logic.terms import Atom, Var
from relynx.models.lohmm.clauses import Start, Transition

# Baum-Welch


@pytest.mark.kernels
@given(models(), st.integers(0, 99), st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 2.0]))
def test_an_iteration_is_that_of_the_twin(model, seed, pseudo_count, selection_pseudo_count):
    sequences = [s for s in drawn_sequences(model, seed) if model.log_probability([s])[0] > -9e9]
    assume(sequences)
    weights = np.random.default_rng(seed).random(len(sequences))
    expected, before = Twin(model).improved(
        sequences,
        pseudo_count=pseudo_count,
        selection_pseudo_count=selection_pseudo_count,
        weights=weights,
    )
    fitted = model.fit(
        sequences,
        max_iter=1,
        pseudo_count=pseudo_count,
        selection_pseudo_count=selection_pseudo_count,
        sample_weight=weights,
    )
    assert fitted.parameters.values == pytest.approx(expected, abs=1e-9)
    assert fitted.history[0] == pytest.approx(weights @ np.log(before))
    assert fitted.history[1] == pytest.approx(weights @ fitted.log_probability(sequences))


@given(models(), st.integers(0, 99), st.sampled_from([0.0, 0.3]))
def test_no_iteration_lowers_the_penalised_likelihood(model, seed, pseudo_count):
    sequences = [s for s in drawn_sequences(model, seed) if model.log_probability([s])[0] > -9e9]
    assume(sequences)
    fitted = model.fit(
        sequences, max_iter=6, tol=0, pseudo_count=pseudo_count, selection_pseudo_count=pseudo_count
    )
    rises = np.array(fitted.penalised_history)
    assert (np.diff(rises[np.isfinite(rises)]) >= -1e-9).all()
    if pseudo_count == 0:
        assert fitted.history == fitted.penalised_history
        groups = model.parameters.groups
        sums = np.bincount(groups, weights=fitted.parameters.values)
        assert sums == pytest.approx(np.ones(len(sums)))


def test_the_penalty_is_the_sum_of_the_logarithms_times_the_pseudo_counts():
    model = LoHMM.parse(UNIX)
    fitted = model.fit(
        [sequence("ls emacs(f1)")], max_iter=3, pseudo_count=0.5, selection_pseudo_count=0.25
    )
    n = len(model.start) + len(model.transitions)
    logs = np.log(fitted.parameters.values)
    penalty = 0.5 * logs[:n].sum() + 0.25 * logs[n:].sum()
    assert fitted.penalised_history[-1] == pytest.approx(fitted.history[-1] + penalty)


def test_fitting_learns_what_was_drawn():
    truth = LoHMM.parse(
        "type(s(t)). type(o(t)). values(t,[a,b]). select(s(X),X,[0.9,0.1]). "
        "1.0 : s(X) <- start. 0.8 : s(X) <- o(X) - s(X). 0.2 : s(Y) <- o(X) - s(X)."
    )
    sequences = truth.sample(300, length=20, random_state=0)
    flat = truth.with_parameters([1.0, 0.5, 0.5, 0.5, 0.5])
    fitted = flat.fit(sequences, max_iter=100, tol=1e-8, pseudo_count=0, selection_pseudo_count=0)
    assert fitted.parameters.values == pytest.approx(truth.parameters.values, abs=0.05)
    assert fitted.history[-1] >= truth.log_probability(sequences).sum()


def test_fitting_stops_when_little_is_gained():
    model = LoHMM.parse(UNIX)
    sequences = model.sample(30, length=6, random_state=1)
    settled = model.fit(sequences, max_iter=500, tol=1e-3)
    assert 2 <= len(settled.history) < 100
    gain = settled.penalised_history[-1] - settled.penalised_history[-2]
    assert gain <= 1e-3 * abs(settled.penalised_history[-2])
    assert len(model.fit(sequences, max_iter=3, tol=0).history) == 4
    assert model.fit(sequences, max_iter=0) == model


def test_a_distribution_without_counts_stays_as_it_is():
    model = LoHMM.parse(UNIX)
    fitted = model.fit([sequence("ls ls")], pseudo_count=0, selection_pseudo_count=0)
    before, after = model.parameters, fitted.parameters
    unused = [i for i, name in enumerate(before.names) if name.endswith("- latex(F,tex)")]
    assert len(unused) == 3
    assert after.values[unused].tolist() == before.values[unused].tolist()


def test_a_weight_of_two_is_a_sequence_twice():
    model = LoHMM.parse(UNIX)
    one, two = sequence("ls emacs(f1) ls"), sequence("emacs(f1) latex(f1)")
    weighted = model.fit([one, two], sample_weight=[2, 1], max_iter=3, tol=0)
    repeated = model.fit([one, one, two], max_iter=3, tol=0)
    assert weighted.parameters.values == pytest.approx(repeated.parameters.values)
    ignored = model.fit([one, sequence("nothing")], sample_weight=[1, 0], max_iter=3, tol=0)
    alone = model.fit([one], max_iter=3, tol=0)
    assert ignored.parameters.values == pytest.approx(alone.parameters.values)


def test_a_seed_begins_with_random_parameters():
    model = LoHMM.parse(UNIX)
    sequences = model.sample(5, length=5, random_state=0)
    one, again = (model.fit(sequences, random_state=3, max_iter=2) for _ in range(2))
    other = model.fit(sequences, random_state=4, max_iter=2)
    assert one == again
    assert one != other
    assert one.history[0] != model.fit(sequences, max_iter=2).history[0]


def test_fitting_does_not_change_the_model():
    model = LoHMM.parse(UNIX)
    before = str(model)
    model.fit([sequence("ls ls")])
    assert str(model) == before


# Parameters


def test_parameters_have_names_and_distributions():
    parameters = LoHMM.parse(
        "type(s(t)). type(o(t)). values(t,[a,b]). 1.0 : s(X) <- start. "
        "0.5 : s(X) <- o(X) - s(X). 0.5 : s(Y) <- o(X) - s(X)."
    ).parameters
    assert parameters.names == (
        "s(X) <- start",
        "s(X) <- o(X) - s(X)",
        "s(Y) <- o(X) - s(X)",
        "select s(a)",
        "select s(b)",
    )
    assert parameters.groups.tolist() == [0, 1, 1, 2, 2]
    assert parameters.values.tolist() == [1.0, 0.5, 0.5, 0.5, 0.5]
    assert len(parameters) == 5


def test_a_selection_by_type_has_one_distribution_for_a_type():
    model = LoHMM.parse(
        "type(s(t)). type(q(t)). values(t,[a,b]). selection(type). select(t,[0.9,0.1]). "
        "0.5 : s(X) <- start. 0.5 : q(X) <- start. 1.0 : q(X) <- o - s(X). 1.0 : s(X) <- o - q(X)."
    )
    assert model.parameters.names[-2:] == ("select t = a", "select t = b")
    (first, *_) = model.forward([])
    assert {str(s): round(math.exp(p), 12) for s, p in first.items()} == {
        "s(a)": 0.45,
        "s(b)": 0.05,
        "q(a)": 0.45,
        "q(b)": 0.05,
    }


@given(models())
@settings(max_examples=10)
def test_other_parameters_make_another_model(model):
    again = model.with_parameters(model.parameters.values)
    assert again == model
    other = with_random_parameters(model, 12345, zeros=0)
    assert other.parameters.names == model.parameters.names
    written = [clause.probability for clause in (*other.start, *other.transitions)]
    assert written == other.parameters.values[: len(written)].tolist()


@given(models(), st.integers(0, 99))
@settings(max_examples=10)
def test_a_count_over_its_parameter_is_the_slope_of_the_log_probability(model, seed):
    sequences = drawn_sequences(model, seed, n=2)[:2]
    counts, scores = model.expected_counts(sequences)
    assume(np.isfinite(scores).all())
    values = model.parameters.values
    for i in np.flatnonzero(values > 0.01):
        step = np.where(np.arange(len(values)) == i, 1e-5 * values[i], 0.0)
        above, below = (
            model.with_parameters(values + sign * step).log_probability(sequences)
            for sign in (1, -1)
        )
        slope = (above - below) / (2 * step[i])
        assert slope == pytest.approx(counts[:, i] / values[i], rel=1e-6, abs=1e-6)


def test_a_grounding_serves_for_all_parameters():
    model = LoHMM.parse(UNIX)
    sequences = model.sample(5, length=4, random_state=0)
    grounding = model.ground(sequences)
    other = with_random_parameters(model, 1)
    assert other.log_probability(grounding).tolist() == other.log_probability(sequences).tolist()
    fitted, again = model.fit(grounding), model.fit(sequences)
    assert fitted == again
    assert fitted.history == again.history


def test_a_model_can_be_pickled():
    model = LoHMM.parse(UNIX).fit([sequence("ls ls")])
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again.log_probability(model.ground([sequence("ls")])) < 0
    assert again.history == model.history
    assert again.log_probability([sequence("ls")]) == model.log_probability([sequence("ls")])


def test_a_model_made_in_python_is_the_one_of_its_text():
    X, Y = Var("X"), Var("Y")
    made = LoHMM(
        [
            Transition(0.5, Atom("s", (Y,)), Atom("o", (X,)), Atom("s", (X,))),
            Transition(0.5, Atom("s", (X,)), Atom("o", (X,)), Atom("s", (X,))),
        ],
        start=[Start(1.0, Atom("s", (X,)))],
        types={("s", 1): ("t",), ("o", 1): ("t",)},
        values={"t": ("a", "b")},
        selections={("s", 1, 1): (0.8, 0.2)},
    )
    assert made == LoHMM.parse(
        "type(s(t)). type(o(t)). values(t,[a,b]). select(s(X),X,[0.8,0.2]). 1.0 : s(X) <- start. "
        "0.5 : s(X) <- o(X) - s(X). 0.5 : s(Y) <- o(X) - s(X)."
    )


def test_one_and_one_point_zero_are_different_constants():
    model = LoHMM.parse(
        "type(o(t)). values(t,[1,1.0]). 1.0 : s <- start. "
        "0.9 : s <- o(1) - s. 0.1 : s <- o(1.0) - s."
    )
    found = probabilities(model, [[Atom("o", (1,))], [Atom("o", (1.0,))]])
    assert found == pytest.approx([0.9, 0.1])
