"""`PatternVectorizer`: sequences as 0/1 columns, one for each pattern that was mined.

And what all estimators share: their form in a model file, by what a class declares. `STORED` says
what it learnt, and `STORED_PARAMS` which parameters have a form of their own; see
`relynx.storage.fields`. What only all of it together can be checked for, `check_restored` refuses.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from relynx.arrays import Bools
from relynx.bias import AnyBias, Bias, as_bias
from relynx.bias.model_file import BIAS, KNOWLEDGE
from relynx.data.class_cuts import columns_to_cut, cut_by_class, cut_like
from relynx.data.lists import from_lists
from relynx.data.parquet import Partitions
from relynx.data.sequences import Sequence, Sequences
from relynx.data.tables.formats import AllBins, Columns, Fluents, Markers, Order
from relynx.data.tables.plans import DEFAULT_BINS, Request
from relynx.errors import DataError, InputError, Problem, did_you_mean, raise_all
from relynx.features.tables import read_again, read_training
from relynx.mining.input_checks import classes_of
from relynx.mining.partitioned.search import check_partitions
from relynx.mining.patterns.model_file import PATTERNS
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine
from relynx.search_settings import SearchSettings
from relynx.storage.fields import Fields, State, none_or, restore, stored_state
from relynx.storage.parts import Part, plain

CELLS = 1 << 27  # of the dense matrix that is held at a time
FRAMES = ("pandas", "polars")
MISSING = ("error", "warn", "ignore")
TO_GO_ON = "missing_predicates='ignore', or --allow-missing, takes it as absent"
UNLIKELY, IMPOSSIBLE = 1e-3, 1e-6  # that sequences lack a predicate by chance
# How the work is done here, not what was learnt: it is not kept.
MACHINE = frozenset({"n_jobs", "memory", "checkpoint"})
OUTPUT = "_sklearn_output_config"  # what set_output wrote
ROUTING = "_metadata_request"  # of scikit-learn, which belongs to a pipeline


class SequenceEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator on sequences, which are no table of numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def __str__(self) -> str:
        """What was learnt, as `to_text` says it, of a fitted estimator that has this method."""
        tells = hasattr(self, "to_text") and all(hasattr(self, name) for name in self.STORED)
        return str(self.to_text() if tells else repr(self))


@dataclass(eq=False, repr=False)
class PatternEstimator(SequenceEstimator):
    """The parameters of an estimator that mines: those of the search."""

    STORED_PARAMS: ClassVar[Fields] = {"bias": none_or(BIAS)}

    bias: AnyBias | None = None
    _: KW_ONLY
    min_support: float | None = None
    min_frequency: int | None = None
    max_length: int | None = None
    max_gap: int | None = None
    min_confidence: float | None = None
    object_identity: bool | None = None
    missing_predicates: str = "error"


@dataclass(eq=False, repr=False, kw_only=True)
class PatternVectorizer(TransformerMixin, PatternEstimator):  # type: ignore[misc]
    """Turn sequences into a 0/1 matrix: which of the mined patterns cover which sequence.

    `fit` mines the patterns, so in a pipeline nothing is learnt from the sequences of a test part.
    Every setting of the search that is None is that of the bias, else the default in brackets.

    Parameters
    ----------
    bias
        The language of patterns: a `Bias`, its text, or the path of its file; None infers a simple
        one from the training sequences.
    min_support
        Minimum proportion of some class that a pattern covers (0.1).
    min_frequency
        Minimum number of covered sequences over all classes (1).
    max_length
        The largest number of atoms, links not counted (3).
    max_gap
        The largest n of `followat` (2).
    min_confidence
        Minimum confidence for some class; 1.0 keeps the patterns that cover one class only. None
        keeps all.
    object_identity
        Whether different variables stand for different constants (True).
    missing_predicates
        What is done where no sequence has any fact of a predicate of the patterns, and so many
        training sequences had some that chance is no reason: `error`, `warn`, or `ignore`, which
        takes it as absent.
    top_k, measure
        Keep only so many patterns, the best by a measure; see `PatternSet.measure`.
    sparse_output
        Whether `transform` gives a sparse matrix in CSR form, or an array.
    n_jobs
        Threads of the search and of `transform`; None is one, -1 all cores. The result is the same
        for every number. Inside a worker of joblib it is always one.

    Attributes
    ----------
    patterns_ : PatternSet
        The patterns, in the order of the columns, with their supports in the training sequences.
    bias_ : Bias
        The bias that was used.
    background_ : Background or None
        The background rules of the training sequences, which others get that have none.
    reading_ : Schema or None
        How the table of events was read, where `from_events` made X, with all cuts.

    Examples
    --------
    >>> import relynx as rx
    >>> lists, y = [["a", "b"], ["a"], ["b", "c"]], ["up", "up", "down"]
    >>> vectorizer = rx.PatternVectorizer(max_length=1)
    >>> vectorizer.fit_transform(lists, y).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['a(A)', 'b(A)', 'c(A)']
    """

    STORED: ClassVar[Fields] = {"bias_": BIAS, "patterns_": PATTERNS, **KNOWLEDGE}

    top_k: int | None = None
    measure: str = "confidence"
    sparse_output: bool = True
    n_jobs: int | None = None

    def fit(
        self, X: Any, y: Iterable[object] | None = None, *,
        sequence: str | None = None, order: Order = None, label: str | None = None,
        fluents: Fluents = None, attributes: Columns = None, bins: AllBins = DEFAULT_BINS,
        na_values: Markers | None = None, date_format: str | None = None,
    ) -> PatternVectorizer:  # fmt: skip
        """Mine the patterns.

        Parameters
        ----------
        X
            `Sequences`, or a table as `from_events` takes it, or lists as `from_lists` takes them,
            or a folder of `scan_parquet`, for which a bias must be given.
        y
            The classes, of a table in the order in which its sequences appear; without them those
            of X, and without any one class for all.
        sequence, order, label, fluents, attributes, bins, na_values, date_format
            Of a table: how it is read, as in `from_events`.
        """
        asked = Request(X, sequence, order, fluents, attributes, label, None, bins)
        asked.na_values, asked.date_format = na_values, date_format
        X, y = read_training(asked, y)
        given = as_bias(self.bias)
        if isinstance(X, Partitions):
            # Numbers that wait to be cut by class need all sequences at once.
            if waiting := columns_to_cut(X.without_sequences()):
                needs = "is to be cut by class, which needs all sequences in memory"
                hint = "read the table with other bins, or give X.load()"
                raise InputError(f"column {waiting[0]!r} {needs}", hint=hint)
            check_partitions(X, y, given, None)
            assert given is not None
            self.bias_ = given
        else:
            X = as_sequences(X)
            codes, _ = classes_of(X, y)
            X = cut_by_class(X, None if y is None and X.labels is None else codes)
            self.bias_ = given or Bias.infer(X, codes)
        self.background_, self.reading_ = X.background, X.reading
        how = SearchSettings.of_estimator(self.bias_, self).arguments()
        how |= {"min_confidence": self.min_confidence, "n_jobs": self.n_jobs}
        self.patterns_ = mine(X, y, self.bias_, **how, top_k=self.top_k, measure=self.measure)
        if not len(self.patterns_):
            warnings.warn(nothing_found(self.patterns_), UserWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Any:
        """The coverage as a float64 matrix of shape (n_sequences, n_patterns).

        Sequences may have constants and events unknown to `fit`. A table is read as that of `fit`,
        a row for each sequence in the order in which they appear. After
        `set_output(transform="pandas")` or `"polars"` it is a data frame, and dense; of a table of
        pandas the index names the sequences.
        """
        check_is_fitted(self)
        read = read_again(X, self.reading_)
        matrix = self._matrix(read)
        wanted = getattr(self, OUTPUT, {}).get("transform")
        output = wanted or sklearn.get_config()["transform_output"]
        if self.sparse_output and output not in FRAMES:
            return matrix
        dense = matrix.toarray()
        if output == "pandas" and read is not X and hasattr(X, "iloc"):
            return type(X)(dense, index=read.ids)  # else it would have that of the rows of X
        return dense

    def _matrix(self, X: object) -> sparse.csr_array:
        if isinstance(X, Partitions):
            parts = [known_sequences(self, part) for part in X.partitions()]
            columns = [coverage(self.patterns_, part, n_jobs=self.n_jobs) for part in parts]
            return sparse.vstack(columns, format="csr")
        X = known_sequences(self, X)
        check_predicates(self.missing_predicates, self.patterns_, X)
        return coverage(self.patterns_, X, n_jobs=self.n_jobs)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The patterns as text; `input_features` is ignored."""
        check_is_fitted(self)
        return np.array([*self.patterns_.texts()], dtype=object)

    def set_output(self, *, transform: str | None = None) -> PatternVectorizer:
        """Let `transform` give data frames: `pandas`, `polars`, or `default` for a matrix."""
        super().set_output(transform=transform)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def as_sequences(X: object) -> Sequences:
    """X itself when it is `Sequences`; else lists, as `from_lists` reads them."""
    if isinstance(X, Partitions):
        what = "X is a folder of partitions, and a model learns from sequences in memory"
        raise InputError(what, hint="give X.load(), or some partitions: X.partition(0)")
    if isinstance(X, Sequences):
        return X
    if isinstance(X, Sequence):
        return X.sequences
    return from_lists(X)[0]  # type: ignore[arg-type]


