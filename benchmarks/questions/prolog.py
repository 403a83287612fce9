"""The coverage questions as a good Prolog programmer would ask them of SWI-Prolog.

`VARIANTS` are ways to store the same facts and to write the same question; the benchmark takes the
fastest. All of them compile one clause per pattern, cut after the first answer, and test Object
Identity by `\\==` as soon as both sides are bound, and only between values of one domain (events of
a chain differ by construction, values of different domains always do).
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from questions.workload import FLUENTS
from relynx.logic.terms import Atom, Var, term_text

STRIDE = 32  # event keys are STRIDE * sequence + position; more than the events of a sequence


@dataclass(frozen=True, slots=True)
class Variant:
    """How the facts are stored (`storage`) and in which order a question looks at its events.

    sequence   he(S,E,T,L), next_s(S,E,F): the sequence is the first argument of every fact
    event      he(E,T,L), next_s(E,F) with one key per event of the whole data: hashed lookups
    closure    as event, with follow_s as facts instead of two clauses
    position   as event, the keys are integers and the operators arithmetic on them
    scan       as position, but a later event is looked for among the fluents of its sequence
    """

    storage: str
    order: str

    @property
    def keeps_steps(self) -> bool:
        """Whether `next_s` is stored as facts, as the data have it."""
        return self.storage in ("sequence", "event", "closure")

    def __str__(self) -> str:
        return f"{self.storage}, {self.order} order"


VARIANTS = tuple(
    Variant(storage, order)
    for storage in ("sequence", "event", "closure", "position", "scan")
    for order in ("written", "selective")
)


def facts_text(sequences: Sequence[Sequence[Atom]], variant: Variant) -> str:
    """The facts of all sequences in a variant's storage, with the operators it needs."""
    # A fluent is stored by event key, and by sequence for the first event of a question.
    by_sequence: dict[str, list[str]] = {"he": [], "st": []}
    by_event: dict[str, list[str]] = {"he": [], "st": []}
    steps: list[str] = []
    for s, atoms in enumerate(sequences):
        for atom in atoms:
            if atom.predicate == "next_s":
                left, right = (_key(s, event, variant) for event in atom.args)
                where = f"{s}," if variant.storage == "sequence" else ""
                steps.append(f"next_s({where}{left},{right}).\n")
                continue
            event, *values = atom.args
            rest = ",".join(map(term_text, (_key(s, event, variant), *values)))
            by_sequence[atom.predicate].append(f"{atom.predicate}({s},{rest}).\n")
            by_event[atom.predicate].append(f"{atom.predicate}({rest}).\n")
    parts = ["".join(by_sequence["he"]), "".join(by_sequence["st"])]
    if variant.storage != "sequence":
        parts += ["".join(by_event["he"]), "".join(by_event["st"])]
    if variant.keeps_steps:
        parts.append("".join(steps))
    return "".join(parts) + _operators(variant)


def _key(sequence: int, event: object, variant: Variant) -> int | str:
    if variant.storage == "sequence":
        return str(event)
    return STRIDE * sequence + int(str(event)[1:])


def _operators(variant: Variant) -> str:
    if variant.storage == "sequence":
        return (
            "follow_s(S,X,Y) :- next_s(S,X,Y).\n"
            "follow_s(S,X,Y) :- next_s(S,X,Z), follow_s(S,Z,Y).\n"
            "precede_s(S,Y,X) :- next_s(S,X,Y).\n"
            "precede_s(S,Y,X) :- next_s(S,Z,Y), precede_s(S,Z,X).\n"
        )
    if variant.storage == "event":
        return (
            "follow_s(X,Y) :- next_s(X,Y).\n"
            "follow_s(X,Y) :- next_s(X,Z), follow_s(Z,Y).\n"
            "precede_s(Y,X) :- next_s(X,Y).\n"
            "precede_s(Y,X) :- next_s(Z,Y), precede_s(Z,X).\n"
        )
    if variant.storage == "closure":
        return (
            ":- dynamic follow_s/2.\n"
            "closure(X,Y) :- next_s(X,Y).\nclosure(X,Y) :- next_s(X,Z), closure(Z,Y).\n"
            ":- forall((next_s(X,_), closure(X,Y)), assertz(follow_s(X,Y))),"
            " compile_predicates([follow_s/2]).\n"
        )
    return ""


def question_text(
    number: int, pattern: Sequence[Atom], variant: Variant, *, n_events: int, object_identity: bool
) -> str:
    """The clause `p(Number,S) :- ..., !.` that asks one pattern of sequence S."""
    fluents = [atom for atom in pattern if atom.predicate in FLUENTS]
    steps = [atom for atom in pattern if atom.predicate not in FLUENTS]
    goals: list[str] = []
    bound: list[Var] = []
    constants = {
        (domain, value)
        for atom in fluents
        for domain, value in zip(FLUENTS[atom.predicate], atom.args[1:], strict=True)
        if not isinstance(value, Var)
    }
    domain_of = {
        value: domain
        for atom in fluents
        for domain, value in zip(FLUENTS[atom.predicate], atom.args[1:], strict=True)
        if isinstance(value, Var)
    }
    reached: list[int] = []
    for place in _visiting_order(fluents, steps, variant):
        fluent = fluents[place]
        neighbour = next((i for i in (place - 1, place + 1) if i in reached), None)
        goals += _visit(fluent, neighbour, place, steps, variant, n_events)
        reached.append(place)
        if not object_identity:
            continue
        for value in fluent.args[1:]:
            if not isinstance(value, Var) or value in bound:
                continue
            domain = domain_of[value]
            goals += [f"{value} \\== {c}" for d, c in sorted(constants) if d == domain]
            goals += [f"{value} \\== {other}" for other in bound if domain_of[other] == domain]
            bound.append(value)
    return f"p({number},S) :- {', '.join(goals)}, !.\n"


