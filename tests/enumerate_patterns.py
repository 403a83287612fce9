"""Mining by plain enumeration: what `mine` must find, straight from the definition.

All refinements that the bias allows are generated, breadth first, without a look at the data but
for the list of constants; each is matched in the sequences that its parent covers. Nothing of
`relynx.mining` is used, nor the bias' own tests of constraints. A constant is tagged with its type
here, because `1 == 1.0` in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reference import transitive_closure, walks

from relynx.logic.canonical import subsumes
from relynx.logic.terms import Atom, Comparison, Constant, Literal, Term, Var

EVENT = "event"
TOLERANCE = 1e-9

Tagged = tuple[type, Constant]
Row = tuple[Tagged, ...]
Match = dict[str, Tagged]


class TooLarge(Exception):
    """The language has more candidates than an enumeration should look at."""


@dataclass(frozen=True)
class Conditions:
    """What a pattern must satisfy, beside the declarations of the bias."""

    min_support: float = 0.1
    min_frequency: int = 1
    max_length: int = 3
    max_gap: int = 2
    object_identity: bool = True
    min_confidence: float | None = None
    max_support: Mapping[Constant, float] | None = None
    closed: bool = False


@dataclass(frozen=True)
class Candidate:
    """A pattern, the types of its variables, and its matches in each sequence that it covers."""

    atoms: tuple[Atom, ...]
    types: Mapping[str, str]
    matches: Mapping[int, list[Match]] = field(repr=False)

    @property
    def covered(self) -> frozenset[int]:
        return frozenset(self.matches)


@dataclass(frozen=True)
class Found:
    """A pattern of the answer."""

    atoms: tuple[Atom, ...]
    covered: frozenset[int]
    support: Mapping[Constant, int]

    @property
    def frequency(self) -> int:
        return len(self.covered)


def enumerate_patterns(
    sequences: Sequence[Collection[Atom]],
    labels: Sequence[Constant],
    bias: Any,
    conditions: Conditions,
    *,
    limit: int = 10**7,
) -> list[Found]:
    """Every pattern of the language that satisfies the conditions, each once up to renaming.

    `sequences` hold derived facts too. TooLarge is raised after `limit` units of work: a match
    is one, a candidate ten.
    """
    world = _World(sequences, bias, conditions)
    sizes = Counter(labels)
    kept: list[Candidate] = []
    start = Candidate((), {}, {i: [{}] for i in range(len(sequences))})
    level = [start]
    looked_at = 0
    while level:
        seen = Variants()
        children = []
        for parent in level:
            for atom in world.refinements(parent):
                child = world.extended(parent, atom)
                looked_at += 10 + sum(map(len, child.matches.values()))
                if looked_at > limit:
                    raise TooLarge
                if (
                    _is_frequent(child.covered, labels, sizes, conditions)
                    and seen.add(child.atoms)
                    and not violates(child.atoms, bias)
                ):
                    children.append(child)
        kept += [child for child in children if not world.dangling(child)]
        level = children
    found = [Found(c.atoms, c.covered, support(c.covered, labels)) for c in kept]
    return reported(found, sizes, bias, conditions)


def support(covered: Iterable[int], labels: Sequence[Constant]) -> dict[Constant, int]:
    """How many of the covered sequences each class has."""
    counts = Counter(labels[i] for i in covered)
    return {label: counts[label] for label in sorted(set(labels), key=str)}


def reported(
    found: Sequence[Found], sizes: Mapping[Constant, int], bias: Any, conditions: Conditions
) -> list[Found]:
    """The patterns that the filters leave: these decide what is shown, not what is refined."""
    answer = []
    for pattern in found:
        confidence = max(pattern.support.values()) / pattern.frequency
        if conditions.min_confidence is not None and (
            confidence < conditions.min_confidence - TOLERANCE
        ):
            continue
        if any(
            pattern.support[label] / sizes[label] > share + TOLERANCE
            for label, share in (conditions.max_support or {}).items()
        ):
            continue
        if not all(subsumed_by(literals, pattern.atoms) for literals in bias.posconstraints):
            continue
        answer.append(pattern)
    return without_open(answer, conditions.object_identity) if conditions.closed else answer


def without_open(found: Sequence[Found], object_identity: bool) -> list[Found]:
    """The patterns of which no strictly more specific one covers the same sequences."""

    def is_more_specific(one: Found, other: Found) -> bool:
        return subsumes(other.atoms, one.atoms, object_identity=object_identity) and not subsumes(
            one.atoms, other.atoms, object_identity=object_identity
        )

    return [
        general
        for general in found
        if not any(
            general.covered == other.covered and is_more_specific(other, general) for other in found
        )
    ]


def _is_frequent(
    covered: frozenset[int],
    labels: Sequence[Constant],
    sizes: Mapping[Constant, int],
    conditions: Conditions,
) -> bool:
    if not covered or len(covered) < conditions.min_frequency:
        return False
    counts = Counter(labels[i] for i in covered)
    return any(
        counts[label] >= conditions.min_support * n - TOLERANCE for label, n in sizes.items()
    )


class _World:
    """The facts, indexed as matching needs them, and the refinement operator of a bias."""

    def __init__(
        self, sequences: Sequence[Collection[Atom]], bias: Any, conditions: Conditions
    ) -> None:
        self.bias = bias
        self.conditions = conditions
        self.facts = [self._relations(atoms) for atoms in sequences]
        self.constants = {
            kind: self._constants(kind, sequences)
            for kind in {kind for kinds in bias.types.values() for kind in kinds}
        }
        self._look_ups: dict[tuple[object, ...], dict[Row, list[Row]]] = {}

    def _relations(self, atoms: Collection[Atom]) -> dict[object, set[Row]]:
        """The rows of each predicate, and those of the operators of each dimension."""
        rows: dict[object, set[Row]] = {}
        for atom in atoms:
            rows.setdefault(atom.key, set()).add(tuple(map(tagged, atom.args)))
        for name in self.bias.dimensions:
            steps = rows.get((f"next_{name}", 2), set())
            rows[f"follow_{name}", 2] = transitive_closure(steps)
            for n in range(2, self.conditions.max_gap + 1):
                rows[f"followat_{name}", n, 3] = walks(steps, n)
        return rows

    def _constants(self, kind: str, sequences: Sequence[Collection[Atom]]) -> list[Constant]:
        """What may stand for a constant of a type."""
        if kind == EVENT:
            return []
        if kind in self.bias.values:
            return list(self.bias.values[kind])
        found = {
            tagged(arg)
            for atoms in sequences
            for atom in atoms
            for arg, place in zip(atom.args, self.bias.types.get(atom.predicate, ()), strict=False)
            if place == kind
        }
        return [constant for _, constant in sorted(found, key=str)]

    def length(self, pattern: Candidate) -> int:
        return sum(not self.is_link(atom) for atom in pattern.atoms)

    def is_link(self, atom: Atom) -> bool:
        return self._dimension(atom) is not None

    def _dimension(self, atom: Atom) -> str | None:
        operator, _, name = atom.predicate.partition("_")
        is_operator = operator in ("next", "follow", "followat")
        return name if is_operator and name in self.bias.dimensions else None

    def dangling(self, pattern: Candidate) -> bool:
        """Whether some event variable occurs in no fluent."""
        in_fluents = {
            var.name for atom in pattern.atoms if not self.is_link(atom) for var in atom.variables()
        }
        return any(kind == EVENT and name not in in_fluents for name, kind in pattern.types.items())

    def refinements(self, pattern: Candidate) -> Iterator[Atom]:
        """Every atom that may be added to a pattern; to the empty one, every first atom."""
        if self.length(pattern) < self.conditions.max_length:
            for predicate, modes in self.bias.modes.items():
                atoms = {
                    Atom(predicate, args)
                    for mode in modes
                    for args in self._instances(predicate, mode, pattern)
                }
                yield from (atom for atom in atoms if self._may_be_added(atom, pattern))
        if pattern.atoms and not self.dangling(pattern):
            yield from self._links(pattern)

    def _instances(
        self, predicate: str, mode: Sequence[str], pattern: Candidate
    ) -> list[tuple[Term, ...]]:
        """The arguments that a mode allows, chosen from left to right."""
        chosen: list[tuple[tuple[Term, ...], dict[str, str]]] = [((), dict(pattern.types))]
        for sign, kind in zip(mode, self.bias.types[predicate], strict=True):
            longer = []
            for args, types in chosen:
                if sign in "+*":
                    longer += [((*args, Var(v)), types) for v, k in types.items() if k == kind]
                if sign in "-*" or (sign == "+" and not pattern.atoms):
                    new = f"V{len(types)}"
                    longer.append(((*args, Var(new)), {**types, new: kind}))
                if sign in "#*":
                    longer += [((*args, c), types) for c in self.constants[kind]]
            chosen = longer
        return [args for args, _ in chosen]

    def _may_be_added(self, atom: Atom, pattern: Candidate) -> bool:
        if not admitted(atom, self.bias):
            return False
        if pattern.atoms:
            known = any(var.name in pattern.types for var in atom.variables())
            return known and atom not in pattern.atoms
        return not self.bias.key or any(is_instance(atom, key) for key in self.bias.key)

    def _links(self, pattern: Candidate) -> Iterator[Atom]:
        events = [Var(name) for name, kind in pattern.types.items() if kind == EVENT]
        targets = list(events)
        if self.length(pattern) < self.conditions.max_length:  # else it would dangle for good
            targets.append(Var(f"V{len(pattern.types)}"))
        for name in self.bias.dimensions:
            ends = [a.args[-2:] for a in pattern.atoms if self._dimension(a) == name]
            left = {x for x, _ in ends}
            entered = {y for _, y in ends}
            for x in events:
                for y in targets:
                    if x in left or y in entered:
                        continue
                    yield Atom(f"next_{name}", (x, y))
                    yield Atom(f"follow_{name}", (x, y))
                    for n in range(2, self.conditions.max_gap + 1):
                        yield Atom(f"followat_{name}", (n, x, y))

    def extended(self, pattern: Candidate, atom: Atom) -> Candidate:
        """The pattern with one more atom, matched where the pattern was."""
        atoms = (*pattern.atoms, atom)
        fixed = {tagged(t) for a in atoms for t in object_terms(a) if not isinstance(t, Var)}
        terms = object_terms(atom)
        free = [
            k for k, t in enumerate(terms) if isinstance(t, Var) and t.name not in pattern.types
        ]
        bound = tuple(k for k in range(len(terms)) if k not in free)
        matches = {}
        for i, found in pattern.matches.items():
            rows = self._look_up(i, atom, bound)
            longer = [
                {**match, **new}
                for match in found
                for row in rows.get(tuple(_value(terms[k], match) for k in bound), ())
                if (new := _new_values(terms, row, free)) is not None
            ]
            if self.conditions.object_identity:
                longer = [match for match in longer if _is_injective(match, fixed)]
            if longer:
                matches[i] = longer
        return Candidate(atoms, self._with_types(pattern, atom), matches)

    def _with_types(self, pattern: Candidate, atom: Atom) -> dict[str, str]:
        types = dict(pattern.types)
        kinds = self.bias.types[atom.predicate] if not self.is_link(atom) else [EVENT] * 3
        for arg, kind in zip(atom.args, kinds, strict=False):
            if isinstance(arg, Var):
                types.setdefault(arg.name, kind)
        return types

    def _look_up(self, i: int, atom: Atom, bound: tuple[int, ...]) -> dict[Row, list[Row]]:
        """The rows of the atom's relation in sequence i by their values at the bound places."""
        relation: object = atom.key
        if len(object_terms(atom)) < len(atom.args):
            relation = (atom.predicate, atom.args[0], 3)
        key = (i, relation, bound)
        if key not in self._look_ups:
            rows: dict[Row, list[Row]] = {}
            for row in self.facts[i].get(relation, set()):
                rows.setdefault(tuple(row[k] for k in bound), []).append(row)
            self._look_ups[key] = rows
        return self._look_ups[key]


