"""What an explanation holds, as plain data: what text and page are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relynx.logic.terms import Constant
from relynx.mining.patterns.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern matches a sequence."""

    bindings: dict[str, Constant]  # of one match: the constant of each variable
    events: tuple[Constant, ...]  # of that match, in the order of the pattern
    count: int  # the number of matches
    more: bool  # whether counting stopped at `count`: there may be more


@dataclass(frozen=True, slots=True)
class PatternEffect:
    """The effect of one pattern on the prediction, by being present or absent.

    `contributions` is what it adds to the score of each class, where minus infinity rules a class
    out; `parts` has the finite part of infinite terms, which decides where every class is ruled
    out. If the learner is not additive both are None, and `share_changes` is how much larger the
    probability of each class is than if this pattern alone were flipped.
    """

    pattern: Pattern
    words: str  # the pattern as an English phrase
    present: bool  # whether it covers the sequence
    match: Match | None  # where it does
    contributions: dict[Any, float] | None = None
    parts: dict[Any, float] | None = None
    share_changes: dict[Any, float] | None = None


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One model of the classifier: for a pair of classes, or for all.

    `prior` plus the contributions of all patterns is the score. If every class is ruled out, the
    score of those ruled out least often is `prior` plus the `parts`. `scores`, `prior` and
    `ruled_out` are None if the learner is not additive.
    """

    classes: tuple[Any, ...]  # that it distinguishes
    vote: Any  # the class that it predicts
    posterior: dict[Any, float]  # the probability of each class
    scores: dict[Any, float] | None
    prior: dict[Any, float] | None
    ruled_out: dict[Any, int] | None  # how many patterns rule each class out
    learner: str | None  # its class; None where no pattern was selected and the prior decides
    patterns: tuple[PatternEffect, ...]  # every selected one, in the order of the model

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
