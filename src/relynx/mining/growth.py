"""Pattern growth over lists of matches: the general engine of the miner.

Level by level, one pass over the matches of a pattern counts all its refinements that occur. The
matches themselves are made again when a level is worked on, from those of the parent, which is
kept while its children are: memory holds the matches of one pattern and its ancestors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relynx.errors import BiasError
from relynx.mining import _growth_kernels as gk
from relynx.mining._kernels import GRAPH
from relynx.mining.engine import UNUSED, Conditions, Engine, Level, Longs
from relynx.mining.language import MOST_CODES, Compiled
from relynx.mining.trie import ARGUMENTS


@dataclass(slots=True)
class Node:
    """A pattern that can be refined."""

    row: int
    length: int
    atoms: Longs  # a predicate and its arguments a row
    types: Longs  # of the variables
    parent: Node | None
    step: Longs
    matches: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None


class Growth(Engine):
    """Searches every language."""

    def __init__(
        self,
        compiled: Compiled,
        labels: NDArray[np.int64],
        n_classes: int,
        conditions: Conditions,
        *,
        object_identity: bool,
    ) -> None:
        super().__init__(compiled, labels, n_classes, conditions, object_identity=object_identity)
        self.data = compiled.data()
        self.first = compiled.language(first=True, injective=object_identity)
        self.later = compiled.language(first=False, injective=object_identity)
        self._counts = _table(1 << 12, n_classes)
        self._path: list[Node] = []
        shapes = [compiled.index.dimensions[d].shape for d in compiled.dimensions]
        self.acyclic = [not bool((shape == GRAPH).any()) for shape in shapes]

    def run(self, on_pattern: Callable[[int], bool]) -> int:
        """Search until done or `on_pattern(length)` says stop; the length that is complete."""
        level = self._first_atoms()
        for length in range(1, self.conditions.max_length + 1):
            following: list[Node] = []
            for node in level:  # closing a pattern makes another of the same length
                if not on_pattern(length):
                    return length - 1
                for child in self._children(node):
                    (level if child.length == length else following).append(child)
            level = following
            if not level:
                break
        return self.conditions.max_length

    # Refinements

    def _first_atoms(self) -> list[Node]:
        sizes = self.compiled.sizes(0)
        bases = np.concatenate([[0], np.cumsum(_checked(sizes))])
        families = bases[None, :-1]
        while not gk.count_first(self.data, self.first, self.labels, families, self._counts):
            self._enlarge()
        keys, supports = self._collect(1)
        nothing = np.empty(0, np.int64)
        root = Node(-1, 0, np.empty((0, self.width), np.int64), nothing, None, nothing)
        nodes: list[Node] = []
        relation = np.searchsorted(bases, keys, side="right") - 1
        for r in np.unique(relation).tolist():
            here = relation == r
            steps, types = self._decode(r, keys[here] - bases[r], root, None)
            nodes += self._keep(root, steps, types, supports[here], 1)
        return nodes

    def _children(self, node: Node) -> list[Node]:
        links, closings = self._options(node)
        if node.length == self.conditions.max_length:
            links = []
            if not closings:
                return []
        matches, sequence = self._matches(node)
        n_old = len(node.types)
        plain, linked = self.compiled.sizes(n_old), self.compiled.sizes(n_old + 1)
        if node.length == self.conditions.max_length:
            plain = [1] * len(plain)
        bases = np.concatenate(
            [[0], np.cumsum(_checked([*plain, *linked * len(links), len(closings) + 1]))]
        )
        n_relations = len(plain)
        families = np.zeros((len(links) + 2, max(n_relations, 1)), np.int64)
        families[: len(links) + 1, :n_relations] = bases[: n_relations * (len(links) + 1)].reshape(
            -1, max(n_relations, 1)
        )
        families[len(links) + 1, 0] = bases[-2]
        types = np.append(node.types, self.compiled.event_type)
        language = self.later
        if node.length == self.conditions.max_length:
            language = language._replace(anchor_off=np.zeros_like(language.anchor_off))
        arguments = (
            self.data,
            language,
            matches,
            sequence,
            self.labels,
            types,
            self._taboo(node),
            np.array(links, np.int64).reshape(-1, 3),
            np.array(closings, np.int64).reshape(-1, 4),
            families,
        )
        while not gk.count_refinements(*arguments, self._counts):
            self._enlarge()
        keys, supports = self._collect(node.length + 1, int(bases[-2]))
        nodes: list[Node] = []
        family = np.searchsorted(bases, keys, side="right") - 1
        for f in np.unique(family).tolist():
            here = family == f
            codes = keys[here] - bases[f]
            if f == len(bases) - 2:
                steps = np.zeros((len(codes), ARGUMENTS + self.width - 1), np.int64)
                steps[:, :4] = np.array(closings, np.int64)[codes]
                steps[:, 4] = -1
                new_types = [node.types] * len(codes)
                nodes += self._keep(node, steps, new_types, supports[here], node.length)
                continue
            link, relation = divmod(f, n_relations)
            chosen = None if link == 0 else (*links[link - 1], n_old)
            steps, new_types = self._decode(relation, codes, node, chosen)
            nodes += self._keep(node, steps, new_types, supports[here], node.length + 1)
        return nodes

    def _options(
        self, node: Node
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int, int]]]:
        """The links to a new event and between old ones that a pattern may get."""
        n_relations = len(self.compiled.relations)
        events = np.flatnonzero(node.types == self.compiled.event_type).tolist()
        links, closings = [], []
        for i, d in enumerate(self.compiled.dimensions):
            predicates = node.atoms[:, 0] - n_relations
            mine = node.atoms[(predicates >= 0) & (predicates % len(self.acyclic) == i)]
            after = dict(zip(mine[:, 1].tolist(), mine[:, 2].tolist(), strict=True))
            leaves = [x for x in events if x not in after]
            enters = [y for y in events if y not in after.values()]
            for x in leaves:
                links += [(d, n, x) for n in self.conditions.steps]
            for y in enters:
                tail = y
                while tail in after:
                    tail = after[tail]
                for x in leaves:
                    if self.acyclic[i] and x == tail:
                        continue  # would close a circle
                    closings += [(d, n, x, y) for n in self.conditions.steps]
        return links, closings

    def _predicate(self, d: int, n: int) -> int:
        """A number for a link, after those of the relations."""
        i = self.compiled.dimensions.index(d)
        return len(self.compiled.relations) + n * len(self.acyclic) + i

    def _decode(
        self,
        relation: int,
        codes: Longs,
        node: Node,
        link: tuple[int, int, int, int] | None,
    ) -> tuple[Longs, list[Longs]]:
        """Steps of the trie from codes of atoms, and the types of the variables after each."""
        types = self.compiled.types[relation]
        k = len(types)
        n_old = len(node.types) + (link is not None)
        steps = np.zeros((len(codes), ARGUMENTS + self.width - 1), np.int64)
        steps[:, 0] = -1
        if link is not None:
            steps[:, :4] = link
        steps[:, 4] = relation
        digits = np.zeros((len(codes), k), np.int64)
        rest = codes
        for j in range(k - 1, -1, -1):
            rest, digits[:, j] = np.divmod(rest, n_old + 1 + k + len(self._admitted(types[j])))
        new = np.zeros(len(codes), np.int64)
        for j in range(k):
            digit = digits[:, j]
            column = digit.copy()
            column[digit == n_old] = n_old + new[digit == n_old]
            new += digit == n_old
            for q in range(j):
                again = digit == n_old + 1 + q
                column[again] = steps[again, ARGUMENTS + q]
            constant = digit >= n_old + 1 + k
            column[constant] = ~self._admitted(types[j])[digit[constant] - n_old - 1 - k]
            steps[:, ARGUMENTS + j] = column
        old = node.types if link is None else np.append(node.types, self.compiled.event_type)
        added = [
            np.append(old, [types[j] for j in range(k) if row[j] == n_old]).astype(np.int64)
            for row in digits.tolist()
        ]
        return steps, added

    def _admitted(self, type_: int) -> Longs:
        return self.compiled.constants[type_]

    # What is kept

    def _collect(self, length: int, closings: int | None = None) -> tuple[Longs, NDArray[np.int32]]:
        """The refinements counted since the last time that are frequent, in order of their keys.

        Keys from `closings` on are of patterns that are shorter by one.
        """
        counts = self._counts
        slots = counts.used[: counts.n_used[0]]
        keys, supports = counts.keys[slots], counts.supports[slots]
        counts.keys[slots] = -1
        counts.n_used[0] = 0
        frequency = supports.sum(axis=1)
        share = (supports / np.maximum(self.class_sizes, 1)).max(axis=1, initial=0.0)
        rare = frequency < self.conditions.min_frequency
        enough = (supports >= self.conditions.least).any(axis=1)
        weak = ~rare & ~enough
        longer = np.ones(len(keys), bool) if closings is None else keys < closings
        for part, n in ((longer, length), (~longer, length - 1)):
            if not part.any():
                continue
            tally = self.tallies.setdefault(n, Level())
            tally.occurred += int(part.sum())
            tally.infrequent += int((rare & part).sum())
            tally.unsupported += int((weak & part).sum())
            tally.note_frequency(frequency[rare & enough & part])
            tally.note_share(share[weak & part])
        good = np.flatnonzero(~rare & ~weak)
        good = good[np.argsort(keys[good], kind="stable")]
        return keys[good], supports[good]

    def _keep(
        self,
        node: Node,
        steps: Longs,
        types: list[Longs],
        supports: NDArray[np.int32],
        length: int,
    ) -> list[Node]:
        """Record those refinements that are new and not forbidden; those that can be refined."""
        atoms = self._atoms(node, steps)
        out = np.zeros_like(atoms)
        distinct = np.zeros(len(atoms), bool)
        gk.canonical_all(atoms, np.array([len(t) for t in types], np.int64), out, distinct)
        tally = self.tallies.setdefault(length, Level())
        kept = []
        for i in np.flatnonzero(distinct).tolist():
            form = out[i].tobytes()
            if form in self._seen:
                continue
            self._seen.add(form)
            if self._is_forbidden(atoms[i], first=node.parent is None and node.row < 0):
                tally.forbidden += 1
                continue
            kept.append(i)
        tally.kept += len(kept)
        start = self.found.n_rows
        self.found.add(node.row, steps[kept], supports[kept])
        leaf = length == self.conditions.max_length and not self.compiled.dimensions
        if leaf:
            return []
        parent = node if node.row >= 0 else None
        return [
            Node(start + place, length, atoms[i], types[i], parent, steps[i])
            for place, i in enumerate(kept)
        ]

    def _atoms(self, node: Node, steps: Longs) -> Longs:
        """The atoms of each refinement, as rows of numbers."""
        links, facts = steps[0, 0] >= 0, steps[0, 4] >= 0
        n_old = len(node.atoms)
        atoms = np.full((len(steps), n_old + links + facts, self.width), UNUSED, np.int64)
        atoms[:, :n_old] = node.atoms
        if links:
            atoms[:, n_old, 0] = [self._predicate(d, n) for d, n in steps[:, :2].tolist()]
            atoms[:, n_old, 1:3] = steps[:, 2:4]
        if facts:
            k = len(self.compiled.types[int(steps[0, 4])])
            atoms[:, -1, 0] = steps[:, 4]
            atoms[:, -1, 1 : 1 + k] = steps[:, ARGUMENTS : ARGUMENTS + k]
        return atoms

    # Matches

    def _matches(self, node: Node) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The matches of a pattern; those of other patterns than its ancestors are let go."""
        chain = []
        at: Node | None = node
        while at is not None:
            chain.append(at)
            at = at.parent
        for old in self._path:
            if not any(old is node for node in chain):
                old.matches = None
        self._path = chain
        for step in reversed(chain):
            if step.matches is None:
                step.matches = self._extended(step)
        assert node.matches is not None
        return node.matches

    def _extended(self, node: Node) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        if node.parent is None:
            matches = np.empty((0, 0), np.int32)
            sequence = np.arange(len(self.labels), dtype=np.int32)
            language, n_old, taboo = self.first, 0, np.empty(0, np.int64)
        else:
            assert node.parent.matches is not None
            matches, sequence = node.parent.matches
            language, n_old = self.later, len(node.parent.types)
            taboo = self._taboo(node.parent)
        link = np.array([-1, 0, 0, 0])
        n_known = n_old
        if node.step[0] >= 0:
            closing = node.step[3] < n_old
            link = np.array([*node.step[:3], node.step[3] if closing else -1])
            n_known += not closing
        relation = int(node.step[4])
        k = len(self.compiled.types[relation]) if relation >= 0 else 0
        digits, keys = np.zeros(k, np.int64), np.full(k, -1, np.int64)
        first_at: dict[int, int] = {}
        for j, arg in enumerate(node.step[ARGUMENTS : ARGUMENTS + k].tolist()):
            if arg < 0:
                digits[j] = n_known + 1 + k
                keys[j] = self.compiled.index.n_nodes + ~arg
            elif arg < n_known:
                digits[j] = arg
            else:
                digits[j] = n_known + 1 + first_at[arg] if arg in first_at else n_known
                first_at.setdefault(arg, j)
        room = max(2 * len(sequence), 64)
        while True:
            out = np.empty((len(node.types), room), np.int32)
            out_sequence = np.empty(room, np.int32)
            total = gk.list_matches(
                self.data,
                language,
                matches,
                sequence,
                taboo,
                link,
                relation,
                digits,
                keys,
                out,
                out_sequence,
            )
            if total <= room:
                return out[:, :total].copy(), out_sequence[:total].copy()
            room = total

    def _taboo(self, node: Node) -> Longs:
        """The keys of the constants of a pattern."""
        args = node.atoms[:, 1:]
        codes = ~args[(args < 0) & (args > UNUSED)]
        return np.unique(codes) + self.compiled.index.n_nodes

    def _enlarge(self) -> None:
        self._counts = _table(4 * len(self._counts.keys), self.n_classes)


def _table(size: int, n_classes: int) -> gk.Counts:
    return gk.Counts(
        np.full(size, -1, np.int64),
        np.full(size, -1, np.int32),
        np.zeros((size, n_classes), np.int32),
        np.zeros(size, np.int64),
        np.zeros(1, np.int64),
    )


def _checked(sizes: list[int]) -> Longs:
    if sum(sizes) >= MOST_CODES:
        raise BiasError(
            "the bias admits too many constants for patterns of this length: "
            "name those that matter with values(type,[...]), or make the others variables"
        )
    return np.array(sizes, np.int64)
