"""Progress and report of a search: how far it is, what it counted and dropped, why it is large."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from relynx.arrays import Ints
from relynx.bias import Bias
from relynx.errors import counted
from relynx.mining.patterns.trie import ARGUMENTS, DIMENSION, N_STEPS, RELATION, Rows, Trie

MOST_LINES = 3  # of each sort of advice
LEAST_PROPORTION = 0.05  # of the patterns, for a line to be named
AT_ONCE = 8192  # patterns


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a running search, as `mine(progress=...)` reports it."""

    length: int
    patterns: int
    seconds: float
    memory: int  # resident set of the process, in bytes


@dataclass(slots=True)
class SearchLevel:
    """Candidates of one length by outcome; each is counted under the first that applies.
    `nearest_support` and `nearest_frequency` are the largest values among candidates dropped for
    that alone, so the thresholds that would have kept some; None if none was dropped. `n_nearest_*`
    candidates had just these values, repeated ones included."""

    length: int
    occurred: int = 0
    infrequent: int = 0
    unsupported: int = 0
    forbidden: int = 0
    kept: int = 0
    nearest_support: float | None = None
    nearest_frequency: int | None = None
    n_nearest_support: int = 0
    n_nearest_frequency: int = 0

    @property
    def repeated(self) -> int:
        """Duplicates: candidates reached before by adding the same atoms in another order."""
        others = self.infrequent + self.unsupported + self.forbidden + self.kept
        return max(self.occurred - others, 0)

    def add(self, stats: Sequence[float]) -> None:
        """What a compiled loop tallied: the first three counts, then what came nearest."""
        occurred, infrequent, unsupported, frequency, n_frequency, support, n_support = stats
        self.occurred += int(occurred)
        self.infrequent += int(infrequent)
        self.unsupported += int(unsupported)
        self._note("nearest_frequency", int(frequency), int(n_frequency))
        self._note("nearest_support", float(support), int(n_support))

    def _note(self, name: str, most: float, n: int) -> None:
        before = getattr(self, name) or 0
        if most >= before and most:
            setattr(self, name, most)
            setattr(self, f"n_{name}", n + (getattr(self, f"n_{name}") if most == before else 0))


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The levels of a search, and how many patterns each filter of the result removed. `advice`:
    for a search that stopped early, what made it large, one line each."""

    levels: tuple[SearchLevel, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    advice: tuple[str, ...] = ()


def explained(report: SearchReport, *, complete_up_to: int, partial: str | None) -> str:
    """The report as text: what occurred, what was removed and why, and the nearest thresholds."""
    lines = [line for level in report.levels for line in _level_lines(level)]
    for condition, n in report.removed.items():
        if n:
            lines.append(f"{condition} removed {counted(n, 'pattern')} from the result")
    if not report.levels:
        lines.append("nothing was searched")
    if partial:
        lines.append(f"the search stopped early: {partial}")
    lines.append(f"the result is complete up to length {complete_up_to}")
    lines += report.advice
    return "\n".join(lines)


def _level_lines(level: SearchLevel) -> Iterator[str]:
    if not level.occurred:
        yield f"length {level.length}: no candidate occurs in the sequences"
        return
    removed = [
        f"{n:,} {what}"
        for n, what in (
            (level.infrequent, "below min_frequency"),
            (level.unsupported, "below min_support"),
            (level.forbidden, "against a constraint of the bias"),
            (level.repeated, "found before"),
        )
        if n
    ]
    parts = [f"{counted(level.occurred, 'candidate')} occurred", *removed, f"{level.kept:,} kept"]
    yield f"length {level.length}: {', '.join(parts)}"
    if level.nearest_frequency is not None:
        yield _would_be("min_frequency", level.nearest_frequency, level.n_nearest_frequency)
    if level.nearest_support is not None:
        # Rounded down, so that the printed threshold keeps the pattern.
        nearest = math.floor(level.nearest_support * 10_000) / 10_000
        yield _would_be("min_support", nearest, level.n_nearest_support)


def _would_be(name: str, nearest: float, n: int) -> str:
    return f"    {name}={nearest:g} would keep more: {counted(n, 'candidate')} reached it"


def advice(trie: Trie, rows: Rows, bias: Bias) -> tuple[str, ...]:
    """Lines of text about the longest patterns that a search has found; empty if there are none. It
    needs little memory, as there may be little left."""
    if not len(rows):
        return ()
    lengths = np.concatenate([trie.lengths(some).astype(np.int16) for some in _chunks(rows)])
    longest = int(lengths.max())
    last = rows[lengths == longest]
    lines = [
        f"what made it large, in what was found of length {longest}, {len(last):,} so far:",
        *_by_mode(trie, last, bias),
        *_by_dimension(trie, last),
    ]
    doubled = _with_more_support(trie, last)
    if doubled is not None:
        threshold, n = doubled
        lines.append(f"    with min_support={threshold:g} there would be {n:,}")
    if longest > 1:
        shorter = len(rows) - len(last)
        lines.append(f"    with max_length={longest - 1} there would be {shorter:,} in all")
    return tuple(lines)


def _chunks(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))


def _steps(trie: Trie, rows: Rows) -> Iterator[Ints]:
    return (trie.steps[some] for some in _chunks(rows))


def _most_frequent(trie: Trie, rows: Rows, column: int) -> Iterator[tuple[int, int]]:
    """The numbers that a column of the steps holds most often, and how often; none below 0."""
    counts = Counter[int]()
    for steps in _steps(trie, rows):
        counts.update(steps[steps[:, column] >= 0, column].tolist())
    for number, n in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_LINES]:
        if n >= LEAST_PROPORTION * len(rows):
            yield number, n


def _by_mode(trie: Trie, rows: Rows, bias: Bias) -> list[str]:
    """The predicates of most last atoms, their modes, and their arguments."""
    lines = []
    for relation, n in _most_frequent(trie, rows, RELATION):
        name, arity = trie.relations[relation]
        lines.append(f"    {n:,} end in {name}/{arity}: {' '.join(bias.mode_lines(name))}")
        for j in range(arity):
            values, n_constant = _constants(trie, rows, relation, j)
            if not n_constant:
                continue
            text = f"one of {len(values):,} constants in {n_constant:,}"
            if any(mode[j] == "*" for mode in bias.modes[name]):
                text += f", a variable in {n - n_constant:,}: # or - for *"
            lines.append(f"        argument {j + 1} is {text}")
    return lines


def _constants(trie: Trie, rows: Rows, relation: int, j: int) -> tuple[Ints, int]:
    """The constants in an argument of the last atom, each once, and how many patterns have one."""
    found, n = np.empty(0, np.int32), 0
    for steps in _steps(trie, rows):
        args = steps[steps[:, RELATION] == relation, ARGUMENTS + j]
        constants = args[args < 0]
        n += len(constants)
        found = np.union1d(found, constants)
    return found, n


def _by_dimension(trie: Trie, rows: Rows) -> list[str]:
    """The dimensions of the links to most last events."""
    lines = []
    for dimension, n in _most_frequent(trie, rows, DIMENSION):
        hops = Counter[int]()
        for steps in _steps(trie, rows):
            values, times = np.unique(
                steps[steps[:, DIMENSION] == dimension, N_STEPS], return_counts=True
            )
            hops.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        operators = [f"{hops[1]:,} next", f"{hops[0]:,} follow"]
        if max(hops) > 1:
            operators.append(f"{n - hops[1] - hops[0]:,} followat up to {max(hops)}")
        name = trie.dimensions[dimension]
        lines.append(f"    {n:,} link by dimension(next_{name}): {', '.join(operators)}")
    return lines


def _with_more_support(trie: Trie, rows: Rows) -> tuple[float, int] | None:
    """Twice the smallest support of these patterns, and how many reach it."""
    sizes = np.maximum(trie.class_sizes, 1)
    proportions = np.concatenate(
        [(trie.supports[some] / sizes).max(axis=1, initial=0.0) for some in _chunks(rows)]
    )
    threshold = round(2 * float(proportions.min()), 3)
    return (threshold, int((proportions >= threshold).sum())) if threshold <= 1 else None
