"""Compiled loops that refine the children of a pattern along several dimensions, many in one call.

What is counted, and how, is in `_web_kernels`; here are the steps from a pattern to what is asked
of its matches, and from what was counted to patterns.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from relynx.mining.engines._alphabet_kernels import (
    ARGUMENTS,
    DIMENSION,
    FROM,
    MOST,
    N_STEPS,
    RELATION,
    TO,
    bases,
    context_of,
    write_step,
)
from relynx.mining.engines._general_kernels import canonical_atoms
from relynx.mining.engines._web_kernels import (
    count_lanes,
    find_lanes,
    frequent,
    groups,
    lane_search,
)
from relynx.mining.matching._web_match_kernels import advance, n_places

NO_EVENT = np.int64(0)  # a context here has no last event: facts may be about any
LOOK_AT_ROW = 64  # what one row costs beside its places, in looks at places


class Language(NamedTuple):
    """The bias in numbers. K kinds of link."""

    n_relations: int
    n_dimensions: int
    meaning: NDArray[np.int64]  # K x 3: predicate, dimension and n
    constants: NDArray[np.int64]  # A x places among those that the bias admits
    crowded: bool  # events may have several facts


class Family(NamedTuple):
    """Patterns that refine one pattern. Their events are variables, in the order of their coming;
    a lane (see `_web_kernels`) speaks of the links that the refined pattern admits."""

    steps: NDArray[np.int64]
    lanes: NDArray[np.int64]
    atoms: NDArray[np.int64]  # patterns x atoms x (a predicate and its arguments)
    n_atoms: NDArray[np.int64]
    events: NDArray[np.int64]
    n_events: NDArray[np.int64]


class Bounds(NamedTuple):
    """How much one call does."""

    places: int  # of matches: a pattern with more is left
    lanes: int  # likewise, and of those that are counted at a time
    lanes_at_once: int
    looks: int  # likewise; and when so many are done the call ends
    found: int  # so many refinements as well


class Writing(NamedTuple):
    """What is written of refinements, a row each."""

    steps: NDArray[np.int64]
    recorded: NDArray[np.int32]  # the steps as the trie has them
    atoms: NDArray[np.int64]
    forms: NDArray[np.int32]  # canonical atoms
    n_atoms: NDArray[np.int64]
    distinct: NDArray[np.bool_]  # has no atom twice
    depth: NDArray[np.int64]  # number of links
    extends: NDArray[np.int64]  # the refinement without the last link


@njit(cache=True, nogil=True)
def possible_links(language, atoms, events):
    """(kind, event, slot, leads to the new event) of each link that a pattern admits."""
    n_dimensions, n_kinds = language.n_dimensions, len(language.meaning)
    n_steps = n_kinds // n_dimensions
    out = np.empty((2 * n_kinds * len(events), 4), np.int64)
    n = 0
    for against in range(2):
        for d in range(n_dimensions):
            for k in range(n_steps):
                for i in range(len(events)):
                    taken = False
                    for a in range(len(atoms)):
                        predicate = atoms[a, 0] - language.n_relations
                        if predicate >= 0 and predicate % n_dimensions == d:
                            taken = taken or atoms[a, 1 + against] == events[i]
                    if not taken:
                        out[n, 0] = against * n_kinds + d * n_steps + k
                        out[n, 1] = i
                        out[n, 2] = against * n_dimensions + d
                        out[n, 3] = 1 - against
                        n += 1
    return out[:n].copy()


@njit(cache=True, nogil=True)
def all_lanes(language, n_events, lanes, n):
    """The ways to refine a pattern: facts about its events, then the first n of `lanes`."""
    n_about = n_events if language.crowded else 0
    out = np.full((n_about + n, lanes.shape[1]), -1, np.int64)
    for i in range(n_about):
        out[i, 1] = i
    for i in range(n):
        for q in range(lanes.shape[1]):
            out[n_about + i, q] = lanes[i, q]
    return out


@njit(cache=True, nogil=True)
def effort(places, n_lanes, n_rows):
    """About how much is looked at for a pattern, in looks at places."""
    return places * n_lanes + LOOK_AT_ROW * n_rows


@njit(cache=True, nogil=True)
def taller(table):
    """The same rows in a table of twice the room."""
    out = np.empty((2 * len(table), table.shape[1]), table.dtype)
    for r in range(len(table)):
        for i in range(table.shape[1]):
            out[r, i] = table[r, i]
    return out


@njit(cache=True, nogil=True)
def count_family(
    alphabet,
    web,
    language,
    rows,
    atoms,
    events,
    family,
    at,
    counts,
    scratch,
    sizes,
    bounds,
    stats,
    efforts,
):
    """Count the refinements of the patterns of a family from `at` on.

    `rows`, `atoms` and `events` are those of the pattern that they refine. Returns the next
    pattern to do, and whether it is too large; then the lanes of all that were done and whose
    they are, the (lane, code) of each refinement that is frequent, and its supports. How much was
    looked at for a pattern goes to `efforts`.
    """
    n_classes = len(web.least)
    before = context_of(alphabet, atoms, NO_EVENT)
    old_links = possible_links(language, atoms, events)
    width = family.lanes.shape[1]
    lanes, owner = np.empty((64, width), np.int32), np.empty((64, 1), np.int32)
    found, supports = np.empty((256, 2), np.int32), np.empty((256, n_classes), np.int32)
    n_lanes, n_found, looked = 0, 0, 0
    large = False
    while at < len(family.steps) and looked < bounds.looks and n_found < bounds.found:
        here = advance(
            alphabet,
            web,
            rows,
            before,
            family.lanes[at],
            old_links,
            family.steps[at],
            bounds.places,
        )
        places = n_places(here)
        large = places > bounds.places
        if large:
            break
        pattern = family.atoms[at, : family.n_atoms[at]]
        members = family.events[at, : family.n_events[at]]
        now = context_of(alphabet, pattern, NO_EVENT)
        links = possible_links(language, pattern, members)
        deepest = np.int64(0)
        for p in range(len(links)):
            deepest = max(deepest, links[p, 2] + 1)
        search = lane_search(web, here, deepest, places)
        ways, n = find_lanes(
            web, search, links, np.full((64, width), -1, np.int64), bounds.lanes, bounds.looks
        )
        large = n < 0 or search.at[1] >= 0 or places * n > bounds.looks
        if large:
            break
        ways = all_lanes(language, len(members), ways, n)
        efforts[at] = effort(places, len(ways), len(rows.sequence) + len(here.sequence))
        looked += efforts[at] + places * len(links)
        while n_lanes + len(ways) > len(lanes):
            lanes, owner = taller(lanes), taller(owner)
        for i in range(len(ways)):
            owner[n_lanes + i, 0] = at
            for q in range(width):
                lanes[n_lanes + i, q] = ways[i, q]
        order, starts = groups(here)
        for begin in range(0, len(ways), bounds.lanes_at_once):
            some = ways[begin : begin + bounds.lanes_at_once]
            n_touched = count_lanes(
                alphabet, web, here, order, starts, now, links, some, counts, scratch, np.int64(0)
            )
            codes = np.sort(counts.touched[:n_touched])
            for i in range(n_touched):
                counts.last[codes[i]] = -1
            good, counted = frequent(web, counts, codes, len(some), sizes, stats)
            while n_found + len(good) > len(found):
                found, supports = taller(found), taller(supports)
            for i in range(len(good)):
                found[n_found, 0], found[n_found, 1] = n_lanes + begin + good[i, 0], good[i, 1]
                for c in range(n_classes):
                    supports[n_found, c] = counted[i, c]
                n_found += 1
        n_lanes += len(ways)
        at += 1
    return (
        at,
        large,
        lanes[:n_lanes].copy(),
        owner[:n_lanes, 0].copy(),
        found[:n_found].copy(),
        supports[:n_found].copy(),
    )


@njit(cache=True, nogil=True)
def write_family(alphabet, language, family, first, lanes, owner, found, out):
    """Write the refinements that were counted, of all patterns of a family.

    `first`: the family is the pattern of no atoms. Rows of atoms and forms beyond `n_atoms` are not
    used. A lane comes after that without its last link, and `found` is in order.
    """
    shorter = np.zeros(len(lanes), np.int64)
    depths = np.zeros(len(lanes), np.int64)
    at_depth = np.zeros(lanes.shape[1] + 1, np.int64)
    for lane in range(len(lanes)):
        depth = 0
        while depth < lanes.shape[1] and lanes[lane, depth] >= 0:
            depth += 1
        depth = max(depth, 1)
        depths[lane] = depth
        shorter[lane] = at_depth[depth - 1] if depth > 1 else lane
        at_depth[depth] = lane
    begin = 0
    while begin < len(found):
        who = owner[found[begin, 0]]
        end = begin
        while end < len(found) and owner[found[end, 0]] == who:
            end += 1
        atoms = family.atoms[who, : family.n_atoms[who]]
        events = family.events[who, : family.n_events[who]]
        now = context_of(alphabet, atoms, NO_EVENT)
        links = possible_links(language, atoms, events)
        starts = bases(alphabet, len(now.number))
        for i in range(begin, end):
            lane = lanes[found[i, 0]]
            depth = depths[found[i, 0]]
            out.depth[i] = depth
            n_variables = write_refinement(
                alphabet,
                language,
                now,
                starts,
                first,
                atoms,
                events,
                links,
                lane,
                found[i, 1],
                out,
                i,
            )
            out.extends[i] = i
            if depth > 1:
                out.extends[i] = row_of(found, shorter[found[i, 0]], found[i, 1], i)
            record(alphabet, language, events, links, lane, depth, out, i)
            n = out.n_atoms[i]
            form = np.empty((n, out.atoms.shape[2]), np.int64)
            canonical_atoms(out.atoms[i, :n], n_variables, form)
            out.distinct[i] = True
            for a in range(n):
                same = a > 0
                for q in range(form.shape[1]):
                    same = same and form[a, q] == form[a - 1, q]
                    # No number of an atom is so small as those of arguments that are not there.
                    out.forms[i, a, q] = max(form[a, q], -(1 << 31))
                if same:
                    out.distinct[i] = False
        begin = end


@njit(cache=True, nogil=True)
def row_of(found, lane, code, end):
    """Where a refinement that is known to be there stands before row `end`."""
    low, high = 0, end
    while low < high:
        middle = (low + high) // 2
        if found[middle, 0] < lane or (found[middle, 0] == lane and found[middle, 1] < code):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def write_refinement(
    alphabet, language, now, starts, first, atoms, events, links, lane, code, out, i
):
    """The step and the atoms of a refinement: first the links, then the fact; its variables."""
    digit = np.zeros(MOST, np.int64)
    place = np.zeros(MOST, np.int64)
    meaning = language.meaning
    n_kinds = len(meaning)
    steps, written = out.steps, out.atoms
    base = lane[0]
    dimension, n_steps, event = -1, 0, 0
    if base >= 0:
        kind = links[base, 0]
        dimension, n_steps, event = meaning[kind, 1], meaning[kind, 2], events[links[base, 1]]
    elif not first:
        event = events[lane[1]]
    event = write_step(
        alphabet,
        now,
        first,
        dimension,
        n_steps,
        event,
        code,
        starts,
        language.constants,
        digit,
        place,
        steps,
        i,
    )
    n = len(atoms)
    for a in range(n):
        for q in range(written.shape[2]):
            written[i, a, q] = atoms[a, q]
    if base >= 0:
        for q in range(len(lane)):
            if lane[q] < 0:
                break
            kind, old = links[lane[q], 0], events[links[lane[q], 1]]
            written[i, n, 0] = meaning[kind % n_kinds, 0]
            written[i, n, 1] = old if kind < n_kinds else event
            written[i, n, 2] = event if kind < n_kinds else old
            n += 1
    relation = steps[i, RELATION]
    written[i, n, 0] = relation
    most = now.n_all - 1
    for j in range(alphabet.arity[relation] + 1):
        written[i, n, 1 + j] = steps[i, ARGUMENTS + j]
        most = max(most, steps[i, ARGUMENTS + j])
    out.n_atoms[i] = n + 1
    return most + 1


@njit(cache=True, nogil=True)
def record(alphabet, language, events, links, lane, depth, out, i):
    """The step as the trie has it: of several links only the last is added."""
    steps, recorded = out.steps, out.recorded
    if depth == 1:
        for q in range(steps.shape[1]):
            recorded[i, q] = steps[i, q]
        return
    last = lane[depth - 1]
    new = steps[i, ARGUMENTS + alphabet.event[steps[i, RELATION]]]
    old = events[links[last, 1]]
    kind = links[last, 0] % len(language.meaning)
    for q in range(steps.shape[1]):
        recorded[i, q] = 0
    recorded[i, DIMENSION] = language.meaning[kind, 1]
    recorded[i, N_STEPS] = language.meaning[kind, 2]
    recorded[i, FROM] = old if links[last, 3] else new
    recorded[i, TO] = new if links[last, 3] else old
    recorded[i, RELATION] = -1
