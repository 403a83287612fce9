"""What the patterns of a trie cover: each is matched from the matches of what it extends.

For facts as `alphabet` says and dimensions that are paths, as in the engine of several dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Facts
from relynx.mining.engines import _alphabet_kernels as ak
from relynx.mining.engines.alphabet import (
    MOST_EVENTS,
    MOST_VALUE_ARGUMENTS,
    alphabet_of,
    has_few_facts,
)
from relynx.mining.engines.base import Longs
from relynx.mining.engines.compiled import Compiled
from relynx.mining.matching import _web_match_kernels as wm
from relynx.mining.matching._backtracking_kernels import GRAPH
from relynx.mining.matching.index import Index
from relynx.mining.patterns.trie import (
    ARGUMENTS,
    DIMENSION,
    FROM,
    N_STEPS,
    RELATION,
    TO,
    Rows,
    Trie,
)
from relynx.mining.workers import in_order

LEAST_SHARED = 2_000  # sequences; with fewer the compiled loops are too short to share out
AT_ONCE = 64  # patterns that a thread takes at a time, with all that extend them
ROWS_AT_ONCE = 1 << 19  # of all that are looked at in one call
MOST_NODES = 1 << 19  # events of all sequences for which words of links are worth holding
EVENT, VALUE = 0, 1  # types
NO_ROWS = wm.Rows(
    np.empty(0, np.int64),
    np.empty((0, 0), np.uint8),
    np.empty(0, np.uint64),
    np.empty((0, 0), np.int64),
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A pattern on the way down, and its matches."""

    row: int
    rows: wm.Rows
    values: tuple[int, ...]  # variables that stand for values
    taboo: tuple[int, ...]  # values that are constants of the pattern
    events: tuple[int, ...]  # variables that stand for events, in order of coming


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A pattern that nothing extends: the links and the fact that it adds."""

    row: int
    lane: Longs
    links: Longs
    step: Longs


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for: where each row's coverage goes, and the rows on the way."""

    places: dict[int, list[int]]
    children: dict[int, list[int]]
    out: NDArray[np.bool_]  # one row a pattern, one column a sequence


