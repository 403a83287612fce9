"""Facts, patterns and coverage in the form that the page reads: numbers, packed as text.

The page matches patterns itself, in the one sequence that it shows. Constants and predicates are
numbers of two lists; the facts of a sequence are bytes, seven bits of a number to each.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.event_arguments import dimension_names, event_keys
from relynx.data.sequences import Facts
from relynx.data.vocabulary import Vocabulary
from relynx.logic.dimensions import OPERATORS, link_name, steps
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Struct, Var, constant_key, constant_text
from relynx.mining.patterns.pattern import Pattern

# Inside a script element these would end it, or a line of JavaScript.
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def as_json(value: object) -> str:
    """ASCII JSON that is safe inside a script element, whatever text it holds."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def short(value: float) -> str:
    """A number with three digits, or as a whole number where it is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


ANONYMOUS = -1
CONSTANT = -2  # constant number c is written -2 - c; variables are 0, 1, ...


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of some sequences under the numbers of the page.

    `keys` are the predicates, `dimensions` the numbers of those that link events, by the name of
    the dimension; `events` says which arguments hold events. `constants` has those of the facts
    kept, the most frequent first, and `sequences` the facts of each sequence as base64; None where
    there was no space.
    """

    keys: tuple[Key, ...]
    dimensions: dict[str, int]
    events: tuple[tuple[bool, ...], ...]
    constants: tuple[str, ...]
    sequences: tuple[str | None, ...]
    _numbers: dict[object, int] = field(repr=False)

    def atoms(self, pattern: Pattern) -> list[list[int]]:
        """A pattern in numbers.

        A link is [-1, dimension, steps, x, y], with 0 steps for any number of them; another atom
        is its predicate and its arguments, or [-2] where the sequences have no such predicate.
        """
        variables = {name: i for i, name in enumerate(pattern.variables)}
        return [self._atom(atom, variables) for atom in pattern]

    def _atom(self, atom: Atom, variables: dict[str, int]) -> list[int]:
        operator, dimension = link_name(atom.predicate) or ("", "")
        if dimension in self.dimensions and len(atom.args) == OPERATORS[operator]:
            n = 1 if operator == "next" else steps(atom) or 0
            ends = [self._term(term, variables) for term in atom.args[-2:]]
            return [-1, [*self.dimensions].index(dimension), n, *ends]
        if atom.key not in self.keys:
            return [-2]
        args = [self._term(term, variables) for term in atom.args]
        return [self.keys.index(atom.key), *args]

    def _term(self, term: Any, variables: dict[str, int]) -> int:
        if isinstance(term, Var):
            return ANONYMOUS if term.anonymous else variables[term.name]
        # A constant that no fact has gets the number after the last, which matches nothing.
        return CONSTANT - self._numbers.get(constant_key(term), len(self.constants))


def page_facts(
    facts: Facts,
    keys: list[Key],
    wanted: NDArray[np.int64],
    room: int,
    patterns: Iterable[Pattern] = (),
) -> PageFacts:
    """Pack the facts of the `wanted` sequences, the most important first, into `room` bytes.

    Only facts of the predicates `keys` are kept, and first the constants of the patterns.
    """
    keys = [key for key in keys if key in facts.tables]
    n_constants = max(len(facts.vocabulary), 1)
    used = np.zeros(n_constants, np.int64)
    for key in keys:
        used += np.bincount(facts.tables[key][1:].ravel(), minlength=n_constants)
    order = np.argsort(-used, kind="stable")[: np.count_nonzero(used)]
    constants_used = _constants_of(patterns, facts.vocabulary)
    chosen, kept = _chosen(facts, keys, wanted, room, order, constants_used)
    order = order[kept[order]]
    number = _positions(order, n_constants)
    packed = {i: as_text(_bytes(_numbers_of(facts, keys, i, number))) for i in chosen}
    _, event_arguments = event_keys(facts.tables, n_constants)
    names = dimension_names(keys)
    constants = [facts.vocabulary[code] for code in order.tolist()]
    links = {(f"next_{name}", 2) for name in names}
    return PageFacts(
        keys=tuple(keys),
        dimensions={name: keys.index((f"next_{name}", 2)) for name in names},
        events=tuple(
            tuple((key, i) in event_arguments or key in links for i in range(key[1]))
            for key in keys
        ),
        constants=tuple(map(constant_text, constants)),
        sequences=tuple(packed.get(i) for i in sorted(wanted.tolist())),
        _numbers={constant_key(c): i for i, c in enumerate(constants)},
    )


