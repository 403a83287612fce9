"""Patterns as English phrases, for people who do not read Prolog."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from relynx.bias import Bias
from relynx.bias.modes import EVENT, Subject
from relynx.bias.wording import PLACEHOLDER, fitting
from relynx.data.discretise import bin_words
from relynx.data.schema import Column, Schema
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key, constant_text, term_text
from relynx.mining.english import is_plural, listed, set_off, shortened, singular, with_article
from relynx.mining.patterns.pattern import Pattern, link_of

SAME, OTHER = "the same", "another"
JOINER = re.compile(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
# A column of this name says what an event is: a value of it is "a return event".
KIND = re.compile(
    r"(event|activity|action|task|step|operation)([ _]?(name|type|label))?|concept:name",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of a fact that is no event: its type, the noun for it, and its column."""

    term: Term
    type: str
    noun: str
    column: Column | None


class Values:
    """The values of the facts of a pattern: the type of each, and which were mentioned. The type is
    that of the bias, else the argument of a predicate. Its noun is what a value of it is called,
    that of its column in a table; there is none for types with several."""

    def __init__(
        self,
        facts: Iterable[Atom],
        events: Iterable[Var],
        types: Mapping[str, tuple[str, ...]],
        bias: Bias | None,
        reading: Schema | None,
    ) -> None:
        self.types = types
        self.columns = {} if reading is None else reading.arguments
        self.tables = () if reading is None else {one.predicate for one in reading.relations}
        self.wording: Mapping[Subject, str] = {} if bias is None else bias.words
        self.events = {*events}
        self.terms: dict[str, set[object]] = {}
        self.nouns: dict[object, set[str]] = {}  # by type, and by variable
        self.times: Counter[Var] = Counter()
        self.constants: dict[str, dict[object, Term]] = {}  # by type and key
        self.earlier: dict[str, set[object]] = {}
        self.mentioned: set[Var] = set()
        for fact in facts:
            for one in self.of(fact):
                self.nouns.setdefault(one.type, set()).add(one.noun)
                if one.term != Var("_"):
                    self.terms.setdefault(one.type, set()).add(value_key(one.term))
                if not isinstance(one.term, Var):
                    own = self.constants.setdefault(one.type, {})
                    own[value_key(one.term)] = one.term
                if isinstance(one.term, Var):
                    self.nouns.setdefault(one.term, set()).add(one.noun)
                    self.times[one.term] += 1

    def of(self, fact: Atom) -> Iterator[Value]:
        """The arguments of a fact that are no events."""
        types = self.types.get(fact.predicate, ())
        if len(types) != len(fact.args):
            types = ()
        worded = fitting(self.wording, fact) is not None
        alone = self.is_property(fact) and not worded
        for i, arg in enumerate(fact.args):
            if arg in self.events:
                continue
            type_ = types[i] if types else f"{fact.predicate}/{len(fact.args)}.{i}"
            noun = types[i] if types and not self.is_made_up(types[i]) else ""
            column = self.columns.get((fact.key, i))
            if column is not None and not (worded and noun):
                noun = self.title(fact, column)
            elif alone:
                noun = visible(fact.predicate)
            yield Value(arg, type_, noun, column)

    def title(self, fact: Atom, column: Column) -> str:
        """The name of a column, after that of a table which has no other one."""
        name, table = shortened(visible(column.name)), visible(fact.predicate)
        n_events = sum(arg in self.events for arg in fact.args)
        alone = fact.predicate in self.tables and n_events < 2 and len(fact.args) == n_events + 1
        return f"{table} {name}" if alone and table != name else name

    def is_of_columns(self, fact: Atom) -> bool:
        """Whether a fact is made of columns of a table, in other words than those of a bias."""
        return fitting(self.wording, fact) is None and any(one.column for one in self.of(fact))

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

    def later_constants(self, var: Var, type_: str) -> list[Term]:
        """The constants of its type, all to be mentioned yet, where a variable occurs but once and
        there is no other one."""
        found = self.constants.get(type_, {})
        alone = self.times[var] == 1 and len(self.terms[type_]) == len(found) + 1
        return [] if self.earlier.get(type_) or not alone else [*found.values()]

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


def in_words(
    pattern: Pattern,
    bias: Bias | None = None,
    *,
    reading: Schema | None = None,
    object_identity: bool = True,
) -> str:
    """A pattern as an English phrase.

    Every event is described by its facts and by what it follows. A fact with one value is a
    property of the event, "an event with ward icu". A variable is called by its type, or by its own
    name if there is none; when it occurs again it is "the same", and after others of its type
    "another" or "a different" one. Events that are referred to again are numbered. With the reading
    of a table, all its values are properties called by their columns; one of a column such as
    `activity` names the event. The wording of a bias takes precedence.
    """
    # Which events are referred to again is known only after a first pass.
    first = _Phrase(pattern.atoms, frozenset(), bias, reading, object_identity)
    text, numbered = first.text(), frozenset(first.referred)
    if not numbered:
        return text
    return _Phrase(pattern.atoms, numbered, bias, reading, object_identity).text()


