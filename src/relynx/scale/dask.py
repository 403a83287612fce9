"""Dask's own: a client of a scheduler, and models over partitions by its workers.

`mine(parts, client=client)` needs no more than a client. The one place that uses Dask.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relynx.data.parquet import Partitions
from relynx.errors import InputError
from relynx.features.vectorizer import PatternVectorizer
from relynx.mining.partitioned.passes import Where, opened
from relynx.mining.partitioned.search import OnWorkers

INSTALL = "pip install 'relynx[dask]'"
WAIT = 60.0  # seconds for a scheduler, and for its first worker


@contextlib.contextmanager
def connected(address: str, *, timeout: float = WAIT) -> Iterator[Any]:
    """A client of a scheduler, `tcp://host:8786`. Raises InputError where it has no workers."""
    try:
        from distributed import Client
    except ImportError:
        what = "a scheduler needs dask and distributed, which are not installed"
        raise InputError(what, hint=INSTALL) from None
    try:
        client = Client(address, timeout=timeout)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        hint = "start one with dask scheduler, and give the address that it prints"
        raise InputError(f"there is no scheduler at {address}", hint=hint) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            what = f"the scheduler at {address} has no workers"
            raise InputError(what, hint=f"start some with dask worker {address}") from error
        yield client


def transform(vectorizer: PatternVectorizer, parts: Partitions, client: Any) -> sparse.csr_array:
    """`vectorizer.transform(parts)` by the workers of a client; always a sparse matrix."""
    return sparse.vstack(_each(_transformed, vectorizer, parts, client), format="csr")


def predict(model: Any, parts: Partitions, client: Any) -> NDArray[Any]:
    """`model.predict(parts)`, by the workers of a client, each a partition at a time."""
    return np.concatenate(_each(_predicted, model, parts, client))


def _each(function: Any, model: Any, parts: Partitions, client: Any) -> list[Any]:
    tasks = OnWorkers(client)
    # Once for all; a worker that dies takes it along, a task is redone.
    sent = tasks.run(_same, model)
    calls = [(sent, Where.of(parts), i) for i in range(parts.n_partitions)]
    return tasks.values(tasks.each(function, calls))


def _same(model: Any) -> Any:
    return model


def _transformed(vectorizer: PatternVectorizer, where: Where, number: int) -> Any:
    return sparse.csr_array(vectorizer.transform(opened(where).partition(number)))


def _predicted(model: Any, where: Where, number: int) -> NDArray[Any]:
    return np.asarray(model.predict(opened(where).partition(number)))
