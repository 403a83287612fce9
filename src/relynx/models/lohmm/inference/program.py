"""A model with numbers in place of names: what grounding and sampling work on.

An argument that is a constant is its place among the values of its type; a variable is a number
below 0, -1 for the first. The variables of a body come first in all its clauses, in the same order,
so that one match of the body serves them all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from relynx.arrays import Floats, Longs
from relynx.errors import InputError
from relynx.logic.terms import Atom, Constant, Var, constant_key
from relynx.models.lohmm import clauses as cl

Args: TypeAlias = tuple[int, ...]
Coded: TypeAlias = tuple[int, Args]  # a predicate and its arguments


@dataclass(frozen=True, slots=True)
class Clause:
    """A start clause or a transition; `number` is that of its parameter. `types` has the type of
    each variable, those of the body first. `head_draws` and `observation_draws` are the variables
    that are drawn there, each with the number of its distribution. `ends` says that the head is
    `end`."""

    number: int
    head: Coded
    observation: Coded
    types: tuple[int, ...]
    head_draws: tuple[tuple[int, int], ...]
    observation_draws: tuple[tuple[int, int], ...]
    ends: bool


@dataclass(frozen=True, slots=True)
class Body:
    """A body and its clauses; `blocks` has one list for all steps, or one for each block."""

    pattern: Coded
    n_variables: int
    blocks: tuple[tuple[Clause, ...], ...]

    def clauses(self, block: int) -> tuple[Clause, ...]:
        return self.blocks[block if len(self.blocks) > 1 else 0]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The clauses of a model in numbers, without its probabilities. `bodies` has those of each
    predicate, the most specific first. `slots` are the distributions that are drawn from; the
    parameters of slot d begin at `slot_starts[d]`, after those of the clauses. `n_clauses` counts
    the start clauses and the transitions."""

    predicates: Mapping[cl.Key, int]
    keys: tuple[cl.Key, ...]
    argument_types: tuple[tuple[int, ...], ...]
    constants: tuple[tuple[Constant, ...], ...]
    codes: tuple[Mapping[object, int], ...]
    start: tuple[Clause, ...]
    bodies: Mapping[int, tuple[Body, ...]]
    observed_by: Mapping[int, tuple[tuple[Body, Clause], ...]]
    slots: tuple[cl.Slot, ...]
    slot_starts: Longs
    groups: Longs
    names: tuple[str, ...]
    n_clauses: int
    block_starts: Longs
    has_end: bool

    def same_clauses(self, other: Program) -> bool:
        """Whether the numbers of one mean the same in the other."""
        return self is other or (
            self.names == other.names
            and self.constants == other.constants
            and self.groups.tolist() == other.groups.tolist()
            and self.block_starts.tolist() == other.block_starts.tolist()
        )

    def coded(self, atom: Atom) -> Coded | None:
        """A ground atom in numbers; None where its predicate or a constant is unknown."""
        predicate = self.predicates.get(atom.key)
        if predicate is None:
            return None
        args = [
            self.codes[type_].get(constant_key(arg)) if isinstance(arg, str | int | float) else None
            for arg, type_ in zip(atom.args, self.argument_types[predicate], strict=True)
        ]
        known = tuple(code for code in args if code is not None)
        return (predicate, known) if len(known) == len(args) else None

    def atom(self, coded: Coded) -> Atom:
        """The ground atom of its numbers."""
        name, _ = self.keys[coded[0]]
        types = self.argument_types[coded[0]]
        return Atom(
            name, tuple(self.constants[type_][c] for type_, c in zip(types, coded[1], strict=True))
        )

    def body_of(self, state: Coded) -> tuple[Body, list[int]] | None:
        """The most specific body that a ground state fits, and what its variables stand for."""
        for body in self.bodies.get(state[0], ()):
            binding = matched(body.pattern[1], state[1], [-1] * body.n_variables)
            if binding is not None:
                return body, binding
        return None

    def blocks_of(self, length: int) -> Longs:
        """The block of each step of a sequence, counted from 0."""
        steps = np.arange(1, length + 1)
        return np.searchsorted(self.block_starts, steps, side="right").astype(np.int64) - 1


def matched(pattern: Args, ground: Args, binding: list[int]) -> list[int] | None:
    """The binding with what makes the pattern the ground atom; -1 is unbound. None if nothing does.
    The list that is given is changed."""
    for arg, code in zip(pattern, ground, strict=True):
        if arg >= 0:
            if arg != code:
                return None
        elif binding[-arg - 1] < 0:
            binding[-arg - 1] = code
        elif binding[-arg - 1] != code:
            return None
    return binding


