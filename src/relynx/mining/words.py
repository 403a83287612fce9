"""Patterns in words, for people who do not read Prolog."""

from __future__ import annotations

from collections.abc import Iterable

from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.terms import Atom, Term, Var, term_text
from relynx.mining.patterns import Pattern


def in_words(pattern: Pattern) -> str:
    """A pattern as an English phrase.

    Every event is told by its facts and by what it follows. A variable goes by its name; where it
    comes again it is "the same". Events that are spoken of again are numbered.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.mining.words import in_words
    >>> print(in_words(rx.parse_pattern("he(X,alpha,L), next_s(X,Y), st(Y,plus,L)")))
    a he with alpha and L, directly followed by a st with plus and the same L
    """
    # Which events are spoken of again shows only when all has been told once.
    first = _Telling(pattern.atoms, frozenset())
    first.text()
    return _Telling(pattern.atoms, frozenset(first.referred)).text()


class _Telling:
    """A phrase in the making: which events and variables it has spoken of."""

    def __init__(self, atoms: Iterable[Atom], numbered: frozenset[Var]) -> None:
        atoms = list(dict.fromkeys(atoms))
        self.links = [atom for atom in atoms if _is_link(atom)]
        facts = [atom for atom in atoms if not _is_link(atom)]
        self.events = _events(self.links, facts)
        self.own: dict[Var, list[Atom]] = {event: [] for event in self.events}
        self.relations: list[Atom] = []
        for fact in facts:
            events = [arg for arg in fact.args if arg in self.own]
            if len(events) == 1 and isinstance(events[0], Var):
                self.own[events[0]].append(fact)
            else:
                self.relations.append(fact)
        self.many_dimensions = len({_operator(link)[1] for link in self.links}) > 1
        self.numbered = numbered
        self.referred: set[Var] = set()
        self.told: list[Var] = []
        self.known: set[str] = set()

    def text(self) -> str:
        clauses = []
        left = list(self.links)
        while left or len(self.told) < len(self.events):
            link = next((a for a in left if any(arg in self.told for arg in a.args)), None)
            if link is not None:
                left.remove(link)
                clauses.append(self.clause(link))
            else:
                event = next(event for event in self.events if event not in self.told)
                clauses.append(("and " if clauses else "") + self.event(event))
        clauses += [self.relation(fact) for fact in self.relations]
        return ", ".join(clauses)

    def clause(self, link: Atom) -> str:
        """A link of which one event at least has been told."""
        source, target = link.args[-2:]
        if source not in self.told:
            return f"and {self.event(source)} {self.verb(link)} by {self.reference(target)}"
        continues = source == self.told[-1] and target not in self.told
        subject = "" if continues else f"and {self.reference(source)} "
        known = target in self.told
        other = self.reference(target) if known else self.event(target)
        return f"{subject}{self.verb(link)} by {other}"

    def event(self, event: Term) -> str:
        """An event that comes for the first time, with all its facts."""
        assert isinstance(event, Var)
        self.told.append(event)
        number = f" ({len(self.told)})" if event in self.numbered else ""
        if not self.own[event]:
            return f"an event{number}"
        first, *more = self.own[event]
        article = "an" if first.predicate[:1] in "aeiou" else "a"
        phrase = f"{article} {first.predicate}{number}{self.arguments(first, event)}"
        others = [f"{fact.predicate}{self.arguments(fact, event)}" for fact in more]
        return f"{phrase} that is also {_listed(others)}" if others else phrase

    def arguments(self, fact: Atom, event: Var) -> str:
        args = [self.argument(arg) for arg in fact.args if arg != event]
        return f" with {_listed(args)}" if args else ""

    def argument(self, arg: Term) -> str:
        if not isinstance(arg, Var):
            return term_text(arg)
        if arg.anonymous:
            return "anything"
        if arg in self.own:
            return self.reference(arg)
        again = arg.name in self.known
        self.known.add(arg.name)
        return f"the same {arg.name}" if again else arg.name

    def reference(self, event: Term) -> str:
        assert isinstance(event, Var)
        self.referred.add(event)
        return f"({self.told.index(event) + 1})"

    def verb(self, link: Atom) -> str:
        operator, dimension = _operator(link)
        inside = f" in {dimension}" if self.many_dimensions else ""
        if operator == "next":
            return f"directly followed{inside}"
        if operator == "follow":
            return f"followed later{inside}"
        return f"followed {link.args[0]} steps later{inside}"

    def relation(self, fact: Atom) -> str:
        args = [self.argument(arg) for arg in fact.args]
        return f"where {fact.predicate} holds" + (f" for {_listed(args)}" if args else "")


def _events(links: list[Atom], facts: list[Atom]) -> list[Var]:
    """What links join; without links, the variables in the first arguments of facts."""
    terms = [arg for link in links for arg in link.args[-2:]]
    if not links:
        terms = [fact.args[0] for fact in facts if fact.args]
    named = (term for term in terms if isinstance(term, Var) and not term.anonymous)
    return list(dict.fromkeys(named))


def _is_link(atom: Atom) -> bool:
    found = link_name(atom.predicate)
    return (
        found is not None
        and len(atom.args) == OPERATORS[found[0]]
        and all(isinstance(arg, Var) and not arg.anonymous for arg in atom.args[-2:])
    )


def _operator(link: Atom) -> tuple[str, str]:
    found = link_name(link.predicate)
    assert found is not None
    return found


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
