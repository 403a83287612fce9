"""How the predicates of a dimension are named."""

import pytest

from relynx.logic.dimensions import link_name, operator_dimension


@pytest.mark.parametrize(
    ("predicate", "parts"),
    [
        ("next_s", ("next", "s")),
        ("follow_s", ("follow", "s")),
        ("followat_s", ("followat", "s")),
        ("next_a_b", ("next", "a_b")),
        ("follow_at_s", ("follow", "at_s")),
        ("next_", None),
        ("next", None),
        ("nexts_s", None),
        ("_s", None),
        ("", None),
    ],
)
def test_a_link_is_named_after_its_operator_and_dimension(predicate, parts):
    assert link_name(predicate) == parts


@pytest.mark.parametrize(
    ("key", "dimension"),
    [
        (("follow_s", 2), "s"),
        (("followat_s", 3), "s"),
        (("follow_s", 3), None),
        (("followat_s", 2), None),
        (("next_s", 2), None),
        (("follow_", 2), None),
        (("p", 2), None),
    ],
)
def test_an_operator_has_its_own_number_of_arguments(key, dimension):
    assert operator_dimension(key) == dimension
