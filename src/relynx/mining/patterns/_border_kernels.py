"""Which patterns of a set have a more specific or a more general one beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel

UNBOUND = np.int32(-(2**31))


@by_reference
class Encoded(NamedTuple):
    """Patterns as arrays, one entry a pattern. `atoms[i, k]` is a predicate and its arguments:
    variables from 0, constants below 0, predicates without so many arguments padded by UNBOUND.
    `sizes` counts atoms and constants; `bits` has one for each thing that every more specific
    pattern has too; `supports` are per class."""

    atoms: NDArray[np.int32]
    n_atoms: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bits: NDArray[np.uint64]
    supports: NDArray[np.int32]


@by_reference
class Buckets(NamedTuple):
    """Each pattern is in the bucket of two of its features, which what is more specific has too.
    `features` are the numbers of all its features, rising, with -1 where there are no more."""

    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    rows: NDArray[np.int64]


class Scratch(NamedTuple):
    """The state of the search for a substitution, level after level of the general pattern."""

    binding: NDArray[np.int32]  # of each variable
    trail: NDArray[np.int64]  # the bound variables, in the order of their binding
    bound: NDArray[np.int64]  # how many of them were bound before a level
    choice: NDArray[np.int64]  # the atom that a level became


@kernel
def mark_dominated(patterns, buckets, order, injective, general, same_cover, strict, out):
    """Mark what has a more specific pattern (`general`), else what has a more general one.

    The more general ones are those in the buckets, the more specific ones those of `order`. With
    `same_cover` only patterns of equal supports are compared; without `strict` equivalent ones
    count, too.

    Marked patterns are not looked at again: below and above them is an unmarked one that does.
    """
    n_atoms, width = patterns.atoms.shape[1:]
    scratch = Scratch(
        np.empty(n_atoms * width, np.int32),
        np.empty(n_atoms * width, np.int64),
        np.empty(n_atoms + 1, np.int64),
        np.empty(n_atoms + 1, np.int64),
    )
    starts, ends, rows = buckets.starts, buckets.ends, buckets.rows
    for q in order:
        features = buckets.features[q]
        for a in range(len(features)):
            for b in range(a, len(features)):
                if out[q] or features[a] < 0 or features[b] < 0:
                    continue
                key = _bucket_of(features[a], features[b], len(starts))
                i, end = starts[key], ends[key]
                while i < end:
                    p = rows[i]
                    if out[p]:
                        end -= 1
                        rows[i] = rows[end]
                        continue
                    # Apart, so that the test that fails most is compiled in place.
                    if _may_be_above(patterns, p, q, injective, same_cover, strict) and _is_above(
                        patterns, p, q, injective, strict, scratch
                    ):
                        out[p if general else q] = True
                        if not general:
                            break
                    i += 1
                ends[key] = end


def bucket_of(first, second, n_buckets):
    """The bucket of two features; others may share it."""
    return (first * 1_000_003 + second) % n_buckets


_bucket_of = inner_kernel(bucket_of)


@inner_kernel
def _is_above(patterns, p, q, injective, strict, scratch):
    """Whether p is more general than q, if it may be."""
    if not _subsumes(patterns, p, q, injective, scratch):
        return False
    return injective or not strict or not _subsumes(patterns, q, p, injective, scratch)


@inlined
def _may_be_above(patterns, p, q, injective, same_cover, strict):
    """Conditions that every p has that is more general than q."""
    if strict and (p == q or (injective and patterns.sizes[p] >= patterns.sizes[q])):
        return False
    for w in range(patterns.bits.shape[1]):
        if patterns.bits[p, w] & ~patterns.bits[q, w]:
            return False
    for c in range(patterns.supports.shape[1]):
        more = patterns.supports[p, c] - patterns.supports[q, c]
        if more < 0 or (same_cover and more > 0):
            return False
    return True


@inner_kernel
def _subsumes(patterns, p, q, injective, scratch):
    """Whether a substitution maps the atoms of p to atoms of q."""
    n_general, n_specific = patterns.n_atoms[p], patterns.n_atoms[q]
    for v in range(len(scratch.binding)):
        scratch.binding[v] = UNBOUND
    level = np.int64(0)  # one type: compiled once
    scratch.choice[0] = -1
    scratch.bound[0] = 0
    while level < n_general:
        found = False
        for c in range(scratch.choice[level] + 1, n_specific):
            if _bind(patterns, p, level, q, c, injective, scratch):
                found = True
                scratch.choice[level] = c
                level += 1
                scratch.choice[level] = -1
                break
        if not found:
            level -= 1
            if level < 0:
                return False
            _unbind(scratch, level)
    return True


@inner_kernel
def _bind(patterns, p, level, q, c, injective, scratch):
    """Bind the variables of an atom of p so that it becomes atom c of q; undone if it cannot."""
    atoms, binding, trail = patterns.atoms, scratch.binding, scratch.trail
    if atoms[p, level, 0] != atoms[q, c, 0]:
        return False
    n = scratch.bound[level]
    scratch.bound[level + 1] = n
    for k in range(1, atoms.shape[2]):
        term, value = atoms[p, level, k], atoms[q, c, k]
        if term < 0:
            fits = term == value
        elif binding[term] != UNBOUND:
            fits = binding[term] == value
        else:
            fits = not injective or _is_free(patterns, p, value, scratch, n)
            if fits:
                binding[term] = value
                trail[n] = term
                n += 1
                scratch.bound[level + 1] = n
        if not fits:
            _unbind(scratch, level)
            return False
    return True


@inner_kernel
def _unbind(scratch, level):
    for i in range(scratch.bound[level], scratch.bound[level + 1]):
        scratch.binding[scratch.trail[i]] = UNBOUND


@inner_kernel
def _is_free(patterns, p, value, scratch, n_bound):
    """Whether no other variable has this value, and p no such constant."""
    if value < 0:
        for i in range(patterns.n_atoms[p]):
            for k in range(1, patterns.atoms.shape[2]):
                if patterns.atoms[p, i, k] == value:
                    return False
    taken = False
    for i in range(n_bound):
        taken |= scratch.binding[scratch.trail[i]] == value
    return not taken
