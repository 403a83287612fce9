"""Learners by name."""

import pytest

from relynx import InputError, LynxClassifier, load, planted_rule, save
from relynx.cli.options import model_options
from relynx.models.lynx.final_estimators import NAMES, learner


@pytest.mark.parametrize("name", NAMES)
def test_each_learner_learns_the_planted_rule_and_is_kept(name, tmp_path):
    X, y = planted_rule(60, random_state=0)
    model = LynxClassifier(max_length=2, max_iter=5, final_estimator=learner(name), random_state=0)
    save(model.fit(X, y), tmp_path / "m.relynx")  # as `relynx fit` always does
    assert load(tmp_path / "m.relynx").score(*planted_rule(60, random_state=1)) == 1.0


def test_naive_bayes_is_built_in():
    assert learner("naive_bayes") is None


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(InputError) as caught:
        learner("logistics")
    assert str(caught.value) == "there is no learner 'logistics'\nhint: did you mean 'logistic'?"
    with pytest.raises(InputError) as caught:
        learner("xyz")
    assert str(caught.value) == (
        "there is no learner 'xyz'\nhint: give one of naive_bayes, logistic, svm"
    )


def test_the_command_line_offers_all_of_them():
    options = model_options(lambda: None).__click_params__
    offered = next(option for option in options if option.name == "learner").type.choices
    assert tuple(offered) == NAMES
