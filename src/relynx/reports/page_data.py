"""The data of the page's scripts: patterns, models and sequences, packed to stay small.

Everything is plain JSON values. Of very many patterns or sequences the page has only some; the
contributions of the patterns left out are there as a sum. Facts of sequences come last and take
the space that is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Facts, Sequences
from relynx.logic.tables import Key
from relynx.mining.wording import visible
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, weights
from relynx.reports.page_facts import as_json, as_text, packed_rows, page_facts, short
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

Numbers: TypeAlias = "list[list[float]] | None"


def page_data(
    model: LynxClassifier, predictions: Predictions, data: ReportData, room: int
) -> dict[str, Any]:
    """The data of the interactive parts of a report, at most `room` bytes as JSON.

    Facts are left out first, those of correctly predicted sequences before those of misclassified
    ones, then whole sequences.
    """
    most = MOST_SEQUENCES
    while True:
        page = _data(model, predictions, data, _listed(predictions, most), room)
        if len(as_json(page)) <= room or most == 1:
            return page
        most = min(most, len(predictions.X)) // 2 or 1


def _data(
    model: LynxClassifier,
    predictions: Predictions,
    data: ReportData,
    listed: NDArray[np.int64],
    room: int,
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
    keys = _keys(predictions.X, facts, (atom.key for atom in atoms))
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


def _listed(predictions: Predictions, most: int) -> NDArray[np.int64]:
    """The sequences that the page lists, in order; of too many, first the misclassified."""
    return np.sort(_wrong_first(predictions, np.arange(len(predictions.X)))[:most])


def _wrong_first(predictions: Predictions, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sequences by priority: readers look at mistakes first."""
    if predictions.labels is None:
        return which
    right = predictions.labels[which] == predictions.predicted[which]
    return which[np.argsort(right, kind="stable")]


def _shown(model: LynxClassifier, rows: tuple[PatternRow, ...]) -> NDArray[np.int64]:
    """The patterns of the page, in order; if there are too many, those of largest chi-square."""
    best = sorted(rows, key=lambda row: (-round(row.chi2, 9), row.number))[:MOST_PATTERNS]
    sizes = [len(one.classes) for one in model.estimators_]
    room, kept = PATTERN_ROOM, []
    for row in best:
        room -= 120 + len(row.text) + len(row.words) + 4 * len(row.supports)
        room -= sum(2 * TERM * sizes[pair] + 5 for pair in row.pairs)
        if room < 0:
            break
        kept.append(row.number)
    return np.array(sorted(kept), np.int64)


def _keys(X: Sequences, facts: Facts, used: Iterable[Key]) -> list[Key]:
    """Predicates that were read, and derived ones that patterns use or that are dimensions."""
    wanted = {*X.tables, *used}
    return [key for key in facts.tables if key in wanted or key[0].startswith("next_")]


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


def _sequences(
    predictions: Predictions, listed: NDArray[np.int64], shown: NDArray[np.int64]
) -> dict[str, Any]:
    """The columns of the sequence list."""
    labels = None if predictions.labels is None else predictions.labels[listed].tolist()
    thousandths = np.rint(predictions.probabilities[listed] * THOUSANDTHS).astype(int)
    return {
        "ids": [visible(str(name)) for name in predictions.X.ids[listed].tolist()],
        "labels": labels,
        "predicted": predictions.predicted[listed].tolist(),
        "probabilities": thousandths.tolist(),
        "covered": packed_rows(predictions.covered[np.ix_(listed, shown)]),
    }


def pair_votes(
    model: LynxClassifier,
    predictions: Predictions,
    listed: NDArray[np.int64],
    shown: NDArray[np.int64],
) -> dict[str, Any]:
    """Votes and probabilities of the pairs, and the sums of the patterns left off the page.

    `votes` has a bit for each pair, `pairProbabilities` a byte with the probability of its first
    class; None if there are too many. A pair in `rest` has, for each sequence, the sum of each
    class, then how often each class is ruled out.
    """
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
            numbers = _sums(found, M[:, left] > 0, left)
        rest.append(numbers)
    few = len(votes) * len(listed) <= MOST_PROBABILITIES
    return {
        "votes": packed_rows(np.array(votes).T) if votes else [],
        "pairProbabilities": [as_text(row.tobytes()) for row in np.array(probabilities).T]
        if few
        else None,
        "rest": rest,
    }


def _sums(found: Weights, covered: NDArray[np.bool_], left: NDArray[np.bool_]) -> list[list[float]]:
    """For each sequence and class the sum of the finite terms of some patterns, and the others."""
    parts = covered @ found.present_part[left] + ~covered @ found.absent_part[left]
    out = covered @ np.isinf(found.present[left]).astype(int)
    out += ~covered @ np.isinf(found.absent[left]).astype(int)
    return [
        [*(round(value, 4) for value in sums), *counts]
        for sums, counts in zip(parts.tolist(), out.tolist(), strict=True)
    ]


def pair_terms(found: Weights, kept: list[int]) -> dict[str, Any]:
    """The weights of a pair for the patterns of the page; None for what rules a class out.

    `outPart` is the finite part of such terms, which is the same for all of a class.
    """
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
