"""Patterns up to renaming: canonical form, variants, and theta-subsumption between patterns.

A pattern is a set of atoms whose arguments are variables and constants. Its canonical form is found
as for graphs: variables are coloured by where they occur until no more can be distinguished; the
remaining orders are tried one by one, and symmetries found meanwhile prune the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from relynx.logic.terms import Atom, Constant, Term, Var, numbered_variable, term_text

# A constant with its type in front, so that 1, 1.0 and '1' differ and any two of them compare.
_Key = tuple[int, Constant]
# Variables sort behind: their position or name, or a number for each `_`, follows one of these.
_VARIABLE, _ANONYMOUS = 3, 4

# An atom of a pattern for the search: the number of its shape, then the numbers of its variables.
_Edge = tuple[int, ...]


def canonical(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """The one form that all variants of a pattern share, variables named A, B, ..., Z, A1, ... in
    the order of the result; each `_` stays a variable of its own."""
    number_of: dict[str, int] = {}
    shaped = {_shape_and_variables(atom, number_of): atom for atom in atoms}
    ranks = {shape: i for i, shape in enumerate(sorted({shape for shape, _ in shaped}))}
    edges = [(ranks[shape], *variables) for shape, variables in shaped]
    order, numbers = canonical_numbering(edges, len(number_of))
    names = {name: numbered_variable(numbers[number]) for name, number in number_of.items()}
    found = list(shaped.values())
    return tuple(_renamed(found[i], names) for i in order)


def canonical_numbering(edges: Sequence[_Edge], n: int) -> tuple[list[int], list[int]]:
    """The atoms of a pattern in the order of its canonical form, and the numbers of its variables.
    An edge is the rank of an atom's shape, which is all of it but for the identity of its
    variables, then its variables in order of first occurrence; no two are equal."""
    search = _Search(edges, n)
    search.descend(_refine(edges, [0] * n), [])
    labels = search.leaves[min(search.leaves)][0]  # those that give the least edges
    order = sorted(
        range(len(edges)), key=lambda i: (edges[i][0], *[labels[v] for v in edges[i][1:]])
    )
    named = dict.fromkeys(v for i in order for v in edges[i][1:])
    numbers = [0] * n
    for number, v in enumerate(named):
        numbers[v] = number
    return order, numbers


def subsumes(
    general: Iterable[Atom], specific: Iterable[Atom], *, object_identity: bool = True
) -> bool:
    """Whether a substitution maps every atom of `general` to an atom of `specific`, as written.
    With `object_identity`, different variables of `general` get different terms, none of them a
    constant of `general`; its `_` are exempt, and the n of `followat` is no constant here."""
    atoms = dict.fromkeys(general)
    facts = _as_facts(specific)
    if object_identity and _too_many(atoms, facts):
        return False
    goals = [(tuple(map(_argument, atom.args)), facts.get(atom.key, [])) for atom in atoms]
    return _solve(goals, {}, _object_constants(atoms) if object_identity else None)


def core(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """The least part of a pattern that covers the same without Object Identity."""
    left = list(dict.fromkeys(atoms))
    for atom in tuple(left):
        rest = [other for other in left if other is not atom]
        alike = any(other.key == atom.key for other in rest)
        if alike and subsumes(left, rest, object_identity=False):
            left = rest
    return tuple(left)


def typed_constant(term: Term) -> _Key:
    """What constants are ordered by: integers, floats, texts."""
    if isinstance(term, str):
        return 2, term
    if isinstance(term, float):
        return 1, term
    if isinstance(term, int):
        return 0, term
    raise TypeError(f"{term_text(term)} is no argument of a pattern: give a variable or a constant")


def _shape_and_variables(
    atom: Atom, numbers: dict[str, int]
) -> tuple[tuple[object, ...], tuple[int, ...]]:
    """What an atom is but for the identity of its variables (p(X,X) and p(X,Y) differ), and the
    numbers of its variables."""
    variables: list[int] = []
    args: list[_Key] = []
    for arg in atom.args:
        if not isinstance(arg, Var):
            args.append(typed_constant(arg))
        elif arg.name == "_":
            args.append((_ANONYMOUS, 0))
        else:
            number = numbers.setdefault(arg.name, len(numbers))
            if number not in variables:
                variables.append(number)
            args.append((_VARIABLE, variables.index(number)))
    return (atom.predicate, len(args), *args), tuple(variables)


def reading_order(
    edges: Sequence[_Edge], is_link: Sequence[bool], order: Sequence[int], may_begin: Sequence[bool]
) -> list[int]:
    """The atoms of a pattern in the order in which it is read: from an event on which all others
    follow, what is said of an event before the links that lead on from it, each of these with a
    fact of the event that it brings; where this leaves a choice, as in the canonical form. It
    begins with a fact, of those that `may_begin`, from which the fewest atoms come out of turn, and
    of these the first with the fewest variables."""
    starts = [i for i in order if not is_link[i] and may_begin[i]]
    if not starts:
        return [*order]
    readings = (_read_from(i, edges, is_link, order) for i in starts)
    return min(readings, key=lambda found: (found[0], len(edges[found[1][0]])))[1]


def _read_from(
    start: int, edges: Sequence[_Edge], is_link: Sequence[bool], order: Sequence[int]
) -> tuple[tuple[int, int], list[int]]:
    """A pattern read from a fact; how many atoms share no variable with what comes before them,
    and how many come out of turn."""
    variables = [set(edge[1:]) for edge in edges]
    events: set[int] = set().union(*(variables[i] for i in order if is_link[i]))
    left = [i for i in order if i != start]
    read, known = [start], set(variables[start])
    unconnected = out_of_turn = 0

    def speaks(fact: int, known: set[int]) -> bool:
        return bool(known & variables[fact]) and known >= events & variables[fact]

    while left:
        links, facts = [i for i in left if is_link[i]], [i for i in left if not is_link[i]]
        closing = [i for i in links if known >= variables[i]]
        of_known = [i for i in facts if speaks(i, known)]
        onward = [
            [i, fact]
            for i in links
            if edges[i][1] in known
            for fact in facts
            if edges[i][-1] in variables[fact] and speaks(fact, {*known, edges[i][-1]})
        ]
        if closing or of_known:
            chosen = (closing or of_known)[:1]
        elif onward:
            chosen = onward[0]
        else:
            near = [i for i in left if known & variables[i]]
            out_of_turn += 1
            unconnected += not near
            chosen = (near or left)[:1]
        for i in chosen:
            left.remove(i)
            read.append(i)
            known |= variables[i]
    return (unconnected, out_of_turn), read


def _refine(edges: Sequence[_Edge], colours: list[int]) -> list[int]:
    """Split the colours by the atoms that variables occur in, until nothing splits any more;
    colours are numbered by their definition, so that variants get the same numbers."""
    n_colours, n = len(set(colours)), len(colours)
    while True:
        seen: list[list[tuple[int, ...]]] = [[] for _ in colours]
        for edge in edges:
            coloured = [edge[0], *[colours[v] for v in edge[1:]]]
            for i in range(1, len(edge)):
                seen[edge[i]].append((i, *coloured))
        for occurrences in seen:
            occurrences.sort()
        keys = [(colours[v], *seen[v]) for v in range(n)]
        order = {key: i for i, key in enumerate(sorted(set(keys)))}
        colours = [order[key] for key in keys]
        if len(order) == n or len(order) == n_colours:
            return colours
        n_colours = len(order)


@dataclass(slots=True)
class _Search:
    """Depth-first individualisation of equally coloured variables, pruned by symmetries: two leaves
    with one form differ by one, which maps the branch of the earlier leaf onto that of the later,
    so that this is left at once, and variables that symmetries exchange are tried only once at a
    node."""

    edges: Sequence[_Edge]
    n: int
    leaves: dict[tuple[_Edge, ...], tuple[list[int], list[int]]] = field(default_factory=dict)
    symmetries: list[list[int]] = field(default_factory=list)

    def descend(self, colours: list[int], path: list[int]) -> int:
        """Search below a node; returns the depth of the node at which to continue."""
        members: list[list[int]] = [[] for _ in range(self.n)]
        for variable, colour in enumerate(colours):
            members[colour].append(variable)
        cell = next((variables for variables in members if len(variables) > 1), None)
        if cell is None:
            return self.record(colours, path)
        tried: list[int] = []
        for variable in cell:
            if tried and not self.orbit(variable, path).isdisjoint(tried):
                continue
            tried.append(variable)
            chosen = [2 * colour + 1 for colour in colours]
            chosen[variable] -= 1
            back_to = self.descend(_refine(self.edges, chosen), [*path, variable])
            if back_to < len(path):
                return back_to
        return len(path)

    def record(self, labels: list[int], path: list[int]) -> int:
        """Keep a leaf's form; if it is known, learn the symmetry and leave the branch."""
        form = tuple(sorted((edge[0], *[labels[v] for v in edge[1:]]) for edge in self.edges))
        if form not in self.leaves:
            self.leaves[form] = labels, path
            return len(path)
        known, known_path = self.leaves[form]
        variable_of = {label: v for v, label in enumerate(labels)}
        self.symmetries.append([variable_of[label] for label in known])
        return next(i for i, (a, b) in enumerate(zip(known_path, path, strict=False)) if a != b)

    def orbit(self, variable: int, path: list[int]) -> set[int]:
        """The variables that known symmetries exchange with this one while the path stays."""
        fixing = [s for s in self.symmetries if all(s[v] == v for v in path)]
        orbit, todo = {variable}, [variable]
        while todo:
            images = {symmetry[v] for v in todo for symmetry in fixing}
            todo = list(images - orbit)
            orbit |= images
        return orbit


