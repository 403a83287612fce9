"""The data of the page's scripts: patterns, models and sequences, packed to stay small.

Everything is plain JSON values. Of very many patterns or sequences the page has only some; the
contributions of the patterns left out are there as a sum. Facts of sequences come last and take
the space that is left. The page matches patterns itself, in the one sequence that it shows:
constants and predicates are numbers of two lists, facts bytes, seven bits of a number to each.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from relynx.arrays import Bools, Floats, Longs
from relynx.data.event_arguments import dimension_names, event_keys
from relynx.data.sequences import Facts
from relynx.data.vocabulary import Vocabulary
from relynx.logic.dimensions import OPERATORS, link_name, steps
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Struct, Var, constant_key, constant_text
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.wording import visible
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, weights
from relynx.reports.report_data import PatternRow, Predictions, ReportData

MOST_SEQUENCES = 2_000
MOST_PATTERNS = 1_000
PATTERN_ROOM = 1_200_000  # bytes for the patterns and their weights
TERM = 9  # bytes of a weight, about
ARGUMENT = 9  # bytes of an argument of a pattern, at most
THOUSANDTHS = 1_000  # class probabilities are whole numbers of them
MOST_PROBABILITIES = 300_000  # over all pairs and sequences; beyond that, the page has votes only
MOST_SUMS = 60_000  # numbers for patterns that are not on the page
BYTE = 255  # a probability of 1
ANONYMOUS = -1
CONSTANT = -2  # constant number c is written -2 - c; variables are 0, 1, ...
# Inside a script element these would end it, or a line of JavaScript.
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}

Numbers: TypeAlias = "list[list[float]] | None"
Place: TypeAlias = tuple[int, Key, int, int]  # a predicate and its number; the facts from, to
Places: TypeAlias = list[list[Place]]


def as_json(value: object) -> str:
    """ASCII JSON that is safe inside a script element, whatever text it holds."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def short(value: float) -> str:
    """A number with three digits, or as a whole number where it is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of some sequences under the numbers of the page. `keys` are the predicates,
    `dimensions` the numbers of those that link events, by the name of the dimension; `events` says
    which arguments hold events. `constants` has those of the facts kept, the most frequent first,
    and `sequences` the facts of each sequence as base64; None where there was no space."""

    keys: tuple[Key, ...]
    dimensions: dict[str, int]
    events: tuple[tuple[bool, ...], ...]
    constants: tuple[str, ...]
    sequences: tuple[str | None, ...]
    _numbers: dict[object, int] = field(repr=False)

    def atoms(self, pattern: Pattern) -> list[list[int]]:
        """A pattern in numbers. A link is [-1, dimension, steps, x, y], with 0 steps for any number
        of them; another atom is its predicate and its arguments, or [-2] where the sequences have
        no such predicate."""
        variables = {name: i for i, name in enumerate(pattern.variables)}
        return [self._atom(atom, variables) for atom in pattern]

    def _atom(self, atom: Atom, variables: dict[str, int]) -> list[int]:
        operator, dimension = link_name(atom.predicate) or ("", "")
        if dimension in self.dimensions and len(atom.args) == OPERATORS[operator]:
            n = 1 if operator == "next" else steps(atom) or 0
            ends = [self._term(term, variables) for term in atom.args[-2:]]
            return [-1, [*self.dimensions].index(dimension), n, *ends]
        if atom.key not in self.keys:
            return [-2]
        return [self.keys.index(atom.key), *(self._term(arg, variables) for arg in atom.args)]

    def _term(self, term: Any, variables: dict[str, int]) -> int:
        if isinstance(term, Var):
            return ANONYMOUS if term.anonymous else variables[term.name]
        # A constant that no fact has gets the number after the last, which matches nothing.
        return CONSTANT - self._numbers.get(constant_key(term), len(self.constants))


