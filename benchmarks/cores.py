"""Two threads against one: mining with each engine, GRASP, and the matrix of a vectorizer.

Both take turns, and the best of some passes counts, as time on the clock: the machine must have two
cores free. The answers must be equal. `kept` is the share of the search that one thread does alone:
what is found is compared with what was found before, and recorded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import cpu_count
from questions.bars import Bar, print_table, report
from questions.drawn_features import drawn_data
from questions.markov import RELATIONAL_BIAS, relational_sequences

from relynx import GraspSelector, PatternVectorizer, load_protein_folds, parse_bias
from relynx.data.sequences import Sequences
from relynx.mining.engines.base import Engine
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine

PASSES = 3
LIMIT = 1.7
MOST_KEPT = 0.1
SEQUENCES, GRASP_ROUNDS = 100, 60  # of each of five classes; of GRASP
FOLDS = """
type(he(event,hand,class,length)). mode(he(+,*,*,*)).
type(st(event,sense,length)). mode(st(+,*,*)).
dimension(next_s). dimension(next_h).
"""
LADDERS = """
type(he(event,hand,class,length)). mode(he(+,#,#,#)).
type(st(event,sense,length)). mode(st(+,#,#)).
type(ladder(event,event,sense)). mode(ladder(+,+,#)).
dimension(next_s).
"""


class Kept:
    """Sums up the processor time that the engines spend on keeping what was found."""

    def __init__(self, *engines: type[Engine[Any, Any, Any]]) -> None:
        self.seconds = 0.0
        for engine in engines:
            engine._keep = self._timed(engine._keep)  # type: ignore[method-assign]

    def _timed(self, keep: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            start = time.thread_time()
            made = keep(*arguments)
            self.seconds += time.thread_time() - start
            return made

        return timed


def alternating(
    task: Callable[[int], Any], same: Callable[[Any, Any], bool]
) -> tuple[float, float]:
    """The best times of one and of two threads, in turns."""
    times: dict[int, list[float]] = {1: [], 2: []}
    answers = {}
    for _ in range(PASSES):
        for n, seconds in times.items():
            start = time.perf_counter()
            answers[n] = task(n)
            seconds.append(time.perf_counter() - start)
    if not same(answers[1], answers[2]):
        raise RuntimeError("two threads give another answer than one")
    return min(times[1]), min(times[2])


def equal_patterns(one: PatternSet, other: PatternSet) -> bool:
    return all(
        np.array_equal(getattr(one.trie, name), getattr(other.trie, name))
        for name in ("parent", "steps", "supports")
    )


def searches() -> list[tuple[str, Callable[[int], PatternSet]]]:
    """One for each engine."""
    atoms, labels = relational_sequences(SEQUENCES)
    lines, folds = Sequences.from_atoms(atoms), load_protein_folds()
    plain, several, ladders = map(parse_bias, (RELATIONAL_BIAS, FOLDS, LADDERS))
    third, third_labels = folds.X[::3], folds.y[::3]
    return [
        ("lines", lambda n: mine(lines, labels, plain, max_length=4, n_jobs=n)),
        ("several dimensions", lambda n: mine(folds.X, folds.y, several, n_jobs=n)),
        ("any language", lambda n: mine(third, third_labels, ladders, min_support=0.25, n_jobs=n)),
    ]


def measure_mining() -> list[Bar]:
    from relynx.mining.engines.bits.engine import Bits
    from relynx.mining.engines.general.engine import General

    kept = Kept(Bits, General)
    rows, bars = [], []
    for name, search in searches():
        search(2)  # loads kernels
        kept.seconds, start = 0.0, time.process_time()
        found = search(1)
        share = kept.seconds / (time.process_time() - start)
        one, two = alternating(search, equal_patterns)
        cells = (f"{len(found):,}", f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}")
        rows.append((f"mining, {name}", *cells, f"{share:.1%}"))
        bars.append(Bar(f"two threads, mining, {name}", one / two, LIMIT, at_least=True))
        bars.append(Bar(f"kept by one thread, {name}", share, MOST_KEPT))
    print_table(("", "patterns", "one thread", "two", "ratio", "kept"), rows)
    return bars


def measure_grasp() -> list[Bar]:
    X, y = drawn_data(5)

    def select(n: int) -> GraspSelector:
        return GraspSelector(GRASP_ROUNDS, random_state=0, n_jobs=n).fit(X, y)

    GraspSelector(2, random_state=0, n_jobs=2).fit(X[:50], y[:50])
    one, two = alternating(select, lambda a, b: bool((a.support_ == b.support_).all()))
    row = (f"GRASP, {GRASP_ROUNDS} rounds", f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}")
    print_table(("", "one thread", "two", "ratio"), [row])
    return [Bar("two threads, GRASP", one / two, LIMIT, at_least=True)]


def measure_transform() -> list[Bar]:
    """Mined patterns against as many sequences as they were mined from, twenty times."""
    folds = load_protein_folds()
    vectorizer = PatternVectorizer(parse_bias(FOLDS), max_length=3, top_k=20_000)
    vectorizer.fit(folds.X, folds.y)
    X = folds.X[np.tile(np.arange(len(folds.X)), 4)]

    def transform(n: int) -> Any:
        return vectorizer.set_params(n_jobs=n).transform(X)

    transform(2)
    one, two = alternating(transform, lambda a, b: (a != b).nnz == 0)
    row = (f"{len(X):,} sequences", f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}")
    print_table(("transform, 20,000 patterns", "one thread", "two", "ratio"), [row])
    return [Bar("two threads, transform", one / two, 1.5, at_least=True)]


def main() -> int:
    if cpu_count() < 2:
        print("this machine has one core: there is nothing to compare")
        return 0
    return report([*measure_mining(), *measure_grasp(), *measure_transform()])


if __name__ == "__main__":
    sys.exit(main())