def tagged(constant: Term) -> Tagged:
    assert isinstance(constant, str | int | float)
    return type(constant), constant


def _value(term: Term, match: Match) -> Tagged:
    return match[term.name] if isinstance(term, Var) else tagged(term)


def _new_values(terms: Sequence[Term], row: Row, free: Sequence[int]) -> Match | None:
    """What a row gives the free variables; None where it gives one of them two values."""
    new: Match = {}
    for k in free:
        if new.setdefault(terms[k].name, row[k]) != row[k]:
            return None
    return new


def _is_injective(match: Match, fixed: set[Tagged]) -> bool:
    """Whether a match respects Object Identity: no value twice, no constant of the pattern."""
    values = set(match.values())
    return len(values) == len(match) and not values & fixed


def object_terms(atom: Atom) -> tuple[Term, ...]:
    """The arguments that stand for objects: all but the n of followat."""
    is_followat = atom.predicate.startswith("followat_") and len(atom.args) == 3
    return atom.args[1:] if is_followat else atom.args


# Constraints: their variables take the pattern's terms, those stay as they are.


def matched(general: Atom, specific: Atom, binding: Mapping[str, Term]) -> dict[str, Term] | None:
    """The binding under which one atom becomes the other, None where there is none."""
    if general.key != specific.key:
        return None
    longer = dict(binding)
    for mine, theirs in zip(general.args, specific.args, strict=True):
        if not isinstance(mine, Var):
            if Atom("", (mine,)) != Atom("", (theirs,)):
                return None
        elif not mine.anonymous:
            if mine.name not in longer:
                longer[mine.name] = theirs
            elif Atom("", (longer[mine.name],)) != Atom("", (theirs,)):
                return None
    return longer


