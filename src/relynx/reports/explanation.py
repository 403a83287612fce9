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
class Explanation:
    """Why a sequence has its class. `str` gives English text; notebooks show a table.

    Attributes
    ----------
    id, label
        Of the sequence; the label is None where it has none.
    predicted
        The predicted class.
    posterior
        The class probabilities, as of `predict_proba`.
    scores
        What decides: the scores of the classes with one model; with a model for each pair,
        `decision_function`: votes and a tie break. For two classes the difference of the two
        is the decision value.
    votes
        How many pairs each class wins; None with one model.
    models
        Each model, with the effect of every pattern.
    counterfactuals
        The smallest sets of patterns found that change the class when flipped. A flip changes one
        column and nothing else; there may be no real sequence with these columns.
    n_counterfactuals
        How many sets of the smallest size there are, including those not listed.
    tried
        Size up to which every set of patterns was tried.
    smallest
        Whether the sets of `counterfactuals` are known to be the smallest.
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
        """Everything as dicts, lists, strings and numbers, ready for JSON.

        Classes become strings, and minus infinity (a class ruled out) becomes None.
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
        """A row for each pattern and class of each model; `backend` may be `polars` or `pyarrow`.

        `contribution` and `share_change` are NaN if the learner does not have them.
        """
        rows = [*self._rows()]
        columns = {key: [row[i] for row in rows] for i, key in enumerate(SCHEMA)}
        return frame([columns] if rows else [], SCHEMA, backend=backend)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for part in self.models:
            between = " against ".join(map(str, part.classes))
            name = between if len(part.classes) == 2 else "all classes"
            for effect in part.patterns:
                found = effect.match
                for c in part.classes:
                    yield (
                        name,
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
