"""A set of patterns as a part of a model file, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from relynx.data.vocabulary import Vocabulary
from relynx.errors import InputError
from relynx.logic.parser import parse_atom
from relynx.logic.terms import Atom, constant_key
from relynx.mining.patterns import trie as tr
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import Trie, with_fewest_codes
from relynx.mining.report import SearchLevel, SearchReport
from relynx.storage.fields import Field, finished
from relynx.storage.parts import Array, Part, is_label, plain, plain_label

MOST_STEPS, MOST_ARGUMENTS = 256, 10_000  # of a pattern, of an atom
LEVEL_COUNTS = [f.name for f in fields(SearchLevel) if not f.name.startswith("nearest_")]


def pattern_state(patterns: PatternSet) -> dict[str, Any]:
    """A set of patterns as plain values and arrays, without what it does not need."""
    trie, rows = patterns.trie.restricted(patterns.rows)
    if _too_deep(trie.parent):
        what = f"a pattern has more than {MOST_STEPS} steps, which a model file cannot keep"
        raise InputError(what, hint="mine with a smaller max_length")
    steps, constants = with_fewest_codes(trie.steps)
    return {
        "parent": plain(trie.parent.astype(np.int32), "parent"),
        "steps": steps,
        "supports": plain(trie.supports.astype(np.int32), "supports"),
        "rows": plain(rows.astype(np.int64), "rows"),
        "relations": [[name, arity] for name, arity in trie.relations],
        "dimensions": [*trie.dimensions],
        "constants": [trie.vocabulary[code] for code in constants],
        "classes": [plain_label(label, "the PatternSet") for label in trie.classes],
        "class_sizes": plain(trie.class_sizes.astype(np.int64), "class_sizes"),
        "complete_up_to": int(patterns.complete_up_to),
        "partial": patterns.partial,
        "object_identity": bool(patterns.object_identity),
        "levels": [
            {name: plain(value, name) for name, value in asdict(level).items()}
            for level in patterns.report.levels
        ],
        "removed": plain(dict(patterns.report.removed), "the report"),
    } | (
        ({"advice": [*patterns.report.advice]} if patterns.report.advice else {})
        | ({"key": [str(atom) for atom in trie.key]} if trie.key else {})
    )


def patterns_of(part: Part) -> PatternSet:
    """The set of patterns that a part of a model file describes."""
    relations, dimensions = _relations(part), part.texts("dimensions")
    vocabulary = _vocabulary(part)
    parent = part.array("parent", np.int32, (None,))
    n = len(parent)
    if n and ((parent < -1).any() or (parent >= np.arange(n)).any()):
        raise part.wrong("parent", "holds a number that is no earlier row")
    if _too_deep(parent):
        raise part.wrong("parent", f"makes a pattern of more than {MOST_STEPS} steps")
    steps = part.array("steps", np.int32, (n, None))
    _check_steps(part, parent, steps, relations, len(dimensions), len(vocabulary))
    classes = _classes(part)
    sizes = part.numbers("class_sizes", (len(classes),), 0, 2**31 - 1)
    supports = part.array("supports", np.int32, (n, len(classes)))
    if n and ((supports < 0).any() or (supports > sizes).any()):
        raise part.wrong("supports", "holds a number that is no part of its class")
    rows = part.numbers("rows", (None,), 0, n - 1)
    key = _key(part) if part.has("key") else ()
    names = relations, dimensions, vocabulary
    trie = Trie(parent, steps, supports, *names, classes, sizes, key)
    return PatternSet(
        trie,
        rows,
        complete_up_to=part.count("complete_up_to"),
        partial=part.text_or_none("partial"),
        report=_report(part),
        object_identity=part.truth("object_identity"),
    )


def _relations(part: Part) -> tuple[tuple[str, int], ...]:
    relations = []
    for pair in part.listed("relations"):
        match pair:
            case [str(name), int(arity)] if name and 0 <= arity <= MOST_ARGUMENTS:
                relations.append((name, int(arity)))
            case _:
                raise part.wrong("relations", "is no list of names and numbers of arguments")
    return tuple(relations)


def _key(part: Part) -> tuple[Atom, ...]:
    try:
        return tuple(map(parse_atom, part.texts("key")))
    except InputError:
        raise part.wrong("key", "is no list of atoms") from None


def _vocabulary(part: Part) -> Vocabulary:
    constants = part.listed("constants")
    if not all(is_label(one) and not isinstance(one, bool) for one in constants):
        raise part.wrong("constants", "is no list of texts and finite numbers")
    if len({constant_key(constant) for constant in constants}) < len(constants):
        raise part.wrong("constants", "holds one twice")
    return Vocabulary(constants)


def _classes(part: Part) -> tuple[object, ...]:
    classes = part.listed("classes")
    if not classes or not all(map(is_label, classes)) or len(set(classes)) < len(classes):
        raise part.wrong("classes", "is no list of different classes")
    return tuple(classes)


def _too_deep(parent: Array) -> bool:
    current = parent
    for _ in range(MOST_STEPS):
        current = current[current >= 0]
        if not len(current):
            return False
        current = parent[np.unique(current)]
    return True


def _check_steps(
    part: Part,
    parent: Array,
    steps: Array,
    relations: tuple[tuple[str, int], ...],
    n_dimensions: int,
    n_constants: int,
) -> None:
    """Refuse numbers of dimensions, relations, variables and constants that there are not."""
    if steps.shape[1] < tr.ARGUMENTS:
        raise part.wrong("steps", f"has fewer than {tr.ARGUMENTS} columns")
    args = steps[:, tr.ARGUMENTS :]
    dimension, relation = steps[:, tr.DIMENSION], steps[:, tr.RELATION]
    arities = np.array([*(arity for _, arity in relations), -1], np.int64)  # the last for none
    if (
        ((dimension < -1) | (dimension >= n_dimensions) | (relation < -1)).any()
        or (relation >= len(relations)).any()
        or ((dimension < 0) & (relation < 0)).any()
        or (steps[:, [tr.N_STEPS, tr.FROM, tr.TO]] < 0).any()
        or (args < -n_constants).any()
        or (arities[relation] > args.shape[1]).any()
    ):
        raise part.wrong("steps", "holds a number that stands for nothing")
    if not _grows(parent, steps, arities[relation]):
        raise part.wrong("steps", "do not grow patterns variable by variable")


def _grows(parent: Array, steps: Array, arities: Array) -> bool:
    """Whether each row extends another as the search does, which matching relies on. Variables are
    numbered as they come. A first row is a fact; a link joins two events that are there, or leads
    from one to a new event of which the fact of its row speaks."""
    n_variables = np.zeros(len(parent), np.int64)
    todo = np.flatnonzero(parent < 0)
    children = np.argsort(parent, kind="stable")
    starts = np.searchsorted(parent[children], np.arange(len(parent) + 1))
    while len(todo):
        known = np.where(parent[todo] < 0, 0, n_variables[parent[todo]])
        count = known.copy()
        rows, has_link, has_fact = steps[todo], steps[todo, tr.DIMENSION] >= 0, arities[todo] >= 0
        start, end = rows[:, tr.FROM], rows[:, tr.TO]
        new_event = has_link & (end == known)
        count += new_event
        spoken_of = np.zeros(len(todo), bool)
        for j in range(steps.shape[1] - tr.ARGUMENTS):
            term = np.where(j < arities[todo], rows[:, tr.ARGUMENTS + j], -1)
            if (term > count).any():
                return False
            count += term == count
            spoken_of |= new_event & (term == end)
        wrong = has_link & ((start >= known) | (end > known) | (has_fact != new_event))
        if (wrong | (new_event & ~spoken_of)).any():
            return False
        n_variables[todo] = count
        lengths = starts[todo + 1] - starts[todo]
        first = np.repeat(starts[todo] - np.cumsum(lengths) + lengths, lengths)
        todo = children[first + np.arange(len(first))]
    return True


def _report(part: Part) -> SearchReport:
    levels = []
    for level in part.parts("levels"):
        counts = {name: level.count(name) for name in LEVEL_COUNTS}
        support = None if level.none("nearest_support") else level.share("nearest_support")
        frequency = None if level.none("nearest_frequency") else level.count("nearest_frequency")
        level.end()
        levels.append(SearchLevel(**counts, nearest_support=support, nearest_frequency=frequency))
    removed = part.value("removed")
    if not isinstance(removed, dict) or not all(
        isinstance(key, str) and isinstance(n, int) for key, n in removed.items()
    ):
        raise part.wrong("removed", "is no count for each filter")
    advice = part.texts("advice") if part.has("advice") else ()
    return SearchReport(tuple(levels), removed, advice)


PATTERNS = Field(
    lambda patterns, _: pattern_state(patterns),
    lambda part, key, _: finished(part.part(key), patterns_of),
)
