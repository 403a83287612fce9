"""Small random languages: sequences, labels, background rules, a bias and conditions, by seed.

Of four seeds, two give lines only (the first of them one dimension with one fluent an event, and
most of them one mode a predicate that treats all arguments of a type alike), two
give any graph: trees, rings, loops, several paths, events that nothing links. Of ten, one has many
small sequences and one some long ones, beyond the bits of a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

from enumerate_patterns import EVENT, Conditions, Found, TooLarge, enumerate_patterns
from reference import background_closure

from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.errors import BiasError
from relynx.logic.datalog import Background, parse_background
from relynx.logic.terms import Atom, Comparison, Constant, Literal, Not, Rule, Var

VALUES: dict[str, tuple[Constant, ...]] = {
    "t": ("a", "b", "c"),
    "u": (1, 1.0, 2, "a"),
    "o": ("o1", "o2", "o3", "b"),
}
LIMIT = 120_000
FEW = 8
SETTINGS = ("max_length", "max_gap", "min_frequency", "min_support", "object_identity")
BLANK = Var("_")


@dataclass(frozen=True)
class Language:
    """All that a call of `mine` needs. The bias holds the `spoken` settings, not the call."""

    seed: int
    sequences: tuple[tuple[Atom, ...], ...]
    labels: tuple[Constant, ...] | None
    background: Background | None
    bias: Bias
    conditions: Conditions
    spoken: frozenset[str] = frozenset()

    @property
    def X(self) -> Sequences:
        return Sequences.from_atoms(self.sequences, labels=self.labels, background=self.background)

    @property
    def classes(self) -> tuple[Constant, ...]:
        """The label of each sequence; without labels all are of one class."""
        return ("all",) * len(self.sequences) if self.labels is None else self.labels

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of the call."""
        return {
            f.name: getattr(self.conditions, f.name)
            for f in fields(Conditions)
            if f.name not in self.spoken
        }

    def closures(self) -> list[set[Atom]]:
        """The facts of each sequence with those that the rules derive."""
        rules = self.background.rules if self.background else ()
        flag = self.conditions.object_identity
        return [background_closure(rules, atoms, flag) for atoms in self.sequences]

    def enumerate(self) -> list[Found]:
        return enumerate_patterns(
            self.closures(),
            self.classes,
            self.bias,
            self.conditions,
            limit=LIMIT * (3 if self.seed % 10 == 7 else 1),
        )

    def __str__(self) -> str:
        sequences = "\n".join(map(str, self.X))
        return (
            f"language {self.seed}\n--- bias\n{self.bias}\n--- background\n{self.background}\n"
            f"--- sequences\n{sequences}\n--- call\nmine(X, bias=bias, "
            + ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
            + ")"
        )


@cache
def solved_language(seed: int) -> tuple[Language, list[Found]]:
    """The language of a seed and its answer.

    Where there are too many candidates patterns are kept shorter. Nine of ten languages are drawn
    again while they have next to no patterns.
    """
    for attempt in range(20):
        solved = _fitted(make_language(seed, attempt))
        if solved and (len(solved[1]) >= FEW or seed % 10 == 9 or attempt >= 4):
            return solved
    raise AssertionError(f"language {seed}: every attempt has too many single atoms")


def make_language(seed: int, attempt: int = 0) -> Language:
    """A random language, the same for the same numbers."""
    random = Random(f"{seed}/{attempt}")
    maker = _Maker(
        random, flat=seed % 4 == 0, chains=seed % 4 < 2, many=seed % 10 == 3, long=seed % 10 == 7
    )
    return maker.language(seed)


def _fitted(language: Language) -> tuple[Language, list[Found]] | None:
    """The language with shorter patterns where needed, and its answer; None if that is no help."""
    while True:
        try:
            return language, language.enumerate()
        except TooLarge:
            length = language.conditions.max_length - 1
            if not length:
                return None
            bias = language.bias
            if "max_length" in language.spoken:
                bias = replace(bias, max_length=length)
            conditions = replace(language.conditions, max_length=length)
            language = replace(language, conditions=conditions, bias=bias)


