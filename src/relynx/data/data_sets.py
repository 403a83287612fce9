"""Data sets: the bundled protein domains, and data made from a seed, with a rule that is known."""

from __future__ import annotations

import gzip
import json
import os
from array import array
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Longs
from relynx.data.lists import from_lists
from relynx.data.sequences import Sequences, SequencesBuilder
from relynx.errors import MOST_PROBLEMS, DataError, InputError, Problem, Source, raise_first
from relynx.logic.datalog import parse_background
from relynx.logic.source_files import MAGIC, decoded, read_bytes, unpacked
from relynx.logic.terms import SURROGATE

BUNDLED = "protein_folds.jsonl.gz"

# The longest short and the longest medium length, in residues.
HELIX_CUTS = (5, 11)
STRAND_CUTS = (4, 6)

RULES = """\
ladder(X,Y,S) :- ladder(Y,X,S).
neighbour(X,Y) :- ladder(X,Y,_).
helix(E,C,L) :- he(E,_,C,L).
strand(E) :- st(E,_,_).
sense(E,S) :- st(E,S,_).
"""

_FIELDS = {"id": str, "fold": str, "family": str, "nr40": bool, "elements": list}
_STRAND = {"sense": str, "sense_prev": str, "sheet": str, "sheet_ord": int, "partners": list}
_ELEMENTS = {"he": {"hand": str, "cls": str, "len": int}, "st": _STRAND | {"len": int}}
_TYPE_NAMES = {str: "text", bool: "true or false", int: "an integer", list: "a list"}


def read_folds(
    nonredundant: bool = False, path: str | os.PathLike[str] | None = None
) -> tuple[Sequences, NDArray[np.str_], NDArray[np.str_]]:
    """The sequences, folds and families of a file; see `relynx.load_protein_folds`."""
    source = _read(path)
    domains = [d for d in _domains(source) if d["nr40"] or not nonredundant]
    if not domains:
        which = "domain of the nonredundant subset" if nonredundant else "domain"
        raise DataError(f"the file holds no {which}", source)
    X = domain_sequences(domains)
    return X, np.array([d["fold"] for d in domains]), np.array([d["family"] for d in domains])


def _read(path: str | os.PathLike[str] | None) -> Source:
    if path is None:
        packed = files("relynx.data").joinpath("files", BUNDLED).read_bytes()
        return Source(gzip.decompress(packed).decode(), BUNDLED)
    name, data = os.fsdecode(path), read_bytes(path)
    if data.startswith(MAGIC):
        data = unpacked(data, name)
    return Source(decoded(data, name), name)


def _domains(source: Source) -> list[dict[str, Any]]:
    """Every domain of the file. Raises DataError with all that is wrong."""
    domains: list[dict[str, Any]] = []
    problems: list[Problem] = []
    first_seen: dict[str, int] = {}
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if len(problems) > MOST_PROBLEMS:
            break
        found = _domain(line, source, start, problems) if line.strip() else None
        if found is not None:
            first = first_seen.setdefault(found["id"], number)
            if first != number:
                what = f"the id '{found['id']}' was used before"
                problems.append(Problem(what, source, start, hint=f"the first is on line {first}"))
            domains.append(found)
        start += len(line) + 1
    raise_first(problems, DataError)
    return domains


def _domain(
    line: str, source: Source, start: int, problems: list[Problem]
) -> dict[str, Any] | None:
    """The domain on a line, or None, and what is wrong with it among the problems."""
    try:
        domain = json.loads(line)
    except (ValueError, RecursionError) as error:
        at = start + getattr(error, "pos", 0)
        deep = isinstance(error, RecursionError)
        why = getattr(error, "msg", "nested too deeply" if deep else "a number is too long")
        what = f"not JSON: {why.lower()}"
        problems.append(Problem(what, source, at, hint="one domain a line, as a JSON object"))
        return None
    wrong = list(islice(_wrong(domain), MOST_PROBLEMS + 1))
    problems.extend(Problem(what, source, start) for what in wrong)
    return None if wrong else domain


def _wrong(domain: object) -> Iterator[str]:
    missing = list(_wrong_fields(domain, _FIELDS, "the domain"))
    yield from missing
    if missing or not isinstance(domain, dict):
        return
    strands = 0
    for i, element in enumerate(domain["elements"]):
        where = f"elements[{i}]"
        element_type = element.get("type") if isinstance(element, dict) else None
        if element_type not in _ELEMENTS:
            yield f"{where} is neither a helix (type 'he') nor a strand (type 'st')"
            continue
        strands += element_type == "st"
        wrong = list(_wrong_fields(element, _ELEMENTS[element_type], where))
        missing += wrong
        yield from wrong
    if not missing:
        yield from _wrong_sheets(domain["elements"], strands)


