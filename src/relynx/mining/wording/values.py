"""Of which kind the values of a pattern are, and which of them have been told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from relynx.bias import Bias
from relynx.bias.wording import Subject, fitting
from relynx.logic.terms import Atom, Struct, Term, Var, constant_key
from relynx.mining.wording.english import visible

SAME, OTHER = "the same", "another"


class Values:
    """The values of the facts of a pattern: of which kind each is, and what was told of them.

    A kind is a type of the bias, else an argument of a predicate. Its word is what a value of it
    is called; there is none for kinds that go by several.
    """

    def __init__(self, facts: Iterable[Atom], events: Iterable[Var], bias: Bias | None) -> None:
        self.types: Mapping[str, tuple[str, ...]] = {} if bias is None else bias.types
        self.told_in_words: Mapping[Subject, str] = {} if bias is None else bias.words
        self.events = {*events}
        self.terms: dict[str, set[object]] = {}
        self.words: dict[object, set[str]] = {}  # of kinds, and of variables
        self.times: Counter[Var] = Counter()
        self.before: dict[str, set[object]] = {}
        self.known: set[Var] = set()
        for fact in facts:
            for arg, kind, word in self.of(fact):
                self.words.setdefault(kind, set()).add(word)
                if arg != Var("_"):
                    self.terms.setdefault(kind, set()).add(value_key(arg))
                if isinstance(arg, Var):
                    self.words.setdefault(arg, set()).add(word)
                    self.times[arg] += 1

    def of(self, fact: Atom) -> Iterator[tuple[Term, str, str]]:
        """The arguments of a fact that are no events, each with its kind and the word for it."""
        types = self.types.get(fact.predicate, ())
        if len(types) != len(fact.args):
            types = ()
        alone = self.is_property(fact) and fitting(self.told_in_words, fact) is None
        for i, arg in enumerate(fact.args):
            if arg in self.events:
                continue
            kind = types[i] if types else f"{fact.predicate}/{len(fact.args)}.{i}"
            word = types[i] if types and not self.is_made_up(types[i]) else ""
            yield arg, kind, visible(fact.predicate) if alone else word

    def is_property(self, fact: Atom) -> bool:
        """Whether a fact gives one event one value."""
        return len(fact.args) == 2 and sum(arg in self.events for arg in fact.args) == 1

    def is_made_up(self, kind: str) -> bool:
        """Whether a type has a name that `Bias.infer` made: `did_3`."""
        predicate, _, number = kind.rpartition("_")
        return predicate in self.types and number.isdigit()

    def word(self, var: Var, kind: str) -> str:
        """What a variable is called, if it and all others of its kind go by the same word."""
        words = self.words.get(kind, {""}) | (set() if var.anonymous else self.words[var])
        return next(iter(words)) if len(words) == 1 else ""

    def tell(self, arg: Term, kind: str, identity: bool) -> str:
        """Whether a value is the same as one told before, or another; and keep that it is told."""
        key, before = value_key(arg), self.before.setdefault(kind, set())
        again = isinstance(arg, Var) and arg in self.known
        other = identity and bool(before - {key})
        if isinstance(arg, Var) and not arg.anonymous:
            self.known.add(arg)
        if key != Var("_"):
            before.add(key)
        return SAME if again else OTHER if other else ""

    def needs_name(self, var: Var, kind: str, how: str, identity: bool) -> bool:
        """Whether a variable that is told without its name could be taken for another."""
        others = self.terms[kind] - {var}
        if not self.word(var, kind):
            return True
        if len(others) != 1 or not identity:
            return bool(others)
        if any(self.times[term] > 1 for term in self.terms[kind] if isinstance(term, Var)):
            return True
        return how != OTHER and not all(isinstance(term, Var) for term in others)


def value_key(term: Term) -> object:
    """What tells a term from others: 1 and 1.0 are two constants."""
    return term if isinstance(term, Var | Struct | tuple) else constant_key(term)
