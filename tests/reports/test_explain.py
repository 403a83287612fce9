"""Explanations: the sums, the matches, the counterfactuals, the text, and what is refused."""

import json
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import inf, isfinite, isnan

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import relynx as rx
from relynx.errors import InputError
from relynx.mining.english import n_cells
from relynx.models.lynx.contributions import weights
from relynx.reports import explanation, flips

FOREST = RandomForestClassifier(5, random_state=0)
LEARNERS = {
    "naive Bayes": None,
    "raw naive Bayes": None,
    "logistic": LogisticRegression(),
    "svm": LinearSVC(),
    "forest": FOREST,
}
EXACT = [name for name in LEARNERS if name not in ("forest", "raw naive Bayes")]
KINDS = [
    *((name, "round_robin") for name in LEARNERS),
    *((name, kind) for name in ("naive Bayes", "svm") for kind in ("single", "two")),
]


@cache
def folds():
    return rx.load_protein_folds()


@cache
def fitted(learner="naive Bayes", kind="round_robin"):
    """A small model of all protein folds, or of two."""
    data = folds()
    some = np.arange(0, len(data.X), 12)
    if kind == "two":
        some = some[np.isin(data.y[some], ["c.1", "c.2"])]
    model = rx.LynxClassifier(
        data.bias,
        max_length=2,
        max_iter=3,
        n_features=4,
        max_features=40,
        multiclass="single" if kind == "single" else "round_robin",
        smoothing=0 if learner.startswith("raw") else 0.1,
        final_estimator=LEARNERS[learner],
        random_state=0,
    )
    return model.fit(data.X[some], data.y[some])


@cache
def why(learner="naive Bayes", kind="round_robin", i=5):
    return rx.explain(fitted(learner, kind), folds().X[i])


SOME = range(0, 966, 322)
every_kind = pytest.mark.parametrize(("learner", "kind"), KINDS)


# What is in it


