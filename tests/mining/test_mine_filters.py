"""The filters and budgets of `mine` against plain enumeration, on random small languages.

RELYNX_LANGUAGES says on how many, 20 unless set.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from canonical_keys import canonical_key
from enumerate_patterns import Found, Variants, without_open
from languages import Language, solved_language

from relynx.mining import budget
from relynx.mining.patterns.pattern_set import Entry, PatternSet
from relynx.mining.report import SearchLevel
from relynx.mining.search import mine

SEEDS = range(0, int(os.environ.get("RELYNX_LANGUAGES", "20")), 2)


@cache
def unfiltered(seed: int) -> tuple[Language, list[Found]]:
    """A language whose call asks for no filter, and all its patterns."""
    language, _ = solved_language(seed)
    conditions = replace(language.conditions, min_confidence=None, max_support=None, closed=False)
    language = replace(language, conditions=conditions)
    return language, language.enumerate()


def mined(language: Language, **settings: object) -> PatternSet:
    return mine(language.X, bias=language.bias, **{**language.parameters, **settings})


def same(answer: PatternSet, expected: list[Found]) -> bool:
    """Whether both have the same patterns up to renaming, none twice, with the same supports."""
    wanted, seen = Variants(), Variants()
    for found in expected:
        wanted.add(found.atoms, found.support)
    for entry in answer:
        known = wanted.get(entry.pattern.atoms)
        if known is None or known[1] != entry.support or not seen.add(entry.pattern.atoms):
            return False
    return len(answer) == len(expected)


def length(found: Found, language: Language) -> int:
    """How many atoms are no links."""
    links = {
        f"{operator}_{name}"
        for name in language.bias.dimensions
        for operator in ("next", "follow", "followat")
    }
    return sum(atom.predicate not in links for atom in found.atoms)


def value(measure: str, entry: Entry, sizes: Counter[object]) -> float:
    """A measure, the largest of any class."""
    n, covered = sum(sizes.values()), entry.frequency
    if measure == "frequency":
        return covered
    if measure == "support":
        return max(entry.support[c] / sizes[c] for c in sizes)
    if measure == "confidence":
        return max(entry.support[c] / covered for c in sizes)
    return max(covered / n * (entry.support[c] / covered - sizes[c] / n) for c in sizes)


def draw(seed: int) -> Random:
    return Random(f"filters {seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_max_support_leaves_what_covers_no_more_of_the_classes(seed):
    language, expected = unfiltered(seed)
    random, sizes = draw(seed), Counter(language.classes)
    most = {c: random.choice((0.0, 0.3, 0.5, 0.75)) for c in sizes if random.random() < 0.7}
    left = [f for f in expected if all(f.support[c] / sizes[c] <= m for c, m in most.items())]
    assert same(mined(language, max_support=most), left), str(language)


@pytest.mark.parametrize("seed", SEEDS)
def test_closed_leaves_what_no_more_specific_pattern_equals(seed):
    language, expected = unfiltered(seed)
    left = without_open(expected, language.conditions.object_identity)
    assert same(mined(language, closed=True), left), str(language)


@pytest.mark.parametrize("seed", SEEDS)
def test_top_k_leaves_the_best(seed):
    language, _ = unfiltered(seed)
    random, sizes = draw(seed), Counter(language.classes)
    measure = random.choice(("confidence", "support", "wracc", "frequency"))
    everything = list(mined(language))
    k = random.randint(0, len(everything) + 2)

    def rank(entry: Entry) -> tuple[object, ...]:
        best = -round(value(measure, entry, sizes), 12)
        return best, -entry.frequency, entry.length, canonical_key(entry.pattern.atoms)

    best = sorted(everything, key=rank)[:k]
    answer = list(mined(language, top_k=k, measure=measure))
    assert sorted(map(rank, answer)) == list(map(rank, best)), str(language)
    assert [rank(entry)[:3] for entry in answer] == [rank(entry)[:3] for entry in best]


@pytest.mark.parametrize("seed", SEEDS)
def test_min_cover_takes_the_best_until_every_sequence_is_covered_so_often(seed):
    language, expected = unfiltered(seed)
    covered, sizes = Variants(), Counter(language.classes)
    for found in expected:
        covered.add(found.atoms, found.covered)
    times = draw(seed).randint(1, 3)
    ordered = sorted(
        mined(language),
        key=lambda e: (-round(value("confidence", e, sizes), 12), -e.frequency, e.length),
    )
    count: Counter[int] = Counter()
    kept = []
    for entry in ordered:
        sequences = covered.get(entry.pattern.atoms)[1]
        if any(count[i] < times for i in sequences):
            kept.append(str(entry))
            count.update(sequences)
    assert list(map(str, mined(language, min_cover=times))) == kept, str(language)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_memory_limit_leaves_all_patterns_up_to_the_length_it_claims(seed, monkeypatch):
    language, expected = unfiltered(seed)
    looks = iter(range(10**9))
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(budget, "PROGRESS_EVERY", 0.0)
    monkeypatch.setattr(budget, "resident", lambda: next(looks))
    answer = mined(language, memory_limit=draw(seed).randint(0, 40))
    up_to = answer.complete_up_to
    assert (answer.partial is None) == (up_to == language.conditions.max_length)
    few = [found for found in expected if length(found, language) <= up_to]
    assert same(answer.filter(max_length=up_to), few), str(language)
    supports = Variants()
    for found in expected:
        supports.add(found.atoms, found.support)
    for entry in answer:
        assert supports.get(entry.pattern.atoms)[1] == entry.support


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_support_that_is_told_keeps_more(seed):
    language, _ = unfiltered(seed)
    # A constraint might drop the nearest one.
    free = dict.fromkeys(("negconstraints", "atmostone", "sametype", "key", "allowed"), ())
    language = replace(language, bias=replace(language.bias, **free))

    def levels(min_support: float) -> tuple[SearchLevel, ...]:
        return mined(language, min_support=min_support, max_length=2).report.levels

    for level in levels(0.7):
        if level.nearest_support is not None:
            kept = {le.length: le.kept for le in levels(level.nearest_support - 1e-6)}
            assert kept[level.length] > level.kept, f"{language}\n{level}"


def test_progress_that_returns_false_ends_the_search(monkeypatch):
    language, expected = unfiltered(0)
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(budget, "PROGRESS_EVERY", 0.0)
    answer = mined(language, progress=lambda _: False)
    assert answer.partial in {f"stopped by the caller at length {n}" for n in (1, 2)}
    few = [found for found in expected if length(found, language) <= answer.complete_up_to]
    assert same(answer.filter(max_length=answer.complete_up_to), few)


def test_progress_that_returns_nothing_does_not(monkeypatch):
    language, expected = unfiltered(0)
    monkeypatch.setattr(budget, "MEASURE_EVERY", 0.0)
    monkeypatch.setattr(budget, "PROGRESS_EVERY", 0.0)
    told = []
    answer = mined(language, progress=told.append)
    assert told
    assert answer.partial is None
    assert same(answer, expected)
