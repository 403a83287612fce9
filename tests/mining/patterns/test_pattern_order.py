"""The order of patterns and how they are written, against the slow way to say it."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from canonical_keys import canonical_key
from hypothesis import given
from hypothesis import strategies as st
from languages import make_language, shuffled
from tries import random_rows, trie_of

import relynx as rx
from relynx.logic.canonical import canonical
from relynx.logic.terms import numbered_variable
from relynx.mining.patterns import ordering as shapes
from relynx.mining.patterns.ordering import canonical_order, pattern_numbers
from relynx.mining.patterns.pattern_set import PatternSet


def path(trie, row):
    """The atoms of a row as its trie has them."""
    atoms = []
    while row >= 0:
        atoms[:0] = trie.atoms_of_step(row)
        row = int(trie.parent[row])
    return atoms


def key(atoms):
    length = sum(not re.match(r"(next|follow|followat)_", atom.predicate) for atom in atoms)
    return length, canonical_key(atoms)


def too_large(rows, parent, step, shape, variables, for_reading, may_begin, atoms, numbers, done):
    """What the compiled loop does where all patterns are too large for it."""
    for i, row in enumerate(rows.tolist()):
        places = []
        while row >= 0:
            places[:0] = [p for p in (2 * step[row], 2 * step[row] + 1) if shape[p] >= 0]
            row = parent[row]
        atoms[i, : len(places)], numbers[i, : len(places)] = shape[places], variables[places]


@given(random_rows())
def test_the_order_is_by_length_and_canonical_form(rows):
    trie = trie_of(rows)
    found = canonical_order(trie, np.arange(len(trie))).tolist()
    assert found == sorted(range(len(trie)), key=lambda row: key(path(trie, row)))


@given(random_rows(), st.booleans())
def test_compiled_loops_do_what_python_does(rows, has_key):
    trie = trie_of(rows)
    trie = replace(trie, key=trie.atoms_of_step(0) if has_key else ())
    every = np.arange(len(trie))
    order, texts = canonical_order(trie, every).tolist(), [*PatternSet(trie).texts()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "write", too_large)
        assert canonical_order(trie, every).tolist() == order
        assert [*PatternSet(trie).texts()] == texts


@pytest.mark.parametrize("n", [3, 7, 20])
def test_variables_that_look_alike_may_be_many(n):
    rows = [(-1, "p(A,B)", (9, 9))]
    letters = [numbered_variable(i).name for i in range(n + 1)]
    rows += [(i, f"p(A,{letters[i + 2]})", (9, 9)) for i in range(n - 1)]
    rows += [(n - 1, "q(A)", (9, 9)), (n - 1, f"q({letters[-1]})", (9, 9))]
    trie = trie_of(rows)
    found = canonical_order(trie, np.arange(len(trie))).tolist()
    assert found == sorted(range(len(trie)), key=lambda row: key(path(trie, row)))
    assert len({*pattern_numbers(trie, np.arange(len(trie))).tolist()}) == len(trie)


@given(random_rows())
def test_what_is_written_is_a_variant_of_the_path(rows):
    trie = trie_of(rows)
    for row, pattern in enumerate(PatternSet(trie).patterns()):
        assert canonical(pattern.atoms) == canonical(path(trie, row))
        assert pattern.variables == tuple(sorted(pattern.variables))


@pytest.mark.parametrize("seed", range(12))
def test_order_and_text_do_not_depend_on_the_order_of_the_data(seed):
    language = make_language(seed)
    settings = {**language.parameters, "max_length": 2}
    found = rx.mine(language.X, bias=language.bias, **settings)
    other = shuffled(language, Random(seed))
    again = rx.mine(other.X, bias=other.bias, **settings)
    assert [*found.texts()] == [*again.texts()]
    assert np.array_equal(found.supports, again.supports)


def test_a_key_comes_first_in_the_text_also_of_a_stored_set(tmp_path):
    X, y = rx.from_lists([["a", "b"], ["a", "c", "b"]] * 5, ["up", "down"] * 5)
    bias = rx.parse_bias(
        "type(a(event)). mode(a(+)). type(b(event)). mode(b(+)). dimension(next_s). key([b(_)])."
    )
    X = rx.Sequences.from_atoms(
        [[*sequence, rx.parse_atom("b(e1)")] for sequence in (one.atoms for one in X)]
    )
    found = rx.mine(X, y, bias, max_length=2)
    texts = [*found.texts()]
    assert "b(A), a(A)" in texts
    assert all(text.startswith("b(") for text in texts)
    rx.save(found, tmp_path / "found.relynx")
    assert [*rx.load(tmp_path / "found.relynx").texts()] == texts
