"""The words of a bias: how facts, constants and dimensions are told, and what is wrong with them.

A key is an atom for the facts that it fits, else a constant, or `next_h` for a dimension.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from relynx.bias.constraints import matched
from relynx.bias.modes import EVENT
from relynx.bias.source_spans import Places, Where
from relynx.errors import Problem
from relynx.logic.dimensions import link_name
from relynx.logic.terms import Atom, Constant, Term, Var, constant_key, quoted, term_text

Told: TypeAlias = Atom | Constant
Check: TypeAlias = Callable[[Where, Atom], Iterator[Problem]]

PLACE = re.compile(r"\{([^{}]*)\}")


class Worded(Protocol):
    """The declarations that words must agree with."""

    @property
    def types(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def values(self) -> Mapping[str, tuple[Constant, ...]]: ...
    @property
    def dimensions(self) -> tuple[str, ...]: ...
    @property
    def words(self) -> Mapping[Told, str]: ...


def fitting(words: Mapping[Told, str], fact: Atom) -> tuple[str, dict[str, Term]] | None:
    """The words of a fact, and what their variables stand for; None where it has none."""
    for told, text in words.items():
        binding = None
        if isinstance(told, Atom):
            binding = matched(told, fact, {})
        elif not fact.args and told == fact.predicate:
            binding = {}
        if binding is not None:
            return text, dict(binding)
    return None


def word_problems(bias: Worded, at: Places, check_atom: Check) -> Iterator[Problem]:
    """Everything that is wrong with the words of a bias."""
    facts: list[tuple[int, Atom]] = []
    for k, (told, text) in enumerate(bias.words.items()):
        here: Where = ("words", k)
        if not text.strip():
            yield at.problem((*here, "text"), "these words are empty", hint="leave this out")
        if not isinstance(told, Atom):
            yield from _check_name(bias, at, here, told)
            yield from _check_places(at, here, text, {}, "a constant or a dimension")
            continue
        if link_name(told.predicate) and told.args:
            name = quoted("next_" + told.predicate.partition("_")[2])
            yield at.problem(
                here,
                "a dimension is told by its name, without arguments",
                hint=f"write words({name},{quoted(text)}).",
            )
            continue
        problems = list(check_atom(here, told))
        yield from problems
        kinds = bias.types.get(told.predicate, ())
        if problems or len(kinds) != len(told.args):
            continue
        before = next((i for i, other in facts if matched(other, told, {}) is not None), None)
        if before is not None:
            line = at.on_line(("words", before))
            yield at.problem(
                here,
                f"these words are never used: those before them{line} fit every such fact",
                hint="put the words of special facts first, or leave one out",
            )
        facts.append((k, told))
        yield from _check_places(at, here, text, _shown(told, kinds), str(told))


def _shown(told: Atom, kinds: Sequence[str]) -> dict[str, bool]:
    """The variables of a fact, and whether its words may speak of them."""
    pairs = [
        (arg.name, kind)
        for arg, kind in zip(told.args, kinds, strict=True)
        if isinstance(arg, Var) and not arg.anonymous
    ]
    alone = sum(kind == EVENT for kind in kinds) == 1
    return {name: not (alone and kind == EVENT) for name, kind in pairs}


def _check_name(bias: Worded, at: Places, here: Where, told: Constant) -> Iterator[Problem]:
    """A name alone is that of a dimension or of a constant."""
    if not isinstance(told, str) or told in at.broken:
        return
    link = link_name(told)
    if link is not None and link[1] in bias.dimensions:
        if link[0] != "next":
            yield at.problem(
                here,
                f"a dimension is told by its predicate {quoted('next_' + link[1])}",
                hint="its words are those of all three operators",
            )
        return
    listed = {constant_key(value) for values in bias.values.values() for value in values}
    kinds = bias.types.get(told)
    if kinds and told not in listed:
        example = Atom(told, tuple(Var(chr(ord("A") + i % 26)) for i in range(len(kinds))))
        yield at.problem(
            here,
            f"the words of {quoted(told)} are those of a fact: its arguments are missing",
            hint=f"write words({example},...).",
        )
    elif link is not None and link[0] == "next" and told not in listed:
        known = [quoted("next_" + name) for name in bias.dimensions]
        yield at.problem(
            here,
            f"the dimension {link[1]} is not declared",
            hint=f"declared are {', '.join(known)}" if known else f"add dimension({quoted(told)}).",
        )


def _check_places(
    at: Places, here: Where, text: str, shown: Mapping[str, bool], what: str
) -> Iterator[Problem]:
    """What stands between braces must be a variable that may be shown."""
    where: Where = (*here, "text")
    rest = PLACE.sub("", text)
    if "{" in rest or "}" in rest:
        yield at.problem(
            where,
            "a brace without its other half",
            hint="between braces stands a variable, as in 'a {L} helix'",
        )
    names = [name for name, free in shown.items() if free]
    for name in dict.fromkeys(PLACE.findall(text)):
        if name not in shown:
            hint = f"its variables are {', '.join(names)}" if names else "write plain words here"
            yield at.problem(where, f"{{{name}}} is no variable of {what}", hint=hint)
        elif not shown[name]:
            yield at.problem(
                where,
                f"{{{name}}} is the event itself, which the whole phrase stands for",
                hint="leave it out",
            )


def words_text(told: Told, text: str) -> str:
    """A declaration as it is written in a file."""
    return f"words({told if isinstance(told, Atom) else term_text(told)},{quoted(text)})"
