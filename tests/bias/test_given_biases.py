"""A bias may be given as itself, as its text, or as the path of its file, wherever one is taken."""

import pytest
from golden_texts import refusals
from sklearn.base import clone

import relynx as rx

TEXT = "type(a(event)). mode(a(+)). type(b(event)). mode(b(+)). dimension(next_s). maxsize(2)."
BIAS = rx.parse_bias(TEXT)
X, Y = rx.from_lists([["a", "b"], ["b", "a"], ["a", "b", "c"], ["c", "b"]] * 5, list("udud") * 5)
ESTIMATORS = {
    "lynx": rx.LynxClassifier(random_state=0),
    "vectorizer": rx.PatternVectorizer(),
    "LoHMM": rx.LoHMMClassifier(max_iter=2),
    "Fisher": rx.FisherScores(max_iter=2),
    "TildeCRF": rx.TildeCRFClassifier(max_iter=2),
}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "ab.l").write_text(TEXT)
    return tmp_path / "ab.l"


def answers(model):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_takes_the_text_of_a_bias_or_a_path(name, path):
    wanted = answers(clone(ESTIMATORS[name]).set_params(bias=BIAS).fit(X, Y))
    for given in (TEXT, path, str(path)):
        model = clone(ESTIMATORS[name]).set_params(bias=given)
        assert model.get_params()["bias"] is given
        assert clone(model).bias == given
        assert (answers(model.fit(X, Y)) != wanted).sum() == 0


def test_mine_takes_the_text_of_a_bias_or_a_path(path):
    wanted = list(rx.mine(X, Y, BIAS).texts())
    for given in (TEXT, path, str(path)):
        assert list(rx.mine(X, Y, given).texts()) == wanted


@pytest.mark.parametrize("name", ["lynx", "vectorizer", "TildeCRF"])
def test_a_model_is_saved_after_the_file_of_its_bias_is_gone(name, path):
    model = clone(ESTIMATORS[name]).set_params(bias=path).fit(X, Y)
    path.unlink()
    saved = path.with_suffix(".relynx")
    rx.save(model, saved)
    again = rx.load(saved)
    assert again.bias == BIAS
    assert (answers(again) != answers(model)).sum() == 0


def test_the_text_of_a_bias_may_have_several_lines():
    assert rx.mine(X, Y, "type(a(event)).\nmode(a(+)).").classes == ("d", "u")


WRONG = {
    "given_number": (3,),
    "given_word": ("he",),
    "given_file_that_is_missing": ("toy.l",),
    "given_text_with_an_unknown_type": ("type(a(event)). mode(aa(+)).",),
    "given_text_that_is_no_prolog": ("type(a(event)).\nmode(a(+).",),
    "given_text_that_is_empty": ("  ",),
}


test_a_wrong_bias_is_refused_at_each_door = refusals(
    "given_bias", lambda given: rx.LynxClassifier(given).fit(X, Y), WRONG
)
