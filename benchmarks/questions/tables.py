"""Tables of events with a rule that is about two events of a sequence and the values they share.

Each has ten columns, irrelevant ones among them. The class is whether the rule holds, for half of
the sequences; in the others events agree in a part of what the rule asks for, so that no column
alone tells. Some labels are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

Event = dict[str, Any]
WRONG = 0.07  # of the labels


@dataclass(frozen=True)
class Story:
    """A rule on an ordered pair of events, and how to draw events and change a pair of them."""

    rule: str  # a pattern of columns as predicates, as `from_events` makes them
    same: tuple[str, ...]  # columns in which the two events agree
    different: tuple[str, ...]
    tests: dict[str, str]  # of both events
    columns: dict[str, Callable[[np.random.Generator], Any]]  # all but case, time and class
    label: str = "outcome"

    def holds(self, events: list[Event]) -> bool:
        return any(self.holds_of(a, b) for a, b in combinations(events, 2))

    def holds_of(self, a: Event, b: Event) -> bool:
        tested = all(one[c] == value for one in (a, b) for c, value in self.tests.items())
        same = all(a[c] == b[c] for c in self.same)
        return tested and same and all(a[c] != b[c] for c in self.different)


def choice(*values: Any) -> Callable[[np.random.Generator], Any]:
    return lambda rng: values[rng.integers(len(values))]


def name(prefix: str, n: int) -> Callable[[np.random.Generator], str]:
    return lambda rng: f"{prefix}{rng.integers(n)}"


def amount(scale: float) -> Callable[[np.random.Generator], float]:
    return lambda rng: round(float(rng.lognormal(0, 0.7)) * scale, 2)


def whole(low: int, high: int) -> Callable[[np.random.Generator], int]:
    return lambda rng: int(rng.integers(low, high))


STORIES = {
    "customers": Story(
        "event(A,return), product(A,P), follow_s(A,B), event(B,return), product(B,P)",
        same=("product",),
        different=(),
        tests={"event": "return"},
        columns={
            "event": choice("buy", "buy", "buy", "return", "return", "visit", "call"),
            "product": name("p", 60),
            "price": amount(40),
            "channel": choice("web", "shop", "phone"),
            "store": name("s", 12),
            "agent": name("a", 25),
            "rating": whole(1, 6),
        },
        label="churned",
    ),
    "drugs": Story(
        "kind(A,give), drug(A,D), ward(A,W), follow_s(A,B), kind(B,give), drug(B,D), ward(B,V)",
        same=("drug",),
        different=("ward",),
        tests={"kind": "give"},
        columns={
            "kind": choice("give", "give", "test", "scan", "visit"),
            "drug": name("d", 40),
            "ward": name("w", 4),
            "dose": amount(5),
            "nurse": name("n", 30),
            "shift": choice("day", "night"),
            "urgent": choice("yes", "no"),
        },
    ),
    "logins": Story(
        "machine(A,M), login(A,L), user(A,U), follow_s(A,B), machine(B,M), login(B,L), user(B,V)",
        same=("machine", "login"),
        different=("user",),
        tests={},
        columns={
            "action": choice("open", "copy", "print", "delete", "mail"),
            "machine": name("m", 8),
            "login": name("l", 6),
            "user": name("u", 9),
            "bytes": whole(1, 5000),
            "place": choice("north", "south", "east"),
            "program": name("x", 15),
        },
    ),
    "repairs": Story(
        "task(A,repair), part(A,P), shop(A,S), follow_s(A,B), task(B,repair), part(B,P), shop(B,S)",
        same=("part", "shop"),
        different=(),
        tests={"task": "repair"},
        columns={
            "task": choice("repair", "repair", "check", "clean", "paint"),
            "part": name("part ", 30),
            "shop": name("shop ", 5),
            "cost": amount(100),
            "km": whole(0, 200000),
            "mechanic": name("m", 20),
            "season": choice("spring", "summer", "autumn", "winter"),
        },
    ),
}


def table(story: Story, n: int, seed: int) -> tuple[dict[str, list[Any]], list[bool]]:
    """A table with a column `case`, `time` and the class, and the class without errors."""
    rng = np.random.default_rng(seed)
    rows: list[Event] = []
    truth = []
    for case in range(n):
        wanted = case % 2 == 0
        events = _sequence(story, rng, wanted=wanted)
        truth.append(wanted)
        label = "yes" if wanted != (rng.random() < WRONG) else "no"
        start = int(rng.integers(0, 10_000_000))
        times = np.sort(rng.integers(0, 2_000_000, len(events)))
        for event, time in zip(events, times.tolist(), strict=True):
            stamp = np.datetime64("2024-01-01T00:00:00") + np.timedelta64(start + time, "s")
            rows.append({"case": f"c{case}", "time": str(stamp), **event, story.label: label})
    order = rng.permutation(len(rows))
    return {column: [rows[i][column] for i in order] for column in rows[0]}, truth


def _sequence(story: Story, rng: np.random.Generator, *, wanted: bool) -> list[Event]:
    """Events of which the rule holds or not; in each two were made to agree in a part of it."""
    parts = [*story.same, *story.different, *story.tests]
    while True:
        n = int(rng.integers(7, 14))
        events = [{c: draw(rng) for c, draw in story.columns.items()} for _ in range(n)]
        for _ in range(2):
            a, b = (events[i] for i in sorted(rng.choice(n, 2, replace=False).tolist()))
            left_out = None if wanted else parts[rng.integers(len(parts))]
            for column in story.same:
                if column != left_out:
                    b[column] = a[column]
            for column, value in story.tests.items():
                for one in (a, b):
                    one[column] = value if column != left_out else story.columns[column](rng)
        if story.holds(events) == wanted:
            return events
