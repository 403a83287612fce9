"""Compiled loops for patterns that are paths along one dimension.

An event of a sequence is a bit of a 64-bit word, so that a step along the dimension is a shift of
the word, for all events at once; a pattern is a few shifts and ands over an array of words, one a
sequence.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.matching._backtracking_kernels import lower_bound

ONE = np.uint64(1)
NONE = np.uint64(0)
BLOCK = 4096


@by_reference
class Paths(NamedTuple):
    """Patterns that are paths: events one after the other, each with facts about its values.

    A fact about an event is a number: the start of its relation plus the mixed-radix number of its
    values, where a value that does not matter has the highest digit.
    """

    fact_off: NDArray[np.int64]  # P+1: the facts of each pattern
    moves: NDArray[np.int64]  # F: steps from the event of the fact before, 0 for any, -1 for none
    base: NDArray[np.int64]  # F: number of the fact, the variables to enumerate at digit 0
    relaxed: NDArray[np.int64]  # F: the same with those variables free
    variable_off: NDArray[np.int64]  # P+1: the variables to enumerate
    choice_off: NDArray[np.int64]  # V x 2: from, to in choices
    choices: NDArray[np.int64]  # values that a variable may take
    use_off: NDArray[np.int64]  # V+1: where a variable occurs
    uses: NDArray[np.int64]  # (fact of the pattern, start of its digit table, stride)
    digits: NDArray[np.int64]  # value -> digit
    taboo_off: NDArray[np.int64]  # P+1
    taboo: NDArray[np.int64]  # values that no variable may take
    injective: bool


@inner_kernel
def expand(paths, p, out):
    """Enumerate the values of a pattern's variables; row i of `out` gets the facts' numbers.

    Returns how many there are, or -2 when `out` has too few rows.
    """
    fact0 = paths.fact_off[p]
    n_facts = paths.fact_off[p + 1] - fact0
    v0 = paths.variable_off[p]
    n = paths.variable_off[p + 1] - v0
    at = np.zeros(n + 1, np.int64)
    value = np.zeros(n + 1, np.int64)
    numbers = np.zeros((n + 1, n_facts), np.int64)
    for f in range(n_facts):
        numbers[0, f] = paths.base[fact0 + f]
    count = 0
    depth = 0
    if n:
        at[0] = paths.choice_off[v0, 0]
    while depth >= 0:
        if depth == n:
            if count == out.shape[0]:
                return -2
            for f in range(n_facts):
                out[count, f] = numbers[n, f]
            count += 1
            depth -= 1
            continue
        v = v0 + depth
        taken = False
        while at[depth] < paths.choice_off[v, 1] and not taken:
            choice = paths.choices[at[depth]]
            at[depth] += 1
            taken = True
            if paths.injective:
                for d in range(depth):
                    if value[d] == choice:
                        taken = False
                for t in range(paths.taboo_off[p], paths.taboo_off[p + 1]):
                    if paths.taboo[t] == choice:
                        taken = False
            if taken:
                value[depth] = choice
                for f in range(n_facts):
                    numbers[depth + 1, f] = numbers[depth, f]
                for u in range(paths.use_off[v], paths.use_off[v + 1]):
                    digit = paths.digits[paths.uses[u, 1] + choice]
                    numbers[depth + 1, paths.uses[u, 0]] += digit * paths.uses[u, 2]
        if taken:
            depth += 1
            if depth < n:
                at[depth] = paths.choice_off[v0 + depth, 0]
        else:
            depth -= 1
    return count


@inner_kernel
def most_facts(fact_off):
    """How many facts a pattern has at most."""
    most = 0
    for p in range(len(fact_off) - 1):
        most = max(most, fact_off[p + 1] - fact_off[p])
    return most


@kernel
def expand_all(paths, most, counts):
    """Enumerate every pattern that has variables; the numbers, pattern after pattern.

    `counts` gets how many assignments each has: -1 for a pattern without variables, -2 for one
    with more than `most` assignments.
    """
    n_patterns = len(counts)
    room = np.empty((most, most_facts(paths.fact_off)), np.int64)
    out = np.empty(1024, np.int64)
    total = 0
    for p in range(n_patterns):
        if paths.variable_off[p] == paths.variable_off[p + 1]:
            counts[p] = -1
            continue
        counts[p] = expand(paths, p, room)
        n_facts = paths.fact_off[p + 1] - paths.fact_off[p]
        needed = total + counts[p] * n_facts
        if needed > len(out):
            more = np.empty(2 * needed, np.int64)
            for i in range(total):
                more[i] = out[i]
            out = more
        for i in range(counts[p]):
            for f in range(n_facts):
                out[total] = room[i, f]
                total += 1
    return out[:total]


@kernel
def fill_rows(digits, strides, free, start, places, wanted, row_of, rows):
    """Set the bits of the events for which a numbered fact holds.

    Each fact of a relation (a column of `digits`) counts for every way to free some of its values.
    `row_of` maps number - start to a row; when it is empty `wanted`, which is sorted, is searched.
    """
    n_values, n_facts = digits.shape
    for f in range(n_facts):
        for subset in range(1 << n_values):
            number = start
            for j in range(n_values):
                digit = free[j] if (subset >> j) & 1 else digits[j, f]
                number += digit * strides[j]
            row = np.int64(-1)
            if len(row_of):
                row = np.int64(row_of[number - start])
            else:
                at = lower_bound(wanted, 0, len(wanted), number)
                if at < len(wanted) and wanted[at] == number:
                    row = np.int64(at)
            if row >= 0:
                rows[row, places[0, f]] |= ONE << np.uint64(places[1, f])


@inlined
def moved(word, n, by):
    """The events n steps after those of a word; any number of steps for n = 0, none for -1."""
    if n == 0:
        return word ^ (~word + ONE) if word != NONE else NONE  # all bits after the lowest
    return word << by


@inlined
def move_all(words, n, row, out):
    """Let words step n events on and meet a fact there."""
    by = np.uint64(max(n, 0))
    if n >= 64:
        for i in range(len(row)):
            out[i] = NONE
    elif n == 0:
        for i in range(len(row)):
            out[i] = moved(words[i], 0, by) & row[i]
    else:
        for i in range(len(row)):
            out[i] = moved(words[i], n, by) & row[i]


@inlined
def move_some(words, places, size, n, row, covered, out, left_places):
    """The same for words of some places of a row; what is left, and not covered, comes to the
    front of `out` and `left_places`. How many are left."""
    by = np.uint64(max(n, 0))
    left = 0
    if n >= 64:
        return left
    for i in range(size):
        place = places[i]
        word = moved(words[i], n, by) & row[place]
        out[left], left_places[left] = word, place
        left += (word != NONE) & (covered[place] == 0)
    return left


@inlined
def shared_facts(first, last, other, stop, moves, rows):
    """How many facts two patterns have in common at their beginnings."""
    n = min(last - first, stop - other)
    for i in range(n):
        if moves[first + i] != moves[other + i] or rows[first + i] != rows[other + i]:
            return i
    return n


@kernel
def cover_paths(order, paths, relaxed_row, counts, assigned_off, assigned_row, rows, targets, out):
    """Set in `out` which sequences (columns of `rows`) each pattern covers.

    `targets` are the row of each pattern and the column of each sequence in `out`. `relaxed_row`
    has the row of each fact with the enumerated variables free: what fails there cannot succeed.
    What passes is tried with each assignment (`assigned_row`: a row a fact), where `counts` says
    how many there are; -1 stands for a pattern without variables to enumerate. What two patterns
    next to each other in `order` begin with is computed once.
    """
    n_seq = rows.shape[1]
    fact_off, moves = paths.fact_off, paths.moves
    depth = most_facts(fact_off) + 1
    words = np.zeros((depth, BLOCK), np.uint64)
    trials = np.zeros((depth, BLOCK), np.uint64)
    places = np.zeros((depth, BLOCK), np.int64)
    left = np.zeros(depth, np.int64)
    covered = np.zeros(BLOCK, np.uint8)
    for i in range(BLOCK):
        words[0, i] = trials[0, i] = ~NONE
    for begin in range(0, n_seq, BLOCK):
        size = min(BLOCK, n_seq - begin)
        end = begin + size
        first = last = np.int64(0)
        for p in order:
            other, stop = first, last
            first, last = fact_off[p], fact_off[p + 1]
            n_facts = last - first
            shared = shared_facts(first, last, other, stop, moves, relaxed_row)
            for f in range(shared, n_facts):
                row = rows[relaxed_row[first + f]][begin:end]
                move_all(words[f], moves[first + f], row, words[f + 1])
            result = words[n_facts]
            n_open = 0
            for i in range(size):
                covered[i] = 0
                places[0, n_open] = i
                n_open += result[i] != NONE
            left[0] = n_open
            if counts[p] < 0:
                for i in range(n_open):
                    covered[places[0, i]] = 1
            at = assigned_off[p]
            for a in range(counts[p]):
                # Assignments come in an order in which neighbours share their first facts.
                f = 0
                while a and f < n_facts and assigned_row[at + f] == assigned_row[at + f - n_facts]:
                    f += 1
                while f < n_facts and left[f]:
                    left[f + 1] = move_some(
                        trials[f],
                        places[f],
                        left[f],
                        moves[first + f],
                        rows[assigned_row[at + f]][begin:end],
                        covered,
                        trials[f + 1],
                        places[f + 1],
                    )
                    f += 1
                if f == n_facts:
                    for i in range(left[n_facts]):
                        covered[places[n_facts, i]] = 1
                else:
                    for rest in range(f + 1, depth):
                        left[rest] = 0
                at += n_facts
            target = out[targets[0][p]]
            for i in range(size):
                if covered[i]:
                    target[targets[1][begin + i]] = True
