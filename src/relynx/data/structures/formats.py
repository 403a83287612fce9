"""Protein structures from PDB, mmCIF and BinaryCIF files. The only module that uses biotite.

Helices and sheets are those that the file lists: HELIX and SHEET records, or the categories
struct_conf, struct_sheet_range and struct_sheet_order.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

from relynx.errors import DataError, InputError, ParseError, Problem, Source, raise_all
from relynx.logic.source_files import decoded, read_unpacked

Residue: TypeAlias = tuple[int, str]  # a number and an insertion code
Span: TypeAlias = tuple[str, int, int]  # a chain, and its first and last residue, counted from 0

FORMATS = {".pdb": "PDB", ".ent": "PDB", ".cif": "mmCIF", ".mmcif": "mmCIF", ".bcif": "BinaryCIF"}
INSTALL = "pip install 'relynx[structures]'"
# The classes of HELIX records, by the format of the Protein Data Bank.
CLASSES = {
    1: ("right", "alpha"),
    2: ("right", "omega"),
    3: ("right", "pi"),
    4: ("right", "gamma"),
    5: ("right", "3to10"),
    6: ("left", "alpha"),
    7: ("left", "omega"),
    8: ("left", "gamma"),
    9: ("none", "ribbon"),
    10: ("left", "polyproline"),
}
CONFORMATION = re.compile(r"HELX(?:_(RH|LH|OT))?(?:_(AL|3T|PI|GA|OM|27|PP|OT))?_P\Z")
HANDS = {"RH": "right", "LH": "left", "OT": "none", None: "right"}
KINDS = {
    "AL": "alpha",
    "3T": "3to10",
    "PI": "pi",
    "GA": "gamma",
    "OM": "omega",
    "27": "ribbon",
    "PP": "polyproline",
    "OT": "other",
    None: "alpha",
}
SENSES = {"parallel": "plus", "anti-parallel": "minus"}
NO_ATOMS = "the file has no residue with a CA atom"
ONE_CHAIN = "an element is in one chain"
UNKNOWN = ("", ".", "?")


@dataclass(frozen=True, slots=True)
class Helix:
    span: Span
    hand: str
    cls: str


@dataclass(slots=True)
class Sheet:
    """The strands of a sheet, in the order of the file, and its pairs of neighbours."""

    spans: list[Span] = field(default_factory=list)
    pairs: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Structure:
    """The chains of a protein with their residues, and its helices and sheets."""

    source: Source
    chains: dict[str, list[Residue]]
    helices: list[Helix]
    sheets: list[Sheet]


def read_structure(path: str, *, compute: bool) -> Structure:
    """The first model in a file; `compute` finds helices and strands where it lists none."""
    name = path.lower().removesuffix(".gz")
    file_format = next((one for end, one in FORMATS.items() if name.endswith(end)), None)
    if file_format is None:
        hint = f"a structure ends in {', '.join(FORMATS)}, or so with .gz"
        raise InputError("unknown kind of file", path, hint=hint)
    data = read_unpacked(path)
    if not data.strip():
        raise ParseError("this file is empty", path)
    text = "" if file_format == "BinaryCIF" else decoded(data, path)
    annotation = _Annotation(Source(text, path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of elements that are guessed, and the like
        is_pdb = file_format == "PDB"
        atoms = annotation.read_pdb() if is_pdb else annotation.read_cif(data, file_format)
        annotation.chains = _chains(atoms, annotation.source)
        helices, sheets = annotation.elements()
        raise_all(annotation.problems, DataError)
        if not helices and not sheets:
            if not compute:
                what = "the file lists no helix and no strand"
                hint = "give missing='compute' to find them by the atoms, without sheets"
                raise DataError(what, annotation.source, hint=hint)
            helices, sheets = _computed(atoms, annotation.chains)
    return Structure(annotation.source, annotation.chains, helices, sheets)


@dataclass(slots=True)
class _Annotation:
    """The helices and strands that a file lists, by the names of residues, and its problems."""

    source: Source
    chains: dict[str, list[Residue]] = field(default_factory=dict)
    helices: list[tuple[_Range, str, str]] = field(default_factory=list)
    strands: dict[str, dict[str, _Range]] = field(default_factory=dict)  # by sheet and strand
    pairs: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)  # by sheet
    problems: list[Problem] = field(default_factory=list)

    def problem(
        self, what: str, offset: int = -1, length: int = 1, hint: str | None = None
    ) -> None:
        self.problems.append(Problem(what, self.source, offset, length, hint))

    def elements(self) -> tuple[list[Helix], list[Sheet]]:
        """Helices and sheets by the positions of residues; problems where one is missing."""
        positions = {
            chain: {residue: i for i, residue in enumerate(residues)}
            for chain, residues in self.chains.items()
        }
        helices = []
        for ends, hand, cls in self.helices:
            if (span := self._span(ends, positions)) is not None:
                helices.append(Helix(span, hand, cls))
        sheets = []
        for name, strands in self.strands.items():
            sheet, number = Sheet(), {}
            for strand, ends in strands.items():
                if (span := self._span(ends, positions)) is not None:
                    number[strand] = len(sheet.spans)
                    sheet.spans.append(span)
            for one, two, sense in self.pairs.get(name, ()):
                if one in number and two in number:
                    sheet.pairs.append((number[one], number[two], sense))
            sheets.append(sheet)
        return helices, [sheet for sheet in sheets if sheet.spans]

    def _span(self, ends: _Range, positions: dict[str, dict[Residue, int]]) -> Span | None:
        if ends.chain not in self.chains:
            what = f"{ends.title} is in chain {ends.chain}, which has no CA atoms"
            self.problem(what, ends.offset, ends.length, f"the chains are {', '.join(self.chains)}")
            return None
        first, last = (positions[ends.chain].get(residue) for residue in (ends.first, ends.last))
        for residue, position in ((ends.first, first), (ends.last, last)):
            if position is None:
                number = f"{residue[0]}{residue[1]}"
                what = f"{ends.title} is at residue {number} of chain {ends.chain}"
                hint = "the file has no CA atom of it: leave out the element, or add the atom"
                self.problem(what, ends.offset, ends.length, hint)
        if first is None or last is None:
            return None
        if last < first:
            what = f"{ends.title} ends before it begins"
            self.problem(what, ends.offset, ends.length, "exchange its ends")
            return None
        return ends.chain, first, last

    def read_pdb(self) -> Any:
        """The atoms of the first model; HELIX and SHEET records are kept."""
        from biotite.structure.io.pdb import PDBFile

        offset = 0
        before: dict[str, str] = {}
        for line in self.source.text.split("\n"):
            record, padded = line[:6], f"{line:<80}"
            if record == "HELIX ":
                self._helix(padded, offset)
            elif record == "SHEET ":
                self._strand(padded, offset, before)
            offset += len(line) + 1
        try:
            return PDBFile.read(io.StringIO(self.source.text)).get_structure(model=1)
        except Exception:  # whatever a broken file leads to
            raise self._unreadable("PDB") from None

    def _unreadable(self, file_format: str) -> ParseError:
        what = f"no atoms can be read from this file as {file_format}"
        hint = "the file extension determines the format; the file may be damaged"
        return ParseError([*self.problems, Problem(what, self.source, hint=hint)])

    def _helix(self, line: str, offset: int) -> None:
        title = f"helix {line[11:14].strip() or line[7:10].strip()}"
        ends = self._pdb_range(title, line, offset, (19, 21, 25), (31, 33, 37))
        said = line[38:40].strip() or "1"
        cls = CLASSES.get(int(said)) if said.isascii() and said.isdecimal() else None
        if cls is None:
            self.problem(f"{title} is of class {said!r}", offset + 38, 2, "classes are 1 to 10")
        elif ends is not None:
            self.helices.append((ends, *cls))

    def _strand(self, line: str, offset: int, before: dict[str, str]) -> None:
        sheet, strand, said = line[11:14].strip(), line[7:10].strip(), line[38:40].strip()
        title = f"strand {strand} of sheet {sheet}"
        ends = self._pdb_range(title, line, offset, (21, 22, 26), (32, 33, 37))
        if said not in ("", "0", "1", "-1"):
            hint = "0 for the first strand, 1 for parallel, -1 for antiparallel"
            self.problem(f"{title} has the sense {said!r}", offset + 38, 2, hint)
        if ends is None:
            return
        if strand in self.strands.setdefault(sheet, {}):
            self.problem(f"{title} is listed twice", offset, 6, "number the strands of a sheet")
            return
        self.strands[sheet][strand] = ends
        if said in ("1", "-1") and sheet in before:
            sense = "plus" if said == "1" else "minus"
            self.pairs.setdefault(sheet, []).append((before[sheet], strand, sense))
        before[sheet] = strand

    def _pdb_range(
        self, title: str, line: str, offset: int, *ends: tuple[int, int, int]
    ) -> _Range | None:
        """The ends of an element, given the columns of chain, number and insertion code of both."""
        found = []
        for chain, number, code in ends:
            text = line[number : number + 4]
            if not re.match(r" *-?[0-9]+\Z", text):
                what = f"{title}: {text!r} is no number of a residue"
                hint = "the columns of a PDB file are fixed: see the format"
                self.problem(what, offset + number, 4, hint)
                return None
            found.append((line[chain].strip(), (int(text), line[code].strip())))
        (one, first), (two, last) = found
        if one != two:
            what = f"{title} begins in chain {one} and ends in chain {two}"
            self.problem(what, offset, 6, ONE_CHAIN)
            return None
        return _Range(title, one, first, last, offset, 6)

    def read_cif(self, data: bytes, file_format: str) -> Any:
        """The atoms of the first model; what categories say of helices and sheets is kept."""
        from biotite.structure.io import pdbx

        try:
            file: Any
            if file_format == "mmCIF":
                file = pdbx.CIFFile.read(io.StringIO(self.source.text))
            else:
                file = pdbx.BinaryCIFFile.read(io.BytesIO(data))
            name = next(iter(file))
            block = file[name]
            atoms = pdbx.get_structure(file, model=1, data_block=name)
            found = {
                category: {
                    item: column.as_array(str).tolist() for item, column in block[category].items()
                }
                for category in CATEGORIES
                if category in block
            }
        except Exception:  # whatever a broken file leads to
            raise self._unreadable(file_format) from None
        for category, read in CATEGORIES.items():
            if category in found:
                read(self, _Rows(self, category, found[category]))
        return atoms

    def _read_conformations(self, rows: _Rows) -> None:
        for i, (name, conformation, number, *texts) in rows(
            "id", "conf_type_id", "?pdbx_PDB_helix_class", *ENDS
        ):
            match = CONFORMATION.match(conformation)
            if match is None and conformation != "STRN":
                continue  # a turn, or a bend
            title = f"{'strand' if match is None else 'helix'} {name}"
            ends = rows.ends(title, i, texts)
            if match is None:
                if ends is not None:  # of no sheet that is known
                    self.strands[f"STRN {name} {i}"] = {"1": ends}
                continue
            cls = HANDS[match[1]], KINDS[match[2]]
            if match[1] is None and match[2] is None and number:
                found = CLASSES.get(int(number)) if re.match(r"[0-9]{1,2}\Z", number) else None
                if found is None:
                    what = f"row {i} of _struct_conf: {title} is of class {number!r}"
                    self.problem(what, hint="classes are 1 to 10")
                    continue
                cls = found
            if ends is not None:
                self.helices.append((ends, *cls))

    def _read_ranges(self, rows: _Rows) -> None:
        for name in [name for name in self.strands if name.startswith("STRN ")]:
            del self.strands[name]  # the sheets list them, with more detail
        for i, (sheet, strand, *texts) in rows("sheet_id", "id", *ENDS):
            title = f"strand {strand} of sheet {sheet}"
            ends = rows.ends(title, i, texts)
            if strand in self.strands.setdefault(sheet, {}):
                what = f"row {i} of _struct_sheet_range: {title} is listed twice"
                self.problem(what, hint="number the strands of a sheet")
            elif ends is not None:
                self.strands[sheet][strand] = ends

    def _read_order(self, rows: _Rows) -> None:
        for i, (sheet, one, two, said) in rows("sheet_id", "range_id_1", "range_id_2", "?sense"):
            known = self.strands.get(sheet, {})
            where = f"row {i} of _struct_sheet_order"
            for strand in (one, two):
                if strand not in known and not self.problems:
                    what = f"{where}: there is no strand {strand} in sheet {sheet}"
                    self.problem(what, hint="_struct_sheet_range tells of the strands")
            if said and said not in SENSES:
                self.problem(f"{where}: the sense is {said!r}", hint=f"give {' or '.join(SENSES)}")
            elif said:
                self.pairs.setdefault(sheet, []).append((one, two, SENSES[said]))


@dataclass(frozen=True, slots=True)
class _Range:
    """The ends of a helix or strand, and where the file says so."""

    title: str
    chain: str
    first: Residue
    last: Residue
    offset: int = -1
    length: int = 1


def _chains(atoms: Any, source: Source) -> dict[str, list[Residue]]:
    """The residues of each chain that have a CA atom, in the order of the file."""
    alpha = (atoms.atom_name == "CA") & (atoms.res_name != "CA")  # no calcium
    chains: dict[str, dict[Residue, None]] = {}
    names = (atoms.chain_id[alpha], atoms.res_id[alpha], atoms.ins_code[alpha])
    for chain, number, code in zip(*(array.tolist() for array in names), strict=True):
        chains.setdefault(chain, {})[number, code] = None
    if not chains:
        raise DataError(NO_ATOMS, source, hint="give a file of a protein")
    return {chain: list(residues) for chain, residues in chains.items()}


def _computed(atoms: Any, chains: dict[str, list[Residue]]) -> tuple[list[Helix], list[Sheet]]:
    """Helices and strands by P-SEA, which uses CA atoms only; strands have no neighbours."""
    from biotite.structure import annotate_sse

    helices, sheets = [], []
    alpha = atoms[(atoms.atom_name == "CA") & (atoms.res_name != "CA")]
    for chain in chains:
        position = 0
        for letter, run in groupby(annotate_sse(alpha[alpha.chain_id == chain]).tolist()):
            n = len(list(run))
            span = chain, position, position + n - 1
            if letter == "a":
                helices.append(Helix(span, "right", "alpha"))
            elif letter == "b":
                sheets.append(Sheet([span]))
            position += n
    return helices, sheets


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a category, as texts."""

    annotation: _Annotation
    name: str
    category: Mapping[str, list[str]]

    def __call__(self, *items: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The number of each row, from 1, and some items of it; those after `?` may be missing."""
        columns = []
        lost = [item for item in items if item[0] != "?" and item not in self.category]
        for item in lost:
            hint = "give a file with the names of the authors of the entry"
            self.annotation.problem(f"the category _{self.name} has no item {item}", hint=hint)
        if lost:
            return
        for item in items:
            name = item.removeprefix("?")
            if name in self.category:
                columns.append(["" if text in UNKNOWN else text for text in self.category[name]])
            else:
                columns.append([""] * len(columns[0]))  # the first is always there
        if len({*map(len, columns)}) > 1:
            what = f"the items of the category _{self.name} have different numbers of rows"
            self.annotation.problem(what, hint="the file is damaged: get it again")
            return
        yield from enumerate(zip(*columns, strict=True), 1)

    def ends(self, title: str, row: int, texts: Sequence[str]) -> _Range | None:
        """The ends of an element: chain, number and insertion code of both."""
        one, first, code, two, last, last_code = texts
        for text in (first, last):
            if not re.match(r"-?[0-9]{1,9}\Z", text):
                what = f"row {row} of _{self.name}: {text!r} is no number of a residue"
                self.annotation.problem(what, hint=f"say where {title} begins and ends")
                return None
        if one != two:
            where = f"row {row} of _{self.name}: {title}"
            what = f"{where} begins in chain {one} and ends in chain {two}"
            self.annotation.problem(what, hint=ONE_CHAIN)
            return None
        return _Range(title, one, (int(first), code), (int(last), last_code))


ENDS = (
    "beg_auth_asym_id",
    "beg_auth_seq_id",
    "?pdbx_beg_PDB_ins_code",
    "end_auth_asym_id",
    "end_auth_seq_id",
    "?pdbx_end_PDB_ins_code",
)


CATEGORIES = {
    "struct_conf": _Annotation._read_conformations,
    "struct_sheet_range": _Annotation._read_ranges,
    "struct_sheet_order": _Annotation._read_order,
}
