"""Compiled loops for patterns that are paths along one dimension.

An event of a sequence is a bit of a 64-bit word, so that a step along the dimension is a shift of
the word, for all events at once; a pattern is a few shifts and ands over an array of words. Long
sequences have several words, one after the other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.matching._backtracking_kernels import lower_bound

ONE = np.uint64(1)
NONE = np.uint64(0)
ALL = ~NONE
BLOCK = 4096  # words that stay in a fast cache


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


@by_reference
class Places(NamedTuple):
    """Where the answers of some sequences go, and where the words of each are."""

    rows: NDArray[np.int64]  # of each pattern
    columns: NDArray[np.int64]  # of each sequence
    words: NDArray[np.int64]  # of each sequence the first, and the end; counted from any number


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
        return word ^ (~word + ONE)  # all bits after the lowest
    return word << by


@inlined
def long_moved(words, i, before, n, seen):
    """The same for a word of a sequence of several, `before` of which come before it; `seen` has
    the bits of all those."""
    if n == 0:
        return moved(words[i], 0, NONE) | (ALL if seen else NONE)
    far, by = max(n, 0) >> 6, np.uint64(max(n, 0) & 63)
    word = words[i - far] << by if far <= before else NONE
    if by and far < before:
        word |= words[i - far - 1] >> (np.uint64(64) - by)
    return word


@inner_kernel
def move_all(words, n, row, before, out):
    """Let words step n events on and meet a fact there."""
    by = np.uint64(max(n, 0))
    if n > 0 and n < 64 and len(before):
        rest = np.uint64(64 - n)
        out[0] = (words[0] << by) & row[0]
        for i in range(1, len(row)):
            carried = (words[i - 1] >> rest) & np.uint64(-np.int64(before[i] != 0))
            out[i] = (words[i] << by | carried) & row[i]
    elif n == 0 and len(before):
        seen = NONE  # in the words before of the sequence
        for i in range(len(row)):
            seen = seen if before[i] else NONE
            out[i] = long_moved(words, i, before[i], 0, seen) & row[i]
            seen |= words[i]
    elif n > 0 and len(before):
        for i in range(len(row)):
            out[i] = long_moved(words, i, before[i], n, NONE) & row[i]
    elif n >= 64:
        for i in range(len(row)):
            out[i] = NONE
    elif n == 0:
        for i in range(len(row)):
            out[i] = moved(words[i], 0, by) & row[i]
    else:
        for i in range(len(row)):
            out[i] = moved(words[i], n, by) & row[i]


@inner_kernel
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
        left += (word != NONE) & (covered[place] == NONE)
    return left


@inner_kernel
def move_some_long(words, places, size, n, row, n_words, covered, out, left_places):
    """The same for sequences of several words; a place is that of the first."""
    by = np.uint64(max(n, 0) & 63)
    rest = np.uint64(63) - by
    read = written = left = 0
    for i in range(size):
        place = places[i]
        any_ = seen = carried = NONE
        for j in range(n_words[place]):
            word = words[read + j]
            if n == 0:
                reached = moved(word, 0, by) | (ALL if seen else NONE)
                seen |= word
            elif n < 64:
                reached = word << by | carried
                carried = word >> ONE >> rest
            else:
                reached = long_moved(words, read + j, j, n, NONE)
            reached &= row[place + j]
            any_ |= reached
            out[written + j] = reached
        read += n_words[place]
        left_places[left] = place
        keep = (any_ != NONE) & (covered[place] == NONE)
        left += keep
        written += n_words[place] * keep
    return left


@inner_kernel
def move_some_twins(words, places, size, n, row, covered, out, left_places):
    """The same for sequences of two words."""
    by = np.uint64(max(n, 0) & 63)
    rest = np.uint64(63) - by
    left = 0
    for i in range(size):
        place = places[i]
        low, high = words[2 * i], words[2 * i + 1]
        if n == 0:
            high = moved(high, 0, by) | (ALL if low else NONE)
            low = moved(low, 0, by)
        elif n < 64:
            high = high << by | low >> ONE >> rest
            low <<= by
        else:
            high = low << by if n < 128 else NONE
            low = NONE
        low &= row[place]
        high &= row[place + 1]
        out[2 * left], out[2 * left + 1], left_places[left] = low, high, place
        left += (low | high != NONE) & (covered[place] == NONE)
    return left


@inner_kernel
def open_places(words, size, n_words, places):
    """The places of words that are not empty, or of the first words of their sequences if these
    have several; how many."""
    left = 0
    if len(n_words) == 0:
        for i in range(size):
            places[left] = i
            left += words[i] != NONE
        return left
    i = 0
    while i < size:
        any_ = NONE
        for j in range(n_words[i]):
            any_ |= words[i + j]
        places[left] = i
        left += any_ != NONE
        i += n_words[i]
    return left


@inner_kernel
def mark(words, size, sequence, columns, target):
    """Set the columns of the sequences that have a word which is not empty."""
    for i in range(size):
        if words[i] != NONE:
            target[columns[sequence[i]]] = True


@inner_kernel
def shared_facts(first, last, other, stop, moves, rows):
    """How many facts two patterns have in common at their beginnings."""
    n = min(last - first, stop - other)
    for i in range(n):
        if moves[first + i] != moves[other + i] or rows[first + i] != rows[other + i]:
            return i
    return n


@kernel
def cover_paths(order, paths, relaxed_row, counts, assigned_off, assigned_row, rows, places, out):
    """Set in `out` which sequences (words of `rows`) each pattern covers.

    `relaxed_row` has the row of each fact with the enumerated variables free: what fails there
    cannot succeed. What passes is tried with each assignment (`assigned_row`: a row a fact), where
    `counts` says how many there are; -1 stands for a pattern without variables to enumerate. What
    two patterns next to each other in `order` begin with is computed once.
    """
    n_seq, at_word = len(places.columns), places.words
    fact_off, moves = paths.fact_off, paths.moves
    depth = most_facts(fact_off) + 1
    room = BLOCK
    for s in range(n_seq):
        room = max(room, at_word[s + 1] - at_word[s])
    words = np.zeros((depth, room), np.uint64)
    trials = np.zeros((depth, room), np.uint64)
    held = np.zeros((depth, room), np.int64)
    left = np.zeros(depth, np.int64)
    covered = np.zeros(room, np.uint64)
    sequence = np.zeros(room, np.int64)
    for i in range(room):
        words[0, i] = trials[0, i] = ALL
    begin = 0
    while begin < n_seq:
        end = begin
        most = min(at_word[begin + 1] - at_word[begin], 3)
        while end < n_seq and at_word[end + 1] - at_word[begin] <= room:
            if min(at_word[end + 1] - at_word[end], 3) != most:
                break
            end += 1
        start, size = at_word[begin] - at_word[0], at_word[end] - at_word[begin]
        before = np.zeros(size if size > end - begin else 0, np.int64)
        n_words = np.zeros(len(before), np.int64)
        for s in range(begin, end):
            for i in range(at_word[s], at_word[s + 1]):
                sequence[i - at_word[begin]] = s
                if len(before):
                    before[i - at_word[begin]] = i - at_word[s]
                    n_words[i - at_word[begin]] = at_word[s + 1] - i
        first = last = np.int64(0)
        for p in order:
            other, stop = first, last
            first, last = fact_off[p], fact_off[p + 1]
            n_facts = last - first
            shared = shared_facts(first, last, other, stop, moves, relaxed_row)
            for f in range(shared, n_facts):
                row = rows[relaxed_row[first + f]][start : start + size]
                move_all(words[f], moves[first + f], row, before, words[f + 1])
            target = out[places.rows[p]]
            if counts[p] < 0:
                mark(words[n_facts], size, sequence, places.columns, target)
                continue
            left[0] = open_places(words[n_facts], size, n_words, held[0])
            for i in range(size):
                covered[i] = NONE
            at = assigned_off[p]
            for a in range(counts[p]):
                # Assignments come in an order in which neighbours share their first facts.
                f = 0
                while a and f < n_facts and assigned_row[at + f] == assigned_row[at + f - n_facts]:
                    f += 1
                while f < n_facts and left[f]:
                    move, row = moves[first + f], rows[assigned_row[at + f]][start : start + size]
                    now, then, at_now, at_then = trials[f], trials[f + 1], held[f], held[f + 1]
                    if most == 1:
                        left[f + 1] = move_some(
                            now, at_now, left[f], move, row, covered, then, at_then
                        )
                    elif most == 2:
                        left[f + 1] = move_some_twins(
                            now, at_now, left[f], move, row, covered, then, at_then
                        )
                    else:
                        left[f + 1] = move_some_long(
                            now, at_now, left[f], move, row, n_words, covered, then, at_then
                        )
                    f += 1
                if f == n_facts:
                    for i in range(left[n_facts]):
                        covered[held[n_facts, i]] = ONE
                else:
                    for rest in range(f + 1, depth):
                        left[rest] = 0
                at += n_facts
            mark(covered, size, sequence, places.columns, target)
        begin = end
