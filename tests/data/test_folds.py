"""The bundled protein folds."""

import gzip
import json
import time
from collections import Counter

import numpy as np
import pytest

from relynx import DataError, InputError, covers, load_protein_folds, mine, parse_pattern


@pytest.fixture(scope="module")
def folds():
    return load_protein_folds()


HELIX = {"type": "he", "hand": "right", "cls": "alpha", "len": 12, "pos": 1}


def strand(place, partners=(), *, sheet="S1", length=5):
    return {
        "type": "st",
        "sense": "plus",
        "sense_prev": "null",
        "sheet": sheet,
        "sheet_ord": place,
        "partners": [list(partner) for partner in partners],
        "len": length,
        "pos": 1,
    }


def domain(*elements, **changes):
    made = {
        "id": "d1",
        "fold": "c.1",
        "sccs": "c.1.1.1",
        "family": "c.1.1.1",
        "nr40": True,
        "clu40": 1,
        "n_res": 100,
        "elements": list(elements),
    }
    return made | changes


def written(path, *domains):
    path.write_text("".join(json.dumps(one) + "\n" for one in domains))
    return path


def message(path, **options):
    with pytest.raises(InputError) as caught:
        load_protein_folds(path=path, **options)
    return str(caught.value)


def facts(X, predicate, i=0):
    return {str(atom) for atom in X[i].atoms if atom.predicate == predicate}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder that is the current one, so that messages hold short paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_domain_of_the_file_is_there(folds):
    assert Counter(folds.y.tolist()) == {
        "c.1": 350,
        "c.2": 155,
        "c.23": 187,
        "c.37": 163,
        "c.55": 111,
    }


def test_labels_and_families_go_with_the_sequences(folds):
    assert len(folds.X) == len(folds.y) == len(folds.groups) == 966
    assert folds.X.labels.tolist() == folds.y.tolist()
    # A family belongs to one fold: c.23.1.1 to c.23.
    assert [g.split(".")[:2] for g in folds.groups] == [y.split(".") for y in folds.y]


def test_the_nonredundant_subset_is_a_part_of_the_whole(folds):
    small = load_protein_folds(nonredundant=True)
    assert len(small.X) == 709
    assert set(small.X.ids) < set(folds.X.ids)


def test_attributes_and_items_are_the_same(folds):
    assert folds["X"] is folds.X
    assert folds.keys() == ("X", "y", "groups", "bias", "description")
    with pytest.raises(KeyError):
        folds["x"]


def test_every_predicate_is_described(folds):
    names = {name for name, _ in folds.X.facts().tables}
    of_the_file = {"he", "st", "sense_prev", "next_s", "next_b", "next_h", "ladder"}
    assert names == of_the_file | {"neighbour", "helix", "strand", "sense"}
    assert all(f"{name}(" in folds.description for name in names)


def test_the_bias_speaks_of_sheets_and_of_what_the_data_hold(folds):
    assert folds.bias.dimensions == ("b", "h")
    folds.bias.check(folds.X)
    first = mine(folds.X, folds.y, folds.bias, max_length=1)
    assert {atom.predicate for p in first.patterns() for atom in p} == set(folds.bias.types)


def test_strands_and_helices_are_told_without_their_details(folds):
    tables = folds.X.facts().tables
    assert np.array_equal(tables["strand", 1], tables["st", 3][:2])
    assert np.array_equal(tables["sense", 2], tables["st", 3][:3])
    assert np.array_equal(tables["helix", 3], tables["he", 4][[0, 1, 3, 4]])


def test_the_bias_finds_what_tells_folds_apart(folds):
    """Side by side in the sheet, two strands apart along the chain: a closing link."""
    two = np.isin(folds.y, ["c.2", "c.23"])
    found = mine(folds.X[two], folds.y[two], folds.bias, max_length=2)
    closed = parse_pattern("strand(A), next_h(A,B), strand(B), followat_b(2,A,B)").canonical()
    assert closed in [pattern.canonical() for pattern in found.patterns()]
    assert found.measure("chi2").max() > 100


def test_each_event_is_one_helix_or_one_strand(folds):
    tables = folds.X.tables
    events = np.hstack([tables["he", 4][:2], tables["st", 3][:2]])
    assert events.shape[1] == np.unique(events, axis=1).shape[1] == 19161


