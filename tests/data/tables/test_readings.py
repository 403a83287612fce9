"""How a table was read: its text, and its place in model files."""

import json

import pytest

from relynx import DataError, from_events
from relynx.data.schema import Column, Group, Schema, schema_of, schema_state
from relynx.storage.parts import ModelFile, Part

READING = Schema(
    "case",
    (("day", "date"), ("bed", "bed no")),
    (
        Group("go", (Column("from", "text"), Column("far", "number", (1, 2.5)))),
        Group("late", (Column("Late?", "boolean"),)),
    ),
    (Group("age", (Column("age", "integer"),)),),
    (Group("near", (Column("m", "number", ()),), ("id_1", "id_2")),),
    Column("class", "text"),
    "id",
    ("a note",),
)


def part(state):
    return Part(json.loads(json.dumps(state)), ModelFile("m.relynx", {}), "reading_")


def test_the_text_of_a_reading_names_every_column():
    assert str(READING).splitlines() == [
        "sequence  case, by date (dimension day), then bed no (dimension bed)",
        "label     class (text)",
        "fluent    go(E,V1,V2): from (text), far (<1, 1..2.5, >=2.5)",
        "fluent    late(E,V): Late? (boolean)",
        "attribute age(V): age (integer)",
        "relation  near(E1,E2,V): id_1, id_2, m (any)",
        "note      a note",
    ]


def test_a_reading_says_how_many_arguments_are_events():
    assert READING.n_events == {"go": 1, "late": 1, "age": 0, "near": 2}


def test_a_reading_comes_back_from_a_file():
    back = schema_of(part(schema_state(READING)))
    assert back == READING
    assert back.notes == READING.notes


def test_a_small_reading_comes_back_from_a_file():
    reading = from_events({"c": [1], "v": [2]}, sequence="c", fluents="v")[0].reading
    assert schema_of(part(schema_state(reading))) == reading


HINT = "\nhint: the file is damaged or no work of relynx.save: take another copy, or save it again"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": [["s"]]}, "reading_.order holds what is no pair of dimension and column"),
        ({"order": ["time"]}, "reading_.order holds what is no pair of dimension and column"),
        ({"sequence": 3}, "reading_.sequence is no text"),
        (
            {"label": {"name": "y", "kind": "odd", "cuts": None}},
            "reading_.label.kind is none of text, integer, number, boolean, date",
        ),
        (
            {"label": {"name": "y", "kind": "number", "cuts": [2, 1]}},
            "reading_.label.cuts are no rising numbers",
        ),
        (
            {"label": {"name": "y", "kind": "number", "cuts": ["a"]}},
            "reading_.label.cuts are no rising numbers",
        ),
        ({"more": 1}, "'reading_.more' is a field that nothing asks for"),
    ],
)
def test_a_damaged_reading_is_refused(change, message):
    with pytest.raises(DataError) as caught:
        schema_of(part(schema_state(READING) | change))
    assert str(caught.value) == f"m.relynx: {message}{HINT}"
