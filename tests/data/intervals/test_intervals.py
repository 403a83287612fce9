"""Tables of intervals as sequences, and back."""

import datetime as dt
import pickle
import random
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interval_reference import gaps, holds

import relynx as rx
from relynx import InputError, LynxClassifier, from_events, from_intervals, to_events
from relynx.cli import main
from relynx.data.allen import CONTACT, SHARE_TIME
from relynx.data.intervals import reader as door
from relynx.data.schema import schema_of, schema_state
from relynx.storage.parts import ModelFile, Part

try:
    import pyarrow as pa
except ImportError:  # a run without it is reported as skipped, below
    pa = None

RULES = {"sequence": "case", "start": "from", "end": "to"}
TABLE = {
    "case": [1, 1, 1, 2],
    "from": [9, 8, 20, 3],
    "to": [12, 10, 21, 3],
    "on": ["rain", "wind", "rain", "sun"],
}


def atoms(X, i=0):
    return {str(atom) for atom in X[i].atoms}


def links(X, predicate, i=0):
    return {tuple(atom.args) for atom in X[i].atoms if atom.predicate == predicate}


WHOLE = st.integers(0, 9)
MOMENTS = st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2030, 1, 1))


@st.composite
def tables(draw, times=WHOLE):
    """A dict of lists; the times are whole numbers, or what they are made of."""
    n = draw(st.integers(1, 10))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    pairs = column(st.tuples(times, times).map(sorted))
    return {
        "case": column(st.sampled_from(["p", "q", "r s"])),
        "from": [start for start, _ in pairs],
        "to": [end for _, end in pairs],
        "on": column(st.sampled_from(["a", "b", "c d"])),
        "size": column(st.none() | st.integers(-3, 3)),
    }


def libraries(table, folder):
    """The same table in each library and kind of file that is at hand."""
    frame = pl.DataFrame(table)
    frames = {
        "pandas": pd.DataFrame(table),
        "pandas, nullable": pd.DataFrame(table).convert_dtypes(),
        "polars": frame,
        "polars, lazy": frame.lazy(),
        "csv": folder / "intervals.csv",
        "parquet": folder / "intervals.parquet",
    }
    if pa is not None:
        frames["pyarrow"] = pa.table(table)
    frame.write_csv(frames["csv"])
    frame.write_parquet(frames["parquet"])
    return frames


@given(tables() | tables(MOMENTS) | tables(st.integers(0, 80).map(lambda i: i / 8)))
def test_all_libraries_give_equal_sequences(tmp_path_factory, table):
    arguments = RULES | {"symbol": "on", "relations": "all", "duration": True, "gap": True}
    arguments |= {"fluents": ["size"]}
    X, _ = from_intervals(table, **arguments)
    for name, frame in libraries(table, tmp_path_factory.getbasetemp()).items():
        other, _ = from_intervals(frame, **arguments)
        if table["size"] != [None] * len(table["size"]):  # an empty column has no kind
            assert str(other.reading) == str(X.reading), name
        assert other == X, name


def test_pyarrow_is_among_the_libraries():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: its tables were not compared")


# Files of others