def bound(pattern: Args, binding: Sequence[int]) -> Args:
    """The pattern with its bound variables replaced."""
    return tuple(
        binding[-arg - 1] if arg < 0 and binding[-arg - 1] >= 0 else arg for arg in pattern
    )


def unified(left: Args, right: Args) -> dict[int, int] | None:
    """What the variables of two patterns stand for when the two are one; None if they never are.
    The patterns share no variable. A variable may stand for another: see `walked`."""
    found: dict[int, int] = {}
    for x, y in zip(left, right, strict=True):
        x, y = walked(x, found), walked(y, found)
        if x == y:
            continue
        if x < 0:
            found[x] = y
        elif y < 0:
            found[y] = x
        else:
            return None
    return found


def walked(arg: int, found: Mapping[int, int]) -> int:
    """The constant, or the last variable, that an argument stands for."""
    while arg < 0 and arg in found:
        arg = found[arg]
    return arg


def apart(pattern: Args, by: int) -> Args:
    """The pattern with its variables renamed, so that they differ from the first `by`."""
    return tuple(arg - by if arg < 0 else arg for arg in pattern)


def subsumes(general: Args, special: Args) -> bool:
    """Whether the second pattern is an instance of the first."""
    found: dict[int, int] = {}
    for x, y in zip(general, special, strict=True):
        if x >= 0:
            if x != y:
                return False
        elif found.setdefault(x, y) != y:
            return False
    return True


class Compiler:
    """Turns the clauses of a model, which have been checked, into a `Program`."""

    def __init__(self, model: cl.Clauses) -> None:
        self.model = model
        self.type_numbers = {type_: i for i, type_ in enumerate(model.values)}
        self.codes = tuple(cl.value_codes(model.values).values())
        self.predicates: dict[cl.Key, int] = {}
        self.slots: dict[cl.Slot, int] = {}

    def program(self, start: Sequence[cl.Start], transitions: Sequence[cl.Transition]) -> Program:
        """The program of the clauses in this order."""
        groups = [0] * len(start)
        n_groups = int(bool(start))
        first = tuple(self._clause(i, c.head, None, None)[0] for i, c in enumerate(start))
        bodies: dict[object, tuple[Coded, list[list[Clause]]]] = {}
        seen: dict[object, int] = {}
        for number, t in enumerate(transitions, start=len(start)):
            clause, pattern = self._clause(number, t.head, t.observation, t.body)
            assert pattern is not None  # a transition has a body
            key = cl.variant_key([t.body])
            _, lists = bodies.setdefault(key, (pattern, []))
            while len(lists) < (t.block or 1):
                lists.append([])
            lists[(t.block or 1) - 1].append(clause)
            group = seen.setdefault((key, t.block), n_groups)
            n_groups = max(n_groups, group + 1)
            groups.append(group)
        clauses = [*first, *(c for _, lists in bodies.values() for of in lists for c in of)]
        made = [
            Body(pattern, len({arg for arg in pattern[1] if arg < 0}), tuple(map(tuple, lists)))
            for pattern, lists in bodies.values()
        ]
        names = [c.clause() for c in start] + [t.clause() for t in transitions]
        n_clauses = len(names)
        starts: list[int] = []
        for slot in self.slots:
            starts.append(len(names))
            constants = self.model.values[self.model.slot_type(slot)]
            names += [cl.slot_name(slot, constant) for constant in constants]
            groups += [n_groups] * len(constants)
            n_groups += 1
        return Program(
            predicates=dict(self.predicates),
            keys=tuple(self.predicates),
            argument_types=tuple(self._types(key) for key in self.predicates),
            constants=tuple(map(tuple, self.model.values.values())),
            codes=self.codes,
            start=first,
            bodies=_by_state(made),
            observed_by=_by_observation(made),
            slots=tuple(self.slots),
            slot_starts=np.array([*starts, len(names)], np.int64),
            groups=np.array(groups, np.int64),
            names=tuple(names),
            n_clauses=n_clauses,
            block_starts=np.array(self.model.blocks or (1,), np.int64),
            has_end=any(clause.ends for clause in clauses),
        )

    def _types(self, key: cl.Key) -> tuple[int, ...]:
        return tuple(self.type_numbers[type_] for type_ in self.model.types.get(key, ()))

    def _clause(
        self, number: int, head: Atom, observation: Atom | None, body: Atom | None
    ) -> tuple[Clause, Coded | None]:
        variables: dict[object, int] = {}
        types: list[int] = []
        body_part = self._coded(body, variables, types) if body is not None else None
        n_bound = len(types)
        head_part = self._coded(head, variables, types)
        n_head = len(types)
        shown = observation if observation is not None else cl.END
        observation_part = self._coded(shown, variables, types)
        clause = Clause(
            number,
            head_part,
            observation_part,
            tuple(types),
            self._draws(head, head_part, range(n_bound, n_head)),
            self._draws(shown, observation_part, range(n_head, len(types))),
            head == cl.END,
        )
        return clause, body_part

    def _coded(self, atom: Atom, variables: dict[object, int], types: list[int]) -> Coded:
        predicate = self.predicates.setdefault(atom.key, len(self.predicates))
        args: list[int] = []
        for arg, type_ in zip(atom.args, self._types(atom.key), strict=True):
            if isinstance(arg, Var):
                name: object = len(types) if arg.anonymous else arg.name
                if name not in variables:
                    variables[name] = len(types)
                    types.append(type_)
                args.append(-variables[name] - 1)
            else:
                assert isinstance(arg, str | int | float)  # the checks refuse other terms
                args.append(self.codes[type_][constant_key(arg)])
        return predicate, tuple(args)

    def _draws(self, atom: Atom, coded: Coded, new: range) -> tuple[tuple[int, int], ...]:
        """The new variables, each with the distribution of its first place in the atom. New in a
        head are those that the body lacks, in an observation those that neither has."""
        draws: list[tuple[int, int]] = []
        for variable in new:
            slot: cl.Slot = (*atom.key, coded[1].index(-variable - 1) + 1)
            if self.model.selection == "type":
                slot = self.model.slot_type(slot)
            draws.append((variable, self.slots.setdefault(slot, len(self.slots))))
        return tuple(draws)


