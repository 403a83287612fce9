"""The borders of a set of patterns: its most specific, its most general, its closed ones.

More specific means subsumed, by a substitution that respects Object Identity where the set does.
Under Object Identity a more specific pattern covers less, has every predicate and every constant
at least as often, and something more; these conditions are checked before anything is searched.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relynx.mining.patterns import trie as tr
from relynx.mining.patterns._border_kernels import (
    UNBOUND,
    Buckets,
    Encoded,
    bucket_of,
    mark_dominated,
)
from relynx.mining.patterns.trie import Ints, Rows, Trie, joined

Mask = NDArray[np.bool_]
N_BITS = 256  # of a signature


def maximal(trie: Trie, rows: Rows, *, object_identity: bool, same_cover: bool = False) -> Mask:
    """Which patterns have no strictly more specific one among them, or none with `same_cover`.

    A more specific pattern covers a part of the same sequences: as many are the same ones.
    """
    marked, supports = np.zeros(len(rows), bool), trie.supports[rows]
    if object_identity:
        above = _nearest(trie, rows)
        counts = above >= 0
        if same_cover:
            counts &= (supports[above] == supports).all(axis=1)
        marked[above[counts]] = True
    groups = np.unique(supports, axis=0, return_inverse=True)[1].reshape(-1) if same_cover else None
    return _unmarked(trie, rows, marked, object_identity, general=True, groups=groups)


def most_general(trie: Trie, rows: Rows, *, object_identity: bool) -> Mask:
    """Which patterns have no strictly more general one among them."""
    marked = np.zeros(len(rows), bool)
    if object_identity:
        marked = _nearest(trie, rows) >= 0
    return _unmarked(trie, rows, marked, object_identity, general=False)


def between(
    general: tuple[Trie, Rows],
    specific: tuple[Trie, Rows],
    patterns: tuple[Trie, Rows],
    *,
    object_identity: bool,
) -> Mask:
    """Which patterns are subsumed by one of `general` and subsume one of `specific`."""
    first, last = len(general[1]), len(general[1]) + len(specific[1])
    out = np.zeros(last + len(patterns[1]), bool)
    if first == 0 or last == first or last == len(out):
        return out[last:]
    trie, rows = joined([general, specific, patterns])
    atoms = _atoms(trie, rows)
    features = _features(atoms, object_identity)
    encoded = _encoded(atoms, features, trie.supports[rows])
    above = _buckets(features, np.arange(first))
    mark_dominated(
        encoded, above, np.arange(last, len(rows)), object_identity, False, False, False, out
    )
    below_general = np.flatnonzero(out)
    out[:] = False
    if len(below_general):
        above = _buckets(features, below_general)
        mark_dominated(
            encoded, above, np.arange(first, last), object_identity, True, False, False, out
        )
    return out[last:]


def _nearest(trie: Trie, rows: Rows) -> Rows:
    """The place in `rows` of the nearest row that each extends, or -1."""
    place = np.full(len(trie), -1)
    place[rows] = np.arange(len(rows))
    ancestor = trie.parent[rows].astype(np.int64)
    found = np.full(len(rows), -1)
    while (ancestor >= 0).any():
        here = np.where(ancestor >= 0, place[ancestor], -1)
        found = np.where(found < 0, here, found)
        ancestor = np.where((ancestor >= 0) & (found < 0), trie.parent[ancestor], -1)
    return found


def _unmarked(
    trie: Trie,
    rows: Rows,
    marked: Mask,
    object_identity: bool,
    *,
    general: bool,
    groups: Rows | None = None,
) -> Mask:
    """What is left of the rows when all that are dominated are marked. Groups do not mix."""
    left = np.flatnonzero(~marked)
    if len(left):
        atoms = _atoms(trie, rows[left])
        features = _features(atoms, object_identity)
        encoded = _encoded(atoms, features, trie.supports[rows[left]])
        buckets = _buckets(features if groups is None else groups[left][:, None])
        # The search is short where what dominates most comes first.
        order = np.argsort(-encoded.sizes if general else encoded.sizes, kind="stable")
        out = np.zeros(len(left), bool)
        same_cover = groups is not None
        mark_dominated(encoded, buckets, order, object_identity, general, same_cover, True, out)
        marked[left[out]] = True
    return ~marked


def _atoms(trie: Trie, rows: Rows) -> Ints:
    """The atoms of the patterns: predicate and arguments, absent ones at the end, predicate -1."""
    n_arguments = max(trie.steps.shape[1] - tr.ARGUMENTS, 2)
    widest = int(trie.steps[:, tr.N_STEPS].max(initial=0)) + 1
    parts = []
    for current in trie.generations(rows):
        steps = trie.steps[current]
        there = current >= 0
        link = np.full((len(rows), 1 + n_arguments), UNBOUND, np.int32)
        dimension = steps[:, tr.DIMENSION]
        number = len(trie.relations) + dimension * widest + steps[:, tr.N_STEPS]
        link[:, 0] = np.where(there & (dimension >= 0), number, -1)
        link[:, 1:3] = steps[:, [tr.FROM, tr.TO]]
        fact = np.full((len(rows), 1 + n_arguments), UNBOUND, np.int32)
        fact[:, 0] = np.where(there, steps[:, tr.RELATION], -1)
        arities = np.array([arity for _, arity in trie.relations] or [0])
        used = np.arange(steps.shape[1] - tr.ARGUMENTS) < arities[steps[:, tr.RELATION]][:, None]
        fact[:, 1 : 1 + used.shape[1]] = np.where(used, steps[:, tr.ARGUMENTS :], UNBOUND)
        parts += [fact, link]
    # From the first step to the last, so that an atom joins those before it.
    atoms = np.stack(parts[::-1], axis=1)
    absent_last = np.argsort(atoms[:, :, 0] < 0, axis=1, kind="stable")
    atoms = np.take_along_axis(atoms, absent_last[:, :, None], axis=1)
    return np.ascontiguousarray(atoms[:, : int((atoms[:, :, 0] >= 0).sum(axis=1).max())])


def _features(atoms: Ints, object_identity: bool) -> Rows:
    """What a more specific pattern has too: each predicate, each constant at its place.

    Numbered from 0, -1 for none. Under Object Identity the second of a kind is a feature of its
    own, since atoms stay apart; otherwise one atom may stand for several.
    """
    n, n_atoms, width = atoms.shape
    there = atoms[:, :, :1] >= 0
    constants = (atoms < 0) & (atoms != UNBOUND)
    values = np.where(constants, -atoms.astype(np.int64), 0)
    values[:, :, 0] = 0
    counted = there & (constants | (np.arange(width) == 0))
    base = int(values.max()) + 1
    keys = (atoms[:, :, :1].astype(np.int64) * width + np.arange(width)) * base + values
    flat = np.sort(np.where(counted, keys, -1).reshape(n, n_atoms * width), axis=1)
    rank = np.zeros_like(flat)
    for k in range(1, flat.shape[1]):
        rank[:, k] = np.where(flat[:, k] == flat[:, k - 1], rank[:, k - 1] + 1, 0)
    if object_identity:
        numbered = np.where(flat >= 0, flat * flat.shape[1] + rank, -1)
    else:
        numbered = np.where(rank == 0, flat, -1)
    found, numbers = np.unique(numbered, return_inverse=True)
    return numbers.reshape(numbered.shape) - int(found[0] < 0)


def _encoded(atoms: Ints, features: Rows, supports: Ints) -> Encoded:
    n_atoms = (atoms[:, :, 0] >= 0).sum(axis=1)
    arguments = atoms[:, :, 1:]
    there = atoms[:, :, :1] >= 0
    n_constants = (there & (arguments < 0) & (arguments != UNBOUND)).sum(axis=(1, 2))
    bits = np.zeros((len(atoms), N_BITS // 64), np.uint64)
    every = np.arange(len(atoms))
    for column in features.T:
        word, bit = column % N_BITS // 64, (column % 64).astype(np.uint64)
        bits[every, word] |= np.where(column >= 0, np.uint64(1) << bit, np.uint64(0))
    return Encoded(atoms, n_atoms, n_atoms + n_constants, bits, np.ascontiguousarray(supports))


def _buckets(features: Rows, rows: Rows | None = None) -> Buckets:
    """Every pattern, or each of some, in the bucket of its two rarest features."""
    rows = np.arange(len(features)) if rows is None else rows
    counts = np.bincount(features[features >= 0])
    frequency = np.where(features >= 0, counts[features], len(features) + 1)
    rarest = np.argsort(frequency, axis=1, kind="stable")[:, :2]
    # One feature alone is taken twice.
    missing = np.take_along_axis(features, rarest[:, -1:], axis=1)[:, 0] < 0
    rarest[missing, -1] = rarest[missing, 0]
    pair = np.sort(np.take_along_axis(features, rarest, axis=1), axis=1)
    n_buckets = 4 * len(features) + 1
    homes = bucket_of(pair[:, 0], pair[:, -1], n_buckets)[rows]
    ends = np.cumsum(np.bincount(homes, minlength=n_buckets))
    starts = np.concatenate([[0], ends[:-1]])
    rows = rows[np.argsort(homes, kind="stable")]
    return Buckets(np.ascontiguousarray(features), starts, ends, rows)
