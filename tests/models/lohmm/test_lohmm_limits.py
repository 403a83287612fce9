"""Logical hidden Markov models: large inputs, sampling, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from lohmm_cases import SHOWN, STOPPING, UNIX, probabilities, sequence

from relynx import InputError, LoHMM, from_lists
from relynx.logic.terms import Atom
from relynx.models.lohmm import model as model_module
from relynx.models.lohmm.inference import expectations as inference
from relynx.models.lohmm.inference import ground as grounding_module

# Large inputs


def test_ten_thousand_steps_do_not_underflow():
    model = LoHMM.parse(UNIX)
    (shown,) = model.sample(1, length=10_000, random_state=0)
    counts, (score,) = model.expected_counts([shown])
    assert -20_000 < score < -8_000
    n = len(model.start) + len(model.transitions)
    assert counts[0, :n].sum() == pytest.approx(10_001)
    states, best = model.viterbi(shown)
    assert len(states) == 10_001
    assert -np.inf < best < score


def test_a_path_that_is_unlikely_for_long_is_not_lost():
    model = LoHMM.parse(
        "0.5 : s <- start. 0.5 : r <- start. 0.99 : s <- a - s. 0.01 : s <- b - s. "
        "0.01 : r <- a - r. 0.99 : r <- c - r."
    )
    shown = [Atom("a")] * 500 + [Atom("c")]
    (score,) = model.log_probability([shown])
    assert score == pytest.approx(math.log(0.5) + 500 * math.log(0.01) + math.log(0.99))


def test_thousands_of_constants_are_no_matter_when_they_are_shown():
    n = 5_000
    values = ",".join(f"c{i}" for i in range(n))
    model = LoHMM.parse(
        f"type(s(t,t)). type(o(t,t)). values(t,[{values}]). 1.0 : s(X,Y) <- start. "
        "0.5 : s(Y,Z) <- o(X,Y) - s(X,Y). 0.5 : s(Z,Y) <- o(X,Y) - s(X,Y)."
    )
    (shown,) = model.sample(1, length=200, random_state=0)
    (score,) = model.log_probability([shown])
    expected = 200 * math.log(0.5) - (2 + 199) * math.log(n)
    assert score == pytest.approx(expected, rel=1e-3)


def test_the_best_last_state_is_found_where_there_are_too_many_to_list():
    values = ",".join(f"c{i}" for i in range(5_000))
    model = LoHMM.parse(
        f"type(s(t,t,t)). values(t,[{values}]). 1.0 : s(c0,c0,c0) <- start. "
        "0.2 : s(X,Y,Z) <- o - s(U,V,W). 0.3 : s(X,c4,c7) <- o - s(U,V,W). "
        "0.1 : s(X,c5,Z) <- o - s(U,V,W). 0.25 : s(c1,c4,Z) <- o - s(U,V,W). "
        "0.15 : s(X,X,X) <- o - s(U,V,W)."
    )
    states, score = model.viterbi([Atom("o")])
    assert str(states[-1]) == "s(c1,c4,c7)"
    n = 5_000
    assert math.exp(score) == pytest.approx(0.2 / n**3 + 0.3 / n + 0.25 / n, rel=1e-9)


def test_too_many_ground_states_are_refused(monkeypatch):
    monkeypatch.setattr(grounding_module, "MOST_STATES", 5)
    model = LoHMM.parse(
        "type(s(t,u)). type(o(t)). values(t,[a,b,c]). values(u,[1,2,3,4,5,6]). "
        "1.0 : s(X,Y) <- start. 1.0 : s(Z,Y) <- o(X) - s(X,Y)."
    )
    with pytest.raises(InputError) as caught:
        model.log_probability([sequence("o(a)")])
    assert str(caught.value) == (
        "a step has more than 5 ground states: argument 2 of s/2 is drawn from 6 values and no "
        "observation shows which\n"
        "hint: it is drawn in s(X,Y) <- start; give it fewer values, or show it in the observations"
    )


def test_too_many_ground_transitions_are_refused(monkeypatch):
    monkeypatch.setattr(grounding_module, "MOST_EDGES", 3)
    with pytest.raises(InputError) as caught:
        LoHMM.parse(UNIX).log_probability([sequence("ls ls")])
    assert str(caught.value) == (
        "these sequences have more than 3 ground transitions\n"
        "hint: the last one was of ls(U) <- ls - ls(U); give hidden arguments fewer values, or "
        "show them in the observations"
    )


def test_no_sequences_and_sequences_of_nothing_are_fine():
    model = LoHMM.parse(UNIX)
    assert model.log_probability([]).shape == (0,)
    counts, scores = model.expected_counts([])
    assert counts.shape == (0, 18)
    assert scores.shape == (0,)
    assert model.fit([], pseudo_count=0, selection_pseudo_count=0) == model
    assert model.log_probability([[], []]).tolist() == pytest.approx([0.0, 0.0])
    states, score = model.viterbi([])
    assert (list(map(str, states)), math.exp(score)) == (["ls(tex)"], pytest.approx(0.225))


# Sampling


def test_sampled_sequences_have_their_probabilities():
    model = LoHMM.parse(UNIX)
    drawn = model.sample(8_000, length=2, random_state=0)
    everything = list(itertools.product(SHOWN, repeat=2))
    places = {shown: i for i, shown in enumerate(everything)}
    counts = np.bincount([places[tuple(s)] for s in drawn], minlength=len(everything))
    assert counts / len(drawn) == pytest.approx(probabilities(model, everything), abs=0.02)
    assert not counts[probabilities(model, everything) == 0].any()


def test_sampling_goes_on_until_the_end():
    model = LoHMM.parse(STOPPING)
    drawn = model.sample(50, random_state=0)
    assert all(s[-1] == Atom("stop") and Atom("stop") not in s[:-1] for s in drawn)
    assert (model.log_probability(drawn) > -np.inf).all()
    short = model.sample(50, length=3, random_state=0)
    assert {len(s) for s in short} == {1, 2, 3}


def test_each_block_draws_its_own_transitions():
    model = LoHMM.parse(
        "blocks([1,3]). 1.0 : s <- start. 1.0 : s <- a - s, block(1). 1.0 : s <- b - s, block(2)."
    )
    assert model.sample(1, length=5) == [sequence("a a b b b")]


def test_a_seed_draws_the_same_sequences():
    model = LoHMM.parse(UNIX)
    one, again = (model.sample(3, length=5, random_state=7) for _ in range(2))
    assert one == again
    assert model.sample(3, length=5, random_state=8) != one
    assert model.sample(0, length=5) == []


# Messages


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.log_probability("ls"),
            "expected a list of sequences, each a list of ground atoms, found 'ls'\n"
            "hint: put one sequence into a list: [sequence]",
        ),
        (
            lambda m: m.log_probability(sequence("ls emacs(f1)")),
            "expected a list of sequences, each a list of ground atoms, found ls\n"
            "hint: put one sequence into a list: [sequence]",
        ),
        (
            lambda m: m.log_probability([sequence("ls"), sequence("ls emacs(F)")]),
            "sequence 1, step 2: expected a ground atom, found emacs(F)\n"
            'hint: make one with rx.parse_atom("p(a,b)")',
        ),
        (
            lambda m: m.log_probability(None),
            "expected a list of sequences, each a list of ground atoms, found None\n"
            "hint: put one sequence into a list: [sequence]",
        ),
        (
            lambda m: m.log_probability(from_lists([["ls"]])[0]),
            "expected lists of ground atoms, found Sequences\n"
            "hint: relynx.models.observations.observations(X) makes them",
        ),
        (
            lambda m: m.with_parameters("abc"),
            "the parameters are no row of numbers\n"
            "hint: give them in the order of model.parameters",
        ),
        (
            lambda m: m.fit([sequence("ls")], sample_weight=["a"]),
            "sample_weight holds what is no number\nhint: give one weight for each sequence",
        ),
        (
            lambda m: m.viterbi(["ls"]),
            "sequence 0, step 1: expected a ground atom, found 'ls'\n"
            'hint: make one with rx.parse_atom("p(a,b)")',
        ),
        (
            lambda m: m.with_parameters([0.5]),
            "expected 18 parameters in one row, found shape (1,)\n"
            "hint: give them in the order of model.parameters",
        ),
        (
            lambda m: m.with_parameters([0.5] * 17 + [-1]),
            "the parameter select ls(other) is -1.0\nhint: a probability is a number from 0 on",
        ),
        (
            lambda m: m.sample(2),
            "a sequence of this model never ends\nhint: give the length of the sequences to draw",
        ),
        (lambda m: m.sample(-1, length=2), "n is -1: give an integer of at least 0"),
        (lambda m: m.sample(length=1.5), "length is 1.5: give an integer of at least 0"),
        (lambda m: m.fit([], max_iter=True), "max_iter is True: give an integer of at least 0"),
        (lambda m: m.fit([], tol=-1), "tol must be a number from 0 on, not -1"),
        (
            lambda m: m.fit([], pseudo_count=float("nan")),
            "pseudo_count must be a number from 0 on, not nan",
        ),
        (
            lambda m: m.fit([], selection_pseudo_count="x"),
            "selection_pseudo_count must be a number from 0 on, not 'x'",
        ),
        (
            lambda m: m.fit([sequence("ls")], sample_weight=[1, 2]),
            "sample_weight has 2 weights for 1 sequence\nhint: give one weight for each sequence",
        ),
        (
            lambda m: m.fit([sequence("ls")], sample_weight=[-1]),
            "sample_weight holds a negative or infinite weight\nhint: give numbers from 0 on",
        ),
        (
            lambda m: m.fit([sequence("ls"), sequence("ls emacs(f9) ls"), sequence("foo")]),
            "the model cannot show sequence 1: no state shows emacs(f9) at step 2 after ls; "
            "so for 2 of 3\n"
            "hint: give its constants to the model, or transitions that show it",
        ),
        (
            lambda m: m.fit([sequence("foo")]),
            "the model cannot show sequence 0: no state shows foo at step 1\n"
            "hint: give its constants to the model, or transitions that show it",
        ),
        (
            lambda m: m.fit(m.ground([sequence("foo")])),
            "the model cannot show sequence 0\n"
            "hint: give its constants to the model, or transitions that show it",
        ),
    ],
)
def test_a_wrong_call_gets_its_whole_message(call, message):
    with pytest.raises(InputError) as caught:
        call(LoHMM.parse(UNIX))
    assert str(caught.value) == message


def test_ground_tables_of_other_clauses_are_refused():
    other = LoHMM.parse(UNIX.replace("0.7 : ls(V)", "0.7 : ls(U)"))
    with pytest.raises(InputError) as caught:
        LoHMM.parse(UNIX).log_probability(other.ground([sequence("ls")]))
    assert str(caught.value) == (
        "these ground tables are of a model with other clauses\n"
        "hint: make them with the ground of this model"
    )


def test_a_last_column_of_too_many_states_is_refused(monkeypatch):
    monkeypatch.setattr(inference, "MOST_STATES", 3)
    with pytest.raises(InputError) as caught:
        LoHMM.parse(UNIX).forward(sequence("ls"))
    assert str(caught.value) == (
        "the last column has more than 3 states\nhint: leave out the last observation"
    )


def test_a_model_is_shown_in_one_line():
    assert repr(LoHMM.parse(UNIX)) == "<LoHMM with 10 transitions and 18 parameters>"


def test_a_sequence_that_cannot_end_is_refused():
    with pytest.raises(InputError) as caught:
        LoHMM.parse(STOPPING).fit([sequence("ls emacs(f1)")])
    assert str(caught.value) == (
        "the model cannot show sequence 0, which cannot end here\n"
        "hint: give its constants to the model, or transitions that show it"
    )


def test_nothing_is_drawn_from_zeros():
    model = LoHMM.parse("1.0 : s <- start. 1.0 : s <- o - s.").with_parameters([1.0, 0.0])
    with pytest.raises(InputError) as caught:
        model.sample(length=1)
    assert str(caught.value) == ("nothing can be drawn: all probabilities of a distribution are 0")


def test_a_sequence_that_never_ends_is_refused(monkeypatch):
    monkeypatch.setattr(model_module, "MOST_STEPS", 3)
    model = LoHMM.parse("1.0 : s <- start. 1.0 : s <- o - s. 0.0 : end <- o - s.")
    with pytest.raises(InputError) as caught:
        model.sample()
    assert str(caught.value) == (
        "a drawn sequence did not end in 3 steps\nhint: give the length of the sequences to draw"
    )
