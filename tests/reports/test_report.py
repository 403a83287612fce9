"""`report`: the numbers on the page, what its script is given, and what it may never hold."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.neighbors import KNeighborsClassifier

import relynx as rx
from relynx.features import sparse_logistic
from relynx.features.grasp import GraspRound
from relynx.models.lynx import pair_model, sparse_model
from relynx.models.lynx.contributions import weights
from relynx.reports import html, page_data, report_data
from relynx.reports.html import class_bars, drawn_rounds
from relynx.reports.page_data import short
from relynx.reports.report_data import PatternRow, odds_ratios
from relynx.reports.scores import Proportion, scores


@pytest.fixture(scope="module")
def rule():
    """A model of the planted rule with errors, and sequences that it has not seen."""
    X, y = rx.planted_rule(80, flip=0.1, random_state=0)
    model = rx.LynxClassifier(max_length=2, n_features=6, max_iter=5, random_state=0).fit(X, y)
    return model, *rx.planted_rule(60, flip=0.1, random_state=1)


@pytest.fixture(scope="module")
def folds():
    """A model of three folds, one for each pair, and other domains of them."""
    whole = rx.load_protein_folds()
    some = np.flatnonzero(np.isin(whole.y, ["c.1", "c.2", "c.37"]))
    train, test = some[::8], some[1::8]
    model = rx.LynxClassifier(
        whole.bias, max_length=2, max_features=30, n_features=5, max_iter=4, random_state=0
    )
    return model.fit(whole.X[train], whole.y[train]), whole.X[test], whole.y[test]


def script_data(page: str) -> dict:
    """The data that the script of a page reads."""
    found = re.search(r'<script type="application/json" id="data-json">(.*?)</script>', page)
    return json.loads(found[1])


class Elements(HTMLParser):
    """The tags of a page with their attributes, and its text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] not in ("script", "style"):
            self.text += data


def words(page: str) -> str:
    return " ".join(Elements(page).text.split())


# Scores


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_that_of_wilson(hits, n, low, high):
    assert Proportion(hits, n).interval == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_share_and_lies_between_0_and_1(hits, misses):
    share = Proportion(hits, hits + misses)
    low, high = share.interval
    assert 0 <= low <= high <= 1
    if share.n:
        assert low - 1e-12 <= share.value <= high + 1e-12


@given(st.integers(2, 5), st.integers(1, 60), st.integers(0, 99))
def test_scores_are_those_of_scikit_learn(n_classes, n, seed):
    rng = np.random.default_rng(seed)
    labels, predicted = rng.integers(n_classes, size=(2, n))
    probabilities = rng.dirichlet(np.ones(n_classes), n)
    found = scores(labels, predicted, probabilities, [str(c) for c in range(n_classes)])
    order = range(n_classes)
    assert np.array_equal(found.confusion, confusion_matrix(labels, predicted, labels=order))
    wanted = precision_recall_fscore_support(labels, predicted, labels=order, zero_division=np.nan)
    for row, precision, recall, f1 in zip(found.classes, *wanted[:3], strict=True):
        for value, other in ((row.precision, precision), (row.recall, recall), (row.f1, f1)):
            assert (value is None and np.isnan(other)) or value == pytest.approx(other)
    assert found.accuracy.value == np.mean(labels == predicted)


def test_bins_of_the_reliability_hold_every_sequence_once():
    probabilities = np.array([[0.5, 0.5], [1.0, 0.0], [0.91, 0.09], [0.3, 0.7]])
    found = scores(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), probabilities, ["a", "b"])
    told = [(one.low, one.n, one.right.hits) for one in found.reliability]
    assert told == [(0.5, 1, 1), (0.7, 1, 1), (0.9, 2, 1)]
    assert found.gap == pytest.approx((0.5 + 0.3 + 2 * abs(0.955 - 0.5)) / 4)


def test_odds_are_those_of_the_class_with_the_pattern_over_those_without():
    supports, sizes = np.array([[8, 1]], np.int32), np.array([10, 20])
    own = 8.5 / 1.5  # with the pattern: of the class over others
    other = 2.5 / 19.5
    assert odds_ratios(supports, sizes, np.array([0])) == pytest.approx(own / other)


# What the page says


