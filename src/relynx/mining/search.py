"""`mine`: every frequent pattern that a bias allows, each once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.parquet import Partitions
from relynx.data.sequences import Sequences
from relynx.mining.advice import advice
from relynx.mining.budget import Budget
from relynx.mining.checkpoint import search_journal
from relynx.mining.engines.base import Engine
from relynx.mining.engines.choose import choose
from relynx.mining.engines.compiled import compile_bias
from relynx.mining.filters import Filters, answer
from relynx.mining.input_checks import check_limits, classes_of
from relynx.mining.matching.index import Index
from relynx.mining.ordering.order import canonical_order
from relynx.mining.partitioned.search import check_no_client, check_partitions, mine_partitions
from relynx.mining.patterns.entries import KeptCoverage
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
    budget, threads = Budget(time_limit, memory_limit, progress), n_threads(n_jobs)
    labels: NDArray[np.int64] = np.empty(0, np.int64)
    if isinstance(X, Partitions):
        classes = check_partitions(X, y, bias, checkpoint, keep_coverage)
        in_memory = X.without_sequences()
    else:
        check_no_client(client)
        labels, classes = classes_of(X, y)
        bias = Bias.infer(X, labels) if bias is None else bias
        in_memory = X
    if not isinstance(bias, Bias):
        raise TypeError(f"bias is a {type(bias).__name__}: give a Bias, or read one by parse_bias")
    bias.check(in_memory)
    settings = SearchSettings.of(
        bias,
        min_support=min_support,
        min_frequency=min_frequency,
        max_length=max_length,
        max_gap=max_gap,
        object_identity=object_identity,
        min_cover=min_cover,
    )
    cover = settings.min_cover
    filters = Filters(min_confidence, max_support, closed, cover, top_k, measure)
    filters.check(classes)
    if isinstance(X, Partitions):
        how = {"budget": budget, "client": client, "n_threads": threads}
        found = mine_partitions(X, y, bias, settings, **how)
    else:
        data = X, labels, classes
        found = _found(*data, bias, settings, budget, threads, checkpoint, keep_coverage)
    if budget.is_unasked:
        reached = f"{found.partial}; complete up to length {found.complete_up_to}"
        warnings.warn("\n".join([reached, *found.report.advice]), UserWarning, stacklevel=2)
    return answer(found, in_memory, filters, wants=bias.wants if bias.posconstraints else None)


def _found(
    X: Sequences,
    labels: NDArray[np.int64],
    classes: tuple[object, ...],
    bias: Bias,
    settings: SearchSettings,
    budget: Budget,
    threads: int,
    checkpoint: str | os.PathLike[str] | None,
    keep_coverage: bool,
) -> PatternSet:
    """All frequent patterns of sequences in memory."""
    search = prepared(X, labels, len(classes), bias, settings, keep_coverage=keep_coverage)
    with search_journal(
        checkpoint, X, labels, classes, bias, settings, keep_coverage=keep_coverage
    ) as journal:
        complete = search.run(budget, n_threads=threads, journal=journal)
        if journal is not None and budget.reason is None:
            journal.finish()
    trie, shown = found_trie(search, bias, classes)
    rows = canonical_order(trie, np.flatnonzero(shown))
    return PatternSet(
        trie,
        rows,
        complete_up_to=complete,
        partial=budget.reason,
        report=SearchReport(
            tuple(level for _, level in sorted(search.tallies.items())) or (SearchLevel(1),),
            advice=advice(trie, rows, bias) if budget.reason else (),
        ),
        object_identity=settings.object_identity,
        kept_coverage=KeptCoverage.of(search.found.covered, shown, len(X))
        if keep_coverage
        else None,
    )


def prepared(
    X: Sequences,
    labels: NDArray[np.int64],
    n_classes: int,
    bias: Bias,
    settings: SearchSettings,
    *,
    keep_coverage: bool,
) -> Engine[Any, Any]:
    """A search of sequences in memory, by the engine that is fastest."""
    index = Index.of(X.facts(settings.object_identity))
    compiled = compile_bias(bias, index)
    conditions = conditions_of(
        bias,
        settings,
        least=least_supports(settings, np.bincount(labels, minlength=n_classes)),
        min_frequency=max(settings.min_frequency, 1),
        steps=steps_of(bias, settings, index.longest, graphs=compiled.has_graphs),
    )
    how = {"object_identity": settings.object_identity}
    engine = choose(compiled, conditions, **how)
    return engine(compiled, labels, n_classes, conditions, keep_coverage=keep_coverage, **how)


def found_trie(
    search: Engine[Any, Any], bias: Bias, classes: tuple[object, ...], *, let_go: bool = True
) -> tuple[Trie, NDArray[np.bool_]]:
    """What a search has found, and which rows of it are patterns to show."""
    compiled, index = search.compiled, search.compiled.index
    columns = search.found.columns(search.width + 4, len(classes), let_go=let_go)
    parent, steps, supports, shown = columns
    names = compiled.relations, index.dimension_names, index.facts.vocabulary
    return Trie(parent, steps, supports, *names, classes, search.class_sizes, bias.key), shown
