"""Compares the answers of this code with those of another version of it, on random languages.

    python tests/same_answers.py OTHER/src OTHER/tests --searches 2000

Each side mines the languages of `languages.make_language` in a process of its own and writes the
patterns as text with their supports. Here the texts are read back: both answers must be the same
set up to the names of variables, with the same supports, and ours must be in order of length and
canonical form.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from canonical_keys import canonical_key

from relynx import parse_pattern

HERE = Path(__file__).resolve().parent
LIMIT = 10.0  # seconds of a search; one that is cut short by a side is not compared
PATIENCE = 120.0  # seconds until a process is given up
MINE = f"""
import json, sys
from languages import make_language
from relynx import mine

for seed in map(int, sys.argv[1:]):
    language = make_language(seed)
    settings = language.parameters
    if "max_length" in settings:
        settings["max_length"] = min(settings["max_length"], 2 + seed % 2)
    found = mine(language.X, bias=language.bias, **settings, time_limit={LIMIT})
    classes = sorted({{*language.classes}}, key=str)
    rows = [
        (int(n), str(e.pattern), [e.support.get(c, 0) for c in classes], e.frequency)
        for n, e in zip(found.lengths, found, strict=True)
    ]
    print(json.dumps([seed, found.partial is not None, rows]), flush=True)
"""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("source", type=Path, help="src of the other version")
    arguments.add_argument("tests", type=Path, help="its tests")
    arguments.add_argument("--searches", type=int, default=2000)
    arguments.add_argument("--first", type=int, default=0)
    asked = arguments.parse_args()
    seeds = [str(seed) for seed in range(asked.first, asked.first + asked.searches)]
    compared = patterns = cut = 0
    ours = answers(HERE.parent / "src", HERE, seeds)
    theirs = answers(asked.source, asked.tests, seeds)
    for (seed, *cuts, here), (_, *other_cuts, other) in zip(ours, theirs, strict=True):
        if any(cuts + other_cuts):
            cut += 1
            continue
        problem = difference(here, other)
        if problem:
            print(f"language {seed}: {problem}")
            return 1
        compared, patterns = compared + 1, patterns + len(here)
    print(f"{compared:,} searches with {patterns:,} patterns are the same; {cut} were cut short")
    return 0


def answers(source: Path, tests: Path, seeds: list[str]) -> Iterator[tuple[int, bool, list]]:
    """What a version finds, one search at a time. One that does not end is cut short: filters of an
    answer have no limit of time."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (source, tests)))}
    left = [*map(int, seeds)]
    while left:
        command = [sys.executable, "-W", "ignore", "-c", MINE, *map(str, left)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            lines = queue.SimpleQueue()
            threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True).start()
            while left:
                try:
                    found = json.loads(lines.get(timeout=PATIENCE))
                except queue.Empty:
                    process.kill()
                    yield left.pop(0), True, []
                    break
                assert left.pop(0) == found[0]
                yield tuple(found)


def _forward(lines: Iterable[bytes], to: queue.SimpleQueue) -> None:
    for line in lines:
        to.put(line)


def difference(here: list, other: list) -> str | None:
    """What is different in two answers; None where nothing is."""
    keys = [key(length, text) for length, text, *_ in here]
    if len(set(keys)) < len(keys):
        return "a pattern is there twice"
    if any(a > b for a, b in pairwise(keys)):
        return "the patterns are not in order"
    mine = {one: counts for one, (_, _, *counts) in zip(keys, here, strict=True)}
    before = {key(length, text): counts for length, text, *counts in other}
    for one in mine.keys() | before.keys():
        if mine.get(one) != before.get(one):
            return f"{one}: {mine.get(one)}, the other version {before.get(one)}"
    return None


def key(length: int, text: str) -> tuple[int, tuple[object, ...]]:
    return length, canonical_key(parse_pattern(text).atoms)


if __name__ == "__main__":
    sys.exit(main())