def test_the_data_are_those_of_the_sequences_and_the_model(folds):
    model, X, y = folds
    data = rx.report(model, X, y).data
    assert data.n_sequences == len(X)
    assert data.classes == ("c.1", "c.2", "c.37")
    assert [row.n for row in data.class_rows] == [(y == c).sum() for c in data.classes]
    assert [row.learnt_from for row in data.class_rows] == model.selected_.class_sizes.tolist()
    assert data.scores.accuracy.value == model.score(X, y)
    assert data.lengths.unit == "events"
    assert sum(n for _, _, n in data.lengths.columns) == len(X)
    sizes = [len({a.args[0] for a in one.atoms if a.predicate in ("he", "st")}) for one in X]
    assert (data.lengths.least, data.lengths.most) == (min(sizes), max(sizes))
    assert data.lengths.median == np.median(sizes)
    assert [pair.name for pair in data.pairs] == ["c.1 / c.2", "c.1 / c.37", "c.2 / c.37"]
    roles = {row.name: row.role for row in data.predicates}
    assert roles["next_h/2"] == "dimension"
    assert roles["st/3"] == "fact"
    assert roles["sense/2"] == "fact, by a rule"


def test_rows_of_patterns_are_those_of_the_model(folds):
    model, X, y = folds
    rows = rx.report(model, X, y).data.patterns
    assert [row.text for row in rows] == [*model.selected_.texts()]
    assert [row.supports for row in rows] == [tuple(e.support.values()) for e in model.selected_]
    used = [[row.number for row in rows if k in row.pairs] for k in range(3)]
    assert used == [sorted(columns.tolist()) for columns in model.columns_]


def test_best_patterns_of_a_class_cover_it_most(folds):
    model, X, y = folds
    data = rx.report(model, X, y).data
    assert [one.name for one in data.best] == list(data.classes)
    for c, one in enumerate(data.best):
        values = model.selected_.measure("chi2", data.classes[c])[[r.number for r in one.rows]]
        assert all(row.proportions[c] == max(row.proportions) for row in one.rows)
        assert values.tolist() == sorted(values.tolist(), reverse=True)
        assert 1 <= len(one.rows) <= 5


def test_sequences_that_were_learnt_from_are_found_out():
    X, y = rx.planted_rule(60, flip=0.1, random_state=0)
    model = rx.LynxClassifier(max_length=2, max_iter=3, random_state=0).fit(X, y)
    order = np.random.default_rng(0).permutation(60)
    seen = rx.report(model, X[order], y[order])
    assert seen.data.seen
    assert "These are the training sequences." in words(seen.html)
    assert "these are the training sequences: accuracy on new ones will be lower" in str(seen)
    part = rx.report(model, X[:50], y[:50])
    assert not part.data.seen
    assert "These are not exactly the training sequences." in words(part.html)


def test_without_classes_the_page_says_nothing_about_accuracy(rule):
    model, X, _ = rule
    page = rx.report(model, X.with_labels(None))
    assert page.data.scores is None
    assert page.data.seen is None
    assert "The classes of these sequences were not given" in words(page.html)
    assert "Confusion" not in page.html
    assert script_data(page.html)["labelled"] is False
    assert "no classes are given, so accuracy is unknown" in str(page)


def test_classes_of_the_sequences_are_used_where_none_are_given(rule):
    model, X, y = rule
    assert rx.report(model, X).html == rx.report(model, X, y).html


def test_labels_that_the_model_does_not_know_count_as_wrong(rule):
    model, X, y = rule
    y = np.where(np.arange(len(y)) < 5, "maybe", y)
    page = rx.report(model, X, y)
    assert page.data.scores.labels == ("no", "yes", "maybe")
    assert sum(page.data.scores.confusion[2]) == 5
    assert page.data.scores.accuracy.value == model.score(X, y)
    assert "maybe unknown to the model" in words(page.html)


def test_classes_that_look_alike_are_told_apart():
    X, y = rx.planted_rule(40, random_state=0)
    labels = np.array([1 if one == "yes" else "1" for one in y], dtype=object)
    model = rx.LynxClassifier(max_length=2, max_iter=2, random_state=0)
    model.fit(X, np.where(y == "yes", 1, 2))
    assert rx.report(model, X, labels).data.scores.labels == ("1", "2", "'1'")


def test_a_model_without_selection_has_no_history(rule):
    model, X, y = rule
    plain = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    assert "The model has no selection history" in words(rx.report(plain, X, y).html)
    assert "Each round of GRASP" in words(rx.report(model, X, y).html)


