"""What `mine` says to sequences, classes and settings that have no meaning."""

import numpy as np
import pandas as pd
import pytest

import relynx as rx
from relynx.bias import Bias
from relynx.mining.search import mine

NAN = float("nan")
LISTS = [["a", "b"], ["a", "c", "b"], ["b", "a"]]


@pytest.fixture
def X():
    return rx.from_lists(LISTS)[0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"min_support": 1.5}, "min_support is 1.5: give a share from 0 to 1"),
        ({"min_frequency": -1}, "min_frequency is -1: give an integer of at least 0"),
        ({"max_length": 0}, "max_length is 0: give an integer of at least 1"),
        ({"max_gap": 0}, "max_gap is 0: give an integer of at least 1"),
        ({"min_support": NAN}, "min_support is nan: give a share from 0 to 1"),
        ({"min_support": "0.1"}, "min_support is '0.1': give a share from 0 to 1"),
        ({"min_support": True}, "min_support is True: give a share from 0 to 1"),
        ({"min_frequency": 2.0}, "min_frequency is 2.0: give an integer of at least 0"),
        ({"max_length": True}, "max_length is True: give an integer of at least 1"),
        ({"max_length": 10**9}, "max_length is 1000000000: give an integer of at most 10,000"),
        ({"max_gap": 10**9}, "max_gap is 1000000000: give an integer of at most 10,000"),
        ({"object_identity": "no"}, "object_identity is 'no': give True or False"),
        ({"min_confidence": NAN}, "min_confidence is nan: give a share from 0 to 1"),
        ({"min_confidence": 2}, "min_confidence is 2: give a share from 0 to 1"),
        (
            {"max_support": 0.3},
            "max_support is 0.3: give a share for each class that it is about, as in {'down': 0.1}",
        ),
        ({"max_support": {"left": 0.3}}, "unknown class 'left': the classes are 'down', 'up'"),
        (
            {"max_support": {"up": NAN}},
            "max_support of 'up' is nan: give a share from 0.0 to 1.0, or a number of sequences, "
            "an integer of at least 0",
        ),
        ({"closed": "no"}, "closed is 'no': give True or False"),
        ({"min_cover": 1.5}, "min_cover is 1.5: give an integer of at least 0"),
        ({"top_k": -1}, "top_k is -1: give an integer of at least 0"),
        (
            {"measure": None},
            "unknown measure None: give one of frequency, length, support, confidence, "
            "growth_rate, wracc, chi2, information_gain",
        ),
        ({"measure": "chi"}, "unknown measure 'chi': did you mean 'chi2'?"),
        ({"time_limit": NAN}, "time_limit is nan: give seconds, 0 or more, or None for no limit"),
        (
            {"memory_limit": "1 GB"},
            "memory_limit is '1 GB': give bytes, 0 or more, or None for no limit",
        ),
        ({"progress": 3}, "progress is 3: give a function of one argument"),
    ],
)
def test_a_setting_without_meaning_is_refused_before_the_search(X, setting, message):
    with pytest.raises(rx.InputError) as caught:
        mine(X, ["up", "up", "down"], **setting)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["up", None, "up"], "y[1] is None: give every sequence a label, text or a finite number"),
        ([1.0, NAN, 1.0], "y[1] is nan: give every sequence a label, text or a finite number"),
        (
            np.array([[1], [2], [1]]),
            "y[0] is array([1]): give every sequence a label, text or a finite number",
        ),
        ("uud", "y is a str: give a list or an array, a label a sequence"),
        ({"a", "b", "c"}, "y is a set: give a list or an array, a label a sequence"),
        ({"a": 1}, "y is a dict: give a list or an array, a label a sequence"),
        (3, "y is a int: give a list or an array, a label a sequence"),
        (["up"], "1 label in y for 3 sequences in X"),
        ([], "0 labels in y for 3 sequences in X"),
    ],
)
def test_labels_that_are_none_are_refused(X, y, message):
    with pytest.raises(rx.DataError) as caught:
        mine(X, y)
    assert str(caught.value) == message


def test_one_sequence_is_counted_as_one():
    X = rx.from_lists([["a"]])[0]
    with pytest.raises(rx.DataError) as caught:
        mine(X, ["up", "down"])
    assert str(caught.value) == "2 labels in y for 1 sequence in X"


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.Series(["up", "up", "down"], index=[7, 3, 5]), ("down", "up")),
        (pd.Categorical(["up", "up", "down"]), ("down", "up")),
        (("up", "up", "down"), ("down", "up")),
        ((label for label in ["up", "up", "down"]), ("down", "up")),
        (np.array([2, 2, 1]), (1, 2)),
        ([True, True, False], ("false", "true")),
        (["up", 1, 1], (1, "up")),
    ],
)
def test_any_list_or_array_of_labels_is_taken(X, y, classes):
    found = mine(X, y, max_length=1)
    assert found.classes == classes
    assert found.class_sizes.sum() == 3


@pytest.mark.parametrize(
    ("X", "bias", "message"),
    [
        (LISTS, None, "X is a list: give Sequences"),
        (rx.from_lists(LISTS), None, "X is a tuple: give Sequences"),
        (None, None, "X is a NoneType: give Sequences"),
    ],
)
def test_something_else_than_sequences_is_refused(X, bias, message):
    with pytest.raises(TypeError) as caught:
        mine(X, bias=bias)
    assert str(caught.value) == message


def test_very_large_settings_mean_as_much_as_there_is(X):
    whole = mine(X, max_length=3, max_gap=2)
    assert list(mine(X, max_length=10_000, max_gap=10_000).texts()) == list(whole.texts())
    assert len(mine(X, min_frequency=10**30)) == 0


def test_a_cover_of_none_is_no_filter(X):
    bias = rx.parse_bias(f"{Bias.infer(X)} mincover(0).")
    assert list(mine(X, bias=bias).texts()) == list(mine(X).texts())


def test_a_class_may_be_named_as_it_was_given(X):
    found = mine(X, [True, True, False], max_length=1, max_support={False: 0.0})
    assert list(found.texts()) == ["c(A)"]
    assert found.measure("support", True).tolist() == [0.5]
