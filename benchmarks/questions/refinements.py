"""What a generate-and-test miner would test on the relational data: all children of a pattern.

A child adds an operator to a new event and a fluent of that event. The bias also allows a second
fluent on an old event and a closing operator; on chains with one fluent an event these never
cover anything, and they are left out, in favour of the miners that would have to test them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from questions.workload import FLUENTS
from relynx.logic.terms import Atom, Var

STEPS = (1, 2, 3, 0)  # next_s, followat_s with 2 and 3 steps, follow_s


def first_atoms() -> list[tuple[Atom, ...]]:
    """The patterns of length one."""
    return [(fluent,) for fluent in _fluents(Var("E1"), {})]


def children(pattern: Sequence[Atom]) -> Iterator[tuple[Atom, ...]]:
    """The patterns with one more event at the end, whether they occur or not."""
    known = _variables(pattern)
    last = _last_event(pattern)
    new = Var(f"E{sum(atom.predicate in FLUENTS for atom in pattern) + 1}")
    for n in STEPS:
        link = _link(n, last, new)
        for fluent in _fluents(new, known):
            yield (*pattern, link, fluent)


def number_of_children(pattern: Sequence[Atom]) -> int:
    """How many `children` there are, without making them."""
    known = _variables(pattern)
    fluents = 0
    for domains in FLUENTS.values():
        choices = 1
        for domain in domains:
            choices *= len(domain) + 1 + len(known.get(domain, ()))
        fluents += choices
    return len(STEPS) * fluents


def in_chain_order(pattern: Sequence[Atom]) -> tuple[Atom, ...]:
    """A pattern as `children` writes it: fluent, operator, fluent, with the same names."""
    fluents = {atom.args[0]: atom for atom in pattern if atom.predicate in FLUENTS}
    links = {atom.args[-2]: atom for atom in pattern if atom.predicate not in FLUENTS}
    targets = {atom.args[-1] for atom in links.values()}
    (event,) = fluents.keys() - targets
    ordered = [fluents[event]]
    while event in links:
        link = links[event]
        event = link.args[-1]
        ordered += [link, fluents[event]]
    names: dict[Var, Var] = {}
    for number, fluent in enumerate(ordered[::2], start=1):
        for place, arg in enumerate(fluent.args):
            if isinstance(arg, Var):
                names.setdefault(arg, Var(f"E{number}_{place}" if place else f"E{number}"))
    return tuple(
        Atom(atom.predicate, tuple(names[a] if isinstance(a, Var) else a for a in atom.args))
        for atom in ordered
    )


def _fluents(event: Var, known: dict[tuple[str, ...], list[Var]]) -> Iterator[Atom]:
    """Each argument a constant, a variable of its domain or a new one, named after the event."""
    for predicate, domains in FLUENTS.items():
        choices = [
            [*domain, *known.get(domain, ()), Var(f"{event}_{place}")]
            for place, domain in enumerate(domains, start=1)
        ]
        for values in product(*choices):
            yield Atom(predicate, (event, *values))


def _variables(pattern: Sequence[Atom]) -> dict[tuple[str, ...], list[Var]]:
    """The variables of each domain, in order of first occurrence."""
    found: dict[tuple[str, ...], list[Var]] = {}
    for atom in pattern:
        for domain, value in zip(FLUENTS.get(atom.predicate, ()), atom.args[1:], strict=False):
            if isinstance(value, Var) and value not in found.setdefault(domain, []):
                found[domain].append(value)
    return found


def _last_event(pattern: Sequence[Atom]) -> Var:
    """The event without an operator to a later one."""
    event = pattern[-1].args[0]
    if pattern[-1].predicate not in FLUENTS or not isinstance(event, Var):
        raise ValueError(f"the last atom of a pattern is the fluent of its last event: {pattern}")
    return event


def _link(n: int, left: Var, right: Var) -> Atom:
    if n == 0:
        return Atom("follow_s", (left, right))
    return Atom("next_s", (left, right)) if n == 1 else Atom("followat_s", (n, left, right))