@pytest.mark.parametrize(("chosen", "name"), [(0, "L1"), (1, "elastic net"), (2, "nearly ridge")])
def test_a_sparse_model_says_its_form_and_how_many_patterns_have_a_weight(
    monkeypatch, tmp_path, chosen, name
):
    form = sparse_logistic.FORMS[chosen]
    monkeypatch.setattr(sparse_logistic, "FORMS", (form,))
    monkeypatch.setattr(sparse_model, "FORMS", (form,))
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=2, random_state=0).fit(X, y)
    rx.save(model, tmp_path / "m.relynx")
    one, [learnt] = rx.report(rx.load(tmp_path / "m.relynx"), X, y), model.estimators_
    assert one.html == rx.report(model, X, y).html
    assert (one.data.pairs[0].form, one.data.pairs[0].n_candidates) == (name, learnt.n_candidates)
    n, have = len(model.selected_), "has" if len(model.selected_) == 1 else "have"
    said = f"{n:,} of {learnt.n_candidates:,} patterns found {have} a weight."
    assert f"Sparse logistic regression ({name}): {said}" in words(one.html)
    assert "selection history" not in one.html


def test_a_sparse_model_of_a_file_without_its_form_says_the_rest():
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=1, random_state=0).fit(X, y)
    model.estimators_ = [replace(model.estimators_[0], form="")]
    assert "Sparse logistic regression: " in words(rx.report(model, X, y).html)


def test_only_a_model_of_the_method_sparse_is_called_so():
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=1, random_state=0).fit(X, y)
    model.method = "optimal"
    assert rx.report(model, X, y).data.pairs[0].form is None


def test_an_optimal_model_says_its_certificate_and_how_many_patterns_have_a_weight():
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(method="optimal", penalty=0.3, max_length=2).fit(X, y)
    n, of = len(model.selected_), model.estimators_[0].n_candidates
    said = f"{n:,} of {of:,} patterns found {'has' if n == 1 else 'have'} a weight"
    wanted = f"all patterns of the language: {said}; {model.certificate_}."
    assert wanted in words(rx.report(model, X, y).html)


def test_the_history_survives_saving(rule, tmp_path):
    model, X, y = rule
    rx.save(model, tmp_path / "m.relynx")
    assert rx.report(rx.load(tmp_path / "m.relynx"), X, y).html == rx.report(model, X, y).html


def test_lists_are_sequences_too(rule):
    model = rule[0]
    lists = [[("do", "a0", "o1"), ("do", "a1", "o1")], [("do", "a2", "o1")]]
    assert rx.report(model, lists, ["yes", "no"]).data.scores.accuracy.n == 2


def test_sequences_without_events_are_told_by_their_facts():
    lists = [["bond(a,b,single)", "charge(high)"], ["bond(a,b,double)"]] * 10
    X = rx.Sequences.from_atoms([[rx.parse_atom(one) for one in atoms] for atoms in lists])
    y = ["yes", "no"] * 10
    model = rx.LynxClassifier(max_length=1, random_state=0).fit(X, y)
    data = rx.report(model, X, y).data
    assert data.lengths.unit == "facts"
    assert (data.lengths.least, data.lengths.most) == (1, 2)


def test_a_model_without_patterns_has_a_report():
    X, y = rx.planted_rule(40, random_state=0)
    with pytest.warns(UserWarning, match="no pattern was found"):
        model = rx.LynxClassifier(min_frequency=1000, max_length=1).fit(X, y)
    page = rx.report(model, X, y)
    assert page.data.patterns == ()
    assert "No pattern covers a larger proportion of this class than of the others." in words(
        page.html
    )
    assert script_data(page.html)["patterns"] == []


# Errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda model, X, y: (rx.PatternNB(), X, y),
            "a report is about a LynxClassifier, not about a PatternNB\n"
            "hint: give the fitted model, the sequences, the classes",
        ),
        (
            lambda model, X, y: (rx.LynxClassifier(), X, y),
            "this LynxClassifier is not fitted\nhint: call fit before report",
        ),
        (
            lambda model, X, y: (model, X[:0], y[:0]),
            "there is no sequence to report on\nhint: give at least one",
        ),
        (
            lambda model, X, y: (model, X, y[:3]),
            "3 labels in y for 60 sequences in X\nhint: give one label for each sequence",
        ),
        (
            lambda model, X, y: (model, X, np.column_stack([y, y])),
            "labels of shape (60, 2) in y for 60 sequences in X\n"
            "hint: give one label for each sequence",
        ),
        (
            lambda model, X, y: (model, X, [None, *y[1:]]),
            "the label of sequence s1 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
        (
            lambda model, X, y: (model, X, [*range(59), float("nan")]),
            "the label of sequence s60 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
        (
            lambda model, X, y: (model, X, pd.Series([*y[:2], pd.NA, *y[3:]])),
            "the label of sequence s3 is missing\n"
            "hint: give the class of each sequence, or leave out those that have none",
        ),
    ],
)
def test_wrong_input_gets_a_message(rule, make, message):
    with pytest.raises(rx.InputError) as caught:
        rx.report(*make(*rule))
    assert str(caught.value) == message


