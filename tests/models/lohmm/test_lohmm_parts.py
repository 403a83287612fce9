"""The models of classes and the machines on their scores are kept as plain values and arrays."""

import copy

import numpy as np
import pytest

from relynx import (
    DataError,
    FisherKernelClassifier,
    FisherScores,
    InputError,
    LoHMM,
    LoHMMClassifier,
    from_events,
    from_lists,
    parse_bias,
)
from relynx.models.lohmm.estimator import STRUCTURE as STRUCTURES
from relynx.models.lohmm.estimator import lohmm_of, lohmm_state
from relynx.storage.archive import read_archive, write_archive
from relynx.storage.fields import restore, stored_state
from relynx.storage.parts import DAMAGED

BIAS = parse_bias("type(s(event,n)). mode(s(+,#)). dimension(next_s).")
STRUCTURE = "1 : s <- start. 0.5 : s <- a - s. 0.25 : s <- b - s. 0.25 : s <- c - s."
ESTIMATORS = {
    "lohmm": LoHMMClassifier(),
    "lohmm, hidden": LoHMMClassifier(n_hidden=2, random_state=0),
    "lohmm, given": LoHMMClassifier(STRUCTURE),
    "scores": FisherScores(),
    "scores, single": FisherScores(models="single"),
    "kernel": FisherKernelClassifier(C=1.0),
    "kernel, rbf": FisherKernelClassifier(C=1.0, kernel="rbf", standardise=True),
}


@pytest.fixture(scope="module")
def data():
    rows = [["a", "b", "a"], ["b", "c", "b"], ["a", "a", "b"], ["b", "b"], ["c", "b"], ["a", "c"]]
    return from_lists(rows, ["x", "y", "z"] * 2)


def learnt(estimator):
    """What an estimator learnt as plain values."""
    return stored_state(estimator, estimator.STORED)


def written(tmp_path, state):
    """The state as a file gives it back."""
    write_archive(tmp_path / "m.relynx", "test", state)
    return read_archive(tmp_path / "m.relynx")[1]


def restored(tmp_path, estimator, state):
    part = written(tmp_path, state)
    again = type(estimator)(**estimator.get_params(deep=False))
    restore(again, part, again.STORED)
    part.end()
    part.file.end()
    return again


def answers(estimator, X):
    names = ("decision_function", "transform", "predict", "predict_proba", "log_likelihood")
    found = [getattr(estimator, name)(X) for name in names if hasattr(estimator, name)]
    return [*found, str(estimator)]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_was_kept_answers_the_same(name, data, tmp_path):
    X, y = data
    estimator = ESTIMATORS[name].fit(X, y)
    again = restored(tmp_path, estimator, learnt(estimator))
    new, _ = from_lists([["a", "b"], ["b", "c", "a"]] + [["new", "a"]] * (name != "lohmm, given"))
    for one, other in zip(answers(estimator, new), answers(again, new), strict=True):
        assert np.array_equal(one, other)
    assert vars(again).keys() == vars(estimator).keys()
    model = again if hasattr(again, "models_") else again.scores_
    twin = estimator if hasattr(estimator, "models_") else estimator.scores_
    assert model.models_ == twin.models_
    assert [m.history for m in model.models_] == [m.history for m in twin.models_]


def test_machines_of_more_pairs_than_sequences_are_kept(data, tmp_path):
    estimator = FisherKernelClassifier(C=1.0).fit(data[0], list("abcdef"))
    assert estimator.machine_.weights.shape == (15, 6)
    again = restored(tmp_path, estimator, learnt(estimator))
    expected = estimator.decision_function(data[0])
    assert np.array_equal(again.decision_function(data[0]), expected)
    assert str(again) == str(estimator)


def test_the_predicates_of_a_bias_are_kept(tmp_path):
    X, y = from_lists([[("s", 1), ("t", 2)], [("t", 1), ("s", 2)]] * 2, ["x", "y"] * 2)
    estimator = LoHMMClassifier(bias=BIAS).fit(X, y)
    again = restored(tmp_path, estimator, learnt(estimator))
    assert again.reader_ == estimator.reader_
    assert np.array_equal(again.log_likelihood(X), estimator.log_likelihood(X))