def shuffled(language: Language, random: Random) -> Language:
    """The same language with everything in another order that has no meaning."""
    order = random.sample(range(len(language.sequences)), len(language.sequences))
    bias = language.bias
    names = random.sample(list(bias.modes), len(bias.modes))
    return replace(
        language,
        sequences=tuple(
            tuple(random.sample(language.sequences[i], len(language.sequences[i]))) for i in order
        ),
        labels=None if language.labels is None else tuple(language.labels[i] for i in order),
        bias=replace(
            bias,
            types=dict(reversed(bias.types.items())),
            modes={name: bias.modes[name][::-1] for name in names},
            values={kind: values[::-1] for kind, values in bias.values.items()},
            dimensions=bias.dimensions[::-1],
        ),
    )


def renamed(language: Language, random: Random) -> tuple[Language, Callable[[Atom], Atom]]:
    """The same language with other texts for its text constants, and how an atom is renamed."""
    known = {c for values in VALUES.values() for c in values if isinstance(c, str)}
    known |= {
        arg
        for atoms in language.sequences
        for atom in atoms
        for arg in atom.args
        if isinstance(arg, str)
    }
    fresh = [f"it's {k}" for k in range(len(known) + 1)]
    random.shuffle(fresh)
    names = dict(zip(sorted(known | {"z"}), fresh, strict=False))

    def term(value: Any) -> Any:
        return names[value] if isinstance(value, str) else value

    def rename(literal: Any) -> Any:
        if isinstance(literal, Comparison):
            return Comparison(literal.operator, term(literal.left), term(literal.right))
        if isinstance(literal, Not):
            return Not(rename(literal.atom))
        return Atom(literal.predicate, tuple(map(term, literal.args)))

    def lists(constraints: Any) -> Any:
        return tuple(tuple(map(rename, literals)) for literals in constraints)

    bias, background = language.bias, language.background
    if background is not None:
        rules = [Rule(rename(r.head), tuple(map(rename, r.body))) for r in background.rules]
        background = Background(tuple(rules))
    other = replace(
        language,
        sequences=tuple(tuple(map(rename, atoms)) for atoms in language.sequences),
        background=background,
        bias=replace(
            bias,
            values={kind: tuple(map(term, values)) for kind, values in bias.values.items()},
            key=tuple(map(rename, bias.key)),
            negconstraints=lists(bias.negconstraints),
            posconstraints=lists(bias.posconstraints),
            atmostone=lists(bias.atmostone),
            sametype=lists(bias.sametype),
        ),
    )
    return other, rename


