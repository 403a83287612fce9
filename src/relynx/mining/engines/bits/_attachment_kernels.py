"""Compiled loops that find the ways to attach a new event to a pattern, and write down the results.

A new event comes with all its links to the events of the pattern, so that links between two old
events need never be looked for later.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inner_kernel, kernel
from relynx.mining.engines._canonical_kernels import (
    NO_ARGUMENT,
    canonical_atoms,
    has_twins,
    write_atoms,
)
from relynx.mining.engines.bits._event_fact_kernels import (
    DIMENSION,
    NONE,
    ONE,
    RELATION,
    lowest_place,
)


@kernel
def possible_links(graph, now):
    """(kind, event, slot, leads to the new event) of each link that a pattern admits.

    Slots are the links that a new event can have: one for each dimension and direction. Along a
    line only the newest event can be linked.
    """
    n_dimensions, n_steps, n_events = len(graph.dimensions), len(graph.steps), len(now.events)
    n_kinds = n_dimensions * n_steps
    out = np.empty((2 * n_kinds * n_events, 4), np.int64)
    n = 0
    for against in range(1 if graph.is_line else 2):
        for d in range(n_dimensions):
            for k in range(n_steps):
                for i in range(n_events - 1 if graph.is_line else 0, n_events):
                    taken = False
                    for x in range(len(now.links)):
                        if now.links[x, 0] == graph.dimensions[d]:
                            taken = taken or now.links[x, 2 + against] == now.events[i]
                    if not taken:
                        out[n, 0] = against * n_kinds + d * n_steps + k
                        out[n, 1] = i
                        out[n, 2] = against * n_dimensions + d
                        out[n, 3] = 1 - against
                        n += 1
    return out[:n].copy()


@inner_kernel
def no_links(n, width):
    """Rows for the numbers of links, without any."""
    out = np.empty((n, width), np.int64)
    for i in range(n):
        for q in range(width):
            out[i, q] = -1
    return out


@kernel
def every_attachment(graph, links, about_newest):
    """All attachments by one link, behind facts about the newest event if these may be added."""
    out = no_links(len(links) + about_newest, 2 * len(graph.dimensions))
    for i in range(len(links)):
        out[i + about_newest, 0] = i
    return out


@kernel
def with_newest(found, n, about_newest):
    """The first n of some attachments, behind facts about the newest event if these are wanted."""
    out = no_links(n + about_newest, found.shape[1])
    for i in range(n):
        for q in range(found.shape[1]):
            out[about_newest + i, q] = found[i, q]
    return out


class Search(NamedTuple):
    """A search for ways to link a new event, which can be continued where it was left.

    Its columns are matches with one position for each event.
    """

    nodes: NDArray[np.int32]  # a row for each event
    owner: NDArray[np.int32]  # sequence
    active: NDArray[np.int32]  # for each number of links the matches that have them
    room: NDArray[np.uint64]  # and the positions that these leave for the new event
    n_active: NDArray[np.int64]
    chosen: NDArray[np.int64]  # links
    at: NDArray[np.int64]  # how many are chosen, the next to try or -1 at the end, found so far


def search_bytes(n_events: int, depth: int) -> int:
    """What a match takes in a search for sets of so many links."""
    return 4 * (n_events + 1) + 12 * (depth + 1)


@kernel
def n_places(rows):
    """The positions of the newest event in all rows."""
    n = 0
    for word in rows.word:
        while word != NONE:
            word &= word - ONE
            n += 1
    return n


@kernel
def start_search(facts, graph, rows, depth, total):
    """The beginning of a search; `total` are the positions of the newest event in all rows."""
    block, events, word = rows.block, rows.events, rows.word
    n_old = len(events)  # number of the newest event
    nodes = np.empty((n_old + 1, total), np.int32)
    owner = np.empty(total, np.int32)
    active = np.empty((depth + 1, total), np.int32)
    room = np.empty((depth + 1, total), np.uint64)
    n_active = np.zeros(depth + 1, np.int64)
    n = 0
    for i in range(len(block)):
        s = block[i]
        base = graph.node_off[s]
        free = facts.spoken_of[s]
        if facts.injective:
            for e in range(n_old):
                free &= ~(ONE << np.uint64(events[e, i]))
        w = word[i]
        while w != NONE:
            place = lowest_place(w)
            w &= w - ONE
            for e in range(n_old):
                nodes[e, n] = base + events[e, i]
            nodes[n_old, n] = base + place
            owner[n] = s
            here = free & ~(ONE << np.uint64(place)) if facts.injective else free
            if here != NONE:
                active[0, n_active[0]] = n
                room[0, n_active[0]] = here
                n_active[0] += 1
            n += 1
    chosen, at = np.zeros(depth + 1, np.int64), np.zeros(3, np.int64)
    return Search(nodes, owner, active, room, n_active, chosen, at)


@kernel
def find_attachments(facts, graph, thresholds, search, links, found, most, looks):
    """Ways to link a new event, as rows of numbers of `links` (-1 for none), and how many so far.

    Links that lead to the new event come first. Kept are all single links that occur, and those
    sets of which some class has enough sequences, whatever the facts of the new event are. Each
    comes after the set without its last link.

    It stops after so many looks at matches; where there are more than `most` ways the number is -1.
    """
    nodes, owner, active, room = search.nodes, search.owner, search.active, search.room
    n_active, chosen = search.n_active, search.chosen
    labels, words = facts.labels, graph.words
    n_classes = len(thresholds.least)
    supports = np.zeros(n_classes, np.int64)
    depth, p, n_found = search.at
    looked = 0
    while looked < looks:
        if p == len(links) or (depth == 0 and not links[p, 3]):
            if depth == 0:
                p = -1
                break
            depth -= 1
            p = chosen[depth] + 1
            continue
        if depth > 0 and links[p, 2] <= links[chosen[depth - 1], 2]:
            p += 1
            continue
        along, at = words[links[p, 0]], nodes[links[p, 1]]
        for c in range(n_classes):
            supports[c] = 0
        frequency = 0
        last = -1
        m = np.int64(0)
        before, before_room = active[depth], room[depth]
        after, after_room = active[depth + 1], room[depth + 1]
        looked += n_active[depth]
        # Short loops, the first without branches: it cannot be foretold which matches go on.
        for a in range(np.uint64(n_active[depth])):
            x = before[a]
            here = before_room[a] & along[np.uint64(at[np.uint64(x)])]
            after[np.uint64(m)], after_room[np.uint64(m)] = x, here
            m += here != NONE
        for a in range(np.uint64(m)):
            s = owner[np.uint64(after[a])]
            if s != last:
                last = s
                supports[labels[s]] += 1
                frequency += 1
        good = depth == 0 and frequency > 0
        if not good and frequency >= thresholds.min_frequency:
            for c in range(n_classes):
                good = good or supports[c] >= thresholds.least[c]
        if not good:
            p += 1
            continue
        n_active[depth + 1] = m
        chosen[depth] = p
        if n_found == len(found):
            if n_found >= most:
                return found, -1
            more = no_links(2 * n_found, found.shape[1])
            for i in range(n_found):
                for d in range(found.shape[1]):
                    more[i, d] = found[i, d]
            found = more
        for d in range(depth + 1):
            found[n_found, d] = chosen[d]
        n_found += 1
        depth += 1
        p += 1
    search.at[0], search.at[1], search.at[2] = depth, p, n_found
    return found, n_found


@by_reference
class Writing(NamedTuple):
    """What is written of refinements, a row each."""

    atoms: NDArray[np.int64]  # refinements x atoms x (a predicate and its arguments)
    forms: NDArray[np.int32]  # canonical atoms
    n_atoms: NDArray[np.int64]
    distinct: NDArray[np.bool_]  # has no atom twice


@kernel
def write_refinements(facts, graph, chain, children, further, owner, steps, extra, begin, end, out):
    """Write some refinements of the children of a pattern.

    `chain` are the steps of the pattern, `children` and `further` those of its children, `steps`
    and `extra` those of the refinements.
    """
    width = chain.shape[1]
    n_extra = extra.shape[1]
    whole = np.zeros((len(chain) + 2 + 2 * n_extra, width), np.int64)
    for i in range(len(chain)):
        for q in range(width):
            whole[i, q] = chain[i, q]
    for i in range(begin, end):
        n = len(chain)
        for part in range(2):
            if part == 0 and len(children) == 0:
                continue
            for q in range(width):
                whole[n, q] = children[owner[i], q] if part == 0 else steps[i, q]
            n += 1
            for x in range(n_extra):
                for q in range(width):
                    whole[n, q] = 0
                for q in range(4):
                    whole[n, q] = further[owner[i], x, q] if part == 0 else extra[i, x, q]
                if whole[n, DIMENSION] < 0:
                    break
                whole[n, RELATION] = -1
                n += 1
        atoms = out.atoms[i]
        n_atoms = n_variables = np.int64(0)  # literals would be compiled apart
        for a in range(n):
            n_atoms = write_atoms(graph.dimensions, facts.arity, 1, whole[a], atoms, n_atoms)
        out.n_atoms[i] = n_atoms
        for a in range(n_atoms):
            for q in range(1, atoms.shape[1]):
                n_variables = max(n_variables, atoms[a, q] + 1)
        form = np.empty((n_atoms, atoms.shape[1]), np.int64)
        canonical_atoms(atoms[:n_atoms], n_variables, form)
        out.distinct[i] = not has_twins(form)
        for a in range(n_atoms):
            for q in range(form.shape[1]):
                out.forms[i, a, q] = max(form[a, q], NO_ARGUMENT)
