"""Limits of time and memory of a search.

Memory is the resident set of the process. Without a limit the search uses at most four fifths of
what was free on the machine, or in the container, when it started.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePosixPath

import psutil

from relynx.mining.report import Progress

MEASURE_EVERY = 0.05  # seconds between measurements of the memory
PROGRESS_EVERY = 0.2  # seconds
FRACTION = 0.8  # of the memory that is free
SMALL = 1 << 20  # bytes that may be allocated without a check
# While so many bytes are left a measurement serves for some seconds: nothing fills them meanwhile.
PLENTY, FRESH = 1 << 30, 0.005

OWN_GROUPS = "/proc/self/cgroup"  # lines of a number, the controllers, and the folder


# Of each version of control groups the controller and the root, the files of limit and usage of
# memory, and the name of the page cache, which the system can reclaim.
GROUPS = (
    ("", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "memory",
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


class OverBudget(Exception):
    """The next allocation would exceed a limit; the text says which, if not memory."""


class Budget:
    """Ends a search when its time or memory is used up, and reports progress on the way. Limits are
    seconds from now and the largest resident set in bytes. `progress` is called with a `Progress`
    from time to time; the search stops if it returns False."""

    def __init__(
        self,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        self.start = time.monotonic()
        self.time_limit, self.progress = time_limit, progress
        self.memory_limit = default_memory_limit() if memory_limit is None else memory_limit
        self.is_default = memory_limit is None
        self.is_unasked = False  # whether it stopped at a limit that the caller has not set
        self.reason: str | None = None  # why it stopped early
        self._measured_at = self._reported_at = self.start
        self._left, self._left_at = 0, self.start

    def goes_on(self, length: int, n_patterns: int, more: int = 0) -> bool:
        """Whether the search may continue, at this length and number of patterns. `more` is how
        many bytes it will still need to return the result."""
        now = time.monotonic()
        if self.time_limit is not None and now - self.start > self.time_limit:
            return self._ended(f"time_limit={self.time_limit:g}", length)
        if now - self._measured_at < MEASURE_EVERY:
            return True
        self._measured_at = now
        memory = resident()
        if memory + more > self.memory_limit:
            return self._out_of_memory(length)
        if self.progress is not None and now - self._reported_at >= PROGRESS_EVERY:
            self._reported_at = now
            if self.progress(Progress(length, n_patterns, now - self.start, memory)) is False:
                return self._ended("the caller", length)
        return True

    def take(self, n_bytes: int) -> None:
        """Check an allocation before it is made; thread-safe. Raises OverBudget."""
        if n_bytes > SMALL and n_bytes > self.left():
            raise OverBudget

    def left(self) -> int:
        """How many bytes may still be allocated."""
        now = time.monotonic()
        if self._left < PLENTY or now - self._left_at > FRESH:
            self._left, self._left_at = max(int(self.memory_limit) - resident(), 0), now
        return self._left

    def over(self, length: int, what: str = "") -> None:
        """Record that the search stopped because an allocation exceeds a limit."""
        if what:
            self.is_unasked = True
            self._ended(what, length)
        else:
            self._out_of_memory(length)

    def _out_of_memory(self, length: int) -> bool:
        limit = f"memory_limit={int(self.memory_limit):,}"
        if self.is_default:
            self.is_unasked = True
            limit = f"the memory of the machine, of which {int(self.memory_limit):,} bytes"
            return self._ended(f"{limit} may be used,", length)
        return self._ended(limit, length)

    def _ended(self, by: str, length: int) -> bool:
        if self.reason is None:
            self.reason = f"stopped by {by} at length {length}"
        return False


def resident() -> int:
    """The resident set of the process in bytes."""
    return int(_process(os.getpid()).memory_info().rss)


@cache  # to make one reads more of the system than to ask it; a child of a fork has its own
def _process(pid: int) -> psutil.Process:
    return psutil.Process(pid)


def default_memory_limit() -> float:
    """The resident set plus four fifths of the free memory."""
    return resident() + FRACTION * min(_machine_free(), _container_free())


def _machine_free() -> float:
    return float(psutil.virtual_memory().available)


def _container_free() -> float:
    """The smallest amount left in the control groups of the process and their parents."""
    own: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in Path(OWN_GROUPS).read_text().splitlines():
            _, controllers, folder = line.split(":", 2)
            own |= dict.fromkeys(controllers.split(","), folder)
    free = float("inf")
    for controller, root, *files in GROUPS:
        # Inside a container its own folder may be the root.
        inner = PurePosixPath("/", own.get(controller, "/"))
        for each in (inner, *inner.parents):
            free = min(free, _group_free(Path(f"{root}{each}"), *files))
    return free


def _group_free(folder: Path, limit: str, used: str, cached: str) -> float:
    try:
        most = (folder / limit).read_text().strip()
        if most == "max":
            return float("inf")
        free = int(most) - int((folder / used).read_text())
    except (OSError, ValueError):
        return float("inf")
    with contextlib.suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text().splitlines():
            name, n_bytes = line.split()
            free += int(n_bytes) if name == cached else 0
    return max(free, 0)