def page_facts(
    facts: Facts, keys: list[Key], wanted: Longs, room: int, patterns: Iterable[Pattern] = ()
) -> PageFacts:
    """Pack the facts of the `wanted` sequences, the most important first, into `room` bytes. Only
    facts of the predicates `keys` are kept, and first the constants of the patterns."""
    keys = [key for key in keys if key in facts.tables]
    n_constants = max(len(facts.vocabulary), 1)
    used = np.zeros(n_constants, np.int64)
    for key in keys:
        used += np.bincount(facts.tables[key][1:].ravel(), minlength=n_constants)
    order = np.argsort(-used, kind="stable")[: np.count_nonzero(used)]
    constants_used = _constants_of(patterns, facts.vocabulary)
    places = _places(facts, keys)
    chosen, kept = _chosen(facts, places, wanted, room, order, constants_used)
    order = order[kept[order]]
    number = _positions(order, n_constants)
    packed = {i: as_text(_bytes(_numbers_of(facts, places[i], number))) for i in chosen}
    _, event_arguments = event_keys(facts.tables, n_constants)
    names = dimension_names(keys)
    constants = [facts.vocabulary[code] for code in order.tolist()]
    links = {(f"next_{name}", 2) for name in names}
    return PageFacts(
        keys=tuple(keys),
        dimensions={name: keys.index((f"next_{name}", 2)) for name in names},
        events=tuple(
            tuple((key, i) in event_arguments or key in links for i in range(key[1]))
            for key in keys
        ),
        constants=tuple(map(constant_text, constants)),
        sequences=tuple(packed.get(i) for i in sorted(wanted.tolist())),
        _numbers={constant_key(c): i for i, c in enumerate(constants)},
    )


def _chosen(
    facts: Facts, places: Places, wanted: Longs, room: int, order: Longs, constants_used: Longs
) -> tuple[list[int], Bools]:
    """The sequences that fit, each with its constants, and which constants are kept. Leaving out
    the other constants makes numbers only smaller, and so the bytes written."""
    kept = np.zeros(max(len(facts.vocabulary), 1), bool)
    number = _positions(order, len(kept))

    @cache
    def cost(code: int) -> int:
        return len(as_json(constant_text(facts.vocabulary[code]))) + 1

    room -= sum(map(cost, constants_used.tolist()))
    kept[constants_used] = True
    chosen = []
    for i in wanted.tolist():
        parts = [facts.tables[key][1:, start:end].ravel() for _, key, start, end in places[i]]
        codes = np.unique(np.concatenate([np.empty(0, np.int64), *parts]))
        new = codes[~kept[codes]]
        needed = len(as_text(_bytes(_numbers_of(facts, places[i], number)))) + 3
        needed += sum(map(cost, new.tolist()))
        if needed <= room:
            room -= needed
            kept[new] = True
            chosen.append(i)
    return chosen, kept


def _constants_of(patterns: Iterable[Pattern], vocabulary: Vocabulary) -> Longs:
    terms = {term for pattern in patterns for atom in pattern for term in atom.args}
    found = [vocabulary.code(t) for t in terms if not isinstance(t, Var | Struct | tuple)]
    return np.array(sorted({code for code in found if code >= 0}), np.int64)


def _places(facts: Facts, keys: list[Key]) -> Places:
    """For each sequence the predicates that it has, with their facts."""
    places: Places = [[] for _ in range(facts.n_sequences)]
    for k, key in enumerate(keys):
        starts = facts.offsets(key)
        for i in np.flatnonzero(np.diff(starts)).tolist():
            places[i].append((k, key, int(starts[i]), int(starts[i + 1])))
    return places


def _positions(order: Longs, n: int) -> Longs:
    positions = np.zeros(n, np.int64)
    positions[order] = np.arange(len(order))
    return positions


def _numbers_of(facts: Facts, places: list[Place], number: Longs) -> Longs:
    """For each predicate that a sequence has: its number, how many facts, and their arguments."""
    parts = [np.empty(0, np.int64)]
    for k, key, start, end in places:
        parts += [np.array([k, end - start]), number[facts.tables[key][1:, start:end]].T.ravel()]
    return np.concatenate(parts)


