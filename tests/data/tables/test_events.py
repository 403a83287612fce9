"""Tables of events as sequences."""

import csv
import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from event_cases import atoms, message, order_of, tables
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx import from_events
from relynx.data.tables.plans import clean_name

try:
    import pyarrow as pa
except ImportError:  # a run without it is reported as skipped
    pa = None


def libraries(table, folder):
    """The same table in each library and kind of file that is at hand."""
    frames = {
        "pandas": pd.DataFrame(table),
        "pandas, nullable": pd.DataFrame(table).convert_dtypes(),
        "pandas, objects": pd.DataFrame(table, dtype=object),
        "polars": pl.DataFrame(table),
        "polars, lazy": pl.LazyFrame(table),
        "polars, categories": pl.DataFrame(table).with_columns(
            pl.col("step").cast(pl.String).cast(pl.Categorical)
        ),
    }
    if pa is not None:
        frames["pyarrow"] = pa.table(table)
    path = folder / "events.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    frames["csv"] = path
    pl.DataFrame(table).write_parquet(folder / "events.parquet")
    frames["parquet"] = str(folder / "events.parquet")
    return frames


@given(table=tables(), named=st.booleans())
def test_all_libraries_give_equal_sequences(tmp_path_factory, table, named):
    arguments = {"sequence": "case", "order": "time"}
    if named:
        arguments |= {"fluents": ["step", "count", "cost", "done"]}
    X, _ = from_events(table, **arguments)
    for name, frame in libraries(table, tmp_path_factory.getbasetemp()).items():
        other, _ = from_events(frame, **arguments)
        if named and any(values == [None] * len(values) for values in table.values()):
            assert other.tables.keys() == X.tables.keys(), name  # an empty column has no kind
        else:
            assert str(other.reading) == str(X.reading), name
        assert other == X, name
        assert other.vocabulary == X.vocabulary, name


def test_pyarrow_is_among_the_libraries():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: its tables were not compared")


# What a table means, in plain loops


def plain_facts(table, columns):
    """The facts of a table with one order, as text, for each sequence."""
    ids = list(dict.fromkeys(table["case"]))
    out = []
    for name in ids:
        rows = [i for i, case in enumerate(table["case"]) if case == name]
        rows.sort(key=lambda i: table["time"][i])  # a stable sort
        facts = {f"next_s(e{k},e{k + 1})" for k in range(1, len(rows))}
        for k, i in enumerate(rows, 1):
            for column in columns:
                value = table[column][i]
                if value is not None:
                    text = str(rx.Atom("v", (value,)))[2:-1]
                    facts.add(f"{column}(e{k},{text})")
        out.append(facts)
    return ids, out


@given(tables())
def test_rows_become_events_in_order_and_cells_become_facts(table):
    table["step"] = [None if text == "e1" else text for text in table["step"]]
    X, y = from_events(table, sequence="case", order="time", fluents=["step", "count"])
    ids, facts = plain_facts(table, ["step", "count"])
    assert y is None
    assert X.ids.tolist() == ids
    assert [atoms(X, i) for i in range(len(X))] == facts


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter_where_times_differ(table, random):
    n = len(table["case"])
    table["time"] = random.sample(range(-n, n), n)
    table["case"] = sorted(table["case"])  # sequences appear in the same order
    X, _ = from_events(table, sequence="case", order="time", fluents=["step", "cost"])
    rows = sorted(range(n), key=lambda i: (table["case"][i], random.random()))
    mixed = {name: [values[i] for i in rows] for name, values in table.items()}
    assert from_events(mixed, sequence="case", order="time", fluents=["step", "cost"])[0] == X


