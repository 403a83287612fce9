"""Facts, patterns and coverage in the form that the page reads: numbers, packed as text.

The page matches patterns itself, in the one sequence that it shows. Constants and predicates are
numbers of two lists; the facts of a sequence are bytes, seven bits of a number to each.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.data.roles import dimension_names, event_keys
from relynx.data.sequences import Facts
from relynx.logic.dimensions import OPERATORS, link_name, steps
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Constant, Term, Var, constant_key, constant_text
from relynx.mining.patterns import Pattern

ANONYMOUS = -1
CONSTANT = -2  # constant number c is written -2 - c; variables are 0, 1, ...


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of some sequences under the numbers of the page.

    Attributes
    ----------
    keys
        The predicates. Those of a dimension are among them.
    dimensions
        The number of the predicate `next_s` of each dimension, by its name.
    events
        Which arguments of each predicate hold events.
    constants
        The constants as text, the most frequent first.
    sequences
        The facts of each sequence as base64; None for those that found no room.
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

    def _term(self, term: Term, variables: dict[str, int]) -> int:
        if isinstance(term, Var):
            return ANONYMOUS if term.anonymous else variables[term.name]
        # What no fact holds has the number after the last: it matches nothing.
        return CONSTANT - self._numbers.get(_key(term), len(self.constants))


def page_facts(facts: Facts, keys: list[Key], wanted: NDArray[np.int64], room: int) -> PageFacts:
    """Pack the facts of some sequences.

    Parameters
    ----------
    facts
        All that holds in the sequences.
    keys
        The predicates to keep.
    wanted
        The sequences, the most important first: those that come first get room.
    room
        The bytes that may be used.
    """
    keys = [key for key in keys if key in facts.tables]
    n_constants = max(len(facts.vocabulary), 1)
    used = np.zeros(n_constants, np.int64)
    for key in keys:
        used += np.bincount(facts.tables[key][1:].ravel(), minlength=n_constants)
    order = np.argsort(-used, kind="stable")[: np.count_nonzero(used)]
    number = np.zeros(n_constants, np.int64)
    number[order] = np.arange(len(order))
    packed: dict[int, str] = {}
    for i in wanted.tolist():
        data = _bytes(_numbers_of(facts, keys, i, number))
        room -= len(data)
        if room < 0:
            break
        packed[i] = base64.b64encode(data).decode()
    _, places = event_keys(facts.tables, n_constants)
    names = dimension_names(keys)
    constants = [facts.vocabulary[code] for code in order.tolist()]
    return PageFacts(
        keys=tuple(keys),
        dimensions={name: keys.index((f"next_{name}", 2)) for name in names},
        events=tuple(
            tuple((key, i) in places or _links(key, names) for i in range(key[1])) for key in keys
        ),
        constants=tuple(map(constant_text, constants)),
        sequences=tuple(packed.get(i) for i in sorted(wanted.tolist())),
        _numbers={constant_key(c): i for i, c in enumerate(constants)},
    )


def _links(key: Key, dimensions: tuple[str, ...]) -> bool:
    return key in {(f"next_{name}", 2) for name in dimensions}


def _key(term: Any) -> object:
    constant: Constant = term
    return constant_key(constant)


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
    """Numbers from 0 on, seven bits to a byte, the lowest first; the top bit says: more follow."""
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


def packed_rows(covered: NDArray[np.bool_]) -> list[str]:
    """Each row of a table of yes and no as base64, eight columns to a byte, the first lowest."""
    bits = np.packbits(covered, axis=1, bitorder="little")
    return [base64.b64encode(row.tobytes()).decode() for row in bits]
