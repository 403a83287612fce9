"""Biases of other systems: the declarations of Aleph and of Popper in our meanings.

What has no counterpart is listed in the notes of the bias, with its line.
"""

from __future__ import annotations

import difflib
import re

from relynx.bias.foreign.systems import Aleph, Popper
from relynx.bias.foreign.terms import ForeignLexer, Opening
from relynx.bias.foreign.translation import Translation
from relynx.errors import Problem, Source
from relynx.logic.nodes import Node
from relynx.logic.tokens import Failure
from relynx.search_settings import SETTINGS

HINTS = re.compile(r"\b(?:modeh|modeb|mode|determination|head_pred|body_pred)\s*\(")
ALEPH = ("modeh", "modeb", "mode", "determination")  # directives
POPPER = ("head_pred", "body_pred")  # facts
NEAR = 0.8  # names more alike than this are taken for slips of the pen
NO_SLIPS = ("module", "model")  # directives of Prolog and of Aleph that only look like one
# Of our own declarations, those that may stand among theirs: they have none such.
OURS = (
    *("dimension", "values", "words"),
    *("negconstraint", "posconstraint", "atmostone", "sametype"),
    *SETTINGS,
)


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
