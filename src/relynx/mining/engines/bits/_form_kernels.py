"""Compiled loops that write down refinements as atoms, and in the form that all variants share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, kernel
from relynx.mining.engines._canonical_kernels import (
    NO_ARGUMENT,
    canonical_atoms,
    has_twins,
    write_atoms,
)
from relynx.mining.engines.bits._event_fact_kernels import DIMENSION, RELATION


@by_reference
class Writing(NamedTuple):
    """What is written of refinements, a row each."""

    atoms: NDArray[np.int64]  # refinements x atoms x (a predicate and its arguments)
    forms: NDArray[np.int32]  # canonical atoms
    n_atoms: NDArray[np.int64]
    distinct: NDArray[np.bool_]  # has no atom twice


@kernel
def write_refinements(facts, graph, chain, children, further, owner, steps, extra, begin, end, out):
    """Write some refinements of the children of a pattern.

    `chain` are the steps of the pattern, `children` and `further` those of its children, `steps`
    and `extra` those of the refinements.
    """
    width = chain.shape[1]
    n_extra = extra.shape[1]
    whole = np.zeros((len(chain) + 2 + 2 * n_extra, width), np.int64)
    for i in range(len(chain)):
        for q in range(width):
            whole[i, q] = chain[i, q]
    for i in range(begin, end):
        n = len(chain)
        for part in range(2):
            if part == 0 and len(children) == 0:
                continue
            for q in range(width):
                whole[n, q] = children[owner[i], q] if part == 0 else steps[i, q]
            n += 1
            for x in range(n_extra):
                for q in range(width):
                    whole[n, q] = 0
                for q in range(4):
                    whole[n, q] = further[owner[i], x, q] if part == 0 else extra[i, x, q]
                if whole[n, DIMENSION] < 0:
                    break
                whole[n, RELATION] = -1
                n += 1
        atoms = out.atoms[i]
        n_atoms = n_variables = np.int64(0)  # literals would be compiled apart
        for a in range(n):
            n_atoms = write_atoms(graph.dimensions, facts.arity, 1, whole[a], atoms, n_atoms)
        out.n_atoms[i] = n_atoms
        for a in range(n_atoms):
            for q in range(1, atoms.shape[1]):
                n_variables = max(n_variables, atoms[a, q] + 1)
        form = np.empty((n_atoms, atoms.shape[1]), np.int64)
        canonical_atoms(atoms[:n_atoms], n_variables, form)
        out.distinct[i] = not has_twins(form)
        for a in range(n_atoms):
            for q in range(form.shape[1]):
                out.forms[i, a, q] = max(form[a, q], NO_ARGUMENT)
