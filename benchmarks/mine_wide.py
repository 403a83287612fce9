"""`mine` on long sequences over a large vocabulary, against prefixspan; and on all lengths.

1,000 texts of 20 to 400 words over 6,000 symbols, drawn by Zipf's law: all patterns of two events
with support 40. The facts come in both forms, a predicate for each symbol and one predicate with
the symbol as its value; reading the lists is inside the time. Then the same number of events in
sequences of 63 to 1,000 events. Times are processor times on one core.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np
from questions.bars import Bar, print_table, report

from relynx.bias import Bias, parse_bias
from relynx.data.lists import from_lists
from relynx.logic.terms import Atom
from relynx.mining.search import mine

N_TEXTS, N_SYMBOLS, SHORTEST, LONGEST, SUPPORT = 1_000, 6_000, 20, 400, 40
LENGTHS, N_EVENTS = (63, 66, 200, 1_000), 126_000
OFF = "negconstraint([next_s(X,Y)])."
Supports = dict[tuple[str, ...], int]


def texts() -> list[list[str]]:
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, N_SYMBOLS + 1)
    weights /= weights.sum()
    sizes = rng.integers(SHORTEST, LONGEST + 1, N_TEXTS)
    return [[f"w{i}" for i in rng.choice(N_SYMBOLS, size=n, p=weights)] for n in sizes]


def as_predicates(lists: list[list[str]]) -> tuple[float, Supports]:
    symbols = sorted({symbol for one in lists for symbol in one})
    types, modes = (dict.fromkeys(symbols, value) for value in (("event",), (("+",),)))
    off = parse_bias("type(x(event)). mode(x(+)). dimension(next_s). " + OFF).negconstraints
    bias = Bias(types, modes, dimensions=("s",), negconstraints=off)
    return timed(lists, bias, lambda atom: atom.predicate)


def as_values(lists: list[list[str]]) -> tuple[float, Supports]:
    facts = [[("word", symbol) for symbol in one] for one in lists]
    bias = parse_bias(f"type(word(event,w)). mode(word(+,#)). dimension(next_s). {OFF}")
    return timed(facts, bias, lambda atom: str(atom.args[1]))


def timed(lists: list, bias: Bias, symbol: Callable[[Atom], str]) -> tuple[float, Supports]:
    mine(from_lists([["a", "b"]] * 3)[0], max_length=2)  # compiles
    start = time.process_time()
    X, _ = from_lists(lists)
    found = mine(X, None, bias, min_frequency=SUPPORT, min_support=0.0, max_length=2, max_gap=1)
    seconds = time.process_time() - start
    return seconds, {symbols(entry.pattern.atoms, symbol): entry.frequency for entry in found}


def symbols(atoms: tuple[Atom, ...], symbol: Callable[[Atom], str]) -> tuple[str, ...]:
    """The symbols of a pattern of one event or two, in their order."""
    links = [atom for atom in atoms if atom.predicate == "follow_s"]
    facts = {atom.args[0]: symbol(atom) for atom in atoms if atom.predicate != "follow_s"}
    return tuple(facts[event] for event in (links[0].args if links else facts))


def with_prefixspan(lists: list[list[str]]) -> tuple[float, Supports]:
    from prefixspan import PrefixSpan

    start = time.process_time()
    search = PrefixSpan(lists)
    search.maxlen = 2
    found = search.frequent(SUPPORT)
    return time.process_time() - start, {tuple(pattern): n for n, pattern in found}


def by_length() -> list[tuple[int, float, float]]:
    """For each length the nanoseconds of mining and of coverage for an event, of all patterns."""
    bias = parse_bias("type(is(event,w)). mode(is(+,*)). dimension(next_s).")
    rows = []
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        lists = [[("is", f"w{i}") for i in rng.integers(0, 30, n)] for _ in range(N_EVENTS // n)]
        mining, covering = [], []
        for _ in range(4):  # the first compiles
            X, _ = from_lists(lists)
            start = time.process_time()
            found = mine(X, None, bias, min_support=0.5, max_length=2, max_gap=2)
            middle = time.process_time()
            found.coverage(X)
            mining.append(middle - start)
            covering.append(time.process_time() - middle)
        each = 1e9 / N_EVENTS
        rows.append((n, min(mining) * each, min(covering) * each))
    return rows


def main() -> int:
    lists, bars, rows = texts(), [], []
    results = {"relynx, predicates": as_predicates(lists), "relynx, values": as_values(lists)}
    if importlib.util.find_spec("prefixspan"):
        theirs, expected = with_prefixspan(lists)
        for name, (seconds, found) in results.items():
            if found != expected:
                print(f"{name}: {len(found):,} patterns, prefixspan {len(expected):,}")
                return 1
            bars.append(Bar(f"{name} against prefixspan", theirs / seconds, 1.0, "times", True))
        rows.append(("prefixspan", f"{theirs:.2f} s", f"{len(expected):,}"))
    rows += [(name, f"{seconds:.2f} s", f"{len(f):,}") for name, (seconds, f) in results.items()]
    print_table(("texts of 20 to 400 words over 6,000 symbols", "time", "patterns"), rows)
    lengths = by_length()
    print_table(
        ("events of a sequence", "mine", "coverage"),
        [(f"{n:,}", f"{a:.0f} ns", f"{b:.0f} ns") for n, a, b in lengths],
    )
    for name, column in (("mine", 1), ("coverage", 2)):
        cost = [row[column] for row in lengths]
        bars.append(Bar(f"{name}: an event of any length", max(cost) / min(cost), 2.5, "times"))
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
