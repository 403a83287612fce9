"""A sparse model whose patterns count for less in long sequences: all that it says agrees."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import relynx as rx
from relynx.features import sparse_logistic
from relynx.features.sparse_logistic import FORMS
from relynx.mining.levels import sequence_sizes
from relynx.reports import flips, html, page_data


def texts(n, seed, n_classes=3):
    """Sequences of 0 to 39 letters, of which each class prefers some."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    likes = np.random.default_rng(0).dirichlet(np.full(12, 3.0), n_classes)
    letters = np.array(list("abcdefghijkl"))
    lists = [
        rng.choice(letters, int(40 ** rng.random()) if i > 5 else 0, p=likes[c]).tolist()
        for i, c in enumerate(y)
    ]
    return rx.from_lists(lists, [f"c{c}" for c in y])


@pytest.fixture(scope="module", params=[2, 3])
def case(request):
    """A model of many patterns, and sequences that it has not seen, one without a fact."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sparse_logistic, "FORMS", FORMS[2:])
        model = fit(request.param)
    return model, texts(24, 1, request.param)


def fit(n_classes=3, **settings):
    return rx.LynxClassifier(max_length=2, max_gap=2, random_state=0, **settings).fit(
        *texts(60, 0, n_classes)
    )


def plain_scores(model, X):
    """The scores of the classes, from weights, coverage and sizes alone."""
    (one,) = model.estimators_
    sizes = np.maximum(sequence_sizes(X, model.selected_.object_identity), 1)
    values = (sizes / one.growth.typical) ** -one.growth.exponent
    rows = values[:, None] * model.selected_.coverage(X)
    scores = rows @ one.estimator.coef_.T + one.estimator.intercept_
    return scores[:, 0] if len(model.classes_) == 2 else scores


def test_decisions_are_those_of_the_scaled_rows(case):
    model, (X, _) = case
    assert model.estimators_[0].growth.exponent > 0.1
    assert len(np.unique(model.pattern_values(X))) > 5
    scores = plain_scores(model, X)
    assert model.decision_function(X) == pytest.approx(scores)
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    assert model.predict(X).tolist() == model.classes_[codes].tolist()


def test_a_pattern_counts_for_less_in_a_longer_sequence(case):
    model, (X, _) = case
    order = np.argsort(sequence_sizes(X, model.selected_.object_identity))
    assert (np.diff(model.pattern_values(X)[order]) <= 0).all()


def test_a_sequence_without_facts_gets_the_intercept(case):
    model, (X, _) = case
    assert len(X[0].atoms) == 0
    expected = model.estimators_[0].estimator.intercept_
    found = model.decision_function(X[:1])[0]
    assert found == pytest.approx(expected[0] if np.ndim(found) == 0 else expected)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_model_of_another_method_counts_each_pattern_as_1():
    X, y = texts(40, 0)
    model = rx.LynxClassifier(max_length=1, max_iter=2, random_state=0).fit(X, y)
    assert model.pattern_values(X).tolist() == [1.0] * 40


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(sparse_logistic, "FORMS", FORMS[1:])
    one, two = fit(), fit(n_jobs=2)
    X, _ = texts(24, 1)
    assert one.estimators_[0].growth == two.estimators_[0].growth
    assert (
        one.estimators_[0].estimator.coef_.tolist() == two.estimators_[0].estimator.coef_.tolist()
    )
    assert one.predict_proba(X).tolist() == two.predict_proba(X).tolist()


def test_a_model_that_was_stored_predicts_the_same(case, tmp_path):
    model, (X, _) = case
    rx.save(model, tmp_path / "model.relynx")
    again = rx.load(tmp_path / "model.relynx")
    assert again.estimators_[0].growth == model.estimators_[0].growth
    assert again.pattern_values(X).tolist() == model.pattern_values(X).tolist()
    assert again.decision_function(X).tolist() == model.decision_function(X).tolist()


def test_partitions_are_predicted_as_in_memory(case, tmp_path):
    model, (X, _) = case
    parts = X.to_parquet(tmp_path / "parts", partitions=3)
    parts = rx.scan_parquet(tmp_path / "parts") if parts is None else parts
    assert model.decision_function(parts).tolist() == model.decision_function(X).tolist()
    assert model.predict_proba(parts).tolist() == model.predict_proba(X).tolist()


# Explanations


def test_intercept_and_contributions_sum_to_the_decision(case):
    model, (X, _) = case
    values = model.decision_function(X)
    for i in range(0, 24, 5):
        (part,) = rx.explain(model, X[i]).models
        totals = {
            c: part.prior[c] + sum(one.contributions[c] for one in part.patterns)
            for c in part.classes
        }
        assert part.scores == pytest.approx(totals)
        scores = np.array([*totals.values()])
        found = scores[1] - scores[0] if len(scores) == 2 else scores
        assert found == pytest.approx(values[i])
        assert part.vote == model.predict(X[i].sequences)[0]
        assert [*part.posterior.values()] == pytest.approx(
            model.predict_proba(X[i].sequences)[0].tolist()
        )


@pytest.mark.parametrize("most", [50_000, 1])
def test_flips_lead_to_the_class_that_is_told(case, most, monkeypatch):
    """With `most` at 1 all sets are made in the order in which they close the gap."""
    monkeypatch.setattr(flips, "MOST_SETS", most)
    model, (X, _) = case
    covered = model.selected_.coverage(X)
    values = model.pattern_values(X)
    names = [str(p) for p in model.selected_.patterns()]
    n_found = 0
    for i in range(24):
        why = rx.explain(model, X[i])
        for one in why.counterfactuals[:3]:
            row = covered[i].copy()
            row[[names.index(str(flip.pattern)) for flip in one.flips]] ^= True
            (code,) = model.codes(values[i] * row[None])
            assert model.classes_[code] == one.predicted != why.predicted
            n_found += 1
    assert n_found > 20


def test_the_flips_in_order_are_as_few_as_those_of_all_sets(case, monkeypatch):
    model, (X, _) = case
    for i in range(6, 24, 3):
        tried = rx.explain(model, X[i])
        with monkeypatch.context() as patched:
            patched.setattr(flips, "MOST_SETS", 1)
            ordered = rx.explain(model, X[i])
        if tried.counterfactuals and ordered.counterfactuals:
            sizes = [len(one.counterfactuals[0].flips) for one in (tried, ordered)]
            assert sizes[0] == sizes[1]


def test_the_text_lists_no_pattern_that_is_absent_and_counts_all(case):
    model, (X, _) = case
    for i in (0, 7, 23):
        text = str(rx.explain(model, X[i]))
        n_present = int(model.selected_.coverage(X[i].sequences).sum())
        assert "  it lacks\n" not in text
        assert f"    +0.00  {len(model.selected_) - n_present:,} patterns that it lacks" in text
        others = re.search(r"^ +[+-][\d.]+  (\d+) other patterns?, together$", text, re.MULTILINE)
        assert (others is None) == (n_present <= 10)
        assert others is None or int(others[1]) == n_present - 10
        assert "The intercept and all patterns sum to the total." in " ".join(text.split())


def test_the_notebook_lists_no_pattern_that_is_absent(case):
    model, (X, _) = case
    assert "<td>lacks</td>" not in rx.explain(model, X[20])._repr_html_()


# The page


def page(model, X, y):
    found = re.search(
        r'<script type="application/json" id="data-json">(.*?)</script>',
        rx.report(model, X, y).html,
    )
    return json.loads(found[1])


def differences(model, X):
    """The score of the first class minus that of the second, for each sequence."""
    values = model.decision_function(X)
    return -values if values.ndim == 1 else values[:, 0] - values[:, 1]


def sums_of_page(data, covered):
    """What the script of the page adds up for each sequence, by Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: no script is run")
    script = f"""
    const data = {json.dumps(data)}, covered = {json.dumps(covered.tolist())};
    const isCovered = (sequence, pattern) => covered[sequence][pattern];
    {html._asset("why.js")}
    const sums = covered.map((_, i) => {{
      const found = contributions(i, 0, 1);
      return sumOf([...found.rows, found.prior, ...(found.rest ? [found.rest] : [])]).value;
    }});
    console.log(JSON.stringify(sums));
    """
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("most", [2000, 5])
def test_the_terms_of_the_page_sum_to_the_scores(case, most, monkeypatch):
    monkeypatch.setattr(page_data, "MOST_PATTERNS", most)
    model, (X, y) = case
    data = page(model, X, y)
    assert data["sequences"]["values"] == pytest.approx(model.pattern_values(X), abs=1e-4)
    names = [*model.selected_.texts()]
    shown = [names.index(one["text"]) for one in data["patterns"]]
    assert len(shown) == min(most, len(names))
    found = sums_of_page(data, model.selected_.coverage(X)[:, shown])
    assert found == pytest.approx(differences(model, X), abs=2e-3)


def test_the_page_of_a_model_that_divides_by_nothing_has_no_values():
    model = rx.LynxClassifier(max_length=2, random_state=0).fit(*rx.planted_rule(60))
    assert "values" not in page(model, *rx.planted_rule(20, random_state=1))["sequences"]
