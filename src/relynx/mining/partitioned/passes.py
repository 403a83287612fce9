"""What is done with one partition: looked at, searched, counted. Each is a function of its own.

Whoever runs one, this process or a worker elsewhere, opens the folder itself and holds one
partition. What goes to and fro is small: names, settings, and patterns as arrays.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from relynx.arrays import Longs
from relynx.bias import Bias
from relynx.data.event_arguments import Argument, argument_counts, event_arguments
from relynx.data.parquet import Partitions
from relynx.data.sequences import Facts, Sequences
from relynx.errors import DataError, InputError, Source
from relynx.logic.tables import Key
from relynx.mining.budget import Budget
from relynx.mining.engines.choose import engine_of
from relynx.mining.engines.compiled import Compiled, compile_bias
from relynx.mining.matching.index import Index
from relynx.mining.partitioned.candidates import Patterns, lengths_of
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import Trie
from relynx.mining.report import Progress
from relynx.search_settings import SearchSettings
from relynx.version import __version__

CELLS = 1 << 25  # of the matrix of patterns and sequences that is held at a time
AT_ONCE = 1 << 14  # sequences


@dataclass(frozen=True, slots=True)
class Where:
    """A folder as it is where the work is given out: with the digest of its manifest. And the
    version of relynx there."""

    folder: str
    digest: str
    version: str

    @classmethod
    def of(cls, parts: Partitions) -> Where:
        return cls(parts.path, parts.digest, __version__)


@dataclass(frozen=True, slots=True)
class Work:
    """What all partitions are searched for."""

    where: Where
    bias: Bias
    settings: SearchSettings
    classes: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A partition of the work; `labels` are numbers of classes where they are not its own."""

    number: int
    labels: Longs | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What of a partition decides how the whole is searched."""

    counts: dict[Argument, tuple[int, int]]  # how the arguments are used
    places: frozenset[Argument]  # event arguments by that, or by what was told
    wrong: InputError | None  # with the facts and the bias together, if these are event arguments
    longest: int = 0  # events of a sequence
    graphs: bool = False  # whether some dimension is no path somewhere


@dataclass(frozen=True, slots=True)
class Local:
    """How a partition is searched."""

    places: frozenset[Argument]
    steps: tuple[int, ...]
    least: Longs
    min_frequency: int
    n_partitions: int
    time_limit: float | None
    memory_limit: float | None
    progress: Callable[[Progress], object] | None
    n_threads: int


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """What a partition has."""

    patterns: Patterns
    complete_up_to: int
    partial: str | None
    unasked: bool = False  # it ended early, by a limit that the caller has not set


# How many sequences of each class patterns cover, one row a pattern, and up to which length these
# are counted; None: all of them.
Counts: TypeAlias = tuple[Longs, int | None]


def opened(where: Where) -> Partitions:
    """The folder, where the work is done. Raises InputError where it is not the same one."""
    here = f"on {socket.gethostname()}"
    if where.version != __version__:
        what = f"relynx is {__version__} {here}, and {where.version} where the work is given out"
        raise InputError(what, hint="install the same version everywhere")
    source = Source("", where.folder)
    if not os.path.isdir(where.folder):
        hint = "put it where all workers see it under the same name, on a shared disk"
        raise InputError(f"this folder is not there {here}", source, hint=hint)
    parts = Partitions(where.folder)
    if parts.digest != where.digest:
        what = f"this folder holds something else {here} than where the work is given out"
        raise DataError(what, source, hint="write it once, on a disk that all workers share")
    return parts


def look(work: Work, share: Share, places: frozenset[Argument] | None = None) -> Summary:
    """What of a partition decides how the whole is searched."""
    facts = opened(work.where).partition(share.number).facts(work.settings.object_identity)
    counts = argument_counts(facts.tables, max(len(facts.vocabulary), 1))
    places = event_arguments(counts) if places is None else places
    try:
        compiled = _compiled(work, facts, places)
    except InputError as error:
        return Summary(counts, places, error)
    return Summary(counts, places, None, compiled.index.longest, compiled.has_graphs)


def _compiled(work: Work, facts: Facts, places: frozenset[Argument]) -> Compiled:
    facts = replace(facts, event_arguments=places, cache={})
    return compile_bias(work.bias, Index.of(facts))


def search(work: Work, share: Share, local: Local) -> LocalAnswer:
    """The patterns that are frequent in a partition."""
    budget = Budget(local.time_limit, local.memory_limit, local.progress)
    X = opened(work.where).partition(share.number)
    labels = _labels(X, work, share)
    facts = X.facts(work.settings.object_identity)
    compiled = _compiled(work, facts, local.places)
    data, bounds = (compiled, labels, len(work.classes)), (local.least, local.min_frequency)
    engine = engine_of(*data, work.bias, work.settings, *bounds, local.steps)
    complete = engine.run(budget, n_threads=local.n_threads)
    parent, steps, supports, shown = engine.found.columns(engine.width + 4, len(work.classes))
    counted = np.zeros((len(parent), local.n_partitions), bool)
    counted[:, share.number] = True
    made = facts.vocabulary.constants[len(X.vocabulary) :]
    patterns = Patterns(parent, steps, shown, supports.astype(np.int64), counted, made)
    return LocalAnswer(patterns, complete, budget.reason, budget.is_unasked)


def _labels(X: Sequences, work: Work, share: Share) -> Longs:
    """The class of each sequence as a number."""
    if share.labels is not None:
        return share.labels
    if X.labels is None:
        return np.zeros(len(X), np.int64)
    number = {name: i for i, name in enumerate(work.classes)}
    return np.array([number[label] for label in X.labels.tolist()], np.int64)


def count(
    work: Work,
    share: Share,
    answer: LocalAnswer,
    relations: Sequence[Key],
    dimensions: Sequence[str],
    time_limit: float | None = None,
) -> Counts:
    """How many sequences of each class of a partition the patterns cover that it did not find.
    Those that it found have zeros. Where there is a limit of seconds, short patterns come first."""
    start, patterns = time.monotonic(), answer.patterns
    supports = np.zeros((len(patterns), len(work.classes)), np.int64)
    rows = np.flatnonzero(~patterns.counted[:, share.number])
    if not len(rows):
        return supports, None
    parts = opened(work.where)
    vocabulary = parts.vocabulary.extended(patterns.made)
    trie = Trie.unlabelled(patterns.parent, patterns.steps, relations, dimensions, vocabulary)
    flag = work.settings.object_identity
    X = parts.partition(share.number)
    labels = _labels(X, work, share)
    X.facts(flag)  # of all at once; parts take what is theirs
    lengths = np.zeros(len(rows), int) if time_limit is None else lengths_of(patterns)[rows]
    for length in np.unique(lengths).tolist():
        own = rows[lengths == length]
        asked = PatternSet(*trie.restricted(own), object_identity=flag)
        at_once = max(min(AT_ONCE, CELLS // len(own)), 64)
        for i in range(0, len(X), at_once):
            if time_limit is not None and time.monotonic() - start > time_limit:
                return supports, length - 1
            some = X[i : i + at_once]
            covered = asked.coverage(some)
            some.facts(flag).cache.clear()
            here = labels[i : i + at_once]
            for c in np.unique(here).tolist():
                supports[own, c] += covered[here == c].sum(axis=0)
    return supports, None
