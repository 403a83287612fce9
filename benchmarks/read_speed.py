"""Reading files of the original program: time for a million facts, memory for a million events."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from questions.bars import Bar, print_table, report

N_EVENTS = 20
READ = """
import json, sys, time
from relynx import read_lynx

def peak_bytes():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except FileNotFoundError:  # not Linux: the unit differs between systems, bytes on macOS
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

before = peak_bytes()
start = time.perf_counter()
X, y = read_lynx(sys.argv[1])
seconds = time.perf_counter() - start
facts = sum(table.shape[1] for table in X.tables.values())
print(json.dumps(dict(seconds=seconds, facts=facts, before=before, peak=peak_bytes())))
"""


def write_file(path: Path, *, n_sequences: int, n_fluents: int, seed: int = 0) -> None:
    """Sequences of N_EVENTS events with `n_fluents` fluents each, on a chain."""
    draw = random.Random(seed)
    values = [f"v{i}" for i in range(50)]
    with path.open("w", encoding="utf-8") as file:
        for s in range(n_sequences):
            file.write(f"begin(s{s},{'fox' if s % 2 else 'hen'}).\n")
            for e in range(N_EVENTS):
                for fluent in range(n_fluents):
                    file.write(
                        f"fluent{fluent}(e{e},{draw.choice(values)},{draw.randrange(100)}).\n"
                    )
                if e:
                    file.write(f"next_s(e{e - 1},e{e}).\n")
            file.write("end.\n")


def measure(path: Path) -> dict[str, float]:
    """Read a file in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.m")
        # Each sequence has N_EVENTS fluents and N_EVENTS - 1 steps.
        write_file(path, n_sequences=-(-1_000_000 // (2 * N_EVENTS - 1)), n_fluents=1)
        small_bytes, facts = path.stat().st_size, measure(path)
        write_file(path, n_sequences=1_000_000 // N_EVENTS, n_fluents=3)
        large_bytes, events = path.stat().st_size, measure(path)
    rows = [
        (
            name,
            f"{size / 1e6:.0f} MB",
            f"{measured['facts']:,.0f}",
            f"{measured['seconds']:.1f} s",
            f"{measured['seconds'] / measured['facts'] * 1e6:.2f} us",
            f"{measured['before'] / 1e9:.2f} GB",
            f"{measured['peak'] / 1e9:.2f} GB",
        )
        for name, size, measured in (
            ("1,000,000 facts", small_bytes, facts),
            ("1,000,000 events, 3 fluents each", large_bytes, events),
        )
    ]
    header = ("file", "size", "facts", "time", "per fact", "memory before", "peak memory")
    print_table(header, rows)
    return report(
        [
            Bar("1,000,000 facts read", facts["seconds"], 30.0, "s"),
            Bar("1,000,000 events, peak memory", events["peak"] / 1e9, 1.5, "GB"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
