"""What made a search large: which lines of a bias to tighten, with the counts that show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.mining.patterns.trie import ARGUMENTS, DIMENSION, N_STEPS, RELATION, Rows, Trie

MOST_LINES = 3  # of each kind
LEAST_SHARE = 0.05  # of the patterns, for a line to be named
AT_ONCE = 8192  # patterns


def advice(trie: Trie, rows: Rows, bias: Bias) -> tuple[str, ...]:
    """Lines of text about the longest patterns that a search has found, empty where it has none.

    It takes little memory, as there may be little left.

    Parameters
    ----------
    trie, rows
        What was found.
    bias
        Under which it was found.
    """
    if not len(rows):
        return ()
    lengths = np.concatenate([trie.lengths(some).astype(np.int16) for some in _parts(rows)])
    longest = int(lengths.max())
    last = rows[lengths == longest]
    lines = [
        f"what made it large, in what was found of length {longest}, {len(last):,} so far:",
        *_by_mode(trie, last, bias),
        *_by_dimension(trie, last),
    ]
    doubled = _with_more_support(trie, last)
    if doubled is not None:
        share, n = doubled
        lines.append(f"    with min_support={share:g} there would be {n:,}")
    if longest > 1:
        shorter = len(rows) - len(last)
        lines.append(f"    with max_length={longest - 1} there would be {shorter:,} in all")
    return tuple(lines)


def _parts(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))


def _steps(trie: Trie, rows: Rows) -> Iterator[NDArray[np.int32]]:
    return (trie.steps[some] for some in _parts(rows))


def _counted(numbers: Iterator[NDArray[np.int32]], size: int) -> NDArray[np.int64]:
    """How often each number comes, from 0 on; the negative ones do not count."""
    counts = np.zeros(max(size, 1), np.int64)
    for some in numbers:
        counts += np.bincount(some[some >= 0], minlength=len(counts))
    return counts


def _by_mode(trie: Trie, rows: Rows, bias: Bias) -> list[str]:
    """The predicates that end most patterns, their modes, and what their arguments were."""
    lines = []
    counts = _counted((s[:, RELATION] for s in _steps(trie, rows)), len(trie.relations))
    for relation in np.argsort(-counts, kind="stable")[:MOST_LINES].tolist():
        n = int(counts[relation])
        if n < LEAST_SHARE * len(rows):
            break
        name, arity = trie.relations[relation]
        lines.append(f"    {n:,} end in {name}/{arity}: {' '.join(bias.mode_lines(name))}")
        for j in range(arity):
            values, n_constant = _constants(trie, rows, relation, j)
            if not n_constant:
                continue
            said = f"one of {len(values):,} constants in {n_constant:,}"
            if any(mode[j] == "*" for mode in bias.modes[name]):
                said += f", a variable in {n - n_constant:,}: # or - for *"
            lines.append(f"        argument {j + 1} is {said}")
    return lines


def _constants(trie: Trie, rows: Rows, relation: int, j: int) -> tuple[NDArray[np.int32], int]:
    """The constants in an argument of the last atom, each once, and how many patterns have one."""
    found, n = np.empty(0, np.int32), 0
    for steps in _steps(trie, rows):
        args = steps[steps[:, RELATION] == relation, ARGUMENTS + j]
        constants = args[args < 0]
        n += len(constants)
        found = np.union1d(found, constants)
    return found, n


def _by_dimension(trie: Trie, rows: Rows) -> list[str]:
    """The dimensions by which most patterns came to their last event."""
    lines = []
    counts = _counted((s[:, DIMENSION] for s in _steps(trie, rows)), len(trie.dimensions))
    for dimension in np.argsort(-counts, kind="stable")[:MOST_LINES].tolist():
        n = int(counts[dimension])
        if n < LEAST_SHARE * len(rows):
            break
        hops = Counter[int]()
        for steps in _steps(trie, rows):
            values, times = np.unique(
                steps[steps[:, DIMENSION] == dimension, N_STEPS], return_counts=True
            )
            hops.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        ways = [f"{hops[1]:,} next", f"{hops[0]:,} follow"]
        if max(hops) > 1:
            ways.append(f"{n - hops[1] - hops[0]:,} followat up to {max(hops)}")
        name = trie.dimensions[dimension]
        lines.append(f"    {n:,} link by dimension(next_{name}): {', '.join(ways)}")
    return lines


def _with_more_support(trie: Trie, rows: Rows) -> tuple[float, int] | None:
    """Twice the least support among these patterns, and how many of them have that."""
    sizes = np.maximum(trie.class_sizes, 1)
    shares = np.concatenate(
        [(trie.supports[some] / sizes).max(axis=1, initial=0.0) for some in _parts(rows)]
    )
    share = round(2 * float(shares.min()), 3)
    return (share, int((shares >= share).sum())) if share <= 1 else None
