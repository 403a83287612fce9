"""All candidate literals of a node, counted in one pass over its examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relynx.bias.modes import EVENT
from relynx.logic.terms import Atom, Term, Var
from relynx.models.tildecrf import _crf_kernels as kernels
from relynx.models.tildecrf.candidates import FREE, Candidates, Literals
from relynx.models.tildecrf.encoding import Encoding, Ints
from relynx.models.tildecrf.literals import Scope
from relynx.models.tildecrf.trees import Floats, Part


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Candidates with the sum of the residuals, and the weight, of the examples they hold in.

    The axes are the anchor, the literal and, of joins, the second variable. `shift` is added to
    the number of the latter.
    """

    literals: Literals
    sums: Floats
    weights: Floats
    shift: int = 0


def counted(
    candidates: Candidates,
    encoding: Encoding,
    part: Part,
    residual: Floats,
    weight: Floats,
    since: int = 0,
) -> list[Counted]:
    """The literals on one variable, the joins, and the attributes, which have no variable.

    With `since`, only those with a variable from this one on.
    """
    data, scope, half = encoding.data, part.scope, part.scope.half
    examples = kernels.Examples(part.rows, residual, weight)
    n_variables = len(scope.names)
    features = _empty(candidates.features, n_variables)
    literals = candidates.features
    kernels.count_features(
        data,
        examples,
        half,
        since,
        literals.starts,
        literals.numbers,
        features.sums,
        features.weights,
    )
    out = [features]
    has_value = any(type_ != EVENT for type_ in scope.types)
    for literals, n_seconds, shift in (
        (candidates.event_joins, n_variables, 0),
        (candidates.value_joins, len(scope.types) if has_value else 0, 2 * half + 1),
    ):
        if len(literals) and n_seconds:
            joins = _empty(literals, n_variables, n_seconds, shift=shift)
            arrays = literals.starts, literals.numbers, literals.other
            kernels.count_joins(
                data, examples, half, since, arrays, shift, joins.sums, joins.weights
            )
            out.append(joins)
    if len(candidates.attributes) and not since:
        out.append(_attributes(candidates.attributes, data, part.events(), residual, weight))
    return out


def _attributes(
    literals: Literals, data: kernels.Data, events: Ints, residual: Floats, weight: Floats
) -> Counted:
    """A sequence has its attributes at every event."""
    found = _empty(literals, 1)
    n_entries = np.diff(literals.starts)
    for values, out in ((residual, found.sums), (weight, found.weights)):
        of_sequence = np.bincount(data.first[events], values[events], minlength=len(n_entries))
        out[0] = np.bincount(literals.numbers, np.repeat(of_sequence, n_entries), len(literals))
    return found


def _empty(literals: Literals, n_anchors: int, *n_seconds: int, shift: int = 0) -> Counted:
    shape = (n_anchors, len(literals), *n_seconds)
    return Counted(literals, np.zeros(shape), np.zeros(shape), shift)


def atom_at(
    encoding: Encoding, found: Counted, scope: Scope, at: list[int], bindable: set[str]
) -> Atom:
    """The literal at a place of what was counted; its new variables have names if bindable."""
    form = found.literals.forms[found.literals.form[at[1]]]
    relation = encoding.language.relations[form.relation]
    args: list[Term] = []
    types = []
    for i, code in enumerate(found.literals.codes[at[1], : relation.key[1]].tolist()):
        if i == form.anchor:
            args.append(Var(scope.names[at[0]]))
        elif i == form.joined:
            args.append(Var(scope.names[at[2] + found.shift]))
        elif code != FREE:
            args.append(encoding.vocabulary[code])
        else:
            args.append(Var("_"))
            if relation.types[i] in bindable:
                types.append(relation.types[i])
    names = iter(scope.fresh(types))
    for i, arg in enumerate(args):
        if isinstance(arg, Var) and arg.anonymous and relation.types[i] in bindable:
            args[i] = Var(next(names))
    return Atom(relation.key[0], tuple(args))
