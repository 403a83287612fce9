"""A structure for sequences that come without one: states by kinds of observations.

A kind is a predicate with some of its arguments fixed: those with few values, as long as there are
not too many kinds. Each kind has a state that shows it; the other arguments are variables of the
state, drawn by its selection distributions. From each state there is a transition to every other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TypeAlias

import numpy as np

from relynx.data.event_arguments import Argument
from relynx.data.sequences import counted
from relynx.errors import InputError
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Constant, Term, Var, constant_key, constant_text
from relynx.models.lohmm.clauses import END, START, Start, Transition
from relynx.models.lohmm.model import LoHMM
from relynx.models.observations import Row

MOST_TRANSITIONS = 1_000_000

OTHER = "other"  # what was not seen in training: an observation, or a value of an argument
STATE = "in"  # the states of p(a,X) are in_p_a(X)
COPY = "copy"  # the type of the number of a hidden copy

Values: TypeAlias = dict[Argument, dict[object, Constant]]


def structure(
    rows: Sequence[Row],
    *,
    max_kinds: int = 40,
    n_hidden: int = 1,
    blocks: int | Sequence[int] = 3,
    end: bool = True,
    selection: str = "argument",
    fixed: Collection[Argument] | None = None,
) -> LoHMM:
    """A model that can emit any sequence of such observations, with uniform parameters.

    The parameters are those of `LoHMMClassifier`; `fixed` are the arguments that may be fixed, None
    for all. Arguments with the fewest values are fixed first; if there are more predicates than
    `max_kinds`, the rarest become the observation `other`. With more than one hidden copy, fit from
    random parameters: from uniform ones all copies stay equal.

    Raises InputError if it would have too many transitions.
    """
    kinds, types, domains = _kinds(rows, max_kinds, fixed)
    copy_type = _unused(COPY, domains)
    states, state_types = _states(kinds, types, copy_type, n_hidden)
    if n_hidden > 1:
        domains[copy_type] = tuple(f"k{i + 1}" for i in range(n_hidden))
    starts = first_steps(rows, blocks)
    numbers: Sequence[int | None] = range(1, len(starts) + 1) if len(starts) > 1 else (None,)
    heads = [_renamed(state) for state, _ in states] + ([END] if end else [])
    n_transitions = len(states) * len(numbers) * len(heads)
    if n_transitions > MOST_TRANSITIONS:
        sizes = f"{counted(len(states), 'state')}, {counted(len(numbers), 'block')}"
        what = f"the structure would have {n_transitions:,} transitions: {sizes}"
        hint = f"take fewer kinds, hidden copies or blocks; no more than {MOST_TRANSITIONS:,} "
        raise InputError(what, hint=f"{hint}can be learnt")
    uniform, steps = 1 / len(heads), product(states, numbers, heads)
    return LoHMM(
        [Transition(uniform, head, kind, state, block) for (state, kind), block, head in steps],
        start=[Start(uniform, head) for head in heads],
        types=types | state_types,
        values=domains,
        selection=selection,
        blocks=starts if len(starts) > 1 else (),
    )


def _kinds(
    rows: Sequence[Row], max_kinds: int, allowed: Collection[Argument] | None
) -> tuple[list[Atom], dict[Key, tuple[str, ...]], dict[str, tuple[Constant, ...]]]:
    """The kinds of observations, `other` last; the types of their predicates, and the values."""
    counts = Counter(atom for row in rows for atom in row)
    keys = _most_frequent(counts, max_kinds)
    atoms = [atom for atom in counts if atom.key in keys]
    values = _values(atoms)
    fixed = _fixed(atoms, values, max_kinds, allowed)
    kinds = {_kind(atom, fixed) for atom in atoms}
    other = Atom(_other({key[0] for key in keys}))
    return [*sorted(kinds, key=str), other], *_domains(keys, values)


def first_steps(rows: Sequence[Row], blocks: int | Sequence[int]) -> tuple[int, ...]:
    """The first step of each block; a number of blocks gets equal shares of all steps."""
    if not isinstance(blocks, int | np.integer):
        return tuple(blocks)
    steps = np.sort(np.concatenate([np.zeros(0, np.int64), *(np.arange(len(r)) for r in rows)]))
    if not len(steps):
        return (1,)
    borders = [int(steps[len(steps) * b // blocks]) + 1 for b in range(1, blocks)]
    return tuple(sorted({1, *borders}))


@dataclass(frozen=True, slots=True)
class Known:
    """What a structure was made for, and how other observations are shown to it."""

    fixed: frozenset[Argument]
    kinds: frozenset[Atom]
    values: Mapping[Argument, frozenset[object]]
    other: Atom
    other_values: Mapping[Argument, Constant]

    @classmethod
    def of(cls, model: LoHMM) -> Known:
        """What a model that `structure` made, or one fitted from it, knows."""
        shown = list(dict.fromkeys(t.observation for t in model.transitions))
        other = max((a for a in shown if not a.args and _is_other(a.predicate)), key=_length)
        kinds = [atom for atom in shown if atom != other]
        values: dict[Argument, frozenset[object]] = {}
        other_values: dict[Argument, Constant] = {}
        for atom in kinds:
            for i, kind in enumerate(model.types.get(atom.key, ())):
                domain = model.values[kind]
                values[atom.key, i] = frozenset(map(constant_key, domain))
                other_values[atom.key, i] = max(filter(_is_other, domain), key=_length)
        fixed = frozenset(
            (atom.key, i)
            for atom in kinds
            for i, arg in enumerate(atom.args)
            if not isinstance(arg, Var)
        )
        known = frozenset(_kind(atom, fixed) for atom in kinds)
        return cls(fixed, known, values, other, other_values)

    def shown(self, rows: Sequence[Row]) -> list[Row]:
        """The sequences with `other` in place of kinds and values that were not seen."""
        seen = {atom: self._shown(atom) for atom in set(chain.from_iterable(rows))}
        return [tuple(seen[atom] for atom in row) for row in rows]

    def _shown(self, atom: Atom) -> Atom:
        if _kind(atom, self.fixed) not in self.kinds:
            return self.other
        args = [self._value((atom.key, i), arg) for i, arg in enumerate(atom.args)]
        return Atom(atom.predicate, tuple(args))

    def _value(self, argument: Argument, arg: Term) -> Term:
        known = isinstance(arg, str | int | float) and constant_key(arg) in self.values[argument]
        return arg if known or argument in self.fixed else self.other_values[argument]


def _most_frequent(counts: Counter[Atom], most: int) -> list[Key]:
    """The predicates, without the rarest where there are too many."""
    found: Counter[Key] = Counter()
    for atom, n in counts.items():
        found[atom.key] += n
    return sorted(sorted(found, key=lambda key: (-found[key], key))[:most])


def _values(atoms: Collection[Atom]) -> Values:
    values: Values = {}
    for atom in atoms:
        for i, arg in enumerate(atom.args):
            assert isinstance(arg, str | int | float)  # observations are ground
            values.setdefault((atom.key, i), {})[constant_key(arg)] = arg
    return values


def _fixed(
    atoms: Sequence[Atom], values: Values, max_kinds: int, allowed: Collection[Argument] | None
) -> frozenset[Argument]:
    """The arguments to fix, those of fewest values first, while there are not too many kinds."""
    chosen: frozenset[Argument] = frozenset()
    for argument in sorted(values, key=lambda argument: (len(values[argument]), argument)):
        if allowed is None or argument in allowed:
            more = chosen | {argument}
            if len({_kind(atom, more) for atom in atoms}) <= max_kinds:
                chosen = more
    return chosen


def _kind(atom: Atom, fixed: Collection[Argument]) -> Atom:
    """The atom with `_` for the arguments that are not fixed."""
    args = [arg if (atom.key, i) in fixed else Var("_") for i, arg in enumerate(atom.args)]
    return Atom(atom.predicate, tuple(args))


def _domains(
    keys: Collection[Key], values: Values
) -> tuple[dict[Key, tuple[str, ...]], dict[str, tuple[Constant, ...]]]:
    """A type for each argument, with its values in order of text, and one for all others."""
    types: dict[Key, tuple[str, ...]] = {}
    domains: dict[str, tuple[Constant, ...]] = {}
    for key in keys:
        names = []
        for i in range(key[1]):
            seen = sorted(values[key, i].values(), key=constant_text)
            name = _unused(f"{_name_part(key[0])}_{i + 1}", domains)
            domains[name] = (*seen, _other(seen))
            names.append(name)
        if names:
            types[key] = tuple(names)
    return types, domains


def _states(
    kinds: Sequence[Atom], types: Mapping[Key, tuple[str, ...]], copy_type: str, n_hidden: int
) -> tuple[list[tuple[Atom, Atom]], dict[Key, tuple[str, ...]]]:
    """The states, each with what it shows, and their types."""
    taken = {START.predicate, END.predicate, *(kind.predicate for kind in kinds)}
    states: list[tuple[Atom, Atom]] = []
    state_types: dict[Key, tuple[str, ...]] = {}
    for kind in kinds:
        values = [_name_part(str(arg)) for arg in kind.args if not isinstance(arg, Var)]
        name = _unused("_".join([STATE, _name_part(kind.predicate), *values]), taken)
        taken.add(name)
        args: list[Term] = [
            Var(f"V{i + 1}") if isinstance(arg, Var) else arg for i, arg in enumerate(kind.args)
        ]
        free = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, Var)]
        kind_types = tuple(types[kind.key][i] for i, _ in free)
        shown = Atom(kind.predicate, tuple(args))
        for copy in range(n_hidden):
            own = (f"k{copy + 1}",) if n_hidden > 1 else ()
            state = Atom(name, (*own, *(arg for _, arg in free)))
            states.append((state, shown))
            if state.args:
                state_types[state.key] = (copy_type,) * len(own) + kind_types
    return states, state_types


def _renamed(state: Atom) -> Atom:
    """The state as a head: its variables are drawn anew."""
    args = [Var(f"N{arg.name}") if isinstance(arg, Var) else arg for arg in state.args]
    return Atom(state.predicate, tuple(args))


def _unused(name: str, taken: Collection[str]) -> str:
    """The name, with `_` behind it until it is not taken."""
    while name in taken:
        name += "_"
    return name


def _other(taken: Iterable[Constant]) -> str:
    """A name for what was not seen: longer than all of its kind, which tells it from them."""
    longest = max(map(_length, filter(_is_other, taken)), default=len(OTHER) - 1)
    return OTHER.ljust(longest + 1, "_")


def _is_other(value: Constant) -> bool:
    return isinstance(value, str) and value.rstrip("_") == OTHER


def _length(value: Constant | Atom) -> int:
    return len(str(value))


def _name_part(text: str) -> str:
    """The text as a part of a name."""
    return re.sub(r"\W+", "_", text).strip("_")
