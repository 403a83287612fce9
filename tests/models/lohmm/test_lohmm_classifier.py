"""The classifier by a logical hidden Markov model for each class."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from relynx import (
    Bias,
    BiasError,
    FisherKernelClassifier,
    FisherScores,
    InputError,
    LoHMM,
    LoHMMClassifier,
    Sequences,
    from_events,
    from_lists,
    parse_atom,
    parse_background,
    parse_bias,
)

LETTERS = [["a", "b", "a"], ["b", "a"], ["a", "a", "b"], ["b", "b"]]
CLASSES = ["up", "up", "down", "down"]
PLAIN = {"blocks": 1, "end": False}


@pytest.fixture(scope="module")
def letters():
    return from_lists(LETTERS, CLASSES)


def chains(seed, n=60):
    """Two classes of Markov chains on a, b: one keeps its letter, the other changes it."""
    rng = np.random.default_rng(seed)
    lists, labels = [], []
    for i in range(n):
        keeps = i % 2
        row = [int(rng.integers(2))]
        for _ in range(int(rng.integers(3, 8))):
            row.append(row[-1] if rng.random() < (0.8 if keeps else 0.2) else 1 - row[-1])
        lists.append([["a", "b"][v] for v in row])
        labels.append("keeps" if keeps else "changes")
    return from_lists(lists, labels)


# What is learnt


def counted_chain(lists, tokens, m):
    """The probabilities of a smoothed Markov chain that ends, by the names of its clauses."""
    counts = Counter()
    for row in lists:
        counts.update(pairwise(["start", *row, "end"]))
    chances = {}
    for before in ["start", *tokens]:
        after = [*tokens, "end"]
        total = sum(counts[before, token] + m for token in after)
        for token in after:
            head = "end" if token == "end" else f"in_{token}"
            body = "start" if before == "start" else f"{before} - in_{before}"
            chances[f"{head} <- {body}"] = (counts[before, token] + m) / total
    return chances


@given(
    st.lists(st.tuples(st.sampled_from("xy"), st.lists(st.sampled_from("abc"), max_size=4))),
    st.sampled_from([0.1, 1.0]),
)
def test_without_hidden_copies_it_is_a_smoothed_markov_chain(data, m):
    labels = ["x", "y", *(label for label, _ in data)]
    lists = [["a", "b"], ["b", "a"], *(row for _, row in data)]
    model = LoHMMClassifier(blocks=1, pseudo_count=m).fit(*from_lists(lists, labels))
    tokens = sorted({token for row in lists for token in row} | {"other"})
    for name, fitted in zip("xy", model.models_, strict=True):
        of_class = [row for row, label in zip(lists, labels, strict=True) if label == name]
        found = dict(zip(fitted.parameters.names, fitted.parameters.values, strict=True))
        assert found == pytest.approx(counted_chain(of_class, tokens, m))


def test_with_an_end_all_counts_are_those_of_a_markov_chain(letters):
    X, y = letters
    model = LoHMMClassifier(blocks=1, pseudo_count=1).fit(X, y)
    fitted = dict(
        zip(model.models_[1].parameters.names, model.models_[1].parameters.values, strict=True)
    )
    # Of up: a b a, b a. After a: b, end, end; after b: a, a. Four ways to go on, one count each.
    assert fitted["in_a <- start"] == pytest.approx((1 + 1) / (2 + 4))
    assert fitted["in_b <- a - in_a"] == pytest.approx((1 + 1) / (3 + 4))
    assert fitted["end <- a - in_a"] == pytest.approx((2 + 1) / (3 + 4))
    assert fitted["in_a <- b - in_b"] == pytest.approx((2 + 1) / (2 + 4))
    assert fitted["in_other <- b - in_b"] == pytest.approx(1 / (2 + 4))


def test_uses_are_how_often_the_training_sequences_take_each_parameter(letters):
    X, y = letters
    model = LoHMMClassifier(blocks=1).fit(X, y)
    names = model.models_[1].parameters.names
    used = {name: n for name, n in zip(names, model.uses_[1].tolist(), strict=True) if n > 1e-9}
    assert used == pytest.approx(
        {
            "in_a <- start": 1,
            "in_b <- start": 1,
            "in_b <- a - in_a": 1,
            "end <- a - in_a": 2,
            "in_a <- b - in_b": 2,
        }
    )


def test_order_is_learnt():
    X, y = chains(0)
    X_new, y_new = chains(1, n=200)
    assert LoHMMClassifier().fit(X, y).score(X_new, y_new) > 0.9


def test_values_are_drawn_by_kind_where_they_are_no_kinds():
    lists = [[("s", 1), ("s", 2)], [("s", 1), ("s", 1)], [("s", 3), ("s", 4)], [("s", 4), ("s", 3)]]
    X, y = from_lists(lists, ["low", "low", "high", "high"])
    model = LoHMMClassifier(max_kinds=1).fit(X, y)
    names = model.models_[1].parameters.names
    chance = dict(zip(names, model.models_[1].parameters.values.tolist(), strict=True))
    # Four draws of low: 1 three times, 2 once; five values with `other`.
    assert chance["select in_s(1)"] == pytest.approx(3.5 / 6.5)
    assert chance["select in_s(other)"] == pytest.approx(0.5 / 6.5)
    assert model.predict([[("s", 1)], [("s", 4)]]).tolist() == ["low", "high"]


def test_hidden_copies_learn_what_a_chain_cannot():
    # The third letter repeats the first; what is between tells nothing.
    lists = [["a", "c", "a"], ["b", "c", "b"], ["a", "c", "b"], ["b", "c", "a"]] * 10
    X, y = from_lists(lists, ["same", "same", "other", "other"] * 10)
    assert LoHMMClassifier().fit(X, y).score(X, y) == 0.5
    model = LoHMMClassifier(n_hidden=2, max_iter=200, tol=0, pseudo_count=0.01, random_state=0)
    assert model.fit(X, y).score(X, y) == 1


def test_blocks_learn_what_happens_late():
    early, late = ["b", "a", "a", "a", "a", "a"], ["a", "a", "a", "a", "b", "a"]
    X, y = from_lists([early, late] * 5, ["early", "late"] * 5)
    assert LoHMMClassifier(blocks=(1, 4)).fit(X, y).predict(X).tolist() == y.tolist()


def test_lengths_matter_by_the_end():
    X, y = from_lists([["a"] * 2, ["a"] * 6] * 5, ["short", "long"] * 5)
    new = [["a"] * 2, ["a"] * 7]
    assert LoHMMClassifier(blocks=1).fit(X, y).predict(new).tolist() == ["short", "long"]
    assert LoHMMClassifier(**PLAIN).fit(X, y).predict(new).tolist() == ["long", "long"]


def test_a_bias_chooses_predicates_derived_ones_too_and_the_order():
    rules = parse_background("big(E,B) :- size(E,B,_).")
    atoms = "next_s(e1,e2) next_t(e2,e1) size(e1,9,x) size(e2,1,y) colour(e1,red) colour(e2,red)"
    X = Sequences.from_atoms(
        [[parse_atom(a) for a in atoms.split()]] * 4, labels=[*"xyxy"], background=rules
    )
    bias = parse_bias("type(big(event,n)). mode(big(+,#)). dimension(next_t).")
    model = LoHMMClassifier(bias=bias).fit(X)
    assert [str(a) for a in model.reader_.observed(X).rows[0]] == ["big(1)", "big(9)"]
    assert {str(t.observation) for t in model.models_[0].transitions} == {
        "big(1)",
        "big(9)",
        "other",
    }


def test_arguments_without_constants_in_the_bias_make_no_kinds():
    X, y = from_lists([[("p", "a", 1)], [("p", "b", 2), ("p", "a", 1)]], ["x", "y"])
    bias = Bias({"p": ("event", "letter", "number")}, {"p": ("+#-",)}, dimensions=("s",))
    model = LoHMMClassifier(bias=bias).fit(X, y)
    shown = {str(t.observation) for t in model.models_[0].transitions}
    assert shown == {"p(a,V2)", "p(b,V2)", "other"}


# A structure that is given

STRUCTURE = """
type(s(letter)). type(see(letter)). values(letter,[a,b]).
1.0 : s(X) <- start.
0.5 : s(X) <- see(X) - s(X). 0.5 : s(Y) <- see(X) - s(X).
"""


def see(*words):
    return [[("see", letter) for letter in word] for word in words]


@pytest.mark.parametrize("given_structure", [STRUCTURE, LoHMM.parse(STRUCTURE)])
def test_a_given_structure_is_fitted_to_each_class(given_structure):
    X, y = from_lists(see("aaa", "bbb", "aba", "bab"), ["same", "same", "mixed", "mixed"])
    model = LoHMMClassifier(given_structure, pseudo_count=0.1).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    for c, name in enumerate(model.classes_.tolist()):
        rows = model.reader_.observed(X[y == name]).rows
        again = LoHMM.parse(STRUCTURE).fit(rows, pseudo_count=0.1, selection_pseudo_count=0.5)
        assert model.models_[c].parameters.values == pytest.approx(again.parameters.values)


def test_a_sequence_that_no_class_can_show_gets_the_prior():
    X, y = from_lists(see("aaa", "bbb", "aba", "bab"), ["same", "same", "mixed", "mixed"])
    model = LoHMMClassifier(STRUCTURE, prior={"same": 3, "mixed": 1}).fit(X, y)
    new = [[("see", "c")], ["new", "new"]]
    assert (model.log_likelihood(new) == -np.inf).all()
    assert model.predict_proba(new).tolist() == pytest.approx(np.array([[0.25, 0.75]] * 2))
    assert model.decision_function(new) == pytest.approx([math.log(3)] * 2)


def test_a_class_that_cannot_show_a_sequence_is_never_predicted():
    text = "1.0 : s <- start. 0.5 : s <- a - s. 0.5 : s <- b - s."
    X, y = from_lists([["a", "a"], ["b", "b"], ["b", "a"]], ["x", "y", "y"])
    model = LoHMMClassifier(text, pseudo_count=0).fit(X, y)
    assert model.predict_proba([["b", "b"]]).tolist() == [[0.0, 1.0]]
    assert model.decision_function([["b", "b"]])[0] > 1e8


# What it says


def test_the_posterior_is_likelihood_times_prior(letters):
    X, y = letters
    model = LoHMMClassifier(prior={"up": 3, "down": 1}).fit(X, y)
    joint = np.exp(model.log_likelihood(X)) * [0.25, 0.75]
    assert model.class_prior_.tolist() == [0.25, 0.75]
    assert model.predict_proba(X) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert model.predict_log_proba(X) == pytest.approx(np.log(model.predict_proba(X)))
    assert model.decision_function(X) == pytest.approx(np.log(joint[:, 1] / joint[:, 0]))


def test_with_three_classes_decisions_are_log_joints():
    X, y = from_lists([["a", "a"], ["b", "b"], ["c", "c"]] * 3, [1, 2, 3] * 3)
    model = LoHMMClassifier(prior="uniform").fit(X, y)
    assert model.decision_function(X) == pytest.approx(model.log_likelihood(X) + np.log(1 / 3))
    assert model.predict(X).tolist() == y.tolist()


def test_what_was_never_seen_is_unlikely_and_never_impossible(letters):
    model = LoHMMClassifier().fit(*letters)
    found = model.log_likelihood([["new", "b"], [], [("a2", "value")], ["a"], ["a", "b"]])
    assert np.isfinite(found).all()
    assert (found[0] < found[4]).all()


def test_sequences_without_events_are_learnt_from():
    X, y = from_lists([[], ["a", "b"], [], ["a"]], ["empty", "full", "empty", "full"])
    model = LoHMMClassifier().fit(X, y)
    assert model.predict([[], ["a", "b"]]).tolist() == ["empty", "full"]


def test_it_prints_what_is_special_about_each_class(letters):
    model = LoHMMClassifier(blocks=1, pseudo_count=1).fit(*letters)
    assert model.to_text(top=2) == (
        "2 models of 12 transitions from 3 bodies, 16 parameters\n"
        "\n"
        "class down, prior 0.500\n"
        "  0.429 : end <- b - in_b.  % others 0.167, used 2.0 times\n"
        "  0.333 : in_a <- a - in_a.  % others 0.143, used 1.0 times\n"
        "\n"
        "class up, prior 0.500\n"
        "  0.500 : in_a <- b - in_b.  % others 0.143, used 2.0 times\n"
        "  0.429 : end <- a - in_a.  % others 0.167, used 2.0 times"
    )
    assert str(model) == model.to_text()
    assert str(LoHMMClassifier(blocks=1)) == "LoHMMClassifier(blocks=1)"


def test_classes_that_are_alike_have_nothing_special():
    X, y = from_lists([["a", "a"], ["a", "a"]], ["x", "y"])
    text = str(LoHMMClassifier().fit(X, y))
    assert text.count("  nothing that the others do not have") == 2


# Tables of events


def orders(n=40, seed=0):
    """Orders of two events: those of class y have larger amounts."""
    rng = np.random.default_rng(seed)
    order = np.repeat(np.arange(n), 2)
    amount = np.round(rng.normal(order % 2 * 4, 1), 2)
    labels = np.where(order % 2, "y", "x")
    return {"order": order.tolist(), "amount": amount.tolist(), "class": labels.tolist()}


def read(frame, **options):
    return from_events(frame, sequence="order", label="class", **options)


@pytest.mark.parametrize(
    "estimator", [LoHMMClassifier(), FisherKernelClassifier(C=1.0), FisherScores()]
)
def test_numbers_that_wait_are_cut_by_the_classes_of_fit(estimator):
    X, y = read(orders(), bins="supervised")
    model = clone(estimator).fit(X, y)
    assert model.reading_ is not None
    assert model.reading_ != X.reading
    new, y_new = read(orders(seed=1), bins="supervised")
    if hasattr(model, "score"):
        assert model.score(new, y_new) > 0.9
    else:
        assert model.transform(new).shape[0] == len(new)


@pytest.mark.parametrize("estimator", [LoHMMClassifier(), FisherKernelClassifier(C=1.0)])
def test_a_table_that_was_read_in_another_way_is_refused(estimator):
    model = clone(estimator).fit(*read(orders()))
    other, _ = read(orders(), bins=[1, 2])
    with pytest.raises(InputError) as error:
        model.predict(other)
    wrong = other.reading.difference(model.reading_)
    assert str(error.value) == (
        f"this table was read in another way than that of the model: {wrong}\n"
        "hint: read it as that one: rx.from_events(frame, reading=model.reading_)"
    )


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"structure": 3},
            "structure is 3\n"
            "hint: a LoHMM, the text of one, or None to make one from the sequences",
        ),
        ({"bias": 3}, "bias is 3\nhint: give a Bias, its text, or the path of its file, or None"),
        ({"n_hidden": 0}, "n_hidden is 0\nhint: give a whole number from 1 on"),
        ({"max_kinds": True}, "max_kinds is True\nhint: give a whole number from 1 on"),
        ({"max_iter": -1}, "max_iter is -1\nhint: give a whole number from 0 on"),
        (
            {"blocks": (2, 3)},
            "blocks is (2, 3)\n"
            "hint: a number from 1 on, or the first steps of the blocks, (1, 8, 20) say",
        ),
        ({"selection": "all"}, "selection is 'all'\nhint: give 'argument' or 'type'"),
        (
            {"tol": -1, "pseudo_count": "a"},
            "tol is -1\nhint: give a number from 0 on\n"
            "pseudo_count is 'a'\nhint: give a number from 0 on",
        ),
        (
            {"prior": "even"},
            "prior is 'even'\nhint: give 'empirical' or 'uniform', or a weight for each class",
        ),
        (
            {"prior": {"up": 1}},
            "prior has no weight above 0 for the class 'down'\nhint: give one for each class",
        ),
        ({"dimension": "t"}, "there is no dimension 't'\nhint: give one of s"),
        ({"dimension": 3}, "dimension is 3\nhint: give the name of a dimension, or None"),
        ({"end": "no"}, "end is 'no'\nhint: give True or False"),
        (
            {"prior": np.array([1, 2])},
            "prior is array([1, 2])\n"
            "hint: give 'empirical' or 'uniform', or a weight for each class",
        ),
        (
            {"structure": "1.0 : s <- start. 1.0 : s <- a - s."},
            "sequence s1: the structure cannot show b at step 2\n"
            "hint: give the structure its predicate and values, or structure=None",
        ),
        (
            {"structure": "1 : s <- start. 0.5 : s <- a - s. 0.5 : s <- b - s. 0 : end <- a - s."},
            "sequence s1: the structure cannot show that it ends\n"
            "hint: give the structure its predicate and values, or structure=None",
        ),
    ],
)
def test_what_makes_no_model_is_refused(letters, options, message):
    with pytest.raises(InputError) as error:
        LoHMMClassifier(**options).fit(*letters)
    assert str(error.value) == message


def test_a_bias_of_unknown_predicates_is_refused(letters):
    bias = parse_bias("type(zz(event)). mode(zz(+)). dimension(next_s).")
    for estimator in (LoHMMClassifier(bias=bias), FisherKernelClassifier(bias=bias)):
        with pytest.raises(BiasError) as error:
            estimator.fit(*letters)
        assert error.value.problems[0].message == (
            "zz is in neither the data nor the background knowledge"
        )


def test_values_of_numpy_are_taken_for_parameters(letters):
    options = {"selection": np.str_("type"), "end": np.True_, "max_kinds": np.int64(9)}
    assert LoHMMClassifier(**options).fit(*letters).score(*letters) > 0.9


def test_one_class_is_refused():
    with pytest.raises(InputError) as error:
        LoHMMClassifier().fit([["a", "b"]], ["x"])
    assert str(error.value) == (
        "all sequences are of one class, 'x'\nhint: give sequences of at least two classes"
    )
