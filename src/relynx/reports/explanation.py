"""`Explanation`: why one sequence has its class, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from relynx.data.tables.frames import frame
from relynx.logic.terms import Constant, constant_text
from relynx.mining.patterns.pattern import Pattern
from relynx.reports.explain_text import as_html, as_text

SCHEMA = {
    "model": str,
    "class": str,
    "pattern": str,
    "words": str,
    "present": int,
    "contribution": float,
    "share_change": float,
    "matches": int,
    "events": str,
}


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern covers a sequence.

    Attributes
    ----------
    bindings
        One embedding: what each variable stands for.
    events
        The events of it, in the order of the pattern.
    count
        How many embeddings there are.
    more
        Whether counting ended at `count`: there are as many or more.
    """

    bindings: dict[str, Constant]
    events: tuple[Constant, ...]
    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class PatternEffect:
    """What one pattern says of the sequence, by being present or by being absent.

    Attributes
    ----------
    pattern, words
        The pattern, and the same in words.
    present
        Whether it covers the sequence.
    match
        Where it does; None where it is absent.
    contributions
        What it adds to the score of each class; minus infinity rules a class out. None where the
        learner has no sum with a term for each pattern.
    parts
        The same with the finite part of infinite terms, which decides where every class is ruled
        out.
    share_changes
        By how much the share of each class is larger than if this pattern alone were flipped;
        given only where there are no contributions.
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
    """What one model of the classifier says: of a pair of classes, or of all.

    Attributes
    ----------
    classes
        The classes that it tells apart.
    vote
        The one that it gives the sequence.
    posterior
        The share of each class.
    scores, prior
        The score of each class, and what it begins with: `prior` plus the contributions of all
        patterns is the score. Where every class is ruled out, `prior` plus the `parts` is that of
        the classes that are so least often. None where the learner has no such sum.
    ruled_out
        How many patterns rule each class out. None where the learner has no such sum.
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
        """The patterns that speak by their absence."""
        return tuple(effect for effect in self.patterns if not effect.present)


@dataclass(frozen=True, slots=True)
class Flip:
    """A pattern that is present instead of absent, or the other way; `present` is after it."""

    pattern: Pattern
    words: str
    present: bool


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Patterns that together change the class when they are flipped, and the class then."""

    flips: tuple[Flip, ...]
    predicted: Any


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a sequence has its class. `str` tells it in English; notebooks show a table.

    Attributes
    ----------
    id, label
        Of the sequence; the label is None where it has none.
    predicted
        The class that the model gives it.
    posterior
        The share of each class, as `predict_proba` says.
    scores
        What decides: the scores of the classes with one model; with a model for each pair
        `decision_function`, the votes and a tie break. For two classes the difference of the two
        is the decision value.
    votes
        How many pairs each class wins; None with one model.
    models
        What each model says, with every pattern.
    counterfactuals
        The smallest sets of patterns found that change the class when flipped. A flip changes one
        column and nothing else, which no real sequence may be able to do.
    n_counterfactuals
        How many sets of the smallest size there are, also those that are not listed.
    tried
        Every set of up to so many patterns was tried.
    smallest
        Whether no smaller set than those of `counterfactuals` exists.
    """

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

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, texts and numbers, ready for JSON.

        Classes are texts here. What is minus infinity, a class ruled out, is None.
        """
        return {
            "id": self.id,
            "label": self.label,
            "predicted": str(self.predicted),
            "posterior": _plain(self.posterior),
            "scores": _plain(self.scores),
            "votes": _plain(self.votes),
            "models": [_model_dict(part) for part in self.models],
            "counterfactuals": [
                {
                    "predicted": str(one.predicted),
                    "flips": [
                        {"pattern": str(flip.pattern), "words": flip.words, "present": flip.present}
                        for flip in one.flips
                    ],
                }
                for one in self.counterfactuals
            ],
            "n_counterfactuals": self.n_counterfactuals,
            "tried": self.tried,
            "smallest": self.smallest,
        }

    def to_frame(self, *, backend: str = "pandas") -> Any:
        """A row for each pattern and class of each model; `polars` and `pyarrow` work as well.

        `contribution` and `share_change` are NaN where the learner does not have them.
        """
        rows = [*self._rows()]
        columns = {key: [row[i] for row in rows] for i, key in enumerate(SCHEMA)}
        return frame([columns] if rows else [], SCHEMA, backend=backend)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for part in self.models:
            between = " against ".join(map(str, part.classes))
            told = between if len(part.classes) == 2 else "all classes"
            for effect in part.patterns:
                found = effect.match
                for c in part.classes:
                    yield (
                        told,
                        str(c),
                        str(effect.pattern),
                        effect.words,
                        int(effect.present),
                        _of(effect.contributions, c),
                        _of(effect.share_changes, c),
                        0 if found is None else found.count,
                        "" if found is None else ", ".join(map(constant_text, found.events)),
                    )

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _plain(values: Mapping[Any, float] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {str(c): value if isfinite(value) else None for c, value in values.items()}


def _of(values: Mapping[Any, float] | None, c: Any) -> float:
    return nan if values is None else values[c]


def _model_dict(part: ModelPart) -> dict[str, Any]:
    return {
        "classes": [*map(str, part.classes)],
        "vote": str(part.vote),
        "posterior": _plain(part.posterior),
        "scores": _plain(part.scores),
        "prior": _plain(part.prior),
        "ruled_out": _plain(part.ruled_out),
        "learner": part.learner,
        "patterns": [
            {
                "pattern": str(effect.pattern),
                "words": effect.words,
                "present": effect.present,
                "match": None
                if effect.match is None
                else {
                    "bindings": dict(effect.match.bindings),
                    "events": [*effect.match.events],
                    "count": effect.match.count,
                    "more": effect.match.more,
                },
                "contributions": _plain(effect.contributions),
                "parts": _plain(effect.parts),
                "share_changes": _plain(effect.share_changes),
            }
            for effect in part.patterns
        ],
    }
