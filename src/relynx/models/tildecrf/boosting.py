"""Functional gradient boosting: each round adds to the potential of every label a tree.

`F[p, k', k]` is the potential of label k at event p after label k'; an event that begins a sequence
has its potentials at k' = 0. Forward-backward and best paths go over the chain of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relynx.arrays import Bools, Floats, Longs
from relynx.logic import tables as tb
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.candidates import Candidates
from relynx.models.tildecrf.encoding import Encoding
from relynx.models.tildecrf.estimator import BoostedEstimator, Rounds
from relynx.models.tildecrf.growing import Grower, Limits, Targets
from relynx.models.tildecrf.trees import Leaf, Part, Split, Tree, add_values


@dataclass(frozen=True, slots=True)
class Boosted:
    """The trees, a tuple with one for each label from every round; and how they came to be.
    `history` has the mean log-likelihood of a training sequence before each round and after the
    last, `held_out` that of the sequences held out, if any were."""

    trees: Rounds
    history: tuple[float, ...]
    held_out: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Sequences of an encoding, the label of each event, and which sequences are held out."""

    encoding: Encoding
    candidates: Candidates
    names: list[str]
    sequences: Longs
    labels: Longs
    held_out: Bools

    @property
    def starts(self) -> Longs:
        return self.encoding.offsets[self.sequences]

    @property
    def ends(self) -> Longs:
        return self.encoding.offsets[self.sequences + 1]

    def events(self, chosen: Bools | None = None) -> Longs:
        """The events of the sequences, or of some of them."""
        starts, ends = self.starts, self.ends
        if chosen is not None:
            starts, ends = starts[chosen], ends[chosen]
        return np.sort(tb.ranges(starts, ends - starts))


def boost(task: Task, model: BoostedEstimator, *, constant: bool = False) -> Boosted:
    """Learn the trees of every label; where some sequences are held out, as many as suit these.
    With `constant` only the paths of one label throughout are told apart."""
    encoding, n_labels = task.encoding, len(task.names)
    F = np.zeros((encoding.n_events, n_labels, n_labels))
    grower = Grower(encoding, task.candidates, Limits.of(model), task.names)
    max_iter, learning_rate = int(model.max_iter), float(model.learning_rate)
    farthest = max(int((task.ends - task.starts).max(initial=0)) - 1, 0)
    everything = Part.whole(task.events(), min(int(model.window), farthest), n_labels)
    weight = _weights(task, n_labels, constant)
    rounds: list[tuple[Tree, ...]] = []
    history, held_out = [], []
    patience = model.n_iter_no_change if task.held_out.any() else None
    for number in range(max_iter + 1):
        likelihood, gradient = gradient_of(task, F, constant)
        history.append(_mean(likelihood[~task.held_out]))
        held_out.append(_mean(likelihood[task.held_out]))
        worse = len(held_out) - 1 - int(np.argmax(held_out))  # rounds since the best
        if number == max_iter or (patience is not None and worse >= patience):
            break
        grown = []
        mirrored = constant and n_labels == 2
        for k in range(1 if mirrored else n_labels):
            residual = gradient[:, :, k] * (weight[k] > 0)
            targets = Targets(residual, weight[k], before=not constant)
            tree, values = grower.grow(everything, targets)
            grown.append(tree)
            F[:, :, k] += learning_rate * values
        if mirrored:
            grown.append(negated(grown[0]))
            F[:, :, 1] -= learning_rate * values
        rounds.append(tuple(grown))
    if task.held_out.any():
        rounds = rounds[: int(np.argmax(held_out))]
    else:
        held_out = []
    return Boosted(tuple(rounds), tuple(history), tuple(held_out))


