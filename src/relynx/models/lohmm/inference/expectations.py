"""Probabilities, expected counts and columns of ground sequences."""

from __future__ import annotations

from itertools import product

import numpy as np

from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference import _forward_kernels as kernels
from relynx.models.lohmm.inference.ground import MOST_STATES, Grounding
from relynx.models.lohmm.inference.program import Clause, Coded, Program, bound, matched


def logs_of(values: Floats) -> Floats:
    """Logarithms, -inf for 0, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def slot_totals(program: Program, values: Floats) -> Floats:
    """The sum of each selection distribution: 1, but where a caller moves single parameters."""
    starts = program.slot_starts[:-1]
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0)


def weights(grounding: Grounding, values: Floats, *, best: bool = False) -> Floats:
    """The log probability of each edge; what is left open is summed over, or `best` of it taken."""
    program = grounding.program
    totals = slot_totals(program, values)
    if best and len(totals):
        totals = np.maximum.reduceat(values, program.slot_starts[:-1])
    out = np.empty(len(grounding.tables.clauses))
    kernels.weigh(grounding.tables, logs_of(values), logs_of(totals), out)
    return out


def log_probabilities(grounding: Grounding, values: Floats) -> Floats:
    """The log probability of each sequence, -inf where the model cannot show it."""
    out = np.empty(len(grounding.sizes))
    columns = np.empty(grounding.sizes.max(initial=1))
    top = np.empty(grounding.widest)
    kernels.score_all(grounding.tables, weights(grounding, values), top, columns, out)
    return out


def expected_counts(
    grounding: Grounding, values: Floats, factors: Floats | None = None
) -> tuple[Floats, Floats]:
    """How often each parameter is used, and the log probabilities.

    The counts have a row for each sequence, or where `factors` are given one row of all, each
    sequence times its factor.
    """
    program, n = grounding.program, len(grounding.sizes)
    scores = np.empty(n)
    counts = np.zeros((n if factors is None else 1, len(values) + len(program.slots)))
    kernels.count_all(
        grounding.tables,
        weights(grounding, values),
        np.ones(n) if factors is None else factors,
        grounding.sizes,
        np.empty(grounding.widest),
        np.empty((2, grounding.sizes.max(initial=1))),
        scores,
        counts,
    )
    proportions = _proportions(program, values)
    whole = counts[:, : len(values)]
    for d in range(len(program.slots)):
        part = slice(program.slot_starts[d], program.slot_starts[d + 1])
        whole[:, part] += counts[:, [-1 - d]] * proportions[part]
    return whole, scores


def _proportions(program: Program, values: Floats) -> Floats:
    """What each value has of the total of its distribution: how an open draw is counted."""
    totals = slot_totals(program, values)
    sizes = np.diff(program.slot_starts)
    proportions = np.zeros(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        proportions[program.n_clauses :] = values[program.n_clauses :] / np.repeat(totals, sizes)
    return np.nan_to_num(proportions)


def columns(
    grounding: Grounding, values: Floats, *, forward: bool, last: bool = True
) -> list[dict[Atom, float]]:
    """The log forward or backward probabilities of one sequence, a column of states each step.

    The tables hold the last column as one state; without `last` it is left out.
    """
    tables, size = grounding.tables, int(grounding.sizes[0])
    edge_weights, out = weights(grounding, values), np.empty(size)
    if forward:
        kernels.forward(tables, edge_weights, 0, np.empty(grounding.widest), out)
    else:
        kernels.backward(tables, edge_weights, 0, size, out)
    found: list[dict[Atom, float]] = []
    at = 1
    for kind in tables.steps[:-1]:
        states = grounding.columns[grounding.ends[kind][1]]
        row = out[at : at + len(states)].tolist()
        known = [(s, p) for s, p in zip(states, row, strict=True) if p > -np.inf]
        found.append({grounding.program.atom(s): p for s, p in known})
        at += len(states)
    return [*found, _last_column(grounding, values, out, forward=forward)] if last else found


def _last_column(
    grounding: Grounding, values: Floats, out: Floats, *, forward: bool
) -> dict[Atom, float]:
    """The states behind the last step; raises InputError where there are too many."""
    program, tables = grounding.program, grounding.tables
    last = int(tables.steps[-1])
    here = len(out) - 1 - int(tables.n_sources[last])
    logs, found = logs_of(values), dict[Coded, float]()
    row = int(tables.rows[last])
    for e in range(*tables.bounds[[row, row + tables.n_sources[last]]].tolist()):
        clause, binding = fitting(grounding, e)
        weight = logs[clause.number] + out[here + tables.sources[e]]
        weight += logs[tables.draws[tables.draw_bounds[e] : tables.draw_bounds[e + 1]]].sum()
        open_draws = [(v, d) for v, d in clause.head_draws if binding[v] < 0]
        slots = [program.slot_starts[d : d + 2].tolist() for _, d in open_draws]
        if np.prod([float(stop - start) for start, stop in slots]) > MOST_STATES:
            what = f"the last column has more than {MOST_STATES:,} states"
            raise InputError(what, hint="leave out the last observation")
        for codes in product(*(range(stop - start) for start, stop in slots)):
            whole = weight
            for (v, _), (start, _stop), code in zip(open_draws, slots, codes, strict=True):
                binding[v] = code
                whole += logs[start + code]
            state = clause.head[0], bound(clause.head[1], binding)
            before = found.get(state, -np.inf)
            found[state] = float(np.logaddexp(before, whole)) if forward else 0.0
    return {program.atom(s): found[s] for s in sorted(found) if found[s] > -np.inf}


def fitting(grounding: Grounding, e: int) -> tuple[Clause, list[int]]:
    """The clause of an edge of a last step, and what its variables stand for before the draw."""
    program, tables = grounding.program, grounding.tables
    number = int(tables.clauses[e])
    row = int(np.searchsorted(tables.bounds, e, side="right")) - 1
    kind = int(np.searchsorted(tables.rows, row, side="right")) - 1
    column = grounding.ends[kind][0]
    if number < len(program.start):
        clause = program.start[number]
        return clause, [-1] * len(clause.types)
    found = program.body_of(grounding.columns[column][tables.sources[e]])
    assert found is not None  # it has an edge
    body, binding = found
    clause = next(c for clauses in body.blocks for c in clauses if c.number == number)
    whole = binding + [-1] * (len(clause.types) - len(binding))
    matched(clause.observation[1], grounding.shown[column][1], whole)
    return clause, whole
