"""What the engines of the miner share: conditions, tallies, what is found and what is forbidden."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from threading import Event, get_ident
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from relynx.logic.terms import Atom, Var
from relynx.mining.budget import Budget, OverBudget
from relynx.mining.engines._canonical_kernels import UNUSED
from relynx.mining.engines.compiled import Compiled
from relynx.mining.patterns.trie import link_atom
from relynx.mining.report import SearchLevel
from relynx.mining.workers import Stopped, in_order
from relynx.storage import Journal

Longs = NDArray[np.int64]
Counted: TypeAlias = tuple[NDArray[Any], ...]
CHECKS_AT_ONCE = 64  # of patterns by the constraints of a bias, before the search asks


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a pattern must satisfy to be kept, and refined."""

    least: Longs  # for each class the smallest support that suffices by itself
    min_frequency: int
    max_length: int
    steps: tuple[int, ...]  # of links: 0 is follow, 1 next
    is_key: Callable[[Atom], bool] | None = None
    forbids: Callable[[Sequence[Atom]], bool] | None = None
    admits: Callable[[Atom], bool] | None = None


ORDERING = 3  # times the bytes of what was found: what it takes to put that in order
STATS = 7  # numbers that a compiled loop tallies: see `SearchLevel.add`


@dataclass(slots=True)
class Found:
    """Patterns in the order of their discovery, as the columns of a trie. Some rows may be there
    only because others extend them."""

    parent: list[NDArray[np.int32]] = field(default_factory=list)
    steps: list[NDArray[np.int32]] = field(default_factory=list)
    supports: list[NDArray[np.int32]] = field(default_factory=list)
    shown: list[NDArray[np.bool_]] = field(default_factory=list)
    covered: list[NDArray[np.uint64]] = field(default_factory=list)  # of those shown, as bits
    n_rows: int = 0
    n_patterns: int = 0
    n_bytes: int = 0  # that the result will need beside this

    def taken_coverage(self, n_words: int) -> NDArray[np.uint64]:
        """The bits of all patterns shown, as one array. Each part is let go once it is copied."""
        bits = np.empty((sum(map(len, self.covered)), n_words), np.uint64)
        end = len(bits)
        while self.covered:
            part = self.covered.pop()
            bits[end - len(part) : end] = part
            end -= len(part)
        return bits

    def add(
        self,
        parent: int | Longs,
        steps: NDArray[np.integer],
        supports: NDArray[np.int32],
        shown: NDArray[np.bool_] | None = None,
    ) -> None:
        shown = np.ones(len(steps), bool) if shown is None else shown
        parents = np.asarray(parent, np.int32)
        self.parent.append(parents if parents.ndim else np.full(len(steps), parents))
        self.steps.append(steps.astype(np.int32, copy=False))
        self.supports.append(supports)
        self.shown.append(shown)
        self.n_rows += len(steps)
        self.n_patterns += int(shown.sum())
        whole = len(steps) * (5 + 4 * (steps.shape[1] + supports.shape[1]))
        self.n_bytes += (1 + ORDERING) * whole

    def columns(self, width: int, n_classes: int, *, let_go: bool = True) -> list[NDArray[Any]]:
        """Parents, steps, supports and what is shown, each in one piece. The parts are let go where
        the search is over: there may be room for them only once."""
        whole = []
        for parts, shape, dtype in (
            (self.parent, (0,), np.int32),
            (self.steps, (0, width), np.int32),
            (self.supports, (0, n_classes), np.int32),
            (self.shown, (0,), bool),
        ):
            whole.append(np.concatenate([np.empty(shape, dtype), *parts]))
            if let_go:
                parts.clear()
        return whole


