"""A table of events from Parquet to sequences: time and memory for a million rows."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from questions.bars import Bar, print_table, report

from relynx.data.tables.frames import write_csv, write_parquet

N_EVENTS = 1_000_000
LENGTH = 20
READ = """
import json, sys, time
from questions.peak import peak_bytes
from relynx import from_events

before = peak_bytes()
start = time.perf_counter()
X, y = from_events(sys.argv[1], sequence="case", order="time", label="outcome")
seconds = time.perf_counter() - start
facts = sum(table.shape[1] for table in X.tables.values())
print(json.dumps(dict(seconds=seconds, facts=facts, before=before, peak=peak_bytes())))
"""


def columns(seed: int = 0) -> tuple[dict[str, list[object]], dict[str, type]]:
    """Six columns in no order: sequence, order, two of texts, a number, and the class."""
    draw = np.random.default_rng(seed)
    rows = draw.permutation(N_EVENTS)
    case = rows // LENGTH
    table: dict[str, list[object]] = {
        "case": [f"c{i}" for i in case.tolist()],
        "time": rows.tolist(),
        "activity": [f"activity {i}" for i in draw.integers(0, 30, N_EVENTS).tolist()],
        "resource": [f"r{i}" for i in draw.integers(0, 500, N_EVENTS).tolist()],
        "cost": draw.lognormal(3, 1, N_EVENTS).tolist(),
        "outcome": ["good" if i % 2 else "bad" for i in case.tolist()],
    }
    return table, {name: type(values[0]) for name, values in table.items()}


def measure(path: Path) -> dict[str, float]:
    """Read a file in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
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
        table, schema = columns()
        for name, write in (("Parquet", write_parquet), ("CSV", write_csv)):
            path = Path(folder, f"events.{name.lower()}")
            write(path, [table], schema)
            results[name] = measure(path) | {"size": path.stat().st_size}
    print_table(
        ("1,000,000 events x 6", "size", "facts", "time", "memory before", "peak memory"),
        [
            (
                name,
                f"{one['size'] / 1e6:.0f} MB",
                f"{one['facts']:,.0f}",
                f"{one['seconds']:.1f} s",
                f"{one['before'] / 1e9:.2f} GB",
                f"{one['peak'] / 1e9:.2f} GB",
            )
            for name, one in results.items()
        ],
    )
    parquet = results["Parquet"]
    return report(
        [
            Bar("1,000,000 events from Parquet", parquet["seconds"], 10.0, "s"),
            Bar("the same, peak memory", parquet["peak"] / 1e9, 2.0, "GB"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
