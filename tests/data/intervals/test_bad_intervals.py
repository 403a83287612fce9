"""Every input here is wrong, and its whole message is a text of golden/bad_intervals."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
from golden_texts import refusals, written

from relynx import from_events, from_intervals

GOOD = {"case": [1, 1, 2], "from": [1, 2, 1], "to": [3, 4, 1], "on": ["a", "b", "a"]}
RULES = {"sequence": "case", "start": "from", "end": "to"}
READING = from_intervals(GOOD, **RULES)[0].reading
EVENTS = from_events(GOOD, sequence="case", order="from")[0].reading


def changed(**columns):
    return GOOD | columns


# A name, the table (a pair is the name of a file and its content), arguments.
CASES = {
    "a_list_is_no_table": ([1, 2], RULES),
    "no_such_file": ("nowhere.parquet", RULES),
    "an_unknown_ending": ("intervals.txt", RULES),
    "no_columns": (pl.DataFrame(), RULES),
    "no_rows": (pl.DataFrame({"case": [], "from": [], "to": []}), RULES),
    "columns_of_one_name": (
        pd.DataFrame([[1, 1, 2, 2]], columns=["case", "from", "to", "to"]),
        RULES,
    ),
    "no_sequence": (GOOD, {"start": "from", "end": "to"}),
    "no_start_and_no_end": (GOOD, {"sequence": "case"}),
    "no_end": (GOOD, {"sequence": "case", "start": "from", "label": "oh"}),
    "unknown_columns": (
        GOOD,
        {"sequence": "Case", "start": "form", "end": "until", "symbol": "One", "label": "class"},
    ),
    "a_start_that_is_no_text": (GOOD, RULES | {"start": 3}),
    "one_column_for_start_and_end": (GOOD, RULES | {"end": "from"}),
    "a_sequence_that_is_the_start": (GOOD, RULES | {"sequence": "from"}),
    "a_label_that_is_the_end": (GOOD, RULES | {"label": "to"}),
    "a_symbol_that_is_the_start": (GOOD, RULES | {"symbol": "from"}),
    "a_symbol_that_is_the_sequence": (GOOD, RULES | {"symbol": "case"}),
    "a_symbol_that_is_the_label": (GOOD, RULES | {"symbol": "on", "label": "on"}),
    "a_label_that_changes": (GOOD, RULES | {"label": "on"}),
    "a_label_that_is_missing": (changed(on=["a", None, None]), RULES | {"label": "on"}),
    "an_attribute_that_changes": (GOOD, RULES | {"attributes": ["on"]}),
    "sequences_that_are_missing": (changed(case=[1, None, 2]), RULES),
    "starts_that_are_missing": (changed(**{"from": [None, 2, None]}), RULES),
    "starts_and_ends_that_are_missing": (("t.csv", b"case,from,to\n1,,3\n1,2,\n2,1,1\n"), RULES),
    "ends_that_are_all_missing": (changed(to=[None, None, None]), RULES),
    "an_end_before_its_start": (changed(to=[3, 1, 1]), RULES),
    "ends_before_their_starts_in_a_file": (
        ("t.csv", b"case,from,to\n1,2024-01-02,1.1.2024\n1,2024-01-02,2024-01-01\n"),
        RULES,
    ),
    "an_end_that_is_infinite": (changed(to=[3.0, float("inf"), 1.0]), RULES),
    "starts_that_are_words": (changed(**{"from": ["soon", "later", "now"]}), RULES),
    "starts_and_ends_that_are_words": (
        changed(**{"from": ["soon", "later", "now"]}, to=["x", "y", "z"]),
        RULES,
    ),
    "starts_that_are_truth_values": (changed(**{"from": [True, False, True]}), RULES),
    "starts_of_mixed_kinds": (changed(**{"from": [1, "2024-01-01", 1]}), RULES),
    "numbers_and_dates": (changed(to=["2024-01-01"] * 3), RULES),
    "dates_and_numbers": (changed(**{"from": [dt.date(2024, 1, 1)] * 3}), RULES),
    "times_of_an_unsure_order": (("t.csv", b"case,from,to\n1,1/2/2024,3/2/2024\n"), RULES),
    "times_with_and_without_a_zone": (
        changed(**{"from": ["2024-01-01T10:00", "2024-01-01T10:00Z", "2024-01-02"]}),
        RULES,
    ),
    "starts_with_a_zone_and_ends_without": (
        changed(**{"from": ["2024-01-01T10:00Z"] * 3}, to=["2024-01-01T10:00"] * 3),
        RULES,
    ),
    "a_column_of_starts_with_a_zone_and_ends_without": (
        changed(**{"from": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 3}, to=["2024-01-02"] * 3),
        RULES,
    ),
    "a_column_of_ends_with_a_zone_and_starts_without": (
        pl.DataFrame(
            {
                "case": [1],
                "from": [dt.datetime(2024, 1, 1)],
                "to": [dt.datetime(2024, 1, 2, tzinfo=dt.UTC)],
            }
        ),
        RULES,
    ),
    "ends_with_a_zone_and_starts_without": (
        changed(**{"from": ["2024-01-01T10:00"] * 3}, to=["2024-01-01T10:00Z"] * 3),
        RULES,
    ),
    "times_finer_than_a_nanosecond": (
        ("t.csv", b"case,from,to\n1,2024-01-01 00:00:00.0000000009,2024-01-02\n"),
        RULES,
    ),
    "a_relation_that_is_unknown": (GOOD, RULES | {"relations": ["meet", "cuts"]}),
    "a_word_of_relations_that_is_unknown": (GOOD, RULES | {"relations": "contacts"}),
    "relations_that_name_after": (GOOD, RULES | {"relations": ["meets", "after"]}),
    "names_that_are_arrays": (
        GOOD,
        {"sequence": "case", "start": np.array(["from", "to"]), "end": "to", "dimensions": [GOOD]},
    ),
    "relations_that_are_a_number": (GOOD, RULES | {"relations": 13}),
    "relations_that_are_tables": (GOOD, RULES | {"relations": {"near": GOOD}}),
    "a_dimension_that_is_unknown": (GOOD, RULES | {"dimensions": ("start", "next_end", 3)}),
    "dimensions_that_are_none": (GOOD, RULES | {"dimensions": None}),
    "dimensions_that_are_empty": (GOOD, RULES | {"dimensions": ()}),
    "a_column_of_durations_beside_those_made": (
        changed(duration=[2, 2, 0], gap=[1, 1, 1]),
        RULES | {"duration": True, "gap": True},
    ),
    "fluents_named_as_a_relation": (GOOD, RULES | {"fluents": {"meets": "on"}}),
    "fluents_named_as_an_end": (GOOD, RULES | {"fluents": {"end": "on"}}),
    "fluents_that_are_unknown": (GOOD, RULES | {"fluents": ["duration"]}),
    "bins_of_durations_that_are_not_made": (GOOD, RULES | {"bins": {"duration": 3}}),
    "bins_of_a_text": (GOOD, RULES | {"bins": {"on": 3}}),
    "a_column_of_lists": (changed(on=[["a"], [], ["b"]]), RULES),
    "a_reading_and_more": (GOOD, {"sequence": "case", "reading": READING}),
    "a_reading_and_relations": (GOOD, {"relations": "all", "reading": READING}),
    "a_reading_and_durations": (GOOD, {"duration": True, "reading": READING}),
    "a_reading_that_is_none": (GOOD, {"reading": "case"}),
    "a_reading_of_events": (GOOD, {"reading": EVENTS}),
    "columns_that_the_reading_needs": ({"case": [1], "to": [3]}, {"reading": READING}),
    "numbers_where_the_reading_had_text": (changed(on=[1.5, 2.5, 3.5]), {"reading": READING}),
    "an_end_before_its_start_of_a_reading": (changed(to=[3, 1, 1]), {"reading": READING}),
}


def read(table, arguments):
    from_intervals(written(*table) if isinstance(table, tuple) else table, **arguments)


test_a_wrong_input_gets_its_whole_message = refusals("bad_intervals", read, CASES)