def _wrong_fields(value: object, fields: dict[str, type], where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is no JSON object"
        return
    for name, value_type in fields.items():
        if name not in value:
            yield f"{where} has no '{name}'"
        elif type(value[name]) is not value_type:
            yield f"'{name}' of {where} must be {_TYPE_NAMES[value_type]}"
        elif value_type is str and SURROGATE.search(value[name]):
            yield f"'{name}' of {where} is no Unicode text"


def _wrong_sheets(elements: list[Any], n_strands: int) -> Iterator[str]:
    positions: dict[tuple[str, int], int] = {}
    strand = -1
    for i, element in enumerate(elements):
        if not isinstance(element, dict) or element.get("type") != "st":
            continue
        strand += 1
        position = element["sheet"], element["sheet_ord"]
        if positions.setdefault(position, i) != i:
            first = positions[position]
            yield f"elements[{i}] has the place of elements[{first}] in sheet {position[0]}"
        for partner in element["partners"]:
            match partner:
                case [int(index), "plus" | "minus"] if 0 <= index < n_strands and index != strand:
                    pass
                case _:
                    yield (
                        f"a partner of elements[{i}] is {json.dumps(partner)}; it must be "
                        f"[strand, 'plus' or 'minus'] with another strand from 0 to {n_strands - 1}"
                    )


def _length(residues: int, cuts: tuple[int, int]) -> str:
    return "short" if residues <= cuts[0] else "medium" if residues <= cuts[1] else "long"


def domain_sequences(domains: list[dict[str, Any]]) -> Sequences:
    """The sequences of some domains, with the background rules."""
    builder = SequencesBuilder()
    helices, strands = builder.buffer("he", 4), builder.buffer("st", 3)
    turns = builder.buffer("sense_prev", 2)
    chain, along = builder.buffer("next_s", 2), builder.buffer("next_b", 2)
    across, ladders = builder.buffer("next_h", 2), builder.buffer("ladder", 3)
    code = builder.code
    for domain in domains:
        at = builder.begin(domain["id"], domain["fold"])
        events = [code(f"e{i + 1}") for i in range(len(domain["elements"]))]
        bonded: list[tuple[int, list[list[Any]]]] = []
        sheets: dict[str, list[tuple[int, int]]] = {}
        for event, element in zip(events, domain["elements"], strict=True):
            if element["type"] == "he":
                length = code(_length(element["len"], HELIX_CUTS))
                helices.extend((at, event, code(element["hand"]), code(element["cls"]), length))
            else:
                length = code(_length(element["len"], STRAND_CUTS))
                strands.extend((at, event, code(element["sense"]), length))
                turns.extend((at, event, code(element["sense_prev"])))
                bonded.append((event, element["partners"]))
                sheets.setdefault(element["sheet"], []).append((element["sheet_ord"], event))
        _link(chain, at, events)
        for sheet in sheets.values():
            _link(along, at, [event for _, event in sheet])
            _link(across, at, [event for _, event in sorted(sheet)])
        for i, (event, partners) in enumerate(bonded):
            for j, sense in partners:
                if i < j or [i, sense] not in bonded[j][1]:  # one direction; a rule gives the other
                    ladders.extend((at, event, bonded[j][0], code(sense)))
    return builder.build(background=parse_background(RULES, "protein folds"))


def _link(buffer: array[int], at: int, events: list[int]) -> None:
    """Write that each event follows the one before it."""
    for left, right in pairwise(events):
        buffer.extend((at, left, right))


def planted_rule(
    n_sequences: int = 200,
    *,
    n_events: int = 8,
    n_actions: int = 6,
    n_objects: int = 4,
    flip: float = 0.0,
    random_state: int | np.random.Generator = 0,
) -> tuple[Sequences, NDArray[np.str_]]:
    """Make sequences whose class depends on a relation between events.

    Every event is an action on an object, both drawn uniformly: `do(E,a2,o1)`. The class is `yes`
    when the action a0 and later a1 are done to the same object, whichever it is; no count of
    actions or objects separates the classes. Sequences are drawn until half of them are `yes`.

    Parameters
    ----------
    n_sequences, n_events, n_actions, n_objects
        How many sequences, events of each, and how many actions (at least 2) and objects there are.
    flip
        The share of labels that are then turned into the other class.
    random_state
        A seed, or numpy's generator.

    Returns
    -------
    X, y
        The sequences, and their classes as an array.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.planted_rule(20, random_state=1)
    >>> hits = rx.covers("do(X,a0,O), follow_s(X,Y), do(Y,a1,O)", X)
    >>> bool(((y == "yes") == hits).all()), int(hits.sum())
    (True, 10)
    """
    if n_actions < 2 or n_events < 2 or n_objects < 1:
        sizes = f"{n_events} events, {n_actions} actions and {n_objects} objects"
        what = f"{sizes} cannot hold the rule"
        raise InputError(what, hint="give at least 2 events, 2 actions and 1 object")
    if not 0 <= flip <= 1:
        raise InputError(f"flip is {flip}", hint="give a share from 0 to 1")
    rng = np.random.default_rng(random_state)
    wanted = rng.permutation(n_sequences) % 2 == 0
    actions = np.empty((n_sequences, n_events), np.int64)
    objects = np.empty((n_sequences, n_events), np.int64)
    missing = np.arange(n_sequences)
    while len(missing):
        actions[missing] = rng.integers(n_actions, size=(len(missing), n_events))
        objects[missing] = rng.integers(n_objects, size=(len(missing), n_events))
        missing = missing[rule_holds(actions[missing], objects[missing]) != wanted[missing]]
    flipped = rng.choice(n_sequences, round(flip * n_sequences), replace=False)
    wanted[flipped] = ~wanted[flipped]
    rows = zip(actions.tolist(), objects.tolist(), strict=True)
    lists = [[("do", f"a{a}", f"o{o}") for a, o in zip(*row, strict=True)] for row in rows]
    y = np.where(wanted, "yes", "no")
    X, _ = from_lists(lists, y.tolist())
    return X, y


def rule_holds(actions: Longs, objects: Longs) -> Bools:
    """Whether a0 and later a1 are done to the same object, row by row."""
    holds = np.zeros(len(actions), bool)
    for j in range(1, actions.shape[1]):
        before = (actions[:, :j] == 0) & (objects[:, :j] == objects[:, j : j + 1])
        holds |= before.any(axis=1) & (actions[:, j] == 1)
    return holds
