"""One model for each class: how sequences become observations, and the models that are learnt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from relynx.bias import Bias
from relynx.data.event_arguments import Argument
from relynx.data.event_order import link_of
from relynx.data.sequences import Sequences
from relynx.errors import InputError, Problem
from relynx.mining.workers import n_threads
from relynx.models.checks import is_amount, is_count, not_among, not_true_or_false
from relynx.models.lohmm.clauses import Floats
from relynx.models.lohmm.inference.ground import Grounding
from relynx.models.lohmm.model import LoHMM
from relynx.models.lohmm.structure import Known, structure
from relynx.models.observations import Observed, Row, observed, observed_arguments

CONSTANT = frozenset("#*")  # the signs of arguments that may be fixed
IMPOSSIBLE = -1e9  # stands for a log-likelihood of -inf


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parameters of an estimator that say how its models are made and fitted."""

    structure: LoHMM | str | None
    bias: Bias | None
    dimension: str | None
    n_hidden: int
    blocks: int | tuple[int, ...]
    max_kinds: int
    selection: str
    end: bool
    max_iter: int
    tol: float
    pseudo_count: float
    selection_pseudo_count: float

    @classmethod
    def of(cls, estimator: Any) -> Recipe:
        """Those of an estimator. Raises InputError with all that is wrong with them."""
        recipe = cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})
        problems = [*recipe._problems()]
        if problems:
            raise InputError(problems)
        return recipe

    def _problems(self) -> Iterable[Problem]:
        given: Any = self.structure
        if given is not None and not isinstance(given, str | LoHMM):
            hint = "a LoHMM, the text of one, or None to make one from the sequences"
            yield Problem(f"structure is {given!r}", hint=hint)
        bias: Any = self.bias
        if bias is not None and not isinstance(bias, Bias):
            hint = "a Bias, which read_bias and parse_bias make, or None to take all facts"
            yield Problem(f"bias is {bias!r}", hint=hint)
        dimension: Any = self.dimension
        if dimension is not None and not isinstance(dimension, str):
            hint = "give the name of a dimension, or None"
            yield Problem(f"dimension is {dimension!r}", hint=hint)
        for name, least in (("n_hidden", 1), ("max_kinds", 1), ("max_iter", 0)):
            if not is_count(getattr(self, name), least):
                hint = f"give a whole number from {least} on"
                yield Problem(f"{name} is {getattr(self, name)!r}", hint=hint)
        if not _are_blocks(self.blocks):
            hint = "a number from 1 on, or the first steps of the blocks, (1, 8, 20) say"
            yield Problem(f"blocks is {self.blocks!r}", hint=hint)
        yield from not_among("selection", self.selection, ("argument", "type"))
        yield from not_true_or_false("end", self.end)
        for name in ("tol", "pseudo_count", "selection_pseudo_count"):
            if not is_amount(getattr(self, name)):
                hint = "give a number from 0 on"
                yield Problem(f"{name} is {getattr(self, name)!r}", hint=hint)

    def structure_for(self, training: Observed) -> LoHMM:
        """The given structure, or one for the training sequences."""
        if isinstance(self.structure, LoHMM):
            return self.structure
        if self.structure is not None:
            return LoHMM.parse(self.structure)
        return structure(
            training.rows,
            max_kinds=self.max_kinds,
            n_hidden=self.n_hidden,
            blocks=self.blocks,
            end=self.end,
            selection=self.selection,
            fixed=None if self.bias is None else _fixable(self.bias, training),
        )

    @property
    def begins_at_random(self) -> bool:
        """Whether Baum-Welch begins with random parameters: hidden copies must differ somehow."""
        return self.structure is None and self.n_hidden > 1


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
    def learn(cls, recipe: Recipe, X: Sequences) -> Reader:
        bias, dimension = recipe.bias, recipe.dimension
        if bias is not None:
            bias.check(X)
        if dimension is None and bias is not None:
            dimension = next((name for name in bias.dimensions if name in X.dimensions), None)
        link, _ = link_of(X, dimension)
        name = link.removeprefix("next_")
        predicates = None if bias is None else frozenset(bias.modes)
        return cls(name, observed_arguments(X, name), predicates, recipe.structure is None)

    def observed(self, X: Sequences) -> Observed:
        if len(X) and self.dimension not in X.dimensions:  # one event each, or none
            X = _with_dimension(X, self.dimension)
        return observed(X, self.dimension, self.event_arguments, self.predicates)

    def rows(self, X: Sequences, model: LoHMM) -> list[Row]:
        """The observations of sequences, as a model of the learnt structure can show them."""
        rows = self.observed(X).rows
        return Known.of(model).shown(rows) if self.made else rows


@dataclass(frozen=True, slots=True)
class Learnt:
    """The models of the classes, in order, and the ground tables of the training sequences."""

    reader: Reader
    models: tuple[LoHMM, ...]
    grounding: Grounding


def learn(
    recipe: Recipe,
    X: Sequences,
    codes: NDArray[np.int64],
    *,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> Learnt:
    """One structure for all, and its parameters for each class."""
    reader = Reader.learn(recipe, X)
    training = reader.observed(X)
    model = recipe.structure_for(training)
    rows = Known.of(model).shown(training.rows) if reader.made else training.rows
    grounding = model.ground(rows)
    if not reader.made:
        _refuse_impossible(model, X, rows, grounding)
    n_classes = int(codes.max()) + 1
    seeds = random_state.randint(2**31 - 1, size=n_classes).tolist()
    models = Parallel(n_threads(n_jobs), prefer="threads")(
        delayed(model.fit)(
            grounding,
            max_iter=recipe.max_iter,
            tol=recipe.tol,
            pseudo_count=recipe.pseudo_count,
            selection_pseudo_count=recipe.selection_pseudo_count,
            sample_weight=(codes == c).astype(float),
            random_state=seed if recipe.begins_at_random else None,
        )
        for c, seed in enumerate(seeds)
    )
    return Learnt(reader, tuple(models), grounding)


def _refuse_impossible(model: LoHMM, X: Sequences, rows: list[Row], grounding: Grounding) -> None:
    impossible = np.flatnonzero(model.log_probability(grounding) == -np.inf)
    if len(impossible):
        first = int(impossible[0])
        row, columns = rows[first], model.forward(rows[first])
        sums = [max(column.values(), default=-np.inf) for column in columns]
        step = sums.index(-np.inf)
        shown = f"{row[step]} at step {step + 1}" if step < len(row) else "that it ends"
        what = f"sequence {X.ids[first]}: the structure cannot show {shown}"
        hint = "give the structure its predicate and values, or structure=None"
        raise InputError(Problem(what, hint=hint))


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


def _with_dimension(X: Sequences, name: str) -> Sequences:
    """The same sequences with a dimension that links nothing."""
    tables = dict(X.tables) | {(f"next_{name}", 2): np.empty((3, 0), np.int32)}
    return Sequences(X.vocabulary, tables, X.ids, None, X.background)


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
