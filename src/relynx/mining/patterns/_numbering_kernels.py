"""Compiled loops that number the variables of many patterns by canonical form, and order atoms.

`canonical_numbering` in relynx.logic.canonical is what they compute, and has the reasons. A pattern
is a few atoms: the number of a shape and variables. Tuples that are compared there are single
integers here, so patterns with more than this are left to Python.
"""

import numpy as np

from relynx._kernels import inlined, inner_kernel, kernel

MOST_VARIABLES = 31  # of a pattern: a colour takes 6 bits, also one that was split
MOST_PLACES = 8  # for variables in an atom
MOST_ATOMS = 64
MOST_LEAVES = 720  # of the tree of choices between variables that look alike
SLOT_BITS = 15  # of a table that remembers what was worked out last
HEAD = 48  # the bits below hold colours, the first variable's highest


@inlined
def _packed(rank, variables, i, labels):
    """An atom as one integer that compares as its rank and the labels of its variables do."""
    whole = rank[i] << HEAD
    shift = HEAD
    for j in range(variables.shape[1]):
        if variables[i, j] < 0:
            break
        shift -= 6
        whole |= labels[variables[i, j]] << shift
    return whole


@inner_kernel
def _refine(rank, variables, n_atoms, n, colour, seen, count, order):
    """Split colours by the atoms that variables occur in until nothing splits; how many there are.
    `seen`, `count` and `order` are room for what is needed on the way."""
    present = np.uint64(0)
    for v in range(n):
        present |= np.uint64(1) << np.uint64(colour[v])
    n_colours = 0
    while present:
        present &= present - np.uint64(1)
        n_colours += 1
    while True:
        for v in range(n):
            count[v] = 0
        for i in range(n_atoms):
            whole = _packed(rank, variables, i, colour)
            for j in range(variables.shape[1]):
                v = variables[i, j]
                if v < 0:
                    break
                one, k = whole | ((j + 1) << (HEAD + 7)), count[v]
                while k > 0 and seen[v, k - 1] > one:
                    seen[v, k] = seen[v, k - 1]
                    k -= 1
                seen[v, k] = one
                count[v] += 1
        for v in range(n):
            k = v
            while k > 0 and _compare(colour, seen, count, order[k - 1], v) > 0:
                order[k] = order[k - 1]
                k -= 1
            order[k] = v
        n_new = 0
        # The last row of `seen` keeps the new colours while the old ones are compared.
        for k in range(n):
            if k and _compare(colour, seen, count, order[k - 1], order[k]) != 0:
                n_new += 1
            seen[-1, order[k]] = n_new
        n_new += 1
        for v in range(n):
            colour[v] = seen[-1, v]
        if n_new in (n, n_colours):
            return n_new
        n_colours = n_new


@inlined
def _compare(colour, seen, count, v, w):
    if colour[v] != colour[w]:
        return -1 if colour[v] < colour[w] else 1
    for k in range(min(count[v], count[w])):
        if seen[v, k] != seen[w, k]:
            return -1 if seen[v, k] < seen[w, k] else 1
    return count[v] - count[w]


@inner_kernel
def _sorted_atoms(rank, variables, n_atoms, labels, forms, order):
    """The atoms in order as integers, and their places."""
    for i in range(n_atoms):
        one, k = _packed(rank, variables, i, labels), i
        while k > 0 and forms[k - 1] > one:
            forms[k], order[k] = forms[k - 1], order[k - 1]
            k -= 1
        forms[k], order[k] = one, i