def _renamed(atom: Atom, names: Mapping[str, Var]) -> Atom:
    """The atom with new names for its variables; each `_` stays."""
    args = (names.get(arg.name, arg) if isinstance(arg, Var) else arg for arg in atom.args)
    return Atom(atom.predicate, tuple(args))


# An argument of the general pattern: a variable's name, None for `_`, or a constant.
_Argument = str | None | _Key
_Fact = tuple[_Key, ...]
_Goal = tuple[tuple[_Argument, ...], list[_Fact]]


def _as_facts(atoms: Iterable[Atom]) -> dict[tuple[str, int], list[_Fact]]:
    """The atoms of a pattern by predicate, with its variables made constants."""
    facts: defaultdict[tuple[str, int], list[_Fact]] = defaultdict(list)
    unnamed = count()
    for atom in dict.fromkeys(atoms):
        fact: list[_Key] = []
        for arg in atom.args:
            if not isinstance(arg, Var):
                fact.append(typed_constant(arg))
            elif arg.name == "_":
                fact.append((_ANONYMOUS, next(unnamed)))
            else:
                fact.append((_VARIABLE, arg.name))
        facts[atom.key].append(tuple(fact))
    return facts


def _too_many(atoms: Iterable[Atom], facts: Mapping[tuple[str, int], list[_Fact]]) -> bool:
    """Whether some predicate has fewer facts than atoms, which Object Identity keeps apart."""
    needed = Counter(
        atom.key for atom in atoms if all(variable.name != "_" for variable in atom.variables())
    )
    return any(n > len(facts.get(key, [])) for key, n in needed.items())