# The report as a value


def test_save_writes_the_page(rule, tmp_path):
    page = rx.report(*rule)
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == page.html.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_file_that_cannot_be_written_gets_a_message(rule, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rx.InputError) as caught:
        rx.report(*rule).save("none/report.html")
    assert str(caught.value) == (
        "none/report.html: this file cannot be written (No such file or directory)"
    )


def test_the_same_input_gives_the_same_page(rule):
    assert rx.report(*rule).html == rx.report(*rule).html


def test_the_text_of_a_report_is_a_summary(rule):
    model, X, y = rule
    page = rx.report(model, X, y)
    right = page.data.scores.accuracy
    low, high = right.interval
    assert str(page) == (
        f"60 sequences, 2 classes\n"
        f"accuracy {model.score(X, y):.3f} (95 % interval {low:.3f} to {high:.3f}), "
        f"{right.hits} of 60 right\n"
        f"{len(model.selected_)} patterns in 1 model, naive Bayes\n"
        f"page of {len(page.html) / 1e6:.1f} MB"
    )
    assert repr(page) == "<Report: 60 sequences, 2 classes>"
    assert page._repr_html_().startswith("<p><strong>60 sequences, 2 classes</strong></p><ul>")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ([True, True, True], "logistic regression"),
        ([False, True, False], "naive Bayes or logistic regression"),
        ([False, False, False], "naive Bayes"),
    ],
)
def test_the_learner_is_the_one_that_decides(monkeypatch, chosen, said):
    pair_votes = iter(chosen)
    monkeypatch.setattr(pair_model.Validation, "better_on_all", lambda *a, **k: next(pair_votes))
    X, _ = rx.from_lists([["a", "b"], ["b", "c"], ["c", "a"]] * 6)
    model = rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, ["x", "y", "z"] * 6)
    assert report_data._learner(model) == said


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("auto", "logistic regression"),
        ("sparse", "logistic regression"),
        ("optimal", "logistic regression"),
        ("grasp", "naive Bayes"),
    ],
)
def test_the_learner_of_a_model_without_patterns_is_that_of_its_method(tmp_path, method, said):
    X, y = rx.from_lists([["a"]] * 20, ["yes", "no"] * 10)
    with pytest.warns(UserWarning, match="the prior decides"):
        model = rx.LynxClassifier(method=method, max_length=1, random_state=0).fit(X, y)
    rx.save(model, tmp_path / "m.relynx")
    assert rx.report(rx.load(tmp_path / "m.relynx"), X, y).data.learner == said
    assert model.estimators_[0].estimator is None


# What the script is given


