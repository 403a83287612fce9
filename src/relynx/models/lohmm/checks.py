"""What can be wrong with the clauses of a model, and with what its methods are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse, islice, pairwise
from numbers import Integral, Real
from typing import Any

from relynx.bias.modes import SourceSpans, Where
from relynx.data.sequences import Sequences
from relynx.errors import MOST_PROBLEMS, InputError, Problem, did_you_mean, raise_all
from relynx.logic.terms import Atom, Var, constant_key, constant_text, is_constant, term_text
from relynx.models.checks import is_amount
from relynx.models.lohmm import clauses as cl
from relynx.models.lohmm.coverage import coverage_problems
from relynx.models.lohmm.inference.program import Compiler, Program

SLACK = 0.001  # probabilities in a text are rounded
LAST_STEP = 2**31
LISTS = {
    "transitions": "[Transition(1.0, head, observation, body)]",
    "start": "[(1.0, head)]",
    "blocks": "(1, 6, 20)",
}


def checked_program(
    model: cl.Clauses, at: SourceSpans
) -> tuple[Program, dict[cl.Slot, tuple[float, ...]]]:
    """The clauses in numbers, and all selection distributions, uniform where none is given. Raises
    InputError with all that is wrong with the model."""
    found = chain(_declaration_problems(model, at), clause_problems(model, at))
    raise_all(islice(found, MOST_PROBLEMS + 1))
    start, transitions = cl.ordered_start(model.start), cl.ordered_transitions(model.transitions)
    program = Compiler(model).program(start, transitions)
    problems = [*_sum_problems(model, at), *_selection_problems(model, program.slots, at)]
    origins = {id(t): ("transition", k) for k, t in enumerate(model.transitions)}
    origins |= {id(c): ("start", k) for k, c in enumerate(model.start)}
    where = [origins[id(clause)] for clause in (*start, *transitions)]
    problems += islice(coverage_problems(program, where, at), MOST_PROBLEMS + 1)
    raise_all(problems)
    selections: dict[cl.Slot, tuple[float, ...]] = {}
    for d, slot in enumerate(program.slots):
        n = int(program.slot_starts[d + 1] - program.slot_starts[d])
        selections[slot] = model.selections.get(slot, (1 / n,) * n)
    return program, selections


# Declarations


def _declaration_problems(model: cl.Clauses, at: SourceSpans) -> Iterator[Problem]:
    if model.selection not in ("argument", "type"):
        what = f"selection must be argument or type, not {model.selection!r}"
        yield at.problem(("selection",), what)
    for key, types in model.types.items():
        if not isinstance(key, tuple) or len(key) != 2 or key[1] != len(types):
            hint = 'give name and number, as in {("emacs", 2): ("file", "user")}'
            yield Problem(f"{key!r} is no predicate with {len(types)} arguments", hint=hint)
            return
    slots: Iterable[object] = model.selections
    for slot in slots:
        if not isinstance(slot, str) and (not isinstance(slot, tuple) or len(slot) != 3):
            hint = 'give predicate, number of arguments and place, as in ("emacs", 2, 1)'
            yield Problem(f"{slot!r} is no argument and no type", hint=hint)
            return
    missing: dict[str, Where] = {}
    for key, types in model.types.items():
        for i, type_ in enumerate(types):
            if type_ not in model.values:
                missing.setdefault(type_, ("type", *key, i))
    for type_, where in missing.items():
        hint = did_you_mean(type_, list(model.values)) or f"add values({type_},[...])."
        yield at.problem(where, f"the type '{type_}' has no values", hint=hint)
    for type_, constants in model.values.items():
        if not constants:
            yield at.problem(("values", type_), f"the type '{type_}' has no values", "list some")
        seen: set[object] = set()
        for i, constant in enumerate(constants):
            if constant_key(constant) in seen:
                what = f"{constant_text(constant)} is listed twice"
                yield at.problem(("values", type_, i), what, hint="leave one out")
            seen.add(constant_key(constant))
    blocks = model.blocks
    if blocks and (
        not all(isinstance(first, Integral) for first in blocks)
        or blocks[0] != 1
        or any(a >= b for a, b in pairwise(blocks))
    ):
        what = f"the blocks {list(blocks)} do not begin with 1 and grow"
        hint = "give the first step of each block, as in [1,6,20]"
        yield at.problem(("blocks",), what, hint)
    elif blocks and blocks[-1] > LAST_STEP:
        what = f"a block begins after step {LAST_STEP:,}"
        yield at.problem(("blocks",), what, hint="give the first step of each block")


# Clauses


def clause_problems(model: cl.Clauses, at: SourceSpans) -> Iterator[Problem]:
    """What is wrong with single clauses, if the declarations are right."""
    codes = cl.value_codes(model.values)
    for k, start in enumerate(model.start):
        here: Where = ("start", k)
        yield from _probability_problems(start.probability, here, at)
        yield from _atom_problems(model, codes, {"head": start.head}, here, at)
    for k, transition in enumerate(model.transitions):
        here = ("transition", k)
        yield from _probability_problems(transition.probability, here, at)
        parts = {
            "body": transition.body,
            "observation": transition.observation,
            "head": transition.head,
        }
        yield from _atom_problems(model, codes, parts, here, at)
        yield from _body_problems(model, transition, here, at)
    yield from _repeated(model, at)


def _probability_problems(probability: Any, here: Where, at: SourceSpans) -> Iterator[Problem]:
    is_number = isinstance(probability, Real) and not isinstance(probability, bool)
    if not is_number or not 0 <= probability <= 1:
        yield at.problem((*here, "probability"), f"a probability is from 0 to 1, not {probability}")


def _body_problems(
    model: cl.Clauses, transition: cl.Transition, here: Where, at: SourceSpans
) -> Iterator[Problem]:
    if transition.body == cl.END:
        yield at.problem((*here, "body"), "no transition leaves end", hint="leave this out")
    if transition.body == cl.START:
        hint = "give the head as a clause of the start"
        yield at.problem((*here, "body"), "nothing is shown at the start", hint)
    block: object = transition.block
    n = len(model.blocks)
    if block is not None and (not isinstance(block, Integral) or not 1 <= int(block) <= n):
        numbered = f"the blocks are numbered from 1 to {n}"
        hint = numbered if n else "declare them, as in blocks([1,6,20])."
        yield at.problem((*here, "block"), f"there is no block {block}", hint)


def _atom_problems(
    model: cl.Clauses,
    codes: Mapping[str, Mapping[object, int]],
    parts: Mapping[str, Atom],
    here: Where,
    at: SourceSpans,
) -> Iterator[Problem]:
    """Types and constants of the atoms of one clause."""
    variables: dict[str, str] = {}
    for name, atom in parts.items():
        where: Where = (*here, name)
        if name == "head" and atom == cl.START:
            yield at.problem(where, "no transition leads to start", hint="name another state")
        if not atom.args:
            continue
        types = model.types.get(atom.key)
        if types is None:
            yield _untyped(model, atom, where, at)
            continue
        for i, (arg, type_) in enumerate(zip(atom.args, types, strict=True)):
            if isinstance(arg, Var):
                before = type_ if arg.anonymous else variables.setdefault(arg.name, type_)
                if before != type_:
                    what = f"the variable {arg} is of type '{before}' and of type '{type_}'"
                    yield at.problem((*where, i), what, "use another variable")
            elif not isinstance(arg, str | int | float):
                what = f"expected a variable or a constant, found {term_text(arg)}"
                yield at.problem((*where, i), what)
            elif type_ in codes and constant_key(arg) not in codes[type_]:
                shown = constant_text(arg)
                near = did_you_mean(shown, list(map(constant_text, model.values[type_])))
                hint = near or f"add it to values({type_},[...])."
                yield at.problem((*where, i), f"{shown} is no value of type '{type_}'", hint)


def _untyped(model: cl.Clauses, atom: Atom, where: Where, at: SourceSpans) -> Problem:
    name, arity = atom.key
    others = [n for other, n in model.types if other == name]
    if others:
        counts = " or ".join(map(str, others))
        what = f"{name} has {counts} argument{'s' if others != [1] else ''}, not {arity}"
        return at.problem(where, what, f"declare the types of {name}/{arity} if it is meant")
    near = did_you_mean(name, [other for other, _ in model.types])
    example = Atom(name, tuple(f"t{i + 1}" for i in range(arity)))
    what = f"the arguments of {name}/{arity} have no type"
    return at.problem(where, what, near or f"add type({example}).")


def _repeated(model: cl.Clauses, at: SourceSpans) -> Iterator[Problem]:
    keys: dict[Where, object] = {
        ("start", k): cl.variant_key([start.head]) for k, start in enumerate(model.start)
    }
    for k, t in enumerate(model.transitions):
        keys["transition", k] = t.block, cl.variant_key([t.body, t.observation, t.head])
    seen: dict[object, Where] = {}
    for here, key in keys.items():
        if key in seen:
            line = at.on_line(seen[key])
            what = "this clause is given twice" + (f", first{line}" if line else "")
            yield at.problem(here, what, "keep one, with the sum of the two probabilities")
        seen.setdefault(key, here)


# Distributions


def _sum_problems(model: cl.Clauses, at: SourceSpans) -> Iterator[Problem]:
    if model.start:
        yield from _sum_problem("the start", model.start, ("start", 0), at)
    else:
        hint = "add a clause such as 1.0 : s <- start."
        yield at.problem(("start",), "the model has no start", hint=hint)
    bodies: dict[object, list[tuple[int, cl.Transition]]] = {}
    for k, t in enumerate(model.transitions):
        bodies.setdefault(cl.variant_key([t.body]), []).append((k, t))
    for of_one in bodies.values():
        first = of_one[0][1].body
        where: Where = ("transition", of_one[0][0], "body")
        blocks = sorted({t.block or 0 for _, t in of_one})
        if blocks[0] == 0 and len(blocks) > 1:
            what = f"some transitions of {first} are of a block, and some are not"
            yield at.problem(where, what, "give all of them a block, or none")
            continue
        absent = [b for b in range(1, len(model.blocks) + 1) if b not in blocks]
        if blocks[0] > 0 and absent:
            what = f"no transition of {first} is of block {absent[0]}"
            hint = "a body with transitions of a block needs some of each block"
            yield at.problem(where, what, hint)
        for block in blocks:
            chosen = [(k, t) for k, t in of_one if (t.block or 0) == block]
            what = f"{first} in block {block}" if block else str(first)
            here: Where = ("transition", chosen[0][0], "body")
            yield from _sum_problem(what, [t for _, t in chosen], here, at)


def _sum_problem(
    what: str, clauses: Sequence[cl.Start] | Sequence[cl.Transition], where: Where, at: SourceSpans
) -> Iterator[Problem]:
    total = sum(float(clause.probability) for clause in clauses)
    if abs(total - 1) > SLACK:
        yield at.problem(where, f"the probabilities of {what} sum to {total:.6g}, not to 1")


def _selection_problems(
    model: cl.Clauses, slots: Sequence[cl.Slot], at: SourceSpans
) -> Iterator[Problem]:
    for slot, probabilities in model.selections.items():
        where: Where = ("select", cl.slot_text(slot))
        if slot not in slots:
            yield at.problem(where, *_not_drawn(model, slot))
            continue
        type_, listed = model.slot_type(slot), (*where, "list")
        n = len(model.values[type_])
        if len(probabilities) != n:
            what = f"'{type_}' has {n} values, but this list has {len(probabilities)}"
            yield at.problem(listed, what)
        elif wrong := [one for one in probabilities if not 0 <= one <= 1]:
            yield at.problem(listed, f"a probability is from 0 to 1, not {wrong[0]}")
        elif abs(sum(probabilities) - 1) > SLACK:
            what = f"these probabilities sum to {sum(probabilities):.6g}, not to 1"
            yield at.problem(listed, what)


def _not_drawn(model: cl.Clauses, slot: cl.Slot) -> tuple[str, str]:
    word = "type" if isinstance(slot, str) else "argument"
    if word != model.selection:
        what = f"{cl.slot_text(slot)} has no distribution: selection is by {model.selection}"
        return what, f"add selection({word}). to give those of {word}s"
    return f"{cl.slot_text(slot)} is never drawn", "leave this out"


# What a caller gives


def form_problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    """What has the wrong form, by the names of the parameters; each is told once."""
    for name, example in LISTS.items():
        if not _is_list(given[name]):
            yield _wrong(name, given[name], example)
    for name, (example, fits) in TABLES.items():
        value = given[name]
        if not isinstance(value, Mapping):
            yield _wrong(name, value, example)
            continue
        for key, listed in value.items():
            if not _is_list(listed) or not all(map(fits, listed)):
                yield _wrong(f"{name}[{key!r}]", listed, example)
    for name, is_right in (("transitions", _is_transition), ("start", _is_start)):
        clauses = given[name] if _is_list(given[name]) else ()
        for clause in islice(filterfalse(is_right, clauses), 1):
            yield _wrong(f"one of the {name}", clause, LISTS[name])


def _wrong(name: str, value: object, example: str) -> Problem:
    return Problem(f"{name} is {value!r}", hint=f"as in {example}")


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping | Iterator)


def _is_transition(value: object) -> bool:
    return isinstance(value, cl.Transition) and all(
        isinstance(part, Atom) for part in (value.head, value.observation, value.body)
    )


def _is_start(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], Atom)


def _is_number(value: object) -> bool:
    if not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:  # of an integer
        return False
    return True


TABLES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {  # and what the lists in them hold
    "types": ('{("emacs", 2): ("file", "user")}', lambda value: isinstance(value, str)),
    "values": ('{"file": ("f1", "f2")}', is_constant),
    "selections": ('{("emacs", 2, 1): (0.2, 0.8)}', _is_number),
}


def checked_sequences(sequences: Iterable[Iterable[Atom]]) -> list[list[Atom]]:
    """The sequences as lists; raises InputError where one holds anything but ground atoms."""
    given: object = sequences
    if isinstance(given, Sequences):
        what = "expected lists of ground atoms, found Sequences"
        raise InputError(what, hint="relynx.models.observations.observations(X) makes them")
    if isinstance(sequences, str | Atom) or not isinstance(sequences, Iterable):
        raise _no_sequences(sequences)
    found: list[list[Atom]] = []
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str | Atom) or not isinstance(sequence, Iterable):
            raise _no_sequences(sequence)
        atoms = list(sequence)
        for t, atom in enumerate(atoms):
            if not isinstance(atom, Atom) or any(True for _ in atom.variables()):
                shown = str(atom) if isinstance(atom, Atom) else repr(atom)
                what = f"sequence {i}, step {t + 1}: expected a ground atom, found {shown}"
                raise InputError(what, hint='make one with rx.parse_atom("p(a,b)")')
        found.append(atoms)
    return found


def _no_sequences(value: object) -> InputError:
    shown = str(value) if isinstance(value, Atom) else repr(value)
    what = f"expected a list of sequences, each a list of ground atoms, found {shown}"
    return InputError(what, hint="put one sequence into a list: [sequence]")


def check_not_negative(name: str, value: object) -> None:
    if not is_amount(value):
        raise InputError(f"{name} must be a number from 0 on, not {value!r}")
