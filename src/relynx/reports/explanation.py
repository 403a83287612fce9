"""`Explanation`: why one sequence has its class, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite, nan
from typing import Any

from relynx.data.tables.frames import frame
from relynx.logic.terms import constant_text
from relynx.mining.patterns.pattern import Pattern
from relynx.reports.explain_text import as_html, as_text
from relynx.reports.explanation_parts import ExplanationData

CLASSES = ("predicted", "vote", "classes")  # attributes that hold classes
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
class Explanation(ExplanationData):
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

    def to_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, strings and numbers, ready for JSON.

        Classes become strings, and minus infinity (a class ruled out) becomes None.
        """
        return {name: _plain(getattr(self, name), name) for name in _names(self)}

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


def _names(value: Any) -> list[str]:
    return [field.name for field in fields(value)]


def _plain(value: Any, name: str = "") -> Any:
    """The attribute of this name in dicts, lists, strings and numbers."""
    if isinstance(value, tuple):
        return [_plain(one, name) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Pattern) or name in CLASSES:
        return str(value)
    if is_dataclass(value):
        return {inner: _plain(getattr(value, inner), inner) for inner in _names(value)}
    return None if isinstance(value, float) and not isfinite(value) else value


def _of(values: Mapping[Any, float] | None, c: Any) -> float:
    return nan if values is None else values[c]
