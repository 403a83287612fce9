"""One model for each class: how sequences become observations, and the models that are learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from relynx.bias import Bias
from relynx.data.event_arguments import Argument
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import InputError
from relynx.mining.workers import n_threads
from relynx.models.checks import AMOUNT, SWITCH, Rule, count_from, is_count, none_or_a, one_of
from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference.ground import Grounding
from relynx.models.lohmm.model import LoHMM
from relynx.models.lohmm.structure import Known, structure
from relynx.models.observations import Observed, Row, observed, observed_arguments, with_dimension

CONSTANT = frozenset("#*")  # the signs of arguments that may be fixed
IMPOSSIBLE = -1e9  # stands for a log-likelihood of -inf


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
    "bias": none_or_a(
        Bias, "a Bias, which read_bias and parse_bias make, or None to take all facts"
    ),
    "dimension": none_or_a(str, "give the name of a dimension, or None"),
    "n_hidden": count_from(1),
    "max_kinds": count_from(1),
    "max_iter": count_from(0),
    "blocks": (
        _are_blocks,
        "a number from 1 on, or the first steps of the blocks, (1, 8, 20) say",
    ),
    "selection": one_of(("argument", "type")),
    "end": SWITCH,
    "tol": AMOUNT,
    "pseudo_count": AMOUNT,
    "selection_pseudo_count": AMOUNT,
}


@dataclass(frozen=True, slots=True)
class Reader:
    """How sequences become observations, as learnt from the training sequences.

    `predicates` are those of the bias; None takes all stored facts. `made` says that the structure
    was made from the training sequences, so that it has places for what it never saw.
    """

    dimension: str
    event_arguments: frozenset[Argument]
    predicates: frozenset[str] | None
    made: bool

    @classmethod
    def learn(cls, estimator: Any, X: Sequences) -> Reader:
        bias, dimension = estimator.bias, estimator.dimension
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
    estimator: Any, X: Sequences, codes: NDArray[np.int64], random_state: np.random.RandomState
) -> tuple[Reader, list[LoHMM], Grounding]:
    """One structure for all, and its parameters for each class, as the estimator has it.

    Returns what reads observations, the models, and the ground tables of the training sequences.
    """
    reader = Reader.learn(estimator, X)
    training = reader.observed(X)
    model = _structure_for(estimator, training)
    rows = Known.of(model).shown(training.rows) if reader.made else training.rows
    grounding = model.ground(rows)
    if not reader.made:
        _refuse_impossible(model, X, rows, grounding)
    n_classes = int(codes.max()) + 1
    seeds = random_state.randint(2**31 - 1, size=n_classes).tolist()
    copies_differ = reader.made and estimator.n_hidden > 1  # which they must begin with
    models: list[LoHMM] = Parallel(n_threads(estimator.n_jobs), prefer="threads")(
        delayed(model.fit)(
            grounding,
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            pseudo_count=estimator.pseudo_count,
            selection_pseudo_count=estimator.selection_pseudo_count,
            sample_weight=(codes == c).astype(float),
            random_state=seed if copies_differ else None,
        )
        for c, seed in enumerate(seeds)
    )
    return reader, models, grounding


def _structure_for(estimator: Any, training: Observed) -> LoHMM:
    """The given structure, or one for the training sequences."""
    given, bias = estimator.structure, estimator.bias
    if given is not None:
        return given if isinstance(given, LoHMM) else LoHMM.parse(given)
    return structure(
        training.rows,
        max_kinds=estimator.max_kinds,
        n_hidden=estimator.n_hidden,
        blocks=estimator.blocks,
        end=estimator.end,
        selection=estimator.selection,
        fixed=None if bias is None else _fixable(bias, training),
    )


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


def joint(log_likelihood: Floats, prior: Floats) -> Floats:
    """Log-likelihoods and prior together, finite: an impossible class is far below the others.

    Where no class can show a sequence, the prior is all that is left.
    """
    impossible = log_likelihood == -np.inf
    known = np.where(impossible, IMPOSSIBLE, log_likelihood)
    known[impossible.all(axis=1)] = 0.0
    return np.asarray(known + np.log(prior))
