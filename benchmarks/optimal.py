"""`LynxClassifier(method="optimal")` on the bundled folds, in three dimensions.

    python benchmarks/optimal.py [--length 3]

The whole fit, with the cross-validation that finds the penalty, beside the enumeration of all
patterns without a bound. Candidates are counted with those that are found again. Length 3 takes
some minutes, and has no bars.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from questions.bars import Bar, print_table, report
from questions.peak import peak_bytes

from relynx.bias import Bias, parse_bias
from relynx.bias.protein_folds import load_protein_folds
from relynx.mining.bounded import Language
from relynx.models.lynx.classifier import LynxClassifier
from relynx.search_settings import SearchSettings

ELEMENTS = """
type(he(event,hand,class,length)). mode(he(+,*,*,*)).
type(st(event,sense,length)). mode(st(+,*,*)).
dimension(next_s). dimension(next_b). dimension(next_h).
"""
MOST_SECONDS = 120.0
FAR = 0.05  # a given penalty, as a share of the largest


def every_candidate(X: object, bias: Bias, length: int) -> int:
    language = Language(X, bias, SearchSettings.of(bias, max_length=length), n_threads=2)
    while language.grow(np.ones(len(language), bool)):
        pass
    return language.nodes


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=2)
    length = parser.parse_args().length
    folds = load_protein_folds()
    inferred = Bias.infer(folds.X, np.unique(folds.y, return_inverse=True)[1])
    rows, bars = [], []
    for name, bias in (("elements", parse_bias(ELEMENTS)), ("inferred", inferred)):
        for penalty in (FAR, None):
            model = LynxClassifier(bias, method="optimal", max_length=length, n_jobs=2)
            model.set_params(penalty=penalty, random_state=0)
            wall, process = time.monotonic(), time.process_time()
            found = model.fit(folds.X, folds.y).certificate_
            wall, process = time.monotonic() - wall, time.process_time() - process
            share = found.penalty / found.largest_penalty
            rows.append([name, f"{share:.4f}", f"{len(model.selected_)}", f"{found.nodes:,}"])
            rows[-1] += [f"{found.gap:.0e}", f"{wall:.0f} s", f"{process:.0f} s"]
            rows[-1].append(f"{peak_bytes() / 1e9:.1f} GB")
        every = every_candidate(folds.X, bias, length)
        rows.append([name, "all patterns", "", f"{every:,}", "", "", "", ""])
        bars.append(Bar(f"{name}: wall time with cross-validation", wall, MOST_SECONDS, "s"))
        bars.append(Bar(f"{name}: gap", found.gap, 1e-6))
        bars.append(Bar(f"{name}: candidates, of all", found.nodes / every, 1.0))
    header = ["language", "penalty", "selected", "candidates", "gap", "wall", "process", "peak"]
    print_table(header, rows)
    return report(bars) if length == 2 else 0


if __name__ == "__main__":
    sys.exit(main())
