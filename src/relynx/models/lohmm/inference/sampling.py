"""Drawing sequences from a model."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference.program import Clause, Coded, Program, bound


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
