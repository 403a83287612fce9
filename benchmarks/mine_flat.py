"""`mine` on flat sequences, where it finds sequential patterns, against prefixspan and seq2pat.

All three start from the same lists; `mine` makes its `Sequences` of them inside the time. seq2pat
has no limit of length and leaves out single symbols; what is longer is not compared.
Times are processor times, with those of child processes: seq2pat works in one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from questions.bars import Bar, print_table, report
from questions.markov import FLAT_BIAS, flat_sequences

from relynx.bias import parse_bias
from relynx.data.lists import from_lists
from relynx.logic.terms import Atom
from relynx.mining.search import mine

LENGTH = 5
PASSES = 3
Lists = list[list[int]]
Supports = dict[tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class Task:
    """How many sequences at which support, and how many times faster than prefixspan."""

    n_sequences: int
    support: float
    limit: float

    def __str__(self) -> str:
        return f"{self.n_sequences:,} sequences at {self.support:.0%}"

    @property
    def least(self) -> int:
        return round(self.n_sequences * self.support)


TASKS = (Task(2_000, 0.03, 3.0), Task(20_000, 0.1, 8.0))


def processor_seconds() -> float:
    """Processor time of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def with_relynx(lists: Lists, least: int) -> tuple[float, Supports]:
    bias = parse_bias(FLAT_BIAS)
    start = processor_seconds()
    X, _ = from_lists(lists, predicate="is")
    found = mine(X, None, bias, min_support=0.0, min_frequency=least, max_length=LENGTH, max_gap=1)
    seconds = processor_seconds() - start
    return seconds, {symbols(entry.pattern.atoms): entry.frequency for entry in found}


def symbols(atoms: tuple[Atom, ...]) -> tuple[int, ...]:
    """The symbols of a pattern in the order of its events."""
    at = {atom.args[0]: int(str(atom.args[1])) for atom in atoms if atom.predicate == "is"}
    after = {atom.args[0]: atom.args[1] for atom in atoms if atom.predicate == "follow_s"}
    (event,) = at.keys() - set(after.values())
    order = [at[event]]
    while event in after:
        event = after[event]
        order.append(at[event])
    return tuple(order)


def with_prefixspan(lists: Lists, least: int) -> tuple[float, Supports]:
    from prefixspan import PrefixSpan

    start = processor_seconds()
    search = PrefixSpan(lists)
    search.maxlen = LENGTH
    found = search.frequent(least)
    seconds = processor_seconds() - start
    return seconds, {tuple(pattern): support for support, pattern in found}


def with_seq2pat(lists: Lists, least: int) -> tuple[float, Supports]:
    from sequential.seq2pat import Seq2Pat

    start = processor_seconds()
    found = Seq2Pat(sequences=lists, max_span=None).get_patterns(min_frequency=least)
    seconds = processor_seconds() - start
    return seconds, {tuple(pattern): support for *pattern, support in found}


def best(
    search: Callable[[Lists, int], tuple[float, Supports]], task: Task
) -> tuple[float, Supports]:
    """The best time of some passes, each on lists of its own."""
    times = []
    for _ in range(PASSES):
        seconds, found = search(flat_sequences(task.n_sequences), task.least)
        times.append(seconds)
    return min(times), found


def compare(task: Task, *, prefixspan: bool, seq2pat: bool) -> list[Bar]:
    ours, found = best(with_relynx, task)
    rows = [("relynx", f"{len(found):,}", f"{ours:.2f} s", "")]
    bars = []
    if prefixspan:
        theirs, patterns = best(with_prefixspan, task)
        if patterns != found:
            raise RuntimeError(f"prefixspan and relynx find different patterns of {task}")
        rows.append(("prefixspan", f"{len(patterns):,}", f"{theirs:.2f} s", f"{theirs / ours:.1f}"))
        what = f"times faster than prefixspan, {task}"
        bars.append(Bar(what, theirs / ours, task.limit, at_least=True))
    if seq2pat:
        theirs, patterns = best(with_seq2pat, task)
        within = {pattern: n for pattern, n in patterns.items() if len(pattern) <= LENGTH}
        if within != {pattern: n for pattern, n in found.items() if len(pattern) > 1}:
            raise RuntimeError(f"seq2pat and relynx find different patterns of {task}")
        rows.append(("seq2pat", f"{len(patterns):,}", f"{theirs:.2f} s", f"{theirs / ours:.1f}"))
        what = f"times faster than seq2pat, {task}"
        bars.append(Bar(what, theirs / ours, 1.0, at_least=True))
    print_table((str(task), "patterns", "time", "ratio"), rows)
    return bars


def main() -> int:
    prefixspan = importlib.util.find_spec("prefixspan") is not None
    seq2pat = importlib.util.find_spec("sequential") is not None
    with_relynx(flat_sequences(20), 5)  # compiles
    bars = [b for task in TASKS for b in compare(task, prefixspan=prefixspan, seq2pat=seq2pat)]
    status = report(bars)
    for name, there in (("prefixspan", prefixspan), ("seq2pat", seq2pat)):
        if not there:
            print(f"{name} is not installed: pip install {name}. Its bars count as missed")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