def _object_constants(atoms: Iterable[Atom]) -> frozenset[_Key]:
    """The constants that denote objects: all but the n of `followat`."""
    found: set[_Key] = set()
    for atom in atoms:
        is_gap = atom.predicate.startswith("followat_") and len(atom.args) == 3
        args = atom.args[1:] if is_gap else atom.args
        found.update(typed_constant(arg) for arg in args if not isinstance(arg, Var))
    return frozenset(found)


def _argument(term: Term) -> _Argument:
    if isinstance(term, Var):
        return None if term.name == "_" else term.name
    return typed_constant(term)


def _solve(goals: list[_Goal], bound: dict[str, _Key], taken: frozenset[_Key] | None) -> bool:
    """Whether all goals can become facts; no further variable may get a term in `taken`."""
    if not goals:
        return True
    goals = [
        (args, [fact for fact in facts if _bindings(args, fact, bound, taken) is not None])
        for args, facts in goals
    ]
    first = min(range(len(goals)), key=lambda i: len(goals[i][1]))
    args, facts = goals.pop(first)
    for fact in facts:
        new = _bindings(args, fact, bound, taken) or {}
        now_taken = None if taken is None else taken.union(new.values())
        if _solve(goals, bound | new, now_taken):
            return True
    return False


def _bindings(
    args: Sequence[_Argument], fact: _Fact, bound: Mapping[str, _Key], taken: frozenset[_Key] | None
) -> dict[str, _Key] | None:
    """What the variables not yet bound become if the arguments are to be the fact, else None."""
    new: dict[str, _Key] = {}
    for arg, value in zip(args, fact, strict=True):
        if arg is None:
            continue
        if isinstance(arg, tuple):
            if arg != value:
                return None
        elif (known := bound.get(arg) or new.get(arg)) is not None:
            if known != value:
                return None
        elif taken is not None and (value in taken or value in new.values()):
            return None
        else:
            new[arg] = value
    return new
