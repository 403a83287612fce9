"""`mine`: every frequent pattern that a bias allows, each once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.parquet import Partitions
from relynx.data.sequences import Sequences
from relynx.mining.advice import advice
from relynx.mining.budget import Budget
from relynx.mining.checkpoint import search_journal
from relynx.mining.engines.base import Level
from relynx.mining.engines.choose import choose
from relynx.mining.engines.compiled import compile_bias
from relynx.mining.filters import Filters, answer
from relynx.mining.input_checks import check_limits, classes_of
from relynx.mining.matching.index import Index
from relynx.mining.ordering.order import canonical_order
from relynx.mining.partitioned.search import check_no_client, check_partitions, mine_partitions
from relynx.mining.patterns.kept_coverage import KeptCoverage
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import Trie
from relynx.mining.report import Progress, SearchLevel, SearchReport
from relynx.mining.thresholds import conditions_of, least_supports, steps_of
from relynx.mining.workers import n_threads
from relynx.search_settings import SearchSettings


def mine(
    X: Sequences | Partitions, y: Iterable[object] | None = None, bias: Bias | None = None, *,
    min_support: float | None = None, min_frequency: int | None = None,
    max_length: int | None = None, max_gap: int | None = None,
    object_identity: bool | None = None, min_confidence: float | None = None,
    max_support: Mapping[object, float] | None = None, closed: bool = False,
    min_cover: int | None = None, top_k: int | None = None, measure: str = "confidence",
    time_limit: float | None = None, memory_limit: int | None = None,
    progress: Callable[[Progress], object] | None = None, n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None, client: Any = None,
    keep_coverage: bool = False,
) -> PatternSet:  # fmt: skip
    """Find every frequent pattern that a bias allows, each exactly once.

    A setting that is None is that of the bias, else the default in brackets.

    Parameters
    ----------
    X, y
        Sequences and their classes; without y those of X, without any one class for all. A folder
        opened by `scan_parquet` is searched a partition at a time, with the same answer.
    bias
        What patterns may be made of; None infers a simple one from the data, if they are in memory.
    min_support, min_frequency
        Keep what covers at least this fraction of some class (0.1) and so many sequences (1).
    max_length, max_gap
        The largest number of atoms, links not counted (3), and the largest n of `followat` (2).
    object_identity
        Whether different variables stand for different constants (True).
    min_confidence, max_support, closed, min_cover, top_k, measure
        Filters of the answer, which the search does not depend on: the least confidence for some
        class; the most of given classes that a pattern covers, a fraction `{"no": 0.05}` or a
        number `{"no": 2}`; drop what a more specific pattern covers as well; see `PatternSet`.
    time_limit, memory_limit, progress
        Seconds and bytes, and a function that is called with a `Progress` from time to time. At a
        limit, or where it returns False, the search ends; the answer says how far it is complete.
    n_jobs
        Threads; None is one, -1 all cores; one inside a joblib worker. The answer is the same.
    checkpoint
        A folder that keeps what was counted, from which an interrupted search resumes. It is
        refused for other data, another bias or other settings of the search.
    client
        A `dask.distributed.Client` whose workers search the partitions of a folder.
    keep_coverage
        Keep what each pattern covers of X: see `PatternSet.training_coverage`.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["a", "c", "b"], ["b", "a"]], ["up", "up", "down"])
    >>> found = rx.mine(X, y, min_support=0.9, max_length=2)
    >>> [str(entry.pattern) for entry in found if entry.confidence["up"] == 1]
    ['a(A), follow_s(A,B), b(B)']
    """
    check_limits(time_limit, memory_limit, progress)
    budget = Budget(time_limit, memory_limit, progress)
    run = _Run(budget, n_threads(n_jobs), checkpoint, client, keep_coverage)
    data = _data(X, y, bias, run)
    settings = SearchSettings.of(
        data.bias, min_support, min_frequency, max_length, max_gap, object_identity, min_cover
    )
    cover = settings.min_cover
    filters = Filters(min_confidence, max_support, closed, cover, top_k, measure)
    return _answer(data, settings, filters, run)


@dataclass(frozen=True, slots=True)
class _Run:
    """How a search is done, whatever it finds."""

    budget: Budget
    threads: int
    checkpoint: str | os.PathLike[str] | None
    client: Any
    keep_coverage: bool


@dataclass(frozen=True, slots=True)
class _Data:
    """What is searched, with the bias; `labels` are numbers of classes, for sequences in memory."""

    X: Sequences | Partitions
    y: Iterable[object] | None
    labels: NDArray[np.int64]
    classes: tuple[object, ...]
    bias: Bias


def _data(
    X: Sequences | Partitions, y: Iterable[object] | None, bias: Bias | None, run: _Run
) -> _Data:
    """The sequences with their classes and a bias that fits them. Raises InputError."""
    labels: NDArray[np.int64] = np.empty(0, np.int64)
    classes: tuple[object, ...]
    if isinstance(X, Partitions):
        classes = check_partitions(X, y, bias, run.checkpoint, run.keep_coverage)
    else:
        check_no_client(run.client)
        labels, classes = classes_of(X, y)
        bias = Bias.infer(X, labels) if bias is None else bias
    if not isinstance(bias, Bias):
        raise TypeError(f"bias is a {type(bias).__name__}: give a Bias, or read one by parse_bias")
    bias.check(X.without_sequences() if isinstance(X, Partitions) else X)
    return _Data(X, y, labels, classes, bias)


def _answer(data: _Data, settings: SearchSettings, filters: Filters, run: _Run) -> PatternSet:
    """What the search finds and the filters leave."""
    filters.check(data.classes)
    X, bias = data.X, data.bias
    if isinstance(X, Partitions):
        how = {"budget": run.budget, "client": run.client, "n_threads": run.threads}
        found = mine_partitions(X, data.y, bias, settings, **how)
        X = X.without_sequences()
    else:
        found = _found(X, data, settings, run)
    if run.budget.is_unasked:
        reached = f"{found.partial}; complete up to length {found.complete_up_to}"
        warnings.warn("\n".join([reached, *found.report.advice]), UserWarning, stacklevel=3)
    return answer(found, X, filters, wants=bias.wants if bias.posconstraints else None)


def _found(X: Sequences, data: _Data, settings: SearchSettings, run: _Run) -> PatternSet:
    """All frequent patterns of sequences in memory."""
    labels, classes, bias = data.labels, data.classes, data.bias
    sizes = np.bincount(labels, minlength=len(classes))
    index = Index.of(X.facts(settings.object_identity))
    compiled = compile_bias(bias, index)
    conditions = conditions_of(
        bias,
        settings,
        least=least_supports(settings, sizes),
        min_frequency=max(settings.min_frequency, 1),
        steps=steps_of(bias, settings, index.longest, graphs=compiled.has_graphs),
    )
    engine = choose(compiled, conditions, object_identity=settings.object_identity)
    search = engine(
        compiled,
        labels,
        len(classes),
        conditions,
        object_identity=settings.object_identity,
        keep_coverage=run.keep_coverage,
    )
    budget = run.budget
    with search_journal(
        run.checkpoint, X, labels, classes, bias, settings, keep_coverage=run.keep_coverage
    ) as journal:
        complete = search.run(budget, n_threads=run.threads, journal=journal)
        if journal is not None and budget.reason is None:
            journal.finish()
    parent, steps, supports, shown = search.found.columns(search.width + 4, len(classes))
    names = compiled.relations, index.dimension_names, index.facts.vocabulary
    trie = Trie(parent, steps, supports, *names, classes, sizes, bias.key)
    rows = canonical_order(trie, np.flatnonzero(shown))
    return PatternSet(
        trie,
        rows,
        complete_up_to=complete,
        partial=budget.reason,
        report=SearchReport(
            _levels(search.tallies),
            advice=advice(trie, rows, bias) if budget.reason else (),
        ),
        object_identity=settings.object_identity,
        kept_coverage=KeptCoverage.of(search.found.covered, shown, len(X))
        if run.keep_coverage
        else None,
    )


def _levels(tallies: Mapping[int, Level]) -> tuple[SearchLevel, ...]:
    return tuple(
        SearchLevel(
            length,
            **asdict(tally)
            | {
                "nearest_support": tally.nearest_support or None,
                "nearest_frequency": tally.nearest_frequency or None,
            },
        )
        for length, tally in sorted((tallies or {1: Level()}).items())
    )
