"""The conditional random field: chains against enumeration, boosting, and the labeller."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
import tildecrf_reference as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from relynx import Bias, InputError, Sequences, TildeCRF, from_events, from_lists, parse_bias
from relynx.models.observations import observed_arguments
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.boosting import (
    Task,
    best_paths,
    boost,
    constant_scores,
    gradient_of,
    infer,
    log_likelihood,
    path_scores,
    potentials,
    summed,
)
from relynx.models.tildecrf.candidates import Candidates
from relynx.models.tildecrf.encoding import Language, encode
from relynx.models.tildecrf.trees import Split

LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=3)
SEEDS = st.integers(0, 2**32 - 1)
LABELS = st.integers(1, 3)


def chains(lengths, n_labels, seed, scale=2.0):
    """Random potentials, where sequences begin and end, and those of each sequence."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rng = np.random.default_rng(seed)
    F = rng.normal(scale=scale, size=(offsets[-1], n_labels, n_labels))
    starts, ends = offsets[:-1], offsets[1:]
    return F, starts, ends, [F[a:b].tolist() for a, b in zip(starts, ends, strict=True)]


@pytest.mark.kernels
@given(LENGTHS, LABELS, SEEDS)
def test_z_and_all_shares_are_those_of_the_enumerated_paths(lengths, n_labels, seed):
    F, starts, ends, parts = chains(lengths, n_labels, seed)
    log_z, pairs = infer(F, starts, ends)
    assert log_z == pytest.approx([twin.log_z(part) for part in parts])
    for start, part in zip(starts, parts, strict=True):
        for t in range(len(part)):
            for j in range(n_labels):
                for k in range(n_labels):
                    expected = 0.0 if t == 0 and j else twin.pair_share(part, t, j, k)
                    assert pairs[start + t, j, k] == pytest.approx(expected)
    assert np.allclose(pairs.sum(axis=(1, 2)), 1)


@pytest.mark.kernels
@given(LENGTHS, LABELS, SEEDS)
def test_forward_and_backward_find_the_same_z_at_every_event(lengths, n_labels, seed):
    F, starts, ends, _ = chains(lengths, n_labels, seed)
    alpha, beta, log_z = np.zeros((len(F), n_labels)), np.zeros((len(F), n_labels)), starts * 0.0
    kernels.forward_backward(F, starts, ends, alpha, beta, log_z)
    at_event = np.logaddexp.reduce(alpha + beta, axis=1)
    assert at_event == pytest.approx(np.repeat(log_z, ends - starts))


@pytest.mark.kernels
@given(LENGTHS, LABELS, SEEDS)
def test_the_best_path_is_that_of_the_enumeration(lengths, n_labels, seed):
    F, starts, ends, parts = chains(lengths, n_labels, seed)
    path = best_paths(F, starts, ends)
    for a, b, part in zip(starts, ends, parts, strict=True):
        assert tuple(path[a:b].tolist()) == twin.best_path(part)


@pytest.mark.kernels
def test_of_equal_paths_the_first_labels_are_taken():
    F = np.zeros((3, 2, 2))
    assert best_paths(F, np.array([0]), np.array([3])).tolist() == [0, 0, 0]


@pytest.mark.kernels
def test_potentials_of_any_size_do_not_overflow():
    F = np.full((4, 2, 2), 1e4)
    F[:, 0, 0] = -1e4
    log_z, pairs = infer(F, np.array([0]), np.array([4]))
    assert np.isfinite(log_z).all()
    assert np.allclose(pairs.sum(axis=(1, 2)), 1)


@given(LENGTHS, LABELS, SEEDS)
def test_the_scores_of_constant_paths_are_sums_over_them(lengths, n_labels, seed):
    F, starts, ends, parts = chains(lengths, n_labels, seed)
    expected = [[twin.score(part, [k] * len(part)) for k in range(n_labels)] for part in parts]
    assert np.allclose(constant_scores(F, starts, ends), np.array(expected))