def known_sequences(model: Any, X: object) -> Sequences:
    """What a fitted model is given as sequences: with its cuts, and its rules if they have none."""
    X = cut_like(as_sequences(read_again(X, model.reading_)), model.reading_)
    rules = getattr(model, "background_", None)  # a pickle may be older
    return X if rules is None or X.background is not None else X.with_background(rules)


def check_predicates(how: str, patterns: PatternSet, X: Sequences) -> None:
    """Raise or warn where sequences have no fact of a predicate of the patterns.

    At least k of N training sequences had one. By the rule of succession the probability that none
    of n others has one is then at most `((N - k + 1) / (N + 2)) ** n`: if that is so small that it
    is no chance, the facts are others than those of the training sequences.
    """
    here = {*X.facts(patterns.object_identity).tables}
    here |= set() if X.background is None else X.background.heads
    lacking = set(patterns.trie.relations) - here
    if how == "ignore" or not lacking or not len(X):
        return
    most = dict.fromkeys(lacking, 0)
    for entry in patterns:
        for key in lacking & {atom.key for atom in entry.pattern.atoms}:
            most[key] = max(most[key], entry.frequency)
    n = int(patterns.class_sizes.sum())
    errors: list[Problem] = []
    doubts: list[Problem] = []
    for (name, arity), k in sorted(most.items()):
        chance = ((n - k + 1) / (n + 2)) ** len(X)
        had = f"all {n:,}" if k == n else f"at least {k:,} of the {n:,}"
        what = f"no sequence has a fact {name}/{arity}, which {had} training sequences had"
        near = did_you_mean(name, sorted({known for known, _ in here} - {name}))
        hint = f"{near or 'check the names of the facts;'} {TO_GO_ON}"
        found = errors if how == "error" and chance < IMPOSSIBLE else doubts
        found += [Problem(what, hint=hint)] if chance < UNLIKELY else []
    raise_all(errors, DataError)
    if doubts:
        warnings.warn("\n".join(map(str, doubts)), UserWarning, stacklevel=4)


