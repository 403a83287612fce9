"""A table of intervals from Parquet to sequences: time and memory for a million rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from questions.bars import Bar, print_table, report

from relynx.data.tables.frames import write_parquet

N_INTERVALS = 1_000_000
LENGTH = 20
READ = """
import json, sys, time
from questions.peak import peak_bytes
from relynx import from_intervals

table, relations = sys.argv[1:]
names = dict(sequence="case", start="start", end="end", symbol="state", label="outcome")
few = {name: [1, 2] for name in ("case", "start", "end", "state", "outcome")}
from_intervals(few, **names)  # loaded before the clock starts
before = peak_bytes()
start = time.perf_counter()
X, y = from_intervals(table, **names, relations=relations, duration=True)
seconds = time.perf_counter() - start
facts = sum(table.shape[1] for table in X.tables.values())
print(json.dumps(dict(seconds=seconds, facts=facts, before=before, peak=peak_bytes())))
"""


def columns(seed: int = 0) -> tuple[dict[str, list[object]], dict[str, type]]:
    """Six columns in no order: sequence, two of times, a text, a number, and the class."""
    draw = np.random.default_rng(seed)
    rows = draw.permutation(N_INTERVALS)
    case = rows // LENGTH
    start = 10 * rows + draw.integers(0, 30, N_INTERVALS)
    table: dict[str, list[object]] = {
        "case": [f"c{i}" for i in case.tolist()],
        "start": start.tolist(),
        "end": (start + draw.integers(0, 60, N_INTERVALS)).tolist(),
        "state": [f"state {i}" for i in draw.integers(0, 30, N_INTERVALS).tolist()],
        "load": draw.lognormal(3, 1, N_INTERVALS).tolist(),
        "outcome": ["good" if i % 2 else "bad" for i in case.tolist()],
    }
    return table, {name: type(values[0]) for name, values in table.items()}


def measure(path: Path, relations: str) -> dict[str, float]:
    """Read a file in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), relations],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def main() -> int:
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "intervals.parquet")
        write_parquet(path, [columns()[0]], columns()[1])
        for relations in ("contact", "all"):
            results[relations] = measure(path, relations)
    print_table(
        ("1,000,000 intervals x 6", "facts", "time", "memory before", "peak memory"),
        [
            (
                f"relations={relations!r}",
                f"{one['facts']:,.0f}",
                f"{one['seconds']:.1f} s",
                f"{one['before'] / 1e9:.2f} GB",
                f"{one['peak'] / 1e9:.2f} GB",
            )
            for relations, one in results.items()
        ],
    )
    slowest = results["all"]
    return report(
        [
            Bar("1,000,000 intervals from Parquet", slowest["seconds"], 15.0, "s"),
            Bar("the same, peak memory", slowest["peak"] / 1e9, 2.0, "GB"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
