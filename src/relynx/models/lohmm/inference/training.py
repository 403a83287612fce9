"""Baum-Welch: expectation-maximisation of the parameters, with pseudo-counts."""

from __future__ import annotations

import numpy as np

from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference.expectations import expected_counts, log_probabilities, logs_of
from relynx.models.lohmm.inference.ground import Grounding
from relynx.models.lohmm.inference.program import Program


def baum_welch(
    grounding: Grounding,
    values: Floats,
    factors: Floats,
    pseudo_counts: Floats,
    *,
    max_iter: int,
    tol: float,
) -> tuple[Floats, list[float], list[float]]:
    """Improve the parameters until they gain less than `tol` of the penalised log-likelihood.

    Also returns the log-likelihood before the first and after each iteration; and the penalised
    one, to which the log density of the pseudo-counts is added, and which never decreases.
    """
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
        penalised.append(history[-1] + prior)
        if iteration == max_iter or _settled(penalised, tol):
            break
        values = maximised(program, values, counts[0] + pseudo_counts)
    return values, history, penalised


def _settled(penalised: list[float], tol: float) -> bool:
    if len(penalised) < 2 or not np.isfinite(penalised[-2]):
        return False
    return penalised[-1] - penalised[-2] <= tol * abs(penalised[-2])


def maximised(program: Program, values: Floats, counts: Floats) -> Floats:
    """The share of each count in its distribution; one without counts stays as it is."""
    totals = np.bincount(program.groups, weights=counts)[program.groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(totals > 0, counts / totals, values)


def drawn_values(program: Program, random_state: np.random.RandomState) -> Floats:
    """Parameters drawn at random, each distribution as likely as any other."""
    drawn = random_state.standard_exponential(len(program.groups))
    return np.asarray(drawn / np.bincount(program.groups, weights=drawn)[program.groups])