@given(LENGTHS, LABELS, SEEDS, st.floats(-5, 5))
def test_a_constant_for_all_labels_of_an_event_changes_nothing(lengths, n_labels, seed, more):
    F, starts, ends, _ = chains(lengths, n_labels, seed)
    if len(F):
        other = F.copy()
        other[len(F) // 2] += more
        assert np.allclose(infer(other, starts, ends)[1], infer(F, starts, ends)[1])
        assert np.array_equal(best_paths(other, starts, ends), best_paths(F, starts, ends))


# Boosting


def language(X: Sequences, bias: Bias | None = None) -> Language:
    return Language.of(bias or Bias.infer(X), X.dimensions[0], observed_arguments(X))


def task_of(seed: int, n_labels: int, lengths=(1, 2, 3, 4), *, constant=False) -> Task:
    """Random labels for the events of sequences of random letters."""
    rng = np.random.default_rng(seed)
    X, _ = from_lists([[str(c) for c in rng.choice(["a", "b"], n)] for n in lengths])
    encoding = encode(X, language(X))
    names = [f"k{k}" for k in range(n_labels)]
    labels = rng.integers(n_labels, size=encoding.n_events)
    if constant:
        labels = np.repeat(rng.integers(n_labels, size=len(lengths)), lengths)
    none = np.zeros(len(lengths), bool)
    everything = np.arange(len(lengths))
    return Task(encoding, Candidates.of(encoding), names, everything, labels, none)


SETTINGS = {"window": 1, "max_iter": 3, "learning_rate": 0.3, "max_depth": 3, "min_samples_leaf": 1}


@given(SEEDS, st.integers(2, 3), st.booleans())
def test_the_gradient_is_that_of_finite_differences(seed, n_labels, constant):
    task = task_of(seed, n_labels, constant=constant)
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(task.encoding.n_events, n_labels, n_labels))
    gradient = gradient_of(task, F, constant)[1]
    step = 1e-5
    for at in np.ndindex(F.shape):
        up, down = F.copy(), F.copy()
        up[at] += step
        down[at] -= step
        ups, downs = (gradient_of(task, one, constant)[0].sum() for one in (up, down))
        assert gradient[at] == pytest.approx((ups - downs) / (2 * step), abs=1e-7)


@given(SEEDS, st.integers(2, 3))
def test_the_gradient_of_an_event_sums_to_0(seed, n_labels):
    task = task_of(seed, n_labels)
    F = np.random.default_rng(seed).normal(size=(task.encoding.n_events, n_labels, n_labels))
    assert np.allclose(gradient_of(task, F, False)[1].sum(axis=(1, 2)), 0)


@given(SEEDS, st.integers(2, 3))
def test_without_trees_all_labels_are_equally_probable(seed, n_labels):
    task = task_of(seed, n_labels)
    F = potentials((), task.encoding, n_labels, TildeCRF(**SETTINGS))
    _, pairs = infer(F, task.starts, task.ends)
    assert np.allclose(pairs.sum(axis=1), 1 / n_labels)
    lengths = task.ends - task.starts
    assert np.allclose(gradient_of(task, F, False)[0], -lengths * np.log(n_labels))


@given(SEEDS, st.integers(2, 3), st.booleans())
def test_a_small_step_of_boosting_raises_the_likelihood(seed, n_labels, constant):
    task = task_of(seed, n_labels, (3, 4, 2, 5), constant=constant)
    if len(np.unique(task.labels)) > 1:
        chosen = TildeCRF(**SETTINGS | {"max_iter": 1, "learning_rate": 1e-3})
        learnt = boost(task, chosen, constant=constant)
        before, after = learnt.history
        # Where no test of a tree separates the labels, gradients cancel and no step is made.
        stepped = np.ptp(potentials(learnt.trees, task.encoding, n_labels, chosen)) > 1e-12
        assert after > before if stepped else after == pytest.approx(before)


