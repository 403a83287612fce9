"""Every structure here is wrong, and its whole message is a text of golden/bad_structures."""

import gzip

import pytest
from golden_texts import refusals, written

pytest.importorskip("biotite")

from structure_texts import BARREL, as_bcif, as_cif, as_pdb

from relynx import read_structures

SMALL = {
    "chains": {"A": range(1, 21)},
    "helices": [("A:2", "A:8", 1)],
    "sheets": {"S": [("A:10", "A:13", 0), ("A:15", "A:18", -1)]},
}
PDB, CIF = as_pdb(SMALL), as_cif(SMALL)
HELIX, STRAND = PDB.splitlines()[1], PDB.splitlines()[3]
ROW = "HELX_P1 HELX_P 1 A 2 ? A 8 ?"


def pdb(old, new):
    assert old in PDB
    return {"1abc.pdb": PDB.replace(old, new)}


def cif(old, new):
    assert old in CIF
    return {"1abc.cif": CIF.replace(old, new)}


def changed(line, start, text):
    return pdb(line, line[:start] + text + line[start + len(text) :])


def without(item):
    """The mmCIF file without a column of the helices."""
    lines = CIF.splitlines()
    names = [line for line in lines if line.startswith("_struct_conf.")]
    at = names.index(f"_struct_conf.{item}")
    row = ROW.split()
    return cif(ROW, " ".join(row[:at] + row[at + 1 :])) | {
        "1abc.cif": CIF.replace(ROW, " ".join(row[:at] + row[at + 1 :])).replace(
            names[at] + "\n", ""
        )
    }


