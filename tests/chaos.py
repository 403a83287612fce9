"""Kill work at random moments, let it go on from its checkpoint, and compare the answers.

`make chaos` runs it: CHAOS_RUNS runs of each kind of work. A run is started with a checkpoint and
killed by SIGKILL, once or several times: after a random time, or in the middle of writing a file,
before it is on the disk, or before or after it gets its name. After each kill every file must be
whole, but for temporary ones; in the end the answer must be that of work that was not killed, byte
for byte, and no temporary file may be left. Then a disk is filled and a folder made read-only.

Processes are forked from this one, in which all is compiled, so that a kill meets the work.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import relynx as rx
from relynx.errors import InputError
from relynx.reproduce.runs import BIASES
from relynx.storage import journal, whole_files
from relynx.storage.journal import MANIFEST

FLUSH = 0.01  # seconds: kills must meet writes
MOST_KILLS = 3
MOST_FILES = 5  # of a disk that is full then, where we may not mount a small one
PLACES = ("half a file", "before it is on the disk", "before its name", "after its name")
FAILED, REFUSED = 3, 4  # exit codes


class Wrong(Exception):
    """Something that must not be."""


# The work


def lines(checkpoint, **limits):
    """One dimension."""
    folds = rx.load_protein_folds()
    how = {"max_length": 4, "min_support": 0.3, "checkpoint": checkpoint}
    return rx.mine(folds.X[:80], folds.y[:80], rx.parse_bias(BIASES["chain"]), **how, **limits)


def paths(checkpoint, **limits):
    """Two dimensions."""
    folds = rx.load_protein_folds()
    how = {"max_length": 3, "min_support": 0.3, "checkpoint": checkpoint}
    return rx.mine(folds.X[:200], folds.y[:200], folds.bias, **how, **limits)


def graphs(checkpoint, **limits):
    """Two modes of a predicate."""
    X, y = rx.planted_rule(200, random_state=0)
    modes = "mode(do(+,#,*)). mode(do(+,#,#))."
    bias = rx.parse_bias(f"type(do(event,action,object)). {modes} dimension(next_s).")
    return rx.mine(X, y, bias, min_support=0.1, checkpoint=checkpoint, **limits)


def selection(checkpoint, **limits):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.random((400, 250)) < 0.2 + 0.1 * (y[:, None] == rng.integers(0, 3, 250))
    return rx.GraspSelector(40, random_state=0, checkpoint=checkpoint, **limits).fit(X, y)


KINDS = {"mining": (lines, paths, graphs), "GRASP": (selection,)}


# One run


@dataclass
class Tally:
    """What was done, over all runs."""

    kills: Counter = field(default_factory=Counter)
    gone_on: int = 0  # times that there was something to go on from
    finished: int = 0


def answer(work, path, checkpoint=None, **limits):
    """Do the work and write its answer, as the bytes of a model file."""
    rx.save(work(checkpoint, **limits), path)


def forked(task: Callable[[], None], patience: float | None = None) -> int:
    """Do something in a process of its own, killed when the patience is at an end; how it ended."""
    pid = os.fork()
    if pid == 0:
        code = FAILED
        try:
            task()
            code = 0
        except InputError as error:
            print(error, file=sys.stderr, flush=True)
            code = REFUSED
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    if patience is not None:
        time.sleep(patience)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(place: str, n: int) -> None:
    """Let this process die at the n-th write, at some place of it."""
    left = n

    def here() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    replace, sync = os.replace, whole_files.sync

    def half(path, mode="r", **more):
        file = open(path, mode, **more)  # noqa: SIM115
        if "w" in mode and here():
            write = file.write

            def some(data):
                write(data[: len(data) // 2])
                file.flush()
                die()

            return _Writer(file, some)
        return file

    def named(old, new):
        last = here()
        if last and place == "before its name":
            die()
        replace(old, new)
        if last:
            die()

    def synced(path):
        if not os.path.isdir(path) and here():
            die()
        sync(path)

    if place == "half a file":
        journal.open = half
    elif place == "before it is on the disk":
        whole_files.sync = synced
    else:
        os.replace = named


class _Writer:
    """A file that writes in another way."""

    def __init__(self, file, write):
        self.file, self.write = file, write

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()


def run(work, wanted: bytes, seconds: float, folder: Path, rng: random.Random, tally: Tally) -> int:
    """Start, kill, check and go on, until it is done; how often it was killed."""
    kills = 0
    checkpoint, out = folder / "checkpoint", folder / "answer"
    before: dict[str, bytes] = {}
    for left in reversed(range(rng.randint(1, MOST_KILLS) + 1)):
        tally.gone_on += any("segment" in name for name in before)
        limits = {"n_jobs": rng.choice((1, 1, 2))}
        place, n, patience = None, 0, None
        if left:
            way = rng.choice(("time", "time", *PLACES))
            if way == "time":
                patience = rng.uniform(0, seconds)
            else:
                place, n = way, rng.randint(1, 30)
            if rng.random() < 0.2:
                limits["time_limit"] = rng.uniform(0, seconds)

        def task(place=place, n=n, limits=limits):
            if place is not None:
                killed_at(place, n)
            answer(work, out, checkpoint, **limits)

        code = forked(task, patience)
        if code not in (0, -signal.SIGKILL):
            raise Wrong(f"it ended with {code}")
        before = check_whole(checkpoint, before)
        if code == -signal.SIGKILL:
            kills += 1
            tally.kills[way] += 1
        if not left and code != 0:
            raise Wrong("it was not killed, and did not end")
    if out.read_bytes() != wanted:
        raise Wrong("the answer is another one")
    if partials := [str(path) for path in folder.rglob("*.part")]:
        raise Wrong(f"temporary files are left: {', '.join(partials)}")
    if not json.loads((checkpoint / MANIFEST).read_text())["finished"]:
        raise Wrong("the checkpoint is not finished")
    tally.finished += kills > 0
    return kills


def check_whole(checkpoint: Path, before: dict[str, bytes]) -> dict[str, bytes]:
    """Every file that is not temporary is whole, and no segment from before has changed."""
    files = {
        path.name: path.read_bytes()
        for path in (checkpoint.iterdir() if checkpoint.is_dir() else ())
        if not path.name.endswith(".part")
    }
    if MANIFEST in files:
        work = json.loads(files[MANIFEST])["work"]
        text = json.dumps(work, sort_keys=True, separators=(",", ":"))
        key = hashlib.sha256(text.encode("ascii")).digest()
        for name, data in files.items():
            if name.startswith("segment-"):
                journal.unpacked(data, key, int(name[8:14]))
    elif files.keys() - {"lock"}:
        raise Wrong(f"there is no manifest, but {', '.join(files)}")
    for name, data in before.items():
        if name != MANIFEST and files.get(name) != data:
            raise Wrong(f"{name} has changed")
    return files


# A disk that is full, and a folder that is read-only


@contextmanager
def small_disk(folder: Path):
    """A disk of its own at a folder, and a function that mounts it anew; None where we may not."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        yield None
        return
    try:
        yield lambda how: subprocess.run(
            ["mount", "-o", f"remount,{how}", str(folder)], check=True, capture_output=True
        )
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def said_by(task: Callable[[], None]) -> str:
    """What a process says that ends by an error of the user's."""
    with tempfile.TemporaryFile("w+") as said:

        def told():
            os.dup2(said.fileno(), 2)
            task()

        code = forked(told)
        said.seek(0)
        text = said.read()
    if code != REFUSED:
        raise Wrong(f"it ended with {code}, and said: {text}")
    return text


