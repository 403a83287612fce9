"""Learners by name, and those that a model file can keep: a closed list of classes, as parameters
and arrays.

What is kept is what prediction needs. A class that is not in the list is refused, for its inside is
not ours to write down, and a file that names classes to load would be a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from relynx.errors import DataError, InputError, did_you_mean
from relynx.features.naive_bayes import PatternNB
from relynx.features.vectorizer import MACHINE
from relynx.storage.fields import FEATURES_IN, Field, Fields, array, labels, restore, stored_state
from relynx.storage.parts import Part, plain, plain_labels

NAMES = ("naive_bayes", "logistic", "svm")  # of learners, on the command line
PIPELINE = "Pipeline"


def estimator_state(estimator: Any) -> dict[str, Any]:
    """An estimator of the list, fitted or not, as plain values and arrays."""
    name = type(estimator).__name__
    if type(estimator) is Pipeline:
        steps = [{"label": label, **estimator_state(step)} for label, step in estimator.steps]
        return {"name": PIPELINE, "steps": steps}
    if type(estimator) is not getattr(LEARNERS.get(name), "type", None):
        what = f"a model file cannot keep the final estimator {name}"
        other = "for another use joblib.dump, and load only files that you trust"
        raise InputError(what, hint=f"it keeps {_supported()}; {other}")
    given: dict[str, Any] = {}
    default: dict[str, Any] = {}
    standard = type(estimator)().get_params(deep=False)
    for key, value in estimator.get_params(deep=False).items():
        if key not in MACHINE:
            same = type(value) is type(standard[key]) and np.array_equal(value, standard[key])
            (default if same else given)[key] = plain(value, f"{key} of {name}")
    fields = LEARNERS[name].fields
    is_fitted = any(hasattr(estimator, attribute) for attribute in fields)
    fitted = stored_state(estimator, fields) if is_fitted else None
    return {"name": name, "given": given, "default": default, "fitted": fitted}


def estimator_of(part: Part) -> Any:
    """The estimator that a part of a model file describes."""
    name = part.text("name")
    if name == PIPELINE:
        steps = [(step.text("label"), estimator_of(step)) for step in part.parts("steps")]
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
        restore(estimator, fitted, learner.fields)
        if not hasattr(estimator, "classes_") and hasattr(estimator, "_label_binarizer"):
            estimator.classes_ = estimator._label_binarizer.classes_  # once a property, now not
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
    named = all(label not in ("", "steps") and "__" not in label for label in labels)
    if last or not all(before) or len({*labels}) < len(labels) or not named:
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
                raise DataError(what, part.file.path, hint=hint)
    for key, types in learner.params.items():
        if key in params and type(params[key]) not in types:
            raise part.wrong(key, "is no value of this parameter")
    return params


# Fitted attributes of each class, as they are kept

_CLASSES = {"classes_": labels("the final estimator")}


def _linear_array(shapes: Callable[[int, int], tuple[tuple[int, ...], ...]]) -> Field:
    """Coefficients of a linear learner: of one of the shapes for so many rows and columns."""

    def read(part: Part, key: str, model: Any) -> Any:
        n_classes = len(getattr(model, "_label_binarizer", model).classes_)
        known = shapes(1 if n_classes == 2 else n_classes, model.n_features_in_)
        value = part.array(key, np.float64)
        if value.shape not in known:
            raise part.wrong(key, f"has the shape {value.shape}, not {known[0]}")
        return value

    return Field(lambda value, name: plain(np.asarray(value, np.float64), name), read)


_KEPT_VALUE = Field(plain, lambda part, key, _: part.value(key))
_COEFFICIENTS: Fields = {
    "coef_": _linear_array(lambda rows, n: ((rows, n), (n,)) if rows == 1 else ((rows, n),)),
    "intercept_": _linear_array(lambda rows, n: ((rows,), ())),
    "n_iter_": _KEPT_VALUE,
}
LINEAR: Fields = {**FEATURES_IN, **_CLASSES, **_COEFFICIENTS}
RIDGE: Fields = {
    **FEATURES_IN,
    # It asks its binarizer for the classes, and whether there are several labels a row: never.
    "_label_binarizer": Field(
        lambda value, _: plain_labels(value.classes_, "the final estimator"),
        lambda part, key, _: LabelBinarizer(pos_label=1, neg_label=-1).fit(part.labels(key)),
        key="classes_",
    ),
    **_COEFFICIENTS,
}
BERNOULLI: Fields = {
    **FEATURES_IN,
    **_CLASSES,
    **dict.fromkeys(
        ("class_count_", "class_log_prior_"),
        array(np.float64, lambda model: (len(model.classes_),), infinite=True),
    ),
    **dict.fromkeys(
        ("feature_count_", "feature_log_prob_"),
        array(np.float64, lambda model: (len(model.classes_), model.n_features_in_), infinite=True),
    ),
}


def _column(switch: str = "") -> Field:
    """A number for each column of a scaler; None where a parameter says that it is not used."""

    def read(part: Part, key: str, scaler: Any) -> Any:
        if not getattr(scaler, switch, True) and part.none(key):
            return None
        column = part.array(key, np.float64, (scaler.n_features_in_,))
        if key == "scale_" and not (column > 0).all():
            raise part.wrong(key, "holds a number that is not above 0")
        return column

    return Field(plain, read)


SCALER: Fields = {**FEATURES_IN, "n_samples_seen_": _KEPT_VALUE}
LARGEST: Fields = {**SCALER, "max_abs_": _column(), "scale_": _column()}
STANDARD: Fields = {
    **SCALER,
    "mean_": _column("with_mean"),
    "var_": _column("with_std"),
    "scale_": _column("with_std"),
}


class Learner(NamedTuple):
    """A class of the list, what it learnt, and the types of parameters that it predicts by."""

    type: Any
    fields: Fields
    params: Mapping[str, tuple[type, ...]] = {}


_TEXT, _TRUTH, _NUMBER_OR_NONE = (str,), (bool,), (int, float, type(None))
LEARNERS: Mapping[str, Learner] = {
    learner.type.__name__: learner
    for learner in (
        Learner(PatternNB, PatternNB.STORED, {"threshold": _NUMBER_OR_NONE}),
        Learner(BernoulliNB, BERNOULLI, {"binarize": _NUMBER_OR_NONE}),
        Learner(LinearSVC, LINEAR),
        Learner(LogisticRegression, LINEAR, {"solver": _TEXT, "multi_class": _TEXT}),
        Learner(Perceptron, LINEAR),
        Learner(RidgeClassifier, RIDGE),
        Learner(SGDClassifier, LINEAR, {"loss": _TEXT}),
        Learner(MaxAbsScaler, LARGEST, {"copy": _TRUTH, "clip": _TRUTH}),
        Learner(StandardScaler, STANDARD, dict.fromkeys(("copy", "with_mean", "with_std"), _TRUTH)),
    )
}


def _supported() -> str:
    classifiers = [name for name in LEARNERS if not name.endswith("Scaler")]
    scalers = " or ".join(name for name in LEARNERS if name.endswith("Scaler"))
    return f"{', '.join(classifiers)}, and a Pipeline of {scalers} with one of them"


LEARNER = Field(
    lambda estimator, _: estimator_state(estimator),
    lambda part, key, _: estimator_of(part.part(key)),
)


def learner(name: str) -> Any:
    """A new learner to give as `final_estimator`; None for naive Bayes, which is built in."""
    if name not in NAMES:
        hint = did_you_mean(name, NAMES) or f"give one of {', '.join(NAMES)}"
        raise InputError(f"there is no learner {name!r}", hint=hint)
    # In the primal: there are fewer patterns than sequences, or about as many.
    known = {"logistic": LogisticRegression(C=0.1, max_iter=1000), "svm": LinearSVC(dual=False)}
    return known.get(name)
