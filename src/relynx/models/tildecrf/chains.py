"""Chains of labels: likelihoods, marginals and best paths from the potentials of events.

`F[p, k', k]` is the potential of label k at event p after label k'; an event that begins a sequence
has its potentials at k' = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.logic import tables as tb
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.encoding import Longs
from relynx.models.tildecrf.trees import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """The result of forward-backward: log alpha, beta and Z, and the probability of each pair."""

    alpha: Floats
    beta: Floats
    log_z: Floats
    pairs: Floats

    def marginals(self) -> Floats:
        """The probability of each label at each event."""
        return np.asarray(self.pairs.sum(axis=1))


def infer(F: Floats, starts: Longs, ends: Longs) -> Inference:
    """Forward-backward over the sequences whose events run from `starts` to `ends`."""
    n_events, _, n_labels = F.shape
    alpha, beta = np.zeros((n_events, n_labels)), np.zeros((n_events, n_labels))
    log_z, pairs = np.zeros(len(starts)), np.zeros(F.shape)
    kernels.forward_backward(F, starts, ends, alpha, beta, log_z)
    kernels.pair_probabilities(F, starts, ends, alpha, beta, log_z, pairs)
    return Inference(alpha, beta, log_z, pairs)


def best_paths(F: Floats, starts: Longs, ends: Longs) -> Longs:
    """The labels of the most probable path through each sequence, event by event."""
    out = np.zeros(len(F), np.int64)
    kernels.best_paths(F, starts, ends, out)
    return out


def before(labels: Longs, begins: NDArray[np.bool_]) -> Longs:
    """The label before each event, 0 where there is none."""
    out = np.roll(labels, 1)
    out[begins] = 0
    return out


def path_scores(F: Floats, labels: Longs, begins: NDArray[np.bool_]) -> Floats:
    """The potential of each event on a path."""
    return np.asarray(F[np.arange(len(F)), before(labels, begins), labels])


def log_likelihood(
    F: Floats, labels: Longs, begins: NDArray[np.bool_], starts: Longs, ends: Longs
) -> Floats:
    """For each sequence the log probability of the given labels."""
    log_z = infer(F, starts, ends).log_z
    return np.asarray(summed(path_scores(F, labels, begins), starts, ends) - log_z)


def constant_scores(F: Floats, starts: Longs, ends: Longs) -> Floats:
    """For each sequence and label the score of the path that has this label at every event."""
    n_labels = F.shape[2]
    own = F[:, np.arange(n_labels), np.arange(n_labels)].copy()
    nonempty = starts < ends
    own[starts[nonempty]] = F[starts[nonempty], 0]
    return np.stack([summed(column, starts, ends) for column in own.T], axis=1)


def summed(values: Floats, starts: Longs, ends: Longs) -> Floats:
    """The sum of each sequence, which does not depend on the other sequences."""
    lengths = ends - starts
    sequence = np.repeat(np.arange(len(starts)), lengths)
    each = values[tb.ranges(starts, lengths)]
    return np.asarray(np.bincount(sequence, each, minlength=len(starts)), float)
