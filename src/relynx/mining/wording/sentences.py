"""Patterns in words, for people who do not read Prolog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from relynx.bias import Bias
from relynx.bias.modes import EVENT
from relynx.bias.wording import PLACEHOLDER, Subject, fitting
from relynx.data.discretise import bin_words
from relynx.logic.dimensions import OPERATORS, link_name
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key, constant_text, term_text
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.wording.english import is_plural, listed, singular, visible, with_article
from relynx.mining.wording.values import OTHER, SAME, Values, value_key

# Words that name an event by themselves; others are told of it.
NOUN = re.compile(r"(an?|the|some|as many|another|\d[\d.,]*) ", re.IGNORECASE)
# A place with an article and a short word before it, which would be left hanging without it.
JOINED = re.compile(
    r"(?:\b(?P<before>of|with|in|on|at|to|by|from|for)\s+)?"
    r"(?:\b(?P<article>an?)\s+)?\{(?P<name>[^{}]*)\}"
)
FITTED = "\0"  # an article that waits for its word


def in_words(pattern: Pattern, bias: Bias | None = None, *, object_identity: bool = True) -> str:
    """A pattern as an English phrase.

    Every event is told by its facts and by what it follows. A fact with one value is told as a
    property of the event, "an event with ward icu". A variable goes by the name of what it is, or
    by its own where there is none; where it comes again it is "the same", and where others of its
    kind came before it "another" or "a different" one. Events that are spoken of again are
    numbered. The words of a bias go before all this.

    Parameters
    ----------
    pattern
        What to tell.
    bias
        Its words and types.
    object_identity
        Whether different variables stand for different things, as they do by default.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.mining.wording.sentences import in_words
    >>> pattern = rx.parse_pattern("he(X,alpha,L), next_s(X,Y), st(Y,L)")
    >>> print(in_words(pattern))
    a he with alpha and L, directly followed by an event with the same L as st
    >>> bias = rx.parse_bias(
    ...     "type(he(event,kind,length)). mode(he(+,#,-)). type(st(event,length)). mode(st(+,+)). "
    ...     "words(he(E,K,L), 'a {L} {K} helix'). words(st(E,L), 'a {L} strand')."
    ... )
    >>> print(in_words(pattern, bias))
    an alpha helix, directly followed by a strand of the same length
    """
    # Which events are spoken of again shows only when all has been told once.
    first = _Telling(pattern.atoms, frozenset(), bias, object_identity)
    first.text()
    return _Telling(pattern.atoms, frozenset(first.referred), bias, object_identity).text()


class _Telling:
    """A phrase in the making: which events and variables it has spoken of."""

    def __init__(
        self,
        atoms: Iterable[Atom],
        numbered: frozenset[Var],
        bias: Bias | None = None,
        object_identity: bool = True,
    ) -> None:
        atoms = list(dict.fromkeys(atoms))
        self.identity = object_identity
        self.links = [atom for atom in atoms if _is_link(atom)]
        facts = [atom for atom in atoms if not _is_link(atom)]
        self.words: Mapping[Subject, str] = {} if bias is None else bias.words
        self.names = {constant_key(t): w for t, w in self.words.items() if not isinstance(t, Atom)}
        self.events = _events(self.links, facts, {} if bias is None else bias.types)
        self.own: dict[Var, list[Atom]] = {event: [] for event in self.events}
        self.relations: list[Atom] = []
        for fact in facts:
            events = [arg for arg in fact.args if arg in self.own]
            if len(events) == 1 and isinstance(events[0], Var):
                self.own[events[0]].append(fact)
            else:
                self.relations.append(fact)
        self.related = {arg for fact in self.relations for arg in fact.args}
        self.values = Values(facts, self.events, bias)
        self.many_dimensions = len({_operator(link)[1] for link in self.links}) > 1
        self.numbered = numbered
        self.referred: set[Var] = set()
        self.told: list[Var] = []

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
        if clauses:
            clauses += [f"where {self.relation(fact, 'holds for')}" for fact in self.relations]
        else:
            clauses = [self.relation(fact, "of") for fact in self.relations]
            clauses[1:] = [f"and {clause}" for clause in clauses[1:]]
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
        """An event that comes for the first time, with all its facts.

        What names it comes first, then its properties, then what else it is.
        """
        assert isinstance(event, Var)
        self.told.append(event)
        number = f" ({len(self.told)})" if event in self.numbered else ""
        noun: tuple[str, str] | None = None
        properties: list[str] = []
        others: list[str] = []
        for i, fact in enumerate(self.own[event]):
            found = fitting(self.words, fact)
            if found is not None:
                head, rest = self.filled(*found, fact)
                if noun is None and NOUN.match(head):
                    noun = head, rest
                else:
                    others.append(head + rest)
            elif self.values.is_property(fact):
                properties.append(self.property(fact))
            else:
                values = [self.value(*one) for one in self.values.of(fact)]
                name = visible(fact.predicate)
                if i == 0:
                    noun = with_article(name), ""
                    properties += values
                else:
                    others.append(name + (f" with {listed(values)}" if values else ""))
        head, rest = noun or ("an event", "")
        has = f" with {listed(properties)}" if properties else ""
        also = "also " if noun or properties else ""
        more = f" that is {also}{listed(others)}" if others else ""
        return f"{head}{number}{rest}{has}{more}"

    def property(self, fact: Atom) -> str:
        """The one value that a fact gives its event, after the name of the fact."""
        [(arg, kind, name)] = self.values.of(fact)
        if not isinstance(arg, Var) or arg.anonymous:
            told = self.value(arg, kind, name)
            return told if isinstance(arg, Var) else f"{name} {told}"
        told = self.value(arg, kind, name)
        if self.values.word(arg, kind):
            return told
        return f"{name} {told}" if told == arg.name else f"{told} as {name}"

    def value(self, arg: Term, kind: str, word: str) -> str:
        """A value of a fact: a constant, or what is said of a variable."""
        if not isinstance(arg, Var):
            self.values.tell(arg, kind, self.identity)
            return self.constant(arg)
        if arg.anonymous:
            return f"some {word}" if word else "anything"
        how, name = self.variable(arg, kind)
        if not self.values.word(arg, kind):
            return " ".join(filter(None, ["a different" if how == OTHER else how, name]))
        return " ".join(filter(None, [how or ("" if name else "some"), word, name]))

    def variable(self, var: Var, kind: str) -> tuple[str, str]:
        """What is said of a variable: that it is the same or another, and its name if need be."""
        how = self.values.tell(var, kind, self.identity)
        named = var in self.related or self.values.needs_name(var, kind, how, self.identity)
        return how, var.name if named else ""

    def filled(self, text: str, binding: Mapping[str, Term], fact: Atom) -> tuple[str, str]:
        """The words of a fact with its values in their places, and what is said of its variables.

        A variable has no value to show: "a {L} helix" is "a helix" and "of the same length".
        """
        kinds = {value_key(arg): kind for arg, kind, _ in self.values.of(fact)}
        after: list[str] = []

        def value(place: re.Match[str]) -> str:
            before, term = place["before"] or "", binding[place["name"]]
            article = FITTED if place["article"] else ""
            following = re.match(r"\s+(\w+)", text[place.end() :])
            counts = following is not None and not article and is_plural(following[1])
            if not isinstance(term, Var) or term in self.own:
                return " ".join(filter(None, [before, article, self.term(term, kinds)]))
            kind = kinds.get(term, "")
            how, name = ("", "") if term.anonymous else self.variable(term, kind)
            word = self.values.word(term, kind)
            if counts and (before or not text[: place.start()].strip()):  # {N} days
                number = {SAME: "as many", OTHER: "another number of"}.get(how, "some")
                return " ".join(filter(None, [before, name or number]))
            how = "a different" if how == OTHER and not word else how
            said = " ".join(filter(None, [how, word, name])) if how or name else ""
            if not before:
                after.extend([f"of {said}"] if said else [])
                return article
            if following and not said:
                return f"{before} some{'' if article else f' {word}' if word else 'thing'}"
            if following and article:  # of a {L} kind
                return " ".join([before, *filter(None, [how, name])])
            return f"{before} {said}" if said else ""

        head = " ".join(JOINED.sub(value, text).split())
        head = re.sub(rf"{FITTED} ?(\S+)", lambda found: with_article(found[1]), head)
        if "}" in text:
            head = re.sub(r"(?<![\w.,-])1 (\w+)", _one, head)
        return head, "".join(f" {part}" for part in after)

    def term(self, arg: Term, kinds: Mapping[object, str]) -> str:
        """What stands in a place of given words, if it is no variable for a value."""
        if isinstance(arg, Var):
            return self.reference(arg)
        self.values.tell(arg, kinds.get(value_key(arg), ""), self.identity)
        return self.constant(arg)

    def constant(self, arg: Term) -> str:
        """A constant by the words of the bias, a range in words, else as it is, without quotes."""
        if isinstance(arg, Var | Struct | tuple):
            return visible(term_text(arg))
        told = self.names.get(constant_key(arg))
        if told is not None:
            return told
        if isinstance(arg, str) and (words := bin_words(arg)) is not None:
            return words
        bare = isinstance(arg, str) and arg == arg.strip() != ""
        return visible(str(arg)) if bare else constant_text(arg)

    def argument(self, arg: Term) -> str:
        """An argument of a relation that has no words."""
        if not isinstance(arg, Var):
            return self.constant(arg)
        if arg.anonymous:
            return "anything"
        if arg in self.own:
            return self.reference(arg)
        again = arg in self.values.known
        self.values.known.add(arg)
        return f"the same {arg.name}" if again else arg.name

    def plain(self, arg: Term) -> str:
        """An argument of a relation in words: a variable that is no event goes by its name."""
        is_value = isinstance(arg, Var) and arg not in self.own
        return term_text(arg) if is_value else self.argument(arg)

    def reference(self, event: Term) -> str:
        assert isinstance(event, Var)
        self.referred.add(event)
        return f"({self.told.index(event) + 1})"

    def verb(self, link: Atom) -> str:
        operator, dimension = _operator(link)
        inside = f" in {visible(dimension)}" if self.many_dimensions else ""
        if f"next_{dimension}" in self.names:
            inside = f" {self.names[f'next_{dimension}']}"
        if operator == "next":
            return f"directly followed{inside}"
        if operator == "follow":
            return f"followed later{inside}"
        steps = "1 step" if link.args[0] == 1 else f"{link.args[0]} steps"
        return f"followed {steps} later{inside}"

    def relation(self, fact: Atom, holds: str) -> str:
        """A fact of several events, or of none."""
        found = fitting(self.words, fact)
        if found is not None:
            text, binding = found
            return PLACEHOLDER.sub(lambda place: self.plain(binding[place[1]]), text)
        args = [self.argument(arg) for arg in fact.args]
        name = visible(fact.predicate)
        if len(args) == 1 and not isinstance(fact.args[0], Var):
            return f"{name} is {args[0]}"
        if holds == "of":
            return f"a fact {name}" + (f" of {listed(args)}" if args else "")
        return f"{name} holds" + (f" for {listed(args)}" if args else "")


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


def _one(found: re.Match[str]) -> str:
    """One thing, where the words speak of several."""
    return f"1 {singular(found[1]) if is_plural(found[1]) else found[1]}"
