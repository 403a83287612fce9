"""Who does the work on partitions: this process, or the workers of a Dask client.

A client is used by what it can do (`submit`, `gather`), so nothing here needs Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from relynx.errors import InputError

RETRIES = 2  # of a task that failed: a disk may have been away for a moment
AT_ONCE = 8  # results that one task joins


class InProcess:
    """One task after the other, here. A result is made when it is asked for, and not kept."""

    at_once = 1  # tasks that run at a time

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """A result, or what stands for it, and can be an argument again."""
        return function(*args)

    def each(self, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Any:
        """The results of many calls, in order, or what stands for them."""
        return (function(*args) for args in calls)

    def values(self, results: Any) -> list[Any]:
        return list(results)

    def joined(self, join: Callable[[Sequence[Any]], Any], results: Any) -> Any:
        sofar = None
        for result in results:
            sofar = join([result] if sofar is None else [sofar, result])
        return sofar


class OnWorkers:
    """The workers of a client. A task whose worker dies is given to another by the scheduler."""

    def __init__(self, client: Any) -> None:
        for name in ("submit", "gather", "nthreads"):
            if not callable(getattr(client, name, None)):
                hint = "give a dask.distributed.Client, or None to work in this process"
                what = f"client is a {type(client).__name__}, which has no {name}"
                raise InputError(what, hint=hint)
        self.client = client

    @property
    def at_once(self) -> int:
        return max(int(sum(self.client.nthreads().values())), 1)

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.client.submit(function, *args, pure=False, retries=RETRIES)

    def each(self, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Any:
        return [self.run(function, *args) for args in calls]

    def values(self, results: Any) -> list[Any]:
        try:
            answers: list[Any] = self.client.gather(list(results))
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported here
                what = "the workers died again and again at one partition"
                hint = "their memory may be too small for it: write more, smaller partitions"
                raise InputError(what, hint=hint) from error
            raise
        return answers

    def joined(self, join: Callable[[Sequence[Any]], Any], results: Any) -> Any:
        """In the form of a tree, so that no worker and not the client ever holds all results."""
        left = list(results)
        while True:
            groups = [left[i : i + AT_ONCE] for i in range(0, len(left), AT_ONCE)]
            left = [self.run(join, group) for group in groups]
            if len(left) == 1:
                return left[0]


Tasks: TypeAlias = InProcess | OnWorkers