@settings(max_examples=10)
@given(SEEDS, st.integers(2, 3), st.booleans())
def test_the_trees_give_the_likelihood_that_boosting_saw(seed, n_labels, constant):
    task = task_of(seed, n_labels, (3, 4, 2, 5), constant=constant)
    chosen = TildeCRF(**SETTINGS)
    learnt = boost(task, chosen, constant=constant)
    F = potentials(learnt.trees, task.encoding, n_labels, chosen)
    assert gradient_of(task, F, constant)[0].mean() == pytest.approx(learnt.history[-1])


@given(SEEDS, st.integers(2, 3))
def test_the_likelihood_is_the_share_of_the_path(seed, n_labels):
    task = task_of(seed, n_labels)
    F = np.random.default_rng(seed).normal(size=(task.encoding.n_events, n_labels, n_labels))
    begins = task.encoding.is_first
    found = log_likelihood(F, task.labels, begins, task.starts, task.ends)
    expected = [
        twin.score(F[a:b].tolist(), task.labels[a:b].tolist()) - twin.log_z(F[a:b].tolist())
        for a, b in zip(task.starts, task.ends, strict=True)
    ]
    assert found == pytest.approx(expected)
    assert summed(path_scores(F, task.labels, begins), task.starts, task.ends)[0] == pytest.approx(
        twin.score(F[:1].tolist(), task.labels[:1].tolist())
    )


def test_two_mirrored_labels_need_one_tree_a_round():
    task = task_of(0, 2, (3, 4, 2, 5), constant=True)
    first, second = boost(task, TildeCRF(**SETTINGS), constant=True).trees[0]
    assert isinstance(first, Split)
    F = potentials(((first, second),), task.encoding, 2, TildeCRF(**SETTINGS))
    begins = task.encoding.is_first
    assert np.array_equal(F[begins, 0, 0], -F[begins, 0, 1])
    assert np.array_equal(F[~begins, 0, 0], -F[~begins, 1, 1])


def markov(seed: int, n: int = 150) -> tuple[Sequences, list[list[str]]]:
    """Events of which all say the same, with labels that depend on the one before.

    That each is first and last goes before the tests of these names.
    """
    rng = np.random.default_rng(seed)
    y = []
    for _ in range(n):
        row = ["u" if rng.random() < 0.5 else "v"]
        for _ in range(5):
            stays = rng.random() < (0.8 if row[-1] == "u" else 0.3)
            row.append(row[-1] if stays else {"u": "v", "v": "u"}[row[-1]])
        y.append(row)
    return from_lists([[["first", "last", "event"]] * 6] * n)[0], y


def test_tests_of_the_label_before_alone_are_a_markov_chain():
    X, y = markov(0)
    names = ("first", "last", "event")
    bias = parse_bias(" ".join(f"type({name}(event)). mode({name}(+))." for name in names))
    model = TildeCRF(bias, window=0, max_iter=60, learning_rate=0.5).fit(X, y)
    assert all(isinstance(tree.test, int) for trees in model.trees_ for tree in trees)
    found = model.log_likelihood(X, y).mean()
    first = np.mean([row[0] == "u" for row in y])
    steps = [(a, b) for row in y for a, b in pairwise(row)]
    expected = np.mean([np.log(first if row[0] == "u" else 1 - first) for row in y])
    for before in "uv":
        stays = np.mean([a == b for a, b in steps if a == before])
        expected += sum(
            np.log(stays if a == b else 1 - stays) for a, b in steps if a == before
        ) / len(y)
    assert found == pytest.approx(expected, abs=0.02)


# The labeller


def letters(seed: int = 0, n: int = 40) -> tuple[Sequences, list[list[str]]]:
    """The label of an event is the letter of the next one; of the last it is `end`."""
    rng = np.random.default_rng(seed)
    rows = [[str(c) for c in rng.choice(["a", "b"], int(rng.integers(1, 6)))] for _ in range(n)]
    return from_lists(rows)[0], [[*row[1:], "end"] for row in rows]


@pytest.fixture(scope="module")
def fitted() -> TildeCRF:
    return TildeCRF(max_iter=15).fit(*letters())


