"""`Explanation`: why one sequence has its class, as plain data, as text, and as HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from typing import Any, TypeAlias

from relynx.data.sequences import counted
from relynx.data.tables.frames import frame
from relynx.logic.terms import Constant, constant_text
from relynx.mining.english import aligned, n_cells, wrapped
from relynx.mining.patterns.pattern import Pattern
from relynx.mining.patterns.tables import html_table
from relynx.mining.wording import visible

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
WIDTH = 80
SHOWN = {1: 10}  # patterns of a model, by the number of models shown
FEWER = 4
SHOWN_CLASSES = 10
SHOWN_SETS = 5
LISTED_FLIPS = 3  # more are only counted
BAYES = ("PatternNB", "BernoulliNB")
LOGARITHMS = (*BAYES, "LogisticRegression")


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
    """One model of the classifier: for a pair of classes, or for all. `prior` plus the
    contributions of all patterns is the score. If every class is ruled out, the score of those
    ruled out least often is `prior` plus the `parts`. `scores`, `prior` and `ruled_out` are None if
    the learner is not additive."""

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


Ranked: TypeAlias = list[tuple[float, PatternEffect]]


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
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of(values: Mapping[Any, float] | None, c: Any) -> float:
    return math.nan if values is None else values[c]


# Text


def as_text(why: Explanation) -> str:
    """The whole explanation, with the patterns of largest effect."""
    parts = shown_parts(why)
    blocks = [[*_headline(why)], [*_table(why)]]
    blocks += [[*_model_lines(part, why.predicted, rival, len(parts))] for part, rival in parts]
    if any(part.patterns for part in why.models):
        blocks.append([*_what_if(why)])
    blocks.append([*_notes(why, parts)])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def shown_parts(why: Explanation) -> list[tuple[ModelPart, Any]]:
    """The models that have the predicted class, each with the strongest of its other classes."""
    parts = []
    for part in why.models:
        if why.predicted in part.classes:
            value = part.scores if part.scores is not None else part.posterior
            others = [c for c in part.classes if c != why.predicted]
            parts.append((part, max(others, key=lambda c: (value[c], part.posterior[c]))))
    return sorted(parts, key=lambda pair: -why.posterior[pair[1]])


def ranked(part: ModelPart, one: Any, other: Any) -> Ranked:
    """The patterns by their effect on one class against another, the largest first. The effect of a
    pattern that rules out either class is infinite. Patterns that are absent and add nothing, as to
    a linear learner, are left out."""
    values = [(difference(effect, one, other), effect) for effect in part.patterns]
    if part.scores is not None:
        values = [(value, effect) for value, effect in values if effect.present or value]
    return sorted(values, key=lambda pair: -abs(pair[0]))


def difference(effect: PatternEffect, one: Any, other: Any) -> float:
    """What a pattern adds to one class minus another; else the change of its probability."""
    if effect.contributions is None:
        return effect.share_changes[one] if effect.share_changes else 0.0
    first, second = effect.contributions[one], effect.contributions[other]
    if first == second == -math.inf and effect.parts is not None:
        return effect.parts[one] - effect.parts[other]
    return first - second


def where(found: Match) -> str:
    """The events of an embedding, and how many embeddings there are."""
    n = f"one of {found.count:,} matches" if found.count > 1 else "the only match"
    if found.more:
        n = f"one of {found.count:,} or more matches"
    events = ", ".join(map(constant_text, found.events))
    return f"at {events}, {n}" if events else n


def _headline(why: Explanation) -> Iterator[str]:
    p = why.posterior[why.predicted]
    name = constant_text(why.id)
    text = f"{name} is predicted as {_name(why.predicted)} with probability {p:.3f}."
    if why.label is not None:
        text += f" Its label is {'the same' if why.label == why.predicted else _name(why.label)}."
    yield from _wrapped(text)


def _table(why: Explanation) -> Iterator[str]:
    header, *rows = class_rows(why)
    widths = [max(map(n_cells, column)) for column in zip(header, *rows, strict=True)]
    for name, *cells in (header, *rows):
        numbers = zip(cells, widths[1:], strict=True)
        told = (aligned(cell, width, right=True) for cell, width in numbers)
        yield "  ".join(["", aligned(name, widths[0]), *told])
    if n_others := len(why.posterior) - len(rows):
        yield f"  and {counted(n_others, 'other class')}, in to_dict()"


def class_rows(why: Explanation) -> list[list[str]]:
    """A header, then each class with its probability, and its votes or score if there are any; of
    many classes the most probable ones and the predicted one."""
    more: Mapping[Any, str] = {}
    title = []
    if why.votes is not None:
        title, more = ["votes"], {c: str(n) for c, n in why.votes.items()}
    elif why.models[0].scores is not None:
        scores = why.scores.items()
        title = ["score"]
        more = {c: f"{score:.2f}" if math.isfinite(score) else "out" for c, score in scores}
    order = sorted(why.posterior, key=lambda c: (-why.posterior[c], c != why.predicted))
    shown = dict.fromkeys([*order[:SHOWN_CLASSES], why.predicted])
    rows = [[_name(c), f"{why.posterior[c]:.3f}", *([more[c]] if title else [])] for c in shown]
    return [["class", "probability", *title], *rows]


def _model_lines(part: ModelPart, one: Any, other: Any, n_shown: int) -> Iterator[str]:
    """A model: which class wins, and the patterns of largest effect, present ones first."""
    yield from _wrapped(_outcome(part, one, other))
    if not part.patterns:
        return
    strongest = ranked(part, one, other)
    shown = strongest[: SHOWN.get(n_shown, FEWER)]
    for title, present in (("it has", True), ("it lacks", False)):
        group = [pair for pair in shown if pair[1].present == present]
        if group:
            yield f"  {title}"
            for value, effect in group:
                yield from _line(value, effect, one, other)
    rest = [value for value, _ in strongest[len(shown) :]]
    if rest:
        total = _signed(math.fsum(rest)) if all(map(math.isfinite, rest)) else "..."
        yield f"  {total:>7}  {counted(len(rest), 'other pattern')}, together"
    if n_silent := len(part.patterns) - len(strongest):
        yield f"    +0.00  {counted(n_silent, 'pattern')} that it lacks"


def _outcome(part: ModelPart, one: Any, other: Any) -> str:
    verb = "wins against" if len(part.classes) == 2 else "is ahead of"
    text = f"{_name(one)} {verb if part.vote == one else 'loses to'} {_name(other)}"
    if part.none_left:
        text = f"Each class is ruled out by a pattern; the finite terms decide. {text}"
    if part.learner is None:
        return f"{text}: no pattern was selected, so the prior decides."
    if part.scores is None or part.prior is None:
        return f"{text} with probability {part.posterior[one]:.3f}."
    gap = part.scores[one] - part.scores[other]
    if not math.isfinite(gap):
        more = " more often" if part.none_left else ""
        return f"{text}: {_name(other if gap > 0 else one)} is ruled out{more}."
    start = "prior" if part.learner in BAYES else "intercept"
    from_start = _signed(part.prior[one] - part.prior[other])
    return f"{text}: {_signed(gap)} in all, {from_start} of it the {start}."


def _line(value: float, effect: PatternEffect, one: Any, other: Any) -> Iterator[str]:
    indent = " " * 11
    if math.isfinite(value):
        yield from _wrapped(effect.words, f"    {_signed(value):>5}  ", indent)
    else:
        yield from _wrapped(f"{_ruled_out(value, one, other)}: {effect.words}", " " * 4, indent)
    if effect.match is not None:
        yield from _wrapped(where(effect.match), indent, indent)


def _what_if(why: Explanation) -> Iterator[str]:
    """Which flips change the class, and which sets were tried."""
    yield from _wrapped(tried_text(why))
    for one in why.counterfactuals[:SHOWN_SETS]:
        yield from _wrapped(flips_text(one), "  - ", "    ")
    n = why.n_counterfactuals - len(why.counterfactuals[:SHOWN_SETS])
    if n > 0:
        yield f"  and {n:,} more"


def tried_text(why: Explanation) -> str:
    """What the counterfactuals are, and whether smaller ones can exist."""
    sizes = [len(one.flips) for one in why.counterfactuals]
    if not sizes:
        if why.smallest:
            return "No change of patterns would change the class."
        return f"No change of up to {counted(why.tried, 'pattern')} would change the class."
    if sizes[0] == 1:
        return "One pattern would be enough to change the class:"
    if why.smallest:
        fewer = "single pattern" if sizes[0] == 2 else f"{sizes[0] - 1} patterns or fewer"
        return f"No {fewer} would change the class, but {sizes[0]} together:"
    text = f"No change of up to {counted(why.tried, 'pattern')} would change the class."
    return f"{text} These would, and smaller sets may exist:"


def flips_text(one: Counterfactual) -> str:
    """The class, and the patterns that lead to it."""
    if len(one.flips) > LISTED_FLIPS:
        text = f"{len(one.flips)} patterns changed, those in counterfactuals"
        return f"{_name(one.predicted)} if {text}"
    flips = [f"{'had' if flip.present else 'lacked'} “{flip.words}”" for flip in one.flips]
    return f"{_name(one.predicted)} if it {' and '.join(flips)}"


def _notes(why: Explanation, parts: Sequence[tuple[ModelPart, Any]]) -> Iterator[str]:
    """How to read the numbers."""
    learners = {part.learner for part, _ in parts if part.learner is not None}
    if not learners:
        return
    learner = learners.pop()
    if any(part.scores is None for part, _ in parts if part.learner):
        text = (
            f"{learner} is not additive. The numbers are how much larger the probability of "
            f"{_name(why.predicted)} is than with this one pattern flipped."
        )
    elif learner in LOGARITHMS:
        text = (
            "The numbers are log-odds: +0.69 doubles the odds, +2.3 makes them ten times as large."
        )
        if any(part.none_left for part, _ in parts):
            text += (
                " Where each class is ruled out, the total is the sum of the prior and of the "
                "finite parts of the terms, `parts` in to_dict()."
            )
        else:
            start = "prior" if learner in BAYES else "intercept"
            text += f" The {start} and all patterns sum to the total."
    else:
        text = (
            f"The numbers are terms of the decision value of {learner}: the intercept and all "
            "patterns sum to the total."
        )
    yield from _wrapped(f"{text} All are in to_frame().")


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    # Line breaks in ids and constants must not break the layout.
    return wrapped(text, WIDTH, first, rest)


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"


def _ruled_out(value: float, one: Any, other: Any) -> str:
    return f"rules out {_name(other if value > 0 else one)}"


def _name(c: object) -> str:
    """A class, with unprintable characters as escapes."""
    return visible(str(c))


# HTML


def as_html(why: Explanation) -> str:
    """The same for notebooks: tables, with every text escaped."""
    parts = shown_parts(why)
    header, *rows = class_rows(why)
    out = [f"<p>{escape(' '.join(_headline(why)))}</p>", html_table(header, rows)]
    for part, rival in parts:
        out.append(f"<p>{escape(_outcome(part, why.predicted, rival))}</p>")
        effects = ranked(part, why.predicted, rival)[: SHOWN.get(len(parts), FEWER)]
        if effects:
            head = [f"for {_name(why.predicted)}", "", "pattern", "where"]
            lines = (_html_row(value, effect, why.predicted, rival) for value, effect in effects)
            out.append(html_table(head, lines))
    if why.counterfactuals:
        items = [f"<li>{escape(flips_text(one))}</li>" for one in why.counterfactuals[:SHOWN_SETS]]
        out.append(f"<p>{escape(tried_text(why))}</p><ul>{''.join(items)}</ul>")
    return f"<div>{''.join(out)}</div>"


def _html_row(value: float, effect: PatternEffect, one: Any, other: Any) -> list[str]:
    shown = _signed(value) if math.isfinite(value) else _ruled_out(value, one, other)
    has = "has" if effect.present else "lacks"
    return [shown, has, effect.words, "" if effect.match is None else where(effect.match)]
