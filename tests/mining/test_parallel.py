"""Several threads give what one gives, end when they should, and do not multiply."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from languages import make_language

from relynx import (
    InputError,
    LynxClassifier,
    PatternVectorizer,
    Sequences,
    covers,
    load_protein_folds,
    mine,
    parse_bias,
    planted_rule,
)
from relynx.bias import Bias
from relynx.logic.terms import Atom
from relynx.mining import budget, workers
from relynx.mining.engines import choose as choosing
from relynx.mining.engines.bits import engine as bits
from relynx.mining.engines.general import engine as general
from relynx.mining.matching import lines, tries
from relynx.mining.matching.index import Index
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.workers import Stopped, in_order, n_threads

ENGINES = {"bits": bits.Bits, "general": general.General}
FOLDS = """
type(he(event,hand,class,length)). mode(he(+,#,#,#)).
type(st(event,sense,length)). mode(st(+,#,#)).
"""
LADDER = "type(ladder(event,event,sense)). mode(ladder(+,+,#)). dimension(next_s)."


@pytest.fixture
def tiny_batches(monkeypatch):
    """Every unit goes to a thread by itself, and siblings are refined one at a time."""
    monkeypatch.setattr(workers, "BATCH_SECONDS", 0.0)
    monkeypatch.setattr(bits, "EFFORT_A_UNIT", 1)
    monkeypatch.setattr(bits, "MOST_TOGETHER", 1)


@pytest.fixture
def only(monkeypatch):
    """Makes `mine` use one engine, which must take the language."""

    def use(name: str) -> None:
        def chosen(compiled, conditions, *, object_identity):
            fits = bits.fits(compiled, conditions, object_identity=object_identity)
            assert fits or name == "general"
            return ENGINES[name]

        monkeypatch.setattr(choosing, "choose", chosen)

    return use


def written(found: PatternSet) -> list[object]:
    """All of an answer, in bytes where it has arrays."""
    trie = found.trie
    arrays = (trie.parent, trie.steps, trie.supports, found.rows)
    told = (found.report, found.complete_up_to, found.partial)
    return [*((a.dtype, a.shape, a.tobytes()) for a in arrays), *told]


def words(n: int, *, length: int = 12, seed: int = 5, letters: str = "abcdef") -> Sequences:
    """Lines of p(E,letter)."""
    random = Random(seed)
    sequences = []
    for _ in range(n):
        word = random.choices(letters, k=length)
        atoms = [Atom("p", (f"e{i}", letter)) for i, letter in enumerate(word)]
        atoms += [Atom("next_s", (f"e{i - 1}", f"e{i}")) for i in range(1, length)]
        sequences.append(atoms)
    return Sequences.from_atoms(sequences)


LETTERS = Bias(types={"p": ("event", "t")}, modes={"p": (("+", "*"),)}, dimensions=("s",))


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("relynx")]


# The same answer


@pytest.mark.parametrize(
    ("seed", "engine"),
    [
        *((seed, "bits") for seed in (4, 8, 9, 12, 16, 17, 20, 21)),
        *((seed, "general") for seed in (0, 3, 4, 9, 17, 21)),
    ],
)
def test_two_and_three_threads_write_what_one_writes(seed, engine, only, tiny_batches):
    only(engine)
    language = make_language(seed)
    settings = {**language.parameters, "max_length": 2}
    one, two, three = (
        written(mine(language.X, bias=language.bias, n_jobs=n, **settings)) for n in (1, 2, 3)
    )
    assert one == two == three


@pytest.mark.parametrize(
    ("engine", "bias"),
    [
        ("bits", f"{FOLDS} dimension(next_s)."),
        ("bits", f"{FOLDS} dimension(next_s). dimension(next_h)."),
        ("general", f"{FOLDS} {LADDER}"),
    ],
)
def test_on_the_folds_two_threads_write_what_one_writes(engine, bias, only):
    only(engine)
    folds = load_protein_folds()
    X, y = folds.X[::8], folds.y[::8]
    settings = {"min_support": 0.5, "max_length": 2 if engine == "general" else 3}
    one, two = (mine(X, y, parse_bias(bias), n_jobs=n, **settings) for n in (None, 2))
    assert len(one) > 100
    assert written(one) == written(two)


@pytest.mark.parametrize("engine", ENGINES)
def test_constraints_of_the_bias_forbid_the_same_in_every_thread(engine, only, tiny_batches):
    only(engine)
    bias = parse_bias(
        "type(p(event,t)). mode(p(+,*)). dimension(next_s). key([p(_,a)]). key([p(_,b)]). "
        "negconstraint([p(X,c), next_s(X,Y), p(Y,c)]). negconstraint([p(_,d)])."
    )
    one, three = (mine(words(20), bias=bias, min_support=0.4, n_jobs=n) for n in (1, 3))
    assert sum(level.forbidden for level in one.report.levels) > 0
    assert written(one) == written(three)


@pytest.mark.parametrize("engine", ENGINES)
def test_facts_that_share_an_event_are_found_once_by_all_threads(engine, only, tiny_batches):
    only(engine)
    facts = [
        [Atom(name, (f"e{i}", f"{name}{(i * k) % 3}")) for i in range(5) for name in "pq"]
        + [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(4)]
        for k in (1, 2, 4)
    ]
    bias = Bias(
        types={"p": ("event", "t"), "q": ("event", "u")},
        modes={"p": (("+", "*"),), "q": (("+", "*"),)},
        dimensions=("s",),
    )
    X = Sequences.from_atoms(facts)
    one, two = (mine(X, bias=bias, max_length=3, n_jobs=n) for n in (1, 2))
    assert any(level.repeated for level in one.report.levels)
    assert written(one) == written(two)


def test_filters_of_the_answer_work_with_threads():
    X, y = planted_rule(60, random_state=0)
    settings = {"min_confidence": 0.8, "closed": True, "top_k": 20, "max_length": 2}
    one, two = (mine(X, y, n_jobs=n, **settings) for n in (1, 2))
    assert one == two
    assert one.report == two.report


# How threads end


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_time_limit_is_kept_and_what_was_found_is_right(engine, n, only):
    only(engine)
    X, bias = words(60, length=25, letters="abcdefgh"), replace(LETTERS, max_gap=6)
    mine(X, bias=bias, max_length=1, min_support=0.9)  # kernels are loaded outside the limit
    begun = time.process_time()
    found = mine(X, bias=bias, max_length=12, min_support=0.01, time_limit=0.1, n_jobs=n)
    assert time.process_time() - begun < 5
    assert found.partial is not None
    assert found.partial.startswith("stopped by time_limit=0.1 at length ")
    assert 0 <= found.complete_up_to < 12
    some = found[:: max(len(found) // 50, 1)]
    assert covers([*some.patterns()], X).sum(axis=0).tolist() == some.frequencies.tolist()
    assert not ours()


def test_a_search_by_threads_ends_where_its_caller_wants_no_more(monkeypatch):
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(budget, "PROGRESS_EVERY", 0.0)
    X, bias = words(40, length=20), replace(LETTERS, max_length=12, min_support=0.01)
    found = mine(X, bias=bias, progress=lambda told: told.patterns < 500, n_jobs=3)
    assert found.partial is not None
    assert found.partial.startswith("stopped by the caller at length ")
    whole = mine(X, bias=bias, max_length=found.complete_up_to)
    assert len(found) > len(whole) > 0
    assert sorted(found[: len(whole)].texts()) == sorted(whole.texts())
    assert not ours()


def test_an_error_in_a_thread_is_raised_as_it_is(monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("this is broken")

    monkeypatch.setattr(bits.ck, "refine", broken)
    bias = parse_bias(f"{FOLDS} dimension(next_s). dimension(next_h).")
    folds = load_protein_folds()
    with pytest.raises(ZeroDivisionError, match="this is broken"):
        mine(folds.X[::20], folds.y[::20], bias, n_jobs=2)
    assert not ours()


@pytest.mark.parametrize("n", [1, 3])
def test_an_interrupt_ends_the_threads(n):
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    X, bias = words(40, length=20), replace(LETTERS, max_length=12, min_support=0.01)
    with pytest.raises(KeyboardInterrupt):
        mine(X, bias=bias, progress=interrupt, n_jobs=n)
    assert not ours()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_ends_long_work_of_other_threads(monkeypatch, error):
    at_work = threading.Event()
    pulses = [0]

    def for_long(search: general.General, *_: object) -> tuple:
        at_work.set()
        for _ in range(1_000):  # half a minute
            pulses[0] += 1
            time.sleep(0.03)
            search._pulse()
        return ()

    def broken(*_: object) -> None:
        if at_work.is_set():
            raise error

    monkeypatch.setattr(choosing, "choose", lambda *_, **__: general.General)
    monkeypatch.setattr(general.General, "_count", for_long)
    monkeypatch.setattr(budget.Budget, "goes_on", lambda *_: broken() is None)
    with pytest.raises(error):
        mine(words(40, length=20), bias=LETTERS, n_jobs=2)
    assert pulses[0] < 900
    assert not ours()


def test_patterns_are_matched_while_another_thread_reads_its_own(monkeypatch):
    random, rows = Random(0), []
    for _ in range(30):
        atoms = [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(5)]
        for name, letters in (("p", "abcdef"), ("q", "cdefgh")):
            atoms += [Atom(name, (f"e{i}", random.choice(letters))) for i in range(6)]
        rows.append(atoms)
    one, other = "p(A,X), next_s(A,B), q(B,X)", "p(A,X), next_s(A,B), p(B,X)"
    wanted = [covers(text, Sequences.from_atoms(rows)).tolist() for text in (one, other)]
    X, between = Sequences.from_atoms(rows), []

    def slowly(values: frozenset[int], **how: object) -> list[int]:
        if not between:
            between.append([])
            between[0] = covers(other, X).tolist()
        return sorted(values, **how)

    monkeypatch.setattr(lines, "sorted", slowly, raising=False)
    assert [covers(one, X).tolist(), between[0]] == wanted


def test_what_another_thread_dropped_from_an_index_is_made_again():
    class Forgetful(dict):
        def __setitem__(self, key: object, value: object) -> None:
            """Another thread was faster."""

    X = words(5, length=6)
    index = Index.of(X.facts())
    kept = index.facts.cache["data"] = Forgetful(dict.fromkeys(range(6)))
    assert index.data((("p", 2),), ()).n_nodes == index.n_nodes
    assert len(kept) == 3


# Threads in general


@pytest.mark.parametrize("n", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n):
    def slowly(i: int) -> int:
        time.sleep(0.002 * (i % 3))
        return i * i

    assert list(in_order(slowly, range(40), n=n)) == [i * i for i in range(40)]


def test_only_a_few_results_wait_to_be_looked_at(tiny_batches):
    done: list[int] = []
    results = in_order(done.append, range(500), n=2)
    next(results)
    time.sleep(0.05)
    assert len(done) <= 2 * workers.AHEAD + 1
    results.close()
    assert not ours()


def test_threads_end_after_the_task_that_they_are_at(monkeypatch):
    monkeypatch.setattr(workers, "BATCH_SECONDS", 1e6)
    done: list[int] = []

    def slowly(i: int) -> None:
        time.sleep(0.01)
        done.append(i)

    results = in_order(slowly, range(10_000), n=2)
    for _ in range(50):
        next(results)
    results.close()
    assert len(done) < 200
    assert not ours()


def test_whoever_waits_for_a_result_is_asked_whether_to_go_on():
    asked = []
    release = threading.Event()

    def ask() -> None:
        asked.append(1)
        if len(asked) > 3:
            release.set()
            raise Stopped

    with pytest.raises(Stopped):
        list(in_order(lambda _: release.wait(20), range(2), n=2, ask=ask))
    assert not ours()


# How many threads


def test_the_number_of_threads_is_counted_as_in_joblib(monkeypatch):
    monkeypatch.setattr(workers, "cpu_count", lambda: 8)
    assert [n_threads(n) for n in (None, 1, 5, -1, -3, -20)] == [1, 1, 5, 8, 6, 1]
    with parallel_config(n_jobs=3):
        assert n_threads(None) == 3
        assert n_threads(2) == 2


@pytest.mark.parametrize("value", [0, 1.5, "two", True])
def test_another_number_of_threads_is_refused(value):
    message = f"n_jobs is {value!r}: give a number of threads, -1 for all cores, or None for one"
    for call in (
        lambda: mine(words(2), bias=LETTERS, n_jobs=value),
        lambda: covers("p(A,a)", words(2), n_jobs=value),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value) == message


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_threads_do_not_multiply_inside_workers_of_joblib(backend):
    inside = Parallel(n_jobs=2, backend=backend)(delayed(n_threads)(4) for _ in range(4))
    assert inside == [1, 1, 1, 1]


def test_one_worker_of_joblib_leaves_the_threads_to_the_search():
    assert Parallel(n_jobs=1)(delayed(n_threads)(4) for _ in range(2)) == [4, 4]


def test_searches_inside_threads_of_joblib_start_no_threads(monkeypatch):
    def no_pool(*_: object, **__: object) -> None:
        raise AssertionError("threads of threads")

    monkeypatch.setattr(workers, "ThreadPoolExecutor", no_pool)
    X, bias = words(10), replace(LETTERS, max_length=2)
    jobs = (delayed(mine)(X, bias=bias, n_jobs=2) for _ in range(3))
    alone = mine(X, bias=bias)
    for found in Parallel(n_jobs=2, prefer="threads")(jobs):
        assert written(found) == written(alone)


# Columns of patterns


@pytest.fixture
def small_parts(monkeypatch, tiny_batches):
    """Even a few sequences are shared out."""
    monkeypatch.setattr(tries, "LEAST_SHARED", 1)
    monkeypatch.setattr(lines, "LEAST_SHARED", 1)


@pytest.mark.parametrize(
    "dimensions", ["dimension(next_s).", "dimension(next_s). dimension(next_h)."]
)
def test_what_patterns_cover_does_not_depend_on_the_threads(dimensions, small_parts):
    folds = load_protein_folds()
    X, new = folds.X[::12], folds.X[5::30]
    found = mine(X, folds.y[::12], parse_bias(FOLDS + dimensions), min_support=0.3)
    one, three = (found.coverage(new, n_jobs=n) for n in (None, 3))
    assert one.any()
    assert (one == three).all()
    packed = found.coverage(new, packed=True, n_jobs=2)
    assert (np.unpackbits(packed, axis=0, count=len(new)).astype(bool) == one).all()


@pytest.mark.parametrize("object_identity", [True, False])
def test_covers_does_not_depend_on_the_threads(object_identity, small_parts):
    X = words(50)
    asked = ["p(A,a), follow_s(A,B), p(B,b)", "p(A,X), next_s(A,B), p(B,X)", "p(A,zz)"]
    one, three = (covers(asked, X, object_identity, n_jobs=n) for n in (None, 3))
    assert one[:, 0].any()
    assert (one == three).all()


def test_a_vectorizer_gives_the_same_matrix_with_threads(small_parts):
    X, y = planted_rule(60, random_state=0)
    one, two = (
        PatternVectorizer(max_length=2, min_support=0.3, n_jobs=n).fit(X, y) for n in (None, 2)
    )
    assert written(one.patterns_) == written(two.patterns_)
    first, second = one.transform(X), two.transform(X)
    for name in ("data", "indices", "indptr"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


@pytest.mark.parametrize("multiclass", ["round_robin", "single"])
def test_a_classifier_predicts_the_same_with_threads(multiclass, small_parts):
    folds = load_protein_folds()
    X, y = folds.X[::12], folds.y[::12]
    one, two = (
        LynxClassifier(
            parse_bias(f"{FOLDS} dimension(next_s)."),
            max_length=2,
            max_iter=3,
            n_features=4,
            multiclass=multiclass,
            n_jobs=n,
            random_state=0,
        ).fit(X, y)
        for n in (None, 2)
    )
    assert one.selected_ == two.selected_
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert not ours()
