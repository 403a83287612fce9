"""Markers of missing values, formats of dates, Excel files."""

import sys
import zipfile
from dataclasses import replace

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relynx as rx
from relynx.data.schema import schema_of, schema_state
from relynx.data.tables import frames
from relynx.storage.parts import ModelFile, Part

N = 20
CASES = {"case": [i // 4 for i in range(N)], "step": list("abcd") * 5}
PRICES = [float(i) for i in range(N)]


def as_csv(table, path):
    pd.DataFrame(table).to_csv(path / "table.csv", index=False)
    return path / "table.csv"


def as_semicolons(table, path):
    pd.DataFrame(table).to_csv(path / "table.csv", index=False, sep=";", decimal=",")
    return path / "table.csv"


KINDS = {
    "dict": lambda table, _: table,
    "pandas": lambda table, _: pd.DataFrame(table),
    "polars": lambda table, _: pl.DataFrame(table, strict=False),
    "csv": as_csv,
    "semicolons": as_semicolons,
}


def read(table, **how):
    return rx.from_events(table, **{"sequence": "case"} | how)[0]


def prices(bad, at=5):
    return CASES | {"price": [bad if i == at else one for i, one in enumerate(PRICES)]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("marker", [-999, -999.0, "unknown", "?"])
def test_a_marker_of_a_missing_value_makes_no_fact(kind, marker, tmp_path):
    table = prices(marker)
    if isinstance(marker, str) and kind == "polars":  # which has one type in a column
        table["price"] = list(map(str, table["price"]))
    X = read(KINDS[kind](table, tmp_path), na_values=["unknown", -999, "?"], bins=None)
    [_, column] = [group.columns[0] for group in X.reading.fluents]
    assert column.type == "integer"
    assert X.tables["price", 2].shape[1] == N - 1
    assert "price(e2,-999)" not in str(X[1])


@pytest.mark.parametrize("kind", ["dict", "pandas", "csv"])
def test_the_next_table_is_read_with_the_same_markers(kind, tmp_path):
    X = read(KINDS[kind](prices("?"), tmp_path), na_values="?")
    again = rx.from_events(KINDS[kind](prices("?", at=7), tmp_path), reading=X.reading)[0]
    assert again.reading == X.reading
    assert again.tables["price", 2].shape[1] == N - 1


def test_a_column_of_texts_that_were_numbers_is_read_as_numbers_again():
    texts = CASES | {"price": [*map(str, PRICES[:-1]), "?"]}
    X = read(texts, na_values="?")
    new = {"case": [1, 1], "step": ["a", "b"], "price": ["0.5", "7.25"]}
    assert "price(e1,'<5')" in str(rx.from_events(new, reading=X.reading)[0][0])


def test_a_marker_is_missing_in_the_label_and_in_texts_too():
    table = CASES | {"who": ["x", "unknown"] * 10, "label": ["?"] * 4 + ["up"] * 16}
    X, y = rx.from_events(table, sequence="case", na_values="unknown")
    assert y is None
    assert X.tables["who", 2].shape[1] == N / 2
    with pytest.raises(rx.InputError, match="column 'label' has no label for 1 sequence"):
        read(table, label="label", na_values="?")


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3), st.sampled_from(["a", "b", "7"]))))
def test_a_marker_is_as_good_as_an_empty_cell(cells):
    if len({type(cell) for cell in cells if cell not in (None, "a", 2)}) > 1:
        return
    table = {"case": [1] * (len(cells) + 1), "x": [*cells, 2], "y": [1] * (len(cells) + 1)}
    gaps = table | {"x": [None if cell in ("a", 2) else cell for cell in table["x"]]}
    found = read(table, na_values=["a", 2], fluents=["x", "y"])
    assert found.tables.keys() == read(gaps, fluents=["x", "y"]).tables.keys()
    assert {a.args[1] for a in found[0].atoms} >= {cell for cell in cells if cell == "b"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_names_the_cell_that_makes_a_column_of_numbers_text(kind, tmp_path):
    table = prices("n/a ")
    table["price"] = list(map(str, table["price"]))
    X = read(KINDS[kind](table, tmp_path))
    marker, row = ("n/a", "line 7") if "csv" in kind or "semi" in kind else ("n/a ", "row 6")
    assert X.reading.notes == (
        f"column 'price' is text because of 1 of 20 cells, {marker!r} in {row}; "
        f"na_values=[{marker!r}] makes it numeric",
    )
    again = read(KINDS[kind](table, tmp_path), na_values=[marker])
    assert again.reading.notes == ()
    assert again.reading.fluents[1].columns[0].type != "text"


def test_texts_that_are_mostly_numbers_get_no_note():
    codes = CASES | {"code": [f"{i:03}" for i in range(N)]}
    assert read(codes).reading.notes == ()


def test_a_column_that_is_left_out_gets_the_note_too():
    n = 100
    table = {"case": [i // 5 for i in range(n)], "step": ["a", "b"] * 50}
    table["price"] = [*(f"{i}.5" for i in range(n - 1)), "none"]
    assert [note[:40] for note in read(table).reading.notes] == [
        "column 'price' is left out: it has 100 d",
        "column 'price' is text because of 1 of 1",
    ]


DATES = ["28/02/2024", "01/03/2024", "29/02/2024", "2/03/2024"]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_of_a_format_order_the_events(kind, tmp_path):
    table = {"case": [1] * 4, "at": DATES, "step": list("acbd")}
    X = read(KINDS[kind](table, tmp_path), order="at", date_format="%d/%m/%Y")
    assert [atom.args[1] for atom in X[0].atoms if atom.predicate == "step"] == list("abcd")
    assert X.reading.date_format == "%d/%m/%Y"
    again = rx.from_events(KINDS[kind](table, tmp_path), reading=X.reading)[0]
    assert again == X


def test_integers_may_be_dates_of_a_format():
    table = {"case": [1, 1, 1], "day": [31122023, 10012024, 30122023], "step": list("bca")}
    X = read(table, order="day", date_format="%d%m%Y")
    assert [atom.args[1] for atom in X[0].atoms if atom.predicate == "step"] == list("abc")
    numbers = table | {"day": [3, 1, 2]}
    X = read(numbers, order="day", date_format="%d%m%Y")
    assert [atom.args[1] for atom in X[0].atoms if atom.predicate == "step"] == list("cab")


def test_dates_of_a_format_are_left_out_as_others_are():
    table = CASES | {"on": [f"{i + 1:02}/01/2024" for i in range(N)]}
    assert read(table).reading.notes == ()
    assert read(table, date_format="%d/%m/%Y").reading.notes == (
        "column 'on' is left out: it is a date; a weekday, an hour or a duration made of it would "
        "be read",
    )


def test_intervals_have_dates_of_a_format_and_markers():
    table = {"case": [1, 1], "from": ["28/02/24", "01/03/24"], "to": ["02/03/24", "02/03/24"]}
    table |= {"what": ["rain", "?"]}
    columns = {"sequence": "case", "start": "from", "end": "to", "symbol": "what"}
    how = {"date_format": "%d/%m/%y", "na_values": "?", "duration": True}
    X, _ = rx.from_intervals(table, **columns, **how, bins=None)
    assert "what(e1,rain)." in str(X[0])
    assert "duration(e1,259200)" in str(X[0])
    assert len(X.tables["what", 2][0]) == 1
    assert rx.from_intervals(table, reading=X.reading)[0] == X


def test_the_reading_says_what_is_missing_and_how_dates_are_written():
    table = {"case": [1] * 4, "at": DATES, "step": list("acb?")}
    how = {"order": "at", "date_format": "%d/%m/%Y", "na_values": [-999, "?"]}
    X = read(table, **how)
    assert str(X.reading) == (
        "sequence  case, by at\nfluent    step(E,V): step (text)\n"
        "missing   -999, ?\ndates     %d/%m/%Y"
    )
    assert "na_values" not in schema_state(read(CASES).reading)  # as in older files


@pytest.fixture
def excel(tmp_path):
    pytest.importorskip("openpyxl")
    table = pd.DataFrame(prices("NA") | {"on": pd.Timestamp("2024-01-31")})
    table.to_excel(tmp_path / "table.xlsx", index=False)
    return tmp_path / "table.xlsx"


def test_the_first_sheet_of_an_excel_file_is_a_table(excel):
    X = read(excel, order="on", na_values="NA")
    assert [str(group.columns[0]) for group in X.reading.fluents] == [
        "step (text)",
        "price (<5, 5..10, 10..15, >=15)",
    ]
    assert rx.from_events(excel, reading=X.reading)[0] == X


def test_an_excel_file_needs_two_libraries(tmp_path, monkeypatch):
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"")
    monkeypatch.setattr(frames, "find_spec", lambda name: None if name == "openpyxl" else sys)
    with pytest.raises(rx.InputError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}: Excel files need pandas and openpyxl; openpyxl is not installed\n"
        "hint: pip install pandas openpyxl, or save the sheet as a .csv file"
    )


def test_a_file_that_is_no_excel_file_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK not really")
    with pytest.raises(rx.InputError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}: this is no Excel file, or it is damaged\nhint: save it again, as .xlsx or .csv"
    )


def test_an_excel_file_that_unpacks_to_too_much_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(1 << 27))
    with pytest.raises(rx.InputError, match="unpacks to more than"):
        read(path)


@pytest.mark.parametrize("text", ["%d%d", "%", "%Q", "no format"])
def test_a_forged_format_of_dates_reads_no_dates(text):
    X = read({"case": [1, 1], "at": ["1/2/2024", "2/2/2024"]}, order="at", date_format="%d/%m/%Y")
    forged = replace(X.reading, date_format=text)
    with pytest.raises(rx.InputError, match="which is no date of the format"):
        rx.from_events({"case": [1], "at": ["1/2/2024"]}, reading=forged)


@pytest.mark.parametrize("markers", [[None], "?", [True], [float("nan")]])
def test_forged_markers_are_refused(markers):
    state = schema_state(read(CASES).reading) | {"na_values": markers}
    with pytest.raises(rx.DataError, match=r"reading_.na_values is no list"):
        schema_of(Part(state, ModelFile("m.relynx", {}), "reading_"))
