"""A plain twin of `LoHMM`: every definition of the model as a loop over atoms and dictionaries.

Probabilities are plain floats, so sequences must be short. Nothing is compiled, and nothing is
remembered unless `remember` is set.
"""

from __future__ import annotations

from itertools import product

from relynx.logic.terms import Atom, Var

END = Atom("end")


def renamed(atoms, number=0):
    """The atoms with each `_` a variable of its own."""
    fresh = (Var(f"_{number}_{i}") for i in range(99))
    return [
        Atom(a.predicate, tuple(next(fresh) if arg == Var("_") else arg for arg in a.args))
        for a in atoms
    ]


def matched(pattern, atom, binding):
    """The binding with what makes the pattern the atom, whose variables count as constants."""
    if pattern.key != atom.key:
        return None
    found = dict(binding)
    for left, right in zip(pattern.args, atom.args, strict=True):
        if isinstance(left, Var):
            if found.setdefault(left.name, right) != right:
                return None
        elif type(left) is not type(right) or left != right:
            return None
    return found


def substituted(atom, binding):
    return Atom(
        atom.predicate,
        tuple(binding.get(a.name, a) if isinstance(a, Var) else a for a in atom.args),
    )


class Twin:
    """The model with `values` as its parameters (those of the model where None)."""

    def __init__(self, model, values=None, *, remember=False):
        self.model = model
        self.start = [(i, *renamed([c.head])) for i, c in enumerate(model.start)]
        n = len(self.start)
        self.transitions = [
            (n + i, t.block, *renamed([t.head, t.observation, t.body]))
            for i, t in enumerate(model.transitions)
        ]
        self.bodies = []
        for _, _, _, _, body in self.transitions:
            if not any(same(body, other) for other in self.bodies):
                self.bodies.append(body)
        self.where = {}
        at = n + len(self.transitions)
        for slot in model.selections:
            for value in model.values[self.kind(slot)]:
                self.where[slot, value] = at
                at += 1
        self.values = list(model.parameters.values if values is None else values)
        assert len(self.values) == at
        self.memory = {} if remember else None

    def kind(self, slot):
        return slot if isinstance(slot, str) else self.model.types[slot[0], slot[1]][slot[2] - 1]

    def block(self, t):
        """The block of step t, both counted from 1."""
        return sum(t >= first for first in self.model.blocks)

    def groundings(self, atom, binding):
        """Every grounding of an atom: the binding, the parameters drawn, their product."""
        if atom.key not in self.model.types and atom.args:
            raise AssertionError(atom)
        free = {}
        for i, arg in enumerate(atom.args):
            if isinstance(arg, Var) and arg.name not in binding and arg.name not in free:
                kind = self.model.types[atom.key][i]
                free[arg.name] = kind if self.model.selection == "type" else (*atom.key, i + 1)
        for values in product(*(self.model.values[self.kind(slot)] for slot in free.values())):
            draws = [self.where[slot, v] for slot, v in zip(free.values(), values, strict=True)]
            p = 1.0
            for draw in draws:
                p *= self.values[draw]
            yield {**binding, **dict(zip(free, values, strict=True))}, draws, p

    def applicable(self, state, t):
        """The transitions of the most specific body, each with the match of its body."""
        fitting = [body for body in self.bodies if matched(body, state, {}) is not None]
        best = [
            body
            for body in fitting
            if all(matched(other, body, {}) is not None for other in fitting)
        ]
        if not best:
            return
        for number, block, head, observation, body in self.transitions:
            if same(body, best[0]) and block in (None, self.block(t)):
                yield number, head, observation, matched(body, state, {})

    def begin(self):
        """Every way to start: the parameters used, the state, the probability."""
        for number, head in self.start:
            for binding, draws, p in self.groundings(head, {}):
                yield [number, *draws], substituted(head, binding), self.values[number] * p

    def steps(self, state, t):
        """Every step from a state: parameters, next state, observation, probability."""
        for number, head, observation, binding in self.applicable(state, t):
            for with_head, draws, p in self.groundings(head, binding):
                for whole, more, q in self.groundings(observation, with_head):
                    used = [number, *draws, *more]
                    into, shown = substituted(head, whole), substituted(observation, whole)
                    yield used, into, shown, self.values[number] * p * q

    def showing(self, state, t, shown):
        """The steps that show an observation: unified with it before the head is grounded."""
        key = state, shown, self.block(t)
        if self.memory is not None and key in self.memory:
            ways = self.memory[key]
        else:
            ways = list(self._showing(state, t, shown))
            if self.memory is not None:
                self.memory[key] = ways
        for used, into in ways:
            p = 1.0
            for parameter in used:
                p *= self.values[parameter]
            yield used, into, p

    def _showing(self, state, t, shown):
        kinds = self.model.types.get(shown.key, ())
        if any(c not in self.model.values[k] for c, k in zip(shown.args, kinds, strict=False)):
            return
        for number, head, observation, binding in self.applicable(state, t):
            known = matched(substituted(observation, binding), shown, {})
            if known is None:
                continue
            for with_head, _, _ in self.groundings(head, {**binding, **known}):
                draws = self.drawn(head, binding)
                draws += self.drawn(observation, {**binding, **dict(draws)})
                used = [number, *(self.where[slot, with_head[name]] for name, slot in draws)]
                yield used, substituted(head, with_head)

    def drawn(self, atom, binding):
        """The variables of an atom that are drawn, with their first places."""
        found = {}
        for i, arg in enumerate(atom.args):
            if isinstance(arg, Var) and arg.name not in binding and arg.name not in found:
                kind = self.model.types[atom.key][i]
                found[arg.name] = kind if self.model.selection == "type" else (*atom.key, i + 1)
        return list(found.items())

    @property
    def ends(self):
        clauses = (*self.model.start, *self.model.transitions)
        return any(clause.head == END for clause in clauses)

    def forward(self, sequence):
        columns = [{}]
        for _, state, p in self.begin():
            columns[0][state] = columns[0].get(state, 0.0) + p
        for t, shown in enumerate(sequence, start=1):
            column = {}
            for state, before in columns[-1].items():
                for _, into, p in self.showing(state, t, shown):
                    column[into] = column.get(into, 0.0) + before * p
            columns.append(column)
        return columns

    def probability(self, sequence):
        last = self.forward(sequence)[-1]
        return last.get(END, 0.0) if self.ends else sum(last.values())

    def backward(self, sequence, columns):
        """For the states of the forward columns."""
        after = {s: float(s == END or not self.ends) for s in columns[-1]}
        found = [after]
        for t in range(len(sequence), 0, -1):
            column = {
                state: sum(
                    p * found[0].get(into, 0.0)
                    for _, into, p in self.showing(state, t, sequence[t - 1])
                )
                for state in columns[t - 1]
            }
            found.insert(0, column)
        return found

    def counts(self, sequence):
        """Expected uses of each parameter, and the probability."""
        columns = self.forward(sequence)
        after = self.backward(sequence, columns)
        whole = self.probability(sequence)
        counts = [0.0] * len(self.values)
        if whole == 0:
            return counts, whole
        for used, state, p in self.begin():
            for parameter in used:
                counts[parameter] += p * after[0][state] / whole
        for t, shown in enumerate(sequence, start=1):
            for state, before in columns[t - 1].items():
                for used, into, p in self.showing(state, t, shown):
                    for parameter in used:
                        counts[parameter] += before * p * after[t][into] / whole
        return counts, whole

    def state_sequences(self, sequence):
        """The probability of each sequence of states together with the observations.

        All derivations are followed one by one; those with the same states add up.
        """
        found = {}

        def go(states, p):
            t = len(states)
            if t > len(sequence):
                if states[-1] == END or not self.ends:
                    found[states] = found.get(states, 0.0) + p
                return
            for _, into, q in self.showing(states[-1], t, sequence[t - 1]):
                if q > 0:
                    go((*states, into), p * q)

        for _, state, p in self.begin():
            if p > 0:
                go((state,), p)
        return found

    def all_sequences(self, length):
        """Every sequence of a length with its probability, by going through all paths.

        With an `end`, those of at most this length that end.
        """
        found = {}

        def go(state, shown, p):
            done = state == END if self.ends else len(shown) == length
            if done:
                found[shown] = found.get(shown, 0.0) + p
            if state == END or len(shown) == length:
                return
            for _, into, observation, q in self.steps(state, len(shown) + 1):
                go(into, (*shown, observation), p * q)

        for _, state, p in self.begin():
            go(state, (), p)
        return found

    def improved(self, sequences, *, pseudo_count, selection_pseudo_count, weights=None):
        """One iteration of Baum-Welch: the new parameters and the old probabilities."""
        weights = [1.0] * len(sequences) if weights is None else weights
        n = len(self.start) + len(self.transitions)
        totals = [pseudo_count] * n + [selection_pseudo_count] * (len(self.values) - n)
        probabilities = []
        for sequence, weight in zip(sequences, weights, strict=True):
            counts, whole = self.counts(sequence)
            probabilities.append(whole)
            totals = [a + weight * b for a, b in zip(totals, counts, strict=True)]
        values = list(self.values)
        for group in self.groups():
            whole = sum(totals[i] for i in group)
            if whole > 0:
                for i in group:
                    values[i] = totals[i] / whole
        return values, probabilities

    def groups(self):
        """The parameters of each distribution."""
        groups = [[number for number, _ in self.start]]
        for body in self.bodies:
            of_body = [(n, block) for n, block, _, _, b in self.transitions if same(b, body)]
            for block in {block for _, block in of_body}:
                groups.append([n for n, of in of_body if of == block])
        for slot in self.model.selections:
            groups.append([self.where[slot, v] for v in self.model.values[self.kind(slot)]])
        return groups


def same(left, right):
    """Whether two atoms differ in the names of variables only."""
    return matched(left, right, {}) is not None and matched(right, left, {}) is not None
