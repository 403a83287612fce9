"""The runs of the reproduction: each is a cross-validation; what is done is kept in a file."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from relynx import __version__
from relynx.bias.folds import ProteinFolds
from relynx.bias.reader import parse_bias
from relynx.data.frames import write_csv
from relynx.models.baselines import baselines
from relynx.models.evaluation import Fold, cross_validate
from relynx.models.learners import learner
from relynx.models.lynx import LynxClassifier
from relynx.reproduce.settings import BIASES, PROTOCOLS, SETTINGS, Setting

RECORDS = "folds.csv"
_TYPES = {"int": int, "float": float, "str": str}


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


@dataclass(frozen=True, slots=True)
class Run:
    """A cross-validation to do: a setting, how the folds are made, and the seed."""

    setting: Setting
    protocol: str
    seed: int
    folds: int

    def model(self, data: ProteinFolds) -> Any:
        """The classifier, not yet fitted."""
        setting = self.setting
        if not setting.bias:
            return baselines(data.X)[setting.name]
        text = BIASES[setting.bias]
        bias = parse_bias(text, setting.bias) if text else data.bias
        final = learner(setting.learner)
        return LynxClassifier(bias, final_estimator=final, **setting.parameters)

    def key(self, data: ProteinFolds) -> str:
        """A short text that changes with the classifier, its parameters, the folds and the data."""
        parameters = self.model(data).get_params(deep=False) if self.setting.bias else {}
        told = [__version__, self.setting.name, self.protocol, self.seed, self.folds, parameters]
        sizes = [len(data.X), sum(table.shape[1] for table in data.X.tables.values())]
        text = json.dumps([told, sizes], default=str, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def title(self) -> str:
        parts = (self.setting.name, self.setting.bias, self.protocol, f"seed {self.seed}")
        return ", ".join(part for part in parts if part)


def planned(
    data: ProteinFolds,
    *,
    folds: int = 10,
    seeds: Sequence[int] = (0,),
    settings: Sequence[Setting] = SETTINGS,
) -> list[Run]:
    """All runs, the quick ones first."""
    simple = [Setting(name) for name in baselines(data.X)]
    return [
        Run(setting, protocol, seed, folds)
        for setting in (*simple, *settings)
        for protocol in PROTOCOLS
        for seed in seeds
    ]


def done_before(folder: Path, runs: Sequence[Run], data: ProteinFolds) -> list[Record]:
    """The records in the folder of runs that are whole and would come out the same today."""
    kept: list[Record] = []
    known = _read(folder / RECORDS)
    for run in runs:
        key = run.key(data)
        mine = [record for record in known if record.key == key]
        if len(mine) == run.folds:
            kept += mine
    return kept


def carried_out(
    run: Run,
    data: ProteinFolds,
    *,
    n_jobs: int | None = None,
    progress: Callable[[Fold], object] | None = None,
) -> list[Record]:
    """Do a run; its records."""
    result = cross_validate(
        run.model(data),
        data.X,
        data.y,
        folds=run.folds,
        groups=data.groups if run.protocol == "by family" else None,
        seeds=(run.seed,),
        n_jobs=n_jobs,
        progress=progress,
    )
    return [_record(run, run.key(data), fold, data) for fold in result.folds]


def resumed(
    folder: Path,
    runs: Sequence[Run],
    data: ProteinFolds,
    *,
    n_jobs: int | None = None,
    progress: Callable[[Run, Fold], object] | None = None,
) -> list[Record]:
    """Do the runs that the folder does not have, and keep each in it as soon as it is done."""
    records = done_before(folder, runs, data)
    done = {record.key for record in records}
    for run in runs:
        if run.key(data) not in done:
            told = None if progress is None else partial(progress, run)
            records += carried_out(run, data, n_jobs=n_jobs, progress=told)
            write_records(folder, records)
    order = {run.key(data): i for i, run in enumerate(runs)}
    return sorted(records, key=lambda record: (order[record.key], record.fold))


def write_records(folder: Path, records: Sequence[Record]) -> None:
    """Write the records; the file appears whole or not at all."""
    columns = {name: [getattr(r, name) for r in records] for name in _schema()}
    write_csv(folder / RECORDS, [columns], _schema())


def _record(run: Run, key: str, fold: Fold, data: ProteinFolds) -> Record:
    right = int(np.sum(fold.predicted == data.y[fold.test]))
    return Record(
        run.protocol,
        run.setting.bias,
        run.setting.name,
        run.seed,
        fold.number,
        len(fold.test),
        right,
        round(fold.accuracy, 6),
        round(fold.seconds, 2),
        key,
    )


def _schema() -> dict[str, type]:
    return {name: _TYPES[kind] for name, kind in Record.__annotations__.items()}


def _read(path: Path) -> list[Record]:
    """The records of a file; none where it is missing or not ours."""
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(_parsed(csv.DictReader(file)))
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return []  # it is written anew


def _parsed(rows: Iterator[dict[str, str]] | csv.DictReader[str]) -> Iterator[Record]:
    for row in rows:
        yield Record(**{name: kind(row[name]) for name, kind in _schema().items()})
