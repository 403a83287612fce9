"""The engines of `mine` agree with each other, and with themselves in another process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from enumerate_patterns import Variants
from languages import make_language
from paths import TESTS

from relynx.bias import parse_bias
from relynx.data.sequences import Sequences
from relynx.logic.canonical import canonical_key
from relynx.logic.terms import Atom
from relynx.mining import search
from relynx.mining.engines import chains, webs
from relynx.mining.engines.general import Growth
from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.search import mine

SEEDS = range(0, 2 * int(os.environ.get("RELYNX_LANGUAGES", "40")), 4)  # the flat ones

ORDER = """
import hashlib
from languages import make_language
from relynx.mining.search import mine

told = hashlib.sha256()
for seed in range(0, 40, 4):
    language = make_language(seed)
    settings = {**language.parameters, "max_length": 2}
    found = mine(language.X, bias=language.bias, **settings)
    told.update(repr([(str(entry), entry.support) for entry in found]).encode())
    told.update(f"{found.explain_search()} {found.top_k(5)} {found.closed()}".encode())
print(told.hexdigest())
"""


def by_each_engine(monkeypatch, *args: object, **settings: object) -> dict[str, PatternSet]:
    """The answers of all engines that take a language."""
    taken = []

    def engines(compiled, conditions, *, object_identity):
        flag = {"object_identity": object_identity}
        taken[:] = [Growth]
        taken.extend([chains.Chains] if chains.fits(compiled, conditions, **flag) else [])
        taken.extend([webs.Webs] if webs.fits(compiled, conditions, **flag) else [])
        return taken[min(len(answers), len(taken) - 1)]

    answers: dict[str, PatternSet] = {}
    monkeypatch.setattr(search, "choose", engines)
    while not answers or len(answers) < len(taken):
        found = mine(*args, **settings)
        answers[taken[len(answers)].__name__] = found
    return answers


def differs(one: PatternSet, other: PatternSet) -> str:
    known = Variants()
    for entry in one:
        known.add(entry.pattern.atoms, entry.support)
    for entry in other:
        match = known.get(entry.pattern.atoms)
        if match is None or match[1] != entry.support:
            return f"{entry} {entry.support}: {match}"
    return "" if len(one) == len(other) else f"{len(one)} and {len(other)} patterns"


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_that_take_a_language_give_the_same_answer(seed, monkeypatch):
    language = make_language(seed)
    settings = {**language.parameters, "max_length": 2}
    answers = by_each_engine(monkeypatch, language.X, bias=language.bias, **settings)
    keys = [(one.length, canonical_key(one.pattern.atoms)) for one in answers["Growth"]]
    assert keys == sorted(keys)
    for name, found in answers.items():
        wrong = differs(answers["Growth"], found)
        assert not wrong, f"{language}\n{name}: {wrong}"
        assert found == answers["Growth"], f"{language}\n{name}: another order or text"


def lines(n_events: int, letters: str = "abc") -> Sequences:
    """Two lines; the second differs from the first in one letter."""
    atoms = [Atom("p", (f"e{i}", letters[i % len(letters)])) for i in range(n_events)]
    links = [Atom("next_s", (f"e{i}", f"e{i + 1}")) for i in range(n_events - 1)]
    other = [*atoms[:-1], Atom("p", (f"e{n_events - 1}", "z"))]
    return Sequences.from_atoms([[*atoms, *links], [*other, *links]])


@pytest.mark.parametrize("n_events", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("max_gap", [2, 70])
def test_the_length_of_a_line_makes_no_difference(n_events, max_gap, monkeypatch):
    bias = parse_bias("type(p(event,t)). mode(p(+,#)). dimension(next_s).")
    X = lines(n_events)
    settings = {"max_length": 2, "max_gap": max_gap}
    answers = by_each_engine(monkeypatch, X, bias=bias, **settings)
    for name, found in answers.items():
        assert not differs(answers["Growth"], found), name
        assert found.coverage(X).sum(axis=0).tolist() == found.frequencies.tolist()


def test_the_answer_does_not_depend_on_the_process():
    tests = str(TESTS)
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    told = [
        subprocess.run(
            [sys.executable, "-c", ORDER],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] != ""
