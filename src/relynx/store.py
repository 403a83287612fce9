"""`save` and `load`: models as files of data, which can be read without trust.

The class of a model declares what a file holds of it, and how that is checked; see
`relynx.storage.fields`. The classes are a table of this module: a file names one of them, and
nothing in a file is ever run. `relynx.storage.archive` has the format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from relynx.errors import InputError
from relynx.features.grasp import GraspSelector
from relynx.features.naive_bayes import PatternNB
from relynx.features.vectorizer import PatternVectorizer, fitted_of, fitted_state
from relynx.mining.patterns.model_file import pattern_state, patterns_of
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.models.fisher.classifier import FisherKernelClassifier, FisherScores
from relynx.models.lohmm.classifier import LoHMMClassifier
from relynx.models.lohmm.estimator import lohmm_of, lohmm_state
from relynx.models.lohmm.model import LoHMM
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.final_estimators import estimator_of, estimator_state, n_columns
from relynx.models.tildecrf.classifier import TildeCRFClassifier
from relynx.models.tildecrf.labeller import TildeCRF
from relynx.storage import Part, read_archive, write_archive
from relynx.storage.fields import State


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Write a fitted model, or patterns, to a file.

    The file is data only, a zip of JSON and arrays. It appears whole or not at all, and one model
    is always the same bytes. `n_jobs`, `memory` and `checkpoint` are not kept; everything else that
    was learnt or set is.

    Parameters
    ----------
    model
        A classifier of relynx, `PatternVectorizer`, `PatternNB`, `GraspSelector`, `PatternSet`,
        `FisherScores`, `LoHMM` or `TildeCRF`. A `final_estimator` is kept when it is linear, naive
        Bayes, or a pipeline of a scaler and such a one.
    path
        The file; `.relynx` is the usual ending.

    Raises
    ------
    InputError
        Where the model is not fitted, holds what a file cannot keep, or cannot be written.

    Examples
    --------
    >>> import os, tempfile, relynx as rx
    >>> X, y = rx.planted_rule(60, random_state=0)
    >>> model = rx.LynxClassifier(max_length=2, random_state=0).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "rule.relynx")
    >>> rx.save(model, path)
    >>> bool((rx.load(path).predict(X) == model.predict(X)).all())
    True
    """
    name = type(model).__name__
    kind = KINDS.get(name)
    if kind is None or type(model) is not kind.type:
        hint = f"give a {', '.join([*KINDS][:-1])} or {[*KINDS][-1]}"
        raise InputError(f"a {name} cannot be saved", hint=hint)
    if not hasattr(model, kind.learnt):
        raise InputError(f"this {name} is not fitted", hint="call fit before save")
    write_archive(path, name, kind.pack(model))


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote.

    The file is checked before anything is made of it, and nothing in it is run: a file of unknown
    origin can mislead, like any model, but do nothing else.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    model
        What was saved. It answers exactly as it did.

    Raises
    ------
    InputError
        Where there is no such file; DataError where it is damaged, was made by something else, or
        by a newer relynx.
    """
    name, part = read_archive(path)
    kind = KINDS.get(name)
    if kind is None:
        raise part.file.problem(f"the kind {name[:60]!r} is none of {', '.join(KINDS)}")
    model = kind.unpack(part)
    part.end()
    part.file.end()
    return model


def _naive_bayes(part: Part) -> PatternNB:
    model = estimator_of(part.part("model"))
    if type(model) is not PatternNB or n_columns(model) is None:
        raise part.wrong("model", "is no fitted PatternNB")
    return model


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model: its class, an attribute that only a fitted one has, and the two ways."""

    type: type
    learnt: str
    pack: Callable[[Any], State]
    unpack: Callable[[Part], Any]


def _estimator(type_: Any) -> Kind:
    """An estimator whose class declares what a file holds of it."""
    return Kind(type_, [*type_.STORED][-1], fitted_state, partial(fitted_of, type_))


KINDS: Mapping[str, Kind] = {
    "LynxClassifier": _estimator(LynxClassifier),
    "PatternVectorizer": _estimator(PatternVectorizer),
    "PatternNB": Kind(
        PatternNB, "classes_", lambda model: {"model": estimator_state(model)}, _naive_bayes
    ),
    "GraspSelector": _estimator(GraspSelector),
    "PatternSet": Kind(PatternSet, "trie", pattern_state, patterns_of),
    "LoHMM": Kind(LoHMM, "program", lohmm_state, lohmm_of),
    "LoHMMClassifier": _estimator(LoHMMClassifier),
    "TildeCRF": _estimator(TildeCRF),
    "TildeCRFClassifier": _estimator(TildeCRFClassifier),
    "FisherScores": _estimator(FisherScores),
    "FisherKernelClassifier": _estimator(FisherKernelClassifier),
}