def coverage(patterns: PatternSet, X: Sequences, *, n_jobs: int | None = None) -> sparse.csr_array:
    """Which sequences the patterns cover, as a sparse 0/1 matrix; some patterns at a time."""
    at_once = max(CELLS // max(len(X), 1), 1)
    parts = [
        _sparse(patterns[start : start + at_once].coverage(X, n_jobs=n_jobs))
        for start in range(0, max(len(patterns), 1), at_once)
    ]
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")


def _sparse(dense: Bools) -> sparse.csr_array:
    """What scipy makes of the matrix, in a quarter of the time."""
    ends = np.cumsum(dense.sum(axis=1, dtype=np.int64))
    columns = np.flatnonzero(dense) % max(dense.shape[1], 1)
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    if len(columns) <= np.iinfo(np.int32).max:  # trees of scikit-learn take no other
        columns, starts = columns.astype(np.int32), starts.astype(np.int32)
    return sparse.csr_array((np.ones(len(columns)), columns, starts), shape=dense.shape)


def nothing_found(patterns: PatternSet, where: str = "") -> str:
    """The warning of a search without patterns: what it counted, and which thresholds to lower."""
    return f"no pattern was found{where}; this is what the search saw:\n{patterns.explain_search()}"


# Estimators in model files


def fitted_state(model: Any) -> State:
    """The parameters, the form of the output, and what was learnt; nothing may be left over."""
    name = type(model).__name__
    params = model.get_params(deep=False)
    own = getattr(model, "STORED_PARAMS", {})
    asked = copy(model)
    if isinstance(params.get("bias"), str | os.PathLike):  # a file may be gone
        asked.bias = getattr(model, "bias_", None) or as_bias(model.bias)
    known = {*params, *model.STORED, OUTPUT, ROUTING}
    for attribute in vars(model):
        if attribute not in known:
            what = f"{name} has an attribute {attribute!r} that a model file does not keep"
            raise InputError(what, hint="delete it before you save")
    state: State = {
        "params": {
            key: plain(value, f"{key} of {name}")
            for key, value in params.items()
            if key not in MACHINE and key not in own
        }
    }
    output = {"output": getattr(model, OUTPUT, {}).get("transform")}
    return state | stored_state(asked, own) | output | stored_state(model, model.STORED)


def fitted_of(type_: Any, part: Part) -> Any:
    """The estimator of a part. Raises DataError where the part describes none. Parameters that the
    file does not have, because it is older than they are, have their default."""
    model = type_()
    own = getattr(model, "STORED_PARAMS", {})
    known = model.get_params(deep=False).keys() - {*MACHINE, *own}
    given = part.part("params")
    for key in given.names():
        if key not in known:
            raise given.wrong(key, f"is no parameter of {type_.__name__}")
        setattr(model, key, given.value(key))
    restore(model, part, own)
    output = part.text_or_none("output")
    if output is not None:
        if output not in (*FRAMES, "default") or not hasattr(model, "set_output"):
            raise part.wrong("output", f"is neither default nor {' nor '.join(FRAMES)}")
        model.set_output(transform=output)
    restore(model, part, model.STORED)
    if hasattr(model, "check_restored"):
        model.check_restored(part)
    return model
