"""Fisher scores, and the classifier on them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from relynx import (
    FisherKernelClassifier,
    FisherScores,
    InputError,
    LoHMM,
    LoHMMClassifier,
    from_lists,
    load_protein_folds,
    parse_atom,
)
from relynx.models.fisher.classifier import fisher_scores
from relynx.models.fisher.pair_svm import kernel

STEP = 1e-5
USERS = """
type(emacs(file,user)). type(ls(user)). type(latex(file,user)). type(emacs(file)).
type(latex(file)). values(file,[f1,f2]). values(user,[tex,other]).
select(emacs(F,U),F,[0.3,0.7]). select(ls(U),U,[0.8,0.2]).
0.55 : emacs(F,U) <- start. 0.45 : ls(U) <- start.
0.7 : ls(V) <- emacs(F) - emacs(F,U). 0.3 : emacs(G,U) <- emacs(F) - emacs(F,U).
0.6 : latex(F,tex) <- emacs(F) - emacs(F,tex). 0.3 : ls(V) <- emacs(F) - emacs(F,tex).
0.1 : emacs(G,V) <- emacs(F) - emacs(F,tex).
0.4 : ls(U) <- ls - ls(U). 0.6 : emacs(F,V) <- ls - ls(U).
0.2 : ls(V) <- latex(F) - latex(F,tex). 0.2 : emacs(F,tex) <- latex(F) - latex(F,tex).
0.6 : emacs(G,V) <- latex(F) - latex(F,tex).
"""
HIDDEN = """
blocks([1,3]).
0.4 : s <- start. 0.6 : t <- start.
0.5 : s <- a - s, block(1). 0.3 : t <- b - s, block(1). 0.2 : t <- a - s, block(1).
0.1 : s <- a - s, block(2). 0.3 : t <- b - s, block(2). 0.6 : t <- a - s, block(2).
0.7 : s <- a - t. 0.3 : t <- b - t.
"""
ENDING = """
type(s(t)). type(o(t)). values(t,[a,b,c]). select(s(X),X,[0.5,0.3,0.2]).
1.0 : s(X) <- start.
0.5 : s(X) <- o(X) - s(X). 0.3 : s(Y) <- o(X) - s(X). 0.2 : end <- o(X) - s(X).
"""
MODELS = {
    "users": (USERS, ["emacs(f1)", "emacs(f2)", "latex(f1)", "latex(f2)", "ls"]),
    "hidden": (HIDDEN, ["a", "b"]),
    "ending": (ENDING, ["o(a)", "o(b)", "o(c)"]),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    """A model, and all sequences of up to three of its observations that it can show."""
    text, alphabet = MODELS[request.param]
    model = LoHMM.parse(text)
    atoms = [parse_atom(a) for a in alphabet]
    sequences = [[*row] for n in range(4) for row in product(atoms, repeat=n)]
    possible = np.isfinite(model.log_probability(sequences))
    return model, [row for row, good in zip(sequences, possible, strict=True) if good]


def slope(model, sequences, moved):
    """The central difference of the log probability, where `moved(h)` gives the parameters."""
    up = model.with_parameters(moved(STEP)).log_probability(sequences)
    down = model.with_parameters(moved(-STEP)).log_probability(sequences)
    return (up - down) / (2 * STEP)


def soft(values, groups):
    return values / np.bincount(groups, weights=values)[groups]


# Scores


def test_raw_scores_are_the_slopes_by_the_probabilities(case):
    model, sequences = case
    values = model.parameters.values
    scores = fisher_scores(model, sequences, "raw")
    for j in range(len(values)):
        unit = np.eye(len(values))[j]
        found = slope(model, sequences, lambda h, unit=unit: values + h * unit)
        assert scores[:, j] == pytest.approx(found, abs=1e-6)


def test_softmax_scores_are_the_slopes_by_the_logits(case):
    model, sequences = case
    values, groups = model.parameters.values, model.parameters.groups
    scores = fisher_scores(model, sequences)
    for j in range(len(values)):
        unit = np.eye(len(values))[j]
        found = slope(
            model, sequences, lambda h, unit=unit: soft(values * np.exp(h * unit), groups)
        )
        assert scores[:, j] == pytest.approx(found, abs=1e-6)


def test_softmax_scores_of_each_distribution_sum_to_0(case):
    model, sequences = case
    scores, groups = fisher_scores(model, sequences), model.parameters.groups
    for group in set(groups.tolist()):
        assert scores[:, groups == group].sum(axis=1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["users", "hidden"])
def test_scores_have_mean_0_under_the_model(name, length):
    text, alphabet = MODELS[name]
    model = LoHMM.parse(text)
    atoms = [parse_atom(a) for a in alphabet]
    sequences = [[*row] for row in product(atoms, repeat=length)]
    chances = np.exp(model.log_probability(sequences))
    assert chances.sum() == pytest.approx(1)
    assert chances @ fisher_scores(model, sequences) == pytest.approx(0, abs=1e-12)


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_the_scores_of_one_state_are_counts(letters):
    model = LoHMM.parse("1.0 : s <- start. 0.5 : s <- a - s. 0.3 : s <- b - s. 0.2 : s <- c - s.")
    row = [parse_atom(letter) for letter in letters]
    counts = np.array([letters.count(letter) for letter in "abc"])
    p = np.array([0.5, 0.3, 0.2])
    assert fisher_scores(model, [row], "raw")[0, 1:] == pytest.approx(counts / p)
    assert fisher_scores(model, [row])[0, 1:] == pytest.approx(counts - p * len(letters))


def test_a_sequence_that_cannot_be_shown_has_zeros():
    model = LoHMM.parse(USERS)
    impossible = [parse_atom("emacs(f1)"), parse_atom("latex(f2)")]
    for coordinates in ("raw", "softmax"):
        assert not fisher_scores(model, [impossible], coordinates).any()


def test_a_parameter_of_probability_0_has_the_score_0():
    model = LoHMM.parse("1.0 : s <- start. 1.0 : s <- a - s. 0.0 : s <- b - s.")
    assert fisher_scores(model, [[parse_atom("a")]], "raw").tolist() == [[1.0, 1.0, 0.0]]


# The transformer


@pytest.fixture(scope="module")
def letters():
    rows = [["a", "b", "a"], ["b", "a", "b"], ["a", "a", "b"], ["b", "b"], ["a", "b"], ["a", "a"]]
    return from_lists(rows * 3, ["up", "up", "down", "down", "up", "down"] * 3)


def test_the_columns_are_the_scores_of_the_model_of_each_class(letters):
    X, y = letters
    transformer = FisherScores().fit(X, y)
    twin = LoHMMClassifier().fit(X, y)
    rows = twin.reader_.rows(X, twin.models_[0])
    scores = [fisher_scores(model, rows) for model in twin.models_]
    assert np.array_equal(transformer.transform(X), np.hstack(scores))
    assert transformer.classes_.tolist() == ["down", "up"]
    assert [*map(str, transformer.models_)] == [*map(str, twin.models_)]


def test_one_model_of_all_sequences_needs_no_classes(letters):
    X, _ = letters
    transformer = FisherScores(models="single", coordinates="raw").fit(
        [["a", "b"], ["b", "a", "a"]]
    )
    assert transformer.classes_ is None
    names = transformer.get_feature_names_out()
    assert names.tolist() == [*transformer.models_[0].parameters.names]
    assert transformer.transform(X).shape == (len(X), len(names))
    # At the maximum, without pseudo-counts, the scores of the training sequences sum to 0.
    free = FisherScores(models="single", pseudo_count=0, selection_pseudo_count=0).fit(X)
    assert free.transform(X).sum(axis=0) == pytest.approx(0, abs=1e-9)


def test_names_are_the_class_and_the_parameter(letters):
    names = FisherScores(blocks=1).fit(*letters).get_feature_names_out()
    assert names[:4].tolist() == [
        "down: end <- start",
        "down: in_a <- start",
        "down: in_b <- start",
        "down: in_other <- start",
    ]
    assert names[16] == "up: end <- start"
    assert len(names) == 32


def test_a_sequence_twice_has_the_same_row_twice(letters):
    scores = FisherScores(n_hidden=2, random_state=0).fit(*letters).transform(letters[0])
    assert np.array_equal(scores[:6], scores[6:12])
    assert np.unique(scores, axis=0).shape[0] == 6


def test_data_frames_have_the_names_as_columns(letters):
    X, y = letters
    transformer = FisherScores(blocks=1).set_output(transform="pandas")
    frame = transformer.fit_transform(X, y)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == transformer.get_feature_names_out().tolist()


def test_scores_stand_in_a_pipeline(letters):
    X, y = letters
    model = make_pipeline(FisherScores(), LogisticRegression()).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


# The classifier


def test_the_kernel_of_scores_is_symmetric_and_has_no_negative_eigenvalue(letters):
    U = FisherScores().fit(*letters).transform(letters[0])
    for gamma in (None, 0.1):
        K = kernel(U, gamma)
        assert np.array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-9


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"standardise": True, "C": 2.0}])
def test_classes_are_learnt(letters, options):
    X, y = letters
    model = FisherKernelClassifier(random_state=0, **options).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert ((model.decision_function(X) > 0) == (y == "up")).all()


def test_columns_that_do_not_vary_are_dropped(letters):
    model = FisherKernelClassifier(random_state=0).fit(*letters)
    scores = model.scores_.transform(letters[0])
    still = np.setdiff1d(np.arange(scores.shape[1]), model.columns_)
    assert len(still) > 0
    assert np.ptp(scores[:, still], axis=0).max() < 1e-8
    assert np.ptp(scores[:, model.columns_], axis=0).min() > 1e-9


def test_columns_are_standardised_on_the_training_sequences_only(letters):
    X, y = letters
    model = FisherKernelClassifier(standardise=True, normalise=False, C=1.0).fit(X, y)
    U = model._rows(model.scores_.transform(X))
    assert U.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert U.std(axis=0) == pytest.approx(1)
    before = model.mean_.copy(), model.scale_.copy()
    model.predict(X[:3])
    assert np.array_equal(before, (model.mean_, model.scale_))


def test_rows_have_length_1_and_blank_ones_length_0(letters):
    model = FisherKernelClassifier(C=1.0).fit(*letters)
    U = model._rows(model.scores_.transform(letters[0]))
    assert np.linalg.norm(U, axis=1) == pytest.approx(1)
    assert not model._rows(np.zeros((1, model.scores_.transform(letters[0]).shape[1]))).any()


def test_sequences_that_are_all_alike_are_learnt_without_a_column():
    X, y = from_lists([["a", "b"]] * 6, ["x", "y"] * 3)
    for name in ("linear", "rbf"):
        model = FisherKernelClassifier(kernel=name, random_state=0).fit(X, y)
        assert len(model.columns_) == 0
        assert len(set(model.predict(X).tolist())) == 1


def test_the_cost_is_the_given_one_or_chosen_by_the_seed(letters):
    assert FisherKernelClassifier(C=3).fit(*letters).C_ == 3.0
    chosen = {FisherKernelClassifier(random_state=1).fit(*letters).C_ for _ in range(2)}
    assert len(chosen) == 1


def test_a_class_of_one_sequence_is_learnt(letters):
    X, y = letters
    labels = np.where(np.arange(len(y)) == 3, "rare", y)
    model = FisherKernelClassifier(random_state=0).fit(X, labels)
    assert model.C_ == 1.0
    assert set(model.predict(X)) <= {"up", "down", "rare"}


def test_the_folds_are_told_apart_better_than_by_the_models_alone():
    data = load_protein_folds()
    train, test = np.arange(0, len(data.X), 2), np.arange(1, len(data.X), 4)
    scores = [
        model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test])
        for model in (LoHMMClassifier(), FisherKernelClassifier(C=4.0))
    ]
    assert 0.8 < scores[0] < scores[1]


@settings(max_examples=10)
@given(st.lists(st.lists(st.sampled_from("abn"), max_size=4), min_size=1, max_size=5))
def test_any_sequence_is_classified(lists):
    X, y = from_lists([["a", "b"], ["b", "a"]] * 2, ["x", "y"] * 2)
    model = FisherKernelClassifier(C=1.0).fit(X, y)
    assert np.isfinite(model.decision_function([["a", "b"], *lists])).all()


def test_it_prints_what_tells_each_pair_apart(letters):
    X, y = letters
    model = FisherKernelClassifier(blocks=1, C=2.0, models="single").fit(X, y)
    text = model.to_text(top=1)
    head, *sides = text.split("\n\n")
    assert head == (
        "Fisher scores: 1 model of 16 parameters each, 10 columns that vary; linear kernel, C = 2"
    )
    names = model.scores_.get_feature_names_out()[model.columns_]
    weights = model.machine_.vectors[0]
    assert sides == [
        f"down, and not up\n  {-weights.min():.3f} * {names[weights.argmin()]}",
        f"up, and not down\n  {weights.max():.3f} * {names[weights.argmax()]}",
    ]
    assert str(model) == model.to_text()
    assert str(FisherKernelClassifier(C=2.0)) == "FisherKernelClassifier(C=2.0)"


def test_of_many_classes_it_prints_the_first_pairs():
    lists = [[f"a{i}", "b", f"a{i}"] for i in range(11)] * 2
    model = FisherKernelClassifier(C=1.0, blocks=1).fit(lists, [f"c{i:02}" for i in range(11)] * 2)
    lines = str(model).splitlines()
    assert sum(", and not " in line for line in lines) == 2 * 45
    assert lines[-1] == "and 10 more pairs"


def test_of_machines_without_weights_it_prints_the_size(letters):
    model = FisherKernelClassifier(blocks=1, C=2.0, kernel="rbf", gamma=0.5).fit(*letters)
    last = str(model).splitlines()[-1]
    assert last == f"{len(model.machine_.vectors)} support vectors, gamma = 0.5"


# What is refused


@pytest.mark.parametrize("estimator", [FisherScores, FisherKernelClassifier])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": "all"}, "models is 'all'\nhint: give 'per_class' or 'single'"),
        ({"coordinates": 1}, "coordinates is 1\nhint: give 'softmax' or 'raw'"),
        ({"n_hidden": 0.5}, "n_hidden is 0.5\nhint: give a whole number from 1 on"),
        ({"dimension": "t"}, "there is no dimension 't'\nhint: give one of s"),
    ],
)
def test_what_makes_no_scores_is_refused(letters, estimator, options, message):
    with pytest.raises(InputError) as error:
        estimator(**options).fit(*letters)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "poly"}, "kernel is 'poly'\nhint: give 'linear' or 'rbf'"),
        ({"gamma": 0}, "gamma is 0\nhint: give a number above 0, or 'scale'"),
        ({"standardise": "no"}, "standardise is 'no'\nhint: give True or False"),
        ({"normalise": 2}, "normalise is 2\nhint: give True or False"),
        ({"C": True}, "C is True\nhint: give a number above 0, or 'validated'"),
        (
            {"C": "best", "kernel": None},
            "kernel is None\nhint: give 'linear' or 'rbf'\n"
            "C is 'best'\nhint: give a number above 0, or 'validated'",
        ),
    ],
)
def test_what_makes_no_machine_is_refused(letters, options, message):
    with pytest.raises(InputError) as error:
        FisherKernelClassifier(**options).fit(*letters)
    assert str(error.value) == message


def test_one_class_and_no_class_are_refused(letters):
    with pytest.raises(InputError) as error:
        FisherKernelClassifier().fit([["a", "b"]], ["x"])
    assert str(error.value) == (
        "all sequences are of one class, 'x'\nhint: give sequences of at least two classes"
    )
    with pytest.raises(InputError) as error:
        FisherScores().fit([["a", "b"]])
    assert str(error.value) == "y is missing\nhint: give the class of each sequence"
    with pytest.raises(InputError) as error:
        FisherScores(models="single").fit(letters[0][:0])
    assert str(error.value) == "there are no sequences\nhint: give some to learn from"
