"""Compiled loops that refine some children of a pattern at once.

Patterns come as the steps that make them, rows as in `trie`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._alphabet_kernels import tallied
from relynx.mining.engines._general_kernels import count_refinements, is_alone
from relynx.mining.engines._listing_kernels import list_matches
from relynx.mining.engines._refinement_kernels import read

# Why a call ended: all is done, or so much that the search may be asked; or what it wants.
DONE, MORE_COLUMNS, MORE_COUNTERS, MORE_ROWS, LARGE, TOO_MANY_CODES = range(6)


class Frequent(NamedTuple):
    """Frequent refinements of some siblings, in order, and the tallies of all."""

    stats: NDArray[np.float64]  # of longer ones and of closings
    owner: NDArray[np.int32]  # which sibling
    keys: NDArray[np.int64]
    supports: NDArray[np.int32]
    n: NDArray[np.int64]  # how many there are; for how many there should be room


@njit(cache=True, nogil=True)
def forget(counts):
    """Make the counters ready for another pattern."""
    for i in range(counts.n_used[0]):
        counts.keys[counts.used[i]] = -1
    counts.n_used[0] = 0


@njit(cache=True, nogil=True)
def collect(rules, closings, counts, child, out):
    """Append the frequent refinements of a child among those counted, in order of their keys.

    Keys from `closings` on are of patterns that are no longer than the child. False when there is
    no room: then out.n[1] says how much is wanted, and the counts are kept.
    """
    keys, supports, used = counts.keys, counts.supports, counts.used
    n_used, n_classes = counts.n_used[0], counts.supports.shape[1]
    good = np.empty(n_used, np.int64)
    now = np.zeros_like(out.stats)
    n_good = 0
    for i in range(n_used):
        slot = used[i]
        stats = now[1] if keys[slot] >= closings else now[0]
        of_classes = supports[slot]
        if tallied(of_classes, rules.class_sizes, rules.least, rules.min_frequency, stats):
            good[n_good] = slot
            n_good += 1
    n = out.n[0]
    if n + n_good > len(out.keys):
        out.n[1] = n + n_good
        return False
    order = np.argsort(keys[good[:n_good]])
    for i in range(n_good):
        slot = good[order[i]]
        out.owner[n + i] = child
        out.keys[n + i] = keys[slot]
        for c in range(n_classes):
            out.supports[n + i, c] = supports[slot, c]
    out.n[0] = n + n_good
    for part in range(2):
        before, more = out.stats[part], now[part]
        for i in range(3):
            before[i] += more[i]
        for i in (3, 5):
            if more[i] > before[i]:
                before[i], before[i + 1] = more[i], 0
            if more[i] == before[i]:
                before[i + 1] += more[i + 1]
    forget(counts)
    return True


@njit(cache=True, nogil=True)
def has_few_looks(data, language, pattern):
    """Is little looked at for a match? So it is where an event is looked at once a sequence, and
    where nothing but links between old events is looked for, along paths."""
    return (pattern.is_last and not data.has_graphs) or is_alone(language, pattern.types)


@njit(cache=True, nogil=True)
def grow(
    data,
    language,
    rules,
    matches,
    sequence,
    chain,
    children,
    done,
    at_once,
    columns,
    column_sequence,
    counts,
    out,
    of_children,
):
    """Refine the children of a pattern but those that are done; why it ends, and how many are done.

    `chain` are the steps of the pattern, with its matches, and `children` the steps of its
    children. `at_once` are the looks after which to end, and the most matches that a child may
    have, where much is looked at for each and where little is: one that has more is LARGE, and left
    to the caller. `columns` and `column_sequence` are room for the matches of a child. How much was
    looked at for a child, and how many matches it has, goes to `of_children`.
    """
    before = read(rules, language, chain, len(chain))
    n_old = len(before.types) - 1
    whole = np.empty((len(chain) + 1, chain.shape[1]), chain.dtype)
    for i in range(len(chain)):
        for q in range(chain.shape[1]):
            whole[i, q] = chain[i, q]
    start = np.int64(0)  # a literal would be compiled apart
    n_matches, n_looks = 0, 0
    for c in range(done, len(children)):
        for q in range(chain.shape[1]):
            whole[len(chain), q] = children[c, q]
        pattern = read(rules, language, whole, len(whole))
        if len(pattern.bases) == 0:
            return TOO_MANY_CODES, c
        most = at_once[2] if has_few_looks(data, language, pattern) else at_once[1]
        total = list_matches(
            data,
            language,
            matches,
            sequence,
            start,
            len(sequence),
            n_old,
            before.taboo,
            children[c],
            most,
            columns,
            column_sequence,
        )
        if total > most:
            return LARGE, c
        if total > columns.shape[1]:
            out.n[1] = total
            return MORE_COLUMNS, c
        looks = count_refinements(
            data, language, columns, column_sequence, start, total, rules.labels, pattern, counts
        )
        if looks < 0:
            return MORE_COUNTERS, c
        if not collect(rules, pattern.families[-1, 0], counts, c, out):
            forget(counts)
            return MORE_ROWS, c
        looks += len(sequence)
        of_children[c, 0], of_children[c, 1] = looks, total
        n_matches += len(sequence) + total
        n_looks += looks
        if n_matches > at_once[2] or n_looks > at_once[0]:
            return DONE, c + 1
    return DONE, len(children)
