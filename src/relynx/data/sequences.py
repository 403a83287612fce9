"""The data container: labelled sequences of ground atoms as dictionary-coded columns."""

from __future__ import annotations

import html
import math
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relynx.data.event_arguments import Argument, Tables, dimension_names
from relynx.data.numbers import Numbers
from relynx.data.schema import Schema
from relynx.data.times import Times
from relynx.data.vocabulary import Vocabulary
from relynx.errors import DataError
from relynx.errors import counted as counted
from relynx.logic import tables as tb
from relynx.logic.arithmetic import Constants
from relynx.logic.datalog import Background, Evaluation
from relynx.logic.tables import Key, Table
from relynx.logic.terms import (
    Atom,
    Constant,
    Var,
    as_constant,
    constant_key,
    constant_text,
    flatten,
    quoted,
    term_text,
)
from relynx.storage.journal import digest

SHOWN = 60
# What writes sequences, by the name of the format. Each format adds its own writer: the container
# knows none of them.
WRITERS: dict[str, Callable[..., None]] = {}

READ_ATOMS = "rx.parse_atom('a(e1)') reads an atom from text"
# The arguments of `Sequences`, which it keeps under their names.
ARGUMENTS = (
    *("vocabulary", "tables", "ids", "labels", "background"),
    *("reading", "times", "numbers", "origin"),
)
AS_TUPLE = "write Atom('p', ('e1',)), with a comma after a single argument"
SAME_ARITY = "give it the same number of arguments everywhere, or another name"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Facts:
    """All facts of some sequences, derived ones included; `cache` is where a later layer keeps what
    it computed from them, and `event_arguments` are given for a part of a larger data set."""

    vocabulary: Vocabulary
    tables: Tables
    n_sequences: int
    event_arguments: frozenset[Argument] | None = None
    cache: dict[str, Any] = field(default_factory=dict)
    _offsets: dict[Key, NDArray[np.int64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table in self.tables.values():
            table.flags.writeable = False

    def offsets(self, key: Key) -> NDArray[np.int64]:
        """Where each sequence's facts begin in a table; see `relynx.logic.tables.offsets`."""
        if key not in self._offsets:
            starts = tb.offsets(self.tables[key], self.n_sequences)
            starts.flags.writeable = False
            self._offsets[key] = starts
        return self._offsets[key]

    def part(self, key: Key, positions: NDArray[np.int64]) -> Table:
        """The table of some of the sequences, renumbered from 0."""
        table, starts = self.tables[key], self.offsets(key)
        if len(positions) == 1:
            i = positions[0]
            one = table[:, starts[i] : starts[i + 1]].copy()
            one[0] = 0
            return one
        lengths = starts[positions + 1] - starts[positions]
        new = np.repeat(np.arange(len(positions), dtype=np.int32), lengths)
        return np.vstack([new[None, :], table[1:, tb.ranges(starts[positions], lengths)]])

    def __repr__(self) -> str:
        n_facts = sum(table.shape[1] for table in self.tables.values())
        predicates = counted(len(self.tables), "predicate")
        sequences = counted(self.n_sequences, "sequence")
        return f"<Facts: {counted(n_facts, 'fact')} of {predicates} in {sequences}>"


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One sequence of a `Sequences`: `id`, `label` (None without one) and `atoms`."""

    id: Constant
    label: Constant | None
    sequences: Sequences = field(repr=False)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The ground atoms of the sequence, without derived ones."""
        X = self.sequences
        return tuple(
            Atom(name, tuple(X.vocabulary[code] for code in column[1:]))
            for (name, _), table in X.tables.items()
            for column in table.T.tolist()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return self.sequences == other.sequences

    def __hash__(self) -> int:
        return hash((self.id, self.label))

    def __str__(self) -> str:
        terms = [self.id] if self.label is None else [self.id, self.label]
        atoms = " ".join(f"{atom}." for atom in self.atoms)
        return f"begin({','.join(map(constant_text, terms))}). {atoms} end."

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"


class Sequences:
    """Sequences of ground atoms, with ids, labels where known, and background knowledge.

    Facts are int32 columns, one table for each predicate (`tables`); indexing by a list, a mask or
    a slice gives `Sequences` again, by a number one `Sequence`. scikit-learn's splitters and
    search classes take it as `X`. It never changes once made.

    Examples
    --------
    >>> import relynx as rx
    >>> X = rx.Sequences.from_atoms([[rx.parse_atom("p(e1,a)")], [rx.parse_atom("p(e1,b)")]])
    >>> len(X), X.shape, X[1].atoms[0].args
    (2, (2,), ('e1', 'b'))
    """

    __slots__ = ("_facts", "_stored", *ARGUMENTS)

    def __init__(
        self,
        vocabulary: Vocabulary,
        tables: Tables,
        ids: Iterable[Constant],
        labels: Iterable[Constant] | None = None,
        background: Background | None = None,
        *,
        reading: Schema | None = None,
        times: Times | None = None,
        numbers: Numbers | None = None,
        origin: Any = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.tables: dict[Key, Table] = dict(tables)
        self.ids = _objects(ids)
        self.labels = None if labels is None else label_array(list(labels))
        self.background = background
        self.reading = reading  # how a table of events was read, where the facts are of one
        self.times = times  # of each event, where the events are intervals
        self.numbers = numbers  # of a table, where the facts have ranges of them
        self.origin = origin  # what the reader alone knows of its file; it stays in this process
        self._stored = Facts(vocabulary, self.tables, len(self.ids))
        self._facts: dict[bool, Facts] = {}
        for values in (self.ids, self.labels):
            if values is not None:
                values.flags.writeable = False

    @classmethod
    def from_atoms(
        cls,
        sequences: Iterable[Iterable[Atom]],
        *,
        ids: Iterable[object] | None = None,
        labels: Iterable[object] | None = None,
        background: Background | None = None,
    ) -> Sequences:
        """Sequences of the given ground atoms; ids are s1, s2, ... unless given."""
        given = list(sequences)
        names: list[object] = [f"s{i + 1}" for i in range(len(given))] if ids is None else [*ids]
        marks = [None] * len(given) if labels is None else list(labels)
        _check_number("id", len(names), len(given))
        _check_number("label", len(marks), len(given))
        builder = SequencesBuilder()
        seen: set[object] = set()
        for value, label, sequence in zip(names, marks, given, strict=True):
            name = _constant(value)
            if constant_key(name) in seen:
                what = f"two sequences have the id {constant_text(name)}"
                raise DataError(what, hint="give every sequence an id of its own")
            seen.add(constant_key(name))
            builder.begin(name, None if label is None else _constant(label))
            for atom in _atoms(name, sequence):
                builder.add(atom)
        return builder.build(background=background)

    @classmethod
    def concatenate(cls, parts: Iterable[Sequences]) -> Sequences:
        """All sequences of the parts, one after the other, under one vocabulary."""
        parts = list(parts)
        if not parts:
            raise DataError("nothing to concatenate: give at least one Sequences")
        first = parts[0]
        if any(part.background != first.background for part in parts):
            raise DataError("the parts have different background knowledge; give them the same")
        if len({part.labels is None for part in parts}) > 1:
            raise DataError("some of the parts have labels and some have none")
        vocabulary, start = first.vocabulary, 0
        pieces: dict[Key, list[Table]] = {}
        for part in parts:
            vocabulary, codes = vocabulary.merged(part.vocabulary)
            for key, table in part.tables.items():
                pieces.setdefault(key, []).append(
                    np.vstack([table[:1] + np.int32(start), codes[table[1:]]])
                )
            start += len(part)
        _check_arities(pieces)
        return cls(
            vocabulary,
            {key: tb.in_order(np.hstack(tables)) for key, tables in pieces.items()},
            np.concatenate([part.ids for part in parts]),
            None if first.labels is None else [label for p in parts for label in _list(p.labels)],
            first.background,
            reading=first.reading if all(p.reading == first.reading for p in parts) else None,
            times=Times.concatenated([part.times for part in parts]),
            numbers=Numbers.concatenated([part.numbers for part in parts]),
            origin=first.origin if all(p.origin is first.origin for p in parts) else None,
        )

    @property
    def shape(self) -> tuple[int]:
        return (len(self.ids),)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions: `s` for `next_s/2`. Rules may define some, too."""
        defined = self.background.heads if self.background else ()
        return dimension_names([*self.tables, *defined])

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Sequence]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Sequence: ...
    @overload
    def __getitem__(self, index: slice | ArrayLike | tuple[Any, ...]) -> Sequences: ...
    def __getitem__(self, index: Any) -> Sequence | Sequences:
        if isinstance(index, tuple):  # scikit-learn asks for X[rows, ...]
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("sequences have one axis: give one index, list, mask or slice")
            index = index[0]
        if isinstance(index, int | np.integer):
            i = int(index) + (len(self) if index < 0 else 0)
            if not 0 <= i < len(self):
                raise IndexError(f"sequence {index} of {len(self)}")
            one = self._take(np.array([i]))
            label = None if one.labels is None else one.labels.tolist()[0]
            return Sequence(one.ids[0], label, one)
        return self._take(positions(index, len(self), "sequences"))

    def _take(self, positions: NDArray[np.int64]) -> Sequences:
        labels = None if self.labels is None else self.labels[positions]
        tables = {key: self._stored.part(key, positions) for key in self.tables}
        times = None if self.times is None else self.times.part(positions)
        numbers = None if self.numbers is None else self.numbers.part(positions)
        changed = {"tables": tables, "ids": self.ids[positions], "labels": None}
        taken = self.replaced(**changed, times=times, numbers=numbers)
        if labels is not None:
            labels.flags.writeable = False
            taken.labels = labels
        # Rules see one sequence at a time, so what was derived for all holds for a part.
        for flag, facts in self._facts.items():
            both = {
                key: tables[key] if table is self.tables.get(key) else facts.part(key, positions)
                for key, table in facts.tables.items()
            }
            taken._facts[flag] = Facts(facts.vocabulary, both, len(taken))
        return taken

    def facts(self, object_identity: bool = True) -> Facts:
        """What holds in each sequence, derived facts included; Object Identity also applies within
        rules."""
        if self.background is None:
            return self._stored
        flag = bool(object_identity)
        if flag not in self._facts:
            known = list(self.vocabulary.constants)
            given = self.background, self.tables, known, len(self)
            evaluation = Evaluation(*given, object_identity=flag)
            derived = evaluation.run()
            vocabulary, derived = self._in_order(evaluation.constants.values, derived)
            self._facts[flag] = Facts(vocabulary, self.tables | derived, len(self))
        return self._facts[flag]

    def _in_order(
        self, constants: list[Constant], derived: Tables
    ) -> tuple[Vocabulary, dict[Key, Table]]:
        """The vocabulary with the constants that rules added, in a canonical order, so that a part
        of the sequences adds its constants in the same order as the whole."""
        n_known = len(self.vocabulary)
        if len(constants) == n_known:
            return self.vocabulary, dict(derived)
        new = sorted(range(n_known, len(constants)), key=lambda i: text_order(constants[i]))
        codes = np.arange(len(constants), dtype=np.int32)
        codes[new] = np.arange(n_known, len(constants))
        return self.vocabulary.extended(constants[i] for i in new), recoded_tables(derived, codes)

    def replaced(self, **changes: Any) -> Sequences:
        """The same sequences with other values of some arguments of `Sequences`."""
        return Sequences(**{name: getattr(self, name) for name in ARGUMENTS} | changes)

    def with_background(self, background: Background | None) -> Sequences:
        """The same facts under other background knowledge."""
        return self.replaced(background=background)

    def with_labels(self, labels: Iterable[object] | None) -> Sequences:
        """The same sequences with other labels, or with none."""
        new = None if labels is None else [_constant(label) for label in labels]
        if new is not None:
            _check_number("label", len(new), len(self))
        return self.replaced(labels=new)

    def recoded(self, vocabulary: Vocabulary) -> Sequences:
        """The same sequences in the codes of another vocabulary; constants that it lacks get new
        codes after its own."""
        merged, codes = vocabulary.merged(self.vocabulary)
        return self.with_tables(merged, recoded_tables(self.tables, codes))

    def compact(self) -> Sequences:
        """The same sequences in a vocabulary of only their own constants, in order of text; a slice
        keeps that of the whole."""
        arguments = [np.unique(table[1:]) for table in self.tables.values()]
        used = np.unique(np.concatenate(arguments)).tolist() if arguments else []
        ordered = sorted(used, key=lambda code: text_order(self.vocabulary[code]))
        codes = np.zeros(len(self.vocabulary), np.int32)
        codes[ordered] = np.arange(len(ordered))
        tables = {key: table for key, table in self.tables.items() if table.shape[1]}
        vocabulary = Vocabulary(self.vocabulary[code] for code in ordered)
        return self.with_tables(vocabulary, recoded_tables(tables, codes))

    def to_parquet(
        self,
        folder: str | os.PathLike[str],
        *,
        partitions: int | None = None,
        rows_per_partition: int | None = None,
        y: Iterable[object] | None = None,
    ) -> None:
        """Write the sequences to a new folder of Parquet partitions; see `scan_parquet`.

        Everything is kept except the log of `read_xes` and the numbers of which the facts have
        ranges. The folder is written atomically.

        Parameters
        ----------
        folder
            A new folder.
        partitions, rows_per_partition
            The number of partitions, or the maximum number of sequences per partition (100,000).
        y
            Labels to write instead of those of the sequences.
        """
        X = self if y is None else self.with_labels(y)
        WRITERS["parquet"](X, folder, partitions, rows_per_partition)

    def with_tables(self, vocabulary: Vocabulary, tables: Tables) -> Sequences:
        """The same sequences, their facts in other codes."""
        return self.replaced(vocabulary=vocabulary, tables=tables, origin=None)

    def __add__(self, other: Sequences) -> Sequences:
        if not isinstance(other, Sequences):
            return NotImplemented
        return Sequences.concatenate([self, other])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequences):
            return NotImplemented
        if (
            len(self) != len(other)
            or not _same_objects(self.ids, other.ids)
            or (self.labels is None) != (other.labels is None)
            or not _same_objects(_list(self.labels), _list(other.labels))
            or self.background != other.background
        ):
            return False
        theirs = other.recoded(self.vocabulary).tables
        nothing = {key: tb.empty(key[1]) for key in {*self.tables, *theirs}}
        mine, theirs = nothing | self.tables, nothing | theirs
        return all(np.array_equal(mine[key], theirs[key]) for key in nothing)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        labels = None if self.labels is None else self.labels.tolist()
        state = (self.vocabulary, self.tables, self.ids, labels, self.background)
        kept: Any = {"reading": self.reading, "times": self.times, "numbers": self.numbers}
        return partial(Sequences, **kept), state

    def _summary(self) -> list[tuple[str, str]]:
        n_facts = sum(table.shape[1] for table in self.tables.values())
        classes = None
        if self.labels is not None:
            names, counts = np.unique(self.labels.astype(str), return_counts=True)
            classes = [f"{name} ({n})" for name, n in zip(names, counts, strict=True)]
        predicates = [
            f"{name}/{arity} ({t.shape[1]:,})" for (name, arity), t in self.tables.items()
        ]
        rows = summary(f"{len(self):,}", n_facts, classes, self.dimensions, predicates)
        if self.background is not None:
            rows.append(("background", counted(len(self.background.rules), "rule")))
        return rows

    def __repr__(self) -> str:
        return summary_text("Sequences", self._summary())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._summary()
        )
        return f"<table><caption>Sequences</caption>{rows}</table>"


def summary(
    size: str,
    n_facts: int,
    classes: list[str] | None,
    dimensions: tuple[str, ...],
    predicates: list[str],
) -> list[tuple[str, str]]:
    """What a data set holds, as titles and texts; long lists are cut."""
    rows = [("sequences", size), ("facts", f"{n_facts:,}")]
    if classes is not None:
        rows.append(("classes", _cut(classes, 8)))
    if dimensions:
        rows.append(("dimensions", ", ".join(dimensions)))
    return [*rows, ("predicates", _cut(predicates, 12))]


def _cut(texts: list[str], most: int) -> str:
    more = f", and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def summary_text(title: str, rows: list[tuple[str, str]]) -> str:
    return "\n".join([title, *(f"  {name:<11} {value}" for name, value in rows)])


def recoded_tables(tables: Tables, codes: NDArray[np.int32]) -> dict[Key, Table]:
    """Tables with new codes instead of the old ones, in order."""
    return {
        key: tb.in_order(np.vstack([table[:1], codes[table[1:]]])) for key, table in tables.items()
    }


class SequencesBuilder:
    """Collects facts, sequence by sequence, in flat buffers, which a reader may fill directly."""

    def __init__(self) -> None:
        self._constants = Constants()
        self.code = self._constants.add
        self._buffers: dict[Key, array[int]] = {}
        self._ids: list[Constant] = []
        self._labels: list[Constant | None] = []

    def begin(self, id: Constant, label: Constant | None = None) -> int:
        """Start the next sequence; returns its number."""
        self._ids.append(id)
        self._labels.append(label)
        return len(self._ids) - 1

    def buffer(self, predicate: str, arity: int) -> array[int]:
        """The buffer of a predicate: (sequence, code, code, ...) for each fact, flat."""
        return self._buffers.setdefault((predicate, arity), array("i"))

    def add(self, atom: Atom) -> None:
        """Add a ground atom to the sequence begun last; nested terms are flattened."""
        if not isinstance(atom, Atom) or not isinstance(atom.predicate, str):
            raise self._no_fact(f"{shown(atom)} is no atom", READ_ATOMS)
        if not isinstance(atom.args, tuple):
            raise self._no_fact(f"the arguments of {shown(atom)} are no tuple", AS_TUPLE)
        atom = flatten(atom)
        codes = [self.code(self._value(atom, arg)) for arg in atom.args]
        self.buffer(*atom.key).extend((len(self._ids) - 1, *codes))

    def _value(self, atom: Atom, arg: object) -> Constant:
        if isinstance(arg, Var | tuple):
            kind = "variable" if isinstance(arg, Var) else "list"
            raise self._no_fact(f"{atom} is not a ground fact: {term_text(arg)} is a {kind}")
        try:
            return as_constant(arg)
        except TypeError:
            what = f"the argument {shown(arg)} of {atom} is no constant"
            hint = "give text or a finite number; leave out what is missing, or name it 'unknown'"
            raise self._no_fact(what, hint) from None

    def _no_fact(self, message: str, hint: str | None = None) -> DataError:
        return DataError(f"sequence {constant_text(self._ids[-1])}: {message}", hint=hint)

    def build(self, *, background: Background | None = None) -> Sequences:
        """The sequences collected so far. Raises DataError for a predicate of mixed arity."""
        _check_arities(self._buffers)
        tables = {}
        while self._buffers:  # each buffer is let go as soon as its table is made
            key = next(iter(self._buffers))
            flat = np.frombuffer(self._buffers.pop(key), np.int32)
            tables[key] = tb.in_order(flat.reshape(-1, 1 + key[1]).T)
        labelled = [label for label in self._labels if label is not None]
        if labelled and len(labelled) != len(self._labels):
            raise DataError("some sequences have a label and some have none")
        vocabulary = Vocabulary(self._constants.values)
        return Sequences(vocabulary, tables, self._ids, labelled or None, background)


def _check_arities(keys: Iterable[Key]) -> None:
    arities: dict[str, int] = {}
    for name, arity in keys:
        first = arities.setdefault(name, arity)
        if first != arity:
            one = f"{quoted(name)} has {counted(first, 'argument')} in one place"
            raise DataError(f"{one}, {arity} in another", hint=SAME_ARITY)
        if wrong := wrong_link((name, arity)):
            raise DataError(wrong[0], hint=wrong[1])


def wrong_link(key: Key) -> tuple[str, str] | None:
    """Message and hint where a predicate is named `next_NAME` and cannot be a dimension."""
    name, arity = key
    if arity == 2 or not name.startswith("next_") or name == "next_":
        return None
    what = f"{quoted(name)} has {counted(arity, 'argument')}: a dimension links two events"
    return what, f"write {quoted(name)}(e1,e2), or give the predicate another name"


def _check_number(what: str, n: int, n_sequences: int) -> None:
    """Raise DataError unless there is one id or label per sequence."""
    if n != n_sequences:
        message = f"{counted(n, what)} for {counted(n_sequences, 'sequence')}"
        raise DataError(message, hint=f"give one {what} for each sequence")


def _atoms(name: Constant, sequence: object) -> Iterable[Any]:
    if isinstance(sequence, str | bytes | Atom) or not isinstance(sequence, Iterable):
        what = f"sequence {constant_text(name)} is {shown(sequence)}, not a list of atoms"
        raise DataError(what, hint=f"give one list of atoms for each sequence; {READ_ATOMS}")
    return sequence


def shown(value: object) -> str:
    """The `repr` of a value on one line, shortened for a message."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # of an integer of too many digits
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def positions(index: Any, n: int, what: str) -> NDArray[np.int64]:
    """The numbers that an index of several of `n` things means. Raises IndexError."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    chosen = np.asarray(index)
    if chosen.size == 0:
        return np.empty(0, np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise IndexError(f"index {what} by a number, a slice, a list of numbers or a mask")
    return np.asarray(np.arange(n)[chosen])


def label_array(labels: list[Constant]) -> NDArray[Any]:
    """Labels as the array that scikit-learn expects: text, integers or floats of one type."""
    if len({type(label) for label in labels}) == 1:
        return np.array(labels)
    return _objects(labels)


def _objects(values: Iterable[Constant]) -> NDArray[Any]:
    listed = list(values)
    out = np.empty(len(listed), object)
    out[:] = listed
    return out


def _list(values: NDArray[Any] | None) -> list[Any]:
    return [] if values is None else values.tolist()


def _same_objects(left: Ordered[Any] | NDArray[Any], right: Ordered[Any] | NDArray[Any]) -> bool:
    return len(left) == len(right) and all(
        constant_key(a) == constant_key(b) for a, b in zip(left, right, strict=True)
    )


def text_order(constant: Constant) -> tuple[bool, Constant, str]:
    return isinstance(constant, str), constant, type(constant).__name__


def _constant(value: object) -> Constant:
    try:
        return as_constant(value)
    except TypeError as error:
        raise DataError(f"{error} (as an id or label)") from None


def data_digest(X: Sequences) -> str:
    """A text that changes with any fact, its code, and any rule; not with ids and labels."""
    rules = [] if X.background is None else [*map(str, X.background.rules)]
    tables = (part for key, table in X.tables.items() for part in (key, table))
    return digest([len(X), X.vocabulary.constants, rules, *tables])