FIELDS = st.sampled_from(
    [
        *("", "1", "-1", "1e999", "1e308", "-1e308", "9" * 30, "NA", "nan", "inf", "007", "1_0"),
        *("2024-01-31", "31.1.2024 9:05", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00+14:00"),
        *("2024-02-30", "2024-01-01T00:00:00.000000001", "true", "a", '"', "\x00", "\u0663"),
    ]
)
LINES = st.lists(FIELDS, min_size=1, max_size=5)


@given(
    st.lists(LINES, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["case,from,to,on", "case,from,to", "to,from,case,,case", ""]),
    st.binary(max_size=3),
)
def test_any_file_makes_intervals_or_a_message(tmp_path_factory, lines, separator, head, end):
    path = tmp_path_factory.getbasetemp() / "hostile.csv"
    rows = [head.replace(",", separator), *(separator.join(line) for line in lines)]
    path.write_bytes("\n".join(rows).encode() + end)
    try:
        X, _ = from_intervals(path, **RULES, relations="all", duration=True, gap=True)
    except InputError:
        return
    assert from_intervals(to_events(X), reading=X.reading)[0] == X


# What a table means, in plain loops


def plain_facts(table, relations):
    """The facts of a table, as text, for each sequence."""
    out = []
    for name in dict.fromkeys(table["case"]):
        rows = [i for i, case in enumerate(table["case"]) if case == name]
        rows.sort(key=lambda i: (table["from"][i], table["to"][i], table["on"][i]))
        some = [(table["from"][i], table["to"][i]) for i in rows]
        facts = {f"next_start(e{k},e{k + 1})" for k in range(1, len(rows))}
        by_end = sorted(range(len(rows)), key=lambda k: some[k][1])
        facts |= {f"next_end(e{a + 1},e{b + 1})" for a, b in pairwise(by_end)}
        for k, i in enumerate(rows):
            facts.add(str(rx.Atom("on", (f"e{k + 1}", table["on"][i]))))
            facts.add(f"duration(e{k + 1},{some[k][1] - some[k][0]})")
        facts |= {f"gap(e{k + 1},{gap})" for k, gap in enumerate(gaps(some)) if gap is not None}
        for j, k in permutations(range(len(rows)), 2):
            for relation in relations:
                if holds(relation, some[j], some[k]):
                    facts.add(f"{relation}(e{j + 1},e{k + 1})")
        out.append(facts)
    return out


@given(tables(), st.lists(st.sampled_from(SHARE_TIME), unique=True))
def test_rows_become_intervals_in_order_with_their_relations(table, relations):
    X, y = from_intervals(
        table,
        **RULES,
        symbol="on",
        fluents=[],
        relations=relations,
        dimensions=("start", "end"),
        duration=True,
        gap=True,
        bins=None,
    )
    assert y is None
    assert X.ids.tolist() == list(dict.fromkeys(table["case"]))
    assert [atoms(X, i) for i in range(len(X))] == plain_facts(table, relations)


@given(tables())
def test_follow_before_is_before(table):
    X, _ = from_intervals(table, **RULES, relations="all")
    for i in range(len(X)):
        start, end = X.times.offsets[i : i + 2]
        some = list(zip(X.times.starts[start:end], X.times.ends[start:end], strict=True))
        found = {(one["A"], one["B"]) for one in rx.match("follow_before(A,B)", X[i])}
        assert found == {
            (f"e{j + 1}", f"e{k + 1}")
            for j, k in permutations(range(len(some)), 2)
            if holds("before", some[j], some[k])
        }


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter_where_symbols_differ(table, random):
    table["case"] = ["p"] * len(table["case"])
    table["on"] = random.sample(range(100), len(table["case"]))
    rows = list(range(len(table["case"])))
    random.shuffle(rows)
    mixed = {name: [values[i] for i in rows] for name, values in table.items()}
    X, _ = from_intervals(table, **RULES, symbol="on", fluents=[])
    assert from_intervals(mixed, **RULES, symbol="on", fluents=[])[0] == X


# Back to a table


@given(tables() | tables(MOMENTS), st.sampled_from(["pandas", "polars"]))
def test_the_starts_and_ends_come_back(table, backend):
    table["class"] = [case.upper() for case in table["case"]]
    X, _ = from_intervals(
        table, **RULES, symbol="on", fluents=["size"], label="class", duration=True, gap=True
    )
    frame = to_events(X, backend=backend)
    again, _ = from_intervals(frame, reading=X.reading)
    assert again == X
    assert again.reading == X.reading
    back = pl.DataFrame(frame)
    assert back.columns == ["case", "from", "to", "size", "on", "class"]
    names = list(dict.fromkeys(table["case"]))
    rows = list(zip(*(table[name] for name in ("case", "from", "to", "on")), strict=True))
    rows.sort(key=lambda row: (names.index(row[0]), *row[1:]))
    texts = [(case, start, end, on) for case, start, end, on in rows]
    if isinstance(rows[0][1], dt.datetime):
        found = [
            (case, dt.datetime.fromisoformat(start), dt.datetime.fromisoformat(end), on)
            for case, start, end, on in back.select("case", "from", "to", "on").rows()
        ]
    else:
        found = back.select("case", "from", "to", "on").rows()
    assert found == texts


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize(
    "times",
    [
        pd.to_datetime(["2024-01-01 10:00", "2024-01-01 11:00"]).tz_localize("Asia/Tokyo"),
        pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30"]).tz_localize("UTC"),
        pd.to_datetime(["2024-01-01 10:00:00.000000001", "2024-01-01 10:00:00.000000002"]),
        range(2),
    ],
)
def test_times_of_every_kind_that_are_facts_too_come_back(times, backend):
    table = pd.DataFrame({"case": [1, 1], "from": times[0], "to": times, "on": ["a", "b"]})
    X, _ = from_intervals(table, **RULES, fluents=["to", "on"])
    again, _ = from_intervals(to_events(X, backend=backend), reading=X.reading)
    assert again == X
    assert links(X, "starts") == {("e1", "e2")}


def test_starts_that_are_cut_come_back_as_they_were():
    n = 30
    table = {"case": [1] * n, "from": list(range(n)), "to": [n] * n}
    X, _ = from_intervals(table, **RULES, fluents=["from"])
    frame = to_events(X, backend="polars")
    assert frame["from"].to_list() == table["from"]
    assert from_intervals(frame, reading=X.reading)[0] == X


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_that_is_in_order_comes_back_as_it_was(make):
    table = make(
        {
            "case": ["a", "a", "b"],
            "from": [0.5, 1.25, 0.0],
            "to": [1.25, 7.5, 0.0],
            "on": [3, 1, 2],
            "ok": [True, False, True],
            "class": [1, 1, 0],
        }
    )
    X, _ = from_intervals(table, **RULES, symbol="on", label="class", attributes=[])
    assert to_events(X, backend="pandas" if make is pd.DataFrame else "polars").equals(table)


def test_an_interval_of_which_nothing_is_said_comes_back():
    table = {"case": [1, 2, 2], "from": [1, 5, 6], "to": [2, 5, 7], "v": [None, "a", None]}
    X, _ = from_intervals(table, **RULES, fluents=["v"], relations=None)
    assert atoms(X, 0) == set()
    assert to_events(X, backend="polars").to_dict(as_series=False) == table


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X[[1, 0]][[1, 0]],
        lambda X: X[:1] + X[1:],
        lambda X: X.recoded(rx.Vocabulary(["sun", "e3"])),
        lambda X: X.compact(),
        lambda X: X.with_labels(["a", "b"]).with_labels(None),
        lambda X: X.with_background(rx.parse_background("a(X) :- on(X,rain).")),
        lambda X: pickle.loads(pickle.dumps(X)),
    ],
)
def test_the_times_stay_with_their_sequences(change):
    X, _ = from_intervals(TABLE, **RULES, symbol="on")
    assert to_events(change(X)).equals(to_events(X))


