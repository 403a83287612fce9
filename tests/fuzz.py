"""Broken inputs for every reader and for `load`: anything but InputError is a failure.

    python tests/fuzz.py --seconds 600                     for ten minutes
    python tests/fuzz.py --total 10000000 --state fuzz.json --workers 2
    python tests/fuzz.py --only lynx --seed 0 --number 17  one input again, with its error
    python tests/fuzz.py --only lynx --input FILE          an input that was kept

An input depends on its target, the seed and its number only. With --state, runs add up; the state
holds the seed. Inputs that fail are kept in a folder with the command that repeats them.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzzing.running import Run, State, all_targets, repeat, scratch, table

LONG = 1e9


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--total", type=int, help="stop at so many inputs, earlier runs included")
    parser.add_argument("--state", type=Path, help="a JSON file that says how far the run is")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--seed", type=int, help="of a new run (default: the time)")
    parser.add_argument("--only", action="append", help="a target; may be given several times")
    parser.add_argument("--number", type=int, help="repeat this input of a target")
    parser.add_argument("--input", type=Path, help="repeat the input in this file")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="a folder")
    parser.add_argument("--list", action="store_true", help="the targets and their shares")
    given = parser.parse_args()

    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    if given.number is not None or given.input is not None:
        repeat(given.only[0], seed, given.number or 0, given.input)
        return
    with scratch() as folder:
        weights = {name: one.weight for name, one in all_targets(Path(folder)).items()}
    if given.list:
        whole = sum(weights.values())
        print("\n".join(f"{name:22} {weight / whole:6.1%}" for name, weight in weights.items()))
        return
    unknown = [name for name in given.only or () if name not in weights]
    if unknown:
        parser.error(f"no target {unknown[0]!r}; there are {', '.join(weights)}")
    if given.only:
        weights = {name: weights[name] for name in given.only}
    seconds = given.seconds if given.seconds is not None else LONG if given.total else 600.0
    state = State.read(given.state, seed)
    run = Run(weights, state, path=given.state, kept=given.failures)
    begun, before = time.monotonic(), state.total
    print(f"seed {state.seed}, {given.workers} workers, {before:,} inputs done before", flush=True)
    run.go(total=given.total or sys.maxsize, seconds=seconds, n_workers=given.workers)
    took = time.monotonic() - begun
    print(table(state))
    n = state.total - before
    print(f"{n:,} inputs in {took:,.0f} s, {n / took:,.0f} a second")
    if state.failures:
        print(f"{len(state.failures)} defects, kept in {given.failures}:")
        for failure in state.failures:
            print(f"  {failure['where']}\n    {failure['command']}")
        raise SystemExit(1)
    print("nothing but InputError")


if __name__ == "__main__":
    main()
