"""What a checkpoint costs a search: processor time, room on the disk, and asking again.

python benchmarks/checkpoint.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from questions.bars import Bar, print_table, report

from relynx import load_protein_folds, mine, parse_bias

ELEMENTS = """
    type(he(event,hand,class,length)). mode(he(+,#,#,*)).
    type(st(event,sense,length)). mode(st(+,#,*)).
"""
SEARCHES = {
    "along the chain, length 5": (f"{ELEMENTS} dimension(next_s).", 5, 0.15),
    "chain and sheet, length 4": (f"{ELEMENTS} dimension(next_s). dimension(next_h).", 4, 0.3),
}
TURNS = 3
MOST_SHARE = 0.05


def main() -> int:
    folds = load_protein_folds()
    lines, bars = [], []
    for name, (text, length, support) in SEARCHES.items():
        bias = parse_bias(text)
        plain, kept, again, size, n = [], [], [], 0, 0
        for _ in range(TURNS):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "kept"
                for seconds, checkpoint in ((plain, None), (kept, folder), (again, folder)):
                    begun = time.process_time()
                    n = len(
                        mine(
                            *(folds.X, folds.y, bias),
                            min_support=support,
                            max_length=length,
                            checkpoint=checkpoint,
                        )
                    )
                    seconds.append(time.process_time() - begun)
                size = sum(path.stat().st_size for path in folder.rglob("*"))
        share = min(kept) / min(plain) - 1
        lines.append(
            [
                *(name, f"{n:,}", f"{min(plain):.1f}", f"{100 * share:.1f} %"),
                *(f"{size / 1e6:.1f}", f"{min(again):.1f}"),
            ]
        )
        bars.append(Bar(f"{name}: share of processor time", share, MOST_SHARE))
    print_table(["search", "patterns", "s", "for the checkpoint", "MB", "again, s"], lines)
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
