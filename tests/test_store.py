"""Saving and loading: the same answers and the same bytes, today and from files of the past."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import paths
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import LinearSVC
from stored_models import MODELS, PARTS, QUICK, M, X, Y, answers, fitted, lynx, members, same

from relynx import (
    GraspSelector,
    InputError,
    LynxClassifier,
    PatternNB,
    PatternSet,
    PatternVectorizer,
    TildeCRF,
    from_lists,
    load,
    mine,
    save,
)
from relynx.mining.patterns import model_file as pattern_parts
from relynx.mining.patterns.model_file import LEVEL_COUNTS
from relynx.mining.patterns.trie import Trie
from relynx.mining.report import SearchLevel
from relynx.models.lynx.pair_model import PairModel
from relynx.storage import archive, parts
from relynx.storage.fields import stored_state

GOLDEN = paths.GOLDEN / "store"
ONE_OF_A_KIND = (
    *("lynx", "lynx, a bias", "lynx, one logistic", "vectorizer", "TildeCRF", "Fisher scores"),
    *("LoHMM classifier", "LoHMM classifier, a text", "TildeCRF classifier", "Fisher kernel, RBF"),
)


# What comes back


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_exactly_as_the_saved_one(name, tmp_path):
    model = fitted(name)
    save(model, tmp_path / "m.relynx")
    again = load(tmp_path / "m.relynx")
    assert type(again) is type(model)
    same(answers(model), answers(again))


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_saves_as_the_same_bytes(name, tmp_path):
    save(fitted(name), tmp_path / "m.relynx")
    save(load(tmp_path / "m.relynx"), tmp_path / "again.relynx")
    assert (tmp_path / "m.relynx").read_bytes() == (tmp_path / "again.relynx").read_bytes()


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("patterns", "LoHMM")])
def test_a_loaded_model_has_its_parameters_and_can_be_cloned_and_fitted(name, tmp_path):
    model = fitted(name)
    save(model, tmp_path / "m.relynx")
    again = load(tmp_path / "m.relynx")
    before, after = model.get_params(), again.get_params()
    assert repr(before) == repr(after) or {
        key: repr(value) for key, value in before.items() if key != "bias"
    } == {key: repr(value) for key, value in after.items() if key != "bias"}
    assert before.get("bias") == after.get("bias")
    assert {*vars(again)} == {*vars(model)}
    if name in ONE_OF_A_KIND:
        target = PARTS if isinstance(model, TildeCRF) else Y
        same(answers(clone(again).fit(X, target)), answers(model))


def test_what_the_pairs_learnt_comes_back(tmp_path):
    model = fitted("lynx")
    save(model, tmp_path / "m.relynx")
    again = load(tmp_path / "m.relynx")
    assert again.bias_ == model.bias_
    assert again.selected_ == model.selected_
    for one, other in zip(model.estimators_, again.estimators_, strict=True):
        assert one.patterns == other.patterns
        assert one.patterns.report == other.patterns.report
        assert one.selector.history_ == other.selector.history_
        assert one.selector.errors_ == other.selector.errors_
        assert one.estimator.alpha_.tobytes() == other.estimator.alpha_.tobytes()
        assert one.selected.tolist() == other.selected.tolist()


@pytest.mark.parametrize(
    "labels",
    [
        np.where(Y == "x", "long label", "s"),
        np.where(Y == "x", 7, -(2**40)),
        np.where(Y == "x", 1, 0).astype(np.int8),
        np.where(Y == "x", 1.0, -2.0),
        Y == "x",
        np.where(Y == "x", "x", "other").astype(object),
        np.array(["\u00e9\u4e2d'\"\\\n" if label == "x" else "" for label in Y]),
    ],
)
@pytest.mark.parametrize("final", [None, LinearSVC()])
def test_classes_keep_their_type(labels, final, tmp_path):
    model = lynx(final_estimator=final).fit(X, labels)
    save(model, tmp_path / "m.relynx")
    again = load(tmp_path / "m.relynx")
    assert again.classes_.dtype == model.classes_.dtype
    assert [*map(type, again.classes_.tolist())] == [*map(type, model.classes_.tolist())]
    assert again.predict(X).dtype == model.predict(X).dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_constants_of_all_kinds_come_back(tmp_path):
    lists = [
        [("p", 1), ("p", 1.0)],
        [("p", "1"), ("p", "it's \u00e9")],
        [("p", -0.5), ("p", 1)],
    ] * 3
    found = mine(*from_lists(lists, [0, 1, 0] * 3), max_length=2)
    save(found, tmp_path / "p.relynx")
    again = load(tmp_path / "p.relynx")
    assert again == found
    assert [*again.patterns()] == [*found.patterns()]


def test_a_file_has_only_the_constants_that_its_patterns_use(tmp_path):
    lists = [[("p", "used"), ("p", f"secret{i}")] for i in range(20)]
    found = mine(*from_lists(lists, [0, 1] * 10), max_length=1, min_support=0.5)
    save(found, tmp_path / "p.relynx")
    assert b"secret" not in members(tmp_path / "p.relynx")["model.json"]
    assert load(tmp_path / "p.relynx").trie.vocabulary.constants == ("used",)


def test_a_part_of_a_set_is_saved_alone(tmp_path):
    found = mine(X, Y, max_length=2)
    save(found[[5, 2]], tmp_path / "p.relynx")
    again = load(tmp_path / "p.relynx")
    assert again == found[[5, 2]]
    assert len(again.trie) < len(found.trie)


def test_an_empty_set_of_patterns_comes_back(tmp_path):
    save(mine(X, Y)[:0], tmp_path / "p.relynx")
    assert load(tmp_path / "p.relynx") == mine(X, Y)[:0]


def test_highly_regular_data_do_not_look_like_a_bomb(tmp_path):
    selector = GraspSelector(1, random_state=0).fit(np.tile([[1], [0]], (2, 1)), [1, 0, 1, 0])
    n = 30_000_000
    selector.n_features_in_, selector.support_ = n, np.zeros(n, bool)
    save(selector, tmp_path / "m.relynx")
    assert load(tmp_path / "m.relynx").support_.shape == (n,)


@pytest.mark.parametrize(
    ("kept", "cls"),
    [
        (PairModel.STORED, PairModel),
        ({*LEVEL_COUNTS, "nearest_support", "nearest_frequency"}, SearchLevel),
    ],
)
def test_every_field_of_a_record_is_kept(kept, cls):
    assert {*kept} == {field.name for field in dataclasses.fields(cls)}


def test_every_field_of_a_pair_model_and_a_trie_is_kept():
    pair = fitted("lynx").estimators_[0]
    state = stored_state(pair, PairModel.STORED)
    assert {*state} == {field.name for field in dataclasses.fields(PairModel)}
    # A key is kept where there is one, and coverage of training sequences is not.
    columns = {field.name for field in dataclasses.fields(Trie)} - {"vocabulary", "key"}
    assert columns <= {*state["patterns"]}
    own = {*vars(pair.patterns)} - {"trie", "report", "kept_coverage"}
    assert own <= {*state["patterns"]}


# The same model is the same file


@pytest.mark.filterwarnings("ignore:.* left out")
def test_processes_workers_and_hash_seeds_do_not_change_a_byte(tmp_path, monkeypatch):
    code = (
        "import sys, relynx as rx; X, y = rx.planted_rule(60, flip=0.1, random_state=0);"
        " y = [a + str(i % 2) for i, a in enumerate(y)];"
        " m = rx.LynxClassifier(max_length=2, max_iter=4, n_features=None, significance=None,"
        " n_jobs=int(sys.argv[1]), random_state=0).fit(X, y); rx.save(m, sys.argv[2])"
    )
    here, there = tmp_path / "1.relynx", tmp_path / "2.relynx"
    monkeypatch.setattr(sys, "argv", ["", "1", str(here)])
    exec(code, {})
    subprocess.run(
        [sys.executable, "-c", code, "2", str(there)],
        env={**os.environ, "PYTHONHASHSEED": "2"},
        check=True,
        timeout=300,
    )
    assert here.read_bytes() == there.read_bytes()


def test_the_number_of_workers_is_not_kept(tmp_path):
    save(lynx(n_jobs=2).fit(X, Y), tmp_path / "m.relynx")
    assert load(tmp_path / "m.relynx").n_jobs is None


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "m.relynx"
    save(fitted("patterns"), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError) as caught:
        save(fitted("naive Bayes"), path)
    assert str(caught.value) == (
        f"{path}: this file cannot be written (No space left on device)\n"
        "hint: the disk is full: make room, or write to another one"
    )
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.relynx"]


# What is refused before anything is written


class Mine(LynxClassifier):
    """A class of somebody else."""


def other_attribute():
    model = PatternVectorizer(max_length=1).fit(X, Y)
    model.extra_ = 1
    return model


KINDS_HINT = (
    "hint: give a LynxClassifier, PatternVectorizer, PatternNB, GraspSelector, PatternSet, LoHMM,"
    " LoHMMClassifier, TildeCRF, TildeCRFClassifier, FisherScores or FisherKernelClassifier"
)
REFUSED = {
    "another object": (lambda: [1], f"a list cannot be saved\n{KINDS_HINT}"),
    "a class of the user": (
        lambda: Mine(**QUICK).fit(X, Y),
        f"a Mine cannot be saved\n{KINDS_HINT}",
    ),
    "not fitted": (
        lambda: LynxClassifier(),
        "this LynxClassifier is not fitted\nhint: call fit before save",
    ),
    "a learner that is not ours": (
        lambda: lynx(final_estimator=HistGradientBoostingClassifier(max_iter=2)).fit(X, Y),
        "a model file cannot keep the final estimator HistGradientBoostingClassifier\n"
        "hint: it keeps PatternNB, BernoulliNB, LinearSVC, LogisticRegression, Perceptron,"
        " RidgeClassifier, SGDClassifier, and a Pipeline of MaxAbsScaler or StandardScaler with"
        " one of them; for another use joblib.dump, and load only files that you trust",
    ),
    "a generator": (
        lambda: GraspSelector(2, random_state=np.random.RandomState(0)).fit(M, Y),
        "random_state of GraspSelector is RandomState(MT19937) at 0x..., which a model file cannot"
        " keep\nhint: it keeps numbers, texts, lists, tuples, dicts and arrays of numbers",
    ),
    "an attribute of the user": (
        other_attribute,
        "PatternVectorizer has an attribute 'extra_' that a model file does not keep\n"
        "hint: delete it before you save",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_file_cannot_keep_is_refused(name, tmp_path):
    make, message = REFUSED[name]
    with pytest.raises(InputError) as caught:
        save(make(), tmp_path / "m.relynx")
    text = str(caught.value)
    if "0x" in message:
        start = text.index(" at 0x")
        text = text[:start] + " at 0x..." + text[text.index(",", start) :]
    assert text == message
    assert os.listdir(tmp_path) == []


def test_a_fitted_learner_is_not_taken_for_one_that_is_not(tmp_path):
    model = lynx(final_estimator=LinearSVC()).fit(X, Y)
    del model.estimators_[0].estimator.n_features_in_
    with pytest.raises(
        AttributeError, match="'LinearSVC' object has no attribute 'n_features_in_'"
    ):
        save(model, tmp_path / "m.relynx")


def test_classes_of_another_kind_are_refused(tmp_path):
    model = PatternNB().fit(M, Y)
    model.classes_ = np.array([None, "y", "z"], object)
    with pytest.raises(InputError) as caught:
        save(model, tmp_path / "m.relynx")
    assert str(caught.value) == (
        "PatternNB has the class None, which a model file cannot keep\n"
        "hint: it keeps classes that are texts, finite numbers or truth values"
    )


def test_a_model_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 1 << 10)
    with pytest.raises(InputError) as caught:
        save(fitted("patterns"), tmp_path / "m.relynx")
    assert str(caught.value) == (
        f"{tmp_path / 'm.relynx'}: the model takes 0 MiB in 6 members, 0 MiB of them text\n"
        "hint: a model file holds at most 0 MiB in 200,000 members, 64 MiB text: keep fewer"
        " patterns"
    )


def test_a_pattern_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pattern_parts, "MOST_STEPS", 1)
    with pytest.raises(InputError) as caught:
        save(fitted("patterns"), tmp_path / "m.relynx")
    assert str(caught.value) == (
        "a pattern has more than 1 steps, which a model file cannot keep\n"
        "hint: mine with a smaller max_length"
    )


def test_a_bias_that_is_too_long_is_refused_before_and_after(tmp_path, monkeypatch):
    path = tmp_path / "m.relynx"
    model = fitted("vectorizer")
    n = len(str(dataclasses.replace(model.bias_, notes=())))
    save(model, path)
    monkeypatch.setattr("relynx.bias.model_file.LONGEST_BIAS", 10)
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}: bias_ has {n} characters, more than 10\nhint: {parts.DAMAGED}"
    )
    with pytest.raises(InputError) as caught:
        save(model, path)
    assert str(caught.value) == (
        f"the bias is a text of {n} characters, which a model file cannot keep\n"
        "hint: it keeps 10: declare fewer values and constraints"
    )


# Files of the past


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.relynx")), ids=lambda path: path.stem)
def test_a_file_of_the_past_is_read_as_ever(path):
    said = json.loads(path.with_suffix(".json").read_text())
    model = load(path)
    assert type(model).__name__ == said["kind"]
    if "rows" in said:
        X_new = np.array(said["rows"])
    else:
        X_new = from_lists([[*map(_event, one)] for one in said["sequences"]])[0]
    if "patterns" in said:
        patterns = model if isinstance(model, PatternSet) else model.patterns_
        assert [*map(str, patterns)] == said["patterns"]
    if "supports" in said:
        assert model.supports.tolist() == said["supports"]
    if "selected" in said:
        assert [*model.selected_.texts()] == said["selected"]
    if "classes" in said:
        assert model.predict(X_new).tolist() == said["classes"]
        assert np.allclose(model.predict_proba(X_new), said["shares"], rtol=1e-9, atol=1e-12)
    if "matrix" in said:
        matrix = model.transform(X_new)
        matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        assert matrix.tolist() == said["matrix"]


def _event(one):
    return tuple(one) if isinstance(one, list) else one


def test_there_is_a_file_of_each_kind():
    kinds = {json.loads(path.read_text())["kind"] for path in GOLDEN.glob("*.json")}
    assert kinds == {*("LynxClassifier", "PatternVectorizer", "PatternNB", "GraspSelector")} | {
        "PatternSet"
    }
