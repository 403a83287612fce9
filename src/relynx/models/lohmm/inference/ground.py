"""Grounding a model for some sequences: the flat tables that the kernels work on.

Only states that can be reached, and can show what comes next, are made. An observation is unified
with what is seen before the variables of a head are given values, and of those only the values with
which some body can show the next observation. The tables hold no probabilities: they serve for all
parameters of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, product

import numpy as np

from relynx.arrays import Longs
from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.models.lohmm.inference import program as pg
from relynx.models.lohmm.inference._forward_kernels import Tables

MOST_STATES = 1_000_000  # that one clause may lead to from one state
MOST_EDGES = 5_000_000

FINAL, BEGIN = 0, 1  # the columns behind the last step and before the first
NOTHING: pg.Coded = (-1, ())  # an observation that the model knows nothing of


@dataclass(slots=True, eq=False)
class Column:
    """The states that can show one observation in one block; -1 is the place of one that cannot."""

    observation: pg.Coded
    block: int
    states: list[int] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    leaving: list[int] = field(default_factory=list)  # the kinds of steps from here


@dataclass(frozen=True, slots=True, eq=False)
class Grounding:
    """The tables of some sequences, and what their numbers stand for. `columns` has the ground
    states of each column, in order, and `shown` the observation that they show next; `ends` the two
    columns of each kind of step; `sizes` the number of states in all columns of each sequence."""

    program: pg.Program
    tables: Tables
    columns: tuple[tuple[pg.Coded, ...], ...]
    shown: tuple[pg.Coded, ...]
    ends: tuple[tuple[int, int], ...]
    sizes: Longs

    @property
    def widest(self) -> int:
        return max(map(len, self.columns))


class Grounder:
    """Reaches the states of all columns, kind of step by kind of step."""

    def __init__(self, program: pg.Program) -> None:
        self.program = program
        self.states: list[pg.Coded] = []
        self.state_numbers: dict[pg.Coded, int] = {}
        self.bodies: list[tuple[pg.Body, list[int]] | None] = []
        self.showing: dict[pg.Coded, dict[int, list[pg.Args]]] = {}
        self.columns = [Column(NOTHING, 0), Column(NOTHING, 0, states=[0])]
        self.column_numbers: dict[tuple[pg.Coded, int], int] = {}
        self.step_kinds: list[tuple[int, int]] = []
        self.step_kind_numbers: dict[tuple[int, int], int] = {}
        self.edges: tuple[list[int], ...] = ([], [], [], [])  # kind, source, target, clause
        self.draws: list[tuple[int, ...]] = []
        self.opens: list[tuple[int, ...]] = []

    def ground(self, sequences: Sequence[Sequence[Atom]]) -> Grounding:
        """The ground tables of some sequences. Raises InputError where they would be too large."""
        steps = [self._steps_of(sequence) for sequence in sequences]
        self._reach()
        return self._grounding(steps)

    # The steps of the sequences

    def _steps_of(self, sequence: Sequence[Atom]) -> list[int]:
        blocks = self.program.blocks_of(len(sequence)).tolist()
        before, steps = BEGIN, []
        for atom, block in zip(sequence, blocks, strict=True):
            key = self.program.coded(atom) or NOTHING, block
            column = self.column_numbers.get(key)
            if column is None:
                column = self.column_numbers[key] = len(self.columns)
                self.columns.append(Column(*key))
            steps.append(self._step_kind(before, column))
            before = column
        steps.append(self._step_kind(before, FINAL))
        return steps

    def _step_kind(self, before: int, after: int) -> int:
        number = self.step_kind_numbers.get((before, after))
        if number is None:
            number = self.step_kind_numbers[before, after] = len(self.step_kinds)
            self.step_kinds.append((before, after))
            self.columns[before].leaving.append(number)
        return number

    # The states that are reached

    def _reach(self) -> None:
        """Go from every state of every column, until no column has a new one."""
        done = [0] * len(self.step_kinds)
        waiting = list(self.columns[BEGIN].leaving)
        while waiting:
            kind = waiting.pop()
            before, after = self.step_kinds[kind]
            states, size = self.columns[before].states, len(self.columns[after].states)
            while done[kind] < len(states):
                self._leave(kind, done[kind], states[done[kind]])
                done[kind] += 1
            if len(self.columns[after].states) > size:
                waiting.extend(self.columns[after].leaving)

    def _leave(self, kind: int, position: int, state: int) -> None:
        """All edges of one kind from one state."""
        before, after = self.step_kinds[kind]
        source, target = self.columns[before], self.columns[after]
        if before == BEGIN:
            for clause in self.program.start:
                self._follow(kind, position, clause, [-1] * len(clause.types), target)
            return
        found = self.bodies[state]
        if found is None:
            return
        body, binding = found
        last = after == FINAL
        able = {} if last else self._showing(target.observation)
        for clause in body.clauses(source.block):
            whole = None
            if last or clause.head[0] in able:
                whole = self._shown(clause, binding, source.observation)
            if whole is not None:
                self._follow(kind, position, clause, whole, target)

    def _shown(self, clause: pg.Clause, binding: list[int], shown: pg.Coded) -> list[int] | None:
        """The binding of a clause whose body has one, when it shows this observation."""
        if clause.observation[0] != shown[0]:
            return None
        whole = binding + [-1] * (len(clause.types) - len(binding))
        return pg.matched(clause.observation[1], shown[1], whole)

    def _follow(
        self, kind: int, position: int, clause: pg.Clause, binding: list[int], target: Column
    ) -> None:
        """The edges of one clause, once its observation is known."""
        program = self.program
        drawn = clause.head_draws + clause.observation_draws
        if target is self.columns[FINAL]:
            if clause.ends or not program.has_end:
                draws = tuple(
                    int(program.slot_starts[d]) + binding[v] for v, d in drawn if binding[v] >= 0
                )
                self._edge(kind, position, 0, clause, draws)
                self.opens.append(tuple(d for v, d in drawn if binding[v] < 0))
            return
        if target.observation == NOTHING:
            return
        predicate, head = clause.head[0], pg.bound(clause.head[1], binding)
        for codes in self._heads(clause, predicate, head, target.observation):
            at = self._position((predicate, codes), target)
            if at >= 0:
                for variable, code in zip(clause.head[1], codes, strict=True):
                    if variable < 0:
                        binding[-variable - 1] = code
                draws = tuple(int(program.slot_starts[d]) + binding[v] for v, d in drawn)
                self._edge(kind, position, at, clause, draws)
                self.opens.append(())

    def _edge(
        self, kind: int, position: int, target: int, clause: pg.Clause, draws: tuple[int, ...]
    ) -> None:
        for column, value in zip(self.edges, (kind, position, target, clause.number), strict=True):
            column.append(value)
        self.draws.append(draws)
        if len(self.draws) > MOST_EDGES:
            raise InputError(
                f"these sequences have more than {MOST_EDGES:,} ground transitions",
                hint=f"the last one was of {self.program.names[clause.number]}; give hidden "
                "arguments fewer values, or show them in the observations",
            )

    def _heads(
        self, clause: pg.Clause, predicate: int, head: pg.Args, shown: pg.Coded
    ) -> Iterable[pg.Args]:
        """The ground heads that may show an observation."""
        if all(arg >= 0 for arg in head):
            return (head,)
        found: dict[pg.Args, None] = {}
        for pattern in self._showing(shown).get(predicate, ()):
            found.update(dict.fromkeys(self._instances(clause, head, pattern)))
        return found

    def _showing(self, shown: pg.Coded) -> dict[int, list[pg.Args]]:
        """The bodies, bound as far as an observation binds them, that can show it."""
        known = self.showing.get(shown)
        if known is None:
            predicate, codes = shown
            patterns: dict[pg.Coded, None] = {}
            for body, clause in self.program.observed_by.get(predicate, ()):
                binding = pg.matched(clause.observation[1], codes, [-1] * len(clause.types))
                if binding is not None:
                    patterns[body.pattern[0], pg.bound(body.pattern[1], binding)] = None
            known = self.showing[shown] = {}
            for of, pattern in patterns:
                known.setdefault(of, []).append(pattern)
        return known

    def _instances(self, clause: pg.Clause, head: pg.Args, pattern: pg.Args) -> Iterator[pg.Args]:
        """The ground instances of a head that are instances of a pattern too."""
        found = pg.unified(head, pg.apart(pattern, len(clause.types)))
        if found is None:
            return iter(())
        common = tuple(pg.walked(arg, found) for arg in head)
        free = list(dict.fromkeys(arg for arg in common if arg < 0))
        types = self.program.argument_types[clause.head[0]]
        sizes = [len(self.program.constants[types[common.index(arg)]]) for arg in free]
        if np.prod([float(size) for size in sizes]) > MOST_STATES:
            self._blame(clause, common, free, sizes)
        values = product(*map(range, sizes))
        positions = [free.index(arg) if arg < 0 else -1 for arg in common]
        return (
            tuple(c[p] if p >= 0 else arg for arg, p in zip(common, positions, strict=True))
            for c in values
        )

    def _blame(self, clause: pg.Clause, common: pg.Args, free: list[int], sizes: list[int]) -> None:
        widest = int(np.argmax(sizes))
        name, arity = self.program.keys[clause.head[0]]
        position = common.index(free[widest]) + 1
        raise InputError(
            f"a step has more than {MOST_STATES:,} ground states: argument {position} of "
            f"{name}/{arity} is drawn from {sizes[widest]:,} values and no observation shows "
            "which",
            hint=f"it is drawn in {self.program.names[clause.number]}; give it fewer values, "
            "or show it in the observations",
        )

    def _position(self, state: pg.Coded, column: Column) -> int:
        """The place of a state in a column, to which it is added; -1 where it cannot stand."""
        number = self.state_numbers.get(state)
        if number is None:
            number = self.state_numbers[state] = len(self.states)
            self.states.append(state)
            self.bodies.append(self.program.body_of(state))
        position = column.positions.get(number)
        if position is None:
            position = -1
            found = self.bodies[number]
            if found is not None and any(
                self._shown(clause, found[1], column.observation) is not None
                for clause in found[0].clauses(column.block)
            ):
                position = len(column.states)
                column.states.append(number)
            column.positions[number] = position
        return position

    # The tables

    def _grounding(self, steps: list[list[int]]) -> Grounding:
        orders = [[0], [0], *map(self._order, self.columns[2:])]
        columns = [
            tuple(self.states[column.states[p]] for p in order)
            for column, order in zip(self.columns[2:], orders[2:], strict=True)
        ]
        sizes = np.array([1, 1, *map(len, columns)], np.int64)
        before, after = np.array(self.step_kinds, np.int64).reshape(-1, 2).T
        tables = self._tables(steps, orders, sizes[before], sizes[after])
        n_states = np.concatenate([[0], np.cumsum(sizes[after][tables.steps])])
        return Grounding(
            self.program,
            tables,
            ((NOTHING,), (NOTHING,), *columns),
            tuple(column.observation for column in self.columns),
            tuple(self.step_kinds),
            1 + n_states[tables.sequences[1:]] - n_states[tables.sequences[:-1]],
        )

    def _order(self, column: Column) -> list[int]:
        """The places of a column in the order of its states, whatever came first."""
        return sorted(range(len(column.states)), key=lambda p: self.states[column.states[p]])

    def _tables(
        self, steps: list[list[int]], orders: list[list[int]], n_sources: Longs, n_targets: Longs
    ) -> Tables:
        kind, source, target, clause = (np.array(column, np.int64) for column in self.edges)
        rank = [np.argsort(order) for order in orders]
        starts = np.concatenate([[0], np.cumsum([len(r) for r in rank])])
        ranks = np.concatenate(rank)
        ends = np.array(self.step_kinds, np.int64).reshape(-1, 2)
        source = ranks[starts[ends[kind, 0]] + source]
        target = ranks[starts[ends[kind, 1]] + target]
        order = np.lexsort((clause, target, source, kind))
        rows = np.concatenate([[0], np.cumsum(n_sources)]).astype(np.int64)
        bounds = np.searchsorted((rows[kind] + source)[order], np.arange(rows[-1] + 1))
        return Tables(
            np.cumsum([0, *map(len, steps)], dtype=np.int64),
            np.fromiter(chain.from_iterable(steps), np.int64),
            n_sources,
            n_targets,
            rows,
            bounds.astype(np.int64),
            source[order],
            target[order],
            clause[order],
            *_flat([self.draws[e] for e in order]),
            *_flat([self.opens[e] for e in order]),
        )


def _flat(lists: list[tuple[int, ...]]) -> tuple[Longs, Longs]:
    bounds = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return bounds, np.fromiter(chain.from_iterable(lists), np.int64)
