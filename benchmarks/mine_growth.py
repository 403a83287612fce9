"""Growth of `mine` with the number of sequences at a fixed support, and the bundled folds.

Each measurement is a process of its own. Memory is the peak while mining, less what the process
held before: the data and the compiled kernels. The data come from a file, made by another process:
one that had made them itself would mine in memory it had freed, and seem to need none. Times are
processor times.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from questions.bars import Bar, print_table, report

SIZES = (400, 800, 1_600)  # sequences of each of the five classes
PASSES = 3

MAKE = """
import pickle, sys
from questions.markov import relational_sequences
from relynx.data.sequences import Sequences

atoms, labels = relational_sequences(int(sys.argv[1]))
with open(sys.argv[2], "wb") as file:
    pickle.dump((Sequences.from_atoms(atoms), labels), file)
print("{}")
"""

GROWTH = """
import json, pickle, sys, time
from questions.markov import RELATIONAL_BIAS, relational_sequences
from questions.peak import forget_peak, held_bytes, peak_bytes
from relynx.bias import parse_bias
from relynx.data.sequences import Sequences
from relynx.mining.search import mine

bias = parse_bias(RELATIONAL_BIAS)
few, few_labels = relational_sequences(4)
mine(Sequences.from_atoms(few), few_labels, bias, min_support=0.5, max_length=2)
with open(sys.argv[1], "rb") as file:
    X, labels = pickle.load(file)
forget_peak()
before = held_bytes()
start = time.process_time()
found = mine(X, labels, bias, min_support=0.2, max_length=3)
seconds = time.process_time() - start
print(json.dumps(dict(patterns=len(found), seconds=seconds, bytes=peak_bytes() - before)))
"""

FOLDS_BIAS = """
type(he(event,hand,class,length)). mode(he(+,*,*,*)).
type(st(event,sense,length)). mode(st(+,*,*)).
"""
FOLDS_LIMIT = 60.0  # seconds

FOLDS = """
import json, sys, time
from questions.peak import peak_bytes
from relynx.bias import parse_bias
from relynx.bias.protein_folds import load_protein_folds
from relynx.mining.search import mine

bias = parse_bias(sys.argv[1])
folds = load_protein_folds()
mine(folds.X[::50], folds.y[::50], bias, min_support=0.5, max_length=2, time_limit=30)
start = time.process_time()
found = mine(folds.X, folds.y, bias, min_support=0.1, max_length=3, time_limit=float(sys.argv[2]))
seconds = time.process_time() - start
partial = found.partial is not None
print(json.dumps(dict(patterns=len(found), seconds=seconds, bytes=peak_bytes(), partial=partial)))
"""


def measure(program: str, *arguments: object) -> dict[str, float]:
    """What a program prints, run in a process that finds the helpers of the benchmarks."""
    path = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", path + program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure_growth() -> list[Bar]:
    """Time and memory of each size; each doubling has two bars."""
    rows, bars = [], []
    before: dict[str, float] | None = None
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder, "data.pickle")
            measure(MAKE, size, data)
            passes = [measure(GROWTH, data) for _ in range(PASSES)]
        now = {key: min(one[key] for one in passes) for key in passes[0]}
        n = 5 * size
        rows.append(
            (
                f"{n:,}",
                f"{now['patterns']:,.0f}",
                f"{now['seconds']:.2f} s",
                f"{now['seconds'] / before['seconds']:.2f}" if before else "",
                f"{now['bytes'] / 1e6:.0f} MB",
                f"{now['bytes'] / before['bytes']:.2f}" if before else "",
            )
        )
        if before:
            what = f"growth from {n // 2:,} to {n:,} sequences"
            bars.append(Bar(f"{what}, time", now["seconds"] / before["seconds"], 2.2))
            bars.append(Bar(f"{what}, memory", now["bytes"] / before["bytes"], 2.2))
        before = now
    print_table(("sequences", "patterns", "time", "growth", "memory", "growth"), rows)
    return bars


def measure_folds() -> list[Bar]:
    """The chain alone, with one dimension of the sheets, and with both."""
    rows, bars = [], []
    for names in (("s",), ("s", "h"), ("s", "b", "h")):
        dimensions = "".join(f"dimension(next_{name}).\n" for name in names)
        measured = measure(FOLDS, FOLDS_BIAS + dimensions, 1.5 * FOLDS_LIMIT)
        seconds = measured["seconds"]
        rows.append(
            (
                f"dimensions {', '.join(names)}",
                f"{measured['patterns']:,.0f}",
                f"{seconds:.1f} s" + (" (stopped)" if measured["partial"] else ""),
                f"{measured['patterns'] / seconds:,.0f}",
                f"{measured['bytes'] / 1e9:.2f} GB",
            )
        )
        # A search that was stopped has missed the bar, however little processor time it got.
        value = math.inf if measured["partial"] else seconds
        bars.append(Bar(f"bundled folds, dimensions {', '.join(names)}", value, FOLDS_LIMIT, "s"))
    header = ("folds, support 0.1, length 3", "patterns", "time", "a second", "peak memory")
    print_table(header, rows)
    return bars


def main() -> int:
    return report([*measure_growth(), *measure_folds()])


if __name__ == "__main__":
    sys.exit(main())
