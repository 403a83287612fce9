"""What can be wrong with a bias: declarations that contradict each other, or the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from relynx.bias.modes import EVENT, LISTS, MODE_SIGNS, Language, SourceSpans, Where, operators
from relynx.bias.wording import wording_problems
from relynx.errors import MOST_PROBLEMS, Problem, counted, did_you_mean
from relynx.logic.dimensions import link_name
from relynx.logic.tables import Key
from relynx.logic.terms import (
    Atom,
    Comparison,
    Constant,
    Literal,
    Struct,
    Term,
    Var,
    constant_key,
    constant_text,
    quoted,
    term_text,
)
from relynx.search_settings import SETTINGS

_MISSING = "is in neither the data nor the background knowledge"


def language_problems(bias: Language, at: SourceSpans) -> list[Problem]:
    """Everything that is wrong with a bias in itself, in the order of its text."""
    atoms = _AtomChecks(bias, at)
    found = chain(
        _check_modes(bias, at),
        _check_values(bias, at),
        _check_dimensions(bias, at),
        _check_settings(bias, at),
        *(atoms.check(("v", i), atom, constants=False) for i, atom in enumerate(bias.allowed)),
        _check_constraints(bias, at, atoms),
        wording_problems(bias, at, atoms.check),
    )
    problems = list(islice(found, MOST_PROBLEMS + 1))
    keys = list(islice(_check_key(bias, at, atoms), MOST_PROBLEMS + 1))
    problems += keys
    if not keys and not at.broken:
        problems += _check_bound(bias, at)
    if not bias.modes and not problems and not at.broken:
        hint = "declare a type and a mode: type(p(event,kind)). mode(p(+,#))."
        problems.append(at.problem((), "this bias has no mode, so no pattern has an atom", hint))
    return sorted(problems, key=lambda problem: problem.offset)


def _check_modes(bias: Language, at: SourceSpans) -> Iterator[Problem]:
    links = operators(bias.dimensions)
    for name, modes in bias.modes.items():
        types = bias.types.get(name)
        for k, mode in enumerate(modes):
            here: Where = ("mode", name, k)
            if name in links:
                dimension = links[name][0]
                what = f"{quoted(name)} belongs to the dimension {dimension}: it has no mode"
                hint = f"leave this out; dimension({quoted('next_' + dimension)}) is enough"
                yield at.problem(here, what, hint)
                continue
            if types is None:
                if name not in at.broken:
                    yield at.problem(here, *_no_type(bias, at, name, mode))
            elif len(types) != len(mode):
                n = counted(len(mode), "argument")
                what = f"a mode of {quoted(name)} has {n}, its type {len(types)}"
                yield at.problem(here, what, _declared_type(bias, at, name))
            for i, sign in enumerate(mode):
                yield from _check_mode_sign(at, (*here, i), sign, types, i)


def _check_mode_sign(
    at: SourceSpans, where: Where, sign: str, types: Sequence[str] | None, i: int
) -> Iterator[Problem]:
    if sign not in MODE_SIGNS:
        hint = "+ a variable already there, - a new one, # a constant, * any of these"
        if sign[:1] in MODE_SIGNS:
            hint = f"write {sign[0]} only; the types stand in a type declaration"
        yield at.problem(where, f"unknown sign '{sign}' in a mode", hint=hint)
    elif sign == "#" and types is not None and i < len(types) and types[i] == EVENT:
        yield at.problem(where, "an event is never a constant: # cannot stand here", "write + or -")


def _declared_type(bias: Language, at: SourceSpans, name: str) -> str:
    line = at.on_line(("type", name))
    return f"the type is declared{line}: {Atom(name, bias.types[name])}"


def _no_type(bias: Language, at: SourceSpans, name: str, mode: tuple[str, ...]) -> tuple[str, str]:
    near = did_you_mean(name, [other for other in bias.types if other not in bias.modes])
    near = near or did_you_mean(name, list(bias.types))
    example = Atom(name, tuple(f"t{i + 1}" for i in range(len(mode))))
    hint = f"declare it: type({example})."
    if near is not None:
        line = at.on_line(("type", near.split("'")[1]))
        hint = near[:-1] + f", declared{line}?"
    return f"{quoted(name)} has a mode and no type", hint


def _check_values(bias: Language, at: SourceSpans) -> Iterator[Problem]:
    known = bias.type_names()
    for type_name, constants in bias.values.items():
        name: Where = ("values", type_name, "name")
        if type_name in (EVENT, "e"):
            what = "an event is never a constant: events have no values"
            yield at.problem(name, what, "leave this out")
        elif type_name not in known and type_name not in at.broken:
            hint = did_you_mean(type_name, known) or "declare it in a type, or leave this out"
            yield at.problem(name, f"no predicate has an argument of the type '{type_name}'", hint)
        seen: set[object] = set()
        for j, constant in enumerate(constants):
            if constant_key(constant) in seen:
                what = f"{constant_text(constant)} stands twice among the values of '{type_name}'"
                yield at.problem(("values", type_name, j), what, "leave one out")
            seen.add(constant_key(constant))


def _check_dimensions(bias: Language, at: SourceSpans) -> Iterator[Problem]:
    for i, dimension in enumerate(bias.dimensions):
        if dimension in bias.dimensions[:i]:
            what = f"the dimension {dimension} is declared twice"
            yield at.problem(("dimension", dimension, i), what)
        elif not dimension:
            yield at.problem(("dimension",), "a dimension needs a name: 's' for next_s")
    fluent = any(EVENT in bias.types.get(name, ()) for name in bias.modes)
    if bias.dimensions and bias.modes and not fluent and not at.broken:
        first = bias.dimensions[0]
        what = f"the dimension {first} links events, but no predicate with a mode has an event"
        hint = f"give the type '{EVENT}' to the arguments that are events"
        yield at.problem(("dimension", first, 0), what, hint)


def _check_settings(bias: Language, at: SourceSpans) -> Iterator[Problem]:
    for declaration, setting in SETTINGS.items():
        value = getattr(bias, setting.field)
        if value is not None and not setting.valid(value):
            what = f"{setting.field} must be {setting.wanted(in_file=False)}, not {value!r}"
            yield at.problem((declaration,), what)


class _AtomChecks:
    """The checks of an atom in a key, a constraint or the white list."""

    def __init__(self, bias: Language, at: SourceSpans) -> None:
        self.bias, self.at = bias, at
        self.links = operators(bias.dimensions)
        self.values = {
            type_name: {constant_key(constant) for constant in constants}
            for type_name, constants in bias.values.items()
        }

    def check(self, where: Where, atom: Atom, *, constants: bool = True) -> Iterator[Problem]:
        name, arity = atom.key
        problem = self.at.problem
        if name in self.at.broken or name.partition("_")[2] in self.at.broken:
            return
        if name in self.links:
            yield from self._check_link(where, atom)
            return
        types = self.bias.types.get(name)
        if types is None or name not in self.bias.modes:
            yield problem(where, *self._undeclared(name, types))
            return
        if len(types) != arity:
            here = counted(arity, "argument")
            what = f"{quoted(name)} has {here} here and {len(types)} in its type"
            yield problem(where, what, _declared_type(self.bias, self.at, name))
            return
        for i, arg in enumerate(atom.args):
            if isinstance(arg, Struct | tuple):
                yield problem((*where, i), "a variable or a constant must stand here")
            elif constants and not isinstance(arg, Var):
                yield from self._check_constant((*where, i), name, i, arg)

    def _undeclared(self, name: str, types: tuple[str, ...] | None) -> tuple[str, str]:
        if types is not None:
            shown = f"mode({quoted(name)}(...))" if types else f"mode({quoted(name)})"
            what = f"{quoted(name)} has a type and no mode: no pattern contains it"
            return what, f"add {shown}"
        if link := link_name(name):
            hint = did_you_mean(name, list(self.links))
            hint = hint or f"add dimension({quoted('next_' + link[1])})."
            return f"the dimension {link[1]} is not declared", hint
        near = did_you_mean(name, [*self.bias.modes, *self.links])
        return f"{quoted(name)} is not declared", near or "give it a type and a mode"

    def _check_link(self, where: Where, atom: Atom) -> Iterator[Problem]:
        wanted = self.links[atom.predicate][1]
        if len(atom.args) != wanted:
            name, here = quoted(atom.predicate), counted(len(atom.args), "argument")
            hint = f"write {name}({'n,X,Y' if wanted == 3 else 'X,Y'})"
            yield self.at.problem(where, f"{name} has {here} here, not {wanted}", hint)
            return
        for i, arg in enumerate(atom.args):
            if wanted == 3 and i == 0:
                if not isinstance(arg, Var) and (not isinstance(arg, int) or arg < 1):
                    what = "the number of steps must be a whole number of at least 1"
                    yield self.at.problem((*where, i), what)
            elif not isinstance(arg, Var):
                yield self._constant_event((*where, i), term_text(arg))

    def _constant_event(self, where: Where, text: str) -> Problem:
        what = f"{text}: an event is never a constant in a pattern"
        return self.at.problem(where, what, "write a variable")

    def _check_constant(
        self, where: Where, name: str, i: int, constant: Constant
    ) -> Iterator[Problem]:
        type_name = self.bias.types[name][i]
        text = constant_text(constant)
        if type_name == EVENT:
            yield self._constant_event(where, text)
        elif type_name in self.values and constant_key(constant) not in self.values[type_name]:
            known = [constant_text(value) for value in self.bias.values[type_name]]
            line = self.at.on_line(("values", type_name))
            hint = f"the values of '{type_name}' are declared{line}"
            if not known:
                hint = f"declare the constants of this type: values({quoted(type_name)},[{text}])."
            what = f"{text} is no value of the type '{type_name}'"
            yield self.at.problem(where, what, did_you_mean(text, known) or hint)
        elif not any(mode[i] in "#*" for mode in self.bias.modes[name] if i < len(mode)):
            hint = "write a variable, or add a mode with # or * in this place"
            yield self.at.problem(where, f"no mode of {quoted(name)} allows a constant here", hint)


def _check_constraints(bias: Language, at: SourceSpans, atoms: _AtomChecks) -> Iterator[Problem]:
    for declaration, name in LISTS.items():
        tests = declaration.endswith("constraint")
        for k, literals in enumerate(getattr(bias, name)):
            found = [literal for literal in literals if isinstance(literal, Atom)]
            if not found:
                what = f"this {declaration} has no atom"
                yield at.problem((declaration, k), what, "leave it out")
            named = {var.name for atom in found for var in atom.variables() if not var.anonymous}
            for i, literal in enumerate(literals):
                here: Where = (declaration, k, i)
                if isinstance(literal, Atom):
                    yield from atoms.check(here, literal)
                elif not tests or not isinstance(literal, Comparison):
                    yield at.problem(here, *refused_literal(declaration, literal))
                else:
                    yield from _check_test(at, here, literal, named)


def refused_literal(declaration: str, literal: Literal) -> tuple[str, str]:
    """Message and hint for a literal that is not an atom where a declaration needs one."""
    what = "atoms and \\== tests" if declaration.endswith("constraint") else "atoms"
    return f"'{literal}' cannot stand in this {declaration}", f"it holds {what} only"


def _check_test(
    at: SourceSpans, where: Where, test: Comparison, named: set[str]
) -> Iterator[Problem]:
    if test.operator != "\\==":
        hint = "\\== is the only test; a rule of the background knowledge can say the rest"
        yield at.problem(where, f"'{test.operator}' cannot stand in a constraint", hint)
        return
    for side, term in enumerate((test.left, test.right)):
        if isinstance(term, Struct | tuple):
            yield at.problem((*where, side), "a variable or a constant must stand here")
        elif isinstance(term, Var) and term.name not in named:
            what = f"the variable {term.name} stands in no atom of this constraint"
            hint = "\\== compares variables of the atoms, or one with a constant"
            yield at.problem((*where, side), what, hint)


def _check_key(bias: Language, at: SourceSpans, atoms: _AtomChecks) -> Iterator[Problem]:
    for i, atom in enumerate(bias.key):
        where: Where = ("key", i)
        if atom.predicate in atoms.links:
            what = "a key is how a pattern begins: no pattern begins with a dimensional atom"
            yield at.problem(where, what, "name a predicate that has a mode")
            continue
        problems = list(atoms.check(where, atom))
        yield from problems
        broken = atom.predicate in at.broken
        if not problems and not broken and not any(_first_modes(bias, atom)):
            what = f"no single mode of {quoted(atom.predicate)} allows these constants together"
            yield at.problem(where, what, "add such a mode, or write variables in the key")


def _first_modes(bias: Language, atom: Atom) -> Iterator[tuple[str, ...]]:
    """The modes that allow an instance of a key atom."""
    for mode in bias.modes.get(atom.predicate, ()):
        if all(isinstance(a, Var) or s in "#*" for a, s in zip(atom.args, mode, strict=False)):
            yield mode


def _check_bound(bias: Language, at: SourceSpans) -> Iterator[Problem]:
    """Modes that no pattern can use, because the key and the other modes never lead to them;
    without a key every atom may be first, and its `+` is then a new variable."""
    if not bias.key:
        return
    known: set[str] = set()
    first = set()
    for atom in bias.key:
        for mode in _first_modes(bias, atom):
            first.add((atom.predicate, mode))
            pairs: Iterable[tuple[str, str, Term]] = zip(
                bias.types[atom.predicate], mode, atom.args, strict=False
            )
            known |= {
                type_name for type_name, sign, arg in pairs if sign != "#" and isinstance(arg, Var)
            }
    modes = [
        (name, k, mode, bias.types[name])
        for name in bias.modes
        if name in bias.types
        for k, mode in enumerate(bias.modes[name])
        if len(mode) == len(bias.types[name])
    ]
    before = -1
    while before != len(known):
        before = len(known)
        for _, _, mode, types in modes:
            if _joins(mode, types, known):
                known |= {
                    type_name for type_name, sign in zip(types, mode, strict=True) if sign in "-*"
                }
    for name, k, mode, types in modes:
        if (name, mode) in first or _joins(mode, types, known):
            continue
        unbound = _unbound(mode, types, known)
        for i in unbound:
            what = f"no variable of the type '{types[i]}' comes into a pattern"
            hint = "let the key, or a - or * of another mode, bring in one"
            yield at.problem(("mode", name, k, i), f"this + is never bound: {what}", hint)
        if not unbound:
            what = f"this mode of {quoted(name)} shares no variable with a pattern"
            hint = "write + or * for an argument, or add the predicate to the key"
            where: Where = ("mode", name, k)
            yield at.problem(where, f"{what}, and the key does not begin with it", hint)


def _joins(mode: Sequence[str], types: Sequence[str], known: set[str]) -> bool:
    """Whether an atom of this mode can be added to a pattern with variables of some types."""
    return not _unbound(mode, types, known) and any(
        sign in "+*" and type_name in known for sign, type_name in zip(mode, types, strict=True)
    )


def _unbound(mode: Sequence[str], types: Sequence[str], known: set[str]) -> list[int]:
    """The `+` arguments for which there is no variable, old or brought in by one before them."""
    known = set(known)
    unbound = []
    for i, (sign, type_name) in enumerate(zip(mode, types, strict=True)):
        if sign in "-*":
            known.add(type_name)
        elif sign == "+" and type_name not in known:
            unbound.append(i)
    return unbound


def data_problems(bias: Language, at: SourceSpans, keys: Iterable[Key]) -> list[Problem]:
    """Predicates of a bias that the data lack; a missing dimension, whose atoms never occur, is
    named only beside them, where it may be the same mistake."""
    arities = dict(keys)
    problems: list[Problem] = []
    missing = False
    for name in bias.modes:
        if len(problems) > MOST_PROBLEMS:
            break
        where: Where = ("type", name)
        if name not in arities:
            missing = True
            hint = did_you_mean(name, list(arities)) or "leave it out, or check its name"
            problems.append(at.problem(where, f"{quoted(name)} {_MISSING}", hint))
        elif arities[name] != len(bias.types[name]):
            here = counted(len(bias.types[name]), "argument")
            what = f"{quoted(name)} has {here} here and {arities[name]} in the data"
            hint = "give a type and a sign for each argument that the data have"
            problems.append(at.problem(where, what, hint))
    for i, dimension in enumerate(bias.dimensions):
        where, link = ("dimension", dimension, i), "next_" + dimension
        if link in arities:
            continue
        if dimension.startswith("next_") and dimension in arities:
            name = dimension.removeprefix("next_")
            what = f"the dimension of {quoted(dimension)} is called {quoted(name)}"
            problems.append(at.problem(where, what, f"write {name!r} instead of {dimension!r}"))
        elif missing:
            near = did_you_mean(link, list(arities))
            problems.append(at.problem(where, f"{quoted(link)} {_MISSING}", near))
    return sorted(problems, key=lambda problem: problem.offset)
