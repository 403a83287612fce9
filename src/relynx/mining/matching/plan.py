"""From a pattern to the plan by which the kernels match it.

Each event variable gets a domain: the nodes that its atoms admit one by one (templates), narrowed
along the dimensions. What the domains cannot decide, because a variable is shared or must differ
from another, is left to a search whose steps are ordered by how few candidates they have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, count
from typing import cast

import numpy as np

from relynx.arrays import Longs
from relynx.errors import DataError
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.tables import Key
from relynx.logic.terms import Atom, Term, Var, as_constant, flatten
from relynx.mining.matching import _backtracking_kernels as kn
from relynx.mining.matching.index import Index, Place, Template

LONGEST_STEP = 1 << 30
LATE = 1e9  # a `_` leads nowhere else: what has a name comes first


def is_number_of_steps(term: Term) -> bool:
    return type(term) is int and 0 < term <= LONGEST_STEP


@dataclass(frozen=True, slots=True)
class Link:
    """An atom of a dimension: n steps from x to y, or any number of steps when n is 0."""

    dimension: int
    n: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Fact:
    """Any other atom: a predicate and the slot of each argument, -1 for `_`."""

    key: Key
    slots: tuple[int, ...]


class Registry:
    """The relations and look-ups that a set of plans uses, numbered in order of first use."""

    def __init__(self) -> None:
        self.relations = defaultdict[Key, int](count().__next__)
        self.look_ups = defaultdict[tuple[Key, int], int](count().__next__)


class Query:
    """A pattern read against an index: variables and constants as slots, atoms as facts and links.
    Slots of constants follow those of variables. `possible` is False when the pattern names a
    predicate or a constant that the data lack."""

    def __init__(self, atoms: tuple[Atom, ...], index: Index, object_identity: bool) -> None:
        self.index = index
        self.names: list[str] = []  # of the variables; "" for those that nobody sees
        self.codes: list[int] = []
        self.facts: list[Fact] = []
        self.links: list[Link] = []
        self.possible = True
        self._slots: dict[str, int] = {}
        pending = [(atom, self._operator(atom)) for atom in map(flatten, atoms)]
        for atom, operator in pending:
            for term in atom.args[1 if operator and operator[2] else 0 :]:
                if isinstance(term, Var) and not term.anonymous and term.name not in self._slots:
                    self._slots[term.name] = len(self.names)
                    self.names.append(term.name)
        n_hidden = sum(
            isinstance(term, Var) and term.anonymous
            for atom, operator in pending
            if operator
            for term in atom.args
        )
        first_hidden = len(self.names)
        self.names += [""] * n_hidden
        hidden = iter(range(first_hidden, len(self.names)))
        for atom, operator in pending:
            if operator:
                dimension, n, skip = operator
                x, y = (
                    next(hidden) if isinstance(t, Var) and t.anonymous else self._slot(t)
                    for t in atom.args[skip:]
                )
                self.links.append(Link(dimension, n, x, y))
            else:
                self._add_fact(atom)
        self.n_variables = len(self.names)
        if self.possible:
            self._find_places()
            self.differ = self._differences() if object_identity else [set() for _ in self.names]
            self.object_identity = object_identity

    def _operator(self, atom: Atom) -> tuple[int, int, int] | None:
        """(dimension, steps, arguments to skip) of a dimensional atom, else None."""
        operator, dimension = link_name(atom.predicate) or ("", "")
        if dimension not in self.index.dimension_names:
            return None
        arity = OPERATORS[operator]
        if len(atom.args) != arity:
            raise DataError(
                f"{atom}: {atom.predicate} takes {arity} arguments, here it has {len(atom.args)}"
            )
        number = self.index.dimension_names.index(dimension)
        if operator != "followat":
            return number, 1 if operator == "next" else 0, 0
        n = atom.args[0]
        if not is_number_of_steps(n):
            raise DataError(
                f"{atom}: the first argument of {atom.predicate} is the number of steps, "
                f"a positive integer up to {LONGEST_STEP:,}"
            )
        return number, cast(int, n), 1

    def _slot(self, term: Term) -> int:
        if isinstance(term, Var):
            return self._slots[term.name]
        if isinstance(term, tuple):
            raise DataError(f"a pattern cannot hold a list: {term}")
        code = self.index.facts.vocabulary.code(as_constant(term))
        if code < 0:
            self.possible = False
            return -1
        if code not in self.codes:
            self.codes.append(code)
        return len(self.names) + self.codes.index(code)

    def _add_fact(self, atom: Atom) -> None:
        if atom.key not in self.index.facts.tables:
            arity = self.index.arities.get(atom.predicate)
            if arity is not None:
                raise DataError(
                    f"{atom}: {atom.predicate} has {len(atom.args)} arguments here "
                    f"and {arity} in the data"
                )
            self.possible = False
            return
        self.possible &= self.index.facts.tables[atom.key].shape[1] > 0
        slots = [
            -1 if isinstance(term, Var) and term.anonymous else self._slot(term)
            for term in atom.args
        ]
        self.facts.append(Fact(atom.key, tuple(slots)))

    def _find_places(self) -> None:
        self.places: list[list[Place]] = [[] for _ in self.names]
        for fact in self.facts:
            for arg, slot in enumerate(fact.slots):
                if 0 <= slot < self.n_variables:
                    self.places[slot].append((fact.key, arg))
        for link in self.links:
            for slot in (link.x, link.y):
                if slot < self.n_variables:
                    self.places[slot].append(None)

    def _differences(self) -> list[set[int]]:
        """For each variable the slots that Object Identity must tell it from. Left out are those
        that the data cannot make equal."""
        differ: list[set[int]] = [set() for _ in self.names]
        index, places = self.index, self.places
        named = [v for v, name in enumerate(self.names) if name]
        for v, w in combinations(named, 2):
            if all(index.overlap(a, b) for a in places[v] for b in places[w]):
                differ[v].add(w)
                differ[w].add(v)
        for c, code in enumerate(self.codes):
            for v in named:
                if all(index.may_hold(place, code) for place in places[v]):
                    differ[v].add(self.n_variables + c)
        return differ

    def template(self, fact: Fact, arg: int) -> Template:
        """What a fact alone asks of the event in one of its arguments."""
        n, index = self.n_variables, self.index
        rules = []
        first: dict[int, int] = {}
        for i, slot in enumerate(fact.slots):
            if slot < 0:
                continue
            if slot in first:
                rules.append((i, 1, first[slot]))
                continue
            if slot >= n:
                if not self._is_event(slot):
                    rules.append((i, 0, index.n_nodes + self.codes[slot - n]))
            else:
                for other in self.differ[slot] & fact_slots(fact):
                    if other in first:
                        rules.append((i, 3, first[other]))
                    elif other >= n and not self._is_event(other):
                        rules.append((i, 2, index.n_nodes + self.codes[other - n]))
            first[slot] = i
        return fact.key, arg, tuple(sorted(rules))

    def is_told_by_template(self, fact: Fact, events: set[int]) -> bool:
        """Is a fact fully expressed by the domain of its one event?"""
        inside = fact_slots(fact)
        if len(inside & events) != 1:
            return False
        (event,) = inside & events
        if (fact.key, fact.slots.index(event)) not in self.index.event_arguments:
            return False
        variables = {slot for slot in inside if slot < self.n_variables}
        if any(
            self.differ[slot] - inside or sum(slot in f.slots for f in self.facts) > 1
            for slot in variables - {event}
        ):
            return False
        others = (inside - variables - {event}).union(*(self.differ[slot] for slot in variables))
        return not any(map(self._is_event, others))

    def _is_event(self, slot: int) -> bool:
        """Is a slot that of a constant that names an event?"""
        n = self.n_variables
        return slot >= n and bool(self.index.is_event[self.codes[slot - n]])


def fact_slots(fact: Fact) -> set[int]:
    return {slot for slot in fact.slots if slot >= 0}


class Steps:
    """The steps of a search in their order. The kernel `solve` reads them."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.rows: list[list[int]] = []
        self.args: list[list[int]] = []  # of the facts
        self.depends: list[int] = []  # for each step the earlier ones it builds on, as bits
        self.made_by: dict[int, int] = {}  # variable -> step, in the order of binding

    def known(self, slot: int) -> bool:
        """Is a slot bound before the next step?"""
        return slot >= self.query.n_variables or slot in self.made_by

    def add_link(self, link: Link) -> None:
        x, y = self.known(link.x), self.known(link.y)
        mode = kn.BOTH if x and y else kn.FROM if x else kn.BACK
        row = [kn.LINK, link.dimension, link.n, link.x, link.y, mode]
        self._add(row, [link.x, link.y])

    def add_fact(self, fact: Fact, look_up: int, probe: int, registry: Registry) -> None:
        """A fact, looked up by the slot `probe` in the argument `look_up` unless that is -1."""
        number = registry.look_ups[fact.key, look_up] if look_up >= 0 else -1
        relation = registry.relations[fact.key]
        row = [kn.FACT, relation, number, probe, len(self.args), len(fact.slots)]
        bound: set[int] = set()
        for slot in fact.slots:
            if slot < 0:
                self.args.append([kn.SKIP, 0])
            elif self.known(slot) or slot in bound:
                self.args.append([kn.TEST, slot])
            else:
                self.args.append([kn.BIND, slot])
                bound.add(slot)
        self._add(row, [slot for slot in fact.slots if slot >= 0])

    def add_node(self, variable: int) -> None:
        """All events that a variable can be, one after the other."""
        self._add([kn.NODE, variable, 0, 0, 0, 0], [variable])

    def _add(self, row: list[int], slots: list[int]) -> None:
        new = [slot for slot in slots if not self.known(slot)]
        needs = {*slots, *(s for v in new for s in self.query.differ[v])}
        causes = {self.made_by[s] for s in needs if s in self.made_by}
        self.depends.append(sum(1 << step for step in causes if step < 63))
        self.made_by.update(dict.fromkeys(new, len(self.rows)))
        self.rows.append(row)


