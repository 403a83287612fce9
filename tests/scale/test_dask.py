"""Partitions mined by the workers of a Dask cluster, of which some die."""

from __future__ import annotations

import contextlib
import os
import signal

import numpy as np
import pytest

import relynx as rx
from relynx.mining.partitioned import passes as partition_tasks
from relynx.mining.partitioned.search import OnWorkers

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from relynx.scale import dask as scale  # noqa: E402

BIAS = rx.parse_bias("type(do(event,action,thing)). mode(do(+,#,*)). dimension(next_s).")
SETTINGS = {"min_support": 0.2, "max_length": 2}
pytestmark = pytest.mark.xdist_group("dask")  # one cluster for all


LONGEST = 60  # seconds, for a test and for starting and closing a cluster


@contextlib.contextmanager
def limited():
    """Raise where a block takes too long: a cluster that waits for something waits for ever."""

    def ring(*_):
        raise TimeoutError(f"this is not done after {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def limit():
    with limited():
        yield


@pytest.fixture(scope="module")
def cluster():
    with dask.config.set({"distributed.scheduler.allowed-failures": 5}):
        with limited():
            cluster = distributed.LocalCluster(
                processes=True, n_workers=2, threads_per_worker=1, dashboard_address=":0"
            )
        try:
            yield cluster
        finally:
            with limited():
                cluster.close(timeout=10)


@pytest.fixture
def client(limit, cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=30)  # one may have just been killed
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    X, y = rx.planted_rule(600, n_events=6, random_state=1)
    folder = tmp_path_factory.mktemp("dask") / "x"
    X.to_parquet(folder, partitions=5, y=y)
    return folder


@pytest.fixture(scope="module")
def whole(folder):
    X = rx.scan_parquet(folder).load()
    return X, rx.mine(X, None, BIAS, **SETTINGS)


def kill(cluster, most):
    """Kill so many workers, as far as they live; how many those are."""
    killed = 0
    for nanny in cluster.workers.values():
        if nanny.pid is not None and killed < most:
            with contextlib.suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)
                killed += 1
    return killed


class Killing:
    """A client that kills a worker when a pass has been given out."""

    def __init__(self, client, cluster, function):
        self.client, self.cluster, self.function = client, cluster, function
        self.killed = 0

    def submit(self, function, *args, **options):
        future = self.client.submit(function, *args, **options)
        if self.function is not None and function is not self.function and self.given:
            self._kill()
        self.given = function is self.function
        return future

    given = False

    def _kill(self):
        self.function = None
        self.killed += kill(self.cluster, 1)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_workers_find_what_one_search_finds(client, folder, whole):
    found = rx.mine(rx.scan_parquet(folder), None, BIAS, client=client, **SETTINGS)
    assert found == whole[1]


@pytest.mark.parametrize(
    "function",
    [partition_tasks.search, pytest.param(partition_tasks.count, marks=pytest.mark.slow)],
)
def test_a_worker_that_is_killed_in_a_pass_changes_nothing(
    client, cluster, folder, whole, function
):
    killing = Killing(client, cluster, function)
    found = rx.mine(rx.scan_parquet(folder), None, BIAS, client=killing, **SETTINGS)
    assert killing.killed == 1
    assert found == whole[1]


def test_workers_transform_and_predict_partitions(client, folder, whole):
    X, _ = whole
    parts = rx.scan_parquet(folder)
    vectorizer = rx.PatternVectorizer(BIAS, max_length=1).fit(X)
    matrix = scale.transform(vectorizer, parts, client)
    assert (matrix != vectorizer.transform(X)).nnz == 0
    model = rx.LynxClassifier(BIAS, max_length=1, max_iter=2, n_features=2, random_state=0)
    model.fit(X, X.labels)
    assert np.array_equal(scale.predict(model, parts, client), model.predict(X))


class KillingAll:
    """A client that kills all workers when they have got the model."""

    def __init__(self, client, cluster):
        self.client, self.cluster, self.killed = client, cluster, 0

    def gather(self, futures):
        self.killed += kill(self.cluster, 2)
        return self.client.gather(futures)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_workers_that_die_take_no_model_along(client, cluster, folder, whole):
    X, _ = whole
    vectorizer = rx.PatternVectorizer(BIAS, max_length=1).fit(X)
    killing = KillingAll(client, cluster)
    matrix = scale.transform(vectorizer, rx.scan_parquet(folder), killing)
    assert killing.killed
    assert (matrix != vectorizer.transform(X)).nnz == 0


def test_an_error_of_a_worker_is_told_as_it_is(client, tmp_path):
    X, _ = rx.from_lists([["a", "b"], ["b", "e1"]])
    X.to_parquet(tmp_path / "x", partitions=2)
    (tmp_path / "x" / "part-00001.parquet").unlink()
    with pytest.raises(rx.DataError, match="there is no such file, but the manifest lists it"):
        rx.mine(rx.scan_parquet(tmp_path / "x"), None, rx.Bias.infer(X), client=client)


def test_a_client_of_a_scheduler_without_workers_says_so():
    with (
        distributed.LocalCluster(processes=False, n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(rx.InputError) as error,
        scale.connected(empty.scheduler_address, timeout=0.5),
    ):
        pass
    address = empty.scheduler_address
    assert str(error.value) == (
        f"the scheduler at {address} has no workers\nhint: start some with dask worker {address}"
    )


@pytest.mark.filterwarnings("ignore")
def test_where_no_scheduler_is_the_message_says_so():
    with pytest.raises(rx.InputError) as error, scale.connected("tcp://127.0.0.1:9", timeout=0.5):
        pass
    assert str(error.value) == (
        "there is no scheduler at tcp://127.0.0.1:9\n"
        "hint: start one with dask scheduler, and give the address that it prints"
    )


class KilledWorker(Exception):
    """Named as the one of Dask."""


class Dying:
    def submit(self, function, *args, **options):
        return function

    def nthreads(self):
        return {}

    def gather(self, futures):
        raise KilledWorker


def test_workers_that_die_again_and_again_are_told_of():
    tasks = OnWorkers(Dying())
    assert tasks.at_once == 1
    with pytest.raises(rx.InputError) as error:
        tasks.values(tasks.each(print, [("a",)]))
    assert str(error.value) == (
        "the workers died again and again at one partition\n"
        "hint: their memory may be too small for it: write more, smaller partitions"
    )
