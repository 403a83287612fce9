"""Events in CSV files."""

import csv
import subprocess
import sys

import pytest
from event_cases import atoms, message

from relynx import from_events
from relynx.data.tables.columns import LARGEST


def csv_atoms(tmp_path, text, **more):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    X, _ = from_events(path, **({"sequence": "c"} | more))
    return atoms(X)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_first_line_tells_the_separator(tmp_path, separator):
    text = "c,a b,n\n1,x,2\n1,y,3\n".replace(",", separator)
    found = csv_atoms(tmp_path, text)
    assert found == {"next_s(e1,e2)", "a_b(e1,x)", "a_b(e2,y)", "n(e1,2)", "n(e2,3)"}


def test_fields_may_be_quoted_and_go_over_lines(tmp_path):
    text = '\ufeffc,v\r\n1,"a, ""b"""\r\n\r\n1,"two\r\nlines"\r\n'
    found = csv_atoms(tmp_path, text)
    assert found == {"next_s(e1,e2)", "v(e1,'a, \"b\"')", "v(e2,'two\\r\\nlines')"}


def test_a_wrong_line_after_a_long_field_is_named_by_its_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('\nc,v\n1,"a\nb"\n\n1\n')
    assert message(path, sequence="c") == (
        f"{path}: line 6 has 1 field\nhint: the first line names 2 columns"
    )


@pytest.mark.parametrize("text", ['"Dose, mg";"a, b";c\n1;x;1\n', '"a;b",c\n1,1\n'])
def test_a_separator_in_quotes_is_none(tmp_path, text):
    assert len(csv_atoms(tmp_path, text, attributes=[], fluents=[])) == 0


def test_lines_of_blanks_do_not_count(tmp_path):
    assert csv_atoms(tmp_path, "  \n\nc,v\n1,x\n   \n1,y\n") == {
        "next_s(e1,e2)",
        "v(e1,x)",
        "v(e2,y)",
    }


def test_a_field_may_be_long_and_the_limit_of_the_csv_module_stays(tmp_path):
    limit = csv.field_size_limit()
    text = "z" * (limit + 1)
    assert f"v(e1,{text})" in csv_atoms(tmp_path, f"c,v\n1,{text}\n1,y\n")
    assert csv.field_size_limit() == limit


def test_a_file_of_tabs_is_separated_by_tabs(tmp_path):
    path = tmp_path / "t.TSV"
    path.write_text("c\ta,b,c\n1\tx\n1\ty\n")
    X, _ = from_events(path, sequence="c")
    assert atoms(X) == {"next_s(e1,e2)", "a_b_c(e1,x)", "a_b_c(e2,y)"}


def test_blanks_around_fields_and_empty_lines_do_not_count(tmp_path):
    assert csv_atoms(tmp_path, "\n c , v \n\n 1 , x \n1,x\n1,y \n") == {
        "next_s(e1,e2)",
        "next_s(e2,e3)",
        "v(e1,x)",
        "v(e2,x)",
        "v(e3,y)",
    }


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        (("1", "NA", "-2.55e1"), {"v(e1,1.0)", "v(e3,-25.5)"}),
        (("1", "", "+2"), {"v(e1,1)", "v(e3,2)"}),
        (("1,5", "2", "0,25"), {"v(e1,1.5)", "v(e2,2.0)", "v(e3,0.25)"}),
        (("007", "8", "9"), {"v(e1,'007')", "v(e2,'8')", "v(e3,'9')"}),
        (("1_000", "8", "9"), {"v(e1,'1_000')", "v(e2,'8')", "v(e3,'9')"}),
        ((str(LARGEST), "8", "9"), {f"v(e1,'{LARGEST}')", "v(e2,'8')", "v(e3,'9')"}),
        (("True", "FALSE", "null"), {"v(e1,true)", "v(e2,false)"}),
        (("NA", "b", ""), {"v(e1,'NA')", "v(e2,b)"}),
        (("true", "b", "1"), {"v(e1,true)", "v(e2,b)", "v(e3,'1')"}),
    ],
)
def test_the_fields_of_a_column_tell_its_kind(tmp_path, fields, facts):
    text = "c;v\n" + "".join(f"1;{field}\n" for field in fields)
    found = csv_atoms(tmp_path, text, attributes=[])
    assert found == facts | {"next_s(e1,e2)", "next_s(e2,e3)"}


def test_a_csv_file_needs_no_data_frame_library(tmp_path):
    (tmp_path / "t.csv").write_text("c,v\n1,x\n1,y\n")
    code = """if True:
        import sys
        for name in ("pandas", "polars", "pyarrow"):
            sys.modules[name] = None
        import relynx as rx
        print(rx.from_events("t.csv", sequence="c")[0][0])
        try:
            rx.from_events("t.parquet", sequence="c")
        except rx.InputError as error:
            print(error)
    """
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "begin(1). next_s(e1,e2). v(e1,x). v(e2,y). end.",
        "Parquet files need polars or pyarrow, and neither is installed",
        "hint: pip install polars, or give a .csv file",
    ]
