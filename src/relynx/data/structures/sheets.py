"""Sheets of proteins: distinct strands, their order in the sheet, and their orientations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relynx.data.structures.formats import Helix, Sheet, Span

NULL = "null"


@dataclass(frozen=True, slots=True)
class Strands:
    """All strands of a structure, in the order of the file; `orientations` are the group of strands
    with known relative orientation that each belongs to, and its own there, 1 or -1."""

    spans: tuple[Span, ...]
    sheets: tuple[int, ...]  # sheets that share a strand are one
    senses: tuple[Mapping[int, str], ...]  # neighbours, and whether both run the same way
    orientations: tuple[tuple[int, int], ...]


def joined(sheets: Iterable[Sheet]) -> Strands:
    """The strands of some sheets, each once: a file repeats one where a barrel closes, and where
    sheets share strands."""
    spans: list[Span] = []
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
    return Strands(tuple(spans), tuple(sheet_of), tuple(senses), _orientations(senses))


def _same(one: Span, two: Span) -> bool:
    """Whether two strands have half of the shorter one in common."""
    common = min(one[2], two[2]) - max(one[1], two[1]) + 1
    shorter = min(one[2] - one[1], two[2] - two[1]) + 1
    return one[0] == two[0] and 2 * common >= shorter


def _orientations(senses: Sequence[Mapping[int, str]]) -> tuple[tuple[int, int], ...]:
    """The orientation of each strand, 1 or -1, relative to the first of those connected with it."""
    orientations: dict[int, tuple[int, int]] = {}
    for start in range(len(senses)):
        if start in orientations:
            continue
        orientations[start] = start, 1
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            for other, sense in senses[here].items():
                if other not in orientations:
                    turned = 1 if sense == "plus" else -1
                    orientations[other] = start, orientations[here][1] * turned
                    waiting.append(other)
    return tuple(orientations[i] for i in range(len(senses)))


def elements(
    residues: Mapping[tuple[str, int], int], helices: Iterable[Helix], strands: Strands
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


def _inside(span: Span, residues: Mapping[tuple[str, int], int]) -> tuple[int, int, int] | None:
    """The first and last position of an element in a domain, and its number of residues there."""
    chain, first, last = span
    positions = [residues[chain, i] for i in range(first, last + 1) if (chain, i) in residues]
    if 2 * len(positions) <= last - first + 1:
        return None
    return min(positions), max(positions), len(positions)


def _walked(here: Iterable[int], strands: Strands) -> dict[int, tuple[int, int | None]]:
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
