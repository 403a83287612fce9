"""Fisher scores and the classifier on them, as the plain values and arrays of a model file."""

from __future__ import annotations

import numpy as np

from relynx.data.schema import schema_or_none, schema_state
from relynx.models.fisher.classifier import FisherKernelClassifier, FisherScores
from relynx.models.fisher.pair_svm import PairSVM
from relynx.models.lohmm.model_file import (
    State,
    models_of,
    models_state,
    reader_of,
    reader_state,
)
from relynx.storage.parts import Part, plain, plain_labels


def scores_state(model: FisherScores) -> State:
    """What a `FisherScores` learnt."""
    classes = model.classes_
    return {
        "classes_": None if classes is None else plain_labels(classes, "FisherScores"),
        "models_": models_state(model.models_),
        "reader_": reader_state(model.reader_),
        "reading_": None if model.reading_ is None else schema_state(model.reading_),
    }


def restore_scores(model: FisherScores, part: Part) -> None:
    """Give a `FisherScores` what `scores_state` wrote."""
    model.classes_ = None if part.none("classes_") else part.labels("classes_")
    n = 1 if model.classes_ is None else len(model.classes_)
    model.models_ = models_of(part.part("models_"), n)
    model.reader_ = reader_of(part.part("reader_"), model.models_[0])
    model.reading_ = schema_or_none(part)


def kernel_state(model: FisherKernelClassifier) -> State:
    """What a `FisherKernelClassifier` learnt."""
    machine = model.machine_
    return {
        "classes_": plain_labels(model.classes_, "FisherKernelClassifier"),
        "scores_": scores_state(model.scores_),
        "columns_": plain(model.columns_.astype(np.int64), "columns_"),
        "mean_": plain(model.mean_, "mean_"),
        "scale_": plain(model.scale_, "scale_"),
        "C_": plain(model.C_, "C_"),
        "machine_": {
            "vectors": plain(machine.vectors, "machine_"),
            "weights": None if machine.weights is None else plain(machine.weights, "machine_"),
            "intercepts": plain(machine.intercepts, "machine_"),
            "gamma": plain(machine.gamma, "machine_"),
        },
    }


def restore_kernel(model: FisherKernelClassifier, part: Part) -> None:
    """Give a `FisherKernelClassifier`, its parameters set, what `kernel_state` wrote."""
    model.classes_ = part.labels("classes_")
    n = len(model.classes_)
    if n < 2:
        raise part.wrong("classes_", "are not at least two classes")
    names = FisherScores().get_params(deep=False)
    model.scores_ = FisherScores(**{name: getattr(model, name) for name in names})
    scores = part.part("scores_")
    restore_scores(model.scores_, scores)
    scores.end()
    fitted = model.scores_.models_
    n_scores = len(fitted) * len(fitted[0].parameters)
    model.columns_ = part.numbers("columns_", (None,), 0, n_scores - 1)
    n_columns = len(model.columns_)
    model.mean_ = part.array("mean_", np.float64, (n_columns,))
    model.scale_ = part.array("scale_", np.float64, (n_columns,))
    if (model.scale_ <= 0).any():
        raise part.wrong("scale_", "holds a number that is not above 0")
    model.C_ = part.number("C_")
    model.machine_ = _machine(part.part("machine_"), n, n_columns, linear=model.kernel == "linear")


def _machine(part: Part, n_classes: int, n_columns: int, *, linear: bool) -> PairSVM:
    n_pairs = n_classes * (n_classes - 1) // 2
    merged = part.none("weights")
    vectors = part.array("vectors", np.float64, (n_pairs if merged else None, n_columns))
    weights = None if merged else part.array("weights", np.float64, (n_pairs, len(vectors)))
    intercepts = part.array("intercepts", np.float64, (n_pairs,))
    gamma = None if part.none("gamma") else part.number("gamma")
    if (gamma is None) != linear or (gamma is not None and (merged or not 0 < gamma < np.inf)):
        raise part.wrong("gamma", "does not fit the kernel")
    part.end()
    return PairSVM(vectors, weights, intercepts, gamma, n_classes)
