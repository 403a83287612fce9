"""Compiled loops that refine some children of a pattern at once.

Patterns come as the steps that make them, rows as in `trie`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.engines._canonical_kernels import is_frequent
from relynx.mining.engines.general._general_kernels import count_refinements, is_alone
from relynx.mining.engines.general._listing_kernels import list_matches
from relynx.mining.engines.general._refinement_kernels import read

LIST, COUNT, COLLECT = 1, 2, 4  # what `grow` does with a child, added up
ALL = LIST | COUNT | COLLECT
NO_LIMIT = np.int64(1 << 62)
# Why a call ended: all is done, or so much that the search may be asked; or what it wants.
DONE, MORE_COLUMNS, MORE_COUNTERS, MORE_ROWS, LARGE, TOO_MANY_CODES = range(6)


@by_reference
class Frequent(NamedTuple):
    """Frequent refinements of some siblings, in order, and the tallies of all."""

    stats: NDArray[np.float64]  # of longer ones and of closings
    now: NDArray[np.float64]  # room for those of one sibling
    owner: NDArray[np.int32]  # which sibling
    keys: NDArray[np.int64]
    supports: NDArray[np.int32]  # and what is covered, as `Counts` has it
    n: NDArray[np.int64]  # how many there are; for how many there should be room


@inner_kernel
def collect(rules, closings, counts, child, out):
    """Append the frequent refinements of a child among those counted, in order of their keys. Keys
    from `closings` on are of patterns that are no longer than the child. False when there is no
    room: then out.n[1] says how much is wanted. The counters are made ready for another pattern if
    `out` has room."""
    keys, supports, used = counts.keys, counts.supports, counts.used
    n_used, n_classes = counts.n_used[0], counts.n_used[1]
    good, now = np.empty(n_used, np.int64), out.now
    for part in range(2):
        for i in range(now.shape[1]):
            now[part, i] = 0
    n_good = 0
    for i in range(n_used):
        slot = used[i]
        part = 1 if keys[slot] >= closings else 0
        if is_frequent(supports[slot, :n_classes], rules, now[part]):
            good[n_good] = slot
            n_good += 1
    n = out.n[0]
    has_room = n + n_good <= len(out.keys)
    if has_room:
        gap = 1
        while gap < n_good // 3:
            gap = 3 * gap + 1
        while gap > 0:  # a Shell sort by key; keys differ
            for i in range(gap, n_good):
                slot, j = good[i], i
                key = keys[slot]
                while j >= gap and keys[good[j - gap]] > key:
                    good[j] = good[j - gap]
                    j -= gap
                good[j] = slot
            gap //= 3
        for i in range(n_good):
            slot = good[i]
            out.owner[n + i] = child
            out.keys[n + i] = keys[slot]
            for c in range(supports.shape[1]):
                out.supports[n + i, c] = supports[slot, c]
        out.n[0] = n + n_good
        for part in range(2):  # as `SearchLevel.add` does
            for i in range(3):
                out.stats[part, i] += now[part, i]
            for i in range(3, 6, 2):
                if now[part, i] > out.stats[part, i]:
                    out.stats[part, i], out.stats[part, i + 1] = now[part, i], 0
                if now[part, i] == out.stats[part, i]:
                    out.stats[part, i + 1] += now[part, i + 1]
        for i in range(n_used):
            keys[used[i]] = -1
        counts.n_used[0] = 0
    else:
        out.n[1] = n + n_good
    return has_room


@inlined
def has_few_looks(data, language, pattern):
    """Is little looked at for a match? So it is where an event is looked at once a sequence, and
    where nothing but links between old events is looked for, along paths."""
    alone = is_alone(language, pattern.types, pattern.n_types)
    return (pattern.is_last and not data.has_graphs) or alone


@kernel
def grow(
    data,
    language,
    rules,
    matches,
    sequence,
    begin,
    end,
    chain,
    children,
    done,
    at_once,
    columns,
    owner,
    counts,
    out,
    of_children,
    what,
):
    """Refine the children of a pattern but those that are done; why it ends, and how many are done.

    `chain` are the steps of the pattern, with its matches from `begin` to `end`, and `children` the
    steps of its children; without any, the pattern itself is meant. `at_once` are the looks after
    which to end, and the most matches that a child may have, where much is looked at for each and
    where little is: one that has more is LARGE, and left to the caller. `columns` and `owner` are
    room for the matches of a child, and their sequences. How much was looked at for a child, and
    how many matches it has, goes to `of_children`.

    A caller may also ask for parts of this with `what`: to LIST all matches of a child (then
    `of_children` gets its variables, and the most matches to look at together), to COUNT over the
    matches from `begin` to `end` of its `columns`, and to COLLECT what was counted.
    """
    n_steps = len(chain) + (len(children) > 0)
    whole = np.empty((n_steps, chain.shape[1]), np.int32)
    for i in range(len(chain)):
        for q in range(chain.shape[1]):
            whole[i, q] = chain[i, q]
    marks = np.zeros(data.most_nodes, np.uint8)
    near = np.zeros(data.most_nodes, np.int64)
    everything = what == ALL
    n_matches, n_looks = 0, 0
    why, c = DONE, done
    while c < max(len(children), 1):
        if len(children) > 0:
            for q in range(chain.shape[1]):
                whole[len(chain), q] = children[c, q]
        pattern = read(rules, language, whole, n_steps)
        if pattern.first_closing < 0:
            why = TOO_MANY_CODES
            break
        most = at_once[2] if has_few_looks(data, language, pattern) else at_once[1]
        first, total, looks = begin, end, 0
        if what & LIST:
            total = list_matches(
                data,
                language,
                matches,
                sequence,
                begin,
                end,
                pattern,
                whole[n_steps - 1],
                most if everything else NO_LIMIT,
                marks,
                near,
                columns,
                owner,
            )
            if everything and total > most:
                why = LARGE
                break
            if total > columns.shape[1]:
                out.n[1] = total
                why = MORE_COLUMNS
                break
            first = 0
            of_children[c, 0], of_children[c, 1] = pattern.n_types, most
            out.n[1] = total
        if what & COUNT:
            looks = count_refinements(
                data, language, rules, columns, owner, first, total, pattern, marks, near, counts
            )
            if looks < 0:
                why = MORE_COUNTERS
                break
            of_children[c, 0] = looks
        if what & COLLECT and not collect(rules, pattern.first_closing, counts, c, out):
            if what & COUNT:  # to be counted again
                for i in range(counts.n_used[0]):
                    counts.keys[counts.used[i]] = -1
                counts.n_used[0] = 0
            why = MORE_ROWS
            break
        c += 1
        if everything:
            looks += len(sequence)
            of_children[c - 1, 0], of_children[c - 1, 1] = looks, total
            n_matches += len(sequence) + total
            n_looks += looks
        if not everything or n_matches > at_once[2] or n_looks > at_once[0]:
            break
    return why, c
