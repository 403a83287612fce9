"""What the literals of a tree may be: predicates with types and modes, and the order of events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from relynx.bias import Bias
from relynx.bias.modes import EVENT, operators
from relynx.data.event_arguments import Argument
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Constant, constant_key

EQUAL: Key = ("==", 2)
ENDS: tuple[Key, ...] = (("first", 1), ("last", 1), ("event", 1))
ANY = "*"  # the type of both sides of an equality: whatever type, but the same


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate as literals may use it."""

    key: Key
    types: tuple[str, ...]
    modes: tuple[tuple[str, ...], ...]

    @property
    def of_sequence(self) -> bool:
        """Whether its facts are about no event: they are about the sequence as a whole."""
        return EVENT not in self.types and ANY not in self.types

    def allows(self, old: tuple[int, ...], constants: tuple[int, ...]) -> bool:
        """Is there a mode for variables of the node here, constants there, and else new ones?"""
        wanted = ["-*"] * self.key[1]
        for i in old:
            wanted[i] = "+*"
        for i in constants:
            wanted[i] = "#*"
        return any(
            all(sign in w for sign, w in zip(mode, wanted, strict=True)) for mode in self.modes
        )


@dataclass(frozen=True)
class Language:
    """The relations of the trees, the order of the events, and what `#` may be.

    `event_arguments` are the arguments that hold events of the order, as `observed_arguments` found
    them in the training sequences. `types` has all types, events first.
    """

    relations: tuple[Relation, ...]
    types: tuple[str, ...]
    dimension: str
    event_arguments: frozenset[Argument]
    bias: Bias

    @classmethod
    def of(cls, bias: Bias, dimension: str, event_arguments: Iterable[Argument]) -> Language:
        """The language of a bias."""
        links = operators(bias.dimensions)
        relations = [
            Relation((name, len(types)), types, bias.modes.get(name, ()))
            for name, types in bias.types.items()
            if name not in links
        ]
        steps = tuple(map(tuple, ("+-", "-+", "++")))
        relations += [
            Relation((f"next_{name}", 2), (EVENT, EVENT), steps) for name in bias.dimensions
        ]
        taken = {relation.key[0] for relation in relations}
        relations += [Relation(key, (EVENT,), (("+",),)) for key in ENDS if key[0] not in taken]
        relations.append(Relation(EQUAL, (ANY, ANY), (("+", "#"), ("+", "+"))))
        relations.sort(key=lambda relation: relation.key)
        types = dict.fromkeys([EVENT, *(t for r in relations for t in r.types if t != ANY)])
        return cls(tuple(relations), (*types,), dimension, frozenset(event_arguments), bias)

    def types_with(self, signs: str) -> set[str]:
        """The types of the arguments that some mode has with one of these signs."""
        return {
            type_
            for relation in self.relations
            for mode in relation.modes
            for type_, sign in zip(relation.types, mode, strict=True)
            if sign in signs
        }

    def admits_value(self, type_: str, constant: Constant) -> bool:
        """Whether `values` of the bias lets a type be this constant."""
        listed = self.bias.values.get(type_)
        return listed is None or constant_key(constant) in set(map(constant_key, listed))

    def admits(self, atom: Atom) -> bool:
        """Whether the white list of the bias lets a literal be this atom."""
        return atom.key == EQUAL or self.bias.admits(atom)
