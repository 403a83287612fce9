"""Cuts of numbers by class: where they are, what they may be learnt from, and where they go."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, cross_val_score, cross_validate

import relynx as rx
from relynx.data.class_cuts import MOST_CUTS, class_cuts, cut_by_class, cut_like
from relynx.data.discretise import bin_names, bin_words, binned
from relynx.data.schema import Column

ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=2, max_size=60)


def counts_of(rows):
    numbers = sorted({number for number, _ in rows})
    counts = np.zeros((len(numbers), 3), np.int64)
    for number, label in rows:
        counts[numbers.index(number), label] += 1
    return np.array(numbers), counts


def slow_entropy(labels):
    n = len(labels)
    return -sum(k / n * math.log2(k / n) for k in Counter(labels).values())


def slow_split(rows):
    """The best cut of some rows, and its gain, as the paper writes them; None if it is refused."""
    numbers = sorted({number for number, _ in rows})
    labels = [label for _, label in rows]
    n, k, whole = len(rows), len(set(labels)), slow_entropy(labels)
    best = None
    for cut in numbers[1:]:
        sides = [[b for a, b in rows if (a < cut) == below] for below in (True, False)]
        inside = sum(len(side) / n * slow_entropy(side) for side in sides)
        if best is None or inside < best[0] - 1e-12:
            best = inside, cut, sides
    if best is None:
        return None
    inside, cut, sides = best
    gain = whole - inside
    change = math.log2(3**k - 2) - k * whole
    change += sum(len(set(side)) * slow_entropy(side) for side in sides)
    accepted = gain > (math.log2(n - 1) + change) / n
    return (cut, n * gain) if accepted else None


def slow_cuts(rows):
    """All cuts, the one of the largest gain first, as the values that they stand before."""
    parts, found = [rows], []
    while len(found) < MOST_CUTS:
        splits = [(slow_split(part), part) for part in parts]
        splits = [(split, part) for split, part in splits if split is not None]
        if not splits:
            break
        (cut, _), part = max(splits, key=lambda one: round(one[0][1], 9))
        parts.remove(part)
        parts += [[row for row in part if row[0] < cut], [row for row in part if row[0] >= cut]]
        found.append(cut)
    return sorted(found)


@given(ROWS)
def test_cuts_are_those_of_the_slow_twin(rows):
    numbers, counts = counts_of(rows)
    wanted = slow_cuts(rows)
    before = [numbers[list(numbers).index(cut) - 1] for cut in wanted]
    found = class_cuts(numbers, counts)
    assert len(found) == len(wanted)
    assert all(low < cut <= high for low, cut, high in zip(before, found, wanted, strict=True))


@given(ROWS)
def test_cuts_rise_and_leave_no_range_empty(rows):
    numbers, counts = counts_of(rows)
    cuts = class_cuts(numbers, counts)
    assert len(cuts) <= MOST_CUTS
    assert all(a < b for a, b in pairwise(cuts))
    assert set(binned(numbers, cuts).tolist()) == set(range(len(cuts) + 1))


@given(ROWS)
def test_a_class_that_is_everywhere_alike_gives_no_cut(rows):
    numbers = np.array(sorted({number for number, _ in rows}))
    assert class_cuts(numbers, np.ones((len(numbers), 2), np.int64)) == ()


def test_one_value_and_no_value_are_not_cut():
    assert class_cuts(np.array([3]), np.array([[4, 9]])) == ()
    assert class_cuts(np.empty(0, np.int64), np.zeros((0, 2), np.int64)) == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("<10.5", "below 10.5"),
        ("10.5..33", "10.5 to under 33"),
        ("-3..1e-05", "-3 to under 1e-05"),
        (">=33", "33 or more"),
        ("<1990", "below 1990"),
        ("-12000..1045000.12345", "-12,000 to under 1,045,000.12345"),
        ("any", None),
        ("a..b", None),
        ("<html>", None),
        (">=", None),
    ],
)
def test_a_range_is_told_in_words(name, words):
    assert bin_words(name) == words


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, unique=True))
def test_every_range_has_words(cuts):
    assert None not in map(bin_words, bin_names(tuple(sorted(cuts))))


def table(n=90, *, seed=0, shift=0.0):
    """Orders of three steps; those of the class `late` have a middle amount from 40 to 60."""
    rng = np.random.default_rng(seed)
    late = rng.random(n) < 0.5
    amounts = rng.uniform(0, 100, (n, 3))
    amounts[late, 1] = rng.uniform(40, 60, late.sum())
    amounts[~late, 1] = rng.uniform(0, 30, (~late).sum())
    return {
        "order": np.repeat(np.arange(n), 3).tolist(),
        "step": rng.choice(["a", "b"], 3 * n).tolist(),
        "amount": (amounts.ravel().round(1) + shift).tolist(),
        "class": np.repeat(np.where(late, "late", "early"), 3).tolist(),
    }


def read(frame, **arguments):
    return rx.from_events(frame, sequence="order", label="class", **arguments)


def classifier(**settings):
    return rx.LynxClassifier(max_length=1, max_iter=5, random_state=0, **settings)


def cuts_of(reading, name="amount"):
    [column] = [c for group in reading.groups for c in group.columns if c.name == name]
    return column.cuts


def test_numbers_wait_for_the_classes():
    X, _ = read(table(), bins="supervised")
    assert X.reading.fluents[1].columns == (Column("amount", "number", None, True),)
    assert "amount (number, to be cut by class)" in str(X.reading)
    assert any(isinstance(value, float) for value in X.vocabulary)


def test_a_column_may_wait_alone():
    frame = table() | {"weight": np.arange(270).tolist()}
    X, _ = read(frame, bins={"amount": "supervised"})
    assert cuts_of(X.reading) is None
    assert len(cuts_of(X.reading, "weight")) == 3


def test_a_column_of_few_numbers_is_left_as_it_is_unless_it_is_named():
    frame = table() | {"mark": [1, 2, 3] * 90}
    assert not read(frame, bins="supervised")[0].reading.fluents[2].columns[0].supervised
    assert read(frame, bins={"mark": "supervised"})[0].reading.fluents[2].columns[0].supervised


def test_a_classifier_cuts_where_its_classes_differ():
    X, y = read(table(240), bins="supervised")
    model = classifier().fit(X, y)
    assert len(cuts_of(model.reading_)) >= 2
    assert all(30 <= cut <= 65 for cut in cuts_of(model.reading_))
    X_new, y_new = read(table(seed=1), bins="supervised")
    assert model.score(X_new, y_new) > 0.8


def test_the_sequences_of_fit_are_not_changed():
    X, y = read(table(), bins="supervised")
    before = str(X[0])
    classifier().fit(X, y)
    assert str(X[0]) == before
    assert cuts_of(X.reading) is None


def test_a_table_read_like_that_of_the_model_gets_its_cuts():
    X, y = read(table(), bins="supervised")
    model = classifier().fit(X, y)
    Z, _ = rx.from_events(table(seed=2), reading=model.reading_)
    waiting, _ = read(table(seed=2), bins="supervised")
    assert Z.reading == model.reading_
    assert cut_like(waiting, model.reading_) == Z
    assert model.predict(Z).tolist() == model.predict(waiting).tolist()


def test_numbers_outside_the_range_of_the_training_part_are_in_the_outer_ranges():
    X, y = read(table(), bins="supervised")
    model = classifier().fit(X, y)
    far, _ = read(table(seed=1, shift=1e6), bins="supervised")
    near = cut_like(far, model.reading_)
    told = {atom.args[1] for one in near for atom in one.atoms if atom.predicate == "amount"}
    assert told == {bin_names(cuts_of(model.reading_))[-1]}
    assert len(model.predict(far)) == len(far)


def test_nothing_is_learnt_from_the_sequences_of_a_test_part():
    X, y = read(table(), bins="supervised")
    other, _ = read(
        {**table(), "amount": [*table()["amount"][:180], *[7.0] * 90]}, bins="supervised"
    )
    first, second = (classifier().fit(part[:60], y[:60]).reading_ for part in (X, other))
    assert first == second


def test_a_leak_of_cuts_into_cross_validation_would_show():
    # In the sequences that are left out the classes differ at 500, in the others at about 35.
    frame = table(240)
    for i in range(360, 720):
        frame["amount"][i] = 600.0 if frame["class"][i] == "late" else 400.0
    X, y = read(frame, bins="supervised")
    assert max(cuts_of(cut_by_class(X, y).reading)) > 400
    train, test = np.arange(120), np.arange(120, 240)
    found = cross_validate(classifier(), X, y, cv=[(train, test)], return_estimator=True)
    cuts = cuts_of(found["estimator"][0].reading_)
    assert cuts == cuts_of(cut_by_class(X[train], y[train]).reading)
    assert max(cuts) < 100
    assert found["test_score"][0] < 0.8  # all amounts are in one range


def test_each_fold_has_cuts_of_its_own():
    X, y = read(table(), bins="supervised")
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    assert len({cuts_of(classifier().fit(X[i], y[i]).reading_) for i, _ in folds}) > 1


def test_random_classes_are_not_told_apart():
    X, _ = read(table(180), bins="supervised")
    shares = []
    for seed in range(4):
        y = np.random.default_rng(seed).permutation(["p", "q"] * 90)
        shares.append(cross_val_score(classifier(), X, y, cv=3).mean())
    assert 0.4 < np.mean(shares) < 0.6


def test_a_model_file_keeps_the_cuts(tmp_path):
    X, y = read(table(), bins="supervised")
    for model in (classifier(), rx.PatternVectorizer(max_length=1)):
        model.fit(X, y)
        rx.save(model, tmp_path / "model.relynx")
        loaded = rx.load(tmp_path / "model.relynx")
        assert loaded.reading_ == model.reading_
        assert cuts_of(loaded.reading_)


def test_a_vectorizer_cuts_what_it_transforms():
    X, y = read(table(), bins="supervised")
    vectorizer = rx.PatternVectorizer(max_length=1).fit(X, y)
    names = [*vectorizer.get_feature_names_out()]
    wanted = [f"amount(A,'{name}')" for name in bin_names(cuts_of(vectorizer.reading_))]
    assert set(wanted) <= set(names)
    matrix = vectorizer.transform(X).toarray()[:, [names.index(name) for name in wanted]]
    assert (matrix.sum(axis=1) >= 1).all()


def test_a_vectorizer_without_classes_cannot_cut():
    X, _ = read(table(), bins="supervised")
    with pytest.raises(rx.InputError) as caught:
        rx.PatternVectorizer().fit(X.with_labels(None))
    assert str(caught.value) == (
        "column 'amount' is to be cut by class, and there are no classes\n"
        "hint: give y, or read the table with other bins"
    )


def test_a_model_of_quarters_refuses_numbers_that_wait():
    X, y = read(table())
    model = classifier().fit(X, y)
    waiting, _ = read(table(), bins="supervised")
    with pytest.raises(rx.InputError) as caught:
        model.predict(waiting)
    ranges = ", ".join(bin_names(cuts_of(model.reading_)))
    assert str(caught.value) == (
        "this table was read in another way than that of the model: amount is made of amount "
        f"(number, to be cut by class), not of amount ({ranges})\n"
        "hint: read it as that one: rx.from_events(frame, reading=model.reading_)"
    )


@pytest.mark.parametrize("bins", ["supervisd", "quantile", "", {"amount": "Supervised"}])
def test_another_word_for_bins_is_refused(bins):
    whose, value = (
        ("bins of 'amount'", "Supervised") if bins and "amount" in bins else ("bins", bins)
    )
    with pytest.raises(rx.InputError) as caught:
        read(table(), bins=bins)
    assert str(caught.value) == (
        f"{whose} is {value!r}\n"
        "hint: give a number from 2 on, ('width', 5), rising cuts such as [10, 100], "
        "'supervised', or None"
    )


def test_texts_are_not_cut_by_class():
    with pytest.raises(rx.InputError) as caught:
        read(table(), bins={"step": "supervised"})
    assert str(caught.value) == (
        "bins of 'step': the column holds no numbers\nhint: bins are for numbers"
    )


def test_attributes_and_relations_are_cut_too():
    frame = {
        "order": [i // 2 for i in range(80)],
        "at": [0, 1] * 40,
        "event": ["x", "y"] * 40,
        "age": [i // 2 for i in range(80)],
        "class": ["low"] * 40 + ["high"] * 40,
    }
    far = {
        "order": list(range(40)),
        "event_1": ["x"] * 40,
        "event_2": ["y"] * 40,
        "metres": [i + 0.5 for i in range(40)],
    }
    X, y = rx.from_events(
        frame,
        sequence="order",
        order="at",
        event="event",
        label="class",
        attributes=["age"],
        fluents=[],
        relations={"far": far},
        bins="supervised",
    )
    cut = cut_by_class(X, y)
    assert cuts_of(cut.reading, "age") == (20,)
    assert cuts_of(cut.reading, "metres") == (20,)
    assert str(cut[0]) == "begin(0,low). next_s(e1,e2). age('<20'). far(e1,e2,'<20'). end."


def test_gaps_stay_gaps_and_a_column_without_facts_is_not_cut():
    frame = table(12)
    frame["amount"] = [None if i % 2 else float(i) for i in range(36)]
    X, y = read(frame, bins="supervised")
    n_facts = {key: part.shape[1] for key, part in cut_by_class(X, y).tables.items()}
    assert n_facts["amount", 2] == 18
    none = X[np.array([], int)]
    assert cuts_of(cut_by_class(none, y[:0]).reading) == ()


def test_sequences_that_do_not_wait_are_given_back_as_they_are():
    X, y = read(table())
    assert cut_by_class(X, y) is X
    assert cut_like(X, X.reading) is X
    lists, labels = rx.from_lists([["a"], ["b"]], ["p", "q"])
    assert cut_by_class(lists, labels) is lists
    waiting, _ = read(table(), bins="supervised")
    assert cut_like(waiting, None) is waiting


def test_a_frame_of_numbers_that_wait_comes_back_as_it_was():
    frame = table()
    X, _ = read(frame, bins="supervised")
    assert list(rx.to_events(X)["amount"]) == frame["amount"]


def test_an_explanation_tells_ranges_in_words():
    X, y = read(table(), bins="supervised")
    model = classifier(n_features=2).fit(X, y)
    cuts = cuts_of(model.reading_)
    told = str(rx.explain(model, X[0]))
    ranges = [bin_words(name) for name in bin_names(cuts)]
    assert any(f"amount {words}" in told or f"amount of {words}" in told for words in ranges)


def test_an_inferred_bias_takes_numbers_that_wait_for_values_of_few_kinds():
    X, _ = read(table(), bins="supervised")
    bias = rx.Bias.infer(X)
    assert bias.modes["amount"] == (("+", "*"),)
    assert bias.notes == ("amount/2: argument 2 holds numbers that are cut by class inside fit",)


def test_a_bias_inferred_before_the_cuts_serves_after_them():
    X, y = read(table(), bins="supervised")
    given, inferred = (classifier(bias=bias).fit(X, y) for bias in (rx.Bias.infer(X), None))
    assert given.predict(X).tolist() == inferred.predict(X).tolist()
