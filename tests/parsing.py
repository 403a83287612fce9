"""Terms and rules read from short texts."""

from __future__ import annotations

from relynx.logic.nodes import node_rule, node_term
from relynx.logic.parser import parse_whole
from relynx.logic.terms import Rule, Term


def parse_term(text: str) -> Term:
    return node_term(*parse_whole(text))


def parse_rule(text: str) -> Rule:
    return node_rule(*parse_whole(text))
