"""The runs of the reproduction: each is a cross-validation; every fold is saved when it is done."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

import numpy as np

from relynx.bias import parse_bias
from relynx.bias.protein_folds import ProteinFolds
from relynx.data.sequences import data_digest
from relynx.data.tables.frames import write_csv
from relynx.errors import InputError
from relynx.models.evaluation.baselines import baselines
from relynx.models.evaluation.cross_validation import Fold, cross_validate
from relynx.models.evaluation.systems import system
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.learners import learner
from relynx.reproduce.rows import BIASES, EXPERIMENTS, PROTOCOLS, SYSTEMS, Experiment
from relynx.storage.journal import digest, locked
from relynx.version import __version__

RECORDS = "folds.csv"
FILES = (RECORDS, "summary.csv", "accuracy.svg")
MINED = "mined-"  # prefix of temporary folders
# The packages that results depend on.
LEARNS = ("bias", "data", "features", "logic", "mining", "models")


@dataclass(frozen=True, slots=True)
class Record:
    """One fold of one run. `key` stands for all that the result depends on."""

    protocol: str
    bias: str
    name: str
    seed: int
    fold: int
    sequences: int
    right: int
    accuracy: float
    seconds: float
    key: str


SCHEMA: dict[str, Any] = get_type_hints(Record)


@dataclass(frozen=True, slots=True)
class Run:
    """A cross-validation: an experiment, how the folds are made, and the seed."""

    experiment: Experiment
    protocol: str
    seed: int
    folds: int

    def model(self, data: ProteinFolds) -> Any:
        experiment = self.experiment
        if experiment.bias == SYSTEMS:
            return system(experiment.name.split(",")[0]).set_params(**experiment.parameters)
        if not experiment.of_lynx:
            return baselines(data.X)[experiment.name]
        text = BIASES[experiment.bias]
        bias = parse_bias(text, experiment.bias) if text else data.bias
        final = learner(experiment.learner)
        return LynxClassifier(bias, final_estimator=final, **experiment.parameters)

    def key(self, data: ProteinFolds) -> str:
        """A hash of all that a figure depends on: parameters, folds, data, the code that learns."""
        parameters = self.model(data).get_params(deep=False) if self.experiment.bias else {}
        run = self.experiment.name, self.protocol, self.seed, self.folds
        described = [__version__, *run, parameters]
        names = [column.tolist() for column in (data.X.ids, data.y, data.groups)]
        data_key = digest([data_digest(data.X), *names])
        text = json.dumps([described, data_key, _code_key()], default=str, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def title(self) -> str:
        parts = (self.experiment.name, self.experiment.bias, self.protocol, f"seed {self.seed}")
        return ", ".join(part for part in parts if part)


def planned(
    data: ProteinFolds,
    *,
    folds: int = 10,
    seeds: Sequence[int] = (0,),
    experiments: Sequence[Experiment] = EXPERIMENTS,
) -> list[Run]:
    """All runs, the quick ones first; those that mine the same one after the other."""
    by_bias: dict[str, list[Experiment]] = {"": [Experiment(name) for name in baselines(data.X)]}
    for experiment in experiments:
        by_bias.setdefault(experiment.bias, []).append(experiment)
    return [
        Run(experiment, protocol, seed, folds)
        for rows in by_bias.values()
        for protocol in PROTOCOLS
        for seed in seeds
        for experiment in rows
    ]


def done_before(folder: Path, runs: Sequence[Run], data: ProteinFolds) -> list[Record]:
    """The records in the folder that are still valid."""
    known = _read(folder / RECORDS)
    keys = [run.key(data) for run in runs]
    return [record for key in keys for record in known if record.key == key]


def carried_out(
    run: Run,
    data: ProteinFolds,
    *,
    only: Collection[int] | None = None,
    memory: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[Fold, Record], object] | None = None,
) -> list[Record]:
    """Do a run, or some folds of it; `memory` is a folder that keeps what was mined."""
    model, key = run.model(data), run.key(data)
    records: list[Record] = []

    def done(fold: Fold) -> None:
        records.append(_record(run, key, fold, data))
        if progress is not None:
            progress(fold, records[-1])

    cross_validate(
        model.set_params(memory=memory) if run.experiment.of_lynx else model,
        data.X,
        data.y,
        folds=run.folds,
        groups=data.groups if run.protocol == "by family" else None,
        seeds=(run.seed,),
        only=only,
        n_jobs=n_jobs,
        progress=done,
    )
    return records


def resumed(
    folder: Path,
    runs: Sequence[Run],
    data: ProteinFolds,
    *,
    n_jobs: int | None = None,
    progress: Callable[[Run, Fold], object] | None = None,
) -> list[Record]:
    """Run the folds that the folder does not have, and save each as soon as it is done."""
    done = {(record.key, record.fold) for record in done_before(folder, runs, data)}
    left: list[tuple[Run, list[int]]] = []
    for run in runs:
        key = run.key(data)
        numbers = [number for number in range(1, run.folds + 1) if (key, number) not in done]
        left += [(run, numbers)] if numbers else []

    def kept(run: Run, fold: Fold, record: Record) -> None:
        with locked(folder, ours=FILES.__contains__, wait=True):
            write_records(folder, [*_read(folder / RECORDS), record])
        if progress is not None:
            progress(run, fold)

    def mined(task: tuple[Run, list[int]]) -> tuple[str, str, int]:
        return task[0].experiment.bias, task[0].protocol, task[0].seed

    for _, same in groupby(left, mined):
        with _shared_memory(folder) as memory:
            for run, numbers in same:
                how: dict[str, Any] = {"memory": memory, "n_jobs": n_jobs}
                carried_out(run, data, only=numbers, progress=partial(kept, run), **how)
    order = {run.key(data): i for i, run in enumerate(runs)}
    records = {(record.key, record.fold): record for record in done_before(folder, runs, data)}
    return sorted(records.values(), key=lambda record: (order[record.key], record.fold))


@contextmanager
def _shared_memory(folder: Path) -> Iterator[str]:
    """A temporary folder for what was mined. Those of killed processes are removed first."""
    with ExitStack() as stack:
        with locked(folder, ours=FILES.__contains__, wait=True):
            for old in folder.glob(f"{MINED}*"):
                with suppress(InputError), locked(old):  # else its process is at work
                    rmtree(old)
            name = stack.enter_context(TemporaryDirectory(prefix=MINED, dir=folder))
            stack.enter_context(locked(name))
        yield name


def write_records(folder: Path, records: Sequence[Record]) -> None:
    columns = {name: [getattr(r, name) for r in records] for name in SCHEMA}
    write_csv(folder / RECORDS, [columns], SCHEMA)


def _record(run: Run, key: str, fold: Fold, data: ProteinFolds) -> Record:
    right = int(np.sum(fold.predicted == data.y[fold.test]))
    return Record(
        run.protocol,
        run.experiment.bias,
        run.experiment.name,
        run.seed,
        fold.number,
        len(fold.test),
        right,
        round(fold.accuracy, 6),
        round(fold.seconds, 2),
        key,
    )


@cache
def _code_key() -> str:
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for package in LEARNS:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            digest.update(repr((path.relative_to(root).as_posix(), len(text))).encode())
            digest.update(text)
    return digest.hexdigest()


def _read(path: Path) -> list[Record]:
    """The records of a file; none where it is missing or not ours."""
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [Record(**{name: kind(row[name]) for name, kind in SCHEMA.items()}) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return []  # it is written anew