@pytest.mark.parametrize("kind", ["round_robin", "single", "two"])
@pytest.mark.parametrize("learner", EXACT)
def test_prior_and_contributions_sum_to_the_score(learner, kind):
    model = fitted(learner, kind)
    for i in SOME:
        for part, own in zip(why(learner, kind, i).models, model.estimators_, strict=True):
            for c in part.classes:
                total = part.prior[c] + sum(e.contributions[c] for e in part.patterns)
                assert total == pytest.approx(part.scores[c], abs=1e-9)
            row = np.array([[float(e.present) for e in part.patterns]])
            decided = own.decisions(row)[0]
            values = [*part.scores.values()]
            if len(values) == 2:
                assert values[1] - values[0] == pytest.approx(decided, abs=1e-9)
            else:
                assert values == pytest.approx(decided, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_prior_and_contributions_sum_to_the_score_on_every_sequence_of_a_planted_rule(seed):
    X, y = rx.planted_rule(40, random_state=seed)
    model = rx.LynxClassifier(max_length=2, max_iter=3, random_state=0).fit(X, y)
    decided = model.decision_function(X)
    for i in range(len(X)):
        part = rx.explain(model, X[i]).models[0]
        total = [
            part.prior[c] + sum(e.contributions[c] for e in part.patterns) for c in part.classes
        ]
        assert total == pytest.approx([*part.scores.values()], abs=1e-9)
        assert total[1] - total[0] == pytest.approx(decided[i], abs=1e-9)


@every_kind
def test_class_probabilities_scores_and_votes_are_those_of_the_model(learner, kind):
    model, one = fitted(learner, kind), folds().X[5]
    told = why(learner, kind)
    assert told.id == one.id
    assert told.label == "c.1"
    assert told.predicted == model.predict(one)[0]
    assert [*told.posterior] == model.classes_.tolist()
    assert [*told.posterior.values()] == pytest.approx(model.predict_proba(one)[0], abs=1e-12)
    decided = model.decision_function(one)[0]
    scores = [*told.scores.values()]
    if kind == "two":
        assert scores[1] - scores[0] == pytest.approx(decided, abs=1e-9)
        assert told.votes is None
    elif kind == "round_robin":
        assert scores == pytest.approx(decided, abs=1e-12)
        assert sum(told.votes.values()) == len(told.models) == 10
        assert told.votes == {c: sum(p.vote == c for p in told.models) for c in model.classes_}
    for part, own, columns in zip(told.models, model.estimators_, model.columns_, strict=True):
        row = model.selected_.coverage(folds().X[[5]])[:, columns]
        assert part.classes == tuple(own.classes.tolist())
        assert part.vote == own.classes[own.votes(row)[0]]
        assert [*part.posterior.values()] == pytest.approx(own.posteriors(row)[0], abs=1e-12)
        patterns = [*own.patterns[own.selected].patterns()]
        assert [effect.pattern for effect in part.patterns] == patterns


def test_present_and_absent_patterns_are_apart():
    for part in why().models:
        assert {*map(id, part.present), *map(id, part.absent)} == {*map(id, part.patterns)}
        assert all(e.present and e.match is not None for e in part.present)
        assert not any(e.present or e.match is not None for e in part.absent)


@pytest.mark.parametrize("i", SOME)
def test_what_a_pattern_matched_is_an_embedding_by_match(i):
    one = folds().X[i]
    for part in why(i=i).models:
        for effect in part.present:
            found = rx.match(effect.pattern, one)
            assert effect.match.bindings in found
            assert effect.match.count == len(found)
            assert not effect.match.more
            names = dict.fromkeys(v for a in effect.pattern for v in a.variables())
            assert effect.match.events == tuple(effect.match.bindings[v.name] for v in names)
        for effect in part.absent:
            assert rx.match(effect.pattern, one) == []


def test_variables_that_are_no_events_are_bound_but_not_among_the_events():
    X, y = rx.planted_rule(40, random_state=0)
    model = rx.LynxClassifier(max_length=2, max_iter=3, random_state=0).fit(X, y)
    one = X[y.tolist().index("yes")]
    found = rx.explain(model, one).models[0].present[0]
    assert str(found.pattern) == "do(A,a0,B), follow_s(A,C), do(C,a1,B)"
    bound = found.match.bindings
    assert found.match.events == (bound["A"], bound["C"])
    assert rx.parse_atom(f"do({bound['A']},a0,{bound['B']})") in one.atoms
    assert rx.parse_atom(f"do({bound['C']},a1,{bound['B']})") in one.atoms


def test_matches_are_counted_up_to_a_limit():
    bias = rx.parse_bias(
        "type(a(event)). mode(a(+)). dimension(next_s). maxfollowat(1). maxsize(2). "
        "negconstraint([next_s(_,_)])."
    )
    X, y = rx.from_lists([["a"] * 50, ["a"], ["a"] * 60, ["a"]], ["many", "one", "many", "one"])
    told = rx.explain(rx.LynxClassifier(bias, selection=None).fit(X, y), X[0])
    found = told.models[0].patterns[0].match
    assert (found.count, found.more) == (1000, True)
    assert "one of 1,000 or more matches" in str(told)


def test_without_object_identity_the_matches_are_those_of_the_model():
    X, y = rx.from_lists([["a", "b"], ["b"], ["a", "b"], ["b"]], ["x", "y", "x", "y"])
    model = rx.LynxClassifier(max_length=2, object_identity=False, selection=None).fit(X, y)
    for effect in rx.explain(model, X[0]).models[0].present:
        assert effect.match.count == len(rx.match(effect.pattern, X[0], object_identity=False))


# Learners without a sum


@pytest.mark.parametrize("kind", ["round_robin", "single", "two"])
def test_a_learner_without_a_sum_is_told_by_the_effect_of_each_flip_on_the_probabilities(kind):
    model = fitted("forest", kind)
    for part, own in zip(why("forest", kind).models, model.estimators_, strict=True):
        assert part.scores is None
        assert part.prior is None
        row = np.array([[float(e.present) for e in part.patterns]])
        for k, effect in enumerate(part.patterns):
            flipped = row.copy()
            flipped[0, k] = 1 - flipped[0, k]
            change = own.posteriors(row)[0] - own.posteriors(flipped)[0]
            assert effect.contributions is None
            assert [*effect.share_changes.values()] == pytest.approx(change, abs=1e-12)
    assert (
        "RandomForestClassifier is not additive. The numbers are how much larger the probability "
        f"of {why('forest', kind).predicted} is than with this one pattern flipped."
    ) in " ".join(str(why("forest", kind)).split())


# Minus infinity


@pytest.mark.parametrize("kind", ["round_robin", "single", "two"])
def test_without_smoothing_classes_are_ruled_out_and_nothing_is_nan(kind):
    ruled_out = False
    for i in range(0, 966, 193):
        told = why("raw naive Bayes", kind, i)
        for part in told.models:
            values = [*part.scores.values(), *part.prior.values(), *part.posterior.values()]
            values += [v for e in part.patterns for v in e.contributions.values()]
            assert not any(map(isnan, values))
            assert isfinite(part.scores[part.vote])
            for c in part.classes:
                total = part.prior[c] + sum(e.contributions[c] for e in part.patterns)
                if isfinite(part.scores[part.vote]) and isfinite(total):
                    assert total == pytest.approx(part.scores[c], abs=1e-9)
                ruled_out |= total == -inf
        assert "nan" not in str(told)
        assert "nan" not in told._repr_html_()
        json.dumps(told.to_dict(), allow_nan=False)
    assert ruled_out


def test_a_pattern_that_rules_a_class_out_says_so():
    X, y = rx.from_lists([["a"], ["a", "b"], ["b"], ["b"]], ["x", "x", "y", "y"])
    model = rx.LynxClassifier(max_length=1, selection=None, smoothing=0).fit(X, y)
    told = rx.explain(model, X[0])
    assert told.scores["y"] == -inf
    assert told.to_dict()["scores"]["y"] is None
    assert str(told) == (
        "s1 is predicted as x with probability 1.000. Its label is the same.\n"
        "\n"
        "  class  probability  score\n"
        "  x            1.000  -1.39\n"
        "  y            0.000    out\n"
        "\n"
        "x wins against y: y is ruled out.\n"
        "  it has\n"
        "    rules out y: an a\n"
        "           at e1, the only match\n"
        "  it lacks\n"
        "    rules out y: a b\n"
        "\n"
        "One pattern would be enough to change the class:\n"
        "  - y if it lacked “an a”\n"
        "\n"
        "The numbers are log-odds: +0.69 doubles the odds, +2.3 makes them ten times as\n"
        "large. The prior and all patterns sum to the total. All are in to_frame()."
    )
    assert "<td>rules out y</td>" in told._repr_html_()


# Counterfactuals


def flipped_row(model, told, one):
    """The row of the sequence after the flips of a counterfactual, by the definition."""
    places = {pattern: i for i, pattern in enumerate(model.selected_.patterns())}
    row = model.selected_.coverage(one)[0].copy()
    for flip in told.flips:
        assert row[places[flip.pattern]] != flip.present
        row[places[flip.pattern]] = flip.present
    return row


@every_kind
def test_flips_lead_to_the_class_that_is_told(learner, kind):
    model, n_told = fitted(learner, kind), 0
    for i in SOME:
        told = why(learner, kind, i)
        for one in told.counterfactuals:
            n_told += 1
            row = flipped_row(model, one, folds().X[[i]])
            assert one.predicted == model.classes_[model.codes(1.0 * row[None])[0]]
            assert one.predicted != told.predicted
    assert n_told


@pytest.mark.parametrize("kind", ["round_robin", "single", "two"])
def test_flips_change_the_scores_that_are_built_by_hand(kind):
    model = fitted(kind=kind)
    for i in SOME:
        for one in why(kind=kind, i=i).counterfactuals:
            row = flipped_row(model, one, folds().X[[i]])
            votes = dict.fromkeys(model.classes_.tolist(), 0)
            for part, columns in zip(model.estimators_, model.columns_, strict=True):
                found = weights(part)
                scores = found.prior.copy()
                for k, present in enumerate(row[columns]):
                    scores += found.present[k] if present else found.absent[k]
                votes[part.classes[scores.argmax()]] += 1
            assert votes[one.predicted] == max(votes.values())


def smallest(model, row, largest):
    """Size and number of the smallest sets of flips that change the class; by trying all."""
    before = model.codes(1.0 * row[None])[0]
    for size in range(1, largest + 1):
        sets = [*combinations(range(len(row)), size)]
        rows = np.repeat(row[None], len(sets), axis=0)
        for k, flips_ in enumerate(sets):
            rows[k, [*flips_]] ^= True
        n = int((model.codes(1.0 * rows) != before).sum())
        if n:
            return size, n
    return None


@every_kind
def test_counterfactuals_are_the_smallest_by_trying_all(learner, kind):
    model = fitted(learner, kind)
    n_patterns = len(model.selected_)
    for i in SOME:
        told = why(learner, kind, i)
        row = model.selected_.coverage(folds().X[[i]])[0]
        found = smallest(model, row, min(told.tried, 2 if n_patterns > 20 else n_patterns))
        if found is not None:
            size, n = found
            assert told.smallest
            assert told.n_counterfactuals == n
            assert len(told.counterfactuals) == min(n, flips.KEPT)
            assert {len(one.flips) for one in told.counterfactuals} == {size}


@pytest.mark.parametrize("kind", ["single", "two"])
@pytest.mark.parametrize("learner", ["naive Bayes", "raw naive Bayes", "logistic"])
def test_larger_sets_of_one_model_are_the_smallest_too(learner, kind, monkeypatch):
    monkeypatch.setattr(flips, "MOST_SETS", 0)
    model = fitted(learner, kind)
    for i in SOME:
        told = rx.explain(model, folds().X[i])
        row = model.selected_.coverage(folds().X[[i]])[0]
        found = smallest(model, row, len(row))
        assert told.smallest
        assert told.tried == 0
        assert {len(one.flips) for one in told.counterfactuals} == ({found[0]} if found else set())


def test_larger_sets_of_many_models_need_each_of_their_flips(monkeypatch):
    monkeypatch.setattr(flips, "MOST_SETS", 0)
    model, n_told = fitted(), 0
    for i in SOME:
        told = rx.explain(model, folds().X[i])
        assert not told.smallest
        for one in told.counterfactuals:
            n_told += 1
            row = flipped_row(model, one, folds().X[[i]])
            assert model.classes_[model.codes(1.0 * row[None])[0]] == one.predicted
            places = {p: k for k, p in enumerate(model.selected_.patterns())}
            for flip in one.flips if len(one.flips) > 1 else ():
                fewer = row.copy()
                fewer[places[flip.pattern]] ^= True
                assert model.classes_[model.codes(1.0 * fewer[None])[0]] == told.predicted
    assert n_told


def test_votes_decided_by_probabilities_are_left_to_a_learner_with_its_own():
    data = folds()
    some = np.arange(0, len(data.X), 12)
    learner = SGDClassifier(loss="modified_huber", random_state=0)
    model = rx.LynxClassifier(
        data.bias, max_length=1, selection=None, final_estimator=learner, random_state=0
    ).fit(data.X[some], data.y[some])
    for i in SOME:
        told = rx.explain(model, data.X[i])
        found = smallest(model, model.selected_.coverage(data.X[[i]])[0], told.tried)
        assert (found is None) == (not told.counterfactuals)
        if found is not None:
            assert (len(told.counterfactuals[0].flips), told.n_counterfactuals) == found


def test_no_set_is_told_where_none_changes_the_class():
    X, y = rx.from_lists([["a"], ["b"], ["b"]] * 3, ["x", "y", "y"] * 3)
    model = rx.LynxClassifier(
        max_length=1, selection=None, smoothing=10.0, prior={"x": 1, "y": 99}
    ).fit(X, y)
    told = rx.explain(model, X[0])
    assert (told.predicted, told.counterfactuals, told.smallest) == ("y", (), True)
    assert "No change of patterns would change the class." in str(told)


def test_what_was_tried_is_told_where_the_model_must_be_asked(monkeypatch):
    monkeypatch.setattr(flips, "MOST_QUERIES", 0)
    told = rx.explain(fitted("forest", "two"), folds().X[5])
    assert (told.counterfactuals, told.tried, told.smallest) == ((), 0, False)
    assert "No change of up to 0 patterns would change the class." in str(told)


# Forms


BIAS = """
type(do(event,action,object)). mode(do(+,#,*)). dimension(next_s). maxsize(2).
words(do(E,A,O),'{A} of {O}'). words(a0,'an opening'). words(a1,'a closing').
"""
TEXT = """\
s1 is predicted as yes with probability 0.997. Its label is the same.

  class  probability  score
  yes          0.997  -1.18
  no           0.003  -6.99

yes wins against no: +5.81 in all, +0.00 of it the prior.
  it has
    +5.71  an opening, followed later by a closing of the same object
           at e3, e6, the only match
  it lacks
    +0.12  an event that is a5, directly followed by a closing of another object
    -0.10  an opening of o1, directly followed by an opening of o0
    +0.09  an event that is a5, followed 2 steps later by an opening of another
           object

One pattern would be enough to change the class:
  - no if it lacked “an opening, followed later by a closing of the same object”

The numbers are log-odds: +0.69 doubles the odds, +2.3 makes them ten times as
large. The prior and all patterns sum to the total. All are in to_frame()."""


def test_the_text_reads_as_english():
    X, y = rx.planted_rule(60, random_state=0)
    bias = rx.parse_bias(BIAS)
    model = rx.LynxClassifier(bias, max_iter=5, n_features=4, random_state=0).fit(X, y)
    assert str(rx.explain(model, X[0])) == TEXT


@every_kind
def test_the_text_keeps_its_width_and_names_every_rival(learner, kind):
    for i in SOME:
        told = why(learner, kind, i)
        lines = str(told).splitlines()
        assert max(map(len, lines)) <= 80
        rivals = [c for c in told.posterior if c != told.predicted] if kind != "single" else []
        for c in rivals:
            told_so = [f"{told.predicted} {verb} {c}" for verb in ("wins against", "loses to")]
            starts = tuple(begin + end for begin in told_so for end in (":", " with"))
            assert sum(line.startswith(starts) for line in lines) == 1


def test_a_linear_learner_is_told_by_its_decision_value():
    assert str(why("svm", "two")).endswith(
        "The numbers are terms of the decision value of LinearSVC: the intercept and all\n"
        "patterns sum to the total. All are in to_frame()."
    )


def test_many_flips_are_counted_only(monkeypatch):
    monkeypatch.setattr(explanation, "LISTED_FLIPS", 0)
    told = why("svm", "two")
    one = told.counterfactuals[0]
    line = f"  - {one.predicted} if {len(one.flips)} patterns changed, those in counterfactuals"
    assert line in str(told).splitlines()


def test_a_sequence_without_a_label_is_explained_too():
    X, y = rx.from_lists([["a"], ["b"]] * 2, ["x", "y"] * 2)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    told = rx.explain(model, rx.from_lists([["a"]])[0][0])
    assert told.label is None
    assert str(told).startswith("s1 is predicted as x with probability 0.998.\n")


def test_a_wrong_prediction_names_the_label():
    X, y = rx.from_lists([["a"], ["b"]] * 2, ["x", "y"] * 2)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    other, _ = rx.from_lists([["a"]], ["y"])
    assert str(rx.explain(model, other[0])).startswith(
        "s1 is predicted as x with probability 0.998. Its label is y.\n"
    )


def test_a_model_without_patterns_is_told_by_its_prior():
    X, y = rx.from_lists([["a"], ["a"], ["a"]], ["x", "x", "y"])
    with pytest.warns(UserWarning, match="the prior decides"):
        model = rx.LynxClassifier(max_length=1).fit(X, y)
    told = rx.explain(model, X[0])
    assert told.to_frame().shape == (0, 9)
    assert str(told) == (
        "s1 is predicted as x with probability 0.667. Its label is the same.\n"
        "\n"
        "  class  probability  score\n"
        "  x            0.667  -0.41\n"
        "  y            0.333  -1.10\n"
        "\n"
        "x wins against y: no pattern was selected, so the prior decides."
    )


@every_kind
def test_the_dict_is_plain_json(learner, kind):
    told = why(learner, kind)
    plain = told.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["predicted"] == told.predicted
    assert [len(part["patterns"]) for part in plain["models"]] == [
        len(part.patterns) for part in told.models
    ]


def test_classes_that_are_numbers_are_texts_in_the_dict():
    X, y = rx.from_lists([["a"], ["b"]] * 2, [1, 2] * 2)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    told = rx.explain(model, X[0])
    assert told.predicted == 1
    assert [*told.to_dict()["posterior"]] == ["1", "2"]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("learner", ["naive Bayes", "forest"])
def test_the_frame_has_a_row_for_each_pattern_and_class(learner, backend):
    told = why(learner)
    table = told.to_frame(backend=backend)
    assert len(table) == sum(2 * len(part.patterns) for part in told.models)
    rows = [dict(zip(table.columns, row, strict=True)) for row in _tuples(table)]
    first, effect = rows[0], told.models[0].patterns[0]
    assert (first["model"], first["class"]) == ("c.1 against c.2", "c.1")
    assert (first["pattern"], first["words"]) == (str(effect.pattern), effect.words)
    assert first["present"] == effect.present
    for row in rows:
        assert isnan(row["contribution"]) == (learner == "forest")
        assert isnan(row["share_change"]) == (learner != "forest")
        assert (row["matches"] > 0) == (row["events"] != "") == (row["present"] == 1)
    if learner != "forest":
        for part in told.models:
            name = " against ".join(part.classes)
            for c in part.classes:
                mine = [r["contribution"] for r in rows if (r["model"], r["class"]) == (name, c)]
                assert sum(mine) + part.prior[c] == pytest.approx(part.scores[c], abs=1e-9)


def _tuples(table):
    return table.itertuples(index=False) if hasattr(table, "itertuples") else table.iter_rows()


def test_the_frame_of_one_model_names_all_classes():
    assert {*why(kind="single").to_frame()["model"]} == {"all classes"}


def test_html_is_escaped():
    evil = "<script>alert('\"')</script>"
    X, y = rx.from_lists([[("p", evil)], [("p", "b")]] * 2, [evil, "y"] * 2)
    X = rx.Sequences.from_atoms([x.atoms for x in X], ids=[evil, "2", "3", "4"], labels=y)
    model = rx.LynxClassifier(max_length=1, selection=None).fit(X, y)
    page = rx.explain(model, X[0])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_html_has_a_table_of_classes_and_one_for_each_rival():
    told = why()
    page = told._repr_html_()
    assert page.count("<table>") == 5
    for c, share in told.posterior.items():
        assert f"<td>{c}</td><td>{share:.3f}</td><td>{told.votes[c]}</td>" in page


# What is refused


def message_of(*args):
    with pytest.raises(InputError) as caught:
        rx.explain(*args)
    return str(caught.value)


def test_a_model_that_is_not_fitted_is_refused():
    assert message_of(rx.LynxClassifier(), folds().X[0]) == (
        "the model is not fitted\nhint: call model.fit(X, y) first"
    )


@pytest.mark.parametrize(
    ("model", "name"),
    [(rx.PatternNB(), "PatternNB"), (make_pipeline(rx.LynxClassifier()), "Pipeline")],
)
def test_an_estimator_of_another_kind_is_refused(model, name):
    assert message_of(model, folds().X[0]) == (
        f"explain takes a LynxClassifier, not a {name}\n"
        "hint: in a pipeline it is the last step: explain(pipeline[-1], X[i])"
    )


@pytest.mark.parametrize("some", [slice(0, 0), slice(0, 3)])
def test_several_sequences_are_refused(some):
    X = folds().X[some]
    assert message_of(fitted(), X) == (f"explain takes one sequence, not {len(X)}\nhint: give X[i]")


def test_sequences_with_one_sequence_are_taken():
    assert rx.explain(fitted(), folds().X[[5]]) == why()


def test_a_list_is_refused():
    assert message_of(fitted(), ["a", "b"]) == (
        "explain takes a sequence of Sequences, not a list\n"
        "hint: make Sequences of lists by X, y = rx.from_lists(...), and give X[i]"
    )


def test_a_loaded_model_explains_as_the_saved_one(tmp_path):
    rx.save(fitted(), tmp_path / "m.relynx")
    assert rx.explain(rx.load(tmp_path / "m.relynx"), folds().X[5]) == why()


# Classes that are ruled out


@pytest.fixture(scope="module")
def all_out():
    """What is said of a sequence both of whose classes are ruled out."""
    X, y = rx.planted_rule(60, random_state=0)
    T, _ = rx.planted_rule(120, flip=0.3, random_state=5)
    model = rx.LynxClassifier(max_length=2, smoothing=0, n_features=8, max_iter=4, random_state=0)
    model.fit(X, y)
    return next(why for why in (rx.explain(model, one) for one in T) if why.models[0].none_left)


def test_where_every_class_is_ruled_out_the_finite_parts_sum_to_the_score(all_out):
    [part] = all_out.models
    least = min(part.ruled_out.values())
    for c in part.classes:
        infinite = sum(np.isinf(one.contributions[c]) for one in part.patterns)
        assert part.ruled_out[c] == infinite > 0
        total = part.prior[c] + sum(one.parts[c] for one in part.patterns)
        if infinite == least:
            assert part.scores[c] == pytest.approx(total, abs=1e-9)
        else:
            assert part.scores[c] == -np.inf
    assert json.loads(json.dumps(all_out.to_dict()))["models"][0]["patterns"][0]["parts"]


def test_where_every_class_is_ruled_out_the_text_says_what_decides(all_out):
    text = " ".join(str(all_out).split())
    assert (
        "Each class is ruled out by a pattern; the finite terms decide. yes wins against no:"
        in text
    )
    assert (
        "Where each class is ruled out, the total is the sum of the prior and of the finite parts "
        "of the terms, `parts` in to_dict()."
    ) in text
    assert "The prior and all patterns sum to the total." not in text
    assert "Each class is ruled out by a pattern; the finite terms decide." in all_out._repr_html_()


def test_a_class_that_is_ruled_out_more_often_loses(all_out):
    [part] = all_out.models
    told = replace(part, scores={**part.scores, "no": -np.inf}, ruled_out={"yes": 1, "no": 2})
    text = " ".join(str(replace(all_out, models=(told,))).split())
    assert "the finite terms decide. yes wins against no: no is ruled out more often." in text


def test_parts_are_the_contributions_where_nothing_is_ruled_out():
    X, y = rx.planted_rule(60, random_state=0)
    model = rx.LynxClassifier(max_length=2, max_iter=4, random_state=0).fit(X, y)
    [part] = rx.explain(model, X[0]).models
    assert not part.none_left
    assert all(one.parts == one.contributions for one in part.patterns)


# Names of classes


def test_names_of_classes_show_every_character():
    X, y = rx.planted_rule(40, random_state=0)
    names = np.where(y == "yes", "y\x1b[31mes\nx", "n\u202eo")
    model = rx.LynxClassifier(max_length=2, max_iter=3, n_features=2, random_state=0).fit(X, names)
    why = rx.explain(model, X.with_labels(names[::-1])[0])
    for text in (str(why), why._repr_html_()):
        assert all(c.isprintable() or c == "\n" for c in text)
        assert "y\\x1b[31mes\\nx" in text
        assert "n\\u202eo" in text


def test_of_many_classes_the_most_probable_are_told():
    names = [f"北京 {i}" if i % 2 else f"place {i}" for i in range(30)]
    X, y = rx.from_lists([[f"a{i % 30}"] for i in range(60)], [names[i % 30] for i in range(60)])
    told = str(rx.explain(rx.LynxClassifier(max_length=1, random_state=0).fit(X, y), X[0]))
    table = told.split("\n\n")[1].splitlines()
    assert len(table) == 12
    assert table[1].split()[:2] == ["place", "0"]
    assert table[-1] == "  and 20 other classes, in to_dict()"
    assert len({n_cells(line) for line in table[:-1]}) == 1
