"""The bodies of rules: joins, negation, comparisons and arithmetic over all sequences at once.

The bindings of a body are a frame of columns, one for each variable and one for the sequence. A
body starts with one of its atoms and joins the others one by one; every test is made as soon as
its variables are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from relynx.arrays import Bools, Ints, Longs
from relynx.logic import arithmetic
from relynx.logic import tables as tb
from relynx.logic.arithmetic import Constants
from relynx.logic.dimensions import Chains, closure, operator_dimension, power, steps
from relynx.logic.tables import SEQUENCE, Frame, Index, Key, Packing, Relation, Table
from relynx.logic.terms import (
    Atom,
    Comparison,
    Literal,
    Rule,
    Term,
    Var,
    atom_of,
    same_terms,
    term_variables,
)


@dataclass(slots=True)
class _Selection:
    """The facts that match one atom of a rule: a column for each of its named variables."""

    frame: Frame
    indexes: dict[tuple[str, ...], Index] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame[SEQUENCE])


@dataclass(slots=True, eq=False)
class Plan:
    """A rule made ready: its atoms and tests by position in the body, and what OI keeps apart."""

    rule: Rule
    names: frozenset[str]
    objects: Ints
    selections: dict[int, _Selection] = field(default_factory=dict)
    inapplicable: dict[int, Ints] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Bodies:
    """Finds the bindings of rule bodies in tables that the caller adds to between two bodies;
    `limit` is called with the number of rows that a rule is about to make, and raises if it is too
    large."""

    tables: Mapping[Key, Table]
    growing: Mapping[Key, Relation]
    heads: Collection[Key]
    constants: Constants
    packing: Packing
    n_sequences: int
    limit: Callable[[int, Rule], None]
    object_identity: bool
    operators: dict[tuple[str, int | None], Table] = field(default_factory=dict)
    chains: dict[str, Chains | None] = field(default_factory=dict)

    def plan(self, rule: Rule) -> Plan:
        """A rule made ready for `bindings`."""
        names: set[str] = {v.name for v in rule.head.variables()}
        objects: list[int] = self.codes(rule.head.args)
        for literal in rule.body:
            names.update(v.name for v in literal.variables() if not v.anonymous)
            if not isinstance(literal, Comparison):
                objects += self.codes(_objects(atom_of(literal)))
        return Plan(rule, frozenset(names), np.array(sorted(set(objects)), np.int32))

    def codes(self, args: Iterable[object]) -> list[int]:
        return [self.constants.add(arg) for arg in args if isinstance(arg, str | int | float)]

    def bindings(self, plan: Plan, at: int | None, delta: Table | None) -> Frame:
        """All bindings of a rule's body, as far as its head needs them."""
        body = plan.rule.body
        selections: dict[int, _Selection] = {}
        for i, literal in enumerate(body):
            if isinstance(literal, Atom) and self._chains_of(literal) is None:
                selection = self._selected(plan, i, delta if i == at else None)
                if not len(selection):
                    return _empty(plan.names)
                selections[i] = selection
        atoms = [i for i, literal in enumerate(body) if isinstance(literal, Atom)]
        tests = [i for i, literal in enumerate(body) if not isinstance(literal, Atom)]
        frame: Frame | None = None
        if not selections:
            frame = {SEQUENCE: np.arange(self.n_sequences, dtype=np.int32)}
            frame, tests = self._tested(plan, frame, tests)
        while atoms:
            if frame is not None and not len(frame[SEQUENCE]):
                return _empty(plan.names)
            i = self._next_atom(plan, atoms, selections, frame)
            atoms.remove(i)
            if i not in selections:
                assert frame is not None, "an operator on chains is never the first of all atoms"
                frame = self._follow(plan, frame, i)
            elif frame is None:
                frame = selections[i].frame
            else:
                frame = self._joined(plan, frame, selections[i])
            frame, tests = self._tested(plan, frame, tests)
            frame = self._pruned(plan, frame, [*atoms, *tests])
        assert frame is not None
        return frame

    def _next_atom(
        self,
        plan: Plan,
        atoms: Sequence[int],
        selections: Mapping[int, _Selection],
        frame: Frame | None,
    ) -> int:
        """The atom to join next: bound ones first, then connected ones, then small ones."""

        def cost(i: int) -> tuple[bool, int, int]:
            literal = plan.rule.body[i]
            assert isinstance(literal, Atom)
            if i in selections:
                names = set(selections[i].frame) - {SEQUENCE}
                size = len(selections[i])
            else:
                names = {v.name for v in literal.variables()}
                size = sum(map(len, selections.values()))
            if frame is None:
                return i not in selections, size, i
            new = len(names - frame.keys())
            return new > 0 and new == len(names), new, size

        return min(atoms, key=cost)

    def _pruned(self, plan: Plan, frame: Frame, rest: Sequence[int]) -> Frame:
        """The frame without the columns that nothing needs any more, and without duplicates."""
        if not rest or (self.object_identity and plan.names - frame.keys()):
            return frame  # every variable must still differ from those to come
        needed = {v.name for v in plan.rule.head.variables()}
        for i in rest:
            needed.update(v.name for v in plan.rule.body[i].variables())
        kept = {name: column for name, column in frame.items() if name in needed | {SEQUENCE}}
        return kept if len(kept) == len(frame) else self.packing.distinct_rows(kept)

    def _dimension(self, atom: Atom) -> str | None:
        """The dimension of an operator atom; None for an ordinary one."""
        name = operator_dimension(atom.key)
        key = (f"next_{name}", 2)
        return name if name is not None and (key in self.tables or key in self.heads) else None

    def _table(self, atom: Atom, rule: Rule) -> Table:
        dimension = self._dimension(atom)
        if dimension is not None:
            n = steps(atom)
            if n is None and any(v.anonymous for v in atom.variables()):
                n = 1  # something follows X at all iff something is next to it
            return self._operator(dimension, n, rule)
        if atom.key in self.growing:
            return self.growing[atom.key].table()
        return self.tables.get(atom.key, tb.empty(len(atom.args)))

    def _selected(self, plan: Plan, i: int, delta: Table | None = None) -> _Selection:
        """The facts that match an atom of the body, by its variables."""
        if i in plan.selections and delta is None:
            return plan.selections[i]
        literal = plan.rule.body[i]
        atom = atom_of(literal)
        table = self._table(atom, plan.rule) if delta is None else delta
        apart = self.object_identity and isinstance(literal, Atom)
        args = _objects(atom) if self._dimension(atom) else atom.args
        selection = _Selection(self._matching(args, table, plan.objects, apart))
        if delta is None and atom.key not in self.growing:
            plan.selections[i] = selection
        return selection

    def _matching(self, args: Sequence[object], table: Table, objects: Ints, apart: bool) -> Frame:
        frame: Frame = {SEQUENCE: table[0]}
        keep = np.ones(table.shape[1], bool)
        dropped = False
        for arg, column in zip(args, table[1:], strict=True):
            if not isinstance(arg, Var):
                keep &= column == self.codes([arg])[0]
            elif arg.anonymous:
                dropped = True
            elif arg.name in frame:
                keep &= column == frame[arg.name]
            else:
                if apart:
                    keep &= _apart(column, frame, objects)
                frame[arg.name] = column
        if not keep.all():
            frame = tb.taken(frame, np.flatnonzero(keep))
        return self.packing.distinct_rows(frame) if dropped else frame

    def _joined(self, plan: Plan, frame: Frame, selection: _Selection) -> Frame:
        shared = tuple(name for name in selection.frame if name in frame)
        new = [name for name in selection.frame if name not in frame]
        keys = self.packing.pack([frame[name] for name in shared])
        index = selection.indexes.get(shared)
        if index is None or index.keys.dtype != keys.dtype:
            index = Index.of(self.packing.pack([selection.frame[name] for name in shared]))
            selection.indexes[shared] = index
        starts, lengths = index.find(keys)
        if not new:
            return tb.taken(frame, np.flatnonzero(lengths))
        self.limit(int(lengths.sum()), plan.rule)
        rows = np.repeat(np.arange(len(keys)), lengths)
        found = index.order[tb.ranges(starts, lengths)]
        old = {name: column[rows] for name, column in frame.items()}
        return self._extended(old, {name: selection.frame[name][found] for name in new})

    def _extended(self, frame: Frame, new: Frame) -> Frame:
        """A frame with columns added; those of one atom are already apart from each other."""
        both = frame | new
        if not self.object_identity:
            return both
        keep = np.ones(len(frame[SEQUENCE]), bool)
        for column in new.values():
            keep &= _apart(column, frame, np.empty(0, np.int32))
        return both if keep.all() else tb.taken(both, np.flatnonzero(keep))

    def _operator(self, dimension: str, n: int | None, rule: Rule) -> Table:
        """The table of `follow` (n is None) or of `followat` n steps."""
        if (dimension, n) not in self.operators:
            step = self.tables.get((f"next_{dimension}", 2), tb.empty(2))
            self.operators[dimension, n] = (
                closure(step, self.packing, lambda n: self.limit(n, rule))
                if n is None
                else power(step, n, self.packing, lambda n: self.limit(n, rule))
            )
        return self.operators[dimension, n]

    def _chains_of(self, atom: Atom) -> Chains | None:
        """The chains of the dimension of a `follow` with two given arguments; None for others."""
        dimension = self._dimension(atom)
        if dimension is None or len(atom.args) != 2 or any(v.anonymous for v in atom.variables()):
            return None
        if dimension not in self.chains:
            table = self.tables.get((f"next_{dimension}", 2), tb.empty(2))
            self.chains[dimension] = Chains.of(table, self.packing)
        return self.chains[dimension]

    def _follow(self, plan: Plan, frame: Frame, i: int) -> Frame:
        """Join `follow` on chains by arithmetic on positions."""
        atom = atom_of(plan.rule.body[i])
        chains = self._chains_of(atom)
        assert chains is not None
        x, y = (arg.name if isinstance(arg, Var) else None for arg in atom.args)
        if x is not None and x not in frame and (y is None or y not in frame):
            index = Index.of(chains.sequences.astype(np.int64))
            ranges = index.find(frame[SEQUENCE].astype(np.int64))  # all events of each sequence
            frame = self._bound_to(plan, frame, x, chains.events[index.order], *ranges)
        if (x is None or x in frame) and (y is None or y in frame):
            return tb.taken(frame, np.flatnonzero(self._follows(frame, atom, chains)))
        backward = x is not None and x not in frame
        new = x if backward else y
        assert new is not None
        known = self._keys(frame, atom.args[1 if backward else 0])
        ranges = chains.reached(known, backward=backward)
        return self._bound_to(plan, frame, new, chains.events, *ranges)

    def _bound_to(
        self, plan: Plan, frame: Frame, name: str, events: Ints, starts: Longs, lengths: Longs
    ) -> Frame:
        """Every binding of the frame with each event of its range."""
        self.limit(int(lengths.sum()), plan.rule)
        rows = np.repeat(np.arange(len(starts)), lengths)
        return self._bound(plan, tb.taken(frame, rows), name, events[tb.ranges(starts, lengths)])

    def _bound(self, plan: Plan, frame: Frame, name: str, column: Ints) -> Frame:
        """The frame with one more variable bound."""
        if self.object_identity:
            keep = np.flatnonzero(_apart(column, frame, plan.objects))
            frame, column = tb.taken(frame, keep), column[keep]
        return frame | {name: column}

    def _follows(self, frame: Frame, atom: Atom, chains: Chains) -> Bools:
        return chains.holds(self._keys(frame, atom.args[0]), self._keys(frame, atom.args[1]))

    def _keys(self, frame: Frame, arg: object) -> Longs:
        """Keys of (sequence, event) for a bound variable or a constant that `plan` knows."""
        return self.packing.pack([frame[SEQUENCE], self._operand(frame, arg)])

    def _tested(self, plan: Plan, frame: Frame, tests: Sequence[int]) -> tuple[Frame, list[int]]:
        """The frame after every test whose variables are bound; the tests that are left."""
        left = list(tests)
        ready = True
        while ready:
            ready = False
            for i in list(left):
                literal = plan.rule.body[i]
                if inputs(literal) <= frame.keys():
                    left.remove(i)
                    frame = self._test(plan, frame, i)
                    ready = True
        return frame, left

    def _test(self, plan: Plan, frame: Frame, i: int) -> Frame:
        literal = plan.rule.body[i]
        if isinstance(literal, Comparison):
            if literal.operator == "is":
                return self._assigned(plan, frame, i, literal)
            return tb.taken(frame, np.flatnonzero(self._compared(plan, frame, i, literal)))
        atom = atom_of(literal)
        if (chains := self._chains_of(atom)) is not None:
            return tb.taken(frame, np.flatnonzero(~self._follows(frame, atom, chains)))
        selection = self._selected(plan, i).frame
        keys = self.packing.pack([frame[name] for name in selection])
        pool = self.packing.pack(list(selection.values()))
        return tb.taken(frame, np.flatnonzero(~tb.member(keys, np.sort(pool))))

    def _compared(self, plan: Plan, frame: Frame, i: int, test: Comparison) -> Bools:
        n = len(frame[SEQUENCE])
        if test.operator in ("==", "\\=="):
            if same_terms((test.left,), (test.right,)):
                return np.full(n, test.operator == "==")
            left, right = self._operand(frame, test.left), self._operand(frame, test.right)
            same = np.asarray((left == right) & (left >= 0))
            return same if test.operator == "==" else ~same
        columns = {name: frame[name] for name in sorted(inputs(test))}
        true, unknown = arithmetic.compare(test, columns, n, self.constants)
        self._note(plan, i, columns, unknown)
        return true

    def _operand(self, frame: Frame, term: object) -> Ints:
        """The codes of a bound variable or of a constant (-1 for one that occurs nowhere)."""
        if isinstance(term, Var):
            return frame[term.name]
        code = self.constants.find(term) if isinstance(term, str | int | float) else -1
        return np.full(len(frame[SEQUENCE]), code, np.int32)

    def _assigned(self, plan: Plan, frame: Frame, i: int, test: Comparison) -> Frame:
        columns = {name: frame[name] for name in sorted(inputs(test))}
        n = len(frame[SEQUENCE])
        codes, unknown = arithmetic.assign(test.right, columns, n, self.constants)
        self._note(plan, i, columns, unknown)
        left = test.left
        if isinstance(left, Var) and left.name not in frame:
            keep = np.flatnonzero(~unknown)
            frame, codes = tb.taken(frame, keep), codes[keep]
            return frame if left.anonymous else self._bound(plan, frame, left.name, codes)
        return tb.taken(frame, np.flatnonzero(~unknown & (codes == self._operand(frame, left))))

    def _note(self, plan: Plan, i: int, columns: Frame, unknown: Bools) -> None:
        """Remember to which values a test did not apply."""
        if not unknown.any():
            return
        rows = np.stack([c[unknown] for c in columns.values()] or [np.zeros(1, np.int32)])
        if i in plan.inapplicable:
            rows = np.hstack([plan.inapplicable[i], rows])
        plan.inapplicable[i] = np.unique(rows, axis=1)


def _objects(atom: Atom) -> tuple[Term, ...]:
    """The arguments that denote objects: all but the number of steps of `followat`."""
    return atom.args[1:] if operator_dimension(atom.key) and len(atom.args) == 3 else atom.args


def inputs(literal: Literal) -> set[str]:
    """The variables that must be bound before a test."""
    if isinstance(literal, Comparison) and literal.operator == "is":
        return {v.name for v in term_variables(literal.right)}
    return {v.name for v in literal.variables() if not v.anonymous}


def _empty(names: Iterable[str]) -> Frame:
    return {name: np.empty(0, np.int32) for name in (SEQUENCE, *names)}


def _apart(column: Ints, frame: Frame, objects: Ints) -> Bools:
    """Where a column differs from all others of a frame and from some constants."""
    keep = np.ones(len(column), bool)
    for code in objects:
        keep &= column != code
    for name, other in frame.items():
        if name != SEQUENCE:
            keep &= column != other
    return keep