@inner_kernel
def _label(rank, variables, n_atoms, n, order, stack, seen, room):
    """Put the atoms into the order of the least form; False if there are too many choices to try.
    `stack`, `seen` and `room` are room for what is needed on the way."""
    count, sorted_, forms, best, cell = room[0], room[1], room[2], room[3], room[4]
    if n == 0:
        _sorted_atoms(rank, variables, n_atoms, stack[0], forms, order)
        return True
    for v in range(n):
        stack[0, v] = 0
    _refine(rank, variables, n_atoms, n, stack[0], seen, count, sorted_)
    depth, n_leaves = 0, 0
    cell[0] = -1  # the last member of the cell that was tried
    while depth >= 0:
        colour = stack[depth]
        # The cell to split: the variables of the least colour that several have.
        split = n
        for v in range(n):
            for w in range(v):
                if colour[v] == colour[w] and colour[v] < split:
                    split = colour[v]
        if split == n:
            n_leaves += 1
            _sorted_atoms(rank, variables, n_atoms, colour, forms, sorted_)
            less = n_leaves == 1
            if not less:
                for i in range(n_atoms):
                    if forms[i] != best[i]:
                        less = forms[i] < best[i]
                        break
            if less:
                for i in range(n_atoms):
                    best[i], order[i] = forms[i], sorted_[i]
            depth -= 1
            continue
        v = cell[depth] + 1
        while v < n and colour[v] != split:
            v += 1
        if v == n:
            depth -= 1
            continue
        if n_leaves >= MOST_LEAVES:
            return False
        cell[depth] = v
        for w in range(n):
            stack[depth + 1, w] = 2 * colour[w] + 1
        stack[depth + 1, v] -= 1
        _refine(rank, variables, n_atoms, n, stack[depth + 1], seen, count, sorted_)
        depth += 1
        cell[depth] = -1
    return True


@inner_kernel
def _read(variables, n_atoms, is_link, begins, order, read, mask, left):
    """Put the atoms into the order of reading; see `reading_order`. Returns nothing; into `order`.
    `begins` says which atoms may come first. Sets of variables are bits."""
    one, none = np.uint64(1), np.uint64(0)
    events = none
    for i in range(n_atoms):
        mask[i] = none
        for j in range(variables.shape[1]):
            if variables[i, j] >= 0:
                mask[i] |= one << np.uint64(variables[i, j])
        if is_link[i]:
            events |= mask[i]
    least, fewest = -1, 0
    for begin in range(n_atoms):
        if is_link[order[begin]] or not begins[order[begin]]:
            continue
        n_variables = 0
        for j in range(variables.shape[1]):
            n_variables += variables[order[begin], j] >= 0
        if least == 0 and n_variables >= fewest:
            continue
        for i in range(n_atoms):
            left[i] = True
        left[begin] = False
        read[0, 0] = order[begin]
        known, n_read, penalty = mask[order[begin]], 1, 0
        while n_read < n_atoms:
            closing, fact, link, linked, near, any_ = -1, -1, -1, -1, -1, -1
            for at in range(n_atoms):
                if not left[at]:
                    continue
                i = order[at]
                is_near = mask[i] & known != none
                if any_ < 0:
                    any_ = at
                if near < 0 and is_near:
                    near = at
                if is_link[i]:
                    if mask[i] & ~known == none:
                        closing = at
                        break
                    if link < 0 and known >> np.uint64(variables[i, 0]) & one:
                        bit = one << np.uint64(variables[i, 1])
                        for other in range(n_atoms):
                            j = order[other]
                            if (
                                left[other]
                                and not is_link[j]
                                and mask[j] & bit
                                and mask[j] & events & ~(known | bit) == none
                            ):
                                link, linked = at, other
                                break
                elif fact < 0 and is_near and mask[i] & events & ~known == none:
                    fact = at
            if closing < 0 and fact < 0 and link >= 0:
                for at in (link, linked):
                    left[at] = False
                    known |= mask[order[at]]
                    read[0, n_read] = order[at]
                    n_read += 1
                continue
            at = closing if closing >= 0 else fact
            if at < 0:
                penalty += 1 if near >= 0 else 1 << 16
                at = near if near >= 0 else any_
            left[at] = False
            known |= mask[order[at]]
            read[0, n_read] = order[at]
            n_read += 1
        if least < 0 or penalty < least or (penalty == least and n_variables < fewest):
            least, fewest = penalty, n_variables
            for i in range(n_atoms):
                read[1, i] = read[0, i]
    if least >= 0:
        for i in range(n_atoms):
            order[i] = read[1, i]