def test_a_part_has_the_times_of_its_sequences():
    X, _ = from_intervals(TABLE, **RULES, symbol="on")
    assert to_events(X[[1]], backend="polars").rows() == [(2, 3, 3, "sun")]
    assert X[1].sequences.times.starts.tolist() == [3]
    assert X[[]].times.starts.tolist() == []


def test_sequences_of_which_some_have_no_times_have_none():
    X, _ = from_intervals(TABLE, **RULES, symbol="on")
    plain = rx.Sequences(X.vocabulary, X.tables, X.ids, reading=X.reading)
    both = X + plain
    assert both.times is None
    with pytest.raises(rx.DataError) as caught:
        to_events(both)
    assert str(caught.value) == (
        "only sequences that from_events read can become a table of events\n"
        "hint: rx.write_lynx writes any sequences to a file"
    )


# Relations and dimensions


def test_relations_are_those_of_contact_unless_others_are_asked_for():
    X, _ = from_intervals(TABLE, **RULES, symbol="on")
    assert X.reading.intervals.relations == CONTACT
    assert X.dimensions == ("start",)
    assert atoms(X, 0) == {
        "next_start(e1,e2)",
        "next_start(e2,e3)",
        "overlaps(e1,e2)",
        "on(e1,wind)",
        "on(e2,rain)",
        "on(e3,rain)",
    }