class _Phrase:
    """A phrase under construction: which events and variables it has mentioned."""

    def __init__(
        self,
        atoms: Iterable[Atom],
        numbered: frozenset[Var],
        bias: Bias | None,
        reading: Schema | None,
        object_identity: bool,
    ) -> None:
        atoms = list(dict.fromkeys(atoms))
        self.identity = object_identity
        self.reading = None if reading is None or reading.is_of_facts else reading
        self.links = [atom for atom in atoms if _is_link(atom)]
        facts = [atom for atom in atoms if not _is_link(atom)]
        self.wording: Mapping[Subject, str] = {} if bias is None else bias.words
        self.names = {
            constant_key(t): w for t, w in self.wording.items() if not isinstance(t, Atom)
        }
        types = _types(bias, self.reading)
        self.events = _events(self.links, facts, types)
        self.own: dict[Var, list[Atom]] = {event: [] for event in self.events}
        self.values = Values(facts, self.events, types, bias, self.reading)
        self.of_sequence: list[Atom] = []
        self.relations: list[Atom] = []
        for fact in facts:
            events = [arg for arg in fact.args if arg in self.own]
            if len(events) == 1 and isinstance(events[0], Var):
                self.own[events[0]].append(fact)
            elif EVENT not in types.get(fact.predicate, ()) and self.values.is_of_columns(fact):
                self.of_sequence.append(fact)
            else:
                self.relations.append(fact)
        self.related = {arg for fact in self.relations for arg in fact.args}
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
        if self.of_sequence:
            said = [one for fact in self.of_sequence for one in self.properties(fact)]
            inside = "in " if clauses else ""
            clauses.append(f"{inside}a sequence with {listed(said)}")
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
            elif noun is None and (kind := self.kind(fact)) is not None:
                noun = with_article(f"{self.value(kind)} {self.kind_noun(kind)}"), ""
                properties += self.properties(fact, kind)
            elif self.values.is_of_columns(fact) or self.values.is_property(fact):
                properties += self.properties(fact)
            else:
                values = [self.value(one) for one in self.values.of(fact)]
                name = visible(fact.predicate)
                if i == 0:
                    noun = with_article(name), ""
                    properties += values
                else:
                    others.append(name + (f" with {listed(values)}" if values else ""))
        head, rest = noun or (with_article(self.event_noun), "")
        has = f" with {listed(properties)}" if properties else ""
        also = "also " if noun or properties else ""
        more = f" that is {also}{listed(others)}" if others else ""
        return f"{head}{number}{rest}{has}{more}"

    def kind(self, fact: Atom) -> Value | None:
        """The value of a fact that says what an event is, in a column for that."""
        for one in self.values.of(fact):
            column, term = one.column, one.term
            if column is None or not isinstance(term, str) or constant_key(term) in self.names:
                continue
            if column.type == "text" and self.kind_noun(one):
                return one
        return None

    def kind_noun(self, value: Value) -> str:
        """The noun for the events of which a column says what they are, "" for another column."""
        assert self.reading is not None
        assert value.column is not None
        intervals, name = self.reading.intervals, value.column.name
        if intervals is not None and intervals.symbol == name:
            return self.event_noun
        found = KIND.fullmatch(name)
        return "" if found is None else (found[1] or "event").lower()

    @property
    def event_noun(self) -> str:
        intervals = None if self.reading is None else self.reading.intervals
        return "event" if intervals is None else "interval"

    def properties(self, fact: Atom, told: Value | None = None) -> list[str]:
        """The values of a fact of one event, or of the sequence, that are not told yet."""
        values = [one for one in self.values.of(fact) if one != told]
        known = [one for one in values if one.term != Var("_")]
        said = [self.property(one) for one in known or ([] if told else values)]
        if fact.predicate in self.values.tables and len(values) > 1:
            return [f"{with_article(visible(fact.predicate))} ({listed(said)})"]
        return said

    def property(self, value: Value) -> str:
        """A value after its noun."""
        arg, noun = value.term, value.noun
        mentioned = self.value(value)
        if not isinstance(arg, Var):
            if value.column is not None and value.column.cuts == ():  # one range: any number
                return f"some {noun}"
            return " ".join(filter(None, [noun, "of" * self.is_range(value), mentioned]))
        if arg.anonymous or self.values.noun(arg, value.type):
            return mentioned
        return f"{noun} {mentioned}" if mentioned == arg.name else f"{mentioned} as {noun}"

    def value(self, value: Value) -> str:
        """A value of a fact: a constant, or a reference to a variable."""
        arg, word = value.term, value.noun
        if not isinstance(arg, Var):
            self.values.mention(arg, value.type, self.identity)
            return self.constant(arg, value.column, among_words=True)
        if arg.anonymous:
            return f"some {word}" if word else "anything"
        if word and (others := self.values.later_constants(arg, value.type)) and self.identity:
            self.variable(arg, value.type)
            than = (self.constant(one, value.column, among_words=True) for one in others)
            return (
                f"{word if is_plural(word) else with_article(word)} other than {' or '.join(than)}"
            )
        how, name = self.variable(arg, value.type)
        if not self.values.noun(arg, value.type):
            return " ".join(filter(None, ["a different" if how == OTHER else how, name]))
        if how == OTHER and is_plural(word.split()[-1]):
            how = "other"
        return " ".join(filter(None, [how or ("" if name else "some"), word, name]))

    def variable(self, var: Var, type_: str) -> tuple[str, str]:
        """How a variable is referred to: as the same or another one, with its name if needed."""
        how = self.values.mention(var, type_, self.identity)
        named = var in self.related or self.values.needs_name(var, type_, how, self.identity)
        return how, var.name if named else ""

    def filled(self, text: str, binding: Mapping[str, Term], fact: Atom) -> tuple[str, str]:
        """The wording of a fact with its values filled in, and references to its variables. A
        variable has no value to show: "a {L} helix" is "a helix" and "of the same length"."""
        types = {value_key(one.term): one.type for one in self.values.of(fact)}
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

    def constant(
        self, arg: Term, column: Column | None = None, *, among_words: bool = False
    ) -> str:
        """A constant: by the wording of the bias, a range in words, else as it was written; in
        quotation marks where it stands among words of ours and could be taken for them."""
        if isinstance(arg, Var | Struct | tuple):
            return visible(term_text(arg))
        mentioned = self.names.get(constant_key(arg))
        if mentioned is not None:
            return mentioned
        if isinstance(arg, str) and (words := _range(arg, column)) is not None:
            return words
        if column is not None and column.type == "number" and isinstance(arg, float):
            return str(int(arg)) if arg.is_integer() and abs(arg) < 2**53 else str(arg)
        bare = isinstance(arg, str) and arg == arg.strip() != ""
        text = shortened(visible(str(arg)) if bare else constant_text(arg))
        return set_off(text) if among_words and bare else text

    def is_range(self, value: Value) -> bool:
        """Whether a constant is a range whose words need a preposition: "of 5 or more"."""
        arg = value.term
        if not isinstance(arg, str) or constant_key(arg) in self.names:
            return False
        return not (_range(arg, value.column) or "below").startswith("below")

    def argument(self, arg: Term) -> str:
        """An argument of a relation without wording."""
        if not isinstance(arg, Var):
            return self.constant(arg, among_words=True)
        if arg.anonymous:
            return "anything"
        if arg in self.own:
            return self.reference(arg)
        again = arg in self.values.mentioned
        self.values.mentioned.add(arg)
        return f"the same {arg.name}" if again else arg.name

    def plain(self, arg: Term) -> str:
        """An argument of a relation with wording: a variable that is no event has its name."""
        if isinstance(arg, Var):
            return self.argument(arg) if arg in self.own else term_text(arg)
        return self.constant(arg)

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
        name = visible(fact.predicate)
        if self.reading is not None and fact.predicate in self.reading.interval_relations:
            one, other = map(self.argument, fact.args)
            return f"{one} {name if name.endswith('s') else 'is ' + name.replace('_', ' ')} {other}"
        if self.values.is_of_columns(fact):
            events = listed(self.argument(arg) for arg in fact.args if arg in self.own)
            said = [self.property(one) for one in self.values.of(fact)]
            return f"{name} holds for {events} with {listed(said)}"
        args = [self.argument(arg) for arg in fact.args]
        if len(args) == 1 and not isinstance(fact.args[0], Var):
            return f"{name} is {args[0]}"
        if holds == "of":
            return f"a fact {name}" + (f" of {listed(args)}" if args else "")
        return f"{name} holds" + (f" for {listed(args)}" if args else "")


