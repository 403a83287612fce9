"""Data made from a seed, with a rule that is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relynx.arrays import Bools, Longs
from relynx.data.lists import from_lists
from relynx.data.sequences import Sequences
from relynx.errors import InputError


def planted_rule(
    n_sequences: int = 200,
    *,
    n_events: int = 8,
    n_actions: int = 6,
    n_objects: int = 4,
    flip: float = 0.0,
    random_state: int | np.random.Generator = 0,
) -> tuple[Sequences, NDArray[np.str_]]:
    """Make sequences whose class depends on a relation between events.

    Every event is an action on an object, both drawn uniformly: `do(E,a2,o1)`. The class is `yes`
    when the action a0 and later a1 are done to the same object, whichever it is; no count of
    actions or objects separates the classes. Sequences are drawn until half of them are `yes`.

    Parameters
    ----------
    n_sequences, n_events, n_actions, n_objects
        How many sequences, events of each, and how many actions (at least 2) and objects there are.
    flip
        The share of labels that are then turned into the other class.
    random_state
        A seed, or numpy's generator.

    Returns
    -------
    X, y
        The sequences, and their classes as an array.

    Examples
    --------
    >>> import relynx as rx
    >>> X, y = rx.planted_rule(20, random_state=1)
    >>> hits = rx.covers("do(X,a0,O), follow_s(X,Y), do(Y,a1,O)", X)
    >>> bool(((y == "yes") == hits).all()), int(hits.sum())
    (True, 10)
    """
    if n_actions < 2 or n_events < 2 or n_objects < 1:
        sizes = f"{n_events} events, {n_actions} actions and {n_objects} objects"
        what = f"{sizes} cannot hold the rule"
        raise InputError(what, hint="give at least 2 events, 2 actions and 1 object")
    if not 0 <= flip <= 1:
        raise InputError(f"flip is {flip}", hint="give a share from 0 to 1")
    rng = np.random.default_rng(random_state)
    wanted = rng.permutation(n_sequences) % 2 == 0
    actions = np.empty((n_sequences, n_events), np.int64)
    objects = np.empty((n_sequences, n_events), np.int64)
    missing = np.arange(n_sequences)
    while len(missing):
        actions[missing] = rng.integers(n_actions, size=(len(missing), n_events))
        objects[missing] = rng.integers(n_objects, size=(len(missing), n_events))
        missing = missing[rule_holds(actions[missing], objects[missing]) != wanted[missing]]
    flipped = rng.choice(n_sequences, round(flip * n_sequences), replace=False)
    wanted[flipped] = ~wanted[flipped]
    rows = zip(actions.tolist(), objects.tolist(), strict=True)
    lists = [[("do", f"a{a}", f"o{o}") for a, o in zip(*row, strict=True)] for row in rows]
    y = np.where(wanted, "yes", "no")
    X, _ = from_lists(lists, y.tolist())
    return X, y


def rule_holds(actions: Longs, objects: Longs) -> Bools:
    """Whether a0 and later a1 are done to the same object, row by row."""
    holds = np.zeros(len(actions), bool)
    for j in range(1, actions.shape[1]):
        before = (actions[:, :j] == 0) & (objects[:, :j] == objects[:, j : j + 1])
        holds |= before.any(axis=1) & (actions[:, j] == 1)
    return holds
