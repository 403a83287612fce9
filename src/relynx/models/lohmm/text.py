"""The text of a logical hidden Markov model: read with the place of everything in it, and written.

What is written reads back as the same model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice

from relynx.bias.modes import DeclarationReader, SourceSpans, Where
from relynx.errors import MOST_PROBLEMS, InputError, ParseError, Source, did_you_mean, raise_first
from relynx.logic.nodes import Clause, Node, node_atom, node_text
from relynx.logic.parser import ClauseParser
from relynx.logic.terms import Atom, Constant, Var, constant_text, quoted
from relynx.logic.tokens import Failure
from relynx.models.lohmm import clauses as cl
from relynx.models.lohmm.checks import clause_problems

EXAMPLES = {
    "type": "type(emacs(file,user))",
    "values": "values(file,[f1,f2])",
    "select": "select(emacs(F,U),F,[0.2,0.8]) or select(file,[0.2,0.8])",
    "selection": "selection(type)",
    "blocks": "blocks([1,6,20])",
}
AS_A_TRANSITION = "as in 0.3 : s(Y) <- o(X) - s(X)."


class _Parser(ClauseParser):
    """Reads transitions beside declarations: a clause that begins with a number is one. Its node is
    of kind `transition`, with the probability, the head, then `start`, or the observation and the
    body, and last the block where there is one."""

    def expression(self, limit: int, depth: int) -> Node:
        begins = self.lexer.kind == "number" or self.lexer.token == "-"
        if limit == 1200 and depth == 0 and begins:
            return self._transition()
        return super().expression(limit, depth)

    def _transition(self) -> Node:
        lexer = self.lexer
        start = lexer.start
        parts = [self._primary(400, 1)]
        if lexer.kind != "symbol" or lexer.token != ":":
            raise self._missing("':' after the probability")
        lexer.advance()
        parts.append(self._primary(400, 1))
        if not lexer.text.startswith("<-", lexer.start):
            raise self._missing("'<-' after the head")
        lexer.advance()
        lexer.advance()
        parts.append(self._primary(400, 1))
        if lexer.token == "-":
            lexer.advance()
            parts.append(self._primary(400, 1))
        if lexer.kind == "punctuation" and lexer.token == ",":
            lexer.advance()
            parts.append(self._primary(400, 1)._replace(kind="block"))
        return Node("transition", "<-", tuple(parts), start, parts[-1].end)

    def _missing(self, wanted: str) -> Failure:
        return self.lexer.failure(f"expected {wanted}", AS_A_TRANSITION)


class ModelReader(DeclarationReader):
    """Collects the clauses of one text, and what is wrong with them."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.start: list[cl.Start] = []
        self.transitions: list[cl.Transition] = []
        self.types: dict[cl.Key, tuple[str, ...]] = {}
        self.values: dict[str, tuple[Constant, ...]] = {}
        self.selections: dict[cl.Slot, tuple[float, ...]] = {}
        self.declared = True  # whether all declarations could be read

    def read(self) -> tuple[cl.Clauses, SourceSpans]:
        """The clauses, and where they stand; raises InputError with all that is wrong."""
        parser = _Parser(self.source)
        position = 0
        while not parser.finished and len(parser.problems) + len(self.problems) <= MOST_PROBLEMS:
            clause, position = parser.next_clause(position)
            if clause is not None:
                self._clause(clause)
            elif not parser.finished:
                self.declared &= self.source.text[parser.start : parser.start + 1] in "-0123456789"
        at = SourceSpans(self.source, self.spans)
        clauses = cl.Clauses(
            self.transitions,
            start=self.start,
            types=self.types,
            values=self.values,
            selections=self.selections,
            **self.settings,
        )
        problems = [*parser.problems, *self.problems]
        if problems and self.declared:
            problems += islice(clause_problems(clauses, at), MOST_PROBLEMS + 1)
        raise_first(problems, ParseError if parser.problems else InputError)
        return clauses, at

    def _clause(self, clause: Clause) -> None:
        node = clause.node
        if node.kind == "transition":
            self._transition(node)
        elif clause.is_directive or clause.is_rule or node.kind not in ("call", "atom"):
            what = "a rule" if clause.is_rule else "a directive" if clause.is_directive else None
            what = f"expected a declaration or a transition, found {what or node_text(node)}"
            self._wrong(node, what, hint=AS_A_TRANSITION)
        else:
            n_problems = len(self.problems)
            self._declaration(node)
            self.declared &= len(self.problems) == n_problems

    # Transitions

    def _transition(self, node: Node) -> None:
        probability, head, *rest = node.args
        block = rest.pop() if rest[-1].kind == "block" else None
        if probability.kind != "number":
            self._expected("a probability", probability)
            return
        of_start = len(rest) == 1
        if of_start != (rest[-1].kind == "atom" and rest[-1].value == cl.START.predicate):
            self._no_start(rest[-1], of_start)
            return
        read = (self._read(node_atom, part) for part in (head, *rest))
        atoms = [atom for atom in read if atom is not None]
        number = self._block(block, of_start) if block is not None else None
        if len(atoms) <= len(rest) or (block is not None and number is None):
            return
        here: Where = ("transition", len(self.transitions))
        if of_start:
            here = ("start", len(self.start))
        self._keep_span(here, node)
        parts = ("probability", "head", "observation", "body")
        for name, part in zip(parts, node.args, strict=False):
            self._keep_span((*here, name), part)
            self._keep_spans((*here, name), part.args)
        if block is not None:
            self._keep_span((*here, "block"), block)
        if of_start:
            self.start.append(cl.Start(_number(probability), atoms[0]))
        else:
            into, shown, body = atoms
            self.transitions.append(cl.Transition(_number(probability), into, shown, body, number))

    def _no_start(self, node: Node, of_start: bool) -> None:
        what, hint = "nothing is shown at the start", "write the head, then: <- start"
        if of_start:
            what = "a transition needs an observation and a body"
            hint = f"{AS_A_TRANSITION} Or write: <- start"
        self._wrong(node, what, hint=hint)

    def _block(self, node: Node, of_start: bool) -> int | None:
        inner = node.args[0] if len(node.args) == 1 else None
        if of_start:
            self._wrong(node, "the start has no block", hint="leave this out")
        elif node.value != "block" or inner is None or not isinstance(inner.value, int):
            what = f"expected a block of steps, found {self._text(node)}"
            self._wrong(node, what, hint="as in 0.3 : s(Y) <- o(X) - s(X), block(2).")
        else:
            return inner.value
        return None

    # Declarations

    def _declaration(self, node: Node) -> None:
        name = str(node.value)
        if name not in EXAMPLES:
            known = f"the declarations are {', '.join(EXAMPLES)}; a transition is written "
            hint = did_you_mean(name, list(EXAMPLES)) or known + AS_A_TRANSITION
            self._wrong(node, f"unknown declaration '{name}'", hint=hint, length=len(name) or None)
            return
        wanted = {"values": (2,), "select": (2, 3)}.get(name, (1,))
        if len(node.args) not in wanted:
            numbers = " or ".join(map(str, wanted))
            noun = "argument" if wanted == (1,) else "arguments"
            what = f"{name} takes {numbers} {noun}, not {len(node.args)}"
            self._wrong(node, what, hint=f"as in {EXAMPLES[name]}.")
            return
        readers: dict[str, Callable[[Node], None]] = {
            "type": self._type,
            "values": self._values,
            "select": self._select,
            "selection": self._selection,
            "blocks": self._blocks,
        }
        readers[name](node)

    def _type(self, node: Node) -> None:
        inner = node.args[0]
        if inner.kind != "call":
            what = f"a type is for a predicate with arguments, not for {node_text(inner)}"
            self._wrong(inner, what, hint=f"as in {EXAMPLES['type']}.")
            return
        key = str(inner.value), len(inner.args)
        for arg in inner.args:
            if arg.kind != "atom":
                hint = "a type is a name that begins with a small letter"
                self._expected("the name of a type", arg, hint)
        if key in self.types:
            what = f"the type of {quoted(key[0])}/{key[1]} is declared twice"
            self._again(("type", *key), node, what)
            return
        self.types[key] = tuple(str(arg.value) for arg in inner.args)
        self._keep_span(("type", *key), inner)
        self._keep_spans(("type", *key), inner.args)

    def _values(self, node: Node) -> None:
        kind, listed = node.args
        if kind.kind != "atom":
            self._expected("the name of a type", kind)
            return
        if not self._is_list(listed):
            return
        name = str(kind.value)
        if name in self.values:
            self._again(("values", name), node, f"the values of '{name}' are declared twice")
            return
        for arg in listed.args:
            if arg.kind not in ("atom", "number"):
                hint = "a name that begins with a capital letter goes between quotes"
                self._expected("a constant", arg, hint if arg.kind == "variable" else None)
        self.values[name] = tuple(arg.value for arg in listed.args)
        self._keep_span(("values", name), node)
        self._keep_spans(("values", name), listed.args)

    def _select(self, node: Node) -> None:
        slot, listed = self._slot(node), node.args[-1]
        if slot is None or not self._is_list(listed):
            return
        for arg in listed.args:
            if arg.kind != "number":
                self._expected("a probability", arg)
                return
        if slot in self.selections:
            what = f"the selection of {cl.slot_text(slot)} is given twice"
            self._again(("select", cl.slot_text(slot)), node, what)
            return
        self.selections[slot] = tuple(map(_number, listed.args))
        self._keep_span(("select", cl.slot_text(slot)), node)
        self._keep_span(("select", cl.slot_text(slot), "list"), listed)

    def _slot(self, node: Node) -> cl.Slot | None:
        """What a selection is of: a type, or the argument at which a variable stands."""
        atom, variable = node.args[:2]
        if len(node.args) == 2:
            if atom.kind == "atom":
                return str(atom.value)
            self._expected("the name of a type", atom, f"as in {EXAMPLES['select']}.")
            return None
        alike = "variable", variable.value
        positions = [i for i, arg in enumerate(atom.args) if (arg.kind, arg.value) == alike]
        if atom.kind != "call" or variable.kind != "variable" or len(positions) != 1:
            what = "expected an atom and a variable that stands there once"
            self._wrong(node, what, hint=f"as in {EXAMPLES['select']}.")
            return None
        return str(atom.value), len(atom.args), positions[0] + 1

    def _selection(self, node: Node) -> None:
        inner = node.args[0]
        if inner.kind != "atom" or inner.value not in ("argument", "type"):
            self._wrong(inner, f"selection must be argument or type, not {self._text(inner)}")
            return
        self._set("selection", str(inner.value), node)

    def _blocks(self, node: Node) -> None:
        listed = node.args[0]
        if not self._is_list(listed):
            return
        for arg in listed.args:
            if not isinstance(arg.value, int) or arg.kind != "number":
                self._expected("the first step of a block", arg, f"as in {EXAMPLES['blocks']}.")
                return
        self._set("blocks", tuple(arg.value for arg in listed.args), node)

    def _is_list(self, node: Node) -> bool:
        if node.kind != "list":
            self._expected("a list", node, f"write [{self._text(node)}]")
        return node.kind == "list"


