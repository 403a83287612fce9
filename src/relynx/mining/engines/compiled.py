"""The bias in numbers: what the kernels of the miner need to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from relynx.arrays import Ints, Longs
from relynx.bias import Bias
from relynx.errors import BiasError, DataError
from relynx.logic import tables as tb
from relynx.logic.tables import Key
from relynx.mining.engines.general._general_kernels import Facts, Language
from relynx.mining.engines.general._listing_kernels import MOST_ARGUMENTS
from relynx.mining.matching._backtracking_kernels import LINE
from relynx.mining.matching.index import Dimension, Index, flat

EVENT = "event"
MOST_CODES = 1 << 61
# What the engine and the matcher by search read alike.
SHARED = (
    *("n_nodes", "most_nodes", "has_graphs", "node_off"),
    *("shape", "order", "rank", "first", "last", "next_off", "neighbours"),
)


@dataclass(frozen=True)
class Compiled:
    """The relations that a bias allows in some data, and the numbers of its types and constants."""

    index: Index
    relations: tuple[Key, ...]
    types: tuple[tuple[int, ...], ...]  # of the arguments of each relation
    constants: tuple[Longs, ...]  # codes that each type admits
    modes: tuple[tuple[tuple[str, ...], ...], ...]
    event_type: int
    dimensions: tuple[int, ...]  # numbers of the bias' dimensions in the index

    @property
    def dimension_paths(self) -> list[Dimension]:
        """The dimensions of the bias."""
        return [self.index.dimensions[d] for d in self.dimensions]

    @property
    def is_line(self) -> bool:
        """Is there one dimension, along which each sequence is a line of events, or none?"""
        return len(self.dimension_paths) < 2 and all(
            bool((d.shape == LINE).all()) for d in self.dimension_paths
        )

    @property
    def has_graphs(self) -> bool:
        """Is some dimension no path in some sequence?"""
        return any(dimension.has_graphs for dimension in self.dimension_paths)

    def language(self, *, first: bool, injective: bool) -> Language:
        """As the kernels take it; in the first atom of a pattern `+` stands for a new variable."""
        arity = np.array([len(types) for types in self.types], np.int64)
        types = np.array([t for types in self.types for t in types], np.int64)
        admits = np.zeros((len(types), 3), np.int64)
        a = 0
        for relation, modes in enumerate(self.modes):
            for j in range(arity[relation]):
                for m, mode in enumerate(modes):
                    for kind in _kinds(mode[j], first):
                        admits[a + j, kind] |= 1 << m
            a += int(arity[relation])
        return Language(
            arity=arity,
            argument0=np.cumsum(arity) - arity,
            relation=np.repeat(np.arange(len(arity)), arity),
            types=types,
            admits=admits,
            n_constants=np.array([len(self.constants[t]) for t in types], np.int64),
            event_type=self.event_type,
            one_event=all(types.count(self.event_type) <= 1 for types in self.types),
            injective=injective,
        )

    def data(self) -> Facts:
        """The facts of the relations, and where each key occurs in them."""
        index = self.index
        n, n_codes, relations = index.n_nodes, index.n_constants, self.relations
        cells = [index.relation(key).cells for key in relations]
        sizes = np.array([one.shape[1] for one in cells], np.int64)
        sequences = flat([index.facts.tables[key][0] for key in relations])
        fact_off = np.concatenate([[0], np.cumsum(sizes)])
        places, entries, a = [], [], 0
        for r, (one, types) in enumerate(zip(cells, self.types, strict=True)):
            for j, (row, t) in enumerate(zip(one, types, strict=True)):
                places.append(places_among(self.constants[t], row - n))
                if any(mode[j] in "+*" for mode in self.modes[r]):
                    entries.append((row, a, sequences[fact_off[r] : fact_off[r + 1]]))
                a += 1
        keys = flat([row for row, _, _ in entries])
        arguments = np.repeat(
            np.array([a for _, a, _ in entries], np.int32), [len(row) for row, _, _ in entries]
        )
        facts = flat([np.arange(len(row), dtype=np.int32) for row, _, _ in entries])
        where = flat([s for _, _, s in entries])
        # Nodes rise from sequence to sequence; values are made to do so behind them.
        of_node = keys < n
        rising = np.where(of_node, np.int64(0), n + where.astype(np.int64) * n_codes) + keys
        by_key = np.argsort(rising, kind="stable")
        n_of_nodes = int(of_node.sum())
        starts = n + np.arange(index.n_sequences + 1) * n_codes + n
        shared = index.data((), ())
        return Facts(
            **{name: getattr(shared, name) for name in SHARED},
            cells=flat([one.ravel() for one in cells]),
            places=flat(places),
            cell_off=np.cumsum([0, *(one.size for one in cells)])[: len(cells)].astype(np.int64),
            size=sizes,
            fact_off=fact_off.astype(np.int64),
            fact_sequence=sequences,
            entry_off=np.searchsorted(keys[by_key[:n_of_nodes]], np.arange(n + 1)).astype(np.int64),
            value_off=np.searchsorted(rising[by_key], starts).astype(np.int64),
            entry_keys=keys[by_key],
            entry_arguments=arguments[by_key],
            entry_facts=facts[by_key],
        )

    def first_facts(self, data: Facts) -> Facts:
        """The same with entries (relation, fact) of all facts, sequence by sequence."""
        relation = np.repeat(np.arange(len(data.size), dtype=np.int32), data.size)
        fact = np.arange(len(relation)) - np.repeat(data.fact_off[:-1], data.size)
        order = np.argsort(data.fact_sequence, kind="stable")
        ends = np.arange(self.index.n_sequences + 1)
        return data._replace(
            value_off=np.searchsorted(data.fact_sequence[order], ends).astype(np.int64),
            entry_arguments=relation[order],
            entry_facts=fact[order].astype(np.int32),
        )

    def bases(self, n_rows: int) -> Longs:
        """For each number of variables how many codes the relations before another have. MOST_CODES
        stands for all that is more. After the last relation comes the sum."""
        out = np.zeros((n_rows, len(self.types) + 1), np.int64)
        ways = [[len(types) + 1 + len(self.constants[t]) for t in types] for types in self.types]
        for n in range(n_rows):
            sizes = (min(prod(n + way for way in one), MOST_CODES) for one in ways)
            out[n, 1:] = [min(total, MOST_CODES) for total in accumulate(sizes)]
        return out


def places_among(constants: Longs, codes: Ints) -> Ints:
    """The places of codes among some that rise; -1 for those that are not there."""
    if not len(constants):
        return np.full(len(codes), -1, np.int32)
    places = np.minimum(np.searchsorted(constants, codes), len(constants) - 1)
    return np.where(constants[places] == codes, places, -1).astype(np.int32)


def _kinds(sign: str, first: bool) -> tuple[int, ...]:
    """What an argument may be: 0 an old variable, 1 a new one, 2 a constant."""
    return {"+": (0, 1) if first else (0,), "-": (1,), "#": (2,), "*": (0, 1, 2)}[sign]


def compile_bias(bias: Bias, index: Index) -> Compiled:
    """Number what a bias says, as far as the data have it."""
    chosen = [
        (name, len(types))
        for name, types in bias.types.items()
        if (name, len(types)) in index.facts.tables and bias.modes.get(name)
    ]
    for name, arity in chosen:
        if arity > MOST_ARGUMENTS or len(bias.modes[name]) > 62:
            raise BiasError(
                f"{name}/{arity} has more than {MOST_ARGUMENTS} arguments or 62 modes: "
                "the miner does not take that many"
            )
    _check_values(bias, index, chosen)
    names = [EVENT, *dict.fromkeys(t for name, _ in chosen for t in bias.types[name] if t != EVENT)]
    number = {name: i for i, name in enumerate(names)}
    return Compiled(
        index=index,
        relations=tuple(chosen),
        types=tuple(tuple(number[t] for t in bias.types[name]) for name, _ in chosen),
        constants=tuple(_constants(bias, index, chosen, name) for name in names),
        modes=tuple(tuple(bias.modes[name]) for name, _ in chosen),
        event_type=number[EVENT],
        dimensions=tuple(
            index.dimension_names.index(name)
            for name in bias.dimensions
            if name in index.dimension_names
        ),
    )


def _check_values(bias: Bias, index: Index, relations: list[Key]) -> None:
    """An argument that the bias declares to hold values must not hold events."""
    for key in relations:
        for j, (type_, column) in enumerate(
            zip(bias.types[key[0]], index.relation(key).cells, strict=True)
        ):
            if type_ == EVENT or int(column.min(initial=index.n_nodes)) >= index.n_nodes:
                continue
            events = column[column < index.n_nodes]
            if len(events):
                raise DataError(
                    f"argument {j + 1} of {key[0]}/{key[1]} has the type '{type_}' in the bias, "
                    f"but holds events such as {index.constants_of(events[:1])[0]}: declare it "
                    "as event, or give the values other names than the events"
                )


def _constants(bias: Bias, index: Index, relations: list[Key], type_: str) -> Longs:
    """The codes of the constants that a `#` of some type may be."""
    if type_ == EVENT:
        return np.empty(0, np.int64)
    if type_ in bias.values:
        codes = (index.facts.vocabulary.code(constant) for constant in bias.values[type_])
        return tb.distinct(np.array([code for code in codes if code >= 0], np.int64))
    places = [
        (key, j) for key in relations for j, name in enumerate(bias.types[key[0]]) if name == type_
    ]
    if not any(mode[j] in "#*" for key, j in places for mode in bias.modes[key[0]]):
        return np.empty(0, np.int64)
    is_there = np.zeros(index.n_constants, bool)
    for key, j in places:
        is_there[index.facts.tables[key][1 + j]] = True
    return np.flatnonzero(is_there)
