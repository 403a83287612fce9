"""relynx, SWI-Prolog, clingo and plain enumeration answer the same questions the same way.

RELYNX_ORACLE_CASES says how many (pattern, sequence, background) triples to ask, 1,000 unless set;
each is asked with and without Object Identity.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from reference import background_closure, brute_force_matches

from relynx.data.sequences import Sequences
from relynx.logic.datalog import parse_background
from relynx.mining.matching.match import covers, match
from relynx.mining.patterns.pattern import parse_pattern

from . import asp, prolog
from .generator import TRIPLES_IN_A_GROUP, Answers, Group, make_groups, reference_answers

GROUPS_IN_A_BATCH = 25
N_CASES = int(os.environ.get("RELYNX_ORACLE_CASES", "1000"))
N_BATCHES = -(-N_CASES // (TRIPLES_IN_A_GROUP * GROUPS_IN_A_BATCH))

pytestmark = pytest.mark.oracle


@cache
def questions(batch: int) -> tuple[list[Group], Answers]:
    """The groups of a batch and their answers by enumeration."""
    groups = make_groups(batch * GROUPS_IN_A_BATCH, GROUPS_IN_A_BATCH)
    return groups, reference_answers(groups)


def sequences_of(group: Group) -> Sequences:
    """All sequences of a group as one value, its rules through their text."""
    text = "\n".join(map(str, group.rules))
    background = parse_background(text) if text else None
    return Sequences.from_atoms(group.sequences, background=background)


def pattern_text(pattern: Sequence[object]) -> str:
    return ", ".join(map(str, pattern))


def relynx_answers(groups: Sequence[Group], *, together: bool = False) -> Answers:
    """The covered (group, pattern, sequence, flag); patterns one by one, or all of a group."""
    answers: Answers = set()
    for g, group in enumerate(groups):
        X = sequences_of(group)
        patterns = [parse_pattern(pattern_text(pattern)) for pattern in group.patterns]
        for flag in (True, False):
            if together:
                table = covers(patterns, X, object_identity=flag)
            else:
                columns = [covers(pattern, X, object_identity=flag) for pattern in patterns]
                table = np.column_stack(columns)
            assert table.shape == (len(group.sequences), len(group.patterns))
            answers |= {(g, int(p), int(s), flag) for s, p in np.argwhere(table)}
    return answers


@dataclass(frozen=True)
class Engine:
    """One who answers: a name, a function of groups, and why it may be unable to."""

    name: str
    answers: Callable[[Sequence[Group]], Answers]
    is_installed: Callable[[], bool]
    hint: str


ENUMERATION = Engine("enumeration", reference_answers, lambda: True, "")
RELYNX = Engine("relynx", relynx_answers, lambda: True, "")
TOGETHER = Engine(
    "relynx, patterns together", partial(relynx_answers, together=True), lambda: True, ""
)
PROLOG = Engine("SWI-Prolog", prolog.prolog_answers, prolog.is_installed, prolog.HINT)
CLINGO = Engine("clingo", asp.clingo_answers, asp.is_installed, asp.HINT)
ENGINES = (ENUMERATION, RELYNX, TOGETHER, PROLOG, CLINGO)


@pytest.mark.parametrize("batch", range(N_BATCHES))
@pytest.mark.parametrize("engine", ENGINES[1:], ids=lambda engine: engine.name)
def test_the_answers_are_those_of_enumeration(engine, batch):
    if not engine.is_installed():
        pytest.skip(engine.hint)
    groups, expected = questions(batch)
    wrong = engine.answers(groups) ^ expected
    if wrong:
        text = reproducer(groups[min(wrong)[0]], engine)
        pytest.fail(f"{len(wrong)} wrong answers of {engine.name}\n{text}")


@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_the_matches_are_those_of_enumeration(batch):
    for group in questions(batch)[0][:5]:
        X = sequences_of(group)
        for flag in (True, False):
            for s, atoms in enumerate(group.sequences[:2]):
                closure = background_closure(group.rules, atoms, flag)
                for pattern in group.patterns[:4]:
                    expected = brute_force_matches(pattern, closure, flag)
                    found = match(pattern_text(pattern), X[s], object_identity=flag)
                    assert sorted(map(_shown, found)) == sorted(map(_shown, expected)), (
                        pattern_text(pattern)
                    )


@pytest.mark.filterwarnings("ignore:no sequence has a fact")
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_a_part_of_the_sequences_has_the_answers_it_had_in_the_whole(batch):
    for group in questions(batch)[0][:7]:
        X = sequences_of(group)
        patterns = list(map(pattern_text, group.patterns))
        part = list(range(len(X)))[::-2]
        fresh = covers(patterns, X[part])  # rules are evaluated on the part alone
        whole = covers(patterns, X)
        assert np.array_equal(fresh, whole[part])
        assert np.array_equal(covers(patterns, X[part]), whole[part])


def _shown(binding: dict[str, object]) -> str:
    return repr(sorted(binding.items()))


GOLDEN = "he(e1,alpha,short), next_s(e1,e2), st(e2,plus,medium), next_s(e2,e3), he(e3,alpha,short)"
GOLDEN_ANSWERS = {  # with Object Identity, without
    "he(X,alpha,L), next_s(X,Y), st(Y,plus,M)": (True, True),
    "he(X,alpha,L), follow_s(X,Y), he(Y,alpha,M)": (False, True),
    "he(X,alpha,L), follow_s(X,Y), he(Y,alpha,L)": (True, True),
    "followat_s(2,X,Y), he(X,A,L), he(Y,A,L)": (True, True),
    "followat_s(2,X,Y), st(Y,A,L)": (False, False),
    "he(e1,A,L), he(X,A,L), follow_s(X,_)": (False, True),
    "st(X,_,_), next_s(_,X), next_s(X,_)": (True, True),
    "follow_s(X,X)": (False, False),
}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_the_golden_cases_have_their_answers(engine):
    if not engine.is_installed():
        pytest.skip(engine.hint)
    patterns = tuple(parse_pattern(text).atoms for text in GOLDEN_ANSWERS)
    answers = engine.answers([Group((), (parse_pattern(GOLDEN).atoms,), patterns)])
    for p, (text, expected) in enumerate(GOLDEN_ANSWERS.items()):
        assert ((0, p, 0, True) in answers, (0, p, 0, False) in answers) == expected, text


def test_a_reproducer_is_minimal_and_shows_every_answer():
    def blind(groups: Sequence[Group]) -> Answers:
        return {answer for answer in reference_answers(groups) if answer[3]}

    atoms = parse_pattern("p(a), q(a,b), q(b,c)").atoms
    pattern = parse_pattern("p(X), q(X,Y), q(X,Z)").atoms
    rules = parse_background("r(X) :- p(X). s(X) :- r(X).").rules
    case = Group(tuple(rules), (atoms[:1], atoms), (atoms[1:2], pattern))
    engine = Engine("blind", blind, lambda: True, "")
    assert reproducer(case, engine, asked=(ENUMERATION,)) == (
        "facts:      q(a,b).\n"
        "pattern:    q(a,b)\n"
        "object_identity=False\n"
        "enumeration: covered\n"
        "blind: not covered"
    )


def reproducer(case: Group, engine: Engine, *, asked: tuple[Engine, ...] = ENGINES) -> str:
    """The smallest case found on which the engine and enumeration still disagree, as text."""

    def wrong(smaller: Group) -> Answers:
        try:
            return engine.answers([smaller]) ^ reference_answers([smaller])
        except (ValueError, RuntimeError):  # what makes no sense without the part left out
            return set()

    if not wrong(case):
        return (
            "the group by itself is answered rightly: the answer depends on what was asked before"
        )
    case = _shrunk(case, wrong)
    _, p, s, flag = answer = min(wrong(case))
    lines = ["facts:      " + " ".join(f"{atom}." for atom in atoms) for atoms in case.sequences]
    lines += [f"rule:       {rule}" for rule in case.rules]
    lines += [f"pattern:    {pattern_text(pattern)}" for pattern in case.patterns]
    if len(case.sequences) > 1 or len(case.patterns) > 1:
        lines.append(f"the answer for sequence {s}, pattern {p}:")
    lines.append(f"object_identity={flag}")
    for other in dict.fromkeys((*asked, engine)):
        if other.is_installed():
            said = "covered" if answer in other.answers([case]) else "not covered"
            lines.append(f"{other.name}: {said}")
    return "\n".join(lines)


def _shrunk(case: Group, wrong: Callable[[Group], Answers]) -> Group:
    """Leave out one part after the other while the answers stay wrong without it."""
    while True:
        smaller = next((part for part in _smaller(case) if wrong(part)), None)
        if smaller is None:
            return case
        case = smaller


def _smaller(case: Group) -> Iterator[Group]:
    """The case with one thing less: large things first."""
    for name in ("patterns", "sequences"):
        values = getattr(case, name)
        if len(values) > 1:
            yield from (replace(case, **{name: (value,)}) for value in values)
            yield from (replace(case, **{name: less}) for less in _one_less(values))
    yield from (replace(case, rules=less) for less in _one_less(case.rules))
    for name in ("patterns", "sequences"):
        values = getattr(case, name)
        for i, value in enumerate(values):
            for less in _one_less(value):
                if less or name == "sequences":
                    yield replace(case, **{name: (*values[:i], less, *values[i + 1 :])})


def _one_less(values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return (values[:i] + values[i + 1 :] for i in range(len(values)))