def full_disk(work, wanted: bytes, folder: Path) -> str:
    """Fill the disk, make room, make it read-only, and let the work end after all."""
    out, disk = folder / "answer", folder / "disk"
    disk.mkdir()
    checkpoint = disk / "checkpoint"
    with small_disk(disk) as remount:

        def limited():
            journal.FLUSH_SECONDS = -1  # each result by itself
            if remount is None:
                os.replace = full_after(MOST_FILES)
            answer(work, out, checkpoint)

        refused(said_by(limited), errno.ENOSPC)
        before = check_whole(checkpoint, {})
        if remount is not None:
            remount("size=64m,ro")
            said = said_by(lambda: answer(work, out, checkpoint))
            refused(said, errno.EROFS)
            before = check_whole(checkpoint, before)
            remount("rw")
        if forked(lambda: answer(work, out, checkpoint)) != 0:
            raise Wrong("it does not go on")
        check_whole(checkpoint, before)
        if partials := [*folder.rglob("*.part")]:
            raise Wrong(f"temporary files are left: {partials}")
    if out.read_bytes() != wanted:
        raise Wrong("the answer is another one")
    return (
        f"room for {MOST_FILES} files only"
        if remount is None
        else "a disk of 32 KiB, then read-only"
    )


def full_after(n: int) -> Callable[[str, str], None]:
    """A disk with room for n files: in place of `os.replace`."""
    replace, left = os.replace, n

    def some(old: str, new: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(old, new)

    return some


def refused(said: str, code: int) -> None:
    reason, hint = os.strerror(code), whole_files.HINTS[code]
    lines = said.rstrip("\n").split("\n")
    kept = "what was kept before stays, and the same call resumes from there"
    if (
        len(lines) != 2
        or not lines[0].endswith(f": this file cannot be written ({reason})")
        or lines[1] != f"hint: {hint}; {kept}"
    ):
        raise Wrong(f"it said: {said}")


# All runs


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Kill work and let it go on.")
    parser.add_argument("--runs", type=int, default=50, help="of each kind")
    parser.add_argument("--first", type=int, default=1, help="number of the first run")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    options = parser.parse_args(arguments)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    journal.FLUSH_SECONDS = FLUSH
    print(f"seed {seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        return sum(
            chaos(kind, Path(folder), options.runs, options.first, seed, begun)
            for kind in options.kinds
        )


def chaos(kind: str, folder: Path, runs: int, first: int, seed: int, begun: float) -> int:
    """All runs of a kind of work; 1 where one went wrong."""
    works = []
    for work in KINDS[kind]:
        path = folder / work.__name__
        answer(work, path)  # compiled here, not in each process
        start = time.monotonic()
        answer(work, path)
        works.append((work, path.read_bytes(), time.monotonic() - start))
    tally = Tally()
    for i in range(first, first + runs):
        rng = random.Random(f"{kind} {seed} {i}")
        work, wanted, seconds = works[i % len(works)]
        here = folder / f"{kind} {i}"
        here.mkdir()
        try:
            while not run(work, wanted, seconds, here, rng, tally):
                shutil.rmtree(here)  # it was done too soon
                here.mkdir()
        except (Wrong, ValueError, KeyError) as error:
            print(f"{kind}, run {i}, {work.__name__}: {type(error).__name__}: {error}")
            print(
                f"repeat: python tests/chaos.py --seed {seed} --kinds {kind} --first {i} --runs 1"
            )
            return 1
        shutil.rmtree(here)
    kills = ", ".join(f"{n} {way}" for way, n in sorted(tally.kills.items()))
    print(f"{kind}: {tally.finished} of {runs} runs equal; killed by {kills}; ", end="")
    print(f"{tally.gone_on} times something was kept ({time.monotonic() - begun:.0f} s)")
    for work, wanted, _ in works:
        here = folder / f"full {work.__name__}"
        here.mkdir()
        try:
            print(f"{kind}, {work.__name__}: equal after {full_disk(work, wanted, here)}")
        except Wrong as error:
            print(f"{kind}, {work.__name__}, full disk: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