def test_relations_may_be_named_or_denied():
    X, _ = from_intervals(TABLE, **RULES, relations=["overlapped_by", "before"])
    assert links(X, "overlapped_by") == {("e2", "e1")}
    assert links(X, "next_before") == {("e1", "e3"), ("e2", "e3")}
    assert X.dimensions == ("start", "before")
    X, _ = from_intervals(TABLE, **RULES, relations="overlaps")
    assert X.reading.intervals.relations == ("overlaps",)
    X, _ = from_intervals(TABLE, **RULES, relations=None)
    assert {key for key in X.tables if key[1] == 2} == {("next_start", 2), ("on", 2)}


def test_any_relation_may_be_a_dimension():
    table = {"case": [1, 1, 1], "from": [1, 3, 6], "to": [4, 7, 9], "on": list("abc")}
    X, _ = from_intervals(table, **RULES, relations=None, dimensions=("overlaps", "meets"))
    assert links(X, "next_overlaps") == {("e1", "e2"), ("e2", "e3")}
    assert X.reading.dimensions == ("overlaps", "meets")
    assert rx.covers("on(A,a), follow_overlaps(A,B), on(B,c)", X).tolist() == [True]


def test_a_relation_may_be_both_predicate_and_dimension():
    X, _ = from_intervals(TABLE, **RULES, relations="overlaps", dimensions=["end", "overlaps"])
    assert links(X, "overlaps") == links(X, "next_overlaps") == {("e1", "e2")}


def test_intervals_that_are_equal_are_so_both_ways():
    table = {"case": [1, 1], "from": [1, 1], "to": [2, 2], "on": ["b", "a"]}
    X, _ = from_intervals(table, **RULES, symbol="on")
    assert links(X, "equals") == {("e1", "e2"), ("e2", "e1")}
    assert {"on(e1,a)", "on(e2,b)"} <= atoms(X)


def test_patterns_walk_a_relation_both_ways():
    table = {
        "case": [1, 1, 2, 2],
        "from": [1, 3, 1, 3],
        "to": [4, 7, 4, 7],
        "on": ["a", "b", "b", "a"],
        "y": ["up", "up", "down", "down"],
    }
    X, y = from_intervals(table, **RULES, symbol="on", label="y")
    bias = rx.parse_bias(f"{rx.Bias.infer(X)} key([on(_,a)]).")
    texts = rx.mine(X, y, bias, min_support=0.5, max_length=3).texts()
    found = {rx.parse_pattern(text).canonical() for text in texts}
    for text in ("on(A,a), overlaps(A,B), on(B,b)", "on(A,a), overlaps(B,A), on(B,b)"):
        assert rx.parse_pattern(text).canonical() in found


def test_a_column_named_as_a_relation_gets_another_name():
    table = TABLE | {"meets": [1, 2, 3, 4], "Overlaps": list("abcd"), "met_by": [1, 2, 3, 4]}
    X, _ = from_intervals(table, **RULES, symbol="on")
    assert [group.predicate for group in X.reading.fluents] == [
        "on",
        "meets_2",
        "overlaps_2",
        "met_by",
    ]


# Columns


