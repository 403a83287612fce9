"""A table of hospital stays with measurements and drugs, and a rule with a threshold.

A stay has a complication where contrast medium is given after a creatinine of 1.4 or more. One
column holds the values of four measurements, which differ in size; 7 % of the labels are wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WARDS = ("er", "icu", "surgery", "medicine")
LABS = {"creatinine": (1.1, 0.45), "potassium": (4.2, 0.12), "hb": (12.5, 0.15), "crp": (18.0, 1.0)}
DRUGS = ("contrast", "heparin", "ibuprofen", "amoxicillin", "furosemide", "insulin")
HIGH, WRONG = 1.4, 0.07
COLUMNS = ("stay", "time", "kind", "item", "value", "ward", "nurse", "complication")


def clinical(n: int = 1200, seed: int = 0) -> dict[str, list[Any]]:
    """The columns of the table, with the stays one after the other."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for stay in range(n):
        time, ward, is_high, is_hit, events = 0.0, rng.integers(len(WARDS)), False, False, []
        for _ in range(rng.integers(8, 16)):
            time += rng.exponential(6)
            ward = rng.integers(len(WARDS)) if rng.random() < 0.15 else ward
            if rng.random() < 0.5:
                kind, item = "lab", list(LABS)[rng.integers(len(LABS))]
                median, spread = LABS[item]
                value: float | None = round(float(median * np.exp(rng.normal(0, spread))), 2)
                is_high |= item == "creatinine" and value >= HIGH
            else:
                kind, item, value = "drug", DRUGS[rng.integers(len(DRUGS))], None
                is_hit |= item == "contrast" and is_high
            nurse = f"n{rng.integers(20)}"
            events.append((f"s{stay}", round(time, 2), kind, item, value, WARDS[ward], nurse))
        label = "yes" if is_hit != (rng.random() < WRONG) else "no"
        rows += [(*event, label) for event in events]
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
