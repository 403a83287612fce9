"""Generate-and-test miners: what one candidate costs when it is tested on its parent's cover.

SWI-Prolog asks as in `prolog.py`; the plain-Python twin backtracks over facts in dictionaries. Both
count the covered sequences of a candidate and test nothing but the sequences its parent covers.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from questions.markov import LONGEST
from questions.prolog import Variant, question_text
from questions.refinements import children, number_of_children
from relynx.logic.terms import Atom, Term, Var


@dataclass(frozen=True, slots=True)
class Candidate:
    """A child of a frequent pattern, and the sequences to test it on."""

    atoms: tuple[Atom, ...]
    on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Processor time and the frequency of each candidate."""

    seconds: float
    frequencies: tuple[int, ...]


def number_of_candidates(parents: Iterable[Sequence[Atom]]) -> int:
    """How many children the patterns have together: each is tested once."""
    return sum(map(number_of_children, parents))


def sample_children(
    parents: Sequence[tuple[Atom, ...]], *, n: int, seed: int = 0
) -> list[tuple[int, tuple[Atom, ...]]]:
    """`n` children (with the parent's number) of all there are, each as likely as any other."""
    draw = random.Random(seed)
    weights = [number_of_children(parent) for parent in parents]
    chosen = draw.choices(range(len(parents)), weights=weights, k=n)
    return [(i, draw.choice(list(children(parents[i])))) for i in chosen]


_DRIVER = """
test(K, Sequences) :- member(S, Sequences), p(K, S), fail.
test(_, _).
test_all(Cs) :- ( member(K-Sequences, Cs), test(K, Sequences), fail ; true ).
timed(Cs, T) :-
    statistics(cputime, Before), test_all(Cs), statistics(cputime, After), T is After - Before.
report(Cs) :- forall(member(K-Sequences, Cs),
    ( aggregate_all(count, ( member(S, Sequences), p(K, S) ), N), format("~w~n", [N]) )).
main(Passes) :-
    findall(K-Sequences, on(K, Sequences), Cs), test_all(Cs),
    findall(T, ( between(1, Passes, _), timed(Cs, T) ), Times),
    min_list(Times, Best), format("~w~n", [Best]), report(Cs).
"""


def count_in_prolog(
    facts: Path, candidates: Sequence[Candidate], variant: Variant, *, passes: int = 2
) -> Counted:
    """Test candidates in one process of SWI-Prolog, each compiled to a clause.

    Loading, compiling and the making of indexes (a first pass) are not in the time; of the timed
    passes the fastest counts.
    """
    clauses = [
        question_text(k, candidate.atoms, variant, n_events=LONGEST, object_identity=True)
        for k, candidate in enumerate(candidates)
    ]
    covers = [f"on({k},{list(candidate.on)}).\n" for k, candidate in enumerate(candidates)]
    program = facts.with_name("candidates.pl")
    program.write_text(
        ":- style_check(-singleton).\n:- use_module(library(lists)).\n"
        ":- use_module(library(aggregate)).\n" + "".join(clauses) + "".join(covers) + _DRIVER
    )
    goal = f"main({passes})"
    command = ["swipl", "-O", "-q", "-g", goal, "-t", "halt", str(facts), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise RuntimeError(f"SWI-Prolog failed on {variant}:\n{done.stderr}")
    seconds, *frequencies = done.stdout.splitlines()
    return Counted(float(seconds), tuple(map(int, frequencies)))


class PlainSequence:
    """The facts of a sequence, by predicate and by event, and the steps of its chain."""

    __slots__ = ("after", "by_event", "by_predicate")

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self.by_predicate: dict[str, list[tuple[Term, ...]]] = defaultdict(list)
        self.by_event: dict[tuple[str, Term], list[tuple[Term, ...]]] = defaultdict(list)
        self.after: dict[Term, Term] = {}
        for atom in atoms:
            if atom.predicate == "next_s":
                self.after[atom.args[0]] = atom.args[1]
            else:
                self.by_predicate[atom.predicate].append(atom.args)
                self.by_event[atom.predicate, atom.args[0]].append(atom.args)

    def reached(self, event: Term, steps: int) -> Iterator[Term]:
        """The events so many steps after an event; 0 for any number of steps."""
        after = self.after
        if steps == 0:
            while event in after:
                event = after[event]
                yield event
            return
        for _ in range(steps):
            if event not in after:
                return
            event = after[event]
        yield event


# An atom of a question: predicate, steps of an operator (-1 for a fluent), arguments. Variables
# are numbers and constants texts: faster to hash and to tell apart than the library's values.
_Goal = tuple[str, int, tuple[int | str, ...]]


def count_in_python(sequences: Sequence[PlainSequence], candidates: Sequence[Candidate]) -> Counted:
    """Test candidates by backtracking, atom by atom from left to right."""
    start = time.process_time()
    frequencies = []
    for candidate in candidates:
        goals = _goals(candidate.atoms)
        constants = frozenset(arg for _, _, args in goals for arg in args if type(arg) is str)
        frequencies.append(
            sum(_satisfied(goals, 0, sequences[s], {}, constants) for s in candidate.on)
        )
    return Counted(time.process_time() - start, tuple(frequencies))


def _goals(atoms: Iterable[Atom]) -> list[_Goal]:
    numbers: dict[Term, int] = {}
    goals: list[_Goal] = []
    for atom in atoms:
        steps, args = -1, atom.args
        if atom.predicate == "followat_s":
            steps, args = int(str(args[0])), args[1:]
        elif atom.predicate in ("next_s", "follow_s"):
            steps = int(atom.predicate == "next_s")
        named = tuple(
            numbers.setdefault(arg, len(numbers)) if isinstance(arg, Var) else str(arg)
            for arg in args
        )
        goals.append((atom.predicate, steps, named))
    return goals


def _satisfied(
    goals: list[_Goal],
    i: int,
    sequence: PlainSequence,
    binding: dict[int | str, Term],
    constants: frozenset[str],
) -> bool:
    """Whether the goals from the i-th on have an answer that extends the binding."""
    if i == len(goals):
        return True
    predicate, steps, args = goals[i]
    if steps >= 0:
        left, right = args
        for event in sequence.reached(binding[left], steps):
            binding[right] = event
            if _satisfied(goals, i + 1, sequence, binding, constants):
                return True
            del binding[right]
        return False
    facts: Sequence[tuple[Term, ...]]
    if args[0] in binding:
        facts = sequence.by_event.get((predicate, binding[args[0]]), ())
    else:
        facts = sequence.by_predicate.get(predicate, ())
    for fact in facts:
        new = _bind(args, fact, binding, constants)
        if new is not None:
            if _satisfied(goals, i + 1, sequence, binding, constants):
                return True
            for var in new:
                del binding[var]
    return False


def _bind(
    args: tuple[int | str, ...],
    fact: tuple[Term, ...],
    binding: dict[int | str, Term],
    constants: frozenset[str],
) -> list[int | str] | None:
    """Bind the variables of a goal to a fact and return the new ones; None if they disagree."""
    new: list[int | str] = []
    for arg, value in zip(args, fact, strict=True):
        if type(arg) is str:
            agrees = arg == value
        elif arg in binding:
            agrees = binding[arg] == value
        else:
            agrees = value not in constants and value not in binding.values()
            if agrees:
                binding[arg] = value
                new.append(arg)
        if not agrees:
            for var in new:
                del binding[var]
            return None
    return new