@given(tables(), st.data())
def test_along_each_dimension_those_that_agree_in_the_others_follow_each_other(table, data):
    n = len(table["case"])
    table["bed"] = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    order = {"day": "time", "bed": "bed"}
    X, _ = from_events(table, sequence="case", order=order, fluents=["step"])
    for i, name in enumerate(X.ids):
        rows = [j for j in range(n) if table["case"][j] == name]
        rows.sort(key=lambda j: (table["time"][j], table["bed"][j]))
        links = set()
        for dimension, along, other in (("day", "time", "bed"), ("bed", "bed", "time")):
            for place in set(table[other]):
                here = [j for j in rows if table[other][j] == place]
                here.sort(key=lambda j: table[along][j])
                links |= {
                    f"next_{dimension}(e{rows.index(a) + 1},e{rows.index(b) + 1})"
                    for a, b in pairwise(here)
                }
        prefix = {str(a.args[0])[:-1].rstrip("0123456789") for a in X[i].atoms} or {"e"}
        found = {text for text in atoms(X, i) if text.startswith("next_")}
        assert found == {
            text.replace("(e", f"({min(prefix)}").replace(",e", f",{min(prefix)}") for text in links
        }


def test_rows_at_one_time_follow_each_other_as_they_stand_and_it_is_said():
    assert order_of([2, 1, 2, 1]) == "bdac"
    X, _ = from_events({"c": [1, 1, 1], "t": [5, 5, 4], "v": [1, 2, 3]}, sequence="c", order="t")
    assert X.reading.notes == (
        "1 row has the same 't' as the one before: such rows keep their order in the table",
    )


# What becomes of columns


def test_columns_that_cannot_help_are_left_out_and_it_is_said():
    n = 100
    table = {
        "case": [i // 5 for i in range(n)],
        "empty": [None] * n,
        "same": ["x"] * n,
        "remark": [f"text {i}" for i in range(n)],
        "day": [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(n)],
        "step": [str(i % 7) for i in range(n)],
        "": list(range(n)),
        "written": [f"{1 + i % 28}.2.2024 9:{i % 60:02}" for i in range(n)],
        "true": [True] * n,
    }
    X, _ = from_events(table, sequence="case")
    assert set(X.tables) == {("next_s", 2), ("step", 2)}
    assert X.reading.notes == (
        "column 'empty' is left out: it holds no value",
        "column 'same' is left out: it has the same value in every row",
        "column 'remark' is left out: it has 100 different texts in 100 rows",
        "column 'day' is left out: it is a date; a weekday, an hour or a duration made of it would "
        "be read",
        "a column without a name is left out",
        "column 'written' is left out: it is a date; a weekday, an hour or a duration made of it "
        "would be read",
        "column 'true' is left out: it has the same value in every row",
    )


def test_columns_that_are_not_asked_for_are_named():
    table = {"case": [1, 1], "age": [3, 3], "do": ["a", "b"]}
    X, _ = from_events(table, sequence="case", fluents=["do"])
    assert X.reading.notes == ("'age' is not used: neither fluents nor attributes names it",)
    table |= {f"c{i}": [1, 2] for i in range(13)}
    X, _ = from_events(table, sequence="case", fluents=["do"], attributes=["age"])
    assert X.reading.notes == (
        "'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11' and 1 more are "
        "not used: neither fluents nor attributes names them",
    )


def test_columns_that_are_asked_for_are_never_left_out():
    days = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12, 30)]
    table = {"case": [1, 1], "same": ["x", "x"], "day": days}
    X, _ = from_events(table, sequence="case", fluents=["same", "day"])
    assert atoms(X) >= {"same(e1,x)", "day(e1,'2024-01-01')", "day(e2,'2024-01-01T12:30:00')"}
    assert X.reading.notes == ()


def test_columns_that_never_change_inside_a_sequence_become_attributes():
    table = {"case": [1, 1, 2, 2], "sex": list("ffmm"), "age": [3, 3, None, None]}
    X, _ = from_events(table | {"do": list("abab")}, sequence="case")
    assert atoms(X, 0) == {"next_s(e1,e2)", "do(e1,a)", "do(e2,b)", "sex(f)", "age(3)"}
    assert atoms(X, 1) == {"next_s(e1,e2)", "do(e1,a)", "do(e2,b)", "sex(m)"}
    assert X.reading.notes == ("'sex', 'age' never change inside a sequence: attributes",)


def test_a_column_with_gaps_inside_a_sequence_describes_events():
    table = {"case": [1, 1, 1, 2, 2, 2], "diag": [None, "flu", None, None, None, "cold"]}
    X, _ = from_events(table, sequence="case")
    assert "diag(e2,flu)" in atoms(X, 0)
    assert "diag(e3,cold)" in atoms(X, 1)


