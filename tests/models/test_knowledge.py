"""A model carries what it knows of the facts: background rules, and predicates it asks for."""

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from golden_texts import refusals
from sklearn.base import clone

import relynx as rx
from relynx.logic.datalog import parse_background
from relynx.store import KINDS

RULES = parse_background("pair(E,F) :- a(E), next_s(E,F), b(F).  near(a,'B c', -1.5).")
LISTS = [list(text) for text in ("abcd", "bacd", "cabd", "dcba", "ccab", "bbaa", "abab", "dddd")]
FACTS, Y = rx.from_lists(LISTS * 5, ["x" if "ab" in "".join(s) else "y" for s in LISTS * 5])
X = FACTS.with_background(RULES)
BIAS = "type(pair(event,event)). mode(pair(+,-)). type(d(event)). mode(d(+)). dimension(next_s)."
MODELS = {
    "lynx": rx.LynxClassifier(BIAS, max_length=1, random_state=0),
    "vectorizer": rx.PatternVectorizer(BIAS, max_length=1),
    "tildecrf": rx.TildeCRFClassifier(BIAS, max_iter=2),
    "lohmm": rx.LoHMMClassifier(max_iter=2),
    "scores": rx.FisherScores(max_iter=2),
    "fisher": rx.FisherKernelClassifier(max_iter=2, C=1.0),
}


def answers(model, X):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return clone(MODELS[request.param]).fit(X, Y)


def test_a_model_file_holds_the_rules(model, tmp_path):
    rx.save(model, tmp_path / "m.relynx")
    again = rx.load(tmp_path / "m.relynx")
    assert again.background_ == model.background_ == RULES
    wanted = answers(model, X)
    for one in (model, again):
        for given in (X, FACTS, LISTS * 5):
            assert (answers(one, given) != wanted).sum() == 0


def test_rules_of_the_sequences_come_before_those_of_the_model():
    model = clone(MODELS["lynx"]).fit(X, Y)
    none = parse_background("pair(E,F) :- never(E,F).")
    assert len(set(model.predict(FACTS.with_background(none)).tolist())) == 1
    assert len(set(model.predict(FACTS).tolist())) == 2


def test_explain_and_report_know_the_rules():
    model = clone(MODELS["lynx"]).fit(X, Y)
    assert str(rx.explain(model, FACTS[0])) == str(rx.explain(model, X[0]))
    assert rx.report(model, FACTS, Y).data.patterns == rx.report(model, X, Y).data.patterns


def test_a_model_of_facts_without_rules_has_none():
    model = clone(MODELS["lynx"]).set_params(bias=None).fit(FACTS, Y)
    assert model.background_ is None


def test_an_older_file_has_no_rules(tmp_path):
    model = rx.PatternVectorizer(max_length=1).fit(FACTS, Y)
    rx.save(model, tmp_path / "m.relynx")
    del model.background_
    with pytest.raises(AttributeError):
        rx.save(model, tmp_path / "m.relynx")
    assert (model.transform(FACTS) != rx.load(tmp_path / "m.relynx").transform(FACTS)).sum() == 0
    with zipfile.ZipFile(tmp_path / "m.relynx") as archive:
        held = json.loads(archive.read("model.json"))
    assert held["background_"] is None
    assert [*KINDS["PatternVectorizer"].type.STORED][-2:] == ["background_", "reading_"]


TABLE = pd.DataFrame({"case": np.repeat(np.arange(40), 4), "step": np.tile(list("abcd"), 40)})
TABLE["step"] = np.where(np.arange(160) % 7 == 0, "d", TABLE["step"])
LABELS = ["up", "down"] * 20
ASKS = rx.PatternVectorizer(max_length=1, min_support=0.1).fit(
    TABLE.assign(amount=np.arange(160) % 3), LABELS, sequence="case"
)
FEW = rx.PatternVectorizer(max_length=1).fit(LISTS * 5, Y)
OTHERS = [["A", "B"], ["B", "cc"]] * 4


def without_amounts(n):
    return TABLE[TABLE["case"] < n].assign(amount=None)


# A fitted model, and facts that lack a predicate that it asks for.
LACKING = {
    "of_a_table": (ASKS, without_amounts(10)),
    "of_lists": (FEW, OTHERS),
    "of_other_names": (FEW, [["aa", "bb", "b", "cc"]] * 20),
    "of_rules_that_are_not_known": (
        clone(MODELS["lynx"]).fit(
            X.with_background(parse_background("pair(E,F) :- a(E), next_s(E,F).")), Y
        ),
        rx.from_lists([["b"]] * 300)[0].with_background(parse_background("two(a).")),
    ),
    "by_explain": (ASKS, without_amounts(12)),
}


test_predicates_that_all_facts_lack_are_an_error = refusals(
    "missing_predicates", lambda model, given: answers(model, given), LACKING
)


def test_few_sequences_may_lack_a_predicate():
    assert ASKS.transform(without_amounts(1)).shape[0] == 1
    with pytest.warns(UserWarning, match="no sequence has a fact amount/2, which all 40 training"):
        ASKS.transform(without_amounts(3))


def test_a_part_of_sequences_lacks_nothing_that_the_whole_has():
    where = np.array([i for i, one in enumerate(LISTS * 5) if "d" not in one])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FEW.transform(FACTS[where]).shape[0] == len(where) > 9


def test_missing_predicates_may_be_allowed():
    allowed = clone(FEW).set_params(missing_predicates="ignore").fit(LISTS * 5, Y)
    assert not allowed.transform(OTHERS).toarray().any()
    told = clone(FEW).set_params(missing_predicates="warn").fit(LISTS * 5, Y)
    with pytest.warns(UserWarning, match="no sequence has a fact a/1"):
        told.transform(OTHERS)


def test_covers_warns_of_a_predicate_that_no_sequence_has():
    events, _ = rx.from_events({"case": [1, 1], "event": ["buy", "pay"]}, sequence="case")
    for pattern, message in {
        "evnt(A,buy)": "no sequence has a fact evnt/2: did you mean 'event'?",
        "amount(A,3)": "no sequence has a fact amount/2",
    }.items():
        with pytest.warns(UserWarning, match="no sequence has") as caught:
            assert rx.covers(pattern, events).tolist() == [False]
        assert [str(one.message) for one in caught] == [message]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rx.covers("event(A,buy), next_s(A,B), event(B,sell)", events).tolist() == [False]
