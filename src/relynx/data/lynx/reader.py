"""Reading files of the original Lynx program: `begin(Id,Class). fact. ... end.`

Nearly all clauses of a real file are plain facts such as `atm(d1,d1_1,c,22,-0.133).` Once a
predicate has been met, a regular expression made for it finds its facts, and a dictionary turns
each distinct piece of text into a code only once; all else, and all that is wrong, is parsed.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from relynx.data.event_arguments import event_conflicts
from relynx.data.sequences import SAME_ARITY, Sequences, SequencesBuilder, counted, wrong_link
from relynx.errors import MOST_PROBLEMS, DataError, ParseError, Problem, Source, raise_first
from relynx.logic.datalog import Background, read_background
from relynx.logic.nodes import Clause, Node
from relynx.logic.parser import ClauseParser
from relynx.logic.source_files import read_source
from relynx.logic.terms import Atom, Constant, constant_key, constant_text, quoted

# What nested terms an atom has: None for a plain argument, else the functor and its own shape.
Shape: TypeAlias = tuple["tuple[str, Shape] | None", ...]

_HEAD = re.compile(r"\s*([a-z][A-Za-z0-9_]*)\(")
_LEAF = r"""([^(),\[\]{}|"%\\]*+)"""
_FACT_END = r"\)\s*\.(?=[\s%]|/\*|\Z)"
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_QUOTED = re.compile(r"'[^'\n\r]*'\Z")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z")
_RESUME = re.compile(r"^[ \t]*(?:begin\(|end\b)", re.MULTILINE)
_KEYWORD = re.compile(r"(begin|end)\b")
_EVENT = ""
_FAST_WIDTH = 50
_SEQUENCE = "a sequence is written begin(Id,Class). ... end."
_OPERATOR = re.compile(r"(?:follow|followat)_(.+)", re.DOTALL)


def read_lynx(
    path: str | os.PathLike[str], background: str | os.PathLike[str] | Background | None = None
) -> tuple[Sequences, NDArray[Any] | None]:
    """Read sequences, and their labels, from a file of the original program.

    Parameters
    ----------
    path
        A file of `begin(Id,Class). fact. ... end.`; where the classes are not known, `begin(Id).`
        Nested terms are flattened, `he(e1,h(right,alpha))` to `he(e1,right,alpha)`, and
        `a(x) < b(y) < (c, d(z)).` makes one event for each position, linked by `next_s`.
    background
        Rules that hold in every sequence: a file (`.bk`) or a `Background`.

    Returns
    -------
    tuple
        The sequences, and an array of their labels, which is None when they have none.

    Raises
    ------
    InputError
        With everything that is wrong with the file.

    Examples
    --------
    >>> import pathlib, tempfile, relynx as rx
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.m")
    >>> _ = path.write_text("begin(s1,fox). p(e1,a). next_s(e1,e2). p(e2,b). end.")
    >>> rx.read_lynx(path)[1].tolist()
    ['fox']
    """
    if background is not None and not isinstance(background, Background):
        background = read_background(background)
    X = LynxReader(read_source(path)).read(background)
    return X, X.labels


class _NotPlain(Exception):
    """An argument is not a plain constant: it needs the full parser."""


class _Codes(dict[str, int]):
    """The code of each text of a constant."""

    def __init__(self, code: Callable[[Constant], int]) -> None:
        self._code = code

    def __missing__(self, text: str) -> int:
        piece = text.strip()
        number = _NUMBER.match(piece)
        if _NAME.match(piece):
            code = self._code(piece)
        elif number:
            code = self._code(float(piece) + 0.0 if number[1] else int(piece))
        elif _QUOTED.match(piece):
            code = self._code(piece[1:-1])
        else:
            raise _NotPlain
        self[text] = code
        return code


class _Predicate(NamedTuple):
    """How a predicate was first used: its shape, where, and the buffer of its facts."""

    shape: Shape
    line: int
    width: int
    buffer: array[int]


class _Fast(NamedTuple):
    """What finds a predicate's next fact, and what stores it."""

    match: Callable[[str, int], re.Match[str] | None]
    append: Callable[[list[int]], None]


class _Begin(NamedTuple):
    """The sequence that is being read; it has no name when its begin was wrong."""

    offset: int
    name: Constant | None


class _Flat(NamedTuple):
    """An atom without nested terms: its node, its shape, the codes of its constants."""

    node: Node
    shape: Shape
    codes: list[int]


class LynxReader:
    """Reads one text; `read` returns its sequences or raises what is wrong with it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parser = ClauseParser(source, resume=_RESUME, directives=False)
        self.builder = SequencesBuilder()
        self.problems: list[Problem] = []
        self.codes = _Codes(self.builder.code)
        self.predicates: dict[str, _Predicate] = {}
        self.fast: dict[str, _Fast] = {}
        self.open: _Begin | None = None
        self.begins = array("q")
        self.ids: dict[object, tuple[int, Constant | None]] = {}
        self.unlabelled: Node | None = None
        self.labelled = False
        self.operators: dict[str, Node] = {}
        self.lines: list[list[list[_Flat]]] = []
        self.outside = False
        self.cut_off = False

    def read(self, background: Background | None = None) -> Sequences:
        self._read_clauses()
        if self.parser.finished:
            if self.open and not self.cut_off:
                self._no_end(self.open, "write 'end.' after its last fact")
            if self.labelled and self.unlabelled:
                hint = "write begin(Id,Class) for all sequences or for none"
                what = "this sequence has no label, but others have one"
                self._report(what, self.unlabelled, hint)
            self._check_operators()
        problems = self.problems + self.parser.problems
        if not self.begins and not problems:
            what = "there is no sequence in this file"
            problems.append(Problem(what, self.source, hint=_SEQUENCE))
        raise_first(problems, ParseError if self.parser.problems else DataError)
        self.fast.clear()
        self.predicates.clear()
        self.codes.clear()
        X = self.builder.build(background=background)
        raise_first(islice(self._conflicts(X), MOST_PROBLEMS + 1), DataError)
        return X

    def _read_clauses(self) -> None:
        """The loop over all clauses; plain facts of known predicates never leave it."""
        text, head, code = self.source.text, _HEAD.match, self.codes.__getitem__
        nothing: dict[str, _Fast] = {}
        known, index, position = nothing, -1, 0
        while not self.parser.finished:
            name = head(text, position)
            fast = known.get(name[1]) if name is not None else None
            if name is not None and fast is not None:
                fact = fast.match(text, name.end())
                if fact is not None:
                    try:
                        row = [index, *map(code, fact.groups())]
                    except _NotPlain:
                        pass
                    else:
                        fast.append(row)
                        position = fact.end()
                        continue
            clause, position = self.parser.next_clause(position)
            if clause is not None:
                self._clause(clause)
            elif not self.parser.finished:
                self._broken_clause()
                self.cut_off = position == len(text)
            known = self.fast if self.open else nothing
            index = len(self.begins) - 1
            if len(self.problems) + len(self.parser.problems) > MOST_PROBLEMS:
                return

    def _report(self, message: str, node: Node, hint: str | None = None) -> None:
        self.problems.append(node.problem(message, self.source, hint))

    def _line(self, offset: int) -> int:
        return self.parser.lexer.line(offset)

    def _broken_clause(self) -> None:
        """Keep count of begin and end even where they cannot be read."""
        keyword = _KEYWORD.match(self.source.text, self.parser.start)
        if keyword and keyword[1] == "begin":
            self._open(self.parser.start, None, None)
        elif keyword:
            self._close()

    def _clause(self, clause: Clause) -> None:
        node = clause.node
        if clause.is_directive:
            hint = "leave it out: a data file holds facts only; flags go into a bias (.l)"
            self._report("a directive is not of this language", node, hint)
        elif clause.is_rule:
            self._report("a rule among the facts", node, "rules go into a background file (.bk)")
        elif node.kind in ("atom", "call") and node.value == "begin":
            self._begin(node)
        elif node.kind in ("atom", "call") and node.value == "end":
            self._end(node)
        elif self.open is None:
            if not self.outside:
                hint = "facts stand between begin(Id,Class). and end."
                self._report("a fact outside any sequence", node, hint)
            self.outside = True
        elif node.kind in ("atom", "call"):
            if flat := self._flat(node):
                self._add(flat)
        elif node.kind in ("infix", "chain") and node.value == "<":
            self._shorthand(node)
        else:
            hint = "every fact is a clause of its own: end it with '.'"
            self._report("expected a fact", node, hint if node.kind == "and" else None)

    def _begin(self, node: Node) -> None:
        constants = [arg.value for arg in node.args if arg.kind in ("atom", "number")]
        if len(constants) != len(node.args) or not 1 <= len(node.args) <= 2:
            variable = next((arg for arg in node.args if arg.kind == "variable"), None)
            if variable:
                self._no_value(variable)
            else:
                hint = "write begin(s1,positive), or begin(s1) where the class is not known"
                self._report("a sequence begins with its id and its class", node, hint)
            self._open(node.start, None, None)
            return
        name, label = constants[0], constants[1] if len(constants) == 2 else None
        if label is None:
            self.unlabelled = self.unlabelled or node
        else:
            self.labelled = True
        self._check_id(node, name, label)
        self._open(node.start, name, label)

    def _check_id(self, node: Node, name: Constant, label: Constant | None) -> None:
        first = self.ids.get(constant_key(name))
        if first is None:
            self.ids[constant_key(name)] = (self._line(node.start), label)
            return
        what = f"a second sequence with the id {constant_text(name)}"
        first_line, other = first
        if label is not None and other is not None and constant_key(label) != constant_key(other):
            labels = f"{constant_text(label)} here, {constant_text(other)} before"
            what += f", and with a label that differs: {labels}"
        hint = f"the first begins on line {first_line}; give every sequence an id of its own"
        self._report(what, node, hint)

    def _open(self, offset: int, name: Constant | None, label: Constant | None) -> None:
        if self.open:
            self._no_end(self.open, f"write 'end.' before the begin of line {self._line(offset)}")
            self._close()
        self.open = _Begin(offset, name)
        self.outside = False
        self.begins.append(offset)
        self.builder.begin("" if name is None else name, label)

    def _no_end(self, begin: _Begin, hint: str) -> None:
        known = begin.name
        name = "this sequence" if known is None else f"the sequence {constant_text(known)}"
        problem = Problem(f"{name} has no 'end.'", self.source, begin.offset, len("begin"), hint)
        self.problems.append(problem)

    def _end(self, node: Node) -> None:
        if node.args:
            self._report("end takes no arguments", node, "write end.")
        elif self.open is None:
            self._report("this 'end.' closes no sequence", node, _SEQUENCE)
        self._close()

    def _close(self) -> None:
        """Finish a sequence: only now are all its constants known."""
        if self.lines:
            fresh = self._fresh_events()
            for line in self.lines:
                self._add_line(line, fresh)
        self.lines = []
        self.open = None
        self.outside = False

    def _flat(self, node: Node) -> _Flat | None:
        """An atom with its nested terms flattened; None, and a report, when it is no fact."""
        codes: list[int] = []
        before = len(self.problems)
        shape = self._flattened(node.args, codes)
        return _Flat(node, shape, codes) if len(self.problems) == before else None

    def _flattened(self, args: tuple[Node, ...], codes: list[int]) -> Shape:
        shape: list[tuple[str, Shape] | None] = []
        for arg in args:
            if arg.kind in ("atom", "number"):
                codes.append(self.builder.code(arg.value))
                shape.append(None)
            elif arg.kind == "call":
                shape.append((str(arg.value), self._flattened(arg.args, codes)))
            else:
                self._no_value(arg)
        return tuple(shape)

    def _no_value(self, arg: Node) -> None:
        if arg.kind == "variable":
            name = str(arg.value)
            small, hint = name[0].lower() + name[1:], "give it a value"
            if small != name and _NAME.match(small):
                hint = f"write {small}, or {quoted(name)} with quotes"
            self._report(f"the variable {name} where only a constant can stand", arg, hint)
        elif arg.kind == "list":
            self._report("a list as an argument of a fact", arg, "write one fact for each element")
        else:
            text = self.source.text[arg.start : arg.end]
            hint = "write its value, or put it between quotes if it is a name"
            hint += f": {quoted(text)}" if len(text) <= 40 else ""
            self._report("an expression as an argument of a fact", arg, hint)

    def _add(self, flat: _Flat, remark: str = "") -> None:
        """Add a fact, if it is written as its predicate was before."""
        node, shape, codes = flat
        name = str(node.value)
        known = self.predicates.get(name)
        if known is None:
            if wrong := wrong_link((name, len(codes))):
                self._report(wrong[0], node, wrong[1])
            buffer = self.builder.buffer(name, len(codes))
            known = _Predicate(shape, self._line(node.start), 1 + len(codes), buffer)
            self.predicates[name] = known
            if 0 < len(codes) <= _FAST_WIDTH:
                pattern = re.compile(_shape_pattern(shape) + _FACT_END)
                self.fast[name] = _Fast(pattern.match, buffer.fromlist)
            if _OPERATOR.fullmatch(name):
                self.operators[name] = node
        elif known.shape != shape:
            self._report_shape(flat, known, remark)
            return
        known.buffer.fromlist([len(self.begins) - 1, *codes])

    def _report_shape(self, flat: _Flat, known: _Predicate, remark: str) -> None:
        node, shape, _ = flat
        name = quoted(str(node.value))
        if len(shape) != len(known.shape):
            here = f"{name} has {counted(len(shape), 'argument')} here{remark}"
            self._report(f"{here} and {len(known.shape)} on line {known.line}", node, SAME_ARITY)
            return
        pairs = enumerate(zip(shape, known.shape, strict=True))
        i, (one, other) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
        here = f"argument {i + 1} of {name} is {_shape_text(one)} here"
        what = f"{here} and {_shape_text(other)} on line {known.line}"
        self._report(what, node, "write it in the same way everywhere")

    def _shorthand(self, node: Node) -> None:
        """Read `l1 < l2 < ... < ln`, and keep it until the sequence ends."""
        self.lines.append(
            [
                [flat for atom in _atoms(position) if (flat := self._at_position(atom))]
                for position in node.args
            ]
        )

    def _at_position(self, atom: Node) -> _Flat | None:
        if atom.kind not in ("atom", "call"):
            hint = "a sequence of positions is written a(x) < b(y) < (c, d(z))"
            self._report("expected an atom at this position", atom, hint)
            return None
        if str(atom.value).startswith("next_"):
            what = f"{quoted(str(atom.value))} links events and cannot stand at a position"
            self._report(what, atom, "the positions of a < b < c are linked by next_s already")
            return None
        return self._flat(atom)

    def _fresh_events(self) -> Iterator[int]:
        """Codes of e1, e2, ... without those that the open sequence uses for something else."""
        used = {code for line in self.lines for at in line for flat in at for code in flat.codes}
        for known in self.predicates.values():
            row = len(known.buffer) - known.width
            while row >= 0 and known.buffer[row] == len(self.begins) - 1:
                used.update(known.buffer[row + 1 : row + known.width])
                row -= known.width
        names = (self.builder.code(f"e{i}") for i in count(1))
        return (code for code in names if code not in used)

    def _add_line(self, line: list[list[_Flat]], fresh: Iterator[int]) -> None:
        """One fresh event for each position, as the first argument of its atoms."""
        last = -1
        for position in line:
            event = next(fresh)
            for node, shape, codes in position:
                self._add(_Flat(node, (None, *shape), [event, *codes]), ", the event included,")
            if last >= 0 and position:
                link = position[0].node._replace(value="next_s")
                self._add(_Flat(link, (None, None), [last, event]))
            last = event

    def _check_operators(self) -> None:
        for name, node in self.operators.items():
            dimension = name.partition("_")[2]
            link = self.predicates.get(f"next_{dimension}")
            if link is not None and link.width == 3:
                what = f"{quoted(name)} is an operator of the dimension {dimension}"
                hint = f"it follows from {quoted('next_' + dimension)}; give the fact another name"
                self._report(f"{what}, and cannot be a fact", node, hint)

    def _conflicts(self, X: Sequences) -> Iterator[Problem]:
        """The constants that are both events and values, with their position in the text."""
        read, nodes = -1, {}
        for conflict in event_conflicts(X.tables, X.vocabulary):
            if conflict.sequence != read:
                read, nodes = conflict.sequence, self._argument_nodes(conflict.sequence)
            atom, argument = conflict.atom, conflict.argument
            short = Atom(atom.predicate, (_EVENT, *atom.args[1:]))
            node = nodes.get((atom, argument)) or nodes.get((short, argument)) or nodes[None]
            yield node.problem(conflict.message, self.source, conflict.hint)

    def _argument_nodes(self, sequence: int) -> dict[tuple[Atom, int] | None, Node]:
        """The nodes of the arguments of a sequence's facts, in a shorthand with _EVENT for the
        event; under None, that of its `begin`."""
        parser = ClauseParser(self.source)
        clause, position = parser.next_clause(self.begins[sequence])
        nodes: dict[tuple[Atom, int] | None, Node] = {}
        while clause is not None and clause.node.value != "end":
            node = clause.node
            nodes.setdefault(None, node)
            shorthand = node.value == "<"
            for part in node.args if shorthand else (node,):
                for fact in _atoms(part):
                    leaves = [fact, *fact.leaves()] if shorthand else [*fact.leaves()]
                    values = [leaf.value for leaf in leaves]
                    values[:shorthand] = [_EVENT] * shorthand
                    atom = Atom(str(fact.value), tuple(values))
                    nodes |= {(atom, i): leaf for i, leaf in enumerate(leaves)}
            clause, position = parser.next_clause(position)
        return nodes


def _atoms(position: Node) -> tuple[Node, ...]:
    return position.args if position.kind == "and" else (position,)


def _shape_pattern(shape: Shape) -> str:
    """A regular expression for arguments of a shape, with a group for each constant."""
    return ",".join(
        _LEAF if inner is None else rf"\s*{re.escape(inner[0])}\({_shape_pattern(inner[1])}\)\s*"
        for inner in shape
    )


def _shape_text(shape: tuple[str, Shape] | None) -> str:
    return "a constant" if shape is None else f"a term {quoted(shape[0])}/{len(shape[1])}"