def test_attributes_may_be_named_or_denied():
    table = {"case": [1, 1, 2, 2], "sex": list("ffmm"), "do": list("abab")}
    X, _ = from_events(table, sequence="case", attributes="sex")
    assert (X.reading.notes, ("sex", 1) in X.tables) == ((), True)
    X, _ = from_events(table, sequence="case", attributes=[])
    assert ("sex", 2) in X.tables


def test_of_sequences_of_one_event_nothing_is_taken_for_an_attribute():
    X, _ = from_events({"case": [1, 2, 3, 3], "do": list("abcc")}, sequence="case")
    assert ("do", 2) in X.tables


def test_columns_of_a_group_are_the_arguments_of_one_predicate():
    table = {"case": [1, 1], "from": ["a", None], "to": ["b", "c"]}
    X, _ = from_events(table, sequence="case", fluents={"move": ["from", "to"], "to": "to"})
    assert atoms(X) == {"next_s(e1,e2)", "move(e1,a,b)", "to(e1,b)", "to(e2,c)"}
    assert X.reading.notes == (
        "no 'move' is made of 1 row (row 2), where 'from' or 'to' is missing",
    )


def test_a_group_keeps_its_name_and_an_attribute_gives_way():
    table = {"case": [1, 1], "age": [3, 3], "do": ["a", "b"]}
    X, _ = from_events(table, sequence="case", fluents={"age": "do"}, attributes=["age"])
    assert atoms(X) == {"next_s(e1,e2)", "age(e1,a)", "age(e2,b)", "age_2(3)"}


def test_one_fluent_may_be_given_by_its_name_alone():
    X, _ = from_events({"case": [1], "a": [1], "b": [2]}, sequence="case", fluents="b")
    assert atoms(X) == {"b(e1,2)"}


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("Part_Desc_", "part_desc"),
        ("Resource.1", "resource_1"),
        ("Größe (cm)", "große_cm"),
        ("2nd", "c_2nd"),
        ("next_s", "c_next_s"),
        ("followat_b", "c_followat_b"),
        ("End", "c_end"),
        ("!?", "column"),
        ("a b", "a_b_2"),
    ],
)
def test_names_of_columns_become_names_of_predicates(name, predicate):
    assert clean_name(name, ["a_b"]) == predicate


def test_columns_whose_names_would_be_one_get_numbers():
    X, _ = from_events({"c": [1, 1], "A b": list("xy"), "a_B": list("zw")}, sequence="c")
    assert {"a_b(e1,x)", "a_b_2(e1,z)"} <= atoms(X)


def test_no_event_has_the_name_of_a_value():
    X, _ = from_events({"case": [1, 1], "v": ["e1", "event12"]}, sequence="case")
    assert atoms(X) == {"next_s(event_1,event_2)", "v(event_1,e1)", "v(event_2,event12)"}


# Labels


def test_a_label_may_stand_in_one_row_of_its_sequence():
    table = {"case": [1, 1, 2], "y": [None, "up", "down"], "v": list("abc")}
    X, y = from_events(table, sequence="case", label="y")
    assert y.tolist() == ["up", "down"]
    assert y is X.labels


def test_labels_may_be_numbers_or_truth_values():
    assert from_events({"c": [1, 2], "y": [1.0, 0.0]}, sequence="c", label="y")[1].tolist() == [
        1,
        0,
    ]
    labels = from_events({"c": [1, 2], "y": [True, False]}, sequence="c", label="y")[1]
    assert labels.tolist() == ["true", "false"]


def test_an_empty_column_of_labels_is_no_label_and_it_is_said():
    X, y = from_events({"c": [1], "y": [None], "v": [2]}, sequence="c", label="y")
    assert y is None
    assert "column 'y' holds no label" in X.reading.notes


# Numbers in ranges


