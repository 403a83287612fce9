"""Threads for work in kernels, which release the GIL.

Threads share the columns of facts, and results come in the order of the tasks: the result is the
same for every number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend

from relynx.errors import InputError

BATCH_SECONDS = 0.02  # of work that a thread takes at a time
AHEAD = 3  # batches per thread that may be running or waiting to be consumed
ASK_EVERY = 0.05  # seconds, while waiting for a result

Task = TypeVar("Task")
Result = TypeVar("Result")


class Stopped(Exception):
    """The consumer wants no more results."""


def n_threads(n_jobs: Any) -> int:
    """How many threads `n_jobs` asks for. As in joblib, None is 1 unless `joblib.parallel_config`
    says otherwise, and -1 are all cores. Inside a worker of joblib it is always 1, so that nested
    threads do not oversubscribe the cores."""
    is_number = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs):
        raise InputError(
            f"n_jobs is {n_jobs!r}: give a number of threads, -1 for all cores, or None for one"
        )
    backend, configured = get_active_backend()
    if backend.nesting_level:
        return 1
    n = int(n_jobs if n_jobs is not None else configured or 1)
    return n if n > 0 else max(cpu_count() + 1 + n, 1)


def in_order(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n: int = 1,
    ask: Callable[[], None] | None = None,
    ending: Event | None = None,
) -> Generator[Result, None, None]:
    """The results of `work` for each task, in the order of the tasks, by n threads. `ask` is called
    before each result and while waiting for one; it may raise `Stopped`, or anything else. Then,
    and when the consumer stops early, `ending` is set and the threads finish after their current
    tasks: long ones should check it."""
    if n == 1 or len(tasks) < 2:
        for task in tasks:
            if ask is not None:
                ask()
            yield work(task)
        return
    ending = Event() if ending is None else ending

    def done(batch: Sequence[Task]) -> tuple[list[Result], float]:
        begun = perf_counter()
        results = []
        for task in batch:
            if ending.is_set():
                break
            results.append(work(task))
        return results, perf_counter() - begun

    pool = ThreadPoolExecutor(min(n, len(tasks)), thread_name_prefix="relynx")
    try:
        under_way: deque[Future[tuple[list[Result], float]]] = deque()
        start, size = 0, 1.0
        while start < len(tasks) or under_way:
            while start < len(tasks) and len(under_way) < AHEAD * n:
                size = max(min(size, (len(tasks) - start) / (2 * n)), 1.0)
                take = int(size)
                under_way.append(pool.submit(done, tasks[start : start + take]))
                start += take
            results, seconds = _waited(under_way.popleft(), ask)
            size = min(BATCH_SECONDS * len(results) / max(seconds, 1e-6), 2 * size)
            for result in results:
                if ask is not None:
                    ask()
                yield result
    finally:
        ending.set()
        pool.shutdown(cancel_futures=True)


def _waited(future: Future[Result], ask: Callable[[], None] | None) -> Result:
    """The result, when it is there."""
    while ask is not None and not future.done():
        wait([future], ASK_EVERY)
        ask()
    return future.result()
