"""Where constraints of a bias are checked pattern by pattern, a search can be ended in between."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from relynx import Sequences
from relynx.bias import parse_bias
from relynx.logic.terms import Atom
from relynx.mining import budget, search
from relynx.mining.engines.base import CHECKS_AT_ONCE, Engine
from relynx.mining.engines.chains import Chains
from relynx.mining.engines.general import Growth
from relynx.mining.engines.webs import Webs
from relynx.mining.search import mine

BIAS = parse_bias(
    "type(q(event,t)). mode(q(+,#)). dimension(next_s). "
    "negconstraint([q(A,a), next_s(A,B), q(B,b)])."
)


@pytest.fixture(scope="module")
def X() -> Sequences:
    """Lines of twelve letters: a pattern of two atoms has a few hundred siblings."""
    random, events = Random(0), [f"e{i}" for i in range(60)]
    links = [Atom("next_s", pair) for pair in itertools.pairwise(events)]
    return Sequences.from_atoms(
        [
            [*links, *(Atom("q", (event, random.choice("abcdefghijkl"))) for event in events)]
            for _ in range(6)
        ]
    )


@pytest.fixture(params=[Chains, Webs, Growth], ids=lambda engine: engine.__name__)
def events(request, monkeypatch) -> list[str]:
    """What an engine does: it checks a pattern, or asks whether to go on."""
    engine: type[Engine] = request.param
    monkeypatch.setattr(search, "choose", lambda *_, **__: engine)
    noted: list[str] = []
    for name, event in (("_is_forbidden", "check"), ("_pulse", "ask")):
        old = getattr(engine, name)
        monkeypatch.setattr(
            engine,
            name,
            lambda *args, old=old, event=event, **how: (noted.append(event), old(*args, **how))[1],
        )
    return noted


def test_the_search_asks_after_so_many_checks_of_constraints(X, events):
    found = mine(X, bias=BIAS, max_length=2)
    assert any(level.forbidden for level in found.report.levels)
    runs = [len([*run]) for event, run in itertools.groupby(events) if event == "check"]
    assert CHECKS_AT_ONCE // 2 < max(runs) <= CHECKS_AT_ONCE
    assert sum(run > CHECKS_AT_ONCE // 2 for run in runs) > 2


def test_a_search_can_end_between_checks_of_constraints(X, events, monkeypatch):
    first = mine(X, bias=BIAS, max_length=1)
    n_first = events.count("check")
    events.clear()
    mine(X, bias=BIAS, max_length=2)
    assert events.count("check") > n_first + 2 * CHECKS_AT_ONCE
    events.clear()

    def goes_on(watch: budget.Budget, *_: int) -> bool:
        enough = events.count("check") > n_first
        watch.reason = "checked often enough" if enough else None
        return not enough

    monkeypatch.setattr(budget.Budget, "goes_on", goes_on)
    found = mine(X, bias=BIAS, max_length=2)
    assert n_first < events.count("check") <= n_first + CHECKS_AT_ONCE
    assert found.partial == "checked often enough"
    assert found.complete_up_to < 2
    assert [*found.texts()] == [*first.texts()]
