"""Every input here is wrong, and its whole message is a text of golden/bad_events."""

import datetime as dt
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
from golden_texts import refusals, written

from relynx import from_events

GOOD = {"case": [1, 1, 2], "time": [1, 2, 1], "step": ["a", "b", "a"], "cost": [1.5, 2.5, 9.0]}
RULES = {"sequence": "case", "order": "time"}
READING = from_events(GOOD, **RULES)[0].reading
READING_OF_INTEGERS = from_events(GOOD | {"cost": [1, 2, 9]}, **RULES)[0].reading
CSV = "case,time,step\n1,1,a\n1,2,b\n2,1,a\n"
EDGES = {"case": [1, 1], "id_1": ["a", "a"], "id_2": ["b", "z"]}
NAMED = {"case": [1, 1, 2], "id": ["a", "b", "a"], "step": ["x", "y", "x"]}


def changed(**columns):
    return GOOD | columns


# A name, the table (a text is the content of events.csv, bytes that of the named file), arguments.
CASES = {
    "a_list_is_no_table": ([1, 2], RULES),
    "a_number_is_no_table": (7, RULES),
    "no_such_file": ("nowhere.csv", RULES),
    "no_such_parquet_file": ("nowhere.parquet", RULES),
    "an_unknown_ending": ("events.xls", RULES),
    "no_ending": ("events", RULES),
    "a_file_of_facts": ("events.m", RULES),
    "a_marker_that_is_no_value": (GOOD, RULES | {"na_values": [None, "?"]}),
    "markers_by_column": (GOOD, RULES | {"na_values": {"cost": -999}}),
    "markers_that_are_no_numbers": (GOOD, RULES | {"na_values": float("nan")}),
    "markers_beside_a_reading": (GOOD, {"reading": READING, "na_values": "?"}),
    "a_date_format_without_a_sign": (GOOD, RULES | {"date_format": "d/m/Y"}),
    "a_date_format_with_an_unknown_sign": (GOOD, RULES | {"date_format": "%d/%Q"}),
    "a_date_format_that_is_no_text": (GOOD, RULES | {"date_format": True}),
    "a_date_of_another_format": (
        changed(time=["31/01/2024", "02/31/2024", "01/02/2024"]),
        RULES | {"date_format": "%d/%m/%Y"},
    ),
    "a_number_and_a_marker_that_is_not_named": (
        pd.DataFrame(changed(cost=[1.5, "?", -999])),
        RULES | {"na_values": -999},
    ),
    "a_file_that_is_no_parquet": (("events.parquet", b"PAR1 not really"), RULES),
    "a_file_that_is_no_gzip": (("events.csv.gz", b"case,time\n"), RULES),
    "a_gzip_file_that_is_cut": (("events.csv.gz", gzip.compress(CSV.encode())[:-12]), RULES),
    "an_empty_file": (("events.csv", b""), RULES),
    "a_file_of_blank_lines": (("events.csv", b"\n\n  \n"), RULES),
    "a_file_with_a_header_only": (("events.csv", b"case,time,step\n"), RULES),
    "a_file_that_is_not_utf8": (("events.csv", b"case,time\n1,\xff\n"), RULES),
    "lines_of_wrong_length": (("events.csv", b"case,time,step\n1,1\n1,2,b\n2,1,a,x\n"), RULES),
    "a_quote_never_closed": (("events.csv", b'case,time,step\n1,1,"a\n1,2,b\n'), RULES),
    "a_quote_that_closes_too_late": (
        ("events.csv", b'case,time,step\n1,1,"a\n1,2,b\n2,1,"c"\n'),
        RULES,
    ),
    "a_quote_in_a_field": (("events.csv", b'case,time,step\n1,1,"a"b\n'), RULES),
    "a_quote_in_the_header": (("events.csv", b'case,"time"x,step\n1,1,b\n'), RULES),
    "columns_of_one_name_in_a_file": (("events.csv", b"case,time,time\n1,1,2\n"), RULES),
    "columns_of_one_name": (pd.DataFrame([[1, 1, 2]], columns=["case", "time", "time"]), RULES),
    "columns_named_by_numbers": (pd.DataFrame([[1, 1]], columns=["case", 0]), {"sequence": "case"}),
    "lists_of_different_lengths": ({"case": [1, 1], "time": [1]}, RULES),
    "a_text_in_place_of_a_list": ({"case": "abc"}, {"sequence": "case"}),
    "no_columns": (pl.DataFrame(), RULES),
    "a_header_of_separators": (("events.csv", b",,\n,,\n"), RULES),
    "no_rows": (pl.DataFrame({"case": [], "time": []}), RULES),
    "no_sequence": (GOOD, {"order": "time"}),
    "a_sequence_that_is_no_text": (GOOD, {"sequence": 3}),
    "a_label_that_is_a_list_of_classes": (GOOD, RULES | {"label": np.array(["up", "down"])}),
    "unknown_columns": (
        GOOD,
        {"sequence": "Case", "order": "tme", "label": "class", "fluents": ["stp", "cost"]},
    ),
    "many_columns_and_none_is_near": ({f"column {i}": [1] for i in range(20)}, {"sequence": "zzz"}),
    "an_order_without_dimensions": (GOOD, {"sequence": "case", "order": {}}),
    "a_dimension_without_a_name": (GOOD, {"sequence": "case", "order": {"": "time", "b": "tim"}}),
    "one_column_for_two_dimensions": (
        GOOD,
        {"sequence": "case", "order": {"a": "time", "b": "time"}},
    ),
    "a_sequence_that_is_the_order": (GOOD, {"sequence": "case", "order": "case"}),
    "a_sequence_among_the_fluents": (GOOD, RULES | {"fluents": ["case", "step"]}),
    "fluents_without_a_column": (GOOD, RULES | {"fluents": {"did": []}}),
    "fluents_named_as_ends": (GOOD, RULES | {"fluents": {"begin": "step", "end": "cost"}}),
    "fluents_that_are_a_number": (GOOD, RULES | {"fluents": 5}),
    "fluents_named_twice": (GOOD, RULES | {"fluents": ["step", "step"]}),
    "fluents_named_as_links": (GOOD, RULES | {"fluents": {"next_s": ["step"], "": ["cost"]}}),
    "attributes_that_are_a_number": (GOOD, RULES | {"attributes": 5}),
    "an_order_that_is_a_list": (GOOD, {"sequence": "case", "order": ["time", "step"]}),
    "attributes_that_are_unknown": (GOOD, RULES | {"attributes": ["steps"]}),
    "a_label_that_is_the_order": (GOOD, RULES | {"label": "time"}),
    "a_label_among_the_fluents": (GOOD, RULES | {"label": "step", "fluents": ["step"]}),
    "a_label_that_changes": (changed(step=["a", "b", "a"]), RULES | {"label": "step"}),
    "a_label_that_changes_often": (
        {"case": [i // 2 for i in range(50)], "y": list("ab") * 25},
        {"sequence": "case", "label": "y"},
    ),
    "a_label_that_is_missing": (changed(step=["a", None, None]), RULES | {"label": "step"}),
    "an_attribute_that_changes": (GOOD, RULES | {"attributes": ["step"], "fluents": ["cost"]}),
    "sequences_and_times_that_are_missing": (
        changed(case=[1, None, 2], time=[None, 2, None]),
        RULES,
    ),
    "times_that_are_missing": (changed(time=[None, 2, None]), RULES),
    "times_that_are_words": (changed(time=["soon", "later", "now"]), RULES),
    "times_of_an_unsure_order": (("events.csv", b"case,time\n1,03/04/2024\n1,05/04/2024\n"), RULES),
    "times_with_and_without_a_zone": (
        changed(time=["2024-01-01T10:00", "2024-01-01T10:00Z", "2024-01-02T10:00"]),
        RULES,
    ),
    "times_of_python_with_and_without_a_zone": (
        changed(
            time=[
                dt.datetime(2024, 1, 1),
                dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
                dt.date(2024, 1, 3),
            ]
        ),
        RULES,
    ),
    "times_finer_than_a_nanosecond": (
        ("events.csv", b"case,time\n1,2024-01-01 00:00:00.0000000009\n1,2024-01-01\n"),
        RULES,
    ),
    "a_number_that_is_too_large": (changed(cost=[1.5, 10**400, 2.0]), RULES),
    "a_decimal_of_too_many_digits": (changed(cost=[Decimal("1E+999999"), 1, 2]), RULES),
    "an_integer_of_too_many_digits": (changed(cost=[1, 10**5000, 2]), RULES),
    "a_column_of_mixed_kinds": (changed(step=["a", 1, None]), RULES),
    "a_column_of_lists": (changed(step=[["a"], [], ["b"]]), RULES),
    "an_infinite_number": (changed(cost=[1.5, float("inf"), 2.0]), RULES),
    "a_number_of_bins_that_is_one": (GOOD, RULES | {"bins": 1}),
    "cuts_that_do_not_rise": (GOOD, RULES | {"bins": [2, 1]}),
    "bins_of_columns_that_are_wrong": (
        GOOD,
        RULES | {"bins": {"costs": 4, "cost": [2, 1], "step": "many"}},
    ),
    "bins_of_a_text": (GOOD, RULES | {"bins": {"step": 3}}),
    "relations_that_are_a_list": (GOOD, RULES | {"relations": [GOOD]}),
    "a_relation_without_the_sequence": (
        NAMED,
        {"sequence": "case", "event": "id", "relations": {"near": {"id_1": ["a"]}}},
    ),
    "a_relation_without_values": (
        NAMED,
        {"sequence": "case", "relations": {"near": {"case": [1]}}},
    ),
    "a_relation_named_as_a_link": (
        NAMED,
        {"sequence": "case", "event": "id", "relations": {"next_s": EDGES}},
    ),
    "a_relation_named_as_an_end": (
        NAMED,
        {"sequence": "case", "relations": {"end": {"case": [1], "v": [2]}}},
    ),
    "a_relation_without_rows": (
        NAMED,
        {"sequence": "case", "relations": {"near": {"case": [], "v": []}}},
    ),
    "a_relation_named_as_a_fluent": (
        NAMED,
        {"sequence": "case", "relations": {"step": {"case": [1], "v": [2]}}},
    ),
    "a_relation_of_unknown_events": (
        NAMED,
        {"sequence": "case", "event": "id", "relations": {"near": EDGES}},
    ),
    "events_of_one_name": (NAMED | {"id": ["a", "a", None]}, {"sequence": "case", "event": "id"}),
    "a_reading_and_more": (GOOD, {"sequence": "case", "reading": READING}),
    "a_reading_that_is_none": (GOOD, {"reading": "case"}),
    "columns_that_the_reading_needs": ({"case": [1], "steps": ["a"]}, {"reading": READING}),
    "numbers_where_the_reading_had_text": (changed(step=[1.5, 2.5, 3.5]), {"reading": READING}),
    "text_where_the_reading_had_numbers": (
        ("events.csv", b"case,time,step,cost\n1,1,a,2\n1,2,b,much\n"),
        {"reading": READING},
    ),
    "an_integer_that_the_reading_cannot_hold": (
        ("events.csv", b"case,time,step,cost\n1,1,a,2\n1,2,b,99999999999999999999999\n"),
        {"reading": READING_OF_INTEGERS},
    ),
    "relations_that_the_reading_has_not": (GOOD, {"reading": READING, "relations": {"n": EDGES}}),
}


def read(table, arguments):
    from_events(written(*table) if isinstance(table, tuple) else table, **arguments)


test_a_wrong_input_gets_its_whole_message = refusals("bad_events", read, CASES)
