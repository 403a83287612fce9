"""The types of the values of a pattern, and which of them a phrase has mentioned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from relynx.bias import Bias
from relynx.bias.modes import Subject
from relynx.bias.wording import fitting
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key
from relynx.mining.wording.english import visible

SAME, OTHER = "the same", "another"


class Values:
    """The values of the facts of a pattern: the type of each, and which were mentioned.

    The type is that of the bias, else the argument of a predicate. Its noun is what a value of it
    is called; there is none for types with several.
    """

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
