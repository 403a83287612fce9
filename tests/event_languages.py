"""Random searches for the bit-parallel engine, by seed: facts about one event each, along one line
of 1 to 300 events or along several paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from relynx.bias import Bias, parse_bias
from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom, Constant

VALUES: dict[str, tuple[Constant, ...]] = {"t": ("a", "b", "c"), "u": ("x", 1), "v": ("a", "x", 2)}
LENGTHS = (1, 2, 63, 64, 65, 100, 128, 129, 200, 300)
GAPS = (1, 2, 3, 10, 60)


@dataclass(frozen=True)
class EventLanguage:
    """What a call of `mine` needs."""

    sequences: tuple[tuple[Atom, ...], ...]
    labels: tuple[Constant, ...]
    text: str
    settings: Mapping[str, Any]

    @property
    def X(self) -> Sequences:
        return Sequences.from_atoms(self.sequences, labels=self.labels)

    @property
    def bias(self) -> Bias:
        return parse_bias(self.text)

    def __str__(self) -> str:
        return f"{self.text}\n{self.settings}\n{self.labels}\n" + "\n".join(map(str, self.X))


def event_language(seed: int, shape: str = "", *, small: bool = False) -> EventLanguage:
    """The search of a seed: "lines", "long lines" or "paths", the small ones for slow twins."""
    maker = _Maker(Random(f"{seed}"), shape or ("lines", "long lines", "paths")[seed % 3], small)
    return maker.language()


class _Maker:
    def __init__(self, random: Random, shape: str, small: bool) -> None:
        self.random, self.shape, self.small = random, shape, small
        choice = random.choice
        variables = {kind: choice("*-*") for kind in VALUES}
        self.kinds, self.modes = {}, {}
        for name in "pqr"[: choice([1, 2] if small else [1, 1, 2, 2, 3])]:
            kinds = [choice("ttuv") for _ in range(choice([0, 1, 1, 1, 2, 2, 3]))]
            modes = [choice(["#", variables[kind], variables[kind]]) for kind in kinds]
            at = random.randint(0, len(kinds))
            self.kinds[name] = [*kinds[:at], "event", *kinds[at:]]
            self.modes[name] = [*modes[:at], "+", *modes[at:]]
        self.dimensions = choice(["sh", "sh", "shk", "s"]) if shape == "paths" else "s"
        self.most_facts = choice([1, 1, 1, 2, 3])  # of an event

    def language(self) -> EventLanguage:
        r = self.random
        is_many = r.random() < 0.1 and not self.small
        n_sequences = r.randint(66, 140) if is_many else r.randint(2, 5 if self.small else 9)
        sequences = [self._sequence(self._n_events(is_many)) for _ in range(n_sequences)]
        sequences[0] += self._what_is_missing(sequences)
        classes = r.choice([("yes",), ("yes", "no"), ("yes", "no"), (1, 2, 3)])
        return EventLanguage(
            tuple(map(tuple, sequences)),
            tuple(r.choice(classes) for _ in sequences),
            "\n".join(self._bias()),
            self._settings(n_facts=sum(map(len, sequences))),
        )

    def _n_events(self, is_many: bool) -> int:
        r = self.random
        if self.small:
            return r.randint(1, 4)
        if self.shape == "long lines":
            return r.randint(1, 80) if is_many or r.random() < 0.4 else r.choice(LENGTHS)
        if self.shape == "paths" and not is_many and r.random() < 0.06:
            return r.randint(40, 64)
        return r.randint(1, 4 if is_many else 7)

    def _sequence(self, n_events: int) -> list[Atom]:
        r = self.random
        events = [f"e{i}" for i in range(n_events)]
        r.shuffle(events)
        atoms = []
        for dimension in self.dimensions:
            order, cuts = events, []
            if self.shape == "paths":
                order = r.sample(events, n_events if dimension == "s" else r.randint(0, n_events))
                cuts = [i for i in range(1, len(order)) if r.random() < 0.2]
            for begin, end in pairwise([0, *cuts, len(order)]):
                links = pairwise(order[begin:end])
                atoms += [Atom(f"next_{dimension}", pair) for pair in links]
        for event in events:
            for _ in range(r.randint(r.random() > 0.15, self.most_facts)):
                atoms.append(self._fact(r.choice([*self.kinds]), event))
        r.shuffle(atoms)
        return atoms

    def _fact(self, name: str, event: str) -> Atom:
        kinds = self.kinds[name]
        return Atom(
            name, tuple(event if k == "event" else self.random.choice(VALUES[k]) for k in kinds)
        )

    def _what_is_missing(self, sequences: Sequence[Sequence[Atom]]) -> list[Atom]:
        present = {atom.predicate for atoms in sequences for atom in atoms}
        names = [name for name in self.kinds if name not in present]
        links = [f"next_{d}" for d in self.dimensions if f"next_{d}" not in present]
        return [self._fact(name, "e0") for name in names] + [
            Atom(name, ("e0", "e1")) for name in links
        ]

    def _bias(self) -> list[str]:
        r = self.random
        lines = [f"type({name}({','.join(kinds)}))." for name, kinds in self.kinds.items()]
        lines += [f"mode({name}({','.join(modes)}))." for name, modes in self.modes.items()]
        lines += [f"dimension(next_{d})." for d in self.dimensions]
        if r.random() < 0.3:
            link = f"{r.choice(['next', 'follow'])}_{r.choice(self.dimensions)}(A,B)"
            atoms = [self._constraint("A"), link, self._constraint("B")]
            lines.append(f"negconstraint([{', '.join(atoms[: r.choice([2, 3])])}]).")
        if r.random() < 0.15:
            lines.append(f"key([{self._constraint('_')}]).")
        if r.random() < 0.15:
            lines.append(f"atmostone([{self._constraint('A')}]).")
        if r.random() < 0.2 and any("t" in kinds for kinds in self.kinds.values()):
            lines.append(f"values(t,[{r.choice(['a', 'a,b', 'b,z', 'z'])}]).")
        return lines

    def _constraint(self, event: str) -> str:
        name = self.random.choice([*self.kinds])
        return f"{name}({','.join(event if k == 'event' else '_' for k in self.kinds[name])})"

    def _settings(self, n_facts: int) -> dict[str, Any]:
        r = self.random
        object_identity = r.random() < 0.6
        max_gap, max_length = r.choice([1, 2, 2, 3, 5]), r.choice([2, 2, 3, 3, 4])
        if self.shape == "long lines":
            max_gap = r.choice(GAPS)
            max_length = 2
        if len(self.dimensions) > 1:
            has_many = self.most_facts > 1 or not object_identity
            max_gap, max_length = min(max_gap, 3), 2 if has_many and n_facts > 80 else 3
        return {
            "min_support": r.choice([0.2, 0.34, 0.5, 0.5, 0.67, 1.0]),
            "min_frequency": r.choice([1, 2, 2, 3]),
            "max_length": 2 if self.small else max_length,
            "max_gap": 2 if self.small else max_gap,
            "object_identity": object_identity,
        }
