"""Groups of sequences from a file."""

import pytest

from relynx import DataError
from relynx.models.evaluation.cross_validation import read_groups


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_groups_come_in_the_order_of_the_ids(here):
    (here / "g.csv").write_text('id,group\n\ns1, north \ns2,"south, far"\ns3,east\n1,west\n')
    assert read_groups("g.csv", ["s2", 1, "s1"]) == ["south, far", "west", "north"]


def test_a_line_may_come_twice_if_it_says_the_same(here):
    (here / "g.csv").write_text("id,group\ns1,a\ns1,a\n")
    assert read_groups("g.csv", ["s1"]) == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "s1,a\n",
            "g.csv: the first line must name two columns\n"
            "hint: begin the file with the line id,group",
        ),
        (
            "",
            "g.csv: the first line must name two columns\n"
            "hint: begin the file with the line id,group",
        ),
        (
            "id,group\ns1,a,b\ns2\ns3,a\ns3,b\n",
            "g.csv: s1,a,b has 3 fields, not two\n"
            "g.csv: s2 has 1 field, not two\n"
            "g.csv: s3 is in two groups, a and b",
        ),
        ("id,group\ns1,a\n", "g.csv: no group for s2, s3\nhint: give every sequence a group"),
        ("id,group\n", "g.csv: no group for s1, s2, s3\nhint: give every sequence a group"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(here, text, message):
    (here / "g.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        read_groups("g.csv", ["s1", "s2", "s3"])
    assert str(caught.value) == message


def test_of_many_missing_groups_some_are_named(here):
    (here / "g.csv").write_text("id,group\n")
    with pytest.raises(DataError) as caught:
        read_groups("g.csv", [f"s{i}" for i in range(7)])
    assert str(caught.value) == (
        "g.csv: no group for s0, s1, s2 and 4 more\nhint: give every sequence a group"
    )
