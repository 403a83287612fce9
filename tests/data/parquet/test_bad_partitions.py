"""Every folder here is wrong, and its whole message is a text of golden/bad_partitions."""

import hashlib
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_texts import refusals

from relynx import (
    DataError,
    InputError,
    from_intervals,
    from_lists,
    parse_background,
    scan_parquet,
    write_parquet,
)
from relynx.data.parquet.manifest import LARGEST_TEXT

LISTS = [["a", ("p", "b", "c")], ["b"], [("p", "c", "c"), "a", "a"]]
X, Y = from_lists(LISTS, ["up", "down", "up"])
PART, VOCABULARY = "part-00001.parquet", "vocabulary.parquet"


def said(change):
    """A wrong manifest."""

    def wrong(folder):
        path = folder / "manifest.json"
        tree = json.loads(path.read_text())
        path.write_text(json.dumps(change(tree) or tree))

    return wrong


def field(name, value):
    return said(lambda tree: tree.update({name: value}))


def of_part(name, value):
    return said(lambda tree: tree["parts"][1].update({name: value}))


def of_vocabulary(name, value):
    return said(lambda tree: tree["vocabulary"].update({name: value}))


def without(name):
    return said(lambda tree: tree.pop(name) and None)


def filed(name, data):
    """Other bytes for a file, and a manifest that speaks of them."""

    def wrong(folder):
        new = data((folder / name).read_bytes())
        (folder / name).write_bytes(new)
        path = folder / "manifest.json"
        tree = json.loads(path.read_text())
        for entry in [tree["vocabulary"], *tree["parts"]]:
            if entry["file"] == name:
                entry |= {"bytes": len(new), "sha256": hashlib.sha256(new).hexdigest()}
        path.write_text(json.dumps(tree))

    return wrong


def tabled(name, change, **options):
    """Another table in a file."""

    def data(old):
        out = io.BytesIO()
        pq.write_table(change(pq.read_table(io.BytesIO(old))), out, **options)
        return out.getvalue()

    return filed(name, data)


def with_column(name, values, type_=None):
    def change(table):
        at = table.column_names.index(name)
        kept = table.schema.field(at) if type_ is None else pa.field(name, type_, nullable=False)
        return table.set_column(at, kept, pa.array(values, kept.type))

    return change


def in_text(old, new):
    def wrong(folder):
        path = folder / "manifest.json"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return wrong


