"""What can be wrong with background rules before any data is seen, and which need which others.

Each check yields problems. Where the tree of a rule's text is known, a problem points at the very
term; a rule made in Python has no source, and its problems no line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

import numpy as np

from relynx.errors import Problem, Source, counted, did_you_mean
from relynx.logic.dimensions import operator_dimension
from relynx.logic.nodes import Node, conjuncts
from relynx.logic.tables import Key
from relynx.logic.terms import (
    ARITHMETIC,
    COMPARISONS,
    Atom,
    Comparison,
    Literal,
    Not,
    Rule,
    Struct,
    Term,
    Var,
    atom_of,
    constant_text,
    quoted,
    term_text,
    term_variables,
)


@dataclass(frozen=True, slots=True)
class Located:
    """A term or literal with its syntax tree, without arguments where the text is not known."""

    node: Node
    source: Source | None

    def arg(self, i: int) -> Located:
        args = self.node.args
        return Located(args[i], self.source) if i < len(args) else self

    def problem(self, message: str, hint: str | None = None) -> Problem:
        return self.node.problem(message, self.source, hint)


def check_rules(
    rules: Sequence[Rule], source: Source | None, nodes: Sequence[Node | None]
) -> list[Problem]:
    problems: list[Problem] = []
    for rule, node in zip(rules, nodes, strict=True):
        problems += _check_rule(rule, source, node)
    problems += _check_arities(rules, source)
    problems += _check_strata(rules, source)
    return sorted(problems, key=lambda problem: problem.offset)


def _check_rule(rule: Rule, source: Source | None, node: Node | None) -> Iterator[Problem]:
    if node is None:
        literals = (rule.head, *rule.body)
        nodes = [Node("atom", "", (), one.offset, one.offset + 1) for one in literals]
    else:
        nodes = [node.args[0], *conjuncts(node.args[1])] if rule.body else [node]
    yield from _check_head(rule.head, Located(nodes[0], source))
    for literal, part in zip(rule.body, nodes[1:], strict=True):
        at = Located(part, source)
        if isinstance(literal, Comparison):
            yield from _check_comparison(literal, at)
        elif isinstance(literal, Not):
            yield from _check_atom(literal.atom, at.arg(0))
        else:
            yield from _check_atom(literal, at)
    yield from _check_safety(rule, source)


def _check_head(head: Atom, at: Located) -> Iterator[Problem]:
    name = quoted(head.predicate)
    dimension = operator_dimension(head.key)
    if dimension is not None:
        what = f"{name} is an operator of the dimension {quoted(dimension)} and cannot be defined"
        yield at.problem(what, f"define next_{dimension}, or choose another name")
    elif head.predicate in (*COMPARISONS, "is") and len(head.args) == 2:
        what = f"{name} is built in and cannot be defined"
        yield at.problem(what, "choose another name for the head")
    else:
        yield from _check_ordinary(head, at)


def _check_atom(atom: Atom, at: Located) -> Iterator[Problem]:
    name = quoted(atom.predicate)
    if atom.predicate.startswith("followat_") and operator_dimension(atom.key) is None:
        what = f"{name} takes 3 arguments, found {len(atom.args)}"
        yield at.problem(what, f"write {name}(2,X,Y): the number of steps, then two events")
    elif atom.predicate.startswith("followat_"):
        number = atom.args[0]
        if not isinstance(number, int) or number < 1:
            follow = f"follow_{atom.predicate.removeprefix('followat_')}"
            what = f"the number of steps of {name} must be a positive integer"
            hint = f"write {name}(2,X,Y), or {follow}(X,Y) for any number of steps"
            yield at.arg(0).problem(f"{what}, found {term_text(number)}", hint)
        yield from _check_args(atom.args[1:], at, 1)
    elif atom.predicate == "not" and any(isinstance(arg, Struct) for arg in atom.args):
        yield at.problem("'not' is not of this language", "write \\+ for negation")
    else:
        yield from _check_ordinary(atom, at)


def _check_ordinary(atom: Atom, at: Located) -> Iterator[Problem]:
    """An atom that is no operator: a link has two arguments, and arguments are no terms."""
    if atom.predicate.startswith("next_") and atom.predicate != "next_" and len(atom.args) != 2:
        name = quoted(atom.predicate)
        hint = f"write {name}(X,Y): a dimension links two events; or choose another name"
        yield at.problem(f"{name} takes 2 arguments, found {len(atom.args)}", hint)
    else:
        yield from _check_args(atom.args, at)


def _check_args(args: Sequence[Term], at: Located, first: int = 0) -> Iterator[Problem]:
    for i, arg in enumerate(args, first):
        if isinstance(arg, tuple):
            what = "a list cannot be an argument of an atom"
            yield at.arg(i).problem(what, "give each of its members an atom of its own")
        elif isinstance(arg, Struct) and arg.functor in ARITHMETIC:
            used = {v.name for v in term_variables(arg)}
            name = next(name for name in ("N", "M", "K", "Result") if name not in used)
            hint = f"write {name} here, and {name} is {term_text(arg)} in the body"
            yield at.arg(i).problem(f"{term_text(arg)} is not worked out inside an atom", hint)
        elif isinstance(arg, Struct):
            what = f"the nested term {term_text(arg)} cannot be an argument of an atom"
            hint = f"give its parts as arguments: {','.join(map(term_text, arg.args))}"
            yield at.arg(i).problem(what, hint)


def _check_comparison(test: Comparison, at: Located) -> Iterator[Problem]:
    sides = ((test.left, at.arg(0)), (test.right, at.arg(1)))
    if test.operator in ("==", "\\=="):
        by_value = "=:=" if test.operator == "==" else "=\\="
        for side, where in sides:
            if isinstance(side, Struct | tuple):
                what = f"'{test.operator}' compares variables and constants"
                hint = f"write '{by_value}' to compare by value"
                yield where.problem(f"{what}, found {term_text(side)}", hint)
    elif test.operator == "is":
        left = test.left
        if isinstance(left, str | Struct | tuple):
            what = "the left side of 'is' must be a variable or a number"
            yield at.arg(0).problem(f"{what}, found {term_text(left)}", "write 'N is expression'")
        yield from _check_expression(test.right, at.arg(1), "is")
    else:
        for side, where in sides:
            yield from _check_expression(side, where, test.operator)


def _check_expression(term: Term, at: Located, operator: str) -> Iterator[Problem]:
    if isinstance(term, str):
        equal = {"=:=": "==", "=\\=": "\\=="}.get(operator)
        if operator == "is":
            hint = "'is' works out arithmetic; write the constant itself where it is used"
        elif equal is not None:
            hint = f"write '{equal}' to compare constants"
        elif operator in COMPARISONS:
            hint = f"'{operator}' compares numbers only"
        else:
            hint = "arithmetic is on numbers and variables"
        yield at.problem(f"{constant_text(term)} is not a number", hint)
    elif isinstance(term, tuple):
        yield at.problem("a list is not a number", hint="arithmetic is on numbers and variables")
    elif isinstance(term, Struct):
        functor, n = quoted(term.functor), len(term.args)
        if term.functor not in ARITHMETIC:
            known = ", ".join(ARITHMETIC)
            hint = did_you_mean(term.functor, tuple(ARITHMETIC)) or f"there are {known}"
            yield at.problem(f"unknown arithmetic function {functor}/{n}", hint)
        elif ARITHMETIC[term.functor] != n:
            takes = ARITHMETIC[term.functor]
            what = f"'{term.functor}' takes {counted(takes, 'argument')}, found {n}"
            hint = f"write {term_text(Struct(term.functor, (Var('X'), Var('Y'))[:takes]))}"
            yield at.problem(what, hint)
        for i, arg in enumerate(term.args):
            yield from _check_expression(arg, at.arg(i), functor)


def _check_safety(rule: Rule, source: Source | None) -> Iterator[Problem]:
    """Every variable must get its values from a positive atom or from an `is`."""
    bound = _bound_names(rule)
    assigned = {x.left for x in rule.assignments()}
    reported: set[str] = set()
    for literal in (rule.head, *rule.body):
        if literal is not rule.head and isinstance(literal, Atom):
            continue
        left = (
            literal.left if isinstance(literal, Comparison) and literal.operator == "is" else None
        )
        for i, v in enumerate(literal.variables()):
            result = i == 0 and v is left
            if v.anonymous:
                message, hint = _anonymous_trouble(rule, literal, result=result)
            elif v in assigned and (result or not isinstance(literal, Comparison)):
                continue  # what its `is` lacks is reported instead
            elif v.name not in bound and v.name not in reported:
                reported.add(v.name)
                message, hint = _unbound_trouble(rule, literal, v)
            else:
                continue
            if message:
                yield Problem(message, source, v.offset, len(v.name), hint)


def _anonymous_trouble(rule: Rule, literal: Literal, *, result: bool) -> tuple[str, str | None]:
    if literal is rule.head and rule.body:
        return "nothing says what _ in the head stands for", "use a variable of the body instead"
    if literal is rule.head:
        return "_ in a fact: a fact has constants only", "write the constants that it holds for"
    if isinstance(literal, Comparison) and not result:
        hint = "name the variable, and use it in an atom of the body"
        return f"_ in '{literal}' has no value", hint
    return "", None


def _unbound_trouble(rule: Rule, literal: Literal, v: Var) -> tuple[str, str | None]:
    if literal is rule.head and not rule.body:
        hint = f"a constant begins with a small letter or stands between quotes: '{v}'"
        return f"the variable {v} in a fact: a fact has constants only", hint
    add = f"add an atom with {v} to the body"
    if literal is rule.head:
        return f"unsafe variable {v}: it is in the head, but nothing in the body binds it", add
    if isinstance(literal, Not):
        if sum(w.name == v.name for x in rule.body for w in x.variables()) == 1:
            hint = f"write _ instead of {v} for 'no value at all', or {add}"
            return f"unsafe variable {v}: it occurs only under \\+", hint
        return f"unsafe variable {v}: it is under \\+, but no positive atom binds it", add
    return f"unsafe variable {v}: it has no value in '{literal}'", add


def _bound_names(rule: Rule) -> set[str]:
    """The variables that positive atoms bind, and those that `is` gets from them."""
    bound = {v.name for atom in rule.body if isinstance(atom, Atom) for v in atom.variables()}
    bound.discard("_")
    before = -1
    while before != len(bound):
        before = len(bound)
        for x in rule.assignments():
            if isinstance(x.left, Var) and {v.name for v in term_variables(x.right)} <= bound:
                bound.add(x.left.name)
                bound.discard("_")
    return bound


def _check_arities(rules: Sequence[Rule], source: Source | None) -> Iterator[Problem]:
    first: dict[str, Atom] = {}
    for rule in rules:
        for atom in rule.atoms():
            if atom.predicate.startswith("followat_"):
                continue
            seen = first.setdefault(atom.predicate, atom)
            if len(seen.args) != len(atom.args):
                where = f" on line {source.line_and_column(seen.offset)[0]}" if source else ""
                name, here = quoted(atom.predicate), counted(len(atom.args), "argument")
                what = f"{name} has {here} here, {len(seen.args)} elsewhere"
                yield Problem(what, source, atom.offset, len(name), f"the other is {seen}{where}")


def _check_strata(rules: Sequence[Rule], source: Source | None) -> Iterator[Problem]:
    for edge, path in _bad_cycles(rules):
        name = quoted(edge.atom.predicate)
        cycle = " -> ".join([_key_text(edge.head), _edge_text(edge), *map(_key_text, path[1:])])
        if edge.negated:
            message = f"unstratified negation: {_key_text(edge.head)} depends on what it negates"
            hint = f"the cycle is {cycle}; negate only what is complete before"
        else:
            message = f"{name} needs all of {_key_text(edge.body)}, which this rule helps to define"
            hint = f"the cycle is {cycle}; derive {_key_text(edge.body)} without {name}"
        yield Problem(message, source, edge.atom.offset, len(name), hint)


def _edge_text(edge: _Dependency) -> str:
    text = _key_text(edge.atom.key)
    if edge.atom.key != edge.body:
        text += f" -> {_key_text(edge.body)}"
    return f"\\+ {text}" if edge.negated else text


def _key_text(key: Key) -> str:
    return f"{quoted(key[0])}/{key[1]}"


@dataclass(frozen=True, slots=True)
class _Dependency:
    """`head` needs `body`. A strict one needs all of it first: under `\\+`, or by an operator."""

    head: Key
    body: Key
    atom: Atom
    negated: bool
    strict: bool


def _dependencies(rules: Sequence[Rule]) -> Iterator[_Dependency]:
    """What each rule's head needs among the predicates that rules define."""
    heads = {rule.head.key for rule in rules}
    for rule in rules:
        for literal in rule.body:
            if isinstance(literal, Comparison):
                continue
            atom, negated = atom_of(literal), isinstance(literal, Not)
            dimension = operator_dimension(atom.key)
            body = atom.key if dimension is None else (f"next_{dimension}", 2)
            if body in heads:
                strict = negated or dimension is not None
                yield _Dependency(rule.head.key, body, atom, negated, strict)


