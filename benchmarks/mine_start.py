"""How long a user waits for the first patterns, and whether a time limit holds.

Each measurement is a process of its own; times are wall times, from the start of the process. The
first one of a language finds no compiled kernels and makes them; later ones find them. The limits
are asked of languages in which no search would end.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from questions.bars import Bar, print_table, report

LIMIT = 5.0  # seconds
CHECKED = 60.0  # seconds that a smaller search may take to check what a limited one claims
LATER = 5  # processes

BIAS = "type(p(event,t)). mode(p(+,*)). dimension(next_s)."
BIASES = {"one dimension": BIAS, "two dimensions": BIAS + " dimension(next_h)."}

START = """
import json, sys, time
import relynx as rx

letters = "abacabadabacaba"
facts = [f"p(e{i},{letter})" for i, letter in enumerate(letters)]
facts += [f"next_s(e{i},e{i + 1})" for i in range(14)]
facts += [f"next_h(e{i},e{i + 3})" for i in range(12)]
X = rx.Sequences.from_atoms([list(map(rx.parse_atom, facts[i:])) for i in range(5)])
bias = rx.parse_bias(sys.argv[1])
assert len(rx.mine(X, bias=bias, max_length=1)) == 5
first_level = time.time()
assert rx.mine(X, bias=bias, max_length=3).complete_up_to == 3
print(json.dumps(dict(first_level=first_level)))
"""

LIMITED = """
import json, sys, time
from questions.limits import exploding
from relynx.mining.search import mine

X, y, bias, settings = exploding(sys.argv[1])
mine(X[::50], None if y is None else y[::50], bias, min_support=0.9, max_length=2, time_limit=30)
start = time.perf_counter()
found = mine(X, y, bias, time_limit=float(sys.argv[2]), **settings)
seconds = time.perf_counter() - start
length = found.complete_up_to
few = found.filter(max_length=length)
up_to = settings | {"max_length": max(length, 1)}
whole = mine(X, y, bias, time_limit=float(sys.argv[3]), **up_to)
texts = sorted(str(pattern.canonical()) for pattern in few.patterns())
same = sorted(str(pattern.canonical()) for pattern in whole.patterns()) == texts
print(json.dumps(dict(
    seconds=seconds, patterns=len(found), complete=length, partial=found.partial,
    few=len(few), checked=whole.partial is None and length > 0, same=same)))
"""


def run(program: str, *arguments: str, cache: str | None = None) -> tuple[float, dict[str, object]]:
    """Wall time of a process of Python, and what it prints."""
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return time.perf_counter() - start, json.loads(done.stdout)


def starts(name: str, bias: str) -> tuple[tuple[str, ...], list[Bar]]:
    """The first process that mines a language, and later ones."""
    with tempfile.TemporaryDirectory() as cache:
        first = run(START, bias, cache=cache)[0]
        later, levels = [], []
        for _ in range(LATER):
            start = time.time()
            seconds, told = run(START, bias, cache=cache)
            later.append(seconds)
            levels.append(float(str(told["first_level"])) - start)
    whole, level = statistics.median(later), statistics.median(levels)
    row = (name, f"{first:.2f} s", f"{whole:.2f} s", f"{level:.2f} s")
    return row, [
        Bar(f"{name}: first process, compiling", first, 25.0, "s"),
        Bar(f"{name}: later process, until the first level is counted", level, 1.5, "s"),
    ]


def limited(name: str) -> tuple[tuple[str, ...], list[Bar]]:
    """A search that is cut short: how long it took, and whether its claim is true."""
    told = run(LIMITED, name, str(LIMIT), str(CHECKED))[1]
    seconds = float(str(told["seconds"]))
    claim = "not checked" if not told["checked"] else "true" if told["same"] else "FALSE"
    row = (
        name,
        f"{seconds:.2f} s",
        f"{told['patterns']:,}",
        str(told["complete"]),
        f"{told['few']:,}",
        claim,
    )
    wrong = int(told["partial"] is None) + int(claim == "FALSE")
    return row, [
        Bar(f"{name}: time with time_limit={LIMIT:g}", seconds, LIMIT + 1, "s"),
        Bar(f"{name}: claims that are wrong", wrong, 0),
    ]


def main() -> int:
    rows, bars = zip(*(starts(*case) for case in BIASES.items()), strict=True)
    print_table(("language", "first process", "later, median", "until its first level"), rows)
    cut, limits = zip(*(limited(name) for name in ("folds", "constants")), strict=True)
    print_table(("limited", "time", "patterns", "complete up to", "so long", "claim"), cut)
    return report([bar for part in (*bars, *limits) for bar in part])


if __name__ == "__main__":
    sys.exit(main())
