"""Models of every kind that a file can keep, and files that are forged, for tests of the store."""

import hashlib
import io
import json
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from relynx import (
    FisherKernelClassifier,
    FisherScores,
    GraspSelector,
    LoHMM,
    LoHMMClassifier,
    LynxClassifier,
    PatternNB,
    PatternSet,
    PatternVectorizer,
    TildeCRF,
    TildeCRFClassifier,
    from_lists,
    mine,
    parse_bias,
)
from relynx.models.observations import observations

COIN = """
0.5 : heads <- start.
0.5 : tails <- start.
0.3 : heads <- a - heads.
0.3 : tails <- b - heads.
0.2 : tails <- c - heads.
0.2 : tails <- d - heads.
0.1 : heads <- a - tails.
0.2 : tails <- b - tails.
0.3 : heads <- c - tails.
0.4 : heads <- d - tails.
"""
QUICK = {"max_length": 2, "max_iter": 3, "n_features": 5, "random_state": 0}
BIAS = "type(a(event)). mode(a(+)). type(b(event)). mode(b(+)). dimension(next_s). maxsize(2)."
UNSEEN = from_lists([["a", "b"], ["never"], ["c", "new", "a", "b"], ["d"] * 5, ["c"]])[0]


def letters(n=60, seed=0):
    """Three classes: `ab` in a row, else `c` somewhere, else neither."""
    rng = np.random.default_rng(seed)
    lists = [rng.choice(list("abcd"), size=5, p=[0.35, 0.3, 0.1, 0.25]).tolist() for _ in range(n)]
    kinds = ["x" if "ab" in "".join(s) else "y" if "c" in s else "z" for s in lists]
    return from_lists(lists, kinds)


X, Y = letters()
PARTS = [["one" if i % 2 else "other" for i in range(5)] for _ in range(len(X))]
M = PatternVectorizer(max_length=1).fit(X, Y).transform(X).toarray()
FRAME = pd.DataFrame(M, columns=list("pqrs"))


def lynx(**options):
    return LynxClassifier(**QUICK | options)


MODELS = {
    "lynx": lynx(n_features="validated"),
    "lynx, one model": lynx(multiclass="single"),
    "lynx, all patterns": lynx(selection=None, prior={"x": 2, "y": 1, "z": 1.5}),
    "lynx, a bias": lynx(bias=parse_bias(BIAS), prior="uniform", moves=["add"]),
    "lynx, no smoothing": lynx(smoothing=0, objective="balanced", n_features=3),
    "lynx, nothing to tell apart": lynx(min_support=1.0, max_length=1, min_frequency=61),
    "lynx, logistic": lynx(final_estimator=LogisticRegression(C=0.5)),
    "lynx, one logistic": lynx(multiclass="single", final_estimator=LogisticRegression()),
    "lynx, SVM": lynx(final_estimator=LinearSVC(fit_intercept=False)),
    "lynx, ridge": lynx(final_estimator=RidgeClassifier(class_weight={0: 1, 1: 2.5})),
    "lynx, one ridge": lynx(multiclass="single", final_estimator=RidgeClassifier()),
    "lynx, SGD": lynx(final_estimator=SGDClassifier(loss="log_loss")),
    "lynx, perceptron": lynx(final_estimator=Perceptron()),
    "lynx, Bernoulli": lynx(final_estimator=BernoulliNB(alpha=0.5)),
    "lynx, scaled": lynx(final_estimator=make_pipeline(StandardScaler(), LinearSVC())),
    "lynx, sparse": lynx(final_estimator=make_pipeline(MaxAbsScaler(), LogisticRegression())),
    "lynx, not centred": lynx(
        final_estimator=make_pipeline(StandardScaler(with_mean=False, with_std=False), PatternNB())
    ),
    "lynx, optimal": LynxClassifier(method="optimal", penalty=0.1, max_length=2),
    "vectorizer": PatternVectorizer(max_length=2, top_k=12),
    "vectorizer, frames": PatternVectorizer(max_length=1).set_output(transform="pandas"),
    "naive Bayes": PatternNB(0.5, prior=[0.2, 0.3, 0.5]),
    "naive Bayes, no smoothing": PatternNB(0, prior="uniform", threshold=None),
    "GRASP": GraspSelector(5, random_state=1),
    "GRASP, frames": GraspSelector(5, smoothing=0, random_state=1).set_output(transform="pandas"),
    "patterns": None,
    "LoHMM": None,
    "LoHMM classifier": LoHMMClassifier(blocks=(1, 3), prior={"x": 1, "y": 2, "z": 1}),
    "LoHMM classifier, a bias": LoHMMClassifier(bias=parse_bias(BIAS), n_hidden=2, random_state=0),
    "LoHMM classifier, a text": LoHMMClassifier(COIN, max_iter=2),
    "LoHMM classifier, a model": LoHMMClassifier(LoHMM.parse(COIN), max_iter=2),
    "TildeCRF": TildeCRF(window=1, max_iter=2),
    "TildeCRF, held out": TildeCRF(max_iter=4, n_iter_no_change=2, random_state=0),
    "TildeCRF classifier": TildeCRFClassifier(window=1, max_iter=2),
    "TildeCRF classifier, chain": TildeCRFClassifier(
        bias=parse_bias(BIAS), max_iter=2, training="chain", readout="viterbi"
    ),
    "Fisher scores": FisherScores(coordinates="raw").set_output(transform="pandas"),
    "Fisher scores, one model": FisherScores(models="single"),
    "Fisher kernel": FisherKernelClassifier(C=2.0),
    "Fisher kernel, RBF": FisherKernelClassifier(kernel="rbf", standardise=True, random_state=0),
}


