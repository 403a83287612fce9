"""Files that are made to do harm: bombs, floods of problems, work without end."""

import gzip
import json
import time
import tracemalloc

import polars as pl
import pyarrow as pa
import pytest

from relynx import (
    BiasError,
    DataError,
    InputError,
    LoHMM,
    from_events,
    load_protein_folds,
    parse_bias,
    read_lynx,
    read_structures,
    read_xes,
    scan_parquet,
)
from relynx.data.structures import formats
from relynx.data.tables import frames
from relynx.errors import MOST_PROBLEMS, SHOWN_PROBLEMS, Source, did_you_mean
from relynx.logic.source_files import FREE
from relynx.models.lohmm import coverage

EVENT = b"<event><string key='concept:name' value='a'/></event>"
STOPPED = f"reading stopped here, after {MOST_PROBLEMS} problems"
MEND = "mend these, and read it again"


def refused(read, path, *args, **options):
    with pytest.raises(InputError) as caught:
        read(path, *args, **options)
    return caught.value


# What unpacks to far too much

BOMBS = {
    "bomb.csv.gz": (b"case,step\n", b"1,a\n", lambda path: from_events(path, sequence="case")),
    "bomb.xes.gz": (b"<log><trace>" + EVENT, b" " * 4096, read_xes),
    "bomb.pdb.gz": (b"HEADER\n", b" " * 4096, read_structures),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_packed_file_that_holds_far_too_much_is_refused(name, tmp_path):
    if ".pdb" in name:
        pytest.importorskip("biotite")
    head, piece, read = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(gzip.compress(head + piece * (FREE // len(piece) + 1), 1))
    size = path.stat().st_size
    assert str(refused(read, path)) == (
        f"{path}: this file of {size:,} bytes unpacks to more than {FREE:,} bytes\n"
        "hint: if you trust it, unpack it with gunzip"
    )


def test_a_log_is_refused_while_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.xes.gz"
    path.write_bytes(gzip.compress(b"<log><trace>" + EVENT + b" " * (2 * FREE), 1))
    tracemalloc.start()
    refused(read_xes, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < FREE / 4


def test_a_small_file_may_unpack_to_many_times_its_size(tmp_path):
    path = tmp_path / "long.csv.gz"
    path.write_bytes(gzip.compress(b"case,step\n" + b"1,a\n" * 100_000))
    assert path.stat().st_size * 200 < 400_000
    assert len(from_events(path, sequence="case")[0]) == 1


# Many problems


def test_a_data_file_with_very_many_problems_is_read_as_far_as_the_first_hundred(tmp_path):
    path = tmp_path / "bad.m"
    path.write_text("begin(s,a).\n" + "p(e1,X).\n" * 100_000 + "end.\n")
    error = refused(read_lynx, path)
    assert len(error.problems) == MOST_PROBLEMS + 1
    lines = str(error).splitlines()
    more = MOST_PROBLEMS - SHOWN_PROBLEMS
    assert lines[-5:] == [
        f"... and {more} more problems",
        f"{path}:{MOST_PROBLEMS + 2}:6: {STOPPED}",
        "    p(e1,X).",
        "         ^",
        f"hint: {MEND}",
    ]


def test_a_reader_that_stopped_says_nothing_of_what_it_did_not_read(tmp_path):
    path = tmp_path / "bad.m"
    path.write_text("begin(s,a).\n" + "p(e1,X).\n" * 200 + "end.\nbegin(t). end.\n")
    messages = {problem.message for problem in refused(read_lynx, path).problems}
    assert messages == {"the variable X where only a constant can stand", STOPPED}


def test_broken_clauses_stop_the_reader_too(tmp_path):
    path = tmp_path / "bad.m"
    path.write_text("begin(s,a).\n" + "p(e1,.\n" * 100_000)
    error = refused(read_lynx, path)
    assert len(error.problems) == MOST_PROBLEMS + 1
    assert error.problems[-1].message == STOPPED


def test_conflicts_of_very_many_sequences_are_told_as_far_as_the_first_hundred(tmp_path):
    facts = "next_s(e1,e2). p(e1,x). p(e2,x). p(x,e1)."
    path = tmp_path / "bad.m"
    path.write_text("".join(f"begin(s{i},a). {facts} end.\n" for i in range(300)))
    error = refused(read_lynx, path)
    assert len(error.problems) == MOST_PROBLEMS + 1
    assert error.problems[-1].message == STOPPED


def test_a_table_with_very_many_wrong_lines_is_read_as_far_as_the_first_hundred(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("case,step\n" + "1\n" * 200_000)
    error = refused(from_events, path, sequence="case")
    assert len(error.problems) == MOST_PROBLEMS + 1
    assert str(error).endswith(f"{path}: {STOPPED}\nhint: {MEND}")


def test_a_bias_with_very_many_unknown_names_is_refused_at_once():
    text = "".join(f"type(p{i}(event)). mode(q{i}(+)).\n" for i in range(3000))
    start = time.process_time()
    with pytest.raises(BiasError) as caught:
        parse_bias(text)
    assert time.process_time() - start < 20
    assert len(caught.value.problems) == MOST_PROBLEMS + 1


def test_a_bias_that_the_data_do_not_fit_at_all_is_refused_at_once():
    bias = parse_bias("".join(f"type(p{i}(event)). mode(p{i}(+)).\n" for i in range(1000)))
    X, _ = from_events({"case": [1, 2], "step": ["a", "b"]}, sequence="case")
    with pytest.raises(BiasError) as caught:
        bias.check(X)
    assert len(caught.value.problems) <= MOST_PROBLEMS + 2


def test_the_nearest_word_is_looked_for_among_the_first_ones():
    words = [f"w{i:05}" for i in range(100_000)]
    assert did_you_mean("w00007x", words) == "did you mean 'w00007'?"
    assert did_you_mean("w99999x", words) == did_you_mean("w99999x", words[:500])
    assert did_you_mean("x" * 1_000_000, ["x" * 1_000_000 + "y"]) is None


# Work without end


def test_a_model_with_states_that_cannot_be_checked_in_time_is_refused(monkeypatch):
    states = "".join(f"1.0 : s(Y) <- o - s(v{i}).\n" for i in range(40))
    values = ",".join(f"v{i}" for i in range(41))
    text = f"type(s(k)). values(k,[{values}]).\n1.0 : s(X) <- start.\n{states}"
    monkeypatch.setattr(coverage, "MOST_COMPARISONS", 50)
    with pytest.raises(InputError) as caught:
        LoHMM.parse(text, "m.lohmm")
    assert str(caught.value) == (
        "m.lohmm:2:7: it cannot be checked in time whether every state of this model has a body\n"
        "    1.0 : s(X) <- start.\n"
        "          ^~~~\n"
        "hint: give fewer bodies, or add for each predicate a body with variables only"
    )


# Parquet


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "events.parquet"
    table = pl.DataFrame({"case": [1, 1, 2], "step": ["a", "b", "a"]})
    table.write_parquet(path, compression="uncompressed")
    return path


@pytest.fixture
def by_polars(monkeypatch):
    monkeypatch.setattr(frames, "_READ_PARQUET", ("polars",))


def test_parquet_files_are_read_by_arrow_where_it_is_installed(parquet, monkeypatch):
    asked = []
    scan = frames.nw.scan_parquet
    monkeypatch.setattr(
        frames.nw,
        "scan_parquet",
        lambda name, backend: asked.append(backend) or scan(name, backend=backend),
    )
    from_events(parquet, sequence="case")
    monkeypatch.setattr(frames, "find_spec", lambda library: library == "polars" or None)
    from_events(parquet, sequence="case")
    assert asked == ["pyarrow", "polars"]


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
@pytest.mark.parametrize("byte", [4, 8, 12])
def test_a_parquet_file_with_damaged_pages_is_refused(byte, library, parquet, monkeypatch):
    monkeypatch.setattr(frames, "_READ_PARQUET", (library,))
    data = bytearray(parquet.read_bytes())
    data[byte : byte + 4] = b"\xff\xff\xff\x7f"
    parquet.write_bytes(data)
    assert str(refused(from_events, parquet, sequence="case")) == (
        f"{parquet}: this is no Parquet file, or it is damaged\n"
        "hint: write it again, or give a .csv file"
    )


def test_a_parquet_file_with_bytes_that_are_no_text_is_refused(parquet):
    parquet.write_bytes(parquet.read_bytes().replace(b"\x01\x00\x00\x00b", b"\x01\x00\x00\x00\xff"))
    assert str(refused(from_events, parquet, sequence="case")) == (
        f"{parquet}: this is no Parquet file, or it is damaged\n"
        "hint: write it again, or give a .csv file"
    )


class PanicException(BaseException):
    """As the one that libraries in Rust raise."""


def test_a_library_that_panics_is_a_damaged_file(parquet, by_polars, monkeypatch):
    def panic(*args):
        raise PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    assert "this is no Parquet file, or it is damaged" in str(
        refused(from_events, parquet, sequence="case")
    )


def test_an_interrupt_is_no_damaged_file(parquet, by_polars, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.LazyFrame, "collect", interrupt)
    with pytest.raises(KeyboardInterrupt):
        from_events(parquet, sequence="case")


def test_integers_that_no_float_holds_are_cut_as_the_nearest():
    large = [2**60 + 1, None, -(2**55) - 1, 7, 2**60 + 1, -3]
    told = []
    for make in (dict, pl.DataFrame, pa.table):
        table = make({"case": [1, 1, 1, 2, 2, 2], "size": large})
        told.append(from_events(table, sequence="case", bins={"size": [0, 2**59]})[0])
    assert told[0] == told[1] == told[2]
    assert sorted(told[0].vocabulary.constants)[0] != 2**60 + 1


def test_a_category_of_a_structure_with_columns_of_different_lengths_is_refused():
    told = formats._Annotation(Source("", "a.bcif"))
    rows = formats._Rows(told, "struct_conf", {"id": ["a"], "kind": ["b", "c"]})
    assert [*rows("id", "kind")] == []
    assert [(one.message, one.hint) for one in told.problems] == [
        (
            "the items of the category _struct_conf have different numbers of rows",
            "the file is damaged: get it again",
        )
    ]


def test_a_probability_that_no_float_holds_is_refused():
    start = LoHMM.parse("1.0 : s <- start.\n1.0 : s <- o - s.")
    with pytest.raises(InputError) as caught:
        LoHMM(start.transitions, start=[(10**400, start.start[0].head)])
    assert str(caught.value) == f"a probability is from 0 to 1, not {10**400}"


def test_a_selection_that_no_float_holds_is_refused():
    text = "type(s(k)). values(k,[x,y]).\n1.0 : s(X) <- start.\n1.0 : s(Y) <- o - s(X)."
    model = LoHMM.parse(text)
    with pytest.raises(InputError) as caught:
        LoHMM(
            model.transitions,
            start=model.start,
            types=model.types,
            values=model.values,
            selections={("s", 1, 1): (10**400, 0)},
        )
    assert str(caught.value) == (
        f"selections[('s', 1, 1)] is ({10**400}, 0)\nhint: as in {{(\"emacs\", 2, 1): (0.2, 0.8)}}"
    )


def test_a_packed_table_is_read_as_the_plain_one(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("case,step\n1,a\n1,b\n2,a\n")
    packed = tmp_path / "events.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert from_events(path, sequence="case")[0] == from_events(packed, sequence="case")[0]


# Partitions


@pytest.fixture
def partitions(tmp_path):
    pytest.importorskip("pyarrow")
    X, _ = from_events({"case": [1, 1, 2], "step": ["a", "b", "a"]}, sequence="case")
    X.to_parquet(tmp_path / "set")
    return tmp_path / "set"


def change(folder, change):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def test_a_manifest_that_speaks_of_a_huge_file_sets_no_memory_aside(partitions):
    change(partitions, lambda manifest: manifest["vocabulary"].update(bytes=2**40))
    tracemalloc.start()
    with pytest.raises(DataError, match="its checksum is another"):
        scan_parquet(partitions).load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000


def test_a_predicate_whose_name_is_no_text_is_refused(partitions):
    change(partitions, lambda manifest: manifest["relations"][0].__setitem__(0, "\ud800"))
    with pytest.raises(DataError) as caught:
        scan_parquet(partitions)
    first = str(caught.value).splitlines()[0]
    assert first == f"{partitions}/manifest.json: relations holds a name that is no Unicode text"


# Numbers without end

DIGITS = "9" * 5000


def test_a_residue_with_a_number_without_end_is_refused(tmp_path):
    pytest.importorskip("biotite")
    from structure_texts import as_cif

    protein = {"chains": {"A": range(1, 13)}, "helices": [("A:2", "A:5", 1)]}
    path = tmp_path / "1abc.cif"
    path.write_text(as_cif(protein).replace("HELX_P 1 A 2 ?", f"HELX_P 1 A {DIGITS} ?"))
    assert str(refused(read_structures, path)) == (
        f"{path}: row 1 of _struct_conf: '{DIGITS}' is no number of a residue\n"
        "hint: say where helix HELX_P1 begins and ends"
    )


def test_a_domain_with_a_number_without_end_is_refused(tmp_path):
    pytest.importorskip("biotite")
    path = tmp_path / "1abc.cif"
    error = refused(read_structures, path, domains={"d": ("1abc", f"A:1-{DIGITS}")})
    assert error.problems[0].message == (
        f"domain 'd': the ranges 'A:1-{DIGITS}' are not understood"
    )


def test_a_column_with_a_number_without_end_holds_values():
    events = {"case": [1], "id": ["a"], "step": ["x"]}
    further = {"near": {"case": [1], f"id_{DIGITS}": ["a"]}}
    X, _ = from_events(events, sequence="case", event="id", relations=further)
    assert X.reading.relations[0].events == ()


def test_a_fold_with_a_number_without_end_is_refused(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text(f'{{"id": {DIGITS}}}')
    error = refused(lambda path: load_protein_folds(path=path), path)
    assert error.problems[0].message == "not JSON: a number is too long"
