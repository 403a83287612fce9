"""`explain`: why a classifier gives one sequence its class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from relynx.arrays import Bools
from relynx.bias import Bias
from relynx.bias.modes import EVENT
from relynx.data.sequences import Sequence, Sequences
from relynx.errors import InputError
from relynx.features.tables import read_again
from relynx.logic.terms import Var
from relynx.mining.matching.match import match
from relynx.mining.patterns.pattern import Pattern, link_of
from relynx.mining.wording import in_words
from relynx.models.checks import sequences_for
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.contributions import Weights, learner_name, weights
from relynx.models.lynx.pair_model import PairModel
from relynx.reports import explanation as ex
from relynx.reports.flips import changing_flips

MOST_MATCHES = 1000  # counted of one pattern


def explain(model: LynxClassifier, sequence: Any) -> ex.Explanation:
    """Why a classifier gives a sequence its class.

    With naive Bayes and with linear learners the explanation is exact: the contributions of all
    patterns and the prior sum to the score. For other learners it says how the class
    probabilities change when one pattern is flipped.

    Parameters
    ----------
    model
        A fitted `LynxClassifier`.
    sequence
        One sequence: `X[i]`, or the rows of one in a table like that of `fit`.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.planted_rule(60, random_state=0)
    >>> model = rx.LynxClassifier(max_length=2, n_features=1, random_state=0).fit(X, y)
    >>> why = rx.explain(model, X[0])
    >>> why.predicted == y[0], len(why.models[0].patterns)
    (True, 1)
    """
    one = sequences_for(model, _checked(model, sequence))
    M = model.matrix(one)
    covered = M.astype(bool).toarray()[0]
    effects = [*_patterns(model, one, covered)]
    value = float(model.pattern_values(one)[0])
    found_weights = [weights(part) for part in model.estimators_]
    parts = [None if terms is None else terms.scaled(value) for terms in found_weights]
    models = tuple(
        _part(part, terms, covered[columns], [effects[i] for i in columns.tolist()], value)
        for part, terms, columns in zip(model.estimators_, parts, model.columns_, strict=True)
    )
    classes = model.classes_.tolist()
    votes = None
    if len(models) > 1:
        votes = {c: sum(part.vote == c for part in models) for c in classes}
    found = changing_flips(model, covered, parts, value)
    return ex.Explanation(
        id=one.ids.tolist()[0],
        label=None if one.labels is None else one.labels.tolist()[0],
        predicted=classes[model.codes(M)[0]],
        posterior=_by_class(classes, model.probabilities(M)[0]),
        scores=_scores(model, one, models),
        votes=votes,
        models=models,
        counterfactuals=tuple(
            ex.Counterfactual(
                tuple(
                    ex.Flip(e.pattern, e.words, not e.present) for e in (effects[i] for i in flips)
                ),
                classes[code],
            )
            for flips, code in found.sets
        ),
        n_counterfactuals=found.n_found,
        tried=found.tried,
        smallest=found.smallest,
    )


def _checked(model: object, sequence: Any) -> Sequences:
    """The sequence to explain. Raises InputError for a wrong model or sequence."""
    if not isinstance(model, LynxClassifier):
        hint = "in a pipeline it is the last step: explain(pipeline[-1], X[i])"
        raise InputError(f"explain takes a LynxClassifier, not a {type(model).__name__}", hint=hint)
    if not hasattr(model, "estimators_"):
        raise InputError("the model is not fitted", hint="call model.fit(X, y) first")
    found = read_again(sequence, model.reading_)
    if found is not sequence and len(found) != 1:
        what = f"explain takes one sequence, not the {len(found):,} of this table"
        rows = f"X[X[{model.reading_.sequence!r}] == {found.ids.tolist()[0]!r}]"
        raise InputError(what, hint=f"give the rows of one: {rows}")
    sequence = found
    if isinstance(sequence, Sequence):
        return sequence.sequences
    if not isinstance(sequence, Sequences):
        what = f"explain takes a sequence of Sequences, not a {type(sequence).__name__}"
        hint = "make Sequences of lists by X, y = rx.from_lists(...), and give X[i]"
        raise InputError(what, hint=hint)
    if len(sequence) != 1:
        raise InputError(f"explain takes one sequence, not {len(sequence)}", hint="give X[i]")
    return sequence


def _patterns(model: LynxClassifier, one: Sequences, covered: Bools) -> Iterator[ex.PatternEffect]:
    """Every pattern of the classifier with its match, without its contributions."""
    identity, reading = model.selected_.object_identity, model.reading_
    for pattern, present in zip(model.selected_.patterns(), covered.tolist(), strict=True):
        found = None
        if present:
            bindings = match(pattern, one, limit=MOST_MATCHES, object_identity=identity)
            count = len(bindings)
            events = tuple(bindings[0][name] for name in _event_names(pattern, model.bias_))
            found = ex.Match(bindings[0], events, count, count >= MOST_MATCHES)
        sentence = in_words(pattern, model.bias_, reading=reading, object_identity=identity)
        yield ex.PatternEffect(pattern, sentence, present, found)


def _event_names(pattern: Pattern, bias: Bias) -> Iterable[str]:
    """The variables of a pattern that stand for events, in order of first occurrence."""
    found: dict[str, None] = {}
    for atom in pattern.atoms:
        types = bias.types.get(atom.predicate, ())
        if link_of(atom) is not None:
            types = ("",) * (len(atom.args) - 2) + (EVENT, EVENT)
        for arg, type_ in zip(atom.args, types, strict=False):
            if type_ == EVENT and isinstance(arg, Var) and not arg.anonymous:
                found[arg.name] = None
    return found


def _part(
    part: PairModel,
    terms: Weights | None,
    covered: Bools,
    effects: list[ex.PatternEffect],
    value: float,
) -> ex.ModelPart:
    classes = part.classes.tolist()
    row = value * covered[None]
    posterior = part.posteriors(row)[0]
    scores = prior = ruled_out = None
    if terms is None:
        flipped = covered[None] ^ np.eye(len(covered), dtype=bool)
        changes = posterior - part.posteriors(value * flipped)
        effects = [
            replace(effect, share_changes=_by_class(classes, change))
            for effect, change in zip(effects, changes, strict=True)
        ]
    else:
        added = terms.terms(covered)
        both = zip(effects, added.tolist(), terms.parts(covered).tolist(), strict=True)
        effects = [
            replace(e, contributions=_by_class(classes, a), parts=_by_class(classes, finite))
            for e, a, finite in both
        ]
        ruled_out = dict(zip(classes, np.isinf(added).sum(axis=0).tolist(), strict=True))
        scores = _by_class(classes, terms.scores(covered))
        prior = _by_class(classes, terms.prior)
    return ex.ModelPart(
        classes=tuple(classes),
        vote=classes[int(part.votes(row)[0])],
        posterior=_by_class(classes, posterior),
        scores=scores,
        prior=prior,
        ruled_out=ruled_out,
        learner=learner_name(part),
        patterns=tuple(effects),
    )


def _scores(
    model: LynxClassifier, one: Sequences, models: tuple[ex.ModelPart, ...]
) -> dict[Any, float]:
    classes = model.classes_.tolist()
    if len(models) == 1 and models[0].scores is not None:
        return models[0].scores
    values = model.decision_function(one)[0]
    if np.ndim(values) == 0:
        return {classes[0]: float(-values / 2), classes[1]: float(values / 2)}
    return _by_class(classes, values)


def _by_class(classes: list[Any], values: Iterable[float]) -> dict[Any, float]:
    return dict(zip(classes, map(float, values), strict=True))
