"""Gives inputs to targets in several processes, counts them, and keeps those that fail.

Inputs go out in batches. The state, a JSON file, says how many of each target are done, so that
runs add up; its seconds are those of the processor. An input fails by an error that is no
InputError, by taking more than SLOW seconds, by taking more than MEMORY bytes, and by ending its
process.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzzing import files, folders, models, texts
from fuzzing.targets import Target
from relynx.demo import warm_up
from relynx.errors import InputError

SLOW = 5.0  # seconds of the processor
STUCK = 60.0  # seconds without a sign of life, in a place where no signal is heard
MEMORY = 1 << 30
BATCH = 200
MOST_FAILURES = 50
TAKEN, FAILED, SECONDS = "taken", "failed", "seconds"


class SlowError(BaseException):
    """An input takes too long; no reader may catch it."""


class MemoryTakenError(BaseException):
    """An input took too much memory."""


def all_targets(folder: Path) -> dict[str, Target]:
    """Every target by name; their files are in a folder, best one in memory."""
    made = [*texts.read_all(folder / "text"), *files.read_all(folder / "file")]
    made += [*folders.read_all(folder / "folder"), *models.read_all(folder / "model")]
    return {target.name: target for target in made}


def scratch() -> tempfile.TemporaryDirectory[str]:
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


@dataclass(slots=True)
class State:
    """How far each target is: inputs done, taken, failed, and seconds."""

    seed: int
    counts: dict[str, dict[str, float]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path | None, seed: int) -> State:
        if path is None or not path.exists():
            return cls(seed)
        found = json.loads(path.read_text())
        return cls(found["seed"], found["counts"], found["failures"])

    def write(self, path: Path | None) -> None:
        if path is not None:
            text = json.dumps({"seed": self.seed, "counts": self.counts, "failures": self.failures})
            partial = path.with_name(path.name + ".part")
            partial.write_text(text)
            partial.replace(path)

    def of(self, name: str) -> dict[str, float]:
        return self.counts.setdefault(name, {"done": 0, TAKEN: 0, FAILED: 0, SECONDS: 0.0})

    @property
    def total(self) -> int:
        return int(sum(count["done"] for count in self.counts.values()))


# In a worker


def address_space() -> int:
    """The bytes of memory that this process has set aside."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limit_memory() -> None:
    """From here on this process may take MEMORY more than it has."""
    most = address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def _too_slow(*_: object) -> None:
    raise SlowError(f"an input took more than {SLOW:.0f} s")