def _types(bias: Bias | None, reading: Schema | None) -> dict[str, tuple[str, ...]]:
    """The types of the arguments of each predicate: those of the bias, else of a table."""
    types = {} if bias is None else {**bias.types}
    for group in () if reading is None else reading.groups:
        assert reading is not None
        n = reading.n_events[group.predicate]
        own = tuple(f"{group.predicate}_{n + 1 + i}" for i in range(len(group.columns)))
        types.setdefault(group.predicate, (EVENT,) * n + own)
    return types


def _range(name: str, column: Column | None) -> str | None:
    """The words of a range of numbers; a text of a column that is not cut is none."""
    return bin_words(name) if column is None or column.cuts else None


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


def visible(text: str) -> str:
    """Text with unprintable and direction-changing characters as escapes, but for those that join
    the parts of an emoji, or letters of other scripts."""
    if text.isprintable():
        return text
    joins = {found.start() for found in JOINER.finditer(text)}
    return "".join(
        c if c.isprintable() or i in joins else c.encode("unicode_escape").decode()
        for i, c in enumerate(text)
    )


def names_of(classes: Iterable[object], text: Callable[[str], str] = visible) -> list[str]:
    """The classes as distinct texts, even if 1 and '1' are both classes."""
    classes = list(classes)
    names = [text(str(c)) for c in classes]
    return names if len(set(names)) == len(names) else [text(repr(c)) for c in classes]
