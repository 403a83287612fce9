"""`mine` over partitions: each is searched by itself, and what any of them found is counted in all.

Let a class have N sequences, n of them in a partition. A pattern that covers at least s of the N
covers at least s n/N of the n in some partition: else it would cover less than s in all. So what is
frequent in the whole is frequent, by that measure, in some partition, and the union of what the
partitions have, counted everywhere, holds the answer. The same is true of `min_frequency` and all
sequences, but perhaps by another partition, so one of the two is asked of each partition.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Longs
from relynx.bias import Bias
from relynx.data.event_arguments import Argument, event_arguments
from relynx.data.parquet import Partitions
from relynx.errors import DataError, InputError
from relynx.logic.tables import Key
from relynx.mining.budget import Budget
from relynx.mining.engines.choose import least_supports, steps_of
from relynx.mining.engines.compiled import Compiled, compile_bias
from relynx.mining.input_checks import given_classes, ordered_classes
from relynx.mining.matching.index import Index
from relynx.mining.partitioned import candidates as cd
from relynx.mining.partitioned import passes as pt
from relynx.mining.patterns.ordering import canonical_order
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.patterns.trie import Trie
from relynx.mining.report import SearchLevel, SearchReport, advice
from relynx.search_settings import SearchSettings

NEVER = (1 << 31) - 1  # sequences that a pattern must cover of a class that is not there
FEW = 5  # sequences of a partition that make a pattern frequent there: then nearly all are
RETRIES = 2  # of a task that failed: a disk may have been away for a moment
AT_ONCE = 8  # results that one task joins


class InProcess:
    """One task after the other, here. A result is made when it is asked for, and not kept."""

    at_once = 1  # tasks that run at a time

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """A result, or what stands for it, and can be an argument again."""
        return function(*args)

    def each(self, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Any:
        """The results of many calls, in order, or what stands for them."""
        return (function(*args) for args in calls)

    def values(self, results: Any) -> list[Any]:
        return list(results)

    def joined(self, join: Callable[[Sequence[Any]], Any], results: Any) -> Any:
        sofar = None
        for result in results:
            sofar = join([result] if sofar is None else [sofar, result])
        return sofar


class OnWorkers:
    """The workers of a client: of Dask, or of what can `submit` and `gather` as it does. A task
    whose worker dies is given to another by the scheduler."""

    def __init__(self, client: Any) -> None:
        for name in ("submit", "gather", "nthreads"):
            if not callable(getattr(client, name, None)):
                hint = "give a dask.distributed.Client, or None to work in this process"
                what = f"client is a {type(client).__name__}, which has no {name}"
                raise InputError(what, hint=hint)
        self.client = client

    @property
    def at_once(self) -> int:
        return max(int(sum(self.client.nthreads().values())), 1)

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.client.submit(function, *args, pure=False, retries=RETRIES)

    def each(self, function: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> Any:
        return [self.run(function, *args) for args in calls]

    def values(self, results: Any) -> list[Any]:
        try:
            answers: list[Any] = self.client.gather(list(results))
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported here
                what = "the workers died again and again at one partition"
                hint = "their memory may be too small for it: write more, smaller partitions"
                raise InputError(what, hint=hint) from error
            raise
        return answers

    def joined(self, join: Callable[[Sequence[Any]], Any], results: Any) -> Any:
        """In the form of a tree, so that no worker and not the client ever holds all results."""
        left = list(results)
        while True:
            groups = [left[i : i + AT_ONCE] for i in range(0, len(left), AT_ONCE)]
            left = [self.run(join, group) for group in groups]
            if len(left) == 1:
                return left[0]


Tasks: TypeAlias = InProcess | OnWorkers


def check_partitions(
    parts: Partitions,
    y: Iterable[object] | None,
    bias: object,
    checkpoint: object,
    keep_coverage: bool = False,
) -> tuple[object, ...]:
    """The classes of a folder. Raises InputError for what only sequences in memory can have."""
    if keep_coverage:
        what = "keep_coverage is for sequences in memory, not for partitions"
        raise InputError(what, hint="leave it out, or give parts.load()")
    if bias is None:
        hint = "Bias.infer(parts.partition(0)) infers one from the first of them"
        raise InputError("partitions are mined with a bias that is given", hint=hint)
    if checkpoint is not None:
        what = "a checkpoint is of a search of sequences in memory, not of partitions"
        raise InputError(what, hint="leave it out, or give parts.load()")
    return _classes(parts, y)[1]


class PartitionSearch:
    """One search of a folder; `y` are labels in place of its own. See `mine`, which checks what is
    given."""

    def __init__(
        self,
        parts: Partitions,
        y: Iterable[object] | None,
        bias: Bias,
        settings: SearchSettings,
        client: Any,
    ) -> None:
        if settings.min_cover:
            what = "min_cover needs all sequences at once, which partitions are not"
            way_out = f"choose by covering(X, {settings.min_cover}) from the answer"
            raise InputError(what, hint=f"give min_cover=0, and {way_out}")
        self.parts, self.bias, self.settings = parts, bias, settings
        self.tasks: Tasks = InProcess() if client is None else OnWorkers(client)
        self.sizes, classes, labels = _classes(parts, y)
        self.shares = [
            pt.Share(i, None if labels is None else labels[i])
            for i, n in enumerate(parts.sizes)
            if n
        ]
        self.work = pt.Work(pt.Where.of(parts), bias, settings, classes)
        self.n_known = parts.manifest.n_constants
        least = least_supports(settings, self.sizes.sum(axis=0))
        self.threshold = cd.Threshold(least, max(settings.min_frequency, 1))

    def run(self, budget: Budget, n_threads: int) -> PatternSet:
        """All frequent patterns, before the filters of the answer. The budget says what the
        searches may take, and is told whether one ended by a limit that nobody has set."""
        places, summaries = self._summaries()
        # The language of all partitions, without their facts.
        facts = self.parts.without_sequences().facts(self.settings.object_identity)
        compiled = compile_bias(self.bias, Index.of(facts))
        rounds = -(-len(self.shares) // self.tasks.at_once)
        local = pt.Local(
            places=places,
            steps=steps_of(
                self.bias,
                self.settings,
                max(summary.longest for summary in summaries),
                graphs=any(summary.graphs for summary in summaries),
            ),
            least=self.threshold.least,
            min_frequency=1,
            n_partitions=self.parts.n_partitions,
            # For the search of a partition, and as much for counting in it.
            time_limit=None if budget.time_limit is None else budget.time_limit / 2 / rounds,
            memory_limit=None if budget.is_default else budget.memory_limit,
            progress=budget.progress if isinstance(self.tasks, InProcess) else None,
            n_threads=n_threads,
        )
        joined, unseen = self._first_pass(local, compiled)
        left, (supports, counted_up_to) = self._second_pass(
            joined, unseen, compiled, local.time_limit
        )
        budget.is_unasked |= left.unasked
        patterns = replace(left.patterns, supports=left.patterns.supports + supports)
        complete, reason = left.complete_up_to, left.partial
        if reason is not None and budget.time_limit is not None:
            reason = reason.replace(f"={local.time_limit:g} ", f"={budget.time_limit:g} ")
        if counted_up_to is not None:
            complete = counted_up_to
            reason = f"stopped by time_limit={budget.time_limit:g} at length {complete + 1}"
            patterns = patterns.taken(cd.lengths_of(patterns) <= complete)
        return self._answer(patterns, compiled, complete, reason)

    # What decides how all are searched

    def _summaries(self) -> tuple[frozenset[Argument], list[pt.Summary]]:
        """The event arguments by all partitions, and what each is like if it takes those."""
        found = self.tasks.values(self.tasks.each(pt.look, [(self.work, s) for s in self.shares]))
        counts: dict[Argument, tuple[int, int]] = {}
        for summary in found:
            for place, (held, known) in summary.counts.items():
                before = counts.get(place, (0, 0))
                counts[place] = before[0] + held, before[1] + known
        places = event_arguments(counts)
        others = [i for i, summary in enumerate(found) if summary.places != places]
        again = self.tasks.each(pt.look, [(self.work, self.shares[i], places) for i in others])
        for i, summary in zip(others, self.tasks.values(again), strict=True):
            found[i] = summary
        for summary in found:
            if summary.wrong is not None:
                raise summary.wrong
        return places, found

    # The passes

    def _first_pass(self, local: pt.Local, compiled: Compiled) -> tuple[Any, cd.Unseen]:
        """What is frequent in some partition, joined, and the most that others cover of it."""
        least, frequency = self._local_thresholds()
        calls = []
        for share in self.shares:
            i = share.number
            own = replace(local, least=least[i], min_frequency=frequency[i])
            calls.append((self.work, share, own))
        answers = self.tasks.each(pt.search, calls)
        join = partial(
            _joined,
            n_known=self.n_known,
            relations=compiled.relations,
            n_dimensions=len(compiled.index.dimension_names),
        )
        return self.tasks.joined(join, answers), self._unseen(least, frequency)

    def _second_pass(
        self, joined: Any, unseen: cd.Unseen, compiled: Compiled, time_limit: float | None
    ) -> tuple[pt.LocalAnswer, pt.Counts]:
        """What may be frequent in all, and its supports where it was not counted before."""
        left = self.tasks.run(_left, joined, self.threshold, unseen)
        names = compiled.relations, compiled.index.dimension_names
        counts = self.tasks.each(
            pt.count, [(self.work, share, left, *names, time_limit) for share in self.shares]
        )
        answer, summed = self.tasks.values([left, self.tasks.joined(_summed, counts)])
        return answer, summed

    def _local_thresholds(self) -> tuple[Longs, list[int]]:
        """For each partition the least supports of the classes, and the least frequency. One of the
        two decides: the one that fewer patterns meet."""
        sizes, totals = self.sizes, self.sizes.sum(axis=0)
        least = -(-self.threshold.least * sizes // np.maximum(totals, 1))
        least = np.where(sizes > 0, least, NEVER)
        n, all_ = sizes.sum(axis=1), int(totals.sum())
        frequency = np.maximum(-(-self.threshold.min_frequency * n // all_), 1)
        if self.threshold.min_frequency > self.threshold.least.max():
            least = np.where(sizes > 0, 1, NEVER)
            self._warn_of_few(frequency[n > 0], self.threshold.min_frequency, "min_frequency")
        else:
            frequency = np.ones_like(frequency)
            few = least.min(axis=1)[n > 0]
            self._warn_of_few(few, int(self.threshold.least.min()), "min_support")
        return least, frequency.tolist()

    def _warn_of_few(self, local: Longs, whole: int, name: str) -> None:
        if local.min() >= FEW or local.min() >= whole:
            return
        n = int((local < min(FEW, whole)).sum())
        warnings.warn(
            f"in {n} of {len(local)} partitions a pattern is frequent that covers "
            f"{int(local.min())} of {whole} sequences: the first pass finds far too many; "
            f"write fewer, larger partitions, or give a larger {name}",
            UserWarning,
            stacklevel=6,
        )

    def _unseen(self, least: Longs, frequency: list[int]) -> cd.Unseen:
        """A pattern that a partition did not find is below its thresholds there."""
        by_frequency = np.array(frequency)[:, None] - 1
        of_class = np.minimum(np.where(least < NEVER, least - 1, 0), self.sizes)
        if by_frequency.any():
            of_class = np.minimum(by_frequency, self.sizes)
            return cd.Unseen(of_class, np.minimum(by_frequency[:, 0], self.sizes.sum(axis=1)))
        return cd.Unseen(of_class, of_class.sum(axis=1))

    # The answer

    def _answer(
        self, patterns: cd.Patterns, compiled: Compiled, complete: int, reason: str | None
    ) -> PatternSet:
        good = self.threshold.met(patterns.supports, patterns.supports.sum(axis=1))
        levels = self._levels(patterns, good)
        patterns = patterns.taken(patterns.with_ancestors(good & patterns.shown))
        vocabulary = self.parts.vocabulary.extended(patterns.made)
        names = compiled.relations, compiled.index.dimension_names, vocabulary
        columns = patterns.parent, patterns.steps, patterns.supports.astype(np.int32)
        sizes = self.sizes.sum(axis=0)
        trie = Trie(*columns, *names, self.work.classes, sizes, self.bias.key)
        rows = canonical_order(trie, np.flatnonzero(patterns.shown))
        return PatternSet(
            trie,
            rows,
            complete_up_to=complete,
            partial=reason,
            report=SearchReport(levels, advice=advice(trie, rows, self.bias) if reason else ()),
            object_identity=self.settings.object_identity,
        )

    def _levels(self, patterns: cd.Patterns, good: Bools) -> tuple[SearchLevel, ...]:
        """What became of the patterns that some partition found and that could be frequent."""
        lengths = cd.lengths_of(patterns)
        frequency = patterns.supports.sum(axis=1)
        share = (patterns.supports / np.maximum(self.sizes.sum(axis=0), 1)).max(axis=1, initial=0)
        enough = (patterns.supports >= self.threshold.least).any(axis=1)
        rare = frequency < self.threshold.min_frequency
        levels = []
        for length in np.unique(lengths).tolist() or [1]:
            here = patterns.shown & (lengths == length)
            near_share = share[here & ~rare & ~enough]
            near_frequency = frequency[here & rare & enough]
            levels.append(
                SearchLevel(
                    length,
                    occurred=int(here.sum()),
                    infrequent=int((here & rare).sum()),
                    unsupported=int((here & ~rare & ~enough).sum()),
                    forbidden=0,
                    kept=int((here & good).sum()),
                    nearest_support=near_share.max(initial=0.0) or None,
                    nearest_frequency=int(near_frequency.max(initial=0)) or None,
                    n_nearest_support=_how_many_are_largest(near_share),
                    n_nearest_frequency=_how_many_are_largest(near_frequency),
                )
            )
        return tuple(levels)


def _how_many_are_largest(values: NDArray[Any]) -> int:
    return int((values == values.max(initial=0)).sum())


def _joined(
    answers: Sequence[pt.LocalAnswer], n_known: int, relations: Sequence[Key], n_dimensions: int
) -> pt.LocalAnswer:
    """The patterns of several partitions; complete where all of them are."""
    return pt.LocalAnswer(
        cd.union([answer.patterns for answer in answers], n_known, relations, n_dimensions),
        min(answer.complete_up_to for answer in answers),
        next((answer.partial for answer in answers if answer.partial), None),
        any(answer.unasked for answer in answers),
    )


def _left(answer: pt.LocalAnswer, threshold: cd.Threshold, unseen: cd.Unseen) -> pt.LocalAnswer:
    """What may be frequent in all partitions. After a search that ended early, what no partition
    can have missed: short patterns."""
    if answer.partial is None:
        return replace(answer, patterns=cd.possible(answer.patterns, threshold, unseen))
    short = cd.lengths_of(answer.patterns) <= answer.complete_up_to
    return replace(answer, patterns=answer.patterns.taken(short))


def _summed(counts: Sequence[pt.Counts]) -> pt.Counts:
    """The counts of several partitions; complete where all of them are."""
    complete = [up_to for _, up_to in counts if up_to is not None]
    return np.sum([supports for supports, _ in counts], axis=0), min(complete, default=None)


def _classes(
    parts: Partitions, y: Iterable[object] | None
) -> tuple[Longs, tuple[object, ...], list[Longs] | None]:
    """How many sequences of each class each partition has, the classes, and the labels of `y`."""
    if not len(parts):
        raise DataError("there are no sequences to mine")
    if y is not None:
        numbers, classes = given_classes(y, len(parts))
        labels = np.split(numbers, np.cumsum(parts.sizes)[:-1])
        sizes = [np.bincount(own, minlength=len(classes)) for own in labels]
        return np.array(sizes, np.int64), classes, labels
    named = parts.manifest.classes
    if named is None:
        return np.array(parts.sizes, np.int64)[:, None], ("all",), None
    classes = ordered_classes(named)
    column = [classes.index(name) for name in named]
    counts = np.zeros((parts.n_partitions, len(classes)), np.int64)
    for i, part in enumerate(parts.manifest.parts):
        for c, n in zip(column, part.class_sizes, strict=False):
            counts[i, c] += n
    return counts, classes, None
