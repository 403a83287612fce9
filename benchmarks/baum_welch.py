"""Baum-Welch of a logical hidden Markov model, against the plain twin of the tests.

Both learn sequences of one class of the bundled folds, from the same random parameters, for the
same number of iterations, and must come to the same log-likelihood. The time of `LoHMM.fit` has the
grounding in it. What the kernels cost when they are compiled for the first time is timed in a
process of its own, with an empty cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from questions.bars import Bar, print_table, report

import relynx as rx
from relynx.models.observations import observations

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from lohmm_reference import Twin

FOLD = "c.55"
SEQUENCES = 50
ITERATIONS = 2
COPIES = (1, 2)
STRUCTURE = """
type(h(copy,turn,kind,length)). type(s(copy,sense,sense,length)).
type(he(turn,kind,length)). type(sense_prev_st(sense,sense,length)).
values(copy,[1,2]). values(turn,[left,right]). values(kind,['3to10',alpha,pi]).
values(sense,[minus,null,plus]). values(length,[long,medium,short]).
0.5 : h(C,T,K,L) <- start.
0.5 : s(C,P,O,L) <- start.
"""
COMPILE = """
import sys, time
from relynx import LoHMM, parse_atom
model = LoHMM.parse("1.0 : s <- start. 1.0 : s <- o - s.")
start = time.perf_counter()
model.fit([[parse_atom("o")]], max_iter=1)
print(time.perf_counter() - start)
"""


def structure(copies: tuple[int, ...] = COPIES) -> rx.LoHMM:
    """Two kinds of states, each in two hidden copies; all move to all, and the rest is drawn."""
    bodies = [f"h({c},T,K,L) he(T,K,L)" for c in copies]
    bodies += [f"s({c},P,O,L) sense_prev_st(P,O,L)" for c in copies]
    heads = [f"{name}({c},A,B,M)" for name in "hs" for c in copies]
    clauses = []
    for line in bodies:
        body, shown = line.split()
        typed = [head.replace("A,B", "T2,K2" if head[0] == "h" else "P2,O2") for head in heads]
        clauses += [f"{1 / len(typed)!r} : {head} <- {shown} - {body}." for head in typed]
    return rx.LoHMM.parse(STRUCTURE + "\n".join(clauses))


def random_parameters(model: rx.LoHMM, seed: int = 0) -> rx.LoHMM:
    """Copies that are all alike would stay alike."""
    groups = model.parameters.groups
    drawn = np.random.default_rng(seed).uniform(1, 2, len(groups))
    return model.with_parameters(drawn / np.bincount(groups, weights=drawn)[groups])


def twin_fit(
    model: rx.LoHMM, sequences: list[Any], *, iterations: int, remember: bool
) -> tuple[float, float]:
    """The log-likelihood before the last iteration, and the seconds of all."""
    start = time.process_time()
    twin = Twin(model, remember=remember)
    total = 0.0
    for _ in range(iterations):
        values, probabilities = twin.improved(
            sequences, pseudo_count=1.0, selection_pseudo_count=1.0
        )
        total = float(np.log(probabilities).sum())
        twin.values = values
    return total, time.process_time() - start


def our_fit(model: rx.LoHMM, sequences: list[Any], *, iterations: int) -> tuple[float, float]:
    start = time.process_time()
    fitted = model.fit(sequences, max_iter=iterations, tol=0.0)
    return fitted.history[-2], time.process_time() - start


def first_compilation() -> float:
    """Seconds of the first fit in a process without compiled kernels."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", COMPILE],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def main() -> int:
    folds = rx.load_protein_folds()
    sequences = observations(folds.X[np.flatnonzero(folds.y == FOLD)[:SEQUENCES]])
    model = random_parameters(structure())
    our_fit(model, sequences[:2], iterations=1)  # loads the kernels
    ours, seconds = min(
        (our_fit(model, sequences, iterations=ITERATIONS) for _ in range(3)),
        key=lambda pair: pair[1],
    )
    rows = [("LoHMM.fit", f"{seconds:.3f} s", "1", f"{ours:.6f}")]
    ratios = []
    for what, remember in (("plain Python", False), ("the same, steps remembered", True)):
        theirs, plain = twin_fit(model, sequences, iterations=ITERATIONS, remember=remember)
        assert abs(theirs - ours) < 1e-6 * abs(ours), (theirs, ours)
        ratios.append(plain / seconds)
        rows.append((what, f"{plain:.1f} s", f"{plain / seconds:,.0f}", f"{theirs:.6f}"))
    grounding, _, more = long_run(model, sequences)
    print_table((f"{ITERATIONS} iterations", "time", "times ours", "log-likelihood"), rows)
    n_events = sum(map(len, sequences))
    print(
        f"{len(sequences)} sequences, {n_events} observations, {len(model.parameters)} parameters;"
        f" grounding {grounding:.3f} s, an iteration {1e3 * more:.1f} ms;"
        f" the first compilation {first_compilation():.1f} s\n"
    )
    return report(
        [
            Bar("Baum-Welch against plain Python", ratios[0], 50.0, at_least=True),
            Bar("the same, steps remembered", ratios[1], 50.0, at_least=True),
        ]
    )


def long_run(model: rx.LoHMM, sequences: list[Any]) -> tuple[float, float, float]:
    """Seconds of the grounding, of 20 iterations, and of one of them."""
    start = time.process_time()
    grounding = model.ground(sequences)
    grounded = time.process_time() - start
    start = time.process_time()
    model.fit(grounding, max_iter=20, tol=0.0)
    fitted = time.process_time() - start
    return grounded, fitted, fitted / 20


if __name__ == "__main__":
    sys.exit(main())
