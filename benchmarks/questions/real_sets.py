"""Real data of several kinds, each with a bias: sequences to compare classifiers on.

The bundled folds are always there. The others come from a folder that has them in the formats in
which they are published; a set that is not there is left out, and said to be.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx import (
    Bias,
    Sequences,
    from_intervals,
    from_lists,
    load_protein_folds,
    parse_background,
    parse_bias,
    read_lynx,
)

FOLDS = 5
FEW_FOLDS = 3  # where there are many classes, and by family, of which some are large
ROUNDS = 50  # of GRASP: a quarter of the default, for time
FEW_ROUNDS = 20
MOST_CLASSES = 5


@dataclass(frozen=True, slots=True)
class RealSet:
    """Sequences with their classes, and a language to mine them in.

    `held_back` says that nothing was chosen by this set.
    """

    name: str
    X: Sequences
    y: NDArray[Any]
    bias: Bias
    groups: NDArray[Any] | None = None
    folds: int = FOLDS
    rounds: int = ROUNDS
    held_back: bool = False


def protein_folds() -> RealSet:
    """The bundled data; no family is on both sides of a test."""
    data = load_protein_folds()
    return RealSet("folds", data.X, data.y, data.bias, data.groups, FEW_FOLDS, FEW_ROUNDS)


PROMOTERS_BIAS = """\
type(base(event,base)). mode(base(+,#)).
type(at(event,base,place)). mode(at(+,#,#)).
dimension(next_s).
maxsize(3). minsupport(0.3).
"""


def promoters(folder: Path) -> RealSet:
    """DNA: the base at each of 57 places, alone and with its place."""
    lists, labels = [], []
    for line in (folder / "promoters" / "promoters.data").read_text().splitlines():
        label, _, bases = (part.strip() for part in line.split(","))
        lists.append([[("base", b), ("at", b, i)] for i, b in enumerate(bases, 1)])
        labels.append({"+": "promoter", "-": "none"}[label])
    X, _ = from_lists(lists, labels)
    return RealSet("promoters", X, np.array(labels), parse_bias(PROMOTERS_BIAS))


PRODUCTION_BIAS = """\
type(activity(event,activity)). mode(activity(+,#)).
type(worker(event,worker)). mode(worker(+,#)).
type(report(event,kind)). mode(report(+,#)).
type(rework(event)). mode(rework(+)).
dimension(next_s).
maxsize(3). minsupport(0.2).
"""


def production(folder: Path) -> RealSet:
    """A log of a factory: the activities of each order, who did them, and what was reported."""
    lists, labels = defaultdict(list), {}
    for row in _csv(folder / "production" / "production.csv.gz", ";"):
        event: list[object] = [("activity", row["Activity"]), ("worker", row["Resource"])]
        event.append(("report", row["Report_Type"]))
        if row["Rework"] == "Y":
            event.append(("rework",))
        lists[row["Case ID"]].append(event)
        labels[row["Case ID"]] = row["label"]
    X, _ = from_lists(lists.values(), labels.values())
    return RealSet("production", X, np.array([*labels.values()]), parse_bias(PRODUCTION_BIAS))


CONTACT = ("meets", "overlaps", "starts", "during", "finishes", "equals")
INTERVALS_BIAS = """\
type(on(event,symbol)). mode(on(+,#)).
dimension(next_start).
negconstraint([next_start(_,_)]). negconstraint([followat_start(_,_,_)]).
"""
RELATED = " ".join(f"type({name}(event,event)). mode({name}(+,+))." for name in CONTACT)
BLOCKS_BIAS = f"{INTERVALS_BIAS} {RELATED} maxsize(3). minsupport(0.4)."
CONTEXT_BIAS = f"{INTERVALS_BIAS} maxsize(2). minsupport(0.4)."


def blocks(folder: Path) -> RealSet:
    """Intervals of a hand with coloured blocks: five of the eight classes."""
    return _intervals(folder, "blocks", BLOCKS_BIAS, relations="contact")


def context(folder: Path) -> RealSet:
    """Intervals of the sensors of a telephone; there are too many to relate them all."""
    return _intervals(folder, "context", CONTEXT_BIAS, relations=None, held_back=True)


def _intervals(
    folder: Path, name: str, bias: str, *, relations: str | None, held_back: bool = False
) -> RealSet:
    """Intervals in the order of their starts, and how those that share time are related."""
    here = folder / "intervals" / name
    lines = (here / "data.txt").read_text().splitlines()
    classes = [int(label) for label in (here / "classes.txt").read_text().split()]
    rows = [tuple(map(int, line.split())) for line in lines]
    kept = sorted(row for row in rows if classes[row[0]] <= MOST_CLASSES)
    sequence, symbol, start, end = zip(*kept, strict=True)
    X, y = from_intervals(
        {"id": sequence, "on": symbol, "start": start, "end": end}
        | {"class": [f"c{classes[i]}" for i in sequence]},
        sequence="id",
        start="start",
        end="end",
        symbol="on",
        label="class",
        relations=relations,
        duration=False,
    )
    assert y is not None
    return RealSet(name, X, y, parse_bias(bias), folds=FEW_FOLDS, held_back=held_back)


MUTAGENESIS_BIAS = """\
type(atom(atom,element,kind)). mode(atom(+,#,#)).
type(link(atom,atom,bond)). mode(link(+,-,#)). mode(link(+,+,#)).
maxsize(4). minsupport(0.2).
"""
MUTAGENESIS_RULES = """\
atom(A,E,K) :- atm(_,A,E,K,_).
link(A,B,K) :- bond(_,A,B,K).
link(A,B,K) :- bond(_,B,A,K).
"""


def mutagenesis(folder: Path) -> RealSet:
    """Molecules: atoms and bonds, no order. The ten test files together are the whole set."""
    rules = parse_background(MUTAGENESIS_RULES)
    X = Sequences.concatenate([read_lynx(file, rules)[0] for file in molecule_files(folder)])
    bias = parse_bias(MUTAGENESIS_BIAS)
    return RealSet("mutagenesis", X, np.array(X.labels), bias, held_back=True)


def molecule_files(folder: Path) -> list[Path]:
    """The ten test files; no two have a molecule in common."""
    files = sorted((folder / "mutagenesis").glob("*.val"))
    if not files:
        raise FileNotFoundError(folder / "mutagenesis" / "*.val")
    return files


TRAJECTORIES_BIAS = """\
type(place(event,category)). mode(place(+,#)).
type(day(event,day)). mode(day(+,#)).
type(time(event,time)). mode(time(+,#)).
type(price(event,price)). mode(price(+,#)).
dimension(next_s).
maxsize(2). minsupport(0.4).
"""


def trajectories(folder: Path) -> RealSet:
    """Where people went in a week: the five people of 193 with the most weeks."""
    lists, labels = defaultdict(list), {}
    for row in _csv(folder / "trajectories" / "foursquare_train.csv.gz", ","):
        hour = int(row["hour"])
        event: list[object] = [
            ("place", row["poi"]),
            ("day", row["day"]),
            ("time", f"h{hour // 4 * 4}"),
        ]
        if row["price"] != "-999":
            event.append(("price", int(row["price"])))
        lists[row["tid"]].append(event)
        labels[row["tid"]] = f"p{row['label']}"
    most = {label for label, _ in Counter(labels.values()).most_common(MOST_CLASSES)}
    kept = [tid for tid in lists if labels[tid] in most]
    weeks, people = [lists[tid] for tid in kept], [labels[tid] for tid in kept]
    X, _ = from_lists(weeks, people)
    bias = parse_bias(TRAJECTORIES_BIAS)
    return RealSet("trajectories", X, np.array(people), bias, folds=FEW_FOLDS, held_back=True)


READERS: tuple[Callable[[Path], RealSet], ...] = (
    promoters,
    production,
    blocks,
    mutagenesis,
    context,
    trajectories,
)


def _csv(path: Path, delimiter: str) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter=delimiter)
