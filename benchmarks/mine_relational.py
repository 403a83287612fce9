"""`mine` on relational sequences against generate-and-test, in SWI-Prolog and in plain Python.

Times are processor times on one core. `mine` finds the patterns; the other two would test every
child of every pattern that is not of the full length, on the sequences that the pattern covers.
They test a random sample of these children, and their time is scaled to all of them. Neither pays
for loading, compiling or the making of the candidates.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from questions.bars import Bar, print_table, report
from questions.generate_and_test import (
    Candidate,
    PlainSequence,
    count_in_prolog,
    count_in_python,
    number_of_candidates,
    sample_children,
)
from questions.markov import RELATIONAL_BIAS, relational_sequences
from questions.prolog import VARIANTS, Variant, facts_text
from questions.refinements import first_atoms, in_chain_order

from relynx.bias import parse_bias
from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom
from relynx.mining.matching.match import covers
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine

N_PER_CLASS = 400
SUPPORT, LENGTH = 0.2, 3
PASSES = 3
SCREENED, SAMPLE, PYTHON_SAMPLE = 400, 2_000, 500

MANY = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from questions.markov import RELATIONAL_BIAS, relational_sequences
from questions.peak import peak_bytes
from relynx.bias import parse_bias
from relynx.data.sequences import Sequences
from relynx.mining.search import mine

bias = parse_bias(RELATIONAL_BIAS)
few, few_labels = relational_sequences(4)
mine(Sequences.from_atoms(few), few_labels, bias, min_support=0.5, max_length=2)
atoms, labels = relational_sequences(int(sys.argv[2]))
X = Sequences.from_atoms(atoms)
start = time.process_time()
found = mine(X, labels, bias, min_support=0.1, max_length=4)
seconds = time.process_time() - start
print(json.dumps(dict(patterns=len(found), seconds=seconds, peak=peak_bytes())))
"""


def timed_mine(
    sequences: Sequence[Sequence[Atom]], labels: Sequence[str]
) -> tuple[PatternSet, float]:
    """The patterns and the best processor time, each pass on sequences it has not seen before."""
    bias = parse_bias(RELATIONAL_BIAS)
    times = []
    for _ in range(PASSES):
        X = Sequences.from_atoms(sequences)
        start = time.process_time()
        found = mine(X, labels, bias, min_support=SUPPORT, max_length=LENGTH)
        times.append(time.process_time() - start)
    return found, min(times)


def draw_candidates(
    parents: Sequence[tuple[Atom, ...]], X: Sequences
) -> tuple[list[Candidate], tuple[int, ...]]:
    """A random sample of the children, and their frequencies as `covers` has them."""
    drawn = sample_children(parents, n=SAMPLE)
    on = covers([Pattern(parents[i]) for i, _ in drawn], X)
    candidates = [
        Candidate(child, tuple(np.flatnonzero(on[:, k]).tolist()))
        for k, (_, child) in enumerate(drawn)
    ]
    covered = covers([Pattern(candidate.atoms) for candidate in candidates], X)
    return candidates, tuple(covered.sum(axis=0).tolist())


def fastest_prolog(
    sequences: Sequence[Sequence[Atom]], candidates: Sequence[Candidate], folder: Path
) -> list[Variant]:
    """The fastest way to ask SWI-Prolog, and the two fastest that keep `next_s` as facts."""
    times: dict[Variant, float] = {}
    facts = folder / "facts.pl"
    for variant in VARIANTS:
        facts.write_text(facts_text(sequences, variant))
        times[variant] = count_in_prolog(facts, candidates, variant).seconds
    ranked = sorted(VARIANTS, key=times.__getitem__)
    checks = sum(len(candidate.on) for candidate in candidates)
    print_table(
        (f"ways to ask SWI-Prolog ({len(candidates)} candidates)", "per check"),
        [(str(variant), f"{times[variant] / checks * 1e6:.2f} us") for variant in ranked],
    )
    with_steps = [variant for variant in ranked if variant.keeps_steps]
    return list(dict.fromkeys((ranked[0], *with_steps[:2])))


