"""Sequences drawn from Markov chains: relational ones in five classes, and flat ones."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from questions.workload import FLUENTS
from relynx.logic.terms import Atom

N_CLASSES, SHORTEST, LONGEST = 5, 10, 25
N_SYMBOLS, FLAT_LENGTH = 30, 20

# How even the rows of the transition matrices are: small is peaked. Chosen for the number of
# patterns that the benchmarks name.
RELATIONAL_EVENNESS, FLAT_EVENNESS = 0.1, 0.1

RELATIONAL_BIAS = """
type(he(event,class,length)). mode(he(+,*,*)).
type(st(event,orientation,length)). mode(st(+,*,*)).
dimension(next_s). maxfollowat(3).
"""

# Only follow_s is left: what is found are the sequential patterns of the flat miners.
FLAT_BIAS = """
type(is(event,symbol)). mode(is(+,#)).
dimension(next_s). maxfollowat(1). negconstraint([next_s(X,Y)]).
"""


def relational_sequences(n_per_class: int, *, seed: int = 1) -> tuple[list[list[Atom]], list[str]]:
    """Chains of 10 to 25 events with one fluent each, and their classes.

    Each class has a chain of its own over the 24 ground fluents. The first sequences of a class
    are the same whatever their number.
    """
    states = [
        (predicate, *values)
        for predicate, domains in FLUENTS.items()
        for values in product(*domains)
    ]
    events = [f"e{i}" for i in range(LONGEST)]
    steps = [Atom("next_s", pair) for pair in pairwise(events)]
    sequences, labels = [], []
    for k in range(N_CLASSES):
        rng = np.random.default_rng((seed, k))
        chain = _chain(rng, len(states), RELATIONAL_EVENNESS)
        for _ in range(n_per_class):
            length = int(rng.integers(SHORTEST, LONGEST + 1))
            walk = _walks(rng, chain, n_walks=1, length=length)[0]
            fluents = [
                Atom(states[state][0], (event, *states[state][1:]))
                for event, state in zip(events, walk.tolist(), strict=False)
            ]
            sequences.append(fluents + steps[: length - 1])
            labels.append(f"class{k + 1}")
    return sequences, labels


def flat_sequences(n_sequences: int, *, seed: int = 0) -> list[list[int]]:
    """Lists of 20 symbols, the numbers 1 to 30."""
    rng = np.random.default_rng(seed)
    chain = _chain(rng, N_SYMBOLS, FLAT_EVENNESS)
    walks = _walks(rng, chain, n_walks=n_sequences, length=FLAT_LENGTH)
    lists: list[list[int]] = (walks + 1).tolist()
    return lists


def _chain(rng: np.random.Generator, n_states: int, evenness: float) -> NDArray[np.float64]:
    """Cumulative transition probabilities, one row a state."""
    return rng.dirichlet(np.full(n_states, evenness), size=n_states).cumsum(axis=1)


def _walks(
    rng: np.random.Generator, chain: NDArray[np.float64], *, n_walks: int, length: int
) -> NDArray[np.int64]:
    """Walks from a uniformly drawn state, one a row."""
    walks = np.empty((n_walks, length), np.int64)
    walks[:, 0] = rng.integers(len(chain), size=n_walks)
    for i in range(1, length):
        passed = chain[walks[:, i - 1]] < rng.random((n_walks, 1))
        walks[:, i] = np.minimum(passed.sum(axis=1), len(chain) - 1)
    return walks
