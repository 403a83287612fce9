"""Votes of pairwise models, and class probabilities from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Floats

NUDGE = 1e-9  # sums of probabilities that differ by less are tied, and the prior decides
TRACE = 1e-12  # of the rank of a class, in its score: it tells ties apart and changes no order
LEAST = 1e-12  # lower bound of a probability when they are coupled


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """Predictions of a model for some rows: `among` are the numbers of its classes. `votes` is the
    index in `among` of the class predicted for each row, `probabilities` has shape (n_rows,
    n_classes of the model)."""

    among: NDArray[np.int64]
    votes: NDArray[np.int64]
    probabilities: Floats


def tally(ballots: Iterable[Ballot], prior: Floats, n_rows: int) -> Floats:
    """For each row and each of the c classes what `decision_function` gives. The votes, 1/c of the
    sum of its probabilities (below 1, so it decides ties only), and a tiny term for its rank by the
    prior."""
    n_classes = len(prior)
    votes = np.zeros((n_rows, n_classes))
    sums = np.zeros((n_rows, n_classes))
    for ballot in ballots:
        votes[np.arange(n_rows), ballot.among[ballot.votes]] += 1
        sums[:, ballot.among] += ballot.probabilities
    sums = sums.round(9)
    first = np.broadcast_to(-np.arange(n_classes), votes.shape)
    order = np.lexsort((first, np.broadcast_to(prior, votes.shape), sums, votes), axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(n_classes)[None], axis=1)
    return np.asarray(votes + sums / n_classes + TRACE * ranks)


def coupled(ballots: Iterable[Ballot], n_rows: int, n_classes: int) -> Floats:
    """Class probabilities from those of the pairs (Price and others 1994)."""
    inverse = np.full((n_rows, n_classes), 2.0 - n_classes)
    for ballot in ballots:
        inverse[:, ballot.among] += 1 / np.clip(ballot.probabilities, LEAST, 1)
    probabilities: Floats = 1 / inverse
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def in_order_of(probabilities: Floats, total: Floats) -> Floats:
    """The probabilities of each row, permuted into the order of a tally."""
    out = np.empty_like(probabilities)
    np.put_along_axis(out, np.argsort(total, axis=1), np.sort(probabilities, axis=1), axis=1)
    out[np.arange(len(out)), total.argmax(axis=1)] += NUDGE
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def agreeing(probabilities: Floats, voted: NDArray[np.int64]) -> Floats:
    """The probabilities, swapped so that the largest of each row is that of the vote."""
    rows = np.flatnonzero(probabilities.argmax(axis=1) != voted)
    if not len(rows):
        return probabilities
    out, largest, wanted = probabilities.copy(), probabilities[rows].argmax(axis=1), voted[rows]
    out[rows, largest], out[rows, wanted] = (
        probabilities[rows, wanted],
        probabilities[rows, largest] + NUDGE,
    )
    return np.asarray(out / out.sum(axis=1, keepdims=True))