def _never() -> None:
    """Nobody asks."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """Work for one thread: some children of a pattern that are of one length, to be refined."""

    makes: int  # the least length of what they become
    chain: NDArray[Any]  # the steps of the pattern
    rows: Longs  # of the children in the trie
    steps: NDArray[Any]  # of the children
    # Further links of their new events, where an engine adds them at once.
    extra: Longs = field(default_factory=lambda: np.empty((0, 0, 4), np.int64))


B = TypeVar("B")  # what one thread needs for itself
D = TypeVar("D")


class Engine(ABC, Generic[B, D]):
    """One search of a language in some data. It goes through units of work, level by level. Threads
    count and decode; what they found is kept in the order of the units by one thread, which alone
    knows what was found before."""

    def __init__(
        self,
        compiled: Compiled,
        labels: NDArray[np.int64],
        n_classes: int,
        conditions: Conditions,
        *,
        object_identity: bool,
        keep_coverage: bool = False,
    ) -> None:
        self.compiled, self.conditions = compiled, conditions
        self.n_covered = -(-len(labels) // 64) if keep_coverage else 0  # words of a pattern
        self.labels, self.n_classes = labels, n_classes
        self.object_identity = object_identity
        self.class_sizes = np.bincount(labels, minlength=n_classes)
        self.width = 1 + max([2, *(len(types) for types in compiled.types)])
        checks = (conditions.is_key, conditions.admits, conditions.forbids)
        self.has_checks = any(check is not None for check in checks)
        self.found = Found()
        self.tallies: dict[int, SearchLevel] = {}
        self.budget = Budget()
        # Which coverages, as bits, nobody asks for: a pattern that nothing refines is not kept.
        self.is_known: Callable[[NDArray[np.uint64]], NDArray[np.bool_]] | None = None
        self._seen: set[bytes] = set()
        self._n_checks = 0
        self._idle: list[B] = []
        self._ask: Callable[[], None] = _never
        self._thread = get_ident()
        self._ending = Event()
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Arrange the data for the kernels."""

    @abstractmethod
    def _begin(self) -> list[Siblings]:
        """The first units."""

    @abstractmethod
    def _buffers(self) -> B:
        """What one thread needs for itself."""

    @abstractmethod
    def _count(self, unit: Siblings, buffers: B) -> Counted:
        """The frequent refinements in few numbers, and the tallies of the others."""

    @abstractmethod
    def _decode(self, unit: Siblings, counted: Counted) -> D:
        """What else can be said of the refinements without knowing what was found before."""

    @abstractmethod
    def _keep(self, unit: Siblings, counted: Counted, decoded: D) -> list[Siblings]:
        """Record what is new and allowed; the units that this makes, none of a lower length."""

    def run(self, budget: Budget, *, n_threads: int = 1, journal: Journal | None = None) -> int:
        """Search until done or the budget is used up; the length that is complete. A journal keeps
        what was counted; what it has is not counted again."""
        self.budget, self._thread = budget, get_ident()
        length = 1
        try:
            level = self._begin()
            while level:
                length = level[0].makes
                level = self._next_level(level, n_threads, journal)
        except Stopped:
            return length - 1
        except OverBudget as over:
            budget.over(length, *over.args)
            return length - 1
        finally:
            self._ask = _never
        return self.conditions.max_length

    def _go_on(self, length: int) -> None:
        """Ask the budget. Raises Stopped."""
        if not self.budget.goes_on(length, self.found.n_patterns, self.found.n_bytes):
            raise Stopped

    def _pulse(self) -> None:
        """Inside long work, in any thread: raises Stopped when the search ends, for any reason."""
        if self._ending.is_set():
            raise Stopped
        if get_ident() == self._thread:
            self._ask()

    def _room(self, shape: tuple[int, ...], dtype: DTypeLike, fill: int = 0) -> NDArray[Any]:
        """An array for counters or matches, if the budget has room for it."""
        self.budget.take(int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        return np.full(shape, fill, dtype) if fill else np.zeros(shape, dtype)

    def _next_level(
        self, level: list[Siblings], n_threads: int, journal: Journal | None
    ) -> list[Siblings]:
        """Go through the units of a level; those of the next one."""
        following: list[Siblings] = []
        while level:
            makes, made = level[0].makes, self.refine(level, n_threads, journal)
            following += [unit for unit in made if unit.makes != makes]
            level = [unit for unit in made if unit.makes == makes]  # as long as what they refine
        return following

    def begin(self, budget: Budget) -> list[Siblings]:
        """The first units of a search whose steps the caller chooses by `refine`."""
        self.budget, self._thread = budget, get_ident()
        self._ask = partial(self._go_on, 1)
        return self._begin()

    def refine(
        self, units: list[Siblings], n_threads: int, journal: Journal | None = None
    ) -> list[Siblings]:
        """The units that some units make, in their order."""
        made: list[Siblings] = []
        self._ask = partial(self._go_on, units[0].makes)
        with closing(self._results(units, n_threads, journal)) as results:
            for unit, (counted, decoded) in zip(units, results, strict=True):
                made += self._keep(unit, counted, decoded)
        return made

    def _results(
        self, level: list[Siblings], n_threads: int, journal: Journal | None
    ) -> Generator[tuple[Counted, D], None, None]:
        """What comes out of each unit, in their order: from a journal as far as it goes."""
        n_kept = 0
        if journal is not None:
            for unit, counted in zip(level, journal.kept(), strict=False):
                self._ask()
                n_kept += 1
                yield counted, self._decode(unit, counted)
        self._ending = Event()
        left = in_order(self._work, level[n_kept:], n=n_threads, ask=self._ask, ending=self._ending)
        with closing(left) as results:
            for counted, decoded in results:
                if journal is not None:
                    journal.add(counted)
                yield counted, decoded

    def _work(self, unit: Siblings) -> tuple[Counted, D]:
        """What a thread does with a unit."""
        try:
            buffers = self._idle.pop()
        except IndexError:
            buffers = self._buffers()
        counted = self._count(unit, buffers)
        decoded = self._decode(unit, counted)
        self._idle.append(buffers)
        return counted, decoded

    def _admitted(
        self, forms: Iterable[bytes | None], atoms: Callable[[int], Longs], *, first: bool
    ) -> tuple[list[int], list[int]]:
        """Which patterns are new and not against the bias, and which are new but against it.
        Variants have the same form; it is None where an atom comes twice, or empty where no two
        patterns can be variants."""
        kept: list[int] = []
        forbidden: list[int] = []
        for i, form in enumerate(forms):
            if form is None or form in self._seen:
                continue
            if form:
                self._seen.add(form)
            against = self.has_checks and self._is_forbidden(atoms(i), first=first)
            (forbidden if against else kept).append(i)
        return kept, forbidden

    def _is_forbidden(self, atoms: Longs, *, first: bool) -> bool:
        """Is a pattern, of rows of numbers, against the bias? `first`: it has one atom. To check
        many may take long: from time to time it asks whether to go on."""
        self._n_checks += 1
        if self._n_checks % CHECKS_AT_ONCE == 0:
            self._pulse()
        conditions = self.conditions
        if first and conditions.is_key and not conditions.is_key(self._atom(atoms[-1])):
            return True
        if conditions.admits and not conditions.admits(self._atom(atoms[-1])):
            return True
        return bool(conditions.forbids and conditions.forbids([self._atom(atom) for atom in atoms]))

    def _atom(self, atom: Longs) -> Atom:
        """The atom that a row of numbers stands for; links are numbered after the relations."""
        vocabulary = self.compiled.index.facts.vocabulary
        predicate, *args = atom.tolist()
        n_relations = len(self.compiled.relations)
        terms = [Var(f"V{a}") if a >= 0 else vocabulary[~a] for a in args if a > UNUSED]
        if predicate < n_relations:
            return Atom(self.compiled.relations[predicate][0], tuple(terms))
        n, i = divmod(predicate - n_relations, len(self.compiled.dimensions))
        name = self.compiled.index.dimension_names[self.compiled.dimensions[i]]
        return link_atom(name, n, terms)
