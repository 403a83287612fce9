"""What an explanation holds, as plain data: what text and page are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relynx.logic.terms import Constant
from relynx.mining.patterns.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern matches a sequence.

    Attributes
    ----------
    bindings
        One match: the constant of each variable.
    events
        Its events, in the order of the pattern.
    count
        The number of matches.
    more
        Whether counting stopped at `count`: there may be more.
    """

    bindings: dict[str, Constant]
    events: tuple[Constant, ...]
    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class PatternEffect:
    """The effect of one pattern on the prediction, by being present or absent.

    Attributes
    ----------
    pattern, words
        The pattern, and the same as an English phrase.
    present
        Whether it covers the sequence.
    match
        Where it does; None where it is absent.
    contributions
        What it adds to the score of each class; minus infinity rules a class out. None if the
        learner is not additive.
    parts
        The same with the finite part of infinite terms, which decides where every class is ruled
        out.
    share_changes
        How much larger the probability of each class is than if this pattern alone were flipped;
        given only if there are no contributions.
    """

    pattern: Pattern
    words: str
    present: bool
    match: Match | None
    contributions: dict[Any, float] | None
    parts: dict[Any, float] | None
    share_changes: dict[Any, float] | None


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One model of the classifier: for a pair of classes, or for all.

    Attributes
    ----------
    classes
        The classes that it distinguishes.
    vote
        The one that it predicts.
    posterior
        The probability of each class.
    scores, prior
        The score of each class, and where it starts: `prior` plus the contributions of all
        patterns is the score. If every class is ruled out, the score of those ruled out least
        often is `prior` plus the `parts`. None if the learner is not additive.
    ruled_out
        How many patterns rule each class out. None if the learner is not additive.
    learner
        The name of the learner's class; None where no pattern was selected and the prior decides.
    patterns
        Every selected pattern, in the order of the model.
    """

    classes: tuple[Any, ...]
    vote: Any
    posterior: dict[Any, float]
    scores: dict[Any, float] | None
    prior: dict[Any, float] | None
    ruled_out: dict[Any, int] | None
    learner: str | None
    patterns: tuple[PatternEffect, ...]

    @property
    def none_left(self) -> bool:
        """Whether every class is ruled out by a pattern."""
        return self.ruled_out is not None and min(self.ruled_out.values()) > 0

    @property
    def present(self) -> tuple[PatternEffect, ...]:
        """The patterns that cover the sequence."""
        return tuple(effect for effect in self.patterns if effect.present)

    @property
    def absent(self) -> tuple[PatternEffect, ...]:
        """The patterns that do not cover the sequence."""
        return tuple(effect for effect in self.patterns if not effect.present)


@dataclass(frozen=True, slots=True)
class Flip:
    """A pattern made present or absent; `present` is its state after the flip."""

    pattern: Pattern
    words: str
    present: bool


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Flips that together change the class, and the new class."""

    flips: tuple[Flip, ...]
    predicted: Any


@dataclass(frozen=True, slots=True)
class ExplanationData:
    """The attributes of an `Explanation`, which says what they are."""

    id: Constant
    label: Constant | None
    predicted: Any
    posterior: dict[Any, float]
    scores: dict[Any, float]
    votes: dict[Any, int] | None
    models: tuple[ModelPart, ...]
    counterfactuals: tuple[Counterfactual, ...]
    n_counterfactuals: int
    tried: int
    smallest: bool