def _bytes(values: Longs) -> bytes:
    """Numbers >= 0 as LEB128: seven bits to a byte, lowest first; the top bit: more follow."""
    n_bytes = np.ones(len(values), np.int64)
    for bits in range(7, 63, 7):
        n_bytes += values >= 1 << bits
    ends = np.cumsum(n_bytes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for k in range(int(n_bytes.max(initial=0))):
        here = n_bytes > k
        more = (n_bytes[here] > k + 1) * 128
        out[ends[here] - n_bytes[here] + k] = (values[here] >> (7 * k) & 127) + more
    return out.tobytes()


def as_text(data: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(data).decode()


def packed_rows(covered: Bools) -> list[str]:
    """Each row of a Boolean matrix as base64, eight columns to a byte, the first lowest."""
    return [as_text(row.tobytes()) for row in np.packbits(covered, axis=1, bitorder="little")]


def page_data(
    model: LynxClassifier, predictions: Predictions, data: ReportData, room: int
) -> dict[str, Any]:
    """The data of the interactive parts of a report, at most `room` bytes as JSON. Facts are left
    out first, those of correctly predicted sequences before those of misclassified ones, then whole
    sequences."""
    most = MOST_SEQUENCES
    while True:
        # In order; of too many, first the misclassified.
        listed = np.sort(_wrong_first(predictions, np.arange(len(predictions.X)))[:most])
        page = _data(model, predictions, data, listed, room)
        if len(as_json(page)) <= room or most == 1:
            return page
        most = min(most, len(predictions.X)) // 2 or 1


def _data(
    model: LynxClassifier, predictions: Predictions, data: ReportData, listed: Longs, room: int
) -> dict[str, Any]:
    shown = _shown(model, data.patterns)
    position = {number: at for at, number in enumerate(shown.tolist())}
    all_patterns = [*model.selected_.patterns()]
    patterns = [all_patterns[i] for i in shown.tolist()]
    page: dict[str, Any] = {
        "classes": list(predictions.label_names),
        "nClasses": len(model.classes_),
        "classSizes": model.selected_.class_sizes.tolist(),
        "objectIdentity": data.object_identity,
        "labelled": predictions.labels is not None,
        "patterns": [
            _pattern(data.patterns[i], pattern.variables)
            for i, pattern in zip(shown.tolist(), patterns, strict=True)
        ],
        "nPatterns": len(all_patterns),
        "pairs": _pairs(model, data, position),
        "sequences": _sequences(predictions, listed, shown),
        "nSequences": len(predictions.X),
        **pair_votes(model, predictions, listed, shown),
    }
    facts = predictions.X.facts(data.object_identity)
    atoms = [atom for pattern in patterns for atom in pattern]
    # Predicates that were read, and derived ones that patterns use or that are dimensions.
    wanted_keys = {*predictions.X.tables, *(atom.key for atom in atoms)}
    keys = [key for key in facts.tables if key in wanted_keys or key[0].startswith("next_")]
    fixed = len(
        as_json([page, [[visible(name), [1] * arity, 99, 1] for name, arity in facts.tables]])
    )
    fixed += ARGUMENT * sum(len(atom.args) + 4 for atom in atoms) + 6 * len(listed)
    wanted = _wrong_first(predictions, listed)
    packed = page_facts(facts, keys, wanted, room - fixed, patterns)
    for one, pattern in zip(page["patterns"], patterns, strict=True):
        one["atoms"] = packed.atoms(pattern)
    page["sequences"]["facts"] = list(packed.sequences)
    return page | {
        "keys": [[visible(name), arity] for name, arity in packed.keys],
        "derived": [int(key not in predictions.X.tables) for key in packed.keys],
        "dimensions": [[visible(name), key] for name, key in packed.dimensions.items()],
        "events": [[int(flag) for flag in flags] for flags in packed.events],
        "constants": list(packed.constants),
    }


def _wrong_first(predictions: Predictions, which: Longs) -> Longs:
    """Sequences by priority: readers look at mistakes first."""
    if predictions.labels is None:
        return which
    right = predictions.labels[which] == predictions.predicted[which]
    return which[np.argsort(right, kind="stable")]


def _shown(model: LynxClassifier, rows: tuple[PatternRow, ...]) -> Longs:
    """The patterns of the page, in order; of too many the most important."""
    if not model.estimators_[0].n_candidates:  # those of a sparse model are ordered by importance
        rows = tuple(sorted(rows, key=lambda row: (-round(row.chi2, 9), row.number)))
    sizes = [len(one.classes) for one in model.estimators_]
    room, kept = PATTERN_ROOM, []
    for row in rows[:MOST_PATTERNS]:
        room -= 120 + len(row.text) + len(row.words) + 4 * len(row.supports)
        room -= sum(2 * TERM * sizes[pair] + 5 for pair in row.pairs)
        if room < 0:
            break
        kept.append(row.number)
    return np.array(sorted(kept), np.int64)


def _pattern(row: PatternRow, variables: tuple[str, ...]) -> dict[str, Any]:
    return {
        "text": row.text,
        "words": row.words,
        "length": row.length,
        "class": row.class_,
        "supports": list(row.supports),
        "odds": float(f"{row.odds:.6g}"),
        "oddsText": short(row.odds),
        "pairs": list(row.pairs),
        "variables": list(variables),
    }


def _pairs(
    model: LynxClassifier, data: ReportData, position: dict[int, int]
) -> list[dict[str, Any]]:
    """The models: their classes, their patterns on the page, and the weights of these."""
    out = []
    for row, one, columns in zip(data.pairs, model.estimators_, model.columns_, strict=True):
        kept = [k for k, column in enumerate(columns.tolist()) if column in position]
        found = weights(one)
        out.append(
            {
                "classes": list(row.classes),
                "patterns": [position[int(columns[k])] for k in kept],
                "left": len(columns) - len(kept),
                **({} if found is None else pair_terms(found, kept)),
            }
        )
    return out


def _sequences(predictions: Predictions, listed: Longs, shown: Longs) -> dict[str, Any]:
    """The columns of the sequence list."""
    labels = None if predictions.labels is None else predictions.labels[listed].tolist()
    values = predictions.values[listed]  # of a pattern that is present
    thousandths = np.rint(predictions.probabilities[listed] * THOUSANDTHS).astype(int)
    return {
        "ids": [visible(str(name)) for name in predictions.X.ids[listed].tolist()],
        "labels": labels,
        "predicted": predictions.predicted[listed].tolist(),
        "probabilities": thousandths.tolist(),
        "covered": packed_rows(predictions.covered[np.ix_(listed, shown)]),
        **({} if (values == 1).all() else {"values": [number(one) for one in values.tolist()]}),
    }


def pair_votes(
    model: LynxClassifier, predictions: Predictions, listed: Longs, shown: Longs
) -> dict[str, Any]:
    """Votes and probabilities of the pairs, and the sums of the patterns left off the page. `votes`
    has a bit for each pair, `pairProbabilities` a byte with the probability of its first class;
    None if there are too many. A pair in `rest` has, for each sequence, the sum of each class, then
    how often each class is ruled out."""
    on_page = np.isin(np.arange(predictions.covered.shape[1]), shown)
    votes, probabilities = [], []
    rest: list[Numbers] = []
    room = MOST_SUMS
    for one, columns in zip(model.estimators_, model.columns_, strict=True):
        M = predictions.covered[np.ix_(listed, columns)].astype(np.float64)
        if len(model.estimators_) > 1:
            votes.append(one.votes(M).astype(bool))
            probabilities.append(np.rint(one.posteriors(M)[:, 0] * BYTE).astype(np.uint8))
        left = ~on_page[columns]
        found = weights(one) if left.any() else None
        numbers = None
        if found is not None and len(listed) * len(one.classes) <= room:
            room -= len(listed) * len(one.classes)
            numbers = _sums(found, M[:, left] > 0, left, predictions.values[listed])
        rest.append(numbers)
    few = len(votes) * len(listed) <= MOST_PROBABILITIES
    shares = [as_text(row.tobytes()) for row in np.array(probabilities).T] if few else None
    by_pair = packed_rows(np.array(votes).T) if votes else []
    return {"votes": by_pair, "pairProbabilities": shares, "rest": rest}


def _sums(found: Weights, covered: Bools, left: Bools, values: Floats) -> list[list[float]]:
    """For each sequence and class the sum of the finite terms of some patterns, and the others."""
    parts = values[:, None] * (covered @ found.present_part[left])
    parts += ~covered @ found.absent_part[left]
    out = covered @ np.isinf(found.present[left]).astype(int)
    out += ~covered @ np.isinf(found.absent[left]).astype(int)
    return [
        [*(round(value, 4) for value in sums), *counts]
        for sums, counts in zip(parts.tolist(), out.tolist(), strict=True)
    ]


def pair_terms(found: Weights, kept: list[int]) -> dict[str, Any]:
    """The weights of a pair for the patterns of the page; None for what rules a class out.
    `outPart` is the finite part of such terms, which is the same for all of a class."""
    out = {
        "prior": [number(value) for value in found.prior.tolist()],
        "present": [number(value) for value in found.present[kept].ravel().tolist()],
        "absent": [number(value) for value in found.absent[kept].ravel().tolist()],
    }
    parts = np.concatenate([found.present_part, found.absent_part])
    infinite = np.isinf(np.concatenate([found.present, found.absent]))
    if infinite.any():
        out["outPart"] = [
            number(float(column[rows][0])) if rows.any() else 0.0
            for column, rows in zip(parts.T, infinite.T, strict=True)
        ]
    return out


def number(value: float) -> float | None:
    """A number with few digits; None for minus infinity, which JSON does not have."""
    return round(value, 5) if math.isfinite(value) else None
