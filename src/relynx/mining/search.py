"""`mine`: every frequent pattern that a bias allows, each once; and the filters of its answer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import AnyBias, Bias, as_bias
from relynx.data.parquet import Partitions
from relynx.data.sequences import Sequences, data_digest
from relynx.errors import InputError
from relynx.logic.terms import Atom
from relynx.mining.budget import Budget
from relynx.mining.engines.base import Engine
from relynx.mining.engines.choose import engine_of, least_supports, steps_of
from relynx.mining.engines.compiled import compile_bias
from relynx.mining.input_checks import check_limits, classes_of
from relynx.mining.matching.index import Index
from relynx.mining.partitioned.search import PartitionSearch, check_partitions
from relynx.mining.patterns.measures import checked_measure, class_column
from relynx.mining.patterns.ordering import canonical_order
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import KeptCoverage, Trie
from relynx.mining.report import Progress, SearchLevel, SearchReport, advice
from relynx.mining.workers import n_threads
from relynx.search_settings import SearchSettings, as_count, as_share, as_truth, is_number
from relynx.storage.journal import Journal, Work, digest

# Of what is counted: change it when an engine counts in another form or goes in another order.
KEPT_FORM = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters of `mine` that the search does not depend on, by their names there. `min_cover`
    and then `top_k` choose best first by `measure`. A `min_cover` of 0 is none."""

    min_confidence: float | None = None
    max_support: Mapping[object, float] | None = None
    closed: bool = False
    min_cover: int | None = None
    top_k: int | None = None
    measure: str = "confidence"

    def check(self, classes: tuple[object, ...]) -> None:
        """Raise for a filter that has no meaning, before anything is searched."""
        most: Any = self.max_support
        if self.min_confidence is not None:
            as_share("min_confidence", self.min_confidence)
        if most is not None:
            if not isinstance(most, Mapping):
                raise InputError(
                    f"max_support is {most!r}: give a share for each class that it is about, "
                    f"as in {{{classes[0]!r}: 0.1}}"
                )
            for name, value in most.items():
                class_column(name, classes)
                _check_most(f"max_support of {name!r}", value)
        as_truth("closed", self.closed)
        if self.top_k is not None:
            as_count("top_k", self.top_k, 0)
        checked_measure(self.measure)