class TrieMatcher:
    """Matches the patterns of a trie against some facts; `of` says whether it can."""

    def __init__(
        self, trie: Trie, facts: Facts, kept: Longs, compiled: Compiled, *, object_identity: bool
    ) -> None:
        self.trie, self.index, self.object_identity = trie, compiled.index, object_identity
        self.n_sequences = facts.n_sequences
        labels = np.zeros(self.n_sequences, np.int64)
        self.event = {
            key: types.index(EVENT)
            for key, types in zip(compiled.relations, compiled.types, strict=True)
        }
        self.number = {key: i for i, key in enumerate(compiled.relations)}
        self.steps = self._coded(kept, facts)
        self.kinds = self._kinds(kept)
        self.alphabet, _, _ = alphabet_of(compiled, labels, object_identity)
        self.web = self._web(labels)

    @classmethod
    def of(cls, trie: Trie, rows: Rows, facts: Facts, object_identity: bool) -> TrieMatcher | None:
        """A matcher for these rows, None where the trie or the facts are of another kind."""
        index = Index.of(facts)
        kept = trie.with_ancestors(rows)
        if not 0 < index.n_nodes <= MOST_NODES or np.diff(index.node_off).max() > MOST_EVENTS:
            return None
        steps = trie.steps[kept]
        names = [trie.dimensions[d] for d in np.unique(steps[:, DIMENSION]).tolist() if d >= 0]
        for name in names:
            if name in index.dimension_names:
                shape = index.dimensions[index.dimension_names.index(name)].shape
                if bool((shape == GRAPH).any()):
                    return None
        relations, types = [], []
        for r in np.unique(steps[:, RELATION]).tolist():
            key = trie.relations[r] if r >= 0 else None
            if key is None or key not in facts.tables:
                continue
            cells = index.relation(key).cells
            events = [j for j in range(key[1]) if bool((cells[j] < index.n_nodes).any())]
            if len(events) != 1 or key[1] > MOST_VALUE_ARGUMENTS:
                return None
            if bool((cells[events[0]] >= index.n_nodes).any()):
                return None
            relations.append(key)
            types.append(tuple(EVENT if j == events[0] else VALUE for j in range(key[1])))
        if not relations or not _events_come_by_links(trie, kept, relations, types):
            return None
        if not has_few_facts(index, relations):
            return None
        compiled = Compiled(
            index=index,
            relations=tuple(relations),
            types=tuple(types),
            constants=(np.empty(0, np.int64), np.empty(0, np.int64)),
            modes=tuple((("-",) * len(t),) for t in types),
            event_type=EVENT,
            dimensions=tuple(
                index.dimension_names.index(name) for name in names if name in index.dimension_names
            ),
        )
        return cls(trie, facts, kept, compiled, object_identity=object_identity)

    def coverage(self, rows: Rows, *, n_threads: int = 1) -> NDArray[np.bool_]:
        """One row a pattern, one column a sequence.

        Threads share out the patterns of two steps, each with all that extend it.
        """
        out = np.zeros((len(rows), self.n_sequences), bool)
        wanted: dict[int, list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            wanted.setdefault(row, []).append(place)
        children: dict[int, list[int]] = {}
        for row in self.trie.with_ancestors(rows).tolist():
            children.setdefault(int(self.trie.parent[row]), []).append(row)
        everywhere = wm.Rows(
            np.arange(self.n_sequences),
            np.empty((0, self.n_sequences), np.uint8),
            self.web.spoken_of,
            np.empty((0, self.n_sequences), np.int64),
        )
        asked = _Asked(wanted, children, out)
        root = _Place(-1, everywhere, (), (), ())
        first = [
            (here, children.get(here.row, ()))
            for here in self._marked(asked, root, children.get(-1, ()))
        ]
        n = n_threads if self.n_sequences >= LEAST_SHARED else 1
        share = sum(len(below) for _, below in first) // (8 * n)
        size = max(min(AT_ONCE, share), 1) if n > 1 else AT_ONCE
        tasks = [
            (here, below[i : i + size]) for here, below in first for i in range(0, len(below), size)
        ]
        for _ in in_order(partial(self._finish, asked), tasks, n=n):
            pass
        return out

    def _finish(self, asked: _Asked, begin: tuple[_Place, Sequence[int]]) -> None:
        """Mark what some rows cover, and all that extends them."""
        for here in self._marked(asked, *begin):
            self._finish(asked, (here, asked.children.get(here.row, ())))

    def _marked(self, asked: _Asked, here: _Place, below: Sequence[int]) -> Iterator[_Place]:
        """Mark what some rows and their further links cover; those that are extended on."""
        leaves: list[_Leaf] = []
        most = max(min(AT_ONCE, ROWS_AT_ONCE // max(len(here.rows.sequence), 1)), 1)
        for row in below:
            for found in self._below(here, row, asked.children):
                places = asked.places.get(found.row, ())
                if isinstance(found, _Place):
                    for place in places:
                        asked.out[place, found.rows.sequence] = True
                    if len(found.rows.sequence):
                        yield found
                elif places:
                    leaves.append(found)
                if len(leaves) >= most:
                    self._mark(here, leaves, asked)
                    leaves = []
        self._mark(here, leaves, asked)

    def _mark(self, here: _Place, leaves: list[_Leaf], asked: _Asked) -> None:
        """Mark what patterns that extend another cover."""
        if not leaves:
            return
        lanes = np.full((len(leaves), max(len(leaf.lane) for leaf in leaves)), -1, np.int64)
        n_links = 0
        for number, leaf in enumerate(leaves):
            lane = leaf.lane.copy()
            if lane[0] >= 0:
                lane[lane >= 0] += n_links
            lanes[number, : len(lane)] = lane
            n_links += len(leaf.links)
        wm.mark_covered(
            self.alphabet,
            self.web,
            here.rows,
            self._context(here),
            lanes,
            np.concatenate([leaf.links for leaf in leaves]),
            np.stack([leaf.step for leaf in leaves]),
            np.array([asked.places[leaf.row][0] for leaf in leaves]),
            asked.out,
        )
        for leaf in leaves:
            first, *others = asked.places[leaf.row]
            asked.out[others] = asked.out[first]

    def _below(
        self, here: _Place, row: int, children: dict[int, list[int]]
    ) -> Iterator[_Place | _Leaf]:
        """A pattern that extends another by a fact, and those that further links of the new event
        make of it: with matches where they are extended on, else how to find them."""
        step = self.steps.get(row)
        if step is None:
            return
        if step[RELATION] < 0:
            kind = self.kinds[int(step[DIMENSION]), int(step[N_STEPS])]
            x, y = (here.events.index(int(step[e])) for e in (FROM, TO))
            rows = wm.close(self.web, here.rows, kind, len(self.kinds), x, y)
            yield replace(here, row=row, rows=rows)
            return
        made = self._extended(here, row, step)
        if made is None:
            return
        place, lane, links = made
        before = self._context(here)
        todo = [(row, lane, links)]
        while todo:
            at, lane, links = todo.pop()
            rest = []
            for child in children.get(at, ()):
                link = self._further(here, place.events, child)
                if link is None:
                    rest.append(child)
                elif len(link):
                    number = np.array([*lane[lane >= 0], len(links), -1])
                    todo.append((child, number, np.concatenate([links, link[None]])))
            children[at] = rest
            if rest:
                rows = wm.advance(
                    self.alphabet, self.web, here.rows, before, lane, links, step, ak.ALL_ROWS
                )
                yield replace(place, row=at, rows=rows)
            else:
                yield _Leaf(at, lane, links, step)

    def _further(self, here: _Place, events: tuple[int, ...], row: int) -> Longs | None:
        """A row that only links the newest event to one before it, as a link of a lane.

        None where it does something else, nothing where it cannot match.
        """
        if self.trie.steps[row, RELATION] >= 0 or len(events) == len(here.events):
            return None
        x, y = int(self.trie.steps[row, FROM]), int(self.trie.steps[row, TO])
        if (x == events[-1]) == (y == events[-1]):
            return None
        step = self.steps.get(row)
        if step is None:
            return np.empty(0, np.int64)
        kind = self.kinds[int(step[DIMENSION]), int(step[N_STEPS])]
        if y == events[-1]:
            return np.array([kind, here.events.index(x), 0, 1])
        return np.array([len(self.kinds) + kind, here.events.index(y), 0, 0])

    def _extended(self, here: _Place, row: int, step: Longs) -> tuple[_Place, Longs, Longs] | None:
        """A pattern with one more fact, without its matches, and how to get there; None where no
        fact has such values."""
        key = self.trie.relations[int(self.trie.steps[row, RELATION])]
        args = step[ARGUMENTS : ARGUMENTS + key[1]].tolist()
        if any(self.alphabet.value[~term] < 0 for term in args if term < 0):
            return None
        event = args[self.event[key]]
        links = np.empty((0, 4), np.int64)
        if step[DIMENSION] >= 0:
            kind = self.kinds[int(step[DIMENSION]), int(step[N_STEPS])]
            links = np.array([[kind, here.events.index(int(step[FROM])), 0, 1]])
            lane, events = np.array([0, -1]), (*here.events, event)
        elif here.row < 0:
            lane, events = np.array([-1, 0]), (event,)
        else:
            lane, events = np.array([-1, here.events.index(event)]), here.events
        values, taboo = list(here.values), list(here.taboo)
        for j, term in enumerate(args):
            if j == self.event[key]:
                continue
            if term < 0:
                taboo.append(int(self.alphabet.value[~term]))
            elif term not in values:
                values.append(term)
        return _Place(row, NO_ROWS, tuple(values), tuple(taboo), events), lane, links

    def _context(self, here: _Place) -> ak.Context:
        values = np.array(here.values, np.int64)
        return ak.Context(values, np.zeros_like(values), np.array(here.taboo, np.int64), 0, 0)

    # The trie in the numbers of the facts

    def _coded(self, kept: Longs, facts: Facts) -> dict[int, Longs]:
        """The steps with relations and constants as the facts have them; those that cannot match
        are left out."""
        codes: dict[int, int] = {}
        steps: dict[int, Longs] = {}
        for row in kept.tolist():
            step = self.trie.steps[row].astype(np.int64)
            if step[DIMENSION] >= 0:
                name = self.trie.dimensions[int(step[DIMENSION])]
                if name not in self.index.dimension_names:
                    continue
            if step[RELATION] >= 0:
                key = self.trie.relations[int(step[RELATION])]
                if key not in self.number:
                    continue
                step[RELATION] = self.number[key]
                args = step[ARGUMENTS : ARGUMENTS + key[1]]
                for j in np.flatnonzero(args < 0).tolist():
                    old = ~int(args[j])
                    if old not in codes:
                        codes[old] = facts.vocabulary.code(self.trie.vocabulary[old])
                    args[j] = ~codes[old]
                if any(codes[~int(a)] < 0 for a in self._constants(row, key[1])):
                    continue
            steps[row] = step
        return steps

    def _constants(self, row: int, arity: int) -> list[int]:
        args = self.trie.steps[row, ARGUMENTS : ARGUMENTS + arity]
        return [int(a) for a in args if a < 0]

    def _kinds(self, kept: Longs) -> dict[tuple[int, int], int]:
        """A number for each kind of link, by dimension of the trie and n."""
        steps = self.trie.steps[kept]
        used = {
            (d, n)
            for d, n in steps[steps[:, DIMENSION] >= 0][:, [DIMENSION, N_STEPS]].tolist()
            if self.trie.dimensions[d] in self.index.dimension_names
        }
        return {kind: i for i, kind in enumerate(sorted(used))}

    def _web(self, labels: NDArray[np.int64]) -> wm.Web:
        words = np.zeros((2 * len(self.kinds), self.index.n_nodes), np.uint64)
        for (d, n), i in self.kinds.items():
            name = self.trie.dimensions[d]
            dimension = self.index.dimensions[self.index.dimension_names.index(name)]
            part = np.zeros((2, self.index.n_nodes), np.uint64)
            wm.link_words(
                dimension.order[None],
                dimension.rank[None],
                dimension.first[None],
                dimension.last[None],
                self.index.node_off,
                np.array([n], np.int64),
                part,
            )
            words[[i, len(self.kinds) + i]] = part
        spoken_of = np.bitwise_or.reduce(self.alphabet.everywhere, axis=0)
        nothing = np.zeros(1, np.int64)
        off, injective = self.index.node_off, self.object_identity
        return wm.Web(words, off, spoken_of, labels, nothing, 0, injective)


def _events_come_by_links(
    trie: Trie,
    kept: Longs,
    relations: list[tuple[str, int]],
    types: list[tuple[int, ...]],
) -> bool:
    """Is every event of a pattern a variable, that of the first fact or of a link with a fact
    about it, and does none stand where the facts hold values?

    What is said of predicates that the facts lack does not matter.
    """
    event = {key: t.index(EVENT) for key, t in zip(relations, types, strict=True)}
    known: dict[int, tuple[set[int], set[int]] | None] = {-1: (set(), set())}  # events, values
    for row in kept.tolist():
        step, before = trie.steps[row], known[int(trie.parent[row])]
        key = trie.relations[int(step[RELATION])] if step[RELATION] >= 0 else None
        if before is None or (key is not None and key not in event):
            known[row] = None
            continue
        first = trie.parent[row] < 0
        events, values = set(before[0]), set(before[1])
        linked, to = bool(step[DIMENSION] >= 0), int(step[TO])
        if linked:
            if first or int(step[FROM]) not in events or (to in events) == (key is not None):
                return False
            events.add(to)
        if key is not None:
            terms = step[ARGUMENTS : ARGUMENTS + key[1]].tolist()
            term = terms.pop(event[key])
            if term < 0 or not (first or (term == to if linked else term in events)):
                return False
            events.add(term)
            values.update(terms)
        if events & values:
            return False
        known[row] = events, values
    return True
