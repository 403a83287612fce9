"""What the patterns of a trie cover, by words of bits: each is matched from what it extends.

For facts about one event each, along dimensions that are lines or paths, as in the bit-parallel
engine, whose kernels it uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.data.sequences import Facts
from relynx.mining.engines.bits import _count_kernels as ck
from relynx.mining.engines.bits import _event_fact_kernels as ek
from relynx.mining.engines.bits import _row_kernels as rk
from relynx.mining.engines.bits import event_facts as ef
from relynx.mining.engines.compiled import Compiled
from relynx.mining.matching.index import Index
from relynx.mining.patterns import trie as tr
from relynx.mining.patterns.trie import Rows, Trie
from relynx.mining.workers import in_order

LEAST_SHARED = 2_000  # sequences; with fewer the compiled loops are too short to share out
AT_ONCE = 64  # patterns that a thread takes at a time, with all that extend them
MOST_LINK_WORDS = 1 << 24
EVENT, VALUE = 0, 1  # types


@dataclass(frozen=True, slots=True)
class _Node:
    """A pattern on the way down: its row, its steps and its matches."""

    row: int
    chain: Longs
    rows: rk.Rows


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where the coverage of each row goes, the rows on the way, and the coverage."""

    columns: dict[int, list[int]]
    children: dict[int, list[int]]
    out: Bools  # patterns x sequences


class TrieMatcher:
    """Matches the patterns of a trie against some facts; `of` says whether it can."""

    def __init__(
        self, trie: Trie, kept: Longs, compiled: Compiled, steps: Longs, *, object_identity: bool
    ) -> None:
        self.trie = trie
        self.n_sequences = compiled.index.n_sequences
        labels = np.zeros(self.n_sequences, np.int64)
        self.facts = ef.event_facts(compiled, labels, 1, 0, injective=object_identity)
        self.graph = ef.link_graph(compiled, self.facts, steps)
        self.steps = self._recoded(kept, compiled)

    @classmethod
    def of(cls, trie: Trie, rows: Rows, facts: Facts, object_identity: bool) -> TrieMatcher | None:
        """A matcher for these rows, None where the trie or the facts are of another kind."""
        index = Index.of(facts)
        kept = trie.with_ancestors(rows)
        steps = trie.steps[kept]
        names = [trie.dimensions[d] for d in np.unique(steps[:, tr.DIMENSION]).tolist() if d >= 0]
        dimensions = tuple(
            index.dimension_names.index(name) for name in names if name in index.dimension_names
        )
        relations = _event_relations(index, trie, steps)
        if not relations or not index.n_nodes:
            return None
        compiled = Compiled(
            index=index,
            relations=tuple(relations),
            types=tuple(
                tuple(EVENT if j == event else VALUE for j in range(key[1]))
                for key, event in relations.items()
            ),
            constants=(np.empty(0, np.int64), np.empty(0, np.int64)),
            modes=tuple((("-",) * key[1],) for key in relations),
            event_type=EVENT,
            dimensions=dimensions,
        )
        used = np.unique(steps[steps[:, tr.DIMENSION] >= 0, tr.N_STEPS]).astype(np.int64)
        if not ef.has_room(compiled, len(used), MOST_LINK_WORDS) or not _events_come_by_links(
            trie, kept, relations, is_line=compiled.is_line
        ):
            return None
        return cls(trie, kept, compiled, used, object_identity=object_identity)

    def coverage(self, rows: Rows, *, n_threads: int = 1) -> Bools:
        """An array of shape (n_patterns, n_sequences). Threads share out the patterns of two steps,
        each with all that extend it."""
        out = np.zeros((len(rows), self.n_sequences), bool)
        columns, children = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        for column, row in enumerate(rows.tolist()):
            columns[row].append(column)
        for row in self.trie.with_ancestors(rows).tolist():
            children[int(self.trie.parent[row])].append(row)
        asked = _Asked(columns, children, out)
        nothing = np.empty((0, self.trie.steps.shape[1]), np.int64)
        root = _Node(-1, nothing, ef.everywhere(self.facts))
        room = ef.scratch(self.facts)
        first = [
            node for row in children.get(-1, ()) for node in self._below(asked, root, row, room)
        ]
        n = n_threads if self.n_sequences >= LEAST_SHARED else 1
        below = [(node, children.get(node.row, [])) for node in first]
        share = sum(len(rows) for _, rows in below) // (8 * n)
        size = max(min(AT_ONCE, share), 1) if n > 1 else AT_ONCE
        tasks = [
            (node, rows[i : i + size]) for node, rows in below for i in range(0, len(rows), size)
        ]
        for _ in in_order(partial(self._finish, asked), tasks, n=n):
            pass
        return out

    def _finish(self, asked: _Asked, begin: tuple[_Node, Sequence[int]]) -> None:
        """Mark what some rows cover, and all that extends them."""
        room = ef.scratch(self.facts)
        todo = [begin]
        while todo:
            node, rows = todo.pop()
            for row in rows:
                for found in self._below(asked, node, row, room):
                    if below := asked.children.get(found.row):
                        todo.append((found, below))

    def _below(self, asked: _Asked, node: _Node, row: int, room: ek.Scratch) -> Iterator[_Node]:
        """A pattern that extends another by a fact, and those that further links of its new event
        make of it. Marks what they cover."""
        step = self.steps.get(row)
        if step is None:
            return
        before = ek.context(self.facts, node.chain)
        todo: list[tuple[int, list[Longs]]] = [(row, [])]
        while todo:
            at, links = todo.pop()
            further = [
                child for child in asked.children.get(at, ()) if self._is_further(step, child)
            ]
            todo += [(c, [*links, self.steps[c][:4]]) for c in further if c in self.steps]
            extra = np.array(links, np.int64).reshape(-1, 4)
            some = node.rows, 0, len(node.rows.block)
            into = rk.links_of(self.graph, before, step, extra)
            rows = rk.advance(self.facts, self.graph, *some, before, into, step, room, rk.ALL_ROWS)
            if not len(rows.block):
                continue
            for column in asked.columns.get(at, ()):
                asked.out[column, self.facts.sequence[rows.block]] = True
            if further:
                asked.children[at] = [c for c in asked.children[at] if c not in further]
            yield _Node(at, ck.followed_by(node.chain, step, extra), rows)

    def _is_further(self, step: Longs, row: int) -> bool:
        """Does a row only link the event that a step adds to one before it?"""
        link = self.trie.steps[row]
        return bool(
            link[tr.RELATION] < 0
            and step[tr.DIMENSION] >= 0
            and (link[tr.FROM] == step[tr.TO]) != (link[tr.TO] == step[tr.TO])
        )

    def _recoded(self, kept: Longs, compiled: Compiled) -> dict[int, Longs]:
        """The steps with dimensions, relations and constants as the facts have them; those that
        cannot match are left out."""
        trie, index = self.trie, compiled.index
        numbers = {key: i for i, key in enumerate(compiled.relations)}
        relation = np.array([*(numbers.get(key, -2) for key in trie.relations), -1])
        names = index.dimension_names
        known = [names.index(n) if n in names else -2 for n in trie.dimensions]
        steps = trie.steps[kept].astype(np.int64)
        steps[:, tr.DIMENSION] = np.array([*known, -1])[steps[:, tr.DIMENSION]]
        arity = np.array([*(key[1] for key in trie.relations), 0])[steps[:, tr.RELATION]]
        steps[:, tr.RELATION] = relation[steps[:, tr.RELATION]]
        args = steps[:, tr.ARGUMENTS :]
        is_constant = (args < 0) & (np.arange(args.shape[1]) < arity[:, None])
        codes, where = np.unique(~args[is_constant], return_inverse=True)
        own = [index.facts.vocabulary.code(trie.vocabulary[code]) for code in codes.tolist()]
        value = [int(self.facts.value[code]) if code >= 0 else -1 for code in own]
        args[is_constant] = ~np.array([*own, 0], np.int64)[where]
        lacks = np.zeros(args.shape, bool)
        lacks[is_constant] = np.array([*value, 0])[where] < 0
        good = (steps[:, tr.DIMENSION] > -2) & (steps[:, tr.RELATION] > -2) & ~lacks.any(axis=1)
        return dict(zip(kept[good].tolist(), steps[good], strict=True))


