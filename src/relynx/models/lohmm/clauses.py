"""The clauses of a logical hidden Markov model, and the parameters that they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple, TypeAlias

from relynx.arrays import Floats, Longs
from relynx.logic.terms import Atom, Constant, Term, Var, constant_key, constant_text

Key: TypeAlias = tuple[str, int]  # a predicate: name and number of arguments
Slot: TypeAlias = tuple[str, int, int] | str  # predicate and argument from 1 on, or a type

START = Atom("start")
END = Atom("end")


class Start(NamedTuple):
    """`probability : head <- start`: how likely a sequence begins in the states of the head."""

    probability: float
    head: Atom

    def clause(self) -> str:
        """The clause without its probability."""
        return f"{self.head} <- start"

    def __str__(self) -> str:
        return f"{constant_text(float(self.probability))} : {self.clause()}."


@dataclass(frozen=True, slots=True)
class Transition:
    """`probability : head <- observation - body`: from a state of the body to one of the head.
    `block` is the number, from 1 on, of the only block of steps in which it holds; None for all."""

    probability: float
    head: Atom
    observation: Atom
    body: Atom
    block: int | None = None

    def clause(self) -> str:
        """The clause without its probability."""
        where = "" if self.block is None else f", block({self.block})"
        return f"{self.head} <- {self.observation} - {self.body}{where}"

    def __str__(self) -> str:
        return f"{constant_text(float(self.probability))} : {self.clause()}."


@dataclass(frozen=True)
class Clauses:
    """What the text of a model holds; see `LoHMM`."""

    transitions: Sequence[Transition]
    _: KW_ONLY
    start: Sequence[Start]
    types: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict)
    selection: str = "argument"
    selections: Mapping[Slot, tuple[float, ...]] = field(default_factory=dict)
    blocks: tuple[int, ...] = ()

    def slot_type(self, slot: Slot) -> str:
        """The type of the values that a distribution is of."""
        return slot if isinstance(slot, str) else self.types[slot[0], slot[1]][slot[2] - 1]


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """All the probabilities of a model in one row, in an order that depends on its clauses only.
    `groups` numbers the distribution that each belongs to: the start, the transitions of each body
    (and block), then each selection distribution. `names` are their clauses, and for a selection
    the atom with the value, `select emacs(f1,_)`, or the type, `select file = f1`."""

    values: Floats
    groups: Longs
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


def variant_key(atoms: Sequence[Atom]) -> tuple[object, ...]:
    """The atoms with their variables numbered: equal for atoms that differ in names only."""
    numbers: dict[object, int] = {}
    key: list[object] = []
    for atom in atoms:
        args: list[object] = []
        for arg in atom.args:
            if isinstance(arg, Var):
                name: object = len(numbers) if arg.anonymous else arg.name
                args.append(("variable", numbers.setdefault(name, len(numbers))))
            else:
                args.append(constant_key(arg) if isinstance(arg, str | int | float) else str(arg))
        key.append((atom.predicate, tuple(args)))
    return tuple(key)


def ordered_start(start: Sequence[Start]) -> tuple[Start, ...]:
    """The start clauses in the order of their text."""
    return tuple(sorted(start, key=lambda clause: clause.clause()))


def ordered_transitions(transitions: Sequence[Transition]) -> tuple[Transition, ...]:
    """Body by body as they first appear; within a body by block, then in the order of the text."""
    first: dict[object, int] = {}
    for transition in transitions:
        first.setdefault(variant_key([transition.body]), len(first))
    return tuple(
        sorted(transitions, key=lambda t: (first[variant_key([t.body])], t.block or 0, t.clause()))
    )


def slot_text(slot: Slot) -> str:
    """A slot in the words of a message."""
    if isinstance(slot, str):
        return f"type '{slot}'"
    predicate, arity, position = slot
    return f"argument {position} of {predicate}/{arity}"


def slot_name(slot: Slot, constant: Constant) -> str:
    """The name of the parameter that gives the probability of a constant."""
    if isinstance(slot, str):
        return f"select {slot} = {constant_text(constant)}"
    return f"select {slot_atom(*slot, constant)}"


def slot_atom(predicate: str, arity: int, position: int, term: Term) -> Atom:
    """The atom with a term at one argument and `_` at the others."""
    args = [Var("_")] * (position - 1) + [term] + [Var("_")] * (arity - position)
    return Atom(predicate, tuple(args))


def value_codes(values: Mapping[str, Sequence[Constant]]) -> dict[str, dict[object, int]]:
    """For each type the place of each of its constants."""
    return {
        type_: {constant_key(value): code for code, value in enumerate(constants)}
        for type_, constants in values.items()
    }