def mine(
    X: Sequences | Partitions, y: Iterable[object] | None = None, bias: AnyBias | None = None, *,
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
        What patterns may be made of: a `Bias`, its text, or the path of its file; None infers a
        simple one from the data, if they are in memory.
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
    bias = as_bias(bias)
    budget, threads = Budget(time_limit, memory_limit, progress), n_threads(n_jobs)
    labels: NDArray[np.int64] = np.empty(0, np.int64)
    if isinstance(X, Partitions):
        classes = check_partitions(X, y, bias, checkpoint, keep_coverage)
        in_memory = X.without_sequences()
    else:
        if client is not None:
            hint = "write it by X.to_parquet(folder), and give scan_parquet(folder)"
            raise InputError("a client works on partitions, and X is in memory", hint=hint)
        labels, classes = classes_of(X, y)
        bias = Bias.infer(X, labels) if bias is None else bias
        in_memory = X
    assert bias is not None
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
    filters = Filters(
        min_confidence=min_confidence,
        max_support=max_support,
        closed=closed,
        min_cover=settings.min_cover,
        top_k=top_k,
        measure=measure,
    )
    filters.check(classes)
    if isinstance(X, Partitions):
        found = PartitionSearch(X, y, bias, settings, client).run(budget, threads)
    else:
        data = X, labels, classes
        found = _found(*data, bias, settings, budget, threads, checkpoint, keep_coverage)
    if budget.is_unasked:
        reached = f"{found.partial}; complete up to length {found.complete_up_to}"
        warnings.warn("\n".join([reached, *found.report.advice]), UserWarning, stacklevel=2)
    return answer(found, in_memory, filters, wants=bias.wants if bias.selective else None)


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
    keeping: AbstractContextManager[Journal | None] = nullcontext()
    if checkpoint is not None:
        inputs = {
            "the data": data_digest(X),
            "the classes": digest([labels, classes]),
            "the bias": digest([str(bias)]),
        }
        about = f"mining of {len(X):,} sequences in {len(classes):,} classes"
        parameters = settings.digested() | ({"keep_coverage": True} if keep_coverage else {})
        keeping = Journal(checkpoint, Work("mining", KEPT_FORM, about, inputs, parameters))
    with keeping as journal:
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
        kept_coverage=KeptCoverage.of_rows(
            search.found.taken_coverage(search.n_covered), np.flatnonzero(shown), len(shown), len(X)
        )
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
    sizes = np.bincount(labels, minlength=n_classes)
    index = Index.of(X.facts(settings.object_identity))
    compiled = compile_bias(bias, index)
    bounds = least_supports(settings, sizes), max(settings.min_frequency, 1)
    hops = steps_of(bias, settings, index.longest, graphs=compiled.has_graphs)
    data = compiled, labels, n_classes
    return engine_of(*data, bias, settings, *bounds, hops, keep_coverage=keep_coverage)


def found_trie(
    search: Engine[Any, Any], bias: Bias, classes: tuple[object, ...], *, let_go: bool = True
) -> tuple[Trie, NDArray[np.bool_]]:
    """What a search has found, and which rows of it are patterns to show."""
    compiled, index = search.compiled, search.compiled.index
    columns = search.found.columns(search.width + 4, len(classes), let_go=let_go)
    parent, steps, supports, shown = columns
    names = compiled.relations, index.dimension_names, index.facts.vocabulary
    return Trie(parent, steps, supports, *names, classes, search.class_sizes, bias.key), shown


def answer(
    found: PatternSet,
    X: Sequences,
    asked: Filters,
    *,
    wants: Callable[[Sequence[Atom]], bool] | None = None,
) -> PatternSet:
    """The patterns that pass every filter; the report of the set tells what each removed.

    A pattern that passes the first two, or a positive constraint, is dropped by `closed` only for
    one that passes them too: what is more specific and covers the same is wanted, confident and
    supported alike. So their order does not matter; `min_cover` and then `top_k` choose from what
    is left. `wants` tells whether the bias wants a pattern, None if it wants them all.
    """
    filters: dict[str, Callable[[PatternSet], PatternSet]] = {}
    if asked.min_confidence is not None:
        filters["min_confidence"] = lambda left: left.filter(min_confidence=asked.min_confidence)
    if asked.max_support is not None:
        filters["max_support"] = lambda left: left.filter(max_support=asked.max_support)
    if asked.closed:
        filters["closed"] = PatternSet.closed
    if wants is not None:
        filters["posconstraint"] = lambda left: left[[wants(p.atoms) for p in left.patterns()]]
    if min_cover := asked.min_cover:
        filters["min_cover"] = lambda left: left.covering(X, min_cover, asked.measure)
    if (top_k := asked.top_k) is not None:
        filters["top_k"] = lambda left: left.top_k(top_k, asked.measure)
    removed: dict[str, int] = {}
    left = found
    for name, apply in filters.items():
        smaller = apply(left)
        removed[name] = len(left) - len(smaller)
        left = smaller
    report = replace(found.report, removed={**found.report.removed, **removed})
    return found.with_rows(left.rows, report=report)


def _check_most(name: str, value: Any) -> None:
    """Raise for what is neither a share nor a number of sequences."""
    is_count = isinstance(value, int | np.integer)
    if not is_number(value) or value < 0 or (value > 1 and not is_count):
        raise InputError(
            f"{name} is {value!r}: give a share from 0.0 to 1.0, or a number of sequences, "
            "an integer of at least 0"
        )
