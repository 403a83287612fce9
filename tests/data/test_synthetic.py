"""Data made from a seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relynx import InputError, covers, planted_rule

RULE = "do(X,a0,O), follow_s(X,Y), do(Y,a1,O)"


@given(
    n=st.integers(1, 30),
    events=st.integers(2, 9),
    actions=st.integers(2, 4),
    objects=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_the_class_is_whether_the_rule_covers(n, events, actions, objects, seed):
    X, y = planted_rule(n, n_events=events, n_actions=actions, n_objects=objects, random_state=seed)
    assert len(X) == n
    assert np.array_equal(covers(RULE, X), y == "yes")


def test_half_of_the_sequences_are_of_each_class():
    _, y = planted_rule(101, random_state=3)
    assert sorted(np.unique(y, return_counts=True)[1].tolist()) == [50, 51]


def test_a_seed_gives_the_same_data_again():
    assert planted_rule(20, random_state=4)[0] == planted_rule(20, random_state=4)[0]
    assert planted_rule(20, random_state=4)[0] != planted_rule(20, random_state=5)[0]


def test_flipped_labels_are_as_many_as_asked_for():
    X, y = planted_rule(200, flip=0.05, random_state=0)
    assert ((y == "yes") != covers(RULE, X)).sum() == 10
    assert X.labels.tolist() == y.tolist()


def test_sizes_that_cannot_hold_the_rule_are_refused():
    with pytest.raises(InputError) as caught:
        planted_rule(10, n_events=1)
    assert str(caught.value) == (
        "1 events, 6 actions and 4 objects cannot hold the rule\n"
        "hint: give at least 2 events, 2 actions and 1 object"
    )


def test_a_share_above_one_is_refused():
    with pytest.raises(InputError) as caught:
        planted_rule(10, flip=5)
    assert str(caught.value) == "flip is 5\nhint: give a share from 0 to 1"
