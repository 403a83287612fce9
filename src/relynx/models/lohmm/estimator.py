"""What estimators that learn a model for each class share.

Their parameters, how sequences become observations, how the models are learnt, and what a model
file holds of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from relynx.arrays import Floats, Longs
from relynx.bias import AnyBias, Bias, as_bias
from relynx.bias.model_file import BIAS
from relynx.data.event_arguments import Argument, arguments_of, arguments_state
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.features.vectorizer import SequenceEstimator
from relynx.mining.workers import n_threads
from relynx.models.checks import AMOUNT, SWITCH, Rule, count_from, is_count, none_or_a, one_of
from relynx.models.lohmm.checks import SLACK
from relynx.models.lohmm.inference.ground import Grounding
from relynx.models.lohmm.model import LoHMM
from relynx.models.lohmm.structure import Known, structure
from relynx.models.observations import Observed, Row, observed, observed_arguments, with_dimension
from relynx.storage import fields as fd
from relynx.storage.parts import Part, plain

CONSTANT = frozenset("#*")  # the signs of arguments that may be fixed
HISTORIES = ("history", "penalised_history")


def _are_blocks(value: Any) -> bool:
    if is_count(value, 1):
        return True
    return (
        isinstance(value, tuple | list)
        and len(value) > 0
        and all(is_count(step, 1) for step in value)
        and value[0] == 1
        and all(a < b for a, b in pairwise(value))
    )


# The parameters of an estimator that say how its models are made and fitted.
RULES: Mapping[str, Rule] = {
    "structure": none_or_a(
        str | LoHMM, "a LoHMM, the text of one, or None to make one from the sequences"
    ),
    "dimension": none_or_a(str, "give the name of a dimension, or None"),
    "n_hidden": count_from(1),
    "max_kinds": count_from(1),
    "max_iter": count_from(0),
    "blocks": (_are_blocks, "a number from 1 on, or the first steps of the blocks, (1, 8, 20) say"),
    "selection": one_of(("argument", "type")),
    "end": SWITCH,
    "tol": AMOUNT,
    "pseudo_count": AMOUNT,
    "selection_pseudo_count": AMOUNT,
}


@dataclass(frozen=True, slots=True)
class Reader:
    """How sequences become observations, as learnt from the training sequences. `predicates` are
    those of the bias; None takes all stored facts. `made` says that the structure was made from the
    training sequences, so that it has places for what it never saw."""

    dimension: str
    event_arguments: frozenset[Argument]
    predicates: frozenset[str] | None
    made: bool

    @classmethod
    def learn(cls, estimator: Any, X: Sequences) -> Reader:
        bias, dimension = as_bias(estimator.bias), estimator.dimension
        if bias is not None:
            bias.check(X)
        if dimension is None and bias is not None:
            dimension = next((name for name in bias.dimensions if name in X.dimensions), None)
        link, _ = link_of(X, dimension)
        name = link.removeprefix("next_")
        predicates = None if bias is None else frozenset(bias.modes)
        return cls(name, observed_arguments(X, name), predicates, estimator.structure is None)

    def observed(self, X: Sequences) -> Observed:
        X = with_dimension(X, self.dimension)
        return observed(X, self.dimension, self.event_arguments, self.predicates)

    def rows(self, X: Sequences, model: LoHMM) -> list[Row]:
        """The observations of sequences, as a model of the learnt structure can show them."""
        rows = self.observed(X).rows
        return Known.of(model).shown(rows) if self.made else rows


def learn(
    estimator: Any, X: Sequences, codes: Longs, random_state: np.random.RandomState
) -> tuple[Reader, list[LoHMM], Grounding]:
    """One structure for all, and its parameters for each class, as the estimator has it. Returns
    what reads observations, the models, and the ground tables of the training sequences."""
    reader = Reader.learn(estimator, X)
    training = reader.observed(X)
    model = _structure_for(estimator, training)
    rows = Known.of(model).shown(training.rows) if reader.made else training.rows
    grounding = model.ground(rows)
    if not reader.made:
        _refuse_impossible(model, X, rows, grounding)
    seeds = random_state.randint(2**31 - 1, size=int(codes.max()) + 1).tolist()
    names = ("max_iter", "tol", "pseudo_count", "selection_pseudo_count")
    how = {name: getattr(estimator, name) for name in names}
    copies_differ = reader.made and estimator.n_hidden > 1  # which they must begin with
    models: list[LoHMM] = Parallel(n_threads(estimator.n_jobs), prefer="threads")(
        delayed(model.fit)(
            grounding,
            **how,
            sample_weight=(codes == c).astype(float),
            random_state=seed if copies_differ else None,
        )
        for c, seed in enumerate(seeds)
    )
    return reader, models, grounding


def _structure_for(estimator: Any, training: Observed) -> LoHMM:
    """The given structure, or one for the training sequences."""
    given, bias = estimator.structure, as_bias(estimator.bias)
    if given is not None:
        return given if isinstance(given, LoHMM) else LoHMM.parse(given)
    names = ("max_kinds", "n_hidden", "blocks", "end", "selection")
    fixed = None if bias is None else _fixable(bias, training)
    return structure(training.rows, **{n: getattr(estimator, n) for n in names}, fixed=fixed)


def _refuse_impossible(model: LoHMM, X: Sequences, rows: list[Row], grounding: Grounding) -> None:
    impossible = np.flatnonzero(model.log_probability(grounding) == -np.inf)
    if len(impossible):
        first = int(impossible[0])
        row, columns = rows[first], model.forward(rows[first])
        sums = [max(column.values(), default=-np.inf) for column in columns]
        step = sums.index(-np.inf)
        shown = f"{row[step]} at step {step + 1}" if step < len(row) else "that it ends"
        hint = "give the structure its predicate and values, or structure=None"
        raise InputError(f"sequence {X.ids[first]}: the structure cannot show {shown}", hint=hint)


def _fixable(bias: Bias, training: Observed) -> frozenset[Argument]:
    """The arguments of the observations that the bias has constants for."""
    constant = {
        (name, i)
        for name, modes in bias.modes.items()
        for mode in modes
        for i, sign in enumerate(mode)
        if sign in CONSTANT
    }
    return frozenset(
        (key, i)
        for key, sources in training.sources.items()
        for i, ((name, _), argument) in enumerate(sources)
        if (name, argument) in constant
    )


def models_state(models: Sequence[LoHMM]) -> fd.State:
    """Models of one structure: its text once, and the parameters of each. Raises InputError where
    the parameters of a model, which `with_parameters` takes as they are, do not sum to 1: its text
    would not read back."""
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
    } | {
        name: [plain(np.array(getattr(model, name)), "history") for model in models]
        for name in HISTORIES
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
    histories = [_rows(part, name, n) for name in HISTORIES]
    part.end()
    return [
        model.with_parameters(row).with_history(history.tolist(), penalised.tolist())
        for row, history, penalised in zip(values, *histories, strict=True)
    ]


def _rows(part: Part, name: str, n: int) -> list[Floats]:
    """A field with a row of numbers for each model."""
    found = part.listed(name)
    are_rows = all(isinstance(a, np.ndarray) and a.dtype == float and a.ndim == 1 for a in found)
    if len(found) != n or not are_rows:
        raise part.wrong(name, "is no list of numbers for each model")
    return found


def models(n: Callable[[Any], int]) -> fd.Field:
    """Models of one structure, as many as `n` says of what was read before."""
    return fd.Field(
        lambda value, _: models_state(value),
        lambda part, key, model: models_of(part.part(key), n(model)),
    )


def lohmm_state(model: LoHMM) -> fd.State:
    """A model alone."""
    return {"model": models_state([model])}


def lohmm_of(part: Part) -> LoHMM:
    """Undo `lohmm_state`."""
    return models_of(part.part("model"), 1)[0]


# The parameter `structure`: a model, or a text as it was given.
STRUCTURE = fd.none_or(
    fd.Field(
        lambda given, _: lohmm_state(given) if isinstance(given, LoHMM) else {"text": given},
        lambda part, key, _: fd.finished(
            part.part(key), lambda one: one.text("text") if one.has("text") else lohmm_of(one)
        ),
    )
)
READER_FIELDS: fd.Fields = {
    "dimension": fd.TEXT,
    "event_arguments": fd.Field(
        lambda value, _: arguments_state(value),
        lambda part, key, _: arguments_of(part, key),
        key="places",
    ),
    "predicates": fd.none_or(
        fd.Field(lambda value, _: sorted(value), lambda part, key, _: frozenset(part.texts(key)))
    ),
    "made": fd.Field(plain, lambda part, key, _: part.truth(key)),
}


def _read_reader(part: Part, key: str, model: Any) -> Reader:
    inner = part.part(key)
    reader = Reader(**fd.restored(inner, READER_FIELDS))
    if reader.made:
        try:
            Known.of(model.models_[0])
        except ValueError:  # nothing of it stands for what was not seen
            raise inner.wrong("made", "does not fit the models") from None
    return reader


READER = fd.Field(lambda reader, _: fd.stored_state(reader, READER_FIELDS), _read_reader)


@dataclass(eq=False, repr=False)
class LoHMMEstimator(SequenceEstimator):
    """The parameters of an estimator that learns models."""

    STORED_PARAMS: ClassVar[fd.Fields] = {"bias": fd.none_or(BIAS), "structure": STRUCTURE}

    structure: LoHMM | str | None = None
    _: KW_ONLY
    bias: AnyBias | None = None
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
    n_jobs: int | None = None
    random_state: Any = None