def test_the_reading_of_a_table_is_kept(tmp_path):
    frame = {"order": [1, 1, 2, 2] * 3, "amount": [*range(12)], "class": ["x", "x", "y", "y"] * 3}
    X, y = from_events(frame, sequence="order", label="class")
    for estimator in (LoHMMClassifier(), FisherScores(), FisherKernelClassifier(C=1.0)):
        estimator.fit(X, y)
        again = restored(tmp_path, estimator, learnt(estimator))
        assert again.reading_ == estimator.reading_ == X.reading


@pytest.mark.parametrize("structure", [None, STRUCTURE, LoHMM.parse(STRUCTURE)])
def test_a_given_structure_is_kept_as_it_was_given(structure, tmp_path):
    part = written(tmp_path, {"structure": STRUCTURES.write(structure, "structure")})
    assert STRUCTURES.read(part, "structure", None) == structure
    part.end()


def damaged(state, place, value):
    """The state with another value at a place, `models_.values` say."""
    state = copy.deepcopy(state)
    *outer, last = place.split(".")
    inner = state
    for name in outer:
        inner = inner[name]
    inner[last] = value(inner[last]) if callable(value) else value
    return state


def with_first(number):
    """The same array with another number in its first place."""

    def change(array):
        changed = array.copy()
        changed.flat[0] = number
        return changed

    return change


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        (
            "lohmm",
            "models_.structure",
            "p.",
            "models_.structure is no model: unknown declaration 'p'",
        ),
        ("lohmm", "models_.values", lambda v: v * 2, "models_.values are no distributions"),
        ("lohmm", "models_.values", with_first(-0.5), "models_.values are no distributions"),
        (
            "lohmm",
            "models_.history",
            lambda h: h[:2],
            "models_.history is no list of numbers for each model",
        ),
        ("lohmm", "class_prior_", lambda p: p * 2, "class_prior_ are no shares that sum to 1"),
        (
            "lohmm",
            "reader_.places",
            [["a", 1, 1]],
            "reader_.places holds what is no argument of a predicate",
        ),
        ("lohmm", "reader_.places", [3], "reader_.places holds what is no argument of a predicate"),
        ("lohmm, given", "reader_.made", True, "reader_.made does not fit the models"),
        ("kernel", "classes_", np.array([1]), "classes_ are not at least two classes"),
        ("kernel", "scale_", lambda s: s * 0, "scale_ holds a number that is not above 0"),
        ("kernel", "machine_.gamma", 0.5, "machine_.gamma does not fit the kernel"),
        ("kernel, rbf", "machine_.gamma", None, "machine_.gamma does not fit the kernel"),
        ("kernel, rbf", "machine_.gamma", 0, "machine_.gamma does not fit the kernel"),
    ],
)
def test_a_file_that_was_changed_is_refused(name, place, value, message, data, tmp_path):
    estimator = ESTIMATORS[name].fit(*data)
    state = damaged(learnt(estimator), place, value)
    with pytest.raises(DataError) as error:
        restored(tmp_path, estimator, state)
    assert str(error.value) == f"{tmp_path / 'm.relynx'}: {message}\nhint: {DAMAGED}"


def test_a_model_whose_parameters_do_not_sum_to_1_is_not_kept():
    model = LoHMM.parse("1 : s <- start. 0.75 : s <- a - s. 0.25 : s <- b - s.")
    with pytest.raises(InputError) as error:
        lohmm_state(model.with_parameters([1, 0.5, 0.1]))
    assert str(error.value) == (
        "the distribution with s <- a - s sums to 0.6, not to 1\n"
        "hint: a model is kept when all of its sum to 1"
    )


def test_a_structure_without_a_model_is_refused(data, tmp_path):
    estimator = ESTIMATORS["lohmm"].fit(*data)
    state = learnt(estimator)["models_"]
    state |= {"values": state["values"][:0], "history": [], "penalised_history": []}
    with pytest.raises(DataError) as error:
        lohmm_of(written(tmp_path, {"model": state}))
    shape = state["values"].shape
    assert str(error.value) == (
        f"{tmp_path / 'm.relynx'}: model.values has the shape {shape}, not (1, {shape[1]})\n"
        f"hint: {DAMAGED}"
    )
