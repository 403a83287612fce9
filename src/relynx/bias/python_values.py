"""Type checks for a bias made in Python: dicts, tuples, texts and atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from relynx.bias.modes import LISTS
from relynx.logic.terms import Atom, Comparison, Not, as_constant

Test: TypeAlias = Callable[[object], bool]


def wrong_types(bias: Any) -> Iterator[str]:
    """A message for each field of a bias that has a value of the wrong type."""
    parts: tuple[tuple[str, Test, Test, str], ...] = (
        ("types", _is_text, _all_of(_is_text), "a tuple of texts"),
        ("modes", _is_text, _all_of(_is_mode), "a tuple of modes, as in ('+#', '+-')"),
        ("values", _is_text, _all_of(_is_constant), "a tuple of constants"),
        ("words", _is_subject, _is_text, "a text for an atom or a constant"),
    )
    for field, right_name, right, wanted in parts:
        given = getattr(bias, field)
        if not isinstance(given, Mapping):
            yield f"{field} is {given!r}: give a dict"
            continue
        for name, value in given.items():
            if not right_name(name) or not right(value):
                yield f"{field} of {name!r} is {value!r}: give {wanted}"
    lists: tuple[tuple[str, Test, str], ...] = (
        ("dimensions", _all_of(_is_text), "a tuple of names, as in ('s',)"),
        ("key", _all_of(_is_atom), "a tuple of atoms"),
        ("allowed", _all_of(_is_atom), "a tuple of atoms"),
        *(
            (field, _all_of(_all_of(_is_literal)), "a tuple of tuples of atoms")
            for field in LISTS.values()
        ),
    )
    for field, right, wanted in lists:
        given = getattr(bias, field)
        if not right(given):
            yield f"{field} is {given!r}: give {wanted}"


def _all_of(right: Test) -> Test:
    return lambda given: isinstance(given, tuple | list) and all(map(right, given))


def _is_a(*types: type) -> Test:
    return lambda value: isinstance(value, types)


_is_text, _is_atom, _is_literal = _is_a(str), _is_a(Atom), _is_a(Atom, Comparison, Not)


def _is_mode(value: object) -> bool:
    return _is_text(value) or _all_of(_is_text)(value)


def _is_subject(value: object) -> bool:
    return _is_atom(value) or _is_constant(value)


def _is_constant(value: object) -> bool:
    try:
        as_constant(value)
    except TypeError:
        return False
    return True
