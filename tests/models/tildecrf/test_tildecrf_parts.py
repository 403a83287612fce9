"""What a conditional random field learnt is kept as plain values, and checked on the way back."""

import copy

import numpy as np
import pytest

from relynx import DataError, TildeCRF, TildeCRFClassifier, from_lists
from relynx.storage.archive import read_archive, write_archive
from relynx.storage.fields import restore, stored_state
from relynx.storage.parts import DAMAGED


@pytest.fixture(scope="module")
def state():
    X, y = from_lists([["a", "b"], ["b", "a"], ["c", "c"]] * 5, ["up", "down", "flat"] * 5)
    model = TildeCRFClassifier(window=1, max_iter=1).fit(X, y)
    return stored_state(model, model.STORED)


def part_of(tmp_path, state):
    write_archive(tmp_path / "m.relynx", "test", state)
    return read_archive(tmp_path / "m.relynx")[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["estimators_"].pop(), "estimators_ are not one for each pair of classes"),
        (lambda s: s["estimators_"].reverse(), "estimators_ are not one for each pair of classes"),
        (
            lambda s: s.update(class_prior_=np.array([0.5, 0.5, 0.5])),
            "class_prior_ are no shares that sum to 1",
        ),
        (lambda s: s.update(classes_=np.array([1])), "classes_ are not at least two classes"),
        (
            lambda s: s.update(places_=[["a", 1, 1]]),
            "places_ holds what is no argument of a predicate",
        ),
        (
            lambda s: s.update(bias_="type(a(event)). mode(a(+,+))."),
            "bias_ is no bias: a mode of a has 2 arguments, its type 1",
        ),
    ],
    ids=["one less", "another order", "no shares", "one class", "no place", "no bias"],
)
def test_a_forged_file_is_refused(change, message, state, tmp_path):
    forged = copy.deepcopy(state)
    change(forged)
    with pytest.raises(DataError) as error:
        restore(TildeCRFClassifier(window=1), part_of(tmp_path, forged), TildeCRFClassifier.STORED)
    assert str(error.value) == f"{tmp_path / 'm.relynx'}: {message}\nhint: {DAMAGED}"


@pytest.mark.parametrize("window", [-1, 10_001, True, "1"])
def test_a_window_that_cannot_be_is_refused(window, state, tmp_path):
    one = state["estimators_"][0] | {k: state[k] for k in ("bias_", "dimension_", "places_")}
    with pytest.raises(DataError) as error:
        restore(TildeCRF(window=window), part_of(tmp_path, one), TildeCRF.STORED)
    what = "trees_ have no window from 0 to 10000"
    assert str(error.value) == f"{tmp_path / 'm.relynx'}: {what}\nhint: {DAMAGED}"
