"""Support vector machines for all pairs of classes, kept as the arrays that prediction needs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from relynx.arrays import Floats, Longs
from relynx.storage.fields import State
from relynx.storage.parts import Part, plain

GRID = tuple(2.0**k for k in range(-5, 11))  # the values of C that are compared
FOLDS = 5
DIGITS = 9
UNCHECKED = 1.0  # C where a class is too small to be tested on


@dataclass(frozen=True, slots=True, eq=False)
class PairSVM:
    """A machine for each pair of classes, in the order (1st, 2nd), (1st, 3rd), ... The value of a
    pair is positive for its second class. `vectors` are the support vectors and `weights` what each
    adds to each pair. Without `gamma` the kernel is linear; where there are fewer pairs than
    support vectors, `vectors` then has one row for each pair, and `weights` is None."""

    vectors: Floats
    weights: Floats | None
    intercepts: Floats
    gamma: float | None
    n_classes: int

    def values(self, U: Floats) -> Floats:
        """The value of each pair, one row a vector. They are rounded, for products of matrices
        round a row by how many others there are."""
        products = U @ self.vectors.T
        if self.gamma is not None:
            squares = _squares(U)[:, None] + _squares(self.vectors)[None] - 2 * products
            products = np.exp(-self.gamma * np.maximum(squares, 0.0))
        if self.weights is not None:
            products = products @ self.weights.T
        return np.asarray((products + self.intercepts).round(DIGITS))

    def direction(self, pair: int) -> Floats:
        """What each column of a row adds to the value of a pair, for a linear kernel."""
        weights = self.weights
        return np.asarray(self.vectors[pair] if weights is None else weights[pair] @ self.vectors)

    def decisions(self, U: Floats) -> Floats:
        """For each class its votes, and less than half a vote for the values behind them. For two
        classes, the value of their pair."""
        values = self.values(U)
        if self.n_classes == 2:
            return np.asarray(values[:, 0])
        votes, sums = np.zeros((2, len(U), self.n_classes))
        for pair, (first, second) in enumerate(combinations(range(self.n_classes), 2)):
            votes[:, second] += values[:, pair] > 0
            votes[:, first] += values[:, pair] <= 0
            sums[:, second] += values[:, pair]
            sums[:, first] -= values[:, pair]
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def kernel(U: Floats, gamma: float | None) -> Floats:
    """The kernel of all pairs of rows: products, or with `gamma` exp(-gamma * distance squared)."""
    products = U @ U.T
    if gamma is None:
        return np.asarray((products + products.T) / 2)
    squares = np.diag(products)
    distances = np.maximum(squares[:, None] + squares[None] - 2 * products, 0.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(np.exp(-gamma * (distances + distances.T) / 2))


def scaled_gamma(U: Floats) -> float:
    """1 / (columns * variance), as in scikit-learn; 1 where nothing varies."""
    spread = U.shape[1] * float(U.var()) if U.size else 0.0
    return 1 / spread if spread > 0 else 1.0


def learn_pairs(U: Floats, K: Floats, codes: Longs, *, C: float, gamma: float | None) -> PairSVM:
    """Fit the machines to rows, their kernel, and the numbers of their classes."""
    machine = SVC(kernel="precomputed", C=C).fit(K, codes)
    n_classes = len(machine.classes_)
    weights = _pair_weights(machine, codes[machine.support_], n_classes)
    # scikit-learn turns the sign of two classes: there it is positive for the second.
    sign = 1.0 if n_classes == 2 else -1.0
    weights, intercepts = sign * weights, sign * machine.intercept_
    vectors = U[machine.support_]
    if gamma is None and len(weights) < len(vectors):
        return PairSVM(weights @ vectors, None, intercepts, None, n_classes)
    return PairSVM(vectors, weights, intercepts, gamma, n_classes)


def validated_C(K: Floats, codes: Longs, random_state: np.random.RandomState) -> float:
    """The smallest C of the grid with the most right answers in inner cross-validation."""
    folds = min(FOLDS, int(np.bincount(codes).min()))
    if folds < 2:
        return UNCHECKED
    cv = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    right = np.zeros(len(GRID), np.int64)
    for train, test in cv.split(codes, codes):
        inside, across = K[np.ix_(train, train)], K[np.ix_(test, train)]
        for i, C in enumerate(GRID):
            machine = SVC(kernel="precomputed", C=C).fit(inside, codes[train])
            right[i] += (machine.predict(across) == codes[test]).sum()
    return GRID[int(right.argmax())]


def _pair_weights(machine: SVC, codes: Longs, n_classes: int) -> Floats:
    """What each support vector adds to each pair, from the rows that libsvm packs them in."""
    packed = machine.dual_coef_
    pairs = [*combinations(range(n_classes), 2)]
    weights = np.zeros((len(pairs), len(codes)))
    for pair, (first, second) in enumerate(pairs):
        weights[pair, codes == first] = packed[second - 1, codes == first]
        weights[pair, codes == second] = packed[first, codes == second]
    return weights


def _squares(vectors: Floats) -> Floats:
    return np.asarray((vectors * vectors).sum(axis=1))


# In model files


def machine_state(machine: PairSVM) -> State:
    """The machines as plain values and arrays; the number of classes is that of the classifier."""
    return {
        field.name: plain(getattr(machine, field.name), "machine_")
        for field in fields(machine)
        if field.name != "n_classes"
    }


def machine_of(part: Part, n_classes: int, n_columns: int, *, linear: bool) -> PairSVM:
    """Undo `machine_state`. Raises DataError where the part describes no machines of this size."""
    n_pairs = n_classes * (n_classes - 1) // 2
    merged = part.none("weights")
    vectors = part.array("vectors", np.float64, (n_pairs if merged else None, n_columns))
    weights = None if merged else part.array("weights", np.float64, (n_pairs, len(vectors)))
    intercepts = part.array("intercepts", np.float64, (n_pairs,))
    gamma = None if part.none("gamma") else part.number("gamma")
    if (gamma is None) != linear or (gamma is not None and (merged or not 0 < gamma < np.inf)):
        raise part.wrong("gamma", "does not fit the kernel")
    part.end()
    return PairSVM(vectors, weights, intercepts, gamma, n_classes)
