"""Patterns in words, for people who do not read Prolog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from relynx.bias.language import Bias
from relynx.bias.signs import EVENT
from relynx.bias.words import PLACE, Told, fitting
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key, term_text
from relynx.mining.patterns import Pattern

ARTICLE = re.compile(r"(an|a|the) ", re.IGNORECASE)
# A place with an article and a short word before it, which would be left hanging without it.
JOINED = re.compile(
    r"(?:\b(?P<before>of|with|in|on|at|to|by|from|for)\s+)?"
    r"(?:\b(?P<article>an?)\s+)?\{(?P<name>[^{}]*)\}"
)
FITTED = "\0"  # an article that waits for its word


def in_words(pattern: Pattern, bias: Bias | None = None) -> str:
    """A pattern as an English phrase.

    Every event is told by its facts and by what it follows. A variable goes by its name; where it
    comes again it is "the same". Events that are spoken of again are numbered. The words of a bias
    go before this. There a variable is silent, and where it comes again it is "of the same" type;
    it is named where the pattern has other variables or constants of its type.

    Parameters
    ----------
    pattern
        What to tell.
    bias
        Its words, and the types that they need.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.mining.words import in_words
    >>> pattern = rx.parse_pattern("he(X,alpha,L), next_s(X,Y), st(Y,L)")
    >>> print(in_words(pattern))
    a he with alpha and L, directly followed by a st with the same L
    >>> bias = rx.parse_bias(
    ...     "type(he(event,kind,length)). mode(he(+,#,-)). type(st(event,length)). mode(st(+,+)). "
    ...     "words(he(E,K,L), 'a {L} {K} helix'). words(st(E,L), 'a {L} strand')."
    ... )
    >>> print(in_words(pattern, bias))
    an alpha helix, directly followed by a strand of the same length
    """
    # Which events are spoken of again shows only when all has been told once.
    first = _Telling(pattern.atoms, frozenset(), bias)
    first.text()
    return _Telling(pattern.atoms, frozenset(first.referred), bias).text()


class _Telling:
    """A phrase in the making: which events and variables it has spoken of."""

    def __init__(
        self, atoms: Iterable[Atom], numbered: frozenset[Var], bias: Bias | None = None
    ) -> None:
        atoms = list(dict.fromkeys(atoms))
        self.links = [atom for atom in atoms if _is_link(atom)]
        facts = [atom for atom in atoms if not _is_link(atom)]
        self.types: Mapping[str, tuple[str, ...]] = {} if bias is None else bias.types
        self.words: Mapping[Told, str] = {} if bias is None else bias.words
        self.names = {constant_key(t): w for t, w in self.words.items() if not isinstance(t, Atom)}
        self.events = _events(self.links, facts, self.types)
        self.own: dict[Var, list[Atom]] = {event: [] for event in self.events}
        self.relations: list[Atom] = []
        for fact in facts:
            events = [arg for arg in fact.args if arg in self.own]
            if len(events) == 1 and isinstance(events[0], Var):
                self.own[events[0]].append(fact)
            else:
                self.relations.append(fact)
        self.related = {arg for fact in self.relations for arg in fact.args}
        self.terms = self._terms_by_type(facts)
        self.many_dimensions = len({_operator(link)[1] for link in self.links}) > 1
        self.numbered = numbered
        self.referred: set[Var] = set()
        self.told: list[Var] = []
        self.known: set[str] = set()

    def _terms_by_type(self, facts: list[Atom]) -> dict[str, set[object]]:
        """The different variables and constants of each type."""
        found: dict[str, set[object]] = {}
        for fact in facts:
            for arg, kind in self.typed(fact):
                key: object = arg
                if not isinstance(arg, Var | Struct | tuple):
                    key = constant_key(arg)
                found.setdefault(kind, set()).add(key)
        return found

    def typed(self, fact: Atom) -> list[tuple[Term, str]]:
        """The arguments of a fact with their types; none where the bias does not have it."""
        kinds = self.types.get(fact.predicate, ())
        return list(zip(fact.args, kinds, strict=True)) if len(kinds) == len(fact.args) else []

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
        phrases = [self.fact(fact, event) for fact in self.own[event]]
        noun = next((i for i, (head, _) in enumerate(phrases) if ARTICLE.match(head)), None)
        if noun is None:
            said = [head + rest for head, rest in phrases]
            return f"an event{number}" + (f" that is {_listed(said)}" if said else "")
        head, rest = phrases.pop(noun)
        others = [head + rest for head, rest in phrases]
        also = f" that is also {_listed(others)}" if others else ""
        return f"{head}{number}{rest}{also}"

    def fact(self, fact: Atom, event: Var) -> tuple[str, str]:
        """A fact of an event: its name, and what is said of it."""
        found = fitting(self.words, fact)
        if found is not None:
            return self.filled(*found, fact)
        first = self.own[event][0] is fact
        article = ("an " if _vowel(fact.predicate) else "a ") if first else ""
        args = [self.argument(arg) for arg in fact.args if arg != event]
        return article + fact.predicate, f" with {_listed(args)}" if args else ""

    def filled(self, text: str, binding: Mapping[str, Term], fact: Atom) -> tuple[str, str]:
        """The words of a fact with its values in their places, and what is said of its variables.

        A variable has no value to show: "a {L} helix" is "a helix" and "of the same length".
        """
        kinds = dict(self.typed(fact))
        after: list[str] = []

        def value(place: re.Match[str]) -> str:
            before, term = place["before"], binding[place["name"]]
            article = FITTED if place["article"] else ""
            if not isinstance(term, Var) or term in self.own:
                return " ".join(filter(None, [before, article, self.argument(term)]))
            kind = kinds.get(term, "")
            same, name = self.variable(term, kind)
            said = " ".join(filter(None, [same, kind, name])) if same or name else ""
            if before is None:
                after.extend([f"of {said}"] if said else [])
                return article
            if re.match(r"\s+\w", text[place.end() :]):  # of {N} days
                return " ".join([before, *(filter(None, [same, name]) if said else ["some"])])
            return f"{before} {said}" if said else ""

        head = " ".join(JOINED.sub(value, text).split())
        head = re.sub(rf"{FITTED} ?(\S+)", _with_article, head)
        return head, "".join(f" {part}" for part in after)

    def variable(self, var: Var, kind: str) -> tuple[str, str]:
        """What is said of a variable in words: "the same" where it comes again, and its name.

        It has no name where no other of its type could be meant.
        """
        if var.anonymous or not kind:
            return "", ""
        again = var.name in self.known
        self.known.add(var.name)
        named = len(self.terms[kind]) > 1 or var in self.related
        return "the same" if again else "", var.name if named else ""

    def plain(self, arg: Term) -> str:
        """An argument of a relation in words: a variable that is no event goes by its name."""
        is_value = isinstance(arg, Var) and arg not in self.own
        return term_text(arg) if is_value else self.argument(arg)

    def argument(self, arg: Term) -> str:
        if not isinstance(arg, Var):
            if isinstance(arg, Struct | tuple):
                return term_text(arg)
            return self.names.get(constant_key(arg), term_text(arg))
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
        if f"next_{dimension}" in self.names:
            inside = f" {self.names[f'next_{dimension}']}"
        if operator == "next":
            return f"directly followed{inside}"
        if operator == "follow":
            return f"followed later{inside}"
        return f"followed {link.args[0]} steps later{inside}"

    def relation(self, fact: Atom) -> str:
        found = fitting(self.words, fact)
        if found is not None:
            text, binding = found
            return "where " + PLACE.sub(lambda place: self.plain(binding[place[1]]), text)
        args = [self.argument(arg) for arg in fact.args]
        return f"where {fact.predicate} holds" + (f" for {_listed(args)}" if args else "")


def _events(
    links: list[Atom], facts: list[Atom], types: Mapping[str, tuple[str, ...]]
) -> list[Var]:
    """What links join; without links, the events by type, else the first arguments of facts."""
    terms = [arg for link in links for arg in link.args[-2:]]
    if not links:
        for fact in facts:
            kinds = types.get(fact.predicate, (EVENT,))
            terms += [arg for arg, kind in zip(fact.args, kinds, strict=False) if kind == EVENT]
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


def _vowel(word: str) -> bool:
    """Whether "an" goes before a word."""
    return word[:1].lower() in (*"aeiou", "8") or word in ("11", "18")


def _with_article(found: re.Match[str]) -> str:
    return f"{'an' if _vowel(found[1]) else 'a'} {found[1]}"


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
