"""`save` and `load`: models as files of data, which can be read without trust.

Each kind of model has a function that makes plain values and arrays of it, and one that checks such
values and makes the model. The kinds are a table of this module: a file names one of them, and
nothing in a file is ever run. `data/archive.py` has the format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relynx.bias.model_file import bias_of, bias_text
from relynx.data.schema import schema_or_none, schema_state
from relynx.errors import InputError, Problem
from relynx.features.grasp import GraspRound, GraspSelector
from relynx.features.naive_bayes import PatternNB
from relynx.features.vectorizer import FRAMES, PatternVectorizer
from relynx.mining.patterns.model_file import pattern_state, patterns_of
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.models.fisher.classifier import FisherKernelClassifier, FisherScores
from relynx.models.fisher.model_file import (
    kernel_state,
    restore_kernel,
    restore_scores,
    scores_state,
)
from relynx.models.lohmm import model_file as lohmm_parts
from relynx.models.lohmm.classifier import LoHMMClassifier
from relynx.models.lohmm.model import LoHMM
from relynx.models.lynx.classifier import LynxClassifier
from relynx.models.lynx.final_estimators import (
    MACHINE,
    column_state,
    estimator_of,
    estimator_state,
    n_columns,
    set_columns,
)
from relynx.models.lynx.pair_model import PairModel
from relynx.models.tildecrf import model_file as crf_parts
from relynx.models.tildecrf.classifier import TildeCRFClassifier
from relynx.models.tildecrf.labeller import TildeCRF
from relynx.storage import read_archive, write_archive
from relynx.storage.parts import Array, Part, plain, plain_labels

State: TypeAlias = dict[str, Any]

BIAS, LEARNER, STRUCTURE = OWN_FORM = "bias", "final_estimator", "structure"  # of parameters
OUTPUT = "_sklearn_output_config"  # what set_output wrote
ROUND_TYPES: Mapping[str, tuple[type, ...]] = {
    "round": (int,),
    "alpha": (int, float),
    "size_built": (int,),
    "error_built": (int, float),
    "size": (int,),
    "error": (int, float),
    "log_likelihood": (int, float),
    "best": (bool,),
}
NOT_KEPT = {"_metadata_request"}  # of scikit-learn's routing, which belongs to a pipeline


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
        raise InputError(Problem(f"a {name} cannot be saved", hint=hint))
    if not hasattr(model, kind.learnt):
        raise InputError(Problem(f"this {name} is not fitted", hint="call fit before save"))
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


# Parameters and what all estimators have


def _pack_estimator(model: Any, learnt: State) -> State:
    """The parameters, the form of the output, and what was learnt; nothing may be left over."""
    name = type(model).__name__
    params = model.get_params(deep=False)
    known = {*params, *learnt, OUTPUT, *NOT_KEPT, *_DERIVED.get(name, ())}
    for attribute in vars(model):
        if attribute not in known:
            what = f"{name} has an attribute {attribute!r} that a model file does not keep"
            raise InputError(Problem(what, hint="delete it before you save"))
    special = {*MACHINE, *OWN_FORM}
    state: State = {
        "params": {
            key: plain(value, f"{key} of {name}")
            for key, value in params.items()
            if key not in special
        }
    }
    if BIAS in params:
        state[BIAS] = None if model.bias is None else bias_text(model.bias)
    if LEARNER in params:
        learner = model.final_estimator
        state[LEARNER] = None if learner is None else estimator_state(learner)
    if STRUCTURE in params:
        state[STRUCTURE] = lohmm_parts.structure_state(model.structure)
    return state | {"output": getattr(model, OUTPUT, {}).get("transform")} | learnt


def _estimator(type_: Any, part: Part) -> Any:
    """An estimator that is not fitted, with the parameters of a part.

    Parameters that the file does not have, because it is older than they are, have their default.
    """
    model = type_()
    known = model.get_params(deep=False).keys() - {*MACHINE, *OWN_FORM}
    given = part.part("params")
    for key in given.names():
        if key not in known:
            raise given.wrong(key, f"is no parameter of {type_.__name__}")
        setattr(model, key, given.value(key))
    if hasattr(model, BIAS):
        model.bias = None if part.none(BIAS) else bias_of(part, BIAS)
    if hasattr(model, LEARNER):
        learner = part.part_or_none(LEARNER)
        model.final_estimator = None if learner is None else estimator_of(learner)
    if hasattr(model, STRUCTURE):
        model.structure = lohmm_parts.structure_of(part.part_or_none(STRUCTURE))
    output = part.text_or_none("output")
    if output is not None:
        if output not in (*FRAMES, "default") or not hasattr(model, "set_output"):
            raise part.wrong("output", f"is neither default nor {' nor '.join(FRAMES)}")
        model.set_output(transform=output)
    return model


# The estimators


def _pack_vectorizer(model: PatternVectorizer) -> State:
    learnt = {
        "bias_": bias_text(model.bias_),
        "patterns_": pattern_state(model.patterns_),
        "reading_": None if model.reading_ is None else schema_state(model.reading_),
    }
    return _pack_estimator(model, learnt)


def _vectorizer(part: Part) -> PatternVectorizer:
    model: PatternVectorizer = _estimator(PatternVectorizer, part)
    model.bias_ = bias_of(part, "bias_")
    model.patterns_ = _finished(part.part("patterns_"), patterns_of)
    model.reading_ = schema_or_none(part)
    return model


def _pack_naive_bayes(model: PatternNB) -> State:
    return {"model": estimator_state(model)}


def _naive_bayes(part: Part) -> PatternNB:
    model = estimator_of(part.part("model"))
    if type(model) is not PatternNB or n_columns(model) is None:
        raise part.wrong("model", "is no fitted PatternNB")
    return model


def _pack_selector(model: GraspSelector) -> State:
    learnt = column_state(model) | {
        "support_": plain(model.support_, "support_"),
        "errors_": plain(model.errors_, "errors_"),
        "objective_": plain(model.objective_, "objective_"),
        "log_likelihood_": plain(model.log_likelihood_, "log_likelihood_"),
        "history_": {
            field.name: [plain(getattr(one, field.name), field.name) for one in model.history_]
            for field in fields(GraspRound)
        },
        "n_iter_": int(model.n_iter_),
        "partial_": model.partial_,
    }
    return _pack_estimator(model, learnt)


def _selector(part: Part) -> GraspSelector:
    model: GraspSelector = _estimator(GraspSelector, part)
    n = set_columns(model, part)
    model.support_ = part.array("support_", np.bool_, (n,))
    model.errors_ = part.count("errors_")
    model.objective_ = part.number("objective_")
    model.log_likelihood_ = part.number("log_likelihood_")
    model.history_ = _history(part)
    model.n_iter_ = part.count("n_iter_", least=1)
    model.partial_ = part.text_or_none("partial_")
    return model


def _history(part: Part) -> list[GraspRound]:
    """The rounds, from a list for each of their fields."""
    columns = part.part("history_")
    rounds: dict[str, list[Any]] = {}
    for name, type_ in ROUND_TYPES.items():
        rounds[name] = columns.listed(name)
        if not all(type(one) in type_ and one == one for one in rounds[name]):
            raise columns.wrong(name, "holds what no round has")
    columns.end()
    if len({len(values) for values in rounds.values()}) > 1:
        raise part.wrong("history_", "has lists of different lengths")
    rows = zip(*rounds.values(), strict=True)
    return [GraspRound(**dict(zip(rounds, row, strict=True))) for row in rows]


def _pack_lynx(model: LynxClassifier) -> State:
    learnt = {
        "classes_": plain_labels(model.classes_, "LynxClassifier"),
        "class_prior_": plain(model.class_prior_, "class_prior_"),
        "bias_": bias_text(model.bias_),
        "estimators_": [_pack_pair(one) for one in model.estimators_],
        "selected_": pattern_state(model.selected_),
        "_columns": [plain(one.astype(np.int64), "_columns") for one in model.columns_],
        "reading_": None if model.reading_ is None else schema_state(model.reading_),
    }
    return _pack_estimator(model, learnt)


def _lynx(part: Part) -> LynxClassifier:
    model: LynxClassifier = _estimator(LynxClassifier, part)
    model.classes_ = part.labels("classes_")
    model.class_prior_ = part.shares("class_prior_", len(model.classes_))
    model.bias_ = bias_of(part, "bias_")
    model.estimators_ = [_finished(one, _pair) for one in part.parts("estimators_")]
    _check_pairs(part, model.classes_, model.estimators_)
    model.selected_ = _finished(part.part("selected_"), patterns_of)
    model.columns_ = _columns(part, model.estimators_, len(model.selected_))
    model.reading_ = schema_or_none(part)
    return model


def _columns(part: Part, models: list[PairModel], n: int) -> list[NDArray[np.int64]]:
    columns = part.listed("_columns")
    if len(columns) != len(models):
        raise part.wrong("_columns", "are not as many as the models")
    for one, model in zip(columns, models, strict=True):
        right = isinstance(one, np.ndarray) and one.dtype == np.int64
        if not right or one.shape != model.selected.shape or ((one < 0) | (one >= n)).any():
            raise part.wrong("_columns", "hold a number that is no selected pattern")
    if len(models) == 1 and not np.array_equal(columns[0], np.arange(n)):
        raise part.wrong("_columns", "are not the selected patterns in order")
    return columns


def _check_pairs(part: Part, classes: Array, models: list[PairModel]) -> None:
    """A model for all classes, or one for each pair in order."""
    n = len(classes)
    wanted = [classes]
    if len(models) != 1 and len(models) == n * (n - 1) // 2:
        wanted = [classes[list(pair)] for pair in combinations(range(n), 2)]
    right = n >= 2 and len(models) == len(wanted)
    for model, among in zip(models, wanted, strict=False):
        right &= model.classes.dtype.kind == classes.dtype.kind
        right &= np.array_equal(model.classes, among)
    if not right:
        raise part.wrong("estimators_", "are not one for each pair of classes")


def _pack_pair(model: PairModel) -> State:
    return {
        "classes": plain_labels(model.classes, "LynxClassifier"),
        "patterns": pattern_state(model.patterns),
        "selected": plain(model.selected.astype(np.int64), "selected"),
        "estimator": None if model.estimator is None else estimator_state(model.estimator),
        "prior": plain(model.prior, "prior"),
        "selector": None if model.selector is None else _pack_selector(model.selector),
    }


def _pair(part: Part) -> PairModel:
    classes = part.labels("classes")
    patterns = _finished(part.part("patterns"), patterns_of)
    selected = part.numbers("selected", (None,), 0, len(patterns) - 1)
    prior = part.shares("prior", len(classes))
    learner, chooser = part.part_or_none("estimator"), part.part_or_none("selector")
    estimator = None if learner is None else estimator_of(learner)
    selector = None if chooser is None else _finished(chooser, _selector)
    if estimator is not None:
        # The target of a learner is the number of the class.
        numbers = getattr(estimator, "classes_", np.empty(0))
        if n_columns(estimator) != len(selected) or numbers.tolist() != [*range(len(classes))]:
            raise part.wrong("estimator", "does not fit the classes and patterns of its model")
    elif len(selected):
        raise part.wrong("estimator", "is missing")
    if selector is not None and selector.n_features_in_ != len(patterns):
        raise part.wrong("selector", "does not fit the patterns of its model")
    return PairModel(classes, patterns, selected, estimator, prior, selector)


def _finished(part: Part, make: Callable[[Part], Any]) -> Any:
    """What `make` makes of a part of which nothing may be left."""
    made = make(part)
    part.end()
    return made


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model: its class, an attribute that only a fitted one has, and the two ways."""

    type: type
    learnt: str
    pack: Callable[[Any], State]
    unpack: Callable[[Part], Any]


