"""`PatternVectorizer.transform` on 100,000 new sequences against SWI-Prolog.

The vectorizer mines other sequences; of the patterns with three atoms 100 are drawn, and both sides
say which of them cover each new sequence. Times are processor times. Neither side pays for loading
or compiling: the table also has the first call, which makes the indexes. SWI-Prolog is asked on a
sample, scaled to all.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from covers_vs_prolog import check_equal, fastest_prolog
from questions.bars import Bar, print_table, report
from questions.markov import RELATIONAL_BIAS
from questions.prolog import ask, facts_text
from questions.workload import random_sequences

from relynx.bias import parse_bias
from relynx.data.sequences import Sequences
from relynx.features.vectorizer import PatternVectorizer

N_TRAIN, N_NEW, N_EVENTS = 500, 100_000, 20
N_PATTERNS, SAMPLE, PASSES = 100, 1_500, 5


def mined_patterns() -> PatternVectorizer:
    X = Sequences.from_atoms(random_sequences(N_TRAIN, n_events=N_EVENTS))
    vectorizer = PatternVectorizer(parse_bias(RELATIONAL_BIAS), min_support=0.1, max_length=3)
    found = vectorizer.fit(X).patterns_
    long = np.flatnonzero(found.lengths == 3)
    chosen = np.random.default_rng(0).choice(long, N_PATTERNS, replace=False)
    vectorizer.patterns_ = found[np.sort(chosen)]
    return vectorizer


def main() -> int:
    vectorizer = mined_patterns()
    patterns = [tuple(pattern) for pattern in vectorizer.patterns_.patterns()]
    sequences = random_sequences(N_TRAIN + N_NEW, n_events=N_EVENTS)[N_TRAIN:]
    X = Sequences.from_atoms(sequences)
    times = []
    for _ in range(1 + PASSES):
        start = time.process_time()
        matrix = vectorizer.transform(X)
        times.append(time.process_time() - start)
    first, later = times[0], min(times[1:])
    hits = matrix.nnz / len(X)
    print(f"{len(patterns)} patterns, {len(X):,} sequences, {hits:.1f} hits in each\n")
    if shutil.which("swipl") is None:
        print("SWI-Prolog (swipl) is not installed: its bar counts as missed\n")
        return 1
    covered = np.asarray(matrix.toarray(), bool)
    sample = random.Random(4).sample(range(len(X)), SAMPLE)
    part = [sequences[i] for i in sample]
    rows, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        fastest, with_steps = fastest_prolog(part, patterns, Path(folder))
        for variant in dict.fromkeys((fastest, with_steps)):
            facts = Path(folder, "facts.pl")
            facts.write_text(facts_text(part, variant))
            answer = ask(
                facts, patterns, variant, sample=range(SAMPLE), n_events=N_EVENTS, passes=PASSES
            )
            check_equal(covered[sample], answer.covered, range(SAMPLE))
            theirs = answer.seconds * len(X) / SAMPLE
            rows.append(
                (
                    str(variant),
                    f"{theirs:.1f} s",
                    f"{first:.2f} s",
                    f"{later:.2f} s",
                    f"{theirs / later:.0f}",
                )
            )
            if variant == with_steps:
                what = f"times faster than SWI-Prolog, {len(X):,} sequences"
                bars.append(Bar(what, theirs / later, 50.0, at_least=True))
    header = ("SWI-Prolog's way", "SWI-Prolog", "first transform", "transform", "ratio")
    print_table(header, rows)
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
