"""Votes, class probabilities and score sums of each pair of classes, packed for the page."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, weights
from relynx.reports.page_facts import as_text, packed_rows
from relynx.reports.report_data import Predictions

MOST_PROBABILITIES = 300_000  # over all pairs and sequences; beyond that, the page has votes only
MOST_SUMS = 60_000  # numbers for patterns that are not on the page
BYTE = 255  # a probability of 1

Numbers: TypeAlias = "list[list[float]] | None"


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
