"""The text of a logical hidden Markov model, which reads back as the same model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from relynx.logic.terms import Atom, Var, constant_text, quoted
from relynx.models.lohmm.clauses import Clauses, Slot, Start, Transition, variant_key


def model_text(model: Clauses) -> str:
    """The text of a model: declarations, start, then body by body the most probable first."""
    return "\n".join(_lines(model))


def _lines(model: Clauses) -> Iterator[str]:
    for (name, _), types in model.types.items():
        yield f"type({Atom(name, types)})."
    for type_, constants in model.values.items():
        yield f"values({quoted(type_)},[{','.join(map(constant_text, constants))}])."
    if model.selection != "argument":
        yield f"selection({model.selection})."
    for slot, probabilities in model.selections.items():
        if any(probability != 1 / len(probabilities) for probability in probabilities):
            yield f"select({_slot(slot)},[{','.join(map(constant_text, probabilities))}])."
    if model.blocks:
        yield f"blocks([{','.join(map(str, model.blocks))}])."
    yield from _sorted(model.start)
    for _, of_one in groupby(model.transitions, key=lambda t: variant_key([t.body])):
        for _, of_block in groupby(of_one, key=lambda t: t.block):
            yield ""
            yield from _sorted(list(of_block))


def _sorted(clauses: Sequence[Start] | Sequence[Transition]) -> list[str]:
    ordered = sorted(clauses, key=lambda clause: (-clause.probability, clause.clause()))
    return [str(clause) for clause in ordered]


def _slot(slot: Slot) -> str:
    if isinstance(slot, str):
        return quoted(slot)
    name, arity, position = slot
    args = [Var("_")] * arity
    args[position - 1] = Var("X")
    return f"{Atom(name, tuple(args))},X"