def _event_relations(index: Index, trie: Trie, steps: Ints) -> dict[tuple[str, int], int]:
    """The event argument of each relation in use; none where one speaks of several events."""
    relations: dict[tuple[str, int], int] = {}
    for r in np.unique(steps[:, tr.RELATION]).tolist():
        key = trie.relations[r] if r >= 0 else None
        if key is None or key not in index.facts.tables or not index.facts.tables[key].size:
            continue
        cells = index.relation(key).cells
        events = [j for j in range(key[1]) if bool((cells[j] < index.n_nodes).any())]
        mixed = any((cells[j] >= index.n_nodes).any() for j in events)
        if len(events) != 1 or key[1] > ef.MOST_ARGUMENTS or mixed:
            return {}
        relations[key] = events[0]
    return relations


def _events_come_by_links(
    trie: Trie, kept: Longs, event: dict[tuple[str, int], int], *, is_line: bool
) -> bool:
    """Is every event of a pattern a variable, that of the first fact or of a link with a fact about
    it, do facts and further links come with it, and does no event stand for a value? What is said
    of predicates that the facts lack does not matter."""
    known: dict[int, tuple[frozenset[int], frozenset[int], int] | None] = {
        -1: (frozenset(), frozenset(), -1)
    }  # events, values, and the event that may get further links
    for row in kept.tolist():
        step, before = trie.steps[row], known[int(trie.parent[row])]
        key = trie.relations[int(step[tr.RELATION])] if step[tr.RELATION] >= 0 else None
        if before is None or (key is not None and key not in event):
            known[row] = None
            continue
        events, values, newest = before
        linked, start, to = bool(step[tr.DIMENSION] >= 0), int(step[tr.FROM]), int(step[tr.TO])
        if key is None:
            if newest < 0 or (start == newest) == (to == newest) or not {start, to} <= events:
                return False
            known[row] = before
            continue
        args = step[tr.ARGUMENTS : tr.ARGUMENTS + key[1]].tolist()
        own = args[event[key]]
        others = {arg for j, arg in enumerate(args) if j != event[key] and arg >= 0}
        if own < 0 or (linked and (own != to or own in events or start not in events)):
            return False
        if not linked and trie.parent[row] >= 0 and own != max(events):
            return False
        if linked and is_line and start != max(events):
            return False
        events, values = events | {own}, values | others
        if events & values:
            return False
        known[row] = events, values, own if linked else -1
    return True