def test_it_learns_what_follows(fitted):
    X, y = letters(1)
    assert fitted.score(X, y) == 1.0
    assert [row.tolist() for row in fitted.predict(X)] == y
    assert fitted.classes_.tolist() == ["a", "b", "end"]


def test_marginals_are_shares_of_the_labels(fitted):
    X, y = letters(1)
    for shares, labels in zip(fitted.predict_marginals(X), y, strict=True):
        assert shares.shape == (len(labels), 3)
        assert np.allclose(shares.sum(axis=1), 1)
        assert fitted.classes_[shares.argmax(axis=1)].tolist() == labels


def test_the_likelihood_of_the_training_labels_is_the_last_of_its_history(fitted):
    X, y = letters()
    assert fitted.log_likelihood(X, y).mean() == pytest.approx(fitted.history_[-1])
    assert (np.diff(fitted.history_) > 0).all()
    assert fitted.held_out_.size == 0


def test_a_label_never_seen_is_impossible(fitted):
    X, y = letters()
    other = [["new", *row[1:]] for row in y[:1]] + y[1:3]
    found = fitted.log_likelihood(X[:3], other)
    assert found[0] == -np.inf
    assert np.isfinite(found[1:]).all()
    numbers = [[1] * len(row) for row in y[:3]]
    assert (fitted.log_likelihood(X[:3], numbers) == -np.inf).all()


def test_labels_come_in_the_order_of_the_sequences(fitted):
    X, _ = letters(1)
    order = np.random.default_rng(0).permutation(len(X))
    whole, mixed = fitted.predict(X), fitted.predict(X[order])
    assert [whole[i].tolist() for i in order] == [row.tolist() for row in mixed]
    assert fitted.predict(X[3])[0].tolist() == whole[3].tolist()


def test_no_sequences_have_no_labels(fitted):
    X, _ = letters(1)
    assert fitted.predict(X[:0]) == []
    assert fitted.predict_marginals(X[:0]) == []


def test_a_window_wider_than_the_sequences_is_as_wide_as_they_are():
    X, y = letters()
    model = TildeCRF(window=10_000, max_iter=2).fit(X, y)
    other = TildeCRF(window=5, max_iter=2).fit(X, y)
    assert model.trees_ == other.trees_
    assert model.predict(X[:1])[0].tolist() == other.predict(X[:1])[0].tolist()


def test_one_event_that_nothing_links_is_labelled(fitted):
    X, _ = from_lists([["a"], ["b"]])
    assert [row.tolist() for row in fitted.predict(X)] == [["end"], ["end"]]


def test_what_only_sequences_of_one_event_say_is_learnt():
    X, y = from_lists([["a"], ["c"], ["b", "b"]] * 6)[0], [["u"], ["v"], ["v", "v"]] * 6
    assert TildeCRF(max_iter=3).fit(X, y).score(X, y) == 1.0


def test_labels_may_be_numbers():
    X, y = letters()
    numbers = [[{"a": 1, "b": 2, "end": 3}[label] for label in row] for row in y]
    model = TildeCRF(max_iter=10).fit(X, numbers)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.score(X, [np.array(row) for row in numbers]) == 1.0


def test_the_names_of_labels_do_not_matter():
    X, y = letters()
    names = {"a": "z", "b": "y", "end": "x"}
    model = TildeCRF(max_iter=3).fit(X, y)
    other = TildeCRF(max_iter=3).fit(X, [[names[label] for label in row] for row in y])
    for one, renamed in zip(model.predict_marginals(X), other.predict_marginals(X), strict=True):
        assert np.allclose(one, renamed[:, ::-1])


def test_another_dimension_is_another_order():
    atoms = "f(e1,a) f(e2,b) f(e3,c) next_s(e1,e2) next_s(e2,e3) next_t(e3,e2) next_t(e2,e1)"
    X = Sequences.from_atoms([[_atom(text) for text in atoms.split()]] * 8)
    model = TildeCRF(dimension="t", max_iter=5, min_samples_leaf=1).fit(X, [["3", "2", "1"]] * 8)
    assert model.dimension_ == "t"
    assert model.predict(X[:1])[0].tolist() == ["3", "2", "1"]


