"""`LoHMM` against its plain twin, full enumeration, and numbers that are known."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lohmm_reference import END, Twin

from relynx import InputError, LoHMM, from_lists, parse_atom
from relynx.logic.terms import Atom, Var
from relynx.models.lohmm import ground as grounding_module
from relynx.models.lohmm import inference
from relynx.models.lohmm import model as model_module
from relynx.models.lohmm.clauses import Start, Transition, variant_key

UNIX = """
type(emacs(file,user)). type(ls(user)). type(latex(file,user)).
type(emacs(file)). type(latex(file)).
values(file,[f1,f2]). values(user,[tex,other]).
0.55 : emacs(F,U) <- start.
0.45 : ls(U) <- start.
0.7 : ls(V) <- emacs(F) - emacs(F,U).
0.3 : emacs(G,U) <- emacs(F) - emacs(F,U).
0.6 : latex(F,tex) <- emacs(F) - emacs(F,tex).
0.3 : ls(V) <- emacs(F) - emacs(F,tex).
0.1 : emacs(G,V) <- emacs(F) - emacs(F,tex).
0.4 : ls(U) <- ls - ls(U).
0.6 : emacs(F,V) <- ls - ls(U).
0.2 : ls(V) <- latex(F) - latex(F,tex).
0.2 : emacs(F,tex) <- latex(F) - latex(F,tex).
0.6 : emacs(G,V) <- latex(F) - latex(F,tex).
"""
# With an end; the probabilities are rounded, as in the port to PRISM that the number is from.
STOPPING = """
type(emacs(file,user)). type(ls(user)). type(latex(file,user)).
type(emacs(file)). type(latex(file)).
values(file,[f1,f2]). values(user,[tex,other]).
0.45 : emacs(F,U) <- start.
0.55 : ls(U) <- start.
0.65 : ls(V) <- emacs(F) - emacs(F,U).
0.25 : emacs(G,U) <- emacs(F) - emacs(F,U).
0.1 : end <- stop - emacs(F,U).
0.5666 : latex(F,tex) <- emacs(F) - emacs(F,tex).
0.2666 : ls(V) <- emacs(F) - emacs(F,tex).
0.0666 : emacs(G,V) <- emacs(F) - emacs(F,tex).
0.1 : end <- stop - emacs(F,tex).
0.35 : ls(U) <- ls - ls(U).
0.55 : emacs(F,V) <- ls - ls(U).
0.1 : end <- stop - ls(U).
0.1666 : ls(V) <- latex(F) - latex(F,tex).
0.1666 : emacs(F,tex) <- latex(F) - latex(F,tex).
0.5666 : emacs(G,V) <- latex(F) - latex(F,tex).
0.1 : end <- stop - latex(F,tex).
"""


def sequence(text):
    return [parse_atom(part) for part in text.split()]


SHOWN = sequence("ls emacs(f1) emacs(f2) latex(f1) latex(f2)")


# Random models: bodies in families that are closed, heads and observations of any kind.

TYPES = {("p", 2): ("t", "u"), ("d", 2): ("t", "t"), ("o", 2): ("t", "u"), ("w", 1): ("t",)}
VALUES = {"t": ("a", "b", 3), "u": ("c", "e")}
X, Y = Var("X"), Var("Y")
FAMILIES = {
    ("p", 2): [
        [(X, Y)],
        [(X, Y), ("a", Y)],
        [(X, Y), ("a", Y), (X, "c"), ("a", "c")],
        [(X, "c"), (X, "e")],
        [("a", Y), ("b", Y), (3, Y), (3, "e")],
    ],
    ("d", 2): [[(X, Y)], [(X, Y), (X, X)], [(X, Y), (X, X), ("a", Y), ("a", "a")]],
    ("r", 0): [[()]],
}
STATES = [("p", 2), ("d", 2), ("r", 0)]
SHOWS = [("o", 2), ("w", 1), ("z", 0)]


@st.composite
def atoms(draw, keys, known):
    """An atom of one of the predicates; `known` variables, by type, may stand in it."""
    name, arity = draw(st.sampled_from(keys))
    args = []
    for kind in TYPES.get((name, arity), ()):
        old = sorted(known[kind])
        new = {"t": ["M", "N"], "u": ["K", "L"]}[kind]
        choices = [*map(Var, old), *map(Var, old), *map(Var, new), Var("_"), *VALUES[kind]]
        args.append(draw(st.sampled_from(choices)))
    atom = Atom(name, tuple(args))
    for arg, kind in zip(atom.args, TYPES.get(atom.key, ()), strict=False):
        if isinstance(arg, Var) and not arg.anonymous:
            known[kind].add(arg.name)
    return atom


@st.composite
def transitions(draw, body, block, ends):
    """The transitions of a body, of equal probability."""
    kinds = dict(zip(body.args, TYPES.get(body.key, ()), strict=False))
    found = {}
    for _ in range(draw(st.integers(1, 3))):
        known = {"t": set(), "u": set()}
        for arg, kind in kinds.items():
            if isinstance(arg, Var):
                known[kind].add(arg.name)
        head = draw(atoms(STATES, known))
        shown = draw(atoms(SHOWS, known))
        found[variant_key([body, shown, head])] = head, shown
    if ends:
        found["end"] = END, Atom("z")
    return [Transition(1 / len(found), h, o, body, block) for h, o in found.values()]


@st.composite
def models(draw, ends=None):
    """A small model with random parameters."""
    ends = draw(st.booleans()) if ends is None else ends
    blocks = draw(st.sampled_from([(), (), (1, 2), (1, 2, 3)]))
    clauses = []
    for key in STATES:
        for args in draw(st.sampled_from(FAMILIES[key])):
            body = Atom(key[0], args)
            split = blocks and draw(st.booleans())
            for block in range(1, len(blocks) + 1) if split else [None]:
                clauses += draw(transitions(body, block, ends))
    heads = {}
    for _ in range(draw(st.integers(1, 2))):
        head = draw(atoms(STATES, {"t": set(), "u": set()}))
        heads[variant_key([head])] = head
    model = LoHMM(
        clauses,
        start=[(1 / len(heads), head) for head in heads.values()],
        types=TYPES,
        values=VALUES,
        selection=draw(st.sampled_from(["argument", "type"])),
        blocks=blocks,
    )
    return with_random_parameters(model, draw(st.integers(0, 10**6)))


def with_random_parameters(model, seed, zeros=0.1):
    """Parameters drawn at random, of which some are 0."""
    rng = np.random.default_rng(seed)
    groups = model.parameters.groups
    values = rng.exponential(size=len(groups)) * (rng.random(len(groups)) >= zeros)
    for group in range(groups.max() + 1):
        if values[groups == group].sum() == 0:
            values[groups == group] = 1.0
    return model.with_parameters(values / np.bincount(groups, weights=values)[groups])


def shown_atoms():
    return [
        Atom(name, args)
        for name, arity in SHOWS
        for args in itertools.product(*(VALUES[k] for k in TYPES.get((name, arity), ())))
    ]


def drawn_sequences(model, seed, n=4, length=4):
    """Sequences of the model, and one that it may not be able to show."""
    rng = np.random.default_rng(seed)
    found = model.sample(n, length=length, random_state=seed)
    other = [shown_atoms()[i] for i in rng.integers(0, len(shown_atoms()), 3)]
    return [*found, other, []]


def probabilities(model, sequences):
    return np.exp(model.log_probability(sequences))


# Numbers that are known


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


TEXTBOOK_MOVES = [[0.7, 0.3], [0.4, 0.6]]
TEXTBOOK_SHOWS = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]


def flat_model(start, moves, shows):
    """A plain HMM: no predicate has arguments."""
    n, m = len(start), len(shows[0])
    clauses = [
        Transition(moves[i][j] * shows[i][k], Atom(f"s{j}"), Atom(f"o{k}"), Atom(f"s{i}"))
        for i in range(n)
        for j in range(n)
        for k in range(m)
    ]
    return LoHMM(clauses, start=[(p, Atom(f"s{i}")) for i, p in enumerate(start)])


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
@settings(max_examples=25)
def test_all_sequences_of_a_length_sum_to_one_in_any_model(model, length):
    everything = list(itertools.product(shown_atoms(), repeat=length))
    assert probabilities(model, everything).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.kernels
@given(models(), st.integers(0, 2))
@settings(max_examples=30)
def test_a_probability_is_the_sum_over_all_paths(model, length):
    expected = Twin(model).all_sequences(length)
    found = probabilities(model, list(expected))
    assert found == pytest.approx(list(expected.values()), abs=1e-12)


# The twin


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
@settings(max_examples=60)
def test_probabilities_are_those_of_the_twin(model, seed):
    sequences = drawn_sequences(model, seed)
    expected = [Twin(model).probability(s) for s in sequences]
    found = model.log_probability(sequences)
    assert not np.isnan(found).any()
    assert np.exp(found) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
@settings(max_examples=30)
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
@settings(max_examples=30)
def test_forward_and_backward_agree_at_every_step(model, seed):
    shown = drawn_sequences(model, seed, n=1)[0]
    (expected,) = model.log_probability([shown])
    assume(expected > -np.inf)
    for ahead, behind in zip(model.forward(shown), model.backward(shown), strict=True):
        whole = sum(math.exp(ahead[state] + behind[state]) for state in ahead if state in behind)
        assert math.log(whole) == pytest.approx(expected, abs=1e-9)


@pytest.mark.kernels
@given(models(), st.integers(0, 99))
@settings(max_examples=60)
def test_expected_counts_are_those_of_the_twin(model, seed):
    sequences = drawn_sequences(model, seed)
    counts, scores = model.expected_counts(sequences)
    assert counts.shape == (len(sequences), len(model.parameters))
    assert scores.tolist() == model.log_probability(sequences).tolist()
    for row, shown in zip(counts, sequences, strict=True):
        assert row == pytest.approx(Twin(model).counts(shown)[0], abs=1e-9)


@given(models(), st.integers(0, 99))
@settings(max_examples=20)
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
@settings(max_examples=60)
def test_the_best_path_is_the_most_probable_of_all(model, seed):
    twin = Twin(model)
    for shown in drawn_sequences(model, seed, n=2):
        states, score = model.viterbi(shown)
        best = twin.best(shown)
        assert math.exp(score) == pytest.approx(best, rel=1e-9, abs=1e-300)
        if best > 0:
            assert len(states) == len(shown) + 1
            assert twin.path_probability(shown, states) == pytest.approx(best, rel=1e-9)
            assert score <= model.log_probability([shown])[0] + 1e-9
        else:
            assert states == []


def test_of_equal_paths_the_first_states_are_taken():
    model = LoHMM.parse("type(s(t)). values(t,[b,a]). 1.0 : s(X) <- start. 1.0 : s(Y) <- o - s(X).")
    states, _ = model.viterbi(sequence("o o"))
    assert list(map(str, states)) == ["s(b)", "s(b)", "s(b)"]


# Baum-Welch


@pytest.mark.kernels
@given(models(), st.integers(0, 99), st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 2.0]))
@settings(max_examples=40)
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
@settings(max_examples=20)
def test_no_iteration_lowers_the_penalised_likelihood(model, seed, pseudo_count):
    sequences = [s for s in drawn_sequences(model, seed) if model.log_probability([s])[0] > -9e9]
    assume(sequences)
    fitted = model.fit(
        sequences,
        max_iter=6,
        tol=0,
        pseudo_count=pseudo_count,
        selection_pseudo_count=pseudo_count,
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


# What must not matter


@given(models(), st.integers(0, 99))
@settings(max_examples=25)
def test_a_model_reads_back_from_its_text(model, seed):
    again = LoHMM.parse(str(model))
    assert again == model
    assert str(again) == str(model)
    assert again.parameters.names == model.parameters.names
    sequences = drawn_sequences(model, seed)
    assert again.log_probability(sequences).tolist() == model.log_probability(sequences).tolist()


@given(models(), st.integers(0, 99))
@settings(max_examples=20)
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
@settings(max_examples=20)
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
            "sample_weight must have finite numbers from 0 on",
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
        (lambda m: m.sample(-1, length=2), "n must be a whole number from 0 on, not -1"),
        (lambda m: m.sample(length=1.5), "length must be a whole number from 0 on, not 1.5"),
        (lambda m: m.fit([], max_iter=True), "max_iter must be a whole number from 0 on, not True"),
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
            "sample_weight must have one number for each of 1 sequences, found shape (2,)",
        ),
        (
            lambda m: m.fit([sequence("ls")], sample_weight=[-1]),
            "sample_weight must have finite numbers from 0 on",
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
