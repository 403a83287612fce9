"""The learners that a model file can keep: parameters and arrays of a closed list of classes.

What is kept is what prediction needs. A class that is not in the list is refused, for its inside is
not ours to write down, and a file that names classes to load would be a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from relynx.errors import DataError, InputError, Problem, Source
from relynx.features.estimator_file import MACHINE
from relynx.features.naive_bayes import PatternNB
from relynx.storage.fields import (
    FEATURES_IN,
    Field,
    Fields,
    array,
    labels,
    restore,
    stored_state,
)
from relynx.storage.parts import Part, plain, plain_labels

PIPELINE = "Pipeline"


def estimator_state(estimator: Any) -> dict[str, Any]:
    """An estimator of the list, fitted or not, as plain values and arrays."""
    name = type(estimator).__name__
    if type(estimator) is Pipeline:
        steps = [{"label": label, **estimator_state(step)} for label, step in estimator.steps]
        return {"name": PIPELINE, "steps": steps}
    if type(estimator) is not getattr(LEARNERS.get(name), "type", None):
        raise InputError(
            Problem(
                f"a model file cannot keep the final estimator {name}",
                hint=f"it keeps {_supported()}; for another use joblib.dump, and load only"
                " files that you trust",
            )
        )
    given: dict[str, Any] = {}
    default: dict[str, Any] = {}
    standard = type(estimator)().get_params(deep=False)
    for key, value in estimator.get_params(deep=False).items():
        if key not in MACHINE:
            same = type(value) is type(standard[key]) and np.array_equal(value, standard[key])
            (default if same else given)[key] = plain(value, f"{key} of {name}")
    fitted = LEARNERS[name].pack(estimator) if hasattr(estimator, "n_features_in_") else None
    return {"name": name, "given": given, "default": default, "fitted": fitted}


def estimator_of(part: Part) -> Any:
    """The estimator that a part of a model file describes."""
    name = part.text("name")
    if name == PIPELINE:
        steps = []
        for step in part.parts("steps"):
            label = step.text("label")
            steps.append((label, estimator_of(step)))
        part.end()
        _check_steps(steps, part)
        return Pipeline(steps)
    learner = LEARNERS.get(name)
    if learner is None:
        raise part.wrong("name", "is no learner of a model file")
    estimator = learner.type(**_params(part, learner, name))
    fitted = part.part_or_none("fitted")
    part.end()
    if fitted is not None:
        learner.unpack(estimator, fitted)
        fitted.end()
    return estimator


def n_columns(estimator: Any) -> int | None:
    """How many columns a fitted estimator takes; None where it is not fitted."""
    if isinstance(estimator, Pipeline):
        sizes = {n_columns(step) for _, step in estimator.steps}
        return sizes.pop() if len(sizes) == 1 else None
    return getattr(estimator, "n_features_in_", None)


def _check_steps(steps: list[tuple[str, Any]], part: Part) -> None:
    labels = [label for label, _ in steps]
    *before, last = [hasattr(step, "transform") for _, step in steps] or [True]
    if last or not all(before) or len({*labels}) < len(labels) or "steps" in labels:
        raise part.wrong("steps", "are no scalers and a classifier")
    if not all(labels) or any("__" in label for label in labels):
        raise part.wrong("steps", "are no scalers and a classifier")
    if len({n_columns(step) for _, step in steps}) > 1:
        raise part.wrong("steps", "do not fit together")


def _params(part: Part, learner: Learner, name: str) -> dict[str, Any]:
    """The parameters; one that only another version of the library has must have its default."""
    known = learner.type().get_params(deep=False)
    params: dict[str, Any] = {}
    for kind in ("given", "default"):
        fields = part.part(kind)
        for key in fields.names():
            value = fields.value(key)
            if key in params or key in MACHINE:
                raise fields.wrong(key, "is out of place")
            if key in known:
                params[key] = value
            elif kind == "given":
                what = f"{name} has no parameter {key!r} in this version of scikit-learn"
                hint = "load the model with the version with which it was saved"
                raise DataError(Problem(what, Source("", part.file.path), hint=hint))
    for key, right in learner.params.items():
        if key in params and not right(params[key]):
            raise part.wrong(key, "is no value of this parameter")
    return params


# Fitted attributes of each class, as they are kept


@dataclass(frozen=True, slots=True)
class Learner:
    """A class of the list: its fitted attributes in and out, and parameters that it predicts by."""

    type: Any
    pack: Callable[[Any], dict[str, Any]]
    unpack: Callable[[Any, Part], None]
    params: Mapping[str, Callable[[Any], bool]]


def column_state(estimator: Any) -> dict[str, Any]:
    """How many columns an estimator was fitted on, and their names if they have some."""
    return stored_state(estimator, FEATURES_IN)


def set_columns(estimator: Any, part: Part) -> int:
    """Undo `column_state`; the number of columns."""
    restore(estimator, part, FEATURES_IN)
    n: int = estimator.n_features_in_
    return n


def _pack_linear(estimator: Any) -> dict[str, Any]:
    return column_state(estimator) | {
        "classes_": plain_labels(estimator.classes_, "the final estimator"),
        "coef_": plain(_floats(estimator.coef_), "coef_"),
        "intercept_": plain(_floats(estimator.intercept_), "intercept_"),
        "n_iter_": plain(getattr(estimator, "n_iter_", None), "n_iter_"),
    }


def _unpack_linear(estimator: Any, part: Part) -> None:
    n = set_columns(estimator, part)
    classes = part.labels("classes_")
    rows = 1 if len(classes) == 2 else len(classes)
    coef = part.array("coef_", np.float64)
    if coef.shape != (rows, n) and not (rows == 1 and coef.shape == (n,)):
        raise part.wrong("coef_", f"has the shape {coef.shape}, not {(rows, n)}")
    intercept = part.array("intercept_", np.float64)
    if intercept.shape not in ((rows,), ()):
        raise part.wrong("intercept_", f"has the shape {intercept.shape}, not {(rows,)}")
    estimator.coef_, estimator.intercept_ = coef, intercept
    if not part.none("n_iter_"):
        estimator.n_iter_ = part.value("n_iter_")
    if not isinstance(getattr(type(estimator), "classes_", None), property):
        estimator.classes_ = classes
    if isinstance(estimator, RidgeClassifier):
        # It asks its binarizer whether there are several labels a row; there are not.
        estimator._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(classes)


def _floats(value: Any) -> NDArray[np.float64]:
    return np.asarray(value, np.float64)


BERNOULLI = {
    **FEATURES_IN,
    "classes_": labels("the final estimator"),
    **dict.fromkeys(
        ("class_count_", "class_log_prior_"),
        array(np.float64, lambda model: (len(model.classes_),), infinite=True),
    ),
    **dict.fromkeys(
        ("feature_count_", "feature_log_prob_"),
        array(np.float64, lambda model: (len(model.classes_), model.n_features_in_), infinite=True),
    ),
}


def _declared(type_: Any, fields: Fields, **params: Callable[[Any], bool]) -> Learner:
    """A class of which the fields of all that it learnt are known."""

    def pack(estimator: Any) -> dict[str, Any]:
        return stored_state(estimator, fields)

    def unpack(estimator: Any, part: Part) -> None:
        restore(estimator, part, fields)

    return Learner(type_, pack, unpack, params)


def _scaler(names: tuple[str, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """How a scaler with these numbers a column is packed and unpacked."""

    def pack(scaler: Any) -> dict[str, Any]:
        state = column_state(scaler) | {
            "n_samples_seen_": plain(scaler.n_samples_seen_, "a scaler")
        }
        return state | {
            name: None if getattr(scaler, name) is None else plain(getattr(scaler, name), name)
            for name in names
        }

    def unpack(scaler: Any, part: Part) -> None:
        n = set_columns(scaler, part)
        scaler.n_samples_seen_ = part.value("n_samples_seen_")
        optional = {"mean_": "with_mean", "var_": "with_std", "scale_": "with_std"}
        for name in names:
            unused = not getattr(scaler, optional.get(name, ""), True)
            empty = unused and part.none(name)
            column = None if empty else part.array(name, np.float64, (n,))
            if name == "scale_" and column is not None and not (column > 0).all():
                raise part.wrong(name, "holds a number that is not above 0")
            setattr(scaler, name, column)

    return pack, unpack


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _linear(type_: Any, **params: Callable[[Any], bool]) -> Learner:
    return Learner(type_, _pack_linear, _unpack_linear, params)


LEARNERS: Mapping[str, Learner] = {
    "PatternNB": _declared(PatternNB, PatternNB.STORED, threshold=_is_number_or_none),
    "BernoulliNB": _declared(BernoulliNB, BERNOULLI, binarize=_is_number_or_none),
    "LinearSVC": _linear(LinearSVC),
    "LogisticRegression": _linear(LogisticRegression, solver=_is_text, multi_class=_is_text),
    "Perceptron": _linear(Perceptron),
    "RidgeClassifier": _linear(RidgeClassifier),
    "SGDClassifier": _linear(SGDClassifier, loss=_is_text),
    "MaxAbsScaler": Learner(
        MaxAbsScaler, *_scaler(("max_abs_", "scale_")), {"copy": _is_truth, "clip": _is_truth}
    ),
    "StandardScaler": Learner(
        StandardScaler,
        *_scaler(("mean_", "var_", "scale_")),
        {"copy": _is_truth, "with_mean": _is_truth, "with_std": _is_truth},
    ),
}


def _supported() -> str:
    classifiers = [name for name in LEARNERS if not name.endswith("Scaler")]
    scalers = " or ".join(name for name in LEARNERS if name.endswith("Scaler"))
    return f"{', '.join(classifiers)}, and a Pipeline of {scalers} with one of them"


LEARNER = Field(
    lambda estimator, _: estimator_state(estimator),
    lambda part, key, _: estimator_of(part.part(key)),
)