def _kind(
    type_: type, learnt: str, state: Callable[[Any], State], restore: Callable[[Any, Part], None]
) -> Kind:
    """An estimator that says itself what it learnt, and takes it again."""

    def pack(model: Any) -> State:
        return _pack_estimator(model, state(model))

    def unpack(part: Part) -> Any:
        model = _estimator(type_, part)
        restore(model, part)
        return model

    return Kind(type_, learnt, pack, unpack)


KINDS: Mapping[str, Kind] = {
    "LynxClassifier": Kind(LynxClassifier, "estimators_", _pack_lynx, _lynx),
    "PatternVectorizer": Kind(PatternVectorizer, "patterns_", _pack_vectorizer, _vectorizer),
    "PatternNB": Kind(PatternNB, "classes_", _pack_naive_bayes, _naive_bayes),
    "GraspSelector": Kind(GraspSelector, "support_", _pack_selector, _selector),
    "PatternSet": Kind(PatternSet, "trie", pattern_state, patterns_of),
    "LoHMM": Kind(LoHMM, "program", lohmm_parts.lohmm_state, lohmm_parts.lohmm_of),
    "LoHMMClassifier": _kind(
        LoHMMClassifier, "models_", lohmm_parts.classifier_state, lohmm_parts.restore_classifier
    ),
    "TildeCRF": _kind(TildeCRF, "trees_", crf_parts.labeller_state, crf_parts.restore_labeller),
    "TildeCRFClassifier": _kind(
        TildeCRFClassifier, "estimators_", crf_parts.classifier_state, crf_parts.restore_classifier
    ),
    "FisherScores": _kind(FisherScores, "models_", scores_state, restore_scores),
    "FisherKernelClassifier": _kind(
        FisherKernelClassifier, "machine_", kernel_state, restore_kernel
    ),
}
_DERIVED = {"PatternVectorizer": ("_output",)}  # written by set_output beside OUTPUT
