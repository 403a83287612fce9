"""The optimal model of the Lynx classifier: what it takes, its certificate, what is stored."""

import numpy as np
import pytest
from test_sparse_model import letters, only, same

import relynx as rx
from relynx import InputError, LynxClassifier, cli, from_lists, parse_bias
from relynx.mining.bounded import Language
from relynx.search_settings import SearchSettings

KINDS = " ".join(f"type({c}(event)). mode({c}(+))." for c in "abcd")
LANGUAGE = f"{KINDS} dimension(next_s). maxsize(2)."


def optimal(**settings):
    return LynxClassifier(**{"method": "optimal", "max_length": 2, "random_state": 0} | settings)


@pytest.fixture(scope="module")
def data():
    return letters()


@pytest.fixture(scope="module")
def three(data):
    return optimal().fit(*data)


@pytest.fixture(scope="module")
def two(data):
    return optimal(penalty=0.1).fit(*only(*data, "x", "z"))


@pytest.fixture(scope="module", params=["two", "three"])
def model(request):
    return request.getfixturevalue(request.param)


# What it takes

GRASP, SPARSE = "method='grasp'", "method='sparse'"


@pytest.mark.parametrize(
    ("settings", "what", "hint"),
    [
        (
            {"max_iter": 5},
            "max_iter is no parameter of method='optimal'",
            f"leave out max_iter, or give {GRASP}",
        ),
        (
            {"min_support": 0.1},
            "min_support is no parameter of method='optimal'",
            f"leave out min_support, or give {SPARSE}",
        ),
        (
            {"budget": 2.0},
            "budget is no parameter of method='optimal'",
            f"leave out budget, or give {SPARSE}",
        ),
        (
            {"checkpoint": "folder"},
            "checkpoint is no parameter of method='optimal'",
            f"leave out checkpoint, or give {SPARSE}",
        ),
        (
            {"bias": parse_bias(f"{LANGUAGE} minsupport(0.2).")},
            "the bias has a min_support, and method='optimal' is about all patterns",
            f"leave it out of the bias, or give {SPARSE}",
        ),
        (
            {"bias": parse_bias(f"{LANGUAGE} mincover(2).")},
            "the bias has a min_cover, and method='optimal' is about all patterns",
            f"leave it out of the bias, or give {SPARSE}",
        ),
        (
            {"bias": parse_bias(f"{LANGUAGE} prior(uniform).")},
            "the prior of the bias is for naive Bayes, which method='optimal' does not use",
            f"leave it out of the bias, or give {GRASP}",
        ),
        (
            {"method": "auto", "penalty": 0.1},
            "penalty is no parameter of method='auto'",
            "leave out penalty, or give method='optimal'",
        ),
        (
            {"penalty": 0.0},
            "penalty is 0.0",
            "a share of the largest penalty, above 0 and up to 1, or None to find it",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(data, settings, what, hint):
    with pytest.raises(InputError) as caught:
        optimal(**settings).fit(*data)
    assert str(caught.value) == f"{what}\nhint: {hint}"


def test_a_given_penalty_is_a_share_of_the_largest(two):
    certificate = two.certificate_
    assert certificate.penalty == pytest.approx(0.1 * certificate.largest_penalty)
    assert certificate.scale == 1.0


def test_weights_of_sequences_count_as_copies_do(data):
    X, y = data
    twice = np.arange(len(y)) < 30
    copies = np.append(np.arange(len(y)), np.flatnonzero(twice))
    one = optimal(penalty=0.2).fit(X, y, np.where(twice, 2, 1))
    other = optimal(penalty=0.2, bias=one.bias_).fit(X[copies], y[copies])
    assert one.certificate_.objective == pytest.approx(other.certificate_.objective, abs=1e-7)
    assert one.class_prior_ == pytest.approx(other.class_prior_)


# What is learnt


def test_the_rule_of_the_letters_is_found(three, data):
    assert three.score(*data) == 1.0
    assert "a(A), next_s(A,B), b(B)" in three.selected_.texts()
    assert len(three.estimators_) == 1
    assert three.min_support_.tolist() == [0.0]


def test_threads_change_nothing(data, three):
    again = optimal(n_jobs=2).fit(*data)
    assert same(three, again)
    assert again.certificate_ == three.certificate_


def test_the_order_of_the_sequences_changes_no_pattern(data):
    X, y = data
    order = np.random.default_rng(0).permutation(len(y))
    one, other = optimal(penalty=0.3).fit(X, y), optimal(penalty=0.3).fit(X[order], y[order])
    assert sorted(one.selected_.texts()) == sorted(other.selected_.texts())
    assert one.certificate_.objective == pytest.approx(other.certificate_.objective, abs=1e-7)


def test_it_is_at_least_as_good_as_what_has_fewer_patterns(data):
    long = optimal(penalty=0.2).fit(*data)
    share = 0.2 * long.certificate_.largest_penalty
    short = optimal(max_length=1).fit(*data)
    largest = short.certificate_.largest_penalty
    short = optimal(max_length=1, penalty=share / largest).fit(*data)
    assert short.certificate_.penalty == pytest.approx(long.certificate_.penalty)
    assert long.certificate_.objective < short.certificate_.objective


def test_the_bound_leaves_patterns_uncounted(data):
    X, y = data
    model = optimal(penalty=0.5, max_length=4).fit(X, y)
    settings = SearchSettings.of_estimator(model.bias_, model)
    language = Language(X, model.bias_, settings)
    while language.grow(np.ones(len(language), bool)):
        pass
    assert model.certificate_.nodes < 0.5 * language.nodes


def test_positive_constraints_are_of_what_is_selected_alone(data):
    bias = parse_bias(f"{LANGUAGE} posconstraint([b(A)]).")
    model = optimal(bias=bias, penalty=0.05).fit(*data)
    assert len(model.selected_)
    assert all("b(" in text for text in model.selected_.texts())
    assert any(text.startswith("a(") for text in model.selected_.texts())


def test_an_inferred_bias_says_what_was_searched(three):
    assert three.bias_.max_length == 2
    assert three.certificate_.max_length == 2


def test_sequences_that_are_equal_leave_the_prior_to_decide():
    X, y = from_lists([["a", "b"]] * 6, ["u", "u", "v", "v", "v", "v"])
    with pytest.warns(UserWarning, match="no pattern was found for u and v"):
        model = optimal().fit(X, y)
    assert model.predict(X).tolist() == ["v"] * 6
    assert model.certificate_.gap == 0.0


def test_where_memory_ends_the_gap_is_larger_and_told(data, monkeypatch):
    whole = optimal(penalty=0.1).fit(*data)
    grow = Language.grow

    def once(self, is_open):
        if self.reason is None and self.only is None:
            self.budget.memory_limit, self.budget._measured_at = 0, 0.0
        return grow(self, is_open)

    monkeypatch.setattr(Language, "grow", once)
    told = "at length 2\nthe gap of the certificate allows for all that was not counted$"
    with pytest.warns(UserWarning, match=told):
        model = optimal(penalty=0.1).fit(*data)
    assert set(model.selected_.lengths.tolist()) == {1}
    assert model.certificate_.gap > 1e-3
    least = model.certificate_.objective - model.certificate_.gap
    if model.certificate_.penalty <= whole.certificate_.penalty:
        assert least <= whole.certificate_.objective


# What is stored and said


def test_a_model_that_was_stored_predicts_the_same(model, tmp_path):
    X, _ = letters(30, seed=3)
    rx.save(model, tmp_path / "model.relynx")
    again = rx.load(tmp_path / "model.relynx")
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    assert again.certificate_ == model.certificate_
    assert (again.method, again.penalty) == ("optimal", model.penalty)


def test_partitions_are_predicted_as_sequences_are(model, tmp_path):
    X, _ = letters(30, seed=3)
    X.to_parquet(tmp_path / "parts", rows_per_partition=10)
    parts = rx.scan_parquet(tmp_path / "parts")
    assert model.predict(parts).tolist() == model.predict(X).tolist()


def test_explanations_sum_to_the_score(model):
    X, _ = letters(10, seed=3)
    scores = model.decision_function(X[:1])
    why = rx.explain(model, X[0])
    assert why.predicted == model.predict(X[:1])[0]
    [one] = why.models
    scores = [-scores[0], scores[0]] if scores.ndim == 1 else 2 * scores[0]
    explained = np.array([one.scores[name] for name in model.classes_.tolist()])
    assert 2 * (explained - explained[0]) == pytest.approx(scores - scores[0])


def test_the_report_has_the_certificate(model, data):
    X, y = data if len(model.classes_) == 3 else only(*data, "x", "z")
    page = rx.report(model, X, y)
    assert str(model.certificate_) in page.html
    assert str(model.certificate_) in str(page)


def test_the_certificate_says_what_it_is_about(two):
    found = two.certificate_
    assert str(found) == (
        f"objective {found.objective:.6f}, at most {found.gap:.1e} above the least with all "
        f"patterns of up to 2 atoms; penalty {found.penalty:.4g} of {found.largest_penalty:.4g}; "
        f"{found.nodes:,} candidates counted"
    )


def test_another_method_leaves_no_certificate(data):
    model = optimal(penalty=0.3).fit(*data)
    model.set_params(method="sparse", penalty=None).fit(*data)
    assert not hasattr(model, "certificate_")


def test_the_command_fits_and_shows_the_certificate(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rx.write_lynx(rx.planted_rule(60, random_state=0)[0], "train.m")
    how = ["--method", "optimal", "--penalty", "0.3", "--max-length", "2", "-o", "m.relynx"]
    assert cli.main(["fit", "train.m", *how]) == 0
    assert str(rx.load("m.relynx").certificate_) in capsys.readouterr().out
    how = ["--method", "optimal", "--checkpoint", "kept", "-o", "m.relynx"]
    assert cli.main(["fit", "train.m", *how]) == 2
    assert "checkpoint is no parameter of method='optimal'" in capsys.readouterr().err
