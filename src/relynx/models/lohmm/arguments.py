"""Checks of what a model is made of in Python, and of what its methods are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse, islice
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relynx.data.sequences import Sequences
from relynx.errors import InputError, Problem
from relynx.logic.terms import Atom, is_constant
from relynx.models.checks import is_amount, is_count
from relynx.models.lohmm.clauses import Floats, Transition

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
    "values": is_constant,
    "selections": _is_number,
}


def checked_sequences(sequences: Iterable[Iterable[Atom]]) -> list[list[Atom]]:
    """The sequences as lists; raises InputError where one holds anything but ground atoms."""
    given: object = sequences
    if isinstance(given, Sequences):
        what = "expected lists of ground atoms, found Sequences"
        raise InputError(what, hint="relynx.models.observations.observations(X) makes them")
    if isinstance(sequences, str | Atom) or not isinstance(sequences, Iterable):
        raise _no_sequences(sequences)
    found: list[list[Atom]] = []
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str | Atom) or not isinstance(sequence, Iterable):
            raise _no_sequences(sequence)
        atoms = list(sequence)
        for t, atom in enumerate(atoms):
            if not isinstance(atom, Atom) or any(True for _ in atom.variables()):
                shown = str(atom) if isinstance(atom, Atom) else repr(atom)
                what = f"sequence {i}, step {t + 1}: expected a ground atom, found {shown}"
                raise InputError(what, hint='make one with rx.parse_atom("p(a,b)")')
        found.append(atoms)
    return found


def _no_sequences(value: object) -> InputError:
    shown = str(value) if isinstance(value, Atom) else repr(value)
    what = f"expected a list of sequences, each a list of ground atoms, found {shown}"
    return InputError(what, hint="put one sequence into a list: [sequence]")


def checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """One factor for each sequence, 1 where none is given."""
    if sample_weight is None:
        return np.ones(n)
    try:
        factors = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must have finite numbers from 0 on") from None
    if factors.shape != (n,):
        what = f"sample_weight must have one number for each of {n} sequences"
        raise InputError(f"{what}, found shape {factors.shape}")
    if not np.all(np.isfinite(factors) & (factors >= 0)):
        raise InputError("sample_weight must have finite numbers from 0 on")
    return factors


def checked_whole(name: str, value: Any, *, least: int) -> int:
    if not is_count(value, least):
        raise InputError(f"{name} must be a whole number from {least} on, not {value!r}")
    return int(value)


def check_not_negative(name: str, value: object) -> None:
    if not is_amount(value):
        raise InputError(f"{name} must be a number from 0 on, not {value!r}")
