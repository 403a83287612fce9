"""Columns whose values name things: integers by the name of the column, rare texts that recur."""

import numpy as np
import pytest

from relynx import from_events
from relynx.data.tables.plans import RECUR


def table(**columns):
    n = len(next(iter(columns.values())))
    rows = {"case": [i // 4 for i in range(n)], "step": ["a", "b"] * (n // 2)}
    return rows | columns


def values(X, predicate):
    return {atom.args[1] for one in X for atom in one.atoms if atom.predicate == predicate}


NUMBERS = [1000 + i % 37 for i in range(200)]


@pytest.mark.parametrize(
    "name", ["product_id", "ProductID", "productId", "id", "Id Product", "Part No.", "order-nr"]
)
def test_integers_of_a_column_called_like_an_identifier_are_not_cut(name):
    X, _ = from_events(table(**{name: NUMBERS}), sequence="case")
    [group] = [one for one in X.reading.fluents if one.columns[0].name == name]
    assert values(X, group.predicate) == {*NUMBERS}
    [note] = X.reading.notes
    assert note == (
        f"column {name!r} names things by numbers, which are not cut into ranges; "
        f"bins={{{name!r}: 4}} cuts them"
    )


@pytest.mark.parametrize("name", ["amount", "number_of_items", "idle", "grid", "temp"])
def test_other_integers_are_cut(name):
    X, _ = from_events(table(**{name: NUMBERS}), sequence="case")
    assert values(X, name) == {"<1008", "1008..1017", "1017..1027", ">=1027"}
    assert X.reading.notes == ()


@pytest.mark.parametrize("bins", [3, {"product_id": 4}, {"product_id": [1010]}, "supervised"])
def test_what_bins_say_goes_before_the_name(bins):
    X, _ = from_events(table(product_id=NUMBERS), sequence="case", bins=bins)
    [group] = [one for one in X.reading.fluents if one.predicate == "product_id"]
    assert group.columns[0].cuts is not None or group.columns[0].supervised
    assert X.reading.notes == ()


def test_bins_of_another_column_say_nothing():
    given = table(product_id=NUMBERS, amount=NUMBERS)
    X, _ = from_events(given, sequence="case", bins={"amount": 2})
    assert values(X, "product_id") == {*NUMBERS}


def test_numbers_with_fractions_are_cut_whatever_the_name():
    X, _ = from_events(table(code=[n + 0.5 for n in NUMBERS]), sequence="case")
    assert len(values(X, "code")) == 4


@pytest.mark.parametrize("n_with_twice", [0, 1, 2, 3, 50])
def test_rare_texts_are_kept_if_they_recur_inside_sequences(n_with_twice):
    rng = np.random.default_rng(0)
    texts = [f"r{i}" for i in rng.permutation(200)]
    for i in rng.permutation(50)[:n_with_twice]:
        texts[4 * i + 3] = texts[4 * i]
    X, _ = from_events(table(ref=texts), sequence="case")
    is_kept = any(group.predicate == "ref" for group in X.reading.fluents)
    assert is_kept == (n_with_twice >= RECUR * 50)
    assert is_kept == (X.reading.notes == ())


def test_texts_that_recur_in_other_sequences_only_are_left_out():
    texts = [f"r{i}" for i in range(120)] + [f"r{i}" for i in range(80)]
    X, _ = from_events(table(ref=texts), sequence="case")
    assert X.reading.notes == ("column 'ref' is left out: it has 120 different texts in 200 rows",)
