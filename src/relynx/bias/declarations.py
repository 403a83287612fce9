"""`Bias`: the declarations of a pattern language, and the tests of patterns against them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from relynx.bias.checks import data_problems, language_problems
from relynx.bias.constraints import Conjunction, by_predicate, more_than_one, unifiable
from relynx.bias.infer import infer_language
from relynx.bias.modes import EVENT, LISTS, Language, SourceSpans, wrong_types
from relynx.bias.wording import wording_text
from relynx.data.sequences import Sequences
from relynx.errors import BiasError, Problem, raise_all
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Literal, as_constant, constant_key, quoted, term_text
from relynx.search_settings import SETTINGS


@dataclass(frozen=True, eq=False)
class Bias(Language):
    """Which patterns a search may build, and how far it goes.

    Raises BiasError, with all that is wrong, for declarations that contradict each other. The text
    of a bias, `str(bias)`, is read back by `parse_bias`.

    Parameters
    ----------
    types
        The type of each argument of a predicate; `event` for events. A variable joins arguments of
        one type only.
    modes
        For each predicate its modes, which add up. A mode has a sign for each argument: `+` a
        variable already in the pattern (in the first atom: a new one), `-` a new variable, `#` a
        constant, `*` any of the three.
    values
        The constants that `#` and `*` may use, by type. For other types: those of the data.
    dimensions
        `s` for `next_s`.
    key
        The first atom of a pattern is an instance of one of these; without any, it is free.
    negconstraints, posconstraints
        Conjunctions that must not, or must, match distinct atoms of a pattern; `\\==` may stand in
        them.
    atmostone, sametype
        Lists of which at most one atom of a pattern may match, under one binding of the list's
        variables; with `sametype`, at most one the same element.
    allowed
        A white list: an atom of a predicate named here must unify with one of these.
    words
        Wording for explanations: the text for a fact, where a variable in braces is replaced by its
        value, for a constant, or for a dimension (`next_s`). It does not change the patterns.
    max_length, max_gap, min_frequency, min_support, min_cover, object_identity, prior
        Settings of the search; None leaves them to the call.

    Examples
    --------
    >>> bias = Bias({"he": ("event", "kind")}, {"he": ("+#", "+-")}, dimensions=("s",))
    >>> print(bias)
    type(he(event,kind)).
    mode(he(+,#)).
    mode(he(+,-)).
    dimension(next_s).
    """

    source_spans: SourceSpans = field(default=SourceSpans(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        raise_all(map(Problem, wrong_types(self)), BiasError)
        normal: dict[str, object] = {
            "types": {
                name: tuple(EVENT if type_name == "e" else type_name for type_name in types)
                for name, types in self.types.items()
            },
            "modes": {
                name: tuple(dict.fromkeys(map(tuple, modes))) for name, modes in self.modes.items()
            },
            "values": {
                type_name: tuple(map(as_constant, constants))
                for type_name, constants in self.values.items()
            },
            "words": {
                subject if isinstance(subject, Atom) else as_constant(subject): text
                for subject, text in self.words.items()
            },
        }
        normal |= {name: tuple(getattr(self, name)) for name in ("dimensions", "key", "allowed")}
        normal |= {name: tuple(map(tuple, getattr(self, name))) for name in LISTS.values()}
        for name, value in normal.items():
            object.__setattr__(self, name, value)
        raise_all(language_problems(self, self.source_spans), BiasError)

    @classmethod
    def infer(cls, X: Sequences, y: Iterable[object] | None = None) -> Bias:
        """A bias for some data: every predicate, derived ones included.

        Events are the constants that dimensions link. Arguments that share a value have the same
        type. An argument with at most 40 distinct values may be a constant or any variable. Of more
        values, those that occur in many sequences may be constants; without any, the argument is a
        variable, and only a new one if it could connect nothing. An atom is connected to the
        pattern by an event, or without events by such a variable. Columns that `from_events` read
        have a type each; two text columns share one if they share at least half of their values.

        The language is kept small enough to mine at once: if there would be too many patterns,
        arguments with few values are constants only, patterns are shorter, or the minimum support
        is larger. `notes` says what was left out or narrowed, and why; in the text these are
        comments.

        Parameters
        ----------
        X
            The sequences.
        y
            The classes that will be mined; without them those of X. They change the size only.

        Examples
        --------
        >>> import relynx as rx
        >>> X, y = rx.from_lists([["a", "b"], ["b"]])
        >>> print(rx.Bias.infer(X))
        type(a(event)).
        type(b(event)).
        mode(a(+)).
        mode(b(+)).
        dimension(next_s).
        """
        found, notes = infer_language(_sequences(X), y)
        return cls(**vars(found), notes=notes)

    def check(self, X: Sequences) -> None:
        """Raise BiasError where a predicate is in neither the data nor the background rules."""
        X = _sequences(X)
        heads = X.background.heads if X.background else ()
        raise_all(data_problems(self, self.source_spans, [*X.tables, *heads]), BiasError)

    @cached_property
    def _negative(self) -> list[Conjunction]:
        return list(map(Conjunction, self.negconstraints))

    @cached_property
    def _positive(self) -> list[Conjunction]:
        return list(map(Conjunction, self.posconstraints))

    @cached_property
    def _white_list(self) -> dict[Key, list[Atom]]:
        return by_predicate(self.allowed)

    @property
    def constrained(self) -> bool:
        """Whether `forbids` can be true of any pattern."""
        return bool(self.negconstraints or self.atmostone or self.sametype)

    def forbids(self, atoms: Sequence[Atom]) -> bool:
        """Whether a negconstraint, atmostone or sametype rules a pattern out."""
        grouped = by_predicate(atoms) if self._negative else {}
        return (
            any(conjunction.matches(grouped) for conjunction in self._negative)
            or any(more_than_one(listed, atoms, same=False) for listed in self.atmostone)
            or any(more_than_one(listed, atoms, same=True) for listed in self.sametype)
        )

    @property
    def selective(self) -> bool:
        """Whether `wants` can be false of any pattern."""
        return bool(self.posconstraints)

    def wants(self, atoms: Sequence[Atom]) -> bool:
        """Whether a pattern satisfies every posconstraint."""
        grouped = by_predicate(atoms)
        return all(conjunction.matches(grouped) for conjunction in self._positive)

    def admits(self, atom: Atom) -> bool:
        """Whether the white list allows an atom: one that it does not name is free, others must
        unify with an atom of the list."""
        listed = self._white_list.get(atom.key)
        return listed is None or any(unifiable(general, atom) for general in listed)

    def __str__(self) -> str:
        notes = [f"% {note}" for note in self.notes]
        return "\n".join([*notes, *(f"{one}." for one in self._declarations())])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def mode_lines(self, name: str) -> list[str]:
        """The modes of a predicate as declarations, without full stops."""
        return [f"mode({_call(name, mode)})" for mode in self.modes.get(name, ())]

    def _declarations(self) -> Iterator[str]:
        for name, types in self.types.items():
            yield f"type({_call(name, map(quoted, types))})"
        for name in self.modes:
            yield from self.mode_lines(name)
        for type_name, constants in self.values.items():
            yield f"values({quoted(type_name)},{term_text(constants)})"
        for dimension in self.dimensions:
            yield f"dimension({quoted('next_' + dimension)})"
        if self.key:
            yield f"key({_listed(self.key)})"
        for declaration, name in LISTS.items():
            for literals in getattr(self, name):
                yield f"{declaration}({_listed(literals)})"
        for atom in self.allowed:
            yield f"v({atom})"
        for declaration, setting in SETTINGS.items():
            value = getattr(self, setting.field)
            if value is not None:
                yield f"{declaration}({setting.file_text(value)})"
        for subject, text in self.words.items():
            yield wording_text(subject, text)

    def _content(self) -> tuple[object, ...]:
        """What makes two biases equal: everything but the order of types, modes and values."""
        return (
            frozenset(self.types.items()),
            frozenset((name, frozenset(modes)) for name, modes in self.modes.items()),
            frozenset((t, frozenset(map(constant_key, v))) for t, v in self.values.items()),
            *(frozenset(getattr(self, name)) for name in ("dimensions", "key", "allowed")),
            *(frozenset(getattr(self, name)) for name in LISTS.values()),
            tuple(getattr(self, setting.field) for setting in SETTINGS.values()),
            tuple(wording_text(*pair) for pair in self.words.items()),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bias):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())


def _sequences(X: Sequences) -> Sequences:
    if not isinstance(X, Sequences):
        raise TypeError(f"X is a {type(X).__name__}: give Sequences")
    return X


def _call(name: str, args: Iterator[str] | Sequence[str]) -> str:
    text = ",".join(args)
    return f"{quoted(name)}({text})" if text else quoted(name)


def _listed(literals: Sequence[Literal]) -> str:
    return f"[{','.join(map(str, literals))}]"