def test_numbers_that_are_symbols_are_never_cut():
    n = 30
    table = {"case": [1] * n, "from": range(n), "to": range(1, n + 1), "on": range(n)}
    X, _ = from_intervals(table, **RULES, symbol="on", bins=2)
    assert "on(e30,29)" in atoms(X)
    X, _ = from_intervals(table, **RULES, fluents={"is": "on"}, symbol="on")
    assert "is(e30,29)" in atoms(X)


def test_a_symbol_is_never_an_attribute_nor_left_out():
    table = {"case": [1, 1, 2, 2], "from": [1, 2, 1, 2], "to": [3] * 4, "on": list("aabb")}
    X, _ = from_intervals(table, **RULES, symbol="on")
    assert {"on(e1,a)", "on(e2,a)"} <= atoms(X)
    X, _ = from_intervals(table | {"on": ["a"] * 4}, **RULES, symbol="on")
    assert {"on(e1,a)", "on(e2,a)"} <= atoms(X)
    X, _ = from_intervals(table, **RULES)
    assert {"on(a)"} <= atoms(X)


def test_a_missing_symbol_makes_no_fact_and_comes_first():
    table = {"case": [1, 1], "from": [1, 1], "to": [2, 2], "on": ["a", None]}
    X, _ = from_intervals(table, **RULES, symbol="on")
    assert "on(e2,a)" in atoms(X)
    assert not links(X, "on") & {("e1", "a")}


