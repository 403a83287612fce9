"""Whether what a model is made of in Python has the right form, before anything is read from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse, islice
from numbers import Real
from typing import Any

from relynx.errors import Problem
from relynx.logic.terms import Atom, as_constant
from relynx.models.lohmm.clauses import Transition

LISTS = {
    "transitions": "[Transition(1.0, head, observation, body)]",
    "start": "[(1.0, head)]",
    "blocks": "(1, 6, 20)",
}
TABLES = {
    "types": '{("emacs", 2): ("file", "user")}',
    "values": '{"file": ("f1", "f2")}',
    "selections": '{("emacs", 2, 1): (0.2, 0.8)}',
}


def form_problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    """What has the wrong form, by the names of the parameters; each is told once."""
    for name, example in LISTS.items():
        if not _is_list(given[name]):
            yield _wrong(name, given[name], example)
    for name, example in TABLES.items():
        value = given[name]
        if not isinstance(value, Mapping):
            yield _wrong(name, value, example)
            continue
        for key, listed in value.items():
            if not _is_list(listed) or not all(map(_FITS[name], listed)):
                yield _wrong(f"{name}[{key!r}]", listed, example)
    for name, is_right in (("transitions", _is_transition), ("start", _is_start)):
        clauses = given[name] if _is_list(given[name]) else ()
        for clause in islice(filterfalse(is_right, clauses), 1):
            yield _wrong(f"one of the {name}", clause, LISTS[name])


def _wrong(name: str, value: object, example: str) -> Problem:
    return Problem(f"{name} is {value!r}", hint=f"as in {example}")


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping | Iterator)


def _is_transition(value: object) -> bool:
    return isinstance(value, Transition) and all(
        isinstance(part, Atom) for part in (value.head, value.observation, value.body)
    )


def _is_start(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], Atom)


def _is_constant(value: object) -> bool:
    try:
        as_constant(value)
    except TypeError:
        return False
    return True


def _is_number(value: object) -> bool:
    if not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:  # of an integer
        return False
    return True


_FITS: Mapping[str, Any] = {
    "types": lambda value: isinstance(value, str),
    "values": _is_constant,
    "selections": _is_number,
}
