"""Counterfactuals: the smallest sets of patterns whose flips change the predicted class.

A flip makes an absent pattern present, or the other way round. Small sets are all tried. For larger
ones additive scores help: to let one class overtake another with the fewest flips, take the flips
in the order in which they close the gap. Every set found is checked by a prediction of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from relynx.arrays import Bools, Floats, Longs
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, is_softmax

MOST_SETS = 50_000  # sets of one size that are scored by the sums of the model
MOST_QUERIES = 2_000  # sets of one size where each needs a prediction
LARGEST = 12  # patterns of a set that is built greedily
KEPT = 20  # sets of the smallest size that are kept
RULED_OUT = 1e6  # stands for minus infinity: larger than all finite terms together
NEAR = 1e-6  # scores that differ by less are decided by the model itself

Sets: TypeAlias = Longs  # one row per set, of pattern numbers
Change: TypeAlias = tuple[tuple[int, ...], int]  # a set, and the number of the class after it


@dataclass(frozen=True, slots=True)
class Found:
    """Sets of patterns that change the class, each with the number of the new class. `tried` is the
    size up to which every set was tried, `smallest` whether no set is smaller than those found,
    `n_found` how many of that size there are, also those that were not kept."""

    sets: tuple[Change, ...]
    n_found: int
    tried: int
    smallest: bool


def changing_flips(
    model: LynxClassifier, covered: Bools, parts: Sequence[Weights | None], value: float = 1.0
) -> Found:
    """The smallest sets of flips that change the class of a sequence. `covered` says which patterns
    of `model.selected_` cover it; `parts` are the weights of each model of the classifier, for a
    sequence in which a pattern that is present has this value."""
    queries = _Queries(model, covered, value)
    weights = [part for part in parts if part is not None]
    sums = _Sums(queries, weights) if len(weights) == len(parts) else None
    n, tried = len(covered), 0
    while tried < n and comb(n, tried + 1) <= (MOST_QUERIES if sums is None else MOST_SETS):
        tried += 1
        sets = _all_sets(n, tried)
        found = queries.changed(sets if sums is None else sets[sums.may_change(sets)])
        if found:
            if sums is not None:  # first where the old class loses by the largest margin
                leads = sums.lead(np.array([flips for flips, _ in found], np.int64))
                found = [found[i] for i in np.argsort(-leads, kind="stable")]
            return Found(tuple(found[:KEPT]), len(found), tried, True)
    if sums is None:
        return Found((), 0, tried, False)
    alone = len(parts) == 1
    larger = [
        _in_order(queries, sums, r) if alone else _by_steps(queries, sums, r) for r in sums.rivals
    ]
    changes = sorted(filter(None, larger), key=lambda found: len(found[0]))
    if alone:
        changes = [found for found in changes if len(found[0]) == len(changes[0][0])]
    shortest = {code: (flips, code) for flips, code in reversed(changes)}  # one for each new class
    kept = sorted(shortest.values(), key=lambda found: len(found[0]))
    return Found(tuple(kept), len(kept), tried, alone)


class _Queries:
    """Predictions of the model for a sequence with some patterns flipped."""

    def __init__(self, model: LynxClassifier, covered: Bools, value: float) -> None:
        self.model, self.covered, self.value = model, covered, value
        self.before = int(model.codes(value * covered[None])[0])

    def codes(self, sets: Sets) -> Longs:
        rows = np.repeat(self.covered[None], len(sets), axis=0)
        np.logical_xor.at(rows, (np.arange(len(sets))[:, None], sets), True)
        return self.model.codes(self.value * rows)

    def changed(self, sets: Sets) -> list[Change]:
        """The sets that change the class, each with the new class."""
        if not len(sets):
            return []
        codes = self.codes(sets)
        return [
            (tuple(sets[i].tolist()), int(codes[i])) for i in np.flatnonzero(codes != self.before)
        ]


class _Sums:
    """The same from the additive scores; minus infinity is a large number here."""

    def __init__(self, queries: _Queries, weights: Sequence[Weights]) -> None:
        model, covered = queries.model, queries.covered
        self.n_classes = len(model.classes_)
        self.alone = len(weights) == 1
        self.softmax = all(map(is_softmax, model.estimators_))
        self.among, self.starts, self.changes = [], [], []
        for part, columns in zip(weights, model.columns_, strict=True):
            present, absent = (
                np.where(np.isinf(terms), parts - RULED_OUT, parts)
                for terms, parts in (
                    (part.present, part.present_part),
                    (part.absent, part.absent_part),
                )
            )
            has = covered[columns][:, None]
            self.starts.append(np.where(has, present, absent).sum(axis=0) + part.prior)
            change = np.zeros((len(covered), len(part.classes)))
            change[columns] = np.where(has, absent - present, present - absent)
            self.changes.append(change)
            self.among.append(np.searchsorted(model.classes_, part.classes))
        self.before = queries.before
        tally = self.tally(np.empty((1, 0), np.int64))[0]
        order = np.argsort(-tally, kind="stable").tolist()
        self.rivals = [r for r in order if r != self.before]

    def after(self, flip: int) -> _Sums:
        """The sums of the sequence with one pattern flipped."""
        other = copy(self)
        other.starts = [
            start + change[flip] for start, change in zip(self.starts, self.changes, strict=True)
        ]
        return other

    def scores(self, part: int, sets: Sets) -> Floats:
        """The scores of one model for each set."""
        return np.asarray(self.starts[part] + self.changes[part][sets].sum(axis=1))

    def tally(self, sets: Sets) -> Floats:
        """What the classes are ranked by: the scores, or votes with probabilities."""
        if self.alone:
            return self.scores(0, sets)
        tally = np.zeros((len(sets), self.n_classes))
        for part, among in enumerate(self.among):
            scores = self.scores(part, sets)
            powers = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -700))
            tally[:, among] += powers / powers.sum(axis=1, keepdims=True) / self.n_classes
            tally[np.arange(len(sets)), among[scores.argmax(axis=1)]] += 1
        return tally

    def lead(self, sets: Sets) -> Floats:
        """By how much the best other class is ahead of the one predicted."""
        tally = self.tally(sets)
        return np.asarray(tally[:, self.rivals].max(axis=1) - tally[:, self.before])

    def may_change(self, sets: Sets) -> Bools:
        """Which sets change the class, or come so near that the model must be asked."""
        # If probabilities are not the softmax of the scores, a class with as many votes may win.
        slack = NEAR if self.alone or self.softmax else 1.0
        doubtful: Bools = self.lead(sets) >= -slack
        if not self.alone:  # a vote that could go either way counts for both
            for part in range(len(self.among)):
                scores = self.scores(part, sets)
                doubtful |= np.abs(scores[:, 1] - scores[:, 0]) <= NEAR
        return doubtful


def _all_sets(n: int, size: int) -> Sets:
    return np.array(list(combinations(range(n), size)), np.int64).reshape(-1, size)


def _in_order(queries: _Queries, sums: _Sums, rival: int) -> Change | None:
    """The fewest flips with which the class loses to a rival, for a single additive model."""
    gain = sums.changes[0][:, rival] - sums.changes[0][:, sums.before]
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    lead = sums.starts[0][rival] - sums.starts[0][sums.before] + np.cumsum(gain[order])
    order = order[: np.searchsorted(lead, NEAR) + 1]  # with these the rival is ahead for sure
    rows = np.repeat(queries.covered[None], len(order), axis=0)  # after one flip, after two, ...
    for k, flip in enumerate(order.tolist()):
        rows[k:, flip] ^= True
    codes = queries.model.codes(queries.value * rows).tolist() if len(rows) else []
    for k, code in enumerate(codes, 1):
        if code != queries.before:
            return tuple(order[:k].tolist()), code
    return None


def _by_steps(queries: _Queries, sums: _Sums, rival: int) -> Change | None:
    """Flips that let a rival win by votes, chosen greedily. No flip of the result can be left out,
    but a smaller set may exist."""
    pair = next(
        part for part, among in enumerate(sums.among) if {rival, sums.before} <= {*among.tolist()}
    )
    which = sums.among[pair].tolist().index(rival)
    chosen: list[int] = []
    singles = _all_sets(len(queries.covered), 1)
    now = sums
    for _ in range(LARGEST):
        tally, scores = now.tally(singles), now.scores(pair, singles)
        behind = np.minimum(scores[:, which] - scores[:, 1 - which], 0)
        gain = behind + tally[:, rival] - tally[:, sums.before]
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        if (found := _changed(queries, sums, chosen)) is not None:
            return _without_idle(queries, sums, found)
        now = now.after(chosen[-1])
    return None


def _changed(queries: _Queries, sums: _Sums, flips: Sequence[int]) -> Change | None:
    """The new class after some flips, if they change it; the model decides only where it may."""
    sets = np.array([flips], np.int64)
    return next(iter(queries.changed(sets[sums.may_change(sets)])), None)


def _without_idle(queries: _Queries, sums: _Sums, found: Change) -> Change:
    """The flips less those that are not needed."""
    for flip in found[0]:
        fewer = [other for other in found[0] if other != flip]
        if fewer and (less := _changed(queries, sums, fewer)) is not None:
            found = less
    return found