def test_durations_and_gaps_are_cut_like_other_numbers():
    n = 40
    table = {
        "case": [i // 20 for i in range(n)],
        "from": [100 * i for i in range(n)],
        "to": [101 * i for i in range(n)],
        "on": ["a", "b"] * 20,
    }
    X, _ = from_intervals(table, **RULES, symbol="on", duration=True, gap=True)
    assert [str(group.columns[0]) for group in X.reading.fluents] == [
        "on (text)",
        "duration (<10, 10..20, 20..30, >=30)",
        "gap (<71, 71..82, 82..91, >=91)",
    ]
    X, _ = from_intervals(table, **RULES, symbol="on", duration=True, bins={"duration": [15]})
    assert "duration(e16,'>=15')" in atoms(X)
    X, _ = from_intervals(table, **RULES, fluents={"long": "duration", "on": "on"}, duration=True)
    assert [group.predicate for group in X.reading.fluents] == ["long", "on"]


LABELLED = {
    "sequence": [1, 1, 2, 2],
    "from": [0, 5, 0, 2],
    "to": [3, 6, 9, 4],
    "class": ["u", "u", "v", "v"],
}


def lengths_of(table=LABELLED, **arguments):
    """The facts about durations."""
    how = {"sequence": "sequence", "start": "from", "end": "to", "label": "class"}
    X, _ = from_intervals(table, **how | arguments)
    return [str(atom) for one in X for atom in one.atoms if atom.predicate == "duration"]


def test_with_labels_durations_are_there_and_cut_inside_fit():
    numbers = ["duration(e1,3)", "duration(e2,1)", "duration(e1,9)", "duration(e2,2)"]
    assert lengths_of() == numbers
    assert lengths_of(bins={"duration": [3]})[0] == "duration(e1,'>=3')"
    assert lengths_of(bins=[3])[0] == "duration(e1,'>=3')"
    assert lengths_of(bins={"duration": None}, label=None, duration=True) == numbers


def test_durations_that_nobody_asked_for_are_left_out_where_they_say_nothing():
    assert lengths_of(label=None) == lengths_of(duration=False) == []
    points = LABELLED | {"to": LABELLED["from"]}
    assert lengths_of(points) == []
    assert lengths_of(points, duration=True)[0] == "duration(e1,0)"
    own = LABELLED | {"duration": ["long", "long", "short", "long"]}
    assert lengths_of(own)[0] == "duration(e1,long)"


def test_a_model_learns_how_long_is_long_and_reads_a_new_table_alike():
    draw = random.Random(0)
    table = {"sequence": [], "from": [], "to": [], "class": []}
    for i in range(60):
        for start in (0, 50):
            row = i, start, start + draw.randrange(1, 10) + 15 * (i % 2), "uv"[i % 2]
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
    X, y = from_intervals(table, sequence="sequence", start="from", end="to", label="class")
    model = LynxClassifier(random_state=0).fit(X[:40], y[:40])
    assert next(str(entry.pattern) for entry in model.selected_).startswith("duration(A,")
    again, _ = from_intervals(table, reading=model.reading_)
    assert model.score(X[40:], y[40:]) == model.score(again[40:], y[40:]) == 1.0


def test_durations_of_dates_are_seconds():
    table = {"case": [1], "from": ["2024-01-31 23:00"], "to": ["1.2.2024 01:00:00.5"], "on": ["a"]}
    X, _ = from_intervals(table, **RULES, duration=True)
    assert "duration(e1,7200.5)" in atoms(X)


def test_a_gap_is_nothing_while_an_earlier_interval_holds():
    table = {"case": [1] * 4, "from": [0, 1, 5, 12], "to": [10, 2, 6, 13], "on": list("abcd")}
    X, _ = from_intervals(table, **RULES, gap=True)
    assert links(X, "gap") == {("e2", 0), ("e3", 0), ("e4", 2)}


def test_rows_that_are_the_same_are_intervals_of_their_own_and_it_is_said():
    table = {"case": [1, 1, 1], "from": [1] * 3, "to": [2] * 3, "on": ["a", "a", "b"]}
    X, _ = from_intervals(table, **RULES, symbol="on")
    assert len(links(X, "equals")) == 6
    assert X.reading.notes == (
        "1 row has the same 'from', 'to' and 'on' as another of the sequence: each is an interval "
        "of its own, in the order of the table",
    )
    X, _ = from_intervals(table, **RULES)
    assert X.reading.notes == (
        "2 rows have the same 'from' and 'to' as another of the sequence: each is an interval of "
        "its own, in the order of the table",
    )


def test_the_text_of_a_reading_says_what_the_intervals_are():
    X, _ = from_intervals(TABLE, **RULES, symbol="on", relations=["meets", "before"], gap=True)
    assert str(X.reading).splitlines() == [
        "sequence  case, intervals from from to to",
        "dimension next_start, next_before",
        "fluent    on(E,V): on (text)",
        "fluent    gap(E,V): gap (integer)",
        "relation  meets(E1,E2)",
    ]


# Other tables in the same way


def test_another_table_is_read_with_the_same_cuts():
    n = 40
    table = {"case": [1] * n, "from": [0] * n, "to": range(n), "on": ["a", "b"] * 20}
    X, _ = from_intervals(table, **RULES, symbol="on", duration=True)
    new = {"case": [7], "from": [0.5], "to": [35], "on": ["a"], "duration": ["of another kind"]}
    Y, y = from_intervals(new, reading=X.reading)
    assert y is None
    assert atoms(Y) == {"on(e1,a)", "duration(e1,'>=30')"}
    assert X.reading.difference(Y.reading) is None


def learnt(**options):
    rows = [(i, *row) for i in range(20) for row in ((0, 5, "a"), (3 + 3 * (i % 2), 9, "b"))]
    case, start, end, on = zip(*rows, strict=True)
    table = {"case": case, "from": start, "to": end, "on": on, "y": [f"c{i % 2}" for i in case]}
    X, y = from_intervals(table, **RULES, symbol="on", label="y", **options)
    return table, X, rx.LynxClassifier(max_length=3, max_iter=3, random_state=0).fit(X, y)


def test_a_model_of_intervals_is_saved_with_how_they_were_read(tmp_path):
    table, X, model = learnt(duration=True, dimensions=("start", "before"))
    rx.save(model, tmp_path / "model.relynx")
    loaded = rx.load(tmp_path / "model.relynx")
    assert loaded.reading_ == X.reading
    Y, y = from_intervals(table, reading=loaded.reading_)
    assert Y == X
    assert (loaded.predict(Y) == y).all()


def test_a_model_refuses_intervals_that_were_read_in_another_way():
    table, _, model = learnt()
    Y, _ = from_intervals(table, **RULES, symbol="on", relations="meets")
    with pytest.raises(InputError) as caught:
        model.predict(Y)
    assert str(caught.value) == (
        "this table was read in another way than that of the model: the relations of its intervals "
        "are meets, not meets, overlaps, starts, during, finishes, equals\n"
        "hint: read it as that one: rx.from_intervals(frame, reading=model.reading_)"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": 3}, "reading_.intervals.start is no text"),
        ({"made": ["length"]}, "reading_.intervals.made holds what is none of duration, gap"),
        ({"more": 1}, "'reading_.intervals.more' is a field that nothing asks for"),
        (
            {"relations": ["before"]},
            "reading_.intervals.relations holds what is none of meets, overlaps, starts, during, "
            "finishes, equals, met_by, overlapped_by, started_by, contains, finished_by",
        ),
        (
            {"dimensions": ["s"]},
            "reading_.intervals.dimensions holds what is none of start, end, before, meets, "
            "overlaps, starts, during, finishes, equals, met_by, overlapped_by, started_by, "
            "contains, finished_by",
        ),
    ],
)
def test_a_damaged_file_is_told(change, message):
    state = schema_state(from_intervals(TABLE, **RULES)[0].reading)
    state["intervals"] |= change
    with pytest.raises(rx.DataError) as caught:
        schema_of(Part(state, ModelFile("m.relynx", {}), "reading_"))
    assert str(caught.value).splitlines()[0] == f"m.relynx: {message}"


