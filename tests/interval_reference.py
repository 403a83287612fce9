"""Allen's relations in so many words, and all pairs of intervals one by one."""

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations

Interval = tuple[int, int]

# Of the interval from a to b and the one from c to d.
FORWARD: dict[str, Callable[[int, int, int, int], bool]] = {
    "before": lambda a, b, c, d: b < c,
    "meets": lambda a, b, c, d: a < b == c < d,
    "overlaps": lambda a, b, c, d: a < c < b < d,
    "starts": lambda a, b, c, d: a == c and b < d,
    "during": lambda a, b, c, d: c < a and b < d,
    "finishes": lambda a, b, c, d: c < a and b == d,
    "equals": lambda a, b, c, d: a == c and b == d,
}
BACKWARD = {
    "after": "before",
    "met_by": "meets",
    "overlapped_by": "overlaps",
    "started_by": "starts",
    "contains": "during",
    "finished_by": "finishes",
}


def holds(name: str, first: Interval, second: Interval) -> bool:
    """Whether a relation holds of two intervals."""
    if name in BACKWARD:
        return holds(BACKWARD[name], second, first)
    return FORWARD[name](*first, *second)


def related(first: Interval, second: Interval) -> list[str]:
    """All relations that hold of two intervals."""
    return [name for name in (*FORWARD, *BACKWARD) if holds(name, first, second)]


def pairs(name: str, sequences: Iterable[Sequence[Interval]]) -> set[tuple[int, int]]:
    """The intervals of one sequence of which a relation holds, all counted through from 0."""
    found, start = set(), 0
    for some in sequences:
        for i, j in permutations(range(len(some)), 2):
            if holds(name, some[i], some[j]):
                found.add((start + i, start + j))
        start += len(some)
    return found


def closure(links: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """All that is reached by one step or more."""
    found = set(links)
    while True:
        further = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not further:
            return found
        found |= further


def gaps(some: Sequence[Interval]) -> list[int | None]:
    """How long nothing held before each of some intervals in order; None for the first."""
    found: list[int | None] = []
    for i, (start, _) in enumerate(some):
        latest = max((end for _, end in some[:i]), default=None)
        found.append(None if latest is None else max(start - latest, 0))
    return found
