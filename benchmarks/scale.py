"""Growth of `mine` with the number of sequences: in memory, over partitions, and with Dask.

Sequences are made from a seed, written once in partitions, and each measurement is a process of its
own that reads them. Memory is the peak of a process; of Dask's workers it is the largest. Besides:
a worker killed in each pass, and twice as many partitions. What is measured is kept in the folder,
and a second run goes on from there. What is brief is done several times, and the best time counts.

    python benchmarks/scale.py [--small] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from questions.bars import Bar, report
from questions.peak import forget_peak, held_bytes, peak_bytes

import relynx as rx
from relynx.data.data_sets import rule_holds

SEED = 8
EVENTS, ACTIONS, OBJECTS = 8, 6, 4
SIZES = (10_000, 15_625, 31_250, 62_500, 125_000, 250_000, 500_000, 1_000_000)
SMALL = (1_000, 2_000, 4_000)
PARTITIONS = 8
WORKERS = 4
BIAS = "type(do(event,action,thing)). mode(do(+,#,*)). dimension(next_s)."
SETTINGS = {"min_support": 0.15, "max_length": 3}
RATIO = 2.2  # of times, for twice as many sequences
TURNS = 3
BRIEF = 5.0  # seconds; what takes less is done again and again, and the best time counts


def sequences(n: int, part: int) -> rx.Sequences:
    """Actions on objects in random order; the class says whether one object had a0 and later a1."""
    rng = np.random.default_rng([SEED, part])
    actions = rng.integers(ACTIONS, size=(n, EVENTS), dtype=np.int32)
    objects = rng.integers(OBJECTS, size=(n, EVENTS), dtype=np.int32)
    names = [f"e{i + 1}" for i in range(EVENTS)]
    names += [f"a{i}" for i in range(ACTIONS)] + [f"o{i}" for i in range(OBJECTS)]
    number, event = np.divmod(np.arange(n * EVENTS, dtype=np.int32), np.int32(EVENTS))
    links = event < EVENTS - 1
    tables = {
        ("do", 3): np.stack(
            [number, event, actions.ravel() + EVENTS, objects.ravel() + EVENTS + ACTIONS]
        ).astype(np.int32),
        ("next_s", 2): np.stack([number, event, event + 1])[:, links].astype(np.int32),
    }
    labels = np.where(rule_holds(actions, objects), "yes", "no").tolist()
    return rx.Sequences(rx.Vocabulary(names), tables, [f"s{part}_{i}" for i in range(n)], labels)


def folder_of(base: Path, n: int, partitions: int) -> Path:
    """A folder of so many sequences; the same ones, however many partitions there are."""
    folder = base / f"{n}-{partitions}"
    if not folder.exists():
        pieces = 2 * PARTITIONS
        made = (sequences(n * (i + 1) // pieces - n * i // pieces, i) for i in range(pieces))
        joined = pieces // partitions
        rx.write_parquet(_grouped(made, joined), folder)
    return folder


def _grouped(made: Any, size: int) -> Any:
    group: list[rx.Sequences] = []
    for one in made:
        group.append(one)
        if len(group) == size:
            yield rx.Sequences.concatenate(group)
            group = []


# What a measuring process does


def measure(how: str, folder: str, n_jobs: int) -> dict[str, Any]:
    bias = rx.parse_bias(BIAS)
    warm_up()
    if how == "dask":
        return measure_dask(folder, bias, n_jobs)
    if how == "doublings":
        return measure_doublings(folder, bias, n_jobs)
    best: dict[str, Any] = {}
    begun = time.perf_counter()
    while not best or time.perf_counter() - begun < BRIEF:
        parts = rx.scan_parquet(folder)
        data = parts.load() if how == "memory" else parts
        forget_peak()
        base = held_bytes()
        start = time.perf_counter()
        found = rx.mine(data, None, bias, n_jobs=n_jobs, **SETTINGS)
        one = told(found, time.perf_counter() - start, peak_bytes(), base)
        best = min(best or one, one, key=lambda each: each["seconds"])
        del data, found
    return best


def measure_doublings(base: str, bias: rx.Bias, n_jobs: int) -> dict[str, Any]:
    """The best times of all sizes in turns, for their ratios: a machine is not always as fast."""
    folders = {int(path.name.split("-")[0]): path for path in Path(base).glob(f"*-{PARTITIONS}")}
    data = {n: rx.scan_parquet(folders[n]).load() for n in sorted(folders)}
    times: dict[int, list[float]] = {n: [] for n in data}
    for _ in range(TURNS):
        for n, X in data.items():
            fresh = X[:]  # nothing is known of it yet
            start = time.perf_counter()
            rx.mine(fresh, None, bias, n_jobs=n_jobs, **SETTINGS)
            times[n].append(time.perf_counter() - start)
    return {"seconds": sum(map(sum, times.values())), "best": {n: min(t) for n, t in times.items()}}


def measure_dask(folder: str, bias: rx.Bias, workers: int) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        client.run(warm_up)
        client.run(forget_peak)
        base = max(client.run(held_bytes).values())
        kill = os.environ.get("RELYNX_KILL")
        pids = [nanny.pid for nanny in cluster.workers.values()]
        asked = Killing(client, kill, pids[0]) if kill else client
        times: list[float] = []
        while not times or sum(times) < BRIEF:
            start = time.perf_counter()
            found = rx.mine(rx.scan_parquet(folder), None, bias, client=asked, **SETTINGS)
            times.append(time.perf_counter() - start)
        seconds = min(times)
        peaks = client.run(peak_bytes, on_error="ignore")  # one may just have died
        return told(found, seconds, max(peaks.values(), default=0), base)


def warm_up() -> None:
    """Load all that is loaded once, so that it counts for nothing."""
    few, bias = sequences(400, 0), rx.parse_bias(BIAS)
    rx.mine(few, None, bias, **SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        few.to_parquet(f"{folder}/few", partitions=2)
        rx.mine(rx.scan_parquet(f"{folder}/few"), None, bias, **SETTINGS)


class Killing:
    """A client that kills a worker a second after a pass was given out."""

    def __init__(self, client: Any, name: str, pid: int) -> None:
        self.client, self.name, self.pid, self.given = client, name, pid, 0

    def submit(self, function: Any, *args: Any, **options: Any) -> Any:
        future = self.client.submit(function, *args, **options)
        is_pass = getattr(function, "__name__", "") == self.name
        if self.given and not is_pass and self.name:
            self.name = ""
            time.sleep(1)
            os.kill(self.pid, signal.SIGKILL)
        self.given += is_pass
        return future

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


def told(found: rx.PatternSet, seconds: float, peak: int, base: int) -> dict[str, Any]:
    import hashlib

    text = repr([(str(entry), dict(entry.support)) for entry in found])
    return {
        "patterns": len(found),
        "seconds": seconds,
        "peak": peak,
        "base": base,
        "answer": hashlib.sha256(text.encode()).hexdigest(),
    }


# What the run does


def run(kept: Path, how: str, folder: Path, n_jobs: int = 1, kill: str = "") -> dict[str, Any]:
    """One measurement, in a process of its own; kept, so that it is made once."""
    name = f"{how}{n_jobs}-{folder.name}{'-' + kill if kill else ''}"
    known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    if name not in known:
        environment = os.environ | {"RELYNX_KILL": kill, "PYTHONPATH": str(Path(__file__).parent)}
        asked = [sys.executable, __file__, "--measure", how, str(folder), str(n_jobs)]
        done = subprocess.run(asked, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        known[name] = json.loads(done.stdout.splitlines()[-1])
        kept.write_text(json.dumps(known, indent=1))
    print(f"{name}: {known[name]['seconds']:.1f} s", file=sys.stderr)
    return known[name]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("build/scale"))
    parser.add_argument("--measure", nargs=3)
    arguments = parser.parse_args()
    if arguments.measure:
        how, folder, n_jobs = arguments.measure
        print(json.dumps(measure(how, folder, int(n_jobs))))
        return 0
    base: Path = arguments.folder
    base.mkdir(parents=True, exist_ok=True)
    sizes = SMALL if arguments.small else SIZES
    kept = base / ("small.json" if arguments.small else "measured.json")
    columns = {
        "one core": ("memory", 1),
        "two cores": ("memory", 2),
        "partitions": ("partitions", 1),
        f"Dask, {WORKERS} workers": ("dask", WORKERS),
    }
    bars: list[Bar] = []
    print(f"| sequences | patterns | {' | '.join(columns)} |")
    print(f"|---:|---:|{'---:|' * len(columns)}")
    before: dict[str, tuple[int, dict[str, Any]]] = {}
    for n in sizes:
        folder = folder_of(base, n, PARTITIONS)
        cells, answers = [], set()
        for title, (how, n_jobs) in columns.items():
            one = run(kept, how, folder, n_jobs)
            answers.add(one["answer"])
            cells.append(f"{one['seconds']:.1f} s, {one['peak'] / 2**20:,.0f} MiB")
            if title in before and how != "memory" and n == 2 * before[title][0]:
                ratio = one["seconds"] / before[title][1]["seconds"]
                bars.append(Bar(f"{n:,} sequences, {title}: time of half of them", ratio, RATIO))
            before[title] = n, one
        print(f"| {n:,} | {one['patterns']:,} | {' | '.join(cells)} |", flush=True)
        bars.append(Bar(f"{n:,} sequences: different answers", len(answers) - 1, 0))
    bars += in_turns(base, kept, sizes)
    bars += of_the_largest(base, kept, sizes[-1], small=arguments.small)
    print()
    return report(bars)


def in_turns(base: Path, kept: Path, sizes: tuple[int, ...]) -> list[Bar]:
    """The ratios of doublings in memory."""
    bars = []
    for title, n_jobs in (("one core", 1), ("two cores", 2)):
        best = run(kept, "doublings", base, n_jobs)["best"]
        for n in sizes:
            if str(n // 2) in best and n // 2 in sizes:
                ratio = best[str(n)] / best[str(n // 2)]
                bars.append(Bar(f"{n:,} sequences, {title}: time of half of them", ratio, RATIO))
    return bars


def of_the_largest(base: Path, kept: Path, n: int, *, small: bool) -> list[Bar]:
    """Workers that are killed, and more partitions. Small ones are lost in what else moves."""
    bars = []
    folder = folder_of(base, n, PARTITIONS)
    plain = run(kept, "dask", folder, WORKERS)
    for name, title in (("search", "first"), ("count", "second")):
        killed = run(kept, "dask", folder, WORKERS, name)
        same = float(killed["answer"] == plain["answer"])
        bars.append(
            Bar(f"a worker killed in the {title} pass: same answer", same, 1, at_least=True)
        )
    more = run(kept, "dask", folder_of(base, n, 2 * PARTITIONS), WORKERS)
    above = [(one["peak"] - one["base"]) / 2**20 for one in (plain, more)]
    print(
        f"\nPeak of a worker above what it held before: {above[0]:,.0f} MiB with {PARTITIONS} "
        f"partitions, {above[1]:,.0f} MiB with {2 * PARTITIONS}."
    )
    if not small:
        bars.append(Bar("twice as many partitions: share of the peak", above[1] / above[0], 0.65))
    same = float(more["answer"] == plain["answer"])
    bars.append(Bar("twice as many partitions: same answer", same, 1, at_least=True))
    return bars


if __name__ == "__main__":
    sys.exit(main())