def is_instance(atom: Atom, key: Atom) -> bool:
    return matched(key, atom, {}) is not None


def admitted(atom: Atom, bias: Any) -> bool:
    """Whether the white list of an original bias has the atom; without one all are there."""
    return not bias.allowed or bias.admits(atom)


def subsumed_by(literals: Sequence[Literal], atoms: Sequence[Atom]) -> bool:
    """Whether a conjunction matches distinct atoms of a pattern, its `\\==` included."""
    goals = [literal for literal in literals if isinstance(literal, Atom)]
    tests = [literal for literal in literals if isinstance(literal, Comparison)]

    def holds(test: Comparison, binding: Mapping[str, Term]) -> bool:
        left, right = (
            binding[term.name] if isinstance(term, Var) else term
            for term in (test.left, test.right)
        )
        return Atom("", (left,)) != Atom("", (right,))

    def solve(k: int, unused: Sequence[Atom], binding: Mapping[str, Term]) -> bool:
        if k == len(goals):
            return all(holds(test, binding) for test in tests)
        for atom in unused:
            longer = matched(goals[k], atom, binding)
            if longer is not None and solve(k + 1, [a for a in unused if a != atom], longer):
                return True
        return False

    return solve(0, list(dict.fromkeys(atoms)), {})


def violates(atoms: Sequence[Atom], bias: Any) -> bool:
    """Whether a pattern breaks a negconstraint, an atmostone or a sametype."""
    if any(subsumed_by(literals, atoms) for literals in bias.negconstraints):
        return True
    for listed, same_element in [
        *((listed, False) for listed in bias.atmostone),
        *((listed, True) for listed in bias.sametype),
    ]:
        for first in listed:
            for second in listed:
                if same_element and first is not second:
                    continue
                for one in atoms:
                    binding = matched(first, one, {})
                    if binding is not None and any(
                        matched(second, other, binding) is not None
                        for other in atoms
                        if other != one
                    ):
                        return True
    return False