FILE = {"1abc.pdb": PDB}
# A name, the files (the first is asked for unless paths are given), and arguments.
CASES = {
    "no_such_file": ({}, {"paths": "nowhere.pdb"}),
    "no_file": ({}, {"paths": []}),
    "paths_that_are_a_number": ({}, {"paths": 7}),
    "a_path_that_is_a_number": ({}, {"paths": [7, None]}),
    "an_unknown_ending": ({"1abc.xyz": PDB}, {}),
    "files_of_one_name": ({"1abc.pdb": PDB, "1abc.cif": CIF}, {"paths": ["1abc.pdb", "1abc.cif"]}),
    "an_empty_file": ({"1abc.cif": "\n"}, {}),
    "a_file_that_is_no_gzip": ({"1abc.pdb.gz": PDB}, {}),
    "a_gzip_file_that_is_cut": ({"1abc.cif.gz": gzip.compress(CIF.encode())[:-20]}, {}),
    "a_pdb_file_that_is_a_cif": ({"1abc.pdb": CIF}, {}),
    "a_cif_file_that_is_a_pdb": ({"1abc.cif": PDB}, {}),
    "a_bcif_file_that_is_text": ({"1abc.bcif": CIF}, {}),
    "a_bcif_file_that_is_cut": ({"1abc.bcif": as_bcif(SMALL)[:2000]}, {}),
    "a_cif_file_that_is_packed": ({"1abc.cif": gzip.compress(CIF.encode())}, {}),
    "a_file_that_is_not_utf8": ({"1abc.pdb": PDB.encode().replace(b"MADE UP", b"\xff\xfe UP")}, {}),
    "a_file_without_atoms": ({"1abc.pdb": f"{HELIX}\n"}, {}),
    "a_file_without_a_protein": ({"1abc.pdb": PDB.replace(" CA  ALA", " P     A")}, {}),
    "a_coordinate_that_is_no_number": (
        pdb("   1.000   1.000   0.000", "   1.0x0   1.000   0.000"),
        {},
    ),
    "a_file_without_records": ({"1abc.pdb": as_pdb(SMALL, records=False)}, {}),
    "a_cif_file_without_records": ({"1abc.cif": as_cif(SMALL, records=False)}, {}),
    "a_helix_that_begins_nowhere": (changed(HELIX, 21, "  x2"), {}),
    "a_helix_beyond_the_atoms": (changed(HELIX, 33, "  99"), {}),
    "a_helix_that_ends_before_it_begins": (changed(HELIX, 33, "   1"), {}),
    "a_helix_in_two_chains": (changed(HELIX, 31, "B"), {}),
    "a_helix_in_an_unknown_chain": (pdb(HELIX, HELIX.replace(" A ", " Z ")), {}),
    "a_helix_of_class_11": (changed(HELIX, 38, "11"), {}),
    "a_strand_of_an_odd_sense": (changed(STRAND, 38, "-2"), {}),
    "a_strand_told_of_twice": (changed(STRAND, 7, "  1"), {}),
    "several_wrong_records": (
        {"1abc.pdb": PDB.replace(HELIX, HELIX[:33] + "  99").replace(STRAND, STRAND[:22] + "    ")},
        {},
    ),
    "a_cif_helix_that_begins_nowhere": (cif(ROW, ROW.replace("A 2", "A ?")), {}),
    "a_cif_helix_beyond_the_atoms": (cif(ROW, ROW.replace("A 8", "A 99")), {}),
    "a_cif_helix_in_two_chains": (cif(ROW, ROW.replace("A 8", "B 8")), {}),
    "a_cif_helix_of_class_0": (cif(ROW, ROW.replace("HELX_P 1", "HELX_P 0")), {}),
    "a_cif_file_without_a_column": (without("beg_auth_seq_id"), {}),
    "a_cif_strand_told_of_twice": (cif("S 2 A 15", "S 1 A 15"), {}),
    "a_cif_order_of_unknown_strands": (cif("S 1 2 anti-parallel", "S 1 3 anti-parallel"), {}),
    "a_cif_sense_that_is_unknown": (cif("anti-parallel", "orthogonal"), {}),
    "an_unknown_way_with_missing_records": (FILE, {"missing": "computed"}),
    "domains_that_are_a_list": (FILE, {"domains": ["A:1-20"]}),
    "no_domains": (FILE, {"domains": {}}),
    "domains_that_are_no_pairs": (
        FILE,
        {"domains": {"d1": "A:1-20", "d2": ("1abc",), 3: ("1abc", "A:")}},
    ),
    "domains_of_unknown_files": (FILE, {"domains": {"d1": ("1abd", "A:"), "d2": ("q", "A:")}}),
    "ranges_that_are_none": (
        FILE,
        {"domains": {"a": ("1abc", "A:1:5"), "b": ("1abc", "A:1-"), "c": ("1abc", "A:1-5,")}},
    ),
    "a_domain_of_an_unknown_chain": (FILE, {"domains": {"d": ("1abc", "B:1-5")}}),
    "a_domain_without_a_chain": ({"2abc.pdb": as_pdb(BARREL)}, {"domains": {"d": ("2abc", "1-5")}}),
    "a_domain_beyond_the_atoms": (FILE, {"domains": {"d": ("1abc", "A:30-50")}}),
    "a_domain_that_ends_before_it_begins": (FILE, {"domains": {"d": ("1abc", "A:9-2")}}),
    "sequences_of_one_name": (
        FILE | {"1abc_A.pdb": as_pdb(SMALL).replace(" A ", "   ")},
        {"paths": ["1abc.pdb", "1abc_A.pdb"]},
    ),
    "labels_that_are_a_text": (FILE, {"labels": "abc"}),
    "too_many_labels": (FILE, {"labels": ["a", "b"]}),
    "too_few_labels_for_domains": (
        FILE,
        {"labels": ["a"], "domains": {"d": ("1abc", "A:"), "e": ("1abc", "A:")}},
    ),
    "labels_of_other_sequences": (FILE, {"labels": {"1abd": "a"}}),
    "a_label_that_is_a_list": (FILE, {"labels": {"1abc_A": ["a"]}}),
    "problems_of_several_files": (
        {"1abc.pdb": "END\n", "2abc.cif": as_cif(SMALL, records=False)},
        {"paths": ["1abc.pdb", "2abc.cif", "3abc.bcif"]},
    ),
}


def read(files, arguments):
    for path, content in files.items():
        written(path, content)
    arguments = {"paths": next(iter(files), None), **arguments}
    read_structures(arguments.pop("paths"), **arguments)


test_a_wrong_structure_gets_its_whole_message = refusals("bad_structures", read, CASES)
