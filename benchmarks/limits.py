"""A bias that explodes, on the protein folds: are the limits of time and memory kept?

    python benchmarks/limits.py

Every argument may be anything, three dimensions, patterns of up to eight atoms; and the same in
smaller languages, which the faster engines search. Each runs in a process of its own, which is
measured by its largest size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

from questions.bars import Bar, print_table, report

from relynx import load_protein_folds, mine, parse_bias

DIMENSIONS = "dimension(next_s). dimension(next_b). dimension(next_h)."
ELEMENTS = "type(he(event,hand,class,length)). type(st(event,sense,length))."
LANGUAGES = {
    "one dimension": f"{ELEMENTS} mode(he(+,*,*,*)). mode(st(+,*,*)). dimension(next_s).",
    "three dimensions": f"{ELEMENTS} mode(he(+,*,*,*)). mode(st(+,*,*)). {DIMENSIONS}",
    "everything": f"""
        {ELEMENTS} type(ladder(event,event,sense)). type(sense_prev(event,sense)). {DIMENSIONS}
        mode(he(*,*,*,*)). mode(st(*,*,*)). mode(ladder(*,*,*)). mode(sense_prev(*,*)).
    """,
}
SECONDS = 20
MEGABYTES = 400
MOST_OVER = 1.15  # of the memory


def measured(language: str, threads: int) -> dict[str, object]:
    """One search with both limits, in this process."""
    folds = load_protein_folds()
    bias = parse_bias(LANGUAGES[language])
    mine(folds.X[::40], folds.y[::40], bias, max_length=2, time_limit=3)  # compiles
    begun = time.perf_counter()
    found = mine(
        folds.X,
        folds.y,
        bias,
        min_support=0.05,
        max_length=8,
        time_limit=SECONDS,
        memory_limit=MEGABYTES * 1_000_000,
        n_jobs=threads,
    )
    return {
        "seconds": time.perf_counter() - begun,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "patterns": len(found),
        "reason": found.partial,
        "complete": found.complete_up_to,
        "said": found.explain_search(),
    }


def main() -> int:
    if len(sys.argv) > 2:
        print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
        return 0
    lines, bars, said = [], [], ""
    for language in LANGUAGES:
        for threads in (1, 2):
            command = [sys.executable, __file__, language, str(threads)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            seconds, peak = told["seconds"], told["peak"]
            lines.append(
                [
                    *(language, str(threads), f"{seconds:.1f}", f"{peak:.0f}"),
                    *(f"{told['patterns']:,}", str(told["complete"]), told["reason"]),
                ]
            )
            name = f"{language}, threads: {threads}"
            bars.append(Bar(f"{name}: memory over its limit", peak / MEGABYTES, MOST_OVER))
            bars.append(Bar(f"{name}: time", seconds, SECONDS + 2, "s"))
            said = told["said"]
    print(f"limits: {SECONDS} s, {MEGABYTES} MB")
    print_table(["language", "threads", "s", "MB", "patterns", "complete", "ended"], lines)
    print(f"\nwhat the last one says:\n{said}\n")
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
