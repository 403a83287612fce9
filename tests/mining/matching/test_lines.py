"""Paths along lines of any length cover by words of bits what backtracking says."""

from __future__ import annotations

import numpy as np
import pytest

from relynx import covers, from_lists
from relynx.mining.matching.index import Index
from relynx.mining.matching.lines import LineMatcher
from relynx.mining.matching.match import _search
from relynx.mining.patterns.pattern import as_pattern

LENGTHS = (1, 5, 63, 64, 65, 128, 129, 200, 300)
STEPS = (0, 1, 2, 3, 40, 63, 64, 65, 70, 127, 128, 130)


def drawn_lists(rng: np.random.Generator) -> list[list[tuple[str, ...]]]:
    n_words = int(rng.integers(3, 20))
    return [
        [
            ("is", f"w{i}") if rng.random() < 0.7 else ("to", f"w{i}", f"v{rng.integers(3)}")
            for i in rng.integers(0, n_words, rng.choice(LENGTHS))
        ]
        for _ in range(12)
    ]


def drawn_pattern(rng: np.random.Generator) -> str:
    atoms = []
    for event in range(rng.integers(1, 5)):
        if event:
            n, ends = rng.choice(STEPS), f"E{event - 1},E{event}"
            name = {0: "follow_s(", 1: "next_s("}.get(n, f"followat_s({n},")
            atoms.append(f"{name}{ends})")
        word, kind = rng.choice(["w0", "w1", "w2", "P", "Q", "_"]), rng.choice(["v0", "R", "_"])
        atoms.append(
            f"to(E{event},{word},{kind})" if rng.random() < 0.2 else f"is(E{event},{word})"
        )
    return ", ".join(atoms)


@pytest.mark.parametrize("object_identity", [True, False])
def test_lines_of_any_length_are_matched_as_by_backtracking(object_identity):
    rng, n_covered = np.random.default_rng(0), 0
    for _ in range(20):
        X, _ = from_lists(drawn_lists(rng))
        patterns = [drawn_pattern(rng) for _ in range(40)]
        index = Index.of(X.facts(object_identity))
        atoms = [as_pattern(pattern).atoms for pattern in patterns]
        slow = _search(atoms, np.arange(len(X)), index, object_identity)
        fast = covers(patterns, X, object_identity).T
        differing = [
            p for p, one, other in zip(patterns, fast, slow, strict=True) if (one != other).any()
        ]
        assert not differing
        n_covered += fast.sum()
    assert 1_000 < n_covered < 8_000


def test_pieces_of_few_words_cover_the_same(monkeypatch):
    X, _ = from_lists(drawn_lists(np.random.default_rng(1)))
    patterns = ["is(X,w0), followat_s(70,X,Y), is(Y,Z)", "is(X,W), follow_s(X,Y), is(Y,W)"]
    whole = covers(patterns, X)
    (lines,) = LineMatcher.each(X.facts(True))
    assert len(lines._pieces(3)) > 5
    pieces = LineMatcher._pieces
    monkeypatch.setattr(LineMatcher, "_pieces", lambda self, _: pieces(self, 3))
    assert np.array_equal(covers(patterns, X), whole)
