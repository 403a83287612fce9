"""Digests of data: they change with any fact, rule or class."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from relynx.data.sequences import Sequences


def digest(parts: Iterable[object]) -> str:
    """A digest of some parts: arrays of numbers, and the `repr` of anything else."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(repr((part.dtype.str, part.shape)).encode())
            total.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        else:
            text = repr(part).encode(errors="surrogatepass")
            total.update(b"%d:" % len(text))
            total.update(text)
    return total.hexdigest()


def data_digest(X: Sequences) -> str:
    """A text that changes with any fact, its code, and any rule; not with ids and labels."""
    rules = [] if X.background is None else [*map(str, X.background.rules)]
    tables = (part for key, table in X.tables.items() for part in (key, table))
    return digest([len(X), X.vocabulary.constants, rules, *tables])
