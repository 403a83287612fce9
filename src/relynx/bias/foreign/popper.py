"""Declarations of Popper: `body_pred(near,2). type(near,(car,car)).` and those beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relynx.bias.foreign.terms import Opening
from relynx.bias.foreign.translation import HEAD, Translation
from relynx.errors import counted, did_you_mean
from relynx.logic.nodes import Node
from relynx.logic.terms import quoted

# An output may be bound already; without a direction, an argument may be either.
DIRECTIONS: Mapping[str, str] = {"in": "+", "out": "-+"}
UNTYPED = "any"
MOST_ARGUMENTS = 100
RULE = "a constraint or a rule of answer sets is not read; negconstraint may say it"
VARIABLES = "max_vars is not kept: the length of a pattern is what limits its variables"
CLAUSES = "max_clauses is not kept: a pattern is one conjunction, and a classifier takes many"


class Popper:
    """Reads its facts; `finish` when all are read."""

    directives = False

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.heads: dict[str, Node] = {}
        self.bodies: dict[str, tuple[int, Node]] = {}
        self.given: dict[str, dict[str, tuple[Node, tuple[Node, ...]]]] = {
            "type": {},
            "direction": {},
        }
        self.readers: Mapping[str, Callable[[Node], None]] = {
            "head_pred": self._pred,
            "body_pred": self._pred,
            "type": self._tuple,
            "direction": self._tuple,
            "max_body": self._limit,
            "max_vars": self._limit,
            "max_clauses": self._limit,
        }

    def passed_over(self, opening: Opening, rule: bool) -> None:
        other = opening.directive or rule or not opening.name
        self.to.note(opening.start, RULE if other else f"{opening.name} is not used here")

    def finish(self) -> None:
        """The types and modes of each predicate of a body."""
        for what, given in self.given.items():
            for name, (node, args) in given.items():
                self._check(what, name, node, args)
        for name, (arity, node) in self.bodies.items():
            if name in self.to.broken:
                continue
            if name in self.given["type"]:
                where, types = self.given["type"][name]
                self.to.add_type(name, [str(one.value) for one in types], where)
            else:
                self.to.add_type(name, [UNTYPED] * arity, node)
                if arity:
                    what = f"no type is given: such arguments are of one type, '{UNTYPED}'"
                    self.to.note(node.start, what)
            signs = ["+-"] * arity if arity > 1 else ["+"] * arity
            where, args = node, (node,) * arity
            if name in self.given["direction"]:
                where, args = self.given["direction"][name]
                signs = [DIRECTIONS[str(one.value)] for one in args]
            self.to.add_modes(name, signs, where, args)
        self.to.nothing("body_pred(near,2).")

    def _check(self, what: str, name: str, node: Node, args: tuple[Node, ...]) -> None:
        if name in self.heads or name in self.to.broken:
            return
        if name not in self.bodies:
            hint = did_you_mean(name, [*self.bodies]) or (
                f"add body_pred({quoted(name)},{len(args)})., or leave this out"
            )
            self.to.wrong(node, f"{quoted(name)} has a {what} and no body_pred", hint)
        elif self.bodies[name][0] != len(args):
            arity, declared = self.bodies[name]
            n = counted(len(args), "argument")
            said = f"the {what} of {quoted(name)} has {n}, its body_pred {arity}"
            self.to.wrong(node, said, f"body_pred is on line {self.to.line(declared)}")
            self.to.broken.add(name)

    def _pred(self, node: Node) -> None:
        right = node.kind == "call" and len(node.args) == 2 and node.args[0].kind == "atom"
        if not right:
            what = f"{node.value} takes the name of a predicate and its arity"
            self.to.wrong(node, what, f"as in {node.value}(near,2).")
            return
        name = str(node.args[0].value)
        arity = self.to.count(f"the arity of {quoted(name)}", node, node.args[1], least=0)
        if arity is not None and arity > MOST_ARGUMENTS:
            what = f"{quoted(name)} has more than {MOST_ARGUMENTS} arguments"
            self.to.wrong(node.args[1], what, "give the number of its arguments")
            arity = None
        if arity is None:
            self.to.broken.add(name)
        elif node.value == "head_pred":
            self.heads[name] = node
            self.to.note(node.start, HEAD)
        elif name in self.bodies and self.bodies[name][0] != arity:
            line = self.to.line(self.bodies[name][1])
            what = f"{quoted(name)} has another arity in a body_pred before"
            self.to.wrong(node, what, f"the first is on line {line}; use another name")
        else:
            self.bodies.setdefault(name, (arity, node))

    def _tuple(self, node: Node) -> None:
        """`type(p,(t1,t2))` or `direction(p,(in,out))`."""
        what = str(node.value)
        example = "type(near,(car,car))" if what == "type" else "direction(near,(in,out))"
        right = node.kind == "call" and len(node.args) == 2 and node.args[0].kind == "atom"
        if not right:
            self.to.wrong(node, f"{what} takes a predicate and a tuple", f"as in {example}.")
            self.to.broken |= {str(arg.value) for arg in node.args[:1] if arg.kind == "atom"}
            return
        key, listed = node.args
        name = str(key.value)
        args = listed.args if listed.kind == "and" else (listed,)
        for arg in args:
            text = self.to.text(arg)
            if arg.kind != "atom" or arg.value == "*":
                said = f"expected the name of a {what}, found {text}"
                self.to.wrong(arg, said, f"as in {example}.")
                self.to.broken.add(name)
            elif what == "direction" and arg.value not in DIRECTIONS:
                self.to.wrong(arg, f"unknown direction {text}", "give in or out")
                self.to.broken.add(name)
        if name in self.given[what]:
            line = self.to.line(self.given[what][name][0])
            said = f"the {what} of {quoted(name)} is declared twice"
            self.to.wrong(node, said, f"the first is on line {line}; leave one out")
        else:
            self.given[what][name] = node, args

    def _limit(self, node: Node) -> None:
        name = str(node.value)
        if node.kind != "call" or len(node.args) != 1:
            self.to.wrong(node, f"{name} takes one number", f"as in {name}(4).")
            return
        n = self.to.count(name, node, node.args[0])
        if n is None:
            return
        if name == "max_body":
            self.to.setting("maxsize", n, node)
        else:
            self.to.note(node.start, VARIABLES if name == "max_vars" else CLAUSES)