CASES = {
    "no_such_folder": lambda folder: shutil.rmtree(folder),
    "a_file_in_place_of_the_folder": lambda folder: (
        shutil.rmtree(folder),
        folder.write_bytes(b""),
    ),
    "no_manifest": lambda folder: (folder / "manifest.json").unlink(),
    "a_manifest_that_is_a_folder": lambda folder: (
        (folder / "manifest.json").unlink(),
        (folder / "manifest.json").mkdir(),
    ),
    "a_manifest_that_is_no_json": lambda folder: (folder / "manifest.json").write_bytes(b"{"),
    "a_manifest_with_a_name_twice": in_text('"relynx":', '"version": 1, "relynx":'),
    "a_manifest_that_is_a_list": said(lambda tree: [tree]),
    "a_manifest_of_a_model": field("format", "relynx model"),
    "a_manifest_without_a_version": without("version"),
    "a_version_that_is_a_text": field("version", "1"),
    "a_newer_version": field("version", 7),
    "a_field_too_many": field("author", "nobody"),
    "no_relations": without("relations"),
    "a_relation_without_arity": field("relations", [["p"], ["a", 1]]),
    "a_relation_twice": field("relations", [["a", 1], ["a", 1], ["b", 1], ["next_s", 2]]),
    "a_relation_of_negative_arity": field("relations", [["a", -1]]),
    "a_class_that_is_none": field("classes", ["up", None]),
    "a_class_that_is_a_truth_value": field("classes", ["up", True]),
    "a_class_twice": field("classes", ["up", "up"]),
    "times_of_an_unknown_kind": field("times", ["integer", "date"]),
    "rules_that_are_none": field("background", "p(X) :- "),
    "rules_that_are_unsafe": field("background", "p(X) :- q(Y)."),
    "a_reading_that_is_none": field("reading", {"sequence": 1}),
    "no_partitions": field("parts", []),
    "partitions_that_are_no_list": field("parts", {}),
    "a_path_that_leads_out": of_part("file", "../../etc/passwd"),
    "an_absolute_path": of_part("file", "/etc/passwd"),
    "a_vocabulary_elsewhere": of_vocabulary("file", "../vocabulary.parquet"),
    "a_checksum_that_is_none": of_part("sha256", "abc"),
    "an_absurd_number_of_sequences": of_part("sequences", 10**15),
    "a_negative_number_of_sequences": of_part("sequences", -1),
    "an_absurd_number_of_constants": of_vocabulary("constants", 10**12),
    "more_sequences_than_there_can_be": said(
        lambda tree: (
            [p.update(sequences=2**31 - 1, classes=[2**31 - 1, 0]) for p in tree["parts"]] and None
        )
    ),
    "an_absurd_number_of_facts": of_part("facts", [2**40, 1, 1, 1]),
    "facts_of_fewer_predicates_than_before": of_part("facts", [1]),
    "facts_of_more_predicates_than_there_are": of_part("facts", [1] * 9),
    "classes_of_fewer_than_before": of_part("classes", []),
    "classes_that_do_not_sum_up": of_part("classes", [1, 5]),
    "a_missing_part": lambda folder: (folder / PART).unlink(),
    "a_missing_vocabulary": lambda folder: (folder / VOCABULARY).unlink(),
    "a_part_that_is_a_folder": lambda folder: ((folder / PART).unlink(), (folder / PART).mkdir()),
    "a_part_that_is_cut": lambda folder: (folder / PART).write_bytes(
        (folder / PART).read_bytes()[:-5]
    ),
    "a_part_with_another_byte": lambda folder: (folder / PART).write_bytes(
        (folder / PART).read_bytes().replace(b"PAR1", b"PAR2")
    ),
    "a_part_that_is_no_parquet": filed(PART, lambda data: b"nothing"),
    "a_part_of_another_part": filed(PART, lambda data: data[:200] + bytes(100) + data[300:]),
    "a_part_with_fewer_rows": tabled(PART, lambda table: table.slice(0, 0)),
    "a_part_without_a_column": tabled(PART, lambda table: table.drop_columns(["label"])),
    "a_part_with_a_column_too_many": tabled(
        PART, lambda table: table.append_column("more", pa.array([1] * len(table)))
    ),
    "ids_that_are_numbers": tabled(PART, with_column("id", [1, 2], pa.int64())),
    "codes_that_are_wide": tabled(
        PART,
        with_column(
            "a/1", [[], [{"1": 1}]], pa.list_(pa.struct([pa.field("1", pa.int64(), False)]))
        ),
    ),
    "a_code_that_no_constant_has": tabled(PART, with_column("a/1", [[], [{"1": 999}]])),
    "a_negative_code": tabled(PART, with_column("a/1", [[], [{"1": -1}]])),
    "facts_out_of_order": tabled(PART, with_column("a/1", [[], [{"1": 2}, {"1": 1}]])),
    "a_fact_twice": tabled(PART, with_column("a/1", [[], [{"1": 1}, {"1": 1}]])),
    "another_number_of_facts": tabled(PART, with_column("a/1", [[], []])),
    "a_label_that_is_no_class": tabled(PART, with_column("label", [0, 7])),
    "other_labels_than_the_manifest_says": tabled(PART, with_column("label", [0, 0])),
    "an_id_of_an_unknown_type": tabled(PART, with_column("id_type", [0, 9])),
    "an_id_that_is_no_number": tabled(PART, with_column("id_type", [0, 1])),
    "a_missing_id": tabled(
        PART, lambda table: table.set_column(0, pa.field("id", pa.string()), pa.array(["s2", None]))
    ),
    "a_constant_twice": tabled(
        VOCABULARY, lambda table: with_column("text", ["e1"] * len(table))(table)
    ),
    "fewer_constants": tabled(VOCABULARY, lambda table: table.slice(1)),
}


def message(folder):
    with pytest.raises(InputError) as error:
        scan_parquet(folder).load()
    return str(error.value).replace(str(folder), "FOLDER") + "\n"


def read(spoil):
    folder = Path("FOLDER")
    X.to_parquet(folder, partitions=2)
    spoil(folder)
    scan_parquet(folder).load()


test_a_wrong_folder_is_refused_with_its_message = refusals(
    "bad_partitions", read, {name: (spoil,) for name, spoil in CASES.items()}
)


def test_a_manifest_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    X.to_parquet(tmp_path / "x")
    size = (tmp_path / "x" / "manifest.json").stat().st_size
    monkeypatch.setattr("relynx.data.parquet.manifest.LARGEST_TEXT", size - 1)
    assert message(tmp_path / "x") == (
        f"FOLDER/manifest.json: the manifest has {size:,} bytes, which is too much\n"
        "hint: the folder is damaged or no work of to_parquet: take another copy, or write it "
        "again\n"
    )
    assert size < LARGEST_TEXT