def _number(node: Node) -> float:
    """A number as a probability may be; one that is too large is infinite."""
    try:
        return float(node.value)
    except OverflowError:
        return -math.inf if str(node.value).startswith("-") else math.inf


def model_lines(model: cl.Clauses) -> Iterator[str]:
    """The text of a model: declarations, start, then body by body the most probable first."""
    for (name, _), types in model.types.items():
        yield f"type({Atom(name, types)})."
    for type_, constants in model.values.items():
        yield f"values({quoted(type_)},[{','.join(map(constant_text, constants))}])."
    if model.selection != "argument":
        yield f"selection({model.selection})."
    for slot, probabilities in model.selections.items():
        if any(probability != 1 / len(probabilities) for probability in probabilities):
            drawn = quoted(slot) if isinstance(slot, str) else f"{cl.slot_atom(*slot, Var('X'))},X"
            yield f"select({drawn},[{','.join(map(constant_text, probabilities))}])."
    if model.blocks:
        yield f"blocks([{','.join(map(str, model.blocks))}])."
    yield from _sorted(model.start)
    for _, of_one in groupby(model.transitions, key=lambda t: cl.variant_key([t.body])):
        for _, of_block in groupby(of_one, key=lambda t: t.block):
            yield ""
            yield from _sorted(list(of_block))


def _sorted(clauses: Sequence[cl.Start] | Sequence[cl.Transition]) -> list[str]:
    ordered = sorted(clauses, key=lambda clause: (-clause.probability, clause.clause()))
    return [str(clause) for clause in ordered]