def _by_state(bodies: Sequence[Body]) -> dict[int, tuple[Body, ...]]:
    """The bodies of each predicate, the most specific first: an instance has fewer variables."""
    found: dict[int, list[Body]] = {}
    for body in bodies:
        found.setdefault(body.pattern[0], []).append(body)
    return {
        predicate: tuple(sorted(of_one, key=lambda body: body.n_variables))
        for predicate, of_one in found.items()
    }


def _by_observation(bodies: Sequence[Body]) -> dict[int, tuple[tuple[Body, Clause], ...]]:
    """The bodies that show each predicate, each with one clause for each way to show it."""
    found: dict[int, dict[tuple[int, Args], tuple[Body, Clause]]] = {}
    for number, body in enumerate(bodies):
        for clause in (clause for of in body.blocks for clause in of):
            predicate, args = clause.observation
            found.setdefault(predicate, {}).setdefault((number, args), (body, clause))
    return {predicate: tuple(pairs.values()) for predicate, pairs in found.items()}


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws step by step, each choice by the probabilities of the parameters."""

    program: Program
    values: Floats
    random_state: np.random.RandomState

    def sequence(self, length: int) -> tuple[list[Atom], bool]:
        """A sequence of so many observations, or fewer when `end` is reached, and whether it is."""
        clause, blocks = self._clause(self.program.start), self.program.block_starts.tolist()
        binding = [-1] * len(clause.types)
        state = self._head(clause, binding)
        shown: list[Atom] = []
        for step in range(1, length + 1):
            if clause.ends:
                break
            found = self.program.body_of(state)
            assert found is not None  # the checks of the model see to it
            body, bound_before = found
            clause = self._clause(body.clauses(bisect_right(blocks, step) - 1))
            binding = bound_before + [-1] * (len(clause.types) - len(bound_before))
            state = self._head(clause, binding)
            for variable, slot in clause.observation_draws:
                binding[variable] = self._value(slot)
            observation = clause.observation[0], bound(clause.observation[1], binding)
            shown.append(self.program.atom(observation))
        return shown, clause.ends

    def _head(self, clause: Clause, binding: list[int]) -> Coded:
        for variable, slot in clause.head_draws:
            binding[variable] = self._value(slot)
        return clause.head[0], bound(clause.head[1], binding)

    def _clause(self, clauses: tuple[Clause, ...]) -> Clause:
        return clauses[self._choice(self.values[[clause.number for clause in clauses]])]

    def _value(self, slot: int) -> int:
        starts = self.program.slot_starts
        return self._choice(self.values[starts[slot] : starts[slot + 1]])

    def _choice(self, probabilities: Floats) -> int:
        """A place by its share; one of share 0 is never taken."""
        totals = np.cumsum(probabilities)
        if totals[-1] == 0:
            raise InputError("nothing can be drawn: all probabilities of a distribution are 0")
        point = self.random_state.random_sample() * totals[-1]
        found = int(np.searchsorted(totals, point, side="right"))
        return min(found, int(np.flatnonzero(probabilities)[-1]))
