"""Compiled loops of both engines: is a candidate frequent; patterns as atoms, in canonical form."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel


@by_reference
class Thresholds(NamedTuple):
    class_sizes: NDArray[np.int64]  # at least 1
    least: NDArray[np.int64]  # for each class the smallest support that suffices
    min_frequency: int


@inlined
def is_frequent(counted, thresholds, stats):
    """Is a candidate frequent, by its supports? `stats` gets what `SearchLevel.add` takes."""
    frequency, enough, share = 0, False, 0.0
    for c in range(len(counted)):
        frequency += counted[c]
        enough = enough or counted[c] >= thresholds.least[c]
        share = max(share, counted[c] / thresholds.class_sizes[c])
    stats[0] += 1
    if frequency < thresholds.min_frequency:
        stats[1] += 1
        if enough and frequency > stats[3]:
            stats[3], stats[4] = frequency, 0
        if enough and frequency == stats[3]:
            stats[4] += 1
    elif not enough:
        stats[2] += 1
        if share > stats[5]:
            stats[5], stats[6] = share, 0
        if share == stats[5]:
            stats[6] += 1
    return enough and frequency >= thresholds.min_frequency


UNUSED = -(1 << 40)  # where an atom has fewer arguments than there is room for
NO_ARGUMENT = -(1 << 31)  # the same, in a form


@inner_kernel
def write_atoms(dimensions, arity, more, step, atoms, n):
    """Append the atoms of a step to rows of which n are in use; how many then are. A relation has
    so many arguments `more` than `arity` says. Links are numbered after relations."""
    if step[0] >= 0:
        i = 0
        while dimensions[i] != step[0]:
            i += 1
        atoms[n, 0] = len(arity) + step[1] * len(dimensions) + i
        atoms[n, 1], atoms[n, 2] = step[2], step[3]
        for j in range(3, atoms.shape[1]):
            atoms[n, j] = UNUSED
        n += 1
    if step[4] >= 0:
        atoms[n, 0] = step[4]
        for j in range(1, atoms.shape[1]):
            atoms[n, j] = step[4 + j] if j <= arity[step[4]] + more else UNUSED
        n += 1
    return n


@inner_kernel
def mix(x):
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


@inner_kernel
def canonical_atoms(atoms, n_variables, out):
    """The same rows for all variants of a pattern, and for no other, into `out`. Rows of `atoms`
    are a predicate and its arguments: a variable v >= 0, or a constant < 0. Variables are told
    apart by where they occur; those that cannot be are tried in every order."""
    n, width = atoms.shape
    colour = np.empty(n_variables, np.uint64)
    fresh = np.empty(n_variables, np.uint64)
    for v in range(n_variables):
        colour[v] = 1
    for _ in range(3):
        for v in range(n_variables):
            fresh[v] = mix(colour[v])
        for i in range(n):
            whole = mix(np.uint64(atoms[i, 0] + 2))
            for j in range(1, width):
                x = atoms[i, j]
                term = colour[x] if x >= 0 else mix(np.uint64(-x))
                whole = mix(whole + term + np.uint64(j))
            for j in range(1, width):
                if atoms[i, j] >= 0:
                    fresh[atoms[i, j]] += mix(whole + np.uint64(j))
        for v in range(n_variables):
            colour[v] = fresh[v]
    ranked = np.zeros(n_variables, np.int64)
    for i in range(n_variables):  # by colour
        v, k = i, i
        while k > 0 and colour[ranked[k - 1]] > colour[v]:
            ranked[k] = ranked[k - 1]
            k -= 1
        ranked[k] = v
    number = np.zeros(n_variables, np.int64)
    place = np.zeros(n_variables + 1, np.int64)
    place[0] = -1
    for v in range(n_variables):
        number[v] = -1
    rows = np.zeros((n, width), np.int64)
    best = False
    depth = 0
    while depth >= 0:
        if depth == n_variables:
            for i in range(n):
                for j in range(width):
                    x = atoms[i, j]
                    rows[i, j] = number[x] if j and x >= 0 else x
            for i in range(1, n):  # sort the rows
                k = i
                while k > 0:
                    order = 0
                    for j in range(width):
                        if rows[k, j] != rows[k - 1, j]:
                            order = -1 if rows[k, j] < rows[k - 1, j] else 1
                            break
                    if order >= 0:
                        break
                    for j in range(width):
                        rows[k, j], rows[k - 1, j] = rows[k - 1, j], rows[k, j]
                    k -= 1
            less = not best
            if best:
                for at in range(n * width):
                    x, y = rows[at // width, at % width], out[at // width, at % width]
                    if x != y:
                        less = x < y
                        break
            if less:
                for at in range(n * width):
                    out[at // width, at % width] = rows[at // width, at % width]
                best = True
            depth -= 1
            continue
        if place[depth] >= 0:
            number[ranked[place[depth]]] = -1
        taken = False
        c = place[depth] + 1 if place[depth] >= 0 else 0
        while c < n_variables and not taken:
            v = ranked[c]
            if number[v] < 0 and colour[v] == colour[ranked[depth]]:
                place[depth] = c
                number[v] = depth
                taken = True
            c += 1
        if taken:
            depth += 1
            if depth <= n_variables:
                place[depth] = -1
        else:
            place[depth] = -1
            depth -= 1


@inlined
def has_twins(form):
    """Does a canonical form hold an atom twice?"""
    for i in range(1, len(form)):
        same = form[i, 0] >= 0  # rows that are not used have a negative predicate
        for j in range(form.shape[1]):
            same = same and form[i, j] == form[i - 1, j]
        if same:
            return True
    return False
