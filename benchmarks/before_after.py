"""This version against another one: the same searches, matches and fits, in turns, on one machine.

    python benchmarks/before_after.py --other OTHER/src

Each workload runs in processes of its own, one version after the other, several times; what counts
is the least processor time. Workloads use public names only. Without `--other` there is nothing to
compare with, and nothing is done.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from questions.bars import Bar, print_table, report

HERE = Path(__file__).resolve().parent
PASSES = 3
MOST = 1.05  # times the other version, of any workload

# A program defines `work`, having called it on little data to compile what it needs.
RELATIONAL = """
from questions.markov import RELATIONAL_BIAS, relational_sequences

def search(n, **settings):
    atoms, labels = relational_sequences(n)
    X = rx.Sequences.from_atoms(atoms)
    return lambda: rx.mine(X, labels, rx.parse_bias(RELATIONAL_BIAS), **settings)

search(4, min_support=0.5, max_length=2)()
work = search(N, min_support=SUPPORT, max_length=LENGTH)
"""
FLAT = """
from questions.markov import FLAT_BIAS, flat_sequences

def search(lists, least):
    X, _ = rx.from_lists(lists, predicate="is")
    limits = dict(min_support=0.0, min_frequency=least, max_length=5, max_gap=1)
    return rx.mine(X, None, rx.parse_bias(FLAT_BIAS), **limits)

search(flat_sequences(20), 5)
lists = flat_sequences(N)
work = lambda: search(lists, LEAST)
"""
FOLDS = """
folds = rx.load_protein_folds()
text = "type(he(event,hand,class,length)). mode(he(+,*,*,*)). "
text += "type(st(event,sense,length)). mode(st(+,*,*)). "
bias = rx.parse_bias(text + "".join(f"dimension(next_{name}). " for name in DIMENSIONS))
rx.mine(folds.X[::50], folds.y[::50], bias, min_support=0.5, max_length=2)
work = lambda: rx.mine(folds.X, folds.y, bias, min_support=0.1, max_length=3)
"""
COVERS = """
from questions.workload import random_patterns, random_sequences

asked = [rx.Pattern(atoms) for atoms in random_patterns(1_000)]
X = rx.Sequences.from_atoms(random_sequences(10_000, n_events=20))
rx.covers(asked[:50], X)
work = lambda: rx.covers(asked, X)
"""
TRANSFORM = """
from questions.markov import RELATIONAL_BIAS
from questions.workload import random_sequences

sequences = random_sequences(100_500, n_events=20)
vectorizer = rx.PatternVectorizer(rx.parse_bias(RELATIONAL_BIAS), min_support=0.3, max_length=3)
vectorizer.fit(rx.Sequences.from_atoms(sequences[:500]))
X = rx.Sequences.from_atoms(sequences[500:])
vectorizer.transform(X[:10])
work = lambda: vectorizer.transform(X)
"""
GRASP = """
from questions.drawn_features import drawn_data

M, y = drawn_data(CLASSES)
rx.GraspSelector(max_iter=1, random_state=0).fit(M[:50, :50], y[:50])
work = lambda: rx.GraspSelector(max_iter=20, random_state=0, n_jobs=1).fit(M, y)
"""
FIT = """
folds = rx.load_protein_folds()
rx.LynxClassifier(folds.bias, max_iter=2, random_state=0).fit(folds.X[::20], folds.y[::20])
how = dict(selection="grasp", random_state=0)
work = lambda: rx.LynxClassifier(folds.bias, **how).fit(folds.X, folds.y)
"""
PROGRAM = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import relynx as rx
{program}
start = time.process_time()
found = work()
seconds = time.process_time() - start
print(json.dumps([seconds, len(found) if isinstance(found, rx.PatternSet) else 0]))
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with its constants, and at most how many times the other version's time."""

    name: str
    program: str
    constants: str = ""
    most: float = MOST
    passes: int = PASSES


WORKLOADS = (
    Workload("mine_relational, 0.2, length 3", RELATIONAL, "N, SUPPORT, LENGTH = 400, 0.2, 3"),
    Workload("mine_relational, 0.1, length 4", RELATIONAL, "N, SUPPORT, LENGTH = 400, 0.1, 4"),
    Workload("mine_flat, 2,000 at 3 %", FLAT, "N, LEAST = 2_000, 60"),
    Workload("mine_flat, 20,000 at 10 %", FLAT, "N, LEAST = 20_000, 2_000"),
    Workload("mine_growth, 8,000 sequences", RELATIONAL, "N, SUPPORT, LENGTH = 1_600, 0.2, 3"),
    Workload("folds, one dimension", FOLDS, "DIMENSIONS = 's'"),
    Workload("folds, two dimensions", FOLDS, "DIMENSIONS = 'sh'"),
    Workload("folds, three dimensions", FOLDS, "DIMENSIONS = 'sbh'"),
    Workload("covers, 1,000 patterns", COVERS),
    Workload("transform, 100,000 sequences", TRANSFORM),
    Workload("grasp, 5 classes", GRASP, "CLASSES = 5"),
    Workload("grasp, 2 classes", GRASP, "CLASSES = 2"),
    Workload("fit of the folds, bundled bias", FIT, most=0.5, passes=2),
)


def measured(workload: Workload, source: str) -> tuple[float, int]:
    """Processor seconds of a version, and the number of patterns found."""
    program = PROGRAM.format(program=f"{workload.constants}\n{workload.program}")
    command = [sys.executable, "-W", "ignore", "-c", program, str(HERE)]
    environment = os.environ | {"PYTHONPATH": source}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    seconds, n_patterns = json.loads(done.stdout)
    return seconds, n_patterns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", help="src of the other version")
    parser.add_argument("--only", default="", help="workloads whose names hold this")
    asked = parser.parse_args()
    if not asked.other:
        print("nothing to compare with: --other OTHER/src")
        return 0
    rows, bars, sums = [], [], [0.0, 0.0]
    for workload in (one for one in WORKLOADS if asked.only in one.name):
        turns = [
            [measured(workload, source) for source in (asked.other, str(HERE.parent / "src"))]
            for _ in range(workload.passes)
        ]
        other, here = (min(turn[i][0] for turn in turns) for i in range(2))
        if len({n for turn in turns for _, n in turn}) > 1:
            raise RuntimeError(f"{workload.name}: the versions find different numbers of patterns")
        n_patterns = turns[0][1][1]
        rate = f"{n_patterns / here:,.0f}" if n_patterns else ""
        rows.append((workload.name, f"{other:.2f} s", f"{here:.2f} s", f"{here / other:.2f}", rate))
        print("  ".join(rows[-1]), flush=True)
        bars.append(Bar(workload.name, here / other, workload.most, "times"))
        sums = [sums[0] + other, sums[1] + here]
    rows.append(("sum", f"{sums[0]:.1f} s", f"{sums[1]:.1f} s", f"{sums[1] / sums[0]:.2f}", ""))
    print()
    print_table(("workload", "other", "this", "ratio", "patterns a second"), rows)
    return report([*bars, Bar("sum", sums[1] / sums[0], 1.0, "times")])


if __name__ == "__main__":
    sys.exit(main())