def _visiting_order(
    fluents: Sequence[Atom], steps: Sequence[Atom], variant: Variant
) -> tuple[int, ...]:
    """Left to right, or from the most constrained event outwards; for up to three events."""
    places = tuple(range(len(fluents)))
    if variant.order == "written":
        return places

    def constrained(place: int) -> int:
        return sum(not isinstance(value, Var) for value in fluents[place].args[1:])

    def loose(step: int) -> bool:
        return steps[step].predicate == "follow_s"

    first = max(places, key=lambda place: (constrained(place), place == 0))
    if first in (places[0], places[-1]):
        return places if first == 0 else places[::-1]
    left_first = (loose(0), -constrained(0)) < (loose(1), -constrained(2))
    return (1, 0, 2) if left_first else (1, 2, 0)


def _visit(
    fluent: Atom,
    neighbour: int | None,
    place: int,
    steps: Sequence[Atom],
    variant: Variant,
    n_events: int,
) -> list[str]:
    """The goals that bind one more event and its fluent."""
    args = ",".join(map(term_text, fluent.args))
    in_sequence = f"{fluent.predicate}(S,{args})"
    if neighbour is None:
        return [in_sequence]
    at_event = in_sequence if variant.storage == "sequence" else f"{fluent.predicate}({args})"
    step = steps[min(neighbour, place)]
    *gap, left, right = step.args
    known, new = (left, right) if neighbour < place else (right, left)
    distance = 1 if step.predicate == "next_s" else gap[0] if gap else None
    if variant.storage in ("position", "scan"):
        forward = neighbour < place
        if distance is not None:
            return [f"{new} is {known} {'+' if forward else '-'} {distance}", at_event]
        if variant.storage == "scan":
            return [in_sequence, f"{new} {'>' if forward else '<'} {known}"]
        if forward:
            limits = f"From is {known} + 1, To is S * {STRIDE} + {n_events - 1}"
        else:
            limits = f"From is S * {STRIDE}, To is {known} - 1"
        limits = limits.replace("From", f"From{new}").replace("To", f"To{new}")
        return [limits, f"between(From{new},To{new},{new})", at_event]
    where = "S," if variant.storage == "sequence" else ""
    if distance is None:
        if known is left or variant.storage == "closure":
            return [f"follow_s({where}{left},{right})", at_event]
        return [f"precede_s({where}{right},{left})", at_event]
    names = [left, *(f"{new}{i}" for i in range(1, distance)), right]
    walk = [f"next_s({where}{a},{b})" for a, b in pairwise(names)]
    return [*(walk if known is left else reversed(walk)), at_event]


_DRIVER = """
ask(Sequences, N) :- ( member(S, Sequences), between(1, N, K), p(K, S), fail ; true ).
timed(Sequences, N, T) :-
    statistics(cputime, Before), ask(Sequences, N), statistics(cputime, After), T is After - Before.
answers(Sequences, N) :-
    forall(( member(S, Sequences), between(1, N, K), p(K, S) ), format("~w ~w~n", [S, K])).
main(N, Warm, Sample, Passes) :-
    ask(Warm, N),
    findall(T, ( between(1, Passes, _), timed(Sample, N, T) ), Times),
    min_list(Times, Best),
    format("time ~w~n", [Best]), answers(Sample, N).
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds of processor time for a sample, and the covered (sequence, pattern) pairs of it."""

    seconds: float
    covered: frozenset[tuple[int, int]]


def ask(
    facts: Path,
    patterns: Sequence[Sequence[Atom]],
    variant: Variant,
    *,
    sample: Sequence[int],
    n_events: int,
    object_identity: bool = True,
    passes: int = 3,
) -> Answer:
    """Ask all patterns of the sampled sequences in one process of SWI-Prolog.

    Loading and the making of indexes (a first pass over a few sequences) are not in the time; of
    the timed passes the fastest counts.
    """
    clauses = [
        question_text(number, pattern, variant, n_events=n_events, object_identity=object_identity)
        for number, pattern in enumerate(patterns, start=1)
    ]
    warm = list(range(5))
    goal = f"main({len(patterns)}, {warm}, {list(sample)}, {passes})"
    program = facts.with_name("questions.pl")
    program.write_text(
        ":- style_check(-singleton).\n:- use_module(library(lists)).\n" + "".join(clauses) + _DRIVER
    )
    command = ["swipl", "-O", "-q", "-g", goal, "-t", "halt", str(facts), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise RuntimeError(f"SWI-Prolog failed on {variant}:\n{done.stderr}")
    first, *rest = done.stdout.splitlines()
    covered = (line.split() for line in rest)
    return Answer(
        seconds=float(first.split()[1]), covered=frozenset((int(s), int(k) - 1) for s, k in covered)
    )
