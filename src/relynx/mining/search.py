"""`mine`: every frequent pattern that a bias allows, each once."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.bias.constraints import matched
from relynx.data.sequences import Sequences
from relynx.logic.terms import Atom, Term, Var
from relynx.mining import chains, webs
from relynx.mining._kernels import GRAPH
from relynx.mining.answer import answer
from relynx.mining.engine import Conditions, Engine, Found, Level
from relynx.mining.growth import Growth
from relynx.mining.index import Index
from relynx.mining.language import Compiled, compile_bias
from relynx.mining.pattern_set import PatternSet
from relynx.mining.search_input import check_filters, check_limits, classes_of, settings_of
from relynx.mining.search_report import Progress, SearchLevel, SearchReport
from relynx.mining.trie import ARGUMENTS, Trie

SLACK = 1e-9  # shares are compared with thresholds up to this
PROGRESS_EVERY = 0.2  # seconds


def mine(
    X: Sequences,
    y: Iterable[object] | None = None,
    bias: Bias | None = None,
    *,
    min_support: float | None = None,
    min_frequency: int | None = None,
    max_length: int | None = None,
    max_gap: int | None = None,
    object_identity: bool | None = None,
    min_confidence: float | None = None,
    max_support: Mapping[object, float] | None = None,
    closed: bool = False,
    min_cover: int | None = None,
    top_k: int | None = None,
    measure: str = "confidence",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> PatternSet:
    """Find every frequent pattern that a bias allows, each exactly once.

    Parameters
    ----------
    X, y
        Sequences and their classes; without y those of X, without any one class for all.
    bias
        What patterns may be made of; None infers a simple one from the data.
    min_support
        A pattern is kept when it covers at least this share of some class (0.1).
    min_frequency
        And at least so many sequences in all (1).
    max_length
        The largest number of atoms, links not counted (3).
    max_gap
        The largest n of `followat` (2).
    object_identity
        Whether different variables stand for different constants (True).
    min_confidence, max_support, closed, min_cover, top_k, measure
        Filters of the answer, which the search does not depend on: the least share of some class
        in what a pattern covers; the most of given classes that it covers, a share `{"no": 0.05}`
        or, as an integer, a number of sequences `{"no": 2}`; drop a pattern when a more specific
        one covers the same; see `PatternSet`.
    time_limit, memory_limit
        Seconds and bytes; the answer is then partial and says up to which length it is complete.
    progress
        Called with a `Progress` from time to time. Where it returns False the search ends, and
        the answer is partial.

    Where a setting is not given, that of the bias is used, then the default in brackets.

    Returns
    -------
    PatternSet

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.from_lists([["a", "b"], ["a", "c", "b"], ["b", "a"]], ["up", "up", "down"])
    >>> found = rx.mine(X, y, min_support=0.9, max_length=2)
    >>> [str(entry.pattern) for entry in found if entry.confidence["up"] == 1]
    ['a(A), follow_s(A,B), b(B)']
    """
    check_limits(time_limit, memory_limit, progress)
    watch = _Watch(time_limit, memory_limit, progress)
    labels, classes = classes_of(X, y)
    bias = Bias.infer(X, labels) if bias is None else bias
    if not isinstance(bias, Bias):
        raise TypeError(f"bias is a {type(bias).__name__}: give a Bias, or read one by parse_bias")
    bias.check(X)
    settings = settings_of(
        bias, min_support, min_frequency, max_length, max_gap, object_identity, min_cover
    )
    check_filters(
        classes=classes,
        min_confidence=min_confidence,
        max_support=max_support,
        closed=closed,
        top_k=top_k,
        measure=measure,
    )
    sizes = np.bincount(labels, minlength=len(classes))
    index = Index.of(X.facts(settings.object_identity))
    compiled = compile_bias(bias, index)
    off, rest = _operators_off(bias)
    conditions = Conditions(
        least=np.maximum(np.ceil(settings.min_support * sizes - SLACK), 1).astype(np.int64),
        min_frequency=max(settings.min_frequency, 1),
        max_length=settings.max_length,
        steps=_steps(settings.max_gap, off, compiled),
        is_key=_key_test(bias.key),
        forbids=rest.forbids if rest.constrained else None,
        admits=bias.admits if bias.allowed else None,
    )
    search = _engine(compiled, conditions, settings.object_identity)(
        compiled, labels, len(classes), conditions, object_identity=settings.object_identity
    )
    complete = search.run(lambda length: watch.goes_on(length, search.found.n_patterns))
    found = PatternSet(
        _trie(search.found, compiled, classes, sizes),
        np.flatnonzero(np.concatenate([np.empty(0, bool), *search.found.shown])),
        complete_up_to=complete,
        partial=watch.reason,
        report=SearchReport(_levels(search.tallies)),
        object_identity=settings.object_identity,
    )
    return answer(
        found,
        X,
        wants=bias.wants if bias.posconstraints else None,
        min_confidence=min_confidence,
        max_support=max_support,
        closed=closed,
        min_cover=settings.min_cover,
        top_k=top_k,
        measure=measure,
    )


def _engine(compiled: Compiled, conditions: Conditions, object_identity: bool) -> type[Engine]:
    """The fastest engine that can search a language."""
    if chains.fits(compiled, conditions, object_identity=object_identity):
        return chains.Chains
    if webs.fits(compiled, conditions, object_identity=object_identity):
        return webs.Webs
    return Growth


def _operators_off(bias: Bias) -> tuple[set[int], Bias]:
    """Operators that a negconstraint of one link rules out, as numbers of steps, and the rest.

    Only in a bias of one dimension: then no link of that kind need ever be tried.
    """
    off: set[int] = set()
    rest = []
    names = {
        f"{op}_{name}": n for name in bias.dimensions for op, n in (("follow", 0), ("next", 1))
    }
    for constraint in bias.negconstraints:
        link = constraint[0] if len(constraint) == len(bias.dimensions) == 1 else None
        if isinstance(link, Atom) and link.predicate in names and _all_different(link.args):
            off.add(names[link.predicate])
        else:
            rest.append(constraint)
    return off, replace(bias, negconstraints=tuple(rest)) if off else bias


def _all_different(args: tuple[Term, ...]) -> bool:
    names = [arg.name for arg in args if isinstance(arg, Var) and not arg.anonymous]
    return all(isinstance(arg, Var) for arg in args) and len(set(names)) == len(names)


def _steps(max_gap: int, off: set[int], compiled: Compiled) -> tuple[int, ...]:
    """The operators to try, as numbers of steps: none longer than a line of the data."""
    index = compiled.index
    dimensions = [index.dimensions[d] for d in compiled.dimensions]
    if not any(bool((d.shape == GRAPH).any()) for d in dimensions):
        max_gap = min(max_gap, max(int(np.diff(index.node_off).max(initial=0)) - 1, 1))
    return tuple(n for n in range(max_gap + 1) if n not in off)


def _key_test(keys: tuple[Atom, ...]) -> Callable[[Atom], bool] | None:
    """Is an atom an instance of a key: the same predicate, constants and repeated variables?"""
    if not keys:
        return None

    def is_key(atom: Atom) -> bool:
        return any(matched(key, atom, {}) is not None for key in keys)

    return is_key


class _Watch:
    """Ends a search when its time or memory is used up, and reports progress on the way."""

    def __init__(
        self,
        time_limit: float | None,
        memory_limit: int | None,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self.start = time.monotonic()
        self.time_limit, self.memory_limit, self.progress = time_limit, memory_limit, progress
        self.reason: str | None = None
        self._told = self.start

    def goes_on(self, length: int, n_patterns: int) -> bool:
        now = time.monotonic()
        if self.time_limit is not None and now - self.start > self.time_limit:
            self.reason = f"stopped by time_limit={self.time_limit:g} at length {length}"
            return False
        if now - self._told < PROGRESS_EVERY:
            return True
        self._told = now
        memory = _resident()
        if self.memory_limit is not None and memory > self.memory_limit:
            self.reason = f"stopped by memory_limit={self.memory_limit:,} at length {length}"
            return False
        if self.progress is not None:
            told = self.progress(Progress(length, n_patterns, now - self.start, memory))
            if told is False:
                self.reason = f"stopped by the caller at length {length}"
                return False
        return True


def _resident() -> int:
    """Bytes of memory that the process holds; its peak where the system tells no more."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _levels(tallies: Mapping[int, Level]) -> tuple[SearchLevel, ...]:
    if not tallies:
        return (SearchLevel(1, 0, 0, 0, 0, 0),)
    return tuple(
        SearchLevel(
            length,
            tally.occurred,
            tally.infrequent,
            tally.unsupported,
            tally.forbidden,
            tally.kept,
            tally.nearest_share or None,
            tally.nearest_frequency or None,
            tally.n_nearest_share,
            tally.n_nearest_frequency,
        )
        for length, tally in sorted(tallies.items())
    )


def _trie(
    found: Found, compiled: Compiled, classes: tuple[object, ...], sizes: NDArray[np.int64]
) -> Trie:
    width = ARGUMENTS + max([2, *(len(types) for types in compiled.types)])
    return Trie(
        parent=np.concatenate([np.empty(0, np.int32), *found.parent]),
        steps=np.concatenate([np.empty((0, width), np.int32), *found.steps]),
        supports=np.concatenate([np.empty((0, len(classes)), np.int32), *found.supports]),
        relations=compiled.relations,
        dimensions=compiled.index.dimension_names,
        vocabulary=compiled.index.facts.vocabulary,
        classes=classes,
        class_sizes=sizes,
    )
