"""Reading a bias: our declarations, the files of the original program (`.l`), Aleph's, Popper's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import TypeAlias, cast

from relynx.bias.checks import refused_literal
from relynx.bias.declarations import Bias
from relynx.bias.foreign import ForeignReader, dialect
from relynx.bias.foreign.translation import Translation
from relynx.bias.modes import EVENT, LISTS, DeclarationReader, SourceSpans, Subject, Where
from relynx.errors import (
    MOST_PROBLEMS,
    BiasError,
    InputError,
    ParseError,
    Source,
    counted,
    did_you_mean,
    raise_first,
)
from relynx.logic.nodes import Clause, Node, node_literal, node_text
from relynx.logic.parser import ClauseParser
from relynx.logic.source_files import read_source
from relynx.logic.terms import Atom, Constant, Literal, flatten, quoted
from relynx.search_settings import SETTINGS

AnyBias: TypeAlias = "Bias | str | os.PathLike[str]"
GOOD_BIAS = "give a Bias, its text, or the path of its file, or None"
ENDINGS = (".l", ".bias")
FLAG = "set_lynx_flag"
MOST_EITHER = 12  # arguments of a mode of the original program that may be variables or constants
OLD_NAMES = {"onlyone": "atmostone"}
# The flags of the original program that are settings here; '$unbalanced_data' is a prior, and
# '$lynx_verbose' says nothing of the language.
FLAGS = {setting.flag or name: name for name, setting in SETTINGS.items() if name != "prior"}
UNBALANCED = "unbalanced_data"
IGNORED_FLAGS = ("lynx_verbose",)
EXAMPLES = {
    "type": "type(he(event,kind))",
    "mode": "mode(he(+,#))",
    "values": "values(kind,[alpha,pi])",
    "dimension": "dimension(next_s)",
    "key": "key([he(_,alpha)])",
    "negconstraint": "negconstraint([he(E,_),he(E,_)])",
    "posconstraint": "posconstraint([he(_,alpha)])",
    "atmostone": "atmostone([he(E,_),st(E,_)])",
    "sametype": "sametype([he(E,_),st(E,_)])",
    "v": "v(he(_,alpha))",
    **{name: f"{name}({setting.example})" for name, setting in SETTINGS.items()},
    "words": "words(he(E,K),'a {K} helix')",
}


def parse_bias(text: str, path: str | None = None, *, event: str | None = None) -> Bias:
    """Read a bias from its declarations; `path` is its name in messages.

    Parameters
    ----------
    text
        Declarations such as `type(he(event,kind)). mode(he(+,#)). dimension(next_s).`; see `Bias`
        for what they mean. A text with a directive `:- set_lynx_flag(...)` is of the original
        program: there `#` means `*`, `+` admits the listed values too, and a type without
        `values` has no constants. Declarations of Aleph (`:- modeb(*,near(+car,-car)).`) and of
        Popper (`body_pred(near,2).`) are read as far as they have a meaning here; the notes of the
        bias say what has none, line by line.
    event
        The type of events, where it is called neither `event` nor `e`.

    Raises
    ------
    InputError
        ParseError where the text is not Prolog, else BiasError; with all problems at once.

    Examples
    --------
    >>> bias = parse_bias("type(he(event,kind)). mode(he(+,#)). dimension(next_s). maxsize(3).")
    >>> bias.types, bias.dimensions, bias.max_length
    ({'he': ('event', 'kind')}, ('s',), 3)
    """
    return _Reader(Source(text, path), event).read()


def read_bias(path: str | os.PathLike[str], *, event: str | None = None) -> Bias:
    """Read a bias from a file: ours, or the original program's, Aleph's, Popper's.

    See `parse_bias` for the parameters and for what is read.
    """
    return _Reader(read_source(path), event).read()


def as_bias(given: AnyBias | None) -> Bias | None:
    """The bias that is given as itself, as its text, or as the path of its file; None for None."""
    if given is None or isinstance(given, Bias):
        return given
    if isinstance(given, os.PathLike):
        return read_bias(given)
    if not isinstance(cast(object, given), str):
        raise InputError(f"bias is {given!r}", hint=GOOD_BIAS)
    if os.path.isfile(given) or (given.lower().endswith(ENDINGS) and "(" not in given):
        return read_bias(given)
    if "(" in given or not given.strip():
        return parse_bias(given)
    what = f"bias is {given!r}, which is neither declarations nor a file"
    raise InputError(what, hint=f"declarations are as {EXAMPLES['type']}. {EXAMPLES['mode']}.")


class _Reader(DeclarationReader):
    """Collects the declarations of one text, and what is wrong with them."""

    again, given = "; leave one out", "set"

    def __init__(self, source: Source, event: str | None = None) -> None:
        given: object = event
        if given is not None and not isinstance(given, str):
            hint = "give the name of the type of events, such as 'car'"
            raise BiasError(f"event is {given!r}", hint=hint)
        super().__init__(source)
        self.event, self.has_event = event, False
        self.broken: set[str] = set()
        self.types: dict[str, tuple[str, ...]] = {}
        self.modes: dict[str, list[tuple[str, ...]]] = {}
        self.mode_nodes: dict[tuple[str, tuple[str, ...]], tuple[Node, list[Node]]] = {}
        self.values: dict[str, tuple[Constant, ...]] = {}
        self.dimensions: list[str] = []
        self.atoms: dict[str, list[Atom]] = {"key": [], "v": []}
        self.lists: dict[str, list[tuple[Literal, ...]]] = {name: [] for name in LISTS}
        self.words: dict[Subject, str] = {}
        self.notes: tuple[str, ...] = ()

    def read(self) -> Bias:
        parser = ClauseParser(self.source)
        system = dialect(self.source)
        foreign = system and ForeignReader(self.source, system, parser.problems, self.problems)
        position, of_the_original = 0, False
        while not parser.finished and len(parser.problems) + len(self.problems) <= MOST_PROBLEMS:
            if foreign and (after := foreign.take(position)) is not None:
                position = after
                continue
            clause, position = parser.next_clause(position)
            if clause is not None:
                self._clause(clause)
                of_the_original |= clause.is_directive and clause.node.args[0].value == FLAG
        if parser.problems:
            raise_first([*parser.problems, *self.problems], ParseError)
        if not parser.finished:
            raise_first(self.problems, BiasError)
        if foreign:
            self._adopt(foreign.finished(self.event))
            if self.problems and not self.modes:  # which the other problems explain
                raise_first(self.problems, BiasError)
        if of_the_original:
            self._translate()
        for name, modes in self.modes.items():
            for k, mode in enumerate(modes):
                node, signs = self.mode_nodes[name, mode]
                self._keep_span(("mode", name, k), node)
                self._keep_spans(("mode", name, k), signs)
        try:
            bias = self._bias()
            self._check_event(bias)
        except BiasError as error:
            self.problems += error.problems
        raise_first(self.problems, BiasError)
        return bias

    def _bias(self) -> Bias:
        settings = {SETTINGS[name].field: value for name, value in self.settings.items()}
        settings |= {LISTS[name]: tuple(listed) for name, listed in self.lists.items()}
        return Bias(
            self.types,
            {name: tuple(modes) for name, modes in self.modes.items()},
            self.values,
            dimensions=tuple(self.dimensions),
            key=tuple(self.atoms["key"]),
            allowed=tuple(self.atoms["v"]),
            words=self.words,
            source_spans=SourceSpans(self.source, self.spans, frozenset(self.broken)),
            notes=self.notes,
            **settings,
        )

    def _check_event(self, bias: Bias) -> None:
        """Raises BiasError where no argument has the type given as that of events."""
        if self.event is None or self.has_event:
            return
        known = bias.type_names()
        hint = did_you_mean(self.event, known) or f"the types are {', '.join(known)}"
        raise BiasError(f"no argument is of the type {self.event!r}", self.source, hint=hint)

    def _adopt(self, found: Translation) -> None:
        """What the declarations of another system come to."""
        self.notes, self.has_event = found.notes(), found.has_event
        self.broken |= found.broken
        for name, types in found.types.items():
            self.types[name] = types
            self._keep_span(("type", name), found.type_nodes[name])
        self.modes |= found.modes
        self.mode_nodes |= found.mode_nodes
        for dimension, node in found.dimensions.items():
            if dimension not in self.dimensions:
                self._keep_span(("dimension", dimension, len(self.dimensions)), node)
                self.dimensions.append(dimension)
        for name, (value, node) in found.settings.items():
            if name not in self.settings:
                self._set(name, value, node)

    def _translate(self) -> None:
        """The modes and values of the original program in our meanings."""
        for name, modes in self.modes.items():
            translated: list[tuple[str, ...]] = []
            for mode in modes:
                for new in self._translated(name, mode):
                    translated.append(new)
                    self.mode_nodes.setdefault((name, new), self.mode_nodes[name, mode])
            self.modes[name] = list(dict.fromkeys(translated))
        for types in self.types.values():
            for type_name in types:
                if type_name != EVENT:
                    self.values.setdefault(type_name, ())

    def _translated(self, name: str, mode: tuple[str, ...]) -> list[tuple[str, ...]]:
        """`#` becomes `*`; `+` stays, and where its type has values may be a constant instead."""
        types = self.types.get(name, ())
        if len(mode) != len(types):
            return [mode]
        choices = [
            "*" if sign == "#" else "+#" if sign == "+" and self.values.get(type_name) else [sign]
            for sign, type_name in zip(mode, types, strict=True)
        ]
        either = sum(len(signs) > 1 for signs in choices)
        if either > MOST_EITHER:
            what = f"{either} arguments may each be a variable or a constant: 2^{either} modes"
            hint = f"there '+' of a type with values is either; have {MOST_EITHER} of them at most"
            self._wrong(self.mode_nodes[name, mode][0], what, hint=hint)
            return [mode]
        return list(product(*choices))

    def _clause(self, clause: Clause) -> None:
        node = clause.node
        if clause.is_directive:
            self._directive(node.args[0])
        elif clause.is_rule:
            hint = "rules are background knowledge: put them into a .bk file"
            self._wrong(node, "a rule among the declarations", hint)
        elif node.kind not in ("call", "atom"):
            self._expected("a declaration", node)
        else:
            self._declaration(node)

    def _declaration(self, node: Node) -> None:
        name = OLD_NAMES.get(str(node.value), str(node.value))
        if name not in EXAMPLES:
            known = [*EXAMPLES, *OLD_NAMES]
            hint = did_you_mean(name, known) or f"the declarations are {', '.join(EXAMPLES)}"
            if name in FLAGS or name == UNBALANCED:
                hint = f"write {FLAGS.get(name, 'prior')}(...)"
            self._wrong(node, f"unknown declaration '{name}'", hint=hint, length=len(name))
            return
        wanted = 2 if name in ("values", "words") else 1
        if len(node.args) != wanted:
            what = f"{node.value} takes {counted(wanted, 'argument')}, not {len(node.args)}"
            self._wrong(node, what, f"as in {EXAMPLES[name]}.")
            return
        readers: dict[str, Callable[[str, Node], None]] = {
            "type": self._type,
            "mode": self._mode,
            "values": self._values,
            "dimension": self._dimension,
            "key": self._atoms,
            "v": self._atoms,
            "words": self._words,
        }
        if name in SETTINGS:
            self._setting(name, node.args[0], node)
        else:
            readers.get(name, self._list)(name, node)

    def _directive(self, node: Node) -> None:
        name = str(node.value)
        if node.kind != "call" or name != FLAG:
            near = did_you_mean(name, [FLAG]) if node.kind in ("call", "atom") else None
            hint = near or f"{FLAG} is the only directive of a bias; leave this out"
            self._wrong(node, f"unknown directive '{name}'", hint, length=len(name))
            return
        if len(node.args) != 2 or node.args[0].kind != "atom":
            self._wrong(node, f"{FLAG} takes a flag and its value", hint="as in ('$maxsize',3)")
            return
        key, value = node.args
        flag = str(key.value).removeprefix("$")
        if flag in IGNORED_FLAGS:
            return
        if flag == UNBALANCED:
            prior = {"true": "uniform", "false": "empirical"}.get(str(value.value))
            if prior is None or value.kind != "atom":
                self._wrong(value, f"{UNBALANCED} must be true or false, not {self._text(value)}")
            else:
                self._set("prior", prior, node)
        elif flag in FLAGS:
            self._setting(FLAGS[flag], value, node, shown=flag)
        else:
            known = [*FLAGS, UNBALANCED, *IGNORED_FLAGS]
            hint = did_you_mean(flag, known) or f"the flags are {', '.join(known)}"
            self._wrong(key, f"unknown flag '{flag}'", hint=hint)

    def _setting(self, name: str, value: Node, node: Node, *, shown: str | None = None) -> None:
        setting = SETTINGS[name]
        found = setting.from_file(value.value) if value.kind in ("atom", "number") else None
        if found is None:
            wanted = setting.wanted(in_file=True)
            self._wrong(value, f"{shown or name} must be {wanted}, not {self._text(value)}")
        else:
            self._set(name, found, node)

    def _type(self, _: str, node: Node) -> None:
        found = self._signature(node, "a type")
        if found is None:
            return
        name, args = found
        if name in self.types:
            self._again(("type", name), node, f"the type of {quoted(name)} is declared twice")
            return
        for arg in args:
            if arg.kind != "atom":
                hint = "a type is a name that begins with a small letter"
                self._expected("the name of a type", arg, hint)
                self.broken.add(name)
        events = ("e", self.event)
        self.has_event |= any(arg.value == self.event for arg in args)
        self.types[name] = tuple(EVENT if arg.value in events else str(arg.value) for arg in args)
        self._keep_span(("type", name), node.args[0])

    def _mode(self, _: str, node: Node) -> None:
        found = self._signature(node, "a mode")
        if found is None:
            return
        name, args = found
        mode = tuple(str(a.value) if a.kind == "atom" else self._text(a) for a in args)
        if (name, mode) not in self.mode_nodes:
            self.modes.setdefault(name, []).append(mode)
            self.mode_nodes[name, mode] = node.args[0], args

    def _signature(self, node: Node, what: str) -> tuple[str, list[Node]] | None:
        """A predicate and its arguments, nested ones in one row, as the data have them."""
        inner = node.args[0]
        if inner.kind not in ("call", "atom"):
            what = f"{what} is for one predicate, not for {node_text(inner)}"
            self._wrong(inner, what, f"as in {EXAMPLES[str(node.value)]}.")
            return None
        return str(inner.value), list(inner.leaves())

    def _values(self, _: str, node: Node) -> None:
        type_node, listed = node.args
        if type_node.kind != "atom":
            self._expected("the name of a type", type_node)
            return
        name = str(type_node.value)
        if listed.kind != "list":
            example = f"values({quoted(name)},[{self._text(listed)}])"
            self._expected("a list", listed, f"write {example}.")
            return
        if name in self.values:
            self._again(("values", name), node, f"the values of '{name}' are declared twice")
            return
        for arg in listed.args:
            if arg.kind not in ("atom", "number"):
                capital = "a name that begins with a capital letter goes between quotes"
                hint = capital if arg.kind == "variable" else None
                self._wrong(arg, f"expected a constant, found '{self._text(arg)}'", hint)
        self.values[name] = tuple(arg.value for arg in listed.args)
        self._keep_span(("values", name), node)
        self._keep_span(("values", name, "name"), type_node)
        self._keep_spans(("values", name), listed.args)

    def _dimension(self, _: str, node: Node) -> None:
        inner = node.args[0]
        name = str(inner.value)
        if inner.kind != "atom" or not name.startswith("next_") or name == "next_":
            hint = "a dimension is named by its predicate next_NAME, as in dimension(next_s)."
            if inner.kind == "atom" and name != "next_":
                written = f"dimension({quoted('next_' + name)})"
                hint = f"its predicate must be next_NAME: write {written}."
            self._wrong(inner, f"'{self._text(inner)}' is no dimension", hint=hint)
            return
        dimension = name.removeprefix("next_")
        if dimension in self.dimensions:
            where = ("dimension", dimension, self.dimensions.index(dimension))
            self._again(where, node, f"the dimension {dimension} is declared twice")
            return
        self._keep_span(("dimension", dimension, len(self.dimensions)), inner)
        self.dimensions.append(dimension)

    def _atoms(self, name: str, node: Node) -> None:
        """The atoms of a `key`, or the one of a `v`."""
        for arg in self._elements(node) if name == "key" else node.args:
            atom = self._atom(name, arg)
            if atom is not None:
                self._keep_atom_spans((name, len(self.atoms[name])), arg)
                self.atoms[name].append(atom)

    def _list(self, name: str, node: Node) -> None:
        """An `atmostone` or `sametype`, or a constraint, which may hold tests, too."""
        read = self._literal if name.endswith("constraint") else partial(self._atom, name)
        listed = self._elements(node)
        literals = [literal for arg in listed if (literal := read(arg)) is not None]
        if listed and len(literals) == len(listed):
            where: Where = (name, len(self.lists[name]))
            self._keep_span(where, node)
            for i, arg in enumerate(listed):
                self._keep_atom_spans((*where, i), arg)
            self.lists[name].append(tuple(literals))

    def _words(self, name: str, node: Node) -> None:
        inner, text = node.args
        example = f"as in {EXAMPLES[name]}."
        if text.kind != "atom":
            self._expected("a text between quotes", text, example)
            return
        subject: Subject
        if inner.kind in ("atom", "number"):
            subject = inner.value
        elif inner.kind == "call" and (atom := self._literal(inner)) is not None:
            assert isinstance(atom, Atom)
            subject = atom
        else:
            if inner.kind != "call":
                what = f"a fact, a constant or a dimension, not for {node_text(inner)}"
                self._wrong(inner, f"words are for {what}", example)
            return
        if subject in self.words:
            k = list(self.words).index(subject)
            self._again((name, k), node, f"there are words for {self._text(inner)} already")
            return
        k = len(self.words)
        self.words[subject] = str(text.value)
        self._keep_atom_spans((name, k), inner)
        self._keep_span((name, k, "text"), text)

    def _elements(self, node: Node) -> tuple[Node, ...]:
        """The elements of the list that a declaration needs; none where it is wrong."""
        inner = node.args[0]
        if inner.kind != "list":
            self._expected("a list", inner, f"write {node.value}([{self._text(inner)}]).")
            return ()
        if not inner.args:
            self._wrong(node, f"this {node.value} has no atom", hint="leave it out")
        return inner.args

    def _atom(self, name: str, node: Node) -> Atom | None:
        literal = self._literal(node)
        if literal is not None and not isinstance(literal, Atom):
            self._wrong(node, *refused_literal(name, literal))
        return literal if isinstance(literal, Atom) else None

    def _literal(self, node: Node) -> Literal | None:
        literal = self._read(node_literal, node)
        return flatten(literal) if isinstance(literal, Atom) else literal

    def _keep_atom_spans(self, where: Where, node: Node) -> None:
        self._keep_span(where, node)
        self._keep_spans(where, node.leaves())

    def _wrong(
        self, node: Node, message: str, hint: str | None = None, *, length: int | None = None
    ) -> None:
        super()._wrong(node, message, hint, length=length)
        self.broken |= set(_names(node))


def _names(node: Node) -> Iterator[str]:
    if node.kind in ("call", "atom"):
        yield str(node.value)
    for arg in node.args:
        yield from _names(arg)