@cache
def fitted(name):
    """A model of the table, fitted."""
    if name == "patterns":
        return mine(X, Y, max_length=2, min_confidence=0.6)
    if name == "LoHMM":
        return LoHMM.parse(COIN).fit(observations(X), max_iter=2)
    model = clone(MODELS[name])
    if isinstance(model, TildeCRF):
        return model.fit(X, PARTS)
    if name == "lynx, nothing to tell apart":
        with pytest.warns(UserWarning, match="the prior decides"):
            return model.fit(X, Y)
    if isinstance(model, PatternNB | GraspSelector):
        return model.fit(FRAME if "frames" in name else M, Y)
    return model.fit(X, Y)


def answers(model):
    """All that a model says of sequences, seen and unseen."""
    if isinstance(model, PatternSet):
        texts = np.array([*model.texts()])
        return [texts, model.supports, model.coverage(UNSEEN), np.array(model.explain_search())]
    if isinstance(model, PatternNB):
        return [model.predict(M), model.predict_proba(M), model.decision_function(M)]
    if isinstance(model, GraspSelector):
        inputs = FRAME if hasattr(model, "feature_names_in_") else M
        return [model.get_support(), np.asarray(model.transform(inputs)), model.history_]
    if isinstance(model, PatternVectorizer):
        return [_dense(model.transform(one)) for one in (X, UNSEEN)]
    if isinstance(model, LoHMM):
        rows = observations(X)
        counts, likelihoods = model.expected_counts(rows)
        return [counts, likelihoods, list(model.history), [str(model)]]
    if isinstance(model, FisherScores):
        return [np.asarray(model.transform(one)) for one in (X, model_input(model))]
    if isinstance(model, TildeCRF):
        found = [
            np.concatenate(f(one))
            for f in (model.predict, model.predict_marginals)
            for one in (X, UNSEEN)
        ]
        return [*found, model.classes_, model.history_, model.held_out_, [str(model)]]
    if isinstance(model, TildeCRFClassifier):
        found = [f(one) for f in (model.predict, model.predict_proba) for one in (X, UNSEEN)]
        return [*found, model.classes_, model.class_prior_, [str(model)]]
    if isinstance(model, LoHMMClassifier | FisherKernelClassifier):
        both = (X, model_input(model))
        said = [f(one) for f in (model.predict, model.decision_function) for one in both]
        return [*said, model.classes_, [str(model)]]
    said = [f(one) for f in (model.predict, model.predict_proba) for one in (X, UNSEEN)]
    tables = [model.class_prior_, model.classes_, np.array([*map(str, model.patterns_)])]
    with np.errstate(invalid="ignore"):
        return [*said, *tables, *answers(model.selected_)]


def model_input(model):
    """Sequences that were not seen; a structure that is given cannot tell all letters."""
    return X[:7] if model.structure is not None else UNSEEN


def _dense(matrix):
    return matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix.toarray()


def same(first, second):
    for one, other in zip(first, second, strict=True):
        if isinstance(one, list):
            assert one == other
        else:
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()


def members(path):
    with zipfile.ZipFile(path) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def zipped(contents):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in contents:
            file.writestr(name, data)
    return out.getvalue()


def forged(contents, **manifest):
    """A file of these members with a manifest that fits them."""
    members = {name: data for name, data in contents.items() if name != "manifest.json"}
    sums = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in members.items()}
    head = json.loads(contents["manifest.json"]) | {"members": sums} | manifest
    return zipped([("manifest.json", json.dumps(head).encode()), *members.items()])


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0))
    return out.getvalue()
