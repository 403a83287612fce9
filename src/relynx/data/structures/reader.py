"""Sequences of helices and strands from protein structures, with the order of strands in sheets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias

from numpy.typing import NDArray

from relynx.data.data_sets import domain_sequences
from relynx.data.sequences import Sequences, counted, shown
from relynx.data.structures import formats as fm
from relynx.errors import DataError, InputError, Problem, Source, did_you_mean, raise_all
from relynx.logic.terms import Constant, as_constant

Positions: TypeAlias = dict[tuple[str, int], int]

SEGMENT = re.compile(r"(?:([^:,]*):)?(?:(-?\d{1,9}[A-Za-z]?)-(-?\d{1,9}[A-Za-z]?))?\Z", re.ASCII)
EXAMPLE = "write A:1-120, A: for all of a chain, or A:1-50,A:90-120 for parts"
MISSING = ("error", "compute")
SHOWN = 12
NULL = "null"


def read_structures(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    domains: Mapping[str, tuple[str, str]] | None = None,
    labels: Mapping[str, object] | Iterable[object] | None = None,
    missing: str = "error",
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read protein structures: helices and strands as sequences, in the form of the bundled folds.

    The facts, the three dimensions and the background rules are those of `load_protein_folds`, and
    so its bias fits. This needs biotite: `pip install 'relynx[structures]'`. Raises InputError
    with all that is wrong with the arguments, or with the files.

    Parameters
    ----------
    paths
        PDB (`.pdb`, `.ent`), mmCIF (`.cif`) or BinaryCIF (`.bcif`) files, also packed (`.gz`).
    domains
        Parts of structures: for the id of each sequence the name of a file without its ending, and
        ranges of residues, as in `{"d1abca1": ("1abc", "A:1-120")}`. Without it there is a sequence
        for each chain that is a protein, with an id such as `1abc_A`.
    labels
        Classes by the id of the sequence or the name of the file; or a list, one for each domain
        if domains are given, else for each file.
    missing
        What to do with a file that lists no helix and no strand: `"error"`, or `"compute"` to
        find them by the positions of the atoms. Such strands have no neighbours.

    Returns
    -------
    X, labels
        The sequences, and their labels (None without any).

    Examples
    --------
    >>> import pathlib, tempfile, relynx as rx
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.pdb")
    >>> atom = "ATOM  {0:>5}  CA  VAL A{0:>4}       0.000   0.000   0.000  1.00  0.00           C"
    >>> lines = ["SHEET    1   A 1 VAL A   1  VAL A   3  0", *map(atom.format, range(1, 4))]
    >>> _ = path.write_text("\\n".join(lines))
    >>> print(rx.read_structures(path)[0][0])
    begin(tiny_A). st(e1,null,short). sense_prev(e1,null). end.
    """
    _check_can_read(missing)
    files = _named(paths)
    wanted = _wanted(domains, files)
    structures = _read(files, compute=missing == "compute")
    parts = _parts(structures, files, wanted)
    classes = _labels(labels, parts, list(files), listed=wanted is not None)
    strands = {name: _joined(structure.sheets) for name, structure in structures.items()}
    found = []
    for id, (name, positions) in parts.items():
        known = _elements(positions, structures[name].helices, strands[name])
        found.append({"id": id, "fold": classes and classes[id], "elements": known})
    X = domain_sequences(found)
    return X, X.labels


def _check_can_read(missing: object) -> None:
    if find_spec("biotite") is None:
        raise InputError("structures need biotite, which is not installed", hint=fm.INSTALL)
    if missing not in MISSING:
        hint = did_you_mean(str(missing), MISSING) or "give 'error' or 'compute'"
        raise InputError(f"missing is {missing!r}", hint=hint)


def _parts(
    structures: Mapping[str, fm.Structure],
    files: Mapping[str, str],
    wanted: Mapping[str, tuple[str, list[Range]]] | None,
) -> dict[str, tuple[str, Positions]]:
    """The residues of each sequence, with the name of its file; without domains, of each chain."""
    parts: dict[str, tuple[str, Positions]] = {}
    problems: list[Problem] = []
    for name, structure in structures.items() if wanted is None else ():
        for chain in structure.chains:
            positions = _cut(structure, [(chain, None, None)], "", problems)
            id = f"{name}_{chain}" if chain else name
            if id in parts:
                what = f"two sequences are named {id!r}: of {files[parts[id][0]]} and {files[name]}"
                problems.append(Problem(what, hint="rename one of the files, or give domains"))
            parts[id] = name, positions
    for id, (name, ranges) in (wanted or {}).items():
        parts[id] = name, _cut(structures[name], ranges, id, problems)
    raise_all(problems, DataError)
    return parts