def test_numbers_of_many_values_become_ranges():
    table = {"case": [i // 10 for i in range(40)], "cost": [i / 2 for i in range(40)]}
    X, _ = from_events(table, sequence="case")
    assert str(X.reading.fluents[0].columns[0]) == "cost (<5, 5..10, 10..15, >=15)"
    assert {atom.args[1] for atom in X[0].atoms if atom.predicate == "cost"} == {"<5"}


def test_numbers_of_few_values_stay_numbers():
    table = {"case": [i // 10 for i in range(40)], "cost": [i % 10 for i in range(40)]}
    X, _ = from_events(table, sequence="case")
    assert "cost(e10,9)" in atoms(X)


@pytest.mark.parametrize(
    ("bins", "shown"),
    [
        (2, "n (<50, >=50)"),
        (("width", 4), "n (<25, 25..50, 50..75, >=75)"),
        (None, "n (integer)"),
        ({"n": [3, 7.5]}, "n (<3, 3..7.5, >=7.5)"),
        ({"n": ("width", 2)}, "n (<50, >=50)"),
        ([3, 7.5], "n (<3, 3..7.5, >=7.5)"),
        (np.array([3, 7.5]), "n (<3.0, 3.0..7.5, >=7.5)"),
        ({"n": np.array([3, 7])}, "n (<3, 3..7, >=7)"),
        ((np.str_("width"), np.int64(2)), "n (<50, >=50)"),
        ({}, "n (<25, 25..50, 50..75, >=75)"),
    ],
)
def test_bins_say_how_numbers_are_cut(bins, shown):
    table = {"case": [i // 10 for i in range(101)], "n": list(range(101))}
    X, _ = from_events(table, sequence="case", bins=bins)
    assert str(X.reading.fluents[0].columns[0]) == shown


def test_a_column_that_is_named_is_cut_though_its_values_are_few():
    X, _ = from_events({"case": [1, 1], "n": [1, 2]}, sequence="case", bins={"n": 2})
    assert {"n(e1,'<2')", "n(e2,'>=2')"} <= atoms(X)


def test_cuts_for_all_columns_hold_for_few_values_and_leave_texts_alone():
    X, _ = from_events({"case": [1, 1], "n": [1, 50], "v": ["a", "b"]}, sequence="case", bins=[10])
    assert {"n(e1,'<10')", "n(e2,'>=10')", "v(e1,a)"} <= atoms(X)


def test_the_cuts_of_an_attribute_count_sequences_not_rows():
    sizes = list(range(20))
    table = {
        "case": [case for case in sizes for _ in range(1 + 30 * (case > 15))] + sizes,
        "size": [case for case in sizes for _ in range(1 + 30 * (case > 15))] + sizes,
        "do": ["a", "b"] * 80,
    }
    table["do"] = table["do"][: len(table["case"])]
    X, _ = from_events(table, sequence="case", attributes=["size"], bins=2)
    assert X.reading.attributes[0].columns[0].cuts == (10,)


# Further tables


def test_further_tables_join_by_sequence_and_event():
    events = {"mol": [1, 1, 2], "id": ["a", "b", "a"], "element": ["c", "o", "c"]}
    bonds = {"mol": [1, 1, 9], "id_1": ["a", "b", "q"], "id_2": ["b", "a", "q"], "kind": [1, 2, 3]}
    X, _ = from_events(
        events,
        sequence="mol",
        event="id",
        relations={"bond": bonds, "weight": {"mol": [2, 1, 1], "w": [7, 5, 6]}},
    )
    assert atoms(X, 0) == {
        "next_s(e1,e2)",
        "element(e1,c)",
        "element(e2,o)",
        "bond(e1,e2,1)",
        "bond(e2,e1,2)",
        "weight(5)",
        "weight(6)",
    }
    assert atoms(X, 1) == {"element(e1,c)", "weight(7)"}
    assert str(X.reading).splitlines()[2:] == [
        "relation  bond(E1,E2,V): id_1, id_2, kind (integer)",
        "relation  weight(V): w (integer)",
        "note      the table of 'bond' has 1 row (row 3) of sequences that have no events: they "
        "are ignored",
    ]


def test_a_further_table_of_other_sequences_is_told():
    X, _ = from_events(
        {"c": [1, 1], "v": list("ab")}, sequence="c", relations={"m": {"c": [7, 8], "w": [1, 2]}}
    )
    assert X.reading.notes == (
        "the table of 'm' has no row of a sequence that has events: it makes no fact",
    )


def test_columns_that_look_like_events_are_told_where_event_is_not_given():
    events = {"m": [1, 1], "id": ["a", "b"]}
    bonds = {"m": [1], "id_1": ["a"], "id_2": ["b"], "kind": ["x"]}
    X, _ = from_events(events, sequence="m", relations={"bond": bonds})
    assert X.reading.notes == (
        "'id_1', 'id_2' of 'bond' are read as values; if they name events, give event='id'",
    )
    assert (
        from_events(events, sequence="m", event="id", relations={"bond": bonds})[0].reading.notes
        == ()
    )


def test_columns_of_events_come_in_the_order_of_their_numbers():
    events = {"m": [1, 1], "id": ["a", "b"], "v": ["x", "y"]}
    bonds = {"id_10": ["b"], "id_2": ["a"], "m": [1], "kind": ["k"], "id": ["b"]}
    X, _ = from_events(events, sequence="m", event="id", relations={"bond": bonds})
    assert "bond(e2,e1,e2,k)" in atoms(X)


def test_a_missing_value_of_a_further_table_is_told():
    events = {"m": [1, 1], "id": ["a", "b"], "v": ["x", "y"]}
    bonds = {"m": [1, 1], "id_1": ["a", "b"], "id_2": ["b", "a"], "kind": ["k", None]}
    X, _ = from_events(events, sequence="m", event="id", relations={"bond": bonds})
    assert X.reading.notes == ("no 'bond' is made of 1 row (row 2), where 'kind' is missing",)


def test_keys_are_joined_though_one_file_has_only_numbers(tmp_path):
    (tmp_path / "events.csv").write_text("case,step\n1,a\nA7,b\n")
    (tmp_path / "more.csv").write_text("case,age\n1,30\n")
    relations = {"patient": tmp_path / "more.csv"}
    X, _ = from_events(tmp_path / "events.csv", sequence="case", relations=relations)
    assert atoms(X, 0) == {"step(e1,a)", "patient(30)"}


def test_further_tables_are_read_again_with_their_cuts():
    table = {"c": [1, 2, 3], "v": list("aba")}
    ages = {"c": [1, 2, 3], "age": [10, 20, 30]}
    X, _ = from_events(table, sequence="c", relations={"p": ages}, bins={"age": [15]})
    again, _ = from_events(table, relations={"p": ages | {"age": [14, 16, 99]}}, reading=X.reading)
    assert again == X
    assert message(table, reading=X.reading) == (
        "there is no table for the relation 'p'\nhint: give relations={'p': ...}"
    )
    assert message(table, reading=X.reading, relations={"p": {"c": [1], "Age": [1]}}) == (
        "there is no column 'age', which the first table had\nhint: did you mean 'Age'?"
    )


def test_a_column_is_found_by_its_name_in_letters_of_another_case():
    assert message({"CASE": [1], "V": ["a"]}, sequence="case") == (
        "there is no column 'case', given as sequence\nhint: did you mean 'CASE'?"
    )


def test_texts_that_are_no_unicode_are_refused():
    table = {"c": [1, 1, 1], "v": ["a", None, "b\udc00"]}
    assert message(table, sequence="c") == (
        "row 3: column 'v' holds 'b\\udc00', which is no Unicode text\nhint: give whole characters"
    )
    assert message({"\ud800": [1], "v": ["a"]}, sequence="c").startswith(
        "a column is named '\\ud800', which is no text\nhint: rename it"
    )


def test_only_the_columns_that_are_needed_are_read_from_a_lazy_frame():
    def fail(series):
        raise AssertionError("read")

    lazy = pl.LazyFrame({"case": [1, 1], "v": ["a", "b"], "bad": [1, 2]}).with_columns(
        pl.col("bad").map_batches(fail, return_dtype=pl.Int64)
    )
    X, _ = from_events(lazy, sequence="case", fluents=["v"])
    assert len(X) == 1
