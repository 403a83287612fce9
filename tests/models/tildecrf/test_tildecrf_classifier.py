"""`TildeCRFClassifier`: pairs of classes, read-outs, and what it prints."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from relynx import (
    InputError,
    Sequences,
    TildeCRF,
    TildeCRFClassifier,
    from_events,
    from_lists,
    load_protein_folds,
    parse_bias,
    planted_rule,
)
from relynx.models.observations import observed_arguments
from relynx.models.tildecrf.estimator import wide_bias

READOUTS = ("constant", "viterbi", "marginals")
TRAININGS = ("constant", "chain")

QUICK = {"max_iter": 8}


def three_classes(seed: int = 0, n: int = 60) -> tuple[Sequences, list[str]]:
    """`ab` somewhere, else `ba` somewhere, else neither."""
    rng = np.random.default_rng(seed)
    rows = [
        [str(c) for c in rng.choice(["a", "b", "c"], int(rng.integers(3, 6)))] for _ in range(n)
    ]
    texts = ["".join(row) for row in rows]
    return from_lists(rows)[0], [
        "ab" if "ab" in t else "ba" if "ba" in t else "none" for t in texts
    ]


@pytest.fixture(scope="module")
def fitted() -> TildeCRFClassifier:
    return TildeCRFClassifier(max_iter=30).fit(*three_classes())


def test_it_learns_which_letters_are_neighbours(fitted):
    X, y = three_classes(1)
    assert fitted.score(X, y) > 0.9


def test_there_is_a_model_for_each_pair_of_classes(fitted):
    pairs = [["ab", "ba"], ["ab", "none"], ["ba", "none"]]
    assert [model.classes_.tolist() for model in fitted.estimators_] == pairs
    assert all(isinstance(model, TildeCRF) for model in fitted.estimators_)
    assert fitted.class_prior_.sum() == pytest.approx(1)
    X, _ = three_classes(1)
    assert set(np.concatenate(fitted.estimators_[0].predict(X))) <= {"ab", "ba"}


def test_a_variable_that_two_events_share_is_found():
    X, y = planted_rule(200, n_events=4, random_state=0)
    X_new, y_new = planted_rule(200, n_events=4, random_state=1)
    model = TildeCRFClassifier(window=3).fit(X, y)
    assert model.score(X_new, y_new) > 0.95
    assert "V1" in str(model)


@pytest.mark.parametrize("training", TRAININGS)
@pytest.mark.parametrize("readout", READOUTS)
def test_every_training_has_every_read_out(training, readout):
    X, y = three_classes()
    model = TildeCRFClassifier(max_iter=15, training=training, readout=readout).fit(X, y)
    shares = model.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    predicted = model.predict(X)
    assert (model.classes_[shares.argmax(axis=1)] == predicted).all()
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == predicted).all()
    assert np.mean(predicted == y) > 0.7


@pytest.mark.parametrize("training", TRAININGS)
@pytest.mark.parametrize("readout", READOUTS)
def test_the_order_of_two_classes_does_not_matter(training, readout):
    X, y = three_classes()
    one = np.where(np.array(y) == "ab", "first", "second")
    other = np.where(np.array(y) == "ab", "z", "a")
    model = TildeCRFClassifier(training=training, readout=readout, **QUICK)
    X_new, _ = three_classes(1)
    first = clone(model).fit(X, one)
    second = clone(model).fit(X, other)
    assert np.allclose(first.predict_proba(X_new), second.predict_proba(X_new)[:, ::-1])
    names = {"first": "z", "second": "a"}
    assert [names[c] for c in first.predict(X_new)] == second.predict(X_new).tolist()


@pytest.mark.parametrize("readout", READOUTS)
def test_of_two_classes_the_sign_of_the_decision_is_the_class(readout):
    X, y = three_classes()
    two = np.where(np.array(y) == "ab", "no", "yes")
    model = TildeCRFClassifier(readout=readout, **QUICK).fit(X, two)
    values = model.decision_function(X)
    assert values.shape == (len(X),)
    assert (np.where(values > 0, "yes", "no") == model.predict(X)).all()
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_the_decision_on_a_long_sequence_is_a_number():
    """The share of its class is 1, as far as numbers tell."""
    X, y = from_lists([["a"] * 20, ["b"] * 20] * 5, ["u", "v"] * 5)
    model = TildeCRFClassifier(max_iter=20).fit(X, y)
    long, _ = from_lists([["a"] * 4000, ["b"] * 4000])
    low, high = model.decision_function(long)
    assert -np.inf < low < -700
    assert 700 < high < np.inf


def test_the_constant_read_out_compares_the_two_constant_paths():
    X, y = three_classes()
    two = np.where(np.array(y) == "ab", "no", "yes")
    model = TildeCRFClassifier(training="chain", **QUICK).fit(X, two)
    (pair,) = model.estimators_
    counts = [len(row) for row in pair.predict(X)]
    logs = [pair.log_likelihood(X, [[c] * n for n in counts]) for c in ("no", "yes")]
    assert model.decision_function(X) == pytest.approx(logs[1] - logs[0])


def test_the_other_read_outs_are_means_over_the_events():
    X, y = three_classes()
    two = np.where(np.array(y) == "ab", "no", "yes")
    model = TildeCRFClassifier(training="chain", readout="viterbi", **QUICK).fit(X, two)
    (pair,) = model.estimators_
    expected = [np.mean(row == "yes") for row in pair.predict(X)]
    found = model.predict_proba(X)[:, 1]
    tied = np.isclose(expected, 0.5)
    assert found[~tied] == pytest.approx(np.array(expected)[~tied])
    model.set_params(readout="marginals")
    expected = [row[:, 1].mean() for row in pair.predict_marginals(X)]
    assert model.predict_proba(X)[:, 1] == pytest.approx(expected)


def test_a_sequence_without_events_is_of_the_larger_class():
    X, y = three_classes()
    two = np.where(np.array(y) == "none", "no", "yes")
    larger = "no" if np.mean(two == "no") > 0.5 else "yes"
    nothing, _ = from_lists([[], ["a", "b"]])
    for readout in READOUTS:
        model = TildeCRFClassifier(readout=readout, **QUICK).fit(X, two)
        assert model.predict(nothing)[0] == larger


def test_early_stopping_holds_out_some_of_each_class():
    X, y = three_classes()
    mixed = np.random.default_rng(0).permutation(y)  # nothing can be learnt
    model = TildeCRFClassifier(
        max_iter=40, n_iter_no_change=2, learning_rate=1.0, random_state=0
    ).fit(X, mixed)
    for pair in model.estimators_:
        assert len(pair.trees_) == np.argmax(pair.held_out_) < 40
        assert len(pair.held_out_) == len(pair.trees_) + 3


def test_classes_may_be_numbers():
    X, y = three_classes()
    numbers = [{"ab": 1, "ba": 2, "none": 3}[label] for label in y]
    model = TildeCRFClassifier(**QUICK).fit(X, numbers)
    assert set(model.predict(X)) <= {1, 2, 3}


def test_classes_of_the_sequences_are_taken_without_y():
    X, y = three_classes()
    with_labels = TildeCRFClassifier(**QUICK).fit(X.with_labels(y))
    assert (
        with_labels.predict(X).tolist() == TildeCRFClassifier(**QUICK).fit(X, y).predict(X).tolist()
    )


def test_it_prints_the_trees_of_each_pair():
    X, y = from_lists([["a", "a"], ["b", "b"]] * 4, ["1", "2"] * 4)
    bias = parse_bias("type(a(event)). mode(a(+)).")
    model = TildeCRFClassifier(bias, window=0, max_iter=2).fit(X, y)
    assert str(model).splitlines() == [
        "1 (+) against 2 (-); 2 rounds",
        "",
        "round 1:",
        "if a(E0): +0.5",
        "else: -0.5",
        "",
        "round 2:",
        "if a(E0): +0.354",
        "else: -0.354",
    ]
    assert str(clone(model)).startswith("TildeCRFClassifier(")
    chain = clone(model).set_params(training="chain", max_iter=1).fit(X, y)
    assert str(chain).splitlines()[:3] == ["labels 1, 2; 1 round", "", "round 1, 1:"]


def test_a_given_bias_is_used():
    X, y = three_classes()
    bias = parse_bias("type(a(event)). mode(a(+)). type(b(event)). mode(b(+)). dimension(next_s).")
    model = TildeCRFClassifier(bias, **QUICK).fit(X, y)
    assert model.bias_ == bias
    assert "c(E" not in model.to_text(rounds=None)


def test_constant_training_does_not_test_the_label_before():
    """It would tell the first event from the others, which no fact does here."""
    names = ("first", "last", "event")
    rows = [[[*names, "a"], [*names]], [[*names], [*names, "a"]]] * 9
    X, y = from_lists(rows, ["u", "v"] * 9)
    bias = parse_bias(" ".join(f"type({name}(event)). mode({name}(+))." for name in (*names, "a")))
    text = TildeCRFClassifier(bias, window=0, **QUICK).fit(X, y).to_text(rounds=None)
    assert "prev(" not in text
    chain = TildeCRFClassifier(bias, window=0, training="chain", **QUICK).fit(X, y)
    assert "prev(" in chain.to_text(rounds=None)


def orders(seed: int = 0):
    """Orders of two events: those of class y have larger amounts; they are cut by class."""
    rng = np.random.default_rng(seed)
    order = np.repeat(np.arange(40), 2)
    amount = np.round(rng.normal(order % 2 * 4, 1), 2)
    frame = {"order": order, "amount": amount, "class": np.where(order % 2, "y", "x")}
    columns = {name: values.tolist() for name, values in frame.items()}
    return from_events(columns, sequence="order", label="class", bins="supervised")


def test_numbers_that_wait_are_cut_by_the_classes_of_fit():
    X, y = orders()
    model = TildeCRFClassifier(**QUICK).fit(X, y)
    assert model.reading_ != X.reading
    assert model.score(*orders(seed=1)) > 0.9


def test_the_inferred_language_leaves_nothing_out():
    """`Bias.infer` narrows its language where a search would find too many patterns."""
    folds = load_protein_folds()
    bias = wide_bias(folds.X, observed_arguments(folds.X))
    assert "ladder" in bias.types
    assert bias.modes["he"] == (("+", "*", "*", "*"),)


def test_an_attribute_of_the_sequence_is_learnt():
    letters = np.random.default_rng(0).choice(["a", "b"], 60).tolist()
    kinds = np.repeat(["m", "f"] * 10, 3).tolist()
    frame = {"id": np.repeat(np.arange(20), 3).tolist(), "what": letters, "sex": kinds}
    X, _ = from_events(frame, sequence="id", attributes=["sex"])
    model = TildeCRFClassifier(max_iter=2).fit(X, ["x", "y"] * 10)
    assert "if sex(f): -0.5\nelse: +0.5" in str(model)
    assert model.predict(X[:2]).tolist() == ["x", "y"]


# Messages


def said(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"training": "path"}, "training is 'path'\nhint: give 'constant' or 'chain'"),
        (
            {"readout": "best"},
            "readout is 'best'\nhint: give 'constant' or 'viterbi' or 'marginals'",
        ),
        (
            {"window": 0.5, "max_leaves": 1},
            "window is 0.5\nhint: give a number of events from 0 to 10,000\n"
            "max_leaves is 1\nhint: give a number of leaves from 2 on",
        ),
    ],
)
def test_a_parameter_that_makes_no_sense_is_reported(params, message):
    X, y = three_classes(n=9)
    assert said(lambda: TildeCRFClassifier(**params).fit(X, y)) == message


def test_one_class_is_reported():
    X, _ = three_classes(n=3)
    message = "all sequences are of one class, 'u'\nhint: give sequences of at least two classes"
    assert said(lambda: TildeCRFClassifier().fit(X, ["u"] * 3)) == message


def test_sequences_without_a_dimension_are_reported():
    X, _ = from_lists([["a"], ["b"]])
    message = (
        "the sequences have no dimension: no event follows another\n"
        "hint: link the events by facts such as next_s(e1,e2)"
    )
    assert said(lambda: TildeCRFClassifier().fit(X, ["u", "v"])) == message