def potentials(
    rounds: Rounds, encoding: Encoding, n_labels: int, model: BoostedEstimator
) -> Floats:
    """What all trees together say of the events, by event, label before and label."""
    F = np.zeros((n_labels, encoding.n_events, n_labels))
    everything = Part.whole(np.arange(encoding.n_events), int(model.window), n_labels)
    for trees in rounds:
        for k, tree in enumerate(trees):
            add_values(tree, encoding, everything, float(model.learning_rate), F[k])
    return np.ascontiguousarray(np.moveaxis(F, 0, 2))


def negated(tree: Tree) -> Tree:
    """The tree with the values of the other sign."""
    if isinstance(tree, Leaf):
        return Leaf(-tree.value, tree.n_examples)
    return Split(tree.test, negated(tree.yes), negated(tree.no))


def gradient_of(task: Task, F: Floats, constant: bool) -> tuple[Floats, Floats]:
    """The log-likelihood of each sequence, and its gradient by event, label before and label."""
    begins = task.encoding.is_first
    where = task.events()
    own = before(task.labels, begins)
    if constant:
        gradient = np.zeros_like(F)
        scores = constant_scores(F, task.starts, task.ends)
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        label = task.labels[np.minimum(task.starts, len(F) - 1)] if len(F) else task.starts
        likelihood = logs[np.arange(len(logs)), label]
        probability = np.repeat(np.exp(logs), task.ends - task.starts, axis=0)
        at = tb.ranges(task.starts, task.ends - task.starts)
        for k in range(F.shape[2]):
            gradient[at, np.where(begins[at], 0, k), k] = -probability[:, k]
    else:
        log_z, pairs = infer(F, task.starts, task.ends)
        likelihood = summed(path_scores(F, task.labels, begins), task.starts, task.ends)
        likelihood = likelihood - log_z
        gradient = np.negative(pairs, out=pairs)
    gradient[where, own[where], task.labels[where]] += 1
    return np.asarray(likelihood), gradient


def _weights(task: Task, n_labels: int, constant: bool) -> Floats:
    """For each label the weight of its examples, by event and label before."""
    n_weightings = n_labels if constant else 1
    out = np.zeros((n_weightings, task.encoding.n_events, n_labels))
    learnt = task.events(~task.held_out)
    begins = task.encoding.is_first
    for k in range(n_weightings):
        inside = learnt[~begins[learnt]]
        out[k, inside, k if constant else slice(None)] = 1
        out[k, learnt[begins[learnt]], 0] = 1
    return np.broadcast_to(out, (n_labels, *out.shape[1:]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


# Inference over the chain of labels of a sequence


def infer(F: Floats, starts: Longs, ends: Longs) -> tuple[Floats, Floats]:
    """Forward-backward over the sequences whose events run from `starts` to `ends`.

    Returns log Z of each, and for each event the probability of each label before and label.
    """
    n_events, _, n_labels = F.shape
    alpha, beta = np.zeros((n_events, n_labels)), np.zeros((n_events, n_labels))
    log_z, pairs = np.zeros(len(starts)), np.zeros(F.shape)
    kernels.forward_backward(F, starts, ends, alpha, beta, log_z)
    kernels.pair_probabilities(F, starts, ends, alpha, beta, log_z, pairs)
    return log_z, pairs


def best_paths(F: Floats, starts: Longs, ends: Longs) -> Longs:
    """The labels of the most probable path through each sequence, event by event."""
    out = np.zeros(len(F), np.int64)
    kernels.best_paths(F, starts, ends, out)
    return out


def before(labels: Longs, begins: Bools) -> Longs:
    """The label before each event, 0 where there is none."""
    out = np.roll(labels, 1)
    out[begins] = 0
    return out


def path_scores(F: Floats, labels: Longs, begins: Bools) -> Floats:
    """The potential of each event on a path."""
    return np.asarray(F[np.arange(len(F)), before(labels, begins), labels])


def log_likelihood(F: Floats, labels: Longs, begins: Bools, starts: Longs, ends: Longs) -> Floats:
    """For each sequence the log probability of the given labels."""
    log_z, _ = infer(F, starts, ends)
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