def _atom(text):
    from relynx import parse_atom

    return parse_atom(text)


def test_early_stopping_keeps_the_rounds_up_to_the_best():
    rng = np.random.default_rng(0)
    X, y = letters()
    noisy = [[label if rng.random() < 0.7 else "a" for label in row] for row in y]
    model = TildeCRF(
        max_iter=60, n_iter_no_change=3, validation_fraction=0.3, learning_rate=0.8, random_state=0
    ).fit(X, noisy)
    best = int(np.argmax(model.held_out_))
    assert 0 < len(model.trees_) == best < 60
    assert len(model.held_out_) == best + 4 == len(model.history_)
    again = clone(model).fit(X, noisy)
    assert np.array_equal(again.held_out_, model.held_out_)


def test_where_nothing_can_be_held_out_all_rounds_are_made():
    X, y = letters()
    longest = max(range(len(X)), key=lambda i: len(y[i]))
    model = TildeCRF(max_iter=6, n_iter_no_change=2, min_samples_leaf=1)
    model.fit(X[[longest]], [y[longest]])
    assert len(model.trees_) == 6
    assert model.held_out_.size == 0


def test_no_round_is_no_tree():
    X, y = letters()
    model = TildeCRF(max_iter=0).fit(X, y)
    assert model.trees_ == ()
    assert np.allclose(model.predict_marginals(X)[0], 1 / 3)


def test_a_pickle_says_the_same(fitted):
    X, _ = letters(1)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_marginals(X)[0], fitted.predict_marginals(X)[0])


def test_it_prints_its_trees():
    X, y = from_lists([["a", "b"], ["b", "a"]] * 4)[0], [["1", "2"], ["2", "1"]] * 4
    bias = parse_bias("type(a(event)). mode(a(+)).")
    model = TildeCRF(bias, window=0, max_iter=2, max_leaves=2, learning_rate=0.3).fit(X, y)
    assert str(model).splitlines() == [
        "labels 1, 2; 2 rounds",
        "",
        "round 1, 1:",
        "if a(E0): +0.333",
        "else: -0.333",
        "",
        "round 1, 2:",
        "if a(E0): -0.333",
        "else: +0.333",
        "",
        "round 2, 1:",
        "if a(E0): +0.3",
        "else: -0.3",
        "",
        "round 2, 2:",
        "if a(E0): -0.3",
        "else: +0.3",
    ]
    assert model.to_text(rounds=None) == str(model)
    assert "round 2" not in model.to_text(rounds=1)
    assert str(clone(model)).startswith("TildeCRF(")


def table(**options):
    """Forty sequences of two events with a measured size."""
    sizes = np.random.default_rng(0).normal(size=80).round(3)
    frame = {"id": np.repeat(np.arange(40), 2).tolist(), "size": sizes.tolist()}
    return from_events(frame, sequence="id", **options)[0]


def test_sequences_read_in_another_way_are_refused():
    X, other = table(), table(bins=[0.5])
    model = TildeCRF(max_iter=1).fit(X, [["a", "b"]] * 40)
    assert model.reading_ == X.reading
    wrong = other.reading.difference(X.reading)
    assert said(lambda: model.predict(other)) == (
        f"this table was read in another way than that of the model: {wrong}\n"
        "hint: read it as that one: rx.from_events(frame, reading=model.reading_)"
    )


def test_numbers_that_wait_for_classes_are_reported():
    X = table(bins="supervised")
    assert said(lambda: TildeCRF().fit(X, [["a", "b"]] * 40)) == (
        "column 'size' is to be cut by class, and labels of events are no class\n"
        "hint: read the table with other bins"
    )


def test_it_says_that_it_is_not_fitted():
    X, y = letters()
    for ask in (
        lambda m: m.predict(X),
        lambda m: m.predict_marginals(X),
        lambda m: m.log_likelihood(X, y),
        lambda m: m.score(X, y),
        lambda m: m.to_text(),
    ):
        with pytest.raises(NotFittedError, match="instance is not fitted yet"):
            ask(TildeCRF())


