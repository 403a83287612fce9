"""Cross-validation: how well a classifier does on sequences that it has not seen.

Groups, such as proteins of a family, are not split; a file says which sequence is in which group.
"""

from __future__ import annotations

import csv
import html
import io
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from relynx.arrays import Floats, Longs
from relynx.data.sequences import Sequences, counted
from relynx.errors import DataError, InputError, Problem, Source, raise_all
from relynx.logic.source_files import read_source
from relynx.models.checks import checked_labels, coded_classes

Split: TypeAlias = tuple[Longs, Longs]

HEADER = ["id", "group"]  # of a file of groups
SHOWN = 3  # sequences without a group


@dataclass(frozen=True, slots=True)
class Fold:
    """A test fold: its seed and number, and the predictions for it.

    `test` holds the numbers of its sequences, `predicted` their predicted classes; where asked for,
    `scores` has a score of each sequence for each class, which are `probabilities` or not, and
    `model` is the fitted one.
    """

    seed: int
    number: int
    test: Longs
    predicted: NDArray[Any]
    accuracy: float
    seconds: float
    scores: Floats | None = None
    probabilities: bool = False
    model: Any = None


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The results of a cross-validation.

    Attributes
    ----------
    classes
        The classes, in order.
    folds
        Every test fold, seed by seed.
    confusion
        Confusion matrix over all seeds: sequences by class (rows) and predicted class (columns).
    """

    classes: NDArray[Any]
    folds: tuple[Fold, ...]
    confusion: Longs

    @property
    def accuracies(self) -> Floats:
        """Accuracies, array of shape (n_seeds, n_folds)."""
        seeds = list(dict.fromkeys(fold.seed for fold in self.folds))
        rows = [[fold.accuracy for fold in self.folds if fold.seed == seed] for seed in seeds]
        return np.array(rows)

    @property
    def mean(self) -> float:
        """The mean accuracy over all folds."""
        return float(self.accuracies.mean())

    @property
    def spread(self) -> float:
        """The standard deviation of the mean accuracy over the seeds; 0 for one seed."""
        means = self.accuracies.mean(axis=1)
        return float(means.std(ddof=1)) if len(means) > 1 else 0.0

    @property
    def seconds(self) -> float:
        """The time of fitting and predicting, summed over all folds."""
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
    parts: Iterable[Split] | None = None,
    scores: bool = False,
    keep_models: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[Fold], object] | None = None,
) -> CrossValidation:
    """Hold out each fold in turn, fit on the others, and predict it.

    Everything is learnt again for each fold, from the other folds alone. The estimator is cloned,
    not changed; if its `random_state` is None, the clone gets the seed.

    Parameters
    ----------
    estimator
        A classifier of sequences.
    X, y
        The sequences and their classes.
    folds
        The number of stratified folds.
    groups
        Sequences of the same group, such as proteins of one family, are never in different folds.
    seeds
        Seeds of the folds; the cross-validation is repeated for each.
    only
        The numbers of the folds to hold out; None for all.
    parts
        Training and test sequences, as numbers, in place of folds that are drawn.
    scores, keep_models
        Whether folds have scores for each class, and the fitted models.
    n_jobs
        Folds that run at the same time. The result is the same for every value.
    progress
        Called with each fold when it is done, in order.

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
    X.facts()  # derived once, not for every fold
    given = None if parts is None else [*parts]
    tasks = [
        (seed, number, split)
        for seed in seeds
        for number, split in enumerate(
            given or splits(labels, folds=folds, groups=groups, seed=seed), 1
        )
        if only is None or number in only
    ]
    how = {"scores": scores, "keep": keep_models}
    jobs = [delayed(_one)(estimator, X, labels, *task, **how) for task in tasks]
    done, messages = _results(jobs, n_jobs, progress)
    for message, n in messages.items():
        warnings.warn(f"in {n} of {len(tasks)} folds: {message}", UserWarning, stacklevel=2)
    true = np.concatenate([labels[fold.test] for fold in done])
    predicted = np.concatenate([fold.predicted for fold in done])
    classes = np.unique(labels)
    matrix = confusion_matrix(true, predicted, labels=classes)
    return CrossValidation(classes, tuple(done), np.asarray(matrix, np.int64))


def _results(
    jobs: list[Any], n_jobs: int | None, progress: Callable[[Fold], object] | None
) -> tuple[list[Fold], Counter[str]]:
    """The folds in order, and in how many of them each warning was raised."""
    done: list[Fold] = []
    messages: Counter[str] = Counter()
    results = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    try:
        for fold, warned in results:
            done.append(fold)
            messages.update(set(warned))
            if progress is not None:
                progress(fold)
    finally:  # cancels pending jobs, of which joblib warns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()
    return done, messages