class _Maker:
    """Draws the parts of a language, each in view of those before."""

    def __init__(self, random: Random, *, flat: bool, chains: bool, many: bool, long: bool) -> None:
        self.random = random
        self.flat = flat
        self.chains = chains
        self.many = many
        self.long = long
        self.alike = chains and random.random() < 0.6
        self.signs = {kind: random.choice("*-*") for kind in VALUES}
        self.types: dict[str, tuple[str, ...]] = {}
        self.dimensions: tuple[str, ...] = ()
        self.values: dict[str, tuple[Constant, ...]] = {}
        self.modes: dict[str, tuple[tuple[str, ...], ...]] = {}

    def language(self, seed: int) -> Language:
        r = self.random
        n_dimensions = 1 if self.flat or self.alike else r.choice([0, 1, 1, 1, 2, 2, 3])
        self.dimensions = tuple("sbh"[:n_dimensions])
        self.types = self._types()
        sequences = self._sequences()
        background = None if self.long or r.random() < 0.65 else self._background()
        used = {kind for kinds in self.types.values() for kind in kinds}
        self.values = {
            kind: self._some([*constants, "z"], r.randint(1, 4))
            for kind, constants in VALUES.items()
            if r.random() < 0.3 and kind in used
        }
        self.modes = {
            name: self._modes(kinds)
            for name, kinds in self.types.items()
            if name == "p" or r.random() < 0.95
        }
        if self.dimensions and r.random() < 0.1:
            self.dimensions = self.dimensions[1:]
        classes = r.choice([("yes",), ("yes", "no"), ("yes", "no"), (1, 2, 3)])
        labels = [r.choice(classes) for _ in sequences] if r.random() < 0.8 else None
        conditions = self._conditions(labels)
        spoken = frozenset(name for name in SETTINGS if r.random() < 0.15)
        bias = self._bias(conditions, spoken)
        return Language(
            seed,
            tuple(map(tuple, sequences)),
            None if labels is None else tuple(labels),
            background,
            bias,
            conditions,
            spoken,
        )

    def _bias(self, conditions: Conditions, spoken: frozenset[str]) -> Bias:
        r = self.random
        bias = Bias(
            types=self.types,
            modes=self.modes,
            values=self.values,
            dimensions=self.dimensions,
            negconstraints=(
                *(self._conjunction(strong=True) for _ in self._few(0.45)),
                *self._forbidden_link(),
            ),
            posconstraints=tuple(self._conjunction(strong=False) for _ in self._few(0.2)),
            atmostone=tuple(self._list() for _ in self._few(0.2)),
            sametype=tuple(self._list() for _ in self._few(0.15)),
            **self._settings(conditions, spoken),
        )
        if r.random() < 0.3:
            with suppress(BiasError):  # a key is refused that leaves some mode unused
                return replace(bias, key=self._key())
        return bias

    # predicates and facts

    def _types(self) -> dict[str, tuple[str, ...]]:
        r = self.random
        if self.long:
            return {"p": (EVENT, "t"), "q": (EVENT,)}
        if self.flat:
            kinds = [r.choice("ttu") for _ in range(r.choice([1, 1, 2, 2, 3]))]
            kinds.insert(r.choice([0, 0, 0, 1]), EVENT)
            types = {"p": tuple(kinds)}
            if r.random() < 0.5:
                types["q"] = tuple(r.sample([EVENT, r.choice("ttu")], 2))
            return types
        types = {}
        for name in "pqrw"[: r.choice([2, 2, 3, 4])]:
            arity = r.choice([1, 2, 2, 2, 3, 3, 4])
            alike = name == "p" or self.alike
            n_events = 1 if alike else r.choice([1, 1, 1, 1, 1, 2, 0])
            kinds = [EVENT] * min(n_events, arity)
            kinds += [r.choice("tttuo") for _ in range(arity - len(kinds))]
            r.shuffle(kinds)
            types[name] = tuple(kinds)
        if r.random() < 0.1 and not self.alike:
            types["z"] = ()
        return types

    def _sequences(self) -> list[list[Atom]]:
        r = self.random
        shared_names = r.random() < 0.7
        largest = r.choice([4, 5, 6]) if self.chains else r.choice([3, 4, 5])
        sequences = []
        for i in range(r.randint(66, 140) if self.many else r.randint(3, 8)):
            n = r.randint(0 if r.random() < 0.2 else 2, 3 if self.many else largest)
            if self.long and i == 0:
                n = r.randint(61, 68)
            events = [f"e{k}" if shared_names else f"e{i}{k}" for k in range(n)]
            r.shuffle(events)
            atoms = [
                Atom(f"next_{name}", pair)
                for name in self.dimensions
                for pair in self._links(events)
            ]
            atoms += self._fluents(events)
            r.shuffle(atoms)
            sequences.append(atoms)
        present = {atom.predicate for atoms in sequences for atom in atoms}
        for name in self.types:
            if name not in present:
                sequences[0].append(self._fact(name, ["e0"] * self.types[name].count(EVENT)))
        return sequences

    def _links(self, events: Sequence[str]) -> list[tuple[str, str]]:
        r = self.random
        order = r.sample(events, len(events))
        chain = list(pairwise(order))
        if self.chains:  # some in two pieces
            return [pair for pair in chain if self.flat or r.random() < 0.95]
        shape = r.choice(["chain", "tree", "ring", "graph", "pieces", "none"])
        match shape:
            case "chain":
                return chain
            case "tree":
                return [(r.choice(order[:k]), order[k]) for k in range(1, len(order))]
            case "ring":
                return [*chain, (order[-1], order[0])] if order else []
            case "graph":
                return [(x, y) for x in order for y in order if r.random() < 1.4 / len(order)]
            case "pieces":
                return [pair for pair in chain if r.random() < 0.6]
            case _:
                return []

    def _fluents(self, events: Sequence[str]) -> list[Atom]:
        r = self.random
        if self.flat and r.random() < 0.9:
            chosen = [(e, r.choice(list(self.types))) for e in events]
            return [self._fact(name, [e]) for e, name in chosen]
        atoms = []
        for name, kinds in self.types.items():
            n_events = kinds.count(EVENT)
            if n_events == 0:
                atoms += [self._fact(name, []) for _ in range(r.randint(0, 3 if kinds else 1))]
            elif n_events == 1:
                atoms += [self._fact(name, [e]) for e in events if r.random() < 0.6]
            elif events:
                atoms += [
                    self._fact(name, [r.choice(events) for _ in range(n_events)])
                    for _ in range(r.randint(0, 4))
                ]
        return atoms

    def _fact(self, name: str, events: Sequence[str]) -> Atom:
        left = list(events)
        args = [
            left.pop() if kind == EVENT else self.random.choice(VALUES[kind][:3])
            for kind in self.types[name]
        ]
        if "u" in self.types[name] and self.random.random() < 0.2:
            args[self.types[name].index("u")] = "a"
        return Atom(name, tuple(args))

    # background rules

    def _background(self) -> Background:
        r = self.random
        lines = []
        makers = [
            self._joined,
            self._projected,
            self._without,
            self._constants_facts,
            self._not_one,
        ]
        if self.dimensions:
            makers += [self._reached, self._neighbours, self._backwards]
        for k, make in enumerate(r.sample(makers, r.choice([1, 1, 2]))):
            lines.append(make(f"d{k}"))
        return parse_background("\n".join(lines))

    def _general(self, name: str, letter: str) -> tuple[Atom, dict[str, str]]:
        """An atom of a predicate whose variables are all different, and their types."""
        variables = [f"{letter}{k}" for k in range(len(self.types[name]))]
        atom = Atom(name, tuple(map(Var, variables)))
        return atom, dict(zip(variables, self.types[name], strict=True))

    def _stored(self) -> str:
        """A predicate that facts are of, with one argument at least."""
        return self.random.choice([n for n in "pqrw" if n in self.types])

    def _joined(self, head: str) -> str:
        one, types = self._general(self._stored(), "A")
        other, others = self._general(self._stored(), "B")
        shared = [(a, b) for a, k in types.items() for b, other in others.items() if k == other]
        args = list(other.args)
        if shared:
            a, b = self.random.choice(shared)
            args[int(b[1:])] = Var(a)
            del others[b]
        types |= others
        chosen = self._some(list(types), self.random.choice([1, 1, 2]))
        self.types[head] = tuple(types[v] for v in chosen)
        return f"{head}({','.join(chosen)}) :- {one}, {Atom(other.predicate, tuple(args))}."

    def _mirrored(self, head: str) -> str:
        """More facts of a stored predicate, two arguments of one type exchanged."""
        for name, kinds in self.types.items():
            for i in range(len(kinds)):
                for j in range(i):
                    if kinds[i] == kinds[j]:
                        one, _ = self._general(name, "A")
                        args = list(one.args)
                        args[i], args[j] = args[j], args[i]
                        return f"{Atom(name, tuple(args))} :- {one}."
        return self._projected(head)

    def _projected(self, head: str) -> str:
        one, types = self._general(self._stored(), "A")
        chosen = self._some(list(types), self.random.choice([1, 2]))
        self.types[head] = tuple(types[v] for v in chosen)
        return f"{head}({','.join(chosen)}) :- {one}."

    def _without(self, head: str) -> str:
        one, types = self._general(self._stored(), "A")
        chosen = self._some(list(types), self.random.choice([1, 2]))
        kinds = {kind: v for v, kind in types.items()}
        name = self._stored()
        negated = [kinds.get(kind, "_") for kind in self.types[name]]
        self.types[head] = tuple(types[v] for v in chosen)
        return f"{head}({','.join(chosen)}) :- {one}, \\+ {name}({','.join(negated)})."

    def _constants_facts(self, head: str) -> str:
        self.types[head] = ("t", "t")
        return f"{head}(a,b). {head}(b,c). {head}(c,c)."

    def _not_one(self, head: str) -> str:
        numbers = [n for n, kinds in self.types.items() if "u" in kinds and n in "pqrw"]
        if not numbers:
            return self._projected(head)
        one, types = self._general(self.random.choice(numbers), "A")
        number = next(v for v, kind in types.items() if kind == "u")
        chosen = self._some(list(types), self.random.choice([1, 2]))
        self.types[head] = tuple(types[v] for v in chosen)
        return f"{head}({','.join(chosen)}) :- {one}, {number} \\== 1."

    def _reached(self, head: str) -> str:
        self.types[head] = (EVENT, EVENT)
        step = f"next_{self.dimensions[0]}"
        return f"{head}(A,B) :- {step}(A,B). {head}(A,C) :- {head}(A,B), {step}(B,C)."

    def _neighbours(self, head: str) -> str:
        name = next(n for n, kinds in self.types.items() if kinds.count(EVENT) == 1)
        one, types = self._general(name, "A")
        event = next(v for v, kind in types.items() if kind == EVENT)
        chosen = self._some(list(types), self.random.choice([1, 2]))
        self.types[head] = (*(types[v] for v in chosen), EVENT)
        operator = self.random.choice(["next", "follow"])
        return (
            f"{head}({','.join(chosen)},N) :- {one}, {operator}_{self.dimensions[-1]}({event},N)."
        )

    def _backwards(self, head: str) -> str:
        step = f"next_{self.dimensions[0]}"
        self.dimensions = (*self.dimensions, "back")
        return f"next_back(B,A) :- {step}(A,B)."

    # the bias

    def _modes(self, kinds: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        r = self.random
        if self.alike:
            choices = [
                "+" if k == EVENT else r.choice(["#", self.signs[k], self.signs[k]]) for k in kinds
            ]
            return (tuple(choices),)
        modes = []
        for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
            n_open = 0
            mode = []
            for kind in kinds:
                if kind == EVENT:
                    sign = r.choice("+++++**-")
                else:
                    sign = r.choice("++--###****" if n_open < 2 else "+-##")
                    n_open += sign == "*"
                mode.append(sign)
            modes.append(tuple(mode))
        return tuple(dict.fromkeys(modes))

    def _constant_places(self, name: str) -> list[int]:
        """The arguments of a predicate in which some mode allows a constant."""
        return [
            k
            for k, kind in enumerate(self.types[name])
            if kind != EVENT and any(mode[k] in "#*" for mode in self.modes[name])
        ]

    def _constant(self, kind: str) -> Constant:
        return self.random.choice(self.values.get(kind, VALUES[kind][:3]))

    def _key(self) -> tuple[Atom, ...]:
        r = self.random
        names = self._some(list(self.modes), r.choice([1, 2]))
        keys = []
        for name in names:
            args: list[Any] = [BLANK] * len(self.types[name])
            for k in self._constant_places(name):
                if r.random() < 0.3 and all(mode[k] in "#*" for mode in self.modes[name]):
                    args[k] = self._constant(self.types[name][k])
            keys.append(Atom(name, tuple(args)))
        return tuple(keys)

    def _constraint_atom(self, variables: dict[str, str], *, blanks: float) -> Atom:
        """An atom over the predicates and links, its variables shared with those before."""
        r = self.random
        if self.dimensions and variables and r.random() < 0.25:
            kinds: tuple[str, ...] = (EVENT, EVENT)
            name = f"{r.choice(['next', 'follow'])}_{r.choice(self.dimensions)}"
            places: list[int] = []
        else:
            name = r.choice([n for n in self.modes if self.types[n]])
            kinds = self.types[name]
            places = self._constant_places(name)
        args: list[Any] = []
        for k, kind in enumerate(kinds):
            known = [v for v, other in variables.items() if other == kind]
            if k in places and r.random() < 0.3:
                args.append(self._constant(kind))
            elif r.random() < blanks:
                args.append(BLANK)
            elif known and r.random() < 0.7:
                args.append(Var(r.choice(known)))
            else:
                new = "ABCDEFGHIJKLMN"[len(variables)]
                variables[new] = kind
                args.append(Var(new))
        return Atom(name, tuple(args))

    def _conjunction(self, *, strong: bool) -> tuple[Literal, ...]:
        r = self.random
        variables: dict[str, str] = {}
        n = 2 if strong else r.choice([1, 2])
        literals: list[Literal] = [self._constraint_atom(variables, blanks=0.2) for _ in range(n)]
        if strong and r.random() < 0.4:
            kind = r.choice(list(variables.values()) or [EVENT])
            of_kind = [v for v, other in variables.items() if other == kind]
            if len(of_kind) > 1:
                one, other = r.sample(of_kind, 2)
                literals.append(Comparison("\\==", Var(one), Var(other)))
            elif of_kind and kind != EVENT:
                literals.append(Comparison("\\==", Var(of_kind[0]), self._constant(kind)))
        return tuple(literals)

    def _forbidden_link(self) -> list[tuple[Literal, ...]]:
        """Sometimes a constraint of one link."""
        r = self.random
        if not self.dimensions or r.random() < 0.8:
            return []
        ends = r.choice([(BLANK, BLANK), (BLANK, Var("A")), (Var("A"), Var("B")), (Var("A"),) * 2])
        name = r.choice(self.dimensions)
        steps = r.choice([BLANK, 2, 3])
        followat = Atom(f"followat_{name}", (steps, *ends))
        return [(r.choice([Atom(f"next_{name}", ends), Atom(f"follow_{name}", ends), followat]),)]

    def _list(self) -> tuple[Atom, ...]:
        variables: dict[str, str] = {}
        return tuple(
            self._constraint_atom(variables, blanks=0.4)
            for _ in range(self.random.choice([1, 2, 2]))
        )

    def _conditions(self, labels: Sequence[Constant] | None) -> Conditions:
        r = self.random
        max_support = None
        if labels and r.random() < 0.25:
            max_support = {r.choice(labels): r.choice([0.0, 0.34, 0.5])}
        return Conditions(
            min_support=r.choice([0.0, 0.1, 0.2, 0.34, 0.5, 0.5, 0.67, 1.0]),
            min_frequency=r.choice([1, 1, 2, 2, 3]),
            max_length=r.choice([3, 3, 4, 5] if self.flat else [1, 2, 2, 3, 3, 3, 4, 4]),
            max_gap=r.choice([1, 2, 2, 3]),
            object_identity=r.random() < 0.65,
            min_confidence=r.choice([None] * 5 + [0.6, 1.0]),
            max_support=max_support,
            closed=r.random() < 0.2,
        )

    def _settings(self, conditions: Conditions, spoken: frozenset[str]) -> dict[str, Any]:
        """What the bias says: the spoken settings, and some that the call overrules."""
        overruled = {"max_length": 7, "max_gap": 5, "min_frequency": 9, "min_support": 0.9}
        settings: dict[str, Any] = {
            name: value for name, value in overruled.items() if self.random.random() < 0.1
        }
        return settings | {name: getattr(conditions, name) for name in sorted(spoken)}

    def _few(self, chance: float) -> range:
        return range(self.random.choice([1, 1, 2]) if self.random.random() < chance else 0)

    def _some(self, values: Sequence[Any], n: int) -> tuple[Any, ...]:
        chosen = self.random.sample(range(len(values)), min(n, len(values)))
        return tuple(values[i] for i in sorted(chosen))
