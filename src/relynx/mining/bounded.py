"""A language without thresholds, searched as far as a bound asks for it.

A pattern covers a part of what it refines covers. So where each sequence has a value, the sum of
the values over what any refinement covers lies between the sums of the negative and of the positive
values over what the pattern covers, and is refined only if that bound exceeds what is asked for.
What was counted stays, so that later questions, with other values, begin where earlier ones ended.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from relynx.arrays import Bools, Floats, Longs
from relynx.bias import Bias
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.mining import _level_kernels as lk
from relynx.mining.budget import Budget, OverBudget
from relynx.mining.engines.base import Siblings
from relynx.mining.patterns.ordering import canonical_order
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.report import SearchLevel, SearchReport
from relynx.mining.search import found_trie, prepared
from relynx.mining.workers import Stopped
from relynx.search_settings import SearchSettings

FEW_COLUMNS = 1 << 12  # that are summed by one thread


class Language:
    """The patterns of a language that were counted, and those that wait to be refined. Patterns
    that cover the same sequences share a *column*. One is `usable` if it is of a pattern that the
    language shows, and these sequences are not all."""

    def __init__(
        self,
        X: Sequences,
        bias: Bias,
        settings: SearchSettings,
        *,
        n_threads: int = 1,
        only: Set[int] | None = None,
    ) -> None:
        self.X, self.n_threads, self.bias, self.only = X, n_threads, bias, only
        self.settings = replace(settings, min_support=0.0, min_frequency=1, min_cover=None)
        labels = np.zeros(len(X), np.int64)
        self.search = prepared(X, labels, 1, bias, self.settings, keep_coverage=True)
        self.budget = Budget()
        self.reason: str | None = None  # why not all that was asked for was counted
        random = np.random.default_rng(0)
        self._odd = random.integers(1 << 62, 1 << 63, -(-len(X) // 64), np.uint64) | np.uint64(1)
        self._column_of: dict[int, int] = {}  # by a number made of what it covers
        self._offset, self._rows = np.zeros(1, np.int64), np.empty(0, np.int32)
        self._usable = np.empty(0, bool)
        self._columns = np.empty(0, np.int64)  # by row of the trie, -1 for none
        self._n_parts = self._n_rows = 0
        # With these a pattern may be no answer, and another one of its column is.
        if not bias.selective or only is not None:
            self.search.is_known = self._is_known
        try:
            self._waiting = self.search.begin(self.budget)
        except (Stopped, OverBudget):
            self.budget.over(1)
            hint = "give a smaller bias, or more memory"
            what = f"the search of the language {self.budget.reason}"
            raise InputError(what, hint=hint) from None
        self._take()

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._column_of)

    @property
    def nodes(self) -> int:
        """How many candidates were counted, repeated ones included."""
        return sum(level.occurred for level in self.search.tallies.values())

    @property
    def usable(self) -> Bools:
        return self._usable[: len(self)]

    def columns(self, some: Longs) -> tuple[Longs, NDArray[np.int32]]:
        """Offsets, and the rows of some columns one after the other."""
        starts, sizes = self._offset[some], self._offset[some + 1] - self._offset[some]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(offset[-1]) + np.repeat(starts - offset[:-1], sizes)
        return offset, self._rows[places]

    def sums(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of some values of each sequence over each column, array of shape (n_columns,
        n_values), and of each column the bound on those of all refinements."""
        values = np.ascontiguousarray(values.T)
        out, bounds = np.empty((len(self), values.shape[1])), np.empty(len(self))
        n_parts = self.n_threads if len(self) > FEW_COLUMNS else 1
        cuts = np.linspace(0, len(self), n_parts + 1).astype(np.int64).tolist()
        jobs = (
            delayed(lk.masses)(self._offset, self._rows, values, begin, end, out, bounds)
            for begin, end in pairwise(cuts)
        )
        Parallel(n_parts, prefer="threads")(jobs)
        return out, bounds

    def open_bound(self, bounds: Floats) -> float:
        """The largest bound of what waits to be refined; 0 where nothing waits."""
        return max((float(bounds[self._of(one)].max()) for one in self._waiting), default=0.0)

    def grow(self, is_open: Bools) -> bool:
        """Refine what waits of some columns; whether there was any, and room for it."""
        wanted: list[Siblings] = []
        left: list[Siblings] = []
        for unit in self._waiting:
            now = is_open[self._of(unit)]
            for flags, units in ((now, wanted), (~now, left)):
                if flags.any():
                    rows, steps = unit.rows[flags], unit.steps[flags]
                    extra = unit.extra[flags] if len(unit.extra) else unit.extra
                    units.append(replace(unit, rows=rows, steps=steps, extra=extra))
        if not wanted or self.reason is not None:
            return False
        try:
            left += self.search.refine(wanted, self.n_threads)
        except (Stopped, OverBudget) as ended:
            if isinstance(ended, OverBudget):
                self.budget.over(wanted[0].makes, *ended.args)
            self.reason, left = self.budget.reason, left + wanted
        self._waiting = left
        self._take()
        return self.reason is None

    def patterns(self, columns: Longs) -> tuple[PatternSet, Longs]:
        """Of each of some columns the first pattern; in canonical order, which is returned too."""
        offset, covered = self.columns(columns)
        sizes = np.diff(offset)
        inside = np.zeros((len(columns), len(self.X)))
        inside[np.repeat(np.arange(len(columns)), sizes), covered] = np.repeat(1 / sizes, sizes)
        numbers = [*self._column_of]
        wanted = [numbers[column] for column in columns.tolist()]
        # What is found first depends on the order of the sequences: all that cover the same are
        # searched for, among what covers all of it.
        data = self.X, self.bias, self.settings
        again = Language(*data, n_threads=self.n_threads, only={*wanted})
        while again.grow(np.any(again.sums(inside)[0] > 1 - 1e-9, axis=1)):
            pass
        if again.reason is not None:
            again = self
        trie, _ = found_trie(again.search, self.bias, (0,))
        places = {again._column_of.get(number, -1): i for i, number in enumerate(wanted)}
        found = again._columns[: again._n_rows]
        rows = canonical_order(trie, np.flatnonzero(np.isin(found, [*places])))
        if self.bias.selective:
            rows = self._wanted(trie, rows)
        first = np.sort(np.unique(found[rows], return_index=True)[1])
        order = np.array([places[column] for column in found[rows[first]].tolist()], np.int64)
        return self._set(trie, rows[first]), order

    def _set(self, trie: Any, rows: Longs) -> PatternSet:
        levels = tuple(level for _, level in sorted(self.search.tallies.items()))
        return PatternSet(
            trie,
            rows,
            complete_up_to=self.settings.max_length,
            partial=self.reason,
            report=SearchReport(levels or (SearchLevel(1),)),
            object_identity=self.settings.object_identity,
        )

    def _of(self, unit: Siblings) -> Longs:
        return self._columns[unit.rows]

    def _is_known(self, covered: NDArray[np.uint64]) -> Bools:
        self._take()
        numbers, only = self._numbers(covered), self.only
        known = self._column_of if only is None else {*numbers} - only
        return np.array([number in known for number in numbers], bool)

    def _numbers(self, covered: NDArray[np.uint64]) -> list[int]:
        numbers: list[int] = lk.hashes(covered, self._odd, np.empty(len(covered), "u8")).tolist()
        return numbers

    def _take(self) -> None:
        """Make columns of what the search has found since the last time."""
        found, start = self.search.found, self._n_rows
        for i, covered in enumerate(found.covered, self._n_parts):
            n, shown = len(self), found.shown[i]
            columns = np.full(len(shown), -1)
            columns[shown] = [
                self._column_of.setdefault(number, len(self._column_of))
                for number in self._numbers(covered)
            ]
            rows = np.flatnonzero(shown)
            new, first = np.unique(columns[rows], return_index=True)
            fresh = first[new >= n]
            words = np.ascontiguousarray(covered[fresh])
            sizes = found.supports[i][rows[fresh], 0].astype(np.int64)
            ends = self._offset[n] + np.cumsum(sizes)
            ones = lk.rows_of_bits(words, np.empty(int(sizes.sum()), np.int32))
            self._rows = _with(self._rows, int(self._offset[n]), ones)
            self._offset = _with(self._offset, n + 1, ends)
            is_usable = (sizes < len(self.X)) & (not self.bias.selective)
            self._usable = _with(self._usable, n, is_usable)
            self._columns = _with(self._columns, self._n_rows, columns)
            self._n_rows += len(shown)
        self._n_parts += len(found.covered)
        found.covered.clear()
        if self.bias.selective and self._n_rows > start:
            self._find_usable(start)

    def _find_usable(self, start: int) -> None:
        """Which columns patterns that the bias wants have."""
        rows = start + np.flatnonzero(self._columns[start : self._n_rows] >= 0)
        columns = self._columns[rows]
        not_all = self._offset[columns + 1] - self._offset[columns] < len(self.X)
        rows = rows[not_all & ~self._usable[columns]]
        trie, _ = found_trie(self.search, self.bias, (0,), let_go=False)
        self._usable[self._columns[self._wanted(trie, rows)]] = True

    def _wanted(self, trie: Any, rows: Longs) -> Longs:
        """Those of some rows whose patterns the bias wants."""
        every = self._set(trie, rows).patterns()
        return rows[[self.bias.wants(pattern.atoms) for pattern in every]]


def _with(buffer: NDArray[Any], n: int, values: NDArray[Any]) -> NDArray[Any]:
    """A buffer with values from its n-th place on; one twice as large where it has no room."""
    if n + len(values) > len(buffer):
        buffer = np.concatenate([buffer[:n], np.empty(max(n, len(values)), buffer.dtype)])
    buffer[n : n + len(values)] = values
    return buffer
