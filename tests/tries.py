"""Tries for the tests: by hand from text, and at random. No search is involved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from relynx import Pattern, Vocabulary, parse_pattern
from relynx.logic.terms import Atom, Var
from relynx.mining.patterns.trie import Trie

LINK = re.compile(r"(next|followat|follow)_(\w+)\Z")


def trie_of(
    rows: Sequence[tuple[int, str, Sequence[int]]],
    classes: tuple[object, ...] = ("no", "yes"),
    class_sizes: Sequence[int] = (10, 10),
) -> Trie:
    """A trie of (parent, what the step adds, supports); variables are A, B, ... as numbered."""
    steps = [parse_pattern(text).atoms for _, text, _ in rows]
    atoms = [atom for step in steps for atom in step]
    facts = [atom for atom in atoms if not LINK.match(atom.predicate)]
    relations = tuple(dict.fromkeys(atom.key for atom in facts))
    found = (LINK.match(atom.predicate) for atom in atoms)
    dimensions = tuple(dict.fromkeys(link[2] for link in found if link))
    constants = (arg for atom in facts for arg in atom.args if not isinstance(arg, Var))
    vocabulary = Vocabulary().extended(constants)
    width = max((arity for _, arity in relations), default=0)
    encoded = [_encoded(step, relations, dimensions, vocabulary, width) for step in steps]
    return Trie(
        np.array([parent for parent, _, _ in rows], np.int32),
        np.array(encoded, np.int32).reshape(len(rows), 5 + width),
        np.array([counts for _, _, counts in rows], np.int32).reshape(len(rows), len(classes)),
        relations,
        dimensions,
        vocabulary,
        classes,
        np.array(class_sizes),
    )


def _encoded(
    step: Iterable[Atom],
    relations: tuple[tuple[str, int], ...],
    dimensions: tuple[str, ...],
    vocabulary: Vocabulary,
    width: int,
) -> list[int]:
    row = [-1, 0, 0, 0, -1] + [0] * width
    for atom in step:
        args = [
            _number(arg.name) if isinstance(arg, Var) else ~vocabulary.code(arg)
            for arg in atom.args
        ]
        if link := LINK.match(atom.predicate):
            n = {"next": 1, "follow": 0, "followat": atom.args[0]}[link[1]]
            row[:4] = [dimensions.index(link[2]), n, *args[-2:]]
        else:
            row[4] = relations.index(atom.key)
            row[5 : 5 + len(args)] = args
    return row


def _number(name: str) -> int:
    return ord(name[0]) - ord("A") + 26 * int(name[1:] or 0)


@st.composite
def random_rows(draw: st.DrawFn, *, most: int = 14) -> list[tuple[int, str, tuple[int, int]]]:
    """Rows for `trie_of`: patterns whose supports shrink from parent to child, none twice."""
    rows: list[tuple[int, str, tuple[int, int]]] = []
    texts: list[str] = []
    seen: set[Pattern] = set()
    for _ in range(draw(st.integers(1, most))):
        parent = draw(st.integers(-1, len(rows) - 1))
        before = texts[parent] if parent >= 0 else ""
        known = sorted(set(re.findall(r"\b[A-Z]\b", before)))
        step = draw(_steps(known))
        text = f"{before}, {step}" if before else step
        atoms = parse_pattern(text).atoms
        form = Pattern(atoms).canonical()
        if len(set(atoms)) < len(atoms) or form in seen:
            continue
        seen.add(form)
        limits = rows[parent][2] if parent >= 0 else (4, 4)
        counts = tuple(draw(st.integers(max(0, most - 1), most)) for most in limits)
        rows.append((parent, step, counts))
        texts.append(text)
    return rows


@st.composite
def _steps(draw: st.DrawFn, known: list[str]) -> str:
    """What a step may add: a fact, a closing link, or a link to a new event and its fact."""
    new = [chr(ord("A") + len(known) + i) for i in range(3)]
    event = draw(st.sampled_from(known or new[:1]))
    link = ""
    if known and draw(st.booleans()):
        closing = draw(st.booleans())
        target = draw(st.sampled_from(known)) if closing else new[0]
        name = draw(st.sampled_from(["next_s(", "follow_s(", "followat_s(2,", "next_t("]))
        link = f"{name}{event},{target})"
        if closing:
            return link
        event = target
    fresh = next(name for name in new if name != event and name not in known)
    other = draw(st.sampled_from(["x", "y", "1", "1.0", fresh, *known]))
    predicate = draw(st.sampled_from(["p", "q"]))
    fact = f"{predicate}({event},{other})" if draw(st.booleans()) else f"{predicate}1({event})"
    return f"{link}, {fact}" if link else fact