def _needs(rules: Sequence[Rule]) -> dict[Key, dict[Key, None]]:
    needs: dict[Key, dict[Key, None]] = {rule.head.key: {} for rule in rules}
    for edge in _dependencies(rules):
        needs[edge.head][edge.body] = None
    return needs


def components(rules: Sequence[Rule]) -> list[list[Key]]:
    """The defined predicates in groups that depend on each other, each after what it needs."""
    # Imported here: only background knowledge needs it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    needs = _needs(rules)
    number = {key: i for i, key in enumerate(needs)}
    pairs = [(number[key], number[other]) for key, others in needs.items() for other in others]
    heads, bodies = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(heads)), (heads, bodies)), shape=[len(needs)] * 2)
    _, group_of = connected_components(graph, connection="strong")
    groups: dict[int, list[Key]] = {}
    for key, group in zip(needs, group_of.tolist(), strict=True):
        groups.setdefault(group, []).append(key)
    order = TopologicalSorter(dict.fromkeys(groups, ()))
    for head, body in zip(group_of[heads].tolist(), group_of[bodies].tolist(), strict=True):
        if head != body:
            order.add(head, body)
    return [groups[group] for group in order.static_order()]


def _bad_cycles(rules: Sequence[Rule]) -> list[tuple[_Dependency, list[Key]]]:
    """Every strict dependency inside a component, with the shortest path back to its head."""
    group_of = {key: i for i, group in enumerate(components(rules)) for key in group}
    needs = _needs(rules)
    return [
        (edge, _path(needs, edge.body, edge.head))
        for edge in _dependencies(rules)
        if edge.strict and group_of[edge.head] == group_of[edge.body]
    ]


def _path(needs: dict[Key, dict[Key, None]], start: Key, end: Key) -> list[Key]:
    """The shortest chain of needs from one predicate to another, both included."""
    paths, reached = {start: [start]}, [start]
    for key in reached:  # which grows meanwhile
        for other in needs[key]:
            if other not in paths:
                paths[other] = [*paths[key], other]
                reached.append(other)
    return paths[end]