@kernel
def write(
    rows, parent, step, shape, variables, for_reading, may_begin, out_atoms, out_variables, done
):
    """The atoms of patterns in canonical order, or in the order of reading, variables numbered.
    `step`, `shape` and `variables` are those of `Shapes`. `done` says which rows were small enough;
    the others have their atoms in the order of the trie, with the variables that they have there.
    """
    most, width = out_atoms.shape[1], variables.shape[1]
    atoms = np.empty(most, np.int64)
    mine = np.empty((most, width), np.int64)
    is_link, begins = np.empty(most, np.uint8), np.empty(most, np.uint8)
    rank, order = np.empty(most, np.int64), np.empty(most, np.int64)
    number = np.empty(MOST_VARIABLES + 1, np.int64)
    wide = max(most, MOST_VARIABLES + 2)
    stack = np.empty((MOST_VARIABLES + 2, wide), np.int64)
    seen, room = np.empty((wide + 1, wide), np.int64), np.empty((5, wide), np.int64)
    read, mask = np.empty((2, most), np.int64), np.empty(most, np.uint64)
    left = np.empty(most, np.uint8)
    key = np.empty(most * (width + 1), np.int64)
    n_slots = 1 << SLOT_BITS
    kept_size = np.zeros(n_slots, np.int64)
    kept_key = np.empty((n_slots, most * (width + 1)), np.int32)
    kept_order = np.empty((n_slots, most), np.int32)
    kept_number = np.empty((n_slots, MOST_VARIABLES), np.int32)
    for at in range(len(rows)):
        n_atoms, n, row = np.int64(0), np.int64(0), rows[at]  # literals would be compiled apart
        while row >= 0:
            s = step[row]
            n_atoms += shape[2 * s] >= 0
            n_atoms += shape[2 * s + 1] >= 0
            row = parent[row]
        k, row = n_atoms, rows[at]
        while row >= 0:
            for place in (2 * step[row] + 1, 2 * step[row]):
                if shape[place] >= 0:
                    k -= 1
                    atoms[k], is_link[k] = shape[place], place % 2 == 0
                    begins[k] = may_begin[shape[place]]
                    for j in range(width):
                        mine[k, j] = variables[place, j]
                        n = max(n, mine[k, j] + 1)
            row = parent[row]
        for i in range(n_atoms):
            out_atoms[at, i] = atoms[i]
            for j in range(width):
                out_variables[at, i, j] = mine[i, j]
            rank[i] = 0
            for j in range(n_atoms):
                rank[i] += atoms[j] < atoms[i]
        # What is worked out depends on the ranks and the variables only, which many patterns share.
        if n > MOST_VARIABLES or width > MOST_PLACES or n_atoms > MOST_ATOMS:
            continue
        size, slot = 0, np.uint64(n_atoms)
        for i in range(n_atoms):
            key[size] = 4 * rank[i] + 2 * begins[i] + is_link[i]
            for j in range(width):
                key[size + 1 + j] = mine[i, j]
            size += width + 1
        for i in range(size):
            slot = (slot + np.uint64(key[i] + 2)) * np.uint64(0x9E3779B97F4A7C15)
        slot = slot >> np.uint64(64 - SLOT_BITS)
        known = kept_size[slot] == n_atoms
        for i in range(size):
            known = known and kept_key[slot, i] == key[i]
        if known:
            for i in range(n_atoms):
                order[i] = kept_order[slot, i]
            for v in range(n):
                number[v] = kept_number[slot, v]
        else:
            if not _label(rank, mine, n_atoms, n, order, stack, seen, room):
                continue
            if for_reading:
                _read(mine, n_atoms, is_link, begins, order, read, mask, left)
            for v in range(n):
                number[v] = -1
            n_named = 0
            for i in range(n_atoms):
                for j in range(width):
                    v = mine[order[i], j]
                    if v >= 0 and number[v] < 0:
                        number[v] = n_named
                        n_named += 1
            kept_size[slot] = n_atoms
            for i in range(size):
                kept_key[slot, i] = key[i]
            for i in range(n_atoms):
                kept_order[slot, i] = order[i]
            for v in range(n):
                kept_number[slot, v] = number[v]
        done[at] = True
        for i in range(n_atoms):
            out_atoms[at, i] = atoms[order[i]]
            for j in range(width):
                v = mine[order[i], j]
                out_variables[at, i, j] = number[v] if v >= 0 else -1
