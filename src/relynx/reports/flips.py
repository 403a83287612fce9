"""Counterfactuals: which patterns, present instead of absent or the other way, change the class.

Small sets are all tried. For larger ones a sum with a term for each pattern helps: to let one class
overtake another with the fewest flips, take the flips in the order in which they close the gap.
Whatever is found is asked of the model itself before it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, columns_of, predicted_codes, softmax_shares

TRIED = 50_000  # sets of one size that are tried, by the sums of the model
ASKED = 2_000  # and where the model must be asked for each
LARGEST = 12  # patterns of a set that is looked for step by step
KEPT = 20  # sets of the smallest size that are kept
RULED_OUT = 1e6  # stands for minus infinity: more than all finite terms together
NEAR = 1e-6  # scores that are so near are asked of the model

Sets: TypeAlias = NDArray[np.int64]  # a row a set, of numbers of patterns
Change: TypeAlias = tuple[tuple[int, ...], int]  # a set, and the number of the class after it


@dataclass(frozen=True, slots=True)
class Found:
    """Sets of patterns that change the class, each with the number of the new class.

    `tried` is the size up to which every set was tried, `smallest` whether no set is smaller than
    those found, `n_found` how many of that size there are, also those that were not kept.
    """

    sets: tuple[Change, ...]
    n_found: int
    tried: int
    smallest: bool


def changing_flips(
    model: LynxClassifier, covered: NDArray[np.bool_], parts: Sequence[Weights | None]
) -> Found:
    """The smallest sets of flips that change the class of a sequence.

    Parameters
    ----------
    model
        A fitted classifier.
    covered
        Which patterns of `model.selected_` cover the sequence.
    parts
        The weights of each model of the classifier.
    """
    asked = _Asked(model, covered)
    weights = [part for part in parts if part is not None]
    sums = _Sums(asked, weights) if len(weights) == len(parts) else None
    n, tried = len(covered), 0
    while tried < n and comb(n, tried + 1) <= (ASKED if sums is None else TRIED):
        tried += 1
        found = asked.changed(_all_sets(n, tried) if sums is None else sums.near_changes(tried))
        if found:
            found.sort(key=lambda pair: asked.strength(pair[0], sums), reverse=True)
            return Found(tuple(found[:KEPT]), len(found), tried, True)
    if sums is None:
        return Found((), 0, tried, False)
    alone = len(parts) == 1
    larger = [
        _in_order(asked, sums, r) if alone else _by_steps(asked, sums, r) for r in sums.rivals
    ]
    sets = sorted(filter(None, larger), key=lambda found: len(found[0]))
    if alone:
        sets = [found for found in sets if len(found[0]) == len(sets[0][0])]
    shortest = {code: (flips, code) for flips, code in reversed(sets)}  # one for each new class
    kept = sorted(shortest.values(), key=lambda found: len(found[0]))
    return Found(tuple(kept), len(kept), tried, alone)


class _Asked:
    """The model itself, asked about a sequence with some patterns flipped."""

    def __init__(self, model: LynxClassifier, covered: NDArray[np.bool_]) -> None:
        self.model, self.covered = model, covered
        self.before = int(predicted_codes(model, covered[None])[0])

    def codes(self, sets: Sets) -> NDArray[np.int64]:
        rows = np.repeat(self.covered[None], len(sets), axis=0)
        np.logical_xor.at(rows, (np.arange(len(sets))[:, None], sets), True)
        return predicted_codes(self.model, rows)

    def changed(self, sets: Sets) -> list[Change]:
        """Those of the sets that change the class, with the new one."""
        if not len(sets):
            return []
        codes = self.codes(sets)
        return [
            (tuple(sets[i].tolist()), int(codes[i])) for i in np.flatnonzero(codes != self.before)
        ]

    def strength(self, flips: tuple[int, ...], sums: _Sums | None) -> float:
        """By how much the old class loses, to show the clearest sets first."""
        return 0.0 if sums is None else sums.lead(np.array([flips], np.int64))[0]


class _Sums:
    """The same by the sums of the models; minus infinity is a large number here."""

    def __init__(self, asked: _Asked, weights: Sequence[Weights]) -> None:
        model, covered = asked.model, asked.covered
        self.n_classes = len(model.classes_)
        self.alone = len(weights) == 1
        self.known_shares = all(map(softmax_shares, model.estimators_))
        self.among, self.starts, self.changes = [], [], []
        for part, columns in zip(weights, columns_of(model), strict=True):
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
        nothing = np.empty((1, 0), np.int64)
        tally = self.tally(nothing)[0]
        self.before = asked.before
        order = np.argsort(-tally, kind="stable").tolist()
        self.rivals = [r for r in order if r != self.before]

    def after(self, flip: int) -> _Sums:
        """The sums of the sequence with one pattern flipped."""
        other = copy(self)
        other.starts = [
            start + change[flip] for start, change in zip(self.starts, self.changes, strict=True)
        ]
        return other

    def scores(self, part: int, sets: Sets) -> NDArray[np.float64]:
        """The scores of one model for each set."""
        scores: NDArray[np.float64] = self.starts[part] + self.changes[part][sets].sum(axis=1)
        return scores

    def tally(self, sets: Sets) -> NDArray[np.float64]:
        """What the classes are ordered by: the scores, or votes with shares."""
        if self.alone:
            return self.scores(0, sets)
        tally = np.zeros((len(sets), self.n_classes))
        for part, among in enumerate(self.among):
            scores = self.scores(part, sets)
            powers = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -700))
            tally[:, among] += powers / powers.sum(axis=1, keepdims=True) / self.n_classes
            tally[np.arange(len(sets)), among[scores.argmax(axis=1)]] += 1
        return tally

    def lead(self, sets: Sets) -> NDArray[np.float64]:
        """By how much the best other class is ahead of the one predicted."""
        tally = self.tally(sets)
        lead: NDArray[np.float64] = tally[:, self.rivals].max(axis=1) - tally[:, self.before]
        return lead

    def near_changes(self, size: int) -> Sets:
        """The sets of one size after which the class is another, or so near that one must ask."""
        sets = _all_sets(len(self.changes[0]), size)
        return sets[self.may_change(sets)]

    def may_change(self, sets: Sets) -> NDArray[np.bool_]:
        """After which sets the class may be another one."""
        # Where shares are not known from the scores, a class with as many votes may win.
        slack = NEAR if self.alone or self.known_shares else 1.0
        doubtful: NDArray[np.bool_] = self.lead(sets) >= -slack
        if not self.alone:  # a vote that could go either way counts for both
            for part in range(len(self.among)):
                scores = self.scores(part, sets)
                doubtful |= np.abs(scores[:, 1] - scores[:, 0]) <= NEAR
        return doubtful


def _all_sets(n: int, size: int) -> Sets:
    return np.array(list(combinations(range(n), size)), np.int64).reshape(-1, size)


def _in_order(asked: _Asked, sums: _Sums, rival: int) -> Change | None:
    """The fewest flips with which the class loses to a rival, in a model with one sum a class."""
    gain = sums.changes[0][:, rival] - sums.changes[0][:, sums.before]
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    for k, code in enumerate(_prefixes(asked, order), 1):
        if code != asked.before:
            return tuple(order[:k].tolist()), code
    return None


def _prefixes(asked: _Asked, order: NDArray[np.int64]) -> Iterator[int]:
    """The class after the first flip of an order, after the first two, and so on."""
    rows = np.repeat(asked.covered[None], len(order), axis=0)
    for k, flip in enumerate(order.tolist()):
        rows[k:, flip] ^= True
    yield from predicted_codes(asked.model, rows).tolist() if len(rows) else ()


def _by_steps(asked: _Asked, sums: _Sums, rival: int) -> Change | None:
    """Flips that let a rival win by votes: at each step the one that brings it furthest.

    None of them can be left out of what is found; a smaller set may exist all the same.
    """
    pair = next(
        part for part, among in enumerate(sums.among) if {rival, sums.before} <= {*among.tolist()}
    )
    which = sums.among[pair].tolist().index(rival)
    chosen: list[int] = []
    singles = _all_sets(len(asked.covered), 1)
    now = sums
    for _ in range(LARGEST):
        tally, scores = now.tally(singles), now.scores(pair, singles)
        behind = np.minimum(scores[:, which] - scores[:, 1 - which], 0)
        gain = behind + tally[:, rival] - tally[:, sums.before]
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        if (found := _changed(asked, sums, chosen)) is not None:
            return _without_idle(asked, sums, found)
        now = now.after(chosen[-1])
    return None


def _changed(asked: _Asked, sums: _Sums, flips: Sequence[int]) -> Change | None:
    """What some flips lead to, if the class is another then; asked only where it may be."""
    sets = np.array([flips], np.int64)
    return next(iter(asked.changed(sets[sums.may_change(sets)])), None)


def _without_idle(asked: _Asked, sums: _Sums, found: Change) -> Change:
    """The flips less those that are not needed."""
    for flip in found[0]:
        fewer = [other for other in found[0] if other != flip]
        if fewer and (less := _changed(asked, sums, fewer)) is not None:
            found = less
    return found