@pytest.mark.parametrize("dimension", ["s", "b", "h"])
def test_each_dimension_has_at_most_one_next_and_one_before(folds, dimension):
    table = folds.X.tables[f"next_{dimension}", 2]
    for row in (1, 2):
        assert np.unique(table[[0, row]], axis=1).shape[1] == table.shape[1]


def test_ladders_hold_in_both_directions(folds):
    table = folds.X.facts().tables["ladder", 3]
    mirrored = table[[0, 2, 1, 3]]
    assert {tuple(c) for c in table.T.tolist()} == {tuple(c) for c in mirrored.T.tolist()}


def test_neighbours_are_the_ends_of_ladders(folds):
    tables = folds.X.facts().tables
    assert np.array_equal(tables["neighbour", 2], np.unique(tables["ladder", 3][:3], axis=1))


def test_a_barrel_closes_in_tim_barrels_only(folds):
    hits = covers(parse_pattern("ladder(X,Y,plus), followat_b(7,X,Y)"), folds.X)
    assert hits[folds.y == "c.1"].mean() > 0.6
    assert hits[folds.y != "c.1"].mean() < 0.01


def test_loading_takes_less_than_two_seconds():
    start = time.process_time()
    load_protein_folds()
    assert time.process_time() - start < 2


def test_lengths_are_cut_as_the_provenance_says(here):
    helices = [HELIX | {"len": n} for n in (5, 6, 11, 12)]
    strands = [strand(i, length=n) for i, n in enumerate((4, 5, 6, 7), 1)]
    X = load_protein_folds(path=written(here / "f", domain(*helices, *strands))).X
    assert [atom.args[-1] for atom in X[0].atoms if atom.predicate in ("he", "st")] == [
        "short", "medium", "medium", "long", "short", "medium", "medium", "long",
    ]  # fmt: skip


def test_dimensions_follow_the_chain_the_sheet_along_it_and_across(here):
    elements = [
        strand(2, [(1, "plus"), (2, "plus")]),
        HELIX,
        strand(1, [(0, "plus")]),
        strand(1, sheet="S2"),
        strand(3, [(0, "plus")]),
    ]
    elements[0]["partners"] = [[1, "plus"], [3, "minus"]]
    elements[4]["partners"] = [[0, "minus"]]
    X = load_protein_folds(path=written(here / "f", domain(*elements))).X
    assert facts(X, "next_s") == {
        "next_s(e1,e2)",
        "next_s(e2,e3)",
        "next_s(e3,e4)",
        "next_s(e4,e5)",
    }
    assert facts(X, "next_b") == {"next_b(e1,e3)", "next_b(e3,e5)"}
    assert facts(X, "next_h") == {"next_h(e3,e1)", "next_h(e1,e5)"}
    assert facts(X, "ladder") == {"ladder(e1,e3,plus)", "ladder(e1,e5,minus)"}


def test_the_sense_against_the_strand_before_is_a_fact_of_its_own(here):
    elements = [strand(1), HELIX, strand(2) | {"sense_prev": "minus"}]
    X = load_protein_folds(path=written(here / "f", domain(*elements))).X
    assert facts(X, "sense_prev") == {"sense_prev(e1,null)", "sense_prev(e3,minus)"}


def test_a_domain_without_elements_is_a_sequence_without_facts(here):
    X = load_protein_folds(path=written(here / "f", domain(), domain(HELIX, id="d2"))).X
    assert X[0].atoms == ()


def test_a_plain_file_and_a_compressed_one_are_read_alike(here):
    plain = written(here / "f.jsonl", domain(HELIX))
    packed = here / "f.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load_protein_folds(path=plain).X == load_protein_folds(path=packed).X


def test_a_line_that_is_no_json_is_shown_with_its_place(here):
    (here / "f").write_text(json.dumps(domain(HELIX)) + '\n{"id": d2}\n')
    assert message("f") == (
        "f:2:8: not JSON: expecting value\n"
        '    {"id": d2}\n'
        "           ^\n"
        "hint: one domain a line, as a JSON object"
    )


