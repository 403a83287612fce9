"""Declarations of Aleph, as `:- modeb(*,near(+car,-car)).`, and of Popper, `body_pred(near,2).`

What has no counterpart is listed in the notes of the bias, with its line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from relynx.bias.foreign.terms import COMPARISONS, NEGATION, SIGNED, ForeignLexer, Opening
from relynx.bias.foreign.translation import HEAD, Translation
from relynx.bias.modes import LISTS
from relynx.errors import Problem, Source, counted, did_you_mean
from relynx.logic.nodes import Node, node_text
from relynx.logic.terms import quoted
from relynx.logic.tokens import Failure
from relynx.search_settings import SETTINGS

# The signs of Aleph, and ours. An output may be a variable that is there already: in Aleph two
# outputs with one value share a variable.
MODE_SIGNS: Mapping[str, str] = {"+": "+", "-": "-+", "#": "#", "-#": "*"}
SIGN_HINT = "write + for an input, - for an output, # for a constant, each before a type"
RECALL = "a recall is not kept: an atom may come into a pattern as often as its length allows"
NEGATED = "a negated literal has no mode here; a rule of the background knowledge can say it"
COMPARED = "a comparison has no mode here; a rule of the background knowledge can say it"
POSITIVE = "minpos counts positive examples, and sequences of all classes here"
NEGATIONS = ("not", NEGATION)
BACKGROUND = "background knowledge is not read here: put it into a .bk file"

# An output may be bound already; without a direction, an argument may be either.
DIRECTIONS: Mapping[str, str] = {"in": "+", "out": "-+"}
UNTYPED = "any"
MOST_ARGUMENTS = 100
RULE = "a constraint or a rule of answer sets is not read; negconstraint may say it"
VARIABLES = "max_vars is not kept: the length of a pattern is what limits its variables"
CLAUSES = "max_clauses is not kept: a pattern is one conjunction, and a classifier takes many"

HINTS = re.compile(r"\b(?:modeh|modeb|mode|determination|head_pred|body_pred)\s*\(")
ALEPH = ("modeh", "modeb", "mode", "determination")  # directives
POPPER = ("head_pred", "body_pred")  # facts
NEAR = 0.8  # names more alike than this are taken for slips of the pen
NO_SLIPS = ("module", "model")  # directives of Prolog and of Aleph that only look like one
# Of our own declarations, those that may stand among theirs: they have none such.
OURS = ("dimension", "values", "words", *LISTS, *SETTINGS)
Listed = tuple[Node, tuple[Node, ...]]  # a declaration of Popper, and the elements of its tuple


def _names_first(node: Node) -> bool:
    """Whether a declaration has two arguments, and the first is a name."""
    return node.kind == "call" and len(node.args) == 2 and node.args[0].kind == "atom"


class Aleph:
    """Reads its directives; `finish` when all are read."""

    directives = True

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.target: str | None = None
        self.determined: dict[tuple[str, int], Node] = {}
        self.readers: Mapping[str, Callable[[Node], None]] = {
            "modeh": self._modeh,
            "modeb": self._modeb,
            "mode": self._modeb,  # of heads and bodies alike; a head is no part of a pattern
            "determination": self._determination,
            "set": self._set,
            "aleph_set": self._set,
        }

    def passed_over(self, opening: Opening, rule: bool) -> None:
        if opening.directive:
            what = f"the directive {opening.name}" if opening.name else "this directive"
            self.to.note(opening.start, f"{what} is not used here")
        else:
            self.to.note(opening.start, BACKGROUND)

    def finish(self) -> None:
        """Keep the predicates that are determined, where any are."""
        for (name, arity), node in self.determined.items():
            types = self.to.types.get(name)
            if name in (*COMPARISONS, *NEGATIONS) and types is None:
                continue  # of which its mode, if any, has a note
            if types is None and name not in self.to.broken:
                near = did_you_mean(name, [*self.to.types])
                hint = near or f"add :- modeb(*,{quoted(name)}(...))., or leave this out"
                self.to.wrong(node, f"{quoted(name)} has a determination and no modeb", hint)
            elif types is not None and len(types) != arity:
                n, line = counted(len(types), "argument"), self.to.line(self.to.type_nodes[name])
                what = f"{quoted(name)} has {n} in its modeb, not {arity}"
                self.to.wrong(node, what, f"the modeb is on line {line}")
        names = {name for name, _ in self.determined}
        for name in [*self.to.modes] if names else []:
            if name not in names:
                what = f"{quoted(name)} is left out: no determination names it"
                self.to.note(self.to.type_nodes[name].start, what)
                self.to.drop(name)
        self.to.nothing(":- modeb(*,near(+car,-car)).")

    def _modeh(self, node: Node) -> None:
        if self._template(node) is not None:
            self.to.note(node.start, HEAD)

    def _modeb(self, node: Node) -> None:
        template = self._template(node)
        if template is None:
            return
        if template.value in COMPARISONS and len(template.args) == 2:
            self.to.note(node.start, COMPARED)
            return
        if template.value in NEGATIONS and len(template.args) == 1:
            self.to.note(node.start, NEGATED)
            return
        name = str(template.value)
        args = list(template.leaves(whole=SIGNED))  # as the data have them
        pairs = [pair for arg in args if (pair := self._signed(arg)) is not None]
        if len(pairs) < len(args):
            self.to.broken.add(name)
            return
        types = tuple(type_name for _, type_name in pairs)
        known = self.to.types.get(name)
        if known is None:
            self.to.add_type(name, types, template)
        elif known != types:
            line = self.to.line(self.to.type_nodes[name])
            if len(known) == len(types):
                what = f"{quoted(name)} has other types than on line {line}: this mode is left out"
                self.to.note(template.start, what)
            else:
                n = counted(len(types), "argument")
                what = f"{quoted(name)} has {n} here and {len(known)} before"
                hint = f"the first modeb is on line {line}; use another name"
                self.to.wrong(template, what, hint)
            return
        self.to.add_modes(name, [MODE_SIGNS[sign] for sign, _ in pairs], template, args)

    def _template(self, node: Node) -> Node | None:
        """The literal of a mode, once its recall is seen."""
        example = f":- {node.value}(*,near(+car,-car))."
        if node.kind != "call" or len(node.args) != 2:
            n = counted(len(node.args), "argument")
            what = f"{node.value} takes a recall and a literal, not {n}"
            self.to.wrong(node, what, f"as in {example}")
            return None
        recall, template = node.args
        star = recall.kind == "atom" and recall.value == "*"
        number = recall.kind == "number" and isinstance(recall.value, int) and recall.value >= 1
        if not star and not number:
            what = f"a recall is * or a whole number of at least 1, not {self.to.text(recall)}"
            self.to.wrong(recall, what, f"as in {example}")
            return None
        compared = template.kind == "infix" and template.value in COMPARISONS
        if (template.kind not in ("call", "atom") and not compared) or template.value == "*":
            what = f"expected a literal with signs and types, found {node_text(template)}"
            self.to.wrong(template, what, f"as in {example}")
            return None
        if number and node.value != "modeh":
            self.to.note(node.start, RECALL)
        return template

    def _signed(self, node: Node) -> tuple[str, str] | None:
        sign, inner = "", node
        while inner.kind == "prefix" and len(sign) < 2:
            sign, inner = f"{sign}{inner.value}", inner.args[0]
        if inner.kind == "atom" and sign in MODE_SIGNS and inner.value != "*":
            return sign, str(inner.value)
        self.to.wrong(node, f"expected a sign and a type, found {self.to.text(node)}", SIGN_HINT)
        return None

    def _determination(self, node: Node) -> None:
        if node.kind != "call" or len(node.args) != 2:
            what = f"determination takes two predicates, not {counted(len(node.args), 'argument')}"
            self.to.wrong(node, what, "as in :- determination(eastbound/1,near/2).")
            return
        head, body = map(self._indicator, node.args)
        if head is None or body is None:
            return
        target = f"{quoted(head[0])}/{head[1]}"
        if self.target is None:
            self.target = target
        if target != self.target:
            what = f"determinations of {target} are not used: those of {self.target} come first"
            self.to.note(node.start, what)
        else:
            self.determined.setdefault(body, node.args[1])

    def _indicator(self, node: Node) -> tuple[str, int] | None:
        if node.kind == "infix":
            name, arity = node.args
            whole = arity.kind == "number" and isinstance(arity.value, int)
            if name.kind == "atom" and whole and int(arity.value) >= 0:
                return str(name.value), int(arity.value)
        what = f"expected a predicate with its arity, found {self.to.text(node)}"
        self.to.wrong(node, what, "as in near/2")
        return None

    def _set(self, node: Node) -> None:
        if not _names_first(node):
            what = f"{node.value} takes a setting and its value"
            self.to.wrong(node, what, f"as in :- {node.value}(clauselength,4).")
            return
        key, value = node.args
        name = str(key.value)
        if name == "clauselength":
            n = self.to.count(name, node, value)
            if n == 1:
                self.to.note(node.start, "clauselength 1 leaves no room beside the head: not used")
            elif n is not None:
                self.to.settings["maxsize"] = n - 1, node  # the head is one of the literals there
        elif name == "minpos":
            n = self.to.count(name, node, value)
            if n is not None:
                self.to.settings["minfreq"] = n, node
                self.to.note(node.start, POSITIVE)
        else:
            self.to.note(node.start, f"the setting {name} is of Aleph's search, and not used here")


class Popper:
    """Reads its facts; `finish` when all are read."""

    directives = False

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.heads: dict[str, Node] = {}
        self.bodies: dict[str, tuple[int, Node]] = {}
        self.given: dict[str, dict[str, Listed]] = {"type": {}, "direction": {}}
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
        if not _names_first(node):
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
        if not _names_first(node):
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
            self.to.settings["maxsize"] = n, node
        else:
            self.to.note(node.start, VARIABLES if name == "max_vars" else CLAUSES)


def dialect(source: Source) -> str | None:
    """`aleph` or `popper`, by the first declaration that is theirs; None for our own language."""
    if not HINTS.search(source.text):
        return None
    clauses = ForeignLexer(source)
    position = 0
    while (opening := clauses.opening(position)) is not None:
        if opening.directive and opening.name in ALEPH:
            return "aleph"
        if not opening.directive and opening.name in POPPER:
            return "popper"
        position = clauses.skip()
    return None


class ForeignReader:
    """Takes the clauses of a text that are not ours, one by one; problems of it join `syntax`,
    those of its meaning `problems`."""

    def __init__(
        self, source: Source, name: str, syntax: list[Problem], problems: list[Problem]
    ) -> None:
        self.clauses = ForeignLexer(source)
        self.syntax = syntax
        self.translation = Translation(source, problems)
        self.system: Aleph | Popper
        self.system = Aleph(self.translation) if name == "aleph" else Popper(self.translation)

    def take(self, position: int) -> int | None:
        """The offset behind the clause at an offset; None where it is ours, or where none is."""
        opening = self.clauses.opening(position)
        if opening is None or (opening.name in OURS and not opening.directive):
            return None
        read = self.system.readers.get(opening.name)
        rule = not opening.directive and self.clauses.is_rule()
        if read is None or opening.directive != self.system.directives or rule:
            self._passed_over(opening, rule)
            return self.clauses.skip()
        self.clauses.opening(position)  # again from its first token
        try:
            read(self.clauses.declaration())
            return self.clauses.lexer.end
        except Failure as failure:
            self.syntax.append(failure.problem)
            self.translation.broken.add(opening.name)
            return self.clauses.skip()

    def finished(self, event: str | None) -> Translation:
        """What all the clauses come to, with `event` for the type of events."""
        self.system.finish()
        self.translation.name_events(event)
        self.translation.nothing("a predicate that says something of events")
        return self.translation

    def _passed_over(self, opening: Opening, rule: bool) -> None:
        """A clause that is no declaration: a slip of the pen is a problem, others are noted."""
        alike = opening.directive == self.system.directives and not rule
        if alike and opening.name not in NO_SLIPS:
            near = difflib.get_close_matches(opening.name, [*self.system.readers], n=1, cutoff=NEAR)
            if near:
                name, hint = opening.name, f"did you mean '{near[0]}'?"
                node = Node("atom", name, (), opening.at, opening.at + len(name))
                self.translation.wrong(node, f"unknown declaration '{name}'", hint)
                return
        self.system.passed_over(opening, rule)