def test_a_file_that_unpacks_too_far_is_not_unpacked(tmp_path, monkeypatch):
    X.to_parquet(tmp_path / "x")
    monkeypatch.setattr("relynx.data.parquet.codec.VALUES_PER_BYTE", 0)
    monkeypatch.setattr("relynx.data.parquet.codec.FREE", 5)
    assert message(tmp_path / "x") == (
        "FOLDER/vocabulary.parquet: this file would unpack to more than its size allows\n"
        "hint: the folder is damaged or no work of to_parquet: take another copy, or write it "
        "again\n"
    )


def test_what_packs_too_well_is_not_packed(tmp_path, monkeypatch):
    alike = from_lists([["a"] * 5000])[0]
    monkeypatch.setattr("relynx.data.parquet.codec.VALUES_PER_BYTE", 1)
    monkeypatch.setattr("relynx.data.parquet.codec.FREE", 0)
    alike.to_parquet(tmp_path / "x")
    assert scan_parquet(tmp_path / "x").load() == alike


def test_a_flipped_bit_anywhere_is_noticed(tmp_path):
    X.to_parquet(tmp_path / "x", partitions=2)
    rng = np.random.default_rng(0)
    for path in sorted((tmp_path / "x").iterdir()):
        whole = path.read_bytes()
        for _ in range(40):
            data = bytearray(whole)
            at = int(rng.integers(8 * len(data)))
            data[at // 8] ^= 1 << at % 8
            path.write_bytes(bytes(data))
            try:
                loaded = scan_parquet(tmp_path / "x").load()
            except InputError:
                continue
            finally:
                path.write_bytes(whole)
            assert path.name == "manifest.json"  # a name, or a blank, says another thing
            assert len(loaded) == len(X)


# On the way in


def chunk(*labels):
    return from_lists([["a"]], list(labels) or None)[0]


WRONG_CHUNKS = {
    "there is nothing to write: give at least one Sequences": [],
    "some of the parts have labels and some have none": [chunk(), chunk("up")],
    "the parts have different background knowledge; give them the same": [
        chunk(),
        chunk().with_background(parse_background("q(E) :- a(E).")),
    ],
    "a has 1 arguments in one part, 2 in another\n"
    "hint: give it the same number of arguments everywhere, or another name": [
        chunk(),
        from_lists([[("a", 1)]])[0],
    ],
    "the parts have times of different types, or some have none": [
        chunk(),
        from_intervals(
            {"case": [1], "start": [0], "end": [1]}, sequence="case", start="start", end="end"
        )[0],
    ],
    "the constant 'a\\xd800\\' is no Unicode text\nhint: give it a name of whole characters": [
        from_lists([[("p", "a\ud800")]])[0]
    ],
}


@pytest.mark.parametrize("text", WRONG_CHUNKS)
def test_chunks_that_do_not_go_together_are_refused(tmp_path, text):
    with pytest.raises(DataError) as error:
        write_parquet(WRONG_CHUNKS[text], tmp_path / "x")
    assert str(error.value) == text
    assert list(tmp_path.iterdir()) == []


def test_a_chunk_must_be_sequences(tmp_path):
    with pytest.raises(
        TypeError, match=r"^a chunk is \['a'\]: give Sequences, one after the other$"
    ):
        write_parquet([["a"]], tmp_path / "x")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"partitions": 0}, "partitions is 0: give an integer of at least 1"),
        ({"partitions": True}, "partitions is True: give an integer of at least 1"),
        ({"rows_per_partition": 2.5}, "rows_per_partition is 2.5: give an integer of at least 1"),
        (
            {"partitions": 2, "rows_per_partition": 2},
            "give partitions or rows_per_partition, not both",
        ),
        ({"y": ["up"]}, "1 label for 3 sequences\nhint: give one label for each sequence"),
    ],
)
def test_a_number_of_partitions_must_be_one(tmp_path, given, text):
    with pytest.raises(InputError) as error:
        X.to_parquet(tmp_path / "x", **given)
    assert str(error.value) == text


def test_without_pyarrow_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    X.to_parquet(tmp_path / "x")
    monkeypatch.setattr("relynx.data.parquet.codec.find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        scan_parquet(tmp_path / "x")
    assert str(error.value) == (
        "folders of partitions need pyarrow, which is not installed\n"
        "hint: pip install 'relynx[dask]'"
    )
