"""How often each value occurs in a sequence, and in what share of its values.

What an analyst would compute with a data frame in ten minutes, for a random forest.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from relynx.models.evaluation.baselines import ngrams


def quantities(X: object) -> list[dict[str, float]]:
    """Numbers by name, of each sequence; what is not named is 0."""
    rows = []
    for tokens in ngrams(X, longest=1, per_predicate=True):
        row = {"length": float(len(tokens))}
        for token, n in Counter(tokens).items():
            row |= {f"number of {token}": float(n), f"share of {token}": n / len(tokens)}
        rows.append(row)
    return rows


def quantity_forest() -> Any:
    forest = RandomForestClassifier(500, random_state=0, n_jobs=-1)
    return make_pipeline(FunctionTransformer(quantities), DictVectorizer(), forest)
