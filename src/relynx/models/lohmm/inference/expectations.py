"""Probabilities, expected counts, Baum-Welch, columns and best states of ground sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from relynx.arrays import Floats
from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.models.lohmm.inference import _forward_kernels as kernels
from relynx.models.lohmm.inference.ground import MOST_STATES, Grounding
from relynx.models.lohmm.inference.program import Args, Clause, Coded, Program, bound, matched

TIE = 1e-12  # log probabilities that differ by less count as equal: sums are rounded


def logs_of(values: Floats) -> Floats:
    """Logarithms, -inf for 0, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def slot_totals(program: Program, values: Floats) -> Floats:
    """The sum of each selection distribution: 1, but where a caller moves single parameters."""
    starts = program.slot_starts[:-1]
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0)


def weights(grounding: Grounding, values: Floats) -> Floats:
    """The log probability of each edge; what is left open is summed over."""
    totals = slot_totals(grounding.program, values)
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
    """How often each parameter is used, and the log probabilities. The counts have a row for each
    sequence, or where `factors` are given one row of all, each sequence times its factor."""
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


def baum_welch(
    grounding: Grounding,
    values: Floats,
    factors: Floats,
    pseudo_counts: Floats,
    *,
    max_iter: int,
    tol: float,
) -> tuple[Floats, list[float], list[float]]:
    """Improve the parameters until they gain less than `tol` of the penalised log-likelihood. Also
    returns the log-likelihood before the first and after each iteration; and the penalised one, to
    which the log density of the pseudo-counts is added, and which never decreases."""
    program = grounding.program
    history: list[float] = []
    penalised: list[float] = []
    for iteration in range(max_iter + 1):
        if iteration < max_iter:
            counts, scores = expected_counts(grounding, values, factors)
        else:
            scores = log_probabilities(grounding, values)
        used = factors > 0
        history.append(float(factors[used] @ scores[used]))
        held = pseudo_counts > 0
        prior = float(pseudo_counts[held] @ logs_of(values[held]))
        before = penalised[-1] if penalised else -np.inf
        penalised.append(history[-1] + prior)
        settled = np.isfinite(before) and penalised[-1] - before <= tol * abs(before)
        if iteration == max_iter or settled:
            break
        values = maximised(program, values, counts[0] + pseudo_counts)
    return values, history, penalised


