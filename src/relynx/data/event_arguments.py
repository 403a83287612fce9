"""Which constants of a sequence are events: what the dimensions link, and the event arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple, TypeAlias

import numpy as np

from relynx.arrays import Longs
from relynx.data.vocabulary import Vocabulary
from relynx.logic import tables as tb
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.tables import Key, Table, member
from relynx.logic.terms import Atom, quoted, term_text
from relynx.storage import Part

Tables: TypeAlias = Mapping[Key, Table]
Argument: TypeAlias = tuple[Key, int]  # a predicate and the number of its argument, from 0

_ADVICE = (
    "events are what next_... links, and what stands where at least half of the facts hold one; "
    "give the value another name, or leave out"
)


class Conflict(NamedTuple):
    """A fact that holds an event where its predicate has values, or the reverse."""

    sequence: int
    atom: Atom
    argument: int
    message: str
    hint: str


def _is_event(counts: tuple[int, int]) -> bool:
    held, known = counts
    return known > 0 and 2 * held >= known


def dimension_names(keys: Iterable[Key]) -> tuple[str, ...]:
    """The dimensions that a set of predicates makes: `s` for `next_s/2`."""
    links = (link_name(name) for name, arity in keys if arity == OPERATORS["next"])
    return tuple(dict.fromkeys(link[1] for link in links if link and link[0] == "next"))


def event_keys(
    facts: Tables, n_constants: int, arguments: Set[Argument] | None = None
) -> tuple[Longs, set[Argument]]:
    """Events, what dimensions link or event arguments hold, as sorted numbers sequence *
    n_constants + code, and the event arguments; `arguments` are those of a larger data set, of
    which the facts are a part."""
    if arguments is None:
        arguments = event_arguments(argument_counts(facts, n_constants))
    links = {((f"next_{name}", 2), i) for name in dimension_names(facts) for i in (0, 1)}
    held = [(key, i) for key, i in links.union(arguments) if key in facts]
    events = [np.empty(0, np.int64)]
    for first, some in _in_pieces(facts):
        columns = [packed_pairs(some[key], i, n_constants) for key, i in held]
        events.append(tb.distinct(np.concatenate([events[0], *columns])) + first * n_constants)
    return np.concatenate(events), set(arguments)


def argument_counts(facts: Tables, n_constants: int) -> dict[Argument, tuple[int, int]]:
    """How many facts, in sequences that have dimensions, hold a linked constant in an argument, and
    how many there are; the counts of parts sum to those of the whole."""
    total: dict[Argument, tuple[int, int]] = {}
    for _, some in _in_pieces(facts):
        for argument, (held, known) in _uses(some, n_constants)[2].items():
            before = total.get(argument, (0, 0))
            total[argument] = before[0] + held, before[1] + known
    return total


def _in_pieces(facts: Tables) -> Iterator[tuple[int, dict[Key, Table]]]:
    """The facts in pieces of whole sequences, numbered from 0 in each: the first sequence of each
    piece, and its facts."""
    n_sequences = 1 + max((int(table[0].max(initial=-1)) for table in facts.values()), default=-1)
    n_pieces = 1 + sum(table.shape[1] for table in facts.values()) // tb.PIECE
    bounds = np.unique(np.linspace(0, n_sequences, n_pieces + 1).astype(np.int64))
    starts = {key: np.searchsorted(table[0], bounds) for key, table in facts.items()}
    for i, first in enumerate(bounds[:-1].tolist()):
        some = {}
        for key, table in facts.items():
            some[key] = table[:, starts[key][i] : starts[key][i + 1]].copy()
            some[key][0] -= first
        yield first, some


def event_arguments(counts: Mapping[Argument, tuple[int, int]]) -> frozenset[Argument]:
    """The event arguments, by the counts of `argument_counts`."""
    return frozenset(argument for argument, n in counts.items() if _is_event(n))


def _uses(facts: Tables, n_constants: int) -> tuple[Longs, Longs, dict[Argument, tuple[int, int]]]:
    """The linked constants, the sequences that have some dimension, and for each argument how many
    of the facts of those sequences hold a linked constant, and how many there are."""
    dims = [(f"next_{name}", 2) for name in dimension_names(facts)]
    linked_in = [packed_pairs(facts[key], i, n_constants) for key in dims for i in (0, 1)]
    linked = tb.distinct(np.concatenate([np.empty(0, np.int64), *linked_in]), in_runs=True)
    # The sequences that have some dimension:
    ordered = tb.distinct(linked // n_constants, in_runs=True)
    counts: dict[Argument, tuple[int, int]] = {}
    if not len(linked):
        return linked, ordered, counts
    is_ordered = np.zeros(int(max(table[0].max(initial=-1) for table in facts.values())) + 1, bool)
    is_ordered[ordered] = True
    find = tb.Finder(linked, len(is_ordered) * n_constants)
    for key, table in facts.items():
        n_here = int(is_ordered[table[0]].sum())
        for i in range(key[1]):
            known = find(packed_pairs(table, i, n_constants)) >= 0
            counts[key, i] = int(known.sum()), n_here
    return linked, ordered, counts


def packed_pairs(table: Table, i: int, n_constants: int) -> Longs:
    """The sequence of each fact with its argument i, from 0, as one number."""
    return np.asarray(table[0].astype(np.int64) * n_constants + table[1 + i])


def event_conflicts(tables: Tables, vocabulary: Vocabulary) -> list[Conflict]:
    """Facts that hold an event where their predicate has values elsewhere, or the reverse."""
    n = max(len(vocabulary), 1)
    linked_pairs, ordered, counts = _uses(tables, n)
    if not len(linked_pairs):
        return []
    columns = {argument: packed_pairs(tables[argument[0]], argument[1], n) for argument in counts}
    values = [column for argument, column in columns.items() if not _is_event(counts[argument])]
    used_as_value = tb.distinct(np.concatenate([np.empty(0, np.int64), *values]))
    found = []
    for argument, column in columns.items():
        (key, i), linked = argument, member(column, linked_pairs)
        among_events = _is_event(counts[argument])
        wrong = member(column, used_as_value) & ~linked if among_events else linked
        at = np.flatnonzero(wrong)
        if not len(at):
            continue
        held, known = counts[argument]
        share = f"{held:,} of {known:,} facts of {quoted(key[0])}/{key[1]} hold an event there"
        hint = f"{_ADVICE} this fact"
        if not among_events:
            here = member(tables[key][0].astype(np.int64), ordered)
            other = _atom(key, tables[key], int(np.flatnonzero(here & ~linked)[0]), vocabulary)
            hint = f"{_ADVICE} facts such as {other}"
        for j in at.tolist():
            atom = _atom(key, tables[key], j, vocabulary)
            what = f"{term_text(atom.args[i])} is used both as an event and as a value: {share}"
            found.append(Conflict(int(tables[key][0, j]), atom, i, what, hint))
    return sorted(found, key=lambda conflict: conflict.sequence)


def _atom(key: Key, table: Table, at: int, vocabulary: Vocabulary) -> Atom:
    return Atom(key[0], tuple(vocabulary[code] for code in table[1:, at]))


def arguments_state(arguments: Iterable[Argument]) -> list[list[str | int]]:
    """Arguments as plain values, sorted."""
    return [[name, arity, i] for (name, arity), i in sorted(arguments)]


def arguments_of(part: Part, name: str) -> frozenset[Argument]:
    """The arguments that `arguments_state` stored in a field."""
    values = part.listed(name)
    for value in values:
        right = isinstance(value, list) and [type(one) for one in value] == [str, int, int]
        if not right or not 0 <= value[2] < value[1]:
            raise part.wrong(name, "holds what is no argument of a predicate")
    return frozenset(((predicate, arity), i) for predicate, arity, i in values)