def compare(folder: Path, *, with_prolog: bool) -> list[Bar]:
    sequences, labels = relational_sequences(N_PER_CLASS)
    found, ours = timed_mine(sequences, labels)
    short = found[found.lengths < LENGTH]
    parents = [in_chain_order(entry.pattern.atoms) for entry in short]
    total = len(first_atoms()) + number_of_candidates(parents)
    X = Sequences.from_atoms(sequences)
    candidates, frequencies = draw_candidates(parents, X)
    check_answer(found, candidates, frequencies, X, np.array(labels))
    per_level = [f"{int((found.lengths == n).sum()):,}" for n in range(1, LENGTH + 1)]
    print(
        f"mine: {len(found):,} patterns ({' + '.join(per_level)}) of {len(X):,} sequences in "
        f"{ours:.2f} s, {len(found) / ours:,.0f} a second\n"
        f"generate-and-test: {total:,} candidates, the first atoms and all children of the "
        f"{len(parents):,} patterns of length 1 to {LENGTH - 1}; on average "
        f"{statistics.fmean(len(c.on) for c in candidates):.0f} sequences to test\n"
    )
    rows, bars = [], []

    def add(name: str, seconds: float, tested: Sequence[Candidate]) -> float:
        """Scale a sample's time to all candidates and return how many times `mine` is faster."""
        sizes = [len(candidate.on) for candidate in tested]
        theirs = seconds / len(tested) * total
        # The sample is uncertain mostly because candidates have covers of different sizes.
        error = statistics.stdev(sizes) / statistics.fmean(sizes) / len(sizes) ** 0.5
        rows.append(
            (
                name,
                f"{len(tested):,}",
                f"{seconds / sum(sizes) * 1e6:.2f} us",
                f"{theirs:,.0f} s +- {error:.0%}",
                f"{theirs / ours:,.0f}",
            )
        )
        return theirs / ours

    if with_prolog:
        ratios = []
        facts = folder / "facts.pl"
        for variant in fastest_prolog(sequences, candidates[:SCREENED], folder):
            facts.write_text(facts_text(sequences, variant))
            counted = count_in_prolog(facts, candidates, variant)
            check_equal("SWI-Prolog", counted.frequencies, frequencies)
            ratio = add(f"SWI-Prolog ({variant})", counted.seconds, candidates)
            if variant.keeps_steps:
                ratios.append(ratio)
        bars.append(Bar("times faster than SWI-Prolog", min(ratios), 1_500.0, at_least=True))
    tested = candidates[:PYTHON_SAMPLE]
    counted = count_in_python([PlainSequence(atoms) for atoms in sequences], tested)
    check_equal("plain Python", counted.frequencies, frequencies[:PYTHON_SAMPLE])
    ratio = add("plain Python", counted.seconds, tested)
    bars.append(Bar("times faster than plain Python", ratio, 5_000.0, at_least=True))
    print_table(("generate-and-test", "sample", "per check", "all candidates", "ratio"), rows)
    return bars


def check_equal(who: str, theirs: Sequence[int], frequencies: Sequence[int]) -> None:
    """Raise unless a side counts as `covers` does."""
    if tuple(theirs) != tuple(frequencies):
        raise RuntimeError(f"{who} and relynx disagree on the frequency of a candidate")


def check_answer(
    found: PatternSet,
    candidates: Sequence[Candidate],
    frequencies: Sequence[int],
    X: Sequences,
    labels: np.ndarray,
) -> None:
    """Raise unless the answer recounts, and holds the frequent ones of the sample and no others."""
    some = random.Random(4).sample(range(len(found)), min(len(found), 500))
    entries = [found[i] for i in some]
    recounted = covers([entry.pattern for entry in entries], X).sum(axis=0).tolist()
    check_equal("mine", [entry.frequency for entry in entries], recounted)
    asked = [Pattern(candidate.atoms) for candidate in candidates]
    covered = covers(asked, X)
    shares = [covered[labels == c].mean(axis=0) for c in sorted(set(labels.tolist()))]
    frequent = np.max(shares, axis=0) >= SUPPORT - 1e-9
    known = {entry.pattern.canonical() for entry in found}
    wrong = sum((p.canonical() in known) != f for p, f in zip(asked, frequent, strict=True))
    if wrong:
        raise RuntimeError(f"mine is wrong about {wrong} of {len(asked)} candidates")


def mine_many() -> list[Bar]:
    """About a million patterns, in a process of its own."""
    command = [sys.executable, "-c", MANY, str(Path(__file__).parent), str(N_PER_CLASS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    rate = measured["patterns"] / measured["seconds"]
    print_table(
        ("support 0.1, length 4", "patterns", "time", "a second", "peak memory"),
        [
            (
                "mine",
                f"{measured['patterns']:,.0f}",
                f"{measured['seconds']:.1f} s",
                f"{rate:,.0f}",
                f"{measured['peak'] / 1e9:.2f} GB",
            )
        ],
    )
    return [
        Bar("patterns a second, support 0.1, length 4", rate, 50_000.0, at_least=True),
        Bar("peak memory, support 0.1, length 4", measured["peak"] / 1e9, 2.0, "GB"),
    ]


def main() -> int:
    few, few_labels = relational_sequences(4)
    bias = parse_bias(RELATIONAL_BIAS)
    mine(Sequences.from_atoms(few), few_labels, bias, min_support=0.5, max_length=2)  # compiles
    with_prolog = shutil.which("swipl") is not None
    with tempfile.TemporaryDirectory() as folder:
        bars = compare(Path(folder), with_prolog=with_prolog)
    bars += mine_many()
    status = report(bars)
    if not with_prolog:
        print("SWI-Prolog (swipl) is not installed: its bar counts as missed")
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