def _named(paths: Any) -> dict[str, str]:
    """The files by their names without ending; `pdb1abc.ent` is 1abc."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(listed, Iterable) or isinstance(listed, bytes | Mapping):
        what = f"paths is {shown(paths)}"
        raise InputError(what, hint="give the path of a file, or a list of paths")
    out: dict[str, str] = {}
    problems = []
    for path in listed:
        if not isinstance(path, str | os.PathLike):
            problems.append(Problem(f"{shown(path)} is no path", hint="give paths as text"))
            continue
        full = os.fsdecode(path)
        name = os.path.basename(full)
        for ending in (".gz", *fm.FORMATS):
            if name.lower().endswith(ending):
                name = name[: -len(ending)]
        if re.match(r"pdb\w{4}\Z", name) and ".ent" in full.lower():
            name = name[3:]
        if name in out:
            what = f"two files are named {name!r}: {out[name]} and {full}"
            problems.append(Problem(what, hint="give each file a name of its own"))
        out[name] = full
    if not out and not problems:
        problems.append(Problem("there is no file to read", hint="give the path of a structure"))
    raise_all(problems)
    return out


Range: TypeAlias = tuple[str | None, fm.Residue | None, fm.Residue | None]


def _wanted(domains: Any, files: Mapping[str, str]) -> dict[str, tuple[str, list[Range]]] | None:
    """The requested domains: a file and ranges of residues for each id."""
    if domains is None:
        return None
    if not isinstance(domains, Mapping) or not domains:
        hint = "give a dict such as {'d1abca1': ('1abc', 'A:1-120')}"
        raise InputError(f"domains is {shown(domains)}", hint=hint)
    out, problems = {}, []
    for id, value in domains.items():
        pair = isinstance(value, tuple | list) and list(map(type, value)) == [str, str]
        if not isinstance(id, str) or not id or not pair:
            what = f"domain {shown(id)} is {shown(value)}"
            problems.append(Problem(what, hint="give a file and ranges: ('1abc', 'A:1-120')"))
            continue
        name, text = value
        if name not in files:
            known = ", ".join(list(files)[:SHOWN])
            hint = did_you_mean(name, list(files)) or f"the files are {known}"
            problems.append(Problem(f"domain {id!r}: there is no file {name!r}", hint=hint))
        ranges = [_range(segment.strip()) for segment in text.split(",")]
        if None in ranges:
            what = f"domain {id!r}: the ranges {text!r} are not understood"
            problems.append(Problem(what, hint=EXAMPLE))
        out[id] = name, [one for one in ranges if one is not None]
    raise_all(problems)
    return out


def _range(text: str) -> Range | None:
    """A:1-120 as a chain and two residues; a part that is not given is None."""
    match = SEGMENT.match(text)
    if match is None or not text:
        return None
    ends: list[fm.Residue | None] = []
    for end in match.group(2, 3):
        code = end[-1] if end and end[-1].isalpha() else ""
        ends.append((int(end.removesuffix(code)), code) if end else None)
    return match[1], ends[0], ends[1]


def _read(files: Mapping[str, str], *, compute: bool) -> dict[str, fm.Structure]:
    """All structures. Raises DataError with what is wrong with any of them."""
    out: dict[str, fm.Structure] = {}
    problems: list[Problem] = []
    for name, path in files.items():
        try:
            out[name] = fm.read_structure(path, compute=compute)
        except InputError as error:
            problems += error.problems
    raise_all(problems, DataError)
    return out


def _cut(
    structure: fm.Structure, ranges: list[Range], id: str, problems: list[Problem]
) -> Positions:
    """The position of each residue of a domain, by chain and position in the chain."""
    positions: Positions = {}
    source = Source("", structure.source.path)
    for chain, first, last in ranges:
        if chain is None and len(structure.chains) == 1:
            chain = next(iter(structure.chains))
        if chain is None or chain not in structure.chains:
            said = "names no chain" if chain is None else f"names the chain {chain!r}"
            hint = f"the chains are {', '.join(list(structure.chains)[:SHOWN])}"
            problems.append(Problem(f"domain {id!r} {said}", source, hint=hint))
            continue
        residues = structure.chains[chain]
        number = {residue: i for i, residue in enumerate(residues)}
        begin = 0 if first is None else _nearest(first, number, upwards=True)
        end = len(residues) - 1 if last is None else _nearest(last, number, upwards=False)
        if begin is None or end is None or begin > end:
            which = "-".join(f"{n}{code}" for n, code in (one for one in (first, last) if one))
            what = f"domain {id!r}: chain {chain} has no residues {which}"
            one, two = (f"{n}{code}" for n, code in (residues[0], residues[-1]))
            problems.append(Problem(what, source, hint=f"it has {one} to {two}"))
            continue
        for i in range(begin, end + 1):
            positions.setdefault((chain, i), len(positions))
    return positions


def _nearest(residue: fm.Residue, number: Mapping[fm.Residue, int], *, upwards: bool) -> int | None:
    """The position of a residue, or of the nearest inside the range where it has no atoms."""
    if residue in number:
        return number[residue]
    if upwards:
        return min((i for known, i in number.items() if known > residue), default=None)
    return max((i for known, i in number.items() if known < residue), default=None)


def _labels(
    labels: Any, parts: Mapping[str, tuple[str, Positions]], names: list[str], *, listed: bool
) -> dict[str, Constant] | None:
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            hint = "give a dict of classes by id, or a list"
            raise InputError(f"labels is {shown(labels)}", hint=hint)
        given, keys = list(labels), list(parts) if listed else names
        if len(given) != len(keys):
            of = "domain" if listed else "file"
            what = f"{counted(len(given), 'label')} for {counted(len(keys), of)}"
            raise InputError(what, hint=f"give one for each {of}")
        labels = dict(zip(keys, given, strict=True))
    out, lost, problems = {}, [], []
    for id, (name, _) in parts.items():
        key = id if id in labels else name
        if key not in labels:
            lost.append(id)
            continue
        try:
            out[id] = as_constant(labels[key])
        except TypeError:
            what = f"the label of {id!r} is {shown(labels[key])}"
            problems.append(Problem(what, hint="give text or a number"))
    if lost:
        which = ", ".join(lost[:3]) + (", ..." if len(lost) > 3 else "")
        what = f"there is no label for {counted(len(lost), 'sequence')} ({which})"
        problems.append(Problem(what, hint="give a label for each id, or for its file"))
    raise_all(problems)
    return out


@dataclass(frozen=True, slots=True)
class _Strands:
    """All strands of a structure, in the order of the file; `orientations` are the group of strands
    with known relative orientation that each belongs to, and its own there, 1 or -1."""

    spans: tuple[fm.Span, ...]
    sheets: tuple[int, ...]  # sheets that share a strand are one
    senses: tuple[Mapping[int, str], ...]  # neighbours, and whether both run the same way
    orientations: tuple[tuple[int, int], ...]


def _joined(sheets: Iterable[fm.Sheet]) -> _Strands:
    """The strands of some sheets, each once: a file repeats one where a barrel closes, and where
    sheets share strands."""
    spans: list[fm.Span] = []
    sheet_of: list[int] = []
    senses: list[dict[int, str]] = []
    known: dict[str, list[int]] = {}  # by chain
    for number, sheet in enumerate(sheets):
        positions = []
        for span in sheet.spans:
            here = known.setdefault(span[0], [])
            same = next((i for i in here if _same(spans[i], span)), None)
            if same is None:
                same = len(spans)
                here.append(same)
                spans.append(span)
                senses.append({})
                sheet_of.append(number)
            elif sheet_of[same] != number:  # two sheets become one
                old, new = sorted((sheet_of[same], number))
                sheet_of = [old if one == new else one for one in sheet_of]
                number = old
            positions.append(same)
        for one, two, sense in sheet.pairs:
            i, j = positions[one], positions[two]
            if i != j:
                senses[j].setdefault(i, senses[i].setdefault(j, sense))
    return _Strands(tuple(spans), tuple(sheet_of), tuple(senses), _orientations(senses))


def _same(one: fm.Span, two: fm.Span) -> bool:
    """Whether two strands have half of the shorter one in common."""
    common = min(one[2], two[2]) - max(one[1], two[1]) + 1
    return one[0] == two[0] and 2 * common > min(one[2] - one[1], two[2] - two[1])


def _orientations(senses: Sequence[Mapping[int, str]]) -> tuple[tuple[int, int], ...]:
    """The orientation of each strand, 1 or -1, relative to the first of those connected with it."""
    orientations: dict[int, tuple[int, int]] = {}
    for start in range(len(senses)):
        if start in orientations:
            continue
        orientations[start] = start, 1
        reached = [start]
        for here in reached:  # which grows meanwhile
            for other, sense in senses[here].items():
                if other not in orientations:
                    turned = 1 if sense == "plus" else -1
                    orientations[other] = start, orientations[here][1] * turned
                    reached.append(other)
    return tuple(orientations[i] for i in range(len(senses)))


def _elements(
    residues: Mapping[tuple[str, int], int], helices: Iterable[fm.Helix], strands: _Strands
) -> list[dict[str, Any]]:
    """The helices and strands of a domain, in the form of the bundled folds, given the position in
    it of each residue by chain and position in the chain. An element with half or more of its
    residues outside is left out."""
    found: list[tuple[tuple[int, int], dict[str, Any]]] = []
    chains = {chain for chain, _ in residues}
    for helix in helices:
        if helix.span[0] in chains and (inside := _inside(helix.span, residues)) is not None:
            fields = {"type": "he", "hand": helix.hand, "cls": helix.cls, "len": inside[2]}
            found.append((inside[:2], fields))
    here = {}
    for i, span in enumerate(strands.spans):
        if span[0] in chains and (inside := _inside(span, residues)) is not None:
            here[i] = inside
    along = sorted(here, key=lambda i: here[i])
    number = {i: k for k, i in enumerate(along)}
    positions = _walked(here, strands)
    last: dict[int, int] = {}
    for i in along:
        sheet = strands.sheets[i]
        before = last.get(sheet)
        order, reached = positions[i]
        fields = {
            "type": "st",
            "sense": NULL if reached is None else strands.senses[reached][i],
            "sense_prev": NULL,
            "sheet": str(sheet),
            "sheet_ord": order,
            "partners": [[number[j], sense] for j, sense in strands.senses[i].items() if j in here],
            "len": here[i][2],
        }
        if before is not None:
            (group, first), (own, second) = strands.orientations[before], strands.orientations[i]
            if group == own:  # else it is not known whether they run the same way
                fields["sense_prev"] = "plus" if first == second else "minus"
        last[sheet] = i
        found.append((here[i][:2], fields))
    return [fields for _, fields in sorted(found, key=lambda one: one[0])]


def _inside(span: fm.Span, residues: Mapping[tuple[str, int], int]) -> tuple[int, int, int] | None:
    """The first and last position of an element in a domain, and its number of residues there."""
    chain, first, last = span
    positions = [residues[chain, i] for i in range(first, last + 1) if (chain, i) in residues]
    if 2 * len(positions) <= last - first + 1:
        return None
    return min(positions), max(positions), len(positions)


def _walked(here: Iterable[int], strands: _Strands) -> dict[int, tuple[int, int | None]]:
    """For each strand its position on a walk through its sheet, from an edge on and from neighbour
    to neighbour, and the one it was reached from; where a walk ends, it continues with the next
    strand of the file."""
    out: dict[int, tuple[int, int | None]] = {}
    sheets: dict[int, list[int]] = {}
    for i in sorted(here):
        sheets.setdefault(strands.sheets[i], []).append(i)
    for members in sheets.values():
        beside = {i: sorted(strands.senses[i].keys() & set(members)) for i in members}
        order = 0
        while left := [i for i in members if i not in out]:
            # An edge has one neighbour or none among those that are left.
            edges = (i for i in left if sum(j in left for j in beside[i]) < 2)
            waiting: list[tuple[int, int | None]] = [(next(edges, left[0]), None)]
            while waiting:
                i, reached = waiting.pop()
                if i not in out:
                    out[i] = order, reached
                    order += 1
                    waiting += [(j, i) for j in reversed(beside[i]) if j not in out]
    return out
