"""Compiled loops that say what a pattern can become, and write down what it became.

Patterns come as the steps that make them, rows as in `trie`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel
from relynx.mining.engines._canonical_kernels import (
    NO_ARGUMENT,
    UNUSED,
    canonical_atoms,
    has_twins,
    write_atoms,
)
from relynx.mining.engines.compiled import MOST_CODES
from relynx.mining.engines.general._general_kernels import Pattern
from relynx.mining.engines.general._listing_kernels import ARGUMENTS
from relynx.mining.matching._backtracking_kernels import lower_bound


@by_reference
class Rules(NamedTuple):
    """What refinements there are, and which of them are frequent."""

    labels: NDArray[np.int64]
    class_sizes: NDArray[np.int64]  # at least 1
    least: NDArray[np.int64]  # for each class the smallest support that suffices
    min_frequency: int
    max_length: int
    dimensions: NDArray[np.int64]
    acyclic: NDArray[np.bool_]  # for each dimension
    steps: NDArray[np.int64]  # of links: 0 is follow, 1 next
    constants: NDArray[np.int64]  # codes, type after type
    constant_off: NDArray[np.int64]
    n_nodes: int  # of the data
    width: int  # of an atom: a predicate and its arguments
    bases: NDArray[np.int64]  # V x R+1: the codes of relations after V variables, added up


@inner_kernel
def write_types(language, step, types, n):
    """Append the types of the variables that a step introduces; how many there then are."""
    if step[0] >= 0 and step[4] >= 0:
        types[n] = language.event_type
        n += 1
    if step[4] >= 0:
        for j in range(language.arity[step[4]]):
            if step[ARGUMENTS + j] == n:
                types[n] = language.types[language.argument0[step[4]] + j]
                n += 1
    return n


@inner_kernel
def ends(rules, n_relations, i, atoms, n_atoms, after, entered):
    """Which event a link of dimension i leads to from each variable, and which have one."""
    for v in range(len(after)):
        after[v] = -1
        entered[v] = 0
    for a in range(n_atoms):
        predicate = atoms[a, 0] - n_relations
        if predicate >= 0 and predicate % len(rules.dimensions) == i:
            after[atoms[a, 1]] = atoms[a, 2]
            entered[atoms[a, 2]] = 1


@inner_kernel
def can_close(rules, i, x, y, after):
    """May a link of dimension i lead from x, which has none, to y, which none leads to?"""
    tail = y
    while after[tail] >= 0:
        tail = after[tail]
    return not (rules.acyclic[i] and x == tail)  # else it would close a circle


@inlined
def has_closings(rules, language, atoms, n_atoms, types, n_types, after, entered):
    found = False
    for i in range(len(rules.dimensions)):
        ends(rules, len(language.arity), i, atoms, n_atoms, after, entered)
        for y in range(n_types):
            if found or types[y] != language.event_type or entered[y]:
                continue
            for x in range(n_types):
                free = types[x] == language.event_type and after[x] < 0
                if free and can_close(rules, i, x, y, after):
                    found = True
                    break
    return found and len(rules.steps) > 0


@inner_kernel
def read(rules, language, steps, n_steps):
    """The pattern that the first n_steps steps make."""
    n_relations, width = len(language.arity), rules.width
    n_dimensions, n_operators = len(rules.dimensions), len(rules.steps)
    event = language.event_type
    atoms = np.empty((2 * n_steps, width), np.int64)
    types = np.empty(n_steps * width + 1, np.int64)
    n_atoms = n_types = np.int64(0)  # literals would be compiled apart
    length, n_old, n_old_atoms = 0, n_types, n_atoms
    for i in range(n_steps):
        n_old, n_old_atoms = n_types, n_atoms
        n_atoms = write_atoms(rules.dimensions, language.arity, 0, steps[i], atoms, n_atoms)
        n_types = write_types(language, steps[i], types, n_types)
        length += steps[i, 4] >= 0
    types[n_types] = event
    n_events = 0
    for v in range(n_types):
        n_events += types[v] == event
    is_last = length == rules.max_length
    taboo = np.empty(n_atoms * (width - 1), np.int64)
    n_taboo, n_old_taboo = 0, 0
    for i in range(n_atoms):
        if i == n_old_atoms:
            n_old_taboo = n_taboo
        for j in range(1, width):
            if UNUSED < atoms[i, j] < 0:
                taboo[n_taboo] = rules.n_nodes + ~atoms[i, j]
                n_taboo += 1
    most = n_dimensions * n_operators * n_events
    links = np.empty((0 if is_last else most, 3), np.int64)
    closings = np.empty((most * n_events, 4), np.int64)
    after = np.empty(n_types, np.int64)
    entered = np.empty(n_types, np.uint8)
    n_links, n_closings = 0, 0
    for i in range(n_dimensions):
        ends(rules, n_relations, i, atoms, n_atoms, after, entered)
        d = rules.dimensions[i]
        for x in range(0 if is_last else n_types):
            if types[x] == event and after[x] < 0:
                for n in range(n_operators):
                    links[n_links, 0], links[n_links, 1] = d, rules.steps[n]
                    links[n_links, 2] = x
                    n_links += 1
        for y in range(n_types):
            if types[y] != event or entered[y]:
                continue
            for x in range(n_types):
                if types[x] != event or after[x] >= 0 or not can_close(rules, i, x, y, after):
                    continue
                for n in range(n_operators):
                    closings[n_closings, 0], closings[n_closings, 1] = d, rules.steps[n]
                    closings[n_closings, 2], closings[n_closings, 3] = x, y
                    n_closings += 1
    first_closing = 0
    if not is_last:
        without, after_link = rules.bases[n_types, n_relations], np.int64(0)
        if n_links > 0:
            after_link = rules.bases[n_types + 1, n_relations]
        room = MOST_CODES - 1 - without - n_closings
        fits = room >= 0 and (n_links == 0 or after_link <= room // n_links)
        first_closing = int(without + n_links * after_link) if fits else -1
    return Pattern(
        length,
        is_last,
        atoms,
        n_atoms,
        types,
        n_types,
        n_old,
        taboo,
        n_taboo,
        n_old_taboo,
        links,
        n_links,
        closings,
        n_closings,
        first_closing,
    )


@inner_kernel
def write_step(rules, language, pattern, key, digits, step):
    """Write the step that a key of a refinement stands for; how many variables there then are."""
    n_relations, n_old, code = len(language.arity), pattern.n_types, key
    for q in range(len(step)):
        step[q] = 0
    if key >= pattern.first_closing:
        for q in range(4):
            step[q] = pattern.closings[key - pattern.first_closing, q]
        step[4] = -1
        return n_old
    step[0] = -1
    if code >= rules.bases[n_old, n_relations]:
        code -= rules.bases[n_old, n_relations]
        link = code // rules.bases[n_old + 1, n_relations]
        code -= link * rules.bases[n_old + 1, n_relations]
        for q in range(3):
            step[q] = pattern.links[link, q]
        step[3] = n_old
        n_old += 1
    bases = rules.bases[n_old]
    relation = lower_bound(bases, 0, n_relations, code + 1) - 1  # the last that begins by then
    code -= bases[relation]
    step[4] = relation
    k, a0 = language.arity[relation], language.argument0[relation]
    for j in range(k - 1, -1, -1):
        ways = n_old + 1 + k + language.n_constants[a0 + j]
        digits[j] = code % ways
        code //= ways
    n_all = n_old
    for j in range(k):
        argument = digits[j]
        if argument == n_old:
            argument = n_all
            n_all += 1
        elif argument > n_old:
            place = argument - n_old - 1
            if place < k:
                argument = step[ARGUMENTS + place]
            else:
                at = rules.constant_off[language.types[a0 + j]] + place - k
                argument = ~rules.constants[at]
        step[ARGUMENTS + j] = argument
    return n_all


@kernel
def decode(
    language,
    rules,
    chain,
    children,
    first,
    owner,
    keys,
    begin,
    end,
    steps,
    atoms,
    forms,
    offset,
    distinct,
    longer,
    closable,
):
    """Write down some refinements of siblings by their keys; of nothing, if these are the `first`.
    Refinement i has atoms[offset[i] : offset[i + 1]], and its form is the same rows of `forms`.
    `distinct` says whether no atom comes twice, `longer` whether an atom was added, and `closable`
    whether it can get another link between its events."""
    width = rules.width
    n_steps = len(chain) + (not first)
    whole = np.zeros((len(chain) + 1, chain.shape[1]), np.int32)
    for i in range(len(chain)):
        for q in range(chain.shape[1]):
            whole[i, q] = chain[i, q]
    most = n_steps * width + width + 1
    types = np.empty(most, np.int64)
    after = np.empty(most, np.int64)
    entered = np.empty(most, np.uint8)
    digits = np.empty(width, np.int64)
    whole_form = np.empty((2 * n_steps + 2, width), np.int64)
    i = begin
    while i < end:
        child = owner[i]
        for q in range(chain.shape[1]):
            whole[len(chain), q] = children[child, q]
        pattern = read(rules, language, whole, n_steps)
        for v in range(pattern.n_types):
            types[v] = pattern.types[v]
        while i < end and owner[i] == child:
            n_variables = write_step(rules, language, pattern, keys[i], digits, steps[i])
            mine, form = atoms[offset[i] :], forms[offset[i] :]
            n = pattern.n_atoms
            for a in range(n):
                for j in range(width):
                    mine[a, j] = pattern.atoms[a, j]
            n = write_atoms(rules.dimensions, language.arity, 0, steps[i], mine, n)
            offset[i + 1] = offset[i] + n
            longer[i] = steps[i, 4] >= 0
            canonical_atoms(mine[:n], n_variables, whole_form[:n])
            distinct[i] = not has_twins(whole_form[:n])
            for a in range(n):
                for j in range(width):
                    x = whole_form[a, j]
                    form[a, j] = x if x > UNUSED else NO_ARGUMENT
            n_types = write_types(language, steps[i], types, pattern.n_types)
            closable[i] = has_closings(rules, language, mine, n, types, n_types, after, entered)
            i += 1
