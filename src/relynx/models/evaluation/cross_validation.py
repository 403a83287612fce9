"""Cross-validation: how well a classifier does on sequences that it has not seen."""

from __future__ import annotations

import html
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from relynx.data.sequences import Sequences, counted
from relynx.errors import InputError, Problem
from relynx.models.labels import checked_labels, coded_classes

Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Fold:
    """A part that was held out: which seed and part, and what was predicted for it.

    `test` holds the numbers of its sequences, `predicted` their classes.
    """

    seed: int
    number: int
    test: NDArray[np.int64]
    predicted: NDArray[Any]
    accuracy: float
    seconds: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """What a cross-validation found.

    Attributes
    ----------
    classes
        The classes, in order.
    folds
        Every part that was held out, seed by seed.
    confusion
        How many sequences of each class (rows) were given each class (columns), over all seeds.
    """

    classes: NDArray[Any]
    folds: tuple[Fold, ...]
    confusion: NDArray[np.int64]

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """The accuracy of each part: one row a seed."""
        seeds = list(dict.fromkeys(fold.seed for fold in self.folds))
        rows = [[fold.accuracy for fold in self.folds if fold.seed == seed] for seed in seeds]
        return np.array(rows)

    @property
    def mean(self) -> float:
        """The mean of all parts."""
        return float(self.accuracies.mean())

    @property
    def spread(self) -> float:
        """The standard deviation of the means of the seeds; 0 for one seed."""
        means = self.accuracies.mean(axis=1)
        return float(means.std(ddof=1)) if len(means) > 1 else 0.0

    @property
    def seconds(self) -> float:
        """The time that fitting and predicting took, all parts together."""
        return sum(fold.seconds for fold in self.folds)

    def _repr_html_(self) -> str:
        """The accuracy, and the matrix with classes as rows and predictions as columns."""
        names = [html.escape(str(name)) for name in self.classes.tolist()]
        head = "".join(f"<th>{name}</th>" for name in ["class", *names])
        rows = "".join(
            f"<tr><th>{name}</th>" + "".join(f"<td>{n:,}</td>" for n in counts) + "</tr>"
            for name, counts in zip(names, self.confusion.tolist(), strict=True)
        )
        n_seeds = len({fold.seed for fold in self.folds})
        origin = f"{counted(len(self.folds), 'fold')} of {counted(n_seeds, 'seed')}"
        return (
            f"<p>accuracy {self.mean:.3f}, the mean of {origin}; predictions by class:</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def cross_validate(
    estimator: Any,
    X: Sequences,
    y: Iterable[object],
    *,
    folds: int = 10,
    groups: Iterable[object] | None = None,
    seeds: Sequence[int] = (0,),
    only: Collection[int] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[Fold], object] | None = None,
) -> CrossValidation:
    """Hold out each of some parts in turn, learn from the others, and predict it.

    Everything is learnt anew for each part, from the other parts alone. The estimator given is not
    changed; where its `random_state` is None, it gets the seed.

    Parameters
    ----------
    estimator
        A classifier of sequences.
    X, y
        The sequences and their classes.
    folds
        The number of parts, drawn so that each has its share of every class.
    groups
        Sequences of the same group are never in different parts, such as proteins of one family.
    seeds
        Of the parts; the whole is repeated for each.
    only
        The numbers of the parts to hold out, where others are known; None for all.
    n_jobs
        Parts at a time. The answer is the same for every value.
    progress
        Called with each part when it is done, in order.

    Examples
    --------
    >>> import relynx as rx
    >>> from relynx.models.evaluation.baselines import baselines
    >>> from relynx.models.evaluation.cross_validation import cross_validate
    >>> X, y = rx.from_lists([["a", "b"], ["b", "a"]] * 5, ["up", "down"] * 5)
    >>> cross_validate(baselines(X)["Markov chain"], X, y, folds=5).accuracies
    array([[1., 1., 1., 1., 1.]])
    """
    labels = checked_labels(X, y)
    X.facts()  # derived once, not for every part
    tasks = [
        (seed, number, split)
        for seed in seeds
        for number, split in enumerate(splits(labels, folds=folds, groups=groups, seed=seed), 1)
        if only is None or number in only
    ]
    jobs = (delayed(_one)(estimator, X, labels, *task) for task in tasks)
    done: list[Fold] = []
    said: Counter[str] = Counter()
    with _closed_quietly(Parallel(n_jobs=n_jobs, return_as="generator")(jobs)) as results:
        for fold, messages in results:
            done.append(fold)
            said.update(set(messages))
            if progress is not None:
                progress(fold)
    for message, n in said.items():
        warnings.warn(f"in {n} of {len(tasks)} folds: {message}", UserWarning, stacklevel=2)
    true = np.concatenate([labels[fold.test] for fold in done])
    given = np.concatenate([fold.predicted for fold in done])
    classes = np.unique(labels)
    matrix = confusion_matrix(true, given, labels=classes)
    return CrossValidation(classes, tuple(done), np.asarray(matrix, np.int64))


@contextmanager
def _closed_quietly(results: Any) -> Iterator[Any]:
    """Let go of what is still under way when the block ends early; joblib would warn of that."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def splits(
    y: NDArray[Any], *, folds: int, groups: Iterable[object] | None = None, seed: int = 0
) -> Iterator[Split]:
    """The training and the test part of each fold, as numbers of sequences.

    Raises InputError where there cannot be so many.
    """
    if folds < 2:
        raise InputError(Problem(f"folds is {folds}", hint="give 2 or more"))
    classes, codes = coded_classes(y)
    sizes = np.bincount(codes)
    if sizes.min() < folds:
        name, n = classes[sizes.argmin()], int(sizes.min())
        what = f"the class {name} has {counted(n, 'sequence')}, too few for {folds} folds"
        raise InputError(Problem(what, hint="give fewer folds, or leave out the class"))
    nothing = np.zeros(len(y))
    if groups is None:
        parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
        yield from parts.split(nothing, y)
        return
    kinds = np.asarray([*groups])
    if len(kinds) != len(y):
        what = f"{counted(len(kinds), 'group')} for {counted(len(y), 'sequence')}"
        raise InputError(Problem(what, hint="give one group for each sequence"))
    if len(set(kinds.tolist())) < folds:
        n = len(set(kinds.tolist()))
        what = f"{counted(n, 'group')} cannot make {folds} folds"
        raise InputError(Problem(what, hint="give fewer folds"))
    grouped = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    for number, (train, test) in enumerate(grouped.split(nothing, y, kinds), 1):
        left = set(classes.tolist()) - set(y[train].tolist())
        if left:
            what = f"all sequences of the class {min(left)} are in groups of fold {number}"
            hint = "it cannot be learnt then: give fewer folds or smaller groups, or leave it out"
            raise InputError(Problem(what, hint=hint))
        yield train, test


def _one(
    estimator: Any, X: Sequences, y: NDArray[Any], seed: int, number: int, split: Split
) -> tuple[Fold, list[str]]:
    """Learn from the training part and predict the test part; and what there was to warn of."""
    train, test = split
    start = time.perf_counter()
    model = clone(estimator)
    if model.get_params().get("random_state", seed) is None:
        model.set_params(random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predicted = model.fit(X[train], y[train]).predict(X[test])
    accuracy = float(np.mean(predicted == y[test]))
    seconds = time.perf_counter() - start
    fold = Fold(seed, number, test, np.asarray(predicted), accuracy, seconds)
    return fold, [str(one.message) for one in caught]