# Messages


def said(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def lists(*rows):
    return from_lists([list(row) for row in rows])[0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [["u", "v"]],
            "labels of 1 sequence in y for 2 in X\n"
            "hint: give the labels of the events of each sequence",
        ),
        (
            [["u", "v"], ["u", "v"]],
            "sequence s2: 2 labels for 3 events\n"
            "hint: give one label for each event, in the order of s",
        ),
        (
            [["u", None], ["u", "v", "v"]],
            "sequence s1: label 2 is missing\nhint: give one label for each event",
        ),
        (
            [["u", "v"], ["u", 2, "v"]],
            "some labels are text and some are not: 'u', and 2 in sequence s2\n"
            "hint: give all as text or all as numbers",
        ),
        (
            ["uv", ["u", "v", "v"]],
            "the labels of a sequence are 'uv'\nhint: give a list with one label for each event",
        ),
        (
            [["u", "u"], ["u", "u", "u"]],
            "all events have one label, 'u'\nhint: give events of at least two labels",
        ),
        (
            [["u", "v"], ["u", ["u", "v"], "v"]],
            "sequence s2: label 2 is ['u', 'v']\nhint: give a text or a number",
        ),
        (None, "y is missing\nhint: give for each sequence the labels of its events"),
        (5, "y is 5\nhint: give for each sequence the labels of its events"),
    ],
)
def test_labels_that_do_not_fit_are_reported(y, message):
    assert said(lambda: TildeCRF().fit(lists("ab", "aba"), y)) == message


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
def test_labels_that_do_not_fit_are_reported_after_fit_too(fitted, method):
    X, y = letters()
    message = (
        f"sequence s1: {len(y[0]) + 1} labels for {len(y[0])} events\n"
        "hint: give one label for each event, in the order of s"
    )
    assert said(lambda: getattr(fitted, method)(X[:1], [[*y[0], "a"]])) == message


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
def test_missing_labels_are_reported_after_fit_too(fitted, method):
    message = "y is missing\nhint: give for each sequence the labels of its events"
    assert said(lambda: getattr(fitted, method)(letters()[0], None)) == message


def test_no_events_have_no_score(fitted):
    message = "there are no events to label\nhint: give sequences with events"
    assert said(lambda: fitted.score(lists(""), [[]])) == message


def test_no_sequences_are_reported():
    X = lists("ab")[:0]
    message = "there are no sequences\nhint: give some with labels"
    assert said(lambda: TildeCRF().fit(X, [])) == message


def test_a_dimension_that_is_not_there_is_reported():
    message = "there is no dimension 'q'\nhint: give one of s"
    assert said(lambda: TildeCRF(dimension="q").fit(lists("ab"), [["u", "v"]])) == message


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("window", -1, "give a number of events from 0 to 10,000"),
        ("window", 10_001, "give a number of events from 0 to 10,000"),
        ("max_iter", 1.5, "give a number of rounds from 0 on"),
        ("max_depth", 0, "give a number of tests from 1 to 200"),
        ("max_depth", 201, "give a number of tests from 1 to 200"),
        ("dimension", 5, "give the name of a dimension, or None"),
        ("max_leaves", 1, "give a number of leaves from 2 on"),
        ("min_samples_leaf", 0, "give a number of examples from 1 on"),
        ("learning_rate", 0, "give a number above 0 and up to 1"),
        ("look_ahead", "yes", "give True or False"),
        ("n_iter_no_change", 0, "give a number of rounds from 1 on, or None to hold nothing out"),
        ("validation_fraction", 1.0, "give a number between 0 and 1"),
        ("bias", 3, "give a Bias, its text, or the path of its file, or None"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_reported(name, value, hint):
    model = TildeCRF(**{name: value})
    message = f"{name} is {value!r}\nhint: {hint}"
    assert said(lambda: model.fit(lists("ab"), [["u", "v"]])) == message