def splits(
    y: NDArray[Any], *, folds: int, groups: Iterable[object] | None = None, seed: int = 0
) -> Iterator[Split]:
    """The training and the test sequences of each fold, as numbers. Raises InputError if there
    cannot be so many folds."""
    if folds < 2:
        raise InputError(f"folds is {folds}", hint="give 2 or more")
    classes, codes = coded_classes(y)
    sizes = np.bincount(codes)
    if sizes.min() < folds:
        name, n = classes[sizes.argmin()], int(sizes.min())
        what = f"the class {name} has {counted(n, 'sequence')}, too few for {folds} folds"
        raise InputError(what, hint="give fewer folds, or leave out the class")
    nothing = np.zeros(len(y))
    if groups is None:
        yield from StratifiedKFold(folds, shuffle=True, random_state=seed).split(nothing, y)
        return
    group_of = np.asarray([*groups])
    if len(group_of) != len(y):
        what = f"{counted(len(group_of), 'group')} for {counted(len(y), 'sequence')}"
        raise InputError(what, hint="give one group for each sequence")
    if (n := len(set(group_of.tolist()))) < folds:
        what = f"{counted(n, 'group')} cannot make {folds} folds"
        raise InputError(what, hint="give fewer folds")
    grouped = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    for number, (train, test) in enumerate(grouped.split(nothing, y, group_of), 1):
        left = set(classes.tolist()) - set(y[train].tolist())
        if left:
            what = f"all sequences of the class {min(left)} are in groups of fold {number}"
            hint = "it cannot be learnt then: give fewer folds or smaller groups, or leave it out"
            raise InputError(what, hint=hint)
        yield train, test


def held_out(
    y: NDArray[Any], share: float, *, groups: Iterable[object] | None = None, seed: int = 0
) -> Split:
    """Training and test sequences, a share of each class being held out; with groups about so much,
    in whole groups. Raises InputError."""
    if groups is not None:
        return next(splits(y, folds=max(2, round(1 / share)), groups=groups, seed=seed))
    _, codes = coded_classes(y)
    draw, test = np.random.default_rng(seed), np.zeros(len(y), bool)
    for c in range(codes.max() + 1):
        mine = draw.permutation(np.flatnonzero(codes == c))
        test[mine[: min(round(share * len(mine)), len(mine) - 1)]] = True
    if not test.any():
        what = f"{share:g} of the sequences of each class are less than one"
        raise InputError(what, hint="hold out more")
    return np.flatnonzero(~test), np.flatnonzero(test)


def split_by_time(X: Sequences, y: NDArray[Any], share: float) -> Split:
    """Training and test sequences, those that begin last being held out. Raises InputError."""
    if X.numbers is None or X.numbers.spans is None:
        what = "it is not known when the sequences begin"
        hint = "read a table with a column of times or numbers as its order"
        raise InputError(what, hint=hint)
    begins = X.numbers.spans[0]
    ordered = np.unique(begins)
    if len(ordered) < 2:
        what = "all sequences begin at the same time, so none is later"
        raise InputError(what, hint="order the events by a time that goes on between sequences")
    at = np.sort(begins)[len(begins) - max(1, round(share * len(begins)))]
    test = begins >= max(at, ordered[1])
    if len({*y[~test].tolist()}) < 2:
        name = y[~test].tolist()[0]
        what = f"the sequences that begin first are all of one class, {name!r}"
        raise InputError(what, hint="hold out less, or split by class")
    return np.flatnonzero(~test), np.flatnonzero(test)


def _one(
    estimator: Any,
    X: Sequences,
    y: NDArray[Any],
    seed: int,
    number: int,
    split: Split,
    *,
    scores: bool,
    keep: bool,
) -> tuple[Fold, list[str]]:
    """Fit on the training part and predict the test part; also returns the warnings."""
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
    kept = model if keep else None
    told = _scores(model, X[test], np.unique(y)) if scores else (None, False)
    fold = Fold(seed, number, test, np.asarray(predicted), accuracy, seconds, *told, kept)
    return fold, [str(one.message) for one in caught]


def _scores(model: Any, X: Sequences, classes: NDArray[Any]) -> tuple[Floats | None, bool]:
    """The scores of a model for each class, and whether they are probabilities; a class that it
    does not know has the lowest. None where it has no scores."""
    probable = hasattr(model, "predict_proba")
    if not probable and not hasattr(model, "decision_function"):
        return None, False
    found = np.asarray(model.predict_proba(X) if probable else model.decision_function(X), float)
    if found.ndim == 1:
        found = np.stack([-found, found], axis=1)
    out = np.full((len(X), len(classes)), 0.0 if probable else -np.inf)
    out[:, np.searchsorted(classes, model.classes_)] = found
    return out, probable


def read_groups(path: str | os.PathLike[str], ids: Iterable[object]) -> list[str]:
    """The group of each sequence, from a CSV file with the columns `id` and `group`."""
    source = read_source(path)
    here = Source("", source.path)
    rows = [row for row in csv.reader(io.StringIO(source.text, newline="")) if row]
    if not rows or [name.strip() for name in rows[0]] != HEADER:
        hint = "begin the file with the line id,group"
        raise DataError("the first line must name two columns", here, hint=hint)
    problems: list[Problem] = []
    groups: dict[str, str] = {}
    for row in rows[1:]:
        fields = [field.strip() for field in row]
        if len(fields) != 2:
            what = f"{','.join(row)} has {counted(len(fields), 'field')}, not two"
            problems.append(Problem(what, here))
        elif groups.setdefault(*fields) != fields[1]:
            what = f"{fields[0]} is in two groups, {groups[fields[0]]} and {fields[1]}"
            problems.append(Problem(what, here))
    names = [str(name) for name in ids]
    missing = [name for name in names if name not in groups]
    if missing and not problems:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        what = f"no group for {', '.join(missing[:SHOWN])}{more}"
        problems.append(Problem(what, here, hint="give every sequence a group"))
    raise_all(problems, DataError)
    return [groups[name] for name in names]
