"""The checkpoint of a fit: a folder for its data and parameters, with one for each model in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.data.sequences import Sequences, data_digest
from relynx.features.grasp import GraspSelector, seed_text
from relynx.features.vectorizer import MACHINE
from relynx.storage.journal import Journal, Work, digest, folder_name

KEPT_FORM = 2  # of the results of both kinds: change it when they change
FIT, MODEL, MINING, SIZE, SELECTION = "fit", "model", "mining", "size", "selection"


def fit_journal(
    model: Any, bias: Bias, X: Sequences, labels: NDArray[Any]
) -> AbstractContextManager[Journal | None]:
    """The journal of a fit, in a folder of its own; it keeps the seeds of the models."""
    if model.checkpoint is None:
        return nullcontext()
    parameters = _parameters(model, "bias")
    parameters["random_state"] = seed_text(model.random_state)
    inputs = {
        "the data": data_digest(X),
        "the classes": digest([labels.tolist()]),
        "the bias": digest([str(bias)]),
    }
    about = f"fit of {type(model).__name__} to {len(X):,} sequences"
    work = Work(FIT, KEPT_FORM, about, inputs, parameters)
    folder = os.path.join(folder_name(model.checkpoint), f"{FIT}-{work.key()[:16]}")
    return Journal(folder, work)


def model_folder(journal: Journal | None, number: int) -> str | None:
    """The folder of one model of a fit."""
    return None if journal is None else os.path.join(journal.folder, f"{MODEL}-{number}")


def inside(folder: str | None, name: str) -> str | None:
    """The folder of one step of a model."""
    return None if folder is None else os.path.join(folder, name)


def size_journal(
    folder: str | None,
    selector: GraspSelector,
    rival: Any,
    M: NDArray[np.uint8],
    y: NDArray[np.int64],
    how: Mapping[str, Any],
) -> AbstractContextManager[Journal | None]:
    """The journal of the search for a number of patterns; it keeps errors of parts, in order."""
    if folder is None:
        return nullcontext()
    parameters = {**_parameters(selector), **how, "rival": _described(rival)}
    about = f"how many of {M.shape[1]:,} patterns to select for {len(y):,} sequences"
    inputs = {"the data": digest([M, y])}
    work = Work("the number of patterns", KEPT_FORM, about, inputs, parameters)
    return Journal(os.path.join(folder, SIZE), work)


def _parameters(estimator: Any, *left_out: str) -> dict[str, object]:
    """The parameters that results depend on."""
    params = estimator.get_params(deep=False)
    return {
        name: _described(value) if hasattr(value, "get_params") else value
        for name, value in params.items()
        if name not in MACHINE and name not in left_out
    }


def _described(estimator: Any) -> str | None:
    """A learner with all its parameters, as text."""
    if estimator is None:
        return None
    params = sorted(estimator.get_params().items())
    return f"{type(estimator).__name__}({', '.join(f'{name}={v!r}' for name, v in params)})"
