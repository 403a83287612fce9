"""Learners by name, for what decides on the selected patterns."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from relynx.errors import InputError, did_you_mean

NAMES = ("naive_bayes", "logistic", "svm")


def learner(name: str) -> Any:
    """A new learner to give as `final_estimator`; None for naive Bayes, which is built in."""
    if name not in NAMES:
        hint = did_you_mean(name, NAMES) or f"give one of {', '.join(NAMES)}"
        raise InputError(f"there is no learner {name!r}", hint=hint)
    # In the primal: there are fewer patterns than sequences, or about as many.
    return {"logistic": LogisticRegression(C=0.1, max_iter=1000), "svm": LinearSVC(dual=False)}.get(
        name
    )