def first_lines(text):
    """The messages alone, without the excerpt of the line."""
    return [line for line in text.splitlines() if not line.startswith("    ")]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ([1, 2], ["f:1:1: the domain is no JSON object"]),
        (
            {"id": "d1", "fold": 3, "nr40": True, "elements": []},
            ["f:1:1: 'fold' of the domain must be text", "f:1:1: the domain has no 'family'"],
        ),
        (
            domain({"type": "coil"}, 7),
            [
                "f:1:1: elements[0] is neither a helix (type 'he') nor a strand (type 'st')",
                "f:1:1: elements[1] is neither a helix (type 'he') nor a strand (type 'st')",
            ],
        ),
        (
            domain(HELIX | {"len": "12"}, HELIX | {"len": True}),
            [
                "f:1:1: 'len' of elements[0] must be an integer",
                "f:1:1: 'len' of elements[1] must be an integer",
            ],
        ),
        (
            domain(HELIX, strand(2), strand(2)),
            ["f:1:1: elements[2] has the place of elements[1] in sheet S1"],
        ),
        (
            domain(strand(1, [(2, "plus")]), strand(2, [(0, "up")])),
            [
                'f:1:1: a partner of elements[0] is [2, "plus"]; it must be '
                "[strand, 'plus' or 'minus'] with another strand from 0 to 1",
                'f:1:1: a partner of elements[1] is [0, "up"]; it must be '
                "[strand, 'plus' or 'minus'] with another strand from 0 to 1",
            ],
        ),
        (
            domain(strand(1, [(0, "plus")])),
            [
                'f:1:1: a partner of elements[0] is [0, "plus"]; it must be '
                "[strand, 'plus' or 'minus'] with another strand from 0 to 0"
            ],
        ),
        (
            domain(HELIX, id="\ud800", fold="a\udfff", family="\ud800b"),
            [
                "f:1:1: 'id' of the domain is no Unicode text",
                "f:1:1: 'fold' of the domain is no Unicode text",
                "f:1:1: 'family' of the domain is no Unicode text",
            ],
        ),
        (
            domain(HELIX | {"cls": "\ud800"}, strand(1, sheet="\udc00")),
            [
                "f:1:1: 'cls' of elements[0] is no Unicode text",
                "f:1:1: 'sheet' of elements[1] is no Unicode text",
            ],
        ),
    ],
)
def test_a_file_of_another_format_is_refused_with_all_that_is_wrong(here, made, expected):
    assert first_lines(message(written(here / "f", made).name)) == expected


def test_an_id_used_twice_is_refused(here):
    written(here / "f", domain(HELIX), domain(HELIX, id="d2"), domain(HELIX))
    assert first_lines(message("f")) == [
        "f:3:1: the id 'd1' was used before",
        "hint: the first is on line 1",
    ]


def test_an_empty_file_is_refused(here):
    assert message(written(here / "f").name) == "f: the file holds no domain"


def test_a_file_without_nonredundant_domains_is_refused(here):
    written(here / "f", domain(HELIX, nr40=False))
    assert (
        message("f", nonredundant=True) == "f: the file holds no domain of the nonredundant subset"
    )


def test_a_missing_file_is_refused(here):
    with pytest.raises(InputError) as caught:
        load_protein_folds(path="f")
    assert str(caught.value) == "f: there is no such file"


def test_binary_junk_is_refused(here):
    (here / "f").write_bytes(b"ab\xff\xfe")
    with pytest.raises(InputError) as caught:
        load_protein_folds(path="f")
    assert str(caught.value).startswith("f:1:3: byte 2 of this file, 0xff, is not UTF-8")


@pytest.mark.parametrize("keep", [40, 100])
def test_a_damaged_compressed_file_is_refused(here, keep):
    packed = gzip.compress(json.dumps(domain(HELIX, HELIX)).encode())
    (here / "f").write_bytes(packed[:keep])
    said = "f: this is no gzip file, or it is cut\nhint: gzip packs a file"
    assert message("f") == said


def test_a_compressed_file_that_holds_no_text_is_refused(here):
    (here / "f").write_bytes(gzip.compress(b"a\xff"))
    assert message("f").startswith("f:1:2: byte 1 of this file, 0xff, is not UTF-8")


def test_a_file_that_unpacks_to_far_too_much_is_refused(here):
    packed = gzip.compress(b" " * 70_000_000)
    (here / "f").write_bytes(packed)
    said = f"f: this file of {len(packed):,} bytes unpacks to more than 67,108,864 bytes"
    assert message("f") == f"{said}\nhint: if you trust it, unpack it with gunzip"


def test_after_a_hundred_problems_the_reader_stops(here):
    (here / "f").write_text("[1]\n" * 5000)
    with pytest.raises(DataError) as caught:
        load_protein_folds(path="f")
    assert len(caught.value.problems) == 101
    assert str(caught.value).endswith(
        "... and 50 more problems\nf:101:1: reading stopped here, after 100 problems\n    [1]\n"
        "    ^\nhint: mend these, and read it again"
    )
