"""The most probable states of a sequence: transitions between the same two states add up."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from relynx.logic.terms import Atom
from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference import _forward_kernels as kernels
from relynx.models.lohmm.inference.expectations import fitting, logs_of, weights
from relynx.models.lohmm.inference.ground import NOTHING, Grounding
from relynx.models.lohmm.inference.program import Args, Coded, bound

TIE = 1e-12  # log probabilities that differ by less are equal: sums are rounded

Heads: TypeAlias = list[tuple[float, Args]]  # each with its log weight


def best_path(grounding: Grounding, values: Floats) -> tuple[list[Atom], float]:
    """The most probable states of one sequence, and their log probability."""
    program, tables, size = grounding.program, grounding.tables, int(grounding.sizes[0])
    scores, back = np.empty(size), np.empty(size, np.int64)
    kernels.best_paths(tables, weights(grounding, values), 0, scores, back)
    at = size - 1 - int(tables.n_sources[tables.steps[-1]])  # where the last column begins
    score, last, place = _best_end(grounding, values, scores[at:-1])
    if score == -np.inf:
        return [], score
    states = [last]
    for kind in tables.steps[-2::-1]:
        states.append(grounding.columns[grounding.ends[kind][1]][place])
        place = int(back[at + place])
        at -= int(tables.n_sources[kind])
    return [program.atom(state) for state in reversed(states)], score


def _best_end(grounding: Grounding, values: Floats, reached: Floats) -> tuple[float, Coded, int]:
    """The best state behind the last step: the log probability of the path, the state, and the
    place of the one before, of which `reached` has the log probabilities.

    The tables hold no such states, of which there may be too many. Bounds leave few to look at.
    """
    tables, last, logs = grounding.tables, int(grounding.tables.steps[-1]), logs_of(values)
    row = int(tables.rows[last])
    edges = slice(*tables.bounds[[row, row + len(reached)]].tolist())
    ceilings = np.full(len(reached), -np.inf)  # as if all edges drew their best values
    np.logaddexp.at(ceilings, tables.sources[edges], weights(grounding, values, best=True)[edges])
    ceilings += reached
    best: tuple[float, Coded, int] = -np.inf, NOTHING, -1
    for place in np.argsort(-ceilings, kind="stable").tolist():
        if ceilings[place] <= best[0] + TIE:
            break
        for predicate, (heads, draws) in _heads_of(grounding, logs, row + place).items():
            weight, args = best_instance(heads, draws)
            if weight + reached[place] > best[0] + TIE:
                best = weight + float(reached[place]), (predicate, args), place
    return best


def _heads_of(
    grounding: Grounding, logs: Floats, row: int
) -> dict[int, tuple[Heads, list[Floats]]]:
    """Where a state goes in the last step: for each predicate its heads, weighed without the open
    draws, and for each argument the log probabilities of the values that are drawn there."""
    program, tables = grounding.program, grounding.tables
    found: dict[int, tuple[Heads, list[Floats]]] = {}
    for e in range(*tables.bounds[[row, row + 1]].tolist()):
        clause, binding = fitting(grounding, e)
        predicate, head = clause.head
        sizes = [len(program.constants[type_]) for type_ in program.argument_types[predicate]]
        heads, draws = found.setdefault(predicate, ([], [*map(np.zeros, sizes)]))
        drawn = tables.draws[tables.draw_bounds[e] : tables.draw_bounds[e + 1]]
        heads.append((float(logs[clause.number] + logs[drawn].sum()), bound(head, binding)))
        for variable, d in clause.head_draws:
            start, stop = program.slot_starts[d : d + 2].tolist()
            draws[head.index(-1 - variable)] = logs[start:stop]
    return found


def best_instance(heads: Heads, draws: list[Floats], known: Args = ()) -> tuple[float, Args]:
    """The arguments for which the weights of all heads with this instance add up to the most.

    Branch and bound, argument by argument: those before are `known`, and all heads have them.
    """
    i = len(known)
    if i == len(draws):
        return float(np.logaddexp.reduce([weight for weight, _ in heads])), known
    ceilings = np.full(len(draws[i]), -np.inf)  # as if each head drew its best values
    for weight, args in heads:
        opens = [j for j in range(i + 1, len(args)) if args[j] < 0 and args[j] not in args[i:j]]
        most = weight + sum(float(draws[j].max()) for j in opens)
        if args[i] < 0:
            ceilings = np.logaddexp(ceilings, most + draws[i])
        else:
            ceilings[args[i]] = np.logaddexp(ceilings[args[i]], most)
    if not any(args[i] < 0 and args[i] in args[i + 1 :] for _, args in heads):
        # Of the values that no head names, none is better than the one drawn most often.
        order = np.argsort(-draws[i], kind="stable")
        others = order[~np.isin(order, [args[i] for _, args in heads])]
        ceilings[others[1:]] = -np.inf
    best: tuple[float, Args] = -np.inf, known
    for value in np.argsort(-ceilings, kind="stable").tolist():
        if ceilings[value] <= best[0] + TIE:
            break
        fitting_heads = [
            (weight + float(draws[i][value]), _replaced(args, args[i], value))
            if args[i] < 0
            else (weight, args)
            for weight, args in heads
            if args[i] < 0 or args[i] == value
        ]
        found = best_instance(fitting_heads, draws, (*known, value))
        if found[0] > best[0] + TIE:
            best = found
    return best


def _replaced(args: Args, variable: int, value: int) -> Args:
    return tuple(value if arg == variable else arg for arg in args)