def checked(target: Target, data: bytes) -> bool:
    """Give an input to its reader; whether it was taken. Raises what a reader must not raise."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    try:
        return target.check(data)
    except InputError as error:
        str(error)
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if grown << 10 > MEMORY // 2:
            raise MemoryTakenError(f"an input of {len(data):,} bytes took {grown >> 10:,} MB")


def _checked_twice(target: Target, data: bytes) -> bool:
    """Check an input; one that took long only at first, to compile or to load, is no failure."""
    try:
        return checked(target, data)
    except SlowError:
        return checked(target, data)


def ready(targets: dict[str, Target]) -> None:
    """Compile and load what the first inputs of each target need, before there are limits."""
    signal.signal(signal.SIGPROF, _too_slow)
    warnings.simplefilter("ignore")
    warm_up()
    for target in targets.values():
        for number in range(60):
            try:
                target.check(target.input(-1, number))
            except Exception:
                continue  # it is found again, and told, when its turn comes
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
    limit_memory()


def _work(pipe: Connection, seed: int, at: Any) -> None:
    """Check batches until there are no more; `at` says which input is being read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries in Rust write there when they fail
    with scratch() as folder:
        targets = all_targets(Path(folder))
        ready(targets)
        fresh = address_space()
        pipe.send(None)
        while (order := pipe.recv()) is not None:
            name, first, n = order
            target, taken, failures = targets[name], 0, []
            begin = time.process_time()
            for number in range(first, first + n):
                at.value = number
                data = target.input(seed, number)
                try:
                    taken += _checked_twice(target, data)
                except BaseException as error:
                    failures.append((number, data, _told(error), _where(error)))
            seconds = time.process_time() - begin
            pipe.send((name, n, taken, seconds, failures, address_space() - fresh > MEMORY // 3))


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-6000:]


def _where(error: BaseException) -> str:
    """The kind of an error and the last place of ours: one defect is told once."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "relynx" in f.filename]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {place}"


# In the process that hands out the work


class _Worker:
    def __init__(self, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.at = context.Value("q", -1, lock=False)
        self.process = context.Process(target=_work, args=(other, seed, self.at), daemon=True)
        self.process.start()
        other.close()
        self.order: tuple[str, int, int] | None = None
        self.tired = False  # what libraries keep from input to input has grown
        self.seen = (-1, time.monotonic())

    def stuck(self) -> bool:
        """Whether it has read one and the same input for too long."""
        if self.order is None or self.at.value != self.seen[0]:
            self.seen = (self.at.value, time.monotonic())
        return time.monotonic() - self.seen[1] > STUCK

    def send(self, order: tuple[str, int, int] | None) -> None:
        self.order = order
        self.pipe.send(order)
        self.seen = (-1, time.monotonic())


class Run:
    """One run: hands out batches so that each target has its share, and writes the state."""

    def __init__(
        self, weights: dict[str, float], state: State, *, path: Path | None, kept: Path
    ) -> None:
        self.weights, self.state, self.path, self.kept = weights, state, path, kept
        self.handed = {name: int(state.of(name)["done"]) for name in weights}
        self.known = {failure["where"] for failure in state.failures}
        self.again: list[tuple[str, int, int]] = []  # what a worker that died left undone
        self.saved = time.monotonic()

    def next_batch(self, total: int) -> tuple[str, int, int] | None:
        if self.again:
            return self.again.pop()
        left = total - sum(self.handed.values())
        if left <= 0:
            return None
        name = min(self.handed, key=lambda one: self.handed[one] / self.weights[one])
        first, n = self.handed[name], min(BATCH, left)
        self.handed[name] += n
        return name, first, n

    def go(self, *, total: int, seconds: float, n_workers: int) -> None:
        """Check inputs until there are `total` in all, or the time is over."""
        end = time.monotonic() + seconds
        workers = [_Worker(self.state.seed) for _ in range(n_workers)]
        try:
            while workers and len(self.state.failures) < MOST_FAILURES:
                for worker in self._heard(workers):
                    batch = self.next_batch(total) if time.monotonic() < end else None
                    if batch is not None and worker.tired:
                        self.again.append(batch)
                        workers.append(_Worker(self.state.seed))
                        batch = None
                    worker.send(batch)
                    if batch is None:
                        workers.remove(worker)
                        worker.process.join()
                self._replace_lost(workers)
                if time.monotonic() - self.saved > 10:
                    self.state.write(self.path)
                    self.saved = time.monotonic()
        finally:
            self.state.write(self.path)
            for worker in workers:
                worker.process.kill()

    def _heard(self, workers: Sequence[_Worker]) -> list[_Worker]:
        """The workers that have nothing to do, their results counted."""
        free = []
        for pipe in wait([worker.pipe for worker in workers], timeout=1.0):
            worker = next(worker for worker in workers if worker.pipe is pipe)
            try:
                result = worker.pipe.recv()
            except EOFError:
                continue  # it died
            if result is not None:
                *counts, worker.tired = result
                self._count(*counts)
            worker.order = None
            free.append(worker)
        return free

    def _count(self, name: str, n: int, taken: int, seconds: float, failures: list[Any]) -> None:
        count = self.state.of(name)
        count["done"] += n
        count[TAKEN] += taken
        count[FAILED] += len(failures)
        count[SECONDS] += seconds
        for number, data, told, where in failures:
            self.fail(name, number, data, told, where)

    def fail(self, name: str, number: int, data: bytes | None, told: str, where: str) -> None:
        """Keep an input that failed, with the command that repeats it; each defect once."""
        if f"{name}: {where}" in self.known:
            return
        self.known.add(f"{name}: {where}")
        command = f"python tests/fuzz.py --only '{name}' --seed {self.state.seed} --number {number}"
        failure = {"target": name, "number": number, "where": f"{name}: {where}"}
        self.state.failures.append(failure | {"command": command})
        self.kept.mkdir(parents=True, exist_ok=True)
        stem = "".join(c if c.isalnum() else "_" for c in name) + f"-{self.state.seed}-{number}"
        if data is not None:
            (self.kept / f"{stem}.bin").write_bytes(data)
        (self.kept / f"{stem}.txt").write_text(f"{command}\n\n{told}\n")
        print(f"FAILED {name}: {where}\n  {command}", flush=True)

    def _replace_lost(self, workers: list[_Worker]) -> None:
        """A worker that died or hangs: its input failed, and another goes on after it."""
        for worker in list(workers):
            dead, stuck = not worker.process.is_alive(), worker.stuck()
            if not dead and not stuck:
                continue
            worker.process.kill()
            worker.process.join()
            workers.remove(worker)
            if worker.order is None:
                raise RuntimeError("a worker ended before it began")
            name, first, n = worker.order
            number = int(worker.at.value)
            what = "Hang" if stuck else f"Exit {worker.process.exitcode}"
            self.fail(name, number, None, what, f"{what} at input {number}")
            done = self.state.of(name)
            done["done"] += 1
            done[FAILED] += 1
            for start, end in ((first, number), (number + 1, first + n)):
                if start < end:
                    self.again.append((name, start, end - start))
            workers.append(_Worker(self.state.seed))


def table(state: State) -> str:
    """The counts as a table."""
    lines = [f"{'target':22} {'inputs':>12} {'taken':>10} {'failed':>7} {'ms each':>8}"]
    for name, count in state.counts.items():
        each = 1000 * count[SECONDS] / max(count["done"], 1)
        lines.append(
            f"{name:22} {int(count['done']):>12,} {int(count[TAKEN]):>10,}"
            f" {int(count[FAILED]):>7,} {each:>8.2f}"
        )
    sums = [sum(c[key] for c in state.counts.values()) for key in ("done", TAKEN, FAILED, SECONDS)]
    each = 1000 * sums[3] / max(sums[0], 1)
    lines.append(
        f"{'all':22} {int(sums[0]):>12,} {int(sums[1]):>10,} {int(sums[2]):>7,} {each:>8.2f}"
    )
    return "\n".join(lines)


def repeat(name: str, seed: int, number: int, path: Path | None) -> None:
    """Check one input here, so that its error is seen."""
    with scratch() as folder:
        target = all_targets(Path(folder))[name]
        data = target.input(seed, number) if path is None else path.read_bytes()
        print(f"{len(data):,} bytes: {data[:300]!r}", file=sys.stderr)
        ready({name: target})
        taken = checked(target, data)
        print("taken" if taken else "refused with InputError")
