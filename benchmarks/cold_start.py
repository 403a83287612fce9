"""How long a user waits: for help, for the first `covers` after install, and for later ones."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from questions.bars import Bar, print_table, report

HELP = "import sys; from relynx.cli import main; sys.exit(main(['--help']))"
COVERS = """
import relynx as rx
X, y = rx.from_lists([["a", "b", "c", "a"], ["b", "a"], ["c", "c", "b"]])
patterns = ["a(X), follow_s(X,Y), c(Y)", "b(X), next_s(X,Y), followat_s(2,X,Z), a(Z)", "c(X)"]
covered = rx.covers(list(map(rx.parse_pattern, patterns)), X)
assert covered.tolist() == [[True, True, True], [False, False, False], [False, False, True]]
bindings = rx.match("b(X), next_s(X,Y)", X[0], object_identity=False)
assert bindings == [{"X": "e2", "Y": "e3"}]
"""


def seconds(program: str, *, cache: str) -> float:
    """Wall time of a whole process of Python that runs a program."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as cache:
        seconds(HELP, cache=cache)  # writes the bytecode, as an installer does
        helps = [seconds(HELP, cache=cache) for _ in range(9)]
        first = seconds(COVERS, cache=cache)
        later = [seconds(COVERS, cache=cache) for _ in range(5)]
    print_table(
        ("process", "best", "median"),
        [
            ("relynx --help", f"{min(helps):.3f} s", f"{statistics.median(helps):.3f} s"),
            ("first covers, compiling", f"{first:.2f} s", ""),
            ("later covers", f"{min(later):.2f} s", f"{statistics.median(later):.2f} s"),
        ],
    )
    return report(
        [
            Bar("relynx --help, median", statistics.median(helps), 0.3, "s"),
            Bar("first covers after install", first, 20.0, "s"),
            Bar("covers in a later process, median", statistics.median(later), 2.0, "s"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
