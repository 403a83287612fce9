"""Measured numbers of facts that come from no table: `fit` cuts them by class."""

import numpy as np
import pytest
from sklearn.base import clone

import relynx as rx
from relynx import LynxClassifier
from relynx.data.class_cuts import FEW, cut_like, cut_measured

RULE = "strong(M) :- atm(M,_,Q), Q > 0.9."


def molecules(n=120, seed=0, draw=None):
    """Text of molecules with four charged atoms; of the class `active` one has more than 0.6."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        charges = rng.uniform(-0.5, 0.55, 4).round(3).tolist()
        if i % 2:
            charges[rng.integers(4)] = round(float(rng.uniform(0.65, 1.0)), 3)
        charges = charges if draw is None else draw(rng, charges)
        facts = [f"atm(m{i},{'co'[j % 2]},{charge})." for j, charge in enumerate(charges)]
        texts.append(f"begin(m{i},{'active' if i % 2 else 'no'}). {' '.join(facts)} end.")
    return "\n".join(texts)


@pytest.fixture
def read(tmp_path):
    def read(rules=None, **how):
        path, background = tmp_path / "molecules.m", tmp_path / "rules.bk"
        path.write_text(molecules(**how))
        background.write_text(rules or "")
        return rx.read_lynx(path, background if rules else None)

    return read


def cuts_of(model):
    [group] = model.reading_.groups
    return group.columns[2].cuts


@pytest.fixture
def model(read):
    return LynxClassifier(random_state=0).fit(*read())


def test_the_cut_tells_the_classes_of_new_sequences_apart(model, read):
    [cut] = cuts_of(model)
    assert 0.5 <= cut <= 0.65
    assert f"'>={cut:g}'" in str(model.selected_[0].pattern)
    assert model.score(*read(seed=1)) > 0.97


def test_the_sequences_of_fit_are_not_changed(read):
    X, y = read()
    before = str(X[0])
    model = LynxClassifier(random_state=0).fit(X, y)
    assert (str(X[0]), X.reading) == (before, None)
    [cut] = cuts_of(model)
    columns = f"argument 1 of 3 (text), argument 2 of 3 (text), argument 3 of 3 (<{cut}, >={cut})"
    assert str(model.reading_) == f"relation  atm(V1,V2,V3): {columns}"


def test_a_model_file_keeps_the_cuts(model, read, tmp_path):
    rx.save(model, tmp_path / "model.relynx")
    loaded = rx.load(tmp_path / "model.relynx")
    X, _ = read(seed=2)
    assert loaded.reading_ == model.reading_
    assert loaded.predict_proba(X) == pytest.approx(model.predict_proba(X))
    explanation = rx.explain(loaded, X[1])
    assert explanation.predicted == "active"


def test_the_cuts_are_learnt_from_the_training_sequences_alone(read):
    X, y = read()
    half = np.arange(len(X)) < 60
    cut = clone(LynxClassifier(random_state=0)).fit(X[half], y[half]).reading_
    assert cut == cut_measured(X[half], y[half])[1]


def test_other_sequences_get_the_same_cuts(model, read):
    X, _ = read(seed=3)
    cut = cut_like(X, model.reading_)
    values = {atom.args[2] for one in cut for atom in one.atoms}
    [at] = cuts_of(model)
    assert values == {f"<{at:g}", f">={at:g}"}
    assert cut.reading is None


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, charges: rng.integers(0, 1000, 4).tolist(),  # whole numbers name things
        lambda rng, charges: [round(charge, 1) for charge in charges],  # few
        lambda rng, charges: [*charges[:3], "none"],  # not all are numbers
        lambda rng, charges: rng.uniform(0, 1, 4).round(3).tolist(),  # they tell nothing
    ],
)
def test_other_numbers_stay_as_they_are(read, draw):
    X, y = read(draw=draw)
    assert cut_measured(X, y)[0] == X


def test_so_few_different_numbers_are_no_measurements(read):
    X, y = read(n=FEW // 4, draw=None)
    assert len({atom.args[2] for one in X for atom in one.atoms}) <= FEW
    assert cut_measured(X, y) == (X, None)


def test_numbers_that_rules_compute_with_stay(read):
    X, y = read(RULE)
    assert cut_measured(X, y) == (X, None)


def test_with_a_bias_nothing_is_cut(read):
    X, y = read()
    bias = rx.parse_bias("type(atm(mol,element,charge)). mode(atm(+,#,#)).")
    assert LynxClassifier(bias, max_length=1).fit(X, y).reading_ is None