def test_from_events_reads_no_intervals():
    X, _ = from_intervals(TABLE, **RULES)
    with pytest.raises(InputError) as caught:
        from_events(TABLE, reading=X.reading)
    assert str(caught.value) == (
        "the reading is one of intervals\nhint: rx.from_intervals(frame, reading=...) reads them"
    )


def test_predict_reads_intervals_as_those_of_the_model(tmp_path, capsys):
    table, X, model = learnt()
    rx.save(model, tmp_path / "model.relynx")
    path, output = tmp_path / "new.csv", str(tmp_path / "p.csv")
    pl.DataFrame(table).write_csv(path)
    assert main(["predict", str(tmp_path / "model.relynx"), str(path), "-o", output]) == 0
    predicted = pl.read_csv(output)["predicted"].to_list()
    assert predicted == list(map(str, model.predict(X).tolist()))


# Much at once


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(door, "MOST_FACTS", 5)
    table = {"case": ["a"] + ["b c"] * 4, "from": [0] * 5, "to": [1] * 5, "on": list("abcde")}
    with pytest.raises(InputError) as caught:
        from_intervals(table, **RULES)
    assert str(caught.value) == (
        "6 pairs of intervals share time, more than 5; 6 of them in sequence 'b c'\n"
        "hint: give relations=None, or make shorter sequences"
    )
    table |= {"from": [0, 0, 0, 0, 2], "to": [0, 0, 0, 0, 2]}
    monkeypatch.setattr(door, "MOST_FACTS", 2)
    with pytest.raises(InputError) as caught:
        from_intervals(table, **RULES, relations="before")
    assert str(caught.value) == (
        "3 pairs of intervals come directly after each other, more than 2; "
        "3 of them in sequence 'b c'\n"
        "hint: leave out 'before', or make shorter sequences"
    )
    X, _ = from_intervals(table, **RULES, relations=None)
    assert len(X) == 2


def test_many_intervals_in_a_row_make_few_facts():
    n = 100_000
    table = {"case": np.zeros(n, int), "from": np.arange(n), "to": np.arange(n), "on": np.ones(n)}
    X, _ = from_intervals(table, **RULES, symbol="on", relations="all")
    assert {key: t.shape[1] for key, t in X.tables.items()} == {
        ("next_start", 2): n - 1,
        ("next_before", 2): n - 1,
        ("on", 2): n,
    }
