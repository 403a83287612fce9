"""Patterns as English phrases, for people who do not read Prolog."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from relynx.bias import Bias
from relynx.bias.modes import EVENT, Subject
from relynx.bias.wording import PLACEHOLDER, fitting
from relynx.data.discretise import bin_words
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key, constant_text, term_text
from relynx.mining.patterns.pattern import Pattern, link_of

SAME, OTHER = "the same", "another"
# Words whose sound differs from their first letter: an hour, a unit, a European, an X.
SILENT = re.compile(r"(hour|honest|hono(u)?r|heir)")
SPOKEN_AS_YOU = re.compile(
    r"(uni(?![mnd])|u[st][aeiu]|eu|ewe|one(?![a-z])|once(?![a-z])|u(?![a-z]))"
)
LETTER = re.compile(r"[fhlmnrsx](?![a-z])")
NUMBER = re.compile(r"(8\d*|11|18)(?!\d)")
PLURAL = re.compile(r"[^\W\d_]{2,}(?<![siu])s")


class Values:
    """The values of the facts of a pattern: the type of each, and which were mentioned. The type is
    that of the bias, else the argument of a predicate. Its noun is what a value of it is called;
    there is none for types with several."""

    def __init__(self, facts: Iterable[Atom], events: Iterable[Var], bias: Bias | None) -> None:
        self.types: Mapping[str, tuple[str, ...]] = {} if bias is None else bias.types
        self.wording: Mapping[Subject, str] = {} if bias is None else bias.words
        self.events = {*events}
        self.terms: dict[str, set[object]] = {}
        self.nouns: dict[object, set[str]] = {}  # by type, and by variable
        self.times: Counter[Var] = Counter()
        self.earlier: dict[str, set[object]] = {}
        self.mentioned: set[Var] = set()
        for fact in facts:
            for arg, type_, noun in self.of(fact):
                self.nouns.setdefault(type_, set()).add(noun)
                if arg != Var("_"):
                    self.terms.setdefault(type_, set()).add(value_key(arg))
                if isinstance(arg, Var):
                    self.nouns.setdefault(arg, set()).add(noun)
                    self.times[arg] += 1

    def of(self, fact: Atom) -> Iterator[tuple[Term, str, str]]:
        """The arguments of a fact that are no events, each with its type and the noun for it."""
        types = self.types.get(fact.predicate, ())
        if len(types) != len(fact.args):
            types = ()
        alone = self.is_property(fact) and fitting(self.wording, fact) is None
        for i, arg in enumerate(fact.args):
            if arg in self.events:
                continue
            type_ = types[i] if types else f"{fact.predicate}/{len(fact.args)}.{i}"
            noun = types[i] if types and not self.is_made_up(types[i]) else ""
            yield arg, type_, visible(fact.predicate) if alone else noun

    def is_property(self, fact: Atom) -> bool:
        """Whether a fact gives one event one value."""
        return len(fact.args) == 2 and sum(arg in self.events for arg in fact.args) == 1

    def is_made_up(self, type_: str) -> bool:
        """Whether a type has a name that `Bias.infer` made: `did_3`."""
        predicate, _, number = type_.rpartition("_")
        return predicate in self.types and number.isdigit()

    def noun(self, var: Var, type_: str) -> str:
        """The noun of a variable, if it and all others of its type have the same one."""
        nouns = self.nouns.get(type_, {""}) | (set() if var.anonymous else self.nouns[var])
        return next(iter(nouns)) if len(nouns) == 1 else ""

    def mention(self, arg: Term, type_: str, identity: bool) -> str:
        """Whether a value is the same as an earlier one, or another; mentions it."""
        key, earlier = value_key(arg), self.earlier.setdefault(type_, set())
        again = isinstance(arg, Var) and arg in self.mentioned
        other = identity and bool(earlier - {key})
        if isinstance(arg, Var) and not arg.anonymous:
            self.mentioned.add(arg)
        if key != Var("_"):
            earlier.add(key)
        return SAME if again else OTHER if other else ""

    def needs_name(self, var: Var, type_: str, how: str, identity: bool) -> bool:
        """Whether a variable mentioned without its name would be ambiguous."""
        others = self.terms[type_] - {var}
        if not self.noun(var, type_):
            return True
        if len(others) != 1 or not identity:
            return bool(others)
        if any(self.times[term] > 1 for term in self.terms[type_] if isinstance(term, Var)):
            return True
        return how != OTHER and not all(isinstance(term, Var) for term in others)


def value_key(term: Term) -> object:
    """A key that is equal for equal terms only: 1 and 1.0 are two constants."""
    return term if isinstance(term, Var | Struct | tuple) else constant_key(term)


# A text that names an event by itself; others describe it.
NOUN = re.compile(r"(an?|the|some|as many|another|\d[\d.,]*) ", re.IGNORECASE)
# A placeholder with the article and the preposition before it, which disappear with it.
JOINED = re.compile(
    r"(?:\b(?P<before>of|with|in|on|at|to|by|from|for)\s+)?"
    r"(?:\b(?P<article>an?)\s+)?\{(?P<name>[^{}]*)\}"
)
FITTED = "\0"  # an article whose noun is not known yet


def in_words(pattern: Pattern, bias: Bias | None = None, *, object_identity: bool = True) -> str:
    """A pattern as an English phrase.

    Every event is described by its facts and by what it follows. A fact with one value is a
    property of the event, "an event with ward icu". A variable is called by its type, or by its own
    name if there is none; when it occurs again it is "the same", and after others of its type
    "another" or "a different" one. Events that are referred to again are numbered. The wording of a
    bias takes precedence.
    """
    # Which events are referred to again is known only after a first pass.
    first = _Phrase(pattern.atoms, frozenset(), bias, object_identity)
    text, numbered = first.text(), frozenset(first.referred)
    return _Phrase(pattern.atoms, numbered, bias, object_identity).text() if numbered else text


class _Phrase:
    """A phrase under construction: which events and variables it has mentioned."""

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
        self.wording: Mapping[Subject, str] = {} if bias is None else bias.words
        self.names = {
            constant_key(t): w for t, w in self.wording.items() if not isinstance(t, Atom)
        }
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
        self.mentioned: list[Var] = []

    def text(self) -> str:
        clauses = []
        left = list(self.links)
        while left or len(self.mentioned) < len(self.events):
            link = next((a for a in left if any(arg in self.mentioned for arg in a.args)), None)
            if link is not None:
                left.remove(link)
                clauses.append(self.clause(link))
            else:
                event = next(event for event in self.events if event not in self.mentioned)
                clauses.append(("and " if clauses else "") + self.event(event))
        if clauses:
            clauses += [f"where {self.relation(fact, 'holds for')}" for fact in self.relations]
        else:
            clauses = [self.relation(fact, "of") for fact in self.relations]
            clauses[1:] = [f"and {clause}" for clause in clauses[1:]]
        return ", ".join(clauses)

    def clause(self, link: Atom) -> str:
        """A link of which at least one event has been mentioned."""
        source, target = link.args[-2:]
        if source not in self.mentioned:
            return f"and {self.event(source)} {self.verb(link)} by {self.reference(target)}"
        continues = source == self.mentioned[-1] and target not in self.mentioned
        subject = "" if continues else f"and {self.reference(source)} "
        other = self.reference(target) if target in self.mentioned else self.event(target)
        return f"{subject}{self.verb(link)} by {other}"

    def event(self, event: Term) -> str:
        """An event mentioned for the first time, with all its facts. Its noun comes first, then its
        properties, then further descriptions."""
        assert isinstance(event, Var)
        self.mentioned.append(event)
        number = f" ({len(self.mentioned)})" if event in self.numbered else ""
        noun: tuple[str, str] | None = None
        properties: list[str] = []
        others: list[str] = []
        for i, fact in enumerate(self.own[event]):
            found = fitting(self.wording, fact)
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
        """The only value of a fact of one event, after the name of the fact."""
        [(arg, type_, name)] = self.values.of(fact)
        mentioned = self.value(arg, type_, name)
        if not isinstance(arg, Var):
            return f"{name} {mentioned}"
        if arg.anonymous or self.values.noun(arg, type_):
            return mentioned
        return f"{name} {mentioned}" if mentioned == arg.name else f"{mentioned} as {name}"

    def value(self, arg: Term, type_: str, word: str) -> str:
        """A value of a fact: a constant, or a reference to a variable."""
        if not isinstance(arg, Var):
            self.values.mention(arg, type_, self.identity)
            return self.constant(arg)
        if arg.anonymous:
            return f"some {word}" if word else "anything"
        how, name = self.variable(arg, type_)
        if not self.values.noun(arg, type_):
            return " ".join(filter(None, ["a different" if how == OTHER else how, name]))
        return " ".join(filter(None, [how or ("" if name else "some"), word, name]))

    def variable(self, var: Var, type_: str) -> tuple[str, str]:
        """How a variable is referred to: as the same or another one, with its name if needed."""
        how = self.values.mention(var, type_, self.identity)
        named = var in self.related or self.values.needs_name(var, type_, how, self.identity)
        return how, var.name if named else ""

    def filled(self, text: str, binding: Mapping[str, Term], fact: Atom) -> tuple[str, str]:
        """The wording of a fact with its values filled in, and references to its variables. A
        variable has no value to show: "a {L} helix" is "a helix" and "of the same length"."""
        types = {value_key(arg): type_ for arg, type_, _ in self.values.of(fact)}
        after: list[str] = []

        def value(placeholder: re.Match[str]) -> str:
            before, term = placeholder["before"] or "", binding[placeholder["name"]]
            article = FITTED if placeholder["article"] else ""
            following = re.match(r"\s+(\w+)", text[placeholder.end() :])
            counts = following is not None and not article and is_plural(following[1])
            if not isinstance(term, Var) or term in self.own:
                return " ".join(filter(None, [before, article, self.term(term, types)]))
            type_ = types.get(term, "")
            how, name = ("", "") if term.anonymous else self.variable(term, type_)
            word = self.values.noun(term, type_)
            if counts and (before or not text[: placeholder.start()].strip()):  # {N} days
                number = {SAME: "as many", OTHER: "another number of"}.get(how, "some")
                return " ".join(filter(None, [before, name or number]))
            how = "a different" if how == OTHER and not word else how
            reference = " ".join(filter(None, [how, word, name])) if how or name else ""
            if not before:
                after.extend([f"of {reference}"] if reference else [])
                return article
            if following and not reference:
                return f"{before} some{'' if article else f' {word}' if word else 'thing'}"
            if following and article:  # of a {L} kind
                return " ".join([before, *filter(None, [how, name])])
            return f"{before} {reference}" if reference else ""

        head = " ".join(JOINED.sub(value, text).split())
        head = re.sub(rf"{FITTED} ?(\S+)", lambda found: with_article(found[1]), head)
        if "}" in text:
            head = re.sub(r"(?<![\w.,-])1 (\w+)", lambda found: f"1 {singular(found[1])}", head)
        return head, "".join(f" {part}" for part in after)

    def term(self, arg: Term, types: Mapping[object, str]) -> str:
        """What fills a placeholder, if it is not a variable for a value."""
        if isinstance(arg, Var):
            return self.reference(arg)
        self.values.mention(arg, types.get(value_key(arg), ""), self.identity)
        return self.constant(arg)

    def constant(self, arg: Term) -> str:
        """A constant: by the wording of the bias, a range in words, else without quotes."""
        if isinstance(arg, Var | Struct | tuple):
            return visible(term_text(arg))
        mentioned = self.names.get(constant_key(arg))
        if mentioned is not None:
            return mentioned
        if isinstance(arg, str) and (words := bin_words(arg)) is not None:
            return words
        bare = isinstance(arg, str) and arg == arg.strip() != ""
        return visible(str(arg)) if bare else constant_text(arg)

    def argument(self, arg: Term) -> str:
        """An argument of a relation without wording."""
        if not isinstance(arg, Var):
            return self.constant(arg)
        if arg.anonymous:
            return "anything"
        if arg in self.own:
            return self.reference(arg)
        again = arg in self.values.mentioned
        self.values.mentioned.add(arg)
        return f"the same {arg.name}" if again else arg.name

    def plain(self, arg: Term) -> str:
        """An argument of a relation with wording: a variable that is no event has its name."""
        is_value = isinstance(arg, Var) and arg not in self.own
        return term_text(arg) if is_value else self.argument(arg)

    def reference(self, event: Term) -> str:
        assert isinstance(event, Var)
        self.referred.add(event)
        return f"({self.mentioned.index(event) + 1})"

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
        found = fitting(self.wording, fact)
        if found is not None:
            text, binding = found
            return PLACEHOLDER.sub(lambda placeholder: self.plain(binding[placeholder[1]]), text)
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
    """The ends of links; without links, arguments of type event, else first arguments of facts."""
    terms = [arg for link in links for arg in link.args[-2:]]
    if not links:
        for fact in facts:
            own = types.get(fact.predicate, (EVENT,))
            terms += [arg for arg, type_ in zip(fact.args, own, strict=False) if type_ == EVENT]
    named = (term for term in terms if isinstance(term, Var) and not term.anonymous)
    return list(dict.fromkeys(named))


def _is_link(atom: Atom) -> bool:
    return link_of(atom) is not None and all(
        isinstance(arg, Var) and not arg.anonymous for arg in atom.args[-2:]
    )


def _operator(link: Atom) -> tuple[str, str]:
    found = link_of(link)
    assert found is not None
    return found


# English articles, plurals and lists, as far as patterns need them


def visible(text: str) -> str:
    """Text with unprintable and direction-changing characters as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def names_of(classes: Iterable[object], text: Callable[[str], str] = visible) -> list[str]:
    """The classes as distinct texts, even if 1 and '1' are both classes."""
    classes = list(classes)
    names = [text(str(c)) for c in classes]
    return names if len(set(names)) == len(names) else [text(repr(c)) for c in classes]


def with_article(word: str) -> str:
    """The word with its indefinite article."""
    sound = word.lower().lstrip("'\"“‘([ ")
    regular = sound[:1] in tuple("aeiou")
    takes_an = regular or any(rule.match(sound) for rule in (SILENT, LETTER, NUMBER))
    return f"{'an' if takes_an and not SPOKEN_AS_YOU.match(sound) else 'a'} {word}"


def is_plural(word: str) -> bool:
    """Whether a word looks like a plural."""
    return PLURAL.fullmatch(word) is not None


def singular(word: str) -> str:
    """The singular of a plural, and any other word as it is."""
    if not is_plural(word):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(x|ch|sh|ss|zz)es$", word):
        return word[:-2]
    return word[:-1]


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = [*parts] or [""]
    return " and ".join(filter(None, [", ".join(most), last]))