@given(st.lists(st.integers(0, 2**40), max_size=20))
def test_numbers_are_read_back_from_their_bytes(values):
    out, value, shift = [], 0, 0
    for byte in page_data._bytes(np.array(values, np.int64)):
        value += (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value, shift = 0, 0
    assert out == values


def decoded_facts(data: dict, i: int) -> set[str]:
    """The facts of a sequence of the page as text, by a slow and obvious reader."""
    numbers, value, shift = [], 0, 0
    for byte in base64.b64decode(data["sequences"]["facts"][i]):
        value += (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value, shift = 0, 0
    out, at = set(), 0
    while at < len(numbers):
        (name, arity), n = data["keys"][numbers[at]], numbers[at + 1]
        at += 2
        for _ in range(n):
            args = [data["constants"][c] for c in numbers[at : at + arity]]
            out.add(f"{name}({','.join(args)})")
            at += arity
    return out


def test_the_page_has_the_facts_and_the_derived_ones_that_patterns_ask_for(folds):
    model, X, y = folds
    data = script_data(rx.report(model, X, y).html)
    asked = {atom.predicate for pattern in model.selected_.patterns() for atom in pattern}
    for i in (0, 3):
        found = decoded_facts(data, i)
        assert {str(atom) for atom in X[i].atoms} <= found
        more = {text.split("(")[0] for text in found - {str(atom) for atom in X[i].atoms}}
        assert more - {"ladder"} == asked & {"sense", "strand"}  # a rule makes ladder symmetric


def test_the_page_has_the_coverage_of_every_pattern(folds):
    model, X, y = folds
    data = script_data(rx.report(model, X, y).html)
    rows = [base64.b64decode(row) for row in data["sequences"]["covered"]]
    bits = np.unpackbits(np.array([[*row] for row in rows], np.uint8), axis=1, bitorder="little")
    assert np.array_equal(bits[:, : len(model.selected_)], model.selected_.coverage(X))


def test_votes_and_probabilities_are_those_of_the_models(folds):
    model, X, y = folds
    data = script_data(rx.report(model, X, y).html)
    covered = model.selected_.coverage(X).astype(float)
    for k, (pair, columns) in enumerate(zip(model.estimators_, model.columns_, strict=True)):
        votes = [base64.b64decode(row)[k // 8] >> (k % 8) & 1 for row in data["votes"]]
        assert votes == pair.votes(covered[:, columns]).tolist()
        proportions = [base64.b64decode(row)[k] / 255 for row in data["pairProbabilities"]]
        assert np.allclose(proportions, pair.posteriors(covered[:, columns])[:, 0], atol=2e-3)
    assert np.allclose(
        np.array(data["sequences"]["probabilities"]) / 1000, model.predict_proba(X), atol=1e-3
    )


def test_the_weights_of_the_page_give_the_scores(folds):
    model, X, y = folds
    data = script_data(rx.report(model, X, y).html)
    covered = model.selected_.coverage(X)
    for pair, one in zip(data["pairs"], model.estimators_, strict=True):
        present, absent = (np.reshape(pair[name], (-1, 2)) for name in ("present", "absent"))
        terms = np.where(covered[5, pair["patterns"]][:, None], present, absent)
        wanted = weights(one).scores(covered[5, pair["patterns"]])
        assert np.allclose(terms.sum(axis=0) + pair["prior"], wanted, atol=1e-3)


def test_patterns_that_found_no_room_are_there_as_sums(folds, monkeypatch):
    model, X, y = folds
    monkeypatch.setattr(page_data, "MOST_PATTERNS", 4)
    data = script_data(rx.report(model, X, y).html)
    assert len(data["patterns"]) == 4
    assert data["nPatterns"] == len(model.selected_)
    covered = model.selected_.coverage(X)
    kept = [[*model.selected_.texts()].index(one["text"]) for one in data["patterns"]]
    for k, (pair, one) in enumerate(zip(data["pairs"], model.estimators_, strict=True)):
        columns = [kept[at] for at in pair["patterns"]]
        present, absent = (np.reshape(pair[name], (-1, 2)) for name in ("present", "absent"))
        for i in (0, 7):
            terms = np.where(covered[i, columns][:, None], present, absent)
            wanted = weights(one).scores(covered[i, model.columns_[k]])
            rest = data["rest"][k][i][:2] if pair["left"] else 0
            assert not pair["left"] or data["rest"][k][i][2:] == [0, 0]
            found = terms.sum(axis=0) + pair["prior"] + rest
            assert np.allclose(found, wanted, atol=1e-3)


def test_of_too_many_sequences_the_wrong_ones_are_listed(rule, monkeypatch):
    model, X, y = rule
    wrong = np.flatnonzero(model.predict(X) != y)
    assert len(wrong) > 1
    monkeypatch.setattr(page_data, "MOST_SEQUENCES", len(wrong) + 2)
    data = script_data(rx.report(model, X, y).html)
    listed = data["sequences"]["ids"]
    assert {*X.ids[wrong]} <= {*listed}
    assert len(listed) == len(wrong) + 2
    assert listed == [one for one in X.ids.tolist() if one in listed]
    assert data["nSequences"] == 60


def without_facts(page: str) -> int:
    """The size of a page less that of the facts on it."""
    return len(page) - sum(map(len, script_data(page)["sequences"]["facts"]))


def test_the_wrong_ones_get_room_for_their_facts_first(rule, monkeypatch):
    model, X, y = rule
    wrong = model.predict(X) != y
    whole = rx.report(model, X, y).html
    assert None not in script_data(whole)["sequences"]["facts"]
    bare = without_facts(whole)
    monkeypatch.setattr(html, "LARGEST", bare + (len(whole) - bare) // 2)
    page = rx.report(model, X, y).html
    facts = script_data(page)["sequences"]["facts"]
    assert all(facts[i] is not None for i in np.flatnonzero(wrong))
    assert 10 < facts.count(None) < 50
    assert len(page) <= html.LARGEST


def test_a_page_is_never_larger_than_it_may_be(folds, monkeypatch):
    model, X, y = folds
    whole = rx.report(model, X, y).html
    bare = without_facts(whole)
    for size in (len(whole) - 1, (len(whole) + bare) // 2, bare - 3_000):
        monkeypatch.setattr(html, "LARGEST", size)
        page = rx.report(model, X, y).html
        assert len(page) <= size
    listed = script_data(page)["sequences"]["ids"]
    assert 0 < len(listed) < len(X)  # in the end whole sequences are left out


def test_a_page_of_2000_sequences_in_which_no_constant_comes_twice_is_below_3_mb():
    n, length = 2_000, 40
    table = {
        "id": np.repeat(np.arange(n), length).tolist(),
        "kind": ["d" if i % (2 * length) == length else "a" for i in range(n * length)],
        "request": [f"{i:08x}-7d3f-4a11-9c55-{i * 7919:012x}" for i in range(n * length)],
    }
    X, _ = rx.from_events(table, sequence="id", fluents=["kind", "request"])
    y = np.arange(n) % 2
    model = rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X[:60], y[:60])
    page = rx.report(model, X, y).html
    assert 2_000_000 < len(page.encode()) < 3_000_000
    facts = script_data(page)["sequences"]["facts"]
    assert 100 < len(facts) - facts.count(None) < n


def test_one_huge_sequence_leaves_the_facts_of_the_others_alone():
    lists = [["a", "b", "c"], ["b", "a", "a"]] * 10
    X, y = rx.from_lists(lists, ["p", "q"] * 10)
    model = rx.LynxClassifier(max_length=2, max_iter=2, random_state=0).fit(X, y)
    huge, _ = rx.from_lists([["a", "b"] * 200_000, *lists[:6]])
    facts = script_data(rx.report(model, huge).html)["sequences"]["facts"]
    assert [one is None for one in facts] == [True] + [False] * 6


def test_only_constants_that_the_page_needs_have_a_number(rule, monkeypatch):
    model, X, y = rule
    bare = without_facts(rx.report(model, X, y).html)
    monkeypatch.setattr(html, "LARGEST", bare + 1_500)
    data = script_data(rx.report(model, X, y).html)
    needed = {arg for one in data["patterns"] for atom in one["atoms"] for arg in atom}
    kept = [i for i, one in enumerate(data["sequences"]["facts"]) if one is not None]
    told = " ".join(fact for i in kept for fact in decoded_facts(data, i))
    for number, name in enumerate(data["constants"]):
        assert name in told or -2 - number in needed
    assert 0 < len(kept) < 30


def test_probabilities_of_very_many_pairs_are_left_out(folds, monkeypatch):
    model, X, y = folds
    monkeypatch.setattr(page_data, "MOST_PROBABILITIES", 3 * len(X) - 1)
    data = script_data(rx.report(model, X, y).html)
    assert data["pairProbabilities"] is None
    assert len(data["votes"]) == len(X)


def test_of_a_sparse_model_the_most_important_patterns_are_on_the_page(folds, monkeypatch):
    _, X, y = folds
    model = rx.LynxClassifier(max_length=1, random_state=0).fit(X, y)
    texts = [*model.selected_.texts()]
    monkeypatch.setattr(page_data, "MOST_PATTERNS", 4)
    data = script_data(rx.report(model, X, y).html)
    assert len(texts) > 4
    assert [one["text"] for one in data["patterns"]] == texts[:4]


def test_sums_of_very_many_patterns_are_left_out(folds, monkeypatch):
    model, X, y = folds
    monkeypatch.setattr(page_data, "MOST_PATTERNS", 4)
    monkeypatch.setattr(page_data, "MOST_SUMS", 2 * len(X))
    data = script_data(rx.report(model, X, y).html)
    with_left = [
        rest for pair, rest in zip(data["pairs"], data["rest"], strict=True) if pair["left"]
    ]
    assert [rest is None for rest in with_left] == [False, True, True]


def test_patterns_with_very_long_words_are_left_out(rule, monkeypatch):
    model, X, y = rule
    row = len(model.selected_)
    monkeypatch.setattr(page_data, "PATTERN_ROOM", 600)
    data = script_data(rx.report(model, X, y).html)
    assert 0 < len(data["patterns"]) < row


def test_of_many_classes_a_pattern_has_bars_for_those_it_covers_most():
    proportions = (0.1, 0.2, 0.9, 0.05, 0.3, 0.4, 0.5, 0.6, 0.7, 0.02)
    row = PatternRow(0, "p(A)", "a p", 1, 2, (1,) * 10, proportions, 2.0, 1.0, (0,))
    bars = class_bars(row)
    assert bars.classes == (0, 1, 2, 4, 5, 6, 7, 8)
    assert (bars.n_others, bars.most_other) == (2, 0.05)


def test_of_many_rounds_the_best_and_a_part_of_the_others_are_drawn():
    rounds = [GraspRound(i, 0.5, 3, 9.0, 3, 1000.0 - i, 0.0, i in (3, 777)) for i in range(1000)]
    drawn = drawn_rounds(rounds)
    assert {3, 777} <= {one.round for one in drawn}
    assert len(drawn) == 202
    assert drawn_rounds(rounds[:150]) == rounds[:150]


def test_of_many_pairs_those_with_the_largest_error_are_drawn(folds, monkeypatch):
    model, X, y = folds
    monkeypatch.setattr(html, "MOST_CHARTS", 1)
    report = rx.report(model, X, y)
    errors = [min(one.error for one in pair.history) for pair in report.data.pairs]
    worst = report.data.pairs[errors.index(max(errors))].name
    labels = [a["aria-label"] for t, a in Elements(report.html).tags if "aria-label" in a]
    assert [one for one in labels if one.startswith("Errors of")] == [
        f"Errors of 4 rounds for {worst}"
    ]
    text = words(report.html)
    assert "Only the 1 pairs" in text
    assert text.count("c.2 / c.37") >= 1


def test_terms_that_rule_a_class_out_are_null():
    X, y = rx.planted_rule(60, random_state=0)
    model = rx.LynxClassifier(max_length=2, smoothing=0, n_features=1, max_iter=2, random_state=0)
    data = script_data(rx.report(model.fit(X, y), X, y).html)
    assert data["pairs"][0]["present"][0] is None


def test_where_all_classes_are_ruled_out_the_finite_parts_of_the_page_give_the_scores():
    X, y = rx.planted_rule(60, random_state=0)
    model = rx.LynxClassifier(max_length=2, smoothing=0, n_features=8, max_iter=4, random_state=0)
    T, t = rx.planted_rule(120, flip=0.3, random_state=5)
    data = script_data(rx.report(model.fit(X, y), T, t).html)
    [pair] = data["pairs"]
    covered = model.selected_.coverage(T)[:, model.columns_[0]]
    found = weights(model.estimators_[0])
    out = [i for i in range(120) if np.isinf(found.terms(covered[i])).any(axis=0).all()]
    assert out
    for i in out:
        chosen = [pair["present" if has else "absent"] for has in covered[i]]
        rows = [values[2 * k : 2 * k + 2] for k, values in enumerate(chosen)]
        parts = [[pair["outPart"][c] if v is None else v for c, v in enumerate(r)] for r in rows]
        told = np.sum(parts, axis=0) + pair["prior"]
        wanted = found.scores(covered[i])
        least = np.isfinite(wanted)
        assert np.allclose(told[least], wanted[least], atol=1e-3)


@pytest.mark.parametrize("labels", [[False, True], [0, 1], [7, 3]])
def test_classes_may_be_numbers_or_yes_and_no(labels):
    X, y = rx.planted_rule(60, flip=0.1, random_state=0)
    classes = np.where(y == "yes", labels[1], labels[0])
    model = rx.LynxClassifier(max_length=2, max_iter=3, n_features=4, random_state=0)
    report = rx.report(model.fit(X, classes), X, classes)
    assert report.data.classes == tuple(map(str, sorted(labels)))
    assert report.data.scores.accuracy.value == model.score(X, classes)
    assert report.data.best[0].rows or report.data.best[1].rows


def test_odds_are_written_once_and_alike(rule):
    model, X, y = rule
    page = rx.report(model, X, y)
    for row, one in zip(page.data.patterns, script_data(page.html)["patterns"], strict=True):
        assert one["oddsText"] == short(row.odds)
        assert one["odds"] == pytest.approx(row.odds, rel=1e-5)
    assert short(158.5) == "158"


def test_a_learner_that_does_not_add_up_has_no_weights(rule):
    _, X, y = rule
    for learner, additive in ((LogisticRegression(), True), (KNeighborsClassifier(3), False)):
        model = rx.LynxClassifier(max_length=1, selection=None, final_estimator=learner).fit(X, y)
        page = rx.report(model, X, y)
        assert ("present" in script_data(page.html)["pairs"][0]) == additive
        assert page.data.learner == type(learner).__name__


def test_one_model_for_all_classes_has_no_votes(folds):
    _, X, y = folds
    model = rx.LynxClassifier(
        multiclass="single", selection=None, max_length=1, max_features=20
    ).fit(X, y)
    data = script_data(rx.report(model, X, y).html)
    assert data["votes"] == []
    assert [pair["classes"] for pair in data["pairs"]] == [[0, 1, 2]]


# Colours


def themes() -> dict[str, dict[str, str]]:
    """The colours of the page by name: light, dark by the system, dark by the switch."""
    style = html._asset("report.css")
    blocks = re.findall(r"(:root[^{}]*)\{([^{}]*)\}", style.partition("@media print")[0])
    named = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for _, block in blocks]
    return dict(zip(["light", "dark", "switched"], named, strict=True))


def contrast(one: str, other: str) -> float:
    """The ratio of the web content accessibility guidelines."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    ("ink", ["page", "card", "track", "accent-soft", "warn-soft"]),
    ("quiet", ["page", "card", "track", "accent-soft"]),
    ("warn", ["page", "card", "track", "accent-soft"]),
    ("accent-ink", ["page", "card", "accent-soft"]),
]
MARKS = [
    ("accent", ["page", "card", "track"]),
    ("other", ["page", "card", "track"]),
    ("against", ["page", "card", "track"]),
    ("edge", ["page", "card"]),
    ("focus", ["page", "card"]),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (MARKS, 3.0)])
def test_text_and_marks_stand_out(theme, pairs, least):
    colours = themes()[theme]
    for name, grounds in pairs:
        for ground in grounds:
            assert contrast(colours[name], colours[ground]) >= least, (name, ground)


def test_both_dark_themes_are_the_same():
    assert themes()["dark"] == themes()["switched"]


def test_marks_that_must_stand_out_have_such_colours():
    style = html._asset("report.css")
    for rule in (
        ".built { stroke: var(--edge);",
        ".bars div:not(.own) .value { fill: var(--other); }",
        "button { font: inherit; font-size: .9375rem; color: var(--ink); background: var(--card); "
        "border: 1px solid var(--edge);",
    ):
        assert rule in style


# Safety


@given(st.text())
def test_json_in_the_page_holds_no_sign_that_ends_it_and_reads_back(text):
    written = html.as_json({"a": [text]})
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == {"a": [text]}
    written.encode()


def hostile_report(text: str):
    X, _ = rx.from_lists([[("p", text), "a"], [("p", "x"), "b"]] * 10)
    ids = [f"{text}{i}" for i in range(20)]
    X = rx.Sequences.from_atoms([one.atoms for one in X], ids=ids)
    labels = [text, "other"] * 10
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, labels)
    return rx.report(model, X, labels)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\" onmouseover='alert(1)' x=\"",
        "{{ 1 + 1 }}{% if %}",
        "null \x00 bell \x07 line\nbreak",
        "\u202e\u2028\u2029 \u05d0\u05d1",
        "lone \ud800 surrogate",
        "<!--",
    ],
)
def test_hostile_text_makes_no_element_and_no_attribute(text, tmp_path):
    page = hostile_report(text)
    calm = hostile_report("calm")
    shape = [(tag, sorted(attributes)) for tag, attributes in Elements(page.html).tags]
    assert shape == [(tag, sorted(attributes)) for tag, attributes in Elements(calm.html).tags]
    assert not re.search("[\x00-\x08\u202a-\u202e\u2028\u2029]", page.html)
    page.save(tmp_path / "page.html")


def test_the_page_asks_for_nothing_outside_itself(folds):
    page = rx.report(*folds).html
    for tag, attributes in Elements(page).tags:
        for name in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:")), (tag, attributes)
    assert {*re.findall(r"https?://[^\"'\s]+", page)} == {"http://www.w3.org/2000/svg"}
    assert "@import" not in page
    assert "url(" not in page.replace("url(#arrow", "")


def test_the_policy_allows_the_page_its_own_script_and_style_only(rule):
    page = rx.report(*rule).html
    policy = next(a["content"] for _, a in Elements(page).tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    script = page[page.rindex("<script>") + 8 : page.rindex("</script>")]
    assert f"script-src '{html._hash(script)}'" in policy
