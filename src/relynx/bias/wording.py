"""The wording that a bias declares for facts, constants and dimensions, and its checks.

`words` maps a subject to a text. A subject is an atom, for the facts that it matches, a constant,
or `next_h` for a dimension.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from relynx.bias.constraints import matched
from relynx.bias.modes import EVENT, Language, SourceSpans, Subject, Where
from relynx.errors import Problem
from relynx.logic.dimensions import link_name
from relynx.logic.terms import Atom, Constant, Term, Var, constant_key, quoted, term_text

Check: TypeAlias = Callable[[Where, Atom], Iterator[Problem]]

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def fitting(words: Mapping[Subject, str], fact: Atom) -> tuple[str, dict[str, Term]] | None:
    """The text for a fact and the values of its variables; None where no subject matches."""
    for subject, text in words.items():
        binding = None
        if isinstance(subject, Atom):
            binding = matched(subject, fact, {})
        elif not fact.args and subject == fact.predicate:
            binding = {}
        if binding is not None:
            return text, dict(binding)
    return None


def wording_problems(bias: Language, at: SourceSpans, check_atom: Check) -> Iterator[Problem]:
    facts: list[tuple[int, Atom]] = []
    for k, (subject, text) in enumerate(bias.words.items()):
        here: Where = ("words", k)
        if not text.strip():
            yield at.problem((*here, "text"), "these words are empty", hint="leave this out")
        if not isinstance(subject, Atom):
            yield from _check_name(bias, at, here, subject)
            yield from _check_placeholders(at, here, text, {}, "a constant or a dimension")
            continue
        if link_name(subject.predicate) and subject.args:
            name = quoted("next_" + subject.predicate.partition("_")[2])
            hint = f"write words({name},{quoted(text)})."
            yield at.problem(here, "a dimension is named without arguments", hint)
            continue
        problems = list(check_atom(here, subject))
        yield from problems
        types = bias.types.get(subject.predicate, ())
        if problems or len(types) != len(subject.args):
            continue
        before = next((i for i, other in facts if matched(other, subject, {}) is not None), None)
        if before is not None:
            line = at.on_line(("words", before))
            what = f"these words are never used: those before them{line} fit every such fact"
            yield at.problem(here, what, "put the words of special facts first, or leave one out")
        facts.append((k, subject))
        yield from _check_placeholders(at, here, text, _shown(subject, types), str(subject))


def _shown(subject: Atom, types: Sequence[str]) -> dict[str, bool]:
    """The variables of a subject, and whether its text may mention them."""
    pairs = [
        (arg.name, type_name)
        for arg, type_name in zip(subject.args, types, strict=True)
        if isinstance(arg, Var) and not arg.anonymous
    ]
    alone = sum(type_name == EVENT for type_name in types) == 1
    return {name: not (alone and type_name == EVENT) for name, type_name in pairs}


def _check_name(
    bias: Language, at: SourceSpans, here: Where, subject: Constant
) -> Iterator[Problem]:
    """A name alone is that of a dimension or of a constant."""
    if not isinstance(subject, str) or subject in at.broken:
        return
    link = link_name(subject)
    if link is not None and link[1] in bias.dimensions:
        if link[0] != "next":
            what = f"a dimension is named by its predicate {quoted('next_' + link[1])}"
            yield at.problem(here, what, "its words are those of all three operators")
        return
    listed = {constant_key(value) for values in bias.values.values() for value in values}
    types = bias.types.get(subject)
    if types and subject not in listed:
        example = Atom(subject, tuple(Var(chr(ord("A") + i % 26)) for i in range(len(types))))
        what = f"the words of {quoted(subject)} are those of a fact: its arguments are missing"
        yield at.problem(here, what, f"write words({example},...).")
    elif link is not None and link[0] == "next" and subject not in listed:
        known = [quoted("next_" + name) for name in bias.dimensions]
        hint = f"declared are {', '.join(known)}" if known else f"add dimension({quoted(subject)})."
        yield at.problem(here, f"the dimension {link[1]} is not declared", hint)


def _check_placeholders(
    at: SourceSpans, here: Where, text: str, shown: Mapping[str, bool], what: str
) -> Iterator[Problem]:
    """What stands between braces must be a variable that may be shown."""
    where: Where = (*here, "text")
    rest = PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        hint = "between braces stands a variable, as in 'a {L} helix'"
        yield at.problem(where, "a brace without its other half", hint)
    names = [name for name, free in shown.items() if free]
    for name in dict.fromkeys(PLACEHOLDER.findall(text)):
        if name not in shown:
            hint = f"its variables are {', '.join(names)}" if names else "write plain words here"
            yield at.problem(where, f"{{{name}}} is no variable of {what}", hint=hint)
        elif not shown[name]:
            what = f"{{{name}}} is the event itself, which the whole phrase describes"
            yield at.problem(where, what, "leave it out")


def wording_text(subject: Subject, text: str) -> str:
    """A declaration as it is written in a file."""
    return f"words({subject if isinstance(subject, Atom) else term_text(subject)},{quoted(text)})"
