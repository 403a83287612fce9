"""Models and what reads their observations, as the plain values and arrays of a model file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relynx.bias import Bias
from relynx.bias.model_file import BIAS
from relynx.data.event_arguments import arguments_of, arguments_state
from relynx.errors import InputError
from relynx.features.vectorizer import SequenceEstimator
from relynx.models.lohmm.checks import SLACK
from relynx.models.lohmm.model import LoHMM
from relynx.models.lohmm.recipes import Reader
from relynx.models.lohmm.structure import Known
from relynx.storage.fields import TEXT, Field, Fields, State, none_or, restored, stored_state
from relynx.storage.parts import Part, plain


def models_state(models: Sequence[LoHMM]) -> State:
    """Models of one structure: its text once, and the parameters of each.

    Raises InputError where the parameters of a model, which `with_parameters` takes as they are, do
    not sum to 1: its text would not read back.
    """
    for model in models:
        parameters = model.parameters
        totals = np.bincount(parameters.groups, weights=parameters.values)
        wrong = np.flatnonzero(np.abs(totals - 1) > SLACK)
        if len(wrong):
            name = parameters.names[parameters.groups.tolist().index(wrong[0])]
            what = f"the distribution with {name} sums to {totals[wrong[0]]:.6g}, not to 1"
            raise InputError(what, hint="a model is kept when all of its sum to 1")
    return {
        "structure": str(models[0]),
        "values": plain(np.stack([model.parameters.values for model in models]), "models"),
        "history": [plain(np.array(model.history), "history") for model in models],
        "penalised_history": [
            plain(np.array(model.penalised_history), "history") for model in models
        ],
    }


def models_of(part: Part, n: int) -> list[LoHMM]:
    """The `n` models of a part."""
    text = part.text("structure")
    try:
        model = LoHMM.parse(text)
    except InputError as error:
        raise part.wrong("structure", f"is no model: {error.problems[0].message}") from None
    values = part.array("values", np.float64, (n, len(model.parameters)))
    groups = model.parameters.groups
    for row in values:
        if (row < 0).any() or not np.allclose(np.bincount(groups, weights=row), 1, atol=1e-3):
            raise part.wrong("values", "are no distributions")
    histories = [_rows(part, name, n) for name in ("history", "penalised_history")]
    part.end()
    return [
        model.with_parameters(row).with_history(history.tolist(), penalised.tolist())
        for row, history, penalised in zip(values, *histories, strict=True)
    ]


def _rows(part: Part, name: str, n: int) -> list[NDArray[np.float64]]:
    """A field with a row of numbers for each model."""
    found = part.listed(name)
    if len(found) != n or not all(map(_is_row, found)):
        raise part.wrong(name, "is no list of numbers for each model")
    return found


def lohmm_state(model: LoHMM) -> State:
    """A model alone."""
    return {"model": models_state([model])}


def lohmm_of(part: Part) -> LoHMM:
    """Undo `lohmm_state`."""
    return models_of(part.part("model"), 1)[0]


def structure_state(structure: LoHMM | str | None) -> State | None:
    """The parameter `structure`: a model, or a text as it was given."""
    if isinstance(structure, LoHMM):
        return lohmm_state(structure)
    return None if structure is None else {"text": structure}


def structure_of(part: Part | None) -> LoHMM | str | None:
    """Undo `structure_state`."""
    if part is None:
        return None
    structure = part.text("text") if part.has("text") else lohmm_of(part)
    part.end()
    return structure


# How sequences become observations.
READER_FIELDS: Fields = {
    "dimension": TEXT,
    "event_arguments": Field(
        lambda value, _: arguments_state(value),
        lambda part, key, _: arguments_of(part, key),
        key="places",
    ),
    "predicates": none_or(
        Field(lambda value, _: sorted(value), lambda part, key, _: frozenset(part.texts(key)))
    ),
    "made": Field(plain, lambda part, key, _: part.truth(key)),
}


def _read_reader(part: Part, key: str, model: Any) -> Reader:
    inner = part.part(key)
    reader = Reader(**restored(inner, READER_FIELDS))
    if reader.made:
        try:
            Known.of(model.models_[0])
        except ValueError:  # nothing of it stands for what was not seen
            raise inner.wrong("made", "does not fit the models") from None
    return reader


def _is_row(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1


def models(n: Callable[[Any], int]) -> Field:
    """Models of one structure, as many as `n` says of what was read before."""
    return Field(
        lambda value, _: models_state(value),
        lambda part, key, model: models_of(part.part(key), n(model)),
    )


READER = Field(lambda reader, _: stored_state(reader, READER_FIELDS), _read_reader)
STRUCTURE = Field(
    lambda structure, _: structure_state(structure),
    lambda part, key, _: structure_of(part.part_or_none(key)),
)


@dataclass(eq=False, repr=False)
class LoHMMEstimator(SequenceEstimator):
    """The parameters of an estimator that learns models."""

    STORED_PARAMS: ClassVar[Fields] = {"bias": none_or(BIAS), "structure": STRUCTURE}

    structure: LoHMM | str | None = None
    _: KW_ONLY
    bias: Bias | None = None
    dimension: str | None = None
    n_hidden: int = 1
    blocks: int | tuple[int, ...] = 3
    max_kinds: int = 40
    selection: str = "argument"
    end: bool = True
    max_iter: int = 15
    tol: float = 1e-4
    pseudo_count: float = 0.5
    selection_pseudo_count: float = 0.5