def _chosen(
    facts: Facts,
    keys: list[Key],
    wanted: NDArray[np.int64],
    room: int,
    order: NDArray[np.int64],
    constants_used: NDArray[np.int64],
) -> tuple[list[int], NDArray[np.bool_]]:
    """The sequences that fit, each with its constants, and which constants are kept.

    Leaving out the other constants makes numbers only smaller, and so the bytes written.
    """
    kept = np.zeros(max(len(facts.vocabulary), 1), bool)
    number = _positions(order, len(kept))
    costs: dict[int, int] = {}

    def cost(codes: NDArray[np.int64]) -> int:
        for code in codes.tolist():
            if code not in costs:
                costs[code] = len(as_json(constant_text(facts.vocabulary[code]))) + 1
        return sum(costs[code] for code in codes.tolist())

    room -= cost(constants_used)
    kept[constants_used] = True
    chosen = []
    for i in wanted.tolist():
        codes = _codes_of(facts, keys, i)
        new = codes[~kept[codes]]
        needed = len(as_text(_bytes(_numbers_of(facts, keys, i, number)))) + 3 + cost(new)
        if needed <= room:
            room -= needed
            kept[new] = True
            chosen.append(i)
    return chosen, kept


def _constants_of(patterns: Iterable[Pattern], vocabulary: Vocabulary) -> NDArray[np.int64]:
    terms = {term for pattern in patterns for atom in pattern for term in atom.args}
    found = [vocabulary.code(t) for t in terms if not isinstance(t, Var | Struct | tuple)]
    return np.array(sorted({code for code in found if code >= 0}), np.int64)


def _codes_of(facts: Facts, keys: list[Key], i: int) -> NDArray[np.int64]:
    """The constants of a sequence."""
    parts = [np.empty(0, np.int64)]
    for key in keys:
        start, end = facts.offsets(key)[i : i + 2].tolist()
        parts.append(facts.tables[key][1:, start:end].ravel().astype(np.int64))
    return np.unique(np.concatenate(parts))


def _positions(order: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    positions = np.zeros(n, np.int64)
    positions[order] = np.arange(len(order))
    return positions


def _numbers_of(
    facts: Facts, keys: list[Key], i: int, number: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each predicate that a sequence has: its number, how many facts, and their arguments."""
    parts = [np.empty(0, np.int64)]
    for k, key in enumerate(keys):
        start, end = facts.offsets(key)[i : i + 2].tolist()
        if end > start:
            arguments = number[facts.tables[key][1:, start:end]]
            parts += [np.array([k, end - start]), arguments.T.ravel()]
    return np.concatenate(parts)


def _bytes(values: NDArray[np.int64]) -> bytes:
    """Numbers >= 0 as LEB128: seven bits to a byte, lowest first; the top bit: more follow."""
    n_bytes = np.ones(len(values), np.int64)
    for bits in range(7, 63, 7):
        n_bytes += values >= 1 << bits
    ends = np.cumsum(n_bytes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for k in range(int(n_bytes.max(initial=0))):
        here = n_bytes > k
        more = (n_bytes[here] > k + 1) * 128
        out[ends[here] - n_bytes[here] + k] = (values[here] >> (7 * k) & 127) + more
    return out.tobytes()


def as_text(data: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(data).decode()


def packed_rows(covered: NDArray[np.bool_]) -> list[str]:
    """Each row of a Boolean matrix as base64, eight columns to a byte, the first lowest."""
    bits = np.packbits(covered, axis=1, bitorder="little")
    return [as_text(row.tobytes()) for row in bits]