def maximised(program: Program, values: Floats, counts: Floats) -> Floats:
    """The share of each count in its distribution; one without counts stays as it is."""
    totals = np.bincount(program.groups, weights=counts)[program.groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(totals > 0, counts / totals, values)


def drawn_values(program: Program, random_state: np.random.RandomState) -> Floats:
    """Parameters drawn at random, each distribution as likely as any other."""
    drawn = random_state.standard_exponential(len(program.groups))
    return np.asarray(drawn / np.bincount(program.groups, weights=drawn)[program.groups])


def columns(
    grounding: Grounding, values: Floats, *, forward: bool, last: bool = True
) -> list[dict[Atom, float]]:
    """The log forward or backward probabilities of one sequence, a column of states each step. The
    tables hold the last column as one state; without `last` it is left out."""
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
    program, tables, logs = grounding.program, grounding.tables, logs_of(values)
    last, found = int(tables.steps[-1]), dict[Coded, float]()
    for row, before in enumerate(out[-1 - tables.n_sources[last] : -1], tables.rows[last]):
        for predicate, (heads, draws) in _heads_of(grounding, logs, row).items():
            for weight, args in heads:
                opens = {arg: draws[args.index(arg)] for arg in args if arg < 0}
                if np.prod([float(len(part)) for part in opens.values()]) > MOST_STATES:
                    what = f"the last column has more than {MOST_STATES:,} states"
                    raise InputError(what, hint="leave out the last observation")
                for codes in product(*(range(len(part)) for part in opens.values())):
                    known = dict(zip(opens, codes, strict=True))
                    state = predicate, tuple(known.get(arg, arg) for arg in args)
                    whole = before + weight + sum(opens[arg][code] for arg, code in known.items())
                    whole = np.logaddexp(found.get(state, -np.inf), whole)
                    found[state] = float(whole) if forward else 0.0
    return {program.atom(s): found[s] for s in sorted(found) if found[s] > -np.inf}


def _fitting(grounding: Grounding, e: int) -> tuple[Clause, list[int]]:
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


def best_path(grounding: Grounding, values: Floats) -> tuple[list[Atom], float]:
    """The most probable states of one sequence, and their log probability."""
    tables, size = grounding.tables, int(grounding.sizes[0])
    edges, scores, back = weights(grounding, values), np.empty(size), np.empty(size, np.int64)
    kernels.best_paths(tables, edges, 0, scores, back)
    last = int(tables.steps[-1])
    row, at = int(tables.rows[last]), size - 1 - int(tables.n_sources[last])
    # The tables do not hold the states behind the last step, of which there may be too many: from
    # each state before it, most promising first, the best one is found, while it may be better.
    ceilings, bounds = np.full(size - 1 - at, -np.inf), tables.bounds
    some = slice(*bounds[[row, row + len(ceilings)]].tolist())
    np.logaddexp.at(ceilings, tables.sources[some], edges[some])
    ceilings += scores[at:-1]
    score, states, place = -np.inf, list[Coded](), -1
    for before in np.argsort(-ceilings, kind="stable").tolist():
        if ceilings[before] <= score + TIE:
            break
        for predicate, heads in _heads_of(grounding, logs_of(values), row + before).items():
            weight, args = best_instance(*heads)
            if weight + scores[at + before] > score + TIE:
                score, place = weight + float(scores[at + before]), before
                states = [(predicate, args)]
    for kind in tables.steps[-2::-1] if states else ():
        states.append(grounding.columns[grounding.ends[kind][1]][place])
        place = int(back[at + place])
        at -= int(tables.n_sources[kind])
    return [grounding.program.atom(state) for state in reversed(states)], score


def _heads_of(
    grounding: Grounding, logs: Floats, row: int
) -> dict[int, tuple[list[tuple[float, Args]], list[Floats]]]:
    """Where a state goes in the last step: for each predicate its heads, weighed without the open
    draws, and for each argument the log probabilities of the values that are drawn there."""
    program, tables = grounding.program, grounding.tables
    found: dict[int, tuple[list[tuple[float, Args]], list[Floats]]] = {}
    for e in range(*tables.bounds[[row, row + 1]].tolist()):
        clause, binding = _fitting(grounding, e)
        predicate, head = clause.head
        sizes = [len(program.constants[type_]) for type_ in program.argument_types[predicate]]
        heads, draws = found.setdefault(predicate, ([], [*map(np.zeros, sizes)]))
        drawn = tables.draws[tables.draw_bounds[e] : tables.draw_bounds[e + 1]]
        heads.append((float(logs[clause.number] + logs[drawn].sum()), bound(head, binding)))
        for variable, d in clause.head_draws:
            draws[head.index(-1 - variable)] = logs[slice(*program.slot_starts[d : d + 2])]
    return found


def best_instance(
    heads: list[tuple[float, Args]], draws: list[Floats], known: Args = ()
) -> tuple[float, Args]:
    """The arguments for which the weights of all heads that have this instance add up to the most.
    Heads have the arguments that are `known`. Of the values that no head names only the one that is
    drawn most often can be best, unless another argument takes the same value."""
    i = len(known)
    if i == len(draws):
        return float(np.logaddexp.reduce([weight for weight, _ in heads])), known
    values: Sequence[int] = range(len(draws[i]))
    if not any(args[i] < 0 and args[i] in args[i + 1 :] for _, args in heads):
        named, others = sorted({args[i] for _, args in heads if args[i] >= 0}), draws[i].copy()
        others[named] = -np.inf
        values = sorted({*named, int(others.argmax())})
    best: tuple[float, Args] = -np.inf, known
    for value in values:
        fitting = [
            (
                weight + (draws[i][value] if args[i] < 0 else 0.0),
                tuple(value if arg == args[i] else arg for arg in args),
            )
            for weight, args in heads
            if args[i] < 0 or args[i] == value
        ]
        found = best_instance(fitting, draws, (*known, value)) if fitting else best
        best = found if found[0] > best[0] + TIE else best
    return best