# Patterns up to renaming, by trying.


class Variants:
    """A set of patterns in which variants count as one."""

    def __init__(self) -> None:
        self._buckets: dict[object, list[tuple[tuple[Atom, ...], Any]]] = {}

    def add(self, atoms: Sequence[Atom], value: Any = None) -> bool:
        """Add a pattern unless a variant of it is here; whether it was new."""
        if self.get(atoms) is not None:
            return False
        self._buckets.setdefault(_fingerprint(atoms), []).append((tuple(atoms), value))
        return True

    def get(self, atoms: Sequence[Atom]) -> tuple[tuple[Atom, ...], Any] | None:
        """The variant that is here with its value, or None."""
        for entry in self._buckets.get(_fingerprint(atoms), ()):
            if equal_up_to_renaming(entry[0], atoms):
                return entry
        return None

    def __iter__(self) -> Iterator[tuple[tuple[Atom, ...], Any]]:
        for bucket in self._buckets.values():
            yield from bucket


def _fingerprint(atoms: Iterable[Atom]) -> object:
    """Something that variants share: the shapes of atoms, and where each variable occurs."""
    shapes = []
    places: dict[str, list[str]] = {}
    for atom in set(atoms):
        shape = f"{atom.predicate}{['' if isinstance(a, Var) else tagged(a) for a in atom.args]}"
        shapes.append(shape)
        for k, arg in enumerate(atom.args):
            if isinstance(arg, Var):
                places.setdefault(arg.name, []).append(f"{k}{shape}")
    return tuple(sorted(shapes)), tuple(sorted(tuple(sorted(p)) for p in places.values()))


def equal_up_to_renaming(one: Sequence[Atom], other: Sequence[Atom]) -> bool:
    """Whether a one-to-one renaming of variables turns one set of atoms into the other."""
    first, second = list(dict.fromkeys(one)), list(dict.fromkeys(other))

    def renamed(a: Atom, b: Atom, names: Mapping[str, str]) -> dict[str, str] | None:
        if a.key != b.key:
            return None
        longer = dict(names)
        for mine, theirs in zip(a.args, b.args, strict=True):
            if isinstance(mine, Var) and isinstance(theirs, Var):
                if longer.setdefault(mine.name, theirs.name) != theirs.name:
                    return None
            elif Atom("", (mine,)) != Atom("", (theirs,)):
                return None
        return longer if len(set(longer.values())) == len(longer) else None

    def solve(k: int, unused: Sequence[Atom], names: Mapping[str, str]) -> bool:
        if k == len(first):
            return True
        for atom in unused:
            longer = renamed(first[k], atom, names)
            if longer is not None and solve(k + 1, [b for b in unused if b != atom], longer):
                return True
        return False

    return len(first) == len(second) and solve(0, second, {})