class Planner:
    """Orders the work for one query; `plan()` is the result. With `existence` it is enough that a
    match exists; else every variable must be bound."""

    def __init__(self, query: Query, registry: Registry, *, existence: bool) -> None:
        self.query, self.index, self.registry = query, query.index, registry
        self.existence = existence
        self.average = self.index.n_nodes / max(self.index.n_sequences, 1)  # events of a sequence
        known = {None, *self.index.event_arguments}
        self.events = [v for v, places in enumerate(query.places) if known.intersection(places)]
        self.group = {v: g for g, v in enumerate(self.events)}
        self.templates: list[list[Template]] = [[] for _ in self.events]
        self.size = [self.average] * len(self.events)
        for fact in query.facts:
            for arg, slot in enumerate(fact.slots):
                g = self.group.get(slot)
                if g is not None and (fact.key, arg) in self.index.event_arguments:
                    template = query.template(fact, arg)
                    self.templates[g].append(template)
                    self.size[g] = min(self.size[g], self.index.template(template)[1])

    def crowds(self) -> list[tuple[int, Longs]]:
        """How many variables must differ from each other, and what there is for them to be. Each
        entry is a number of variables and the number of constants a sequence has for them: with
        fewer there is no match, which a search would find out late."""
        query, index = self.query, self.index
        if not query.object_identity:
            return []
        places = Counter(
            place
            for v, own in enumerate(query.places)
            if query.names[v]
            for place in {*own} - {None}
        )
        templates = Counter(
            template
            for v, own in zip(self.events, self.templates, strict=True)
            if query.names[v]
            for template in {*own}
        )
        crowds = [(n, index.available(at, query.codes)) for at, n in places.items() if at and n > 1]
        crowds += [(n, index.population(one)) for one, n in templates.items() if n > 1]
        return crowds

    def plan(self) -> tuple[kn.Plan, list[Template]]:
        """The plan, and the templates whose bits are the rows that it speaks of."""
        query = self.query
        events = set(self.events)
        told = {f for f in query.facts if self.existence and query.is_told_by_template(f, events)}
        facts = [fact for fact in dict.fromkeys(query.facts) if fact not in told]
        edges, tree = self._edges()
        exact = self.existence and not facts and tree
        steps = self._steps(facts)
        bound_in = steps.made_by
        bound_at = {v: place for place, v in enumerate(bound_in)}
        differ: list[int] = []
        differ_off = [0]
        for v in range(query.n_variables):
            for slot in sorted(query.differ[v]):
                if slot >= query.n_variables or bound_at.get(slot, 1 << 30) < bound_at.get(v, -1):
                    differ.append(slot)
            differ_off.append(len(differ))
        rows = list(dict.fromkeys(t for templates in self.templates for t in templates))
        number = {template: row for row, template in enumerate(rows)}
        plan = kn.Plan(
            n_variables=query.n_variables,
            constants=np.array(query.codes, np.int32),
            steps=np.array(steps.rows, np.int32).reshape(-1, 6),
            args=np.array(steps.args, np.int32).reshape(-1, 2),
            differ=np.array(differ, np.int32),
            differ_off=np.array(differ_off, np.int32),
            depends=np.array(steps.depends, np.int64),
            group=np.array([self.group.get(v, -1) for v in range(query.n_variables)], np.int32),
            templates=np.array([number[t] for ts in self.templates for t in ts], np.int32),
            template_off=np.cumsum([0, *map(len, self.templates)], dtype=np.int32),
            edges=np.array(edges, np.int32).reshape(-1, 4),
            n_binding=1 + max((at for v, at in bound_in.items() if query.names[v]), default=-1),
            exact=exact,
        )
        return plan, rows

    def _edges(self) -> tuple[list[tuple[int, int, int, int]], bool]:
        """Links between domains, parents first; and whether domains alone may decide on them."""
        query, group = self.query, self.group
        links = [k for k in query.links if k.x in group and k.y in group and k.x != k.y]
        whole = len(links) == len(query.links)
        edges: list[tuple[int, int, int, int]] = []
        extra: list[tuple[int, int, int, int]] = []
        seen: set[int] = set()
        left = list(dict.fromkeys(links))
        trees = 0
        for root in self.events:
            if root in seen:
                continue
            trees += 1
            seen.add(root)
            grown = True
            while grown:
                grown = False
                for link in list(left):
                    if link.x not in seen and link.y not in seen:
                        continue
                    left.remove(link)
                    grown = True
                    closing = link.x in seen and link.y in seen
                    forward = link.x in seen
                    parent, child = (link.x, link.y) if forward else (link.y, link.x)
                    n = link.n if forward else -link.n - 1
                    edge = (link.dimension, n, group[parent], group[child])
                    (extra if closing else edges).append(edge)
                    seen.add(child)
        tree = whole and not extra
        if tree and query.object_identity and len(self.events) > 1:
            # Events on one directed path of one dimension differ by themselves.
            tree = (
                trees == 1
                and len({link.dimension for link in links}) == 1
                and len({link.x for link in links}) == len(links)
                and len({link.y for link in links}) == len(links)
            )
        return edges + extra, tree

    def _steps(self, facts: list[Fact]) -> Steps:
        """The steps of the search, the cheapest first."""
        query = self.query
        steps = Steps(query)
        known = steps.known
        facts, links = list(facts), list(dict.fromkeys(query.links))
        used = {s for fact in facts for s in fact.slots} | {s for k in links for s in (k.x, k.y)}
        alone = {
            v for v in self.events if v not in used and (query.differ[v] or not self.existence)
        }
        while facts or links or alone:
            waiting = alone | {s for k in links for s in (k.x, k.y) if not known(s)}
            # The first of the cheapest is taken, so links come before facts, and both before nodes.
            options: list[tuple[float, int, int, Link | Fact | int]] = [
                *((self._link_cost(link, known), -1, 0, link) for link in links),
                *((*self._fact_cost(fact, known), fact) for fact in facts),
                *(
                    (self.size[self.group[v]] + (0 if query.names[v] else LATE), -1, 0, v)
                    for v in sorted(waiting)
                ),
            ]
            _, look_up, probe, chosen = min(options, key=lambda option: option[0])
            if isinstance(chosen, Link):
                links.remove(chosen)
                steps.add_link(chosen)
            elif isinstance(chosen, Fact):
                facts.remove(chosen)
                steps.add_fact(chosen, look_up, probe, self.registry)
            else:
                steps.add_node(chosen)
            alone -= steps.made_by.keys()
        return steps

    def _fact_cost(self, fact: Fact, known: Callable[[int], bool]) -> tuple[float, int, int]:
        """Candidates of a fact a sequence, and the argument and slot to look it up by."""
        relation = self.index.relation(fact.key)
        best = (1.0 + relation.cells.shape[1] / max(self.index.n_sequences, 1), -1, 0)
        for arg, slot in enumerate(fact.slots):
            if slot >= 0 and known(slot):
                cost = relation.fan_out(arg)
                if cost < best[0]:
                    best = (cost, arg, slot)
        if best[1] >= 0 and all(s < 0 or known(s) for s in fact.slots):
            return min(best[0], 0.5), best[1], best[2]
        return best

    def _link_cost(self, link: Link, known: Callable[[int], bool]) -> float:
        x, y = known(link.x), known(link.y)
        if x and y:
            return 0.1
        if any(not known(s) and not self.query.names[s] for s in (link.x, link.y)):
            return LATE if x or y else float("inf")
        if not (x or y):
            return float("inf")
        g = self.group.get(link.y if x else link.x)
        average = self.average
        share = self.size[g] / average if g is not None and average else 1.0
        return share if link.n else max(1.0, share * average / 2)
