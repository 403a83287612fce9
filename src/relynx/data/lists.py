"""Plain lists as sequences: one event per position, linked by the dimension `s`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, islice, pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relynx.data.sequences import Sequences, counted, is_missing, shown
from relynx.data.vocabulary import Vocabulary
from relynx.errors import DataError, Problem, raise_all
from relynx.logic import tables as tb
from relynx.logic.tables import Key, Table
from relynx.logic.terms import Atom, Constant, Term, as_constant, flatten
from relynx.logic.tokens import MAX_DIGITS

COLUMN_TYPES = "text, a tuple, an atom, or a list or set of these"
OF_TABLES = "rx.from_events reads tables, with a row for each event"
AS_TEXT = "give it as text"
MOST_BITS = int((MAX_DIGITS - 1) * math.log2(10))


def from_lists(
    lists: Iterable[Iterable[object]],
    labels: Iterable[object] | None = None,
    *,
    ids: Iterable[object] | None = None,
    predicate: str | None = None,
) -> tuple[Sequences, NDArray[Any] | None]:
    """Make sequences of plain lists, one event for each position.

    Parameters
    ----------
    lists
        One list per sequence. A position holds a symbol (`"a"` is read as `a(E)`), a tuple
        (`("he", "alpha", 7)` as `he(E,alpha,7)`), an atom (the event becomes its first argument),
        or a list or set of these.
    labels
        One label per sequence.
    ids
        One id per sequence; default `s1`, `s2`, ...
    predicate
        Read a symbol `"a"` as `predicate(E,a)`; numbers are then symbols, too.

    Returns
    -------
    X, labels
        The sequences, and the labels as an array (None without labels).

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["b", "a", "c"]], ["up", "down"])
    >>> print(X[0])
    begin(s1,up). next_s(e1,e2). a(e1). b(e2). end.
    >>> rx.covers(rx.parse_pattern("a(X), next_s(X,Y), c(Y)"), X).tolist()
    [False, True]
    """
    if predicate is not None and (not isinstance(cast(object, predicate), str) or not predicate):
        what = f"predicate is {shown(predicate)}"
        raise DataError(what, hint="give a name, such as 'symbol', or leave it out")
    reader = _ListReader(predicate)
    outer = _outer(lists)
    plain = _plain_tables(outer, predicate)
    sequences = [] if plain else [reader.sequence(i, one) for i, one in enumerate(outer)]
    names = reader.named("ids", ids, len(outer))
    marks = reader.named("labels", labels, len(outer))
    reader.refuse_repeated(names)
    if not outer:
        reader.problem("there is no sequence: the list of lists is empty", "give at least one list")
    raise_all(reader.problems, DataError)
    if plain:
        if names is None:
            names = [f"s{i + 1}" for i in range(len(outer))]
        X = Sequences(*plain, names, marks)
    else:
        X = Sequences.from_atoms(sequences, ids=names, labels=marks)
    return X, X.labels


def _plain_tables(
    lists: list[object], predicate: str | None
) -> tuple[Vocabulary, dict[Key, Table]] | None:
    """Tables of lists of only names or only integers, built column by column for speed; None for
    other input, which is read position by position."""
    if not lists or not all(type(one) is list for one in lists):
        return None
    flat = list(chain.from_iterable(cast(list[list[Any]], lists)))
    types = set(map(type, flat))
    if types != {str} and not (types == {int} and predicate is not None):
        return None
    lengths = np.array([len(one) for one in cast(list[list[Any]], lists)], np.int64)
    events = [f"e{i + 1}" for i in range(int(lengths.max()))]
    symbols = list(dict.fromkeys(flat))
    if not set(symbols).isdisjoint(events) or any(map(_is_too_large, symbols)):
        return None
    if any(str(name).startswith(("next_", "follow")) for name in [predicate or "", *symbols]):
        return None
    number = {symbol: i for i, symbol in enumerate(symbols)}
    codes = np.fromiter(map(number.__getitem__, flat), np.int32, len(flat))
    sequence = np.repeat(np.arange(len(lists), dtype=np.int32), lengths)
    event = tb.ranges(np.zeros(len(lists), np.int64), lengths).astype(np.int32)
    linked = event > 0
    tables = {("next_s", 2): np.stack([sequence[linked], event[linked] - 1, event[linked]])}
    if predicate is not None:
        tables[predicate, 2] = np.stack([sequence, event, codes + np.int32(len(events))])
        return Vocabulary([*events, *symbols]), tables
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(symbols) + 1))
    for symbol, begin, end in zip(symbols, ends, ends[1:], strict=False):
        here = order[begin:end]
        tables[symbol, 1] = np.stack([sequence[here], event[here]])
    return Vocabulary(events), tables


def _outer(lists: object) -> list[object]:
    """The sequences, or a DataError when they do not come as an ordered collection."""
    if isinstance(lists, str | bytes):
        what, hint = "a text is no list of lists", "give [list(text)] for one text"
        raise DataError(what, hint=hint)
    hint = "give one list for each sequence, all in one list"
    if isinstance(lists, Sequences) or hasattr(lists, "columns"):
        hint = "they are sequences already" if isinstance(lists, Sequences) else OF_TABLES
    elif not _has_no_order(lists):
        return list(cast(Iterable[object], lists))
    raise DataError(f"{type(lists).__name__} is no list of lists", hint=hint)


def _has_no_order(values: object) -> bool:
    """Whether something is not an ordered collection."""
    if isinstance(values, Mapping | set | frozenset) or not isinstance(values, Iterable):
        return True
    return getattr(values, "ndim", None) == 0  # an array of one number only looks like one


def _is_too_large(value: object) -> bool:
    """Whether a number has more digits than are read."""
    return isinstance(value, int) and value.bit_length() > MOST_BITS


@dataclass(slots=True)
class _ListReader:
    """The problems of one call of `from_lists`, and the first use of each predicate."""

    predicate: str | None
    problems: list[Problem] = field(default_factory=list)
    first: dict[str, tuple[int, str]] = field(default_factory=dict)

    def problem(self, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(message, hint=hint))

    def sequence(self, i: int, positions: object) -> list[Atom]:
        """The atoms of one list, its events named e1, e2, ... as far as no value has that name."""
        where = f"lists[{i}]"
        if isinstance(positions, str | bytes):
            hint = "give list(text) for its characters, or text.split() for its words"
            self.problem(f"{where} is the text {shown(positions)}, not a list", hint)
            return []
        if _has_no_order(positions):
            what = f"{where} is {shown(positions)}, not a list"
            self.problem(what, "give the positions of each sequence in order, as a list")
            return []
        held = [
            list(self._atoms(f"{where}[{j}]", at))
            for j, at in enumerate(cast(Iterable[object], positions))
        ]
        taken = {arg for atoms in held for atom in atoms for arg in atom.args}
        names = (name for k in count(1) if (name := f"e{k}") not in taken)
        events = list(islice(names, len(held)))
        return [
            *(Atom("next_s", pair) for pair in pairwise(events)),
            *(
                Atom(atom.predicate, (event, *atom.args))
                for event, atoms in zip(events, held, strict=True)
                for atom in atoms
            ),
        ]

    def _atoms(self, where: str, position: object) -> Iterator[Atom]:
        """The atoms at a position, still without their event."""
        if isinstance(position, set | frozenset):
            in_order = sorted(position, key=shown)  # problems, too, come in one order
            found = [atom for one in in_order for atom in self._atom(where, one)]
            yield from sorted(found, key=str)
        elif isinstance(position, list):
            for k, one in enumerate(position):
                yield from self._atom(f"{where}[{k}]", one)
        else:
            yield from self._atom(where, position)

    def _atom(self, where: str, value: object) -> Iterator[Atom]:
        """The atom of a value, or None with a problem."""
        given: tuple[object, ...]
        bare = False
        if isinstance(value, Atom):
            name, given = value.predicate, flatten(value).args
        elif isinstance(value, tuple):
            if not value or not isinstance(value[0], str):
                what = f"{where}: the tuple {shown(value)} does not begin with a predicate"
                self.problem(what, "write (predicate, value, ...), such as ('he', 'alpha', 7)")
                return
            name, given = str(value[0]), value[1:]
        elif isinstance(value, str) and self.predicate is None:
            name, given = str(value), ()
        else:
            name, given, bare = self.predicate or "", (value,), self.predicate is None
        args = self._constants(where, given, symbol=bare)
        if args is not None and self._fits(where, name, 1 + len(args)):
            yield Atom(name, args)

    def _constants(
        self, where: str, given: tuple[object, ...], *, symbol: bool
    ) -> tuple[Term, ...] | None:
        """The arguments as constants, or None and a problem. A bare `symbol` may be no number."""
        args: list[Constant] = []
        for value in given:
            if is_missing(value):
                what = f"{where}: {value} is a missing value"
                self.problem(what, "leave it out, or name it: 'unknown'")
                return None
            if _is_too_large(value):
                what = f"{where}: a number of more than {MAX_DIGITS} digits is no constant"
                self.problem(what, AS_TEXT)
                return None
            try:
                args.append(as_constant(value))
            except (TypeError, ValueError):  # the latter of what cannot be shown
                what, hint = "constant", "give text or a number"
                if symbol:
                    what, hint = "symbol", f"a position holds {COLUMN_TYPES}"
                self.problem(f"{where}: {shown(value)} is no {what}", hint)
                return None
            if symbol:
                what = f"{where}: the value {shown(value)} is no symbol"
                how = "from_lists(lists, predicate='value')"
                self.problem(what, f"{how} reads it as value(E,{args[-1]})")
                return None
        return tuple(args)

    def _fits(self, where: str, name: str, arity: int) -> bool:
        """Whether a fluent may have this name and arity after all that was read before."""
        if name in ("follow_s", "followat_s") or (name.startswith("next_") and name != "next_"):
            what = f"{where}: {name} links events and cannot be a fluent"
            self.problem(what, "rename it, or give predicate='symbol' to read symbols as values")
            return False
        known, first_use = self.first.setdefault(name, (arity, where))
        if known != arity:
            what = f"{where}: {name} has {arity} arguments here, the event included"
            self.problem(what, f"it has {known} at {first_use}")
        return known == arity

    def named(self, what: str, values: Iterable[object] | None, n: int) -> list[Constant] | None:
        """The ids or labels as constants, one for each of the n sequences."""
        if values is None:
            return None
        if isinstance(values, str | bytes) or _has_no_order(values) or hasattr(values, "columns"):
            given = type(values).__name__ if hasattr(values, "columns") else shown(values)
            hint = f"give a list of {counted(n, what[:-1])}"
            self.problem(f"{what} is {given}, not a list", hint)
            return None
        listed, out = list(values), []
        if len(listed) != n:
            what_for = f"{counted(len(listed), what[:-1])} for {counted(n, 'sequence')}"
            self.problem(what_for, f"give one {what[:-1]} for each list")
        for i, value in enumerate(listed):
            if _is_too_large(value):
                self.problem(f"{what}[{i}] is a number of more than {MAX_DIGITS} digits", AS_TEXT)
                continue
            try:
                out.append(as_constant(value))
            except TypeError:
                self.problem(f"{what}[{i}] is {shown(value)}", "give text or a number")
        return out

    def refuse_repeated(self, ids: list[Constant] | None) -> None:
        seen: dict[tuple[type, Constant], int] = {}
        for i, name in enumerate(ids or ()):
            first = seen.setdefault((type(name), name), i)
            if first != i:
                self.problem(f"ids[{i}] is {shown(name)}, as is ids[{first}]", "give each its own")
