"""`covers` against SWI-Prolog on three-event patterns, and its growth with the data.

Times are processor times. Neither side pays for loading, indexing or compiling; both answer from
warm indexes. SWI-Prolog answers all patterns on a sample of the sequences, scaled to all of them.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from questions.bars import Bar, print_table, report
from questions.prolog import VARIANTS, Variant, ask, facts_text
from questions.workload import random_patterns, random_sequences

from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom
from relynx.mining.matching.match import covers
from relynx.mining.patterns.pattern import Pattern

N_SEQUENCES, N_EVENTS, N_PATTERNS = 10_000, 20, 1_000
SCREENED, SCREENED_SAMPLE, SAMPLE = 1_000, 60, 400
PASSES = 5


def seconds_of_covers(
    patterns: Sequence[Pattern], X: Sequences, *, object_identity: bool
) -> tuple[float, float]:
    """Processor time of a first call, which makes the indexes, and the best of later calls.

    The first call asks other patterns, so that nothing is known of those that are timed.
    """
    others = [Pattern(atoms) for atoms in random_patterns(len(patterns), seed=7)]
    times = []
    for asked in [others, *[patterns] * PASSES]:
        start = time.process_time()
        covers(asked, X, object_identity=object_identity)
        times.append(time.process_time() - start)
    return times[0], min(times[1:])


def fastest_prolog(
    sequences: Sequence[Sequence[Atom]], patterns: Sequence[tuple[Atom, ...]], folder: Path
) -> tuple[Variant, Variant]:
    """The fastest way to ask SWI-Prolog, and the fastest that keeps `next_s` as facts.

    Tried on a part of the data; all ways must give the same answers.
    """
    sample = random.Random(2).sample(range(SCREENED), SCREENED_SAMPLE)
    times: dict[Variant, float] = {}
    answers = set()
    for variant in VARIANTS:
        facts = folder / "facts.pl"
        facts.write_text(facts_text(sequences[:SCREENED], variant))
        answer = ask(facts, patterns, variant, sample=sample, n_events=N_EVENTS)
        times[variant] = answer.seconds
        answers.add(answer.covered)
    questions = len(patterns) * SCREENED_SAMPLE
    ranked = sorted(VARIANTS, key=times.__getitem__)
    print_table(
        ("ways to ask SWI-Prolog (part of the data)", "per question"),
        [(str(variant), f"{times[variant] / questions * 1e6:.2f} us") for variant in ranked],
    )
    if len(answers) != 1:
        raise RuntimeError("the ways to ask SWI-Prolog disagree: one of them asks another question")
    return ranked[0], next(variant for variant in ranked if variant.keeps_steps)


def compare_with_prolog(patterns: Sequence[tuple[Atom, ...]], folder: Path) -> list[Bar]:
    sequences = random_sequences(N_SEQUENCES, n_events=N_EVENTS)
    X = Sequences.from_atoms(sequences)
    asked = [Pattern(atoms) for atoms in patterns]
    sample = random.Random(3).sample(range(N_SEQUENCES), SAMPLE)
    fastest, with_steps = fastest_prolog(sequences, patterns, folder)
    ours: dict[bool, tuple[float, float]] = {}
    covered: dict[bool, np.ndarray] = {}
    for object_identity in (True, False):
        ours[object_identity] = seconds_of_covers(asked, X, object_identity=object_identity)
        covered[object_identity] = covers(asked, X, object_identity=object_identity)
    rows, bars = [], []
    for variant in dict.fromkeys((fastest, with_steps)):
        facts = folder / "facts.pl"
        facts.write_text(facts_text(sequences, variant))
        for object_identity, (first, later) in ours.items():
            answer = ask(
                facts,
                patterns,
                variant,
                sample=sample,
                n_events=N_EVENTS,
                object_identity=object_identity,
                passes=PASSES,
            )
            check_equal(covered[object_identity], answer.covered, sample)
            theirs = answer.seconds * N_SEQUENCES / SAMPLE
            identity = "on" if object_identity else "off"
            rows.append(
                (
                    str(variant),
                    identity,
                    f"{covered[object_identity].mean():.0%}",
                    f"{theirs:.2f} s",
                    f"{first:.3f} s",
                    f"{later:.3f} s",
                    f"{theirs / later:.0f}",
                )
            )
            if variant == with_steps:
                what = f"times faster than SWI-Prolog, Object Identity {identity}"
                bars.append(Bar(what, theirs / later, 50.0, at_least=True))
    header = ("SWI-Prolog's way", "OI", "covered", "SWI-Prolog", "first covers", "covers", "ratio")
    print_table(header, rows)
    return bars


def check_equal(
    covered: np.ndarray, pairs: frozenset[tuple[int, int]], sample: Sequence[int]
) -> None:
    """Raise unless relynx and SWI-Prolog agree on every question of the sample."""
    theirs = np.zeros(covered.shape, bool)
    for sequence, pattern in pairs:
        theirs[sequence, pattern] = True
    wrong = np.argwhere(theirs[sample] != covered[sample])
    if len(wrong):
        row, pattern = wrong[0]
        raise RuntimeError(
            f"relynx and SWI-Prolog disagree on {len(wrong)} questions, "
            f"first on pattern {pattern} and sequence {sample[row]}"
        )


def measure_growth(patterns: Sequence[tuple[Atom, ...]]) -> list[Bar]:
    """Time for 5,000, 10,000 and 20,000 sequences; each doubling has a bar."""
    asked = [Pattern(atoms) for atoms in patterns]
    sequences = random_sequences(2 * N_SEQUENCES, n_events=N_EVENTS)
    sizes = (N_SEQUENCES // 2, N_SEQUENCES, 2 * N_SEQUENCES)
    rows, bars, before = [], [], None
    for n in sizes:
        X = Sequences.from_atoms(sequences[:n])
        first, later = seconds_of_covers(asked, X, object_identity=True)
        ratio = later / before if before else None
        rows.append((f"{n:,}", f"{first:.3f} s", f"{later:.3f} s", f"{ratio:.2f}" if ratio else ""))
        if ratio is not None:
            bars.append(Bar(f"growth from {n // 2:,} to {n:,} sequences", ratio, 2.2))
        before = later
    print_table(("sequences", "first covers", "covers", "growth"), rows)
    return bars


def main() -> int:
    patterns = random_patterns(N_PATTERNS)
    covers([Pattern(atoms) for atoms in patterns], Sequences.from_atoms(random_sequences(5)))
    bars = measure_growth(patterns)
    if shutil.which("swipl") is None:
        print("SWI-Prolog (swipl) is not installed: its bars count as missed\n")
        report(bars)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        bars = compare_with_prolog(patterns, Path(folder)) + bars
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
