"""Compiled loops that write down refinements as atoms, and in the form that all variants share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, kernel
from relynx.mining.engines._canonical_kernels import canonical_atoms
from relynx.mining.engines.bits._event_fact_kernels import (
    ARGUMENTS,
    DIMENSION,
    FROM,
    N_STEPS,
    RELATION,
    TO,
)

UNUSED = -(1 << 40)  # where an atom has fewer arguments than there is room for
NO_ARGUMENT = -(1 << 31)  # the same, in a form


@by_reference
class Writing(NamedTuple):
    """What is written of refinements, a row each."""

    atoms: NDArray[np.int64]  # refinements x atoms x (a predicate and its arguments)
    forms: NDArray[np.int32]  # canonical atoms
    n_atoms: NDArray[np.int64]
    distinct: NDArray[np.bool_]  # has no atom twice


@inlined
def write_link(graph, n_relations, dimension, n_steps, start, to, out):
    """A link as an atom: links are numbered after the relations."""
    i = 0
    while graph.dimensions[i] != dimension:
        i += 1
    out[0] = n_relations + n_steps * len(graph.dimensions) + i
    out[1], out[2] = start, to


@inlined
def write_steps(facts, graph, steps, begin, out, n):
    """Append the atoms of some steps to rows of which n are in use; how many then are."""
    n_relations = len(facts.arity)
    for i in range(begin, len(steps)):
        if steps[i, DIMENSION] >= 0:
            for q in range(out.shape[1]):
                out[n, q] = UNUSED
            write_link(
                graph,
                n_relations,
                steps[i, DIMENSION],
                steps[i, N_STEPS],
                steps[i, FROM],
                steps[i, TO],
                out[n],
            )
            n += 1
        relation = steps[i, RELATION]
        if relation >= 0:
            for q in range(1, out.shape[1]):
                out[n, q] = (
                    steps[i, ARGUMENTS + q - 1] if q <= facts.arity[relation] + 1 else UNUSED
                )
            out[n, 0] = relation
            n += 1
    return n


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
        n_atoms = write_steps(facts, graph, whole[:n], 0, atoms, 0)
        out.n_atoms[i] = n_atoms
        n_variables = np.int64(0)  # a literal would be compiled apart
        for a in range(n_atoms):
            for q in range(1, atoms.shape[1]):
                n_variables = max(n_variables, atoms[a, q] + 1)
        form = np.empty((n_atoms, atoms.shape[1]), np.int64)
        canonical_atoms(atoms[:n_atoms], n_variables, form)
        out.distinct[i] = True
        for a in range(n_atoms):
            same = a > 0
            for q in range(form.shape[1]):
                same = same and form[a, q] == form[a - 1, q]
                out.forms[i, a, q] = max(form[a, q], NO_ARGUMENT)
            if same:
                out.distinct[i] = False
